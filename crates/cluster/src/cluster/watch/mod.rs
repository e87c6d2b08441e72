//! Watches resources: one task for each, which tells its events in the order of the changes.
//!
//! [`Watches`] watch everything that a snapshot lists, each resource from the version of its list, so nothing is listed
//! a second time. [`Monitors`] follow resources for as long as the caller wants: they list each first, and again if its
//! watch can't continue. [`Discoveries`] tell what there is to follow.
//!
//! Guaranteed: the events of one resource are correct and in the order of the changes, and none is missing unless
//! [`WatchEvent::Lost`] or [`WatchEvent::Failing`] says so. Not guaranteed: that all past changes have already been
//! reported. Only a new list could tell: a watch is silent while nothing changes, bookmarks arrive about once a minute,
//! and the resourceVersion of one resource says nothing about another's stream. Usually the delay is milliseconds. To
//! be sure of an object's current state, request it ([`Connection::recheck`](super::Connection::recheck)).

mod frames;
mod inbox;
mod lists;
mod monitors;
#[cfg(test)]
mod monitors_tests;
mod position;
mod task;
#[cfg(test)]
mod tests;
mod watches;

use std::time::Instant;

use gc_core::model::RawObject;

pub use inbox::{LostWatch, WatchUpdates};
pub use monitors::{Discoveries, FollowChanges, Monitors};
pub use task::MonitorId;
pub use watches::Watches;

/// An event of a watched resource.
#[derive(Clone, Debug, PartialEq)]
pub enum WatchEvent {
    /// A list starts: the events from here to [`WatchEvent::Listed`] report all existing objects. If it starts again
    /// before that, ignore the events of the first attempt. Only [`Monitors`] pass on whole lists.
    Listing,
    /// An object has this state, or was deleted; then this is its last state. After the list, the first state of a new
    /// object names the manager that created it. Monitors leave out labels.
    Seen { object: Box<RawObject<'static>>, gone: bool },
    /// The list is complete: objects known before and not reported since it started are gone. From here on all changes
    /// are reported, and the resource is no longer failing.
    Listed,
    /// The resource can't be listed or watched for now, with the reason. Reported when the failure begins and, by
    /// monitors, when the reason changes, not for each try. It is retried, with longer and longer pauses.
    Failing { reason: String },
    /// The resource is watched again after [`WatchEvent::Failing`] or [`WatchEvent::Polled`], from where it was: no
    /// change is missed.
    Recovered,
    /// The resource can't be watched, with the reason, but lists are read again and again instead. All changes are
    /// known up to the last one, which began at this time; `None` before the first.
    Polled { reason: String, begun: Option<Instant> },
    /// Changes were missed, with the reason. Whether the watch continues from now on; if not, it never will. Only
    /// [`Watches`] lose changes.
    Lost { reason: String, watched: bool },
}
