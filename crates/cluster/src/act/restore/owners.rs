//! The owners of an object that is about to be created. Each is read once before: the collector would delete an object
//! with a dangling reference at once (R4.4).

use std::{collections::BTreeMap, time::Duration};

use futures::StreamExt as _;
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    act::update::{self, Change, Step, Updater, is_terminating, references},
    cluster::path,
};
use gc_core::restore::{Detached, ItemId, Outcome, Owner, OwnerReference};

use super::{AT_ONCE, Mode, Run, failed, is_copy_of, manager};

/// How long controllers may take to recreate owners: they have just been restored themselves.
const REMADE_WITHIN: Duration = Duration::from_secs(10);
/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(500);

/// The references to create an object with.
pub(super) struct References {
    /// As they will be written.
    pub written: Vec<Value>,
    /// Those that would dangle.
    pub detached: Vec<Detached>,
}

impl Run<'_> {
    /// The references to create an object with, without those that close a circle.
    pub(super) async fn references(&self, item: ItemId) -> Result<References, Outcome> {
        // Wait first for all owners that controllers recreate: after that, each owner is read once.
        self.await_remade(item).await?;
        let mut found = References { written: Vec::new(), detached: Vec::new() };
        for (index, reference) in self.item(item).archived.references.iter().enumerate() {
            if self.plan.closing.contains(&(item, index)) {
                continue;
            }
            match self.reference(item, index).await? {
                Ok(written) => found.written.push(written),
                Err(why) => found.detached.push(Detached { reference: reference.clone(), why }),
            }
        }
        Ok(found)
    }

    /// The new form of one reference, or why it would dangle.
    pub(super) async fn reference(&self, item: ItemId, index: usize) -> Result<Result<Value, String>, Outcome> {
        let reference = &self.item(item).archived.references[index];
        let owner = self.item(item).owners[index];
        if let Owner::Archived(owner) = owner {
            if !self.is_available(owner) {
                return Err(Outcome::Blocked(owner));
            }
            // It would be created, so it has no uid yet.
            if self.uid_of(owner).is_none() {
                return Ok(Ok(reference.written.clone()));
            }
        }
        let place = &reference.place;
        let there = match (owner, self.look_at(reference).await?) {
            (_, Ok(there)) => there,
            (Owner::Archived(_), Err(_)) => {
                return Err(failed(format!(
                    "its owner {place} was deleted again: find out which client deletes it, and run this again"
                )));
            }
            // Its controller would recreate it once it is restored.
            (Owner::LeftOut(_), Err(_)) if self.mode != Mode::Apply => return Ok(Ok(reference.written.clone())),
            (Owner::NotAsked(_), Err(why)) => {
                return Ok(Err(format!("{why}; the archive has it: name it, too, to restore it")));
            }
            (_, Err(why)) => return Ok(Err(why)),
        };
        let uid = update::uid(&there);
        let is_it = match owner {
            Owner::Archived(owner) => self.uid_of(owner) == Some(uid),
            // Any object that its controller has created.
            Owner::LeftOut(_) => true,
            Owner::NotAsked(_) => uid == reference.uid || is_copy_of(&there, &reference.uid),
            Owner::Elsewhere => uid == reference.uid,
        };
        match owner {
            Owner::Archived(_) if !is_it => Err(failed(format!("its owner {place} was replaced: run this again"))),
            _ if !is_it => Ok(Err(format!("a different {place} exists now"))),
            // The collector deletes the dependents of a deleted owner.
            _ if is_terminating(&there) => {
                Err(failed(format!("its owner {place} is being deleted: run this again when that is deleted")))
            }
            _ => Ok(Ok(reference.with_uid(uid))),
        }
    }

    /// Waits until controllers have recreated the owners that are left to them.
    async fn await_remade(&self, item: ItemId) -> Result<(), Outcome> {
        let references = self.item(item).archived.references.iter().zip(&self.item(item).owners);
        for (reference, _) in references.filter(|(_, owner)| matches!(owner, Owner::LeftOut(_))) {
            while self.mode == Mode::Apply && self.look_at(reference).await?.is_err() {
                if self.is_over(*self.remade_by.get_or_init(|| Instant::now() + REMADE_WITHIN)) {
                    return Ok(());
                }
                tokio::time::sleep(PAUSE).await;
            }
        }
        Ok(())
    }

    /// The object that a reference points to, or why there is none.
    async fn look_at(&self, reference: &OwnerReference) -> Result<Result<Value, String>, Outcome> {
        let place = &reference.place;
        let Some(resource) = self.resource(&place.api_version, &place.kind) else {
            return match self.undiscovered {
                None => Ok(Err(self.unserved(place))),
                // It may exist.
                Some(_) => Err(failed(format!("its owner {place}: {}; run this again", self.unserved(place)))),
            };
        };
        let namespace = if resource.namespaced { place.namespace.as_str() } else { "" };
        let Some(path) = path::of_object(resource, namespace, &place.name) else {
            // A namespaced object can't own a cluster-scoped one (R4.2), and some names are invalid.
            return Ok(Err(format!("{}/{} cannot be its owner", place.kind, place.name)));
        };
        match update::get(self.connection, &path).await {
            Ok(there) => Ok(there.ok_or_else(|| format!("{place} does not exist"))),
            Err(failure) => {
                Err(failed(format!("it is not known whether its owner {place} exists: {}", failure.in_full())))
            }
        }
    }

    /// The references that an object should have now, with its owners' current uids where known: to compare with an
    /// existing object. A reference to an owner that is restored after the object is the one to the owner that exists
    /// now; none if there is none.
    pub(super) async fn mapped(&self, item: ItemId, own_uid: &str) -> Result<Vec<Value>, Outcome> {
        let archived = &self.item(item).archived;
        let mut mapped = Vec::with_capacity(archived.references.len());
        for (reference, owner) in archived.references.iter().zip(&self.item(item).owners) {
            mapped.push(match owner {
                Owner::Archived(owner) if *owner == item => reference.with_uid(own_uid),
                Owner::Archived(owner) => match (self.uid_of(*owner), &self.states[*owner]) {
                    (Some(uid), _) => reference.with_uid(uid),
                    (None, Some(_)) => reference.written.clone(),
                    (None, None) => match self.look_at(reference).await? {
                        Ok(there) => reference.with_uid(update::uid(&there)),
                        Err(_) => continue,
                    },
                },
                // A restore of its own may have created it.
                Owner::NotAsked(_) => match self.look_at(reference).await? {
                    Ok(there) if is_copy_of(&there, &reference.uid) => reference.with_uid(update::uid(&there)),
                    _ => reference.written.clone(),
                },
                Owner::LeftOut(_) | Owner::Elsewhere => reference.written.clone(),
            });
        }
        Ok(mapped)
    }

    /// Which references of an object lead to what is restored, too.
    pub(super) fn to_restored(&self, item: ItemId) -> impl Iterator<Item = usize> {
        let owners = self.item(item).owners.iter().enumerate();
        owners.filter(|(_, owner)| matches!(owner, Owner::Archived(_))).map(|(index, _)| index)
    }
}

/// How often to try to add a reference to an object that other clients write to.
const TRIES: u32 = 5;

impl Run<'_> {
    /// Adds all these references; a controller that was faster has added its own. Failures are recorded with their
    /// object.
    pub(super) async fn add_references(&mut self) {
        if self.mode != Mode::Apply {
            return;
        }
        let mut of_items: BTreeMap<ItemId, Vec<usize>> = BTreeMap::new();
        for (item, state) in self.states.iter().enumerate() {
            // Objects that other clients have created are left alone.
            let references: Vec<usize> = match state.as_ref().map(|state| (&state.outcome, state.to_do.references)) {
                Some((Outcome::Created, _)) => self.plan.closing_of(item).collect(),
                Some((Outcome::AlreadyBack, true)) => self.to_restored(item).collect(),
                _ => continue,
            };
            of_items.insert(item, references);
        }
        let run = &*self;
        let closings = futures::stream::iter(of_items).map(async |(item, references)| {
            let mut failed = Vec::new();
            for reference in references {
                failed.extend(run.close(item, reference).await.err().map(|why| (reference, why)));
            }
            (item, failed)
        });
        let closed: Vec<_> = closings.buffer_unordered(AT_ONCE).collect().await;
        for (item, failed) in closed {
            let Some(state) = &mut self.states[item] else { continue };
            state.to_do.references = false;
            state.unfinished.extend(failed.into_iter().map(|(reference, why)| {
                let owner = &self.plan.items[item].archived.references[reference].place;
                format!("its reference to {owner} could not be restored: {why}")
            }));
        }
    }

    async fn close(&self, item: ItemId, index: usize) -> Result<(), String> {
        if (self.called_off)() {
            return Err("it was interrupted before".to_owned());
        }
        let written = match self.reference(item, index).await {
            Ok(written) => written?,
            Err(Outcome::Failed(why)) => return Err(why),
            Err(_) => return Err("it could not be restored".to_owned()),
        };
        let Some(path) = self.path(item) else { return Err("its kind is no longer served".to_owned()) };
        let gone = || "it was deleted again".to_owned();
        let uid = self.uid_of(item).ok_or_else(gone)?;
        let end = format!("?fieldManager={}", path::encoded(&manager(&self.item(item).archived.uid)));
        let updater = Updater { connection: self.connection, path, end: &end, uid, tries: TRIES };
        let step = |there: &Value| {
            let current = references(there);
            if current.iter().any(|reference| reference["uid"] == written["uid"]) {
                return Ok(Step::Done(()));
            }
            Ok(Step::Write(Change::references(self.in_order(item, index, &written, current.to_vec())), ()))
        };
        let updated = updater.update(None, step).await;
        updated.map_err(|error| error.failure().map_or_else(gone, |failure| failure.in_full()))
    }

    /// The current references with one more, inserted at its place in the archive.
    fn in_order(&self, item: ItemId, index: usize, written: &Value, mut current: Vec<Value>) -> Vec<Value> {
        let archived = &self.item(item).archived.references;
        let named = |reference: &Value, names: &Value| {
            ["apiVersion", "kind", "name"].iter().all(|part| reference[*part] == names[*part])
        };
        let before = |reference: &Value| archived[..index].iter().any(|earlier| named(reference, &earlier.written));
        let at = current.iter().rposition(before).map_or(0, |last| last + 1);
        current.insert(at, written.clone());
        current
    }
}
