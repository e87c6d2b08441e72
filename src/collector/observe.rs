//! Events reach the graph and queue what they concern: the collector's graph builder (sections 3, 5.1, 6).

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use crate::{
    graph::NodeId,
    model::{ObjectId, Reference, Symbol},
    server::Stored,
};

use super::view::{Collector, Identity, Known};

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

impl<'a> Collector<'a> {
    /// Delivers one event to the graph.
    pub fn observe(&mut self, event: Event<'a>) {
        let node = event.node;
        match event.kind {
            EventKind::Listed => self.observe_first(node),
            EventKind::Updated { before, after } => self.observe_update(node, &before, *after),
            EventKind::Deleted => self.observe_deletion(node),
            EventKind::VirtualDeleted(identity) => self.observe_absence(node, identity),
        }
    }

    fn observe_update(&mut self, id: NodeId, before: &Stored<'a>, after: Stored<'a>) {
        let old = self.node(id).owners.clone();
        if self.node(id).known == Known::Gone {
            return;
        }
        let differences = differences(&old, &after.owners);
        if !differences.is_empty() {
            self.queue_unblocked_owners(&differences);
            self.replace_owners(id, &old, after.owners.clone());
            self.check_added(id, &differences.added);
        }
        let node = self.node_mut(id);
        node.being_deleted |= after.terminating;
        if after.orphaning() && !before.orphaning() {
            self.to_orphan.add(id);
        } else if after.waiting() && !before.waiting() {
            self.begin_waiting(id);
        }
    }

    /// What is queued for an object that is seen for the first time, if it is terminating (R6.1: where both orphaning and foreground
    /// deletion would start, the latter is ignored).
    pub(super) fn start_deletion(&mut self, id: NodeId, stored: &Stored<'_>) {
        if stored.orphaning() {
            self.to_orphan.add(id);
        } else if stored.waiting() {
            self.begin_waiting(id);
        }
    }

    /// An owner is seen waiting: it and all that is known to depend on it are looked at (5.1 step 1).
    fn begin_waiting(&mut self, id: NodeId) {
        self.node_mut(id).deleting_dependents = true;
        for dependent in self.dependents(id) {
            self.to_delete.add(dependent.into());
        }
        self.to_delete.add(id);
    }

    /// R3.10: an owner that a blocking reference was holding is looked at again.
    fn queue_unblocked_owners(&mut self, differences: &Differences) {
        let removed = differences.removed.iter().filter(|reference| reference.blocks()).map(|reference| reference.uid);
        let unblocked = differences.changed.iter().filter(|(old, new)| old.blocks() && !new.blocks()).map(|(_, new)| new.uid);
        for uid in removed.chain(unblocked) {
            if let Some(owner) = self.graph.by_uid(uid)
                && self.node(owner).known != Known::Gone
            {
                self.to_delete.add(owner);
            }
        }
    }

    /// Takes over observed references and keeps the counts of every owner right.
    fn replace_owners(&mut self, id: NodeId, old: &[Reference], new: Cow<'a, [Reference]>) {
        let holder = self.graph.object(id);
        let has = |list: &[Reference], uid: Symbol| list.iter().any(|reference| reference.uid == uid);
        for (position, reference) in old.iter().enumerate() {
            let Some(owner) = self.graph.by_uid(reference.uid) else { continue };
            let gone = !has(&new, reference.uid);
            let owner = self.node_mut(owner);
            owner.blocking -= u32::from(reference.blocks());
            if gone && !has(&old[..position], reference.uid) {
                owner.dependents -= 1;
            }
            if let (true, Some(members), Some(object)) = (gone, &mut owner.members, holder) {
                members.retain(|member| *member != object);
            }
        }
        for (position, reference) in new.iter().enumerate() {
            let Some(owner) = self.graph.by_uid(reference.uid) else { continue };
            let owner = self.node_mut(owner);
            owner.blocking += u32::from(reference.blocks());
            if !has(&new[..position], reference.uid) && !has(old, reference.uid) {
                owner.dependents += 1;
            }
        }
        self.node_mut(id).owners = new;
    }

    /// Checks references that look new, which the later ones of several with one uid always do, against what is known of their
    /// owners (R3.2, R3.6–R3.9). Checking stops at the first that is suspicious.
    pub(super) fn check_added(&mut self, id: NodeId, added: &[Reference]) {
        let Some(holder) = self.graph.object(id) else { return };
        let namespace = self.snapshot.object(holder).namespace;
        let mut suspicious = false;
        for reference in added {
            let Some(owner) = self.graph.by_uid(reference.uid) else { continue };
            if self.node(owner).known == Known::Gone {
                let node = self.node_mut(owner);
                node.known = Known::Virtual;
                node.members = Some(vec![holder]);
                // It is another node than the one that went, and has seen nothing of what that one had.
                (node.being_deleted, node.deleting_dependents) = (false, false);
                self.replaced_identities.insert(owner, Identity::named_by(reference, namespace));
                self.to_delete.add(owner);
                continue;
            }
            if let Some(members) = &mut self.node_mut(owner).members
                && !members.contains(&holder)
            {
                members.push(holder);
            }
            suspicious = suspicious
                || match self.graph.object(owner).filter(|_| self.node(owner).known == Known::Observed) {
                    Some(object) => !self.agrees(reference, namespace, object),
                    None => self
                        .identity(owner)
                        .is_none_or(|identity| identity.namespace != namespace || !identity.is_named_by(reference)),
                };
        }
        if suspicious {
            self.to_delete.add(id);
        }
    }

    /// A node goes: its dependents are looked at, and owners that were waiting for it (5.1 step 5 and 6).
    fn observe_deletion(&mut self, id: NodeId) {
        if self.node(id).known == Known::Gone {
            return;
        }
        let dependents = self.dependents(id);
        let owners = self.node(id).owners.clone();
        self.replace_owners(id, &owners, Cow::Borrowed(&[]));
        self.node_mut(id).known = Known::Gone;
        for dependent in dependents {
            self.to_delete.add(dependent.into());
        }
        for reference in owners.iter() {
            if let Some(owner) = self.graph.by_uid(reference.uid) {
                let node = self.node(owner);
                if node.known != Known::Gone && node.deleting_dependents {
                    self.to_delete.add(owner);
                }
            }
        }
    }

    /// A look-up found nothing under the coordinates of a node (3.5).
    fn observe_absence(&mut self, id: NodeId, absent: Identity) {
        self.confirmed_absent.insert(absent);
        match self.node(id).known {
            Known::Gone => {}
            Known::Virtual => {
                let (agreeing, disagreeing) = self.partition(id, absent);
                if disagreeing.is_empty() {
                    self.observe_deletion(id);
                    return;
                }
                for dependent in agreeing {
                    self.to_delete.add(dependent.into());
                }
                if self.identity(id) == Some(absent)
                    && let Some(alternate) = self.alternate_identity(&disagreeing, absent)
                {
                    self.replaced_identities.insert(id, alternate);
                    // Where one dependent calls its owner by two names, the real collector goes round for ever; it learns nothing new.
                    if self.confirmed_absent.contains(&alternate) {
                        self.retries.after_change(id);
                    } else {
                        self.retries.soon(id);
                    }
                }
            }
            Known::Observed => {
                let is_it = self.identity(id) == Some(absent);
                if is_it {
                    self.observe_deletion(id);
                } else {
                    // R3.20
                    for dependent in self.partition(id, absent).0 {
                        self.to_delete.add(dependent.into());
                    }
                }
            }
        }
    }

    /// Splits the dependents of a node into those that name it by these coordinates and those that don't; one that does both is in
    /// both (R3.18).
    pub(super) fn partition(&self, id: NodeId, identity: Identity) -> (Vec<ObjectId>, Vec<ObjectId>) {
        let mut agreeing = Vec::new();
        let mut disagreeing = Vec::new();
        for dependent in self.dependents(id) {
            let namespace = self.snapshot.object(dependent).namespace;
            let elsewhere = !identity.namespace.is_empty() && identity.namespace != namespace;
            let node = self.node(dependent.into());
            let mut named = node.owners.iter().filter(|reference| reference.uid == identity.uid);
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
    fn alternate_identity(&self, disagreeing: &[ObjectId], absent: Identity) -> Option<Identity> {
        let sort_key = |identity: &Identity| {
            [identity.kind, identity.api_version, identity.namespace, identity.name, identity.uid]
                .map(|symbol| self.snapshot.text(symbol))
        };
        let cluster_scoped = absent.namespace.is_empty();
        let mut alternates: Vec<Identity> = Vec::new();
        for dependent in disagreeing {
            let namespace = self.snapshot.object(*dependent).namespace;
            for reference in self.node((*dependent).into()).owners.iter().filter(|reference| reference.uid == absent.uid) {
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

/// Compares references by uid. Of several old ones with one uid the last counts, and only the first new one is compared with it,
/// while the others look added (R3.10, R3.22).
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
