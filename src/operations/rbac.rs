//! Roles and ClusterRoles in YAML, for `kubectl apply`.

use k8s_openapi::{
    api::rbac::v1::{ClusterRole, PolicyRule, Role},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};

/// What may be done to some resources; to any of them if no names are given.
pub fn rule(group: &str, resources: &[&str], names: &[&str], verbs: &[&str]) -> PolicyRule {
    let owned = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
    PolicyRule {
        api_groups: Some(owned(&[group])),
        resources: Some(owned(resources)),
        resource_names: Some(owned(names)).filter(|names| !names.is_empty()),
        verbs: owned(verbs),
        ..PolicyRule::default()
    }
}

/// A Role in this namespace, or a ClusterRole if there is none.
pub fn role(name: &str, namespace: &str, rules: Vec<PolicyRule>) -> String {
    let mut metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    let yaml = if namespace.is_empty() {
        serde_yaml::to_string(&ClusterRole { metadata, rules: Some(rules), ..ClusterRole::default() })
    } else {
        metadata.namespace = Some(namespace.to_owned());
        serde_yaml::to_string(&Role { metadata, rules: Some(rules) })
    };
    // Strings and lists of strings can't fail.
    yaml.unwrap_or_default()
}
