//! Turns the objects of an archive into a plan: what to create, in which order, and what to leave out.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::Value;

use crate::model::{Resource, well_known};

use super::{
    archived::{Archived, Malformed, OwnerReference, Place},
    fields::as_created,
    left_out::{LeftOut, why_left_out},
    order::{CreationOrder, LATEST, Need, creation_order, rank},
    relocate::{NamespaceMap, StillNamed, relocate, still_named},
    selection::{select, terminating_before},
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
