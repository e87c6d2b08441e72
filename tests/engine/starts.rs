//! What a collector does that comes up on a state, and what a sweep does, with no delete at all (sections 8 and 8.1).

use kubectl_gc::foretell::Start::{self, Restarted, Sweep};

use crate::scene::Scene;

/// A rule, a graph, the starts that come to this, and what becomes of every object; `A/B` where it may be either.
type Row = (&'static str, &'static str, &'static [Start], &'static str);

const BOTH: &[Start] = &[Restarted, Sweep];

const ROWS: &[Row] = &[
    (
        "R8.4 an owner that is gone",
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
        "R3.14 an owner in another served version",
        "
        Shop a
        ConfigMap b <- Shop/a@version=acme.io/v1alpha1!",
        BOTH,
        "",
    ),
    (
        "R3.13 a version that is not served, beside an owner that is gone",
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
        "R8.1 an owner that orphans",
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
        "Secret/b Terminating(acme.io/x), Secret/c Unchanged/Deleted",
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
        "Secret/b Terminating(acme.io/x), ConfigMap/c Deleted/Unchanged",
    ),
    (
        "R8.10 a dependent whose name sorts before its owner's",
        "
        Secret b T=0 fin=foregroundDeletion
        Secret c fin=acme.io/x <- Secret/b!
        Secret a <- Secret/b",
        &[Restarted],
        "Secret/c Terminating(acme.io/x), Secret/a Deleted/Unchanged",
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
        "R1.15 a pod in its grace period blocks",
        "
        Shop a T=0 fin=foregroundDeletion
        Pod p T=30 node=n1 <- Shop/a!",
        BOTH,
        "",
    ),
];

#[test]
fn every_start_has_its_end() {
    let mut wrong: Vec<String> = Vec::new();
    for (rule, graph, starts, expected) in ROWS {
        for start in *starts {
            let told = Scene::new(graph).tell_start(*start);
            if told != *expected {
                wrong.push(format!("{start:?}, {rule}\n  expected {expected}\n  but got  {told}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), ROWS.len(), wrong.join("\n"));
}
