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
