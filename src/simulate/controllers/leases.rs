//! Leases: whether their holders are alive.

use crate::model::ObjectId;

use super::{
    super::{
        obstacles::lease_says,
        world::{Needs, SimContext},
    },
    Liveness,
};

/// Whether the holder of a Lease is alive at this time.
pub(crate) fn of_lease(
    context: &SimContext<'_>,
    needs: &mut Needs,
    lease: ObjectId,
    now: Option<i64>,
    what: &str,
) -> Liveness {
    let Some(facts) = context.snapshot.facts.lease(lease) else {
        needs.evidence.insert(lease);
        return Liveness::Unread(format!("{what} could not be read"));
    };
    lease_says(facts, now, what)
}
