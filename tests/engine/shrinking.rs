//! Tests shrinking with a check that only looks at the graph, so that the smallest case is known.

use gc_core::server::Propagation::{Background, Foreground};

use crate::graphs::{
    generate::{Case, Delete, Mix, case},
    shrink::shrink,
    text::Graph,
};

fn deletes(target: &str) -> Delete {
    Delete { wanted: vec![target.to_owned()], most_targets: 1, propagation: Foreground }
}

/// Whether the case deletes an owner of an object with an orphan finalizer.
fn owner_of_held_is_deleted(case: &Case) -> bool {
    let targets: Vec<&String> =
        case.rounds.iter().flat_map(|round| round.wanted.iter().take(round.most_targets)).collect();
    case.graph.lines.iter().any(|line| {
        line.finalizers.iter().any(|finalizer| finalizer == "orphan")
            && line
                .references
                .iter()
                .any(|owner| targets.iter().any(|target| **target == format!("{}/{}", owner.kind, owner.name)))
    })
}

#[test]
fn everything_that_does_not_matter_is_left_out() {
    let graph = Graph::parse(
        "
        Shop a T by=Foreground fin=acme.io/x
        ConfigMap other:b fin=acme.io/x,orphan <- Secret/s! Shop/a@version=acme.io/v1alpha1@uid=Shop-a+! Pod/s~
        Secret s <- Shop/a!
        Pod p node=n1 <- ConfigMap/b Secret/s",
    );
    let first = Delete { propagation: Background, ..deletes("Secret/s") };
    let last = Delete { wanted: vec!["Shop/a".to_owned(), "Pod/p".to_owned()], most_targets: 2, ..deletes("") };
    let shrunk = shrink(Case { graph, rounds: vec![first, last] }, 100, |cases| {
        cases.iter().map(owner_of_held_is_deleted).collect()
    });
    assert!(shrunk.smallest);
    assert_eq!(shrunk.case.graph.to_string(), "Shop a\nConfigMap b fin=orphan <- Shop/a\n");
    assert_eq!(shrunk.case.rounds, vec![Delete { most_targets: 2, ..deletes("Shop/a") }]);
}

#[test]
fn random_cases_come_down_to_two_objects_in_a_few_batches() {
    let failing: Vec<Case> = (0..400).map(|seed| case(seed, Mix::Full)).filter(owner_of_held_is_deleted).collect();
    assert!(failing.len() > 20, "{} cases", failing.len());
    for case in failing {
        let shrunk = shrink(case.clone(), 40, |cases| cases.iter().map(owner_of_held_is_deleted).collect());
        assert!(shrunk.smallest && shrunk.batches <= 12, "{} batches for\n{}", shrunk.batches, case.graph);
        let references: usize = shrunk.case.graph.lines.iter().map(|line| line.references.len()).sum();
        // An object that owns itself needs no other owner.
        assert!(shrunk.case.graph.lines.len() <= 2 && references == 1, "{}", shrunk.case.graph);
        assert_eq!(shrunk.case.rounds.len(), 1, "{:?}", shrunk.case.rounds);
    }
}

#[test]
fn too_many_batches_leave_a_case_that_still_fails() {
    let failing = (0..400).map(|seed| case(seed, Mix::Full)).find(owner_of_held_is_deleted).expect("one of them");
    let mut asked = 0;
    let shrunk = shrink(failing, 3, |cases| {
        asked += 1;
        cases.iter().map(owner_of_held_is_deleted).collect()
    });
    assert_eq!((shrunk.batches, asked, shrunk.smallest), (3, 3, false));
    assert!(owner_of_held_is_deleted(&shrunk.case));
}

/// Either of two finalizers is enough: each can be left out, but not both.
#[test]
fn what_can_be_left_out_one_at_a_time_is_not_left_out_together() {
    let graph = Graph::parse("Shop a fin=acme.io/x,acme.io/y");
    let case = Case { graph, rounds: vec![deletes("Shop/a")] };
    let fails = |case: &Case| case.graph.lines.first().is_some_and(|line| !line.finalizers.is_empty());
    let shrunk = shrink(case, 100, |cases| cases.iter().map(fails).collect());
    assert!(shrunk.smallest);
    assert_eq!(shrunk.case.graph.lines[0].finalizers.len(), 1);
}
