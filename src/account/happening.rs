//! What an account tells: one value for each line.

use crate::model::Identity;

/// Milliseconds since 1970.
pub type Millis = i64;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Happening {
    /// When the account got to know of it.
    pub at: Millis,
    pub what: What,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The account begins: these many resources are watched, and these are not.
    Watching {
        resources: usize,
        missing: Vec<Missing>,
    },
    /// A resource is not watched for now, for this reason: what happens to its objects is unknown.
    WatchFailing {
        resource: String,
        why: String,
    },
    /// A failing watch goes on from where it was: nothing is missed, only late.
    WatchRecovered {
        resource: String,
    },
    /// A watch can't go on from where it was: its objects are listed again.
    WatchLost {
        resource: String,
    },
    /// The list after a lost watch, or the first list of a resource that could not be read before.
    Listed {
        resource: String,
        /// Whether it was ever listed before.
        again: bool,
        /// Objects that are gone since, and new ones; only those that the account is about.
        gone: usize,
        new: usize,
    },
    /// A resource is no longer served.
    NotServed {
        resource: String,
        /// How many of its objects were known.
        objects: usize,
    },
    Object {
        object: Identity,
        change: Change,
    },
    /// Objects are made again and again with an owner that does not exist.
    Loop(Loop),
}

/// A resource that is not watched, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    pub resource: String,
    pub why: String,
}

/// What happened to one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// `deletionTimestamp` appeared: it stays Terminating until nothing holds it.
    DeletionRequested { policy: Policy, why: Reason, holds: Holds },
    /// It was deleted again while Terminating, with this policy.
    PolicyChanged { policy: Policy },
    /// It is gone.
    Gone {
        /// Why; none if that was told when its deletion was requested.
        why: Option<Reason>,
        /// How long it was Terminating, in milliseconds.
        after: Option<Millis>,
        /// The finalizers that it had to the end.
        removed: Vec<String>,
    },
    /// Finalizers of a Terminating object were removed.
    FinalizersRemoved { removed: Vec<String>, left: Vec<String> },
    /// It has been Terminating for so long, and still is.
    StillTerminating { since: Millis, holds: Holds },
    /// Owner references were removed.
    OwnersRemoved { owners: Vec<Owner>, left: usize },
    /// Owner references were added.
    OwnersAdded { owners: Vec<Owner> },
    /// It was created, and none of its owners exists.
    CreatedDangling { manager: Option<String>, owners: Vec<Owner> },
    /// An object with a name that was gone before was created.
    Recreated {
        /// How often since the account began.
        times: u32,
        manager: Option<String>,
        former_uid: String,
        /// Its owners if none of them exists; else empty.
        owners: Vec<Owner>,
    },
}

/// The propagation policy of a deletion, as far as finalizers tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    Background,
    Foreground,
    Orphan,
}

/// What keeps a Terminating object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// Without those of the collector.
    pub finalizers: Vec<String>,
    /// The grace period of a pod, in seconds.
    pub grace: Option<i64>,
    /// The first blocking dependents of a foreground deletion, and how many there are.
    pub blocking: Vec<Identity>,
    pub blocking_count: usize,
    /// Whether the collector still has to free the dependents.
    pub orphaning: bool,
    /// The known content of a namespace, or the known instances of a CRD.
    pub content: Option<Content>,
}

/// The known objects in a namespace, or of a CRD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Content {
    pub objects: usize,
    /// The first ones that have finalizers.
    pub held: Vec<Identity>,
}

/// Why an object goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The collector: no owner is left. If one is unknown, this is only probable.
    OwnersGone { owners: Vec<Owner> },
    /// The collector: an owner waits for its dependents, and no owner keeps the object.
    OwnerWaits { owners: Vec<Owner> },
    /// Its namespace is Terminating, which takes everything in it.
    Namespace { name: String },
    /// The definition of its kind is Terminating, which takes all instances.
    Definition { name: String },
    /// Not the collector: it has no owner.
    NoOwner,
    /// Not the collector: an owner exists.
    OwnerExists { owners: Vec<Owner> },
    /// Unknown: these owners could not be read.
    Unknown { owners: Vec<Owner> },
    /// It went while its watch was lost.
    WhileLost,
}

/// An entry of `metadata.ownerReferences`, and what is known of the owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub state: OwnerState,
}

/// What is known of an owner, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OwnerState {
    /// A watch showed that it was deleted, then, and with this policy if that is known.
    SeenGoing { at: Millis, policy: Option<Policy> },
    /// A look-up found no such object, but perhaps another one with its name.
    Absent { current_uid: Option<String> },
    /// A look-up found it waiting for its dependents.
    Waiting,
    /// A look-up found it, Terminating or not.
    Exists { terminating: bool, orphaning: bool },
    /// It could not be looked up, but watches show it.
    Watched,
    /// Why it is unknown.
    Unknown(String),
}

/// Objects that are made again and again with an owner that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The object that was made last.
    pub object: Identity,
    pub owner: Owner,
    /// How often one was made since the account began.
    pub times: u32,
    /// The field managers that made them.
    pub managers: Vec<String>,
    /// Since when, in milliseconds since 1970.
    pub since: Millis,
}
