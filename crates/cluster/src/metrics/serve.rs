//! Liveness and readiness of a running sweep, and the HTTP server: `/metrics`, `/healthz`, `/readyz`.

use std::{convert::Infallible, fmt, io, net::SocketAddr, str::FromStr, sync::Arc, time::Duration};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use parking_lot::Mutex;
use tokio::{net::TcpListener, sync::Semaphore, time::Instant};

use super::Metrics;

/// The health of a sweep; clones share it.
#[derive(Clone, Debug)]
pub struct Health(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    last: Instant,
    patience: Duration,
    not_ready: Option<String>,
}

impl Health {
    /// Alive now, and from then on while [`beat`](Self::beat) is called at least every `patience`. Not ready yet.
    pub fn new(patience: Duration) -> Self {
        Health(Arc::new(Mutex::new(State {
            last: Instant::now(),
            patience,
            not_ready: Some("not synced yet".to_owned()),
        })))
    }

    /// Records a sign of life.
    pub fn beat(&self) {
        self.0.lock().last = Instant::now();
    }

    /// Sets whether it is ready, or why not.
    pub fn set_ready(&self, ready: Result<(), String>) {
        self.0.lock().not_ready = ready.err();
    }

    /// Whether it is alive.
    ///
    /// # Errors
    /// How long ago the last sign of life was, if too long.
    pub fn alive(&self) -> Result<(), String> {
        let state = self.0.lock();
        let silent = state.last.elapsed();
        if silent <= state.patience {
            return Ok(());
        }
        Err(format!("no activity for {}s (limit {}s)", silent.as_secs(), state.patience.as_secs()))
    }

    /// Whether it is ready.
    ///
    /// # Errors
    /// Why it is not ready.
    pub fn ready(&self) -> Result<(), String> {
        self.alive()?;
        self.0.lock().not_ready.clone().map_or(Ok(()), Err)
    }
}

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// The time limit for each request of a connection, including the wait for it.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The maximum number of connections served at the same time.
const MAX_CONNECTIONS: usize = 32;
/// The pause after a connection could not be accepted, for example because of too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// An address that can't be bound.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address}: {source}")]
pub struct ServeError {
    pub address: Listen,
    pub source: io::Error,
}

/// A bound address that is not served yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

/// Binds an address. Requires a tokio runtime.
///
/// # Errors
/// The address is in use or doesn't exist on this machine.
pub async fn bind(listen: &Listen) -> Result<Bound, ServeError> {
    let failed = |source| ServeError { address: listen.clone(), source };
    let bound = if listen.host.is_empty() {
        // Binding IPv6 includes IPv4, but the machine may have no IPv6.
        match TcpListener::bind(("::", listen.port)).await {
            Err(error) if error.kind() != io::ErrorKind::AddrInUse => TcpListener::bind(("0.0.0.0", listen.port)).await,
            bound => bound,
        }
    } else {
        TcpListener::bind((listen.host.as_str(), listen.port)).await
    };
    let listener = bound.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok(Bound { listener, address })
}

impl Bound {
    /// The bound address, with the actual port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until dropped.
    pub async fn serve(self, metrics: Metrics, health: Health) {
        let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        loop {
            // The semaphore is never closed.
            let Ok(permit) = permits.clone().acquire_owned().await else { return };
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let (metrics, health) = (metrics.clone(), health.clone());
            tokio::spawn(async move {
                let answer = service_fn(|request| {
                    let response = answer(&request, &metrics, &health);
                    async move { Ok::<_, Infallible>(response) }
                });
                let served = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(REQUEST_TIMEOUT)
                    .serve_connection(TokioIo::new(stream), answer)
                    .await;
                // Ignore clients that hang up or don't speak HTTP.
                drop((served, permit));
            });
        }
    }
}

fn answer<B>(request: &Request<B>, metrics: &Metrics, health: &Health) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return response(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET is supported\n".to_owned());
    }
    let state = |state: Result<(), String>| match state {
        Ok(()) => response(StatusCode::OK, PLAIN, "ok\n".to_owned()),
        Err(why) => response(StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
    };
    match request.uri().path() {
        "/metrics" => response(StatusCode::OK, OPEN_METRICS, metrics.text()),
        "/healthz" => state(health.alive()),
        "/readyz" => state(health.ready()),
        _ => response(
            StatusCode::NOT_FOUND,
            PLAIN,
            "not found; the endpoints are /metrics, /healthz and /readyz\n".to_owned(),
        ),
    }
}

fn response(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}

/// An address to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listen {
    /// A host name or address; empty: all interfaces.
    pub host: String,
    /// Zero: any free port.
    pub port: u16,
}

/// An invalid address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a listen address: give a host and a port, such as :8080, 127.0.0.1:8080 or [::1]:8080")]
pub struct ListenError(String);

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        let wrong = || ListenError(text.to_owned());
        let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
        let digits = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let port = port.parse().ok().filter(|_| digits).ok_or_else(wrong)?;
        let bracketed = host.strip_prefix('[').map(|rest| rest.strip_suffix(']').ok_or_else(wrong)).transpose()?;
        let host = match bracketed {
            Some(inner) => inner.parse::<std::net::Ipv6Addr>().map(|_| inner).map_err(|_| wrong())?,
            // Without brackets, the end of an IPv6 address is ambiguous.
            None => Some(host).filter(|host| !host.contains([':', '/', '@', ' ', '[', ']'])).ok_or_else(wrong)?,
        };
        Ok(Listen { host: host.to_owned(), port })
    }
}

impl fmt::Display for Listen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed_as_by_kubernetes() {
        for (text, host, port) in [
            (":8080", "", 8080),
            ("127.0.0.1:0", "127.0.0.1", 0),
            ("[::1]:0", "::1", 0),
            ("[::]:9090", "::", 9090),
            ("localhost:65535", "localhost", 65535),
        ] {
            let read: Listen = text.parse().unwrap();
            assert_eq!((read.host.as_str(), read.port), (host, port), "{text}");
            assert_eq!(read.to_string(), text);
        }
        for wrong in [
            "",
            "8080",
            "localhost",
            ":",
            "::1:80",
            "[::1]",
            "[::1:80",
            "[name]:80",
            ":65536",
            ":-1",
            ":+1",
            "http://h:80",
            "a b:80",
        ] {
            let error = wrong.parse::<Listen>().unwrap_err();
            assert!(error.to_string().contains("is not a listen address"), "{wrong}");
        }
    }
}
