//! An object in a file: what of it decides about its life and that of others.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::model::{RawReference, group_of};

/// The position of an object in a manifest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Place {
    /// The file; `-` for standard input.
    pub file: String,
    /// The number of the document, from 1.
    pub document: usize,
    /// The number of the list item, from 1; `None` outside lists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(name_of(&self.file))?;
        if self.document > 1 {
            write!(f, ", document {}", self.document)?;
        }
        if let Some(item) = self.item {
            write!(f, ", item {item}")?;
        }
        Ok(())
    }
}

/// A file in words.
pub fn name_of(file: &str) -> &str {
    if file == "-" { "standard input" } else { file }
}

/// An entry of `metadata.ownerReferences` in a file.
pub type FileReference = RawReference<'static>;

/// An object in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManifestObject {
    pub place: Place,
    pub api_version: String,
    pub kind: String,
    /// `metadata.namespace`; empty if the file names none.
    pub namespace: String,
    /// Empty if the API server has to make a name.
    pub name: String,
    /// `metadata.generateName`; empty if unset.
    pub generate_name: String,
    /// `metadata.uid`: that of the object which was saved. Empty if unset.
    pub uid: String,
    /// Empty if unset.
    pub resource_version: String,
    /// `None` if the field is missing.
    pub finalizers: Option<Vec<String>>,
    pub labels: Vec<(String, String)>,
    /// `None` if the field is missing.
    pub references: Option<Vec<FileReference>>,
    /// What of its metadata has a wrong type.
    pub malformed: Option<String>,
    /// The whole object.
    pub whole: Value,
}

impl ManifestObject {
    /// Reads an object that has an apiVersion and a kind.
    pub fn of(place: Place, api_version: &str, kind: &str, whole: Value) -> Self {
        let mut object =
            ManifestObject { place, api_version: api_version.into(), kind: kind.into(), ..Self::default() };
        let mut reader = Reader::default();
        let metadata = &whole["metadata"];
        object.namespace = reader.text(metadata, "namespace");
        object.name = reader.text(metadata, "name");
        object.generate_name = reader.text(metadata, "generateName");
        object.uid = reader.text(metadata, "uid");
        object.resource_version = reader.text(metadata, "resourceVersion");
        object.finalizers = read_finalizers(metadata, &mut reader);
        let labels = metadata["labels"].as_object().into_iter().flatten();
        object.labels = labels.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect();
        object.references = read_references(metadata, &mut reader);
        object.malformed = reader.malformed;
        object.whole = whole;
        object
    }

    /// `Deployment/web`, or `Job/import-*` if the API server makes the name.
    pub fn short_name(&self) -> String {
        match self.name.is_empty() {
            true => format!("{}/{}*", self.kind, self.generate_name),
            false => format!("{}/{}", self.kind, self.name),
        }
    }

    /// The group of its apiVersion.
    pub fn group(&self) -> &str {
        group_of(&self.api_version)
    }

    /// The references of the file.
    pub fn written(&self) -> &[FileReference] {
        self.references.as_deref().unwrap_or_default()
    }
}

/// The references in some metadata, such as that of the annotation of `kubectl apply`.
pub(super) fn references_in(object: &Value) -> Option<Vec<FileReference>> {
    read_references(&object["metadata"], &mut Reader::default())
}

/// The finalizers in such metadata.
pub(super) fn finalizers_in(object: &Value) -> Option<Vec<String>> {
    read_finalizers(&object["metadata"], &mut Reader::default())
}

fn read_finalizers(metadata: &Value, reader: &mut Reader) -> Option<Vec<String>> {
    let finalizers = reader.list(metadata, "finalizers")?;
    Some(finalizers.iter().filter_map(|one| reader.own_text("finalizers", one)).collect())
}

fn read_references(metadata: &Value, reader: &mut Reader) -> Option<Vec<FileReference>> {
    let references = reader.list(metadata, "ownerReferences")?;
    let read = |reference: &Value| FileReference {
        api_version: reader.text(reference, "apiVersion").into(),
        kind: reader.text(reference, "kind").into(),
        name: reader.text(reference, "name").into(),
        uid: reader.text(reference, "uid").into(),
        controller: reader.flag(reference, "controller"),
        block_owner_deletion: reader.flag(reference, "blockOwnerDeletion"),
    };
    Some(references.iter().map(read).collect())
}

/// Reads fields, and remembers the first of a wrong type: the API server refuses such an object.
#[derive(Default)]
struct Reader {
    malformed: Option<String>,
}

impl Reader {
    fn wrong(&mut self, field: &str, wanted: &str) {
        self.malformed.get_or_insert_with(|| format!("{field} is not {wanted}"));
    }

    fn text(&mut self, of: &Value, field: &str) -> String {
        self.own_text(field, &of[field]).unwrap_or_default()
    }

    fn own_text(&mut self, field: &str, value: &Value) -> Option<String> {
        if !value.is_string() && !value.is_null() {
            self.wrong(field, "a text (put it in quotes)");
        }
        value.as_str().map(str::to_owned)
    }

    fn flag(&mut self, of: &Value, field: &str) -> Option<bool> {
        if !of[field].is_boolean() && !of[field].is_null() {
            self.wrong(field, "true or false");
        }
        of[field].as_bool()
    }

    /// A null counts as missing.
    fn list(&mut self, of: &Value, field: &str) -> Option<Vec<Value>> {
        if !of[field].is_array() && !of[field].is_null() {
            self.wrong(field, "a list");
        }
        of[field].as_array().cloned()
    }
}
