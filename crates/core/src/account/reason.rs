//! Why an object goes: what the collector does with it, given what is known of its owners.

use crate::collector;

use super::happening::{Owner, OwnerState, Policy, Reason};

impl Owner {
    /// The state by which the collector decides; none if it is unknown.
    fn class(&self) -> Option<collector::OwnerState> {
        match &self.state {
            OwnerState::SeenGoing { .. } | OwnerState::Absent { .. } => Some(collector::OwnerState::Dangling),
            OwnerState::Waiting => Some(collector::OwnerState::Waiting),
            OwnerState::Exists { .. } | OwnerState::Watched => Some(collector::OwnerState::Solid),
            OwnerState::Unknown(_) => None,
        }
    }

    /// Whether it verifiably does not exist.
    pub fn is_absent(&self) -> bool {
        self.class() == Some(collector::OwnerState::Dangling)
    }

    /// Whether it was deleted with this policy, or is being deleted so.
    fn has_policy(&self, policy: Policy) -> bool {
        matches!(self.state, OwnerState::SeenGoing { policy: Some(known), .. } if known == policy)
    }
}

/// Why an object with these owners goes (§4.2).
pub(super) fn reason(owners: Vec<Owner>) -> Reason {
    if owners.is_empty() {
        return Reason::NoOwner;
    }
    let classes: Vec<Option<collector::OwnerState>> = owners.iter().map(Owner::class).collect();
    // One solid owner is enough, whatever the others are.
    let known: Vec<collector::OwnerState> = classes.iter().copied().flatten().collect();
    if known.contains(&collector::OwnerState::Solid) {
        return Reason::OwnerExists { owners };
    }
    if classes.contains(&None) {
        // Without any absent owner, nothing suggests the collector.
        let suspected = known.contains(&collector::OwnerState::Dangling);
        return if suspected { Reason::OwnersGone { owners } } else { Reason::Unknown { owners } };
    }
    let waits = |owner: &Owner| owner.state == OwnerState::Waiting || owner.has_policy(Policy::Foreground);
    if owners.iter().any(waits) { Reason::OwnerWaits { owners } } else { Reason::OwnersGone { owners } }
}
