//! What watches have told and nobody has taken in yet.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tokio::sync::{
    Notify,
    mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
};

use crate::model::{ObjectEvent, ResourceId};

use super::{LostWatch, WatchUpdates};

/// Takes what all watches tell. Of each object only the latest is kept, so that it doesn't grow with time: nobody may
/// come for it for as long as somebody thinks about a question.
#[derive(Default)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Default)]
struct Waiting {
    /// Who is told of each sighting besides.
    listener: Option<UnboundedSender<ObjectEvent>>,
    news: WatchUpdates,
    /// Where in the news an object is, by resource and uid.
    places: FxHashMap<(ResourceId, String), usize>,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object was seen. It keeps its place among the others: what takes the place of another object comes after that
    /// one has gone.
    pub(super) fn see(&self, sighting: ObjectEvent) {
        let mut waiting = self.lock();
        let Waiting { listener, news, places } = &mut *waiting;
        if let Some(sender) = listener.as_ref()
            && sender.send(sighting.clone()).is_err()
        {
            *listener = None;
        }
        let place =
            *places.entry((sighting.resource, sighting.object.uid.clone().into_owned())).or_insert(news.seen.len());
        match news.seen.get_mut(place) {
            Some(earlier) => *earlier = sighting,
            None => news.seen.push(sighting),
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// From now on every single sighting is sent there as well, and what was seen and not taken before that at once.
    pub(super) fn tap(&self) -> UnboundedReceiver<ObjectEvent> {
        let (sender, receiver) = unbounded_channel();
        let mut waiting = self.lock();
        for sighting in &waiting.news.seen {
            // The receiver is here.
            drop(sender.send(sighting.clone()));
        }
        waiting.listener = Some(sender);
        receiver
    }

    /// A watch has lost track.
    pub(super) fn lose(&self, lost: LostWatch) {
        self.lock().news.lost.push(lost);
        self.arrived.notify_one();
    }

    /// Takes everything.
    pub(super) fn take(&self) -> WatchUpdates {
        let mut waiting = self.lock();
        waiting.places.clear();
        std::mem::take(&mut waiting.news)
    }

    /// Takes what was seen, and leaves what was lost.
    pub(super) fn take_seen(&self) -> Vec<ObjectEvent> {
        let mut waiting = self.lock();
        waiting.places.clear();
        std::mem::take(&mut waiting.news.seen)
    }

    /// What was lost and not taken.
    pub(super) fn lost(&self) -> Vec<LostWatch> {
        self.lock().news.lost.clone()
    }

    /// Waits until something has arrived since this was waited for last. It may have been taken already.
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

    /// What is taken: uids and versions, in their order.
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
