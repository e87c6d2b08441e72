//! Turns the objects of a plain dump into a snapshot: what is served, what is covered, and the gaps.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    collect::{Collected, is_api_version},
    document::group_of,
    error::DumpError,
    served::{Seen, Served},
};
use crate::model::{
    Coordinate, Gap, ListRecord, Mapping, Origin, Presence, ResourceId, Resources, Snapshot, SnapshotBuilder, Strings,
    Symbol,
};

/// Builds the snapshot of a plain dump.
///
/// A dump doesn't record what it omits. The objects of a kind are assumed to be all of that kind in their namespace or
/// in the cluster; a kind without objects proves nothing. `assume_complete` declares the dump complete.
pub(super) fn build(
    paths: &[String],
    strings: &Strings,
    objects: &[Collected],
    assume_complete: bool,
) -> Result<Snapshot, DumpError> {
    let mut served = Served::new();
    for definition in objects.iter().filter_map(|object| object.definition.as_ref()) {
        served.define(definition);
    }
    for seen in kinds(strings, objects) {
        served.see(&seen);
    }
    let doubtful = if assume_complete { Vec::new() } else { named(strings, objects) };
    for seen in &doubtful {
        served.name(seen);
    }
    let unsure: FxHashMap<String, String> = doubtful
        .iter()
        .filter(|seen| !served.surely_not_served(&seen.group, &seen.version, &seen.kind))
        .map(|seen| (api_version(seen) + " " + &seen.kind, served.doubt(&seen.group)))
        .collect();
    let resources = served.resources();
    let ids = map(strings, objects, &resources)?;
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: paths.to_vec() }, resources);
    for (object, resource) in objects.iter().zip(&ids) {
        let id = builder.add(*resource, &object.metadata.raw(strings));
        if let Some(fact) = &object.fact {
            builder.snapshot().learn(id, fact.clone());
        }
        if let Some(setters) = &object.setters {
            builder.snapshot().facts.insert_setters(id, setters.clone());
        }
    }
    for list in lists(builder.snapshot(), assume_complete) {
        builder.list(list);
    }
    if !assume_complete {
        for gap in gaps(builder.snapshot(), &unsure) {
            builder.gap(gap);
        }
    }
    Ok(builder.build())
}

fn seen(strings: &Strings, api_version: Symbol, kind: Symbol, namespace: Symbol) -> Seen {
    let api_version = strings.text(api_version);
    Seen {
        group: group_of(api_version).to_owned(),
        version: api_version.rsplit('/').next().unwrap_or_default().to_owned(),
        kind: strings.text(kind).to_owned(),
        namespaced: !namespace.is_empty(),
    }
}

fn api_version(seen: &Seen) -> String {
    if seen.group.is_empty() { seen.version.clone() } else { format!("{}/{}", seen.group, seen.version) }
}

/// The kinds of the objects. A kind is namespaced if any of its objects has a namespace.
fn kinds(strings: &Strings, objects: &[Collected]) -> Vec<Seen> {
    let mut kinds: BTreeSet<Seen> = BTreeSet::new();
    let mut known: FxHashSet<(Symbol, Symbol, bool)> = FxHashSet::default();
    for object in objects {
        let namespace = object.metadata.namespace;
        if known.insert((object.api_version, object.kind, namespace.is_empty())) {
            kinds.insert(seen(strings, object.api_version, object.kind, namespace));
        }
    }
    let mut kinds: Vec<Seen> = kinds.into_iter().collect();
    kinds.sort_by_key(|seen| !seen.namespaced);
    kinds
}

/// The kinds of the referenced owners. The owner of a cluster-scoped object is cluster-scoped.
fn named(strings: &Strings, objects: &[Collected]) -> Vec<Seen> {
    let mut kinds: BTreeSet<Seen> = BTreeSet::new();
    let mut known: FxHashSet<(Symbol, Symbol, bool)> = FxHashSet::default();
    for object in objects {
        let namespace = object.metadata.namespace;
        for owner in &object.metadata.owners {
            let is_new = known.insert((owner.api_version, owner.kind, namespace.is_empty()));
            if is_new && !owner.kind.is_empty() && is_api_version(strings.text(owner.api_version)) {
                kinds.insert(seen(strings, owner.api_version, owner.kind, namespace));
            }
        }
    }
    let mut kinds: Vec<Seen> = kinds.into_iter().collect();
    kinds.sort_by_key(|seen| seen.namespaced);
    kinds
}

/// The resource of each object.
fn map(strings: &Strings, objects: &[Collected], resources: &Resources) -> Result<Vec<ResourceId>, DumpError> {
    let mut known: FxHashMap<(Symbol, Symbol), ResourceId> = FxHashMap::default();
    let mut by_name: FxHashMap<(&str, String), ResourceId> = FxHashMap::default();
    for (id, resource) in resources.iter() {
        by_name.entry((resource.kind.as_str(), resource.api_version())).or_insert(id);
    }
    let resource = |object: &Collected| match known.get(&(object.api_version, object.kind)) {
        Some(id) => *id,
        None => {
            let (api_version, kind) = (strings.text(object.api_version), strings.text(object.kind));
            let id = *by_name.get(&(kind, api_version.to_owned())).expect("the kind of every object was seen");
            known.insert((object.api_version, object.kind), id);
            id
        }
    };
    let ids: Vec<ResourceId> = objects.iter().map(resource).collect();
    for (object, id) in objects.iter().zip(&ids) {
        let resource = resources.get(*id);
        if resource.namespaced == object.metadata.namespace.is_empty() {
            return Err(DumpError::Scope {
                place: object.place(strings),
                object: object.describe(strings),
                kind: resource.kind.clone(),
                namespaced: resource.namespaced,
            });
        }
    }
    Ok(ids)
}

fn lists(snapshot: &Snapshot, assume_complete: bool) -> Vec<ListRecord> {
    let list = |resource, namespace| ListRecord { resource, namespace, resource_version: String::new(), failure: None };
    if assume_complete {
        let resources = &snapshot.resources;
        return resources
            .iter()
            .map(|(id, _)| id)
            .filter(|id| resources.picked(*id) == *id)
            .map(|id| list(id, None))
            .collect();
    }
    let seen: FxHashSet<(ResourceId, Symbol)> =
        snapshot.objects().map(|(_, object)| (object.resource, object.namespace)).collect();
    let seen: BTreeSet<(ResourceId, &str)> =
        seen.into_iter().map(|(resource, namespace)| (resource, snapshot.text(namespace))).collect();
    seen.into_iter()
        .map(|(resource, namespace)| list(resource, (!namespace.is_empty()).then(|| namespace.to_owned())))
        .collect()
}

/// Gaps for owners that are not in the dump, and whose kind and scope it doesn't cover.
fn gaps(snapshot: &Snapshot, unsure: &FxHashMap<String, String>) -> BTreeSet<Gap> {
    let held: FxHashSet<ResourceId> = snapshot.objects().map(|(_, object)| object.resource).collect();
    let mut gaps = BTreeSet::new();
    for (_, object) in snapshot.objects() {
        for owner in &object.owners {
            let (api_version, kind) = (snapshot.text(owner.api_version), snapshot.text(owner.kind));
            match snapshot.resources.map(api_version, kind) {
                Mapping::Served(id) => {
                    let resource = snapshot.resources.get(id);
                    if resource.namespaced && object.namespace.is_empty() {
                        continue;
                    }
                    let namespace = if resource.namespaced { object.namespace } else { Symbol::EMPTY };
                    let coordinate =
                        Coordinate { resource: snapshot.resources.picked(id), namespace, name: owner.name };
                    if snapshot.look_up(coordinate) == Presence::Unknown {
                        // Without any object of a kind, one gap covers all namespaces.
                        let namespaced = resource.namespaced && held.contains(&coordinate.resource);
                        gaps.insert(Gap {
                            resource: resource.full_name(),
                            namespace: namespaced.then(|| snapshot.text(namespace).to_owned()),
                            reason: "not in the dump".into(),
                        });
                    }
                }
                Mapping::Unmappable | Mapping::Undiscovered => {
                    if let Some(reason) = unsure.get(&format!("{api_version} {kind}")) {
                        gaps.insert(Gap {
                            resource: api_version.to_owned(),
                            namespace: None,
                            reason: reason.as_str().into(),
                        });
                    }
                }
                Mapping::ListKind { .. } => {}
            }
        }
    }
    gaps
}
