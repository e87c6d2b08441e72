//! Who is asked about a write before it is made, and may refuse it; and who has refused it, as the API server says.

use std::{
    collections::{BTreeMap, BTreeSet},
    slice,
};

use rustc_hash::FxHashSet;
use serde_json::json;

use crate::{
    command_line::{ShellCommand, is_label},
    model::{
        ObjectId, Symbol,
        facts::{Backend, Said, SliceFacts},
    },
    simulate::obstacles::{BoundPolicy, Called, Operation, Reach, WebhookCall, bound_policies, reach, webhook_calls},
    wording::grouped,
};

use super::{
    case::{Case, some_of, sorted},
    causes::writes,
    code::Code,
    finding::{Finding, Remedy, Step},
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
    let hooks = hooks.map(|call| named_with(case, call));
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

/// What lets a change pass that somebody denies who is asked about it, as is said of one of these objects since its
/// delete; nothing if that isn't so. First to satisfy what is asked; who exempts somebody has to decide that.
pub(super) fn past_denial(case: &Case<'_>, objects: &[ObjectId]) -> Vec<Remedy> {
    let Some((id, said)) = first_said(case, objects) else { return Vec::new() };
    let past = past_refusers(case, &said.words, &[(id, Operation::Update)], true);
    let is_look = |remedy: &Remedy| remedy.step == Step::Look || remedy.commands.is_empty();
    if !said.words.contains(" denied ") || past.iter().all(is_look) {
        return Vec::new();
    }
    let satisfy = "satisfy what is asked there: change the object, or what it is about; its controller tries again";
    [Step::Heal.by(satisfy, case.commands().edit(id))].into_iter().chain(past).collect()
}

/// Names in findings about finalizers the webhooks whose rules are about such objects, and that may answer: they are
/// asked about what the controllers do, and the remedies.
pub(super) fn name_asked(case: &Case<'_>, calls: &[WebhookCall<'_>], findings: &mut [Finding]) {
    let of_finalizers = [Code::SlowFinalizer, Code::StuckFinalizer, Code::ArmedDeletion];
    for finding in findings.iter_mut().filter(|finding| of_finalizers.contains(&finding.code)) {
        let Some(first) = finding.objects.first().copied() else { continue };
        let asked = who_is_asked_about(case, calls, first);
        let is_told = |call: &&WebhookCall<'_>| finding.consequence.contains(&call.webhook.name);
        let asked: Vec<String> =
            asked.iter().filter(|call| !is_told(call)).map(|call| named_with(case, call)).collect();
        let changes = |remedy: &Remedy| writes(remedy).any(|write| write == (first, Operation::Update));
        let Some(force) = finding.remedies.iter_mut().rfind(|it| it.step == Step::Force && changes(it)) else {
            continue;
        };
        if asked.is_empty() {
            continue;
        }
        let (is, lets) = if asked.len() == 1 { ("is", "lets") } else { ("are", "let") };
        let it = if finding.objects.len() == 1 { "it" } else { "them" };
        let asked = some_of(&asked);
        force.what.push_str(&format!(", if {asked} {lets} that pass"));
        let then = format!(" {asked} {is} asked about each change of {it}, and may refuse that.");
        finding.consequence.push_str(&then);
    }
}

/// The webhooks that may answer, and whose rules are about changes of such an object by name.
pub(super) fn who_is_asked_about<'c, 'a>(
    case: &Case<'_>,
    calls: &'c [WebhookCall<'a>],
    object: ObjectId,
) -> Vec<&'c WebhookCall<'a>> {
    let resource = case.snapshot().resource(object);
    let about = calls.iter().filter(|call| call.webhook.is_about(resource, Operation::Update.name()));
    let asked = about.filter(|call| call.called_for(case.stage, object) != Called::No);
    let answers =
        |call: &&WebhookCall<'_>| !matches!(reach(case.stage, call.webhook.backend.as_ref()), Reach::Unreachable(_));
    asked.filter(answers).collect()
}

/// A webhook, and the configuration that has it.
pub(super) fn named_with(case: &Case<'_>, call: &WebhookCall<'_>) -> String {
    format!("{} of {}", call.webhook.name, case.name(call.configuration, None))
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
    let exempt = Step::GiveUp.by(what, exempt).deciding(true);
    if asked.is_empty() {
        return vec![look, exempt];
    }
    let unselect = called.iter().flat_map(|call| asked.iter().filter_map(|id| unselected(case, call, *id)));
    let what = format!("label what {names} then no longer selects");
    let label = |(id, key, value): (ObjectId, &str, Option<&str>)| {
        case.commands().merge(id, &json!({"metadata": {"labels": {key: value}}}))
    };
    let unselect = Step::GiveUp.by(what, sorted(unselect).into_iter().filter_map(label));
    let take = configurations.iter().filter_map(|configuration| case.commands().take_away(*configuration));
    let what = format!("delete {names}, and keep a copy to apply it again: until then it checks nothing");
    vec![look, unselect.deciding(true), exempt, Step::GiveUp.by(what, take).deciding(true)]
}

/// A label with which a webhook no longer selects an object, or its namespace: which of both, its key, and its value;
/// `None` for the value takes it away.
fn unselected<'a>(
    case: &Case<'_>,
    call: &WebhookCall<'a>,
    object: ObjectId,
) -> Option<(ObjectId, &'a str, Option<&'a str>)> {
    let namespace = case.stage.namespace_named(case.snapshot().object(object).namespace);
    let [objects, namespaces] = [&call.webhook.objects, &call.webhook.namespaces];
    let selectors = [objects.as_ref().zip(Some(object)), namespaces.as_ref().zip(namespace)];
    let mut requirements = selectors.into_iter().flatten().flat_map(|(all, id)| all.0.iter().map(move |it| (id, it)));
    requirements.find_map(|(id, it)| match it.operator.as_str() {
        "DoesNotExist" => Some((id, it.key.as_str(), Some("true"))),
        "NotIn" => Some((id, it.key.as_str(), Some(it.values.first()?.as_str()))),
        // The API server keeps the label of a name.
        "In" | "Exists" if it.key != "kubernetes.io/metadata.name" => Some((id, it.key.as_str(), None)),
        _ => None,
    })
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

/// The MutatingAdmissionPolicies that may put a finalizer back, and the webhooks, by configuration: they are asked
/// about each change, and nobody is recorded to have set it. What these add, no client has set (apiserver
/// endpoints/handlers/update.go).
pub(in crate::doctor) fn who_puts_it_back(
    case: &Case<'_>,
    finalizers: &[Symbol],
    objects: &[ObjectId],
) -> BTreeMap<ObjectId, Vec<usize>> {
    let snapshot = case.snapshot();
    let is_unrecorded = |id: &&ObjectId| {
        let setters = snapshot.facts.setters(**id);
        let set: Option<FxHashSet<&str>> = setters.map(|all| all.iter().map(|it| it.finalizer.as_str()).collect());
        set.is_some_and(|set| finalizers.iter().any(|finalizer| !set.contains(snapshot.text(*finalizer))))
    };
    let mut by: BTreeMap<ObjectId, Vec<usize>> = BTreeMap::new();
    let Some(object) = objects.iter().find(is_unrecorded).copied() else { return by };
    let resource = snapshot.resource(object);
    for call in webhook_calls(case.stage) {
        let is_asked = snapshot.resource(call.configuration).kind == "MutatingWebhookConfiguration"
            && call.webhook.matches(resource, Operation::Update.name())
            && call.called_for(case.stage, object) == Called::Yes;
        if is_asked && !matches!(reach(case.stage, call.webhook.backend.as_ref()), Reach::Unreachable(_)) {
            by.entry(call.configuration).or_default().push(call.place);
        }
    }
    for policy in bound_policies(case.stage).iter().filter(|policy| policy.mutates) {
        if policy.judges(case.stage, object, Operation::Update) == Called::Yes {
            by.entry(policy.policy).or_default();
        }
    }
    by
}

/// Exempts these objects from the webhooks that put a finalizer back: its removal is in vain before.
pub(in crate::doctor) fn exempt(
    case: &Case<'_>,
    by: &BTreeMap<ObjectId, Vec<usize>>,
    objects: &[ObjectId],
) -> Vec<ShellCommand> {
    let plurals = objects.iter().map(|id| case.snapshot().resource(*id).plural.as_str());
    let plurals: BTreeSet<&str> = plurals.collect();
    let each = plurals.iter().flat_map(|plural| by.iter().map(move |(at, places)| (*plural, *at, places)));
    each.filter_map(|(plural, at, places)| case.commands().exempt(at, places, plural)).collect()
}
