//! Deleting targets: one DELETE after the other, and what the API server made of each.

use std::pin::pin;

use futures::poll;
use http::{Method, StatusCode};

use crate::{
    cluster::{Answer, Connection, Failure, path},
    model::{Identity, ObjectEvent, ObjectId, RawObject, Resource, ResourceId, Snapshot},
    server::{KindRules, OwnDelete, Propagation},
};

use super::request::{RequestError, delete_options, send_with_retry};

/// What a DELETE asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// What becomes of the dependents.
    pub propagation: Propagation,
    /// `gracePeriodSeconds`; unset leaves it to the pods.
    pub grace: Option<i64>,
    /// The API server goes through everything, admission included, and stores nothing.
    pub dry_run: bool,
}

impl Deletion {
    /// With this policy, and nothing else.
    pub fn by(propagation: Propagation) -> Self {
        Deletion { propagation, grace: None, dry_run: false }
    }
}

/// A target, and what came of its DELETE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub target: Identity,
    pub answered: Answered,
    /// What the answer says of the target as it is stored: nothing where it was only tried, or is not known.
    pub seen: Option<ObjectEvent>,
}

/// What came of one DELETE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answered {
    /// It was removed at once.
    Removed,
    /// It is marked for deletion, and is still there.
    Accepted,
    /// It was gone before, by an earlier target's cascade or somebody else's doing. No error: that is what was wanted.
    GoneBefore,
    /// It was gone before, and another object has its name by now, which was not touched (R1.6).
    Replaced,
    /// The API server doesn't do it: forbidden, or denied by admission. Its own words.
    Refused { reason: String },
    /// The server's answer got lost, or makes no sense: whether it is deleted is not known. Why.
    Unsure { reason: String },
    /// It did not reach the server, or the server could not do it: nothing was deleted. Why.
    Failed { reason: String },
    /// It was not sent any more, because an earlier one failed or everything was called off.
    NotSent,
}

impl Answered {
    /// Whether the target is not, or perhaps not, on its way out.
    pub fn failed(&self) -> bool {
        match self {
            Answered::Removed | Answered::Accepted | Answered::GoneBefore | Answered::Replaced => false,
            Answered::Refused { .. } | Answered::Unsure { .. } | Answered::Failed { .. } | Answered::NotSent => true,
        }
    }
}

impl Answered {
    /// Whether the target is on its way out, or gone, or may be.
    pub fn may_be_done(&self) -> bool {
        matches!(self, Answered::Unsure { .. }) || !self.failed()
    }
}

/// Deletes these objects one after the other, each by the uid it has in the snapshot, so that nothing is deleted which
/// has taken the name of one meanwhile. `describe` is called after each answer. Returns what happened to each, in the
/// order of the targets.
///
/// After the first that fails no other is sent: what was foretold was foretold of all of them. The same as soon as
/// `called_off` is done; a DELETE that is under way is brought to its end before. A future that is dropped half-way
/// leaves it unknown whether the last was done.
pub async fn delete(
    connection: &Connection,
    snapshot: &Snapshot,
    targets: &[ObjectId],
    deletion: &Deletion,
    called_off: impl Future<Output = ()>,
    describe: &mut dyn FnMut(&Sent),
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
        let sent = Sent { target: object.identity, answered, seen: seen.filter(|_| !deletion.dry_run) };
        describe(&sent);
        all.push(sent);
    }
    all
}

/// An object that is to be deleted.
struct Target {
    identity: Identity,
    /// As it is seen once it is gone.
    gone: ObjectEvent,
}

impl Target {
    fn of(snapshot: &Snapshot, id: ObjectId) -> Self {
        let identity = Identity::of(snapshot, id);
        let object = RawObject {
            namespace: identity.namespace.clone().into(),
            name: identity.name.clone().into(),
            uid: identity.uid.clone().into(),
            ..RawObject::default()
        };
        Target { identity, gone: ObjectEvent { resource: snapshot.object(id).resource, object, gone: true } }
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
            return (Answered::Refused { reason: "not a valid object name".to_owned() }, None);
        };
        let undone =
            match send_with_retry(connection, &Method::DELETE, &path, Some(&delete_options(deletion, uid))).await {
                Ok(answer) => return self.accepted(resource, &answer),
                Err(undone) => undone,
            };
        // The uid is another, or something else is in the way: the words for it differ from kind to kind.
        let gone = match undone.failure.status() {
            Some(StatusCode::CONFLICT) => self.is_replaced(connection, &path).await,
            _ => undone.failure.proves_absence().then_some(Answered::GoneBefore),
        };
        match gone {
            Some(gone) => (gone, Some(self.gone.clone())),
            None => (not_done(undone), None),
        }
    }

    /// Whether the target is gone, and something else has its name; none where it is still there, or nobody says.
    async fn is_replaced(&self, connection: &Connection, path: &str) -> Option<Answered> {
        match send_with_retry(connection, &Method::GET, path, None).await {
            Ok(answer) => {
                let uid = answer.read_object().ok()?.uid;
                (!uid.is_empty() && uid != self.identity.uid).then_some(Answered::Replaced)
            }
            Err(undone) => undone.failure.proves_absence().then_some(Answered::GoneBefore),
        }
    }

    /// What an answer that is a success says: a Status, or the object as it is now, or as it was last.
    fn accepted(&self, resource: &Resource, answer: &Answer) -> (Answered, Option<ObjectEvent>) {
        let object = match answer.read_object() {
            Ok(object) => object,
            Err(malformed) => return (Answered::Unsure { reason: Failure::from(malformed).to_string() }, None),
        };
        // A Status has no uid.
        if object.uid != self.identity.uid || !stays(resource, &object) {
            return (Answered::Removed, Some(self.gone.clone()));
        }
        (Answered::Accepted, Some(ObjectEvent { resource: self.resource(), object: object.into_owned(), gone: false }))
    }
}

/// Whether an object is still there that a DELETE was answered with. Some kinds are answered with what they were last
/// (R1.5).
fn stays(resource: &Resource, object: &RawObject<'_>) -> bool {
    let held = !object.finalizers.is_empty() || object.grace.is_some_and(|seconds| seconds > 0);
    // Its spec.finalizers hold it.
    let namespace = KindRules::of(resource).own_delete == OwnDelete::Namespace;
    object.deleted.is_some() && (held || namespace)
}

fn not_done(RequestError { failure, unsure }: RequestError) -> Answered {
    let reason = failure.in_full();
    match &failure {
        _ if unsure => Answered::Unsure { reason },
        Failure::Refused(refusal) if refusal.status.is_client_error() => Answered::Refused { reason },
        _ => Answered::Failed { reason },
    }
}
