//! A place in what happens to one resource, and the streams that tell what comes after it: what everybody who watches
//! has in common.

use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use tokio::time::Instant;

use crate::{
    cluster::{
        Connection,
        answer::Refusal,
        failure::Failure,
        request::{JSON, METADATA, Stream},
    },
    model::RawObject,
};

use super::frames::{Frame, Frames};

/// After how many seconds the server is to end a watch at the earliest, and over how many more the ends are spread, so
/// that not all are begun anew at the same time. Where nothing came for so long, a line may be dead without anybody
/// noticing.
const LASTS: usize = 240;
const SPREAD: usize = 120;
/// How long after its time a watch may end that has fallen silent.
const OVERDUE: Duration = Duration::from_secs(30);
/// A stream that ends sooner, without having said anything, was no use: the next one is not begun at once.
pub(in crate::cluster) const USEFUL: Duration = Duration::from_secs(1);

/// How far a resource is known, and how it is asked what came after.
pub(in crate::cluster) struct Position {
    connection: Connection,
    path: String,
    /// Everything up to this resourceVersion is known.
    pub(in crate::cluster) version: String,
    /// Tells it from the others.
    number: usize,
    /// What is asked for: protobuf first, JSON from servers that have nothing else.
    accept: &'static str,
}

/// A stream that has begun.
pub(in crate::cluster) struct Line {
    stream: Stream,
    frames: Frames,
    begun: Instant,
    /// From where it was begun.
    from: String,
}

/// How a stream ended, or why none began.
pub(in crate::cluster) struct End {
    /// Whether it had said anything, or lasted.
    pub(in crate::cluster) useful: bool,
    pub(in crate::cluster) why: Why,
}

pub(in crate::cluster) enum Why {
    /// As streams do.
    Over,
    /// The version is too old to go on from.
    Expired(String),
    Failed(Failure),
}

impl Position {
    /// Everything is known of what is under this path up to this version.
    pub(in crate::cluster) fn new(connection: Connection, path: String, version: String, number: usize) -> Self {
        Position { connection, path, version, number, accept: METADATA }
    }

    /// Begins a stream of what comes after.
    pub(in crate::cluster) async fn begin(&mut self) -> Result<Line, End> {
        let seconds = LASTS + self.number * 7 % SPREAD;
        let (path, version) = (&self.path, &self.version);
        let url =
            format!("{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={seconds}");
        loop {
            let request = Request::builder().method(Method::GET).uri(&url).header(header::ACCEPT, self.accept);
            let begun = match request.body(Vec::new()) {
                Ok(request) => self.connection.stream(request, Duration::from_secs(seconds as u64) + OVERDUE).await,
                Err(error) => Err(Failure::Malformed(error.to_string())),
            };
            return match begun {
                Ok(stream) => {
                    let frames = Frames::of(&stream.content_type);
                    Ok(Line { stream, frames, begun: Instant::now(), from: self.version.clone() })
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

    /// What the stream says next: an object, and whether it is gone. Cancel safe.
    pub(in crate::cluster) async fn next(&mut self, line: &mut Line) -> Result<(RawObject<'static>, bool), End> {
        self.read(line).await.map_err(|why| {
            let useful = self.version != line.from || line.begun.elapsed() >= USEFUL;
            match why {
                // It was followed for a while, and something has come between.
                Why::Failed(Failure::Interrupted(_) | Failure::TimedOut(_)) if useful => End { useful, why: Why::Over },
                why => End { useful, why },
            }
        })
    }

    async fn read(&mut self, line: &mut Line) -> Result<(RawObject<'static>, bool), Why> {
        let Line { stream, frames, .. } = line;
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
        }
    }
}

impl Why {
    fn of_refusal(refusal: Refusal) -> Self {
        match refusal.status {
            // The server doesn't know the version any more that it was to go on from.
            StatusCode::GONE => Why::Expired(refusal.to_string()),
            _ => Why::Failed(Failure::Refused(refusal)),
        }
    }
}
