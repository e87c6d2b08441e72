//! What the cluster will remove by itself: when, by which controller, by which rule (§12). Pure: `now` is passed in.
//!
//! ```text
//! scene      the objects by kind, and what is known of them     removal  what goes: when, why, and with what
//! settings   what nobody can read of the controllers            stays    what doesn't go, though one might expect it
//! jobs, cron_jobs, replica_sets, revisions, pods, volumes, claims, certificates, tokens, account_tokens, leases
//!            each finds what one controller removes             takes    what the collector removes with it
//! ```

mod account_tokens;
mod certificates;
mod claims;
mod cron_jobs;
mod jobs;
mod leases;
mod pods;
mod removal;
mod replica_sets;
mod revisions;
mod scene;
mod settings;
mod takes;
#[cfg(test)]
mod tests;
mod tokens;
mod volumes;

use crate::{
    graph::OwnerGraph,
    model::{Gap, ObjectId, Rule, Snapshot},
};

pub use removal::{End, Held, Reason, Removal, Stays, When};
pub use settings::{Assumption, Settings};

use scene::Scene;

/// What a cluster will remove by itself, and what it won't.
#[derive(Clone, Debug, Default)]
pub struct Forecast {
    /// The earliest first; what waits for an event comes last.
    pub removals: Vec<Removal>,
    /// What one might expect to go, and stays.
    pub stays: Vec<Stays>,
    /// What was assumed, because it can't be read.
    pub assumptions: Vec<Assumption>,
    /// Objects of which only metadata is known.
    pub gaps: Vec<Gap>,
}

/// What the cluster of a snapshot will remove by itself, as of `now` in Unix seconds.
pub fn forecast(snapshot: &Snapshot, settings: &Settings, now: i64) -> Forecast {
    let graph = OwnerGraph::new(snapshot);
    let scene = Scene::new(snapshot, settings, now);
    let mut found = Found::default();
    jobs::find(&scene, &mut found);
    replica_sets::find(&scene, &mut found);
    revisions::find(&scene, &mut found);
    volumes::find(&scene, &mut found);
    claims::find(&scene, &mut found);
    certificates::find(&scene, &mut found);
    tokens::find(&scene, &mut found);
    account_tokens::find(&scene, &mut found);
    leases::find(&scene, &graph, &mut found);
    pods::find(&scene, &mut found);
    // These count objects, some of which others remove meanwhile.
    cron_jobs::find(&scene, &mut found);
    pods::find_terminated(&scene, &graph, &mut found);
    let Found { removals, stays } = found;
    let removals = removal::merged(&scene, &graph, removals);
    let going = |id: ObjectId| removals.iter().any(|removal| removal.object == id);
    let stays = stays.into_iter().filter(|stays| !going(stays.object)).collect();
    Forecast { stays, assumptions: settings.assumptions(&removals), gaps: scene.gaps(), removals }
}

/// What the sorts have found so far.
#[derive(Default)]
struct Found {
    /// By one reason each.
    removals: Vec<(ObjectId, Reason)>,
    stays: Vec<Stays>,
}

impl Found {
    fn goes(&mut self, object: ObjectId, reason: Reason) {
        self.removals.push((object, reason));
    }

    fn stays(&mut self, object: ObjectId, rule: Rule, why: impl Into<String>) {
        self.stays.push(Stays { object, rule, why: why.into() });
    }
}
