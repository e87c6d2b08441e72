//! After any watch events, the snapshot matches the store.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::model::{
    Coordinate, Fact, ObjectEvent, ObjectId, Origin, Presence, RawObject, Resource, ResourceId, Resources, Snapshot,
    SnapshotBuilder, facts::PodFacts,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn pods() -> Resources {
    let pods = Resource::named("", "v1", "pods", "Pod");
    Resources::new(vec![pods], Vec::new())
}

fn snapshot(objects: &[RawObject<'static>]) -> Snapshot {
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, pods());
    for object in objects {
        builder.add(ResourceId(0), object);
    }
    builder.build()
}

fn pod(name: &str, uid: &str, version: u32) -> RawObject<'static> {
    RawObject {
        resource_version: version.to_string().into(),
        ..RawObject::named("shop", name.to_owned(), uid.to_owned())
    }
}

fn seen(object: &RawObject<'static>, gone: bool) -> ObjectEvent {
    ObjectEvent { resource: ResourceId(0), object: object.clone(), gone }
}

/// What is at the coordinate of a pod that existed once.
fn at(snapshot: &Snapshot, name: &str) -> Presence {
    let find = |text| snapshot.strings.find(text).unwrap();
    snapshot.look_up(Coordinate { resource: ResourceId(0), namespace: find("shop"), name: find(name) })
}

#[test]
fn events_are_applied() {
    let [a, b, c] = ["a", "b", "c"].map(|name| pod(name, &format!("u-{name}"), 5));
    let mut snapshot = snapshot(&[a.clone(), b.clone(), c.clone()]);
    let marked = RawObject { deleted: Some(9), ..pod("b", "u-b", 10) };
    let (a2, d) = (pod("a", "u-a2", 12), pod("d", "u-d", 13));
    assert!(!snapshot.apply_events([seen(&pod("b", "u-b", 7), false)]), "nothing that is kept");
    assert!(snapshot.apply_events([
        seen(&a, true),
        seen(&marked, false),
        seen(&a2, false),
        seen(&d, false),
        seen(&c, true)
    ]));
    let pods: Vec<String> = snapshot
        .objects()
        .map(|(id, object)| {
            format!("{} {} {}", snapshot.short_name(id), snapshot.text(object.uid), object.terminating())
        })
        .collect();
    assert_eq!(pods, ["Pod/a u-a2 false", "Pod/b u-b true", "Pod/d u-d false"]);
    assert_eq!(at(&snapshot, "c"), Presence::Absent);
    // A direct read is newer than these late watch events.
    assert!(!snapshot.apply_events([seen(&pod("b", "u-b", 9), false), seen(&a, true)]));
    assert!(snapshot.object(ObjectId(1)).terminating());
    assert!(snapshot.find(&seen(&a2, true)).is_some() && snapshot.find(&seen(&a, true)).is_none());
}

/// Plans depend on pod facts; facts that can't change must not be read again for each of thousands of pods.
#[test]
fn valid_facts_are_kept() {
    let fact = |node: Option<&str>| Fact::Pod(PodFacts { node: node.map(str::to_owned), ..PodFacts::default() });
    let objects = ["runs", "waits", "labelled"].map(|name| pod(name, name, 1));
    let mut snapshot = snapshot(&objects);
    for (id, node) in [(0, Some("n")), (1, None), (2, Some("n"))] {
        snapshot.learn(ObjectId(id), fact(node));
    }
    let marked = |name: &str| seen(&RawObject { deleted: Some(9), ..pod(name, name, 2) }, false);
    let labelled = RawObject { labels: vec![("a".into(), "b".into())], ..pod("labelled", "labelled", 2) };
    snapshot.apply_events([marked("runs"), marked("waits"), seen(&labelled, false)]);
    let known: Vec<bool> = (0..3).map(|id| snapshot.facts.pod(ObjectId(id)).is_some()).collect();
    assert_eq!(known, [true, false, false]);
}

/// One change of the store.
#[derive(Clone, Debug)]
enum StoreChange {
    Created(usize),
    Changed(usize),
    Deleted(usize),
}

fn store_change() -> impl Strategy<Value = StoreChange> {
    let name = 0..NAMES.len();
    prop_oneof![
        name.clone().prop_map(StoreChange::Created),
        name.clone().prop_map(StoreChange::Changed),
        name.prop_map(StoreChange::Deleted)
    ]
}

proptest! {
    /// A watch reports all changes in order, in batches of any size, some of them twice.
    #[test]
    fn snapshot_matches_the_store(events in prop::collection::vec((store_change(), any::<bool>()), 0..40)) {
        let mut store: BTreeMap<usize, RawObject<'static>> = BTreeMap::new();
        store.insert(0, pod(NAMES[0], "u-0", 1));
        let mut snapshot = snapshot(&store.values().cloned().collect::<Vec<_>>());
        let mut batch: Vec<ObjectEvent> = Vec::new();
        for (version, (event, last)) in (2u32..).zip(events) {
            match event {
                StoreChange::Created(name) if !store.contains_key(&name) => {
                    let object = pod(NAMES[name], &format!("u-{version}"), version);
                    batch.push(seen(&object, false));
                    store.insert(name, object);
                }
                StoreChange::Changed(name) => if let Some(object) = store.get_mut(&name) {
                    object.resource_version = version.to_string().into();
                    object.finalizers.push(version.to_string().into());
                    batch.push(seen(object, false));
                },
                StoreChange::Deleted(name) => if let Some(mut object) = store.remove(&name) {
                    object.resource_version = version.to_string().into();
                    batch.push(seen(&object, true));
                },
                StoreChange::Created(_) => {}
            }
            if last {
                let again = batch.clone();
                snapshot.apply_events(batch.drain(..));
                prop_assert!(!snapshot.apply_events(again.into_iter().rev().take(1).filter(|one| !one.gone)),
                    "nothing new");
            }
        }
        snapshot.apply_events(batch);
        prop_assert_eq!(snapshot.len(), store.len());
        for (name, object) in &store {
            let Presence::Present(id) = at(&snapshot, NAMES[*name]) else { panic!("{} is missing", NAMES[*name]) };
            prop_assert!(snapshot.is_still(id, object));
            let uid = snapshot.strings.find(&object.uid).unwrap();
            prop_assert_eq!(snapshot.by_uid(uid), Some(id));
        }
    }
}
