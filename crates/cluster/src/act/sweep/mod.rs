//! Does the collector's work from here: by the rules that plans simulate ([`gc_core::collector`]), with the API
//! server's own answers.
//!
//! It differs from the real collector only in this:
//!
//! * Every write names the uid and the resourceVersion that it was decided on, even a DELETE after conflicts, which the
//!   collector repeats with the uid alone (R4.2).
//! * A path that isn't served doesn't prove that an object is gone, unless the settings say so (R3.16).
//! * Unblocking changes the references that were just read, not those observed some time before (§4.3).
//! * A finalizer is only taken from the object with the right uid (R4.10), and the last one by a DELETE (`finish`).
//! * Of several references with one uid, all count, not only the last (R3.10, R3.22).
//! * Absence is cached only if a live look-up found it.
//! * An observed item isn't read before it is examined: the write that follows fails if it has changed since.

mod asking;
mod event;
mod keep_on;
mod state;
#[cfg(test)]
mod tests;
mod work;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rustc_hash::FxHashSet;
use tokio::task::JoinHandle;

use crate::cluster::Connection;
use gc_core::{
    collector::{
        GraphView as _, Identity as Coordinates, Known,
        live::{Complaint, KindId, Live},
    },
    graph::NodeId,
    model::{Gap, Identity, Resource, Resources, Symbol},
};

use self::state::{ItemFailure, Shared, Unseen};
pub use self::{
    event::{CompletedWrite, Failed, QueueName, SweepEvent, SweepObserver, SyncStatus, What},
    keep_on::keep_sweeping,
    state::{Coverage, Settings},
};

/// How often to check whether all workers have ended.
const UNTIL_STOPPED: Duration = Duration::from_millis(5);

/// A running collector. Dropping it stops the workers.
pub struct Sweeper {
    shared: Arc<Shared>,
    begun: Instant,
    tasks: Vec<JoinHandle<()>>,
}

/// The state of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepStatus {
    /// Whether nothing is queued or worked on.
    pub idle: bool,
    /// Objects that fail again and again, and why; without those whose references can't be mapped to a served resource,
    /// as long as that is so (R3.13).
    pub failing: Vec<(Identity, String)>,
    /// How long ago something was last written or finished.
    pub quiet: Duration,
}

fn names(gaps: &[Gap]) -> FxHashSet<String> {
    gaps.iter().map(|gap| gap.resource.clone()).collect()
}

impl Sweeper {
    /// Workers that wait for [`Sweeper::begin`]. Must be called within a tokio runtime, which runs them.
    pub fn new(connection: Connection, settings: Settings, observer: SweepObserver) -> Self {
        let shared = Arc::new(Shared::new(connection, settings, observer));
        let mut tasks = vec![tokio::spawn(work::timer(shared.clone()))];
        for number in 0..shared.settings.workers.max(1) {
            for queue in QueueName::ALL {
                tasks.push(tokio::spawn(work::worker(shared.clone(), queue, number)));
            }
        }
        Sweeper { shared, begun: Instant::now(), tasks }
    }

    /// Sets the served resources; `gaps` are the group versions that could not be discovered. Failed look-ups are
    /// repeated at once.
    pub fn serve(&self, resources: Resources, gaps: &[Gap]) {
        self.shared.change(|state| {
            state.resources = resources;
            state.undiscovered = names(gaps);
            state.hasten();
        });
    }

    /// Sets the group versions of which nothing is known, among the same served resources. What is of one that is known
    /// now is tried again at once.
    fn set_undiscovered(&self, gaps: &[Gap]) {
        let undiscovered = names(gaps);
        if self.shared.lock().undiscovered == undiscovered {
            return;
        }
        self.shared.change(|state| {
            state.undiscovered = undiscovered;
            state.hasten();
        });
    }

    /// Sets what may hide dependents. Owners that waited for something that can be read now are tried again at once.
    fn set_unseen(&self, unseen: Vec<Unseen>) {
        if self.shared.lock().unseen == unseen {
            return;
        }
        self.shared.change(|state| {
            if state.unseen.iter().any(|one| !unseen.contains(one)) {
                state.hasten();
            }
            state.unseen = unseen;
        });
    }

    /// Records how far the changes of a kind are known: its events up to there were reported before. An owner that
    /// waits for its dependents keeps its finalizer until they are known.
    pub fn cover(&self, kind: KindId, coverage: Coverage) {
        self.shared.change(|state| state.cover(kind, coverage));
    }

    /// Whether owners wait for lists that begin from now on.
    pub fn wants_lists(&self) -> bool {
        self.shared.lock().wants_lists()
    }

    /// The kinds of objects that the sweep has written to, or read in another state, and no event has shown since.
    pub fn unobserved(&self) -> FxHashSet<KindId> {
        self.shared.lock().live.unobserved()
    }

    /// Changes the graph, and wakes the workers.
    pub fn tell<T>(&self, tell: impl FnOnce(&mut Live) -> T) -> T {
        self.shared.change(|state| tell(&mut state.live))
    }

    /// The number of a resource, under which its objects are reported.
    pub fn kind(&self, resource: &Resource) -> KindId {
        self.shared.lock().live.kind(resource)
    }

    /// How many objects are known, and how many virtual nodes.
    pub fn known(&self) -> (usize, usize) {
        let state = self.shared.lock();
        (state.live.objects(), state.live.only_named())
    }

    /// Starts the workers, with everything that a sweep may have to examine queued.
    pub fn begin(&self) {
        self.shared.change(|state| {
            state.live.begin_sweep();
            state.working = true;
        });
    }

    /// Takes the dependents that name an owner in another namespace, each with that reference (R3.7), since the last
    /// call. Objects outside the limit are left out.
    pub fn complaints(&self) -> Vec<(Identity, Identity)> {
        let mut state = self.shared.lock();
        let complaints = std::mem::take(&mut state.live.complaints);
        let named = |Complaint { dependent, reference }: &Complaint| {
            (state.named(dependent), state.named(&Coordinates::named_by(reference, Symbol::EMPTY)))
        };
        complaints.iter().map(named).collect()
    }

    pub fn standing(&self) -> SweepStatus {
        let state = self.shared.lock();
        let named = |node| state.live.identity(node).map(|coordinates| state.named(&coordinates));
        // A virtual node's dependents report its failure.
        let counts =
            |node: NodeId, failing: &ItemFailure| !failing.unmappable && state.live.known(node) == Known::Observed;
        let failing = state.failing.iter().filter(|(node, failing)| counts(**node, failing));
        let failing = failing.filter_map(|(node, failing)| Some((named(*node)?, failing.why.clone())));
        let mut failing: Vec<(Identity, String)> = failing.collect();
        failing.sort();
        SweepStatus {
            idle: state.live.to_delete.is_idle() && state.live.to_orphan.is_idle(),
            failing,
            quiet: state.moved.unwrap_or(self.begun).elapsed(),
        }
    }

    /// Stops in good order: no further items are begun, and those under way are finished.
    pub async fn stop(&self) {
        self.shared.stop();
        while !self.tasks.iter().all(JoinHandle::is_finished) {
            tokio::time::sleep(UNTIL_STOPPED).await;
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}
