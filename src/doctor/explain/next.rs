//! What the collector does with an object next, in words, and whether it looks at it at all.

use rustc_hash::FxHashSet;

use crate::{
    collector::{Collector, Reason},
    model::{ObjectId, Reference, Rule, Symbol},
    server::{Propagation, kinds::protected},
    simulate::{Next, NoAction, may_lag_after_restart},
    tree::{ReferenceStatus, ResolvedReference},
    wording::count,
};

use super::{Case, Explainer};
use crate::doctor::case::some_of;

/// What the collector does with an object next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStory {
    pub next: Next,
    /// The rule that says so.
    pub rule: Rule,
    pub message: String,
    pub attention: Attention,
}

/// Whether the collector looks at an object without anything more happening: at rest, it sweeps nothing (R8.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attention {
    /// What happened before has queued it: a collector that works does it at once.
    Queued,
    /// The same; but one that was started since then may pass it over until its owner is gone (R8.10).
    QueuedUnlessRestarted,
    /// It failed on it, and tries again, at most 17 minutes apart (R2.9, R8.9).
    Retried,
    /// Only when something happens: an owner goes or begins to wait, or its references change (R8.6).
    OnChange,
    /// Never, as it is.
    Never,
    /// That could not be read.
    Unknown,
}

impl Attention {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            Attention::Queued => "Queued",
            Attention::QueuedUnlessRestarted => "QueuedUnlessRestarted",
            Attention::Retried => "Retried",
            Attention::OnChange => "OnChange",
            Attention::Never => "Never",
            Attention::Unknown => "Unknown",
        }
    }

    /// In a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Attention::Queued => "A collector that works does so within seconds.",
            Attention::QueuedUnlessRestarted => {
                "A collector that works does so within seconds; one that was started in the meantime may leave it alone until its owner is gone."
            }
            Attention::Retried => "It tries again and again, up to 17 minutes apart.",
            Attention::OnChange => {
                "The collector looks at it again only when an owner goes, or waits for its dependents, or when its references change."
            }
            Attention::Never => "It doesn't look at it.",
            Attention::Unknown => "Whether it does anything is not known.",
        }
    }
}

impl Explainer<'_, '_> {
    pub(super) fn next(&mut self, object: ObjectId) -> NextStory {
        let (mut next, needs) = Next::of(self.case.stage, object);
        self.wanted.needs.add(&needs);
        if let Next::WaitForDependents(blocking) = &mut next {
            // What never goes comes first.
            let all: FxHashSet<ObjectId> = blocking.iter().copied().collect();
            *blocking = self.waits_for(object).into_iter().filter(|id| all.contains(id)).collect();
        }
        let attention = attention(self.case, object, &next);
        let (rule, message) = describe(self.case, object, &next);
        NextStory { next, rule, message, attention }
    }
}

fn attention(case: &Case<'_>, object: ObjectId, next: &Next) -> Attention {
    match next {
        Next::Delete(..) | Next::DropReferences(_) | Next::Unblock if may_lag_after_restart(case.stage, object) => {
            Attention::QueuedUnlessRestarted
        }
        Next::Nothing(idle) => match idle {
            NoAction::NoOwners | NoAction::OwnersSolid | NoAction::InvalidScope(_) => Attention::OnChange,
            NoAction::OnItsWayOut | NoAction::NotWatched | NoAction::SharedUid(_) => Attention::Never,
            NoAction::Unmappable(_) if Collector::at_rest(case.snapshot(), case.graph()).retried_at_rest(object) => {
                Attention::Retried
            }
            NoAction::Unmappable(_) => Attention::OnChange,
            NoAction::Unread(_) => Attention::Unknown,
        },
        _ => Attention::Queued,
    }
}

/// The rule, and a sentence or two.
fn describe(case: &Case<'_>, object: ObjectId, next: &Next) -> (Rule, String) {
    let snapshot = case.snapshot();
    let found = snapshot.object(object);
    let names = |ids: &[ObjectId]| case.names(ids, Some(object));
    let at = |place: usize| found.owners.get(place).map(|reference| case.reference(reference)).unwrap_or_default();
    match next {
        Next::Delete(policy, reason) => deletes(case, object, *policy, reason),
        Next::Unblock => (
            Rule::R5_10,
            "The collector lets it no longer block its owners, because one of its dependents is going in the foreground already, and deletes it."
                .to_owned(),
        ),
        Next::DropReferences(uids) => drops(case, object, uids),
        Next::FreeDependents(dependents) => {
            let them = count(dependents.len(), "dependent", "dependents");
            (Rule::R6_2, format!("The collector frees its {them} ({}), and then takes its orphan finalizer.", names(dependents)))
        }
        Next::TakeFinalizer(Symbol::ORPHAN) => {
            (Rule::R6_4, "The collector takes its orphan finalizer: no dependent is left to be freed.".to_owned())
        }
        Next::TakeFinalizer(_) => {
            (Rule::F3, "The collector takes its foregroundDeletion finalizer: no dependent blocks it any more.".to_owned())
        }
        Next::WaitForDependents(blocking) => (Rule::F4, format!("The collector waits for {} to go.", names(blocking))),
        Next::Nothing(NoAction::NoOwners) => (Rule::G4, "Nothing: nobody owns it, and the collector deletes only what has owners.".to_owned()),
        Next::Nothing(NoAction::OwnersSolid) => {
            let each = if found.owners.len() == 1 { "its owner is there" } else { "every owner is there" };
            (Rule::D1, format!("Nothing: {each}, and none waits for its dependents to go."))
        }
        Next::Nothing(NoAction::OnItsWayOut) => (
            Rule::R8_3,
            "Nothing: it is terminating without a finalizer of the collector's, which leaves it alone, with all that depends on it, until it is gone."
                .to_owned(),
        ),
        Next::Nothing(NoAction::NotWatched) => {
            let why = snapshot.resources.not_watched(found.resource).map(ToString::to_string);
            let kind = snapshot.resources.get(found.resource).full_name();
            (Rule::R2_7, format!("Nothing: the collector doesn't watch {kind} ({}).", why.unwrap_or_default()))
        }
        Next::Nothing(NoAction::SharedUid(other)) => {
            (Rule::R3_5, format!("Nothing: the collector knows only {} by this uid.", case.name(*other, Some(object))))
        }
        Next::Nothing(NoAction::Unmappable(place)) => (
            Rule::R3_13,
            format!("Nothing: the collector fails on the reference to {}, whose kind is not served, whatever the others say.", at(*place)),
        ),
        Next::Nothing(NoAction::InvalidScope(place)) => (
            Rule::L3,
            format!("Nothing: the collector gives up at the reference to {}, which is namespaced, whatever the others say.", at(*place)),
        ),
        Next::Nothing(NoAction::Unread(Some(place))) => (Rule::R10_2, format!("Not known: the owner {} could not be read.", at(*place))),
        Next::Nothing(NoAction::Unread(None)) => (Rule::R10_2, "Not known: something that decides it could not be read.".to_owned()),
    }
}

fn deletes(case: &Case<'_>, object: ObjectId, policy: Propagation, reason: &Reason) -> (Rule, String) {
    let found = case.snapshot().object(object);
    let owners = found.owners.len();
    // Of an owner that is there, and not where the reference says, nobody would say that it is gone.
    let is_bent = |reference: &Reference| {
        let link = ResolvedReference::of(case.snapshot(), case.graph(), found, reference);
        !link.standing.valid() && !matches!(link.standing, ReferenceStatus::Absent | ReferenceStatus::OtherUid)
    };
    let (rule, why) = match reason {
        Reason::OwnerWaits if owners == 1 => (Rule::F2, "its owner waits for its dependents to go"),
        Reason::OwnerWaits => (Rule::F2, "an owner waits for its dependents to go, and no other keeps it"),
        _ if found.owners.iter().any(is_bent) => (
            Rule::R8_4,
            if owners == 1 { "its owner counts as gone" } else { "all its owners are gone, or count as gone" },
        ),
        _ if owners == 1 => (Rule::R8_4, "its owner is gone"),
        _ => (Rule::R8_4, "all its owners are gone"),
    };
    let how = match policy {
        Propagation::Background => "",
        Propagation::Foreground => " in the foreground, dependents first",
        Propagation::Orphan => ", and lets its dependents stay",
    };
    let refused = protected(case.snapshot(), object)
        .map(|why| format!(" The API server refuses that: {why}."))
        .unwrap_or_default();
    (rule, format!("The collector deletes it{how}: {why}.{refused}"))
}

/// What is dropped is dropped by uid: a right reference goes with a wrong one that has its uid (R4.8).
fn drops(case: &Case<'_>, object: ObjectId, uids: &[Symbol]) -> (Rule, String) {
    let owners = &case.snapshot().object(object).owners;
    let uids: FxHashSet<Symbol> = uids.iter().copied().collect();
    let is_dropped = |reference: &&Reference| uids.contains(&reference.uid);
    let named = |references: &mut dyn Iterator<Item = &Reference>| -> String {
        let mut seen: FxHashSet<(Symbol, Symbol)> = FxHashSet::default();
        let new = references.filter(|reference| seen.insert((reference.kind, reference.name)));
        let name = |reference: &Reference| {
            format!("{}/{}", case.snapshot().text(reference.kind), case.snapshot().text(reference.name))
        };
        some_of(&new.map(name).collect::<Vec<_>>())
    };
    let lost = named(&mut owners.iter().filter(is_dropped));
    let kept = named(&mut owners.iter().filter(|reference| !is_dropped(reference)));
    if kept.is_empty() {
        let describe = format!(
            "The collector drops all its references to {lost}, the right one with the others: it is left without an owner."
        );
        return (Rule::R4_8, describe);
    }
    (
        Rule::R8_5,
        format!("The collector drops its references to {lost}, and leaves it alone otherwise: {kept} keeps it."),
    )
}
