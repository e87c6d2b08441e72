//! Collects what should be read to be certain of an answer: whoever finds that something lacks notes it.

use std::{
    mem,
    sync::{
        MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use crate::model::{Coordinate, ObjectId, Presence};

use super::{
    context::SimContext,
    needs::{Needs, Once},
};

impl SimContext<'_> {
    /// Notes what should be read for the answer that is being given.
    pub(crate) fn lacks<T>(&self, note: impl FnOnce(&mut Needs) -> T) -> T {
        let mut needs = mem::take(&mut *self.noted());
        let noted = note(&mut needs);
        let meanwhile = mem::replace(&mut *self.noted(), needs);
        self.noted().add(&meanwhile);
        noted
    }

    fn noted(&self) -> MutexGuard<'_, Needs> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fact that decides the answer, if it was read. Notes it as needed otherwise.
    pub(crate) fn fact<T>(&self, object: ObjectId, fact: Option<T>) -> Option<T> {
        if fact.is_none() {
            self.lacks(|needs| needs.facts.insert(object));
        }
        fact
    }

    /// The same of a fact that only shows whether a controller runs and does its part.
    pub(crate) fn evidence<T>(&self, object: ObjectId, fact: Option<T>) -> Option<T> {
        if fact.is_none() {
            self.lacks(|needs| needs.evidence.insert(object));
        }
        fact
    }

    /// What is at a coordinate. Notes the look-up as needed where it wasn't read, or only a list says that it is
    /// absent.
    pub(crate) fn look_up(&self, at: Coordinate) -> Presence {
        let presence = self.snapshot.look_up(at);
        match presence {
            Presence::Unknown => _ = self.lacks(|needs| needs.look_ups.insert(at)),
            Presence::Absent if !self.snapshot.was_looked_up(at) => _ = self.lacks(|needs| needs.missing.insert(at)),
            Presence::Absent | Presence::Present(_) => {}
        }
        presence
    }

    /// An answer, and what it lacks. The answer of which it is a part lacks that, too.
    pub fn noting<T>(&self, answer: impl FnOnce() -> T) -> (T, Needs) {
        let (answer, needs) = self.aside(answer);
        self.noted().add(&needs);
        (answer, needs)
    }

    /// An answer, and what it lacks, if that is of no account for the answer of which it is a part, or not yet.
    pub(crate) fn aside<T>(&self, answer: impl FnOnce() -> T) -> (T, Needs) {
        let whole = mem::take(&mut *self.noted());
        self.asides.fetch_add(1, Relaxed);
        let answer = answer();
        self.asides.fetch_add(1, Relaxed);
        (answer, mem::replace(&mut *self.noted(), whole))
    }

    /// An answer that is given once. Whoever asks for it again lacks the same.
    pub(crate) fn once<'c, T>(&self, given: &'c Once<T>, answer: impl FnOnce() -> T) -> &'c T {
        let (answer, needs, noted) = given.get_or_init(|| {
            let (answer, needs) = self.aside(answer);
            (answer, needs, AtomicUsize::default())
        });
        // It may be much, and asked for of every object.
        let asides = self.asides.load(Relaxed);
        if noted.swap(asides, Relaxed) != asides {
            self.lacks(|whole| whole.add(needs));
        }
        answer
    }

    /// What all answers lacked so far.
    pub fn needs(&self) -> Needs {
        self.noted().clone()
    }
}
