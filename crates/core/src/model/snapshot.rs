//! Everything that was read from a cluster or a dump, and what could not be read.

mod apply_events;
#[cfg(test)]
mod apply_events_tests;
mod hidden;
pub use self::hidden::{API_SERVICE, NOT_IN_THE_DUMP, UNDISCOVERED, group_version_of_service};
mod index;
mod update;
#[cfg(test)]
mod update_tests;

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use smallvec::SmallVec;

use self::index::Index;

use super::{
    compact::ResourceVersion,
    facts::{Fact, Facts, Said, VolumeFacts},
    gap::{Gap, GapKind, GapReason},
    gaps::Gaps,
    object::{Coordinate, Object, ObjectId, RawObject, RawReference},
    reference::Reference,
    resources::{Resource, ResourceId, Resources},
    strings::{Strings, Symbol},
};

/// The source of a snapshot, printed in the first line of every output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Origin {
    /// A live cluster.
    Cluster {
        /// The kubeconfig context; empty inside a pod.
        #[serde(skip_serializing_if = "String::is_empty")]
        context: String,
        /// `host:port` of the API server.
        server: String,
    },
    /// Files, folders or standard input, as given on the command line.
    Dump {
        /// The values of `--from`.
        #[serde(rename = "files")]
        paths: Vec<String>,
    },
}

/// What one list covered, and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListRecord {
    /// The resource in the version that was read.
    pub resource: ResourceId,
    /// The namespace of the list; `None`: all.
    pub namespace: Option<String>,
    /// The list's resourceVersion; empty for dumps.
    pub resource_version: String,
    /// Why it failed; `None` if it is complete.
    pub failure: Option<GapReason>,
}

impl ListRecord {
    /// A complete list of all namespaces, in no version that counts.
    pub fn complete(resource: ResourceId) -> Self {
        ListRecord { resource, namespace: None, resource_version: String::new(), failure: None }
    }
}

/// The result of a look-up by coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// This object exists.
    Present(ObjectId),
    /// No object exists: proven.
    Absent,
    /// Not read: forbidden, failed or not listed.
    Unknown,
}

impl Presence {
    /// The object, if it is known to exist.
    pub fn object(self) -> Option<ObjectId> {
        match self {
            Presence::Present(object) => Some(object),
            Presence::Absent | Presence::Unknown => None,
        }
    }
}

/// The objects of one cluster or dump. Only reading changes a snapshot; the effects of a delete are an overlay
/// ([`crate::simulate`]).
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub origin: Origin,
    pub resources: Resources,
    pub strings: Strings,
    pub lists: Vec<ListRecord>,
    pub gaps: Vec<Gap>,
    /// The objects among the gaps.
    pub(super) unread_objects: Gaps,
    pub facts: Facts,
    /// When a cluster was read, in Unix seconds; `None` for a dump.
    pub read_at: Option<i64>,
    /// What was told beyond the objects.
    pub told: Box<Told>,
    objects: Vec<Object>,
    index: Index,
    covered: FxHashMap<ResourceId, Cover>,
    confirmed_absent: FxHashSet<Coordinate>,
    /// Coordinates at which a look-up found an object.
    found: FxHashSet<Coordinate>,
    /// Coordinates whose look-up failed: unknown, whatever a list says.
    unanswered: FxHashSet<Coordinate>,
    written_as: Vec<(Symbol, Symbol)>,
}

/// When the last things happened that a dump tells of, in Unix seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// Whatever it is: the dump is from then, or from any time after.
    pub latest: Option<i64>,
    /// What is written again and again, so that the dump is from about then: a Lease, a kubelet's report.
    pub heartbeat: Option<i64>,
}

impl Times {
    /// The later of both.
    #[must_use]
    pub fn max(self, other: Times) -> Times {
        Times { latest: self.latest.max(other.latest), heartbeat: self.heartbeat.max(other.heartbeat) }
    }
}

/// What a dump or an API server tells beyond its objects.
#[derive(Clone, Debug, Default)]
pub struct Told {
    /// By uid: why the API server refuses any change of an object, because it no longer satisfies the schema of its CRD
    /// (R1.36); `None` if it would accept one. An object without an entry was not asked about.
    pub unpatchable: FxHashMap<Symbol, Option<String>>,
    /// Of a dump: when the last things happened.
    pub times: Times,
    /// Of a dump: when kube-controller-manager last changed an object, as managed fields say, in Unix seconds.
    pub manager_acted: Option<i64>,
    /// Namespaces and uids of owners that do not exist there, as events of the collector say (R3.7).
    pub complaints: FxHashSet<(Symbol, Symbol)>,
}

#[derive(Clone, Debug, Default)]
struct Cover {
    everywhere: bool,
    namespaces: Vec<Symbol>,
}

impl Snapshot {
    /// All objects, in the order they were added.
    pub fn objects(&self) -> impl Iterator<Item = (ObjectId, &Object)> {
        self.objects.iter().enumerate().map(|(index, object)| (ObjectId(index as u32), object))
    }

    pub fn object(&self, id: ObjectId) -> &Object {
        &self.objects[id.index()]
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }

    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    pub fn by_uid(&self, uid: Symbol) -> Option<ObjectId> {
        self.index.of_uid(&self.objects, uid)
    }

    /// The object with this uid, as text.
    pub fn with_uid(&self, uid: &str) -> Option<ObjectId> {
        self.by_uid(self.strings.find(uid)?)
    }

    /// The object at a coordinate. `Absent` requires a complete list or a look-up (R8.7).
    pub fn look_up(&self, coordinate: Coordinate) -> Presence {
        if self.unanswered.contains(&coordinate) {
            return Presence::Unknown;
        }
        if let Some(id) = self.at(coordinate) {
            return Presence::Present(id);
        }
        if self.confirmed_absent.contains(&coordinate) {
            return Presence::Absent;
        }
        match self.covered.get(&coordinate.resource) {
            Some(cover) if cover.everywhere || cover.namespaces.contains(&coordinate.namespace) => Presence::Absent,
            _ => Presence::Unknown,
        }
    }

    /// The first object that was read at a coordinate.
    fn at(&self, coordinate: Coordinate) -> Option<ObjectId> {
        self.index.at(&self.objects, coordinate)
    }

    /// The coordinate of an object that text names. If nothing that was read has such a name, there is none: `Absent`
    /// if the list is complete, otherwise `Unknown`.
    pub(crate) fn locate(&self, resource: ResourceId, namespace: &str, name: &str) -> Result<Coordinate, Presence> {
        match (self.strings.find(namespace), self.strings.find(name)) {
            (Some(namespace), Some(name)) => Ok(Coordinate { resource, namespace, name }),
            (namespace, _) if self.covers(resource, namespace) => Err(Presence::Absent),
            _ => Err(Presence::Unknown),
        }
    }

    /// [`Self::look_up`] of an object that text names.
    pub fn look_up_named(&self, resource: ResourceId, namespace: &str, name: &str) -> Presence {
        self.locate(resource, namespace, name).map_or_else(|presence| presence, |at| self.look_up(at))
    }

    /// Whether an object was created after another one, as far as that is known.
    pub(crate) fn is_younger(&self, object: ObjectId, than: ObjectId) -> bool {
        let [created, before] = [object, than].map(|id| self.object(id).created);
        before.is_some() && created > before
    }

    /// The claim that a volume names, in whatever state; `Unknown` also if the volume's facts weren't read, or name
    /// none.
    pub(crate) fn claim_of(&self, volume: ObjectId) -> Presence {
        let named = self.facts.volume(volume).and_then(VolumeFacts::claim_name);
        let claims = self.resources.by_group_kind("", "PersistentVolumeClaim");
        let at = |(claims, (namespace, name))| self.look_up_named(claims, namespace, name);
        claims.zip(named).map_or(Presence::Unknown, at)
    }

    /// Whether all objects of a resource were listed, in one namespace or (`None`) in all.
    pub fn covers(&self, resource: ResourceId, namespace: Option<Symbol>) -> bool {
        self.covered.get(&self.resources.picked(resource)).is_some_and(|cover| {
            cover.everywhere || namespace.is_some_and(|namespace| cover.namespaces.contains(&namespace))
        })
    }

    /// Whether an event of the collector in a dump says that this owner does not exist in this namespace.
    pub fn complained_about(&self, namespace: Symbol, owner: &Reference) -> bool {
        self.told.complaints.contains(&(namespace, owner.uid))
    }

    /// Records a look-up that found nothing.
    pub fn confirm_absent(&mut self, coordinate: Coordinate) {
        self.confirmed_absent.insert(coordinate);
    }

    /// Lets the API server serve these kinds, of which there is no object yet.
    pub(crate) fn serve(&mut self, new: Vec<Resource>) {
        let first = self.resources.len();
        for resource in &new {
            let api_version = self.strings.intern(&resource.api_version());
            self.written_as.push((api_version, self.strings.intern(&resource.kind)));
        }
        self.resources = self.resources.with(new);
        for (id, _) in self.resources.iter().skip(first) {
            self.covered.entry(self.resources.picked(id)).or_default().everywhere = true;
        }
    }

    /// Records the facts of an object, and interns the names in them, which may have to be looked up.
    pub fn learn(&mut self, object: ObjectId, fact: Fact) {
        fact.intern_names(&mut self.strings);
        self.facts.insert(object, fact);
    }

    /// Records a warning about an object, unless its status says why it is still there: of what is Terminating, one
    /// since its deletion; of a volume whose data is being deleted, why that fails.
    pub fn hear(&mut self, object: ObjectId, warning: Said) {
        let (id, resource) = (object, self.resource(object));
        let of_volume = warning.words.starts_with("VolumeFailedDelete")
            && self.facts.volume(id).is_some_and(VolumeFacts::is_being_deleted);
        let is_news = self.object(id).deletion_requested().is_some_and(|deleted| warning.at >= Some(deleted));
        let is_said = self.facts.said(id).first().is_some_and(Said::gives_a_reason);
        let of_pod = (resource.group.as_str(), resource.kind.as_str()) == ("", "Pod");
        let is_of_it = !of_pod || warning.tells_of_deletion() || warning.tells_of_volumes();
        if of_volume || is_news && is_of_it && !is_said {
            self.facts.insert_said(id, vec![warning]);
        }
    }

    /// Coordinates whose look-up found nothing, in no particular order.
    pub fn confirmed_absent(&self) -> impl Iterator<Item = Coordinate> {
        self.confirmed_absent.iter().copied()
    }

    /// Records a look-up that failed: lists don't decide about this coordinate any more (R10.2).
    pub fn leave_unanswered(&mut self, coordinate: Coordinate) {
        self.unanswered.insert(coordinate);
    }

    /// Coordinates whose look-up failed, in no particular order.
    pub fn unanswered(&self) -> impl Iterator<Item = Coordinate> {
        self.unanswered.iter().copied()
    }

    /// Whether a coordinate was looked up, with any result.
    pub fn was_looked_up(&self, coordinate: Coordinate) -> bool {
        self.confirmed_absent.contains(&coordinate)
            || self.found.contains(&coordinate)
            || self.unanswered.contains(&coordinate)
    }

    /// Records a look-up that found an object. It replaces a listed object with another uid.
    pub fn found(&mut self, resource: ResourceId, raw: &RawObject<'_>) -> ObjectId {
        let id = self.add(resource, raw);
        let coordinate = self.objects[id.index()].coordinate();
        self.found.insert(coordinate);
        let listed = self.at(coordinate).unwrap_or(id);
        if listed == id {
            return id;
        }
        // The new object was added last; it takes over the id of the listed one.
        self.index.replace(&self.objects, listed, id);
        self.objects.swap_remove(listed.index());
        self.facts.remove(listed);
        listed
    }

    /// Adds an object. See [`SnapshotBuilder::add`].
    pub fn add(&mut self, resource: ResourceId, raw: &RawObject<'_>) -> ObjectId {
        let resource = self.resources.picked(resource);
        let strings = &mut self.strings;
        let namespace = strings.intern(&raw.namespace);
        let name = strings.intern(&raw.name);
        let coordinate = Coordinate { resource, namespace, name };
        let uid = strings.intern(&raw.uid);
        if let Some(known) = self.at(coordinate)
            && self.objects[known.index()].uid == uid
        {
            return known;
        }
        let object = self.intern(coordinate, raw);
        let id = ObjectId(self.objects.len() as u32);
        self.objects.push(object);
        self.index.add(&self.objects, id);
        id
    }

    /// Interns an object's metadata.
    fn intern(&mut self, coordinate: Coordinate, raw: &RawObject<'_>) -> Object {
        let strings = &mut self.strings;
        let mut labels: SmallVec<[(Symbol, Symbol); 16]> =
            raw.labels.iter().map(|(key, value)| (strings.intern(key), strings.intern(value))).collect();
        labels.sort_unstable();
        let finalizers: SmallVec<[Symbol; 4]> =
            raw.finalizers.iter().map(|finalizer| strings.intern(finalizer)).collect();
        let owners: SmallVec<[Reference; 2]> = raw.owners.iter().map(|owner| owner.intern(strings)).collect();
        Object {
            resource: coordinate.resource,
            namespace: coordinate.namespace,
            name: coordinate.name,
            uid: strings.intern(&raw.uid),
            resource_version: ResourceVersion::of(strings, &raw.resource_version),
            created: raw.created.into(),
            deleted: raw.deleted.into(),
            grace: raw.grace.into(),
            finalizers: strings.finalizers(&*finalizers),
            owners: strings.owners(&*owners),
            labels: strings.labels(&*labels),
            spared: raw.spared,
            tracked_by: strings.intern(&raw.tracked_by),
        }
    }

    /// `apiVersion` and `kind` of a resource, as a correct reference contains them.
    pub(crate) fn written_as(&self, resource: ResourceId) -> (Symbol, Symbol) {
        self.written_as[resource.index()]
    }

    /// The time of the data in Unix seconds, if anything tells it. A dump was taken at its latest timestamp or later.
    pub fn time(&self) -> Option<i64> {
        self.read_at.or_else(|| {
            let times = self.objects.iter().flat_map(|object| [object.created.get(), object.deletion_requested()]);
            times.flatten().max().max(self.told.times.latest)
        })
    }

    /// Whether the data is from about its time, and not from any time after: something that is written again and again
    /// was written then, at most so many seconds before.
    pub fn is_timed(&self, within: i64) -> bool {
        let beats = |beat: i64| self.time().is_some_and(|time| time - beat <= within);
        self.read_at.is_some() || self.told.times.heartbeat.is_some_and(beats)
    }

    /// Whether there are no gaps.
    pub fn complete(&self) -> bool {
        self.gaps.is_empty()
    }

    /// Group versions that discovery could not describe, by index of their gaps.
    pub fn undiscovered(&self) -> impl Iterator<Item = usize> {
        let live = matches!(self.origin, Origin::Cluster { .. });
        self.gaps.iter().enumerate().filter(move |(_, gap)| live && gap.is_undiscovered()).map(|(place, _)| place)
    }

    /// Resources that no client can list, not even built-in controllers, by index of their gaps: undiscovered group
    /// versions, custom resources with a failing conversion webhook, and resources with an object that can't be decoded
    /// (S19). A namespace that may contain some is not removed (R9.11).
    pub(crate) fn unreadable_by_all(&self) -> impl Iterator<Item = usize> {
        let failing = self.gaps.iter().enumerate().filter(|(_, gap)| gap.reason.blocks_all()).map(|(place, _)| place);
        self.undiscovered().chain(failing)
    }

    /// Whether objects of a resource in a namespace are missing because a list failed.
    pub(crate) fn fails_to_list(&self, resource: ResourceId, namespace: Symbol) -> bool {
        let is_it = |list: &ListRecord| {
            list.failure.is_some() && self.resources.picked(list.resource) == self.resources.picked(resource)
        };
        !self.covers(resource, Some(namespace)) && self.lists.iter().any(is_it)
    }

    /// Whether a resource's list failed because of its conversion webhook.
    pub(crate) fn fails_to_convert(&self, resource: ResourceId) -> bool {
        self.failures(resource).any(|failure| failure.kind() == GapKind::Conversion)
    }

    /// Whether not even the API server's own controllers can list a resource.
    pub(crate) fn is_unreadable_by_all(&self, resource: ResourceId) -> bool {
        self.failures(resource).any(GapReason::blocks_all)
    }

    fn failures(&self, resource: ResourceId) -> impl Iterator<Item = &GapReason> {
        self.lists.iter().filter(move |list| list.resource == resource).filter_map(|list| list.failure.as_ref())
    }

    /// Whether an object is a Namespace.
    pub fn is_namespace(&self, id: ObjectId) -> bool {
        let resource = self.resource(id);
        resource.group.is_empty() && resource.kind == "Namespace"
    }

    /// What an object lacks by its schema, in the API server's words without its name: `spec: Required value`.
    pub fn schema_fault(&self, id: ObjectId) -> Option<&str> {
        let why = self.told.unpatchable.get(&self.object(id).uid)?.as_deref()?;
        Some(why.split_once("is invalid: ").map_or(why, |(_, fault)| fault).trim_end_matches('.'))
    }

    /// `Kind/name` of an object.
    pub fn short_name(&self, id: ObjectId) -> String {
        format!("{}/{}", self.resource(id).named_kind(), self.name(id))
    }

    /// The name of an object.
    pub fn name(&self, id: ObjectId) -> &str {
        self.text(self.object(id).name)
    }

    /// The namespace of an object; empty for cluster scope.
    pub fn namespace(&self, id: ObjectId) -> &str {
        self.text(self.object(id).namespace)
    }

    /// The resource of an object.
    pub fn resource(&self, id: ObjectId) -> &Resource {
        self.resources.get(self.object(id).resource)
    }

    /// The same, with its namespace unless that is the expected one: `Kind/name -n NAMESPACE`.
    pub fn located(&self, id: ObjectId, expected: Option<&str>) -> String {
        let namespace = self.text(self.object(id).namespace);
        let short = self.short_name(id);
        if namespace.is_empty() || expected == Some(namespace) { short } else { format!("{short} -n {namespace}") }
    }

    /// An object's metadata with texts instead of symbols.
    pub fn raw(&self, id: ObjectId) -> RawObject<'_> {
        let object = self.object(id);
        let text = |symbol: Symbol| Cow::Borrowed(self.text(symbol));
        let owners = object.owners.iter().map(|owner| RawReference {
            api_version: text(owner.api_version),
            kind: text(owner.kind),
            name: text(owner.name),
            uid: text(owner.uid),
            controller: owner.controller,
            block_owner_deletion: owner.block_owner_deletion,
        });
        RawObject {
            namespace: text(object.namespace),
            name: text(object.name),
            uid: text(object.uid),
            resource_version: object.resource_version.text(&self.strings),
            created: object.created.get(),
            deleted: object.deleted.get(),
            grace: object.grace.get(),
            finalizers: object.finalizers.iter().map(|finalizer| text(*finalizer)).collect(),
            owners: owners.collect(),
            labels: object.labels.iter().map(|(key, value)| (text(*key), text(*value))).collect(),
            spared: object.spared,
            tracked_by: text(object.tracked_by),
            ..RawObject::default()
        }
    }

    /// The value of an object's label.
    pub fn label(&self, object: ObjectId, key: &str) -> Option<&str> {
        let key = self.strings.find(key)?;
        let labels = &self.object(object).labels;
        labels.iter().find(|(own, _)| *own == key).map(|(_, value)| self.text(*value))
    }

    /// The object that an object's controller reference names, if it was read.
    pub fn controller_of(&self, object: ObjectId) -> Option<ObjectId> {
        self.by_uid(Reference::controller_of(&self.object(object).owners)?.uid)
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        self.strings.text(symbol)
    }
}

/// What became of the objects that a builder took over; `None` if all keep their places.
pub struct Adopted(Option<Vec<Option<ObjectId>>>);

impl Adopted {
    /// The id of an object by its index; `None` if it is a copy that doesn't count.
    pub fn id(&self, index: u32) -> Option<ObjectId> {
        self.0.as_ref().map_or(Some(ObjectId(index)), |moved| moved[index as usize])
    }
}

/// Builds a snapshot from a source, in any order.
#[derive(Debug)]
pub struct SnapshotBuilder {
    snapshot: Snapshot,
}

impl SnapshotBuilder {
    /// A builder with the served resources.
    pub fn new(origin: Origin, resources: Resources) -> Self {
        Self::with_strings(origin, resources, Strings::default())
    }

    /// A builder whose objects will be interned by these strings.
    pub fn with_strings(origin: Origin, resources: Resources, mut strings: Strings) -> Self {
        let written_as = resources
            .iter()
            .map(|(_, resource)| (strings.intern(&resource.api_version()), strings.intern(&resource.kind)))
            .collect();
        SnapshotBuilder {
            snapshot: Snapshot {
                origin,
                resources,
                strings,
                lists: Vec::new(),
                gaps: Vec::new(),
                unread_objects: Gaps::default(),
                facts: Facts::default(),
                read_at: None,
                told: Box::default(),
                objects: Vec::new(),
                index: Index::default(),
                covered: FxHashMap::default(),
                confirmed_absent: FxHashSet::default(),
                found: FxHashSet::default(),
                unanswered: FxHashSet::default(),
                written_as,
            },
        }
    }

    /// Adds an object under its resource, in any version. The same object (coordinate and uid) is added once.
    pub fn add(&mut self, resource: ResourceId, raw: &RawObject<'_>) -> ObjectId {
        self.snapshot.add(resource, raw)
    }

    /// Takes over objects that these strings have interned, under the picked resources of those that they name, and
    /// their facts. Of several copies of an object, the newest counts, in the place of the first. A name exists once:
    /// if `made_again`, so it is with several objects of one name, of which the others are gone. The builder has no
    /// objects yet.
    pub fn adopt(&mut self, mut objects: Vec<Object>, facts: Facts, made_again: bool) -> Adopted {
        let snapshot = &mut self.snapshot;
        snapshot.index.reserve(&objects);
        // From the first copy on: the id of each of the given objects, and by id, which of them counts.
        let mut moved: Option<(Vec<Option<ObjectId>>, Vec<u32>)> = None;
        // Objects that share their coordinate with another one.
        let mut twins: FxHashMap<(Coordinate, Symbol), ObjectId> = FxHashMap::default();
        // Whether an object that was indexed has made way for one with another uid.
        let mut renamed = false;
        let mut kept = 0;
        for index in 0..objects.len() {
            let resource = snapshot.resources.picked(objects[index].resource);
            objects[index].resource = resource;
            let (coordinate, uid) = (objects[index].coordinate(), objects[index].uid);
            let first = snapshot.index.at(&objects, coordinate);
            let known = first.filter(|first| made_again || objects[first.index()].uid == uid);
            if let Some(known) = known.or_else(|| twins.get(&(coordinate, uid)).copied()) {
                let unmoved =
                    || ((0..index as u32).map(|id| Some(ObjectId(id))).collect(), (0..index as u32).collect());
                let (ids, chosen) = moved.get_or_insert_with(unmoved);
                let age = |object: &Object| (object.created.get(), object.resource_version.number());
                let newer = age(&objects[known.index()]) < age(&objects[index]);
                if newer {
                    renamed |= objects[known.index()].uid != uid;
                    objects.swap(known.index(), index);
                    let before = std::mem::replace(&mut chosen[known.index()], index as u32);
                    ids[before as usize] = None;
                }
                ids.push(newer.then_some(known));
                continue;
            }
            let id = ObjectId(kept as u32);
            if first.is_some() {
                twins.insert((coordinate, uid), id);
            }
            objects.swap(kept, index);
            snapshot.index.add(&objects, id);
            if let Some((ids, chosen)) = &mut moved {
                ids.push(Some(id));
                chosen.push(index as u32);
            }
            kept += 1;
        }
        objects.truncate(kept);
        if renamed {
            snapshot.index = Index::of(&objects);
        }
        snapshot.objects = objects;
        let moved = moved.map(|(ids, _)| ids);
        snapshot.facts = facts;
        if let Some(moved) = &moved {
            snapshot.facts.move_to(moved);
        }
        Adopted(moved)
    }

    /// Records a list. A failed one becomes a gap.
    pub fn list(&mut self, list: ListRecord) {
        let snapshot = &mut self.snapshot;
        match &list.failure {
            Some(reason) => self.gap(Gap {
                resource: self.snapshot.resources.get(list.resource).full_name(),
                namespace: list.namespace.clone(),
                reason: reason.clone(),
            }),
            None => {
                let cover = snapshot.covered.entry(snapshot.resources.picked(list.resource)).or_default();
                match &list.namespace {
                    Some(namespace) => cover.namespaces.push(snapshot.strings.intern(namespace)),
                    None => cover.everywhere = true,
                }
            }
        }
        self.snapshot.lists.push(list);
    }

    /// Records a gap, once.
    pub fn gap(&mut self, gap: Gap) {
        if !self.snapshot.gaps.contains(&gap) {
            self.snapshot.gaps.push(gap);
        }
    }

    /// The snapshot so far.
    pub fn snapshot(&mut self) -> &mut Snapshot {
        &mut self.snapshot
    }

    /// Sorts the objects by discovery order, namespace and name, so that parallel lists give a stable result. Ids
    /// returned before are invalid afterwards.
    pub fn sort(&mut self) {
        let snapshot = &mut self.snapshot;
        let mut order: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
        order.sort_by_key(|id| {
            let object = snapshot.object(*id);
            (object.resource, snapshot.strings.text(object.namespace), snapshot.strings.text(object.name))
        });
        let mut moved = vec![None; order.len()];
        for (to, from) in order.iter().enumerate() {
            moved[from.index()] = Some(ObjectId(to as u32));
        }
        snapshot.index.renumber(|id| moved[id.index()].unwrap_or(id));
        snapshot.facts.move_to(&moved);
        // In their place: a second copy would be the most memory that reading a cluster takes.
        for from in 0..moved.len() {
            while let Some(to) = moved[from].map(ObjectId::index).filter(|to| *to != from) {
                snapshot.objects.swap(from, to);
                moved.swap(from, to);
            }
        }
    }

    /// The finished snapshot, with sorted gaps.
    pub fn build(mut self) -> Snapshot {
        self.snapshot.gaps.sort();
        self.snapshot
    }
}
