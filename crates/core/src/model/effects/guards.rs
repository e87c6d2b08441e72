//! Values for which admission refuses to delete an object, whoever asks, until somebody changes them (R9.48).

use serde_json::{Value, json};

use super::operators::{Guard, GuardValue, Kind, OPERATORS};
use crate::model::Resource;

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
