//! Follows resources for as long as the caller wants: lists and watches each, and lists it again if its watch can't
//! continue.
//!
//! Between [`WatchEvent::Listing`] and [`WatchEvent::Listed`] all existing objects are reported, and after that all
//! changes, so the receiver of all events knows the server's state with a short delay. A resource that can't be read is
//! reported ([`WatchEvent::Failing`]) and retried; it doesn't delay any other.
//!
//! The number of events waiting for the receiver is limited: streams are read no faster than the receiver takes events.
//! If a stream isn't read for too long, the server ends it, and a new one continues from the same version.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::{AbortHandle, JoinHandle},
    time::sleep_until,
};

use crate::cluster::{ConnectError, Connection, path};
use gc_core::model::{Gap, Resource, Resources};

use super::{
    WatchEvent,
    position::Position,
    task::{MonitorId, Numbered, Places, Sink, WatchTask, places},
};

/// The largest number of waiting events.
pub(super) const WAITING: usize = 4096;
/// The largest number of events to take at once.
const AT_ONCE: usize = 1024;

/// Follows resources until it is dropped.
pub struct Monitors {
    pub(super) connection: Connection,
    /// The namespace that namespaced resources are limited to; `None`: all.
    namespace: Option<String>,
    or_lists: bool,
    places: Arc<Places>,
    sender: Sender<Numbered>,
    receiver: Receiver<Numbered>,
    /// What is followed.
    running: BTreeMap<MonitorId, Running>,
    begun: usize,
}

/// What [`Monitors::follow`] has changed.
pub struct FollowChanges {
    pub stopped: Vec<MonitorId>,
    pub begun: Vec<(MonitorId, Resource)>,
}

struct Running {
    resource: Resource,
    number: usize,
    task: AbortHandle,
}

impl Monitors {
    /// Follows nothing yet.
    pub fn new(mut connection: Connection) -> Self {
        // Without a limit, a hanging request would never be reported as failing.
        connection.limits = connection.limits.or_some();
        let (sender, receiver) = channel(WAITING);
        Monitors {
            connection,
            namespace: None,
            or_lists: false,
            places: places(),
            sender,
            receiver,
            running: BTreeMap::new(),
            begun: 0,
        }
    }

    /// Follows namespaced resources only in this namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: Option<String>) -> Self {
        self.namespace = namespace;
        self
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
        self.stop(monitor);
        self.begun += 1;
        let number = self.begun;
        let sink = Sink::Channel { sender: self.sender.clone(), monitor, number };
        let path = path::of_resource(resource, self.namespace.as_deref());
        let position = Position::new(self.connection.clone(), path, String::new(), number);
        let task = WatchTask::new(position, self.places.clone(), sink);
        let task = tokio::spawn(task.run_anew(self.or_lists)).abort_handle();
        self.running.insert(monitor, Running { resource: resource.clone(), number, task });
    }

    /// Stops following a resource. No more of its events are returned.
    pub fn stop(&mut self, monitor: MonitorId) {
        if let Some(running) = self.running.remove(&monitor) {
            running.task.abort();
        }
    }

    /// Follows what is wanted, each resource under a new id unless it is followed already. Stops what is not wanted,
    /// unless its group version could not be discovered.
    pub fn follow(&mut self, wanted: &[Resource], gaps: &[Gap]) -> FollowChanges {
        let undiscovered = |one: &Resource| gaps.iter().any(|gap| gap.resource == one.api_version());
        let is_wanted = |one: &Resource| wanted.iter().any(|wanted| wanted.has_path_of(one));
        let unwanted = |running: &Running| !undiscovered(&running.resource) && !is_wanted(&running.resource);
        let stopped = self.running.iter().filter(|(_, running)| unwanted(running));
        let stopped: Vec<MonitorId> = stopped.map(|(monitor, _)| *monitor).collect();
        stopped.iter().for_each(|monitor| self.stop(*monitor));
        let mut begun = Vec::new();
        for resource in wanted {
            if !self.running.values().any(|running| running.resource.has_path_of(resource)) {
                let monitor = MonitorId(self.begun as u32);
                self.start(monitor, resource);
                begun.push((monitor, resource.clone()));
            }
        }
        FollowChanges { stopped, begun }
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

/// Discovers again and again what is served.
pub struct Discoveries {
    connection: Connection,
    next: Instant,
    under_way: Option<JoinHandle<Result<Discovery, ConnectError>>>,
}

/// What is served, and gaps for the group versions that could not be discovered.
type Discovery = (Resources, Vec<Gap>);

impl Discoveries {
    /// The first begins at this time.
    pub fn new(connection: Connection, next: Instant) -> Self {
        Discoveries { connection, next, under_way: None }
    }

    /// When the next one begins, unless one is under way.
    pub fn begin_at(&mut self, time: Instant) {
        self.next = time;
    }

    /// Waits for the end of the one that is under way or comes next. After that, the time of another has to be set.
    /// Cancel safe.
    pub async fn next(&mut self) -> Result<Discovery, String> {
        if self.under_way.is_none() {
            sleep_until(self.next.into()).await;
        }
        let connection = self.connection.clone();
        let under_way = self.under_way.get_or_insert_with(|| tokio::spawn(async move { connection.discover().await }));
        let found = under_way.await;
        self.under_way = None;
        found.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

impl Drop for Monitors {
    fn drop(&mut self) {
        for running in self.running.values() {
            running.task.abort();
        }
    }
}
