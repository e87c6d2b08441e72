//! Foretelling: a delete is played out on an overlay of the snapshot, and what came of it is told.

pub mod actors;
mod answer;
pub mod besides;
pub mod beyond;
mod built_in;
pub mod cause;
pub mod confluence;
mod consent;
pub mod delays;
mod doubt;
mod ends;
pub mod explore;
pub mod held;
mod incomplete;
mod next;
pub mod orders;
mod parts;
pub mod plan;
mod prognosis;
pub mod schedule;
mod start;
pub mod world;

pub use actors::Assumption;
pub use besides::{Besides, Unlisted, besides};
pub use beyond::{Afterwards, Note, NoteKind, OutsideEffect, effects_of};
pub use built_in::BuiltIn;
pub use cause::{Cause, Change, Effect};
pub use consent::{Consent, Weight};
pub use explore::explore;
pub use held::{Held, Holder, State};
pub use incomplete::Incomplete;
pub use next::{Idle, Next, may_lag_after_restart};
pub use plan::{After, Alternative, JointEnd, Outcome, OutcomeKind, Plan, Request, Summary, Uncertainty, plan};
pub use prognosis::{Fate, Prognosis};
pub use start::{Lists, Only, Start};
pub use world::{Assume, Needs, Stage, World};
