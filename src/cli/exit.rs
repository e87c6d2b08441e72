//! Exit codes: the contract of every command.

use std::process::ExitCode;

use crate::operations::ErrorKind;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success. A closed pipe and reported gaps count as success, too.
    Fine,
    /// The command failed.
    Failed,
    /// The command succeeded, and the result is bad news.
    BadNews,
}

impl From<ErrorKind> for Exit {
    /// All errors give one code, including a user's "no": scripts can rely on code 2 being a result.
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
