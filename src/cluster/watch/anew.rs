//! Lists a resource, watches it, and lists it anew if its watch can't go on: for whoever follows resources without end.

use std::time::{Duration, Instant};

use http::StatusCode;
use tokio::time::sleep;

use crate::cluster::{failure::Failure, pages::Pages, request::METADATA_LIST, retry};

use super::{
    WatchEvent,
    places::Place,
    position::{ENDS_AT_ONCE, End, Why, is_final},
    task::WatchTask,
};

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
        let path = self.path.clone();
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
