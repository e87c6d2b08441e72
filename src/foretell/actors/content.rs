//! Deletes that reach further than owner references: a namespace's content (9.4) and a definition's instances (R1.26).

use crate::{
    foretell::{cause::Cause, world::World},
    model::{ObjectId, Symbol},
    server::{DeleteOptions, OwnDelete, Patch, Propagation},
};

use super::{Assumption, Turn};

impl World<'_, '_> {
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
        let content: Vec<ObjectId> = stage
            .in_namespace(stage.snapshot.object(object).name)
            .iter()
            .copied()
            .filter(|id| self.exists(*id) && stage.snapshot.resources.get(stage.snapshot.object(*id).resource).has_verb("delete"))
            .collect();
        let pods: Vec<ObjectId> = content.iter().copied().filter(|id| stage.rules(*id).graceful).collect();
        let first = if pods.is_empty() { &content } else { &pods };
        for id in first {
            let options = DeleteOptions { propagation: Some(Propagation::Background), ..DeleteOptions::default() };
            self.delete(*id, &options, Cause::Namespace(object));
            // What was terminating before, and so isn't changed, may have somebody who finishes it.
            self.actors.notice_once(*id);
        }
        if content.is_empty() {
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
        let resource = stage.snapshot.resources.by_group_kind(&facts.group, &facts.kind);
        // R1.26: instances of a definition that was never established are not looked for.
        let of_resource = resource.filter(|_| facts.established).map_or(&[][..], |resource| stage.of_resource(resource));
        let instances: Vec<ObjectId> = of_resource.iter().copied().filter(|id| self.exists(*id)).collect();
        if resource.is_some_and(|resource| facts.established && !stage.snapshot.covers(resource, None)) {
            self.doubtful.insert(object);
        }
        if instances.is_empty() {
            let patch = Patch::RemoveFinalizer { finalizer: Symbol::DEFINITION, version: stored.version };
            self.patch(object, &patch, Cause::DefinitionEmpty);
            return Turn::Done;
        }
        for id in instances {
            self.delete(id, &DeleteOptions::default(), Cause::Definition(object));
            self.actors.notice_once(id);
        }
        Turn::HasToWait
    }
}
