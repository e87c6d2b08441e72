//! Collects the objects of all documents, validated, each once.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::{
    definition::Definition,
    document::{Envelope, Extra, Node, group_of, item_kind},
    error::{DumpError, Place},
    metadata::Metadata,
};
use crate::model::{Fact, Strings, Symbol, facts::Setter};

/// A collected object.
#[derive(Debug)]
pub(super) struct Collected {
    pub api_version: Symbol,
    pub kind: Symbol,
    pub metadata: Metadata,
    pub fact: Option<Fact>,
    pub setters: Option<Vec<Setter>>,
    pub definition: Option<Definition>,
    /// Its place in the input, for messages.
    pub place: CompactPlace,
}

/// A compact [`Place`]: the index of its file, and numbers that are 0 if there are none.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactPlace {
    file: Symbol,
    document: u32,
    item: u32,
}

/// The identity of an object: coordinate and uid.
type Key = (Symbol, Symbol, Symbol, Symbol, Symbol);

/// Collects the objects of documents.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub strings: Strings,
    objects: Vec<Option<Collected>>,
    by_key: FxHashMap<Key, usize>,
}

impl Collector {
    /// The objects, in the order in which they were first read.
    pub(super) fn finish(self) -> (Strings, Vec<Collected>) {
        (self.strings, self.objects.into_iter().flatten().collect())
    }

    /// Adds the objects of one document.
    pub(super) fn document(&mut self, place: &Place, node: Node) -> Result<(), DumpError> {
        match node {
            Node::Null => Ok(()),
            Node::Array(nodes) => self.items(place, nodes, None),
            node => self.node(place, node, None),
        }
    }

    fn items(
        &mut self,
        place: &Place,
        nodes: Vec<Node>,
        inherited: Option<&(String, String)>,
    ) -> Result<(), DumpError> {
        for (index, node) in nodes.into_iter().enumerate() {
            self.node(&Place { item: Some(index + 1), ..place.clone() }, node, inherited)?;
        }
        Ok(())
    }

    fn node(&mut self, place: &Place, node: Node, inherited: Option<&(String, String)>) -> Result<(), DumpError> {
        let found = match node {
            Node::Null => "null",
            Node::Other(found) => found,
            Node::Array(_) => "a list",
            Node::Map(envelope) => return self.envelope(place, *envelope, inherited),
        };
        Err(DumpError::NotAnObject { place: place.clone(), found: found.to_owned() })
    }

    fn envelope(
        &mut self,
        place: &Place,
        mut envelope: Envelope,
        inherited: Option<&(String, String)>,
    ) -> Result<(), DumpError> {
        if envelope.kind.is_empty()
            && let (Some(event), Some(object)) = (&envelope.event, envelope.object.take())
        {
            return self.event(place, event, object);
        }
        if let Some((api_version, kind)) = inherited {
            if envelope.kind.is_empty() {
                envelope.kind.clone_from(kind);
            }
            if envelope.api_version.is_empty() {
                envelope.api_version.clone_from(api_version);
            }
        }
        if envelope.api_version.starts_with("meta.k8s.io/") {
            return Err(DumpError::KindLost { place: place.clone(), kind: envelope.kind });
        }
        let named = !envelope.metadata.name.is_empty();
        if envelope.kind == "Status" && envelope.api_version == "v1" && !named {
            let message = envelope.message.unwrap_or_else(|| "without a message".to_owned());
            return Err(DumpError::Status { place: place.clone(), message });
        }
        if envelope.kind.ends_with("List")
            && !named
            && let Some(nodes) = envelope.items.take()
        {
            let inherited = item_kind(&envelope.api_version, &envelope.kind);
            return self.items(place, nodes, inherited.as_ref());
        }
        let object = self.check(place, envelope)?;
        self.keep(object);
        Ok(())
    }

    fn event(&mut self, place: &Place, event: &str, object: Node) -> Result<(), DumpError> {
        match (event, object) {
            // A bookmark contains no object.
            ("BOOKMARK", _) => Ok(()),
            ("DELETED", Node::Map(envelope)) => {
                let object = self.check(place, *envelope)?;
                let key = self.key(&object);
                if let Some(index) = self.by_key.remove(&key) {
                    self.objects[index] = None;
                }
                Ok(())
            }
            (_, object) => self.node(place, object, None),
        }
    }

    fn check(&mut self, place: &Place, envelope: Envelope) -> Result<Collected, DumpError> {
        let Envelope { api_version, kind, metadata, setters, extra, .. } = envelope;
        let missing = |object: String, field| Err(DumpError::Missing { place: place.clone(), object, field });
        let describe = || describe(&self.strings, &kind, &metadata);
        if kind.is_empty() {
            return missing(describe(), "kind");
        }
        if api_version.is_empty() {
            return missing(describe(), "apiVersion");
        }
        if !is_api_version(&api_version) {
            return Err(DumpError::ApiVersion { place: place.clone(), object: describe(), found: api_version });
        }
        if metadata.name.is_empty() {
            return missing(describe(), "metadata.name");
        }
        if metadata.uid.is_empty() {
            return missing(describe(), "uid");
        }
        if let Some((field, found)) = metadata.bad_times.first() {
            return Err(DumpError::Timestamp { place: place.clone(), object: describe(), field, found: found.clone() });
        }
        let (fact, definition) = match extra.resolve(&api_version, &kind) {
            Extra::Known(known) => (Some(known.0), known.1),
            _ => (None, None),
        };
        let place = CompactPlace {
            file: self.strings.intern(&place.file),
            document: place.document.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX)),
            item: place.item.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX)),
        };
        let (api_version, kind) = (self.strings.intern(&api_version), self.strings.intern(&kind));
        Ok(Collected { api_version, kind, metadata, fact, setters, definition, place })
    }

    fn key(&mut self, object: &Collected) -> Key {
        let group = group_of(self.strings.text(object.api_version)).to_owned();
        let Metadata { namespace, name, uid, .. } = object.metadata;
        (self.strings.intern(&group), object.kind, namespace, name, uid)
    }

    /// Adds an object. Of several copies of one object, the newest replaces the first.
    fn keep(&mut self, object: Collected) {
        let key = self.key(&object);
        match self.by_key.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(self.objects.len());
                self.objects.push(Some(object));
            }
            Entry::Occupied(entry) => {
                let known = &mut self.objects[*entry.get()];
                let version =
                    |object: &Collected| self.strings.text(object.metadata.resource_version).parse::<u64>().ok();
                if known.as_ref().is_none_or(|known| version(known) < version(&object)) {
                    *known = Some(object);
                }
            }
        }
    }
}

impl Collected {
    /// The object's name in messages.
    pub(super) fn describe(&self, strings: &Strings) -> String {
        describe(strings, strings.text(self.kind), &self.metadata)
    }

    pub(super) fn place(&self, strings: &Strings) -> Place {
        let number = |number: u32| (number != 0).then_some(number as usize);
        Place {
            file: strings.text(self.place.file).to_owned(),
            document: number(self.place.document),
            item: number(self.place.item),
        }
    }
}

/// Whether an apiVersion is `version` or `group/version`.
pub(crate) fn is_api_version(api_version: &str) -> bool {
    let mut parts = api_version.split('/');
    let well_formed = parts.by_ref().take(2).all(|part| !part.is_empty());
    well_formed && parts.next().is_none()
}

fn describe(strings: &Strings, kind: &str, metadata: &Metadata) -> String {
    let name = strings.text(metadata.name);
    let namespace = strings.text(metadata.namespace);
    let mut text = match (kind, name) {
        ("", "") => "this object".to_owned(),
        ("", name) => format!("the object {name}"),
        (kind, "") => format!("this {kind}"),
        (kind, name) => format!("{kind}/{name}"),
    };
    if !namespace.is_empty() {
        text.push_str(" in namespace ");
        text.push_str(namespace);
    }
    text
}
