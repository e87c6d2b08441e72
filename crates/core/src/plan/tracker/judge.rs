//! Whether the cascade is over: another simulation from the current state would change nothing. And what goes that no
//! plan names: objects outside of it, and what a controller chooses.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::{
    model::{Identity, ObjectEvent, ObjectId, Reference, Snapshot, Symbol},
    plan::outcome::{After, Outcome, OutcomeKind, Plan},
    simulate::{Adopter, Blockers, Cause, Needs, Projection, SimContext, State},
};

use super::PlanTracker;

/// At most this many blockers are named.
const MAX_BLOCKERS: usize = 100;
/// At most this many objects that a blocker waits for are named.
const MAX_WAITED_FOR: usize = 10;

/// How far the cascade has come.
#[derive(Clone, Debug, Default)]
pub struct TrackerVerdict {
    /// Every object is in a predicted state ([`PlanTracker::arrived`]), and nothing is due of what the plan says to
    /// follow once others have done their part.
    pub arrived: bool,
    /// Every object has a single predicted outcome.
    pub certain: bool,
    /// A working collector, and known controllers, would still change an object of the plan.
    pub more: bool,
    /// The same for related objects outside the plan.
    pub more_outside: bool,
    /// Whether it is the collector's turn: nobody else has to act before it.
    pub collector_due: bool,
    /// Why no controller manager is known to run, if nobody else would change anything, and one that runs would.
    pub manager_away: Option<ManagerAway>,
    /// How many objects controllers have yet to delete because others are gone.
    pub follow_ups: usize,
    /// How many of these objects are terminating.
    pub left: usize,
    /// What blocks them: objects with a blocker of their own, waiting cycles, and [`TrackerVerdict::follow_ups`]. At
    /// most a hundred.
    pub blockers: Vec<Blocker>,
    /// What should be read to be certain, before judging again.
    pub needs: Needs,
}

/// That no controller manager is known to run, which something waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManagerAway {
    /// Why it seems so.
    pub why: String,
    /// Whether some of that is the collector's work, which a sweep does.
    pub sweep_helps: bool,
}

impl TrackerVerdict {
    /// The worst state among the blockers; `None` if there are none.
    pub fn worst(&self) -> Option<State> {
        self.blockers.iter().map(|blocker| blocker.state).max()
    }
}

/// An object that is not just waiting for others: it is terminating, or others wait until it is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Blocker {
    pub object: Identity,
    /// Whether it will ever be removed.
    pub state: State,
    /// What blocks the object itself ([`crate::simulate::BlockedBy::name`]); empty for a member of a waiting cycle.
    pub held_by: Vec<String>,
    /// Descriptions of these blockers ([`crate::simulate::BlockedBy::describe`]).
    #[serde(skip)]
    pub remarks: Vec<String>,
    /// Some of the objects that it also waits for.
    pub waits_for: Vec<Identity>,
    /// How many objects wait for it.
    #[serde(rename = "waitingObjects")]
    pub holds_up: usize,
}

impl PlanTracker {
    /// Judges the plan, on a snapshot with all observed events applied.
    pub fn judge(&self, context: &SimContext<'_>) -> TrackerVerdict {
        let snapshot = context.snapshot;
        let projection = Projection::limited(context, self.only(snapshot));
        let current = Blockers::now(context);
        let existing = self.objects.iter().filter(|tracked| tracked.now.is_some());
        let mut remaining: Vec<ObjectId> =
            existing.filter_map(|tracked| snapshot.by_uid(snapshot.strings.find(&tracked.identity.uid)?)).collect();
        let moves = |in_it: &Projection, ids: &[ObjectId]| ids.iter().any(|id| in_it.outcome_of(*id).is_some());
        let related_objects = self.related_objects(snapshot);
        let (more, more_outside) = (moves(&projection, &remaining), moves(&projection, &related_objects));
        remaining.extend(related_objects);
        let why_away = context.obstacles.as_ref().and_then(|obstacles| obstacles.manager_away.as_ref());
        let manager_away = why_away.filter(|_| !more && !more_outside).filter(|_| {
            let with_manager = SimContext::new(snapshot, context.graph, context.assume).with_refused_writes();
            moves(&Projection::limited(&with_manager, self.only(snapshot)), &remaining)
        });
        let manager_away = manager_away.map(|(_, why)| ManagerAway {
            why: why.clone(),
            sweep_helps: context.lacks_collector()
                && moves(&Projection::limited(&context.swept(), self.only(snapshot)), &remaining),
        });
        let ours: FxHashSet<ObjectId> = remaining.iter().copied().collect();
        let first = projection.log.iter().take_while(|change| matches!(change.cause, Cause::Collector(_)));
        let collector_due = first.into_iter().any(|change| ours.contains(&change.object));
        let spared = self.objects.iter().filter(|tracked| tracked.spared);
        let spared: FxHashSet<&str> = spared.map(|tracked| tracked.identity.uid.as_str()).collect();
        remaining.retain(|id| {
            let object = snapshot.object(*id);
            object.terminating() && !spared.contains(snapshot.text(object.uid))
        });
        let mut blockers: Vec<Blocker> = Vec::new();
        for id in &remaining {
            let cause = current.own_state(*id).is_some() || current.waits_in_cycle(*id);
            if cause && blockers.len() < MAX_BLOCKERS {
                blockers.push(blocker(snapshot, &current, &projection, *id));
            }
        }
        // Objects outside the plan may block objects of the plan.
        let mut seen: Vec<ObjectId> = remaining.clone();
        let mut open = remaining.clone();
        seen.sort_unstable();
        let mut outside_plan: Vec<ObjectId> = Vec::new();
        while let Some(id) = open.pop() {
            for other in current.waits_for(id) {
                if seen.binary_search(other).is_err()
                    && !outside_plan.contains(other)
                    && outside_plan.len() < MAX_BLOCKERS
                {
                    outside_plan.push(*other);
                    open.push(*other);
                }
            }
        }
        let capacity = MAX_BLOCKERS - blockers.len();
        let causes = outside_plan.iter().filter(|id| current.own_state(**id).is_some());
        blockers.extend(causes.take(capacity).map(|id| blocker(snapshot, &current, &projection, *id)));
        let mut follow_ups = 0;
        for (identity, remark) in self.follow_ups(snapshot) {
            follow_ups += 1;
            if blockers.len() < MAX_BLOCKERS && !blockers.iter().any(|blocker| blocker.object == *identity) {
                blockers.push(Blocker {
                    object: identity.clone(),
                    state: State::Waiting,
                    held_by: Vec::new(),
                    remarks: vec![remark.to_owned()],
                    waits_for: Vec::new(),
                    holds_up: 0,
                });
            }
        }
        let certain = self.objects.iter().all(|tracked| tracked.uncertain.is_none());
        TrackerVerdict {
            arrived: self.arrived() && !self.is_due(snapshot, &projection),
            certain,
            more,
            more_outside,
            collector_due,
            manager_away,
            follow_ups,
            left: remaining.len(),
            blockers,
            needs: context.needs(),
        }
    }
}

fn blocker(snapshot: &Snapshot, current: &Blockers, projection: &Projection, id: ObjectId) -> Blocker {
    let state = if projection.goes(id) { State::Waiting } else { projection.state(id) };
    let blockers = current.holders(id);
    let mut remarks: Vec<String> =
        blockers.iter().map(|blocker| blocker.describe(snapshot, id, state, current.controllers())).collect();
    if !snapshot.object(id).terminating() {
        remarks.push("not being deleted yet".to_owned());
    }
    Blocker {
        object: Identity::of(snapshot, id),
        state,
        held_by: blockers.iter().map(|blocker| blocker.name(snapshot).to_owned()).collect(),
        remarks,
        waits_for: current
            .waits_for(id)
            .iter()
            .take(MAX_WAITED_FOR)
            .map(|other| Identity::of(snapshot, *other))
            .collect(),
        holds_up: projection.chain_above(id).len(),
    }
}

/// An object outside the plan that is related to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnplannedObject {
    pub object: Identity,
    /// Created after the plan was made. If `false`, the plan should have contained it.
    pub new: bool,
    pub gone: bool,
    /// Marked for deletion.
    pub terminating: bool,
    /// How it is related to the plan.
    #[serde(flatten)]
    pub because: Relation,
}

/// How an object outside the plan is related to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "because", content = "owner", rename_all = "lowercase")]
pub enum Relation {
    /// This owner is removed.
    Owner(Identity),
    /// Its namespace is deleted.
    Namespace,
    /// Its CustomResourceDefinition is deleted.
    #[serde(rename = "crd")]
    Definition,
}

/// Objects outside the plan.
#[derive(Clone, Debug, Default)]
pub(super) struct UnplannedObjects {
    /// Related objects, in the order in which they were observed.
    related: Vec<UnplannedObject>,
    by_uid: FxHashMap<Symbol, usize>,
    /// Uids of everything created since the plan was made.
    new: FxHashSet<Symbol>,
    /// Uids observed as gone: a repeated event is no news.
    seen_gone: FxHashSet<Symbol>,
    /// How many unrelated objects were removed or marked.
    unrelated: usize,
}

impl PlanTracker {
    /// Related objects outside the plan that were removed, marked for deletion, or created meanwhile.
    pub fn outside(&self) -> impl Iterator<Item = &UnplannedObject> {
        self.unplanned.related.iter().filter(|unplanned| unplanned.gone || unplanned.terminating || unplanned.new)
    }

    /// How many unrelated objects were removed meanwhile.
    pub fn unrelated(&self) -> usize {
        self.unplanned.unrelated
    }

    /// Records an event of an object outside the plan. Returns whether the object is related and has changed.
    pub(super) fn observe_unplanned(&mut self, snapshot: &Snapshot, seen: &ObjectEvent) -> bool {
        let known = snapshot.find(seen);
        let uid = self.strings.intern(&seen.object.uid);
        if known.is_none() && !seen.gone {
            self.unplanned.new.insert(uid);
        }
        let terminating = seen.object.deleted.is_some();
        if let Some(index) = self.unplanned.by_uid.get(&uid) {
            let outside = &mut self.unplanned.related[*index];
            let moved = !outside.gone && (seen.gone || outside.terminating != terminating);
            (outside.gone, outside.terminating) = (outside.gone || seen.gone, terminating);
            return moved;
        }
        // An object created and removed between two events is only observed as gone.
        let came_and_went = known.is_none() && seen.gone && !self.unplanned.seen_gone.contains(&uid);
        let new = came_and_went || self.unplanned.new.contains(&uid);
        // An object that was terminating before the delete is not this delete's doing.
        let before = known.is_some_and(|id| snapshot.object(id).terminating());
        if seen.gone {
            self.unplanned.seen_gone.insert(uid);
        }
        if (before && !new) || (known.is_none() && seen.gone && !came_and_went) {
            return false;
        }
        let goes = seen.gone || terminating;
        match self.relation(snapshot, seen) {
            Some(because) if goes || new => {
                let object = Identity::of_seen(&snapshot.resources, seen);
                self.unplanned.by_uid.insert(uid, self.unplanned.related.len());
                self.unplanned.related.push(UnplannedObject { object, new, terminating, gone: seen.gone, because });
                true
            }
            None if goes && (seen.gone || known.is_some()) => {
                self.unplanned.unrelated += usize::from(seen.gone);
                false
            }
            _ => false,
        }
    }

    fn relation(&self, snapshot: &Snapshot, seen: &ObjectEvent) -> Option<Relation> {
        let owners = seen.object.owners.iter().filter_map(|owner| self.strings.find(&owner.uid));
        let mut owners = owners.filter_map(|uid| self.going(uid));
        if let Some(owner) = owners.next() {
            return Some(Relation::Owner(owner.clone()));
        }
        let goes = |kind: &str, name: &str| {
            let named =
                |identity: &Identity| identity.kind == kind && identity.name == name && identity.namespace.is_empty();
            self.containers().any(named)
        };
        if !seen.object.namespace.is_empty() && goes("Namespace", &seen.object.namespace) {
            return Some(Relation::Namespace);
        }
        let resource = snapshot.resources.get(seen.resource);
        let definition = format!("{}.{}", resource.plural, resource.group);
        goes("CustomResourceDefinition", &definition).then_some(Relation::Definition)
    }

    /// The deleted Namespaces and CustomResourceDefinitions.
    fn containers(&self) -> impl Iterator<Item = &Identity> {
        self.containers
            .iter()
            .map(|index| &self.objects[*index])
            .filter(|tracked| tracked.may_go())
            .map(|tracked| &tracked.identity)
    }

    /// The object with this uid, if it is or may be removed.
    fn going(&self, uid: Symbol) -> Option<&Identity> {
        let named = self.by_uid.get(&uid).map(|index| &self.objects[*index]).filter(|tracked| tracked.may_go());
        let outside = || self.unplanned.by_uid.get(&uid).map(|index| &self.unplanned.related[*index]);
        named.map(|tracked| &tracked.identity).or_else(|| outside().map(|outside| &outside.object))
    }

    /// Related objects that still exist in the snapshot.
    pub(super) fn related_objects(&self, snapshot: &Snapshot) -> Vec<ObjectId> {
        let there = self.unplanned.related.iter().filter(|unplanned| !unplanned.gone);
        there.filter_map(|unplanned| snapshot.by_uid(snapshot.strings.find(&unplanned.object.uid)?)).collect()
    }
}

impl super::TrackedObject {
    /// Whether it contains others: a Namespace or a CustomResourceDefinition.
    pub(super) fn contains_others(&self) -> bool {
        let names = (self.identity.api_version.as_str(), self.identity.kind.as_str());
        names == ("v1", "Namespace")
            || (names.1 == "CustomResourceDefinition" && names.0.starts_with("apiextensions.k8s.io/"))
    }

    /// Whether it is removed or terminating, now or in a predicted outcome.
    fn may_go(&self) -> bool {
        let going = |end: &super::FinalState| end.as_ref().is_none_or(|after| after.terminating);
        going(&self.now) || self.ends.iter().any(|(_, end)| going(end))
    }
}

/// A controller deletes so many of these.
#[derive(Clone, Debug, Default)]
pub(super) struct Choice {
    members: Vec<usize>,
    /// Those of them that the plan says are deleted: others may go in their place.
    likeliest: Vec<usize>,
}

impl Choice {
    /// Whether the controller has deleted as many as it should.
    pub(super) fn is_made(&self, tracker: &PlanTracker) -> bool {
        self.members.iter().filter(|index| tracker.goes(**index)).count() >= self.likeliest.len()
    }
}

impl PlanTracker {
    /// Every pod of which some are deleted may also stay: as it is, or without its controller, if that goes.
    pub(super) fn add_choices(&mut self, snapshot: &Snapshot, plan: &Plan, index_of: &FxHashMap<ObjectId, usize>) {
        let unsure = |outcome: &&Outcome| outcome.is_assumed();
        let place = |id: ObjectId| (snapshot.object(id).resource, snapshot.object(id).namespace);
        let mut by_adopter: BTreeMap<(ObjectId, _), Choice> = BTreeMap::new();
        for outcome in plan.outcomes.iter().filter(unsure) {
            if let Some(Cause::ScaledDown(adopter)) = outcome.because {
                let key = (adopter, place(outcome.object));
                by_adopter.entry(key).or_default().likeliest.push(index_of[&outcome.object]);
            }
        }
        for outcome in plan.outcomes.iter().filter(unsure) {
            if plan.adoptions.of(outcome.object) == Some(Adopter::Unknown) {
                self.objects[index_of[&outcome.object]].ends.push((OutcomeKind::Deleted, None));
            }
        }
        let mut kept: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for outcome in plan.outcomes.iter().filter(unsure) {
            let had = Reference::controller_of(&snapshot.object(outcome.object).owners).is_some();
            let has_none = |after: &After| !after.terminating && Reference::controller_of(&after.owners).is_none();
            if had && outcome.after.as_ref().is_some_and(has_none) {
                kept.entry(place(outcome.object)).or_default().push(index_of[&outcome.object]);
            }
        }
        for ((adopter, place), mut choice) in by_adopter {
            choice.members.clone_from(&choice.likeliest);
            choice.members.extend(kept.get(&place).into_iter().flatten());
            let is_raced = plan.adoptions.is_raced(adopter);
            let adopter = self.strings.intern(snapshot.text(snapshot.object(adopter).uid));
            for index in &choice.members {
                let tracked = &mut self.objects[*index];
                let stays = tracked.before.clone().map(|mut before| {
                    before.owners.retain(|owner| !owner.is_controller() || owner.uid == adopter);
                    before
                });
                tracked.ends.push((OutcomeKind::Deleted, None));
                tracked.ends.push((OutcomeKind::Unchanged, stays));
            }
            if !is_raced {
                self.choices.push(choice);
            }
        }
    }

    /// The objects that should be deleted by a choice that is not made yet.
    pub(super) fn left_by_choice(&self) -> impl Iterator<Item = usize> {
        let open = self.choices.iter().filter(|choice| !choice.is_made(self)).flat_map(|choice| &choice.likeliest);
        open.copied().filter(|index| !self.goes(*index))
    }

    /// Whether an object is gone or terminating.
    fn goes(&self, index: usize) -> bool {
        self.objects[index].now.as_ref().is_none_or(|now| now.terminating)
    }
}
