//! Watches that are lost, fail, begin late, or end.

use super::kit::{ABSENT, Play, gone_for, object, owned};
use crate::account::{Change, Missing, Reason, Scope, What};

#[test]
fn what_a_lost_watch_missed_is_unknown() {
    let gone = owned(object("ConfigMap", "gone", 1), "Rack", "r", 1);
    let replaced = object("ConfigMap", "replaced", 1);
    let kept = object("ConfigMap", "kept", 1);
    let mut play = Play::with(Scope::Everything, &[gone, replaced, kept.clone()]);
    play.account.listing(0, play.now);
    play.account.see(0, &kept, false, play.now);
    // The list is read from the beginning once more.
    play.account.listing(0, play.now);
    play.account.see(0, &kept, false, play.now);
    play.account.see(0, &object("ConfigMap", "replaced", 2), false, play.now);
    play.account.listed(0, play.now);
    let told = play.told();
    let resource = "configmaps".to_owned();
    assert_eq!(told[0].what, What::WatchLost { resource: resource.clone() });
    assert_eq!(told[1].what, What::Listed { resource, again: true, gone: 2, new: 1 });
    let changes: Vec<(String, Change)> = told[2..]
        .iter()
        .map(|one| match &one.what {
            What::Object { object, change } => (object.short_name(), change.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(changes.len(), 3, "{changes:#?}");
    assert_eq!(gone_for(&changes, "ConfigMap/gone"), Reason::WhileLost);
    assert_eq!(gone_for(&changes, "ConfigMap/replaced"), Reason::WhileLost);
    assert!(
        matches!(&changes[2].1, Change::Recreated { times: 1, former_uid, .. } if former_uid == "configmap-replaced-1")
    );
    assert_eq!(play.asked, [], "nothing has to be looked up for that");
    // From here on it is watched as before.
    play.gone(&kept);
    assert_eq!(gone_for(&play.changes(), "ConfigMap/kept"), Reason::NoOwner);
    assert_eq!((play.account.summary().unknown, play.account.summary().otherwise), (2, 1));
}

#[test]
fn a_resource_that_fails_is_told() {
    let mut play = Play::begun(Scope::Everything);
    play.account.failing(0, "it cannot be watched: no".to_owned(), play.now);
    let missing = Missing { resource: "configmaps".to_owned(), why: "it cannot be watched: no".to_owned() };
    assert_eq!(play.account.summary().missing, [missing]);
    play.account.recovered(0, play.now);
    let told: Vec<What> = play.told().into_iter().map(|one| one.what).collect();
    let resource = "configmaps".to_owned();
    let why = "it cannot be watched: no".to_owned();
    assert_eq!(told, [What::WatchFailing { resource: resource.clone(), why }, What::WatchRecovered { resource }]);
    assert_eq!(play.account.summary().missing, []);
}

/// What lists instead of watches tell comes without a word about the watch.
#[test]
fn a_resource_that_is_listed_instead_is_told_once() {
    let (gone, kept) = (object("ConfigMap", "gone", 1), object("ConfigMap", "kept", 1));
    let mut play = Play::with(Scope::Everything, &[gone, kept.clone()]);
    assert_eq!(play.account.is_polled(0), Some("configmaps".to_owned()));
    for objects in [&[kept.clone()][..], &[kept]] {
        play.account.listing(0, play.now);
        objects.iter().for_each(|object| play.account.see(0, object, false, play.now));
        play.account.listed(0, play.now);
        assert_eq!(play.account.is_polled(0), None);
    }
    assert_eq!(gone_for(&play.changes(), "ConfigMap/gone"), Reason::WhileLost);
    assert_eq!((play.told(), play.account.summary().missing), (Vec::new(), Vec::new()));
    play.account.recovered(0, play.now);
    assert!(matches!(play.told()[0].what, What::WatchRecovered { .. }));
}

#[test]
fn an_account_begins_without_what_cannot_be_listed() {
    let mut play = Play::unlisted(Scope::Everything);
    assert!(play.account.is_blind() && !play.account.is_ready());
    for id in 0..5 {
        play.account.listing(id, play.now);
        play.account.listed(id, play.now);
    }
    play.account.failing(5, "it cannot be listed: forbidden".to_owned(), play.now);
    assert!(play.account.is_ready() && !play.account.is_blind());
    assert_eq!(play.told(), [], "nothing is told before it begins");
    play.account.begin(Vec::new(), play.now);
    let told = play.told();
    let missing = Missing { resource: "racks.acme.io".to_owned(), why: "it cannot be listed: forbidden".to_owned() };
    assert_eq!(told[0].what, What::Watching { resources: 5, missing: vec![missing] });
    // Its first list is no news of objects.
    play.account.listing(5, play.now);
    play.account.see(5, &object("Rack", "r", 1), false, play.now);
    play.account.listed(5, play.now);
    let told: Vec<What> = play.told().into_iter().map(|one| one.what).collect();
    assert_eq!(told, [What::Listed { resource: "racks.acme.io".to_owned(), again: false, gone: 0, new: 0 }]);
}

#[test]
fn a_resource_may_no_longer_be_served() {
    let runner = object("Runner", "a", 1);
    let map = owned(object("ConfigMap", "x", 1), "Runner", "a", 1);
    let mut play = Play::with(Scope::Everything, &[runner, map.clone()]);
    play.account.stopped(4, play.now);
    let told: Vec<What> = play.told().into_iter().map(|one| one.what).collect();
    assert_eq!(told, [What::NotServed { resource: "runners.acme.io".to_owned(), objects: 1 }]);
    // Nothing is concluded from that: the owner is looked up.
    play.gone(&map);
    play.answer(|_| ABSENT);
    assert!(matches!(gone_for(&play.changes(), "ConfigMap/x"), Reason::OwnersGone { .. }));
    assert_eq!(play.asked.len(), 1);
}

/// An account that ends tells what it knows.
#[test]
fn what_waits_for_a_look_up_is_told_at_the_end() {
    let map = owned(object("ConfigMap", "x", 1), "Rack", "r", 1);
    let mut play = Play::with(Scope::Everything, std::slice::from_ref(&map));
    play.gone(&map);
    assert!(play.told().is_empty() && !play.account.is_idle());
    let told = play.account.finish();
    assert!(matches!(
        &told[0].what,
        What::Object { change: Change::Gone { why: Some(Reason::Unknown { .. }), .. }, .. }
    ));
    assert!(play.account.is_idle());
}
