//! The gates that a plan violates, in JSON and in words.

use serde::Serialize;

use crate::{
    document::ObjectJson,
    model::{Snapshot, gaps::in_words},
    plan::{EffectClass, Gate, GateViolation, VerdictResult},
    wording::{count, thousands},
};

/// At most this many objects are named.
const NAMED: usize = 3;

/// A violated gate.
#[derive(Debug, Serialize)]
pub(super) struct GateJson<'a> {
    gate: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    removed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objects: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncounted: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread: Vec<String>,
    message: String,
}

impl<'a> GateJson<'a> {
    /// A violated gate as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, gate_violations: &'a GateViolation) -> Self {
        let blank = GateJson {
            gate: "",
            resource: None,
            max: None,
            effect: None,
            result: None,
            removed: 0,
            objects: Vec::new(),
            uncounted: Vec::new(),
            unread: gate_violations.unread.iter().map(ToString::to_string).collect(),
            message: describe(snapshot, gate_violations),
        };
        let gate = match gate_violations.gate {
            Gate::Deny(resource) => {
                GateJson { gate: "deny", resource: Some(snapshot.resources.get(resource).full_name()), ..blank }
            }
            Gate::Max(max) => GateJson { gate: "max", max: Some(max), ..blank },
            Gate::DenyEffect(class) => GateJson { gate: "deny-effect", effect: Some(class.name()), ..blank },
            Gate::FailOn(fail_on) => GateJson { gate: "fail-on", result: Some(fail_on.name()), ..blank },
        };
        // For other gates, the outcomes already show which objects are deleted.
        let named = matches!(gate_violations.gate, Gate::Deny(_) | Gate::DenyEffect(_));
        let objects = gate_violations.objects.iter().filter(|_| named);
        GateJson {
            removed: gate_violations.removed(),
            objects: objects.map(|id| ObjectJson::of(snapshot, *id)).collect(),
            uncounted: gate_violations
                .uncounted
                .iter()
                .map(|resource| snapshot.resources.get(*resource).full_name())
                .collect(),
            ..gate
        }
    }
}

/// The violation in a sentence: `--deny=pods: 2 such objects would be deleted (Pod/a, Pod/b).`
pub fn describe(snapshot: &Snapshot, gate_violations: &GateViolation) -> String {
    let uncounted: Vec<String> =
        gate_violations.uncounted.iter().map(|resource| snapshot.resources.get(*resource).full_name()).collect();
    let removed = gate_violations.removed();
    match gate_violations.gate {
        Gate::Deny(_) => {
            let mut parts = Vec::new();
            if removed > 0 {
                let more = if uncounted.is_empty() { "" } else { ", and an unknown number more" };
                let objects = if removed == 1 { "object" } else { "objects" };
                let named = named(snapshot, gate_violations);
                parts.push(format!("{} such {objects} would be deleted{more}{named}", number(removed)));
            } else if !uncounted.is_empty() {
                parts.push("an unknown number of these objects would be deleted with the namespace".to_owned());
            }
            if !gate_violations.unread.is_empty() {
                parts
                    .push(format!("some may be deleted that could not be read: {}", in_words(&gate_violations.unread)));
            }
            format!("{}: {}.", flag(snapshot, gate_violations), parts.join("; "))
        }
        Gate::Max(_) => {
            let mut more = String::new();
            if !uncounted.is_empty() {
                more += &format!(", and an unknown number of {}", uncounted.join(", "));
            }
            if !gate_violations.unread.is_empty() {
                more += &format!("; more may be, which could not be read: {}", in_words(&gate_violations.unread));
            }
            let objects = count(removed.try_into().unwrap_or(usize::MAX), "object", "objects");
            format!("{}: {objects} would be deleted{more}.", flag(snapshot, gate_violations))
        }
        Gate::DenyEffect(class) => {
            let has = match (class, removed) {
                (EffectClass::DataLoss, 1) => "object loses its data, or may",
                (EffectClass::DataLoss, _) => "objects lose their data, or may",
                (EffectClass::External, 1) => "object deletes something outside the owner graph, or may",
                (EffectClass::External, _) => "objects delete something outside the owner graph, or may",
                (EffectClass::Unknown, 1) => "object has an effect that is not known",
                (EffectClass::Unknown, _) => "objects have an effect that is not known",
            };
            let mut parts = Vec::new();
            if removed > 0 {
                parts.push(format!("{} {has}{}", number(removed), named(snapshot, gate_violations)));
            }
            let unread = (!gate_violations.unread.is_empty()).then(|| in_words(&gate_violations.unread));
            let not_read: Vec<String> = unread.into_iter().chain(uncounted).collect();
            if !not_read.is_empty() {
                parts.push(format!("what could not be read may have such an effect: {}", not_read.join(", ")));
            }
            format!("{}: {}.", flag(snapshot, gate_violations), parts.join("; "))
        }
        Gate::FailOn(fail_on) => {
            let why = match fail_on {
                VerdictResult::Refused => "the API server would refuse it",
                VerdictResult::TakesDown => "a webhook or an API would lose its backend",
                VerdictResult::DataLoss => "data would be lost, or may be",
                VerdictResult::Stuck | VerdictResult::Depends | VerdictResult::Waits => {
                    "data would be lost, or may be, or something would stay Terminating"
                }
                VerdictResult::Unsure => "data would be lost, something would stay Terminating, or is not certain",
                VerdictResult::External => "something outside the owner graph would be deleted, or worse",
                VerdictResult::Deletes | VerdictResult::Nothing => "something would be deleted or changed",
            };
            let unread = match gate_violations.unread.as_slice() {
                [] => String::new(),
                unread => format!("; what could not be read: {}", in_words(unread)),
            };
            format!("{}: {why}{unread}.", flag(snapshot, gate_violations))
        }
    }
}

/// The flag that the plan violates: `--deny=pods`.
pub(super) fn flag(snapshot: &Snapshot, violation: &GateViolation) -> String {
    match violation.gate {
        Gate::Deny(resource) => format!("--deny={}", snapshot.resources.get(resource).full_name()),
        Gate::Max(max) => format!("--max={max}"),
        Gate::DenyEffect(class) => format!("--deny-effect={}", class.name()),
        Gate::FailOn(result) => format!("--fail-on={}", result.name()),
    }
}

/// ` (Pod/a, Pod/b and 3 more)`: some of the objects; empty if none has a name.
fn named(snapshot: &Snapshot, violation: &GateViolation) -> String {
    let names: Vec<String> = violation.objects.iter().take(NAMED).map(|id| snapshot.short_name(*id)).collect();
    let more = violation.removed().saturating_sub(names.len() as u64);
    match (names.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!(" ({})", names.join(", ")),
        (false, more) => format!(" ({} and {} more)", names.join(", "), number(more)),
    }
}

fn number(number: u64) -> String {
    thousands(number.try_into().unwrap_or(usize::MAX))
}
