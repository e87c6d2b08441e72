//! Deletions that don't come to an end (5.4), each told of its root cause, with everything that waits for that.

mod finalizers;
mod immune;
mod namespaces;
mod pods;
mod recreated;
mod unwatched;

use crate::{
    foretell::State,
    model::ObjectId,
    wording::{age, count},
};

use super::case::{Case, Gathering};

/// Finds what holds deletions, and who waits for that.
pub(super) fn gather(case: &Case<'_>, gathering: &mut Gathering) {
    let roots: Vec<(ObjectId, State)> = case
        .prognosis
        .left()
        .into_iter()
        .filter_map(|id| Some((id, case.prognosis.own_state(id)?)))
        .filter(|(_, state)| *state != State::Waiting)
        .collect();
    immune::gather(case, &roots, gathering);
    pods::gather(case, gathering);
    unwatched::gather(case, &roots, gathering);
    finalizers::gather(case, &roots, gathering);
    namespaces::gather(case, &roots, gathering);
    recreated::gather(case, gathering);
}

/// Everything that is terminating and waits for one of these, nearest first.
fn waiting_for(case: &Case<'_>, roots: &[ObjectId]) -> Vec<ObjectId> {
    let mut waiting: Vec<ObjectId> = Vec::new();
    let mut seen: rustc_hash::FxHashSet<ObjectId> = roots.iter().copied().collect();
    for root in roots {
        waiting.extend(case.prognosis.chain_above(*root).into_iter().filter(|id| seen.insert(*id)));
    }
    waiting
}

/// Who waits, in a sentence of its own; empty where nobody does.
fn waits(case: &Case<'_>, waiting: &[ObjectId], beside: ObjectId) -> String {
    match waiting.len() {
        0 => String::new(),
        1 => format!(" {} waits for it.", case.name(waiting[0], Some(beside))),
        many => format!(" {many} objects wait for it: {}.", case.names(waiting, Some(beside))),
    }
}

/// Those of some objects that wait for their dependents, and that a second delete in the background would release (R1.21).
fn waiting_in_the_foreground(case: &Case<'_>, waiting: &[ObjectId]) -> Vec<ObjectId> {
    let foreground = |id: &ObjectId| {
        let object = case.snapshot().object(*id);
        object.terminating() && object.finalizers.contains(&crate::model::Symbol::FOREGROUND)
    };
    waiting.iter().copied().filter(foreground).collect()
}

/// For how long the first of some objects has been terminating: `for 12d`; empty where that is not known.
fn since(case: &Case<'_>, objects: &[ObjectId]) -> String {
    let longest = objects.iter().filter_map(|id| case.terminating_for(*id)).max();
    longest.map(|seconds| format!(" for {}", age(seconds))).unwrap_or_default()
}

/// `it` or `them`, by how many there are.
fn it(objects: &[ObjectId]) -> &'static str {
    if objects.len() == 1 { "it" } else { "them" }
}

fn objects(number: usize) -> String {
    count(number, "object", "objects")
}
