//! An object's metadata as written in a dump, interned. Malformed values are kept as far as possible.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::capture;
use crate::model::{RawObject, RawReference, Reference, Strings, Symbol};

/// The parts of `metadata` that are kept. A field that is missing or of the wrong type is empty.
#[derive(Debug)]
pub(super) struct Metadata {
    pub namespace: Symbol,
    pub name: Symbol,
    pub uid: Symbol,
    pub resource_version: Symbol,
    /// Unix seconds, as all times here.
    pub created: Option<i64>,
    pub deleted: Option<i64>,
    pub grace: Option<i64>,
    pub finalizers: Box<[Symbol]>,
    pub owners: Box<[Reference]>,
    pub labels: Box<[(Symbol, Symbol)]>,
    /// Invalid timestamps: field and value.
    pub bad_times: Vec<(&'static str, String)>,
}

impl Default for Metadata {
    fn default() -> Self {
        Metadata {
            namespace: Symbol::EMPTY,
            name: Symbol::EMPTY,
            uid: Symbol::EMPTY,
            resource_version: Symbol::EMPTY,
            created: None,
            deleted: None,
            grace: None,
            finalizers: Box::default(),
            owners: Box::default(),
            labels: Box::default(),
            bad_times: Vec::new(),
        }
    }
}

impl Metadata {
    /// Reads the value of `metadata`.
    pub(super) fn read(strings: &mut Strings, mut from: Map<String, Value>) -> Self {
        let mut bad_times = Vec::new();
        let created = time(&mut from, "creationTimestamp", &mut bad_times);
        let deleted = time(&mut from, "deletionTimestamp", &mut bad_times);
        let grace = from.get("deletionGracePeriodSeconds").and_then(Value::as_i64);
        let finalizers = match from.remove("finalizers") {
            Some(Value::Array(list)) => {
                list.into_iter().filter_map(capture::text).map(|text| strings.intern(&text)).collect()
            }
            _ => Box::default(),
        };
        let owners = match from.remove("ownerReferences") {
            Some(Value::Array(list)) => list.into_iter().map(|owner| reference(strings, owner)).collect(),
            None | Some(Value::Null) => Box::default(),
            // Not a list, but still an attempt to set an owner.
            Some(other) => Box::new([reference(strings, other)]),
        };
        let labels = match from.remove("labels") {
            Some(Value::Object(labels)) => labels
                .into_iter()
                .map(|(key, value)| (strings.intern(&key), strings.intern(&capture::text(value).unwrap_or_default())))
                .collect(),
            _ => Box::default(),
        };
        Metadata {
            namespace: take(strings, &mut from, "namespace"),
            name: take(strings, &mut from, "name"),
            uid: take(strings, &mut from, "uid"),
            resource_version: take(strings, &mut from, "resourceVersion"),
            created,
            deleted,
            grace,
            finalizers,
            owners,
            labels,
            bad_times,
        }
    }

    /// The metadata in the form that a snapshot accepts.
    pub(super) fn raw<'a>(&self, strings: &'a Strings) -> RawObject<'a> {
        let text = |symbol: &Symbol| Cow::Borrowed(strings.text(*symbol));
        RawObject {
            namespace: text(&self.namespace),
            name: text(&self.name),
            uid: text(&self.uid),
            resource_version: text(&self.resource_version),
            created: self.created,
            deleted: self.deleted,
            grace: self.grace,
            finalizers: self.finalizers.iter().map(text).collect(),
            owners: self
                .owners
                .iter()
                .map(|owner| RawReference {
                    api_version: text(&owner.api_version),
                    kind: text(&owner.kind),
                    name: text(&owner.name),
                    uid: text(&owner.uid),
                    controller: owner.controller,
                    block_owner_deletion: owner.block_owner_deletion,
                })
                .collect(),
            labels: self.labels.iter().map(|(key, value)| (text(key), text(value))).collect(),
            ..RawObject::default()
        }
    }
}

fn take(strings: &mut Strings, from: &mut Map<String, Value>, key: &str) -> Symbol {
    let text = from.remove(key).and_then(capture::text);
    text.map_or(Symbol::EMPTY, |text| strings.intern(&text))
}

fn reference(strings: &mut Strings, from: Value) -> Reference {
    let mut from = match from {
        Value::Object(from) => from,
        _ => Map::new(),
    };
    Reference {
        api_version: take(strings, &mut from, "apiVersion"),
        kind: take(strings, &mut from, "kind"),
        name: take(strings, &mut from, "name"),
        uid: take(strings, &mut from, "uid"),
        controller: from.get("controller").and_then(Value::as_bool),
        block_owner_deletion: from.get("blockOwnerDeletion").and_then(Value::as_bool),
    }
}

fn time(from: &mut Map<String, Value>, field: &'static str, bad: &mut Vec<(&'static str, String)>) -> Option<i64> {
    let value = from.remove(field).filter(|value| !value.is_null())?;
    let time = value.as_str().and_then(seconds);
    if time.is_none() {
        bad.push((field, value.to_string()));
    }
    time
}

/// A time in Unix seconds. Kubernetes has times until the end of the year 9999; those of its last day, which this
/// library doesn't have, become its last moment.
fn seconds(text: &str) -> Option<i64> {
    let last = jiff::Timestamp::MAX;
    let after = |text: &str| {
        let pieces = jiff::fmt::temporal::Pieces::parse(text).ok()?;
        let time = pieces.date().to_datetime(pieces.time()?);
        (pieces.to_numeric_offset().is_some()
            && time >= last.to_zoned(jiff::tz::TimeZone::UTC).datetime().date().into())
        .then_some(last)
    };
    text.parse().ok().or_else(|| after(text)).map(jiff::Timestamp::as_second)
}
