//! `kind: Sweep`: what one pass of the collector would do, shown like a plan.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    collector::Reason,
    plan::{NoteKind, Outcome, OutcomeKind, VerdictResult},
    render::{
        output::{Format, Output, TextOptions},
        picture::{Picture, PictureOptions},
        style::Tone,
    },
    simulate::{Cause, State},
    wording::count,
};

use super::{
    PlanView,
    document::SweepDocument,
    names::by_kind,
    names_of_deleted, picture, text,
    verdict::{VerdictText, losses_first, recreated, root_causes, then, uncertain, until, waiting_word},
};

/// A sweep with what is needed to print it.
#[derive(Clone, Debug)]
pub struct SweepView<'a>(pub PlanView<'a>);

impl Output for SweepView<'_> {
    fn document(&self) -> impl Serialize {
        SweepDocument::of(&self.0)
    }

    fn other(&self, format: Format) -> Option<String> {
        (format == Format::Name).then(|| names_of_deleted(&self.0))
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::of_sweep(&self.0, self.verdict(), options))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        text::write_below(&self.0, self.verdict(), options, out)
    }
}

impl SweepView<'_> {
    fn verdict(&self) -> VerdictText {
        verdict(&self.0).after(losses_first(&self.0, &self.0.verdict(), VerdictResult::Unsure))
    }
}

fn verdict(view: &PlanView<'_>) -> VerdictText {
    let (_, unread, unsure) = uncertain(view);
    let in_state = |wanted: fn(State) -> bool| {
        let all = view.plan.outcomes.iter().chain(&view.plan.stays);
        all.filter(|outcome| outcome.state.is_some_and(wanted)).count()
    };
    let stuck = in_state(|state| state == State::Stuck);
    let waiting = in_state(|state| state != State::Stuck);
    let mut sentences: Vec<String> = Vec::new();
    let changes = changes(view);
    if !changes.is_empty() {
        sentences.push(format!("{}.", changes.join(", ")));
    }
    if stuck > 0 {
        let stay = count(stuck, "object stays", "objects stay");
        sentences.push(format!(
            "{stay} Terminating{}: no controller is known to finish {}.",
            root_causes(view),
            it_or_them(stuck)
        ));
    }
    if waiting > 0 {
        sentences.push(format!(
            "{} Terminating until {}.",
            count(waiting, "object stays", "objects stay"),
            until(view, view.plan.outcomes.iter().chain(&view.plan.stays))
        ));
    }
    let sentence = sentences.join(" ");
    let describe = |sentence: String| {
        format!("{sentence}{}{unsure}{}", then(view), recreated(view.plan.summary)).trim_start().to_owned()
    };
    if stuck > 0 {
        return VerdictText::new("STUCK", Tone::Error, describe(sentence));
    }
    if unread > 0 {
        return VerdictText::new("UNSURE", Tone::Warning, describe(sentence));
    }
    if waiting > 0 {
        let word = waiting_word(view.plan.outcomes.iter().chain(&view.plan.stays));
        return VerdictText::new(word, Tone::Warning, describe(sentence));
    }
    if view.plan.outcomes.is_empty() && view.plan.stuck() {
        let sentence = "all that the collector would do now is prevented.".to_owned();
        return VerdictText::new("PREVENTED", Tone::Error, sentence);
    }
    if view.plan.outcomes.is_empty() {
        let limit = if view.plan.request.only.is_some() { " among the objects it may change" } else { "" };
        let doubted = view.plan.notes.iter().any(|note| note.kind == NoteKind::DoubtedPath);
        let but = if doubted { ", except the objects this sweep does not change (see Note)" } else { "" };
        let nothing = format!("the collector has nothing to delete, to update or to finish{limit}{but}.");
        return VerdictText::new("NOTHING TO DO", Tone::Good, nothing);
    }
    // An object that changes only in another order of events has an outcome, too.
    let sentence =
        if sentence.is_empty() { "nothing changes in the most likely order of events.".to_owned() } else { sentence };
    VerdictText::new("WORK TO DO", Tone::Strong, describe(sentence))
}

fn it_or_them(number: usize) -> &'static str {
    if number == 1 { "it" } else { "them" }
}

/// The kinds of changes: deletions, terminating owners that are removed, references.
fn changes(view: &PlanView<'_>) -> Vec<String> {
    let of = |wanted: &dyn Fn(&Outcome) -> bool| view.plan.outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let deleted = |outcome: &&Outcome| outcome.kind == OutcomeKind::Deleted && !was_leaving(view, outcome);
    let kinds = by_kind(view, view.plan.outcomes.iter().filter(deleted).map(|outcome| outcome.object));
    let kept = |outcome: &Outcome| matches!(outcome.kind, OutcomeKind::Detached | OutcomeKind::Orphaned);
    let freed =
        |outcome: &Outcome| kept(outcome) && matches!(outcome.because, Some(Cause::Collector(Reason::OwnerOrphans(_))));
    let finished = |outcome: &Outcome| outcome.kind == OutcomeKind::Deleted && was_leaving(view, outcome);
    let parts = [
        (of(&|outcome| deleted(&outcome)), "would be deleted", kinds.as_str()),
        (of(&|outcome| kept(outcome) && !freed(outcome)), "would lose owner references", ""),
        (of(&freed), "would lose the reference to an owner deleted with the orphan policy", ""),
        (of(&|outcome| outcome.kind == OutcomeKind::Unblocked), "would no longer block an owner", ""),
    ];
    let mut describe: Vec<String> = Vec::new();
    for (number, what, kinds) in parts.into_iter().filter(|(number, ..)| *number > 0) {
        let counted = if describe.is_empty() { count(number, "object", "objects") } else { number.to_string() };
        describe.push(if kinds.is_empty() {
            format!("{counted} {what}")
        } else {
            format!("{counted} {what} ({kinds})")
        });
    }
    match of(&finished) {
        0 => {}
        number => {
            describe.push(count(number, "Terminating owner would be removed", "Terminating owners would be removed"))
        }
    }
    describe
}

/// Whether an object is already terminating with a finalizer that the collector removes (R8.1, R8.2).
fn was_leaving(view: &PlanView<'_>, outcome: &Outcome) -> bool {
    let before = view.snapshot.object(outcome.object);
    before.terminating() && before.finalizers.iter().any(|finalizer| finalizer.is_collectors_finalizer())
}
