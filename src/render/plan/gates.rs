//! The gates that a plan violates, in JSON and in words.

use serde::Serialize;

use crate::{
    document::ObjectJson,
    model::Snapshot,
    plan::{Gate, GateViolation},
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
    removed: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    objects: Vec<ObjectJson<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    uncounted: Vec<String>,
    message: String,
}

impl<'a> GateJson<'a> {
    /// A violated gate as JSON shows it.
    pub(super) fn of(snapshot: &'a Snapshot, gate_violations: &'a GateViolation) -> Self {
        let (gate, resource, max) = match gate_violations.gate {
            Gate::Deny(resource) => ("deny", Some(snapshot.resources.get(resource).full_name()), None),
            Gate::Max(max) => ("max", None, Some(max)),
        };
        // For other gates, the outcomes already show which objects are deleted.
        let named = matches!(gate_violations.gate, Gate::Deny(_)).then_some(&gate_violations.objects);
        GateJson {
            gate,
            resource,
            max,
            removed: gate_violations.removed(),
            objects: named.into_iter().flatten().map(|id| ObjectJson::of(snapshot, *id)).collect(),
            uncounted: gate_violations
                .uncounted
                .iter()
                .map(|resource| snapshot.resources.get(*resource).full_name())
                .collect(),
            message: describe(snapshot, gate_violations),
        }
    }
}

/// The violation in a sentence: `--deny=pods: 2 such objects would be deleted (Pod/a, Pod/b).`
pub fn describe(snapshot: &Snapshot, gate_violations: &GateViolation) -> String {
    let uncounted: Vec<String> =
        gate_violations.uncounted.iter().map(|resource| snapshot.resources.get(*resource).full_name()).collect();
    let removed = gate_violations.removed();
    match gate_violations.gate {
        Gate::Deny(resource) => {
            let flag = format!("--deny={}", snapshot.resources.get(resource).full_name());
            if removed == 0 {
                return format!("{flag}: an unknown number of these objects would be deleted with the namespace.");
            }
            let names: Vec<String> =
                gate_violations.objects.iter().take(NAMED).map(|id| snapshot.short_name(*id)).collect();
            let more = removed.saturating_sub(names.len() as u64);
            let named = match (names.is_empty(), more) {
                (true, _) => String::new(),
                (false, 0) => format!(" ({})", names.join(", ")),
                (false, more) => format!(" ({} and {} more)", names.join(", "), number(more)),
            };
            let unlisted_contents = if uncounted.is_empty() { "" } else { ", and an unknown number more" };
            let objects = if removed == 1 { "object" } else { "objects" };
            format!("{flag}: {} such {objects} would be deleted{unlisted_contents}{named}.", number(removed))
        }
        Gate::Max(max) => {
            let unlisted_contents = match uncounted.as_slice() {
                [] => String::new(),
                some => format!(", and an unknown number of {}", some.join(", ")),
            };
            format!(
                "--max={max}: {} would be deleted{unlisted_contents}.",
                count(removed.try_into().unwrap_or(usize::MAX), "object", "objects")
            )
        }
    }
}

fn number(number: u64) -> String {
    thousands(number.try_into().unwrap_or(usize::MAX))
}
