//! Manifests: the values of `-f` and `-k`, and the objects in them.
//!
//! ```text
//! spans  where in a text a value is
//! ```

mod spans;

use std::{fs, io, ops::Range, path::PathBuf};

use glob::{MatchOptions, glob_with};
use serde::{Deserialize as _, de::IgnoredAny};
use serde_json::Value;
use walkdir::WalkDir;

use gc_cluster::{
    bounded::{self, LARGEST_SETTING},
    cluster,
    dump::{self, yaml},
};
use gc_core::{
    apply::{ManifestObject, Place, name_of},
    url,
};

use spans::truth_of;

pub(super) use spans::Spans;

/// Why manifests can't be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// `-f https://…` can't be fetched.
    #[error("-f {url}: unable to read the URL: {why}")]
    Url { url: String, why: String },
    /// `kubectl kustomize` fails.
    #[error("-k {folder}: {why}")]
    Kustomize { folder: String, why: String },
    /// A manifest that cannot be read.
    #[error("-f {}: {source}", name_of(path))]
    Unreadable { path: String, source: io::Error },
    /// A manifest that is not UTF-8.
    #[error("-f {}: not UTF-8", name_of(path))]
    NotUtf8 { path: String },
    /// A folder without manifests.
    #[error("-f {path}: no manifests in this folder (.yaml, .yml, .json){}",
        if *recursive { "" } else { "; -R looks into its folders too" })]
    NoManifestFiles { path: String, recursive: bool },
    /// Files without objects.
    #[error("-f {}: no objects in it", name_of(path))]
    NoObjects { path: String },
    /// Malformed JSON or YAML, or metadata of a wrong type.
    #[error("{place}: malformed: {message}")]
    Malformed { place: Place, message: String },
    /// A document that is no object.
    #[error("{place}: {found} instead of a Kubernetes object")]
    NotAnObject { place: Place, found: &'static str },
    /// An object without a required field.
    #[error("{place}: the object has no {field}")]
    MissingField { place: Place, field: &'static str },
}

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
    pub(super) fn parse(path: &str, text: String) -> Result<Self, ManifestError> {
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

/// Passes on the texts of the values of `-f`, in order. `take` says whether there is any object in one.
///
/// # Errors
/// A text that can't be read, a value without any object, and the first error of `take`.
fn each_text(
    paths: &[String],
    recursive: bool,
    mut take: impl FnMut(&str, String) -> Result<bool, ManifestError>,
) -> Result<(), ManifestError> {
    let mut stdin_read = false;
    for path in paths {
        let mut any = false;
        if url::is_fetched(path) {
            let shown = url::without_password(path);
            let fetched = cluster::fetch(path).map_err(|why| ManifestError::Url { url: shown.clone(), why })?;
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
            return Err(ManifestError::NoObjects { path: path.clone() });
        }
    }
    Ok(())
}

/// The text that `kubectl kustomize` makes of a folder.
///
/// # Errors
/// Why there is none.
fn kustomized_text(folder: &str) -> Result<String, ManifestError> {
    let built = dump::kustomized(folder);
    let built = built.map_err(|why| ManifestError::Kustomize { folder: folder.to_owned(), why })?;
    text(folder, built)
}

/// As in kubectl: what doesn't exist under this name may be a pattern.
fn matching(path: &str) -> Result<Vec<String>, ManifestError> {
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

fn unreadable(path: &str, source: io::Error) -> ManifestError {
    ManifestError::Unreadable { path: path.to_owned(), source }
}

/// A file, whatever its name; or the manifests in a folder, by their extensions.
fn files(path: &str, recursive: bool) -> Result<Vec<PathBuf>, ManifestError> {
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
    if files.is_empty() { Err(ManifestError::NoManifestFiles { path: path.to_owned(), recursive }) } else { Ok(files) }
}

fn text(path: &str, bytes: Vec<u8>) -> Result<String, ManifestError> {
    let text = String::from_utf8(bytes).map_err(|_| ManifestError::NotUtf8 { path: path.to_owned() })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}
