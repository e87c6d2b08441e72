//! Which objects are deleted, by their references: blocking and others, several owners, owners in the wrong namespace.

use super::{
    draft::{HOLD, blocking},
    trial::{Trial, root, three_ways, three_ways_on},
};
use crate::harness::{Alone, owner_reference};

#[test]
fn blocking_and_other_dependents() {
    three_ways("references", |trial| {
        let owner = trial.widget("root").create();
        trial.config_map("blocks").blocking(&owner).create();
        trial.config_map("follows").owned_by(&owner).create();
        let middle = trial.widget("middle").owned_by(&owner).create();
        trial.config_map("below").blocking(&middle).create();
        trial.widget("below").owned_by(&middle).create();
        trial.config_map("bystander").create();
        root()
    });
}

#[test]
fn a_second_owner_that_lives_keeps_an_object() {
    three_ways("two-owners", |trial| {
        let owner = trial.widget("root").create();
        let other = trial.widget("other").create();
        let middle = trial.widget("middle").blocking(&owner).create();
        // The kind and the stripped reference decide how the collector writes its patch.
        trial.config_map("built-in").blocking(&owner).blocking(&other).create();
        trial.widget("custom").owned_by(&other).blocking(&owner).create();
        trial.config_map("of-both-levels").owned_by(&owner).blocking(&middle).create();
        trial.config_map("three").blocking(&middle).owned_by(&other).owned_by(&owner).create();
        root()
    });
}

#[test]
fn both_owners_can_be_targets() {
    three_ways("two-targets", |trial| {
        let one = trial.widget("one").create();
        let two = trial.widget("two").create();
        trial.config_map("of-both").blocking(&one).blocking(&two).create();
        let middle = trial.widget("middle").owned_by(&two).create();
        trial.config_map("below").owned_by(&middle).create();
        vec!["widget/one".to_owned(), "widget/two".to_owned()]
    });
}

#[test]
fn an_owner_in_another_namespace_is_waited_for_and_never_found() {
    three_ways("across", |trial| {
        let other = trial.another_namespace();
        let owner = trial.widget("root").create();
        // The collector deletes it at once, because it finds no owner in that namespace; the finalizer keeps it.
        trial.config_map("stranger").in_namespace(&other).blocking(&owner).finalizer(HOLD).create();
        trial.config_map("neighbour").blocking(&owner).create();
        root()
    });
}

#[test]
fn a_cluster_scoped_owner_reaches_into_namespaces() {
    three_ways_on(&Alone::usual(), "cluster-scoped", |trial| {
        let other = trial.another_namespace();
        let owner = trial.rack("root").create();
        let middle = trial.widget("middle").blocking(&owner).create();
        trial.config_map("below").blocking(&middle).create();
        trial.config_map("elsewhere").in_namespace(&other).blocking(&owner).create();
        trial.rack("dependent").owned_by(&owner).create();
        vec![format!("rack/{}", trial.global("root"))]
    });
}

#[test]
fn a_cluster_scoped_dependent_of_a_namespaced_owner_is_never_collected() {
    three_ways_on(&Alone::usual(), "scope", |trial| {
        let owner = trial.widget("root").create();
        trial.rack("dependent").blocking(&owner).create();
        trial.config_map("neighbour").blocking(&owner).create();
        root()
    });
}

#[test]
fn an_object_that_owns_itself() {
    three_ways("self-owner", |trial| {
        let owner = trial.widget("root").create();
        trial.add_owners(&owner, &[blocking(&owner)]);
        trial.config_map("dependent").blocking(&owner).create();
        root()
    });
}

#[test]
fn a_cycle_with_the_target_in_it() {
    three_ways("cycle", |trial| {
        let first = trial.widget("root").create();
        let second = trial.widget("second").owned_by(&first).create();
        let third = trial.widget("third").owned_by(&second).create();
        trial.add_owners(&first, &[owner_reference(&third)]);
        trial.config_map("dependent").owned_by(&second).create();
        root()
    });
}

#[test]
fn a_cycle_below_the_target_is_not_collected() {
    three_ways("cycle-below", |trial| {
        let owner = trial.widget("root").create();
        let first = trial.widget("first").blocking(&owner).create();
        let second = trial.widget("second").owned_by(&owner).blocking(&first).create();
        trial.add_owners(&first, &[blocking(&second)]);
        let own = trial.config_map("own").owned_by(&owner).create();
        trial.add_owners(&own, &[blocking(&own)]);
        root()
    });
}

#[test]
fn an_owner_of_a_kind_that_is_not_served_makes_immune() {
    three_ways("unserved", |trial| {
        let owner = trial.widget("root").create();
        trial.config_map("immune").blocking(&owner).reference(trial.unserved()).create();
        trial.config_map("neighbour").blocking(&owner).create();
        let middle = trial.widget("middle").owned_by(&owner).reference(trial.unserved()).create();
        trial.config_map("below").owned_by(&middle).create();
        root()
    });
}

#[test]
fn two_references_to_one_owner_that_differ() {
    three_ways("twice", |trial| {
        let owner = trial.widget("root").create();
        trial.config_map("goes").blocking(&owner).owned_by(&owner).create();
        root()
    });
}

#[test]
#[ignore = "long: slow"]
fn an_owner_is_forgotten_that_loses_two_references_at_once() {
    three_ways("forgotten", |trial| {
        let owner = trial.widget("root").create();
        let other = trial.widget("other").create();
        trial.config_map("stays").blocking(&owner).owned_by(&owner).owned_by(&other).create();
        root()
    });
}

#[test]
fn whether_an_owner_is_forgotten_depends_on_the_order() {
    three_ways("perhaps-forgotten", |trial| {
        let owner = trial.widget("root").create();
        let other = trial.widget("other").create();
        trial.config_map("goes").blocking(&owner).owned_by(&owner).create();
        trial.config_map("stays").blocking(&owner).owned_by(&owner).owned_by(&other).create();
        root()
    });
}

#[test]
fn a_target_in_the_middle_frees_whoever_waits_for_it() {
    three_ways("upwards", |trial: &Trial<'_>| {
        let top = trial.widget("top").create();
        let middle = trial.widget("root").blocking(&top).reference(trial.unserved()).create();
        trial.config_map("below").blocking(&middle).create();
        trial.delete_before(&top, "Foreground");
        root()
    });
}
