//! ValidatingAdmissionPolicies, MutatingAdmissionPolicies and their bindings: which requests they judge.

use super::{
    selector::LabelSelector,
    webhooks::{ADMISSION, WebhookRule},
};
use crate::model::resources::Resource;

sparse! {
    /// A ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
    pub struct AdmissionPolicyFacts {
        /// `spec.matchConstraints`.
        pub constraints: Constraints,
        /// Whether it has `matchConditions` that are not the constant `true`.
        #[serde(default)]
        pub conditional: bool,
        /// Whether it can refuse or change anything: it has validations that are not the constant `true`, or mutations,
        /// and no `matchConditions` that are the constant `false`.
        pub validates: bool,
        /// Whether one of its validations is the constant `false`: it refuses whatever it matches.
        pub refuses_all: bool,
        /// Whether it lets pass what it can't judge, also for lack of parameters: `failurePolicy` Ignore.
        pub ignores_failures?: bool,
        /// `spec.paramKind`: apiVersion and kind of its parameters.
        pub parameters?: Option<Box<(String, String)>>,
        /// What it says where it refuses: a clause, with the first of its messages or expressions.
        pub says?: Option<Box<str>>,
    }

    /// A ValidatingAdmissionPolicyBinding or MutatingAdmissionPolicyBinding.
    pub struct PolicyBindingFacts {
        /// `spec.policyName`.
        pub policy: String,
        /// Whether `validationActions` contains Deny, or the policy changes what it matches.
        pub denies: bool,
        /// `spec.matchResources`; unset: everything that the policy matches.
        pub constraints?: Option<Constraints>,
        /// `spec.paramRef`, if it refuses what it matches where its parameters are missing.
        pub required?: Option<Box<ParameterReference>>,
        /// The same if it doesn't apply there.
        pub optional?: Option<Box<ParameterReference>>,
    }

    /// Which objects are the parameters of a policy.
    pub struct ParameterReference {
        /// Unset for all that a selector matches.
        pub name?: Option<String>,
        /// Unset for the namespace of the judged object.
        pub namespace?: Option<String>,
    }

    /// Which requests are judged (`MatchResources`).
    pub struct Constraints {
        /// `resourceRules`; empty in a binding: all.
        pub rules?: Vec<WebhookRule>,
        /// `excludeResourceRules`.
        pub excluded?: Vec<WebhookRule>,
        pub namespaces?: Option<LabelSelector>,
        pub objects?: Option<LabelSelector>,
        /// Whether its rules match only the versions they name: `matchPolicy` Exact.
        #[serde(default)]
        pub exact: bool,
    }
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
