//! Checks before a delete: that the plan is complete, and that the user has the permissions.

use std::collections::BTreeSet;

use crate::{
    act::{Access, review},
    model::{ObjectId, Snapshot},
    plan::{Incomplete, Plan},
    simulate::Request,
};

use super::super::{LiveSession, OperationError, access::require_allowed};

/// # Errors
/// If unread objects may change what is deleted, unless that is allowed.
pub(super) fn complete(snapshot: &Snapshot, plan: &Plan, allowed: bool) -> Result<(), OperationError> {
    let missing = Incomplete::of(snapshot, plan);
    if allowed || !missing.matters() {
        return Ok(());
    }
    let unseen = missing.unseen.iter().map(ToString::to_string).collect();
    Err(OperationError::Incomplete { uncertain: missing.uncertain, unseen })
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
