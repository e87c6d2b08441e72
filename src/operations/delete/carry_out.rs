//! Carries out a delete: sends the user's requests, and follows their effects.

use std::time::Duration;

use crate::{
    act::{DetachedObject, FollowEvent, Followed, KeepError, Released, Sent, cut, put_back, release as release_guards},
    command_line::Kubectl,
    model::Identity,
    plan::{Plan, PlanTracker},
};

use super::{
    super::{LiveSession, clock::Clock, live::interrupted},
    Delete, HeldTarget,
};

/// How long to wait for the former owners of kept objects.
const UNTIL_RELEASED: Duration = Duration::from_secs(60);

/// The result of a delete.
pub struct Done {
    pub sent: Vec<Sent>,
    pub followed: Option<Followed>,
    pub took: Duration,
    /// Objects that were kept, and need nothing more.
    pub kept: Vec<Identity>,
    /// Messages about kept objects that need more work.
    pub unfinished: Vec<String>,
}

/// How to carry out a delete.
pub struct CarryOut<'a> {
    /// Whether to follow the cascade.
    pub wait: bool,
    /// How long to follow; `None`: no limit.
    pub timeout: Option<Duration>,
    /// How to call kubectl for this cluster.
    pub kubectl: &'a Kubectl,
    pub clock: &'a dyn Clock,
    /// The targets that are held: they are let go instead of deleted.
    pub held: Option<&'a [HeldTarget]>,
}

impl Delete {
    /// Removes references from kept objects, sends the DELETEs, and follows the cascade.
    ///
    /// # Errors
    /// Objects that can't be kept; nothing was deleted then.
    pub fn carry_out(
        &mut self,
        plan: &Plan,
        how: &CarryOut<'_>,
        observer: &mut dyn FnMut(FollowEvent),
    ) -> Result<Done, KeepError> {
        let (deletion, assume) = (self.deletion(false), self.config.assume);
        let session = &mut self.session;
        let begun = how.clock.elapsed();
        let took = || how.clock.elapsed().saturating_sub(begun);
        let course = PlanTracker::new(&session.snapshot, plan);
        session.hear_interrupts();
        let detached = session.run(async |connection, snapshot| cut(connection, snapshot, &plan.request.cuts).await)?;
        let sent = match how.held {
            Some(held) => self.let_go(held),
            None => session.delete(&plan.request.targets, &deletion, &mut |_| ()),
        };
        let session = &mut self.session;
        // If an answer was lost, the delete may have been done: kept objects stay detached then.
        if !sent.iter().any(|sent| sent.answered.may_be_done()) {
            let left = session.run(async |connection, snapshot| put_back(connection, snapshot, &detached).await);
            let unfinished = left.into_iter().map(|(object, why)| format!("{object} {why}")).collect();
            return Ok(Done { sent, followed: None, took: took(), kept: Vec::new(), unfinished });
        }
        let (kept, unfinished) = release(session, plan, how, &detached);
        let followed = how.wait.then(|| session.follow(course, &sent, assume, how.timeout, observer));
        Ok(Done { sent, followed, took: took(), kept, unfinished })
    }
}

/// Removes the guards from kept objects. Returns the objects that are done, and messages about the others.
fn release(
    session: &LiveSession,
    plan: &Plan,
    how: &CarryOut<'_>,
    detached: &[DetachedObject],
) -> (Vec<Identity>, Vec<String>) {
    let snapshot = &session.snapshot;
    let guarded = |one: &DetachedObject, why: &str| {
        let name = snapshot.short_name(one.object);
        let command = one.release_command(snapshot, how.kubectl)?;
        Some(format!(
            "{name} is kept; it still has itself as its controller, because {why}. Remove that later with: \
             {command}"
        ))
    };
    if detached.is_empty() {
        return Default::default();
    }
    let patience = how.timeout.unwrap_or(UNTIL_RELEASED).min(UNTIL_RELEASED);
    let released = session.run(async |connection, snapshot| {
        tokio::select! {
            released = release_guards(connection, snapshot, plan, detached, patience) => released.map(Some),
            () = interrupted() => Ok(None),
        }
    });
    let released = match released {
        Ok(Some(released)) => released,
        Ok(None) => {
            return (Vec::new(), detached.iter().filter_map(|one| guarded(one, "the wait was interrupted")).collect());
        }
        Err(KeepError { object, place, why, .. }) => {
            let mut unfinished = vec![format!(
                "{object}{place} is kept, but its temporary controller reference could not be removed: {why}"
            )];
            unfinished.extend(detached.iter().filter_map(|one| guarded(one, "removing these references was given up")));
            return (Vec::new(), unfinished);
        }
    };
    let (mut kept, mut unfinished) = (Vec::new(), Vec::new());
    for ((object, released), one) in released.into_iter().zip(detached) {
        match released {
            Released::Free => kept.push(Identity::of(snapshot, object)),
            Released::Guarded(owner) => {
                let why = format!("{} still exists and would adopt it again", snapshot.short_name(owner));
                unfinished.extend(guarded(one, &why));
            }
            Released::Lost => unfinished
                .push(format!("{} was to be kept, but another client has deleted it.", snapshot.short_name(object))),
        }
    }
    (kept, unfinished)
}
