//! Decides what the collector does with an object: the table of §4.2.

use crate::{
    graph::Verdict,
    model::{Reference, Symbol},
    server::Propagation,
};

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

/// Decides about a live object by the states of its owners, in the order of its references.
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
