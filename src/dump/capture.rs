//! Reads a part of a document into a value whatever it holds: bounded in depth, bounded in what aliases can make of it, and
//! never an error for what merely is of the wrong type.

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Below this depth everything is null. Nothing that is read of an object lies deeper, and schemas of CRDs do.
const DEPTH: usize = 12;

/// How many more values a file may yield. A value takes at least a byte to write, so only aliases can need more.
#[derive(Debug)]
pub struct Budget {
    left: usize,
}

/// How often a text's values may be repeated by aliases, on the average.
const REPETITIONS: usize = 2;

impl Budget {
    /// For a text of this many bytes.
    pub fn new(bytes: usize) -> Self {
        Budget { left: bytes.saturating_add(64).saturating_mul(REPETITIONS) }
    }

    /// Takes one value.
    pub fn take<E: Error>(&mut self) -> Result<(), E> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(E::custom("its aliases repeat too much")),
        }
    }
}

/// Reads one value. `skip` names keys of its top level that are not looked at.
pub struct Capture<'a> {
    budget: &'a mut Budget,
    skip: &'static [&'static str],
    depth: usize,
}

impl<'a> Capture<'a> {
    /// Everything.
    pub fn all(budget: &'a mut Budget) -> Self {
        Capture { budget, skip: &[], depth: 0 }
    }

    /// Everything but these keys.
    pub fn without(budget: &'a mut Budget, skip: &'static [&'static str]) -> Self {
        Capture { budget, skip, depth: 0 }
    }

    fn inner(&mut self) -> Capture<'_> {
        Capture { budget: self.budget, skip: &[], depth: self.depth + 1 }
    }
}

impl<'de> DeserializeSeed<'de> for Capture<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.budget.take()?;
        if self.depth > DEPTH {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(Value::Null);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Capture<'_> {
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

    // A YAML tag that this reader doesn't know is dropped, its value is kept.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Value, A::Error> {
        let (IgnoredAny, value) = access.variant()?;
        value.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(self.inner())? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = access.next_key_seed(self.inner())? {
            match text(key) {
                Some(key) if !self.skip.contains(&key.as_str()) => {
                    values.insert(key, access.next_value_seed(self.inner())?);
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Value::Object(values))
    }
}

/// A string, or a number that someone forgot to quote, as text.
pub fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
