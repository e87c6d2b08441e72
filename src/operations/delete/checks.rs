//! Checks before a delete: that the plan is complete, and which permissions the user needs.

use std::collections::BTreeSet;

use crate::{act::Access, model::Snapshot, plan::Plan, simulate::Request};

use super::super::{
    LiveSession, OperationError,
    unread::{AllowIncomplete, Unread},
};

/// # Errors
/// If unread objects may change what is deleted, unless that is allowed.
pub(super) fn complete(session: &LiveSession, plan: &Plan, allowed: &AllowIncomplete) -> Result<(), OperationError> {
    match Unread::of_plan(session, plan, allowed) {
        Some(unread) => Err(OperationError::Incomplete(Box::new(unread))),
        None => Ok(()),
    }
}

/// The user's own requests: a PATCH for each kept object, and a DELETE for each target. The collector does the rest.
pub(super) fn requests(snapshot: &Snapshot, request: &Request) -> BTreeSet<Access> {
    let kept = request.cuts.iter().flat_map(|cut| Access::to(&["patch"], snapshot, cut.object));
    kept.chain(request.targets.iter().flat_map(|target| Access::to(&["delete"], snapshot, *target))).collect()
}
