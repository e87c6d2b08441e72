//! Asking for objects one by one, where watches don't tell of them.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use rustc_hash::FxHashMap;

use crate::{
    cluster::{Connection, LostWatch},
    model::{Identity, ObjectEvent, ObjectId, RawObject, RecheckResult, ResourceId, Snapshot},
};

/// How often objects are asked for that nobody watches.
const UNWATCHED: Duration = Duration::from_secs(3);
/// From when on, and how often, objects are asked for that are watched: a line may be dead without anybody noticing.
const SILENT: Duration = Duration::from_secs(10);
/// So many at a time: fewer than make it worth to list them.
const AT_A_TIME: usize = 100;

/// What is to be asked for.
pub(super) struct Poller {
    /// What is watched, by the resource as objects have it: in these namespaces, or (`None`) in all.
    watched: FxHashMap<ResourceId, Vec<Option<String>>>,
    /// Uids to ask for.
    wanted: BTreeSet<String>,
    last: Instant,
    last_silent: Instant,
    /// Whether there is anything that nobody watches.
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

    /// These are asked for next.
    pub(super) fn ask(&mut self, uids: impl IntoIterator<Item = String>) {
        self.wanted.extend(uids);
    }

    /// A watch has lost track: everything of it that matters is asked for, and if it is not watched any more, from now
    /// on again and again.
    pub(super) fn lose(&mut self, snapshot: &Snapshot, lost: &LostWatch, outstanding: Vec<&Identity>) {
        let resource = snapshot.resources.picked(lost.resource);
        if !lost.watched {
            let namespaces = self.watched.entry(resource).or_default();
            namespaces.retain(|namespace| *namespace != lost.namespace);
            self.blind = true;
        }
        let of_it = |id: ObjectId| snapshot.object(id).resource == resource;
        let lost = outstanding.iter().filter(|identity| find(snapshot, &identity.uid).is_some_and(of_it));
        self.wanted.extend(lost.map(|identity| identity.uid.clone()));
    }

    /// Adds what it is time to ask for again: what nobody watches, and after a while without movement some of all.
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
                .filter(|identity| find(snapshot, &identity.uid).is_some_and(|id| !self.is_watched(snapshot, id)));
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

    /// When something may be due; none if nothing is until something moves, or stops to.
    pub(super) fn next(&self) -> Option<Instant> {
        if !self.wanted.is_empty() {
            return Some(Instant::now());
        }
        self.blind.then(|| self.last + UNWATCHED)
    }

    /// Asks for what is wanted, as many as are asked for at a time. What can't be answered says nothing.
    pub(super) async fn look(&mut self, connection: &Connection, snapshot: &Snapshot) -> Vec<ObjectEvent> {
        let mut ids: Vec<ObjectId> = Vec::new();
        while ids.len() < AT_A_TIME
            && let Some(uid) = self.wanted.pop_first()
        {
            ids.extend(find(snapshot, &uid));
        }
        if ids.is_empty() {
            return Vec::new();
        }
        let again = connection.recheck(snapshot, &ids).await;
        again.into_iter().flat_map(|(id, again)| sightings(snapshot, id, again)).collect()
    }
}

fn find(snapshot: &Snapshot, uid: &str) -> Option<ObjectId> {
    snapshot.by_uid(snapshot.strings.find(uid)?)
}

/// What a look says, as a watch would have told it.
fn sightings(snapshot: &Snapshot, id: ObjectId, again: RecheckResult) -> Vec<ObjectEvent> {
    let object = snapshot.object(id);
    let resource = object.resource;
    let text = |symbol| snapshot.text(symbol).to_owned().into();
    // It carries no version: no later one tells of this uid.
    let gone = || ObjectEvent {
        resource,
        object: RawObject {
            namespace: text(object.namespace),
            name: text(object.name),
            uid: text(object.uid),
            ..RawObject::default()
        },
        gone: true,
    };
    match again {
        RecheckResult::Changed(raw) => vec![ObjectEvent { resource, object: raw, gone: false }],
        RecheckResult::Gone => vec![gone()],
        RecheckResult::Replaced(raw) => vec![gone(), ObjectEvent { resource, object: raw, gone: false }],
        RecheckResult::Same | RecheckResult::Unanswered(_) => Vec::new(),
    }
}
