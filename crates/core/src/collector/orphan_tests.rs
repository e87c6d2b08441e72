use super::{Answer, Ask, Collector, Failure, Finish, Orphaning, Progress, Reason};
use crate::{
    graph::{NodeId, OwnerGraph},
    model::{ObjectId, Snapshot, Symbol},
    server::{Patch, PatchAnswer, Stored},
    tree::fixture::{World, terminating},
};

/// An owner that is deleted with Orphan, and two dependents.
fn family() -> ((Snapshot, OwnerGraph), ObjectId, [NodeId; 2]) {
    let mut world = World::empty();
    let owner = world.add_with("shop", "Shop/owner", Vec::new(), terminating(&["orphan"]));
    let dependents = ["ConfigMap/a", "ConfigMap/b"].map(|name| world.add("shop", name, &["Shop/owner"]).into());
    (world.build(), owner, dependents)
}

const DONE: Answer<'_> = Answer::Patched(PatchAnswer::Unchanged);

/// R6.2 and R6.4: first each dependent loses its references to the owner's uid, then the owner loses its finalizer, in
/// the version just read.
#[test]
fn the_finalizer_goes_once_every_dependent_is_free() {
    let ((snapshot, graph), owner, dependents) = family();
    let collector = Collector::at_rest(&snapshot, &graph);
    let mut orphaning = Orphaning::begin(&collector, owner.into());
    let uid = snapshot.object(owner).uid;
    assert_eq!(orphaning.free(&collector), (Patch::StripByUid(vec![uid]), Reason::OwnerOrphans(uid)));
    for dependent in dependents {
        orphaning.freed(dependent, &DONE);
    }
    assert!(orphaning.pending.is_empty());
    let read = orphaning.finish(&collector);
    assert!(matches!(read, Progress::Ask(Ask::Item(_))), "{read:?}");
    let item = Stored::of(snapshot.object(owner));
    let version = item.version;
    let patch = Patch::RemoveFinalizer { finalizer: Symbol::ORPHAN, version };
    let last = orphaning.answer(&collector, Answer::Found(item));
    assert_eq!(last, Progress::Ask(Ask::Patch(patch, Reason::DependentsFreed)));
}

/// R6.3: after one failure, the whole orphaning is retried; a missing dependent is no failure.
#[test]
fn a_dependent_that_is_gone_is_no_failure() {
    let ((snapshot, graph), owner, [first, second]) = family();
    let collector = Collector::at_rest(&snapshot, &graph);
    let after = |answer: Answer<'_>| {
        let mut orphaning = Orphaning::begin(&collector, owner.into());
        orphaning.freed(first, &answer);
        orphaning.freed(second, &DONE);
        orphaning.finish(&collector)
    };
    assert!(matches!(after(Answer::NotFound), Progress::Ask(Ask::Item(_))));
    let again = Progress::Finished(Finish::RetrySoon);
    assert_eq!(after(Answer::Failed(Failure::Refused)), again);
    assert_eq!(after(Answer::Patched(PatchAnswer::Conflict)), again);
}

/// A collector that may not orphan all dependents must keep the finalizer, or the others would be deleted.
#[test]
fn what_may_not_be_freed_keeps_the_finalizer() {
    let ((snapshot, graph), owner, [first, _]) = family();
    let collector = Collector::at_rest(&snapshot, &graph);
    let mut orphaning = Orphaning::begin(&collector, owner.into());
    orphaning.limit_to(|dependent| dependent == first);
    orphaning.freed(first, &DONE);
    assert_eq!(orphaning.finish(&collector), Progress::Finished(Finish::Forget));
}
