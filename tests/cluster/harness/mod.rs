//! A real control plane for the tests: etcd, kube-apiserver and kube-controller-manager.
//!
//! Nearly every test uses the cluster [`shared`], and makes its own namespaces in it, so tests can run in parallel. A
//! test that writes anything else, needs the collector off, or flags of its own, has a cluster [`Alone`].
//!
//! Nothing outlives the test run, however it ends: see [`supervisor`].

#[macro_use]
mod objects;

mod api;
mod audit;
mod binaries;
mod cluster;
mod controllers;
mod credentials;
mod etcd;
mod everything;
mod fixtures;
mod go_build;
mod killing;
mod proxy;
mod run;
mod schema;
mod supervisor;
mod terminal;
mod versions;
mod wait;
mod watching;

pub use api::{Answer, Api};
pub use audit::Audit;
pub use cluster::{Alone, Cluster, Options, shared};
pub use controllers::{CLAIM_PROTECTION, COLLECTOR, NAMESPACES, POD_GC, WORKLOADS, settled};
pub use credentials::{ADMIN, NOBODY, VIEWER};
pub use etcd::LOST_KEY;
pub use everything::Listed;
pub use fixtures::{KINDS, api_service, definition_of, deployment, example_shop};
pub use go_build::{VERSION, build, say, versions};
pub use killing::{Halt, Killer, Moment, is_write};
pub use objects::{object_of, owner_reference, resource_version, text, uid};
pub use proxy::{CountingProxy, Fault, Faults, Gate, Line, Request, Spoilt, old_discovery, others};
pub use run::{Ran, with_plugin};
pub use schema::conforms;
pub use supervisor::{Program, Supervised};
pub use terminal::{Terminal, Watched, unwrapped};
pub use versions::{NOT_RUN, needs};
pub use wait::{PATIENCE, Retry, poll, wait_until};
pub use watching::Watching;
