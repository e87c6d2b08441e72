//! `kind: BlastRadius`: what deleting each root would delete in total, the worst first.

use std::io::{self, Write};

use serde::Serialize;

use crate::render::{
    lines::{self, Line},
    output::{Output, TextOptions},
    picture::{Objects, Picture, PictureOptions, Row, View, row_of},
    sections::{Heading, Said, Sections},
    states::{Fate, LOSS, OUTSIDE, Tone, Toned, word_in},
    words::full_names,
};
use gc_core::{
    command_line::{Kubectl, ShellCommand, word_of},
    document::{Head, Named},
    graph::OwnerGraph,
    model::{Gap, ObjectId, Snapshot},
    plan::{EffectCounts, Radius, VerdictResult},
    server::Propagation,
    wording::{count, thousands},
};

use super::{text::in_short, verdict};

/// What is said if there are no roots.
const NOTHING: &str = "There is nothing to delete.";

/// What deleting each of several roots would do.
#[derive(Debug)]
pub struct BlastRadius<'a> {
    pub snapshot: &'a Snapshot,
    pub propagation: Propagation,
    /// The rows, the worst first.
    pub rows: Vec<Radius>,
    /// The number of rows before the list was cut.
    pub total: usize,
    /// How many of all have each verdict, the worst first.
    verdicts: Vec<(VerdictResult, usize)>,
    pub namespace: Option<&'a str>,
    /// The plan of the worst; `None` if a command can't name it.
    next: Option<ShellCommand>,
}

/// The document.
#[derive(Debug, Serialize)]
struct BlastRadiusDocument<'a> {
    #[serde(flatten)]
    head: Head,
    propagation: Propagation,
    total: usize,
    rows: Named<'a, &'a [Radius]>,
}

impl<'a> BlastRadius<'a> {
    /// Keeps the first rows only. `kubectl` makes the command that looks closer.
    pub fn new(
        snapshot: &'a Snapshot,
        kubectl: &Kubectl,
        propagation: Propagation,
        mut rows: Vec<Radius>,
        namespace: Option<&'a str>,
        most: Option<usize>,
    ) -> Self {
        let total = rows.len();
        let mut verdicts: Vec<(VerdictResult, usize)> = Vec::new();
        for row in &rows {
            match verdicts.iter_mut().find(|(verdict, _)| *verdict == row.verdict) {
                Some((_, number)) => *number += 1,
                None => verdicts.push((row.verdict, 1)),
            }
        }
        rows.truncate(most.unwrap_or(usize::MAX));
        let next = rows.first().and_then(|worst| {
            let plan = kubectl.plugin("plan").arg(word_of(snapshot, worst.object)?);
            let plan = plan.in_namespace(snapshot.namespace(worst.object))?;
            Some(plan.args(propagation.flag_if_needed()))
        });
        BlastRadius { snapshot, propagation, rows, total, verdicts, namespace, next }
    }

    /// What could not be read, and may follow one of the roots.
    pub fn gaps(&self) -> Vec<Gap> {
        let roots: Vec<ObjectId> = self.rows.iter().map(|row| row.object).collect();
        self.snapshot.gaps_and(self.snapshot.may_hide(&roots))
    }

    /// What the rows are.
    fn heading(&self) -> String {
        let policy = match self.propagation {
            Propagation::Background => String::new(),
            other => format!(" (policy {})", other.name().to_lowercase()),
        };
        format!("{} alone{policy}", count(self.total, "root, deleted", "roots, each deleted"))
    }

    /// What the picture shows.
    fn title(&self) -> String {
        if self.rows.is_empty() { NOTHING.to_owned() } else { self.heading() }
    }

    /// What is said below the rows.
    fn sections(&self) -> Sections {
        let mut sections = Sections::default();
        sections.add(Heading::Next, self.next.iter().map(Said::command));
        sections
    }

    /// How many rows there are no lines for.
    fn left_out(&self) -> Option<String> {
        let more = self.total - self.rows.len();
        (more > 0).then(|| format!("… {more} more with smaller effects (--all shows them)"))
    }

    /// The line of a root.
    fn line(&self, row: &Radius) -> Line {
        let tone = if row.summary.stuck > 0 { Tone::Error } else { Tone::Plain };
        let name = self.snapshot.located(row.object, self.namespace);
        let mut line = Line::new(&name).becomes(fate_of(row.verdict), state(row.verdict));
        line.remark(tone, &in_short(row.summary));
        if let Some(obstacle) = row.obstacle {
            let verb = if obstacle.taken_down { "takes down" } else { "prevented by" };
            line.remark(Tone::Error, &format!("{verb} {}", self.snapshot.short_name(obstacle.object)));
        }
        if row.effects.objects > 0 {
            line.remark(Tone::Error, "also deletes other objects");
        }
        let lost = row.effects.error - row.effects.objects;
        if lost > 0 {
            let remark = match row.verdict {
                VerdictResult::DataLoss => count(lost, "loses data", "lose data"),
                _ => format!("{lost} lost outside the cluster"),
            };
            line.remark(Tone::Error, &remark);
        } else {
            let EffectCounts { warning, unknown, .. } = row.effects;
            let effects = [
                (warning - unknown, "more effect", "more effects"),
                (unknown, "effect not known", "effects not known"),
            ];
            for (number, one, many) in effects.into_iter().filter(|(number, ..)| *number > 0) {
                line.remark(Tone::Warning, &count(number, one, many));
            }
        }
        if !row.certain && row.verdict != VerdictResult::Unsure {
            line.remark(Tone::Warning, "not certain");
        }
        line
    }
}

/// How a verdict on a root looks.
fn fate_of(result: VerdictResult) -> Fate {
    match result {
        VerdictResult::External => Fate::Warning,
        VerdictResult::Nothing => Fate::Untouched,
        other => verdict::headline(other).fate(),
    }
}

/// What the verdict on a root says, as a state.
fn state(verdict: VerdictResult) -> Toned {
    match verdict {
        VerdictResult::DataLoss => (Tone::Error, format!("{LOSS} DATA LOSS")),
        VerdictResult::External => (Tone::Warning, format!("{OUTSIDE} external")),
        VerdictResult::Refused => Fate::Error.column_of("refused"),
        VerdictResult::TakesDown => Fate::Error.column_of("takes down"),
        VerdictResult::Nothing => Fate::Untouched.column_of("nothing"),
        other => fate_of(other).column(),
    }
}

impl Output for BlastRadius<'_> {
    fn document(&self) -> impl Serialize {
        BlastRadiusDocument {
            head: Head::of("BlastRadius", &self.gaps(), self.snapshot),
            propagation: self.propagation,
            total: self.total,
            rows: Named(self.snapshot, &self.rows),
        }
    }

    fn names(&self) -> Option<Vec<String>> {
        Some(full_names(self.snapshot, self.rows.iter().map(|row| row.object)))
    }

    fn picture(&self, options: &PictureOptions<'_>) -> Option<Picture> {
        let graph = OwnerGraph::new(self.snapshot);
        let mut objects = Objects::new(self.snapshot, &graph, options.commands);
        let draw = |row: &Radius| Row { object: Some(objects.add(row.object)), ..row_of(&self.line(row), &[]) };
        let rows = self.rows.iter().map(draw).collect();
        let mut said = self.sections();
        said.add(Heading::Note, self.left_out());
        let sections = said.drawn();
        Some(Picture::of("BlastRadius", self.title(), objects, View { rows, sections, ..View::default() }))
    }

    fn write_verdict(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let told = |(verdict, number): &(VerdictResult, usize)| {
            format!("{} {}", thousands(*number), word_in(&state(*verdict).1))
        };
        let all: Vec<String> = self.verdicts.iter().map(told).collect();
        lines::write_paragraph(Tone::Plain, &format!("{}: {}.", self.heading(), all.join(", ")), options, out)
    }

    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return writeln!(out, "{NOTHING}");
        }
        self.write_verdict(options, out)?;
        writeln!(out)?;
        let lines = self.rows.iter().map(|row| self.line(row)).collect();
        lines::write_padded(lines, options, out)?;
        self.left_out().map_or(Ok(()), |more| writeln!(out, "  {more}"))?;
        self.sections().write_below(options, out)
    }
}
