//! A plan under way: what is seen of it, whether that is what was foretold, and what went besides.
//!
//! Everything here is known by uid, because ids change with every look. A uid that is gone never comes back.

mod judge;
mod unplanned;

use rustc_hash::FxHashMap;

use crate::{
    graph::OwnerGraph,
    model::{Identity, Object, ObjectEvent, ObjectId, RawObject, Reference, Snapshot, Strings, Symbol},
    simulate::Only,
};

use super::outcome::{After, Outcome, OutcomeKind, Plan, Uncertainty};

pub use judge::{Blocker, BlockerDescription, TrackerVerdict};
pub use unplanned::{Relation, UnplannedObject};

use unplanned::UnplannedObjects;

/// The state an object is in or ends in, in symbols of the course; none once it is gone. Finalizers and references are
/// sorted: their order means nothing to anybody.
type FinalState = Option<After>;

/// A plan that is being carried out.
#[derive(Clone, Debug)]
pub struct PlanTracker {
    strings: Strings,
    objects: Vec<TrackedObject>,
    by_uid: FxHashMap<Symbol, usize>,
    /// For each group whose outcomes hang together: the ends they may come to together, by their places.
    groups: Vec<Vec<Vec<(usize, FinalState)>>>,
    /// The places of those that others are in.
    containers: Vec<usize>,
    /// The uids that the collector may write to; unset: all.
    only: Option<Vec<String>>,
    /// Whether the collector is stricter than the original about API paths that aren't there (R3.16).
    doubts_missing_apis: bool,
    bystanders: UnplannedObjects,
}

/// An object that the plan names.
#[derive(Clone, Debug)]
struct TrackedObject {
    identity: Identity,
    before: FinalState,
    now: FinalState,
    /// The ends that were foretold, the likeliest first.
    ends: Vec<(OutcomeKind, FinalState)>,
    uncertain: Option<Uncertainty>,
}

impl TrackedObject {
    fn arrived(&self) -> bool {
        self.ends.iter().any(|(_, end)| *end == self.now)
    }
}

/// How far a plan has got.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many objects the plan names.
    pub all: usize,
    /// How many of them are in an end that was foretold for each. Before anything has happened this need not be none:
    /// an end may be to stay as it was.
    pub arrived: usize,
    /// How many are to go, in the likeliest end.
    pub to_go: usize,
    /// How many are gone, whatever was foretold.
    pub gone: usize,
    /// How many are marked for deletion, and are still there.
    pub terminating: usize,
    /// How many are there, not marked, and look otherwise than before: without a reference, say.
    pub changed: usize,
}

/// An object that is not in an end that was foretold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnexpectedOutcome {
    pub object: Identity,
    /// What was foretold, the likeliest first.
    pub predicted: Vec<OutcomeKind>,
    /// What has become of it so far, by the same names.
    pub came: OutcomeKind,
    /// The finalizers that it has.
    pub finalizers: Vec<String>,
    /// Why the plan was not certain of it, if it wasn't.
    pub uncertain: Option<Uncertainty>,
    /// It is in an end that was foretold for it, but not together with those of the others that hang together with it.
    pub together: bool,
}

impl PlanTracker {
    /// The course of a plan that was made on this very snapshot. Nothing of it has been carried out.
    pub fn new(snapshot: &Snapshot, plan: &Plan) -> Self {
        let mut course = PlanTracker {
            strings: Strings::default(),
            objects: Vec::with_capacity(plan.outcomes.len()),
            by_uid: FxHashMap::default(),
            groups: Vec::new(),
            containers: Vec::new(),
            only: None,
            doubts_missing_apis: false,
            bystanders: UnplannedObjects::default(),
        };
        let mut places: FxHashMap<ObjectId, usize> = FxHashMap::default();
        for outcome in &plan.outcomes {
            places.insert(outcome.object, course.objects.len());
            course.add(snapshot, outcome);
        }
        // What is on its way out already goes, or stays as it is: this delete adds nothing to that.
        for target in plan.request.targets.iter().filter(|target| snapshot.object(**target).terminating()) {
            if !places.contains_key(target) {
                places.insert(*target, course.objects.len());
                course.add_going(snapshot, *target);
            }
        }
        for ends in &plan.ends {
            let joint = ends.iter().map(|end| {
                let members = end.iter().filter_map(|(id, end)| Some((*places.get(id)?, end)));
                members.map(|(place, end)| (place, course.end(snapshot, end.after.as_ref()))).collect()
            });
            let joint = joint.collect();
            course.groups.push(joint);
        }
        let all = course.objects.iter().enumerate();
        course.containers = all.filter(|(_, followed)| followed.contains_others()).map(|(place, _)| place).collect();
        course
    }

    fn add(&mut self, snapshot: &Snapshot, outcome: &Outcome) {
        let object = snapshot.object(outcome.object);
        let mut ends = vec![(outcome.kind, self.end(snapshot, outcome.after.as_ref()))];
        for other in &outcome.alternatives {
            ends.push((other.kind, self.end(snapshot, other.after.as_ref())));
        }
        let before = self.end(snapshot, Some(&after(object)));
        let identity = Identity::of(snapshot, outcome.object);
        let uid = self.strings.intern(&identity.uid);
        self.by_uid.entry(uid).or_insert(self.objects.len());
        self.objects.push(TrackedObject { identity, now: before.clone(), before, ends, uncertain: outcome.uncertain });
    }

    fn add_going(&mut self, snapshot: &Snapshot, object: ObjectId) {
        let before = self.end(snapshot, Some(&after(snapshot.object(object))));
        let identity = Identity::of(snapshot, object);
        let uid = self.strings.intern(&identity.uid);
        self.by_uid.entry(uid).or_insert(self.objects.len());
        let ends = vec![(OutcomeKind::Deleted, None), (OutcomeKind::Terminating, before.clone())];
        self.objects.push(TrackedObject { identity, now: before.clone(), before, ends, uncertain: None });
    }

    /// The same for a collector that writes to these objects only.
    #[must_use]
    pub fn limited_to(self, uids: Vec<String>) -> Self {
        PlanTracker { only: Some(uids), ..self }
    }

    /// The same for a collector that doesn't take an API path that isn't there for the absence of an object.
    #[must_use]
    pub fn doubting_missing_apis(self) -> Self {
        PlanTracker { doubts_missing_apis: true, ..self }
    }

    /// Who owns whom, to the collector that carries it out.
    pub fn graph(&self, snapshot: &Snapshot) -> OwnerGraph {
        let graph = OwnerGraph::new(snapshot);
        if self.doubts_missing_apis { graph.doubting_missing_apis() } else { graph }
    }

    /// What may be written to, in a snapshot.
    fn only(&self, snapshot: &Snapshot) -> Option<Only> {
        let uids = self.only.as_ref()?;
        Some(Only::new(uids.iter().filter_map(|uid| snapshot.by_uid(snapshot.strings.find(uid)?))))
    }

    /// An end in symbols of the course.
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

    /// The state that was seen.
    fn state(&mut self, raw: &RawObject<'_>) -> After {
        let strings = &mut self.strings;
        let finalizers = raw.finalizers.iter().map(|finalizer| strings.intern(finalizer)).collect();
        let owners = raw.owners.iter().map(|owner| Reference {
            api_version: strings.intern(&owner.api_version),
            kind: strings.intern(&owner.kind),
            name: strings.intern(&owner.name),
            uid: strings.intern(&owner.uid),
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        });
        let owners = owners.collect();
        sorted(After { terminating: raw.deleted.is_some(), finalizers, owners })
    }

    /// Something was seen, which `snapshot` has not taken in yet, and which is news to it ([`Snapshot::is_news`]). Says
    /// whether that moves the plan: an object that it names is in another state than before, or one that goes with
    /// these.
    pub fn see(&mut self, snapshot: &Snapshot, seen: &ObjectEvent) -> bool {
        let place = self.strings.find(&seen.object.uid).and_then(|uid| self.by_uid.get(&uid).copied());
        let Some(place) = place else { return self.see_bystander(snapshot, seen) };
        if self.objects[place].now.is_none() {
            return false;
        }
        let now = (!seen.gone).then(|| self.state(&seen.object));
        let followed = &mut self.objects[place];
        let moved = followed.now != now;
        followed.now = now;
        moved
    }

    /// Whether an object is known to be gone: what is told of it now is old.
    pub fn is_gone(&self, uid: &str) -> bool {
        let place = self.strings.find(uid).and_then(|uid| self.by_uid.get(&uid));
        place.is_some_and(|place| self.objects[*place].now.is_none())
    }

    /// How far it has got.
    pub fn progress(&self) -> Progress {
        let mut progress = Progress { all: self.objects.len(), ..Progress::default() };
        for followed in &self.objects {
            progress.arrived += usize::from(followed.arrived());
            progress.to_go += usize::from(followed.ends[0].1.is_none());
            match &followed.now {
                None => progress.gone += 1,
                Some(now) if now.terminating => progress.terminating += 1,
                now => progress.changed += usize::from(*now != followed.before),
            }
        }
        progress
    }

    /// Whether every object is in an end that was foretold, those that hang together in one that was foretold of them
    /// together.
    pub fn arrived(&self) -> bool {
        self.objects.iter().all(TrackedObject::arrived) && self.groups.iter().all(|ends| self.is_joint(ends))
    }

    fn is_joint(&self, ends: &[Vec<(usize, FinalState)>]) -> bool {
        ends.iter().any(|end| end.iter().all(|(place, end)| self.objects[*place].now == *end))
    }

    /// What is not in an end that was foretold, in the order of the plan.
    pub fn otherwise(&self) -> Vec<UnexpectedOutcome> {
        let mut astray: Vec<usize> = (0..self.objects.len()).filter(|place| !self.objects[*place].arrived()).collect();
        let apart = self.groups.iter().filter(|ends| !self.is_joint(ends)).filter_map(|ends| ends.first());
        astray.extend(apart.flatten().map(|(place, _)| *place));
        astray.sort_unstable();
        astray.dedup();
        astray.into_iter().map(|place| self.describe(&self.objects[place])).collect()
    }

    fn describe(&self, followed: &TrackedObject) -> UnexpectedOutcome {
        let finalizers = followed.now.iter().flat_map(|now| &now.finalizers);
        UnexpectedOutcome {
            object: followed.identity.clone(),
            predicted: followed.ends.iter().map(|(kind, _)| *kind).collect(),
            came: came(followed),
            finalizers: finalizers.map(|finalizer| self.strings.text(*finalizer).to_owned()).collect(),
            uncertain: followed.uncertain,
            together: followed.arrived(),
        }
    }

    /// The objects that are marked for deletion and still there, in the order of the plan.
    pub fn left(&self) -> impl Iterator<Item = &Identity> {
        let left = self.objects.iter().filter(|followed| followed.now.as_ref().is_some_and(|now| now.terminating));
        left.map(|followed| &followed.identity)
    }

    /// The objects that are there and may still move, by what names them: those that are not in an end that was
    /// foretold come first.
    pub fn outstanding(&self) -> Vec<&Identity> {
        let mut outstanding: Vec<&TrackedObject> =
            self.objects.iter().filter(|followed| followed.now.is_some()).collect();
        outstanding.sort_by_key(|followed| followed.arrived());
        outstanding.into_iter().map(|followed| &followed.identity).collect()
    }
}

/// What became of an object so far, as a plan would call it.
fn came(followed: &TrackedObject) -> OutcomeKind {
    let Some(now) = &followed.now else { return OutcomeKind::Deleted };
    let owners_before = followed.before.as_ref().map_or(0, |before| before.owners.len());
    if now.terminating {
        OutcomeKind::Terminating
    } else if Some(now) == followed.before.as_ref() {
        OutcomeKind::Unchanged
    } else if now.owners.is_empty() && owners_before > 0 {
        OutcomeKind::Orphaned
    } else if now.owners.len() < owners_before {
        OutcomeKind::Detached
    } else if followed.before.as_ref().is_some_and(|before| before.owners != now.owners) {
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
