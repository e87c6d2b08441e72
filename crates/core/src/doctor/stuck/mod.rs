//! Deletions that don't finish (§5.4), by root cause, with everything that waits for it.

mod claims;
pub(super) mod concern;
mod expired;
mod finalizers;
mod immune;
mod namespaces;
mod pods;
pub(super) mod progress;
mod recreated;
mod unwatched;

use crate::{model::ObjectId, simulate::State};

use self::concern::Concern;
use super::case::{Case, FindingsBuilder};

/// Finds what blocks deletions, and what waits for that.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let causes: Vec<(ObjectId, State)> =
        case.projection.left().into_iter().filter_map(|id| Some((id, case.projection.own_state(id)?))).collect();
    let roots: Vec<(ObjectId, State)> = causes.iter().copied().filter(|(_, state)| *state != State::Waiting).collect();
    let concern = Concern::of(case);
    immune::gather(case, &concern, &roots, findings);
    pods::gather(case, &concern, findings);
    claims::gather(case, &concern, findings);
    claims::gather_volumes(case, &concern, findings);
    expired::gather(case, &concern, findings);
    unwatched::gather(case, &concern, &roots, findings);
    finalizers::gather(case, &concern, &causes, findings);
    namespaces::gather(case, &roots, findings);
    recreated::gather(case, findings);
}
