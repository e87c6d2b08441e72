//! Which lists that could not be read may hide dependents.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{
    Coordinate, Fact, Gap, ListRecord, ObjectId, Origin, Resource, ResourceId, Symbol, is_built_in_group,
    made::{GroupKind, MADE_BY_CONTROLLERS},
};

use super::Snapshot;

/// Why the objects of a kind are unknown that a dump may simply lack.
pub const NOT_IN_THE_DUMP: &str = "not in the dump";

/// What is named first, because it may hold data that nothing brings back.
const HOLD_DATA: [&str; 3] = ["persistentvolumeclaims", "secrets", "configmaps"];

/// What custom resources usually own, besides kinds of their own API group: what runs, and what holds data.
const OF_CUSTOM_RESOURCES: [GroupKind; 9] = [
    ("", "ConfigMap"),
    ("", "Namespace"),
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "Secret"),
    ("", "Service"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("batch", "Job"),
];

/// At most so many claims of a StatefulSet are looked for.
const MOST_ORDINALS: i64 = 10_000;

/// Why the objects of a group version are unknown that discovery didn't name.
pub const UNDISCOVERED: &str = "an APIService names it, but discovery does not";

/// What an APIService with this name serves: it is called after that. `None` for the core group.
pub fn group_version_of_service(name: &str) -> Option<String> {
    let (version, group) = name.split_once('.').filter(|(_, group)| !group.is_empty())?;
    Some(format!("{group}/{version}"))
}

/// The resource of which APIServices are: its group and kind.
pub const API_SERVICE: (&str, &str) = ("apiregistration.k8s.io", "APIService");

impl Snapshot {
    /// Why nobody can read the instances of a CRD, which go with it all the same (R1.26): a clause.
    pub fn unread_instances(&self, definition: ObjectId) -> Option<&'static str> {
        let facts = self.facts.definition(definition)?;
        let is_served = self.resources.by_group_plural(&facts.group, &facts.plural).is_some();
        if is_served || !facts.deletes_instances() {
            return None;
        }
        Some(match facts.unserved {
            Some(_) => "none of its versions is served, so its custom resources cannot be read",
            None => "discovery does not list its kind, so its custom resources cannot be read",
        })
    }

    /// Gaps for the group versions that an APIService names, and discovery doesn't: an aggregator or a gateway left
    /// them out. Whoever may not list APIServices learns of none.
    pub fn named_by_services_only(&self) -> Vec<Gap> {
        let Some(services) = self.resources.by_group_kind(API_SERVICE.0, API_SERVICE.1) else {
            return Vec::new();
        };
        let is_new = |resource: &String| {
            self.resources.described_by_discovery().lacks(resource)
                && !self.gaps.iter().any(|gap| gap.resource == *resource)
        };
        let living = self.objects().filter(|(_, object)| object.resource == services && !object.terminating());
        let missing = living.filter_map(|(_, object)| group_version_of_service(self.text(object.name))).filter(is_new);
        missing.map(|resource| Gap { resource, namespace: None, reason: UNDISCOVERED.to_owned().into() }).collect()
    }

    /// Whether dependents of an object may be among what could not be read, wherever.
    pub(crate) fn may_hide_dependents_of(&self, object: ObjectId) -> bool {
        self.lists_hide_dependents() || !self.may_hide(&[object]).is_empty()
    }

    /// Whether an object is Terminating and waits until the collector has deleted its dependents, or freed them.
    pub fn waits_for_dependents(&self, object: ObjectId) -> bool {
        let object = self.object(object);
        object.terminating() && object.finalizers.iter().any(|finalizer| finalizer.is_collectors_finalizer())
    }

    /// Gaps that may hide dependents for which one of these waits.
    pub(crate) fn may_hide_blockers(&self, objects: &[ObjectId]) -> Vec<Gap> {
        let waiting: Vec<ObjectId> = objects.iter().copied().filter(|id| self.waits_for_dependents(*id)).collect();
        self.may_hide(&waiting)
    }

    /// Whether a list that failed, or an undiscovered group version, may contain dependents of anything.
    pub(crate) fn lists_hide_dependents(&self) -> bool {
        let failed = |list: &ListRecord| list.failure.is_some() && self.resources.not_watched(list.resource).is_none();
        self.lists.iter().any(failed) || self.undiscovered().next().is_some()
    }

    /// What may hide objects of this namespace (`None`: of the cluster) that a sweep would write to: resources of which
    /// no list was read, and group versions that are not known.
    pub fn may_hide_in(&self, namespace: Option<&str>) -> Vec<String> {
        let is_read = |id: ResourceId| {
            let here = |list: &ListRecord| list.namespace.is_none() || list.namespace.as_deref() == namespace;
            self.lists.iter().any(|list| list.resource == id && list.failure.is_none() && here(list))
        };
        let resources = &self.resources;
        let hides = |id: ResourceId, resource: &Resource| {
            (namespace.is_none() || resource.namespaced) && resources.not_watched(id).is_none() && !is_read(id)
        };
        let unread = resources.deletable().filter(|(id, resource)| hides(*id, resource));
        let unread: Vec<String> = unread.map(|(_, resource)| resource.full_name()).collect();
        let unknown = self.gaps.iter().filter(|gap| gap.is_undiscovered() && !gap.serves_only_metrics());
        unread.into_iter().chain(unknown.map(|gap| gap.resource.clone())).collect()
    }

    /// Gaps that may hide dependents or contents of these objects. Dependents of a namespaced object are in its
    /// namespace; a reference from elsewhere is invalid (R3.7).
    pub fn may_hide(&self, objects: &[ObjectId]) -> Vec<Gap> {
        let namespaces: BTreeSet<Symbol> = objects.iter().map(|object| self.object(*object).namespace).collect();
        let any_cluster_scoped = namespaces.iter().any(|namespace| namespace.is_empty());
        let resources = &self.resources;
        let hides = |id: ResourceId| {
            let elsewhere = any_cluster_scoped && !self.covers(id, None);
            let is_read = |namespace: &Symbol| namespace.is_empty() || self.covers(id, Some(*namespace));
            resources.not_watched(id).is_none()
                && (elsewhere || resources.get(id).namespaced && !namespaces.iter().all(is_read))
        };
        let hiding: BTreeSet<String> =
            resources.deletable().filter(|(id, _)| hides(*id)).map(|(_, resource)| resource.full_name()).collect();
        // An undiscovered group version may contain anything.
        let undiscovered = |gap: &Gap| gap.is_undiscovered() && !gap.serves_only_metrics();
        let is_here = |gap: &Gap| {
            let here = |namespace: &String| namespaces.iter().any(|one| self.text(*one) == namespace.as_str());
            any_cluster_scoped || gap.namespace.as_ref().is_none_or(here)
        };
        let hides = |gap: &Gap| hiding.contains(&gap.resource) && is_here(gap);
        let gaps = self.gaps.iter().filter(|gap| undiscovered(gap) || hides(gap));
        let mut gaps: Vec<Gap> = gaps.filter(|_| !objects.is_empty()).cloned().collect();
        let is_told = |gap: &Gap| {
            let told = gaps.iter().filter(|told| told.resource == gap.resource);
            told.into_iter().any(|told| told.namespace.is_none() || told.namespace == gap.namespace)
        };
        let missing: Vec<Gap> = self.not_in_dump(objects).into_iter().filter(|gap| !is_told(gap)).collect();
        gaps.extend(missing);
        gaps
    }

    /// All gaps, and these.
    pub fn gaps_and(&self, more: Vec<Gap>) -> Vec<Gap> {
        let new: Vec<Gap> = more.into_iter().filter(|gap| !self.gaps.contains(gap)).collect();
        self.gaps.iter().cloned().chain(new).collect()
    }

    /// What hides an object at this place, which this one lists.
    pub(crate) fn gap_of_listed(&self, lists: ObjectId, at: Coordinate) -> Gap {
        let resource = self.resources.get(at.resource).full_name();
        let namespace = (!at.namespace.is_empty()).then(|| self.text(at.namespace).to_owned());
        let hides = |gap: &&Gap| gap.resource == resource && (gap.namespace.is_none() || gap.namespace == namespace);
        self.gaps.iter().find(hides).cloned().unwrap_or_else(|| {
            let listed = || format!("{} lists some", self.short_name(lists));
            let reason = if self.is_dump() { NOT_IN_THE_DUMP.to_owned() } else { listed() };
            Gap { resource, namespace, reason: reason.into() }
        })
    }

    /// Whether it was read from files.
    pub fn is_dump(&self) -> bool {
        matches!(self.origin, Origin::Dump { .. })
    }

    /// Whether it was read from files that nobody says are the whole cluster.
    pub(crate) fn may_be_part(&self) -> bool {
        let pods = self.resources.by_group_kind("", "Pod");
        self.is_dump() && !pods.is_some_and(|pods| self.covers(pods, None))
    }

    /// What a dump does not contain, by kind and namespace, although these objects usually have such dependents or
    /// contents: a dump doesn't say what it leaves out. Of a Namespace, everything counts, of a definition its
    /// instances; of an owner, what its controller makes for it, and what custom resources usually own.
    fn not_in_dump(&self, objects: &[ObjectId]) -> Vec<Gap> {
        if !self.is_dump() {
            return Vec::new();
        }
        let mut missing: BTreeSet<(ResourceId, Symbol)> = BTreeSet::new();
        let mut seen: FxHashSet<(ResourceId, Symbol)> = FxHashSet::default();
        // What surely goes along is named first.
        let mut first: BTreeSet<ResourceId> = BTreeSet::new();
        for id in objects {
            let object = self.object(*id);
            let resource = self.resources.get(object.resource);
            match (resource.group.as_str(), resource.kind.as_str()) {
                ("", "Namespace") => {
                    let namespaced = self.resources.deletable().filter(|(_, resource)| resource.namespaced);
                    missing.extend(namespaced.map(|(kind, _)| (kind, object.name)));
                    // Without these, nobody knows which custom resources there are.
                    let definitions = ("apiextensions.k8s.io", "CustomResourceDefinition");
                    let definitions = self.resources.by_group_kind(definitions.0, definitions.1);
                    missing.extend(definitions.map(|kind| (kind, Symbol::EMPTY)));
                }
                ("apiextensions.k8s.io", "CustomResourceDefinition") => {
                    let instances = self.instances_by_name(*id);
                    let unread = instances.filter(|kind| !self.is_in_dump(*kind, Symbol::EMPTY));
                    let below = unread.into_iter().flat_map(|kind| self.kin_below(kind, Symbol::EMPTY));
                    missing.extend(instances.into_iter().chain(below).map(|kind| (kind, Symbol::EMPTY)));
                    first.extend(instances);
                }
                _ if seen.insert((object.resource, object.namespace)) => {
                    let kin = self.kin_below(object.resource, object.namespace);
                    missing.extend(kin.into_iter().map(|kind| (kind, object.namespace)));
                }
                _ => {}
            }
            missing.extend(self.named_by(*id));
        }
        missing.retain(|(kind, namespace)| !self.is_in_dump(*kind, *namespace));
        missing.extend(self.selected_away(objects));
        missing.extend(objects.iter().filter_map(|id| self.elsewhere(*id)));
        let mut missing: Vec<(ResourceId, Symbol)> = missing.into_iter().collect();
        let holds_data =
            |kind: ResourceId| HOLD_DATA.iter().position(|plural| *plural == self.resources.get(kind).full_name());
        missing.sort_by_key(|(kind, _)| (!first.contains(kind), holds_data(*kind).unwrap_or(HOLD_DATA.len())));
        missing.into_iter().map(|missing| self.gap_of_missing(missing)).collect()
    }

    fn gap_of_missing(&self, (kind, namespace): (ResourceId, Symbol)) -> Gap {
        Gap {
            resource: self.resources.get(kind).full_name(),
            namespace: (!namespace.is_empty()).then(|| self.text(namespace).to_owned()),
            reason: NOT_IN_THE_DUMP.into(),
        }
    }

    /// All gaps, and what a dump lacks of what these objects must own.
    pub fn gaps_and_lacking(&self, objects: impl Iterator<Item = ObjectId>) -> Vec<Gap> {
        let objects: Vec<ObjectId> = objects.filter(|_| self.is_dump()).collect();
        let lacking = self.selected_away(&objects).into_iter().map(|missing| self.gap_of_missing(missing));
        self.gaps_and(lacking.collect())
    }

    /// What an object says that it has, or what is about it without an owner reference: the claims of a StatefulSet, or
    /// of a pod's ephemeral volumes; the volume of a claim, and the pods that may use it; the claim of a volume; the
    /// token Secrets of a ServiceAccount.
    fn named_by(&self, id: ObjectId) -> Vec<(ResourceId, Symbol)> {
        let object = self.object(id);
        let resource = self.resources.get(object.resource);
        let core = |kind: &str, namespace: Symbol| Some((self.resources.by_group_kind("", kind)?, namespace));
        let one = match (self.facts.get(id), resource.kind.as_str()) {
            (Some(Fact::Workload(facts)), _)
                if facts.claims.as_ref().is_some_and(|claims| !claims.names.is_empty()) =>
            {
                core("PersistentVolumeClaim", object.namespace)
            }
            (Some(Fact::Pod(facts)), _) => {
                let own = format!("{}-", self.text(object.name));
                let claims = facts.claims.iter().any(|claim| claim.starts_with(&own));
                claims.then(|| core("PersistentVolumeClaim", object.namespace)).flatten()
            }
            (Some(Fact::Claim(facts)), _) => {
                let volume = facts.volume.as_ref().and_then(|_| core("PersistentVolume", Symbol::EMPTY));
                return volume.into_iter().chain(core("Pod", object.namespace)).collect();
            }
            (Some(Fact::Volume(facts)), _) => {
                let claim = facts.claim.as_ref().filter(|_| facts.may_be_bound());
                let namespace = claim.and_then(|claim| claim.split('/').next());
                // Of a namespace that nothing here is in, nothing was read.
                let namespace = namespace.map(|namespace| self.strings.find(namespace).unwrap_or(Symbol::EMPTY));
                namespace.and_then(|namespace| core("PersistentVolumeClaim", namespace))
            }
            (_, "ServiceAccount") if resource.group.is_empty() => core("Secret", object.namespace),
            _ => None,
        };
        one.into_iter().collect()
    }

    /// The resource that a CustomResourceDefinition defines, by its name: `<plural>.<group>`.
    pub(crate) fn instances_by_name(&self, definition: ObjectId) -> Option<ResourceId> {
        let (plural, group) = self.name(definition).split_once('.')?;
        self.resources.by_group_plural(group, plural)
    }

    /// What belongs to a cluster-scoped object and may be in any namespace, if not all of it was read: the pods of a
    /// Node, the instances of a definition.
    fn elsewhere(&self, id: ObjectId) -> Option<(ResourceId, Symbol)> {
        let object = self.object(id);
        let resource = self.resources.get(object.resource);
        let kind = match (resource.group.as_str(), resource.kind.as_str()) {
            ("", "Node") => self.resources.by_group_kind("", "Pod"),
            ("apiextensions.k8s.io", "CustomResourceDefinition") => self.instances_by_name(id),
            _ => None,
        };
        let is_elsewhere = |kind: &ResourceId| self.resources.get(*kind).namespaced && !self.covers(*kind, None);
        kind.filter(is_elsewhere).map(|kind| (kind, Symbol::EMPTY))
    }

    /// What ready workloads, CronJobs with an active Job, and Services must own, and do not in this dump, although it
    /// has objects of that kind: it was selected by label or by name. As many pods and claims as are ready, and one of
    /// each other kind; and what those own.
    fn selected_away(&self, objects: &[ObjectId]) -> BTreeSet<(ResourceId, Symbol)> {
        let ready = |id: &ObjectId| {
            let ready = match self.facts.get(*id)? {
                Fact::Workload(facts) => facts.ready,
                Fact::Job(facts) => facts.active,
                Fact::Service(facts) => i64::from(facts.has_slices()),
                _ => 0,
            };
            (ready > 0).then_some((self.object(*id).uid, (*id, ready)))
        };
        let ready: FxHashMap<Symbol, (ObjectId, i64)> = objects.iter().filter_map(ready).collect();
        let mut owned: FxHashMap<(Symbol, ResourceId), i64> = FxHashMap::default();
        if !ready.is_empty() {
            let references = self.objects().flat_map(|(_, it)| it.owners.iter().map(|owner| (owner.uid, it.resource)));
            references.filter(|(uid, _)| ready.contains_key(uid)).for_each(|pair| *owned.entry(pair).or_default() += 1);
        }
        let pods = self.resources.by_group_kind("", "Pod");
        let places = ready.into_iter().flat_map(|(uid, (id, ready))| {
            let object = self.object(id);
            let needed = move |kind| if Some(kind) == pods { ready } else { 1 };
            let kin = self.kin(object.resource).into_iter();
            let lacks = |kind: &ResourceId| owned.get(&(uid, *kind)).is_none_or(|number| *number < needed(*kind));
            let mut kinds: Vec<ResourceId> = kin.filter(lacks).collect();
            let mut next = 0;
            while let Some(kind) = kinds.get(next).copied() {
                next += 1;
                let below: Vec<ResourceId> = self.kin(kind).into_iter().filter(|kind| !kinds.contains(kind)).collect();
                kinds.extend(below);
            }
            kinds.extend(self.claims_selected_away(id, ready));
            kinds.into_iter().map(|kind| (kind, object.namespace)).collect::<Vec<_>>()
        });
        // Nothing is missing in a dump that is said to be whole.
        places.filter(|(kind, _)| !self.covers(*kind, None)).collect()
    }

    /// The kind of claims, if a StatefulSet with so many ready pods has fewer claims of a template here.
    fn claims_selected_away(&self, set: ObjectId, ready: i64) -> Option<ResourceId> {
        let facts = self.facts.workload(set)?;
        let ordinals = facts.wanted.unwrap_or(0).max(ready).min(MOST_ORDINALS);
        let away = |template: &String| self.claims_not_here(set, template, ordinals).len();
        let is_away = |away: usize| i64::try_from(away).is_ok_and(|away| ordinals - away < ready.min(MOST_ORDINALS));
        let is_away = facts.claims.as_ref()?.names.iter().map(away).any(is_away);
        is_away.then(|| self.resources.by_group_kind("", "PersistentVolumeClaim")).flatten()
    }

    /// The claims of a StatefulSet, by their names, that its pods have and that could not be read, though they go with
    /// it (`whenDeleted: Delete`).
    pub(crate) fn unread_claims(&self, set: ObjectId) -> Vec<String> {
        let pair = self.facts.workload(set).and_then(|facts| Some((facts, facts.claims.as_ref()?)));
        let claims = self.resources.by_group_kind("", "PersistentVolumeClaim");
        let (Some((facts, of_set)), Some(claims)) = (pair.filter(|(_, of_set)| of_set.deleted), claims) else {
            return Vec::new();
        };
        // What some claims of a namespace are in a dump for may be all claims, but for those of ready pods.
        let is_read = self.covers(claims, Some(self.object(set).namespace));
        let ordinals = match is_read && !self.may_be_part() {
            true => 0,
            false if is_read => facts.ready,
            false => facts.wanted.unwrap_or(0).max(facts.ready),
        };
        let ordinals = ordinals.min(MOST_ORDINALS);
        of_set.names.iter().flat_map(|template| self.claims_not_here(set, template, ordinals)).collect()
    }

    /// The claims of a template that are not here, of the first so many pods of a StatefulSet.
    fn claims_not_here(&self, set: ObjectId, template: &str, ordinals: i64) -> Vec<String> {
        let object = self.object(set);
        let (namespace, name) = (self.text(object.namespace), self.text(object.name));
        let first = self.facts.workload(set).map_or(0, |facts| facts.first_ordinal);
        let claims = self.resources.by_group_kind("", "PersistentVolumeClaim");
        let is_here = |named: &String| {
            claims.is_some_and(|claims| self.look_up_named(claims, namespace, named).object().is_some())
        };
        let all = (0..ordinals).map(|ordinal| format!("{template}-{name}-{}", first.saturating_add(ordinal)));
        all.filter(|named| !is_here(named)).collect()
    }

    /// The kinds that objects of this kind usually own, and what those own that a dump doesn't contain.
    fn kin_below(&self, owner: ResourceId, namespace: Symbol) -> Vec<ResourceId> {
        let mut all = self.kin(owner);
        let mut next = 0;
        while let Some(kind) = all.get(next).copied() {
            next += 1;
            if !self.is_in_dump(kind, namespace) && is_built_in_group(&self.resources.get(kind).group) {
                let below = self.kin(kind);
                let new: Vec<ResourceId> = below.into_iter().filter(|kind| !all.contains(kind)).collect();
                all.extend(new);
            }
        }
        all
    }

    /// The kinds that objects of this kind usually own.
    fn kin(&self, owner: ResourceId) -> Vec<ResourceId> {
        let resources = &self.resources;
        let own = resources.get(owner);
        let find = |(group, kind): &GroupKind| resources.by_group_kind(group, kind);
        let usual = MADE_BY_CONTROLLERS.iter().filter(|made| made.usual && made.owner == (&own.group, &own.kind));
        let mut kin: Vec<ResourceId> = usual.filter_map(|made| find(&made.dependent)).collect();
        if !is_built_in_group(&own.group) {
            let of_group = resources.deletable().filter(|(id, other)| other.group == own.group && *id != owner);
            kin.extend(of_group.map(|(id, _)| id));
            kin.extend(OF_CUSTOM_RESOURCES.iter().filter_map(find));
        }
        // What is cluster-scoped depends on nothing in a namespace.
        kin.retain(|id| !own.namespaced || resources.get(*id).namespaced);
        kin
    }

    /// Whether a dump has objects of a kind in a namespace (empty: in any).
    fn is_in_dump(&self, kind: ResourceId, namespace: Symbol) -> bool {
        match namespace.is_empty() {
            true => self.covered.contains_key(&self.resources.picked(kind)),
            false => self.covers(kind, Some(namespace)),
        }
    }
}
