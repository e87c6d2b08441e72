//! Applies the results of reading objects again to a snapshot.

use rustc_hash::FxHashMap;

use crate::model::{Coordinate, Object, ObjectId, RawObject, RecheckResult, Symbol, gaps::Gaps};

use super::{Snapshot, index::Index};

impl Snapshot {
    /// Whether an object just read equals the one in the snapshot: uid and metadata, except the resourceVersion, which
    /// also changes with other fields.
    pub fn is_still(&self, object: ObjectId, raw: &RawObject<'_>) -> bool {
        let object = self.object(object);
        let is = |symbol: Symbol, text: &str| self.text(symbol) == text;
        let finalizers = object.finalizers.len() == raw.finalizers.len()
            && object.finalizers.iter().zip(&raw.finalizers).all(|(symbol, text)| is(*symbol, text));
        let owners = object.owners.len() == raw.owners.len()
            && object.owners.iter().zip(&raw.owners).all(|(kept, read)| {
                is(kept.uid, &read.uid)
                    && is(kept.name, &read.name)
                    && is(kept.kind, &read.kind)
                    && is(kept.api_version, &read.api_version)
                    && kept.controller == read.controller
                    && kept.block_owner_deletion == read.block_owner_deletion
            });
        is(object.uid, &raw.uid)
            && (object.created.get(), object.deleted.get(), object.grace.get()) == (raw.created, raw.deleted, raw.grace)
            && finalizers
            && owners
            && object.spared == raw.spared
            && is(object.tracked_by, &raw.tracked_by)
            && self.has_labels(object, raw)
    }

    /// Whether an object has these labels, in any order.
    fn has_labels(&self, object: &Object, raw: &RawObject<'_>) -> bool {
        let find = |text: &str| self.strings.find(text);
        let labels: Option<Vec<(Symbol, Symbol)>> =
            raw.labels.iter().map(|(key, value)| Some((find(key)?, find(value)?))).collect();
        labels.is_some_and(|mut labels| {
            labels.sort_unstable();
            *labels == *object.labels
        })
    }

    /// Applies the results of reading objects again; of several results for one object, the last counts. All of these
    /// coordinates count as looked up afterwards ([`Snapshot::was_looked_up`]).
    ///
    /// * A changed or replaced object keeps its id and loses its facts, which may be outdated.
    /// * A removed object is confirmed absent. **Ids of other objects change then**: rebuild whatever was built on the
    ///   snapshot. The order of the objects stays.
    /// * An object without an answer is unknown, whatever a list said, and becomes a gap.
    ///
    /// The cost is linear in the snapshot.
    pub fn update(&mut self, seen: Vec<(ObjectId, RecheckResult)>) {
        let mut gaps = Gaps::default();
        // The answer for each coordinate.
        let mut answers: FxHashMap<Coordinate, Option<ObjectId>> = FxHashMap::default();
        for (id, again) in seen {
            let Some(object) = self.objects.get(id.index()) else { continue };
            let coordinate = object.coordinate();
            let found = match again {
                RecheckResult::Same => Some(id),
                RecheckResult::Changed(raw) | RecheckResult::Replaced(raw) => {
                    self.objects[id.index()] = self.intern(coordinate, &raw);
                    self.facts.remove(id);
                    Some(id)
                }
                RecheckResult::Gone => None,
                RecheckResult::Unanswered(reason) => {
                    gaps.add_object(self, coordinate, reason);
                    self.leave_unanswered(coordinate);
                    continue;
                }
            };
            self.unanswered.remove(&coordinate);
            match found {
                Some(_) => {
                    self.confirmed_absent.remove(&coordinate);
                    self.found.insert(coordinate);
                }
                None => {
                    self.found.remove(&coordinate);
                    self.confirm_absent(coordinate);
                }
            }
            answers.insert(coordinate, found);
        }
        gaps.record(self);
        if !answers.is_empty() {
            self.keep_only(&answers);
        }
    }

    /// Removes all other objects at these coordinates; renumbers and indexes the rest.
    fn keep_only(&mut self, answers: &FxHashMap<Coordinate, Option<ObjectId>>) {
        let mut moved = Vec::with_capacity(self.objects.len());
        let mut next = 0;
        for (id, object) in self.objects() {
            let stays = answers.get(&object.coordinate()).is_none_or(|found| *found == Some(id));
            moved.push(stays.then_some(ObjectId(next)));
            next += u32::from(stays);
        }
        self.facts.move_to(&moved);
        let mut stays = moved.iter().map(Option::is_some);
        self.objects.retain(|_| stays.next().unwrap_or(true));
        self.index = Index::of(&self.objects);
    }
}
