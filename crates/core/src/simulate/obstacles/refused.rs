//! Writes that fail in a simulation, because of an obstacle.

use rustc_hash::FxHashSet;

use crate::{
    model::{ObjectId, Snapshot},
    simulate::{
        actors::Assumption,
        cause::{Cause, Change},
        context::SimContext,
        recreators::{Ending, Recreation, Recreators, Survival},
        state::BlockedBy,
        world::World,
    },
};

use super::{
    heeded::{Api, Called, Operation, Reach},
    told::{RefusedBy, RefusedWrite},
};

/// What is foreseen of a write.
#[derive(Default)]
struct Judged {
    /// Who refuses it; the first counts, and the others once that is mended.
    refused: Vec<RefusedBy>,
    /// What is assumed of webhooks and policies that nothing judges.
    assumptions: Vec<Assumption>,
    /// Whether one of these may refuse it, or change what it writes.
    may_be_refused: bool,
    may_be_changed: bool,
}

impl Judged {
    fn assume(&mut self, assumption: Assumption) {
        self.may_be_refused = true;
        self.assumptions.push(assumption);
    }
}

impl World<'_, '_> {
    /// Whether the API server refuses a write now, because of a policy, or because it must call a webhook and can't.
    /// Records the write, and what the simulation assumes of webhooks and policies that it can't judge.
    pub fn refuses(&mut self, object: ObjectId, operation: Operation) -> bool {
        if !self.heeds_refusals_of(operation) {
            return false;
        }
        let Judged { refused, assumptions, may_be_refused, may_be_changed } = self.judge(object, operation);
        self.assumptions.extend(assumptions);
        if may_be_refused {
            match operation.deletes() {
                true => self.deletes_may_be_refused.insert(object),
                false => self.updates_may_be_refused.insert(object),
            };
        }
        if may_be_changed {
            self.updates_may_be_changed.insert(object);
        }
        self.note_refused(object, operation, refused.first())
    }

    /// Records that the API server certainly refuses that a controller removes its finalizer, if it does, and nothing
    /// else: the write isn't simulated.
    pub(crate) fn note_refused_release(&mut self, object: ObjectId) {
        self.surely_refuses(object, Operation::Update);
    }

    /// Whether the API server certainly refuses a write now. Records the write, and nothing that is only assumed.
    pub(crate) fn surely_refuses(&mut self, object: ObjectId, operation: Operation) -> bool {
        self.surely_refuses_before(object, object, operation)
    }

    /// The same of a write to another object, which a controller sends before it writes to this one.
    pub(crate) fn surely_refuses_before(&mut self, object: ObjectId, first: ObjectId, operation: Operation) -> bool {
        if !self.heeds_refusals_of(operation) {
            return false;
        }
        let refused = self.judge(first, operation).refused;
        self.note_refused(object, operation, refused.first())
    }

    /// The write, if the API server would certainly refuse it; records nothing.
    pub(super) fn would_refuse(&mut self, object: ObjectId, operation: Operation) -> Option<RefusedWrite> {
        let by = self.judge(object, operation).refused.first().copied()?;
        Some(RefusedWrite { operation, by })
    }

    fn heeds_refusals_of(&self, operation: Operation) -> bool {
        let Some(obstacles) = self.context.obstacles.as_ref().filter(|_| self.heeds) else { return false };
        !obstacles.of_content || matches!(operation, Operation::DeleteCollection | Operation::Finalize)
    }

    fn note_refused(&mut self, object: ObjectId, operation: Operation, refused: Option<&RefusedBy>) -> bool {
        let Some(by) = refused.copied() else { return false };
        self.refused.insert(object, RefusedWrite { operation, by });
        true
    }

    /// All who refuse this write, at least the one that did.
    pub(super) fn all_who_refuse(&mut self, object: ObjectId, write: RefusedWrite) -> Vec<RefusedBy> {
        let mut all = self.judge(object, write.operation).refused;
        if !all.contains(&write.by) {
            all.insert(0, write.by);
        }
        all
    }

    /// What the API server would say to a write, as far as that can be foreseen.
    fn judge(&mut self, object: ObjectId, operation: Operation) -> Judged {
        let context = self.context;
        let mut judged = Judged::default();
        let Some(obstacles) = context.obstacles.as_ref() else { return judged };
        let resource = context.snapshot.object(object).resource;
        // A cluster has listed what it could convert; a dump may come from elsewhere.
        if context.snapshot.is_dump()
            && let Some(definition) = context.definition_of(resource)
        {
            self.doubt_conversion(definition, &[object]);
        }
        judged.refused.extend(self.refused_by_schema(object, operation).map(RefusedBy::Schema));
        let guards = if operation.deletes() { self.guards_on(object) } else { Vec::new() };
        let built_in = guards.iter().filter(|guard| guard.is_built_in());
        judged.refused.extend(built_in.map(|guard| RefusedBy::Guard(object, guard)));
        // What nobody knows of makes less happen, if anything: that is told once, and not of each object.
        judged.assumptions.extend(obstacles.admission.unread.then_some(Assumption::AdmissionUnread));
        for place in obstacles.admission.by_rules(context.snapshot, resource, operation) {
            let hook = &obstacles.admission.hooks[*place as usize];
            let called = hook.call.called_for(context, object);
            if called == Called::No || !self.exists(hook.call.configuration) {
                continue;
            }
            let reach = hook.reach(context);
            let heeded = guards.iter().copied().find(|guard| called == Called::Yes && hook.heeds(context, guard));
            if let Some(guard) = heeded.filter(|_| !self.is_unreachable(reach)) {
                judged.refused.push(RefusedBy::Guard(hook.call.configuration, guard));
                continue;
            }
            match (self.is_unreachable(reach), hook.call.webhook.required, called) {
                (true, true, Called::Yes) => judged.refused.push(RefusedBy::Hook(*place)),
                (true, false, _) => {}
                (is_unreachable, ..) => {
                    // One that answers may refuse, whatever its `failurePolicy` is.
                    let configuration = context.snapshot.short_name(hook.call.configuration);
                    let by = format!("the webhook {} of {configuration}", hook.call.webhook.name);
                    judged.assume(match is_unreachable {
                        true => Assumption::NotCalled { by },
                        false => Assumption::Admission { by },
                    });
                }
            }
        }
        // The webhook may be among what was not read: what it heeds says that there is one.
        if operation.deletes() && (obstacles.admission.unread || has_no_webhooks(context.snapshot)) {
            for guard in self.may_be_guarded_by(object) {
                if self.is_surely_guarded(object, guard) {
                    judged.refused.push(RefusedBy::Guard(object, guard));
                    continue;
                }
                let of = context.snapshot.short_name(object);
                let by = format!("the webhook that protects {of} ({}), which could not be read,", guard.says());
                judged.assume(Assumption::Admission { by });
            }
        }
        for (policy, place) in obstacles.admission.policies.iter().zip(0..) {
            let lasts = self.exists(policy.policy) && self.exists(policy.binding);
            match policy.judges(context, object, operation) {
                // Parameters that go in this course are missed only once the API server has noticed.
                Called::Yes if lasts && policy.refuses(context, object, |_| true).is_some() => {
                    judged.refused.push(RefusedBy::Policy(place))
                }
                Called::Yes | Called::Perhaps if lasts => {
                    let by = format!("the policy {}", context.snapshot.short_name(policy.policy));
                    if policy.mutates {
                        // It judges no DELETE.
                        judged.may_be_changed = true;
                        judged.assumptions.push(Assumption::Mutation { by });
                    } else {
                        judged.assume(Assumption::Admission { by });
                    }
                }
                _ => {}
            }
        }
        judged
    }

    /// The CustomResourceDefinition whose schema a custom resource no longer satisfies, if this changes it (R1.36).
    /// Only the API server can tell; it is asked only if the definition was changed.
    fn refused_by_schema(&mut self, object: ObjectId, operation: Operation) -> Option<ObjectId> {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let found = snapshot.object(object);
        let definition = context.definition_of(found.resource).filter(|_| operation == Operation::Update)?;
        match (snapshot.told.unpatchable.get(&found.uid), snapshot.facts.definition(definition)) {
            (Some(answer), _) => return answer.as_ref().map(|_| definition),
            (None, None) => context.lacks(|needs| needs.evidence.insert(definition)),
            (None, Some(facts)) if snapshot.is_dump() => {
                facts.revised && self.assumptions.insert(Assumption::SchemaAccepts { kind: facts.kind.clone() })
            }
            (None, Some(facts)) => facts.revised && context.lacks(|needs| needs.patches.insert(object)),
        };
        None
    }

    /// Whether the last write to an object was refused, and was such an operation.
    pub fn is_refused(&self, object: ObjectId, such: impl Fn(Operation) -> bool) -> bool {
        self.refused.get(&object).is_some_and(|refused| such(refused.operation))
    }

    /// What prevented the last write to an object.
    pub(crate) fn refused_by(&self, object: ObjectId) -> Option<BlockedBy> {
        let admission = &self.context.obstacles.as_ref()?.admission;
        Some(match self.refused.get(&object)?.by {
            RefusedBy::Hook(place) => {
                let call = admission.hooks[place as usize].call;
                BlockedBy::Webhook(call.configuration, call.place as u32)
            }
            RefusedBy::Policy(place) => BlockedBy::Policy(admission.policies[place as usize].policy),
            RefusedBy::Schema(definition) => BlockedBy::Schema(definition),
            RefusedBy::Guard(by, guard) => BlockedBy::Guard(by, guard),
        })
    }

    /// Whether a backend certainly can't be reached by now.
    pub(crate) fn is_unreachable(&self, reach: &Reach) -> bool {
        match reach {
            Reach::Unreachable(_) => true,
            Reach::Served { service, pods } => self.has_lost(*service, pods),
            Reach::Doubtful(_) | Reach::Outside | Reach::Unknown => false,
        }
    }

    /// Whether a Service, or all pods behind it, are gone by now, and nothing makes such pods again.
    pub(crate) fn has_lost(&self, service: ObjectId, pods: &[ObjectId]) -> bool {
        if !self.exists(service) {
            return true;
        }
        // The last write of a kubelet about a pod finds its containers ended.
        if pods.is_empty() || pods.iter().any(|pod| self.exists(*pod) && !self.ended.contains(pod)) {
            return false;
        }
        // The pods of one controller share their fate.
        let mut known: FxHashSet<ObjectId> = FxHashSet::default();
        let mut controlled = pods.iter().filter_map(|pod| Some((*pod, self.context.snapshot.controller_of(*pod)?)));
        !controlled.any(|(pod, above)| known.insert(above) && self.is_replaced(pod, above))
    }

    /// Whether a webhook must be asked before such a pod, or what makes it, is created, and runs in that pod: then none
    /// is created.
    fn is_needed_by_itself(&self, pod: ObjectId, above: ObjectId) -> bool {
        let context = self.context;
        let Some(obstacles) = &context.obstacles else { return false };
        if self.serves_until_replaced(pod, above) {
            return false;
        }
        obstacles.admission.hooks.iter().any(|hook| {
            let is_asked = |object: &ObjectId| {
                let resource = context.snapshot.resource(*object);
                hook.call.webhook.matches(resource, "CREATE") && hook.call.called_for(context, *object) != Called::No
            };
            hook.call.webhook.required
                && self.exists(hook.call.configuration)
                && [pod, above].iter().any(is_asked)
                && matches!(hook.reach(context), Reach::Served { pods, .. } if pods.contains(&pod))
        })
    }

    /// Whether another pod is made while this one still serves, in its grace period: a ReplicaSet counts no pod that is
    /// being deleted (kubernetes/kubernetes pkg/controller/controller_utils.go:FilterActivePods), and where no other is
    /// ready, kube-proxy keeps to pods that end (KEP-1669).
    fn serves_until_replaced(&self, pod: ObjectId, above: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let counts_active = matches!(snapshot.resource(above).kind.as_str(), "ReplicaSet" | "ReplicationController");
        let has_grace = |change: &Change| change.object == pod && matches!(change.cause, Cause::Kubelet);
        counts_active && !snapshot.object(pod).terminating() && self.log.iter().any(has_grace)
    }

    /// Whether a pod that is gone, or another in its place, is made again. Nothing is created in a namespace that is
    /// being deleted, and a pod needs a Node.
    fn is_replaced(&self, pod: ObjectId, above: ObjectId) -> bool {
        let context = self.context;
        let is_left = |object: &ObjectId| self.survival(*object) == Survival::Survives;
        let has_place = || {
            let nodes = context.of_resource(context.built_in.nodes);
            nodes.is_empty() || nodes.iter().any(is_left)
        };
        let recreators = Recreators::new(context, self);
        let is_made = || {
            let recreator = recreators.recreator(pod);
            recreator.is_some_and(|it| match it.recreation {
                Recreation::Certain => true,
                Recreation::Possible => makes_pods_itself(context, it.by),
                Recreation::Refused(_) => false,
            })
        };
        !recreators.has_lost_its_place(pod) && has_place() && is_made() && !self.is_needed_by_itself(pod, above)
    }

    fn is_leaving(&self, object: ObjectId) -> bool {
        self.stored(object).is_some_and(|stored| stored.terminating)
    }

    /// Whether the controller manager is away: the namespace controller and the like do nothing, nor does the
    /// collector, unless a sweep does its work.
    pub(crate) fn manager_away(&self) -> bool {
        self.heeds && self.context.obstacles.as_ref().is_some_and(|obstacles| obstacles.manager_away.is_some())
    }

    /// An aggregated API that doesn't answer now, and whether that certainly keeps a namespace from being emptied: its
    /// content can't be listed (R9.32). Without content, discovery decides, which notices it only after some seconds:
    /// certainly where a kubelet had to end the API's pods first.
    pub(crate) fn dead_api(&mut self) -> Option<(ObjectId, bool)> {
        let context = self.context;
        let obstacles = context.obstacles.as_ref().filter(|_| self.heeds)?;
        let apis = obstacles.apis.get(context);
        let dead = apis.iter().filter(|api| {
            // It is no longer asked for once its APIService is gone.
            self.exists(api.service)
                && match &api.reach {
                    Reach::Unreachable(_) => true,
                    Reach::Served { service, pods } => self.has_lost(*service, pods),
                    Reach::Doubtful(_) | Reach::Outside | Reach::Unknown => false,
                }
        });
        let is_noticed = |api: &Api| {
            // The namespace controller looks again after half of a pod's grace period, and discovery fails by then.
            let took_time = |pods: &[ObjectId]| {
                let ended = |change: &Change| matches!(change.cause, Cause::Kubelet) && pods.contains(&change.object);
                self.log.iter().any(ended)
            };
            api.has_content
                || api.available == Some(false)
                || matches!(&api.reach, Reach::Served { pods, .. } if took_time(pods))
        };
        dead.map(|api| (api.service, is_noticed(api))).max_by_key(|(_, sure)| *sure)
    }
}

impl Ending for World<'_, '_> {
    /// What its controller will take with it doesn't survive, either.
    fn survival(&self, object: ObjectId) -> Survival {
        let goes_with = || self.context.snapshot.controller_of(object).is_some_and(|above| self.is_leaving(above));
        let survives = self.exists(object) && !self.is_leaving(object) && !goes_with();
        if survives { Survival::Survives } else { Survival::Removed }
    }
}

/// Whether a controller makes other pods if it doesn't make the same again.
fn makes_pods_itself(context: &SimContext<'_>, controller: ObjectId) -> bool {
    let resource = context.snapshot.resource(controller);
    matches!(
        (resource.group.as_str(), resource.kind.as_str()),
        ("apps", "Deployment" | "ReplicaSet" | "StatefulSet" | "DaemonSet") | ("", "ReplicationController")
    )
}

/// Whether a dump has no list of webhooks.
fn has_no_webhooks(snapshot: &Snapshot) -> bool {
    let kind = snapshot.resources.by_group_kind("admissionregistration.k8s.io", "ValidatingWebhookConfiguration");
    snapshot.is_dump() && kind.is_none_or(|kind| !snapshot.covers(kind, None))
}
