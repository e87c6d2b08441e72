//! Every command over a line on which a seed decides which request meets which fault. A command may take longer, fail,
//! and say what it could not learn. It never crashes, hangs, deletes what it shouldn't, or says what isn't so.

use std::{
    collections::BTreeMap,
    env,
    ops::Range,
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use gc_cluster::archive::Archive;
use serde_json::Value;

use super::{
    going_on,
    scene::{OWNED, SWEPT, Scene, check},
};
use crate::{
    bench::number,
    harness::{Ran, Retry, poll, shared, uid},
    sweep::{seat::SweepSettings, uncollected},
};

/// How many seeds each tier tries.
const SOME: u64 = 17;
const MANY: u64 = 272;
/// Commands that run at once: most of them wait.
const AT_ONCE: usize = 10;

/// How long others may disturb a command, and how long after the last fault it may still heed a `Retry-After`: the
/// longest is a minute.
pub(super) const PATIENCE: Duration = Duration::from_mins(3);
/// How long commands that go on work under faults.
pub(super) const WHILE: Duration = Duration::from_secs(10);

/// One command, and what has to be so afterwards. Ok: whether the faults prevented it.
type Try = fn(u64) -> (Vec<String>, Result<Came, String>);

/// What came of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// It did all, and learned all.
    Whole,
    /// It said that something is missing, or failed.
    Less,
}

const COMMANDS: [(&str, Try); 17] = [
    ("tree", |seed| reading(seed, tree)),
    ("plan", |seed| reading(seed, |scene| same(scene, &["plan", "cm/owner", "-o", "json"], plan, goes_too))),
    ("doctor", |seed| {
        reading(seed, |scene| {
            same(scene, &["doctor", "-o", "json"], findings, |said, right| are_found_too(said, right))
        })
    }),
    ("explain", |seed| {
        reading(seed, |scene| same(scene, &["explain", "cm/shared", "-o", "json"], explained, next_is_right))
    }),
    ("snapshot", |seed| reading(seed, snapshot)),
    ("archive", |seed| reading(seed, archive)),
    ("resources", |seed| reading(seed, |scene| same(scene, &["resources", "-o", "json"], served, |_, _| false))),
    ("watch", |seed| on(Scene::build(shared(), seed, false), watch)),
    ("tree --watch", |seed| on(Scene::build(uncollected(), seed, true), going_on::tree_watch)),
    ("doctor --watch", |seed| on(Scene::build(uncollected(), seed, true), going_on::doctor_watch)),
    ("doctor --probe", |seed| on(Scene::build(uncollected(), seed, true), probe)),
    ("delete", |seed| deleting(seed, &[])),
    ("delete --archive", |seed| deleting(seed, &["--archive"])),
    ("delete --keep", |seed| deleting(seed, &["--keep", "cm/block"])),
    ("restore", |seed| on(Scene::build(uncollected(), seed, false), restore)),
    ("sweep", |seed| on(Scene::build(uncollected(), seed, true), sweep)),
    ("sweep --watch", |seed| on(Scene::build(uncollected(), seed, true), sweep_watch)),
];

/// robustness line: every command over a line on which a seed decides which request meets which fault: 429 and 503
///   with Retry-After, 5xx in HTML, connections that break before, in and after an answer, also after the write was
///   done, answers that are cut off, stall or drip, 410 between pages, other objects, documents and content types,
///   redirects, stale lists, watches that end, fall silent, repeat themselves or bring garbage; over HTTP/1.1, TLS that
///   ends without a goodbye, and HTTP/2 | {SOME} seeds, {MANY} in the long tier | no crash, no hang, no wrong delete,
///   nothing called absent that is there, no success and no complete document that isn't one, no half file
#[test]
fn commands_stand_a_faulty_line() {
    commands_stand(&COMMANDS, 0..SOME);
}

/// `SEEDS` seeds, from `SEED` on; of `COMMAND` alone, if that is set.
#[test]
#[ignore = "long: 272 seeds"]
fn commands_stand_a_faulty_line_for_long() {
    let first = number("SEED", 1000);
    let only = env::var("COMMAND").ok();
    let is_tried = |(name, _): &(&str, Try)| only.as_deref().is_none_or(|only| only == *name);
    let commands: Vec<(&str, Try)> = COMMANDS.into_iter().filter(is_tried).collect();
    assert!(!commands.is_empty(), "COMMAND={only:?} is none of them");
    commands_stand(&commands, first..first + number("SEEDS", MANY));
}

/// Tries each seed with one of the commands.
#[track_caller]
fn commands_stand(commands: &[(&'static str, Try)], seeds: Range<u64>) {
    let (next, struck, wrong) = (AtomicU64::new(seeds.start), AtomicUsize::new(0), Mutex::new(Vec::new()));
    let came = Mutex::new(BTreeMap::<&str, [usize; 2]>::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let (name, command) = commands[seed as usize % commands.len()];
                    let (faults, verdict) = command(seed);
                    struck.fetch_add(faults.len(), Ordering::Relaxed);
                    match verdict {
                        Ok(ended) => came.lock().unwrap().entry(name).or_default()[ended as usize] += 1,
                        Err(why) => {
                            let why = format!("SEED={seed} COMMAND={name:?}\n{}\n{why}", faults.join("\n"));
                            eprintln!("{why}\n");
                            wrong.lock().unwrap().push(why);
                        }
                    }
                }
            });
        }
    });
    let (wrong, came) = (wrong.into_inner().unwrap(), came.into_inner().unwrap());
    eprintln!("{struck:?} faults; how often each command did all, and less: {came:?}");
    assert!(wrong.is_empty(), "{} of {seeds:?}\n{}", wrong.len(), wrong.join("\n\n"));
    if seeds.end - seeds.start >= SOME {
        // Otherwise the faults prevent too much, or nothing.
        let [whole, less] = [0, 1].map(|came_of_it| came.values().map(|counts| counts[came_of_it]).sum::<usize>());
        assert!(struck.into_inner() > 0 && whole > 0 && less > 0, "{came:?}");
    }
}

fn on(scene: Scene<'_>, command: impl Fn(&Scene<'_>) -> Result<Came, String>) -> (Vec<String>, Result<Came, String>) {
    let verdict = command(&scene);
    (scene.faults.struck(), verdict)
}

/// A command that only reads.
fn reading(seed: u64, command: impl Fn(&Scene<'_>) -> Result<Came, String>) -> (Vec<String>, Result<Came, String>) {
    on(Scene::build(uncollected(), seed, true), |scene| {
        let came = command(scene)?;
        let nothing = Ran { code: None, stdout: String::new(), stderr: String::new() };
        scene.untouched_but(&[], &nothing)?;
        Ok(came)
    })
}

fn document_of(ran: &Ran) -> Option<Value> {
    serde_json::from_str(&ran.stdout).ok()
}

/// The document of a command that says that it is complete; none if it doesn't, or if the command failed.
pub(super) fn complete(ran: &Ran) -> Result<Option<Value>, String> {
    let Some(document) = document_of(ran) else {
        check(ran.code == Some(1) && !ran.stderr.is_empty(), "neither a document nor an error", ran)?;
        return Ok(None);
    };
    match document["complete"].as_bool() {
        Some(true) => Ok(Some(document)),
        Some(false) => {
            check(!document["gaps"].as_array().is_some_and(Vec::is_empty), "incomplete without a gap", ran)?;
            Ok(None)
        }
        None => Err(format!("no word on whether it is complete: {document}")),
    }
}

/// Every object is there, and only owners that are gone are absent.
fn tree(scene: &Scene<'_>) -> Result<Came, String> {
    let ran = scene.faulty(&["tree", "-o", "json"])?;
    let whole = complete(&ran)?;
    if let Some(document) = document_of(&ran) {
        tree_is_true(scene, &document, &ran)?;
    }
    Ok(if whole.is_some() { Came::Whole } else { Came::Less })
}

pub(super) fn tree_is_true(scene: &Scene<'_>, document: &Value, ran: &Ran) -> Result<(), String> {
    let there = scene.uids();
    if document["complete"] == true && !scene.faults.are_stale() {
        let nodes = document["nodes"].as_array().into_iter().flatten();
        let shown: Vec<&str> = nodes.filter_map(|node| node["uid"].as_str()).collect();
        let missing: Vec<&&str> = there.iter().filter(|uid| !shown.contains(uid)).collect();
        check(missing.is_empty(), &format!("a complete tree lacks {missing:?}"), ran)?;
    }
    for edge in document["edges"].as_array().into_iter().flatten() {
        let exists = edge["owner"].as_str().is_some_and(|owner| there.contains(owner));
        let found = ["Solid", "Waiting", "Unread"].iter().any(|verdict| edge["verdict"] == *verdict);
        check(found || !exists, &format!("it says of an owner that is there: {edge}"), ran)?;
    }
    Ok(())
}

/// What is said over a good line, complete in the scene's own namespace: others change the same cluster, in theirs.
pub(super) fn right(scene: &Scene<'_>, args: &[&str]) -> Result<Value, String> {
    let own = &scene.trial.namespace;
    let is_of_others =
        |gap: &Value| gap["namespace"].as_str().is_some_and(|namespace| !namespace.is_empty() && namespace != own);
    poll(PATIENCE, || {
        let good = scene.flawless(args).map_err(Retry::Never)?;
        complete(&good).map_err(Retry::Never)?;
        document_of(&good)
            .filter(|document| document["gaps"].as_array().is_some_and(|gaps| gaps.iter().all(is_of_others)))
            .ok_or_else(|| Retry::Later(format!("incomplete over a good line: {good:#?}")))
    })
}

/// A complete document says what it says over a good line. On stale lists it may say less: `may_be_stale` is given what
/// is said and what is right.
fn same<T: PartialEq + std::fmt::Debug>(
    scene: &Scene<'_>,
    args: &[&str],
    of: impl Fn(&Value, &str) -> T,
    may_be_stale: impl Fn(&T, &T) -> bool,
) -> Result<Came, String> {
    let ran = scene.faulty(args)?;
    let Some(document) = complete(&ran)? else { return Ok(Came::Less) };
    let right = right(scene, args)?;
    let [said, right] = [&document, &right].map(|document| of(document, &scene.trial.namespace));
    let true_of_then = scene.faults.are_stale() && may_be_stale(&said, &right);
    check(said == right || true_of_then, &format!("{said:?} instead of {right:?}"), &ran)?;
    Ok(Came::Whole)
}

/// The resources, and whether they are watched.
fn served(document: &Value, _: &str) -> Vec<String> {
    let resources = document["resources"].as_array().into_iter().flatten();
    let tell = |resource: &Value| {
        let fields = ["group", "version", "name", "watched"].map(|field| resource[field].to_string());
        fields.join(" ")
    };
    resources.map(tell).collect()
}

/// What is said to be gone is gone, and the end is the owner's end.
fn watch(scene: &Scene<'_>) -> Result<Came, String> {
    scene.trial.cluster.settled();
    let ran = scene.watch_of_a_delete()?;
    let now = scene.untouched_but(&[&OWNED[..], &["shared"]].concat(), &ran)?;
    let there: Vec<&str> = now.values().map(uid).collect();
    for line in ran.stdout.lines() {
        let event: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let gone = event["type"] == "Gone" && event["object"]["uid"].as_str().is_some_and(|uid| there.contains(&uid));
        check(!gone, &format!("it is not gone: {event}"), &ran)?;
    }
    check(ran.code != Some(0) || !now.contains_key("owner"), "it ended before the owner", &ran)?;
    Ok(if ran.code == Some(0) { Came::Whole } else { Came::Less })
}

/// The outcome of each object.
fn plan(document: &Value, _: &str) -> BTreeMap<String, Value> {
    let outcomes = document["outcomes"].as_array().into_iter().flatten();
    outcomes.map(|outcome| (outcome["object"]["uid"].to_string(), outcome["outcome"].clone())).collect()
}

/// Whether everything that is said to go goes.
fn goes_too(said: &BTreeMap<String, Value>, right: &BTreeMap<String, Value>) -> bool {
    let mut gone = said.iter().filter(|(_, outcome)| **outcome == "Deleted");
    gone.all(|(uid, _)| right.get(uid).is_some_and(|outcome| *outcome == "Deleted"))
}

/// The codes of the findings, with the uids of objects in this namespace.
pub(super) fn findings(document: &Value, namespace: &str) -> Vec<(String, String)> {
    let findings = document["findings"].as_array().into_iter().flatten();
    let mut found: Vec<(String, String)> = findings
        .flat_map(|finding| {
            let subjects = finding["subjects"].as_array().into_iter().flatten();
            let own = subjects.filter(move |subject| subject["namespace"] == namespace);
            own.map(|subject| (finding["code"].to_string(), subject["name"].to_string()))
        })
        .collect();
    found.sort();
    found
}

/// No collector runs here, and none is said to. What the probe could not remove is named.
fn probe(scene: &Scene<'_>) -> Result<Came, String> {
    let ran = scene.faulty(&["doctor", "--probe", "-o", "json"])?;
    let runs = document_of(&ran).map(|document| document["collectorRuns"].clone());
    check(runs != Some(Value::Bool(true)), "a collector that does not run is seen", &ran)?;
    let now = scene.now();
    let unsaid: Vec<&String> = scene.newcomers(&now).filter(|name| !ran.stderr.contains(*name)).collect();
    check(unsaid.is_empty(), &format!("it does not say that it left {unsaid:?}"), &ran)?;
    scene.unchanged_but(&[], &now, &ran)?;
    Ok(if runs == Some(Value::Bool(false)) { Came::Whole } else { Came::Less })
}

/// Whether everything that is found is so.
pub(super) fn are_found_too(said: &[(String, String)], right: &[(String, String)]) -> bool {
    said.iter().all(|finding| right.contains(finding))
}

/// All but where and when it was read.
fn explained(document: &Value, _: &str) -> Value {
    let mut document = document.clone();
    if let Some(fields) = document.as_object_mut() {
        fields.remove("read");
    }
    document
}

/// Whether what happens next, and why, is right.
fn next_is_right(said: &Value, right: &Value) -> bool {
    ["/explanations/0/next", "/explanations/0/references"].iter().all(|part| said.pointer(part) == right.pointer(part))
}

/// The file is absent, or whole: it tells what the cluster tells.
fn snapshot(scene: &Scene<'_>) -> Result<Came, String> {
    let file = scene.file("snapshot.json");
    let path = file.to_str().expect("UTF-8");
    let ran = scene.faulty(&["snapshot", "-o", path])?;
    check(scene.files().len() == usize::from(file.exists()), "a file is left over", &ran)?;
    check(file.exists() == (ran.code == Some(0)), "a snapshot without success, or success without one", &ran)?;
    if !file.exists() {
        return Ok(Came::Less);
    }
    let read = scene.flawless(&["tree", "-o", "json", "--from", path])?;
    check(read.code == Some(0), "the snapshot can't be read", &read)?;
    let document = read.json();
    tree_is_true(scene, &document, &read)?;
    Ok(if document["complete"] == true { Came::Whole } else { Came::Less })
}

/// The file is absent, or whole.
fn archive(scene: &Scene<'_>) -> Result<Came, String> {
    let file = scene.file("archive.yaml");
    let ran = scene.faulty(&["archive", "cm/owner", file.to_str().expect("UTF-8")])?;
    check(file.exists() == (ran.code == Some(0)), "an archive without success, or success without one", &ran)?;
    // It has what the lists have.
    if !scene.faults.are_stale() {
        archive_is_whole(scene, &ran)?;
    }
    Ok(if file.exists() { Came::Whole } else { Came::Less })
}

/// An archive is absent, or contains exactly what a delete removes, as it is.
fn archive_is_whole(scene: &Scene<'_>, ran: &Ran) -> Result<(), String> {
    let file = scene.file("archive.yaml");
    check(scene.files().len() == usize::from(file.exists()), "a file is left over", ran)?;
    if !file.exists() {
        return Ok(());
    }
    let broken = |error: &dyn std::fmt::Display| format!("the archive is broken: {error}: {ran:#?}");
    let archive = Archive::open(&file).map_err(|error| broken(&error))?;
    let objects = archive.objects().map_err(|error| broken(&error))?;
    let objects: Vec<Value> = objects.collect::<Result<_, _>>().map_err(|error| broken(&error))?;
    let mut names: Vec<&str> = objects.iter().filter_map(|object| object["metadata"]["name"].as_str()).collect();
    let mut expected = OWNED.to_vec();
    names.sort_unstable();
    expected.sort_unstable();
    check(names == expected, &format!("the archive has {names:?}"), ran)?;
    for object in &objects {
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        check(uid(object) == uid(&scene.before[name]), &format!("the archive's {name} is another"), ran)?;
    }
    Ok(())
}

/// `options`: further ones, such as `--archive`, or what is kept.
fn deleting(seed: u64, options: &[&str]) -> (Vec<String>, Result<Came, String>) {
    on(Scene::build(shared(), seed, false), |scene| {
        // The collector has to know what it will collect.
        scene.trial.cluster.settled();
        let file = scene.file("archive.yaml");
        let (archives, keeps) = (options.contains(&"--archive"), options.contains(&"--keep"));
        let mut args = [&["delete", "cm/owner", "--yes", "--timeout=20s"], options].concat();
        if archives {
            args.push(file.to_str().expect("UTF-8"));
        }
        let ran = scene.faulty(&args)?;
        let now = scene.untouched_but(&[&OWNED[..], &["shared"]].concat(), &ran)?;
        let is_there = |name: &str| now.get(name).is_some_and(|it| uid(it) == uid(&scene.before[name]));
        let goes: &[&str] = if keeps { &["owner", "part"] } else { &OWNED };
        let left: Vec<&str> = goes.iter().copied().filter(|name| now.contains_key(*name)).collect();
        check(is_there("shared"), "shared is gone", &ran)?;
        check(!keeps || is_there("block") && is_there("below"), "what is kept is gone", &ran)?;
        check(ran.code != Some(0) || left.is_empty(), &format!("success, with {left:?} left"), &ran)?;
        let begun = now.get("owner").is_none_or(|owner| !owner["metadata"]["deletionTimestamp"].is_null());
        check(!(begun && ran.stderr.contains("nothing was deleted")), "something was deleted", &ran)?;
        if archives {
            check(!begun || file.exists(), "deleted without an archive", &ran)?;
            archive_is_whole(scene, &ran)?;
        }
        Ok(if ran.code == Some(0) { Came::Whole } else { Came::Less })
    })
}

/// After a success, everything is back. After a failure, another run over a good line does the rest.
fn restore(scene: &Scene<'_>) -> Result<Came, String> {
    let (cluster, file) = (scene.trial.cluster, scene.file("archive.yaml"));
    let path = file.to_str().expect("UTF-8");
    let archived = scene.flawless(&["archive", "cm/owner", path])?;
    check(archived.code == Some(0), "it can't be archived over a good line", &archived)?;
    for name in OWNED {
        cluster.delete(&cluster.path_of(&scene.before[name]), Some("Background"), None);
    }
    let args = ["restore", path, "--yes", "-o", "json"];
    let ran = scene.faulty(&args)?;
    if ran.code == Some(0) {
        is_back(scene, &ran)?;
    } else {
        scene.untouched_but(&OWNED, &ran)?;
    }
    let again = scene.flawless(&args)?;
    check(again.code == Some(0), &format!("it can't be finished after this: {ran:#?}\n"), &again)?;
    is_back(scene, &again)?;
    Ok(if ran.code == Some(0) { Came::Whole } else { Came::Less })
}

/// Everything that was archived is there again, below the new owners.
pub(super) fn is_back(scene: &Scene<'_>, ran: &Ran) -> Result<(), String> {
    let now = scene.untouched_but(&OWNED, ran)?;
    for (name, owner) in [("owner", None), ("part", Some("owner")), ("block", Some("owner")), ("below", Some("block"))]
    {
        let Some(object) = now.get(name) else { return check(false, &format!("{name} is not back"), ran) };
        let named = &object["metadata"]["ownerReferences"][0]["uid"];
        let right = owner.is_none_or(|owner| now.get(owner).is_some_and(|owner| *named == uid(owner)));
        check(right, &format!("{name} has lost its owner: {object}"), ran)?;
    }
    Ok(())
}

fn sweep(scene: &Scene<'_>) -> Result<Came, String> {
    let ran = scene.faulty(&["sweep", "--yes", "--timeout=20s"])?;
    // On stale lists, there may be nothing to do.
    is_swept(scene, ran.code == Some(0) && !scene.faults.are_stale(), &ran)?;
    let again = scene.flawless(&["sweep", "--yes"])?;
    check(again.code == Some(0), &format!("it can't be finished after this: {ran:#?}\n"), &again)?;
    is_swept(scene, true, &again)?;
    Ok(if ran.code == Some(0) { Came::Whole } else { Came::Less })
}

/// It works under faults for a while, and afterwards over a good line it does all that the collector would do.
fn sweep_watch(scene: &Scene<'_>) -> Result<Came, String> {
    let sweeping = scene.sweeping();
    let ran = |sweeping: &SweepSettings| Ran {
        code: sweeping.process().ended().and_then(|status| status.code()),
        stdout: sweeping.said(),
        stderr: String::new(),
    };
    let swept = |sweeping: &SweepSettings| {
        let ran = ran(sweeping);
        is_swept(scene, true, &ran)
            .map_err(|why| if ran.code.is_some() { Retry::Never(why) } else { Retry::Later(why) })
    };
    // Faults end the wait for the end, not the work.
    let early = poll(WHILE, || swept(&sweeping)).is_ok();
    is_swept(scene, false, &ran(&sweeping))?;
    if sweeping.process().ended().is_some() {
        // Without discovery it can't begin.
        let ran = ran(&sweeping);
        check(ran.code == Some(1) && ran.stdout.contains("error: "), "it ended without an error", &ran)?;
        return Ok(Came::Less);
    }
    scene.mend();
    poll(PATIENCE, || swept(&sweeping))?;
    let said = sweeping.said();
    sweeping.terminate();
    let ran = Ran { code: Some(0), stdout: said, stderr: String::new() };
    check(!ran.stdout.contains("panicked"), "it crashed", &ran)?;
    Ok(if early { Came::Whole } else { Came::Less })
}

/// Only what has to go is gone, or all of it; and an owner goes after its dependents are free. On stale lists only what
/// docs/sweep.md promises of them: what has an owner that exists stays.
pub(super) fn is_swept(scene: &Scene<'_>, all: bool, ran: &Ran) -> Result<(), String> {
    let now = scene.untouched_but(&[&SWEPT[..], &["freed", "half"]].concat(), ran)?;
    let half = now.get("half").filter(|half| uid(half) == uid(&scene.before["half"]));
    let owners = half.and_then(|half| half["metadata"]["ownerReferences"].as_array());
    let keeper = uid(&scene.before["keeper"]);
    let is_kept = owners.is_some_and(|owners| owners.iter().any(|owner| owner["uid"] == keeper));
    check(is_kept, "an owner that exists keeps its dependent no more", ran)?;
    check(!all || owners.is_some_and(|owners| owners.len() == 1), "success, with a reference to nothing", ran)?;
    let left: Vec<&str> = SWEPT.into_iter().filter(|name| now.contains_key(*name)).collect();
    check(!all || left.is_empty(), &format!("success, with {left:?} left"), ran)?;
    if scene.faults.are_stale() {
        return Ok(());
    }
    let freed = now.get("freed").filter(|freed| uid(freed) == uid(&scene.before["freed"]));
    let free = freed.is_some_and(|freed| freed["metadata"]["ownerReferences"].is_null());
    check(freed.is_some(), "the freed one is gone", ran)?;
    check(free || now.contains_key("leaving"), "an owner went before its dependent was free", ran)?;
    check(now.contains_key("waiting") || !now.contains_key("first"), "an owner went before its dependent", ran)
}
