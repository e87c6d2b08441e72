//! Values of objects in as few bytes as they need: a snapshot may have millions.

use std::{
    borrow::{Borrow, Cow},
    hash::Hash,
    sync::Arc,
};

use rustc_hash::FxHashSet;

use super::strings::{Strings, Symbol};

/// A whole number, such as a Unix time, or none, in 8 bytes. None comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MaybeSeconds(i64);

impl MaybeSeconds {
    /// No number that an object has.
    const NONE: i64 = i64::MIN;

    pub fn get(self) -> Option<i64> {
        (self.0 != Self::NONE).then_some(self.0)
    }

    pub fn is_some(self) -> bool {
        self.get().is_some()
    }
}

impl Default for MaybeSeconds {
    fn default() -> Self {
        MaybeSeconds(Self::NONE)
    }
}

impl From<Option<i64>> for MaybeSeconds {
    fn from(seconds: Option<i64>) -> Self {
        MaybeSeconds(seconds.unwrap_or(Self::NONE))
    }
}

/// A resourceVersion. The API server writes a decimal number, different for each object; what else a dump may contain
/// is kept as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceVersion(u64);

impl ResourceVersion {
    /// The last bit tells a number from a symbol.
    const IS_NUMBER: u64 = 1;

    pub fn of(strings: &mut Strings, text: &str) -> Self {
        let canonical = match text.as_bytes() {
            [b'0'] => true,
            [b'1'..=b'9', rest @ ..] => rest.iter().all(u8::is_ascii_digit),
            _ => false,
        };
        match text.parse::<u64>() {
            Ok(number) if canonical && number <= u64::MAX >> 1 => ResourceVersion(number << 1 | Self::IS_NUMBER),
            _ => ResourceVersion((strings.intern(text).index() as u64) << 1),
        }
    }

    /// The number, unless it is none.
    pub fn number(self) -> Option<u64> {
        (self.0 & Self::IS_NUMBER != 0).then_some(self.0 >> 1)
    }

    /// As it was written; empty if the source has none.
    pub fn text(self, strings: &Strings) -> Cow<'_, str> {
        match self.number() {
            Some(number) => Cow::Owned(number.to_string()),
            None => Cow::Borrowed(strings.text(Symbol::of_index((self.0 >> 1) as usize))),
        }
    }
}

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
    fn every_text_comes_back() {
        let mut strings = Strings::default();
        let texts =
            ["", "0", "1", "1000001", "00", "-1", "+1", " 1", "x", "9223372036854775807", "9223372036854775808"];
        for text in texts {
            let version = ResourceVersion::of(&mut strings, text);
            assert_eq!(version.text(&strings), text);
            assert_eq!(ResourceVersion::of(&mut strings, text), version);
        }
        assert_eq!(ResourceVersion::default().text(&strings), "");
        assert_eq!(ResourceVersion::of(&mut strings, "12").number(), Some(12));
        assert_eq!(ResourceVersion::of(&mut strings, "012").number(), None);
    }

    #[test]
    fn every_number_comes_back() {
        for seconds in [None, Some(0), Some(-1), Some(i64::MAX), Some(i64::MIN + 1)] {
            assert_eq!(MaybeSeconds::from(seconds).get(), seconds);
        }
    }

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
