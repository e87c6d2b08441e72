//! Checks whether a garbage collector is running, with a test object whose deletion only a collector can finish.

use std::{
    collections::BTreeMap,
    hash::{BuildHasher as _, RandomState},
    time::{Duration, Instant},
};

use http::StatusCode;
use k8s_openapi::{api::core::v1::ConfigMap, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use serde_json::Value;

use crate::cluster::{
    Answer, Connection, Failure,
    path::{self, ObjectPath},
    retry,
};
use gc_core::{
    command_line::{PLAIN, ShellCommand},
    model::{FOREGROUND_FINALIZER, RawObject, Resource},
    server::Propagation,
};

use super::{
    delete::Deletion,
    request::{RequestError, Write, delete_options, document, read_named_deleted, send_with_retry},
};

/// The first pauses between two reads; a running collector is usually faster.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two reads.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A collector finished the object.
    Collected {
        /// How long it took, from the DELETE on.
        after: Duration,
    },
    /// No collector finished it: none is running, or it is far behind or stuck. The object was removed again.
    NotCollected {
        /// How long the probe waited, from the DELETE on.
        waited: Duration,
        /// The object's name.
        name: String,
    },
}

/// Why a probe has no result. Except for [`ProbeError::Left`], it left nothing in the cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The object could not be created: forbidden, a quota, or a namespace that is missing or being deleted.
    #[error("cannot create the test ConfigMap in namespace {namespace}: {reason}; {}", what_to_do(.reason))]
    Refused {
        /// The namespace.
        namespace: String,
        /// The server's own words.
        reason: String,
    },
    /// The object was created, but could not be deleted or read.
    #[error(
        "cannot probe in namespace {namespace}: {doing} the test ConfigMap {name} failed: {reason}; it was \
         removed; try again, or use -n to choose a namespace in which you may create, get and delete ConfigMaps"
    )]
    Failed {
        /// The namespace.
        namespace: String,
        /// The object's name.
        name: String,
        /// What failed: deleting, watching.
        doing: &'static str,
        /// The server's own words.
        reason: String,
    },
    /// The API server removed the object at once, although it was deleted in the foreground: its own part of garbage
    /// collection is turned off (R1.10, S15). The probe can't show whether a collector runs; foreground and orphan
    /// deletion don't work either way.
    #[error(
        "the API server does not use the garbage collector: it removed a ConfigMap at once that was deleted in \
         the foreground; check whether it runs with --enable-garbage-collector=false"
    )]
    NotHeld,
    /// The object could not be removed again.
    #[error(
        "{found}; ConfigMap {name} in namespace {namespace} could not be removed: {reason}; remove it with: \
         {command}"
    )]
    Left {
        /// The namespace.
        namespace: String,
        /// The object's name.
        name: String,
        /// What the probe found.
        found: String,
        /// Why the object exists, or may exist.
        reason: String,
        /// The plain kubectl command that removes it.
        command: Box<ShellCommand>,
    },
}

/// What to do if the object can't be created.
fn what_to_do(reason: &str) -> &'static str {
    let says = |words: &str| reason.contains(words);
    if says("being terminated") || says("not found") {
        "use -n to choose a namespace that is not being deleted"
    } else if says("exceeded quota") {
        "use -n to choose a namespace with room in its quota"
    } else {
        "use -n to choose a namespace in which you may create, get and delete ConfigMaps"
    }
}

/// Checks whether a garbage collector is running: creates a test ConfigMap, deletes it in the foreground (which only a
/// collector finishes, R1.10), and waits up to `patience` until it is gone.
///
/// Leaves nothing behind: if no collector finishes the object, the probe deletes it again in the background (R1.21).
/// Only a future that is dropped half-way leaves it. Needs create, get and delete on ConfigMaps.
///
/// # Errors
/// When the object can't be created, deleted, read, or removed again.
pub async fn probe(connection: &Connection, namespace: &str, patience: Duration) -> Result<Probe, ProbeError> {
    let thrown = Throwaway::create(connection, namespace).await?;
    // From here on, every way out removes the object.
    let found = thrown.watch(patience).await;
    if let Ok((probe, true)) = found {
        return Ok(probe);
    }
    let found = found.map(|(probe, _)| probe);
    match thrown.remove().await {
        Ok(()) => found,
        Err(still) => Err(thrown.left(describe(&found), still)),
    }
}

/// What the probe found, before its object could not be removed.
fn describe(found: &Result<Probe, ProbeError>) -> String {
    match found {
        Ok(Probe::Collected { after }) => format!("a garbage collector is running (it reacted after {after:.1?})"),
        Ok(Probe::NotCollected { waited, .. }) => format!("no garbage collector reacted within {waited:.1?}"),
        Err(ProbeError::Failed { doing, reason, .. }) => format!("{doing} the test object failed: {reason}"),
        Err(error) => error.to_string(),
    }
}

/// The test object.
struct Throwaway<'c> {
    connection: &'c Connection,
    namespace: &'c str,
    name: String,
    path: ObjectPath,
    uid: String,
}

/// The object's state, according to an answer.
enum State {
    Gone,
    /// It still exists, with the collector's finalizer.
    Held,
    /// It still exists, without.
    Freed,
}

impl State {
    fn of(object: &RawObject<'_>) -> Self {
        let held = object.finalizers.iter().any(|finalizer| finalizer == FOREGROUND_FINALIZER);
        if held { State::Held } else { State::Freed }
    }
}

impl<'c> Throwaway<'c> {
    async fn create(connection: &'c Connection, namespace: &'c str) -> Result<Self, ProbeError> {
        let refused = |reason: String| ProbeError::Refused { namespace: namespace.to_owned(), reason };
        // Choose the name here, not on the server: if the answer is lost, the probe still knows what to remove.
        let name = format!("kubectl-gc-probe-{:016x}", RandomState::new().hash_one(namespace));
        let resource = Resource::named("", "v1", "configmaps", "ConfigMap");
        let Some(path) = path::of_object(&resource, namespace, &name) else {
            return Err(refused(format!("{namespace:?} is not a valid namespace name")));
        };
        let all = path::of_resource(&resource, Some(namespace));
        let mut thrown = Throwaway { connection, namespace, name, path, uid: String::new() };
        let created = match send_with_retry(connection, all.as_str(), Write::post(&object(&thrown.name))).await {
            // Only an earlier try of this request can have taken such a name.
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => {
                let there = connection.get_one(&thrown.path).await.map_err(unsure);
                there.and_then(|there| there.ok_or(undone))
            }
            created => created,
        };
        let undone = match created.and_then(|answer| uid_of(&answer).map_err(unsure)) {
            Ok(uid) => {
                thrown.uid = uid;
                return Ok(thrown);
            }
            Err(undone) => undone,
        };
        let error = refused(undone.failure.in_full());
        match thrown.undo(undone.unsure).await {
            Ok(()) => Err(error),
            Err(still) => Err(thrown.left(error.to_string(), still)),
        }
    }

    /// Removes what a failed create may have left after all.
    async fn undo(&mut self, unsure: bool) -> Result<(), Still> {
        if !unsure {
            return Ok(());
        }
        let there = self.connection.get_one(&self.path).await;
        match there.and_then(|there| there.map(|answer| uid_of(&answer)).transpose()) {
            Ok(Some(uid)) => {
                self.uid = uid;
                self.remove().await
            }
            Ok(None) => Ok(()),
            Err(unknown) => {
                Err(Still::Unremoved(format!("it is not known whether it was created ({})", unknown.in_full())))
            }
        }
    }

    /// Deletes the object in the foreground and waits for a collector. Returns also whether the object is gone; if not,
    /// it is to be removed.
    async fn watch(&self, patience: Duration) -> Result<(Probe, bool), ProbeError> {
        let begun = Instant::now();
        match self.delete(Propagation::Foreground).await {
            Ok(State::Held) => {}
            // A server that uses the garbage collector would have kept it, with the collector's finalizer.
            Ok(_) => return Err(ProbeError::NotHeld),
            // Also if it is already gone because an earlier try's answer was lost: unknown whether a collector finished
            // it.
            Err(failure) => return Err(self.failed("deleting", &failure)),
        }
        let mut pause = FIRST_PAUSE;
        let mut looks = 0;
        loop {
            tokio::time::sleep(pause.min(patience.saturating_sub(begun.elapsed()))).await;
            looks += 1;
            // Check the deadline before the read: the last read then happens after it.
            let last = begun.elapsed() >= patience;
            match self.state().await {
                Ok(State::Gone) => return Ok((Probe::Collected { after: begun.elapsed() }, true)),
                // A collector removed its finalizer: another finalizer keeps it.
                Ok(State::Freed) => return Ok((Probe::Collected { after: begun.elapsed() }, false)),
                Ok(State::Held) if last => {
                    return Ok((Probe::NotCollected { waited: begun.elapsed(), name: self.name.clone() }, false));
                }
                Ok(State::Held) => {}
                // Retry failures that may pass until the deadline.
                Err(failure) if last || retry::pause_after(&failure, 1, true).is_none() => {
                    return Err(self.failed("watching", &failure));
                }
                Err(_) => {}
            }
            // Short pauses for the first second, then longer ones: fast for the user, easy on the server.
            if looks >= 10 {
                pause = (pause * 3 / 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// Reads the object's state, once.
    async fn state(&self) -> Result<State, Failure> {
        let Some(answer) = self.connection.get_one_once(&self.path).await? else { return Ok(State::Gone) };
        let object = answer.read_object()?;
        // Otherwise the name belongs to a new object.
        Ok(if object.uid == self.uid { State::of(&object) } else { State::Gone })
    }

    /// Deletes the object, and reads its state from the answer.
    async fn delete(&self, propagation: Propagation) -> Result<State, Failure> {
        let options = delete_options(&Deletion::by(propagation), &self.uid, None);
        let answer = send_with_retry(self.connection, &self.path, Write::delete(&options)).await?;
        Ok(read_named_deleted(&answer, &self.uid)?.map_or(State::Gone, |object| State::of(&object)))
    }

    /// Deletes the object in the background, which also removes the collector's finalizer (R1.21).
    async fn remove(&self) -> Result<(), Still> {
        match self.delete(Propagation::Background).await {
            Ok(State::Gone) => Ok(()),
            Err(failure) if failure.proves_absence(&self.path) => Ok(()),
            // 409: the name belongs to another object by now (R1.6).
            Err(failure) if failure.status() == Some(StatusCode::CONFLICT) => Ok(()),
            Ok(State::Held | State::Freed) => Err(Still::Held),
            Err(failure) => Err(Still::Unremoved(failure.in_full())),
        }
    }

    fn failed(&self, doing: &'static str, failure: &Failure) -> ProbeError {
        let (namespace, name) = (self.namespace.to_owned(), self.name.clone());
        ProbeError::Failed { namespace, name, doing, reason: failure.in_full() }
    }

    fn left(&self, found: String, still: Still) -> ProbeError {
        let Throwaway { namespace, name, .. } = self;
        let kubectl = |verb| PLAIN.verb(verb).args([&format!("configmap/{name}"), "-n", namespace]);
        let (reason, command) = match still {
            Still::Unremoved(reason) => (reason, kubectl("delete")),
            Still::Held => (
                "it is deleted, but another client has added a finalizer to it".to_owned(),
                kubectl("patch").args(["--type=merge", "-p", r#"{"metadata":{"finalizers":null}}"#]),
            ),
        };
        ProbeError::Left {
            namespace: (*namespace).to_owned(),
            name: name.clone(),
            found,
            reason,
            command: Box::new(command),
        }
    }
}

/// Why the object exists, or may exist.
enum Still {
    /// It could not be deleted, for this reason.
    Unremoved(String),
    /// It is terminating, and another client has added a finalizer.
    Held,
}

/// A failure after which the object may exist.
fn unsure(failure: Failure) -> RequestError {
    RequestError { failure, unsure: true }
}

fn uid_of(answer: &Answer) -> Result<String, Failure> {
    let uid = answer.read_object()?.uid.into_owned();
    if uid.is_empty() { Err(Failure::Malformed("an object without its uid".to_owned())) } else { Ok(uid) }
}

/// The test object. Its data explains it to anyone who finds it.
fn object(name: &str) -> Value {
    let what = "A test object of kubectl gc: its deletion shows whether the garbage collector is running. It can be \
                deleted at any time.";
    let pair = |name: &str, text: &str| BTreeMap::from([(name.to_owned(), text.to_owned())]);
    document(&ConfigMap {
        metadata: ObjectMeta {
            name: Some(name.to_owned()),
            labels: Some(pair("app.kubernetes.io/managed-by", "kubectl-gc")),
            ..ObjectMeta::default()
        },
        immutable: Some(true),
        data: Some(pair("what", what)),
        ..ConfigMap::default()
    })
}
