//! Simulation: one course of events, played on an overlay of the snapshot, by the API server's and the collector's
//! rules.

pub mod actors;
mod answer;
pub mod blockers;
mod built_in;
pub mod cause;
pub mod delays;
mod index;
pub mod interleaving;
mod next_write;
pub mod order_sensitivity;
mod parts;
mod projection;
mod request;
mod rng;
pub mod schedule;
mod start;
mod uncertainty;
pub mod world;

#[cfg(test)]
mod next_write_tests;
#[cfg(test)]
mod order_sensitivity_tests;
#[cfg(test)]
mod parts_tests;

pub use actors::Assumption;
pub use blockers::{BlockedBy, Blockers, State};
pub use built_in::BuiltIn;
pub use cause::{Cause, Change, Effect};
pub use next_write::{Next, NoAction, may_lag_after_restart};
pub use projection::{ProjectedOutcome, Projection};
pub use request::{Cut, Only, Refused, Request, Start};
pub use start::Lists;
pub use world::{Assume, Needs, SimContext, World};

pub(crate) use blockers::unfinished;
pub(crate) use parts::Parts;
pub(crate) use start::begin;
pub(crate) use uncertainty::{all_that_rests_on, uncertain_objects};
