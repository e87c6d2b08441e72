//! An archived object: its place, its owner references, and its content.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::model::group_of;

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
