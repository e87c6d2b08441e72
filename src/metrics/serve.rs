//! The HTTP server: `/metrics`, `/healthz`, `/readyz`.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http::{Method, Request, Response, StatusCode, header};
use http_body_util::Full;
use hyper::{body::Bytes, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{net::TcpListener, sync::Semaphore};

use super::{Health, Listen, Metrics};

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; charset=utf-8";
/// Whoever connects has to ask within this time, and again within it, or is sent away.
const PATIENCE: Duration = Duration::from_secs(30);
/// No more than so many are served at once: the others wait.
const AT_ONCE: usize = 32;
/// How long to wait where no connection can be taken, because too many files are open, say.
const PAUSE: Duration = Duration::from_millis(100);

/// An address that can't be listened at.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen at {address}: {source}")]
pub struct ServeError {
    pub address: Listen,
    pub source: io::Error,
}

/// An address that is listened at; nobody is answered yet.
#[derive(Debug)]
pub struct Bound {
    listener: TcpListener,
    address: SocketAddr,
}

/// Takes an address. Needs a tokio runtime.
///
/// # Errors
/// When somebody else has it, or there is no such address here.
pub async fn bind(listen: &Listen) -> Result<Bound, ServeError> {
    let failed = |source| ServeError { address: listen.clone(), source };
    let bound = if listen.host.is_empty() {
        // All of IPv6 is all of IPv4, too, unless the machine has no IPv6.
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
    /// The address, with the port that was free where none was named.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until it is dropped.
    pub async fn serve(self, metrics: Metrics, health: Health) {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        loop {
            // The semaphore is never closed.
            let Ok(place) = places.clone().acquire_owned().await else { return };
            let Ok((stream, _)) = self.listener.accept().await else {
                tokio::time::sleep(PAUSE).await;
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
                    .header_read_timeout(PATIENCE)
                    .serve_connection(TokioIo::new(stream), answer)
                    .await;
                // Whoever hangs up, or doesn't speak HTTP, is no concern of a sweep.
                drop((served, place));
            });
        }
    }
}

fn answer<B>(request: &Request<B>, metrics: &Metrics, health: &Health) -> Response<Full<Bytes>> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return say(StatusCode::METHOD_NOT_ALLOWED, PLAIN, "only GET\n".to_owned());
    }
    let state = |state: Result<(), String>| match state {
        Ok(()) => say(StatusCode::OK, PLAIN, "ok\n".to_owned()),
        Err(why) => say(StatusCode::SERVICE_UNAVAILABLE, PLAIN, format!("{why}\n")),
    };
    match request.uri().path() {
        "/metrics" => say(StatusCode::OK, OPEN_METRICS, metrics.text()),
        "/healthz" => state(health.alive()),
        "/readyz" => state(health.ready()),
        _ => say(StatusCode::NOT_FOUND, PLAIN, "there is /metrics, /healthz and /readyz\n".to_owned()),
    }
}

fn say(status: StatusCode, content_type: &'static str, text: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(Bytes::from(text)));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, header::HeaderValue::from_static(content_type));
    response
}
