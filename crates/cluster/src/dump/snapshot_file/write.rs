//! Writes a snapshot file, object by object.

use std::{
    borrow::Cow,
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};

use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use super::{API_VERSION, KIND, List, LookedUp, Origin, Pairs, Time};
use crate::dump::DumpError;
use gc_core::{
    document::Named,
    model::{
        Coordinate, Fact, Mapping, Object, ObjectId, Reference, Snapshot,
        effects::TRACKING_ID,
        facts::{Said, Setter},
    },
};

/// Writes a snapshot in the format of [`read`](crate::dump::read). Equal snapshots give equal bytes.
///
/// # Errors
/// Errors of `to`.
pub fn write(snapshot: &Snapshot, to: &mut dyn Write) -> io::Result<()> {
    let resources = &snapshot.resources;
    write!(
        to,
        "{{\"apiVersion\":\"{API_VERSION}\",\"kind\":\"{KIND}\",\"complete\":{},\n\"origin\":",
        snapshot.complete()
    )?;
    let origin = match snapshot.origin.clone() {
        gc_core::model::Origin::Cluster { context, server } => Origin::Cluster { context, server },
        gc_core::model::Origin::Dump { paths } => Origin::Dump { paths },
    };
    serde_json::to_writer(&mut *to, &origin)?;
    if let Some(version) = resources.server() {
        to.write_all(b",\n\"serverVersion\":")?;
        serde_json::to_writer(&mut *to, version.as_str())?;
    }
    array(to, "gaps", &snapshot.gaps)?;
    to.write_all(b",\n\"preferredVersions\":")?;
    let preferred = resources.preferred_versions().iter().map(|(group, version)| (group.as_str(), version.as_str()));
    serde_json::to_writer(&mut *to, &Pairs(preferred.collect()))?;
    array(to, "resources", resources.iter().map(|(_, resource)| resource))?;
    let lists = snapshot.lists.iter().map(|list| {
        let resource = resources.get(list.resource);
        List {
            resource: resource.full_name(),
            version: resource.version.clone(),
            namespace: list.namespace.clone(),
            resource_version: list.resource_version.clone(),
            failure: list.failure.clone(),
        }
    });
    array(to, "lists", lists)?;
    array(to, "absent", looked_up(snapshot, snapshot.confirmed_absent()))?;
    let unanswered = looked_up(snapshot, snapshot.unanswered());
    if !unanswered.is_empty() {
        array(to, "unanswered", unanswered)?;
    }
    array(to, "objects", snapshot.objects().map(|(id, object)| Line::new(snapshot, id, object)))?;
    to.write_all(b"}\n")
}

fn looked_up(snapshot: &Snapshot, coordinates: impl Iterator<Item = Coordinate>) -> Vec<LookedUp> {
    let of = |coordinate: Coordinate| {
        let resource = snapshot.resources.get(coordinate.resource);
        LookedUp {
            resource: resource.full_name(),
            version: resource.version.clone(),
            namespace: snapshot.text(coordinate.namespace).to_owned(),
            name: snapshot.text(coordinate.name).to_owned(),
        }
    };
    let mut looked_up: Vec<LookedUp> = coordinates.map(of).collect();
    looked_up.sort();
    looked_up
}

fn array<T: Serialize>(to: &mut dyn Write, name: &str, values: impl IntoIterator<Item = T>) -> io::Result<()> {
    write!(to, ",\n\"{name}\":[")?;
    let mut separator = "\n";
    for value in values {
        to.write_all(separator.as_bytes())?;
        serde_json::to_writer(&mut *to, &value)?;
        separator = ",\n";
    }
    to.write_all(b"]")
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    api_version: String,
    kind: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    resource: Option<String>,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    name: &'a str,
    uid: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    resource_version: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    creation_timestamp: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_timestamp: Option<Time>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deletion_grace_period_seconds: Option<i64>,
    #[serde(skip_serializing_if = "has_no_pairs")]
    labels: Pairs<&'a str>,
    #[serde(skip_serializing_if = "has_no_pairs")]
    annotations: Pairs<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    finalizers: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    owner_references: Vec<Named<'a, &'a Reference>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<&'a Fact>,
    #[serde(skip_serializing_if = "Option::is_none")]
    setters: Option<&'a [Setter]>,
    #[serde(skip_serializing_if = "<[Said]>::is_empty")]
    said: &'a [Said],
}

fn has_no_pairs(pairs: &Pairs<&str>) -> bool {
    pairs.0.is_empty()
}

impl<'a> Line<'a> {
    fn new(snapshot: &'a Snapshot, id: ObjectId, object: &'a Object) -> Self {
        let resource = snapshot.resources.get(object.resource);
        let api_version = resource.api_version();
        let named = match snapshot.resources.map(&api_version, &resource.kind) {
            Mapping::Served(id) => snapshot.resources.picked(id) == object.resource,
            _ => false,
        };
        let text = |symbol| snapshot.text(symbol);
        // Symbols are numbered in the order they were interned; the file is sorted by text.
        let mut labels: Vec<(&str, &str)> =
            object.labels.iter().map(|(key, value)| (text(*key), text(*value))).collect();
        labels.sort_unstable();
        let owners = object.owners.iter().map(|owner| Named(snapshot, owner));
        let mut annotations: Vec<(&str, &str)> = object.spared.annotations().collect::<Vec<_>>();
        annotations.extend(Some((TRACKING_ID, text(object.tracked_by))).filter(|(_, name)| !name.is_empty()));
        Line {
            resource: (!named).then(|| resource.full_name()),
            api_version,
            kind: &resource.kind,
            namespace: text(object.namespace),
            name: text(object.name),
            uid: text(object.uid),
            resource_version: object.resource_version.text(&snapshot.strings),
            creation_timestamp: object.created.get().map(Time),
            deletion_timestamp: object.deleted.get().map(Time),
            deletion_grace_period_seconds: object.grace.get(),
            labels: Pairs(labels),
            annotations: Pairs(annotations),
            finalizers: object.finalizers.iter().map(|finalizer| text(*finalizer)).collect(),
            owner_references: owners.collect(),
            facts: snapshot.facts.get(id),
            setters: snapshot.facts.setters(id),
            said: snapshot.facts.said(id),
        }
    }
}

/// Writes a snapshot file, gzipped if its name ends in `.gz`. An existing file is replaced only when the new one is
/// complete.
///
/// # Errors
/// [`DumpError::Unwritable`].
pub fn write_to_path(snapshot: &Snapshot, path: &Path) -> Result<(), DumpError> {
    let unwritable = |source| DumpError::Unwritable { path: path.display().to_string(), source };
    // A pipe or a terminal can't be replaced, unlike the target of a link.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let mut file = fs::OpenOptions::new().write(true).open(path).map_err(unwritable)?;
        return write_named(snapshot, path, &mut file).map_err(unwritable);
    }
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // Only the owner may read it (0600), as an archive.
    let mut file = tempfile::Builder::new().prefix(".kubectl-gc-").tempfile_in(folder_of(path)).map_err(unwritable)?;
    write_named(snapshot, path, file.as_file_mut()).map_err(unwritable)?;
    file.as_file().sync_all().map_err(unwritable)?;
    file.persist(path).map_err(|error| unwritable(error.error))?;
    Ok(())
}

fn write_named(snapshot: &Snapshot, path: &Path, file: &mut fs::File) -> io::Result<()> {
    let mut to = BufWriter::new(file);
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        let mut packed = BufWriter::new(GzEncoder::new(to, Compression::default()));
        write(snapshot, &mut packed)?;
        to = packed.into_inner().map_err(io::IntoInnerError::into_error)?.finish()?;
    } else {
        write(snapshot, &mut to)?;
    }
    to.flush()
}

/// The folder of a file, also of one without a path.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
