//! Exit codes: the contract of every command.

use std::process::ExitCode;

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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(match exit {
            Exit::Fine => 0,
            Exit::Failed => 1,
            Exit::BadNews => 2,
        })
    }
}
