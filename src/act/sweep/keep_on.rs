//! Sweeping for as long as somebody wants it: every deletable resource is followed, what is served is looked at again
//! and again, and one resource that can't be read holds up nobody else (R2.5, R2.6).

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc::{Receiver, channel},
    task::JoinHandle,
    time::{sleep_until, timeout},
};

use crate::{
    cluster::{ConnectError, Connection, MonitorEvent, MonitorId, Monitors},
    collector::live::{KindId, Live},
    model::{Gap, Identity, Resource, Resources},
    plan::measures_only,
};

use super::{Settings, SweepObserver, Sweeper};
use crate::act::owner_events::OwnerEventRecorder;

/// How long the first lists are waited for before work begins without those that are missing (R2.6).
const FIRST_LISTS: Duration = Duration::from_secs(30);
/// What is known of the picture is told once it has not changed for so long.
const SETTLED: Duration = Duration::from_millis(300);
/// And after so long at the latest.
const LATEST: Duration = Duration::from_secs(5);
/// How long work under way may take to come to its end.
const TO_STOP: Duration = Duration::from_secs(15);

/// How many events about owners may wait to be written.
const MOST_EVENTS: usize = 10_000;

/// What a look at what is served brings.
type Discovered = Result<(Resources, Vec<Gap>), ConnectError>;

/// How often there is a sign of life.
const HEARTBEAT: Duration = Duration::from_secs(1);

/// How complete the picture is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncStatus {
    /// How many resources all is known of.
    pub synced: usize,
    /// What isn't known, and why: resources, and group versions of which nobody says what they serve.
    pub missing: Vec<(String, String)>,
}

/// Is told how a sweep that keeps on gets on.
pub trait WatchObserver: Send {
    /// The picture, when work begins and whenever that changes.
    fn picture(&mut self, picture: &SyncStatus);
    /// What is served could not be found out this time.
    fn undiscovered(&mut self, why: &str);
    /// So much was told by the API server and taken in, and so much is still waiting to be.
    fn took_in(&mut self, news: usize, waiting: usize, took: Duration);
    /// It goes on; so many objects are known, and so many owners are only named.
    fn alive(&mut self, objects: usize, only_named: usize);
}

/// Sweeps until `ends` is done, and then brings to its end what was begun. `connection` is what writes and look-ups go
/// through; lists and watches go through the other.
///
/// # Errors
/// When nobody says what is served in the beginning. Later on, that is tried again.
pub async fn keep_sweeping(
    connection: Connection,
    reading: Connection,
    settings: Settings,
    resync: Duration,
    sweep_told: Arc<dyn SweepObserver>,
    observer: &mut dyn WatchObserver,
    ends: impl Future<Output = ()>,
) -> Result<(), ConnectError> {
    let mut ends = pin!(ends);
    let (resources, gaps) = tokio::select! {
        found = reading.discover() => found?,
        () = &mut ends => return Ok(()),
    };
    let mut keeping = Keeping {
        sweeper: Sweeper::new(connection.clone(), settings, sweep_told),
        monitors: Monitors::new(reading.clone()),
        followed: BTreeMap::new(),
        gaps: Vec::new(),
        served: Vec::new(),
        working: false,
        last_told: None,
        changed: None,
    };
    keeping.serve(resources, gaps);
    let (invalid, to_record) = channel(MOST_EVENTS);
    let recording = tokio::spawn(record(OwnerEventRecorder::new(connection), to_record));
    let begun = Instant::now();
    let mut next_look = begun + resync;
    let mut heartbeat = begun;
    let mut look: Option<JoinHandle<Discovered>> = None;
    loop {
        if !keeping.working && (keeping.picture().missing.is_empty() || begun.elapsed() >= FIRST_LISTS) {
            keeping.begin();
        }
        keeping.tell(observer);
        for complaint in keeping.sweeper.complaints() {
            // Where there are too many, some are left out: they are only told to be read.
            drop(invalid.try_send(complaint));
        }
        if heartbeat <= Instant::now() {
            let (objects, only_named) = keeping.sweeper.known();
            observer.alive(objects, only_named);
            heartbeat = Instant::now() + HEARTBEAT;
        }
        let wakes = keeping.wakes(heartbeat);
        tokio::select! {
            () = &mut ends => break,
            news = keeping.monitors.describe() => {
                let (number, begun) = (news.len(), Instant::now());
                keeping.apply_events(news);
                observer.took_in(number, keeping.monitors.waiting(), begun.elapsed());
            }
            found = async { match &mut look { Some(look) => look.await, None => pending().await } } => {
                look = None;
                next_look = Instant::now() + resync;
                match found {
                    Ok(Ok((resources, gaps))) => keeping.serve(resources, gaps),
                    Ok(Err(error)) => observer.undiscovered(&ConnectError::to_string(&error)),
                    Err(error) => observer.undiscovered(&error.to_string()),
                }
            }
            () = sleep_until(next_look.into()), if look.is_none() => {
                let reading = reading.clone();
                look = Some(tokio::spawn(async move { reading.discover().await }));
            }
            () = sleep_until(wakes.into()) => {}
        }
    }
    recording.abort();
    drop(keeping.monitors);
    // Whoever waits for a server that doesn't answer isn't waited for: each write says exactly what it means, and can
    // be done again.
    drop(timeout(TO_STOP, keeping.sweeper.stop()).await);
    Ok(())
}

/// Writes an event for each. That one could not be written stops nobody.
async fn record(recorder: OwnerEventRecorder, mut to_record: Receiver<(Identity, Identity)>) {
    while let Some((dependent, owner)) = to_record.recv().await {
        drop(recorder.record(&dependent, &owner).await);
    }
}

struct Keeping {
    sweeper: Sweeper,
    monitors: Monitors,
    followed: BTreeMap<MonitorId, Followed>,
    gaps: Vec<Gap>,
    /// What is served, as it was told last.
    served: Vec<Resource>,
    working: bool,
    last_told: Option<SyncStatus>,
    /// When the picture began to differ from what was told last, and when it changed last.
    changed: Option<(Instant, Instant, SyncStatus)>,
}

struct Followed {
    kind: KindId,
    resource: Resource,
    /// Whether it was ever listed.
    listed: bool,
    /// Why it can't be read for now.
    failing: Option<String>,
}

impl Followed {
    fn apply_events(&mut self, live: &mut Live, observer: MonitorEvent, working: bool) {
        match observer {
            MonitorEvent::Listing(_) => live.begin_list(self.kind),
            MonitorEvent::Seen { object, gone: false, .. } => live.see(self.kind, &object),
            MonitorEvent::Seen { object, gone: true, .. } => live.gone(&object.uid),
            MonitorEvent::Listed(_) => {
                live.end_list(self.kind);
                if working && !self.listed {
                    // Something was missing until now: whatever has to do with it is looked at again.
                    live.begin_sweep();
                } else if working {
                    live.forget_absences();
                }
                (self.listed, self.failing) = (true, None);
            }
            MonitorEvent::Failing { reason, .. } => {
                self.failing = Some(reason);
                live.forget_absences();
            }
            MonitorEvent::Recovered(_) => self.failing = None,
        }
    }
}

impl Keeping {
    /// Follows what is served and is not followed yet, and lets go of what isn't served any more. What could not be
    /// discovered is followed on.
    fn serve(&mut self, resources: Resources, gaps: Vec<Gap>) {
        // A server that comes up may know of nothing yet.
        if resources.is_empty() {
            return;
        }
        let undiscovered: BTreeSet<&str> = gaps.iter().map(|gap| gap.resource.as_str()).collect();
        let mut wanted: BTreeMap<MonitorId, (KindId, Resource)> = BTreeMap::new();
        for (_, resource) in resources.deletable() {
            let kind = self.sweeper.kind(resource);
            wanted.insert(MonitorId(kind.0), (kind, resource.clone()));
        }
        let gone = |id: &MonitorId, followed: &Followed| {
            !wanted.contains_key(id) && !undiscovered.contains(followed.resource.api_version().as_str())
        };
        let gone: Vec<MonitorId> =
            self.followed.iter().filter(|(id, followed)| gone(id, followed)).map(|(id, _)| *id).collect();
        for id in gone {
            self.monitors.stop(id);
            if let Some(followed) = self.followed.remove(&id) {
                self.sweeper.tell(|live| live.stopped(followed.kind));
            }
        }
        for (id, (kind, resource)) in wanted {
            if !self.followed.contains_key(&id) {
                self.monitors.start(id, &resource);
                self.followed.insert(id, Followed { kind, resource, listed: false, failing: None });
            }
        }
        let served: Vec<Resource> = resources.iter().map(|(_, resource)| resource.clone()).collect();
        if served != self.served || gaps != self.gaps {
            // What can't be read any more is still served, as far as anybody knows.
            self.sweeper.serve(resources, &gaps);
            (self.served, self.gaps) = (served, gaps);
        }
    }

    fn begin(&mut self) {
        self.working = true;
        self.sweeper.begin();
    }

    fn apply_events(&mut self, news: Vec<MonitorEvent>) {
        let Keeping { sweeper, followed, working, .. } = self;
        sweeper.tell(|live| {
            for observer in news {
                if let Some(followed) = followed.get_mut(&observer.monitor()) {
                    followed.apply_events(live, observer, *working);
                }
            }
        });
    }

    fn picture(&self) -> SyncStatus {
        let mut picture = SyncStatus::default();
        for followed in self.followed.values() {
            match &followed.failing {
                Some(why) => picture.missing.push((followed.resource.full_name(), why.clone())),
                None if !followed.listed => {
                    picture.missing.push((followed.resource.full_name(), "not listed yet".to_owned()))
                }
                None => picture.synced += 1,
            }
        }
        let gaps = self.gaps.iter().filter(|gap| !measures_only(gap));
        picture.missing.extend(gaps.map(|gap| (gap.resource.clone(), gap.reason.to_string())));
        picture.missing.sort();
        picture
    }

    /// Tells of the picture once work has begun, and whenever it has changed and settled.
    fn tell(&mut self, observer: &mut dyn WatchObserver) {
        if !self.working {
            return;
        }
        let (picture, now) = (self.picture(), Instant::now());
        if self.last_told.as_ref().is_some_and(|last| last.missing == picture.missing && last.synced == picture.synced)
        {
            self.changed = None;
            return;
        }
        let first = self.last_told.is_none();
        let (since, last) = match &self.changed {
            Some((since, last, seen)) if *seen == picture => (*since, *last),
            Some((since, _, _)) => (*since, now),
            None => (now, now),
        };
        if first || now.duration_since(last) >= SETTLED || now.duration_since(since) >= LATEST {
            observer.picture(&picture);
            (self.last_told, self.changed) = (Some(picture), None);
        } else {
            self.changed = Some((since, last, picture));
        }
    }

    /// When it has to be looked at next, although nothing happens.
    fn wakes(&self, heartbeat: Instant) -> Instant {
        match &self.changed {
            Some((since, last, _)) => heartbeat.min(*last + SETTLED).min(*since + LATEST),
            None => heartbeat,
        }
    }
}
