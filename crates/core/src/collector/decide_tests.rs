use super::{Decision, Failure, OwnerState, decide};
use crate::{
    graph::Verdict,
    model::{Reference, Symbol},
    server::Propagation::{Background, Foreground, Orphan},
    tree::fixture::World,
};

use OwnerState::{Dangling, Solid, Waiting};

/// Four references with different uids.
fn references() -> Vec<Reference> {
    let mut world = World::empty();
    let id = world.add("shop", "ConfigMap/it", &["Secret/a", "Secret/b", "Secret/c", "Secret/d"]);
    let (snapshot, _) = world.build();
    snapshot.object(id).owners.to_vec()
}

fn decided(classes: &[OwnerState], has_dependents: bool, finalizers: &[Symbol]) -> Decision {
    let references: Vec<(Reference, OwnerState)> = references().into_iter().zip(classes.iter().copied()).collect();
    decide(&references, has_dependents, finalizers)
}

#[test]
fn without_an_owner_or_with_solid_owners_only_an_object_is_kept() {
    assert_eq!(decided(&[], true, &[]), Decision::Keep);
    assert_eq!(decided(&[Solid, Solid], true, &[]), Decision::Keep);
}

#[test]
fn beside_a_solid_owner_the_dangling_references_are_dropped_first() {
    let uids: Vec<Symbol> = references().iter().map(|reference| reference.uid).collect();
    let decision = decided(&[Waiting, Dangling, Solid, Dangling], true, &[Symbol::FOREGROUND]);
    assert_eq!(decision, Decision::Strip(vec![uids[1], uids[3], uids[0]]));
}

/// A waiting owner requires a foreground delete, whatever finalizers the object has, but only if the object has
/// dependents.
#[test]
fn a_waiting_owner_counts_if_there_are_dependents() {
    assert_eq!(decided(&[Waiting, Dangling], true, &[Symbol::ORPHAN]), Decision::DeleteForWaitingOwner);
    assert_eq!(decided(&[Waiting, Dangling], false, &[]), Decision::Delete(Background));
    assert_eq!(decided(&[Dangling], true, &[]), Decision::Delete(Background));
}

#[test]
fn the_finalizers_of_an_object_choose_its_policy_and_orphan_comes_first() {
    assert_eq!(decided(&[Dangling], true, &[Symbol::FOREGROUND, Symbol::ORPHAN]), Decision::Delete(Orphan));
    assert_eq!(decided(&[Dangling], true, &[Symbol::FOREGROUND]), Decision::Delete(Foreground));
    assert_eq!(decided(&[Waiting], false, &[Symbol::FOREGROUND]), Decision::Delete(Foreground));
}

/// R3.13 and R10.2: an owner that could not be looked up has no state, and is never considered absent.
#[test]
fn what_could_not_be_looked_up_is_not_dangling() {
    assert_eq!(OwnerState::of(Verdict::Unmappable), Err(Failure::Unmappable));
    assert_eq!(OwnerState::of(Verdict::Doubted), Err(Failure::Unmappable));
    assert_eq!(OwnerState::of(Verdict::Unknown), Err(Failure::Unknown));
    assert_eq!(OwnerState::of(Verdict::InvalidScope), Err(Failure::InvalidScope));
}
