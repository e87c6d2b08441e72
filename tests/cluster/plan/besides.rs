//! What controllers delete although no owner reference says so (R9.7, R9.17): plans name it, gates count it, and a
//! delete waits for it.

use std::{
    io::{BufRead as _, BufReader},
    process::Stdio,
    sync::LazyLock,
};

use http::Method;
use serde_json::{Value, json};

use super::trial::{Trial, all_come_true, predict, three_ways_on, wait_for_items};
use crate::harness::{
    ADMIN, Alone, COLLECTOR, Cluster, NAMESPACES, Options, PATIENCE, POD_GC, WORKLOADS, definition_of,
};

/// The controllers that delete such objects, without those that would change what the tests build.
const CONTROLLERS: &[&str] = &[
    COLLECTOR,
    NAMESPACES,
    POD_GC,
    "persistentvolumeclaim-protection-controller",
    "persistentvolume-protection-controller",
    "persistentvolume-binder-controller",
    "serviceaccount-token-controller",
    "endpoints-controller",
    "endpointslice-controller",
    "endpointslice-mirroring-controller",
];

/// A cluster with these controllers.
fn cluster() -> &'static Cluster {
    static CLUSTER: LazyLock<Alone> = LazyLock::new(|| Alone::with(&[CONTROLLERS, WORKLOADS].concat()));
    &CLUSTER
}

fn trial(prefix: &str) -> Trial<'static> {
    Trial::on(cluster(), prefix, "Background")
}

/// A pod on a node, with a claim for each of its ephemeral volumes as its controller would create it.
fn pod(trial: &Trial<'_>, name: &str, node: &str, scratch: &[&str], metadata: &Value) -> Value {
    let volumes: Vec<Value> = scratch
        .iter()
        .map(|volume| {
            let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
            json!({"name": volume, "ephemeral": {"volumeClaimTemplate": {"spec": spec}}})
        })
        .collect();
    let mut object = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata.clone(),
        "spec": {"nodeName": node, "containers": [{"name": "main", "image": "main"}], "volumes": volumes},
    });
    object["metadata"]["name"] = json!(name);
    object["metadata"]["namespace"] = json!(trial.namespace);
    let pod = trial.cluster.create(object);
    for volume in scratch {
        let mut reference = super::draft::blocking(&pod);
        reference["controller"] = json!(true);
        trial.cluster.create(object!("v1 PersistentVolumeClaim", {
            "name": format!("{name}-{volume}"), "namespace": trial.namespace,
            "finalizers": ["kubernetes.io/pvc-protection"], "ownerReferences": [reference],
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        }));
    }
    pod
}

fn node(trial: &Trial<'_>, name: &str) -> String {
    let name = trial.global(name);
    trial.cluster.create(object!("v1 Node", {"name": name}));
    name
}

/// R9.7: with their ephemeral claims, their dependents, and the Job's finalizer; those of other Nodes stay.
#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn pods_follow_their_node() {
    let trial = trial("node-pods");
    let (gone, other) = (node(&trial, "gone"), node(&trial, "other"));
    let a = pod(&trial, "a", &gone, &["scratch"], &json!({}));
    trial.config_map("of-a").owned_by(&a).create();
    pod(&trial, "b", &gone, &[], &json!({"finalizers": ["acme.io/hold"]}));
    pod(&trial, "c", &gone, &[], &json!({"finalizers": ["batch.kubernetes.io/job-tracking"]}));
    pod(&trial, "d", &other, &["scratch"], &json!({}));
    // The collector is the only one that deletes this one in time.
    let mirror = json!({"ownerReferences": [crate::harness::owner_reference(&trial.cluster.get(
        &format!("/api/v1/nodes/{gone}")).expect("the Node"))]});
    pod(&trial, "mirror", &gone, &[], &mirror);
    let predicted = predict(vec![trial.deleting(vec![format!("node/{gone}")])]);
    let plan = &predicted[0].plan;
    assert_eq!(plan["summary"]["deleted"], 6, "{:#}", plan["outcomes"]);
    assert_eq!(predicted[0].outcome("Pod", "d"), None);
    assert!(!plan["effects"].to_string().contains("pods-deleted"), "{:#}", plan["effects"]);
    all_come_true(&predicted);
}

/// R9.7: no kubelet ends a deleted pod on a Node that doesn't exist, but the pod garbage collector does.
#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn pods_on_a_node_that_is_missing() {
    three_ways_on(cluster(), "no-node", |trial| {
        let owner = pod(trial, "root", &trial.global("missing"), &[], &json!({}));
        trial.config_map("blocks").blocking(&owner).create();
        trial.config_map("follows").owned_by(&owner).create();
        vec!["pod/root".to_owned()]
    });
}

/// Gates count the pods of a Node, and a delete is over when they are gone.
#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn the_pods_of_a_node_count_and_are_waited_for() {
    let trial = trial("node-gates");
    let node = node(&trial, "gone");
    for name in ["a", "b", "c"] {
        pod(&trial, name, &node, &["scratch"], &json!({}));
    }
    let target = format!("node/{node}");
    for gate in ["--max=6", "--deny=pods", "--deny=pvc"] {
        let ran = trial.cluster.gc(&["delete", &target, "--yes", gate]);
        assert!(ran.expect(2).contains("Why   "), "{gate}: {}", ran.stdout);
        assert!(ran.stderr.contains("Nothing was deleted"), "{gate}: {}", ran.stderr);
    }
    let ran = trial.cluster.gc(&["delete", &target, "--yes", "--max=7"]);
    assert!(ran.expect(0).contains("DONE"), "{}\n{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("the pod garbage collector deletes it"), "{}", ran.stderr);
    assert!(trial.cluster.list(&format!("/api/v1/namespaces/{}/pods", trial.namespace)).is_empty());
}

/// R9.19: with or without the account's uid, but neither other Secrets nor those of another account.
#[test]
fn token_secrets_follow_their_account() {
    const TOKEN: &str = "kubernetes.io/service-account-token";
    three_ways_on(cluster(), "tokens", |trial| {
        let (cluster, namespace) = (trial.cluster, &trial.namespace);
        let account = |name: &str| {
            let metadata = json!({"name": name, "namespace": namespace});
            cluster.create(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}))
        };
        let secret = |name: &str, kind: &str, account: &str| {
            let annotations = json!({"kubernetes.io/service-account.name": account});
            let metadata = json!({"name": name, "namespace": namespace, "annotations": annotations});
            cluster.create(json!({"apiVersion": "v1", "kind": "Secret", "type": kind, "metadata": metadata}))
        };
        account("robot");
        account("other");
        let token = secret("robot-token", TOKEN, "robot");
        let below = trial.config_map("of-token").owned_by(&token).create();
        trial.config_map("below").owned_by(&below).create();
        secret("other-token", TOKEN, "other");
        secret("looks-like-one", "Opaque", "robot");
        cluster.wait_until("tokens", std::time::Duration::from_secs(60), || {
            let filled = |secret: &Value| secret["data"]["token"].is_string() || secret["type"] != TOKEN;
            cluster.list(&format!("/api/v1/namespaces/{namespace}/secrets")).iter().all(filled)
        });
        vec!["sa/robot".to_owned()]
    });
}

/// A claim that is bound to its volume, which comes from this source, and was made by this provisioner, if any.
fn bound(trial: &Trial<'_>, name: &str, policy: &str, source: (&str, Value), provisioner: Option<&str>) {
    let volume = trial.global(name);
    let mut spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "1Gi"},
        "persistentVolumeReclaimPolicy": policy,
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": trial.namespace, "name": name},
    });
    spec[source.0] = source.1;
    let annotations = json!({"pv.kubernetes.io/provisioned-by": provisioner});
    let metadata = json!({"name": volume, "annotations": provisioner.map(|_| annotations)});
    trial.cluster.create(json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": metadata, "spec": spec}));
    let spec = json!({
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "",
        "volumeName": volume,
    });
    let metadata = json!({"name": name, "namespace": trial.namespace});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec});
    let path = trial.cluster.path_of(&trial.cluster.create(claim));
    trial.cluster.wait_until("the claim to be bound", std::time::Duration::from_secs(60), || {
        trial.cluster.get(&path).is_some_and(|claim| claim["status"]["phase"] == "Bound")
    });
    trial.includes(&volume);
}

/// A volume of a CSI driver.
fn disk() -> (&'static str, Value) {
    ("csi", json!({"driver": "disks.acme.io", "volumeHandle": "disk-1"}))
}

/// R9.35: kube-controller-manager deletes host paths below `/tmp`, and can't delete others.
#[test]
fn volumes_follow_their_claims() {
    three_ways_on(cluster(), "volumes", |trial| {
        let host_path = |path: &str| ("hostPath", json!({ "path": path }));
        bound(trial, "goes", "Delete", host_path("/tmp/kubectl-gc-no-such-folder/data"), None);
        bound(trial, "fails", "Delete", host_path("/no/such/folder"), None);
        bound(trial, "stays", "Retain", host_path("/tmp/kubectl-gc-no-such-folder/data"), None);
        bound(trial, "made-by-hand", "Delete", ("nfs", json!({"server": "nas.test", "path": "/data"})), None);
        bound(trial, "of-a-cloud", "Delete", ("awsElasticBlockStore", json!({"volumeID": "vol-1"})), None);
        ["goes", "fails", "stays", "made-by-hand", "of-a-cloud"].map(|name| format!("pvc/{name}")).to_vec()
    });
}

/// R9.35: a volume of a CSI driver that was made by hand is left to the driver's provisioner, and doesn't fail.
#[test]
fn a_volume_made_by_hand_is_left_to_the_provisioner_of_its_driver() {
    let trial = trial("by-hand");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    bound(&trial, "data", "Delete", disk(), None);
    let ran = cluster.gc(&["plan", "pvc/data", "-n", namespace, "--deny-effect=data-loss", "-o", "json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let plan = ran.json();
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    let volume = outcomes.iter().find(|outcome| outcome["object"]["kind"] == "PersistentVolume").expect("the volume");
    assert_eq!((&volume["outcome"], &volume["certain"]), (&json!("Deleted"), &json!(false)), "{volume:#}");
    cluster.delete(&format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims/data"), Some("Background"), None);
    let path = format!("/api/v1/persistentvolumes/{}", trial.global("data"));
    cluster.wait_until("the volume to be Released", std::time::Duration::from_secs(60), || {
        cluster.get(&path).is_some_and(|volume| volume["status"]["phase"] == "Released")
    });
}

/// R9.35: a volume that is restored with the uid of its former claim has lost it, also if a claim of that name is
/// restored with it.
#[test]
fn a_restored_volume_goes_without_its_former_claim() {
    let trial = trial("restored");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    let volume = |name: &str, policy: &str, uid: Option<&str>| {
        object!("v1 PersistentVolume", {"name": trial.global(name), "spec": {"accessModes": ["ReadWriteOnce"],
                "capacity": {"storage": "1Gi"}, "storageClassName": "", "persistentVolumeReclaimPolicy": policy,
                "hostPath": {"path": "/tmp/kubectl-gc-no-such-folder/data"}, "claimRef": {"namespace": namespace,
                "name": name, "uid": uid}}})
    };
    let claim = |name: &str| {
        object!("v1 PersistentVolumeClaim", {"name": name, "namespace": namespace,
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
                "storageClassName": "", "volumeName": trial.global(name)}})
    };
    let former = Some("11111111-1111-4111-8111-111111111111");
    let volumes = [("lost", "Delete", former), ("kept", "Retain", former), ("bound", "Delete", None)];
    let volumes = volumes.map(|(name, policy, uid)| volume(name, policy, uid));
    let all = [&[claim("lost"), claim("kept"), claim("bound")], &volumes[..]].concat();
    let file = tempfile::NamedTempFile::with_suffix(".json").expect("a temporary file");
    std::fs::write(file.path(), json!({"apiVersion": "v1", "kind": "List", "items": all}).to_string()).expect("a file");
    let ran = cluster.gc(&["plan", "--apply", "-f", file.path().to_str().expect("a name"), "-o", "json"]);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let plan = ran.json();
    let fates: Vec<&str> = plan["objects"].as_array().expect("objects")[3..]
        .iter()
        .map(|of| of["fate"].as_str().expect("a fate"))
        .collect();
    assert_eq!(fates, ["Collected", "Kept", "Kept"], "{plan:#}");
    let paths: Vec<String> = all.into_iter().map(|object| cluster.path_of(&cluster.create(object))).collect();
    cluster.wait_until("the volume of a former claim to go", std::time::Duration::from_secs(60), || {
        let phase = |path: &str| Some(cluster.get(path)?["status"]["phase"].as_str()?.to_owned());
        let phases: Vec<Option<String>> = paths[3..].iter().map(|path| phase(path)).collect();
        phases == [None, Some("Released".to_owned()), Some("Bound".to_owned())]
    });
}

/// R9.35: a provisioner runs anywhere. A plan assumes that it works, and a delete waits for it.
#[test]
#[ignore = "long: waits for a provisioner"]
fn volumes_of_a_provisioner_are_waited_for() {
    let trial = trial("provisioned");
    bound(&trial, "data", "Delete", disk(), Some("disks.acme.io"));
    let args = ["pvc/data", "-n", trial.namespace.as_str()];
    let plan = trial.cluster.gc(&[&["plan", "-o", "json"], &args[..]].concat()).json();
    let outcomes = plan["outcomes"].as_array().expect("outcomes");
    let volume = outcomes.iter().find(|outcome| outcome["object"]["kind"] == "PersistentVolume").expect("the volume");
    assert_eq!(volume["outcome"], "Deleted", "{volume:#}");
    assert_eq!(volume["uncertainBecause"], "assumption", "{volume:#}");
    assert!(plan["assumes"].to_string().contains("disks.acme.io"), "{:#}", plan["assumes"]);
    let destroyed = plan["effects"].as_array().into_iter().flatten().filter(|effect| effect["kind"] == "data-loss");
    assert_eq!(destroyed.count(), 1, "the data is lost once: {:#}", plan["effects"]);
    let denied = trial.cluster.gc(&[&["delete", "--yes", "--deny=pv"], &args[..]].concat());
    assert!(denied.expect(2).contains("Why   "), "{}", denied.stdout);
    let cluster = trial.cluster;
    let mut command = cluster.gc_command(&cluster.kubeconfig(ADMIN));
    command.args(["delete", "--yes"]).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut deleting = command.spawn().expect("the program runs");
    // It ends by itself if it never says what it waits for.
    let said = BufReader::new(deleting.stderr.take().expect("standard error")).lines().map_while(Result::ok);
    let said: Vec<String> = said
        .inspect(|line| {
            if line.contains("its provisioner deletes it") {
                let volume = format!("/api/v1/persistentvolumes/{}", trial.global("data"));
                cluster.ask(&Method::DELETE, &volume, None);
            }
        })
        .collect();
    let ended = deleting.wait_with_output().expect("the program ends");
    let printed = String::from_utf8_lossy(&ended.stdout);
    assert!(said.iter().any(|line| line.contains("its provisioner deletes it")), "{said:#?}");
    assert!(ended.status.success() && printed.contains("DONE"), "{printed}\n{said:#?}");
}

/// R9.35: after two minutes, a delete no longer waits for a provisioner; that is no failure.
#[test]
#[ignore = "long: waits for two minutes"]
fn a_provisioner_that_is_away_is_no_failure() {
    let trial = trial("no-provisioner");
    bound(&trial, "data", "Delete", disk(), Some("disks.acme.io"));
    let ran = trial.cluster.gc(&["delete", "--yes", "pvc/data", "-n", &trial.namespace]);
    assert!(ran.expect(0).contains("DONE"), "{}\n{}", ran.stdout, ran.stderr);
    assert!(trial.cluster.get(&format!("/api/v1/persistentvolumes/{}", trial.global("data"))).is_some());
}

/// R9.20: the Endpoints of a Service with a selector, those that somebody else wrote, with their mirrors; IPAddresses.
#[test]
#[ignore = "long: waits for controllers of Services"]
fn endpoints_and_addresses_follow_their_service() {
    three_ways_on(cluster(), "services", |trial| {
        let (cluster, namespace) = (trial.cluster, &trial.namespace);
        let service = |name: &str, spec: Value| {
            let metadata = json!({"name": name, "namespace": namespace});
            cluster.create(json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}));
        };
        service("front", json!({"selector": {"app": "front"}, "ports": [{"port": 80}]}));
        service("by-hand", json!({"ports": [{"port": 80}]}));
        service("headless", json!({"clusterIP": "None", "selector": {"app": "x"}, "ports": [{"port": 80}]}));
        service("stays", json!({"selector": {"app": "stays"}, "ports": [{"port": 80}]}));
        cluster.create(object!("v1 Endpoints", {
            "name": "by-hand", "namespace": namespace,
            "subsets": [{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80}]}],
        }));
        for name in ["front", "by-hand", "headless", "stays"] {
            let service = cluster.get(&format!("/api/v1/namespaces/{namespace}/services/{name}")).expect("a Service");
            if let Some(address) = service["spec"]["clusterIP"].as_str().filter(|address| *address != "None") {
                trial.includes(address);
            }
        }
        wait_for_items(cluster, &format!("/api/v1/namespaces/{namespace}/endpoints"), 4);
        wait_for_items(cluster, &format!("/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"), 4);
        ["svc/front", "svc/by-hand", "svc/headless"].map(str::to_owned).to_vec()
    });
}

/// What follows a Service is archived with it.
#[test]
fn endpoints_are_in_the_archive() {
    let trial = trial("archived");
    let (cluster, namespace) = (trial.cluster, &trial.namespace);
    cluster.create(object!("v1 Service", {
        "name": "ext", "namespace": namespace,
        "spec": {"selector": {"app": "ext"}, "ports": [{"port": 80}]},
    }));
    wait_for_items(cluster, &format!("/api/v1/namespaces/{namespace}/endpoints"), 1);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("ext.yaml");
    let path = file.to_str().expect("a readable name");
    let _ran = cluster.gc(&["delete", "svc/ext", "-n", namespace, "--yes", "--archive", path]).ended(0);
    let archived = std::fs::read_to_string(&file).expect("an archive");
    for kind in ["Service", "Endpoints", "IPAddress", "EndpointSlice"] {
        assert!(archived.contains(&format!("kind: {kind}\n")), "{kind}: {archived}");
    }
}

/// The Job controller's finalizer of a pod.
const TRACKING: &str = "batch.kubernetes.io/job-tracking";

/// Creates a Job that a finalizer holds, with the controller that `spec.managedBy` names.
fn held_job(trial: &Trial<'_>, name: &str, managed_by: Option<&str>) -> Value {
    trial.cluster.create(object!("batch/v1 Job", {
        "name": name, "namespace": trial.namespace, "finalizers": ["acme.io/hold"],
        "spec": {"managedBy": managed_by, "template": {"spec": {"restartPolicy": "Never",
            "containers": [{"name": "main", "image": "main"}]}}},
    }))
}

/// Creates such a Job of the Job controller, and waits for its pod. Returns where the namespace's pods are.
fn held_job_with_a_pod(trial: &Trial<'_>) -> String {
    held_job(trial, "own", None);
    let path = format!("/api/v1/namespaces/{}/pods", trial.namespace);
    wait_for_items(trial.cluster, &path, 1);
    trial.cluster.wait_until("the Job's pod to be tracked", std::time::Duration::from_secs(60), || {
        trial.cluster.list(&path).iter().all(|pod| pod["metadata"]["finalizers"] == json!([TRACKING]))
    });
    path
}

/// R9.8: the pods of a Job that stays terminating live on without the finalizer.
#[test]
#[ignore = "long: waits for the Job controller"]
fn pods_of_jobs_lose_their_finalizer() {
    three_ways_on(cluster(), "jobs", |trial| {
        held_job_with_a_pod(trial);
        vec!["job/own".to_owned()]
    });
}

/// R9.8: the Job controller skips a Job that is complete, but not its pods.
#[test]
#[ignore = "long: waits for the Job controller"]
fn pods_of_a_complete_job_lose_their_finalizer() {
    three_ways_on(cluster(), "complete-jobs", |trial| {
        let cluster = trial.cluster;
        let pods = held_job_with_a_pod(trial);
        let own = format!("/apis/batch/v1/namespaces/{}/jobs/own", trial.namespace);
        let pod = format!("{pods}/{}", cluster.list(&pods)[0]["metadata"]["name"].as_str().expect("a name"));
        cluster.patch(&format!("{pod}/status"), &json!({"status": {"phase": "Succeeded"}}));
        let is_complete = |it: &Value| it["type"] == "Complete";
        cluster.wait_until("the Job to be complete", std::time::Duration::from_secs(60), || {
            let job = cluster.get(&own).expect("it is there");
            job["status"]["conditions"].as_array().is_some_and(|all| all.iter().any(is_complete))
        });
        cluster.patch(&pod, &json!({"metadata": {"finalizers": [TRACKING]}}));
        vec!["job/own".to_owned()]
    });
}

/// R9.8: the Job controller leaves its finalizer on the pods of a Job of another controller, who decides over it.
#[test]
#[ignore = "long: waits for the Job controller"]
fn pods_of_jobs_of_another_controller_keep_the_finalizer() {
    let trial = trial("foreign-jobs");
    let cluster = trial.cluster;
    let pods = held_job_with_a_pod(&trial);
    let mut reference = crate::harness::owner_reference(&held_job(&trial, "foreign", Some("acme.io/jobs")));
    (reference["controller"], reference["blockOwnerDeletion"]) = (json!(true), json!(true));
    let metadata = json!({"ownerReferences": [reference], "finalizers": [TRACKING]});
    pod(&trial, "managed", &trial.node(), &[], &metadata);
    cluster.settled();

    let ran = cluster.gc(&["plan", "-o", "json", "pod/managed", "-n", &trial.namespace]);
    let plan = ran.json();
    let outcome = &plan["outcomes"][0];
    assert_eq!(outcome["outcome"], "Terminating", "{outcome:#}");
    assert_eq!((&outcome["certain"], &outcome["uncertainBecause"]), (&json!(false), &json!("assumption")));

    // The Job controller sees the deletion of its own pod after that of the other one.
    let managed = format!("{pods}/managed");
    let of_own = cluster.list(&pods).into_iter().find(|pod| pod["metadata"]["name"] != "managed").expect("own's pod");
    for path in [&managed, &format!("{pods}/{}", of_own["metadata"]["name"].as_str().expect("a name"))] {
        cluster.delete(path, Some("Background"), Some(0));
    }
    cluster.wait_until("the Job's pod to be gone", std::time::Duration::from_secs(60), || {
        cluster.list(&pods).iter().all(|pod| pod["metadata"]["uid"] != of_own["metadata"]["uid"])
    });
    let left = cluster.get(&managed).expect("the pod is still there");
    assert_eq!(left["metadata"]["finalizers"], json!([TRACKING]), "{left:#}");
}

/// R9.21: not while another definition serves the same group and version.
#[test]
#[ignore = "long: slow"]
fn an_api_service_follows_the_last_definition() {
    // Kinds that come and go disturb the other tests' lists.
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(CONTROLLERS);
    let trial = Trial::on(&cluster, "api-services", "Background");
    let group = format!("{}.test", trial.namespace);
    let definition = |plural: &str, kind: &str| {
        let name = format!("{plural}.{group}");
        let created = trial.cluster.create(definition_of(&group, kind, plural, &["v1"]));
        trial.cluster.await_kind(&created);
        trial.includes(&name);
        format!("crd/{name}")
    };
    let targets = [definition("apples", "Apple"), definition("pears", "Pear")];
    let service = format!("v1.{group}");
    trial.includes(&service);
    trial.cluster.wait_until("the APIService", std::time::Duration::from_secs(60), || {
        let services = trial.cluster.list("/apis/apiregistration.k8s.io/v1/apiservices");
        services.iter().any(|one| one["metadata"]["name"] == service)
    });
    let one = trial.cluster.gc(&["plan", "-o", "name", &targets[0]]);
    assert_eq!(one.expect(0).lines().count(), 1, "{}", one.stdout);
    let predicted = predict(vec![trial.deleting(targets.to_vec())]);
    assert_eq!(predicted[0].outcome("APIService", &service), Some("Deleted"), "{}", predicted[0].plan["outcomes"]);
    all_come_true(&predicted);
}

/// Whether a pod would end without the delete, too, is read: the Node of a silent kubelet takes the namespace along
/// that only its pod keeps.
#[test]
fn a_namespace_goes_with_the_node_of_its_last_pod() {
    let trial = trial("last-pod");
    let node = node(&trial, "silent");
    let condition = json!({"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"});
    let status = json!({"status": {"conditions": [condition]}});
    trial.cluster.patch(&format!("/api/v1/nodes/{node}/status"), &status);
    let last = pod(&trial, "last", &node, &[], &json!({}));
    trial.cluster.delete(&format!("/api/v1/namespaces/{}", trial.namespace), None, None);
    let last = trial.cluster.path_of(&last);
    trial.cluster.wait_until("the pod is being deleted", PATIENCE, || {
        trial.cluster.get(&last).is_some_and(|pod| pod["metadata"]["deletionTimestamp"].is_string())
    });
    let ran = trial.cluster.gc(&["plan", &format!("node/{node}"), "-o", "name", "--fail-on=never"]);
    let names = ran.expect(0);
    assert!(names.lines().any(|name| name == format!("namespace/{}", trial.namespace)), "{names}");
    trial.cluster.delete(&last, None, Some(0));
}

/// S13: a kubelet that has stopped reporting ends no pod; a Node that is out of service leaves that to the pod garbage
/// collector (R9.7).
#[test]
#[ignore = "long: waits for kubelets that do not report"]
fn pods_on_nodes_that_are_not_ready() {
    three_ways_on(cluster(), "not-ready", |trial| {
        let owner = trial.widget("root").create();
        let references = json!({"ownerReferences": [super::draft::blocking(&owner)]});
        for (name, taints) in [
            ("silent", json!([])),
            ("out", json!([{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}])),
        ] {
            let node = node(trial, name);
            let path = format!("/api/v1/nodes/{node}");
            trial.cluster.patch(&path, &json!({"spec": {"taints": taints}}));
            let condition = json!({"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown"});
            trial.cluster.patch(&format!("{path}/status"), &json!({"status": {"conditions": [condition]}}));
            pod(trial, name, &node, &[], &references);
        }
        vec!["widget/root".to_owned()]
    });
}
