//! Archives: files with whole objects, from which deleted objects can be restored.
//!
//! ```text
//! read     reads a verified file, or nothing         yaml   one object as YAML that all parsers read alike
//! write    writes a complete file, or none
//! ```
//!
//! An archive is YAML for kubectl, with one document per object, between two comments for this tool. The first
//! describes the archive; the last has the number of objects and a checksum of everything before it. `docs/archive.md`
//! describes the format.

mod error;
mod read;
#[cfg(test)]
mod tests;
mod write;
mod yaml;

pub use error::ArchiveError;
pub use read::{Archive, Objects, header_of};
pub use write::{ArchiveWriter, Saved};
pub use yaml::yaml_of;

use serde::{Deserialize, Serialize};

use gc_core::model::{Gap, Identity, Origin, Snapshot};

/// The format that this version writes, and the newest that it reads.
pub const FORMAT: u32 = 1;

/// The beginning of the first line.
const TITLE: &str = "# kubectl gc archive: whole objects, ";
/// The beginning of the header line, followed by JSON.
const HEADER: &str = "# kubectl-gc-archive: ";
/// The line before each object.
const SEPARATOR: &str = "---";
/// The beginning of the last line, followed by JSON.
const END: &str = "# kubectl-gc-archive-end: ";

/// These lines with the last line that belongs to them.
#[cfg(any(test, feature = "testing"))]
pub fn sealed(lines: &[u8]) -> Vec<u8> {
    use sha2::Digest as _;
    let text = String::from_utf8_lossy(lines);
    let end = End {
        objects: text.lines().filter(|line| *line == SEPARATOR).count(),
        sha256: write::hexadecimal(&sha2::Sha256::digest(lines)),
    };
    let end = serde_json::to_string(&end).expect("a number and a text");
    [lines, END.as_bytes(), end.as_bytes(), b"\n"].concat()
}

/// The content of the last line.
#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct End {
    objects: usize,
    /// Of everything before this line, uncompressed, in hexadecimal.
    sha256: String,
}

/// Where the objects of an archive are from, why they were archived, and what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The version of that program.
    pub kubectl_gc: String,
    /// When archiving began, such as `2026-01-31T08:00:00Z`.
    pub time: String,
    /// The kubeconfig's context; empty if there is none.
    pub context: String,
    /// `host:port` of the API server.
    pub server: String,
    /// The targets of the delete that it was written for.
    pub targets: Vec<Identity>,
    /// The delete's propagation policy: `Background`, `Foreground` or `Orphan`.
    pub propagation: String,
    /// The number of objects; counted when the archive is saved.
    pub objects: usize,
    /// What could not be read when the delete was predicted: dependents may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Objects in the prediction that were already gone when they were to be archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Identity>,
    /// Objects that will be deleted and are not archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl Header {
    /// A header for an archive of this cluster, begun at `time`, such as `2026-01-31T08:00:00Z`.
    pub fn new(snapshot: &Snapshot, time: String) -> Self {
        let (context, server) = match &snapshot.origin {
            Origin::Cluster { context, server } => (context.clone(), server.clone()),
            Origin::Dump { .. } => Default::default(),
        };
        let kubectl_gc = env!("CARGO_PKG_VERSION").to_owned();
        Header { format: FORMAT, kubectl_gc, time, context, server, ..Header::default() }
    }
}

/// Objects that are deleted, too, but not worth restoring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Such as `events` or `certificates.cert-manager.io`.
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub why: String,
}
