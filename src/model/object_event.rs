//! What is seen of an object by whoever watches.

use super::{object::RawObject, resources::ResourceId};

/// An object as it is now, or as it was last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectEvent {
    /// The resource it was seen under, in whichever version.
    pub resource: ResourceId,
    /// As it is; of one that is gone, as it was last.
    pub object: RawObject<'static>,
    /// Whether it is gone.
    pub gone: bool,
}
