//! Deletes that are taken back.

use std::sync::LazyLock;

use serde_json::json;

use super::kit::{Kind, PATIENCE, Scene};
use crate::harness::{Alone, COLLECTOR, CountingProxy, Fault, Options, others, uid};

#[test]
fn what_is_taken_back_is_as_before() {
    Kind::SOME.into_iter().for_each(|kind| comes_back(&Scene::of(kind)));
}

#[test]
#[ignore = "long: every kind"]
fn what_is_taken_back_is_as_before_whatever_its_kind() {
    Kind::ALL.into_iter().for_each(|kind| comes_back(&Scene::of(kind)));
}

/// The collector and the controller of ReplicationControllers.
static OTHERS: LazyLock<Alone> = LazyLock::new(|| {
    let cluster = Alone::start(&Options::default());
    cluster.apply_yaml(crate::harness::KINDS);
    cluster.start_controllers(&[COLLECTOR, "replicationcontroller-controller"]);
    cluster
});

#[test]
#[ignore = "long: waits for a controller of its own"]
fn a_replication_controller_is_as_before() {
    comes_back(&Scene::on(&OTHERS, Kind::ReplicationController));
}

fn comes_back(scene: &Scene) {
    let kind = scene.kind;
    {
        let before = scene.state();
        let old = scene.root();
        scene.hold();
        let ran = scene.gc(&["cancel", kind.word(), "--yes"]);
        assert!(ran.expect(0).contains("is back, with a new uid"), "{}{}", ran.stdout, ran.stderr);
        assert_ne!(uid(&scene.root()), uid(&old));
        scene.is_as(&before);
        let mut spec = scene.root()["spec"].clone();
        if kind == Kind::Job {
            // It says that its selector was chosen: that of the old uid.
            assert_eq!(spec["manualSelector"], true);
            spec.as_object_mut().unwrap().remove("manualSelector");
        }
        let mut was = old["spec"].clone();
        if kind == Kind::Job {
            was.as_object_mut().unwrap().remove("manualSelector");
        }
        assert_eq!(spec, was, "{kind:?}");
        // A later delete takes everything along, as before.
        scene.gc(&["delete", kind.word(), "--yes"]).expect(0);
        assert!(scene.state().is_empty(), "{:#?}", scene.state());
    }
}

/// Whatever a gateway answers in place of the object: the hold doesn't end because of that.
#[test]
fn an_answer_about_another_object_ends_no_hold() {
    let scene = Scene::of(Kind::Deployment);
    let held = scene.root();
    scene.hold();
    let path = scene.path();
    for number in 0..others(&path).expect("it is in a namespace").len() {
        let (proxy, path) = (CountingProxy::start(scene.cluster), path.clone());
        proxy.with(move |request| {
            let is_read = request.method == "GET" && request.path == path;
            is_read.then(|| others(&request.path)).flatten().map(|others| Fault::Elsewhere(others[number].clone()))
        });
        let args = ["cancel", scene.kind.word(), "--yes", "-n", &scene.namespace];
        let ran = scene.cluster.gc_with(proxy.kubeconfig(), &args);
        assert!(ran.code == Some(2) && ran.stdout.contains("reading it failed"), "{ran:#?}");
        assert_eq!((uid(&scene.root()), scene.secrets().len()), (uid(&held), 1), "{ran:#?}");
    }
    scene.gc(&["cancel", scene.kind.word(), "--yes"]).expect(0);
}

/// A rollout under way goes on where it was: its Pods stay, old and new ones.
#[test]
fn a_rollout_under_way_stays_as_it_is() {
    let scene = Scene::of(Kind::Deployment);
    let image = json!({"spec": {"containers": [{"name": "main", "image": "newer"}]}});
    scene.cluster.patch(&scene.path(), &json!({"spec": {"template": image}}));
    // The new Pod never runs: the rollout waits for it.
    scene.cluster.wait_until("the new pod", PATIENCE, || scene.pods().len() == 3);
    scene.cluster.wait_until("the status", PATIENCE, || scene.root()["status"]["replicas"] == 3);
    let before = scene.state();
    let replicas = || -> Vec<(String, String)> {
        let sets = scene.cluster.list(&format!("/apis/apps/v1/namespaces/{}/replicasets", scene.namespace));
        sets.iter().map(|set| (set["metadata"]["name"].to_string(), set["spec"]["replicas"].to_string())).collect()
    };
    let wanted = replicas();
    scene.hold();
    scene.gc(&["cancel", "deployment/web", "--yes"]).expect(0);
    scene.cluster.wait_until("the status", PATIENCE, || {
        let root = scene.root();
        root["status"]["observedGeneration"] == root["metadata"]["generation"] && root["status"]["replicas"] == 3
    });
    scene.fence();
    assert_eq!((scene.state(), replicas()), (before, wanted));
}

/// What has finished counts, also if it finished meanwhile; nothing runs twice.
#[test]
#[ignore = "long: waits for the Job controller"]
fn a_job_goes_on_where_it_was() {
    let scene = Scene::of(Kind::Job);
    scene.hold();
    // No other Pod starts meanwhile.
    scene.finish_a_pod();
    scene.cluster.wait_until("the count", PATIENCE, || scene.root()["status"]["active"] == 1);
    let before = scene.state();
    scene.gc(&["cancel", "job/web", "--yes"]).expect(0);
    // One runs, two have finished: the fourth starts now, and only that.
    scene.cluster.wait_until("the next pod", PATIENCE, || {
        scene.run_pods();
        let status = &scene.root()["status"];
        status["succeeded"] == 2 && status["active"] == 2
    });
    let mut now = scene.state();
    assert_eq!(now.len(), before.len() + 1, "{now:#?}");
    now.retain(|name, _| before.contains_key(name));
    assert_eq!(now, before);
    for finished in [3, 4] {
        scene.finish_a_pod();
        scene.cluster.wait_until("the count", PATIENCE, || scene.root()["status"]["succeeded"] == finished);
    }
    scene.cluster.wait_until("the end", PATIENCE, || scene.cluster.has_condition(&scene.path(), "Complete", "True"));
    // A Job that has finished does not run again.
    let before = scene.state();
    scene.hold();
    scene.gc(&["cancel", "job/web", "--yes"]).expect(0);
    scene.cluster.wait_until("the end", PATIENCE, || scene.cluster.has_condition(&scene.path(), "Complete", "True"));
    let root = scene.root();
    assert_eq!((&root["spec"]["suspend"], &root["spec"]["parallelism"]), (&json!(false), &json!(2)));
    assert_eq!((scene.state(), scene.secrets()), (before, vec![]));
}
