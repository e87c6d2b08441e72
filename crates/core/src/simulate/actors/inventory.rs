//! What controllers delete with their object, because that lists it or it is labelled so: Argo CD, Flux, Crossplane,
//! Percona's operators (R9.38).

use crate::{
    model::{
        ANY_RESOURCE, Coordinate, Gap, NOT_IN_THE_DUMP, ObjectId, Presence, Snapshot, Symbol,
        effects::{Inventory, InventoryObject, Policy, PolicyEffect, PolicyFacts, RELEASE, known_finalizer},
    },
    server::DeleteOptions,
    simulate::{cause::Cause, context::SimContext, world::World},
};

use super::Assumption;

/// Whether a label or an annotation of an object keeps it from a controller that heeds this policy.
pub(crate) fn is_spared(snapshot: &Snapshot, id: ObjectId, policy: Policy) -> bool {
    let object = snapshot.object(id);
    let mut spared = object.spared;
    for (key, value) in object.labels.iter() {
        spared.heed_label(snapshot.text(*key), snapshot.text(*value));
    }
    spared.by(policy)
}

/// The object that an entry of an inventory names, if it is there.
pub(crate) fn in_inventory(snapshot: &Snapshot, named: &InventoryObject) -> Option<ObjectId> {
    let resource = snapshot.resources.by_group_kind(&named.group, &named.kind)?;
    let namespace = if snapshot.resources.get(resource).namespaced { &*named.namespace } else { "" };
    snapshot.look_up_named(resource, namespace, &named.name).object()
}

impl SimContext<'_> {
    /// What a policy of an object does. Flux deletes nothing if the ServiceAccount is gone as which it should act.
    pub(crate) fn policy_effect(&self, object: ObjectId, policy: Policy, facts: &PolicyFacts) -> PolicyEffect {
        let says = policy.says(self.bucket_of(facts).unwrap_or(facts));
        let is_asked = !policy.needs_account() && matches!(says, PolicyEffect::Act(_));
        let Some(name) = facts.account().filter(|_| is_asked) else { return says };
        match self.account_of(object, name) {
            Some(Presence::Absent) => PolicyEffect::Keep("the ServiceAccount as which its controller acts is gone"),
            Some(Presence::Unknown) => {
                let namespace = self.snapshot.object(object).namespace;
                let at = self.built_in.accounts.zip(self.snapshot.strings.find(name));
                let at = at.map(|(resource, name)| Coordinate { resource, namespace, name });
                self.lacks(|needs| needs.look_ups.extend(at));
                PolicyEffect::Act("unless the ServiceAccount as which its controller acts is gone")
            }
            _ => says,
        }
    }

    /// What the ObjectBucket says that a claim with these facts names, as far as was read.
    fn bucket_of(&self, claim: &PolicyFacts) -> Option<&PolicyFacts> {
        let snapshot = self.snapshot;
        let buckets = snapshot.resources.by_group_kind("objectbucket.io", "ObjectBucket")?;
        let bucket = snapshot.look_up_named(buckets, "", claim.bucket()?).object()?;
        self.fact(bucket, snapshot.facts.policy(bucket))
    }

    /// Whether a ServiceAccount in the namespace of an object exists.
    pub(crate) fn account_of(&self, object: ObjectId, name: &str) -> Option<Presence> {
        let namespace = self.snapshot.namespace(object);
        Some(self.snapshot.look_up_named(self.built_in.accounts?, namespace, name))
    }
}

impl World<'_, '_> {
    /// Lets the controllers of these finalizers delete what the object lists. Takes away those that stay until that is
    /// gone, and returns whether there are any. Adds what they may delete, too, but could not be read.
    pub(super) fn delete_inventory(
        &mut self,
        object: ObjectId,
        finalizers: &mut Vec<Symbol>,
        unread: &mut Vec<Gap>,
    ) -> bool {
        let snapshot = self.context.snapshot;
        let resource = snapshot.resource(object);
        let before = finalizers.len();
        finalizers.retain(|finalizer| {
            let known = known_finalizer(snapshot.text(*finalizer), &resource.group, &resource.kind);
            let policy = known.and_then(|known| known.policy).filter(|policy| policy.deletes_objects());
            policy.is_none_or(|policy| !self.delete_listed(object, policy, unread))
        });
        finalizers.len() < before
    }

    /// The same for one controller, which heeds this policy. Returns whether it keeps its finalizer.
    fn delete_listed(&mut self, object: ObjectId, policy: Policy, unread: &mut Vec<Gap>) -> bool {
        let snapshot = self.context.snapshot;
        let Some(facts) = self.fact(object, snapshot.facts.policy(object)) else {
            let reason = format!("what goes with {} was not read", snapshot.short_name(object));
            unread.push(Gap { resource: ANY_RESOURCE.to_owned(), namespace: None, reason: reason.into() });
            return false;
        };
        let Some(inventory) = facts.inventory.as_deref().filter(|inventory| !inventory.elsewhere) else { return false };
        if matches!(self.context.policy_effect(object, policy, facts), PolicyEffect::Keep(_)) {
            return false;
        }
        if inventory.unlisted {
            let reason = format!("what goes with {} is not known: it doesn't list that", snapshot.short_name(object));
            unread.push(Gap { resource: ANY_RESOURCE.to_owned(), namespace: None, reason: reason.into() });
        }
        let listed = self.all_listed(object, policy, inventory, unread);
        let account = facts.account().and_then(|name| self.context.account_of(object, name)?.object());
        // Its controller may be faster than what deletes the account, or not.
        if account.is_some_and(|account| !self.exists(account)) {
            self.doubtful.extend(&listed);
        }
        // Since Rancher 2.12, nobody removes its finalizer, and the Node stays.
        if policy == Policy::RancherNode || policy == Policy::HelmRelease && self.loses_release(object, facts) {
            self.doubtful.extend(&listed);
        }
        for id in &listed {
            if self.stored(*id).is_some_and(|stored| !stored.terminating) {
                let options = DeleteOptions { propagation: Some(inventory.propagation), ..DeleteOptions::default() };
                self.delete(*id, &options, Cause::Inventory(object));
            }
        }
        inventory.waits && listed.into_iter().any(|id| self.exists(id))
    }

    /// Whether the Secret in which Helm keeps a release goes with its Namespace: without it, Helm has nothing to
    /// uninstall (fluxcd/helm-controller internal/controller/helmrelease_controller.go:reconcileUninstall).
    fn loses_release(&self, object: ObjectId, facts: &PolicyFacts) -> bool {
        let snapshot = self.context.snapshot;
        let kept_in = snapshot.strings.find(facts.released_in(snapshot.namespace(object)));
        let namespace = kept_in.and_then(|name| self.context.namespace_named(name));
        namespace.is_some_and(|id| self.stored(id).is_none_or(|stored| stored.terminating))
    }

    /// What of an inventory is there, and goes with its object.
    fn all_listed(
        &mut self,
        object: ObjectId,
        policy: Policy,
        inventory: &Inventory,
        unread: &mut Vec<Gap>,
    ) -> Vec<ObjectId> {
        let (snapshot, mut listed) = (self.context.snapshot, Vec::new());
        for named in &inventory.objects {
            if named.name.is_empty() {
                let found = self.labelled(object, inventory, named, unread).into_iter();
                listed.extend(found.filter(|id| inventory.is_labelled(|key| snapshot.label(*id, key))));
            } else {
                listed.extend(self.listed(object, named, unread));
            }
        }
        listed.retain(|id| self.exists(*id) && !is_spared(snapshot, *id, policy));
        // Flux labels again what it finds without its labels, unless it is deleted before: then it leaves that. Helm
        // deletes what its release names, however that is labelled.
        if policy == Policy::Kustomization {
            let unlabelled = listed.iter().filter(|id| !inventory.is_labelled(|key| snapshot.label(**id, key)));
            self.doubtful.extend(unlabelled);
        }
        if policy == Policy::Zalando && self.keeps_claims() {
            let claims = self.context.built_in.claims;
            listed.retain(|id| Some(snapshot.object(*id).resource) != claims);
        }
        listed
    }

    /// Whether every OperatorConfiguration of Zalando's says that claims are kept, as far as there is one.
    fn keeps_claims(&mut self) -> bool {
        let snapshot = self.context.snapshot;
        let (group, kind) = PolicyFacts::ZALANDO;
        let configurations = self.context.of_resource(snapshot.resources.by_group_kind(group, kind));
        let keeps =
            |id: &&ObjectId| self.fact(**id, snapshot.facts.policy(**id)).is_some_and(PolicyFacts::keeps_claims);
        // Each of them is asked, so that all are read.
        !configurations.is_empty() && configurations.iter().filter(keeps).count() == configurations.len()
    }

    /// Schedules what an operator deletes once an object is gone, without having had a finalizer there. What can't be
    /// listed is a gap already.
    pub(super) fn schedule_inventory_of(&mut self, gone: ObjectId) {
        let snapshot = self.context.snapshot;
        let object = snapshot.object(gone);
        let resource = snapshot.resources.get(object.resource);
        let Some(policy) = Policy::without_finalizer(&resource.group, &resource.kind) else { return };
        let known = |of: &Symbol| known_finalizer(snapshot.text(*of), &resource.group, &resource.kind).is_some();
        // Its controller has deleted these before.
        if object.finalizers.iter().any(known) {
            return;
        }
        let (namespace, name) = (snapshot.text(object.namespace), snapshot.text(object.name));
        let facts = self.fact(gone, snapshot.facts.policy(gone));
        let read = facts.and_then(|facts| facts.inventory.as_deref().cloned());
        let Some(inventory) = read.or_else(|| Inventory::once_gone(policy, namespace, name)) else { return };
        let keeps_claims = policy == Policy::Zalando && self.keeps_claims();
        for id in self.all_listed(gone, policy, &inventory, &mut Vec::new()) {
            let deletes_what_it_made_for = snapshot.short_name(gone);
            self.assumptions.insert(Assumption::Operator { deletes_what_it_made_for, keeps_claims });
            self.rests_on_others.insert(id);
            self.actors.due.push_back((id, Cause::Inventory(gone)));
        }
    }

    /// All objects of a kind in its namespace or everywhere, or all that a HelmRelease may have installed.
    fn labelled(
        &mut self,
        lists: ObjectId,
        inventory: &Inventory,
        named: &InventoryObject,
        unread: &mut Vec<Gap>,
    ) -> Vec<ObjectId> {
        let snapshot = self.context.snapshot;
        let mut add = |gap: Gap| {
            if !unread.contains(&gap) {
                unread.push(gap);
            }
        };
        if named.kind.is_empty() {
            snapshot
                .gaps_and(snapshot.may_hide(&[lists]))
                .into_iter()
                .filter(|it| !it.serves_only_metrics())
                .for_each(add);
            let release = inventory.labels.iter().find_map(|labels| labels.get(RELEASE));
            return release.map(|name| self.context.released(name).to_vec()).unwrap_or_default();
        }
        let Some(resource) = snapshot.resources.by_group_kind(&named.group, &named.kind) else { return Vec::new() };
        let in_one = (!named.namespace.is_empty()).then(|| snapshot.object(lists).namespace);
        if !snapshot.covers(resource, in_one) {
            let namespace = in_one.unwrap_or(Symbol::EMPTY);
            add(snapshot.gap_of_listed(lists, Coordinate { resource, namespace, name: Symbol::EMPTY }));
        }
        let of_kind = self.context.of_resource(resource).iter().copied();
        of_kind.filter(|id| in_one.is_none_or(|namespace| snapshot.object(*id).namespace == namespace)).collect()
    }

    /// An object that another lists.
    fn listed(&mut self, lists: ObjectId, listed: &InventoryObject, unread: &mut Vec<Gap>) -> Option<ObjectId> {
        let snapshot = self.context.snapshot;
        let Some(resource) = snapshot.resources.by_group_kind(&listed.group, &listed.kind) else {
            // Of a cluster, all kinds that are served were read.
            let gap = snapshot.may_be_part().then(|| Gap {
                resource: format!("{}.{}", listed.kind, listed.group).trim_end_matches('.').to_owned(),
                namespace: Some(listed.namespace.clone()).filter(|namespace| !namespace.is_empty()),
                reason: NOT_IN_THE_DUMP.into(),
            });
            unread.extend(gap.filter(|gap| !unread.contains(gap)));
            return None;
        };
        let namespace = if snapshot.resources.get(resource).namespaced { listed.namespace.as_str() } else { "" };
        let at = snapshot.locate(resource, namespace, &listed.name).ok()?;
        match snapshot.look_up(at) {
            Presence::Present(id) => Some(id),
            Presence::Absent => None,
            Presence::Unknown => {
                self.context.lacks(|needs| needs.look_ups.insert(at));
                let gap = snapshot.gap_of_listed(lists, at);
                if !unread.contains(&gap) {
                    unread.push(gap);
                }
                None
            }
        }
    }
}
