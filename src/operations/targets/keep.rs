//! `--keep`: which dependents survive, as typed.
//!
//! ```text
//! pod/a  pod/a,cm/b  pod a b     these objects
//! pods   pods,cm                 all dependents of these types
//! pods -l app=web                the same, with these labels
//! -l app=web  app=web            all dependents with these labels
//! ```

use rustc_hash::FxHashSet;

use gc_core::model::{Coordinate, ObjectId, ResourceId, Resources, Snapshot};

use super::{
    LabelSelector, NamespaceChoice, SelectedType, Selection, TargetError, TypeName, TypedQuery, names, resolve::Search,
    selected_types, type_and_name, types,
};

/// One `--keep`, with its types resolved.
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
        let empty = || TargetError::EmptyType { target: text.to_owned() };
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
            labels => labels.map(LabelSelector::parse).transpose()?,
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
                return Err(TargetError::Unread {
                    resource: snapshot.resources.get(*resource).full_name(),
                    namespace: within.map(str::to_owned),
                    reason,
                });
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
