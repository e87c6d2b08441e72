//! Sends what the collector's rules ask for to the API server. Every write names uid and resourceVersion, so that it
//! fails if the object has changed since the decision.

use http::StatusCode;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::OwnerReference;
use serde_json::{Value, json};

use crate::{
    act::{
        delete::Deletion,
        request::{MERGE_PATCH, Write, delete_options, document, read_named_deleted, send_with_retry},
        update::metadata_patch,
    },
    cluster::{Answer as Received, Failure as Trouble, METADATA, path::ObjectPath},
    metrics::Unwritten,
};
use gc_core::{
    collector::{Answer, Ask, Failure, GraphView as _, Identity as Coordinates, OwnerState, Reason},
    graph::NodeId,
    model::{RawObject, Reference, Symbol},
    server::{self, DeleteAnswer, DeleteOptions, Patch, PatchAnswer, Propagation, Stored},
};

use super::{
    event::{CompletedWrite, SweepEvent, What},
    state::{Place, Shared, State},
};

/// How often a write is tried in a row with the version just read; after that, the item is queued again. Each conflict
/// means that another client has written.
const VERSIONED_TRIES: u32 = 6;

/// What a worker remembers of its item.
#[derive(Debug)]
pub(super) struct WorkItem {
    node: NodeId,
    /// The coordinates under which the item was queued; once it is read, with its real namespace.
    coordinates: Coordinates,
    /// The resourceVersions that were read; `Stored::version` is an index into them.
    versions: Vec<String>,
    /// The item as it was last read.
    item: Option<Stored<'static>>,
    /// Whether that is the whole item: an observed item lacks finalizers.
    whole: bool,
    /// Whether the item must be read, even if it was observed.
    distrusts: bool,
    /// Whether all of its dependents were known when the work on it began: those that are freed were collected then.
    knows_dependents: bool,
    /// Whether dependents could be among what was not read then.
    had_hidden_dependents: bool,
    /// Why the last request brought no answer.
    pub trouble: Option<String>,
    /// Whether only a change of the served resources can help (R3.13): that was predicted, and is no error.
    pub unmappable: bool,
}

impl WorkItem {
    pub(super) fn new(state: &State, node: NodeId) -> Option<Self> {
        let coordinates = state.live.identity(node)?;
        Some(WorkItem {
            node,
            coordinates,
            versions: Vec::new(),
            item: None,
            whole: false,
            distrusts: false,
            knows_dependents: state.knows_dependents(node),
            had_hidden_dependents: state.may_hide_dependents(&coordinates),
            trouble: None,
            unmappable: false,
        })
    }

    pub(super) fn coordinates(&self) -> Coordinates {
        self.coordinates
    }

    /// Makes the next request read the item, even if it was observed.
    pub(super) fn read_anew(self) -> Self {
        WorkItem { distrusts: true, ..self }
    }

    fn fails(&mut self, failure: Failure, why: impl Into<String>) -> Failure {
        self.trouble = Some(why.into());
        failure
    }

    /// The resourceVersion with this number in a `Stored`.
    fn version(&self, number: u32) -> Option<&str> {
        self.versions.get(number as usize).map(String::as_str)
    }
}

/// The result of a write.
pub(super) enum Sent {
    Done,
    /// The item has another uid or version by now. Nothing was written.
    Conflict,
    Failed(Trouble),
}

/// The object at a place.
enum Found {
    Object(Box<RawObject<'static>>),
    Nothing,
}

impl Shared {
    /// Does what a worker's examination asks for, and returns the API server's answer.
    pub(super) async fn answer(&self, worked: &mut WorkItem, ask: &Ask) -> Answer<'static> {
        (worked.trouble, worked.unmappable) = (None, false);
        match ask {
            Ask::Item(coordinates) => self.item(worked, coordinates).await,
            Ask::Owner(reference) => Answer::Owner(self.owner(worked, reference).await),
            Ask::Delete(options, reason) => self.delete(worked, options, reason).await,
            Ask::Patch(patch, reason) => self.patch(worked, patch, reason).await,
        }
    }

    /// Reads the item. At first, the observed item is enough, because every write names the version it was decided on.
    /// Later, or if it was not observed, GETs it.
    async fn item(&self, worked: &mut WorkItem, coordinates: &Coordinates) -> Answer<'static> {
        worked.coordinates = *coordinates;
        if worked.versions.is_empty() && !worked.distrusts {
            let state = self.lock();
            if let Some(seen) = state.live.as_seen(worked.node, 0) {
                worked.versions.push(state.live.version(worked.node).to_string());
                (worked.item, worked.whole) = (Some(seen.clone()), false);
                return Answer::Found(seen);
            }
        }
        let (place, uid) = {
            let state = self.lock();
            (state.place(coordinates), state.live.text(coordinates.uid).to_owned())
        };
        match self.look(worked, place, &uid).await {
            Ok(Found::Nothing) => Answer::NotFound,
            Ok(Found::Object(raw)) => {
                let mut state = self.lock();
                if raw.uid != uid {
                    return Answer::NotFound;
                }
                worked.coordinates = state.live.as_read(coordinates, &raw);
                if !state.live.may_write_to(&worked.coordinates) {
                    return Answer::Failed(Failure::Refused);
                }
                let item = state.live.stored(&raw, worked.versions.len() as u32);
                worked.versions.push(raw.resource_version.into_owned());
                (worked.item, worked.whole) = (Some(item.clone()), true);
                Answer::Found(item)
            }
            Err(failure) => Answer::Failed(failure),
        }
    }

    /// The state of the owner that a reference of the item names (§3.4).
    async fn owner(&self, worked: &mut WorkItem, reference: &Reference) -> Result<OwnerState, Failure> {
        let (coordinates, place, uid) = {
            let state = self.lock();
            let namespace = worked.coordinates.namespace;
            if state.live.is_known_absent(reference, namespace) {
                return Ok(OwnerState::Dangling);
            }
            let coordinates = Coordinates::named_by(reference, namespace);
            (coordinates, state.place(&coordinates), state.live.text(reference.uid).to_owned())
        };
        let namespaced = match &place {
            Place::At(path) => Some(path.is_namespaced()),
            // A list kind has no path in any namespace: don't record an absence.
            _ => None,
        };
        let there = self.look(worked, place, &uid).await?;
        let mut state = self.lock();
        if let Found::Object(raw) = there
            && raw.uid == uid
        {
            let waiting = state.live.stored(&raw, 0).waiting();
            return Ok(if waiting { OwnerState::Waiting } else { OwnerState::Solid });
        }
        if let Some(namespaced) = namespaced {
            let namespace = if namespaced { coordinates.namespace } else { Symbol::EMPTY };
            state.live.set_absent(Coordinates { namespace, ..coordinates });
        }
        Ok(OwnerState::Dangling)
    }

    /// GETs the object at a place, which should have this uid. Only the server's statement that the object doesn't
    /// exist proves absence; a missing API path does so only if missing APIs are trusted (R3.16).
    async fn look(&self, worked: &mut WorkItem, place: Place, uid: &str) -> Result<Found, Failure> {
        let trusts = self.settings.trust_missing_apis;
        let missing = "its API path is not served, which does not prove that the object is gone";
        let path = match place {
            Place::At(path) => path,
            Place::NoSuchPath if trusts => return Ok(Found::Nothing),
            Place::NoSuchPath => {
                return Err(worked.fails(Failure::Unmappable, missing));
            }
            Place::Unmappable => {
                worked.unmappable = true;
                return Err(worked.fails(Failure::Unmappable, "an apiVersion and kind that are not served"));
            }
            Place::InvalidScope => {
                worked.unmappable = true;
                return Err(worked.fails(Failure::InvalidScope, "cluster-scoped, but owned by a namespaced object"));
            }
            Place::Undiscovered => {
                return Err(worked.fails(Failure::Unknown, "it is not known which kinds its apiVersion serves"));
            }
        };
        match self.connection.get_expected(&path, METADATA, |found| found == uid).await {
            Ok(Some(answer)) => match answer.read_object() {
                Ok(raw) => Ok(Found::Object(Box::new(raw.into_owned()))),
                Err(malformed) => Err(worked.fails(Failure::Unknown, Trouble::from(malformed).to_string())),
            },
            Ok(None) => Ok(Found::Nothing),
            Err(trouble) if trouble.is_missing_api() && trusts => Ok(Found::Nothing),
            Err(trouble) if trouble.is_missing_api() => Err(worked.fails(Failure::Unknown, missing)),
            Err(trouble) => Err(worked.fails(Failure::Unknown, trouble.in_full())),
        }
    }

    /// DELETEs the item (R4.1). If the rules drop the version because other clients keep writing to the item (R4.2),
    /// this still sends the version that was read last: otherwise, an owner that is added after that read would be
    /// ignored.
    async fn delete(&self, worked: &mut WorkItem, options: &DeleteOptions, reason: &Reason) -> Answer<'static> {
        let Some(propagation) = options.propagation else { return Answer::Failed(Failure::Unknown) };
        let (path, uid) = {
            let state = self.lock();
            let Place::At(path) = state.place(&worked.coordinates) else {
                return Answer::Failed(worked.fails(Failure::Unmappable, "its kind is no longer served"));
            };
            (path, state.live.text(worked.coordinates.uid).to_owned())
        };
        for _ in 0..VERSIONED_TRIES {
            let number = options.version.unwrap_or(worked.versions.len().saturating_sub(1) as u32);
            let version = worked.version(number).filter(|version| !version.is_empty());
            let body = delete_options(&Deletion::by(propagation), &uid, version);
            match self.send(worked, &path, Write::delete(&body), What::Deleted(propagation), reason).await {
                // The item's new state arrives as an event: the rules don't use this answer.
                Sent::Done => return Answer::Deleted(DeleteAnswer::Removed),
                Sent::Conflict => {
                    if options.version.is_some() {
                        return Answer::Deleted(DeleteAnswer::Conflict);
                    }
                    let before = worked.item.clone();
                    let coordinates = worked.coordinates;
                    match self.item(worked, &coordinates).await {
                        Answer::Found(now) if before.is_some_and(|before| before.owners == now.owners) => {}
                        Answer::Found(_) => return Answer::Deleted(DeleteAnswer::Conflict),
                        answer => return answer,
                    }
                }
                Sent::Failed(trouble) => {
                    return self.unwritten(worked, &path, What::Deleted(propagation), reason, trouble);
                }
            }
        }
        Answer::Deleted(DeleteAnswer::Conflict)
    }

    /// PATCHes the item. Applies the collector's patch to the item that was read, and sends the result under that
    /// version, so that the effect is exactly that of the collector's own patch.
    async fn patch(&self, worked: &mut WorkItem, patch: &Patch, reason: &Reason) -> Answer<'static> {
        let Some(item) = worked.item.clone() else { return Answer::Failed(Failure::Unknown) };
        // With `true`, an object that loses its last finalizer counts as updated, not as removed.
        let after = match server::patch(&item, patch, true) {
            PatchAnswer::Updated(after) => after,
            PatchAnswer::Invalid => {
                return Answer::Failed(
                    worked.fails(Failure::Refused, "two of its owner references would have controller: true"),
                );
            }
            answer @ (PatchAnswer::Unchanged | PatchAnswer::Conflict | PatchAnswer::Removed) => {
                return Answer::Patched(answer);
            }
        };
        if after.finalizers != item.finalizers {
            if !worked.whole {
                return Answer::Failed(worked.fails(Failure::Unknown, "its finalizers could not be read"));
            }
            // The collector would delete a dependent that was not freed, once its owner is gone.
            // The words don't say what is unread, so that they are printed once: the sync status says it.
            if worked.had_hidden_dependents || self.lock().may_hide_dependents(&worked.coordinates) {
                let why = "it keeps its finalizer, because what is not synced may contain its dependents";
                return Answer::Failed(worked.fails(Failure::Unknown, why));
            }
            if !worked.knows_dependents {
                // That is no trouble: the next lists come soon, and then it is tried again.
                self.change(|state| state.await_lists(worked.node));
                return Answer::Failed(Failure::Unknown);
            }
        }
        let (path, body) = {
            let state = self.lock();
            let Place::At(path) = state.place(&worked.coordinates) else {
                return Answer::Failed(worked.fails(Failure::Unmappable, "its kind is no longer served"));
            };
            (path, body(&state, worked, &item, &after))
        };
        if after.finalizers != item.finalizers
            && let Some(finished) = self.finish(worked, &path, &after, reason).await
        {
            return finished;
        }
        let what = match patch {
            Patch::StripByUid(_) => What::Stripped,
            Patch::SetOwners { .. } | Patch::MergeOwners(_) => What::Unblocked,
            Patch::RemoveFinalizer { .. } => What::Finalized,
        };
        let write = Write::patch(MERGE_PATCH, &body).answered_in(METADATA);
        match self.send(worked, &path, write, what, reason).await {
            Sent::Done => {
                worked.item = Some(after.clone());
                Answer::Patched(PatchAnswer::Updated(after))
            }
            Sent::Conflict => Answer::Patched(PatchAnswer::Conflict),
            Sent::Failed(trouble) => self.unwritten(worked, &path, what, reason, trouble),
        }
    }

    /// Drops the references to an owner from one of its dependents (§6): from the observed dependent, or after a
    /// conflict from the one that is there.
    pub(super) async fn free(&self, dependent: NodeId, patch: &Patch, reason: &Reason) -> Answer<'static> {
        let Some(mut worked) = WorkItem::new(&self.lock(), dependent) else { return Answer::NotFound };
        for _ in 0..VERSIONED_TRIES {
            let coordinates = worked.coordinates;
            let answer = match self.item(&mut worked, &coordinates).await {
                Answer::Found(_) => self.patch(&mut worked, patch, reason).await,
                answer => answer,
            };
            match answer {
                Answer::Patched(PatchAnswer::Conflict) => worked.distrusts = true,
                answer => {
                    match (&answer, worked.trouble.take()) {
                        (Answer::Failed(_), Some(why)) => self.failed(dependent, &worked, why, true),
                        _ => drop(self.lock().failing.remove(&dependent)),
                    }
                    return answer;
                }
            }
        }
        Answer::Patched(PatchAnswer::Conflict)
    }

    /// Sends a write to the item. After that, and after a conflict, the observed item is outdated.
    pub(super) async fn send(
        &self,
        worked: &mut WorkItem,
        path: &ObjectPath,
        write: Write<'_>,
        what: What,
        reason: &Reason,
    ) -> Sent {
        let is_patch = write.is_patch();
        match send_with_retry(&self.connection, path, write).await {
            Ok(answer) => {
                let done = if is_patch { self.is_patched(worked, &answer) } else { self.is_deleted(worked, &answer) };
                if let Err(failure) = done {
                    self.distrust(worked);
                    return Sent::Failed(failure);
                }
                self.written(worked, what, reason);
                Sent::Done
            }
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => {
                (self.observer)(SweepEvent::NotWritten { what, reason, why: Unwritten::Conflict });
                self.distrust(worked);
                Sent::Conflict
            }
            Err(undone) => Sent::Failed(undone.failure),
        }
    }

    /// Whether the answer to a PATCH is the item in a new state. Anything else, for instance of a gateway, proves
    /// nothing: an owner would lose its finalizer while dependents still refer to it.
    fn is_patched(&self, worked: &WorkItem, answer: &Received) -> Result<(), Trouble> {
        let after = answer.read_object()?;
        if after.uid != self.lock().live.text(worked.coordinates.uid) {
            return Err(Trouble::Malformed("not the object that was written".to_owned()));
        }
        Ok(())
    }

    /// Whether the answer to a DELETE is one. Otherwise nothing may have been deleted, and no event would follow.
    fn is_deleted(&self, worked: &WorkItem, answer: &Received) -> Result<(), Trouble> {
        let uid = self.lock().live.text(worked.coordinates.uid).to_owned();
        read_named_deleted(answer, &uid).map(drop)
    }

    pub(super) fn unwritten(
        &self,
        worked: &mut WorkItem,
        path: &ObjectPath,
        what: What,
        reason: &Reason,
        trouble: Trouble,
    ) -> Answer<'static> {
        if trouble.proves_absence(path) {
            (self.observer)(SweepEvent::NotWritten { what, reason, why: Unwritten::Gone });
            return Answer::NotFound;
        }
        (self.observer)(SweepEvent::NotWritten { what, reason, why: Unwritten::Failed });
        let refused = matches!(&trouble, Trouble::Refused(refusal) if refusal.status.is_client_error());
        let failure = if refused { Failure::Refused } else { Failure::Unknown };
        Answer::Failed(worked.fails(failure, trouble.in_full()))
    }

    /// Marks the observed item as outdated.
    fn distrust(&self, worked: &mut WorkItem) {
        worked.distrusts = true;
        self.lock().live.distrust(worked.node);
    }

    fn written(&self, worked: &WorkItem, what: What, reason: &Reason) {
        let object = self.change(|state| {
            state.moved = Some(std::time::Instant::now());
            // The write has changed it since it was observed.
            state.live.distrust(worked.node);
            state.named(&worked.coordinates)
        });
        (self.observer)(SweepEvent::Written(&CompletedWrite { object, what, why: reason.clone() }));
    }
}

/// The patch that turns an item into `after`: only the differences, and the uid and version they apply to.
fn body(state: &State, worked: &WorkItem, item: &Stored<'_>, after: &Stored<'_>) -> Value {
    let mut metadata = json!({});
    if after.owners != item.owners {
        metadata["ownerReferences"] = after.owners.iter().map(|reference| written_out(state, reference)).collect();
    }
    if after.finalizers != item.finalizers {
        metadata["finalizers"] = after.finalizers.iter().map(|finalizer| json!(state.live.text(*finalizer))).collect();
    }
    metadata_patch(state.live.text(worked.coordinates.uid), worked.version(item.version), metadata)
}

fn written_out(state: &State, reference: &Reference) -> Value {
    let text = |symbol: Symbol| state.live.text(symbol).to_owned();
    document(&OwnerReference {
        api_version: text(reference.api_version),
        kind: text(reference.kind),
        name: text(reference.name),
        uid: text(reference.uid),
        controller: reference.controller,
        block_owner_deletion: reference.block_owner_deletion,
    })
}

impl Shared {
    /// Removes a terminating object by a DELETE that takes its last finalizer (R1.22). A PATCH is not safe here if
    /// another client does the same: the API server carries it out in two steps, and the second deletes whatever object
    /// has the name by then, whichever uid and version the PATCH names (`STORE:deleteWithoutFinalizers`, which takes
    /// preconditions from a PUT only). Seen on a real cluster: with two collectors at work, an object that is created
    /// again under the name is lost. A DELETE with Background removes the collector's finalizers as well (R1.21), and
    /// the API server checks its uid to the very end. It can't name a version, because it would then always fail
    /// (R1.7); but no one can add a finalizer to a terminating object, and the last read showed no other.
    ///
    /// None if a PATCH has to do it: for a pod in its grace period or a Namespace, on which a second DELETE has no
    /// effect (R1.17, R1.25), and if the DELETE is refused.
    pub(super) async fn finish(
        &self,
        worked: &mut WorkItem,
        path: &ObjectPath,
        after: &Stored<'static>,
        reason: &Reason,
    ) -> Option<Answer<'static>> {
        let removes = after.terminating && after.finalizers.is_empty() && after.grace.unwrap_or(0) == 0;
        let (is_namespace, uid) = {
            let (state, coordinates) = (self.lock(), worked.coordinates());
            let is = |symbol, text: &str| state.live.text(symbol) == text;
            let is_namespace = is(coordinates.api_version, "v1") && is(coordinates.kind, "Namespace");
            (is_namespace, state.live.text(coordinates.uid).to_owned())
        };
        if !removes || is_namespace {
            return None;
        }
        let body = delete_options(&Deletion::by(Propagation::Background), &uid, None);
        match self.send(worked, path, Write::delete(&body), What::Finalized, reason).await {
            Sent::Done => Some(Answer::Patched(PatchAnswer::Removed)),
            Sent::Conflict => Some(Answer::Patched(PatchAnswer::Conflict)),
            // Admission or RBAC may refuse a DELETE, but allow the PATCH that the collector sends.
            Sent::Failed(trouble)
                if trouble
                    .status()
                    .is_some_and(|status| status.is_client_error() && status != StatusCode::NOT_FOUND) =>
            {
                None
            }
            Sent::Failed(trouble) => Some(self.unwritten(worked, path, What::Finalized, reason, trouble)),
        }
    }
}
