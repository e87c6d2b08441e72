//! One outcome in a word and a remark.

use crate::{
    foretell::{Cause, Holder, Outcome, OutcomeKind, State},
    model::{ObjectId, facts::PodFacts},
};

use super::{PlanView, because::because, document::holder_name};
use crate::render::style::Tone;

/// So many objects that are waited for are named.
const NAMED_BLOCKERS: usize = 2;

/// What becomes of an object, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Word {
    Stuck,
    /// Terminating, and what decides it is not known.
    Unclear,
    /// Terminating, and somebody will finish it.
    Waits,
    Gone,
    Stays,
    /// Nothing happened in what was played, but could.
    Unsure,
}

impl Word {
    /// As it is printed.
    pub fn text(self) -> &'static str {
        match self {
            Word::Stuck => "STUCK",
            Word::Unclear => "UNCLEAR",
            Word::Waits => "waits",
            Word::Gone => "gone",
            Word::Stays => "stays",
            Word::Unsure => "unsure",
        }
    }

    /// How it looks.
    pub fn tone(self) -> Tone {
        match self {
            Word::Stuck => Tone::Error,
            Word::Unclear | Word::Waits | Word::Unsure => Tone::Warning,
            Word::Gone => Tone::Plain,
            Word::Stays => Tone::Good,
        }
    }
}

/// The word for an outcome.
pub fn word(outcome: &Outcome) -> Word {
    match (outcome.kind, outcome.state) {
        (OutcomeKind::Deleted, _) => Word::Gone,
        (OutcomeKind::Terminating, Some(State::Waiting)) => Word::Waits,
        (OutcomeKind::Terminating, Some(State::Unknown)) => Word::Unclear,
        (OutcomeKind::Terminating, _) => Word::Stuck,
        (OutcomeKind::Unchanged, _) => Word::Unsure,
        (OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked, _) => Word::Stays,
    }
}

/// The remark on an outcome; empty where the word says it all.
pub fn detail(view: &PlanView<'_>, outcome: &Outcome) -> String {
    let remark = match outcome.kind {
        OutcomeKind::Deleted => grace(view, outcome).unwrap_or_default(),
        OutcomeKind::Terminating => held(view, outcome),
        OutcomeKind::Orphaned => "free: no owner left".to_owned(),
        OutcomeKind::Detached => message(view, outcome),
        OutcomeKind::Unblocked => "no longer blocks its owner".to_owned(),
        OutcomeKind::Unchanged => "something it depends on could not be read".to_owned(),
    };
    let unsure = outcome.uncertain.is_some() && outcome.kind != OutcomeKind::Unchanged;
    match (unsure, remark.is_empty()) {
        (false, _) => remark,
        (true, true) => "not certain".to_owned(),
        (true, false) => format!("{remark}; not certain"),
    }
}

fn message(view: &PlanView<'_>, outcome: &Outcome) -> String {
    let cause = outcome.because.as_ref();
    cause.map_or_else(String::new, |cause| because(view.snapshot, outcome.object, cause, view.plan.request.propagation).1)
}

/// For pods that get time to end.
fn grace(view: &PlanView<'_>, outcome: &Outcome) -> Option<String> {
    let facts: &PodFacts = view.snapshot.facts.pod(outcome.object)?;
    let on_a_node = facts.node.is_some() && !facts.finished();
    let seconds = view.plan.request.grace.or(facts.grace).filter(|seconds| on_a_node && *seconds > 0)?;
    let ended_by_kubelet = !matches!(outcome.because, Some(Cause::Kubelet));
    ended_by_kubelet.then(|| format!("after its grace period, {seconds}s"))
}

fn held(view: &PlanView<'_>, outcome: &Outcome) -> String {
    let mut parts: Vec<String> = Vec::new();
    let finalizers: Vec<&str> = outcome
        .held_by
        .iter()
        .filter(|holder| matches!(holder, Holder::Finalizer(_)))
        .map(|holder| holder_name(view.snapshot, *holder))
        .collect();
    if !finalizers.is_empty() {
        parts.push(format!("finalizer {}", finalizers.join(", ")));
    }
    if outcome.held_by.contains(&Holder::Kubelet) {
        parts.push(match outcome.state {
            Some(State::Waiting) => "in its grace period".to_owned(),
            Some(State::Unknown) => "in its grace period; its node is not known".to_owned(),
            _ => "no kubelet ends it: its node is gone".to_owned(),
        });
    }
    if !outcome.waits_for.is_empty() {
        let named: Vec<String> = outcome.waits_for.iter().take(NAMED_BLOCKERS).map(|object| name(view, *object, None)).collect();
        let rest = outcome.waits_for.len() - named.len();
        let rest = if rest == 0 { String::new() } else { format!(" and {rest} more") };
        parts.push(format!("waits for {}{rest}", named.join(", ")));
    }
    parts.join("; ")
}

/// `Kind/name`, with the namespace where it is not the one that is looked at, or that of the line above.
pub fn name(view: &PlanView<'_>, object: ObjectId, above: Option<ObjectId>) -> String {
    let found = view.snapshot.object(object);
    let namespace = view.snapshot.text(found.namespace);
    let expected = match above {
        Some(above) if !view.snapshot.object(above).namespace.is_empty() => {
            Some(view.snapshot.text(view.snapshot.object(above).namespace))
        }
        _ => view.namespace,
    };
    let short = view.snapshot.short_name(object);
    if found.namespace.is_empty() || expected == Some(namespace) { short } else { format!("{short} -n {namespace}") }
}
