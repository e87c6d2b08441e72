//! What becomes of an object, in plans and in projections.

use serde::Serialize;
use strum::IntoStaticStr;

use crate::server::Stored;

/// What happens to an object: the first kind that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, IntoStaticStr)]
pub enum OutcomeKind {
    /// Removed from storage.
    Deleted,
    /// Stays, with a deletionTimestamp.
    Terminating,
    /// Survives without any owner reference.
    Orphaned,
    /// Survives with fewer owner references.
    Detached,
    /// Survives; only `blockOwnerDeletion` changed.
    Unblocked,
    /// Unchanged in the simulated order; something unknown could change it.
    Unchanged,
}

named!(OutcomeKind);

impl OutcomeKind {
    /// What has happened to an object that is like this `after`, or is gone; `None` if it is as it was.
    pub(crate) fn of(before: &Stored<'_>, after: Option<&Stored<'_>>) -> Option<Self> {
        let Some(after) = after else { return Some(OutcomeKind::Deleted) };
        if after.same_state(before) {
            return None;
        }
        let lost_references = after.owners.len() < before.owners.len();
        Some(if after.terminating {
            OutcomeKind::Terminating
        } else if lost_references && after.owners.is_empty() {
            OutcomeKind::Orphaned
        } else if lost_references {
            OutcomeKind::Detached
        } else if after.owners != before.owners {
            OutcomeKind::Unblocked
        } else {
            OutcomeKind::Unchanged
        })
    }

    /// Whether the object is gone or on its way out. A deletionTimestamp can't be taken back.
    pub fn removes(self) -> bool {
        matches!(self, OutcomeKind::Deleted | OutcomeKind::Terminating)
    }
}
