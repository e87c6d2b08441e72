//! Exit codes: the contract of every command.

use std::process::ExitCode;

use crate::operations::ErrorKind;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Fine, a closed pipe and named gaps included.
    Fine,
    /// It could not be done.
    Failed,
    /// It was done, and the answer is bad news.
    BadNews,
}

impl From<ErrorKind> for Exit {
    /// Whatever keeps a command from being done is one code, a user's no included: scripts can rely on 2 as an answer.
    fn from(kind: ErrorKind) -> Self {
        match kind {
            ErrorKind::Usage
            | ErrorKind::Source
            | ErrorKind::NotFound
            | ErrorKind::Refused
            | ErrorKind::Unknown
            | ErrorKind::Changed
            | ErrorKind::Unanswered
            | ErrorKind::Local => Exit::Failed,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::BadNews => 2,
        })
    }
}
