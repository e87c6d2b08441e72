//! Pauses between steps of a restore, so that controllers find what was restored before they act, and new kinds are
//! served.

use std::{convert::Infallible, time::Duration};

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    act::update::{self, Change, Step, Updater},
    cluster::path,
};
use gc_core::{
    model::Resource,
    restore::{Archived, ItemId, Outcome, Owner, defined},
};

use super::{Mode, Run, failed};

/// How long the claims of all steps may take to be bound to volumes that are reserved for them.
const BOUND_WITHIN: Duration = Duration::from_secs(15);
/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(250);
/// How often to try to reserve a volume while its controller writes to it.
const VOLUME_TRIES: u32 = 10;
/// Controllers read objects from watches of their own, one for each kind: that of a controller's kind may be faster
/// than that of what it adopts.
const BEFORE_ADOPTION: Duration = Duration::from_secs(1);

impl Run<'_> {
    /// Waits before a step with controllers that adopt objects of this run.
    pub(super) async fn await_watches(&self, step: &[ItemId]) {
        let created = |(item, reference): &(ItemId, usize)| {
            let adopts = matches!(self.item(*item).owners[*reference], Owner::Archived(owner) if step.contains(&owner));
            adopts && self.states[*item].as_ref().is_some_and(|state| state.outcome == Outcome::Created)
        };
        if self.mode == Mode::Apply && self.plan.closing.iter().any(created) {
            tokio::time::sleep(BEFORE_ADOPTION).await;
        }
    }

    /// Waits until the claims of this step are bound that were bound before, if their volumes are reserved for them.
    /// (pkg/controller/volume/persistentvolume, syncUnboundClaim: no other claim waits for less than a pod.) A claim
    /// that isn't bound in time is recorded as unfinished.
    pub(super) async fn await_bound(&mut self, step: &[ItemId]) {
        if self.mode != Mode::Apply {
            return;
        }
        let was_bound = |item: &ItemId| {
            let archived = &self.item(*item).archived;
            let state = self.states[*item].as_ref();
            let waits = state.is_some_and(|state| state.outcome == Outcome::Created || state.volume.is_some());
            waits && archived.place.is("", "PersistentVolumeClaim") && archived.whole["status"]["phase"] == "Bound"
        };
        let mut claims: Vec<ItemId> = step.iter().copied().filter(was_bound).collect();
        if claims.is_empty() {
            return;
        }
        let reserved = self.reserved_volumes();
        claims.retain(|claim| {
            let Archived { place, whole, .. } = &self.item(*claim).archived;
            reserved.get(&(place.namespace.as_str(), place.name.as_str()))
                == whole["spec"]["volumeName"].as_str().as_ref()
        });
        let until = Instant::now() + BOUND_WITHIN;
        for claim in claims {
            if let Some(why) = self.is_unbound(claim, until).await {
                self.lacks(claim, why);
            }
        }
    }

    /// The volumes of the archive that exist, by the namespace and name of the claim that they are reserved for.
    fn reserved_volumes(&self) -> FxHashMap<(&str, &str), &str> {
        let items = self.plan.items.iter().enumerate();
        let volumes =
            items.filter(|(id, item)| item.archived.place.is("", "PersistentVolume") && self.uid_of(*id).is_some());
        let reserved = volumes.filter_map(|(_, item)| {
            let claim = &item.archived.whole["spec"]["claimRef"];
            Some(((claim["namespace"].as_str()?, claim["name"].as_str()?), item.archived.place.name.as_str()))
        });
        let again = self.plan.items.iter().zip(&self.states).filter_map(|(claim, state)| {
            let place = &claim.archived.place;
            Some(((place.namespace.as_str(), place.name.as_str()), state.as_ref()?.volume.as_deref()?))
        });
        reserved.chain(again).collect()
    }

    /// The volume of a claim, if that exists, and waits for the claim that was deleted: its data was kept. One that
    /// can't be read is not known to.
    pub(super) async fn waiting_volume(&self, item: ItemId) -> Option<Value> {
        let archived = &self.item(item).archived;
        let is_claim = archived.place.is("", "PersistentVolumeClaim") && archived.moved_from.is_none();
        let volume = archived.whole["spec"]["volumeName"].as_str().filter(|_| is_claim)?;
        let path = path::of_object(self.resource("v1", "PersistentVolume")?, "", volume)?;
        let there = update::get(self.connection, &path).await.ok()??;
        let waits = there["spec"]["claimRef"]["uid"] == *archived.uid && !update::is_terminating(&there);
        waits.then_some(there)
    }

    /// Lets a volume wait for the claim of that name, whatever its uid. The error is the outcome of the claim: without
    /// its volume, it would be bound to an empty one.
    pub(super) async fn reserve(&self, volume: Value) -> Result<(), Outcome> {
        let name = volume["metadata"]["name"].as_str().unwrap_or_default();
        let why = |why: String| {
            failed(format!(
                "PersistentVolume/{name} has its data, and waits for the claim that was deleted; it could not be \
                 reserved for this one: {why}"
            ))
        };
        let resource = self.resource("v1", "PersistentVolume");
        let Some(path) = resource.and_then(|resource| path::of_object(resource, "", name)) else {
            return Err(why("it is not served".to_owned()));
        };
        let claim = volume["spec"]["claimRef"]["uid"].clone();
        let uid = update::uid(&volume).to_owned();
        let updater = Updater { connection: self.connection, path, end: "", uid: &uid, tries: VOLUME_TRIES };
        let step = |there: &Value| match there["spec"]["claimRef"]["uid"] == claim {
            true => {
                let fields = json!({"spec": {"claimRef": {"uid": null, "resourceVersion": null}}});
                Ok(Step::Write(Change::Merge(fields), ()))
            }
            false => Ok::<_, Infallible>(Step::Done(())),
        };
        let reserved = updater.update(Some(volume.clone()), step).await;
        reserved.map_err(|error| why(error.failure().map_or_else(|| "it is gone".to_owned(), |it| it.in_full())))
    }

    async fn is_unbound(&self, claim: ItemId, until: Instant) -> Option<String> {
        let path = self.path(claim)?;
        let volume = self.item(claim).archived.whole["spec"]["volumeName"].as_str().unwrap_or_default();
        loop {
            let why = match update::get(self.connection, &path).await {
                Ok(Some(there)) if there["status"]["phase"] == "Bound" => {
                    let bound = there["spec"]["volumeName"].as_str().unwrap_or_default();
                    let other = format!("it is bound to PersistentVolume/{bound}, not to PersistentVolume/{volume}");
                    return (bound != volume).then_some(other);
                }
                Ok(Some(_)) => "it is not bound to it yet".to_owned(),
                Ok(None) => return Some("another client deleted it again: run this again".to_owned()),
                Err(failure) => format!("it is not known whether it is bound to it: {}", failure.in_full()),
            };
            if self.is_over(until) {
                return Some(format!("PersistentVolume/{volume} is reserved for it, but {why}"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// How long a CRD may take to be established, and its kind to be served.
const SERVED_WITHIN: Duration = Duration::from_mins(1);

impl Run<'_> {
    /// Waits until the kinds of the CRDs in this step are served, and updates the served resources. A CRD that isn't
    /// established in time is recorded as unfinished, and so are all if discovery fails; objects of their kinds then
    /// fail in their own turn.
    pub(super) async fn await_definitions(&mut self, step: &[ItemId]) {
        let of_definition =
            |item: &ItemId| self.item(*item).archived.place.is("apiextensions.k8s.io", "CustomResourceDefinition");
        let created = |item: &ItemId| self.uid_of(*item).is_some();
        let definitions: Vec<ItemId> = step.iter().copied().filter(of_definition).filter(created).collect();
        if definitions.is_empty() || self.mode != Mode::Apply {
            return;
        }
        let until = Instant::now() + SERVED_WITHIN;
        for definition in &definitions {
            if let Err(why) = self.await_established(*definition, until).await {
                self.lacks(*definition, why);
            }
        }
        loop {
            match self.connection.discover().await {
                Ok((resources, _)) => (self.resources, self.undiscovered) = (resources, None),
                // Discovery has its own retries. Keep the resources that were served before.
                Err(error) => return self.not_discovered(&definitions, &error.to_string()),
            }
            let served = definitions.iter().all(|definition| self.is_served(*definition));
            if served || self.is_over(until) {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Discovery failed: records these CRDs as unfinished, and why objects of their kinds will fail.
    fn not_discovered(&mut self, definitions: &[ItemId], why: &str) {
        for definition in definitions {
            self.lacks(*definition, format!("it is not known whether its kind is served: {why}; run this again"));
        }
        self.undiscovered = Some(why.to_owned());
    }

    async fn await_established(&self, definition: ItemId, until: Instant) -> Result<(), String> {
        let Some(path) = self.path(definition) else { return Ok(()) };
        loop {
            let why = match update::get(self.connection, &path).await {
                Ok(Some(there)) => {
                    let conditions: Vec<_> = there["status"]["conditions"].as_array().into_iter().flatten().collect();
                    let is = |kind: &str, status: &str| {
                        conditions.iter().find(|it| it["type"] == kind && it["status"] == status)
                    };
                    if is("Established", "True").is_some() {
                        return Ok(());
                    }
                    let refused = is("NamesAccepted", "False").and_then(|condition| condition["message"].as_str());
                    refused.unwrap_or("the server gives no reason").to_owned()
                }
                Ok(None) => {
                    return Err("another client deleted it again: find out which, and run this again".to_owned());
                }
                Err(failure) => failure.in_full(),
            };
            if (self.called_off)() {
                return Err(format!("it is not established yet: {why}"));
            }
            if Instant::now() >= until {
                return Err(format!("it is not established after {} seconds: {why}", SERVED_WITHIN.as_secs()));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether discovery knows every version that a CRD serves. True for a CRD that isn't established: don't wait for
    /// it.
    fn is_served(&self, definition: ItemId) -> bool {
        let established = self.states[definition].as_ref().is_some_and(|state| state.unfinished.is_empty());
        let is_known = |it: &Resource| self.resource(&it.api_version(), &it.kind).is_some();
        !established || defined(&self.item(definition).archived).iter().all(is_known)
    }
}
