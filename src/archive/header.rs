//! What an archive says of itself.

use serde::{Deserialize, Serialize};

use crate::{
    document::ObjectJson,
    model::{Gap, Origin, Snapshot},
};

use super::FORMAT;

/// Where the objects of an archive are from, what they were archived for, and what is not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The version of that program.
    pub kubectl_gc: String,
    /// When it was begun, as in `2026-01-31T08:00:00Z`.
    pub time: String,
    /// The kubeconfig's context; empty where there is none.
    pub context: String,
    /// `host:port` of the API server.
    pub server: String,
    /// The targets whose delete it was written for.
    pub targets: Vec<ObjectName>,
    /// How they were, or are to be, deleted: `Background`, `Foreground` or `Orphan`.
    pub propagation: String,
    /// How many objects it holds; counted when it is saved.
    pub objects: usize,
    /// What could not be read when it was found out what would go: something may be missing because of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// What would have gone, and was gone already when it was to be archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<ObjectName>,
    /// What goes and is not archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl Header {
    /// For an archive of this cluster that is begun at a time, as in `2026-01-31T08:00:00Z`.
    pub fn new(snapshot: &Snapshot, time: String) -> Self {
        let (context, server) = match &snapshot.origin {
            Origin::Cluster { context, server } => (context.clone(), server.clone()),
            Origin::Dump { .. } => Default::default(),
        };
        let kubectl_gc = env!("CARGO_PKG_VERSION").to_owned();
        Header { format: FORMAT, kubectl_gc, time, context, server, ..Header::default() }
    }
}

/// An object by all of its names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    pub api_version: String,
    pub kind: String,
    /// Absent for cluster scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub name: String,
    pub uid: String,
}

impl From<ObjectJson<'_>> for ObjectName {
    fn from(object: ObjectJson<'_>) -> Self {
        ObjectName {
            api_version: object.api_version,
            kind: object.kind.to_owned(),
            namespace: object.namespace.map(str::to_owned),
            name: object.name.to_owned(),
            uid: object.uid.to_owned(),
        }
    }
}

/// Objects that go, too, and that nobody would want back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// As in `events` or `certificates.cert-manager.io`.
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub why: String,
}
