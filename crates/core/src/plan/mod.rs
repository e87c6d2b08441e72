//! Plans: what a delete would do to every object, how certain that is, and what happens outside the graph.

pub mod because;
mod build;
mod explore;
#[cfg(test)]
mod explore_tests;
mod gates;
mod incomplete;
mod keep;
mod outcome;
mod radius;
mod side_effects;
pub mod tracker;
mod unlisted;
mod verdict;

pub use because::{Because, because};
pub use build::plan;
pub use explore::explore;
pub use gates::{
    ConfirmationReason, Consent, EffectClass, Gate, GateViolation, Gates, gate_violations, severe_objects,
};
pub use incomplete::Incomplete;
pub use keep::{KeepPlan, Kept, Unkeepable, keep};
pub use outcome::{
    After, Afterwards, Alternative, ClaimsOfSet, JointEnd, Note, NoteKind, Outcome, OutcomeKind, OutsideEffect, Plan,
    Summary, Then,
};
pub use radius::{EffectCounts, Radius, RadiusObstacle, blast_radius};
pub use side_effects::{adopters_of, effects_of};
pub use tracker::PlanTracker;
pub use unlisted::{Unlisted, UnlistedContents, removed, unlisted, unlisted_contents};
pub use verdict::{MORE_OBJECTS, ReasonKind, Verdict, VerdictCounts, VerdictReason, VerdictResult};
