//! What is asked about, and what waits for it: shared by all that finds what doesn't finish.

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol},
    server::OwnDelete,
    simulate::LATE,
    wording::{age, count},
};

use super::super::{case::Case, limit::Limit};

/// All terminating objects that wait for one of these, nearest first. Namespaces come last, because they wait for all
/// of their content.
pub(super) fn waiting_for(case: &Case<'_>, roots: &[ObjectId]) -> Vec<ObjectId> {
    let is_namespace = |id: &ObjectId| case.stage.rules(*id).own_delete == OwnDelete::Namespace;
    let (namespaces, mut chain): (Vec<ObjectId>, Vec<ObjectId>) =
        case.projection.chain_above_all(roots).into_iter().partition(is_namespace);
    chain.extend(namespaces);
    chain
}

/// The requested objects, the Terminating owners and the Namespace that go before them, and all that these wait for;
/// `None` means everything.
pub(super) struct Concern(Option<FxHashSet<ObjectId>>);

impl Concern {
    pub(super) fn of(case: &Case<'_>) -> Self {
        if *case.limit == Limit::Everything {
            return Concern(None);
        }
        let asked = |id: &ObjectId| case.limit.asks_about(case.snapshot(), *id);
        let mut open: Vec<ObjectId> = case.snapshot().objects().map(|(id, _)| id).filter(asked).collect();
        let mut concern: FxHashSet<ObjectId> = open.iter().copied().collect();
        // A finding about an owner says what is lost with it.
        let mut above = open.clone();
        let mut seen = concern.clone();
        while let Some(id) = above.pop() {
            let owners = case.snapshot().object(id).owners.iter();
            let owners = owners.filter_map(|owner| case.snapshot().by_uid(owner.uid));
            let owners = owners.chain(case.stage.leaving_namespace_of(id));
            let owners: Vec<ObjectId> = owners.filter(|owner| seen.insert(*owner)).collect();
            let is_leaving = |owner: &&ObjectId| case.snapshot().object(**owner).terminating();
            open.extend(owners.iter().filter(is_leaving).filter(|owner| concern.insert(**owner)));
            above.extend(owners);
        }
        let is_leaving = |id: &ObjectId| case.snapshot().object(*id).terminating();
        while let Some(id) = open.pop() {
            // Controllers wait for dependents, too.
            let below = case.graph().dependents(id.into()).iter().filter(|id| is_leaving(id));
            let below = below.copied().filter(|_| is_leaving(&id));
            let next = case.projection.waits_for(id).iter().copied().chain(below);
            open.extend(next.filter(|other| concern.insert(*other)));
        }
        Concern(Some(concern))
    }

    pub(super) fn includes(&self, id: ObjectId) -> bool {
        self.0.as_ref().is_none_or(|concern| concern.contains(&id))
    }
}

/// A sentence about the objects that wait for these; empty if there are none.
pub(super) fn waits(case: &Case<'_>, waiting: &[ObjectId], objects: &[ObjectId]) -> String {
    let these = if objects.len() == 1 { "it".to_owned() } else { format!("these {} objects", objects.len()) };
    let names = case.names(waiting, objects.first().copied());
    match waiting.len() {
        0 => String::new(),
        1 => format!(" {names} waits for {these}."),
        _ => format!(" {names} wait for {these}."),
    }
}

/// Those of `waiting` that wait for dependents, and that a second delete in the background would release (R1.21). That
/// doesn't help a namespace that its controller has yet to finalize (R1.25), or a pod in its grace period (R1.17).
pub(super) fn waiting_in_the_foreground(case: &Case<'_>, waiting: &[ObjectId]) -> Vec<ObjectId> {
    let foreground = |id: &ObjectId| {
        let object = case.snapshot().object(*id);
        let rules = case.stage.rules(*id);
        let in_grace = rules.graceful && object.grace.get().is_some_and(|seconds| seconds != 0);
        let is_finalized = || case.snapshot().facts.namespace(*id).is_some_and(|facts| facts.finalizers.is_empty());
        let deaf = rules.own_delete == OwnDelete::Namespace && !is_finalized() || in_grace;
        object.terminating() && object.finalizers.contains(&Symbol::FOREGROUND) && !deaf
    };
    waiting.iter().copied().filter(foreground).collect()
}

/// Whether an error is said of one of these objects since it was deleted, which its controller tries again and again to
/// get over.
pub(super) fn fails(case: &Case<'_>, objects: &[ObjectId]) -> bool {
    objects.iter().any(|id| {
        let said = case.snapshot().facts.why_not_deleted(*id);
        said.is_some_and(|said| said.is_error && said.source.is_of_deletion()) && case.has_been_terminating(*id, LATE)
    })
}

/// A text that begins a sentence, or not.
pub(super) fn sentence(text: &str, begins: bool) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if begins => first.to_uppercase().collect::<String>() + letters.as_str(),
        _ => text.to_owned(),
    }
}

/// How long the first of some objects has been terminating: ` for 12d`; or since when, if a dump has nothing later:
/// ` since 2026-01-31T08:00:00Z`. Empty if unknown.
pub(in crate::doctor) fn since(case: &Case<'_>, objects: &[ObjectId]) -> String {
    if let Some(seconds) = objects.iter().filter_map(|id| case.going_for(*id)).max() {
        return format!(" for {}", age(seconds));
    }
    let first = objects.iter().filter_map(|id| case.snapshot().object(*id).deletion_requested()).min();
    let time = first.and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map(|time| format!(" since {time}")).unwrap_or_default()
}

/// What it is to remove so many finalizers in place of their controllers.
pub(super) fn forcing(finalizers: usize) -> &'static str {
    match finalizers {
        1 => "force-remove the finalizer (its cleanup will NOT run)",
        _ => "force-remove the finalizers (their cleanup will NOT run)",
    }
}

/// `it` or `them`, depending on the count.
pub(super) fn it(objects: &[ObjectId]) -> &'static str {
    if objects.len() == 1 { "it" } else { "them" }
}

pub(super) fn objects(number: usize) -> String {
    count(number, "object", "objects")
}
