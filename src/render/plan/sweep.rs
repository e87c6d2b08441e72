//! `kind: Sweep`: what one pass of the collector would do, shown like a plan.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    plan::{NoteKind, Outcome, OutcomeKind, VerdictResult},
    render::{
        headline::Headline,
        output::{Format, Output, TextOptions},
        picture::{Picture, PictureOptions},
    },
    wording::count,
};

use super::{
    PlanView,
    document::SweepDocument,
    names_of_deleted, picture, text,
    verdict::{
        Part, VerdictJson, VerdictText, come_back, doubt, headline, holds, in_a_line, losses_of, more_later, prevented,
        uncertain, write_line,
    },
};

/// A sweep with what is needed to print it.
#[derive(Clone, Debug)]
pub struct SweepView<'a>(pub PlanView<'a>);

impl Output for SweepView<'_> {
    fn document(&self) -> impl Serialize {
        let verdict = VerdictJson::with(&self.0, &self.0.verdict(), &self.verdict());
        SweepDocument::of(&self.0, verdict)
    }

    fn other(&self, format: Format) -> Option<String> {
        (format == Format::Name).then(|| names_of_deleted(&self.0))
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::of_sweep(&self.0, self.verdict(), options))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write_below(&self.0, &self.verdict(), options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        write_line(&self.verdict(), options, out)
    }
}

impl SweepView<'_> {
    /// The verdict in one line, as that of a plan.
    fn verdict(&self) -> VerdictText {
        let view = &self.0;
        let verdict = view.verdict();
        let result = verdict.result;
        if view.plan.outcomes.is_empty() && result == VerdictResult::Nothing {
            let limit = if view.plan.request.only.is_some() { " among the objects it may change" } else { "" };
            let doubted = view.plan.notes.iter().any(|note| note.kind == NoteKind::DoubtedPath);
            let but = if doubted { ", but see Note" } else { "" };
            let nothing = Part::new(14, format!("nothing is left over{limit}{but}"));
            return in_a_line(Headline::NothingToDo, vec![nothing]);
        }
        let mut parts = losses_of(view, &verdict);
        parts.extend(doubt(view, &verdict));
        parts.extend(changes(view));
        parts.extend(holds(view, || view.plan.outcomes.iter().chain(&view.plan.stays)));
        parts.extend(prevented(view));
        if parts.is_empty() {
            // An object that changes only in another order of events has an outcome, too.
            parts.push(Part::new(14, "nothing changes at once"));
        }
        parts.extend(more_later(view));
        parts.extend(come_back(view));
        parts.extend(uncertain(&verdict));
        let has_work = matches!(result, VerdictResult::Deletes | VerdictResult::External);
        in_a_line(if has_work { Headline::WorkToDo } else { headline(result) }, parts)
    }
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
