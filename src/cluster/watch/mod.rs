//! Watches everything that a snapshot lists, each resource from the version of its list, so nothing is listed a second
//! time.
//!
//! Guaranteed: the events of one resource are correct and in the order of the changes, and none is missing unless a
//! [`LostWatch`] says so. Not guaranteed: that all past changes have already been reported. Only a new list could tell:
//! a watch is silent while nothing changes, bookmarks arrive about once a minute, and the resourceVersion of one
//! resource says nothing about another's stream. Usually the delay is milliseconds. To be sure of an object's current
//! state, request it ([`Connection::recheck`]).

mod frames;
mod inbox;
pub(super) mod position;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tokio::{
    sync::{Semaphore, mpsc::UnboundedReceiver},
    task::JoinHandle,
};

use crate::model::{ObjectEvent, ResourceId, Snapshot};

use self::{inbox::Inbox, position::Position, stream::Watch};

use super::{Connection, path};

/// How many watches start in parallel. By HTTP/2 they share a connection; by HTTP/1.1 each has its own.
const BEGUN_AT_ONCE: usize = 12;

/// Running watches. They end when this is dropped.
pub struct Watches {
    inbox: Arc<Inbox>,
    tasks: Vec<JoinHandle<()>>,
    /// The watched resources, each with the namespace that the watch is limited to.
    begun: Vec<(ResourceId, Option<String>)>,
}

/// The watch events since the last call.
#[derive(Debug, Default)]
pub struct WatchUpdates {
    /// The latest event of each object; a replacement comes after the object it replaces.
    pub seen: Vec<ObjectEvent>,
    /// Watches that may have missed changes.
    pub lost: Vec<LostWatch>,
}

impl WatchUpdates {
    /// Whether there are no events and no lost watches.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.lost.is_empty()
    }
}

/// A watch that missed changes and new objects of this resource. Important objects have to be requested one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWatch {
    pub resource: ResourceId,
    /// The namespace that the watch is limited to; `None` means all namespaces.
    pub namespace: Option<String>,
    /// The reason, for messages.
    pub reason: String,
    /// Whether the watch continues from now on; if not, it never will.
    pub watched: bool,
}

impl Connection {
    /// Watches everything that the snapshot has listed, from the version of each list. Must be called within a tokio
    /// runtime, which runs the watches.
    ///
    /// A watch that ends or breaks off continues from where it was. If its version is too old, or the resource can't be
    /// watched at all (forbidden, no such verb), [`WatchUpdates::lost`] says so.
    pub fn watch(&self, snapshot: &Snapshot) -> Watches {
        let inbox = Arc::new(Inbox::default());
        let beginning = Arc::new(Semaphore::new(BEGUN_AT_ONCE));
        let (mut tasks, mut begun) = (Vec::new(), Vec::new());
        let lists = snapshot.lists.iter().filter(|list| list.failure.is_none() && !list.resource_version.is_empty());
        for (number, list) in lists.enumerate() {
            let resource = snapshot.resources.get(list.resource);
            let path = path::of_resource(resource, list.namespace.as_deref());
            let watch = Watch {
                connection: self.clone(),
                inbox: inbox.clone(),
                beginning: beginning.clone(),
                resource: list.resource,
                namespace: list.namespace.clone(),
                position: Position::new(self.clone(), path.clone(), list.resource_version.clone(), number),
                path,
            };
            if resource.has_verb("watch") {
                begun.push((list.resource, list.namespace.clone()));
                tasks.push(tokio::spawn(watch.run()));
            } else {
                watch.lose("it cannot be watched".to_owned(), false);
            }
        }
        Watches { inbox, tasks, begun }
    }
}

impl Watches {
    /// The updates since the last call.
    pub fn news(&self) -> WatchUpdates {
        self.inbox.take()
    }

    /// The object events since the last call; lost watches stay for a later call.
    pub fn seen(&self) -> Vec<ObjectEvent> {
        self.inbox.take_seen()
    }

    /// The lost watches that were not taken yet.
    pub fn lost(&self) -> Vec<LostWatch> {
        self.inbox.lost()
    }

    /// Receives every single event from now on, and those that were not taken yet. Only the receiver of the last call
    /// gets events.
    pub fn tap(&self) -> UnboundedReceiver<ObjectEvent> {
        self.inbox.tap()
    }

    /// The watched resources, each with the namespace that the watch is limited to. Those that are given up are in
    /// [`WatchUpdates::lost`].
    pub fn begun(&self) -> &[(ResourceId, Option<String>)] {
        &self.begun
    }

    /// Waits for new updates. They may be gone if another caller took them meanwhile.
    pub async fn changed(&self) {
        self.inbox.arrived().await;
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
