//! Turns the objects of a plain dump into a snapshot: what is served, what is covered, and the gaps.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    collect::{Collector, Rest, is_api_version},
    document::Type,
    error::DumpError,
    served::{Seen, Served},
};
use gc_core::model::{
    Coordinate, Gap, ListRecord, Mapping, NOT_IN_THE_DUMP, Object, ObjectId, Origin, Presence, Reference, Resource,
    ResourceId, Resources, Snapshot, SnapshotBuilder, Strings, Symbol, Times, group_of, is_built_in_group,
    read_owner_complaint,
};

/// Builds the snapshot of a plain dump.
///
/// A dump doesn't record what it omits. The objects of a kind are assumed to be all of that kind in their namespace or
/// in the cluster; a kind without objects proves nothing. `assume_complete` declares the dump complete.
pub(super) fn build(paths: &[String], mut collected: Collector, assume_complete: bool) -> Result<Snapshot, DumpError> {
    collected.complete_uids()?;
    let mut served = Served::new();
    for (_, rest) in &collected.rest {
        if let Rest::Definition(definition) = rest {
            served.define(definition);
        }
    }
    for seen in kinds(&collected) {
        served.see(&seen);
    }
    if collected.has_projects {
        served.call_namespaces("project");
    }
    let doubtful = if assume_complete { Vec::new() } else { named(&collected) };
    for seen in &doubtful {
        served.name(seen);
    }
    let unsure: FxHashMap<String, String> = doubtful
        .iter()
        .filter(|seen| !served.surely_not_served(&seen.group, &seen.version, &seen.kind))
        .map(|seen| (api_version(seen) + " " + &seen.kind, served.doubt(&seen.group)))
        .collect();
    let resources = served.resources();
    map(&mut collected, &resources)?;
    let Collector { strings, objects, facts, rest, complaints, warnings, latest, manager_acted, .. } = collected;
    let mut builder = SnapshotBuilder::with_strings(Origin::Dump { paths: paths.to_vec() }, resources, strings);
    let adopted = builder.adopt(objects, facts, true);
    let mut said_last = None;
    for (index, rest) in rest {
        let Some(id) = adopted.id(index) else { continue };
        match rest {
            Rest::Setters(setters) => builder.snapshot().facts.insert_setters(id, setters),
            Rest::Said(said) => {
                said_last = said.iter().filter_map(|said| said.at).max().max(said_last);
                builder.snapshot().facts.insert_said(id, said);
            }
            Rest::Reclaim(facts) => builder.snapshot().facts.insert_reclaim(id, *facts),
            Rest::Definition(_) => {}
        }
    }
    for list in lists(builder.snapshot(), assume_complete) {
        builder.list(list);
    }
    let snapshot = builder.snapshot();
    let said = Times { latest: said_last, heartbeat: None };
    (snapshot.told.times, snapshot.told.manager_acted) = (latest.max(said), manager_acted);
    for (uid, warning) in warnings {
        if let Some(object) = snapshot.by_uid(uid) {
            snapshot.hear(object, warning);
        }
    }
    for (namespace, uid) in complaints.iter().filter_map(|message| read_owner_complaint(message)) {
        if let (Some(namespace), Some(uid)) = (snapshot.strings.find(namespace), snapshot.strings.find(uid)) {
            snapshot.told.complaints.insert((namespace, uid));
        }
    }
    if !assume_complete {
        settle_owners(snapshot);
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
fn kinds(collected: &Collector) -> Vec<Seen> {
    let mut kinds: BTreeSet<Seen> = BTreeSet::new();
    let mut known: FxHashSet<(ResourceId, bool)> = FxHashSet::default();
    for object in &collected.objects {
        if known.insert((object.resource, object.namespace.is_empty())) {
            let (api_version, kind) = collected.types[object.resource.index()];
            kinds.insert(seen(&collected.strings, api_version, kind, object.namespace));
        }
    }
    let mut kinds: Vec<Seen> = kinds.into_iter().collect();
    kinds.sort_by_key(|seen| !seen.namespaced);
    kinds
}

/// The kinds of the referenced owners. The owner of a cluster-scoped object is cluster-scoped, unless the collector
/// complains that it isn't: of a cluster-scoped owner it never does.
fn named(collected: &Collector) -> Vec<Seen> {
    let strings = &collected.strings;
    let complaints = collected.complaints.iter().filter_map(|message| read_owner_complaint(message));
    let complained: FxHashSet<&str> = complaints.map(|(_, uid)| uid).collect();
    let owners = collected.objects.iter().flat_map(|object| object.owners.iter());
    let of_namespaces = owners.filter(|owner| complained.contains(strings.text(owner.uid)));
    let of_namespaces: FxHashSet<(Symbol, Symbol)> = of_namespaces.map(|it| (it.api_version, it.kind)).collect();
    let mut kinds: BTreeSet<Seen> = BTreeSet::new();
    let mut known: FxHashSet<(Symbol, Symbol, bool)> = FxHashSet::default();
    for object in &collected.objects {
        for owner in object.owners.iter() {
            let namespaced = !object.namespace.is_empty() || of_namespaces.contains(&(owner.api_version, owner.kind));
            let is_new = known.insert((owner.api_version, owner.kind, namespaced));
            if is_new && !owner.kind.is_empty() && is_api_version(strings.text(owner.api_version)) {
                kinds.insert(Seen { namespaced, ..seen(strings, owner.api_version, owner.kind, object.namespace) });
            }
        }
    }
    let mut kinds: Vec<Seen> = kinds.into_iter().collect();
    kinds.sort_by_key(|seen| seen.namespaced);
    kinds
}

/// Puts each object under its resource.
fn map(collected: &mut Collector, resources: &Resources) -> Result<(), DumpError> {
    let mut by_name: FxHashMap<(&str, String), ResourceId> = FxHashMap::default();
    for (id, resource) in resources.iter() {
        by_name.entry((resource.kind.as_str(), resource.api_version())).or_insert(id);
    }
    let strings = &collected.strings;
    let resource = |(api_version, kind): &Type| {
        by_name.get(&(strings.text(*kind), strings.text(*api_version).to_owned())).copied()
    };
    // Of some types, no object stayed.
    let by_type: Vec<Option<ResourceId>> = collected.types.iter().map(resource).collect();
    let resource_of = |object: &Object| by_type[object.resource.index()].expect("the kind of every object was seen");
    for (index, object) in collected.objects.iter().enumerate() {
        let resource = resources.get(resource_of(object));
        if resource.namespaced == object.namespace.is_empty() {
            return Err(DumpError::Scope {
                place: collected.place_of(index),
                object: collected.describe(index),
                kind: resource.kind.clone(),
                namespaced: resource.namespaced,
            });
        }
    }
    for object in &mut collected.objects {
        object.resource = resource_of(object);
    }
    Ok(())
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
    let seen = seen.into_iter().chain(emptied(snapshot));
    let seen: BTreeSet<(ResourceId, &str)> =
        seen.map(|(resource, namespace)| (resource, snapshot.text(namespace))).collect();
    seen.into_iter()
        .map(|(resource, namespace)| list(resource, (!namespace.is_empty()).then(|| namespace.to_owned())))
        .collect()
}

/// What is left of no kind in a Namespace that is being deleted: the API server says of which kinds something is
/// left, and nothing is created there any more (`K/pkg/controller/namespace/deletion/status_condition_utils.go`).
fn emptied(snapshot: &Snapshot) -> Vec<(ResourceId, Symbol)> {
    let mut emptied = Vec::new();
    let is_going = |(id, object): &(ObjectId, &Object)| object.terminating() && snapshot.is_namespace(*id);
    for (namespace, object) in snapshot.objects().filter(is_going) {
        let said = snapshot.facts.said_to_keep(namespace);
        let left: Vec<String> = said.iter().flat_map(|condition| condition.remaining_resources()).collect();
        let is_emptied = snapshot.facts.namespace(namespace).is_some_and(|facts| facts.emptied);
        // What could not be read or deleted is not counted.
        if left.is_empty() && !is_emptied || said.iter().any(|condition| condition.fails()) {
            continue;
        }
        let is_empty = |resource: &Resource| resource.namespaced && !left.contains(&resource.full_name());
        let kinds = snapshot.resources.deletable().filter(|(_, resource)| is_empty(resource));
        emptied.extend(kinds.map(|(id, _)| (snapshot.resources.picked(id), object.name)));
    }
    emptied
}

/// Where each owner reference leads that this dump has no answer to; `None` if its kind is not served.
fn unanswered(snapshot: &Snapshot) -> Vec<(&Object, &Reference, Option<Coordinate>)> {
    let mut mapped: FxHashMap<(Symbol, Symbol), Mapping> = FxHashMap::default();
    let mut unanswered = Vec::new();
    for (_, object) in snapshot.objects() {
        for owner in object.owners.iter() {
            let map = || snapshot.resources.map(snapshot.text(owner.api_version), snapshot.text(owner.kind));
            match *mapped.entry((owner.api_version, owner.kind)).or_insert_with(map) {
                Mapping::Served(id) => {
                    let namespaced = snapshot.resources.get(id).namespaced;
                    let namespace = if namespaced { object.namespace } else { Symbol::EMPTY };
                    let at = Coordinate { resource: snapshot.resources.picked(id), namespace, name: owner.name };
                    // A cluster-scoped object can't have a namespaced owner.
                    let invalid = namespaced && namespace.is_empty();
                    if !invalid && snapshot.look_up(at) == Presence::Unknown {
                        unanswered.push((object, owner, Some(at)));
                    }
                }
                Mapping::Unmappable | Mapping::Undiscovered => unanswered.push((object, owner, None)),
                Mapping::ListKind { .. } => {}
            }
        }
    }
    unanswered
}

/// Judges owners that are not in the dump under the coordinates of a reference by their uid: an object that is
/// elsewhere is not there, and the collector says of some that they are not. Whatever else may be at these coordinates
/// has another uid, so that the reference is dangling either way.
fn settle_owners(snapshot: &mut Snapshot) {
    let mut settled: FxHashMap<Coordinate, bool> = FxHashMap::default();
    for (object, owner, at) in unanswered(snapshot) {
        let Some(at) = at else { continue };
        let is_absent = snapshot.complained_about(object.namespace, owner)
            || snapshot.by_uid(owner.uid).is_some_and(|elsewhere| !is_alias(snapshot, elsewhere, at));
        *settled.entry(at).or_insert(true) &= is_absent;
    }
    for (at, _) in settled.into_iter().filter(|(_, settled)| *settled) {
        snapshot.confirm_absent(at);
    }
}

/// Whether an object may also be served at these coordinates: some API servers serve one object under two groups.
fn is_alias(snapshot: &Snapshot, object: ObjectId, at: Coordinate) -> bool {
    let found = snapshot.object(object);
    let [own, other] = [found.resource, at.resource].map(|resource| snapshot.resources.get(resource));
    (found.namespace, found.name) == (at.namespace, at.name)
        && (own.kind == other.kind || ![own, other].iter().all(|resource| is_built_in_group(&resource.group)))
}

/// Gaps for owners that are not in the dump, and whose kind and scope it doesn't cover.
fn gaps(snapshot: &Snapshot, unsure: &FxHashMap<String, String>) -> BTreeSet<Gap> {
    let held: FxHashSet<ResourceId> = snapshot.objects().map(|(_, object)| object.resource).collect();
    let mut gaps = BTreeSet::new();
    for (_, owner, at) in unanswered(snapshot) {
        let Some(at) = at else {
            let (api_version, kind) = (snapshot.text(owner.api_version), snapshot.text(owner.kind));
            if let Some(reason) = unsure.get(&format!("{api_version} {kind}")) {
                let resource = api_version.to_owned();
                gaps.insert(Gap { resource, namespace: None, reason: reason.as_str().into() });
            }
            continue;
        };
        // Without any object of a kind, one gap covers all namespaces.
        let namespaced = !at.namespace.is_empty() && held.contains(&at.resource);
        gaps.insert(Gap {
            resource: snapshot.resources.get(at.resource).full_name(),
            namespace: namespaced.then(|| snapshot.text(at.namespace).to_owned()),
            reason: NOT_IN_THE_DUMP.into(),
        });
    }
    gaps
}
