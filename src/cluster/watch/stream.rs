//! One watch: begun, followed, and taken up again.

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

/// The longest pause between two tries to begin.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// One list's watch.
pub(super) struct Watch {
    pub(super) connection: Connection,
    pub(super) inbox: Arc<Inbox>,
    /// Limits how many begin at once.
    pub(super) beginning: Arc<Semaphore>,
    pub(super) resource: ResourceId,
    pub(super) namespace: Option<String>,
    pub(super) path: String,
    pub(super) position: Position,
}

impl Watch {
    /// Watches until nobody may watch any more, or the task is ended.
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
                        // Nothing is heard of what happened in between, but from here on there is no hole.
                        self.position.version = version;
                        self.lose(reason, true);
                        continue;
                    }
                    Err(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                    Err(_) => retry::doubled(tried + 1),
                },
                Why::Failed(failure) if is_final(&failure) => return self.lose(failure.to_string(), false),
                // However long the server is away: whoever follows says how long to wait.
                Why::Failed(failure) => {
                    retry::pause_after(&failure, 1, true).unwrap_or_default().max(retry::doubled(tried + 1))
                }
            };
            tried += 1;
            tokio::time::sleep(pause.min(LONGEST_PAUSE)).await;
        }
    }

    /// Says that track was lost.
    pub(super) fn lose(&self, reason: String, watched: bool) {
        self.inbox.lose(LostWatch { resource: self.resource, namespace: self.namespace.clone(), reason, watched });
    }

    /// Follows one stream to its end.
    async fn follow(&mut self) -> End {
        let begun = {
            // Nobody closes it.
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

    /// The version that the resource has now, without reading more than one of its objects.
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

/// Whether trying again can't help: forbidden, not served, not to be watched.
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
