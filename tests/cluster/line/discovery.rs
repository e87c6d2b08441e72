//! Discovery that fails: what it lacks must not be taken for absent.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use serde_json::Value;

use crate::{
    harness::{CountingProxy, Fault, PATIENCE, Request, old_discovery},
    plan::trial::Trial,
    sweep::{seat::SweepSettings, uncollected},
};

/// What of discovery answers 404, and whether the server has aggregated discovery.
const MISSING: [(&str, bool); 3] = [("/apis", true), ("/api", true), ("/apis/gc.test/v1", false)];

/// robustness line: discovery that lacks a group which an APIService names, in one answer and in each, under commands
///   that read and that delete | each command | in each: a gap, and nothing is written; in one: read again
#[test]
#[ignore = "long: each command while an API is away"]
fn a_group_that_only_an_api_service_names_is_a_gap() {
    let trial = Trial::on(uncollected(), "line-services", "Orphan");
    let owner = trial.config_map("owner").create();
    let dependent = trial.widget("dependent").blocking(&owner).create();
    let leaving = trial.config_map("leaving").create();
    let freed = trial.widget("of-leaving").blocking(&leaving).create();
    trial.cluster.delete(&trial.cluster.path_of(&leaving), Some("Orphan"), None);
    let mut groups = trial.cluster.get("/apis").expect("the groups");
    groups["groups"].as_array_mut().expect("a list").retain(|group| group["name"] != "gc.test");
    let proxy = CountingProxy::start(trial.cluster);
    let lacks_it = |most: usize| {
        let (groups, times) = (groups.clone(), AtomicUsize::new(0));
        proxy.with(move |request: &Request| {
            let is_it = request.path == "/apis" && times.fetch_add(1, Ordering::SeqCst) < most;
            is_it.then(|| Fault::Answer { status: 200, headers: Vec::new(), body: groups.clone() })
        });
    };
    let run = |args: &[&str]| trial.cluster.gc_with(proxy.kubeconfig(), &[args, &["-n", &trial.namespace]].concat());
    let told = |document: &Value| {
        let gaps = document["gaps"].as_array().into_iter().flatten();
        gaps.filter(|gap| gap["resource"] == "gc.test/v1").count()
    };
    for args in [&["tree"][..], &["plan", "cm/owner"], &["doctor"], &["explain", "cm/owner"]] {
        lacks_it(usize::MAX);
        let ran = run(&[args, &["-o", "json"]].concat());
        assert_eq!((&ran.json()["complete"], told(&ran.json())), (&Value::Bool(false), 1), "{args:?}: {ran:#?}");
        assert!(ran.stderr.contains("an APIService names it, but discovery does not"), "{args:?}: {ran:#?}");
        lacks_it(1);
        let ran = run(&[args, &["-o", "json"]].concat());
        assert_eq!(told(&ran.json()), 0, "{args:?}: {ran:#?}");
    }
    lacks_it(usize::MAX);
    for args in [&["delete", "cm/owner", "--yes"][..], &["sweep", "--yes"]] {
        run(args).expect(1);
        let there =
            [&owner, &dependent, &leaving, &freed].map(|object| trial.cluster.get(&trial.cluster.path_of(object)));
        assert!(there.iter().all(Option::is_some), "{args:?}");
    }
}

/// robustness line: discovery that lacks a group which an APIService names, under `sweep --watch` | one sweep, with an
///   owner that is to lose its dependents | it stays until discovery names the group again, and all else is swept
#[test]
#[ignore = "long: waits for discovery"]
fn a_sweep_waits_for_the_group_that_only_an_api_service_names() {
    let trial = Trial::on(uncollected(), "line-services-too", "Orphan");
    let cluster = trial.cluster;
    let leaving = trial.config_map("leaving").create();
    let freed = trial.widget("of-leaving").blocking(&leaving).create();
    cluster.delete(&cluster.path_of(&leaving), Some("Orphan"), None);
    let mut groups = cluster.get("/apis").expect("the groups");
    groups["groups"].as_array_mut().expect("a list").retain(|group| group["name"] != "gc.test");
    let proxy = CountingProxy::start(cluster);
    proxy.with(move |request: &Request| {
        let answer = || Fault::Answer { status: 200, headers: Vec::new(), body: groups.clone() };
        (request.path == "/apis").then(answer)
    });
    let sweeping = SweepSettings::start_with(cluster, proxy.kubeconfig(), &["-n", &trial.namespace]);
    let line = sweeping.wait_for_sync();
    assert!(line.contains("gc.test/v1 (an APIService names it, but discovery does not)"), "{line}");
    let former = trial.config_map("former").create();
    cluster.delete(&cluster.path_of(&former), Some("Background"), None);
    let lost = trial.config_map("lost").owned_by(&former).create();
    let [lost, leaving, freed] = [&lost, &leaving, &freed].map(|object| cluster.path_of(object));
    cluster.wait_until("what has no owner to go", PATIENCE, || cluster.get(&lost).is_none());
    let owners = || cluster.get(&freed).expect("it is never deleted")["metadata"]["ownerReferences"].clone();
    assert!(cluster.get(&leaving).is_some() && owners().is_array(), "{}", sweeping.said());
    proxy.with(|_| None);
    cluster.wait_until("the owner to go", PATIENCE, || cluster.get(&leaving).is_none());
    assert!(owners().is_null(), "{}", owners());
    sweeping.terminate();
}

/// robustness line: discovery of which one path answers 404 once, under commands that read and that delete
///   | {MISSING} paths, each under each command | an error or a gap, and nothing is written
#[test]
fn discovery_that_answers_404_is_no_absence() {
    let trial = Trial::on(uncollected(), "line-apis", "Orphan");
    let owner = trial.config_map("owner").create();
    let dependent = trial.widget("dependent").blocking(&owner).create();
    let leaving = trial.config_map("leaving").create();
    let freed = trial.widget("of-leaving").blocking(&leaving).create();
    trial.cluster.delete(&trial.cluster.path_of(&leaving), Some("Orphan"), None);
    let paths = [&owner, &dependent, &leaving, &freed].map(|object| trial.cluster.path_of(object));
    let there = || paths.each_ref().map(|path| trial.cluster.get(path));
    let before = there();

    let proxy = CountingProxy::start(trial.cluster);
    let file = |name: &str| trial.cluster.folder().join(format!("{}.{name}", trial.namespace));
    let (snapshot, archive) = (file("snapshot.json"), file("archive.yaml"));
    let (snapshot, archive) = (snapshot.to_str().expect("UTF-8"), archive.to_str().expect("UTF-8"));
    for (path, aggregated) in MISSING {
        let run = |args: &[&str]| {
            let missed = Arc::new(AtomicBool::new(false));
            let misses = Arc::clone(&missed);
            proxy.with(move |request: &Request| {
                if request.path == path && !misses.swap(true, Ordering::SeqCst) {
                    return Some(Fault::status(404, "NotFound"));
                }
                old_discovery(request).filter(|_| !aggregated)
            });
            let ran = trial.cluster.gc_with(proxy.kubeconfig(), &[args, &["-n", &trial.namespace]].concat());
            assert!(missed.load(Ordering::SeqCst), "{args:?} did not ask for {path}");
            ran
        };
        for args in [
            &["tree", "-o", "json"][..],
            &["plan", "cm/owner", "-o", "json"],
            &["doctor", "-o", "json"],
            &["explain", "cm/owner", "-o", "json"],
        ] {
            let ran = run(args);
            let complete =
                serde_json::from_str::<Value>(&ran.stdout).ok().and_then(|document| document["complete"].as_bool());
            let honest = match complete {
                Some(complete) => !complete && ran.stderr.contains("gc.test/v1"),
                None => ran.code == Some(1) && ran.stderr.contains(path),
            };
            assert!(honest, "{path} {aggregated} {args:?}: {ran:#?}");
        }
        let ran = run(&["snapshot", "--force", "-o", snapshot]);
        match ran.code {
            Some(1) => assert!(ran.stderr.contains(path), "{ran:#?}"),
            _ => assert!(ran.stderr.contains("gc.test/v1"), "{path} {aggregated}: {ran:#?}"),
        }
        for args in [&["delete", "cm/owner", "--yes", "--archive", archive][..], &["sweep", "--yes"]] {
            let ran = run(args);
            assert_eq!(ran.code, Some(1), "{path} {aggregated} {args:?}: {ran:#?}");
            assert_eq!(there(), before, "{path} {aggregated} {args:?}: {ran:#?}");
        }
        assert!(!std::path::Path::new(archive).exists(), "{path} {aggregated}");
    }
}

/// robustness line: discovery of which one path answers 404 once, under `sweep --watch` that looks for new resources
///   once an hour | once | it is read again soon, and all is swept
#[test]
fn a_sweep_soon_reads_again_what_it_could_not_discover() {
    let trial = Trial::on(uncollected(), "line-undiscovered", "Background");
    let cluster = trial.cluster;
    let lost = cluster.path_of(&trial.widget("lost").owned_by(&trial.gone("gone")).create());
    let proxy = CountingProxy::start(cluster);
    let missed = AtomicBool::new(false);
    proxy.with(move |request| match request.path == "/apis/gc.test/v1" && !missed.swap(true, Ordering::SeqCst) {
        true => Some(Fault::status(404, "NotFound")),
        false => old_discovery(request),
    });
    let args = ["sweep", "--watch", "--resync=1h", "-n", &trial.namespace];
    let sweeping = SweepSettings::start_as(cluster, proxy.kubeconfig(), &args);
    cluster.wait_until("what could not be discovered to be swept", PATIENCE, || cluster.get(&lost).is_none());
    sweeping.terminate();
}
