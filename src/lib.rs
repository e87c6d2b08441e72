//! `kubectl gc`: seeing, predicting and driving Kubernetes' cascading deletion.
//!
//! The core does no I/O and compiles without the features: what was read ([`model`]), who owns whom ([`graph`],
//! [`tree`]), what the API server ([`server`]) and the collector ([`collector`]) do, and what comes of it
//! ([`simulate`], [`plan`]). Sources ([`cluster`], [`dump`]), all that writes to a cluster ([`act`]), the files that
//! whole objects are kept in ([`archive`]), what a running sweep tells of itself (`metrics`) and the command line stand
//! around it.

#![deny(unreachable_pub)]
// Without the features, the callers of many restricted items are missing.
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports))]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on this crate")]

#[cfg(feature = "cluster")]
pub mod act;
#[cfg(feature = "dump")]
pub mod archive;
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
pub mod go_quote;
pub mod graph;
#[cfg(feature = "cluster")]
pub mod metrics;
pub mod model;
#[cfg(feature = "cli")]
pub mod operations;
pub mod plan;
#[cfg(feature = "cli")]
pub mod render;
pub mod restore;
pub mod server;
pub mod simulate;
pub mod tree;
pub mod wording;
