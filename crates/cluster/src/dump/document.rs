//! One document of a dump, in JSON or YAML: an object, a list, an array or a watch event. Reads only what a snapshot
//! contains; other parts are looked at only for facts, and dropped at once. The items of a list are collected as they
//! are read.

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess};
use serde_json::{Map, Value};

use super::{
    any::{Any, Capture, Scalar, Take, WithText, next_key, skip},
    collect::Collector,
    error::DumpError,
    metadata::{Metadata, MetadataReader},
    served::Definition,
    yaml::is_complaint,
};
use gc_core::model::{
    Fact, Strings, Symbol,
    facts::{
        BOOTSTRAP_TOKEN, ReclaimFacts, Said, TokenFacts, contains_said, holds_facts, holds_reclaim_facts,
        holds_warning, is_read_data, is_reclaim_kind, keys_with_facts, may_have_facts, may_say_why, read_facts,
        read_reclaim_facts, read_said, read_warning,
    },
    group_of, is_owner_complaint,
};

/// The context of reading a document.
#[derive(Debug)]
pub(super) struct Context<'a> {
    pub collector: &'a mut Collector,
    /// The items of the list, as far as they were collected before the rest of the document is read.
    pub items: Option<Items>,
    /// The apiVersion of a document of this tool, if one was found; reading stops there.
    pub own: Option<String>,
}

/// apiVersion and kind.
pub(super) type Type = (Symbol, Symbol);

/// A value in the place of an object.
#[derive(Debug)]
pub(super) enum Node {
    /// Null, as in an empty YAML document.
    Null,
    /// A value of another type, and the name of that type.
    Other(&'static str),
    /// An array without an envelope, whose objects are collected; its first error.
    Array(Result<(), DumpError>),
    /// An object, a list or a watch event.
    Map(Box<Envelope>),
}

/// A map. Whether it is an object, a list or a watch event is known only after all of its keys were read.
#[derive(Debug, Default)]
pub(super) struct Envelope {
    pub api_version: Symbol,
    pub kind: Symbol,
    pub metadata: Metadata,
    pub extra: Extra,
    /// `items`, if it is a list.
    pub items: Option<Items>,
    /// The `type` of a watch event; objects may have one, too.
    pub event: Option<String>,
    /// The object of a watch event.
    pub object: Option<Node>,
    /// The message of a `Status`, or of the collector's complaint about an owner.
    pub message: Option<String>,
}

impl Envelope {
    /// Whether the type is known by now, and its group and kind as far as they are: by what was read, or by the list.
    fn kind_so_far<'s>(&self, inherited: Option<Type>, strings: &'s Strings) -> (bool, &'s str, &'s str) {
        let (api_version, kind) = match inherited {
            Some(inherited) if self.kind.is_empty() => inherited,
            _ => (self.api_version, self.kind),
        };
        let known = !kind.is_empty() && !api_version.is_empty();
        (known, group_of(strings.text(api_version)), strings.text(kind))
    }
}

/// The items of what may be a list. Only the end of the map tells: some kinds have a field of this name.
#[derive(Debug)]
pub(super) struct Items {
    /// How many objects were collected before.
    pub before: usize,
    of: ItemType,
    /// How many items were read.
    pub number: usize,
    /// The first error, after which no item is collected.
    pub failed: Option<DumpError>,
    /// The items, with their numbers, from the first whose kind only the list may tell.
    pub waiting: Vec<(usize, Node)>,
}

/// What is known of an object beyond its metadata.
#[derive(Debug, Default)]
pub(super) enum Extra {
    #[default]
    None,
    Known(Box<Known>),
    /// The whole object, because its kind wasn't known when it was read.
    Waiting(Box<Value>),
}

/// What was read of a whole object.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub fact: Option<Fact>,
    /// What a CustomResourceDefinition serves.
    pub definition: Option<Box<Definition>>,
    /// Only if it is wanted.
    pub reclaim: Option<Box<ReclaimFacts>>,
    /// Of most there is nothing.
    pub told: Option<Box<Told>>,
}

/// What an object tells of why it, or another one, is not deleted.
#[derive(Debug)]
pub(super) struct Told {
    /// What its status says.
    pub said: Vec<Said>,
    /// What an event warns of, and the uid of its object.
    pub warning: Option<(String, Said)>,
}

impl Extra {
    /// Reads the facts, now that the kind is known; those of `reclaim` only if they are wanted.
    pub(super) fn resolve(self, api_version: &str, kind: &str, reclaims: bool) -> Extra {
        match self {
            Extra::Waiting(object) => Extra::of(api_version, kind, &object, reclaims),
            known => known,
        }
    }

    fn of(api_version: &str, kind: &str, object: &Value, reclaims: bool) -> Extra {
        let group = group_of(api_version);
        let fact = read_facts(group, kind, object);
        let reclaim = if reclaims { read_reclaim_facts(group, kind, object).map(Box::new) } else { None };
        let told = Told { said: read_said(group, kind, object), warning: read_warning(kind, object) };
        let told = (!told.said.is_empty() || told.warning.is_some()).then(|| Box::new(told));
        if fact.is_none() && reclaim.is_none() && told.is_none() {
            return Extra::None;
        }
        let is_definition = matches!(fact, Some(Fact::Definition(_)));
        let definition = is_definition.then(|| Definition::read(object)).flatten().map(Box::new);
        Extra::Known(Box::new(Known { fact, definition, reclaim, told }))
    }
}

/// The type of the items of a typed list, as in `PodList`; `None` for a plain `List`.
pub(super) fn item_type(strings: &mut Strings, (api_version, kind): Type) -> Option<Type> {
    let kind = strings.text(kind).strip_suffix("List").filter(|kind| !kind.is_empty())?.to_owned();
    Some((api_version, strings.intern(&kind)))
}

/// The level of a node in its document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Level {
    Top,
    InArray,
    InList(ItemType),
}

impl Level {
    pub(super) fn in_list(self) -> bool {
        matches!(self, Level::InList(_))
    }

    /// The type that the list tells, if it does.
    fn inherited(self) -> Option<Type> {
        if let Level::InList(of) = self { of.inherited } else { None }
    }
}

/// Reads a node.
pub(super) struct NodeReader<'c, 'a> {
    pub context: &'c mut Context<'a>,
    pub level: Level,
}

/// What a list tells about its items before it ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ItemType {
    /// Whether the type of the list was read before the items.
    known: bool,
    inherited: Option<Type>,
}

impl ItemType {
    /// By the type of the list, as far as it was read.
    fn of(strings: &mut Strings, list: Type) -> Self {
        let known = !list.0.is_empty() && !list.1.is_empty();
        ItemType { known, inherited: if known { item_type(strings, list) } else { None } }
    }
}

impl Items {
    /// None yet; the type of the list as far as it was read.
    pub(super) fn of(collector: &mut Collector, list: Type) -> Self {
        let of = ItemType::of(&mut collector.strings, list);
        Items { before: collector.len(), of, number: 0, failed: None, waiting: Vec::new() }
    }

    /// Collects all items of a list.
    fn read<'de, A: SeqAccess<'de>>(&mut self, context: &mut Context<'_>, access: &mut A) -> Result<(), A::Error> {
        let level = self.level();
        while let Some(node) = access.next_element_seed(NodeReader { context, level })? {
            self.take(context.collector, node);
        }
        Ok(())
    }

    /// The level of an item.
    pub(super) fn level(&self) -> Level {
        Level::InList(self.of)
    }

    /// Collects the next item.
    pub(super) fn take(&mut self, collector: &mut Collector, node: Node) {
        self.number += 1;
        if self.failed.is_some() {
            return;
        }
        let lacks_type = |node: &Node| match node {
            Node::Map(envelope) => envelope.kind.is_empty() || envelope.api_version.is_empty(),
            _ => false,
        };
        if !self.waiting.is_empty() || (!self.of.known && lacks_type(&node)) {
            self.waiting.push((self.number, node));
        } else if let Err(error) = collector.node(Some(self.number), node, self.of.inherited) {
            self.failed = Some(error);
        }
    }
}

impl<'de> DeserializeSeed<'de> for NodeReader<'_, '_> {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Any(self).deserialize(deserializer)
    }
}

/// The keys of an envelope that are read.
enum Key {
    ApiVersion,
    Kind,
    Type,
    Message,
    Metadata,
    Facts(&'static str),
    /// Only `reclaim` reads these.
    Reclaim(&'static str),
    /// Of events.
    Warning(&'static str),
    Items,
    Object,
    /// The beginning of what kubectl prints on standard error, as `Error from server (Forbidden): …`.
    Complaint(String),
}

impl Key {
    fn of(key: &str) -> Option<Key> {
        Some(match key {
            "apiVersion" => Key::ApiVersion,
            "kind" => Key::Kind,
            "type" => Key::Type,
            // Of events in `events.k8s.io`.
            "message" | "note" => Key::Message,
            "metadata" => Key::Metadata,
            "items" => Key::Items,
            "object" => Key::Object,
            key if key == "error" || is_complaint(key) => {
                Key::Complaint(key.split(" (").next().unwrap_or_default().chars().take(60).collect())
            }
            key => match holds_facts(key) {
                Some(key) => Key::Facts(key),
                None => holds_reclaim_facts(key).map(Key::Reclaim).or_else(|| holds_warning(key).map(Key::Warning))?,
            },
        })
    }
}

impl<'de> Take<'de> for NodeReader<'_, '_> {
    type Value = Node;

    fn scalar(self, scalar: Scalar<'_>) -> Node {
        match scalar {
            Scalar::Null => Node::Null,
            Scalar::Bool(_) => Node::Other("a boolean"),
            Scalar::Number(_) | Scalar::Large(_) | Scalar::Odd => Node::Other("a number"),
            Scalar::Text(text) if is_complaint(text) => Node::Other("a message of kubectl (from standard error)"),
            Scalar::Text(_) => Node::Other("a string"),
        }
    }

    fn list<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let NodeReader { context, level, .. } = self;
        if !matches!(level, Level::Top) {
            while access.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(Node::Other("a list"));
        }
        let mut collected = Ok(());
        let mut number = 0;
        while let Some(node) = access.next_element_seed(NodeReader { context, level: Level::InArray })? {
            number += 1;
            // If the document is malformed further on, that is what is wrong with it.
            if collected.is_ok() {
                collected = context.collector.node(Some(number), node, None);
            }
        }
        Ok(Node::Array(collected))
    }

    fn map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
        let NodeReader { context, level } = self;
        let inherited = level.inherited();
        let reclaims = context.collector.reclaims;
        let mut envelope = Envelope::default();
        let mut whole = Map::new();
        let mut has_metadata = false;
        while let Some(key) = next_key(&mut access, Key::of)? {
            match key.flatten() {
                Some(key @ (Key::ApiVersion | Key::Kind)) => {
                    let strings = &mut context.collector.strings;
                    let value = access.next_value_seed(Any(WithText(|text: Option<&str>| {
                        text.map_or(Symbol::EMPTY, |text| strings.intern(text))
                    })))?;
                    match key {
                        Key::Kind => envelope.kind = value,
                        _ => envelope.api_version = value,
                    }
                    let api_version = strings.text(envelope.api_version);
                    // OpenShift shows each Namespace as a Project, too, with the same uid; its users read that.
                    if (api_version, strings.text(envelope.kind)) == ("project.openshift.io/v1", "Project") {
                        (envelope.api_version, envelope.kind) = (strings.intern("v1"), strings.intern("Namespace"));
                        context.collector.has_projects = true;
                        continue;
                    }
                    if api_version.starts_with("kubectl-gc/") {
                        context.own = Some(api_version.to_owned());
                        return Err(A::Error::custom("a document of kubectl gc itself"));
                    }
                }
                Some(Key::Type) => {
                    let value = text(&mut access)?;
                    let is_read = |kind: &&str| {
                        matches!(*kind, TokenFacts::TYPE | "Warning") || (reclaims && *kind == BOOTSTRAP_TOKEN)
                    };
                    if let Some(kind) = value.as_deref().filter(is_read) {
                        whole.insert("type".to_owned(), Value::String(kind.to_owned()));
                    }
                    if !level.in_list() {
                        envelope.event = value;
                    }
                }
                Some(Key::Message) => {
                    let value = text(&mut access)?;
                    let is_status = || context.collector.strings.text(envelope.kind) == "Status";
                    if !level.in_list() || is_status() || value.as_deref().is_some_and(is_owner_complaint) {
                        envelope.message.clone_from(&value);
                    }
                    let (known, _, kind) = envelope.kind_so_far(inherited, &context.collector.strings);
                    if known && kind == "Event" || whole.contains_key("involvedObject") {
                        whole.extend(value.map(|message| ("message".to_owned(), Value::String(message))));
                    }
                }
                Some(Key::Metadata) => {
                    let read = access.next_value_seed(Any(MetadataReader(&mut context.collector.strings)))?;
                    if let Some(metadata) = read {
                        (envelope.metadata, has_metadata) = (metadata, true);
                    }
                }
                Some(Key::Facts(key)) => {
                    let strings = &context.collector.strings;
                    let (known, group, kind) = envelope.kind_so_far(inherited, strings);
                    let finalizers = has_metadata.then(|| envelope.metadata.finalizers(strings));
                    if reclaims && (!known || is_reclaim_kind(group, kind)) {
                        whole.insert(key.to_owned(), access.next_value_seed(Capture::deep())?);
                    } else if known && !may_have_facts(group, kind, finalizers) {
                        if key == "status" && envelope.metadata.is_held() && may_say_why(group, kind) {
                            whole.insert(key.to_owned(), access.next_value_seed(Capture::of(contains_said))?);
                        } else {
                            skip(&mut access)?;
                        }
                    } else {
                        let filter = if known { keys_with_facts(group, kind, key) } else { None };
                        let reader = filter.map_or(Capture::default(), Capture::of);
                        whole.insert(key.to_owned(), access.next_value_seed(reader)?);
                    }
                }
                Some(Key::Reclaim(key)) => {
                    let strings = &context.collector.strings;
                    let (known, group, kind) = envelope.kind_so_far(inherited, strings);
                    if !reclaims || (known && !is_reclaim_kind(group, kind)) {
                        skip(&mut access)?;
                    } else {
                        let filter = (known && key == "data").then(|| is_read_data(group, kind)).flatten();
                        let reader = filter.map_or(Capture::deep(), Capture::of);
                        whole.insert(key.to_owned(), access.next_value_seed(reader)?);
                    }
                }
                Some(Key::Warning(key)) => {
                    let (known, _, kind) = envelope.kind_so_far(inherited, &context.collector.strings);
                    if known && kind != "Event" {
                        skip(&mut access)?;
                    } else {
                        whole.insert(key.to_owned(), access.next_value_seed(Capture::of(of_warning))?);
                    }
                }
                Some(Key::Items) if !level.in_list() => {
                    let list = (envelope.api_version, envelope.kind);
                    if let Some(items) = envelope.items.take() {
                        context.collector.discard(items.before);
                    }
                    envelope.items = access.next_value_seed(Any(ItemsReader { context, list }))?;
                }
                Some(Key::Object) if !level.in_list() => {
                    let seed = NodeReader { context, level: Level::InList(ItemType::default()) };
                    envelope.object = Some(access.next_value_seed(seed)?);
                }
                // An item may have a field of such a name.
                Some(Key::Complaint(begin)) if !level.in_list() => {
                    return Err(A::Error::custom(format_args!(
                        "{begin:?} stands among the objects: remove that line of kubectl (2>/dev/null leaves it out)"
                    )));
                }
                Some(Key::Items | Key::Object | Key::Complaint(_)) | None => skip(&mut access)?,
            }
        }
        let strings = &context.collector.strings;
        // Nothing but metadata is needed of a ServiceAccount.
        if !whole.is_empty() || strings.text(envelope.kind) == "ServiceAccount" {
            let (_, group, kind) = envelope.kind_so_far(inherited, strings);
            whole.insert("metadata".to_owned(), envelope.metadata.for_facts(strings, (group, kind)));
            envelope.extra = Extra::Waiting(Box::new(Value::Object(whole)));
            let own = (envelope.api_version, envelope.kind);
            let own = if envelope.kind.is_empty() { inherited.unwrap_or(own) } else { own };
            if !own.0.is_empty() && !own.1.is_empty() {
                envelope.extra = envelope.extra.resolve(strings.text(own.0), strings.text(own.1), reclaims);
            }
        }
        Ok(Node::Map(Box::new(envelope)))
    }
}

/// What is read of an event below its keys.
fn of_warning(_: usize, _: &str, key: &str) -> bool {
    matches!(key, "uid" | "count" | "lastObservedTime")
}

/// The text of the next value.
fn text<'de, A: MapAccess<'de>>(access: &mut A) -> Result<Option<String>, A::Error> {
    access.next_value_seed(Any(WithText(|text: Option<&str>| text.map(str::to_owned))))
}

/// Reads `items`: `None` if it isn't a list; empty if it is null, as the API server may write it.
struct ItemsReader<'c, 'a> {
    context: &'c mut Context<'a>,
    /// The type of the list, as far as it was read.
    list: Type,
}

impl<'de> Take<'de> for ItemsReader<'_, '_> {
    type Value = Option<Items>;

    fn scalar(self, scalar: Scalar<'_>) -> Option<Items> {
        matches!(scalar, Scalar::Null).then(|| Items::of(self.context.collector, self.list))
    }

    fn list<A: SeqAccess<'de>>(self, mut access: A) -> Result<Option<Items>, A::Error> {
        let ItemsReader { context, list } = self;
        let mut items = context.items.take().unwrap_or_else(|| Items::of(context.collector, list));
        items.read(context, &mut access)?;
        Ok(Some(items))
    }
}
