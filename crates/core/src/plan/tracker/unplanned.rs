//! Objects outside the plan that are removed while it is carried out.

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::model::{Identity, ObjectEvent, ObjectId, Snapshot, Symbol};

use super::PlanTracker;

/// An object outside the plan that is related to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnplannedObject {
    pub object: Identity,
    /// Created after the plan was made. If `false`, the plan should have contained it.
    pub new: bool,
    pub gone: bool,
    /// Marked for deletion.
    pub terminating: bool,
    /// How it is related to the plan.
    #[serde(flatten)]
    pub because: Relation,
}

/// How an object outside the plan is related to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "because", content = "owner", rename_all = "lowercase")]
pub enum Relation {
    /// This owner is removed.
    Owner(Identity),
    /// Its namespace is deleted.
    Namespace,
    /// Its CustomResourceDefinition is deleted.
    #[serde(rename = "crd")]
    Definition,
}

/// Objects outside the plan.
#[derive(Clone, Debug, Default)]
pub(super) struct UnplannedObjects {
    /// Related objects, in the order in which they were observed.
    related: Vec<UnplannedObject>,
    by_uid: FxHashMap<Symbol, usize>,
    /// Uids of everything created since the plan was made.
    new: FxHashSet<Symbol>,
    /// Uids observed as gone: a repeated event is no news.
    seen_gone: FxHashSet<Symbol>,
    /// How many unrelated objects were removed or marked.
    unrelated: usize,
}

impl PlanTracker {
    /// Related objects outside the plan that were removed, marked for deletion, or created meanwhile.
    pub fn outside(&self) -> impl Iterator<Item = &UnplannedObject> {
        self.unplanned.related.iter().filter(|unplanned| unplanned.gone || unplanned.terminating || unplanned.new)
    }

    /// How many unrelated objects were removed meanwhile.
    pub fn unrelated(&self) -> usize {
        self.unplanned.unrelated
    }

    /// Records an event of an object outside the plan. Returns whether the object is related and has changed.
    pub(super) fn observe_unplanned(&mut self, snapshot: &Snapshot, seen: &ObjectEvent) -> bool {
        let known = snapshot.find(seen);
        let uid = self.strings.intern(&seen.object.uid);
        if known.is_none() && !seen.gone {
            self.unplanned.new.insert(uid);
        }
        let terminating = seen.object.deleted.is_some();
        if let Some(index) = self.unplanned.by_uid.get(&uid) {
            let outside = &mut self.unplanned.related[*index];
            let moved = !outside.gone && (seen.gone || outside.terminating != terminating);
            (outside.gone, outside.terminating) = (outside.gone || seen.gone, terminating);
            return moved;
        }
        // An object created and removed between two events is only observed as gone.
        let came_and_went = known.is_none() && seen.gone && !self.unplanned.seen_gone.contains(&uid);
        let new = came_and_went || self.unplanned.new.contains(&uid);
        // An object that was terminating before the delete is not this delete's doing.
        let before = known.is_some_and(|id| snapshot.object(id).terminating());
        if seen.gone {
            self.unplanned.seen_gone.insert(uid);
        }
        if (before && !new) || (known.is_none() && seen.gone && !came_and_went) {
            return false;
        }
        let goes = seen.gone || terminating;
        match self.relation(snapshot, seen) {
            Some(because) if goes || new => {
                let object = Identity::of_seen(&snapshot.resources, seen);
                self.unplanned.by_uid.insert(uid, self.unplanned.related.len());
                self.unplanned.related.push(UnplannedObject { object, new, terminating, gone: seen.gone, because });
                true
            }
            None if goes && (seen.gone || known.is_some()) => {
                self.unplanned.unrelated += usize::from(seen.gone);
                false
            }
            _ => false,
        }
    }

    fn relation(&self, snapshot: &Snapshot, seen: &ObjectEvent) -> Option<Relation> {
        let owners = seen.object.owners.iter().filter_map(|owner| self.strings.find(&owner.uid));
        let mut owners = owners.filter_map(|uid| self.going(uid));
        if let Some(owner) = owners.next() {
            return Some(Relation::Owner(owner.clone()));
        }
        let goes = |kind: &str, name: &str| {
            let named =
                |identity: &Identity| identity.kind == kind && identity.name == name && identity.namespace.is_empty();
            self.containers().any(named)
        };
        if !seen.object.namespace.is_empty() && goes("Namespace", &seen.object.namespace) {
            return Some(Relation::Namespace);
        }
        let resource = snapshot.resources.get(seen.resource);
        let definition = format!("{}.{}", resource.plural, resource.group);
        goes("CustomResourceDefinition", &definition).then_some(Relation::Definition)
    }

    /// The deleted Namespaces and CustomResourceDefinitions.
    fn containers(&self) -> impl Iterator<Item = &Identity> {
        self.containers
            .iter()
            .map(|index| &self.objects[*index])
            .filter(|tracked| tracked.may_go())
            .map(|tracked| &tracked.identity)
    }

    /// The object with this uid, if it is or may be removed.
    fn going(&self, uid: Symbol) -> Option<&Identity> {
        let named = self.by_uid.get(&uid).map(|index| &self.objects[*index]).filter(|tracked| tracked.may_go());
        let outside = || self.unplanned.by_uid.get(&uid).map(|index| &self.unplanned.related[*index]);
        named.map(|tracked| &tracked.identity).or_else(|| outside().map(|outside| &outside.object))
    }

    /// Related objects that still exist in the snapshot.
    pub(super) fn related_objects(&self, snapshot: &Snapshot) -> Vec<ObjectId> {
        let there = self.unplanned.related.iter().filter(|unplanned| !unplanned.gone);
        there.filter_map(|unplanned| snapshot.by_uid(snapshot.strings.find(&unplanned.object.uid)?)).collect()
    }
}

impl super::TrackedObject {
    /// Whether it contains others: a Namespace or a CustomResourceDefinition.
    pub(super) fn contains_others(&self) -> bool {
        let names = (self.identity.api_version.as_str(), self.identity.kind.as_str());
        names == ("v1", "Namespace")
            || (names.1 == "CustomResourceDefinition" && names.0.starts_with("apiextensions.k8s.io/"))
    }

    /// Whether it is removed or terminating, now or in a predicted outcome.
    fn may_go(&self) -> bool {
        let going = |end: &super::FinalState| end.as_ref().is_none_or(|after| after.terminating);
        going(&self.now) || self.ends.iter().any(|(_, end)| going(end))
    }
}
