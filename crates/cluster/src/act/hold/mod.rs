//! Holds an object, lets it go, and takes its delete back: the steps of [`gc_core::hold`], each of which may be
//! repeated.

mod secrets;
mod take_back;
#[cfg(test)]
mod tests;

use http::StatusCode;
use serde_json::{Value, json};

use crate::cluster::{Connection, Failure, path::ObjectPath};
use gc_core::{
    hold::{Held, HoldRecord, Stage},
    model::{HOLD, Identity, UNCANCELLED},
    server::Propagation,
};

use super::{
    Deletion,
    request::{Write, delete_options, send_with_retry},
    restore::is_copy_of,
    update::{Change, Step, UpdateError, Updater, get, is_terminating, uid},
};

pub use secrets::StoredHold;
pub use secrets::{find_hold, list_holds};
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
    #[error("it and its dependents need {0} bytes, and a Secret may have only {most}", most = gc_core::hold::MOST)]
    TooBig(usize),
    /// Another object has its name.
    #[error("another object has its name since ({0}); with --use-existing, that one gets its dependents")]
    Replaced(String),
    /// The collector or a controller has not done its part. What is waited for.
    #[error("{0}; everything is still there: run this again once it does")]
    Waited(&'static str),
    /// It stays Terminating because of these finalizers.
    #[error("it is still Terminating; run this again once it is gone (finalizers left: {0})")]
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

/// Where the object of a record, or a dependent in it, is.
fn path_of(path: &str, identity: &Identity) -> ObjectPath {
    let Identity { api_version, kind, namespace, name, .. } = identity;
    ObjectPath::at(path.to_owned(), api_version, kind, namespace, name)
}

/// Patches the object of a record.
fn updater<'a>(connection: &'a Connection, record: &'a HoldRecord) -> Updater<'a> {
    Updater {
        connection,
        path: path_of(&record.about.path, &record.about.identity),
        end: "",
        uid: &record.about.identity.uid,
        tries: TRIES,
    }
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
pub async fn look(connection: &Connection, stored: &StoredHold) -> Result<Seen, Failure> {
    let about = &stored.record.about;
    Ok(match get(connection, &path_of(&about.path, &about.identity)).await? {
        Some(there) if uid(&there) == about.identity.uid => match held(&there) {
            Some(Held::Waits) => Seen::Held,
            Some(Held::BeingTakenBack) => Seen::TakenBack,
            // It was never Terminating, if a `cancel` was faster than the DELETE.
            None if !is_terminating(&there) => Seen::TakenBack,
            None => Seen::LetGo,
        },
        Some(there) if is_copy_of(&there, &about.identity.uid) => Seen::TakenBack,
        // While it is taken back, it is gone for a moment, and its Secret says so.
        _ => match find_hold(connection, &stored.namespace, &stored.name).await? {
            Some(Ok(now)) if now.record.about.stage != Stage::Held => Seen::TakenBack,
            _ => Seen::LetGo,
        },
    })
}

/// What came of an object that was let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LetGo {
    /// Its finalizers are removed.
    Now,
    /// It was gone: somebody else has let it go.
    Before,
}

/// Removes our finalizers, and then the Secret.
///
/// # Errors
/// Why its delete doesn't go on: nothing was deleted. A Secret that can't be removed is no error.
pub async fn go_on(connection: &Connection, stored: &StoredHold) -> Result<LetGo, HoldFailure> {
    let step = |object: &Value| match held(object) {
        Some(Held::Waits) if is_terminating(object) => {
            Ok(Step::Write(Change::finalizers(finalizers_without(object, &OURS)), LetGo::Now))
        }
        // A try whose answer was lost.
        None if is_terminating(object) => Ok(Step::Done(LetGo::Before)),
        _ => Err(HoldFailure::BeingTakenBack),
    };
    let let_go = match updater(connection, &stored.record).update(None, step).await {
        Ok(let_go) => let_go,
        Err(error) => match HoldFailure::of("it", error) {
            HoldFailure::Gone => LetGo::Before,
            why => return Err(why),
        },
    };
    // Without its object, it means nothing, and `cancel` removes it.
    let _ = stored.remove(connection).await;
    Ok(let_go)
}

/// How often the DELETE is sent again because another client has written to the object in between.
const DELETES: u32 = 10;

/// A held object.
#[derive(Clone, Debug, PartialEq)]
pub struct Holding {
    pub stored: StoredHold,
    /// Whether it was held before: nothing but the time was changed.
    pub again: bool,
}

/// Stores the object of the record, gives it our finalizers, and deletes it in the background. What an interrupted run
/// has done is not done again.
///
/// `at_once`: the object is let go at once. Then one that is held already needs no Secret, which can't be made any more
/// where its namespace goes.
///
/// # Errors
/// Why it isn't held. What was done before is undone as far as possible: nothing is deleted.
pub async fn hold(
    connection: &Connection,
    namespace: &str,
    record: HoldRecord,
    grace: Option<i64>,
    at_once: bool,
) -> Result<Holding, HoldFailure> {
    let stored = match StoredHold::create(connection, namespace, record.clone()).await {
        Err(_) if at_once && waits(connection, &record).await => {
            return Ok(Holding { stored: StoredHold::unstored(namespace, record), again: true });
        }
        stored => stored?,
    };
    match delete_held(connection, &stored.record, grace).await {
        Ok(again) => Ok(Holding { stored, again }),
        Err(why) => {
            if undo(connection, &stored.record).await {
                // The Secret says where the object is, if it stays: `cancel` removes it.
                let _ = stored.remove(connection).await;
            }
            Err(why)
        }
    }
}

/// Whether the object of a record is held and Terminating.
async fn waits(connection: &Connection, record: &HoldRecord) -> bool {
    let there = get(connection, &path_of(&record.about.path, &record.about.identity)).await;
    there.is_ok_and(|there| there.is_some_and(|there| is_waiting(&there, record)))
}

/// Whether this is the object of a record, held and Terminating.
fn is_waiting(there: &Value, record: &HoldRecord) -> bool {
    uid(there) == record.about.identity.uid && is_terminating(there) && held(there) == Some(Held::Waits)
}

/// Adds the finalizers and deletes the object. Returns whether it was held before.
async fn delete_held(connection: &Connection, record: &HoldRecord, grace: Option<i64>) -> Result<bool, HoldFailure> {
    let about = &record.about;
    let (updater, path) = (updater(connection, record), path_of(&about.path, &about.identity));
    for tried in 0..DELETES {
        let step = |object: &Value| match (held(object), is_terminating(object)) {
            (Some(Held::Waits), terminating) => Ok(Step::Done(terminating)),
            (Some(Held::BeingTakenBack), _) => Err(HoldFailure::BeingTakenBack),
            (None, true) => Err(HoldFailure::Terminating),
            // A `cancel` has removed them.
            (None, false) if tried > 0 => Err(HoldFailure::BeingTakenBack),
            (None, false) => {
                let mut wanted = finalizers_without(object, &[UNCANCELLED]);
                wanted.extend([json!(HOLD), json!(UNCANCELLED)]);
                Ok(Step::Write(Change::finalizers(wanted), false))
            }
        };
        if updater.update(None, step).await.map_err(|error| HoldFailure::of("it", error))? {
            return Ok(tried == 0);
        }
        let failed = |failure| HoldFailure::failed("reading it", &failure);
        let there = get(connection, &path).await.map_err(failed)?;
        let Some(there) = there.filter(|there| uid(there) == about.identity.uid) else { return Err(HoldFailure::Gone) };
        if held(&there) != Some(Held::Waits) || is_terminating(&there) {
            continue;
        }
        // Only this very state is deleted: without its finalizers, it would be gone.
        let version = there["metadata"]["resourceVersion"].as_str();
        let deletion = Deletion { grace, ..Deletion::by(Propagation::Background) };
        let options = delete_options(&deletion, &about.identity.uid, version);
        match send_with_retry(connection, &path, Write::delete(&options)).await {
            // The next look sees it Terminating.
            Ok(_) => {}
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => {}
            Err(undone) if undone.failure.proves_absence(&path) => return Err(HoldFailure::Gone),
            Err(undone) => return Err(HoldFailure::failed("deleting it", &undone.failure)),
        }
    }
    match get(connection, &path).await.map_err(|failure| HoldFailure::failed("reading it", &failure))? {
        Some(there) if is_waiting(&there, record) => Ok(false),
        _ => Err(HoldFailure::Unstable),
    }
}

/// Removes our finalizers from an object that is not Terminating. Returns whether it has none now.
async fn undo(connection: &Connection, record: &HoldRecord) -> bool {
    let step = |object: &Value| match (held(object), is_terminating(object)) {
        (None, _) => Ok(Step::Done(())),
        (Some(_), true) => Err(HoldFailure::Terminating),
        (Some(_), false) => Ok(Step::Write(Change::finalizers(finalizers_without(object, &OURS)), ())),
    };
    updater(connection, record).update(None, step).await.is_ok()
}
