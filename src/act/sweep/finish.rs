//! Taking the last finalizer from a terminating object, which removes it (R1.22).
//!
//! A PATCH that does so is not safe where somebody else does the same: the API server carries it out in two steps, and
//! the second deletes whatever has the name by then, whichever uid and version the PATCH was meant for
//! (`STORE:deleteWithoutFinalizers`, which takes preconditions from a PUT only). Two collectors at once, and somebody
//! who creates an object of that name anew, lose the new one: seen live. A DELETE with Background takes the collector's
//! finalizers as well (R1.21), and its uid holds to the very end. It can't name a version, which would make it fail
//! always (R1.7); but nobody can add a finalizer to a terminating object, and this one was read a moment ago without
//! any other.

use http::StatusCode;

use crate::{
    act::{delete::Deletion, request::delete_options},
    collector::{Answer, Reason},
    server::{PatchAnswer, Propagation, Stored},
};

use super::{
    asking::{Sent, WorkItem, Write},
    observer::What,
    state::Shared,
};

impl Shared {
    /// Removes an object by a DELETE that takes its last finalizer, if that does it. None where a PATCH has to: a pod
    /// in its grace period and a Namespace, on which a second DELETE does nothing (R1.17, R1.25), and where DELETE is
    /// refused to us.
    pub(super) async fn finish(
        &self,
        worked: &mut WorkItem,
        path: &str,
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
        let body = delete_options(&Deletion::by(Propagation::Background), &uid);
        match self.send(worked, path, Write::Delete(&body), What::Finalized, reason).await {
            Sent::Done => Some(Answer::Patched(PatchAnswer::Removed)),
            Sent::Conflict => Some(Answer::Patched(PatchAnswer::Conflict)),
            // What admission or a role has against a DELETE it may not have against the PATCH, which is what the
            // original sends.
            Sent::Failed(trouble)
                if trouble
                    .status()
                    .is_some_and(|status| status.is_client_error() && status != StatusCode::NOT_FOUND) =>
            {
                None
            }
            Sent::Failed(trouble) => Some(self.unwritten(worked, What::Finalized, reason, trouble)),
        }
    }
}
