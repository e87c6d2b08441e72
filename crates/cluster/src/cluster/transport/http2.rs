//! The HTTP/2 connections to one server. One carries all requests; another is opened only while all have as many
//! requests under way as the server takes, as in Go's `http2.Transport`.

use std::{pin::Pin, sync::Arc, task::Poll};

use http::{Request, Response};
use http_body_util::BodyExt as _;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::Body;
use parking_lot::Mutex;

use super::{Answer, Io, Settings};

/// How much of one answer, and of all answers together, the server may send before it is read: as in Go. A small
/// window would let a watch that is read slowly hold up all others.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;
/// How long all headers of an answer may be together: as in Go. Each of many warnings is a header.
const HEADERS: u32 = 10 << 20;

type Driver = http2::Connection<Io, Body, TokioExecutor>;

/// One connection. A copy of it is the place of one request.
#[derive(Clone)]
pub(super) struct Open {
    sender: http2::SendRequest<Body>,
    /// Knows what the server allows; `None` once the connection takes no more requests.
    driver: Arc<Mutex<Option<Driver>>>,
    /// As many copies hold it as requests are under way.
    under_way: Arc<()>,
}

impl Open {
    fn has_room(&self) -> bool {
        let allowed = self.driver.lock().as_ref().map_or(0, Driver::current_max_send_streams);
        Arc::strong_count(&self.under_way) <= allowed
    }

    pub(super) async fn send(mut self, request: Request<Body>) -> Result<Response<Answer>, Failed> {
        let sent = {
            let _driver = self.driver.lock();
            self.sender.try_send_request(request)
        };
        match sent.await {
            Ok(response) => {
                // It is under way until the answer is read or given up.
                let counted = move |frame| {
                    let _ = &self.under_way;
                    frame
                };
                Ok(response.map(|body| body.map_frame(counted).boxed_unsync()))
            }
            Err(mut error) => {
                let never_sent = error.take_message().is_some();
                let error = error.into_error();
                Err(if never_sent || is_unprocessed(&error) {
                    Failed::Unprocessed(error)
                } else {
                    Failed::Other(error)
                })
            }
        }
    }
}

/// All connections.
#[derive(Default)]
pub(super) struct Connections(Vec<Open>);

impl Connections {
    /// A place for one more request, if there is one.
    pub(super) fn place(&mut self) -> Option<Open> {
        self.0.retain(|open| !open.sender.is_closed());
        self.0.iter().find(|open| open.has_room()).cloned()
    }

    /// Begins to speak HTTP/2.
    pub(super) async fn start(io: Io, settings: Settings) -> hyper::Result<Open> {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEADERS)
            .keep_alive_interval(settings.read_idle)
            .keep_alive_timeout(settings.ping)
            .keep_alive_while_idle(true);
        let (sender, driver) = builder.handshake(io).await?;
        let driver = Arc::new(Mutex::new(Some(driver)));
        tokio::spawn(drive(driver.clone()));
        Ok(Open { sender, driver, under_way: Arc::default() })
    }

    pub(super) fn add(&mut self, open: Open) {
        self.0.push(open);
    }
}

/// Passes requests on until the connection takes no more. Those that still wait then come back unsent, because the
/// driver is dropped.
async fn drive(driver: Arc<Mutex<Option<Driver>>>) {
    std::future::poll_fn(|context| match driver.lock().as_mut() {
        Some(driver) => Pin::new(driver).poll(context).map(|_| ()),
        None => Poll::Ready(()),
    })
    .await;
    // Under the lock, as each request is handed over: one that comes between hyper's last look at what waits and its
    // end would wait forever.
    *driver.lock() = None;
}

/// Why there is no answer.
pub(super) enum Failed {
    /// The server has not processed the request, and will not.
    Unprocessed(hyper::Error),
    Other(hyper::Error),
}

/// Whether the server says that it has not processed a request: the request came after those that it still answers
/// before it closes the connection, or the server refused it (RFC 9113, section 8.7).
fn is_unprocessed(error: &hyper::Error) -> bool {
    let Some(error) = std::error::Error::source(error).and_then(|source| source.downcast_ref::<h2::Error>()) else {
        return false;
    };
    let reason = error.reason();
    error.is_remote()
        && ((error.is_go_away() && reason == Some(h2::Reason::NO_ERROR))
            || (error.is_reset() && reason == Some(h2::Reason::REFUSED_STREAM)))
}
