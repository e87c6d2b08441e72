//! Writes the collector's events about owners in other namespaces (R3.7), with the collector's text.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use http::StatusCode;
use jiff::Timestamp;
use k8s_openapi::{
    api::core::v1::{Event, EventSource, ObjectReference},
    apimachinery::pkg::apis::meta::v1::{ObjectMeta, Time},
};
use serde_json::{Value, json};

use crate::cluster::{
    Connection, Failure,
    path::{self, ObjectPath},
};
use gc_core::{
    command_line::is_subdomain,
    model::{Identity, Resource},
};

use super::request::{MERGE_PATCH, Write, document, once, send_with_retry};

/// The collector's component name: searches for its events find these, too.
const COMPONENT: &str = "garbage-collector-controller";
const REASON: &str = "OwnerRefInvalidNamespace";

/// Records that the dependent refers to an owner in another namespace; a repetition only increases the event's count.
/// `owner` is what the reference says: its `namespace` is ignored.
///
/// # Errors
/// Why the event could not be written. Callers may go on: nothing depends on the event.
pub async fn record_invalid_owner(
    connection: &Connection,
    dependent: &Identity,
    owner: &Identity,
    now: Timestamp,
) -> Result<(), String> {
    let events = Resource::named("", "v1", "events", "Event");
    // An event about a cluster-scoped object needs a namespace, too.
    let namespace = if dependent.namespace.is_empty() { "default" } else { dependent.namespace.as_str() };
    let message = message(dependent, owner);
    let name = event_name(dependent, &message);
    let event = event(dependent, namespace, &name, &message, now);
    let all = path::of_resource(&events, Some(namespace));
    let created = send_with_retry(connection, all.as_str(), Write::post(&event)).await;
    let recorded = match (created.map_err(Failure::from), path::of_object(&events, namespace, &name)) {
        (Err(failure), Some(path)) if failure.status() == Some(StatusCode::CONFLICT) => {
            count_again(connection, &path, now).await
        }
        (created, _) => created.map(drop),
    };
    recorded.map_err(|failure| failure.in_full())
}

/// Counts an event that exists already. The answer to the first change says how often it was counted: so the right
/// to read events isn't needed.
async fn count_again(connection: &Connection, path: &ObjectPath, now: Timestamp) -> Result<(), Failure> {
    let change = async |change: Value| once(connection, path, &Write::patch(MERGE_PATCH, &change)).await;
    let changed = change(json!({"lastTimestamp": Time(now)})).await?;
    let event: Value = serde_json::from_slice(&changed.body).unwrap_or_default();
    let count = event["count"].as_i64().unwrap_or(1);
    change(json!({"count": count + 1})).await.map(drop)
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

/// The same for each repetition. It begins as the collector's, if an event may be called so.
fn event_name(dependent: &Identity, message: &str) -> String {
    let mut hasher = DefaultHasher::new();
    (&dependent.uid, message).hash(&mut hasher);
    let named = |begin: &str| format!("{begin}.{:016x}", hasher.finish());
    Some(named(&dependent.name)).filter(|name| is_subdomain(name)).unwrap_or_else(|| named("owner-in-other-namespace"))
}

fn event(dependent: &Identity, namespace: &str, name: &str, message: &str, now: Timestamp) -> Value {
    let text = |text: &str| Some(text.to_owned());
    let metadata = ObjectMeta { name: text(name), namespace: text(namespace), ..ObjectMeta::default() };
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
        message: text(message),
        source: Some(EventSource { component: text(COMPONENT), host: None }),
        reporting_component: text(COMPONENT),
        reporting_instance: text(""),
        count: Some(1),
        first_timestamp: Some(Time(now)),
        last_timestamp: Some(Time(now)),
        ..Event::default()
    })
}
