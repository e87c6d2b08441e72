//! Describes the writes of a sweep, one line each.

use crate::{
    act::{CompletedWrite, What},
    collector::Reason,
    model::Identity,
    server::Propagation,
};

/// `deleted Pod/web-1 in shop: no owner is left`
pub(super) fn describe(written: &CompletedWrite) -> String {
    let done = match written.what {
        What::Deleted(Propagation::Foreground) => "deleted in the foreground",
        What::Deleted(Propagation::Orphan) => "deleted with the orphan policy",
        What::Deleted(Propagation::Background) => "deleted",
        What::Stripped => "removed owner references of",
        What::Unblocked => "unblocked the owners of",
        What::Finalized => "removed the collector's finalizer from",
    };
    format!("{done} {}: {}", named(&written.object), why(&written.why))
}

/// `Pod/web-1 in shop`
pub(super) fn named(object: &Identity) -> String {
    let name = object.short_name();
    if object.namespace.is_empty() { name } else { format!("{name} in {}", object.namespace) }
}

fn why(reason: &Reason) -> &'static str {
    match reason {
        Reason::NoOwnerLeft => "no owner is left",
        Reason::OwnerWaits => "an owner waits for its deletion",
        Reason::OtherOwnerSolid(_) => "those owners are deleted or being deleted, another owner exists",
        Reason::CycleSuspected => "it and its owners wait for each other",
        Reason::DependentsGone => "no dependent blocks it any more",
        Reason::OwnerOrphans(_) => "its owner is deleted with the orphan policy",
        Reason::DependentsFreed => "its dependents are orphaned",
    }
}
