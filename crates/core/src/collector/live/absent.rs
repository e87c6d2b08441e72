//! A cache of coordinates that look-ups found empty (§3.3).

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::collector::identity::Identity;

/// The capacity. The original's is 500, but a look-up costs more than the memory.
const CAPACITY: usize = 8192;

/// The latest absent identities. A removed uid never comes back, so entries are dropped only to save memory.
#[derive(Debug, Default)]
pub(super) struct Absent {
    known: FxHashSet<Identity>,
    oldest_first: VecDeque<Identity>,
}

impl Absent {
    pub(super) fn add(&mut self, identity: Identity) {
        if !self.known.insert(identity) {
            return;
        }
        self.oldest_first.push_back(identity);
        if self.oldest_first.len() > CAPACITY
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub(super) fn has(&self, identity: &Identity) -> bool {
        self.known.contains(identity)
    }

    pub(super) fn clear(&mut self) {
        self.known.clear();
        self.oldest_first.clear();
    }
}
