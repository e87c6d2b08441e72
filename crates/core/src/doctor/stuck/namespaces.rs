//! Namespaces that stay terminating (S16): what blocks them, and what their conditions say.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;
use serde_json::json;

use crate::{
    command_line::{SEE_MANAGER, ShellCommand, is_label},
    doctor::{
        Code, Finding, Step,
        case::{Case, FindingsBuilder},
        code::Trait,
        collector::start_manager,
    },
    model::{
        ObjectId,
        effects::{Guard, Severity},
        facts::Condition,
    },
    server::OwnDelete,
    simulate::{BlockedBy, State, converter, foreign_spec_finalizers},
    wording::each_once,
};

use super::{
    concern::{may_be_at_work, objects, since},
    pods::force,
};

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
        severity: if may_be_at_work(case, id) { Severity::Warning } else { Code::NamespaceSpecFinalizer.severity() },
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

/// The CRD whose conversion webhook failed, and that webhook, as the API server words it: `conversion webhook for
/// GROUP/VERSION, Kind=KIND failed` (kubernetes/apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go).
fn unconverted(case: &Case<'_>, message: &str) -> Option<(ObjectId, String)> {
    let (version, rest) = message.split_once("conversion webhook for ")?.1.split_once(", Kind=")?;
    let (group, kind) = (version.split_once('/')?.0, rest.split(' ').next()?);
    let snapshot = case.snapshot();
    let is_its = |id: &&ObjectId| {
        snapshot.facts.definition(**id).is_some_and(|facts| facts.group == group && facts.kind == kind)
    };
    let definition = *case.stage.of_resource(case.stage.built_in.definitions?).iter().find(is_its)?;
    Some((definition, converter(snapshot, definition)?))
}

/// The APIServices of what could not be discovered, as client-go words it: `unable to retrieve the complete list of
/// server APIs: GROUP/VERSION: why, GROUP/VERSION: why` (discovery_client.go: ErrGroupDiscoveryFailed).
fn undiscovered(message: &str) -> Vec<String> {
    let Some((_, failed)) = message.split_once("complete list of server APIs: ") else { return Vec::new() };
    let named = failed.split(' ').filter_map(|word| word.strip_suffix(':')?.split_once('/'));
    let named = named.filter(|(group, version)| group.split('.').all(is_label) && is_label(version));
    named.take(NAMED_APIS).map(|(group, version)| format!("{version}.{group}")).collect()
}

/// The value for which the API server refuses to delete an object (R9.48).
fn guard_of(case: &Case<'_>, object: ObjectId) -> Option<&'static Guard> {
    match case.projection.refused(object)? {
        BlockedBy::Guard(_, guard) => Some(guard),
        _ => None,
    }
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
    // A dump may lack what is in it.
    let is_hidden = !case.live && !snapshot.may_hide(&[id]).is_empty();
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
    let consequence = if is_older && !is_away || is_awaited {
        "The namespace controller looks again within a minute, or after half of the grace period of the pods that \
         were in it. If it stays for longer, that controller makes no progress."
            .to_owned()
    } else if case.stage.said_to_fail(id) {
        "It stays until what the API server says is mended.".to_owned()
    } else if let Some(refused) = refused(case, id) {
        format!("It stays as long as the API server refuses to {refused}.")
    } else if said.iter().any(|condition| condition.kind == "NamespaceFinalizersRemaining") {
        "It stays until the finalizers of what is in it are removed.".to_owned()
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
    let delete = case.commands().delete(&live, "background", &[]);
    let mut remedies = Vec::new();
    if is_away {
        remedies.push(start_manager(case));
    }
    if is_awaited {
        let look = case.commands().about("annotate", id).map(|command| command.args(["--overwrite", "look=again"]));
        remedies.push(Step::Heal.by("make the namespace controller look now: any change of the Namespace does", look));
    }
    let fails = |what: &str| said.iter().any(|condition| condition.fails() && condition.message.contains(what));
    let see = |what: &str, kinds: &str| Step::Look.by(what, [case.kubectl.verb("get").arg(kinds)]);
    if let Some(failure) = said.iter().find(|condition| condition.kind == "NamespaceDeletionDiscoveryFailure") {
        let services = undiscovered(&failure.message);
        let get = |name: &String| case.kubectl.verb("get").object("apiservices", "", name);
        let look = services.iter().filter_map(get).map(|command| command.args(["-o", "yaml"]));
        remedies.push(match services.as_slice() {
            [] => see("see which APIs do not answer", "apiservices"),
            [_] => Step::Look.by("see why this API does not answer", look),
            _ => Step::Look.by("see why these APIs do not answer", look),
        });
    }
    if said.iter().any(|condition| condition.kind == "NamespaceDeletionGroupVersionParsingFailure") {
        remedies.push(see("see which API has a version that is none, and remove it", "apiservices"));
    }
    let is_told = refused(case, id).is_some();
    let converted = said.iter().filter(|condition| condition.fails()).find_map(|it| unconverted(case, &it.message));
    if let Some((definition, by)) = converted {
        let conversion = case.commands().about("get", definition);
        let conversion = conversion.map(|command| command.args(["-o", "jsonpath={.spec.conversion}"]));
        let what = format!("mend the conversion webhook of {}: {by}", snapshot.short_name(definition));
        remedies.push(Step::Look.by(what, conversion));
    } else if fails("webhook") && !is_told {
        let webhooks = "validatingwebhookconfigurations,mutatingwebhookconfigurations";
        remedies.push(see("see which webhooks are asked", webhooks));
    }
    if fails("ValidatingAdmissionPolicy") && !is_told {
        let policies = "validatingadmissionpolicies,validatingadmissionpolicybindings";
        remedies.push(see("see which policies refuse that, and whom they protect", policies));
    }
    let lift = guarded.iter().filter_map(|(id, guard)| case.commands().lift(*id, guard));
    let lift = Step::GiveUp.by("take the protection away, which somebody set on purpose", lift);
    remedies.push(lift.deciding(true));
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
        remedies.push(force(case, &hung));
    } else if !live.is_empty() && !is_away && !is_awaited {
        // Nobody else removes its own entry in spec.finalizers.
        remedies.push(Step::GiveUp.by(what, delete));
    }
    remedies.push(Step::Look.by("see what is left in it", show_remaining(case, id, &said)));
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
        remedies,
        ..Finding::of(Code::NamespaceStuck, snapshot.text(snapshot.object(id).uid))
    }
}
