//! All errors of commands.

use gc_cluster::{
    act::{HoldFailure, KeepError},
    archive::ArchiveError,
    cluster::ConnectError,
    dump::DumpError,
    metrics::ServeError,
};
use gc_core::wording::{count, grouped, named, some_of};

use super::targets::TargetError;

/// At most this many lines say what is missing.
const LINES: usize = 100;

/// Said to who may not do something, and may not read all that decides it, either.
const NOR_READ: &str =
    "\nNor may you read all that may go with it: --print-role prints every right that this command needs";

/// Why a command failed, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    /// Invalid flags or arguments, alone or together.
    #[error("{0}")]
    Usage(String),
    #[error(transparent)]
    Connect(Box<ConnectError>),
    /// What can't be worked on: a server of another version, a namespace or file that isn't there or is in the way.
    #[error("{0}")]
    Unusable(String),
    #[error(transparent)]
    Dump(Box<DumpError>),
    #[error(transparent)]
    Target(Box<TargetError>),
    /// The API server refuses this delete to every user.
    #[error("the API server refuses to delete {object}: {why}")]
    Refused { object: String, why: &'static str },
    /// The user lacks permissions.
    #[error("nothing was {done}: you may not {what}{}", if *.may_be_more { NOR_READ } else { "" })]
    Forbidden { done: &'static str, what: String, may_be_more: bool },
    /// `--keep` asks for something impossible: one line for each object.
    #[error("{}", .0.join("\n"))]
    Unkeepable(Vec<String>),
    /// No resource can be listed and watched.
    #[error(
        "nothing can be watched in {place}: {why}; it needs the verbs list and watch, and -n NAMESPACE needs them \
        only there"
    )]
    Unwatchable { place: String, why: String },
    /// Something can't be kept; nothing was deleted.
    #[error("nothing was deleted: {0}")]
    Keep(#[from] KeepError),
    /// Objects that can't be held: one line for each.
    #[error("nothing was deleted: {}", .0.join("\n"))]
    NotHeld(Vec<String>),
    /// Objects of which no delete waits: one line for each.
    #[error("{}", .0.join("\n"))]
    NoHold(Vec<String>),
    /// A hold was not begun, not let go or not taken back.
    #[error(transparent)]
    Hold(Box<HoldTrouble>),
    /// Unread objects may change what is deleted.
    #[error("nothing was deleted: what could not be read may change which objects are deleted:{}", .0.or_allowed())]
    Incomplete(Box<Unread>),
    /// Unread resources may contain dependents.
    #[error("nothing was changed: what could not be read may contain dependents of the objects to be swept:{}",
        .unread.in_the_way(!.limited))]
    UnseenDependents { unread: Box<Unread>, limited: bool },
    /// There is nothing to sweep in what could be read.
    #[error("nothing to sweep was found, but these could not be read: {}. Make them readable{}", named(.resources),
        elsewhere(!.limited))]
    UnseenObjects { resources: Vec<String>, limited: bool },
    /// A watch has missed events; `unless` is the flag that allows that.
    #[error("nothing was changed: {}; {}{}", missed(&[resource], reason),
        if reason == FORBIDDEN { "ask for the missing right" } else { "try again" },
        .unless.map_or(String::new(), |flag| format!(", or use {flag}")))]
    MissedEvents { resource: String, reason: String, unless: Option<&'static str> },
    /// The plan never stops changing.
    #[error("nothing was changed: the plan changed {rounds} times while it was shown; try again")]
    Unsettled { rounds: usize },
    /// Another object has the name of a target.
    #[error("nothing was deleted: {object} was replaced by another object with the same name")]
    Replaced { object: String },
    /// There is a question, but no terminal.
    #[error("nothing was changed: there is no terminal for the question; use --yes to skip the question")]
    NoTerminal,
    /// An archive could not be written or used.
    #[error(transparent)]
    Archive(Box<ArchiveError>),
    /// Objects to be deleted can't be archived.
    #[error("{}", not_archived(path, failures))]
    NotArchived { path: String, failures: Vec<(String, String)> },
    /// Unread resources may contain objects that will be deleted.
    #[error("{path} was not written: it could lack objects that the delete removes:{}", .unread.or_allowed())]
    MayLack { path: String, unread: Box<Unread> },
    #[error("{path}: cannot be written: {source}")]
    Unwritable { path: String, source: std::io::Error },
    /// The output could not be printed.
    #[error("cannot show what would happen: {0}")]
    Print(std::io::Error),
    /// The output can't be serialized.
    #[error("cannot write the output as a document: {0}")]
    Document(serde_json::Error),
    #[error("{0}; choose another --metrics-bind-address, or leave it out")]
    Serve(#[from] ServeError),
    /// The asynchronous runtime could not be started.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}

/// Fails because of invalid flags or arguments.
///
/// # Errors
/// Always.
pub fn usage<T>(why: impl Into<String>) -> Result<T, OperationError> {
    Err(OperationError::Usage(why.into()))
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

boxed!(Hold: HoldTrouble, Connect: ConnectError, Dump: DumpError, Target: TargetError, Archive: ArchiveError);

/// Objects that can't be archived, grouped by reason.
fn not_archived(path: &str, failures: &[(String, String)]) -> String {
    const NAMED: usize = 10;
    let by_reason = grouped(failures.iter().map(|(object, reason)| (reason, object.as_str())));
    let describe: Vec<String> =
        by_reason.iter().map(|(reason, objects)| format!("{} ({reason})", some_of(objects, NAMED))).collect();
    let what = count(failures.len(), "object to be deleted", "objects to be deleted");
    let why = describe.join("; ");
    format!(
        "{path} was not written: {what} cannot be read completely: {why}. Archiving needs the verb get on all of them"
    )
}

/// What went wrong with one of several objects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object} was not {what}: {why}{}", rest(.others))]
pub struct HoldTrouble {
    /// `Kind/name -n NAMESPACE`
    pub object: String,
    /// `held`, `let go`, `taken back`
    pub what: &'static str,
    pub why: HoldFailure,
    /// What is to be known of others: a sentence for each.
    pub others: Vec<String>,
}

fn rest(others: &[String]) -> String {
    others.iter().map(|other| format!("\n{other}")).collect()
}

/// Why a watch is lost if the user lacks the right to watch, or to list again.
const FORBIDDEN: &str = "forbidden";

/// What the watches of these resources may have missed, and why.
pub(super) fn missed(names: &[&str], reason: &str) -> String {
    match names {
        [name] if reason == FORBIDDEN => {
            format!("you may not list and watch {name}: new ones may have been missed since they were listed")
        }
        [name] => format!("new {name} may have been missed since they were listed ({reason})"),
        names => {
            let (number, names) = (names.len(), names.join(", "));
            let objects = format!("new objects of {number} resources may have been missed since they were listed");
            match reason == FORBIDDEN {
                true => format!("you may not list and watch {names}: {objects}"),
                false => format!("{objects} ({reason}): {names}"),
            }
        }
    }
}

/// What else to do about what a sweep can't read.
fn elsewhere(limits: bool) -> &'static str {
    if limits { ", or limit the sweep with -n or TARGETs" } else { "" }
}

/// What is missing, in words: one line each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unread {
    pub(super) lines: Vec<String>,
    /// What stands behind `--allow-incomplete` to accept it all.
    pub(super) allow: String,
    /// Whether the user lacks a right.
    pub(super) forbidden: bool,
}

impl Unread {
    /// The lines, indented, each after a line break.
    fn lines(&self) -> String {
        let mut text: String = self.lines.iter().take(LINES).map(|line| format!("\n  {line}")).collect();
        if self.lines.len() > LINES {
            text += &format!("\n  and {} more", self.lines.len() - LINES);
        }
        text
    }

    /// What a question says before a delete that goes on without.
    pub(super) fn in_question(&self) -> String {
        format!("Not read: {}. What of these depends on what goes is deleted, too.", self.lines.join("; "))
    }

    /// The lines, and what to do about them if nothing may stay unread; `limits` if other objects may be in reach.
    pub(super) fn in_the_way(&self, limits: bool) -> String {
        format!("{}\n{}{}", self.lines(), self.remedy(), elsewhere(limits))
    }

    /// The lines, and what to do about them.
    pub(super) fn or_allowed(&self) -> String {
        format!("{}\n{}, or go on without: --allow-incomplete{}", self.lines(), self.remedy(), self.allow)
    }

    fn remedy(&self) -> &'static str {
        match self.forbidden {
            true => "Ask for the missing rights (--print-role prints all that this command needs)",
            false => "Try again once it can be read",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_was_not_done_why_and_what_to_do() {
        assert_eq!(
            OperationError::NoTerminal.to_string(),
            "nothing was changed: there is no terminal for the question; use --yes to skip the question"
        );
        let missed_for = |reason: &str, unless| OperationError::MissedEvents {
            resource: "pods".to_owned(),
            reason: reason.to_owned(),
            unless,
        };
        let missed = |unless| missed_for("410 Gone", unless);
        let why = "nothing was changed: new pods may have been missed since they were listed (410 Gone); try again";
        assert_eq!(missed(None).to_string(), why);
        assert_eq!(missed(Some("--allow-incomplete")).to_string(), format!("{why}, or use --allow-incomplete"));
        assert_eq!(
            missed_for("forbidden", None).to_string(),
            "nothing was changed: you may not list and watch pods: new ones may have been missed since they were \
             listed; ask for the missing right"
        );
    }
}
