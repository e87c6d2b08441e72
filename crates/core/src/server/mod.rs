//! A model of the API server: the effect of one DELETE or PATCH on an object (§1).

pub mod delete;
pub mod kinds;
mod patch;
mod stored;

pub use crate::model::Propagation;
pub use delete::{DeleteAnswer, DeleteOptions, delete};
pub use kinds::{KindRules, OwnDelete};
pub use patch::{Patch, PatchAnswer, patch};
pub use stored::Stored;
