//! Lists one resource, watches it, and lists it again if its watch can't continue.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use http::StatusCode;
use tokio::{
    sync::mpsc::Sender,
    time::{sleep, timeout},
};

use crate::{
    cluster::{
        Connection,
        failure::Failure,
        pages::Pages,
        request::METADATA_LIST,
        retry,
        watch::position::{ENDS_AT_ONCE, End, Position, USEFUL, Why, is_final},
    },
    model::RawObject,
};

use super::{
    MonitorEvent, MonitorId, Note,
    places::{Place, Places},
};

/// Lists the resource again after this many consecutive useless streams: a new list fixes every problem with the
/// version (a store restored from a backup, an answer that can't be read). A list is expensive, so not every failed try
/// leads to one.
const TRIES_TO_A_LIST: u32 = 5;

/// Follows one resource.
pub(super) struct ResourceMonitor {
    connection: Connection,
    places: Arc<Places>,
    sender: Sender<Note>,
    monitor: MonitorId,
    number: usize,
    path: String,
    /// The reason that was last reported, while it is failing.
    failing: Option<String>,
    /// The number of consecutive useless streams.
    in_vain: u32,
    /// Whether lists may take the place of a watch that fails.
    or_lists: bool,
    /// Why lists take the watch's place at present.
    polled: Option<String>,
    /// When the last list began, and how long the server took for it.
    last: (Instant, Duration),
}

impl ResourceMonitor {
    /// Follows the resource at this path, reported under this id. `number` is unique among all monitors ever started.
    pub(super) fn new(
        connection: Connection,
        places: Arc<Places>,
        sender: Sender<Note>,
        (monitor, number): (MonitorId, usize),
        path: String,
        or_lists: bool,
    ) -> Self {
        let last = (Instant::now(), Duration::ZERO);
        let (failing, polled, in_vain) = (None, None, 0);
        ResourceMonitor { connection, places, sender, monitor, number, path, failing, in_vain, or_lists, polled, last }
    }

    /// Lists and watches the resource, again and again, until the task is aborted.
    pub(super) async fn run(mut self) {
        loop {
            let version = self.listed().await;
            let position = Position::new(self.connection.clone(), self.path.clone(), version, self.number);
            self.watched(position).await;
        }
    }

    async fn tell(&self, describe: MonitorEvent) {
        // Without a receiver, the task is about to be aborted.
        let _ = self.sender.send((self.number, describe)).await;
    }

    /// Reports that it fails, unless the same reason was already reported.
    async fn fail(&mut self, doing: &str, failure: &Failure) {
        let reason = format!("it cannot be {doing}: {failure}");
        if self.failing.as_ref() != Some(&reason) {
            self.failing = Some(reason.clone());
            self.tell(MonitorEvent::Failing { monitor: self.monitor, reason }).await;
        }
    }

    /// Waits before the next try; `tried` is the number of failed tries.
    async fn pause(&self, failure: Option<&Failure>, tried: u32) {
        sleep(retry::pause_for_ever(failure, tried, self.number)).await;
    }

    /// Lists the resource until that succeeds. Returns the list's resourceVersion.
    async fn listed(&mut self) -> String {
        let mut tried = 0;
        loop {
            match self.list().await {
                Ok(version) => {
                    self.failing = None;
                    self.tell(MonitorEvent::Listed(self.monitor)).await;
                    self.tell_polled().await;
                    return version;
                }
                Err(failure) => {
                    tried += 1;
                    self.fail("listed", &failure).await;
                    self.pause(Some(&failure), tried).await;
                }
            }
        }
    }

    /// Reads a list, and reports each page before requesting the next one.
    async fn list(&mut self) -> Result<String, Failure> {
        let monitor = self.monitor;
        let mut place = Place::take(&self.places.lists).await;
        self.last = (Instant::now(), Duration::ZERO);
        let mut pages = Pages::of(&self.path, "", METADATA_LIST);
        let mut begun = false;
        loop {
            let Some(answer) = place.wait(pages.get(&self.connection)).await? else {
                begun = false;
                continue;
            };
            self.last.1 += answer.took;
            let mut objects = Vec::new();
            let page = answer.read_list(|object| {
                // No owner reference can point to it, or no delete can name it.
                if !object.uid.is_empty() && !object.name.is_empty() {
                    objects.push(Box::new(without_labels(object.clone()).into_owned()));
                }
            });
            drop(answer);
            let page = page?;
            if !begun {
                self.tell(MonitorEvent::Listing(monitor)).await;
                begun = true;
            }
            for object in objects {
                self.tell(MonitorEvent::Seen { monitor, object, gone: false }).await;
            }
            match pages.after(page)? {
                Some(version) if version.is_empty() => {
                    return Err(Failure::Malformed("a list without a resourceVersion".to_owned()));
                }
                Some(version) => return Ok(version),
                None => {}
            }
        }
    }

    /// Watches the resource, one stream after another, until it has to be listed again.
    async fn watched(&mut self, mut position: Position) {
        loop {
            let End { useful, why } = self.stream(&mut position).await;
            if useful {
                self.in_vain = 0;
            }
            let failure = match why {
                Why::Over if useful => continue,
                // A list tells what may have been held back.
                Why::Expired(_) | Why::Silent if useful => return,
                Why::Expired(_) => None,
                Why::Over | Why::Silent => Some(Failure::Interrupted(ENDS_AT_ONCE.to_owned())),
                Why::Failed(failure) => Some(failure),
            };
            self.in_vain += 1;
            if let Some(failure) = failure.as_ref().filter(|failure| self.may_poll(failure)) {
                self.poll(failure).await;
                return;
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

    /// Whether lists take the watch's place after this failure.
    fn may_poll(&self, failure: &Failure) -> bool {
        self.or_lists && (self.polled.is_some() || is_final(failure) || self.in_vain >= TRIES_TO_A_LIST)
    }

    /// Reports that lists take the watch's place, and waits for the time of the next one.
    async fn poll(&mut self, failure: &Failure) {
        let is_new = self.polled.replace(failure.to_string()).is_none();
        // A watch that was refused at once has missed nothing since the list.
        if is_new && self.in_vain == 1 && is_final(failure) {
            self.tell_polled().await;
        } else if is_new {
            self.fail("watched", failure).await;
        }
        let wished = retry::pause_for_ever(Some(failure), 1, self.number);
        sleep(retry::between_lists(self.last.1).max(wished)).await;
    }

    async fn tell_polled(&mut self) {
        if let Some(reason) = self.polled.clone() {
            // The next stream that works is a recovery.
            self.failing = Some(reason.clone());
            self.tell(MonitorEvent::Polled { monitor: self.monitor, reason, begun: self.last.0 }).await;
        }
    }

    /// Reports the events of one stream, until it ends.
    async fn stream(&mut self, position: &mut Position) -> End {
        let begun = {
            let mut place = Place::take(&self.places.watches).await;
            place.wait(position.begin()).await
        };
        let mut line = match begun {
            Ok(line) => line,
            Err(end) => return end,
        };
        loop {
            let next = match &self.failing {
                None => Some(position.next(&mut line).await),
                // While failing, wait before reporting the recovery: a new stream may end with an error at once.
                Some(_) => timeout(USEFUL, position.next(&mut line)).await.ok(),
            };
            if let Some(Err(end)) = next {
                return end;
            }
            self.polled = None;
            if self.failing.take().is_some() {
                self.tell(MonitorEvent::Recovered(self.monitor)).await;
            }
            if let Some(Ok((object, gone))) = next {
                let object = Box::new(without_labels(object));
                self.tell(MonitorEvent::Seen { monitor: self.monitor, object, gone }).await;
            }
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

fn without_labels(object: RawObject<'_>) -> RawObject<'_> {
    RawObject { labels: Vec::new(), ..object }
}
