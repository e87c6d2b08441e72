//! Asks the API server about a delete and about what follows from it, as dry runs.

use crate::{
    act::{Answered, Deletion, Sent},
    model::ObjectId,
    plan::Plan,
    server::Propagation,
};

use super::Delete;

/// At most this many dependents are tried: each is a request.
const MOST: usize = 200;

/// What the API server says about the DELETEs that follow from a delete, if the user sent them. It may say something
/// else to the collector and the namespace controller: webhooks and policies see who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DependentsTried {
    /// How many it would delete.
    pub accepted: usize,
    /// Its objections, in sentences.
    pub refusals: Vec<String>,
    /// How many the user may not delete, so that nothing is known about them.
    pub forbidden: usize,
    /// How many were not tried.
    pub untried: usize,
}

impl Delete {
    /// The API server's objections to the DELETE of each target.
    pub fn server_refusals(&mut self, targets: &[ObjectId]) -> Vec<String> {
        let deletion = self.deletion(true);
        let sent: Vec<Sent> = self.try_out(targets, &deletion);
        sent.iter().filter_map(objection).collect()
    }

    /// Sends a dry run for each other object that the plan deletes, or would delete without an obstacle.
    pub fn try_dependents(&mut self, plan: &Plan) -> DependentsTried {
        let removed = plan.outcomes.iter().filter(|outcome| outcome.kind.removes()).map(|outcome| outcome.object);
        let prevented = plan.obstacles.iter().flat_map(|obstacle| obstacle.prevents.iter().copied());
        let mut objects: Vec<ObjectId> = removed.chain(prevented).collect();
        objects.sort_unstable();
        objects.dedup();
        objects.retain(|id| !plan.request.targets.contains(id) && !self.session.snapshot.object(*id).terminating());
        let mut tried = DependentsTried { untried: objects.len().saturating_sub(MOST), ..DependentsTried::default() };
        objects.truncate(MOST);
        let deletion = Deletion { propagation: Propagation::Background, grace: None, dry_run: true };
        for sent in self.try_out(&objects, &deletion) {
            match objection(&sent) {
                None => tried.accepted += 1,
                // The authorizer's words: the user's rights say nothing about the collector's.
                Some(words) if words.contains("is forbidden: User ") => tried.forbidden += 1,
                Some(words) => tried.refusals.push(words),
            }
        }
        tried
    }

    fn try_out(&self, objects: &[ObjectId], deletion: &Deletion) -> Vec<Sent> {
        objects.iter().flat_map(|object| self.session.delete(&[*object], deletion, &mut |_| ())).collect()
    }
}

/// Why the API server would not delete an object; `None` if it would.
fn objection(sent: &Sent) -> Option<String> {
    let name = sent.target.short_name();
    match &sent.answered {
        Answered::Removed | Answered::Accepted | Answered::GoneBefore | Answered::Replaced | Answered::NotSent => None,
        Answered::Refused { reason } => Some(format!("the API server refuses to delete {name}: {reason}")),
        Answered::Unsure { reason } | Answered::Failed { reason } => {
            Some(format!("whether the API server would delete {name} is not known: {reason}"))
        }
    }
}
