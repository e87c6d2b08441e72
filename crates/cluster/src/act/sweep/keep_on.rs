//! A sweep that runs until it is stopped: watches every deletable resource, repeats discovery, and works on although
//! some resources can't be read (R2.5, R2.6).

use std::{
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    time::{Duration, Instant},
};

use jiff::Timestamp;
use rustc_hash::FxHashSet;
use tokio::{
    sync::mpsc::{Receiver, channel},
    time::{sleep_until, timeout},
};

use crate::{
    act::{look::Polled, owner_events::record_invalid_owner},
    cluster::{ConnectError, Connection, Discoveries, FollowChanges, MonitorId, Monitors, WatchEvent},
};
use gc_core::{
    collector::live::{KindId, Live},
    model::{API_SERVICE, Described, Gap, Identity, Resource, Resources, UNDISCOVERED, group_version_of_service},
};

use super::{Coverage, Settings, SweepEvent, SweepObserver, Sweeper, SyncStatus, names, state::Unseen};

/// How long to wait for the first lists; then work begins without the missing ones (R2.6).
const FIRST_LISTS: Duration = Duration::from_secs(30);
/// The sync status is reported once it has not changed for this long.
const SETTLED: Duration = Duration::from_millis(300);
/// And after this long at the latest.
const LATEST: Duration = Duration::from_secs(5);
/// How long work under way may take to finish.
const TO_STOP: Duration = Duration::from_secs(15);

/// How soon discovery is read again that failed, in part or whole, or lacks what an APIService names; each later time
/// comes twice as late, but not later than any other.
const DISCOVERED_LATER: Duration = Duration::from_millis(500);

/// How many events about owners may wait to be written.
const MOST_EVENTS: usize = 10_000;

/// How often [`SweepEvent::Alive`] is told.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// Sweeps until `ends` is done, and then finishes the work under way. `connection` carries writes and look-ups,
/// `reading` lists and watches.
///
/// # Errors
/// When the first discovery fails. Later ones are tried again.
pub async fn keep_sweeping(
    connection: Connection,
    reading: Connection,
    settings: Settings,
    resync: Duration,
    observer: SweepObserver,
    ends: impl Future<Output = ()>,
) -> Result<(), ConnectError> {
    let mut ends = pin!(ends);
    let (resources, gaps) = tokio::select! {
        found = reading.discover() => found?,
        () = &mut ends => return Ok(()),
    };
    let begun = Instant::now();
    let mut keeping = Keeping {
        sweeper: Sweeper::new(connection.clone(), settings, observer.clone()),
        observer,
        monitors: Monitors::new(reading.clone()).or_lists(),
        discoveries: Discoveries::new(reading, begun),
        followed: BTreeMap::new(),
        gaps: Vec::new(),
        services: Services::default(),
        described: Described::default(),
        served: Vec::new(),
        working: false,
        last_told: None,
        changed: None,
        polled: Polled::default(),
    };
    keeping.serve(resources, gaps);
    let (invalid, to_record) = channel(MOST_EVENTS);
    let recording = tokio::spawn(record(connection, to_record));
    let mut heartbeat = begun;
    let mut missing = names(&keeping.undiscovered());
    keeping.discoveries.begin_at(begun + if missing.is_empty() { resync } else { DISCOVERED_LATER.min(resync) });
    let mut later = DISCOVERED_LATER;
    loop {
        if !keeping.working && (keeping.status().missing.is_empty() || begun.elapsed() >= FIRST_LISTS) {
            keeping.begin();
        }
        keeping.tell();
        keeping.tell_polled();
        for complaint in keeping.sweeper.complaints() {
            // If too many wait, drop the event: it is only information.
            drop(invalid.try_send(complaint));
        }
        if heartbeat <= Instant::now() {
            let (objects, only_named) = keeping.sweeper.known();
            (keeping.observer)(SweepEvent::Alive { objects, only_named });
            heartbeat = Instant::now() + HEARTBEAT;
        }
        let wakes = keeping.wakes(heartbeat);
        tokio::select! {
            () = &mut ends => break,
            news = keeping.monitors.recv() => {
                let (events, begun) = (news.len(), Instant::now());
                keeping.apply_events(news);
                if keeping.misses_more(&mut missing) {
                    later = DISCOVERED_LATER;
                    keeping.discoveries.begin_at(Instant::now());
                }
                let waiting = keeping.monitors.waiting();
                (keeping.observer)(SweepEvent::TookIn { events, waiting, took: begun.elapsed() });
            }
            found = keeping.discoveries.next() => {
                let read = found.map(|(resources, gaps)| keeping.serve(resources, gaps));
                if let Err(why) = &read {
                    (keeping.observer)(SweepEvent::Undiscovered(why));
                }
                if keeping.misses_more(&mut missing) {
                    later = DISCOVERED_LATER;
                }
                let is_whole = read.is_ok() && missing.is_empty();
                let pause = if is_whole { resync } else { later.min(resync) };
                later = if is_whole { DISCOVERED_LATER } else { later.saturating_mul(2) };
                keeping.discoveries.begin_at(Instant::now() + pause);
            }
            () = sleep_until(wakes.into()) => {}
        }
    }
    recording.abort();
    drop(keeping.monitors);
    // Don't wait for workers whose server doesn't answer: each write names uid and version, and can be repeated.
    drop(timeout(TO_STOP, keeping.sweeper.stop()).await);
    Ok(())
}

/// Writes an event for each invalid reference. A failed write stops nothing.
async fn record(connection: Connection, mut to_record: Receiver<(Identity, Identity)>) {
    while let Some((dependent, owner)) = to_record.recv().await {
        drop(record_invalid_owner(&connection, &dependent, &owner, Timestamp::now()).await);
    }
}

struct Keeping {
    sweeper: Sweeper,
    observer: SweepObserver,
    monitors: Monitors,
    discoveries: Discoveries,
    followed: BTreeMap<MonitorId, Followed>,
    gaps: Vec<Gap>,
    services: Services,
    described: Described,
    /// The served resources that the sweeper got last.
    served: Vec<Resource>,
    working: bool,
    last_told: Option<SyncStatus>,
    /// When the status began to differ from the last report, when it changed last, and the status.
    changed: Option<(Instant, Instant, SyncStatus)>,
    /// What is listed because it can't be watched, until that is reported.
    polled: Polled,
}

struct Followed {
    kind: KindId,
    resource: Resource,
    /// Whether it was ever listed completely.
    listed: bool,
    /// Why it can't be read at present.
    failing: Option<String>,
    /// Whether it was ever listed because it can't be watched.
    polled: bool,
}

impl Followed {
    fn apply(&mut self, live: &mut Live, event: WatchEvent, working: bool) {
        match event {
            WatchEvent::Listing => live.begin_list(self.kind),
            WatchEvent::Seen { object, gone: false } => live.see(self.kind, &object),
            WatchEvent::Seen { object, gone: true } => live.gone(&object.uid),
            WatchEvent::Listed => {
                live.end_list(self.kind);
                if working && !self.listed {
                    // Its objects were missing until now: examine again everything that depends on them.
                    live.begin_sweep();
                } else if working {
                    live.forget_absences();
                }
                (self.listed, self.failing) = (true, None);
            }
            WatchEvent::Failing { reason } | WatchEvent::Lost { reason, .. } => {
                self.failing = Some(reason);
                live.forget_absences();
            }
            // The list before it has told what there is.
            WatchEvent::Recovered | WatchEvent::Polled { .. } => self.failing = None,
        }
    }
}

impl Keeping {
    /// Starts to watch newly served resources, and stops watching those that are no longer served. Resources of
    /// undiscovered group versions stay watched.
    fn serve(&mut self, resources: Resources, gaps: Vec<Gap>) {
        // A server that is starting may not serve anything yet.
        if resources.is_empty() {
            return;
        }
        self.described = resources.described_by_discovery().clone();
        let wanted: Vec<Resource> = resources.deletable().map(|(_, resource)| resource.clone()).collect();
        for resource in &wanted {
            // Its kind may have another name by now.
            self.sweeper.kind(resource);
        }
        let FollowChanges { stopped, begun } = self.monitors.follow(&wanted, &gaps);
        for id in stopped {
            if let Some(followed) = self.followed.remove(&id) {
                self.sweeper.cover(followed.kind, Coverage::Watched);
                self.sweeper.tell(|live| live.stopped(followed.kind));
            }
        }
        for (id, resource) in begun {
            let kind = self.sweeper.kind(&resource);
            self.followed.insert(id, Followed { kind, resource, listed: false, failing: None, polled: false });
        }
        let served: Vec<Resource> = resources.iter().map(|(_, resource)| resource.clone()).collect();
        if served != self.served || gaps != self.gaps {
            // A resource that can no longer be read may still be served.
            (self.served, self.gaps) = (served, gaps);
            self.sweeper.serve(resources, &self.undiscovered());
        }
        self.tell_unseen();
    }

    /// Tells the sweeper what it can't know at present.
    fn tell_unseen(&self) {
        self.sweeper.set_undiscovered(&self.undiscovered());
        self.sweeper.set_unseen(self.unseen());
    }

    fn begin(&mut self) {
        self.working = true;
        self.sweeper.begin();
    }

    fn apply_events(&mut self, news: Vec<(MonitorId, WatchEvent)>) {
        let Keeping { sweeper, followed, working, polled, services, .. } = self;
        let mut coverage = Vec::new();
        sweeper.tell(|live| {
            for (monitor, event) in news {
                let Some(followed) = followed.get_mut(&monitor) else { continue };
                if (followed.resource.group.as_str(), followed.resource.kind.as_str()) == API_SERVICE {
                    services.apply(&event);
                }
                if let WatchEvent::Polled { reason, .. } = &event
                    && !std::mem::replace(&mut followed.polled, true)
                {
                    polled.add(followed.resource.full_name(), reason.clone());
                }
                // While it fails, it is unseen as a whole.
                if !matches!(event, WatchEvent::Failing { .. }) {
                    coverage.extend(Coverage::after(&event).map(|coverage| (followed.kind, coverage)));
                }
                followed.apply(live, event, *working);
            }
        });
        for (kind, coverage) in coverage {
            sweeper.cover(kind, coverage);
        }
        self.tell_unseen();
    }

    /// Gaps for the group versions that an APIService names, and discovery doesn't.
    fn lacking(&self) -> Vec<Gap> {
        let is_new = |name: &&str| self.described.lacks(name) && !self.gaps.iter().any(|gap| gap.resource == **name);
        let gap =
            |name: &str| Gap { resource: name.to_owned(), namespace: None, reason: UNDISCOVERED.to_owned().into() };
        self.services.named().filter(is_new).map(gap).collect()
    }

    /// Whether group versions are missing that were not missing before. Updates those.
    fn misses_more(&self, before: &mut FxHashSet<String>) -> bool {
        let missing = names(&self.undiscovered());
        let more = !missing.is_subset(before);
        *before = missing;
        more
    }

    /// Gaps for all group versions of which nothing is known.
    fn undiscovered(&self) -> Vec<Gap> {
        self.gaps.iter().cloned().chain(self.lacking()).collect()
    }

    /// What can't be read at present.
    fn unseen(&self) -> Vec<Unseen> {
        let listed = self.followed.values().filter_map(|followed| {
            let unlisted = || (!followed.listed).then(|| "not listed yet".to_owned());
            let why = followed.failing.clone().or_else(unlisted)?;
            let Resource { namespaced, .. } = followed.resource;
            Some(Unseen { name: followed.resource.full_name(), why, cluster_scoped: !namespaced })
        });
        let gaps = self.undiscovered().into_iter().filter(|gap| !gap.serves_only_metrics());
        let undiscovered =
            gaps.map(|gap| Unseen { name: gap.resource, why: gap.reason.to_string(), cluster_scoped: false });
        let mut unseen: Vec<Unseen> = listed.chain(undiscovered).collect();
        unseen.sort();
        unseen
    }

    fn status(&self) -> SyncStatus {
        let is_synced = |followed: &&Followed| followed.listed && followed.failing.is_none();
        SyncStatus {
            synced: self.followed.values().filter(is_synced).count(),
            missing: self.unseen().into_iter().map(|unseen| (unseen.name, unseen.why)).collect(),
        }
    }

    /// Reports the sync status once work has begun, and whenever it has changed and settled.
    fn tell(&mut self) {
        if !self.working {
            return;
        }
        let (status, now) = (self.status(), Instant::now());
        if self.last_told.as_ref() == Some(&status) {
            self.changed = None;
            return;
        }
        let first = self.last_told.is_none();
        let (since, last) = match &self.changed {
            Some((since, last, seen)) if *seen == status => (*since, *last),
            Some((since, _, _)) => (*since, now),
            None => (now, now),
        };
        if first || now.duration_since(last) >= SETTLED || now.duration_since(since) >= LATEST {
            (self.observer)(SweepEvent::Synced(&status));
            (self.last_told, self.changed) = (Some(status), None);
        } else {
            self.changed = Some((since, last, status));
        }
    }

    fn tell_polled(&mut self) {
        let polled = self.polled.take(false);
        if !polled.is_empty() {
            (self.observer)(SweepEvent::Polled(polled));
        }
    }

    /// When to wake up even without events.
    fn wakes(&self, heartbeat: Instant) -> Instant {
        let heartbeat = self.polled.due().map_or(heartbeat, |due| due.min(heartbeat));
        match &self.changed {
            Some((since, last, _)) => heartbeat.min(*last + SETTLED).min(*since + LATEST),
            None => heartbeat,
        }
    }
}

/// The APIServices, as far as they are known: discovery may lack a group version that one names.
#[derive(Debug, Default)]
pub(super) struct Services {
    /// The group version that each living one names, by uid.
    named: BTreeMap<String, String>,
    /// The uids in the list that is being read.
    listed: Option<BTreeSet<String>>,
}

impl Services {
    /// Takes in an event of an APIService.
    pub(super) fn apply(&mut self, event: &WatchEvent) {
        match event {
            WatchEvent::Listing => self.listed = Some(BTreeSet::new()),
            WatchEvent::Seen { object, gone } => {
                let uid = object.uid.to_string();
                match group_version_of_service(&object.name).filter(|_| !gone && object.deleted.is_none()) {
                    Some(group_version) => self.named.insert(uid.clone(), group_version),
                    None => self.named.remove(&uid),
                };
                if let Some(listed) = &mut self.listed {
                    listed.insert(uid);
                }
            }
            WatchEvent::Listed => {
                if let Some(listed) = self.listed.take() {
                    self.named.retain(|uid, _| listed.contains(uid));
                }
            }
            WatchEvent::Failing { .. }
            | WatchEvent::Recovered
            | WatchEvent::Polled { .. }
            | WatchEvent::Lost { .. } => {}
        }
    }

    /// The group versions that they name.
    pub(super) fn named(&self) -> impl Iterator<Item = &str> {
        self.named.values().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gc_core::model::RawObject;

    fn seen(name: &str, deleted: Option<i64>, gone: bool) -> WatchEvent {
        let object = RawObject {
            name: name.to_owned().into(),
            uid: format!("u-{name}").into(),
            deleted,
            ..RawObject::default()
        };
        WatchEvent::Seen { object: Box::new(object), gone }
    }

    #[test]
    fn what_goes_or_is_not_listed_again_names_nothing() {
        let mut services = Services::default();
        let mut after = |events: &[WatchEvent]| {
            events.iter().for_each(|event| services.apply(event));
            services.named().map(str::to_owned).collect::<Vec<_>>()
        };
        let (a, b) = (|| seen("v1.a.io", None, false), || seen("v1.b.io", None, false));
        let listing = || WatchEvent::Listing;
        let listed = || WatchEvent::Listed;
        assert_eq!(after(&[listing(), a(), b(), seen("v1.", None, false), listed()]), ["a.io/v1", "b.io/v1"]);
        assert_eq!(after(&[seen("v1.a.io", Some(1), false)]), ["b.io/v1"]);
        assert_eq!(after(&[a(), seen("v1.b.io", None, true)]), ["a.io/v1"]);
        assert_eq!(after(&[listing(), b()]), ["a.io/v1", "b.io/v1"], "the list has not ended");
        assert_eq!(after(&[listed()]), ["b.io/v1"]);
    }
}
