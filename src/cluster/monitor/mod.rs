//! Following resources for as long as somebody wants to know of them: each is listed, then watched, and listed anew
//! when its watch has lost track, for ever.
//!
//! What is told of one resource is true, and told in the order in which it came about. Between
//! [`MonitorEvent::Listing`] and [`MonitorEvent::Listed`] all there is is told, and after it whatever happens, so that
//! whoever takes in everything has the picture that the server has, a moment later. A resource that can't be read says
//! so ([`MonitorEvent::Failing`]) and is tried on; it holds up no other.
//!
//! How much waits to be taken in is limited, whoever takes it in: the streams are read no faster than that, and a
//! server that doesn't get rid of what it says ends them, after which they are taken up from where they were.

mod lane;
mod places;
#[cfg(test)]
mod tests;

use std::{collections::HashMap, sync::Arc};

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

/// How many tidings may wait to be taken in.
const WAITING: usize = 4096;
/// How many are taken in at once at most.
const AT_ONCE: usize = 1024;

/// By which number whoever asks knows a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MonitorId(pub u32);

/// What is told of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum MonitorEvent {
    /// A list begins: what is told from here to [`MonitorEvent::Listed`] is all there is. If it begins once more before
    /// that, what was told of the first attempt is no part of it.
    Listing(MonitorId),
    /// An object is in this state, or is gone, in which case this was its last. Labels are left out.
    Seen { monitor: MonitorId, object: RawObject<'static>, gone: bool },
    /// The list is complete: what was known before it began and was not told since is gone. From here on what happens
    /// is told, and it is not failing any more.
    Listed(MonitorId),
    /// It can't be listed or watched for the time being, and why, in words. This is told when it begins and when the
    /// reason changes, not with each try. It is tried on, with longer and longer pauses.
    Failing { monitor: MonitorId, reason: String },
    /// It is watched again after [`MonitorEvent::Failing`], from where it was: nothing of what happened meanwhile is
    /// left out.
    Recovered(MonitorId),
}

/// Resources that are followed. They are left alone when this is dropped.
pub struct Monitors {
    connection: Connection,
    places: Arc<Places>,
    sender: Sender<Note>,
    receiver: Receiver<Note>,
    running: HashMap<MonitorId, Running>,
    begun: usize,
}

/// What is told, and the number of the lane that tells it: those that were stopped have nothing to say any more.
type Note = (usize, MonitorEvent);

struct Running {
    number: usize,
    task: AbortHandle,
}

impl Monitors {
    /// Nothing is followed yet.
    pub fn new(mut connection: Connection) -> Self {
        // What hangs for ever would never be told to fail.
        connection.limits = connection.limits.or_some();
        let (sender, receiver) = channel(WAITING);
        Monitors { connection, places: places(), sender, receiver, running: HashMap::new(), begun: 0 }
    }

    /// Follows a resource from a list on. Under a number that is in use already, it takes the place of what is followed
    /// there. Must be called within a tokio runtime, which it is followed on.
    pub fn start(&mut self, monitor: MonitorId, resource: &Resource) {
        self.stop(monitor);
        self.begun += 1;
        let number = self.begun;
        let lane = ResourceMonitor::new(
            self.connection.clone(),
            self.places.clone(),
            self.sender.clone(),
            (monitor, number),
            path::of_resource(resource, None),
        );
        let task = tokio::spawn(lane.run()).abort_handle();
        self.running.insert(monitor, Running { number, task });
    }

    /// Leaves a resource alone. Nothing more is told of it from here on.
    pub fn stop(&mut self, monitor: MonitorId) {
        if let Some(running) = self.running.remove(&monitor) {
            running.task.abort();
        }
    }

    /// Waits until something is told, and takes what has been told by then, of which there may be more. Cancel safe.
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

    /// How much waits to be taken in.
    pub fn waiting(&self) -> usize {
        self.receiver.len()
    }

    fn is_followed(&self, number: usize, describe: &MonitorEvent) -> bool {
        self.running.get(&describe.monitor()).is_some_and(|running| running.number == number)
    }
}

impl MonitorEvent {
    /// Of which resource it is told.
    pub fn monitor(&self) -> MonitorId {
        match self {
            MonitorEvent::Listing(monitor) | MonitorEvent::Listed(monitor) | MonitorEvent::Recovered(monitor) => {
                *monitor
            }
            MonitorEvent::Seen { monitor, .. } | MonitorEvent::Failing { monitor, .. } => *monitor,
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
