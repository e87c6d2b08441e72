//! Archives the objects that a delete of the targets would remove, without deleting them.

use crate::{
    archive::Saved,
    model::ObjectId,
    plan::Plan,
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    LiveSession, OperationError,
    archiving::{Archiving, Goes, goes, placed},
    complete::complete,
    predict::{PlanOptions, PlanResult, predict},
    unread::AllowIncomplete,
};

/// How often to plan again because objects were replaced while the archive was written.
const ROUNDS: usize = 4;

/// How to archive.
#[derive(Clone, Debug)]
pub struct ArchiveConfig {
    pub propagation: Propagation,
    pub assume: Assume,
    pub allow_incomplete: AllowIncomplete,
}

/// The result of archiving.
pub struct Archived {
    pub plan: Plan,
    pub goes: Goes,
    pub saved: Saved,
}

/// Archives everything that a delete of the session's targets would remove.
///
/// # Errors
/// Objects that can't be archived; nothing is written then.
pub fn archive(
    session: &mut LiveSession,
    archiving: &mut Archiving,
    config: &ArchiveConfig,
) -> Result<Archived, OperationError> {
    let (path, options) = (archiving.path().to_owned(), PlanOptions::default());
    let allowed = config.allow_incomplete.resolve(&session.snapshot.resources)?;
    let take = |session: &mut LiveSession| {
        let targets = session.targets.clone().unwrap_or_default();
        let PlanResult { plan, .. } =
            predict(session, &Request::delete(targets, config.propagation), config.assume, &options)?;
        let goes = goes(&session.snapshot, &plan, config.assume);
        goes.require_complete(session, &plan, &path, &allowed)?;
        let gone = archiving.take(session, &goes)?;
        Ok((plan, goes, gone))
    };
    let (plan, goes, _) =
        complete(ROUNDS, session, take, |session, (plan, _, gone)| recheck(session, plan, gone, &path))?;
    let saved = archiving.save(&session.snapshot, &plan)?;
    Ok(Archived { plan, goes, saved })
}

/// Reads missing objects again: another object may have taken the name, and may be deleted instead. Returns whether
/// anything has changed.
fn recheck(session: &mut LiveSession, plan: &Plan, gone: &[ObjectId], path: &str) -> Result<bool, OperationError> {
    if let Some(target) = plan.request.targets.iter().find(|target| gone.contains(target)) {
        return Err(OperationError::Moved { object: placed(&session.snapshot, *target), path: path.to_owned() });
    }
    let snapshot = &session.snapshot;
    let uids: Vec<_> = plan.request.targets.iter().map(|target| snapshot.object(*target).uid).collect();
    if gone.is_empty() || !session.recheck(gone) {
        return Ok(false);
    }
    session.targets = Some(uids.into_iter().filter_map(|uid| session.snapshot.by_uid(uid)).collect());
    Ok(true)
}
