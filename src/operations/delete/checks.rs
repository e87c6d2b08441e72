//! Checks before a delete: that the plan is complete, and that the user has the permissions.

use std::collections::BTreeSet;

use crate::{
    act::{Access, review},
    model::{ObjectId, Snapshot},
    plan::Plan,
    simulate::Request,
};

use super::super::{
    LiveSession, OperationError,
    access::require_allowed,
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

/// # Errors
/// All requests that the API server would forbid.
pub(super) fn allowed(session: &LiveSession, wanted: &BTreeSet<Access>) -> Result<Option<String>, OperationError> {
    let verdicts = session.run(async |connection, snapshot| review(connection, &snapshot.resources, wanted).await);
    require_allowed(verdicts, &session.snapshot.resources, "deleted")
}

/// The user's own requests: a PATCH for each kept object, and a DELETE for each target. The collector does the rest.
pub(super) fn requests(snapshot: &Snapshot, request: &Request) -> BTreeSet<Access> {
    let kept = request.cuts.iter().map(|cut| access(snapshot, cut.object, "patch"));
    kept.chain(request.targets.iter().map(|target| access(snapshot, *target, "delete"))).collect()
}

/// One request for one object.
fn access(snapshot: &Snapshot, object: ObjectId, verb: &'static str) -> Access {
    let found = snapshot.object(object);
    let (namespace, name) = (snapshot.text(found.namespace).to_owned(), snapshot.text(found.name).to_owned());
    Access { verb, resource: found.resource, subresource: "", namespace, name }
}
