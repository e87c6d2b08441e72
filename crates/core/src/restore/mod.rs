//! Plans a restore: what to create, in which order and with which fields, so that the objects of an archive exist
//! again.
//!
//! Pure: [`RestorePlan::of`] turns archived objects into requests, [`differences`] compares them with existing
//! objects, and [`Outcome`] is the result for each object. `act/restore` sends the requests and interprets the answers.

/// How the field manager of a restore begins; the archived object's uid follows.
pub const MANAGER: &str = "kubectl-gc-restore:";

mod archived;
mod compare;
mod fields;
mod left_out;
mod lost;
mod order;
mod outcome;
mod plan;
#[cfg(test)]
mod plan_tests;
mod relocate;
mod selection;
#[cfg(test)]
mod testing;

pub use archived::{Archived, Malformed, OwnerReference, Place};
pub use compare::{Difference, differences};
pub use left_out::LeftOut;
pub use lost::{Lost, lost};
pub use order::{Need, creation_order, rank};
pub use outcome::{Detached, Outcome, Restored, ToDo};
pub use plan::sets_status;
pub use plan::{Item, ItemId, Owner, RestoreOptions, RestorePlan, defined};
pub use relocate::{NamespaceMap, StillNamed};
pub use selection::selected_namespaces;
