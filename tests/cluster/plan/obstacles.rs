//! What is in the way of a delete: webhooks that must be asked and can't be (S9), a controller manager that is away
//! (S7), and what a delete takes down itself.

use std::{collections::BTreeSet, thread};

use http::Method;
use serde_json::{Value, json};

use super::trial::{Case, Prediction, Trial, all_come_true_by, predict};
use crate::{
    delete::kit::checked,
    doctor::{definition, kit::lease, paste},
    harness::{ADMIN, Alone, COLLECTOR, Cluster, NAMESPACES, Options, PATIENCE, api_service, conforms},
};

/// A webhook without a backend for these operations on these resources, in the namespace of the trial.
fn webhook(trial: &Trial<'_>, resources: &[&str], operations: &[&str], more: &Value) -> Value {
    let name = &trial.namespace;
    let mut webhook = json!({
        "name": format!("{name}.odd.test"),
        "clientConfig": {"service": {"namespace": name, "name": "missing"}},
        "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": resources, "operations": operations}],
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}},
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 1,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        webhook[key] = value.clone();
    }
    trial.cluster.create(object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {
        "name": name,
        "webhooks": [webhook],
    }))
}

/// Waits until the API server calls the webhooks for these objects.
fn asked(cluster: &Cluster, objects: &[(Value, &str)]) {
    for (object, operation) in objects {
        let path = cluster.path_of(object);
        cluster.wait_until("the webhook to be asked", PATIENCE, || {
            let body = json!({"metadata": {"labels": {"a": "b"}}});
            let answer = match *operation {
                "DELETE" => cluster.ask(&Method::DELETE, &format!("{path}?dryRun=All"), None),
                _ => {
                    let patch = Some(("application/merge-patch+json", &body));
                    cluster.ask(&Method::PATCH, &format!("{path}?dryRun=All"), patch)
                }
            };
            !answer.is_success()
        });
    }
}

/// An owner with dependents, one of which has a dependent, too.
pub(super) fn family(trial: &Trial<'_>) -> [Value; 4] {
    let owner = trial.widget("owner").create();
    let first = trial.config_map("first").blocking(&owner).create();
    let second = trial.config_map("second").owned_by(&owner).create();
    let below = trial.widget("below").blocking(&first).create();
    [owner, first, second, below]
}

fn prevented(prediction: &Prediction<'_>) -> Vec<(String, BTreeSet<String>)> {
    let obstacles = prediction.plan["obstacles"].as_array().cloned().unwrap_or_default();
    let name = |object: &Value| object["name"].as_str().unwrap_or_default().to_owned();
    let of = |obstacle: &Value| {
        let prevents = obstacle["prevents"].as_array().into_iter().flatten().map(name).collect();
        (obstacle["obstacle"].as_str().unwrap_or_default().to_owned(), prevents)
    };
    obstacles.iter().map(of).collect()
}

/// What a webhook is asked about, the policy, the target, and what the webhook prevents.
type Row = (&'static [&'static str], &'static str, &'static str, &'static str, &'static [&'static str]);

const ROWS: &[Row] = &[
    (&["configmaps"], "DELETE", "Background", "widget/owner", &["below", "first", "second"]),
    (&["configmaps"], "DELETE", "Foreground", "widget/owner", &["below", "first", "owner", "second"]),
    (&["configmaps"], "DELETE", "Orphan", "widget/owner", &[]),
    (&["configmaps", "widgets"], "UPDATE", "Background", "widget/owner", &[]),
    (&["configmaps"], "UPDATE", "Orphan", "widget/owner", &["first", "owner", "second"]),
    (&["widgets"], "UPDATE", "Foreground", "widget/owner", &["owner"]),
    (&["widgets"], "DELETE", "Background", "widget/owner", &["below", "first", "owner", "second"]),
    (&["configmaps"], "DELETE", "Background", "ns", &["first", "second", "NAMESPACE"]),
    (&["pods"], "DELETE", "Background", "ns", &[]),
];

/// R9.30, R9.31: nobody can write then.
#[test]
#[ignore = "long: a cluster of its own"]
fn webhooks_that_cannot_be_asked() {
    let cluster = Alone::with(&[COLLECTOR, NAMESPACES]);
    let mut cases: Vec<Case<'_>> = Vec::new();
    let mut to_ask: Vec<(Value, &str)> = Vec::new();
    let mut configurations = Vec::new();
    for (resources, operation, policy, target, _) in ROWS {
        let trial = Trial::on(&cluster, "hooked", policy);
        let [owner, first, ..] = family(&trial);
        let asked_about = if resources.contains(&"widgets") { owner } else { first };
        configurations.push(webhook(&trial, resources, &[operation], &json!({})));
        if *resources != ["pods"] {
            to_ask.push((asked_about, operation));
        }
        let target = if *target == "ns" { format!("ns/{}", trial.namespace) } else { (*target).to_owned() };
        cases.push(trial.deleting(vec![target]));
    }
    asked(&cluster, &to_ask);
    // Not asked: its selectors don't match, or its failure is ignored.
    let elsewhere = json!({"namespaceSelector": {"matchExpressions": [{"key": "kubernetes.io/metadata.name",
        "operator": "NotIn", "values": ["hooked"]}, {"key": "no-such-label", "operator": "Exists"}]}});
    for more in [&elsewhere, &json!({"failurePolicy": "Ignore"})] {
        let trial = Trial::on(&cluster, "unhooked", "Foreground");
        family(&trial);
        // It doesn't concern cluster-scoped objects, which no namespaceSelector exempts.
        webhook(&trial, &["configmaps", "widgets"], &["UPDATE", "DELETE"], more);
        cases.push(trial.deleting(vec!["widget/owner".to_owned()]));
    }
    // Only some are chosen: a collection is deleted up to the first that fails.
    let trial = Trial::on(&cluster, "chosen", "Background");
    for name in ["a", "b", "c"] {
        trial.config_map(name).create();
    }
    let chosen = trial.cluster.patch(
        &format!("/api/v1/namespaces/{}/configmaps/b", trial.namespace),
        &json!({"metadata": {"labels": {"chosen": "yes"}}}),
    );
    webhook(&trial, &["configmaps"], &["DELETE"], &json!({"objectSelector": {"matchLabels": {"chosen": "yes"}}}));
    asked(&cluster, &[(chosen, "DELETE")]);
    let target = format!("ns/{}", trial.namespace);
    cases.push(trial.deleting(vec![target]));

    let predicted = predict(cases);
    for (prediction, (resources, operation, policy, target, prevents)) in predicted.iter().zip(ROWS) {
        let namespace = prediction.case.trial.namespace.clone();
        let prevents: BTreeSet<String> = prevents.iter().map(|name| name.replace("NAMESPACE", &namespace)).collect();
        let expected: Vec<(String, BTreeSet<String>)> =
            (!prevents.is_empty()).then(|| ("webhook-unreachable".to_owned(), prevents)).into_iter().collect();
        let row = format!("{resources:?} {operation} {policy} {target}");
        assert_eq!(prevented(prediction), expected, "{row}: {:#}", prediction.plan);
        conforms("plan", &prediction.plan);
    }
    for unhooked in &predicted[ROWS.len()..ROWS.len() + 2] {
        assert_eq!(prevented(unhooked), [], "{:#}", unhooked.plan);
    }
    all_come_true_by(&predicted, delete_if_allowed);

    // What the plans recommend heals it: all that was prevented happens then, as their second end says (R9.39).
    for configuration in &configurations {
        cluster.delete(&cluster.path_of(configuration), None, None);
    }
    for (prediction, row) in predicted.iter().zip(ROWS) {
        let later: Vec<&Value> = prediction.plan["then"]["outcomes"].as_array().into_iter().flatten().collect();
        let refused = prediction.plan["verdict"]["result"] == "refused";
        assert_eq!(later.is_empty(), refused || row.4.is_empty(), "{row:?}: {:#}", prediction.plan);
        for outcome in later.iter().filter(|outcome| outcome["outcome"] == "Deleted") {
            let object = &outcome["object"];
            let (api_version, kind) = (&object["apiVersion"], &object["kind"]);
            let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata(object)});
            let path = cluster.path_of(&object);
            cluster.wait_until(&format!("{path} to go"), PATIENCE, || cluster.get(&path).is_none());
        }
    }
}

/// Deletes the targets; some may be refused.
fn delete_if_allowed(prediction: &Prediction<'_>) {
    let cluster = prediction.case.trial.cluster;
    for target in prediction.plan["targets"].as_array().into_iter().flatten() {
        let (api_version, kind) = (&target["apiVersion"], &target["kind"]);
        let object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata(target)});
        let options = json!({"propagationPolicy": prediction.case.trial.policy});
        cluster.ask(&Method::DELETE, &cluster.path_of(&object), Some(("application/json", &options)));
    }
}

/// The name and namespace of an object in a plan.
fn metadata(object: &Value) -> Value {
    match object.get("namespace") {
        Some(namespace) => json!({"name": object["name"], "namespace": namespace}),
        None => json!({"name": object["name"]}),
    }
}

/// S7: the controller manager's Lease is old.
#[test]
#[ignore = "long: waits until nothing happens"]
fn a_controller_manager_that_is_away() {
    let cluster = Alone::with(&[]);
    lease(&cluster, "kube-system", "kube-controller-manager", 3600, 15);
    let plan = |trial: &Trial<'_>, target: &str, policy: &str, code: i32| {
        let policy = format!("--propagation={policy}");
        let ran = cluster.gc(&["plan", "-o", "json", "-n", &trial.namespace, &policy, target]);
        assert!(!ran.stdout.is_empty(), "{}", ran.stderr);
        let plan = ran.json();
        ran.expect(code);
        plan
    };
    let trial = Trial::on(&cluster, "away", "Foreground");
    family(&trial);
    let alone = trial.config_map("alone").create();
    let leaf = plan(&trial, "cm/alone", "background", 0);
    assert_eq!((leaf["summary"]["deleted"].as_i64(), leaf.get("obstacles")), (Some(1), None), "{leaf:#}");
    let outcomes = |plan: &Value| -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let outcomes = plan["outcomes"].as_array().cloned().unwrap_or_default();
        outcomes.iter().map(|outcome| (text(&outcome["object"]["name"]), text(&outcome["outcome"]))).collect()
    };
    let row = |name: &str, outcome: &str| (name.to_owned(), outcome.to_owned());
    let background = plan(&trial, "widget/owner", "background", 2);
    assert_eq!(outcomes(&background), [row("owner", "Deleted")]);
    let foreground = plan(&trial, "widget/owner", "foreground", 2);
    assert_eq!(outcomes(&foreground), [row("owner", "Terminating")]);
    assert_eq!(foreground["outcomes"][0]["state"], "stuck");
    for plan in [&background, &foreground] {
        let [obstacle] = plan["obstacles"].as_array().expect("obstacles").as_slice() else { panic!("{plan:#}") };
        assert_eq!(obstacle["obstacle"], "collector-stopped");
        assert!(obstacle["prevents"].as_array().is_some_and(|prevents| prevents.len() >= 3), "{obstacle:#}");
    }
    let whole = plan(&trial, &format!("ns/{}", trial.namespace), "background", 2);
    assert_eq!(outcomes(&whole), [row(&trial.namespace, "Terminating")]);

    // A delete says so before it asks, and ends its wait with that verdict instead of at its timeout.
    let ran = thread::scope(|scope| {
        let delete = scope.spawn(|| {
            let args =
                ["delete", "-n", &trial.namespace, "--propagation=foreground", "widget/owner", "--yes", "-o", "json"];
            cluster.gc(&[&args[..], &["--timeout=300s"]].concat())
        });
        delete.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    ran.expect(2);
    let document = checked(ran.json());
    assert!(document["ended"] != "TimedOut" && document["seconds"].as_f64() < Some(200.0), "{document:#}");
    assert_eq!(document["finding"], "collector-stopped", "{document:#}");
    let ran = cluster.gc(&["delete", "-n", &trial.namespace, "--propagation=background", "cm/first", "--dry-run"]);
    let text = ran.expect(2);
    assert!(text.contains("kube-controller-manager's lease expired"), "{text}");
    let pods = "kubectl get pods -n kube-system -l component=kube-controller-manager";
    assert!(text.contains("kubectl gc sweep") && text.contains(pods), "{text}");

    // It comes back: everything is as usual.
    cluster.patch(
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager",
        &json!({"spec": {"renewTime": jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.000000Z").to_string()}}),
    );
    let back = plan(&trial, "widget/owner", "background", 0);
    assert_eq!(back.get("obstacles"), None, "{back:#}");
    drop(alone);

    // It goes away again while a delete is followed, which waits as long as for a collector that does nothing.
    let ran = cluster.gc(&["delete", "-n", &trial.namespace, "cm/first", "--propagation=foreground", "--yes"]);
    let text = ran.expect(2);
    assert!(text.contains("STUCK: ") && text.contains("No controller manager is known to run: "), "{text}");
    assert!(text.contains(&format!("Next  kubectl gc sweep -n {}", trial.namespace)), "{text}");
    assert!(ran.stderr.contains("Waiting for") && !ran.stderr.contains("()"), "{}", ran.stderr);
    assert!(ran.stderr.contains("no change for 50s"), "{}", ran.stderr);
}

/// Nothing shows beforehand that no collector runs: it is noticed when nothing happens.
#[test]
#[ignore = "long: waits until nothing happens"]
fn a_collector_that_does_nothing() {
    let cluster = Alone::with(&[]);
    let trial = Trial::on(&cluster, "idle", "Background");
    let [_, first, ..] = family(&trial);
    let args = ["delete", "-n", &trial.namespace, "widget/owner", "--yes", "--timeout=400s"];
    let ran = cluster.gc(&args);
    let text = ran.expect(2);
    assert!(text.contains("The collector has not acted for") && text.contains("kubectl gc sweep"), "{text}");
    assert!(text.contains("Next  kubectl gc doctor --probe"), "{text}");
    assert!(ran.stderr.contains("Waiting for") && !ran.stderr.contains("()"), "{}", ran.stderr);
    assert!(cluster.get(&cluster.path_of(&first)).is_some());
}

/// A policy that refuses this operation on ConfigMaps that are labelled `locked`, and on those called `rest` besides.
fn lock(trial: &Trial<'_>, operation: &str) {
    let rule =
        json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": [operation]});
    trial.policy(
        "ValidatingAdmissionPolicy",
        json!({
            "matchConstraints": {"resourceRules": [rule], "objectSelector": {"matchLabels": {"locked": "yes"}}},
            "validations": [{"expression": "false"}],
        }),
    );
}

/// R9.33: a policy concerns the collector and the namespace controller, too.
#[test]
#[ignore = "long: a cluster of its own with policies"]
fn policies_that_refuse() {
    let cluster = Alone::with(&[COLLECTOR, NAMESPACES]);
    let rows = [
        ("DELETE", "Background", "widget/owner", &["below", "first"][..]),
        ("DELETE", "Foreground", "widget/owner", &["below", "first", "owner"]),
        ("UPDATE", "Orphan", "widget/owner", &["first", "owner"]),
        ("DELETE", "Background", "ns", &["first", "NAMESPACE"]),
    ];
    let (mut cases, mut to_ask) = (Vec::new(), Vec::new());
    for (operation, policy, target, _) in rows {
        let trial = Trial::on(&cluster, "locked", policy);
        let [_, first, ..] = family(&trial);
        let path = cluster.path_of(&first);
        cluster.patch(&path, &json!({"metadata": {"labels": {"locked": "yes"}}}));
        lock(&trial, operation);
        to_ask.push((first, operation));
        let target = if target == "ns" { format!("ns/{}", trial.namespace) } else { target.to_owned() };
        cases.push(trial.deleting(vec![target]));
    }
    asked(&cluster, &to_ask);
    let predicted = predict(cases);
    for (prediction, (operation, policy, target, prevents)) in predicted.iter().zip(rows) {
        let namespace = prediction.case.trial.namespace.clone();
        let prevents: BTreeSet<String> = prevents.iter().map(|name| name.replace("NAMESPACE", &namespace)).collect();
        let expected: Vec<(String, BTreeSet<String>)> =
            (!prevents.is_empty()).then(|| ("policy-refuses".to_owned(), prevents)).into_iter().collect();
        assert_eq!(prevented(prediction), expected, "{operation} {policy} {target}: {:#}", prediction.plan);
        conforms("plan", &prediction.plan);
        let allows = format!("the policy ValidatingAdmissionPolicy/{namespace} allows these deletes and changes");
        let assumes = prediction.plan["assumes"].as_array().cloned().unwrap_or_default();
        assert!(!assumes.contains(&json!(allows)), "{assumes:?}");
    }
    // A dry run asks about what follows, too.
    let namespace = predicted[0].case.trial.namespace.as_str();
    let dry = cluster.gc(&["delete", "widget/owner", "-n", namespace, "--dry-run=server"]);
    assert_eq!(dry.code, Some(2), "{}{}", dry.stdout, dry.stderr);
    assert!(dry.stderr.contains("error: the API server refuses to delete ConfigMap/first: "), "{}", dry.stderr);
    assert!(dry.stderr.contains("would also accept 2 of 3 deletes that follow"), "{}", dry.stderr);
    // What nothing here can judge, Next asks the API server about.
    let trial = Trial::on(&cluster, "judged", "Background");
    let [_, first, ..] = family(&trial);
    trial.refusing(&["DELETE"], "configmaps", "oldObject.metadata.name != 'first'");
    asked(&cluster, &[(first, "DELETE")]);
    let namespace = trial.namespace.as_str();
    let plan = cluster.gc(&["plan", "configmap/first", "-n", namespace]);
    let ask = format!("kubectl gc delete configmaps/first -n {namespace} --dry-run=server");
    assert!(plan.stdout.contains("UNSURE: ") && plan.stdout.contains(&ask), "{}{}", plan.stdout, plan.stderr);
    let dry = cluster.gc(&["delete", "configmap/first", "-n", namespace, "--dry-run=server"]);
    assert!(dry.stderr.contains("denied request"), "{}{}", dry.stdout, dry.stderr);
    all_come_true_by(&predicted, delete_if_allowed);
}

/// The webhook's Service goes with this delete: what should follow can't be deleted any more.
#[test]
fn a_webhook_that_a_delete_takes_down() {
    let cluster = Alone::with(&[COLLECTOR]);
    let trial = Trial::on(&cluster, "hooks", "Background");
    let place = trial.namespace.as_str();
    let service = cluster.create(object!("v1 Service", {"name": "missing", "namespace": place,
        "spec": {"ports": [{"port": 443}]}}));
    trial.includes(service["spec"]["clusterIP"].as_str().unwrap_or_default());
    cluster.create(object!("discovery.k8s.io/v1 EndpointSlice", {
        "name": "missing-1", "namespace": place, "labels": {"kubernetes.io/service-name": "missing"},
        "addressType": "IPv4",
        "endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": true}}],
    }));
    trial.config_map("behind").owned_by(&service).create();
    trial.widget("beside").owned_by(&service).create();
    webhook(&trial, &["configmaps"], &["DELETE"], &json!({"timeoutSeconds": 1}));
    let predicted = predict(vec![trial.deleting(vec!["svc/missing".to_owned()])]);
    let obstacles = &predicted[0].plan["obstacles"];
    assert_eq!(prevented(&predicted[0]), [("webhook-unreachable".to_owned(), ["behind".to_owned()].into())]);
    assert_eq!((&obstacles[0]["takenDown"], &obstacles[0]["resources"]), (&json!(true), &json!(["configmaps"])));
    all_come_true_by(&predicted, delete_if_allowed);
}

/// An API server that serves jars to everybody on this machine, and its port.
pub fn backend() -> (Alone, u16) {
    let backend = Alone::start(&Options::default());
    backend.create(definition("jars", &["v1"]));
    backend.create(object!("rbac.authorization.k8s.io/v1 ClusterRoleBinding", {
        "name": "everybody",
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "system:unauthenticated"}],
    }));
    let kubeconfig = std::fs::read_to_string(backend.kubeconfig(ADMIN)).unwrap();
    let port = kubeconfig.split("https://127.0.0.1:").nth(1).expect("its address");
    let port = port.chars().take_while(char::is_ascii_digit).collect::<String>();
    (backend, port.parse().unwrap())
}

/// What that backend serves.
pub const JARS: [&str; 3] = ["odd.test", "v1", "jars"];

/// Whether the backend is asked and answers.
pub fn jars_answer(cluster: &Cluster) -> bool {
    cluster.ask(&Method::GET, "/apis/odd.test/v1/jars", None).is_success()
}

/// The APIService of jars behind the Service `jars` of a namespace.
pub fn jars_behind(namespace: &str, port: u16) -> Value {
    let mut service = api_service("odd.test", namespace, "jars");
    service["spec"]["service"]["port"] = json!(port);
    service
}

/// R9.11, S11: an aggregated API with a real backend, which a delete takes down.
#[test]
#[ignore = "long: two clusters, one of them behind the other"]
fn an_api_that_a_delete_takes_down() {
    let (_backend, port) = backend();
    let cluster = Alone::start(&Options::default());
    let [apis, doomed] = ["apis", "doomed"].map(|name| cluster.namespace(name));
    let service = cluster.create(object!("v1 Service", {"name": "jars", "namespace": apis,
        "spec": {"type": "ExternalName", "externalName": "localhost"}}));
    let api = cluster.create(jars_behind(&apis, port));
    let is_available = |status: &str| cluster.has_condition(&cluster.path_of(&api), "Available", status);
    cluster.wait_until("the API to answer", PATIENCE, || {
        is_available("True") && jars_answer(&cluster) && cluster.discovers(JARS)
    });
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let plan = |target: &str, code: i32| {
        let ran = cluster.gc(&["plan", "-o", "json", "-n", &apis, target]);
        assert_eq!(ran.code, Some(code), "{}{}", ran.stdout, ran.stderr);
        let plan = ran.json();
        conforms("plan", &plan);
        plan
    };
    let taken = plan("svc/jars", 2);
    let [obstacle] = taken["obstacles"].as_array().expect("obstacles").as_slice() else { panic!("{taken:#}") };
    assert_eq!((&obstacle["obstacle"], &obstacle["takenDown"]), (&json!("api-unavailable"), &json!(true)));
    assert_eq!(plan(&format!("ns/{doomed}"), 0).get("obstacles"), None);

    cluster.delete(&cluster.path_of(&service), None, None);
    cluster.wait_until("the API to be away", PATIENCE, || is_available("False"));
    let stuck = plan(&format!("ns/{doomed}"), 2);
    let [obstacle] = stuck["obstacles"].as_array().expect("obstacles").as_slice() else { panic!("{stuck:#}") };
    assert_eq!((&obstacle["takenDown"], &obstacle["prevents"][0]["name"]), (&json!(false), &json!(doomed)));
    let namespace = format!("/api/v1/namespaces/{doomed}");
    cluster.delete(&namespace, None, None);
    cluster.wait_until("the namespace controller to complain", PATIENCE, || {
        let now = cluster.get(&namespace).expect("it stays");
        let conditions = now["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|condition| condition["status"] == "True")
    });
    // What the plan recommends heals it.
    paste(&cluster, obstacle["commands"][0].as_str().expect("a command"));
    cluster.wait_until("the namespace to go", PATIENCE, || cluster.get(&namespace).is_none());
}
