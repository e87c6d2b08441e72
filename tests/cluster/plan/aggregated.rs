//! An aggregated API whose backend is a pod, in a namespace that is deleted.

use std::{net::UdpSocket, time::Duration};

use http::Method;
use serde_json::{Value, json};

use super::{obstacles::checked_plan, trial::Trial};
use crate::{
    doctor::{definition, paste},
    harness::{ADMIN, COLLECTOR, Cluster, NAMESPACES, Options},
};

const PATIENCE: Duration = Duration::from_secs(90);

/// An address of this machine that endpoints may have: the API server allows no loopback address.
fn address() -> String {
    let socket = UdpSocket::bind("0.0.0.0:0").expect("a socket");
    // Nothing is sent: this only chooses a route.
    socket.connect("192.0.2.1:9").expect("a route");
    socket.local_addr().expect("an address").ip().to_string()
}

/// Another API server, which serves jars to everybody, and its port.
fn backend() -> (Cluster, u16) {
    let options = Options { api_server: vec!["--bind-address=0.0.0.0".to_owned()], ..Options::default() };
    let backend = Cluster::start(&options);
    backend.create(definition("jars", &["v1"]));
    backend.create(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "everybody"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:unauthenticated"}],
    }));
    let kubeconfig = std::fs::read_to_string(backend.kubeconfig(ADMIN)).unwrap();
    let port = kubeconfig.split("https://127.0.0.1:").nth(1).expect("its address");
    let port = port.chars().take_while(char::is_ascii_digit).collect::<String>();
    (backend, port.parse().unwrap())
}

/// R9.10, R9.32: the pod goes first, and then nothing tells what the namespace still contains.
#[test]
fn a_namespace_that_contains_the_pod_behind_an_api_stays() {
    let (_backend, port) = backend();
    let options = Options { api_server: vec!["--enable-aggregator-routing=true".to_owned()], ..Options::default() };
    let cluster = Cluster::start(&options);
    let trial = Trial::on(&cluster, "served", "Background");
    let place = trial.namespace.as_str();
    let pod = cluster.create(json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "backend-0", "namespace": place},
        "spec": {"nodeName": trial.node(), "containers": [{"name": "main", "image": "main"}]}}));
    cluster.create(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "jars", "namespace": place},
        "spec": {"ports": [{"port": 443, "targetPort": port}]}}));
    let slice = cluster.create(json!({
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "jars-1", "namespace": place, "labels": {"kubernetes.io/service-name": "jars"}},
        "addressType": "IPv4",
        "ports": [{"name": "", "port": port, "protocol": "TCP"}],
        "endpoints": [{"addresses": [address()], "conditions": {"ready": true},
            "targetRef": {"kind": "Pod", "name": "backend-0", "namespace": place}}],
    }));
    trial.config_map("settings").create();
    let api = cluster.create(json!({
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.odd.test"},
        "spec": {
            "group": "odd.test",
            "version": "v1",
            "groupPriorityMinimum": 100,
            "versionPriority": 100,
            "insecureSkipTLSVerify": true,
            "service": {"namespace": place, "name": "jars", "port": 443},
        },
    }));
    let conditions = |object: &Value| -> Vec<Value> {
        let now = cluster.get(&cluster.path_of(object)).expect("it is there");
        now["status"]["conditions"].as_array().cloned().unwrap_or_default()
    };
    let is = |object: &Value, kind: &str, status: &str| {
        conditions(object).iter().any(|condition| condition["type"] == kind && condition["status"] == status)
    };
    let answers = || cluster.ask(&Method::GET, "/apis/odd.test/v1/jars", None).is_success();
    cluster.wait_until("the API to answer", PATIENCE, || is(&api, "Available", "True") && answers());
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let ran = cluster.gc(&["plan", "-o", "json", &format!("ns/{place}")]);
    ran.expect(2);
    let plan = ran.json();
    checked_plan(&plan);
    let [obstacle] = plan["obstacles"].as_array().expect("obstacles").as_slice() else { panic!("{plan:#}") };
    assert_eq!((&obstacle["obstacle"], &obstacle["takenDown"]), (&json!("api-unavailable"), &json!(true)));
    assert_eq!(obstacle["prevents"][0]["name"], place, "{obstacle:#}");
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    let of = |kind: &str| outcomes.iter().find(|outcome| outcome["object"]["kind"] == kind);
    assert_eq!(of("Namespace").map(|namespace| &namespace["state"]), Some(&json!("stuck")), "{outcomes:#?}");
    assert_eq!(of("Pod").map(|pod| &pod["outcome"]), Some(&json!("Deleted")), "{outcomes:#?}");

    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": place}});
    cluster.delete(&cluster.path_of(&namespace), None, None);
    let terminates =
        || cluster.get(&cluster.path_of(&pod)).is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_string());
    cluster.wait_until("the pod to be deleted", PATIENCE, terminates);
    // The endpoints controller takes a pod that is Terminating out of service, and its kubelet ends it.
    cluster.patch(&cluster.path_of(&slice), &json!({"endpoints": []}));
    cluster.wait_until("the API to be away", PATIENCE, || !answers());
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
