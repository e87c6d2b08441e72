//! What the API server holds of an object, and what it does on one DELETE or PATCH (§1).

pub mod delete;
pub mod kinds;
pub mod patch;
mod propagation;
pub mod stored;

pub use delete::{DeleteAnswer, DeleteOptions, delete};
pub use kinds::{KindRules, OwnDelete};
pub use patch::{Patch, PatchAnswer, patch};
pub use propagation::Propagation;
pub use stored::Stored;
