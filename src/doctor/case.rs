//! What is examined, and how its parts are named.

use rustc_hash::FxHashSet;

use crate::{
    command_line::Kubectl,
    graph::OwnerGraph,
    model::{ObjectId, OwnerEvent, Reference, Snapshot, Symbol},
    simulate::{ProjectedOutcome, Projection, SimContext},
};

use crate::wording::thousands;

use super::{commands::Commands, finding::ReadsNeeded, limit::Limit};

/// So many objects are named in a sentence.
const NAMED: usize = 3;

/// Everything that a diagnosis rests on.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    pub stage: &'a SimContext<'a>,
    /// What becomes of everything that is there.
    pub projection: &'a Projection,
    /// In Unix seconds; none where it is not known when things were seen. Of a dump it is the latest time that anything
    /// in it tells: ages are then at least what they are said to be.
    pub now: Option<i64>,
    /// Whether this is a cluster, in which what was seen has lasted for a while ([`Case::fresh`] aside); a dump is one
    /// moment.
    pub live: bool,
    /// What was not seen like this before, and may pass.
    pub fresh: &'a FxHashSet<ObjectId>,
    /// What is asked about: of what is gathered from all over the cluster, the rest is left out.
    pub limit: &'a Limit,
    /// Dependents that an earlier look saw made while their owner was waiting for the last of them to go.
    pub made: &'a [RecreatedDependent],
    /// How remedies call kubectl: with the flags that choose this cluster, where it was chosen.
    pub kubectl: &'a Kubectl,
    /// The collector's complaints about owners in other namespaces, where they were read.
    pub events: &'a [OwnerEvent],
    /// What a throw-away object told of the collector, where that was asked for.
    pub probed: Option<Probed>,
}

/// A dependent that was made while its owner was waiting for its dependents to go (S12). It may be gone by the next
/// look, and another in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecreatedDependent {
    /// The owner's uid.
    pub owner: Symbol,
    /// The dependent's.
    pub uid: Symbol,
    /// `Kind/name`.
    pub name: String,
    /// In Unix seconds.
    pub created: i64,
}

/// What a throw-away object tells of the collector (R10.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probed {
    /// It was collected.
    Works,
    /// It was not, within this many seconds.
    Stopped { waited: i64 },
    /// The API server didn't leave it to the collector: its own part of garbage collection is turned off (R1.10, S15).
    NotHeld,
}

impl<'a> Case<'a> {
    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.stage.snapshot
    }

    pub(super) fn graph(&self) -> &'a OwnerGraph {
        self.stage.graph
    }

    pub(super) fn commands(&self) -> Commands<'a> {
        Commands { snapshot: self.stage.snapshot, kubectl: self.kubectl }
    }

    /// For how many seconds an object has been terminating. A pod's deletionTimestamp is when its grace is over: before
    /// that, less than none.
    pub(super) fn terminating_for(&self, id: ObjectId) -> Option<i64> {
        Some(self.now? - self.snapshot().object(id).deleted?)
    }

    /// Whether an object has been terminating for this many seconds at least. Where that isn't known, what is seen has
    /// lasted.
    pub(super) fn has_been_terminating(&self, id: ObjectId, seconds: i64) -> bool {
        self.terminating_for(id).is_none_or(|age| age >= seconds)
    }

    /// `Kind/name`, and its namespace if it has one that is not that of the object it is told of.
    pub(super) fn name(&self, id: ObjectId, beside: Option<ObjectId>) -> String {
        let snapshot = self.snapshot();
        let namespace = snapshot.object(id).namespace;
        if namespace.is_empty() || beside.is_some_and(|beside| snapshot.object(beside).namespace == namespace) {
            snapshot.short_name(id)
        } else {
            format!("{} in namespace {}", snapshot.short_name(id), snapshot.text(namespace))
        }
    }

    /// The first few of some objects.
    pub(super) fn names(&self, ids: &[ObjectId], beside: Option<ObjectId>) -> String {
        let mut names: Vec<String> = ids.iter().take(NAMED).map(|id| self.name(*id, beside)).collect();
        if ids.len() > NAMED {
            return format!("{} and {} more", names.join(", "), ids.len() - NAMED);
        }
        match names.pop() {
            Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
            last => last.unwrap_or_default(),
        }
    }

    /// What a reference says: `apps/v1 Deployment/web`.
    pub(super) fn reference(&self, reference: &Reference) -> String {
        let text = |symbol| self.snapshot().text(symbol);
        format!("{} {}/{}", text(reference.api_version), text(reference.kind), text(reference.name))
    }

    /// How many objects go below some, which are not counted.
    pub(super) fn goes_below(&self, objects: &[ObjectId]) -> usize {
        let mut seen: FxHashSet<ObjectId> = objects.iter().copied().collect();
        let (counted, mut open) = (seen.len(), objects.to_vec());
        while let Some(object) = open.pop() {
            let below = self.graph().dependents(object.into()).iter().copied();
            open.extend(
                below.filter(|below| {
                    *self.projection.outcome_of(*below) == ProjectedOutcome::Goes && seen.insert(*below)
                }),
            );
        }
        seen.len() - counted
    }
}

/// The first few of many words.
pub(super) fn some_of<T: AsRef<str>>(all: &[T]) -> String {
    let names = all.iter().take(NAMED).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    if all.len() > NAMED { format!("{names} and {} more", thousands(all.len() - NAMED)) } else { names }
}

/// What is being gathered.
#[derive(Debug, Default)]
pub(super) struct FindingsBuilder {
    pub findings: Vec<super::finding::Finding>,
    pub wanted: ReadsNeeded,
    /// What is to be remembered of this look.
    pub made: Vec<RecreatedDependent>,
    /// Objects that something is known to keep the collector from writing to.
    pub refused: FxHashSet<ObjectId>,
    /// What a finding speaks of already, so that others don't repeat it.
    pub explained: FxHashSet<ObjectId>,
}
