//! The collector's graph builder: applies events to the graph and queues affected nodes (§3, §5.1, §6).

use rustc_hash::FxHashMap;

use crate::{
    graph::NodeId,
    model::{Reference, References, Symbol},
    server::Stored,
};

use super::{
    graph_view::{GraphView, Identity, Known},
    overlay::Collector,
};

/// An event for the collector's graph.
#[derive(Clone, Debug)]
pub struct Event<'a> {
    pub node: NodeId,
    pub kind: EventKind<'a>,
}

/// The kind of an event.
#[derive(Clone, Debug)]
pub enum EventKind<'a> {
    /// An informer's first list contained the object in this state; `None`: the initial one.
    Listed(Option<Box<Stored<'a>>>),
    /// An informer saw the object change.
    Updated { before: Box<Stored<'a>>, after: Box<Stored<'a>> },
    /// An informer saw the object's deletion.
    Deleted,
    /// A live look-up found no object with these coordinates (G2).
    VirtualDeleted(Identity),
}

/// The state of an object's deletion last observed: only a new state queues something (§5.1, R6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DeletionState {
    pub orphaning: bool,
    pub waiting: bool,
}

impl DeletionState {
    pub(super) fn of(stored: &Stored<'_>) -> Self {
        DeletionState { orphaning: stored.orphaning(), waiting: stored.waiting() }
    }
}

impl<'a> Collector<'a> {
    /// Applies one event to the graph.
    pub fn observe(&mut self, event: Event<'a>) {
        let node = event.node;
        match event.kind {
            EventKind::Listed(now) => self.observe_first(node, now.map(|now| *now)),
            EventKind::Updated { before, after } => {
                let observe = if self.sweeps { observe_update_fully } else { observe_update };
                observe(self, node, DeletionState::of(&before), *after);
            }
            EventKind::Deleted => observe_deletion(self, node),
            EventKind::VirtualDeleted(identity) => observe_absence(self, node, identity),
        }
    }
}

/// An informer shows an object that was unknown or virtual so far.
pub(super) fn observe_first<'a, P: GraphView<'a>>(graph: &mut P, id: NodeId, identity: Identity, stored: &Stored<'a>) {
    if graph.known(id) == Known::Virtual && graph.identity(id) != Some(identity) {
        // R3.4: another node replaces the virtual one, which is not examined any more (G0).
        graph.unqueue(id);
        for dependent in partition(graph, id, identity).1 {
            if !identity.namespace.is_empty() && graph.namespace(dependent) != identity.namespace {
                graph.complain(dependent, identity.uid);
            }
            graph.queue(dependent);
        }
    }
    graph.set_observed(id, identity, stored);
    check_added(graph, id, &stored.owners);
    start_deletion(graph, id, stored);
}

/// An informer shows an observed object again.
pub(super) fn observe_update<'a, P: GraphView<'a>>(
    graph: &mut P,
    id: NodeId,
    before: DeletionState,
    after: Stored<'a>,
) {
    if graph.known(id) == Known::Gone {
        return;
    }
    let old = graph.owners(id);
    let differences = differences(&old, &after.owners);
    if !differences.is_empty() {
        queue_unblocked_owners(graph, &differences);
        graph.replace_owners(id, &old, after.owners.clone());
        check_added(graph, id, &differences.added);
    }
    if after.terminating {
        graph.set_being_deleted(id);
    }
    if after.orphaning() && !before.orphaning {
        graph.queue_orphaning(id);
    } else if after.waiting() && !before.waiting {
        begin_waiting(graph, id);
    }
}

/// The same for a sweep. Of several references with one uid, the original compares only the last (R3.10), and can
/// forget the owner (R3.22). A sweep takes all of them into account.
pub(super) fn observe_update_fully<'a, P: GraphView<'a>>(
    graph: &mut P,
    id: NodeId,
    before: DeletionState,
    after: Stored<'a>,
) {
    let (old, new) = (graph.owners(id), after.owners.clone());
    observe_update(graph, id, before, after);
    if graph.known(id) == Known::Gone || old == new {
        return;
    }
    let observed = graph.owners(id);
    if observed != new {
        graph.replace_owners(id, &observed, new.clone());
        graph.queue(id);
    }
    for reference in old.iter().filter(|reference| reference.blocks()) {
        let still_blocks = new.iter().any(|other| other.uid == reference.uid && other.blocks());
        let waiting = |owner: &NodeId| graph.deleting_dependents(*owner);
        if !still_blocks && let Some(owner) = graph.by_uid(reference.uid).filter(waiting) {
            graph.queue(owner);
        }
    }
}

/// Queues what is necessary for an object first observed as terminating (R6.1: if both orphaning and foreground
/// deletion would start, the latter is ignored).
fn start_deletion<'a, P: GraphView<'a>>(graph: &mut P, id: NodeId, stored: &Stored<'_>) {
    if stored.orphaning() {
        graph.queue_orphaning(id);
    } else if stored.waiting() {
        begin_waiting(graph, id);
    }
}

/// An owner was observed waiting: queues it and all its dependents (F1).
fn begin_waiting<'a, P: GraphView<'a>>(graph: &mut P, id: NodeId) {
    graph.set_deleting_dependents(id);
    for dependent in graph.dependents(id) {
        graph.queue(dependent);
    }
    graph.queue(id);
}

/// R3.10: queues owners that are not blocked any more.
fn queue_unblocked_owners<'a, P: GraphView<'a>>(graph: &mut P, differences: &Differences) {
    let removed = differences.removed.iter().filter(|reference| reference.blocks()).map(|reference| reference.uid);
    let unblocked =
        differences.changed.iter().filter(|(old, new)| old.blocks() && !new.blocks()).map(|(_, new)| new.uid);
    for uid in removed.chain(unblocked) {
        if let Some(owner) = graph.by_uid(uid)
            && graph.known(owner) != Known::Gone
        {
            graph.queue(owner);
        }
    }
}

/// Checks references that look new against their observed owners (R3.2, R3.6–R3.9); of several references with one uid,
/// the later ones always look new. Stops at the first suspicious one.
fn check_added<'a, P: GraphView<'a>>(graph: &mut P, id: NodeId, added: &[Reference]) {
    let namespace = graph.namespace(id);
    let mut suspicious = false;
    for reference in added {
        let Some(owner) = graph.named(reference.uid) else { continue };
        if graph.known(owner) == Known::Gone {
            graph.set_virtual(owner, Identity::named_by(reference, namespace), id);
            graph.queue(owner);
            continue;
        }
        graph.add_dependent(owner, id);
        if suspicious {
            continue;
        }
        let observed = graph.known(owner) == Known::Observed;
        suspicious = match graph.identity(owner) {
            None => true,
            Some(identity) if observed => {
                if !identity.namespace.is_empty() && identity.namespace != namespace {
                    graph.complain(id, reference.uid);
                }
                !graph.agrees(reference, namespace, &identity)
            }
            Some(identity) => identity.namespace != namespace || !identity.is_named_by(reference),
        };
    }
    if suspicious {
        graph.queue(id);
    }
}

/// An object is gone: queues its dependents, and owners that waited for it (F5, F6).
pub(super) fn observe_deletion<'a, P: GraphView<'a>>(graph: &mut P, id: NodeId) {
    if graph.known(id) == Known::Gone {
        return;
    }
    let dependents = graph.dependents(id);
    let owners = graph.owners(id);
    graph.replace_owners(id, &owners, References::Read(&[]));
    graph.set_gone(id);
    for dependent in dependents {
        graph.queue(dependent);
    }
    for reference in owners.iter() {
        if let Some(owner) = graph.by_uid(reference.uid)
            && graph.known(owner) != Known::Gone
            && graph.deleting_dependents(owner)
        {
            graph.queue(owner);
        }
    }
}

/// A look-up found no object with a node's coordinates (§3.5).
pub(super) fn observe_absence<'a, P: GraphView<'a>>(graph: &mut P, id: NodeId, absent: Identity) {
    match graph.known(id) {
        Known::Gone => {}
        Known::Virtual => {
            graph.set_absent(absent);
            let (agreeing, disagreeing) = partition(graph, id, absent);
            if disagreeing.is_empty() {
                observe_deletion(graph, id);
                return;
            }
            for dependent in agreeing {
                graph.queue(dependent);
            }
            if graph.identity(id) == Some(absent)
                && let Some(alternate) = alternate_identity(graph, &disagreeing, absent)
            {
                graph.set_identity(id, alternate);
                // If one dependent references its owner in two ways, the real collector alternates forever without
                // learning anything new.
                if graph.is_absent(&alternate) {
                    graph.retry_after_change(id);
                } else {
                    graph.retry_soon(id);
                }
            }
        }
        Known::Observed => {
            graph.set_absent(absent);
            if graph.identity(id) == Some(absent) {
                observe_deletion(graph, id);
            } else {
                // R3.20
                for dependent in partition(graph, id, absent).0 {
                    graph.queue(dependent);
                }
            }
        }
    }
}

/// Splits the dependents of a node into those with a reference to this identity and those with another; a dependent
/// with both is in both lists (R3.18).
fn partition<'a, P: GraphView<'a>>(graph: &P, id: NodeId, identity: Identity) -> (Vec<NodeId>, Vec<NodeId>) {
    let mut agreeing = Vec::new();
    let mut disagreeing = Vec::new();
    for dependent in graph.dependents(id) {
        let elsewhere = !identity.namespace.is_empty() && identity.namespace != graph.namespace(dependent);
        let owners = graph.owners(dependent);
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

/// The next identity in dependents' references to an owner that is absent at the current one (R3.18, R3.19).
fn alternate_identity<'a, P: GraphView<'a>>(graph: &P, disagreeing: &[NodeId], absent: Identity) -> Option<Identity> {
    let sort_key = |identity: &Identity| {
        [identity.kind, identity.api_version, identity.namespace, identity.name, identity.uid]
            .map(|symbol| graph.text(symbol))
    };
    let cluster_scoped = absent.namespace.is_empty();
    let mut alternates: Vec<Identity> = Vec::new();
    for dependent in disagreeing {
        let namespace = graph.namespace(*dependent);
        for reference in graph.owners(*dependent).iter().filter(|reference| reference.uid == absent.uid) {
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

/// Compares references by uid. Of several old ones with one uid, the last counts; only the first new one is compared
/// with it, and the others look added (R3.10, R3.22).
fn differences(old: &[Reference], new: &[Reference]) -> Differences {
    let mut unmatched: FxHashMap<Symbol, (usize, Reference)> =
        old.iter().enumerate().map(|(position, reference)| (reference.uid, (position, *reference))).collect();
    let mut found = Differences::default();
    for reference in new {
        match unmatched.remove(&reference.uid) {
            Some((_, before)) if before != *reference => found.changed.push((before, *reference)),
            Some(_) => {}
            None => found.added.push(*reference),
        }
    }
    // In the order of the old list, so that the queue order doesn't depend on hashing.
    for (position, reference) in old.iter().enumerate() {
        if unmatched.get(&reference.uid).is_some_and(|(last, _)| *last == position) {
            found.removed.push(*reference);
        }
    }
    found
}
