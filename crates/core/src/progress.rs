//! How far long work is. The work counts; whoever was told to [`show`] sees it begin and end, and reads the counters.
//! No result depends on it, so all threads share one count.

use std::sync::{
    OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

/// What may take long, and is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// Reads files, in bytes.
    Reading,
    /// Plays courses of events, in steps.
    Simulating,
    /// Reads whole objects for an archive, in objects.
    Archiving,
    /// Creates the objects of an archive again, in objects.
    Restoring,
    /// Waits before it looks whether a problem lasts, in seconds.
    LookingAgain,
}

/// Is told when work begins and ends, in the thread that works.
pub trait Show: Send + Sync {
    fn begins(&self, work: Work);
    fn ends(&self, work: Work);
}

static SHOWN: OnceLock<Box<dyn Show>> = OnceLock::new();
static DONE: AtomicU64 = AtomicU64::new(0);
static OF: AtomicU64 = AtomicU64::new(0);

/// Tells this one of all work from now on. The first one stays.
pub fn show(shown: Box<dyn Show>) {
    // Ignore a second one: what was asked for first is shown already.
    drop(SHOWN.set(shown));
}

/// Does long work.
pub fn during<T>(work: Work, doing: impl FnOnce() -> T) -> T {
    let Some(shown) = SHOWN.get() else { return doing() };
    DONE.store(0, Relaxed);
    OF.store(0, Relaxed);
    shown.begins(work);
    let ends = Ends(shown.as_ref(), work);
    let done = doing();
    drop(ends);
    done
}

/// Tells of the end, also if the work panics: a line on a terminal must not stay.
struct Ends(&'static dyn Show, Work);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.ends(self.1);
    }
}

/// So much more is done.
pub fn advance(more: u64) {
    DONE.fetch_add(more, Relaxed);
}

/// There is at most so much to do, with what is done.
pub fn expect(at_most: u64) {
    OF.store(at_most, Relaxed);
}

/// The same, where that takes work: it is done only if somebody sees it.
pub fn expect_with(at_most: impl FnOnce() -> u64) {
    if SHOWN.get().is_some() {
        expect(at_most());
    }
}

/// How much is done, and how much there is at most; 0 if unknown.
pub fn so_far() -> (u64, u64) {
    (DONE.load(Relaxed), OF.load(Relaxed))
}
