//! Everything that keeps a command from being done, and how it is told.

use crate::{
    act::KeepError, archive::ArchiveError, cluster::ConnectError, dump::DumpError, metrics::ServeError, wording::count,
};

use super::targets::TargetError;

/// Why a command could not be done: exit code 1.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    #[error(transparent)]
    Connect(Box<ConnectError>),
    #[error(transparent)]
    Dump(Box<DumpError>),
    #[error(transparent)]
    Target(Box<TargetError>),
    /// The namespace that was asked for is not in the dump.
    #[error("no namespace {namespace:?} in the dump; it holds {}", .known.join(", "))]
    NamespaceNotInDump { namespace: String, known: Vec<String> },
    /// The namespace that was asked for is not in the cluster.
    #[error("there is no namespace {0:?} in the cluster")]
    NamespaceNotFound(String),
    /// The API server would answer 403 to everybody.
    #[error("the API server refuses to delete {object}: {why}")]
    Refused { object: String, why: &'static str },
    /// What `--keep` asks for can't be had: one line for each.
    #[error("{}", .0.join("\n"))]
    Unkeepable(Vec<String>),
    /// kubectl refuses these flags together (R1.41).
    #[error("{0}")]
    Grace(&'static str),
    /// Something can't be kept, and nothing was deleted.
    #[error("nothing was deleted: {0}")]
    Keep(#[from] KeepError),
    /// It is not done, although it could be.
    #[error("{0}")]
    Refusal(String),
    /// A flag that needs a target, or one that can't go with any.
    #[error("{0}")]
    Usage(String),
    /// A file could not be written.
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: String, source: std::io::Error },
    /// An archive could not be written, or can't be believed.
    #[error(transparent)]
    Archive(Box<ArchiveError>),
    /// Something that goes can't be archived, so that nothing is.
    #[error("{}", not_archived(path, failures))]
    NotArchived { path: String, failures: Vec<(String, String)> },
    /// What could not be read may hold something that goes.
    #[error(
        "{path} was not written: {what}. What could not be read may hold more that goes, which would be missing; \
             --allow-incomplete archives what can be seen"
    )]
    MayLack { path: String, what: String },
    /// A target is not what it was any more.
    #[error(
        "{object} is gone since the cluster was read, or another has its name: nothing was written to {path}; run it again"
    )]
    Moved { object: String, path: String },
    /// What is to be shown could not be.
    #[error("cannot show what would happen: {0}")]
    Print(std::io::Error),
    /// A file is there already.
    #[error("{0} exists: give --force to replace it")]
    Exists(String),
    /// Nobody could look at how it gets on, so that it is not begun.
    #[error("{0}; give another --metrics-bind-address, or none")]
    Serve(#[from] ServeError),
    /// The asynchronous runtime could not be started.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

impl From<ConnectError> for OperationError {
    fn from(error: ConnectError) -> Self {
        OperationError::Connect(Box::new(error))
    }
}

impl From<DumpError> for OperationError {
    fn from(error: DumpError) -> Self {
        OperationError::Dump(Box::new(error))
    }
}

impl From<ArchiveError> for OperationError {
    fn from(error: ArchiveError) -> Self {
        OperationError::Archive(Box::new(error))
    }
}

impl From<TargetError> for OperationError {
    fn from(error: TargetError) -> Self {
        OperationError::Target(Box::new(error))
    }
}

/// Objects that can't be archived, those with the same reason together.
fn not_archived(path: &str, failures: &[(String, String)]) -> String {
    const NAMED: usize = 10;
    let mut by_reason: Vec<(&str, Vec<&str>)> = Vec::new();
    for (object, reason) in failures {
        match by_reason.iter_mut().find(|(known, _)| known == reason) {
            Some((_, objects)) => objects.push(object),
            None => by_reason.push((reason, vec![object])),
        }
    }
    let describe: Vec<String> = by_reason
        .iter()
        .map(|(reason, objects)| {
            let more =
                if objects.len() > NAMED { format!(" and {} more", objects.len() - NAMED) } else { String::new() };
            format!("{}{more} ({reason})", objects[..objects.len().min(NAMED)].join(", "))
        })
        .collect();
    let what = count(failures.len(), "object that goes", "objects that go");
    format!(
        "{path} was not written: {what} can't be read whole: {}. Whoever archives needs the verb get on all of it",
        describe.join("; ")
    )
}
