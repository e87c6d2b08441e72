//! `--print-role`: with the printed rights, a new user can do what the command does; without any of its rules, the
//! command says what is lacking.

use std::{path::Path, sync::LazyLock};

use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::harness::{Alone, PATIENCE, Ran, owner_reference};

const RBAC: &str = "rbac.authorization.k8s.io";

/// A cluster without controllers, with an application in one namespace.
static CLUSTER: LazyLock<Alone> = LazyLock::new(|| {
    let cluster = Alone::with(&[]);
    cluster.create(object!("v1 Node", {"name": "worker-1"}));
    cluster
});

fn config_map(namespace: &str) -> Value {
    object!("v1 ConfigMap", {"name": "settings", "namespace": namespace, "data": {"a": "b"}})
}

/// Creates the object unless it exists.
fn present(object: &Value) {
    if CLUSTER.get(&CLUSTER.path_of(object)).is_none() {
        CLUSTER.create(object);
    }
}

fn absent(object: &Value) {
    let path = CLUSTER.path_of(object);
    if CLUSTER.get(&path).is_some() {
        CLUSTER.delete(&path, None, Some(0));
    }
}

/// Whether the command could do all of its work: nothing was forbidden.
fn is_enough(ran: &Ran, code: Option<i32>) -> bool {
    ran.code == code
        && !["Could not", "could not be read", "may not", "forbidden"].iter().any(|it| ran.stderr.contains(it))
}

/// Whether the command names a resource of this rule as forbidden.
fn names_lack(ran: &Ran, rule: &Value) -> bool {
    let group = rule["apiGroups"][0].as_str().unwrap_or_default();
    let resources = rule["resources"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let named = |resource: &str| {
        let name = match (group, resource.split_once('/')) {
            ("", _) => resource.to_owned(),
            (_, None) => format!("{resource}.{group}"),
            (_, Some((plural, subresource))) => format!("{plural}.{group}/{subresource}"),
        };
        ran.stderr.contains(&format!(" {name} ")) || ran.stderr.contains(&format!(" {name},"))
    };
    let mut resources = resources;
    (ran.stderr.contains("forbidden") || ran.stderr.contains("may not")) && resources.any(named)
}

/// Prints the role of a command, runs it with just that, and again without each of at most `most` rules of each role.
#[track_caller]
fn rights_are_the_least(args: &[&str], most: usize, prepare: &dyn Fn()) {
    prepare();
    let printed = CLUSTER.gc(&[args, &["--print-role"]].concat()).ended(0);
    let documents = serde_yaml::Deserializer::from_str(&printed.stdout);
    let roles: Vec<Value> = documents.map(|it| Value::deserialize(it).expect("YAML")).collect();
    prepare();
    let code = CLUSTER.gc(args).code;
    let user = CLUSTER.unique("user");
    let run = || {
        prepare();
        CLUSTER.gc(&[args, &["--as", &user]].concat())
    };
    assert!(!is_enough(&run(), code), "the new user may do that without any role");
    let mut created = Vec::new();
    for mut role in roles {
        role["metadata"]["name"] = json!(user);
        let role = CLUSTER.create(role);
        let kind = role["kind"].as_str().unwrap_or_default();
        CLUSTER.create(json!({"apiVersion": format!("{RBAC}/v1"), "kind": format!("{kind}Binding"),
            "metadata": {"name": user, "namespace": role["metadata"]["namespace"]},
            "roleRef": {"apiGroup": RBAC, "kind": kind, "name": user},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": user}]}));
        created.push(role);
    }
    CLUSTER.wait_until(&format!("{args:?} to have enough rights"), PATIENCE, || {
        let ran = run();
        let enough = is_enough(&ran, code);
        if !enough {
            eprintln!("{args:?} with its role: {:?} {}", ran.code, ran.stderr);
        }
        enough
    });
    for role in &created {
        let path = CLUSTER.path_of(role);
        let rules = role["rules"].as_array().expect("rules");
        let step = (rules.len() / most.max(1)).max(1);
        for index in (0..rules.len()).step_by(step) {
            let mut less = rules.clone();
            let removed = less.remove(index);
            CLUSTER.patch(&path, &json!({"rules": less}));
            CLUSTER.wait_until(&format!("{args:?} to lack {removed}"), PATIENCE, || {
                let ran = run();
                let lacks = names_lack(&ran, &removed);
                if !lacks {
                    eprintln!("{args:?} without {removed}: {}", ran.stderr);
                }
                lacks
            });
        }
        CLUSTER.patch(&path, &json!({"rules": rules}));
    }
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a temporary folder has a readable name")
}

#[test]
#[ignore = "long: each command with the rights that it prints"]
fn readers_print_the_rights_that_they_need() {
    let namespace = CLUSTER.namespace("reader");
    let pod = object!("v1 Pod", {"name": "web", "namespace": namespace,
        "spec": {"nodeName": "worker-1", "containers": [{"name": "main", "image": "main"}]}});
    present(&pod);
    let nothing = || {};
    rights_are_the_least(&["plan", "pod/web", "-n", &namespace], 30, &nothing);
    rights_are_the_least(&["plan", "pod/web", "-n", &namespace, "--propagation=foreground"], 3, &nothing);
    rights_are_the_least(&["tree", "-n", &namespace], 3, &nothing);
    rights_are_the_least(&["explain", "pod/web", "-n", &namespace], 2, &nothing);
    rights_are_the_least(&["doctor", "-n", &namespace], 1, &nothing);
    rights_are_the_least(&["resources", "--count"], 2, &nothing);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("all.snapshot");
    let remove = || drop(std::fs::remove_file(&file));
    rights_are_the_least(&["snapshot", "-o", text(&file)], 2, &remove);
    let none = CLUSTER.gc(&["resources", "--print-role"]);
    assert!(none.expect(0).starts_with("# resources needs no rights"), "{}", none.stdout);
}

#[test]
#[ignore = "long: each command as a user with few rights"]
fn writers_print_the_rights_that_they_need() {
    let namespace = CLUSTER.namespace("writer");
    let settings = config_map(&namespace);
    let there = || present(&settings);
    rights_are_the_least(&["delete", "cm/settings", "-n", &namespace, "--yes"], 30, &there);
    // A dependent that is kept is patched.
    let (mut owner, mut kept) = (settings.clone(), settings.clone());
    (owner["metadata"]["name"], kept["metadata"]["name"]) = (json!("owner"), json!("kept"));
    let family = || {
        absent(&kept);
        present(&owner);
        let mut kept = kept.clone();
        let there = CLUSTER.get(&CLUSTER.path_of(&owner)).expect("it was created");
        kept["metadata"]["ownerReferences"] = json!([owner_reference(&there)]);
        CLUSTER.create(kept);
    };
    rights_are_the_least(&["delete", "cm/owner", "--keep=cm/kept", "-n", &namespace, "--yes"], 2, &family);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("archive.yaml");
    let archive = ["archive", "cm/settings", text(&file), "-n", &namespace];
    rights_are_the_least(&archive, 3, &|| {
        there();
        drop(std::fs::remove_file(&file));
    });
    there();
    CLUSTER.gc(&archive).expect(0);
    rights_are_the_least(&["restore", text(&file), "--yes"], 3, &|| absent(&settings));
    let offline = CLUSTER.gc(&["plan", "cm/settings", "--from", text(&file), "--print-role"]).ended(1);
    assert!(offline.stderr.contains("reads files, not a cluster"), "{}", offline.stderr);
}
