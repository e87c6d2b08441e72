//! Watching everything that a snapshot lists, each list from the version it was read at: nothing is listed a second
//! time.
//!
//! What is guaranteed: what a watch tells is true, in the order in which it came about for one resource, and nothing is
//! left out unless it is said so ([`LostWatch`]). What is not: that everything which has happened has been told
//! already. Nothing says so short of a new list: a watch is silent where nothing happens, bookmarks come about once a
//! minute, and the resourceVersion of one resource says nothing of another's stream. On a healthy line it is a matter
//! of milliseconds. Whoever has to be sure of an object asks for that object ([`Connection::recheck`]), which is true
//! at that moment.

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

/// How many watches are begun at once. Each has a connection of its own (HTTP/1.1), so that open ones are in nobody's
/// way.
const BEGUN_AT_ONCE: usize = 12;

/// Watches under way. They end when this is dropped.
pub struct Watches {
    inbox: Arc<Inbox>,
    tasks: Vec<JoinHandle<()>>,
    /// What was begun: the resource, and the namespace it is limited to.
    begun: Vec<(ResourceId, Option<String>)>,
}

/// What watches have told since it was asked last.
#[derive(Debug, Default)]
pub struct WatchUpdates {
    /// The latest of each object; what took the place of another comes after it.
    pub seen: Vec<ObjectEvent>,
    /// Where something may have happened that was not told.
    pub lost: Vec<LostWatch>,
}

impl WatchUpdates {
    /// Whether there is nothing new.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty() && self.lost.is_empty()
    }
}

/// Where track was lost: what happened meanwhile to objects of this resource was not told, nor were new ones. Objects
/// that matter are to be asked for one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostWatch {
    pub resource: ResourceId,
    /// The namespace it is limited to; `None` means all there are.
    pub namespace: Option<String>,
    /// Why, in words.
    pub reason: String,
    /// Whether it is watched again from now on; otherwise it never will be.
    pub watched: bool,
}

impl Connection {
    /// Begins to watch whatever the snapshot has listed, from where its lists ended. Must be called within a tokio
    /// runtime, which the watches run on.
    ///
    /// A watch that ends or breaks off is taken up from where it was. Where the server doesn't know that version any
    /// more, or can't be watched at all (forbidden, no such verb), it is said in [`WatchUpdates::lost`].
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
    /// What was told since this was asked last.
    pub fn news(&self) -> WatchUpdates {
        self.inbox.take()
    }

    /// The same without what was lost, which is still told later.
    pub fn seen(&self) -> Vec<ObjectEvent> {
        self.inbox.take_seen()
    }

    /// What was lost by now and is still to be told.
    pub fn lost(&self) -> Vec<LostWatch> {
        self.inbox.lost()
    }

    /// Everything that is seen from now on, one by one, and what was seen and not taken before: for whoever has to know
    /// of each step. Only the last who asked is told.
    pub fn tap(&self) -> UnboundedReceiver<ObjectEvent> {
        self.inbox.tap()
    }

    /// What was begun to be watched, each resource with the namespace it is limited to. What of that is given up is
    /// told in [`WatchUpdates::lost`].
    pub fn begun(&self) -> &[(ResourceId, Option<String>)] {
        &self.begun
    }

    /// Waits until there is something new. There may be nothing left of it if it was asked for meanwhile.
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
