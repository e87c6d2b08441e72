//! The sections below the lines of a plan: what is lost, what comes then, its assumptions, the results of other
//! policies.

use crate::render::{
    lines::Line,
    sections::{Heading, Said, Sections},
    style::Tone,
};
use gc_core::{
    plan::Summary,
    server::Propagation,
    simulate::Assumption,
    wording::{count, thousands},
};

use super::{
    PlanView, effects,
    forbidden::{describe_gate, describe_obstacle},
    kept::{describe_claims, describe_kept},
    next::what_next,
    verdict::{further_doubts, then},
};

/// The width of a policy's name.
const POLICY: usize = "background".len();
/// At most this many nodes are named, or one more if that is all.
const NAMED_NODES: usize = 2;

/// All that is said below the lines, or without `wide` only what this delete differs in from others.
pub(super) fn sections(view: &PlanView<'_>, fold: bool, wide: bool) -> Sections {
    let mut sections = Sections::default();
    sections.add(Heading::Why, view.gates.iter().map(|violation| describe_gate(view.snapshot, violation)));
    sections.add(Heading::Why, view.plan.obstacles.iter().map(|obstacle| describe_obstacle(view, obstacle)));
    sections.add(Heading::Lost, effects::lost(view, fold));
    sections.add(Heading::Then, then(view, wide));
    if view.plan.then.is_none() {
        // The lines above say what is deleted later, where others can do what it waits for.
        sections.add(Heading::Then, effects::spared(view));
    }
    sections.add(Heading::Then, effects::afterwards(view));
    sections.add(Heading::Note, describe_kept(view));
    sections.add(Heading::Note, further_doubts(view));
    sections.add(Heading::Note, effects::perhaps_lost(view, fold));
    sections.add(Heading::Note, describe_claims(view, wide));
    sections.add(Heading::Note, effects::notes(view));
    sections.add(Heading::Note, assumes(view, |assumption| !assumption.is_usual()));
    if wide {
        sections.add(Heading::Note, effects::also(view));
        sections.add(Heading::Note, effects::kept_outside(view, fold));
        sections.add(Heading::Note, assumes(view, Assumption::is_usual));
        sections.add(Heading::Note, other_policies(view));
    }
    sections.add(Heading::Next, what_next(view));
    sections
}

/// What the other policies would do.
fn other_policies(view: &PlanView<'_>) -> Option<Said> {
    let name = |(propagation, _): &(Propagation, Summary)| propagation.name().to_lowercase();
    let same = view.instead.iter().all(|(_, summary)| *summary == view.plan.summary);
    match what_is_in_it(view) {
        _ if view.instead.is_empty() || same && view.plan.outcomes.is_empty() => None,
        Some(what) if same => {
            let policies: Vec<String> = view.instead.iter().map(name).collect();
            Some(Said::Text(format!("{} give the same result for {what}", policies.join(" and "))))
        }
        _ => {
            let line = |policy: &(Propagation, Summary)| {
                Line::new(&format!("{:<POLICY$}", name(policy))).remarked(Tone::Plain, [in_short(policy.1)])
            };
            Some(Said::Lines("other policies:".to_owned(), view.instead.iter().map(line).collect()))
        }
    }
}

/// What is deleted under every policy, if nothing else is deleted (R1.25, R1.26).
pub(super) fn what_is_in_it(view: &PlanView<'_>) -> Option<&'static str> {
    let mut kinds = view.plan.request.targets.iter().map(|target| {
        let resource = view.snapshot.resource(*target);
        (resource.group.as_str(), resource.kind.as_str())
    });
    let first = kinds.next().filter(|_| !view.plan.outcomes.is_empty())?;
    match first {
        _ if kinds.any(|kind| kind != first) => None,
        ("", "Namespace") => Some("a namespace"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some("a CRD and its instances"),
        _ => None,
    }
}

/// What the plan assumes about controllers and kubelets, of what is `wanted`; all kubelets are in one line.
fn assumes(view: &PlanView<'_>, wanted: fn(&Assumption) -> bool) -> Vec<String> {
    let mut nodes: Vec<&str> = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    let told = view.plan.assumptions.iter().filter(|assumption| wanted(assumption) && !assumption.is_told_of_objects());
    for assumption in told {
        match assumption {
            Assumption::Kubelet { node } => nodes.push(node),
            other => lines.push(other.to_string()),
        }
    }
    let kubelets = match nodes.as_slice() {
        [] => None,
        [one] => Some(format!("the kubelet on node {one} ends its pods after their grace period")),
        [some @ .., last] if some.len() <= NAMED_NODES => Some(format!(
            "the kubelets on nodes {} and {last} end their pods after their grace period",
            some.join(", ")
        )),
        many => Some(format!("the kubelets on {} nodes end their pods after their grace period", many.len())),
    };
    kubelets.into_iter().chain(lines).map(|line| format!("assumed: {line}")).collect()
}

/// A summary in half a line.
pub(super) fn in_short(summary: Summary) -> String {
    let more = [
        (summary.stuck, "stuck", "stuck"),
        (summary.terminating - summary.stuck, "waits", "wait"),
        (summary.orphaned + summary.detached + summary.unblocked, "kept", "kept"),
        (summary.later, "later", "later"),
        (summary.recreated, "comes back", "come back"),
    ];
    let more = more.into_iter().filter(|(number, ..)| *number > 0);
    let more = more.map(|(number, one, many)| format!(", {}", count(number, one, many)));
    format!("{} deleted{}", thousands(summary.deleted), more.collect::<String>())
}
