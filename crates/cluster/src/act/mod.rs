//! Everything that writes to a cluster; no other module does.
//!
//! Every write names its object's uid, so that it never hits a new object with the same name. Every error says what was
//! already written and is still there.

mod access;
mod delete;
#[cfg(test)]
mod delete_tests;
mod follow;
#[cfg(test)]
mod follow_tests;
mod hold;
mod keep;
#[cfg(test)]
mod keep_tests;
mod look;
mod owner_events;
#[cfg(test)]
mod owner_events_tests;
mod probe;
#[cfg(test)]
mod probe_tests;
mod request;
mod restore;
mod sweep;
mod update;

pub use access::{Access, Denied, Verdicts, review, user_name};
pub use delete::{Answered, Deletion, RefusalCause, Sent, delete};
pub use follow::{Ended, FollowEvent, Followed, Following, follow};
pub use hold::{Begun, HoldFailure, Holding, LetGo, Seen, StoredHold, TakeBack, go_on, hold};
pub use hold::{find_hold, list_holds, look};
pub use keep::{DetachedObject, KeepError, KeepFailure, Released, cut, put_back, release};
pub use look::{Polled, fetch};
pub use owner_events::record_invalid_owner;
pub use probe::{Probe, ProbeError, probe};
pub use restore::{Mode, restore};
pub use sweep::{
    CompletedWrite, Coverage, Failed, QueueName, Settings, SweepEvent, SweepObserver, SweepStatus, Sweeper, SyncStatus,
    What, keep_sweeping,
};
pub use update::unpatchable;
