//! Decides which invalid reference gets its own event, and which only increases a count, as client-go's correlator
//! does.

use std::num::NonZeroUsize;

use jiff::Timestamp;
use lru::LruCache;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::Identity;

/// How many objects are remembered: the most recent.
const REMEMBERED: NonZeroUsize = NonZeroUsize::new(4096).expect("more than none");
/// How many events are remembered per object.
const EVENTS: usize = 64;
/// From this many different messages about one object on, they share one event.
const DIFFERENT: usize = 10;
/// After this many seconds without a message about the object, messages are counted from one again.
const LONG_AGO: i64 = 600;
/// How many events about one object may be written at once.
const BURST: f64 = 25.0;
/// After how many seconds one more is allowed.
const ONE_MORE_AFTER: f64 = 300.0;

/// An event to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub name: String,
    pub message: String,
    /// How often it has happened, from one.
    pub count: i32,
    pub first: Timestamp,
    pub last: Timestamp,
    /// Whether it combines several different messages.
    pub combined: bool,
}

/// What was recorded of each object, up to the limits above.
#[derive(Debug)]
pub(super) struct Correlator(LruCache<Identity, History>);

/// What was recorded of one object.
#[derive(Debug)]
struct History {
    /// By message; none for the event that combines different messages.
    events: FxHashMap<Option<String>, Entry>,
    different: FxHashSet<String>,
    /// How many events may be written now.
    tokens: f64,
    last: Timestamp,
}

impl Correlator {
    pub(super) fn new() -> Self {
        Correlator(LruCache::new(REMEMBERED))
    }

    /// Records a message about an object, and returns the event to write; none over the limit. The event is new if its
    /// count is one; otherwise, it should already exist.
    pub(super) fn take(&mut self, about: &Identity, message: &str, now: Timestamp) -> Option<Entry> {
        let new =
            || History { events: FxHashMap::default(), different: FxHashSet::default(), tokens: BURST, last: now };
        let history = self.0.get_or_insert_mut(about.clone(), new);
        let combined = history.has_too_many_different(message, now);
        let message = if combined { format!("(combined from similar events): {message}") } else { message.to_owned() };
        let key = (!combined).then(|| message.clone());
        if history.events.len() >= EVENTS && !history.events.contains_key(&key) {
            history.events.clear();
        }
        let first = || Entry {
            name: event_name(about, now),
            message: String::new(),
            count: 0,
            first: now,
            last: now,
            combined,
        };
        let entry = history.events.entry(key).or_insert_with(first);
        (entry.message, entry.last) = (message, now);
        entry.count = entry.count.saturating_add(1);
        let entry = entry.clone();
        history.takes_token(now).then_some(entry)
    }
}

impl History {
    fn has_too_many_different(&mut self, message: &str, now: Timestamp) -> bool {
        if now.as_second() - self.last.as_second() > LONG_AGO {
            self.different.clear();
        }
        self.different.insert(message.to_owned());
        if self.different.len() < DIFFERENT {
            return false;
        }
        // A few are enough to know that there are too many.
        if let Some(any) = self.different.iter().next().cloned() {
            self.different.remove(&any);
        }
        true
    }

    fn takes_token(&mut self, now: Timestamp) -> bool {
        // A clock that was set back adds no tokens.
        let passed = now.duration_since(self.last).as_secs_f64().max(0.0);
        self.tokens = (self.tokens + passed / ONE_MORE_AFTER).min(BURST);
        self.last = now;
        let one = self.tokens >= 1.0;
        if one {
            self.tokens -= 1.0;
        }
        one
    }
}

/// The object's name and a timestamp. If an event's name can't begin with that name (`system:node`), its uid.
fn event_name(about: &Identity, now: Timestamp) -> String {
    let nanoseconds = now.as_nanosecond();
    let name = format!("{}.{nanoseconds:x}", about.name);
    if is_subdomain(&name) {
        return name;
    }
    let by_uid = format!("{}.{nanoseconds:x}", about.uid.to_ascii_lowercase());
    if is_subdomain(&by_uid) { by_uid } else { format!("invalid.{nanoseconds:x}") }
}

/// Whether this is a name that most kinds allow (RFC 1123).
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
        // After ten minutes of silence, messages are separate events again.
        assert!(!correlator.take(&pod("a"), "12", at(631)).unwrap().combined);
    }

    #[test]
    fn events_about_one_object_are_limited() {
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
        // Events over the limit still count.
        assert_eq!(describe(&mut correlator, 301), Some(28));
        assert_eq!(describe(&mut correlator, 302), None);
    }

    #[test]
    fn not_everything_is_remembered() {
        let mut correlator = Correlator::new();
        for number in 0..REMEMBERED.get() * 2 {
            correlator.take(&pod(&format!("p{number}")), "why", at(1));
        }
        assert_eq!(correlator.0.len(), REMEMBERED.get());
        assert_eq!(correlator.take(&pod("p0"), "why", at(2)).unwrap().count, 1);
        for number in 0..EVENTS as i64 * 20 {
            correlator.take(&pod("a"), &number.to_string(), at(number * 601));
        }
        assert!(correlator.0.get(&pod("a")).unwrap().events.len() <= EVENTS);
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
