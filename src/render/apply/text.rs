//! The text: the verdict, a line for each object of the file, and what else there is to say.

use std::io::{self, Write};

use crate::{
    plan::OutcomeKind,
    render::{
        doctor::set,
        output::TextOptions,
        plan::{PlanView, because, kept_outside, located, lost},
        sections::{self, Labelled, Said},
        style::Tone,
        table::{Column, lines},
    },
    server::Propagation,
};

use super::{
    ApplyView,
    words::{why, word},
};

/// At most this many other objects are named.
const OTHERS: usize = 20;

pub(super) fn write(view: &ApplyView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let style = options.style;
    let tone = match view.apply.result().name() {
        "collects" | "refused" => Tone::Error,
        "keeps" => Tone::Good,
        _ => Tone::Warning,
    };
    for line in set(&view.verdict(), options.width.unwrap_or(usize::MAX)) {
        writeln!(out, "{}", style.paint(tone, &line))?;
    }
    writeln!(out)?;
    let mut columns = vec![Column::name("OBJECT"), Column::text("STATE")];
    columns.extend(options.wide.then_some([Column::text("APPLY"), Column::text("IN")]).into_iter().flatten());
    columns.push(Column::prose("WHY"));
    let rows: Vec<Vec<String>> = (0..view.objects.len()).map(|index| row(view, index, options.wide)).collect();
    for (number, line) in lines(&columns, rows, options.width).iter().enumerate() {
        let tone = number.checked_sub(1).map_or(Tone::Plain, |index| word(view.fate(index)).0);
        writeln!(out, "{}", style.paint(tone, line))?;
    }
    sections(view, options, out)
}

fn row(view: &ApplyView<'_>, index: usize, wide: bool) -> Vec<String> {
    let why = why(view, index);
    let mut cells = vec![view.name(index), word(view.fate(index)).1];
    if wide {
        cells.push(view.apply.objects[index].placed.arrival.name().to_lowercase());
        cells.push(view.objects[index].place.to_string());
    }
    let unsure = match view.apply.objects[index].uncertain {
        Some(why) => format!(" (not certain: {})", why.name()),
        None => String::new(),
    };
    cells.push(format!("{}{unsure}", why.message));
    cells
}

fn sections(view: &ApplyView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let apply = view.apply;
    let snapshot = &apply.scene.snapshot;
    let mut others: Vec<String> = Vec::new();
    for outcome in apply.others() {
        let what = match outcome.kind {
            OutcomeKind::Deleted => "deleted",
            OutcomeKind::Terminating => "stays Terminating",
            OutcomeKind::Unchanged => "unknown",
            _ => "kept",
        };
        let told = outcome.because.as_ref();
        let told = told.map(|cause| because(snapshot, outcome.object, cause, Propagation::Background).message);
        let why = told.map(|why| format!(": {why}")).unwrap_or_default();
        others.push(format!("{} {what}{why}", located(snapshot, outcome.object, Some(view.namespace))));
    }
    if others.len() > OTHERS && options.fold {
        let more = others.len() - OTHERS;
        others.truncate(OTHERS);
        others.push(format!("and {more} more; -o wide shows them"));
    }
    let plan = PlanView::new(snapshot, view.graph, &apply.plan, &[], Some(view.namespace));
    let mut assumes: Vec<String> = apply.plan.assumptions.iter().map(ToString::to_string).collect();
    assumes.insert(0, "kubectl apply sends the objects in the order of the file".to_owned());
    if options.wide {
        let unknown = "not judged: what the API server says of fields other than metadata, what webhooks and policies \
            do, and what controllers adopt or create";
        assumes.push(unknown.to_owned());
    } else {
        assumes.clear();
    }
    let said = |texts: Vec<String>| texts.into_iter().map(Said::from).collect();
    let sections: [Labelled; 5] = [
        ("Then", said(others)),
        ("Lost", said(lost(&plan, options.fold))),
        ("Note", said(kept_outside(&plan, options.fold))),
        ("Assumes", said(assumes)),
        ("Next", view.mends_anything().then(|| Said::command(view.fix)).into_iter().collect()),
    ];
    if sections.iter().any(|(_, said)| !said.is_empty()) {
        writeln!(out)?;
    }
    sections::write(&sections, options, out)
}
