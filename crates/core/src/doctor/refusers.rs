//! Who is asked about a write before it is made, and may refuse it; and who has refused it, as the API server says.

use std::slice;

use crate::{
    command_line::is_label,
    model::{
        ObjectId,
        facts::{Backend, Said, SliceFacts},
    },
    simulate::obstacles::{BoundPolicy, Called, Operation, Reach, WebhookCall, bound_policies, reach, webhook_calls},
    wording::grouped,
};

use super::{
    case::{Case, some_of, sorted},
    finding::{Remedy, Step},
    policies::let_pass,
    webhooks::asked,
};

/// Writes that somebody has refused.
pub(super) type Writes<'w> = &'w [(ObjectId, Operation)];

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
    let hooks = asked(calls, resource, operation).filter(|call| call.called_for(case.stage, object) != Called::No);
    let hooks = hooks.map(|call| format!("{} of {}", call.webhook.name, case.name(call.configuration, None)));
    policies.chain(hooks).collect()
}

/// What lets these writes pass that a message says were refused, first what shows why. If it is no proof, because many
/// may write it, nothing else is done because of it; nor about who isn't known to be asked about such a write.
pub(super) fn past_refusers(case: &Case<'_>, message: &str, writes: Writes<'_>, is_proof: bool) -> Vec<Remedy> {
    let calls = webhook_calls(case.stage);
    // The API server words it so (apiserver pkg/admission/plugin/webhook/generic, .../errors/statuserror.go).
    let uncalled = quoted(message, "failed calling webhook \"", '"');
    let uncalled = uncalled.map(|(name, _)| past_uncalled(case, &calls, name, writes));
    let denying = quoted(message, "admission webhook \"", '"');
    let denying = denying.filter(|(_, rest)| rest.starts_with(" denied") || rest.starts_with(" attempted"));
    let denying = denying.map(|(name, _)| past_denying(case, &calls, name, writes));
    let policy = quoted(message, "ValidatingAdmissionPolicy '", '\'').and_then(|(policy, rest)| {
        let (binding, _) = rest.strip_prefix(" with binding '")?.split_once('\'')?;
        Some(past_policy(case, [policy, binding], writes))
    });
    let all = [uncalled, denying, policy].into_iter().flatten().flatten();
    all.filter(|remedy| is_proof || remedy.step == Step::Look).collect()
}

/// The first of some objects of which something is said since its deletion, and what.
fn first_said(case: &Case<'_>, objects: &[ObjectId]) -> Option<(ObjectId, Said)> {
    let told = |id: &ObjectId| case.snapshot().facts.why_not_deleted(*id).map(|said| (*id, said));
    objects.iter().find_map(told).filter(|(_, said)| said.source.is_of_deletion())
}

/// Shows who refuses what controllers do, by what statuses and Events say.
pub(super) fn see_refusers(case: &Case<'_>, objects: &[ObjectId]) -> Vec<Remedy> {
    let said = first_said(case, objects);
    let see = said.map(|(id, said)| past_refusers(case, &said.words, &[(id, Operation::Update)], false));
    see.unwrap_or_default()
}

/// That a webhook which has refused what a controller does, as a status or an Event says, is asked about remedies, too:
/// a sentence; empty if none is said to.
pub(super) fn asked_again(case: &Case<'_>, objects: &[ObjectId]) -> String {
    let Some((id, said)) = first_said(case, objects).filter(|(_, said)| said.words.contains("webhook \"")) else {
        return String::new();
    };
    let asked = who_may_refuse(case, &webhook_calls(case.stage), &[], id, Operation::Update);
    let is_told =
        |asked: &&String| asked.split(' ').next().is_some_and(|name| said.words.contains(&format!("\"{name}\"")));
    let asked = asked.iter().find(is_told);
    asked.map(|asked| format!(" The webhook {asked} is asked about remedies below, too.")).unwrap_or_default()
}

/// What stands after these words in a message, up to a quotation mark, and what follows.
fn quoted<'m>(message: &'m str, words: &str, mark: char) -> Option<(&'m str, &'m str)> {
    message.split_once(words)?.1.split_once(mark)
}

/// Which of these a webhook is asked about.
fn asked_about(case: &Case<'_>, call: &WebhookCall<'_>, writes: Writes<'_>) -> Vec<ObjectId> {
    let is_asked = |(id, operation): &&(ObjectId, Operation)| {
        asked(slice::from_ref(call), case.snapshot().resource(*id), *operation).next().is_some()
            && call.called_for(case.stage, *id) != Called::No
    };
    writes.iter().filter(is_asked).map(|(id, _)| *id).collect()
}

/// The webhooks of a name, by their configurations; and the objects that they are asked about.
type Named = (Vec<(ObjectId, Vec<usize>)>, Vec<ObjectId>);

fn named(case: &Case<'_>, calls: &[&WebhookCall<'_>], writes: Writes<'_>) -> Named {
    let places = grouped(calls.iter().map(|call| (call.configuration, call.place)));
    (places, sorted(calls.iter().flat_map(|call| asked_about(case, call, writes))))
}

/// Shows which configuration has a webhook.
fn find_webhook(case: &Case<'_>, name: &str) -> Remedy {
    let kinds = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
    let of = if name.split('.').all(is_label) { format!(" has {name}, and why") } else { "s are asked".to_owned() };
    Step::Look.by(format!("see which webhook configuration{of}"), [case.kubectl.verb("get").arg(kinds)])
}

/// Past a webhook that can't be called.
fn past_uncalled(case: &Case<'_>, calls: &[WebhookCall<'_>], name: &str, writes: Writes<'_>) -> Vec<Remedy> {
    // What is known not to be reachable has a finding of its own.
    let is_known =
        |call: &WebhookCall<'_>| matches!(reach(case.stage, call.webhook.backend.as_ref()), Reach::Unreachable(_));
    let called: Vec<&WebhookCall<'_>> = calls.iter().filter(|call| call.webhook.name == name).collect();
    if called.is_empty() {
        return vec![find_webhook(case, name)];
    }
    let called: Vec<&WebhookCall<'_>> = called.into_iter().filter(|call| !is_known(call)).collect();
    let (places, asked) = named(case, &called, writes);
    let Some(first) = called.first() else { return Vec::new() };
    let configurations: Vec<ObjectId> = places.iter().map(|(configuration, _)| *configuration).collect();
    let (namespace, service) = first.webhook.backend.as_ref().and_then(Backend::service).unzip();
    let (namespace, service) = (namespace.unwrap_or_default(), service.unwrap_or_default());
    let label = format!("{}={service}", SliceFacts::SERVICE);
    let slices = case.kubectl.verb("get").arg("endpointslices.discovery.k8s.io").in_namespace(namespace);
    let slices = slices.filter(|_| is_label(service)).map(|get| get.args(["-l", &label]));
    let it = format!("the webhook {name} of {}", case.names(&configurations, None));
    let look = Step::Look.by(format!("see what answers for {it}, as the calls fail"), slices);
    if asked.is_empty() {
        return vec![look];
    }
    let pass = places.iter().filter_map(|(configuration, places)| case.commands().let_pass(*configuration, places));
    let pass = Step::GiveUp.by(format!("allow writes while {it} can't be called: they are then not checked"), pass);
    vec![look, pass, case.commands().without_webhooks(&configurations)]
}

/// Past a webhook that answers, and refuses.
fn past_denying(case: &Case<'_>, calls: &[WebhookCall<'_>], name: &str, writes: Writes<'_>) -> Vec<Remedy> {
    let called: Vec<&WebhookCall<'_>> = calls.iter().filter(|call| call.webhook.name == name).collect();
    if called.is_empty() {
        return vec![find_webhook(case, name)];
    }
    let (places, asked) = named(case, &called, writes);
    let configurations: Vec<ObjectId> = places.iter().map(|(configuration, _)| *configuration).collect();
    let names = case.names(&configurations, None);
    let look = configurations.iter().filter_map(|configuration| case.commands().get(*configuration));
    let look = Step::Look.by(format!("see what the webhook {name} of {names} protects: it refuses that"), look);
    let plurals = sorted(asked.iter().map(|id| case.snapshot().resource(*id).plural.as_str()));
    let each = plurals.iter().flat_map(|plural| places.iter().map(move |(at, places)| (*plural, *at, places)));
    let exempt = each.filter_map(|(plural, at, places)| case.commands().exempt(at, places, plural));
    let what = format!("exempt {} from {names}: it then checks none of these", some_of(&plurals));
    vec![look, Step::GiveUp.by(what, exempt).deciding(true)]
}

/// Past a policy, by its name and that of its binding.
fn past_policy(case: &Case<'_>, [name, binding]: [&str; 2], writes: Writes<'_>) -> Vec<Remedy> {
    let snapshot = case.snapshot();
    let policies = bound_policies(case.stage);
    let is_it = |it: &&BoundPolicy<'_>| snapshot.name(it.policy) == name && snapshot.name(it.binding) == binding;
    let Some(policy) = policies.iter().find(is_it) else {
        let get = |kind: &str, name: &str| case.kubectl.verb("get").object(kind, "", name);
        let both = [("validatingadmissionpolicies", name), ("validatingadmissionpolicybindings", binding)];
        let look = both.into_iter().filter_map(|(kind, name)| Some(get(kind, name)?.args(["-o", "yaml"])));
        return vec![Step::Look.by("see what the policy protects that refuses that, and why", look)];
    };
    let what = format!("see what {} protects, and why", case.name(policy.policy, None));
    let look = Step::Look.by(what, case.commands().get(policy.policy));
    let judged = writes.iter().find(|(id, operation)| policy.judges(case.stage, *id, *operation) != Called::No);
    let Some((object, operation)) = judged else { return vec![look] };
    let exempt = case.commands().exempt_namespace_controller(policy.policy);
    let what = "exempt the namespace controller from it: that then empties each namespace that somebody deletes";
    let exempt = Step::GiveUp.by(what, exempt.filter(|_| operation.deletes())).deciding(true);
    vec![look, exempt, Remedy { step: Step::GiveUp, ..let_pass(case, policy, *object) }]
}
