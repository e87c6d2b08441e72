//! The collector: what it observes and queues, and how it examines objects and decides (§2 to §6).
//!
//! There is no I/O here: an examination returns requests ([`Ask`]) and takes answers ([`Answer`]), from a simulation or
//! from a real cluster.

pub mod examine;
mod graph_view;
pub mod live;
mod observe;
mod orphan;
mod overlay;
pub mod queue;
mod restart;

#[cfg(test)]
mod examine_tests;
#[cfg(test)]
mod orphan_tests;

pub use examine::{Answer, Ask, Decision, Examination, Failure, Finish, OwnerState, Progress, Reason, decide};
pub use graph_view::{GraphView, Identity, Known};
pub use observe::{Event, EventKind};
pub use orphan::Orphaning;
pub use overlay::{Collector, Node};
pub use queue::Queue;
