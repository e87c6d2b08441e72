//! Roles and ClusterRoles in YAML, for `kubectl apply`.

use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Role<'a> {
    api_version: &'static str,
    kind: &'static str,
    metadata: Metadata<'a>,
    rules: Vec<Rule<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    namespace: Option<&'a str>,
}

/// What may be done to some resources.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Rule<'a> {
    pub api_groups: [&'a str; 1],
    pub resources: Vec<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    pub resource_names: &'a [String],
    pub verbs: Vec<&'a str>,
}

/// A Role in this namespace, or a ClusterRole if there is none.
pub fn role(name: &str, namespace: &str, rules: Vec<Rule<'_>>) -> String {
    let role = Role {
        api_version: "rbac.authorization.k8s.io/v1",
        kind: if namespace.is_empty() { "ClusterRole" } else { "Role" },
        metadata: Metadata { name, namespace: Some(namespace).filter(|namespace| !namespace.is_empty()) },
        rules,
    };
    // Strings and lists of strings can't fail.
    serde_yaml::to_string(&role).unwrap_or_default()
}
