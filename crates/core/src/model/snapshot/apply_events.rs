//! Applies watch events to a snapshot.

use crate::model::{Coordinate, ObjectEvent, ObjectId, RawObject, RecheckResult, Symbol, is_older};

use super::Snapshot;

impl Snapshot {
    /// Applies watch events in order. Returns whether anything in the snapshot changed ([`Snapshot::is_still`]).
    /// Ignores events that are older than what is known from another read.
    ///
    /// * A changed object keeps its id, and those of its facts that can't have changed.
    /// * A new object is added at the end.
    /// * A removed object is confirmed absent; a replaced one gives its id to its successor. **Ids of other objects
    ///   change** if anything was removed.
    ///
    /// The cost is linear in the events, plus once in the snapshot if something was removed or replaced.
    pub fn apply_events(&mut self, seen: impl IntoIterator<Item = ObjectEvent>) -> bool {
        let mut news = false;
        let mut moved: Vec<(ObjectId, RecheckResult)> = Vec::new();
        for ObjectEvent { resource, object: raw, gone } in seen {
            let coordinate = Coordinate {
                resource: self.resources.picked(resource),
                namespace: self.strings.intern(&raw.namespace),
                name: self.strings.intern(&raw.name),
            };
            let Some(id) = self.at(coordinate) else {
                if !gone {
                    self.unanswered.remove(&coordinate);
                    self.confirmed_absent.remove(&coordinate);
                    self.add(resource, &raw);
                    news = true;
                }
                continue;
            };
            let known = self.object(id);
            let same = self.text(known.uid) == raw.uid;
            if is_older(&raw.resource_version, &known.resource_version.text(&self.strings)) {
                continue;
            }
            match (same, gone) {
                (true, true) => moved.push((id, RecheckResult::Gone)),
                // The snapshot already contains its successor.
                (false, true) => continue,
                (true, false) => {
                    self.unanswered.remove(&coordinate);
                    if self.is_still(id, &raw) {
                        continue;
                    }
                    self.change(id, coordinate, &raw);
                }
                (false, false) => {
                    self.objects[id.index()] = self.intern(coordinate, &raw);
                    self.facts.remove(id);
                    moved.push((id, RecheckResult::Same));
                }
            }
            news = true;
        }
        if !moved.is_empty() {
            self.update(moved);
        }
        news
    }

    /// Whether an event is newer than the snapshot and differs from it.
    pub fn is_news(&self, seen: &ObjectEvent) -> bool {
        let find = |text: &str| -> Option<Symbol> { self.strings.find(text) };
        let place = find(&seen.object.namespace).zip(find(&seen.object.name));
        let coordinate = place.map(|(namespace, name)| Coordinate {
            resource: self.resources.picked(seen.resource),
            namespace,
            name,
        });
        let Some(known) = coordinate.and_then(|coordinate| self.at(coordinate)) else {
            return !seen.gone;
        };
        let object = self.object(known);
        let same = self.text(object.uid) == seen.object.uid;
        let older = is_older(&seen.object.resource_version, &object.resource_version.text(&self.strings));
        !older && if seen.gone { same } else { !self.is_still(known, &seen.object) }
    }

    /// The object of an event, by coordinate and uid.
    pub fn find(&self, event: &ObjectEvent) -> Option<ObjectId> {
        let find = |text: &str| -> Option<Symbol> { self.strings.find(text) };
        let coordinate = Coordinate {
            resource: self.resources.picked(event.resource),
            namespace: find(&event.object.namespace)?,
            name: find(&event.object.name)?,
        };
        let known = self.at(coordinate);
        known.filter(|id| self.text(self.object(*id).uid) == event.object.uid)
    }

    fn change(&mut self, id: ObjectId, coordinate: Coordinate, raw: &RawObject<'_>) {
        self.objects[id.index()] = self.intern(coordinate, raw);
        // A scheduled pod's node and claims never change, and its phase doesn't matter once it is terminating.
        let facts_stay_valid = raw.deleted.is_some() && self.facts.pod(id).is_some_and(|pod| pod.node.is_some());
        if !facts_stay_valid {
            self.facts.remove(id);
        }
    }
}
