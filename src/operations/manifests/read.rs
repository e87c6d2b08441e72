//! The objects in manifests.

use std::ops::Range;

use serde::{Deserialize as _, de::IgnoredAny};
use serde_json::Value;

use super::{
    ManifestError,
    files::{each_text, kustomized_text},
    spans::{Spans, truth_of},
};
use gc_cluster::dump::yaml;
use gc_core::apply::{ManifestObject, Place};

/// A file of manifests, or what stands for one.
#[derive(Clone, Debug)]
pub struct ManifestFile {
    /// As it is shown; `-` for standard input.
    pub path: String,
    pub text: String,
    pub json: bool,
    pub documents: Vec<Document>,
}

/// One document of a file.
#[derive(Clone, Debug)]
pub struct Document {
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
    pub value: Value,
    /// Where in it the objects are.
    pub objects: Vec<Found>,
}

/// An object in a document.
#[derive(Clone, Debug)]
pub struct Found {
    /// The numbers of the items of lists that lead to it, from 0; none if it is the document.
    pub path: Vec<usize>,
    pub object: ManifestObject,
}

impl ManifestFile {
    /// The files, folders, patterns and addresses of `-f`, in order, or what `kubectl kustomize` makes of the folder of
    /// `-k`.
    ///
    /// # Errors
    /// What can't be read, what is no object, and a value without any.
    pub fn read(paths: &[String], folder: Option<&str>, recursive: bool) -> Result<Vec<Self>, ManifestError> {
        let mut files = Vec::new();
        let mut take = |shown: &str, text| {
            let file = ManifestFile::parse(shown, text)?;
            let any = file.objects().next().is_some();
            files.push(file);
            Ok(any)
        };
        match folder {
            Some(folder) if !take(folder, kustomized_text(folder)?)? => {
                return Err(ManifestError::NoObjects { path: folder.to_owned() });
            }
            Some(_) => {}
            None => each_text(paths, recursive, take)?,
        }
        Ok(files)
    }

    /// # Errors
    /// Malformed text, and what is no object.
    pub(in crate::operations) fn parse(path: &str, text: String) -> Result<Self, ManifestError> {
        let json = matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['));
        let values = if json { json_values(path, &text)? } else { yaml_values(path, &text)? };
        let mut documents = Vec::with_capacity(values.len());
        for (index, (range, value)) in values.into_iter().enumerate() {
            let place = Place { file: path.to_owned(), document: index + 1, item: None };
            let objects = if value.is_null() { Vec::new() } else { objects(&value, &place)? };
            documents.push(Document { range, value, objects });
        }
        Ok(ManifestFile { path: path.to_owned(), text, json, documents })
    }

    /// Its objects, in order.
    pub fn objects(&self) -> impl Iterator<Item = &Found> {
        self.documents.iter().flat_map(|document| &document.objects)
    }
}

fn json_values(path: &str, text: &str) -> Result<Vec<(Range<usize>, Value)>, ManifestError> {
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let mut start = 0;
    while let Some(value) = stream.next() {
        let place = || Place { file: path.to_owned(), document: values.len() + 1, item: None };
        let value = value.map_err(|error| ManifestError::Malformed { place: place(), message: error.to_string() })?;
        let end = stream.byte_offset();
        let blank = text[start..end].len() - text[start..end].trim_start().len();
        values.push((start + blank..end, value));
        start = end;
    }
    Ok(values)
}

fn yaml_values(path: &str, text: &str) -> Result<Vec<(Range<usize>, Value)>, ManifestError> {
    limit_depth(path, text)?;
    let mut values = Vec::new();
    for (index, document) in yaml::documents(text).into_iter().enumerate() {
        let place = || Place { file: path.to_owned(), document: index + 1, item: None };
        let start = document.text.as_ptr() as usize - text.as_ptr() as usize;
        let value = yaml_value(document.text).map_err(|message| {
            // Read once more, for the line in the file.
            let padded = "\n".repeat(document.lines_before) + document.text;
            ManifestError::Malformed { place: place(), message: yaml_value(&padded).err().unwrap_or(message) }
        })?;
        values.push((start..start + document.text.len(), value));
    }
    Ok(values)
}

/// The YAML reader of manifests takes hours for texts with a million open brackets. Where there may be as many, another
/// reader, which has limits, is asked first.
fn limit_depth(path: &str, text: &str) -> Result<(), ManifestError> {
    const OPEN: usize = 10_000;
    if text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).take(OPEN).count() < OPEN {
        return Ok(());
    }
    for (index, document) in yaml::documents(text).iter().enumerate() {
        let read = || {
            yaml::read(document, |reader| IgnoredAny::deserialize(reader))
                .map_err(|error| yaml::error(path, document, &error))
        };
        yaml::with_stack(path, read).map_err(|error| ManifestError::Malformed {
            place: Place { file: path.to_owned(), document: index + 1, item: None },
            message: error.to_string(),
        })?;
    }
    Ok(())
}

/// One document of YAML as kubectl reads it: with its merge keys applied, and with the truth values of YAML 1.1.
pub(in crate::operations) fn yaml_value(text: &str) -> Result<Value, String> {
    let mut value =
        serde_yaml::Value::deserialize(serde_yaml::Deserializer::from_str(text)).map_err(|e| e.to_string())?;
    value.apply_merge().map_err(|error| error.to_string())?;
    let mut value = serde_json::to_value(value).map_err(|error| error.to_string())?;
    let mut words = text.split(|c: char| c.is_whitespace() || "[]{},:".contains(c));
    if words.any(|word| truth_of(word).is_some())
        && let Some(spans) = Spans::of(text)
    {
        spans.resolve_words(&mut value);
    }
    Ok(value)
}

/// A value that may be a list of objects.
struct Open<'v> {
    value: &'v Value,
    path: Vec<usize>,
    place: Place,
    /// The apiVersion and kind of items, according to their typed list.
    inherited: Option<(String, String)>,
}

/// The objects in a document: one, or the items of lists.
fn objects(document: &Value, place: &Place) -> Result<Vec<Found>, ManifestError> {
    let mut found = Vec::new();
    let mut open = vec![Open { value: document, path: Vec::new(), place: place.clone(), inherited: None }];
    while let Some(Open { value, path, place, inherited }) = open.pop() {
        if !value.is_object() {
            let what = match value {
                Value::Null => "nothing",
                Value::Array(_) => "a list",
                Value::String(_) => "text",
                Value::Bool(_) => "true or false",
                _ => "a number",
            };
            return Err(ManifestError::NotAnObject { place, found: what });
        }
        let own = |field: &str| value[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let (api_version, kind) = inherited.unzip();
        let missing = |field| ManifestError::MissingField { place: place.clone(), field };
        let kind = own("kind").or(kind).ok_or_else(|| missing("kind"))?;
        let api_version = own("apiVersion").or(api_version).ok_or_else(|| missing("apiVersion"))?;
        if let (Some(item), Some(items)) = (kind.strip_suffix("List"), value["items"].as_array()) {
            let inherited = (!item.is_empty()).then(|| (api_version.clone(), item.to_owned()));
            // The first item is the next to be taken.
            open.extend(items.iter().enumerate().rev().map(|(index, value)| Open {
                value,
                path: path.iter().copied().chain([index]).collect(),
                place: Place { item: Some(index + 1), ..place.clone() },
                inherited: inherited.clone(),
            }));
            continue;
        }
        found.push(Found { path, object: ManifestObject::of(place, &api_version, &kind, value.clone()) });
    }
    Ok(found)
}
