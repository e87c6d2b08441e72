//! A cluster without problems: the doctor prints one line, and reads each list once.

use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
    time::Instant,
};

use serde_json::json;

use crate::{
    bench::number,
    harness::{ADMIN, Alone, COLLECTOR, Cluster, CountingProxy, NAMESPACES, Options, owner_reference},
    plan::draft::blocking,
};

const THREADS: usize = 32;
/// Objects in one family: an owner and its dependents.
const FAMILY: usize = 10;

/// Fills a cluster with families, spread over several namespaces.
pub fn fill(cluster: &Cluster, objects: usize) {
    let namespaces: Vec<String> = (0..objects.div_ceil(5000)).map(|_| cluster.namespace("healthy")).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(FAMILY, Ordering::Relaxed);
                    if number >= objects {
                        return;
                    }
                    let namespace = &namespaces[number / 5000];
                    let object = |kind: &str, number: usize, owners| {
                        json!({"apiVersion": "v1", "kind": kind,
                               "metadata": {"name": format!("o{number}"), "namespace": namespace,
                                   "ownerReferences": owners}})
                    };
                    let owner = cluster.create(object("ConfigMap", number, Vec::new()));
                    for member in 1..FAMILY {
                        let reference = if member % 2 == 0 { blocking(&owner) } else { owner_reference(&owner) };
                        cluster.create(object("Secret", number + member, vec![reference]));
                    }
                }
            });
        }
    });
}

fn is_reassured(objects: usize) {
    let cluster = Alone::start(&Options::default());
    let begun = Instant::now();
    fill(&cluster, objects);
    println!("{objects} objects made in {:.0?}", begun.elapsed());
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    cluster.settled();
    let proxy = CountingProxy::start_as(&cluster, ADMIN);
    let begun = Instant::now();
    let ran = cluster.gc_with(proxy.kubeconfig(), &["doctor"]);
    println!("looked at in {:.1?}", begun.elapsed());
    let lines: Vec<&str> = ran.expect(0).lines().filter(|line| !line.is_empty()).collect();
    println!("{}", ran.stdout);
    assert_eq!(lines.len(), 2, "where it is, and that all is well: {lines:?}");
    assert!(lines[1].starts_with("No problems found"), "{lines:?}");
    assert_eq!(ran.stderr, "");

    // A long list has many pages.
    let mut asked: BTreeMap<String, usize> = BTreeMap::new();
    for request in proxy.requests() {
        assert_eq!((request.method.as_str(), request.status), ("GET", Some(200)), "{request:?}");
        *asked.entry(request.path).or_default() += usize::from(!request.query.contains("continue="));
    }
    let lists = cluster.listed().into_iter().map(|kind| kind.path);
    let expected = ["/api", "/apis", "/version", "/api/v1/events"].map(str::to_owned).into_iter().chain(lists);
    assert_eq!(asked, expected.map(|path| (path, 1)).collect());
}

#[test]
#[ignore = "long: 2,000 objects in a cluster of its own"]
fn a_healthy_cluster_is_read_once() {
    is_reassured(2000);
}

/// With as many objects as `OBJECTS` says. 100,000 take minutes, and some gigabytes of memory.
#[test]
#[ignore = "long: makes 10,000 objects"]
fn a_large_healthy_cluster_is_read_once() {
    is_reassured(number("OBJECTS", 10_000) as usize);
}
