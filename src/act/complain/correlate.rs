//! Which complaint becomes an event of its own, and which only makes one count more: as the correlator of client-go has
//! it.

use std::num::NonZeroUsize;

use jiff::Timestamp;
use lru::LruCache;
use rustc_hash::FxHashSet;

use crate::model::Identity;

/// How many of each are remembered; those that came last.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4096).expect("more than none");
/// From so many different complaints about one object on, they are told as one.
const DIFFERENT: usize = 10;
/// A complaint that comes later than this many seconds after the last about the object is the first again.
const LONG_AGO: i64 = 600;
/// How many complaints about one object are told at once.
const BURST: f64 = 25.0;
/// After how many seconds there may be one more.
const ONE_MORE_AFTER: f64 = 300.0;

/// An event as it is to be after a complaint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: String,
    pub message: String,
    /// How often it has been so, from one.
    pub count: u64,
    pub first: Timestamp,
    pub last: Timestamp,
    /// Whether it tells of several different complaints.
    pub combined: bool,
}

/// What was complained of. It knows no more than it may, whatever it is told.
#[derive(Debug)]
pub(super) struct Correlator {
    entries: LruCache<(Identity, Option<String>), Entry>,
    different: LruCache<Identity, (FxHashSet<String>, Timestamp)>,
    tokens: LruCache<Identity, (f64, Timestamp)>,
}

impl Correlator {
    pub(super) fn new() -> Self {
        Correlator {
            entries: LruCache::new(REMEMBERED),
            different: LruCache::new(REMEMBERED),
            tokens: LruCache::new(REMEMBERED),
        }
    }

    /// Takes a complaint about an object. Says what the event is to be now; nothing where it is one too many. It is a
    /// new event if it counts one, and otherwise one that should be there.
    pub(super) fn take(&mut self, about: &Identity, message: &str, now: Timestamp) -> Option<Entry> {
        let combined = self.too_many_different(about, message, now);
        let message = if combined { format!("(combined from similar events): {message}") } else { message.to_owned() };
        // All that are combined are one event, whatever they say.
        let key = (about.clone(), (!combined).then(|| message.clone()));
        let entry = match self.entries.get_mut(&key) {
            Some(entry) => {
                *entry = Entry { message, count: entry.count + 1, last: now, ..entry.clone() };
                entry.clone()
            }
            None => {
                let entry = Entry { name: event_name(about, now), message, count: 1, first: now, last: now, combined };
                self.entries.put(key, entry.clone());
                entry
            }
        };
        self.may_be_told(about, now).then_some(entry)
    }

    fn too_many_different(&mut self, about: &Identity, message: &str, now: Timestamp) -> bool {
        let (different, last) = self.different.get_or_insert_mut(about.clone(), || (FxHashSet::default(), now));
        if now.as_second() - last.as_second() > LONG_AGO {
            different.clear();
        }
        *last = now;
        different.insert(message.to_owned());
        if different.len() < DIFFERENT {
            return false;
        }
        // It need not know them all to know that there are too many.
        if let Some(any) = different.iter().next().cloned() {
            different.remove(&any);
        }
        true
    }

    fn may_be_told(&mut self, about: &Identity, now: Timestamp) -> bool {
        let (tokens, last) = self.tokens.get_or_insert_mut(about.clone(), || (BURST, now));
        // A clock that was put back brings nothing.
        let passed = now.duration_since(*last).as_secs_f64().max(0.0);
        *tokens = (*tokens + passed / ONE_MORE_AFTER).min(BURST);
        *last = now;
        let one = *tokens >= 1.0;
        if one {
            *tokens -= 1.0;
        }
        one
    }
}

/// The object's name and a moment. Some names are none that an event could begin with (`system:node`); its uid is then.
fn event_name(about: &Identity, now: Timestamp) -> String {
    let nanoseconds = now.as_nanosecond();
    let name = format!("{}.{nanoseconds:x}", about.name);
    if is_subdomain(&name) {
        return name;
    }
    let by_uid = format!("{}.{nanoseconds:x}", about.uid.to_ascii_lowercase());
    if is_subdomain(&by_uid) { by_uid } else { format!("invalid.{nanoseconds:x}") }
}

/// Whether most kinds of objects may be named like this (RFC 1123).
fn is_subdomain(name: &str) -> bool {
    let label = |label: &str| {
        let inside = label.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        inside && !label.is_empty() && !label.starts_with('-') && !label.ends_with('-')
    };
    name.len() <= 253 && name.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str) -> Identity {
        Identity {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            uid: "u-1".to_owned(),
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn the_same_again_counts() {
        let mut correlator = Correlator::new();
        let first = correlator.take(&pod("a"), "why", at(10)).unwrap();
        assert_eq!(
            first,
            Entry {
                name: "a.2540be400".to_owned(),
                message: "why".to_owned(),
                count: 1,
                first: at(10),
                last: at(10),
                combined: false
            }
        );
        assert_eq!(correlator.take(&pod("a"), "why", at(3610)).unwrap(), Entry { count: 2, last: at(3610), ..first });
        assert_eq!(correlator.take(&pod("b"), "why", at(3610)).unwrap().count, 1);
        assert_eq!(correlator.take(&pod("a"), "why not", at(3610)).unwrap().count, 1);
    }

    #[test]
    fn too_many_different_are_one() {
        let mut correlator = Correlator::new();
        for number in 1..10 {
            assert!(!correlator.take(&pod("a"), &format!("{number}"), at(10)).unwrap().combined);
        }
        let combined = correlator.take(&pod("a"), "10", at(20)).unwrap();
        assert_eq!(
            (combined.count, combined.combined, combined.message.as_str()),
            (1, true, "(combined from similar events): 10")
        );
        let again = correlator.take(&pod("a"), "11", at(30)).unwrap();
        assert_eq!(
            again,
            Entry { count: 2, last: at(30), message: "(combined from similar events): 11".to_owned(), ..combined }
        );
        // After ten minutes of silence they are different again.
        assert!(!correlator.take(&pod("a"), "12", at(631)).unwrap().combined);
    }

    #[test]
    fn one_object_is_not_complained_of_without_end() {
        let mut correlator = Correlator::new();
        let describe = |correlator: &mut Correlator, second| {
            correlator.take(&pod("a"), "why", at(second)).map(|entry| entry.count)
        };
        for number in 1..=25 {
            assert_eq!(describe(&mut correlator, 0), Some(number));
        }
        assert_eq!(describe(&mut correlator, 1), None);
        assert_eq!(describe(&mut correlator, -100), None);
        assert_eq!(correlator.take(&pod("b"), "why", at(1)).map(|entry| entry.count), Some(1));
        // What is not told counts.
        assert_eq!(describe(&mut correlator, 301), Some(28));
        assert_eq!(describe(&mut correlator, 302), None);
    }

    #[test]
    fn not_everything_is_remembered() {
        let mut correlator = Correlator::new();
        for number in 0..REMEMBERED.get() * 2 {
            correlator.take(&pod(&format!("p{number}")), "why", at(1));
        }
        let all = [correlator.entries.len(), correlator.different.len(), correlator.tokens.len()];
        assert_eq!(all, [REMEMBERED.get(); 3]);
        assert_eq!(correlator.take(&pod("p0"), "why", at(2)).unwrap().count, 1);
    }

    #[test]
    fn an_event_has_a_name_that_is_allowed() {
        assert_eq!(event_name(&pod("web-0"), at(1)), "web-0.3b9aca00");
        for odd in ["system:node", "A", "-a", &"a".repeat(250)] {
            assert_eq!(event_name(&pod(odd), at(1)), "u-1.3b9aca00", "{odd}");
        }
        assert_eq!(event_name(&Identity { uid: "?".to_owned(), ..pod("?") }, at(1)), "invalid.3b9aca00");
    }
}
