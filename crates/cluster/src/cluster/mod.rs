//! Reads a live cluster. Never writes to one; [`act`](crate::act) does.
//!
//! Everything uses one [`Connection`]: [`discover`](Connection::discover) finds the resources,
//! [`read`](Connection::read) lists their metadata into a [`Snapshot`](gc_core::model::Snapshot), and
//! [`look_up`](Connection::look_up), [`fetch_facts`](Connection::fetch_facts) and
//! [`fetch_setters`](Connection::fetch_setters) add the few things that lists don't contain, and
//! [`fetch_statuses`](Connection::fetch_statuses) what the server prints of objects.
//! [`recheck`](Connection::recheck) checks whether listed objects have changed, [`watch`](Connection::watch) reports
//! changes after the lists, [`Monitors`] follow resources without end, [`fetch_whole`](Connection::fetch_whole) reads
//! whole objects, and [`invalid_owner_events`](Connection::invalid_owner_events) reads the collector's warning events.
//! A [`Gap`](gc_core::model::Gap) is recorded for everything that cannot be read; an error is returned only if nothing
//! is left to show.

mod answer;
mod cache;
pub mod clock;
mod connect;
mod credentials;
mod discovery;
mod early;
mod error;
mod events;
mod facts;
mod facts_protobuf;
mod fetch;
#[cfg(any(test, feature = "testing"))]
pub mod fuzzing;
mod get_object;
mod json;
mod kubeconfig;
mod list;
mod options;
mod pages;
pub mod path;
mod protobuf;
mod proxy;
mod request;
pub mod retry;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod transport;
mod version;
mod watch;

use std::{sync::Arc, time::Duration};

pub use answer::Answer;
pub(crate) use answer::Refusal;
pub use connect::Connection;
pub use credentials::program;
pub use early::EarlyLists;
pub use error::{ConnectError, Endpoint, Failure};
pub use fetch::fetch;
pub use get_object::Whole;
pub use list::Wanted;
pub use options::{ConnectionOptions, path as path_or_nothing};
pub use request::METADATA;
pub use watch::{Discoveries, FollowChanges, LostWatch, MonitorId, Monitors, WatchEvent, WatchUpdates, Watches};

/// Which resources to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Every deletable resource, cluster-wide.
    #[default]
    Everything,
    /// The namespaced deletable resources of one namespace, and all cluster-scoped ones.
    Namespace(String),
}

/// What happens while a cluster is read.
#[derive(Clone, Copy)]
pub enum ReadEvent<'e> {
    /// Reading starts, with this many lists.
    Started(usize),
    /// One list has ended, successfully or not, with this many objects.
    Listed(usize),
    /// One request has ended.
    Exchanged(&'e Exchange<'e>),
    /// The server has sent a warning, perhaps not for the first time.
    Warned(&'e str),
    /// The server has a version that this program was not tested with; perhaps not for the first time.
    Untested(&'e str),
}

/// Hears what happens. It is called while reading, so it must return quickly.
pub type ReadObserver = Arc<dyn Fn(ReadEvent<'_>) + Send + Sync>;

/// A request and its result. Headers and bodies may contain secrets.
#[derive(Clone, Copy)]
pub struct Exchange<'a> {
    pub method: &'a str,
    /// Scheme, host and port of the server, with the path if there is one.
    pub server: &'a str,
    /// Path and query.
    pub url: &'a str,
    /// The status of the answer, or why there is none.
    pub status: Result<u16, &'a str>,
    pub took: Duration,
    pub request_headers: &'a http::HeaderMap,
    pub request_body: &'a [u8],
    /// None without an answer.
    pub response_headers: Option<&'a http::HeaderMap>,
    /// None without an answer, and if the answer is a watch.
    pub response_body: Option<&'a [u8]>,
}
