//! Which ValidatingAdmissionPolicies judge a write, and which MutatingAdmissionPolicies change it. Only constant
//! expressions are evaluated.

use crate::{
    model::{
        Coordinate, Mapping, ObjectId, Presence, ResourceId, Snapshot, Symbol,
        facts::{Constraints, ParameterReference},
    },
    simulate::context::SimContext,
};

use super::{
    admission::called_by,
    heeded::{BoundPolicy, Called, Operation},
};

/// Every policy that can refuse or change anything, with each of its bindings that puts it in force.
pub(crate) fn bound_policies<'a>(context: &SimContext<'a>) -> Vec<BoundPolicy<'a>> {
    let mut all = Vec::new();
    for mutates in [false, true] {
        add_bound(context, mutates, &mut all);
    }
    all
}

fn add_bound<'a>(context: &SimContext<'a>, mutates: bool, all: &mut Vec<BoundPolicy<'a>>) {
    let snapshot: &'a Snapshot = context.snapshot;
    let kind = if mutates { "MutatingAdmissionPolicy" } else { "ValidatingAdmissionPolicy" };
    let resource = |kind: &str| snapshot.resources.by_group_kind("admissionregistration.k8s.io", kind);
    let (Some(policies), Some(bindings)) = (resource(kind), resource(&format!("{kind}Binding"))) else { return };
    for binding in context.of_resource(bindings).iter().copied() {
        let Some(bound) = context.fact(binding, snapshot.facts.policy_binding(binding)) else { continue };
        let Some(name) = snapshot.strings.find(&bound.policy).filter(|_| bound.denies) else { continue };
        let coordinate = Coordinate { resource: policies, namespace: Symbol::EMPTY, name };
        let Presence::Present(policy) = snapshot.look_up(coordinate) else { continue };
        let facts = context.fact(policy, snapshot.facts.admission_policy(policy)).filter(|facts| facts.validates);
        all.extend(facts.map(|facts| BoundPolicy { policy, binding, mutates, facts, bound }));
    }
}

/// Why a policy refuses whatever it judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refuses<'a> {
    /// Its validation is the constant `false`.
    Constantly,
    /// Its parameters, of this kind, don't exist.
    Lacking(&'a str),
}

impl Refuses<'_> {
    pub(crate) fn lacks_parameters(self) -> bool {
        matches!(self, Refuses::Lacking(_))
    }

    /// The same as a clause.
    pub(crate) fn why(self) -> String {
        match self {
            Refuses::Lacking(kind) => {
                format!("its parameters of kind {kind} do not exist, and its binding refuses without them")
            }
            Refuses::Constantly => "its validation is the constant false".to_owned(),
        }
    }
}

impl BoundPolicy<'_> {
    /// Why the policy refuses whatever it judges of an object's kind and namespace, where these objects exist.
    pub(crate) fn refuses(
        &self,
        context: &SimContext<'_>,
        object: ObjectId,
        exists: impl Fn(ObjectId) -> bool,
    ) -> Option<Refuses<'_>> {
        if self.facts.refuses_all {
            return Some(Refuses::Constantly);
        }
        let reference = self.bound.required.as_deref().filter(|_| !self.facts.ignores_failures)?;
        let namespace = context.snapshot.namespace(object);
        self.lacked(context, reference, namespace, exists).map(Refuses::Lacking)
    }

    /// What becomes of the policy without this object, if that is the last of its parameters for some namespace:
    /// whether it refuses all then, or applies no longer (R9.45).
    pub(crate) fn refuses_without(
        &self,
        context: &SimContext<'_>,
        object: ObjectId,
        exists: impl Fn(ObjectId) -> bool,
    ) -> Option<bool> {
        let required = self.bound.required.as_deref();
        let reference = required.or(self.bound.optional.as_deref())?;
        let (found, snapshot) = (context.snapshot.object(object), context.snapshot);
        let (name, namespace) = (snapshot.text(found.name), snapshot.text(found.namespace));
        let is = |asked: &Option<String>, is: &str| asked.as_deref().is_none_or(|asked| asked == is);
        let (_, resource) = self.parameters(context)?;
        if found.resource != resource || !is(&reference.name, name) || !is(&reference.namespace, namespace) {
            return None;
        }
        // In a namespace that goes, too, nothing is written any more.
        let judged = context.namespace_named(found.namespace).filter(|_| reference.namespace.is_none());
        if judged.is_some_and(|namespace| !exists(namespace)) {
            return None;
        }
        self.lacked(context, reference, namespace, exists)?;
        Some(required.is_some() && !self.facts.ignores_failures)
    }

    /// The kind of the policy's parameters.
    fn parameters(&self, context: &SimContext<'_>) -> Option<(&str, ResourceId)> {
        let resources = &context.snapshot.resources;
        let (api_version, kind) = self.facts.parameters.as_deref()?;
        let Mapping::Served(resource) = resources.map(api_version, kind) else { return None };
        Some((kind, resources.picked(resource)))
    }

    /// The kind of the parameters that a binding names, if none of them exists for objects of this namespace:
    /// certainly, by a look-up or a list.
    fn lacked(
        &self,
        context: &SimContext<'_>,
        reference: &ParameterReference,
        namespace: &str,
        exists: impl Fn(ObjectId) -> bool,
    ) -> Option<&str> {
        let snapshot = context.snapshot;
        let (kind, resource) = self.parameters(context)?;
        let namespace = match &reference.namespace {
            _ if !snapshot.resources.get(resource).namespaced => "",
            Some(named) => named,
            None => namespace,
        };
        let lacks = match &reference.name {
            Some(name) => match snapshot.look_up_named(resource, namespace, name) {
                Presence::Present(parameters) => !exists(parameters),
                presence => presence == Presence::Absent,
            },
            None => {
                let namespace = snapshot.strings.find(namespace)?;
                let here = |id: &ObjectId| snapshot.object(*id).namespace == namespace && exists(*id);
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
