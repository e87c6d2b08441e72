//! Which objects of an archive are restored: all, or those that are named and what is theirs.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use crate::groups::Groups;

use super::{archived::Archived, plan::ItemId};

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
