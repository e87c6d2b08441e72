//! Sends one write until it is answered or retrying is pointless.

use std::{borrow::Cow, time::Instant};

use http::{Method, Request, header};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{DeleteOptions, Preconditions};
use serde::Serialize;
use serde_json::Value;

use crate::cluster::{Answer, Connection, Failure, path::ObjectPath};
use gc_core::model::RawObject;

use super::delete::Deletion;

/// The field manager of writes that name no other.
const FIELD_MANAGER: &str = "kubectl-gc";

const JSON: &str = "application/json";
/// A JSON patch: operations that take effect together or not at all.
pub(super) const JSON_PATCH: &str = "application/json-patch+json";

/// A merge patch: fields that it doesn't contain stay as they are.
pub(super) const MERGE_PATCH: &str = "application/merge-patch+json";

/// Where a write goes: to an object, or to the collection in which it creates one.
pub(super) trait Target {
    fn url(&self) -> &str;

    /// What a failure there means.
    fn failed(&self, failure: Failure) -> Failure;
}

impl Target for ObjectPath {
    fn url(&self) -> &str {
        self.url()
    }

    fn failed(&self, failure: Failure) -> Failure {
        failure.about(self)
    }
}

impl Target for str {
    fn url(&self) -> &str {
        self
    }

    /// It may well be about another object: the namespace.
    fn failed(&self, failure: Failure) -> Failure {
        failure
    }
}

/// A request that failed.
pub(super) struct RequestError {
    /// Why the last try failed.
    pub failure: Failure,
    /// Whether a try may have taken effect after all, because its answer was lost.
    pub unsure: bool,
}

impl From<RequestError> for Failure {
    fn from(undone: RequestError) -> Self {
        undone.failure
    }
}

/// A write: its body, and in which formats it and the answer are.
#[derive(Clone)]
pub(super) struct Write<'b> {
    method: Method,
    content_type: &'static str,
    body: &'b Value,
    accept: &'static str,
}

impl<'b> Write<'b> {
    pub(super) fn post(body: &'b Value) -> Self {
        Write { method: Method::POST, content_type: JSON, body, accept: JSON }
    }

    /// The body is of DeleteOptions.
    pub(super) fn delete(options: &'b Value) -> Self {
        Write { method: Method::DELETE, ..Write::post(options) }
    }

    pub(super) fn patch(content_type: &'static str, body: &'b Value) -> Self {
        Write { method: Method::PATCH, content_type, ..Write::post(body) }
    }

    /// The same, answered in one of these media types.
    pub(super) fn answered_in(self, accept: &'static str) -> Self {
        Write { accept, ..self }
    }

    pub(super) fn is_patch(&self) -> bool {
        self.method == Method::PATCH
    }
}

/// Sends a write as often as [`retry`] says. Any answer but a success is a failure.
///
/// An earlier try may have taken effect without an answer: use this only for requests that may be done twice.
pub(super) async fn send_with_retry(
    connection: &Connection,
    to: &(impl Target + ?Sized),
    write: Write<'_>,
) -> Result<Answer, RequestError> {
    let mut tried = 0;
    let mut unsure = false;
    let begun = Instant::now();
    loop {
        tried += 1;
        let failure = match once(connection, to, &write).await {
            Ok(answer) => return Ok(answer),
            Err(failure) => failure,
        };
        unsure |= may_have_been_done(&failure);
        match connection.pause_after(&failure, tried, begun) {
            Some(pause) => tokio::time::sleep(pause).await,
            None => return Err(RequestError { failure, unsure }),
        }
    }
}

/// Sends a write once. Any answer but a success is a failure.
pub(super) async fn once(
    connection: &Connection,
    to: &(impl Target + ?Sized),
    Write { method, content_type, body, accept }: &Write<'_>,
) -> Result<Answer, Failure> {
    let request = Request::builder().method(method).uri(&*managed(method, to.url())).header(header::ACCEPT, *accept);
    let request = request.header(header::CONTENT_TYPE, *content_type).body(body.to_string().into_bytes());
    let request = request.map_err(|error| Failure::Malformed(error.to_string()))?;
    connection.send(request).await.and_then(Answer::success).map_err(|failure| to.failed(failure))
}

/// The path with a field manager: each write that sets fields names one, and the same one whatever the User-Agent is.
fn managed<'a>(method: &Method, path: &'a str) -> Cow<'a, str> {
    if ![Method::POST, Method::PUT, Method::PATCH].contains(method) || path.contains("fieldManager=") {
        return Cow::Borrowed(path);
    }
    let join = if path.contains('?') { '&' } else { '?' };
    Cow::Owned(format!("{path}{join}fieldManager={FIELD_MANAGER}"))
}

/// Whether the request may have taken effect despite this failure: it reached the server, which did not refuse it.
fn may_have_been_done(failure: &Failure) -> bool {
    match failure {
        Failure::Refused(refusal) => !refusal.status.is_client_error() && !refusal.is_of_webhook(),
        Failure::Unconnected(_) | Failure::Credentials(_) | Failure::InvalidName => false,
        Failure::Interrupted(_) | Failure::TimedOut(_) | Failure::Malformed(_) => true,
    }
}

/// What a successful answer to a DELETE says of an object.
pub(super) enum Deleted<'a> {
    /// Its current or last state.
    Object(Box<RawObject<'a>>),
    /// It is removed.
    Removed,
    /// Something succeeded: a Status that names no object. The API server's own ones do; a gateway's may not, nor those
    /// of an aggregated API that passes requests on.
    Something,
}

/// What a successful answer to a DELETE says of the object with this uid. Anything else than that object or a Status,
/// for instance of a gateway, proves nothing.
pub(super) fn read_deleted<'a>(answer: &'a Answer, uid: &str) -> Result<Deleted<'a>, Failure> {
    let object = answer.read_object()?;
    if object.uid == uid {
        return Ok(Deleted::Object(Box::new(object)));
    }
    let status: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    // A Status has a string there, and no uid of its own.
    if status["kind"] != "Status" || status["status"] != "Success" {
        return Err(Failure::Malformed("neither the deleted object nor a Status".to_owned()));
    }
    match status["details"]["uid"].as_str().unwrap_or_default() {
        named if named == uid => Ok(Deleted::Removed),
        "" => Ok(Deleted::Something),
        _ => Err(Failure::Malformed("a Status of another object".to_owned())),
    }
}

/// Like [`read_deleted`], where only the object or its own Status counts: no event follows what wasn't done.
pub(super) fn read_named_deleted<'a>(answer: &'a Answer, uid: &str) -> Result<Option<RawObject<'a>>, Failure> {
    match read_deleted(answer, uid)? {
        Deleted::Object(object) => Ok(Some(*object)),
        Deleted::Removed => Ok(None),
        Deleted::Something => Err(Failure::Malformed("a Status that doesn't name the deleted object".to_owned())),
    }
}

/// The body of a DELETE of the object with this uid, and with this version if one is given, and no other (R1.6).
pub(super) fn delete_options(deletion: &Deletion, uid: &str, version: Option<&str>) -> Value {
    document(&DeleteOptions {
        api_version: Some("v1".to_owned()),
        kind: Some("DeleteOptions".to_owned()),
        propagation_policy: Some(deletion.propagation.name().to_owned()),
        preconditions: Some(Preconditions { uid: Some(uid.to_owned()), resource_version: version.map(str::to_owned) }),
        grace_period_seconds: deletion.grace,
        dry_run: deletion.dry_run.then(|| vec!["All".to_owned()]),
        ..DeleteOptions::default()
    })
}

/// An object of the API as it is sent.
pub(super) fn document(object: &impl Serialize) -> Value {
    serde_json::to_value(object).expect("what the API takes is JSON")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::cluster::testing::{Say, json as say, refuse, serve};

    const POD: &str = "/api/v1/namespaces/shop/pods/a";

    /// A write in each way.
    fn writes(body: &Value) -> [Write<'_>; 3] {
        [Write::delete(body), Write::patch(MERGE_PATCH, body), Write::post(body)]
    }

    /// An overloaded server says when to retry. What it did not do is sent again then.
    #[tokio::test]
    async fn a_busy_server_is_given_the_time_it_wants() {
        for write in writes(&json!({})) {
            let method = write.method.clone();
            let connection = serve(|asked| match asked.before {
                0 => Say { headers: "retry-after: 1\r\n", ..refuse(429) },
                1 => say(200, "{}"),
                _ => panic!("it was done already"),
            });
            let connection = connection.await;
            let begun = Instant::now();
            let sent = send_with_retry(&connection, POD, write).await;
            assert!(
                sent.is_ok_and(|answer| answer.status == 200) && begun.elapsed() >= Duration::from_secs(1),
                "{method}"
            );
        }
    }

    /// A request that may have taken effect is reported as such, and a refusal is final.
    #[tokio::test]
    async fn what_came_of_it_is_known_or_said_to_be_not() {
        let body = json!({});
        let [delete, patch, _] = writes(&body);
        let lost = serve(|asked| if asked.before == 0 { refuse(0) } else { refuse(409) }).await;
        let undone = send_with_retry(&lost, POD, patch).await.map(|_| ()).unwrap_err();
        assert!(undone.unsure && undone.failure.status().is_some_and(|status| status == 409));
        let refused = serve(|asked| if asked.before == 0 { refuse(403) } else { panic!("it was asked again") }).await;
        let undone = send_with_retry(&refused, POD, delete).await.map(|_| ()).unwrap_err();
        assert!(!undone.unsure);
    }

    /// Answers that lead elsewhere.
    const REDIRECTS: [u16; 5] = [301, 302, 303, 307, 308];

    /// robustness line: writes that are answered by a redirect to another server | DELETE, PATCH and POST, with
    ///   {REDIRECTS} statuses each | nothing goes there, and nothing counts as done
    #[tokio::test]
    async fn no_write_follows_a_redirect() {
        let elsewhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let location = format!("location: http://{}{POD}\r\n", elsewhere.local_addr().unwrap());
        // An answer's headers last as long as the server.
        let location: &'static str = location.leak();
        elsewhere.set_nonblocking(true).unwrap();
        for write in writes(&json!({})) {
            let method = &write.method;
            for status in REDIRECTS {
                let body = r#"{"kind":"Status","status":"Success"}"#;
                let connection = serve(move |asked| {
                    assert_eq!(asked.before, 0, "it is asked once");
                    Say { headers: location, ..say(status, body) }
                });
                let sent = send_with_retry(&connection.await, POD, write.clone()).await;
                let undone = sent.map(|_| ()).unwrap_err();
                assert!(undone.failure.status().is_some_and(|it| it == status), "{method} {status}");
            }
        }
        let connected = elsewhere.accept().map(|_| ()).map_err(|error| error.kind());
        assert_eq!(connected, Err(std::io::ErrorKind::WouldBlock), "nobody asks there");
    }
}
