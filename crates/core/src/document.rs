//! The common parts of all JSON documents: the head, and references to objects.

mod named;

use serde::{Serialize, Serializer};

use crate::model::{Gap, Identity, ObjectId, Origin, ServerVersion, Snapshot, gaps::each_once};

pub use named::Named;

/// The `apiVersion` of every document.
pub const API_VERSION: &str = "kubectl-gc/v1";

/// The head of a document about a cluster or dump, to be flattened into the document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    pub api_version: &'static str,
    pub kind: &'static str,
    /// Whether everything relevant could be read.
    pub complete: bool,
    pub gaps: Vec<Gap>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerVersion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<ReadJson>,
}

/// What a document is about: from where its data was read, and when, and by which version of this program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadJson {
    /// Of a snapshot file, the cluster.
    pub from: Origin,
    /// The time of the data; absent if nothing tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    pub program: &'static str,
}

impl ReadJson {
    fn of(snapshot: &Snapshot) -> Self {
        ReadJson { from: snapshot.origin.clone(), at: snapshot.time().map(rfc3339), program: env!("CARGO_PKG_VERSION") }
    }
}

/// RFC 3339; a time that no calendar has is left in seconds.
pub fn rfc3339(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| seconds.to_string(), |time| time.to_string())
}

/// Writes a time as [`rfc3339`] does.
pub(crate) fn as_rfc3339<S: Serializer>(seconds: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*seconds))
}

impl Head {
    /// The head of a document of this kind about what was read.
    pub fn of(kind: &'static str, gaps: &[Gap], snapshot: &Snapshot) -> Self {
        Head { read: Some(ReadJson::of(snapshot)), ..Head::new(kind, gaps, snapshot.resources.server()) }
    }

    /// The head of a document of this kind.
    pub fn new(kind: &'static str, gaps: &[Gap], server: Option<&ServerVersion>) -> Self {
        // What is gone since it was listed hides nothing.
        let gaps = each_once(gaps);
        Head { api_version: API_VERSION, kind, complete: gaps.is_empty(), gaps, server: server.cloned(), read: None }
    }
}

/// Identifies an object in a document, alone or flattened into more fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectJson<'a> {
    pub api_version: String,
    pub kind: &'a str,
    /// Absent for cluster scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<&'a str>,
    pub name: &'a str,
    pub uid: &'a str,
}

impl<'a> ObjectJson<'a> {
    /// An object of the snapshot, in the API version that the collector uses.
    pub fn of(snapshot: &'a Snapshot, id: ObjectId) -> Self {
        let object = snapshot.object(id);
        let resource = snapshot.resources.get(object.resource);
        ObjectJson {
            api_version: resource.api_version(),
            kind: &resource.kind,
            namespace: Some(snapshot.text(object.namespace)).filter(|namespace| !namespace.is_empty()),
            name: snapshot.text(object.name),
            uid: snapshot.text(object.uid),
        }
    }

    /// An object that the snapshot may no longer contain.
    pub fn named(identity: &'a Identity) -> Self {
        let Identity { api_version, kind, namespace, name, uid } = identity;
        let namespace = Some(namespace.as_str()).filter(|namespace| !namespace.is_empty());
        ObjectJson { api_version: api_version.clone(), kind, namespace, name, uid }
    }
}
