//! Reads a value of any type: a document may hold anything anywhere, in JSON or YAML.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize,
    de::{DeserializeSeed, Deserializer, EnumAccess, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor},
};
use serde_json::{Map, Number, Value};

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

/// What a visitor makes of each sort of scalar.
macro_rules! scalars {
    ($($visit:ident($($value:ident: $type:ty)?): $scalar:expr;)*) => {
        $(fn $visit<E>(self, $($value: $type)?) -> Result<T::Value, E> {
            Ok(self.0.scalar($scalar))
        })*
    };
}

impl<'de, T: Take<'de>> Visitor<'de> for Any<T> {
    type Value = T::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    scalars! {
        visit_bool(value: bool): Scalar::Bool(value);
        visit_i64(value: i64): Scalar::Number(value.into());
        visit_u64(value: u64): Scalar::Number(value.into());
        visit_i128(value: i128): Scalar::Large(value.to_string());
        visit_u128(value: u128): Scalar::Large(value.to_string());
        visit_f64(value: f64): Number::from_f64(value).map_or(Scalar::Odd, Scalar::Number);
        visit_str(text: &str): Scalar::Text(text);
        visit_bytes(_value: &[u8]): Scalar::Odd;
        visit_none(): Scalar::Null;
        visit_unit(): Scalar::Null;
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

/// The next key that is one of these; others are `None`.
pub(super) fn next_key_of<'de, A: MapAccess<'de>>(
    access: &mut A,
    keys: impl IntoIterator<Item = &'static str>,
) -> Result<Option<Option<&'static str>>, A::Error> {
    Ok(next_key(access, |key| keys.into_iter().find(|known| *known == key))?.map(Option::flatten))
}

/// Skips a value.
pub(super) fn skip<'de, A: MapAccess<'de>>(access: &mut A) -> Result<(), A::Error> {
    access.next_value::<IgnoredAny>().map(|IgnoredAny| ())
}

/// Deeper values become null. Nothing deeper is needed; schemas of CRDs are deeper.
const DEPTH: usize = 12;

/// A filter: whether to keep a key at a depth below its value, and below this key; lists don't count as a level.
pub(crate) type KeyFilter = fn(usize, &str, &str) -> bool;

/// Reads one value.
#[derive(Clone, Copy, Default)]
pub(crate) struct Capture<'k> {
    /// The filter, the depth below its value, and the key above; `None` to keep everything.
    keep: Option<(KeyFilter, usize, &'k str)>,
    depth: usize,
    /// Whether twice the depth is kept.
    deep: bool,
}

impl<'k> Capture<'k> {
    /// Keeps only what a filter wants.
    pub(crate) fn of(filter: KeyFilter) -> Self {
        Capture { keep: Some((filter, 0, "")), depth: 1, deep: false }
    }

    /// Keeps everything, twice as deep: pod templates.
    pub(crate) fn deep() -> Self {
        Capture { deep: true, ..Capture::default() }
    }

    /// The reader for the value of one of its keys.
    fn below<'b>(&self, key: &'b str) -> Capture<'b> {
        let keep = self.keep.map(|(keep, level, _)| (keep, level + 1, key));
        Capture { keep, depth: self.depth + 1, deep: self.deep }
    }

    /// The reader for an element of a list.
    fn element(&self) -> Capture<'k> {
        Capture { depth: self.depth + 1, ..*self }
    }

    fn wants(&self, key: &str) -> bool {
        self.keep.is_none_or(|(keep, level, above)| keep(level, above, key))
    }
}

impl<'de> DeserializeSeed<'de> for Capture<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if self.depth > if self.deep { 2 * DEPTH } else { DEPTH } {
            IgnoredAny::deserialize(deserializer)?;
            return Ok(Value::Null);
        }
        Any(self).deserialize(deserializer)
    }
}

impl<'de> Take<'de> for Capture<'_> {
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
                    let value = access.next_value_seed(self.below(&key))?;
                    values.insert(key, value);
                }
                None => skip(&mut access)?,
            }
        }
        Ok(Value::Object(values))
    }
}
