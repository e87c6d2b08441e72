//! Archives: files with whole objects, from which deleted objects can be restored.
//!
//! ```text
//! header   the header of an archive                  yaml   one object as YAML that all parsers read alike
//! order    the order in which objects are created    write  writes a complete file, or none
//! read     reads a verified file, or nothing
//! ```
//!
//! An archive is YAML for kubectl, with one document per object, between two comments for this tool. The first
//! describes the archive; the last has the number of objects and a checksum of everything before it. `docs/archive.md`
//! describes the format.

mod error;
mod header;
mod order;
mod read;
#[cfg(test)]
mod tests;
mod write;
mod yaml;

pub use error::ArchiveError;
pub use header::{Header, LeftOut};
pub use read::{Archive, Objects, header_of};
pub use write::{ArchiveWriter, Saved};
pub use yaml::yaml_of;

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
