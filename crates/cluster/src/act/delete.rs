//! Deletes targets one after the other, and classifies the API server's answers.

use std::pin::pin;

use futures::poll;
use http::StatusCode;
use serde::Serialize;

use crate::cluster::{
    Connection, Failure, Refusal,
    path::{self, ObjectPath},
};
use gc_core::{
    model::{Identity, ObjectEvent, ObjectId, RawObject, Resource, ResourceId, Snapshot},
    server::{KindRules, OwnDelete, Propagation},
};

use super::request::{Deleted, RequestError, Write, delete_options, read_deleted, send_with_retry};

/// The options of a DELETE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// What happens to the dependents.
    pub propagation: Propagation,
    /// `gracePeriodSeconds`; if unset, each pod's own applies.
    pub grace: Option<i64>,
    /// The API server runs everything, including admission, but stores nothing.
    pub dry_run: bool,
}

impl Deletion {
    /// A delete with this policy and no other options.
    pub fn by(propagation: Propagation) -> Self {
        Deletion { propagation, grace: None, dry_run: false }
    }
}

/// A target and the result of its DELETE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sent {
    #[serde(flatten)]
    pub target: Identity,
    #[serde(flatten)]
    pub answered: Answered,
    /// The target's stored state, according to the answer; none for a dry run or if the state is unknown.
    #[serde(skip)]
    pub seen: Option<ObjectEvent>,
}

/// The result of one DELETE.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "answer")]
pub enum Answered {
    /// The API server removed it at once.
    Removed,
    /// It has a deletionTimestamp and still exists.
    Accepted,
    /// It was already gone, through an earlier target's cascade or another client. Not an error: that was the goal.
    #[serde(rename = "AlreadyDeleted")]
    GoneBefore,
    /// It was already gone. Another object has its name now, and was not touched (R1.6).
    Replaced,
    /// The API server refused: forbidden, or denied by admission. In its own words.
    Refused {
        reason: String,
        #[serde(skip)]
        cause: RefusalCause,
    },
    /// The answer was lost or makes no sense: unknown whether the target is deleted. Why.
    #[serde(rename = "Unknown")]
    Unsure { reason: String },
    /// The request didn't reach the server, or the server could not do it: nothing was deleted. Why.
    Failed { reason: String },
    /// Not sent, because an earlier DELETE failed or the user called it off.
    NotSent,
}

/// What kind of refusal it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RefusalCause {
    /// A judgement of this delete: of admission, or what the API server says to everybody.
    Judgement,
    /// The user lacks the right.
    Rights,
    /// Credentials that are not known, too many requests, and the like.
    #[default]
    Other,
}

impl Answered {
    /// Whether the target is not on its way out, or may not be.
    pub fn failed(&self) -> bool {
        match self {
            Answered::Removed | Answered::Accepted | Answered::GoneBefore | Answered::Replaced => false,
            Answered::Refused { .. } | Answered::Unsure { .. } | Answered::Failed { .. } | Answered::NotSent => true,
        }
    }

    /// Whether the target is gone or on its way out, or may be.
    pub fn may_be_done(&self) -> bool {
        matches!(self, Answered::Unsure { .. }) || !self.failed()
    }
}

/// Deletes these objects one after the other, each by its uid in the snapshot, so that a new object with the same name
/// survives. Returns one result per target, in their order.
///
/// Stops after the first failure, because the prediction assumed that all targets are deleted, and as soon as
/// `called_off` is done; a DELETE under way is finished first. If the future is dropped half-way, it is unknown whether
/// the last DELETE was done.
pub async fn delete(
    connection: &Connection,
    snapshot: &Snapshot,
    targets: &[ObjectId],
    deletion: &Deletion,
    called_off: impl Future<Output = ()>,
) -> Vec<Sent> {
    let mut called_off = pin!(called_off);
    let mut all: Vec<Sent> = Vec::with_capacity(targets.len());
    let mut stopped = false;
    for target in targets {
        stopped = stopped || poll!(called_off.as_mut()).is_ready();
        let object = Target::of(snapshot, *target);
        let (answered, seen) = if stopped {
            (Answered::NotSent, None)
        } else {
            object.delete(connection, snapshot.resources.get(object.resource()), deletion).await
        };
        stopped |= answered.failed();
        all.push(Sent { target: object.identity, answered, seen: seen.filter(|_| !deletion.dry_run) });
    }
    all
}

/// An object to delete.
struct Target {
    identity: Identity,
    /// The event that reports it as gone.
    gone: ObjectEvent,
}

impl Target {
    fn of(snapshot: &Snapshot, id: ObjectId) -> Self {
        Target { identity: Identity::of(snapshot, id), gone: ObjectEvent::of_gone(snapshot, id) }
    }

    fn resource(&self) -> ResourceId {
        self.gone.resource
    }

    async fn delete(
        &self,
        connection: &Connection,
        resource: &Resource,
        deletion: &Deletion,
    ) -> (Answered, Option<ObjectEvent>) {
        let Identity { namespace, name, uid, .. } = &self.identity;
        let Some(path) = path::of_object(resource, namespace, name) else {
            return (
                Answered::Refused { reason: "not a valid object name".to_owned(), cause: RefusalCause::Other },
                None,
            );
        };
        let undone = match send_with_retry(connection, &path, Write::delete(&delete_options(deletion, uid, None))).await
        {
            Ok(answer) => {
                return match read_deleted(&answer, &self.identity.uid) {
                    Ok(Deleted::Object(object)) if stays(resource, &object) => self.accepted(*object),
                    Ok(Deleted::Something) if !deletion.dry_run => self.confirmed(connection, &path).await,
                    Ok(_) => (Answered::Removed, Some(self.gone.clone())),
                    Err(malformed) => (Answered::Unsure { reason: malformed.to_string() }, None),
                };
            }
            Err(undone) => undone,
        };
        // 409: the name has another uid, or something else blocks the delete. The messages differ from kind to kind.
        let gone = match undone.failure.status() {
            Some(StatusCode::CONFLICT) => self.is_replaced(connection, &path).await,
            _ => undone.failure.proves_absence(&path).then_some(Answered::GoneBefore),
        };
        match gone {
            Some(gone) => (gone, Some(self.gone.clone())),
            None => (not_done(undone), None),
        }
    }

    /// `GoneBefore` or `Replaced` if the target is gone; none if it still exists or that is unknown.
    async fn is_replaced(&self, connection: &Connection, path: &ObjectPath) -> Option<Answered> {
        match connection.get_one(path).await.ok()? {
            Some(answer) => (answer.read_object().ok()?.uid != self.identity.uid).then_some(Answered::Replaced),
            None => Some(Answered::GoneBefore),
        }
    }

    fn accepted(&self, object: RawObject<'_>) -> (Answered, Option<ObjectEvent>) {
        let event = ObjectEvent { resource: self.resource(), object: object.into_owned(), gone: false };
        (Answered::Accepted, Some(event))
    }

    /// What became of the target, if the answer to its DELETE only says that something succeeded.
    async fn confirmed(&self, connection: &Connection, path: &ObjectPath) -> (Answered, Option<ObjectEvent>) {
        let unsure = |reason: String| (Answered::Unsure { reason }, None);
        match connection.get_one(path).await {
            Ok(Some(answer)) => match answer.read_object() {
                Ok(object) if object.uid == self.identity.uid && object.deleted.is_some() => self.accepted(object),
                Ok(object) if object.uid == self.identity.uid => {
                    unsure("the answer was a success, and the object is not being deleted".to_owned())
                }
                Ok(_) => (Answered::Removed, Some(self.gone.clone())),
                Err(malformed) => unsure(malformed.to_string()),
            },
            Ok(None) => (Answered::Removed, Some(self.gone.clone())),
            Err(failure) => unsure(failure.to_string()),
        }
    }
}

/// Whether the object in a DELETE's answer still exists. Some kinds are answered with the last state of the object
/// (R1.5).
fn stays(resource: &Resource, object: &RawObject<'_>) -> bool {
    let held = !object.finalizers.is_empty() || object.grace.is_some_and(|seconds| seconds > 0);
    // A Namespace stays until its `spec.finalizers` are empty.
    let namespace = KindRules::of(resource).own_delete == OwnDelete::Namespace;
    object.deleted.is_some() && (held || namespace)
}

impl RefusalCause {
    /// A webhook chooses its status, 400 if it doesn't
    /// (apiserver `admission/plugin/webhook/errors/statuserror.go:ToStatusErr`).
    fn of(refusal: &Refusal) -> Self {
        match refusal.status {
            _ if refusal.is_of_authorizer() => RefusalCause::Rights,
            _ if refusal.is_of_webhook() => RefusalCause::Judgement,
            StatusCode::BAD_REQUEST
            | StatusCode::FORBIDDEN
            | StatusCode::CONFLICT
            | StatusCode::UNPROCESSABLE_ENTITY => RefusalCause::Judgement,
            _ => RefusalCause::Other,
        }
    }
}

fn not_done(RequestError { failure, unsure }: RequestError) -> Answered {
    let reason = failure.in_full();
    match &failure {
        _ if unsure => Answered::Unsure { reason },
        Failure::Refused(refusal) if refusal.status.is_client_error() || refusal.is_of_webhook() => {
            Answered::Refused { reason, cause: RefusalCause::of(refusal) }
        }
        _ => Answered::Failed { reason },
    }
}
