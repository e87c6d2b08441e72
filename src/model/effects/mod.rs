//! What a delete does outside the graph of owners: in a cloud, on a disk, to objects that no reference leads to.
//!
//! The tables are here and in [`finalizers`] and [`policies`]; [`crate::foretell`] says of which objects of a plan they
//! speak. An entry is added with its source, and left out as long as there is none.

pub mod finalizers;
pub mod policies;

pub use finalizers::{FinalizerEffect, KNOWN_FINALIZERS, KnownFinalizer, When, known_finalizer};
pub use policies::{Policy, PolicyEffect, PolicyFacts};

/// How bad it is (design, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is lost that no controller brings back.
    Error,
    /// Something else goes, too, or might.
    Warning,
    /// Something stays, or only tidying up is done.
    Info,
}

impl Severity {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
            Severity::Info => "Info",
        }
    }
}

/// What is done outside the graph. The words never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EffectKind {
    /// Stored data is destroyed.
    DataDestroyed,
    /// Something outside the cluster that the object stands for is deleted.
    ExternalDeleted,
    /// Other objects, here or in another cluster, are deleted although no owner reference says so.
    ObjectsDeleted,
    /// Pods are deleted because their Node is gone.
    PodsDeleted,
    /// A load balancer, or its part in one, is given up.
    LoadBalancerReleased,
    /// Whoever removes a finalizer may do anything; or what decides could not be read.
    Unknown,
    /// What the object left outside for a while is tidied up.
    CleanedUp,
    /// Stored data stays although its object goes.
    DataKept,
    /// What the object stands for outside the cluster stays.
    ExternalKept,
    /// The objects that it manages stay.
    ObjectsKept,
}

impl EffectKind {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            EffectKind::DataDestroyed => "data-destroyed",
            EffectKind::ExternalDeleted => "external-deleted",
            EffectKind::ObjectsDeleted => "objects-deleted",
            EffectKind::PodsDeleted => "pods-deleted",
            EffectKind::LoadBalancerReleased => "load-balancer-released",
            EffectKind::Unknown => "unknown",
            EffectKind::CleanedUp => "cleaned-up",
            EffectKind::DataKept => "data-kept",
            EffectKind::ExternalKept => "external-kept",
            EffectKind::ObjectsKept => "objects-kept",
        }
    }

    /// How bad such an effect is.
    pub fn severity(self) -> Severity {
        match self {
            EffectKind::DataDestroyed | EffectKind::ExternalDeleted | EffectKind::ObjectsDeleted => Severity::Error,
            EffectKind::PodsDeleted | EffectKind::LoadBalancerReleased | EffectKind::Unknown => Severity::Warning,
            EffectKind::CleanedUp | EffectKind::DataKept | EffectKind::ExternalKept | EffectKind::ObjectsKept => {
                Severity::Info
            }
        }
    }

    /// What a policy that keeps turns such an effect into.
    pub fn kept(self) -> Self {
        match self {
            EffectKind::DataDestroyed => EffectKind::DataKept,
            EffectKind::ObjectsDeleted => EffectKind::ObjectsKept,
            _ => EffectKind::ExternalKept,
        }
    }
}
