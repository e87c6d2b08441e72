//! `--sort-by`: the order of siblings by a field of their metadata.

use serde_json::{Map, Value, json};

use crate::{
    graph::OwnerGraph,
    jsonpath::{JsonPath, PathError, SortKey, relaxed},
    model::{ObjectId, Snapshot, Symbol},
};

use super::walk::{Places, Tree};

/// The fields that lists of metadata contain and a snapshot keeps.
const FIELDS: [&str; 12] = [
    "apiVersion",
    "kind",
    "metadata.creationTimestamp",
    "metadata.deletionGracePeriodSeconds",
    "metadata.deletionTimestamp",
    "metadata.finalizers",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.ownerReferences",
    "metadata.resourceVersion",
    "metadata.uid",
];

/// The field that sorts siblings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SortBy {
    path: JsonPath,
    template: String,
}

impl SortBy {
    /// Reads kubectl's `--sort-by`.
    ///
    /// # Errors
    /// It is no path, or leads to what is not read.
    pub fn parse(field: &str) -> Result<Self, PathError> {
        let template = relaxed(field)?;
        let path = JsonPath::parse(&template)?;
        let inner = template.strip_prefix("{.").and_then(|path| path.strip_suffix('}')).unwrap_or_default();
        let begins =
            |known: &str| inner.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if FIELDS.iter().any(|known| begins(known)) {
            return Ok(SortBy { path, template });
        }
        Err(PathError(format!(
            "{template} is not read: a tree has only metadata; sort by .metadata.name, \
             .metadata.creationTimestamp or a label, such as .metadata.labels.app"
        )))
    }

    /// The places of the objects of a tree. As in kubectl, one object needs no field.
    ///
    /// # Errors
    /// None of the objects has the field, or its values have no order.
    pub fn places(&self, snapshot: &Snapshot, graph: &OwnerGraph, tree: &Tree) -> Result<Places, PathError> {
        let objects: Vec<ObjectId> = tree.objects(graph).collect();
        if objects.len() < 2 {
            return Ok(Places::default());
        }
        let mut found = false;
        let mut key = |id: &ObjectId| {
            let value = self.path.first(&document(snapshot, *id))?;
            found |= value.is_some();
            SortKey::of(value.as_ref())
        };
        let keys: Vec<SortKey> = objects.iter().map(&mut key).collect::<Result<_, _>>()?;
        if !found {
            let path = &self.template;
            return Err(PathError(format!("couldn't find any field with path {path:?} in the list of objects")));
        }
        Ok(objects.into_iter().zip(SortKey::ranks(&keys)).collect())
    }
}

/// What is known of an object, as the API server writes it.
fn document(snapshot: &Snapshot, id: ObjectId) -> Value {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    let text = |symbol: Symbol| (!symbol.is_empty()).then(|| json!(snapshot.text(symbol)));
    let time = |seconds: Option<i64>| Some(json!(jiff::Timestamp::from_second(seconds?).ok()?.to_string()));
    let labels: Map<String, Value> = object
        .labels
        .iter()
        .map(|(key, value)| (snapshot.text(*key).to_owned(), json!(snapshot.text(*value))))
        .collect();
    let finalizers: Vec<&str> = object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer)).collect();
    let owners: Vec<Value> = object
        .owners
        .iter()
        .map(|reference| {
            json!({
                "apiVersion": snapshot.text(reference.api_version),
                "kind": snapshot.text(reference.kind),
                "name": snapshot.text(reference.name),
                "uid": snapshot.text(reference.uid),
            })
        })
        .collect();
    let version = object.resource_version.text(&snapshot.strings);
    let metadata = [
        ("creationTimestamp", time(object.created.get())),
        ("deletionGracePeriodSeconds", object.grace.get().map(|seconds| json!(seconds))),
        ("deletionTimestamp", time(object.deleted.get())),
        ("finalizers", (!finalizers.is_empty()).then(|| json!(finalizers))),
        ("labels", (!labels.is_empty()).then_some(Value::Object(labels))),
        ("name", text(object.name)),
        ("namespace", text(object.namespace)),
        ("ownerReferences", (!owners.is_empty()).then_some(Value::Array(owners))),
        ("resourceVersion", (!version.is_empty()).then(|| json!(version))),
        ("uid", text(object.uid)),
    ];
    let metadata: Map<String, Value> =
        metadata.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    json!({"apiVersion": resource.api_version(), "kind": resource.kind, "metadata": metadata})
}
