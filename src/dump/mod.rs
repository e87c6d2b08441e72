//! Reading and writing files: dumps as `kubectl get -o yaml` makes them, folders of such, and snapshot files.
//!
//! ```text
//! input     which files, and their texts        text        the documents of a text, JSON or YAML (yaml)
//! document  one document: objects, lists        collect     every object, checked, once
//! plain     objects to snapshot (with served, definition, guess)
//! snapshot_file                                 a whole snapshot, written and read
//! ```

mod capture;
mod collect;
mod definition;
mod document;
mod error;
mod guess;
mod input;
mod metadata;
mod plain;
mod served;
mod snapshot_file;
mod text;
pub(crate) mod yaml;

pub use error::{DumpError, Place};
pub use snapshot_file::{write, write_to_path};

use crate::model::Snapshot;

/// Reads everything that `--from` names: files, folders, `-` for standard input.
///
/// A file may hold JSON (one document or many), YAML documents, either of them gzipped, or a snapshot as [`write()`]
/// makes it, which must then be the only file. In a plain dump nothing is absent of whose kind and namespace the dump
/// holds no object; `assume_complete` says that the dump is everything there is. It changes nothing about a snapshot
/// file, which knows what it covers.
///
/// # Errors
/// The first thing that is wrong, with its file and its place in it: [`DumpError`].
pub fn read(paths: &[String], assume_complete: bool) -> Result<Snapshot, DumpError> {
    let files = input::files(paths)?;
    let texts = files.iter().map(|path| Ok((path.as_str(), input::text(path)?)));
    read_texts(paths, files.len(), texts, assume_complete)
}

/// Reads texts, each with the name of its file. Only one is held at a time.
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
    let (strings, objects) = collector.finish();
    if objects.is_empty() {
        return Err(DumpError::Empty { paths: paths.to_vec() });
    }
    plain::build(paths, &strings, &objects, assume_complete)
}

#[cfg(test)]
mod tests;
