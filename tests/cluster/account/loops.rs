//! Objects that are made again and again with an owner that does not exist.

use http::Method;
use serde_json::{Value, json};

use super::kit::{Watching, because, is, one};
use crate::{
    harness::{ADMIN, Alone, CountingProxy, Options, definition_of, owner_reference, uid},
    plan::trial::Trial,
};

/// Makes an object as a controller with this field manager does, whenever the last one is gone.
fn make(trial: &Trial<'_>, name: &str, owner: &Value) {
    let map = object!("v1 ConfigMap", {"name": name, "ownerReferences": [owner_reference(owner)]});
    let all = format!("/api/v1/namespaces/{}/configmaps", trial.namespace);
    let path = format!("{all}?fieldManager=runner-controller");
    let answer = trial.cluster.ask(&Method::POST, &path, Some(("application/json", &map)));
    assert_eq!(answer.status, 201, "{}", answer.text());
    trial.cluster.wait_until("the collector", std::time::Duration::from_secs(60), || {
        trial.cluster.get(&format!("{all}/{name}")).is_none()
    });
}

/// The owner was deleted and made again: its controller still goes by the old uid.
#[test]
fn a_loop_is_named_with_its_maker() {
    let trial = Trial::new("account-loop", "Background");
    let gone = trial.gone("a");
    let now = trial.widget("a").create();
    let proxy = CountingProxy::start(trial.cluster);
    let watching = Watching::start(&trial, proxy.kubeconfig(), &["-n", &trial.namespace]);
    for _ in 0..4 {
        make(&trial, "runner-7", &gone);
    }
    let events = watching.until("the second LOOP", |event| event["type"] == "Loop" && event["times"] == 4);
    let made = one(&events, "CreatedDangling", "ConfigMap", "runner-7");
    assert_eq!(made["managers"], json!(["runner-controller"]));
    assert_eq!(
        (&made["owners"][0]["state"], made["owners"][0]["currentUid"].as_str()),
        (&json!("Absent"), Some(uid(&now)))
    );
    assert_eq!(because(one(&events, "Gone", "ConfigMap", "runner-7")), "OwnersGone Widget/a=Absent");
    let again = one(&events, "Recreated", "ConfigMap", "runner-7");
    assert_eq!((&again["times"], &again["formerUid"]), (&json!(1), &made["object"]["uid"]));
    let loops: Vec<&Value> = events.iter().filter(|event| event["type"] == "Loop").collect();
    assert_eq!((loops.len(), &loops[0]["times"], &loops[0]["managers"]), (2, &json!(2), &json!(["runner-controller"])));
    assert_eq!(loops[0]["owners"][0]["uid"].as_str(), Some(uid(&gone)));
    let message = loops[0]["message"].as_str().unwrap_or_default();
    assert!(message.contains(&format!("Widget/a has uid {} now", uid(&now))), "{message}");
    // The LOOP stands after its second round began, and before that round's end.
    let place = |is_it: &dyn Fn(&Value) -> bool| events.iter().position(is_it);
    assert!(place(&|event| is(event, "Recreated", "ConfigMap", "runner-7")) < place(&|event| event["type"] == "Loop"));
    let (_, summary, code) = watching.interrupted();
    assert_eq!(code, Some(0), "{summary}");
    assert!(
        summary.contains("LOOP: ConfigMap/runner-7") && summary.contains("4 times by runner-controller"),
        "{summary}"
    );
    // One look-up found the uid absent, which lasts: metadata with another uid, and then the whole object, which is of
    // that kind.
    let path = trial.cluster.path_of(&now);
    assert_eq!(proxy.requests().iter().filter(|request| request.path == path).count(), 2);
}

/// The definition is made after the watch began: the first look-up of its kind discovers it. The cluster is its own: to
/// other tests, a definition that goes is a list that can't be read.
#[test]
#[ignore = "long: slow"]
fn a_kind_that_is_new_is_looked_up() {
    let cluster = Alone::start(&Options::default());
    let trial = Trial::on(&cluster, "account-kind", "Background");
    let watching = Watching::namespace(&trial);
    // The program asks for discovery once in two seconds at most: its next look-up shall be the first after that.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let plural = format!("{}s", trial.namespace.replace('-', ""));
    trial.cluster.create(definition_of("gc.test", "Fresh", &plural, &["v1"]));
    let owner = trial.draft("gc.test/v1", "Fresh", "a", Some(&trial.namespace)).create();
    trial.cluster.wait_until("discovery of the new kind", std::time::Duration::from_secs(60), || {
        trial.cluster.gc(&["resources", "-o", "name"]).stdout.contains(&plural)
    });
    let map = trial.config_map("x").owned_by(&owner).create();
    trial.cluster.delete(&trial.cluster.path_of(&map), None, None);
    let events = watching.up_to("Gone", "ConfigMap", "x");
    assert_eq!(because(events.last().unwrap()), "OwnerExists Fresh/a=Exists");
}

#[test]
fn a_loop_with_generated_names_is_found() {
    let trial = Trial::new("account-names", "Background");
    let gone = trial.gone("a");
    let watching = Watching::start(&trial, &trial.cluster.kubeconfig(ADMIN), &["-n", &trial.namespace]);
    for name in ["runner-x", "runner-y"] {
        make(&trial, name, &gone);
    }
    let events = watching.until("a LOOP", |event| event["type"] == "Loop");
    assert!(!events.iter().any(|event| event["type"] == "Recreated"), "{events:#?}");
    let found = events.last().expect("a loop");
    assert_eq!((&found["object"]["name"], &found["owners"][0]["state"]), (&json!("runner-y"), &json!("Absent")));
}
