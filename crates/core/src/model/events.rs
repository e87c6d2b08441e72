//! Events: the collector's own, and those about an object.

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
