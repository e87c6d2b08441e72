//! Answers to what the collector asks, from the simulated store.

use crate::{
    collector::{Answer, Ask, Class, Failure, Identity, Known},
    graph::{Address, Dangling, NodeId, Verdict},
    model::{Coordinate, ObjectId, Presence, Reference, ResourceId, Symbol},
    server::{Patch, PatchAnswer, kinds::protected},
};

use super::{cause::Cause, world::World};

impl<'a> World<'_, 'a> {
    /// Does what a worker asked for and says what the API server answered. `namespace` is where the worker takes the
    /// item to be.
    pub(super) fn answer(&mut self, node: NodeId, namespace: Symbol, ask: &Ask) -> Answer<'a> {
        let namespace = match self.stage.graph.object(node) {
            Some(object) if self.knows_scopes => self.stage.snapshot.object(object).namespace,
            _ => namespace,
        };
        match ask {
            Ask::Item(identity) => self.read_item(node, identity),
            Ask::Owner(reference) => Answer::Owner(Class::of(self.verdict(reference, namespace))),
            Ask::Delete(options, reason) => match self.stage.graph.object(node) {
                Some(object) if protected(self.stage.snapshot, object).is_some() => Answer::Failed(Failure::Refused),
                Some(object) => self
                    .delete(object, options, Cause::Collector(reason.clone()))
                    .map_or(Answer::NotFound, Answer::Deleted),
                None => Answer::NotFound,
            },
            Ask::Patch(patch, reason) => match self.stage.graph.object(node) {
                Some(object) if self.reads_elsewhere(object, namespace, patch) => Answer::Failed(Failure::Refused),
                Some(object) => match self.patch(object, patch, Cause::Collector(reason.clone())) {
                    None => Answer::NotFound,
                    Some(PatchAnswer::Invalid) => Answer::Failed(Failure::Refused),
                    Some(answer) => Answer::Patched(answer),
                },
                None => Answer::NotFound,
            },
        }
    }

    /// Whether a patch fails because the collector reads the object in a namespace that it isn't in. It reads only what
    /// it can't merge strategically, and doesn't ask for the scope of the kind then (`getMetadata`).
    fn reads_elsewhere(&self, object: ObjectId, namespace: Symbol, patch: &Patch) -> bool {
        let replaces_references = matches!(patch, Patch::StripByUid(_) | Patch::SetOwners { .. });
        replaces_references
            && !self.stage.rules(object).strategic_merge
            && self.stage.snapshot.object(object).namespace != namespace
    }

    fn read_item(&mut self, node: NodeId, identity: &Identity) -> Answer<'a> {
        let observed = self.collector.node(node).known == Known::Observed;
        if let Some(object) = self.stage.graph.object(node).filter(|_| observed) {
            return self.stored(object).map_or(Answer::NotFound, Answer::Found);
        }
        match Address::of(self.stage.snapshot, self.stage.graph, &identity.as_reference(), identity.namespace) {
            Address::Unmappable | Address::DoubtedPath => Answer::Failed(Failure::Unmappable),
            Address::InvalidScope => Answer::Failed(Failure::InvalidScope),
            Address::Undiscovered => Answer::Failed(Failure::Unknown),
            Address::NoSuchPath => Answer::NotFound,
            Address::At(coordinate) => match self.look_up(coordinate) {
                Presence::Unknown => Answer::Failed(Failure::Unknown),
                Presence::Present(object) if self.stage.snapshot.object(object).uid == identity.uid => {
                    self.stored(object).map_or(Answer::NotFound, Answer::Found)
                }
                Presence::Present(_) | Presence::Absent => Answer::NotFound,
            },
        }
    }

    /// What a reference of a holder in `namespace` turns out to be at this moment (§3.4).
    pub fn verdict(&mut self, reference: &Reference, namespace: Symbol) -> Verdict {
        let coordinate = match Address::of(self.stage.snapshot, self.stage.graph, reference, namespace).coordinate() {
            Ok(coordinate) => coordinate,
            Err(verdict) => return verdict,
        };
        match self.look_up(coordinate) {
            Presence::Unknown => Verdict::Unknown,
            Presence::Absent => {
                self.rest_on_absence(coordinate);
                Verdict::Dangling(Dangling::Absent)
            }
            Presence::Present(owner) => match self.stored(owner) {
                None => Verdict::Dangling(Dangling::Absent),
                Some(stored) => {
                    let verdict = Verdict::on(self.stage.snapshot, reference, owner, stored.waiting());
                    if matches!(verdict, Verdict::Dangling(_)) {
                        self.rest_on_absence(coordinate);
                    }
                    verdict
                }
            },
        }
    }

    /// Notes that a list alone says that an owner isn't there.
    fn rest_on_absence(&mut self, coordinate: Coordinate) {
        if !self.stage.snapshot.was_looked_up(coordinate) {
            self.needs.absences.insert(coordinate);
        }
    }

    /// What is at a coordinate, as far as was read; what was not is noted as needed.
    fn look_up(&mut self, coordinate: Coordinate) -> Presence {
        let presence = self.stage.snapshot.look_up(coordinate);
        if presence == Presence::Unknown {
            self.needs.look_ups.insert(coordinate);
        }
        presence
    }

    /// The object at a coordinate of this kind, if it is known to be there or not.
    pub(super) fn find(
        &mut self,
        resource: Option<ResourceId>,
        namespace: Symbol,
        name: Symbol,
    ) -> Option<Option<ObjectId>> {
        match self.look_up(Coordinate { resource: resource?, namespace, name }) {
            Presence::Present(object) => Some(Some(object).filter(|object| self.exists(*object))),
            Presence::Absent => Some(None),
            Presence::Unknown => None,
        }
    }
}
