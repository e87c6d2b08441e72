//! One watch, which restarts its stream when it ends.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::{
    cluster::{Connection, failure::Failure, request::METADATA_LIST, retry},
    model::{ObjectEvent, RawObject, ResourceId},
};

use super::{
    Coverage, LostWatch,
    inbox::Inbox,
    lists::Lists,
    position::{End, Line, Position, USEFUL, Why, is_final},
};

/// A server that has not begun to answer by then counts as failing, if lists can take the watch's place.
const LONGEST_BEGINNING: Duration = Duration::from_secs(10);

/// An object, and whether it was deleted; or how the stream ended.
type Next = Result<(RawObject<'static>, bool), End>;

/// One list's watch.
pub(super) struct Watch {
    pub(super) connection: Connection,
    pub(super) inbox: Arc<Inbox>,
    /// Limits how many watches start at once.
    pub(super) beginning: Arc<Semaphore>,
    pub(super) resource: ResourceId,
    pub(super) namespace: Option<String>,
    pub(super) path: String,
    pub(super) position: Position,
    /// How to list the resource again where its watch fails, if it is to be.
    pub(super) lists: Option<Lists>,
    /// Whether the last stream failed, and the next one has not shown yet that it works.
    pub(super) down: bool,
    /// Whether it has begun, or failed to.
    pub(super) has_begun: bool,
    /// Whether lists have told what the watch, while it was open, has not.
    pub(super) is_silent: bool,
}

impl Watch {
    /// Watches until retries are useless ([`is_final`]), or the task is aborted. With [`Watch::lists`] it never ends.
    pub(super) async fn run(mut self) {
        if self.lists.is_some() {
            return self.run_or_list().await;
        }
        let mut tried = 0;
        loop {
            let End { useful, why } = self.follow().await;
            let failure = match why {
                Why::Over | Why::Silent if useful => {
                    tried = 0;
                    continue;
                }
                Why::Over | Why::Silent => None,
                Why::Expired(reason) => match self.version_now().await {
                    Ok(version) => {
                        // The changes in between are lost; from here on none is.
                        self.position.version = version;
                        self.lose(reason, true);
                        continue;
                    }
                    Err(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                    Err(failure) => Some(failure),
                },
                Why::Failed(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                // Never gives up, however long the server is away: the caller decides how long to wait.
                Why::Failed(failure) => Some(failure),
            };
            tried += 1;
            sleep(retry::pause_for_ever(failure.as_ref(), tried, self.position.number)).await;
        }
    }

    /// Reports that changes were missed.
    pub(super) fn lose(&self, reason: String, watched: bool) {
        self.inbox.lose(LostWatch { resource: self.resource, namespace: self.namespace.clone(), reason, watched });
    }

    /// Reads one stream to its end.
    pub(super) async fn follow(&mut self) -> End {
        let Watch { beginning, position, lists, down, .. } = self;
        let asked = Instant::now();
        let begin = async {
            // The semaphore is never closed.
            let _beginning = beginning.acquire().await;
            position.begin().await
        };
        let never_began = || {
            let failure = Failure::TimedOut(asked.elapsed());
            Err(End { useful: false, why: Why::Failed(failure) })
        };
        let begun = match lists {
            None => begin.await,
            // A server may never answer. Whoever wants to know what is there doesn't wait for that.
            Some(lists) => {
                let wished = async {
                    sleep(USEFUL).await;
                    lists.wished().await;
                };
                tokio::select! {
                    begun = begin => begun,
                    () = wished, if *down => never_began(),
                    () = sleep(LONGEST_BEGINNING) => never_began(),
                }
            }
        };
        if !std::mem::replace(&mut self.has_begun, true) {
            self.inbox.begin();
        }
        let mut line = match begun {
            Ok(line) => line,
            Err(end) => return end,
        };
        loop {
            let next = match self.down {
                false => match self.next_or_doubt(&mut line).await {
                    None if self.list_tells_more().await => {
                        // What the list tells may be on its way.
                        let Ok(next) = timeout(USEFUL, self.position.next(&mut line)).await else {
                            self.is_silent = true;
                            return End { useful: false, why: Why::Over };
                        };
                        Some(next)
                    }
                    None => continue,
                    next => next,
                },
                // A new stream may end with an error at once.
                true => timeout(USEFUL, self.position.next(&mut line)).await.ok(),
            };
            if let Some(Err(end)) = next {
                return end;
            }
            if std::mem::take(&mut self.down) {
                self.inbox.cover(self.resource, self.namespace.as_deref(), Coverage::Watched);
            }
            if let Some(Ok((object, gone))) = next {
                if let Some(lists) = &mut self.lists {
                    lists.see(&object, gone);
                }
                self.inbox.see(ObjectEvent { resource: self.resource, object, gone });
            }
        }
    }

    /// The next event, or none if the watch has to show first that it works.
    async fn next_or_doubt(&mut self, line: &mut Line) -> Option<Next> {
        let Watch { position, lists, .. } = self;
        let Some(lists) = lists else { return Some(position.next(line).await) };
        tokio::select! {
            next = position.next(line) => Some(next),
            () = lists.doubted() => None,
        }
    }

    /// The current resourceVersion of the resource, read with at most one object.
    async fn version_now(&self) -> Result<String, Failure> {
        let answer = self.connection.get(&format!("{}?limit=1", self.path), METADATA_LIST).await?;
        let version = answer.read_list(|_| ())?.resource_version;
        if version.is_empty() {
            Err(Failure::Malformed("a list without a resourceVersion".to_owned()))
        } else {
            Ok(version)
        }
    }
}
