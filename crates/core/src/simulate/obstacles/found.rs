//! The obstacles that matter to a simulated delete, and what they prevent.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use strum::VariantArray;

use crate::{
    model::{ObjectId, ResourceId, Symbol, facts::Backend},
    simulate::{
        cause::{Cause, Change},
        context::SimContext,
        controllers::is_workload,
        world::World,
    },
};

use super::{
    admission::selects_namespace,
    backend::{behind, reach, why_unavailable, why_unreachable},
    heeded::{BoundPolicy, Called, Hook, Lack, Operation, Reach, WebhookCall},
    policies::Refuses,
    starting::refuses_its_start,
    told::{Obstacle, ObstacleKind, RefusedBy, RefusedWrite},
};

impl World<'_, '_> {
    /// Whether any obstacle changed the course of this simulation.
    pub(crate) fn met_obstacles(&self) -> bool {
        !self.refused.is_empty() || !self.held_by_api.is_empty() || self.manager_away()
    }

    /// The obstacles that this settled simulation met or made. `healthy` is the same simulation without obstacles;
    /// what is in `anyway` has gone by itself, so its loss is not told.
    pub fn obstacles(&mut self, healthy: Option<&World<'_, '_>>, anyway: &FxHashSet<ObjectId>) -> Vec<Obstacle> {
        let context = self.context;
        let Some(obstacles) = context.obstacles.as_ref().filter(|_| self.heeds) else { return Vec::new() };
        let mut prevented = healthy.map(|healthy| self.prevented_beside(healthy)).unwrap_or_default();
        // It is gone all the same, in another way.
        prevented.retain(|object| self.exists(*object));
        let mut found: BTreeMap<ObstacleKind, Obstacle> = BTreeMap::new();
        if let Some((lease, why)) = obstacles.manager_away.as_ref().filter(|_| !prevented.is_empty()) {
            let kind = ObstacleKind::ControllersAway { lease: *lease };
            let collected = healthy.is_some_and(|healthy| self.has_collectors_work(healthy, &prevented));
            found.insert(kind, Obstacle { collected, ..Obstacle::new(kind, why.clone(), false) });
        }
        for hook in self.lost_hooks(anyway) {
            let webhook = &obstacles.admission.hooks[hook as usize];
            let (why, _) = self.lack(webhook.call.webhook.backend.as_ref(), webhook.reach(context));
            found.insert(kind_of(webhook), Obstacle::new(kind_of(webhook), why, true));
        }
        for bound in &obstacles.admission.policies {
            if let Some((parameters, true)) =
                self.lost_parameters(bound).filter(|(parameters, _)| !anyway.contains(parameters))
            {
                let kind = &context.snapshot.resource(parameters).kind;
                found.insert(
                    of_policy(bound, true),
                    Obstacle::new(of_policy(bound, true), Refuses::Lacking(kind).why(), true),
                );
            }
        }
        let mut refused = self.refused.clone();
        if let Some(healthy) = healthy.filter(|_| obstacles.manager_away.is_some()) {
            refused.extend(self.refused_once_the_manager_runs(healthy, &prevented));
        }
        for (object, refused) in refused {
            // It may have been possible later.
            let Ok(place) = prevented.binary_search(&object) else { continue };
            prevented.remove(place);
            let admission = &obstacles.admission;
            for by in self.all_who_refuse(object, refused) {
                let kind = match by {
                    RefusedBy::Hook(hook) => kind_of(&admission.hooks[hook as usize]),
                    RefusedBy::Policy(policy) => {
                        let bound = &admission.policies[policy as usize];
                        let refuses = bound.refuses(context, object, |_| true);
                        of_policy(bound, refuses.is_some_and(Refuses::lacks_parameters))
                    }
                    RefusedBy::Schema(definition) => ObstacleKind::SchemaRefuses { definition },
                    RefusedBy::Guard(by, guard) => ObstacleKind::DeleteProtected { by, guard },
                };
                if let Some(known) = found.get_mut(&kind) {
                    known.prevents.push(object);
                    continue;
                }
                let (why, idle) = match by {
                    RefusedBy::Hook(hook) => {
                        let hook = &admission.hooks[hook as usize];
                        self.lack(hook.call.webhook.backend.as_ref(), hook.reach(context))
                    }
                    RefusedBy::Policy(policy) => {
                        let refuses = admission.policies[policy as usize].refuses(context, object, |_| true);
                        (refuses.map(Refuses::why).unwrap_or_default(), None)
                    }
                    RefusedBy::Guard(_, guard) => (guard.says(), None),
                    RefusedBy::Schema(_) => {
                        (context.snapshot.schema_fault(object).unwrap_or_default().to_owned(), None)
                    }
                };
                found.insert(kind, Obstacle { prevents: vec![object], idle, ..Obstacle::new(kind, why, false) });
            }
        }
        self.add_idle_backends(&mut found);
        self.add_apis(&mut found, &mut prevented, anyway);
        self.add_conversions(&mut found, anyway);
        // What only follows.
        if let Some(first) = found.values_mut().find(|obstacle| !obstacle.prevents.is_empty() || !obstacle.taken_down) {
            first.prevents.extend(prevented);
            first.prevents.sort_unstable();
        }
        for obstacle in found.values_mut() {
            if let ObstacleKind::WebhookUnreachable { .. } = obstacle.kind {
                let hook = obstacles.admission.hooks.iter().position(|hook| kind_of(hook) == obstacle.kind);
                let webhook = hook.map(|hook| obstacles.admission.hooks[hook].call.webhook).zip(obstacle.idle);
                obstacle.refuses_start =
                    webhook.is_some_and(|(webhook, idle)| refuses_its_start(context, webhook, idle));
                obstacle.resources = hook.map(|hook| self.resources_of(hook as u32)).unwrap_or_default();
            }
        }
        // What waits for more than a controller manager says so first: also a sweep in its place is refused.
        let (away, mut found): (Vec<Obstacle>, Vec<Obstacle>) = found.into_values().partition(|obstacle| {
            matches!(obstacle.kind, ObstacleKind::ControllersAway { .. }) && obstacle.prevents.is_empty()
        });
        found.extend(away);
        found
    }

    /// Webhooks that can't be called now, and whose workload, which is scaled to 0, this simulation has removed: then
    /// nobody can start it any more.
    fn add_idle_backends(&mut self, found: &mut BTreeMap<ObstacleKind, Obstacle>) {
        let context = self.context;
        let Some(obstacles) = context.obstacles.as_ref() else { return };
        let is_workload = |change: &Change| change.removed && is_workload(context, change.object);
        if !self.log.iter().any(is_workload) {
            return;
        }
        for (hook, place) in obstacles.admission.hooks.iter().zip(0..) {
            let (webhook, kind) = (hook.call.webhook, kind_of(hook));
            if !webhook.required || !self.exists(hook.call.configuration) || found.contains_key(&kind) {
                continue;
            }
            let Reach::Unreachable(lack) = hook.reach(context) else { continue };
            let (_, idle) = why_unreachable(context, webhook.backend.as_ref(), *lack);
            let Some(idle) = idle.filter(|idle| !self.exists(*idle)) else { continue };
            if !self.resources_of(place).is_empty() {
                let why = format!("{}, which is scaled to 0 and serves it, goes", context.snapshot.short_name(idle));
                found.insert(kind, Obstacle::new(kind, why, true));
            }
        }
    }

    /// Of what the controllers have yet to do that are away, what the API server will refuse then.
    fn refused_once_the_manager_runs(
        &mut self,
        healthy: &World<'_, '_>,
        prevented: &[ObjectId],
    ) -> Vec<(ObjectId, RefusedWrite)> {
        let mut refused = Vec::new();
        for object in prevented.iter().copied().filter(|object| !self.refused.contains_key(object)).collect::<Vec<_>>()
        {
            let is_left = healthy.exists(object) || self.stored(object).is_some_and(|stored| stored.terminating);
            let by_namespace = |change: &Change| change.object == object && matches!(change.cause, Cause::Namespace(_));
            let operation = if is_left {
                Operation::Update
            } else if healthy.log.iter().any(by_namespace) {
                Operation::of_content(self.context.snapshot, object)
            } else {
                Operation::Delete
            };
            refused.extend(self.would_refuse(object, operation).map(|write| (object, write)));
        }
        refused
    }

    /// Whether the collector, which is away, would be the first to change one of these objects. Content of a namespace
    /// that is to be emptied waits for the namespace controller.
    fn has_collectors_work(&self, healthy: &World<'_, '_>, prevented: &[ObjectId]) -> bool {
        let context = self.context;
        if !context.lacks_collector() {
            return false;
        }
        let mut seen: FxHashSet<ObjectId> = FxHashSet::default();
        let mut firsts = healthy.log.iter().filter(|change| seen.insert(change.object));
        firsts.any(|change| {
            let is_awaited = |above: ObjectId| prevented.binary_search(&above).is_ok();
            matches!(change.cause, Cause::Collector(_))
                && is_awaited(change.object)
                && !context.above(change.object).any(is_awaited)
        })
    }

    /// Whether this simulation has removed a backend that does not go by itself.
    fn loses(&self, reach: &Reach, anyway: &FxHashSet<ObjectId>) -> bool {
        let Reach::Served { service, pods } = reach else { return false };
        let ends = |object: &ObjectId| !self.exists(*object) || self.ended.contains(object);
        let mut backend = std::iter::once(service).chain(pods);
        self.has_lost(*service, pods) && backend.any(|object| ends(object) && !anyway.contains(object))
    }

    fn add_apis(
        &mut self,
        found: &mut BTreeMap<ObstacleKind, Obstacle>,
        prevented: &mut Vec<ObjectId>,
        anyway: &FxHashSet<ObjectId>,
    ) {
        let context = self.context;
        let Some(obstacles) = context.obstacles.as_ref() else { return };
        if !self.removed_backends() && self.held_by_api.is_empty() {
            return;
        }
        let apis = obstacles.apis.get(context);
        for api in apis {
            let lost = self.loses(&api.reach, anyway) && self.exists(api.service);
            let held: Vec<ObjectId> =
                self.held_by_api.iter().filter(|(_, by)| **by == api.service).map(|(held, _)| *held).collect();
            if !lost && held.is_empty() {
                continue;
            }
            let facts = context.snapshot.facts.api_service(api.service);
            let backend = facts.and_then(|facts| facts.service.as_ref());
            let (why, idle) = match &api.reach {
                Reach::Unreachable(lack) => {
                    let (words, idle) = behind(context, backend, *lack).unzip();
                    let why = facts.map(why_unavailable).into_iter().chain(words).collect::<Vec<String>>();
                    (why.join(": "), idle.flatten())
                }
                _ => self.lack(backend, &api.reach),
            };
            let kind = ObstacleKind::ApiUnavailable { service: api.service };
            let mut obstacle = Obstacle { idle, ..Obstacle::new(kind, why, lost) };
            prevented.retain(|object| !held.contains(object));
            obstacle.prevents = held;
            found.insert(kind, obstacle);
        }
    }

    /// Conversion webhooks whose backend this simulation has removed. All CustomResourceDefinitions are large: those of
    /// a cluster are read only if a Service goes.
    fn add_conversions(&mut self, found: &mut BTreeMap<ObstacleKind, Obstacle>, anyway: &FxHashSet<ObjectId>) {
        let context = self.context;
        let Some(definitions) = context.built_in.definitions.filter(|_| self.removed_backends()) else { return };
        let touched = self.namespaces_of_removed_backends();
        let removed = self.log.iter().filter(|change| change.removed).map(|change| change.object);
        let services = context.built_in.services;
        let lost_service = removed.into_iter().any(|object| Some(context.snapshot.object(object).resource) == services);
        for definition in context.of_resource(definitions).iter().copied() {
            if !self.exists(definition) {
                continue;
            }
            let Some(facts) = context.snapshot.facts.definition(definition) else {
                self.context.lacks(|needs| needs.evidence.extend(Some(definition).filter(|_| lost_service)));
                continue;
            };
            if !facts.conversion.as_deref().is_some_and(|backend| touched.has(context, backend)) {
                continue;
            }
            let reach = reach(context, facts.conversion.as_deref());
            if self.loses(&reach, anyway) {
                let kind = ObstacleKind::ConversionBroken { definition };
                let (why, _) = self.lack(facts.conversion.as_deref(), &reach);
                found.insert(kind, Obstacle::new(kind, why, true));
            }
        }
    }

    /// The namespaces of the Services and pods that are gone, or no longer serve.
    fn namespaces_of_removed_backends(&self) -> Touched {
        let context = self.context;
        let (services, pods) = (context.built_in.services, context.built_in.pods);
        let removed = self.log.iter().filter(|change| change.removed).map(|change| change.object);
        let gone = removed.chain(self.ended.iter().copied()).map(|object| context.snapshot.object(object));
        let backends = gone.filter(|object| Some(object.resource) == services || Some(object.resource) == pods);
        Touched(backends.map(|object| object.namespace).collect())
    }

    /// Why a backend can't be reached at the end, and what is scaled to 0 behind it.
    fn lack(&mut self, backend: Option<&Backend>, reach: &Reach) -> (String, Option<ObjectId>) {
        match reach {
            Reach::Unreachable(lack) => why_unreachable(self.context, backend, *lack),
            Reach::Served { service, .. } if !self.exists(*service) => (Lack::Service.describe(backend), None),
            _ => (Lack::Endpoint.describe(backend), None),
        }
    }

    /// Whether a Service or a pod is gone, or no longer serves: perhaps something's backend.
    fn removed_backends(&self) -> bool {
        let built_in = &self.context.built_in;
        let of_backend = |object: ObjectId| {
            let resource = Some(self.context.snapshot.object(object).resource);
            resource == built_in.services || resource == built_in.pods
        };
        !self.ended.is_empty() || self.log.iter().any(|change| change.removed && of_backend(change.object))
    }

    /// Webhooks that must be called, and whose backend this simulation has removed.
    fn lost_hooks(&mut self, anyway: &FxHashSet<ObjectId>) -> Vec<u32> {
        let context = self.context;
        let Some(obstacles) = context.obstacles.as_ref().filter(|_| self.removed_backends()) else { return Vec::new() };
        let touched = self.namespaces_of_removed_backends();
        let mut lost = Vec::new();
        for (hook, place) in obstacles.admission.hooks.iter().zip(0..) {
            let webhook = hook.call.webhook;
            let is_near = webhook.backend.as_ref().is_some_and(|backend| touched.has(context, backend));
            if !webhook.required || !is_near || !self.exists(hook.call.configuration) || webhook.rules.is_empty() {
                continue;
            }
            // A webhook that is called for nothing prevents nothing.
            if self.loses(hook.reach(context), anyway) && !self.resources_of(place).is_empty() {
                lost.push(place);
            }
        }
        lost
    }

    /// The last of a policy's parameters that this simulation has removed, and whether the policy refuses all that it
    /// matches without them, or applies no longer (R9.45).
    fn lost_parameters(&self, bound: &BoundPolicy<'_>) -> Option<(ObjectId, bool)> {
        let lasts = self.exists(bound.policy) && self.exists(bound.binding);
        let removed = self.log.iter().filter(|change| change.removed && lasts).map(|change| change.object);
        let exists = |object| self.exists(object);
        removed.into_iter().find_map(|id| Some((id, bound.refuses_without(self.context, id, exists)?)))
    }

    /// The resources of which a webhook prevents deletes or changes, or else new objects: those of which its selectors
    /// choose anything that is left, or that was not read.
    fn resources_of(&self, hook: u32) -> Vec<ResourceId> {
        let context = self.context;
        let Some(obstacles) = context.obstacles.as_ref() else { return Vec::new() };
        let call = obstacles.admission.hooks[hook as usize].call;
        let all = || context.snapshot.resources.deletable().map(|(id, _)| id);
        let asked = |resource: ResourceId, operation| {
            obstacles.admission.by_rules(context.snapshot, resource, operation).contains(&hook)
        };
        let ends = |resource: &ResourceId| {
            let matters = |operation: &Operation| operation.ends(context.snapshot.resources.get(*resource));
            Operation::VARIANTS.iter().copied().filter(matters).any(|operation| asked(*resource, operation))
        };
        let creates = |resource: &ResourceId| asked(*resource, Operation::Create);
        let may_be_called = |resource: &ResourceId| self.may_be_called_for_any(call, *resource);
        let concerned: Vec<ResourceId> = all().filter(ends).filter(may_be_called).collect();
        if concerned.is_empty() { all().filter(creates).filter(may_be_called).collect() } else { concerned }
    }

    /// Whether a webhook is or may be called for an object of this resource that is left, or for a new one.
    fn may_be_called_for_any(&self, call: WebhookCall<'_>, resource: ResourceId) -> bool {
        let context = self.context;
        let snapshot = context.snapshot;
        if call.webhook.never {
            return false;
        }
        let namespaces = call.webhook.namespaces.as_ref().zip(context.built_in.namespaces);
        let (Some((selector, all)), None) = (namespaces, &call.webhook.objects) else {
            let is_called = |object: &ObjectId| self.exists(*object) && call.called_for(context, *object) != Called::No;
            return call.webhook.objects.is_none()
                || !snapshot.covers(resource, None)
                || context.of_resource(resource).iter().any(is_called);
        };
        // Other cluster-scoped objects are never exempt (R9.31).
        let by_namespace = snapshot.resources.get(resource).namespaced || resource == all;
        let chosen = |namespace: &ObjectId| {
            let name = snapshot.name(*namespace);
            self.exists(*namespace) && selects_namespace(context, selector, name) != Some(false)
        };
        !by_namespace || !snapshot.covers(all, None) || context.of_resource(all).iter().any(chosen)
    }

    /// The objects that end differently in another simulation, in snapshot order.
    fn prevented_beside(&self, healthy: &World<'_, '_>) -> Vec<ObjectId> {
        let differs = |object: &ObjectId| match (self.stored(*object), healthy.stored(*object)) {
            (Some(here), Some(there)) => !here.same_state(&there),
            (here, there) => here.is_some() != there.is_some(),
        };
        healthy.touched().into_iter().filter(differs).collect()
    }
}

/// The namespaces in which something may have lost its backend.
struct Touched(FxHashSet<Symbol>);

impl Touched {
    /// Whether a backend is in one of them.
    fn has(&self, context: &SimContext<'_>, backend: &Backend) -> bool {
        let namespace = backend.service().and_then(|(namespace, _)| context.snapshot.strings.find(namespace));
        namespace.is_some_and(|namespace| self.0.contains(&namespace))
    }
}

fn of_policy(bound: &BoundPolicy<'_>, lacks_parameters: bool) -> ObstacleKind {
    ObstacleKind::PolicyRefuses { policy: bound.policy, binding: bound.binding, lacks_parameters }
}

fn kind_of(hook: &Hook<'_>) -> ObstacleKind {
    ObstacleKind::WebhookUnreachable { configuration: hook.call.configuration, place: hook.call.place as u32 }
}
