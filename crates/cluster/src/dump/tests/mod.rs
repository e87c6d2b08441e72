//! How dumps are read, and the error messages for bad ones.

mod cost;
mod errors;
mod facts;
mod files;
mod plain;
mod properties;
mod shapes;
mod snapshot_file;

use super::read_bytes;
use gc_core::model::{Coordinate, Object, Presence, Snapshot};

fn read(text: &str) -> Snapshot {
    read_bytes(text.as_bytes(), false).unwrap_or_else(|error| panic!("{error}"))
}

fn error(text: &str) -> String {
    match read_bytes(text.as_bytes(), false) {
        Ok(snapshot) => panic!("{} objects were read", snapshot.len()),
        Err(error) => error.to_string(),
    }
}

/// What is read of a text in chunks of this size: the snapshot or the error.
fn shown(text: &[u8], chunk: usize) -> String {
    match super::read_in_chunks(text, chunk, false) {
        Ok(snapshot) => {
            let mut bytes = Vec::new();
            super::write(&snapshot, &mut bytes).unwrap();
            String::from_utf8(bytes).unwrap()
        }
        Err(error) => error.to_string(),
    }
}

/// An object in JSON, with a uid made from its name.
fn object(api_version: &str, kind: &str, namespace: &str, name: &str, more: &str) -> String {
    let namespace = if namespace.is_empty() { String::new() } else { format!(r#""namespace":"{namespace}","#) };
    format!(
        r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{{{namespace}"name":"{name}","uid":"uid-{name}"{more}}}}}"#
    )
}

fn owned_by(api_version: &str, kind: &str, name: &str) -> String {
    format!(
        r#","ownerReferences":[{{"apiVersion":"{api_version}","kind":"{kind}","name":"{name}","uid":"uid-{name}"}}]"#
    )
}

/// `kind/name` of every object, in order.
fn names(snapshot: &Snapshot) -> Vec<String> {
    snapshot.objects().map(|(id, _)| snapshot.short_name(id)).collect()
}

fn only(snapshot: &Snapshot) -> &Object {
    let mut objects = snapshot.objects();
    let (_, object) = objects.next().expect("an object");
    assert!(objects.next().is_none(), "more than one object: {:?}", names(snapshot));
    object
}

fn look_up(snapshot: &mut Snapshot, api_version: &str, kind: &str, namespace: &str, name: &str) -> Presence {
    let gc_core::model::Mapping::Served(resource) = snapshot.resources.map(api_version, kind) else {
        panic!("{kind} is not served")
    };
    let resource = snapshot.resources.picked(resource);
    let (namespace, name) = (snapshot.strings.intern(namespace), snapshot.strings.intern(name));
    snapshot.look_up(Coordinate { resource, namespace, name })
}

fn gaps(snapshot: &Snapshot) -> Vec<String> {
    snapshot.gaps.iter().map(ToString::to_string).collect()
}
