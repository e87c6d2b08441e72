//! Everything that keeps a command from being done.

use std::path::PathBuf;

use crate::{
    act::KeepError,
    archive::ArchiveError,
    cluster::ConnectError,
    dump::DumpError,
    metrics::ServeError,
    wording::{count, named},
};

use super::targets::TargetError;

/// Why a command could not be done. [`kind`](Self::kind) groups them, [`hint`](Self::hint) says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// Flags or arguments that make no sense, alone or together.
    #[error("{0}")]
    Usage(String),
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
    /// The API server refuses this delete, whoever sends it.
    #[error("the API server refuses to delete {object}: {why}")]
    Refused { object: String, why: &'static str },
    /// The API server would forbid the user to do this.
    #[error("nothing was {done}: you may not {what}")]
    Forbidden { done: &'static str, what: String },
    /// What `--keep` asks for is impossible: one line for each object.
    #[error("{}", .0.join("\n"))]
    Unkeepable(Vec<String>),
    /// Something can't be kept, and nothing was deleted.
    #[error("nothing was deleted: {0}")]
    Keep(#[from] KeepError),
    /// What could not be read may change what is deleted.
    #[error("nothing was deleted: what could not be read may change what goes.{}", incomplete(*uncertain, unseen))]
    Incomplete { uncertain: usize, unseen: Vec<String> },
    /// Dependents may be among what could not be read.
    #[error("nothing was changed: dependents of what is to be swept may be among what could not be read: {}", named(.0))]
    UnseenDependents(Vec<String>),
    /// A watch has missed events; `unless` is the flag that allows that.
    #[error("nothing was changed: new {resource} may have been missed since they were listed ({reason})")]
    MissedEvents { resource: String, reason: String, unless: Option<&'static str> },
    /// The plan never stops changing.
    #[error("nothing was changed: the plan has changed {rounds} times while it was looked at")]
    Unsettled { rounds: usize },
    /// Another object has the name of one that was to be deleted.
    #[error("nothing was deleted: {object} was replaced meanwhile by another object of its name")]
    Replaced { object: String },
    /// A target is gone or replaced while it is archived.
    #[error(
        "{object} is gone since the cluster was read, or another has its name: nothing was written to {path}; \
         run it again"
    )]
    Moved { object: String, path: String },
    /// A question, and nobody to answer it.
    #[error("nothing was changed: there is no terminal to ask on")]
    NoTerminal,
    /// An archive could not be written, or can't be trusted.
    #[error(transparent)]
    Archive(Box<ArchiveError>),
    /// The archive that is there is of other objects.
    #[error("{}: nothing was deleted: it is an archive of something else", .0.display())]
    OtherArchive(PathBuf),
    /// What an archive holds can't be restored.
    #[error("{0}")]
    Malformed(String),
    /// Something that goes can't be archived.
    #[error("{}", not_archived(path, failures))]
    NotArchived { path: String, failures: Vec<(String, String)> },
    /// What could not be read may hold something that goes.
    #[error("{path} was not written: {what}. What could not be read may hold more that goes, which would be missing")]
    MayLack { path: String, what: String },
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: String, source: std::io::Error },
    #[error("{0} exists")]
    Exists(String),
    /// The output could not be printed.
    #[error("cannot show what would happen: {0}")]
    Print(std::io::Error),
    /// The output is no document.
    #[error("cannot write the output as a document: {0}")]
    Document(serde_json::Error),
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The asynchronous runtime could not be started.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

/// What kind of thing went wrong: what the user can do about it depends on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line makes no sense: change it.
    Usage,
    /// The source can't be reached or read.
    Source,
    /// What was named doesn't exist, or is not what was meant.
    NotFound,
    /// The API server refuses it, or would.
    Refused,
    /// Too little is known to do it safely.
    Unknown,
    /// The cluster changes meanwhile: try again.
    Changed,
    /// Nobody agreed to it.
    Unanswered,
    /// A local file, port or stream.
    Local,
}

impl OperationError {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Usage(_) => ErrorKind::Usage,
            Self::Connect(_) | Self::Dump(_) => ErrorKind::Source,
            Self::Target(_) | Self::NamespaceNotInDump { .. } | Self::NamespaceNotFound(_) => ErrorKind::NotFound,
            Self::Refused { .. } | Self::Forbidden { .. } | Self::Unkeepable(_) | Self::Keep(_) => ErrorKind::Refused,
            Self::Incomplete { .. }
            | Self::UnseenDependents(_)
            | Self::MissedEvents { .. }
            | Self::NotArchived { .. }
            | Self::MayLack { .. } => ErrorKind::Unknown,
            Self::Unsettled { .. } | Self::Replaced { .. } | Self::Moved { .. } => ErrorKind::Changed,
            Self::NoTerminal => ErrorKind::Unanswered,
            Self::Archive(_)
            | Self::OtherArchive(_)
            | Self::Malformed(_)
            | Self::Unwritable { .. }
            | Self::Exists(_)
            | Self::Print(_)
            | Self::Document(_)
            | Self::Serve(_)
            | Self::Runtime(_) => ErrorKind::Local,
        }
    }

    /// What to do about it, where the message doesn't say so itself. It follows the message's last punctuation.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Incomplete { .. } => " See that they can be read, or give --allow-incomplete.",
            Self::UnseenDependents(_) => {
                ". See that it can be read, or limit the sweep to what has nothing to do with it (-n, TARGET)"
            }
            Self::MissedEvents { unless: Some(flag), .. } => return Some(format!("; try again, or give {flag}")),
            Self::MissedEvents { unless: None, .. } | Self::Unsettled { .. } => "; try again",
            Self::NoTerminal => "; give --yes if it is to be done without asking",
            Self::OtherArchive(_) => "; give --archive another name",
            Self::NotArchived { .. } => ". Whoever archives needs the verb get on all of it",
            Self::MayLack { .. } => "; --allow-incomplete archives what can be seen",
            Self::Exists(_) => ": give --force to replace it",
            Self::Serve(_) => "; give another --metrics-bind-address, or none",
            _ => return None,
        };
        Some(hint.to_owned())
    }
}

macro_rules! boxed {
    ($($variant:ident: $error:ty),*) => {
        $(impl From<$error> for OperationError {
            fn from(error: $error) -> Self {
                OperationError::$variant(Box::new(error))
            }
        })*
    };
}

boxed!(Connect: ConnectError, Dump: DumpError, Target: TargetError, Archive: ArchiveError);

fn incomplete(uncertain: usize, unseen: &[String]) -> String {
    let mut why = String::new();
    if uncertain > 0 {
        why += &format!(" {} not certain.", count(uncertain, "outcome is", "outcomes are"));
    }
    if !unseen.is_empty() {
        why += &format!(" Dependents may be among {}.", named(unseen));
    }
    why
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
    format!("{path} was not written: {what} can't be read whole: {}", describe.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As a command prints it.
    fn printed(error: &OperationError) -> String {
        format!("{error}{}", error.hint().unwrap_or_default())
    }

    #[test]
    fn an_error_says_what_was_not_done_why_and_what_to_do() {
        assert_eq!(
            printed(&OperationError::NoTerminal),
            "nothing was changed: there is no terminal to ask on; give --yes if it is to be done without asking"
        );
        let missed = |unless| OperationError::MissedEvents {
            resource: "pods".to_owned(),
            reason: "410 Gone".to_owned(),
            unless,
        };
        let why = "nothing was changed: new pods may have been missed since they were listed (410 Gone); try again";
        assert_eq!(printed(&missed(None)), why);
        assert_eq!(printed(&missed(Some("--allow-incomplete"))), format!("{why}, or give --allow-incomplete"));
        let incomplete = OperationError::Incomplete { uncertain: 2, unseen: vec!["secrets (forbidden)".to_owned()] };
        assert_eq!(
            printed(&incomplete),
            "nothing was deleted: what could not be read may change what goes. 2 outcomes are not certain. Dependents \
             may be among secrets (forbidden). See that they can be read, or give --allow-incomplete."
        );
        assert_eq!((incomplete.kind(), missed(None).kind()), (ErrorKind::Unknown, ErrorKind::Unknown));
    }
}
