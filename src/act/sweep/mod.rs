//! The collector's work, done from here: the rules that plans are played by ([`crate::collector`]), with the API
//! server's own answers.
//!
//! What this does differently from the original, and only this: every write names the uid and the resourceVersion of
//! what it was decided on (also a DELETE after conflicts, which the original repeats by the uid alone, R4.2); a path
//! that isn't served is no proof that an object is gone, unless that is asked for (R3.16); what is switched to
//! non-blocking is what was just read, not what was observed some time before (§4.3); a finalizer is only taken from
//! the object with the right uid (R4.10), and the last one by a DELETE (`finish`); of several references with one uid,
//! all count and not only the last (R3.10, R3.22); and absence is cached only if a live look-up found it. An item isn't
//! asked for before it is examined if it was observed: the write that follows fails if it has changed since.

mod asking;
mod backoff;
mod finish;
mod keep_on;
mod observer;
mod state;
#[cfg(test)]
mod tests;
mod work;

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use crate::{
    cluster::Connection,
    collector::{
        GraphView as _, Identity as Coordinates, Known,
        live::{Complaint, KindId, Limit, Live},
    },
    graph::NodeId,
    model::{Gap, Identity, RawObject, Resource, Resources, Symbol},
};

pub use keep_on::{SyncStatus, WatchObserver, keep_sweeping};
pub use observer::{CompletedWrite, Failed, QueueName, SweepObserver, What, WriteFailure};

use state::{ItemFailure, Served, Shared};

/// How often it is looked whether all workers have ended.
const UNTIL_STOPPED: Duration = Duration::from_millis(5);

/// How to sweep.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How many items of each queue are worked on at once.
    pub workers: usize,
    /// Whether an API path that isn't there is taken for the absence of an object (R3.16), as the original does.
    pub trust_missing_apis: bool,
    /// What is written to.
    pub limit: Limit,
}

/// A collector at work. It ends when this is dropped.
pub struct Sweeper {
    shared: Arc<Shared>,
    begun: Instant,
    tasks: Vec<JoinHandle<()>>,
}

/// How a sweep stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SweepStatus {
    /// Nothing is queued or worked on.
    pub idle: bool,
    /// Objects that are tried again and again in vain, and why; but for those whose references nobody can look up, as
    /// long as nobody serves what they name (R3.13).
    pub failing: Vec<(Identity, String)>,
    /// For how long nothing has been written or has come to its end.
    pub quiet: Duration,
}

impl Sweeper {
    /// Workers that have nothing to do yet ([`Sweeper::begin`]). Must be called within a tokio runtime, which they run
    /// on.
    pub fn new(connection: Connection, settings: Settings, observer: Arc<dyn SweepObserver>) -> Self {
        let shared = Arc::new(Shared::new(connection, settings, observer));
        let mut tasks = vec![tokio::spawn(work::timer(shared.clone()))];
        for _ in 0..shared.settings.workers.max(1) {
            for queue in [QueueName::ToDelete, QueueName::ToOrphan] {
                tasks.push(tokio::spawn(work::worker(shared.clone(), queue)));
            }
        }
        Sweeper { shared, begun: Instant::now(), tasks }
    }

    /// What is served from now on, but for these group versions, of which it isn't known. What could not be looked up
    /// before is tried anew.
    pub fn serve(&self, resources: Resources, gaps: &[Gap]) {
        let undiscovered = gaps.iter().map(|gap| gap.resource.clone()).collect();
        self.shared.change(|state| {
            state.served = Arc::new(Served { resources, undiscovered });
            let now = Instant::now();
            state.backoff.hasten(now);
            state.orphan_backoff.hasten(now);
        });
    }

    /// Tells the graph something.
    pub fn tell<T>(&self, tell: impl FnOnce(&mut Live) -> T) -> T {
        self.shared.change(|state| tell(&mut state.live))
    }

    /// The number of a resource, under which what is seen of it is told.
    pub fn kind(&self, resource: &Resource) -> KindId {
        self.shared.lock().live.kind(resource)
    }

    /// How many objects are known, and how many owners are only named.
    pub fn known(&self) -> (usize, usize) {
        let state = self.shared.lock();
        (state.live.objects(), state.live.only_named())
    }

    /// An object is seen.
    pub fn see(&self, kind: KindId, object: &RawObject<'_>) {
        self.tell(|live| live.see(kind, object));
    }

    /// The workers begin, with all that a sweep may have to do with.
    pub fn begin(&self) {
        self.shared.change(|state| {
            state.live.begin_sweep();
            state.working = true;
        });
    }

    /// Dependents that name an owner in another namespace, and what they call it, since this was asked last (R3.7).
    /// What may not be written to is not complained of, either.
    pub fn complaints(&self) -> Vec<(Identity, Identity)> {
        let mut state = self.shared.lock();
        let complaints = std::mem::take(&mut state.live.complaints);
        let named = |Complaint { dependent, reference }: &Complaint| {
            (state.named(dependent), state.named(&Coordinates::named_by(reference, Symbol::EMPTY)))
        };
        complaints.iter().map(named).collect()
    }

    /// How it stands.
    pub fn standing(&self) -> SweepStatus {
        let state = self.shared.lock();
        let named = |node| state.live.identity(node).map(|coordinates| state.named(&coordinates));
        // Of an owner that is only referred to, those tell that refer to it.
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

    /// Ends it in good order: no item is begun any more, and those that are worked on are brought to their end.
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
