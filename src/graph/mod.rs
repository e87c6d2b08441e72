//! Owners and dependents, as uids connect them.

pub mod cycles;
pub mod owner_graph;
pub mod verdict;

pub use owner_graph::{NodeId, OwnerGraph, map};
pub use verdict::{Address, Dangling, Verdict};
