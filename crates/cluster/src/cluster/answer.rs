//! One answer of the API server: its format, its content, and the message of a refusal.

use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

use gc_core::model::RawObject;

use super::{
    json,
    protobuf::{self, Field, Read},
};

/// The largest answer that is no list: discovery, or one object. etcd stores objects of at most some megabytes.
pub(super) const LARGEST_ANSWER: usize = 64 << 20;

/// Bytes that can't be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl Malformed {
    pub(super) fn new(why: &str) -> Self {
        Malformed(why.to_owned())
    }
}

impl From<prost::DecodeError> for Malformed {
    fn from(error: prost::DecodeError) -> Self {
        Malformed(error.to_string())
    }
}

impl From<serde_json::Error> for Malformed {
    fn from(error: serde_json::Error) -> Self {
        Malformed(error.to_string())
    }
}

/// A page's list metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub resource_version: String,
    /// The `continue` token of the next page, if there is one.
    pub next: Option<String>,
    /// How many objects the next pages have, if the server says so.
    pub remaining: Option<u64>,
}

pub(super) fn is_protobuf(content_type: &str) -> bool {
    content_type.starts_with("application/vnd.kubernetes.protobuf")
}

/// An answer with its whole body.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    pub status: StatusCode,
    pub content_type: String,
    /// The seconds of a `Retry-After` header.
    pub retry_after: Option<u64>,
    pub body: Vec<u8>,
    /// How long it took, without earlier tries and the pauses between.
    pub took: Duration,
}

impl Answer {
    /// Whether the body is protobuf; everything else is read as JSON.
    pub(super) fn is_protobuf(&self) -> bool {
        is_protobuf(&self.content_type)
    }

    /// Reads a list's metadata item by item, in either format.
    pub(super) fn read_list(&self, mut each: impl FnMut(&RawObject<'_>)) -> Result<Page, Malformed> {
        if self.is_protobuf() {
            protobuf::read_list(&self.body, &mut each)
        } else {
            json::read_list(&self.body, &mut each)
        }
    }

    /// Reads one object's metadata.
    pub(crate) fn read_object(&self) -> Result<RawObject<'_>, Malformed> {
        if self.is_protobuf() { protobuf::read_object(&self.body) } else { json::read_object(&self.body) }
    }

    /// The apiVersion and kind of what the body is; empty if it doesn't say.
    pub(super) fn type_meta(&self) -> Result<(String, String), Malformed> {
        if self.is_protobuf() { protobuf::type_meta(&self.body) } else { json::type_meta(&self.body) }
    }

    /// Reads what a refusal says, as far as its body can be decoded.
    pub(crate) fn refusal(&self) -> Refusal {
        let no_status = || Refusal { message: first_line(&self.body), ..Refusal::default() };
        let said = status_in(self).map_or_else(no_status, |status| Refusal::of_status(&status));
        Refusal { status: self.status, retry_after: self.retry_after.or(said.retry_after), ..said }
    }
}

/// The object that a `Status` names. Group and kind may be empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub group: String,
    pub kind: String,
    pub name: String,
}

/// An answer that is not a success.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    pub status: StatusCode,
    /// The server's message; empty if it sent none.
    pub message: String,
    /// The object that the refusal names. A 404 without a name means that the path is not served, which proves nothing
    /// about the object (R3.16); one that names another object proves nothing at all.
    pub(crate) named: Option<Box<Named>>,
    pub retry_after: Option<u64>,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.status {
            StatusCode::FORBIDDEN => f.write_str("forbidden"),
            StatusCode::UNAUTHORIZED => f.write_str("not authenticated"),
            StatusCode::NOT_FOUND if self.named.is_none() => f.write_str("no longer served (404 Not Found)"),
            // http displays the statuses it knows as "503 Service Unavailable".
            status if self.message.is_empty() => {
                write!(f, "{}", status.to_string().trim_end_matches(" <unknown status code>"))
            }
            status => {
                write!(f, "{}: {}", status.to_string().trim_end_matches(" <unknown status code>"), self.message)
            }
        }
    }
}

impl Refusal {
    /// What a `Status` says, whatever the status of the answer is.
    fn of_status(status: &Value) -> Self {
        let details = &status["details"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let named =
            Named { group: text(&details["group"]), kind: text(&details["kind"]), name: text(&details["name"]) };
        Refusal {
            message: text(&status["message"]),
            named: (!named.name.is_empty()).then(|| Box::new(named)),
            retry_after: details["retryAfterSeconds"].as_u64(),
            ..Refusal::default()
        }
    }
}

/// The parts of a `Status` that are read.
const STATUS: &[Field] = &[(3, "message", Read::Text), (5, "details", Read::One(DETAILS))];
const DETAILS: &[Field] = &[
    (1, "name", Read::Text),
    (2, "group", Read::Text),
    (3, "kind", Read::Text),
    (5, "retryAfterSeconds", Read::Number),
];

/// The `Status` in a body; `None` if that is something else.
fn status_in(answer: &Answer) -> Option<Value> {
    if answer.is_protobuf() {
        let envelope = protobuf::open(&answer.body).ok().filter(|envelope| envelope.kind == "Status")?;
        return protobuf::decoded(envelope.raw, STATUS).ok().map(Value::Object);
    }
    serde_json::from_slice(&answer.body).ok().filter(|status: &Value| status["kind"] == "Status")
}

/// The first line of a body that is not a `Status`, cut to a length that fits a message.
fn first_line(body: &[u8]) -> String {
    const LONGEST: usize = 200;
    let start = &body[..body.len().min(4 * LONGEST)];
    let text = String::from_utf8_lossy(start);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    // A proxy or load balancer sent this HTML: its mark-up is useless in a message.
    if line.starts_with('<') {
        return String::new();
    }
    line.chars().filter(|character| !character.is_control()).take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, content_type: &str, body: &str) -> Answer {
        Answer {
            status: StatusCode::from_u16(status).unwrap(),
            content_type: content_type.to_owned(),
            body: body.as_bytes().to_vec(),
            ..Answer::default()
        }
    }

    #[test]
    fn refusals_say_what_the_server_said() {
        let status = r#"{"kind":"Status","message":"etcd is away","details":{"retryAfterSeconds":2}}"#;
        let refusal = answer(503, "application/json", status).refusal();
        assert_eq!(refusal.to_string(), "503 Service Unavailable: etcd is away");
        assert_eq!(refusal.retry_after, Some(2));
        assert_eq!(answer(403, "application/json", status).refusal().to_string(), "forbidden");
        assert_eq!(answer(502, "text/html", "<html>\n<b>nginx").refusal().to_string(), "502 Bad Gateway");
        assert_eq!(
            answer(500, "text/plain", "\n boom \nstack").refusal().to_string(),
            "500 Internal Server Error: boom"
        );
        assert_eq!(answer(599, "text/plain", "").refusal().to_string(), "599");
    }

    #[test]
    fn a_missing_path_is_no_missing_object() {
        assert_eq!(answer(404, "text/plain", "404 page not found").refusal().named, None);
        let path = r#"{"kind":"Status","reason":"NotFound","details":{},
            "message":"the server could not find the requested resource"}"#;
        assert_eq!(answer(404, "application/json", path).refusal().named, None);
        let object = r#"{"kind":"Status","message":"pods \"a\" not found","reason":"NotFound",
            "details":{"name":"a","kind":"pods"}}"#;
        let named = Named { group: String::new(), kind: "pods".to_owned(), name: "a".to_owned() };
        assert_eq!(answer(404, "application/json", object).refusal().named, Some(Box::new(named)));
    }
}
