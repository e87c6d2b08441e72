//! What a collector may do at its start to a graph in which nothing is left to do: its workers may begin before its
//! graph has taken in all lists (R2.6).

use std::collections::BTreeSet;

use super::{
    end::{Changes, State, Written, unchanged},
    judge::{Prediction, Read},
    kinds::{KINDS, Kind},
    record::{Start, Trial},
    text::{Graph, Line},
};

/// The rule that lets a collector change so much because its graph is behind its lists; `None` if there is no such
/// rule. With everything in its graph it has nothing to do, in any order of events.
///
/// * R2.6: an owner that waits for its dependents has none as long as no list has shown them, and is let go.
/// * R3.2: a cluster-scoped object that no list has shown is a virtual node in its dependent's namespace. There, its
///   namespaced owner is looked up, which is otherwise an error (L3).
/// * G1: a terminating object that no list has shown is not known to be terminating, and is examined.
///
/// Every other change must hang together with the change of such an object.
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

/// The rule that lets a collector change this object because its graph is behind its lists.
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

/// Whether a collector that has seen everything, and examines everything, has nothing to do.
fn is_at_rest(graph: &Graph) -> bool {
    let read = Read::new(&Trial { graph: graph.clone(), start: Start::Sweep });
    let stage = read.stage();
    let prediction = Prediction::new(&stage, &Start::Sweep);
    prediction.end() == unchanged(graph) && !prediction.order_dependent()
}
