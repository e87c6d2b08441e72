//! Follows resources for as long as the caller wants: lists and watches each, and lists it again if its watch can't
//! continue.
//!
//! Between [`WatchEvent::Listing`] and [`WatchEvent::Listed`] all existing objects are reported, and after that all
//! changes, so the receiver of all events knows the server's state with a short delay. A resource that can't be read is
//! reported ([`WatchEvent::Failing`]) and retried; it doesn't delay any other.
//!
//! The number of events waiting for the receiver is limited: streams are read no faster than the receiver takes events.
//! If a stream isn't read for too long, the server ends it, and a new one continues from the same version.

use std::{collections::HashMap, sync::Arc};

use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::AbortHandle,
};

use crate::{
    cluster::{Connection, path},
    model::Resource,
};

use super::{
    WatchEvent,
    places::{Places, places},
    task::{Sink, WatchTask},
};

/// The largest number of waiting events.
pub(super) const WAITING: usize = 4096;
/// The largest number of events to take at once.
const AT_ONCE: usize = 1024;

/// The caller's number for a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MonitorId(pub u32);

/// Follows resources until it is dropped.
pub struct Monitors {
    pub(super) connection: Connection,
    places: Arc<Places>,
    sender: Sender<Numbered>,
    receiver: Receiver<Numbered>,
    running: HashMap<MonitorId, Running>,
    begun: usize,
    or_lists: bool,
}

/// An event, with the number of its task: the events of stopped ones are ignored.
pub(super) type Numbered = (usize, MonitorId, WatchEvent);

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

    /// Resources that can be listed but not watched count as read, as of the last list ([`WatchEvent::Polled`]).
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
        let sink = Sink::Channel { sender: self.sender.clone(), monitor, number };
        let path = path::of_resource(resource, namespace);
        let (connection, places) = (self.connection.clone(), self.places.clone());
        let task = WatchTask::new(connection, places, sink, path, String::new(), number);
        let task = tokio::spawn(task.run_anew(self.or_lists)).abort_handle();
        self.running.insert(monitor, Running { number, task });
    }

    /// Stops following a resource. No more of its events are returned.
    pub fn stop(&mut self, monitor: MonitorId) {
        if let Some(running) = self.running.remove(&monitor) {
            running.task.abort();
        }
    }

    /// Waits for an event, and returns those that have arrived by then; more may be waiting. Cancel safe.
    pub async fn recv(&mut self) -> Vec<(MonitorId, WatchEvent)> {
        loop {
            let mut arrived = Vec::new();
            self.receiver.recv_many(&mut arrived, AT_ONCE).await;
            let is_followed = |monitor: &MonitorId, number: usize| {
                self.running.get(monitor).is_some_and(|running| running.number == number)
            };
            let events: Vec<(MonitorId, WatchEvent)> = arrived
                .into_iter()
                .filter(|(number, monitor, _)| is_followed(monitor, *number))
                .map(|(_, monitor, event)| (monitor, event))
                .collect();
            if !events.is_empty() {
                return events;
            }
        }
    }

    /// The number of waiting events.
    pub fn waiting(&self) -> usize {
        self.receiver.len()
    }
}

impl Drop for Monitors {
    fn drop(&mut self) {
        for running in self.running.values() {
            running.task.abort();
        }
    }
}
