//! The examination of one queued object, as a state machine over look-ups and writes: §4 and §5, in the atoms of
//! §8.2.

use std::borrow::Cow;

use crate::{
    graph::NodeId,
    model::{Reference, Symbol},
    server::{DeleteAnswer, DeleteOptions, Patch, PatchAnswer, Propagation, Stored},
};

use super::{
    decide::{Class, Decision, decide},
    graph_view::GraphView,
    identity::{Identity, Known},
};

/// Why the collector writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Every owner is gone, or going without being waited for (§4.2).
    NoOwnerLeft,
    /// An owner waits for its dependents, and no other is solid (§4.2).
    OwnerWaits,
    /// Owners with these uids are gone or waiting, and another is solid (R8.5).
    OtherOwnerSolid(Vec<Symbol>),
    /// One of its dependents is already being deleted in the foreground: a cycle is suspected (R5.10, R5.11).
    CycleSuspected,
    /// No blocking dependent is left (F3).
    DependentsGone,
    /// The owner with this uid is deleted with Orphan (R6.2).
    OwnerOrphans(Symbol),
    /// Every dependent was freed (R6.4).
    DependentsFreed,
}

/// What is asked of the API server. "The item" is the object that is examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// GET the item, by the coordinates the collector knows it under.
    Item(Identity),
    /// Look up this reference of the item (§3.4), from where the item is taken to be ([`Examination::namespace`]).
    Owner(Reference),
    /// DELETE the item.
    Delete(DeleteOptions, Reason),
    /// PATCH the item.
    Patch(Patch, Reason),
}

/// What the API server says.
#[derive(Clone, Debug)]
pub enum Answer<'a> {
    /// The item, which has the expected uid.
    Found(Stored<'a>),
    /// Nothing is there, or something with another uid.
    NotFound,
    /// The item could not be read or written.
    Failed(Failure),
    /// What a reference turned out to be, or why that isn't known.
    Owner(Result<Class, Failure>),
    Deleted(DeleteAnswer<'a>),
    Patched(PatchAnswer<'a>),
}

/// Why an examination could not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Retried for ever (R3.13).
    Unmappable,
    /// The API server refuses it to everybody: retried for ever (S7).
    Refused,
    /// Never retried (L3).
    InvalidScope,
    /// It is not known what is there (R10.2).
    Unknown,
}

/// How an examination goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    Ask(Ask),
    Finished(Finish),
}

/// How an examination ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Done with.
    Forget,
    /// A conflict: again after a back-off.
    RetrySoon,
    /// Would fail in the same way until something changes.
    RetryAfterChange,
    /// The item is not there: the graph is told (G2).
    Absent(Identity),
    /// Something could not be read.
    Unknown,
}

/// An examination under way.
#[derive(Clone, Debug)]
pub struct Examination<'a> {
    /// The item.
    pub node: NodeId,
    /// What the item was known as when it was taken from the queue; none where nothing was known of it. An informer
    /// that shows it later makes another node of it (R3.4), and this look goes on with the old one.
    identity: Option<Identity>,
    state: State<'a>,
}

#[derive(Clone, Debug)]
enum State<'a> {
    Item,
    Owners { item: Stored<'a>, classes: Vec<(Reference, Class)> },
    Strip,
    Unblock { item: Stored<'a> },
    Delete { options: DeleteOptions, owners: Cow<'a, [Reference]>, reason: Reason },
    Reread { options: DeleteOptions, owners: Cow<'a, [Reference]>, reason: Reason },
    FinalizerItem,
    FinalizerPatch,
}

impl<'a> Examination<'a> {
    /// Starts on an item taken from the queue: gates G0 and G1.
    pub fn begin(collector: &impl GraphView<'a>, node: NodeId) -> (Self, Progress) {
        let identity = collector.identity(node);
        let examination = Examination { node, identity, state: State::Item };
        // G1: an object on its way out is dealt with when it is gone.
        let on_its_way_out = collector.being_deleted(node) && !collector.deleting_dependents(node);
        let progress = match identity {
            // G0: nothing is known of it any more.
            None => Progress::Finished(Finish::Forget),
            _ if on_its_way_out || collector.known(node) == Known::Gone => Progress::Finished(Finish::Forget),
            Some(identity) => Progress::Ask(Ask::Item(identity)),
        };
        (examination, progress)
    }

    /// The namespace in which the collector takes the item to be, and looks for its owners. What no informer has shown
    /// yet is taken to be where its first dependent is, even if it is cluster-scoped (R3.2).
    pub fn namespace(&self) -> Symbol {
        self.identity.map_or(Symbol::EMPTY, |identity| identity.namespace)
    }

    /// Whether an informer has shown the item under other coordinates meanwhile (R3.4). This look knows nothing of the
    /// new node.
    fn is_replaced(&self, collector: &impl GraphView<'a>) -> bool {
        collector.known(self.node) == Known::Observed && collector.identity(self.node) != self.identity
    }

    /// Takes the answer to what was asked last.
    pub fn answer(&mut self, collector: &mut impl GraphView<'a>, answer: Answer<'a>) -> Progress {
        let state = std::mem::replace(&mut self.state, State::Item);
        match (state, answer) {
            // R3.13: one error aborts the item.
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
                // R4.3: the delete still carries the version read before the patch.
                self.delete(item, Propagation::Foreground, Reason::OwnerWaits)
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
                // R4.2: only a change of the references makes the collector think again.
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
            // Any other failed write is retried as a whole.
            _ => Progress::Finished(Finish::RetrySoon),
        }
    }

    /// The item is there: G3 to G5.
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
        classes: Vec<(Reference, Class)>,
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
                None => self.delete(item, Propagation::Foreground, Reason::OwnerWaits),
            },
            Decision::Delete(propagation) => {
                let waiting = classes.iter().any(|(_, class)| *class == Class::Waiting);
                self.delete(item, propagation, if waiting { Reason::OwnerWaits } else { Reason::NoOwnerLeft })
            }
        }
    }

    /// The patch that unblocks the item's owners, if one of its dependents is already being deleted in the foreground
    /// (R5.11).
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

    fn delete(&mut self, item: Stored<'a>, propagation: Propagation, reason: Reason) -> Progress {
        // R4.1; the uid is checked by whoever answers, who finds the item by it.
        let options =
            DeleteOptions { propagation: Some(propagation), grace: None, uid: None, version: Some(item.version) };
        self.state = State::Delete { options, owners: item.owners, reason: reason.clone() };
        Progress::Ask(Ask::Delete(options, reason))
    }

    fn ask_item(&self) -> Progress {
        match self.identity {
            Some(identity) => Progress::Ask(Ask::Item(identity)),
            None => Progress::Finished(Finish::Forget),
        }
    }

    /// Nothing more to do. What was never observed is polled on (R3.3).
    fn succeeded(&self, collector: &impl GraphView<'a>) -> Progress {
        let polled = collector.known(self.node) == Known::Virtual;
        Progress::Finished(if polled { Finish::RetryAfterChange } else { Finish::Forget })
    }
}
