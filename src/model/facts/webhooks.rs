//! Admission webhooks: whom the API server asks before it writes, and about what.

use serde::{Deserialize, Serialize};

use super::serving::Backend;
use crate::model::resources::Resource;

/// What a ValidatingWebhookConfiguration or MutatingWebhookConfiguration consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookFacts {
    /// `webhooks`.
    #[serde(default)]
    pub webhooks: Vec<Webhook>,
}

/// One admission webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    pub name: String,
    /// `clientConfig`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<Backend>,
    /// Whether nothing is written as long as it can't be asked: `failurePolicy` Fail, or none.
    pub required: bool,
    /// Whether only some of the objects matter to it that its rules match: it has selectors or `matchConditions`.
    pub selective: bool,
    /// Whether its rules mean just the versions they name: `matchPolicy` Exact.
    #[serde(default)]
    pub exact: bool,
    /// `rules`.
    #[serde(default)]
    pub rules: Vec<WebhookRule>,
}

/// What a webhook is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WebhookRule {
    /// `apiGroups`.
    pub groups: Vec<String>,
    /// `apiVersions`.
    pub versions: Vec<String>,
    /// With their subresources: `pods`, `pods/status`, `pods/*`, `*/scale`.
    pub resources: Vec<String>,
    /// `CREATE`, `UPDATE`, `DELETE`, `CONNECT`.
    pub operations: Vec<String>,
    /// `Cluster`, `Namespaced`, `*`; none means all as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

const ADMISSION: &str = "admissionregistration.k8s.io";

impl Webhook {
    /// Whether it may be asked before an operation (`UPDATE`, `DELETE`) on an object of this resource: its rules say
    /// so. If it is [`selective`](Self::selective), it still depends on the object.
    ///
    /// Nobody is ever asked about the webhook configurations and admission policies themselves, so that a bad one can
    /// be removed (`IsExemptAdmissionConfigurationResource`).
    pub fn matches(&self, resource: &Resource, operation: &str) -> bool {
        resource.group != ADMISSION && self.rules.iter().any(|rule| rule.matches(resource, operation, self.exact))
    }
}

impl WebhookRule {
    /// As the API server decides it (apiserver `webhook/predicates/rules/rules.go`). It converts between the versions
    /// of a resource unless the rule is `exact`.
    fn matches(&self, resource: &Resource, operation: &str, exact: bool) -> bool {
        let scope = match self.scope.as_deref() {
            None | Some("*") => true,
            Some("Namespaced") => resource.namespaced,
            Some("Cluster") => !resource.namespaced,
            Some(_) => false,
        };
        // `pods/*` are the pods, too.
        let is_resource = |entry: &String| {
            let (plural, subresource) = entry.split_once('/').unwrap_or((entry, ""));
            (plural == "*" || plural == resource.plural) && matches!(subresource, "" | "*")
        };
        scope
            && names(&self.operations, operation)
            && names(&self.groups, &resource.group)
            && (!exact || names(&self.versions, &resource.version))
            && self.resources.iter().any(is_resource)
    }
}

fn names(entries: &[String], wanted: &str) -> bool {
    entries.iter().any(|entry| entry == "*" || entry == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, plural: &str, namespaced: bool) -> Resource {
        Resource {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            namespaced,
            ..Resource::default()
        }
    }

    fn webhook(groups: &[&str], versions: &[&str], resources: &[&str], operations: &[&str]) -> Webhook {
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let (groups, versions) = (texts(groups), texts(versions));
        let rule =
            WebhookRule { groups, versions, resources: texts(resources), operations: texts(operations), scope: None };
        Webhook { rules: vec![rule], ..Webhook::default() }
    }

    #[test]
    fn stars_stand_for_all() {
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
    fn nobody_is_asked_about_the_webhooks_themselves() {
        let all = webhook(&["*"], &["*"], &["*"], &["*"]);
        for plural in
            ["validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies"]
        {
            assert!(!all.matches(&resource(ADMISSION, plural, false), "DELETE"), "{plural}");
        }
        assert!(all.matches(&resource("apiregistration.k8s.io", "apiservices", false), "DELETE"));
    }
}
