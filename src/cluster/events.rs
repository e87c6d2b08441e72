//! Reads the collector's warning events.

use serde::Deserialize;

use crate::model::{NamedEvent, OwnerEvent};

use super::{Connection, answer::Answer, failure::Failure, json, path, request::JSON};

/// The list to read. Events of the core group are all events: those of `events.k8s.io` are the same objects.
const PATH: &str = "/api/v1/events";
const COMPLAINTS: &str = "fieldSelector=reason%3DOwnerRefInvalidNamespace";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event {
    involved_object: Option<Involved>,
    reason: Option<String>,
    message: Option<String>,
    source: Option<EventSource>,
    reporting_component: Option<String>,
    last_timestamp: Option<String>,
    event_time: Option<String>,
    series: Option<Series>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Involved {
    api_version: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Series {
    last_observed_time: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EventSource {
    component: Option<String>,
}

impl Event {
    /// When it was last observed, in Unix seconds.
    fn last(&self) -> Option<i64> {
        let series = self.series.as_ref().and_then(|series| series.last_observed_time.as_ref());
        let times = [self.last_timestamp.as_ref(), self.event_time.as_ref(), series];
        let seconds = |time: &String| time.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_second);
        times.into_iter().flatten().filter_map(seconds).max()
    }
}

impl From<Event> for NamedEvent {
    fn from(event: Event) -> Self {
        let last = event.last();
        let component = event.source.and_then(|source| source.component).filter(|component| !component.is_empty());
        NamedEvent {
            kind: event.involved_object.and_then(|object| object.kind).unwrap_or_default(),
            reason: event.reason.unwrap_or_default(),
            message: event.message.unwrap_or_default(),
            by: component.or(event.reporting_component).unwrap_or_default(),
            last,
        }
    }
}

impl From<Event> for OwnerEvent {
    fn from(event: Event) -> Self {
        let last = event.last();
        let object = event.involved_object.unwrap_or_default();
        OwnerEvent {
            api_version: object.api_version.unwrap_or_default(),
            kind: object.kind.unwrap_or_default(),
            namespace: object.namespace.unwrap_or_default(),
            name: object.name.unwrap_or_default(),
            uid: object.uid.unwrap_or_default(),
            message: event.message.unwrap_or_default(),
            last,
        }
    }
}

impl Connection {
    async fn events<T: From<Event>>(&self, path: &str, query: &str) -> Result<Vec<T>, Failure> {
        let read = |answer: &Answer, events: &mut Vec<T>| {
            json::read_items(&answer.body, &mut |event: Event| {
                events.push(event.into());
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
        self.events(PATH, COMPLAINTS).await.map_err(|failure| failure.to_string())
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
        self.events(&path, &query).await.map_err(|failure| failure.in_full())
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
