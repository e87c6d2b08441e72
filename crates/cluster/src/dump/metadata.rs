//! An object's metadata as written in a dump, interned. Malformed values are kept as far as possible.

use serde::de::{MapAccess, SeqAccess};
use serde_json::{Map, Value, json};

use super::any::{Any, Capture, KeyFilter, Scalar, Take, WithText, next_key, next_key_of, skip};
use gc_core::model::{
    Object, Reference, ResourceVersion, Strings, Symbol,
    effects::{Policy, Spared, TRACKING_ID, application_named},
    facts::{Setter, contains_setters, is_read_annotation, read_setters, unix_seconds},
};

/// Of the annotations, only these are kept: others may contain secrets.
const OF_ANNOTATIONS: KeyFilter = |level, _, key| level > 0 || is_read_annotation(key);
/// Managed fields are large.
const OF_MANAGED_FIELDS: KeyFilter = contains_setters;

/// The parts of `metadata` that are kept. A field that is missing or of the wrong type is empty.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    /// Its resource is not known yet.
    pub object: Object,
    /// Invalid timestamps: field and value.
    pub bad_times: Vec<(&'static str, String)>,
    /// The annotations that facts are read from.
    annotations: Option<Value>,
    /// What tells who set its finalizers.
    managed_fields: Option<Value>,
    has_finalizers: bool,
}

/// The keys of `metadata` that are read.
pub(super) const KEYS: [&str; 12] = [
    CREATED,
    DELETED,
    "namespace",
    "name",
    "uid",
    "resourceVersion",
    "deletionGracePeriodSeconds",
    "finalizers",
    "ownerReferences",
    "labels",
    "annotations",
    "managedFields",
];
pub(super) const CREATED: &str = "creationTimestamp";
pub(super) const DELETED: &str = "deletionTimestamp";

impl Metadata {
    /// Reads the value of one of its [`KEYS`].
    pub(super) fn read<'de, A: MapAccess<'de>>(
        &mut self,
        strings: &mut Strings,
        key: &'static str,
        access: &mut A,
    ) -> Result<(), A::Error> {
        let object = &mut self.object;
        match key {
            "namespace" => object.namespace = symbol(strings, access)?,
            "name" => object.name = symbol(strings, access)?,
            "uid" => object.uid = symbol(strings, access)?,
            "resourceVersion" => {
                object.resource_version = access.next_value_seed(Any(WithText(|text: Option<&str>| {
                    ResourceVersion::of(strings, text.unwrap_or_default())
                })))?;
            }
            CREATED => object.created = time(CREATED, access, &mut self.bad_times)?.into(),
            DELETED => object.deleted = time(DELETED, access, &mut self.bad_times)?.into(),
            "deletionGracePeriodSeconds" => object.grace = access.next_value_seed(Any(WholeNumber))?.into(),
            "finalizers" => {
                let finalizers = access.next_value_seed(Any(Texts(strings)))?;
                object.finalizers = strings.finalizers(finalizers);
                self.has_finalizers = true;
            }
            "ownerReferences" => {
                let owners = access.next_value_seed(Any(References(strings)))?;
                object.owners = strings.owners(owners);
            }
            "labels" => {
                let labels = access.next_value_seed(Any(Pairs(strings)))?;
                object.labels = strings.labels(labels);
            }
            "annotations" => {
                let annotations = access.next_value_seed(Capture::of(OF_ANNOTATIONS))?;
                (object.spared, object.tracked_by) = (Spared::default(), Symbol::EMPTY);
                for (key, value) in annotations.as_object().into_iter().flatten() {
                    let value = value.as_str().unwrap_or_default();
                    object.spared.heed(key, value);
                    if key == TRACKING_ID {
                        object.tracked_by = strings.intern(application_named(value));
                    }
                }
                self.annotations = Some(annotations).filter(|kept| kept.as_object().is_none_or(|map| !map.is_empty()));
            }
            _ => self.managed_fields = Some(access.next_value_seed(Capture::of(OF_MANAGED_FIELDS))?),
        }
        Ok(())
    }

    /// The part that facts are read from, as an object of a kind has it.
    pub(super) fn for_facts(&self, strings: &Strings, (group, kind): (&str, &str)) -> Value {
        let mut kept = Map::new();
        if !self.object.name.is_empty() {
            kept.insert("name".to_owned(), strings.text(self.object.name).into());
        }
        // What a controller makes or deletes with an object may be called after its namespace.
        if self.has_finalizers || Policy::of_kind(group, kind).is_some() {
            kept.insert("namespace".to_owned(), strings.text(self.object.namespace).into());
        }
        if self.has_finalizers {
            let texts: Vec<&str> = self.finalizers(strings).collect();
            kept.insert("finalizers".to_owned(), json!(texts));
        }
        if let Some(deleted) = self.object.deleted.get() {
            kept.insert("deletionTimestamp".to_owned(), deleted.into());
        }
        if let Some(annotations) = &self.annotations {
            kept.insert("annotations".to_owned(), annotations.clone());
        }
        Value::Object(kept)
    }

    pub(super) fn finalizers<'a>(&'a self, strings: &'a Strings) -> impl Iterator<Item = &'a str> {
        self.object.finalizers.iter().map(|text| strings.text(*text))
    }

    /// Whether it is Terminating and has finalizers.
    pub(super) fn is_held(&self) -> bool {
        self.has_finalizers && self.object.terminating()
    }

    /// When kube-controller-manager last changed it, as far as managed fields say it.
    pub(super) fn changed_by_manager(&self) -> Option<i64> {
        let entries = self.managed_fields.as_ref().and_then(Value::as_array).into_iter().flatten();
        let its = entries.filter(|entry| entry["manager"] == "kube-controller-manager");
        its.filter_map(|entry| unix_seconds(entry["time"].as_str()?)).max()
    }

    /// Who set its finalizers; `None` without finalizers or managed fields.
    pub(super) fn setters(&mut self) -> Option<Vec<Setter>> {
        let managed_fields = self.managed_fields.take().filter(|_| self.has_finalizers)?;
        read_setters(&Map::from_iter([("managedFields".to_owned(), managed_fields)]))
    }
}

/// Reads the value of `metadata`; `None` if it isn't a map.
pub(super) struct MetadataReader<'s>(pub &'s mut Strings);

impl<'de> Take<'de> for MetadataReader<'_> {
    type Value = Option<Metadata>;

    fn scalar(self, _: Scalar<'_>) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut metadata = Metadata::default();
        while let Some(key) = next_key_of(&mut access, KEYS)? {
            match key {
                Some(key) => metadata.read(self.0, key, &mut access)?,
                None => skip(&mut access)?,
            }
        }
        Ok(Some(metadata))
    }
}

/// The next value, which is the time of a field; in `bad` if it is none.
fn time<'de, A: MapAccess<'de>>(
    field: &'static str,
    access: &mut A,
    bad: &mut Vec<(&'static str, String)>,
) -> Result<Option<i64>, A::Error> {
    bad.retain(|(known, _)| *known != field);
    Ok(access.next_value_seed(Any(Time))?.unwrap_or_else(|found| {
        bad.push((field, found));
        None
    }))
}

/// Interns the text of the next value; empty if it has none.
pub(super) fn symbol<'de, A: MapAccess<'de>>(strings: &mut Strings, access: &mut A) -> Result<Symbol, A::Error> {
    access.next_value_seed(Any(WithText(|text: Option<&str>| text.map_or(Symbol::EMPTY, |text| strings.intern(text)))))
}

struct WholeNumber;

impl Take<'_> for WholeNumber {
    type Value = Option<i64>;

    fn scalar(self, scalar: Scalar<'_>) -> Option<i64> {
        if let Scalar::Number(number) = scalar { number.as_i64() } else { None }
    }
}

struct Flag;

impl Take<'_> for Flag {
    type Value = Option<bool>;

    fn scalar(self, scalar: Scalar<'_>) -> Option<bool> {
        if let Scalar::Bool(flag) = scalar { Some(flag) } else { None }
    }
}

/// Reads the texts of a list.
struct Texts<'s>(&'s mut Strings);

impl<'de> Take<'de> for Texts<'_> {
    type Value = Vec<Symbol>;

    fn scalar(self, _: Scalar<'_>) -> Vec<Symbol> {
        Vec::new()
    }

    fn list<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<Symbol>, A::Error> {
        let mut texts = Vec::new();
        let mut next =
            || access.next_element_seed(Any(WithText(|text: Option<&str>| text.map(|text| self.0.intern(text)))));
        while let Some(text) = next()? {
            texts.extend(text);
        }
        Ok(texts)
    }
}

/// Reads a map of texts, sorted. Of several values of one key, the last counts.
struct Pairs<'s>(&'s mut Strings);

impl<'de> Take<'de> for Pairs<'_> {
    type Value = Vec<(Symbol, Symbol)>;

    fn scalar(self, _: Scalar<'_>) -> Self::Value {
        Vec::new()
    }

    fn map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut pairs: Vec<(Symbol, Symbol)> = Vec::new();
        while let Some(key) = next_key(&mut access, |key| self.0.intern(key))? {
            match key {
                Some(key) => pairs.push((key, symbol(self.0, &mut access)?)),
                None => skip(&mut access)?,
            }
        }
        pairs.reverse();
        pairs.sort_by_key(|(key, _)| *key);
        pairs.dedup_by_key(|(key, _)| *key);
        Ok(pairs)
    }
}

/// Reads `ownerReferences`. What isn't a list is an attempt to set an owner, too.
struct References<'s>(&'s mut Strings);

impl<'de> Take<'de> for References<'_> {
    type Value = Vec<Reference>;

    fn scalar(self, scalar: Scalar<'_>) -> Vec<Reference> {
        match scalar {
            Scalar::Null => Vec::new(),
            other => vec![OneReference(self.0).scalar(other)],
        }
    }

    fn list<A: SeqAccess<'de>>(self, mut access: A) -> Result<Vec<Reference>, A::Error> {
        let mut references = Vec::new();
        while let Some(reference) = access.next_element_seed(Any(OneReference(self.0)))? {
            references.push(reference);
        }
        Ok(references)
    }

    fn map<A: MapAccess<'de>>(self, access: A) -> Result<Vec<Reference>, A::Error> {
        Ok(vec![OneReference(self.0).map(access)?])
    }
}

struct OneReference<'s>(&'s mut Strings);

impl<'de> Take<'de> for OneReference<'_> {
    type Value = Reference;

    fn scalar(self, _: Scalar<'_>) -> Reference {
        let empty = Symbol::EMPTY;
        let (controller, block_owner_deletion) = (None, None);
        Reference { api_version: empty, kind: empty, name: empty, uid: empty, controller, block_owner_deletion }
    }

    fn map<A: MapAccess<'de>>(self, mut access: A) -> Result<Reference, A::Error> {
        let strings = self.0;
        let mut reference = OneReference(strings).scalar(Scalar::Null);
        let keys = ["apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion"];
        while let Some(key) = next_key_of(&mut access, keys)? {
            match key {
                Some("apiVersion") => reference.api_version = symbol(strings, &mut access)?,
                Some("kind") => reference.kind = symbol(strings, &mut access)?,
                Some("name") => reference.name = symbol(strings, &mut access)?,
                Some("uid") => reference.uid = symbol(strings, &mut access)?,
                Some("controller") => reference.controller = access.next_value_seed(Any(Flag))?,
                Some(_) => reference.block_owner_deletion = access.next_value_seed(Any(Flag))?,
                None => skip(&mut access)?,
            }
        }
        Ok(reference)
    }
}

/// Reads a time; an error is the value as it was written.
struct Time;

impl<'de> Take<'de> for Time {
    type Value = Result<Option<i64>, String>;

    fn scalar(self, scalar: Scalar<'_>) -> Self::Value {
        match scalar {
            Scalar::Null | Scalar::Odd => Ok(None),
            Scalar::Text(text) => match seconds(text) {
                Some(time) => Ok(Some(time)),
                None => Err(Value::from(text).to_string()),
            },
            other => Err(other.value().to_string()),
        }
    }

    fn list<A: SeqAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        Ok(Err(Capture::default().list(access)?.to_string()))
    }

    fn map<A: MapAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        Ok(Err(Capture::default().map(access)?.to_string()))
    }
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
