//! References that are added once all objects exist: those that close a circle of owners, and those to controllers that
//! adopt the object.

use std::{collections::BTreeMap, convert::Infallible};

use futures::StreamExt as _;
use serde_json::Value;

use crate::{
    act::update::{Change, Step, UpdateError, Updater, references},
    cluster::path,
    restore::ItemId,
};

use super::{AT_ONCE, Mode, Run, managed_fields::manager, owners::Stop};

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
        for (item, reference) in &self.plan.closing {
            // Leave objects alone that other clients have created.
            if self.is_restored(*item) {
                of_items.entry(*item).or_default().push(*reference);
            }
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
            state.unfinished.extend(failed.into_iter().map(|(reference, why)| {
                let owner = &self.plan.items[item].archived.references[reference].place;
                format!("its reference to {owner} could not be restored: {why}")
            }));
        }
    }

    async fn close(&self, item: ItemId, index: usize) -> Result<(), String> {
        let written = match self.reference(item, index).await {
            Ok(written) => written?,
            Err(Stop::Failed(why)) => return Err(why),
            Err(Stop::Blocked(_)) => return Err("it could not be restored".to_owned()),
        };
        let place = &self.item(item).archived.place;
        let resource = self.resource(&place.api_version, &place.kind);
        let path = resource.and_then(|resource| path::of_object(resource, &place.namespace, &place.name));
        let Some(path) = path else { return Err("its kind is no longer served".to_owned()) };
        let gone = || "it was deleted again".to_owned();
        let uid = self.uid_of(item).ok_or_else(gone)?;
        let end = format!("?fieldManager={}", path::encoded(&manager(&self.item(item).archived.uid)));
        let updater = Updater { connection: self.connection, path, end: &end, uid, tries: TRIES };
        let step = |there: &Value| {
            let current = references(there);
            if current.iter().any(|reference| reference["uid"] == written["uid"]) {
                return Ok(Step::Done(()));
            }
            Ok(Step::Write(Change::References(self.in_order(item, index, &written, current.to_vec())), ()))
        };
        updater.update(None, step).await.map_err(|error: UpdateError<Infallible>| match error {
            UpdateError::Gone => gone(),
            UpdateError::Reading(failure) | UpdateError::Writing(failure) | UpdateError::Unstable(failure) => {
                failure.in_full()
            }
        })
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
