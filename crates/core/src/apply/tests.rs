use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use crate::{
    graph::OwnerGraph,
    model::{ListRecord, Origin, RawObject, Resource, ResourceId, Resources, Snapshot, SnapshotBuilder},
    plan::explore,
    simulate::{Assume, Request, SimContext},
};

use super::{
    ApplyPlan, ApplyResult, Arrival, Fate, FileReference, LastApplied, ManifestObject, Mend, Mending, Place, Refusal,
    Scene, Standing, Unread,
    arrival::invalid_references,
    mends,
    merge::{merged, merged_finalizers},
};

const CONFIG: ResourceId = ResourceId(0);
const NAMESPACE: ResourceId = ResourceId(1);
const ROLE: ResourceId = ResourceId(2);
const SHOP: ResourceId = ResourceId(3);

fn kind(group: &str, kind: &str, namespaced: bool) -> Resource {
    Resource {
        namespaced,
        ..Resource::named(group, "v1", &(kind.to_lowercase() + "s"), kind).with_verbs(&["delete", "list", "watch"])
    }
}

fn existing(namespace: &str, name: &str, owners: &[FileReference]) -> RawObject<'static> {
    RawObject {
        resource_version: "9".into(),
        owners: owners.to_vec(),
        ..RawObject::named(namespace.to_owned(), name.to_owned(), format!("uid-{name}"))
    }
}

/// A cluster with the namespaces `shop` and `other` and these objects, all listed but for those of one kind.
fn cluster(objects: &[(ResourceId, RawObject<'static>)], unlisted: Option<ResourceId>) -> Snapshot {
    let kinds = vec![
        kind("", "ConfigMap", true),
        kind("", "Namespace", false),
        kind("rbac.authorization.k8s.io", "ClusterRole", false),
        kind("acme.io", "Shop", true),
    ];
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, Resources::new(kinds, Vec::new()));
    for namespace in ["shop", "other"] {
        builder.add(NAMESPACE, &existing("", namespace, &[]));
    }
    for (resource, object) in objects {
        builder.add(*resource, object);
    }
    for resource in [CONFIG, NAMESPACE, ROLE, SHOP].into_iter().filter(|resource| Some(*resource) != unlisted) {
        builder.list(ListRecord::complete(resource));
    }
    builder.build()
}

fn owner(name: &str, uid: &str) -> FileReference {
    FileReference::to("v1", "ConfigMap", name.to_owned(), uid.to_owned())
}

fn written(references: &[FileReference]) -> Value {
    let one = |reference: &FileReference| {
        json!({"apiVersion": reference.api_version, "kind": reference.kind, "name": reference.name,
            "uid": reference.uid, "controller": reference.controller})
    };
    references.iter().map(one).collect()
}

fn object(name: &str, owners: &[FileReference], more: &Value) -> ManifestObject {
    let mut metadata = json!({"name": name, "ownerReferences": written(owners)});
    metadata.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let whole = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata});
    ManifestObject::of(Place::default(), "v1", "ConfigMap", whole)
}

fn of_kind(api_version: &str, kind: &str, name: &str, owners: &[FileReference]) -> ManifestObject {
    let whole = json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name,
        "ownerReferences": written(owners)}});
    ManifestObject::of(Place::default(), api_version, kind, whole)
}

fn played(snapshot: &mut Snapshot, objects: &[ManifestObject]) -> ApplyPlan {
    let scene = Scene::of(snapshot, objects, "shop", &FxHashMap::default());
    let graph = OwnerGraph::new(&scene.snapshot);
    let plan =
        explore(&SimContext::new(&scene.snapshot, &graph, Assume::Known), &Request::appear(scene.appearing.clone()));
    ApplyPlan::of(scene, &graph, plan, objects)
}

fn fates(apply: &ApplyPlan) -> Vec<Fate> {
    apply.objects.iter().map(|object| object.fate).collect()
}

#[test]
fn references_to_the_uids_of_a_file_dangle() {
    let mut snapshot = cluster(&[(CONFIG, existing("shop", "there", &[]))], None);
    let file = [
        object("root", &[], &json!({"uid": "saved"})),
        object("below", &[owner("root", "saved")], &json!({"uid": "saved-below"})),
        object("deeper", &[owner("below", "saved-below")], &json!({})),
        object("of-there", &[owner("there", "uid-there")], &json!({})),
        object("of-former", &[owner("there", "former")], &json!({})),
        object("of-both", &[owner("there", "uid-there"), owner("gone", "gone")], &json!({})),
        object("elsewhere", &[owner("there", "uid-there")], &json!({"namespace": "other"})),
        object("elsewhere-in-file", &[owner("root", "saved")], &json!({"namespace": "other"})),
        of_kind("rbac.authorization.k8s.io/v1", "ClusterRole", "role", &[owner("there", "uid-there")]),
        object(
            "shielded",
            &[owner("gone", "gone"), FileReference { kind: "Nothing".into(), ..owner("n", "n") }],
            &json!({}),
        ),
    ];
    let apply = played(&mut snapshot, &file);
    use Fate::{Collected, Kept, Stripped};
    assert_eq!(
        fates(&apply),
        [Kept, Collected, Collected, Kept, Collected, Stripped, Collected, Collected, Kept, Kept]
    );
    assert!(apply.certain());
    assert_eq!(apply.result(), ApplyResult::Collects);
    let standing = |index: usize| apply.objects[index].standings[0].name();
    assert_eq!(
        [1, 2, 3, 4, 6, 7, 8].map(standing),
        ["new-uid", "new-uid", "solid", "other-uid", "other-namespace", "other-namespace", "invalid-scope"]
    );
    let mend = |index: usize| apply_mends(&apply, &file)[index].clone();
    assert_eq!(mend(1), [Mend::RemoveForNow]);
    assert_eq!(mend(3), [Mend::Keep]);
    assert_eq!(mend(4), [Mend::SetUid("uid-there".to_owned())]);
    assert_eq!(mend(5), [Mend::Keep, Mend::Remove]);
    assert_eq!([6, 7, 8].map(mend), [[Mend::Remove], [Mend::Remove], [Mend::Remove]]);
    assert_eq!(mend(9), [Mend::Remove, Mend::Keep]);
}

fn apply_mends(apply: &ApplyPlan, file: &[ManifestObject]) -> Vec<Vec<Mend>> {
    mends(apply, file).into_iter().map(|mending| mending.references).collect()
}

#[test]
fn no_owner_gets_two_references() {
    let mut snapshot = cluster(&[(CONFIG, existing("shop", "there", &[]))], None);
    let file = [
        object("twice", &[owner("there", "one"), owner("there", "uid-there")], &json!({})),
        object("former", &[owner("there", "one"), owner("there", "two")], &json!({})),
    ];
    let apply = played(&mut snapshot, &file);
    let set = Mend::SetUid("uid-there".to_owned());
    assert_eq!(apply_mends(&apply, &file), [vec![Mend::Remove, Mend::Keep], vec![set, Mend::Remove]]);
}

/// What the file takes an owner from goes with all that depends on it in the cluster.
#[test]
fn objects_that_exist_take_their_dependents_along() {
    let mut snapshot = cluster(
        &[
            (CONFIG, existing("shop", "there", &[])),
            (CONFIG, existing("shop", "below", &[owner("there", "uid-there")])),
            (CONFIG, existing("shop", "besides", &[])),
        ],
        None,
    );
    let file = [
        object("there", &[owner("gone", "gone")], &json!({})),
        object("new", &[owner("there", "uid-there")], &json!({})),
    ];
    let apply = played(&mut snapshot, &file);
    assert_eq!(apply.objects[0].placed.arrival, Arrival::Patched);
    assert_eq!(fates(&apply), [Fate::Collected, Fate::Collected]);
    let others: Vec<String> = apply.others().map(|outcome| apply.scene.snapshot.short_name(outcome.object)).collect();
    assert_eq!(others, ["ConfigMap/below"]);
    assert_eq!(snapshot.len(), 5, "the snapshot itself stays as it was");
}

#[test]
fn what_was_not_read_is_unknown() {
    let shop = |name: &str| of_kind("acme.io/v1", "Shop", name, &[]);
    let of_shop = FileReference { api_version: "acme.io/v1".into(), kind: "Shop".into(), ..owner("main", "u") };
    let mut snapshot = cluster(&[], Some(SHOP));
    let file = [shop("main"), object("of-unread", std::slice::from_ref(&of_shop), &json!({}))];
    let apply = played(&mut snapshot, &file);
    assert_eq!(apply.objects[0].placed.arrival, Arrival::Unknown(Unread::Existence));
    assert_eq!(fates(&apply), [Fate::Unknown, Fate::Unknown]);
    assert_eq!(apply.objects[1].standings, [Standing::Unread]);
    assert_eq!(apply.result(), ApplyResult::Unsure);
    assert_eq!(apply_mends(&apply, &file)[1], [Mend::Keep]);
    // Another owner keeps it in any case.
    let mut snapshot = cluster(&[(CONFIG, existing("shop", "there", &[]))], Some(SHOP));
    let apply = played(&mut snapshot, &[object("kept", &[of_shop, owner("there", "uid-there")], &json!({}))]);
    assert_eq!(apply.objects[0].standings, [Standing::Unread, Standing::Solid(crate::model::ObjectId(2))]);
    assert_ne!(fates(&apply), [Fate::Collected]);
}

#[test]
fn refusals() {
    let refused = |file: &[ManifestObject]| {
        let apply = played(&mut cluster(&[(CONFIG, existing("shop", "there", &[]))], None), file);
        let refusal = |object: &super::FileObject| match &object.placed.arrival {
            Arrival::Refused(refusal) => refusal.name(),
            _ => "",
        };
        apply.objects.iter().map(refusal).collect::<Vec<_>>()
    };
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "bikes.acme.io"}, "spec": {"group": "acme.io", "names": {"kind": "Bike"},
        "versions": [{"name": "v1", "served": true}]}});
    let definition =
        ManifestObject::of(Place::default(), "apiextensions.k8s.io/v1", "CustomResourceDefinition", definition);
    assert_eq!(
        refused(&[
            object("there", &[], &json!({"uid": "other"})),
            object("nowhere", &[], &json!({"namespace": "nowhere"})),
            object("early", &[], &json!({"namespace": "late"})),
            of_kind("v1", "Namespace", "late", &[]),
            object("late", &[], &json!({"namespace": "late"})),
            of_kind("nowhere.io/v1", "Nothing", "n", &[]),
            of_kind("acme.io/v1", "Bike", "b", &[]),
            definition,
            object("finalizers", &[], &json!({"finalizers": ["orphan", "foregroundDeletion"]})),
            object("number", &[], &json!({"uid": 7})),
            object("", &[], &json!({})),
            object("", &[], &json!({"generateName": "made-"})),
        ]),
        [
            "other-uid",
            "no-namespace",
            "namespace-later",
            "",
            "",
            "unserved-kind",
            "defined-by-file",
            "unserved-kind",
            "both-finalizers",
            "malformed",
            "no-name",
            ""
        ]
    );
    assert_eq!(refused(&[object("there", &[], &json!({"resourceVersion": "8"}))]), ["other-version"]);
    assert_eq!(refused(&[object("there", &[], &json!({"resourceVersion": "9", "uid": "uid-there"}))]), [""]);
}

#[test]
fn invalid_references_are_refused() {
    let one = owner("a", "a");
    let of = |api_version: &str, kind: &str| FileReference {
        api_version: api_version.to_owned().into(),
        kind: kind.to_owned().into(),
        ..one.clone()
    };
    let refusal = |references: &[FileReference]| invalid_references(references).map(|refusal| refusal.name());
    assert_eq!(refusal(&[one.clone(), owner("b", "b")]), None);
    assert_eq!(refusal(&[owner("", "a")]), Some("invalid-reference"));
    assert_eq!(invalid_references(&[one.clone(), owner("b", "")]), Some(Refusal::Missing { number: 2, field: "uid" }));
    for invalid in ["apps/", "a/b/v1", "/"] {
        assert_eq!(refusal(&[of(invalid, "Deployment")]), Some("invalid-reference"), "{invalid}");
    }
    assert_eq!(refusal(&[of("v1", "Event")]), Some("event-owner"));
    assert_eq!(refusal(&[of("events.k8s.io/v1", "Event")]), None);
    let controller = FileReference { controller: Some(true), ..one.clone() };
    let other = FileReference { controller: Some(true), ..owner("b", "b") };
    assert_eq!(refusal(&[controller.clone(), other]), Some("several-controllers"));
    assert_eq!(refusal(&[controller.clone(), controller]), None);
}

/// What a mended file says of its references is judged, not what it said before.
#[test]
fn mended_references_are_not_refused() {
    let object = ManifestObject { references: Some(vec![owner("a", "")]), ..ManifestObject::default() };
    let before = invalid_references(object.written()).unwrap();
    let mended = |mend| Mending { references: vec![mend], ..Mending::default() }.refusal(&object, &before);
    assert_eq!(mended(Mend::SetUid("a".to_owned())), None);
    assert_eq!(mended(Mend::Remove), None);
    assert_eq!(mended(Mend::Keep), Some(before.clone()));
    let nothing = Mending { references: vec![Mend::SetUid("a".to_owned())], ..Mending::default() };
    assert_eq!(nothing.refusal(&object, &Refusal::NoName), Some(Refusal::NoName));
}

/// R1.49
#[test]
fn merges() {
    let [a, b, c] = ["a", "b", "c"].map(|name| owner(name, name));
    let nothing = LastApplied::Read { references: None, finalizers: None };
    let all = |all: &[&FileReference]| LastApplied::Read {
        references: Some(all.iter().map(|reference| (*reference).clone()).collect()),
        finalizers: None,
    };
    let one = |reference: &FileReference| vec![reference.clone()];
    let two = |first: &FileReference, second: &FileReference| vec![first.clone(), second.clone()];
    // By uid: what was applied last and is gone from the file is removed, others stay.
    assert_eq!(merged(true, &two(&a, &b), Some(&one(&c)), &all(&[&a])), Some(two(&b, &c)));
    assert_eq!(merged(true, &two(&a, &b), Some(&one(&b)), &nothing), Some(two(&a, &b)));
    assert_eq!(merged(true, &one(&a), None, &nothing), Some(one(&a)));
    assert_eq!(merged(true, &two(&a, &b), None, &all(&[&a])), Some(Vec::new()));
    // Custom resources: the whole list.
    assert_eq!(merged(false, &two(&a, &b), Some(&one(&c)), &nothing), Some(one(&c)));
    assert_eq!(merged(false, &one(&a), None, &nothing), Some(one(&a)));
    assert_eq!(merged(false, &one(&a), None, &all(&[&a])), Some(Vec::new()));
    // Unread: known only where it doesn't matter.
    assert_eq!(merged(true, &one(&a), Some(&one(&a)), &LastApplied::Unread), Some(one(&a)));
    assert_eq!(merged(true, &[], None, &LastApplied::Unread), Some(Vec::new()));
    assert_eq!(merged(true, &one(&a), Some(&one(&b)), &LastApplied::Unread), None);
    assert_eq!(merged(false, &one(&a), Some(&one(&b)), &LastApplied::Unread), Some(one(&b)));
    // A flag that was applied last and is gone from the file is unset; one that nobody applied stays.
    let blocking = FileReference { block_owner_deletion: Some(true), ..a.clone() };
    assert_eq!(merged(true, &one(&blocking), Some(&one(&a)), &all(&[&blocking])), Some(one(&a)));
    assert_eq!(merged(true, &one(&blocking), Some(&one(&a)), &nothing), Some(one(&blocking)));
}

#[test]
fn finalizers_merge() {
    let texts = |all: &[&str]| -> Vec<String> { all.iter().map(|text| (*text).to_owned()).collect() };
    let applied = |all: &[&str]| LastApplied::Read { references: None, finalizers: Some(texts(all)) };
    let nothing = LastApplied::Read { references: None, finalizers: None };
    let merged = |strategic: bool, live: &[&str], file: Option<&[&str]>, last: &LastApplied| {
        merged_finalizers(strategic, &texts(live), file.map(texts).as_deref(), last)
    };
    assert_eq!(merged(true, &["a", "b"], Some(&["c"]), &applied(&["a"])), (texts(&["b", "c"]), true));
    assert_eq!(merged(true, &["a", "b"], None, &applied(&["a"])), (Vec::new(), true));
    assert_eq!(merged(true, &["a"], None, &nothing), (texts(&["a"]), true));
    assert_eq!(merged(false, &["a", "b"], Some(&["c"]), &nothing), (texts(&["c"]), true));
    assert_eq!(merged(false, &["a"], None, &applied(&["a"])), (Vec::new(), true));
    assert_eq!(merged(true, &["a"], None, &LastApplied::Unread), (texts(&["a"]), false));
    assert_eq!(merged(true, &["a"], Some(&["a"]), &LastApplied::Unread), (texts(&["a"]), true));
}

#[test]
fn what_was_applied_last_is_read_from_the_annotation() {
    let with = |annotation: &str| json!({"metadata": {"annotations": {LastApplied::ANNOTATION: annotation}}});
    let nothing = LastApplied::Read { references: None, finalizers: None };
    assert_eq!(LastApplied::of(&json!({"metadata": {}})), nothing);
    assert_eq!(LastApplied::of(&with("no JSON")), nothing);
    assert_eq!(LastApplied::of(&with("{\"metadata\":{}}")), nothing);
    let applied = "{\"metadata\":{\"finalizers\":[\"f\"],\"ownerReferences\":[{\"apiVersion\":\"v1\",\
                   \"kind\":\"ConfigMap\",\"name\":\"a\",\"uid\":\"a\"}]}}";
    let read = LastApplied::Read { references: Some(vec![owner("a", "a")]), finalizers: Some(vec!["f".to_owned()]) };
    assert_eq!(LastApplied::of(&with(applied)), read);
}

#[test]
fn an_object_that_the_file_has_twice_is_unknown_unless_both_are_the_same() {
    let mut snapshot = cluster(&[], None);
    let one = object("one", &[], &json!({}));
    let apply = played(&mut snapshot, &[one.clone(), one.clone()]);
    assert_eq!(fates(&apply), [Fate::Kept, Fate::Kept]);
    let apply = played(&mut snapshot, &[one, object("one", &[owner("gone", "gone")], &json!({}))]);
    assert_eq!(fates(&apply), [Fate::Unknown, Fate::Unknown]);
}

/// Owners that are being deleted take new dependents along once they are gone.
#[test]
fn dependents_of_an_owner_that_is_being_deleted_go_later() {
    let terminating = |name: &str, finalizers: &[&'static str]| RawObject {
        deleted: Some(1),
        finalizers: finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
        ..existing("shop", name, &[])
    };
    let mut snapshot = cluster(
        &[
            (CONFIG, terminating("held", &["acme.io/hold"])),
            (CONFIG, terminating("waiting", &["acme.io/hold", "foregroundDeletion"])),
            (CONFIG, existing("shop", "there", &[])),
        ],
        None,
    );
    let file = [
        object("of-held", &[owner("held", "uid-held")], &json!({})),
        object("below", &[owner("waiting", "uid-waiting"), owner("gone", "gone")], &json!({})),
        object("of-both", &[owner("held", "uid-held"), owner("there", "uid-there")], &json!({})),
        object("held", &[], &json!({})),
    ];
    let apply = played(&mut snapshot, &file);
    assert_eq!(fates(&apply)[0], Fate::GoesLater);
    assert!(fates(&apply)[1].is_loss());
    assert_eq!(fates(&apply)[2..], [Fate::Kept, Fate::Terminating]);
    assert_eq!(
        apply_mends(&apply, &file)[..3],
        [vec![Mend::Remove], vec![Mend::Remove; 2], vec![Mend::Remove, Mend::Keep]]
    );
}
