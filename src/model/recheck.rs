//! What a second look at an object says.

use super::object::RawObject;

/// What is at an object's coordinate when it is looked at again. Lists are old as soon as they are read; only such a
/// look tells what is so now (R8.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecheckResult {
    /// The same object, and nothing that is kept of it has changed ([`Snapshot::is_still`](super::Snapshot::is_still)).
    Same,
    /// The same object (equal uid), with other metadata.
    Changed(RawObject<'static>),
    /// Nothing: the server says so of this very object.
    Gone,
    /// Another object has taken its place: same coordinate, other uid.
    Replaced(RawObject<'static>),
    /// Nobody knows: forbidden, failed or not served any more. Why, in words.
    Unanswered(String),
}
