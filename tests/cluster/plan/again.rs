//! Targets that are already being deleted: what a second DELETE changes.

use super::{
    draft::HOLD,
    trial::{Trial, root, three_ways},
};

/// An owner for a foreground deletion: one dependent blocks it and has a finalizer, another one doesn't block it.
fn deadlock(trial: &Trial<'_>) -> serde_json::Value {
    let owner = trial.widget("root").create();
    let held = trial.widget("held").blocking(&owner).finalizer(HOLD).create();
    trial.config_map("below-held").blocking(&held).create();
    trial.config_map("follows").owned_by(&owner).create();
    owner
}

#[test]
fn a_foreground_deletion_that_waits() {
    three_ways("again-foreground", |trial| {
        let owner = deadlock(trial);
        trial.delete_before(&owner, "Foreground");
        root()
    });
}

#[test]
fn a_background_deletion_that_is_held() {
    three_ways("again-background", |trial| {
        let owner = trial.widget("root").finalizer(HOLD).create();
        trial.config_map("blocks").blocking(&owner).create();
        let middle = trial.widget("middle").owned_by(&owner).create();
        trial.config_map("below").owned_by(&middle).create();
        trial.delete_before(&owner, "Background");
        root()
    });
}

#[test]
fn a_foreground_deletion_that_is_held() {
    three_ways("again-held", |trial| {
        let owner = trial.widget("root").finalizer(HOLD).create();
        trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
        trial.config_map("follows").owned_by(&owner).finalizer(HOLD).create();
        trial.delete_before(&owner, "Foreground");
        root()
    });
}

#[test]
fn an_owner_that_begins_to_wait_and_has_nothing_to_wait_for() {
    three_ways("again-at-once", |trial| {
        let owner = trial.widget("root").finalizer(HOLD).create();
        let other = trial.widget("other").create();
        trial.delete_before(&owner, "Background");
        for number in 0..4 {
            trial.config_map(&format!("of-both-{number}")).owned_by(&other).owned_by(&owner).create();
        }
        root()
    });
}

#[test]
fn a_cycle_that_waits_for_itself_is_released() {
    three_ways("again-cycle", |trial| {
        let first = trial.widget("root").create();
        let second = trial.widget("second").blocking(&first).create();
        trial.add_owners(&first, &[super::draft::blocking(&second)]);
        // Delete both at once, before the collector has unblocked one of them. An owner that it can't find keeps it
        // from examining them.
        let own = trial.widget("own").create();
        trial.add_owners(&own, &[super::draft::blocking(&own)]);
        trial.delete_before(&own, "Foreground");
        vec!["widget/own".to_owned(), "widget/root".to_owned()]
    });
}
