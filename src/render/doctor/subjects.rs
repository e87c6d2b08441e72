//! The affected objects: a few are named, many are counted by kind.

use std::{cmp::Reverse, collections::BTreeSet};

use crate::{
    model::{ObjectId, Resource, Symbol},
    render::words::{count_kinds, plural},
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
