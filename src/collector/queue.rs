//! The collector's work queues: no item twice, and none worked on twice at once.

use std::{collections::VecDeque, hash::Hash};

use rustc_hash::FxHashSet;

/// A queue as client-go's work queues behave: an item that is added while it is being worked on comes back once that is
/// done.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// How many items were ever added that were not waiting already.
    added: u64,
    waiting: VecDeque<T>,
    dirty: FxHashSet<T>,
    processing: FxHashSet<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Queue { added: 0, waiting: VecDeque::new(), dirty: FxHashSet::default(), processing: FxHashSet::default() }
    }
}

impl<T: Copy + Eq + Hash> Queue<T> {
    /// Adds an item, unless it is waiting already. Says whether it was not.
    pub fn add(&mut self, item: T) -> bool {
        let new = self.dirty.insert(item);
        if new {
            self.added += 1;
            if !self.processing.contains(&item) {
                self.waiting.push_back(item);
            }
        }
        new
    }

    /// How many items were ever added that were not waiting already.
    pub fn added(&self) -> u64 {
        self.added
    }

    /// Whether nothing waits, and nothing is being worked on.
    pub fn is_idle(&self) -> bool {
        self.dirty.is_empty() && self.processing.is_empty()
    }

    /// Takes the item that has waited longest, to be worked on until [`Queue::done`].
    pub fn take(&mut self) -> Option<T> {
        let item = self.waiting.pop_front()?;
        self.dirty.remove(&item);
        self.processing.insert(item);
        Some(item)
    }

    /// The work on an item is done.
    pub fn done(&mut self, item: T) {
        self.processing.remove(&item);
        if self.dirty.contains(&item) {
            self.waiting.push_back(item);
        }
    }

    /// Takes an item out again that waits.
    pub fn remove(&mut self, item: T) {
        if self.dirty.remove(&item) {
            self.waiting.retain(|waiting| *waiting != item);
        }
    }

    /// Takes everything out again that waits and isn't being worked on.
    pub fn clear(&mut self) {
        for item in self.waiting.drain(..) {
            self.dirty.remove(&item);
        }
    }

    /// What waits, in the order in which it will be taken.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.waiting.iter().copied()
    }

    /// How many items wait.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The item at this place.
    pub fn get(&self, place: usize) -> Option<T> {
        self.waiting.get(place).copied()
    }

    /// The place of the first item that is wanted.
    pub fn position(&self, wanted: impl Fn(T) -> bool) -> Option<usize> {
        self.waiting.iter().position(|item| wanted(*item))
    }

    /// Puts the item at this place first. The order of a queue decides little: a worker may take its time before it
    /// really begins.
    pub fn bring_forward(&mut self, place: usize) {
        if let Some(item) = self.waiting.remove(place) {
            self.waiting.push_front(item);
        }
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn an_item_waits_once_and_comes_back_when_added_during_work() {
        let mut queue = Queue::default();
        queue.add(1);
        queue.add(1);
        assert_eq!(queue.take(), Some(1));
        assert_eq!(queue.take(), None);
        queue.add(1);
        assert!(queue.is_empty(), "it is being worked on");
        queue.done(1);
        assert_eq!(queue.take(), Some(1));
        queue.done(1);
        assert_eq!(queue.take(), None);
    }
}
