//! How a reference stands: the verdict of a look-up (3.4), told apart by what is wrong with it.

use crate::{
    graph::{Dangling, OwnerGraph, Verdict},
    model::{Mapping, Object, ObjectId, Reference, Snapshot},
};

/// What one owner reference comes to. All but the first two are worth a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Standing {
    /// The owner is there.
    Solid,
    /// The owner is there and waits for its dependents to go (3.4 step 7).
    Waiting,
    /// Nothing is at the coordinates, and no object that was read has the uid.
    Absent,
    /// An object with another uid is at the coordinates.
    OtherUid,
    /// The object with this uid lives in another namespace than the holder (R3.7).
    OtherNamespace,
    /// The object with this uid has another name.
    OtherName,
    /// The object with this uid is of another kind.
    OtherKind,
    /// The reference names a list kind, which is never found (R3.15).
    ListKind,
    /// The kind is not served in this version (R3.13).
    NotServed,
    /// The holder is cluster-scoped, the owner's kind namespaced (3.4 step 3).
    InvalidScope,
    /// It could not be read (R10.2).
    Unread,
}

/// A reference's standing, and the object that has to do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub standing: Standing,
    /// The object with the reference's uid; for [`Standing::OtherUid`] the one that is at its coordinates instead.
    pub found: Option<ObjectId>,
}

impl Link {
    /// How `reference` of `holder` stands in the snapshot.
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, holder: &Object, reference: &Reference) -> Link {
        let by_uid = graph.by_uid(reference.uid).and_then(|node| graph.object(node));
        let standing = match Verdict::of(snapshot, graph, reference, holder.namespace) {
            Verdict::Solid(owner) => return Link { standing: Standing::Solid, found: Some(owner) },
            Verdict::Waiting(owner) => return Link { standing: Standing::Waiting, found: Some(owner) },
            Verdict::Unmappable => Standing::NotServed,
            Verdict::InvalidScope => Standing::InvalidScope,
            Verdict::Unknown => Standing::Unread,
            Verdict::Dangling(Dangling::ListKind) | Verdict::Doubted => Standing::ListKind,
            Verdict::Dangling(Dangling::Absent) => {
                by_uid.map_or(Standing::Absent, |owner| bent(snapshot, graph, holder, reference, owner))
            }
            Verdict::Dangling(Dangling::OtherUid(stranger)) => match by_uid {
                Some(owner) => bent(snapshot, graph, holder, reference, owner),
                None => return Link { standing: Standing::OtherUid, found: Some(stranger) },
            },
        };
        Link { standing, found: by_uid }
    }
}

/// In what a reference differs from the object that has its uid.
fn bent(snapshot: &Snapshot, graph: &OwnerGraph, holder: &Object, reference: &Reference, owner: ObjectId) -> Standing {
    let owner = snapshot.object(owner);
    if !owner.namespace.is_empty() && owner.namespace != holder.namespace {
        return Standing::OtherNamespace;
    }
    match graph.mapping(reference) {
        Mapping::Served(id) if snapshot.resources.picked(id) == owner.resource => Standing::OtherName,
        _ => Standing::OtherKind,
    }
}

impl Standing {
    /// Whether the owner is there and the reference leads to it.
    pub fn valid(self) -> bool {
        matches!(self, Standing::Solid | Standing::Waiting)
    }

    /// The name in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Standing::Solid => "Solid",
            Standing::Waiting => "Waiting",
            Standing::Absent => "Absent",
            Standing::OtherUid => "OtherUid",
            Standing::OtherNamespace => "OtherNamespace",
            Standing::OtherName => "OtherName",
            Standing::OtherKind => "OtherKind",
            Standing::ListKind => "ListKind",
            Standing::NotServed => "NotServed",
            Standing::InvalidScope => "InvalidScope",
            Standing::Unread => "Unread",
        }
    }

    /// The code of the mark that a holder of such a reference gets; none for valid ones.
    pub fn code(self) -> Option<&'static str> {
        Some(match self {
            Standing::Solid | Standing::Waiting => return None,
            Standing::Absent => "owner-absent",
            Standing::OtherUid => "owner-other-uid",
            Standing::OtherNamespace => "owner-other-namespace",
            Standing::OtherName => "owner-other-name",
            Standing::OtherKind => "owner-other-kind",
            Standing::ListKind => "owner-list-kind",
            Standing::NotServed => "owner-not-served",
            Standing::InvalidScope => "namespaced-owner-of-cluster-scoped",
            Standing::Unread => "owner-unread",
        })
    }
}
