//! Is it over? That is asked of the present state: what would happen if everybody went on.

use crate::{
    model::{Identity, ObjectId, Snapshot},
    simulate::{BlockedBy, Blockers, Needs, ProjectedOutcome, Projection, SimContext, State},
};

use super::PlanTracker;

/// More blockers than this are counted, not named.
const MOST_BLOCKERS: usize = 100;
/// More objects than this that a blocker waits for are not named.
const MOST_WAITED_FOR: usize = 10;

/// How a plan stands.
#[derive(Clone, Debug, Default)]
pub struct TrackerVerdict {
    /// Every object is in an end that was foretold ([`PlanTracker::arrived`]).
    pub arrived: bool,
    /// No object has more than one end that was foretold.
    pub certain: bool,
    /// A collector that works, and known controllers, would still do something to what the plan names.
    pub more: bool,
    /// The same of what has to do with the plan and is not in it.
    pub more_outside: bool,
    /// How many of these objects are marked for deletion and still there.
    pub left: usize,
    /// What holds them: those with a reason of their own, and those that wait in a circle. The first hundred.
    pub blockers: Vec<Blocker>,
    /// What would have to be read to be sure. Judge again then.
    pub needs: Needs,
}

impl TrackerVerdict {
    /// The worst that is known of what is left: none where nothing is.
    pub fn worst(&self) -> Option<State> {
        self.blockers.iter().map(|blocker| blocker.state).max()
    }
}

/// An object that is marked for deletion, and is there for a reason of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocker {
    pub object: Identity,
    /// Whether anybody will finish it.
    pub state: State,
    /// What holds the object itself; nothing where it waits in a circle.
    pub held_by: Vec<BlockerDescription>,
    /// The objects that it waits for besides, the first few.
    pub waits_for: Vec<Identity>,
    /// How many objects wait for it.
    pub holds_up: usize,
}

/// What holds an object itself, in words that outlast a snapshot. See [`BlockedBy`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BlockerDescription {
    Finalizer(String),
    Kubelet,
    SpecFinalizers,
    /// Content that nobody can list: the gap.
    Unreadable(String),
}

impl PlanTracker {
    /// How the plan stands, in a snapshot that has taken in everything that the course has seen.
    pub fn judge(&self, stage: &SimContext<'_>) -> TrackerVerdict {
        let snapshot = stage.snapshot;
        let projection = Projection::limited(stage, self.only(snapshot));
        let (held, mut needs) = Blockers::now(stage);
        needs.add(&projection.needs);
        let named = self.objects.iter().filter(|followed| followed.now.is_some());
        let mut there: Vec<ObjectId> =
            named.filter_map(|followed| snapshot.by_uid(snapshot.strings.find(&followed.identity.uid)?)).collect();
        let moves = |ids: &[ObjectId]| ids.iter().any(|id| *projection.outcome_of(*id) != ProjectedOutcome::Stays);
        let company = self.company(snapshot);
        let (more, more_outside) = (moves(&there), moves(&company));
        there.extend(company);
        there.retain(|id| snapshot.object(*id).terminating());
        let mut blockers: Vec<Blocker> = Vec::new();
        for id in &there {
            let cause = held.own_state(*id).is_some() || held.waits_in_a_circle(*id);
            if cause && blockers.len() < MOST_BLOCKERS {
                blockers.push(blocker(snapshot, &held, &projection, *id));
            }
        }
        // What is not in the plan may hold what is.
        let mut seen: Vec<ObjectId> = there.clone();
        let mut open = there.clone();
        seen.sort_unstable();
        let mut beyond: Vec<ObjectId> = Vec::new();
        while let Some(id) = open.pop() {
            for other in held.waits_for(id) {
                if seen.binary_search(other).is_err() && !beyond.contains(other) && beyond.len() < MOST_BLOCKERS {
                    beyond.push(*other);
                    open.push(*other);
                }
            }
        }
        let room = MOST_BLOCKERS - blockers.len();
        let causes = beyond.iter().filter(|id| held.own_state(**id).is_some());
        blockers.extend(causes.take(room).map(|id| blocker(snapshot, &held, &projection, *id)));
        let certain = self.objects.iter().all(|followed| followed.uncertain.is_none());
        TrackerVerdict { arrived: self.arrived(), certain, more, more_outside, left: there.len(), blockers, needs }
    }
}

fn blocker(snapshot: &Snapshot, held: &Blockers, projection: &Projection, id: ObjectId) -> Blocker {
    let held_by = held.holders(id).iter().map(|holder| match holder {
        BlockedBy::Finalizer(finalizer) => BlockerDescription::Finalizer(snapshot.text(*finalizer).to_owned()),
        BlockedBy::Kubelet => BlockerDescription::Kubelet,
        BlockedBy::SpecFinalizers => BlockerDescription::SpecFinalizers,
        BlockedBy::Unreadable(gap) => {
            BlockerDescription::Unreadable(snapshot.gaps.get(*gap).map(ToString::to_string).unwrap_or_default())
        }
    });
    Blocker {
        object: Identity::of(snapshot, id),
        state: if projection.goes(id) { State::Waiting } else { projection.state(id) },
        held_by: held_by.collect(),
        waits_for: held
            .waits_for(id)
            .iter()
            .take(MOST_WAITED_FOR)
            .map(|other| Identity::of(snapshot, *other))
            .collect(),
        holds_up: projection.chain_above(id).len(),
    }
}
