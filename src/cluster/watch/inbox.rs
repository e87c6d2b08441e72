//! Watch events that were not taken yet.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use rustc_hash::FxHashMap;
use tokio::sync::{
    Notify,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use crate::model::{ObjectEvent, ResourceId};

use super::{Coverage, LostWatch, WatchNote, WatchUpdates};

/// Collects the events of all watches. Keeps only the latest event of each object, so that it doesn't grow while
/// nothing is taken: a user may think about a question for a long time.
#[derive(Default)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Also receives every single event.
    listener: Option<UnboundedSender<WatchNote>>,
    news: WatchUpdates,
    /// How many watches have begun, or failed to.
    begun: usize,
    /// What no watch covers at present.
    uncovered: FxHashMap<(ResourceId, Option<String>), Coverage>,
    /// The index of an object's event in `news.seen`, by resource and uid.
    places: FxHashMap<(ResourceId, String), usize>,
}

impl Waiting {
    fn tell(&mut self, note: impl FnOnce() -> WatchNote) {
        if let Some(listener) = &self.listener
            && listener.send(note()).is_err()
        {
            self.listener = None;
        }
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an event. The object keeps its place in the order, so a replacement comes after the deletion of the object
    /// it replaces.
    pub(super) fn see(&self, sighting: ObjectEvent) {
        let mut waiting = self.lock();
        waiting.tell(|| WatchNote::Seen(sighting.clone()));
        let Waiting { news, places, .. } = &mut *waiting;
        let place =
            *places.entry((sighting.resource, sighting.object.uid.clone().into_owned())).or_insert(news.seen.len());
        match news.seen.get_mut(place) {
            Some(earlier) => *earlier = sighting,
            None => news.seen.push(sighting),
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// Also sends every event from now on to the returned receiver, after those that were not taken yet.
    pub(super) fn tap(&self) -> UnboundedReceiver<WatchNote> {
        let (sender, receiver) = unbounded_channel();
        let mut waiting = self.lock();
        for sighting in &waiting.news.seen {
            // The receiver still exists.
            drop(sender.send(WatchNote::Seen(sighting.clone())));
        }
        for ((resource, _), coverage) in &waiting.uncovered {
            drop(sender.send(WatchNote::Covered { resource: *resource, coverage: *coverage }));
        }
        waiting.listener = Some(sender);
        receiver
    }

    /// Records that another watch has begun, or failed to.
    pub(super) fn begin(&self) {
        self.lock().begun += 1;
    }

    /// How many watches have begun, or failed to.
    pub(super) fn begun(&self) -> usize {
        self.lock().begun
    }

    /// Records that a watch missed changes.
    pub(super) fn lose(&self, lost: LostWatch) {
        self.lock().news.lost.push(lost);
        self.arrived.notify_one();
    }

    /// Records that lists take a watch's place.
    pub(super) fn poll(&self, resource: ResourceId, reason: String) {
        self.lock().news.polled.push((resource, reason));
        self.arrived.notify_one();
    }

    /// Records how far the changes of a list are known.
    pub(super) fn cover(&self, resource: ResourceId, namespace: Option<&str>, coverage: Coverage) {
        let mut waiting = self.lock();
        let list = (resource, namespace.map(str::to_owned));
        match coverage {
            Coverage::Watched => drop(waiting.uncovered.remove(&list)),
            Coverage::Listed(_) => drop(waiting.uncovered.insert(list, coverage)),
        }
        waiting.tell(|| WatchNote::Covered { resource, coverage });
    }

    /// Whether everything is known up to this time, apart from what is lost.
    pub(super) fn covers(&self, time: Instant) -> bool {
        let waiting = self.lock();
        let is_lost = |resource: &ResourceId, namespace: &Option<String>| {
            waiting.news.lost.iter().any(|lost| lost.resource == *resource && lost.namespace == *namespace)
        };
        let is_current = |coverage: &Coverage| matches!(coverage, Coverage::Listed(Some(begun)) if *begun >= time);
        waiting
            .uncovered
            .iter()
            .all(|((resource, namespace), coverage)| is_current(coverage) || is_lost(resource, namespace))
    }

    /// Takes everything.
    pub(super) fn take(&self) -> WatchUpdates {
        let mut waiting = self.lock();
        waiting.places.clear();
        std::mem::take(&mut waiting.news)
    }

    /// Takes the object events, but not the lost watches.
    pub(super) fn take_seen(&self) -> Vec<ObjectEvent> {
        let mut waiting = self.lock();
        waiting.places.clear();
        std::mem::take(&mut waiting.news.seen)
    }

    /// The lost watches that were not taken.
    pub(super) fn lost(&self) -> Vec<LostWatch> {
        self.lock().news.lost.clone()
    }

    /// Waits for something that arrived after the last wait. It may already have been taken.
    pub(super) async fn arrived(&self) {
        self.arrived.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RawObject;

    fn sighting(uid: &str, version: &str, gone: bool) -> ObjectEvent {
        let object = RawObject {
            uid: uid.to_owned().into(),
            resource_version: version.to_owned().into(),
            ..RawObject::default()
        };
        ObjectEvent { resource: ResourceId(0), object, gone }
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
            inbox.see(sighting(uid, version, gone));
        }
        inbox.see(ObjectEvent { resource: ResourceId(1), ..sighting("a", "6", false) });
        assert_eq!(taken(&inbox), ["a 4 true", "b 2 false", "a2 5 false", "a 6 false"]);
        inbox.see(sighting("a", "7", false));
        assert_eq!(taken(&inbox), ["a 7 false"]);
        assert_eq!(taken(&inbox), [] as [&str; 0]);
    }
}
