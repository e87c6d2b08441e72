//! Restores into another namespace.

use serde_json::{Value, json};

use super::kit::{Archives, archived, describe, live, merge, outcomes, owned, restore, tree};
use crate::harness::{Cluster, shared};

/// A small application in a namespace, and what refers to it from elsewhere.
fn application(namespace: &str, role: &str) -> Vec<Value> {
    let account = json!({"kind": "ServiceAccount", "name": "web", "namespace": namespace});
    let reference =
        |kind: &str, name: &str| json!({"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name});
    let settings = archived(
        "v1",
        "ConfigMap",
        namespace,
        "settings",
        &json!({"data": {
        "host": format!("db.{namespace}.svc.cluster.local"), "title": namespace}}),
    );
    let rbac = "rbac.authorization.k8s.io/v1";
    let peer = json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}}});
    let policy = json!({"spec": {"podSelector": {}, "ingress": [{"from": [peer]}]}});
    vec![
        archived("v1", "Namespace", "", namespace, &json!({})),
        archived("v1", "ServiceAccount", namespace, "web", &json!({})),
        archived(rbac, "Role", namespace, "web", &json!({"rules": []})),
        archived(
            rbac,
            "RoleBinding",
            namespace,
            "web",
            &json!({"roleRef": reference("Role", "web"), "subjects": [account]}),
        ),
        archived(rbac, "ClusterRole", "", role, &json!({"rules": []})),
        archived(
            rbac,
            "ClusterRoleBinding",
            "",
            role,
            &json!({"roleRef": reference("ClusterRole", role), "subjects": [account]}),
        ),
        settings.clone(),
        owned(archived("gc.test/v1", "Widget", namespace, "below", &json!({})), &[&settings]),
        archived("networking.k8s.io/v1", "NetworkPolicy", namespace, "web", &policy),
    ]
}

/// The objects as they should be in another namespace.
fn in_namespace(objects: &[Value], namespace: &str) -> Vec<Value> {
    let namespaced = objects.iter().filter(|object| object["metadata"]["namespace"].is_string()).cloned();
    let moved = namespaced.map(|mut object| {
        merge(&mut object, &json!({"metadata": {"namespace": namespace}}));
        object
    });
    moved.collect()
}

fn exists(cluster: &Cluster, object: &Value) -> bool {
    cluster.get(&cluster.path_of(object)).is_some()
}

#[test]
fn a_namespace_is_restored_into_another() {
    let cluster = shared();
    let archives = Archives::new();
    let (from, into, role) = (cluster.unique("from"), cluster.namespace("into"), cluster.unique("role"));
    let all = application(&from, &role);
    let archive = archives.write("elsewhere", &all);

    let missing = restore(cluster, &archive, &["-n", "no-such-place"]).ended(2);
    assert_eq!(
        describe(&missing, "ConfigMap/settings")["because"],
        "namespace no-such-place does not exist and is not restored: create it and run this again"
    );

    let ran = restore(cluster, &archive, &["-n", &into]).ended(0);
    for (name, outcome) in outcomes(&ran) {
        let here = !["Namespace/", "ClusterRole"].iter().any(|kind| name.starts_with(kind));
        assert_eq!(outcome, if here { "Created" } else { "LeftOut" }, "{name}");
    }
    let expected = in_namespace(&all, &into);
    let there = live(cluster, &expected);
    assert_eq!(tree(&there), tree(&expected));
    let binding = describe(&ran, "RoleBinding/web");
    assert_eq!((&binding["object"]["namespace"], &binding["archivedNamespace"]), (&json!(into), &json!(from)));
    let find = |kind: &str| there.iter().find(|object| object["kind"] == kind).expect("it was restored");
    assert_eq!(find("RoleBinding")["subjects"][0]["namespace"], *into);
    let policy = find("NetworkPolicy");
    let selector = &policy["spec"]["ingress"][0]["from"][0]["namespaceSelector"]["matchLabels"];
    assert_eq!(selector["kubernetes.io/metadata.name"], *into);
    // What only its author understands is told, and not changed.
    let settings = describe(&ran, "ConfigMap/settings");
    assert_eq!(settings["stillNames"], json!([{"path": "data.host", "namespace": from}]));
    assert_eq!(find("ConfigMap")["data"]["host"], format!("db.{from}.svc.cluster.local"));
    // The collector agrees.
    cluster.settled();
    assert_eq!(live(cluster, &expected).len(), expected.len());
    assert!(all.iter().all(|object| !exists(cluster, object)), "nothing is where it was");

    let again = restore(cluster, &archive, &["-n", &into]).ended(0);
    assert_eq!(again.json()["summary"]["created"], 0, "{}", again.stdout);

    let ran = restore(cluster, &archive, &["-n", &into, "--cluster-scoped"]).ended(0);
    assert_eq!(outcomes(&ran)[&format!("ClusterRoleBinding/{role}")], "Created");
    assert_eq!(outcomes(&ran)[&format!("Namespace/{from}")], "LeftOut");
    let binding = live(cluster, &all[5..6]).remove(0);
    assert_eq!(binding["subjects"][0]["namespace"], *into);
}

#[test]
fn each_namespace_goes_where_the_map_says() {
    let cluster = shared();
    let archives = Archives::new();
    let [one, two] = ["one", "two"].map(|name| cluster.unique(name));
    let [into, other] = ["into", "other"].map(|name| cluster.namespace(name));
    let config = |namespace: &str| archived("v1", "ConfigMap", namespace, "settings", &json!({}));
    let archive = archives.write("map", &[config(&one), config(&two)]);

    let unclear = restore(cluster, &archive, &["-n", &into]).ended(1);
    assert!(unclear.stderr.contains(&format!("use --namespace-map=OLD={into}")), "{}", unclear.stderr);
    let maps = [format!("--namespace-map={one}={into}"), format!("--namespace-map={two}={other}")];
    restore(cluster, &archive, &[&maps[0], &maps[1]]).expect(0);
    assert!(exists(cluster, &config(&into)) && exists(cluster, &config(&other)));
}
