//! `kubectl gc doctor --watch`: looks again and again, and prints changes.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    doctor::Finding,
    model::{Gap, Snapshot},
    operations::OperationError,
};

use super::{
    report::{Exit, Report},
    screen::Screen,
};

/// The result of one look.
pub(super) struct Look {
    pub report: Report,
    /// The findings, each with all its objects.
    pub found: BTreeSet<String>,
    /// What could not be read.
    pub unread: BTreeSet<String>,
}

impl Look {
    /// What is different since another look, to follow the time; `None` if nothing is.
    fn since(&self, before: &Look) -> Option<String> {
        let new = self.found.difference(&before.found).count();
        let gone = before.found.difference(&self.found).count();
        let findings = (new + gone > 0).then(|| format!("{new} new, {gone} resolved or changed"));
        // Without this, nobody would know whether what was told before still rests on everything.
        let reading = match (self.unread == before.unread, self.unread.is_empty()) {
            (true, _) => None,
            (false, true) => Some("everything can be read again".to_owned()),
            (false, false) => Some("what can be read has changed".to_owned()),
        };
        let changes: Vec<String> = findings.into_iter().chain(reading).collect();
        (!changes.is_empty()).then(|| format!(": {}.", changes.join("; ")))
    }
}

/// Identifies what could not be read, to compare two looks. Objects that are gone since they were listed are no change.
pub(super) fn unread(snapshot: &Snapshot) -> BTreeSet<String> {
    snapshot.gaps.iter().filter(|gap| !gap.is_of_gone()).map(Gap::place).collect()
}

/// Identifies the findings, to compare two looks.
pub(super) fn found(snapshot: &Snapshot, findings: &[Finding]) -> BTreeSet<String> {
    let describe = findings.iter().map(|finding| {
        let mut uids: Vec<&str> = finding.objects.iter().map(|id| snapshot.text(snapshot.object(*id).uid)).collect();
        uids.sort_unstable();
        format!("{} {} {}", finding.code.name(), finding.cause, uids.join(","))
    });
    describe.collect()
}

/// Looks until standard output is closed, and prints whenever the findings or what can be read change. Errors are
/// reported and retried, except in the first look, which must succeed. A line precedes a report if it `is_text`.
pub(super) fn watch(
    interval: Duration,
    is_text: bool,
    mut look: impl FnMut() -> Result<Look, OperationError>,
) -> Result<Report, OperationError> {
    let first = look()?;
    let next = || {
        std::thread::sleep(interval);
        look()
    };
    Ok(over(&Screen::lasting(is_text).keep(interval, first, next, |look| &look.report, Look::since)))
}

/// The final report: empty, because everything is already printed.
fn over(look: &Look) -> Report {
    Report {
        data: Vec::new(),
        notes: Vec::new(),
        exit: if look.report.exit == Exit::BadNews { Exit::BadNews } else { Exit::Fine },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(found: &[&str]) -> Look {
        let found = found.iter().map(|text| (*text).to_owned()).collect();
        Look { report: Report::of(Vec::new()), found, unread: BTreeSet::new() }
    }

    #[test]
    fn whatever_changes_is_told() {
        let blind = |unread: &[&str]| Look { unread: look(unread).found, ..look(&["a"]) };
        let told = |now: Look, before: Look| now.since(&before);
        assert_eq!(told(look(&["a"]), look(&["a"])), None);
        assert_eq!(told(look(&["b"]), look(&["a"])).as_deref(), Some(": 1 new, 1 resolved or changed."));
        assert_eq!(told(blind(&["secrets"]), look(&["a"])).as_deref(), Some(": what can be read has changed."));
        assert_eq!(told(blind(&[]), blind(&["secrets"])).as_deref(), Some(": everything can be read again."));
        assert_eq!(
            told(look(&[]), blind(&["secrets"])).as_deref(),
            Some(": 0 new, 1 resolved or changed; everything can be read again.")
        );
        assert_eq!(told(blind(&["secrets"]), blind(&["secrets"])), None);
    }

    /// The first look must succeed; later ones are retried.
    #[test]
    fn only_the_first_look_has_to_come_about() {
        let failed = || Err(OperationError::Usage("no".to_owned()));
        assert!(watch(Duration::ZERO, false, failed).is_err());
        let mut looks = 0;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            watch(Duration::ZERO, false, || {
                looks += 1;
                match looks {
                    1 => Ok(look(&["a"])),
                    2 | 3 => failed_look(),
                    _ => panic!("it goes on"),
                }
            })
        }));
        assert!(caught.is_err() && looks == 4);
    }

    fn failed_look() -> Result<Look, OperationError> {
        Err(OperationError::Usage("gone".to_owned()))
    }
}
