//! Marks beside a line of the tree: the state of the object, and problems of its references; and the status of an owner
//! reference: the verdict of a look-up (§3.4), and what is wrong with it.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    graph::{Dangling, OwnerGraph, Verdict},
    model::{
        FOREGROUND_FINALIZER, Mapping, NotWatched, ORPHAN_FINALIZER, Object, ObjectId, Reference, Snapshot, Symbol,
    },
};

use super::walk::{Direction, Entry, Showing, Tree, known_instead};

/// Why a terminating object still exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// It waits for its dependents (§5).
    pub foreground: bool,
    /// Its dependents are being orphaned (§6).
    pub orphaning: bool,
    /// Its finalizers, except the collector's.
    pub finalizers: Vec<Symbol>,
}

impl State {
    /// The state of a terminating object; `None` for others.
    pub fn of(snapshot: &Snapshot, object: &Object) -> Option<State> {
        object.terminating().then(|| {
            let mut state = State { foreground: false, orphaning: false, finalizers: Vec::new() };
            for finalizer in object.finalizers.iter() {
                match snapshot.text(*finalizer) {
                    FOREGROUND_FINALIZER => state.foreground = true,
                    ORPHAN_FINALIZER => state.orphaning = true,
                    _ => state.finalizers.push(*finalizer),
                }
            }
            state
        })
    }

    /// The state as text.
    pub fn words(&self, snapshot: &Snapshot) -> String {
        let mut words = String::from(match (self.foreground, self.orphaning) {
            (false, false) => "Terminating",
            (true, false) => "Terminating (foreground)",
            (false, true) => "Terminating (orphaning)",
            (true, true) => "Terminating (foreground, orphaning)",
        });
        for (index, finalizer) in self.finalizers.iter().enumerate() {
            words.push_str(match (index, self.finalizers.len()) {
                (0, 1) => ", finalizer ",
                (0, _) => ", finalizers ",
                _ => ", ",
            });
            words.push_str(snapshot.text(*finalizer));
        }
        words
    }
}

/// One mark of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A problem of the reference that connects the entry with its parent.
    Edge { holder: ObjectId, reference: Reference, link: ResolvedReference },
    /// A problem of another reference of the object.
    Owner { holder: ObjectId, reference: Reference, link: ResolvedReference },
    /// The collector doesn't watch the kind (R2.7).
    NotWatched(NotWatched),
    /// Another object has the same uid, and the collector knows that one (R3.5).
    SharedUid(ObjectId),
    /// The entry represents a cycle, or points to the node's entry.
    Place(Showing),
}

impl Mark {
    /// The marks of an entry, in the order of the output.
    pub fn of(snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree, entry: &Entry) -> Vec<Mark> {
        let mut marks = Vec::new();
        if let Some((holder, position)) = entry.via {
            edge_marks(snapshot, graph, holder, position, &mut marks);
        }
        if let Some(id) = graph.object(entry.node).filter(|_| entry.showing.here()) {
            object_marks(snapshot, graph, tree, entry, id, &mut marks);
        }
        if entry.showing != Showing::Full {
            marks.push(Mark::Place(entry.showing));
        }
        marks
    }

    pub fn code(&self) -> Option<&'static str> {
        match self {
            Mark::Edge { link, .. } => link.standing.code(),
            Mark::Owner { link, .. } => link.standing.code().or(Some("owner-outside")),
            Mark::NotWatched(_) => Some("not-watched"),
            Mark::SharedUid(_) => Some("shared-uid"),
            Mark::Place(Showing::CycleStart | Showing::Cycle) => Some("cycle"),
            Mark::Place(Showing::Cut(_)) => Some("depth"),
            Mark::Place(_) => None,
        }
    }

    /// Whether it is about an owner that does not exist.
    pub fn is_missing_owner(&self) -> bool {
        let (Mark::Edge { link, .. } | Mark::Owner { link, .. }) = self else { return false };
        matches!(link.standing, ReferenceStatus::Absent | ReferenceStatus::OtherUid | ReferenceStatus::ListKind)
    }

    /// Whether the mark is a warning.
    pub fn warns(&self) -> bool {
        match self {
            Mark::Edge { link, .. } | Mark::Owner { link, .. } => !link.standing.valid(),
            Mark::SharedUid(_) | Mark::Place(Showing::CycleStart | Showing::Cycle) => true,
            Mark::NotWatched(_) | Mark::Place(_) => false,
        }
    }

    /// The mark as text.
    pub fn words(&self, snapshot: &Snapshot, direction: Direction) -> String {
        match self {
            Mark::Edge { holder, reference, link } => match direction {
                Direction::Dependents => edge_to_parent(snapshot, reference, link),
                Direction::Owners => edge_from_parent(snapshot, *holder, reference, link),
            },
            Mark::Owner { holder, reference, link } => other_owner(snapshot, *holder, reference, link),
            Mark::NotWatched(why) => format!("not watched: {why}"),
            Mark::SharedUid(other) => format!("same uid as {}", name_with_namespace(snapshot, *other)),
            Mark::Place(showing) => match showing {
                Showing::Full => String::new(),
                Showing::CycleStart => "part of a cycle".to_owned(),
                Showing::Cut(1) => "1 more below".to_owned(),
                Showing::Cut(count) => format!("{count} more below"),
                Showing::Above => "see above".to_owned(),
                Showing::Below => "see below".to_owned(),
                Showing::Cycle => "cycle, see above".to_owned(),
            },
        }
    }
}

/// Problems of the references between an entry and its parent: usually one, but a uid may be referenced twice.
fn edge_marks(snapshot: &Snapshot, graph: &OwnerGraph, holder: ObjectId, first: u32, marks: &mut Vec<Mark>) {
    let object = snapshot.object(holder);
    // References that differ only in flags have the same text.
    let mut known = FxHashSet::default();
    for place in [first].iter().chain(graph.further_references(holder, first)) {
        let reference = &object.owners[*place as usize];
        let link = ResolvedReference::of(snapshot, graph, object, reference);
        if !link.standing.valid() && known.insert(reference.coordinates()) {
            marks.push(Mark::Edge { holder, reference: *reference, link });
        }
    }
}

fn object_marks(
    snapshot: &Snapshot,
    graph: &OwnerGraph,
    tree: &Tree,
    entry: &Entry,
    id: ObjectId,
    marks: &mut Vec<Mark>,
) {
    let object = snapshot.object(id);
    let parent = entry.reference(snapshot).map(|reference| reference.uid);
    if tree.direction == Direction::Dependents {
        let mut known = FxHashSet::default();
        for reference in object.owners.iter().filter(|reference| Some(reference.uid) != parent) {
            // An owner in the tree already shows this object with the problem of that reference.
            if graph.by_uid(reference.uid).is_some_and(|owner| tree.shows(owner)) {
                continue;
            }
            let link = ResolvedReference::of(snapshot, graph, object, reference);
            if known.insert(reference.coordinates()) {
                marks.push(Mark::Owner { holder: id, reference: *reference, link });
            }
        }
    }
    if let Some(other) = known_instead(snapshot, graph, id) {
        marks.push(Mark::SharedUid(other));
    }
    if let Some(why) = snapshot.resources.not_watched(object.resource).filter(|_| !tree.is_lone(snapshot, graph, entry))
    {
        marks.push(Mark::NotWatched(why.clone()));
    }
}

/// `Kind/name` as written in a reference.
pub fn named(snapshot: &Snapshot, reference: &Reference) -> String {
    format!("{}/{}", snapshot.text(reference.kind), snapshot.text(reference.name))
}

/// `Kind/name`, with the namespace if there is one.
fn name_with_namespace(snapshot: &Snapshot, id: ObjectId) -> String {
    match snapshot.namespace(id) {
        "" => snapshot.short_name(id),
        namespace => format!("{} -n {namespace}", snapshot.short_name(id)),
    }
}

/// A problem of the reference to the parent in the tree.
fn edge_to_parent(snapshot: &Snapshot, reference: &Reference, link: &ResolvedReference) -> String {
    let says = named(snapshot, reference);
    match link.standing {
        ReferenceStatus::OtherNamespace => "invalid: owner in another namespace".to_owned(),
        ReferenceStatus::InvalidScope => "invalid: cluster-scoped, but owner namespaced".to_owned(),
        ReferenceStatus::NotServed => {
            format!("invalid: kind not served: {} {says}", snapshot.text(reference.api_version))
        }
        ReferenceStatus::ListKind => format!("invalid: reference says {says}, a list kind"),
        ReferenceStatus::Unread => format!("reference says {says}, which could not be read"),
        ReferenceStatus::OtherKind => {
            format!("invalid: reference says {} {says}", snapshot.text(reference.api_version))
        }
        _ => format!("invalid: reference says {says}"),
    }
}

/// In a tree of owners: a problem of the parent's reference to this owner.
fn edge_from_parent(snapshot: &Snapshot, holder: ObjectId, reference: &Reference, link: &ResolvedReference) -> String {
    match link.standing {
        ReferenceStatus::Absent => "missing".to_owned(),
        ReferenceStatus::OtherUid => "missing: that name now has another uid".to_owned(),
        ReferenceStatus::Unread => "could not be read".to_owned(),
        ReferenceStatus::NotServed if link.found.is_none() => {
            format!("kind not served: {}", snapshot.text(reference.api_version))
        }
        ReferenceStatus::InvalidScope => {
            format!("invalid: namespaced, {} is cluster-scoped", snapshot.short_name(holder))
        }
        ReferenceStatus::ListKind if link.found.is_none() => "missing: a list kind".to_owned(),
        _ => edge_to_parent(snapshot, reference, link),
    }
}

/// A problem of another reference of the object.
fn other_owner(snapshot: &Snapshot, holder: ObjectId, reference: &Reference, link: &ResolvedReference) -> String {
    let says = named(snapshot, reference);
    let is = |id| name_with_namespace(snapshot, id);
    match (link.standing, link.found) {
        (ReferenceStatus::Solid | ReferenceStatus::Waiting, Some(owner)) => {
            let owner_namespace = snapshot.object(owner).namespace;
            let near = owner_namespace.is_empty() || owner_namespace == snapshot.object(holder).namespace;
            format!("owned by {}", if near { snapshot.short_name(owner) } else { is(owner) })
        }
        (ReferenceStatus::OtherUid, _) => format!("owner missing, name now has another uid: {says}"),
        (ReferenceStatus::OtherNamespace, Some(owner)) => format!("owner in another namespace: {}", is(owner)),
        (ReferenceStatus::OtherName | ReferenceStatus::OtherKind, Some(owner)) => {
            format!("invalid: reference says {says}, is {}", is(owner))
        }
        (ReferenceStatus::ListKind, _) => format!("owner missing: {says} is a list kind"),
        (ReferenceStatus::NotServed, _) => {
            format!("owner's kind not served: {} {says}", snapshot.text(reference.api_version))
        }
        (ReferenceStatus::InvalidScope, _) => format!("cluster-scoped, but owned by namespaced {says}"),
        (ReferenceStatus::Unread, _) => format!("owner could not be read: {says}"),
        _ => format!("owner missing: {says}"),
    }
}

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
