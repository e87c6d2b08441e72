//! Plans a restore: what to create, in which order and with which fields, so that the objects of an archive exist
//! again.
//!
//! Pure: [`RestorePlan::of`] turns archived objects into requests, [`differences`] compares them with existing
//! objects, and [`Outcome`] is the result for each object. `act/restore` sends the requests and interprets the answers.

mod archived;
mod fields;
mod left_out;
mod plan;
#[cfg(test)]
mod plan_tests;
mod relocate;
#[cfg(test)]
mod testing;

use serde::Serialize;

pub use archived::{Archived, Malformed, OwnerReference, Place};
pub use fields::{Difference, differences};
pub use left_out::{LeftOut, Lost, lost};
pub use plan::{
    Item, ItemId, Need, Owner, RestoreOptions, RestorePlan, creation_order, defined, rank, selected_namespaces,
    sets_status,
};
pub use relocate::{NamespaceMap, StillNamed};

/// The result for one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub enum Outcome {
    /// It would be created: this is a dry run.
    WouldBeCreated,
    /// It was created.
    Created,
    /// An earlier run of the same restore created it, and may have been interrupted; this run completes it.
    #[serde(rename = "AlreadyRestored")]
    AlreadyBack,
    /// It exists, as archived.
    Same,
    /// It exists, and differs from the archive. It was not changed.
    Different(#[serde(skip)] Vec<Difference>),
    /// It was not restored, and needn't be.
    LeftOut(#[serde(skip)] LeftOut),
    /// It could not be restored, for this reason.
    Failed(#[serde(skip)] String),
    /// It was not tried, because this object, which it needs, could not be restored.
    Blocked(#[serde(skip)] ItemId),
    /// It was not tried, because the restore was interrupted before.
    NotTried,
}

/// An owner reference that was not restored, because its owner doesn't exist: the collector would delete the object at
/// once (R4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detached {
    pub reference: OwnerReference,
    /// What is at the owner's coordinates.
    #[serde(rename = "because")]
    pub why: String,
}

/// The result for one object, and what is incomplete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    pub outcome: Outcome,
    /// Its uid now; `None` if it doesn't exist.
    pub uid: Option<String>,
    pub detached: Vec<Detached>,
    /// Of a claim: the volume with its data, which waits for the claim that was deleted, and is reserved for this one.
    pub volume: Option<String>,
    /// What could not be restored of it (its status, a reference), and why.
    pub unfinished: Vec<String>,
    /// In a dry run: what is still to be patched, because an earlier run created it and was interrupted.
    pub to_do: ToDo,
}

/// What is patched after an object is created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToDo {
    /// The status, through its subresource.
    pub status: bool,
    /// A reference that closes an ownership cycle.
    pub references: bool,
}

impl Restored {
    /// The result for an object that doesn't exist.
    pub fn absent(outcome: Outcome) -> Self {
        let to_do = ToDo::default();
        Restored { outcome, uid: None, detached: Vec::new(), volume: None, unfinished: Vec::new(), to_do }
    }

    /// Whether it is left out.
    pub fn is_left_out(&self) -> bool {
        matches!(self.outcome, Outcome::LeftOut(_))
    }

    /// Whether the object exists as archived, or needn't.
    pub fn is_fine(&self) -> bool {
        let fine = match &self.outcome {
            Outcome::WouldBeCreated | Outcome::Created | Outcome::AlreadyBack | Outcome::Same | Outcome::LeftOut(_) => {
                true
            }
            Outcome::Different(_) | Outcome::Failed(_) | Outcome::Blocked(_) | Outcome::NotTried => false,
        };
        fine && self.unfinished.is_empty()
    }
}
