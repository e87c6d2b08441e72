//! After any updates, the snapshot equals one that was read in the new state.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::model::{
    Coordinate, Fact, ListRecord, ObjectId, Origin, Presence, RawObject, RawReference, RecheckResult, Resource,
    ResourceId, Resources, Snapshot, SnapshotBuilder, facts::ServiceFacts,
};

const NAMES: usize = 6;

/// An object as a source reads it.
type Raw = RawObject<'static>;

#[derive(Clone, Debug)]
struct ArbitraryObject {
    uid: usize,
    finalizer: bool,
    owner: Option<usize>,
    label: Option<usize>,
    known: bool,
}

#[derive(Clone, Debug)]
enum Recheck {
    Same,
    Other(ArbitraryObject),
    Gone,
    Unanswered,
}

fn arbitrary_object() -> impl Strategy<Value = ArbitraryObject> {
    // Uids are unique except after copying tools; few enough here to collide.
    (0..40usize, any::<bool>(), prop::option::of(0..40usize), prop::option::of(0..3usize), any::<bool>())
        .prop_map(|(uid, finalizer, owner, label, known)| ArbitraryObject { uid, finalizer, owner, label, known })
}

fn recheck() -> impl Strategy<Value = Recheck> {
    prop_oneof![
        Just(Recheck::Same),
        arbitrary_object().prop_map(Recheck::Other),
        arbitrary_object().prop_map(Recheck::Other),
        Just(Recheck::Gone),
        Just(Recheck::Unanswered)
    ]
}

fn resources() -> Resources {
    let resource =
        |plural: &str, kind: &str| Resource::named("", "v1", plural, kind).with_verbs(&["delete", "list", "watch"]);
    Resources::new(vec![resource("services", "Service"), resource("pods", "Pod")], Vec::new())
}

fn raw(place: usize, arbitrary_object: &ArbitraryObject) -> Raw {
    let owner =
        |uid: usize| RawReference { uid: format!("u{uid}").into(), name: "owner".into(), ..RawReference::default() };
    RawObject {
        finalizers: arbitrary_object.finalizer.then(|| "acme.io/x".into()).into_iter().collect(),
        owners: arbitrary_object.owner.map(owner).into_iter().collect(),
        labels: arbitrary_object.label.map(|label| ("app".into(), format!("l{label}").into())).into_iter().collect(),
        ..RawObject::named("shop", format!("n{}", place % NAMES), format!("u{}", arbitrary_object.uid))
    }
}

fn fact(place: usize) -> Fact {
    Fact::Service(ServiceFacts { kind: Some(format!("of {place}")), ..ServiceFacts::default() })
}

/// A snapshot of these objects (a place is a kind and a name), in order, with the facts of some.
fn build(objects: &BTreeMap<usize, (ArbitraryObject, bool)>) -> Snapshot {
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources());
    for resource in [0, 1].map(ResourceId) {
        builder.list(ListRecord::complete(resource));
    }
    for (place, (arbitrary_object, known)) in objects {
        let id = builder.add(ResourceId((place / NAMES) as u32), &raw(*place, arbitrary_object));
        if *known {
            builder.snapshot().learn(id, fact(*place));
        }
    }
    builder.build()
}

fn coordinate(snapshot: &mut Snapshot, place: usize) -> Coordinate {
    let [namespace, name] =
        ["shop".to_owned(), format!("n{}", place % NAMES)].map(|text| snapshot.strings.intern(&text));
    Coordinate { resource: ResourceId((place / NAMES) as u32), namespace, name }
}

/// Everything that can be queried about the objects, as text; symbols differ.
fn state_of(snapshot: &mut Snapshot) -> Vec<String> {
    let mut lines = Vec::new();
    let text = |symbol| snapshot.text(symbol).to_owned();
    for (id, object) in snapshot.objects() {
        let owners: Vec<String> = object.owners.iter().map(|owner| text(owner.uid)).collect();
        let finalizers: Vec<String> = object.finalizers.iter().map(|finalizer| text(*finalizer)).collect();
        let labels: Vec<String> =
            object.labels.iter().map(|(key, value)| format!("{}={}", text(*key), text(*value))).collect();
        let fact = snapshot.facts.get(id);
        lines.push(format!(
            "{id:?} {} {} {owners:?} {finalizers:?} {labels:?} {fact:?}",
            snapshot.short_name(id),
            text(object.uid)
        ));
    }
    for uid in 0..40 {
        lines.push(format!(
            "{uid}: {:?}",
            snapshot.strings.find(&format!("u{uid}")).and_then(|uid| snapshot.by_uid(uid))
        ));
    }
    for place in 0..2 * NAMES {
        let coordinate = coordinate(snapshot, place);
        let (there, asked) = (snapshot.look_up(coordinate), snapshot.was_looked_up(coordinate));
        let is_confirmed = snapshot.confirmed_absent().any(|absent| absent == coordinate);
        lines.push(format!("{place}: {there:?} {asked} {is_confirmed}"));
    }
    lines.push(format!("{} facts", snapshot.facts.len()));
    lines
}

/// The expected snapshot, built from scratch: the current objects and the look-ups.
fn expected(objects: &BTreeMap<usize, (ArbitraryObject, bool)>, rechecks: &BTreeMap<usize, Recheck>) -> Snapshot {
    let mut now = objects.clone();
    for (place, recheck) in rechecks {
        match recheck {
            Recheck::Other(arbitrary_object) => drop(now.insert(*place, (arbitrary_object.clone(), false))),
            Recheck::Gone => drop(now.remove(place)),
            Recheck::Same | Recheck::Unanswered => {}
        }
    }
    let mut snapshot = build(&now);
    for (place, recheck) in rechecks {
        let coordinate = coordinate(&mut snapshot, *place);
        match recheck {
            Recheck::Same | Recheck::Other(_) => drop(snapshot.found.insert(coordinate)),
            Recheck::Gone => snapshot.confirm_absent(coordinate),
            Recheck::Unanswered => snapshot.leave_unanswered(coordinate),
        }
    }
    snapshot
}

/// The result of reading a place again.
fn seen(
    snapshot: &mut Snapshot,
    objects: &BTreeMap<usize, (ArbitraryObject, bool)>,
    place: usize,
    recheck: &Recheck,
) -> (ObjectId, RecheckResult) {
    let coordinate = coordinate(snapshot, place);
    let id = snapshot.at(coordinate).unwrap();
    let again = match recheck {
        Recheck::Same => RecheckResult::Same,
        Recheck::Other(arbitrary_object) if arbitrary_object.uid == objects[&place].0.uid => {
            RecheckResult::Changed(raw(place, arbitrary_object))
        }
        Recheck::Other(arbitrary_object) => RecheckResult::Replaced(raw(place, arbitrary_object)),
        Recheck::Gone => RecheckResult::Gone,
        Recheck::Unanswered => RecheckResult::Unanswered("forbidden".to_owned()),
    };
    (id, again)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_update_equals_a_fresh_read(
        arbitrary_object in prop::collection::btree_map(0..2 * NAMES, arbitrary_object(), 0..10),
        first in prop::collection::btree_map(0..2 * NAMES, recheck(), 0..8),
        second in prop::collection::btree_map(0..2 * NAMES, recheck(), 0..8),
    ) {
        let mut objects: BTreeMap<usize, (ArbitraryObject, bool)> =
            arbitrary_object.into_iter().map(|(place, arbitrary_object)| (place, (arbitrary_object.clone(),
                arbitrary_object.known))).collect();
        let mut snapshot = build(&objects);
        let mut all = BTreeMap::new();
        // A proven answer counts more than an earlier one.
        for rechecks in [first, second] {
            let rechecks: BTreeMap<usize, Recheck> = rechecks.into_iter().filter(|(place,
                _)| objects.contains_key(place)).collect();
            let seen: Vec<(ObjectId, RecheckResult)> =
                rechecks.iter().map(|(place, recheck)| seen(&mut snapshot, &objects, *place, recheck)).collect();
            snapshot.update(seen);
            all.extend(rechecks.clone());
            prop_assert_eq!(state_of(&mut snapshot), state_of(&mut expected(&objects, &all)));
            let unanswered = rechecks.values().any(|recheck| matches!(recheck, Recheck::Unanswered));
            prop_assert!(!unanswered || !snapshot.complete());
            for (place, recheck) in &rechecks {
                match recheck {
                    Recheck::Other(arbitrary_object) => drop(objects.insert(*place, (arbitrary_object.clone(), false))),
                    Recheck::Gone => drop(objects.remove(place)),
                    Recheck::Same | Recheck::Unanswered => {}
                }
            }
        }
    }

    #[test]
    fn label_order_does_not_matter(one in arbitrary_object(), other in arbitrary_object(), reversed in any::<bool>()) {
        let mut one = raw(0, &one);
        let mut other = raw(0, &other);
        for object in [&mut one, &mut other] {
            object.labels.push(("tier".into(), "back".into()));
        }
        if reversed {
            other.labels.reverse();
        }
        other.resource_version = "2".into();
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources());
        let id = builder.add(ResourceId(0), &one);
        let snapshot = builder.build();
        let sorted = |mut object: Raw| {
            object.labels.sort();
            object.resource_version = "".into();
            object
        };
        prop_assert!(snapshot.is_still(id, &one));
        prop_assert_eq!(snapshot.is_still(id, &other), sorted(one) == sorted(other));
    }
}

/// A restarted list can return an object under two uids; a look-up shows which one exists.
#[test]
fn other_objects_at_the_coordinate_are_removed() {
    let arbitrary_object = |uid| ArbitraryObject { uid, finalizer: false, owner: None, label: None, known: false };
    for (recheck, left) in [
        (RecheckResult::Same, vec!["u1"]),
        (RecheckResult::Gone, vec![]),
        (RecheckResult::Replaced(raw(0, &arbitrary_object(3))), vec!["u3"]),
    ] {
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources());
        builder.add(ResourceId(0), &raw(0, &arbitrary_object(2)));
        let id = builder.add(ResourceId(0), &raw(0, &arbitrary_object(1)));
        let mut snapshot = builder.build();
        snapshot.update(vec![(id, RecheckResult::Unanswered("timed out".to_owned())), (id, recheck)]);
        let uids: Vec<&str> = snapshot.objects().map(|(_, object)| snapshot.text(object.uid)).collect();
        assert_eq!(uids, left);
        let there = coordinate(&mut snapshot, 0);
        let expected = if left.is_empty() { Presence::Absent } else { Presence::Present(ObjectId(0)) };
        assert_eq!(snapshot.look_up(there), expected);
    }
}

/// Removing many objects at once, as with a namespace, takes no longer than reading them.
#[test]
fn many_objects_can_be_removed_at_once() {
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources());
    for number in 0..50_000 {
        let object =
            RawObject { name: format!("n{number}").into(), uid: format!("u{number}").into(), ..RawObject::default() };
        builder.add(ResourceId(0), &object);
    }
    let mut snapshot = builder.build();
    let seen: Vec<(ObjectId, RecheckResult)> =
        snapshot.objects().filter(|(id, _)| id.0 % 2 == 0).map(|(id, _)| (id, RecheckResult::Gone)).collect();
    let begun = std::time::Instant::now();
    snapshot.update(seen);
    assert_eq!(snapshot.len(), 25_000);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}
