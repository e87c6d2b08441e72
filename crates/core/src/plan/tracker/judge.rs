//! Whether the cascade is over: another simulation from the current state would change nothing.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    model::{Identity, ObjectId, Snapshot},
    simulate::{Blockers, Cause, Needs, Projection, SimContext, State},
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
