//! Everything that keeps a command from being done, and how it is told.

use crate::{cluster::ConnectError, dump::DumpError};

use super::{connection::TimeoutError, targets::TargetError};

/// Why a command could not be done: exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Connect(Box<ConnectError>),
    #[error(transparent)]
    Dump(Box<DumpError>),
    #[error(transparent)]
    Target(Box<TargetError>),
    #[error(transparent)]
    Timeout(#[from] TimeoutError),
    /// The namespace that was asked for is not in the dump.
    #[error("no namespace {namespace:?} in the dump; it holds {}", .known.join(", "))]
    NamespaceNotInDump { namespace: String, known: Vec<String> },
    /// The namespace that was asked for is not in the cluster.
    #[error("there is no namespace {0:?} in the cluster")]
    NamespaceNotFound(String),
    /// The API server would answer 403 to everybody.
    #[error("the API server refuses to delete {object}: {why}")]
    Refused { object: String, why: &'static str },
    /// kubectl refuses these flags together (R1.41).
    #[error("{0}")]
    Grace(&'static str),
    /// A flag that needs a target, or one that can't go with any.
    #[error("{0}")]
    Usage(String),
    /// A file could not be written.
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: String, source: std::io::Error },
    /// A file is there already.
    #[error("{0} exists: give --force to replace it")]
    Exists(String),
    /// The asynchronous runtime could not be started.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

impl From<ConnectError> for CliError {
    fn from(error: ConnectError) -> Self {
        CliError::Connect(Box::new(error))
    }
}

impl From<DumpError> for CliError {
    fn from(error: DumpError) -> Self {
        CliError::Dump(Box::new(error))
    }
}

impl From<TargetError> for CliError {
    fn from(error: TargetError) -> Self {
        CliError::Target(Box::new(error))
    }
}
