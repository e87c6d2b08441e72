//! What the user must be allowed to do.

use crate::{act::Verdicts, model::Resources};

use super::OperationError;

/// Returns a note where it could not be found out whether the user may.
///
/// # Errors
/// All that the API server would forbid. `done` says what was not done because of it.
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
