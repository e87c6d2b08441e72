//! What must go, may go and must stay, by the document of `reclaim`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::make::FOREIGN;

pub use crate::harness::text;

/// How long a controller may take for what is due, on a busy machine. It is waited for; nothing else depends on it.
pub const SLACK: i64 = 45;

/// What is predicted of one object.
#[derive(Clone, Debug)]
pub struct Expected {
    /// Not before this time; `None` if an event decides.
    pub earliest: Option<i64>,
    /// At this time at the latest, if the controllers begin at 0 and the objects of `after` are gone; `None` if that
    /// can't be said.
    latest: Option<Latest>,
    /// Whether it may stay.
    pub certain: bool,
    /// Whether it is gone then, or stays Terminating; `None` if that isn't certain.
    pub ends: Option<bool>,
    /// The uids whose end is the event.
    pub after: Vec<String>,
    /// As told, for messages.
    pub told: String,
}

#[derive(Clone, Copy, Debug)]
enum Latest {
    At(i64),
    /// So many seconds after the controllers began.
    AfterBegin(i64),
}

impl Expected {
    /// For either of two reasons: whichever comes first.
    fn or(self, other: Expected) -> Expected {
        let (first, second) = match (self.earliest, other.earliest) {
            (Some(one), Some(two)) if two < one => (other, self),
            (None, Some(_)) => (other, self),
            _ => (self, other),
        };
        let ends = if first.certain { first.ends } else { first.ends.filter(|_| first.ends == second.ends) };
        let told = format!("{}\nor {}", first.told, second.told);
        match first.certain {
            true => Expected { told, ends, ..first },
            // What must go for the second reason may have gone for the first.
            false => Expected { earliest: first.earliest, after: Vec::new(), told, ends, ..second },
        }
    }

    /// When it must be gone, for controllers that began at `begun`.
    pub fn must(&self, begun: i64) -> Option<i64> {
        if !self.certain {
            return None;
        }
        Some(match self.latest? {
            Latest::At(time) => time.max(begun),
            Latest::AfterBegin(seconds) => begun + seconds,
        })
    }
}

fn seconds(time: &Value) -> i64 {
    text(time).parse::<jiff::Timestamp>().unwrap_or_else(|error| panic!("{time}: {error}")).as_second()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// By uid. `foreign` says whether an object has a finalizer that nobody removes.
pub fn expected(document: &Value, foreign: impl Fn(&str) -> bool) -> BTreeMap<String, Expected> {
    let now = seconds(&document["time"]);
    let mut all: BTreeMap<String, Expected> = BTreeMap::new();
    for removal in items(&document["removals"]) {
        let told = format!("{removal}");
        let certain = removal["certain"] == true;
        let reason = &removal["reasons"][0];
        let when = &reason["when"];
        let (earliest, latest, after) = match text(&when["kind"]) {
            "Now" => (Some(now), Some(Latest::AfterBegin(0)), Vec::new()),
            "At" => (Some(seconds(&when["time"])), Some(Latest::At(seconds(&when["time"]))), Vec::new()),
            "Pass" => {
                let [from, until] = ["from", "until"].map(|key| seconds(&when[key]));
                let every = when["everySeconds"].as_i64().expect("a number");
                // The first look is when the controller begins; some removals take several looks.
                let latest = match () {
                    () if until - from > every => Some(Latest::AfterBegin(until - now)),
                    () if from <= now => Some(Latest::AfterBegin(0)),
                    // Whether a look comes in between isn't known.
                    () => None,
                };
                (Some(from), latest, Vec::new())
            }
            _ => {
                let after: Vec<String> = items(&when["gone"]).map(|object| text(&object["uid"]).to_owned()).collect();
                (None, (!after.is_empty()).then_some(Latest::AfterBegin(0)), after)
            }
        };
        let of = |ends: Option<bool>, certain: bool| Expected {
            earliest,
            latest,
            certain,
            ends,
            after: after.clone(),
            told: told.clone(),
        };
        let end = match text(&removal["end"]) {
            "Gone" => Some(true),
            "Terminating" => Some(false),
            _ => None,
        };
        let mut goes = |uid: &Value, expected: Expected| {
            let known = all.remove(text(uid));
            let expected = match known {
                Some(known) => known.or(expected),
                None => expected,
            };
            all.insert(text(uid).to_owned(), expected);
        };
        goes(&removal["object"]["uid"], of(end, certain));
        for taken in items(&removal["takes"]) {
            let uid = &taken["uid"];
            let ends = !items(&removal["heldDependents"]).any(|held| held["uid"] == *uid);
            assert_eq!(ends, !foreign(text(uid)), "{FOREIGN} holds it: {removal}");
            goes(uid, of(Some(ends), certain));
        }
        for taken in items(&removal["mayTake"]) {
            goes(&taken["uid"], of(None, false));
        }
    }
    all
}
