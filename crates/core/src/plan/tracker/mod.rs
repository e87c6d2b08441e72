//! Tracks a plan while it is carried out: what was observed, whether it matches the prediction, and what else was
//! removed.
//!
//! Objects are identified by uid, because ids change with every snapshot. A removed uid never comes back.

mod judge;

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::{
    graph::OwnerGraph,
    model::{
        Coordinate, Identity, Mapping, Object, ObjectEvent, ObjectId, Presence, RawObject, Reference, Snapshot,
        Strings, Symbol,
    },
    simulate::{Projection, Uncertainty, WriteScope},
};

use super::outcome::{After, Outcome, OutcomeKind, Plan};

pub use judge::{Blocker, ManagerAway, Relation, TrackerVerdict, UnplannedObject};

use judge::{Choice, UnplannedObjects};

/// The state of an object, in symbols of the tracker; `None` once it is gone. Finalizers and references are sorted:
/// their order has no meaning.
type FinalState = Option<After>;

/// A plan that is being carried out.
#[derive(Clone, Debug)]
pub struct PlanTracker {
    strings: Strings,
    objects: Vec<TrackedObject>,
    by_uid: FxHashMap<Symbol, usize>,
    /// For each group of connected objects: their possible joint outcomes, by index.
    groups: Vec<Vec<Vec<(usize, FinalState)>>>,
    /// Controllers that adopt pods and delete as many as are too many.
    choices: Vec<Choice>,
    /// Indexes of the Namespaces and CustomResourceDefinitions.
    containers: Vec<usize>,
    /// The uids that the collector may write to; `None`: all.
    only: Option<Vec<String>>,
    /// Whether the collector reads a 404 for a whole API path as "unknown", unlike the original (R3.16).
    doubts_missing_apis: bool,
    unplanned: UnplannedObjects,
}

/// An object of the plan.
#[derive(Clone, Debug)]
struct TrackedObject {
    identity: Identity,
    before: FinalState,
    now: FinalState,
    /// The predicted outcomes, the likeliest first.
    ends: Vec<(OutcomeKind, FinalState)>,
    /// A controller deletes it once another object is gone.
    follows: Option<Follows>,
    uncertain: Option<Uncertainty>,
    /// The plan doesn't say what becomes of it: whatever does was foretold.
    open: bool,
    /// It stays Terminating as it does without this delete.
    spared: bool,
    /// Its second ends, once others have done their part.
    later: Vec<FinalState>,
}

/// An object whose end leads to that of another one, without an owner reference.
#[derive(Clone, Debug)]
struct Follows {
    gone: Identity,
    /// Who deletes the other one, as a remark on it.
    remark: &'static str,
    /// Whether it may stay as well: nobody knows how long a provisioner takes for a volume, nor whether it runs
    /// (R9.35).
    may_stay: bool,
}

impl TrackedObject {
    fn arrived(&self) -> bool {
        self.open || self.is_at_its_first_end() || self.has_gone_on()
    }

    fn is_at_its_first_end(&self) -> bool {
        self.ends.iter().any(|(_, end)| self.is_at(end))
    }

    /// Whether its second end has not come yet.
    fn is_outstanding(&self) -> bool {
        !self.later.is_empty() && !self.later.contains(&self.now)
    }

    /// Whether it is in one of its second ends, or on its way there: something that the first end leaves alone is being
    /// deleted, or has lost one of several finalizers, or one of several owners.
    fn has_gone_on(&self) -> bool {
        let is_going = || {
            let (Some(now), Some((kind, Some(first)))) = (&self.now, self.ends.first()) else { return false };
            let lost = now.finalizers.len() < first.finalizers.len() || now.owners.len() < first.owners.len();
            let is_owner = |owner: &Reference| first.owners.iter().any(|other| other.uid == owner.uid);
            let is_rest =
                || now.finalizers.iter().all(|it| first.finalizers.contains(it)) && now.owners.iter().all(is_owner);
            (*kind == OutcomeKind::Unchanged && now.terminating) || (lost && is_rest())
        };
        self.later.iter().any(|end| self.is_at(end)) || (self.later.contains(&None) && is_going())
    }

    /// Whether it is in this state, adopted or not: another controller may adopt an object that has lost its own.
    fn is_at(&self, end: &FinalState) -> bool {
        let (Some(now), Some(end), Some(before)) = (&self.now, end, &self.before) else { return self.now == *end };
        let is_known = |reference: &&Reference| {
            let is_it = |other: &Reference| other.uid == reference.uid;
            !reference.is_controller() || before.owners.iter().any(is_it) || end.owners.iter().any(is_it)
        };
        now.terminating == end.terminating
            && now.finalizers == end.finalizers
            && now.owners.iter().filter(is_known).eq(end.owners.iter())
    }
}

/// How far a plan has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Progress {
    /// How many objects the plan contains.
    #[serde(skip)]
    pub all: usize,
    /// How many of them are in a predicted state. That may be more than zero before anything happens: the predicted
    /// state may be the current one.
    #[serde(skip)]
    pub arrived: usize,
    /// How many should be removed, in the likeliest outcome.
    #[serde(skip)]
    pub to_go: usize,
    /// How many are gone, predicted or not.
    pub gone: usize,
    /// How many are terminating.
    pub terminating: usize,
    /// How many exist, are not terminating, and have changed, for example lost a reference.
    pub changed: usize,
}

/// An object that is not in a predicted state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UnexpectedOutcome {
    pub object: Identity,
    /// The predicted outcomes, the likeliest first.
    pub predicted: Vec<OutcomeKind>,
    /// The actual outcome so far.
    #[serde(rename = "result")]
    pub actual: OutcomeKind,
    /// The finalizers that it has.
    pub finalizers: Vec<String>,
    /// Why the plan was uncertain about it, if it was.
    #[serde(rename = "uncertainBecause", skip_serializing_if = "Option::is_none")]
    pub uncertain: Option<Uncertainty>,
    /// Its state was predicted, but not together with the states of connected objects.
    #[serde(skip)]
    pub together: bool,
}

impl PlanTracker {
    /// Tracks a plan that was made on this snapshot. Nothing has been carried out yet.
    pub fn new(snapshot: &Snapshot, plan: &Plan) -> Self {
        let mut tracker = PlanTracker {
            strings: Strings::default(),
            objects: Vec::with_capacity(plan.outcomes.len()),
            by_uid: FxHashMap::default(),
            groups: Vec::new(),
            choices: Vec::new(),
            containers: Vec::new(),
            only: None,
            doubts_missing_apis: false,
            unplanned: UnplannedObjects::default(),
        };
        let mut index_of: FxHashMap<ObjectId, usize> = FxHashMap::default();
        for outcome in &plan.outcomes {
            index_of.insert(outcome.object, tracker.objects.len());
            tracker.add(snapshot, outcome);
        }
        for outcome in plan.then.iter().flat_map(|then| &then.outcomes) {
            let index = *index_of.entry(outcome.object).or_insert_with(|| {
                tracker.add_later(snapshot, outcome.object);
                tracker.objects.len() - 1
            });
            let later = std::iter::once(&outcome.after).chain(outcome.alternatives.iter().map(|other| &other.after));
            let later = later.map(|after| tracker.end(snapshot, after.as_ref())).collect();
            tracker.objects[index].later = later;
        }
        for target in &plan.request.targets {
            if !index_of.contains_key(target) {
                index_of.insert(*target, tracker.objects.len());
                tracker.add_unchanged(snapshot, *target);
            }
        }
        for ends in &plan.ends {
            let joint = ends.iter().map(|end| {
                let members = end.iter().filter_map(|(id, end)| Some((*index_of.get(id)?, end)));
                members.map(|(index, end)| (index, tracker.end(snapshot, end.after.as_ref()))).collect()
            });
            let joint = joint.collect();
            tracker.groups.push(joint);
        }
        tracker.add_choices(snapshot, plan, &index_of);
        let all = tracker.objects.iter().enumerate();
        tracker.containers = all.filter(|(_, tracked)| tracked.contains_others()).map(|(index, _)| index).collect();
        tracker
    }

    fn add(&mut self, snapshot: &Snapshot, outcome: &Outcome) {
        let mut ends = vec![(outcome.kind, self.end(snapshot, outcome.after.as_ref()))];
        for other in &outcome.alternatives {
            ends.push((other.kind, self.end(snapshot, other.after.as_ref())));
        }
        let cause = outcome.because.as_ref();
        let follows = cause.and_then(|cause| Some((cause.gone()?, cause.awaited()?)));
        let may_stay = outcome.goes_with_claim() && outcome.is_assumed();
        let follows = follows.map(|(gone, remark)| Follows { gone: Identity::of(snapshot, gone), remark, may_stay });
        if may_stay {
            ends.push((OutcomeKind::Unchanged, self.end(snapshot, Some(&after(snapshot.object(outcome.object))))));
        }
        self.track(snapshot, outcome.object, |before| TrackedObject {
            ends,
            follows,
            uncertain: outcome.uncertain,
            open: outcome.is_open(),
            spared: outcome.is_spared(),
            ..before
        });
    }

    /// Adds an object that only the second end changes.
    fn add_later(&mut self, snapshot: &Snapshot, object: ObjectId) {
        self.track(snapshot, object, |before| {
            let ends = vec![(OutcomeKind::Unchanged, before.before.clone())];
            TrackedObject { ends, ..before }
        });
    }

    /// Adds a target that this delete changes nothing about. One that is already terminating is removed or stays as it
    /// is; another stays, even if its DELETE is sent: the API server is said to refuse it.
    fn add_unchanged(&mut self, snapshot: &Snapshot, target: ObjectId) {
        let terminating = snapshot.object(target).terminating();
        self.track(snapshot, target, |before| {
            let stays = before.before.clone();
            let ends = match terminating {
                true => vec![(OutcomeKind::Deleted, None), (OutcomeKind::Terminating, stays)],
                false => vec![(OutcomeKind::Unchanged, stays)],
            };
            TrackedObject { ends, ..before }
        });
    }

    /// Tracks an object. `expecting` adds what is predicted to its state before.
    fn track(&mut self, snapshot: &Snapshot, object: ObjectId, expecting: impl FnOnce(TrackedObject) -> TrackedObject) {
        let before = self.end(snapshot, Some(&after(snapshot.object(object))));
        let identity = Identity::of(snapshot, object);
        let uid = self.strings.intern(&identity.uid);
        self.by_uid.entry(uid).or_insert(self.objects.len());
        let now = before.clone();
        self.objects.push(expecting(TrackedObject {
            identity,
            now,
            before,
            ends: Vec::new(),
            follows: None,
            uncertain: None,
            open: false,
            spared: false,
            later: Vec::new(),
        }));
    }

    /// Limits the collector to these objects.
    #[must_use]
    pub fn limited_to(self, uids: Vec<String>) -> Self {
        PlanTracker { only: Some(uids), ..self }
    }

    /// The collector doesn't read a 404 for a whole API path as "owner gone" (R3.16).
    #[must_use]
    pub fn doubting_missing_apis(self) -> Self {
        PlanTracker { doubts_missing_apis: true, ..self }
    }

    /// The owner graph, as the collector of this plan sees it.
    pub fn graph(&self, snapshot: &Snapshot) -> OwnerGraph {
        let graph = OwnerGraph::new(snapshot);
        if self.doubts_missing_apis { graph.doubting_missing_apis() } else { graph }
    }

    /// The objects of a snapshot that the collector may write to.
    fn only(&self, snapshot: &Snapshot) -> Option<WriteScope> {
        let uids = self.only.as_ref()?;
        Some(WriteScope::new(uids.iter().filter_map(|uid| snapshot.by_uid(snapshot.strings.find(uid)?))))
    }

    /// A state in symbols of the tracker.
    fn end(&mut self, snapshot: &Snapshot, after: Option<&After>) -> FinalState {
        let after = after?;
        let strings = &mut self.strings;
        let mut own = |symbol: Symbol| strings.intern(snapshot.text(symbol));
        let finalizers = after.finalizers.iter().map(|finalizer| own(*finalizer)).collect();
        let owners = after.owners.iter().map(|owner| Reference {
            api_version: own(owner.api_version),
            kind: own(owner.kind),
            name: own(owner.name),
            uid: own(owner.uid),
            ..*owner
        });
        let owners = owners.collect();
        Some(sorted(After { terminating: after.terminating, finalizers, owners }))
    }

    /// The observed state, in symbols of the tracker.
    fn state(&mut self, raw: &RawObject<'_>) -> After {
        let strings = &mut self.strings;
        let finalizers = raw.finalizers.iter().map(|finalizer| strings.intern(finalizer)).collect();
        let owners = raw.owners.iter().map(|owner| owner.intern(strings)).collect();
        sorted(After { terminating: raw.deleted.is_some(), finalizers, owners })
    }

    /// Records an event that is news to `snapshot` ([`Snapshot::is_news`]) and not yet applied to it. Returns whether
    /// it changed an object of the plan or a related one.
    pub fn see(&mut self, snapshot: &Snapshot, seen: &ObjectEvent) -> bool {
        let index = self.strings.find(&seen.object.uid).and_then(|uid| self.by_uid.get(&uid).copied());
        let Some(index) = index else { return self.observe_unplanned(snapshot, seen) };
        if self.objects[index].now.is_none() {
            return false;
        }
        let now = (!seen.gone).then(|| self.state(&seen.object));
        let tracked = &mut self.objects[index];
        let moved = tracked.now != now;
        tracked.now = now;
        moved
    }

    /// Whether an object was observed as gone: later events about it are outdated.
    pub fn is_gone(&self, uid: &str) -> bool {
        let index = self.strings.find(uid).and_then(|uid| self.by_uid.get(&uid));
        index.is_some_and(|index| self.objects[*index].now.is_none())
    }

    pub fn progress(&self) -> Progress {
        let mut progress = Progress { all: self.objects.len(), ..Progress::default() };
        for tracked in &self.objects {
            progress.arrived += usize::from(tracked.arrived());
            progress.to_go += usize::from(tracked.ends[0].1.is_none());
            match &tracked.now {
                None => progress.gone += 1,
                Some(now) if now.terminating => progress.terminating += 1,
                now => progress.changed += usize::from(*now != tracked.before),
            }
        }
        progress
    }

    /// Whether every object is in a predicted state, and connected objects in states predicted together.
    pub fn arrived(&self) -> bool {
        self.objects.iter().all(TrackedObject::arrived)
            && self.groups.iter().all(|ends| self.is_joint(ends))
            && self.choices.iter().all(|choice| choice.is_made(self))
    }

    /// Whether the plan says what follows once others have done their part, and that hasn't happened yet.
    pub fn goes_on(&self) -> bool {
        self.objects.iter().any(TrackedObject::is_outstanding)
    }

    /// Whether others have begun to do their part, and a working collector and known controllers would now change what
    /// the plan says to follow.
    fn is_due(&self, snapshot: &Snapshot, projection: &Projection) -> bool {
        let follows = |tracked: &TrackedObject| {
            let id = snapshot.strings.find(&tracked.identity.uid).and_then(|uid| snapshot.by_uid(uid));
            id.is_some_and(|id| projection.outcome_of(id).is_some())
        };
        let mut outstanding = self.objects.iter().filter(|tracked| tracked.is_outstanding());
        let has_begun = |tracked: &TrackedObject| !tracked.is_at_its_first_end() && tracked.has_gone_on();
        self.objects.iter().any(has_begun) && outstanding.any(follows)
    }

    fn is_joint(&self, ends: &[Vec<(usize, FinalState)>]) -> bool {
        let have_gone_on =
            |end: &Vec<(usize, FinalState)>| end.iter().all(|(index, _)| self.objects[*index].has_gone_on());
        ends.iter().any(|end| end.iter().all(|(index, end)| self.objects[*index].is_at(end)))
            || ends.first().is_some_and(have_gone_on)
    }

    /// The objects that are not in a predicted state, in plan order.
    pub fn otherwise(&self) -> Vec<UnexpectedOutcome> {
        let mut unexpected: Vec<usize> =
            (0..self.objects.len()).filter(|index| !self.objects[*index].arrived()).collect();
        let split_groups = self.groups.iter().filter(|ends| !self.is_joint(ends)).filter_map(|ends| ends.first());
        unexpected.extend(split_groups.flatten().map(|(index, _)| *index));
        unexpected.extend(self.left_by_choice());
        unexpected.sort_unstable();
        unexpected.dedup();
        unexpected.into_iter().map(|index| self.unexpected_outcome(&self.objects[index])).collect()
    }

    fn unexpected_outcome(&self, tracked: &TrackedObject) -> UnexpectedOutcome {
        let finalizers = tracked.now.iter().flat_map(|now| &now.finalizers);
        UnexpectedOutcome {
            object: tracked.identity.clone(),
            predicted: tracked.ends.iter().map(|(kind, _)| *kind).collect(),
            actual: actual_outcome(tracked),
            finalizers: finalizers.map(|finalizer| self.strings.text(*finalizer).to_owned()).collect(),
            uncertain: tracked.uncertain,
            together: tracked.arrived(),
        }
    }

    /// Objects that a controller has yet to delete, because another object is gone and has no successor.
    fn follow_ups(&self, snapshot: &Snapshot) -> impl Iterator<Item = (&Identity, &'static str)> {
        let is_gone = |identity: &Identity| {
            let Mapping::Served(resource) = snapshot.resources.map(&identity.api_version, &identity.kind) else {
                return false;
            };
            let symbol = |text: &str| snapshot.strings.find(text);
            let (Some(namespace), Some(name)) = (symbol(&identity.namespace), symbol(&identity.name)) else {
                return true;
            };
            let at = Coordinate { resource: snapshot.resources.picked(resource), namespace, name };
            !matches!(snapshot.look_up(at), Presence::Present(_))
        };
        let awaited = |tracked: &&TrackedObject| {
            let may_stay = tracked.follows.as_ref().is_some_and(|follows| follows.may_stay);
            tracked.now.is_some() && (may_stay || !tracked.arrived())
        };
        let pending = self.objects.iter().filter(awaited);
        pending.filter_map(move |tracked| {
            let follows = tracked.follows.as_ref().filter(|follows| is_gone(&follows.gone))?;
            Some((&tracked.identity, follows.remark))
        })
    }

    /// What came of each object of the plan so far, by its uid.
    pub fn ends(&self) -> impl Iterator<Item = (&str, OutcomeKind)> {
        self.objects.iter().map(|tracked| (tracked.identity.uid.as_str(), actual_outcome(tracked)))
    }

    /// The terminating objects of the plan, in plan order.
    pub fn left(&self) -> impl Iterator<Item = &Identity> {
        let left = self.objects.iter().filter(|tracked| tracked.now.as_ref().is_some_and(|now| now.terminating));
        left.map(|tracked| &tracked.identity)
    }

    /// The existing objects of the plan; those not in a predicted state come first.
    pub fn outstanding(&self) -> Vec<&Identity> {
        let mut outstanding: Vec<&TrackedObject> =
            self.objects.iter().filter(|tracked| tracked.now.is_some()).collect();
        outstanding.sort_by_key(|tracked| tracked.arrived());
        outstanding.into_iter().map(|tracked| &tracked.identity).collect()
    }
}

/// The actual outcome of an object so far.
fn actual_outcome(tracked: &TrackedObject) -> OutcomeKind {
    let Some(now) = &tracked.now else { return OutcomeKind::Deleted };
    let owners_before = tracked.before.as_ref().map_or(0, |before| before.owners.len());
    if now.terminating {
        OutcomeKind::Terminating
    } else if Some(now) == tracked.before.as_ref() {
        OutcomeKind::Unchanged
    } else if now.owners.is_empty() && owners_before > 0 {
        OutcomeKind::Orphaned
    } else if now.owners.len() < owners_before {
        OutcomeKind::Detached
    } else if tracked.before.as_ref().is_some_and(|before| before.owners != now.owners) {
        OutcomeKind::Unblocked
    } else {
        OutcomeKind::Unchanged
    }
}

fn after(object: &Object) -> After {
    After { terminating: object.terminating(), finalizers: object.finalizers.to_vec(), owners: object.owners.to_vec() }
}

fn sorted(mut after: After) -> After {
    after.finalizers.sort_unstable();
    after.owners.sort_unstable_by_key(|owner| (owner.uid, owner.name, owner.kind, owner.api_version));
    after
}
