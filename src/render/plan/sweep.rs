//! The verdict on a sweep in words: what one pass of the collector would do.

use crate::{
    plan::{NoteKind, Outcome, OutcomeKind, Verdict, VerdictResult},
    render::headline::Headline,
    wording::count,
};

use super::{
    PlanView,
    verdict::{
        Part, VerdictText, come_back, doubt, headline, holds, in_a_line, losses_of, more_later, prevented, uncertain,
    },
};

/// The verdict on a sweep.
pub(super) fn verdict(view: &PlanView<'_>, verdict: &Verdict) -> VerdictText {
    let result = verdict.result;
    if view.plan.outcomes.is_empty() && result == VerdictResult::Nothing {
        let limit = if view.plan.request.only.is_some() { " among the objects it may change" } else { "" };
        let doubted = view.plan.notes.iter().any(|note| note.kind == NoteKind::DoubtedPath);
        let but = if doubted { ", but see Note" } else { "" };
        let nothing = Part::new(14, format!("nothing is left over{limit}{but}"));
        return in_a_line(Headline::NothingToDo, vec![nothing]);
    }
    let mut parts = losses_of(view, verdict);
    parts.extend(doubt(view, verdict));
    parts.extend(changes(view));
    parts.extend(holds(view, || view.plan.outcomes.iter().chain(&view.plan.stays)));
    parts.extend(prevented(view));
    if parts.is_empty() {
        // An object that changes only in another order of events has an outcome, too.
        parts.push(Part::new(14, "nothing changes at once"));
    }
    parts.extend(more_later(view));
    parts.extend(come_back(view));
    parts.extend(uncertain(verdict));
    let has_work = matches!(result, VerdictResult::Deletes | VerdictResult::External);
    in_a_line(if has_work { Headline::WorkToDo } else { headline(result) }, parts)
}

/// What the collector does at once: deletions, terminating owners that are removed, references.
fn changes(view: &PlanView<'_>) -> Vec<Part> {
    let of = |wanted: &dyn Fn(&Outcome) -> bool| view.plan.outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let goes = |outcome: &Outcome| outcome.kind == OutcomeKind::Deleted;
    let deleted = of(&|outcome| goes(outcome) && !was_leaving(view, outcome));
    let finished = of(&|outcome| goes(outcome) && was_leaving(view, outcome));
    let kept = of(&|outcome| matches!(outcome.kind, OutcomeKind::Detached | OutcomeKind::Orphaned));
    let unblocked = of(&|outcome| outcome.kind == OutcomeKind::Unblocked);
    let parts = [
        (deleted, 14, "object goes", "objects go"),
        (finished, 11, "deletion ends", "deletions end"),
        (kept, 10, "loses owner references", "lose owner references"),
        (unblocked, 7, "no longer blocks its owner", "no longer block their owners"),
    ];
    let parts = parts.into_iter().filter(|(number, ..)| *number > 0);
    parts.map(|(number, left_out, one, many)| Part::new(left_out, count(number, one, many)).listed()).collect()
}

/// Whether an object is already terminating with a finalizer that the collector removes (R8.1, R8.2).
fn was_leaving(view: &PlanView<'_>, outcome: &Outcome) -> bool {
    view.snapshot.waits_for_dependents(outcome.object)
}
