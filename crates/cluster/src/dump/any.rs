//! Reads a value of any type: a document may hold anything anywhere, in JSON or YAML.

use std::{borrow::Cow, fmt};

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde_json::{Number, Value};

/// A value that is neither a list nor a map.
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Number(Number),
    /// A number that JSON readers don't take for one.
    Large(String),
    Text(&'t str),
    /// Bytes, and numbers that are none: nothing in Kubernetes has them.
    Odd,
}

impl<'t> Scalar<'t> {
    /// A string, or an unquoted number, as text.
    pub(super) fn text(&self) -> Option<Cow<'t, str>> {
        match self {
            Scalar::Text(text) => Some(Cow::Borrowed(text)),
            Scalar::Number(number) => Some(number.to_string().into()),
            Scalar::Large(number) => Some(number.clone().into()),
            Scalar::Null | Scalar::Bool(_) | Scalar::Odd => None,
        }
    }

    pub(super) fn value(self) -> Value {
        match self {
            Scalar::Null | Scalar::Odd => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Number(number) => Value::Number(number),
            Scalar::Large(number) => Value::String(number),
            Scalar::Text(text) => Value::String(text.to_owned()),
        }
    }
}

/// What a reader makes of a value, by its type.
pub(super) trait Take<'de>: Sized {
    type Value;

    fn scalar(self, scalar: Scalar<'_>) -> Self::Value;

    /// Counts as null, unless the reader wants lists.
    fn list<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        while access.next_element::<IgnoredAny>()?.is_some() {}
        Ok(self.scalar(Scalar::Odd))
    }

    /// Counts as null, unless the reader wants maps.
    fn map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(self.scalar(Scalar::Odd))
    }
}

/// A seed that reads any value by a reader.
pub(super) struct Any<T>(pub T);

impl<'de, T: Take<'de>> DeserializeSeed<'de> for Any<T> {
    type Value = T::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Take<'de>> Visitor<'de> for Any<T> {
    type Value = T::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Number(value.into())))
    }

    fn visit_i128<E>(self, value: i128) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Large(value.to_string())))
    }

    fn visit_u128<E>(self, value: u128) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Large(value.to_string())))
    }

    fn visit_f64<E>(self, value: f64) -> Result<T::Value, E> {
        Ok(self.0.scalar(Number::from_f64(value).map_or(Scalar::Odd, Scalar::Number)))
    }

    fn visit_str<E>(self, text: &str) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Text(text)))
    }

    fn visit_bytes<E>(self, _: &[u8]) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Odd))
    }

    fn visit_none<E>(self) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Null))
    }

    fn visit_unit<E>(self) -> Result<T::Value, E> {
        Ok(self.0.scalar(Scalar::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T::Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    // Unknown YAML tags are dropped; their values are kept.
    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<T::Value, A::Error> {
        let (IgnoredAny, value) = access.variant()?;
        value.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, access: A) -> Result<T::Value, A::Error> {
        self.0.list(access)
    }

    fn visit_map<A: MapAccess<'de>>(self, access: A) -> Result<T::Value, A::Error> {
        self.0.map(access)
    }
}

/// Reads a value whose text a function gets: `None` if it is neither a string nor a number.
pub(super) struct WithText<F>(pub F);

impl<'de, T, F: FnOnce(Option<&str>) -> T> Take<'de> for WithText<F> {
    type Value = T;

    fn scalar(self, scalar: Scalar<'_>) -> T {
        (self.0)(scalar.text().as_deref())
    }
}

/// The next key that is text, made into something by a function; keys of other types are `None`.
pub(super) fn next_key<'de, A: MapAccess<'de>, T>(
    access: &mut A,
    of: impl FnOnce(&str) -> T,
) -> Result<Option<Option<T>>, A::Error> {
    access.next_key_seed(Any(WithText(|text: Option<&str>| text.map(of))))
}

/// Skips a value.
pub(super) fn skip<'de, A: MapAccess<'de>>(access: &mut A) -> Result<(), A::Error> {
    access.next_value::<IgnoredAny>().map(|IgnoredAny| ())
}
