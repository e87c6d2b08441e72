//! Holds an object: its archive first, then the finalizers, then the DELETE.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    act::{
        Deletion,
        request::{delete_options, send_with_retry},
        update::{Change, Step, get, is_terminating, uid},
    },
    cluster::Connection,
    hold::{HOLD, Held, HoldRecord, UNCANCELLED},
    server::Propagation,
};

use super::{HoldFailure, OURS, StoredHold, finalizers_without, held, path_of, updater};

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
/// # Errors
/// Why it isn't held. What was done before is undone as far as possible: nothing is deleted.
pub async fn hold(
    connection: &Connection,
    namespace: &str,
    record: HoldRecord,
    grace: Option<i64>,
) -> Result<Holding, HoldFailure> {
    let stored = StoredHold::create(connection, namespace, record).await?;
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

/// Adds the finalizers and deletes the object. Returns whether it was held before.
async fn delete_held(connection: &Connection, record: &HoldRecord, grace: Option<i64>) -> Result<bool, HoldFailure> {
    let about = &record.about;
    let (updater, path) = (updater(connection, record), path_of(about));
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
                Ok(Step::Write(Change::Finalizers(wanted), false))
            }
        };
        if updater.update(None, step).await.map_err(|error| HoldFailure::of("it", error))? {
            return Ok(tried == 0);
        }
        let failed = |failure| HoldFailure::failed("reading it", &failure);
        let there = get(connection, &path).await.map_err(failed)?;
        let Some(there) = there.filter(|there| uid(there) == about.uid) else { return Err(HoldFailure::Gone) };
        if held(&there) != Some(Held::Waits) || is_terminating(&there) {
            continue;
        }
        // Only this very state is deleted: without its finalizers, it would be gone.
        let version = there["metadata"]["resourceVersion"].as_str();
        let deletion = Deletion { grace, ..Deletion::by(Propagation::Background) };
        let options = delete_options(&deletion, &about.uid, version);
        match send_with_retry(connection, &Method::DELETE, &path, Some(&options)).await {
            // The next look sees it Terminating.
            Ok(_) => {}
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => {}
            Err(undone) if undone.failure.proves_absence(&path) => return Err(HoldFailure::Gone),
            Err(undone) => return Err(HoldFailure::failed("deleting it", &undone.failure)),
        }
    }
    match get(connection, &path).await.map_err(|failure| HoldFailure::failed("reading it", &failure))? {
        Some(there) if uid(&there) == about.uid && is_terminating(&there) && held(&there) == Some(Held::Waits) => {
            Ok(false)
        }
        _ => Err(HoldFailure::Unstable),
    }
}

/// Removes our finalizers from an object that is not Terminating. Returns whether it has none now.
async fn undo(connection: &Connection, record: &HoldRecord) -> bool {
    let step = |object: &Value| match (held(object), is_terminating(object)) {
        (None, _) => Ok(Step::Done(())),
        (Some(_), true) => Err(HoldFailure::Terminating),
        (Some(_), false) => Ok(Step::Write(Change::Finalizers(finalizers_without(object, &OURS)), ())),
    };
    updater(connection, record).update(None, step).await.is_ok()
}
