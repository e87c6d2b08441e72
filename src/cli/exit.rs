//! Exit codes: the contract of every command.

use std::process::ExitCode;

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Success. A closed pipe and reported gaps count as success, too.
    Fine,
    /// The command failed, for whatever reason, also a user's "no": scripts can rely on code 2 being a result.
    Failed,
    /// The command succeeded, and the result is bad news.
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
