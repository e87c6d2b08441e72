//! One watch, which restarts its stream when it ends.

use std::{sync::Arc, time::Duration};

use http::StatusCode;
use tokio::sync::Semaphore;

use crate::{
    cluster::{Connection, failure::Failure, request::METADATA_LIST, retry},
    model::{ObjectEvent, ResourceId},
};

use super::{
    LostWatch,
    inbox::Inbox,
    position::{End, Position, Why},
};

/// The longest pause before a new stream.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

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
}

impl Watch {
    /// Watches until retries are useless ([`is_final`]), or the task is aborted.
    pub(super) async fn run(mut self) {
        let mut tried = 0;
        loop {
            let End { useful, why } = self.follow().await;
            let pause = match why {
                Why::Over if useful => {
                    tried = 0;
                    continue;
                }
                Why::Over => retry::doubled(tried + 1),
                Why::Expired(reason) => match self.version_now().await {
                    Ok(version) => {
                        // The changes in between are lost; from here on none is.
                        self.position.version = version;
                        self.lose(reason, true);
                        continue;
                    }
                    Err(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                    Err(_) => retry::doubled(tried + 1),
                },
                Why::Failed(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                // Never gives up, however long the server is away: the caller decides how long to wait.
                Why::Failed(failure) => {
                    retry::pause_after(&failure, 1, true).unwrap_or_default().max(retry::doubled(tried + 1))
                }
            };
            tried += 1;
            tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
        }
    }

    /// Reports that changes were missed.
    pub(super) fn lose(&self, reason: String, watched: bool) {
        self.inbox.lose(LostWatch { resource: self.resource, namespace: self.namespace.clone(), reason, watched });
    }

    /// Reads one stream to its end.
    async fn follow(&mut self) -> End {
        let begun = {
            // The semaphore is never closed.
            let _beginning = self.beginning.acquire().await;
            self.position.begin().await
        };
        let mut line = match begun {
            Ok(line) => line,
            Err(end) => return end,
        };
        loop {
            match self.position.next(&mut line).await {
                Ok((object, gone)) => self.inbox.see(ObjectEvent { resource: self.resource, object, gone }),
                Err(end) => return end,
            }
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

/// Whether retries are useless: forbidden, not served, or not watchable.
fn is_final(failure: &Failure) -> bool {
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
