//! The propagation policy of a DELETE.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// What happens to the dependents of a deleted object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr)]
pub enum Propagation {
    /// The object is removed first, then its dependents.
    #[default]
    Background,
    /// The dependents are removed first; the object waits for those that block it.
    Foreground,
    /// The dependents stay and lose their references to the object.
    Orphan,
}

named!(Propagation);

impl Propagation {
    /// The flag of `kubectl delete` and `kubectl gc` that asks for this policy.
    #[must_use]
    pub fn flag(self) -> String {
        format!("--cascade={}", self.name().to_lowercase())
    }

    /// The same, unless it is the default.
    #[must_use]
    pub fn flag_if_needed(self) -> Option<String> {
        (self != Propagation::default()).then(|| self.flag())
    }
}
