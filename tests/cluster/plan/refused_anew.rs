//! What the API server refuses to create again (R9.44), and a policy whose parameters go (R9.45).

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Alone, Cluster, Options, PATIENCE, WORKLOADS, conforms};

const POLICIES: &str = "admissionregistration.k8s.io/v1";

fn pod_spec() -> Value {
    json!({"serviceAccountName": "web", "containers": [{"name": "main", "image": "main"}]})
}

/// A namespace with a Deployment of one pod, which names these, too. Returns both names.
fn web(cluster: &Cluster, prefix: &str, more: &Value) -> [String; 2] {
    let namespace = cluster.namespace(prefix);
    let mut spec = pod_spec();
    for (key, value) in more.as_object().into_iter().flatten() {
        spec[key] = value.clone();
    }
    let account = json!({"name": "web", "namespace": namespace});
    cluster.create(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}));
    cluster.create(object!("apps/v1 Deployment", {
        "name": "web", "namespace": namespace,
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    }));
    cluster.wait_until("its pod", PATIENCE, || pods(cluster, &namespace).len() == 1);
    let pod = pods(cluster, &namespace).remove(0);
    [namespace, pod]
}

fn pods(cluster: &Cluster, namespace: &str) -> Vec<String> {
    let name = |pod: Value| pod["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    cluster.list(&format!("/api/v1/namespaces/{namespace}/pods")).into_iter().map(name).collect()
}

/// Waits until the API server refuses a pod called `probe`.
fn refused(cluster: &Cluster, namespace: &str) {
    let pod = object!("v1 Pod", {"name": "probe", "spec": pod_spec()});
    let path = format!("/api/v1/namespaces/{namespace}/pods?dryRun=All");
    cluster.wait_until("a pod to be refused", PATIENCE, || {
        !cluster.ask(&Method::POST, &path, Some(("application/json", &pod))).is_success()
    });
}

/// What a plan to delete these says that becomes of a pod: `what because`; and its verdict.
fn afterwards(cluster: &Cluster, [namespace, pod]: &[String; 2], targets: &[&str]) -> [String; 2] {
    let target = format!("pod/{pod}");
    let args = [&["plan", "-o", "json", "-n", namespace, &target], targets].concat();
    let plan = cluster.gc(&args).json();
    conforms("plan", &plan);
    let of_pod = |outcome: &&Value| outcome["object"]["name"] == **pod;
    let outcome = plan["outcomes"].as_array().into_iter().flatten().find(of_pod).cloned().unwrap_or_default();
    let after = &outcome["afterwards"][0];
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let said = format!("{} {}", text(&after["what"]), text(&after["because"]));
    [said.trim_end().to_owned(), text(&plan["verdict"]["result"])]
}

/// Deletes a pod for real, and waits until its ReplicaSet has made another, or has been refused.
fn delete(cluster: &Cluster, [namespace, pod]: &[String; 2], comes_back: bool) {
    cluster.delete(&format!("/api/v1/namespaces/{namespace}/pods/{pod}"), Some("Background"), Some(0));
    let sets = format!("/apis/apps/v1/namespaces/{namespace}/replicasets");
    let failed = |condition: &Value| condition["type"] == "ReplicaFailure" && condition["status"] == "True";
    let is_new = || pods(cluster, namespace).iter().any(|other| other != pod);
    cluster.wait_until(&format!("the ReplicaSet in {namespace}"), PATIENCE, || {
        let set = cluster.list(&sets).remove(0);
        is_new() || set["status"]["conditions"].as_array().into_iter().flatten().any(failed)
    });
    assert_eq!(is_new(), comes_back, "{namespace}");
}

/// Binds a policy about new pods of a namespace.
fn bind(cluster: &Cluster, namespace: &str, mut policy: Value, mut binding: Value) {
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]});
    policy["matchConstraints"] = json!({"resourceRules": [rule]});
    let metadata = json!({"name": namespace});
    cluster.create(json!({
        "apiVersion": POLICIES, "kind": "ValidatingAdmissionPolicy", "metadata": metadata, "spec": policy,
    }));
    binding["policyName"] = json!(namespace);
    binding["validationActions"] = json!(["Deny"]);
    binding["matchResources"] =
        json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}});
    cluster.create(json!({
        "apiVersion": POLICIES, "kind": "ValidatingAdmissionPolicyBinding", "metadata": metadata, "spec": binding,
    }));
}

/// A policy that takes its parameters from a ConfigMap, and refuses pods called `probe`.
fn with_parameters(cluster: &Cluster, prefix: &str, failure: &str, not_found: &str) -> [String; 2] {
    let names = web(cluster, prefix, &json!({}));
    let namespace = &names[0];
    let limits = json!({"name": "limits", "namespace": namespace});
    cluster.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": limits, "data": {"not": "probe"}}));
    let policy = json!({
        "failurePolicy": failure,
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "validations": [{"expression": "object.metadata.?name.orValue('') != params.data.not"}],
    });
    let parameters = json!({"name": "limits", "namespace": namespace, "parameterNotFoundAction": not_found});
    bind(cluster, namespace, policy, json!({"paramRef": parameters}));
    refused(cluster, namespace);
    names
}

#[test]
#[ignore = "long: a cluster of its own with webhooks and policies"]
fn what_admission_refuses_does_not_come_back() {
    let cluster = Alone::start(&Options {
        api_server: vec!["--disable-admission-plugins=StorageObjectInUseProtection".to_owned()],
        ..Options::default()
    });
    cluster.start_controllers(WORKLOADS);
    let nothing = json!({});
    let usual = web(&cluster, "usual", &nothing);
    let account = web(&cluster, "account", &nothing);
    cluster.create(object!("scheduling.k8s.io/v1 PriorityClass", {"name": "high", "value": 5}));
    let runtime = object!("node.k8s.io/v1 RuntimeClass", {"name": "kata", "handler": "kata"});
    cluster.create(runtime);
    let priority = web(&cluster, "priority", &json!({"priorityClassName": "high"}));
    let runtime = web(&cluster, "runtime", &json!({"runtimeClassName": "kata"}));
    let hook = web(&cluster, "hook", &nothing);
    cluster.create(json!({
        "apiVersion": POLICIES,
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "guard"},
        "webhooks": [{
            "name": "guard.odd.test",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "timeoutSeconds": 2,
            "clientConfig": {"service": {"namespace": hook[0], "name": "nowhere"}},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": hook[0]}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"], "operations": ["CREATE"]}],
        }],
    }));
    let policy = web(&cluster, "policy", &nothing);
    bind(&cluster, &policy[0], json!({"validations": [{"expression": "false"}]}), json!({}));
    // Nothing checks the pods that exist: what is enforced only counts for the next ones. Times are whole seconds.
    let enforced = web(&cluster, "enforced", &nothing);
    std::thread::sleep(Duration::from_secs(2));
    let label = json!({"metadata": {"labels": {"pod-security.kubernetes.io/enforce": "restricted"}}});
    cluster.patch(&format!("/api/v1/namespaces/{}", enforced[0]), &label);
    for refuses in [&hook, &policy, &enforced] {
        refused(&cluster, &refuses[0]);
    }
    // What a delete takes along, and what is gone before.
    assert_eq!(afterwards(&cluster, &account, &["sa/web"]), ["not-recreated missing", "deletes"]);
    cluster.delete(&format!("/api/v1/namespaces/{}/serviceaccounts/web", account[0]), Some("Background"), None);
    assert_eq!(afterwards(&cluster, &runtime, &["runtimeclass/kata"]), ["not-recreated missing", "deletes"]);
    cluster.delete("/apis/node.k8s.io/v1/runtimeclasses/kata", Some("Background"), None);
    cluster.delete("/apis/scheduling.k8s.io/v1/priorityclasses/high", Some("Background"), None);
    for (names, expected) in [
        (&usual, "recreated"),
        (&account, "not-recreated missing"),
        (&priority, "not-recreated missing"),
        (&runtime, "not-recreated missing"),
        (&hook, "not-recreated webhook-unreachable"),
        (&policy, "not-recreated policy-refuses"),
        (&enforced, "may-be-recreated"),
    ] {
        assert_eq!(afterwards(&cluster, names, &[]), [expected, "deletes"], "{}", names[0]);
        delete(&cluster, names, expected == "recreated");
    }
    // R9.45: `failurePolicy` decides, too.
    for (prefix, failure, not_found, refuses) in
        [("denies", "Fail", "Deny", true), ("ignores", "Ignore", "Deny", false), ("allows", "Fail", "Allow", false)]
    {
        let names = with_parameters(&cluster, prefix, failure, not_found);
        let expected = if refuses { ["not-recreated policy-refuses", "takes-down"] } else { ["recreated", "deletes"] };
        assert_eq!(afterwards(&cluster, &names, &["cm/limits"]), expected, "{prefix}");
        let lapses = cluster.gc(&["plan", "cm/limits", "-n", &names[0]]).stdout.contains("no longer applies");
        assert_eq!(lapses, !refuses, "{prefix}");
        cluster.delete(&format!("/api/v1/namespaces/{}/configmaps/limits", names[0]), Some("Background"), None);
        if refuses {
            // Whatever its name is.
            let pod = json!({"metadata": {"name": "other"}, "spec": pod_spec()});
            let path = format!("/api/v1/namespaces/{}/pods?dryRun=All", names[0]);
            cluster.wait_until("the API server to notice", PATIENCE, || {
                !cluster.ask(&Method::POST, &path, Some(("application/json", &pod))).is_success()
            });
        }
        delete(&cluster, &names, !refuses);
    }
}
