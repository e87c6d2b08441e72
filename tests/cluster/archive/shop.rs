//! The shop of the examples on a real cluster, archived.

use std::{collections::HashMap, fs, os::unix::fs::PermissionsExt as _};

use gc_cluster::archive::Archive;
use serde_json::{Value, json};

use super::{Folder, archive, names, objects, same, sorted};
use crate::{
    harness::{Cluster, example_shop, uid},
    plan::trial::Trial,
    sweep::uncollected,
};

/// The namespace in the example files.
const NAMESPACE: &str = "shop";

/// Creates the example's objects in this namespace. Replaces the uids in references with those of the real owners.
fn open_shop(cluster: &Cluster, namespace: &str) {
    let mut uids: HashMap<String, String> = HashMap::new();
    for mut object in example_shop() {
        if object["metadata"]["namespace"] != NAMESPACE {
            continue;
        }
        let old = uid(&object).to_owned();
        for field in ["uid", "resourceVersion", "creationTimestamp"] {
            object["metadata"].as_object_mut().unwrap().remove(field);
        }
        object["metadata"]["namespace"] = json!(namespace);
        let owners = object["metadata"].get_mut("ownerReferences").and_then(Value::as_array_mut);
        for owner in owners.into_iter().flatten() {
            owner["uid"] = json!(uids[owner["uid"].as_str().unwrap()]);
        }
        complete(&mut object);
        uids.insert(old, uid(&cluster.create(&object)).to_owned());
    }
}

/// Adds the fields that the API server requires: the example leaves them out.
fn complete(object: &mut Value) {
    let pod = json!({"containers": [{"name": "main", "image": "main"}]});
    let labels = object["metadata"]["labels"].as_object().cloned().unwrap_or_default();
    let template = json!({"metadata": {"labels": labels}, "spec": pod});
    let job = json!({"spec": {"restartPolicy": "Never", "containers": pod["containers"]}});
    match object["kind"].as_str() {
        Some("Deployment" | "ReplicaSet" | "StatefulSet") => {
            object["spec"]["selector"] = json!({"matchLabels": labels});
            object["spec"]["template"] = template;
        }
        Some("Service") => object["spec"]["clusterIP"] = json!("None"),
        Some("ControllerRevision") => object["data"] = json!({"spec": "of the time"}),
        Some("Pod") => object["spec"]["containers"] = pod["containers"].clone(),
        Some("Job") => object["spec"] = json!({"template": job}),
        Some("CronJob") => object["spec"]["jobTemplate"] = json!({"spec": {"template": job}}),
        _ => {}
    }
}

/// The objects that the plan says are deleted, sorted.
fn predicted(cluster: &Cluster, namespace: &str, args: &[&str]) -> Vec<String> {
    let ran = cluster.gc(&[&["plan", "-o", "json", "-n", namespace], args].concat());
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().expect("outcomes").iter();
    let goes = outcomes.filter(|outcome| outcome["outcome"] == "Deleted" || outcome["outcome"] == "Terminating");
    let name = |outcome: &Value| {
        let object = &outcome["object"];
        format!("{}/{}", object["kind"].as_str().unwrap(), object["name"].as_str().unwrap())
    };
    sorted(goes.map(name).collect())
}

#[test]
fn a_shop_is_archived_whole() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "shop", "Background");
    let namespace = trial.namespace.as_str();
    open_shop(cluster, namespace);
    let folder = Folder::new();
    let file = folder.path("shop.yaml");
    let ran = archive(cluster, namespace, &["shop/main", "--context=test"], &file);
    let describe = ran.expect(0);
    assert_eq!(ran.stderr, "");
    let kinds = "  7 Pods\n  4 ReplicaSets\n  2 Deployments\n  2 PersistentVolumeClaims\n  1 ConfigMap\n  1 \
        ControllerRevision\n  1 Shop\n  \
                 1 StatefulSet\n";
    assert!(
        describe.contains(&format!("namespace {namespace}. Nothing was deleted.\n\nDONE: 19 objects are archived in ")),
        "{describe}"
    );
    assert!(describe.contains(kinds), "{describe}");
    assert!(
        describe.ends_with(&format!(
            "The data of volumes is not in the file.\nNext  to bring it back:\n          kubectl gc restore \
             --context=test {}\n",
            file.display()
        )),
        "{describe}"
    );

    let archived = objects(&file);
    assert_eq!(sorted(names(&archived)), predicted(cluster, namespace, &["shop/main"]));
    for object in &archived {
        same(object, &cluster.get(&cluster.path_of(object)).expect("nothing was deleted"));
    }
    // Owners come before their dependents.
    let place = |uid: &Value| archived.iter().position(|object| object["metadata"]["uid"] == *uid);
    for (index, object) in archived.iter().enumerate() {
        for owner in object["metadata"]["ownerReferences"].as_array().into_iter().flatten() {
            assert!(place(&owner["uid"]).is_none_or(|owner| owner < index), "{object}");
        }
    }
    let read = Archive::open(&file).unwrap();
    let header = read.header();
    assert_eq!((header.context.as_str(), header.propagation.as_str(), header.targets.len()), ("test", "Background", 1));
    assert_eq!((header.targets[0].kind.as_str(), header.targets[0].name.as_str()), ("Shop", "main"));
    assert!(header.gaps.is_empty() && header.gone.is_empty() && header.left_out.is_empty(), "{header:?}");

    // The compressed archive is the same, except for its start time.
    let packed = folder.path("shop.yaml.gz");
    archive(cluster, namespace, &["shop/main", "--propagation=background"], &packed).expect(0);
    assert_eq!(objects(&packed), archived);
    assert!(fs::metadata(&packed).unwrap().len() * 3 < fs::metadata(&file).unwrap().len());
    for path in [&file, &packed] {
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o7777, 0o600);
    }

    // Another policy archives other objects.
    archive(cluster, namespace, &["shop/main", "--propagation=orphan"], &folder.path("orphan.yaml")).expect(0);
    assert_eq!(names(&objects(&folder.path("orphan.yaml"))), ["Shop/main"]);
    archive(cluster, namespace, &["deploy/api", "pod", "-l", "app=web"], &folder.path("none.yaml")).expect(1);

    // The program never overwrites a file: the error says what it contains.
    let before = fs::read(&file).unwrap();
    let again = archive(cluster, namespace, &["shop/main"], &file);
    assert!(again.stderr.contains("already exists (a complete archive with 19 objects, of 20"), "{}", again.stderr);
    assert_eq!(again.expect(1), "");
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(folder.files(), ["orphan.yaml", "shop.yaml", "shop.yaml.gz"]);
}

#[test]
fn a_namespace_is_archived_with_all_that_can_be_listed() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "archived-namespace", "Background");
    let namespace = trial.namespace.as_str();
    trial.config_map("a").create();
    trial.widget("b").create();
    cluster.create(object!("v1 Event", {
        "name": "e", "namespace": namespace,
        "involvedObject": {"kind": "ConfigMap", "name": "a", "namespace": namespace},
    }));
    let folder = Folder::new();
    let ran = archive(cluster, namespace, &[&format!("ns/{namespace}")], &folder.path("a.yaml"));
    let describe = ran.expect(0);
    assert!(
        describe.contains(&format!("Not archived: events in namespace {namespace}; events are not archived.\n")),
        "{describe}"
    );
    let archived = names(&objects(&folder.path("a.yaml")));
    assert_eq!(archived, [format!("Namespace/{namespace}"), "ConfigMap/a".to_owned(), "Widget/b".to_owned()]);
    let left_out = Archive::open(&folder.path("a.yaml")).unwrap().header().left_out.clone();
    assert_eq!(left_out.iter().map(|left_out| left_out.resource.as_str()).collect::<Vec<_>>(), ["events"]);
}
