//! `kubectl gc`: shows, predicts and performs Kubernetes' cascading deletion.
//!
//! Three crates: `gc_core` is pure, `gc_cluster` reads and writes clusters and files, and this one is the program: the
//! use cases ([`operations`]), what they print ([`render`], [`tui`]), and the command line ([`cli`]).

#![deny(unreachable_pub)]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on this crate")]

#[cfg(test)]
#[path = "../crates/cluster/src/allocations.rs"]
mod allocations;
pub mod cli;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod operations;
pub mod render;
pub mod tui;
