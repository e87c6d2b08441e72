//! The header of an archive.

use serde::{Deserialize, Serialize};

use gc_core::model::{Gap, Identity, Origin, Snapshot};

use super::FORMAT;

/// Where the objects of an archive are from, why they were archived, and what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Header {
    /// [`FORMAT`] of the program that wrote it.
    pub format: u32,
    /// The version of that program.
    pub kubectl_gc: String,
    /// When archiving began, such as `2026-01-31T08:00:00Z`.
    pub time: String,
    /// The kubeconfig's context; empty if there is none.
    pub context: String,
    /// `host:port` of the API server.
    pub server: String,
    /// The targets of the delete that it was written for.
    pub targets: Vec<Identity>,
    /// The delete's propagation policy: `Background`, `Foreground` or `Orphan`.
    pub propagation: String,
    /// The number of objects; counted when the archive is saved.
    pub objects: usize,
    /// What could not be read when the delete was predicted: dependents may be missing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<Gap>,
    /// Objects in the prediction that were already gone when they were to be archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<Identity>,
    /// Objects that will be deleted and are not archived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
}

impl Header {
    /// A header for an archive of this cluster, begun at `time`, such as `2026-01-31T08:00:00Z`.
    pub fn new(snapshot: &Snapshot, time: String) -> Self {
        let (context, server) = match &snapshot.origin {
            Origin::Cluster { context, server } => (context.clone(), server.clone()),
            Origin::Dump { .. } => Default::default(),
        };
        let kubectl_gc = env!("CARGO_PKG_VERSION").to_owned();
        Header { format: FORMAT, kubectl_gc, time, context, server, ..Header::default() }
    }
}

/// Objects that are deleted, too, but not worth restoring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Such as `events` or `certificates.cert-manager.io`.
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    pub why: String,
}
