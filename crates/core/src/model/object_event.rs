//! An event of a watch, and what reading an object again tells.

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
