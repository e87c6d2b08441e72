//! What the collector would do at once if a file were applied, and how to mend the file's owner references.
//!
//! Pure: [`Scene::of`] puts the objects of a file into a copy of the snapshot, as `kubectl apply` would, and
//! [`ApplyPlan::of`] lets the collector's simulation begin there. [`mends`] says how to change each reference.

mod arrival;
mod fate;
mod manifest;
mod mend;
mod merge;
mod scene;
#[cfg(test)]
mod tests;

pub use arrival::{Arrival, Refusal, Standing, Unread};
pub use fate::{ApplyCounts, ApplyPlan, ApplyResult, Fate, FileObject};
pub use manifest::{FileReference, ManifestObject, Place, name_of};
pub use mend::{Mend, Mending, mends};
pub use merge::LastApplied;
pub use scene::{Placed, Scene};
