//! ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings: which requests they judge.

use serde::{Deserialize, Serialize};

use super::{
    selector::LabelSelector,
    webhooks::{ADMISSION, WebhookRule},
};
use crate::model::resources::Resource;

/// A ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AdmissionPolicyFacts {
    /// `spec.matchConstraints`.
    pub constraints: Constraints,
    /// Whether it has `matchConditions` that are not the constant `true`.
    #[serde(default)]
    pub conditional: bool,
    /// Whether it can refuse or change anything: it has validations that are not the constant `true`, or mutations, and
    /// no `matchConditions` that are the constant `false`.
    pub validates: bool,
    /// Whether one of its validations is the constant `false`: it refuses whatever it matches.
    pub refuses_all: bool,
    /// Whether it lets pass what it can't judge, also for lack of parameters: `failurePolicy` Ignore.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ignores_failures: bool,
    /// `spec.paramKind`: apiVersion and kind of its parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parameters: Option<Box<(String, String)>>,
    /// What it says where it refuses: a clause, with the first of its messages or expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<Box<str>>,
}

/// A ValidatingAdmissionPolicyBinding or MutatingAdmissionPolicyBinding.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PolicyBindingFacts {
    /// `spec.policyName`.
    pub policy: String,
    /// Whether `validationActions` contains Deny, or the policy changes what it matches.
    pub denies: bool,
    /// `spec.matchResources`; unset: everything that the policy matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Constraints>,
    /// `spec.paramRef`, if it refuses what it matches where its parameters are missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<Box<ParameterReference>>,
    /// The same if it doesn't apply there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optional: Option<Box<ParameterReference>>,
}

/// Which objects are the parameters of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParameterReference {
    /// Unset for all that a selector matches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Unset for the namespace of the judged object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
}

/// Which requests are judged (`MatchResources`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Constraints {
    /// `resourceRules`; empty in a binding: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<WebhookRule>,
    /// `excludeResourceRules`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub excluded: Vec<WebhookRule>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespaces: Option<LabelSelector>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objects: Option<LabelSelector>,
    /// Whether its rules match only the versions they name: `matchPolicy` Exact.
    #[serde(default)]
    pub exact: bool,
}

impl Constraints {
    /// Whether the rules match a request for an object of this name (apiserver `policy/matching/matching.go: Matches`).
    pub fn matches(&self, resource: &Resource, subresource: &str, operation: &str, name: &str) -> bool {
        let matches = |rule: &WebhookRule| {
            (rule.names.is_empty() || rule.names.iter().any(|one| one == name))
                && rule.matches(resource, subresource, operation, self.exact)
        };
        // No policy judges policies and webhook configurations.
        resource.group != ADMISSION
            && !self.excluded.iter().any(matches)
            && (self.rules.is_empty() || self.rules.iter().any(matches))
    }
}
