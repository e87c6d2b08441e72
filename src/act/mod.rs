//! All that writes to a cluster, and nothing else does.
//!
//! Every write says which object it means by its uid, so that it never hits another that has taken the name meanwhile,
//! and every error says what was written by then and is still there.

mod access;
mod delete;
#[cfg(test)]
mod delete_tests;
mod follow;
#[cfg(test)]
mod follow_tests;
mod keep;
#[cfg(test)]
mod keep_tests;
mod look;
mod owner_events;
mod probe;
#[cfg(test)]
mod probe_tests;
mod request;
mod restore;
mod sweep;
mod update;

pub use access::{Access, Denied, Verdicts, review};
pub use delete::{Answered, Deletion, Sent, delete};
pub use follow::{Ended, FollowEvent, Followed, Following, follow};
pub use keep::{DetachedObject, KeepError, KeepFailure, Released, cut, put_back, release};
pub use owner_events::OwnerEventRecorder;
pub use probe::{Probe, ProbeError, probe, probe_until};
pub use restore::{Mode, restore};
pub use sweep::{
    CompletedWrite, Failed, QueueName, Settings, SweepObserver, SweepStatus, Sweeper, SyncStatus, WatchObserver, What,
    WriteFailure, keep_sweeping,
};
