//! What came of graphs.

use std::fmt::{self, Display, Formatter};

use kubectl_gc::server::Propagation;

use super::{generate::Case, graph::Graph, judge::Verdict};

/// What came of one delete in one graph.
#[derive(Clone, Debug)]
pub struct Report {
    /// What was built; the collector, and the rounds before this one, made `before` of it.
    pub case: Case,
    pub round: usize,
    pub before: Graph,
    pub targets: Vec<String>,
    pub propagation: Propagation,
    pub verdict: Verdict,
    /// How many objects really changed.
    pub changed: usize,
    /// Several ends were foretold.
    pub order_dependent: bool,
    pub differences: Vec<String>,
}

impl Report {
    /// The report without what tells copies of a graph apart.
    pub fn without_places(&self) -> String {
        let Some(prefix) = self.differences.first().and_then(|difference| difference.split_once('-')) else {
            return self.to_string();
        };
        self.to_string().replace(&format!("{}-", prefix.0), "")
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Report { case, round, before, targets, propagation, verdict, differences, .. } = self;
        writeln!(f, "{verdict:?}: round {round}, {propagation:?} of {}, in", targets.join(" "))?;
        write!(f, "{before}")?;
        differences.iter().try_for_each(|difference| writeln!(f, "  {difference}"))?;
        if case.graph.to_string() != before.to_string() {
            write!(f, "built as\n{}", case.graph)?;
        }
        Ok(())
    }
}

/// All reports in one line.
pub fn figures(reports: &[Report]) -> String {
    let count = |of: &dyn Fn(&Report) -> bool| reports.iter().filter(|report| of(report)).count();
    let verdict = |verdict: Verdict| count(&|report| report.verdict == verdict);
    let objects: usize = reports.iter().map(|report| report.before.lines.len()).sum();
    format!(
        "{} deletes in {} graphs of {objects} objects, {} of them changed: {} exact, {} another end that was told, {} possible, {} wrong; \
         {} told to depend on the order",
        reports.len(),
        count(&|report| report.round == 1),
        reports.iter().map(|report| report.changed).sum::<usize>(),
        verdict(Verdict::Exact),
        verdict(Verdict::Told),
        verdict(Verdict::Possible),
        verdict(Verdict::Wrong),
        count(&|report| report.order_dependent),
    )
}
