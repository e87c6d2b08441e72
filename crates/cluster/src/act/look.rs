//! Reads what simulations lack, and objects one by one where no watch reports them.

use std::{
    collections::BTreeSet,
    mem,
    time::{Duration, Instant},
};

use rustc_hash::FxHashMap;

use crate::cluster::{Connection, LostWatch};
use gc_core::{
    account::Missing,
    model::{Coordinate, Identity, ObjectEvent, ObjectId, RecheckResult, ResourceId, Snapshot},
    simulate::Needs,
};

/// How often unwatched objects are read.
const UNWATCHED: Duration = Duration::from_secs(3);
/// After how long without movement, and how often, watched objects are read: a connection may be dead unnoticed.
const SILENT: Duration = Duration::from_secs(10);
/// How many objects are read per round: few enough that a list would cost more.
const AT_A_TIME: usize = 100;

/// Reads what a simulation lacked into the snapshot. Returns whether anything was looked up, or is known now.
pub async fn fetch(connection: &Connection, snapshot: &mut Snapshot, needs: &Needs) -> bool {
    let known = |snapshot: &Snapshot| (snapshot.facts.learned(), snapshot.facts.setters_len());
    let before = known(snapshot);
    // A look-up that failed before would fail again.
    let look_ups: Vec<Coordinate> =
        needs.look_ups.iter().copied().filter(|coordinate| !snapshot.was_looked_up(*coordinate)).collect();
    let facts = needs.all_facts();
    let kubelets: Vec<ObjectId> = needs.kubelets.iter().copied().collect();
    let setters: Vec<ObjectId> = needs.setters.iter().copied().collect();
    if !look_ups.is_empty() {
        connection.look_up(snapshot, &look_ups).await;
    }
    // Whole objects that tell their setters tell their facts, too.
    if !setters.is_empty() {
        connection.fetch_setters(snapshot, &setters).await;
    }
    if !facts.is_empty() {
        connection.fetch_facts(snapshot, &facts).await;
    }
    if !kubelets.is_empty() {
        connection.fetch_kubelets(snapshot, &kubelets).await;
    }
    !look_ups.is_empty() || known(snapshot) != before
}

/// Decides which objects to read, and reads them.
pub(super) struct Poller {
    /// The watched namespaces of each resource (`None`: all), by the resource that objects have.
    watched: FxHashMap<ResourceId, Vec<Option<String>>>,
    /// Uids to read next.
    wanted: BTreeSet<String>,
    last: Instant,
    last_silent: Instant,
    /// Whether there may be outstanding objects that no watch covers.
    blind: bool,
}

impl Poller {
    pub(super) fn new(snapshot: &Snapshot, begun: &[(ResourceId, Option<String>)]) -> Self {
        let mut watched: FxHashMap<ResourceId, Vec<Option<String>>> = FxHashMap::default();
        for (resource, namespace) in begun {
            watched.entry(snapshot.resources.picked(*resource)).or_default().push(namespace.clone());
        }
        let now = Instant::now();
        Poller { watched, wanted: BTreeSet::new(), last: now, last_silent: now, blind: true }
    }

    /// Reads these next.
    pub(super) fn ask(&mut self, uids: impl IntoIterator<Item = String>) {
        self.wanted.extend(uids);
    }

    /// A watch missed events: reads everything outstanding that it covered, and keeps polling that if it is no longer
    /// watched.
    pub(super) fn lose(&mut self, snapshot: &Snapshot, lost: &LostWatch, outstanding: Vec<&Identity>) {
        let resource = snapshot.resources.picked(lost.resource);
        if !lost.watched {
            let namespaces = self.watched.entry(resource).or_default();
            namespaces.retain(|namespace| *namespace != lost.namespace);
            self.blind = true;
        }
        let of_it = |id: ObjectId| snapshot.object(id).resource == resource;
        let lost = outstanding.iter().filter(|identity| snapshot.with_uid(&identity.uid).is_some_and(of_it));
        self.wanted.extend(lost.map(|identity| identity.uid.clone()));
    }

    /// Adds what is due: unwatched objects, and after a while without movement up to [`AT_A_TIME`] of all.
    pub(super) fn due<'c>(
        &mut self,
        snapshot: &Snapshot,
        outstanding: impl FnOnce() -> Vec<&'c Identity>,
        quiet: Duration,
    ) {
        let silent = quiet >= SILENT && self.last_silent.elapsed() >= SILENT;
        let unwatched = self.blind && self.last.elapsed() >= UNWATCHED;
        if !silent && !unwatched {
            return;
        }
        let outstanding = outstanding();
        if unwatched {
            self.last = Instant::now();
            let unwatched = outstanding
                .iter()
                .filter(|identity| snapshot.with_uid(&identity.uid).is_some_and(|id| !self.is_watched(snapshot, id)));
            let unwatched: Vec<String> = unwatched.map(|identity| identity.uid.clone()).collect();
            self.blind = !unwatched.is_empty();
            self.wanted.extend(unwatched);
        }
        if silent {
            self.last_silent = Instant::now();
            self.wanted.extend(outstanding.into_iter().take(AT_A_TIME).map(|identity| identity.uid.clone()));
        }
    }

    fn is_watched(&self, snapshot: &Snapshot, id: ObjectId) -> bool {
        let object = snapshot.object(id);
        let in_it = |namespace: &Option<String>| {
            namespace.as_deref().is_none_or(|namespace| namespace == snapshot.text(object.namespace))
        };
        self.watched.get(&object.resource).is_some_and(|namespaces| namespaces.iter().any(in_it))
    }

    /// When something may be due; none until something moves or stops moving.
    pub(super) fn next(&self) -> Option<Instant> {
        if !self.wanted.is_empty() {
            return Some(Instant::now());
        }
        self.blind.then(|| self.last + UNWATCHED)
    }

    /// Reads up to [`AT_A_TIME`] of the wanted objects. Failed reads yield no events.
    pub(super) async fn look(&mut self, connection: &Connection, snapshot: &Snapshot) -> Vec<ObjectEvent> {
        let mut ids: Vec<ObjectId> = Vec::new();
        while ids.len() < AT_A_TIME
            && let Some(uid) = self.wanted.pop_first()
        {
            ids.extend(snapshot.with_uid(&uid));
        }
        if ids.is_empty() {
            return Vec::new();
        }
        let again = connection.recheck(snapshot, &ids).await;
        again.into_iter().flat_map(|(id, again)| sightings(snapshot, id, again)).collect()
    }
}

/// The events by which a watch would have reported this result.
fn sightings(snapshot: &Snapshot, id: ObjectId, again: RecheckResult) -> Vec<ObjectEvent> {
    let resource = snapshot.object(id).resource;
    let gone = || ObjectEvent::of_gone(snapshot, id);
    match again {
        RecheckResult::Changed(raw) => vec![ObjectEvent { resource, object: raw, gone: false }],
        RecheckResult::Gone => vec![gone()],
        RecheckResult::Replaced(raw) => vec![gone(), ObjectEvent { resource, object: raw, gone: false }],
        RecheckResult::Same | RecheckResult::Unanswered(_) => Vec::new(),
    }
}

/// How long more are waited for.
const TOGETHER: Duration = Duration::from_secs(1);

/// Resources that are listed because their watches fail, and are still to be told, each with the reason: together,
/// because what fails for one cause fails within a moment.
#[derive(Debug, Default)]
pub struct Polled {
    found: Vec<Missing>,
    since: Option<Instant>,
}

impl Polled {
    /// Takes in a resource, with the reason.
    pub fn add(&mut self, resource: String, why: String) {
        self.found.push(Missing { resource, why });
        self.since.get_or_insert_with(Instant::now);
    }

    /// When to tell; `None` if there is nothing.
    pub fn due(&self) -> Option<Instant> {
        self.since.map(|since| since + TOGETHER)
    }

    /// What is to be told now; all of it if no more is waited for.
    pub fn take(&mut self, all: bool) -> Vec<Missing> {
        if !all && self.due().is_some_and(|due| due > Instant::now()) {
            return Vec::new();
        }
        self.since = None;
        mem::take(&mut self.found)
    }
}
