//! The text: the verdict, a line for each object of the file, and what else there is to say.

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{
    escape::visible,
    lines,
    output::{Format, Output, TextOptions},
    plan::{PlanView, because, kept_outside, lost, perhaps_lost},
    sections::{Heading, Said, Sections, first_of},
    style::Tone,
    table::{Column, Table},
};
use gc_core::{
    apply::{ApplyResult, ManifestObject},
    document::Named,
    plan::{Outcome, OutcomeKind},
    server::Propagation,
    simulate::Cause,
    wording::some_of,
};

use super::{
    ApplyView,
    document::ApplyDocument,
    words::{why, word},
};

/// At most this many other objects are named.
const OTHERS: usize = 20;

impl Output for ApplyView<'_> {
    fn document(&self) -> impl Serialize {
        Named(&self.apply.scene.snapshot, ApplyDocument::of(self))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        write(self, options, out)
    }

    /// TYPE/NAME of the objects that are lost.
    fn other(&self, format: Format) -> Option<String> {
        let lost = || self.apply.objects.iter().zip(self.objects).filter(|(object, _)| object.fate.is_loss());
        let name = |found: &ManifestObject| {
            let group = found.group();
            let dot = if group.is_empty() { "" } else { "." };
            let short = found.short_name();
            let (kind, name) = short.split_once('/').unwrap_or((&short, ""));
            format!("{}{dot}{group}/{}\n", kind.to_lowercase(), visible(name))
        };
        (format == Format::Name).then(|| lost().map(|(_, found)| name(found)).collect())
    }
}

pub(super) fn write(view: &ApplyView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    let tone = match view.apply.result() {
        ApplyResult::Collects | ApplyResult::Refused => Tone::Error,
        ApplyResult::Keeps => Tone::Good,
        ApplyResult::Unsure | ApplyResult::Strips => Tone::Warning,
    };
    lines::write_paragraph(tone, &view.verdict(), options, out)?;
    writeln!(out)?;
    let unsure = |index: usize| view.apply.objects[index].uncertain;
    let unsure = |index| unsure(index).map(|why| format!(" (not certain: {})", why.name())).unwrap_or_default();
    let arrival = |index: usize| view.apply.objects[index].placed.arrival.name().to_lowercase();
    let table = Table::default()
        .with(Column::name("OBJECT"), |index: &usize| view.name(*index))
        .with(Column::text("STATE"), |index| word(view.fate(*index)).1)
        .with_if(options.wide, Column::text("APPLY"), |index| arrival(*index))
        .with_if(options.wide, Column::text("IN"), |index| view.objects[*index].place.to_string())
        .with(Column::prose("WHY"), |index| format!("{}{}", why(view, *index).message, unsure(*index)));
    let all: Vec<usize> = (0..view.objects.len()).collect();
    for (number, line) in table.lines(&all, options.width).iter().enumerate() {
        let tone = number.checked_sub(1).map_or(Tone::Plain, |index| word(view.fate(index)).0);
        writeln!(out, "{}", style.paint(tone, line))?;
    }
    sections(view, options).write_below(options, out)
}

fn sections(view: &ApplyView<'_>, options: &TextOptions<'_>) -> Sections {
    let apply = view.apply;
    let snapshot = &apply.scene.snapshot;
    let other = |outcome: &Outcome| {
        let what = match outcome.kind {
            OutcomeKind::Deleted => "deleted",
            OutcomeKind::Terminating => "stays Terminating",
            OutcomeKind::Unchanged => "unknown",
            _ => "kept",
        };
        let told = outcome.because.as_ref();
        let told = told.map(|cause| because(snapshot, outcome.object, cause, Propagation::Background).message);
        let why = told.map(|why| format!(": {why}")).unwrap_or_default();
        Said::Text(format!("{} {what}{why}", snapshot.located(outcome.object, Some(view.namespace))))
    };
    let plan = PlanView::new(snapshot, view.graph, &apply.plan, &[], Some(view.namespace));
    let mut sections = Sections::default();
    sections.add(Heading::Lost, lost(&plan, options.fold));
    sections.add(Heading::Then, first_of(apply.others().map(other).collect(), OTHERS, options.wide || !options.fold));
    sections.add(Heading::Note, perhaps_lost(&plan, options.fold));
    sections.add(Heading::Note, kept_outside(&plan, options.fold));
    if options.wide {
        sections.add(Heading::Note, ["assumed: kubectl apply sends the objects in the order of the file"]);
        sections.add(Heading::Note, apply.plan.assumptions.iter().map(|assumption| format!("assumed: {assumption}")));
        let unknown = "not judged: what the API server says of fields other than metadata, what webhooks and policies \
            do, and what controllers adopt or create";
        sections.add(Heading::Note, [unknown]);
    }
    sections.add(Heading::Next, view.mends_anything().then(|| Said::command(view.fix)));
    let lost = apply.plan.outcomes.iter().filter(|outcome| matches!(outcome.because, Some(Cause::ClaimGone(None))));
    let lost: Vec<String> = lost.map(|outcome| snapshot.short_name(outcome.object)).collect();
    if !lost.is_empty() {
        let volumes = some_of(lost, OTHERS);
        let rebind = "then each is bound to the claim of that name";
        sections.add(Heading::Next, [format!("remove spec.claimRef.uid of {volumes} from the file: {rebind}")]);
    }
    sections
}
