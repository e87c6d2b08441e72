//! The cluster once a file is applied: a copy of the snapshot with the objects of the file.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value, json};

use crate::{
    graph::{OwnerGraph, Verdict, map},
    model::{
        Coordinate, Mapping, Object, ObjectEvent, ObjectId, Presence, RawObject, RawReference, Reference, Resource,
        ResourceId, Snapshot, Symbol, facts::read_facts,
    },
    server::KindRules,
    simulate::{Appearing, Needs},
};

use super::{
    arrival::{Arrival, Refusal, Unread, invalid, invalid_references},
    manifest::{FileReference, ManifestObject},
    merge::{LastApplied, merged, merged_finalizers},
};

/// What the API server lets clients do with custom resources.
const VERBS_OF_CUSTOM_RESOURCES: [&str; 8] =
    ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

/// One object of the file in the scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    pub arrival: Arrival,
    /// The object in the scene's snapshot, if it is there.
    pub object: Option<ObjectId>,
    /// Its namespace; empty if its kind is cluster-scoped, or not served.
    pub namespace: String,
    /// Whether it exists with another uid than the file says.
    pub other_uid: bool,
    /// Whether it exists with another resourceVersion than the file says.
    pub other_version: bool,
    /// Whether it could not be read which of its finalizers the apply removes.
    pub unread_finalizers: bool,
    /// Whether it exists in a Namespace that is being deleted.
    pub namespace_goes: bool,
}

/// The cluster right after the apply, before the collector knows of it.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Created objects have made-up uids, which no reference can name.
    pub snapshot: Snapshot,
    /// For each object of the file, in its order.
    pub placed: Vec<Placed>,
    pub appearing: Vec<Appearing>,
    /// What should be read to be certain; of the snapshot before.
    pub needs: Needs,
    /// Existing objects whose annotation of `kubectl apply` decides.
    pub unread_last: Vec<ObjectId>,
    /// How many objects there were before.
    existing: usize,
    /// The kinds that CRDs of the file define, by apiVersion and kind: `CustomResourceDefinition/NAME`.
    definitions: FxHashMap<(String, String), String>,
    /// The kinds that CRDs define which the file creates.
    new_kinds: Vec<Resource>,
    /// The namespaces of the objects of the file, by `metadata.uid`.
    saved: FxHashMap<String, String>,
    /// The apiVersion, kind, namespace and name of each object of the file.
    names: FxHashSet<[String; 4]>,
}

/// Where an object of the file belongs.
struct Spot {
    resource: ResourceId,
    namespace: String,
}

impl Scene {
    /// Applies the objects, in their order, to a copy of the snapshot. Objects without a namespace are in `namespace`.
    /// `last` has what was applied last to existing objects, by uid. The snapshot learns the names in the file, so that
    /// they can be looked up.
    pub fn of(
        snapshot: &mut Snapshot,
        objects: &[ManifestObject],
        namespace: &str,
        last: &FxHashMap<String, LastApplied>,
    ) -> Self {
        intern(snapshot, objects, namespace);
        let mut scene = Scene {
            existing: snapshot.len(),
            snapshot: snapshot.clone(),
            placed: Vec::with_capacity(objects.len()),
            appearing: Vec::new(),
            needs: Needs::default(),
            unread_last: Vec::new(),
            definitions: definitions(objects),
            new_kinds: Vec::new(),
            saved: FxHashMap::default(),
            names: FxHashSet::default(),
        };
        let mut placing =
            Placing { before: snapshot, objects, last, created: FxHashSet::default(), twins: twins(objects) };
        for index in 0..objects.len() {
            let placed = placing.place(&mut scene, index, namespace);
            scene.placed.push(placed);
        }
        for (object, placed) in objects.iter().zip(&scene.placed) {
            if placed.arrival == Arrival::Created {
                scene.new_kinds.extend(kinds_of(object));
            }
            let ManifestObject { api_version, kind, name, uid, .. } = object;
            if !uid.is_empty() {
                scene.saved.entry(uid.clone()).or_insert_with(|| placed.namespace.clone());
            }
            scene.names.insert([api_version.clone(), kind.clone(), placed.namespace.clone(), name.clone()]);
        }
        scene
    }

    /// The namespace of the object of the file with this uid in its metadata.
    pub(super) fn namespace_of_saved(&self, uid: &str) -> Option<&str> {
        self.saved.get(uid).map(String::as_str)
    }

    /// Whether the file has the owner that a reference of an object in this namespace names.
    pub(super) fn has_in_file(&self, reference: &FileReference, namespace: &str) -> bool {
        let RawReference { api_version, kind, name, .. } = reference;
        let at = |namespace: &str| [&**api_version, kind, namespace, name].map(str::to_owned);
        self.names.contains(&at(namespace)) || self.names.contains(&at(""))
    }

    /// Whether the file creates an object.
    pub fn is_new(&self, object: ObjectId) -> bool {
        object.index() >= self.existing
    }

    /// The CRD of the file that defines a kind.
    pub(super) fn definition_of(&self, api_version: &str, kind: &str) -> Option<&str> {
        self.definitions.get(&(api_version.to_owned(), kind.to_owned())).map(String::as_str)
    }

    /// The cluster once the API server serves the kinds that CRDs of the file define: the collector tries those objects
    /// again whose owners are of these kinds (R8.9). `None` if there are none, beside those of the file.
    pub fn once_served(&self) -> Option<Scene> {
        let own: FxHashSet<ObjectId> = self.placed.iter().filter_map(|placed| placed.object).collect();
        let is_new = |reference: &Reference| {
            let (api_version, kind) = (self.snapshot.text(reference.api_version), self.snapshot.text(reference.kind));
            self.new_kinds.iter().any(|new| new.api_version() == api_version && new.kind == kind)
        };
        let dependents = self
            .snapshot
            .objects()
            .filter(|(id, object)| !self.new_kinds.is_empty() && !own.contains(id) && object.owners.iter().any(is_new));
        let again = |(object, stored): (ObjectId, &Object)| Appearing {
            object,
            before: Some(stored.owners.to_vec()),
            loses: Vec::new(),
        };
        let appearing: Vec<Appearing> = dependents.map(again).collect();
        if appearing.is_empty() {
            return None;
        }
        let mut served = Scene { appearing, ..self.clone() };
        served.snapshot.serve(self.new_kinds.clone());
        Some(served)
    }

    /// What of these needs concerns the cluster as it is: the others are about objects that don't exist yet.
    pub fn of_cluster(&self, needs: &Needs) -> Needs {
        let mut needs = needs.clone();
        for objects in
            [&mut needs.facts, &mut needs.kubelets, &mut needs.setters, &mut needs.evidence, &mut needs.adopters]
        {
            objects.retain(|object| !self.is_new(*object));
        }
        needs
    }

    /// Whether an object that stays for now goes later: each owner that keeps it is being deleted, or its kind is
    /// served only once a CRD of the file is.
    pub(super) fn goes_later(&self, graph: &OwnerGraph, object: ObjectId) -> bool {
        let mut open = vec![object];
        let mut seen: FxHashSet<ObjectId> = open.iter().copied().collect();
        let mut any = false;
        while let Some(object) = open.pop() {
            let stored = self.snapshot.object(object);
            if stored.owners.is_empty() {
                return false;
            }
            for reference in stored.owners.iter() {
                match Verdict::of(&self.snapshot, graph, reference, stored.namespace) {
                    // It is freed of that one.
                    Verdict::Solid(owner) if self.snapshot.object(owner).finalizers.contains(&Symbol::ORPHAN) => {}
                    Verdict::Waiting(_) => any = true,
                    Verdict::Solid(owner) if self.snapshot.object(owner).terminating() => any = true,
                    // This owner may go later itself.
                    Verdict::Solid(owner) if seen.insert(owner) => open.push(owner),
                    Verdict::Solid(_) | Verdict::Dangling(_) => {}
                    Verdict::Unmappable => {
                        let text = |symbol| self.snapshot.text(symbol);
                        if self.definition_of(text(reference.api_version), text(reference.kind)).is_none() {
                            return false;
                        }
                        any = true;
                    }
                    Verdict::InvalidScope | Verdict::Doubted | Verdict::Unknown => return false,
                }
            }
        }
        any
    }

    fn coordinate(&self, spot: &Spot, name: &str) -> Coordinate {
        let find = |text: &str| self.snapshot.strings.find(text).unwrap_or_default();
        Coordinate {
            resource: self.snapshot.resources.picked(spot.resource),
            namespace: find(&spot.namespace),
            name: find(name),
        }
    }
}

/// Places the objects of a file one after the other.
struct Placing<'p> {
    /// The cluster as it is.
    before: &'p Snapshot,
    objects: &'p [ManifestObject],
    last: &'p FxHashMap<String, LastApplied>,
    /// The namespaces that the file has created so far.
    created: FxHashSet<String>,
    /// Of each object, an earlier one with the same coordinates.
    twins: Vec<Twin>,
}

/// Whether the file names an object several times.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Twin {
    None,
    /// It is the same as this earlier one, as far as it matters here.
    Same(usize),
    /// They differ.
    Different,
}

impl Placing<'_> {
    fn place(&mut self, scene: &mut Scene, index: usize, default: &str) -> Placed {
        let object = &self.objects[index];
        let nowhere = |arrival: Arrival| Placed {
            arrival,
            object: None,
            namespace: String::new(),
            other_uid: false,
            other_version: false,
            unread_finalizers: false,
            namespace_goes: false,
        };
        let spot = match self.spot(scene, object, default) {
            Ok(spot) => spot,
            Err(arrival) => return nowhere(arrival),
        };
        let placed = |arrival: Arrival| Placed { namespace: spot.namespace.clone(), ..nowhere(arrival) };
        match self.twins[index] {
            Twin::Different => return placed(Arrival::Unknown(Unread::Twice)),
            Twin::Same(earlier) => {
                let earlier = &scene.placed[earlier];
                let arrival = match &earlier.arrival {
                    Arrival::Created | Arrival::Patched => Arrival::Unchanged,
                    other => other.clone(),
                };
                return Placed { arrival, ..earlier.clone() };
            }
            Twin::None => {}
        }
        if let Some(refusal) = invalid(object) {
            return placed(Arrival::Refused(refusal));
        }
        let new_namespace = match self.namespace(scene, &spot) {
            Ok(new) => new,
            Err(arrival) => return placed(arrival),
        };
        // The API server makes a name that nothing has.
        let at = scene.coordinate(&spot, &object.name);
        let presence = match object.name.is_empty() || new_namespace {
            true => Presence::Absent,
            false => look_up(self.before, &mut scene.needs, at),
        };
        match presence {
            Presence::Unknown => placed(Arrival::Unknown(Unread::Existence)),
            Presence::Absent => {
                if self.is_terminating(scene, &spot) {
                    return placed(Arrival::Refused(Refusal::NamespaceTerminating(spot.namespace.clone())));
                }
                let created = Placed { object: Some(create(scene, object, &spot, index)), ..placed(Arrival::Created) };
                if (object.group(), object.kind.as_str()) == ("", "Namespace") {
                    self.created.insert(object.name.clone());
                }
                created
            }
            Presence::Present(existing) => {
                let stored = self.before.object(existing);
                let differs = |file: &str, live: &str| !file.is_empty() && file != live;
                let version = stored.resource_version.text(&self.before.strings);
                let mut there = Placed {
                    object: Some(existing),
                    other_uid: differs(&object.uid, self.before.text(stored.uid)),
                    other_version: !version.is_empty() && differs(&object.resource_version, &version),
                    namespace_goes: self.is_terminating(scene, &spot),
                    ..placed(Arrival::Unchanged)
                };
                there.arrival = if there.other_uid {
                    Arrival::Refused(Refusal::OtherUid)
                } else if there.other_version {
                    Arrival::Refused(Refusal::OtherVersion)
                } else {
                    let (arrival, certain) = self.update(scene, object, existing);
                    there.unread_finalizers = !certain;
                    arrival
                };
                there
            }
        }
    }

    /// The resource and the namespace of an object.
    fn spot(&self, scene: &Scene, object: &ManifestObject, default: &str) -> Result<Spot, Arrival> {
        let resources = &self.before.resources;
        let undiscovered = |api_version: &str| self.before.gaps.iter().any(|gap| gap.resource == api_version);
        let (api_version, kind) = (object.api_version.clone(), object.kind.clone());
        match map(resources, undiscovered, &api_version, &kind) {
            Mapping::Served(resource) if resources.get(resource).kind == kind => {
                let own = if object.namespace.is_empty() { default } else { object.namespace.as_str() };
                let namespace = if resources.get(resource).namespaced { own } else { "" };
                Ok(Spot { resource, namespace: namespace.to_owned() })
            }
            Mapping::Undiscovered => Err(Arrival::Unknown(Unread::Kind(api_version))),
            _ => Err(Arrival::Refused(match scene.definition_of(&api_version, &kind) {
                Some(definition) => Refusal::DefinedByFile { definition: definition.to_owned() },
                None => Refusal::UnservedKind { api_version, kind },
            })),
        }
    }

    /// Whether the file has just created an object's namespace.
    fn namespace(&self, scene: &mut Scene, spot: &Spot) -> Result<bool, Arrival> {
        let Some(resource) = self.before.resources.by_group_kind("", "Namespace") else { return Ok(false) };
        if spot.namespace.is_empty() {
            return Ok(false);
        }
        let of_namespace = Spot { resource, namespace: String::new() };
        let at = scene.coordinate(&of_namespace, &spot.namespace);
        let presence = look_up(self.before, &mut scene.needs, at);
        let is_namespace = |object: &ManifestObject| (object.group(), object.kind.as_str()) == ("", "Namespace");
        let in_file = |object: &ManifestObject| is_namespace(object) && object.name == spot.namespace;
        match presence {
            Presence::Present(_) => Ok(false),
            Presence::Absent if self.created.contains(&spot.namespace) => Ok(true),
            Presence::Absent if self.objects.iter().any(in_file) => {
                Err(Arrival::Refused(Refusal::NamespaceLater(spot.namespace.clone())))
            }
            Presence::Absent => Err(Arrival::Refused(Refusal::NoNamespace(spot.namespace.clone()))),
            // What is in a namespace proves that it exists.
            Presence::Unknown if self.has_contents(&spot.namespace) => Ok(false),
            Presence::Unknown => Err(Arrival::Unknown(Unread::Namespace(spot.namespace.clone()))),
        }
    }

    fn has_contents(&self, namespace: &str) -> bool {
        let Some(namespace) = self.before.strings.find(namespace) else { return false };
        self.before.objects().any(|(_, object)| object.namespace == namespace)
    }

    fn is_terminating(&self, scene: &Scene, spot: &Spot) -> bool {
        let Some(resource) = self.before.resources.by_group_kind("", "Namespace") else { return false };
        let at = scene.coordinate(&Spot { resource, namespace: String::new() }, &spot.namespace);
        !spot.namespace.is_empty()
            && self.before.look_up(at).object().is_some_and(|namespace| self.before.object(namespace).terminating())
    }

    /// Changes the references and finalizers of an object that exists. Says also whether its finalizers are certain.
    fn update(&self, scene: &mut Scene, object: &ManifestObject, existing: ObjectId) -> (Arrival, bool) {
        let stored = self.before.object(existing);
        let mut raw = self.before.raw(existing).into_owned();
        let live = raw.owners.clone();
        let held: Vec<String> = raw.finalizers.iter().map(|finalizer| finalizer.clone().into_owned()).collect();
        let strategic = KindRules::of(self.before.resources.get(stored.resource)).strategic_merge;
        let last = self.last.get(&*raw.uid).cloned().unwrap_or_default();
        let references = merged(strategic, &live, object.references.as_deref(), &last).map(without_duplicates);
        let (finalizers, certain) = merged_finalizers(strategic, &held, object.finalizers.as_deref(), &last);
        if last == LastApplied::Unread && (references.is_none() || !certain) {
            scene.unread_last.push(existing);
        }
        let Some(merged) = references else { return (Arrival::Unknown(Unread::LastApplied), certain) };
        if let Some(new) = finalizers.iter().find(|finalizer| stored.terminating() && !held.contains(finalizer)) {
            return (Arrival::Refused(Refusal::NewFinalizer(new.clone())), certain);
        }
        let same = same_references(&merged, &live);
        if let Some(refusal) = invalid_references(&merged).filter(|_| !same) {
            return (Arrival::Refused(refusal), certain);
        }
        let before: Vec<Reference> = stored.owners.to_vec();
        raw.owners = if same { raw.owners } else { merged.clone() };
        // Without its last finalizer, a terminating object goes: that is simulated.
        let symbols = stored.finalizers.iter().copied();
        let is_lost = |finalizer: &Symbol| !finalizers.iter().any(|kept| kept == self.before.text(*finalizer));
        let loses: Vec<Symbol> = if stored.terminating() { symbols.filter(is_lost).collect() } else { Vec::new() };
        if !stored.terminating() {
            raw.finalizers = finalizers.into_iter().map(Cow::Owned).collect();
        }
        scene.snapshot.apply_events([ObjectEvent { resource: stored.resource, object: raw, gone: false }]);
        if !same || !loses.is_empty() {
            scene.appearing.push(Appearing { object: existing, before: Some(before), loses });
        }
        (if same { Arrival::Unchanged } else { Arrival::Patched }, certain)
    }
}

/// The object at a coordinate of the cluster as it is; adds what must be looked up to be sure.
fn look_up(before: &Snapshot, needs: &mut Needs, at: Coordinate) -> Presence {
    let presence = before.look_up(at);
    match presence {
        Presence::Unknown => drop(needs.look_ups.insert(at)),
        Presence::Absent => drop(needs.absences.insert(at)),
        Presence::Present(_) => {}
    }
    presence
}

/// Adds an object with a made-up uid.
fn create(scene: &mut Scene, object: &ManifestObject, spot: &Spot, index: usize) -> ObjectId {
    let name = match object.name.is_empty() {
        true => format!("{}\u{1}{index}", object.generate_name),
        false => object.name.clone(),
    };
    let raw = RawObject {
        namespace: Cow::Owned(spot.namespace.clone()),
        name: Cow::Owned(name),
        uid: Cow::Owned(format!("\u{1}{index}")),
        created: scene.snapshot.read_at,
        finalizers: object.finalizers.iter().flatten().map(|finalizer| Cow::Owned(finalizer.clone())).collect(),
        owners: without_duplicates(object.written().to_vec()),
        labels: object.labels.iter().map(|(key, value)| (key.clone().into(), value.clone().into())).collect(),
        ..RawObject::default()
    };
    let created = ObjectId(scene.snapshot.len() as u32);
    scene.snapshot.apply_events([ObjectEvent { resource: spot.resource, object: raw, gone: false }]);
    if let Some(fact) = read_facts(object.group(), &object.kind, &as_created(object)) {
        scene.snapshot.learn(created, fact);
    }
    scene.appearing.push(Appearing { object: created, before: None, loses: Vec::new() });
    created
}

/// An object as the API server stores it: it begins without a status, and a Namespace with its finalizer.
fn as_created(object: &ManifestObject) -> Value {
    let mut whole = object.whole.clone();
    whole["status"] = json!({});
    if !whole["spec"].is_object() {
        whole["spec"] = json!({});
    }
    if (object.group(), object.kind.as_str()) == ("", "Namespace") {
        whole["spec"]["finalizers"] = json!(["kubernetes"]);
    }
    whole
}

/// Which objects the file names several times.
fn twins(objects: &[ManifestObject]) -> Vec<Twin> {
    let mut first: FxHashMap<[&str; 4], usize> = FxHashMap::default();
    let mut twins = vec![Twin::None; objects.len()];
    for (index, object) in objects.iter().enumerate().filter(|(_, object)| !object.name.is_empty()) {
        let key = [object.group(), &object.kind, &object.namespace, &object.name];
        let earlier = *first.entry(key).or_insert(index);
        if earlier == index {
            continue;
        }
        let other = &objects[earlier];
        let same = other.references == object.references
            && other.finalizers == object.finalizers
            && other.uid == object.uid
            && other.resource_version == object.resource_version;
        match same && twins[earlier] == Twin::None {
            true => twins[index] = Twin::Same(earlier),
            false => (twins[earlier], twins[index]) = (Twin::Different, Twin::Different),
        }
    }
    twins
}

/// The kinds that CRDs of the file define.
fn definitions(objects: &[ManifestObject]) -> FxHashMap<(String, String), String> {
    let of_object = |object| kinds_of(object).into_iter().map(move |new| (new, ManifestObject::short_name(object)));
    let all = objects.iter().flat_map(of_object);
    all.map(|(new, definition)| ((new.api_version(), new.kind), definition)).collect()
}

/// The kinds that a CRD defines.
fn kinds_of(object: &ManifestObject) -> Vec<Resource> {
    if object.kind != "CustomResourceDefinition" {
        return Vec::new();
    }
    Resource::defined_by(&object.whole).map(|kind| kind.with_verbs(&VERBS_OF_CUSTOM_RESOURCES)).collect()
}

/// Makes symbols of all that may have to be looked up.
fn intern(snapshot: &mut Snapshot, objects: &[ManifestObject], namespace: &str) {
    let strings = &mut snapshot.strings;
    strings.intern(namespace);
    for object in objects {
        strings.intern(&object.namespace);
        strings.intern(&object.name);
        for reference in object.written() {
            for text in [&reference.api_version, &reference.kind, &reference.name, &reference.uid] {
                strings.intern(text);
            }
        }
    }
}

/// The API server drops exact duplicates (R1.35).
fn without_duplicates(references: Vec<FileReference>) -> Vec<FileReference> {
    let mut distinct: Vec<FileReference> = Vec::with_capacity(references.len());
    for reference in references {
        if !distinct.contains(&reference) {
            distinct.push(reference);
        }
    }
    distinct
}

fn same_references(one: &[FileReference], other: &[FileReference]) -> bool {
    one.len() == other.len() && one.iter().all(|reference| other.contains(reference))
}
