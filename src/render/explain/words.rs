//! The verdict on an object, and single words for how things stand.

use crate::{
    doctor::{Explanation, explain::Waiting},
    foretell::{Fate, Idle, Next, State, Uncertainty},
    model::effects::Severity,
    render::{plan::because, style::Tone},
    server::Propagation,
    tree::Standing,
    wording::age,
};

use super::ExplainView;

/// A word, how it looks, and a sentence.
pub(super) type Verdict = (&'static str, Tone, String);

/// What becomes of an object, in a line.
pub(super) fn verdict(view: &ExplainView<'_>, told: &Explanation, now: Option<i64>) -> Verdict {
    let object = view.snapshot.object(told.object);
    let name = view.name(told.object);
    if object.terminating() {
        return terminating(view, told, &name, now);
    }
    let why = because_of(view, told);
    match &told.end.fate {
        _ if told.end.uncertain == Some(Uncertainty::Order) => {
            ("UNSURE", Tone::Warning, format!("what becomes of {name} depends on the order of events."))
        }
        _ if told.end.uncertain.is_some() => {
            ("UNSURE", Tone::Warning, format!("what becomes of {name} rests on something that could not be read."))
        }
        // Why stands below, and better.
        Fate::Goes if told.next.next.writes() => ("GOES", Tone::Warning, format!("{name} is going to be deleted.")),
        Fate::Goes => ("GOES", Tone::Warning, format!("{name} is going to be deleted: {why}.")),
        Fate::Changes { terminating: true, .. } => {
            let (word, tone, stays) = match told.end.state {
                Some(State::Waiting) => ("WAITS", Tone::Warning, "stays terminating until somebody else is done"),
                Some(State::Unknown) => ("UNCLEAR", Tone::Warning, "stays terminating; whether anybody finishes it is not known"),
                _ => ("STUCK", Tone::Error, "stays terminating, which nobody is known to finish"),
            };
            (word, tone, format!("{name} is going to be deleted ({why}), and {stays}."))
        }
        Fate::Changes { .. } => ("CHANGES", Tone::Warning, format!("{name} stays, changed: {why}.")),
        Fate::Stays => ("STAYS", Tone::Good, format!("{name} is there, and {}.", why_it_stays(told))),
    }
}

fn why_it_stays(told: &Explanation) -> &'static str {
    match &told.next.next {
        Next::Nothing(Idle::OwnersSolid) if told.references.len() == 1 => "its owner keeps it",
        Next::Nothing(Idle::OwnersSolid) => "its owners keep it",
        Next::Nothing(Idle::NoOwners) => "nobody owns it",
        Next::Nothing(Idle::Unmappable(_) | Idle::InvalidScope(_)) => "the collector can't do anything about it",
        Next::Nothing(Idle::NotWatched | Idle::SharedUid(_)) => "the collector doesn't look at it",
        // It would be deleted, and isn't.
        Next::Delete(..) | Next::Unblock => "the API server lets nobody delete it",
        _ => "stays there",
    }
}

fn terminating(view: &ExplainView<'_>, told: &Explanation, name: &str, now: Option<i64>) -> Verdict {
    let deleted = view.snapshot.object(told.object).deleted;
    let since = match now.zip(deleted).map(|(now, deleted)| now - deleted) {
        Some(seconds) if seconds >= 0 => format!("has been terminating for {}", age(seconds)),
        _ => "is terminating".to_owned(),
    };
    match (&told.end.fate, told.end.state) {
        _ if told.end.uncertain.is_some() => {
            ("UNCLEAR", Tone::Warning, format!("{name} {since}, and what becomes of it rests on something that could not be read."))
        }
        (Fate::Goes, _) if in_trouble(told) => {
            ("WAITS", Tone::Warning, format!("{name} {since}, and would go by itself; what is in the way is told below."))
        }
        (Fate::Goes, _) => ("GOES", Tone::Plain, format!("{name} {since}, and goes.")),
        (_, Some(State::Waiting)) => ("WAITS", Tone::Warning, format!("{name} {since}, until somebody else is done.")),
        (_, Some(State::Unknown)) => {
            ("UNCLEAR", Tone::Warning, format!("{name} {since}; whether anybody finishes it is not known."))
        }
        _ => ("STUCK", Tone::Error, format!("{name} {since}, and nobody is known to finish it.")),
    }
}

/// Whether something is found to be wrong although a collector and controllers that work would finish the object.
fn in_trouble(told: &Explanation) -> bool {
    told.findings.iter().any(|finding| finding.severity <= Severity::Warning)
}

/// What sets off what becomes of an object; empty where nothing does.
pub(super) fn because_of(view: &ExplainView<'_>, told: &Explanation) -> String {
    let cause = told.end.because.as_ref();
    cause.map(|cause| because(view.snapshot, told.object, cause, Propagation::Background).1).unwrap_or_default()
}

/// How a reference stands, in a word.
pub(super) fn standing(standing: Standing) -> (&'static str, Tone) {
    match standing {
        Standing::Solid => ("solid", Tone::Good),
        Standing::Waiting => ("waiting", Tone::Warning),
        Standing::NotServed => ("not served", Tone::Error),
        Standing::InvalidScope => ("invalid", Tone::Error),
        Standing::Unread => ("not known", Tone::Warning),
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
