//! The owner graph by uid, and the look-up of owner references by coordinates.

pub mod cycles;
mod owner_graph;
mod verdict;

pub use owner_graph::{NodeId, OwnerGraph, map};
pub use verdict::{Address, Dangling, Verdict, unconfirmed_owners};
