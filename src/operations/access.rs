//! Checks the user's permissions.

use crate::{act::Verdicts, model::Resources};

use super::OperationError;

/// Fails if the user lacks permissions; returns a note if that could not be checked.
///
/// # Errors
/// All requests that the API server would forbid. `done` says what was not done because of that.
pub(super) fn require_allowed(
    verdicts: Verdicts,
    resources: &Resources,
    done: &'static str,
) -> Result<Option<String>, OperationError> {
    if let Some(what) = verdicts.forbidden(resources) {
        return Err(OperationError::Forbidden { done, what });
    }
    Ok(verdicts.unknown.map(|why| format!("Your permissions could not be checked beforehand ({why}).")))
}
