//! Watches that are cut, or can't go on.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use super::kit::{Watching, because, one};
use crate::{
    harness::{Alone, CountingProxy, Fault},
    plan::trial::Trial,
};

/// The watch can't go on from where it was: what was missed is told as unknown, and the rest goes on.
#[test]
fn what_a_lost_watch_missed_is_said_to_be_unknown() {
    let trial = Trial::new("account-lost", "Background");
    let (gone, kept) = (trial.config_map("gone").create(), trial.config_map("kept").create());
    let proxy = CountingProxy::start(trial.cluster);
    // The first watch of ConfigMaps breaks in its first event, the next ones at once; later, one has expired.
    let (watched, cut, expired) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(true)), AtomicBool::new(false));
    let is_cut = cut.clone();
    proxy.with(move |request| {
        let watches = request.path.ends_with("/configmaps") && request.query.starts_with("watch=true");
        if !watches {
            None
        } else if watched.fetch_add(1, Ordering::SeqCst) == 0 {
            Some(Fault::CutAfter(100))
        } else if is_cut.load(Ordering::SeqCst) {
            Some(Fault::CutAfter(0))
        } else {
            (!expired.swap(true, Ordering::SeqCst)).then(|| Fault::status(410, "Expired"))
        }
    });
    let watching = Watching::start(&trial, proxy.kubeconfig(), &["-n", &trial.namespace]);
    trial.config_map("new").create();
    watching.until("a failing watch", |event| event["type"] == "WatchFailing" && event["resource"] == "configmaps");
    trial.cluster.delete(&trial.cluster.path_of(&gone), None, None);
    cut.store(false, Ordering::SeqCst);
    let events = watching.up_to("Gone", "ConfigMap", "gone");
    assert_eq!(because(events.last().unwrap()), "WatchLost");
    let listed = events.iter().find(|event| event["type"] == "Listed").expect("a new list");
    let numbers = (&listed["resource"], &listed["gone"], &listed["new"]);
    assert_eq!(numbers, (&"configmaps".into(), &1.into(), &1.into()));
    // From here on it is as before.
    trial.cluster.delete(&trial.cluster.path_of(&kept), None, None);
    let events = watching.up_to("Gone", "ConfigMap", "kept");
    assert_eq!(because(events.last().unwrap()), "NoOwner");
}

/// A watch that breaks off goes on from where it was: nothing is missed.
#[test]
fn a_watch_that_breaks_off_misses_nothing() {
    let trial = Trial::new("account-cut", "Background");
    let maps: Vec<_> = (0..12).map(|number| trial.config_map(&format!("m{number}")).create()).collect();
    let proxy = CountingProxy::start(trial.cluster);
    let watched = AtomicUsize::new(0);
    proxy.with(move |request| {
        let watches = request.path.ends_with("/configmaps") && request.query.starts_with("watch=true");
        watches.then(|| Fault::CutAfter(400 + 300 * watched.fetch_add(1, Ordering::SeqCst) as u64))
    });
    let watching = Watching::start(&trial, proxy.kubeconfig(), &["-n", &trial.namespace]);
    for map in &maps {
        trial.cluster.delete(&trial.cluster.path_of(map), None, None);
    }
    let left = std::cell::Cell::new(12);
    let events = watching.until("the end of all", |event| {
        left.set(left.get() - i32::from(event["type"] == "Gone"));
        left.get() == 0
    });
    for number in 0..12 {
        assert_eq!(because(one(&events, "Gone", "ConfigMap", &format!("m{number}"))), "NoOwner");
    }
    let lists = proxy
        .requests()
        .into_iter()
        .filter(|request| request.path.ends_with("/configmaps") && request.query.starts_with("limit="));
    assert_eq!(lists.count(), 1, "nothing is listed again");
}

/// A cascade of many takes few requests.
#[test]
fn look_ups_are_few() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "account-few", "Background");
    let owner = trial.rack("owner").create();
    for number in 0..40 {
        trial.config_map(&format!("m{number}")).owned_by(&owner).create();
    }
    trial.cluster.watched_by_collector(&owner);
    let proxy = CountingProxy::start(trial.cluster);
    let watching = Watching::start(&trial, proxy.kubeconfig(), &["-n", &trial.namespace]);
    proxy.forget();
    trial.cluster.delete(&trial.cluster.path_of(&owner), Some("Background"), None);
    let left = std::cell::Cell::new(40);
    let events = watching.until("the end of all", |event| {
        left.set(left.get() - i32::from(event["type"] == "Gone"));
        left.get() == 0
    });
    // In one namespace, a cluster-scoped owner is not watched.
    assert_eq!(
        because(one(&events, "Gone", "ConfigMap", "m7")),
        format!("OwnersGone Rack/{}=Absent", trial.global("owner"))
    );
    let path = trial.cluster.path_of(&owner);
    let asked = proxy.requests().into_iter().filter(|request| request.path == path).count();
    assert_eq!(asked, 1, "one look-up for all dependents");
}
