//! The affected objects: a few are named, many are counted by kind; wide output has them all.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet},
};

use crate::render::{
    lines::Line,
    sections::Said,
    style::Tone,
    words::{count_kinds, plural},
};
use gc_core::{
    doctor::Finding,
    model::{ObjectId, Resource, ResourceId, Symbol},
    wording::{count, thousands},
};

use super::DoctorView;

/// Up to this many objects are all named. If there are more, the first ones are named as examples.
pub(super) const NAMED: usize = 3;
/// Up to this many kinds are counted separately.
const KINDS: usize = 6;

impl DoctorView<'_> {
    /// The affected objects in a few words: `Secret/key and Secret/lock -n shop`, or `37 Buckets (s3.example.org) in 2
    /// namespaces`.
    pub(super) fn subject(&self, objects: &[ObjectId]) -> String {
        if objects.len() <= NAMED {
            return self.named(objects, "");
        }
        format!("{}{}", self.kinds(objects), self.place(objects))
    }

    /// The first few names, if there are too many to name all.
    pub(super) fn examples(&self, objects: &[ObjectId]) -> Option<String> {
        let more = objects.len().checked_sub(NAMED).filter(|more| *more > 0)?;
        Some(self.named(&objects[..NAMED], &format!("{} more", thousands(more))))
    }

    /// The names, comma-separated. A common namespace is printed once, and not at all if it is the one in view.
    fn named(&self, objects: &[ObjectId], more: &str) -> String {
        let together = self.namespaces(objects).len() == 1;
        let name = |id: &ObjectId| {
            let name = self.snapshot.short_name(*id);
            if together { name } else { format!("{name}{}", self.place(&[*id])) }
        };
        let mut names: Vec<String> = objects.iter().map(name).collect();
        if let Some(last) = names.last_mut().filter(|_| together) {
            last.push_str(&self.place(objects));
        }
        names.extend((!more.is_empty()).then(|| more.to_owned()));
        listed(&names)
    }

    /// How many objects of which kinds these are.
    pub(super) fn kinds(&self, objects: &[ObjectId]) -> String {
        let mut kinds: Vec<_> = count_kinds(self.snapshot, objects.iter().copied()).into_iter().collect();
        kinds.sort_by_key(|(resource, number)| (Reverse(*number), *resource));
        let describe = if kinds.len() > KINDS { KINDS - 1 } else { kinds.len() };
        let kind = |(resource, number): &(_, usize)| {
            let resource = self.snapshot.resources.get(*resource);
            format!("{} {}{}", thousands(*number), plural(resource, *number), group(resource))
        };
        let mut words: Vec<String> = kinds[..describe].iter().map(kind).collect();
        let others: usize = kinds[describe..].iter().map(|(_, number)| number).sum();
        words.extend((others > 0).then(|| format!("{} of {} other kinds", thousands(others), kinds.len() - describe)));
        listed(&words)
    }

    /// ` -n shop`, or ` in 3 namespaces`; empty for cluster-scoped objects and for the namespace in view.
    pub(super) fn place(&self, objects: &[ObjectId]) -> String {
        let namespaces = self.namespaces(objects);
        match (namespaces.len(), namespaces.first().map(|namespace| self.snapshot.text(*namespace))) {
            (1, Some(namespace)) if namespace.is_empty() || self.namespace == Some(namespace) => String::new(),
            (1, Some(namespace)) => format!(" -n {namespace}"),
            _ => {
                let real = namespaces.iter().filter(|namespace| !namespace.is_empty()).count();
                format!(" in {}", count(real, "namespace", "namespaces"))
            }
        }
    }

    /// The affected objects by kind and namespace, one per line, then the related ones, and the references.
    pub(super) fn details(&self, finding: &Finding) -> Vec<Said> {
        let text = |symbol| self.snapshot.text(symbol);
        let flag = |name: &str, value: Option<bool>| value.map(|value| format!("{name}: {value}"));
        let references = finding.references.iter().map(|reference| {
            let (version, kind, name) = (text(reference.api_version), text(reference.kind), text(reference.name));
            let flags =
                [flag("controller", reference.controller), flag("blockOwnerDeletion", reference.block_owner_deletion)];
            let line = Line::new(&format!("{version} {kind}/{name}")).remarked(Tone::Plain, [text(reference.uid)]);
            line.remarked(Tone::Plain, flags.into_iter().flatten())
        });
        let title = if finding.references.len() == 1 { "reference:" } else { "references:" };
        let references = Said::Lines(title.to_owned(), references.collect());
        let mut said = self.by_kind("", &finding.objects);
        said.extend(self.by_kind("related: ", &finding.related));
        said.extend((!finding.references.is_empty()).then_some(references));
        said
    }

    fn by_kind(&self, label: &str, objects: &[ObjectId]) -> Vec<Said> {
        let mut groups: BTreeMap<(ResourceId, Symbol), Vec<ObjectId>> = BTreeMap::new();
        for id in objects {
            let object = self.snapshot.object(*id);
            groups.entry((object.resource, object.namespace)).or_default().push(*id);
        }
        let said = |((resource, _), ids): ((ResourceId, Symbol), Vec<ObjectId>)| {
            let resource = self.snapshot.resources.get(resource);
            let kind = plural(resource, ids.len());
            let (version, place) = (resource.api_version(), self.place(&ids));
            let line = |id: &ObjectId| {
                let object = self.snapshot.object(*id);
                Line::new(self.snapshot.text(object.name)).remarked(Tone::Plain, [self.snapshot.text(object.uid)])
            };
            let title = format!("{label}{} {kind} ({version}){place}:", thousands(ids.len()));
            Said::Lines(title, ids.iter().map(line).collect())
        };
        groups.into_iter().map(said).collect()
    }

    fn namespaces(&self, objects: &[ObjectId]) -> BTreeSet<Symbol> {
        objects.iter().map(|id| self.snapshot.object(*id).namespace).collect()
    }
}

/// The API group in parentheses, if it is not one of Kubernetes' own.
fn group(resource: &Resource) -> String {
    let own = !resource.group.contains('.') || resource.group.ends_with(".k8s.io");
    if own { String::new() } else { format!(" ({})", resource.group) }
}

/// `a`, `a and b`, `a, b and c`.
pub(super) fn listed(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}
