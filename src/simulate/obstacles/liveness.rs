//! Whether a component seems to be running, by its Lease.

use crate::{
    model::{Coordinate, ObjectId, Presence, facts::LeaseFacts},
    simulate::{
        Liveness,
        world::{Needs, SimContext},
    },
    wording::age,
};

/// A Lease whose holder missed its renewal by this many seconds is abandoned; less may be clock skew or a retried
/// renewal.
const SLACK: i64 = 30;
/// The duration of a Lease that doesn't specify one, in seconds.
const USUAL_LEASE: i64 = 40;

/// Whether the holder of a Lease is alive at this time, in Unix seconds.
pub(crate) fn lease_says(facts: &LeaseFacts, now: Option<i64>, what: &str) -> Liveness {
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

/// The controller manager, by the Lease of its leader.
pub(crate) fn of_controller_manager(
    context: &SimContext<'_>,
    now: Option<i64>,
    needs: &mut Needs,
) -> (Option<ObjectId>, Liveness) {
    let Presence::Present(lease) = lease_named(context, "kube-system", "kube-controller-manager", needs) else {
        return (None, Liveness::Unknown("kube-controller-manager has no readable Lease".to_owned()));
    };
    let what = "kube-controller-manager's lease";
    let Some(facts) = context.snapshot.facts.lease(lease) else {
        needs.facts.insert(lease);
        return (Some(lease), Liveness::Unread(format!("{what} could not be read")));
    };
    (Some(lease), lease_says(facts, now, what))
}

/// The Lease with this name.
pub(crate) fn lease_named(context: &SimContext<'_>, namespace: &str, name: &str, needs: &mut Needs) -> Presence {
    let snapshot = context.snapshot;
    let Some(resource) = context.built_in.leases else { return Presence::Unknown };
    let find = |text: &str| snapshot.strings.find(text);
    match (find(namespace), find(name)) {
        (Some(namespace), Some(name)) => {
            let coordinate = Coordinate { resource, namespace, name };
            let presence = snapshot.look_up(coordinate);
            if presence == Presence::Absent && !snapshot.was_looked_up(coordinate) {
                needs.absences.insert(coordinate);
            }
            presence
        }
        // No object that was read has that name.
        _ if snapshot.covers(resource, None) => Presence::Absent,
        _ => Presence::Unknown,
    }
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
