//! What the collector does next with an object, in words, and whether it examines the object at all.

use rustc_hash::FxHashSet;
use serde::{Serialize, Serializer};

use crate::{
    collector::{Collector, Reason},
    command_line::ShellCommand,
    hold::Held,
    model::{ObjectId, Reference, Rule, Symbol, gaps::each_once},
    server::{OwnDelete, Propagation, kinds::protected},
    simulate::{Next, NoAction, may_lag_after_restart},
    tree::{ReferenceStatus, ResolvedReference},
    wording::count,
};

use super::{Case, Explainer};
use crate::doctor::case::some_of;

/// What the collector does next with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStory {
    pub next: Next,
    /// The rule behind it.
    pub rule: Rule,
    pub message: String,
    /// What becomes of its dependents once it is gone.
    pub follows: Option<Follows>,
    pub attention: Attention,
    /// Whether the collector is about to let it go, and dependents may be among what could not be read.
    pub may_wait: bool,
    /// The owner that keeps it, where another one was not read.
    pub keeper: Option<ObjectId>,
}

/// Which dependents go with an object that is Terminating, and how they are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follows {
    pub message: String,
    /// What the command does that keeps them, and the command.
    pub keep: Option<(String, ShellCommand)>,
}

/// A next step in a document.
#[derive(Serialize)]
struct NextJson<'a> {
    action: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<NoAction>,
    rule: Rule,
    message: &'a str,
    attention: Attention,
    #[serde(skip_serializing_if = "Option::is_none")]
    propagation: Option<Propagation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    finalizer: Option<Symbol>,
    /// The uids of the owner references that the collector removes.
    #[serde(skip_serializing_if = "<[Symbol]>::is_empty")]
    drops: &'a [Symbol],
    /// The dependents that are orphaned or waited for.
    #[serde(skip_serializing_if = "<[ObjectId]>::is_empty")]
    dependents: &'a [ObjectId],
}

impl Serialize for NextStory {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut next = NextJson {
            action: "Nothing",
            reason: None,
            rule: self.rule,
            message: &self.message,
            attention: self.attention,
            propagation: None,
            finalizer: None,
            drops: &[],
            dependents: &[],
        };
        match &self.next {
            // A dependent that could not be read may have to go, or to be freed, first.
            _ if self.may_wait => {
                (next.reason, next.rule) = (Some(NoAction::Unread(None)), Rule::R10_2);
                next.message = "Not known: what could not be read may depend on it.";
                next.attention = Attention::Unknown;
            }
            Next::Delete(policy, _) => (next.action, next.propagation) = ("Delete", Some(*policy)),
            Next::Unblock => (next.action, next.propagation) = ("Unblock", Some(Propagation::Foreground)),
            Next::DropReferences(uids) => (next.action, next.drops) = ("RemoveReferences", uids),
            Next::FreeDependents(freed) => (next.action, next.dependents) = ("OrphanDependents", freed),
            Next::TakeFinalizer(finalizer) => (next.action, next.finalizer) = ("RemoveFinalizer", Some(*finalizer)),
            Next::WaitForDependents(blocking) => (next.action, next.dependents) = ("Wait", blocking),
            Next::Nothing(idle) => next.reason = Some(*idle),
        }
        next.serialize(serializer)
    }
}

impl NextStory {
    /// Whether the collector deletes the object.
    pub fn deletes(&self) -> bool {
        matches!(self.next, Next::Delete(..))
    }
}

/// Whether the collector examines an object without a further event: there is no periodic sweep (R8.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Attention {
    /// An earlier event has queued it: a working collector processes it at once.
    Queued,
    /// Queued; but a collector that restarted since may skip it until its owner is gone (R8.10).
    QueuedUnlessRestarted,
    /// An attempt failed; the collector retries, at most 17 minutes apart (R2.9, R8.9).
    Retried,
    /// Only after an event: an owner is deleted or begins to wait, or the references change (R8.6).
    OnChange,
    /// Never, in its current state.
    Never,
    /// Unknown: something could not be read.
    Unknown,
}

impl Attention {
    /// The attention in a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Attention::Queued => "A working collector does this within seconds.",
            Attention::QueuedUnlessRestarted => {
                "A working collector does this within seconds; a collector that was restarted since may wait \
                 until the owner is deleted."
            }
            Attention::Retried => "It retries, after pauses of up to 17 minutes.",
            Attention::OnChange => {
                "The collector looks at it again only when an owner is deleted, or its owner references change."
            }
            Attention::Never => "The collector ignores it.",
            Attention::Unknown => "It is not known whether the collector does anything.",
        }
    }
}

impl Explainer<'_, '_> {
    pub(super) fn next(&mut self, object: ObjectId) -> NextStory {
        let mut next = Next::of(self.case.stage, object);
        if let Next::WaitForDependents(blocking) = &mut next {
            // Dependents that are never deleted come first.
            let all: FxHashSet<ObjectId> = blocking.iter().copied().collect();
            *blocking = self.waits_for(object).into_iter().filter(|id| all.contains(id)).collect();
        }
        let refused = self.refused(object, &next).filter(|_| next.writes());
        let attention = if refused.is_some() { Attention::Retried } else { attention(self.case, object, &next) };
        let (rule, mut message) = describe(self.case, object, &next);
        let leaves = next == Next::Nothing(NoAction::OnItsWayOut);
        let follows = leaves.then(|| follows(self.case, object)).flatten();
        if let Some(Follows { message: what, keep }) = &follows {
            let keep = keep.as_ref().map(|(keep, command)| format!(" {keep} {command}")).unwrap_or_default();
            message.push_str(&format!(" {what}{keep}"));
        }
        let why = refused.and_then(|refused| self.case.projection.why_refused(self.case.snapshot(), refused));
        if let Some(why) = why {
            message.push_str(&format!(" The API server refuses that: {why}."));
        }
        let lets_go = matches!(next, Next::TakeFinalizer(_) | Next::FreeDependents(_));
        let snapshot = self.case.snapshot();
        let may_wait = lets_go && !snapshot.may_hide(&[object]).is_empty();
        let keeper = Some(object).filter(|_| matches!(next, Next::Nothing(NoAction::Unread(Some(_)))));
        let keeper = keeper.and_then(|object| keeper_of(self.case, object));
        NextStory { next, rule, message, follows, attention, may_wait, keeper }
    }
}

/// An owner that stays: with it, the collector deletes nothing, whatever the others are (R8.5).
fn keeper_of(case: &Case<'_>, object: ObjectId) -> Option<ObjectId> {
    let (snapshot, found) = (case.snapshot(), case.snapshot().object(object));
    let links = found.owners.iter().map(|reference| ResolvedReference::of(snapshot, case.graph(), found, reference));
    let mut owners = links.filter(|link| link.standing.valid()).filter_map(|link| link.found);
    owners.find(|owner| {
        let stays = case.projection.outcome_of(*owner).is_none() && !case.projection.uncertain(*owner);
        stays && !snapshot.object(*owner).terminating()
    })
}

fn attention(case: &Case<'_>, object: ObjectId, next: &Next) -> Attention {
    match next {
        Next::Delete(..) | Next::DropReferences(_) | Next::Unblock if may_lag_after_restart(case.stage, object) => {
            Attention::QueuedUnlessRestarted
        }
        Next::Nothing(idle) => match idle {
            NoAction::NoOwners | NoAction::OwnersSolid | NoAction::InvalidScope(_) => Attention::OnChange,
            NoAction::OnItsWayOut | NoAction::NotWatched | NoAction::SharedUid(_) => Attention::Never,
            NoAction::Unmappable(place) => {
                let snapshot = case.snapshot();
                let owner = snapshot.object(object).owners.get(*place);
                // An owner that the collector has never seen is looked up again and again itself (R3.2, R8.9).
                let is_absent = owner.is_some_and(|owner| snapshot.by_uid(owner.uid).is_none());
                match is_absent || Collector::at_rest(snapshot, case.graph()).retried_at_rest(object) {
                    true => Attention::Retried,
                    false => Attention::OnChange,
                }
            }
            NoAction::Unread(_) => Attention::Unknown,
        },
        _ => Attention::Queued,
    }
}

/// What may hide dependents of an object; `None` if nothing does.
fn hidden(case: &Case<'_>, object: ObjectId) -> Option<String> {
    let hidden: Vec<String> = each_once(&case.snapshot().may_hide(&[object])).iter().map(ToString::to_string).collect();
    (!hidden.is_empty()).then(|| some_of(&hidden))
}

/// The rule, and an explanation in a sentence or two.
fn describe(case: &Case<'_>, object: ObjectId, next: &Next) -> (Rule, String) {
    let snapshot = case.snapshot();
    let found = snapshot.object(object);
    let names = |ids: &[ObjectId]| case.names(ids, Some(object));
    let at = |place: usize| found.owners.get(place).map(|reference| case.reference(reference)).unwrap_or_default();
    match next {
        Next::Delete(policy, reason) => deletes(case, object, *policy, reason),
        Next::Unblock => (
            Rule::R5_10,
            "The collector stops it from blocking its owners, because one of its dependents is already being \
             deleted in the foreground, and deletes it."
                .to_owned(),
        ),
        Next::DropReferences(uids) => drops(case, object, uids),
        Next::FreeDependents(dependents) => {
            let them = count(dependents.len(), "dependent", "dependents");
            let others = match hidden(case, object) {
                Some(hidden) => format!(" Others may be among what could not be read: {hidden}."),
                _ => String::new(),
            };
            (
                Rule::R6_2,
                format!(
                    "The collector orphans its {them} ({}), and then removes its orphan finalizer.{others}",
                    names(dependents)
                ),
            )
        }
        Next::TakeFinalizer(finalizer) => {
            let (rule, what, none) = match *finalizer {
                Symbol::ORPHAN => (Rule::R6_4, "orphan", "no dependent is left to be orphaned"),
                _ => (Rule::F3, "foregroundDeletion", "no dependent blocks it any more"),
            };
            let message = match hidden(case, object) {
                None => format!("The collector removes its {what} finalizer: {none}."),
                Some(hidden) => format!(
                    "The collector removes its {what} finalizer once {none}. Dependents may be among what could not be \
                     read: {hidden}."
                ),
            };
            (rule, message)
        }
        Next::WaitForDependents(blocking) => {
            (Rule::F4, format!("The collector waits for the deletion of {}.", names(blocking)))
        }
        Next::Nothing(NoAction::NoOwners) => {
            (Rule::G4, "Nothing: it has no owner, and the collector deletes only objects that have owners.".to_owned())
        }
        Next::Nothing(NoAction::OwnersSolid) => {
            let each = if found.owners.len() == 1 { "its owner exists" } else { "all its owners exist" };
            (Rule::D1, format!("Nothing: {each}, and no owner is waiting for its dependents to be deleted."))
        }
        Next::Nothing(NoAction::OnItsWayOut) => (
            Rule::R8_3,
            "Nothing: it is Terminating, and the collector processes its dependents only once it is gone.".to_owned(),
        ),
        Next::Nothing(NoAction::NotWatched) => {
            let why = snapshot.resources.not_watched(found.resource).map(ToString::to_string);
            let kind = snapshot.resources.get(found.resource).full_name();
            (Rule::R2_7, format!("Nothing: the collector does not watch {kind} ({}).", why.unwrap_or_default()))
        }
        Next::Nothing(NoAction::SharedUid(other)) => (
            Rule::R3_5,
            format!("Nothing: the collector knows only {} under this uid.", case.name(*other, Some(object))),
        ),
        Next::Nothing(NoAction::Unmappable(place)) => (
            Rule::R3_13,
            format!(
                "Nothing: the collector fails at the reference to {}, whose kind is not served, regardless \
                of the other references.",
                at(*place)
            ),
        ),
        Next::Nothing(NoAction::InvalidScope(place)) => (
            Rule::L3,
            format!(
                "Nothing: the collector gives up at the reference to {}, which is namespaced, regardless of \
                the other references.",
                at(*place)
            ),
        ),
        Next::Nothing(NoAction::Unread(Some(place))) => {
            let keeper = keeper_of(case, object).map(|owner| case.name(owner, Some(object)));
            let kept = keeper.map(|owner| format!(" {owner} keeps the object, whatever that is.")).unwrap_or_default();
            (Rule::R10_2, format!("Not known: the owner {} could not be read.{kept}", at(*place)))
        }
        Next::Nothing(NoAction::Unread(None)) => {
            (Rule::R10_2, "Not known: something that matters could not be read.".to_owned())
        }
    }
}

/// What becomes of the dependents of a Terminating owner, and how to keep them; `None` without any.
fn follows(case: &Case<'_>, object: ObjectId) -> Option<Follows> {
    let snapshot = case.snapshot();
    let rules = case.stage.rules(object);
    let is_kept = |dependent: &ObjectId| {
        let dependent = snapshot.object(*dependent);
        let link = |reference| ResolvedReference::of(snapshot, case.graph(), dependent, reference);
        dependent.owners.iter().map(link).any(|link| link.standing.valid() && link.found != Some(object))
    };
    let goes = |id: &ObjectId| !snapshot.object(*id).terminating() && !is_kept(id);
    let dependents: Vec<ObjectId> = case.graph().dependents(object.into()).iter().copied().filter(goes).collect();
    if dependents.is_empty() || rules.own_delete != OwnDelete::Generic {
        return None;
    }
    let message = match dependents.as_slice() {
        [one] => format!("{} is deleted, too: it has no other owner.", case.name(*one, Some(object))),
        many => format!("Dependents without another owner are deleted, too ({}).", case.names(many, Some(object))),
    };
    // The API server ignores a second delete of a pod in its grace period (R1.17). To cancel a hold keeps them.
    let is_held = Held::of_object(snapshot, object).is_some();
    let again = if rules.graceful || is_held { Vec::new() } else { case.commands().delete(&[object], "orphan", &[]) };
    let them = if dependents.len() == 1 { "that" } else { "them" };
    let it = snapshot.short_name(object);
    let keep = again.into_iter().next();
    let keep = keep.map(|command| (format!("To keep {them}, delete {it} again before that:"), command));
    Some(Follows { message, keep })
}

fn deletes(case: &Case<'_>, object: ObjectId, policy: Propagation, reason: &Reason) -> (Rule, String) {
    let found = case.snapshot().object(object);
    let owners = found.owners.len();
    // An existing owner that doesn't match its reference must not be called gone.
    let is_bent = |reference: &Reference| {
        let link = ResolvedReference::of(case.snapshot(), case.graph(), found, reference);
        !link.standing.valid() && !matches!(link.standing, ReferenceStatus::Absent | ReferenceStatus::OtherUid)
    };
    let (rule, why) = match reason {
        Reason::OwnerWaits if owners == 1 => (Rule::F2, "its owner is waiting for its dependents to be deleted"),
        Reason::OwnerWaits => {
            (Rule::F2, "an owner is waiting for its dependents to be deleted, and no other owner keeps it")
        }
        _ if found.owners.iter().any(is_bent) => (
            Rule::R8_4,
            if owners == 1 {
                "the collector treats its owner as missing"
            } else {
                "all its owners are missing, or the collector treats them as missing"
            },
        ),
        _ if owners == 1 => (Rule::R8_4, "its owner is missing"),
        _ => (Rule::R8_4, "all its owners are missing"),
    };
    let how = match policy {
        Propagation::Background => "",
        Propagation::Foreground => " in the foreground, dependents first",
        Propagation::Orphan => ", and keeps its dependents",
    };
    let refused = protected(case.snapshot(), object)
        .map(|why| format!(" The API server refuses that: {why}."))
        .unwrap_or_default();
    (rule, format!("The collector deletes it{how}: {why}.{refused}"))
}

/// References are removed by uid: a valid reference goes with an invalid one that has the same uid (R4.8).
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
            "The collector removes all its references to {lost}, also the correct one: it is left without an \
             owner."
        );
        return (Rule::R4_8, describe);
    }
    (Rule::R8_5, format!("The collector removes its references to {lost} and keeps it: it is still owned by {kept}."))
}
