//! Runs scenarios that mostly wait in parallel.

use std::{
    panic::{self, AssertUnwindSafe},
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Scenarios that run in parallel.
const AT_ONCE: usize = 6;

/// Runs scenarios in parallel, because each mostly waits; only those in `SCENARIO`, if it is set: names with commas
/// between them. Panics with the names of all that fail.
#[track_caller]
pub fn side_by_side(scenarios: &[(&'static str, fn())]) {
    let scenarios: Vec<_> = scenarios.iter().map(|(name, scenario)| (*name, move || scenario())).collect();
    play_all(&scenarios);
}

/// The same for scenarios that are called what their functions are.
macro_rules! side_by_side {
    ($($module:ident::$scenario:ident),* $(,)?) => {
        $crate::side_by_side::side_by_side(&[$((stringify!($scenario), $module::$scenario)),*])
    };
}

/// The same for scenarios that are closures.
#[track_caller]
pub fn play_all(scenarios: &[(&'static str, impl Fn() + Sync)]) {
    let only = std::env::var("SCENARIO").ok();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failed = Vec::new();
        while let Some((name, scenario)) = scenarios.get(next.fetch_add(1, Ordering::Relaxed)) {
            let wanted = only.as_deref().is_none_or(|only| only.split(',').any(|only| only == *name));
            // The panic message is already printed.
            if wanted && panic::catch_unwind(AssertUnwindSafe(scenario)).is_err() {
                failed.push(*name);
            }
        }
        failed
    };
    let failed: Vec<&str> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_default()).collect()
    });
    assert!(failed.is_empty(), "these failed, see above: {}", failed.join(", "));
}
