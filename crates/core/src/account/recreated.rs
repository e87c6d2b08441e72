//! What is made again: names, and loops of objects whose owner does not exist.

use std::{collections::VecDeque, hash::Hash, sync::Arc};

use rustc_hash::FxHashMap;

use crate::model::Identity;

use super::happening::{Loop, Millis, Owner, OwnerState};

/// How many names of deleted objects are remembered.
const MOST_NAMES: usize = 20_000;
/// How many owners that do not exist are remembered.
const MOST_OWNERS: usize = 5_000;
/// How many managers of a loop are named.
const MOST_MANAGERS: usize = 5;
/// Rounds up to this number are told one by one; of later ones, only those that are a power of two.
const TOLD: u32 = 3;
/// A controller may not yet know that an owner is gone for so long, in milliseconds: what it makes then is no loop.
const LATE: Millis = 5_000;

/// A kind, a namespace and a name.
type Name = (u32, Arc<str>, Arc<str>);

/// A name whose object is gone.
#[derive(Debug)]
pub(super) struct Past {
    pub uid: Arc<str>,
    /// How often an object with this name was created after another one was gone.
    pub times: u32,
    pub concerned: bool,
}

#[derive(Debug)]
pub(super) struct Names(Recent<Name, Past>);

impl Names {
    pub(super) fn new() -> Self {
        Names(Recent::new(MOST_NAMES))
    }

    pub(super) fn gone(&mut self, name: Name, uid: &Arc<str>, concerned: bool) {
        match self.0.get_mut(&name) {
            Some(past) => past.uid = uid.clone(),
            None => self.0.set(name, Past { uid: uid.clone(), times: 0, concerned }),
        }
    }

    /// Counts an object that is created under a name. Returns what was there before.
    pub(super) fn made(&mut self, name: &Name) -> Option<&Past> {
        let past = self.0.get_mut(name)?;
        past.times += 1;
        Some(past)
    }
}

/// A kind, a namespace, and the uid of an owner that does not exist.
type Key = (String, String, String);

fn key(object: &Identity, owner: &Owner) -> Key {
    (object.kind.clone(), object.namespace.clone(), owner.uid.clone())
}

#[derive(Debug)]
struct Round {
    told: Loop,
    /// Whether an object of this round still exists.
    open: bool,
}

/// Objects that are made with an owner that does not exist, in rounds: one round ends when such an object is collected,
/// and the next begins with another one. A controller that makes many at once makes one round.
#[derive(Debug)]
pub(super) struct Loops {
    rounds: Recent<Key, Round>,
    /// Objects of rounds that are only counted.
    quiet: Recent<String, ()>,
}

impl Loops {
    pub(super) fn new() -> Self {
        Loops { rounds: Recent::new(MOST_OWNERS), quiet: Recent::new(MOST_OWNERS) }
    }

    /// An object was made, and none of its owners exists. Returns the loop if it is to be told.
    pub(super) fn made(
        &mut self,
        object: &Identity,
        owners: &[Owner],
        manager: Option<&String>,
        now: Millis,
    ) -> Option<Loop> {
        let owner = owners.first()?;
        if let OwnerState::SeenGoing { at, .. } = owner.state
            && now - at < LATE
        {
            return None;
        }
        let key = key(object, owner);
        if self.rounds.get(&key).is_none() {
            let told =
                Loop { object: object.clone(), owner: owner.clone(), times: 0, managers: Vec::new(), since: now };
            self.rounds.set(key.clone(), Round { told, open: false });
        }
        let Round { told, open } = self.rounds.get_mut(&key)?;
        if let Some(manager) = manager
            && told.managers.len() < MOST_MANAGERS
            && !told.managers.contains(manager)
        {
            told.managers.push(manager.clone());
        }
        (told.object, told.owner) = (object.clone(), owner.clone());
        let next = !std::mem::replace(open, true);
        told.times += u32::from(next);
        if told.times > TOLD && !told.times.is_power_of_two() {
            self.quiet.set(object.uid.clone(), ());
        }
        (next && told.times >= 2 && told.times.is_power_of_two()).then(|| told.clone())
    }

    /// An object was collected because none of these owners exists.
    pub(super) fn collected(&mut self, object: &Identity, owners: &[Owner]) {
        for owner in owners {
            if let Some(round) = self.rounds.get_mut(&key(object, owner)) {
                round.open = false;
            }
        }
    }

    /// Whether the object belongs to a round that is only counted.
    pub(super) fn is_quiet(&self, uid: &str) -> bool {
        self.quiet.get(&uid.to_owned()).is_some()
    }

    /// The loops so far, the worst first.
    pub(super) fn found(&self) -> Vec<Loop> {
        let told = self.rounds.iter().map(|(_, round)| &round.told).filter(|told| told.times >= 2);
        let mut found: Vec<Loop> = told.cloned().collect();
        found.sort_by(|a, b| b.times.cmp(&a.times).then_with(|| a.object.cmp(&b.object)));
        found
    }
}

/// A map of bounded size: the oldest entries go first. Setting a value again keeps the key's place in the order.
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
