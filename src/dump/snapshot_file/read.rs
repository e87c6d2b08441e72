//! Reads a snapshot file.

use rustc_hash::FxHashMap;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error, SeqAccess, Visitor},
};
use serde_json::{Map, Value};

use super::{
    API_VERSION, KIND,
    format::{Absent, List, Origin, Pairs},
};
use crate::{
    dump::{
        DumpError,
        capture::{self, Capture},
        metadata::Metadata,
        text::{is_json, json_error},
        yaml,
    },
    model::{
        self, Coordinate, Fact, Gap, ListRecord, Mapping, Resource, ResourceId, Resources, Snapshot, SnapshotBuilder,
        Strings, facts::Setter,
    },
};

/// Restores the snapshot in a text with this apiVersion, which begins with `kubectl-gc/`.
pub(crate) fn read(path: &str, text: &str, api_version: &str) -> Result<Snapshot, DumpError> {
    let other = |found: String| DumpError::SnapshotVersion { path: path.to_owned(), found };
    if api_version != API_VERSION {
        return Err(other(api_version.to_owned()));
    }
    let header: Header = parse(path, text)?;
    if header.kind != KIND {
        return Err(other(format!("{api_version} {}", header.kind)));
    }
    let file: File = parse(path, text)?;
    restore(file).map_err(|message| DumpError::SnapshotBroken { path: path.to_owned(), message })
}

fn parse<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, DumpError> {
    if is_json(text) {
        return serde_json::from_str(text).map_err(|error| json_error(path, &error));
    }
    // It was converted to YAML, whose reader expects another spelling of enums.
    let broken = |message| DumpError::SnapshotBroken { path: path.to_owned(), message };
    let documents = yaml::documents(text);
    let [document] = documents.as_slice() else {
        return Err(broken("this file contains other data".to_owned()));
    };
    let value = yaml::with_stack(path, || {
        let value = yaml::read(document, |deserializer| Capture::default().deserialize(deserializer));
        value.map_err(|error| yaml::error(path, document, &error))
    })?;
    serde_json::from_value(value).map_err(|error| broken(error.to_string()))
}

#[derive(Deserialize)]
struct Header {
    #[serde(default)]
    kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    origin: Origin,
    gaps: Vec<Gap>,
    preferred_versions: Pairs<String>,
    resources: Vec<Resource>,
    lists: Vec<List>,
    #[serde(default)]
    absent: Vec<Absent>,
    objects: Objects,
}

/// The objects, interned while reading.
struct Objects {
    strings: Strings,
    lines: Vec<Line>,
}

struct Line {
    api_version: model::Symbol,
    kind: model::Symbol,
    resource: Option<String>,
    metadata: Metadata,
    facts: Option<Fact>,
    setters: Option<Vec<Setter>>,
}

impl<'de> Deserialize<'de> for Objects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LineVisitor;
        impl<'de> Visitor<'de> for LineVisitor {
            type Value = Objects;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Objects, A::Error> {
                let mut objects = Objects { strings: Strings::default(), lines: Vec::new() };
                while let Some(value) = access.next_element_seed(Capture::default())? {
                    let Value::Object(value) = value else {
                        return Err(A::Error::custom("an object is expected here"));
                    };
                    let line = line(&mut objects.strings, value).map_err(A::Error::custom)?;
                    objects.lines.push(line);
                }
                Ok(objects)
            }
        }
        deserializer.deserialize_seq(LineVisitor)
    }
}

fn line(strings: &mut Strings, mut value: Map<String, Value>) -> Result<Line, String> {
    let facts =
        value.remove("facts").map(serde_json::from_value).transpose().map_err(|error| format!("facts: {error}"))?;
    let setters =
        value.remove("setters").map(serde_json::from_value).transpose().map_err(|error| format!("setters: {error}"))?;
    let mut text = |key: &str| value.remove(key).and_then(capture::text);
    let api_version = strings.intern(&text("apiVersion").unwrap_or_default());
    let kind = strings.intern(&text("kind").unwrap_or_default());
    let resource = text("resource");
    let mut metadata = Metadata::read(strings, value);
    for (field, found) in std::mem::take(&mut metadata.bad_times) {
        let seconds = found.parse().map_err(|_| format!("{field} is {found}"))?;
        match field {
            "creationTimestamp" => metadata.created = Some(seconds),
            _ => metadata.deleted = Some(seconds),
        }
    }
    Ok(Line { api_version, kind, resource, metadata, facts, setters })
}

fn restore(file: File) -> Result<Snapshot, String> {
    let resources = Resources::new(file.resources, file.preferred_versions.0);
    let mut by_name: FxHashMap<(String, String), ResourceId> = FxHashMap::default();
    for (id, resource) in resources.iter() {
        by_name.entry((resource.full_name(), resource.version.clone())).or_insert(id);
    }
    let find = |resource: String, version: String| {
        let missing = format!("it lists {resource} in {version}, which is not one of its resources");
        by_name.get(&(resource, version)).copied().ok_or(missing)
    };
    let origin = match file.origin {
        Origin::Cluster { context, server } => model::Origin::Cluster { context, server },
        Origin::Dump { paths } => model::Origin::Dump { paths },
    };
    let Objects { strings, lines } = file.objects;
    let ids = lines.iter().map(|line| resource(&strings, line, &resources)).collect::<Result<Vec<_>, _>>()?;
    let mut builder = SnapshotBuilder::new(origin, resources);
    for (line, id) in lines.into_iter().zip(ids) {
        let id = builder.add(id, &line.metadata.raw(&strings));
        if let Some(facts) = line.facts {
            builder.snapshot().learn(id, facts);
        }
        if let Some(setters) = line.setters {
            builder.snapshot().facts.insert_setters(id, setters);
        }
    }
    for list in file.lists {
        builder.list(ListRecord {
            resource: find(list.resource, list.version)?,
            namespace: list.namespace,
            resource_version: list.resource_version,
            failure: list.failure,
        });
    }
    for absent in file.absent {
        let id = find(absent.resource, absent.version)?;
        let snapshot = builder.snapshot();
        let resource = snapshot.resources.picked(id);
        let (namespace, name) = (snapshot.strings.intern(&absent.namespace), snapshot.strings.intern(&absent.name));
        snapshot.confirm_absent(Coordinate { resource, namespace, name });
    }
    file.gaps.into_iter().for_each(|gap| builder.gap(gap));
    Ok(builder.build())
}

/// The resource of an object: the one that it names, or the one of its kind.
fn resource(strings: &Strings, line: &Line, resources: &Resources) -> Result<ResourceId, String> {
    let (api_version, kind) = (strings.text(line.api_version), strings.text(line.kind));
    let found = match &line.resource {
        Some(name) => {
            let matches = |resource: &Resource| resource.api_version() == api_version && resource.full_name() == *name;
            resources.iter().find(|(_, resource)| matches(resource)).map(|(id, _)| id)
        }
        None => match resources.map(api_version, kind) {
            Mapping::Served(id) => Some(id),
            _ => None,
        },
    };
    let name = strings.text(line.metadata.name);
    found
        .ok_or_else(|| format!("{kind}/{name} has apiVersion {api_version}, but its resources have no such kind there"))
}
