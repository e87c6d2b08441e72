//! Taking in what watches tell.

use crate::model::{Coordinate, ObjectEvent, ObjectId, RawObject, RecheckResult, Symbol};

use super::Snapshot;

impl Snapshot {
    /// Takes in what watches have told, in that order, and says whether anything that is kept was news
    /// ([`Snapshot::is_still`]). What is older than what is known already, because somebody asked for the object
    /// meanwhile, is left aside.
    ///
    /// * What changed keeps its id, and of what was known beyond its metadata only what can't have changed.
    /// * What is new comes after all others.
    /// * What is gone is taken out and confirmed absent, what was replaced gives its id to its successor. **Ids of
    ///   other objects change** where anything is gone.
    ///
    /// The cost is that of what is told, and where something is gone or replaced, once that of the snapshot.
    pub fn apply_events(&mut self, seen: impl IntoIterator<Item = ObjectEvent>) -> bool {
        let mut news = false;
        let mut moved: Vec<(ObjectId, RecheckResult)> = Vec::new();
        for ObjectEvent { resource, object: raw, gone } in seen {
            let coordinate = Coordinate {
                resource: self.resources.picked(resource),
                namespace: self.strings.intern(&raw.namespace),
                name: self.strings.intern(&raw.name),
            };
            let Some(id) = self.by_coordinate.get(&coordinate).copied() else {
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
            if is_older(&raw.resource_version, self.text(known.resource_version)) {
                continue;
            }
            match (same, gone) {
                (true, true) => moved.push((id, RecheckResult::Gone)),
                // Its successor is known already.
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

    /// Whether something that was seen is not what is known, and not older than that.
    pub fn is_news(&self, seen: &ObjectEvent) -> bool {
        let find = |text: &str| -> Option<Symbol> { self.strings.find(text) };
        let place = find(&seen.object.namespace).zip(find(&seen.object.name));
        let coordinate = place.map(|(namespace, name)| Coordinate {
            resource: self.resources.picked(seen.resource),
            namespace,
            name,
        });
        let Some(known) = coordinate.and_then(|coordinate| self.by_coordinate.get(&coordinate).copied()) else {
            return !seen.gone;
        };
        let object = self.object(known);
        let same = self.text(object.uid) == seen.object.uid;
        let older = is_older(&seen.object.resource_version, self.text(object.resource_version));
        !older && if seen.gone { same } else { !self.is_still(known, &seen.object) }
    }

    /// The object that was seen, by its place and its uid; none where it isn't known.
    pub fn find(&self, sighting: &ObjectEvent) -> Option<ObjectId> {
        let find = |text: &str| -> Option<Symbol> { self.strings.find(text) };
        let coordinate = Coordinate {
            resource: self.resources.picked(sighting.resource),
            namespace: find(&sighting.object.namespace)?,
            name: find(&sighting.object.name)?,
        };
        let known = self.by_coordinate.get(&coordinate).copied();
        known.filter(|id| self.text(self.object(*id).uid) == sighting.object.uid)
    }

    fn change(&mut self, id: ObjectId, coordinate: Coordinate, raw: &RawObject<'_>) {
        self.objects[id.index()] = self.intern(coordinate, raw);
        // The node and the claims of a pod that runs stay, and its phase plays no part any more once it is on its way
        // out.
        let lasts = raw.deleted.is_some() && self.facts.pod(id).is_some_and(|pod| pod.node.is_some());
        if !lasts {
            self.facts.remove(id);
        }
    }
}

/// Whether a resourceVersion is older than another of the same resource. They are decimal numbers; of anything else
/// nothing is said.
fn is_older(version: &str, known: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    number(version) && number(known) && (version.len(), version) < (known.len(), known)
}
