//! Events: of a watch, with what reading an object again tells; the collector's own; and those about an object.

use super::{ObjectId, Snapshot, object::RawObject, resources::ResourceId};

/// An event in which the collector complains about an owner in another namespace, reason `OwnerRefInvalidNamespace`
/// (R3.7). Events expire, and not every such reference gets one: without an event nothing is proven.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerEvent {
    /// The dependent's apiVersion, as the collector watches it.
    pub api_version: String,
    /// The dependent's kind.
    pub kind: String,
    /// The dependent's namespace; empty for cluster scope.
    pub namespace: String,
    /// The dependent's name.
    pub name: String,
    /// The dependent's uid.
    pub uid: String,
    /// The collector's message, which names the owner reference.
    pub message: String,
    /// When it was last observed, in Unix seconds; `None` if the event doesn't say.
    pub last: Option<i64>,
}

/// An event about an object of some name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedEvent {
    /// The object's kind.
    pub kind: String,
    pub reason: String,
    pub message: String,
    /// The component that reported it.
    pub by: String,
    /// When it was last observed, in Unix seconds; `None` if the event doesn't say.
    pub last: Option<i64>,
}

/// Whether a message is the collector's, about an owner that does not exist in its dependent's namespace (R3.7).
pub fn is_owner_complaint(message: &str) -> bool {
    message.starts_with("ownerRef [") && message.contains("] does not exist in namespace ")
}

/// The namespace and the owner's uid of such a complaint: `ownerRef [apps/v1/Deployment, namespace: a, name: web, uid:
/// 1] does not exist in namespace "a"`.
pub fn read_owner_complaint(message: &str) -> Option<(&str, &str)> {
    let (reference, namespace) = message.rsplit_once("] does not exist in namespace ")?;
    let (_, uid) = reference.rsplit_once(", uid: ")?;
    Some((namespace.trim_matches('"'), uid))
}

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
