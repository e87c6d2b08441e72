//! A map of bounded size: the oldest entries go first.

use std::{collections::VecDeque, hash::Hash};

use rustc_hash::FxHashMap;

/// The latest entries, by key. Setting a value again keeps the key's place in the order.
#[derive(Debug)]
pub(super) struct Recent<K, V> {
    entries: FxHashMap<K, V>,
    oldest_first: VecDeque<K>,
    most: usize,
}

impl<K: Clone + Eq + Hash, V> Recent<K, V> {
    pub(super) fn new(most: usize) -> Self {
        Recent { entries: FxHashMap::default(), oldest_first: VecDeque::new(), most }
    }

    pub(super) fn set(&mut self, key: K, value: V) {
        if self.entries.insert(key.clone(), value).is_some() {
            return;
        }
        self.oldest_first.push_back(key);
        if self.oldest_first.len() > self.most
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.entries.remove(&oldest);
        }
    }

    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.entries.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.entries.get_mut(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.entries.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_entries_go_first() {
        let mut recent = Recent::new(2);
        for (key, value) in [("a", 1), ("b", 2), ("a", 3), ("c", 4)] {
            recent.set(key, value);
        }
        assert_eq!((recent.get(&"a"), recent.get(&"b"), recent.get(&"c")), (None, Some(&2), Some(&4)));
        assert_eq!(recent.iter().count(), 2);
    }
}
