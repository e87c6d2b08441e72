//! `kind: Reclaim`, described in `docs/schema/reclaim.json`.

use serde::Serialize;

use crate::{
    document::rfc3339,
    model::{Rule, Snapshot},
    reclaim::{Assumption, Held, Reason, Removal, Stays, When},
    render::document::{Head, ObjectJson},
};

use super::ReclaimView;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReclaimDocument<'a> {
    #[serde(flatten)]
    head: Head,
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_seconds: Option<i64>,
    removals: Vec<RemovalJson<'a>>,
    without_time: usize,
    frees: Frees,
    #[serde(skip_serializing_if = "Option::is_none")]
    stays: Option<Vec<StaysJson<'a>>>,
    assumes: Vec<AssumptionJson<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::render) struct RemovalJson<'a> {
    object: ObjectJson<'a>,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertain_because: Option<&'a str>,
    reasons: Vec<ReasonJson<'a>>,
    /// What keeps it in Terminating.
    held: Vec<HeldJson<'a>>,
    takes: Vec<ObjectJson<'a>>,
    may_take: Vec<ObjectJson<'a>>,
    held_dependents: Vec<ObjectJson<'a>>,
    end: &'static str,
    frees: Frees,
}

#[derive(Debug, Serialize)]
struct ReasonJson<'a> {
    rule: Rule,
    controller: &'a str,
    propagation: &'static str,
    when: WhenJson<'a>,
    why: &'a str,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind")]
enum WhenJson<'a> {
    Now,
    At {
        time: String,
    },
    #[serde(rename_all = "camelCase")]
    Pass {
        from: String,
        until: String,
        every_seconds: i64,
    },
    Once {
        event: &'a str,
        gone: Vec<ObjectJson<'a>>,
    },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct HeldJson<'a> {
    finalizer: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    controller: Option<&'a str>,
    used_by: Vec<ObjectJson<'a>>,
}

#[derive(Debug, Serialize)]
struct Frees {
    objects: usize,
    bytes: u64,
}

#[derive(Serialize)]
struct StaysJson<'a> {
    object: ObjectJson<'a>,
    rule: Rule,
    why: &'a str,
}

#[derive(Serialize)]
struct AssumptionJson<'a> {
    assumption: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    flag: Option<&'a str>,
}

impl<'a> ReclaimDocument<'a> {
    pub(super) fn of(view: &ReclaimView<'a>) -> Self {
        let snapshot = view.snapshot;
        let removals = view.removals();
        let frees = Frees {
            objects: removals.iter().map(|removal| removal.freed()).sum(),
            bytes: removals.iter().map(|removal| removal.bytes).sum(),
        };
        ReclaimDocument {
            head: Head::of("Reclaim", view.gaps, snapshot),
            time: rfc3339(view.now),
            within_seconds: view.within,
            removals: removals.into_iter().map(|removal| RemovalJson::of(snapshot, removal)).collect(),
            without_time: view.without_time(),
            frees,
            stays: view.never.then(|| {
                let stays = view.stays().into_iter();
                stays
                    .map(|Stays { object, rule, why }| StaysJson {
                        object: ObjectJson::of(snapshot, *object),
                        rule: *rule,
                        why,
                    })
                    .collect()
            }),
            assumes: view.forecast.assumptions.iter().map(AssumptionJson::of).collect(),
        }
    }
}

impl<'a> RemovalJson<'a> {
    pub(in crate::render) fn of(snapshot: &'a Snapshot, removal: &'a Removal) -> Self {
        let held = |Held { finalizer, by, for_objects }: &'a Held| HeldJson {
            finalizer,
            controller: *by,
            used_by: for_objects.iter().map(|id| ObjectJson::of(snapshot, *id)).collect(),
        };
        RemovalJson {
            object: ObjectJson::of(snapshot, removal.object),
            certain: removal.doubt().is_none(),
            uncertain_because: removal.doubt(),
            reasons: removal.reasons.iter().map(|reason| ReasonJson::of(snapshot, reason)).collect(),
            held: removal.held.iter().map(held).collect(),
            takes: removal.takes.iter().map(|id| ObjectJson::of(snapshot, *id)).collect(),
            may_take: removal.may_take.iter().map(|id| ObjectJson::of(snapshot, *id)).collect(),
            held_dependents: removal.held_dependents.iter().map(|id| ObjectJson::of(snapshot, *id)).collect(),
            end: removal.end.name(),
            frees: Frees { objects: removal.freed(), bytes: removal.bytes },
        }
    }
}

impl<'a> ReasonJson<'a> {
    fn of(snapshot: &'a Snapshot, reason: &'a Reason) -> Self {
        let when = match &reason.when {
            When::Now => WhenJson::Now,
            When::At(at) => WhenJson::At { time: rfc3339(*at) },
            When::Pass { from, until, every } => {
                WhenJson::Pass { from: rfc3339(*from), until: rfc3339(*until), every_seconds: *every }
            }
            When::Once { event, gone } => {
                WhenJson::Once { event, gone: gone.iter().map(|id| ObjectJson::of(snapshot, *id)).collect() }
            }
        };
        ReasonJson {
            rule: reason.rule,
            controller: &reason.controller,
            propagation: reason.propagation.name(),
            when,
            why: &reason.why,
        }
    }
}

impl<'a> AssumptionJson<'a> {
    fn of(assumption: &'a Assumption) -> Self {
        AssumptionJson { assumption: &assumption.text, flag: assumption.flag }
    }
}
