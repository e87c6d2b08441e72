//! What a starting collector may do to a graph that needs no changes: its workers may start before its graph contains
//! all lists (R2.6).

use std::collections::BTreeSet;

use super::{
    end::{Changes, State, Written, unchanged},
    judge::{Prediction, Read},
    kinds::{KINDS, Kind},
    record::{Start, Trial},
    text::{Graph, Line},
};

/// The rule that allows these changes because the collector's graph doesn't contain all lists yet; `None` if there is
/// no such rule. With a complete graph, the collector would change nothing, in any order of events.
///
/// * R2.6: an owner that waits for its dependents seems to have none until a list shows them, so the collector releases
///   it.
/// * R3.2: a cluster-scoped object that no list has shown is a virtual node in its dependent's namespace. The collector
///   then looks up its namespaced owner there, which otherwise is an error (L3).
/// * G1: the collector doesn't know yet that an object that no list has shown is terminating, and examines it.
///
/// Every other changed object must be connected to such an object through changed objects.
pub fn why_too_early(graph: &Graph, changes: &Changes) -> Option<&'static str> {
    let changed = |line: &&Line| changes.0.contains_key(&line.short_name());
    let reasons = || graph.lines.iter().filter(changed).filter_map(|line| Some((line, reason(graph, line)?)));
    let (_, rule) = reasons().next()?;
    let mut explained: BTreeSet<String> = reasons().map(|(line, _)| line.short_name()).collect();
    let connected = |line: &Line, other: &Line| names(graph, line, other) || names(graph, other, line);
    loop {
        let further = graph.lines.iter().filter(changed).filter(|line| {
            let other = |other: &&Line| explained.contains(&other.short_name());
            !explained.contains(&line.short_name())
                && graph.lines.iter().filter(other).any(|other| connected(line, other))
        });
        let further: Vec<String> = further.map(Line::short_name).collect();
        if further.is_empty() {
            break;
        }
        explained.extend(further);
    }
    (explained.len() == changes.0.len() && is_at_rest(graph)).then_some(rule)
}

/// The rule that allows the collector to change this object because its graph doesn't contain all lists yet.
fn reason(graph: &Graph, line: &Line) -> Option<&'static str> {
    let dependents = || graph.lines.iter().filter(|other| names(graph, other, line));
    let blocks = |other: &Line| {
        let owners = State::of(other, graph).owners;
        owners.iter().any(|owner| owner.uid == line.uid() && owner.block == Some(true))
    };
    let waits = line.terminating && line.finalizers.iter().any(|finalizer| finalizer == "foregroundDeletion");
    if waits && dependents().any(blocks) {
        return Some("R2.6");
    }
    if line.terminating && !line.references.is_empty() && dependents().next().is_some() {
        return Some("G1");
    }
    // R3.15
    let is_spelled = |kind: &Kind, owner: &Written| {
        let written = owner.kind.strip_suffix("List").unwrap_or(&owner.kind);
        written == kind.name || owner.kind == kind.name.to_lowercase()
    };
    let is_namespaced = |owner: &Written| KINDS.iter().any(|kind| kind.namespaced && is_spelled(kind, owner));
    let owned_in_a_namespace = State::of(line, graph).owners.iter().any(is_namespaced);
    let taken_for_namespaced = !line.kind.namespaced && dependents().any(|other| other.kind.namespaced);
    (taken_for_namespaced && owned_in_a_namespace).then_some("R3.2")
}

/// Whether an object names another as its owner.
fn names(graph: &Graph, line: &Line, owner: &Line) -> bool {
    State::of(line, graph).owners.iter().any(|named| named.uid == owner.uid())
}

/// Whether a collector with a complete graph that examines everything changes nothing.
fn is_at_rest(graph: &Graph) -> bool {
    let read = Read::new(&Trial { graph: graph.clone(), start: Start::Sweep });
    let stage = read.stage();
    let prediction = Prediction::new(&stage, &Start::Sweep);
    prediction.end() == unchanged(graph) && !prediction.order_dependent()
}
