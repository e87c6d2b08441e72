//! Lists a resource again where its watch fails, and finds out what has changed.

use std::time::{Duration, Instant};

use rustc_hash::FxHashMap;
use tokio::sync::watch::Receiver;

use crate::{
    cluster::{answer::Answer, failure::Failure, request::METADATA_LIST, retry},
    model::{ListRecord, ObjectEvent, RawObject, ResourceId, Snapshot, is_older},
};

use super::{
    Coverage, Doubts,
    position::{ENDS_AT_ONCE, End, Why, is_final},
    stream::Watch,
};

/// After this many useless streams in a row, lists tell what the watch doesn't. A single failure is soon over, and a
/// list is expensive.
const TRIES_TO_A_LIST: u32 = 3;
/// The pause between two lists: it doubles while nothing changes.
const PAUSES: (Duration, Duration) = retry::BETWEEN_LISTS_OF_A_PASS;
/// The same if somebody waits for a list.
const SHORTEST_PAUSE: Duration = Duration::from_millis(500);
/// How many lists are read before a watch that is refused is tried again.
const LISTS_TO_A_TRY: u32 = 12;

/// What is known of a resource's objects, to compare lists with.
pub(super) struct Lists {
    known: FxHashMap<String, Known>,
    /// Its resource, as objects name it.
    resource: ResourceId,
    /// When a list is wanted that begins after this time.
    wanted: Receiver<Option<Instant>>,
    doubts: Receiver<Doubts>,
    /// The last doubt that a list has answered.
    answered: Option<Instant>,
    /// When the last list began.
    last: Option<Instant>,
    pause: Duration,
    /// How many lists in a row have failed.
    failed: u32,
    /// Whether it was reported that the watch fails, and that lists fail, too.
    told: bool,
    lost: bool,
}

struct Known {
    namespace: String,
    name: String,
    version: String,
}

impl Lists {
    /// What the snapshot knows of a list.
    pub(super) fn of(
        snapshot: &Snapshot,
        list: &ListRecord,
        wanted: Receiver<Option<Instant>>,
        doubts: Receiver<Doubts>,
    ) -> Self {
        let resource = snapshot.resources.picked(list.resource);
        let is_listed = |namespace: &str| list.namespace.as_deref().is_none_or(|listed| listed == namespace);
        let objects = snapshot.objects().map(|(_, object)| object);
        let of_it = objects
            .filter(|object| object.resource == resource && is_listed(snapshot.text(object.namespace)))
            .map(|object| {
                let text = |symbol| snapshot.text(symbol).to_owned();
                let known = Known {
                    namespace: text(object.namespace),
                    name: text(object.name),
                    version: object.resource_version.text(&snapshot.strings).into_owned(),
                };
                (text(object.uid), known)
            });
        let known = of_it.collect();
        let (answered, last, failed) = (None, None, 0);
        Lists { known, resource, wanted, doubts, answered, last, pause: PAUSES.0, failed, told: false, lost: false }
    }

    /// Takes in an event of the watch.
    pub(super) fn see(&mut self, object: &RawObject<'_>, gone: bool) {
        if gone {
            self.known.remove(&*object.uid);
        } else {
            let text = |text: &str| text.to_owned();
            let known = Known {
                namespace: text(&object.namespace),
                name: text(&object.name),
                version: text(&object.resource_version),
            };
            self.known.insert(text(&object.uid), known);
        }
    }

    /// Waits until the watch has to show that it works.
    pub(super) async fn doubted(&self) {
        let mut doubts = self.doubts.clone();
        // An error: the sender lives as long as the watches.
        drop(doubts.wait_for(|doubts| doubts.get(&self.resource) > self.answered.as_ref()).await);
        if self.failed > 0 {
            tokio::time::sleep(self.pause).await;
        }
    }

    /// Records that a list failed.
    fn fail(&mut self, failure: &Failure, number: usize) {
        self.failed += 1;
        self.pause = retry::pause_for_ever(Some(failure), self.failed, number);
    }

    /// The events that lead to a list in this version, each object with whether it is gone: those that are gone come
    /// first, because others may have taken their names.
    fn compare(&self, listed: Vec<RawObject<'static>>, version: &str) -> Vec<(RawObject<'static>, bool)> {
        let there: FxHashMap<&str, &RawObject<'_>> = listed.iter().map(|object| (&*object.uid, object)).collect();
        let is_gone = |(uid, known): &(&String, &Known)| {
            // A look-up may have found what is younger than the list.
            !there.contains_key(uid.as_str()) && !is_older(version, &known.version)
        };
        let mut events: Vec<(RawObject<'static>, bool)> = self
            .known
            .iter()
            .filter(is_gone)
            .map(|(uid, known)| {
                let object = RawObject {
                    uid: uid.clone().into(),
                    namespace: known.namespace.clone().into(),
                    name: known.name.clone().into(),
                    resource_version: version.to_owned().into(),
                    ..RawObject::default()
                };
                (object, true)
            })
            .collect();
        let is_news = |object: &RawObject<'_>| {
            self.known.get(&*object.uid).is_none_or(|known| {
                known.version != object.resource_version && !is_older(&object.resource_version, &known.version)
            })
        };
        drop(there);
        events.extend(listed.into_iter().filter(is_news).map(|object| (object, false)));
        events
    }

    /// Waits until somebody wants a list.
    pub(super) async fn wished(&self) {
        let mut wanted = self.wanted.clone();
        // An error: the sender lives as long as the watches.
        drop(wanted.wait_for(|wanted| *wanted > self.last).await);
    }

    fn is_wished(&self) -> bool {
        *self.wanted.borrow() > self.last
    }

    /// Waits for the time of the next list. A server that has refused one gets the time that it asks for.
    async fn rest(&self) {
        if self.failed > 0 {
            return tokio::time::sleep(self.pause).await;
        }
        let begun = Instant::now();
        tokio::select! {
            () = tokio::time::sleep(self.pause) => return,
            () = self.wished() => {}
        }
        tokio::time::sleep(SHORTEST_PAUSE.saturating_sub(begun.elapsed())).await;
    }
}

impl Watch {
    /// Watches, and lists where the watch fails, until the task is aborted: no change is missed.
    pub(super) async fn run_or_list(mut self) {
        let (mut tried, mut last_reason) = (0, None);
        loop {
            let End { useful, why } = self.follow().await;
            if self.is_silent {
                return self.only_list().await;
            }
            if useful {
                (tried, last_reason) = (0, None);
            }
            let (reason, expired, failure) = match why {
                Why::Over | Why::Silent if useful => continue,
                Why::Over | Why::Silent => (ENDS_AT_ONCE.to_owned(), false, None),
                Why::Expired(reason) => (reason, true, None),
                Why::Failed(failure) => {
                    // That it isn't answered for a moment explains less than the failures before.
                    let before = last_reason.take().filter(|_| matches!(failure, Failure::TimedOut(_)));
                    (before.unwrap_or_else(|| failure.to_string()), false, Some(failure))
                }
            };
            last_reason = Some(reason.clone());
            if !std::mem::replace(&mut self.down, true) {
                self.inbox.cover(self.resource, self.namespace.as_deref(), Coverage::Listed(None));
            }
            tried += 1;
            let pause = retry::pause_for_ever(failure.as_ref(), tried, self.position.number);
            let again = Instant::now() + pause;
            let refused = failure.as_ref().is_some_and(is_final);
            let keeps_failing = refused || tried >= TRIES_TO_A_LIST || pause > PAUSES.1;
            let wished = self.lists.as_ref().is_some_and(Lists::is_wished);
            if keeps_failing {
                self.tell_listed(reason);
            } else if !expired && !wished {
                tokio::time::sleep(pause).await;
                continue;
            }
            let mut lists = 0;
            while lists == 0 || keeps_failing && (refused && lists < LISTS_TO_A_TRY || Instant::now() < again) {
                self.list_again().await;
                lists += 1;
                if keeps_failing && let Some(lists) = &self.lists {
                    lists.rest().await;
                }
            }
        }
    }

    /// Lists until the task is aborted: the next stream could be as silent, and nothing would show it.
    async fn only_list(&mut self) {
        self.inbox.cover(self.resource, self.namespace.as_deref(), Coverage::Listed(None));
        self.tell_listed("it is silent although objects have changed".to_owned());
        loop {
            self.list_again().await;
            if let Some(lists) = &self.lists {
                lists.rest().await;
            }
        }
    }

    /// Reports once that lists take the watch's place.
    fn tell_listed(&mut self, reason: String) {
        if let Some(lists) = &mut self.lists
            && !std::mem::replace(&mut lists.told, true)
        {
            self.inbox.poll(self.resource, reason);
        }
    }

    /// Lists the resource, and reports what has changed.
    async fn list_again(&mut self) {
        let begun;
        let listed = {
            // The semaphore is never closed.
            let _beginning = self.beginning.acquire().await;
            begun = Instant::now();
            if let Some(lists) = &mut self.lists {
                lists.last = Some(begun);
            }
            self.list().await
        };
        let Some(lists) = &mut self.lists else { return };
        let place = (self.resource, self.namespace.as_deref());
        match listed {
            Ok((version, objects)) => {
                let events = lists.compare(objects, &version);
                events.iter().for_each(|(object, gone)| lists.see(object, *gone));
                let calm = std::mem::take(&mut lists.failed) == 0 && events.is_empty();
                lists.pause = if calm { (lists.pause * 2).min(PAUSES.1) } else { PAUSES.0 };
                for (object, gone) in events {
                    self.inbox.see(ObjectEvent { resource: self.resource, object, gone });
                }
                self.position.version = version;
                self.inbox.cover(place.0, place.1, Coverage::Listed(Some(begun)));
            }
            Err(failure) => {
                lists.fail(&failure, self.position.number);
                if !std::mem::replace(&mut lists.lost, true) {
                    self.lose(failure.to_string(), false);
                }
            }
        }
    }

    /// Whether a list tells something that the watch has not told. Answers the present doubt, unless the list fails.
    pub(super) async fn list_tells_more(&mut self) -> bool {
        // The semaphore is never closed.
        let beginning = self.beginning.clone();
        let _beginning = beginning.acquire().await;
        let begun = Instant::now();
        let listed = self.list().await;
        let Some(lists) = &mut self.lists else { return false };
        match listed {
            Ok((version, objects)) => {
                (lists.answered, lists.failed, lists.pause) = (Some(begun), 0, PAUSES.0);
                !lists.compare(objects, &version).is_empty()
            }
            Err(failure) => {
                lists.fail(&failure, self.position.number);
                false
            }
        }
    }

    async fn list(&self) -> Result<(String, Vec<RawObject<'static>>), Failure> {
        let read = |answer: &Answer, objects: &mut Vec<RawObject<'static>>| {
            answer.read_list(|object| {
                // No owner reference can point to it, or no delete can name it.
                if !object.uid.is_empty() && !object.name.is_empty() {
                    objects.push(object.clone().into_owned());
                }
            })
        };
        let (objects, version) = self.connection.get_pages(&self.path, "", METADATA_LIST, read).await?;
        if version.is_empty() {
            return Err(Failure::Malformed("a list without a resourceVersion".to_owned()));
        }
        if is_older(&version, &self.position.version) {
            return Err(Failure::Malformed("a list that is older than what was known before it".to_owned()));
        }
        Ok((version, objects))
    }
}
