//! Whether a controller handles an object at all: its arguments and environment may name namespaces or labels.

use crate::model::{
    ObjectId, Snapshot,
    effects::{AddOn, matches_pattern},
    facts::{LabelSelector, Limits},
};

use super::{index::Scope, workloads::name};

/// Whether a workload handles an object, as far as its facts tell.
pub(super) fn scope(snapshot: &Snapshot, workload: ObjectId, add_on: Option<&AddOn>, object: ObjectId) -> Scope {
    let Some(facts) = snapshot.facts.workload(workload) else { return Scope::Handles };
    let limits = facts.limits.as_deref();
    let called = || name(snapshot, workload);
    let namespace = snapshot.namespace(object);
    let own = snapshot.namespace(workload);
    let named = limits.into_iter().flat_map(|limits| &limits.namespaces);
    let mut named: Vec<&str> = named.map(|name| if name == Limits::OWN { own } else { name }).collect();
    named.extend(add_on.filter(|add_on| add_on.own_namespace).map(|_| own));
    let is_named = namespace.is_empty() || named.iter().any(|one| matches_pattern(one, namespace));
    let unread = limits.and_then(|limits| limits.unread.as_deref()).filter(|_| !is_named);
    if let Some(unread) = unread {
        return Scope::Perhaps(format!("{unread}, which was not read, says which namespaces {} handles", called()));
    }
    if !is_named && !named.is_empty() {
        named.dedup();
        let namespaces = if named.len() == 1 { "namespace" } else { "namespaces" };
        return Scope::LeavesOut(format!("{} handles {namespaces} {} only", called(), named.join(", ")));
    }
    let Some(selector) = limits.and_then(|limits| limits.selector.as_deref()) else { return Scope::Handles };
    let words = || format!("{} handles only objects with labels {selector}", called());
    match LabelSelector::parse(selector) {
        Err(_) => Scope::Perhaps(words()),
        Ok(selector) if selector.matches(|key| snapshot.label(object, key)) => Scope::Handles,
        Ok(_) => Scope::LeavesOut(words()),
    }
}
