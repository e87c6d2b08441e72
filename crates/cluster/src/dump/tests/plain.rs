//! What is served, covered and missing in a plain dump.

use super::*;
use gc_core::model::Mapping;

fn resource<'a>(snapshot: &'a Snapshot, api_version: &str, kind: &str) -> &'a gc_core::model::Resource {
    match snapshot.resources.map(api_version, kind) {
        Mapping::Served(id) => snapshot.resources.get(id),
        other => panic!("{api_version} {kind} maps to {other:?}"),
    }
}

fn definition(more: &str) -> String {
    format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"shops.acme.io","uid":"crd"}},
        "spec":{{"group":"acme.io","scope":"Namespaced","names":{{"kind":"Shop","plural":"shops","shortNames":["sh"],"categories":["all"]}},
        "versions":[{{"name":"v1beta1","served":true,"schema":{{"openAPIV3Schema":{{"type":"object"}}}}}},{{"name":"v1","served":true}},
        {{"name":"v1alpha1","served":false}}]}}{more}}}"#
    )
}

#[test]
fn the_kinds_of_kubernetes_are_served_in_every_dump() {
    let snapshot = read(&object("v1", "Pod", "shop", "a", ""));
    assert_eq!(resource(&snapshot, "apps/v1", "Deployment").short_names, ["deploy"]);
    assert_eq!(snapshot.resources.preferred_versions()[0], (String::new(), "v1".to_owned()));
}

#[test]
fn definitions_in_the_dump_say_what_is_served() {
    let snapshot = read(&(definition("") + &object("acme.io/v1beta1", "Shop", "x", "main", "")));
    let shop = resource(&snapshot, "acme.io/v1", "Shop");
    assert_eq!((shop.plural.as_str(), shop.singular.as_str(), shop.namespaced), ("shops", "shop", true));
    assert_eq!(
        (shop.short_names.as_slice(), shop.categories.as_slice()),
        (&["sh".to_owned()][..], &["all".to_owned()][..])
    );
    assert_eq!(snapshot.resources.map("acme.io/v1alpha1", "Shop"), Mapping::Unmappable);
    assert!(snapshot.resources.preferred_versions().contains(&("acme.io".to_owned(), "v1".to_owned())));
    let (_, main) = snapshot.objects().nth(1).unwrap();
    assert_eq!(snapshot.resources.get(main.resource).version, "v1");
    assert!(snapshot.complete());
}

#[test]
fn unaccepted_and_terminating_definitions_are_distinguished() {
    let not_established = r#","status":{"conditions":[{"type":"Established","status":"False"}]}"#;
    let snapshot = read(&definition(not_established));
    assert_eq!(snapshot.resources.map("acme.io/v1", "Shop"), Mapping::Unmappable);
    let terminating = r#","status":{"conditions":[{"type":"Terminating","status":"True"},{"type":"Established","status":"True"}],
        "acceptedNames":{"kind":"Shop","plural":"stores","singular":"store"}}"#;
    let snapshot = read(&definition(terminating));
    let shop = resource(&snapshot, "acme.io/v1", "Shop");
    assert_eq!((shop.plural.as_str(), shop.has_verb("create"), shop.has_verb("watch")), ("stores", false, true));
}

#[test]
fn old_definitions_name_one_version() {
    let text = r#"{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"CustomResourceDefinition","metadata":{"name":"a","uid":"1"},
        "spec":{"group":"acme.io","version":"v1","scope":"Cluster","names":{"kind":"Shop","plural":"shops"}}}"#;
    assert!(!resource(&read(text), "acme.io/v1", "Shop").namespaced);
}

#[test]
fn unknown_kinds_are_served_as_their_objects_show() {
    let objects = [
        object("acme.io/v1alpha1", "Policy", "", "a", ""),
        object("acme.io/v1", "Policy", "", "b", ""),
        object("acme.io/v1", "Bus", "shop", "c", ""),
        object("batch/v1beta1", "CronJob", "shop", "d", ""),
    ];
    let snapshot = read(&objects.concat());
    let policy = resource(&snapshot, "acme.io/v1alpha1", "Policy");
    assert_eq!((policy.plural.as_str(), policy.namespaced), ("policies", false));
    assert!(policy.missing_verbs().is_empty());
    assert_eq!(resource(&snapshot, "acme.io/v1", "Bus").plural, "buses");
    assert_eq!(resource(&snapshot, "batch/v1beta1", "CronJob").short_names, ["cj"]);
    let versions: Vec<&str> =
        snapshot.objects().map(|(_, object)| snapshot.resources.get(object.resource).version.as_str()).collect();
    assert_eq!(versions, ["v1", "v1", "v1", "v1"], "objects are stored under the preferred version");
}

#[test]
fn kinds_whose_plural_would_be_the_same_stay_apart() {
    let snapshot = read(&(object("a.io/v1", "Foo", "", "a", "") + &object("a.io/v1", "foo", "", "b", "")));
    assert_eq!(names(&snapshot), ["Foo/a", "foo/b"]);
}

#[test]
fn the_same_object_twice_is_one() {
    let old = object("v1", "Pod", "shop", "a", r#","resourceVersion":"9""#);
    let new = object("v1", "Pod", "shop", "a", r#","resourceVersion":"10","finalizers":["x"]"#);
    for text in [format!("{old}{new}"), format!("{new}{old}{old}")] {
        let snapshot = read(&text);
        assert_eq!(only(&snapshot).finalizers.len(), 1);
    }
    let other = new.replace("uid-a", "uid-b");
    assert_eq!(read(&(old + &other)).len(), 1, "a name exists once");
}

#[test]
fn absence_is_proven_only_for_kinds_in_the_dump() {
    let pod = |namespace: &str, name: &str| object("v1", "Pod", namespace, name, "");
    let text = pod("shop", "a") + &object("v1", "Node", "", "n", "");
    let mut snapshot = read(&text);
    assert_eq!(look_up(&mut snapshot, "v1", "Pod", "shop", "gone"), Presence::Absent);
    assert_eq!(look_up(&mut snapshot, "v1", "Pod", "other", "gone"), Presence::Unknown);
    assert_eq!(look_up(&mut snapshot, "v1", "Node", "", "gone"), Presence::Absent);
    assert_eq!(look_up(&mut snapshot, "v1", "ConfigMap", "shop", "gone"), Presence::Unknown);
    let mut snapshot = read_bytes(text.as_bytes(), true).unwrap();
    assert_eq!(look_up(&mut snapshot, "v1", "Pod", "other", "gone"), Presence::Absent);
    assert_eq!(look_up(&mut snapshot, "v1", "ConfigMap", "shop", "gone"), Presence::Absent);
}

#[test]
fn owners_not_covered_by_the_dump_are_gaps() {
    let pod = |name: &str, owner: String| object("v1", "Pod", "shop", name, &owner);
    let text = [
        // Some exist in another namespace.
        object("apps/v1", "ReplicaSet", "other", "x", ""),
        pod("a", owned_by("apps/v1", "ReplicaSet", "rs")),
        pod("b", owned_by("apps/v1", "ReplicaSet", "other")),
        pod("c", owned_by("v1", "Node", "n")),
        pod("d", owned_by("acme.io/v1", "Shop", "main")),
        pod("e", owned_by("batch/v1beta1", "CronJob", "old")),
        // No gap for these: contained kinds, impossible kinds, list kinds, and invalid ones.
        pod("f", owned_by("v1", "Pod", "gone")),
        pod("g", owned_by("apps/v1", "Deploymnet", "typo")),
        pod("h", owned_by("v1", "PodList", "x")),
        pod("i", r#","ownerReferences":[{"apiVersion":"a/b/c","kind":"X","name":"x","uid":"1"},{}]"#.to_owned()),
    ];
    let expected = [
        "batch/v1beta1 (not in the dump, and not served by Kubernetes v1.36.3)",
        "nodes (not in the dump)",
        "replicasets.apps in namespace shop (not in the dump)",
        "shops.acme.io (not in the dump)",
    ];
    assert_eq!(gaps(&read(&text.concat())), expected);
    let complete = read_bytes(text.concat().as_bytes(), true).unwrap();
    assert!(complete.complete());
    assert_eq!(complete.resources.map("acme.io/v1", "Shop"), Mapping::Unmappable);
}

#[test]
fn a_version_that_the_definition_does_not_serve_is_no_gap() {
    let pod = object("v1", "Pod", "shop", "a", &owned_by("acme.io/v1alpha1", "Shop", "main"));
    let snapshot = read(&(definition("") + &pod));
    assert!(snapshot.complete(), "{:?}", gaps(&snapshot));
    assert_eq!(snapshot.resources.map("acme.io/v1alpha1", "Shop"), Mapping::Unmappable);
}

#[test]
fn an_unknown_owner_of_a_cluster_scoped_object_is_cluster_scoped() {
    let node = object("v1", "Node", "", "n", &owned_by("acme.io/v1", "Pool", "p"));
    let pod = object("v1", "Pod", "shop", "a", &owned_by("acme.io/v1", "Pool", "p"));
    let snapshot = read(&(pod + &node));
    assert!(!resource(&snapshot, "acme.io/v1", "Pool").namespaced);
    assert_eq!(gaps(&snapshot), ["pools.acme.io (not in the dump)"]);
}

/// Nothing is created in a Namespace that is being deleted, and its conditions name all that is left in it, unless
/// something could not be read or deleted.
#[test]
fn what_a_leaving_namespace_does_not_name_is_not_there() {
    let covered = |kind: &str, status: &str, message: &str, more: &str| {
        let condition = format!(r#"{{"type":"{kind}","status":"{status}","message":"{message}"}}"#);
        let metadata = r#"{"name":"shop","uid":"ns","deletionTimestamp":"2026-01-01T08:00:00Z"}"#;
        let snapshot = read(&format!(
            r#"{{"apiVersion":"v1","kind":"Namespace","metadata":{metadata},"spec":{{}},"status":{{"conditions":[{condition}{more}]}}}}"#
        ));
        let namespace = snapshot.strings.find("shop");
        ["Pod", "Secret", "Node"]
            .map(|kind| snapshot.covers(snapshot.resources.by_group_kind("", kind).unwrap(), namespace))
    };
    let left = "Some resources are remaining: pods. has 1 resource instances";
    assert_eq!(covered("NamespaceContentRemaining", "True", left, ""), [false, true, false]);
    assert_eq!(
        covered("NamespaceContentRemaining", "False", "All content successfully removed", ""),
        [true, true, false]
    );
    let failed = r#",{"type":"NamespaceDeletionDiscoveryFailure","status":"True","message":"no"}"#;
    assert_eq!(covered("NamespaceContentRemaining", "True", left, failed), [false; 3]);
    assert_eq!(covered("NamespaceFinalizersRemaining", "True", "", ""), [false; 3]);
}
