//! Coordinates at which nothing was found (§3.3).

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::collector::identity::Identity;

/// How many are kept. The original keeps 500; a look-up costs more than the memory.
const MOST: usize = 8192;

/// The latest of them. A uid that was found gone does not come back, so that nothing has to be forgotten but to save
/// memory.
#[derive(Debug, Default)]
pub(super) struct Absent {
    known: FxHashSet<Identity>,
    oldest_first: VecDeque<Identity>,
}

impl Absent {
    pub fn add(&mut self, identity: Identity) {
        if !self.known.insert(identity) {
            return;
        }
        self.oldest_first.push_back(identity);
        if self.oldest_first.len() > MOST
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    pub fn has(&self, identity: &Identity) -> bool {
        self.known.contains(identity)
    }

    pub fn clear(&mut self) {
        self.known.clear();
        self.oldest_first.clear();
    }
}
