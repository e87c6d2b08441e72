//! The collector's complaints about owners in other namespaces, made by the real one.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{
    harness::{ADMIN, CountingProxy, NOBODY, Retry, poll, uid},
    plan::trial::Trial,
    reading::{connect, connect_with},
    sweep::uncollected,
};

/// The event is written on the side, and retried.
const PATIENCE: Duration = Duration::from_secs(60);

#[test]
fn the_collectors_complaints_are_read_back() {
    let trial = Trial::new("complaints", "Background");
    let elsewhere = trial.another_namespace();
    let owner = trial.widget("owner").create();
    // A dependent within the namespace, so that the graph shows whether the collector has seen the owner: only then it complains.
    trial.config_map("beside").owned_by(&owner).create();
    trial.cluster.seen_by_collector(&[uid(&owner)]);
    let lost = trial.config_map("lost").owned_by(&owner).in_namespace(&elsewhere).create();
    let rack = trial.rack("rack").owned_by(&owner).create();

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
    assert_eq!([&*event.api_version, &event.kind, &event.namespace, &event.name], ["v1", "ConfigMap", &elsewhere, "lost"]);
    assert!(event.message.contains(uid(&owner)) && event.message.contains(&elsewhere), "{}", event.message);
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
    let error = runtime.block_on(nobody.invalid_owner_events()).expect_err("they may not");
    assert!(error.starts_with("forbidden: ") && error.contains("events"), "{error}");
}
