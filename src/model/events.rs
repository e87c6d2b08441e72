//! What the collector says itself, in events.

/// A complaint of the collector's about an object whose owner is in another namespace: an event with the reason
/// `OwnerRefInvalidNamespace` (R3.7). Events expire, and not every such reference is complained of: there being none
/// proves nothing.
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
    /// The collector's own words, which name the owner reference.
    pub message: String,
    /// When it was last complained of, in Unix seconds; none where the event doesn't say.
    pub last: Option<i64>,
}
