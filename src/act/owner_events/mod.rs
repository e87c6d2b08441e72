//! Writes the collector's events about owners in other namespaces (R3.7), with the collector's text.

mod correlate;

use std::sync::{Mutex, PoisonError};

use http::{Method, StatusCode};
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use serde_json::{Value, json};

use crate::{
    cluster::{Connection, Failure, path},
    model::{Identity, Resource},
};

use self::correlate::{Correlator, Entry};
use super::request::{JSON, MERGE_PATCH, document, once_as, send_with_retry};

/// The collector's component name: searches for its events find these, too.
const COMPONENT: &str = "garbage-collector-controller";
const REASON: &str = "OwnerRefInvalidNamespace";

/// Writes the events, and remembers which it has written.
pub struct OwnerEventRecorder {
    connection: Connection,
    events: Resource,
    correlator: Mutex<Correlator>,
}

impl OwnerEventRecorder {
    pub fn new(connection: Connection) -> Self {
        let events = Resource {
            version: "v1".to_owned(),
            plural: "events".to_owned(),
            kind: "Event".to_owned(),
            namespaced: true,
            ..Resource::default()
        };
        OwnerEventRecorder { connection, events, correlator: Mutex::new(Correlator::new()) }
    }

    /// Records that the dependent refers to an owner in another namespace; a repetition only increases the event's
    /// count. `owner` is what the reference says: its `namespace` is ignored.
    ///
    /// # Errors
    /// Why the event could not be written. Callers may go on: nothing depends on the event.
    pub async fn record(&self, dependent: &Identity, owner: &Identity) -> Result<(), String> {
        self.record_at(dependent, owner, Timestamp::now()).await
    }

    async fn record_at(&self, dependent: &Identity, owner: &Identity, now: Timestamp) -> Result<(), String> {
        let message = message(dependent, owner);
        let entry = self.correlator.lock().unwrap_or_else(PoisonError::into_inner).take(dependent, &message, now);
        let Some(entry) = entry else { return Ok(()) };
        self.write(dependent, &entry).await.map_err(|failure| failure.in_full())
    }

    async fn write(&self, dependent: &Identity, entry: &Entry) -> Result<(), Failure> {
        // An event about a cluster-scoped object needs a namespace, too.
        let namespace = if dependent.namespace.is_empty() { "default" } else { dependent.namespace.as_str() };
        if let Some(path) = path::of_object(&self.events, namespace, &entry.name).filter(|_| entry.count > 1) {
            let more = json!({"count": entry.count, "lastTimestamp": Time(entry.last), "message": entry.message});
            match once_as(&self.connection, &Method::PATCH, &path, Some((MERGE_PATCH, &more)), JSON).await {
                // It has expired: create it again, with its count.
                Err(failure) if failure.status() == Some(StatusCode::NOT_FOUND) => {}
                done => return done.map(drop),
            }
        }
        let event = event(dependent, namespace, entry);
        let events = path::of_resource(&self.events, Some(namespace));
        match send_with_retry(&self.connection, &Method::POST, events.as_str(), Some(&event))
            .await
            .map_err(Failure::from)
        {
            // An earlier try, whose answer was lost, has created it.
            Err(failure) if failure.status() == Some(StatusCode::CONFLICT) => Ok(()),
            done => done.map(drop),
        }
    }
}

/// The collector's text.
fn message(dependent: &Identity, owner: &Identity) -> String {
    let Identity { api_version, kind, name, uid, .. } = owner;
    let namespace = &dependent.namespace;
    format!(
        "ownerRef [{api_version}/{kind}, namespace: {namespace}, name: {name}, uid: {uid}] does not exist in namespace \
            \"{namespace}\""
    )
}

fn event(dependent: &Identity, namespace: &str, entry: &Entry) -> Value {
    let text = |text: &str| Some(text.to_owned());
    let metadata = ObjectMeta { name: text(&entry.name), namespace: text(namespace), ..ObjectMeta::default() };
    let involved_object = ObjectReference {
        api_version: text(&dependent.api_version),
        kind: text(&dependent.kind),
        name: text(&dependent.name),
        namespace: text(&dependent.namespace).filter(|namespace| !namespace.is_empty()),
        uid: text(&dependent.uid),
        ..ObjectReference::default()
    };
    document(&Event {
        metadata,
        involved_object,
        type_: text("Warning"),
        reason: text(REASON),
        message: text(&entry.message),
        source: Some(EventSource { component: text(COMPONENT), host: None }),
        reporting_component: text(if entry.combined { "" } else { COMPONENT }),
        reporting_instance: text(""),
        count: Some(entry.count),
        first_timestamp: Some(Time(entry.first)),
        last_timestamp: Some(Time(entry.last)),
        ..Event::default()
    })
}

#[cfg(test)]
mod tests;
