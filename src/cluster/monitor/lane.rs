//! One resource: listed, watched, and listed anew.

use std::sync::Arc;

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
        watch::position::{End, Position, USEFUL, Why},
    },
    model::RawObject,
};

use super::{
    MonitorEvent, MonitorId, Note,
    places::{Place, Places},
};

/// After so many streams in a row that were no use it is listed anew: whatever is wrong with the version (a store that
/// was put back in time, an answer that can't be read), a list gets over it. More seldom than the tries, because a list
/// costs.
const TRIES_TO_A_LIST: u32 = 5;

/// What follows one resource.
pub(super) struct ResourceMonitor {
    connection: Connection,
    places: Arc<Places>,
    sender: Sender<Note>,
    monitor: MonitorId,
    number: usize,
    path: String,
    /// Why it is failing, if it is, as it was told.
    failing: Option<String>,
    /// Streams in a row that were no use.
    in_vain: u32,
}

impl ResourceMonitor {
    /// What is under this path, for who knows it by this id. `number` tells it from all others that were ever begun.
    pub(super) fn new(
        connection: Connection,
        places: Arc<Places>,
        sender: Sender<Note>,
        (monitor, number): (MonitorId, usize),
        path: String,
    ) -> Self {
        ResourceMonitor { connection, places, sender, monitor, number, path, failing: None, in_vain: 0 }
    }

    /// Lists it and follows it from there on, again and again, until the task is ended.
    pub(super) async fn run(mut self) {
        loop {
            let version = self.listed().await;
            let position = Position::new(self.connection.clone(), self.path.clone(), version, self.number);
            self.watched(position).await;
        }
    }

    async fn tell(&self, describe: MonitorEvent) {
        // Where nobody takes it any more, the task is about to be ended.
        let _ = self.sender.send((self.number, describe)).await;
    }

    /// Says that it fails, unless that was said.
    async fn fail(&mut self, doing: &str, failure: &Failure) {
        let reason = format!("it cannot be {doing}: {failure}");
        if self.failing.as_ref() != Some(&reason) {
            self.failing = Some(reason.clone());
            self.tell(MonitorEvent::Failing { monitor: self.monitor, reason }).await;
        }
    }

    /// Waits before the next try; `tried` counts those that were in vain, from one.
    async fn pause(&self, failure: Option<&Failure>, tried: u32) {
        sleep(retry::pause_for_ever(failure, tried, self.number)).await;
    }

    /// Lists it until that succeeds. Returns the list's version.
    async fn listed(&mut self) -> String {
        let mut tried = 0;
        loop {
            match self.list().await {
                Ok(version) => {
                    self.failing = None;
                    self.tell(MonitorEvent::Listed(self.monitor)).await;
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

    /// Reads a list, and tells each page of it before the next is asked for.
    async fn list(&self) -> Result<String, Failure> {
        let monitor = self.monitor;
        let mut place = Place::take(&self.places.lists).await;
        let mut pages = Pages::of(&self.path, "", METADATA_LIST);
        let mut begun = false;
        loop {
            let Some(answer) = place.wait(pages.get(&self.connection)).await? else {
                begun = false;
                continue;
            };
            let mut objects = Vec::new();
            let page = answer.read_list(|object| {
                // No reference leads to it, and nobody can delete it.
                if !object.uid.is_empty() && !object.name.is_empty() {
                    objects.push(without_labels(object.clone()).into_owned());
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

    /// Watches it, stream after stream, until it has to be listed anew.
    async fn watched(&mut self, mut position: Position) {
        loop {
            let End { useful, why } = self.stream(&mut position).await;
            if useful {
                self.in_vain = 0;
            }
            let failure = match why {
                Why::Over if useful => continue,
                Why::Expired(_) if useful => return,
                Why::Expired(_) => None,
                Why::Over => Some(Failure::Interrupted("the watch ends as soon as it begins".to_owned())),
                Why::Failed(failure) => Some(failure),
            };
            if let Some(failure) = &failure {
                self.fail("watched", failure).await;
            }
            self.in_vain += 1;
            self.pause(failure.as_ref(), self.in_vain).await;
            // Where it was listed, and that is too old at once, the pause is there all the same.
            if failure.is_none_or(|failure| self.in_vain.is_multiple_of(TRIES_TO_A_LIST) && a_list_may_help(&failure)) {
                return;
            }
        }
    }

    /// Tells what one stream says, to its end.
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
                // A stream that begins may end with an error at once.
                Some(_) => timeout(USEFUL, position.next(&mut line)).await.ok(),
            };
            if let Some(Err(end)) = next {
                return end;
            }
            if self.failing.take().is_some() {
                self.tell(MonitorEvent::Recovered(self.monitor)).await;
            }
            if let Some(Ok((object, gone))) = next {
                self.tell(MonitorEvent::Seen { monitor: self.monitor, object: without_labels(object), gone }).await;
            }
        }
    }
}

/// Whether the server has an answer, and not just no time for it.
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
