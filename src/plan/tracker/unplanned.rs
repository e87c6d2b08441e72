//! What goes while a plan is carried out, and was not in it.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::model::{Identity, ObjectEvent, ObjectId, Snapshot, Symbol};

use super::PlanTracker;

/// An object that the plan doesn't name, and that has to do with what it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnplannedObject {
    pub object: Identity,
    /// Created after the plan was made, which could not know of it. One that was there before is a surprise.
    pub new: bool,
    /// Marked for deletion.
    pub terminating: bool,
    pub gone: bool,
    /// What it has to do with the plan.
    pub because: Relation,
}

/// What connects an object with a plan that doesn't name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It names this one as its owner, which goes, or goes with what goes.
    Owner(Identity),
    /// It is in a namespace that goes.
    Namespace,
    /// It is of a kind whose definition goes.
    Definition,
}

/// Objects that the plan doesn't name.
#[derive(Clone, Debug, Default)]
pub(super) struct UnplannedObjects {
    /// Those that have to do with it, in the order in which they were seen.
    related: Vec<UnplannedObject>,
    by_uid: FxHashMap<Symbol, usize>,
    /// Everything that was created since the plan was made.
    new: FxHashSet<Symbol>,
    /// What has been seen gone: that it is told again is no news.
    past: FxHashSet<Symbol>,
    /// How many went, or were marked, that have nothing to do with it.
    unrelated: usize,
}

impl PlanTracker {
    /// What went meanwhile, was marked for deletion, or came into being to go with the rest, and is not in the plan.
    pub fn outside(&self) -> impl Iterator<Item = &UnplannedObject> {
        self.bystanders.related.iter().filter(|one| one.gone || one.terminating || one.new)
    }

    /// How many objects went or were marked for deletion meanwhile that have nothing to do with the plan. Clusters do
    /// such things.
    pub fn unrelated(&self) -> usize {
        self.bystanders.unrelated
    }

    /// Something that the plan doesn't name was seen. Says whether it has to do with it and has moved.
    pub(super) fn see_bystander(&mut self, snapshot: &Snapshot, seen: &ObjectEvent) -> bool {
        let known = snapshot.find(seen);
        let uid = self.strings.intern(&seen.object.uid);
        if known.is_none() && !seen.gone {
            self.bystanders.new.insert(uid);
        }
        let terminating = seen.object.deleted.is_some();
        if let Some(place) = self.bystanders.by_uid.get(&uid) {
            let outside = &mut self.bystanders.related[*place];
            let moved = !outside.gone && (seen.gone || outside.terminating != terminating);
            (outside.gone, outside.terminating) = (outside.gone || seen.gone, terminating);
            return moved;
        }
        // Whoever comes and goes between two looks is only seen gone.
        let came_and_went = known.is_none() && seen.gone && !self.bystanders.past.contains(&uid);
        let new = came_and_went || self.bystanders.new.contains(&uid);
        // What was on its way out before is on its own way.
        let before = known.is_some_and(|id| snapshot.object(id).terminating());
        if seen.gone {
            self.bystanders.past.insert(uid);
        }
        if (before && !new) || (known.is_none() && seen.gone && !came_and_went) {
            return false;
        }
        let goes = seen.gone || terminating;
        match self.relation(snapshot, seen) {
            Some(because) if goes || new => {
                let object = Identity::of_seen(&snapshot.resources, seen);
                self.bystanders.by_uid.insert(uid, self.bystanders.related.len());
                self.bystanders.related.push(UnplannedObject { object, new, terminating, gone: seen.gone, because });
                true
            }
            None if goes && (seen.gone || known.is_some()) => {
                self.bystanders.unrelated += usize::from(seen.gone);
                false
            }
            _ => false,
        }
    }

    /// What an object has to do with the plan.
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

    /// Namespaces and definitions that go.
    fn containers(&self) -> impl Iterator<Item = &Identity> {
        self.containers
            .iter()
            .map(|place| &self.objects[*place])
            .filter(|followed| followed.may_go())
            .map(|followed| &followed.identity)
    }

    /// The object of a uid, if it goes, or may.
    fn going(&self, uid: Symbol) -> Option<&Identity> {
        let named = self.by_uid.get(&uid).map(|place| &self.objects[*place]).filter(|followed| followed.may_go());
        let outside = || self.bystanders.by_uid.get(&uid).map(|place| &self.bystanders.related[*place]);
        named.map(|followed| &followed.identity).or_else(|| outside().map(|outside| &outside.object))
    }

    /// Those that have to do with the plan and are there, as far as the snapshot knows.
    pub(super) fn company(&self, snapshot: &Snapshot) -> Vec<ObjectId> {
        let there = self.bystanders.related.iter().filter(|one| !one.gone);
        there.filter_map(|one| snapshot.by_uid(snapshot.strings.find(&one.object.uid)?)).collect()
    }
}

impl super::TrackedObject {
    /// Whether others are in it: a Namespace, or a definition.
    pub(super) fn contains_others(&self) -> bool {
        let names = (self.identity.api_version.as_str(), self.identity.kind.as_str());
        names == ("v1", "Namespace")
            || (names.1 == "CustomResourceDefinition" && names.0.starts_with("apiextensions.k8s.io/"))
    }

    /// Whether it goes, or is on its way out, now or in an end that was foretold.
    fn may_go(&self) -> bool {
        let going = |end: &super::FinalState| end.as_ref().is_none_or(|after| after.terminating);
        going(&self.now) || self.ends.iter().any(|(_, end)| going(end))
    }
}
