//! The manifests of `-f` and `-k`: their texts, and the objects in them.

pub(super) mod spans;

use std::{fs, io, ops::Range, path::PathBuf};

use glob::{MatchOptions, glob_with};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use walkdir::WalkDir;

use crate::{
    apply::ManifestObject,
    bounded::{self, LARGEST_SETTING},
    cluster,
    dump::{self, yaml},
    url,
};

use self::spans::{Spans, truth_of};
use super::targets::{Place, TargetError};

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
    /// The files, folders, patterns and addresses of `-f`, in order.
    ///
    /// # Errors
    /// What can't be read, and what is no object.
    pub fn read(paths: &[String], recursive: bool) -> Result<Vec<Self>, TargetError> {
        let mut files = Vec::new();
        each_text(paths, recursive, |shown, text| {
            let file = ManifestFile::parse(shown, text)?;
            let any = file.objects().next().is_some();
            files.push(file);
            Ok(any)
        })?;
        Ok(files)
    }

    /// What `kubectl kustomize` makes of a folder.
    ///
    /// # Errors
    /// Why it makes nothing.
    pub fn kustomized(folder: &str) -> Result<Vec<Self>, TargetError> {
        Ok(vec![ManifestFile::parse(folder, kustomized_text(folder)?)?])
    }

    /// # Errors
    /// Malformed text, and what is no object.
    pub(super) fn parse(path: &str, text: String) -> Result<Self, TargetError> {
        let mut documents = Vec::new();
        for (place, range, value) in values(path, &text)? {
            let objects = if value.is_null() { Vec::new() } else { objects(&value, &place)? };
            documents.push(Document { range, value, objects });
        }
        Ok(ManifestFile { path: path.to_owned(), json: is_json(&text), text, documents })
    }

    /// Its objects, in order.
    pub fn objects(&self) -> impl Iterator<Item = &Found> {
        self.documents.iter().flat_map(|document| &document.objects)
    }
}

/// All objects in the values of `-f`, in order, each with its name.
pub(super) fn read_named(paths: &[String], recursive: bool) -> Result<Vec<ManifestObject>, TargetError> {
    let mut objects = Vec::new();
    each_text(paths, recursive, |shown, text| {
        let found = named(shown, &text)?;
        let any = !found.is_empty();
        objects.extend(found);
        Ok(any)
    })?;
    Ok(objects)
}

/// All objects that `kubectl kustomize` makes of a folder, each with its name.
pub(super) fn kustomized_named(folder: &str) -> Result<Vec<ManifestObject>, TargetError> {
    let objects = named(folder, &kustomized_text(folder)?)?;
    if objects.is_empty() { Err(TargetError::NoManifests { path: folder.to_owned() }) } else { Ok(objects) }
}

/// The fields that identify an object, as far as their types matter.
#[derive(Deserialize)]
struct Identifying {
    #[serde(rename = "apiVersion", default)]
    _api_version: Option<String>,
    #[serde(rename = "kind", default)]
    _kind: Option<String>,
    #[serde(rename = "metadata", default)]
    _metadata: Option<IdentifyingMetadata>,
}

#[derive(Deserialize)]
struct IdentifyingMetadata {
    #[serde(rename = "name", default)]
    _name: Option<String>,
    #[serde(rename = "namespace", default)]
    _namespace: Option<String>,
    #[serde(rename = "generateName", default)]
    _generate_name: Option<String>,
}

/// The objects in a text. What identifies an object must be there, and be text.
pub(super) fn named(path: &str, text: &str) -> Result<Vec<ManifestObject>, TargetError> {
    let mut named = Vec::new();
    for (place, range, value) in values(path, text)?.into_iter().filter(|(.., value)| !value.is_null()) {
        if value.is_object() && Identifying::deserialize(&value).is_err() {
            return Err(TargetError::Malformed { place, message: wrong_type(text, range) });
        }
        for Found { object, .. } in objects(&value, &place)? {
            let (place, kind) = (object.place.clone(), object.kind.clone());
            if let Err(error) = Identifying::deserialize(&object.whole) {
                return Err(TargetError::Malformed { place, message: error.to_string() });
            }
            if object.name.is_empty() {
                return Err(match object.whole["metadata"]["generateName"].is_string() {
                    true => TargetError::GeneratedName { place, kind },
                    false => TargetError::MissingField { place, field: "metadata.name" },
                });
            }
            named.push(object);
        }
    }
    Ok(named)
}

/// What is wrong with the types in a document of a text, and in which line.
fn wrong_type(text: &str, document: Range<usize>) -> String {
    let above = "\n".repeat(text[..document.start].matches('\n').count());
    let document = above + &text[document];
    let why = match is_json(text) {
        true => serde_json::from_str::<Identifying>(&document).err().map(|error| error.to_string()),
        false => serde_yaml::from_str::<Identifying>(&document).err().map(|error| error.to_string()),
    };
    why.unwrap_or_default()
}

fn is_json(text: &str) -> bool {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
}

/// The documents of a text, each with its place: one or more JSON values in a row, or YAML documents.
fn values(path: &str, text: &str) -> Result<Vec<(Place, Range<usize>, Value)>, TargetError> {
    let mut values = Vec::new();
    let mut take = |range: Range<usize>, value: Result<Value, String>| {
        let place = Place { file: path.to_owned(), document: values.len() + 1, item: None };
        match value {
            Ok(value) => values.push((place, range, value)),
            Err(message) => return Err(TargetError::Malformed { place, message }),
        }
        Ok(())
    };
    if is_json(text) {
        let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let mut start = 0;
        while let Some(value) = stream.next() {
            let end = stream.byte_offset().max(start);
            let blank = text[start..end].len() - text[start..end].trim_start().len();
            take(start + blank..end, value.map_err(|error| error.to_string()))?;
            start = end;
        }
    } else {
        limit_depth(path, text)?;
        for document in yaml::documents(text) {
            let start = document.text.as_ptr() as usize - text.as_ptr() as usize;
            take(start..start + document.text.len(), yaml_value(document.text))?;
        }
    }
    Ok(values)
}

/// One document of YAML as kubectl reads it: with its merge keys applied, and with the truth values of YAML 1.1.
pub(super) fn yaml_value(text: &str) -> Result<Value, String> {
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
fn objects(document: &Value, place: &Place) -> Result<Vec<Found>, TargetError> {
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
            return Err(TargetError::NotAnObject { place, found: what });
        }
        let own = |field: &str| value[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let (api_version, kind) = inherited.unzip();
        let missing = |field| TargetError::MissingField { place: place.clone(), field };
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

/// Passes on the texts of the values of `-f`, in order. `take` says whether there is any object in one.
///
/// # Errors
/// A text that can't be read, a value without any object, and the first error of `take`.
fn each_text(
    paths: &[String],
    recursive: bool,
    mut take: impl FnMut(&str, String) -> Result<bool, TargetError>,
) -> Result<(), TargetError> {
    let mut stdin_read = false;
    for path in paths {
        let mut any = false;
        if url::is_fetched(path) {
            let shown = url::without_password(path);
            let fetched = cluster::fetch(path).map_err(|why| TargetError::Url { url: shown.clone(), why })?;
            any |= take(&shown, text(&shown, fetched)?)?;
        } else if path == "-" {
            if std::mem::replace(&mut stdin_read, true) {
                continue;
            }
            let bytes =
                bounded::read(io::stdin().lock(), LARGEST_SETTING).map_err(|source| unreadable(path, source))?;
            any |= take(path, text(path, bytes)?)?;
        } else {
            for file in matching(path)? {
                for file in files(&file, recursive)? {
                    let shown = file.display().to_string();
                    let bytes = bounded::read_setting(&file).map_err(|source| unreadable(&shown, source))?;
                    any |= take(&shown, text(&shown, bytes)?)?;
                }
            }
        }
        if !any {
            return Err(TargetError::NoManifests { path: path.clone() });
        }
    }
    Ok(())
}

/// The text that `kubectl kustomize` makes of a folder.
///
/// # Errors
/// Why there is none.
fn kustomized_text(folder: &str) -> Result<String, TargetError> {
    let built = dump::kustomized(folder);
    let built = built.map_err(|why| TargetError::Kustomize { folder: folder.to_owned(), why })?;
    text(folder, built)
}

/// As in kubectl: what doesn't exist under this name may be a pattern.
fn matching(path: &str) -> Result<Vec<String>, TargetError> {
    if fs::symlink_metadata(path).is_ok() || !path.contains(['*', '?', '[']) {
        return Ok(vec![path.to_owned()]);
    }
    let invalid = |why: String| unreadable(path, io::Error::new(io::ErrorKind::InvalidInput, why));
    let pattern = pattern_of_go(path).map_err(invalid)?;
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let found = glob_with(&pattern, options).map_err(|error| invalid(error.to_string()))?;
    let files: Vec<String> = found
        .map(|file| file.map(|file| file.display().to_string()).map_err(|error| unreadable(path, error.into())))
        .collect::<Result<_, _>>()?;
    if files.is_empty() {
        return Err(unreadable(path, io::Error::new(io::ErrorKind::NotFound, "no file matches")));
    }
    Ok(files)
}

/// A pattern of Go's `filepath.Match`, in this crate's grammar: there `[^…]` negates and not `[!…]`, and two stars
/// match no slash either.
fn pattern_of_go(pattern: &str) -> Result<String, String> {
    let mut own = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '*' if own.ends_with('*') => {}
            '\\' => return Err("a pattern with a backslash is not understood".to_owned()),
            '[' => {
                let class: String = chars.by_ref().take_while(|c| *c != ']').collect();
                if class.contains(['\\', '[']) {
                    return Err(format!("[{class}] is not understood in a pattern"));
                }
                match class.strip_prefix('^') {
                    Some(others) => own.push_str(&format!("[!{others}]")),
                    // Here, a ! at the beginning stands for itself.
                    None if class.starts_with('!') && class.len() > 1 => {
                        own.push_str(&format!("[{}!]", &class[1..]));
                    }
                    None => own.push_str(&format!("[{class}]")),
                }
            }
            c => own.push(c),
        }
    }
    Ok(own)
}

fn unreadable(path: &str, source: io::Error) -> TargetError {
    TargetError::Unreadable { path: path.to_owned(), source }
}

/// A file, whatever its name; or the manifests in a folder, by their extensions.
fn files(path: &str, recursive: bool) -> Result<Vec<PathBuf>, TargetError> {
    if !fs::metadata(path).map_err(|source| unreadable(path, source))?.is_dir() {
        return Ok(vec![PathBuf::from(path)]);
    }
    let mut files = Vec::new();
    let depth = if recursive { usize::MAX } else { 1 };
    for entry in WalkDir::new(path).max_depth(depth).sort_by_file_name() {
        let entry = entry.map_err(|error| {
            let place = error.path().map_or(path.to_owned(), |path| path.display().to_string());
            unreadable(&place, error.into_io_error().unwrap_or_else(|| io::Error::other("cannot be walked")))
        })?;
        let name = entry.file_name().to_string_lossy();
        if !entry.file_type().is_dir() && [".json", ".yaml", ".yml"].iter().any(|extension| name.ends_with(extension)) {
            files.push(entry.into_path());
        }
    }
    if files.is_empty() { Err(TargetError::NoManifestFiles { path: path.to_owned(), recursive }) } else { Ok(files) }
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, TargetError> {
    let text = String::from_utf8(bytes).map_err(|_| TargetError::NotUtf8 { path: path.to_owned() })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// The YAML reader of manifests takes hours for texts with a million open brackets. Where there may be as many, another
/// reader, which has limits, is asked first.
fn limit_depth(path: &str, text: &str) -> Result<(), TargetError> {
    const OPEN: usize = 10_000;
    if text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).take(OPEN).count() < OPEN {
        return Ok(());
    }
    for (index, document) in yaml::documents(text).iter().enumerate() {
        let read = || {
            yaml::read(document, |reader| IgnoredAny::deserialize(reader))
                .map_err(|error| yaml::error(path, document, &error))
        };
        yaml::with_stack(path, read).map_err(|error| TargetError::Malformed {
            place: Place { file: path.to_owned(), document: index + 1, item: None },
            message: error.to_string(),
        })?;
    }
    Ok(())
}
