//! Finds objects by coordinate and by uid. It holds only their ids: the objects themselves have the keys.

use std::hash::{BuildHasher, Hash};

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use crate::model::{Coordinate, Object, ObjectId, Symbol};

/// Of several objects with a coordinate, or with a uid, the first that was added counts (R3.5).
#[derive(Clone, Debug, Default)]
pub(super) struct Index {
    by_coordinate: HashTable<ObjectId>,
    by_uid: HashTable<ObjectId>,
}

fn hash(key: impl Hash) -> u64 {
    FxBuildHasher.hash_one(key)
}

impl Index {
    /// The index of all objects.
    pub(super) fn of(objects: &[Object]) -> Self {
        let mut index = Index::default();
        index.reserve(objects);
        for id in 0..objects.len() {
            index.add(objects, ObjectId(id as u32));
        }
        index
    }

    /// Makes room for as many objects.
    pub(super) fn reserve(&mut self, objects: &[Object]) {
        self.by_coordinate.reserve(objects.len(), |id| hash(objects[id.index()].coordinate()));
        self.by_uid.reserve(objects.len(), |id| hash(objects[id.index()].uid));
    }

    pub(super) fn at(&self, objects: &[Object], coordinate: Coordinate) -> Option<ObjectId> {
        let is_it = |id: &ObjectId| objects[id.index()].coordinate() == coordinate;
        self.by_coordinate.find(hash(coordinate), is_it).copied()
    }

    pub(super) fn of_uid(&self, objects: &[Object], uid: Symbol) -> Option<ObjectId> {
        self.by_uid.find(hash(uid), |id| objects[id.index()].uid == uid).copied()
    }

    /// Adds one of the objects.
    pub(super) fn add(&mut self, objects: &[Object], id: ObjectId) {
        let Object { uid, .. } = objects[id.index()];
        let coordinate = objects[id.index()].coordinate();
        let of = |id: &ObjectId| &objects[id.index()];
        let (is_at, has_uid) = (|id: &ObjectId| of(id).coordinate() == coordinate, |id: &ObjectId| of(id).uid == uid);
        self.by_coordinate.entry(hash(coordinate), is_at, |id| hash(of(id).coordinate())).or_insert(id);
        self.by_uid.entry(hash(uid), has_uid, |id| hash(of(id).uid)).or_insert(id);
    }

    /// Gives the id of an object to another one with the same coordinate, before it takes its place.
    pub(super) fn replace(&mut self, objects: &[Object], old: ObjectId, new: ObjectId) {
        let uid = |id: ObjectId| hash(objects[id.index()].uid);
        if let Ok(gone) = self.by_uid.find_entry(uid(old), |id| *id == old) {
            gone.remove();
        }
        if let Some(id) = self.by_uid.find_mut(uid(new), |id| *id == new) {
            *id = old;
        }
    }

    /// Renumbers the objects.
    pub(super) fn renumber(&mut self, to: impl Fn(ObjectId) -> ObjectId) {
        self.by_coordinate.iter_mut().chain(self.by_uid.iter_mut()).for_each(|id| *id = to(*id));
    }
}
