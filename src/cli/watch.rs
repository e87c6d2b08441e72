//! `kubectl gc doctor --watch`: looks again and again, and prints changes.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    time::Duration,
};

use crate::{doctor::Diagnosis, model::Snapshot, operations::OperationError};

use super::{
    exit::Exit,
    report::{Report, describe_error, print_data},
};

/// The result of one look.
pub(super) struct Look {
    pub report: Report,
    /// Whether the report is text, so that a line may precede it.
    pub is_text: bool,
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
/// except in the first look, which must succeed.
pub(super) fn watch(
    interval: Duration,
    mut look: impl FnMut() -> Result<Look, OperationError>,
) -> Result<Report, OperationError> {
    let mut before = look()?;
    if !print(&before, None) {
        return Ok(over(&before));
    }
    let mut trouble = String::new();
    loop {
        std::thread::sleep(interval);
        let now = match look() {
            Ok(now) => now,
            Err(error) => {
                let describe = describe_error(&error);
                if describe != trouble {
                    let _ = writeln!(io::stderr(), "error: {describe}; retrying every {interval:?}");
                }
                trouble = describe;
                continue;
            }
        };
        trouble.clear();
        if now.found != before.found && !print(&now, Some(&before)) {
            return Ok(over(&now));
        }
        before = now;
    }
}

/// The final report: empty, because everything is already printed.
fn over(look: &Look) -> Report {
    Report {
        data: Vec::new(),
        notes: Vec::new(),
        exit: if look.report.exit == Exit::BadNews { Exit::BadNews } else { Exit::Fine },
    }
}

/// Prints a look. Returns whether standard output is still open.
fn print(look: &Look, before: Option<&Look>) -> bool {
    let mut data = Vec::new();
    if let Some(before) = before.filter(|_| look.is_text) {
        let new = look.found.difference(&before.found).count();
        let gone = before.found.difference(&look.found).count();
        let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
        data.extend(format!("\n{time}: {new} new, {gone} resolved or changed.\n\n").into_bytes());
    }
    data.extend(&look.report.data);
    if before.is_none_or(|before| before.report.notes != look.report.notes) {
        for note in &look.report.notes {
            let _ = writeln!(io::stderr(), "{}", crate::render::go_quote::visible(note));
        }
    }
    print_data(&data).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(found: &[&str]) -> Look {
        let found = found.iter().map(|text| (*text).to_owned()).collect();
        Look { report: Report::of(Vec::new()), is_text: false, found }
    }

    /// The first look must succeed; later ones are retried.
    #[test]
    fn only_the_first_look_has_to_come_about() {
        let failed = || Err(OperationError::Usage("no".to_owned()));
        assert!(watch(Duration::ZERO, failed).is_err());
        let mut looks = 0;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            watch(Duration::ZERO, || {
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
