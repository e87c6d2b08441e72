//! The examination of one queued object as a state machine of look-ups and writes, and what is decided in it: §4 and
//! §5, in the steps of §8.2.

use crate::{
    graph::{NodeId, Verdict},
    model::{Reference, References, Symbol},
    server::{DeleteAnswer, DeleteOptions, Patch, PatchAnswer, Propagation, Stored},
};

use super::graph_view::{GraphView, Identity, Known};

/// Why an examination failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The reference can't be resolved: retried forever (R3.13).
    Unmappable,
    /// The API server refuses the request from anyone: retried forever (S7).
    Refused,
    /// Never retried (L3).
    InvalidScope,
    /// The answer is unknown (R10.2).
    Unknown,
}

/// The result of a look-up, as far as it matters for the decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnerState {
    Solid,
    Waiting,
    Dangling,
}

impl OwnerState {
    /// The owner's state according to a verdict, or why it is unknown (R3.13).
    pub fn of(verdict: Verdict) -> Result<OwnerState, Failure> {
        match verdict {
            Verdict::Solid(_) => Ok(OwnerState::Solid),
            Verdict::Waiting(_) => Ok(OwnerState::Waiting),
            Verdict::Dangling(_) => Ok(OwnerState::Dangling),
            Verdict::InvalidScope => Err(Failure::InvalidScope),
            Verdict::Unmappable | Verdict::Doubted => Err(Failure::Unmappable),
            Verdict::Unknown => Err(Failure::Unknown),
        }
    }
}

/// What the collector does with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: all owners are solid, or there are none.
    Keep,
    /// Drop every reference with one of these uids and keep the object (R8.5).
    Strip(Vec<Symbol>),
    /// DELETE with Foreground, whatever finalizers the object has, because a waiting owner must outlive its dependents.
    /// If a dependent of the object is already being foreground-deleted, the object is unblocked first (R5.10, R5.11).
    DeleteForWaitingOwner,
    /// DELETE with the policy that its own finalizers request.
    Delete(Propagation),
}

/// Decides about a live object by the table of §4.2: by the states of its owners, in the order of its references.
///
/// `has_dependents`: whether the graph has any dependent, blocking or not. `finalizers` are those of the live object.
pub fn decide(references: &[(Reference, OwnerState)], has_dependents: bool, finalizers: &[Symbol]) -> Decision {
    let any = |class: OwnerState| references.iter().any(|(_, found)| *found == class);
    if references.is_empty() {
        return Decision::Keep;
    }
    if any(OwnerState::Solid) {
        // R4.8: references are dropped by uid, dangling ones first, as in the collector's patch.
        let uids_of = |class: OwnerState| {
            references.iter().filter(move |(_, found)| *found == class).map(|(reference, _)| reference.uid)
        };
        let uids: Vec<Symbol> = uids_of(OwnerState::Dangling).chain(uids_of(OwnerState::Waiting)).collect();
        return if uids.is_empty() { Decision::Keep } else { Decision::Strip(uids) };
    }
    if any(OwnerState::Waiting) && has_dependents {
        return Decision::DeleteForWaitingOwner;
    }
    Decision::Delete(if finalizers.contains(&Symbol::ORPHAN) {
        Propagation::Orphan
    } else if finalizers.contains(&Symbol::FOREGROUND) {
        Propagation::Foreground
    } else {
        Propagation::Background
    })
}

/// Why the collector writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// All owners are gone, or are being deleted without waiting for dependents (§4.2).
    NoOwnerLeft,
    /// An owner waits for its dependents, and no owner is solid (§4.2).
    OwnerWaits,
    /// Owners with these uids are gone or waiting, and another owner is solid (R8.5).
    OtherOwnerSolid(Vec<Symbol>),
    /// A dependent is already being foreground-deleted: possibly a cycle (R5.10, R5.11).
    CycleSuspected,
    /// No blocking dependent is left (F3).
    DependentsGone,
    /// The owner with this uid was deleted with Orphan (R6.2).
    OwnerOrphans(Symbol),
    /// All dependents were orphaned (R6.4).
    DependentsFreed,
}

/// A request to the API server. "The item" is the object being examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// GET the item, by the coordinates known to the collector.
    Item(Identity),
    /// Look up the owner of this reference (§3.4), from the item's assumed namespace ([`Examination::namespace`]).
    Owner(Reference),
    /// DELETE the item.
    Delete(DeleteOptions, Reason),
    /// PATCH the item.
    Patch(Patch, Reason),
}

/// The API server's answer.
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// The item, which has the expected uid.
    Found(Stored<'a>),
    /// No object, or one with another uid.
    NotFound,
    /// The item could not be read or written.
    Failed(Failure),
    /// The state of the owner, or why it is unknown.
    Owner(Result<OwnerState, Failure>),
    Deleted(DeleteAnswer<'a>),
    Patched(PatchAnswer<'a>),
}

/// The next step of an examination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Ask(Ask),
    Finished(Finish),
}

/// How an examination ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Finished.
    Forget,
    /// Conflict: retry after a back-off.
    RetrySoon,
    /// Would fail again: retry after a change.
    RetryAfterChange,
    /// The item is absent: an event for the graph (G2).
    Absent(Identity),
    /// Something could not be read.
    Unknown,
}

/// An examination in progress.
#[derive(Clone, Debug)]
pub struct Examination<'a> {
    /// The item.
    pub node: NodeId,
    /// The item's identity when it was taken from the queue; `None` if unknown. If an informer later shows the item
    /// under other coordinates, another node replaces this one (R3.4), and this examination continues with the old one.
    identity: Option<Identity>,
    state: State<'a>,
}

#[derive(Clone, Debug)]
enum State<'a> {
    Item,
    Owners { item: Stored<'a>, classes: Vec<(Reference, OwnerState)> },
    Strip,
    Unblock { item: Stored<'a> },
    Delete { options: DeleteOptions, owners: References<'a>, reason: Reason },
    Reread { options: DeleteOptions, owners: References<'a>, reason: Reason },
    FinalizerItem,
    FinalizerPatch,
}

impl<'a> Examination<'a> {
    /// Starts with an item from the queue: gates G0 and G1.
    pub fn begin(collector: &impl GraphView<'a>, node: NodeId) -> (Self, Progress) {
        let identity = collector.identity(node);
        let examination = Examination { node, identity, state: State::Item };
        // G1: a terminating object is handled when it is gone.
        let on_its_way_out = collector.being_deleted(node) && !collector.deleting_dependents(node);
        let progress = match identity {
            // G0: the graph doesn't contain it any more.
            None => Progress::Finished(Finish::Forget),
            _ if on_its_way_out || collector.known(node) == Known::Gone => Progress::Finished(Finish::Forget),
            Some(identity) => Progress::Ask(Ask::Item(identity)),
        };
        (examination, progress)
    }

    /// The namespace that the collector assumes for the item, and looks up its owners from. Before an informer has
    /// shown the item, that is its first dependent's namespace, even for a cluster-scoped item (R3.2).
    pub fn namespace(&self) -> Symbol {
        self.identity.map_or(Symbol::EMPTY, |identity| identity.namespace)
    }

    /// Whether an informer has shown the item under other coordinates meanwhile (R3.4). This examination doesn't know
    /// the new node.
    fn is_replaced(&self, collector: &impl GraphView<'a>) -> bool {
        collector.known(self.node) == Known::Observed && collector.identity(self.node) != self.identity
    }

    /// Processes the answer to the last request.
    pub fn answer(&mut self, collector: &mut impl GraphView<'a>, answer: Answer<'a>) -> Progress {
        let state = std::mem::replace(&mut self.state, State::Item);
        match (state, answer) {
            // R3.13: one error ends the examination.
            (_, Answer::Failed(failure) | Answer::Owner(Err(failure))) => Progress::Finished(match failure {
                Failure::InvalidScope => Finish::Forget,
                Failure::Unmappable | Failure::Refused => Finish::RetryAfterChange,
                Failure::Unknown => Finish::Unknown,
            }),
            (State::Item, Answer::Found(item)) => self.found(collector, item),
            (State::Owners { item, mut classes }, Answer::Owner(Ok(class))) => {
                classes.push((item.owners[classes.len()], class));
                self.next_owner(collector, item, classes)
            }
            (State::Unblock { item }, Answer::Patched(PatchAnswer::Updated(_) | PatchAnswer::Unchanged)) => {
                // R4.3: the DELETE still has the version from before the PATCH.
                self.delete(collector, item, Propagation::Foreground, Reason::OwnerWaits)
            }
            (State::Delete { options, owners, reason }, Answer::Deleted(DeleteAnswer::Conflict))
                if options.version.is_some() =>
            {
                self.state = State::Reread { options, owners, reason };
                self.ask_item()
            }
            (State::Delete { .. }, Answer::Deleted(DeleteAnswer::Conflict)) => Progress::Finished(Finish::RetrySoon),
            (State::Delete { .. }, Answer::Deleted(_)) => self.succeeded(collector),
            (State::Reread { options, owners, reason }, Answer::Found(item)) => {
                // R4.2: only changed references make the collector decide again.
                if Some(item.version) == options.version || item.owners != owners {
                    return Progress::Finished(Finish::RetrySoon);
                }
                let options = DeleteOptions { version: None, ..options };
                self.state = State::Delete { options, owners, reason: reason.clone() };
                Progress::Ask(Ask::Delete(options, reason))
            }
            (State::Item | State::Reread { .. } | State::Delete { .. }, Answer::NotFound) => match self.identity {
                Some(identity) => Progress::Finished(Finish::Absent(identity)),
                None => Progress::Finished(Finish::Forget),
            },
            (State::FinalizerItem, Answer::Found(item)) => {
                if !item.has_finalizer(Symbol::FOREGROUND) {
                    return self.succeeded(collector);
                }
                self.state = State::FinalizerPatch;
                let patch = Patch::RemoveFinalizer { finalizer: Symbol::FOREGROUND, version: item.version };
                Progress::Ask(Ask::Patch(patch, Reason::DependentsGone))
            }
            (State::FinalizerItem, Answer::NotFound) => self.succeeded(collector),
            (State::FinalizerPatch, Answer::Patched(PatchAnswer::Conflict)) => {
                self.state = State::FinalizerItem;
                self.ask_item()
            }
            (State::Strip | State::FinalizerPatch, Answer::Patched(answer)) if answer != PatchAnswer::Conflict => {
                self.succeeded(collector)
            }
            // After any other failed write, the examination is retried.
            _ => Progress::Finished(Finish::RetrySoon),
        }
    }

    /// The item exists: gates G3 to G5.
    fn found(&mut self, collector: &mut impl GraphView<'a>, item: Stored<'a>) -> Progress {
        if collector.deleting_dependents(self.node) && !self.is_replaced(collector) {
            let blocking = collector.blocking_dependents(self.node);
            if blocking.is_empty() {
                self.state = State::FinalizerItem;
                return self.ask_item();
            }
            for dependent in blocking {
                if !collector.deleting_dependents(dependent) {
                    collector.queue(dependent);
                }
            }
            return self.succeeded(collector);
        }
        if item.owners.is_empty() {
            return self.succeeded(collector);
        }
        self.next_owner(collector, item, Vec::new())
    }

    fn next_owner(
        &mut self,
        collector: &impl GraphView<'a>,
        item: Stored<'a>,
        classes: Vec<(Reference, OwnerState)>,
    ) -> Progress {
        if let Some(reference) = item.owners.get(classes.len()).copied() {
            self.state = State::Owners { item, classes };
            return Progress::Ask(Ask::Owner(reference));
        }
        match decide(&classes, collector.has_dependents(self.node), &item.finalizers) {
            Decision::Keep => self.succeeded(collector),
            Decision::Strip(uids) => {
                self.state = State::Strip;
                Progress::Ask(Ask::Patch(Patch::StripByUid(uids.clone()), Reason::OtherOwnerSolid(uids)))
            }
            Decision::DeleteForWaitingOwner => match self.unblocking_patch(collector, &item) {
                Some(patch) => {
                    self.state = State::Unblock { item };
                    Progress::Ask(Ask::Patch(patch, Reason::CycleSuspected))
                }
                None => self.delete(collector, item, Propagation::Foreground, Reason::OwnerWaits),
            },
            Decision::Delete(propagation) => {
                let waiting = classes.iter().any(|(_, class)| *class == OwnerState::Waiting);
                let reason = if waiting { Reason::OwnerWaits } else { Reason::NoOwnerLeft };
                self.delete(collector, item, propagation, reason)
            }
        }
    }

    /// The PATCH that unblocks the item's owners, if a dependent is already being foreground-deleted (R5.11).
    fn unblocking_patch(&self, collector: &impl GraphView<'a>, item: &Stored<'a>) -> Option<Patch> {
        collector.dependents(self.node).into_iter().find(|dependent| collector.deleting_dependents(*dependent))?;
        let unblocked = |reference: &Reference| Reference { block_owner_deletion: Some(false), ..*reference };
        let known = collector.references_to_unblock(self.node, item);
        Some(if collector.merges_strategically(self.node) {
            Patch::MergeOwners(known.iter().filter(|reference| reference.blocks()).map(unblocked).collect())
        } else {
            Patch::SetOwners { owners: known.iter().map(unblocked).collect(), version: item.version }
        })
    }

    fn delete(
        &mut self,
        collector: &impl GraphView<'a>,
        item: Stored<'a>,
        propagation: Propagation,
        reason: Reason,
    ) -> Progress {
        // R4.1. The caller finds the item by uid, which checks it.
        let version = Some(item.version).filter(|_| !collector.deletes_by_uid_alone());
        let options = DeleteOptions { propagation: Some(propagation), grace: None, uid: None, version };
        self.state = State::Delete { options, owners: item.owners, reason: reason.clone() };
        Progress::Ask(Ask::Delete(options, reason))
    }

    fn ask_item(&self) -> Progress {
        match self.identity {
            Some(identity) => Progress::Ask(Ask::Item(identity)),
            None => Progress::Finished(Finish::Forget),
        }
    }

    /// Finished; an item that was never observed is polled again (R3.3).
    fn succeeded(&self, collector: &impl GraphView<'a>) -> Progress {
        let polled = collector.known(self.node) == Known::Virtual;
        Progress::Finished(if polled { Finish::RetryAfterChange } else { Finish::Forget })
    }
}
