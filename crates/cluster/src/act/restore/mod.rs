//! Restores archived objects step by step, following a [`RestorePlan`].
//!
//! A restore may be repeated: it recognizes objects that an earlier run created by their field manager, which contains
//! the archived object's uid, and completes what that run left undone. It changes no other existing object.

mod create;
mod owners;
mod settle;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, sync::OnceLock};

use futures::StreamExt as _;
use rustc_hash::FxHashSet;
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    act::update,
    cluster::{
        Connection,
        path::{self, ObjectPath},
    },
};
use gc_core::{
    model::{Mapping, Resource, Resources},
    progress,
    restore::{Item, ItemId, Outcome, Place, RestorePlan, Restored},
    wording::RESTORES,
};

pub(in crate::act) use self::create::put_status;

/// How many objects of one step are restored at once.
const AT_ONCE: usize = 16;

/// What is sent to the API server: `--dry-run`, as in kubectl.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// Do it
    #[default]
    #[value(name = "none")]
    Apply,
    /// Only show what would happen
    #[value(name = "client")]
    ClientDryRun,
    /// Send the requests to the API server as a dry run
    #[value(name = "server")]
    ServerDryRun,
}

/// Restores the objects of a plan, or only finds out what would happen. `resources` are those that the server serves
/// now. Every error is the outcome of the object it happened to, so that all results so far are always returned.
///
/// As soon as `called_off` says so, nothing more is begun: objects under way are finished, the others are not tried.
pub async fn restore(
    connection: &Connection,
    plan: &RestorePlan,
    resources: Resources,
    mode: Mode,
    called_off: &dyn Fn() -> bool,
) -> Vec<Restored> {
    let left_out = |item: &Item| item.left_out.clone().map(|why| Restored::absent(Outcome::LeftOut(why)));
    let states = plan.items.iter().map(left_out).collect();
    let mut run = Run {
        connection,
        plan,
        resources,
        undiscovered: None,
        mode,
        called_off,
        states,
        missing_namespaces: FxHashSet::default(),
        remade_by: OnceLock::new(),
    };
    run.look_for_namespaces().await;
    for step in &plan.steps {
        if called_off() {
            break;
        }
        run.await_watches(step).await;
        let bring = async |item: &ItemId| {
            let restored = run.bring(*item).await.unwrap_or_else(Restored::absent);
            progress::advance(1);
            (*item, restored)
        };
        let done: Vec<_> = futures::stream::iter(step).map(bring).buffer_unordered(AT_ONCE).collect().await;
        for (item, restored) in done {
            run.states[item] = Some(restored);
        }
        run.await_definitions(step).await;
        run.await_bound(step).await;
    }
    run.add_references().await;
    let called_off = called_off();
    // Every object is in a step, or left out.
    let unplaced = || match called_off {
        true => Restored::absent(Outcome::NotTried),
        false => Restored::absent(failed("it is missing in the creation order")),
    };
    run.states.into_iter().map(|state| state.unwrap_or_else(unplaced)).collect()
}

/// The state of one run.
struct Run<'a> {
    connection: &'a Connection,
    plan: &'a RestorePlan,
    resources: Resources,
    /// Why discovery failed after CRDs were created, if it did.
    undiscovered: Option<String>,
    mode: Mode,
    /// Whether nothing more must be begun.
    called_off: &'a dyn Fn() -> bool,
    /// The result of each object; none before its turn.
    states: Vec<Option<Restored>>,
    /// Namespaces that are neither in the archive nor in the cluster.
    missing_namespaces: FxHashSet<String>,
    /// How long controllers may take to recreate owners; set at the first such owner.
    remade_by: OnceLock<Instant>,
}

impl Run<'_> {
    /// Whether to wait no longer: the time is up, or the restore is called off.
    fn is_over(&self, until: Instant) -> bool {
        (self.called_off)() || Instant::now() >= until
    }

    fn item(&self, item: ItemId) -> &Item {
        &self.plan.items[item]
    }

    /// Whether objects that need this one may be restored.
    fn is_available(&self, item: ItemId) -> bool {
        let state = self.states[item].as_ref();
        state.is_some_and(|state| state.uid.is_some() || state.outcome == Outcome::WouldBeCreated)
    }

    /// The object's current uid; none before its turn, or if it could not be restored.
    fn uid_of(&self, item: ItemId) -> Option<&str> {
        self.states[item].as_ref()?.uid.as_deref()
    }

    /// Records what an object lacks.
    fn lacks(&mut self, item: ItemId, why: String) {
        if let Some(state) = &mut self.states[item] {
            state.unfinished.push(why);
        }
    }

    /// The resource with this apiVersion and kind, if it is served.
    fn resource(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        match self.resources.map(api_version, kind) {
            // `map` ignores case, as for owner references; an object's own kind is exact.
            Mapping::Served(id) => Some(self.resources.get(id)),
            Mapping::ListKind { .. } | Mapping::Unmappable | Mapping::Undiscovered => None,
        }
    }

    /// Why objects of a kind can't be restored: it isn't served, or that is unknown.
    fn unserved(&self, place: &Place) -> String {
        let Place { api_version, kind, .. } = place;
        match &self.undiscovered {
            None => format!("the server does not serve {api_version} {kind}"),
            Some(why) => format!("it is not known whether the server serves {api_version} {kind}: {why}"),
        }
    }

    /// Where an object is, if its kind is served and its name is valid.
    fn path(&self, item: ItemId) -> Option<ObjectPath> {
        let Place { api_version, kind, namespace, name } = &self.item(item).archived.place;
        path::of_object(self.resource(api_version, kind)?, namespace, name)
    }
}

/// The outcome of an object that could not be restored for this reason.
fn failed(why: impl Into<String>) -> Outcome {
    Outcome::Failed(why.into())
}

/// The field manager of a restore. It contains the archived object's uid, so that a restored object is recognized as
/// the copy of that object and no other.
pub(in crate::act) fn manager(archived_uid: &str) -> String {
    format!("{RESTORES}{archived_uid}")
}

/// Whether a restore created this object from the archived object with this uid.
pub(in crate::act) fn is_copy_of(object: &Value, archived_uid: &str) -> bool {
    let manager = manager(archived_uid);
    fields(object).any(|entry| entry["manager"] == *manager && subresource(entry).is_empty())
}

/// Whether a client has written the object's status since its creation.
fn has_written_status(object: &Value) -> bool {
    fields(object).any(|entry| subresource(entry) == "status")
}

fn fields(object: &Value) -> impl Iterator<Item = &Value> {
    object["metadata"]["managedFields"].as_array().into_iter().flatten()
}

fn subresource(entry: &Value) -> &str {
    entry["subresource"].as_str().unwrap_or_default()
}

impl Run<'_> {
    /// Finds the namespaces that don't exist: nothing can be created in them. If a namespace can't be read, creating
    /// its objects shows whether it exists.
    pub(super) async fn look_for_namespaces(&mut self) {
        let Some(resource) = self.resource("v1", "Namespace") else { return };
        let is_namespace = |item: &&Item| item.archived.place.is("", "Namespace") && item.left_out.is_none();
        let archived: BTreeSet<&str> =
            self.plan.items.iter().filter(is_namespace).map(|item| item.archived.place.name.as_str()).collect();
        let wanted = self
            .plan
            .items
            .iter()
            .filter(|item| item.left_out.is_none())
            .map(|item| item.archived.place.namespace.as_str());
        let wanted: BTreeSet<&str> =
            wanted.filter(|namespace| !namespace.is_empty() && !archived.contains(namespace)).collect();
        let paths = wanted.into_iter().filter_map(|name| Some((name, path::of_object(resource, "", name)?)));
        let looks =
            futures::stream::iter(paths).map(async |(name, path)| (name, update::get(self.connection, &path).await));
        let found: Vec<_> = looks.buffer_unordered(AT_ONCE).collect().await;
        let missing = found.into_iter().filter(|(_, there)| matches!(there, Ok(None)));
        self.missing_namespaces = missing.map(|(name, _)| name.to_owned()).collect();
    }
}
