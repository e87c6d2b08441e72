//! Results of cases.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use super::{
    case::Case,
    compare::{Compared, Difference, Sort},
};
use crate::bench::Verdict;

/// The result of one case.
#[derive(Clone, Debug)]
pub struct Report {
    pub case: Case,
    /// The command that made the plan.
    pub command: String,
    pub objects: usize,
    pub compared: Compared,
}

impl Report {
    pub fn count(&self, sort: Sort) -> usize {
        self.compared.differences.iter().filter(|difference| difference.sort == sort).count()
    }
}

impl Verdict for Report {
    /// Whether anything was wrong or missed.
    fn is_wrong(&self) -> bool {
        !self.compared.differences.is_empty()
    }

    fn figures(reports: &[Self]) -> String {
        Figures::of(reports).to_string()
    }
}

impl Display for Report {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.command)?;
        self.compared.differences.iter().try_for_each(|difference| writeln!(f, "  {difference}"))?;
        writeln!(f, "  again: CASE=$'{}' … random_workloads", self.case.to_string().replace('\n', "\\n"))
    }
}

/// What was compared, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    pub deletes: usize,
    pub objects: usize,
    pub changed: usize,
    pub outcomes: usize,
    pub certain: usize,
    /// Deletes that were exactly as told.
    pub exact: usize,
    /// Deletes with something wrong, and with something missed.
    pub wrong: usize,
    pub missed: usize,
}

impl Figures {
    pub fn of<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Self {
        let mut figures = Figures::default();
        for report in reports {
            let Compared { outcomes, certain, changed, .. } = report.compared;
            figures.deletes += usize::from(!report.case.targets.is_empty());
            figures.objects += report.objects;
            figures.changed += changed;
            figures.outcomes += outcomes;
            figures.certain += certain;
            figures.exact += usize::from(!report.is_wrong());
            figures.wrong += usize::from(report.count(Sort::Wrong) > 0);
            figures.missed += usize::from(report.count(Sort::Missed) > 0);
        }
        figures
    }
}

impl Display for Figures {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Figures { deletes, objects, changed, outcomes, certain, exact, wrong, missed } = self;
        write!(
            f,
            "{deletes} deletes, {objects} objects, {changed} of them changed, {outcomes} outcomes, {certain} of "
        )?;
        write!(
            f,
            "them certain: {exact} deletes exactly as told, {wrong} with something wrong, {missed} with something "
        )?;
        f.write_str("missed")
    }
}

/// All differences by their cause, the most frequent first, each with the first case that shows it.
pub fn by_cause(reports: &[Report]) -> String {
    let mut causes: BTreeMap<&str, Vec<(&Report, &Difference)>> = BTreeMap::new();
    for report in reports {
        for difference in &report.compared.differences {
            causes.entry(&difference.cause).or_default().push((report, difference));
        }
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, found)| std::cmp::Reverse(found.len()));
    let describe = |(cause, found): &(&str, Vec<(&Report, &Difference)>)| {
        let from: Vec<&str> = found.iter().take(4).map(|(report, _)| report.case.from.as_str()).collect();
        format!("{:4} {cause}\n       {}\n", found.len(), from.join("; "))
    };
    causes.iter().map(describe).collect()
}
