//! The HTTP/2 connections to one server. One carries all requests; another is opened only while all have as many
//! requests under way as the server takes, as in Go's `http2.Transport`.

use std::{
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use http::{Request, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::{
    body::{Bytes, Incoming},
    client::conn::http2,
};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use kube::client::Body;

use super::{Io, lock, settings::Settings};

/// How much of one answer, and of all answers together, the server may send before it is read: as in Go. A small
/// window would let a watch that is read slowly hold up all others.
const STREAM_WINDOW: u32 = 4 << 20;
const CONNECTION_WINDOW: u32 = 1 << 30;
/// How long all headers of an answer may be together: as in Go. Each of many warnings is a header.
const HEADERS: u32 = 10 << 20;

type Driver = http2::Connection<Io, Body, TokioExecutor>;

/// One connection.
struct Open {
    sender: http2::SendRequest<Body>,
    /// Knows what the server allows; `None` once the connection takes no more requests.
    driver: Arc<Mutex<Option<Driver>>>,
    under_way: Arc<AtomicUsize>,
}

impl Open {
    fn has_room(&self) -> bool {
        let allowed = lock(&self.driver).as_ref().map_or(0, Driver::current_max_send_streams);
        self.under_way.load(Ordering::Relaxed) < allowed
    }
}

/// All connections.
#[derive(Default)]
pub(super) struct Connections(Vec<Open>);

impl Connections {
    /// A place for one more request, if there is one.
    pub(super) fn place(&mut self) -> Option<Place> {
        self.0.retain(|open| !open.sender.is_closed());
        let open = self.0.iter().find(|open| open.has_room())?;
        let (sender, driver) = (open.sender.clone(), open.driver.clone());
        Some(Place { sender, driver, under_way: UnderWay::one_more(&open.under_way) })
    }

    /// Begins to speak HTTP/2.
    pub(super) async fn start(io: Io, settings: Settings) -> hyper::Result<Started> {
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
        Ok(Started(Open { sender, driver, under_way: Arc::default() }))
    }

    pub(super) fn add(&mut self, started: Started) {
        self.0.push(started.0);
    }
}

/// Passes requests on until the connection takes no more. Those that still wait then come back unsent, because the
/// driver is dropped.
async fn drive(driver: Arc<Mutex<Option<Driver>>>) {
    std::future::poll_fn(|context| match lock(&driver).as_mut() {
        Some(driver) => Pin::new(driver).poll(context).map(|_| ()),
        None => Poll::Ready(()),
    })
    .await;
    // Under the lock, as each request is handed over: one that comes between hyper's last look at what waits and its
    // end would wait forever.
    *lock(&driver) = None;
}

/// A new connection.
pub(super) struct Started(Open);

/// Permission to send one request.
pub(super) struct Place {
    sender: http2::SendRequest<Body>,
    driver: Arc<Mutex<Option<Driver>>>,
    under_way: UnderWay,
}

/// Why there is no answer.
pub(super) enum Failed {
    /// The server has not processed the request, and will not.
    Unprocessed(hyper::Error),
    Other(hyper::Error),
}

impl Place {
    pub(super) async fn send(mut self, request: Request<Body>) -> Result<Response<Answer>, Failed> {
        let sent = {
            let _driver = lock(&self.driver);
            self.sender.try_send_request(request)
        };
        match sent.await {
            Ok(response) => Ok(response.map(|body| Answer { body, _under_way: self.under_way })),
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

/// Counts a request until its answer is read or given up.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn one_more(counter: &Arc<AtomicUsize>) -> Self {
        counter.fetch_add(1, Ordering::Relaxed);
        UnderWay(counter.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The body of an answer.
pub(super) struct Answer {
    body: Incoming,
    _under_way: UnderWay,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
