//! Watch events that were not taken yet.

use std::time::Instant;

use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use tokio::sync::{Notify, mpsc::UnboundedSender};

use gc_core::model::{ObjectEvent, ResourceId};

use super::WatchEvent;

/// A watched resource, and the namespace that its watch is limited to; `None`: all.
pub(super) type WatchedList = (ResourceId, Option<String>);

/// The watch events since the last call.
#[derive(Debug, Default)]
pub struct WatchUpdates {
    /// The latest event of each object; a replacement comes after the object it replaces.
    pub seen: Vec<ObjectEvent>,
    /// Watches that may have missed changes.
    pub lost: Vec<LostWatch>,
    /// Resources that are listed again and again because their watch fails, and why. Nothing is missed.
    pub polled: Vec<(ResourceId, String)>,
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

/// Collects the events of all watches. Keeps only the latest event of each object, so that it doesn't grow while
/// nothing is taken: a user may think about a question for a long time.
#[derive(Default)]
pub(super) struct Inbox {
    pub(super) waiting: Mutex<Waiting>,
    pub(super) arrived: Notify,
}

#[derive(Default)]
pub(super) struct Waiting {
    /// Also receives every single event.
    pub(super) listener: Option<UnboundedSender<(ResourceId, WatchEvent)>>,
    pub(super) news: WatchUpdates,
    /// The watches that have begun, or failed to.
    pub(super) begun: FxHashSet<WatchedList>,
    /// What no watch covers at present: that it fails, or the last list that was read instead.
    pub(super) uncovered: FxHashMap<WatchedList, WatchEvent>,
    /// The index of an object's event in `news.seen`, by resource and uid.
    pub(super) places: FxHashMap<(ResourceId, String), usize>,
}

impl Waiting {
    /// Adds an event. The object keeps its place in the order, so a replacement comes after the deletion of the object
    /// it replaces.
    fn see(&mut self, event: ObjectEvent) {
        let Waiting { news, places, .. } = self;
        let place = *places.entry((event.resource, event.object.uid.clone().into_owned())).or_insert(news.seen.len());
        match news.seen.get_mut(place) {
            Some(earlier) => *earlier = event,
            None => news.seen.push(event),
        }
    }
}

impl Inbox {
    /// Takes in an event.
    pub(super) fn tell(&self, list: &WatchedList, event: WatchEvent) {
        let (resource, namespace) = list;
        let mut waiting = self.waiting.lock();
        if let Some(listener) = &waiting.listener
            && listener.send((*resource, event.clone())).is_err()
        {
            waiting.listener = None;
        }
        match event {
            WatchEvent::Seen { object, gone } => {
                waiting.see(ObjectEvent { resource: *resource, object: *object, gone })
            }
            WatchEvent::Lost { reason, watched } => {
                let lost = LostWatch { resource: *resource, namespace: namespace.clone(), reason, watched };
                waiting.news.lost.push(lost);
            }
            WatchEvent::Polled { reason, begun: None } => waiting.news.polled.push((*resource, reason)),
            WatchEvent::Failing { .. } | WatchEvent::Polled { .. } => {
                waiting.uncovered.insert(list.clone(), event);
            }
            WatchEvent::Recovered => drop(waiting.uncovered.remove(list)),
            WatchEvent::Listing | WatchEvent::Listed => {}
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Records that a watch has begun, or failed to.
    pub(super) fn begun(&self, list: &WatchedList) {
        self.waiting.lock().begun.insert(list.clone());
    }

    /// Whether everything is known up to this time, apart from what is lost.
    pub(super) fn covers(&self, time: Instant) -> bool {
        let waiting = self.waiting.lock();
        let is_lost = |(resource, namespace): &WatchedList| {
            waiting.news.lost.iter().any(|lost| lost.resource == *resource && lost.namespace == *namespace)
        };
        let is_current = |event: &WatchEvent| matches!(event, WatchEvent::Polled { begun, .. } if *begun >= Some(time));
        waiting.uncovered.iter().all(|(list, event)| is_current(event) || is_lost(list))
    }

    /// Takes everything.
    pub(super) fn take(&self) -> WatchUpdates {
        let mut waiting = self.waiting.lock();
        waiting.places.clear();
        std::mem::take(&mut waiting.news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gc_core::model::RawObject;

    fn see(inbox: &Inbox, resource: u32, uid: &str, version: &str, gone: bool) {
        let object = RawObject {
            uid: uid.to_owned().into(),
            resource_version: version.to_owned().into(),
            ..RawObject::default()
        };
        inbox.tell(&(ResourceId(resource), None), WatchEvent::Seen { object: Box::new(object), gone });
    }

    /// Takes the events: uids and versions, in order.
    fn taken(inbox: &Inbox) -> Vec<String> {
        let seen = inbox.take().seen;
        seen.iter().map(|one| format!("{} {} {}", one.object.uid, one.object.resource_version, one.gone)).collect()
    }

    #[test]
    fn only_the_latest_of_each_object_is_kept() {
        let inbox = Inbox::default();
        for (uid, version, gone) in
            [("a", "1", false), ("b", "2", false), ("a", "3", false), ("a", "4", true), ("a2", "5", false)]
        {
            see(&inbox, 0, uid, version, gone);
        }
        see(&inbox, 1, "a", "6", false);
        assert_eq!(taken(&inbox), ["a 4 true", "b 2 false", "a2 5 false", "a 6 false"]);
        see(&inbox, 0, "a", "7", false);
        assert_eq!(taken(&inbox), ["a 7 false"]);
        assert_eq!(taken(&inbox), [] as [&str; 0]);
    }
}
