//! Does a garbage collector run? A throw-away object that only a collector can finish tells.

use std::{
    future,
    hash::{BuildHasher as _, RandomState},
    pin::pin,
    time::{Duration, Instant},
};

use futures::future::{Either, select};
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::{
    cluster::{Answer, Connection, Failure, path, retry},
    command_line::{PLAIN, ShellCommand},
    model::{FOREGROUND_FINALIZER, Resource},
    server::Propagation,
};

use super::{
    delete::Deletion,
    request::{RequestError, delete_options, once, send_with_retry},
};

/// The first pauses between two looks; a collector that is awake takes less.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// The longest pause between two looks.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// What came of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Probe {
    /// A collector finished the object.
    Collected {
        /// How long it took, from the DELETE on.
        after: Duration,
    },
    /// None did: there is no collector, or it is far behind or stuck. The object was removed again.
    NotCollected {
        /// How long was waited, from the DELETE on.
        waited: Duration,
        /// What the object was called.
        name: String,
    },
}

/// Why a probe says nothing. But for [`ProbeError::Left`], nothing of it is left in the cluster.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProbeError {
    /// The object could not be created: forbidden, a quota, a namespace that is missing or being deleted.
    #[error("cannot create the test ConfigMap in namespace {namespace}: {reason}; {}", what_to_do(.reason))]
    Refused {
        /// Where.
        namespace: String,
        /// The server's own words.
        reason: String,
    },
    /// The object was created, and then it could not be deleted or looked at.
    #[error(
        "cannot probe in namespace {namespace}: {doing} the test ConfigMap {name} failed: {reason}; it was \
         removed; try again, or use -n to choose a namespace in which you may create, get and delete ConfigMaps"
    )]
    Failed {
        /// Where.
        namespace: String,
        /// What the object was called.
        name: String,
        /// What failed: deleting, watching.
        doing: &'static str,
        /// The server's own words.
        reason: String,
    },
    /// The API server removes at once what is deleted in the foreground: its own part of garbage collection is turned
    /// off (R1.10, S15). Whether a collector runs doesn't show then; foreground and orphan deletion don't work either
    /// way.
    #[error(
        "the API server does not use the garbage collector: it removed a ConfigMap at once that was deleted in \
         the foreground; check whether it runs with --enable-garbage-collector=false"
    )]
    NotHeld,
    /// The probe was called off.
    #[error(
        "the probe was interrupted before a collector reacted; its ConfigMap {name} was removed from namespace \
         {namespace}"
    )]
    CalledOff {
        /// Where.
        namespace: String,
        /// What the object was called.
        name: String,
    },
    /// The object could not be removed again.
    #[error(
        "{found}; ConfigMap {name} in namespace {namespace} could not be removed: {reason}; remove it with: \
         {command}"
    )]
    Left {
        /// Where.
        namespace: String,
        /// What it is called.
        name: String,
        /// What the probe would have said otherwise.
        found: String,
        /// Why it is, or may be, still there.
        reason: String,
        /// What removes it, in plain kubectl.
        command: ShellCommand,
    },
}

/// What helps where an object can't be created.
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

/// Finds out whether a garbage collector runs: creates a throw-away ConfigMap, deletes it in the foreground (which only
/// a collector finishes, R1.10), and waits until it is gone, up to `patience`.
///
/// Nothing is left behind, whatever comes of it: an object that no collector took is deleted again in the background
/// (R1.21). Only a future that is dropped half-way leaves it; whoever may have to stop calls [`probe_until`]. Needs
/// create, get and delete on ConfigMaps.
///
/// # Errors
/// When the object can't be created, deleted or watched, or can't be removed again.
pub async fn probe(connection: &Connection, namespace: &str, patience: Duration) -> Result<Probe, ProbeError> {
    probe_until(connection, namespace, patience, future::pending()).await
}

/// Like [`probe`], but stops waiting as soon as `called_off` is done (an interrupt, say), and removes its object first.
///
/// # Errors
/// As [`probe`]'s, and [`ProbeError::CalledOff`].
pub async fn probe_until(
    connection: &Connection,
    namespace: &str,
    patience: Duration,
    called_off: impl Future<Output = ()>,
) -> Result<Probe, ProbeError> {
    let thrown = Throwaway::create(connection, namespace).await?;
    let found = {
        // Once it is created, nothing is given up without removing it.
        let (watching, called_off) = (pin!(thrown.watch(patience)), pin!(called_off));
        match select(watching, called_off).await {
            Either::Left((found, _)) => found,
            Either::Right(((), _)) => Found::CalledOff,
        }
    };
    thrown.conclude(found).await
}

/// What was seen of the object.
enum Found {
    /// It is gone, by a collector's work.
    Collected(Duration),
    /// It is there, but a collector let go of it: something else holds it.
    Released(Duration),
    NotCollected(Duration),
    NotHeld,
    CalledOff,
    Failed {
        doing: &'static str,
        failure: Failure,
    },
}

/// The throw-away object.
struct Throwaway<'c> {
    connection: &'c Connection,
    namespace: &'c str,
    name: String,
    path: String,
    uid: String,
}

/// What an answer says of the object.
enum State {
    Gone,
    /// It is there, and whether the collector has yet to finish it.
    There {
        held: bool,
    },
}

impl<'c> Throwaway<'c> {
    async fn create(connection: &'c Connection, namespace: &'c str) -> Result<Self, ProbeError> {
        let refused = |reason: String| ProbeError::Refused { namespace: namespace.to_owned(), reason };
        // The name is made up here and not by the server: should its answer get lost, it is still known what to remove.
        let name = format!("kubectl-gc-probe-{:016x}", RandomState::new().hash_one(namespace));
        let resource = config_maps();
        let Some(path) = path::of_object(&resource, namespace, &name) else {
            return Err(refused(format!("{namespace:?} is not a valid namespace name")));
        };
        let all = path::of_resource(&resource, Some(namespace));
        let mut thrown = Throwaway { connection, namespace, name, path, uid: String::new() };
        let created = match send_with_retry(connection, &Method::POST, &all, Some(&object(&thrown.name))).await {
            // Only an earlier try can have taken such a name.
            Err(undone) if undone.failure.status() == Some(StatusCode::CONFLICT) => thrown.get().await.map_err(unsure),
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

    /// Removes what a create has left that failed, and may have been done for all that.
    async fn undo(&mut self, unsure: bool) -> Result<(), Still> {
        if !unsure {
            return Ok(());
        }
        match self.get().await.and_then(|answer| uid_of(&answer)) {
            Ok(uid) => {
                self.uid = uid;
                self.remove().await
            }
            Err(absent) if absent.proves_absence() => Ok(()),
            Err(unknown) => {
                Err(Still::Unremoved(format!("it is not known whether it was created ({})", unknown.in_full())))
            }
        }
    }

    async fn get(&self) -> Result<Answer, Failure> {
        Ok(send_with_retry(self.connection, &Method::GET, &self.path, None).await?)
    }

    /// Deletes it in the foreground and waits for a collector.
    async fn watch(&self, patience: Duration) -> Found {
        let begun = Instant::now();
        let options = delete_options(&Deletion::by(Propagation::Foreground), &self.uid);
        let deleted = send_with_retry(self.connection, &Method::DELETE, &self.path, Some(&options)).await;
        match deleted.map_err(Failure::from).and_then(|answer| self.state(&answer)) {
            Ok(State::There { held: true }) => {}
            // It would stay with the collector's finalizer, had the server added that.
            Ok(_) => return Found::NotHeld,
            // Also where it is gone already, because the answer to an earlier try got lost: nobody saw how it went.
            Err(failure) => return Found::Failed { doing: "deleting", failure },
        }
        let mut pause = FIRST_PAUSE;
        let mut looks = 0;
        loop {
            tokio::time::sleep(pause.min(patience.saturating_sub(begun.elapsed()))).await;
            looks += 1;
            // Whether there is time left is asked before the look: what it sees is what was so when time was up.
            let last = begun.elapsed() >= patience;
            let answer = once(self.connection, &Method::GET, &self.path, None).await;
            match self.state_or_gone(answer) {
                Ok(State::Gone) => return Found::Collected(begun.elapsed()),
                Ok(State::There { held: false }) => return Found::Released(begun.elapsed()),
                Ok(State::There { held: true }) if last => return Found::NotCollected(begun.elapsed()),
                Ok(State::There { held: true }) => {}
                // What may pass is waited for like the collector.
                Err(failure) if last || retry::pause_after(&failure, 1, true).is_none() => {
                    return Found::Failed { doing: "watching", failure };
                }
                Err(_) => {}
            }
            // A second of short pauses, then longer ones: nobody is kept waiting, and the server is left alone.
            if looks >= 10 {
                pause = (pause * 3 / 2).min(LONGEST_PAUSE);
            }
        }
    }

    /// What an answer to a request about it says.
    fn state(&self, answer: &Answer) -> Result<State, Failure> {
        let object = answer.read_object()?;
        // A Status has no uid: what was deleted is gone. With another uid, somebody else took its name.
        let held = object.finalizers.iter().any(|finalizer| finalizer == FOREGROUND_FINALIZER);
        Ok(if object.uid == self.uid { State::There { held } } else { State::Gone })
    }

    /// The same of a request that may not find it any more.
    fn state_or_gone(&self, answer: Result<Answer, Failure>) -> Result<State, Failure> {
        match answer {
            Ok(answer) => self.state(&answer),
            Err(failure) if failure.proves_absence() => Ok(State::Gone),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes it in the background, which takes it from the collector again (R1.21).
    async fn remove(&self) -> Result<(), Still> {
        let options = delete_options(&Deletion::by(Propagation::Background), &self.uid);
        let deleted = send_with_retry(self.connection, &Method::DELETE, &self.path, Some(&options)).await;
        match self.state_or_gone(deleted.map_err(Failure::from)) {
            Ok(State::Gone) => Ok(()),
            // 409: the name belongs to another object by now (R1.6).
            Err(failure) if failure.status() == Some(StatusCode::CONFLICT) => Ok(()),
            Ok(State::There { .. }) => Err(Still::Held),
            Err(failure) => Err(Still::Unremoved(failure.in_full())),
        }
    }

    /// Removes what is left of it, and tells what was found.
    async fn conclude(self, found: Found) -> Result<Probe, ProbeError> {
        let describe = match found {
            Found::Collected(after) => return Ok(Probe::Collected { after }),
            Found::Released(after) => Ok(Probe::Collected { after }),
            Found::NotHeld => Err(ProbeError::NotHeld),
            Found::NotCollected(waited) => Ok(Probe::NotCollected { waited, name: self.name.clone() }),
            Found::CalledOff => {
                Err(ProbeError::CalledOff { namespace: self.namespace.to_owned(), name: self.name.clone() })
            }
            Found::Failed { doing, failure } => Err(ProbeError::Failed {
                namespace: self.namespace.to_owned(),
                name: self.name.clone(),
                doing,
                reason: failure.in_full(),
            }),
        };
        match self.remove().await {
            Ok(()) => describe,
            Err(still) => {
                let found = match &describe {
                    Ok(Probe::Collected { after }) => {
                        format!("a garbage collector is running (it reacted after {after:.1?})")
                    }
                    Ok(Probe::NotCollected { waited, .. }) => {
                        format!("no garbage collector reacted within {waited:.1?}")
                    }
                    Err(ProbeError::Failed { doing, reason, .. }) => {
                        format!("{doing} the test object failed: {reason}")
                    }
                    Err(ProbeError::CalledOff { .. }) => "the probe was interrupted".to_owned(),
                    Err(error) => error.to_string(),
                };
                Err(self.left(found, still))
            }
        }
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
        ProbeError::Left { namespace: (*namespace).to_owned(), name: name.clone(), found, reason, command }
    }
}

/// Why it is still there, or may be.
enum Still {
    /// For this reason, it could not be deleted.
    Unremoved(String),
    /// It is deleted, and waits for a finalizer that it was not created with.
    Held,
}

/// A failure after which the object may be there.
fn unsure(failure: Failure) -> RequestError {
    RequestError { failure, unsure: true }
}

fn uid_of(answer: &Answer) -> Result<String, Failure> {
    let uid = answer.read_object()?.uid.into_owned();
    if uid.is_empty() { Err(Failure::Malformed("an object without its uid".to_owned())) } else { Ok(uid) }
}

fn config_maps() -> Resource {
    Resource {
        group: String::new(),
        version: "v1".to_owned(),
        plural: "configmaps".to_owned(),
        singular: "configmap".to_owned(),
        kind: "ConfigMap".to_owned(),
        short_names: Vec::new(),
        categories: Vec::new(),
        namespaced: true,
        ..Resource::default()
    }
}

/// It says of itself what it is, to whoever comes across it.
fn object(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app.kubernetes.io/managed-by": "kubectl-gc"}},
        "immutable": true,
        "data": {
            "what": "A test object of kubectl gc: its deletion shows whether the garbage collector is running. \
                It can be deleted at any time.",
        },
    })
}
