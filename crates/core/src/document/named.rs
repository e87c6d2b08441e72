//! Writes what simulations find: each id of a snapshot as what it stands for. So what they find is also what documents
//! say, and nothing has to be copied from the one to the other.

use serde::{Serialize, Serializer, ser};

use crate::model::{ObjectId, ResourceId, Snapshot, Symbol};

use super::ObjectJson;

/// A value with the snapshot of its ids: an object is written as [`ObjectJson`], a resource by its full name, and a
/// symbol as its text.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a, T>(pub &'a Snapshot, pub T);

impl<T: Serialize> Serialize for Named<'_, T> {
    fn serialize<S: Serializer>(&self, inner: S) -> Result<S::Ok, S::Error> {
        self.1.serialize(Naming { snapshot: self.0, inner })
    }
}

/// A serializer, or a part of one, that writes the values in it as [`Named`].
struct Naming<'a, S> {
    snapshot: &'a Snapshot,
    inner: S,
}

impl<'a, S> Naming<'a, S> {
    /// The same for a part.
    fn part<P, E>(self, open: impl FnOnce(S) -> Result<P, E>) -> Result<Naming<'a, P>, E> {
        Ok(Naming { snapshot: self.snapshot, inner: open(self.inner)? })
    }
}

/// The number in an id.
fn index<E: ser::Error>(id: &(impl Serialize + ?Sized)) -> Result<u32, E> {
    let number = serde_json::to_value(id).map_err(E::custom)?;
    number.as_u64().and_then(|number| u32::try_from(number).ok()).ok_or_else(|| E::custom("an id is a number"))
}

/// Methods for values without ids.
macro_rules! plain {
    ($($method:ident($($argument:ident: $type:ty),*);)*) => {
        $(fn $method(self, $($argument: $type),*) -> Result<S::Ok, S::Error> {
            self.inner.$method($($argument),*)
        })*
    };
}

/// Methods that open a part with several values.
macro_rules! opening {
    ($($method:ident($($argument:ident: $type:ty),*) -> $part:ident;)*) => {
        $(fn $method(self, $($argument: $type),*) -> Result<Self::$part, S::Error> {
            self.part(|inner| inner.$method($($argument),*))
        })*
    };
}

impl<'a, S: Serializer> Serializer for Naming<'a, S> {
    type Ok = S::Ok;
    type Error = S::Error;
    type SerializeSeq = Naming<'a, S::SerializeSeq>;
    type SerializeTuple = Naming<'a, S::SerializeTuple>;
    type SerializeTupleStruct = Naming<'a, S::SerializeTupleStruct>;
    type SerializeTupleVariant = Naming<'a, S::SerializeTupleVariant>;
    type SerializeMap = Naming<'a, S::SerializeMap>;
    type SerializeStruct = Naming<'a, S::SerializeStruct>;
    type SerializeStructVariant = Naming<'a, S::SerializeStructVariant>;

    plain! {
        serialize_bool(value: bool);
        serialize_i8(value: i8);
        serialize_i16(value: i16);
        serialize_i32(value: i32);
        serialize_i64(value: i64);
        serialize_u8(value: u8);
        serialize_u16(value: u16);
        serialize_u32(value: u32);
        serialize_u64(value: u64);
        serialize_f32(value: f32);
        serialize_f64(value: f64);
        serialize_char(value: char);
        serialize_str(value: &str);
        serialize_bytes(value: &[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(name: &'static str);
        serialize_unit_variant(name: &'static str, index: u32, variant: &'static str);
    }

    opening! {
        serialize_seq(len: Option<usize>) -> SerializeSeq;
        serialize_tuple(len: usize) -> SerializeTuple;
        serialize_tuple_struct(name: &'static str, len: usize) -> SerializeTupleStruct;
        serialize_tuple_variant(name: &'static str, index: u32, variant: &'static str, len: usize)
            -> SerializeTupleVariant;
        serialize_map(len: Option<usize>) -> SerializeMap;
        serialize_struct(name: &'static str, len: usize) -> SerializeStruct;
        serialize_struct_variant(name: &'static str, index: u32, variant: &'static str, len: usize)
            -> SerializeStructVariant;
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<S::Ok, S::Error> {
        self.inner.serialize_some(&Named(self.snapshot, value))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Result<S::Ok, S::Error> {
        let Naming { snapshot, inner } = self;
        match name {
            "ObjectId" => ObjectJson::of(snapshot, ObjectId(index(value)?)).serialize(inner),
            "ResourceId" => inner.collect_str(&snapshot.resources.get(ResourceId(index(value)?)).full_name()),
            "Symbol" => inner.serialize_str(snapshot.text(Symbol::of_index(index(value)? as usize))),
            _ => inner.serialize_newtype_struct(name, &Named(snapshot, value)),
        }
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<S::Ok, S::Error> {
        self.inner.serialize_newtype_variant(name, index, variant, &Named(self.snapshot, value))
    }
}

/// The parts: each value in them is named, and the keys are as they are.
macro_rules! parts {
    ($($part:ident: $($method:ident($($key:ident: $type:ty)?)),+;)*) => {
        $(impl<S: ser::$part> ser::$part for Naming<'_, S> {
            type Ok = S::Ok;
            type Error = S::Error;

            $(fn $method<T: Serialize + ?Sized>(&mut self, $($key: $type,)? value: &T) -> Result<(), S::Error> {
                self.inner.$method($($key,)? &Named(self.snapshot, value))
            })+

            fn end(self) -> Result<S::Ok, S::Error> {
                self.inner.end()
            }
        })*
    };
}

parts! {
    SerializeSeq: serialize_element();
    SerializeTuple: serialize_element();
    SerializeTupleStruct: serialize_field();
    SerializeTupleVariant: serialize_field();
    SerializeMap: serialize_key(), serialize_value();
    SerializeStruct: serialize_field(key: &'static str);
    SerializeStructVariant: serialize_field(key: &'static str);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tree::fixture::World;

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    enum Part {
        Whole,
        Of(ObjectId),
        Both { one: ObjectId, texts: [Symbol; 2] },
        Pair(ResourceId, u8),
    }

    #[derive(Serialize)]
    struct Found {
        object: Option<ObjectId>,
        none: Option<ObjectId>,
        parts: Vec<Part>,
        #[serde(flatten)]
        more: More,
        by_text: std::collections::BTreeMap<Symbol, bool>,
    }

    #[derive(Serialize)]
    struct More {
        pair: (Symbol, i64),
    }

    #[test]
    fn ids_are_written_as_what_they_stand_for() {
        let mut world = World::empty();
        let web = world.add("shop", "Deployment/web", &[]);
        let (snapshot, _) = world.build();
        let object = snapshot.object(web);
        let found = Found {
            object: Some(web),
            none: None,
            parts: vec![
                Part::Whole,
                Part::Of(web),
                Part::Both { one: web, texts: [object.name, object.namespace] },
                Part::Pair(object.resource, 7),
            ],
            more: More { pair: (object.uid, -1) },
            by_text: [(Symbol::FOREGROUND, true)].into(),
        };
        let named = json!({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web",
            "uid": "deployment-web"});
        assert_eq!(
            serde_json::to_value(Named(&snapshot, &found)).unwrap(),
            json!({
                "object": named, "none": null,
                "parts": ["whole", {"of": named}, {"both": {"one": named, "texts": ["web", "shop"]}},
                    {"pair": ["deployments.apps", 7]}],
                "pair": ["deployment-web", -1],
                "by_text": {"foregroundDeletion": true},
            })
        );
    }
}
