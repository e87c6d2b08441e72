//! Reads a part of a document into a value of any type, up to a maximum depth.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Deeper values become null. Nothing deeper is needed; schemas of CRDs are deeper.
const DEPTH: usize = 12;

/// A filter: whether to keep a key at a depth below its value; lists don't count as a level.
pub(crate) type KeyFilter = fn(usize, &str) -> bool;

/// Reads one value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Capture {
    /// Filters for the values of some top-level keys.
    filters: &'static [(&'static str, KeyFilter)],
    /// The filter that applies here, and the depth below its value.
    keep: Option<(KeyFilter, usize)>,
    depth: usize,
}

impl Capture {
    /// Keeps everything, except that filters apply to the values of some keys.
    pub(crate) fn with_filters(filters: &'static [(&'static str, KeyFilter)]) -> Self {
        Capture { filters, keep: None, depth: 0 }
    }

    fn inner(&self) -> Capture {
        Capture { depth: self.depth + 1, ..Capture::default() }
    }

    /// The reader for the value of one of its keys.
    fn below(&self, key: &str) -> Capture {
        let with_filters =
            self.filters.iter().find(|(with_filters, _)| *with_filters == key).map(|(_, keep)| (*keep, 0));
        Capture { keep: with_filters.or(self.keep.map(|(keep, level)| (keep, level + 1))), ..self.inner() }
    }

    /// The reader for an element of a list.
    fn element(&self) -> Capture {
        Capture { keep: self.keep, ..self.inner() }
    }

    fn wants(&self, key: &str) -> bool {
        self.keep.is_none_or(|(keep, level)| keep(level, key))
    }
}

impl<'de> DeserializeSeed<'de> for Capture {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > DEPTH {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Capture {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i128<E>(self, value: i128) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_u128<E>(self, value: u128) -> Result<Value, E> {
        Ok(Value::String(value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    // Unknown YAML tags are dropped; their values are kept.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        let (IgnoredAny, value) = access.variant()?;
        value.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(self.element())? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = access.next_key_seed(self.inner())? {
            match text(key) {
                Some(key) if self.wants(&key) => {
                    let value = access.next_value_seed(self.below(&key))?;
                    values.insert(key, value);
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(values))
    }
}

/// A string, or an unquoted number, as text.
pub(super) fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
