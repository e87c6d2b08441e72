//! One task that watches one resource: streams, one after another, from a position; and lists of it, page by page. Here
//! is what reports changes as lost that a stream doesn't tell; [`lists`](super::lists) and [`anew`](super::anew) find
//! them out.

use std::{
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use http::StatusCode;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc::Sender},
    time::{sleep, timeout},
};

use crate::cluster::{error::Failure, pages::Pages, request::METADATA_LIST, retry};
use gc_core::model::RawObject;

use super::{
    WatchEvent,
    inbox::{Inbox, WatchedList},
    lists::Lists,
    position::{ENDS_AT_ONCE, End, Line, Position, USEFUL, Why, is_final},
};

/// A server that has not begun to answer by then counts as failing, if lists can take the watch's place.
const LONGEST_BEGINNING: Duration = Duration::from_secs(10);

/// The caller's number for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MonitorId(pub u32);

/// An event, with the number of its task: the events of stopped ones are ignored.
pub(super) type Numbered = (usize, MonitorId, WatchEvent);

/// Where events go. They arrive in the order in which they are told.
pub(super) enum Sink {
    /// To the receiver of all monitors: no faster than it takes them.
    Channel { sender: Sender<Numbered>, monitor: MonitorId, number: usize },
    /// To the inbox of all watches of a snapshot, which keeps only the latest event of each object.
    Inbox { inbox: Arc<Inbox>, list: WatchedList },
}

impl Sink {
    pub(super) async fn tell(&self, event: WatchEvent) {
        match self {
            // Without a receiver, the task is about to be aborted.
            Sink::Channel { sender, monitor, number } => drop(sender.send((*number, *monitor, event)).await),
            Sink::Inbox { inbox, list } => inbox.tell(list, event),
        }
    }

    /// A stream has begun, or failed to.
    fn begun(&self) {
        if let Sink::Inbox { inbox, list } = self {
            inbox.begun(list);
        }
    }

    /// What is kept of an object: only snapshots have labels.
    fn owned(&self, object: RawObject<'_>) -> RawObject<'static> {
        match self {
            Sink::Channel { .. } => RawObject { labels: Vec::new(), ..object }.into_owned(),
            Sink::Inbox { .. } => object.into_owned(),
        }
    }
}

/// Watches one resource. All changes up to its position were told, or told as lost.
pub(super) struct WatchTask {
    pub(super) places: Arc<Places>,
    pub(super) sink: Sink,
    pub(super) position: Position,
    /// The number of consecutive useless streams.
    pub(super) in_vain: u32,
    /// Why it fails; none once a stream has shown that it works.
    pub(super) failing: Option<String>,
    /// When the last list began, and how long the server took for it.
    pub(super) last_list: (Instant, Duration),
}

impl WatchTask {
    /// Watches from this position on; from a list on, if its version is empty.
    pub(super) fn new(position: Position, places: Arc<Places>, sink: Sink) -> Self {
        let last_list = (Instant::now(), Duration::ZERO);
        WatchTask { places, sink, position, in_vain: 0, failing: None, last_list }
    }

    /// Watches until retries are useless ([`is_final`]), or the task is aborted. What is missed is reported as lost.
    pub(super) async fn run(mut self) {
        loop {
            let End { useful, why } = self.stream(None).await;
            if useful {
                self.in_vain = 0;
            }
            let failure = match why {
                Why::Over | Why::Silent | Why::HeldBack if useful => continue,
                Why::Over | Why::Silent | Why::HeldBack => None,
                Why::Expired(reason) => match self.version_now().await {
                    Ok(version) => {
                        // The changes in between are lost; from here on none is.
                        self.position.version = version;
                        self.lose(reason, true).await;
                        continue;
                    }
                    Err(failure) => Some(failure),
                },
                Why::Failed(failure) => Some(failure),
            };
            if let Some(failure) = failure.as_ref().filter(|failure| is_final(failure)) {
                return self.lose(failure.to_string(), false).await;
            }
            // Never gives up, however long the server is away: the caller decides how long to wait.
            self.in_vain += 1;
            self.pause(failure.as_ref(), self.in_vain).await;
        }
    }

    /// Reports that changes were missed, and whether the watch goes on.
    pub(super) async fn lose(&self, reason: String, watched: bool) {
        self.sink.tell(WatchEvent::Lost { reason, watched }).await;
    }

    /// Waits before the next try; `tried` is the number of failed tries.
    pub(super) async fn pause(&self, failure: Option<&Failure>, tried: u32) {
        sleep(retry::pause_for_ever(failure, tried, self.position.number)).await;
    }

    /// Reports the events of one stream, until it ends; and once it works, that it does, if it failed before. With
    /// `lists`, a doubt is answered by a list.
    pub(super) async fn stream(&mut self, mut lists: Option<&mut Lists>) -> End {
        let begun = self.begin(lists.as_deref()).await;
        self.sink.begun();
        let mut line = match begun {
            Ok(line) => line,
            Err(end) => return end,
        };
        loop {
            let next = match (&self.failing, &mut lists) {
                // While it fails, wait before reporting the recovery: a new stream may end with an error at once.
                (Some(_), _) => timeout(USEFUL, self.position.next(&mut line)).await.ok(),
                (None, None) => Some(self.position.next(&mut line).await),
                (None, Some(lists)) => tokio::select! {
                    next = self.position.next(&mut line) => Some(next),
                    () = lists.doubted() => match self.list_tells_more(lists).await {
                        false => continue,
                        // What the list tells may be on its way.
                        true => match timeout(USEFUL, self.position.next(&mut line)).await {
                            Ok(next) => Some(next),
                            Err(_) => return End { useful: false, why: Why::HeldBack },
                        },
                    },
                },
            };
            if let Some(Err(end)) = next {
                return end;
            }
            if self.failing.take().is_some() {
                self.sink.tell(WatchEvent::Recovered).await;
            }
            if let Some(Ok((object, gone))) = next {
                if let Some(lists) = &mut lists {
                    lists.see(&object, gone);
                }
                let object = Box::new(self.sink.owned(object));
                self.sink.tell(WatchEvent::Seen { object, gone }).await;
            }
        }
    }

    /// Begins a stream. With `lists`, waits no longer for the server than anybody who wants to know what is there.
    async fn begin(&mut self, lists: Option<&Lists>) -> Result<Line, End> {
        let WatchTask { places, position, failing, .. } = self;
        let begin = async {
            let mut place = Place::take(&places.watches).await;
            place.wait(position.begin()).await
        };
        let Some(lists) = lists else { return begin.await };
        let asked = Instant::now();
        let wished = async {
            sleep(USEFUL).await;
            lists.wished().await;
        };
        tokio::select! {
            begun = begin => return begun,
            () = wished, if failing.is_some() => {}
            () = sleep(LONGEST_BEGINNING) => {}
        }
        Err(End { useful: false, why: Why::Failed(Failure::TimedOut(asked.elapsed())) })
    }

    /// Reads the next page of a list. Returns its objects, and with the last page the list's version; nothing if the
    /// list has to be read from the beginning.
    pub(super) async fn page(
        &mut self,
        pages: &mut Pages<'_>,
        place: &mut Place,
    ) -> Result<Option<(Vec<RawObject<'static>>, Option<String>)>, Failure> {
        let Some(answer) = place.wait(pages.get(&self.position.connection)).await? else { return Ok(None) };
        self.last_list.1 += answer.took;
        let mut objects = Vec::new();
        let page = answer.read_list(|object| {
            // No owner reference can point to it, or no delete can name it.
            if !object.uid.is_empty() && !object.name.is_empty() {
                objects.push(self.sink.owned(object.clone()));
            }
        })?;
        match pages.after(page)? {
            Some(version) if version.is_empty() => Err(without_version()),
            version => Ok(Some((objects, version))),
        }
    }

    /// The current resourceVersion of the resource, read with at most one object.
    async fn version_now(&self) -> Result<String, Failure> {
        let answer = self.position.connection.get(&format!("{}?limit=1", self.position.path), METADATA_LIST).await?;
        let version = answer.read_list(|_| ())?.resource_version;
        if version.is_empty() { Err(without_version()) } else { Ok(version) }
    }
}

fn without_version() -> Failure {
    Failure::Malformed("a list without a resourceVersion".to_owned())
}

/// Lists the resource again after this many consecutive useless streams: a new list fixes every problem with the
/// version (a store restored from a backup, an answer that can't be read). A list is expensive, so not every failed try
/// leads to one.
const TRIES_TO_A_LIST: u32 = 5;

impl WatchTask {
    /// Lists and watches the resource, again and again, until the task is aborted. After each list and from there on,
    /// the receiver has been told all objects and changes up to the position. `or_lists`: lists may take the place of a
    /// watch that fails.
    pub(super) async fn run_anew(mut self, or_lists: bool) {
        // Why lists take the watch's place at present.
        let mut polled = None;
        loop {
            self.list_anew(polled.as_ref()).await;
            self.watch(or_lists, &mut polled).await;
        }
    }

    /// Reports that it fails, unless the same reason was already reported.
    async fn fail(&mut self, doing: &str, failure: &Failure) {
        let reason = format!("it cannot be {doing}: {failure}");
        if self.failing.as_ref() != Some(&reason) {
            self.failing = Some(reason.clone());
            self.sink.tell(WatchEvent::Failing { reason }).await;
        }
    }

    /// Lists the resource until that succeeds.
    async fn list_anew(&mut self, polled: Option<&String>) {
        let mut tried = 0;
        while let Err(failure) = self.tell_list().await {
            tried += 1;
            self.fail("listed", &failure).await;
            self.pause(Some(&failure), tried).await;
        }
        self.failing = None;
        self.sink.tell(WatchEvent::Listed).await;
        self.tell_polled(polled).await;
    }

    /// Reads a list, and reports each page before requesting the next one.
    async fn tell_list(&mut self) -> Result<(), Failure> {
        let mut place = Place::take(&self.places.lists).await;
        self.last_list = (Instant::now(), Duration::ZERO);
        let path = self.position.path.clone();
        let mut pages = Pages::of(&path, "", METADATA_LIST);
        let mut begun = false;
        loop {
            let Some((objects, version)) = self.page(&mut pages, &mut place).await? else {
                begun = false;
                continue;
            };
            if !std::mem::replace(&mut begun, true) {
                self.sink.tell(WatchEvent::Listing).await;
            }
            for object in objects {
                self.sink.tell(WatchEvent::Seen { object: Box::new(object), gone: false }).await;
            }
            if let Some(version) = version {
                self.position.version = version;
                return Ok(());
            }
        }
    }

    /// Watches the resource, one stream after another, until it has to be listed again.
    async fn watch(&mut self, or_lists: bool, polled: &mut Option<String>) {
        loop {
            let End { useful, why } = self.stream(None).await;
            if self.failing.is_none() {
                *polled = None;
            }
            if useful {
                self.in_vain = 0;
            }
            let failure = match why {
                Why::Over if useful => continue,
                // A list tells what may have been held back.
                Why::Expired(_) | Why::Silent if useful => return,
                Why::Expired(_) => None,
                Why::Over | Why::Silent | Why::HeldBack => Some(Failure::Interrupted(ENDS_AT_ONCE.to_owned())),
                Why::Failed(failure) => Some(failure),
            };
            self.in_vain += 1;
            let keeps_failing =
                |failure: &&Failure| polled.is_some() || is_final(failure) || self.in_vain >= TRIES_TO_A_LIST;
            if let Some(failure) = failure.as_ref().filter(|_| or_lists).filter(keeps_failing) {
                return self.wait_for_list(failure, polled).await;
            }
            if let Some(failure) = &failure {
                self.fail("watched", failure).await;
            }
            self.pause(failure.as_ref(), self.in_vain).await;
            // The pause above also paces lists whose version expires at once.
            if failure.is_none_or(|failure| self.in_vain.is_multiple_of(TRIES_TO_A_LIST) && a_list_may_help(&failure)) {
                return;
            }
        }
    }

    /// Reports that lists take the watch's place, and waits for the time of the next one.
    async fn wait_for_list(&mut self, failure: &Failure, polled: &mut Option<String>) {
        let is_new = polled.replace(failure.to_string()).is_none();
        // A watch that was refused at once has missed nothing since the list.
        if is_new && self.in_vain == 1 && is_final(failure) {
            self.tell_polled(polled.as_ref()).await;
        } else if is_new {
            self.fail("watched", failure).await;
        }
        let wished = retry::pause_for_ever(Some(failure), 1, self.position.number);
        sleep(retry::between_lists(self.last_list.1).max(wished)).await;
    }

    async fn tell_polled(&mut self, polled: Option<&String>) {
        if let Some(reason) = polled {
            // The next stream that works is a recovery.
            self.failing = Some(reason.clone());
            let (reason, begun) = (reason.clone(), Some(self.last_list.0));
            self.sink.tell(WatchEvent::Polled { reason, begun }).await;
        }
    }
}

/// Whether a new list may help: not if the server was busy or unreachable, or the credentials failed.
fn a_list_may_help(failure: &Failure) -> bool {
    let passes = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE, StatusCode::UNAUTHORIZED];
    match failure {
        Failure::Refused(refusal) => !passes.contains(&refusal.status),
        Failure::InvalidName | Failure::Malformed(_) => true,
        Failure::Unconnected(_) | Failure::Interrupted(_) | Failure::TimedOut(_) | Failure::Credentials(_) => false,
    }
}

/// The number of parallel lists, and of watches that start in parallel. The reasons in `cluster/list.rs` apply here,
/// too.
const AT_ONCE: usize = 12;

/// A request that waits longer than this keeps waiting, but releases its place. Most answers take milliseconds.
pub(super) const HELD: Duration = Duration::from_secs(3);

/// The available places.
pub(super) struct Places {
    pub(super) lists: Arc<Semaphore>,
    pub(super) watches: Arc<Semaphore>,
}

/// All places, free.
pub(super) fn places() -> Arc<Places> {
    let free = || Arc::new(Semaphore::new(AT_ONCE));
    Arc::new(Places { lists: free(), watches: free() })
}

/// A place in use, or already released.
pub(super) struct Place(Option<OwnedSemaphorePermit>);

impl Place {
    /// Waits for a free place.
    pub(super) async fn take(free: &Arc<Semaphore>) -> Self {
        // The semaphores are never closed.
        Place(free.clone().acquire_owned().await.ok())
    }

    /// Waits for an answer of the server; releases the place if that takes long.
    pub(super) async fn wait<T>(&mut self, answer: impl Future<Output = T>) -> T {
        let mut answer = pin!(answer);
        match timeout(HELD, &mut answer).await {
            Ok(answer) => answer,
            Err(_) => {
                self.0 = None;
                answer.await
            }
        }
    }
}
