//! Sends requests, with time limits and retries. Reads the `Warning` headers of answers as kubectl does (apimachinery's
//! `util/net/http.go`, `ParseWarningHeaders`).

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;

use crate::bounded;

use super::{
    Connection, Exchange, ReadEvent,
    answer::{Answer, LARGEST_ANSWER, Malformed, is_protobuf},
    clock,
    credentials::Lease,
    error::Failure,
    retry,
};

/// The largest buffer to reserve because of a Content-Length header.
const LARGEST_RESERVE: usize = 16 << 20;
/// The largest list to read at once, decompressed: far more than everything that an API server may hold.
pub(super) const LARGEST_LIST: usize = if cfg!(test) { 64 << 20 } else { 2 << 30 };

/// Metadata of a list's items, in protobuf if the server supports it, else in JSON.
pub(super) const METADATA_LIST: &str = concat!(
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,",
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
);
/// The metadata of one object.
pub const METADATA: &str = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
                                   application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// The same in JSON, with the annotations.
pub(super) const METADATA_LIST_IN_JSON: &str = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
/// The metadata of one object in JSON, with the managed fields.
pub(super) const METADATA_IN_JSON: &str = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";
/// Whole objects, in protobuf if possible.
pub(super) const WHOLE: &str = "application/vnd.kubernetes.protobuf,application/json";
/// The format that every server supports.
pub(super) const JSON: &str = "application/json";

/// An answer without its body.
type Head = http::response::Parts;

/// What was sent, and what came back so far.
struct Record {
    method: Method,
    /// Path and query.
    url: String,
    headers: HeaderMap,
    body: Vec<u8>,
    started: Instant,
    answered: Option<(StatusCode, HeaderMap)>,
}

impl Record {
    fn of(request: &Request<Vec<u8>>) -> Self {
        Record {
            method: request.method().clone(),
            url: request.uri().to_string(),
            headers: HeaderMap::new(),
            body: request.body().clone(),
            started: Instant::now(),
            answered: None,
        }
    }
}

/// The streamed answer of a watch.
pub(super) struct Stream {
    pub(super) content_type: String,
    body: Body,
    silence: Duration,
}

impl Stream {
    /// Waits for the next piece and passes it to `take`. Returns false at the end of the stream.
    pub(super) async fn more(&mut self, mut take: impl FnMut(&[u8])) -> Result<bool, Failure> {
        let Some(frame) = within(Some(self.silence), async { Ok(self.body.frame().await) }).await? else {
            return Ok(false);
        };
        if let Ok(data) = frame.map_err(|error| Failure::of_transport(&error))?.into_data() {
            take(&data);
        }
        Ok(true)
    }
}

fn too_large(largest: usize) -> Malformed {
    Malformed(format!("it is larger than {}", bounded::size(largest as u64)))
}

fn text(head: &Head, name: header::HeaderName) -> Option<&str> {
    head.headers.get(name).and_then(|value| value.to_str().ok())
}

impl Connection {
    /// Sends one request, once, and reads the whole answer, whatever its status. It is no list.
    pub async fn send(&self, request: Request<Vec<u8>>) -> Result<Answer, Failure> {
        self.send_for(request, LARGEST_ANSWER).await
    }

    /// The same for an answer of at most so many bytes.
    async fn send_for(&self, request: Request<Vec<u8>>, largest: usize) -> Result<Answer, Failure> {
        if let Some(rate) = &self.rate {
            rate.pass().await;
        }
        let mut record = Record::of(&request);
        let answer = within(self.limits.whole, async {
            let (head, body) = self.respond(request, &mut record).await?;
            let answer = self.take_all(head, body, largest).await?;
            Ok(Answer { took: record.started.elapsed(), ..answer })
        })
        .await;
        self.report(&record, answer.as_ref().map(|answer| Some(answer.body.as_slice())));
        answer
    }

    /// Sends one request, once, whose answer is a stream: the usual limits apply only until the answer begins, and then
    /// `silence` limits the time between two pieces. Any status but success is a failure.
    pub(super) async fn stream(&self, request: Request<Vec<u8>>, silence: Duration) -> Result<Stream, Failure> {
        let mut record = Record::of(&request);
        let begun = within(self.limits.whole, async {
            let (head, body) = self.respond(request, &mut record).await?;
            if !head.status.is_success() {
                return Ok(Err(self.take_all(head, body, LARGEST_ANSWER).await?));
            }
            let content_type = text(&head, header::CONTENT_TYPE).unwrap_or_default().to_owned();
            Ok(Ok(Stream { content_type, body, silence }))
        })
        .await;
        self.report(&record, begun.as_ref().map(|begun| begun.as_ref().err().map(|answer| answer.body.as_slice())));
        begun?.map_err(|answer| Failure::Refused(answer.refusal()))
    }

    /// GETs a list in protobuf, once, and passes its body on in pieces as they come.
    pub(super) async fn get_in_pieces(
        &self,
        url: &str,
        mut take: impl FnMut(&[u8]) -> Result<(), Malformed>,
    ) -> Result<(), Failure> {
        if let Some(rate) = &self.rate {
            rate.pass().await;
        }
        let request = Request::builder().method(Method::GET).uri(url).header(header::ACCEPT, METADATA_LIST);
        let request = request.body(Vec::new()).map_err(|error| Failure::Malformed(error.to_string()))?;
        within(self.limits.whole, async {
            let mut stream = self.stream(request, self.limits.silence.unwrap_or(Duration::MAX)).await?;
            if !is_protobuf(&stream.content_type) {
                return Err(Failure::Malformed("a list that is not protobuf".to_owned()));
            }
            let mut bytes = 0;
            loop {
                let mut taken = Ok(());
                let read = |piece: &[u8]| {
                    bytes += piece.len();
                    taken = if bytes > LARGEST_LIST { Err(too_large(LARGEST_LIST)) } else { take(piece) };
                };
                let more = stream.more(read).await?;
                taken?;
                if !more {
                    return Ok(());
                }
            }
        })
        .await
    }

    /// Reports an exchange: with the body of the answer if that was read whole, or with why there is no answer.
    fn report(&self, record: &Record, outcome: Result<Option<&[u8]>, &Failure>) {
        let failure = outcome.err().map(ToString::to_string);
        let answered = record.answered.as_ref();
        let status = match (&failure, answered) {
            (None, Some((status, _))) => Ok(status.as_u16()),
            (failure, _) => Err(failure.as_deref().unwrap_or_default()),
        };
        self.tell(ReadEvent::Exchanged(&Exchange {
            method: record.method.as_str(),
            server: &self.server_url,
            url: &record.url,
            status,
            took: record.started.elapsed(),
            request_headers: &record.headers,
            request_body: &record.body,
            response_headers: answered.map(|(_, headers)| headers),
            response_body: outcome.ok().flatten(),
        }));
    }

    /// Sends a request and returns the head and the unread body of the answer. If the server doesn't accept credentials
    /// that can be renewed, they are, and the request is sent again: it has done nothing.
    async fn respond(&self, request: Request<Vec<u8>>, record: &mut Record) -> Result<(Head, Body), Failure> {
        let mut send = async |lease: &Lease, mut request: Request<Vec<u8>>| {
            lease.add_headers(request.headers_mut());
            record.headers = request.headers().clone();
            let response = within(self.limits.silence, lease.send(request.map(Body::from))).await?;
            record.answered = Some((response.status(), response.headers().clone()));
            clock::hear(response.headers());
            for warning in warnings_of(&record.method, &record.url, response.headers()) {
                self.tell(ReadEvent::Warned(&warning));
            }
            Ok::<_, Failure>(response)
        };
        let lease = self.clients.lease().await?;
        let mut response = send(&lease, request.clone()).await?;
        self.reached.store(true, Ordering::Relaxed);
        if response.status() == StatusCode::UNAUTHORIZED
            && let Some(lease) = self.clients.renew(&lease).await?
        {
            response = send(&lease, request).await?;
        }
        Ok(response.into_parts())
    }

    /// Reads the rest of an answer.
    async fn take_all(&self, head: Head, mut rest: Body, largest: usize) -> Result<Answer, Failure> {
        let announced = text(&head, header::CONTENT_LENGTH).and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = Vec::with_capacity(LARGEST_RESERVE.min(announced));
        while let Some(frame) = within(self.limits.silence, async { Ok(rest.frame().await) }).await? {
            if let Ok(data) = frame.map_err(|error| Failure::of_transport(&error))?.into_data() {
                body.extend_from_slice(&data);
                if body.len() > largest {
                    return Err(too_large(largest).into());
                }
            }
        }
        Ok(Answer {
            status: head.status,
            content_type: text(&head, header::CONTENT_TYPE).unwrap_or_default().to_owned(),
            retry_after: text(&head, header::RETRY_AFTER).and_then(|seconds| seconds.trim().parse().ok()),
            body,
            took: Duration::ZERO,
        })
    }

    /// GETs a path, once, and reads the whole answer, of at most so many bytes, whatever its status.
    pub(super) async fn send_get(&self, url: &str, accept: &str, largest: usize) -> Result<Answer, Failure> {
        let request = Request::builder().method(Method::GET).uri(url).header(header::ACCEPT, accept);
        let request = request.body(Vec::new()).map_err(|error| Failure::Malformed(error.to_string()))?;
        self.send_for(request, largest).await
    }

    /// How long to wait before another try of a request that was first sent at `begun`; `None` to give up. With
    /// `--request-timeout`, no pause may last longer than that: a server that asks for more is too busy for this user.
    pub(crate) fn pause_after(&self, failure: &Failure, tried: u32, begun: Instant) -> Option<Duration> {
        let pause = retry::pause_after(failure, tried, self.reached.load(Ordering::Relaxed))?;
        self.limits.whole.is_none_or(|limit| begun.elapsed() + pause <= limit).then_some(pause)
    }

    /// GETs what is no list, with retries while they may help. Any status but success is a failure.
    pub async fn get(&self, url: &str, accept: &str) -> Result<Answer, Failure> {
        self.get_up_to(LARGEST_ANSWER, None, url, accept).await
    }

    /// The same for an answer of at most so many bytes, perhaps after a first try.
    pub(super) async fn get_up_to(
        &self,
        largest: usize,
        mut first: Option<Result<Answer, Failure>>,
        url: &str,
        accept: &str,
    ) -> Result<Answer, Failure> {
        let mut accept = accept;
        let mut tried = 0;
        let begun = Instant::now();
        loop {
            let answer = match first.take() {
                Some(answer) => answer,
                None => self.send_get(url, accept, largest).await,
            };
            tried += 1;
            let failure = match answer.and_then(Answer::success) {
                Ok(answer) => return Ok(answer),
                Err(failure) => failure,
            };
            if failure.status() == Some(StatusCode::NOT_ACCEPTABLE) && accept != JSON {
                accept = JSON;
            } else if let Some(pause) = self.pause_after(&failure, tried, begun) {
                tokio::time::sleep(pause).await;
            } else {
                return Err(failure);
            }
        }
    }
}

/// Does this work, which fails if it takes longer than the limit.
pub(super) async fn within<T>(
    limit: Option<Duration>,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match limit {
        Some(limit) => tokio::time::timeout(limit, work).await.unwrap_or(Err(Failure::TimedOut(limit))),
        None => work.await,
    }
}

/// The code of the API server's warnings; kubectl shows no others (client-go's `rest/warnings.go`).
const MISCELLANEOUS: &str = "299";

/// Resources of which each read has the same warning: they are deprecated, and nothing else has their objects. Commands
/// read them because they read everything; nobody has asked for them.
const READ_ANYWAY: [&str; 2] = ["endpoints", "componentstatuses"];

/// The warnings in the answer to a request.
fn warnings_of(method: &Method, url: &str, headers: &HeaderMap) -> Vec<String> {
    if method == Method::GET && is_read_anyway(url) {
        return Vec::new();
    }
    let texts = headers.get_all(header::WARNING).iter().filter_map(|value| std::str::from_utf8(value.as_bytes()).ok());
    texts.flat_map(parse).collect()
}

fn is_read_anyway(url: &str) -> bool {
    let path = url.split('?').next().unwrap_or_default();
    let Some(core) = path.split("/api/v1/").nth(1) else { return false };
    let words: Vec<&str> = core.split('/').collect();
    let plural = if words[0] == "namespaces" { words.get(2) } else { words.first() };
    plural.is_some_and(|plural| READ_ANYWAY.contains(plural))
}

/// The texts in one header: `CODE AGENT "TEXT" "DATE", …`. From the first mistake on, nothing more is read.
fn parse(header: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut rest = header.trim();
    while let Some((code, text, next)) = first(rest) {
        if code == MISCELLANEOUS && !text.is_empty() {
            warnings.push(text);
        }
        rest = next;
    }
    warnings
}

/// The code and the text of the first warning, and what follows it.
fn first(header: &str) -> Option<(&str, String, &str)> {
    let mut parts = header.splitn(3, ' ');
    let (code, agent, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let valid_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_digit());
    if !valid_code || agent.is_empty() || agent.chars().any(char::is_control) {
        return None;
    }
    let (text, rest) = quoted(rest)?;
    if text.chars().any(char::is_control) {
        return None;
    }
    let rest = rest.trim();
    let rest = match rest.strip_prefix('"') {
        Some(date) => date.split_once('"')?.1.trim(),
        None => rest,
    };
    match rest.strip_prefix(',') {
        Some(next) => Some((code, text, next.trim())),
        None if rest.is_empty() => Some((code, text, "")),
        None => None,
    }
}

/// A quoted text without its quotes and backslashes, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut unquoted = String::new();
    let text = text.strip_prefix('"')?;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((unquoted, &text[at + 1..])),
            '\\' => unquoted.push(chars.next()?.1),
            c => unquoted.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    /// The cases of apimachinery's `TestParseWarningHeaders`, and some more.
    #[test]
    fn headers_are_read_as_kubectl_reads_them() {
        assert_eq!(parse(r#"299 - "test warning""#), ["test warning"]);
        assert_eq!(parse(r#"299 - "a \"quoted\" \\ b""#), [r#"a "quoted" \ b"#]);
        assert_eq!(parse(r#"  299 - "a" "Mon, 1 Jan 2001 00:00:00 GMT" ,  299 - "b" , 299 x "c""#), ["a", "b", "c"]);
        assert_eq!(parse(r#"299 - "Iñtërnâtiônàlizætiøn, ok""#), ["Iñtërnâtiônàlizætiøn, ok"]);
        assert_eq!(parse(r#"199 - "other", 299 - "b""#), ["b"], "kubectl shows only 299");
        assert_eq!(parse(r#"299 - """#), [""; 0]);
        for broken in
            ["", "299", "299 -", "299 - ", "299 - a", r#"299 - "a"#, r#"2990 - "a""#, "299  \"a\"", r#"x - "a""#]
        {
            assert_eq!(parse(broken), [""; 0], "{broken}");
        }
        assert_eq!(parse("299 - \"a\u{1b}[31m\""), [""; 0], "control characters");
        assert_eq!(parse(r#"299 - "a" "date"#), [""; 0], "a date without an end");
        assert_eq!(parse(r#"299 - "a" b"#), [""; 0], "no comma between two warnings");
        assert_eq!(parse(r#"299 - "a", 299 - b"#), ["a"], "what was read before the mistake counts");
    }

    #[test]
    fn what_is_read_anyway_has_no_warnings() {
        let mut headers = HeaderMap::new();
        headers.append(header::WARNING, HeaderValue::from_static(r#"299 - "a""#));
        headers.append(header::WARNING, HeaderValue::from_static(r#"299 - "b""#));
        let told = |method: Method, url: &str| warnings_of(&method, url, &headers).len();
        for url in ["/api/v1/endpoints?limit=5", "/api/v1/namespaces/shop/endpoints", "/api/v1/componentstatuses/a"] {
            assert_eq!((told(Method::GET, url), told(Method::DELETE, url)), (0, 2), "{url}");
        }
        for url in ["/api/v1/pods", "/api/v1/namespaces/endpoints", "/apis/discovery.k8s.io/v1/endpointslices"] {
            assert_eq!(told(Method::GET, url), 2, "{url}");
        }
    }
}
