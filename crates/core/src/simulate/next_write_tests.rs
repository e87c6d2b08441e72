use super::{Assume, Next, NoAction, SimContext};
use crate::{
    collector::Reason,
    model::{ObjectId, RawReference, Symbol},
    server::Propagation::{Background, Foreground},
    tree::fixture::{World, owner, terminating},
};

/// The collector's first write to each of these objects.
fn next<const N: usize>(world: World, objects: [ObjectId; N]) -> [Next; N] {
    let (snapshot, graph) = world.build();
    let context = SimContext::new(&snapshot, &graph, Assume::None);
    objects.map(|object| Next::of(&context, object))
}

#[test]
fn an_object_follows_its_owners() {
    let mut world = World::empty();
    world.add("shop", "Shop/there", &[]);
    let free = world.add("shop", "ConfigMap/free", &[]);
    let kept = world.add("shop", "ConfigMap/kept", &["Shop/there"]);
    let lost = world.add("shop", "ConfigMap/lost", &["Shop/gone"]);
    let both = world.add("shop", "ConfigMap/both", &["Shop/gone", "Shop/there"]);
    let [free, kept, lost, both] = next(world, [free, kept, lost, both]);
    assert_eq!(free, Next::Nothing(NoAction::NoOwners));
    assert_eq!(kept, Next::Nothing(NoAction::OwnersSolid));
    assert_eq!(lost, Next::Delete(Background, Reason::NoOwnerLeft));
    assert!(matches!(&both, Next::DropReferences(uids) if uids.len() == 1), "{both:?}");
}

/// §5.1: a waiting owner waits for the dependents that block it, and then loses its finalizer.
#[test]
fn an_owner_that_waits_goes_after_its_blocking_dependents() {
    let mut world = World::empty();
    let waiting = world.add_with("shop", "Shop/waiting", Vec::new(), terminating(&["foregroundDeletion"]));
    let blocks = world.add("shop", "ConfigMap/blocks", &["Shop/waiting"]);
    world.add("shop", "Secret/below", &["ConfigMap/blocks"]);
    let alone = world.add_with("shop", "Shop/alone", Vec::new(), terminating(&["foregroundDeletion"]));
    let not_blocking = RawReference { block_owner_deletion: Some(false), ..owner("Shop/alone") };
    world.add_with("shop", "ConfigMap/loose", vec![not_blocking], |_| {});
    let [waiting, blocking, alone] = next(world, [waiting, blocks, alone]);
    assert_eq!(waiting, Next::WaitForDependents(vec![blocks]));
    assert_eq!(blocking, Next::Delete(Foreground, Reason::OwnerWaits));
    assert_eq!(alone, Next::TakeFinalizer(Symbol::FOREGROUND));
    assert!(!waiting.writes() && blocking.writes());
}

/// §6: the collector first frees the dependents of an orphaning owner, then removes the owner's finalizer.
#[test]
fn an_owner_that_orphans_frees_its_dependents_first() {
    let mut world = World::empty();
    let owner = world.add_with("shop", "Shop/owner", Vec::new(), terminating(&["orphan"]));
    let freed = world.add("shop", "ConfigMap/freed", &["Shop/owner"]);
    let alone = world.add_with("shop", "Shop/alone", Vec::new(), terminating(&["orphan"]));
    let [owner, alone] = next(world, [owner, alone]);
    assert_eq!(owner, Next::FreeDependents(vec![freed]));
    assert_eq!(alone, Next::TakeFinalizer(Symbol::ORPHAN));
}

/// Unknown is not absent: no object is deleted because a kind is not served or a list failed.
#[test]
fn what_cannot_be_looked_up_is_left_alone() {
    let mut world = World::empty().unread("Secret");
    let unserved = world.add("shop", "ConfigMap/unserved", &["Shop/gone", "Widget/w"]);
    let unread = world.add("shop", "ConfigMap/unread", &["Secret/token"]);
    let held = world.add_with("shop", "ConfigMap/held", vec![owner("Shop/gone")], terminating(&["acme.io/x"]));
    let [unserved, unread, held] = next(world, [unserved, unread, held]);
    assert_eq!(unserved, Next::Nothing(NoAction::Unmappable(1)));
    assert_eq!(unread, Next::Nothing(NoAction::Unread(Some(0))));
    assert_eq!(held, Next::Nothing(NoAction::OnItsWayOut));
}
