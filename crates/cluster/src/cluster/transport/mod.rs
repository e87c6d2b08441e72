//! Sends requests over HTTP/2 where the server has it, as client-go does, else over HTTP/1.1. kube's own client speaks
//! HTTP/1.1 only, with a connection for each watch.

mod connector;
mod http2;
#[cfg(test)]
mod tests;

use std::{error::Error, sync::Arc, time::Duration};

use base64::Engine as _;
use futures::{
    FutureExt as _, TryFutureExt as _,
    future::{self, BoxFuture, Shared},
};
use http::{HeaderValue, Request, Response, Uri, header};
use http_body_util::{BodyExt, combinators::UnsyncBoxBody};
use hyper::body::Bytes;
use hyper_util::{
    client::legacy::{self, connect::Connection as _},
    rt::TokioExecutor,
};
use kube::{
    Client, Config,
    client::{Body, ConfigExt as _},
};
use parking_lot::Mutex;
use tower::{ServiceBuilder, ServiceExt as _, service_fn};
use tower_http::decompression::DecompressionLayer;

use self::{
    connector::{Connector, Io},
    http2::{Connections, Failed, Open},
};

/// How often a request is sent that the server doesn't process, about as often as Go's `http2.Transport` sends it.
const TRIES: u32 = 6;
/// The pause before the third of these; each later one is twice as long, as Go's begin with a second.
const PAUSE: Duration = Duration::from_millis(100);

/// The time limit for opening a connection.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

type BoxError = Box<dyn Error + Send + Sync>;
/// The body of an answer.
type Answer = UnsyncBoxBody<Bytes, hyper::Error>;

/// A client for the server of this configuration, without its credentials and other headers: [`Lease::add_headers`]
/// adds those. Needs a tokio runtime.
///
/// [`Lease::add_headers`]: super::credentials::Lease::add_headers
pub(super) fn client(config: Config) -> kube::Result<Client> {
    let settings = Settings::of(|name| std::env::var(name).ok());
    let transport = Transport::new(&config, settings)?;
    let service = ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .layer(DecompressionLayer::new().gzip(!config.disable_compression))
        .service_fn(move |request| transport.clone().send(request));
    Ok(Client::new(service, config.default_namespace))
}

/// Both protocols.
#[derive(Clone)]
struct Transport {
    http1: legacy::Client<Connector, Body>,
    /// For a proxy that forwards each request.
    proxy_authorization: Option<HeaderValue>,
    /// `None` if only HTTP/1.1 is wanted.
    http2: Option<Arc<Http2>>,
}

struct Http2 {
    connector: Connector,
    server: Uri,
    settings: Settings,
    state: Mutex<State>,
    /// Where a connection goes if the server has only HTTP/1.1.
    given: Arc<Mutex<Vec<Io>>>,
}

#[derive(Default)]
struct State {
    /// Whether the server has chosen HTTP/1.1. That remains so.
    chose_http1: bool,
    connections: Connections,
    /// The connection that is being opened: all requests without a place wait for it.
    opening: Option<Shared<BoxFuture<'static, Result<(), Unconnected>>>>,
}

/// The server has refused the request each time, and processed it at no time.
#[derive(Debug, thiserror::Error)]
#[error("the server refuses the request each time, and has not processed it")]
pub(super) struct Unprocessed(#[source] hyper::Error);

/// No connection could be opened. All requests that waited for it get the same error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("client error (Connect)")]
struct Unconnected(#[source] Arc<dyn Error + Send + Sync>);

impl Transport {
    fn new(config: &Config, settings: Settings) -> kube::Result<Self> {
        let given: Arc<Mutex<Vec<Io>>> = Arc::default();
        // As client-go, without TLS always HTTP/1.1.
        let server = config.cluster_url.clone();
        let uses_http2 = settings.http2 && server.scheme_str() == Some("https");
        let (connector, for_http2) = connector::connectors(config, uses_http2)?;
        let first = Arc::clone(&given);
        let http1 = service_fn(move |server| match first.lock().pop() {
            Some(io) => future::ready(Ok(io)).left_future(),
            None => connector.clone().oneshot(server).right_future(),
        });
        let http2 =
            for_http2.map(|connector| Arc::new(Http2 { connector, server, settings, state: Mutex::default(), given }));
        let http1 = legacy::Builder::new(TokioExecutor::new()).build(Connector::new(http1));
        Ok(Transport { http1, proxy_authorization: connector::forwarding_authorization(config), http2 })
    }

    async fn send(self, request: Request<Body>) -> Result<Response<Answer>, BoxError> {
        let mut request = request;
        if let Some(authorization) = &self.proxy_authorization {
            request.headers_mut().insert(header::PROXY_AUTHORIZATION, authorization.clone());
        }
        let mut tried = 0;
        loop {
            let place = match &self.http2 {
                Some(http2) => http2.place().await?,
                None => None,
            };
            let Some(place) = place else { return Ok(self.http1.request(request).await?.map(BodyExt::boxed_unsync)) };
            tried += 1;
            if tried > 2 {
                tokio::time::sleep(PAUSE * 2u32.pow(tried - 3)).await;
            }
            let again = copy(&request).filter(|_| tried < TRIES);
            request = match (place.send(request).await, again) {
                (Ok(response), _) => return Ok(response),
                // Also a write: the server has not done anything.
                (Err(Failed::Unprocessed(_)), Some(again)) => again,
                (Err(Failed::Unprocessed(error)), None) => return Err(Unprocessed(error).into()),
                (Err(Failed::Other(error)), _) => return Err(error.into()),
            };
        }
    }
}

/// The same request once more.
fn copy(request: &Request<Body>) -> Option<Request<Body>> {
    let mut copy = Request::new(request.body().try_clone()?);
    *copy.method_mut() = request.method().clone();
    *copy.uri_mut() = request.uri().clone();
    *copy.headers_mut() = request.headers().clone();
    Some(copy)
}

impl Http2 {
    /// A place on a connection; `None` if the server has only HTTP/1.1.
    async fn place(self: &Arc<Self>) -> Result<Option<Open>, Unconnected> {
        loop {
            let opening = {
                let mut state = self.state.lock();
                if state.chose_http1 {
                    return Ok(None);
                }
                if let Some(place) = state.connections.place() {
                    return Ok(Some(place));
                }
                state.opening.get_or_insert_with(|| self.clone().open().boxed().shared()).clone()
            };
            opening.await?;
        }
    }

    /// Opens one more connection. It goes on if the request that began it is given up.
    fn open(self: Arc<Self>) -> impl Future<Output = Result<(), Unconnected>> + Send + 'static {
        let opened = tokio::spawn(async move {
            let connected = self.connect().await;
            let mut state = self.state.lock();
            state.opening = None;
            match connected? {
                Some(open) => state.connections.add(open),
                None => state.chose_http1 = true,
            }
            Ok(())
        });
        opened.unwrap_or_else(|error| Err(Unconnected(Arc::new(error))))
    }

    /// A connection; `None` if the server has chosen HTTP/1.1.
    async fn connect(&self) -> Result<Option<Open>, Unconnected> {
        let io =
            self.connector.clone().oneshot(self.server.clone()).await.map_err(|error| Unconnected(error.into()))?;
        if !io.connected().is_negotiated_h2() {
            self.given.lock().push(io);
            return Ok(None);
        }
        let open = Connections::start(io, self.settings).await;
        Ok(Some(open.map_err(|error| Unconnected(Arc::new(error)))?))
    }
}

/// The header for a `NAME:PASSWORD`.
pub(super) fn basic(pair: impl AsRef<[u8]>) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::try_from(format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair)))
        .map_err(|_| "the password has characters that no HTTP header can have".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

const READ_IDLE: u64 = 30;
const PING: u64 = 15;
/// A day.
const LONGEST: u64 = 24 * 60 * 60;

/// Whether HTTP/2 is used, and how it is noticed that a connection is dead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    pub http2: bool,
    /// After how much silence the server is pinged; `None`: never.
    pub read_idle: Option<Duration>,
    /// How long its answer may take.
    pub ping: Duration,
}

impl Settings {
    pub(super) fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        // As in client-go: what is no number means the default.
        let seconds = |name: &str, usual: u64| {
            let set = variable(name).and_then(|text| text.parse::<i64>().ok());
            // Longer makes no difference, and much longer is no time any more.
            set.map_or(usual, |seconds| u64::try_from(seconds).unwrap_or(0).min(LONGEST))
        };
        let some = |seconds: u64| Some(Duration::from_secs(seconds)).filter(|time| !time.is_zero());
        Settings {
            http2: variable("DISABLE_HTTP2").is_none_or(|value| value.is_empty()),
            read_idle: some(seconds("HTTP2_READ_IDLE_TIMEOUT_SECONDS", READ_IDLE)),
            // Zero means the default of Go's package http2.
            ping: some(seconds("HTTP2_PING_TIMEOUT_SECONDS", PING)).unwrap_or(Duration::from_secs(PING)),
        }
    }
}
