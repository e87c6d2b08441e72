//! Simulates one course of events on an overlay of the snapshot, by the rules of the API server and the collector.

pub mod actors;
mod affected;
mod answer;
mod appear;
mod blocked_by;
mod blockers;
mod built_in;
mod cause;
mod context;
pub mod controllers;
pub mod delays;
pub(crate) mod doubt;
mod index;
pub mod interleaving;
pub(crate) mod liveness;
mod needs;
mod next_write;
mod noting;
pub mod obstacles;
mod open;
pub mod order_sensitivity;
mod outcome;
mod parts;
mod projecting;
mod projection;
pub(crate) mod recreators;
mod request;
mod rng;
mod schedule;
mod start;
mod state;
pub(crate) mod turns;
mod uncertainty;
pub mod world;

#[cfg(test)]
mod order_sensitivity_tests;
#[cfg(test)]
mod parts_tests;

pub use actors::{Act, Assumption, Finished, Others};
pub(crate) use actors::{Adopter, Adoptions, PodsOfNode, in_inventory, is_spared};
pub(crate) use blocked_by::has_spoken;
pub(crate) use blocked_by::{NAMESPACE_FINALIZER, is_removed_by_controller_manager, managed_by_another};
pub use blocked_by::{converter, foreign_spec_finalizers, left_by_job_controller, says_why, until_who_is_done};
pub use built_in::BuiltIn;
pub use cause::{Cause, Change, Effect};
pub(crate) use context::{AT_WORK, COLLECTOR_OVERDUE, LATE, OVERDUE};
pub use context::{Assume, SimContext};
pub use controllers::{Controllers, FinalizerController};
pub use needs::Needs;
pub(crate) use next_write::may_lag_after_restart;
pub use next_write::{Next, NoAction};
pub use obstacles::{Obstacle, ObstacleKind, Operation, Refusal};
pub use outcome::OutcomeKind;
pub(crate) use projection::Blockers;
pub use projection::Projection;
pub use request::{Appearing, Cut, Refused, Request, Start, WriteScope};
pub use start::{InitialListOrder, begin};
pub use state::{BlockedBy, Kubelet, Liveness, State};
pub use world::World;

pub(crate) use affected::affected_by;
pub(crate) use blockers::unfinished_by_sweep;
pub(crate) use open::Open;
pub use parts::Parts;
pub use uncertainty::Uncertainty;
