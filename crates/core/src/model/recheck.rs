//! The result of reading an object again.

use super::object::RawObject;

/// What reading an object's coordinate again returned. A list is outdated as soon as it is read; only another GET shows
/// the current state (R8.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecheckResult {
    /// The same object with the same metadata ([`Snapshot::is_still`](super::Snapshot::is_still)).
    Same,
    /// The same object (equal uid) with other metadata.
    Changed(RawObject<'static>),
    /// The object is gone.
    Gone,
    /// Another object has taken its place (same coordinate, other uid).
    Replaced(RawObject<'static>),
    /// Unknown: forbidden, failed, or not served any more. Contains the reason.
    Unanswered(String),
}
