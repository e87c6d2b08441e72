//! What a collector does when it starts on a state, and what a sweep does, without any delete (§8 and §8.1).

use kubectl_gc::{
    graph::OwnerGraph,
    model::ObjectId,
    plan::{Plan, explore},
    simulate::{
        Assume, Request, SimContext,
        Start::{self, Restarted, Sweep},
        WriteScope,
    },
};

use crate::scene::Scene;

/// A rule, a graph, the starts with this result, and the outcome of every object; `A/B` if either is possible.
type Row = (&'static str, &'static str, &'static [Start], &'static str);

const BOTH: &[Start] = &[Restarted, Sweep];

const ROWS: &[Row] = &[
    (
        "R8.4, L4 an owner that is gone",
        "
        ConfigMap b <- Shop/a!
        Secret c <- ConfigMap/b!",
        BOTH,
        "ConfigMap/b Deleted, Secret/c Deleted",
    ),
    (
        "R8.5 one owner that is gone and one that is there",
        "
        Shop a
        ConfigMap b <- Shop/gone! Shop/a!",
        BOTH,
        "ConfigMap/b Detached",
    ),
    (
        "R3.8 an owner with another name",
        "
        Shop a
        ConfigMap b <- Shop/a@name=b!",
        BOTH,
        "ConfigMap/b Deleted",
    ),
    (
        "R3.7 an owner in another namespace",
        "
        Shop other:a
        ConfigMap b <- Shop/a!",
        BOTH,
        "ConfigMap/b Deleted",
    ),
    (
        "R3.14, R3.6, L8 an owner in another served version",
        "
        Shop a
        ConfigMap b <- Shop/a@version=acme.io/v1alpha1!",
        BOTH,
        "",
    ),
    (
        "R3.13, L2, G5 a version that is not served, beside an owner that is gone",
        "
        Shop a
        ConfigMap b <- Shop/a@version=acme.io/v9! Shop/gone",
        BOTH,
        "",
    ),
    (
        "R5.12 cycles and self-owners live on",
        "
        Shop a <- ConfigMap/b!
        ConfigMap b <- Shop/a!
        Secret c <- Secret/c!",
        BOTH,
        "",
    ),
    (
        "R8.2 an owner that waits for its dependents",
        "
        Shop a T=0 fin=foregroundDeletion
        ConfigMap b <- Shop/a!",
        BOTH,
        "Shop/a Deleted, ConfigMap/b Deleted",
    ),
    (
        "R8.1, R8.12 an owner that orphans",
        "
        Shop a T=0 fin=orphan
        ConfigMap b <- Shop/a!",
        &[Sweep],
        "Shop/a Deleted, ConfigMap/b Orphaned",
    ),
    (
        "R6.6 an owner that orphans, whose dependents may not be in the graph yet",
        "
        Shop a T=0 fin=orphan
        ConfigMap b <- Shop/a!",
        &[Restarted],
        "Shop/a Deleted, ConfigMap/b Orphaned/Deleted",
    ),
    (
        "R8.3 a terminating object, whatever its references",
        "
        ConfigMap b T=0 fin=acme.io/x <- Shop/gone!",
        BOTH,
        "",
    ),
    (
        "R8.10 a dependent that doesn't block, seen before or after the stuck owner",
        "
        Secret a T=0 fin=foregroundDeletion
        Secret b fin=acme.io/x <- Secret/a!
        Secret c <- Secret/a",
        &[Restarted],
        "Secret/a Unchanged/Deleted, Secret/b Terminating(acme.io/x), Secret/c Unchanged/Deleted",
    ),
    (
        "R8.10 and what a sweep makes of it",
        "
        Secret a T=0 fin=foregroundDeletion
        Secret b fin=acme.io/x <- Secret/a!
        Secret c <- Secret/a",
        &[Sweep],
        "Secret/b Terminating(acme.io/x), Secret/c Deleted",
    ),
    (
        "R8.10 between kinds, the order of the first lists is anybody's",
        "
        Shop a T=0 fin=foregroundDeletion
        Secret b fin=acme.io/x <- Shop/a!
        ConfigMap c <- Shop/a",
        &[Restarted],
        "Shop/a Unchanged/Deleted, Secret/b Terminating(acme.io/x), ConfigMap/c Deleted/Unchanged",
    ),
    (
        "R8.10 a dependent whose name sorts before its owner's",
        "
        Secret b T=0 fin=foregroundDeletion
        Secret c fin=acme.io/x <- Secret/b!
        Secret a <- Secret/b",
        &[Restarted],
        "Secret/b Unchanged/Deleted, Secret/c Terminating(acme.io/x), Secret/a Deleted/Unchanged",
    ),
    (
        "R3.18 an owner that is gone, and called by two names",
        "
        ConfigMap a <- Shop/gone!
        ConfigMap b <- Shop/gone@name=lost!",
        BOTH,
        "ConfigMap/a Deleted, ConfigMap/b Deleted",
    ),
    (
        "R3.9, R3.19 an absent owner of no namespace, named by objects of two namespaces and of none",
        "
        ConfigMap b <- Region/gone!
        ConfigMap other:c <- Region/gone!
        ClusterRole d <- Region/gone!",
        BOTH,
        "ConfigMap/b Deleted, ConfigMap/c Deleted, ClusterRole/d Deleted",
    ),
    (
        "R3.20 an owner that is there, and called by a name that nothing has",
        "
        Shop a
        ConfigMap b <- Shop/a@name=lost!
        ConfigMap c <- Shop/a!",
        BOTH,
        "ConfigMap/b Deleted",
    ),
    (
        "R5.7 a foreground finalizer on an object that is not terminating",
        "
        Shop a fin=foregroundDeletion
        ConfigMap b <- Shop/a!",
        BOTH,
        "",
    ),
    (
        "R1.15 a pod in its grace period blocks",
        "
        Shop a T=0 fin=foregroundDeletion
        Pod p T=30 node=n1 <- Shop/a!",
        &[Sweep],
        "",
    ),
    (
        "R5.1 a blocking dependent that is not in the graph yet when its owner is looked at",
        "
        Shop a T=0 fin=foregroundDeletion
        Pod p T=30 node=n1 <- Shop/a!",
        &[Restarted],
        "Shop/a Unchanged/Deleted",
    ),
    (
        "M14 orphaned before it is looked at, or after; found by random graphs",
        "
        Pod a <- Region/b! ConfigMap/gone!
        Region b fin=orphan <- Region/gone!",
        BOTH,
        "Pod/a Orphaned/Deleted, Region/b Deleted",
    ),
    (
        "R3.2 a cluster-scoped object that no list has shown yet is taken to be in its dependent's namespace; found by \
            random graphs",
        "
        ClusterRole a <- ConfigMap/gone!
        Secret b <- ClusterRole/a!",
        &[Restarted],
        "ClusterRole/a Unchanged/Deleted, Secret/b Unchanged/Deleted",
    ),
    (
        "R3.2 in a sweep, the lists have shown it before",
        "
        ClusterRole a <- ConfigMap/gone!
        Secret b <- ClusterRole/a!",
        &[Sweep],
        "",
    ),
    (
        "R3.2 with two references, and a finalizer (full 95)",
        "
        ClusterRole a fin=acme.io/x <- ConfigMap/gone! ConfigMap/gone@uid=other~
        Secret b <- ClusterRole/a! ConfigMap/gone!",
        &[Restarted],
        "ClusterRole/a Unchanged/Terminating, Secret/b Detached",
    ),
    (
        "R3.2 its owner is in the namespace of that dependent",
        "
        ConfigMap o
        ClusterRole a <- ConfigMap/o!
        Secret b <- ClusterRole/a!",
        &[Restarted],
        "",
    ),
    (
        "R3.2 its owner is in the namespace of another dependent: the first that is seen decides",
        "
        ConfigMap o
        ClusterRole a <- ConfigMap/o!
        Secret b <- ClusterRole/a!
        Secret other:c <- ClusterRole/a!",
        &[Restarted],
        "ClusterRole/a Unchanged/Deleted, Secret/b Unchanged/Deleted, Secret/c Unchanged/Deleted",
    ),
    (
        "R3.2 its dependents are cluster-scoped",
        "
        ClusterRole a <- ConfigMap/gone!
        Region b <- ClusterRole/a!",
        &[Restarted],
        "",
    ),
    (
        "R3.10 a sweep sees that one of two references of one uid is gone: an owner may be let go early (full 1014)",
        "
        Secret a T fin=acme.io/x,foregroundDeletion
        Secret b T fin=foregroundDeletion <- Secret/a! Secret/a~ ReplicaSet/c!
        ReplicaSet c <- Secret/b Secret/a! Secret/a~",
        &[Sweep],
        "Secret/a Terminating(acme.io/x), Secret/b Deleted, ReplicaSet/c Deleted/Detached",
    ),
    (
        "R2.6 an owner is let go before its dependents are in the graph, while another owner still waits; R3.22, G1 or \
            it is forgotten, because a dependent that no list has shown is stripped although it is terminating",
        "
        Secret a T fin=acme.io/x,foregroundDeletion
        Secret b T fin=foregroundDeletion <- Secret/a! Secret/a~ ReplicaSet/c!
        ReplicaSet c <- Secret/b Secret/a! Secret/a~",
        &[Restarted],
        "Secret/a Terminating(acme.io/x)/Unchanged, Secret/b Deleted, ReplicaSet/c Deleted/Detached/Detached/Orphaned",
    ),
    (
        "G1 a terminating object that no list has shown is examined, and deleted in the foreground for an owner that \
            waits (full 3079)",
        "
        ConfigMap a fin=foregroundDeletion <- ConfigMap/gone~
        Shop b T fin=acme.io/x <- ConfigMap/a!
        Secret c fin=acme.io/y <- Shop/b",
        &[Restarted],
        "ConfigMap/a Terminating(foregroundDeletion)/Deleted, Secret/c Unchanged/Terminating",
    ),
    (
        "R2.6 the lists of two kinds come late (full 3037)",
        "
        ReplicaSet a T fin=acme.io/x,foregroundDeletion
        Shop b <- ReplicaSet/a!
        ClusterRole c fin=acme.io/x <- Shop/b!
        Region d <- Shop/b! ClusterRole/c",
        &[Restarted],
        "ReplicaSet/a Unchanged/Terminating, Shop/b Terminating(foregroundDeletion)/Deleted/Unchanged",
    ),
    (
        "R3.23 an owner that a list shows after its virtual node is gone has forgotten its dependents (full 3077)",
        "
        Secret other:a <- ConfigMap/gone
        Deployment b fin=foregroundDeletion,acme.io/x <- Secret/a~
        Secret c <- Deployment/b!
        Shop d fin=acme.io/x <- Deployment/b!",
        &[Restarted],
        "Secret/a Deleted, Deployment/b Terminating(foregroundDeletion acme.io/x)/Terminating, \
            Secret/c Deleted/Unchanged, Shop/d Terminating(acme.io/x)/Unchanged",
    ),
    (
        "R8.10 a list that comes late shows an owner that waits already, before its dependent (full 3077)",
        "
        Deployment a fin=foregroundDeletion <- Shop/gone
        Deployment b <- Deployment/a
        Secret c fin=acme.io/x <- Deployment/a!",
        &[Restarted],
        "Deployment/a Terminating(foregroundDeletion)/Deleted, Deployment/b Deleted/Unchanged, \
            Secret/c Terminating(acme.io/x)",
    ),
    (
        "R3.4 a worker that began with a virtual node in another namespace finds nothing there, and deletes nothing \
            here",
        "
        ConfigMap other:o
        Pod other:a <- ConfigMap/o
        Secret b <- Pod/a!",
        &[Restarted],
        "Secret/b Deleted",
    ),
    (
        "R3.2 one of two owners is there: the other reference goes",
        "
        ConfigMap o
        ClusterRole a <- ConfigMap/o! ConfigMap/gone!
        Secret b <- ClusterRole/a!",
        &[Restarted],
        "ClusterRole/a Unchanged/Detached",
    ),
    (
        "R3.2 but not where references are dropped by a merge of the whole list: that is read from where the object \
            isn't",
        "
        ConfigMap o
        Region a <- ConfigMap/o! ConfigMap/gone!
        Secret b <- Region/a!",
        &[Restarted],
        "",
    ),
    (
        "R3.13 an owner that isn't served stops this look, too",
        "
        ClusterRole a <- ConfigMap/gone! ConfigMap/gone@version=v9
        Secret b <- ClusterRole/a!",
        &[Restarted],
        "",
    ),
];

#[test]
fn every_start_has_its_end() {
    let mut wrong: Vec<String> = Vec::new();
    for (rule, graph, starts, expected) in ROWS {
        for start in *starts {
            let describe = Scene::new(graph).tell_start(*start);
            if describe != *expected {
                wrong.push(format!("{start:?}, {rule}\n  expected {expected}\n  but got  {describe}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}

/// A rule, a graph, what a sweep may write to (`Kind/name`, or a namespace), the outcome of every object, and the
/// objects that the sweep examines but leaves unchanged: their state, and what they wait for.
type Limited = (&'static str, &'static str, &'static str, &'static str, &'static str);

const LIMITED: &[Limited] = &[
    (
        "what is outside is not examined",
        "
        ConfigMap b <- Shop/gone!
        ConfigMap other:c <- Shop/gone2!",
        "ns",
        "ConfigMap/b Deleted",
        "",
    ),
    (
        "what is outside decides as ever",
        "
        Region a T=0 fin=foregroundDeletion
        Region z
        ConfigMap b <- Region/a!
        ConfigMap c <- Region/a! Region/z",
        "ns",
        "ConfigMap/b Deleted, ConfigMap/c Detached",
        "",
    ),
    (
        "what hangs on a write outside doesn't come",
        "
        ConfigMap a <- Shop/gone
        Secret b <- ConfigMap/a
        Pod p <- Secret/b",
        "Secret/b Pod/p",
        "",
        "",
    ),
    (
        "R5.1 an owner inside waits for a dependent outside, which nobody deletes",
        "
        Region a T=0 fin=foregroundDeletion
        ConfigMap b <- Region/a!
        ConfigMap other:c <- Region/a!",
        "Region/a ConfigMap/b",
        "ConfigMap/b Deleted",
        "Region/a stuck: ConfigMap/c",
    ),
    (
        "R5.1 so does it for a running pod, which nobody deletes either",
        "
        Shop a T=0 fin=foregroundDeletion
        Pod p node=n1 <- Shop/a!",
        "Shop/a",
        "",
        "Shop/a stuck: Pod/p",
    ),
    (
        "R5.2 a dependent outside that doesn't block is no reason to wait",
        "
        Region a T=0 fin=foregroundDeletion
        ConfigMap other:c <- Region/a",
        "Region/a",
        "Region/a Deleted",
        "",
    ),
    (
        "R6.3 an owner inside frees what is inside, and stays for what is not",
        "
        Region a T=0 fin=orphan
        ConfigMap b <- Region/a!
        ConfigMap other:c <- Region/a",
        "Region/a ConfigMap/b",
        "ConfigMap/b Orphaned",
        "Region/a stuck: ConfigMap/c",
    ),
    (
        "R4.6 an owner outside that orphans is solid, and nobody is freed from it",
        "
        Region a T=0 fin=orphan
        ConfigMap b <- Region/a!",
        "ns",
        "",
        "",
    ),
    (
        "R8.2 an owner outside that has nothing to wait for any more keeps its finalizer",
        "
        Region a T=0 fin=foregroundDeletion
        ConfigMap b <- Region/a!",
        "ns",
        "ConfigMap/b Deleted",
        "",
    ),
    (
        "R5.10 a cycle that leads outside",
        "
        Shop a T=0 fin=foregroundDeletion <- Secret/c!
        ConfigMap b <- Shop/a!
        Secret c <- ConfigMap/b!",
        "Shop/a ConfigMap/b",
        "ConfigMap/b Terminating(foregroundDeletion)",
        "Shop/a stuck: ConfigMap/b",
    ),
];

/// The plan of a sweep that may write only to these objects.
fn limited(scene: &Scene, only: &str) -> Plan {
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let inside: Vec<ObjectId> = match only.contains('/') {
        true => only.split_whitespace().map(|name| scene.id(name)).collect(),
        false => in_namespace(scene, only),
    };
    explore(&stage, &Request::only_collect(Sweep).limited_to(WriteScope::new(inside)))
}

fn in_namespace(scene: &Scene, namespace: &str) -> Vec<ObjectId> {
    let objects = scene.snapshot.objects();
    objects.filter(|(_, object)| scene.snapshot.text(object.namespace) == namespace).map(|(id, _)| id).collect()
}

fn what_stays(scene: &Scene, plan: &Plan) -> String {
    let describe = plan.stays.iter().map(|stays| {
        let waits_for: Vec<String> = stays.waits_for.iter().map(|other| scene.snapshot.short_name(*other)).collect();
        let state = stays.state.map_or("no state", |state| state.name());
        format!("{} {state}: {}", scene.snapshot.short_name(stays.object), waits_for.join(" "))
    });
    describe.collect::<Vec<_>>().join(", ")
}

#[test]
fn a_sweep_keeps_within_its_limits() {
    let mut wrong: Vec<String> = Vec::new();
    for (rule, graph, only, outcomes, stays) in LIMITED {
        let scene = Scene::new(graph);
        let plan = limited(&scene, only);
        let describe = (scene.describe(&plan), what_stays(&scene, &plan));
        if describe != ((*outcomes).to_owned(), (*stays).to_owned()) {
            wrong.push(format!("{rule}\n  expected {outcomes:?}, {stays:?}\n  but got  {describe:?}"));
        }
        assert_eq!(plan.stuck(), stays.contains("stuck") || outcomes.contains("Terminating"), "{rule}");
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), LIMITED.len(), wrong.join("\n"));
}

/// A sweep limited to all objects equals an unlimited one.
#[test]
fn a_limit_of_everything_is_none() {
    for (rule, graph, ..) in ROWS {
        let scene = Scene::new(graph);
        let all: Vec<String> = scene.snapshot.objects().map(|(id, _)| scene.snapshot.short_name(id)).collect();
        assert_eq!(scene.describe(&limited(&scene, &all.join(" "))), scene.tell_start(Sweep), "{rule}");
    }
}

/// A sweep of one namespace has the same effect there as a full sweep, unless an object outside has to be changed
/// first.
#[test]
fn a_sweep_of_a_namespace_does_there_what_a_whole_one_does() {
    let by_itself = |scene: &Scene| in_namespace(scene, "ns").len() == scene.snapshot.len();
    let rows: Vec<_> = ROWS.iter().filter(|(_, graph, ..)| by_itself(&Scene::new(graph))).collect();
    assert!(rows.len() > 10, "{} rows", rows.len());
    for (rule, graph, ..) in rows {
        let whole = Scene::new(graph).tell_start(Sweep);
        let beside = Scene::new(&format!("{graph}\nConfigMap other:x <- Shop/gone\nShop other:y T=0 fin=orphan"));
        assert_eq!(beside.describe(&limited(&beside, "ns")), whole, "{rule}");
        assert_ne!(beside.tell_start(Sweep), whole, "{rule}: there is something to do outside");
    }
}

/// A sweep reports objects that it examines and cannot finish, even if it changes none of them.
#[test]
fn what_a_sweep_cannot_finish_is_told() {
    for (rule, graph, stays) in [
        (
            "S2 a blocking dependent with a finalizer of somebody else's",
            "
            Shop a T=0 fin=foregroundDeletion
            ConfigMap b T=0 fin=acme.io/x <- Shop/a!",
            "Shop/a stuck: ConfigMap/b",
        ),
        (
            "S4 a blocking dependent that nobody can examine",
            "
            Shop a T=0 fin=foregroundDeletion
            ConfigMap b <- Shop/a! Shop/c@version=acme.io/v9",
            "Shop/a stuck: ConfigMap/b",
        ),
        ("S6 an object that waits for itself", "Shop a T=0 fin=foregroundDeletion <- Shop/a!", "Shop/a stuck: Shop/a"),
        (
            "S13 R9.7 a pod that no kubelet ends, but the pod garbage collector",
            "
            Shop a T=0 fin=foregroundDeletion
            Pod p T=30 node=n1 <- Shop/a!",
            "",
        ),
        ("S1 a finalizer of somebody else's is nothing that the collector takes up", "Shop a T=0 fin=acme.io/x", ""),
        ("S10 nor is what it doesn't watch", "Hidden a T=0 fin=foregroundDeletion", ""),
    ] {
        let scene = Scene::new(graph);
        let all: Vec<String> = scene.snapshot.objects().map(|(id, _)| scene.snapshot.short_name(id)).collect();
        let plan = limited(&scene, &all.join(" "));
        assert_eq!(what_stays(&scene, &plan), stays, "{rule}");
        assert_eq!(plan.stuck(), !stays.is_empty(), "{rule}");
    }
}

/// One sweep of a cluster with many unconnected graphs: each is searched alone, whatever happens to the others, and
/// none is left uncertain because of their number.
#[test]
fn parts_that_have_nothing_to_do_with_each_other_are_searched_alone() {
    let mut graph = String::new();
    for number in 0..600 {
        // M14, R8.11: whether c is examined before or after a's orphaning frees it decides its end.
        graph += &format!("Shop a{number} T=0 fin=orphan\nConfigMap c{number} <- Shop/a{number}! Shop/gone{number}!\n");
    }
    let describe = Scene::new(&graph).tell_start(Sweep);
    assert_eq!(
        describe.matches("Deleted/Orphaned").count() + describe.matches("Orphaned/Deleted").count(),
        600,
        "{}",
        &describe[..200]
    );
    assert!(!describe.contains('?'), "nothing is unknown");
}
