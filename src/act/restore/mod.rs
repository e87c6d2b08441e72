//! Bringing back what was archived, step by step, as a [`RestorePlan`] has it.
//!
//! Everything may be done again: what an earlier run has created is known by the manager of its fields, which holds the
//! archived object's uid, and what it left undone is done. Nothing that is there is ever changed but by that.

mod closing;
mod create;
mod definitions;
mod managed_fields;
mod namespaces;
mod owners;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use futures::StreamExt as _;
use rustc_hash::FxHashSet;
use tokio::time::Instant;

use crate::{
    cluster::Connection,
    model::{Mapping, Resource, Resources},
    restore::{Item, ItemId, Outcome, Place, RestorePlan, Restored},
};

use self::owners::Stop;

/// How many objects of one step are brought back at once.
const AT_ONCE: usize = 16;

/// What is sent to the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything.
    Apply,
    /// What would be created is sent, for the server to judge it, and not to be done.
    ServerDryRun,
    /// Only reading.
    ClientDryRun,
}

/// Brings back what a plan has, or only finds out what would come of it. `resources` is what the server serves now, and
/// `describe` hears of each object as soon as its turn is over. Whatever goes wrong on the way is the outcome of the
/// objects that it happened to: what was created by then is told in any case.
pub async fn restore(
    connection: &Connection,
    plan: &RestorePlan,
    resources: Resources,
    mode: Mode,
    describe: &mut dyn FnMut(ItemId, &Restored),
) -> Vec<Restored> {
    let left_out = |item: &Item| item.left_out.clone().map(|why| Restored::absent(Outcome::LeftOut(why)));
    let states = plan.items.iter().map(left_out).collect();
    let mut run = Run {
        connection,
        plan,
        resources,
        undiscovered: None,
        mode,
        states,
        missing_namespaces: FxHashSet::default(),
        remade_by: OnceLock::new(),
    };
    run.look_for_namespaces().await;
    for step in &plan.steps {
        let mut done = Vec::with_capacity(step.len());
        let mut turns =
            futures::stream::iter(step).map(async |item| (*item, run.bring(*item).await)).buffer_unordered(AT_ONCE);
        while let Some((item, restored)) = turns.next().await {
            describe(item, &restored);
            done.push((item, restored));
        }
        drop(turns);
        for (item, restored) in done {
            run.states[item] = Some(restored);
        }
        run.await_definitions(step).await;
    }
    run.close_circles().await;
    // Every object is in a step, or left out.
    let unplaced = || Restored::absent(Outcome::Failed("it is missing in the creation order".to_owned()));
    run.states.into_iter().map(|state| state.unwrap_or_else(unplaced)).collect()
}

/// One run, as far as it has come.
struct Run<'a> {
    connection: &'a Connection,
    plan: &'a RestorePlan,
    resources: Resources,
    /// Why it is not known what is served by now, where that could not be found out after definitions were created.
    undiscovered: Option<String>,
    mode: Mode,
    /// What came of each object; none before its turn.
    states: Vec<Option<Restored>>,
    /// Namespaces that are neither in the archive nor in the cluster.
    missing_namespaces: FxHashSet<String>,
    /// Until when controllers are given time to make owners anew; from the first such owner on.
    remade_by: OnceLock<Instant>,
}

impl Run<'_> {
    fn item(&self, item: ItemId) -> &Item {
        &self.plan.items[item]
    }

    /// Whether what needs an object may go on.
    fn is_available(&self, item: ItemId) -> bool {
        let state = self.states[item].as_ref();
        state.is_some_and(|state| state.uid.is_some() || state.outcome == Outcome::WouldBeCreated)
    }

    /// The uid that an object has now; none before its turn, or where it could not be brought back.
    fn uid_of(&self, item: ItemId) -> Option<&str> {
        self.states[item].as_ref()?.uid.as_deref()
    }

    /// The resource that an object's apiVersion and kind mean, where they are served.
    fn resource(&self, api_version: &str, kind: &str) -> Option<&Resource> {
        match self.resources.map(api_version, kind) {
            // In whatever case an owner reference writes it; an object's own kind is exact.
            Mapping::Served(id) => Some(self.resources.get(id)),
            Mapping::ListKind { .. } | Mapping::Unmappable | Mapping::Undiscovered => None,
        }
    }

    /// Why nothing can be sent to objects of a kind: it isn't served, or nobody knows.
    fn unserved(&self, place: &Place) -> String {
        let Place { api_version, kind, .. } = place;
        match &self.undiscovered {
            None => format!("the server does not serve {api_version} {kind}"),
            Some(why) => format!("it is not known whether the server serves {api_version} {kind}: {why}"),
        }
    }

    /// One object's turn.
    async fn bring(&self, item: ItemId) -> Restored {
        self.try_to_bring(item).await.unwrap_or_else(|stop| {
            Restored::absent(match stop {
                Stop::Failed(why) => Outcome::Failed(why),
                Stop::Blocked(by) => Outcome::Blocked(by),
            })
        })
    }
}
