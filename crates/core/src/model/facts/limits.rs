//! Which objects a controller handles, as the arguments and the environment of its workload's containers say.

use serde_json::Value;

use super::values::{at, list};

sparse! {
    /// What limits the objects that a controller handles.
    pub struct Limits {
        /// Their namespaces, `*` for any, [`Limits::OWN`] for the workload's; empty if nothing names any.
        pub namespaces?: Vec<String>,
        /// The label selector that they match, as it was written.
        pub selector?: Option<String>,
        /// What says which objects, and was not read: `ConfigMap/argocd-cmd-params-cm`.
        pub unread?: Option<String>,
    }
}

impl Limits {
    /// Stands for the workload's own namespace.
    pub const OWN: &'static str = ".";
}

/// The flags (`--x-y`) and variables (`X_Y`) that name namespaces; the first that is set counts.
const NAMESPACES: [&str; 13] = [
    // argoproj/argo-cd cmd/argocd-application-controller/commands/argocd_application_controller.go
    "application-namespaces",
    "argocd-application-namespaces",
    // argoproj/argo-cd cmd/argocd-applicationset-controller/commands/applicationset_controller.go
    "applicationset-namespaces",
    "argocd-applicationset-controller-namespaces",
    // operator-framework/operator-sdk internal/cmd/helm-operator/run/cmd.go
    "watch-namespace",
    "watch-namespaces",
    "watched-namespace",
    "watched-namespaces",
    // strimzi/strimzi-kafka-operator topic-operator: TopicOperatorConfig.java
    "strimzi-namespace",
    // GoogleCloudPlatform/k8s-config-connector cmd/manager/main.go
    "scoped-namespace",
    // argoproj/argo-workflows cmd/workflow-controller/main.go
    "managed-namespace",
    // Flags alone: variables of these names say where a program runs.
    "--namespace",
    "--namespaces",
];

/// What limits a controller to its own namespace, with this value.
const OWN_NAMESPACE: [(&str, &str); 3] = [
    // fluxcd/pkg runtime/client, fluxcd/kustomize-controller main.go
    ("watch-all-namespaces", "false"),
    // rook/rook pkg/operator/k8sutil: operator settings
    ("rook-current-namespace-only", "true"),
    // argoproj/argo-workflows cmd/workflow-controller/main.go
    ("namespaced", "true"),
];

/// What names a label selector.
const SELECTORS: [&str; 3] = [
    // fluxcd/kustomize-controller main.go
    "watch-label-selector",
    // strimzi/strimzi-kafka-operator topic-operator: TopicOperatorConfig.java
    "strimzi-resource-labels",
    // aws-controllers-k8s/runtime pkg/config/config.go
    "watch-selectors",
];

/// The value of a setting, or the object that has it.
type Setting = Result<String, String>;

/// The limits of a workload, by its first container that names any.
pub(super) fn limits(workload: &Value) -> Option<Box<Limits>> {
    let template = at(workload, &["spec", "template"])?;
    let containers = list(at(template, &["spec", "containers"]));
    let mut all = containers.map(|container| of_settings(&settings(container, template)));
    all.find(|limits| *limits != Limits::default()).map(Box::new)
}

/// Whether a container of a workload has a flag that isn't false, or whose value was not read.
pub(super) fn has_flag(workload: &Value, flag: &str) -> bool {
    let Some(template) = at(workload, &["spec", "template"]) else { return false };
    let is_set = |(name, value): &(String, Setting)| {
        let is_false = |text: &String| matches!(text.as_str(), "false" | "False" | "FALSE" | "f" | "F" | "0");
        name == flag && !value.as_ref().is_ok_and(is_false)
    };
    list(at(template, &["spec", "containers"])).any(|container| settings(container, template).iter().any(is_set))
}

fn of_settings(settings: &[(String, Setting)]) -> Limits {
    // A flag that is repeated adds to its list.
    let values = |known: &str| {
        let is_known = |name: &str| name == known || name.strip_prefix("--") == Some(known);
        let first = settings.iter().find(|(name, _)| is_known(name)).map(|(name, _)| name);
        let values: Vec<&Setting> = settings.iter().filter(|(name, _)| Some(name) == first).map(|it| &it.1).collect();
        (!values.is_empty()).then_some(values)
    };
    let mut limits = Limits::default();
    for value in NAMESPACES.into_iter().find_map(values).into_iter().flatten() {
        match value {
            Ok(text) => limits.namespaces.extend(text.split(',').map(|name| name.trim().to_owned())),
            Err(place) => limits.unread = Some(place.clone()),
        }
    }
    // An empty list means all.
    if !limits.namespaces.is_empty() && limits.namespaces.iter().all(String::is_empty) {
        limits.namespaces.push("*".to_owned());
    }
    limits.namespaces.retain(|name| !name.is_empty());
    let is_set = |(name, wanted): (&str, &str)| {
        values(name).is_some_and(|values| values.iter().any(|value| value.as_deref() == Ok(wanted)))
    };
    if limits.namespaces.is_empty() && limits.unread.is_none() && OWN_NAMESPACE.into_iter().any(is_set) {
        limits.namespaces.push(Limits::OWN.to_owned());
    }
    match SELECTORS.into_iter().find_map(values).and_then(|values| values.first().copied()) {
        Some(Ok(text)) => limits.selector = Some(text.clone()).filter(|text| !text.is_empty()),
        // No selector reads so: nothing is known of what it selects.
        Some(Err(place)) => limits.selector = Some(format!("({place}, which was not read)")),
        None => {}
    }
    limits
}

/// The settings of a container by name, flags first.
fn settings(container: &Value, template: &Value) -> Vec<(String, Setting)> {
    let variable = |variable: &Value| {
        let name = variable.get("name")?.as_str()?;
        Some((name.to_owned(), value(variable, template)))
    };
    let variables: Vec<(String, Setting)> = list(container.get("env")).filter_map(variable).collect();
    // The kubelet replaces `$(NAME)` in arguments.
    let expanded = |text: &str| match text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')) {
        Some(name) => variables.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()),
        None => (!text.contains("$(")).then(|| Ok(text.to_owned())),
    };
    let arguments = ["command", "args"].into_iter().flat_map(|key| list(container.get(key)));
    let mut arguments = arguments.filter_map(Value::as_str).peekable();
    let mut found = Vec::new();
    while let Some(argument) = arguments.next() {
        let Some(flag) = argument.strip_prefix('-').map(|flag| flag.trim_start_matches('-')) else { continue };
        let (name, text) = match flag.split_once('=') {
            Some((name, text)) => (name, text),
            None => (flag, arguments.next_if(|next| !next.starts_with('-')).unwrap_or("true")),
        };
        let value = expanded(text).unwrap_or_else(|| Err("what its arguments refer to".to_owned()));
        found.push((format!("--{name}"), value));
    }
    let named = |(name, value): (String, Setting)| (name.to_lowercase().replace('_', "-"), value);
    found.extend(variables.into_iter().map(named));
    found
}

/// The value of an environment variable.
fn value(variable: &Value, template: &Value) -> Setting {
    let Some(from) = variable.get("valueFrom") else {
        return Ok(variable.get("value").and_then(Value::as_str).unwrap_or_default().to_owned());
    };
    let text = |path: &[&str]| at(from, path).and_then(Value::as_str);
    match text(&["fieldRef", "fieldPath"]) {
        Some("metadata.namespace") => return Ok(Limits::OWN.to_owned()),
        // operator-framework/operator-lifecycle-manager pkg/controller/install/deployment.go
        Some("metadata.annotations['olm.targetNamespaces']") => {
            let targets = at(template, &["metadata", "annotations"]).and_then(|all| all.get("olm.targetNamespaces"));
            return Ok(targets.and_then(Value::as_str).unwrap_or_default().to_owned());
        }
        _ => {}
    }
    Err(match (text(&["configMapKeyRef", "name"]), text(&["secretKeyRef", "name"])) {
        (Some(name), _) => format!("ConfigMap/{name}"),
        (None, Some(name)) => format!("Secret/{name}"),
        (None, None) => "its environment".to_owned(),
    })
}
