//! Reads a snapshot file.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

use super::{API_VERSION, KIND, List, LookedUp, Origin, Pairs};
use crate::dump::{
    DumpError,
    any::{Capture, next_key_of, skip},
    metadata::{CREATED, KEYS, Metadata, symbol},
    text::{is_json, json_error},
    yaml,
};
use gc_core::model::{
    self, Coordinate, Facts, Gap, ListRecord, Mapping, Object, Resource, ResourceId, Resources, ServerVersion,
    Snapshot, SnapshotBuilder, Strings, Symbol,
    facts::{Said, Setter},
};

/// Restores the snapshot in a text with this apiVersion, which begins with `kubectl-gc/`.
pub(crate) fn read(path: &str, text: &str, api_version: &str) -> Result<Snapshot, DumpError> {
    let other = |found: String| DumpError::SnapshotVersion { path: path.to_owned(), found };
    if api_version != API_VERSION {
        return Err(other(api_version.to_owned()));
    }
    // A file of another kind has other fields. Only then is it read again, for its kind alone.
    let file: File = parse(path, text).map_err(|error| match parse::<Header>(path, text) {
        Ok(header) if header.kind != KIND => other(format!("{api_version} {}", header.kind)),
        _ => error,
    })?;
    if file.kind != KIND {
        return Err(other(format!("{api_version} {}", file.kind)));
    }
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
    #[serde(default)]
    kind: String,
    origin: Origin,
    #[serde(default)]
    server_version: String,
    gaps: Vec<Gap>,
    preferred_versions: Pairs<String>,
    resources: Vec<Resource>,
    lists: Vec<List>,
    #[serde(default)]
    absent: Vec<LookedUp>,
    /// What could not be looked up: whatever a list says, it is unknown.
    #[serde(default)]
    unanswered: Vec<LookedUp>,
    objects: Objects,
}

/// The objects, interned while reading.
#[derive(Default)]
struct Objects {
    strings: Strings,
    /// Their resources are indexes of their types.
    objects: Vec<Object>,
    types: Vec<Type>,
    by_type: FxHashMap<Type, ResourceId>,
    facts: Facts,
    /// By index of the object.
    setters: Vec<(u32, Vec<Setter>)>,
    said: Vec<(u32, Vec<Said>)>,
}

/// What names the resource of an object: apiVersion, kind, and the resource itself where these don't.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Type {
    api_version: Symbol,
    kind: Symbol,
    resource: Option<Symbol>,
}

impl<'de> Deserialize<'de> for Objects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lines;
        impl<'de> Visitor<'de> for Lines {
            type Value = Objects;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of objects")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Objects, A::Error> {
                let mut objects = Objects::default();
                while access.next_element_seed(Line(&mut objects))?.is_some() {}
                Ok(objects)
            }
        }
        deserializer.deserialize_seq(Lines)
    }
}

fn within<E: Error>(key: &str, error: E) -> E {
    E::custom(format!("{key}: {error}"))
}

/// Reads one object.
struct Line<'o>(&'o mut Objects);

impl<'de> DeserializeSeed<'de> for Line<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Line<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<(), A::Error> {
        const OF_LINE: [&str; 6] = ["apiVersion", "kind", "resource", "facts", "setters", "said"];
        let objects = self.0;
        let strings = &mut objects.strings;
        let (mut kind, mut metadata, mut facts, mut setters) = (Type::default(), Metadata::default(), None, None);
        let mut said = None;
        while let Some(key) = next_key_of(&mut access, OF_LINE.into_iter().chain(KEYS))? {
            match key {
                Some("apiVersion") => kind.api_version = symbol(strings, &mut access)?,
                Some("kind") => kind.kind = symbol(strings, &mut access)?,
                Some("resource") => kind.resource = Some(symbol(strings, &mut access)?),
                Some("facts") => facts = Some(access.next_value().map_err(|error| within("facts", error))?),
                Some("setters") => setters = Some(access.next_value().map_err(|error| within("setters", error))?),
                Some("said") => said = Some(access.next_value().map_err(|error| within("said", error))?),
                Some(key) => metadata.read(strings, key, &mut access)?,
                None => skip(&mut access)?,
            }
        }
        // Times that no text can express are numbers.
        for (field, found) in metadata.bad_times {
            let seconds = found.parse().map_err(|_| A::Error::custom(format!("{field} is {found}")))?;
            match field {
                CREATED => metadata.object.created = Some(seconds).into(),
                _ => metadata.object.deleted = Some(seconds).into(),
            }
        }
        let next = ResourceId(objects.types.len() as u32);
        let resource = *objects.by_type.entry(kind).or_insert(next);
        if resource == next {
            objects.types.push(kind);
        }
        let index = objects.objects.len() as u32;
        objects.facts.push(facts, strings);
        objects.setters.extend(setters.map(|setters| (index, setters)));
        objects.said.extend(said.map(|said| (index, said)));
        objects.objects.push(Object { resource, ..metadata.object });
        Ok(())
    }
}

fn restore(file: File) -> Result<Snapshot, String> {
    let server = ServerVersion::read(&file.server_version, "", "");
    let resources = Resources::new(file.resources, file.preferred_versions.0).of_server(server);
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
    let Objects { strings, mut objects, types, facts, setters, said, .. } = file.objects;
    let by_type: Vec<Option<ResourceId>> = types.iter().map(|kind| resource(&strings, kind, &resources)).collect();
    for object in &mut objects {
        let index = object.resource.index();
        object.resource = by_type[index].ok_or_else(|| {
            let [kind, name, api_version] =
                [types[index].kind, object.name, types[index].api_version].map(|symbol| strings.text(symbol));
            format!("{kind}/{name} has apiVersion {api_version}, but its resources have no such kind there")
        })?;
    }
    let mut builder = SnapshotBuilder::with_strings(origin, resources, strings);
    let adopted = builder.adopt(objects, facts, false);
    for (index, setters) in setters {
        if let Some(id) = adopted.id(index) {
            builder.snapshot().facts.insert_setters(id, setters);
        }
    }
    for (index, said) in said {
        if let Some(id) = adopted.id(index) {
            builder.snapshot().facts.insert_said(id, said);
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
    for (looked_up, is_absent) in
        file.absent.into_iter().map(|at| (at, true)).chain(file.unanswered.into_iter().map(|at| (at, false)))
    {
        let id = find(looked_up.resource, looked_up.version)?;
        let snapshot = builder.snapshot();
        let resource = snapshot.resources.picked(id);
        let [namespace, name] = [looked_up.namespace, looked_up.name].map(|text| snapshot.strings.intern(&text));
        let coordinate = Coordinate { resource, namespace, name };
        match is_absent {
            true => snapshot.confirm_absent(coordinate),
            false => snapshot.leave_unanswered(coordinate),
        }
    }
    file.gaps.into_iter().for_each(|gap| builder.gap(gap));
    Ok(builder.build())
}

/// The resource of a type: the one that it names, or the one of its kind.
fn resource(strings: &Strings, kind: &Type, resources: &Resources) -> Option<ResourceId> {
    let (api_version, kind_name) = (strings.text(kind.api_version), strings.text(kind.kind));
    match kind.resource {
        Some(name) => {
            let name = strings.text(name);
            let matches = |resource: &Resource| resource.api_version() == api_version && resource.full_name() == name;
            resources.iter().find(|(_, resource)| matches(resource)).map(|(id, _)| id)
        }
        None => match resources.map(api_version, kind_name) {
            Mapping::Served(id) => Some(id),
            _ => None,
        },
    }
}
