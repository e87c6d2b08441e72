//! `kubectl gc`: shows, predicts and performs Kubernetes' cascading deletion.
//!
//! The core does no I/O and compiles without any feature: the data that was read ([`model`]), the owner graph
//! ([`graph`], [`tree`]), the behaviour of the API server ([`server`]) and the collector ([`collector`]), and the
//! predicted result ([`simulate`], [`plan`]), and the account of what goes and why ([`account`]). The other modules
//! read clusters and files ([`cluster`], [`dump`]), write to a cluster ([`act`]), store whole objects ([`archive`]),
//! export the metrics of a running sweep (`metrics`), and implement the command line.

#![deny(unreachable_pub)]
// Without the features, many restricted items have no callers.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on this crate")]

pub mod account;
#[cfg(feature = "cluster")]
pub mod act;
#[cfg(test)]
mod allocations;
pub mod apply;
#[cfg(feature = "dump")]
pub mod archive;
mod bounded;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "cluster")]
pub mod cluster;
pub mod collector;
pub mod command_line;
pub mod doctor;
pub mod document;
#[cfg(feature = "dump")]
pub mod dump;
pub mod escape;
#[cfg(all(feature = "cli", any(test, feature = "fuzzing")))]
#[doc(hidden)]
pub mod fuzzing;
pub mod graph;
pub mod hold;
pub mod jsonpath;
#[cfg(feature = "cluster")]
pub mod metrics;
pub mod model;
#[cfg(feature = "cli")]
pub mod operations;
pub mod plan;
pub mod progress;
mod quantity;
pub mod reclaim;
#[cfg(feature = "cli")]
pub mod render;
pub mod restore;
pub mod server;
pub mod simulate;
pub mod tree;
#[cfg(feature = "cli")]
pub mod tui;
mod url;
pub mod wording;
