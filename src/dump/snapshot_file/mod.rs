//! Snapshot files: all that a [`Snapshot`](crate::model::Snapshot) knows in one JSON document, one object a line.
//! Metadata and facts only: no specs, no contents of secrets, and no annotations but the few that are deletion
//! policies.
//!
//! ```json
//! {"apiVersion":"kubectl-gc/v1","kind":"Snapshot","complete":false,
//! "origin":{"cluster":{"context":"prod-eu","server":"api.prod-eu:6443"}},
//! "gaps":[{"resource":"secrets","reason":"forbidden"}],
//! "preferredVersions":{"":"v1","apps":"v1"},
//! "resources":[{"group":"apps","version":"v1","name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get","list"]}],
//! "lists":[{"resource":"deployments.apps","version":"v1","resourceVersion":"1182"}],
//! "absent":[{"resource":"deployments.apps","version":"v1","namespace":"shop","name":"gone"}],
//! "objects":[{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"0b7c","resourceVersion":"1031"}]}
//! ```
//!
//! `lists` says what was read, in one `namespace` or in all, or what made it fail (`failure`); `absent` are coordinates
//! where a look-up found nothing. An object's fields are named and spelled as in its `metadata`; `facts` are those of
//! [`Fact`](crate::model::Fact), and `setters` say who set its finalizers ([`Setter`](crate::model::facts::Setter)),
//! where that was read. Times in both are in Unix seconds. `resource` names the resource of an object whose apiVersion
//! and kind don't.

mod format;
mod read;
mod write;

pub use read::read;
pub use write::{write, write_to_path};

/// What a snapshot file calls itself.
const API_VERSION: &str = "kubectl-gc/v1";
const KIND: &str = "Snapshot";
