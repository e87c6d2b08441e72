//! When failed items are retried: after the pauses of the controller's own queues (R2.9), which double with each
//! failure of an item, up to 1000 seconds. An event about an item queues it at once.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use rustc_hash::FxHashMap;

use crate::graph::NodeId;

/// The first pause.
const FIRST: Duration = Duration::from_millis(5);
/// The longest pause.
const LONGEST: Duration = Duration::from_secs(1000);

/// Items that wait to be retried, and how often each has failed.
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
