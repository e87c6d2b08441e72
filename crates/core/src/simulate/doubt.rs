//! What raises a doubt whether a controller manager works, or its collector.

use crate::{
    model::{ObjectId, Snapshot},
    wording::age,
};

use super::{obstacles::Operation, outcome::OutcomeKind};

/// What gives the collector its rights, if each controller has its own account.
pub(super) const COLLECTORS_RIGHTS: &str = "system:controller:generic-garbage-collector";
/// A controller that runs has seen an object after this many seconds.
pub(super) const ACTS_WITHIN: i64 = 120;

/// A write that the collector could make now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Turn {
    /// The object that it would write to.
    pub object: ObjectId,
    pub write: Write,
    /// The owner that waits for this write, if any.
    pub waiting: Option<ObjectId>,
}

/// The kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Write {
    /// A DELETE, because no owner is left or because an owner waits for it (§4.2).
    Delete,
    /// A PATCH of its owner references (R8.5).
    References,
    /// A PATCH that removes the references to an owner that orphans its dependents (R6.2).
    Free,
    /// A PATCH that removes one of the collector's finalizers when nothing is left to wait for (§5.1, R6.4).
    Finalizer,
}

impl Write {
    /// The first write to an object of which this becomes.
    pub(super) fn of(outcome: OutcomeKind) -> Self {
        if outcome.removes() { Write::Delete } else { Write::References }
    }

    /// What admission is asked about.
    pub(crate) fn operation(self) -> Operation {
        match self {
            Write::Delete => Operation::Delete,
            Write::References | Write::Free | Write::Finalizer => Operation::Update,
        }
    }
}

impl Turn {
    /// The object that would be written to, and the owner that waits for that.
    pub(crate) fn parties(&self) -> impl Iterator<Item = ObjectId> + use<> {
        [Some(self.object), self.waiting].into_iter().flatten()
    }
}

/// What raises a doubt whether the controller manager works.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ManagerDoubt {
    /// Its Lease expired this many seconds ago: it may just be late.
    Expired(i64),
    /// Its collector has lost its rights.
    Unbound,
    /// A write that the collector should have made (R3.22).
    Overdue(Turn),
    /// An object on which its controller should have acted.
    Unattended(ObjectId),
}

/// An upgrade of the control plane may keep a controller manager from renewing its Lease for so many seconds.
pub(super) const BACK_WITHIN: i64 = 300;

impl ManagerDoubt {
    /// Whether a manager that seems to be away may only be restarting: nobody knows whether it stays away.
    pub(super) fn may_pass(self) -> bool {
        matches!(self, ManagerDoubt::Expired(seconds) if seconds <= BACK_WITHIN)
    }

    /// The same as a clause.
    pub(crate) fn in_words(self, snapshot: &Snapshot) -> String {
        match self {
            ManagerDoubt::Expired(seconds) => format!("its lease expired {} ago", age(seconds)),
            ManagerDoubt::Unbound => format!("ClusterRoleBinding/{COLLECTORS_RIGHTS} is missing"),
            ManagerDoubt::Unattended(object) => {
                let object = snapshot.short_name(object);
                format!("its controllers have not acted on {object}, which is older than {}", age(ACTS_WITHIN))
            }
            ManagerDoubt::Overdue(turn) => {
                let object = snapshot.short_name(turn.object);
                match turn.write {
                    Write::Delete => format!("its collector should have deleted {object} by now"),
                    Write::Finalizer => format!("its collector should have let {object} go by now"),
                    Write::References | Write::Free => {
                        format!("its collector should have removed a reference of {object} by now")
                    }
                }
            }
        }
    }
}
