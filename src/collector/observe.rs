//! Events reach the graph and queue what they concern: the collector's graph builder (§3, §5.1, §6).

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::{
    graph::NodeId,
    model::{Reference, Symbol},
    server::Stored,
};

use super::{
    graph_view::GraphView,
    identity::{Identity, Known},
    overlay::Collector,
};

/// Something the collector is told.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    pub node: NodeId,
    pub kind: EventKind<'a>,
}

/// What it is told.
#[derive(Clone, Debug)]
pub enum EventKind<'a> {
    /// An informer's first list showed the object as it was before anything happened.
    Listed,
    /// An informer saw the object change.
    Updated { before: Box<Stored<'a>>, after: Box<Stored<'a>> },
    /// An informer saw the object go.
    Deleted,
    /// A live look-up of the node found nothing under these coordinates (G2).
    VirtualDeleted(Identity),
}

/// What the deletion of an object was doing when it was seen last: only what begins queues anything (§5.1, R6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Was {
    pub orphaning: bool,
    pub waiting: bool,
}

impl Was {
    pub fn of(stored: &Stored<'_>) -> Self {
        Was { orphaning: stored.orphaning(), waiting: stored.waiting() }
    }
}

impl<'a> Collector<'a> {
    /// Delivers one event to the graph.
    pub fn observe(&mut self, event: Event<'a>) {
        let node = event.node;
        match event.kind {
            EventKind::Listed => self.observe_first(node),
            EventKind::Updated { before, after } => observe_update(self, node, Was::of(&before), *after),
            EventKind::Deleted => observe_deletion(self, node),
            EventKind::VirtualDeleted(identity) => observe_absence(self, node, identity),
        }
    }
}

/// An informer shows an object that the graph has no observed node of: it is new, or was only named by others so far.
pub(super) fn observe_first<'a, P: GraphView<'a>>(
    picture: &mut P,
    id: NodeId,
    identity: Identity,
    stored: &Stored<'a>,
) {
    if picture.known(id) == Known::Virtual && picture.identity(id) != Some(identity) {
        // R3.4: another node takes the place of the virtual one, which nobody looks at any more (G0).
        picture.unqueue(id);
        for dependent in partition(picture, id, identity).1 {
            if !identity.namespace.is_empty() && picture.namespace(dependent) != identity.namespace {
                picture.complain(dependent, identity.uid);
            }
            picture.queue(dependent);
        }
    }
    picture.set_observed(id, identity, stored);
    check_added(picture, id, &stored.owners);
    start_deletion(picture, id, stored);
}

/// An informer shows an observed object again.
pub(super) fn observe_update<'a, P: GraphView<'a>>(picture: &mut P, id: NodeId, before: Was, after: Stored<'a>) {
    if picture.known(id) == Known::Gone {
        return;
    }
    let old = picture.owners(id);
    let differences = differences(&old, &after.owners);
    if !differences.is_empty() {
        queue_unblocked_owners(picture, &differences);
        picture.replace_owners(id, &old, after.owners.clone());
        check_added(picture, id, &differences.added);
    }
    if after.terminating {
        picture.set_being_deleted(id);
    }
    if after.orphaning() && !before.orphaning {
        picture.queue_orphaning(id);
    } else if after.waiting() && !before.waiting {
        begin_waiting(picture, id);
    }
}

/// What is queued for an object that is seen for the first time, if it is terminating (R6.1: where both orphaning and
/// foreground deletion would start, the latter is ignored).
fn start_deletion<'a, P: GraphView<'a>>(picture: &mut P, id: NodeId, stored: &Stored<'_>) {
    if stored.orphaning() {
        picture.queue_orphaning(id);
    } else if stored.waiting() {
        begin_waiting(picture, id);
    }
}

/// An owner is seen waiting: it and all that is known to depend on it are looked at (F1).
fn begin_waiting<'a, P: GraphView<'a>>(picture: &mut P, id: NodeId) {
    picture.set_deleting_dependents(id);
    for dependent in picture.dependents(id) {
        picture.queue(dependent);
    }
    picture.queue(id);
}

/// R3.10: an owner that a blocking reference was holding is looked at again.
fn queue_unblocked_owners<'a, P: GraphView<'a>>(picture: &mut P, differences: &Differences) {
    let removed = differences.removed.iter().filter(|reference| reference.blocks()).map(|reference| reference.uid);
    let unblocked =
        differences.changed.iter().filter(|(old, new)| old.blocks() && !new.blocks()).map(|(_, new)| new.uid);
    for uid in removed.chain(unblocked) {
        if let Some(owner) = picture.by_uid(uid)
            && picture.known(owner) != Known::Gone
        {
            picture.queue(owner);
        }
    }
}

/// Checks references that look new, which the later ones of several with one uid always do, against what is known of
/// their owners (R3.2, R3.6–R3.9). Checking stops at the first that is suspicious.
fn check_added<'a, P: GraphView<'a>>(picture: &mut P, id: NodeId, added: &[Reference]) {
    let namespace = picture.namespace(id);
    let mut suspicious = false;
    for reference in added {
        let Some(owner) = picture.named(reference.uid) else { continue };
        if picture.known(owner) == Known::Gone {
            picture.set_virtual(owner, Identity::named_by(reference, namespace), id);
            picture.queue(owner);
            continue;
        }
        picture.add_dependent(owner, id);
        if suspicious {
            continue;
        }
        let observed = picture.known(owner) == Known::Observed;
        suspicious = match picture.identity(owner) {
            None => true,
            Some(identity) if observed => {
                if !identity.namespace.is_empty() && identity.namespace != namespace {
                    picture.complain(id, reference.uid);
                }
                !picture.agrees(reference, namespace, &identity)
            }
            Some(identity) => identity.namespace != namespace || !identity.is_named_by(reference),
        };
    }
    if suspicious {
        picture.queue(id);
    }
}

/// A node goes: its dependents are looked at, and owners that were waiting for it (F5, F6).
pub(super) fn observe_deletion<'a, P: GraphView<'a>>(picture: &mut P, id: NodeId) {
    if picture.known(id) == Known::Gone {
        return;
    }
    let dependents = picture.dependents(id);
    let owners = picture.owners(id);
    picture.replace_owners(id, &owners, Cow::Borrowed(&[]));
    picture.set_gone(id);
    for dependent in dependents {
        picture.queue(dependent);
    }
    for reference in owners.iter() {
        if let Some(owner) = picture.by_uid(reference.uid)
            && picture.known(owner) != Known::Gone
            && picture.deleting_dependents(owner)
        {
            picture.queue(owner);
        }
    }
}

/// A look-up found nothing under the coordinates of a node (§3.5).
pub(super) fn observe_absence<'a, P: GraphView<'a>>(picture: &mut P, id: NodeId, absent: Identity) {
    match picture.known(id) {
        Known::Gone => {}
        Known::Virtual => {
            picture.set_absent(absent);
            let (agreeing, disagreeing) = partition(picture, id, absent);
            if disagreeing.is_empty() {
                observe_deletion(picture, id);
                return;
            }
            for dependent in agreeing {
                picture.queue(dependent);
            }
            if picture.identity(id) == Some(absent)
                && let Some(alternate) = alternate_identity(picture, &disagreeing, absent)
            {
                picture.set_identity(id, alternate);
                // Where one dependent calls its owner by two names, the real collector goes round for ever; it learns
                // nothing new.
                if picture.is_absent(&alternate) {
                    picture.retry_after_change(id);
                } else {
                    picture.retry_soon(id);
                }
            }
        }
        Known::Observed => {
            picture.set_absent(absent);
            if picture.identity(id) == Some(absent) {
                observe_deletion(picture, id);
            } else {
                // R3.20
                for dependent in partition(picture, id, absent).0 {
                    picture.queue(dependent);
                }
            }
        }
    }
}

/// Splits the dependents of a node into those that name it by these coordinates and those that don't; one that does
/// both is in both (R3.18).
fn partition<'a, P: GraphView<'a>>(picture: &P, id: NodeId, identity: Identity) -> (Vec<NodeId>, Vec<NodeId>) {
    let mut agreeing = Vec::new();
    let mut disagreeing = Vec::new();
    for dependent in picture.dependents(id) {
        let elsewhere = !identity.namespace.is_empty() && identity.namespace != picture.namespace(dependent);
        let owners = picture.owners(dependent);
        let mut named = owners.iter().filter(|reference| reference.uid == identity.uid);
        if !elsewhere && named.clone().any(|reference| identity.is_named_by(reference)) {
            agreeing.push(dependent);
        }
        if elsewhere || named.any(|reference| !identity.is_named_by(reference)) {
            disagreeing.push(dependent);
        }
    }
    (agreeing, disagreeing)
}

/// The next coordinates by which dependents call an owner whose present ones are absent (R3.18, R3.19).
fn alternate_identity<'a, P: GraphView<'a>>(picture: &P, disagreeing: &[NodeId], absent: Identity) -> Option<Identity> {
    let sort_key = |identity: &Identity| {
        [identity.kind, identity.api_version, identity.namespace, identity.name, identity.uid]
            .map(|symbol| picture.text(symbol))
    };
    let cluster_scoped = absent.namespace.is_empty();
    let mut alternates: Vec<Identity> = Vec::new();
    for dependent in disagreeing {
        let namespace = picture.namespace(*dependent);
        for reference in picture.owners(*dependent).iter().filter(|reference| reference.uid == absent.uid) {
            if absent.is_named_by(reference) && (cluster_scoped || absent.namespace == namespace) {
                continue;
            }
            let same_kind = reference.api_version == absent.api_version && reference.kind == absent.kind;
            let namespace = if cluster_scoped && same_kind { Symbol::EMPTY } else { namespace };
            alternates.push(Identity::named_by(reference, namespace));
        }
    }
    alternates.retain(|alternate| *alternate != absent);
    alternates.sort_by(|left, right| sort_key(left).cmp(&sort_key(right)));
    let following = alternates.iter().find(|alternate| sort_key(alternate) > sort_key(&absent));
    following.or(alternates.first()).copied()
}

#[derive(Default)]
struct Differences {
    added: Vec<Reference>,
    removed: Vec<Reference>,
    changed: Vec<(Reference, Reference)>,
}

impl Differences {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Compares references by uid. Of several old ones with one uid the last counts, and only the first new one is compared
/// with it, while the others look added (R3.10, R3.22).
fn differences(old: &[Reference], new: &[Reference]) -> Differences {
    let mut unmatched: FxHashMap<Symbol, Reference> = old.iter().map(|reference| (reference.uid, *reference)).collect();
    let mut found = Differences::default();
    for reference in new {
        match unmatched.remove(&reference.uid) {
            Some(before) if before != *reference => found.changed.push((before, *reference)),
            Some(_) => {}
            None => found.added.push(*reference),
        }
    }
    // In the order of the old list, so that what is queued doesn't depend on hashing.
    for (position, reference) in old.iter().enumerate() {
        let is_last = old[position + 1..].iter().all(|later| later.uid != reference.uid);
        if is_last && unmatched.contains_key(&reference.uid) {
            found.removed.push(*reference);
        }
    }
    found
}
