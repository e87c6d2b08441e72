//! The status of an owner reference: the verdict of a look-up (§3.4), and what is wrong with it.

use serde::Serialize;

use crate::{
    graph::{Dangling, OwnerGraph, Verdict},
    model::{Mapping, Object, ObjectId, Reference, Snapshot},
};

/// The status of an owner reference. All but the first two get a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum ReferenceStatus {
    /// The owner exists.
    Solid,
    /// The owner exists and waits for its dependents (L7).
    Waiting,
    /// No object has the coordinates, and no object that was read has the uid.
    Absent,
    /// An object with another uid has the coordinates.
    OtherUid,
    /// The object with this uid is in another namespace than the dependent (R3.7).
    OtherNamespace,
    /// The object with this uid has another name.
    OtherName,
    /// The object with this uid is of another kind.
    OtherKind,
    /// The reference names a list kind, which never exists (R3.15).
    ListKind,
    /// The kind is not served in this version (R3.13).
    NotServed,
    /// The dependent is cluster-scoped, the owner's kind is namespaced (L3).
    InvalidScope,
    /// The owner could not be read (R10.2).
    Unread,
}

/// The status of a reference, and the object concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResolvedReference {
    pub standing: ReferenceStatus,
    /// The object with the reference's uid; for [`ReferenceStatus::OtherUid`], the object at its coordinates.
    pub found: Option<ObjectId>,
}

impl ResolvedReference {
    /// The status of a dependent's reference in the snapshot.
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, holder: &Object, reference: &Reference) -> ResolvedReference {
        let by_uid = graph.by_uid(reference.uid).and_then(|node| graph.object(node));
        let standing = match Verdict::of(snapshot, graph, reference, holder.namespace) {
            Verdict::Solid(owner) => return ResolvedReference { standing: ReferenceStatus::Solid, found: Some(owner) },
            Verdict::Waiting(owner) => {
                return ResolvedReference { standing: ReferenceStatus::Waiting, found: Some(owner) };
            }
            Verdict::Unmappable => ReferenceStatus::NotServed,
            Verdict::InvalidScope => ReferenceStatus::InvalidScope,
            Verdict::Unknown => ReferenceStatus::Unread,
            Verdict::Dangling(Dangling::ListKind) | Verdict::Doubted => ReferenceStatus::ListKind,
            Verdict::Dangling(Dangling::Absent) => {
                by_uid.map_or(ReferenceStatus::Absent, |owner| mismatch(snapshot, graph, holder, reference, owner))
            }
            Verdict::Dangling(Dangling::OtherUid(stranger)) => match by_uid {
                Some(owner) => mismatch(snapshot, graph, holder, reference, owner),
                None => return ResolvedReference { standing: ReferenceStatus::OtherUid, found: Some(stranger) },
            },
        };
        ResolvedReference { standing, found: by_uid }
    }
}

/// How a reference differs from the object with its uid.
fn mismatch(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    holder: &Object,
    reference: &Reference,
    owner: ObjectId,
) -> ReferenceStatus {
    let owner = snapshot.object(owner);
    if !owner.namespace.is_empty() && owner.namespace != holder.namespace {
        return ReferenceStatus::OtherNamespace;
    }
    match graph.mapping(reference) {
        Mapping::Served(id) if snapshot.resources.picked(id) == owner.resource => ReferenceStatus::OtherName,
        _ => ReferenceStatus::OtherKind,
    }
}

impl ReferenceStatus {
    /// Whether the owner exists and the reference is correct.
    pub fn valid(self) -> bool {
        matches!(self, ReferenceStatus::Solid | ReferenceStatus::Waiting)
    }

    /// The code of the mark for such a reference; `None` for valid ones.
    pub fn code(self) -> Option<&'static str> {
        Some(match self {
            ReferenceStatus::Solid | ReferenceStatus::Waiting => return None,
            ReferenceStatus::Absent => "owner-absent",
            ReferenceStatus::OtherUid => "owner-other-uid",
            ReferenceStatus::OtherNamespace => "owner-other-namespace",
            ReferenceStatus::OtherName => "owner-other-name",
            ReferenceStatus::OtherKind => "owner-other-kind",
            ReferenceStatus::ListKind => "owner-list-kind",
            ReferenceStatus::NotServed => "owner-not-served",
            ReferenceStatus::InvalidScope => "namespaced-owner-of-cluster-scoped",
            ReferenceStatus::Unread => "owner-unread",
        })
    }
}
