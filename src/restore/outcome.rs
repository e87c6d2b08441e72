//! What came of each object of an archive.

use super::{compare::Difference, left_out::LeftOut, plan::ItemId};

/// What came of one object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It would be created: nothing was done, because that was asked for.
    WouldBeCreated,
    /// It was created.
    Created,
    /// It was created by an earlier run of the same restore, which may have been interrupted; what that left undone is
    /// done now.
    AlreadyBack,
    /// It is there, as it was archived.
    Same,
    /// It is there, and differs from what was archived. It was left alone.
    Different(Vec<Difference>),
    /// It was not brought back, and need not be.
    LeftOut(LeftOut),
    /// It could not be brought back, for this reason.
    Failed(String),
    /// It was not tried, because this one, which it needs, could not be brought back.
    Blocked(ItemId),
}

/// An owner reference that was not brought back, because it would lead nowhere: the collector would delete its object
/// at once (R4.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detached {
    /// Which of the archived object's references it is.
    pub reference: usize,
    /// What is at the place that it leads to.
    pub why: String,
}

/// What came of one object, and what its other half is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    pub outcome: Outcome,
    /// Its uid now; none where it is not there.
    pub uid: Option<String>,
    pub detached: Vec<Detached>,
    /// What of it could not be put back (its status, a reference), and why.
    pub unfinished: Vec<String>,
    /// What is still to be put back, where it was only looked at: an earlier run has created it, and was interrupted.
    pub to_do: ToDo,
}

/// What is patched once an object is there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToDo {
    /// The status, through its subresource.
    pub status: bool,
    /// A reference that closes a circle of owners.
    pub references: bool,
}

impl Restored {
    /// An outcome of an object that is not there.
    pub fn absent(outcome: Outcome) -> Self {
        Restored { outcome, uid: None, detached: Vec::new(), unfinished: Vec::new(), to_do: ToDo::default() }
    }

    /// Whether it is not to be brought back.
    pub fn is_left_out(&self) -> bool {
        matches!(self.outcome, Outcome::LeftOut(_))
    }

    /// Whether the object is there as it was archived, or need not be.
    pub fn is_fine(&self) -> bool {
        let fine = match &self.outcome {
            Outcome::WouldBeCreated | Outcome::Created | Outcome::AlreadyBack | Outcome::Same | Outcome::LeftOut(_) => {
                true
            }
            Outcome::Different(_) | Outcome::Failed(_) | Outcome::Blocked(_) => false,
        };
        fine && self.unfinished.is_empty()
    }
}
