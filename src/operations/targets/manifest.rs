//! `-f`: the objects in manifests. Only the fields that identify an object are read.

use std::{fmt, fs, io, path::PathBuf};

use glob::{MatchOptions, glob_with};

use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use walkdir::WalkDir;

use super::{NamedTarget, Place, TargetError};
use gc_cluster::{
    bounded::{self, LARGEST_SETTING},
    cluster,
    dump::{self, yaml},
};
use gc_core::{
    model::{Mapping, Resources},
    url,
};

/// An object in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub place: Place,
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub namespace: Option<String>,
}

impl Entry {
    /// The object, with its kind resolved.
    pub(super) fn wanted(self, resources: &Resources) -> Result<NamedTarget, TargetError> {
        let Mapping::Served(id) = resources.map(&self.api_version, &self.kind) else {
            let mut served: Vec<String> = Vec::new();
            for (_, resource) in resources.iter().filter(|(_, resource)| resource.kind.eq_ignore_ascii_case(&self.kind))
            {
                let api_version = resource.api_version();
                if !served.contains(&api_version) {
                    served.push(api_version);
                }
            }
            let Entry { place, api_version, kind, .. } = self;
            return Err(TargetError::UnknownKind { place, api_version, kind, served });
        };
        let namespaced = resources.get(id).namespaced;
        Ok(NamedTarget {
            resource: resources.picked(id),
            namespaced,
            name: self.name,
            // kubectl allows a namespace in a cluster-scoped manifest, and ignores it.
            namespace: self.namespace.filter(|_| namespaced),
            place: Some(self.place),
        })
    }
}

/// All objects in the values of `-f`, in order.
pub(super) fn read(paths: &[String], recursive: bool) -> Result<Vec<Entry>, TargetError> {
    let mut entries = Vec::new();
    each_text(paths, recursive, |shown, text| {
        let found = objects(shown, &text)?;
        let any = !found.is_empty();
        entries.extend(found);
        Ok(any)
    })?;
    Ok(entries)
}

/// Passes on the texts of the values of `-f`, in order. `take` says whether there is any object in one.
///
/// # Errors
/// A text that can't be read, a value without any object, and the first error of `take`.
pub(in crate::operations) fn each_text(
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
pub(in crate::operations) fn kustomized_text(folder: &str) -> Result<String, TargetError> {
    let built = dump::kustomized(folder);
    let built = built.map_err(|why| TargetError::Kustomize { folder: folder.to_owned(), why })?;
    text(folder, built)
}

/// All objects that `kubectl kustomize` makes of a folder.
pub(super) fn kustomized(folder: &str) -> Result<Vec<Entry>, TargetError> {
    let entries = objects(folder, &kustomized_text(folder)?)?;
    if entries.is_empty() { Err(TargetError::NoManifests { path: folder.to_owned() }) } else { Ok(entries) }
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

/// Parses the objects in a text: one or more JSON values in a row, or YAML documents.
pub(super) fn objects(path: &str, text: &str) -> Result<Vec<Entry>, TargetError> {
    let mut entries = Vec::new();
    let mut number = 0;
    let mut take = |node: Result<Node, String>| {
        number += 1;
        let place = Place { file: path.to_owned(), document: number, item: None };
        match node {
            Ok(node) => node.collect(place, None, &mut entries),
            Err(message) => Err(TargetError::Malformed { place, message }),
        }
    };
    if matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'[')) {
        for node in serde_json::Deserializer::from_str(text).into_iter() {
            take(node.map_err(|error| error.to_string()))?;
        }
    } else {
        limit_depth(path, text)?;
        for document in serde_yaml::Deserializer::from_str(text) {
            take(Node::deserialize(document).map_err(|error| error.to_string()))?;
        }
    }
    Ok(entries)
}

/// The YAML reader of manifests takes hours for texts with a million open brackets. Where there may be as many, another
/// reader, which has limits, is asked first.
pub(in crate::operations) fn limit_depth(path: &str, text: &str) -> Result<(), TargetError> {
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

#[derive(Debug, Deserialize)]
struct Envelope {
    #[serde(default, rename = "apiVersion")]
    api_version: Option<String>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    metadata: Option<Metadata>,
    /// A list in lists; in other kinds, it may be anything.
    #[serde(default, deserialize_with = "items")]
    items: Option<Node>,
}

#[derive(Debug, Default, Deserialize)]
struct Metadata {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    namespace: Option<String>,
    #[serde(default, rename = "generateName")]
    generate_name: Option<String>,
}

/// A value where an object is expected.
#[derive(Debug)]
enum Node {
    Null,
    Other(&'static str),
    List(Vec<Node>),
    Object(Box<Envelope>),
}

impl Node {
    /// `inherited`: the apiVersion and kind of items, according to their typed list.
    fn collect(
        self,
        place: Place,
        inherited: Option<(&str, &str)>,
        entries: &mut Vec<Entry>,
    ) -> Result<(), TargetError> {
        let envelope = match self {
            Node::Null if place.item.is_none() => return Ok(()),
            Node::Null => return Err(TargetError::NotAnObject { place, found: "nothing" }),
            Node::Other(found) => return Err(TargetError::NotAnObject { place, found }),
            Node::List(_) => return Err(TargetError::NotAnObject { place, found: "a list" }),
            Node::Object(envelope) => *envelope,
        };
        let missing = |field| TargetError::MissingField { place: place.clone(), field };
        let or_inherited = |own: Option<String>, inherited: Option<&str>| {
            own.filter(|own| !own.is_empty()).or_else(|| inherited.map(str::to_owned))
        };
        let api_version = or_inherited(envelope.api_version, inherited.map(|(version, _)| version));
        let kind = or_inherited(envelope.kind, inherited.map(|(_, kind)| kind)).ok_or_else(|| missing("kind"))?;
        let api_version = api_version.ok_or_else(|| missing("apiVersion"))?;
        if let (Some(item_kind), Some(Node::List(items))) = (kind.strip_suffix("List"), envelope.items) {
            let inherited = (!item_kind.is_empty()).then_some((api_version.as_str(), item_kind));
            for (index, item) in items.into_iter().enumerate() {
                item.collect(Place { item: Some(index + 1), ..place.clone() }, inherited, entries)?;
            }
            return Ok(());
        }
        let metadata = envelope.metadata.unwrap_or_default();
        let Some(name) = metadata.name.filter(|name| !name.is_empty()) else {
            return Err(match metadata.generate_name {
                Some(_) => TargetError::GeneratedName { place, kind },
                None => missing("metadata.name"),
            });
        };
        let namespace = metadata.namespace.filter(|namespace| !namespace.is_empty());
        entries.push(Entry { place, api_version, kind, name, namespace });
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor { of_items: false })
    }
}

fn items<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Node>, D::Error> {
    deserializer.deserialize_any(NodeVisitor { of_items: true }).map(Some)
}

/// Reads a value where an object is expected, or where the items of a list are: only there, a list is read.
struct NodeVisitor {
    of_items: bool,
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a Kubernetes object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        if self.of_items {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(Node::Null);
        }
        Envelope::deserialize(MapAccessDeserializer::new(map)).map(|envelope| Node::Object(Box::new(envelope)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut nodes = Vec::new();
        if self.of_items {
            while let Some(node) = seq.next_element()? {
                nodes.push(node);
            }
        } else {
            while seq.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(Node::List(nodes))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Other("text"))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Other("true or false"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }
}
