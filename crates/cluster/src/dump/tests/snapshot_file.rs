//! Snapshot files restore what was written; broken ones have clear errors.

use std::fs;

use super::*;
use crate::dump;
use gc_core::model::{
    Fact, Gap, ListRecord, Origin, RawObject, Resource, Resources, ServerVersion, SnapshotBuilder, facts::PodFacts,
    well_known,
};

fn written(snapshot: &Snapshot) -> String {
    let mut bytes = Vec::new();
    dump::write(snapshot, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn sample() -> Snapshot {
    let resources = well_known::served().of_server(ServerVersion::read("v1.29.4-eks-1", "", ""));
    let id = |kind: &str| resources.by_group_kind("", kind).unwrap();
    let (pods, secrets, nodes) = (id("Pod"), id("Secret"), id("Node"));
    let origin = Origin::Cluster { context: "prod-eu".into(), server: "api.prod-eu:6443".into() };
    let mut builder = SnapshotBuilder::new(origin, resources);
    let raw = RawObject {
        created: Some(1_769_846_400),
        deleted: Some(i64::MAX),
        labels: vec![("b".into(), "1".into()), ("a".into(), "2".into())],
        ..RawObject::named("shop", "web \"quoted\"\u{1f980}", "1")
    };
    let pod = builder.add(pods, &raw);
    builder.snapshot().facts.insert(pod, Fact::Pod(PodFacts { grace: Some(30), ..PodFacts::default() }));
    let list = |resource, namespace: Option<&str>, failure: Option<&str>| ListRecord {
        resource,
        namespace: namespace.map(str::to_owned),
        resource_version: "1182".to_owned(),
        failure: failure.map(Into::into),
    };
    builder.list(list(pods, Some("shop"), None));
    builder.list(list(nodes, None, None));
    builder.list(list(secrets, None, Some("forbidden")));
    builder.gap(Gap { resource: "metrics.k8s.io/v1beta1".into(), namespace: None, reason: "503".into() });
    let snapshot = builder.snapshot();
    for name in ["y", "x"] {
        let (namespace, name) = (snapshot.strings.intern("other"), snapshot.strings.intern(name));
        snapshot.confirm_absent(Coordinate { resource: pods, namespace, name });
    }
    builder.build()
}

#[test]
fn a_snapshot_is_restored() {
    let snapshot = sample();
    let text = written(&snapshot);
    let mut back = read(&text);
    assert_eq!(written(&back), text);
    assert_eq!(back.resources.server().map(ServerVersion::as_str), Some("v1.29.4-eks-1"));
    assert_eq!(
        (back.origin.clone(), &back.gaps, &back.lists),
        (snapshot.origin.clone(), &snapshot.gaps, &snapshot.lists)
    );
    assert_eq!(look_up(&mut back, "v1", "Pod", "other", "x"), Presence::Absent);
    assert_eq!(look_up(&mut back, "v1", "Pod", "other", "z"), Presence::Unknown);
    assert_eq!(look_up(&mut back, "v1", "Pod", "shop", "z"), Presence::Absent);
    assert_eq!(look_up(&mut back, "v1", "Secret", "shop", "z"), Presence::Unknown);
    assert_eq!(look_up(&mut back, "v1", "Node", "", "z"), Presence::Absent);
    let (id, pod) = back.objects().next().unwrap();
    assert_eq!((pod.created.get(), pod.deleted.get()), (Some(1_769_846_400), Some(i64::MAX)));
    assert_eq!(back.facts.pod(id).unwrap().grace, Some(30));
}

#[test]
fn objects_are_one_per_line_with_sorted_labels() {
    let text = written(&sample());
    let pod = text.lines().find(|line| line.contains(r#""kind":"Pod","namespace""#)).unwrap();
    assert!(
        pod.starts_with(r#"{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"web \"quoted\"🦀","uid":"1""#),
        "{pod}"
    );
    assert!(pod.contains(r#""creationTimestamp":"2026-01-31T08:00:00Z""#), "{pod}");
    assert!(pod.contains(r#""labels":{"a":"2","b":"1"}"#), "{pod}");
    assert!(text.starts_with("{\"apiVersion\":\"kubectl-gc/v1\",\"kind\":\"Snapshot\",\"complete\":false,\n"));
}

#[test]
fn the_documented_example_is_valid() {
    let source = include_str!("../snapshot_file/mod.rs");
    let lines = source
        .lines()
        .filter_map(|line| line.strip_prefix("//! "))
        .skip_while(|line| !line.starts_with("```json"))
        .skip(1);
    let text = lines.take_while(|line| *line != "```").collect::<Vec<_>>().join("\n");
    assert_eq!(written(&read(&text)).replace("[\n", "["), text + "\n");
}

#[test]
fn other_json_formatting_is_accepted() {
    let value: serde_json::Value = serde_json::from_str(&written(&sample())).unwrap();
    let sorted = serde_json::to_string_pretty(&value).unwrap();
    assert_eq!(read(&sorted).len(), 1);
    assert_eq!(read(&serde_yaml::to_string(&value).unwrap()).len(), 1);
}

#[test]
fn an_object_whose_kind_is_ambiguous_names_its_resource() {
    let resource = |plural: &str| Resource { namespaced: false, ..Resource::named("acme.io", "v1", plural, "Shop") };
    let resources = Resources::new(vec![resource("shops"), resource("stores")], vec![]);
    let ids: Vec<_> = resources.iter().map(|(id, _)| id).collect();
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: vec!["-".into()] }, resources);
    for id in ids {
        builder.add(id, &RawObject { name: "a".into(), uid: format!("{id:?}").into(), ..RawObject::default() });
    }
    let snapshot = builder.build();
    let back = read(&written(&snapshot));
    let plurals = |snapshot: &Snapshot| -> Vec<String> {
        snapshot.objects().map(|(_, object)| snapshot.resources.get(object.resource).plural.clone()).collect()
    };
    assert_eq!(plurals(&back), ["shops", "stores"]);
}

#[test]
fn a_snapshot_of_a_dump_is_that_dump() {
    let text = object("acme.io/v1", "Shop", "x", "main", "")
        + &object("v1", "Pod", "x", "a", &owned_by("apps/v1", "ReplicaSet", "r"));
    let plain = read(&text);
    let back = read(&written(&plain));
    assert_eq!(written(&back), written(&plain));
    assert_eq!(gaps(&back), ["replicasets.apps (not in the dump)"]);
}

/// robustness secret: who may read a snapshot file | each format | its owner
#[test]
fn files_are_replaced_atomically_and_gzipped_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = sample();
    for name in ["snapshot.json", "snapshot.json.gz"] {
        let path = folder.path().join(name);
        fs::write(&path, "old").unwrap();
        dump::write_to_path(&snapshot, &path).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.starts_with(&[0x1f, 0x8b]), name.ends_with(".gz"));
        #[cfg(unix)]
        assert_eq!(std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&path).unwrap().permissions()) & 0o777, 0o600);
        let back = dump::read(&[path.to_str().unwrap().to_owned()], false).unwrap();
        assert_eq!(written(&back), written(&snapshot));
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "nothing is left behind");
    let nowhere = folder.path().join("none/snapshot.json");
    let message = dump::write_to_path(&snapshot, &nowhere).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: cannot be written: ", nowhere.display())), "{message}");
}

#[test]
fn a_snapshot_must_be_the_only_file() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.json"), object("v1", "Pod", "x", "a", "")).unwrap();
    dump::write_to_path(&sample(), &folder.path().join("b.json")).unwrap();
    let message = dump::read(&[folder.path().to_str().unwrap().to_owned()], false).unwrap_err().to_string();
    assert!(
        message.ends_with("b.json: a snapshot file contains a whole cluster: --from must not name any other file"),
        "{message}"
    );
}

#[test]
fn other_formats_and_broken_files_have_errors() {
    let text = written(&sample());
    let reads = "is not a snapshot this version can read (kubectl-gc/v1 Snapshot)";
    assert_eq!(error(&text.replace("kubectl-gc/v1", "kubectl-gc/v2")), format!("dump: kubectl-gc/v2 {reads}"));
    let plan = r#"{"apiVersion":"kubectl-gc/v1","kind":"Plan","outcomes":[]}"#;
    assert_eq!(error(plan), format!("dump: kubectl-gc/v1 Plan {reads}"));
    let broken = error(&text.replace(r#"{"apiVersion":"v1","kind":"Pod","#, r#"{"apiVersion":"v2","kind":"Pod","#));
    assert!(broken.starts_with("dump: broken snapshot: Pod/web"), "{broken}");
    let broken = error(&text.replace(r#"{"resource":"nodes","version":"v1""#, r#"{"resource":"nodes","version":"v7""#));
    assert_eq!(broken, "dump: broken snapshot: it lists nodes in v7, which is not one of its resources");
    let broken = error(&text.replace("2026-01-31T08:00:00Z", "soon"));
    assert!(broken.contains("malformed JSON at line") && broken.contains("creationTimestamp is \"soon\""), "{broken}");
    assert!(error(&text.replace("\"pod\":{", "\"pot\":{")).contains("facts: unknown variant"));
    assert!(error(&text[..text.len() - 3]).contains("malformed JSON"));
}
