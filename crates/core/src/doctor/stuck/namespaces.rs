//! Namespaces that stay terminating (S16): what blocks them, and what their conditions say.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use serde_json::json;

use crate::{
    command_line::{SEE_MANAGER, ShellCommand, is_label},
    doctor::{
        Code, Finding, Remedy, Step,
        apis::convert,
        case::{Case, FindingsBuilder, sorted},
        code::Trait,
        refusers::past_refusers,
    },
    model::{
        ObjectId,
        effects::{EffectKind, Guard, Severity, add_on, known_finalizer_in},
        facts::{CONTENT_FAILURE, Condition},
    },
    server::OwnDelete,
    simulate::{
        BlockedBy, State,
        controllers::{held_by_these, is_workload},
        foreign_spec_finalizers,
        obstacles::Operation,
    },
    wording::{all_of, each_once},
};

use super::concern::{objects, since};

/// The namespace controller starts after 5 seconds, retries after 8 and then backs off: within this time, it may just
/// not be done.
const PATIENCE: i64 = 60;
/// At most this many APIs are named.
const NAMED_APIS: usize = 3;
/// The namespace controller looks again after half of the longest grace period of the pods that it has seen: so many
/// seconds if that was an hour (namespace_controller.go: worker).
const HALF_OF_GRACE: i64 = 1800;

/// Finds terminating namespaces that are blocked by something other than their content, which has findings of its own.
pub(super) fn gather(case: &Case<'_>, roots: &[(ObjectId, State)], findings: &mut FindingsBuilder) {
    let Some(resource) = case.stage.built_in.namespaces else { return };
    let roots: FxHashSet<ObjectId> = roots.iter().map(|(id, _)| *id).collect();
    for id in case.stage.of_resource(resource).iter().copied() {
        if !case.snapshot().object(id).terminating() || case.stage.rules(id).own_delete != OwnDelete::Namespace {
            continue;
        }
        if case.stage.fact(id, case.snapshot().facts.namespace(id)).is_none() {
            continue;
        }
        let foreign = foreign_spec_finalizers(case.snapshot(), id);
        let is_root = roots.contains(&id);
        if !foreign.is_empty() {
            findings.findings.push(spec_finalizers(case, id, &foreign));
            findings.explained.insert(id);
        } else if (!case.awaits_a_kubelet(id)
            && (is_root || case.has_been_terminating(id, PATIENCE) || is_said_to_stay(case, id))
            || case.stage.said_to_fail(id)
            || refused(case, id).is_some())
            && !(findings.explained.contains(&id) && explains(case, findings, id))
        {
            findings.findings.push(stuck(case, id));
        }
    }
}

/// Whether the findings so far say what the API server says of a namespace. A finalizer in it is no reason why it can't
/// be emptied.
fn explains(case: &Case<'_>, findings: &FindingsBuilder, id: ObjectId) -> bool {
    let is_told = |finding: &Finding| finding.code.has(Trait::Causes) && finding.related.contains(&id);
    !case.stage.said_to_fail(id) || findings.findings.iter().any(is_told)
}

/// Whether the API server says that a namespace can't be emptied, or, in a dump, which may be from any later time, that
/// it isn't empty.
fn is_said_to_stay(case: &Case<'_>, id: ObjectId) -> bool {
    case.stage.said_to_fail(id) || !case.live && !case.stage.still_said_to_keep(id).is_empty()
}

/// What the API server refuses to delete in a namespace, or that it is finalized, and why.
fn refused(case: &Case<'_>, id: ObjectId) -> Option<String> {
    let snapshot = case.snapshot();
    if let Some(why) = case.projection.why_refused(snapshot, id) {
        return Some(format!("finalize it: {why}"));
    }
    let content = case.stage.in_namespace(snapshot.object(id).name).iter();
    let mut live = content.filter(|object| !snapshot.object(**object).terminating());
    let (object, why) = live.find_map(|object| Some((*object, case.projection.why_refused(snapshot, *object)?)))?;
    Some(format!("delete {}: {why}", case.name(object, Some(id))))
}

/// Shows the objects that a namespace still has, as its conditions say, and that were not read.
fn show_remaining(case: &Case<'_>, id: ObjectId, said: &[&Condition]) -> Option<ShellCommand> {
    let namespace = case.snapshot().name(id);
    let content = case.stage.in_namespace(case.snapshot().object(id).name).iter();
    let read: BTreeSet<String> = content.map(|id| case.snapshot().resource(*id).full_name()).collect();
    let named = each_once(said.iter().flat_map(|condition| condition.remaining_resources()));
    let is_unread = |name: &String| name.split('.').all(is_label) && !read.contains(name);
    let kinds: Vec<String> = named.filter(is_unread).collect();
    let command = case.kubectl.verb("get").arg(kinds.join(",")).in_namespace(namespace)?;
    (!kinds.is_empty()).then_some(command)
}

/// The command that reduces a namespace's spec.finalizers to `keep`, which only the finalize subresource can do. The
/// uid protects a new namespace of the same name.
fn finalize(case: &Case<'_>, id: ObjectId, keep: &[&str]) -> Option<ShellCommand> {
    let snapshot = case.snapshot();
    let object = snapshot.object(id);
    let name = Some(snapshot.text(object.name)).filter(|name| is_label(name))?;
    let body = json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "uid": snapshot.text(object.uid)},
        "spec": {"finalizers": keep},
    });
    let path = format!("/api/v1/namespaces/{name}/finalize");
    // The `echo` of some shells interprets backslashes.
    let printed = ShellCommand::new("printf").args(["%s", &body.to_string()]);
    Some(printed.syntax("|").command(case.kubectl.verb("replace").args(["--raw", &path, "-f", "-"])))
}

fn spec_finalizers(case: &Case<'_>, id: ObjectId, foreign: &[&str]) -> Finding {
    let facts = case.snapshot().facts.namespace(id);
    let keep: Vec<&str> = facts
        .into_iter()
        .flat_map(|facts| facts.finalizers.iter().map(String::as_str))
        .filter(|finalizer| !foreign.contains(finalizer))
        .collect();
    Finding {
        severity: if case.stage.is_at_work(id) { Severity::Warning } else { Code::NamespaceSpecFinalizer.severity() },
        objects: vec![id],
        message: format!(
            "Terminating{}; its spec.finalizers contain {}, which no controller is known to remove.",
            since(case, &[id]),
            foreign.join(", ")
        ),
        consequence: "It stays Terminating, also once it is empty, and nothing can be created in it.".to_owned(),
        remedies: vec![Step::Force.by(
            if foreign.len() == 1 {
                "force-remove this finalizer from its spec (its cleanup will NOT run)"
            } else {
                "force-remove these finalizers from its spec (their cleanup will NOT run)"
            },
            finalize(case, id, &keep),
        )],
        ..Finding::of(Code::NamespaceSpecFinalizer, case.snapshot().text(case.snapshot().object(id).uid))
    }
}

/// What mends the conversion webhook that failed, as the API server words it: `conversion webhook for GROUP/VERSION,
/// Kind=KIND failed` (kubernetes/apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go).
fn unconverted(case: &Case<'_>, message: &str) -> Option<Vec<Remedy>> {
    let (version, rest) = message.split_once("conversion webhook for ")?.1.split_once(", Kind=")?;
    let (group, kind) = (version.split_once('/')?.0, rest.split(' ').next()?);
    let facts = |id: &ObjectId| case.snapshot().facts.definition(*id);
    let is_its = |id: &&ObjectId| facts(id).is_some_and(|facts| facts.group == group && facts.kind == kind);
    let definitions = case.stage.built_in.definitions.map_or(&[][..], |kind| case.stage.of_resource(kind));
    let Some(definition) = definitions.iter().find(is_its) else {
        let conversion = format!("jsonpath={{.items[?(@.spec.names.kind==\"{kind}\")].spec.conversion}}");
        let look = case.kubectl.verb("get").args(["customresourcedefinitions", "-o", &conversion]);
        let look = Some(look).filter(|_| kind.chars().all(char::is_alphanumeric));
        return Some(vec![Step::Look.by(format!("mend the conversion webhook of {kind}: see which it is"), look)]);
    };
    let backend = facts(definition).and_then(|facts| facts.conversion.as_deref());
    Some(convert(case, &[*definition], backend, message).1)
}

/// What makes APIs answer that could not be discovered, or does without them.
fn discover(case: &Case<'_>, failure: &Condition) -> Vec<Remedy> {
    let (mut undiscovered, get) = (failure.undiscovered(), || case.kubectl.verb("get"));
    undiscovered.retain(|(group, version)| group.split('.').all(is_label) && is_label(version));
    undiscovered.truncate(NAMED_APIS);
    let these = if undiscovered.len() == 1 { "this API does" } else { "these APIs do" };
    let name = |(group, version): &(&str, &str)| format!("{version}.{group}");
    let service = |of: &(&str, &str)| get().object("apiservices", "", &name(of));
    let look = match undiscovered.as_slice() {
        [] => Step::Look.by("see which APIs do not answer", [get().arg("apiservices")]),
        // The API server's checks of their servers pass, but these don't list what they serve
        // (kubernetes/kube-aggregator pkg/apiserver/handler_discovery.go).
        all if failure.message.contains("stale GroupVersion") => Step::Look.by(
            format!("see why {these} not list anything, though available (stale); restart or upgrade the server"),
            all.iter().map(|(group, version)| get().args(["--raw", &format!("/apis/{group}/{version}")])),
        ),
        all => {
            let look = all.iter().filter_map(service).map(|command| command.args(["-o", "yaml"]));
            Step::Look.by(format!("see why {these} not answer"), look)
        }
    };
    let is_named = |id: &ObjectId| {
        let is_of_others = case.snapshot().facts.api_service(*id).is_some_and(|facts| facts.service.is_some());
        is_of_others && undiscovered.iter().any(|of| name(of) == case.snapshot().name(*id))
    };
    let services = case.stage.of_resource(case.stage.built_in.api_services).iter().copied();
    vec![look, case.commands().unregister(&services.filter(is_named).collect::<Vec<_>>())]
}

/// The value for which the API server refuses to delete an object (R9.48).
fn guard_of(case: &Case<'_>, object: ObjectId) -> Option<&'static Guard> {
    match case.projection.refused(object)? {
        BlockedBy::Guard(_, guard) => Some(guard),
        _ => None,
    }
}

/// Who removes a finalizer that a condition of a namespace names, whether that is a part of Kubernetes, and what it
/// does before that which can't be undone: a sentence.
type Remover = (&'static str, bool, Option<String>);

/// Those that a table knows.
fn removers(said: &[&Condition]) -> Vec<Remover> {
    let resources: Vec<String> = said.iter().flat_map(|condition| condition.remaining_resources()).collect();
    let remover = |finalizer: &str| {
        let Some(known) = known_finalizer_in(finalizer, &resources) else {
            let groups = resources.iter().filter_map(|resource| Some(resource.split_once('.')?.1));
            let add_on = groups.chain([""]).find_map(|group| add_on(finalizer, group, ""))?;
            return Some((add_on.name, false, None));
        };
        let cost = match known.does {
            Some(kind) if kind.severity() == Severity::Error => {
                let before = if kind == EffectKind::DataLost { "DATA LOSS: before" } else { "Before" };
                let unless = if known.policy.is_some() { ", unless its settings keep that" } else { "" };
                Some(format!("{before} {} removes {finalizer}, {}{unless}.", known.by, known.says))
            }
            _ => None,
        };
        Some((known.by, known.is_kubernetes_own(), cost))
    };
    said.iter().flat_map(|condition| condition.remaining_finalizers()).filter_map(remover).collect()
}

/// The Terminating objects outside of a namespace whose finalizers only workloads in it remove, or may remove, and a
/// sentence about them.
fn waiting_for_workloads(case: &Case<'_>, id: ObjectId, live: &[ObjectId]) -> Option<(Vec<ObjectId>, String)> {
    let snapshot = case.snapshot();
    let workloads = live.iter().copied().filter(|id| is_workload(case.stage, *id)).collect::<Vec<_>>();
    if workloads.is_empty() {
        return None;
    }
    let is_outside = |held: ObjectId| {
        let object = snapshot.object(held);
        object.terminating() && held != id && snapshot.text(object.namespace) != snapshot.name(id)
    };
    let mut held = held_by_these(case.stage, &workloads);
    held.retain(|(held, ..)| is_outside(*held));
    let is_known = held.iter().any(|(_, _, controller)| controller.may_be.is_empty());
    let by = sorted(held.iter().flat_map(|(_, _, it)| it.acting().iter().chain(&it.idle)).copied());
    let waiting = sorted(held.iter().map(|(held, ..)| *held));
    let one = waiting.len() == 1;
    let (wait, its) = (if one { "waits" } else { "wait" }, if one { "its finalizer" } else { "their finalizers" });
    let goes = if by.len() == 1 { "that goes" } else { "these go" };
    let (named, by) = (case.names(&waiting, Some(id)), case.names(&by, Some(id)));
    let wait = if is_known { wait } else { "may wait" };
    let words = format!(" {named} {wait} for {by}: once {goes}, nobody removes {its}.");
    (!waiting.is_empty()).then_some((waiting, words))
}

/// A namespace that no other finding explains.
fn stuck(case: &Case<'_>, id: ObjectId) -> Finding {
    let snapshot = case.snapshot();
    let said = snapshot.facts.said_to_keep(id);
    let content: Vec<ObjectId> = case.stage.in_namespace(snapshot.object(id).name).to_vec();
    let unreadable: Vec<String> = case
        .projection
        .holders(id)
        .iter()
        .filter_map(|holder| match holder {
            BlockedBy::Unreadable(place) => snapshot.gaps.get(*place).map(ToString::to_string),
            _ => None,
        })
        .collect();
    let remains = said.iter().any(|condition| !condition.fails());
    let is_emptied = snapshot.facts.namespace(id).is_some_and(|facts| facts.emptied) && said.is_empty();
    // A dump may lack what is in it.
    let is_hidden = !case.live && !is_emptied && !snapshot.may_hide(&[id]).is_empty();
    // All that its conditions name was read, and is gone. The namespace controller looks again after at most a minute
    // (`nsControllerRateLimiter`), and writes the conditions then.
    let is_older = !said.is_empty()
        && case.stage.still_said_to_keep(id).is_empty()
        && unreadable.is_empty()
        && refused(case, id).is_none();
    // No pass has come to an end: the first one has found pods, which are gone now.
    let is_awaited = snapshot.facts.namespace(id).is_some_and(|facts| facts.conditions.is_empty())
        && !content.is_empty()
        && !content.iter().any(|id| snapshot.object(*id).terminating() || case.stage.rules(*id).graceful)
        && unreadable.is_empty()
        && refused(case, id).is_none()
        && !case.has_been_terminating(id, HALF_OF_GRACE);
    let left = if is_older && content.is_empty() {
        "nothing is left in it: what its conditions say is older".to_owned()
    } else if is_older {
        format!("{} left in it, but nothing of what its conditions name: they are older", objects(content.len()))
    } else if content.is_empty() && is_emptied && !case.live {
        "nothing is left in it, as its conditions say".to_owned()
    } else if content.is_empty() && (remains || is_hidden) {
        "what is left in it was not read".to_owned()
    } else if content.is_empty() {
        "nothing visible is left in it".to_owned()
    } else {
        format!("{} left in it", objects(content.len()))
    };
    let mut message = format!("Terminating{}, and {left}.", since(case, &[id]));
    if !unreadable.is_empty() {
        message.push_str(&format!(" It may contain objects that cannot be read: {}.", unreadable.join("; ")));
    }
    for condition in &said {
        message.push_str(&format!(" {}.", condition.in_words()));
    }
    let guarded: Vec<(ObjectId, &'static Guard)> =
        content.iter().filter_map(|id| Some((*id, guard_of(case, *id)?))).collect();
    // What follows says it where the API server doesn't.
    if let Some((first, guard)) = guarded.first().filter(|_| case.stage.said_to_fail(id)) {
        let more = guarded.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" So are {more} more.") };
        message.push_str(&format!(" {} is protected: {}.{more}", case.name(*first, Some(id)), guard.says()));
    }
    let is_away = case.manager_away().is_some();
    let is_awaited = is_awaited && !is_away;
    let removers = if content.is_empty() { removers(&said) } else { Vec::new() };
    let names = |of: &dyn Fn(&&Remover) -> bool| -> Vec<&str> {
        each_once(removers.iter().filter(of).map(|(by, ..)| *by)).collect()
    };
    let consequence = if is_older && !is_away || is_awaited {
        "The namespace controller looks again within a minute, or after half of the grace period of the pods that \
         were in it. If it stays for longer, that controller makes no progress."
            .to_owned()
    } else if case.stage.said_to_fail(id) {
        "It stays until that is mended.".to_owned()
    } else if let Some(refused) = refused(case, id) {
        format!("It stays as long as the API server refuses to {refused}.")
    } else if said.iter().any(|condition| condition.kind == "NamespaceFinalizersRemaining") {
        let by = match all_of(&names(&|_| true), "and") {
            names if names.is_empty() => names,
            names => format!(" (by {names}, as far as is known)"),
        };
        format!("It stays until the finalizers of what is in it are removed{by}.")
    } else if remains {
        "It stays until what is left in it is deleted.".to_owned()
    } else if unreadable.is_empty() && is_away {
        "It stays until kube-controller-manager runs, whose namespace controller empties it.".to_owned()
    } else if unreadable.is_empty() {
        "It stays until the namespace controller, a part of kube-controller-manager, makes progress.".to_owned()
    } else {
        "It stays until the unreadable APIs answer again or are removed; so does every namespace that is \
         deleted from now on."
            .to_owned()
    };
    let live: Vec<ObjectId> = content.iter().copied().filter(|id| !snapshot.object(*id).terminating()).collect();
    let abandoned = waiting_for_workloads(case, id, &live);
    message.extend(abandoned.iter().map(|(_, words)| words.as_str()));
    let delete = case.commands().delete(&live, "background", &[]);
    let mut remedies = Vec::new();
    if is_away {
        remedies.push(case.commands().start_manager());
    }
    if is_awaited {
        let look = case.commands().about("annotate", id).map(|command| command.args(["--overwrite", "look=again"]));
        remedies.push(Step::Heal.by("make the namespace controller look now: any change of the Namespace does", look));
    }
    let fails = |what: &str| said.iter().any(|condition| condition.fails() && condition.message.contains(what));
    let see = |what: &str, kinds: &str| Step::Look.by(what, [case.kubectl.verb("get").arg(kinds)]);
    if let Some(failure) = said.iter().find(|condition| condition.kind == "NamespaceDeletionDiscoveryFailure") {
        remedies.extend(discover(case, failure));
    }
    if said.iter().any(|condition| condition.kind == "NamespaceDeletionGroupVersionParsingFailure") {
        remedies.push(see("see which API has a version that is none, and remove it", "apiservices"));
    }
    let is_told = refused(case, id).is_some();
    let convert = said.iter().filter(|condition| condition.fails()).find_map(|it| unconverted(case, &it.message));
    let content_writes: Vec<(ObjectId, Operation)> =
        live.iter().map(|id| (*id, Operation::of_content(snapshot, *id))).collect();
    let failure = said.iter().find(|condition| condition.kind == CONTENT_FAILURE);
    // Only the namespace controller may write these conditions.
    let past = failure.map(|failure| past_refusers(case, &failure.message, &content_writes, true));
    let past = past.filter(|past| !past.is_empty());
    if let Some(past) = convert.or(past.filter(|_| !is_told)) {
        remedies.extend(past);
    } else if fails("webhook") && !is_told {
        let webhooks = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
        remedies.push(see("see which webhooks are asked", webhooks));
    } else if fails("ValidatingAdmissionPolicy") && !is_told {
        let policies = "validatingadmissionpolicies,validatingadmissionpolicybindings";
        remedies.push(see("see which policies refuse that, and whom they protect", policies));
    }
    remedies.push(case.commands().unprotect(guarded.iter().copied()));
    if let Some((waiting, _)) = &abandoned {
        let look = waiting.iter().take(NAMED_APIS).filter_map(|id| case.commands().about("describe", *id));
        let what = format!("see why {} did not go: nobody lets that go afterwards", case.names(waiting, Some(id)));
        remedies.push(Step::Look.by(what, look).before_others());
    }
    let what = if fails("") {
        "delete the remaining objects in it, as the namespace controller would: the answers say what is wrong"
    } else {
        "delete the remaining objects in it, as the namespace controller would"
    };
    // R9.10: while a pod is left, nothing else is deleted.
    let is_hung_pod = |id: &&ObjectId| {
        let object = snapshot.object(**id);
        object.terminating() && object.finalizers.is_empty() && case.stage.rules(**id).graceful
    };
    let hung: Vec<ObjectId> = content.iter().filter(is_hung_pod).copied().collect();
    if !hung.is_empty() {
        remedies.push(case.commands().force_pods(&hung));
    } else if !live.is_empty() && !is_away && !is_awaited {
        // Nobody else removes its own entry in spec.finalizers.
        remedies.push(Step::GiveUp.by(what, delete).deciding(abandoned.is_some()));
    }
    remedies.push(Step::Look.by("see what is left in it", show_remaining(case, id, &said)));
    let others = names(&|(_, is_own, _)| !is_own);
    if !others.is_empty() {
        let runs = format!("see whether {} runs: it then removes the finalizers", all_of(&others, "and"));
        remedies.push(Step::Look.by(runs, [case.commands().see_workloads()]));
    }
    if said.is_empty() && is_hidden {
        remedies.push(Step::Look.by("see what its conditions say keeps it", case.commands().get(id)));
    }
    let seems_empty = said.is_empty() && !is_hidden && case.projection.refused(id).is_none();
    if seems_empty && content.is_empty() && !is_away {
        let look = case.kubectl.verb("get").args(SEE_MANAGER);
        remedies
            .push(Step::Look.by("see whether kube-controller-manager runs, and read what its log says of it", [look]));
    }
    // Beside a condition that says that it isn't empty, and where that is not known, this leaves objects behind. A
    // namespace controller that runs again does the rest by itself.
    if seems_empty && !is_away && !is_awaited {
        remedies.push(Step::Force.by(
            "force-finalize the namespace: objects that are still in it stay in etcd forever, invisible",
            finalize(case, id, &[]),
        ));
    }
    Finding {
        severity: if is_older || is_awaited { Severity::Warning } else { Code::NamespaceStuck.severity() },
        objects: vec![id],
        related: content,
        message,
        consequence,
        irreversible: removers.into_iter().filter_map(|(_, _, cost)| cost).collect(),
        remedies,
        ..Finding::of(Code::NamespaceStuck, snapshot.text(snapshot.object(id).uid))
    }
}
