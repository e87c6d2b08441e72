//! What blinds the collector and everybody else: aggregated APIs that don't answer, conversion webhooks that fail, objects that can't be
//! decoded, lists that can't be read (R2.6, R2.7, R9.11, S11, S19).

use std::collections::BTreeSet;

use serde_json::json;

use crate::{
    model::{Coordinate, ListRecord, ObjectId, Origin, Presence, Resource, Symbol, facts::Backend},
    wording::shell_word,
};

use super::{
    case::{Case, Gathering},
    code::Code,
    finding::{Finding, Remedy},
};

/// Finds what can't be read, and why.
pub(super) fn gather(case: &Case<'_>, gathering: &mut Gathering) {
    // What is missing in a dump is nobody's trouble.
    if !matches!(case.snapshot().origin, Origin::Cluster { .. }) {
        return;
    }
    let mut explained: BTreeSet<String> = BTreeSet::new();
    services(case, gathering, &mut explained);
    lists(case, gathering, &explained);
}

/// Terminating namespaces, which stay as long as anything can't be read (R9.11).
fn terminating_namespaces(case: &Case<'_>) -> Vec<ObjectId> {
    let namespaces = case.stage.built_in.namespaces.map_or(&[][..], |resource| case.stage.of_resource(resource));
    namespaces.iter().copied().filter(|id| case.snapshot().object(*id).terminating()).collect()
}

/// APIServices that are not available. The group versions of which that is told are added to `explained`.
fn services(case: &Case<'_>, gathering: &mut Gathering, explained: &mut BTreeSet<String>) {
    let snapshot = case.snapshot();
    let Some(resource) = snapshot.resources.by_group_kind("apiregistration.k8s.io", "APIService") else { return };
    for id in case.stage.of_resource(resource).iter().copied() {
        let Some(facts) = snapshot.facts.api_service(id) else { continue };
        if facts.service.is_none() || facts.available != Some(false) {
            continue;
        }
        let group_version = format!("{}/{}", facts.group, facts.version);
        let namespaces = terminating_namespaces(case);
        gathering.explained.extend(namespaces.iter().filter(|id| held_by_nothing_else(case, **id)));
        let backend = facts.service.as_ref().map(named).unwrap_or_default();
        let why = if facts.message.is_empty() { facts.reason.clone() } else { facts.message.trim_end_matches('.').to_owned() };
        let hang = match namespaces.len() {
            0 => "Every namespace that is deleted from now on stays Terminating".to_owned(),
            _ => format!(
                "{} stays Terminating, and so does every namespace that is deleted from now on",
                case.names(&namespaces, None)
            ),
        };
        gathering.findings.push(Finding {
            code: Code::ApiUnavailable,
            severity: Code::ApiUnavailable.severity(),
            cause: group_version.clone(),
            message: format!("{group_version} is served by {backend}, which does not answer: {why}."),
            consequence: format!(
                "{hang}. The collector doesn't see objects of this API: they block nobody, and none is collected; once it answers again, \
                 those whose owners are gone by then are deleted."
            ),
            objects: vec![id],
            reference: None,
            related: namespaces,
            remedies: vec![
                Remedy::new("see what stands behind it", vec![look(facts.service.as_ref())]),
                Remedy::new(
                    "if it is gone for good: remove its registration; objects that it keeps elsewhere stay there",
                    case.commands().delete(&[id], "background"),
                ),
            ],
        });
        explained.insert(group_version);
    }
}

/// Whether all that keeps a namespace is what can't be read.
fn held_by_nothing_else(case: &Case<'_>, id: ObjectId) -> bool {
    case.stage.in_namespace(case.snapshot().object(id).name).is_empty()
}

fn named(backend: &Backend) -> String {
    match backend {
        Backend::Service { namespace, name } => format!("the service {namespace}/{name}"),
        Backend::Url(url) => url.clone(),
    }
}

fn look(backend: Option<&Backend>) -> String {
    match backend.and_then(Backend::service) {
        Some((namespace, name)) => format!(
            "kubectl get services,endpointslices,pods -n {} -l {}",
            shell_word(namespace),
            shell_word(&format!("kubernetes.io/service-name={name}"))
        ),
        None => "kubectl get --raw /readyz".to_owned(),
    }
}

fn lists(case: &Case<'_>, gathering: &mut Gathering, explained: &BTreeSet<String>) {
    let snapshot = case.snapshot();
    for list in &snapshot.lists {
        let Some(failure) = list.failure.as_deref() else { continue };
        let resource = snapshot.resources.get(list.resource);
        // What may not be read is a gap, and nobody's trouble.
        if failure.contains("forbidden") || explained.contains(&resource.api_version()) {
            continue;
        }
        let finding = if snapshot.fails_to_convert(list.resource) {
            conversion(case, gathering, resource, failure)
        } else if undecodable(failure) {
            undecodable_object(resource, failure)
        } else {
            unreadable(resource, list, failure)
        };
        if !gathering.findings.iter().any(|known| known.code == finding.code && known.cause == finding.cause) {
            gathering.findings.push(finding);
        }
    }
}

/// Whether a reason is the API server's complaint about what is in its storage.
fn undecodable(failure: &str) -> bool {
    [
        "unable to decode",
        "couldn't get version/kind",
        "json parse error",
        "error decoding",
        "unable to transform",
        "no kind \"",
        "illegal base64",
    ]
    .iter()
    .any(|words| failure.contains(words))
}

fn conversion(case: &Case<'_>, gathering: &mut Gathering, resource: &Resource, failure: &str) -> Finding {
    let snapshot = case.snapshot();
    let definition = definition(case, resource);
    let backend = definition.and_then(|id| match snapshot.facts.definition(id) {
        Some(facts) => facts.conversion.clone(),
        None => {
            gathering.wanted.needs.facts.insert(id);
            None
        }
    });
    let terminating: Vec<ObjectId> = definition.into_iter().filter(|id| snapshot.object(*id).terminating()).collect();
    let related: Vec<ObjectId> = terminating_namespaces(case);
    gathering.explained.extend(terminating.iter().chain(related.iter().filter(|id| held_by_nothing_else(case, **id))).copied());
    let full = resource.full_name();
    let mut remedies = vec![Remedy::new("bring back what converts it", vec![look(backend.as_ref())])];
    if let Some(id) = definition {
        let none = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
        remedies.insert(
            0,
            Remedy::new(
                "convert without a webhook: fields that only one version has are not there in the other, until it is set again",
                vec![format!("kubectl patch {} --type=merge -p {}", case.commands().named(id), shell_word(&none.to_string()))],
            ),
        );
    }
    let by = backend.as_ref().map(|backend| format!(" (by {})", named(backend))).unwrap_or_default();
    Finding {
        code: Code::ConversionBroken,
        severity: Code::ConversionBroken.severity(),
        cause: full.clone(),
        message: format!("{full} can't be converted{by}: {failure}."),
        consequence: format!(
            "Nobody can read them, the collector neither: none is collected, and none blocks its owner. Namespaces and the definition itself stay \
             Terminating when they are deleted. Once it works again, those whose owners are gone are deleted{}.",
            if terminating.is_empty() { "" } else { ", and so is every instance: the definition is being deleted" }
        ),
        objects: definition.into_iter().collect(),
        reference: None,
        related,
        remedies,
    }
}

/// The definition of a custom resource.
fn definition(case: &Case<'_>, resource: &Resource) -> Option<ObjectId> {
    let snapshot = case.snapshot();
    let name = snapshot.strings.find(&resource.full_name())?;
    let definitions = case.stage.built_in.definitions?;
    match snapshot.look_up(Coordinate { resource: definitions, namespace: Symbol::EMPTY, name }) {
        Presence::Present(id) => Some(id),
        _ => None,
    }
}

fn undecodable_object(resource: &Resource, failure: &str) -> Finding {
    let full = resource.full_name();
    let prefix = if resource.group.is_empty() {
        format!("/registry/{}/", resource.plural)
    } else {
        format!("/registry/{}/{}/", resource.group, resource.plural)
    };
    Finding {
        code: Code::UndecodableObject,
        severity: Code::UndecodableObject.severity(),
        cause: full.clone(),
        message: format!("The list of {full} fails because of what is in storage: {failure}."),
        consequence: "Nobody can list them, the collector neither: none of this kind is collected, and none blocks its owner. Namespaces that may \
                      have some stay Terminating."
            .to_owned(),
        objects: Vec::new(),
        reference: None,
        related: Vec::new(),
        remedies: vec![Remedy::new(
            "find the broken object in etcd, keep a copy of it, and remove its key: no API can",
            vec![format!("etcdctl get --prefix --keys-only {}", shell_word(&prefix))],
        )],
    }
}

fn unreadable(resource: &Resource, list: &ListRecord, failure: &str) -> Finding {
    let full = resource.full_name();
    let place = list.namespace.as_ref().map(|namespace| format!(" in namespace {namespace}")).unwrap_or_default();
    Finding {
        code: Code::ListUnreadable,
        severity: Code::ListUnreadable.severity(),
        cause: full.clone(),
        message: format!("The list of {full}{place} fails: {failure}."),
        consequence: "Not verified: whatever rests on objects of this kind. If the collector can't list them either, it neither collects them nor \
                      waits for them."
            .to_owned(),
        objects: Vec::new(),
        reference: None,
        related: Vec::new(),
        remedies: vec![Remedy::new("see whether it fails for you, too", vec![format!("kubectl get {full} --all-namespaces")])],
    }
}
