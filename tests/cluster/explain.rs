//! `explain` on real objects: what it predicts happens, and the conditions that it names have the predicted effect.

use http::{HeaderValue, header::DATE};
use jiff::fmt::rfc2822::DateTimePrinter;
use serde_json::{Value, json};

use crate::{
    doctor::kit::names,
    harness::{Alone, COLLECTOR, Cluster, CountingProxy, Fault, PATIENCE, owner_reference},
    plan::{
        draft::{HOLD, blocking},
        trial::Trial,
    },
};

/// What `explain` reports about some targets in a trial's namespace.
#[track_caller]
fn stories(trial: &Trial<'_>, targets: &[&str]) -> Vec<Value> {
    let ran = trial.cluster.gc(&[&["explain", "-o", "json", "-n", &trial.namespace], targets].concat()).ended(0);
    let document = ran.json();
    document["explanations"].as_array().cloned().unwrap_or_default()
}

#[track_caller]
fn story(trial: &Trial<'_>, target: &str) -> Value {
    let mut stories = stories(trial, &[target]);
    assert_eq!(stories.len(), 1, "{target}");
    stories.remove(0)
}

/// An object of a document, reduced to what its path needs.
fn named(object: &Value) -> Value {
    let mut metadata = json!({"name": object["name"]});
    if object["namespace"].is_string() {
        metadata["namespace"] = object["namespace"].clone();
    }
    json!({"apiVersion": object["apiVersion"], "kind": object["kind"], "metadata": metadata})
}

/// The first condition of this sort under which the object is deleted.
#[track_caller]
fn way_out<'s>(story: &'s Value, sort: &str) -> &'s Value {
    let conditions = story["conditions"].as_array().into_iter().flatten();
    let mut fitting = conditions.filter(|condition| condition["then"] == "Deleted" && condition["if"][sort].is_array());
    &fitting.next().unwrap_or_else(|| panic!("no {sort} lets it go: {story}"))["if"]
}

#[track_caller]
fn wait_until_gone(trial: &Trial<'_>, object: &Value) {
    let path = trial.cluster.path_of(object);
    trial.cluster.wait_until(&format!("{path} to go"), PATIENCE, || trial.cluster.get(&path).is_none());
}

#[track_caller]
fn wait_until_terminating(trial: &Trial<'_>, object: &Value) {
    let path = trial.cluster.path_of(object);
    let terminating = || trial.cluster.get(&path).is_some_and(|now| now["metadata"]["deletionTimestamp"].is_string());
    trial.cluster.wait_until(&format!("{path} to be terminating"), PATIENCE, terminating);
}

/// Fulfils a condition.
#[track_caller]
fn fulfil(trial: &Trial<'_>, what: &Value) {
    let cluster = trial.cluster;
    for object in what["deleted"].as_array().into_iter().flatten() {
        cluster.delete(
            &cluster.path_of(&named(object)),
            what["propagation"].as_str(),
            what["gracePeriodSeconds"].as_i64(),
        );
    }
    let without = |object: &Value, field: &str, goes: &dyn Fn(&Value) -> bool| {
        let path = cluster.path_of(&named(object));
        let now = cluster.get(&path).unwrap_or_else(|| panic!("{path} is gone"));
        let mut list = now["metadata"][field].as_array().cloned().unwrap_or_default();
        list.retain(|item| !goes(item));
        cluster.patch(&path, &json!({"metadata": {field: list}}));
    };
    for released in what["released"].as_array().into_iter().flatten() {
        without(&released["object"], "finalizers", &|finalizer| *finalizer == released["finalizer"]);
    }
    for dropped in what["dropped"].as_array().into_iter().flatten() {
        let uids = dropped["uids"].as_array().cloned().unwrap_or_default();
        without(&dropped["object"], "ownerReferences", &|reference| uids.contains(&reference["uid"]));
    }
}

/// A laptop's clock may be minutes off: the API server's times are measured by the API server's clock.
#[test]
fn times_are_measured_by_the_clock_of_the_api_server() {
    let trial = Trial::new("clock", "Background");
    let cluster = trial.cluster;
    let held = trial.config_map("held").finalizer(HOLD).create();
    cluster.delete(&cluster.path_of(&held), Some("Background"), None);
    let proxy = CountingProxy::start(cluster);
    for ahead in [0, 2] {
        let date = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(ahead);
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&date).expect("a time of today");
        let date = HeaderValue::from_str(&date).expect("a date is ASCII");
        proxy.with(move |_| Some(Fault::Headed(DATE, date.clone())));
        let ran = cluster.gc_with(proxy.kubeconfig(), &["explain", "cm/held", "-n", &trial.namespace]);
        let text = ran.expect(0);
        assert_eq!(text.contains("held is Terminating (for 2h)"), ahead > 0, "{text}");
    }
}

/// `explain` names the root cause through the whole chain. Once it is removed as the report says, the owner is deleted.
#[test]
#[ignore = "long: slow"]
fn a_stuck_owner_goes_once_its_cause_is_removed() {
    let trial = Trial::new("explain-stuck", "Foreground");
    let owner = trial.widget("owner").create();
    let middle = trial.config_map("middle").blocking(&owner).create();
    let leaf = trial.config_map("leaf").blocking(&middle).finalizer(HOLD).create();
    trial.delete_before(&owner, "Foreground");
    wait_until_terminating(&trial, &leaf);

    let describe = story(&trial, "widget/owner");
    assert_eq!((&describe["terminating"], &describe["end"]["state"]), (&json!(true), &json!("stuck")), "{describe}");
    assert_eq!(
        (&describe["next"]["action"], names(&describe["next"]["dependents"])),
        (&json!("Wait"), vec!["middle"]),
        "{describe}"
    );
    let waits: Vec<&str> =
        describe["waits"].as_array().into_iter().flatten().filter_map(|line| line["object"]["name"].as_str()).collect();
    assert_eq!(waits, ["owner", "middle", "leaf"], "{describe}");
    let causes = describe["causes"].as_array().cloned().unwrap_or_default();
    assert_eq!(causes.len(), 1, "{describe}");
    assert_eq!((names(&causes[0]["objects"]), &causes[0]["heldBy"]), (vec!["leaf"], &json!([HOLD])), "{describe}");
    let at_fault = story(&trial, "cm/leaf");
    assert_eq!(names(&at_fault["waitedForBy"]), ["middle", "owner"], "{at_fault}");
    assert_eq!(
        (&at_fault["next"]["action"], &at_fault["next"]["reason"]),
        (&json!("Nothing"), &json!("AlreadyTerminating")),
        "{at_fault}"
    );
    assert_eq!(at_fault["references"][0]["blocks"], "Now", "{at_fault}");

    let what = way_out(&describe, "released");
    assert_eq!(what["released"], json!([{"object": at_fault["object"], "finalizer": HOLD}]), "{describe}");
    fulfil(&trial, what);
    wait_until_gone(&trial, &owner);
}

/// Either owner keeps the object. The predictions for the loss of one owner and of both are right.
#[test]
fn an_object_with_two_owners_goes_with_the_last() {
    let trial = Trial::new("explain-two", "Background");
    let (first, second) = (trial.widget("first").create(), trial.widget("second").create());
    let object = trial.config_map("object").owned_by(&first).blocking(&second).create();
    trial.cluster.settled();

    let describe = story(&trial, "cm/object");
    assert_eq!(
        (&describe["next"]["reason"], &describe["end"]["outcome"]),
        (&json!("OwnersSolid"), &json!("Kept")),
        "{describe}"
    );
    let conditions = describe["conditions"].as_array().cloned().unwrap_or_default();
    let said: Vec<(Vec<&str>, &str)> = conditions
        .iter()
        .map(|condition| (names(&condition["if"]["deleted"]), condition["then"].as_str().unwrap_or_default()))
        .collect();
    let expected =
        [(vec!["first"], "LosesReferences"), (vec!["second"], "LosesReferences"), (vec!["first", "second"], "Deleted")];
    assert_eq!(said, expected, "{describe}");

    fulfil(&trial, &conditions[0]["if"]);
    let path = trial.cluster.path_of(&object);
    let references = || trial.cluster.get(&path).map(|now| now["metadata"]["ownerReferences"].clone());
    trial.cluster.wait_until("it to lose one reference", PATIENCE, || {
        references().is_some_and(|references| references.as_array().map(Vec::len) == Some(1))
    });
    trial.cluster.settled();
    let describe = story(&trial, "cm/object");
    assert_eq!(describe["references"].as_array().map(Vec::len), Some(1), "{describe}");
    let what = way_out(&describe, "deleted");
    assert_eq!(names(&what["deleted"]), ["second"], "{describe}");
    fulfil(&trial, what);
    wait_until_gone(&trial, &object);
}

/// R1.21: an object that waits for itself is deleted by a second delete, in the background.
#[test]
fn what_waits_for_itself_goes_when_deleted_again() {
    let trial = Trial::new("explain-self", "Foreground");
    let object = trial.widget("object").create();
    trial.add_owners(&object, &[blocking(&object)]);
    trial.cluster.settled();
    trial.delete_before(&object, "Foreground");
    wait_until_terminating(&trial, &object);
    trial.cluster.settled();
    let describe = story(&trial, "widget/object");
    assert_eq!(
        (&describe["end"]["state"], names(&describe["causes"][0]["objects"])),
        (&json!("stuck"), vec!["object"]),
        "{describe}"
    );
    let what = way_out(&describe, "deleted");
    assert_eq!(what["propagation"], "Background", "{describe}");
    fulfil(&trial, what);
    wait_until_gone(&trial, &object);
}

/// R1.21: an owner that waits in the foreground goes when it is deleted again in the background, whatever it waits for;
/// `explain` offers that for the owner, and for a dependent that waits, too.
#[test]
#[ignore = "long: slow"]
fn what_waits_in_the_foreground_goes_when_deleted_again() {
    let trial = Trial::new("explain-again", "Foreground");
    let owner = trial.widget("owner").create();
    let middle = trial.config_map("middle").blocking(&owner).create();
    let leaf = trial.config_map("leaf").blocking(&middle).finalizer(HOLD).create();
    trial.delete_before(&owner, "Foreground");
    wait_until_terminating(&trial, &leaf);
    trial.cluster.settled();
    for (target, object) in [("widget/owner", &owner), ("cm/middle", &middle)] {
        let describe = story(&trial, target);
        let what = way_out(&describe, "deleted");
        assert_eq!(what["propagation"], "Background", "{describe}");
        fulfil(&trial, what);
        wait_until_gone(&trial, object);
    }
    assert!(trial.cluster.get(&trial.cluster.path_of(&leaf)).is_some(), "it is held");
}

/// S4: a dependent with a reference that can't be looked up blocks its owner, until that reference is dropped.
#[test]
#[ignore = "long: a cluster of its own, and a webhook that fails"]
fn an_owner_goes_once_its_dependent_can_be_looked_at() {
    let trial = Trial::new("explain-unserved", "Foreground");
    let owner = trial.widget("owner").create();
    let immune = trial.config_map("immune").blocking(&owner).reference(trial.unserved()).create();
    trial.delete_before(&owner, "Foreground");
    wait_until_terminating(&trial, &owner);
    trial.cluster.settled();
    let describe = story(&trial, "cm/immune");
    let verdicts = [&describe["references"][0]["verdict"], &describe["references"][1]["verdict"]];
    assert_eq!(
        (verdicts, &describe["next"]["reason"]),
        ([&json!("Waiting"), &json!("NotServed")], &json!("NotServed")),
        "{describe}"
    );
    let describe = story(&trial, "widget/owner");
    assert_eq!(names(&describe["causes"][0]["objects"]), ["immune"], "{describe}");
    fulfil(&trial, way_out(&describe, "dropped"));
    wait_until_gone(&trial, &owner);
    wait_until_gone(&trial, &immune);
}

/// Without a collector, `explain` says what one would do next; when a collector starts, it does that.
#[test]
#[ignore = "long: a cluster of its own"]
fn what_comes_next_is_what_a_collector_does() {
    let cluster = Alone::with(&[]);
    let trial = Trial::on(&cluster, "explain-next", "Background");
    let solid = trial.widget("solid").create();
    let gone = trial.widget("gone").create();
    cluster.delete(&cluster.path_of(&gone), Some("Background"), None);
    let lost = trial.config_map("lost").blocking(&gone).create();
    trial.config_map("kept-by-lost").owned_by(&lost).create();
    trial.config_map("kept").owned_by(&gone).blocking(&solid).create();
    trial.config_map("held").owned_by(&gone).finalizer(HOLD).create();
    let mut elsewhere = owner_reference(&solid);
    elsewhere["name"] = json!("another");
    trial.config_map("misled").reference(elsewhere).create();
    let freeing = trial.widget("freeing").create();
    trial.config_map("freed").blocking(&freeing).create();
    cluster.delete(&cluster.path_of(&freeing), Some("Orphan"), None);
    let waiting = trial.widget("waiting").create();
    trial.config_map("first").blocking(&waiting).create();
    cluster.delete(&cluster.path_of(&waiting), Some("Foreground"), None);
    let stuck = trial.widget("stuck").create();
    trial.config_map("holding").blocking(&stuck).finalizer(HOLD).create();
    cluster.delete(&cluster.path_of(&stuck), Some("Foreground"), None);

    let describe = stories(&trial, &["widgets,configmaps", "--all"]);
    let next = |name: &str| -> String {
        let story = describe
            .iter()
            .find(|story| story["object"]["name"] == name)
            .unwrap_or_else(|| panic!("no story of {name}"));
        story["next"]["action"].as_str().unwrap_or_default().to_owned()
    };
    for (name, action) in [
        ("solid", "Nothing"),
        ("lost", "Delete"),
        ("kept-by-lost", "Nothing"),
        ("kept", "RemoveReferences"),
        ("held", "Delete"),
        ("misled", "Delete"),
        ("freeing", "OrphanDependents"),
        ("freed", "Nothing"),
        ("waiting", "Wait"),
        ("first", "Delete"),
        ("stuck", "Wait"),
        ("holding", "Delete"),
    ] {
        assert_eq!(next(name), action, "{name}: {describe:?}");
    }

    cluster.start_controllers(&[COLLECTOR]);
    cluster.wait_until("the collector to do all that", PATIENCE, || {
        describe.iter().all(|story| came_true(&cluster, story).is_ok())
    });
    // The predicted states must be final.
    cluster.settled();
    for story in &describe {
        came_true(&cluster, story).unwrap_or_else(|wrong| panic!("{wrong}: {story}"));
    }
}

/// Whether an object has reached the state that `explain` predicts.
fn came_true(cluster: &Cluster, story: &Value) -> Result<(), String> {
    let now = cluster.get(&cluster.path_of(&named(&story["object"])));
    let now = now.filter(|now| now["metadata"]["uid"] == story["object"]["uid"]);
    let end = &story["end"];
    let Some(now) = now else {
        return if end["outcome"] == "Deleted" { Ok(()) } else { Err("it went".to_owned()) };
    };
    let references = now["metadata"]["ownerReferences"].as_array().map_or(0, Vec::len);
    let before = story["references"].as_array().map_or(0, Vec::len);
    let expected = end["references"].as_u64().map_or(before, |left| left as usize);
    let terminating = now["metadata"]["deletionTimestamp"].is_string();
    match end["outcome"].as_str() {
        Some("Deleted") => Err("it is still there".to_owned()),
        _ if references != expected => Err(format!("{references} references, not {expected}")),
        _ if terminating != end["state"].is_string() => Err(format!("terminating: {terminating}")),
        _ => Ok(()),
    }
}

/// Several targets are reported in one document, in their order. An owner that the user may not read is reported as
/// unknown.
#[test]
fn what_may_not_be_read_is_not_known() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "explain-unseen", "Background");
    let rack = trial.rack("rack").create();
    trial.config_map("of-rack").owned_by(&rack).create();
    trial.config_map("alone").create();
    trial.cluster.let_viewer_see(&trial.namespace);
    let args = ["explain", "cm/of-rack", "cm/alone", "-o", "json", "-n", &trial.namespace];
    let ran = trial.cluster.gc_as(crate::harness::VIEWER, &args).ended(0);
    let document = ran.json();
    assert_eq!(document["complete"], false, "{document}");
    let (of_rack, alone) = (&document["explanations"][0], &document["explanations"][1]);
    assert_eq!(
        (&of_rack["references"][0]["verdict"], &of_rack["next"]["reason"]),
        (&json!("Unread"), &json!("Unread")),
        "{of_rack}"
    );
    assert_eq!(
        (&of_rack["end"]["certain"], &of_rack["end"]["uncertainBecause"]),
        (&json!(false), &json!("gap")),
        "{of_rack}"
    );
    assert_eq!((&alone["object"]["name"], &alone["next"]["reason"]), (&json!("alone"), &json!("NoOwners")), "{alone}");
    assert_eq!(story(&trial, "cm/of-rack")["references"][0]["verdict"], "Solid");
}

/// Nobody waits in front of an empty screen: what is found is shown at once, and then what has changed.
#[test]
fn what_is_terminating_is_told_at_once() {
    let trial = Trial::new("at-once", "Background");
    let cluster = trial.cluster;
    let path = cluster.path_of(&trial.widget("held").finalizer(HOLD).create());
    cluster.delete(&path, Some("Background"), None);
    let on_terminal = |verb: &str| cluster.gc_on_terminal(&[verb, "widget/held", "-n", &trial.namespace]);
    for verb in ["explain", "doctor"] {
        let terminal = on_terminal(verb);
        terminal.shows("Looking again");
        let first = terminal.shown();
        assert!(first.contains("Widget/held") && first.contains(HOLD), "{verb}: {first}");
        let (_, shown) = terminal.ends();
        assert!(shown.contains("Looked again: nothing has changed."), "{verb}: {shown}");
        // Who reads a pipe gets it once.
        let piped = cluster.gc(&[verb, "widget/held", "-n", &trial.namespace]);
        assert!(piped.stdout.contains(HOLD) && !piped.stdout.contains("Look"), "{verb}: {}", piped.stdout);
    }
    let terminal = on_terminal("doctor");
    terminal.shows("Looking again");
    cluster.patch(&path, &json!({"metadata": {"finalizers": null}}));
    let (code, shown) = terminal.ends();
    assert!(shown.contains("This has changed") && shown.contains("No problems found"), "{shown}");
    assert_eq!(code, Some(0), "{shown}");
}
