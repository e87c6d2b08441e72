//! The verdict on an object, and single words for how things stand.

use crate::{
    doctor::{Explanation, explain::Waiting},
    model::effects::Severity,
    plan::Uncertainty,
    render::{plan::because, style::Tone},
    server::Propagation,
    simulate::{Next, NoAction, ProjectedOutcome, State},
    tree::ReferenceStatus,
    wording::age,
};

use super::ExplainView;

/// A word, how it looks, and a sentence.
pub(super) type Verdict = (&'static str, Tone, String);

/// What becomes of an object, in a line.
pub(super) fn verdict(view: &ExplainView<'_>, explanation: &Explanation, now: Option<i64>) -> Verdict {
    let object = view.snapshot.object(explanation.object);
    let name = view.name(explanation.object);
    if object.terminating() {
        return terminating(view, explanation, &name, now);
    }
    let why = because_of(view, explanation);
    match &explanation.end.outcome {
        _ if explanation.end.uncertain == Some(Uncertainty::Order) => {
            ("UNSURE", Tone::Warning, format!("what becomes of {name} depends on the order of events."))
        }
        _ if explanation.end.uncertain.is_some() => {
            ("UNSURE", Tone::Warning, format!("what becomes of {name} rests on something that could not be read."))
        }
        // Why stands below, and better.
        ProjectedOutcome::Goes if explanation.next.next.writes() => {
            ("GOES", Tone::Warning, format!("{name} is going to be deleted."))
        }
        ProjectedOutcome::Goes => ("GOES", Tone::Warning, format!("{name} is going to be deleted: {why}.")),
        ProjectedOutcome::Changes { terminating: true, .. } => {
            let (word, tone, stays) = match explanation.end.state {
                Some(State::Waiting) => ("WAITS", Tone::Warning, "stays terminating until somebody else is done"),
                Some(State::Unknown) => {
                    ("UNCLEAR", Tone::Warning, "stays terminating; whether anybody finishes it is not known")
                }
                _ => ("STUCK", Tone::Error, "stays terminating, which nobody is known to finish"),
            };
            (word, tone, format!("{name} is going to be deleted ({why}), and {stays}."))
        }
        ProjectedOutcome::Changes { .. } => ("CHANGES", Tone::Warning, format!("{name} stays, changed: {why}.")),
        ProjectedOutcome::Stays => {
            ("STAYS", Tone::Good, format!("{name} is there, and {}.", why_it_stays(explanation)))
        }
    }
}

fn why_it_stays(explanation: &Explanation) -> &'static str {
    match &explanation.next.next {
        Next::Nothing(NoAction::OwnersSolid) if explanation.references.len() == 1 => "its owner keeps it",
        Next::Nothing(NoAction::OwnersSolid) => "its owners keep it",
        Next::Nothing(NoAction::NoOwners) => "nobody owns it",
        Next::Nothing(NoAction::Unmappable(_) | NoAction::InvalidScope(_)) => {
            "the collector can't do anything about it"
        }
        Next::Nothing(NoAction::NotWatched | NoAction::SharedUid(_)) => "the collector doesn't look at it",
        // It would be deleted, and isn't.
        Next::Delete(..) | Next::Unblock => "the API server lets nobody delete it",
        _ => "stays there",
    }
}

fn terminating(view: &ExplainView<'_>, explanation: &Explanation, name: &str, now: Option<i64>) -> Verdict {
    let deleted = view.snapshot.object(explanation.object).deleted;
    let since = match now.zip(deleted).map(|(now, deleted)| now - deleted) {
        Some(seconds) if seconds >= 0 => format!("has been terminating for {}", age(seconds)),
        _ => "is terminating".to_owned(),
    };
    match (&explanation.end.outcome, explanation.end.state) {
        _ if explanation.end.uncertain.is_some() => (
            "UNCLEAR",
            Tone::Warning,
            format!("{name} {since}, and what becomes of it rests on something that could not be read."),
        ),
        (ProjectedOutcome::Goes, _) if in_trouble(explanation) => (
            "WAITS",
            Tone::Warning,
            format!("{name} {since}, and would go by itself; what is in the way is told below."),
        ),
        (ProjectedOutcome::Goes, _) => ("GOES", Tone::Plain, format!("{name} {since}, and goes.")),
        (_, Some(State::Waiting)) => ("WAITS", Tone::Warning, format!("{name} {since}, until somebody else is done.")),
        (_, Some(State::Unknown)) => {
            ("UNCLEAR", Tone::Warning, format!("{name} {since}; whether anybody finishes it is not known."))
        }
        _ => ("STUCK", Tone::Error, format!("{name} {since}, and nobody is known to finish it.")),
    }
}

/// Whether something is found to be wrong although a collector and controllers that work would finish the object.
fn in_trouble(explanation: &Explanation) -> bool {
    explanation.findings.iter().any(|finding| finding.severity <= Severity::Warning)
}

/// What sets off what becomes of an object; empty where nothing does.
pub(super) fn because_of(view: &ExplainView<'_>, explanation: &Explanation) -> String {
    let cause = explanation.end.because.as_ref();
    cause
        .map(|cause| because(view.snapshot, explanation.object, cause, Propagation::Background).message)
        .unwrap_or_default()
}

/// How a reference stands, in a word.
pub(super) fn standing(standing: ReferenceStatus) -> (&'static str, Tone) {
    match standing {
        ReferenceStatus::Solid => ("solid", Tone::Good),
        ReferenceStatus::Waiting => ("waiting", Tone::Warning),
        ReferenceStatus::NotServed => ("not served", Tone::Error),
        ReferenceStatus::InvalidScope => ("invalid", Tone::Error),
        ReferenceStatus::Unread => ("not known", Tone::Warning),
        _ => ("dangling", Tone::Error),
    }
}

/// What becomes of something that is waited for, in a word.
pub(super) fn waiting(line: &Waiting) -> (&'static str, Tone) {
    match line.state {
        _ if line.goes => ("goes", Tone::Plain),
        _ if line.lets_go => ("lets go", Tone::Plain),
        State::Stuck => ("STUCK", Tone::Error),
        State::Unknown => ("UNCLEAR", Tone::Warning),
        State::Waiting => ("waits", Tone::Warning),
    }
}
