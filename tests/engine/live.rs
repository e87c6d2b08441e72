//! The graph of a live cluster ([`Live`]). From the same objects it builds the same state as the collector that plans
//! use; and after any events, in any order, it contains the latest state of each object.

use std::collections::{BTreeMap, BTreeSet};

use gc_core::{
    collector::{
        Collector, GraphView, Known,
        live::{KindId, Limit, Live},
    },
    graph::{NodeId, OwnerGraph},
    model::{ObjectId, RawObject, RawReference, Resource, Snapshot, Symbol},
};
use proptest::prelude::*;

use crate::graphs::{
    generate::{Mix, case},
    scene::snapshot,
};

/// The state of a node, by names: each graph has different ids.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    known: &'static str,
    flags: [bool; 2],
    coordinates: Option<[String; 4]>,
    dependents: BTreeSet<String>,
    blocking: BTreeSet<String>,
}

fn seen<'a>(picture: &impl GraphView<'a>, node: NodeId) -> Seen {
    let names = |nodes: Vec<NodeId>| nodes.into_iter().map(|node| picture.text(picture.uid(node)).to_owned()).collect();
    let coordinates = picture.identity(node).map(|identity| {
        [identity.api_version, identity.kind, identity.namespace, identity.name]
            .map(|symbol| picture.text(symbol).to_owned())
    });
    let known = picture.known(node);
    Seen {
        known: match known {
            Known::Observed => "observed",
            Known::Virtual => "virtual",
            Known::Gone => "gone",
        },
        flags: [picture.being_deleted(node), picture.deleting_dependents(node)],
        coordinates: coordinates.filter(|_| known != Known::Gone),
        dependents: names(picture.dependents(node)),
        blocking: names(picture.blocking_dependents(node)),
    }
}

fn queued<'a>(picture: &impl GraphView<'a>, queue: impl Iterator<Item = NodeId>) -> BTreeSet<String> {
    queue.map(|node| picture.text(picture.uid(node)).to_owned()).collect()
}

/// A live graph that sees all objects of a snapshot, in this order.
fn describe(snapshot: &Snapshot, order: &[ObjectId]) -> Live {
    let mut live = Live::new(Limit::None);
    let kinds: Vec<KindId> = snapshot.resources.iter().map(|(_, resource)| live.kind(resource)).collect();
    kinds.iter().for_each(|kind| live.begin_list(*kind));
    for id in order {
        live.see(kinds[snapshot.object(*id).resource.index()], &snapshot.raw(*id));
    }
    kinds.iter().for_each(|kind| live.end_list(*kind));
    live
}

/// Other tests compare the collector of plans with the real one; this test compares [`Live`] with the collector of
/// plans. Nodes are identified by uid (R3.1).
#[test]
fn it_sees_what_a_collector_sees_that_comes_up() {
    let mut queued_at_all = 0;
    for seed in 0..500 {
        for mix in [Mix::Full, Mix::Legal] {
            let snapshot = snapshot(&case(seed, mix).graph);
            let graph = OwnerGraph::new(&snapshot);
            let watched = |id: &ObjectId| snapshot.resources.not_watched(snapshot.object(*id).resource).is_none();
            let mut order: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).filter(watched).collect();
            // An arbitrary but reproducible order.
            order.sort_by_key(|id| {
                (u64::from(id.0) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(2 * seed + 1)) >> 7
            });
            let collector = Collector::restarted(&snapshot, &graph, order.iter().copied());
            let live = describe(&snapshot, &order);

            let uids: BTreeSet<Symbol> = order
                .iter()
                .flat_map(|id| {
                    let object = snapshot.object(*id);
                    std::iter::once(object.uid).chain(object.owners.iter().map(|reference| reference.uid))
                })
                .collect();
            for uid in uids {
                let text = snapshot.text(uid);
                let theirs = graph.by_uid(uid).map(|node| seen(&collector, node));
                let ours = live.symbol(text).and_then(|uid| live.by_uid(uid)).map(|node| seen(&live, node));
                assert_eq!(ours, theirs, "{text}, {mix:?} {seed}");
            }
            let theirs = queued(&collector, collector.to_delete.iter());
            assert_eq!(queued(&live, live.to_delete.iter()), theirs, "{mix:?} {seed}");
            let orphaning = queued(&collector, collector.to_orphan.iter());
            assert_eq!(queued(&live, live.to_orphan.iter()), orphaning, "{mix:?} {seed}");
            queued_at_all += theirs.len() + orphaning.len();
        }
    }
    assert!(queued_at_all > 1000, "most graphs give the collector something to do: {queued_at_all}");
}

const NAMES: usize = 6;

#[derive(Clone, Debug)]
enum Step {
    See {
        kind: usize,
        object: usize,
        owners: Vec<(usize, bool)>,
        waits: bool,
        orphans: bool,
    },
    Gone(usize),
    BeginList(usize),
    EndList(usize),
    Stopped(usize),
    /// A worker takes an item and finds that it doesn't exist.
    Absent,
    /// Workers process everything in the queue.
    Work,
    Compact,
}

fn step() -> impl Strategy<Value = Step> {
    let owners = prop::collection::vec((0..NAMES, any::<bool>()), 0..4);
    let see = (0..3usize, 0..NAMES, owners, prop::bool::weighted(0.1), prop::bool::weighted(0.1))
        .prop_map(|(kind, object, owners, waits, orphans)| Step::See { kind, object, owners, waits, orphans });
    prop_oneof![
        8 => see,
        3 => (0..NAMES).prop_map(Step::Gone),
        1 => (0..3usize).prop_map(Step::BeginList),
        1 => (0..3usize).prop_map(Step::EndList),
        1 => (0..3usize).prop_map(Step::Stopped),
        1 => Just(Step::Absent),
        1 => Just(Step::Work),
        1 => Just(Step::Compact),
    ]
}

fn resource(kind: usize) -> Resource {
    let kind = ["Pod", "ConfigMap", "Secret"][kind];
    let plural = format!("{}s", kind.to_lowercase());
    Resource::named("", "v1", &plural, kind)
}

/// The last of these objects has no uid: events about it are ignored.
fn uid(object: usize) -> String {
    if object + 1 == NAMES { String::new() } else { format!("uid-{object}") }
}

fn raw(step: &Step) -> RawObject<'static> {
    let Step::See { object, owners, waits, orphans, .. } = step else { panic!("nothing is seen") };
    let owners = owners.iter().map(|(owner, blocks)| RawReference {
        block_owner_deletion: Some(*blocks),
        ..RawReference::to("v1", "ConfigMap", format!("o{owner}"), uid(*owner))
    });
    let finalizers = [(*waits, "foregroundDeletion"), (*orphans, "orphan")];
    RawObject {
        resource_version: "1".into(),
        deleted: (*waits || *orphans).then_some(1),
        finalizers: finalizers.iter().filter(|(has, _)| *has).map(|(_, finalizer)| (*finalizer).into()).collect(),
        owners: owners.collect(),
        ..RawObject::named("ns", format!("o{object}"), uid(*object))
    }
}

/// The latest state of every object, stored as simply as possible.
#[derive(Default)]
struct Believed {
    /// By uid: the kind, the number of that kind's list that last showed the object, and the owners, each with whether
    /// any reference to it blocks.
    objects: BTreeMap<String, (usize, u32, BTreeMap<String, bool>)>,
    lists: [u32; 3],
    stopped: [bool; 3],
}

impl Believed {
    fn apply_events(&mut self, step: &Step) {
        match step {
            Step::See { kind, object, owners, .. } if *object + 1 < NAMES => {
                let mut named = BTreeMap::new();
                owners.iter().for_each(|(owner, blocks)| *named.entry(uid(*owner)).or_insert(false) |= blocks);
                let list = self.lists[*kind];
                let known = self.objects.entry(uid(*object)).or_insert((*kind, list, BTreeMap::new()));
                known.2 = named;
                if self.stopped[known.0] {
                    known.0 = *kind;
                }
                if known.0 == *kind {
                    known.1 = list;
                }
            }
            Step::Gone(object) => drop(self.objects.remove(&uid(*object))),
            Step::BeginList(kind) => (self.lists[*kind], self.stopped[*kind]) = (self.lists[*kind] + 1, false),
            Step::EndList(kind) => {
                let lists = self.lists[*kind];
                self.objects.retain(|_, (of, list, _)| of != kind || *list == lists);
            }
            Step::Stopped(kind) => self.stopped[*kind] = true,
            _ => {}
        }
    }

    fn dependents(&self, owner: &str, only_blocking: bool) -> BTreeSet<String> {
        let depends =
            |owners: &BTreeMap<String, bool>| owners.get(owner).is_some_and(|blocks| *blocks || !only_blocking);
        self.objects.iter().filter(|(_, (_, _, owners))| depends(owners)).map(|(uid, _)| uid.clone()).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_believes_what_it_was_told_last(steps in prop::collection::vec(step(), 1..60)) {
        let mut live = Live::new(Limit::None);
        let kinds = [0, 1, 2].map(|kind| live.kind(&resource(kind)));
        let mut believed = Believed::default();
        for step in &steps {
            believed.apply_events(step);
            match step {
                Step::See { kind, .. } => live.see(kinds[*kind], &raw(step)),
                Step::Gone(object) => live.gone(&uid(*object)),
                Step::BeginList(kind) => live.begin_list(kinds[*kind]),
                Step::EndList(kind) => live.end_list(kinds[*kind]),
                Step::Stopped(kind) => live.stopped(kinds[*kind]),
                Step::Absent => {
                    if let Some(node) = live.to_delete.take() {
                        if let Some(identity) = live.identity(node) {
                            live.absent(node, identity);
                            believed.objects.remove(live.text(identity.uid));
                        }
                        live.to_delete.done(node);
                    }
                }
                Step::Work => {
                    while let Some(node) = live.to_delete.take() {
                        live.to_delete.done(node);
                    }
                    while let Some(node) = live.to_orphan.take() {
                        live.to_orphan.done(node);
                    }
                }
                Step::Compact if live.to_delete.is_idle() && live.to_orphan.is_idle() => drop(live.compact()),
                Step::Compact => {}
            }
            prop_assert_eq!(live.objects(), believed.objects.len(), "after {:?}", step);
            for object in 0..NAMES {
                let uid = uid(object);
                let node = live.symbol(&uid).and_then(|symbol| live.by_uid(symbol));
                let now = node.map(|node| seen(&live, node));
                let dependents = believed.dependents(&uid, false);
                let is_there = believed.objects.contains_key(&uid);
                prop_assert_eq!(now.as_ref().is_some_and(|now| now.known == "observed"), is_there, "{} after {:?}",
                    &uid, step);
                let Some(now) = now else {
                    prop_assert!(dependents.is_empty(), "{} has {:?} after {:?}", &uid, dependents, step);
                    continue;
                };
                prop_assert_eq!(&now.dependents, &dependents, "the dependents of {} after {:?}", &uid, step);
                prop_assert_eq!(&now.blocking, &believed.dependents(&uid, true), "who blocks {} after {:?}", &uid,
                    step);
            }
        }
    }
}
