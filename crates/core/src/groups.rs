//! Values by key.

use std::{borrow::Borrow, hash::Hash};

use rustc_hash::FxHashMap;

use crate::model::ObjectId;

/// Objects, or other values, by a key; those of a key in the order in which they came.
#[derive(Clone, Debug)]
pub(crate) struct Groups<K, V = ObjectId>(FxHashMap<K, Vec<V>>);

impl<K: Eq + Hash, V> Groups<K, V> {
    /// The values of a key.
    pub(crate) fn of<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> &[V]
    where
        K: Borrow<Q>,
    {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    /// All keys, each with its values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &[V])> {
        self.0.iter().map(|(key, values)| (key, values.as_slice()))
    }
}

impl<K, V> Default for Groups<K, V> {
    fn default() -> Self {
        Self(FxHashMap::default())
    }
}

impl<K: Eq + Hash, V> Extend<(K, V)> for Groups<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        for (key, value) in pairs {
            self.0.entry(key).or_default().push(value);
        }
    }
}

impl<K: Eq + Hash, V> FromIterator<(K, V)> for Groups<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let mut groups = Self::default();
        groups.extend(pairs);
        groups
    }
}
