//! The rights of `sweep`: a service account with the role from `--print-role` can do everything that a sweep does, and
//! needs every verb. The test applies the example in `examples` unchanged.

use std::{collections::BTreeSet, path::Path, sync::LazyLock};

use gc_cluster::{
    act::{Access, record_invalid_owner, review},
    cluster::{Connection, ConnectionOptions, EarlyLists, Wanted},
};
use gc_core::model::{Identity, Resources};
use http::Method;
use kubectl_gc::cli::role::{Role, role};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::harness::{ADMIN, Alone, PATIENCE, uid};

const JSON: &str = "application/json";
const NAMESPACE: &str = "kubectl-gc";
/// A cluster with the example applied. No controller runs its Deployment.
static CLUSTER: LazyLock<Alone> = LazyLock::new(|| {
    let cluster = Alone::with(&[]);
    let example = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/sweep-in-cluster.yaml"));
    cluster.apply_yaml(&example.expect("the example is there"));
    cluster
});

/// Connects as a service account, with a token from the API server.
fn as_account(account: &str, runtime: &Runtime) -> Connection {
    let path = format!("/api/v1/namespaces/{NAMESPACE}/serviceaccounts/{account}/token");
    let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let answer = CLUSTER.ask(&Method::POST, &path, Some((JSON, &request)));
    assert!(answer.is_success(), "{path}: {}", answer.text());
    let token = answer.json()["status"]["token"].as_str().map(str::to_owned);
    let options =
        ConnectionOptions { kubeconfig: Some(CLUSTER.kubeconfig(ADMIN)), token, ..ConnectionOptions::default() };
    runtime.block_on(Connection::open(&options)).expect("a connection")
}

/// Everything that a sweep does: these verbs on every resource.
fn all_of_it(resources: &Resources, verbs: &[&'static str]) -> BTreeSet<Access> {
    let access =
        |resource, verb| Access { verb, resource, subresource: "", namespace: String::new(), name: String::new() };
    resources.iter().flat_map(|(resource, _)| verbs.iter().map(move |verb| access(resource, *verb))).collect()
}

fn denied(connection: &Connection, runtime: &Runtime, verbs: &[&'static str]) -> Vec<String> {
    let (resources, gaps) =
        runtime.block_on(connection.discover()).expect("every service account may discover what there is");
    assert!(gaps.is_empty(), "{gaps:?}");
    let verdicts = runtime.block_on(review(connection, &resources, &all_of_it(&resources, verbs)));
    assert_eq!(verdicts.unknown, None);
    verdicts.denied.iter().map(|denied| denied.access.describe(&resources)).collect()
}

const VERBS: [&str; 5] = ["get", "list", "watch", "patch", "delete"];

/// R10.4.
#[test]
fn the_example_lets_a_sweep_do_all_it_does() {
    let runtime = Runtime::new().expect("a runtime");
    let namespace = CLUSTER.namespace("role");
    let sweep = as_account("sweep", &runtime);
    CLUSTER.wait_until("the role binding to work", PATIENCE, || denied(&sweep, &runtime, &VERBS).is_empty());
    // A sweep creates only events, and replaces nothing.
    for (verb, allowed) in
        [("create", vec!["events"]), ("update", vec![]), ("deletecollection", vec![]), ("escalate", vec![])]
    {
        let (resources, _) = runtime.block_on(sweep.discover()).expect("discovery");
        let all: BTreeSet<String> =
            all_of_it(&resources, &[verb]).iter().map(|access| access.describe(&resources)).collect();
        let denied: BTreeSet<String> = denied(&sweep, &runtime, &[verb]).into_iter().collect();
        let may: Vec<&str> =
            all.difference(&denied).filter_map(|access| access.strip_prefix(verb)).map(str::trim).collect();
        // Every user may create the reviews.
        let may: Vec<&str> = may.into_iter().filter(|resource| !resource.contains("selfsubject")).collect();
        assert_eq!(may, allowed, "{verb}");
    }

    // The rights are enough to read everything, and to write events as the collector does.
    let (resources, _) = runtime.block_on(sweep.discover()).expect("discovery");
    let snapshot =
        runtime.block_on(sweep.read(resources, &Wanted::default(), &EarlyLists::default())).expect("a snapshot").0;
    assert!(snapshot.complete(), "{:?}", snapshot.gaps);
    let mine = CLUSTER.create(object!("gc.test/v1 Widget", {"name": "w", "namespace": namespace}));
    let identity = Identity {
        api_version: "gc.test/v1".to_owned(),
        kind: "Widget".to_owned(),
        namespace: namespace.clone(),
        name: "w".to_owned(),
        uid: uid(&mine).to_owned(),
    };
    let owner = Identity { namespace: String::new(), ..identity.clone() };
    for _ in 0..2 {
        let recorded = record_invalid_owner(&sweep, &identity, &owner, jiff::Timestamp::now());
        runtime.block_on(recorded).expect("an event");
    }
    let events = CLUSTER.list(&format!("/api/v1/namespaces/{namespace}/events"));
    assert!(events.len() == 1 && events[0]["count"] == 2, "{events:?}");
}

/// One pass needs the same rights, except that it creates no events.
#[test]
#[ignore = "long: a sweep without each verb"]
fn without_any_of_its_verbs_a_sweep_is_short_of_something() {
    let runtime = Runtime::new().expect("a runtime");
    let printed: Value = serde_yaml::from_str(&role(Role::Pass)).expect("YAML");
    let account = |name: &str, verbs: Vec<&str>| {
        let mut role = printed.clone();
        role["metadata"]["name"] = json!(name);
        role["rules"][0]["verbs"] = json!(verbs);
        CLUSTER.create(role);
        CLUSTER.create(object!("v1 ServiceAccount", {"name": name, "namespace": NAMESPACE}));
        CLUSTER.create(object!("rbac.authorization.k8s.io/v1 ClusterRoleBinding", {
            "name": name,
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": NAMESPACE}],
        }));
        as_account(name, &runtime)
    };
    let all: Vec<&str> =
        printed["rules"][0]["verbs"].as_array().expect("verbs").iter().filter_map(Value::as_str).collect();
    let whole = account("one-pass", all.clone());
    CLUSTER.wait_until("the role binding to work", PATIENCE, || denied(&whole, &runtime, &VERBS).is_empty());
    for verb in VERBS {
        let less: Vec<&str> = all.iter().copied().filter(|other| *other != verb).collect();
        let connection = account(&format!("without-{verb}"), less);
        let (resources, _) = runtime.block_on(connection.discover()).expect("discovery");
        let every = resources.iter().count();
        let mut last = Vec::new();
        CLUSTER.wait_until("the role binding to work", PATIENCE, || {
            last = denied(&connection, &runtime, &VERBS);
            last.len() <= every
        });
        assert!(
            last.len() == every && last.iter().all(|access| access.starts_with(&format!("{verb} "))),
            "{verb}: {last:?}"
        );
    }
}

/// The pods of the Deployment satisfy the policy that the namespace enforces.
#[test]
fn the_examples_pods_are_allowed_where_they_are_to_run() {
    let deployment =
        CLUSTER.get(&format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments/sweep")).expect("it was applied");
    let create = |spec: &Value| {
        let pod = object!("v1 Pod", {"name": "sweep", "spec": spec});
        CLUSTER.ask(&Method::POST, &format!("/api/v1/namespaces/{NAMESPACE}/pods?dryRun=All"), Some((JSON, &pod)))
    };
    let mut spec = deployment["spec"]["template"]["spec"].clone();
    let answer = create(&spec);
    assert!(answer.is_success(), "{}", answer.text());
    spec["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = json!(true);
    assert!(create(&spec).text().contains("violates PodSecurity"), "the namespace enforces nothing");
}
