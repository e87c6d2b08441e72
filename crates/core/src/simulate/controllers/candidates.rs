//! Which workloads may be the controller of a finalizer: by the table, by the kind itself, by their names.

use std::cmp::Reverse;

use crate::model::{
    ObjectId, ResourceId, Snapshot, Symbol,
    effects::{AddOn, is_of_another, is_within},
    facts::Backend,
    resources::{group_of, is_built_in_group},
};

use super::{
    super::context::SimContext,
    driver::{Driver, ROLES, has_role},
    workloads::all,
};

/// Labels that name an application or what it is a part of.
const NAME_LABELS: [&str; 5] =
    ["app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/instance", "control-plane", "app"];

/// The label that OLM sets on all that belongs to an operator, the CRDs that it owns among them
/// (operator-framework/operator-lifecycle-manager pkg/controller/operators/adoption_controller.go).
const OLM_COMPONENT: &str = "operators.coreos.com/";

/// Domains of frameworks' finalizers, which any operator may have: nolar/kopf kopf/_cogs/configs/configuration.py,
/// operator-framework/helm-operator-plugins pkg/reconciler/reconciler.go, rancher/wrangler pkg/generic/remove.go.
const FRAMEWORKS: [&str; 5] =
    ["kopf.zalando.org", "kopf.dev", "sdk.operatorframework.io", "wrangler.cattle.io", "uninstall-helm-release"];

/// Parts of a domain that identify no controller.
const COMMON: [&str; 17] = [
    "api",
    "app",
    "apps",
    "core",
    "finalizer",
    "finalizers",
    "kubernetes",
    "k8s",
    "x-k8s",
    "example",
    "sigs",
    "controller",
    "operator",
    "operators",
    "cloud",
    "toolkit",
    "cluster",
];

/// The finalizer of an object, and what is known of its controller.
pub(super) struct Asked<'a> {
    pub(super) object: ObjectId,
    pub(super) resource: ResourceId,
    pub(super) finalizer: &'a str,
    /// The object's group.
    pub(super) group: &'a str,
    pub(super) add_on: Option<&'static AddOn>,
    pub(super) driver: Option<&'a Driver>,
}

/// Whether a workload is an add-on's controller, by its name or its label `app.kubernetes.io/name`.
pub(super) fn is_called(snapshot: &Snapshot, workload: ObjectId, add_on: &AddOn, group: &str) -> bool {
    add_on.is_called(snapshot.name(workload), group)
        || snapshot.label(workload, NAME_LABELS[0]).is_some_and(|name| add_on.is_called(name, group))
}

/// Whether a workload is called as controllers are, of whatever.
pub(super) fn is_telling(snapshot: &Snapshot, workload: ObjectId) -> bool {
    const TELLING: [&str; 5] = ["operator", "controller", "controllers", "manager", "provider"];
    names_of(snapshot, workload).any(|name| name.split('-').any(|part| TELLING.contains(&part)))
}

/// A workload's name, and its labels that name an application.
fn names_of(snapshot: &Snapshot, workload: ObjectId) -> impl Iterator<Item = &str> {
    let object = snapshot.object(workload);
    let labels = object.labels.iter().filter(|(key, _)| NAME_LABELS.contains(&snapshot.text(*key)));
    labels.map(|(_, value)| snapshot.text(*value)).chain([snapshot.text(object.name)])
}

/// The finalizer's domain and the object's group, as far as they may identify the controller.
fn domains_of<'a>(finalizer: &'a str, group: &'a str) -> impl Iterator<Item = &'a str> {
    let domain = finalizer.split('/').next().filter(|_| framework(finalizer).is_none());
    let group = Some(group).filter(|group| !is_built_in_group(group) && !group.ends_with(".k8s.io"));
    domain.into_iter().chain(group)
}

/// The words of a domain that may identify the controller, the last first.
fn words_in(domain: &str) -> impl Iterator<Item = &str> {
    domain.rsplit('.').skip(1).filter(|word| word.len() > 1 && !COMMON.contains(word))
}

/// The words of the finalizer's domain and of the object's group that may identify the controller.
fn words_of<'a>(finalizer: &'a str, group: &'a str) -> Vec<&'a str> {
    let mut words: Vec<&str> = domains_of(finalizer, group).flat_map(words_in).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// The framework that a finalizer is of, by its domain.
pub(super) fn framework(finalizer: &str) -> Option<&'static str> {
    let domain = finalizer.split('/').next().unwrap_or(finalizer);
    FRAMEWORKS.into_iter().find(|framework| is_within(domain, framework))
}

/// How many of these words a name has as a part, or as several that follow each other. Of a short word, it is the first
/// part.
fn hits(name: &str, words: &[&str]) -> usize {
    let is_in = |word: &&&str| match name.strip_prefix(**word) {
        Some(rest) if rest.is_empty() || rest.starts_with('-') => true,
        _ => word.len() > 3 && is_spelt_in(name, word) || is_called_after(name, word),
    };
    words.iter().filter(is_in).count()
}

/// Whether whole parts of a name make up a word: those of `aad-pod-identity-mic` do for `aadpodidentity`.
fn is_spelt_in(name: &str, word: &str) -> bool {
    let word = word.replace('-', "");
    let begins = name.match_indices('-').map(|(dash, _)| dash + 1).chain([0]);
    begins.into_iter().any(|begin| {
        let mut rest = word.as_str();
        name[begin..]
            .split('-')
            .map_while(|part| rest.strip_prefix(part).inspect(|left| rest = left))
            .any(str::is_empty)
    })
}

/// Whether a name is that of an operator of this word, as most are called: `pg-operator` for `pg` and `pg-operator`,
/// `cass-operator` for `cassandra`, `rabbitmq-cluster-operator` for `rabbitmqclusters`, `kuberay-operator` for `ray`,
/// `nifikop` for `nifi`.
fn is_called_after(name: &str, word: &str) -> bool {
    let squashed = |text: &str| text.replace('-', "");
    let is_stem = |stem: &str| {
        stem == word || stem.len() > 3 && !COMMON.contains(&stem) && squashed(word).starts_with(&squashed(stem))
    };
    name == word && word.contains('-')
        || ROLES.iter().find_map(|role| name.strip_suffix(role)).is_some_and(|stem| {
            let of_kube = stem.strip_prefix("kube").map(|rest| rest.trim_start_matches('-'));
            is_stem(stem) || of_kube.is_some_and(is_stem)
        })
}

/// The workloads that the owner of a kind's CRD owns, as a ProviderRevision of Crossplane does (crossplane/crossplane
/// internal/controller/pkg/revision/establisher.go).
pub(super) fn of_definitions_owner(context: &SimContext<'_>, resource: ResourceId) -> Vec<ObjectId> {
    let object = |id: ObjectId| context.snapshot.object(id);
    let Some(definition) = context.definition_of(resource).filter(|id| !object(*id).owners.is_empty()) else {
        return Vec::new();
    };
    let owns = |uid: Symbol| object(definition).owners.iter().any(|owner| owner.uid == uid);
    all(context).filter(|id| object(*id).owners.iter().any(|owner| owns(owner.uid))).collect()
}

/// Those of `among` that may be the controller: components of the add-on; else those that the object, its CRD's labels
/// or its conversion webhook name; and those that are called after the finalizer's domain or the object's group.
/// Whether each of them is called as its controller would be.
pub(super) fn possible(context: &SimContext<'_>, asked: &Asked<'_>, among: &[ObjectId]) -> Vec<(ObjectId, bool)> {
    let among = || among.iter().copied();
    let snapshot = context.snapshot;
    let name_of = |id: ObjectId| snapshot.name(id);
    let is_of_driver = |id: ObjectId| asked.driver.is_some_and(|driver| driver.is_run_by(snapshot, id));
    let is_free = |id: &ObjectId| is_of_driver(*id) || !is_of_another(name_of(*id), asked.group, asked.add_on);
    let words = words_of(asked.finalizer, asked.group);
    let is_its = |name: &str| words.iter().any(|word| is_called_after(name, word));
    let called = |id: ObjectId| is_of_driver(id) || names_of(snapshot, id).any(is_its);
    if let Some(add_on) = asked.add_on.filter(|add_on| !add_on.is_only_a_name()) {
        let is_part = |text: &str| add_on.labels.contains(&text) || add_on.may_be_called(text);
        let parts = among().filter(|id| is_of_driver(*id) || names_of(snapshot, *id).any(is_part));
        let parts: Vec<(ObjectId, bool)> = parts.filter(is_free).map(|id| (id, called(id))).collect();
        if add_on.has_names() || !parts.is_empty() {
            return parts;
        }
        // Of a known maker, other names tell nothing.
        return among().filter(|id| is_its_name(snapshot, *id, asked)).map(|id| (id, false)).collect();
    }
    let named = by_kind(context, asked, among());
    let is_after = |id: ObjectId| {
        let hits = names_of(snapshot, id).map(|name| hits(name, &words)).max().unwrap_or(0);
        hits.max(usize::from(is_of_driver(id) || is_of_kind(snapshot, id, asked, &words)))
    };
    // What the operator makes for its objects is no operator.
    let is_made = |id: &ObjectId| {
        let owners = &snapshot.object(*id).owners;
        owners.iter().any(|owner| group_of(snapshot.text(owner.api_version)) == asked.group)
    };
    let mut after: Vec<(ObjectId, usize)> = among()
        .map(|id| (id, is_after(id)))
        .filter(|(id, hits)| *hits > 0 && is_free(id) && !is_made(id) && !named.contains(id))
        .collect();
    after.sort_by_key(|(id, hits)| (!called(*id), Reverse(*hits)));
    if named.is_empty() && after.is_empty() {
        let is_near = |id: &ObjectId| {
            is_telling(snapshot, *id)
                && !is_made(id)
                && (is_its_name(snapshot, *id, asked) || is_free(id) && is_beside(snapshot, *id, asked))
        };
        return among().filter(is_near).map(|id| (id, false)).collect();
    }
    let named = named.iter().map(|id| (*id, true));
    named.chain(after.into_iter().map(|(id, _)| (id, called(id)))).collect()
}

/// Whether a finalizer, or what follows its domain, is the name of a workload: `maistra.io/istio-operator`.
fn is_its_name(snapshot: &Snapshot, workload: ObjectId, asked: &Asked<'_>) -> bool {
    asked.finalizer.rsplit('/').next() == Some(snapshot.name(workload))
}

/// Whether the namespace of a workload is called after the maker, by the finalizer's domain or the object's group, or a
/// key of its labels has that domain or group.
fn is_beside(snapshot: &Snapshot, workload: ObjectId, asked: &Asked<'_>) -> bool {
    let domains = || domains_of(asked.finalizer, asked.group);
    let makers: Vec<&str> = domains().filter_map(|domain| words_in(domain).next()).collect();
    let is_its = |key: &str| match key.split_once('/') {
        Some((own, _)) if !key.starts_with(OLM_COMPONENT) => {
            words_in(own).next().is_some() && domains().any(|it| it == own)
        }
        _ => false,
    };
    let mut keys = snapshot.object(workload).labels.iter().map(|(key, _)| snapshot.text(*key));
    hits(snapshot.namespace(workload), &makers) > 0 || keys.any(is_its)
}

/// Whether a workload is called after the object's kind, where other words tell whose that is: Kubeflow's
/// `profiles-deployment` in the namespace `kubeflow`.
fn is_of_kind(snapshot: &Snapshot, workload: ObjectId, asked: &Asked<'_>, words: &[&str]) -> bool {
    let resource = snapshot.resources.get(asked.resource);
    let kind = resource.kind.to_ascii_lowercase();
    let is_kind = |part: &str| part == kind || part == resource.plural;
    !is_built_in_group(asked.group)
        && !COMMON.contains(&kind.as_str())
        && names_of(snapshot, workload).any(|name| name.split('-').any(is_kind))
        && (has_role(snapshot, workload) || hits(snapshot.namespace(workload), words) > 0)
}

/// The workloads that the kind itself names, the most telling first.
fn by_kind(context: &SimContext<'_>, asked: &Asked<'_>, among: impl Iterator<Item = ObjectId>) -> Vec<ObjectId> {
    let snapshot = context.snapshot;
    let definition = context.definition_of(asked.resource);
    let owned = of_definitions_owner(context, asked.resource);
    let manager = snapshot.label(asked.object, "app.kubernetes.io/managed-by");
    let label = |key: &str| definition.and_then(|id| snapshot.label(id, key));
    let backend = definition.and_then(|id| snapshot.facts.definition(id)?.conversion.as_deref());
    let webhook = backend.and_then(Backend::service).map(|(namespace, _)| namespace);
    let is_managing = |id: &ObjectId| manager == Some(snapshot.name(*id));
    let shares = |id: &ObjectId, key: &str| {
        let value = label(key);
        value.is_some() && names_of(snapshot, *id).any(|name| Some(name) == value)
    };
    // OLM's operator may only have installed the controller.
    let components = definition.into_iter().flat_map(|id| snapshot.object(id).labels.iter());
    let components: Vec<Symbol> =
        components.map(|(key, _)| *key).filter(|key| snapshot.text(*key).starts_with(OLM_COMPONENT)).collect();
    let is_component = |id: &ObjectId| snapshot.object(*id).labels.iter().any(|(key, _)| components.contains(key));
    let is_beside_webhook = |id: &ObjectId| webhook == Some(snapshot.namespace(*id));
    let rank = |id: &ObjectId| match () {
        () if is_managing(id) => Some(0),
        () if owned.contains(id) || is_component(id) => Some(1),
        () if NAME_LABELS[..3].iter().any(|key| shares(id, key)) => Some(2),
        () if is_beside_webhook(id) => Some(3),
        () => None,
    };
    let mut ranked: Vec<(u8, ObjectId)> = among.filter_map(|id| Some((rank(&id)?, id))).collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().map(|(_, id)| id).collect()
}
