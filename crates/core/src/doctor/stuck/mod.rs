//! Deletions that don't finish (§5.4), by root cause, with everything that waits for it.

mod claims;
mod finalizers;
mod immune;
mod namespaces;
mod pods;
pub(super) mod progress;
mod recreated;
mod unwatched;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol},
    server::OwnDelete,
    simulate::State,
    wording::{age, count},
};

use super::{
    case::{AT_WORK, Case, FindingsBuilder},
    limit::Limit,
};

/// Finds what blocks deletions, and what waits for that.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let causes: Vec<(ObjectId, State)> =
        case.projection.left().into_iter().filter_map(|id| Some((id, case.projection.own_state(id)?))).collect();
    let roots: Vec<(ObjectId, State)> = causes.iter().copied().filter(|(_, state)| *state != State::Waiting).collect();
    let concern = Concern::of(case);
    immune::gather(case, &concern, &roots, findings);
    pods::gather(case, &concern, findings);
    claims::gather(case, &concern, findings);
    unwatched::gather(case, &concern, &roots, findings);
    finalizers::gather(case, &concern, &causes, findings);
    namespaces::gather(case, &roots, findings);
    recreated::gather(case, findings);
}

/// All terminating objects that wait for one of these, nearest first. Namespaces come last, because they wait for all
/// of their content.
fn waiting_for(case: &Case<'_>, roots: &[ObjectId]) -> Vec<ObjectId> {
    let is_namespace = |id: &ObjectId| case.stage.rules(*id).own_delete == OwnDelete::Namespace;
    let (namespaces, mut chain): (Vec<ObjectId>, Vec<ObjectId>) =
        case.projection.chain_above_all(roots).into_iter().partition(is_namespace);
    chain.extend(namespaces);
    chain
}

/// The requested objects and all that they wait for; `None` means everything.
struct Concern(Option<FxHashSet<ObjectId>>);

impl Concern {
    fn of(case: &Case<'_>) -> Self {
        if *case.limit == Limit::Everything {
            return Concern(None);
        }
        let asked = |id: &ObjectId| case.limit.asks_about(case.snapshot(), *id);
        let mut open: Vec<ObjectId> = case.snapshot().objects().map(|(id, _)| id).filter(asked).collect();
        let mut concern: FxHashSet<ObjectId> = open.iter().copied().collect();
        while let Some(id) = open.pop() {
            open.extend(case.projection.waits_for(id).iter().copied().filter(|other| concern.insert(*other)));
        }
        Concern(Some(concern))
    }

    fn includes(&self, id: ObjectId) -> bool {
        self.0.as_ref().is_none_or(|concern| concern.contains(&id))
    }
}

/// A sentence about the objects that wait for these; empty if there are none.
fn waits(case: &Case<'_>, waiting: &[ObjectId], objects: &[ObjectId]) -> String {
    let beside = objects.first().copied();
    match waiting.len() {
        0 => String::new(),
        1 => format!(" {} waits for {}.", case.name(waiting[0], beside), it(objects)),
        many => format!(" {many} objects wait for {}: {}.", it(objects), case.names(waiting, beside)),
    }
}

/// Those of `waiting` that wait for dependents, and that a second delete in the background would release (R1.21). That
/// doesn't help a namespace that its controller has yet to finalize (R1.25), or a pod in its grace period (R1.17).
fn waiting_in_the_foreground(case: &Case<'_>, waiting: &[ObjectId]) -> Vec<ObjectId> {
    let foreground = |id: &ObjectId| {
        let object = case.snapshot().object(*id);
        let rules = case.stage.rules(*id);
        let in_grace = rules.graceful && object.grace.get().is_some_and(|seconds| seconds != 0);
        let deaf = rules.own_delete == OwnDelete::Namespace || in_grace;
        object.terminating() && object.finalizers.contains(&Symbol::FOREGROUND) && !deaf
    };
    waiting.iter().copied().filter(foreground).collect()
}

/// Whether a controller may still be working on the delete of an object: on a live cluster, during its first minute.
fn may_be_at_work(case: &Case<'_>, id: ObjectId) -> bool {
    case.live && !case.has_been_terminating(id, AT_WORK)
}

/// How long the first of some objects has been terminating: ` for 12d`; or since when, if a dump has nothing later:
/// ` since 2026-01-31T08:00:00Z`. Empty if unknown.
pub(super) fn since(case: &Case<'_>, objects: &[ObjectId]) -> String {
    if let Some(seconds) = objects.iter().filter_map(|id| case.going_for(*id)).max() {
        return format!(" for {}", age(seconds));
    }
    let first = objects.iter().filter_map(|id| case.snapshot().object(*id).deletion_requested()).min();
    let time = first.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map(|time| format!(" since {time}")).unwrap_or_default()
}

/// `it` or `them`, depending on the count.
fn it(objects: &[ObjectId]) -> &'static str {
    if objects.len() == 1 { "it" } else { "them" }
}

fn objects(number: usize) -> String {
    count(number, "object", "objects")
}
