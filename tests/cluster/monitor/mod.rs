//! Monitors that follow resources through broken connections and crashes of the server.

mod picture;
mod writers;

use std::{path::Path, sync::Mutex};

use gc_cluster::cluster::MonitorId;
use gc_core::model::Resource;
use proptest::{prelude::RngExt as _, test_runner::TestRng};
use serde_json::json;
use tokio::runtime::Runtime;

use self::{
    picture::{Followed, PATIENCE},
    writers::Writers,
};
use crate::{
    doctor::unconvertible,
    graphs::generate::rng,
    harness::{ADMIN, Alone, CountingProxy, Fault, NOBODY, Options, Request},
    reading::connect_with,
};

const CONFIG_MAPS: MonitorId = MonitorId(1);

/// All deletable resources by discovery.
#[track_caller]
fn resources(kubeconfig: &Path) -> Vec<Resource> {
    let runtime = Runtime::new().expect("a runtime");
    let connection = connect_with(kubeconfig, &runtime);
    let (resources, _) = runtime.block_on(connection.discover()).expect("discovery");
    resources.deletable().map(|(_, resource)| resource.clone()).collect()
}

#[track_caller]
fn config_maps(kubeconfig: &Path) -> [(MonitorId, Resource); 1] {
    let resource =
        resources(kubeconfig).into_iter().find(|resource| resource.plural == "configmaps").expect("it is served");
    [(CONFIG_MAPS, resource)]
}

/// Random faults for lists and watches of ConfigMaps: every watch ends or breaks off.
fn spoil(rng: &mut TestRng, request: &Request) -> Option<Fault> {
    if request.path != "/api/v1/configmaps" {
        return None;
    }
    let percent = rng.random_range(0..100);
    // A cut often loses data that is under way.
    let cut = Fault::CutAfter(rng.random_range(0..8000));
    match (request.query.contains("watch=true"), request.query.contains("continue=")) {
        (true, _) => match percent {
            0..15 => Some(Fault::status(410, "Expired")),
            15..25 => Some(Fault::status(500, "InternalError")),
            _ => Some(cut),
        },
        (false, true) => match percent {
            0..35 => Some(Fault::status(410, "Expired")),
            35..50 => Some(cut),
            _ => None,
        },
        (false, false) => match percent {
            0..10 => Some(Fault::status(503, "ServiceUnavailable")),
            10..30 => Some(cut),
            _ => None,
        },
    }
}

/// Follows ConfigMaps directly and through a proxy that keeps cutting connections, while the API server is killed
/// twice.
#[test]
#[ignore = "long: random writes and cuts"]
fn nothing_is_lost_and_nothing_is_made_up() {
    let cluster = Alone::start(&Options::default());
    let namespace = cluster.namespace("churn");
    let writers = Writers::new(&cluster, &namespace);
    // More than a page of a list.
    writers.fill(700);
    let proxy = CountingProxy::start(&cluster);
    let rng = Mutex::new(rng(7));
    proxy.with(move |request| spoil(&mut rng.lock().unwrap(), request));
    let kubeconfig = cluster.kubeconfig(ADMIN);
    let resource = config_maps(&kubeconfig);
    let straight = Followed::start(&kubeconfig, &resource);
    let spoiled = Followed::start(proxy.kubeconfig(), &resource);
    straight.wait_until("the first list", |picture| picture.lists.contains_key(&CONFIG_MAPS));
    let cut =
        || proxy.requests().iter().filter(|request| request.query.contains("watch=true") && !request.finished).count();
    // Enough has to happen each time, or the test proves nothing.
    let much_happens = || {
        let before = [&straight, &spoiled].map(|followed| followed.look(|picture| picture.events));
        let (lists, cut_before) = (spoiled.look(|picture| picture.begun), cut());
        straight.wait_until("events", |picture| picture.events > before[0] + 100);
        spoiled.wait_until("events and lists", |picture| picture.events > before[1] + 100 && picture.begun > lists);
        cluster.wait_until("watches to be cut", PATIENCE, || cut() > cut_before + 7);
    };
    let written = writers.write_while(|| {
        for _ in 0..2 {
            much_happens();
            cluster.kill_api_server();
            straight.wait_until("it to be noticed", |picture| !picture.failing.is_empty());
            cluster.start_api_server_again();
        }
        much_happens();
    });
    proxy.without();
    for followed in [&straight, &spoiled] {
        followed.is_all_there_is(&cluster, CONFIG_MAPS, "/api/v1/configmaps");
        followed.wait_until("nothing to fail any more", |picture| picture.failing.is_empty());
    }
    println!("{written} writes, {} watches cut", cut());
}

/// Follows all deletable resources, one of which can't be read; then all of them as a user who may read nothing.
#[test]
#[ignore = "long: a cluster of its own, and watches that hang"]
fn what_cannot_be_read_holds_up_nothing() {
    let cluster = Alone::start(&Options::default());
    let (definition, _) = unconvertible(&cluster);
    let kubeconfig = cluster.kubeconfig(ADMIN);
    let resources = resources(&kubeconfig);
    let numbered: Vec<(MonitorId, Resource)> = (1..).map(MonitorId).zip(resources.iter().cloned()).collect();
    let of = |plural: &str| numbered.iter().find(|(_, resource)| resource.plural == plural).expect("it is served").0;
    let (jars, maps) = (of("jars"), of("configmaps"));
    let followed = Followed::start(&kubeconfig, &numbered);
    followed.wait_until("all others to be listed", |picture| picture.lists.len() == numbered.len() - 1);
    followed.wait_until("it to be said to fail", |picture| picture.failing.contains_key(&jars));
    followed.look(|picture| {
        assert!(!picture.lists.contains_key(&jars));
        assert!(picture.failing[&jars].starts_with("it cannot be listed: "), "{:?}", picture.failing);
        assert_eq!(picture.failing.len(), 1, "{:?}", picture.failing);
    });
    let namespace = cluster.namespace("held-up");
    cluster.create(object!("v1 ConfigMap", {"name": "a", "namespace": namespace}));
    followed.is_all_there_is(&cluster, maps, "/api/v1/configmaps");
    // Without the webhook it can be read again.
    let undone = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    cluster.patch(&cluster.path_of(&definition), &undone);
    followed.wait_until("it to be listed", |picture| picture.lists.contains_key(&jars) && picture.failing.is_empty());

    let nobody = Followed::start(&cluster.kubeconfig(NOBODY), &numbered);
    nobody.wait_until("all to fail", |picture| picture.failing.len() == numbered.len());
    nobody.look(|picture| assert_eq!(picture.failing[&maps], "it cannot be listed: forbidden"));
    let all = json!([{"apiGroups": ["*"], "resources": ["*"], "verbs": ["list", "watch"]}]);
    let rbac = "rbac.authorization.k8s.io/v1";
    cluster.create(json!({"apiVersion": rbac, "kind": "ClusterRole", "metadata": {"name": "sees"}, "rules": all}));
    cluster.create(json!({
        "apiVersion": rbac,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "sees"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "sees"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": NOBODY}],
    }));
    nobody
        .wait_until("all to be listed", |picture| picture.lists.len() == numbered.len() && picture.failing.is_empty());
    nobody.is_all_there_is(&cluster, maps, "/api/v1/configmaps");
}
