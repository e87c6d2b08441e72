//! One watch: begun, followed, and taken up again.

use std::{sync::Arc, time::Duration};

use http::{Method, Request, StatusCode, header};
use tokio::sync::Semaphore;

use crate::{
    cluster::{
        Connection,
        answer::Refusal,
        failure::Failure,
        request::{JSON, METADATA_LIST},
        retry,
    },
    model::{ResourceId, Sighting},
};

use super::{
    Lost,
    frames::{Frame, Frames},
    inbox::Inbox,
};

/// After how many seconds the server is to end a watch at the earliest, and over how many more the ends are spread, so that not all are
/// begun anew at the same time. Where nothing came for so long, a line may be dead without anybody noticing.
const LASTS: usize = 240;
const SPREAD: usize = 120;
/// How long after its time a watch may end that has fallen silent.
const OVERDUE: Duration = Duration::from_secs(30);
/// The longest pause between two tries to begin.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// A stream that ends sooner, without having said anything, was no use: the next one is not begun at once.
const USEFUL: Duration = Duration::from_secs(1);

/// One list's watch.
pub(super) struct Watch {
    pub(super) connection: Connection,
    pub(super) inbox: Arc<Inbox>,
    /// Limits how many begin at once.
    pub(super) beginning: Arc<Semaphore>,
    /// Tells it from the others.
    pub(super) number: usize,
    pub(super) resource: ResourceId,
    pub(super) namespace: Option<String>,
    pub(super) path: String,
    /// Everything up to this resourceVersion is known.
    pub(super) version: String,
    /// What is asked for: protobuf first, JSON from servers that have nothing else.
    pub(super) accept: &'static str,
}

/// How a stream ended.
enum End {
    /// As streams do; whether it had said anything, or lasted.
    Over {
        useful: bool,
    },
    /// The version is too old to go on from.
    Expired(String),
    Failed(Failure),
}

impl Watch {
    /// Watches until nobody may watch any more, or the task is ended.
    pub(super) async fn run(mut self) {
        let mut tried = 0;
        loop {
            let pause = match self.follow().await {
                End::Over { useful: true } => {
                    tried = 0;
                    continue;
                }
                End::Over { useful: false } => retry::doubled(tried + 1),
                End::Expired(reason) => match self.version_now().await {
                    Ok(version) => {
                        // Nothing is heard of what happened in between, but from here on there is no hole.
                        self.version = version;
                        self.lose(reason, true);
                        continue;
                    }
                    Err(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                    Err(_) => retry::doubled(tried + 1),
                },
                End::Failed(failure) if failure.status() == Some(StatusCode::NOT_ACCEPTABLE) && self.accept != JSON => {
                    self.accept = JSON;
                    continue;
                }
                End::Failed(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                // However long the server is away: whoever follows says how long to wait.
                End::Failed(failure) => retry::pause_after(&failure, 1, true).unwrap_or_default().max(retry::doubled(tried + 1)),
            };
            tried += 1;
            tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
        }
    }

    /// Says that track was lost.
    pub(super) fn lose(&self, reason: String, watched: bool) {
        self.inbox.lose(Lost { resource: self.resource, namespace: self.namespace.clone(), reason, watched });
    }

    /// Follows one stream to its end.
    async fn follow(&mut self) -> End {
        let begun = tokio::time::Instant::now();
        let before = self.version.clone();
        match self.take().await {
            Ok(Some(refusal)) if is_too_old(&refusal) => End::Expired(refusal.to_string()),
            Ok(Some(refusal)) => End::Failed(Failure::Refused(refusal)),
            Ok(None) => End::Over { useful: self.version != before || begun.elapsed() >= USEFUL },
            Err(Failure::Refused(refusal)) if is_too_old(&refusal) => End::Expired(refusal.to_string()),
            // It was followed for a while, and something has come between.
            Err(Failure::Interrupted(_) | Failure::TimedOut(_)) if self.version != before => End::Over { useful: true },
            Err(failure) => End::Failed(failure),
        }
    }

    /// Takes what one stream says. Returns the Status that it ended with, if any.
    async fn take(&mut self) -> Result<Option<Refusal>, Failure> {
        let seconds = LASTS + self.number * 7 % SPREAD;
        let (path, version) = (&self.path, &self.version);
        let url = format!("{path}?watch=true&allowWatchBookmarks=true&resourceVersion={version}&timeoutSeconds={seconds}");
        let request = Request::builder().method(Method::GET).uri(url).header(header::ACCEPT, self.accept);
        let request = request.body(Vec::new()).map_err(|error| Failure::Malformed(error.to_string()))?;
        let mut stream = {
            // Nobody closes it.
            let _beginning = self.beginning.acquire().await;
            self.connection.stream(request, Duration::from_secs(seconds as u64) + OVERDUE).await?
        };
        let mut frames = Frames::of(&stream.content_type);
        while stream.more(|data| frames.push(data)).await? {
            while let Some(frame) = frames.next()? {
                let (object, gone) = match frame {
                    Frame::There(object) => (object, false),
                    Frame::Gone(object) => (object, true),
                    Frame::UpTo(version) => {
                        self.version = version;
                        continue;
                    }
                    Frame::Failed(refusal) => return Ok(Some(refusal)),
                };
                if !object.resource_version.is_empty() {
                    self.version = object.resource_version.clone().into_owned();
                }
                self.inbox.see(Sighting { resource: self.resource, object: object.into_owned(), gone });
            }
        }
        Ok(None)
    }

    /// The version that the resource has now, without reading more than one of its objects.
    async fn version_now(&self) -> Result<String, Failure> {
        let answer = self.connection.get(&format!("{}?limit=1", self.path), METADATA_LIST).await?;
        let version = answer.read_list(|_| ())?.resource_version;
        if version.is_empty() { Err(Failure::Malformed("a list without its version".to_owned())) } else { Ok(version) }
    }
}

/// Whether the server doesn't know the version any more that it was to go on from.
fn is_too_old(refusal: &Refusal) -> bool {
    refusal.status == StatusCode::GONE
}

/// Whether trying again can't help: forbidden, not served, not to be watched.
fn is_final(failure: &Failure) -> bool {
    match failure {
        Failure::Refused(refusal) => {
            let passes = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT, StatusCode::GONE, StatusCode::UNAUTHORIZED];
            refusal.status.is_client_error() && !passes.contains(&refusal.status)
        }
        Failure::Malformed(_) => true,
        Failure::Unconnected(_) | Failure::Interrupted(_) | Failure::TimedOut(_) | Failure::Credentials(_) => false,
    }
}
