//! Results of graphs.

use std::fmt::{self, Display, Formatter};

use crate::{
    bench,
    graphs::{
        end::Changes,
        generate::Case,
        judge::Verdict,
        record::{Record, Start, Trial},
    },
};

/// The result of one graph: of a collector's start, or of one delete.
#[derive(Clone, Debug)]
pub struct Report {
    /// The origin of the case.
    pub from: String,
    /// What was built. The collector and earlier rounds turned it into the trial.
    pub case: Case,
    /// 0 is the start of the collector.
    pub round: usize,
    pub trial: Trial,
    /// What really happened to the graph.
    pub changes: Changes,
    pub verdict: Verdict,
    /// Whether several ends were predicted; `None` if they weren't counted.
    pub order_dependent: Option<bool>,
    pub differences: Vec<String>,
    /// Only for a collector's start: whether a sweep is predicted to reach the same end.
    pub as_a_sweep: Option<bool>,
    /// What the snapshot of the cluster predicts, if that differs from the prediction for the graph's text.
    pub read_differently: Option<String>,
}

impl Report {
    pub fn is_restart(&self) -> bool {
        !matches!(self.trial.start, Start::Delete { .. } | Start::Finish { .. })
    }

    /// This report as a record.
    pub fn record(&self) -> Record {
        let from = if self.round > 1 { format!("{}, round {}", self.from, self.round) } else { self.from.clone() };
        Record { notes: vec![from], trial: self.trial.clone(), ends: vec![(self.changes.clone(), 1)] }
    }
}

impl bench::Verdict for Report {
    /// Whether the prediction was wrong, or the snapshot predicted something else.
    fn is_wrong(&self) -> bool {
        self.verdict > Verdict::Told || self.read_differently.is_some()
    }

    /// Collector starts and deletes apart.
    fn figures(reports: &[Self]) -> String {
        let (restarts, deletes): (Vec<&Report>, Vec<&Report>) = reports.iter().partition(|report| report.is_restart());
        format!("restarts: {}\n  deletes: {}", Figures::of(restarts), Figures::of(deletes))
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
        if bench::Verdict::is_wrong(self) {
            write!(f, "{}", self.record().row())?;
        }
        if case.graph.to_string() != self.trial.graph.to_string() {
            write!(f, "built as\n{}", case.graph)?;
        }
        Ok(())
    }
}

/// Counts of graphs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub predictions: usize,
    pub objects: usize,
    pub changed: usize,
    pub exact: usize,
    pub describe: usize,
    pub possible: usize,
    pub wrong: usize,
    /// How many are predicted to depend on the order of events; `None` if not all were explored.
    pub order_dependent: Option<usize>,
    /// Only for a collector's starts: for how many a sweep is predicted to reach the same end.
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
