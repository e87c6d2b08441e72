//! What an account tells: one value for each line.

use serde::{Serialize, Serializer};
use strum::IntoStaticStr;

use crate::{collector, model::Identity};

/// The propagation policy of a deletion, as far as finalizers tell.
pub use crate::server::Propagation as Policy;

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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(untagged)]
pub enum What {
    /// The account begins: these many resources are watched, and these are not.
    Watching {
        #[serde(rename = "watchedResources")]
        resources: usize,
        #[serde(rename = "notWatched")]
        missing: Vec<Missing>,
    },
    /// A resource is not watched for now, for this reason: what happens to its objects is unknown.
    WatchFailing {
        resource: String,
        #[serde(skip)]
        why: String,
    },
    /// These resources can't be watched: they are listed again and again instead. What changes is seen, only late.
    Polled { resources: Vec<Missing> },
    /// A failing watch goes on from where it was: nothing is missed, only late.
    WatchRecovered { resource: String },
    /// A watch can't go on from where it was: its objects are listed again.
    WatchLost { resource: String },
    /// The list after a lost watch, or the first list of a resource that could not be read before.
    Listed {
        resource: String,
        /// Whether it was ever listed before.
        #[serde(skip)]
        again: bool,
        /// Objects that are gone since, and new ones; only those that the account is about.
        gone: usize,
        new: usize,
    },
    /// A resource is no longer served.
    NotServed {
        resource: String,
        /// How many of its objects were known.
        #[serde(rename = "gone")]
        objects: usize,
    },
    Object {
        #[serde(skip)]
        object: Identity,
        #[serde(flatten)]
        change: Change,
    },
    /// Objects are made again and again with an owner that does not exist.
    Loop(Loop),
}

impl What {
    /// The type in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            What::Object { change, .. } => change.name(),
            other => other.into(),
        }
    }

    /// The object that it is about.
    pub fn object(&self) -> Option<&Identity> {
        match self {
            What::Object { object, .. } | What::Loop(Loop { object, .. }) => Some(object),
            _ => None,
        }
    }
}

/// A resource that is not watched, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Missing {
    pub resource: String,
    #[serde(rename = "reason")]
    pub why: String,
}

/// What happened to one object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Change {
    /// `deletionTimestamp` appeared: it stays Terminating until nothing holds it.
    DeletionRequested {
        #[serde(rename = "because")]
        why: Reason,
        policy: Policy,
        #[serde(rename = "waitsFor")]
        holds: Holds,
    },
    /// It was deleted again while Terminating, with this policy.
    PolicyChanged { policy: Policy },
    /// It is gone.
    Gone {
        /// Why; none if that was told when its deletion was requested.
        #[serde(rename = "because", skip_serializing_if = "Option::is_none")]
        why: Option<Reason>,
        /// How long it was Terminating, in milliseconds.
        #[serde(rename = "seconds", serialize_with = "as_seconds", skip_serializing_if = "Option::is_none")]
        after: Option<Millis>,
        /// The finalizers that it had to the end.
        #[serde(rename = "removedFinalizers", skip_serializing_if = "Vec::is_empty")]
        removed: Vec<String>,
    },
    /// Finalizers of a Terminating object were removed.
    FinalizersRemoved {
        #[serde(rename = "removedFinalizers")]
        removed: Vec<String>,
        #[serde(skip)]
        left: Vec<String>,
    },
    /// It has been Terminating for so long, and still is.
    StillTerminating {
        #[serde(rename = "waitsFor")]
        holds: Holds,
        #[serde(serialize_with = "as_time")]
        since: Millis,
    },
    /// Owner references were removed.
    OwnersRemoved {
        owners: Vec<Owner>,
        #[serde(rename = "ownersLeft")]
        left: usize,
    },
    /// Owner references were added.
    OwnersAdded { owners: Vec<Owner> },
    /// It was created, and none of its owners exists.
    CreatedDangling {
        owners: Vec<Owner>,
        #[serde(rename = "managers", serialize_with = "as_list", skip_serializing_if = "Option::is_none")]
        manager: Option<String>,
    },
    /// An object with a name that was gone before was created.
    Recreated {
        /// Its owners if none of them exists; else empty.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        owners: Vec<Owner>,
        #[serde(rename = "managers", serialize_with = "as_list", skip_serializing_if = "Option::is_none")]
        manager: Option<String>,
        /// How often since the account began.
        times: u32,
        former_uid: String,
    },
}

named!(&Change);

/// What keeps a Terminating object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holds {
    /// Without those of the collector.
    pub finalizers: Vec<String>,
    /// The grace period of a pod, in seconds.
    #[serde(rename = "gracePeriodSeconds", skip_serializing_if = "Option::is_none")]
    pub grace: Option<i64>,
    /// The first blocking dependents of a foreground deletion, and how many there are.
    #[serde(rename = "blockingDependents")]
    pub blocking: Vec<Identity>,
    #[serde(rename = "blockingDependentsCount")]
    pub blocking_count: usize,
    /// Whether the collector still has to free the dependents.
    pub orphaning: bool,
    /// The known content of a namespace, or the known instances of a CRD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<Content>,
}

/// The known objects in a namespace, or of a CRD.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Content {
    pub objects: usize,
    /// The first ones that have finalizers.
    #[serde(rename = "withFinalizers")]
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

impl Reason {
    /// Whether it is more than probable.
    pub fn is_certain(&self) -> bool {
        let known = |owner: &Owner| !matches!(owner.state, OwnerState::Unknown(_));
        match self {
            Reason::OwnersGone { owners } | Reason::OwnerWaits { owners } => owners.iter().all(known),
            // One that exists is enough.
            Reason::OwnerExists { owners } => {
                owners.iter().any(|owner| matches!(owner.state, OwnerState::Exists { .. }))
            }
            Reason::Namespace { .. } | Reason::Definition { .. } | Reason::NoOwner => true,
            Reason::Unknown { .. } | Reason::WhileLost => false,
        }
    }
}

/// A reason in a document.
#[derive(Serialize)]
struct ReasonJson<'a> {
    reason: &'static str,
    /// Whether the collector deletes it; none if that is unknown.
    collected: Option<bool>,
    certain: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "<[Owner]>::is_empty")]
    owners: &'a [Owner],
}

impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (reason, collected, name, owners): (_, _, Option<&str>, &[Owner]) = match self {
            Reason::OwnersGone { owners } => ("OwnersGone", Some(true), None, owners),
            Reason::OwnerWaits { owners } => ("OwnerWaits", Some(true), None, owners),
            Reason::Namespace { name } => ("Namespace", None, Some(name), &[]),
            Reason::Definition { name } => ("Definition", None, Some(name), &[]),
            Reason::NoOwner => ("NoOwner", Some(false), None, &[]),
            Reason::OwnerExists { owners } => ("OwnerExists", Some(false), None, owners),
            Reason::Unknown { owners } => ("Unknown", None, None, owners),
            Reason::WhileLost => ("WatchLost", None, None, &[]),
        };
        ReasonJson { reason, collected, certain: self.is_certain(), name, owners }.serialize(serializer)
    }
}

/// An entry of `metadata.ownerReferences`, and what is known of the owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Owner {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    #[serde(flatten)]
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

/// The state of an owner in a document.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct StateJson<'a> {
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<Policy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_uid: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unknown_because: Option<&'a str>,
}

impl Serialize for OwnerState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let of = |state| StateJson { state, ..StateJson::default() };
        match self {
            OwnerState::SeenGoing { at, policy } => {
                StateJson { deleted_at: Some(time(*at)), policy: *policy, ..of("Deleted") }
            }
            OwnerState::Absent { current_uid } => StateJson { current_uid: current_uid.as_deref(), ..of("Absent") },
            OwnerState::Waiting => of("Waiting"),
            OwnerState::Exists { terminating: true, .. } => of("Terminating"),
            OwnerState::Exists { .. } => of("Exists"),
            OwnerState::Watched => of("Watched"),
            OwnerState::Unknown(why) => StateJson { unknown_because: Some(why), ..of("Unknown") },
        }
        .serialize(serializer)
    }
}

/// Objects that are made again and again with an owner that does not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Loop {
    /// The object that was made last.
    #[serde(skip)]
    pub object: Identity,
    /// Since when, in milliseconds since 1970.
    #[serde(serialize_with = "as_time")]
    pub since: Millis,
    #[serde(rename = "owners", serialize_with = "as_list")]
    pub owner: Owner,
    /// The field managers that made them.
    pub managers: Vec<String>,
    /// How often one was made since the account began.
    pub times: u32,
}

/// RFC 3339.
pub fn time(at: Millis) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}

fn as_time<S: Serializer>(at: &Millis, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&time(*at))
}

fn as_seconds<S: Serializer>(time: &Option<Millis>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time as f64 / 1000.0).serialize(serializer)
}

/// For what documents have a list of.
fn as_list<T: Serialize, S: Serializer>(one: &T, serializer: S) -> Result<S::Ok, S::Error> {
    [one].serialize(serializer)
}

impl Owner {
    /// The state by which the collector decides; none if it is unknown.
    fn class(&self) -> Option<collector::OwnerState> {
        match &self.state {
            OwnerState::SeenGoing { .. } | OwnerState::Absent { .. } => Some(collector::OwnerState::Dangling),
            OwnerState::Waiting => Some(collector::OwnerState::Waiting),
            OwnerState::Exists { .. } | OwnerState::Watched => Some(collector::OwnerState::Solid),
            OwnerState::Unknown(_) => None,
        }
    }

    /// Whether it verifiably does not exist.
    pub fn is_absent(&self) -> bool {
        self.class() == Some(collector::OwnerState::Dangling)
    }

    /// Whether it was deleted with this policy, or is being deleted so.
    fn has_policy(&self, policy: Policy) -> bool {
        matches!(self.state, OwnerState::SeenGoing { policy: Some(known), .. } if known == policy)
    }
}

/// Why an object with these owners goes (§4.2).
pub(super) fn reason(owners: Vec<Owner>) -> Reason {
    if owners.is_empty() {
        return Reason::NoOwner;
    }
    let classes: Vec<Option<collector::OwnerState>> = owners.iter().map(Owner::class).collect();
    // One solid owner is enough, whatever the others are.
    let known: Vec<collector::OwnerState> = classes.iter().copied().flatten().collect();
    if known.contains(&collector::OwnerState::Solid) {
        return Reason::OwnerExists { owners };
    }
    if classes.contains(&None) {
        // Without any absent owner, nothing suggests the collector.
        let suspected = known.contains(&collector::OwnerState::Dangling);
        return if suspected { Reason::OwnersGone { owners } } else { Reason::Unknown { owners } };
    }
    let waits = |owner: &Owner| owner.state == OwnerState::Waiting || owner.has_policy(Policy::Foreground);
    if owners.iter().any(waits) { Reason::OwnerWaits { owners } } else { Reason::OwnersGone { owners } }
}
