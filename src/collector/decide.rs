//! From verdicts to an action: the table of §4.2.

use crate::{
    graph::Verdict,
    model::{Reference, Symbol},
    server::Propagation,
};

use super::examine::Failure;

/// What a look-up made of one reference, as far as the decision is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Solid,
    Waiting,
    Dangling,
}

impl Class {
    /// What a verdict means for the decision, or why there can be none (R3.13).
    pub fn of(verdict: Verdict) -> Result<Class, Failure> {
        match verdict {
            Verdict::Solid(_) => Ok(Class::Solid),
            Verdict::Waiting(_) => Ok(Class::Waiting),
            Verdict::Dangling(_) => Ok(Class::Dangling),
            Verdict::InvalidScope => Err(Failure::InvalidScope),
            Verdict::Unmappable | Verdict::Doubted => Err(Failure::Unmappable),
            Verdict::Unknown => Err(Failure::Unknown),
        }
    }
}

/// What the collector does with an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: every owner is solid, or there is none.
    Keep,
    /// Drop every reference with one of these uids and keep the object (R8.5).
    Strip(Vec<Symbol>),
    /// DELETE Foreground, whatever finalizers it has, because a waiting owner has to see its dependents go first. If
    /// one of its own dependents is already being deleted in the foreground, it is unblocked before that (R5.10,
    /// R5.11).
    DeleteForWaitingOwner,
    /// DELETE with the policy that its own finalizers ask for.
    Delete(Propagation),
}

/// Decides on a live object from the classes of its references, in their order.
///
/// `has_dependents`: the graph shows at least one dependent, blocking or not. `finalizers` are those of the live
/// object.
pub fn decide(references: &[(Reference, Class)], has_dependents: bool, finalizers: &[Symbol]) -> Decision {
    let any = |class: Class| references.iter().any(|(_, found)| *found == class);
    if references.is_empty() {
        return Decision::Keep;
    }
    if any(Class::Solid) {
        // R4.8: what is dropped is dropped by uid. Dangling ones come first, as in the collector's patch.
        let uids_of = |class: Class| {
            references.iter().filter(move |(_, found)| *found == class).map(|(reference, _)| reference.uid)
        };
        let uids: Vec<Symbol> = uids_of(Class::Dangling).chain(uids_of(Class::Waiting)).collect();
        return if uids.is_empty() { Decision::Keep } else { Decision::Strip(uids) };
    }
    if any(Class::Waiting) && has_dependents {
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
