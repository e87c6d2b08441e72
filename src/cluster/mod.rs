//! Reading a live cluster. Nothing here writes to one.

use crate::model::{Coordinate, ObjectId, ResourceId, Resources, Snapshot};

/// kubectl's connection flags, as they were given.
#[derive(Clone, Debug, Default)]
pub struct ConnectionOptions {
    pub kubeconfig: Option<std::path::PathBuf>,
    pub context: Option<String>,
    pub cluster: Option<String>,
    pub user: Option<String>,
    pub server: Option<String>,
    pub token: Option<String>,
    pub username: Option<String>,
    pub password: Option<String>,
    pub impersonate: Option<String>,
    pub impersonate_groups: Vec<String>,
    pub impersonate_uid: Option<String>,
    pub certificate_authority: Option<std::path::PathBuf>,
    pub client_certificate: Option<std::path::PathBuf>,
    pub client_key: Option<std::path::PathBuf>,
    pub insecure_skip_tls_verify: bool,
    pub tls_server_name: Option<String>,
    pub disable_compression: bool,
    /// As kubectl writes it: `0`, `10`, `10s`, `1m30s`.
    pub request_timeout: Option<std::time::Duration>,
}

/// An open connection to one API server.
pub struct Connection {}

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every deletable resource, cluster-wide.
    Everything,
    /// The namespaced deletable resources of one namespace, and the cluster-scoped ones.
    Namespace(String),
}

/// What can go wrong before there is anything to show. (The real one is a thiserror enum.)
pub type ConnectError = std::io::Error;

impl Connection {
    /// Opens a connection.
    pub async fn open(_options: &ConnectionOptions) -> Result<Connection, ConnectError> {
        todo!()
    }

    /// The namespace of the kubeconfig's context, or `default`.
    pub fn default_namespace(&self) -> &str {
        todo!()
    }

    /// What the server serves, with a gap for each group version that could not be discovered.
    pub async fn discover(&self) -> Result<(Resources, Vec<crate::model::Gap>), ConnectError> {
        todo!()
    }

    /// Lists what the scope takes.
    pub async fn read(&self, _resources: Resources, _scope: &Scope) -> Result<Snapshot, ConnectError> {
        todo!()
    }

    /// The uids of the objects of one resource that the selectors pick; the server evaluates them.
    pub async fn select(
        &self,
        _resources: &Resources,
        _resource: ResourceId,
        _namespace: Option<&str>,
        _labels: Option<&str>,
        _fields: Option<&str>,
    ) -> Result<Vec<String>, ConnectError> {
        todo!()
    }

    /// GETs coordinates that no list covers, and records what is there, or that nothing is. What can't be read stays unknown and becomes a gap.
    pub async fn look_up(&self, _snapshot: &mut Snapshot, _coordinates: &[Coordinate]) {
        todo!()
    }

    /// Reads the facts of these objects (`Fact`) into the snapshot. What can't be read stays unknown and becomes a gap.
    pub async fn fetch_facts(&self, _snapshot: &mut Snapshot, _objects: &[ObjectId]) {
        todo!()
    }
}
