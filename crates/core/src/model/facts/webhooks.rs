//! Admission webhooks: which operations on which resources they are called for.

use super::{selector::LabelSelector, serving::Backend};
use crate::model::resources::Resource;

sparse! {
    /// The webhooks of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
    pub struct WebhookFacts {
        /// `webhooks`.
        #[serde(default)]
        pub webhooks: Vec<Webhook>,
    }

    /// One admission webhook.
    pub struct Webhook {
        pub name: String,
        /// `clientConfig`.
        pub backend?: Option<Backend>,
        /// Whether a request fails if the webhook can't be called: `failurePolicy` Fail, or unset.
        pub required: bool,
        /// Whether selectors or `matchConditions` limit it to some objects.
        pub selective: bool,
        /// `namespaceSelector`, if it has requirements.
        pub namespaces?: Option<LabelSelector>,
        /// `objectSelector`, if it has requirements.
        pub objects?: Option<LabelSelector>,
        /// Whether it has `matchConditions` that are not the constant `true`.
        #[serde(default)]
        pub conditional: bool,
        /// Whether one of its `matchConditions` is the constant `false`: it is called for nothing.
        #[serde(default)]
        pub never: bool,
        /// The resources, by their plurals, that one of its `matchConditions` exempts, in [`exempting`]'s words.
        pub exempt?: Vec<String>,
        /// Whether its rules match only the versions they name: `matchPolicy` Exact.
        #[serde(default)]
        pub exact: bool,
        /// `rules`.
        #[serde(default)]
        pub rules: Vec<WebhookRule>,
    }

    /// One rule of a webhook.
    pub struct WebhookRule {
        /// `apiGroups`.
        pub groups: Vec<String>,
        /// `apiVersions`.
        pub versions: Vec<String>,
        /// Including subresources: `pods`, `pods/status`, `pods/*`, `*/scale`.
        pub resources: Vec<String>,
        /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
        pub operations: Vec<String>,
        /// `Cluster`, `Namespaced` or `*`; unset means `*`.
        pub scope?: Option<String>,
        /// `resourceNames` of a policy's rule; empty: all.
        pub names?: Vec<String>,
    }
}

pub(super) const ADMISSION: &str = "admissionregistration.k8s.io";

/// The `expression` of a match condition that exempts a resource, whatever its group.
pub(crate) fn exempting(plural: &str) -> String {
    format!("{RESOURCE_IS_NOT}{plural:?}")
}

/// How such an expression begins.
const RESOURCE_IS_NOT: &str = "request.resource.resource != ";

/// The resource that such an expression exempts.
pub(super) fn exempted(expression: &str) -> Option<String> {
    let plural = expression.trim().strip_prefix(RESOURCE_IS_NOT)?.strip_prefix('"')?.strip_suffix('"')?;
    plural.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()).then(|| plural.to_owned())
}

impl Webhook {
    /// Whether its rules match an operation (`UPDATE`, `DELETE`) on this resource. If it is
    /// [`selective`](Self::selective), the object decides as well.
    ///
    /// No webhook is called for webhook configurations and admission policies, so that a broken one can be deleted
    /// (`IsExemptAdmissionConfigurationResource`).
    pub fn matches(&self, resource: &Resource, operation: &str) -> bool {
        self.matches_part(resource, "", operation)
    }

    /// The same for a subresource, such as `finalize`.
    pub(crate) fn matches_part(&self, resource: &Resource, subresource: &str, operation: &str) -> bool {
        let matches = |rule: &WebhookRule| rule.matches(resource, subresource, operation, self.exact);
        resource.group != ADMISSION
            && !self.never
            && !self.exempt.contains(&resource.plural)
            && self.rules.iter().any(matches)
    }

    /// Whether a rule that matches an operation on this resource names its group and plural, and not just all.
    pub(crate) fn is_about(&self, resource: &Resource, operation: &str) -> bool {
        let is_about = |rule: &WebhookRule| {
            let is_its = |entry: &String| entry.split('/').next() == Some(&resource.plural);
            rule.groups.contains(&resource.group)
                && rule.resources.iter().any(is_its)
                && rule.matches(resource, "", operation, self.exact)
        };
        self.matches(resource, operation) && self.rules.iter().any(is_about)
    }

    /// What the API server is about to do when it asks this webhook about these resources, of what ends a deletion, or
    /// else of what begins: a verb. Rules about changes alone never see a DELETE.
    pub fn asked_before<'r>(&self, resources: impl Iterator<Item = &'r Resource> + Clone) -> &'static str {
        let asks = |operation: &str| resources.clone().any(|resource| self.matches(resource, operation));
        match (asks("DELETE"), asks("UPDATE")) {
            (true, true) => "deletes or changes",
            (true, false) => "deletes",
            (false, true) => "changes",
            (false, false) if asks("CREATE") => "creates",
            (false, false) if resources.clone().any(|it| self.matches_part(it, "finalize", "UPDATE")) => "finalizes",
            (false, false) => "changes the status of",
        }
    }

    /// Whether something that can't be judged decides about an object: `matchConditions`, or selectors that an older
    /// snapshot file lacks.
    pub(crate) fn depends_on_unread(&self) -> bool {
        self.conditional || self.selective && self.namespaces.is_none() && self.objects.is_none()
    }
}

impl WebhookRule {
    /// The API server's matching (apiserver `webhook/predicates/rules/rules.go`): unless the rule is `exact`, any
    /// version of a resource matches.
    pub(super) fn matches(&self, resource: &Resource, subresource: &str, operation: &str, exact: bool) -> bool {
        let scope = match self.scope.as_deref() {
            None | Some("*") => true,
            Some("Namespaced") => resource.namespaced,
            Some("Cluster") => !resource.namespaced,
            Some(_) => false,
        };
        // `pods/*` includes the pods; `pods` and `*` don't include subresources.
        let is_resource = |entry: &String| {
            let (plural, part) = entry.split_once('/').unwrap_or((entry, ""));
            (plural == "*" || plural == resource.plural) && (part == subresource || part == "*")
        };
        scope
            && names(&self.operations, operation)
            && names(&self.groups, &resource.group)
            && (!exact || names(&self.versions, &resource.version))
            && self.resources.iter().any(is_resource)
    }
}

fn names(entries: &[String], name: &str) -> bool {
    entries.iter().any(|entry| entry == "*" || entry == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str, namespaced: bool) -> Resource {
        Resource { namespaced, ..Resource::named(group, "v1", plural, "") }
    }

    fn webhook(groups: &[&str], versions: &[&str], resources: &[&str], operations: &[&str]) -> Webhook {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (groups, versions) = (texts(groups), texts(versions));
        let rule = WebhookRule {
            groups,
            versions,
            resources: texts(resources),
            operations: texts(operations),
            scope: None,
            names: Vec::new(),
        };
        Webhook { rules: vec![rule], ..Webhook::default() }
    }

    #[test]
    fn stars_match_everything() {
        let pods = resource("", "pods", true);
        let deployments = resource("apps", "deployments", true);
        let all = webhook(&["*"], &["*"], &["*"], &["*"]);
        assert!(all.matches(&pods, "DELETE") && all.matches(&deployments, "UPDATE"));
        let apps = webhook(&["apps"], &["v1"], &["*"], &["DELETE"]);
        assert!(apps.matches(&deployments, "DELETE"));
        assert!(!apps.matches(&deployments, "UPDATE") && !apps.matches(&pods, "DELETE"));
        let core = webhook(&[""], &["v1"], &["services", "pods"], &["CREATE", "DELETE"]);
        assert!(core.matches(&pods, "DELETE") && !core.matches(&deployments, "DELETE"));
        assert!(!Webhook::default().matches(&pods, "DELETE"), "without rules nothing is asked");
    }

    #[test]
    fn subresources_are_not_the_resource() {
        let pods = resource("", "pods", true);
        let on = |entry| webhook(&["*"], &["*"], &[entry], &["*"]).matches(&pods, "DELETE");
        assert!(on("pods") && on("pods/*") && on("*/*") && on("*"));
        assert!(!on("pods/status") && !on("*/scale") && !on("nodes/*") && !on("*s"));
    }

    #[test]
    fn scopes_are_those_of_the_resource() {
        let (pods, namespaces) = (resource("", "pods", true), resource("", "namespaces", false));
        let scoped = |scope: &str| {
            let mut webhook = webhook(&["*"], &["*"], &["*"], &["*"]);
            webhook.rules[0].scope = Some(scope.to_owned());
            [webhook.matches(&pods, "DELETE"), webhook.matches(&namespaces, "DELETE")]
        };
        assert_eq!(scoped("*"), [true, true]);
        assert_eq!(scoped("Namespaced"), [true, false]);
        assert_eq!(scoped("Cluster"), [false, true]);
        assert_eq!(scoped("Galaxy"), [false, false]);
    }

    #[test]
    fn another_version_matches_unless_the_policy_is_exact() {
        let deployments = resource("apps", "deployments", true);
        let mut webhook = webhook(&["apps"], &["v1beta1"], &["deployments"], &["DELETE"]);
        assert!(webhook.matches(&deployments, "DELETE"));
        webhook.exact = true;
        assert!(!webhook.matches(&deployments, "DELETE"));
        webhook.rules[0].versions.push("*".to_owned());
        assert!(webhook.matches(&deployments, "DELETE"));
    }

    #[test]
    fn no_webhook_is_called_for_webhook_configurations() {
        let all = webhook(&["*"], &["*"], &["*"], &["*"]);
        for plural in
            ["validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies"]
        {
            assert!(!all.matches(&resource(ADMISSION, plural, false), "DELETE"), "{plural}");
        }
        assert!(all.matches(&resource("apiregistration.k8s.io", "apiservices", false), "DELETE"));
    }
}
