//! Events about owners in other namespaces (`OwnerRefInvalidNamespace`), from the real collector.

use std::time::{SystemTime, UNIX_EPOCH};

use gc_cluster::act::record_invalid_owner;
use gc_core::model::Identity;
use serde_json::Value;

use crate::{
    harness::{ADMIN, Alone, Cluster, CountingProxy, NOBODY, PATIENCE, Retry, poll, uid},
    plan::trial::Trial,
    reading::{connect, connect_with},
    sweep::uncollected,
};

/// An owner, a dependent of it in another namespace, and a cluster-scoped one.
fn invalid(trial: &Trial<'_>) -> [Value; 3] {
    let elsewhere = trial.another_namespace();
    let owner = trial.widget("owner").create();
    // A dependent in the owner's namespace: the graph then shows whether the collector has seen the owner. It emits the
    // event only for an owner that it has seen.
    trial.config_map("beside").owned_by(&owner).create();
    trial.cluster.seen_by_collector(&[uid(&owner)]);
    let lost = trial.config_map("lost").owned_by(&owner).in_namespace(&elsewhere).create();
    let rack = trial.rack("rack").owned_by(&owner).create();
    [owner, lost, rack]
}

#[test]
fn the_collectors_complaints_are_read_back() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "complaints", "Background");
    let [owner, lost, rack] = invalid(&trial);
    let elsewhere = lost["metadata"]["namespace"].as_str().expect("it is elsewhere");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connection = connect(trial.cluster, ADMIN, &runtime);
    let of = |object| {
        poll(PATIENCE, || {
            let events = runtime.block_on(connection.invalid_owner_events()).map_err(Retry::Never)?;
            let found = events.iter().find(|event| event.uid == uid(object)).cloned();
            found.ok_or_else(|| Retry::Later(format!("no event of it among {events:?}")))
        })
        .unwrap_or_else(|error| panic!("{error}"))
    };
    let event = of(&lost);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970").as_secs() as i64;
    assert_eq!(
        [&*event.api_version, &event.kind, &event.namespace, &event.name],
        ["v1", "ConfigMap", elsewhere, "lost"]
    );
    assert!(event.message.contains(uid(&owner)) && event.message.contains(elsewhere), "{}", event.message);
    assert!(event.last.is_some_and(|last| (now - 600..=now + 5).contains(&last)), "{event:?}");
    let event = of(&rack);
    assert_eq!([&*event.api_version, &event.kind, &event.namespace], ["gc.test/v1", "Rack", ""]);
}

#[test]
fn no_complaints_cost_one_request() {
    let cluster = uncollected();
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let proxy = CountingProxy::start_as(cluster, ADMIN);
    let connection = connect_with(proxy.kubeconfig(), &runtime);
    assert_eq!(runtime.block_on(connection.invalid_owner_events()), Ok(Vec::new()));
    assert_eq!(proxy.requests().len(), 1);

    let nobody = connect(cluster, NOBODY, &runtime);
    // The gap that it becomes names the events.
    assert_eq!(runtime.block_on(nobody.invalid_owner_events()), Err("forbidden".to_owned()));
}

/// The events about an object, each with its name; without the fields that differ between any two events.
fn events_about(cluster: &Cluster, object: &Value) -> Vec<(String, Value)> {
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or("default");
    let events = cluster
        .list(&format!("/api/v1/namespaces/{namespace}/events?fieldSelector=involvedObject.uid%3D{}", uid(object)));
    let comparable = |mut event: Value| {
        let metadata = event["metadata"].as_object_mut().expect("metadata");
        let name = metadata.remove("name").and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default();
        for own in ["uid", "resourceVersion", "creationTimestamp", "managedFields"] {
            assert!(metadata.remove(own).is_some(), "{own}");
        }
        for time in ["firstTimestamp", "lastTimestamp"] {
            // Times must exist and have the same format, so only their digits are masked.
            let digits = event[time].as_str().unwrap_or_default().replace(|one: char| one.is_ascii_digit(), "0");
            event[time] = digits.into();
        }
        (name, event)
    };
    events.into_iter().map(comparable).collect()
}

/// Our events differ from the collector's only in their names.
#[test]
fn our_complaints_are_the_collectors() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "complain", "Background");
    let [owner, lost, rack] = invalid(&trial);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let connection = connect(trial.cluster, ADMIN, &runtime);
    for (dependent, api_version, kind) in [(&lost, "v1", "ConfigMap"), (&rack, "gc.test/v1", "Rack")] {
        let found = poll(PATIENCE, || {
            let found = events_about(trial.cluster, dependent);
            if found.len() == 1 { Ok(found) } else { Err(Retry::Later(format!("{found:?}"))) }
        });
        let [(theirs, _)] = &found.unwrap_or_else(|error| panic!("{error}"))[..] else { panic!("one event") };
        let of = |object: &Value, api_version: &str, kind: &str| Identity {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            namespace: object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned(),
            name: object["metadata"]["name"].as_str().unwrap_or_default().to_owned(),
            uid: uid(object).to_owned(),
        };
        let (dependent_is, owner_is) = (of(dependent, api_version, kind), of(&owner, "gc.test/v1", "Widget"));
        // Until both have the same count, because the collector may repeat its event meanwhile.
        let same = poll(PATIENCE, || {
            let recorded = record_invalid_owner(&connection, &dependent_is, &owner_is, jiff::Timestamp::now());
            runtime.block_on(recorded).map_err(Retry::Never)?;
            let both = events_about(trial.cluster, dependent);
            let (theirs, ours): (Vec<_>, Vec<_>) = both.iter().partition(|(name, _)| name == theirs);
            match (&theirs[..], &ours[..]) {
                ([(named, their)], [(name, our)]) => {
                    let prefix = format!("{}.", dependent_is.name);
                    assert!(
                        name.starts_with(&prefix) && named.starts_with(&prefix) && name.len() == named.len(),
                        "{name} {named}"
                    );
                    if their == our { Ok(()) } else { Err(Retry::Later(format!("theirs: {their:#}\nours: {our:#}"))) }
                }
                _ => Err(Retry::Never(format!("more than one of each: {both:?}"))),
            }
        });
        same.unwrap_or_else(|error| panic!("{error}"));
    }
}
