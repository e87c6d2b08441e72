//! Whatever comes in after the lists, the snapshot is as if it had been read like that.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::model::{
    Coordinate, Fact, ListRecord, ObjectId, Origin, Presence, RawObject, RawReference, RecheckResult, Resource,
    ResourceId, Resources, Snapshot, SnapshotBuilder, facts::ServiceFacts,
};

const NAMES: usize = 6;

/// What is where it is read: kind, name and all else.
type Raw = RawObject<'static>;

#[derive(Clone, Debug)]
struct Drawn {
    uid: usize,
    finalizer: bool,
    owner: Option<usize>,
    label: Option<usize>,
    known: bool,
}

#[derive(Clone, Debug)]
enum Look {
    Same,
    Other(Drawn),
    Gone,
    Unanswered,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    // Uids are unique but for tools that copy them; few enough that they meet.
    (0..40usize, any::<bool>(), prop::option::of(0..40usize), prop::option::of(0..3usize), any::<bool>())
        .prop_map(|(uid, finalizer, owner, label, known)| Drawn { uid, finalizer, owner, label, known })
}

fn look() -> impl Strategy<Value = Look> {
    prop_oneof![
        Just(Look::Same),
        drawn().prop_map(Look::Other),
        drawn().prop_map(Look::Other),
        Just(Look::Gone),
        Just(Look::Unanswered)
    ]
}

fn resources() -> Resources {
    let resource = |plural: &str, kind: &str| Resource {
        version: "v1".to_owned(),
        plural: plural.to_owned(),
        kind: kind.to_owned(),
        namespaced: true,
        verbs: ["delete", "list", "watch"].map(str::to_owned).to_vec(),
        ..Resource::default()
    };
    Resources::new(vec![resource("services", "Service"), resource("pods", "Pod")], Vec::new())
}

fn raw(place: usize, drawn: &Drawn) -> Raw {
    let owner =
        |uid: usize| RawReference { uid: format!("u{uid}").into(), name: "owner".into(), ..RawReference::default() };
    RawObject {
        namespace: "shop".into(),
        name: format!("n{}", place % NAMES).into(),
        uid: format!("u{}", drawn.uid).into(),
        finalizers: drawn.finalizer.then(|| "acme.io/x".into()).into_iter().collect(),
        owners: drawn.owner.map(owner).into_iter().collect(),
        labels: drawn.label.map(|label| ("app".into(), format!("l{label}").into())).into_iter().collect(),
        ..RawObject::default()
    }
}

fn fact(place: usize) -> Fact {
    Fact::Service(ServiceFacts { kind: Some(format!("of {place}")) })
}

/// A snapshot of what is at these places (a place is a kind and a name), in their order, with the facts of some.
fn build(objects: &BTreeMap<usize, (Drawn, bool)>) -> Snapshot {
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources());
    for resource in [0, 1].map(ResourceId) {
        builder.list(ListRecord { resource, namespace: None, resource_version: String::new(), failure: None });
    }
    for (place, (drawn, known)) in objects {
        let id = builder.add(ResourceId((place / NAMES) as u32), &raw(*place, drawn));
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

/// All that can be asked of the objects, in words; symbols differ.
fn describe(snapshot: &mut Snapshot) -> Vec<String> {
    let mut describe = Vec::new();
    let text = |symbol| snapshot.text(symbol).to_owned();
    for (id, object) in snapshot.objects() {
        let owners: Vec<String> = object.owners.iter().map(|owner| text(owner.uid)).collect();
        let finalizers: Vec<String> = object.finalizers.iter().map(|finalizer| text(*finalizer)).collect();
        let labels: Vec<String> =
            object.labels.iter().map(|(key, value)| format!("{}={}", text(*key), text(*value))).collect();
        let fact = snapshot.facts.get(id);
        describe.push(format!(
            "{id:?} {} {} {owners:?} {finalizers:?} {labels:?} {fact:?}",
            snapshot.short_name(id),
            text(object.uid)
        ));
    }
    for uid in 0..40 {
        describe.push(format!(
            "{uid}: {:?}",
            snapshot.strings.find(&format!("u{uid}")).and_then(|uid| snapshot.by_uid(uid))
        ));
    }
    for place in 0..2 * NAMES {
        let coordinate = coordinate(snapshot, place);
        let (there, asked) = (snapshot.look_up(coordinate), snapshot.was_looked_up(coordinate));
        let is_confirmed = snapshot.confirmed_absent().any(|absent| absent == coordinate);
        describe.push(format!("{place}: {there:?} {asked} {is_confirmed}"));
    }
    describe.push(format!("{} facts", snapshot.facts.len()));
    describe
}

/// What the snapshot shall be, from scratch: the objects as they are now, and besides, what was looked up.
fn expected(objects: &BTreeMap<usize, (Drawn, bool)>, looks: &BTreeMap<usize, Look>) -> Snapshot {
    let mut now = objects.clone();
    for (place, look) in looks {
        match look {
            Look::Other(drawn) => drop(now.insert(*place, (drawn.clone(), false))),
            Look::Gone => drop(now.remove(place)),
            Look::Same | Look::Unanswered => {}
        }
    }
    let mut snapshot = build(&now);
    for (place, look) in looks {
        let coordinate = coordinate(&mut snapshot, *place);
        match look {
            Look::Same | Look::Other(_) => drop(snapshot.found.insert(coordinate)),
            Look::Gone => snapshot.confirm_absent(coordinate),
            Look::Unanswered => snapshot.leave_unanswered(coordinate),
        }
    }
    snapshot
}

/// What a look at a place says, and of what.
fn seen(
    snapshot: &mut Snapshot,
    objects: &BTreeMap<usize, (Drawn, bool)>,
    place: usize,
    look: &Look,
) -> (ObjectId, RecheckResult) {
    let coordinate = coordinate(snapshot, place);
    let id = snapshot.by_coordinate[&coordinate];
    let again = match look {
        Look::Same => RecheckResult::Same,
        Look::Other(drawn) if drawn.uid == objects[&place].0.uid => RecheckResult::Changed(raw(place, drawn)),
        Look::Other(drawn) => RecheckResult::Replaced(raw(place, drawn)),
        Look::Gone => RecheckResult::Gone,
        Look::Unanswered => RecheckResult::Unanswered("forbidden".to_owned()),
    };
    (id, again)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn an_update_is_as_good_as_reading_anew(
        drawn in prop::collection::btree_map(0..2 * NAMES, drawn(), 0..10),
        first in prop::collection::btree_map(0..2 * NAMES, look(), 0..8),
        second in prop::collection::btree_map(0..2 * NAMES, look(), 0..8),
    ) {
        let mut objects: BTreeMap<usize, (Drawn, bool)> =
            drawn.into_iter().map(|(place, drawn)| (place, (drawn.clone(), drawn.known))).collect();
        let mut snapshot = build(&objects);
        let mut all = BTreeMap::new();
        // What an answer proves counts more than an earlier one.
        for looks in [first, second] {
            let looks: BTreeMap<usize, Look> = looks.into_iter().filter(|(place, _)| objects.contains_key(place)).collect();
            let seen: Vec<(ObjectId, RecheckResult)> =
                looks.iter().map(|(place, look)| seen(&mut snapshot, &objects, *place, look)).collect();
            snapshot.update(seen);
            all.extend(looks.clone());
            prop_assert_eq!(describe(&mut snapshot), describe(&mut expected(&objects, &all)));
            let unanswered = looks.values().any(|look| matches!(look, Look::Unanswered));
            prop_assert!(!unanswered || !snapshot.complete());
            for (place, look) in &looks {
                match look {
                    Look::Other(drawn) => drop(objects.insert(*place, (drawn.clone(), false))),
                    Look::Gone => drop(objects.remove(place)),
                    Look::Same | Look::Unanswered => {}
                }
            }
        }
    }

    #[test]
    fn an_object_is_still_itself_whatever_the_order_of_its_labels(one in drawn(), other in drawn(), reversed in any::<bool>()) {
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

/// A list that was begun anew can show an object under two uids; the server tells which it is.
#[test]
fn what_else_was_at_the_place_goes() {
    let drawn = |uid| Drawn { uid, finalizer: false, owner: None, label: None, known: false };
    for (look, left) in [
        (RecheckResult::Same, vec!["u1"]),
        (RecheckResult::Gone, vec![]),
        (RecheckResult::Replaced(raw(0, &drawn(3))), vec!["u3"]),
    ] {
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, resources());
        builder.add(ResourceId(0), &raw(0, &drawn(2)));
        let id = builder.add(ResourceId(0), &raw(0, &drawn(1)));
        let mut snapshot = builder.build();
        snapshot.update(vec![(id, RecheckResult::Unanswered("timed out".to_owned())), (id, look)]);
        let uids: Vec<&str> = snapshot.objects().map(|(_, object)| snapshot.text(object.uid)).collect();
        assert_eq!(uids, left);
        let there = coordinate(&mut snapshot, 0);
        let expected = if left.is_empty() { Presence::Absent } else { Presence::Present(ObjectId(0)) };
        assert_eq!(snapshot.look_up(there), expected);
    }
}

/// Many objects that go at once, as when a namespace is emptied, take no longer than reading them did.
#[test]
fn many_can_go_at_once() {
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
