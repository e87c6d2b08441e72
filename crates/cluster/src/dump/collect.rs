//! Collects the objects of all documents, validated.

use rustc_hash::{FxHashMap, FxHashSet};

use gc_core::model::{
    Facts, Object, ObjectId, ResourceId, Strings, Symbol, Times,
    facts::{ReclaimFacts, Said, Setter},
    gap::is_metrics,
    group_of, is_owner_complaint,
};

use super::{
    document::{Envelope, Extra, Items, Known, Node, Type, item_type},
    error::{DumpError, Place},
    metadata::Metadata,
    served::Definition,
};

/// What is known of few objects.
#[derive(Debug)]
pub(super) enum Rest {
    Setters(Vec<Setter>),
    /// What the status says of why the object is not deleted.
    Said(Vec<Said>),
    Definition(Box<Definition>),
    Reclaim(Box<ReclaimFacts>),
}

/// The identity of an object: coordinate and uid.
type Key = (Symbol, Symbol, Symbol, Symbol, Symbol);

/// Collects the objects of documents, and has them in the end.
#[derive(Debug, Default)]
pub(super) struct Collector {
    pub strings: Strings,
    /// Whether facts of `reclaim` are wanted.
    pub reclaims: bool,
    /// When the last things happened.
    pub latest: Times,
    /// When kube-controller-manager last changed an object, in Unix seconds.
    pub manager_acted: Option<i64>,
    /// Every copy of every object, in the order in which they were read. Its resource is the index of its type.
    pub objects: Vec<Object>,
    places: Places,
    /// By index of the object.
    pub facts: Facts,
    /// By index of the object, in ascending order.
    pub rest: Vec<(u32, Rest)>,
    pub types: Vec<Type>,
    by_type: FxHashMap<Type, ResourceId>,
    /// How many objects were collected when a watch event told that this one was deleted.
    deleted: Vec<(usize, Key)>,
    /// Whether Namespaces are among the objects as OpenShift's Projects.
    pub has_projects: bool,
    /// The collector's complaints about owners in other namespaces.
    pub complaints: Vec<String>,
    /// Of the warnings about an object, by its uid, the one that says most.
    pub warnings: FxHashMap<Symbol, Said>,
    file: Symbol,
    document: u32,
}

impl Collector {
    /// One that also reads the facts of `reclaim`.
    pub(super) fn for_reclaim() -> Self {
        Collector { reclaims: true, ..Collector::default() }
    }

    /// The number of objects so far.
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }

    /// Keeps only so many objects: what followed wasn't a list.
    pub(super) fn discard(&mut self, after: usize) {
        self.objects.truncate(after);
        self.places.truncate(after);
        self.facts.truncate(after);
        while self.rest.last().is_some_and(|(index, _)| *index as usize >= after) {
            self.rest.pop();
        }
    }

    /// Leaves out what watch events deleted.
    pub(super) fn apply_deletions(&mut self) {
        if self.deleted.is_empty() {
            return;
        }
        let mut by_key: FxHashMap<Key, Vec<usize>> = FxHashMap::default();
        for index in 0..self.objects.len() {
            by_key.entry(self.key(&self.objects[index])).or_default().push(index);
        }
        let mut gone: FxHashSet<usize> = FxHashSet::default();
        for (before, key) in &self.deleted {
            gone.extend(by_key.get(key).into_iter().flatten().filter(|index| *index < before));
        }
        let stays = |index: &usize| !gone.contains(index);
        self.places = self.places.keep((0..self.objects.len()).filter(stays));
        let mut moved: Vec<Option<ObjectId>> = vec![None; self.objects.len()];
        let mut kept = 0;
        for index in (0..self.objects.len()).filter(stays) {
            self.objects.swap(kept, index);
            moved[index] = Some(ObjectId(kept as u32));
            kept += 1;
        }
        self.objects.truncate(kept);
        self.facts.move_to(&moved);
        let rest = std::mem::take(&mut self.rest);
        self.rest = rest.into_iter().filter_map(|(index, rest)| Some((moved[index as usize]?.0, rest))).collect();
    }

    /// Gives a uid to objects whose own was cut out: what the references to them say, or one that nothing has.
    ///
    /// # Errors
    /// The references disagree.
    pub(super) fn complete_uids(&mut self) -> Result<(), DumpError> {
        let without: Vec<usize> = (0..self.len()).filter(|index| self.objects[*index].uid.is_empty()).collect();
        if without.is_empty() {
            return Ok(());
        }
        let has: FxHashSet<Symbol> = self.objects.iter().map(|object| object.uid).collect();
        let mut named: FxHashMap<(Symbol, Symbol), FxHashSet<Symbol>> = FxHashMap::default();
        for reference in self.objects.iter().flat_map(|object| object.owners.iter()) {
            if !has.contains(&reference.uid) {
                named.entry((reference.kind, reference.name)).or_default().insert(reference.uid);
            }
        }
        for index in without {
            let object = self.describe(index);
            let (_, kind) = self.types[self.objects[index].resource.index()];
            let uids = named.get(&(kind, self.objects[index].name));
            self.objects[index].uid = match uids.map(|uids| (uids.len(), uids.iter().next())) {
                Some((1, Some(uid))) => *uid,
                None => self.strings.intern(&format!("cut out of {object}")),
                Some(_) => return Err(DumpError::Missing { place: self.place_of(index), object, field: "uid" }),
            };
        }
        Ok(())
    }

    /// The objects from now on are in this document of a file.
    pub(super) fn begin(&mut self, file: &str, document: usize) {
        self.file = self.strings.intern(file);
        self.document = u32::try_from(document).unwrap_or(u32::MAX);
    }

    /// The document that was begun is the only one of its file: its objects, from this one, need no number.
    pub(super) fn only_document(&mut self, first: usize) {
        self.places.only_document(first);
        self.document = 0;
    }

    fn place(&self, item: Option<usize>) -> Place {
        let document = (self.document != 0).then_some(self.document as usize);
        Place { file: self.strings.text(self.file).to_owned(), document, item }
    }

    /// Adds the objects of one document.
    pub(super) fn document(&mut self, node: Node) -> Result<(), DumpError> {
        match node {
            Node::Null => Ok(()),
            Node::Array(collected) => collected,
            node => self.node(None, node, None),
        }
    }

    /// Adds the objects of a node.
    pub(super) fn node(&mut self, item: Option<usize>, node: Node, inherited: Option<Type>) -> Result<(), DumpError> {
        let found = match node {
            Node::Null => "null",
            Node::Other(found) => found,
            Node::Array(_) => "a list",
            Node::Map(envelope) => return self.envelope(item, *envelope, inherited),
        };
        Err(DumpError::NotAnObject { place: self.place(item), found: found.to_owned() })
    }

    fn envelope(
        &mut self,
        item: Option<usize>,
        mut envelope: Envelope,
        inherited: Option<Type>,
    ) -> Result<(), DumpError> {
        let items = envelope.items.take();
        if envelope.kind.is_empty()
            && let (Some(event), Some(object)) = (&envelope.event, envelope.object.take())
        {
            self.no_list(items);
            return self.event(item, event, object);
        }
        if let Some((api_version, kind)) = inherited {
            if envelope.kind.is_empty() {
                envelope.kind = kind;
            }
            if envelope.api_version.is_empty() {
                envelope.api_version = api_version;
            }
        }
        let (api_version, kind) = (self.strings.text(envelope.api_version), self.strings.text(envelope.kind));
        if api_version.starts_with("meta.k8s.io/") {
            return Err(DumpError::KindLost { place: self.place(item), kind: kind.to_owned() });
        }
        let named = !envelope.metadata.object.name.is_empty();
        if kind == "Status" && api_version == "v1" && !named {
            let message = envelope.message.unwrap_or_else(|| "without a message".to_owned());
            return Err(DumpError::Status { place: self.place(item), message });
        }
        if kind.ends_with("List")
            && !named
            && let Some(items) = items
        {
            let inherited = item_type(&mut self.strings, (envelope.api_version, envelope.kind));
            return self.items(items, inherited);
        }
        // The API server computes these for each answer, without a uid: nobody deletes them, and they own nothing.
        let is_computed = is_metrics(group_of(api_version))
            || (api_version, kind) == ("v1", "ComponentStatus")
            || (group_of(api_version), kind) == ("packages.operators.coreos.com", "PackageManifest");
        if is_computed && named {
            self.no_list(items);
            return Ok(());
        }
        let is_event = kind == "Event";
        self.no_list(items);
        self.complaints.extend(envelope.message.take().filter(|message| is_event && is_owner_complaint(message)));
        let (object, extra, setters) = self.check(item, envelope)?;
        self.keep(item, object, extra, setters);
        Ok(())
    }

    /// The items were collected when they were read, except those that had to wait for the list's kind.
    fn items(&mut self, items: Items, inherited: Option<Type>) -> Result<(), DumpError> {
        items.failed.map_or(Ok(()), Err)?;
        items.waiting.into_iter().try_for_each(|(number, node)| self.node(Some(number), node, inherited))
    }

    fn no_list(&mut self, items: Option<Items>) {
        if let Some(items) = items {
            self.discard(items.before);
        }
    }

    fn event(&mut self, item: Option<usize>, event: &str, object: Node) -> Result<(), DumpError> {
        match (event, object) {
            // A bookmark contains no object.
            ("BOOKMARK", _) => Ok(()),
            ("DELETED", Node::Map(envelope)) => {
                let (object, ..) = self.check(item, *envelope)?;
                let key = self.key(&object);
                self.deleted.push((self.objects.len(), key));
                Ok(())
            }
            (_, object) => self.node(item, object, None),
        }
    }

    fn check(
        &mut self,
        item: Option<usize>,
        envelope: Envelope,
    ) -> Result<(Object, Extra, Option<Vec<Setter>>), DumpError> {
        let Envelope { api_version, kind, mut metadata, extra, .. } = envelope;
        let resource = match self.by_type.get(&(api_version, kind)) {
            Some(known) => *known,
            None => self.new_type(item, (api_version, kind), &metadata)?,
        };
        let missing = |collector: &Self, field| {
            let object = describe(&collector.strings, kind, &metadata.object);
            Err(DumpError::Missing { place: collector.place(item), object, field })
        };
        if metadata.object.name.is_empty() {
            return missing(self, "metadata.name");
        }
        // What was pasted may have been cut. A manifest was never in a cluster.
        if metadata.object.uid.is_empty() && !metadata.object.terminating() && metadata.object.created.get().is_none() {
            return missing(self, "uid");
        }
        if let Some((field, found)) = metadata.bad_times.first() {
            let object = describe(&self.strings, kind, &metadata.object);
            return Err(DumpError::Timestamp { place: self.place(item), object, field, found: found.clone() });
        }
        let extra = extra.resolve(self.strings.text(api_version), self.strings.text(kind), self.reclaims);
        self.manager_acted = self.manager_acted.max(metadata.changed_by_manager());
        let setters = metadata.setters();
        Ok((Object { resource, ..metadata.object }, extra, setters))
    }

    /// Checks a type that is met for the first time.
    fn new_type(
        &mut self,
        item: Option<usize>,
        (api_version, kind): Type,
        metadata: &Metadata,
    ) -> Result<ResourceId, DumpError> {
        let object = describe(&self.strings, kind, &metadata.object);
        let missing = |field| Err(DumpError::Missing { place: self.place(item), object: object.clone(), field });
        if kind.is_empty() {
            return missing("kind");
        }
        if api_version.is_empty() {
            return missing("apiVersion");
        }
        let written = self.strings.text(api_version);
        if !is_api_version(written) {
            return Err(DumpError::ApiVersion { place: self.place(item), object, found: written.to_owned() });
        }
        // The key of an object needs it.
        let group = group_of(written).to_owned();
        self.strings.intern(&group);
        let id = ResourceId(u32::try_from(self.types.len()).unwrap_or(u32::MAX));
        self.types.push((api_version, kind));
        self.by_type.insert((api_version, kind), id);
        Ok(id)
    }

    fn key(&self, object: &Object) -> Key {
        let (api_version, kind) = self.types[object.resource.index()];
        let group = self.strings.find(group_of(self.strings.text(api_version))).unwrap_or_default();
        (group, kind, object.namespace, object.name, object.uid)
    }

    fn keep(&mut self, item: Option<usize>, object: Object, extra: Extra, setters: Option<Vec<Setter>>) {
        let index = self.objects.len() as u32;
        let known = if let Extra::Known(known) = extra { Some(*known) } else { None };
        let Known { fact, definition, reclaim, told } = known.unwrap_or_default();
        self.facts.push(fact, &mut self.strings);
        self.rest.extend(reclaim.map(|facts| (index, Rest::Reclaim(facts))));
        self.rest.extend(definition.map(|definition| (index, Rest::Definition(definition))));
        let (said, warning) = told.map_or_else(Default::default, |told| (told.said, told.warning));
        self.rest.extend((!said.is_empty()).then_some((index, Rest::Said(said))));
        if let Some((uid, warning)) = warning {
            let known = self.warnings.entry(self.strings.intern(&uid)).or_insert_with(|| warning.clone());
            if warning.outweighs(known) {
                *known = warning;
            }
        }
        self.rest.extend(setters.map(|setters| (index, Rest::Setters(setters))));
        let item = item.map_or(0, |number| u32::try_from(number).unwrap_or(u32::MAX));
        self.places.push(CompactPlace { file: self.file, document: self.document, item });
        self.objects.push(object);
    }

    /// An object's name in messages.
    pub(super) fn describe(&self, index: usize) -> String {
        let object = &self.objects[index];
        describe(&self.strings, self.types[object.resource.index()].1, object)
    }

    pub(super) fn place_of(&self, index: usize) -> Place {
        let CompactPlace { file, document, item } = self.places.get(index);
        let number = |number: u32| (number != 0).then_some(number as usize);
        Place { file: self.strings.text(file).to_owned(), document: number(document), item: number(item) }
    }
}

/// Whether an apiVersion is `version` or `group/version`.
pub(crate) fn is_api_version(api_version: &str) -> bool {
    let mut parts = api_version.split('/');
    let well_formed = parts.by_ref().take(2).all(|part| !part.is_empty());
    well_formed && parts.next().is_none()
}

fn describe(strings: &Strings, kind: Symbol, object: &Object) -> String {
    let name = strings.text(object.name);
    let namespace = strings.text(object.namespace);
    let mut text = match (strings.text(kind), name) {
        ("", "") => "this object".to_owned(),
        ("", name) => format!("the object {name}"),
        (kind, "") => format!("this {kind}"),
        (kind, name) => format!("{kind}/{name}"),
    };
    if !namespace.is_empty() {
        text.push_str(" -n ");
        text.push_str(namespace);
    }
    text
}

/// A place: its file, and numbers that are 0 if there are none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CompactPlace {
    pub file: Symbol,
    pub document: u32,
    pub item: u32,
}

impl CompactPlace {
    /// So many items, or documents, further on.
    fn after(self, steps: u32) -> Self {
        match self {
            CompactPlace { item: 0, document: 0, .. } => self,
            CompactPlace { item: 0, document, .. } => CompactPlace { document: document.saturating_add(steps), ..self },
            CompactPlace { item, .. } => CompactPlace { item: item.saturating_add(steps), ..self },
        }
    }
}

/// The places of objects, by their index.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Objects from which on each stands behind the one before; the first of them, and its place.
    runs: Vec<(u32, CompactPlace)>,
    len: u32,
}

impl Places {
    pub(super) fn push(&mut self, place: CompactPlace) {
        if self.runs.last().is_none_or(|(first, begin)| begin.after(self.len - first) != place) {
            self.runs.push((self.len, place));
        }
        self.len += 1;
    }

    pub(super) fn get(&self, index: usize) -> CompactPlace {
        let index = index as u32;
        let run = self.runs.partition_point(|(first, _)| *first <= index);
        let (first, begin) = self.runs[run - 1];
        begin.after(index - first)
    }

    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len as u32);
        while self.runs.last().is_some_and(|(first, _)| *first >= self.len) {
            self.runs.pop();
        }
    }

    /// The document that the objects from this one stand in is the only one of its file: it needs no number.
    pub(super) fn only_document(&mut self, first: usize) {
        let begins = self.runs.partition_point(|(own, _)| (*own as usize) < first);
        for (_, place) in &mut self.runs[begins..] {
            place.document = 0;
        }
    }

    /// Keeps only these objects, in this order.
    pub(super) fn keep(&self, indices: impl Iterator<Item = usize>) -> Places {
        let mut kept = Places::default();
        indices.for_each(|index| kept.push(self.get(index)));
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_comes_back() {
        let place = |document, item| CompactPlace { file: Symbol::EMPTY, document, item };
        let all = [
            place(1, 1),
            place(1, 2),
            place(1, 4),
            place(2, 0),
            place(3, 0),
            place(3, 0),
            place(0, 0),
            place(0, 0),
            place(1, u32::MAX),
            place(1, u32::MAX),
        ];
        let mut places = Places::default();
        all.iter().for_each(|place| places.push(*place));
        assert!(places.runs.len() < all.len());
        let get = |places: &Places| (0..places.len as usize).map(|index| places.get(index)).collect::<Vec<_>>();
        assert_eq!(get(&places), all);
        assert_eq!(get(&places.keep([0, 2, 5].into_iter())), [all[0], all[2], all[5]]);
        places.truncate(5);
        assert_eq!(get(&places), all[..5]);
        places.truncate(2);
        places.push(place(1, 3));
        assert_eq!(get(&places), [place(1, 1), place(1, 2), place(1, 3)]);
        places.only_document(0);
        assert_eq!(get(&places), [place(0, 1), place(0, 2), place(0, 3)]);
    }
}
