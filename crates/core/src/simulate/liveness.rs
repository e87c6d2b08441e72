//! What a Lease shows of whether a component is running.

use rustc_hash::FxHashMap;

use crate::{
    model::{
        Fact, Object, ObjectId, Presence, ResourceId,
        facts::{JobFacts, LeaseFacts, WorkloadFacts},
    },
    wording::age,
};

use super::{
    context::SimContext,
    doubt::{ACTS_WITHIN, BACK_WITHIN, COLLECTORS_RIGHTS, ManagerDoubt},
    state::Liveness,
    turns::overdue_turn,
};

/// A Lease whose holder missed its renewal by this many seconds is abandoned; less may be clock skew or a retried
/// renewal.
const SLACK: i64 = 30;
/// The duration of a Lease that doesn't specify one, in seconds.
const USUAL_LEASE: i64 = 40;
/// A leader that runs has renewed its Lease within so many seconds; clocks are compared to the second.
const RENEWED_WITHIN: i64 = 5;

/// When a Lease expires, in Unix seconds.
fn end_of(facts: &LeaseFacts) -> Option<i64> {
    Some(facts.renewed?.saturating_add(facts.seconds.unwrap_or(USUAL_LEASE)))
}

/// Whether the holder of a Lease is alive at this time, in Unix seconds, or was when the Lease was read.
fn lease_says(facts: &LeaseFacts, now: Option<i64>, what: &str) -> Liveness {
    let (Some(renewed), Some(ended), Some(now)) = (facts.renewed, end_of(facts), facts.seen.or(now)) else {
        return Liveness::Unknown(format!("{what} has no renew time"));
    };
    if now > ended.saturating_add(SLACK) {
        Liveness::Away(format!("{what} expired {} ago", age(now - ended)))
    } else {
        Liveness::Alive(format!("{what} was renewed {} ago", age((now - renewed).max(0))))
    }
}

/// Whether the holder of a Lease is alive at this time.
pub(crate) fn of_lease(context: &SimContext<'_>, lease: ObjectId, now: Option<i64>, what: &str) -> Liveness {
    let Some(facts) = context.evidence(lease, context.snapshot.facts.lease(lease)) else {
        return Liveness::Unread(format!("{what} could not be read"));
    };
    lease_says(facts, now, what)
}

/// Whether the leader of the controller managers has not renewed its Lease just now, as it does every two seconds
/// (`--leader-elect-retry-period`), but did minutes ago: another may take over, and then read everything first.
pub(crate) fn may_be_taken_over(context: &SimContext<'_>, now: Option<i64>) -> bool {
    let facts = context.lease_of_manager().and_then(|lease| context.snapshot.facts.lease(lease));
    let seen = facts.and_then(|facts| facts.seen.or(now).zip(facts.renewed));
    seen.is_some_and(|(seen, renewed)| (RENEWED_WITHIN + 1..=BACK_WITHIN).contains(&(seen - renewed)))
}

/// The controller manager, by the Lease of its leader. Without leader election, nobody renews one that is left.
pub(crate) fn of_controller_manager(context: &SimContext<'_>, now: Option<i64>) -> (Option<ObjectId>, Liveness) {
    // A controller manager without a Lease may run: that none was listed isn't worth another look.
    let Some(lease) = context.lease_of_manager() else {
        return (None, Liveness::Unknown("kube-controller-manager has no readable Lease".to_owned()));
    };
    let what = "kube-controller-manager's lease";
    let Some(facts) = context.fact(lease, context.snapshot.facts.lease(lease)) else {
        return (Some(lease), Liveness::Unread(format!("{what} could not be read")));
    };
    let liveness = match (lease_says(facts, now, what), end_of(facts)) {
        (Liveness::Away(why), Some(ended)) if context.manager_acted() > Some(ended) => {
            Liveness::Unknown(format!("{why}, but it has made or changed objects since"))
        }
        (liveness, _) => liveness,
    };
    (Some(lease), liveness)
}

impl SimContext<'_> {
    fn lease_of_manager(&self) -> Option<ObjectId> {
        self.snapshot.look_up_named(self.built_in.leases?, "kube-system", "kube-controller-manager").object()
    }

    /// When the controller manager last made, adopted or changed an object, as far as that can be seen: it alone makes
    /// what belongs to Kubernetes' own workloads.
    fn manager_acted(&self) -> Option<i64> {
        *self.manager_acted.get_or_init(|| {
            let snapshot = self.snapshot;
            let is_made = |(id, _): &(ObjectId, &Object)| {
                let above = snapshot.controller_of(*id).map(|above| snapshot.resource(above));
                above.is_some_and(|above| matches!(&*above.group, "apps" | "batch"))
            };
            let made = snapshot.objects().filter(is_made).filter_map(|(_, object)| object.created.get());
            made.max().max(snapshot.told.manager_acted)
        })
    }

    /// By kind, an object on which its controller should have acted minutes ago, and hasn't: that controller of the
    /// manager may be switched off.
    pub(super) fn unattended(&self) -> &FxHashMap<ResourceId, ObjectId> {
        self.once(&self.unattended, || {
            let (snapshot, built_in) = (self.snapshot, &self.built_in);
            let mut found = FxHashMap::default();
            // These have dependents once their controller has seen them; others may have ended.
            let always = [built_in.deployments, built_in.stateful_sets, built_in.daemon_sets];
            for kind in always.into_iter().chain([built_in.replica_sets, built_in.jobs]).flatten() {
                let is_late = |id: &&ObjectId| {
                    let object = snapshot.object(**id);
                    let age = self.time.zip(object.created.get()).map(|(now, created)| now - created);
                    !object.terminating()
                        && age.is_some_and(|age| age >= ACTS_WITHIN)
                        && self.graph.dependents((**id).into()).is_empty()
                };
                for id in self.of_resource(kind).iter().filter(is_late) {
                    match snapshot.facts.get(*id) {
                        Some(Fact::Workload(WorkloadFacts { unattended: true, .. }))
                        | Some(Fact::Job(JobFacts { unattended: true, .. })) => _ = found.entry(kind).or_insert(*id),
                        None if always.contains(&Some(kind)) => _ = self.lacks(|needs| needs.evidence.insert(*id)),
                        _ => {}
                    }
                }
            }
            found
        })
    }

    /// What raises a doubt whether the controller manager works, which seems to run with this Lease.
    pub(super) fn manager_doubt(&self, lease: Option<ObjectId>, now: Option<i64>) -> Option<ManagerDoubt> {
        let facts = lease.and_then(|lease| self.snapshot.facts.lease(lease));
        let ended = facts.and_then(end_of);
        let late = facts.and_then(|facts| facts.seen).or(now).zip(ended).map(|(seen, ended)| seen - ended);
        match late.filter(|late| *late > 0 && self.manager_acted() <= ended) {
            Some(late) => Some(ManagerDoubt::Expired(late)),
            None if self.collector_lacks_rights() => Some(ManagerDoubt::Unbound),
            None => overdue_turn(self).map(ManagerDoubt::Overdue),
        }
    }
}

impl SimContext<'_> {
    /// Whether the collector has an account of its own (`--use-service-account-credentials`), and the
    /// ClusterRoleBinding is missing that gives it its rights, though those of others are there.
    fn collector_lacks_rights(&self) -> bool {
        let there = |kind: Option<ResourceId>, namespace: &str, name: &str| {
            kind.is_some_and(|kind| self.snapshot.look_up_named(kind, namespace, name).object().is_some())
        };
        let bindings = self.built_in.cluster_role_bindings;
        bindings.is_some_and(|bindings| self.snapshot.covers(bindings, None))
            && there(self.built_in.accounts, "kube-system", "generic-garbage-collector")
            && there(bindings, "", "system:controller:namespace-controller")
            && !there(bindings, "", COLLECTORS_RIGHTS)
    }
}

/// The object with this namespace and name. What only a list says to be absent is to be looked up.
pub(crate) fn look_up_named(
    context: &SimContext<'_>,
    resource: Option<ResourceId>,
    (namespace, name): (&str, &str),
) -> Presence {
    let snapshot = context.snapshot;
    let Some(resource) = resource else { return Presence::Unknown };
    let coordinate = match snapshot.locate(resource, namespace, name) {
        Ok(coordinate) => coordinate,
        Err(presence) => return presence,
    };
    let presence = snapshot.look_up(coordinate);
    if presence == Presence::Absent && !snapshot.was_looked_up(coordinate) {
        context.lacks(|needs| needs.missing.insert(coordinate));
    }
    presence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_is_good_for_a_while() {
        let facts = |renewed| LeaseFacts { holder: None, seconds: Some(15), renewed, seen: None };
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
