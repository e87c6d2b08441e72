//! Lists a resource again where its watch fails, and finds out what has changed since: for whoever has a list of it
//! already, and waits for what has changed.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use rustc_hash::FxHashMap;
use tokio::{sync::watch::Receiver, time::sleep};

use crate::cluster::{error::Failure, pages::Pages, request::METADATA_LIST, retry};
use gc_core::model::{ListRecord, RawObject, ResourceId, Snapshot, is_older};

use super::{
    WatchEvent,
    position::{ENDS_AT_ONCE, End, Why, is_final},
    task::{Place, WatchTask},
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

/// Resources whose watches have to show that they work, each since when.
pub(super) type Doubts = BTreeMap<ResourceId, Instant>;

/// What is known of a resource's objects, to compare lists with: all that was told.
pub(super) struct Lists {
    known: FxHashMap<String, Known>,
    /// Its resource, as objects name it.
    resource: ResourceId,
    /// When a list is wanted that begins after this time.
    wanted: Receiver<Option<Instant>>,
    doubts: Receiver<Doubts>,
    /// The last doubt that a list has answered.
    answered: Option<Instant>,
    /// When the last list began that was read in the watch's place.
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

/// A list in this version, and the events that lead to it, each object with whether it is gone.
struct Compared {
    version: String,
    events: Vec<(RawObject<'static>, bool)>,
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
        let (known, answered, last, failed) = (FxHashMap::default(), None, None, 0);
        let mut lists = Lists {
            known,
            resource,
            wanted,
            doubts,
            answered,
            last,
            pause: PAUSES.0,
            failed,
            told: false,
            lost: false,
        };
        let is_listed = |namespace: &str| list.namespace.as_deref().is_none_or(|listed| listed == namespace);
        for (id, _) in snapshot
            .objects()
            .filter(|(_, object)| object.resource == resource && is_listed(snapshot.text(object.namespace)))
        {
            lists.see(&snapshot.raw(id), false);
        }
        lists
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
            sleep(self.pause).await;
        }
    }

    /// The events that lead to a list: those that are gone come first, because others may have taken their names.
    fn compare(&self, listed: Vec<RawObject<'static>>, version: String) -> Compared {
        let there: FxHashMap<&str, &RawObject<'_>> = listed.iter().map(|object| (&*object.uid, object)).collect();
        let is_gone = |(uid, known): &(&String, &Known)| {
            // A look-up may have found what is younger than the list.
            !there.contains_key(uid.as_str()) && !is_older(&version, &known.version)
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
                    resource_version: version.clone().into(),
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
        Compared { version, events }
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
            return sleep(self.pause).await;
        }
        let begun = Instant::now();
        tokio::select! {
            () = sleep(self.pause) => return,
            () = self.wished() => {}
        }
        sleep(SHORTEST_PAUSE.saturating_sub(begun.elapsed())).await;
    }
}

impl WatchTask {
    /// Watches, and lists where the watch fails, until the task is aborted. No change is missed, unless lists fail,
    /// too: that is reported as lost.
    pub(super) async fn run_or_list(mut self, mut lists: Lists) {
        let mut last_reason = None;
        loop {
            let End { useful, why } = self.stream(Some(&mut lists)).await;
            if useful {
                (self.in_vain, last_reason) = (0, None);
            }
            let is_expired = matches!(why, Why::Expired(_));
            // How many lists are read at least before the watch is tried again.
            let (reason, failure, most) = match why {
                Why::Over | Why::Silent if useful => continue,
                Why::Over | Why::Silent => (ENDS_AT_ONCE.to_owned(), None, 0),
                // The next stream could be as silent, and nothing would show it.
                Why::HeldBack => ("it is silent although objects have changed".to_owned(), None, u32::MAX),
                Why::Expired(reason) => (reason, None, 0),
                Why::Failed(failure) => {
                    // That it isn't answered for a moment explains less than the failures before.
                    let before = last_reason.take().filter(|_| matches!(failure, Failure::TimedOut(_)));
                    let most = if is_final(&failure) { LISTS_TO_A_TRY } else { 0 };
                    (before.unwrap_or_else(|| failure.to_string()), Some(failure), most)
                }
            };
            last_reason = Some(reason.clone());
            if self.failing.is_none() {
                self.failing = Some(reason.clone());
                self.sink.tell(WatchEvent::Failing { reason: reason.clone() }).await;
            }
            self.in_vain += 1;
            let pause = retry::pause_for_ever(failure.as_ref(), self.in_vain, self.position.number);
            let again = Instant::now() + pause;
            let keeps_failing = most > 0 || self.in_vain >= TRIES_TO_A_LIST || pause > PAUSES.1;
            if keeps_failing && !std::mem::replace(&mut lists.told, true) {
                self.sink.tell(WatchEvent::Polled { reason: reason.clone(), begun: None }).await;
            } else if !keeps_failing && !is_expired && !lists.is_wished() {
                sleep(pause).await;
                continue;
            }
            let mut read = 0;
            while read == 0 || keeps_failing && (read < most || Instant::now() < again) {
                self.list_again(&mut lists, &reason).await;
                read += 1;
                if keeps_failing {
                    lists.rest().await;
                }
            }
        }
    }

    /// Lists the resource, and reports what has changed.
    async fn list_again(&mut self, lists: &mut Lists, reason: &str) {
        let (begun, listed) = self.list(lists).await;
        lists.last = Some(begun);
        match listed {
            Ok(Compared { version, events }) => {
                let calm = std::mem::take(&mut lists.failed) == 0 && events.is_empty();
                lists.pause = if calm { (lists.pause * 2).min(PAUSES.1) } else { PAUSES.0 };
                for (object, gone) in events {
                    lists.see(&object, gone);
                    self.sink.tell(WatchEvent::Seen { object: Box::new(object), gone }).await;
                }
                self.position.version = version;
                self.sink.tell(WatchEvent::Polled { reason: reason.to_owned(), begun: Some(begun) }).await;
            }
            Err(reason) if !std::mem::replace(&mut lists.lost, true) => self.lose(reason, false).await,
            Err(_) => {}
        }
    }

    /// Whether a list tells something that the watch has not told. Answers the present doubt, unless the list fails.
    pub(super) async fn list_tells_more(&mut self, lists: &mut Lists) -> bool {
        let (begun, listed) = self.list(lists).await;
        let Ok(Compared { events, .. }) = listed else { return false };
        (lists.answered, lists.failed, lists.pause) = (Some(begun), 0, PAUSES.0);
        !events.is_empty()
    }

    /// Reads a list that is no older than what is known. Returns when it began, and what it tells, or why it failed.
    async fn list(&mut self, lists: &mut Lists) -> (Instant, Result<Compared, String>) {
        let mut place = Place::take(&self.places.lists).await;
        let begun = Instant::now();
        let read = async {
            let path = self.position.path.clone();
            let mut pages = Pages::of(&path, "", METADATA_LIST);
            let mut objects = Vec::new();
            loop {
                let Some((more, version)) = self.page(&mut pages, &mut place).await? else {
                    objects.clear();
                    continue;
                };
                objects.extend(more);
                match version {
                    None => {}
                    Some(version) if is_older(&version, &self.position.version) => {
                        let why = "a list that is older than what was known before it";
                        return Err(Failure::Malformed(why.to_owned()));
                    }
                    Some(version) => return Ok(lists.compare(objects, version)),
                }
            }
        };
        let read: Result<Compared, Failure> = read.await;
        let read = read.map_err(|failure| {
            lists.failed += 1;
            lists.pause = retry::pause_for_ever(Some(&failure), lists.failed, self.position.number);
            failure.to_string()
        });
        (begun, read)
    }
}
