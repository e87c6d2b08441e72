//! What can go wrong with an archive file, and what to do about it.

use std::io;

use crate::dump::DumpError;

use super::FORMAT;

/// Why an archive could not be written, or can't be believed.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// A name that doesn't say what is in the file.
    #[error("{path}: an archive's name ends in .yaml, or in .yaml.gz to be compressed")]
    Name { path: String },
    /// Never is anything replaced.
    #[error("{path} already exists{}: it is never replaced; give another name, or move it away",
        found.as_ref().map_or_else(String::new, |found| format!(" ({found})")))]
    Exists { path: String, found: Option<String> },
    /// A folder where a file is to be.
    #[error("{path} is a folder: give the name of a file in it")]
    IsFolder { path: String },
    /// Nowhere to write to.
    #[error("{path} cannot be written: there is no folder {folder}; create it first")]
    NoFolder { path: String, folder: String },
    /// What the system says when something is written. Nothing is left at the path.
    #[error("{path} cannot be written: {source}{}", advice(source))]
    Unwritable { path: String, source: io::Error },
    /// What was saved is not what is at the path any more.
    #[error("{path} was moved or replaced while it was written; it was not changed")]
    NotOurs { path: String },
    /// Something that was handed over to be archived is no object.
    #[error("an object without {field} can't be archived: {object}")]
    NoObject { field: &'static str, object: String },

    /// Nothing to read.
    #[error("{path}: no such file")]
    NotFound { path: String },
    /// What the system says when it is read.
    #[error("{path} cannot be read: {source}")]
    Unreadable { path: String, source: io::Error },
    /// Some other file.
    #[error(
        "{path} is not an archive: {found}; an archive is a file written by kubectl gc archive or kubectl gc \
         delete --archive"
    )]
    NotAnArchive { path: String, found: &'static str },
    /// A later version's.
    #[error(
        "{path} is an archive of format {format}, but this version reads formats up to {FORMAT}: use the \
         version of kubectl gc that wrote it{}",
        written_by(version)
    )]
    Newer { path: String, format: u64, version: String },
    /// The last line is missing, and who knows what else.
    #[error("{path} is cut off after {objects}{} objects: it is not used, because the rest is missing; use \
        another copy", of(*expected))]
    CutOff { path: String, objects: usize, expected: Option<usize> },
    /// Something was changed.
    #[error(
        "{path} was changed after it was written: its checksum is wrong (sha256 {found}, expected {expected}); \
         use another copy"
    )]
    Sum { path: String, found: String, expected: String },
    /// The number of objects is not what the first, or the last, line says.
    #[error("{path} contains {found} objects, but its header says {expected}: it is not used; use another copy")]
    Count { path: String, found: usize, expected: usize },
    /// Something stands behind the last line.
    #[error(
        "{path} continues after its end (line {line}): it is not used; if objects were added on purpose, create \
         them with kubectl instead"
    )]
    AfterEnd { path: String, line: usize },
    /// One of the lines that are for this tool makes no sense.
    #[error("{path}: line {line} is invalid: {why}; it is not used; use another copy")]
    Line { path: String, line: usize, why: String },
    /// Broken compression.
    #[error("{path}: broken gzip: {source}; it is not used; use another copy")]
    Gzip { path: String, source: io::Error },
    /// A document that can't be read although the sum is right.
    #[error("{path}: object {number}: {why}")]
    Object { path: String, number: usize, why: String },
    /// The reader of YAML's own words.
    #[error(transparent)]
    Yaml(#[from] DumpError),
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            "; free some space, or give a name on another disk"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "; give a name in a folder that you may write to"
        }
        _ => "",
    }
}

fn of(expected: Option<usize>) -> String {
    expected.map_or_else(String::new, |expected| format!(" of {expected}"))
}

fn written_by(version: &str) -> String {
    if version.is_empty() { String::new() } else { format!(" ({version})") }
}
