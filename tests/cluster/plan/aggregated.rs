//! An aggregated API whose backend is a pod, in a namespace that is deleted.

use serde_json::{Value, json};

use super::{
    obstacles::{JARS, backend, jars_answer, jars_behind},
    trial::Trial,
};
use crate::{
    doctor::paste,
    harness::{Alone, COLLECTOR, NAMESPACES, Options, PATIENCE, conforms, needs},
};

/// R9.10, R9.32: the pod goes first, and then nothing tells what the namespace still contains.
#[test]
#[ignore = "long: two clusters"]
fn a_namespace_that_contains_the_pod_behind_an_api_stays() {
    if !needs(34, "the API server finds an aggregated API by EndpointSlices; before, by Endpoints") {
        return;
    }
    let (_backend, port) = backend();
    let options = Options { api_server: vec!["--enable-aggregator-routing=true".to_owned()], ..Options::default() };
    let cluster = Alone::start(&options);
    let trial = Trial::on(&cluster, "served", "Background");
    let place = trial.namespace.as_str();
    let pod = cluster.create(object!("v1 Pod", {"name": "backend-0", "namespace": place,
        "spec": {"nodeName": trial.node(), "containers": [{"name": "main", "image": "main"}]}}));
    cluster.create(object!("v1 Service", {"name": "jars", "namespace": place,
        "spec": {"ports": [{"port": 443, "targetPort": port}]}}));
    // Stored as it is: the API server allows no endpoint on the loopback interface, and nothing here listens elsewhere.
    let slice = cluster.store(&object!("discovery.k8s.io/v1 EndpointSlice", {
        "name": "jars-1", "namespace": place, "labels": {"kubernetes.io/service-name": "jars"},
        "addressType": "IPv4",
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": ["127.0.0.1"], "conditions": {"ready": true},
            "targetRef": {"kind": "Pod", "name": "backend-0", "namespace": place}}],
    }));
    trial.config_map("settings").create();
    let api = cluster.create(jars_behind(place, 443));
    let is = |object: &Value, kind: &str, status: &str| cluster.has_condition(&cluster.path_of(object), kind, status);
    // A plan knows by discovery what the API serves.
    cluster.wait_until("the API to answer", PATIENCE, || {
        is(&api, "Available", "True") && jars_answer(&cluster) && cluster.discovers(JARS)
    });
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let ran = cluster.gc(&["plan", "-o", "json", &format!("ns/{place}")]).ended(2);
    let plan = ran.json();
    conforms("plan", &plan);
    let [obstacle] = plan["obstacles"].as_array().expect("obstacles").as_slice() else { panic!("{plan:#}") };
    assert_eq!((&obstacle["obstacle"], &obstacle["takenDown"]), (&json!("api-unavailable"), &json!(true)));
    assert_eq!(obstacle["prevents"][0]["name"], place, "{obstacle:#}");
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    let of = |kind: &str| outcomes.iter().find(|outcome| outcome["object"]["kind"] == kind);
    assert_eq!(of("Namespace").map(|namespace| &namespace["state"]), Some(&json!("stuck")), "{outcomes:#?}");
    assert_eq!(of("Pod").map(|pod| &pod["outcome"]), Some(&json!("Deleted")), "{outcomes:#?}");

    let namespace = object!("v1 Namespace", {"name": place});
    cluster.delete(&cluster.path_of(&namespace), None, None);
    let terminates =
        || cluster.get(&cluster.path_of(&pod)).is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_string());
    cluster.wait_until("the pod to be deleted", PATIENCE, terminates);
    // The endpoints controller takes a pod that is Terminating out of service, and its kubelet ends it.
    cluster.patch(&cluster.path_of(&slice), &json!({"endpoints": []}));
    cluster.wait_until("the API to be away", PATIENCE, || !jars_answer(&cluster));
    cluster.delete(&cluster.path_of(&pod), None, Some(0));
    let failure = ["NamespaceDeletionContentFailure", "NamespaceDeletionDiscoveryFailure"];
    cluster.wait_until("the namespace controller to complain", PATIENCE, || {
        failure.iter().any(|kind| is(&namespace, kind, "True"))
    });
    // What the plan recommends heals it.
    paste(&cluster, obstacle["commands"][0].as_str().expect("a command"));
    let gone = || cluster.get(&cluster.path_of(&namespace)).is_none();
    cluster.wait_until("the namespace to go", PATIENCE, gone);
}
