//! What a Lease shows of whether a component is running.

use crate::{
    model::{ObjectId, Presence, ResourceId, facts::LeaseFacts},
    wording::age,
};

use super::{context::SimContext, needs::Needs, state::Liveness};

/// A Lease whose holder missed its renewal by this many seconds is abandoned; less may be clock skew or a retried
/// renewal.
const SLACK: i64 = 30;
/// The duration of a Lease that doesn't specify one, in seconds.
const USUAL_LEASE: i64 = 40;

/// Whether the holder of a Lease is alive at this time, in Unix seconds.
fn lease_says(facts: &LeaseFacts, now: Option<i64>, what: &str) -> Liveness {
    let (Some(renewed), Some(now)) = (facts.renewed, now) else {
        return Liveness::Unknown(format!("{what} has no renew time"));
    };
    let ended = renewed.saturating_add(facts.seconds.unwrap_or(USUAL_LEASE));
    if now > ended.saturating_add(SLACK) {
        Liveness::Away(format!("{what} expired {} ago", age(now - ended)))
    } else {
        Liveness::Alive(format!("{what} was renewed {} ago", age((now - renewed).max(0))))
    }
}

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

/// The controller manager, by the Lease of its leader.
pub(crate) fn of_controller_manager(
    context: &SimContext<'_>,
    now: Option<i64>,
    needs: &mut Needs,
) -> (Option<ObjectId>, Liveness) {
    let snapshot = context.snapshot;
    let named = |leases| snapshot.look_up_named(leases, "kube-system", "kube-controller-manager").object();
    // A controller manager without a Lease may run: that none was listed isn't worth another look.
    let Some(lease) = context.built_in.leases.and_then(named) else {
        return (None, Liveness::Unknown("kube-controller-manager has no readable Lease".to_owned()));
    };
    let what = "kube-controller-manager's lease";
    let Some(facts) = snapshot.facts.lease(lease) else {
        needs.facts.insert(lease);
        return (Some(lease), Liveness::Unread(format!("{what} could not be read")));
    };
    (Some(lease), lease_says(facts, now, what))
}

/// The object with this namespace and name. What only a list says to be absent is to be looked up.
pub(crate) fn look_up_named(
    context: &SimContext<'_>,
    resource: Option<ResourceId>,
    (namespace, name): (&str, &str),
    needs: &mut Needs,
) -> Presence {
    let snapshot = context.snapshot;
    let Some(resource) = resource else { return Presence::Unknown };
    let coordinate = match snapshot.locate(resource, namespace, name) {
        Ok(coordinate) => coordinate,
        Err(presence) => return presence,
    };
    let presence = snapshot.look_up(coordinate);
    if presence == Presence::Absent && !snapshot.was_looked_up(coordinate) {
        needs.missing.insert(coordinate);
    }
    presence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_good_for_a_while() {
        let facts = |renewed| LeaseFacts { holder: None, seconds: Some(15), renewed };
        let says = |renewed, now| lease_says(&facts(renewed), now, "its lease");
        assert_eq!(says(Some(100), Some(145)), Liveness::Alive("its lease was renewed 45s ago".to_owned()));
        assert_eq!(says(Some(100), Some(146)), Liveness::Away("its lease expired 31s ago".to_owned()));
        assert_eq!(
            says(Some(100), Some(90)),
            Liveness::Alive("its lease was renewed 0s ago".to_owned()),
            "clocks differ"
        );
        assert!(matches!(says(None, Some(1)), Liveness::Unknown(_)));
        assert!(matches!(says(Some(1), None), Liveness::Unknown(_)));
    }
}
