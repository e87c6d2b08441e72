//! Answers the collector's requests from the simulated store.

use crate::{
    collector::{Answer, Ask, Failure, Identity, Known, OwnerState},
    graph::{Address, Dangling, NodeId, Verdict},
    model::{Coordinate, ObjectId, Presence, Reference, ResourceId, Symbol},
    server::{Patch, PatchAnswer, kinds::protected},
};

use super::{cause::Cause, obstacles::Operation, world::World};

impl<'a> World<'_, 'a> {
    /// Executes a worker's request and returns the API server's answer. `namespace` is where the worker looks up the
    /// item.
    pub(super) fn answer(&mut self, node: NodeId, namespace: Symbol, ask: &Ask) -> Answer<'a> {
        let namespace = match self.context.graph.object(node) {
            Some(object) if self.collector.sweeps => self.context.snapshot.object(object).namespace,
            _ => namespace,
        };
        let write = match ask {
            Ask::Delete(..) => Some(Operation::Delete),
            Ask::Patch(..) => Some(Operation::Update),
            Ask::Item(_) | Ask::Owner(_) => None,
        };
        if let Some((operation, object)) = write.zip(self.context.graph.object(node))
            && self.exists(object)
            && self.refuses(object, operation)
        {
            return Answer::Failed(Failure::Refused);
        }
        match ask {
            Ask::Item(identity) => self.read_item(node, identity),
            Ask::Owner(reference) => Answer::Owner(OwnerState::of(self.verdict(reference, namespace))),
            Ask::Delete(options, reason) => match self.context.graph.object(node) {
                Some(object) if protected(self.context.snapshot, object).is_some() => Answer::Failed(Failure::Refused),
                Some(object) => self
                    .delete(object, options, Cause::Collector(reason.clone()))
                    .map_or(Answer::NotFound, Answer::Deleted),
                None => Answer::NotFound,
            },
            Ask::Patch(patch, reason) => match self.context.graph.object(node) {
                Some(object) if self.reads_wrong_namespace(object, namespace, patch) => {
                    Answer::Failed(Failure::Refused)
                }
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
    fn reads_wrong_namespace(&self, object: ObjectId, namespace: Symbol, patch: &Patch) -> bool {
        let replaces_references = matches!(patch, Patch::StripByUid(_) | Patch::SetOwners { .. });
        replaces_references
            && !self.context.rules(object).strategic_merge
            && self.context.snapshot.object(object).namespace != namespace
    }

    fn read_item(&mut self, node: NodeId, identity: &Identity) -> Answer<'a> {
        // A worker that began with a virtual node asks for that, even if an informer has shown the item meanwhile
        // (R3.4).
        let observed =
            || self.collector.node(node).known == Known::Observed && self.collector.identity(node) == Some(*identity);
        if let Some(object) = self.context.graph.object(node).filter(|_| observed()) {
            return self.stored(object).map_or(Answer::NotFound, Answer::Found);
        }
        match Address::of(self.context.snapshot, self.context.graph, &identity.as_reference(), identity.namespace) {
            Address::Unmappable | Address::DoubtedPath => Answer::Failed(Failure::Unmappable),
            Address::InvalidScope => Answer::Failed(Failure::InvalidScope),
            Address::Undiscovered => Answer::Failed(Failure::Unknown),
            Address::NoSuchPath => Answer::NotFound,
            Address::At(coordinate) => match self.look_up(coordinate) {
                Presence::Unknown => Answer::Failed(Failure::Unknown),
                Presence::Present(object) if self.context.snapshot.object(object).uid == identity.uid => {
                    self.stored(object).map_or(Answer::NotFound, Answer::Found)
                }
                Presence::Present(_) | Presence::Absent => Answer::NotFound,
            },
        }
    }

    /// What a dependent's owner reference resolves to now (§3.4).
    pub fn verdict(&mut self, reference: &Reference, namespace: Symbol) -> Verdict {
        let coordinate = match Address::of(self.context.snapshot, self.context.graph, reference, namespace).coordinate()
        {
            Ok(coordinate) => coordinate,
            Err(verdict) => return verdict,
        };
        match self.look_up(coordinate) {
            Presence::Unknown => Verdict::Unknown,
            Presence::Absent => {
                self.note_absence(coordinate);
                Verdict::Dangling(Dangling::Absent)
            }
            Presence::Present(owner) => match self.stored(owner) {
                None => Verdict::Dangling(Dangling::Absent),
                Some(stored) => {
                    let verdict = Verdict::on(self.context.snapshot, reference, owner, stored.waiting());
                    if matches!(verdict, Verdict::Dangling(_)) {
                        self.note_absence(coordinate);
                    }
                    verdict
                }
            },
        }
    }

    /// Notes that only a list says that an owner is absent.
    fn note_absence(&mut self, coordinate: Coordinate) {
        if !self.context.snapshot.was_looked_up(coordinate) {
            self.context.lacks(|needs| needs.absences.insert(coordinate));
        }
    }

    /// The object at a coordinate, as far as it was read. Notes the look-up as needed otherwise.
    fn look_up(&mut self, coordinate: Coordinate) -> Presence {
        let presence = self.context.snapshot.look_up(coordinate);
        if presence == Presence::Unknown {
            self.context.lacks(|needs| needs.look_ups.insert(coordinate));
        }
        presence
    }

    /// The object at a coordinate: `None` if unknown, `Some(None)` if absent.
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
