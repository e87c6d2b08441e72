//! A plan that the user is asked to confirm: in full if it is short, otherwise its most important lines.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    plan::OutcomeKind,
    render::{
        output::{Format, Output, TextOptions},
        picture::{Picture, PictureOptions},
        style::Tone,
        words::wrapped,
    },
    simulate::State,
};

use super::{
    PlanView,
    document::PlanDocument,
    forest::{Row, rows},
    kinds, names_of_deleted, picture, sections, text, verdict,
};

/// A plan with up to this many lines is shown in full: it fits a screen.
const WHOLE: usize = 30;
/// Of a longer plan, at most this many stuck objects are shown, and as many that survive changed.
const MOST: usize = 8;

/// A plan that is shown before its delete.
#[derive(Clone, Debug)]
pub struct BriefView<'a>(PlanView<'a>);

impl<'a> BriefView<'a> {
    /// The plan as it is shown before its delete.
    pub fn new(view: PlanView<'a>) -> Self {
        BriefView(view.about_to_be_done())
    }
}

impl Output for BriefView<'_> {
    fn document(&self) -> impl Serialize {
        PlanDocument::of(&self.0)
    }

    fn other(&self, format: Format) -> Option<String> {
        (format == Format::Name).then(|| names_of_deleted(&self.0))
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        Some(picture::of_plan(&self.0, options))
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        let view = &self.0;
        let all = rows(view, options.fold);
        if all.len() <= WHOLE || !options.fold || kinds::are_shown(view, options) {
            return text::write(view, options, out);
        }
        verdict::write_line(&verdict::describe(view, &view.verdict()), options, out)?;
        let mut left_out = all.len();
        for wanted in [stuck, survives] {
            let some: Vec<Row<'_>> = all.iter().filter(|row| wanted(row)).take(MOST).map(alone).collect();
            left_out -= some.len();
            if !some.is_empty() {
                writeln!(out)?;
                text::write_rows(view, &some, options, out)?;
            }
        }
        let rest = format!("… {left_out} more lines: run kubectl gc plan, or add --dry-run --all, to see them.");
        writeln!(out)?;
        for line in wrapped(rest.split(' '), options.width.unwrap_or(usize::MAX)) {
            writeln!(out, "{}", options.style.paint(Tone::Quiet, &line))?;
        }
        sections::write(view, options, out)
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        self.0.write_verdict(options, out)
    }
}

/// The row on its own, without the rows above it.
fn alone<'a>(row: &Row<'a>) -> Row<'a> {
    let mut alone = row.clone();
    alone.depth = 0;
    alone
}

fn stuck(row: &Row<'_>) -> bool {
    row.outcome.state == Some(State::Stuck)
}

fn survives(row: &Row<'_>) -> bool {
    matches!(row.outcome.kind, OutcomeKind::Orphaned | OutcomeKind::Detached | OutcomeKind::Unblocked)
}
