//! Reads the collector's warning events.

use serde_json::Value;

use gc_core::model::{NamedEvent, OwnerEvent};

use super::{Connection, answer::Answer, error::Failure, json, path, request::JSON};

/// The list to read. Events of the core group are all events: those of `events.k8s.io` are the same objects.
const PATH: &str = "/api/v1/events";
const COMPLAINTS: &str = "fieldSelector=reason%3DOwnerRefInvalidNamespace";

/// A text of an event; empty if it has none.
fn text(event: &Value, pointer: &str) -> String {
    event.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// When an event was last observed, in Unix seconds.
fn last(event: &Value) -> Option<i64> {
    let seconds = |pointer: &str| {
        let time = event.pointer(pointer)?.as_str()?;
        time.parse().ok().map(jiff::Timestamp::as_second)
    };
    ["/lastTimestamp", "/eventTime", "/series/lastObservedTime"].into_iter().filter_map(seconds).max()
}

fn named_event(event: &Value) -> NamedEvent {
    let component = text(event, "/source/component");
    NamedEvent {
        kind: text(event, "/involvedObject/kind"),
        reason: text(event, "/reason"),
        message: text(event, "/message"),
        by: if component.is_empty() { text(event, "/reportingComponent") } else { component },
        last: last(event),
    }
}

fn owner_event(event: &Value) -> OwnerEvent {
    OwnerEvent {
        api_version: text(event, "/involvedObject/apiVersion"),
        kind: text(event, "/involvedObject/kind"),
        namespace: text(event, "/involvedObject/namespace"),
        name: text(event, "/involvedObject/name"),
        uid: text(event, "/involvedObject/uid"),
        message: text(event, "/message"),
        last: last(event),
    }
}

impl Connection {
    /// The events of a list, each as `of` takes it.
    async fn events<T>(&self, path: &str, query: &str, of: fn(&Value) -> T) -> Result<Vec<T>, Failure> {
        let read = |answer: &Answer, events: &mut Vec<T>| {
            json::read_items(&answer.body, &mut |event: Value| {
                events.push(of(&event));
                Ok(())
            })
        };
        Ok(self.get_pages(path, query, JSON, read).await?.0)
    }

    /// The collector's events about owners in other namespaces (R3.7), from all namespaces, in the server's order. The
    /// server filters them: if there are none, this takes one request.
    ///
    /// # Errors
    /// Why they cannot be read, for example because it is forbidden. There are no partial results.
    pub async fn invalid_owner_events(&self) -> Result<Vec<OwnerEvent>, String> {
        self.events(PATH, COMPLAINTS, owner_event).await.map_err(|failure| failure.to_string())
    }

    /// The events about objects of this name. `namespace` is empty for cluster scope: such events are in any namespace.
    ///
    /// # Errors
    /// Why they cannot be read, for example because it is forbidden. There are no partial results.
    pub async fn events_about(&self, namespace: &str, name: &str) -> Result<Vec<NamedEvent>, String> {
        let path = match namespace {
            "" => PATH.to_owned(),
            namespace => format!("/api/v1/namespaces/{}/events", path::encoded(namespace)),
        };
        let query = format!("fieldSelector={}", path::encoded(&format!("involvedObject.name={name}")));
        self.events(&path, &query, named_event).await.map_err(|failure| failure.in_full())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::testing::{json, refuse, serve};

    const FIRST: &str = "/api/v1/events?fieldSelector=reason%3DOwnerRefInvalidNamespace&limit=500";

    #[tokio::test]
    async fn complaints_are_read_page_by_page() {
        let connection = serve(|asked| match asked.url.strip_prefix(FIRST.trim_end_matches("500")) {
            Some("500") => json(
                200,
                r#"{"kind":"EventList","metadata":{"continue":"t"},"items":[
                    {"involvedObject":{"apiVersion":"v1","kind":"Pod","namespace":"shop","name":"a","uid":"u-a"},"message":"why",
                     "lastTimestamp":"1970-01-01T00:01:00Z","eventTime":null},
                    {"involvedObject":{"apiVersion":"gc.test/v1","kind":"Rack","name":"b","uid":"u-b"},
                     "lastTimestamp":"1970-01-01T00:00:01Z","eventTime":"1970-01-01T00:00:05.000000Z",
                     "series":{"count":2,"lastObservedTime":"1970-01-01T00:00:03.000000Z"}}]}"#,
            ),
            Some("2000&continue=t") => json(
                200,
                r#"{"kind":"EventList","metadata":{},"items":[
                    {"lastTimestamp":"soon","series":{"lastObservedTime":"1970-01-01T00:00:09.500000Z"}},
                    {"involvedObject":null,"message":null,"lastTimestamp":null,"eventTime":null,"series":null}]}"#,
            ),
            _ => panic!("{}", asked.url),
        });
        let events = connection.await.invalid_owner_events().await.unwrap();
        let pod = OwnerEvent {
            api_version: "v1".to_owned(),
            kind: "Pod".to_owned(),
            namespace: "shop".to_owned(),
            name: "a".to_owned(),
            uid: "u-a".to_owned(),
            message: "why".to_owned(),
            last: Some(60),
        };
        let rack = OwnerEvent {
            api_version: "gc.test/v1".to_owned(),
            kind: "Rack".to_owned(),
            name: "b".to_owned(),
            uid: "u-b".to_owned(),
            last: Some(5),
            ..OwnerEvent::default()
        };
        let odd = OwnerEvent { last: Some(9), ..OwnerEvent::default() };
        assert_eq!(events, [pod, rack, odd, OwnerEvent::default()]);
    }

    #[tokio::test]
    async fn an_expired_list_is_begun_anew() {
        let one = |name: &str, more: &str| {
            let item = format!(r#"{{"involvedObject":{{"name":"{name}"}}}}"#);
            json(200, format!(r#"{{"kind":"EventList","metadata":{{"continue":"{more}"}},"items":[{item}]}}"#))
        };
        let connection = serve(move |asked| match asked.url.as_str() {
            FIRST => one("a", "old"),
            url if url.ends_with("continue=old") => refuse(410),
            _ => one("b", ""),
        });
        let names: Vec<String> =
            connection.await.invalid_owner_events().await.unwrap().into_iter().map(|event| event.name).collect();
        assert_eq!(names, ["b"]);
    }

    #[tokio::test]
    async fn what_cannot_be_read_is_said() {
        let forbidden =
            serve(|_| json(403, r#"{"kind":"Status","message":"events is forbidden: not you","code":403}"#)).await;
        assert_eq!(forbidden.invalid_owner_events().await, Err("forbidden".to_owned()));
        let garbled = serve(|_| json(200, "[]")).await;
        assert!(garbled.invalid_owner_events().await.unwrap_err().starts_with("unreadable answer: "));
    }
}
