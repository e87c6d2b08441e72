//! What prevents writes in the cluster as it is, or once a simulated delete has gone that far: admission webhooks that
//! must be asked and can't be (S9), aggregated APIs without a backend (S11), a controller manager that is away (S7).
//!
//! The only place that judges these: a simulation heeds them, and [`crate::doctor`] reports them.

mod admission;
mod apis;
mod backend;
mod found;
mod guards;
mod heeded;
mod policies;
mod refused;
mod removed;
mod starting;
mod told;

use std::sync::OnceLock;

use crate::model::{Origin, Snapshot};

use super::{context::SimContext, doubt::ManagerDoubt, liveness::of_controller_manager, state::Liveness};

pub(crate) use admission::{selects_namespace, webhook_calls};
pub use backend::reach;
pub(crate) use backend::{behind, why_unreachable};
pub use guards::is_on;
pub use heeded::Operation;
pub(crate) use heeded::{BoundPolicy, Called, Lack, Obstacles, Reach, WebhookCall};
pub(crate) use policies::{Refuses, bound_policies};
pub(crate) use starting::{Writes, refuses_its_start};
pub(crate) use told::RefusedWrite;
pub use told::{Obstacle, ObstacleKind, Refusal};

use heeded::{Admission, Apis, Hook};

impl<'a> SimContext<'a> {
    /// The same context for simulations that heed obstacles: webhooks and APIs that don't answer, and an absent
    /// controller manager. `now` in Unix seconds; `None` if unknown.
    #[must_use]
    pub fn with_obstacles(mut self, now: Option<i64>) -> Self {
        let mut obstacles = to_writes(&self);
        let ((lease, liveness), needs) = self.aside(|| of_controller_manager(&self, now));
        let doubt = self.manager_doubt(lease, now);
        match (lease, liveness) {
            (Some(lease), Liveness::Away(why)) if !doubt.is_some_and(ManagerDoubt::may_pass) => {
                obstacles.manager_away = Some((lease, why));
            }
            _ => obstacles.doubt = doubt,
        }
        obstacles.needs.add(&needs);
        self.obstacles = Some(obstacles);
        self
    }

    /// The same while a sweep does the collector's work: only the rest of the controller manager may be absent.
    #[must_use]
    pub fn with_obstacles_of_sweep(self, now: Option<i64>) -> Self {
        let mut context = self.with_obstacles(now);
        if let Some(obstacles) = &mut context.obstacles {
            (obstacles.swept, obstacles.doubt) = (true, None);
        }
        context
    }

    /// The same while a sweep does the collector's work, which finds out by itself what refuses its writes.
    #[must_use]
    pub fn with_manager_of_sweep(self, now: Option<i64>) -> Self {
        let mut context = self.with_obstacles_of_sweep(now);
        if let Some(obstacles) = &mut context.obstacles {
            obstacles.of_content = true;
        }
        context
    }

    /// A context of the same cluster, with a sweep that does the collector's work instead.
    pub(crate) fn swept(&self) -> Self {
        let mut context = SimContext::new(self.snapshot, self.graph, self.assume).at(self.now).with_refused_writes();
        let away = self.obstacles.as_ref().and_then(|obstacles| obstacles.manager_away.clone());
        if let Some(obstacles) = &mut context.obstacles {
            (obstacles.manager_away, obstacles.swept) = (away, true);
        }
        context
    }

    /// Whether the collector is away, and no sweep does its work.
    pub(crate) fn lacks_collector(&self) -> bool {
        self.obstacles.as_ref().is_some_and(|obstacles| obstacles.manager_away.is_some() && !obstacles.swept)
    }

    /// Why no controller manager is known to run, if simulations heed that.
    pub(crate) fn why_manager_away(&self) -> Option<&str> {
        Some(&self.obstacles.as_ref()?.manager_away.as_ref()?.1)
    }

    /// The same for simulations that heed what prevents writes, whether a controller manager runs or not.
    #[must_use]
    pub fn with_refused_writes(mut self) -> Self {
        self.obstacles = Some(to_writes(&self));
        self
    }

    /// The same for simulations that heed what keeps namespaces from being emptied. A diagnosis says by itself what
    /// keeps the collector from writing, and what happens once it can.
    #[must_use]
    pub fn with_refused_content(mut self) -> Self {
        self.obstacles = Some(Obstacles { of_content: true, ..to_writes(&self) });
        self
    }
}

/// What prevents writes, without judging whether a controller manager runs.
fn to_writes<'a>(context: &SimContext<'a>) -> Obstacles<'a> {
    let ((calls, policies), needs) = context.aside(|| (webhook_calls(context), bound_policies(context)));
    let hooks = calls.into_iter().map(|call| Hook { call, reach: OnceLock::new() }).collect();
    // What is needed here and was asked for in vain stays needed.
    let unread = !needs.is_empty() || some_unlisted(context.snapshot);
    let admission = Admission { hooks, policies, unread, by_rules: OnceLock::new() };
    let (apis, manager_away, doubt) = (Apis::default(), None, None);
    Obstacles { admission, apis, manager_away, doubt, swept: false, of_content: false, needs }
}

/// Whether a list of webhooks or policies of a live cluster could not be read. Most dumps have none of these.
fn some_unlisted(snapshot: &Snapshot) -> bool {
    let resources = &snapshot.resources;
    let of_admission = resources.iter().filter(|(_, resource)| resource.is_of_admission());
    let mut unlisted = of_admission.filter(|(id, _)| !snapshot.covers(*id, None));
    matches!(snapshot.origin, Origin::Cluster { .. }) && unlisted.next().is_some()
}
