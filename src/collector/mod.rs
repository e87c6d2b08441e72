//! The collector: what it has observed, what it has queued, and how it examines and decides (§2 to §6).
//!
//! Nothing here talks to anything: an examination *asks* ([`Ask`]) and is told ([`Answer`]), so that a simulation and a
//! real cluster can both give the answers.

pub mod decide;
pub mod examine;
pub mod graph_view;
mod identity;
pub mod live;
pub mod observe;
pub mod orphan;
pub mod overlay;
pub mod queue;
mod restart;

#[cfg(test)]
mod decide_tests;
#[cfg(test)]
mod examine_tests;
#[cfg(test)]
mod orphan_tests;

pub use decide::{Class, Decision, decide};
pub use examine::{Answer, Ask, Examination, Failure, Finish, Progress, Reason};
pub use graph_view::GraphView;
pub use identity::{Identity, Known};
pub use observe::{Event, EventKind};
pub use orphan::Orphaning;
pub use overlay::{Collector, Node};
pub use queue::Queue;
