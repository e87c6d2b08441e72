//! Writes what a run observes to files of records.

use std::{
    env,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use crate::{
    bench::Verdict as _,
    graphs::{
        record::{self, Record},
        record_files,
    },
};

use super::report::Report;

/// The records of one run, added to those of earlier runs: right predictions in `RECORD=FILE`, wrong ones in
/// `FILE.unforetold`. A FILE that ends in `.gz` is compressed.
pub struct Records {
    files: Option<[(PathBuf, Vec<Record>); 2]>,
}

impl Records {
    /// Reads the files that `RECORD` names, if it is set.
    pub fn of_environment() -> Self {
        let files = env::var_os("RECORD").map(|path| {
            let path = PathBuf::from(path);
            let mut unforetold = path.clone().into_os_string();
            unforetold.push(".unforetold");
            [path, PathBuf::from(unforetold)].map(|path| {
                let known = read(&path);
                (path, known)
            })
        });
        Records { files }
    }

    /// Adds reports, and writes all files at once, so that an interrupted run loses nothing.
    pub fn add(&mut self, reports: &[Report]) {
        let Some([predicted, unforetold]) = &mut self.files else { return };
        for report in reports.iter().filter(|report| !report.trial.graph.lines.is_empty()) {
            let (_, known) = if report.is_wrong() { &mut *unforetold } else { &mut *predicted };
            record::add(known, report.record());
        }
        for (path, known) in [predicted, unforetold] {
            let written = if known.is_empty() { Ok(()) } else { record_files::write(path, known) };
            written.unwrap_or_else(|error| panic!("cannot write records to {}: {error}", path.display()));
        }
    }
}

fn read(path: &Path) -> Vec<Record> {
    match record_files::read(path) {
        Ok(records) => records,
        Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
        Err(error) => panic!("cannot read records of {}: {error}", path.display()),
    }
}
