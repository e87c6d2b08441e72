//! Lets a held object go: its delete goes on.

use serde_json::Value;

use crate::{
    act::update::{Change, Step, is_terminating},
    cluster::Connection,
    hold::Held,
};

use super::{HoldFailure, OURS, StoredHold, finalizers_without, held, updater};

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
            Ok(Step::Write(Change::Finalizers(finalizers_without(object, &OURS)), LetGo::Now))
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
