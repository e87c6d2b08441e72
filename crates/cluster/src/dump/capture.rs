//! Reads a part of a document into a value of any type, up to a maximum depth.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess};
use serde_json::{Map, Value};

use super::any::{Any, Scalar, Take, next_key, skip};

/// Deeper values become null. Nothing deeper is needed; schemas of CRDs are deeper.
const DEPTH: usize = 12;

/// A filter: whether to keep a key at a depth below its value; lists don't count as a level.
pub(crate) type KeyFilter = fn(usize, &str) -> bool;

/// Reads one value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Capture {
    /// The filter, and the depth below its value; `None` to keep everything.
    keep: Option<(KeyFilter, usize)>,
    depth: usize,
    /// Whether twice the depth is kept.
    deep: bool,
}

impl Capture {
    /// Keeps only what a filter wants.
    pub(crate) fn of(filter: KeyFilter) -> Self {
        Capture { keep: Some((filter, 0)), depth: 1, deep: false }
    }

    /// Keeps everything, twice as deep: pod templates.
    pub(crate) fn deep() -> Self {
        Capture { deep: true, ..Capture::default() }
    }

    /// The reader for the value of one of its keys.
    fn below(&self) -> Capture {
        Capture { keep: self.keep.map(|(keep, level)| (keep, level + 1)), depth: self.depth + 1, ..*self }
    }

    /// The reader for an element of a list.
    fn element(&self) -> Capture {
        Capture { depth: self.depth + 1, ..*self }
    }

    fn wants(&self, key: &str) -> bool {
        self.keep.is_none_or(|(keep, level)| keep(level, key))
    }
}

impl<'de> DeserializeSeed<'de> for Capture {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > if self.deep { 2 * DEPTH } else { DEPTH } {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(Value::Null);
        }
        Any(self).deserialize(deserializer)
    }
}

impl<'de> Take<'de> for Capture {
    type Value = Value;

    fn scalar(self, scalar: Scalar<'_>) -> Value {
        scalar.value()
    }

    fn list<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(self.element())? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = next_key(&mut access, |key| self.wants(key).then(|| key.to_owned()))? {
            match key.flatten() {
                Some(key) => {
                    let value = access.next_value_seed(self.below())?;
                    values.insert(key, value);
                }
                None => skip(&mut access)?,
            }
        }
        Ok(Value::Object(values))
    }
}
