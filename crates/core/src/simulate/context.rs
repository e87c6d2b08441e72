//! What all simulations on one snapshot share, and look up in it.

use std::sync::{Mutex, OnceLock, atomic::AtomicUsize};

use rustc_hash::FxHashMap;

use crate::{
    graph::OwnerGraph,
    groups::Groups,
    model::{
        Coordinate, ObjectId, ResourceId, Snapshot, Symbol,
        effects::{RELEASE, is_within},
        facts::Required,
    },
    server::KindRules,
};

use super::{
    built_in::BuiltIn,
    controllers::ControllerIndex,
    index::{AdopterIndex, FactIndex, Keepers, ManagedApis},
    needs::{Needs, Once},
    obstacles::Obstacles,
    projection::Projection,
};

/// Which other actors are assumed to do their part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Assume {
    /// Kubelets end pods if their Node exists, and known controllers remove their own finalizers (§9.5).
    #[default]
    Known,
    /// No kubelet ends a pod and no controller removes its finalizer. Only the namespace controller and the CRD
    /// finalizer controller work: deleting these kinds would be meaningless without them.
    None,
}

/// How long the uids are that the API server makes.
const UID_LENGTH: usize = 36;

/// A collector that runs has done what it can do at once within this time, in seconds.
pub(crate) const COLLECTOR_OVERDUE: i64 = 60;

/// A controller that isn't known may still be working on a delete for so long after it was requested, in seconds.
pub(crate) const AT_WORK: i64 = 60;

/// The pod garbage collector is the slowest controller: it deletes a pod at most so many seconds after its Node. It
/// looks every 20 seconds, waits 40, and looks again (`gc_controller.go: gcCheckPeriod, quarantineTime`).
pub(crate) const SLOWEST_CONTROLLER: i64 = 80;

/// A kubelet has ended a pod within this time after its grace period, in seconds, and the namespace controller has
/// removed what is empty.
pub(crate) const LATE: i64 = 600;

/// A controller that runs has done its clean-up, also outside of the cluster, and removed its finalizer within this
/// time, in seconds. Nobody counts on it any more then.
pub(crate) const OVERDUE: i64 = 3600;

/// Data shared by all simulations on one snapshot.
#[derive(Debug)]
pub struct SimContext<'a> {
    pub snapshot: &'a Snapshot,
    pub graph: &'a OwnerGraph,
    pub assume: Assume,
    /// The time of the snapshot, in Unix seconds, if what is overdue matters.
    pub(super) now: Option<i64>,
    /// Whether what is Terminating for a moment only isn't stuck yet.
    is_patient: bool,
    pub built_in: BuiltIn,
    /// Relations between objects that only facts contain.
    pub(crate) fact_index: FactIndex,
    /// What prevents writes; `None`: simulations assume that nothing does.
    pub(crate) obstacles: Option<Obstacles<'a>>,
    rules: Vec<KindRules>,
    by_namespace: OnceLock<Groups<Symbol>>,
    by_resource: OnceLock<Groups<ResourceId>>,
    by_release: OnceLock<Groups<Symbol>>,
    by_mark: OnceLock<Groups<Symbol>>,
    by_own_label: OnceLock<Groups<Symbol>>,
    unread_pods: OnceLock<Groups<Symbol>>,
    users_of_claims: OnceLock<Groups<(Symbol, Symbol)>>,
    definition_of: OnceLock<FxHashMap<ResourceId, ObjectId>>,
    /// The time of the data in Unix seconds; `None` if unknown.
    pub time: Option<i64>,
    /// What may show whether a controller runs.
    pub(crate) controllers: ControllerIndex,
    pub(super) adopters: OnceLock<AdopterIndex>,
    managed_apis: OnceLock<ManagedApis>,
    /// What comes of everything if nothing is deleted: now, and once all others have done their part.
    pub(super) present: Once<Projection>,
    pub(super) later: Once<Projection>,
    /// What is Terminating, and keeps a finalizer as long as others use it (R9.40).
    pub(super) kept_by_users: OnceLock<Vec<(ObjectId, Keepers)>>,
    /// When the controller manager last made or changed an object, in Unix seconds.
    pub(super) manager_acted: OnceLock<Option<i64>>,
    /// By kind, an object on which a controller should have acted by now, and hasn't.
    pub(super) unattended: Once<FxHashMap<ResourceId, ObjectId>>,
    /// What the answers on this snapshot lack. It is with the context, and not with who answers, so that nothing is
    /// lost on the way to who asks. One question is asked at a time.
    pub(super) noted: Mutex<Needs>,
    /// How often an answer was begun or ended whose needs are apart from those of the whole.
    pub(super) asides: AtomicUsize,
}

impl<'a> SimContext<'a> {
    /// Prepares any number of simulations on a snapshot.
    pub fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, assume: Assume) -> Self {
        let rules = snapshot.resources.iter().map(|(_, resource)| KindRules::of(resource)).collect();
        SimContext {
            snapshot,
            graph,
            assume,
            now: None,
            is_patient: false,
            built_in: BuiltIn::of(&snapshot.resources),
            fact_index: FactIndex::default(),
            obstacles: None,
            rules,
            by_namespace: OnceLock::new(),
            by_resource: OnceLock::new(),
            by_release: OnceLock::new(),
            by_mark: OnceLock::new(),
            by_own_label: OnceLock::new(),
            unread_pods: OnceLock::new(),
            users_of_claims: OnceLock::new(),
            definition_of: OnceLock::new(),
            time: snapshot.time(),
            controllers: ControllerIndex::default(),
            adopters: OnceLock::new(),
            managed_apis: OnceLock::new(),
            present: OnceLock::new(),
            later: OnceLock::new(),
            kept_by_users: OnceLock::new(),
            manager_acted: OnceLock::new(),
            unattended: OnceLock::new(),
            noted: Mutex::default(),
            asides: AtomicUsize::default(),
        }
    }

    /// The same for a diagnosis, which takes nothing for stuck on which a controller may still be working. A prediction
    /// says what comes of it if none does.
    #[must_use]
    pub fn patiently(self) -> Self {
        SimContext { is_patient: true, ..self }
    }

    /// The same, where controllers that are overdue are taken not to work.
    #[must_use]
    pub fn at(self, now: Option<i64>) -> Self {
        SimContext { now, time: now.or(self.time), ..self }
    }

    /// How many seconds an object has been terminating beyond its grace period; `None` without a clock.
    pub(crate) fn terminating_for(&self, object: ObjectId) -> Option<i64> {
        Some(self.now? - self.snapshot.object(object).deleted.get()?)
    }

    /// How many seconds ago an object was created; `None` without a clock.
    pub(crate) fn age_of(&self, object: ObjectId) -> Option<i64> {
        Some(self.now? - self.snapshot.object(object).created.get()?)
    }

    /// Whether this is for a diagnosis of a live cluster, which may be made again.
    pub(super) fn can_look_again(&self) -> bool {
        self.is_patient && !self.snapshot.is_dump()
    }

    /// Whether a controller that isn't known may still be working on the delete of an object, if that matters: for a
    /// diagnosis of a live cluster, during its first minute.
    pub(crate) fn is_at_work(&self, object: ObjectId) -> bool {
        self.can_look_again() && self.terminating_for(object).is_some_and(|seconds| seconds < AT_WORK)
    }

    /// For how many seconds an object has been terminating, if its controllers have had their time to let it go.
    pub(crate) fn overdue_for(&self, object: ObjectId) -> Option<i64> {
        let seconds = self.time? - self.snapshot.object(object).deletion_requested()?;
        (seconds >= OVERDUE).then_some(seconds)
    }

    /// The API server's rules for an object's kind.
    pub fn rules(&self, object: ObjectId) -> KindRules {
        self.rules[self.snapshot.object(object).resource.index()]
    }

    /// What has a label whose value is this uid of another object.
    pub(crate) fn marked_with(&self, uid: Symbol) -> &[ObjectId] {
        let index = self.by_mark.get_or_init(|| {
            let marks = self
                .snapshot
                .objects()
                .flat_map(|(id, object)| object.labels.iter().map(move |(_, value)| (*value, id)));
            // A name may be the uid of something else, if that is short.
            let is_long = |value: Symbol| self.snapshot.text(value).len() == UID_LENGTH;
            let is_other = |value: Symbol, id: ObjectId| self.snapshot.by_uid(value).is_some_and(|other| other != id);
            marks.filter(|(value, id)| is_long(*value) && is_other(*value, *id)).collect()
        });
        index.of(&uid)
    }

    /// What names an object in a label of its maker that is called after its kind: `field.cattle.io/projectId` of a
    /// Project of `management.cattle.io`.
    pub(crate) fn named_by_label(&self, object: ObjectId) -> Vec<ObjectId> {
        let snapshot = self.snapshot;
        let (found, resource) = (snapshot.object(object), snapshot.resource(object));
        let index = self.by_own_label.get_or_init(|| {
            let labels = snapshot.objects().flat_map(|(id, of)| of.labels.iter().map(move |label| (*label, id)));
            let is_foreign = |key: Symbol| {
                let domain = snapshot.text(key).split_once('/').map(|(domain, _)| domain);
                domain.is_some_and(|domain| !is_within(domain, "kubernetes.io") && !is_within(domain, "k8s.io"))
            };
            labels.filter(|((key, _), _)| is_foreign(*key)).map(|((_, value), id)| (value, id)).collect()
        });
        let maker =
            resource.group.rmatch_indices('.').nth(1).map_or(&*resource.group, |(dot, _)| &resource.group[dot + 1..]);
        let kind = resource.kind.to_ascii_lowercase();
        let is_its = |key: &str| {
            let (domain, word) = key.split_once('/').unwrap_or_default();
            let word = word.to_ascii_lowercase().replace(['-', '_', '.'], "");
            let word = ["id", "name"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(&word);
            is_within(domain, maker) && word.len() > 2 && (kind.ends_with(word) || word.ends_with(&kind))
        };
        let names = |id: &ObjectId| {
            let labels = &snapshot.object(*id).labels;
            labels.iter().any(|(key, value)| *value == found.name && is_its(snapshot.text(*key)))
        };
        // In its own namespace may be another of this name.
        let is_others = |id: &ObjectId| {
            let at = Coordinate { namespace: snapshot.object(*id).namespace, ..found.coordinate() };
            at.namespace != found.namespace && snapshot.look_up(at).object().is_some()
        };
        index.of(&found.name).iter().copied().filter(|id| *id != object && names(id) && !is_others(id)).collect()
    }

    /// All objects in a namespace.
    pub fn in_namespace(&self, namespace: Symbol) -> &[ObjectId] {
        let objects = || self.snapshot.objects().map(|(id, object)| (object.namespace, id)).collect();
        self.by_namespace.get_or_init(objects).of(&namespace)
    }

    /// The pods of a namespace of which only metadata was read.
    pub(crate) fn unread_pods(&self, namespace: Symbol) -> &[ObjectId] {
        let index = self.unread_pods.get_or_init(|| {
            let pods = self.of_resource(self.built_in.pods).iter().copied();
            let unread = pods.filter(|pod| self.snapshot.facts.pod(*pod).is_none());
            unread.map(|pod| (self.snapshot.object(pod).namespace, pod)).collect()
        });
        index.of(&namespace)
    }

    /// All objects of a resource; none if there is no such resource.
    pub fn of_resource(&self, resource: impl Into<Option<ResourceId>>) -> &[ObjectId] {
        let Some(resource) = resource.into() else { return &[] };
        let objects = || self.snapshot.objects().map(|(id, object)| (object.resource, id)).collect();
        self.by_resource.get_or_init(objects).of(&resource)
    }

    /// All objects whose labels name a HelmRelease of this name.
    pub fn released(&self, name: &str) -> &[ObjectId] {
        let strings = &self.snapshot.strings;
        let index = self.by_release.get_or_init(|| {
            let Some(key) = strings.find(RELEASE) else { return Groups::default() };
            let released = self.snapshot.objects().filter_map(|(id, object)| {
                let (_, name) = object.labels.iter().find(|(label, _)| *label == key)?;
                Some((*name, id))
            });
            released.collect()
        });
        strings.find(name).map_or(&[], |name| index.of(&name))
    }

    /// The resource that a CustomResourceDefinition defines, if served. Looked up by plural, which is part of the CRD's
    /// name; another CRD may have claimed its kind first.
    pub fn instances(&self, definition: ObjectId) -> Option<ResourceId> {
        let facts = self.snapshot.facts.definition(definition)?;
        self.snapshot.resources.by_group_plural(&facts.group, &facts.plural)
    }

    /// Where it is that an object names.
    pub(crate) fn place_of(&self, required: &Required, by: ObjectId) -> Option<Coordinate> {
        let [group, kind, name] = required.parts();
        let resource = self.snapshot.resources.by_group_kind(group, kind)?;
        let is_namespaced = self.snapshot.resources.get(resource).namespaced;
        let (namespace, name) = name.split_once('/').unwrap_or_else(|| (self.snapshot.namespace(by), name));
        self.snapshot.locate(resource, if is_namespaced { namespace } else { "" }, name).ok()
    }

    /// The Namespace of this name, if it exists; `None` for cluster-scoped objects.
    pub(crate) fn namespace_named(&self, name: Symbol) -> Option<ObjectId> {
        let resource = self.built_in.namespaces.filter(|_| !name.is_empty())?;
        self.snapshot.look_up(Coordinate { resource, namespace: Symbol::EMPTY, name }).object()
    }

    /// The Namespace that an object is in, if that is being deleted.
    pub(crate) fn leaving_namespace_of(&self, object: ObjectId) -> Option<ObjectId> {
        let namespace = self.namespace_named(self.snapshot.object(object).namespace)?;
        self.snapshot.object(namespace).terminating().then_some(namespace)
    }

    /// Whether an object is being deleted, or its Namespace is: then no pod of a workload starts any more.
    pub(crate) fn is_leaving(&self, object: ObjectId) -> bool {
        self.snapshot.object(object).terminating() || self.leaving_namespace_of(object).is_some()
    }

    /// The Namespace and the CustomResourceDefinition of an object: their controllers delete it with them.
    pub fn above(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> {
        let found = self.snapshot.object(object);
        [self.namespace_named(found.namespace), self.definition_of(found.resource)].into_iter().flatten()
    }

    /// The CustomResourceDefinition of a resource, which is named `<plural>.<group>`.
    pub(crate) fn definition_of(&self, resource: ResourceId) -> Option<ObjectId> {
        let definitions = self.built_in.definitions?;
        let index = self.definition_of.get_or_init(|| {
            let defined = self.of_resource(definitions).iter().filter_map(|definition| {
                let by_name = || self.snapshot.instances_by_name(*definition);
                Some((self.instances(*definition).or_else(by_name)?, *definition))
            });
            defined.collect()
        });
        index.get(&resource).copied()
    }

    /// The APIServices that the API server makes for definitions, and the definitions that they serve (R9.21).
    pub(crate) fn managed_apis(&self) -> &ManagedApis {
        self.managed_apis.get_or_init(|| {
            let snapshot = self.snapshot;
            let all = self.of_resource(self.built_in.api_services);
            let mut index = ManagedApis::default();
            let mut by_name: FxHashMap<&str, ObjectId> = FxHashMap::default();
            let key = "kube-aggregator.kubernetes.io/automanaged";
            for service in all.iter().copied().filter(|service| snapshot.label(*service, key) == Some("true")) {
                let name = snapshot.name(service);
                let Some((_, group)) = name.split_once('.') else { continue };
                index.of_group.extend([(group.to_owned(), service)]);
                by_name.insert(name, service);
            }
            for (id, resource) in snapshot.resources.iter() {
                let name = format!("{}.{}", resource.version, resource.group);
                let Some(service) = by_name.get(name.as_str()) else { continue };
                let definition = self.definition_of(snapshot.resources.picked(id));
                index.behind.extend(definition.map(|definition| (*service, definition)));
            }
            index
        })
    }

    /// The PersistentVolumeClaims that a pod mentions, as far as its facts were read.
    pub(crate) fn claims_of_pod(&self, pod: ObjectId) -> impl Iterator<Item = ObjectId> {
        let namespace = self.snapshot.object(pod).namespace;
        let names = self.snapshot.facts.pod(pod).into_iter().flat_map(|facts| &facts.claims);
        names.filter_map(move |name| {
            let (resource, name) = (self.built_in.claims?, self.snapshot.strings.find(name)?);
            self.snapshot.look_up(Coordinate { resource, namespace, name }).object()
        })
    }

    /// The scheduled pods that mention a PersistentVolumeClaim.
    pub(crate) fn users_of_claim(&self, claim: ObjectId) -> &[ObjectId] {
        let index = self.users_of_claims.get_or_init(|| {
            let users = self.snapshot.objects().flat_map(|(id, object)| {
                let facts = self.snapshot.facts.pod(id).filter(|facts| facts.node.is_some());
                let claims = facts.into_iter().flat_map(|facts| &facts.claims);
                // A name without a symbol belongs to no object of the snapshot.
                let claims = claims.filter_map(|claim| self.snapshot.strings.find(claim));
                claims.map(move |claim| ((object.namespace, claim), id))
            });
            users.collect()
        });
        let claim = self.snapshot.object(claim);
        index.of(&(claim.namespace, claim.name))
    }
}
