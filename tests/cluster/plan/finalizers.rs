//! Finalizers of controllers that never run, and the collector's own on objects that are not being deleted yet.

use super::{draft::HOLD, trial::three_ways};

fn root() -> Vec<String> {
    vec!["widget/root".to_owned()]
}

#[test]
fn a_dependent_that_is_held_holds_its_owner() {
    three_ways("held-child", |trial| {
        let owner = trial.widget("root").create();
        let held = trial.widget("held").blocking(&owner).finalizer(HOLD).create();
        trial.config_map("below-held").blocking(&held).create();
        let middle = trial.widget("middle").blocking(&owner).create();
        trial.config_map("below-middle").blocking(&middle).finalizer(HOLD).create();
        trial.config_map("held-but-not-blocking").owned_by(&owner).finalizer(HOLD).create();
        root()
    });
}

#[test]
fn a_target_that_is_held() {
    three_ways("held-root", |trial| {
        let owner = trial.widget("root").finalizer("acme.io/first").finalizer(HOLD).create();
        let middle = trial.widget("middle").blocking(&owner).create();
        trial.config_map("below").owned_by(&middle).create();
        trial.config_map("follows").owned_by(&owner).create();
        root()
    });
}

#[test]
fn dependents_with_the_finalizers_of_the_collector() {
    three_ways("own-policies", |trial| {
        let owner = trial.widget("root").create();
        for finalizer in ["orphan", "foregroundDeletion"] {
            let middle = trial.widget(&finalizer.to_lowercase()).blocking(&owner).finalizer(finalizer).create();
            trial.config_map(&format!("below-{}", finalizer.to_lowercase())).blocking(&middle).create();
        }
        trial.widget("orphan-without-dependents").blocking(&owner).finalizer("orphan").create();
        root()
    });
}

#[test]
fn a_target_with_the_finalizers_of_the_collector() {
    for finalizer in ["orphan", "foregroundDeletion"] {
        three_ways("own-policy", |trial| {
            let owner = trial.widget("root").finalizer(finalizer).finalizer(HOLD).create();
            trial.config_map("blocks").blocking(&owner).create();
            trial.config_map("follows").owned_by(&owner).create();
            root()
        });
    }
}
