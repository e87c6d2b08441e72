//! The bench of all suites that build many cases on a real cluster, predict, act, wait until all is at rest, and
//! compare the end with the predictions. A suite describes its [`World`], what is predicted for a case
//! ([`Prediction`]), and what is wrong ([`Verdict`]).

mod fence;
mod objects;

use std::{
    env,
    fmt::{Debug, Display},
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

pub use fence::Fence;
pub use objects::Objects;

/// Cases that are built, predicted, deleted and compared at once.
const THREADS: usize = 6;
/// A cluster that changes for longer never comes to rest. Generous: the pod garbage collector waits for a minute.
const REST: Duration = Duration::from_mins(10);
/// How many lines of a change that doesn't end are printed.
const LINES: usize = 40;

/// How long to wait at least for an end that was predicted and doesn't come.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A cluster, and who acts on it.
pub trait World {
    /// All that is compared.
    type Seen: PartialEq + Debug + Sync;

    /// Everything as it is now.
    fn look(&self) -> Self::Seen;

    /// Waits until nobody has anything in its queues.
    fn settle(&self);

    /// Waits until everybody who acts has seen all that was written before, and has done what that asks for.
    fn fence(&self);

    /// How long whoever acts may pause before trying again what has failed (R2.9).
    fn longest_pause(&self) -> Duration;
}

/// What is predicted for one case.
pub trait Prediction<S>: Sync {
    /// The end of this case, compared with the prediction.
    type Report: Send;

    /// Whether it ended as predicted.
    fn is_told(&self, seen: &S) -> bool;

    fn report(&self, seen: &S) -> Self::Report;
}

/// The end of one case, compared with the prediction. Its text says all that is needed to play it again.
pub trait Verdict: Display + Sized {
    fn is_wrong(&self) -> bool;

    /// Sums up reports.
    fn figures(reports: &[Self]) -> String;
}

/// Acts, waits until all is at rest, and compares. If something is not as predicted, waits until it is: so long at
/// least, and as long as a pause may last.
pub fn play<W: World, P: Prediction<W::Seen>>(
    world: &W,
    predicted: &[P],
    patience: Duration,
    act: impl FnOnce(),
) -> (W::Seen, Vec<P::Report>) {
    act();
    let (begun, patience) = (Instant::now(), patience.max(world.longest_pause()));
    let after = loop {
        let seen = at_rest(world);
        let told = || side_by_side(predicted, |one| one.is_told(&seen)).into_iter().all(|is_told| is_told);
        if begun.elapsed() >= patience || told() {
            break seen;
        }
    };
    let reports = side_by_side(predicted, |one| one.report(&after));
    (after, reports)
}

/// Waits until nothing is left to do: two looks are the same, and between them everybody has done what the first asks
/// for.
#[track_caller]
pub fn at_rest<W: World>(world: &W) -> W::Seen {
    let (begun, mut seen) = (Instant::now(), None);
    loop {
        world.settle();
        let now = world.look();
        if seen.as_ref() == Some(&now) {
            return now;
        }
        if begun.elapsed() > REST {
            let (was, is) = (format!("{seen:#?}"), format!("{now:#?}"));
            let new: Vec<&str> = is.lines().filter(|line| !was.contains(line.trim())).take(LINES).collect();
            panic!("it changes for more than {REST:?}:\n{}", new.join("\n"));
        }
        seen = Some(now);
        world.fence();
    }
}

/// Runs cases in batches, and prints what is wrong as soon as it is known. Returns all reports.
pub fn in_batches<C, V: Verdict>(name: &str, cases: &[C], size: usize, mut run: impl FnMut(&[C]) -> Vec<V>) -> Vec<V> {
    let (begun, mut all) = (Instant::now(), Vec::new());
    for (number, batch) in cases.chunks(size).enumerate() {
        let reports = run(batch);
        reports.iter().filter(|report| report.is_wrong()).for_each(|report| println!("{report}"));
        all.extend(reports);
        let done = number * size + batch.len();
        println!("{name}, {done} cases, {} s\n  {}", begun.elapsed().as_secs(), V::figures(&all));
    }
    all
}

/// Fails if anything was wrong. [`in_batches`] has printed it.
#[track_caller]
pub fn none_is_wrong<'v, V: Verdict + 'v>(reports: impl IntoIterator<Item = &'v V>) {
    let verdicts: Vec<bool> = reports.into_iter().map(Verdict::is_wrong).collect();
    let wrong = verdicts.iter().filter(|wrong| **wrong).count();
    assert_eq!(wrong, 0, "{wrong} of {} are not as foretold; see above", verdicts.len());
}

/// A number from the environment.
pub fn number(name: &str, otherwise: u64) -> u64 {
    env::var(name)
        .ok()
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is not a number")))
}

/// Calls `work` for every item, several at a time; the results are in the items' order.
pub fn side_by_side<'i, T: Sync, R: Send>(items: &'i [T], work: impl Fn(&'i T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(place) else { return done };
            done.push((place, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS).map(|_| scope.spawn(worker)).collect();
        let done = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done.flatten().collect()
    });
    all.sort_by_key(|(place, _)| *place);
    all.into_iter().map(|(_, result)| result).collect()
}
