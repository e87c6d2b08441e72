//! Moves archived objects from one namespace into another: their own namespace, the fields by which Kubernetes' own
//! kinds name it, and what still names it afterwards.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::archived::Archived;

/// Which namespace becomes which.
pub type NamespaceMap = BTreeMap<String, String>;

/// A field that still names a namespace whose objects were moved.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct StillNamed {
    /// As in JSONPath: `spec.containers[0].env[2].value`.
    pub path: String,
    pub namespace: String,
}

/// Fields that hold the name of a namespace, by group and kind. `*` is each element of a list; a list of texts ends
/// with `*`.
const FIELDS: &[(&str, &[&str], &[&str])] = &[
    ("rbac.authorization.k8s.io", &["RoleBinding", "ClusterRoleBinding"], &["subjects.*.namespace"]),
    (
        "admissionregistration.k8s.io",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        &["webhooks.*.clientConfig.service.namespace"],
    ),
    (
        "admissionregistration.k8s.io",
        &["MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"],
        &["spec.paramRef.namespace"],
    ),
    ("apiregistration.k8s.io", &["APIService"], &["spec.service.namespace"]),
    (
        "apiextensions.k8s.io",
        &["CustomResourceDefinition"],
        &["spec.conversion.webhook.clientConfig.service.namespace"],
    ),
    ("flowcontrol.apiserver.k8s.io", &["FlowSchema"], &["spec.rules.*.subjects.*.serviceAccount.namespace"]),
    (
        "",
        &["PersistentVolume"],
        &[
            "spec.claimRef.namespace",
            "spec.csi.controllerPublishSecretRef.namespace",
            "spec.csi.nodeStageSecretRef.namespace",
            "spec.csi.nodePublishSecretRef.namespace",
            "spec.csi.controllerExpandSecretRef.namespace",
            "spec.csi.nodeExpandSecretRef.namespace",
        ],
    ),
    ("", &["PersistentVolumeClaim"], &["spec.dataSourceRef.namespace"]),
    ("", &["ServiceAccount"], &["secrets.*.namespace"]),
    (
        "",
        &["Endpoints"],
        &["subsets.*.addresses.*.targetRef.namespace", "subsets.*.notReadyAddresses.*.targetRef.namespace"],
    ),
    ("discovery.k8s.io", &["EndpointSlice"], &["endpoints.*.targetRef.namespace"]),
    ("networking.k8s.io", &["IngressClass"], &["spec.parameters.namespace"]),
];

/// The label that the API server sets on each Namespace.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// Selectors of namespaces: by their name, if by [`NAME_LABEL`].
const SELECTORS: &[(&str, &[&str], &[&str])] = &[
    (
        "networking.k8s.io",
        &["NetworkPolicy"],
        &["spec.ingress.*.from.*.namespaceSelector", "spec.egress.*.to.*.namespaceSelector"],
    ),
    (
        "admissionregistration.k8s.io",
        &["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"],
        &["webhooks.*.namespaceSelector"],
    ),
    (
        "admissionregistration.k8s.io",
        &["MutatingAdmissionPolicyBinding", "ValidatingAdmissionPolicyBinding"],
        &["spec.matchResources.namespaceSelector"],
    ),
];

/// Where the spec of a pod is.
const POD_SPECS: &[(&str, &[&str], &str)] = &[
    ("", &["Pod"], "spec"),
    ("", &["PodTemplate"], "template.spec"),
    ("", &["ReplicationController"], "spec.template.spec"),
    ("apps", &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"], "spec.template.spec"),
    ("batch", &["Job"], "spec.template.spec"),
    ("batch", &["CronJob"], "spec.jobTemplate.spec.template.spec"),
];

/// The terms of a pod's affinity to pods.
const AFFINITY: [&str; 4] = [
    "affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.*",
    "affinity.podAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm",
    "affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.*",
    "affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.podAffinityTerm",
];

/// Moves an object, if it is in a namespace of the map, and rewrites what names one.
pub(super) fn relocate(object: &mut Archived, map: &NamespaceMap) {
    if let Some(to) = map.get(&object.place.namespace) {
        object.moved_from = Some(object.place.namespace.clone()).filter(|from| from != to);
        object.place.namespace.clone_from(to);
        object.whole["metadata"]["namespace"] = Value::from(to.as_str());
        for reference in &mut object.references {
            reference.place.namespace.clone_from(to);
        }
    }
    let place = object.place.clone();
    let is = |(group, kinds): (&str, &[&str])| place.group() == group && kinds.contains(&place.kind.as_str());
    let whole = &mut object.whole;
    for (group, kinds, paths) in FIELDS {
        if is((group, kinds)) {
            paths.iter().for_each(|path| at_each(whole, path, &mut |value| rename(value, map)));
        }
    }
    for (group, kinds, paths) in SELECTORS {
        if is((group, kinds)) {
            paths.iter().for_each(|path| at_each(whole, path, &mut |selector| rename_in_selector(selector, map)));
        }
    }
    for (group, kinds, spec) in POD_SPECS {
        if is((group, kinds)) {
            for term in AFFINITY {
                at_each(whole, &format!("{spec}.{term}.namespaces.*"), &mut |value| rename(value, map));
                let selector = format!("{spec}.{term}.namespaceSelector");
                at_each(whole, &selector, &mut |selector| rename_in_selector(selector, map));
            }
        }
    }
    // ServiceAccounts as users, and those of a namespace as a group
    // (staging/src/k8s.io/apiserver/pkg/authentication/serviceaccount).
    if place.group() == "rbac.authorization.k8s.io" {
        at_each(whole, "subjects.*.name", &mut |name| rename_account(name, map));
    }
}

fn rename(value: &mut Value, map: &NamespaceMap) {
    if let Some(to) = value.as_str().and_then(|from| map.get(from)) {
        *value = Value::from(to.as_str());
    }
}

fn rename_in_selector(selector: &mut Value, map: &NamespaceMap) {
    if let Some(name) = selector.get_mut("matchLabels").and_then(|labels| labels.get_mut(NAME_LABEL)) {
        rename(name, map);
    }
    for expression in selector.get_mut("matchExpressions").and_then(Value::as_array_mut).into_iter().flatten() {
        if expression["key"] == NAME_LABEL {
            at_each(expression, "values.*", &mut |value| rename(value, map));
        }
    }
}

fn rename_account(name: &mut Value, map: &NamespaceMap) {
    let Some(text) = name.as_str() else { return };
    let parts: Vec<&str> = text.split(':').collect();
    let renamed = match parts.as_slice() {
        ["system", "serviceaccount", of, account] => {
            map.get(*of).map(|to| format!("system:serviceaccount:{to}:{account}"))
        }
        ["system", "serviceaccounts", of] => map.get(*of).map(|to| format!("system:serviceaccounts:{to}")),
        _ => None,
    };
    if let Some(renamed) = renamed {
        *name = Value::from(renamed);
    }
}

/// Calls `change` for each value at a path that exists.
fn at_each(value: &mut Value, path: &str, change: &mut dyn FnMut(&mut Value)) {
    let mut values = vec![value];
    for step in path.split('.') {
        let next = values.into_iter().flat_map(|value| -> Vec<&mut Value> {
            match (step, value) {
                ("*", Value::Array(items)) => items.iter_mut().collect(),
                ("*", _) => Vec::new(),
                (key, value) => value.get_mut(key).into_iter().collect(),
            }
        });
        values = next.collect();
    }
    values.into_iter().for_each(change);
}

/// The fields of an object that still name a moved namespace: fields whose name says so, the names of Services and
/// service accounts in it, and `NAMESPACE/NAME`. Contents of Secrets are encoded, and not searched.
pub(super) fn still_named(body: &Value, map: &NamespaceMap) -> Vec<StillNamed> {
    let moved: Vec<&str> = map.iter().filter(|(from, to)| from != to).map(|(from, _)| from.as_str()).collect();
    let mut found = Vec::new();
    let mut values = vec![(String::new(), "", body)];
    // A stack, without recursion: objects may be nested deeply.
    while let Some((path, key, value)) = values.pop().filter(|_| !moved.is_empty()) {
        match value {
            Value::Object(fields) => {
                for (field, value) in fields {
                    values.push((super::fields::below(&path, field), field, value));
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate() {
                    values.push((format!("{path}[{index}]"), key, value));
                }
            }
            Value::String(text) => {
                let names = |namespace: &&&str| names(key, text, namespace);
                found.extend(
                    moved
                        .iter()
                        .filter(names)
                        .map(|namespace| StillNamed { path: path.clone(), namespace: (*namespace).to_owned() }),
                );
            }
            _ => {}
        }
    }
    found.sort();
    found
}

/// Whether a field with this key and text names the namespace.
fn names(key: &str, text: &str, namespace: &str) -> bool {
    let key = key.to_ascii_lowercase();
    if text == namespace {
        return key.ends_with("namespace") || key.ends_with("namespaces") || key == NAME_LABEL;
    }
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    text.match_indices(namespace).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + namespace.len()..]);
        let (last, next) = (before.bytes().next_back(), after.bytes().next());
        if next.is_some_and(is_name) {
            return false;
        }
        // `db.shop`, `db.shop:5432`, `http://db.shop.svc.cluster.local/`: the name of a Service in it.
        let service = last == Some(b'.') && before.bytes().nth_back(1).is_some_and(is_name);
        let service = service && (next != Some(b'.') || after.starts_with(".svc"));
        // `system:serviceaccount:shop:web`
        let account = before.ends_with("serviceaccount:") || before.ends_with("serviceaccounts:");
        // `shop/web`, but not an image's or a path's.
        let qualified = before.is_empty() && after.starts_with('/') && after.matches('/').count() == 1;
        service || account || qualified && !key.ends_with("image") && !key.ends_with("path")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restore::testing::object;

    fn map() -> NamespaceMap {
        NamespaceMap::from([("shop".to_owned(), "trial".to_owned())])
    }

    fn moved(api_version: &str, kind: &str, more: &Value) -> Value {
        let mut archived = Archived::new(1, object(api_version, kind, "it", more)).unwrap();
        relocate(&mut archived, &map());
        archived.whole
    }

    #[test]
    fn what_kubernetes_itself_defines_follows() {
        let rbac = "rbac.authorization.k8s.io/v1";
        let account = |namespace: &str| json!({"kind": "ServiceAccount", "name": "shop", "namespace": namespace});
        let binding = moved(
            rbac,
            "RoleBinding",
            &json!({"metadata": {"namespace": "shop"}, "subjects": [account("shop"), account("other"),
                {"kind": "User", "name": "system:serviceaccount:shop:web"},
                {"kind": "Group", "name": "system:serviceaccounts:shop"}, {"kind": "User", "name": "shop"}]}),
        );
        assert_eq!(binding["metadata"]["namespace"], "trial");
        assert_eq!(
            binding["subjects"],
            json!([account("trial"), account("other"), {"kind": "User", "name": "system:serviceaccount:trial:web"},
                {"kind": "Group", "name": "system:serviceaccounts:trial"}, {"kind": "User", "name": "shop"}])
        );
        let webhook = |namespace: &str| {
            json!({"webhooks": [{"clientConfig": {"service": {"name": "hook", "namespace": namespace}},
                "namespaceSelector": {"matchExpressions": [
                    {"key": NAME_LABEL, "operator": "In", "values": [namespace, "other"]},
                    {"key": "team", "operator": "In", "values": ["shop"]}]}}]})
        };
        let changed = moved("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", &webhook("shop"));
        assert_eq!(changed["webhooks"], webhook("trial")["webhooks"]);
        assert_eq!(changed["metadata"].get("namespace"), None, "what is cluster-scoped stays so");
        let claim = |namespace: &str| json!({"spec": {"claimRef": {"namespace": namespace, "name": "data"}}});
        assert_eq!(moved("v1", "PersistentVolume", &claim("shop"))["spec"], claim("trial")["spec"]);
        let service = |namespace: &str| json!({"spec": {"service": {"namespace": namespace, "name": "api"}}});
        assert_eq!(
            moved("apiregistration.k8s.io/v1", "APIService", &service("shop"))["spec"],
            service("trial")["spec"]
        );
        let near = |namespace: &str| {
            let term = json!({"namespaces": [namespace, "other"],
                "namespaceSelector": {"matchLabels": {NAME_LABEL: namespace}}});
            json!({"spec": {"template": {"spec": {"affinity": {"podAntiAffinity":
                {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}}}})
        };
        assert_eq!(moved("apps/v1", "Deployment", &near("shop"))["spec"], near("trial")["spec"]);
    }

    #[test]
    fn every_path_of_the_tables_is_walked() {
        for (group, kinds, paths) in FIELDS {
            for (kind, path) in kinds.iter().flat_map(|kind| paths.iter().map(move |path| (kind, path))) {
                let build = |namespace: &str| {
                    path.rsplit('.').fold(json!(namespace), |below, step| match step {
                        "*" => json!([below]),
                        key => json!({ key: below }),
                    })
                };
                let version = if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") };
                let first = path.split('.').next().unwrap();
                assert_eq!(moved(&version, kind, &build("shop"))[first], build("trial")[first], "{kind} {path}");
            }
        }
    }

    #[test]
    fn owners_are_looked_for_in_the_new_namespace() {
        let reference = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "o"}]);
        let more = json!({"metadata": {"namespace": "shop", "ownerReferences": reference}});
        let mut archived = Archived::new(1, object("v1", "ConfigMap", "a", &more)).unwrap();
        relocate(&mut archived, &map());
        assert_eq!(archived.references[0].place.namespace, "trial");
        assert_eq!(archived.moved_from.as_deref(), Some("shop"));
    }

    #[test]
    fn what_still_names_the_namespace_is_found_by_its_path() {
        let body = json!({
            "metadata": {"name": "shop", "labels": {"app": "shop"},
                "annotations": {"cert-manager.io/inject-ca-from": "shop/ca"}},
            "spec": {"image": "shop/web", "path": "shop/web", "sourceNamespace": "shop", "namespaces": ["a", "shop"],
                "hosts": ["db.shop", "db.shop:5432", "http://db.shop.svc.cluster.local/x", "webshop", "db.shop-b",
                    "db.shop.example.com", "shop.example.com", "x.workshop", "/srv/shop/web"],
                "account": "system:serviceaccount:shop:web"},
        });
        let found: Vec<String> = still_named(&body, &map()).into_iter().map(|it| it.path).collect();
        assert_eq!(
            found,
            [
                r#"metadata.annotations["cert-manager.io/inject-ca-from"]"#,
                "spec.account",
                "spec.hosts[0]",
                "spec.hosts[1]",
                "spec.hosts[2]",
                "spec.namespaces[1]",
                "spec.sourceNamespace",
            ]
        );
        let stays = NamespaceMap::from([("shop".to_owned(), "shop".to_owned())]);
        assert_eq!(still_named(&body, &stays), []);
    }
}
