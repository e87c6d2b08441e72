//! One document of a dump, in JSON or YAML: an object, a list, an array or a watch event. Reads only what a snapshot
//! contains; other parts are looked at only for facts, and dropped at once.

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IgnoredAny, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Value};

use super::{
    capture::{self, Capture, KeyFilter},
    definition::Definition,
    metadata::Metadata,
};
use crate::model::{
    Fact, Strings,
    effects::policies::is_policy_annotation,
    facts::{Setter, TokenFacts, contains_setters, holds_facts, may_have_facts, read_facts, read_setters},
};

/// Filters for keys of `metadata`: other annotations may contain secrets, other managed fields are large.
const FILTERS: &[(&str, KeyFilter)] =
    &[("annotations", |level, key| level > 0 || is_policy_annotation(key)), ("managedFields", contains_setters)];

/// The context of reading a file.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub strings: &'a mut Strings,
    /// The apiVersion of a document of this tool, if one was found; reading stops there.
    pub own: Option<String>,
}

/// A value in the place of an object.
#[derive(Debug)]
pub(super) enum Node {
    /// Null, as in an empty YAML document.
    Null,
    /// A value of another type, and the name of that type.
    Other(&'static str),
    /// An array without an envelope.
    Array(Vec<Node>),
    /// An object, a list or a watch event.
    Map(Box<Envelope>),
}

/// A map. Whether it is an object, a list or a watch event is known only after all of its keys were read.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    /// Empty if missing.
    pub api_version: String,
    /// Empty if missing.
    pub kind: String,
    pub metadata: Metadata,
    /// Who set its finalizers; `None` without finalizers or managed fields.
    pub setters: Option<Vec<Setter>>,
    pub extra: Extra,
    /// `items`, if it is a list.
    pub items: Option<Vec<Node>>,
    /// The `type` of a watch event; objects may have one, too.
    pub event: Option<String>,
    /// The object of a watch event.
    pub object: Option<Node>,
    /// The message of a `Status`.
    pub message: Option<String>,
}

/// What is known of an object beyond its metadata.
#[derive(Debug, Default)]
pub(super) enum Extra {
    #[default]
    None,
    /// Facts, and what a CustomResourceDefinition serves.
    Known(Box<(Fact, Option<Definition>)>),
    /// The whole object, because its kind wasn't known when it was read.
    Waiting(Box<Value>),
}

impl Extra {
    /// Reads the facts, now that the kind is known.
    pub(super) fn resolve(self, api_version: &str, kind: &str) -> Extra {
        match self {
            Extra::Waiting(object) => Extra::of(api_version, kind, &object),
            known => known,
        }
    }

    fn of(api_version: &str, kind: &str, object: &Value) -> Extra {
        let Some(fact) = read_facts(group_of(api_version), kind, object) else { return Extra::None };
        let definition = matches!(fact, Fact::Definition(_)).then(|| Definition::read(object)).flatten();
        Extra::Known(Box::new((fact, definition)))
    }
}

/// The group of an apiVersion; empty for the core group.
pub(crate) fn group_of(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

/// The apiVersion and kind of the items of a typed list, as in `PodList`; `None` for a plain `List`.
pub(crate) fn item_kind(api_version: &str, kind: &str) -> Option<(String, String)> {
    let kind = kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    Some((api_version.to_owned(), kind.to_owned()))
}

/// The level of a node in its document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Top,
    InArray,
    InList,
}

/// Reads a node.
pub(super) struct NodeReader<'c, 'a> {
    context: &'c mut Context<'a>,
    level: Level,
    /// The apiVersion and kind of the items, if the list defines them.
    inherited: Option<(String, String)>,
}

impl<'c, 'a> NodeReader<'c, 'a> {
    /// For a whole document.
    pub(super) fn document(context: &'c mut Context<'a>) -> Self {
        NodeReader { context, level: Level::Top, inherited: None }
    }
}

impl<'de> DeserializeSeed<'de> for NodeReader<'_, '_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NodeReader<'_, '_> {
    type Value = Node;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a Kubernetes object or list")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Node, E> {
        Ok(Node::Other("a boolean"))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_i128<E>(self, _: i128) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_u128<E>(self, _: u128) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Node, E> {
        Ok(Node::Other("a number"))
    }

    fn visit_str<E>(self, _: &str) -> Result<Node, E> {
        Ok(Node::Other("a string"))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Node, A::Error> {
        let (IgnoredAny, value) = access.variant()?;
        value.newtype_variant_seed(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        if self.level != Level::Top {
            while access.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Node::Other("a list"));
        }
        let mut nodes = Vec::new();
        while let Some(node) =
            access.next_element_seed(NodeReader { context: self.context, level: Level::InArray, inherited: None })?
        {
            nodes.push(node);
        }
        Ok(Node::Array(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let NodeReader { context, level, inherited } = self;
        let mut envelope = Envelope::default();
        let mut whole = Map::new();
        // The part of the metadata that facts need; `None` until read.
        let mut kept: Option<Map<String, Value>> = None;
        while let Some(key) = access.next_key_seed(Capture::default())? {
            let key = capture::text(key).unwrap_or_default();
            match key.as_str() {
                "apiVersion" | "kind" | "type" | "message" => {
                    let value = capture::text(access.next_value_seed(Capture::default())?);
                    if key == "type" && value.as_deref() == Some(TokenFacts::TYPE) {
                        whole.insert(key.clone(), Value::String(TokenFacts::TYPE.to_owned()));
                    }
                    match key.as_str() {
                        "apiVersion" => envelope.api_version = value.unwrap_or_default(),
                        "kind" => envelope.kind = value.unwrap_or_default(),
                        "type" if level != Level::InList => envelope.event = value,
                        "message" if level != Level::InList || envelope.kind == "Status" => envelope.message = value,
                        _ => {}
                    }
                    if envelope.api_version.starts_with("kubectl-gc/") {
                        context.own = Some(envelope.api_version);
                        return Err(A::Error::custom("a document of kubectl gc itself"));
                    }
                }
                "metadata" => {
                    if let Value::Object(metadata) = access.next_value_seed(Capture::with_filters(FILTERS))? {
                        let needed = ["name", "finalizers", "annotations"];
                        let values =
                            needed.iter().filter_map(|key| Some(((*key).to_owned(), metadata.get(*key)?.clone())));
                        kept = Some(values.collect());
                        envelope.setters = metadata.get("finalizers").and_then(|_| read_setters(&metadata));
                        envelope.metadata = Metadata::read(context.strings, metadata);
                    }
                }
                key if holds_facts(key) => {
                    let (api_version, kind) = match (&inherited, envelope.kind.as_str()) {
                        (Some((api_version, kind)), "") => (api_version.as_str(), kind.as_str()),
                        _ => (envelope.api_version.as_str(), envelope.kind.as_str()),
                    };
                    let known = !kind.is_empty() && !api_version.is_empty();
                    let finalizers = kept.as_ref().map(|metadata| {
                        let list = metadata.get("finalizers").and_then(Value::as_array);
                        list.into_iter().flatten().filter_map(Value::as_str)
                    });
                    if known && !may_have_facts(group_of(api_version), kind, finalizers) {
                        access.next_value::<IgnoredAny>()?;
                    } else {
                        let value = access.next_value_seed(Capture::default())?;
                        whole.insert(key.to_owned(), value);
                    }
                }
                "items" if level != Level::InList => {
                    let inherited = item_kind(&envelope.api_version, &envelope.kind);
                    envelope.items = access.next_value_seed(ItemsReader { context, inherited })?;
                }
                "object" if level != Level::InList => {
                    let seed = NodeReader { context, level: Level::InList, inherited: None };
                    envelope.object = Some(access.next_value_seed(seed)?);
                }
                _ => {
                    access.next_value::<IgnoredAny>()?;
                }
            }
        }
        // Nothing but metadata is needed of a ServiceAccount.
        if !whole.is_empty() || envelope.kind == "ServiceAccount" {
            whole.insert("metadata".to_owned(), Value::Object(kept.unwrap_or_default()));
            envelope.extra = Extra::Waiting(Box::new(Value::Object(whole)));
            if !envelope.kind.is_empty() && !envelope.api_version.is_empty() {
                envelope.extra = envelope.extra.resolve(&envelope.api_version, &envelope.kind);
            } else if let Some((api_version, kind)) = &inherited
                && envelope.kind.is_empty()
            {
                envelope.extra = envelope.extra.resolve(api_version, kind);
            }
        }
        Ok(Node::Map(Box::new(envelope)))
    }
}

/// Reads `items`: `None` if it isn't a list; empty if it is null, as the API server may write it.
struct ItemsReader<'c, 'a> {
    context: &'c mut Context<'a>,
    inherited: Option<(String, String)>,
}

impl<'de> DeserializeSeed<'de> for ItemsReader<'_, '_> {
    type Value = Option<Vec<Node>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemsReader<'_, '_> {
    type Value = Option<Vec<Node>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of Kubernetes objects")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_none<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Vec::new()))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Some(Vec::new()))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, access: A) -> Result<Self::Value, A::Error> {
        let (IgnoredAny, value) = access.variant()?;
        value.newtype_variant_seed(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        while access.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut nodes = Vec::new();
        loop {
            let seed = NodeReader { context: self.context, level: Level::InList, inherited: self.inherited.clone() };
            match access.next_element_seed(seed)? {
                Some(node) => nodes.push(node),
                None => return Ok(Some(nodes)),
            }
        }
    }
}
