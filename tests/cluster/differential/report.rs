//! What came of graphs.

use std::fmt::{self, Display, Formatter};

use crate::graphs::{
    end::Changes,
    generate::Case,
    judge::Verdict,
    record::{Record, Start, Trial},
};

/// What came of one graph: of the start of a collector, or of one delete.
#[derive(Clone, Debug)]
pub struct Report {
    /// Where the case comes from.
    pub from: String,
    /// What was built; the collector, and the rounds before this one, made the trial of it.
    pub case: Case,
    /// Nought is the start of the collector.
    pub round: usize,
    pub trial: Trial,
    /// What really became of it.
    pub changes: Changes,
    pub verdict: Verdict,
    /// Whether several ends were foretold; unknown where nobody asked.
    pub order_dependent: Option<bool>,
    pub differences: Vec<String>,
    /// Where a collector started: whether a sweep is foretold to come to the same end.
    pub as_a_sweep: Option<bool>,
    /// What the snapshot that was read of the cluster foretells, where that differs from what the graph's text
    /// foretells.
    pub read_differently: Option<String>,
}

impl Report {
    /// Whether the collector did something that nobody foretold.
    pub fn is_unforetold(&self) -> bool {
        self.verdict > Verdict::Told || self.read_differently.is_some()
    }

    pub fn is_restart(&self) -> bool {
        !matches!(self.trial.start, Start::Delete { .. })
    }

    /// The report for the records.
    pub fn record(&self) -> Record {
        let from = if self.round > 1 { format!("{}, round {}", self.from, self.round) } else { self.from.clone() };
        Record { notes: vec![from], trial: self.trial.clone(), ends: vec![(self.changes.clone(), 1)] }
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Report { case, verdict, differences, .. } = self;
        write!(f, "{verdict:?}:\n{}", self.record())?;
        differences.iter().try_for_each(|difference| writeln!(f, "  {difference}"))?;
        if let Some(read) = &self.read_differently {
            writeln!(f, "  the snapshot of the cluster foretells\n{read}")?;
        }
        if self.is_unforetold() {
            write!(f, "{}", self.record().row())?;
        }
        if case.graph.to_string() != self.trial.graph.to_string() {
            write!(f, "built as\n{}", case.graph)?;
        }
        Ok(())
    }
}

/// How many of how many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub predictions: usize,
    pub objects: usize,
    pub changed: usize,
    pub exact: usize,
    pub describe: usize,
    pub possible: usize,
    pub wrong: usize,
    /// Told to depend on the order of events; none where it was not asked of all.
    pub order_dependent: Option<usize>,
    /// Where a collector started: for how many a sweep is foretold to come to the same end.
    pub as_a_sweep: usize,
}

impl Figures {
    pub fn of<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Self {
        let mut figures = Figures { order_dependent: Some(0), ..Figures::default() };
        for report in reports {
            figures.predictions += 1;
            figures.objects += report.trial.graph.lines.len();
            figures.changed += report.changes.0.len();
            figures.as_a_sweep += usize::from(report.as_a_sweep == Some(true));
            *match report.verdict {
                Verdict::Exact => &mut figures.exact,
                Verdict::Told => &mut figures.describe,
                Verdict::Possible => &mut figures.possible,
                Verdict::Wrong => &mut figures.wrong,
            } += 1;
            figures.order_dependent =
                figures.order_dependent.zip(report.order_dependent).map(|(sum, depends)| sum + usize::from(depends));
        }
        figures
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Figures { predictions, objects, changed, exact, describe, possible, wrong, order_dependent, .. } = self;
        write!(f, "{predictions} predictions, {objects} objects, {changed} of them changed: {exact} exact, ")?;
        write!(f, "{describe} another end that was told, {possible} possible, {wrong} wrong")?;
        order_dependent.iter().try_for_each(|depend| write!(f, "; {depend} told to depend on the order"))
    }
}

/// All reports in one line for each half of the test.
pub fn figures(reports: &[Report]) -> String {
    let (restarts, deletes): (Vec<&Report>, Vec<&Report>) = reports.iter().partition(|report| report.is_restart());
    format!("restarts: {}\n  deletes: {}", Figures::of(restarts), Figures::of(deletes))
}
