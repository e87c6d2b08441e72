//! Reads and writes files: dumps of `kubectl get -o yaml`, folders of dumps, and snapshot files.
//!
//! ```text
//! input     finds files and reads their texts      text        splits a text into documents (yaml: YAML)
//! document  reads one document: objects, lists     collect     collects all objects, validated
//! metadata  reads its metadata (any, capture: values of any type)
//! plain     turns objects into a snapshot (with served, definition, guess)
//! kustomize what `kubectl kustomize` prints           snapshot_file  reads and writes whole snapshots
//! ```

mod any;
mod capture;
mod collect;
mod definition;
mod document;
mod error;
mod guess;
mod input;
mod kustomize;
mod metadata;
mod plain;
mod served;
mod snapshot_file;
mod text;
pub(crate) mod yaml;

pub use error::{DumpError, Place};
pub(crate) use kustomize::kustomized;
pub use snapshot_file::write;
pub(crate) use snapshot_file::write_to_path;

use crate::model::Snapshot;

/// The default limit for the size of all input together, decompressed, in bytes.
pub const MAX_INPUT: u64 = 4 << 30;

/// Reads everything in `--from`: files, folders, `-` for standard input.
///
/// A file may contain JSON (one document or several), YAML documents, either of them gzipped, or a snapshot written by
/// [`write()`], which must then be the only file. A plain dump proves absence only for kinds and namespaces it
/// contains; `assume_complete` declares it complete. It has no effect on snapshot files, which record what they cover.
///
/// # Errors
/// The first problem, with its file and place: [`DumpError`].
pub fn read(paths: &[String], assume_complete: bool) -> Result<Snapshot, DumpError> {
    read_up_to(MAX_INPUT, paths, assume_complete)
}

/// [`read`] with another limit than [`MAX_INPUT`].
///
/// # Errors
/// As [`read`].
pub fn read_up_to(max_input: u64, paths: &[String], assume_complete: bool) -> Result<Snapshot, DumpError> {
    let files = input::files(paths)?;
    let mut left = max_input;
    let texts = files.iter().map(|file| {
        let text = input::text(file, left)?;
        left -= text.len() as u64;
        Ok((file.shown.as_str(), text))
    });
    read_texts(paths, files.len(), texts, assume_complete)
}

/// Reads texts, each with the name of its file, one at a time.
fn read_texts<'a>(
    paths: &[String],
    count: usize,
    texts: impl Iterator<Item = Result<(&'a str, String), DumpError>>,
    assume_complete: bool,
) -> Result<Snapshot, DumpError> {
    let mut collector = collect::Collector::default();
    for text in texts {
        let (path, text) = text?;
        if let text::Outcome::Own(api_version) = text::collect(path, &text, &mut collector)? {
            if count > 1 {
                return Err(DumpError::SnapshotNotAlone { path: path.to_owned() });
            }
            return snapshot_file::read(path, &text, &api_version);
        }
    }
    let collected = collector.finish();
    if collected.objects.is_empty() {
        return Err(DumpError::Empty { paths: paths.to_vec() });
    }
    plain::build(paths, collected, assume_complete)
}

/// Reads bytes as a file named `dump`.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn read_bytes(bytes: &[u8], assume_complete: bool) -> Result<Snapshot, DumpError> {
    let text = input::decode("dump", bytes.to_vec(), MAX_INPUT).map(|text| ("dump", text));
    read_texts(&["dump".to_owned()], 1, [text].into_iter(), assume_complete)
}

#[cfg(test)]
mod tests;
