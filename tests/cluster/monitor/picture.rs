//! Applies all events of monitors, and compares the result with what the server has.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::{Arc, Mutex},
};

use gc_cluster::cluster::{MonitorId, Monitors, WatchEvent};
use gc_core::model::{RawObject, Resource};
use tokio::runtime::Runtime;

use crate::{
    harness::{Cluster, Retry, poll, uid},
    reading::connect_with,
};

pub use crate::harness::PATIENCE;

/// Monitored resources; dropping this ends the monitors.
pub struct Followed {
    picture: Arc<Mutex<SyncStatus>>,
    // Declared after the status, which the tasks of this runtime write to.
    _runtime: Runtime,
}

/// What the events have reported so far.
#[derive(Default)]
pub struct SyncStatus {
    /// By resource and uid.
    known: HashMap<MonitorId, HashMap<String, RawObject<'static>>>,
    /// Uids that the current list has reported so far.
    listing: HashMap<MonitorId, HashSet<String>>,
    /// Uids of objects that were reported gone, or were missing from a later list.
    gone: HashSet<String>,
    /// The reasons of resources that fail.
    pub failing: BTreeMap<MonitorId, String>,
    /// How many lists were complete.
    pub lists: HashMap<MonitorId, usize>,
    /// How many lists began.
    pub begun: usize,
    /// How often a resource recovered after a failure.
    pub recovered: usize,
    /// How many events came from watches.
    pub events: usize,
}

impl Followed {
    /// Lists and watches these resources with this kubeconfig.
    #[track_caller]
    pub fn start(kubeconfig: &Path, resources: &[(MonitorId, Resource)]) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let picture: Arc<Mutex<SyncStatus>> = Arc::default();
        let mut monitors = Monitors::new(connect_with(kubeconfig, &runtime));
        let (taken, resources) = (picture.clone(), resources.to_vec());
        runtime.spawn(async move {
            for (id, resource) in &resources {
                monitors.start(*id, resource);
            }
            loop {
                let events = monitors.recv().await;
                let mut picture = taken.lock().unwrap();
                for (id, event) in events {
                    picture.take(id, event);
                }
            }
        });
        Followed { picture, _runtime: runtime }
    }

    /// Reads the current status.
    #[track_caller]
    pub fn look<T>(&self, look: impl FnOnce(&SyncStatus) -> T) -> T {
        look(&self.picture.lock().expect("nothing was told that can't be"))
    }

    /// Waits until the status meets a condition.
    #[track_caller]
    pub fn wait_until(&self, what: &str, done: impl Fn(&SyncStatus) -> bool) {
        let waited = poll(PATIENCE, || {
            let describe =
                self.look(|picture| if done(picture) { None } else { Some(format!("{:?}", picture.failing)) });
            describe.map_or(Ok(()), |failing| Err(Retry::Later(failing)))
        });
        waited.unwrap_or_else(|last| panic!("waited {PATIENCE:?} for {what}: {last}"));
    }

    /// Waits until the known objects are those of a list, and checks that none of them was ever reported gone.
    #[track_caller]
    pub fn is_all_there_is(&self, cluster: &Cluster, id: MonitorId, list: &str) {
        let of_list = || -> BTreeMap<String, String> {
            let version =
                |item: &serde_json::Value| item["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
            cluster.list(list).iter().map(|item| (uid(item).to_owned(), version(item))).collect()
        };
        let same = poll(PATIENCE, || {
            let there = of_list();
            let known = self.look(|picture| picture.versions(id));
            if there == known {
                return Ok(());
            }
            let differs: Vec<_> =
                there.iter().filter(|(uid, version)| known.get(*uid) != Some(version)).take(5).collect();
            let too_many: Vec<_> = known.keys().filter(|uid| !there.contains_key(*uid)).take(5).collect();
            Err(Retry::Later(format!(
                "not known: {differs:?}, not there: {too_many:?}, {:?}",
                self.look(|p| p.failing.clone())
            )))
        });
        same.unwrap_or_else(|last| panic!("{list}: {last}"));
        let there = of_list();
        let back: Vec<String> =
            self.look(|picture| picture.gone.iter().filter(|uid| there.contains_key(*uid)).cloned().collect());
        assert!(back.is_empty(), "{list}: what is there was said to be gone: {back:?}");
    }
}

impl SyncStatus {
    fn versions(&self, id: MonitorId) -> BTreeMap<String, String> {
        let known = self.known.get(&id).into_iter().flatten();
        known.map(|(uid, object)| (uid.clone(), object.resource_version.clone().into_owned())).collect()
    }

    fn take(&mut self, id: MonitorId, event: WatchEvent) {
        let known = self.known.entry(id).or_default();
        match event {
            WatchEvent::Listing => {
                self.begun += 1;
                self.listing.insert(id, HashSet::new());
            }
            WatchEvent::Seen { object, gone } => {
                let uid = object.uid.clone().into_owned();
                let version = |object: &RawObject<'_>| {
                    object.resource_version.parse::<u64>().expect("versions of etcd are numbers")
                };
                let now = version(&object);
                let listed = self.listing.get_mut(&id);
                if let Some(before) = known.get(&uid) {
                    let before = version(before);
                    assert!(
                        before < now || (listed.is_some() && before == now),
                        "{uid} goes back from {before} to {now}"
                    );
                }
                assert!(!self.gone.contains(&uid), "{uid} comes back");
                match listed {
                    Some(listed) => {
                        assert!(!gone, "a list tells of {uid} that it is gone");
                        assert!(listed.insert(uid.clone()), "a list tells of {uid} twice");
                    }
                    None => {
                        assert!(self.lists.contains_key(&id), "a watch without a list before");
                        self.events += 1;
                    }
                }
                if gone {
                    known.remove(&uid);
                    self.gone.insert(uid);
                } else {
                    known.insert(uid, *object);
                }
            }
            WatchEvent::Listed => {
                let listed = self.listing.remove(&id).expect("a list ends that began");
                let (there, gone): (HashMap<_, _>, HashMap<_, _>) =
                    known.drain().partition(|(uid, _)| listed.contains(uid));
                *known = there;
                self.gone.extend(gone.into_keys());
                *self.lists.entry(id).or_default() += 1;
                self.failing.remove(&id);
            }
            WatchEvent::Failing { reason } => {
                let before = self.failing.insert(id, reason.clone());
                assert_ne!(before, Some(reason), "it is said twice");
            }
            WatchEvent::Polled { .. } => panic!("only a sweep reads lists in the watch's place"),
            WatchEvent::Lost { .. } => panic!("monitors list again what they missed"),
            WatchEvent::Recovered => {
                assert!(self.failing.remove(&id).is_some(), "nothing was said to fail");
                self.recovered += 1;
            }
        }
    }
}
