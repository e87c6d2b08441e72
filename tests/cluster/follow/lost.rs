//! Following survives watches that break off, fall behind, or are forbidden.

use std::sync::atomic::{AtomicUsize, Ordering};

use gc_cluster::act::{Ended, FollowEvent};

use super::kit::{Carried, Outcome};
use crate::{
    harness::{CountingProxy, Fault},
    plan::trial::Trial,
};

/// Deletes an owner with two dependents through a proxy that spoils the watch of ConfigMaps. Returns the result.
fn spoiled(name: &str, fault: impl Fn(&str, usize) -> Option<Fault> + Send + Sync + 'static) -> Outcome {
    let trial = Trial::new(name, "Foreground");
    let owner = trial.widget("owner").create();
    for dependent in ["a", "b"] {
        trial.config_map(dependent).blocking(&owner).create();
    }
    let proxy = CountingProxy::start(trial.cluster);
    let watched = AtomicUsize::new(0);
    proxy.with(move |request| {
        let config_maps = request.path == "/api/v1/configmaps" && request.query.starts_with("watch=true");
        config_maps.then(|| fault(&request.query, watched.fetch_add(1, Ordering::Relaxed))).flatten()
    });
    let outcome = Carried::new(&trial, vec![&owner]).by(proxy.kubeconfig()).out(|| (), || ());
    assert_eq!(outcome.followed.ended, Ended::AsPlanned, "{:#?}", outcome.followed);
    assert_eq!(outcome.followed.progress.gone, 3);
    // No list that was answered was read again in the same form: metadata for the graph, whole objects where a plan
    // must know more. Requests with `limit=1` count objects.
    let mut lists: Vec<[String; 3]> = proxy
        .requests()
        .into_iter()
        .filter(|request| request.query.starts_with("limit=") && request.query != "limit=1")
        .map(|request| [request.path, request.query, request.accept])
        .collect();
    lists.sort();
    let again: Vec<_> = lists.windows(2).filter(|two| two[0] == two[1]).map(|two| &two[0]).collect();
    assert!(lists.len() > 50, "not all lists were seen: {lists:?}");
    assert!(again.is_empty(), "a list was read again: {again:?}");
    outcome
}

#[test]
fn watches_are_those_of_metadata_in_protobuf() {
    let outcome = spoiled("watch-whole", |_, _| None);
    assert!(outcome.followed.lost.is_empty());
    // The client can't fall back to another format.
    let protobuf = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
    let outcome = spoiled("watch-protobuf", move |_, _| Some(Fault::Accept(protobuf)));
    assert!(outcome.followed.lost.is_empty());
}

/// As from servers that can't send metadata as protobuf.
#[test]
fn watches_in_json_tell_the_same() {
    let outcome = spoiled("watch-json", |_, _| {
        Some(Fault::Accept("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"))
    });
    assert!(outcome.followed.lost.is_empty());
    let outcome = spoiled("watch-plain", |_, _| Some(Fault::Accept("application/json")));
    assert!(outcome.followed.lost.is_empty());
}

#[test]
fn watches_that_break_off_are_taken_up() {
    let outcome =
        spoiled("watch-cut", |_, before| Some(Fault::CutAfter(100 + 200 * before as u64)).filter(|_| before < 5));
    assert!(outcome.followed.lost.is_empty());
}

/// If a watch has expired, following lists again.
#[test]
fn what_was_missed_is_asked_for() {
    let outcome = spoiled("watch-expired", |_, before| Some(Fault::status(410, "Expired")).filter(|_| before == 0));
    let lost: Vec<bool> = outcome.followed.lost.iter().map(|lost| lost.watched).collect();
    assert_eq!(lost, [true]);
}

#[test]
fn what_may_not_be_watched_is_asked_for() {
    let outcome = spoiled("watch-forbidden", |_, _| Some(Fault::status(403, "Forbidden")));
    let lost: Vec<(bool, &str)> =
        outcome.followed.lost.iter().map(|lost| (lost.watched, lost.reason.as_str())).collect();
    assert_eq!(lost, [(false, "forbidden")]);
    let describe = outcome.events.iter().find_map(|event| match event {
        FollowEvent::LostWatch { resource, .. } => Some(resource.as_str()),
        _ => None,
    });
    assert_eq!(describe, Some("configmaps"));
}

/// A watch that never sends anything.
#[test]
#[ignore = "long: waits for watches that are silent"]
fn what_falls_silent_is_asked_for() {
    let outcome = spoiled("watch-silent", |_, _| Some(Fault::Hang));
    assert!(outcome.followed.lost.is_empty());
}
