//! `kubectl gc doctor --watch`: looks again and again, and prints changes.

use std::{collections::BTreeSet, time::Duration};

use crate::{doctor::Diagnosis, model::Snapshot, operations::OperationError};

use super::{exit::Exit, report::Report, screen::Screen};

/// The result of one look.
pub(super) struct Look {
    pub report: Report,
    /// The findings, each with all its objects.
    pub found: BTreeSet<String>,
}

/// Identifies the findings, to compare two looks.
pub(super) fn found(snapshot: &Snapshot, diagnosis: &Diagnosis) -> BTreeSet<String> {
    let describe = diagnosis.findings.iter().map(|finding| {
        let mut uids: Vec<&str> = finding.objects.iter().map(|id| snapshot.text(snapshot.object(*id).uid)).collect();
        uids.sort_unstable();
        format!("{} {} {}", finding.code.name(), finding.cause, uids.join(","))
    });
    describe.collect()
}

/// Looks until standard output is closed, and prints whenever the findings change. Errors are reported and retried,
/// except in the first look, which must succeed. A line precedes a report if it `is_text`.
pub(super) fn watch(
    interval: Duration,
    is_text: bool,
    mut look: impl FnMut() -> Result<Look, OperationError>,
) -> Result<Report, OperationError> {
    let mut screen = Screen::lasting(is_text);
    let mut before = look()?;
    let mut open = screen.draw(&before.report, "");
    while open {
        std::thread::sleep(interval);
        match look() {
            Ok(now) => {
                screen.is_well();
                if now.found != before.found {
                    let new = now.found.difference(&before.found).count();
                    let gone = before.found.difference(&now.found).count();
                    open = screen.draw(&now.report, &format!(": {new} new, {gone} resolved or changed."));
                }
                before = now;
            }
            Err(error) => screen.fails(&error, interval),
        }
    }
    Ok(over(&before))
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
        Look { report: Report::of(Vec::new()), found }
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
