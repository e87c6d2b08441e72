//! READY, STATUS and AGE in a tree: what the server prints, asked for once a resource.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use crate::{
    harness::{Cluster, CountingProxy, Fault, deployment},
    plan::trial::{Trial, wait_for_items},
};

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A Deployment with two pods, one of which crashes again and again; and a ConfigMap of the Deployment.
fn shop(trial: &Trial<'_>) -> [String; 2] {
    let (cluster, namespace) = (trial.cluster, &trial.namespace);
    cluster.create(deployment(namespace, "web", 2));
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let items = wait_for_items(cluster, &pods, 2);
    let names: Vec<String> =
        items.iter().filter_map(|pod| pod["metadata"]["name"].as_str().map(str::to_owned)).collect();
    let [crashing, running] = names.try_into().expect("two pods");
    let container = |ready: bool, count: u32, state: Value| {
        let state = json!({"ready": ready, "restartCount": count, "state": state});
        let named = json!({"name": "web", "image": "web", "imageID": ""});
        Value::Object([named, state].iter().flat_map(|part| part.as_object().cloned()).flatten().collect())
    };
    let crash = container(false, 7, json!({"waiting": {"reason": "CrashLoopBackOff"}}));
    let run = container(true, 0, json!({"running": {}}));
    for (name, status) in [(&crashing, crash), (&running, run)] {
        let conditions = json!([{"type": "Ready", "status": if status["ready"] == true { "True" } else { "False" }}]);
        let status = json!({"phase": "Running", "containerStatuses": [status], "conditions": conditions});
        cluster.patch(&format!("{pods}/{name}/status"), &json!({"status": status}));
    }
    for workload in ["deployments", "replicasets"] {
        let path = format!("/apis/apps/v1/namespaces/{namespace}/{workload}");
        cluster.wait_until("its pod to count", Duration::from_secs(60), || {
            cluster.list(&path).iter().all(|object| object["status"]["readyReplicas"] == 1)
        });
    }
    [crashing, running]
}

/// The cells that kubectl prints of each object of a type, by name.
fn kubectl(cluster: &Cluster, namespace: &str, kind: &str) -> BTreeMap<String, Vec<String>> {
    let ran = cluster.kubectl(&["get", kind, "--no-headers", "-n", namespace]);
    let row = |line: &str| {
        let mut cells = line.split_whitespace().map(str::to_owned);
        Some((cells.next()?, cells.collect()))
    };
    ran.stdout.lines().filter_map(row).collect()
}

/// kubectl output: READY, STATUS and AGE | same: what the server prints for `kubectl get`
#[test]
fn a_tree_says_what_kubectl_get_says() {
    let trial = Trial::new("statuses", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    let [crashing, running] = shop(&trial);
    let pods = kubectl(cluster, namespace, "pods");
    assert_eq!(pods[&crashing][..3], ["0/1", "CrashLoopBackOff", "7"], "{pods:?}");

    let ran = cluster.gc(&["tree", "deploy/web", "-n", namespace]);
    let text = ran.expect(0);
    let cells = |name: &str| -> Vec<String> {
        let line = text.lines().find(|line| line.contains(&format!("/{name} "))).unwrap_or_else(|| panic!("{text}"));
        line.split(name).last().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    };
    assert!(text.lines().any(|line| line.split_whitespace().eq(["OBJECT", "READY", "STATUS", "AGE"])), "{text}");
    assert_eq!(cells(&crashing)[..2], ["0/1", "CrashLoopBackOff"], "{text}");
    assert_eq!(cells(&crashing)[3..], ["7", "restarts"], "{text}");
    assert_eq!(cells(&running)[..2], pods[&running][..2], "{text}");
    assert_eq!(cells(&running)[..2], ["1/1", "Running"], "{text}");
    let deployment = &kubectl(cluster, namespace, "deploy")["web"];
    assert_eq!(cells("web")[..2], [deployment[0].clone(), "-".to_owned()], "{text}");
    let (set, printed) = kubectl(cluster, namespace, "rs").pop_first().expect("a ReplicaSet");
    assert_eq!(cells(&set)[0], format!("{}/{}", printed[2], printed[0]), "{text}");
    assert_eq!(ran.stderr, "");

    let document = cluster.gc(&["tree", "deploy/web", "-n", namespace, "-o", "json"]).json();
    let nodes = document["nodes"].as_array().expect("nodes");
    let node = nodes.iter().find(|node| node["name"] == *crashing).expect("the pod");
    assert_eq!(
        [&node["ready"], &node["status"], &node["restarts"]],
        [&json!("0/1"), &json!("CrashLoopBackOff"), &json!("7")]
    );
    let created = cluster.get(&format!("/api/v1/namespaces/{namespace}/pods/{crashing}")).expect("the pod");
    assert_eq!(node["created"], created["metadata"]["creationTimestamp"]);
    assert!(document.get("statusGaps").is_none());
}

#[test]
fn one_table_is_asked_for_each_resource_that_is_shown() {
    let trial = Trial::new("tables", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    shop(&trial);
    trial.config_map("apart").create();
    let proxy = CountingProxy::start(cluster);
    let tables = |args: &[&str]| -> Vec<String> {
        proxy.forget();
        cluster.gc_with(proxy.kubeconfig(), &[&["tree", "-n", namespace], args].concat()).expect(0);
        let asked = proxy.requests().into_iter().filter(|request| request.accept.contains("as=Table"));
        let mut paths: Vec<String> = asked
            .map(|request| {
                assert_eq!(request.accept, TABLE);
                assert_eq!(request.query, "includeObject=Metadata&limit=500");
                request.path
            })
            .collect();
        paths.sort();
        paths
    };
    let apps = format!("/apis/apps/v1/namespaces/{namespace}");
    let pods = format!("/api/v1/namespaces/{namespace}/pods");
    let shown = [pods, format!("{apps}/deployments"), format!("{apps}/replicasets")];
    // The ConfigMap has neither owners nor dependents: it is only counted.
    assert_eq!(tables(&[]), shown);
    assert_eq!(tables(&["deploy/web"]), shown);
    assert_eq!(tables(&["deploy/web", "--depth", "1"]), shown[1..]);
    assert_eq!(tables(&["cm/apart"]), [format!("/api/v1/namespaces/{namespace}/configmaps")]);
    for nothing in [&["-o", "name"][..], &["-o", "collector-dot"]] {
        assert_eq!(tables(nothing), Vec::<String>::new(), "{nothing:?}");
    }
    assert_eq!(tables(&["-o", "dot"]), shown, "a picture says what the text says");
    // Objects of several namespaces are in one list.
    let elsewhere = trial.another_namespace();
    trial.widget("here").create();
    cluster.create(object!("gc.test/v1 Widget", {"name": "there", "namespace": elsewhere}));
    proxy.forget();
    cluster.gc_with(proxy.kubeconfig(), &["tree", "widgets", "-A"]).expect(0);
    let asked: Vec<_> = proxy.requests().into_iter().filter(|request| request.accept == TABLE).collect();
    let widgets = asked.iter().filter(|request| request.path.ends_with("/widgets"));
    assert_eq!(widgets.map(|request| request.path.as_str()).collect::<Vec<_>>(), ["/apis/gc.test/v1/widgets"]);
}

/// kubectl output: a Table that can't be read | different: `?` and `<unknown>`, and a line on standard error
#[test]
fn a_table_that_cannot_be_read_is_said_and_nothing_is_made_up() {
    let trial = Trial::new("no-table", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    let [crashing, _] = shop(&trial);
    let proxy = CountingProxy::start(cluster);
    proxy.with(|request| {
        (request.accept.contains("as=Table") && request.path.ends_with("/pods"))
            .then(|| Fault::status(403, "Forbidden"))
    });
    let ran = cluster.gc_with(proxy.kubeconfig(), &["tree", "deploy/web", "-n", namespace]);
    let text = ran.expect(0);
    let line = text.lines().find(|line| line.contains(&crashing)).unwrap_or_else(|| panic!("{text}"));
    let cells: Vec<&str> = line.split(&crashing).last().unwrap_or_default().split_whitespace().collect();
    assert_eq!(cells[..2], ["?", "<unknown>"], "{text}");
    assert!(cells[2].ends_with('s') || cells[2].ends_with('m'), "its age is known: {text}");
    assert!(text.lines().any(|line| line.starts_with("Deployment/web ") && line.contains("/2 ")), "{text}");
    let note = format!("READY and STATUS could not be read: pods in namespace {namespace} (forbidden).\n");
    assert_eq!(ran.stderr, note);

    let ran = cluster.gc_with(proxy.kubeconfig(), &["tree", "deploy/web", "-n", namespace, "-o", "json"]);
    let document = ran.json();
    assert_eq!(document["complete"], true);
    assert_eq!(document["statusGaps"][0]["resource"], "pods");
    let pods = document["nodes"].as_array().into_iter().flatten().filter(|node| node["kind"] == "Pod");
    let pods: Vec<_> = pods.map(|pod| (pod.get("ready").is_some(), pod["statusUnread"] == true)).collect();
    assert_eq!(pods, [(false, true), (false, true)]);

    // A server without Tables answers with the list.
    proxy.with(|request| request.accept.contains("as=Table").then_some(Fault::Accept("application/json")));
    let ran = cluster.gc_with(proxy.kubeconfig(), &["tree", "deploy/web", "-n", namespace]);
    assert!(ran.expect(0).contains("<unknown>"), "{ran:?}");
    assert!(ran.stderr.contains("the server prints no table of it"), "{ran:?}");
}

/// kubectl flag: `tree --include-types`, `--exclude-types` | own: types as in TARGETs
#[test]
fn types_that_are_not_shown_are_not_asked_for() {
    let trial = Trial::new("types", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    shop(&trial);
    let proxy = CountingProxy::start(cluster);
    let shown = |flag: &str| {
        proxy.forget();
        let ran = cluster.gc_with(proxy.kubeconfig(), &["tree", "deploy/web", "-n", namespace, "--no-fold", flag]);
        let kinds = ran.expect(0).lines().skip(3).take_while(|line| !line.is_empty());
        let name = |line: &str| line.trim_start_matches(['│', '├', '└', '─', ' ']).split('/').next().map(str::to_owned);
        let kinds: Vec<String> = kinds.filter_map(name).collect();
        let tables = proxy.requests().into_iter().filter(|request| request.accept == TABLE).count();
        (kinds, tables)
    };
    let texts = |kinds: &[&str]| kinds.iter().map(|kind| (*kind).to_owned()).collect::<Vec<_>>();
    assert_eq!(shown("--include-types=po"), (texts(&["Deployment", "ReplicaSet", "Pod", "Pod"]), 3));
    assert_eq!(shown("--include-types=rs,events"), (texts(&["Deployment", "ReplicaSet"]), 2));
    assert_eq!(shown("--exclude-types=pods"), (texts(&["Deployment", "ReplicaSet"]), 2));
    assert_eq!(shown("--exclude-types=replicasets.apps"), (texts(&["Deployment"]), 1));
    let ran = cluster.gc(&["tree", "-n", namespace, "--include-types=pdos"]);
    assert!(ran.stderr.contains("the server has no resource type \"pdos\""), "{ran:?}");
}
