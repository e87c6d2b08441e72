//! Values for which admission refuses to delete an object, whoever asks, until somebody changes them (R9.48).

use serde::Deserialize;
use serde_json::{Value, json};

use super::operators::{Kind, OPERATORS, Remark, kinds};
use crate::model::Resource;

/// A value that guards objects, and who heeds it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Guard {
    /// The groups and kinds of what it guards; `*` is every kind. Empty: everything.
    #[serde(default, deserialize_with = "kinds")]
    of: Vec<Kind>,
    pub(crate) value: GuardValue,
    /// Whether it guards only a Namespace with pods, a CRD with instances, and a workload with replicas.
    #[serde(default)]
    pub(crate) only_populated: bool,
    /// It guards no longer once these are gone, and somebody takes the value away.
    #[serde(default, deserialize_with = "kinds")]
    pub while_any: Vec<Kind>,
    /// A part of the names of the webhook that heeds it; empty: the API server of these kinds does.
    #[serde(default)]
    by: &'static str,
    #[serde(rename = "source")]
    _source: Remark,
    #[serde(default, rename = "remark")]
    _remark: Remark,
}

/// The value of a guard.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum GuardValue {
    Label(&'static str, &'static str),
    /// An annotation that is `true`.
    Annotation(&'static str),
    /// An annotation that is not `true`.
    Unconfirmed(&'static str),
    /// One of these fields has this value, and another lets the object go.
    Field(Vec<&'static str>, &'static str, &'static str),
}

pub(super) const HIVE: &str = "hive.openshift.io/protected-delete";
pub(super) const CONFIRMED: &str = "confirmation.gardener.cloud/deletion";

impl Guard {
    /// Whether it may be on an object of this kind.
    pub fn may_be_on(&self, resource: &Resource) -> bool {
        let is_it = |of: &Kind| of.0 == resource.group && (of.1 == resource.kind || of.1 == "*");
        self.of.is_empty() || self.of.iter().any(is_it)
    }

    /// The guards that may be on objects of a kind.
    pub(crate) fn of_kind(resource: &Resource) -> impl Iterator<Item = &'static Guard> + '_ {
        OPERATORS.guards.iter().filter(|guard| guard.may_be_on(resource))
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
        match &self.value {
            GuardValue::Label(key, value) => format!("its label {key} is {value}"),
            GuardValue::Annotation(key) => format!("its annotation {key} is true"),
            GuardValue::Unconfirmed(key) => format!("its annotation {key} is not true"),
            GuardValue::Field(fields, value, _) => format!("its spec.{} is {value}", fields[0]),
        }
    }

    /// The merge patch that lets its object go; `None`: others take the value away. `has` says which fields there are.
    pub fn lifted(&self, has: impl Fn(&str) -> bool) -> Option<Value> {
        Some(match &self.value {
            GuardValue::Label(..) if !self.while_any.is_empty() => return None,
            GuardValue::Label(key, _) => json!({"metadata": {"labels": {*key: null}}}),
            GuardValue::Annotation(key) => json!({"metadata": {"annotations": {*key: null}}}),
            GuardValue::Unconfirmed(key) => json!({"metadata": {"annotations": {*key: "true"}}}),
            GuardValue::Field(fields, _, value) => {
                let field = fields.iter().find(|field| has(field))?;
                json!({"spec": {(*field): value}})
            }
        })
    }
}
