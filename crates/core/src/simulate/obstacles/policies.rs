//! Which ValidatingAdmissionPolicies judge a write, and which MutatingAdmissionPolicies change it. Only constant
//! expressions are evaluated.

use crate::{
    model::{
        Coordinate, Mapping, ObjectId, Presence, Snapshot, Symbol,
        facts::{AdmissionPolicyFacts, Constraints, PolicyBindingFacts},
    },
    simulate::world::{Needs, SimContext},
};

use super::admission::{Called, Operation, called_by};

/// A policy, and a binding that puts it in force.
#[derive(Debug)]
pub(crate) struct BoundPolicy<'a> {
    pub policy: ObjectId,
    pub binding: ObjectId,
    /// Whether it is a MutatingAdmissionPolicy.
    pub mutates: bool,
    facts: &'a AdmissionPolicyFacts,
    bound: &'a PolicyBindingFacts,
}

/// Every policy that can refuse or change anything, with each of its bindings that puts it in force.
pub(crate) fn bound_policies<'a>(context: &SimContext<'a>, needs: &mut Needs) -> Vec<BoundPolicy<'a>> {
    let mut all = Vec::new();
    for mutates in [false, true] {
        add_bound(context, mutates, &mut all, needs);
    }
    all
}

fn add_bound<'a>(context: &SimContext<'a>, mutates: bool, all: &mut Vec<BoundPolicy<'a>>, needs: &mut Needs) {
    let snapshot: &'a Snapshot = context.snapshot;
    let kind = if mutates { "MutatingAdmissionPolicy" } else { "ValidatingAdmissionPolicy" };
    let resource = |kind: &str| snapshot.resources.by_group_kind("admissionregistration.k8s.io", kind);
    let (Some(policies), Some(bindings)) = (resource(kind), resource(&format!("{kind}Binding"))) else { return };
    for binding in context.of_resource(bindings).iter().copied() {
        let Some(bound) = snapshot.facts.policy_binding(binding) else {
            needs.facts.insert(binding);
            continue;
        };
        let Some(name) = snapshot.strings.find(&bound.policy).filter(|_| bound.denies) else { continue };
        let coordinate = Coordinate { resource: policies, namespace: Symbol::EMPTY, name };
        let Presence::Present(policy) = snapshot.look_up(coordinate) else { continue };
        match snapshot.facts.admission_policy(policy) {
            Some(facts) if facts.validates => all.push(BoundPolicy { policy, binding, mutates, facts, bound }),
            Some(_) => {}
            None => {
                needs.facts.insert(policy);
            }
        }
    }
}

impl BoundPolicy<'_> {
    /// Whether the policy refuses whatever it judges.
    pub(crate) fn refuses_all(&self) -> bool {
        self.facts.refuses_all
    }

    /// Whether the policy refuses whatever it judges of an object's kind and namespace.
    pub(crate) fn refuses(&self, context: &SimContext<'_>, object: ObjectId) -> bool {
        self.refuses_all() || self.lacked_parameters(context, object).is_some()
    }

    /// Whether the policy would judge this object, if its parameters existed.
    pub(crate) fn lacks_only_parameters(&self, context: &SimContext<'_>, object: ObjectId) -> bool {
        !self.refuses_all() && self.lacked_parameters(context, object).is_some()
    }

    /// Why the policy refuses a write to this object, whatever the write is: a clause.
    pub(crate) fn why(&self, context: &SimContext<'_>, object: ObjectId) -> String {
        match self.lacked_parameters(context, object).filter(|_| !self.refuses_all()) {
            Some(kind) => format!("its parameters of kind {kind} do not exist, and its binding refuses without them"),
            None => "its validation is the constant false".to_owned(),
        }
    }

    /// The kind of the parameters without which the binding refuses, if none of them exists for this object: certainly,
    /// by a look-up or a list.
    pub(crate) fn lacked_parameters(&self, context: &SimContext<'_>, object: ObjectId) -> Option<&str> {
        let snapshot = context.snapshot;
        let (api_version, kind) = self.facts.parameters.as_deref()?;
        let reference = self.bound.required.as_deref()?;
        let Mapping::Served(resource) = snapshot.resources.map(api_version, kind) else { return None };
        let resource = snapshot.resources.picked(resource);
        let namespace = match &reference.namespace {
            _ if !snapshot.resources.get(resource).namespaced => "",
            Some(namespace) => namespace,
            None => snapshot.text(snapshot.object(object).namespace),
        };
        let lacks = match &reference.name {
            Some(name) => snapshot.look_up_named(resource, namespace, name) == Presence::Absent,
            None => {
                let namespace = snapshot.strings.find(namespace)?;
                let here = |id: &ObjectId| snapshot.object(*id).namespace == namespace;
                snapshot.covers(resource, Some(namespace)) && !context.of_resource(resource).iter().any(here)
            }
        };
        lacks.then_some(kind)
    }

    /// Whether the policy judges or changes a write to an object. Nothing changes a DELETE (R9.34).
    pub(crate) fn judges(&self, context: &SimContext<'_>, object: ObjectId, operation: Operation) -> Called {
        if self.mutates && matches!(operation, Operation::Delete | Operation::DeleteCollection) {
            return Called::No;
        }
        let all = [Some(&self.facts.constraints), self.bound.constraints.as_ref()];
        let called: Vec<Called> =
            all.into_iter().flatten().map(|constraints| matches(context, constraints, object, operation)).collect();
        if called.contains(&Called::No) {
            Called::No
        } else if called.contains(&Called::Perhaps) || self.facts.conditional {
            Called::Perhaps
        } else {
            Called::Yes
        }
    }
}

fn matches(context: &SimContext<'_>, constraints: &Constraints, object: ObjectId, operation: Operation) -> Called {
    let snapshot = context.snapshot;
    let found = snapshot.object(object);
    let resource = snapshot.resources.get(found.resource);
    let name = if operation == Operation::DeleteCollection { "" } else { snapshot.text(found.name) };
    if !constraints.matches(resource, operation.subresource(), operation.name(), name) {
        return Called::No;
    }
    called_by(context, object, constraints.objects.as_ref(), constraints.namespaces.as_ref())
}
