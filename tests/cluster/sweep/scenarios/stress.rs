//! Hundreds of owners and pods, deleted in six ways at once: exactly the right pods survive, and each is written to
//! once.

use std::{collections::BTreeMap, thread};

use http::Method;
use serde_json::{Value, json};

use super::kit::{PATIENCE, owners};
use crate::{
    harness::{CountingProxy, uid},
    plan::trial::Trial,
    sweep::seat::Seated,
};

const OWNERS: usize = 20;
const PODS: usize = 3;

/// How owners are created and deleted, and whether their pods survive.
struct Way {
    finalizer: Option<&'static str>,
    options: Value,
    survive: bool,
}

fn ways() -> [Way; 6] {
    let way = |finalizer, options, survive| Way { finalizer, options, survive };
    [
        // R1.20: the default of a ReplicationController.
        way(None, json!({}), true),
        way(Some("orphan"), json!({}), true),
        way(Some("orphan"), json!({"orphanDependents": false}), false),
        way(None, json!({"orphanDependents": true}), true),
        way(None, json!({"propagationPolicy": "Orphan"}), true),
        way(None, json!({"propagationPolicy": "Foreground"}), false),
    ]
}

/// The requests of the collector or sweep must go through this proxy.
pub fn many_at_once(seated: &Seated<'_>, proxy: &CountingProxy) {
    proxy.forget();
    let ways = ways();
    let played: Vec<(&Way, Vec<String>)> = thread::scope(|scope| {
        let playing: Vec<_> = ways.iter().map(|way| (way, scope.spawn(move || play(seated, way)))).collect();
        playing.into_iter().map(|(way, thread)| (way, thread.join().expect("it is played, see above"))).collect()
    });
    let mut written: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // A client checks whether an object still exists by a GET before, or by the request itself: either costs one
    // request, and a 404 is no write.
    for request in proxy.requests().into_iter().filter(|request| request.method != "GET" && request.status != Some(404))
    {
        let status = request.status.unwrap_or_default();
        written.entry(request.path).or_default().push(format!("{} {status}", request.method));
    }
    for (way, paths) in played {
        let once = if way.survive { "PATCH 200" } else { "DELETE 200" };
        for path in paths {
            let written = written.get(&path).cloned().unwrap_or_default();
            assert_eq!(written, [once], "{path}, finalizer {:?}, {}", way.finalizer, way.options);
        }
    }
}

/// Creates owners with their pods, deletes the owners in one way, checks the pods, and returns the pods' paths.
fn play(seated: &Seated<'_>, way: &Way) -> Vec<String> {
    let cluster = seated.cluster;
    let trial = Trial::on(cluster, "stress", "Orphan");
    let mut made = Vec::new();
    let mut pods = BTreeMap::new();
    for number in 0..OWNERS {
        let mut owner = trial.replication_controller(&format!("owner-{number}"));
        if let Some(finalizer) = way.finalizer {
            owner = owner.finalizer(finalizer);
        }
        let owner = owner.create();
        for pod in 0..PODS {
            let pod = trial.pod(&format!("pod-{number}-{pod}")).blocking(&owner).create();
            pods.insert(cluster.path_of(&pod), uid(&pod).to_owned());
        }
        made.push(owner);
    }
    // R5.6: a dependent that the collector doesn't know by then isn't orphaned.
    seated.catches_up(&trial, &[("v1", "Pod")]);
    for owner in &made {
        let path = cluster.path_of(owner);
        let answer = cluster.ask(&Method::DELETE, &path, Some(("application/json", &way.options)));
        assert!(answer.is_success(), "{path}: {}", answer.text());
    }
    let left = |kind: &str| cluster.list(&format!("/api/v1/namespaces/{}/{kind}", trial.namespace));
    let expected = if way.survive { pods.len() } else { 0 };
    cluster.wait_until("the owners to go, and their pods where they should", PATIENCE * 2, || {
        left("replicationcontrollers").is_empty() && left("pods").len() <= expected
    });
    seated.catches_up(&trial, &[("v1", "ReplicationController"), ("v1", "Pod")]);
    let left: Vec<Value> = left("pods");
    assert_eq!(left.len(), expected, "finalizer {:?}, {}", way.finalizer, way.options);
    for pod in &left {
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}",
            trial.namespace,
            pod["metadata"]["name"].as_str().unwrap_or_default()
        );
        assert_eq!((pods.get(&path).map(String::as_str), owners(pod).len()), (Some(uid(pod)), 0), "{pod}");
    }
    pods.into_keys().collect()
}
