//! What people wrote in public, rebuilt as dumps: each is answered as its reporter needed.

use serde_json::{Value, json};

use super::run::{Ran, gc, words, write};

/// Runs a command line on one of the dumps.
fn on(dump: &str, line: &str) -> Ran {
    gc(&[&words(line)[..], &["--from", &format!("tests/cli/reports/{dump}")]].concat())
}

/// The output in one line, as if it weren't wrapped.
fn flat(ran: &Ran) -> String {
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn says(ran: &Ran, texts: &[&str]) {
    let said = flat(ran);
    for text in texts {
        assert!(said.contains(text), "{text:?} is not in {ran}");
    }
}

#[track_caller]
fn says_not(ran: &Ran, texts: &[&str]) {
    let said = flat(ran);
    for text in texts {
        assert!(!said.contains(text), "{text:?} is in {ran}");
    }
}

/// A reference from a cluster-scoped object is not collected, and blocks only if it says so.
#[test]
fn a_binding_that_a_service_account_owns_is_left_behind() {
    let ran = on("binding.yaml", "doctor");
    says(&ran, &["namespaced-owner-of-cluster-scoped"]);
    says_not(&ran, &["foreground delete"]);
    for policy in ["background", "foreground"] {
        let ran = on("binding.yaml", &format!("plan serviceaccount/robot -n default --propagation={policy}"));
        says(&ran, &["ClusterRoleBinding/default-robot: stays for ever"]);
    }
}

#[test]
fn an_owner_in_a_version_that_is_not_served() {
    let plan =
        |policy: &str| on("old-version.yaml", &format!("plan certificate/shop-tls -n default --propagation={policy}"));
    says(&plan("background"), &["CertificateRequest/shop-tls-1: stays for ever"]);
    let ran = plan("foreground");
    says(&ran, &["STUCK", "shop-tls-1", "v1alpha2"]);
    assert_eq!(ran.code, 2);
    let ran = on("old-version.yaml", "doctor");
    says(&ran, &["It blocks a foreground delete of the owner forever."]);
    // Once the owner is gone, nothing else than deleting it helps.
    let dump = std::fs::read_to_string("tests/cli/reports/old-version.yaml").unwrap();
    let (before, after) = dump.split_once("- apiVersion: cert-manager.io/v1\n  kind: Certificate\n").unwrap();
    let rest = after.split_once('\n').unwrap().1;
    let other =
        "- {apiVersion: cert-manager.io/v1, kind: Certificate, metadata: {name: o, namespace: default, uid: o}}\n";
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "gone.yaml", &format!("{before}{rest}{other}"));
    let ran = gc(&["doctor", "--from", &path]);
    says(&ran, &["kubectl delete certificaterequests"]);
    says_not(&ran, &["blocks a foreground delete"]);
}

/// The dump's own times are all there is: nothing later tells how long it took.
#[test]
fn a_namespace_of_years_ago_is_stuck() {
    let ran = on("rancher.json", "doctor");
    says(&ran, &["ERROR", "controller.cattle.io/namespace-auth", "Terminating since 2021-01-11T08:41:43Z"]);
    assert_eq!(ran.code, 2);
}

#[test]
fn a_finished_pod_keeps_its_claim_until_it_is_deleted() {
    let ran = on("finished-pod.yaml", "explain pvc/ws-1 -n ci");
    says(&ran, &["until Pod/build-7-clone-pod, which has finished, is deleted."]);
    says_not(&ran, &["As soon as that pod ends", "DATA LOSS: PersistentVolumeClaim/ws-1 -n ci loses"]);
    let ran = on("finished-pod.yaml", "doctor");
    says(&ran, &["delete the finished pod kubectl delete pods/build-7-clone-pod -n ci"]);
    let dump = std::fs::read_to_string("tests/cli/reports/finished-pod.yaml").unwrap();
    let folder = tempfile::tempdir().unwrap();
    // Before the delete, the plan says so.
    let living = dump.replace("deletionTimestamp: \"2026-11-20T10:01:00Z\", deletionGracePeriodSeconds: 0, ", "");
    let path = write(folder.path(), "living.yaml", &living);
    let ran = gc(&["plan", "pvc/ws-1", "-n", "ci", "--assume-complete", "--from", &path]);
    assert_eq!(ran.code, 2, "{ran}");
    says(
        &ran,
        &[
            "STUCK: nothing goes at once, 1 stuck until Pod/build-7-clone-pod, which has finished, is deleted.",
            "plan it with the finished pod kubectl gc plan --from ",
            "--assume-complete persistentvolumeclaims/ws-1 pods/build-7-clone-pod -n ci",
        ],
    );
    // While it runs, its end is what is waited for.
    let path = write(folder.path(), "running.yaml", &dump.replace("phase: Succeeded", "phase: Running"));
    let ran = gc(&["doctor", "--from", &path]);
    says(&ran, &["As soon as that pod ends"]);
    says_not(&ran, &["kubectl delete pods"]);
}

/// Of two pods that use a claim, one has finished: that one has to be deleted, the other one to end.
#[test]
fn a_finished_pod_beside_one_that_runs_is_told_apart() {
    let volumes = "nodeName: n1, containers: [], volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]";
    let pod = |name: &str, phase: &str| {
        format!(
            "- {{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: ci, uid: {name}}}, \
             spec: {{{volumes}}}, status: {{phase: {phase}}}}}\n"
        )
    };
    let claim = "- apiVersion: v1\n  kind: PersistentVolumeClaim\n  metadata: {name: data, namespace: ci, uid: c, \
                 deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: [kubernetes.io/pvc-protection]}\n  \
                 spec: {volumeName: pv}\n";
    let volume = "- apiVersion: v1\n  kind: PersistentVolume\n  metadata: {name: pv, uid: pv}\n  spec: \
                  {persistentVolumeReclaimPolicy: Delete, claimRef: {name: data, namespace: ci, uid: c}}\n";
    let node =
        "- {apiVersion: v1, kind: Node, metadata: {name: n1, uid: n1, creationTimestamp: '2026-01-01T02:00:00Z'}}\n";
    let folder = tempfile::tempdir().unwrap();
    let dump = format!("{claim}{volume}{node}{}{}", pod("done", "Succeeded"), pod("runs", "Running"));
    let path = write(folder.path(), "both.yaml", &dump);
    let ran = gc(&["doctor", "--assume-complete", "--from", &path]);
    says(
        &ran,
        &[
            "As soon as the others end and Pod/done, which has finished, is deleted",
            "delete the finished pod: it keeps the claim, too kubectl delete pods/done -n ci",
        ],
    );
    let ran = gc(&["explain", "pvc/data", "-n", "ci", "--assume-complete", "--from", &path]);
    says(&ran, &["DATA LOSS: PersistentVolumeClaim/data is Terminating until Pod/done, Pod/runs are deleted."]);
}

/// A Job that goes by itself takes its finished pods along, and the claim goes, too.
#[test]
fn a_finished_pod_goes_with_its_job() {
    let code = |owner: &str, spec: &str| {
        let dump = format!(
            "
- {{apiVersion: batch/v1, kind: CronJob, metadata: {{name: nightly, namespace: ci, uid: cron}}}}
- apiVersion: batch/v1
  kind: Job
  metadata: {{name: build, namespace: ci, uid: job, ownerReferences: [{owner}]}}
  spec: {{{spec}}}
- apiVersion: v1
  kind: Pod
  metadata:
    name: build-1
    namespace: ci
    uid: pod
    ownerReferences: [{{apiVersion: batch/v1, kind: Job, name: build, uid: job, controller: true}}]
  spec: {{nodeName: n1, volumes: [{{name: ws, persistentVolumeClaim: {{claimName: ws}}}}]}}
  status: {{phase: Succeeded}}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {{name: ws, namespace: ci, uid: claim, finalizers: [kubernetes.io/pvc-protection]}}
"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "job.yaml", &format!("apiVersion: v1\nkind: List\nitems:{dump}"));
        gc(&["plan", "pvc/ws", "-n", "ci", "--assume-complete", "--from", &path]).code
    };
    assert_eq!(code("", ""), 2);
    assert_eq!(code("", "ttlSecondsAfterFinished: 100"), 0);
    assert_eq!(code("{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: cron, controller: true}", ""), 0);
}

/// A uid is in one place, and the collector's event says that the owner isn't where the reference looks.
#[test]
fn an_owner_that_is_elsewhere() {
    says(
        &on("canary.yaml", "explain pod/probe-pod-1 -n default"),
        &["the object with that uid is Canary/probe-service -n monitoring"],
    );
    let ran = on("canary.yaml", "doctor");
    says(&ran, &["owner-other-namespace"]);
    assert_eq!(ran.code, 2);
    let ran = on("canary-one-namespace.yaml", "explain pod/probe-pod-1 -n default");
    says(&ran, &["is missing in this namespace, as the collector's event OwnerRefInvalidNamespace says"]);
}

#[test]
fn an_owner_that_goes_takes_its_dependents_unless_it_is_deleted_again() {
    let ran = on("ceph.yaml", "explain cephcluster/ceph -n storage");
    says(
        &ran,
        &[
            "STUCK: CephCluster/ceph is Terminating until CephBlockPool/pool is deleted",
            "; the collector doesn't wait for them",
            "kubectl delete cephclusters.ceph.rook.io/ceph -n storage --cascade=orphan",
        ],
    );
}

/// `kubectl get all` leaves out most kinds: what may be in a namespace, or below an owner, is not known.
#[test]
fn half_a_dump_is_not_a_cluster() {
    let plan = |dump: &str, line: &str| -> (i32, Value) {
        let ran = on(dump, &format!("plan {line} -o json"));
        (ran.code, serde_json::from_str(&ran.out).unwrap())
    };
    let (_, plan_of_all) = plan("get-all.yaml", "namespace/sts");
    assert_eq!([&plan_of_all["complete"], &plan_of_all["verdict"]["certain"]], [false, false]);
    let gaps: Vec<&str> =
        plan_of_all["gaps"].as_array().unwrap().iter().filter_map(|gap| gap["resource"].as_str()).collect();
    assert_eq!(gaps[..3], ["persistentvolumeclaims", "secrets", "configmaps"], "what holds data comes first");
    for gate in
        ["--deny=persistentvolumeclaims", "--deny-effect=data-loss", "--deny=secrets", "--fail-on=unsure", "--max=9"]
    {
        assert_eq!(on("get-all.yaml", &format!("plan namespace/sts {gate}")).code, 2, "{gate}");
        assert_eq!(on("get-all.yaml", &format!("plan namespace/sts {gate} --assume-complete")).code, 0, "{gate}");
    }
    let said = on("get-all.yaml", "plan namespace/sts").err;
    assert!(
        said.starts_with("Not in the dump, so they may exist: persistentvolumeclaims, secrets, configmaps, "),
        "{said}"
    );
    assert!(said.contains("kubectl gc snapshot") && said.lines().count() == 1, "{said}");
    // Its ReplicaSets and pods are there.
    let (code, web) = plan("get-all.yaml", "deployment/web -n sts");
    assert_eq!((code, &web["complete"], &web["verdict"]["certain"]), (0, &json!(true), &json!(true)));
}

/// A Deployment with ready replicas has dependents, whatever a dump of it alone says.
#[test]
fn an_owner_alone_says_that_it_has_dependents() {
    let folder = tempfile::tempdir().unwrap();
    let deployment = |name: &str, ready: u8| {
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata":
            {"name": name, "namespace": "shop", "uid": name}, "spec": {"replicas": ready},
            "status": {"readyReplicas": ready}})
    };
    let replica_set = json!({"apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {"name": "other", "namespace": "shop", "uid": "other"}});
    let complete = |objects: &[Value]| {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let path = write(folder.path(), "some.json", &list);
        let plan = ["plan", "deploy/web", "-n", "shop", "-o", "json", "--from", &path];
        let [as_it_is, whole] = [&plan[..], &[&plan[..], &["--assume-complete"]].concat()]
            .map(|args| serde_json::from_str::<Value>(&gc(args).out).unwrap()["complete"].clone());
        assert_eq!(whole, true, "{list}");
        as_it_is
    };
    assert_eq!(complete(&[deployment("web", 0)]), false, "no ReplicaSet at all");
    assert_eq!(complete(&[deployment("web", 0), replica_set.clone()]), true, "none of the ReplicaSets is its own");
    assert_eq!(complete(&[deployment("web", 3), replica_set]), false, "its own were left out by a selector");
    // A tree without them, and an explanation, say so.
    for (ready, said) in
        [(0, ""), (3, "Not in the dump, so they may exist: pods, replicasets.apps in namespace shop. ")]
    {
        let path = write(folder.path(), "one.json", &deployment("web", ready).to_string());
        for command in ["tree", "explain"] {
            let ran = gc(&[command, "deploy/web", "-n", "shop", "--from", &path]);
            assert!(ran.err.starts_with(said) && ran.err.is_empty() == said.is_empty(), "{ran}");
        }
    }
}

/// Of a definition, its instances matter most.
#[test]
fn what_surely_matters_is_named_first() {
    let folder = tempfile::tempdir().unwrap();
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.acme.io", "uid": "w"}, "spec": {"group": "acme.io", "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [{"name": "v1", "served": true, "storage": true}]}});
    let path = write(folder.path(), "crd.json", &definition.to_string());
    let ran = gc(&["plan", "crd/widgets.acme.io", "--from", &path]);
    let first = "so they may exist: widgets.acme.io, persistentvolumeclaims, secrets, ";
    assert!(ran.err.contains(first), "{ran}");
}

/// There may be a million finalizers.
#[test]
fn of_many_finalizers_the_first_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let with = |number: usize| {
        let finalizers: Vec<String> = (0..number).map(|number| format!("acme.io/f{number}")).collect();
        let held = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop",
            "uid": "a", "deletionTimestamp": "2026-03-01T10:00:00Z", "finalizers": finalizers}});
        write(folder.path(), "many.json", &held.to_string())
    };
    // Of so many, none is looked at: that would be done for each, and again at each end of a plan.
    let path = with(2_001);
    for command in ["plan", "doctor", "explain"] {
        let ran = gc(&[command, "cm/a", "-n", "shop", "--from", &path]);
        says(&ran, &["there are too many finalizers to look at each"]);
    }
    let path = with(1_000);
    for command in ["plan", "doctor", "explain"] {
        let ran = gc(&[command, "cm/a", "-n", "shop", "--from", &path]);
        assert!(ran.out.len() < 10_000, "{}", ran.out);
    }
    let ran = gc(&["plan", "cm/a", "-n", "shop", "--from", &path]);
    says(&ran, &["1 stuck on 1000 finalizers", "finalizer acme.io/f7 and 992 more"]);
}

/// What an object says that it has, or that is about it without an owner reference, is as unknown as its dependents.
#[test]
fn what_belongs_to_an_object_may_be_missing_from_a_dump() {
    let folder = tempfile::tempdir().unwrap();
    let named = |api_version: &str, kind: &str, name: &str, more: Value| {
        let mut object = json!({"apiVersion": api_version, "kind": kind,
            "metadata": {"name": name, "namespace": "shop", "uid": format!("{kind}-{name}")}});
        object.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
        object
    };
    let owned = |mut object: Value, by: &str| {
        object["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "apps/v1", "kind": by, "name": "db", "uid": format!("{by}-db")}]);
        object
    };
    let pod = |name: &str| named("v1", "Pod", name, json!({"spec": {"nodeName": "n"}}));
    let revision = |by: &str| owned(named("apps/v1", "ControllerRevision", "db-1", json!({})), by);
    let templates = json!({"spec": {"replicas": 1, "volumeClaimTemplates": [{"metadata": {"name": "data"}}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}}, "status": {"readyReplicas": 1}});
    let ephemeral = json!({"spec": {"volumes": [{"name": "tmp", "ephemeral": {"volumeClaimTemplate": {}}}]}});
    let bound = json!({"spec": {"volumeName": "pv-1"}, "status": {"phase": "Bound"}});
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}});
    let cases = [
        (
            vec![
                named("apps/v1", "StatefulSet", "db", templates),
                owned(pod("db-0"), "StatefulSet"),
                revision("StatefulSet"),
            ],
            "statefulset/db",
            "pvc",
        ),
        (vec![named("v1", "Pod", "job", ephemeral)], "pod/job", "pvc"),
        (vec![named("v1", "PersistentVolumeClaim", "data", bound)], "pvc/data", "pv"),
        (vec![node], "node/n", "pods"),
        (vec![named("v1", "ServiceAccount", "robot", json!({}))], "serviceaccount/robot", "secrets"),
        (vec![named("apps/v1", "Deployment", "web", json!({"spec": {"replicas": 1}}))], "deploy/web", "pods"),
        // It names its Job; another one is there.
        (
            vec![
                named("batch/v1", "CronJob", "night", json!({"spec": {"jobTemplate": {}}, "status": {"active": [{}]}})),
                named("batch/v1", "Job", "another", json!({})),
            ],
            "cronjob/night",
            "jobs",
        ),
        (
            vec![
                named("v1", "Service", "web", json!({"spec": {"selector": {"app": "web"}}})),
                named("discovery.k8s.io/v1", "EndpointSlice", "another", json!({"addressType": "IPv4"})),
            ],
            "service/web",
            "endpointslices",
        ),
        // Its own revision is there, and none of its three pods.
        (
            vec![
                named("apps/v1", "DaemonSet", "db", json!({"spec": {}, "status": {"numberReady": 3}})),
                revision("DaemonSet"),
                pod("another"),
            ],
            "daemonset/db",
            "pods",
        ),
    ];
    for (objects, target, gate) in cases {
        let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
        let path = write(folder.path(), "some.json", &list);
        let gate = format!("--deny={gate}");
        let plan = |more: &[&str]| gc(&[&["plan", target, "-n", "shop", "--from", &path], more].concat());
        assert_eq!(plan(&[&gate]).code, 2, "{target} {gate}: {}", plan(&[&gate]));
        assert_ne!(plan(&[&gate, "--assume-complete"]).code, 2, "{target} {gate}: {}", plan(&[]));
    }
    // Another volume is there; the claim says that it has one of its own.
    let bound = named("v1", "PersistentVolumeClaim", "data", json!({"spec": {"volumeName": "pv-0"}}));
    let another = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv-1", "uid": "pv-1"},
        "spec": {"persistentVolumeReclaimPolicy": "Delete"}});
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [bound, another]}).to_string();
    let path = write(folder.path(), "claim.json", &list);
    let ran = gc(&["plan", "pvc/data", "-n", "shop", "--deny-effect=data-loss", "--from", &path]);
    assert!(
        ran.code == 2 && ran.out.contains("its volume PersistentVolume/pv-0 could not be read: it may lose its data"),
        "{ran}"
    );
    // Nothing proves that the claim of a bound volume is gone.
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata":
        {"name": "pv-1", "uid": "pv", "finalizers": ["kubernetes.io/pv-protection"]}, "spec": {"claimRef":
        {"namespace": "shop", "name": "data"}}, "status": {"phase": "Bound"}});
    let path = write(folder.path(), "volume.json", &volume.to_string());
    let ran = gc(&["plan", "pv/pv-1", "--from", &path]);
    assert!(
        ran.out
            .contains("DEPENDS: 1 object waits until the PV protection controller removes its finalizer; not certain."),
        "{ran}"
    );
    // All of it is told of each root, too.
    let web = named("apps/v1", "Deployment", "web", json!({"spec": {"replicas": 1}}));
    let path = write(folder.path(), "web.json", &web.to_string());
    let ran = gc(&["plan", "-A", "--from", &path]);
    assert!(ran.out.contains("? unsure  1 deleted\n") && ran.err.contains("Not in the dump"), "{ran}");
}

/// Shapes in which people have dumps: read, or refused with what to do.
#[test]
fn shapes_of_dumps() {
    let folder = tempfile::tempdir().unwrap();
    let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web", "namespace": "shop", "uid": "u"}}"#;
    let list = |items: &str| format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{items}]}}"#);
    let yaml = "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: web, namespace: \
                shop, uid: u}\n";
    // `kubectl cluster-info dump`
    let logs = "==== START logs for container c of pod shop/web ====\n{\"kind\": \"broken\n==== END logs ====\n";
    let info = write(folder.path(), "info.txt", &format!("{}\n{logs}{}\n{logs}", list(""), list(pod)));
    assert_eq!(gc(&["plan", "pod/web", "-n", "shop", "-o", "name", "--from", &info]).out, "pod/web\n");
    // A log may have no newline at its end.
    let logs = logs.replace("broken\n", "broken");
    let info = write(folder.path(), "cut.txt", &format!("{}\n{logs}{}\n{logs}", list(""), list(pod)));
    assert_eq!(gc(&["plan", "pod/web", "-n", "shop", "-o", "name", "--from", &info]).out, "pod/web\n");
    let said = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let ran = gc(&["plan", "pod/web", "-n", "shop", "--from", path.to_str().unwrap()]);
        assert_eq!(ran.code, 1, "{name}: {ran}");
        ran.err.replace(path.to_str().unwrap(), "")
    };
    let mut tar = vec![0; 1024];
    tar[..4].copy_from_slice(b"name");
    tar[257..262].copy_from_slice(b"ustar");
    for (name, bytes, hint) in [
        ("appended.yaml", format!("{yaml}{yaml}").into_bytes(), "put a line --- before it"),
        ("backup.tar", tar, "a tar archive: unpack it, and give the folder to --from"),
        ("backup.zip", b"PK\x03\x04 and more".to_vec(), "a zip archive: unpack it"),
        ("zeros", vec![0; 4096], "no text"),
        (
            "errors.yaml",
            format!("{yaml}Error from server (Forbidden): secrets is forbidden\n").into_bytes(),
            "\"Error from server\" stands among the objects",
        ),
        (
            "kinds.yaml",
            format!("{yaml}error: the server doesn't have a resource type \"foos\"\n").into_bytes(),
            "\"error\" stands among the objects: remove that line",
        ),
        (
            "far.yaml",
            format!("Unable to connect to the server: EOF\n{yaml}").into_bytes(),
            "\"Unable to connect to the server\" stands among the objects",
        ),
        ("alone.yaml", b"error: You must be logged in\n".to_vec(), "\"error\" stands among the objects"),
    ] {
        let said = said(name, &bytes);
        assert!(said.contains(hint), "{name}: {said}");
    }
}

/// An instance that isn't deleted, and a conversion webhook that can't be reached, say what the condition doesn't say.
#[test]
fn a_crd_that_the_api_server_tries_to_delete_again_and_again() {
    for command in ["doctor", "doctor crd/crates.odd.test", "explain crd/crates.odd.test"] {
        let ran = on("tries-again.yaml", &format!("{command} --assume-complete"));
        says(&ran, &["conversion-broken", "Service/gone -n nowhere"]);
        says_not(&ran, &["Nothing else keeps it", "nothing blocks"]);
    }
    // Whatever was deleted in vain proves that nothing had to be converted.
    let dump = std::fs::read_to_string("tests/cli/reports/tries-again.yaml").unwrap();
    let deleted = r#"uid: a, deletionTimestamp: "2026-01-02T10:00:06Z", finalizers: [odd.test/keep],"#;
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "deleted.yaml", &dump.replace("uid: a,", deleted));
    says_not(&gc(&["doctor", "--from", &path, "--assume-complete"]), &["conversion-broken"]);
}

/// A claim that was restored names the StatefulSet of before: the collector deletes it, whoever uses it, and only when
/// it is gone is not known. In a whole dump, that is known, too.
#[test]
fn what_certainly_begins_is_told_though_its_end_is_not_known() {
    for (assumed, unknown) in [("", true), ("--assume-complete", false)] {
        let doctor = on("restored-claim.yaml", &format!("doctor {assumed}"));
        assert_eq!(doctor.code, 2, "{doctor}");
        says(&doctor, &["ERROR owner-other-uid: PersistentVolumeClaim/data-db-0", "The collector will delete it"]);
        let explain = on("restored-claim.yaml", &format!("explain pvc/data-db-0 {assumed}"));
        says(&explain, &["WILL BE DELETED: the collector is about to delete"]);
        assert_eq!(flat(&explain).contains("when it is gone depends on"), unknown, "{explain}");
    }
}

/// Nothing in such a paste tells whether the time that it takes is over: who pastes it asks because it is.
#[test]
fn a_terminating_object_that_is_pasted_alone() {
    for (target, waits, next) in [
        (
            "pod/web-7d-x -n shop",
            "WAITS: Pod/web-7d-x is Terminating until the kubelet ends its containers.",
            "kubectl describe nodes/node-3",
        ),
        (
            "pod/report-1-xk2pq -n jobs",
            "WAITS: Pod/report-1-xk2pq is Terminating until the Job controller removes its finalizer.",
            "--dry-run=server",
        ),
        (
            "pvc/data-kafka-0 -n kafka",
            "until the PVC protection controller removes its finalizer.",
            "kubectl describe persistentvolumeclaims/data-kafka-0 -n kafka",
        ),
    ] {
        let ran = on("pod-alone.yaml", &format!("explain {target}"));
        says(&ran, &[waits, next]);
        says_not(&ran, &["nothing blocks that", "depends on something that is not known"]);
        let ran = on("pod-alone.yaml", &format!("doctor {target}"));
        says(&ran, &["Nothing in the dump tells whether that is over; if it is,", next]);
        says_not(&ran, &["Nothing else keeps it"]);
    }
}

#[test]
fn the_collector_complains_only_about_owners_in_namespaces() {
    let ran = on("complaint.yaml", "doctor");
    says(&ran, &["namespaced-owner-of-cluster-scoped", "it is never collected"]);
    says_not(&ran, &["or delete it"]);
    says(&on("complaint.yaml", "explain clusterrole/driver"), &["OK: nothing deletes ClusterRole/driver"]);
}

/// What the API server says of a Service counts where that was not read.
#[test]
fn a_webhook_is_known_by_what_the_api_server_says_of_it() {
    let ran = on("webhook-by-word.yaml", "doctor");
    says(
        &ran,
        &[
            "webhook-unreachable: ValidatingWebhookConfiguration/disk-validator",
            "Service/disk-webhook -n disks does not exist",
        ],
    );
    let said = flat(&ran);
    let [mend, stuck] = ["ERROR webhook-unreachable", "ERROR namespace-stuck"].map(|text| said.find(text));
    assert!(mend.is_some() && mend < stuck, "the webhook comes first: {ran}");
    let ran = on("webhook-by-word.yaml", "plan switch/one -n disks");
    says(&ran, &["the API server refuses it (ValidatingWebhookConfiguration/disk-validator)"]);
}

/// A backend whose Namespace goes does not come back.
#[test]
fn an_api_whose_backend_goes_is_unregistered_first() {
    let ran = on("webhook-by-word.yaml", "doctor");
    let said = flat(&ran);
    let [without, look] = ["unregister the API", "check its backend"].map(|text| said.find(text));
    assert!(without.is_some() && without < look, "{ran}");
}

/// A plural that is a guess may be wrong, and what a command can't name it can't mend: the kind is right.
#[test]
fn a_kind_without_a_known_plural_is_named_by_itself() {
    let ran = on("webhook-by-word.yaml", "doctor");
    says(&ran, &["kubectl delete switch.acme.io/one -n disks"]);
    says_not(&ran, &["switchs.acme.io"]);
}

/// OpenShift shows a Namespace as a Project, too; its users read that.
#[test]
fn a_project_is_its_namespace() {
    let project = json!({
        "apiVersion": "project.openshift.io/v1", "kind": "Project",
        "metadata": {"name": "team", "uid": "team", "deletionTimestamp": "2024-05-01T10:00:00Z"},
        "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Terminating", "conditions": [{
            "type": "NamespaceDeletionDiscoveryFailure", "status": "True", "reason": "DiscoveryFailed",
            "lastTransitionTime": "2024-05-01T11:00:00Z",
            "message": "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server \
                        APIs: metrics.k8s.io/v1beta1: the server is currently unable to handle the request",
        }]},
    });
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "project.json", &project.to_string());
    let ran = gc(&["doctor", "--from", &path]);
    says(&ran, &["ERROR namespace-stuck: Namespace/team", "kubectl get apiservices/v1beta1.metrics.k8s.io -o yaml"]);
}

/// A Warning about the very object, since its deletion, says why it is still there.
#[test]
fn events_say_why_a_deletion_fails() {
    let ran = on("warnings.yaml", "doctor");
    let service = "An Event about it says: FailedDeployModel (212 times): AccessDenied: not authorized to perform: \
                   elasticloadbalancing:DeleteTargetGroup.";
    let pod = "An Event about it says: FailedKillPod (240 times): error killing pod: DeadlineExceeded.";
    says(&ran, &["WARNING slow-finalizer: Service/claims -n shop", service, "It stays as long as that is so.", pod]);
    says_not(&ran, &["FailedBefore", "all is well", "Unhealthy"]);
    for (target, why) in [("svc/claims", service), ("pod/worker", pod)] {
        says(&on("warnings.yaml", &format!("explain {target} -n shop")), &[&why[1..why.len() - 1]]);
    }
}

/// What was said before the deletion doesn't keep the object.
#[test]
fn an_older_condition_is_no_reason() {
    let folder = tempfile::tempdir().unwrap();
    let ran = |conditions: Value| {
        let metadata = json!({"name": "w", "namespace": "n", "uid": "w", "finalizers": ["acme.io/hold"],
            "deletionTimestamp": "2026-05-01T10:00:00Z"});
        let status = json!({"conditions": conditions});
        let widget = json!({"apiVersion": "acme.io/v1", "kind": "Widget", "metadata": metadata, "status": status});
        let later = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "l", "namespace": "n",
            "uid": "l", "creationTimestamp": "2026-05-01T14:00:00Z"}});
        gc(&[
            "doctor",
            "--from",
            &write(
                folder.path(),
                "d.json",
                &json!({"kind": "List", "apiVersion": "v1", "items": [widget, later]}).to_string(),
            ),
        ])
    };
    let ready =
        |time: Value| json!({"type": "Ready", "status": "False", "reason": "NoTarget", "lastTransitionTime": time});
    says(
        &ran(json!([ready(json!("2026-05-01T09:00:00Z"))])),
        &["Before the delete, its controller said: Ready is False: NoTarget."],
    );
    says(
        &ran(json!([ready(json!(null))])),
        &["Its controller says, and may have said so before the delete: Ready is False: NoTarget."],
    );
    let message = format!("{} is forbidden", "x: ".repeat(200));
    let new = json!({"type": "Deleting", "status": "True", "reason": "WaitingForX", "message": message});
    let ran = ran(json!([ready(json!("2026-05-01T09:00:00Z")), new]));
    says(&ran, &["Its controller says: Deleting is True: WaitingForX: x:", "x: is forbidden."]);
    says_not(&ran, &["NoTarget"]);
}

#[test]
fn the_content_of_a_snapshot_waits_for_its_driver() {
    let ran = on("snapshot-content.yaml", "doctor");
    says(&ran, &["Its controller says: Failed to delete snapshot: rpc error: code = Unimplemented", "for 2h"]);
    says_not(&ran, &["leave the finalizer"]);
    let ran = on("snapshot-content.yaml", "explain volumesnapshotcontent/content");
    says(&ran, &["code = Unimplemented"]);
}

/// Neither goes by itself: the attachment has to be deleted first.
#[test]
fn an_attachment_that_was_never_attached_keeps_a_volume() {
    let ran = on("never-attached.yaml", "doctor");
    says(
        &ran,
        &[
            "whose controller says: PersistentVolume \"pv\" is marked for deletion",
            "Next delete VolumeAttachment/csi-1 first: then it goes.",
        ],
    );
    let dump = std::fs::read_to_string("tests/cli/reports/never-attached.yaml").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "later.yaml", &dump.replace("10:00:57", "14:00:57"));
    let ran = gc(&["doctor", "--from", &path]);
    says(&ran, &["WARNING slow-finalizer", "Next delete VolumeAttachment/csi-1 first: then it goes."]);
}

/// R12.10: a volume without its claim is being deleted, again and again: its data goes as soon as that succeeds.
#[test]
fn a_volume_without_its_claim_is_being_deleted() {
    let ran = on("volumes.yaml", "doctor");
    for (name, why) in [
        ("released", "VolumeFailedDelete (9 times): persistentvolume released is still attached to node n1"),
        ("failed", "the disk is in use"),
    ] {
        let finding = format!("WARNING deletion-in-progress: PersistentVolume/{name}");
        let retain = format!("kubectl patch persistentvolumes/{name} --type=merge");
        says(&ran, &[&finding, &format!("can't be deleted (reclaim policy Delete): {why}."), &retain]);
        let ran = on("volumes.yaml", &format!("explain pv/{name}"));
        says(&ran, &["with all its data", why]);
        says_not(&ran, &["OK:"]);
    }
    says_not(&ran, &["PersistentVolume/free"]);
    let ran = on("volumes.yaml", "reclaim");
    says(&ran, &["2 objects go by themselves", "the disk is in use"]);
}

/// R9.35: only the data of a volume that has lost its claim is deleted.
#[test]
fn a_volume_that_nobody_claimed_loses_nothing() {
    let ran = on("volumes.yaml", "plan pv/free --deny-effect=data-loss");
    assert_eq!(ran.code, 0, "{ran}");
    says(&ran, &["its data is kept"]);
    says_not(&ran, &["lose", "Retain"]);
}

/// R9.50: what wants no pod, or makes its pods at times, will need what they name.
#[test]
fn what_runs_no_pod_now_is_told_what_it_loses() {
    let ran = on("named.yaml", "plan secret/key -n shop");
    says(&ran, &["CronJob/nightly", "Deployment/idle", "no other pod of it can start"]);
    says_not(&ran, &["StatefulSet"]);
}

/// R9.1: a CronJob calls its Jobs after itself and the minute.
#[test]
fn a_job_made_by_hand_is_not_made_again() {
    says_not(&on("named.yaml", "plan job/by-hand -n shop"), &["again"]);
    says(&on("named.yaml", "plan job/nightly-29630700 -n shop"), &["CronJob/nightly", "again"]);
}

#[test]
fn what_was_not_read_may_go_by_itself() {
    let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", "namespace": "n", "uid": "m",
        "creationTimestamp": "2026-05-01T10:00:00Z",
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j"}]}});
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "map.json", &map.to_string());
    says(&gc(&["reclaim", "--from", &path]), &["Nothing that could be read goes by itself."]);
    says(&gc(&["reclaim", "--assume-complete", "--from", &path]), &["Nothing goes by itself."]);
}

/// All wait for one controller, and are there for one of them.
#[test]
fn what_waits_for_one_controller_is_one_finding() {
    let held = |api_version: &str, kind: &str, name: &str| {
        json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": "n", "uid": name,
            "finalizers": ["acme.io/hold"], "deletionTimestamp": "2026-05-01T10:00:00Z"}})
    };
    let owned = |mut object: Value| {
        object["metadata"]["ownerReferences"] =
            json!([{"apiVersion": "acme.io/v1", "kind": "Store", "name": "main", "uid": "main"}]);
        object
    };
    let items = [
        owned(held("v1", "Service", "web")),
        owned(held("apps/v1", "Deployment", "web-1")),
        held("acme.io/v1", "Store", "main"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let dump = json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let ran = gc(&["doctor", "--from", &write(folder.path(), "held.json", &dump)]);
    says(&ran, &["1 error: stuck-finalizer: Store/main, Service/web and Deployment/web-1 -n n."]);
}

/// The CRD waits for its instance, which has been deleted already: its finalizer is the cause.
#[test]
fn an_instance_that_is_terminating_keeps_its_definition() {
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "challenges.acme.cert-manager.io", "uid": "crd",
            "deletionTimestamp": "2026-05-01T10:00:00Z", "finalizers": ["customresourcecleanup.apiextensions.k8s.io"]},
        "spec": {"group": "acme.cert-manager.io", "scope": "Namespaced",
            "names": {"kind": "Challenge", "plural": "challenges"},
            "versions": [{"name": "v1", "served": true, "storage": true}]},
        "status": {"storedVersions": ["v1"], "conditions": [{"type": "Terminating", "status": "True",
            "reason": "InstanceDeletionCheck", "message": "could not confirm zero CustomResources remaining",
            "lastTransitionTime": "2026-05-01T14:00:00Z"}, {"type": "Established", "status": "True"}]}});
    let challenge = json!({"apiVersion": "acme.cert-manager.io/v1", "kind": "Challenge", "metadata": {"name": "tls",
        "namespace": "n", "uid": "tls", "deletionTimestamp": "2026-05-01T10:00:01Z",
        "finalizers": ["finalizer.acme.cert-manager.io"]}});
    let folder = tempfile::tempdir().unwrap();
    let dump = |items: &[&Value]| json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string();
    let ran = gc(&["doctor", "--from", &write(folder.path(), "both.json", &dump(&[&definition, &challenge]))]);
    says(
        &ran,
        &["1 warning: slow-finalizer", "CustomResourceDefinition/challenges.acme.cert-manager.io waits for it."],
    );
    let ran = gc(&["doctor", "--from", &write(folder.path(), "one.json", &dump(&[&definition]))]);
    says(&ran, &["ERROR definition-stuck"]);
}
