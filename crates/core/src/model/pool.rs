//! Keeps each of many equal values once.

use std::{borrow::Borrow, hash::Hash, sync::Arc};

use rustc_hash::FxHashSet;

/// Values that are shared by all who have an equal one. It only grows.
#[derive(Debug)]
pub(crate) struct Pool<T: ?Sized>(FxHashSet<Arc<T>>);

impl<T: ?Sized> Clone for Pool<T> {
    fn clone(&self) -> Self {
        Pool(self.0.clone())
    }
}

impl<T: ?Sized> Default for Pool<T> {
    fn default() -> Self {
        Pool(FxHashSet::default())
    }
}

impl<T: ?Sized + Eq + Hash> Pool<T> {
    /// The shared value that equals this one, and whether it is new.
    pub(crate) fn share(&mut self, value: impl Borrow<T> + Into<Arc<T>>) -> (Arc<T>, bool) {
        if let Some(known) = self.0.get(value.borrow()) {
            return (known.clone(), false);
        }
        let value = value.into();
        self.0.insert(value.clone());
        (value, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_are_kept_once() {
        let mut pool: Pool<[u8]> = Pool::default();
        let (one, is_new) = pool.share(vec![1, 2]);
        assert!(is_new);
        let (again, is_new) = pool.share(vec![1, 2]);
        assert!(!is_new && Arc::ptr_eq(&one, &again));
        let (other, is_new) = pool.share(vec![1]);
        assert!(is_new && *other == [1]);
    }
}
