//! Values for which admission refuses to delete an object, whoever asks, until somebody changes them (R9.48).

use serde_json::{Value, json};

use super::users::PROTECTORS;
use crate::model::Resource;

/// A value that guards objects, and who heeds it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guard {
    /// The groups and kinds of what it guards; `*` is every kind. Empty: everything.
    of: &'static [(&'static str, &'static str)],
    pub(crate) value: GuardValue,
    /// Whether it guards only a Namespace with pods, a CRD with instances, and a workload with replicas.
    pub(crate) only_populated: bool,
    /// It guards no longer once these are gone, and somebody takes the value away.
    pub while_any: &'static [(&'static str, &'static str)],
    /// A part of the names of the webhook that heeds it; empty: the API server of these kinds does.
    by: &'static str,
}

/// The value of a guard.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum GuardValue {
    Label(&'static str, &'static str),
    /// An annotation that is `true`.
    Annotation(&'static str),
    /// An annotation that is not `true`.
    Unconfirmed(&'static str),
    /// One of these fields has this value, and another lets the object go.
    Field(&'static [&'static str], &'static str, &'static str),
}

const GUARD: Guard =
    Guard { of: &[], value: GuardValue::Annotation(""), only_populated: false, while_any: &[], by: "" };
const KRUISE: &str = "policy.kruise.io/delete-protection";
/// What Kruise guards only with its feature gate ResourcesDeletionProtection; without that, its webhook isn't asked.
const KRUISE_POPULATED: &[(&str, &str)] = &[
    ("", "Namespace"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "ReplicaSet"),
];
pub(super) const HIVE: &str = "hive.openshift.io/protected-delete";
pub(super) const CONFIRMED: &str = "confirmation.gardener.cloud/deletion";

const GUARDS: &[Guard] = &[
    // openshift/hive pkg/validating-webhooks/hive/v1/clusterdeployment_validating_admission_hook.go:validateDelete
    Guard {
        of: &[("hive.openshift.io", "ClusterDeployment")],
        value: GuardValue::Annotation(HIVE),
        by: "hive.openshift.io",
        ..GUARD
    },
    // openkruise/kruise pkg/webhook/util/deletionprotection/deletion_protection.go
    Guard { of: KRUISE_POPULATED, value: GuardValue::Label(KRUISE, "Always"), by: "kruise", ..GUARD },
    Guard {
        of: &[("", "Service"), ("networking.k8s.io", "Ingress")],
        value: GuardValue::Label(KRUISE, "Always"),
        by: "kruise",
        ..GUARD
    },
    Guard {
        of: KRUISE_POPULATED,
        value: GuardValue::Label(KRUISE, "Cascading"),
        only_populated: true,
        by: "kruise",
        ..GUARD
    },
    // crossplane/crossplane internal/webhook/protection/usage/handler.go
    Guard { value: GuardValue::Label("crossplane.io/in-use", "true"), while_any: PROTECTORS, by: "nousages", ..GUARD },
    // gardener/gardener docs/concepts/apiserver_admission_plugins.md: DeletionConfirmation, in its own API server
    Guard {
        of: &[("core.gardener.cloud", "Shoot"), ("core.gardener.cloud", "Project")],
        value: GuardValue::Unconfirmed(CONFIRMED),
        ..GUARD
    },
    // gardener/gardener docs/concepts/seed-admission-controller.md: Unconfirmed Deletion Prevention
    Guard {
        of: &[("extensions.gardener.cloud", "*")],
        value: GuardValue::Unconfirmed(CONFIRMED),
        by: "gardener",
        ..GUARD
    },
    // kubedb/docs docs/guides/postgres/concepts/postgres.md: spec.deletionPolicy
    Guard {
        of: &[("kubedb.com", "*")],
        value: GuardValue::Field(&["deletionPolicy", "terminationPolicy"], "DoNotTerminate", "Halt"),
        by: "kubedb",
        ..GUARD
    },
];

impl Guard {
    /// Whether it may be on an object of this kind.
    pub fn may_be_on(&self, resource: &Resource) -> bool {
        let is_it = |of: &(&str, &str)| of.0 == resource.group && (of.1 == resource.kind || of.1 == "*");
        self.of.is_empty() || self.of.iter().any(is_it)
    }

    /// The guards that may be on objects of a kind.
    pub(crate) fn of_kind(resource: &Resource) -> impl Iterator<Item = &'static Guard> + '_ {
        GUARDS.iter().filter(|guard| guard.may_be_on(resource))
    }

    /// Whether a webhook heeds it, by the names of the webhook, its configuration and its Service.
    pub(crate) fn is_heeded_by(&self, names: &[&str]) -> bool {
        !self.by.is_empty() && names.iter().any(|name| name.contains(self.by))
    }

    /// Whether the API server that serves these kinds heeds it, without a webhook.
    pub fn is_built_in(&self) -> bool {
        self.by.is_empty()
    }

    /// What it says of an object: `its label policy.kruise.io/delete-protection is Always`.
    pub fn says(&self) -> String {
        match self.value {
            GuardValue::Label(key, value) => format!("its label {key} is {value}"),
            GuardValue::Annotation(key) => format!("its annotation {key} is true"),
            GuardValue::Unconfirmed(key) => format!("its annotation {key} is not true"),
            GuardValue::Field([field, ..], value, _) => format!("its spec.{field} is {value}"),
            GuardValue::Field(..) => String::new(),
        }
    }

    /// The merge patch that lets its object go; `None`: others take the value away. `has` says which fields there are.
    pub fn lifted(&self, has: impl Fn(&str) -> bool) -> Option<Value> {
        Some(match self.value {
            GuardValue::Label(..) if !self.while_any.is_empty() => return None,
            GuardValue::Label(key, _) => json!({"metadata": {"labels": {key: null}}}),
            GuardValue::Annotation(key) => json!({"metadata": {"annotations": {key: null}}}),
            GuardValue::Unconfirmed(key) => json!({"metadata": {"annotations": {key: "true"}}}),
            GuardValue::Field(fields, _, value) => {
                let field = fields.iter().find(|field| has(field))?;
                json!({"spec": {(*field): value}})
            }
        })
    }
}
