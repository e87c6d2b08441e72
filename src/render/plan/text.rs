//! A plan as text: the verdict, the outcomes of all objects, and the alternatives.

use std::io::{self, Write};

use crate::{
    model::ObjectId,
    render::{
        escape::visible,
        guides::Guides,
        lines::{self, Line},
        output::TextOptions,
        style::Tone,
        words::plural,
    },
    wording::thousands,
};

use super::{
    PlanView,
    because::{Because, because},
    forest::{Row, rows},
    kinds,
    names::name,
    sections, side_effects,
    verdict::{self, VerdictText},
};

/// The indent of every line.
pub(super) const MARGIN: usize = 2;

/// Writes the verdict, what forbids the delete, the lines, and the sections below them.
pub(super) fn write(view: &PlanView<'_>, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
    write_below(view, &verdict::describe(view, &view.verdict()), options, out)
}

/// Like [`write`], with another verdict.
pub(super) fn write_below(
    view: &PlanView<'_>,
    verdict: &VerdictText,
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    verdict::write_line(verdict, options, out)?;
    let is_table = kinds::are_shown(view, options);
    let rows = if is_table { Vec::new() } else { rows(view, options.fold) };
    if is_table || !rows.is_empty() {
        writeln!(out)?;
    }
    if is_table {
        kinds::write(view, options, out)?;
    } else {
        write_rows(view, &rows, options, out)?;
    }
    sections::write(view, options, out)
}

pub(super) fn write_rows(
    view: &PlanView<'_>,
    rows: &[Row<'_>],
    options: &TextOptions<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let guides = Guides::of(rows.iter().map(|row| row.depth));
    let mut above: Vec<ObjectId> = Vec::new();
    let mut lines: Vec<Line> = Vec::with_capacity(rows.len());
    for (row, guide) in rows.iter().zip(guides) {
        above.truncate(row.depth as usize);
        let name = visible(&row_name(view, row, above.last().copied())).into_owned();
        above.push(row.object);
        let tone = if row.more > 0 { Tone::Quiet } else { Tone::Plain };
        let columns = vec![row.fate.column()];
        let remarks = remarks(view, row, options.wide).into_iter();
        let remarks = remarks.map(|(tone, remark)| (tone, visible(&remark).into_owned())).collect();
        lines.push(Line { guide, tone, name, fate: row.fate, columns, remarks });
    }
    lines::write_padded(lines, MARGIN, options, out)
}

/// The remarks on a line; wide output adds the reason and the uid.
fn remarks(view: &PlanView<'_>, row: &Row<'_>, wide: bool) -> Vec<(Tone, String)> {
    let lost = side_effects::losses(view, row.outcome).join("; ");
    let (lost, rest) = match row.detail.strip_prefix(&lost) {
        Some(rest) => (lost, rest.trim_start_matches("; ")),
        None => (String::new(), row.detail.as_str()),
    };
    let mut remarks = vec![(Tone::Error, lost), (Tone::Plain, rest.to_owned())];
    remarks.retain(|(_, remark)| !remark.is_empty());
    if wide {
        if let Some(cause) = &row.outcome.because {
            let Because { reason, message } = because(view.snapshot, row.object, cause, view.plan.request.propagation);
            let known = row.detail.contains(&message);
            let because = if known { format!("[{reason}]") } else { format!("[{reason}] {message}") };
            remarks.push((Tone::Plain, because));
        }
        remarks.push((Tone::Plain, format!("uid {}", view.snapshot.text(view.snapshot.object(row.object).uid))));
    }
    remarks
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
