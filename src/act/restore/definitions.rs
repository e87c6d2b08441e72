//! Waits until the kinds of newly created CRDs are served.

use std::time::Duration;

use tokio::time::Instant;

use crate::{act::update, cluster::path, model::Resource, restore::ItemId};

use super::{Mode, Run};

/// How long a CRD may take to be established, and its kind to be served.
const PATIENCE: Duration = Duration::from_mins(1);
/// The pause between two reads.
const PAUSE: Duration = Duration::from_millis(200);

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
        let until = Instant::now() + PATIENCE;
        for definition in &definitions {
            if let Err(why) = self.await_established(*definition, until).await
                && let Some(state) = &mut self.states[*definition]
            {
                state.unfinished.push(why);
            }
        }
        loop {
            match self.connection.discover().await {
                Ok((resources, _)) => (self.resources, self.undiscovered) = (resources, None),
                // Discovery has its own retries. Keep the resources that were served before.
                Err(error) => return self.not_discovered(&definitions, &error.to_string()),
            }
            let served = definitions.iter().all(|definition| self.is_served(*definition));
            if served || Instant::now() >= until {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Discovery failed: records these CRDs as unfinished, and why objects of their kinds will fail.
    fn not_discovered(&mut self, definitions: &[ItemId], why: &str) {
        for definition in definitions {
            if let Some(state) = &mut self.states[*definition] {
                state.unfinished.push(format!("it is not known whether its kind is served: {why}; run this again"));
            }
        }
        self.undiscovered = Some(why.to_owned());
    }

    async fn await_established(&self, definition: ItemId, until: Instant) -> Result<(), String> {
        let place = &self.item(definition).archived.place;
        let resource = self.resource(&place.api_version, &place.kind);
        let Some(path) = resource.and_then(|resource| path::of_object(resource, "", &place.name)) else {
            return Ok(());
        };
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
            if Instant::now() >= until {
                return Err(format!("it is not established after {} seconds: {why}", PATIENCE.as_secs()));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether discovery knows every version that a CRD serves. True for a CRD that isn't established: don't wait for
    /// it.
    fn is_served(&self, definition: ItemId) -> bool {
        let established = self.states[definition].as_ref().is_some_and(|state| state.unfinished.is_empty());
        let is_known = |it: &Resource| self.resource(&it.api_version(), &it.kind).is_some();
        !established || self.item(definition).defines().iter().all(is_known)
    }
}
