//! From a query with resolved types to the objects of a snapshot; and `--keep`: which dependents survive, as typed.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use gc_core::model::{
    Coordinate, Gap, Object, ObjectId, Origin, Presence, ResourceId, Resources, Snapshot, Symbol, facts::LabelSelector,
    nearest::nearest,
};

use super::{
    Hint, Missing, NamedTarget, NamespaceChoice, NoMatch, SelectedType, Selection, TargetError, TypeName, TypedQuery,
    Why, in_namespaces, names, parse_labels, selected_types, type_and_name, types, wrong,
};

impl TypedQuery {
    /// The targets, each once, in the given order.
    ///
    /// `selected` has the server's answers to [`TypedQuery::server_selections`]: the uids of each resource's objects.
    pub fn resolve(
        &self,
        snapshot: &Snapshot,
        namespace: &NamespaceChoice,
        selected: &[(ResourceId, Vec<String>)],
    ) -> Result<Vec<ObjectId>, TargetError> {
        let search = Search { snapshot, choice: namespace };
        let mut found = match self.types.as_slice() {
            [] => search.all_named(&self.objects)?,
            types => search.selected(types, &self.selection, selected)?,
        };
        found.iter_mut().for_each(|id| *id = stored_as(snapshot, *id));
        let mut seen = FxHashSet::default();
        found.retain(|id| seen.insert(*id));
        Ok(found)
    }

    /// Like [`resolve`](Self::resolve), without targets that verifiably don't exist.
    pub fn resolve_present(
        &self,
        snapshot: &Snapshot,
        namespace: &NamespaceChoice,
        selected: &[(ResourceId, Vec<String>)],
    ) -> Result<Vec<ObjectId>, TargetError> {
        let one = |wanted: &NamedTarget| TypedQuery { objects: vec![wanted.clone()], ..TypedQuery::default() };
        let one_by_one: Vec<TypedQuery> = match self.types.as_slice() {
            [] => self.objects.iter().map(one).collect(),
            _ => vec![self.clone()],
        };
        let mut found = Vec::new();
        for query in one_by_one {
            match query.resolve(snapshot, namespace, selected) {
                Err(TargetError::Missing(missing)) if missing.why == Why::Absent => {}
                Err(TargetError::NoMatch(nothing)) if nothing.unread.is_empty() => {}
                resolved => found.extend(resolved?),
            }
        }
        let mut seen = FxHashSet::default();
        found.retain(|id| seen.insert(*id));
        Ok(found)
    }

    /// The coordinates of named objects that no list has. A look-up of each may still find them: a list may not cover
    /// them, or may be older than they are.
    pub fn unlisted(&self, snapshot: &mut Snapshot, choice: &NamespaceChoice) -> Vec<Coordinate> {
        let coordinates = self.objects.iter().filter_map(|wanted| {
            let namespace = match (&wanted.namespace, choice) {
                _ if !wanted.namespaced => "",
                (Some(own), _) => own,
                (None, NamespaceChoice::One(chosen)) => chosen,
                (None, NamespaceChoice::WhereverUnique | NamespaceChoice::All) => return None,
            };
            let strings = &mut snapshot.strings;
            let (namespace, name) = (strings.intern(namespace), strings.intern(&wanted.name));
            let coordinate = Coordinate { resource: wanted.resource, namespace, name };
            let listed = matches!(snapshot.look_up(coordinate), Presence::Present(_));
            (!listed && !snapshot.was_looked_up(coordinate)).then_some(coordinate)
        });
        coordinates.collect()
    }
}

/// The object that is deleted with this one. A Project of OpenShift is how it shows a Namespace to its users
/// (openshift-apiserver `pkg/project/apiserver/registry/project/proxy: Delete`).
fn stored_as(snapshot: &Snapshot, id: ObjectId) -> ObjectId {
    let object = snapshot.object(id);
    let resource = snapshot.resources.get(object.resource);
    if (resource.group.as_str(), resource.kind.as_str()) != ("project.openshift.io", "Project") {
        return id;
    }
    let namespaces = snapshot.resources.by_group_kind("", "Namespace");
    let namespace = namespaces.and_then(|all| snapshot.look_up_named(all, "", snapshot.text(object.name)).object());
    namespace.unwrap_or(id)
}

/// A search for objects of a snapshot.
pub(super) struct Search<'a> {
    pub snapshot: &'a Snapshot,
    pub choice: &'a NamespaceChoice,
}

impl<'a> Search<'a> {
    /// Reports all missing objects, not only the first: some objects of a folder may already be gone.
    fn all_named(&self, objects: &[NamedTarget]) -> Result<Vec<ObjectId>, TargetError> {
        let mut found = Vec::with_capacity(objects.len());
        let mut missing = Vec::new();
        for wanted in objects {
            match self.named(wanted) {
                Ok(id) => found.push(id),
                Err(TargetError::Missing(one)) => missing.push(*one),
                Err(error) => return Err(error),
            }
        }
        match missing.len() {
            0 => Ok(found),
            1 => Err(TargetError::Missing(Box::new(missing.remove(0)))),
            _ => Err(TargetError::AllMissing(missing)),
        }
    }

    fn named(&self, wanted: &NamedTarget) -> Result<ObjectId, TargetError> {
        let namespace = match (&wanted.namespace, self.choice) {
            _ if !wanted.namespaced => "",
            (Some(own), _) => own,
            (None, NamespaceChoice::One(chosen)) => chosen,
            (None, NamespaceChoice::WhereverUnique) => return self.wherever(wanted),
            (None, NamespaceChoice::All) => {
                let (resource, name) = (self.resource_name(wanted.resource), &wanted.name);
                return wrong(format!(
                    "{resource} {name:?} cannot be found by name across all namespaces: give its namespace with -n \
                     instead of -A"
                ));
            }
        };
        let strings = &self.snapshot.strings;
        let coordinate = strings.find(namespace).zip(strings.find(&wanted.name)).map(|(namespace, name)| Coordinate {
            resource: wanted.resource,
            namespace,
            name,
        });
        match coordinate.map(|coordinate| self.snapshot.look_up(coordinate)) {
            Some(Presence::Present(id)) => Ok(id),
            // A look-up of this object may have proved its absence although the list could not be read.
            Some(Presence::Absent) => {
                Err(self.missing(wanted, Some(namespace).filter(|_| wanted.namespaced), Some(Why::Absent)))
            }
            _ => Err(self.missing(wanted, Some(namespace).filter(|_| wanted.namespaced), None)),
        }
    }

    /// The only object of this name in all namespaces.
    fn wherever(&self, wanted: &NamedTarget) -> Result<ObjectId, TargetError> {
        let found = self.of_name(wanted);
        match found[..] {
            [] => Err(self.missing(wanted, None, None)),
            [id] => Ok(id),
            _ => {
                let (resource, name) = (self.resource_name(wanted.resource), &wanted.name);
                let namespaces = in_namespaces(&self.namespaces(found));
                wrong(format!("{resource} {name:?} exists in {namespaces}: choose one with -n"))
            }
        }
    }

    /// All objects of this type and name, in all namespaces.
    fn of_name(&self, wanted: &NamedTarget) -> Vec<ObjectId> {
        let Some(name) = self.snapshot.strings.find(&wanted.name) else { return Vec::new() };
        self.of_resource(wanted.resource).filter(|(_, object)| object.name == name).map(|(id, _)| id).collect()
    }

    /// The objects of a resource. Of several with the same coordinate in a dump, only the first counts.
    fn of_resource(&self, resource: ResourceId) -> impl Iterator<Item = (ObjectId, &'a Object)> {
        let snapshot = self.snapshot;
        snapshot.objects().filter(move |(id, object)| {
            let coordinate = Coordinate { resource, namespace: object.namespace, name: object.name };
            object.resource == resource && snapshot.look_up(coordinate) == Presence::Present(*id)
        })
    }

    fn selected(
        &self,
        types: &[SelectedType],
        selection: &Selection,
        answers: &[(ResourceId, Vec<String>)],
    ) -> Result<Vec<ObjectId>, TargetError> {
        let mut all = Vec::new();
        let mut unread = Vec::new();
        for SelectedType { resource, of_category } in types {
            let scope = self.scope(*resource);
            if let Some(reason) = self.failure(*resource, scope).or_else(|| self.unlisted(*resource, scope)) {
                let resource = self.resource_name(*resource);
                if !of_category {
                    return Err(TargetError::unread(&resource, scope, &reason));
                }
                unread.push((resource, reason));
            }
            let mut found = self.matching(*resource, selection, answers)?;
            found.retain(|id| scope.is_none_or(|scope| self.snapshot.namespace(*id) == scope));
            // In the order of a server's lists.
            found.sort_by_key(|id| {
                let object = self.snapshot.object(*id);
                (self.snapshot.text(object.namespace), self.snapshot.text(object.name))
            });
            all.extend(found);
        }
        if !all.is_empty() {
            return Ok(all);
        }
        let namespace = types.iter().find_map(|selected| self.scope(selected.resource)).map(str::to_owned);
        let hint = match &namespace {
            Some(namespace) => self.nothing_there(namespace, types, selection, answers)?,
            None => Hint::Nothing,
        };
        let resources = types.iter().map(|selected| self.resource_name(selected.resource)).collect();
        Err(TargetError::NoMatch(Box::new(NoMatch {
            resources,
            namespace,
            selection: selection.flags(),
            unread,
            hint,
        })))
    }

    /// The objects of a resource that a selection matches, in all namespaces.
    pub(super) fn matching(
        &self,
        resource: ResourceId,
        selection: &Selection,
        answers: &[(ResourceId, Vec<String>)],
    ) -> Result<Vec<ObjectId>, TargetError> {
        if let Some(fields) = selection.fields.as_ref().filter(|fields| !fields.local()) {
            let picked = |id: ResourceId| self.snapshot.resources.picked(id);
            let Some((_, uids)) = answers.iter().find(|(answered, _)| picked(*answered) == picked(resource)) else {
                return wrong(format!(
                    "--field-selector {fields} needs a server: with a dump only metadata.name and metadata.namespace \
                     work; or use -l"
                ));
            };
            // Objects created since the snapshot was read are not in it.
            let found = uids.iter().filter_map(|uid| self.snapshot.with_uid(uid));
            return Ok(found.filter(|id| self.snapshot.object(*id).resource == resource).collect());
        }
        Ok(self.of_resource(resource).filter(|(_, object)| self.matches(object, selection)).map(|(id, _)| id).collect())
    }

    pub(super) fn matches(&self, object: &Object, selection: &Selection) -> bool {
        let text = |symbol| self.snapshot.text(symbol);
        let label = |key: &str| {
            let found = object.labels.iter().find(|(known, _)| text(*known) == key);
            found.map(|(_, value)| text(*value))
        };
        selection.labels.as_ref().is_none_or(|labels| labels.matches(label))
            && selection.fields.as_ref().is_none_or(|fields| fields.matches(text(object.namespace), text(object.name)))
    }

    /// The namespace to which the search for a resource is limited.
    fn scope(&self, resource: ResourceId) -> Option<&'a str> {
        match self.choice {
            NamespaceChoice::One(namespace) if self.snapshot.resources.get(resource).namespaced => Some(namespace),
            _ => None,
        }
    }

    /// Why a resource could not be listed; `None` also if no one tried.
    pub(super) fn failure(&self, resource: ResourceId, namespace: Option<&str>) -> Option<String> {
        if self.covers(resource, namespace) {
            return None;
        }
        let concerns = |list: &Option<String>| list.is_none() || namespace.is_none() || list.as_deref() == namespace;
        let resources = &self.snapshot.resources;
        let lists = self.snapshot.lists.iter();
        let mut failed = lists.filter(|list| resources.picked(list.resource) == resource && concerns(&list.namespace));
        failed.find_map(|list| list.failure.as_ref().map(ToString::to_string))
    }

    /// Why a cluster's objects of a resource are not known although no list of it failed: it has no list, or the
    /// objects in it have no uid.
    fn unlisted(&self, id: ResourceId, namespace: Option<&str>) -> Option<String> {
        let resource = self.snapshot.resources.get(self.snapshot.resources.picked(id));
        if matches!(self.snapshot.origin, Origin::Dump { .. }) {
            return None;
        }
        if !self.covers(id, namespace) {
            let verbs = resource.verbs.join(", ");
            return Some(match resource.has_verb("list") {
                true => "they were not read".to_owned(),
                false => format!("the API server offers no list of them, only these verbs: {verbs}"),
            });
        }
        let name = resource.full_name();
        let in_scope =
            |gap: &&Gap| gap.resource == name && gap.namespace.as_deref().is_none_or(|of| namespace == Some(of));
        self.snapshot.gaps.iter().find(in_scope).map(|gap| gap.reason.to_string())
    }

    fn covers(&self, resource: ResourceId, namespace: Option<&str>) -> bool {
        let symbol = match namespace {
            Some(namespace) => self.snapshot.strings.find(namespace),
            None if !self.snapshot.resources.get(resource).namespaced => Some(Symbol::EMPTY),
            None => None,
        };
        self.snapshot.covers(resource, symbol)
    }

    fn missing(&self, wanted: &NamedTarget, namespace: Option<&str>, why: Option<Why>) -> TargetError {
        let resource = self.resource_name(wanted.resource);
        let why = why.unwrap_or_else(|| self.why(wanted.resource, &resource, namespace));
        let elsewhere = self.namespaces(self.of_name(wanted));
        let hint = match namespace {
            Some(_) if !elsewhere.is_empty() => Hint::Elsewhere(elsewhere),
            Some(namespace) if self.no_namespace(namespace) => Hint::NoNamespace,
            _ => self.similar(wanted, namespace),
        };
        let (name, namespace, place) = (wanted.name.clone(), namespace.map(str::to_owned), wanted.place.clone());
        TargetError::Missing(Box::new(Missing { resource, name, namespace, place, why, hint }))
    }

    fn why(&self, resource: ResourceId, name: &str, namespace: Option<&str>) -> Why {
        if self.covers(resource, namespace) {
            return Why::Absent;
        }
        if let Some(reason) = self.failure(resource, namespace) {
            return Why::Unread(reason);
        }
        if matches!(self.snapshot.origin, Origin::Dump { .. }) {
            // A dump proves absence only for kinds and scopes of which it contains objects.
            let held =
                |object: &Object| namespace.is_none_or(|namespace| self.snapshot.text(object.namespace) == namespace);
            let some = self.of_resource(resource).any(|(_, object)| held(object));
            return if some { Why::Absent } else { Why::NotInDump };
        }
        let gap = self.snapshot.gaps.iter().find(|gap| gap.resource == name);
        Why::Unread(gap.map_or("it was not read".to_owned(), |gap| gap.reason.to_string()))
    }

    fn similar(&self, wanted: &NamedTarget, namespace: Option<&str>) -> Hint {
        let in_scope =
            |object: &&Object| namespace.is_none_or(|namespace| self.snapshot.text(object.namespace) == namespace);
        let objects = self.of_resource(wanted.resource).map(|(_, object)| object).filter(in_scope);
        let names = objects.map(|object| self.snapshot.text(object.name)).map(|name| (name, name));
        let near: Vec<String> = nearest(&wanted.name, names).into_iter().map(str::to_owned).collect();
        if near.is_empty() { Hint::Nothing } else { Hint::Similar(near) }
    }

    fn nothing_there(
        &self,
        namespace: &str,
        types: &[SelectedType],
        selection: &Selection,
        answers: &[(ResourceId, Vec<String>)],
    ) -> Result<Hint, TargetError> {
        let mut elsewhere = Vec::new();
        for selected in types.iter().filter(|selected| self.scope(selected.resource).is_some()) {
            elsewhere.extend(self.matching(selected.resource, selection, answers)?);
        }
        let elsewhere = self.namespaces(elsewhere);
        Ok(if !elsewhere.is_empty() {
            Hint::Elsewhere(elsewhere)
        } else if self.no_namespace(namespace) {
            Hint::NoNamespace
        } else {
            Hint::Nothing
        })
    }

    /// Whether the namespace verifiably doesn't exist.
    fn no_namespace(&self, namespace: &str) -> bool {
        let Some(namespaces) = self.snapshot.resources.by_group_kind("", "Namespace") else { return false };
        let name = self.snapshot.strings.find(namespace);
        let coordinate = name.map(|name| Coordinate { resource: namespaces, namespace: Symbol::EMPTY, name });
        match coordinate.map(|coordinate| self.snapshot.look_up(coordinate)) {
            Some(presence) => presence == Presence::Absent,
            None => self.covers(namespaces, None),
        }
    }

    fn namespaces(&self, objects: Vec<ObjectId>) -> Vec<String> {
        let names: BTreeSet<&str> = objects.into_iter().map(|id| self.snapshot.namespace(id)).collect();
        names.into_iter().map(str::to_owned).collect()
    }

    fn resource_name(&self, resource: ResourceId) -> String {
        self.snapshot.resources.get(resource).full_name()
    }
}

impl Selection {
    /// As flags.
    pub(super) fn flags(&self) -> String {
        let labels = self.labels.as_ref().map(|labels| format!("-l {}", quoted(&labels.to_string())));
        let fields = self.fields.as_ref().map(|fields| format!("--field-selector {}", quoted(&fields.to_string())));
        labels.into_iter().chain(fields).collect::<Vec<_>>().join(" ")
    }
}

fn quoted(text: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=,".contains(char);
    if text.chars().all(plain) { text.to_owned() } else { format!("'{text}'") }
}

/// One `--keep`, with its types resolved:
///
/// ```text
/// pod/a  pod/a,cm/b  pod a b     these objects
/// pods   pods,cm                 all dependents of these types
/// pods -l app=web                the same, with these labels
/// -l app=web  app=web            all dependents with these labels
/// ```
#[derive(Clone, Debug)]
pub struct KeepQuery {
    /// As typed.
    pub text: String,
    objects: TypedQuery,
    types: Vec<SelectedType>,
    /// For all types, if none is given.
    labels: Option<LabelSelector>,
}

/// The objects that a [`KeepQuery`] selects, whether the delete would remove them or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeepTargets {
    /// Objects given by name.
    pub named: Vec<ObjectId>,
    /// Objects given by type or labels.
    pub described: Vec<ObjectId>,
    /// Whether a dump need not contain all objects of these types.
    pub unread: bool,
}

impl KeepQuery {
    /// The resources of the objects to keep; none if labels alone select them.
    pub fn resources(&self) -> Vec<ResourceId> {
        self.objects.resources().chain(self.types.iter().map(|selected| selected.resource)).collect()
    }

    ///
    /// Text in none of these forms, or a type that isn't served.
    pub fn parse(text: &str, resources: &Resources) -> Result<Self, TargetError> {
        let empty = || TargetError::empty_type(text);
        let trimmed = text.trim();
        let (first, rest) =
            trimmed.split_once(char::is_whitespace).map_or((trimmed, ""), |(first, rest)| (first, rest.trim()));
        let (mut objects, mut of_types, mut labels): (Vec<TypeName>, Vec<String>, Option<&str>) =
            (Vec::new(), Vec::new(), None);
        if trimmed.is_empty() {
            return Err(empty());
        } else if let Some(selector) = selector(trimmed) {
            labels = Some(selector);
        } else if let Some(selector) = selector(rest) {
            (of_types, labels) = (types(first)?, Some(selector));
        } else if trimmed.contains(['=', '!', '(']) {
            labels = Some(trimmed);
        } else if rest.is_empty() {
            for one in trimmed.split(',') {
                match one {
                    "" => return Err(empty()),
                    one if one.contains('/') => objects.push(type_and_name(one)?),
                    one => of_types.push(one.to_owned()),
                }
            }
        } else {
            let words: Vec<String> = trimmed.split_whitespace().map(str::to_owned).collect();
            objects = names(&words)?.unwrap_or_default();
        }
        let labels = match labels {
            Some("") => return Err(empty()),
            labels => labels.map(parse_labels).transpose()?,
        };
        let objects = TypedQuery::of_objects(objects.into_iter().map(|name| name.wanted(resources)))?;
        Ok(KeepQuery { text: text.to_owned(), objects, types: selected_types(&of_types, resources)?, labels })
    }

    /// See [`TypedQuery::unlisted`].
    pub fn unlisted(&self, snapshot: &mut Snapshot, choice: &NamespaceChoice) -> Vec<Coordinate> {
        self.objects.unlisted(snapshot, choice)
    }

    /// The selected objects. `choice` gives the namespace of named objects; objects given by type or labels may be in
    /// any namespace, as may the dependents of a delete.
    ///
    /// # Errors
    /// A named object that doesn't exist, or a type that could not be read: unknown objects can't be kept.
    pub fn resolve(
        &self,
        snapshot: &Snapshot,
        choice: &NamespaceChoice,
        within: Option<&str>,
    ) -> Result<KeepTargets, TargetError> {
        let named = self.objects.resolve(snapshot, choice, &[])?;
        let everywhere = Search { snapshot, choice: &NamespaceChoice::All };
        let selection = Selection { labels: self.labels.clone(), fields: None };
        let mut described = Vec::new();
        let namespace = within.and_then(|within| snapshot.strings.find(within));
        let unread = snapshot.is_dump() && self.types.iter().any(|of| !snapshot.covers(of.resource, namespace));
        for SelectedType { resource, of_category } in &self.types {
            let within = within.filter(|_| snapshot.resources.get(*resource).namespaced);
            if let Some(reason) = everywhere.failure(*resource, within).filter(|_| !of_category) {
                return Err(TargetError::unread(&everywhere.resource_name(*resource), within, &reason));
            }
            described.extend(everywhere.matching(*resource, &selection, &[])?);
        }
        if self.types.is_empty() && self.labels.is_some() {
            described.extend(
                snapshot.objects().filter(|(_, object)| everywhere.matches(object, &selection)).map(|(id, _)| id),
            );
        }
        let mut seen: FxHashSet<ObjectId> = named.iter().copied().collect();
        described.retain(|object| seen.insert(*object));
        Ok(KeepTargets { named, described, unread })
    }
}

/// The selector after `-l` or `--selector`, with or without `=` or a space.
fn selector(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("--selector").or_else(|| text.strip_prefix("-l"))?;
    Some(rest.trim_start().strip_prefix('=').unwrap_or(rest).trim())
}
