//! Effects outside the cluster's object graph, object by object.

use std::{borrow::Cow, collections::BTreeSet};

use crate::{
    model::{
        ObjectId, Snapshot, Symbol,
        effects::{EffectKind, Inventory, InventoryObject, Policy, PolicyEffect, is_of_a_group, known_finalizer},
    },
    plan::outcome::{Outcome, OutsideEffect, Plan},
    simulate::{Cause, SimContext, Start, Uncertainty, in_inventory, is_spared, recreators::Survival},
    wording::{and_more, count, some_of},
};

use super::SideEffects;

/// At most so many objects are named that a dump lacks.
const NAMED: usize = 3;
/// At most this many finalizers are named: there may be a million.
const NAMED_FINALIZERS: usize = 8;
/// At most so many objects are read for what they list.
const MOST_READ: usize = 100;

/// `spec.type` of a Service that has a load balancer.
const LOAD_BALANCER: &str = "LoadBalancer";

impl SideEffects<'_, '_> {
    /// Collects all effects of what the plan removes or marks for deletion.
    pub(super) fn effects(&mut self, plan: &Plan) {
        let is_node = |outcome: &&Outcome| {
            Some(self.context.snapshot.object(outcome.object).resource) == self.context.built_in.nodes
        };
        let removed = plan.outcomes.iter().filter(|it| it.removed_in_some_order() && !it.goes_with_claim());
        // Nodes come last: what their volumes lose is known then.
        let (nodes, others): (Vec<&Outcome>, Vec<&Outcome>) = removed.partition(is_node);
        for outcome in others.into_iter().chain(nodes) {
            let first = self.effects.len();
            match outcome.because {
                Some(Cause::ClaimGone(None)) => self.reclaimed(outcome.object),
                // No pod uses the volume any more.
                Some(Cause::Detached(_)) => {}
                _ => self.add_effects_of(outcome.object),
            }
            self.mark_unsure(outcome, first);
        }
        self.unread_claims(plan);
        self.left_running(plan);
        // What was Terminating before and stays so goes, too: nothing takes back a delete.
        if plan.request.start == Start::AtRest {
            plan.stays.iter().for_each(|outcome| self.add_effects_of(outcome.object));
        }
        self.effects.sort_by_key(|effect| effect.severity());
    }

    /// Collects the effects of deleting one object.
    pub(super) fn add_effects_of(&mut self, object: ObjectId) {
        let built_in = self.context.built_in;
        let first = self.effects.len();
        self.finalizers(object);
        match Some(self.context.snapshot.object(object).resource) {
            resource if resource == built_in.claims => self.claim(object),
            resource if resource == built_in.volumes => self.volume(object),
            resource if resource == built_in.services => self.service(object, first),
            resource if resource == built_in.nodes => {
                self.node(object);
                self.data_on_node(object);
            }
            resource if resource == built_in.accounts => self.account(object),
            resource if resource == built_in.attachments => self.attachment(object),
            resource if resource == built_in.volume_snapshots => self.volume_snapshot(object),
            resource if resource == built_in.snapshot_contents => self.snapshot_content(object),
            _ => {}
        }
    }

    pub(super) fn add(&mut self, object: ObjectId, kind: EffectKind, message: impl Into<Cow<'static, str>>) {
        let message = message.into();
        self.effects.push(OutsideEffect { object, kind, at_worst: None, message, related: Vec::new() });
    }

    pub(super) fn add_about(
        &mut self,
        object: ObjectId,
        kind: EffectKind,
        message: impl Into<Cow<'static, str>>,
        related: ObjectId,
    ) {
        let message = message.into();
        self.effects.push(OutsideEffect { object, kind, at_worst: None, message, related: vec![related] });
    }

    /// An effect that could not be read, and what it is at worst.
    pub(super) fn add_unread(
        &mut self,
        object: ObjectId,
        at_worst: EffectKind,
        message: impl Into<Cow<'static, str>>,
        related: impl IntoIterator<Item = ObjectId>,
    ) {
        self.effects.push(OutsideEffect {
            object,
            kind: EffectKind::Unknown,
            at_worst: Some(at_worst),
            message: message.into(),
            related: related.into_iter().collect(),
        });
    }

    /// Marks effects as uncertain if the object is deleted in some event orders only.
    fn mark_unsure(&mut self, outcome: &Outcome, first: usize) {
        if outcome.removed_in_every_order() {
            return;
        }
        let doubt = match outcome.uncertain {
            Some(Uncertainty::ComesBack) => "unless the collector, which is late, acts first",
            _ => "only if events come in an order in which it is deleted",
        };
        for effect in &mut self.effects[first..] {
            effect.message = format!("{}; {doubt}", effect.message).into();
        }
    }

    /// Effects of the controllers that must remove their finalizers first. Several finalizers with the same effect
    /// count once.
    fn finalizers(&mut self, object: ObjectId) {
        let snapshot = self.context.snapshot;
        let found = snapshot.object(object);
        let resource = snapshot.resources.get(found.resource);
        let first = self.effects.len();
        let mut unknown: Vec<&str> = Vec::new();
        for finalizer in found.finalizers.iter().filter(|finalizer| is_foreign(**finalizer)) {
            let text = snapshot.text(*finalizer);
            let Some(known) = known_finalizer(text, &resource.group, &resource.kind) else {
                unknown.push(text);
                continue;
            };
            match (known.does, known.policy) {
                (None, _) => {}
                (Some(kind), _) if self.effects[first..].iter().any(|effect| effect.kind == kind) => {}
                _ if let Some(other) = self.shared_with(object, *finalizer) => {
                    let named = snapshot.located(other, Some(snapshot.namespace(object)));
                    let message = format!("its rules are removed from the load balancer, which {named} keeps");
                    self.add_about(object, EffectKind::CleanedUp, message, other);
                }
                (Some(kind), None) => self.add(object, kind, known.says),
                (Some(kind), Some(policy)) => self.add_by_policy(object, kind, known.says, policy),
            }
        }
        if !unknown.is_empty() {
            let (controllers, do_it) =
                if unknown.len() == 1 { ("the controller", "does") } else { ("the controllers", "do") };
            let more = and_more(unknown.len().saturating_sub(NAMED_FINALIZERS));
            let finalizers = unknown.iter().take(NAMED_FINALIZERS).copied().collect::<Vec<_>>().join(" and ") + &more;
            let (listed, mut with_data) = match resource.is_kubernetes() {
                true => Default::default(),
                false => (self.listed_or_marked(object), self.claims_left_below(object)),
            };
            let of_list = listed.iter().copied().filter(|id| !with_data.contains(id) && self.has_data(*id));
            with_data.extend(of_list.collect::<Vec<_>>());
            if with_data.is_empty() && listed.is_empty() {
                let message = format!("it is not known what {controllers} of {finalizers} {do_it}");
                return self.add(object, EffectKind::Unknown, message);
            }
            if with_data.is_empty() {
                let message = format!(
                    "it is not known what {controllers} of {finalizers} {do_it}: it may delete what it lists, or what \
                     names it"
                );
                return self.add_unread(object, EffectKind::ObjectsDeleted, message, listed);
            }
            let names: Vec<String> = with_data.iter().map(|id| snapshot.short_name(*id)).collect();
            let message = format!(
                "it is not known what {controllers} of {finalizers} {do_it}: it may delete {}, with all data",
                some_of(&names, NAMED)
            );
            let claims: Vec<ObjectId> = with_data.iter().flat_map(|id| self.claims_in(*id)).collect();
            let index = &self.context.fact_index;
            let volumes = claims.iter().filter_map(|claim| index.volume_of(snapshot, *claim));
            self.add_unread(object, EffectKind::DataLost, message, volumes);
        }
    }

    /// A claim itself, or those in a Namespace.
    fn claims_in(&self, object: ObjectId) -> Vec<ObjectId> {
        let SimContext { snapshot, built_in, .. } = self.context;
        let is_claim = |id: &ObjectId| Some(snapshot.object(*id).resource) == built_in.claims;
        let inside = match Some(snapshot.object(object).resource) == built_in.namespaces {
            true => self.context.in_namespace(snapshot.object(object).name),
            false => &[],
        };
        inside.iter().copied().chain([object]).filter(is_claim).collect()
    }

    /// Whether data is lost with a claim or Namespace that stays, as far as was read.
    fn has_data(&self, object: ObjectId) -> bool {
        let SimContext { snapshot, built_in, .. } = self.context;
        let found = snapshot.object(object);
        let is_unread = Some(found.resource) == built_in.namespaces
            && !built_in.claims.is_some_and(|claims| snapshot.covers(claims, Some(found.name)));
        is_unread || self.claims_in(object).into_iter().any(|claim| self.may_lose_data(claim))
    }

    /// What stays, and an object lists by kind and name, or has its uid or its name in a label: its controller may
    /// delete that.
    fn listed_or_marked(&mut self, object: ObjectId) -> Vec<ObjectId> {
        let snapshot = self.context.snapshot;
        let lists = match snapshot.facts.policy(object) {
            Some(facts) => &facts.lists[..],
            None => {
                // Of many, each is whole objects on the wire; that nobody knows what their controller does is said.
                if self.read < MOST_READ {
                    self.read += 1;
                    self.context.lacks(|needs| needs.evidence.insert(object));
                }
                &[]
            }
        };
        let own = snapshot.namespace(object);
        let listed = lists.iter().filter_map(|named| {
            let resource = snapshot.resources.by_group_and_name(&named.group, &named.kind)?;
            let namespace = if named.namespace.is_empty() { own } else { &named.namespace };
            let namespace = if snapshot.resources.get(resource).namespaced { namespace } else { "" };
            snapshot.look_up_named(resource, namespace, &named.name).object()
        });
        let marked = self.context.marked_with(snapshot.object(object).uid).iter().copied();
        let named = self.context.named_by_label(object);
        let all: BTreeSet<ObjectId> = listed.chain(marked).chain(named).filter(|id| *id != object).collect();
        all.into_iter().filter(|id| self.survival(*id) == Survival::Survives).collect()
    }

    /// Another that stays, and shares with an object what the controller of this finalizer deletes with the last.
    fn shared_with(&self, object: ObjectId, finalizer: Symbol) -> Option<ObjectId> {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let others = || context.of_resource(snapshot.object(object).resource).iter().copied();
        let shares = |other: &ObjectId| {
            let found = snapshot.object(*other);
            *other != object && found.finalizers.contains(&finalizer) && !found.terminating()
        };
        let is_group = is_of_a_group(snapshot.text(finalizer));
        is_group.then(|| others().filter(shares).find(|other| self.survival(*other) != Survival::Removed))?
    }

    /// An effect, unless the object's own policy prevents it.
    fn add_by_policy(&mut self, object: ObjectId, kind: EffectKind, message: &'static str, policy: Policy) {
        let facts = self.context.fact(object, self.context.snapshot.facts.policy(object));
        let says = facts.map(|facts| self.context.policy_effect(object, policy, facts));
        let of_namespace = match says {
            // It says nothing of its own.
            Some(PolicyEffect::Act(unless)) if policy == Policy::Ack && !unless.is_empty() => self.ack_in(object),
            _ => None,
        };
        match of_namespace.or(says) {
            None if policy.always_acts() => {
                self.add(object, kind, format!("{message}; which those are could not be read"));
            }
            None => {
                let message = format!("{message}, unless its own policy keeps it; that policy could not be read");
                self.add_unread(object, kind, message, None);
            }
            Some(PolicyEffect::Act("")) => {
                let inventory = facts.and_then(|facts| facts.inventory.as_deref());
                let listed = inventory.map(|inventory| listed(self.context.snapshot, policy, inventory));
                let listed = listed.unwrap_or_default();
                let needed = self.goes_with(object, policy);
                let unless = needed.map(|needed| format!(", unless {needed}, goes first")).unwrap_or_default();
                self.add(object, kind, format!("{message}{listed}{unless}"));
                let claims = inventory.map(claims_elsewhere).unwrap_or_default();
                if !claims.is_empty() {
                    let claims: Vec<&str> = claims.iter().map(String::as_str).collect();
                    let message = format!("{} in another cluster may lose data", some_of(&claims, NAMED));
                    self.add_unread(object, EffectKind::DataLost, message, None);
                }
            }
            Some(PolicyEffect::Act(unless)) => self.add(object, kind, format!("{message}, {unless}")),
            Some(PolicyEffect::Keep(why)) => {
                let stays = match kind.kept() {
                    EffectKind::DataKept => "its data is kept",
                    EffectKind::ObjectsKept => "its managed objects are kept",
                    _ => "the external resource is kept",
                };
                self.add(object, kind.kept(), format!("{stays} ({why})"));
            }
        }
    }

    /// What goes with an object that Flux can delete nothing without: the Secret in which Helm keeps the release, and
    /// the ServiceAccount as which Flux acts.
    fn goes_with(&self, object: ObjectId, policy: Policy) -> Option<String> {
        let snapshot = self.context.snapshot;
        let (own, facts) = (snapshot.namespace(object), snapshot.facts.policy(object)?);
        let has_release = policy == Policy::HelmRelease && facts.released_in(own) == own;
        if has_release && self.in_deleted_namespace(object) {
            return Some("its Secret, which goes with the Namespace".to_owned());
        }
        let account = self.context.account_of(object, facts.account()?)?.object()?;
        let goes = policy.loses_with_account(facts, own) && self.survival(account) == Survival::Removed;
        goes.then(|| format!("{}, as which it acts", snapshot.short_name(account)))
    }

    /// What the Namespace of an object says that ACK deletes with it (aws-controllers-k8s/runtime
    /// pkg/runtime/reconciler.go:getDeletionPolicy).
    fn ack_in(&mut self, object: ObjectId) -> Option<PolicyEffect> {
        let snapshot = self.context.snapshot;
        let found = snapshot.object(object);
        let namespace = self.context.namespace_named(found.namespace)?;
        let facts = self.context.fact(namespace, snapshot.facts.namespace(namespace))?;
        let service = snapshot.resources.get(found.resource).group.split('.').next()?;
        Some(match facts.ack.get(service)?.as_str() {
            "retain" => PolicyEffect::Keep("its namespace says deletion-policy retain"),
            _ => PolicyEffect::Act(""),
        })
    }

    /// The token Secrets of a ServiceAccount are outcomes, once it is known which they are. In a deleted Namespace they
    /// are deleted anyway.
    fn account(&mut self, object: ObjectId) {
        let context = self.context;
        if self.in_deleted_namespace(object) || context.fact(object, context.snapshot.facts.account(object)).is_some() {
            return;
        }
        self.add(object, EffectKind::Unknown, "its token Secrets are deleted, too; which those are could not be read");
    }

    /// A load balancer is released even if no finalizer says so.
    fn service(&mut self, object: ObjectId, first: usize) {
        // Its IPAddresses are outcomes, but only the Service names them.
        if self.context.built_in.addresses.is_some() {
            self.context.fact(object, self.context.snapshot.facts.service(object));
        }
        if self.effects[first..].iter().any(|effect| effect.kind == EffectKind::LoadBalancerReleased) {
            return;
        }
        match self.context.fact(object, self.context.snapshot.facts.service(object)) {
            Some(facts) if facts.kind.as_deref() == Some(LOAD_BALANCER) => {
                self.add(
                    object,
                    EffectKind::LoadBalancerReleased,
                    "its load balancer and the load balancer's address are released",
                );
            }
            Some(_) => {}
            None => {
                self.add_unread(
                    object,
                    EffectKind::LoadBalancerReleased,
                    "if it has a load balancer, that is released; its status could not be read",
                    None,
                );
            }
        }
    }
}

/// What a controller deletes in another cluster that may have data there.
fn claims_elsewhere(inventory: &Inventory) -> Vec<String> {
    let has_data = |named: &&InventoryObject| {
        inventory.elsewhere && named.group.is_empty() && matches!(&*named.kind, "PersistentVolumeClaim" | "Namespace")
    };
    inventory.objects.iter().filter(has_data).map(|named| format!("{}/{}", named.kind, named.name)).collect()
}

/// How many objects a controller deletes, and where; by name those of which a dump doesn't tell what goes with them.
fn listed(snapshot: &Snapshot, policy: Policy, inventory: &Inventory) -> String {
    let elsewhere = if inventory.elsewhere { " in another cluster" } else { "" };
    if inventory.unlisted {
        return format!("{elsewhere}; it doesn't list what that is");
    }
    if inventory.is_by_label() {
        return elsewhere.to_owned();
    }
    let found = |named: &InventoryObject| in_inventory(snapshot, named);
    let spared = inventory.objects.iter().filter_map(found);
    let spared = spared.filter(|id| !inventory.elsewhere && is_spared(snapshot, *id, policy));
    let spared: Vec<String> = spared.map(|id| snapshot.located(id, None)).collect();
    let kept = match spared.len() {
        0 => String::new(),
        1 => format!("; {} stays, as its annotations or labels say", spared[0]),
        _ => format!("; {} stay, as their annotations or labels say", some_of(&spared, NAMED)),
    };
    let number = match inventory.objects.len() - spared.len() {
        0 => return format!("{elsewhere}; it names none{}", if spared.is_empty() { "" } else { " other" }) + &kept,
        number => count(number, "object", "objects"),
    };
    let is_away = |named: &&InventoryObject| found(named).is_none();
    let is_looked_for = snapshot.may_be_part() && !inventory.elsewhere;
    let away = inventory.objects.iter().filter(is_away).filter(|_| is_looked_for);
    let away: Vec<String> = away.map(|named| format!("{}/{}", named.kind, named.name)).collect();
    let away: Vec<&str> = away.iter().map(String::as_str).collect();
    let away = if away.is_empty() { String::new() } else { format!("; not in the dump: {}", some_of(&away, NAMED)) };
    let here = inventory.objects.iter().filter_map(found).filter(|_| !inventory.elsewhere);
    let here = here.filter(|id| !is_spared(snapshot, *id, policy));
    let unlabelled = match here.filter(|id| !inventory.is_labelled(|key| snapshot.label(*id, key))).count() {
        0 => String::new(),
        1 => "; 1 of them lacks its labels, and may stay".to_owned(),
        some => format!("; {some} of them lack its labels, and may stay"),
    };
    format!(": {number}{elsewhere}{unlabelled}{kept}{away}")
}

/// Whether a finalizer belongs neither to the collector nor to the API server.
pub(super) fn is_foreign(finalizer: Symbol) -> bool {
    !finalizer.is_collectors_finalizer() && finalizer != Symbol::DEFINITION
}
