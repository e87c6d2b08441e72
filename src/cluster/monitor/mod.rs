//! Follows resources for as long as the caller wants: lists and watches each, and lists it again if its watch can't
//! continue.
//!
//! The events of one resource are correct, and in the order of the changes. Between [`MonitorEvent::Listing`] and
//! [`MonitorEvent::Listed`] all existing objects are reported, and after that all changes, so the receiver of all
//! events knows the server's state with a short delay. A resource that can't be read is reported
//! ([`MonitorEvent::Failing`]) and retried; it doesn't delay any other.
//!
//! The number of events waiting for the receiver is limited: streams are read no faster than the receiver takes events.
//! If a stream isn't read for too long, the server ends it, and a new one continues from the same version.

mod lane;
mod places;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc, time::Instant};

use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::AbortHandle,
};

use crate::model::{RawObject, Resource};

use self::{
    lane::ResourceMonitor,
    places::{Places, places},
};

use super::{Connection, path};

/// The largest number of waiting events.
const WAITING: usize = 4096;
/// The largest number of events to take at once.
const AT_ONCE: usize = 1024;

/// The caller's number for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MonitorId(pub u32);

/// An event of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum MonitorEvent {
    /// A list starts: the events from here to [`MonitorEvent::Listed`] report all existing objects. If it starts again
    /// before that, ignore the events of the first attempt.
    Listing(MonitorId),
    /// An object has this state, or was deleted; then this is its last state. Labels are left out. After the list, the
    /// first state of a new object names the manager that created it.
    Seen { monitor: MonitorId, object: Box<RawObject<'static>>, gone: bool },
    /// The list is complete: objects known before and not reported since it started are gone. From here on all changes
    /// are reported, and the resource is no longer failing.
    Listed(MonitorId),
    /// The resource can't be listed or watched for now, with the reason. Reported when the failure begins and when the
    /// reason changes, not for each try. It is retried, with longer and longer pauses.
    Failing { monitor: MonitorId, reason: String },
    /// The resource is watched again after [`MonitorEvent::Failing`] or [`MonitorEvent::Polled`], from where it was: no
    /// change is missed.
    Recovered(MonitorId),
    /// The resource can't be watched, with the reason, but lists are read again and again instead; the last one began
    /// at this time. Reported after each list. It is no longer failing. Only with [`Monitors::or_lists`].
    Polled { monitor: MonitorId, reason: String, begun: Instant },
}

/// Follows resources until it is dropped.
pub struct Monitors {
    connection: Connection,
    places: Arc<Places>,
    sender: Sender<Note>,
    receiver: Receiver<Note>,
    running: HashMap<MonitorId, Running>,
    begun: usize,
    or_lists: bool,
}

/// An event, with the number of its [`ResourceMonitor`]: the events of stopped monitors are ignored.
type Note = (usize, MonitorEvent);

struct Running {
    number: usize,
    task: AbortHandle,
}

impl Monitors {
    /// Follows nothing yet.
    pub fn new(mut connection: Connection) -> Self {
        // Without a limit, a hanging request would never be reported as failing.
        connection.limits = connection.limits.or_some();
        let (sender, receiver) = channel(WAITING);
        Monitors { connection, places: places(), sender, receiver, running: HashMap::new(), begun: 0, or_lists: false }
    }

    /// Resources that can be listed but not watched count as read, as of the last list ([`MonitorEvent::Polled`]).
    #[must_use]
    pub fn or_lists(mut self) -> Self {
        self.or_lists = true;
        self
    }

    /// Lists and follows a resource. If the id is in use, replaces the resource followed under it. Must be called
    /// within a tokio runtime, which runs the task.
    pub fn start(&mut self, monitor: MonitorId, resource: &Resource) {
        self.start_in(monitor, resource, None);
    }

    /// As [`Monitors::start`], limited to a namespace if the resource is namespaced.
    pub fn start_in(&mut self, monitor: MonitorId, resource: &Resource, namespace: Option<&str>) {
        self.stop(monitor);
        self.begun += 1;
        let number = self.begun;
        let lane = ResourceMonitor::new(
            self.connection.clone(),
            self.places.clone(),
            self.sender.clone(),
            (monitor, number),
            path::of_resource(resource, namespace),
            self.or_lists,
        );
        let task = tokio::spawn(lane.run()).abort_handle();
        self.running.insert(monitor, Running { number, task });
    }

    /// Stops following a resource. No more of its events are returned.
    pub fn stop(&mut self, monitor: MonitorId) {
        if let Some(running) = self.running.remove(&monitor) {
            running.task.abort();
        }
    }

    /// Waits for an event, and returns those that have arrived by then; more may be waiting. Cancel safe.
    pub async fn describe(&mut self) -> Vec<MonitorEvent> {
        loop {
            let mut notes = Vec::new();
            self.receiver.recv_many(&mut notes, AT_ONCE).await;
            let describe: Vec<MonitorEvent> = notes
                .into_iter()
                .filter(|(number, describe)| self.is_followed(*number, describe))
                .map(|(_, describe)| describe)
                .collect();
            if !describe.is_empty() {
                return describe;
            }
        }
    }

    /// The number of waiting events.
    pub fn waiting(&self) -> usize {
        self.receiver.len()
    }

    fn is_followed(&self, number: usize, describe: &MonitorEvent) -> bool {
        self.running.get(&describe.monitor()).is_some_and(|running| running.number == number)
    }
}

impl MonitorEvent {
    /// The resource that this event is about.
    pub fn monitor(&self) -> MonitorId {
        match self {
            MonitorEvent::Listing(monitor) | MonitorEvent::Listed(monitor) | MonitorEvent::Recovered(monitor) => {
                *monitor
            }
            MonitorEvent::Seen { monitor, .. }
            | MonitorEvent::Failing { monitor, .. }
            | MonitorEvent::Polled { monitor, .. } => *monitor,
        }
    }
}

impl Drop for Monitors {
    fn drop(&mut self) {
        for running in self.running.values() {
            running.task.abort();
        }
    }
}
