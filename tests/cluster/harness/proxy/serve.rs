//! The server side of the proxy, and its connection to the API server.

use std::{
    io,
    sync::{Arc, Mutex},
};

use http::{HeaderMap, HeaderName, HeaderValue, Response, Uri, header, request::Parts};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Frame, Incoming};
use kube::Client;
use serde_json::json;
use tokio::net::TcpListener;

use super::{
    super::api::chain,
    Fault, Request,
    counted::{AnyBody, Entry, Failure, count},
    line::Ready,
    spoilt::spoil,
};

type Hook = dyn Fn(&Request) -> Option<Fault> + Send + Sync;

/// State that all connections share.
pub struct State {
    pub client: Client,
    pub requests: Mutex<Vec<Entry>>,
    pub hook: Mutex<Option<Arc<Hook>>>,
}

/// Accepts connections until it is aborted.
pub async fn listen(listener: TcpListener, line: Ready, state: Arc<State>) {
    while let Ok((stream, _)) = listener.accept().await {
        let _ = stream.set_nodelay(true);
        let (line, state) = (line.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            line.talk(stream, move |request| {
                let state = Arc::clone(&state);
                async move { state.answer(request).await }
            })
            .await;
        });
    }
}

impl State {
    /// Answers a request; an error closes the connection without an answer.
    async fn answer(&self, request: http::Request<Incoming>) -> Result<Response<AnyBody>, io::Error> {
        let (mut parts, body) = request.into_parts();
        let Ok(body) = body.collect().await else { return Ok(refuse("the request broke off")) };
        let body = body.to_bytes();
        let request = Request::of(&parts, &body);
        // Recorded first: a hook that counts requests can rely on it.
        let entry = Arc::new(Mutex::new(request.clone()));
        self.requests.lock().unwrap().push(Arc::clone(&entry));
        let hook = self.hook.lock().unwrap().clone();
        let fault = hook.and_then(|hook| hook(&request));
        entry.lock().unwrap().held = matches!(fault, Some(Fault::Before(_) | Fault::Hang));
        match &fault {
            Some(Fault::Answer { status, headers, body }) => {
                return Ok(count(own(*status, headers, body.to_string().into()), entry, None));
            }
            Some(Fault::Raw { status, headers, body }) => {
                return Ok(count(own(*status, headers, Bytes::from_static(body.as_bytes())), entry, None));
            }
            Some(Fault::Reset) => return Err(io::Error::other("the test's proxy closes the connection here")),
            Some(Fault::Hang) => std::future::pending().await,
            Some(Fault::Delay(time)) => tokio::time::sleep(*time).await,
            Some(Fault::Before(gate)) => gate.pass().await,
            Some(Fault::Accept(accept)) => {
                parts.headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
            }
            Some(Fault::Elsewhere(target)) => parts.uri = target.parse().map_err(io::Error::other)?,
            Some(Fault::Pages(size)) => parts.uri = with_limit(&parts.uri, *size)?,
            Some(Fault::AsOf(version)) => parts.uri = as_of(&parts.uri, version)?,
            _ => {}
        }
        let mut response = self.forward(parts, body).await.unwrap_or_else(|error| refuse(&error));
        let mut left = None;
        match fault {
            Some(Fault::Lost) => return Err(io::Error::other("the test's proxy drops the answer")),
            Some(Fault::After(gate)) => {
                entry.lock().unwrap().status = Some(response.status().as_u16());
                gate.pass().await;
            }
            Some(Fault::CutAfter(bytes)) => left = Some(bytes),
            Some(Fault::Spoilt(how)) => response = spoil(response, how),
            Some(Fault::Copied(copy)) => {
                let keep = move |frame: Frame<Bytes>| {
                    copy.lock().unwrap().extend_from_slice(frame.data_ref().map_or(&[], |data| &data[..]));
                    frame
                };
                response = response.map(|body| body.map_frame(keep).boxed_unsync());
            }
            Some(Fault::Headed(name, value)) => {
                response.headers_mut().insert(name, value);
            }
            _ => {}
        }
        Ok(count(response, entry, left))
    }

    async fn forward(&self, parts: Parts, body: Bytes) -> Result<Response<AnyBody>, String> {
        let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
        let mut request = http::Request::builder().method(parts.method.clone()).uri(target);
        if let Some(headers) = request.headers_mut() {
            headers.extend(end_to_end(&parts.headers, &[header::HOST, header::AUTHORIZATION, header::CONTENT_LENGTH]));
        }
        let request = request.body(body.into()).map_err(|error| chain(&error))?;
        let response = self.client.send(request).await.map_err(|error| chain(&error))?;
        let (parts, body) = response.into_parts();
        let mut answer = Response::new(body.map_err(Failure::from).boxed_unsync());
        *answer.status_mut() = parts.status;
        answer.headers_mut().extend(end_to_end(&parts.headers, &[]));
        Ok(answer)
    }
}

impl Request {
    fn of(parts: &Parts, body: &Bytes) -> Self {
        let text = |name| {
            let value = parts.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
            value.unwrap_or_default().to_owned()
        };
        Self {
            method: parts.method.to_string(),
            path: parts.uri.path().to_owned(),
            query: parts.uri.query().unwrap_or_default().to_owned(),
            accept: text(header::ACCEPT),
            user_agent: text(header::USER_AGENT),
            body: body.to_vec(),
            ..Self::default()
        }
    }
}

/// The same path and query with this limit of a page, if it has a limit.
fn with_limit(uri: &Uri, size: usize) -> Result<Uri, io::Error> {
    let query = uri.query().unwrap_or_default().split('&');
    let query: Vec<String> =
        query.map(|part| if part.starts_with("limit=") { format!("limit={size}") } else { part.to_owned() }).collect();
    format!("{}?{}", uri.path(), query.join("&")).parse().map_err(io::Error::other)
}

/// The same list at this resourceVersion. Its further pages are of that version, too.
fn as_of(uri: &Uri, version: &str) -> Result<Uri, io::Error> {
    let query = uri.query().unwrap_or_default();
    if query.contains("continue=") {
        return Ok(uri.clone());
    }
    let exact = format!("resourceVersion={version}&resourceVersionMatch=Exact");
    format!("{}?{query}&{exact}", uri.path()).parse().map_err(io::Error::other)
}

/// The end-to-end headers: all except those for a single connection.
fn end_to_end(headers: &HeaderMap, except: &[HeaderName]) -> HeaderMap {
    let hop = [header::CONNECTION, header::TRANSFER_ENCODING, header::TE, header::TRAILER, header::UPGRADE];
    let mut kept = headers.clone();
    for name in hop.iter().chain(except) {
        kept.remove(name);
    }
    kept
}

/// A response by the proxy itself: JSON, unless a header says otherwise.
fn own(status: u16, headers: &[(&'static str, &'static str)], body: Bytes) -> Response<AnyBody> {
    let mut response = Response::new(Full::new(body).map_err(Failure::from).boxed_unsync());
    *response.status_mut() = status.try_into().expect("a test names a valid status");
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    for (name, value) in headers {
        response.headers_mut().insert(*name, HeaderValue::from_static(value));
    }
    response
}

/// The response if the API server gives none.
fn refuse(why: &str) -> Response<AnyBody> {
    let status = json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 502, "message": why});
    own(502, &[], status.to_string().into())
}
