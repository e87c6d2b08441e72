//! What becomes of the claims of deleted StatefulSets. Their owner references decide; the policy says why
//! (`isClaimOwnerUpToDate` in Kubernetes' `stateful_set_utils.go`).

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Symbol, effects::EffectKind},
    plan::{
        outcome::{Outcome, Plan},
        reaction::ClaimsOfSet,
    },
    server::Propagation,
    simulate::{SimContext, State, recreators::Survival},
    wording::{count, some_of},
};

use super::{SideEffects, claims::RETAIN, effects::is_foreign};

/// At most so many claims are named that could not be read.
const NAMED: usize = 4;

impl SideEffects<'_, '_> {
    /// The claims of every StatefulSet that the plan deletes, or may delete. A StatefulSet without claims has no entry.
    pub(super) fn claims_of_sets(&mut self, plan: &Plan) -> Vec<ClaimsOfSet> {
        let claims: Vec<ClaimsOfSet> = self.sets_of(plan).into_iter().map(|set| self.claims_of(set)).collect();
        claims.into_iter().filter(|of| !of.is_empty() || of.deletes.is_none() && self.may_have_claims(of.set)).collect()
    }

    /// The StatefulSets that the plan deletes, or may delete.
    fn sets_of(&self, plan: &Plan) -> Vec<ObjectId> {
        let (Some(sets), Some(_)) = (self.context.built_in.stateful_sets, self.context.built_in.claims) else {
            return Vec::new();
        };
        let is_set = |outcome: &&Outcome| {
            outcome.removed_in_some_order() && self.context.snapshot.object(outcome.object).resource == sets
        };
        plan.outcomes.iter().filter(is_set).map(|outcome| outcome.object).collect()
    }

    /// Says by their names which claims go with StatefulSets, though they could not be read.
    pub(super) fn unread_claims(&mut self, plan: &Plan) {
        for set in self.sets_of(plan) {
            let frees = plan.request.propagation == Propagation::Orphan && plan.request.targets.contains(&set);
            let claims = self.context.snapshot.unread_claims(set);
            if !frees && !claims.is_empty() {
                let goes = count(claims.len(), "claim that was not read goes", "claims that were not read go");
                let named = some_of(&claims, NAMED);
                let message = format!("{goes} with it (whenDeleted Delete), and may lose data: {named}");
                self.add_unread(set, EffectKind::DataLost, message, None);
            }
        }
    }

    /// Whether the namespace of a StatefulSet may contain a claim with an ordinal.
    fn may_have_claims(&self, set: ObjectId) -> bool {
        let SimContext { snapshot, built_in, fact_index, .. } = self.context;
        let namespace = snapshot.object(set).namespace;
        let is_read = built_in.claims.is_some_and(|claims| snapshot.covers(claims, Some(namespace)));
        !is_read || fact_index.has_numbered_claims(snapshot, namespace)
    }

    /// The claims of StatefulSets and pods below an object that only its controller may delete, and whose volumes don't
    /// keep their data.
    pub(super) fn claims_left_below(&mut self, object: ObjectId) -> Vec<ObjectId> {
        let context = self.context;
        let snapshot = context.snapshot;
        let mut seen: FxHashSet<ObjectId> = FxHashSet::from_iter([object]);
        let (mut open, mut claims) = (vec![object], BTreeSet::new());
        while let Some(next) = open.pop() {
            let resource = Some(snapshot.object(next).resource);
            if resource == context.built_in.stateful_sets {
                claims.extend(self.claims_of(next).kept);
            } else if resource == context.built_in.pods {
                self.context.fact(next, snapshot.facts.pod(next));
                claims.extend(context.claims_of_pod(next));
            }
            // What else has a finalizer has effects of its own.
            let is_free =
                |id: &ObjectId| !snapshot.object(*id).finalizers.iter().any(|finalizer| is_foreign(*finalizer));
            let below = context.graph.dependents(next.into()).iter().copied().filter(|below| seen.insert(*below));
            open.extend(below.filter(is_free));
        }
        let may_be_lost = |claim: &ObjectId| {
            let volume = context.fact_index.volume_of(snapshot, *claim);
            let facts = volume.and_then(|volume| snapshot.facts.volume(volume));
            let kept = facts.is_some_and(|facts| facts.reclaim_policy.as_deref() == Some(RETAIN));
            !seen.contains(claim) && self.survival(*claim) == Survival::Survives && !kept
        };
        claims.into_iter().filter(may_be_lost).collect()
    }

    fn claims_of(&mut self, set: ObjectId) -> ClaimsOfSet {
        let context = self.context;
        let snapshot = context.snapshot;
        let found = snapshot.object(set);
        let facts = snapshot.facts.workload(set).and_then(|facts| facts.claims.as_ref());
        let facts = self.context.fact(set, facts);
        let name = snapshot.text(found.name);
        let names = facts.into_iter().flat_map(|facts| &facts.names).map(|template| format!("{template}-{name}"));
        let mut claims: Vec<ObjectId> = names
            .flat_map(|name| context.fact_index.numbered_claims(snapshot, found.namespace, &name))
            .copied()
            .collect();
        let dependents = context.graph.dependents(set.into()).iter().copied();
        let owned = dependents.filter(|id| Some(snapshot.object(*id).resource) == context.built_in.claims);
        let mut seen: FxHashSet<ObjectId> = claims.iter().copied().collect();
        claims.extend(owned.filter(|claim| seen.insert(*claim)));
        let (kept, going, deleted, unsure) = Default::default();
        let mut of = ClaimsOfSet { set, deletes: facts.map(|facts| facts.deleted), kept, going, deleted, unsure };
        for claim in claims {
            match self.survival(claim) {
                Survival::Survives if self.goes_anyway(claim, set) => of.going.push(claim),
                Survival::Survives => of.kept.push(claim),
                // Terminating before this delete, which changes nothing about it.
                Survival::Removed if !self.survivals.contains_key(&claim) => of.going.push(claim),
                Survival::Removed => of.deleted.push(claim),
                Survival::MayBeRemoved => of.unsure.push(claim),
            }
        }
        of
    }

    /// Whether a claim that this delete leaves alone goes without it, too.
    fn goes_anyway(&self, claim: ObjectId, set: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let (claim_object, set) = (snapshot.object(claim), snapshot.object(set).uid);
        // Nothing else needs the second end, which is a simulation of everything. While its pods run, a claim that is
        // deleted stays Terminating.
        let may_go = claim_object.terminating() || claim_object.owners.iter().any(|owner| owner.uid != set);
        may_go && self.context.later().leaves(claim)
    }

    /// Claims that are deleted without this delete, too, and that only pods keep which it removes: it makes that final.
    pub(super) fn ended_claims(&mut self, plan: &Plan) -> Vec<ObjectId> {
        let context = self.context;
        let snapshot = context.snapshot;
        let Some(claims) = context.built_in.claims else { return Vec::new() };
        let removed =
            plan.outcomes.iter().filter(|outcome| outcome.removed_in_some_order()).map(|outcome| outcome.object);
        let pods = removed.filter(|id| context.rules(*id).graceful);
        let namespaces: FxHashSet<Symbol> = pods.map(|pod| snapshot.object(pod).namespace).collect();
        let is_there = |claim: &&ObjectId| namespaces.contains(&snapshot.object(**claim).namespace);
        let candidates = context.of_resource(claims).iter().filter(is_there);
        let candidates: Vec<ObjectId> = candidates.copied().filter(|claim| self.may_be_ended(*claim)).collect();
        // Who uses them is in the facts of pods.
        for claim in &candidates {
            let there = context.in_namespace(snapshot.object(*claim).namespace).iter().copied();
            let unread = there.filter(|id| context.rules(*id).graceful && snapshot.facts.pod(*id).is_none());
            self.context.lacks(|needs| needs.facts.extend(unread));
        }
        candidates.into_iter().filter(|claim| self.is_ended(*claim)).collect()
    }

    /// Whether a claim that this delete leaves alone may be one that the collector deletes.
    fn may_be_ended(&self, claim: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let object = snapshot.object(claim);
        let is_gone = |uid: Symbol| snapshot.by_uid(uid).is_none_or(|owner| snapshot.object(owner).terminating());
        self.survival(claim) == Survival::Survives && object.owners.iter().any(|owner| is_gone(owner.uid))
    }

    /// Whether only pods that this delete removes keep such a claim, which goes.
    fn is_ended(&self, claim: ObjectId) -> bool {
        let users = self.context.users_of_claim(claim);
        !users.is_empty()
            && users.iter().all(|pod| self.survival(*pod) != Survival::Survives)
            && self.context.later().leaves(claim)
            && !self.is_kept_by_owner(claim)
    }

    /// Whether an owner keeps a claim that stays Terminating until others act who are not known to: then the claim is
    /// not deleted by now, and this delete doesn't change that.
    fn is_kept_by_owner(&self, claim: ObjectId) -> bool {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let finished = &context.later().others.finished;
        let is_open = |id: &ObjectId| finished.iter().any(|it| it.object == *id && it.state != State::Waiting);
        let owners = snapshot.object(claim).owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
        let mut open: Vec<ObjectId> = owners.filter(|owner| !self.survivals.contains_key(owner)).collect();
        let mut seen: FxHashSet<ObjectId> = open.iter().copied().collect();
        while let Some(next) = open.pop() {
            if is_open(&next) {
                return true;
            }
            open.extend(context.present().waits_for(next).iter().copied().filter(|below| seen.insert(*below)));
        }
        false
    }
}
