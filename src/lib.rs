//! `kubectl gc`: seeing, foretelling and driving Kubernetes' cascading deletion.
//!
//! The core ([`model`]) does no I/O and compiles without the features; sources and the command line stand around it.

#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(feature = "dump")]
pub mod dump;
pub mod graph;
pub mod model;
#[cfg(feature = "cli")]
pub mod render;
pub mod tree;
