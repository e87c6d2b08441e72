//! What `doctor` finds in the states that the real collector left behind (`tests/engine/recorded`): it must report
//! every object that is still terminating, and almost never claim that the collector should have done more.

use std::{collections::BTreeMap, fmt::Write as _};

use rustc_hash::FxHashSet;

use gc_core::{
    doctor::{Code, Diagnosis, diagnose},
    model::{ObjectId, Snapshot},
};

use crate::{
    explain::judge,
    graphs::{
        end::Changes,
        scene,
        text::{Graph, Line},
    },
    recorded,
};

/// At most one in this many ends has something left that `doctor` says the working collector should have done.
const SELDOM: usize = 250;

/// The graph that remains after these changes.
fn left(graph: &Graph, changes: &Changes) -> Graph {
    let lines = graph.lines.iter().filter_map(|line| match changes.0.get(&line.short_name()) {
        None => Some(line.clone()),
        Some(None) => None,
        Some(Some(left)) => Some(Line {
            terminating: left.terminating,
            finalizers: left.finalizers.clone(),
            references: left.references.clone(),
            // Ends don't include grace periods, but a terminating object without finalizers is a pod in its grace
            // period.
            grace: line.grace.or((left.terminating && left.finalizers.is_empty()).then_some(30)),
            ..line.clone()
        }),
    });
    Graph { lines: lines.collect(), ..graph.clone() }
}

/// What `doctor` says about a cluster that has been in this state for a long time.
fn examined(snapshot: &Snapshot) -> Diagnosis {
    judge(snapshot, Some(10_000), diagnose)
}

#[test]
fn what_the_real_collector_left_is_explained() {
    is_explained(recorded::EVERY);
}

#[test]
#[ignore = "long: after all records"]
fn all_that_the_real_collector_left_is_explained() {
    is_explained(1);
}

/// What every so many of the records left.
fn is_explained(every: usize) {
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut ends, mut idle, mut describe) = (0, 0, String::new());
    let mut idle_told = String::new();
    for record in recorded::read(recorded::FOLDER).into_iter().step_by(every) {
        for (changes, _) in &record.ends {
            let graph = left(&record.trial.graph, changes);
            let snapshot = scene::snapshot(&graph);
            let diagnosis = examined(&snapshot);
            ends += 1;
            let mut named: FxHashSet<ObjectId> = FxHashSet::default();
            for finding in &diagnosis.findings {
                *codes.entry(finding.code.name()).or_default() += 1;
                named.extend(finding.objects.iter().chain(&finding.related));
                if finding.code == Code::CollectorIdle {
                    idle += 1;
                    let _ = writeln!(idle_told, "{record}=> {} {}\n", finding.severity.name(), finding.message);
                }
            }
            for (id, object) in snapshot.objects().filter(|(_, object)| object.terminating()) {
                if !named.contains(&id) && !object.finalizers.is_empty() {
                    let _ = writeln!(describe, "{record}nothing is said of {}\n", snapshot.short_name(id));
                }
            }
        }
    }
    println!("{ends} ends: {codes:?}");
    assert!(describe.is_empty(), "{describe}");
    // The collector ignores objects that no event leads it to (R8.8), and forgets some (R3.22).
    assert!(idle * SELDOM < ends, "{idle} of {ends}:\n{idle_told}");
}
