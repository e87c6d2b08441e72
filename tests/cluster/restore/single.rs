//! Objects that exist already, objects that are missing, and cycles, with a running collector.

use std::{fs, path::Path};

use serde_json::{Value, json};

use super::kit::{Archives, archived, describe, live, outcomes, owned, quiet, restore, tree};
use crate::harness::{ADMIN, Cluster, NOBODY, owner_reference, shared, uid};

fn config(namespace: &str, name: &str) -> Value {
    archived("v1", "ConfigMap", namespace, name, &json!({"data": {"name": name}}))
}

/// The uid and resourceVersion of those of these objects that exist.
fn versions(cluster: &Cluster, objects: &[Value]) -> Vec<Value> {
    let version = |object: &Value| {
        cluster
            .get(&cluster.path_of(object))
            .map(|it| json!([it["metadata"]["uid"], it["metadata"]["resourceVersion"]]))
    };
    objects.iter().map(|object| json!(version(object))).collect()
}

#[test]
fn what_is_there_is_compared_and_left_alone_and_its_dependents_are_attached_to_it() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("there");
    let (same, different) = (config(&namespace, "same"), config(&namespace, "different"));
    cluster.create(object!("v1 ConfigMap", {"name": "same", "namespace": namespace, "data": {"name": "same"}}));
    cluster.create(object!("v1 ConfigMap", {"name": "different", "namespace": namespace, "data": {"name": "another"}}));
    let all = [same.clone(), different.clone(), owned(config(&namespace, "below"), &[&same, &different])];
    let before = versions(cluster, &all[..2]);
    let ran = restore(cluster, &archives.write("there", &all), &[]).ended(2);
    let outcomes = outcomes(&ran);
    assert_eq!(
        outcomes.iter().map(|(name, outcome)| format!("{name} {outcome}")).collect::<Vec<_>>(),
        ["ConfigMap/below Created", "ConfigMap/different Different", "ConfigMap/same Same"]
    );
    assert_eq!(
        describe(&ran, "ConfigMap/different")["differences"],
        json!([{"path": "data.name", "archived": "\"different\"", "live": "\"another\""}])
    );
    assert_eq!(versions(cluster, &all[..2]), before);
    assert_eq!(tree(&live(cluster, &all)), tree(&all));
    // The collector keeps it: its owners exist.
    cluster.settled();
    assert!(cluster.get(&cluster.path_of(&all[2])).is_some());
}

/// The admission plugin OwnerReferencesPermissionEnforcement asks for a right of its own (R1.38).
#[test]
fn a_role_says_what_references_that_block_need_besides() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("blocking");
    let owner = config(&namespace, "owner");
    let role = |blocks: bool| {
        let mut below = owned(config(&namespace, "below"), &[&owner]);
        below["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(blocks);
        let file = archives.write(&format!("blocks-{blocks}"), &[owner.clone(), below]);
        cluster.gc(&["restore", &file.display().to_string(), "--print-role"]).ended(0).stdout
    };
    let also = format!("also the right to update\n# configmaps/finalizers in namespace {namespace}: references block");
    let [blocking, other] = [true, false].map(role);
    assert!(blocking.contains(&also), "{blocking}");
    assert!(!other.contains("OwnerReferencesPermissionEnforcement"), "{other}");
}

#[test]
fn a_reference_that_would_lead_nowhere_is_dropped_and_said() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("dangling");
    let living = cluster.create(object!("v1 ConfigMap", {"name": "living", "namespace": namespace}));
    cluster.create(object!("v1 ConfigMap", {"name": "replaced", "namespace": namespace}));
    let mut below = config(&namespace, "below");
    let gone = config(&namespace, "gone");
    let unserved = object!("nowhere.test/v1 Nothing", {"name": "n", "uid": "n"});
    below["metadata"]["ownerReferences"] = json!([
        owner_reference(&gone),
        owner_reference(&living),
        owner_reference(&config(&namespace, "replaced")),
        owner_reference(&unserved)
    ]);
    let alone = owned(config(&namespace, "alone"), &[&gone]);
    let archive = archives.write("dangling", &[below.clone(), alone.clone()]);
    let ran = restore(cluster, &archive, &[]).ended(0);
    let unowned = &describe(&ran, "ConfigMap/below")["unowned"];
    let because: Vec<&str> = unowned.as_array().unwrap().iter().map(|it| it["because"].as_str().unwrap()).collect();
    assert_eq!(
        because,
        [
            format!("ConfigMap/gone -n {namespace} does not exist").as_str(),
            format!("a different ConfigMap/replaced -n {namespace} exists now").as_str(),
            "the server does not serve nowhere.test/v1 Nothing",
        ]
    );
    let there = live(cluster, &[below, alone]);
    assert_eq!(there[0]["metadata"]["ownerReferences"], json!([owner_reference(&living)]));
    assert!(there[1]["metadata"]["ownerReferences"].is_null());
    cluster.settled();
    assert!(live(cluster, &there).iter().zip(&there).all(|(now, then)| uid(now) == uid(then)), "nothing was collected");
}

#[test]
fn circles_are_closed() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("circles");
    let names = ["one", "two", "three"].map(|name| config(&namespace, name));
    let [one, two, three] = &names;
    let other = config(&namespace, "other");
    let own = config(&namespace, "own");
    // The reference that closes the cycle comes between two others.
    let all = [
        owned(one.clone(), &[&other, three, &own]),
        owned(two.clone(), &[one]),
        owned(three.clone(), &[two]),
        other.clone(),
        owned(own.clone(), &[&own, &other]),
    ];
    let archive = archives.write("circles", &all);
    restore(cluster, &archive, &[]).expect(0);
    assert_eq!(tree(&live(cluster, &all)), tree(&all));
    cluster.settled();
    let before = versions(cluster, &all);
    restore(cluster, &archive, &[]).expect(0);
    assert_eq!(versions(cluster, &all), before, "a second time there is nothing to be done");
}

#[test]
fn dry_runs_change_nothing() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("dry");
    let there = config(&namespace, "there");
    cluster.create(object!("v1 ConfigMap", {"name": "there", "namespace": namespace, "data": {"name": "there"}}));
    let elsewhere = cluster.unique("not-there");
    let invalid = archived("v1", "ConfigMap", &namespace, "invalid", &json!({"data": {"not a key": "x"}}));
    let all = [
        there.clone(),
        owned(config(&namespace, "below"), &[&there]),
        invalid,
        archived("v1", "Namespace", "", &elsewhere, &json!({})),
        config(&elsewhere, "inside"),
    ];
    let archive = archives.write("dry", &all);
    let before = versions(cluster, &all);
    let client = restore(cluster, &archive, &["--dry-run"]).ended(0);
    assert_eq!(client.json()["dryRun"], "client");
    let foreseen = outcomes(&client);
    assert_eq!(
        (foreseen["ConfigMap/there"].as_str(), foreseen["ConfigMap/invalid"].as_str()),
        ("Same", "WouldBeCreated")
    );
    let server = restore(cluster, &archive, &["--dry-run=server"]).ended(2);
    let judged = outcomes(&server);
    assert_eq!(judged["ConfigMap/invalid"], "Failed");
    assert_eq!(
        (judged["ConfigMap/below"].as_str(), judged["ConfigMap/inside"].as_str()),
        ("WouldBeCreated", "WouldBeCreated")
    );
    assert_eq!(versions(cluster, &all), before);
}

#[test]
fn what_needs_something_that_fails_is_not_tried_and_the_rest_comes_back() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("partly");
    let unknown = archived("nowhere.test/v1", "Nothing", &namespace, "unknown", &json!({}));
    let all = [
        unknown.clone(),
        owned(config(&namespace, "below"), &[&unknown]),
        config("no-such-namespace", "homeless"),
        archived("v1", "ConfigMap", &namespace, "invalid", &json!({"data": {"not a key": "x"}})),
        config(&namespace, "fine"),
    ];
    let archive = archives.write("partly", &all);
    let foreseen = outcomes(&restore(cluster, &archive, &["--dry-run"]));
    let failed = ["ConfigMap/below", "ConfigMap/homeless", "Nothing/unknown"];
    assert!(failed.iter().all(|name| matches!(foreseen[*name].as_str(), "Failed" | "Blocked")), "{foreseen:?}");
    let ran = restore(cluster, &archive, &[]).ended(2);
    let because = |name: &str| describe(&ran, name)["because"].as_str().unwrap_or_default().to_owned();
    assert!(
        because("Nothing/unknown").starts_with("the server does not serve nowhere.test/v1 Nothing"),
        "{}",
        because("Nothing/unknown")
    );
    assert_eq!(describe(&ran, "ConfigMap/below")["outcome"], "Blocked");
    assert_eq!(describe(&ran, "ConfigMap/below")["needs"]["name"], "unknown");
    let homeless = "namespace no-such-namespace does not exist and is not restored: create it and run this again";
    assert_eq!(because("ConfigMap/homeless"), homeless);
    assert!(because("ConfigMap/invalid").contains("422"), "{}", because("ConfigMap/invalid"));
    assert_eq!(outcomes(&ran)["ConfigMap/fine"], "Created");
}

/// The CRD of `Late` in this group.
fn definition(group: &str) -> Value {
    archived(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "",
        &format!("lates.{group}"),
        &json!({"spec": {
            "group": group, "scope": "Namespaced", "names": {"kind": "Late", "listKind": "LateList",
                "singular": "late", "plural": "lates"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": {"type": "object",
                              "x-kubernetes-preserve-unknown-fields": true}}}]},
            "status": {"storedVersions": ["v1"], "conditions": [], "acceptedNames": {"kind": "", "plural": ""}}}),
    )
}

/// R2.10.
#[test]
fn a_missing_definition_comes_first_and_its_kind_is_waited_for() {
    let cluster = quiet();
    let archives = Archives::new();
    let group = format!("{}.test", cluster.unique("late"));
    let namespace = cluster.unique("late");
    let definition = definition(&group);
    let late = archived(&format!("{group}/v1"), "Late", &namespace, "late", &json!({"status": {"kept": true}}));
    let all = [
        owned(config(&namespace, "below"), &[&late]),
        late,
        definition,
        archived("v1", "Namespace", "", &namespace, &json!({})),
    ];
    let archive = archives.write("late", &all);
    let foreseen = restore(cluster, &archive, &["--dry-run=server"]).ended(0);
    assert!(outcomes(&foreseen).values().all(|outcome| outcome == "WouldBeCreated"), "{}", foreseen.stdout);
    restore(cluster, &archive, &[]).expect(0);
    let back = live(cluster, &all);
    assert_eq!(tree(&back), tree(&all));
    // Without a status subresource, `status` is a field like any other.
    assert_eq!(back[1]["status"], json!({"kept": true}));
}

#[test]
fn what_the_server_does_not_keep_is_told() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("kept");
    let more = json!({"data": {"a": "b"}, "unheard": {"of": true}, "metadata": {"labels": {"app": "a"}}});
    let archive = archives.write("kept", &[archived("v1", "ConfigMap", &namespace, "a", &more)]);
    let judged = restore(cluster, &archive, &["--dry-run=server"]).ended(2);
    let ran = restore(cluster, &archive, &[]).ended(2);
    for ran in [judged, ran] {
        assert_eq!(describe(&ran, "ConfigMap/a")["unfinished"], json!(["the server dropped unheard"]));
    }
}

#[test]
fn what_is_being_deleted_is_not_there_and_nothing_is_attached_to_it() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("going");
    let going = cluster.create(object!("v1 ConfigMap", {"name": "going", "namespace": namespace,
        "finalizers": ["gc.test/hold"]}));
    cluster.delete(&cluster.path_of(&going), Some("Background"), None);
    let archived_going = config(&namespace, "going");
    let mut elsewhere = config(&namespace, "elsewhere");
    elsewhere["metadata"]["ownerReferences"] = json!([owner_reference(&going)]);
    let all = [archived_going.clone(), owned(config(&namespace, "below"), &[&archived_going]), elsewhere];
    let archive = archives.write("going", &all);
    let ran = restore(cluster, &archive, &[]).ended(2);
    let because = |name: &str| describe(&ran, name)["because"].as_str().unwrap_or_default().to_owned();
    assert!(because("ConfigMap/going").contains("is being deleted"));
    assert!(because("ConfigMap/elsewhere").contains("is being deleted"));
    assert_eq!(outcomes(&ran)["ConfigMap/below"], "Blocked");
    // Once it is gone, the rest can be restored.
    cluster.patch(&cluster.path_of(&going), &json!({"metadata": {"finalizers": null}}));
    restore(cluster, &archive, &[]).expect(0);
}

#[test]
fn whoever_restores_is_asked_and_told_where() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("asked");
    let all = [config(&namespace, "a"), config(&namespace, "b")];
    let archive = archives.write("asked", &all);
    let there = || all.iter().filter(|object| cluster.get(&cluster.path_of(object)).is_some()).count();
    for (answer, code, back) in [("n", 1, 0), ("", 1, 0), ("y", 0, 2)] {
        let terminal = cluster.gc_on_terminal(&["restore", archive.to_str().unwrap()]);
        terminal.shows("CREATES: 2 objects.");
        terminal.shows("Create 2 objects in context test (127.0.0.1:");
        assert_eq!(there(), 0, "nothing is created before the answer");
        let (ended, shown) = terminal.answered(answer);
        assert_eq!((ended, there()), (Some(code), back), "{answer:?}: {shown}");
        let last = if code == 0 { "DONE: 2 objects created." } else { "Nothing was changed: the answer was not yes." };
        assert!(shown.contains(last), "{shown}");
    }
    // Restore doesn't ask if it can't create anything.
    let ran = cluster.gc(&["restore", archives.write("there", &[config(&namespace, "same")]).to_str().unwrap()]);
    ran.expect(1);
    cluster.create(object!("v1 ConfigMap", {"name": "same", "namespace": namespace, "data": {"name": "same"}}));
    let describe = cluster.gc(&["restore", archives.write("same", &[config(&namespace, "same")]).to_str().unwrap()]);
    let said = format!("DONE: ConfigMap/same -n {namespace} already existed.");
    assert!(describe.expect(0).contains(&said), "{}", describe.stdout);
}

/// Runs a restore that must fail as this user, and returns its error output.
#[track_caller]
fn refused(user: &str, archive: &Path, more: &[&str]) -> String {
    let ran = shared().gc_as(user, &[&["restore", archive.to_str().unwrap()], more].concat());
    assert_eq!(ran.expect(1), "");
    ran.stderr
}

#[test]
fn what_may_not_be_done_is_not_begun() {
    let cluster = shared();
    let archives = Archives::new();
    let namespace = cluster.namespace("refused");
    let mut definition = definition("late.test");
    definition["spec"]["versions"][0]["subresources"] = json!({"status": {}});
    let own = config(&namespace, "a");
    let status = json!({"status": {"a": 1}});
    let all = [
        owned(own.clone(), &[&own]),
        archived("gc.test/v1", "Widget", &namespace, "w", &status),
        definition,
        archived("late.test/v1", "Late", &namespace, "late", &status),
    ];
    let archive = archives.write("refused", &all);
    let describe = refused(ADMIN, &archive, &[]);
    assert!(describe.contains("there is no terminal for the question; use --yes"), "{describe}");

    let describe = refused(NOBODY, &archive, &["--yes"]);
    let forbidden = [
        // A patch closes its cycle.
        format!("create, get and patch configmaps in namespace {namespace}"),
        // Its kind isn't served yet: the archive contains its CRD.
        format!("create and get lates.late.test in namespace {namespace}"),
        format!("patch lates.late.test/status in namespace {namespace}"),
        "create and get customresourcedefinitions.apiextensions.k8s.io".to_owned(),
    ];
    assert!(describe.contains("nothing was restored: you may not "), "{describe}");
    assert!(forbidden.iter().all(|it| describe.contains(it)), "{describe}");
    assert!(!describe.contains("widgets.gc.test/status"), "that is no subresource: {describe}");

    let text = fs::read(&archive).unwrap();
    let cut = archive.with_file_name("cut.yaml");
    fs::write(&cut, &text[..text.len() - 20]).unwrap();
    let describe = refused(ADMIN, &cut, &["--yes"]);
    assert!(describe.contains("cut off"), "{describe}");
    assert!(all[..3].iter().all(|object| cluster.get(&cluster.path_of(object)).is_none()));
}
