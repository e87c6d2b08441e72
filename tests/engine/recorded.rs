//! Replays what the real collector did with random graphs (`tests/engine/recorded`) against the engine.
//!
//! Records are written by `RECORD=FILE … random_graphs`, see `tests/cluster/differential`. An observed end must be the
//! plan's end or, if the order of events decides, one of the ends that the plan lists.

use std::{
    fmt::Write as _,
    fs,
    panic::resume_unwind,
    path::Path,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use crate::graphs::{
    end::{Changes, End},
    judge::{Prediction, Read, Verdict},
    record::{Record, Start},
    record_files,
};

/// The folder of the records. Records that replay slowly, because many orders of events must be simulated, are in its
/// subfolder.
pub const FOLDER: &str = "tests/engine/recorded";
const SLOW: &str = "tests/engine/recorded/slow";

/// Minimum number of records of each kind, so that a loss of records is noticed.
const RESTARTS: usize = 1850;
const DELETES: usize = 3130;
/// Minimum number of slow records.
const SLOW_ONES: usize = 39;

/// The result of replaying one record.
struct Replayed {
    place: usize,
    took: Duration,
    /// One for each end of the record.
    verdicts: Vec<Option<Verdict>>,
    wrong: String,
}

pub fn read(folder: &str) -> Vec<Record> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(&folder).unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()));
    let paths = files.map(|file| file.expect("a file of records").path());
    let mut paths: Vec<_> = paths.filter(|path| path.is_file()).collect();
    paths.sort();
    let records = |path: &Path| {
        record_files::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()))
    };
    paths.iter().flat_map(|path| records(path)).collect()
}

fn replay(place: usize, record: &Record) -> Replayed {
    let begun = Instant::now();
    let read = Read::new(&record.trial);
    let stage = read.stage();
    let predicted = Prediction::new(&stage, &record.trial.start);
    let mut wrong = String::new();
    let verdict = |(changes, _): &(Changes, u32)| {
        let end: End = changes.end(&record.trial.graph);
        let verdict = predicted.predicted(&end);
        if verdict.is_none() {
            let _ = writeln!(wrong, "{record}{}\n{}", predicted.differences(&end).join("\n"), record.row());
        }
        verdict
    };
    let verdicts = record.ends.iter().map(verdict).collect();
    Replayed { place, took: begun.elapsed(), verdicts, wrong }
}

/// Replays all records, on as many threads as there are processors.
fn replay_all(records: &[Record]) -> Vec<Replayed> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(record) = records.get(place) else { return done };
            done.push(replay(place, record));
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Every so many of the records are replayed in the quick tier.
pub const EVERY: usize = 6;

#[test]
fn what_the_real_collector_did_is_foretold() {
    all_are_foretold(&quick_ones().into_iter().step_by(EVERY).collect::<Vec<_>>());
}

#[test]
#[ignore = "long: all records"]
fn all_that_the_real_collector_did_is_foretold() {
    all_are_foretold(&quick_ones());
}

fn quick_ones() -> Vec<Record> {
    let records = read(FOLDER);
    let restarts = records.iter().filter(|record| record.trial.start == Start::Restarted).count();
    assert!(restarts >= RESTARTS, "only {restarts} records of starts");
    assert!(records.len() - restarts >= DELETES, "only {} records of deletes", records.len() - restarts);
    records
}

fn slow_ones() -> Vec<Record> {
    let records = read(SLOW);
    assert!(records.len() >= SLOW_ONES, "only {} records", records.len());
    records
}

#[test]
#[ignore = "long: plays many orders of events of each record"]
fn all_that_are_slow_to_replay_are_foretold_too() {
    all_are_foretold(&slow_ones());
}

/// Reading a written file gives the same records, compressed or not.
#[test]
fn files_keep_every_record() {
    let records = slow_ones();
    let folder = tempfile::tempdir().expect("a folder");
    for name in ["records.txt", "records.txt.gz"] {
        let path = folder.path().join(name);
        record_files::write(&path, &records).expect("it can be written");
        assert_eq!(record_files::read(&path).expect("it can be read"), records, "{name}");
    }
}

fn all_are_foretold(records: &[Record]) {
    assert!(records.iter().all(|record| !record.ends.is_empty()), "a record without an end says nothing");
    let begun = Instant::now();
    let mut replayed = replay_all(records);
    let took = begun.elapsed();
    replayed.sort_by_key(|done| std::cmp::Reverse(done.took));
    let count = |wanted: Option<Verdict>| {
        replayed.iter().flat_map(|done| &done.verdicts).filter(|verdict| **verdict == wanted).count()
    };
    println!(
        "{} records in {took:?}: {} ends as the plan says first, {} others that it names",
        records.len(),
        count(Some(Verdict::Exact)),
        count(Some(Verdict::Told)),
    );
    for done in replayed.iter().take(3) {
        println!("one of the slowest, in {:?}:\n{}", done.took, records[done.place]);
    }
    let wrong: String = replayed.iter().map(|done| done.wrong.as_str()).collect();
    assert!(wrong.is_empty(), "{} of {} are not as foretold:\n{wrong}", count(None), records.len());
}
