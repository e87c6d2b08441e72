//! Reading and writing files: dumps, folders, snapshot files.

use crate::model::Snapshot;

/// What is wrong with a dump. (The real one is a thiserror enum.)
pub type DumpError = std::io::Error;

/// Reads everything that `--from` names: files, folders, `-`.
pub fn read(_paths: &[String], _assume_complete: bool) -> Result<Snapshot, DumpError> {
    todo!()
}

/// Writes a snapshot file.
pub fn write(_snapshot: &Snapshot, _to: &mut dyn std::io::Write) -> std::io::Result<()> {
    todo!()
}
