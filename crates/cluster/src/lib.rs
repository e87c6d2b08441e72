//! What `kubectl gc` reads and writes: clusters ([`cluster`], [`act`]) and files ([`dump`], [`archive`]), and the
//! metrics of a running sweep ([`metrics`]).

#![deny(unreachable_pub)]
#![allow(rustdoc::private_intra_doc_links, reason = "the documentation is for those who work on this crate")]

pub mod act;
#[cfg(test)]
mod allocations;
pub mod archive;
pub mod bounded;
pub mod cluster;
pub mod dump;
pub mod metrics;
