//! What keeps the collector and other clients from reading: aggregated APIs that don't answer, conversion webhooks that
//! fail, objects that can't be decoded, lists that can't be read (R2.6, R2.7, R9.11, S11, S19).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::{
    command_line::{ShellCommand, is_label},
    model::{
        Coordinate, GapKind, ListRecord, ObjectId, Origin, Resource, Symbol,
        effects::Severity,
        facts::{ApiServiceFacts, Backend, CONTENT_FAILURE, DefinitionFacts},
    },
    simulate::{
        AT_WORK,
        obstacles::{Lack, Reach, behind, reach, why_unreachable},
    },
    wording::{all_of, each_once, grouped},
};

use super::{
    case::{Case, FindingsBuilder, some_of},
    code::Code,
    finding::{Finding, Remedy, Step},
    stuck::concern::since,
};

/// Finds resources that can't be read, and why.
pub(super) fn gather(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let mut explained: BTreeSet<String> = BTreeSet::new();
    services(case, findings, &mut explained);
    // A resource that a dump lacks is no problem of the cluster.
    if matches!(case.snapshot().origin, Origin::Cluster { .. }) {
        lists(case, findings, &explained);
    }
    definitions(case, findings);
}

/// The condition of a namespace whose controller can't learn what an API has.
const NOT_DISCOVERED: &str = "NamespaceDeletionDiscoveryFailure";

/// Terminating namespaces, which remain as long as a resource can't be read (R9.11). Marks those without any other
/// content as explained, unless their conditions say something else than `condition`.
fn hanging_namespaces(case: &Case<'_>, findings: &mut FindingsBuilder, condition: &str) -> Vec<ObjectId> {
    let namespaces = case.stage.of_resource(case.stage.built_in.namespaces);
    let terminating: Vec<ObjectId> =
        namespaces.iter().copied().filter(|id| case.snapshot().object(*id).terminating()).collect();
    let is_empty = |id: &&ObjectId| case.stage.in_namespace(case.snapshot().object(**id).name).is_empty();
    let has_this_cause = |id: &&ObjectId| {
        let said = case.snapshot().facts.said_to_keep(**id);
        said.is_empty() || said.iter().any(|it| it.kind == condition)
    };
    findings.explained.extend(terminating.iter().filter(is_empty).filter(has_this_cause));
    terminating
}

/// Reports APIServices that are not available, and adds their group versions to `explained`. Those of one Service are
/// one finding.
fn services(case: &Case<'_>, findings: &mut FindingsBuilder, explained: &mut BTreeSet<String>) {
    let snapshot = case.snapshot();
    let mut groups: BTreeMap<String, Vec<(ObjectId, &ApiServiceFacts)>> = BTreeMap::new();
    for id in case.stage.of_resource(case.stage.built_in.api_services).iter().copied() {
        let Some(facts) = case.stage.fact(id, snapshot.facts.api_service(id)) else { continue };
        let Some(backend) = facts.service.as_ref().filter(|_| facts.available == Some(false)) else { continue };
        groups.entry(backend.to_string()).or_default().push((id, facts));
    }
    for (backend, mut services) in groups {
        services.sort_by_cached_key(|(id, _)| snapshot.short_name(*id));
        let finding = unavailable(case, findings, &backend, &services);
        findings.findings.push(finding);
        explained.extend(services.iter().map(|(_, facts)| facts.group_version()));
    }
}

/// APIServices of one Service, which doesn't answer.
fn unavailable(
    case: &Case<'_>,
    findings: &mut FindingsBuilder,
    backend: &str,
    services: &[(ObjectId, &ApiServiceFacts)],
) -> Finding {
    let namespaces = hanging_namespaces(case, findings, NOT_DISCOVERED);
    let why = |facts: &ApiServiceFacts| match facts.message.as_str() {
        "" => facts.reason.clone(),
        message => message.trim_end_matches('.').to_owned(),
    };
    let whys: Vec<String> = each_once(services.iter().map(|(_, facts)| why(facts))).collect();
    let objects: Vec<ObjectId> = services.iter().map(|(id, _)| *id).collect();
    let service = services.first().and_then(|(_, facts)| facts.service.as_ref());
    let look = repair(case, "check its backend", service, &whys.join(" "));
    let one = objects.len() == 1;
    // `available_controller.go: sync`.
    let is_gone = services.iter().any(|(_, facts)| facts.reason == "ServiceNotFound");
    let (behind, remedies) = in_order(case, service, is_gone, [look, case.commands().unregister(&objects)]);
    // A dump shows one moment, in which a backend may just have been restarted: but not one whose Service is missing.
    let is_new = |facts: &ApiServiceFacts| {
        let since = case.now.zip(facts.since).map(|(now, since)| now - i64::from(since.get()));
        !case.live && since.is_some_and(|seconds| seconds <= AT_WORK)
    };
    let may_pass = !is_gone && lack(case, service).is_none() && services.iter().all(|(_, facts)| is_new(facts));
    let versions: Vec<String> = services.iter().map(|(_, facts)| facts.group_version()).collect();
    let (are, these, answer) =
        if one { ("is", "this API", "the API answers") } else { ("are", "these APIs", "the APIs answer") };
    Finding {
        message: format!(
            "{} {are} served by {backend}, which does not answer: {}{behind}.{}",
            all_or_some(&versions),
            some_of(&whys),
            if may_pass { " The dump has nothing later: it may just have been restarted." } else { "" }
        ),
        severity: if may_pass { Severity::Warning } else { Severity::Error },
        consequence: format!(
            "{}. The collector does not see objects of {these}: they block no owner, and none is collected; once \
             {answer} again, objects whose owners are gone by then are deleted.",
            hang(case, &namespaces)
        ),
        objects,
        related: namespaces,
        remedies,
        ..Finding::of(Code::ApiUnavailable, backend)
    }
}

/// What makes a backend answer that fails with these words: as a rule a look at it, called `what`.
fn repair(case: &Case<'_>, what: &str, backend: Option<&Backend>, why: &str) -> Remedy {
    match backend.and_then(Backend::service).filter(|_| why.contains("x509:")) {
        Some((namespace, _)) => {
            let secrets = case.kubectl.verb("get").args(["secrets", "--field-selector=type=kubernetes.io/tls"]);
            let renew = "renew the certificate of its server, and restart that: it may be in one of these Secrets";
            Step::Look.by(renew, secrets.in_namespace(namespace))
        }
        None => Step::Look.by(what, look(case, backend)),
    }
}

/// What a backend lacks, so that the API server can't reach it.
fn lack(case: &Case<'_>, backend: Option<&Backend>) -> Option<Lack> {
    match reach(case.stage, backend) {
        Reach::Unreachable(lack) => Some(lack),
        Reach::Served { .. } | Reach::Doubtful(_) | Reach::Outside | Reach::Unknown => None,
    }
}

/// What is behind a backend and doesn't run, as the end of a sentence. And what starts it, a look at it, and what does
/// without it, which costs something: a person has to choose that. Nothing else heals if the Service doesn't exist, or
/// its Namespace goes: then there is nothing to repair, only to install again.
fn in_order(
    case: &Case<'_>,
    backend: Option<&Backend>,
    is_gone: bool,
    [look, without]: [Remedy; 2],
) -> (String, Vec<Remedy>) {
    let lack = lack(case, backend);
    let snapshot = case.snapshot();
    let namespace = case.stage.built_in.namespaces.zip(backend.and_then(Backend::service));
    let namespace = namespace.and_then(|(kind, (name, _))| snapshot.look_up_named(kind, "", name).object());
    let goes = namespace.is_some_and(|namespace| snapshot.object(namespace).terminating());
    // The API server says that it doesn't answer, also where a dump has no EndpointSlices.
    let seen = lack.unwrap_or(Lack::Endpoint);
    let (words, idle) = behind(case.stage, backend, seen).unzip();
    let is_gone = is_gone || goes || lack == Some(Lack::Service);
    let step = if is_gone { Step::Heal } else { Step::GiveUp };
    let without = Remedy { step, ..without };
    let remedies = case.commands().start_backend(idle.flatten()).into_iter().chain([look, without]).collect();
    (words.map(|words| format!(": {words}")).unwrap_or_default(), remedies)
}

/// What happens to namespaces as long as a resource can't be read (R9.11).
fn hang(case: &Case<'_>, terminating: &[ObjectId]) -> String {
    match terminating.len() {
        0 => "Every namespace that is deleted from now on stays Terminating".to_owned(),
        one_or_more => format!(
            "{} {} Terminating, and so does every namespace that is deleted from now on",
            case.names(terminating, None),
            if one_or_more == 1 { "stays" } else { "stay" }
        ),
    }
}

/// Names the namespaces that wait for it, too: a sentence, with a space before it.
fn wait_too(case: &Case<'_>, namespaces: &[ObjectId]) -> String {
    match namespaces.len() {
        0 => String::new(),
        1 => format!(" {} waits for it, too.", case.names(namespaces, None)),
        _ => format!(" {} wait for it, too.", case.names(namespaces, None)),
    }
}

fn look(case: &Case<'_>, backend: Option<&Backend>) -> Option<ShellCommand> {
    let get = case.kubectl.verb("get");
    match backend.and_then(Backend::service) {
        Some((namespace, name)) => {
            let label = is_label(name).then(|| format!("kubernetes.io/service-name={name}"))?;
            Some(get.arg("endpointslices").in_namespace(namespace)?.args(["-l", &label]))
        }
        None => Some(get.args(["--raw", "/apis"])),
    }
}

fn lists(case: &Case<'_>, findings: &mut FindingsBuilder, explained: &BTreeSet<String>) {
    let snapshot = case.snapshot();
    let recovered = |place: &usize| case.recovered.contains(place);
    for (_, list) in snapshot.lists.iter().enumerate().filter(|(place, _)| !recovered(place)) {
        let Some(reason) = &list.failure else { continue };
        let failure = reason.as_str();
        let resource = snapshot.resources.get(list.resource);
        // Missing read rights are a gap, not a problem of the cluster.
        if reason.kind() == GapKind::Forbidden || explained.contains(&resource.api_version()) {
            continue;
        }
        let finding = if snapshot.fails_to_convert(list.resource) {
            conversion(case, findings, resource, failure)
        } else if reason.kind() == GapKind::Undecodable && !is_aggregated(case, resource) {
            spoiled(case, findings, resource, failure)
        } else {
            unreadable(case, resource, list, failure)
        };
        let is_it = |known: &Finding| {
            known.code == finding.code && known.cause == finding.cause && known.objects == finding.objects
        };
        if !findings.findings.iter().any(is_it) {
            findings.findings.push(finding);
        }
    }
}

/// Whether an aggregated API server stores the objects of a resource.
fn is_aggregated(case: &Case<'_>, resource: &Resource) -> bool {
    let services = case.stage.of_resource(case.stage.built_in.api_services);
    services
        .iter()
        .filter_map(|id| case.snapshot().facts.api_service(*id))
        .any(|facts| facts.service.is_some() && facts.group == resource.group && facts.version == resource.version)
}

/// Terminating CRDs whose instances can't be deleted although their list was read: it needs another conversion, or
/// none. Their conditions say so, but not always: the API server tries again and again, and meanwhile says that all
/// goes well. Then an instance that it has not deleted, and a webhook that can't be reached, say enough.
fn definitions(case: &Case<'_>, findings: &mut FindingsBuilder) {
    let snapshot = case.snapshot();
    let definitions = case.stage.of_resource(case.stage.built_in.definitions);
    let mut all: Vec<Unconverted<'_>> = Vec::new();
    for id in definitions.iter().copied() {
        let Some(facts) = snapshot.facts.definition(id) else {
            if snapshot.object(id).terminating() {
                case.stage.lacks(|needs| needs.facts.insert(id));
            }
            continue;
        };
        if !snapshot.object(id).terminating() {
            let found = unconverted(case, findings, id, facts);
            all.extend(found.map(|(backend, lack)| (id, backend, lack)));
            continue;
        }
        if findings.explained.contains(&id) {
            continue;
        }
        let instances = case.stage.instances(id);
        let said = snapshot.facts.said_to_keep(id).first().map(|said| said.in_words());
        let (Some(resource), true) =
            (instances, said.as_deref().is_none_or(|said| GapKind::of(said) == GapKind::Conversion))
        else {
            // The API server has deleted its instances: what keeps these has a finding of its own.
            let left = instances.map_or(&[][..], |kind| case.stage.of_resource(kind));
            let is_deleted = |id: &ObjectId| snapshot.object(*id).terminating();
            let is_left = case.stage.said_to_fail(id) || snapshot.unread_instances(id).is_some();
            let are_deleted = !is_left && !left.is_empty() && left.iter().all(is_deleted);
            let said = said.filter(|_| !are_deleted);
            findings.findings.extend(said.map(|said| stuck(case, id, &said)));
            continue;
        };
        let spared =
            || case.stage.of_resource(resource).iter().any(|instance| !snapshot.object(*instance).terminating());
        let backend = facts.conversion.as_deref();
        let failure = match said {
            Some(said) => Some(said),
            None if spared() => lack(case, backend).map(|lack| {
                let lack = lack.describe(backend);
                format!("{lack}, and the API server has not deleted all instances")
            }),
            None => None,
        };
        let Some(failure) = failure else { continue };
        let finding = conversion(case, findings, snapshot.resources.get(resource), &failure);
        let consequence = format!(
            "The CRD and its instances stay until conversion works again. Then all of them are deleted, because the \
             CRD is being deleted.{}",
            wait_too(case, &finding.related)
        );
        findings.findings.push(Finding { consequence, ..finding });
    }
    let by_backend = grouped(all.into_iter().map(|it| ((it.1.to_string(), it.2), it)));
    for (_, of) in by_backend {
        let finding = all_unconverted(case, &of);
        findings.findings.push(finding);
    }
}

/// A CRD with instances whose conversion webhook can't be reached, although their list was read: they may all be stored
/// in the version that was asked for. A list that failed has a finding of its own.
fn unconverted<'f>(
    case: &Case<'_>,
    findings: &mut FindingsBuilder,
    id: ObjectId,
    facts: &'f DefinitionFacts,
) -> Option<(&'f Backend, Lack)> {
    case.stage.instances(id).filter(|kind| !case.stage.of_resource(*kind).is_empty())?;
    let backend = facts.conversion.as_deref()?;
    let is_told = |known: &Finding| known.code == Code::ConversionBroken && known.objects.contains(&id);
    if findings.findings.iter().any(is_told) {
        return None;
    }
    Some((backend, lack(case, Some(backend))?))
}

/// A CRD whose conversion webhook can't be reached, and what that lacks.
type Unconverted<'f> = (ObjectId, &'f Backend, Lack);

/// CRDs of one conversion webhook that can't be reached, although their instances could be read.
fn all_unconverted(case: &Case<'_>, of: &[Unconverted<'_>]) -> Finding {
    let snapshot = case.snapshot();
    let mut definitions: Vec<ObjectId> = of.iter().map(|(id, ..)| *id).collect();
    definitions.sort_by_cached_key(|id| snapshot.name(*id));
    let [(_, backend, lack), ..] = of else { return Finding::of(Code::ConversionBroken, "") };
    let (why, idle) = why_unreachable(case.stage, Some(backend), *lack);
    let names: Vec<&str> = definitions.iter().map(|id| snapshot.name(*id)).collect();
    let again = convert_again(case, &definitions, Some(backend), &why);
    Finding {
        severity: Severity::Warning,
        message: format!("{} cannot be converted (by {backend}): {why}.", all_or_some(&names)),
        consequence: "Objects that are stored in another version than a client asks for can't be read, changed or \
                      deleted: the list fails then, and namespaces that contain one stay Terminating."
            .to_owned(),
        objects: definitions,
        // It harms objects that can be read now.
        remedies: case.commands().start_backend(idle).into_iter().chain(again).collect(),
        ..Finding::of(Code::ConversionBroken, backend.to_string())
    }
}

/// All names of a short list, the first few of a long one.
fn all_or_some<T: AsRef<str>>(names: &[T]) -> String {
    if names.len() <= 3 { all_of(names, "and") } else { some_of(names) }
}

/// A Terminating CRD whose instances the API server can't delete, for a reason that no other finding gives.
fn stuck(case: &Case<'_>, id: ObjectId, said: &str) -> Finding {
    let snapshot = case.snapshot();
    let left: Vec<ObjectId> = case.stage.of_resource(case.stage.instances(id)).to_vec();
    // The name of a CRD is that of its resource. A dump may contain any name.
    let name = Some(snapshot.name(id)).filter(|name| name.split('.').all(is_label));
    let look = name.map(|name| case.kubectl.verb("get").args([name, "--all-namespaces"]));
    let hidden = snapshot.unread_instances(id).map(|why| format!("; {why}")).unwrap_or_default();
    Finding {
        message: format!("Terminating{}. {said}{hidden}.", since(case, &[id])),
        consequence: "The CRD and its instances stay until that is mended; then all of them are deleted.".to_owned(),
        objects: vec![id],
        remedies: match case.commands().serve(id).filter(|_| snapshot.unread_instances(id).is_some()) {
            Some(serve) => vec![Step::Heal.by("serve its instances, so that they can be read and freed", Some(serve))],
            None => vec![
                Step::Look.by("see which instances are left", look),
                Step::GiveUp.by(
                    "delete them, as the API server would: its answers say what is wrong",
                    case.commands().delete(&left, "background", &[]),
                ),
            ],
        },
        related: left,
        ..Finding::of(Code::DefinitionStuck, snapshot.text(snapshot.object(id).uid))
    }
}

fn conversion(case: &Case<'_>, findings: &mut FindingsBuilder, resource: &Resource, failure: &str) -> Finding {
    let snapshot = case.snapshot();
    let definition = definition(case, resource);
    let backend = definition.and_then(|id| {
        let facts = case.stage.fact(id, snapshot.facts.definition(id))?;
        facts.conversion.as_deref().cloned()
    });
    let terminating: Vec<ObjectId> = definition.into_iter().filter(|id| snapshot.object(*id).terminating()).collect();
    findings.explained.extend(&terminating);
    let related = hanging_namespaces(case, findings, CONTENT_FAILURE);
    let full = resource.full_name();
    let (behind, remedies) = convert(case, definition.as_slice(), backend.as_ref(), failure);
    let by = backend.as_ref().map(|backend| format!(" (by {backend})")).unwrap_or_default();
    Finding {
        message: format!("{full} cannot be converted{by}: {failure}{behind}."),
        consequence: format!(
            "No client can read them, including the collector: none is collected, and none blocks its owner. \
             Namespaces and the CRD itself stay Terminating when they are deleted. Once conversion works again, \
             objects whose owners are gone are deleted{}.{}",
            if terminating.is_empty() { "" } else { ", and so is every instance, because the CRD is being deleted" },
            wait_too(case, &related)
        ),
        objects: definition.into_iter().collect(),
        related,
        remedies,
        ..Finding::of(Code::ConversionBroken, backend.as_ref().map_or(full, Backend::to_string))
    }
}

/// What is behind a conversion webhook that failed, and doesn't run, as the end of a sentence; and what makes the API
/// server convert again.
pub(super) fn convert(
    case: &Case<'_>,
    definitions: &[ObjectId],
    backend: Option<&Backend>,
    failure: &str,
) -> (String, Vec<Remedy>) {
    let is_gone = failure.contains("service \"") && failure.contains("\" not found");
    in_order(case, backend, is_gone, convert_again(case, definitions, backend, failure))
}

/// What makes the API server convert again.
fn convert_again(case: &Case<'_>, definitions: &[ObjectId], backend: Option<&Backend>, failure: &str) -> [Remedy; 2] {
    let look = repair(case, "restore the conversion webhook", backend, failure);
    [look, case.commands().unconverted(definitions)]
}

/// The CRD of a custom resource.
fn definition(case: &Case<'_>, resource: &Resource) -> Option<ObjectId> {
    let snapshot = case.snapshot();
    let name = snapshot.strings.find(&resource.full_name())?;
    let definitions = case.stage.built_in.definitions?;
    snapshot.look_up(Coordinate { resource: definitions, namespace: Symbol::EMPTY, name }).object()
}

/// Built-in resources that etcd stores under another name (`SpecialDefaultResourcePrefixes` of the API server).
const OTHER_PREFIXES: [(&str, &str, &str); 5] = [
    ("", "replicationcontrollers", "controllers"),
    ("", "endpoints", "services/endpoints"),
    ("", "nodes", "minions"),
    ("", "services", "services/specs"),
    ("networking.k8s.io", "ingresses", "ingress"),
];

/// The prefix of a resource's keys in etcd, unless the API server has another `--etcd-prefix`.
fn prefix(case: &Case<'_>, resource: &Resource) -> String {
    let (group, plural) = (resource.group.as_str(), resource.plural.as_str());
    if let Some((_, _, prefix)) = OTHER_PREFIXES.iter().find(|other| (other.0, other.1) == (group, plural)) {
        return format!("/registry/{prefix}/");
    }
    let with_group =
        matches!(group, "apiextensions.k8s.io" | "apiregistration.k8s.io") || definition(case, resource).is_some();
    if with_group { format!("/registry/{group}/{plural}/") } else { format!("/registry/{plural}/") }
}

/// An object in storage that can't be decoded (S19). Only the error message can name the object, and few do.
fn spoiled(case: &Case<'_>, findings: &mut FindingsBuilder, resource: &Resource, failure: &str) -> Finding {
    let full = resource.full_name();
    let prefix = prefix(case, resource);
    let said = failure.trim_start_matches("500 Internal Server Error: ");
    let related = hanging_namespaces(case, findings, CONTENT_FAILURE);
    let definition = definition(case, resource);
    let terminating = definition.filter(|id| case.snapshot().object(*id).terminating());
    findings.explained.extend(terminating);
    let hanging: Vec<ObjectId> = terminating.into_iter().chain(related.iter().copied()).collect();
    let quoted = |after: &str| said.split_once(after).and_then(|(_, rest)| rest.split_once('"')).map(|(key, _)| key);
    let key = quoted("unable to transform key \"").filter(|key| key.starts_with('/'));
    let version = said.split_once("from an invalid group/version: ").map(|(_, version)| version);
    let message = match (key, version) {
        (Some(key), _) => {
            let name = key.strip_prefix(&prefix).unwrap_or(key);
            format!(
                "{} {name} cannot be decrypted, so the list of {full} fails; there may be more such objects: \
                 {said}.",
                resource.kind
            )
        }
        (None, Some(version)) => {
            format!("The list of {full} fails: some are stored as {version}, a version that their CRD no longer has.")
        }
        (None, None) => format!("The list of {full} fails because a stored object cannot be decoded: {said}."),
    };
    let mut remedies = Vec::new();
    if let (Some(version), Some(definition)) = (version, definition) {
        let version = version.rsplit('/').next().unwrap_or(version);
        let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
        let known = json!({"name": version, "served": false, "storage": false, "schema": schema});
        let patch = vec![json!({"op": "add", "path": "/spec/versions/-", "value": known})];
        remedies.push(Step::Heal.by(
            "add the version to the CRD again, without serving it: the objects can then be read and rewritten",
            case.commands().patch(definition, patch),
        ));
    }
    if resource.namespaced && key.is_none() {
        remedies.push(
            Step::Look.by(
                "find the namespaces in which the list fails: the object is there",
                in_each_namespace(case, resource),
            ),
        );
    }
    let etcdctl = || ShellCommand::new("etcdctl");
    match key {
        Some(key) => {
            remedies.push(Step::Look.by(
                "keep a copy: once the API server has the old encryption key again, it can be restored",
                [etcdctl().args(["get", key, "--print-value-only"]).syntax("> spoiled")],
            ));
            remedies.push(Step::Force.by(
                "if that key is lost permanently, delete the object in etcd, because no API can",
                [etcdctl().args(["del", key])],
            ));
        }
        None => remedies.push(Step::Look.by(
            "find the object in etcd: kubectl get of it fails with the same error; keep a copy and delete its \
             key in etcd, because no API can",
            [etcdctl().args(["get", "--prefix", "--keys-only", &prefix])],
        )),
    }
    Finding {
        message,
        consequence: format!(
            "{}. No client can list or watch objects of this kind, including the collector: it sees no changes, \
             and after a restart no objects at all. Then none is collected, and none blocks its owner.",
            hang(case, &hanging)
        ),
        objects: definition.into_iter().collect(),
        related,
        remedies,
        ..Finding::of(Code::UndecodableObject, full)
    }
}

/// A command that lists each namespace, to find those in which the list fails.
fn in_each_namespace(case: &Case<'_>, resource: &Resource) -> Option<ShellCommand> {
    let get = || case.kubectl.verb("get");
    let list = get().of_type(&resource.plural, &resource.group)?.arg("-n").syntax("\"$namespace\" >/dev/null 2>&1");
    let namespaces = get().args(["namespaces", "-o", "jsonpath={.items[*].metadata.name}"]);
    let each = ShellCommand::of_syntax("for namespace in $(").command(namespaces).syntax("); do").command(list);
    Some(each.syntax("|| echo \"$namespace\"; done"))
}

fn list_all(case: &Case<'_>, resource: &Resource) -> Option<ShellCommand> {
    Some(case.kubectl.verb("get").of_type(&resource.plural, &resource.group)?.arg("--all-namespaces"))
}

fn unreadable(case: &Case<'_>, resource: &Resource, list: &ListRecord, failure: &str) -> Finding {
    let full = resource.full_name();
    let place = list.namespace.as_ref().map(|namespace| format!(" in namespace {namespace}")).unwrap_or_default();
    Finding {
        message: format!("The list of {full}{place} fails: {failure}."),
        consequence: "What depends on objects of this kind is not known. If the collector cannot list \
            them either, it neither collects them nor waits for them."
            .to_owned(),
        remedies: vec![Step::Look.by("check whether it also fails for you", list_all(case, resource))],
        ..Finding::of(Code::ListUnreadable, &full)
    }
}
