//! An event of a watch.

use super::{ObjectId, Snapshot, object::RawObject, resources::ResourceId};

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

impl ObjectEvent {
    /// The event that reports an object of a snapshot as gone. It needs no resourceVersion: no later event can be about
    /// this uid.
    pub fn of_gone(snapshot: &Snapshot, id: ObjectId) -> Self {
        let object = snapshot.object(id);
        let text = |symbol| snapshot.text(symbol).to_owned().into();
        let (namespace, name, uid) = (text(object.namespace), text(object.name), text(object.uid));
        let raw = RawObject { namespace, name, uid, ..RawObject::default() };
        ObjectEvent { resource: object.resource, object: raw, gone: true }
    }
}

/// Whether a resourceVersion is older than another of the same resource. They are decimal numbers; anything else can't
/// be compared.
pub fn is_older(version: &str, known: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    number(version) && number(known) && (version.len(), version) < (known.len(), known)
}
