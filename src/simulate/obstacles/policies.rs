//! Which ValidatingAdmissionPolicies judge a write. Their expressions are not evaluated, except the constant `false`.

use crate::{
    model::{
        Coordinate, ObjectId, Presence, Snapshot, Symbol,
        facts::{AdmissionPolicyFacts, Constraints, PolicyBindingFacts},
    },
    simulate::world::{Needs, SimContext},
};

use super::admission::{Called, Operation, called_by};

/// A policy, and a binding that makes it deny.
#[derive(Debug)]
pub(crate) struct BoundPolicy<'a> {
    pub policy: ObjectId,
    pub binding: ObjectId,
    facts: &'a AdmissionPolicyFacts,
    bound: &'a PolicyBindingFacts,
}

/// Every policy with each of its bindings that denies.
pub(crate) fn bound_policies<'a>(context: &SimContext<'a>, needs: &mut Needs) -> Vec<BoundPolicy<'a>> {
    let snapshot: &'a Snapshot = context.snapshot;
    let kind = |kind| snapshot.resources.by_group_kind("admissionregistration.k8s.io", kind);
    let (Some(policies), Some(bindings)) =
        (kind("ValidatingAdmissionPolicy"), kind("ValidatingAdmissionPolicyBinding"))
    else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for binding in context.of_resource(bindings).iter().copied() {
        let Some(bound) = snapshot.facts.policy_binding(binding) else {
            needs.facts.insert(binding);
            continue;
        };
        let Some(name) = snapshot.strings.find(&bound.policy).filter(|_| bound.denies) else { continue };
        let coordinate = Coordinate { resource: policies, namespace: Symbol::EMPTY, name };
        let Presence::Present(policy) = snapshot.look_up(coordinate) else { continue };
        match snapshot.facts.admission_policy(policy) {
            Some(facts) if facts.validates => all.push(BoundPolicy { policy, binding, facts, bound }),
            Some(_) => {}
            None => {
                needs.facts.insert(policy);
            }
        }
    }
    all
}

impl BoundPolicy<'_> {
    /// Whether the policy refuses whatever it judges.
    pub(crate) fn refuses_all(&self) -> bool {
        self.facts.refuses_all
    }

    /// Whether the policy judges a write to an object.
    pub(crate) fn judges(&self, context: &SimContext<'_>, object: ObjectId, operation: Operation) -> Called {
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
    if !constraints.matches(resource, operation.subresource(), operation.name(), snapshot.text(found.name)) {
        return Called::No;
    }
    called_by(context, object, constraints.objects.as_ref(), constraints.namespaces.as_ref())
}
