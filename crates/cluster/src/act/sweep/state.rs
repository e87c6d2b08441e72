//! The state that all workers share: the collector's graph and queues, items that wait to be retried, and the served
//! resources.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use parking_lot::{Mutex, MutexGuard};
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::Notify;

use crate::cluster::{
    Connection, WatchEvent,
    path::{self, ObjectPath},
};
use gc_core::{
    collector::{
        GraphView as _, Identity as Coordinates, Queue,
        live::{KindId, Limit, Live},
    },
    graph::{Address, NodeId, map},
    model::{Identity, Resources, Symbol},
};

use super::{
    asking::WorkItem,
    event::{Failed, QueueName, SweepEvent, SweepObserver},
};

#[derive(Clone, Debug)]
pub struct Settings {
    /// How many items of each queue are worked on at once.
    pub workers: usize,
    /// Whether a missing API path proves that an object is gone (R3.16), as it does for the collector.
    pub trust_missing_apis: bool,
    /// Which objects may be written to.
    pub limit: Limit,
}

/// What can't be read at present, in which dependents may hide.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unseen {
    /// A resource, or a group version that could not be discovered.
    pub name: String,
    /// Why.
    pub why: String,
    /// Whether all of its objects are cluster-scoped: these can't depend on a namespaced object (R3.7).
    pub cluster_scoped: bool,
}

/// How far the changes of a kind are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// To the present: a watch reports them.
    Watched,
    /// To the last list, which began at this time; `None` if there was none since the watch failed.
    Listed(Option<Instant>),
}

impl Coverage {
    /// What an event says of it.
    pub fn after(event: &WatchEvent) -> Option<Self> {
        match event {
            WatchEvent::Recovered => Some(Coverage::Watched),
            WatchEvent::Failing { .. } => Some(Coverage::Listed(None)),
            WatchEvent::Polled { begun: Some(begun), .. } => Some(Coverage::Listed(Some(*begun))),
            _ => None,
        }
    }
}

/// Where to look an object up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    At(ObjectPath),
    /// The path is known not to exist (R3.15).
    NoSuchPath,
    Unmappable,
    InvalidScope,
    Undiscovered,
}

/// Why an item failed.
#[derive(Clone, Debug)]
pub(super) struct ItemFailure {
    pub why: String,
    /// Whether the failure is expected ([`WorkItem::unmappable`]).
    pub unmappable: bool,
}

/// The mutable part of the state, behind a lock.
#[derive(Debug, Default)]
pub(super) struct State {
    pub live: Live,
    /// The served resources, as far as they are known.
    pub resources: Resources,
    /// Group versions that could not be discovered.
    pub undiscovered: FxHashSet<String>,
    /// What may hide dependents: an owner that waits for its dependents keeps its finalizer.
    pub unseen: Vec<Unseen>,
    /// Kinds whose watch fails, each with the time when the last list began that was read instead.
    listed: FxHashMap<KindId, Option<Instant>>,
    /// Since when owners wait, or have waited, for lists that show all of their dependents.
    awaiting_lists: FxHashMap<NodeId, Instant>,
    /// Failed items, by their queue.
    backoffs: [Backoff; 2],
    /// The last failure of each item that has not succeeded since.
    pub failing: FxHashMap<NodeId, ItemFailure>,
    /// Whether workers may begin.
    pub working: bool,
    /// Whether workers are to end.
    pub stopped: bool,
    /// When something was last written or finished.
    pub moved: Option<Instant>,
    /// Since when items wait in either queue.
    queued: FxHashMap<NodeId, Instant>,
    told_added: [u64; 2],
}

impl State {
    /// Where to look up an item, or an owner that an object in `namespace` refers to by these coordinates.
    pub(super) fn place(&self, coordinates: &Coordinates) -> Place {
        let State { resources, undiscovered, .. } = self;
        let (api_version, kind) = (self.live.text(coordinates.api_version), self.live.text(coordinates.kind));
        let mapping = map(resources, |group_version| undiscovered.contains(group_version), api_version, kind);
        match Address::mapped(resources, mapping, coordinates.name, coordinates.namespace) {
            Address::NoSuchPath | Address::DoubtedPath => Place::NoSuchPath,
            Address::Unmappable => Place::Unmappable,
            Address::InvalidScope => Place::InvalidScope,
            Address::Undiscovered => Place::Undiscovered,
            Address::At(at) => {
                let resource = resources.get(at.resource);
                match path::of_object(resource, self.live.text(at.namespace), self.live.text(at.name)) {
                    Some(path) => Place::At(path),
                    None => Place::Unmappable,
                }
            }
        }
    }

    /// Whether dependents of an object may be among what can't be read.
    pub(super) fn may_hide_dependents(&self, owner: &Coordinates) -> bool {
        self.unseen.iter().any(|unseen| owner.namespace.is_empty() || !unseen.cluster_scoped)
    }

    /// Records how far the changes of a kind are known. Owners that waited for that are tried again at once.
    pub(super) fn cover(&mut self, kind: KindId, coverage: Coverage) {
        let ready = |state: &State| state.awaiting_lists.keys().filter(|owner| state.knows_dependents(**owner)).count();
        let before = ready(self);
        match coverage {
            Coverage::Watched => drop(self.listed.remove(&kind)),
            Coverage::Listed(begun) => drop(self.listed.insert(kind, begun)),
        }
        if ready(self) > before {
            self.hasten();
        }
    }

    /// Tries everything again at once that has failed: something is known now that was not.
    pub(super) fn hasten(&mut self) {
        let now = Instant::now();
        self.backoffs.iter_mut().for_each(|backoff| backoff.hasten(now));
    }

    /// Whether all dependents of an owner are known that it had when it asked for them ([`State::await_lists`]): a list
    /// that began before may lack some. With watches, they are always known.
    pub(super) fn knows_dependents(&self, owner: NodeId) -> bool {
        let since = self.awaiting_lists.get(&owner);
        self.listed.values().all(|begun| begun.is_some() && begun.as_ref() >= since && since.is_some())
    }

    /// Notes that an owner waits for lists that begin from now on.
    pub(super) fn await_lists(&mut self, owner: NodeId) {
        self.awaiting_lists.entry(owner).or_insert_with(Instant::now);
    }

    /// Whether an owner waits for lists.
    pub(super) fn wants_lists(&self) -> bool {
        self.awaiting_lists.keys().any(|owner| !self.knows_dependents(*owner))
    }

    /// An object's identity as text, which stays valid when symbols change.
    pub(super) fn named(&self, coordinates: &Coordinates) -> Identity {
        let text = |symbol: Symbol| self.live.text(symbol).to_owned();
        Identity {
            api_version: text(coordinates.api_version),
            kind: text(coordinates.kind),
            namespace: text(coordinates.namespace),
            name: text(coordinates.name),
            uid: text(coordinates.uid),
        }
    }

    /// Schedules the items that the graph wants retried, and queues those that are due.
    fn catch_up(&mut self, now: Instant) {
        for node in std::mem::take(&mut self.live.to_retry) {
            self.backoff(QueueName::ToDelete).failed(node, now);
        }
        let [to_delete, to_orphan] = self.backoffs.each_mut().map(|backoff| backoff.take_due(now));
        to_delete.into_iter().for_each(|node| self.live.queue(node));
        to_orphan.into_iter().for_each(|node| self.live.queue_orphaning(node));
        for node in std::mem::take(&mut self.live.fresh) {
            self.queued.entry(node).or_insert(now);
        }
    }

    /// Takes the next item of a queue, and returns how long it has waited.
    pub(super) fn take(&mut self, queue: QueueName) -> Option<(NodeId, Duration)> {
        let node = self.queue(queue).take()?;
        Some((node, self.queued.remove(&node).map_or(Duration::ZERO, |since| since.elapsed())))
    }

    pub(super) fn queue(&mut self, queue: QueueName) -> &mut Queue<NodeId> {
        match queue {
            QueueName::ToDelete => &mut self.live.to_delete,
            QueueName::ToOrphan => &mut self.live.to_orphan,
        }
    }

    pub(super) fn backoff(&mut self, queue: QueueName) -> &mut Backoff {
        &mut self.backoffs[queue as usize]
    }

    /// When the next item is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.backoffs.iter().filter_map(Backoff::next).min()
    }

    /// Drops removed nodes from memory, if there are enough of them.
    fn compact(&mut self) {
        if !self.live.is_worth_compacting() {
            return;
        }
        let numbers = self.live.compact();
        // The queues are empty, or compacting would not be worth it.
        self.queued.clear();
        self.backoffs.iter_mut().for_each(|backoff| backoff.renumber(&numbers));
        let waiting = std::mem::take(&mut self.awaiting_lists);
        self.awaiting_lists =
            waiting.into_iter().filter_map(|(node, since)| Some((*numbers.get(&node)?, since))).collect();
        let failing = std::mem::take(&mut self.failing);
        self.failing =
            failing.into_iter().filter_map(|(node, failing)| Some((*numbers.get(&node)?, failing))).collect();
    }
}

/// Everything that workers need.
pub(super) struct Shared {
    pub connection: Connection,
    pub settings: Settings,
    pub observer: SweepObserver,
    state: Mutex<State>,
    /// Signals that a queue may have items, or that workers are to end.
    work: [Notify; 2],
    /// Signals that the next item may be due earlier.
    pub timer: Notify,
}

impl Shared {
    pub(super) fn new(connection: Connection, settings: Settings, observer: SweepObserver) -> Self {
        let live = Live::new(settings.limit.clone());
        let state = Mutex::new(State { live, ..State::default() });
        Shared { connection, settings, observer, state, work: [Notify::new(), Notify::new()], timer: Notify::new() }
    }

    /// Locks the state for reading.
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Changes the state, and wakes workers that may have something to do.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.lock();
        let before = state.next_due();
        let outcome = change(&mut state);
        let now = Instant::now();
        state.catch_up(now);
        state.compact();
        let queued = QueueName::ALL.map(|queue| {
            let (depth, added) = (state.queue(queue).len(), state.queue(queue).added());
            let before = std::mem::replace(&mut state.told_added[queue as usize], added);
            (queue, added - before, depth)
        });
        let due = state.next_due();
        drop(state);
        for (queue, _, _) in queued.iter().filter(|(.., depth)| *depth > 0) {
            self.work(*queue).notify_waiters();
        }
        if due.is_some_and(|due| before.is_none_or(|before| due < before)) {
            self.timer.notify_one();
        }
        for (queue, added, depth) in queued {
            (self.observer)(SweepEvent::Queued { queue, added, depth });
        }
        outcome
    }

    /// Reports that an item failed, and whether it is tried again.
    pub(super) fn failed(&self, node: NodeId, worked: &WorkItem, why: String, retried: bool) {
        let failed = self.change(|state| {
            state.failing.insert(node, ItemFailure { why: why.clone(), unmappable: worked.unmappable });
            Failed {
                object: state.named(&worked.coordinates()),
                why,
                times: state.backoffs.iter().map(|backoff| backoff.failures(node)).max().unwrap_or(0),
                retried,
            }
        });
        (self.observer)(SweepEvent::Failed(&failed));
    }

    /// Ends all workers.
    pub(super) fn stop(&self) {
        self.change(|state| state.stopped = true);
        self.work.iter().for_each(Notify::notify_waiters);
        self.timer.notify_one();
    }

    /// Signals that a queue may have items, or that workers are to end.
    pub(super) fn work(&self, queue: QueueName) -> &Notify {
        &self.work[queue as usize]
    }
}

/// The first pause.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1000);

/// Items that wait to be retried, and how often each has failed: after the pauses of the controller's own queues
/// (R2.9), which double with each failure of an item, up to 1000 seconds. An event about an item queues it at once.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: FxHashMap<NodeId, u32>,
    due: BTreeSet<(Instant, NodeId)>,
    at: FxHashMap<NodeId, Instant>,
}

impl Backoff {
    /// An item failed once more. If it is already due earlier, that stays.
    pub(super) fn failed(&mut self, node: NodeId, now: Instant) {
        let failures = self.failures.entry(node).or_default();
        let pause = FIRST.saturating_mul(1 << (*failures).min(30)).min(LONGEST);
        *failures = failures.saturating_add(1);
        let at = now + pause;
        match self.at.get(&node) {
            Some(earlier) if *earlier <= at => return,
            Some(later) => drop(self.due.remove(&(*later, node))),
            None => {}
        }
        self.at.insert(node, at);
        self.due.insert((at, node));
    }

    /// An item succeeded, or needs no more work.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.failures.remove(&node);
    }

    /// How often in a row an item has failed.
    pub(super) fn failures(&self, node: NodeId) -> u32 {
        self.failures.get(&node).copied().unwrap_or(0)
    }

    /// Takes the items that are due.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<NodeId> {
        let mut taken = Vec::new();
        while let Some((_, node)) = self.due.first().filter(|(at, _)| *at <= now).copied() {
            self.due.pop_first();
            self.at.remove(&node);
            taken.push(node);
        }
        taken
    }

    /// When the next item is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.due.first().map(|(at, _)| *at)
    }

    /// The cause of all failures may be gone: resets all pauses, and makes every item due now.
    pub(super) fn hasten(&mut self, now: Instant) {
        self.failures.clear();
        self.due = std::mem::take(&mut self.due).into_iter().map(|(_, node)| (now, node)).collect();
        self.at.values_mut().for_each(|at| *at = now);
    }

    /// Items get these new numbers; those without one are gone.
    pub(super) fn renumber(&mut self, numbers: &FxHashMap<NodeId, NodeId>) {
        let renumbered = |node: &NodeId| numbers.get(node).copied();
        self.failures =
            self.failures.iter().filter_map(|(node, failures)| Some((renumbered(node)?, *failures))).collect();
        self.due = self.due.iter().filter_map(|(at, node)| Some((*at, renumbered(node)?))).collect();
        self.at = self.due.iter().map(|(at, node)| (*node, *at)).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: NodeId = NodeId(7);

    #[test]
    fn pauses_double_until_it_succeeds() {
        let (mut backoff, begin) = (Backoff::default(), Instant::now());
        let mut pauses = Vec::new();
        for _ in 0..4 {
            backoff.failed(NODE, begin);
            let at = backoff.next().expect("it waits");
            pauses.push((at - begin).as_millis());
            assert!(backoff.take_due(at - Duration::from_millis(1)).is_empty());
            assert_eq!(backoff.take_due(at), [NODE]);
        }
        assert_eq!(pauses, [5, 10, 20, 40]);
        backoff.forget(NODE);
        backoff.failed(NODE, begin);
        assert_eq!(backoff.next(), Some(begin + FIRST));
    }

    #[test]
    fn there_is_a_longest_pause() {
        let (mut backoff, begin) = (Backoff::default(), Instant::now());
        for _ in 0..100 {
            backoff.failed(NODE, begin);
            backoff.take_due(begin + LONGEST);
        }
        backoff.failed(NODE, begin);
        assert_eq!(backoff.next(), Some(begin + LONGEST));
        backoff.hasten(begin);
        assert_eq!((backoff.take_due(begin), backoff.failures(NODE)), (vec![NODE], 0));
    }

    #[test]
    fn the_earliest_try_counts() {
        let (mut backoff, begin) = (Backoff::default(), Instant::now());
        backoff.failed(NODE, begin);
        backoff.failed(NODE, begin);
        assert_eq!((backoff.due.len(), backoff.next()), (1, Some(begin + FIRST)));
    }

    #[test]
    fn items_get_other_numbers() {
        let (mut backoff, begin) = (Backoff::default(), Instant::now());
        backoff.failed(NODE, begin);
        backoff.failed(NodeId(8), begin);
        backoff.renumber(&FxHashMap::from_iter([(NODE, NodeId(0))]));
        assert_eq!(backoff.take_due(begin + LONGEST), [NodeId(0)]);
        assert_eq!((backoff.failures(NodeId(0)), backoff.failures(NODE)), (1, 0));
    }
}
