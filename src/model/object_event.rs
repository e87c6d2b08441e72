//! An event of a watch.

use super::{object::RawObject, resources::ResourceId};

/// The current or last state of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEvent {
    /// The resource that was watched, in any version.
    pub resource: ResourceId,
    /// The current state; the last one if it is gone.
    pub object: RawObject<'static>,
    /// Whether it was deleted.
    pub gone: bool,
}

/// Whether a resourceVersion is older than another of the same resource. They are decimal numbers; anything else can't
/// be compared.
pub(crate) fn is_older(version: &str, known: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    number(version) && number(known) && (version.len(), version) < (known.len(), known)
}
