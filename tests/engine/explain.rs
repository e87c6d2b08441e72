//! What `explain` says about an object: the status of its references, the collector's next step, the object's final
//! state, what would change that, and what it waits for.

use std::collections::{BTreeMap, BTreeSet};

use kubectl_gc::{
    command_line::PLAIN,
    doctor::{
        Case, Evidence, Explanation, Limit, explain,
        explain::{Condition, ConditionOutcome, Trigger},
    },
    graph::OwnerGraph,
    model::{ObjectId, Reference, Snapshot},
    plan::{OutcomeKind, Uncertainty, plan},
    simulate::{Assume, BlockedBy, Next, ProjectedOutcome, Projection, Request, SimContext, Start, State, WriteScope},
    tree::ReferenceStatus,
};

use rustc_hash::FxHashSet;

use crate::{
    graphs::{
        generate::{self, Mix},
        scene,
        text::Graph,
    },
    scene::Scene,
};

/// A rule, a graph, one of its objects, and its explanation in short form, as [`story`] writes it.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn explained(snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<Explanation> {
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, Assume::Known);
    let projection = Projection::of(&stage);
    let fresh = FxHashSet::default();
    let case = Case {
        stage: &stage,
        projection: &projection,
        now: None,
        live: false,
        fresh: &fresh,
        limit: &Limit::Everything,
        made: &[],
        kubectl: &PLAIN,
        events: &[],
        unpatchable: &Default::default(),
        probed: None,
        recovered: &Default::default(),
        evidence: &Evidence::default(),
    };
    explain(&case, objects, &[]).explanations
}

impl Scene {
    fn explain(&self, name: &str) -> Explanation {
        explained(&self.snapshot, &[self.id(name)]).remove(0)
    }

    /// References; next step; end; conditions; what the object waits for; causes. Empty parts are left out.
    fn story(&self, name: &str) -> String {
        let describe = self.explain(name);
        let references = describe
            .references
            .iter()
            .map(|story| format!("{} {} {}", story.link.standing.name(), story.blocks.name(), story.rule()));
        let conditions = describe.conditions.iter().map(|condition| self.condition(condition));
        let waits = describe.waits.iter().skip(1).map(|line| {
            let word = if line.goes {
                "goes"
            } else if line.lets_go {
                "lets go"
            } else {
                line.state.name()
            };
            let above = if line.above { " (above)" } else { "" };
            format!("{}{} {word}{above}", ">".repeat(line.depth as usize), self.snapshot.short_name(line.object))
        });
        let causes = describe
            .causes
            .iter()
            .map(|cause| format!("{} {}{}", self.names(&cause.objects), cause.state.name(), self.held(&cause.held_by)));
        let parts = [
            joined("", references),
            format!("{} ({}, {})", self.next(&describe.next.next), describe.next.attention.name(), describe.next.rule),
            self.end(&describe),
            joined("if ", conditions),
            joined("waits: ", waits),
            joined("because ", causes),
            joined("held up: ", describe.waited_for_by.iter().map(|id| self.snapshot.short_name(*id))),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn names(&self, ids: &[ObjectId]) -> String {
        ids.iter().map(|id| self.snapshot.short_name(*id)).collect::<Vec<_>>().join(" + ")
    }

    fn held(&self, held_by: &[BlockedBy]) -> String {
        let names = held_by.iter().map(|holder| match holder {
            BlockedBy::Finalizer(finalizer) => self.snapshot.text(*finalizer).to_owned(),
            other => format!("{other:?}"),
        });
        joined(" by ", names)
    }

    fn next(&self, next: &Next) -> String {
        match next {
            Next::Delete(policy, _) => format!("Delete {}", policy.name()),
            Next::DropReferences(uids) => {
                format!(
                    "DropReferences {}",
                    uids.iter().map(|uid| self.snapshot.text(*uid)).collect::<Vec<_>>().join(" ")
                )
            }
            Next::FreeDependents(ids) => format!("FreeDependents {}", self.names(ids)),
            Next::WaitForDependents(ids) => format!("Wait {}", self.names(ids)),
            Next::TakeFinalizer(finalizer) => format!("TakeFinalizer {}", self.snapshot.text(*finalizer)),
            other => format!("{other:?}"),
        }
    }

    fn end(&self, describe: &Explanation) -> String {
        let state = describe.end.state.map(|state| format!(" {}", state.name())).unwrap_or_default();
        let fate = match describe.end.outcome {
            ProjectedOutcome::Goes => "goes".to_owned(),
            ProjectedOutcome::Stays => "stays".to_owned(),
            ProjectedOutcome::Changes { references, .. } => format!("changes, {references} left"),
        };
        format!("{fate}{state}{}", if describe.end.uncertain.is_none() { "" } else { "?" })
    }

    fn condition(&self, condition: &Condition) -> String {
        let what = match &condition.what {
            Trigger::Deleted(ids, policy) => format!("{} {}", policy.name(), self.names(ids)),
            Trigger::Forced(id) => format!("forced {}", self.snapshot.short_name(*id)),
            Trigger::Released(released) => joined(
                "",
                released.iter().map(|(id, finalizer)| {
                    format!("{} of {}", self.snapshot.text(*finalizer), self.snapshot.short_name(*id))
                }),
            ),
            Trigger::Dropped(dropped) => joined(
                "",
                dropped.iter().map(|(id, uids)| {
                    format!("{} references dropped of {}", uids.len(), self.snapshot.short_name(*id))
                }),
            ),
        };
        let then = match condition.then {
            ConditionOutcome::Loses(left) => format!("{left} left"),
            ConditionOutcome::Terminating(state) => state.name().to_owned(),
            then => then.name().to_lowercase(),
        };
        format!("{what}: {then}")
    }
}

fn joined(head: &str, parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!("{head}{}", parts.join(", ")) }
}

const ROWS: &[Row] = &[
    (
        "G4 nobody owns it",
        "
        Shop a",
        "Shop/a",
        "
        Nothing(NoOwners) (OnChange, G4)
        stays",
    ),
    (
        "§4.2 the only owner is there",
        "
        Shop a
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        Solid Would L8
        Nothing(OwnersSolid) (OnChange, D1)
        stays
        if Background Shop/a: deleted, Orphan Shop/a: 0 left",
    ),
    (
        "§4.2 two owners are there: either keeps it",
        "
        Shop a
        Shop b
        ConfigMap c <- Shop/a Shop/b!",
        "ConfigMap/c",
        "
        Solid No L8, Solid Would L8
        Nothing(OwnersSolid) (OnChange, D1)
        stays
        if Background Shop/a: 1 left, Background Shop/b: 1 left, Background Shop/a + Shop/b: deleted",
    ),
    (
        "R8.4 the owner is gone",
        "
        ConfigMap b <- Shop/gone!",
        "ConfigMap/b",
        "
        Absent NoObject L4
        Delete Background (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "L6 the owner's name is taken",
        "
        Shop a
        ConfigMap b <- Shop/a@uid=before",
        "ConfigMap/b",
        "
        OtherUid No L6
        Delete Background (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "R3.7 the owner is elsewhere",
        "
        Shop other:a
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        OtherNamespace Would R3.7
        Delete Background (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "R3.8 the owner has another name, and kind",
        "
        Shop a
        ConfigMap b <- Shop/a@name=b Shop/a@kind=Region",
        "ConfigMap/b",
        "
        OtherName No R3.8, OtherKind No R3.8
        Delete Background (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "R3.15 a list kind",
        "
        Shop a
        ConfigMap b <- Shop/a@kind=ShopList",
        "ConfigMap/b",
        "
        ListKind No R3.15
        Delete Background (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "R3.13 a version that is not served, beside an owner that is gone",
        "
        Shop a
        ConfigMap b <- Shop/a@version=acme.io/v9! Shop/gone",
        "ConfigMap/b",
        "
        NotServed Would R3.13, Absent No L4
        Nothing(Unmappable(0)) (Retried, R3.13)
        stays
        if 2 references dropped of ConfigMap/b: 0 left, Foreground Shop/a: kept",
    ),
    (
        "R8.9 the same, but no owner that is there disagrees, so that nothing queues it",
        "
        Shop a
        ConfigMap b <- Shop/gone@version=acme.io/v9! Shop/a",
        "ConfigMap/b",
        "
        NotServed NoObject R3.13, Solid No L8
        Nothing(Unmappable(0)) (OnChange, R3.13)
        stays",
    ),
    (
        "L3 a cluster-scoped object of a namespaced owner",
        "
        Shop a
        Region b <- Shop/a!",
        "Region/b",
        "
        InvalidScope Would L3
        Nothing(InvalidScope(0)) (OnChange, L3)
        stays
        if 1 references dropped of Region/b: 0 left, Foreground Shop/a: kept",
    ),
    (
        "R10.2 an owner that could not be read",
        "
        unread Shop
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        Unread NoObject R10.2
        Nothing(Unread(Some(0))) (Unknown, R10.2)
        stays?",
    ),
    (
        "R8.5 one owner is gone, another there",
        "
        Shop a
        ConfigMap b <- Shop/gone Shop/a!",
        "ConfigMap/b",
        "
        Absent No L4, Solid Would L8
        DropReferences absent-Shop-gone (Queued, R8.5)
        changes, 1 left
        if Background Shop/a: deleted",
    ),
    (
        "R4.8 a right reference and a wrong one, of one uid",
        "
        Shop a
        ConfigMap b <- Shop/a Shop/a@name=b!",
        "ConfigMap/b",
        "
        Solid No L8, OtherName Would R3.8
        DropReferences Shop-a (Queued, R4.8)
        changes, 0 left",
    ),
    (
        "§5.1 the owner waits",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!
        Secret c <- ConfigMap/b!",
        "ConfigMap/b",
        "
        Waiting Now L7
        Delete Foreground (Queued, F2)
        goes
        held up: Shop/a",
    ),
    (
        "§5.1 and it is a leaf",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        Waiting Now L7
        Delete Background (Queued, F2)
        goes
        held up: Shop/a",
    ),
    (
        "R8.10 the owner waits, and nothing blocks it",
        "
        Shop a T=0 fin=foregroundDeletion
        Secret z fin=acme.io/x <- Shop/a!
        ConfigMap b <- Shop/a",
        "ConfigMap/b",
        "
        Waiting No L7
        Delete Background (QueuedUnlessRestarted, F2)
        goes",
    ),
    (
        "R5.10 the owner waits, and so does a dependent",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!
        Secret c T=0 fin=foregroundDeletion,acme.io/x <- ConfigMap/b!",
        "ConfigMap/b",
        "
        Waiting Now L7
        Unblock (Queued, R5.10)
        goes
        held up: Shop/a",
    ),
    (
        "R4.6 the owner is terminating otherwise",
        "
        Shop a T=0 fin=acme.io/x
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        Solid Would R4.6
        Nothing(OwnersSolid) (OnChange, D1)
        stays
        if acme.io/x of Shop/a: deleted, Orphan Shop/a: 0 left",
    ),
    (
        "R4.6 and one that frees its dependents",
        "
        Shop a T=0 fin=orphan
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        Solid Would R4.6
        Nothing(OwnersSolid) (OnChange, D1)
        changes, 0 left",
    ),
    (
        "M2 its own finalizer decides how it is deleted",
        "
        ConfigMap b fin=orphan <- Shop/gone
        Secret c <- ConfigMap/b",
        "ConfigMap/b",
        "
        Absent No L4
        Delete Orphan (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "M3 and that one, too",
        "
        ConfigMap b fin=foregroundDeletion <- Shop/gone
        Secret c <- ConfigMap/b",
        "ConfigMap/b",
        "
        Absent No L4
        Delete Foreground (Queued, R8.4)
        goes
        if 1 references dropped of ConfigMap/b: 0 left",
    ),
    (
        "M4 it is going to be held",
        "
        ConfigMap b fin=acme.io/x <- Shop/gone",
        "ConfigMap/b",
        "
        Absent No L4
        Delete Background (Queued, R8.4)
        changes, 1 left stuck
        if acme.io/x of ConfigMap/b: deleted
        because ConfigMap/b stuck by acme.io/x",
    ),
    (
        "R8.3 terminating, with nothing for the collector to do",
        "
        ConfigMap b T=0 fin=acme.io/x,acme.io/y <- Shop/gone",
        "ConfigMap/b",
        "
        Absent No L4
        Nothing(OnItsWayOut) (Never, R8.3)
        stays stuck
        if acme.io/x of ConfigMap/b, acme.io/y of ConfigMap/b: deleted
        because ConfigMap/b stuck by acme.io/x, acme.io/y",
    ),
    (
        "R6.2 it frees its dependents",
        "
        Shop a T=0 fin=orphan
        ConfigMap b <- Shop/a!
        Secret c <- Shop/a",
        "Shop/a",
        "
        FreeDependents ConfigMap/b + Secret/c (Queued, R6.2)
        goes",
    ),
    (
        "R6.4 nobody is left to be freed",
        "
        Shop a T=0 fin=orphan",
        "Shop/a",
        "
        TakeFinalizer orphan (Queued, R6.4)
        goes",
    ),
    (
        "F3 nobody blocks it",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a",
        "Shop/a",
        "
        TakeFinalizer foregroundDeletion (Queued, F3)
        goes",
    ),
    (
        "F4 it waits for dependents, which go",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!
        Secret c <- Shop/a! Region/r
        Region r",
        "Shop/a",
        "
        Wait Secret/c + ConfigMap/b (Queued, F4)
        goes
        waits: >Secret/c lets go, >ConfigMap/b goes",
    ),
    (
        "R5.1 it waits for one that is held",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!
        Secret c fin=acme.io/x <- ConfigMap/b!",
        "Shop/a",
        "
        Wait ConfigMap/b (Queued, F4)
        stays stuck
        if acme.io/x of Secret/c: deleted, Background Shop/a: deleted
        waits: >ConfigMap/b stuck, >>Secret/c stuck
        because Secret/c stuck by acme.io/x",
    ),
    (
        "R5.1 and who is in the middle",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b T=0 fin=foregroundDeletion <- Shop/a!
        Secret c T=0 fin=acme.io/x <- ConfigMap/b!",
        "ConfigMap/b",
        "
        Waiting Now L7
        Wait Secret/c (Queued, F4)
        stays stuck
        if acme.io/x of Secret/c: deleted, Background ConfigMap/b: deleted
        waits: >Secret/c stuck
        because Secret/c stuck by acme.io/x
        held up: Shop/a",
    ),
    (
        "R5.1 and who is at fault",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b T=0 fin=foregroundDeletion <- Shop/a!
        Secret c T=0 fin=acme.io/x <- ConfigMap/b!",
        "Secret/c",
        "
        Waiting Now L7
        Nothing(OnItsWayOut) (Never, R8.3)
        stays stuck
        if acme.io/x of Secret/c: deleted
        because Secret/c stuck by acme.io/x
        held up: ConfigMap/b, Shop/a",
    ),
    (
        "S4 it waits for one that the collector fails on",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a! Shop/z@version=acme.io/v9",
        "Shop/a",
        "
        Wait ConfigMap/b (Queued, F4)
        stays stuck
        if 1 references dropped of ConfigMap/b: deleted, Background Shop/a: deleted
        waits: >ConfigMap/b stuck
        because ConfigMap/b stuck",
    ),
    (
        "S5 it waits for one that the collector gives up",
        "
        Shop a T=0 fin=foregroundDeletion
        Region b <- Shop/a!",
        "Shop/a",
        "
        Wait Region/b (Queued, F4)
        stays stuck
        if 1 references dropped of Region/b: deleted, Background Shop/a: deleted
        waits: >Region/b stuck
        because Region/b stuck",
    ),
    (
        "S7 it waits for one that may not be deleted",
        "
        Region r T=0 fin=foregroundDeletion
        Namespace default <- Region/r!",
        "Region/r",
        "
        Wait Namespace/default (Queued, F4)
        stays stuck
        if Background Region/r: deleted
        waits: >Namespace/default stuck
        because Namespace/default stuck",
    ),
    (
        "R5.13 it waits for itself",
        "
        Shop a T=0 fin=foregroundDeletion <- Shop/a!",
        "Shop/a",
        "
        Waiting Now L7
        Wait Shop/a (Queued, F4)
        stays stuck
        if Background Shop/a: deleted
        waits: >Shop/a stuck (above)
        because Shop/a stuck",
    ),
    (
        "R5.14 a circle of waiting, and who waits for it",
        "
        Shop o T=0 fin=foregroundDeletion
        ConfigMap a T=0 fin=foregroundDeletion <- ConfigMap/b! Shop/o!
        ConfigMap b T=0 fin=foregroundDeletion <- ConfigMap/a!",
        "Shop/o",
        "
        Wait ConfigMap/a (Queued, F4)
        stays stuck
        if Background ConfigMap/a: deleted, Background Shop/o: deleted
        waits: >ConfigMap/a stuck, >>ConfigMap/b stuck, >>>ConfigMap/a stuck (above)
        because ConfigMap/a + ConfigMap/b stuck",
    ),
    (
        "R9.7 a pod without a kubelet: the pod garbage collector deletes it",
        "
        Pod p T=30 node=gone",
        "Pod/p",
        "
        Nothing(OnItsWayOut) (Never, R8.3)
        goes",
    ),
    (
        "R1.15 a pod whose kubelet is there",
        "
        Node n
        Pod p T=30 node=n",
        "Pod/p",
        "
        Nothing(OnItsWayOut) (Never, R8.3)
        goes",
    ),
    (
        "S2 two causes: each alone is not enough",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b T=0 fin=acme.io/x <- Shop/a!
        Secret c T=0 fin=acme.io/y <- Shop/a!",
        "Shop/a",
        "
        Wait ConfigMap/b + Secret/c (Queued, F4)
        stays stuck
        if acme.io/x of ConfigMap/b: stuck, acme.io/y of Secret/c: stuck, acme.io/x of ConfigMap/b, acme.io/y of \
        Secret/c: deleted, Background Shop/a: deleted
        waits: >ConfigMap/b stuck, >Secret/c stuck
        because ConfigMap/b stuck by acme.io/x, Secret/c stuck by acme.io/y",
    ),
    (
        "R3.5 another object has its uid",
        "
        Secret a uid=twin
        Secret b uid=twin <- Shop/gone",
        "Secret/b",
        "
        Absent No L4
        Nothing(SharedUid(ObjectId(0))) (Never, R3.5)
        stays",
    ),
    (
        "R2.7 a kind that is not watched",
        "
        Hidden h <- Shop/gone!",
        "Hidden/h",
        "
        Absent NoObject L4
        Nothing(NotWatched) (Never, R2.7)
        stays",
    ),
    (
        "R5.12 a circle of owners",
        "
        ConfigMap a <- ConfigMap/b!
        ConfigMap b <- ConfigMap/a!",
        "ConfigMap/a",
        "
        Solid Would L8
        Nothing(OwnersSolid) (OnChange, D1)
        stays
        if Background ConfigMap/b: deleted, Orphan ConfigMap/b: 0 left",
    ),
    (
        "S16 a namespace that is emptied, but for what is held",
        "
        Namespace ns T
        ConfigMap b fin=acme.io/x",
        "Namespace/ns",
        "
        Nothing(OnItsWayOut) (Never, R8.3)
        stays stuck
        if acme.io/x of ConfigMap/b: deleted
        waits: >ConfigMap/b stuck
        because ConfigMap/b stuck by acme.io/x",
    ),
    (
        "R9.9 and what is in it",
        "
        Namespace ns T
        ConfigMap b fin=acme.io/x",
        "ConfigMap/b",
        "
        Nothing(NoOwners) (OnChange, G4)
        changes, 0 left stuck
        if acme.io/x of ConfigMap/b: deleted
        because ConfigMap/b stuck by acme.io/x
        held up: Namespace/ns",
    ),
    (
        "an owner that would get stuck behind it",
        "
        Shop a
        ConfigMap b fin=acme.io/x <- Shop/a!",
        "ConfigMap/b",
        "
        Solid Would L8
        Nothing(OwnersSolid) (OnChange, D1)
        stays
        if Background Shop/a: stuck, Foreground Shop/a: stuck",
    ),
    (
        "an owner that would be held, were it deleted",
        "
        Shop a fin=acme.io/x
        ConfigMap b <- Shop/a!",
        "ConfigMap/b",
        "
        Solid Would L8
        Nothing(OwnersSolid) (OnChange, D1)
        stays
        if Background Shop/a: kept",
    ),
];

#[test]
fn stories() {
    let mut wrong = Vec::new();
    for (rule, graph, name, expected) in ROWS {
        let describe = Scene::new(graph).story(name);
        let expected = expected.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        if describe != expected {
            wrong.push(format!("=== {rule}{graph}\n{name}:\n{describe}\n--- expected\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// How many random graphs to explain, object by object.
const GRAPHS: u64 = 400;

/// The parts of an explanation agree with each other, on any graph: a write changes something, a stuck object has a
/// cause, and an object that isn't stuck has no stuck cause.
#[test]
fn parts_agree() {
    let (mut writes, mut stuck) = (0, 0);
    for seed in 0..GRAPHS {
        let graph = generate::case(seed, Mix::Full).graph;
        let snapshot = scene::snapshot(&graph);
        let all: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
        for describe in explained(&snapshot, &all) {
            let of = || format!("{} of seed {seed}: {describe:?}\n{graph}", snapshot.short_name(describe.object));
            let is_stuck = describe.end.state == Some(State::Stuck);
            let overtaken = describe.end.uncertain == Some(Uncertainty::Order);
            assert!(
                !describe.next.next.writes() || describe.end.outcome != ProjectedOutcome::Stays || overtaken,
                "written, and as it was: {}",
                of()
            );
            let by_a_waiting_owner =
                describe.references.iter().any(|story| story.link.standing == ReferenceStatus::Waiting);
            assert!(!overtaken || by_a_waiting_owner, "only what a waiting owner sets off can be overtaken: {}", of());
            assert_eq!(
                is_stuck,
                describe.causes.iter().any(|cause| cause.state == State::Stuck),
                "stuck for a cause: {}",
                of()
            );
            assert!(
                describe.causes.iter().all(|cause| !cause.message.is_empty() && !cause.objects.is_empty()),
                "{}",
                of()
            );
            writes += usize::from(describe.next.next.writes());
            stuck += usize::from(is_stuck);
        }
    }
    assert!(writes > 200 && stuck > 200, "too few to tell: {writes} are written, {stuck} are stuck");
}

/// The predicted next step is what a sweep does that may write only to this object.
#[test]
fn next_is_what_a_sweep_of_one_object_does() {
    let mut describe: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..GRAPHS {
        let graph = generate::case(seed, Mix::Full).graph;
        let snapshot = scene::snapshot(&graph);
        let owner_graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &owner_graph, Assume::None);
        for (id, object) in snapshot.objects() {
            let (next, _) = Next::of(&stage, id);
            let swept = plan(&stage, &Request::only_collect(Start::Sweep).limited_to(WriteScope::new([id])));
            let outcome = swept.outcome(id).map(|outcome| (outcome.kind, outcome.after.as_ref()));
            let (word, same) = match &next {
                Next::Delete(..) | Next::Unblock => {
                    ("delete", matches!(outcome, Some((OutcomeKind::Deleted | OutcomeKind::Terminating, _))))
                }
                Next::DropReferences(uids) => {
                    // The patch also merges duplicate references.
                    let dropped = |reference: &Reference| uids.contains(&reference.uid);
                    let left: BTreeSet<_> = object.owners.iter().filter(|it| !dropped(it)).map(|it| it.uid).collect();
                    let after = outcome.and_then(|(_, after)| after);
                    (
                        "drop",
                        after
                            .is_some_and(|after| after.owners.iter().map(|it| it.uid).collect::<BTreeSet<_>>() == left),
                    )
                }
                Next::TakeFinalizer(finalizer) => (
                    "take",
                    outcome.is_some_and(|(_, after)| after.is_none_or(|after| !after.finalizers.contains(finalizer))),
                ),
                // The sweep may not write to the dependents, so nothing changes the object either; but an object that
                // owns itself is one of these dependents.
                Next::FreeDependents(dependents) | Next::WaitForDependents(dependents) => {
                    ("wait", outcome.is_none() || dependents.contains(&id))
                }
                Next::Nothing(_) => ("nothing", outcome.is_none()),
            };
            assert!(
                same,
                "seed {seed}: {} comes to {next:?}, and a sweep to {outcome:?}\n{graph}",
                snapshot.short_name(id)
            );
            *describe.entry(word).or_default() += 1;
        }
    }
    assert!(describe.len() == 5 && describe.values().all(|count| *count > 20), "too few to tell: {describe:?}");
}

/// The prediction for removed finalizers equals the prediction for the same graph without these finalizers.
#[test]
fn released_is_as_if_it_had_never_been_held() {
    let mut compared = 0;
    for seed in 0..GRAPHS {
        let graph = generate::case(seed, Mix::OrderFree).graph;
        let snapshot = scene::snapshot(&graph);
        let all: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
        for describe in explained(&snapshot, &all) {
            for condition in &describe.conditions {
                let Trigger::Released(released) = &condition.what else { continue };
                let Some(after) = without(&graph, &snapshot, released) else { continue };
                let freed = scene::snapshot(&after);
                let id = scene::id(&freed, &snapshot.short_name(describe.object));
                let end = &explained(&freed, &[id])[0].end;
                let goes = end.outcome == ProjectedOutcome::Goes;
                assert_eq!(
                    condition.then == ConditionOutcome::Goes,
                    goes,
                    "seed {seed}: {}: {condition:?}\n{graph}",
                    snapshot.short_name(describe.object)
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "too few to tell: {compared}");
}

/// The graph without these finalizers; `None` if an object would be gone without its last one, because graph text can't
/// express that.
fn without(graph: &Graph, snapshot: &Snapshot, released: &[(ObjectId, kubectl_gc::model::Symbol)]) -> Option<Graph> {
    let mut graph = graph.clone();
    for (id, finalizer) in released {
        let name = snapshot.short_name(*id);
        let line = graph.lines.iter_mut().find(|line| line.short_name() == name)?;
        line.finalizers.retain(|known| known != snapshot.text(*finalizer));
        if line.terminating && line.finalizers.is_empty() && line.grace.is_none_or(|grace| grace == 0) {
            return None;
        }
    }
    Some(graph)
}

/// Dependents may be in a list that could not be read: nothing is said to be left, or not to block any more.
#[test]
fn what_was_not_read_may_be_a_dependent() {
    for (finalizer, none) in
        [("orphan", "no dependent is left to be orphaned"), ("foregroundDeletion", "no dependent blocks it any more")]
    {
        let graph = format!("ConfigMap a T=0 fin={finalizer}");
        let said = Scene::new(&graph).explain("ConfigMap/a").next.message;
        assert_eq!(said, format!("The collector removes its {finalizer} finalizer: {none}."));
        let said = Scene::new(&format!("unread Secret\n{graph}")).explain("ConfigMap/a").next.message;
        let start =
            format!("The collector removes its {finalizer} finalizer once {none}. Dependents may be among what");
        assert!(said.starts_with(&start) && said.contains("secrets"), "{said}");
    }
}
