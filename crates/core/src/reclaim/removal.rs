//! What goes: when, why, and with what.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Serialize, Serializer};

use crate::{
    document::as_rfc3339,
    graph::{NodeId, OwnerGraph, Verdict},
    model::{
        ObjectId, Rule, Symbol,
        effects::{self, known_finalizer},
        facts::ReclaimFacts,
    },
    server::Propagation,
};

use super::scene::Scene;

/// When an object goes. All times are in Unix seconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind")]
pub enum When {
    /// As soon as its controller looks at it, which an event makes it do.
    Now,
    /// At this time, for which its controller has set a timer; at once if it has passed.
    At {
        #[serde(serialize_with = "as_rfc3339")]
        time: i64,
    },
    /// At the first look of its controller from then on. It looks once in so many seconds.
    Pass {
        #[serde(serialize_with = "as_rfc3339")]
        from: i64,
        #[serde(serialize_with = "as_rfc3339")]
        until: i64,
        #[serde(rename = "everySeconds")]
        every: i64,
    },
    /// Once this has happened, which has no time: the end of these objects, or something else.
    Once { event: String, gone: Vec<ObjectId> },
}

impl When {
    /// Once this has happened.
    pub(super) fn once(event: impl Into<String>) -> Self {
        When::Once { event: event.into(), gone: Vec::new() }
    }

    /// Once these objects are gone.
    pub(super) fn after(scene: &Scene<'_>, gone: Vec<ObjectId>) -> Self {
        let event = match gone.as_slice() {
            [object] => format!("{} is gone", scene.short(*object)),
            objects => format!("{} objects that use it are gone", objects.len()),
        };
        When::Once { event, gone }
    }

    /// The earliest time; `None` if it is unknown.
    pub fn earliest(&self, now: i64) -> Option<i64> {
        match self {
            When::Now => Some(now),
            When::At { time } => Some((*time).max(now)),
            When::Pass { from, .. } => Some((*from).max(now)),
            When::Once { .. } => None,
        }
    }

    /// The latest time, if its controller runs; `None` if it is unknown.
    pub fn latest(&self, now: i64) -> Option<i64> {
        match self {
            When::Pass { until, .. } => Some((*until).max(now)),
            other => other.earliest(now),
        }
    }
}

/// One reason for which an object goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    pub rule: Rule,
    /// As in the flag `--controllers` of kube-controller-manager, or another program.
    pub controller: Cow<'static, str>,
    pub propagation: Propagation,
    pub when: When,
    pub why: String,
    /// Why it may stay after all; `None` if it is certain.
    #[serde(skip)]
    pub doubt: Option<String>,
}

impl Reason {
    /// A removal in the background, which is certain.
    pub(super) fn new(
        rule: Rule,
        controller: impl Into<Cow<'static, str>>,
        when: When,
        why: impl Into<String>,
    ) -> Self {
        let (controller, why) = (controller.into(), why.into());
        Reason { rule, when, controller, why, doubt: None, propagation: Propagation::Background }
    }

    /// The same in the foreground.
    pub(super) fn in_foreground(self) -> Self {
        Reason { propagation: Propagation::Foreground, ..self }
    }

    /// Lets a removal by the controller manager wait until one runs.
    pub(super) fn await_manager(&mut self) {
        // The names of its controllers end so.
        if self.controller.ends_with("-controller") && !matches!(self.when, When::Once { .. }) {
            self.when = When::once("a controller manager runs");
        }
    }

    /// The same, but it may stay.
    pub(super) fn doubted(self, doubt: Option<String>) -> Self {
        Reason { doubt, ..self }
    }
}

/// A finalizer that holds an object that is deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Held {
    pub finalizer: String,
    /// Who removes it; `None` if that is unknown.
    #[serde(rename = "controller", skip_serializing_if = "Option::is_none")]
    pub by: Option<&'static str>,
    /// The objects for which it stays.
    #[serde(rename = "usedBy")]
    pub for_objects: Vec<ObjectId>,
}

/// What becomes of an object that is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum End {
    Gone,
    /// Something holds it.
    Terminating,
    /// Gone or Terminating, by the order of events.
    Either,
}

/// An object that the cluster removes by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Removal {
    pub object: ObjectId,
    /// At least one; the first comes first.
    #[serde(flatten, serialize_with = "with_doubt")]
    pub reasons: Vec<Reason>,
    /// What keeps it in Terminating then.
    pub held: Vec<Held>,
    /// What the collector removes with it, in the order of the snapshot.
    pub takes: Vec<ObjectId>,
    /// What the collector removes with it if it comes in time.
    pub may_take: Vec<ObjectId>,
    /// What a finalizer holds of what goes with it: it stays Terminating, and in the foreground its owner waits for it.
    pub held_dependents: Vec<ObjectId>,
    pub end: End,
    /// What its end frees, itself included.
    pub frees: Freed,
}

impl Removal {
    /// Why it may stay after all; `None` if one reason is certain.
    pub fn doubt(&self) -> Option<&str> {
        doubt_of(&self.reasons)
    }

    /// The reason that comes first.
    pub fn reason(&self) -> &Reason {
        &self.reasons[0]
    }
}

fn doubt_of(reasons: &[Reason]) -> Option<&str> {
    let first = reasons.first().and_then(|reason| reason.doubt.as_deref());
    first.filter(|_| reasons.iter().all(|reason| reason.doubt.is_some()))
}

/// Writes the reasons, and before them what follows from all of them.
fn with_doubt<S: Serializer>(reasons: &[Reason], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Reasons<'r> {
        certain: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        uncertain_because: Option<&'r str>,
        reasons: &'r [Reason],
    }
    let uncertain_because = doubt_of(reasons);
    Reasons { certain: uncertain_because.is_none(), uncertain_because, reasons }.serialize(serializer)
}

/// How many objects go, and the storage of their volumes, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Freed {
    pub objects: usize,
    pub bytes: u64,
}

/// An object that stays, though one might expect it to go.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stays {
    pub object: ObjectId,
    pub rule: Rule,
    pub why: String,
}

/// What the sorts have found so far.
#[derive(Default)]
pub(super) struct Found {
    /// By one reason each.
    pub(super) removals: Vec<(ObjectId, Reason)>,
    pub(super) stays: Vec<Stays>,
}

impl Found {
    pub(super) fn goes(&mut self, object: ObjectId, reason: Reason) {
        self.removals.push((object, reason));
    }

    pub(super) fn stays(&mut self, object: ObjectId, rule: Rule, why: impl Into<String>) {
        self.stays.push(Stays { object, rule, why: why.into() });
    }
}

/// One removal for each object, the earliest first.
pub(super) fn merged(scene: &Scene<'_>, graph: &OwnerGraph, found: Vec<(ObjectId, Reason)>) -> Vec<Removal> {
    let mut by_object: FxHashMap<ObjectId, Vec<Reason>> = FxHashMap::default();
    for (object, reason) in found {
        by_object.entry(object).or_default().push(reason);
    }
    let mut removals: Vec<Removal> = Vec::with_capacity(by_object.len());
    for (object, mut reasons) in by_object {
        reasons.sort_by_key(|reason| (reason.when.earliest(scene.now).unwrap_or(i64::MAX), reason.rule));
        removals.push(removal(scene, graph, object, reasons));
    }
    let name = |id: ObjectId| {
        let object = scene.snapshot.object(id);
        let text = |symbol: Symbol| scene.snapshot.text(symbol);
        (object.resource, text(object.namespace), text(object.name))
    };
    removals.sort_by_key(|removal| {
        let when = &removal.reason().when;
        let [earliest, latest] =
            [when.earliest(scene.now), when.latest(scene.now)].map(|time| time.unwrap_or(i64::MAX));
        (earliest, latest, name(removal.object), removal.object)
    });
    removals
}

/// Controllers that act within so many seconds of each other may act in any order.
const TOGETHER: i64 = 60;

fn removal(scene: &Scene<'_>, graph: &OwnerGraph, object: ObjectId, reasons: Vec<Reason>) -> Removal {
    let held = held(scene, object, &reasons[0].when);
    let first = reasons[0].when.latest(scene.now).unwrap_or(i64::MAX);
    let is_together =
        |reason: &&Reason| reason.when.earliest(scene.now).is_some_and(|time| time <= first.saturating_add(TOGETHER));
    let among = |propagation: Propagation| {
        let of = reasons.iter().enumerate().filter(|(place, reason)| *place == 0 || is_together(reason));
        of.map(|(_, reason)| reason).filter(|reason| reason.propagation == propagation).collect::<Vec<_>>()
    };
    let (foreground, background) = (among(Propagation::Foreground), among(Propagation::Background));
    let all = all_taken(scene, graph, object);
    // A second delete, in the background, takes the collector's finalizer of a first in the foreground (R1.43): what is
    // held by others keeps its dependents from then on.
    let (takes, may_take) = match (foreground.is_empty(), background.is_empty()) {
        _ if held.is_empty() => (all, Vec::new()),
        (false, true) => (all, Vec::new()),
        (false, false) => (Vec::new(), all),
        (true, _) => (Vec::new(), Vec::new()),
    };
    let held_dependents: Vec<ObjectId> = takes.iter().copied().filter(|id| is_held(scene, *id)).collect();
    let waits = !foreground.is_empty() && !held_dependents.is_empty();
    let end = match () {
        () if !held.is_empty() => End::Terminating,
        () if !waits || background.iter().any(|reason| reason.doubt.is_none()) => End::Gone,
        () if background.is_empty() => End::Terminating,
        () => End::Either,
    };
    let frees = Freed {
        objects: takes.len() - held_dependents.len() + usize::from(end == End::Gone),
        bytes: takes.iter().chain([&object]).map(|id| bytes(scene, *id)).sum(),
    };
    Removal { object, reasons, held, takes, may_take, held_dependents, end, frees }
}

fn bytes(scene: &Scene<'_>, id: ObjectId) -> u64 {
    match scene.snapshot.facts.reclaim(id) {
        Some(ReclaimFacts::Volume(volume)) => volume.bytes.unwrap_or_default(),
        _ => 0,
    }
}

/// What the collector removes with an object: dependents of which every owner goes, or is gone already (§8). In the
/// order of the snapshot. A dependent with a finalizer of another controller is among them: it is deleted, too.
pub(super) fn all_taken(scene: &Scene<'_>, graph: &OwnerGraph, object: ObjectId) -> Vec<ObjectId> {
    let mut going: FxHashSet<ObjectId> = FxHashSet::from_iter([object]);
    let mut uids: FxHashSet<Symbol> = FxHashSet::from_iter([scene.object(object).uid]);
    let mut open = vec![object];
    while let Some(owner) = open.pop() {
        for dependent in graph.dependents(NodeId::from(owner)) {
            if going.contains(dependent) || !is_left_alone(scene, graph, *dependent, &uids) {
                continue;
            }
            going.insert(*dependent);
            // What is held keeps its own dependents.
            if !is_held(scene, *dependent) {
                uids.insert(scene.object(*dependent).uid);
                open.push(*dependent);
            }
        }
    }
    going.remove(&object);
    let mut going: Vec<ObjectId> = going.into_iter().collect();
    going.sort_unstable();
    going
}

/// Whether no owner is left but those that go.
fn is_left_alone(scene: &Scene<'_>, graph: &OwnerGraph, id: ObjectId, uids: &FxHashSet<Symbol>) -> bool {
    let object = scene.object(id);
    object.owners.iter().all(|reference| {
        let verdict = || Verdict::of(scene.snapshot, graph, reference, object.namespace);
        uids.contains(&reference.uid) || matches!(verdict(), Verdict::Dangling(_))
    })
}

/// Whether an object stays in Terminating once it is deleted.
pub(super) fn is_held(scene: &Scene<'_>, id: ObjectId) -> bool {
    !held(scene, id, &When::Now).is_empty()
}

/// What keeps an object in Terminating once it is deleted. Controllers of Kubernetes that release what is deleted don't
/// hold it for long; what it waits for anyway no longer uses it then.
fn held(scene: &Scene<'_>, id: ObjectId, when: &When) -> Vec<Held> {
    let snapshot = scene.snapshot;
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let finalizers = object.finalizers.iter().filter(|finalizer| !finalizer.is_collectors_finalizer());
    finalizers
        .filter_map(|finalizer| {
            let finalizer = snapshot.text(*finalizer);
            let known = known_finalizer(finalizer, &resource.group, &resource.kind);
            let gone = if let When::Once { gone, .. } = when { gone.as_slice() } else { &[] };
            let mut for_objects = known.map(|known| users(scene, id, known.when)).unwrap_or_default();
            for_objects.retain(|user| !gone.contains(user));
            let is_free = known.is_some_and(|known| releases(known.when)) && for_objects.is_empty();
            (!is_free).then(|| Held { finalizer: finalizer.to_owned(), by: known.map(|known| known.by), for_objects })
        })
        .collect()
}

/// Whether a controller removes its finalizer as soon as the object is deleted and nothing uses it.
fn releases(when: effects::When) -> bool {
    !matches!(when, effects::When::Elsewhere | effects::When::Unused)
}

/// For which objects a finalizer stays.
fn users(scene: &Scene<'_>, id: ObjectId, when: effects::When) -> Vec<ObjectId> {
    match when {
        effects::When::ClaimUnused => scene.pods_with_claim(id).to_vec(),
        effects::When::VolumeUnbound => scene.bound_claim(id).into_iter().collect(),
        _ => Vec::new(),
    }
}
