//! The words that begin an answer: each has one tone and one state, the same in all texts and pictures.

use super::{states::Fate, style::Tone};

/// The longest first line of an answer, in characters, its word included: one look is enough. Only a name may make it
/// longer.
pub(super) const LONGEST: usize = 100;

/// The word that begins the first line of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Headline {
    // Of what would happen.
    Refused,
    TakesDown,
    DataLoss,
    Stuck,
    Depends,
    Waits,
    Unsure,
    Deletes,
    Creates,
    Nothing,
    WorkToDo,
    NothingToDo,
    // Of one object.
    WillBeDeleted,
    Changes,
    Ok,
    // Of what was done.
    Done,
    Sent,
    PartlyDone,
    Unexpected,
    NotFinished,
    NotDone,
}

impl Headline {
    /// The word, its tone, and the state that it stands for.
    const fn look(self) -> (&'static str, Tone, Fate) {
        match self {
            Self::Refused => ("REFUSED", Tone::Error, Fate::Error),
            Self::TakesDown => ("TAKES DOWN", Tone::Error, Fate::Error),
            Self::DataLoss => ("DATA LOSS", Tone::Error, Fate::Error),
            Self::Stuck => ("STUCK", Tone::Error, Fate::Stuck),
            Self::Depends => ("DEPENDS ON CONTROLLER", Tone::Warning, Fate::Depends),
            Self::Waits => ("WAITS", Tone::Warning, Fate::Waits),
            Self::Unsure => ("UNSURE", Tone::Warning, Fate::Unsure),
            Self::Deletes => ("DELETES", Tone::Strong, Fate::Deleted),
            Self::Creates => ("CREATES", Tone::Strong, Fate::Kept),
            Self::Nothing => ("NOTHING", Tone::Warning, Fate::Warning),
            Self::WorkToDo => ("WORK TO DO", Tone::Strong, Fate::Untouched),
            Self::NothingToDo => ("NOTHING TO DO", Tone::Good, Fate::Untouched),
            Self::WillBeDeleted => ("WILL BE DELETED", Tone::Warning, Fate::Deleted),
            Self::Changes => ("CHANGES", Tone::Warning, Fate::Kept),
            Self::Ok => ("OK", Tone::Good, Fate::Untouched),
            Self::Done => ("DONE", Tone::Good, Fate::Untouched),
            Self::Sent => ("SENT", Tone::Strong, Fate::Untouched),
            Self::PartlyDone => ("PARTLY DONE", Tone::Error, Fate::Error),
            Self::Unexpected => ("UNEXPECTED", Tone::Error, Fate::Error),
            Self::NotFinished => ("NOT FINISHED", Tone::Error, Fate::Error),
            Self::NotDone => ("NOT DONE", Tone::Error, Fate::Error),
        }
    }

    pub(super) const fn word(self) -> &'static str {
        self.look().0
    }

    pub(super) const fn tone(self) -> Tone {
        self.look().1
    }

    pub(super) const fn fate(self) -> Fate {
        self.look().2
    }
}
