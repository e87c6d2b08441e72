//! Effects of a delete outside the owner graph: in a cloud, on storage, on objects without owner references.
//!
//! What is known of operators is in `operators.json`; [`crate::plan`] applies it to a plan.

mod add_ons;
pub mod finalizers;
mod guards;
mod inventory;
mod named;
mod operators;
mod pauses;
pub mod policies;
mod users;

pub(crate) use inventory::RELEASE;
pub use inventory::{Inventory, InventoryObject, Spared, TRACKING_ID, application_named};

pub(crate) use operators::GuardValue;
pub use operators::{AddOn, Guard, KnownFinalizer, KnownUsers, Naming, Policy, When};

pub use add_ons::add_on;
pub(crate) use add_ons::{is_of_another, is_within};
pub use finalizers::known_finalizer;
pub(crate) use finalizers::known_finalizer_in;
pub(crate) use finalizers::{is_of_a_group, may_need};
pub use named::NamedObject;
pub(crate) use named::surely_needs;
pub use pauses::Pause;
pub(crate) use pauses::matches_pattern;
pub(crate) use pauses::pauses_with_its_cluster;
pub use policies::{PolicyEffect, PolicyFacts};
pub use users::known_users;
pub(crate) use users::{creates_first, hook, names_used, protected, protected_for, used};

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The severity of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, IntoStaticStr)]
pub enum Severity {
    /// Something is lost that no controller restores.
    Error,
    /// Something else is or may be deleted.
    Warning,
    /// Something is kept or only cleaned up.
    Note,
}

named!(Severity);

/// An effect outside the owner graph. Its JSON name never changes meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum EffectKind {
    /// Data is lost.
    #[serde(rename = "data-loss")]
    #[strum(serialize = "data-loss")]
    DataLost,
    /// The external resource that the object represents is deleted.
    ExternalDeleted,
    /// Other objects, in this or another cluster, are deleted without an owner reference.
    ObjectsDeleted,
    /// The pods of a deleted Node are deleted.
    PodsDeleted,
    /// A load balancer, or a part of it, is released.
    LoadBalancerReleased,
    /// Stored data is on a deleted Node only.
    DataUnreachable,
    /// Containers may go on running: their pods go, and their kubelet doesn't respond.
    MayStillRun,
    /// Unknown: the controller of a finalizer is unknown, or what decides could not be read.
    Unknown,
    /// Temporary external resources of the object are cleaned up.
    CleanedUp,
    /// Stored data is kept.
    DataKept,
    /// The external resource that the object represents is kept.
    ExternalKept,
    /// The objects that it manages are kept.
    ObjectsKept,
}

named!(EffectKind);

impl EffectKind {
    /// How severe such an effect is.
    pub fn severity(self) -> Severity {
        use EffectKind::{CleanedUp, DataKept, DataLost, ExternalDeleted, ExternalKept, ObjectsDeleted, ObjectsKept};
        match self {
            DataLost | ExternalDeleted | ObjectsDeleted => Severity::Error,
            CleanedUp | DataKept | ExternalKept | ObjectsKept => Severity::Note,
            _ => Severity::Warning,
        }
    }

    /// The effect if a policy prevents this one.
    pub fn kept(self) -> Self {
        match self {
            EffectKind::DataLost => EffectKind::DataKept,
            EffectKind::ObjectsDeleted => EffectKind::ObjectsKept,
            _ => EffectKind::ExternalKept,
        }
    }
}
