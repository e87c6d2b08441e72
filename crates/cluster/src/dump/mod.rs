//! Reads and writes files: dumps of `kubectl get -o yaml`, folders of dumps, and snapshot files.
//!
//! ```text
//! input     finds and opens files                  text        reads a text by documents: JSON (cut by pieces), YAML
//! document  reads one document: objects, lists     collect     collects all objects, validated
//! metadata  reads its metadata (any: values of any type)
//! plain     turns objects into a snapshot (with served)
//! snapshot_file  reads and writes whole snapshots
//! ```

mod any;
mod collect;
mod document;
mod error;
#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
mod input;
mod metadata;
mod pieces;
mod plain;
mod served;
mod snapshot_file;
mod text;
pub mod yaml;

pub use error::{DumpError, Place};
pub use input::{EXAMPLE, Examples, Fetch, ReadOptions, kustomized};
pub use snapshot_file::{folder_of, write, write_to_path};

use gc_core::{
    model::Snapshot,
    progress::{self, Work},
};

/// The default limit for the size of all input together, decompressed, in bytes.
pub const MAX_INPUT: u64 = 4 << 30;

/// Reads everything in `--from`: files, folders, `-` for standard input. URLs are errors.
///
/// A file may contain JSON (one document or several), YAML documents, either of them gzipped, or a snapshot written by
/// [`write()`], which must then be the only file.
///
/// # Errors
/// The first problem, with its file and place: [`DumpError`].
pub fn read(paths: &[String], assume_complete: bool) -> Result<Snapshot, DumpError> {
    let fetch: Fetch = |_| Err("URLs are not read here".to_owned());
    read_with(paths, ReadOptions { max_input: MAX_INPUT, fetch, examples: &[], assume_complete, for_reclaim: false })
}

/// [`read`] with other options.
///
/// # Errors
/// As [`read`].
pub fn read_with(paths: &[String], options: ReadOptions) -> Result<Snapshot, DumpError> {
    progress::during(Work::Reading, || read_files(paths, options))
}

fn read_files(paths: &[String], options: ReadOptions) -> Result<Snapshot, DumpError> {
    let ReadOptions { max_input, examples, assume_complete, for_reclaim, .. } = options;
    let assume_complete = assume_complete || paths.iter().all(|path| input::is_example(path, examples));
    let mut collector = if for_reclaim { collect::Collector::for_reclaim() } else { collect::Collector::default() };
    let files = input::files(paths, examples)?;
    progress::expect_with(|| input::size(&files));
    let mut left = max_input;
    for file in &files {
        let pieces = pieces::Pieces::of(file.open(left, options)?);
        let (outcome, read) = text::collect(&file.shown, pieces, &mut collector, &|error| file.failed(error))?;
        left -= read;
        if let text::Outcome::Own(api_version, text) = outcome {
            if files.len() > 1 {
                return Err(DumpError::SnapshotNotAlone { path: file.shown.clone() });
            }
            return snapshot_file::read(&file.shown, &text, &api_version);
        }
    }
    build(paths, collector, assume_complete)
}

fn build(paths: &[String], mut collected: collect::Collector, assume_complete: bool) -> Result<Snapshot, DumpError> {
    collected.apply_deletions();
    if collected.objects.is_empty() {
        return Err(DumpError::Empty { paths: paths.to_vec() });
    }
    plain::build(paths, collected, assume_complete)
}

/// Reads bytes as a file named `dump`.
#[cfg(any(test, feature = "testing"))]
pub fn read_bytes(bytes: &[u8], assume_complete: bool) -> Result<Snapshot, DumpError> {
    read_in_chunks(bytes, pieces::CHUNK, assume_complete)
}

/// [`read_bytes`], so many at once.
#[cfg(any(test, feature = "testing"))]
pub(crate) fn read_in_chunks(bytes: &[u8], chunk: usize, assume_complete: bool) -> Result<Snapshot, DumpError> {
    let mut collector = collect::Collector::default();
    let failed = |error| input::failed("dump", error);
    let pieces = pieces::Pieces::of(input::decompressed(bytes, MAX_INPUT).map_err(failed)?).in_chunks(chunk);
    match text::collect("dump", pieces, &mut collector, &failed)? {
        (text::Outcome::Own(api_version, text), _) => snapshot_file::read("dump", &text, &api_version),
        (text::Outcome::Collected, _) => build(&["dump".to_owned()], collector, assume_complete),
    }
}

#[cfg(test)]
mod tests;
