//! An archived object: its place, its owner references, and its content; and which of them are restored: all, or those
//! that are named and what is theirs.

use std::{collections::BTreeSet, fmt};

use rustc_hash::FxHashMap;
use serde::Serialize;
use serde_json::Value;

use crate::{groups::Groups, model::group_of};

use super::plan::ItemId;

/// The coordinates of an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// As written in the object: `apps/v1`.
    pub api_version: String,
    pub kind: String,
    /// Empty for cluster scope.
    pub namespace: String,
    pub name: String,
}

impl Place {
    /// The group of the apiVersion; empty for the core group.
    pub fn group(&self) -> &str {
        group_of(&self.api_version)
    }

    /// Whether it has this kind, in any version.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group() == group && self.kind == kind
    }
}

/// `Deployment/web -n shop`, or `Namespace/shop`.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.name)?;
        if self.namespace.is_empty() { Ok(()) } else { write!(f, " -n {}", self.namespace) }
    }
}

/// An entry of an archived object's `metadata.ownerReferences`. In documents, it is as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnerReference {
    /// The owner's uid when it was archived.
    #[serde(skip)]
    pub uid: String,
    /// The owner's coordinates according to the reference, in the namespace of the dependent. Only the server knows
    /// whether the kind is namespaced.
    #[serde(skip)]
    pub place: Place,
    /// `controller: true`.
    #[serde(skip)]
    pub controller: bool,
    /// The reference as written, with all fields.
    #[serde(flatten)]
    pub written: Value,
}

impl OwnerReference {
    /// Whether an object at this place is where the reference says; the version doesn't matter.
    pub fn leads_to(&self, place: &Place) -> bool {
        let in_reach = place.namespace.is_empty() || place.namespace == self.place.namespace;
        in_reach && place.name == self.place.name && place.is(self.place.group(), &self.place.kind)
    }

    /// The reference as written, with another owner uid.
    pub fn with_uid(&self, uid: &str) -> Value {
        let mut written = self.written.clone();
        written["uid"] = Value::from(uid);
        written
    }
}

/// An item of an archive that is not a valid object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("object {number} of the archive {what}; use an unmodified archive")]
pub struct Malformed {
    /// Its position in the archive, counted from one.
    pub number: usize,
    /// What is wrong with it.
    pub what: String,
}

/// One object of an archive.
#[derive(Clone, Debug, PartialEq)]
pub struct Archived {
    pub place: Place,
    pub uid: String,
    pub references: Vec<OwnerReference>,
    /// The whole object, as the server returned it; moved, if it is restored into another namespace.
    pub whole: Value,
    /// The namespace that it was archived in, if it is restored into another.
    pub moved_from: Option<String>,
}

impl OwnerReference {
    /// Whether it blocks its owner.
    pub fn blocks(&self) -> bool {
        self.written["blockOwnerDeletion"] == true
    }
}

impl Archived {
    /// Its deletionTimestamp, such as `2026-01-31T08:00:00Z`, if it is Terminating.
    pub(super) fn deleted_at(&self) -> Option<&str> {
        self.whole["metadata"]["deletionTimestamp"].as_str()
    }

    /// Reads all objects of an archive.
    ///
    /// # Errors
    /// The first that is not a valid object.
    pub fn all(objects: impl IntoIterator<Item = Value>) -> Result<Vec<Self>, Malformed> {
        objects.into_iter().enumerate().map(|(index, whole)| Archived::new(index + 1, whole)).collect()
    }

    /// Reads an object; `number` is its position in the archive, counted from one.
    ///
    /// # Errors
    /// It has no apiVersion, kind, name or uid, or its owner references are invalid.
    pub fn new(number: usize, whole: Value) -> Result<Self, Malformed> {
        let malformed = |what: String| Malformed { number, what };
        let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let metadata = &whole["metadata"];
        let required = |value: &Value, what: &str| text(value).ok_or_else(|| malformed(format!("has no {what}")));
        let place = Place {
            api_version: required(&whole["apiVersion"], "apiVersion")?,
            kind: required(&whole["kind"], "kind")?,
            namespace: text(&metadata["namespace"]).unwrap_or_default(),
            name: required(&metadata["name"], "name")?,
        };
        let uid = text(&metadata["uid"]).ok_or_else(|| malformed(format!("({place}) has no uid")))?;
        let written = match &metadata["ownerReferences"] {
            Value::Null => &[][..],
            Value::Array(references) => references,
            _ => return Err(malformed(format!("({place}) has ownerReferences that are not a list"))),
        };
        let mut references = Vec::with_capacity(written.len());
        for reference in written {
            let part = |name: &str| {
                text(&reference[name])
                    .ok_or_else(|| malformed(format!("({place}) has an owner reference without {name}")))
            };
            references.push(OwnerReference {
                uid: part("uid")?,
                place: Place {
                    api_version: part("apiVersion")?,
                    kind: part("kind")?,
                    namespace: place.namespace.clone(),
                    name: part("name")?,
                },
                controller: reference["controller"] == true,
                written: reference.clone(),
            });
        }
        Ok(Archived { place, uid, references, whole, moved_from: None })
    }

    /// The reference to its controller, if it has one.
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.references.iter().find(|reference| reference.controller)
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
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_says_where_it_was_and_who_owned_it() {
        let reference = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "r",
            "controller": true, "more": 1});
        let pod = json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": "web-1", "namespace": "shop", "uid": "p", "ownerReferences": [reference]}});
        let archived = Archived::new(1, pod.clone()).unwrap();
        assert_eq!((archived.place.to_string().as_str(), archived.uid.as_str()), ("Pod/web-1 -n shop", "p"));
        assert_eq!(archived.whole, pod);
        let controller = archived.controller().unwrap();
        assert_eq!(controller.place.to_string(), "ReplicaSet/web -n shop");
        assert!(controller.place.is("apps", "ReplicaSet") && archived.place.is("", "Pod"));
        let mut mapped = reference;
        mapped["uid"] = json!("new");
        assert_eq!(controller.with_uid("new"), mapped, "every other field is kept");
    }

    #[test]
    fn what_is_no_object_is_told_by_its_number() {
        let describe = |whole: Value| Archived::new(7, whole).unwrap_err().to_string();
        let object = |metadata: Value| json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata});
        assert!(describe(json!(null)).starts_with("object 7 of the archive has no apiVersion;"));
        assert!(describe(json!({"apiVersion": "v1", "kind": 3})).contains("has no kind"));
        assert!(describe(object(json!({"uid": "u"}))).contains("has no name"));
        assert!(describe(object(json!({"name": "a"}))).contains("(Pod/a) has no uid"));
        assert!(
            describe(object(json!({"name": "a", "uid": "u", "ownerReferences": {}})))
                .contains("ownerReferences that are not a list")
        );
        let nameless = json!([{"apiVersion": "v1", "kind": "Pod", "uid": "o"}]);
        assert!(
            describe(object(json!({"name": "a", "uid": "u", "ownerReferences": nameless})))
                .contains("reference without name")
        );
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
