//! Plans: what a delete would do to every object, how certain that is, and what happens outside the graph.

mod alternatives;
pub mod because;
mod build;
mod consent;
mod explore;
#[cfg(test)]
mod explore_tests;
mod gates;
mod incomplete;
mod keep;
mod note;
mod outcome;
mod possible_deletions;
mod radius;
mod reaction;
mod side_effects;
mod then;
pub mod tracker;
mod unlisted_contents;
mod verdict;

pub use because::Because;
pub use because::because;
pub use build::plan;
pub use consent::{ConfirmationReason, Consent, severe_objects};
pub use explore::explore;
pub use gates::{EffectClass, Gate, GateViolation, Gates, gate_violations};
pub use incomplete::Incomplete;
pub use keep::{KeepPlan, Kept, Unkeepable, keep};
pub use note::{Note, NoteKind};
pub use outcome::{After, Alternative, JointEnd, Outcome, OutcomeKind, Plan, Summary, Then};
pub use possible_deletions::removed;
pub use radius::{EffectCounts, Radius, RadiusObstacle, blast_radius};
pub use reaction::{Afterwards, ClaimsOfSet, OutsideEffect};
pub use side_effects::{adopters_of, effects_of};
pub use tracker::PlanTracker;
pub use unlisted_contents::{Unlisted, UnlistedContents, unlisted, unlisted_contents};
pub use verdict::{MORE_OBJECTS, ReasonKind, Verdict, VerdictCounts, VerdictReason, VerdictResult};
