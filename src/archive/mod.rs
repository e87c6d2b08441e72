//! Archives: files that hold whole objects, so that what is deleted can be brought back.
//!
//! ```text
//! header   what an archive says of itself          yaml   one object as YAML that every reader takes alike
//! order    in which order objects can be created   write  a file that is there complete, or not at all
//! read     a file that is believed as a whole, or not at all
//! ```
//!
//! An archive is YAML for kubectl, a document for each object, between two comments that are for this tool: the first
//! says what it is, the last how many objects there are and what everything before it sums up to. `docs/archive.md` is
//! its description.

mod error;
mod header;
mod order;
mod read;
#[cfg(test)]
mod tests;
mod write;
mod yaml;

pub use error::ArchiveError;
pub use header::{Header, LeftOut, ObjectName};
pub use read::{Archive, Objects};
pub use write::{ArchiveWriter, Saved};

/// The format that is written, and the newest that is read.
pub const FORMAT: u32 = 1;

/// The beginning of the first line.
const TITLE: &str = "# kubectl gc archive: whole objects, ";
/// What stands before the header, in JSON, on the first line that begins so.
const HEADER: &str = "# kubectl-gc-archive: ";
/// The line before each object.
const SEPARATOR: &str = "---";
/// What stands before the sum, in JSON, on the last line.
const END: &str = "# kubectl-gc-archive-end: ";

/// What the last line says.
#[derive(Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct End {
    objects: usize,
    /// Of everything before this line, unpacked, in hexadecimal digits.
    sha256: String,
}
