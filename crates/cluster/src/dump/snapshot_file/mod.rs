//! Snapshot files: a whole [`Snapshot`](gc_core::model::Snapshot) as one JSON document, one object per line. Metadata
//! and facts only: no specs, no contents of secrets, and no annotations except deletion policies.
//!
//! ```json
//! {"apiVersion":"kubectl-gc/v1","kind":"Snapshot","complete":false,
//! "origin":{"cluster":{"context":"prod-eu","server":"api.prod-eu:6443"}},
//! "serverVersion":"v1.36.3",
//! "gaps":[{"resource":"secrets","reason":"forbidden"}],
//! "preferredVersions":{"":"v1","apps":"v1"},
//! "resources":[{"group":"apps","version":"v1","name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get","list"]}],
//! "lists":[{"resource":"deployments.apps","version":"v1","resourceVersion":"1182"}],
//! "absent":[{"resource":"deployments.apps","version":"v1","namespace":"shop","name":"gone"}],
//! "objects":[{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"0b7c","resourceVersion":"1031"}]}
//! ```
//!
//! `serverVersion` is absent if the server didn't tell it. `lists` records what was listed, in one `namespace` or in
//! all, or why it failed (`failure`); `absent` are coordinates that a look-up found empty. Fields of objects are named
//! as in `metadata`; `facts` contain a [`Fact`](gc_core::model::Fact), and `setters` who set the finalizers
//! ([`Setter`](gc_core::model::facts::Setter)), if read. Their times are in Unix seconds. `said` is what the status of
//! an object says of why it is not deleted. `resource` names the resource of an object if its apiVersion and kind are
//! ambiguous.

mod format;
mod read;
mod write;

pub(super) use read::read;
pub use write::write;
pub use write::{folder_of, write_to_path};

/// The apiVersion of snapshot files.
const API_VERSION: &str = "kubectl-gc/v1";
const KIND: &str = "Snapshot";
