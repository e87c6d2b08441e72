//! What prevents writes in the cluster as it is, or once a simulated delete has gone that far: admission webhooks that
//! must be asked and can't be (S9), aggregated APIs without a backend (S11), a controller manager that is away (S7).
//!
//! The only place that judges these: a simulation heeds them, and [`crate::doctor`] reports them.

mod admission;
mod apis;
mod backend;
mod found;
mod policies;
mod refused;
mod removed;

use crate::model::ObjectId;

use super::{context::SimContext, liveness::of_controller_manager, needs::Needs, state::Liveness};

pub use admission::Operation;
pub(crate) use admission::{Called, WebhookCall, selects_namespace, webhook_calls};
pub use backend::reach;
pub(crate) use backend::{Lack, Reach, behind, why_unreachable};
pub use found::{Obstacle, ObstacleKind};
pub(crate) use policies::{BoundPolicy, Refuses, bound_policies};
pub use refused::Refusal;
pub(crate) use refused::RefusedWrite;

use admission::Admission;
use apis::Apis;

/// The obstacles that a simulation heeds.
#[derive(Debug)]
pub(crate) struct Obstacles<'a> {
    pub admission: Admission<'a>,
    pub apis: Apis,
    /// The controller manager's Lease, and why it shows that no controller manager runs.
    pub manager_away: Option<(ObjectId, String)>,
    /// Whether only what empties namespaces is refused, and the collector's writes are not.
    pub of_content: bool,
    /// What must be read to know them.
    pub needs: Needs,
}

impl<'a> Obstacles<'a> {
    /// `now` in Unix seconds; `None` if unknown.
    pub(super) fn of(context: &SimContext<'a>, now: Option<i64>) -> Self {
        let mut obstacles = Obstacles::to_writes(context);
        if let (Some(lease), Liveness::Away(why)) = of_controller_manager(context, now, &mut obstacles.needs) {
            obstacles.manager_away = Some((lease, why));
        }
        obstacles
    }

    /// Without judging whether a controller manager runs.
    pub(super) fn to_writes(context: &SimContext<'a>) -> Self {
        let mut needs = Needs::default();
        let admission = Admission::of(context, &mut needs);
        Obstacles { admission, apis: Apis::default(), manager_away: None, of_content: false, needs }
    }
}

impl<'a> SimContext<'a> {
    /// The same for simulations that heed obstacles: webhooks and APIs that don't answer, and an absent controller
    /// manager. `now` in Unix seconds; `None` if unknown.
    #[must_use]
    pub fn with_obstacles(mut self, now: Option<i64>) -> Self {
        self.obstacles = Some(Obstacles::of(&self, now));
        self
    }

    /// The same for simulations that heed what prevents writes, whether a controller manager runs or not: a sweep does
    /// the collector's work itself.
    #[must_use]
    pub fn with_refused_writes(mut self) -> Self {
        self.obstacles = Some(Obstacles::to_writes(&self));
        self
    }

    /// The same for simulations that heed what keeps namespaces from being emptied. A diagnosis says by itself what
    /// keeps the collector from writing, and what happens once it can.
    #[must_use]
    pub fn with_refused_content(mut self) -> Self {
        self.obstacles = Some(Obstacles { of_content: true, ..Obstacles::to_writes(&self) });
        self
    }
}
