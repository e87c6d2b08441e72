//! A position in the history of one resource, and the streams that continue from it: shared by everything that watches.

use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use tokio::time::Instant;

use crate::cluster::{
    Connection,
    answer::Refusal,
    error::Failure,
    request::{JSON, METADATA, Stream},
};
use gc_core::model::RawObject;

use super::frames::{Frame, Frames};

/// After how many seconds the server ends a watch at the earliest, and over how many more the ends are spread, so that
/// not all watches restart at once.
const LASTS: usize = 240;
const SPREAD: usize = 120;
/// How long a watch may be silent. An API server sends a bookmark each minute, unless it has no cache of the resource
/// (events, aggregated APIs). So after this time the connection may be dead, or something between holds back what the
/// server sends.
pub(super) const SILENT: Duration = Duration::from_secs(90);
/// A stream that ends sooner without any event was useless: pause before the next one.
pub(super) const USEFUL: Duration = Duration::from_secs(1);
/// Why a watch can't be used whose streams are all useless.
pub(super) const ENDS_AT_ONCE: &str = "the watch ends as soon as it begins";

/// How far the changes of a resource are known, and how to request the next ones.
pub(super) struct Position {
    pub(super) connection: Connection,
    pub(super) path: String,
    /// All changes up to this resourceVersion are known.
    pub(super) version: String,
    /// Differs from that of the other watches, to spread their ends and retries.
    pub(super) number: usize,
    /// The requested format: protobuf, or JSON after the server has refused that.
    accept: &'static str,
}

/// An open stream.
pub(super) struct Line {
    stream: Stream,
    frames: Frames,
    begun: Instant,
    /// The version that it started from.
    from: String,
    /// Whether it has sent anything.
    heard: bool,
}

/// How a stream ended, or why it didn't start.
pub(super) struct End {
    /// Whether it sent anything, or lasted long enough ([`USEFUL`]).
    pub(super) useful: bool,
    pub(super) why: Why,
}

pub(super) enum Why {
    /// It ended normally.
    Over,
    /// It has sent nothing, not even a bookmark, for too long ([`SILENT`]).
    Silent,
    /// A list has told what it has not.
    HeldBack,
    /// The version is too old to continue from.
    Expired(String),
    Failed(Failure),
}

impl Position {
    /// All changes at this path up to this version are known.
    pub(super) fn new(connection: Connection, path: String, version: String, number: usize) -> Self {
        Position { connection, path, version, number, accept: METADATA }
    }

    /// Starts a stream of the changes after the position.
    pub(super) async fn begin(&mut self) -> Result<Line, End> {
        let seconds = LASTS + self.number * 7 % SPREAD;
        let (path, version) = (&self.path, &self.version);
        let url =
            format!("{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={seconds}");
        loop {
            let request = Request::builder().method(Method::GET).uri(&url).header(header::ACCEPT, self.accept);
            let begun = match request.body(Vec::new()) {
                Ok(request) => self.connection.stream(request, SILENT).await,
                Err(error) => Err(Failure::Malformed(error.to_string())),
            };
            return match begun {
                Ok(stream) => {
                    let frames = Frames::of(&stream.content_type);
                    Ok(Line { stream, frames, begun: Instant::now(), from: self.version.clone(), heard: false })
                }
                Err(failure) if failure.status() == Some(StatusCode::NOT_ACCEPTABLE) && self.accept != JSON => {
                    self.accept = JSON;
                    continue;
                }
                Err(Failure::Refused(refusal)) => Err(End { useful: false, why: Why::of_refusal(refusal) }),
                Err(failure) => Err(End { useful: false, why: Why::Failed(failure) }),
            };
        }
    }

    /// The next event of the stream: an object, and whether it was deleted. Cancel safe.
    pub(super) async fn next(&mut self, line: &mut Line) -> Result<(RawObject<'static>, bool), End> {
        self.read(line).await.map_err(|why| {
            let useful = self.version != line.from || line.begun.elapsed() >= USEFUL;
            match why {
                Why::Failed(Failure::TimedOut(_)) if useful && !line.heard => End { useful, why: Why::Silent },
                // The connection broke after the stream had worked for a while: the same as a normal end.
                Why::Failed(Failure::Interrupted(_) | Failure::TimedOut(_)) if useful => End { useful, why: Why::Over },
                why => End { useful, why },
            }
        })
    }

    async fn read(&mut self, line: &mut Line) -> Result<(RawObject<'static>, bool), Why> {
        let Line { stream, frames, heard, .. } = line;
        loop {
            while let Some(frame) = frames.next().map_err(|malformed| Why::Failed(malformed.into()))? {
                let (object, gone) = match frame {
                    Frame::There(object) => (object, false),
                    Frame::Gone(object) => (object, true),
                    Frame::UpTo(version) => {
                        self.version = version;
                        continue;
                    }
                    Frame::Failed(refusal) => return Err(Why::of_refusal(refusal)),
                };
                if !object.resource_version.is_empty() {
                    self.version = object.resource_version.clone().into_owned();
                }
                return Ok((object.into_owned(), gone));
            }
            if !stream.more(|data| frames.push(data)).await.map_err(Why::Failed)? {
                return Err(Why::Over);
            }
            *heard = true;
        }
    }
}

impl Why {
    fn of_refusal(refusal: Refusal) -> Self {
        match refusal.status {
            // The server no longer has the version to continue from.
            StatusCode::GONE => Why::Expired(refusal.to_string()),
            _ => Why::Failed(Failure::Refused(refusal)),
        }
    }
}

/// Whether retries are useless: forbidden, not served, or not watchable.
pub(super) fn is_final(failure: &Failure) -> bool {
    match failure {
        Failure::Refused(refusal) => {
            let passes = [
                StatusCode::TOO_MANY_REQUESTS,
                StatusCode::REQUEST_TIMEOUT,
                StatusCode::GONE,
                StatusCode::UNAUTHORIZED,
            ];
            refusal.status.is_client_error() && !passes.contains(&refusal.status)
        }
        Failure::InvalidName | Failure::Malformed(_) => true,
        Failure::Unconnected(_) | Failure::Interrupted(_) | Failure::TimedOut(_) | Failure::Credentials(_) => false,
    }
}
