//! Pauses between steps of a restore, so that controllers find what was restored before they act.

use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use crate::{
    act::update,
    cluster::path,
    restore::{Archived, ItemId, Outcome, Owner},
};

use super::{Mode, Run};

/// How long the claims of all steps may take to be bound to volumes that are reserved for them.
const BOUND_WITHIN: Duration = Duration::from_secs(15);
/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(250);
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
            let created = self.states[*item].as_ref().is_some_and(|state| state.outcome == Outcome::Created);
            created && archived.place.is("", "PersistentVolumeClaim") && archived.whole["status"]["phase"] == "Bound"
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
            let unbound = self.is_unbound(claim, until).await;
            if let (Some(why), Some(state)) = (unbound, &mut self.states[claim]) {
                state.unfinished.push(why);
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
        reserved.collect()
    }

    async fn is_unbound(&self, claim: ItemId, until: Instant) -> Option<String> {
        let place = &self.item(claim).archived.place;
        let resource = self.resource(&place.api_version, &place.kind)?;
        let path = path::of_object(resource, &place.namespace, &place.name)?;
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
            if Instant::now() >= until {
                return Some(format!("PersistentVolume/{volume} is reserved for it, but {why}"));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
