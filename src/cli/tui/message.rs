//! What the threads beside the screen say.

use crate::{
    operations::OperationError,
    tui::{News, Scene},
};
use gc_core::model::Identity;

use super::super::report::Report;

/// What the threads beside the screen say.
pub(super) enum Message {
    /// The source is read: the first scene, and the targets in it.
    Ready(Box<Scene>, Vec<Identity>),
    Failed(OperationError),
    News(News),
    /// A delete is over.
    Deleted(Box<Report>),
    /// A thread has panicked: what it said is on standard error.
    Broken,
}
