//! Reading a live cluster. Nothing here writes to one; that is [`act`](crate::act)'s.
//!
//! Everything goes through one [`Connection`]: [`discover`](Connection::discover) says what there is,
//! [`read`](Connection::read) lists it as metadata into a [`Snapshot`](crate::model::Snapshot), and
//! [`look_up`](Connection::look_up), [`fetch_facts`](Connection::fetch_facts) and
//! [`fetch_setters`](Connection::fetch_setters) add the few things that lists don't tell;
//! [`recheck`](Connection::recheck) says whether what a list showed is still so, [`watch`](Connection::watch) tells
//! what changes from there on, [`Monitors`] follow what there is for ever, [`fetch_whole`](Connection::fetch_whole)
//! reads all of an object, and [`invalid_owner_events`](Connection::invalid_owner_events) what the collector complained
//! of. What cannot be read becomes a [`Gap`](crate::model::Gap); an error is only what leaves nothing to show.

mod answer;
mod connect;
mod count;
mod credentials;
mod discovery;
mod error;
mod events;
mod facts;
mod facts_protobuf;
mod failure;
mod get_object;
mod json;
mod kubeconfig;
mod list;
mod look_up;
mod monitor;
mod nodes;
mod options;
mod pages;
pub(crate) mod path;
mod protobuf;
mod proxy;
mod rate;
mod recheck;
mod request;
pub(crate) mod retry;
mod select;
mod setters;
#[cfg(test)]
pub(crate) mod testing;
mod watch;
mod whole;

use std::{sync::Arc, time::Duration};

use crate::model::Resource;

pub(crate) use answer::Answer;
pub use connect::Connection;
pub use error::{ConnectError, Endpoint};
pub(crate) use failure::Failure;
pub use monitor::{MonitorEvent, MonitorId, Monitors};
pub use options::ConnectionOptions;
pub(crate) use request::METADATA;
pub use watch::{LostWatch, WatchUpdates, Watches};
pub use whole::Whole;

/// What to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every deletable resource, cluster-wide.
    Everything,
    /// The namespaced deletable resources of one namespace, and the cluster-scoped ones.
    Namespace(String),
}

/// Told how reading gets on. It is called from within the reading, and must not take long.
pub trait Progress: Send + Sync {
    /// Reading begins, with this many lists.
    fn started(&self, _lists: usize) {}
    /// One list is through, whether it could be read or not, with this many objects.
    fn list_done(&self, _resource: &Resource, _objects: usize) {}
    /// One request is through.
    fn exchanged(&self, _exchange: &Exchange<'_>) {}
}

/// A request and what came of it, as far as it may be told: no headers, no bodies.
#[derive(Clone, Copy, Debug)]
pub struct Exchange<'a> {
    pub method: &'a str,
    /// Path and query.
    pub url: &'a str,
    /// The answer's status, or why there was none.
    pub status: Result<u16, &'a str>,
    pub took: Duration,
}

/// Nobody is told.
impl Progress for () {}

/// Both are told, one after the other.
impl Progress for (Arc<dyn Progress>, Arc<dyn Progress>) {
    fn started(&self, lists: usize) {
        self.0.started(lists);
        self.1.started(lists);
    }

    fn list_done(&self, resource: &Resource, objects: usize) {
        self.0.list_done(resource, objects);
        self.1.list_done(resource, objects);
    }

    fn exchanged(&self, exchange: &Exchange<'_>) {
        self.0.exchanged(exchange);
        self.1.exchanged(exchange);
    }
}
