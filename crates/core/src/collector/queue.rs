//! The collector's work queues: no duplicates, and no item processed twice at a time.

use std::{collections::VecDeque, hash::Hash};

use rustc_hash::FxHashSet;

/// A queue like client-go's: an item added while it is being processed is queued again afterwards.
#[derive(Clone, Debug)]
pub struct Queue<T> {
    /// How many items were added, without duplicates.
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
    /// Adds an item unless it is already waiting. Returns whether it was added.
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

    /// How many items were added, without duplicates.
    pub fn added(&self) -> u64 {
        self.added
    }

    /// Whether nothing is waiting or being processed.
    pub fn is_idle(&self) -> bool {
        self.dirty.is_empty() && self.processing.is_empty()
    }

    /// Takes the item that has waited longest; call [`Queue::done`] after processing it.
    pub fn take(&mut self) -> Option<T> {
        let item = self.waiting.pop_front()?;
        self.dirty.remove(&item);
        self.processing.insert(item);
        Some(item)
    }

    /// Ends the processing of an item.
    pub fn done(&mut self, item: T) {
        self.processing.remove(&item);
        if self.dirty.contains(&item) {
            self.waiting.push_back(item);
        }
    }

    /// Removes a waiting item.
    pub fn remove(&mut self, item: T) {
        if self.dirty.remove(&item) {
            self.waiting.retain(|waiting| *waiting != item);
        }
    }

    /// Removes all waiting items.
    pub fn clear(&mut self) {
        for item in self.waiting.drain(..) {
            self.dirty.remove(&item);
        }
    }

    /// The waiting items in order.
    pub fn iter(&self) -> impl Iterator<Item = T> + '_ {
        self.waiting.iter().copied()
    }

    /// The number of waiting items.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The waiting item at this position.
    pub fn get(&self, index: usize) -> Option<T> {
        self.waiting.get(index).copied()
    }

    /// The position of the first matching item.
    pub fn position(&self, matches: impl Fn(T) -> bool) -> Option<usize> {
        self.waiting.iter().position(|item| matches(*item))
    }

    /// Moves the item at this position to the front. The order of a queue matters little, because a worker may be slow
    /// to start.
    pub(crate) fn bring_forward(&mut self, index: usize) {
        if let Some(item) = self.waiting.remove(index) {
            self.waiting.push_front(item);
        }
    }

    /// Whether nothing is waiting.
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
