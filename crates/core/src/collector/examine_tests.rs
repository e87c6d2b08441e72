use super::{Answer, Ask, Collector, Examination, Failure, Finish, OwnerState, Progress, Reason};
use crate::{
    graph::{NodeId, OwnerGraph},
    model::{ObjectId, ServerVersion, Snapshot},
    server::{DeleteAnswer, DeleteOptions, Patch, PatchAnswer, Propagation, Stored},
    tree::fixture::{World, owner, terminating},
};

fn item(snapshot: &Snapshot, id: ObjectId) -> Answer<'_> {
    Answer::Found(Stored::of(snapshot.object(id)))
}

/// An object whose owners are gone, examined up to its DELETE.
fn up_to_the_delete<'a>(
    (snapshot, graph): &'a (Snapshot, OwnerGraph),
    id: ObjectId,
) -> (Collector<'a>, Examination<'a>, DeleteOptions) {
    let mut collector = Collector::at_rest(snapshot, graph);
    let (mut examination, first) = Examination::begin(&collector, id.into());
    assert!(matches!(first, Progress::Ask(Ask::Item(_))), "{first:?}");
    let next = examination.answer(&mut collector, item(snapshot, id));
    assert_eq!(next, Progress::Ask(Ask::Owner(snapshot.object(id).owners[0])));
    match examination.answer(&mut collector, Answer::Owner(Ok(OwnerState::Dangling))) {
        Progress::Ask(Ask::Delete(options, Reason::NoOwnerLeft)) => (collector, examination, options),
        other => panic!("{other:?}"),
    }
}

fn lost() -> ((Snapshot, OwnerGraph), ObjectId) {
    let mut world = World::empty();
    let id = world.add("shop", "ConfigMap/lost", &["Secret/gone"]);
    (world.build(), id)
}

/// G1: the collector handles a terminating object only once it is gone.
#[test]
fn what_is_terminating_is_not_even_read() {
    let mut world = World::empty();
    let held = world.add_with("shop", "ConfigMap/held", vec![owner("Secret/gone")], terminating(&["acme.io/x"]));
    let (snapshot, graph) = world.build();
    let collector = Collector::at_rest(&snapshot, &graph);
    assert_eq!(Examination::begin(&collector, held.into()).1, Progress::Finished(Finish::Forget));
}

/// R4.1 and R4.2: the DELETE names the version that was read. After a conflict, it is repeated without a version only
/// if the references are the same.
#[test]
fn a_conflict_makes_it_look_again() {
    let (cluster, id) = lost();
    let (snapshot, _) = &cluster;
    let (mut collector, mut examination, options) = up_to_the_delete(&cluster, id);
    let read = Stored::of(snapshot.object(id));
    assert_eq!(options.version, Some(read.version));

    let conflict = Answer::Deleted(DeleteAnswer::Conflict);
    let again = examination.answer(&mut collector, conflict.clone());
    assert!(matches!(again, Progress::Ask(Ask::Item(_))), "{again:?}");
    // A client has changed the item, but not its references.
    let written = Stored { version: read.version + 1, ..read.clone() };
    let repeated = examination.clone().answer(&mut collector, Answer::Found(written.clone()));
    let expected = DeleteOptions { version: None, propagation: Some(Propagation::Background), ..options };
    assert_eq!(repeated, Progress::Ask(Ask::Delete(expected, Reason::NoOwnerLeft)));
    // A client has given it another owner.
    let adopted = Stored { owners: Vec::new().into(), ..written };
    let dropped = examination.answer(&mut collector, Answer::Found(adopted));
    assert_eq!(dropped, Progress::Finished(Finish::RetrySoon));
}

/// R4.1: before 1.34, the collector's DELETE names the uid alone. A sweep's never does.
#[test]
fn older_collectors_delete_by_uid_alone() {
    for (server, sweeps, by_version) in
        [("v1.33.13", false, false), ("v1.33.13", true, true), ("v1.34.0", false, true), ("", false, true)]
    {
        let ((mut snapshot, graph), id) = lost();
        snapshot.resources = snapshot.resources.of_server(ServerVersion::read(server, "", ""));
        let mut collector = Collector { sweeps, ..Collector::at_rest(&snapshot, &graph) };
        let (mut examination, _) = Examination::begin(&collector, id.into());
        examination.answer(&mut collector, item(&snapshot, id));
        let asked = examination.answer(&mut collector, Answer::Owner(Ok(OwnerState::Dangling)));
        let Progress::Ask(Ask::Delete(options, _)) = asked else { panic!("{server}: {asked:?}") };
        assert_eq!(options.version.is_some(), by_version, "{server} {sweeps}");
    }
}

/// R3.13: a reference that can't be mapped ends the examination, even if all other owners are gone.
#[test]
fn one_failed_look_up_aborts_the_item() {
    let mut world = World::empty();
    let id = world.add("shop", "ConfigMap/it", &["Secret/gone", "Widget/unserved"]);
    let (snapshot, graph) = world.build();
    for (failure, finish) in [
        (Failure::Unmappable, Finish::RetryAfterChange),
        (Failure::InvalidScope, Finish::Forget),
        (Failure::Unknown, Finish::Unknown),
    ] {
        let mut collector = Collector::at_rest(&snapshot, &graph);
        let (mut examination, _) = Examination::begin(&collector, id.into());
        examination.answer(&mut collector, item(&snapshot, id));
        examination.answer(&mut collector, Answer::Owner(Ok(OwnerState::Dangling)));
        assert_eq!(examination.answer(&mut collector, Answer::Owner(Err(failure))), Progress::Finished(finish));
    }
}

/// R5.11: before an object is deleted for a waiting owner although a dependent of its own waits, it is unblocked.
#[test]
fn in_a_circle_the_item_is_unblocked_before_it_is_deleted() {
    let mut world = World::empty();
    let foreground = || terminating(&["foregroundDeletion"]);
    world.add_with("shop", "Shop/a", vec![owner("Shop/b")], foreground());
    let id = world.add("shop", "Shop/b", &["Shop/a"]);
    let (snapshot, graph) = world.build();
    let mut collector = Collector::at_rest(&snapshot, &graph);
    let (mut examination, _) = Examination::begin(&collector, id.into());
    examination.answer(&mut collector, item(&snapshot, id));
    let first = examination.answer(&mut collector, Answer::Owner(Ok(OwnerState::Waiting)));
    let Progress::Ask(Ask::Patch(Patch::SetOwners { owners, .. }, Reason::CycleSuspected)) = first else {
        panic!("{first:?}")
    };
    assert!(owners.iter().all(|reference| !reference.blocks()));
    let second = examination.answer(&mut collector, Answer::Patched(PatchAnswer::Unchanged));
    assert!(
        matches!(&second, Progress::Ask(Ask::Delete(options, Reason::OwnerWaits))
            if options.propagation == Some(Propagation::Foreground)),
        "{second:?}"
    );
}

/// §5.1: a waiting owner queues the dependents that block it, and no others.
#[test]
fn a_waiting_owner_queues_its_blocking_dependents() {
    let mut world = World::empty();
    let waiting = world.add_with("shop", "Shop/a", Vec::new(), terminating(&["foregroundDeletion"]));
    let blocks = world.add("shop", "ConfigMap/blocks", &["Shop/a"]);
    let mut loose = owner("Shop/a");
    loose.block_owner_deletion = None;
    world.add_with("shop", "ConfigMap/loose", vec![loose], |_| {});
    let (snapshot, graph) = world.build();
    let mut collector = Collector::at_rest(&snapshot, &graph);
    let (mut examination, _) = Examination::begin(&collector, waiting.into());
    let end = examination.answer(&mut collector, item(&snapshot, waiting));
    assert_eq!(end, Progress::Finished(Finish::Forget));
    assert_eq!(collector.to_delete.iter().collect::<Vec<NodeId>>(), [blocks.into()]);
    assert!(collector.has_dependents(waiting.into()));
}
