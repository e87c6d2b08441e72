//! A plan as text: the verdict, the outcomes of all objects, and the alternatives.

use std::io::{self, Write};

use crate::{
    model::ObjectId,
    plan::OutcomeKind,
    render::{
        guides::Guides,
        lines::{self, Line},
        output::TextOptions,
        style::Tone,
        words::plural,
    },
    simulate::State,
    wording::thousands,
};

use super::{
    PlanView,
    because::{Because, because},
    forest::{Row, rows},
    kinds,
    names::name,
    sections, side_effects, verdict,
};

/// A plan with up to this many lines is shown in full before its delete: it fits a screen.
const WHOLE: usize = 30;
/// Of a longer plan, at most this many stuck objects are shown then, and as many that survive changed.
const MOST: usize = 8;

/// Writes the verdict, the lines, and the sections below them.
pub(super) fn write(view: &PlanView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    verdict::write_line(view, options, out)?;
    if kinds::are_shown(view, options) {
        writeln!(out)?;
        kinds::write(view, options, out)?;
    } else {
        let rows = rows(view, options.fold);
        match view.to_be_done && options.fold && rows.len() > WHOLE {
            true => write_some(view, &rows, options, out)?,
            false if rows.is_empty() => {}
            false => {
                writeln!(out)?;
                write_rows(view, &rows, options, out)?;
            }
        }
    }
    sections::sections(view, options.fold, options.wide).write_below(options, out)
}

/// Writes the most important of many lines: what the user is asked to confirm.
fn write_some(view: &PlanView<'_>, rows: &[Row<'_>], options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let is_stuck = |row: &Row<'_>| row.outcome.state == Some(State::Stuck);
    let survives = |row: &Row<'_>| {
        matches!(row.outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked)
    };
    let wanted: [&dyn Fn(&Row<'_>) -> bool; 2] = [&is_stuck, &survives];
    let mut left_out = rows.len();
    for wanted in wanted {
        let mut some: Vec<Row<'_>> = rows.iter().filter(|row| wanted(row)).take(MOST).cloned().collect();
        // Without the rows above them.
        some.iter_mut().for_each(|row| row.depth = 0);
        left_out -= some.len();
        if !some.is_empty() {
            writeln!(out)?;
            write_rows(view, &some, options, out)?;
        }
    }
    let rest = format!("… {left_out} more lines: run kubectl gc plan, or add --dry-run --all, to see them.");
    writeln!(out)?;
    lines::write_paragraph(Tone::Quiet, &rest, options, out)
}

fn write_rows(view: &PlanView<'_>, rows: &[Row<'_>], options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    let guides = Guides::of(rows.iter().map(|row| row.depth));
    let mut above: Vec<ObjectId> = Vec::new();
    let mut lines: Vec<Line> = Vec::with_capacity(rows.len());
    for (row, guide) in rows.iter().zip(guides) {
        above.truncate(row.depth as usize);
        let name = row_name(view, row, above.last().copied());
        above.push(row.object);
        let line = if row.more > 0 { Line::quiet(&name) } else { Line::new(&name) };
        let line = Line { guide, ..line.becomes(row.fate, row.fate.column()) };
        lines.push(with_remarks(line, view, row, options.wide));
    }
    lines::write_padded(lines, lines::MARGIN, options, out)
}

/// The line with its remarks; wide output adds the reason and the uid.
fn with_remarks(line: Line, view: &PlanView<'_>, row: &Row<'_>, wide: bool) -> Line {
    let lost = side_effects::losses(view, row.outcome).join("; ");
    let (lost, rest) = match row.detail.strip_prefix(&lost) {
        Some(rest) => (lost, rest.trim_start_matches("; ")),
        None => (String::new(), row.detail.as_str()),
    };
    let line = line.remarked(Tone::Error, [lost]).remarked(Tone::Plain, [rest]);
    if !wide {
        return line;
    }
    let because = row.outcome.because.as_ref().map(|cause| {
        let Because { reason, message } = because(view.snapshot, row.object, cause, view.plan.request.propagation);
        if row.detail.contains(&message) { format!("[{reason}]") } else { format!("[{reason}] {message}") }
    });
    let uid = format!("uid {}", view.snapshot.text(view.snapshot.object(row.object).uid));
    line.remarked(Tone::Plain, because).remarked(Tone::Plain, [uid])
}

/// `Kind/name`, `12 Pods`, or `… 12 more Pods`.
pub(super) fn row_name(view: &PlanView<'_>, row: &Row<'_>, above: Option<ObjectId>) -> String {
    if row.more == 0 {
        return name(view, row.object, above);
    }
    let resource = view.snapshot.resources.get(view.snapshot.object(row.object).resource);
    let (number, kinds) = (thousands(row.more), plural(resource, row.more));
    if row.goes_on { format!("… {number} more {kinds}") } else { format!("{number} {kinds}") }
}
