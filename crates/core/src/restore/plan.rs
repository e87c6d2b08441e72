//! Turns the objects of an archive into a plan: what to create, in which order, and what to leave out.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::{
    graph::cycles::components,
    groups::Groups,
    model::{Resource, well_known},
};

use super::{
    archived::{Archived, Malformed, OwnerReference, Place},
    fields::as_created,
    left_out::{LeftOut, why_left_out},
    relocate::{NamespaceMap, StillNamed, relocate, still_named},
};

/// The index of an object in its [`RestorePlan`]: its position in the archive, from zero.
pub type ItemId = usize;

/// What an owner reference resolves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// An object of the archive that is restored or exists.
    Archived(ItemId),
    /// An object of the archive that is left out, because a controller recreates it, with the same or another name.
    LeftOut(ItemId),
    /// An object of the archive that is left out because nobody asked for it. It may exist, or a restore of its own may
    /// have created it.
    NotAsked(ItemId),
    /// An object that is not in the archive.
    Elsewhere,
}

/// One object of the archive, and what to do with it.
#[derive(Clone, Debug)]
pub struct Item {
    pub archived: Archived,
    /// The body of the request that creates it, without owner references.
    pub body: Value,
    /// What each of its owner references resolves to, in order.
    pub owners: Vec<Owner>,
    /// Its namespace and its CRD, if they are in the archive: it can't exist without them.
    pub needs: Vec<ItemId>,
    /// Why it is not restored; `None` if it is.
    pub left_out: Option<LeftOut>,
    /// The status to set through the status subresource, for custom resources only. The controllers of built-in kinds
    /// set the status themselves; an old one would show pods and addresses that are gone.
    pub status: Option<Value>,
    /// The fields that still name the namespace that it, or others, were moved from.
    pub still_named: Vec<StillNamed>,
}

/// What to restore of an archive, and where to.
#[derive(Clone, Debug, Default)]
pub struct RestoreOptions {
    /// Also objects that controllers recreate, and what was being deleted when it was archived.
    pub all: bool,
    /// When the archive was begun, such as `2026-01-31T08:00:00Z`; empty if that isn't known.
    pub archived_at: String,
    /// The uids of what the archive was written for.
    pub targets: FxHashSet<String>,
    /// Only these objects, by their positions in the archive, and what is theirs; `None` for all.
    pub named: Option<BTreeSet<ItemId>>,
    /// Into other namespaces.
    pub namespaces: NamespaceMap,
    /// Also cluster-scoped objects, if into other namespaces.
    pub cluster_scoped: bool,
}

impl RestoreOptions {
    /// Whether objects of this namespace are restored into another.
    fn moves(&self, namespace: &str) -> bool {
        self.namespaces.get(namespace).is_some_and(|to| to != namespace)
    }

    /// Why an object is left out although no controller recreates it.
    fn leaves_out(&self, object: &Archived, named: bool) -> Option<LeftOut> {
        let place = &object.place;
        if place.is("", "Namespace") && self.moves(&place.name) {
            return Some(LeftOut::Moved);
        }
        let moves = self.namespaces.iter().any(|(from, to)| from != to);
        (moves && place.namespace.is_empty() && !named && !self.cluster_scoped).then_some(LeftOut::ClusterScoped)
    }
}

/// The resources that the API server serves because of an object: those of a CRD, in each served version.
pub fn defined(object: &Archived) -> Vec<Resource> {
    if !object.place.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        return Vec::new();
    }
    Resource::defined_by(&object.whole).collect()
}

/// What a restore does.
#[derive(Clone, Debug)]
pub struct RestorePlan {
    /// Every object of the archive, in order.
    pub items: Vec<Item>,
    /// The items of each step, created one after the other.
    pub steps: Vec<Vec<ItemId>>,
    /// References that are added once all objects exist: an object, and the index of its reference. They close an
    /// ownership cycle, or lead to a controller that would otherwise make such an object itself
    /// ([`adopted`](super::adopted)).
    pub closing: BTreeSet<(ItemId, usize)>,
}

impl RestorePlan {
    /// The references of an object, by their index, that are added once all objects exist.
    pub fn closing_of(&self, item: ItemId) -> impl Iterator<Item = usize> + '_ {
        self.closing.range((item, 0)..=(item, usize::MAX)).map(|(_, index)| *index)
    }

    /// Plans the restore of these objects; with `all`, also of those that controllers recreate.
    #[cfg(any(test, feature = "testing"))]
    pub fn new(objects: impl IntoIterator<Item = Value>, all: bool) -> Result<Self, Malformed> {
        Self::of(Archived::all(objects)?, &RestoreOptions { all, ..RestoreOptions::default() })
    }

    /// Plans the restore of these objects, or of some of them.
    ///
    /// # Errors
    /// Two objects have the same uid.
    pub fn of(mut archived: Vec<Archived>, options: &RestoreOptions) -> Result<Self, Malformed> {
        check_uids(&archived)?;
        let named = options.named.clone().unwrap_or_default();
        // What goes since the target does is archived to come back with it.
        let of_targets = archived.iter().filter(|object| options.targets.contains(&object.uid));
        let began = of_targets.filter_map(Archived::deleted_at).chain([options.archived_at.as_str()]).min();
        let began = began.unwrap_or_default().to_owned();
        let mut not_named = FxHashSet::default();
        let mut of_item: Vec<ItemId> = (0..archived.len()).collect();
        if options.named.is_some() {
            let selected = select(&archived, &named);
            of_item.retain(|item| selected.restored.contains(item) || selected.owners.contains(item));
            not_named.extend((0..of_item.len()).filter(|new| selected.owners.contains(&of_item[*new])));
            let mut wanted = of_item.iter().copied().peekable();
            let mut position = 0..;
            archived.retain(|_| position.next().is_some_and(|item| wanted.next_if_eq(&item).is_some()));
        }
        archived.iter_mut().for_each(|object| relocate(object, &options.namespaces));
        let is_named = |item: ItemId| named.contains(&of_item[item]);
        let replaced = replaced(&archived);
        let terminating = terminating_before(&archived, &began);
        let index = Index::new(&archived, &replaced, &not_named);
        let why_left_out = |(item, object)| {
            if replaced.contains(&item) {
                return Some(LeftOut::Replaced);
            }
            if not_named.contains(&item) {
                return Some(LeftOut::NotNamed);
            }
            let all = options.all || is_named(item);
            let why = options.leaves_out(object, is_named(item)).or_else(|| index.why_left_out(object, all));
            why.or_else(|| (!all && terminating.contains(&item)).then_some(LeftOut::Terminating))
        };
        let left_out: Vec<Option<LeftOut>> = archived.iter().enumerate().map(why_left_out).collect();
        let owner = |reference: &OwnerReference| match index.by_uid.get(reference.uid.as_str()) {
            // The reference was already dangling when it was archived.
            Some(owner) if !reference.leads_to(&archived[*owner].place) => Owner::Elsewhere,
            Some(owner) => match left_out[*owner] {
                None => Owner::Archived(*owner),
                Some(LeftOut::MadeBy(_)) => Owner::LeftOut(*owner),
                Some(LeftOut::NotNamed | LeftOut::ClusterScoped | LeftOut::Moved | LeftOut::Terminating) => {
                    Owner::NotAsked(*owner)
                }
                // Nothing recreates it; an object that took its place is a different one.
                Some(LeftOut::Finished | LeftOut::Replaced) => Owner::Elsewhere,
            },
            None => Owner::Elsewhere,
        };
        let owners: Vec<Vec<Owner>> =
            archived.iter().map(|object| object.references.iter().map(owner).collect()).collect();
        let needed = |object: &Archived| -> Vec<ItemId> {
            index.needs(&object.place).into_iter().filter(|need| left_out[*need].is_none()).collect()
        };
        let needs: Vec<Vec<ItemId>> = archived.iter().map(needed).collect();
        let custom = CustomKinds::new();
        let mut items = Vec::with_capacity(archived.len());
        for (((archived, owners), needs), left_out) in archived.into_iter().zip(owners).zip(needs).zip(left_out) {
            let mut body = as_created(&archived.place, &archived.whole);
            let status = custom.status(&archived);
            // Without a status subresource, status is an ordinary field; with one, the server ignores it here.
            if let (Some(status), Some(body)) = (&status, body.as_object_mut()) {
                body.insert("status".to_owned(), status.clone());
            }
            let still_named = match left_out {
                None => still_named(&body, &options.namespaces),
                Some(_) => Vec::new(),
            };
            items.push(Item { body, owners, needs, left_out, status, still_named, archived });
        }
        let adopted = adopted_references(&items);
        let CreationOrder { steps, closing } = in_order(&items, &adopted);
        Ok(RestorePlan { items, steps, closing: closing.into_iter().chain(adopted).collect() })
    }
}

/// The references to controllers that adopt the object.
fn adopted_references(items: &[Item]) -> BTreeSet<(ItemId, usize)> {
    let mut adopted = BTreeSet::new();
    for (id, item) in items.iter().enumerate().filter(|(_, item)| item.left_out.is_none()) {
        for (index, owner) in item.owners.iter().enumerate() {
            if let Owner::Archived(owner) = owner
                && is_adopted(&items[*owner].archived.place, &item.archived.place)
            {
                adopted.insert((id, index));
            }
        }
    }
    adopted
}

fn in_order(items: &[Item], adopted: &BTreeSet<(ItemId, usize)>) -> CreationOrder {
    let wanted: Vec<ItemId> = (0..items.len()).filter(|item| items[*item].left_out.is_none()).collect();
    let rank_of = |item: &Item| {
        let of_left_out = item.owners.iter().any(|owner| matches!(owner, Owner::LeftOut(_)));
        if of_left_out { LATEST } else { rank(item.archived.place.group(), &item.archived.place.kind) }
    };
    let needs_of = |(id, item): (ItemId, &Item)| -> Vec<Need> {
        let owners = item.owners.iter().enumerate().filter_map(|(reference, owner)| match owner {
            Owner::Archived(owner) if !adopted.contains(&(id, reference)) => {
                Some(Need { item: *owner, reference: Some(reference) })
            }
            Owner::Archived(_) | Owner::LeftOut(_) | Owner::NotAsked(_) | Owner::Elsewhere => None,
        });
        owners.chain(item.needs.iter().map(|item| Need { item: *item, reference: None })).collect()
    };
    let ranks: Vec<u8> = items.iter().map(rank_of).collect();
    let mut needs: Vec<Vec<Need>> = items.iter().enumerate().map(needs_of).collect();
    // A controller comes after what it adopts.
    for (dependent, reference) in adopted {
        if let Owner::Archived(controller) = items[*dependent].owners[*reference] {
            needs[controller].push(Need { item: *dependent, reference: None });
        }
    }
    creation_order(&wanted, &ranks, &needs)
}

/// Objects whose coordinates a later object of the archive has: the earlier one was archived, deleted, and recreated
/// before the archive was complete. The one that was created later is restored; if that is unclear, the one that was
/// archived later.
fn replaced(archived: &[Archived]) -> FxHashSet<ItemId> {
    fn created(object: &Archived) -> Option<&str> {
        object.whole["metadata"]["creationTimestamp"].as_str()
    }
    let mut replaced = FxHashSet::default();
    let mut latest: FxHashMap<(&str, &str, &str, &str), ItemId> = FxHashMap::default();
    for (item, object) in archived.iter().enumerate() {
        let Place { kind, namespace, name, .. } = &object.place;
        let latest = latest.entry((object.place.group(), kind, namespace, name)).or_insert(item);
        if *latest == item {
            continue;
        }
        // All times have the same format, in UTC.
        let times = (created(&archived[*latest]), created(object));
        let was_later = matches!(times, (Some(other), Some(this)) if other > this);
        replaced.insert(if was_later { item } else { std::mem::replace(latest, item) });
    }
    replaced
}

/// # Errors
/// Two objects have the same uid.
fn check_uids(archived: &[Archived]) -> Result<(), Malformed> {
    let mut by_uid: FxHashMap<&str, ItemId> = FxHashMap::default();
    for (item, object) in archived.iter().enumerate() {
        if let Some(other) = by_uid.insert(&object.uid, item) {
            let what = format!("({}) is also object {}", object.place, other + 1);
            return Err(Malformed { number: item + 1, what });
        }
    }
    Ok(())
}

/// Finds objects of the archive.
struct Index<'a> {
    archived: &'a [Archived],
    /// Owners that are not restored.
    not_named: FxHashSet<ItemId>,
    by_uid: FxHashMap<&'a str, ItemId>,
    by_place: FxHashMap<&'a Place, ItemId>,
    namespaces: FxHashMap<&'a str, ItemId>,
    /// CRDs by the group and kind that they define.
    definitions: FxHashMap<(&'a str, &'a str), ItemId>,
}

impl<'a> Index<'a> {
    /// A `replaced` object is found only by its uid; so is one that is `not_named`.
    fn new(archived: &'a [Archived], replaced: &FxHashSet<ItemId>, not_named: &FxHashSet<ItemId>) -> Self {
        let mut index = Index {
            archived,
            not_named: not_named.clone(),
            by_uid: FxHashMap::default(),
            by_place: FxHashMap::default(),
            namespaces: FxHashMap::default(),
            definitions: FxHashMap::default(),
        };
        for (item, object) in archived.iter().enumerate() {
            let place = &object.place;
            index.by_uid.insert(&object.uid, item);
            if replaced.contains(&item) || not_named.contains(&item) {
                continue;
            }
            index.by_place.insert(place, item);
            if place.is("", "Namespace") {
                index.namespaces.insert(&place.name, item);
            }
            let spec = &object.whole["spec"];
            if place.is("apiextensions.k8s.io", "CustomResourceDefinition")
                && let (Some(group), Some(kind)) = (spec["group"].as_str(), spec["names"]["kind"].as_str())
            {
                index.definitions.insert((group, kind), item);
            }
        }
        index
    }

    fn needs(&self, place: &Place) -> Vec<ItemId> {
        let namespace = self.namespaces.get(place.namespace.as_str());
        let definition = self.definitions.get(&(place.group(), place.kind.as_str()));
        [namespace, definition].into_iter().flatten().copied().collect()
    }

    fn why_left_out(&self, object: &Archived, all: bool) -> Option<LeftOut> {
        // What isn't restored makes nothing.
        let restored = |item: &&ItemId| !self.not_named.contains(item);
        let find = |uid: &str| self.by_uid.get(uid).filter(restored).map(|item| &self.archived[*item]);
        let at = |place: &Place| self.by_place.get(place).map(|item| &self.archived[*item]);
        why_left_out(object, find, at).filter(|why| !(all && why.with_all()))
    }
}

/// Whether a new object of this group needs the status that it had: the controllers of built-in kinds set it
/// themselves.
pub fn sets_status(group: &str) -> bool {
    !CustomKinds::new().built_in.contains(group)
}

/// Tells custom resources from built-in kinds.
struct CustomKinds {
    built_in: FxHashSet<String>,
}

impl CustomKinds {
    fn new() -> Self {
        let built_in = well_known::resources().resources.into_iter().map(|resource| resource.group);
        CustomKinds { built_in: built_in.collect() }
    }

    fn status(&self, object: &Archived) -> Option<Value> {
        let status = object.whole.get("status").filter(|status| !status.is_null())?;
        (!self.built_in.contains(object.place.group())).then(|| status.clone())
    }
}

/// A group and a kind.
type GroupKind = (&'static str, &'static str);

/// The kind of a controller, and a kind that it adopts if the object exists before it. These are created first, without
/// the reference to it: if they came after it, it would make its own in the meantime, under the same names or as many
/// as it wants.
const ADOPTED: &[(GroupKind, GroupKind)] = &[
    // pkg/controller/statefulset/stateful_set_utils.go, updateClaimOwnerRefForSetAndPod: with
    // `persistentVolumeClaimRetentionPolicy`, it sets its reference in the claims of its pods, whoever made them.
    (("apps", "StatefulSet"), ("", "PersistentVolumeClaim")),
    // The following are restored only with `--all`, or by name. pkg/controller/controller_ref_manager.go: they are
    // adopted if their labels match the selector and they have no controller.
    (("apps", "StatefulSet"), ("", "Pod")),
    // pkg/controller/statefulset/stateful_set.go, adoptOrphanRevisions.
    (("apps", "StatefulSet"), ("apps", "ControllerRevision")),
    (("apps", "Deployment"), ("apps", "ReplicaSet")),
    (("apps", "ReplicaSet"), ("", "Pod")),
    (("", "ReplicationController"), ("", "Pod")),
    (("apps", "DaemonSet"), ("", "Pod")),
    (("apps", "DaemonSet"), ("apps", "ControllerRevision")),
];

/// Whether a controller of the first kind adopts an object of the second.
fn is_adopted(controller: &Place, dependent: &Place) -> bool {
    ADOPTED
        .iter()
        .any(|((group, kind), (of_group, of_kind))| controller.is(group, kind) && dependent.is(of_group, of_kind))
}

/// The kinds that are created early or late, with the sources.
const RANKS: &[(u8, &str, &[&str])] = &[
    (0, "", &["Namespace"]),
    (1, "apiextensions.k8s.io", &["CustomResourceDefinition"]),
    // Admission looks them up when other objects are created.
    (2, "scheduling.k8s.io", &["PriorityClass"]),
    (2, "node.k8s.io", &["RuntimeClass"]),
    (2, "storage.k8s.io", &["StorageClass", "CSIDriver", "VolumeAttributesClass"]),
    (2, "networking.k8s.io", &["IngressClass"]),
    // The token controller deletes the Secret of an account that doesn't exist.
    (2, "", &["ServiceAccount"]),
    // It sets limits on pods, also on those that a restored controller creates at once.
    (2, "", &["LimitRange"]),
    (2, "rbac.authorization.k8s.io", &["ClusterRole", "Role"]),
    // A binding refers to its role, and a pod mounts objects of its namespace.
    (3, "rbac.authorization.k8s.io", &["ClusterRoleBinding", "RoleBinding"]),
    (3, "", &["Secret", "ConfigMap", "PersistentVolume", "Service"]),
    // After the volumes that wait for them: otherwise new volumes would be provisioned.
    (4, "", &["PersistentVolumeClaim"]),
    (6, "apps", &["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]),
    (6, "batch", &["Job", "CronJob"]),
    (6, "", &["Pod", "ReplicationController"]),
    // Last, what would reject or change other objects: webhooks whose servers don't run yet, and quotas that aren't
    // counted yet.
    (8, "", &["ResourceQuota"]),
    (8, "apiregistration.k8s.io", &["APIService"]),
    (
        9,
        "admissionregistration.k8s.io",
        &[
            "MutatingWebhookConfiguration",
            "ValidatingWebhookConfiguration",
            "MutatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
            "ValidatingAdmissionPolicy",
            "ValidatingAdmissionPolicyBinding",
        ],
    ),
];

/// The rank of every other kind, including custom resources.
const OTHERS: u8 = 5;
/// The rank of objects whose owner a controller must recreate first.
pub(super) const LATEST: u8 = 10;

/// The rank of a kind: lower ones are created earlier.
pub fn rank(group: &str, kind: &str) -> u8 {
    let row = RANKS.iter().find(|(_, of, kinds)| group == *of && kinds.contains(&kind));
    row.map_or(OTHERS, |(rank, ..)| *rank)
}

/// What must exist before an object is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// The item that is needed.
    pub item: usize,
    /// The index of the owner reference that needs it; `None` for the namespace and the CRD, without which the object
    /// can't exist, and for what a controller adopts. Needs of that sort make no cycles: they lead from workloads to
    /// what they make, and from objects to their namespace and their CRD.
    pub reference: Option<usize>,
}

/// An order of creation.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CreationOrder {
    /// The items of each step, created one after the other.
    pub steps: Vec<Vec<usize>>,
    /// References that close an ownership cycle: an object, and the index of its reference. They are added once all
    /// objects exist.
    pub closing: Vec<(usize, usize)>,
}

/// Finds an order. `ranks` and `needs` are indexed by item; only the items in `wanted` are created, and only needs of
/// those items count.
pub fn creation_order(wanted: &[usize], ranks: &[u8], needs: &[Vec<Need>]) -> CreationOrder {
    let mut search = Search::new(wanted, ranks, needs);
    loop {
        search.take_all_ready();
        if search.left == 0 {
            return search.found;
        }
        search.open_circles();
    }
}

struct Search<'a> {
    wanted: &'a [usize],
    ranks: &'a [u8],
    needs: &'a [Vec<Need>],
    /// The items that need an item, once for each need.
    needed_by: Vec<Vec<usize>>,
    /// The number of needs of an item that are not met yet.
    unmet: Vec<usize>,
    placed: Vec<bool>,
    ready: BTreeMap<u8, Vec<usize>>,
    left: usize,
    found: CreationOrder,
}

impl<'a> Search<'a> {
    fn new(wanted: &'a [usize], ranks: &'a [u8], needs: &'a [Vec<Need>]) -> Self {
        let mut search = Search {
            wanted,
            ranks,
            needs,
            needed_by: vec![Vec::new(); needs.len()],
            unmet: vec![0; needs.len()],
            placed: vec![false; needs.len()],
            ready: BTreeMap::new(),
            left: wanted.len(),
            found: CreationOrder::default(),
        };
        for item in wanted {
            for need in &needs[*item] {
                match need.reference {
                    // Its uid is known only after its creation.
                    Some(reference) if need.item == *item => search.found.closing.push((*item, reference)),
                    _ => {
                        search.needed_by[need.item].push(*item);
                        search.unmet[*item] += 1;
                    }
                }
            }
        }
        for item in wanted {
            if search.unmet[*item] == 0 {
                search.ready.entry(ranks[*item]).or_default().push(*item);
            }
        }
        search
    }

    /// Takes all items that are ready, the lowest rank first.
    fn take_all_ready(&mut self) {
        while let Some((_, mut step)) = self.ready.pop_first() {
            step.sort_unstable();
            self.left -= step.len();
            for item in &step {
                self.placed[*item] = true;
                for dependent in std::mem::take(&mut self.needed_by[*item]) {
                    self.meet(dependent);
                }
            }
            self.found.steps.push(step);
        }
    }

    fn meet(&mut self, item: usize) {
        self.unmet[item] -= 1;
        if self.unmet[item] == 0 {
            self.ready.entry(self.ranks[item]).or_default().push(item);
        }
    }

    /// If no item is ready, there are cycles. Of each cycle that waits for nothing outside of it, one member is created
    /// without its references into the cycle.
    fn open_circles(&mut self) {
        let left: Vec<usize> = self.wanted.iter().copied().filter(|item| !self.placed[*item]).collect();
        let components = components(&left, |item| self.open_needs(item).map(|need| need.item));
        let mut component_of: FxHashMap<usize, usize> = FxHashMap::default();
        for (index, members) in components.iter().enumerate() {
            component_of.extend(members.iter().map(|member| (*member, index)));
        }
        for (index, members) in components.iter().enumerate() {
            let inside = |need: &Need| component_of[&need.item] == index;
            if members.iter().any(|member| self.open_needs(*member).any(|need| !inside(&need))) {
                continue;
            }
            // Needs without a reference make no cycles, so one member needs the others only as owners.
            let by_references = |member: &&usize| self.open_needs(**member).all(|need| need.reference.is_some());
            let first = members.iter().filter(by_references).min_by_key(|member| (self.ranks[**member], **member));
            let Some(first) = first.copied() else { continue };
            let opened: Vec<Need> = self.open_needs(first).collect();
            for need in opened {
                self.found.closing.extend(need.reference.map(|reference| (first, reference)));
                let waiting = &mut self.needed_by[need.item];
                if let Some(place) = waiting.iter().position(|item| *item == first) {
                    waiting.swap_remove(place);
                }
                self.meet(first);
            }
        }
    }

    /// The needs of an item that are not met yet, except for itself.
    fn open_needs(&self, item: usize) -> impl Iterator<Item = Need> + '_ {
        self.needs[item].iter().copied().filter(move |need| need.item != item && !self.placed[need.item])
    }
}

/// The objects of a restore that names some.
#[derive(Debug, Default)]
pub(super) struct Selected {
    /// The named objects, their dependents, the contents of named namespaces, and the objects of named CRDs.
    pub restored: BTreeSet<ItemId>,
    /// Archived owners of these that are not among them.
    pub owners: BTreeSet<ItemId>,
}

/// Finds what belongs to the named objects, down to the last dependent.
pub(super) fn select(archived: &[Archived], named: &BTreeSet<ItemId>) -> Selected {
    let by_uid = by_uid(archived);
    let owned_by = owned_by(archived, &by_uid);
    let items = || archived.iter().enumerate();
    let in_namespace: Groups<&str, ItemId> =
        items().map(|(item, object)| (object.place.namespace.as_str(), item)).collect();
    let of_kind: Groups<(&str, &str), ItemId> =
        items().map(|(item, object)| ((object.place.group(), object.place.kind.as_str()), item)).collect();
    let mut restored = named.clone();
    let mut queue: Vec<ItemId> = named.iter().copied().collect();
    while let Some(item) = queue.pop() {
        let object = &archived[item];
        let spec = &object.whole["spec"];
        let defined = (spec["group"].as_str(), spec["names"]["kind"].as_str());
        let content = if object.place.is("", "Namespace") {
            in_namespace.of(object.place.name.as_str())
        } else if object.place.is("apiextensions.k8s.io", "CustomResourceDefinition") {
            of_kind.of(&(defined.0.unwrap_or_default(), defined.1.unwrap_or_default()))
        } else {
            &[]
        };
        let theirs = owned_by.of(&item).iter().chain(content).copied();
        queue.extend(theirs.filter(|theirs| restored.insert(*theirs)));
    }
    let of_restored = restored.iter().flat_map(|item| owners(&archived[*item], archived, &by_uid));
    let owners = of_restored.filter(|owner| !restored.contains(owner)).collect();
    Selected { restored, owners }
}

fn by_uid(archived: &[Archived]) -> FxHashMap<&str, ItemId> {
    archived.iter().enumerate().map(|(item, object)| (object.uid.as_str(), item)).collect()
}

/// The dependents of each object.
fn owned_by(archived: &[Archived], by_uid: &FxHashMap<&str, ItemId>) -> Groups<ItemId, ItemId> {
    let items = archived.iter().enumerate();
    items.flat_map(|(item, object)| owners(object, archived, by_uid).map(move |owner| (owner, item))).collect()
}

/// What was being deleted before this time, and what only such objects owned.
pub(super) fn terminating_before(archived: &[Archived], time: &str) -> BTreeSet<ItemId> {
    let is_terminating = |object: &Archived| object.deleted_at().is_some_and(|at| at < time);
    let mut queue: Vec<ItemId> = (0..archived.len()).filter(|item| is_terminating(&archived[*item])).collect();
    let mut terminating: BTreeSet<ItemId> = queue.iter().copied().collect();
    let by_uid = by_uid(archived);
    let owned_by = owned_by(archived, &by_uid);
    while let Some(item) = queue.pop() {
        for dependent in owned_by.of(&item).iter().copied() {
            let object = &archived[dependent];
            let gone = owners(object, archived, &by_uid).filter(|owner| terminating.contains(owner)).count();
            if gone == object.references.len() && terminating.insert(dependent) {
                queue.push(dependent);
            }
        }
    }
    terminating
}

/// The namespaces of the objects that are restored, and the names of restored Namespaces.
pub fn selected_namespaces<'a>(archived: &'a [Archived], named: Option<&BTreeSet<ItemId>>) -> BTreeSet<&'a str> {
    let selected = named.map(|named| select(archived, named).restored);
    let restored = |(item, _): &(ItemId, &Archived)| selected.as_ref().is_none_or(|selected| selected.contains(item));
    let of = |(_, object): (ItemId, &'a Archived)| match object.place.is("", "Namespace") {
        true => object.place.name.as_str(),
        false => object.place.namespace.as_str(),
    };
    archived.iter().enumerate().filter(restored).map(of).filter(|namespace| !namespace.is_empty()).collect()
}

/// The archived owners of an object.
fn owners<'a>(
    object: &'a Archived,
    archived: &'a [Archived],
    by_uid: &'a FxHashMap<&str, ItemId>,
) -> impl Iterator<Item = ItemId> + 'a {
    object.references.iter().filter_map(|reference| {
        let owner = *by_uid.get(reference.uid.as_str())?;
        reference.leads_to(&archived[owner].place).then_some(owner)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_owner(owners: &[usize]) -> Vec<Need> {
        owners.iter().enumerate().map(|(reference, item)| Need { item: *item, reference: Some(reference) }).collect()
    }

    fn found(ranks: &[u8], needs: &[Vec<Need>]) -> (Vec<Vec<usize>>, Vec<(usize, usize)>) {
        let wanted: Vec<usize> = (0..ranks.len()).collect();
        let CreationOrder { steps, mut closing } = creation_order(&wanted, ranks, needs);
        closing.sort_unstable();
        (steps, closing)
    }

    #[test]
    fn owners_come_before_dependents_and_ranks_decide_among_the_ready() {
        let needs = [by_owner(&[1]), by_owner(&[2]), by_owner(&[]), by_owner(&[]), by_owner(&[2])];
        let (steps, closing) = found(&[0, 5, 5, 3, 6], &needs);
        // 0 has the lowest rank, but waits for its owner 1.
        assert_eq!((steps, closing), (vec![vec![3], vec![2], vec![1], vec![0], vec![4]], vec![]));
    }

    #[test]
    fn circles_are_opened_where_nothing_else_is_waited_for() {
        // 0 → 1 → 2 → 0, and 3 below it; 4 owns itself.
        let needs = [by_owner(&[1]), by_owner(&[2]), by_owner(&[0]), by_owner(&[2]), by_owner(&[4])];
        let (steps, closing) = found(&[5; 5], &needs);
        assert_eq!((steps, closing), (vec![vec![4], vec![0], vec![2], vec![1, 3]], vec![(0, 0), (4, 0)]));
        // Two cycles, the second below the first: the second is opened only after the first is created.
        let needs = [by_owner(&[1]), by_owner(&[0]), by_owner(&[3, 0]), by_owner(&[2])];
        let (steps, closing) = found(&[5; 4], &needs);
        assert_eq!((steps, closing), (vec![vec![0], vec![1], vec![2], vec![3]], vec![(0, 0), (2, 0)]));
    }

    #[test]
    fn nothing_is_created_before_its_definition() {
        // A custom resource (0) owns its own CRD (1).
        let needs = [vec![Need { item: 1, reference: None }], by_owner(&[0])];
        assert_eq!(found(&[5, 1], &needs), (vec![vec![1], vec![0]], vec![(1, 0)]));
        // A namespace (0) is owned by an object (1) in it.
        let needs = [by_owner(&[1]), vec![Need { item: 0, reference: None }]];
        assert_eq!(found(&[0, 5], &needs), (vec![vec![0], vec![1]], vec![(0, 0)]));
    }

    #[test]
    fn an_owner_that_is_named_twice_is_waited_for_once() {
        let needs = [by_owner(&[1, 1]), by_owner(&[])];
        assert_eq!(found(&[5, 5], &needs), (vec![vec![1], vec![0]], vec![]));
        let needs = [by_owner(&[1, 1]), by_owner(&[0])];
        assert_eq!(found(&[5, 5], &needs), (vec![vec![0], vec![1]], vec![(0, 0), (0, 1)]));
    }

    #[test]
    fn every_item_is_placed_once_and_after_all_that_it_needs() {
        // Random graphs from a small generator.
        let mut seed = 1_u64;
        let mut random = move |below: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        for _ in 0..300 {
            let items = 1 + random(12);
            let needs: Vec<Vec<Need>> =
                (0..items).map(|_| by_owner(&(0..random(3)).map(|_| random(items)).collect::<Vec<_>>())).collect();
            let ranks: Vec<u8> = (0..items).map(|_| u8::try_from(random(4)).unwrap()).collect();
            let (steps, closing) = found(&ranks, &needs);
            let mut placed = vec![false; items];
            for step in steps {
                for item in &step {
                    for need in &needs[*item] {
                        let left_for_later = closing.contains(&(*item, need.reference.unwrap()));
                        assert!(placed[need.item] != left_for_later, "{needs:?}");
                    }
                }
                for item in step {
                    assert!(!std::mem::replace(&mut placed[item], true), "{needs:?}");
                }
            }
            assert!(placed.into_iter().all(|placed| placed), "{needs:?}");
        }
    }

    #[test]
    fn long_chains_are_no_matter() {
        let items = 100_000;
        let needs: Vec<Vec<Need>> = (0..items).map(|item| by_owner(&[(item + 1) % items])).collect();
        let (steps, closing) = found(&vec![5; items], &needs);
        assert_eq!((steps.len(), closing), (items, vec![(0, 0)]));
    }
}

#[cfg(test)]
mod selection_tests {
    use serde_json::json;

    use super::*;
    use crate::restore::testing::{archived, object, owned};

    fn names(objects: &[Archived], of: &BTreeSet<ItemId>) -> Vec<String> {
        of.iter().map(|item| objects[*item].place.name.clone()).collect()
    }

    #[test]
    fn an_object_comes_with_its_dependents_and_its_owners_are_known() {
        let objects = archived([
            owned("apps/v1", "Deployment", "web", &[]),
            owned("apps/v1", "ReplicaSet", "web-1", &[("apps/v1", "Deployment", "web")]),
            owned("v1", "Pod", "web-1-a", &[("apps/v1", "ReplicaSet", "web-1")]),
            owned("v1", "ConfigMap", "of-pod", &[("v1", "Pod", "web-1-a"), ("v1", "ConfigMap", "settings")]),
            owned("v1", "ConfigMap", "settings", &[]),
            object("v1", "Namespace", "shop", &json!({})),
            object("v1", "ConfigMap", "elsewhere", &json!({"metadata": {"namespace": "other"}})),
        ]);
        let selected = select(&objects, &BTreeSet::from([1]));
        assert_eq!(names(&objects, &selected.restored), ["web-1", "web-1-a", "of-pod"]);
        assert_eq!(names(&objects, &selected.owners), ["web", "settings"]);
        let whole = select(&objects, &BTreeSet::from([5]));
        assert_eq!(whole.restored.len(), 6);
        assert!(whole.owners.is_empty() && !whole.restored.contains(&6));
    }

    #[test]
    fn a_definition_comes_with_its_objects() {
        let spec = json!({"spec": {"group": "acme.io", "names": {"kind": "Shop", "plural": "shops"}}});
        let objects = archived([
            object("apiextensions.k8s.io/v1", "CustomResourceDefinition", "shops.acme.io", &spec),
            owned("acme.io/v1", "Shop", "main", &[]),
            owned("acme.io/v1", "Stall", "other", &[]),
        ]);
        assert_eq!(names(&objects, &select(&objects, &BTreeSet::from([0])).restored), ["shops.acme.io", "main"]);
    }
}
