//! Checks the user's permissions.

use std::collections::BTreeSet;

use crate::{
    act::{Access, Verdicts, review},
    model::Resources,
};

use super::{LiveSession, OperationError, live::Cluster};

impl Cluster {
    /// Which of these requests the user may not make.
    pub(super) fn review(&self, resources: &Resources, wanted: &BTreeSet<Access>) -> Verdicts {
        self.runtime.block_on(review(&self.connection, resources, wanted))
    }

    /// Fails if the user lacks permissions; returns a note if that could not be checked.
    ///
    /// # Errors
    /// All requests that the API server would forbid. `done` says what was not done because of that.
    pub(super) fn require_allowed(
        &self,
        resources: &Resources,
        wanted: &BTreeSet<Access>,
        done: &'static str,
    ) -> Result<Option<String>, OperationError> {
        let verdicts = self.review(resources, wanted);
        if let Some(what) = verdicts.forbidden(resources) {
            return Err(OperationError::Forbidden { done, what });
        }
        Ok(verdicts.unknown.map(|why| format!("Your permissions could not be checked beforehand ({why}).")))
    }
}

impl LiveSession {
    /// See [`Cluster::require_allowed`].
    pub(super) fn require_allowed(
        &self,
        wanted: &BTreeSet<Access>,
        done: &'static str,
    ) -> Result<Option<String>, OperationError> {
        self.source.require_allowed(&self.snapshot.resources, wanted, done)
    }
}
