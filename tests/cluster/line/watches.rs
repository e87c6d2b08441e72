//! Sweeps where watches fail: lists tell what they don't.

use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use serde_json::Value;

use crate::{
    harness::{CountingProxy, Fault, PATIENCE, Request, Spoilt},
    plan::trial::Trial,
    sweep::{seat::SweepSettings, uncollected},
};

/// How many lists are answered with 429: that takes more than ten seconds.
const BUSY: usize = 6;
/// Between two lists that take a watch's place are half a minute at most, and between two discoveries two seconds or
/// more.
const TICKS: usize = 20;

/// The ways in which each watch fails.
fn failures() -> [(&'static str, Fault); 5] {
    let of_json = vec![("content-type", "application/json")];
    [
        ("forbidden", Fault::status(403, "Forbidden")),
        ("404", Fault::status(404, "NotFound")),
        ("405", Fault::status(405, "MethodNotAllowed")),
        ("500", Fault::status(500, "InternalError")),
        ("the watch ends as soon as it begins", Fault::Raw { status: 200, headers: of_json, body: "" }),
    ]
}

/// Tries all of them at once: they mostly wait.
fn each_failure(each: impl Fn(usize, &'static str, Fault) + Sync) {
    thread::scope(|scope| {
        for (number, (reason, fault)) in failures().into_iter().enumerate() {
            let each = &each;
            scope.spawn(move || each(number, reason, fault));
        }
    });
}

fn is_watch(request: &Request) -> bool {
    request.query.contains("watch=")
}

/// What a sweep has to do in several steps: a chain, an owner that lets its dependent go, and one that waits for its.
struct Chain<'c> {
    trial: Trial<'c>,
    goes: Vec<String>,
    freed: String,
    stays: Value,
}

impl Chain<'_> {
    #[track_caller]
    fn build(name: &str) -> Self {
        let trial = Trial::on(uncollected(), name, "Background");
        let lost = trial.config_map("lost").owned_by(&trial.gone("gone")).create();
        let below = trial.widget("below").owned_by(&lost).create();
        let last = trial.config_map("last").owned_by(&below).create();
        let leaving = trial.config_map("leaving").create();
        let freed = trial.widget("freed").blocking(&leaving).create();
        let waiting = trial.widget("waiting").create();
        let first = trial.config_map("first").blocking(&waiting).create();
        let stays = trial.config_map("stays").owned_by(&trial.config_map("keeper").create()).create();
        let cluster = trial.cluster;
        cluster.delete(&cluster.path_of(&leaving), Some("Orphan"), None);
        cluster.delete(&cluster.path_of(&waiting), Some("Foreground"), None);
        let goes = [&lost, &below, &last, &leaving, &waiting, &first].map(|object| cluster.path_of(object)).to_vec();
        Chain { freed: cluster.path_of(&freed), goes, stays, trial }
    }

    fn is_swept(&self) -> bool {
        self.goes.iter().all(|path| self.trial.cluster.get(path).is_none())
    }

    #[track_caller]
    fn check(&self, why: &str) {
        let cluster = self.trial.cluster;
        let left: Vec<&String> = self.goes.iter().filter(|path| cluster.get(path).is_some()).collect();
        assert!(left.is_empty(), "{why}: {left:?}");
        let freed = cluster.get(&self.freed).expect("the freed one stays");
        assert_eq!(freed["metadata"]["ownerReferences"], Value::Null, "{why}");
        assert_eq!(cluster.get(&cluster.path_of(&self.stays)).as_ref(), Some(&self.stays), "{why}");
    }
}

/// robustness line: a pass of `sweep` in which each watch is refused (403, 404, 405), fails or ends at once | each way
///   | it looks again by lists, does all, and says in one line that and why
#[test]
fn a_pass_does_without_watches() {
    each_failure(|number, reason, fault| {
        let chain = Chain::build(&format!("line-unwatched-{number}"));
        let trial = &chain.trial;
        let proxy = CountingProxy::start(trial.cluster);
        proxy.with(move |request| is_watch(request).then(|| fault.clone()));
        let ran = trial.cluster.gc_with(proxy.kubeconfig(), &["sweep", "--yes", "-n", &trial.namespace]).ended(0);
        chain.check(reason);
        let said: Vec<&str> = ran.stderr.lines().filter(|said| said.starts_with("Cannot watch ")).collect();
        assert!(said.len() == 1 && said[0].contains(reason), "{reason}: {said:?} {ran:#?}");
    });
}

/// robustness line: a pass of `sweep` in which each watch is open and silent | once | lists show it; it does all, and
///   says for each resource once that and why
#[test]
#[ignore = "long: waits for watches that are silent"]
fn a_pass_does_without_watches_that_are_silent() {
    let chain = Chain::build("line-silent");
    let trial = &chain.trial;
    let proxy = CountingProxy::start(trial.cluster);
    proxy.with(|request| is_watch(request).then_some(Fault::Spoilt(Spoilt::Stalled(0))));
    let args = ["sweep", "--yes", "--timeout=5m", "-n", &trial.namespace];
    let ran = trial.cluster.gc_with(proxy.kubeconfig(), &args).ended(0);
    chain.check("silent");
    let said: Vec<&str> = ran.stderr.lines().filter(|said| said.starts_with("Cannot watch ")).collect();
    let silent = "(it is silent although objects have changed)";
    assert!((1..=2).contains(&said.len()) && said.iter().all(|said| said.contains(silent)), "{ran:#?}");
}

/// robustness line: a pass of `sweep` in which each watch is open and silent, of a chain in which no resource is waited
///   for that has changed before | once | lists show it; it does all
#[test]
#[ignore = "long: slow"]
fn a_pass_waits_for_no_watch_of_what_is_done() {
    let trial = Trial::on(uncollected(), "line-silent-chain", "Background");
    let lost = trial.config_map("lost").owned_by(&trial.gone("gone")).create();
    let below = trial.widget("below").owned_by(&lost).create();
    let last = trial.config_map("last").owned_by(&below).create();
    let proxy = CountingProxy::start(trial.cluster);
    proxy.with(|request| is_watch(request).then_some(Fault::Spoilt(Spoilt::Stalled(0))));
    let args = ["sweep", "--yes", "--timeout=5m", "-n", &trial.namespace];
    trial.cluster.gc_with(proxy.kubeconfig(), &args).expect(0);
    for object in [&lost, &below, &last] {
        assert_eq!(trial.cluster.get(&trial.cluster.path_of(object)), None);
    }
}

/// robustness line: a pass of `sweep` in which each watch is refused, and a dependent of an owner that lets its
///   dependents go is created while the user is asked | once | the plan is shown again; it is freed before its owner
///   goes
#[test]
fn what_comes_without_watches_is_asked_about_again() {
    let chain = Chain::build("line-late");
    let trial = &chain.trial;
    let proxy = CountingProxy::start(trial.cluster);
    proxy.with(|request| is_watch(request).then(|| Fault::status(403, "Forbidden")));
    let kubeconfig = format!("--kubeconfig={}", proxy.kubeconfig().display());
    let mut terminal = trial.cluster.gc_on_terminal(&["sweep", "-n", &trial.namespace, &kubeconfig]);
    terminal.shows("Sweep 7 objects? [y/N]");
    let leaving = trial.cluster.get(&chain.goes[3]).expect("it is there");
    let late = trial.cluster.path_of(&trial.widget("late").blocking(&leaving).create());
    terminal.types("y");
    terminal.shows("The cluster has changed (new: Widget/late");
    terminal.shows("Sweep 8 objects? [y/N]");
    let (code, shown) = terminal.answered("y");
    assert_eq!(code, Some(0), "{shown}");
    chain.check(&shown);
    let late = trial.cluster.get(&late).expect("it stays");
    assert_eq!(late["metadata"]["ownerReferences"], Value::Null, "{shown}");
}

/// robustness line: `sweep --watch` where each watch is refused (403, 404, 405), fails or ends at once | each way
///   | it looks again by lists and does all, also what comes later, and says of each resource once that and why
#[test]
#[ignore = "long: waits for lists in the place of watches"]
fn sweep_watch_does_without_watches() {
    each_failure(|number, reason, fault| {
        let chain = Chain::build(&format!("line-unwatched-too-{number}"));
        let proxy = CountingProxy::start(chain.trial.cluster);
        proxy.with(move |request| is_watch(request).then(|| fault.clone()));
        let trial = &chain.trial;
        let sweeping = SweepSettings::start_with(trial.cluster, proxy.kubeconfig(), &["-n", &trial.namespace]);
        trial.cluster.wait_until("all to be swept", PATIENCE, || chain.is_swept());
        chain.check(reason);
        let later = trial.config_map("later").owned_by(&trial.gone("gone-too")).create();
        let later = trial.cluster.path_of(&later);
        trial.cluster.wait_until("what came later to be swept", PATIENCE, || trial.cluster.get(&later).is_none());
        let said = sweeping.said();
        let lines: Vec<&str> = said.lines().filter(|line| line.starts_with("Cannot watch ")).collect();
        assert!(lines.iter().all(|line| line.contains(reason)), "{reason}: {said}");
        // `Cannot watch NUMBER resources (…` or `Cannot watch RESOURCE (…`
        let told = lines.iter().map(|line| line.split(' ').nth(2).and_then(|word| word.parse().ok()).unwrap_or(1));
        let watched: BTreeSet<String> = proxy.requests().into_iter().filter(is_watch).map(|watch| watch.path).collect();
        assert_eq!(told.sum::<usize>(), watched.len(), "{reason}: {said}");
        sweeping.terminate();
    });
}

/// Whether this asks which resources there are. `sweep --watch` does that every two seconds here, or less often: that
/// serves as a clock.
fn is_discovery(request: &Request) -> bool {
    request.path == "/apis"
}

/// How many more times a proxy is asked which resources there are until it is asked for a list of ConfigMaps.
#[track_caller]
fn ticks_to_a_list(trial: &Trial<'_>, proxy: &CountingProxy) -> usize {
    let before = proxy.requests().len();
    let ticks = || {
        let requests = proxy.requests();
        let list = requests[before..].iter().position(is_list)?;
        Some(requests[before..before + list].iter().filter(|request| is_discovery(request)).count())
    };
    trial.cluster.wait_until("another list of ConfigMaps", PATIENCE, || ticks().is_some());
    ticks().unwrap_or_default()
}

fn is_list(request: &Request) -> bool {
    request.path == "/api/v1/configmaps" && request.query.contains("limit=")
}

/// robustness line: `sweep --watch` where ConfigMaps can't be watched, and their lists are answered with 429 for a
///   while, with and without Retry-After | each | once the line is sound, they are listed as often as before
#[test]
#[ignore = "long: waits for pauses to end"]
fn sweep_watch_uses_a_line_that_is_sound_again() {
    thread::scope(|scope| {
        for (number, headers) in [vec![], vec![("retry-after", "2")]].into_iter().enumerate() {
            scope.spawn(move || {
                let trial = Trial::on(uncollected(), &format!("line-sound-{number}"), "Background");
                let proxy = CountingProxy::start(trial.cluster);
                let Fault::Answer { status, body, .. } = Fault::status(429, "TooManyRequests") else { unreachable!() };
                let busy = Fault::Answer { status, headers, body };
                let lists = AtomicUsize::new(0);
                proxy.with(move |request| match request.path.as_str() {
                    "/api/v1/configmaps" if is_watch(request) => Some(Fault::status(403, "Forbidden")),
                    "/api/v1/configmaps" if lists.fetch_add(1, Ordering::Relaxed) < BUSY => Some(busy.clone()),
                    _ => None,
                });
                let args = ["-n", &trial.namespace];
                let sweeping = SweepSettings::start_with(trial.cluster, proxy.kubeconfig(), &args);
                sweeping.wait_for_sync();
                let ticks = ticks_to_a_list(&trial, &proxy);
                assert!(ticks < TICKS, "{ticks} discoveries before the next list");
                sweeping.terminate();
            });
        }
    });
}
