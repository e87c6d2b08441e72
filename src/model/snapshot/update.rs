//! Taking in what a second look at objects says.

use rustc_hash::FxHashMap;

use crate::model::{Coordinate, Object, ObjectId, RawObject, RecheckResult, Symbol, gaps::Gaps};

use super::Snapshot;

impl Snapshot {
    /// Whether what was read now is the object as the snapshot has it: uid and all that is kept, the resourceVersion
    /// aside, which also changes with what is not kept.
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
            && (object.created, object.deleted, object.grace) == (raw.created, raw.deleted, raw.grace)
            && finalizers
            && owners
            && self.has_labels(object, raw)
    }

    /// Whether an object's labels are these, in whatever order they were read.
    fn has_labels(&self, object: &Object, raw: &RawObject<'_>) -> bool {
        let find = |text: &str| self.strings.find(text);
        let labels: Option<Vec<(Symbol, Symbol)>> =
            raw.labels.iter().map(|(key, value)| Some((find(key)?, find(value)?))).collect();
        labels.is_some_and(|mut labels| {
            labels.sort_unstable();
            *labels == *object.labels
        })
    }

    /// Takes in what a second look at objects says; where one was looked at several times, the last look counts. All
    /// that were looked at are looked up from then on ([`Snapshot::was_looked_up`]).
    ///
    /// * What changed or was replaced keeps its id. What was known of it beyond its metadata is forgotten: that may be
    ///   as old.
    /// * What is gone is taken out, and is confirmed absent. **Ids of other objects change then**: whatever was built
    ///   on the snapshot is to be built anew. The order of the objects stays.
    /// * What got no answer is unknown, whatever a list said, and becomes a gap.
    ///
    /// The cost is linear in the snapshot, whatever there is to take in.
    pub fn update(&mut self, seen: Vec<(ObjectId, RecheckResult)>) {
        let mut gaps = Gaps::default();
        // What is at each coordinate that was answered for.
        let mut there: FxHashMap<Coordinate, Option<ObjectId>> = FxHashMap::default();
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
            there.insert(coordinate, found);
        }
        gaps.record(self);
        if !there.is_empty() {
            self.keep_only(&there);
        }
    }

    /// Takes out whatever else is at these coordinates, and numbers and indexes the rest anew.
    fn keep_only(&mut self, there: &FxHashMap<Coordinate, Option<ObjectId>>) {
        let mut moved = Vec::with_capacity(self.objects.len());
        let mut next = 0;
        for (id, object) in self.objects() {
            let stays = there.get(&object.coordinate()).is_none_or(|found| *found == Some(id));
            moved.push(stays.then_some(ObjectId(next)));
            next += u32::from(stays);
        }
        self.facts.move_to(&moved);
        let mut stays = moved.iter().map(Option::is_some);
        self.objects.retain(|_| stays.next().unwrap_or(true));
        self.by_coordinate.clear();
        self.by_uid.clear();
        for (index, object) in self.objects.iter().enumerate() {
            let id = ObjectId(index as u32);
            self.by_coordinate.entry(object.coordinate()).or_insert(id);
            self.by_uid.entry(object.uid).or_insert(id);
        }
    }
}
