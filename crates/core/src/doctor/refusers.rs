//! Who is asked about a write before it is made, and may refuse it.

use crate::{
    model::ObjectId,
    simulate::obstacles::{BoundPolicy, Called, Operation, WebhookCall},
};

use super::case::{Case, sorted};

/// The policies and webhooks that are asked about a write to an object: one of them may refuse it.
pub(super) fn who_may_refuse(
    case: &Case<'_>,
    calls: &[WebhookCall<'_>],
    policies: &[BoundPolicy<'_>],
    object: ObjectId,
    operation: Operation,
) -> Vec<String> {
    let judges =
        |policy: &&BoundPolicy<'_>| !policy.mutates && policy.judges(case.stage, object, operation) != Called::No;
    // A policy may be bound more than once.
    let policies = sorted(policies.iter().filter(judges).map(|policy| policy.policy));
    let policies = policies.into_iter().map(|policy| case.snapshot().short_name(policy));
    let resource = case.snapshot().resource(object);
    let hooks = calls.iter().filter(|call| call.webhook.matches(resource, operation.name()));
    let hooks = hooks.filter(|call| call.called_for(case.stage, object) != Called::No);
    let hooks = hooks.map(|call| format!("{} of {}", call.webhook.name, case.name(call.configuration, None)));
    policies.chain(hooks).collect()
}
