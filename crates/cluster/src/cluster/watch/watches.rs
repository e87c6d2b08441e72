//! Watches everything that a snapshot lists, from where the lists ended.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{
        mpsc::{UnboundedReceiver, unbounded_channel},
        watch,
    },
    task::JoinSet,
};

use crate::cluster::{Connection, path};
use gc_core::model::{ObjectEvent, ResourceId, Snapshot};

use super::{
    WatchEvent,
    inbox::{Inbox, LostWatch, WatchUpdates, WatchedList},
    lists::{Doubts, Lists},
    position::Position,
    task::{Sink, WatchTask, places},
};

/// How often [`Watches::listed_again`] looks whether lists have come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Running watches. They end when this is dropped.
pub struct Watches {
    inbox: Arc<Inbox>,
    tasks: JoinSet<()>,
    /// The watched resources, each with the namespace that the watch is limited to.
    begun: Vec<WatchedList>,
    /// When a list is wanted that begins after this time.
    wanted: watch::Sender<Option<Instant>>,
    /// Which watches have to show that they work, each since when.
    doubted: watch::Sender<Doubts>,
}

impl Connection {
    /// Watches everything that the snapshot has listed, from the version of each list. Must be called within a tokio
    /// runtime, which runs the watches.
    ///
    /// A watch that ends or breaks off continues from where it was. If its version is too old, or the resource can't be
    /// watched at all (forbidden, no such verb), [`WatchUpdates::lost`] says so.
    pub fn watch(&self, snapshot: &Snapshot) -> Watches {
        self.watch_with(snapshot, false)
    }

    /// The same, but a resource is listed again where its watch fails ([`WatchUpdates::polled`]), so that no change is
    /// missed unless lists fail, too. It keeps the names of all objects in memory.
    pub fn watch_or_list(&self, snapshot: &Snapshot) -> Watches {
        self.watch_with(snapshot, true)
    }

    fn watch_with(&self, snapshot: &Snapshot, or_lists: bool) -> Watches {
        let (inbox, places) = (Arc::new(Inbox::default()), places());
        let (wanted, wishes) = watch::channel(None);
        let (doubted, doubts) = watch::channel(Doubts::default());
        let (mut tasks, mut begun) = (JoinSet::new(), Vec::new());
        let listed = snapshot.lists.iter().filter(|list| list.failure.is_none() && !list.resource_version.is_empty());
        for (number, list) in listed.enumerate() {
            let resource = snapshot.resources.get(list.resource);
            let watched = (list.resource, list.namespace.clone());
            if !resource.has_verb("watch") {
                inbox.tell(&watched, WatchEvent::Lost { reason: "it cannot be watched".to_owned(), watched: false });
                continue;
            }
            begun.push(watched.clone());
            let sink = Sink::Inbox { inbox: inbox.clone(), list: watched };
            let path = path::of_resource(resource, list.namespace.as_deref());
            let position = Position::new(self.clone(), path, list.resource_version.clone(), number);
            let task = WatchTask::new(position, places.clone(), sink);
            if or_lists {
                tasks.spawn(task.run_or_list(Lists::of(snapshot, list, wishes.clone(), doubts.clone())));
            } else {
                tasks.spawn(task.run());
            }
        }
        Watches { inbox, tasks, begun, wanted, doubted }
    }
}

impl Watches {
    /// The updates since the last call.
    pub fn news(&self) -> WatchUpdates {
        self.inbox.take()
    }

    /// The object events since the last call; lost watches stay for a later call.
    pub fn seen(&self) -> Vec<ObjectEvent> {
        let mut waiting = self.inbox.waiting.lock();
        waiting.places.clear();
        std::mem::take(&mut waiting.news.seen)
    }

    /// The lost watches that were not taken yet.
    pub fn lost(&self) -> Vec<LostWatch> {
        self.inbox.waiting.lock().news.lost.clone()
    }

    /// Receives every single event from now on, and those that were not taken yet. Only the receiver of the last call
    /// gets events.
    pub fn tap(&self) -> UnboundedReceiver<(ResourceId, WatchEvent)> {
        let (sender, receiver) = unbounded_channel();
        let mut waiting = self.inbox.waiting.lock();
        let event = |one: &ObjectEvent| WatchEvent::Seen { object: Box::new(one.object.clone()), gone: one.gone };
        let seen = waiting.news.seen.iter().map(|one| (one.resource, event(one)));
        let uncovered = waiting.uncovered.iter().map(|((resource, _), event)| (*resource, event.clone()));
        // The receiver still exists.
        seen.chain(uncovered).for_each(|event| drop(sender.send(event)));
        waiting.listener = Some(sender);
        receiver
    }

    /// Wants lists that begin from now on, of what is listed because its watch fails.
    pub fn want_lists(&self) {
        self.wanted.send_replace(Some(Instant::now()));
    }

    /// Compares lists of these resources with what their watches have told: a watch that is silent although objects
    /// have changed is replaced by lists, if it may be ([`Connection::watch_or_list`]).
    pub fn doubt(&self, of: impl IntoIterator<Item = ResourceId>) {
        let now = Instant::now();
        self.doubted.send_modify(|doubts| doubts.extend(of.into_iter().map(|resource| (resource, now))));
    }

    /// Waits until nothing that happened before the call is unknown because a watch fails. What is lost is not waited
    /// for ([`Watches::lost`]).
    pub async fn listed_again(&self) {
        let begun = Instant::now();
        if !self.inbox.covers(begun) {
            self.want_lists();
        }
        while !self.inbox.covers(begun) {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Waits until each watch has begun, or failed to.
    pub async fn all_begun(&self) {
        while self.inbox.waiting.lock().begun.len() < self.tasks.len() {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    }

    /// The watched resources, each with the namespace that the watch is limited to. Those that are given up are in
    /// [`WatchUpdates::lost`].
    pub fn begun(&self) -> &[(ResourceId, Option<String>)] {
        &self.begun
    }

    /// Waits for new updates. They may be gone if another caller took them meanwhile.
    pub async fn changed(&self) {
        self.inbox.arrived.notified().await;
    }
}
