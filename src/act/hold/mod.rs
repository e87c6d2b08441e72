//! Holds an object, lets it go, and takes its delete back: the steps of [`crate::hold`], each of which may be repeated.

mod begin;
mod go_on;
mod secrets;
mod take_back;
#[cfg(test)]
mod tests;

use serde_json::Value;

use crate::{
    cluster::{Connection, Failure, path::ObjectPath},
    hold::{About, HOLD, Held, HeldDependent, HoldRecord, Stage, UNCANCELLED},
};

use super::{
    restore::is_copy_of,
    update::{UpdateError, Updater, get, is_terminating, uid},
};

pub use begin::{Holding, hold};
pub use go_on::{LetGo, go_on};
pub use secrets::StoredHold;
pub(crate) use secrets::{find_hold, list_holds};
pub use take_back::{Begun, TakeBack};

/// How often an object is read and written again while other clients write to it.
const TRIES: u32 = 30;

/// Why an object is not held, not let go or not taken back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HoldFailure {
    #[error("it no longer exists, or another object has its name")]
    Gone,
    #[error("another client is deleting it")]
    Terminating,
    #[error("its delete is being taken back")]
    BeingTakenBack,
    #[error("another client keeps changing it; find and stop that client first")]
    Unstable,
    /// What was to be done, and the server's own words.
    #[error("{doing} failed: {reason}")]
    Failed { doing: String, reason: String },
    /// Its Secret would have more data than the API server accepts.
    #[error("it and its dependents need {0} bytes, and a Secret may have only {most}", most = crate::hold::MOST)]
    TooBig(usize),
    /// Another object has its name.
    #[error("another object has its name since: {0}")]
    Replaced(String),
    /// The collector or a controller has not done its part. What is waited for.
    #[error("{0}; everything is still there: run this again once it does")]
    Waited(&'static str),
    /// It stays Terminating because of these finalizers.
    #[error("it is still there, because of its finalizers {0}: run this again once they are gone")]
    Stays(String),
}

impl HoldFailure {
    fn failed(doing: impl Into<String>, failure: &Failure) -> Self {
        HoldFailure::Failed { doing: doing.into(), reason: failure.in_full() }
    }

    fn of(doing: &str, error: UpdateError<HoldFailure>) -> Self {
        match error {
            UpdateError::Gone => HoldFailure::Gone,
            UpdateError::Reading(failure) => HoldFailure::failed(format!("reading {doing}"), &failure),
            UpdateError::Writing(failure) => HoldFailure::failed(format!("changing {doing}"), &failure),
            UpdateError::Unstable(_) => HoldFailure::Unstable,
            UpdateError::Stopped(why) => why,
        }
    }
}

/// The finalizers of an object.
fn finalizers(object: &Value) -> Vec<Value> {
    object["metadata"]["finalizers"].as_array().cloned().unwrap_or_default()
}

/// Our finalizers.
const OURS: [&str; 2] = [HOLD, UNCANCELLED];

/// The finalizers of an object, without these.
fn finalizers_without(object: &Value, dropped: &[&str]) -> Vec<Value> {
    let mut wanted = finalizers(object);
    wanted.retain(|finalizer| !dropped.iter().any(|name| finalizer == *name));
    wanted
}

/// Where the object of a record is.
fn path_of(about: &About) -> ObjectPath {
    ObjectPath::at(about.path.clone(), &about.api_version, &about.kind, &about.namespace, &about.name)
}

/// Where a dependent in a record is.
fn path_of_dependent(dependent: &HeldDependent) -> ObjectPath {
    let HeldDependent { path, api_version, kind, namespace, name, .. } = dependent;
    ObjectPath::at(path.clone(), api_version, kind, namespace, name)
}

/// Patches the object of a record.
fn updater<'a>(connection: &'a Connection, record: &'a HoldRecord) -> Updater<'a> {
    Updater { connection, path: path_of(&record.about), end: "", uid: &record.about.uid, tries: TRIES }
}

/// What the finalizers of an object say.
fn held(object: &Value) -> Option<Held> {
    Held::of(object["metadata"]["finalizers"].as_array().into_iter().flatten().filter_map(Value::as_str))
}

/// What a look at a held object shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// It is held.
    Held,
    /// It is being taken back, or was.
    TakenBack,
    /// It is gone, or no longer has our finalizers.
    LetGo,
}

/// Looks at an object that was held.
///
/// # Errors
/// Why it, or its Secret, can't be read.
pub(crate) async fn look(connection: &Connection, stored: &StoredHold) -> Result<Seen, Failure> {
    let about = &stored.record.about;
    Ok(match get(connection, &path_of(about)).await? {
        Some(there) if uid(&there) == about.uid => match held(&there) {
            Some(Held::Waits) => Seen::Held,
            Some(Held::BeingTakenBack) => Seen::TakenBack,
            // It was never Terminating, if a `cancel` was faster than the DELETE.
            None if !is_terminating(&there) => Seen::TakenBack,
            None => Seen::LetGo,
        },
        Some(there) if is_copy_of(&there, &about.uid) => Seen::TakenBack,
        // While it is taken back, it is gone for a moment, and its Secret says so.
        _ => match find_hold(connection, &stored.namespace, &stored.name).await? {
            Some(Ok(now)) if now.record.about.stage != Stage::Held => Seen::TakenBack,
            _ => Seen::LetGo,
        },
    })
}
