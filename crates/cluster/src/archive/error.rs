//! Errors of archive files, and what to do about them.

use std::io;

use crate::dump::DumpError;

use super::FORMAT;

/// Why an archive could not be written or used.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The name doesn't have an archive's ending.
    #[error("{path}: an archive's name ends in .yaml, or in .yaml.gz to be compressed")]
    Name { path: String },
    /// The file exists, and is not replaced.
    #[error("{path} already exists{}: it is never replaced; give another name, or move it away",
        found.as_ref().map_or_else(String::new, |found| format!(" ({found})")))]
    Exists { path: String, found: Option<String> },
    /// The path is a folder.
    #[error("{path} is a folder: give the name of a file in it")]
    IsFolder { path: String },
    /// The folder of the path doesn't exist.
    #[error("{path} cannot be written: there is no folder {folder}; create it first")]
    NoFolder { path: String, folder: String },
    /// The operating system's error when writing. Nothing is left at the path.
    #[error("{path} cannot be written: {source}{}", advice(source))]
    Unwritable { path: String, source: io::Error },
    /// The file at the path is no longer the one that was saved.
    #[error("{path} was moved or replaced while it was written; it was not changed")]
    NotOurs { path: String },
    /// The JSON to archive is no object.
    #[error("an object without {field} can't be archived: {object}")]
    NoObject { field: &'static str, object: String },

    /// There is no such file.
    #[error("{path}: no such file")]
    NotFound { path: String },
    /// The operating system's error when reading.
    #[error("{path} cannot be read: {source}")]
    Unreadable { path: String, source: io::Error },
    /// The file is no archive.
    #[error(
        "{path} is not an archive: {found}; an archive is a file written by kubectl gc archive or kubectl gc \
         delete --archive"
    )]
    NotAnArchive { path: String, found: &'static str },
    /// A later version of this tool wrote it.
    #[error(
        "{path} is an archive of format {format}, but this version reads formats up to {FORMAT}: use the \
         version of kubectl gc that wrote it{}",
        written_by(version)
    )]
    Newer { path: String, format: u64, version: String },
    /// The end line is missing, and maybe more.
    #[error("{path} is cut off after {objects}{} objects: it is not used, because the rest is missing; use \
        another copy", of(*expected))]
    CutOff { path: String, objects: usize, expected: Option<usize> },
    /// The checksum is wrong.
    #[error(
        "{path} was changed after it was written: its checksum is wrong (sha256 {found}, expected {expected}); \
         use another copy"
    )]
    Sum { path: String, found: String, expected: String },
    /// The number of objects differs from the one in the header or the end line.
    #[error("{path} contains {found} objects, but its header says {expected}: it is not used; use another copy")]
    Count { path: String, found: usize, expected: usize },
    /// Something follows the end line.
    #[error(
        "{path} continues after its end (line {line}): it is not used; if objects were added on purpose, create \
         them with kubectl instead"
    )]
    AfterEnd { path: String, line: usize },
    /// A header or end line is invalid.
    #[error("{path}: line {line} is invalid: {why}; it is not used; use another copy")]
    Line { path: String, line: usize, why: String },
    /// The compressed data is invalid.
    #[error("{path}: broken gzip: {source}; it is not used; use another copy")]
    Gzip { path: String, source: io::Error },
    /// An object is invalid, although the checksum is right.
    #[error("{path}: object {number}: {why}")]
    Object { path: String, number: usize, why: String },
    /// The YAML parser's error.
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
