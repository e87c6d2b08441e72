//! Deletes that reach further than owner references: a namespace's content (§9.4) and a definition's instances (R1.26).
//!
//! Neither happens at once: objects are deleted one after the other while the collector works beside, and what becomes
//! of those that stay may depend on who was first. [`ContentOrder`] says in which order, and how fast the collector is.

use std::{cmp::Reverse, collections::VecDeque};

use crate::{
    model::{ObjectId, ResourceId, Symbol},
    server::{DeleteOptions, OwnDelete, Patch, Propagation},
    simulate::{
        cause::Cause,
        world::{SimContext, World},
    },
};

use super::{Assumption, Turn};

/// The storage of these overlaps with that of built-in kinds, so the clean-up of a definition leaves their instances
/// alone (R1.26).
const OVERLAPPING: [(&str, &str); 2] =
    [("apiregistration.k8s.io", "apiservices"), ("apiextensions.k8s.io", "customresourcedefinitions")];

/// In which order content is deleted. The namespace controller goes through resources as they come out of a map of
/// Go's, another way each time, and each resource's objects are deleted one by one while the collector sees the first
/// of them go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContentOrder(u64);

/// How far the collector lets content go before it has done what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pace {
    /// One resource of one namespace.
    Resource,
    Object,
    Everything,
}

impl ContentOrder {
    /// The order with this number; 0 is the one that is played first.
    pub fn new(number: u64) -> Self {
        ContentOrder(number)
    }

    fn pace(self) -> Pace {
        match self.0 % 3 {
            0 => Pace::Resource,
            1 => Pace::Object,
            _ => Pace::Everything,
        }
    }

    /// Resources are deleted by this number. The first two orders are the snapshot's and its reverse.
    fn place(self, resource: ResourceId) -> (u64, Reverse<u32>, u32) {
        match self.0 / 3 {
            0 => (0, Reverse(0), resource.0),
            1 => (0, Reverse(resource.0), 0),
            shuffle => (mixed(shuffle << 32 | u64::from(resource.0)), Reverse(0), resource.0),
        }
    }
}

impl SimContext<'_> {
    /// Whether a definition's instances can't be read because of its conversion webhook. Then the clean-up can't read
    /// them either, and it deletes nothing.
    pub(crate) fn conversion_fails(&self, definition: ObjectId) -> bool {
        self.instances(definition).is_some_and(|resource| self.snapshot.fails_to_convert(resource))
    }
}

/// A number that looks like any other (the end of `SplitMix64`).
fn mixed(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

impl World<'_, '_> {
    /// The same world, in which content is deleted in another order.
    pub(crate) fn with_content_order(&self, order: ContentOrder) -> Self {
        let mut world = self.clone();
        world.actors.content_order = order;
        world
    }

    /// The namespace controller: pods first, then all the rest, then the namespace itself (R9.9–R9.12).
    pub(super) fn clear_namespace(&mut self, object: ObjectId) -> Turn {
        let stage = self.stage;
        let is_terminating = self.stored(object).is_some_and(|stored| stored.terminating);
        if stage.rules(object).own_delete != OwnDelete::Namespace || !is_terminating || !self.held_by_spec(object) {
            return Turn::Done;
        }
        if self.finalized_namespaces.contains(&object) {
            return Turn::Done;
        }
        if stage.snapshot.facts.namespace(object).is_none() {
            self.needs.facts.insert(object);
        }
        self.assumptions.insert(Assumption::NamespaceController);
        let content = |world: &Self| -> Vec<ObjectId> {
            let has_delete =
                |id: &ObjectId| stage.snapshot.resources.get(stage.snapshot.object(*id).resource).has_verb("delete");
            let all = stage.in_namespace(stage.snapshot.object(object).name).iter().copied();
            all.filter(|id| world.exists(*id)).filter(has_delete).collect()
        };
        if !self.actors.content.contains_key(&object) {
            let mut pass = content(self);
            // R9.10: while any pod is left, the rest is not even tried.
            if pass.iter().any(|id| stage.rules(*id).graceful) {
                pass.retain(|id| stage.rules(*id).graceful);
            }
            let order = self.actors.content_order;
            pass.sort_by_cached_key(|id| order.place(stage.snapshot.object(*id).resource));
            self.actors.content.insert(object, pass.into());
        }
        let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
        if self.delete_content(object, &options, Cause::Namespace(object)) {
            return Turn::GoesOn;
        }
        // R9.11: while anything can't be read, nobody knows whether there is content of it.
        if content(self).is_empty() && stage.snapshot.unreadable_by_all().next().is_none() {
            self.finalize_namespace(object);
            return Turn::Done;
        }
        Turn::HasToWait
    }

    /// The API server's own clean-up: every instance is deleted without any options, then the finalizer goes.
    pub(super) fn clear_definition(&mut self, object: ObjectId) -> Turn {
        let stage = self.stage;
        let Some(stored) = self.stored(object) else { return Turn::Done };
        let clears = stage.rules(object).own_delete == OwnDelete::Definition
            && stored.terminating
            && stored.has_finalizer(Symbol::DEFINITION);
        if !clears {
            return Turn::Done;
        }
        let Some(facts) = stage.snapshot.facts.definition(object) else {
            self.needs.facts.insert(object);
            self.doubtful.insert(object);
            return Turn::Done;
        };
        // R1.26: instances of a definition that was never established are not looked for.
        let looks = facts.established && !OVERLAPPING.contains(&(facts.group.as_str(), facts.plural.as_str()));
        // Where no version is served, there may be instances all the same, and they are deleted.
        if looks && !stage.instances(object).is_some_and(|resource| stage.snapshot.covers(resource, None)) {
            self.doubtful.insert(object);
        }
        let fails = stage.conversion_fails(object);
        let instances = |world: &Self| -> Vec<ObjectId> {
            let resource = stage.instances(object).filter(|_| looks && !fails);
            let all = resource.map_or(&[][..], |resource| stage.of_resource(resource)).iter().copied();
            all.filter(|id| world.exists(*id)).collect()
        };
        if !self.actors.content.contains_key(&object) {
            let mut pass = instances(self);
            pass.sort_by_cached_key(|id| {
                let found = stage.snapshot.object(*id);
                (stage.snapshot.text(found.namespace), stage.snapshot.text(found.name))
            });
            self.actors.content.insert(object, pass.into());
        }
        if self.delete_content(object, &DeleteOptions::default(), Cause::Definition(object)) {
            return Turn::GoesOn;
        }
        if instances(self).is_empty() && !fails {
            let patch = Patch::RemoveFinalizer { finalizer: Symbol::DEFINITION, version: stored.version };
            self.patch(object, &patch, Cause::DefinitionEmpty);
            return Turn::Done;
        }
        Turn::HasToWait
    }

    /// Deletes as much of what a pass has left as the pace of [`ContentOrder`] allows. Says whether the pass goes on
    /// afterwards.
    fn delete_content(&mut self, above: ObjectId, options: &DeleteOptions, cause: Cause) -> bool {
        let stage = self.stage;
        let kind_of = |id: ObjectId| (stage.snapshot.object(id).resource, stage.snapshot.object(id).namespace);
        let mut pass: VecDeque<ObjectId> = self.actors.content.remove(&above).unwrap_or_default();
        let first = pass.front().copied().map(kind_of);
        let pace = self.actors.content_order.pace();
        while let Some(id) = pass.front().copied() {
            if pace == Pace::Resource && Some(kind_of(id)) != first {
                break;
            }
            pass.pop_front();
            self.delete(id, options, cause.clone());
            // What was terminating before, and so isn't changed, may have somebody who finishes it.
            self.actors.notice_once(id);
            if pace == Pace::Object {
                break;
            }
        }
        let goes_on = !pass.is_empty();
        if goes_on {
            self.actors.content.insert(above, pass);
            self.actors.notice(above);
        }
        goes_on
    }
}
