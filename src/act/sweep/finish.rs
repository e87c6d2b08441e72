//! Takes the last finalizer from a terminating object, which removes it (R1.22).
//!
//! A PATCH is not safe here if another client does the same: the API server carries it out in two steps, and the second
//! deletes whatever object has the name by then, whichever uid and version the PATCH names
//! (`STORE:deleteWithoutFinalizers`, which takes preconditions from a PUT only). Seen on a real cluster: with two
//! collectors at work, an object that is created again under the name is lost. A DELETE with Background removes the
//! collector's finalizers as well (R1.21), and the API server checks its uid to the very end. It can't name a version,
//! because it would then always fail (R1.7); but no one can add a finalizer to a terminating object, and the last read
//! showed no other.

use http::StatusCode;

use crate::{
    act::{delete::Deletion, request::delete_options},
    cluster::path::ObjectPath,
    collector::{Answer, Reason},
    server::{PatchAnswer, Propagation, Stored},
};

use super::{
    asking::{Sent, WorkItem, Write},
    observer::What,
    state::Shared,
};

impl Shared {
    /// Removes an object by a DELETE that takes its last finalizer. None if a PATCH has to do it: for a pod in its
    /// grace period or a Namespace, on which a second DELETE has no effect (R1.17, R1.25), and if the DELETE is
    /// refused.
    pub(super) async fn finish(
        &self,
        worked: &mut WorkItem,
        path: &ObjectPath,
        after: &Stored<'static>,
        reason: &Reason,
    ) -> Option<Answer<'static>> {
        let removes = after.terminating && after.finalizers.is_empty() && after.grace.unwrap_or(0) == 0;
        let (is_namespace, uid) = {
            let (state, coordinates) = (self.lock(), worked.coordinates());
            let is = |symbol, text: &str| state.live.text(symbol) == text;
            let is_namespace = is(coordinates.api_version, "v1") && is(coordinates.kind, "Namespace");
            (is_namespace, state.live.text(coordinates.uid).to_owned())
        };
        if !removes || is_namespace {
            return None;
        }
        let body = delete_options(&Deletion::by(Propagation::Background), &uid, None);
        match self.send(worked, path, Write::Delete(&body), What::Finalized, reason).await {
            Sent::Done => Some(Answer::Patched(PatchAnswer::Removed)),
            Sent::Conflict => Some(Answer::Patched(PatchAnswer::Conflict)),
            // Admission or RBAC may refuse a DELETE, but allow the PATCH that the collector sends.
            Sent::Failed(trouble)
                if trouble
                    .status()
                    .is_some_and(|status| status.is_client_error() && status != StatusCode::NOT_FOUND) =>
            {
                None
            }
            Sent::Failed(trouble) => Some(self.unwritten(worked, path, What::Finalized, reason, trouble)),
        }
    }
}
