//! The way back: what has to be created, in which order and with which fields, so that what an archive holds is there
//! again.
//!
//! Pure: [`RestorePlan::new`] makes of archived objects what is to be sent, [`differences`] compares with what is there
//! already, and [`Outcome`] is what came of each object. What is sent, and what the answers mean, is in `act/restore`.

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
#[cfg(test)]
mod testing;

pub use archived::{Archived, Malformed, OwnerReference, Place};
pub use compare::{Difference, differences};
pub use left_out::LeftOut;
pub use lost::{Lost, lost};
#[cfg(feature = "dump")]
pub(crate) use order::{Need, creation_order, rank};
pub use outcome::{Detached, Outcome, Restored, ToDo};
pub use plan::{Item, ItemId, Owner, RestorePlan};
