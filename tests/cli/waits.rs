//! What Terminating objects wait for beside owners and dependents: somebody who resumes them, or whoever uses them.

use serde_json::{Value, json};

use super::{
    agree::{DELETED, LOCKER, claim, document, object, on, owners, running, says, says_not},
    field::{at_ten, namespace, node, pod},
};

const CLUSTER: (&str, &str) = ("cluster.x-k8s.io/v1beta1", "Cluster");
const NODE_CLAIM: (&str, &str) = ("karpenter.sh/v1", "NodeClaim");
const MACHINE: (&str, &str) = ("cluster.x-k8s.io/v1beta1", "Machine");

/// What waits for a controller of Kubernetes says so; a finalizer that nobody waits for yet only would have to go.
#[test]
fn who_has_to_act_is_told() {
    let tracked = |deleted: Value| {
        let job = owners(("batch/v1", "Job"), &["import"]);
        let finalizers = json!(["batch.kubernetes.io/job-tracking"]);
        let mut tracked =
            pod("import-a", json!({"finalizers": finalizers, "deletionTimestamp": deleted, "ownerReferences": job}));
        tracked["metadata"]["ownerReferences"][0]["controller"] = json!(true);
        tracked["status"] = json!({"phase": "Succeeded"});
        [tracked, object(("batch/v1", "Job"), "other", json!({})), namespace(json!({})), node("True", "x"), at_ten()]
    };
    let ran = on(&tracked(json!("2026-03-01T08:00:00Z")), "explain pod/import-a -n vault");
    says(&ran, &["WILL BE DELETED: Pod/import-a is Terminating", "until the Job controller removes"]);
    says_not(&ran, &["nothing blocks that"]);
    let made_by = json!({"finalizers": ["external-attacher/disk-acme-io"], "namespace": null});
    let attachment = object(("storage.k8s.io/v1", "VolumeAttachment"), "csi-1", made_by);
    says(&on(&[attachment, at_ten()], "explain volumeattachment/csi-1"), &["would have to remove it"]);
}

/// What `delete --hold` holds waits for somebody, and for no controller: each command says how to let it go.
#[test]
fn what_is_held_is_let_go_or_taken_back() {
    let held = json!({"finalizers": ["kubectl-gc/hold", "kubectl-gc/uncancelled"], "deletionTimestamp": DELETED});
    let web = object(("apps/v1", "Deployment"), "web", held);
    let set = owners(("apps/v1", "Deployment"), &["web"]);
    let set = object(("apps/v1", "ReplicaSet"), "web-1", json!({"ownerReferences": set}));
    let uid = web["metadata"]["uid"].as_str().unwrap();
    let record = object(("v1", "Secret"), "web-hold", json!({"labels": {"kubectl-gc/hold": uid}}));
    let all = [namespace(json!({})), web.clone(), set, record, at_ten()];
    const LET_GO: &str = "kubectl gc delete deployments.apps/web -n vault --hold=0s";
    const TAKE_BACK: &str = "kubectl gc cancel deployments.apps/web -n vault";
    const HELD: &str = "held by kubectl gc delete --hold";
    let ran = on(&all, "plan deploy/web -n vault");
    says(&ran, &["STUCK: ", "■ STUCK  held by kubectl gc delete --hold\n", LET_GO, TAKE_BACK]);
    says_not(&ran, &["uncancelled", "Leases", "kubectl gc explain"]);
    let ran = on(&all, "plan ns/vault");
    says(&ran, &["waits for Deployment/web, held by kubectl gc delete --hold\n", LET_GO, TAKE_BACK]);
    assert_eq!(ran.out.matches(LET_GO).count(), 1, "{ran}");
    let ran = on(&all, "explain deploy/web -n vault");
    says(&ran, &["STUCK: Deployment/web stays until somebody lets the delete go", HELD, TAKE_BACK]);
    says_not(&ran, &["--cascade=orphan"]);
}

/// A controller leaves a paused object alone, runs or not: somebody must resume it, which comes first.
#[test]
fn what_is_paused_waits_for_somebody() {
    let operators = [running("capi-controller-manager"), running("provider-aws")];
    let cluster = |more: Value| {
        let mut cluster = object(CLUSTER, "east", json!({"finalizers": ["cluster.cluster.x-k8s.io"]}));
        cluster["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        cluster["spec"] = json!({"paused": true});
        cluster
    };
    let of_cluster = json!({"finalizers": ["machine.cluster.x-k8s.io"],
        "labels": {"cluster.x-k8s.io/cluster-name": "east"}, "deletionTimestamp": DELETED});
    let mut machine = object(MACHINE, "m1", of_cluster);
    machine["spec"] = json!({});
    let bucket = object!(("s3.aws.crossplane.io/v1beta1", "Bucket"), "photos", {
        "finalizers": ["finalizer.managedresource.crossplane.io"], "deletionTimestamp": DELETED,
        "annotations": {"crossplane.io/paused": "true"}, "spec": {}});
    let going = json!({"deletionTimestamp": DELETED});
    for (objects, target, said, resumes) in [
        (
            vec![cluster(going)],
            "cluster/east",
            "paused by spec.paused",
            r#"/east -n vault --type=merge -p '{"spec":{"paused":null}}'"#,
        ),
        (
            vec![machine, cluster(json!({}))],
            "machine/m1",
            "paused by spec.paused, as Cluster/east",
            r#"/east -n vault --type=merge -p '{"spec":{"paused":null}}'"#,
        ),
        (
            vec![bucket],
            "bucket/photos",
            "paused by the annotation crossplane.io/paused",
            r#"/photos -n vault --type=merge -p '{"metadata":{"annotations":{"crossplane.io/paused":null}}}'"#,
        ),
    ] {
        let objects = [&objects[..], &operators].concat();
        let explained = on(&objects, &format!("explain {target} -n vault"));
        says(&explained, &["DEPENDS: ", "until somebody resumes it", said]);
        says(&on(&objects, &format!("plan {target} -n vault")), &["DEPENDS: ", said]);
        let found = on(&objects, &format!("doctor {target} -n vault"));
        says(&found, &["ERROR armed-deletion", said, resumes]);
        let (resume, force) = (found.out.find(resumes).unwrap(), found.out.find("force-remove").unwrap());
        assert!(resume < force, "{found}");
    }
    // What the cluster's own controller waits for, it says itself.
    let mut ceph = object(
        ("ceph.rook.io/v1", "CephCluster"),
        "ceph",
        json!({"finalizers": ["cephcluster.ceph.rook.io"], "deletionTimestamp": DELETED}),
    );
    ceph["spec"] = json!({});
    ceph["status"] = json!({"conditions": [{"type": "DeletionIsBlocked", "status": "True",
        "message": "CephCluster will not be deleted until all dependents are removed: CephBlockPool: [replicated]"}]});
    let objects = [ceph, running("rook-ceph-operator")];
    for line in ["explain cephcluster/ceph -n vault", "plan cephcluster/ceph -n vault", "doctor"] {
        says(&on(&objects, line), &["until all dependents are removed: CephBlockPool: [replicated]"]);
    }
}

/// Flux looks at what is deleted before it looks whether it is suspended.
#[test]
fn what_flux_has_suspended_goes() {
    let apps = object!(("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "apps", {
        "finalizers": ["finalizers.fluxcd.io"], "deletionTimestamp": DELETED,
        "spec": {"suspend": true, "prune": true}});
    says_not(&on(&[apps, running("kustomize-controller")], "explain kustomization/apps -n vault"), &["resumes"]);
}

/// What only a controller deletes that isn't there is lost if that restarts; another finalizer in the same namespace
/// loses nothing of it, nor does the namespace.
#[test]
fn what_flux_would_delete_is_lost_only_if_flux_restarts() {
    const GROUP: &str = "kustomize.toolkit.fluxcd.io";
    let left = || json!({"namespace": "flux", "finalizers": ["finalizers.fluxcd.io"], "deletionTimestamp": DELETED});
    let mut apps = object(("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "apps", left());
    apps["spec"] = json!({"prune": true});
    apps["status"] = json!({"inventory": {"entries": [{"id": "vault_gold__PersistentVolumeClaim", "v": "v1"}]}});
    let source = object(("source.toolkit.fluxcd.io/v1", "GitRepository"), "apps", left());
    let [mut gold, volume] = claim("held");
    gold["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    gold["metadata"]["labels"] = json!({(format!("{GROUP}/name")): "apps", (format!("{GROUP}/namespace")): "flux"});
    let mut flux = namespace(json!({"deletionTimestamp": DELETED}));
    (flux["metadata"]["name"], flux["metadata"]["uid"]) = (json!("flux"), json!("flux"));
    let objects = [namespace(json!({})), flux, apps, source, gold, volume, at_ten()];
    let loss = "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data";
    let found = on(&objects, "doctor").out;
    assert_eq!(found.matches(loss).count(), 1, "{found}");
    assert!(
        found.contains(&format!(
            "If its controller restarts, Flux deletes every object that it applied: 1 object. {loss}"
        )),
        "{found}"
    );
    let ran = on(&objects, "explain ns/flux");
    let then = ran.out.split("Then").nth(1).unwrap().split("Note").next().unwrap();
    assert!(!then.contains("DATA LOSS"), "{ran}");
}

/// Flux deletes nothing if the ServiceAccount is gone as which it should act; if that goes with it, nobody knows.
#[test]
fn flux_deletes_nothing_without_its_account() {
    const GROUP: &str = "kustomize.toolkit.fluxcd.io";
    let apps = object!(("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "apps", {
        "finalizers": ["finalizers.fluxcd.io"], "spec": {"prune": true, "serviceAccountName": "deployer"},
        "status": {"inventory": {"entries": [{"id": "vault_settings__ConfigMap", "v": "v1"}]}}});
    let labels = json!({"labels": {(format!("{GROUP}/name")): "apps", (format!("{GROUP}/namespace")): "vault"}});
    let settings = object(("v1", "ConfigMap"), "settings", labels);
    let account = |name| object(("v1", "ServiceAccount"), name, json!({}));
    let with = |accounts: &[Value], line: &str| {
        let objects = [apps.clone(), settings.clone(), running("kustomize-controller"), at_ten()];
        on(&[&objects[..], accounts].concat(), line)
    };
    let there = with(&[account("deployer")], "plan kustomization/apps -n vault -o json");
    let goes = "\"name\": \"settings\"";
    assert!(there.out.contains(goes), "{there}");
    let gone = with(&[account("other")], "plan kustomization/apps -n vault -o json");
    assert!(!gone.out.contains(goes), "{gone}");
    says(
        &with(&[account("other")], "plan kustomization/apps -n vault -o wide"),
        &["its managed objects are kept (the ServiceAccount as which its controller acts is gone)"],
    );
    let both = "plan kustomization/apps sa/deployer -n vault -o json";
    let raced = with(&[account("deployer")], both);
    assert!(raced.out.contains(goes) && raced.out.contains(", 1 later; not certain."), "{raced}");
}

/// The content of a snapshot stays until the snapshot is deleted, and says so.
#[test]
fn the_content_of_a_snapshot_waits_for_it() {
    const GROUP: &str = "snapshot.storage.k8s.io/v1";
    let content = object!((GROUP, "VolumeSnapshotContent"), "content-1", {"namespace": null,
        "deletionTimestamp": DELETED,
        "finalizers": ["snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection"],
        "spec": {"deletionPolicy": "Retain", "volumeSnapshotRef": {"namespace": "vault", "name": "daily"}}});
    let snapshot = object!((GROUP, "VolumeSnapshot"), "daily", {"spec": {},
        "status": {"boundVolumeSnapshotContentName": "content-1"}});
    let objects = [content, snapshot, running("snapshot-controller")];
    for line in ["plan volumesnapshotcontent/content-1", "explain volumesnapshotcontent/content-1"] {
        says(&on(&objects, line), &["WAITS: ", "VolumeSnapshot/daily"]);
    }
    says(&on(&objects, "doctor"), &["it waits for VolumeSnapshot/daily -n vault"]);
}

/// What a finalizer keeps while anybody uses it names its users.
#[test]
fn what_is_in_use_names_its_users() {
    let protected = |kind: (&str, &str), name: &str, finalizer: &str, spec: Value| {
        let mut object = object(kind, name, json!({"deletionTimestamp": DELETED, "finalizers": [finalizer]}));
        object["spec"] = spec;
        object
    };
    let global = |mut object: Value| {
        object["metadata"].as_object_mut().unwrap().remove("namespace");
        object
    };
    let class =
        protected(("storage.k8s.io/v1", "VolumeAttributesClass"), "gold", "kubernetes.io/vac-protection", json!({}));
    let mut claim = object(("v1", "PersistentVolumeClaim"), "data", json!({}));
    claim["spec"] = json!({"volumeAttributesClassName": "gold", "volumeName": "pv1"});
    let volume = protected(
        ("v1", "PersistentVolume"),
        "pv1",
        "kubernetes.io/pv-protection",
        json!({"claimRef": {"namespace": "vault", "name": "data"}, "persistentVolumeReclaimPolicy": "Retain"}),
    );
    let mut gpu = protected(
        ("resource.k8s.io/v1", "ResourceClaim"),
        "gpu",
        "resource.kubernetes.io/delete-protection",
        json!({}),
    );
    gpu["status"] = json!({"reservedFor": [{"resource": "pods", "name": "train", "uid": "train"}]});
    let pod = object!(("v1", "Pod"), "train", {"spec": {"nodeName": "n1", "containers": []},
        "status": {"phase": "Running"}});
    let range = protected(
        ("networking.k8s.io/v1", "ServiceCIDR"),
        "more",
        "networking.k8s.io/service-cidr-finalizer",
        json!({"cidrs": ["10.96.0.0/16"]}),
    );
    let address = global(object(("networking.k8s.io/v1", "IPAddress"), "10.96.7.7", json!({})));
    let objects = [
        global(class),
        claim,
        global(volume),
        gpu,
        pod,
        global(range),
        address,
        global(object(("v1", "Node"), "n1", json!({}))),
    ];
    for (target, verdict, user) in [
        ("volumeattributesclass/gold", "WAITS: ", "PersistentVolumeClaim/data"),
        ("pv/pv1", "WAITS: ", "PersistentVolumeClaim/data"),
        ("resourceclaim/gpu -n vault", "WAITS: ", "Pod/train"),
        // Nothing deletes an address but what deletes its Service.
        ("servicecidr/more", "STUCK: ", "IPAddress/10.96.7.7"),
    ] {
        says(&on(&objects, &format!("explain {target}")), &[verdict, user]);
        says(&on(&objects, &format!("doctor {target}")), &["waits for", user]);
        says(&on(&objects, &format!("plan {target}")), &[verdict, user]);
    }
    // Two ranges that are deleted together count for each other as long as both are there.
    let twin = global(protected(
        ("networking.k8s.io/v1", "ServiceCIDR"),
        "twin",
        "networking.k8s.io/service-cidr-finalizer",
        json!({"cidrs": ["10.96.0.0/16"]}),
    ));
    let twins = [&objects[..], &[twin]].concat();
    let ran = on(&twins, "plan servicecidr/more servicecidr/twin");
    says(&ran, &["DEPENDS: ", "2 outcomes depend on something that is not known"]);
    // A claim that is being modified still has the class that it leaves.
    let mut leaving = objects.clone();
    let claim = leaving.iter_mut().find(|object| object["metadata"]["name"] == "data").unwrap();
    claim["spec"]["volumeAttributesClassName"] = json!("silver");
    claim["status"]["currentVolumeAttributesClassName"] = json!("gold");
    says(&on(&leaving, "plan volumeattributesclass/gold"), &["WAITS: ", "PersistentVolumeClaim/data"]);
}

/// R9.40: a claim stays while a snapshot of it is being taken, and says so; a ready one keeps nothing.
#[test]
fn a_claim_waits_for_the_snapshots_being_taken_of_it() {
    const GROUP: &str = "snapshot.storage.k8s.io/v1";
    let claim = |more: Value| {
        let finalizers = json!(["snapshot.storage.kubernetes.io/pvc-as-source-protection"]);
        let mut claim = object(("v1", "PersistentVolumeClaim"), "data", json!({ "finalizers": finalizers }));
        claim["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        claim["spec"] = json!({});
        claim
    };
    let taken = |of: &str, status: Value| {
        let mut snapshot = object((GROUP, "VolumeSnapshot"), "daily", json!({}));
        snapshot["spec"] = json!({"source": {"persistentVolumeClaimName": of}});
        snapshot["status"] = status;
        snapshot
    };
    for (of, status, waits) in [
        ("data", json!({"readyToUse": false}), true),
        ("data", json!({}), true),
        ("data", json!({"readyToUse": true}), false),
        ("other", json!({}), false),
    ] {
        let deleted = claim(json!({"deletionTimestamp": DELETED}));
        for (claim, line, until) in [
            (claim(json!({})), "plan", "WAITS: nothing goes at once"),
            (deleted.clone(), "plan", "waits for VolumeSnapshot/daily to be ready to use"),
            (deleted.clone(), "explain", "until VolumeSnapshot/daily is ready or deleted."),
            (deleted, "doctor", "it waits for VolumeSnapshot/daily to be ready to use."),
        ] {
            let objects = [claim, taken(of, status.clone()), running("snapshot-controller")];
            let ran = on(&objects, &format!("{line} pvc/data -n vault"));
            assert_eq!(ran.out.contains("VolumeSnapshot/daily"), waits, "{ran}");
            assert!(!waits || ran.out.contains(until), "{ran}");
        }
    }
    // One that fails is tried again and again: it may never be ready.
    let fails = json!({"error": {"message": "class \"nosuch\" not found"}});
    let with = |claim: Value, line: &str| {
        on(&[claim, taken("data", fails.clone()), running("snapshot-controller")], &format!("{line} pvc/data -n vault"))
    };
    says(&with(claim(json!({})), "plan"), &["DEPENDS: ", "waits for VolumeSnapshot/daily"]);
    let said = ["whose controller says: class \"nosuch\" not found", "delete VolumeSnapshot/daily first: then it goes"];
    says(&with(claim(json!({"deletionTimestamp": DELETED})), "doctor"), &said);
    // One that is deleted, too, keeps nothing.
    let objects = [claim(json!({})), taken("data", json!({})), running("snapshot-controller")];
    says_not(&on(&objects, "plan pvc/data volumesnapshot/daily -n vault"), &["to be ready to use"]);
    // What can't be read may be such a snapshot.
    let mut bare = taken("data", json!({}));
    bare.as_object_mut().unwrap().remove("spec");
    let objects = [claim(json!({})), bare, running("snapshot-controller")];
    says(
        &on(&objects, "plan pvc/data -n vault"),
        &["WAITS: nothing goes at once, 1 waits for Deployment/snapshot-controller, which runs; not certain."],
    );
}

/// R9.40: a volume that a Node has stays, and names the VolumeAttachment, and why that can't be detached.
#[test]
fn a_volume_waits_until_it_is_detached() {
    let said = "Could not detach volume h: UnauthorizedOperation";
    let attachment = |of: &str, more: Value| {
        let mut attachment = object!(("storage.k8s.io/v1", "VolumeAttachment"), "csi-1", {"namespace": null,
            "finalizers": ["external-attacher/x-y"]});
        attachment["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        attachment["spec"] = json!({"attacher": "x.y", "nodeName": "n1", "source": {"persistentVolumeName": of}});
        attachment["status"] = json!({"attached": true});
        attachment
    };
    let failing = |of: &str| {
        let mut failing = attachment(of, json!({"deletionTimestamp": "2026-03-01T07:00:00Z"}));
        failing["status"]["detachError"] = json!({"message": said, "time": "2026-03-01T09:00:00Z"});
        failing
    };
    let [gold, volume] = claim("here");
    let with = |attachment: Value, line: &str| {
        let here = object(LOCKER, "here", json!({}));
        on(&[gold.clone(), volume.clone(), here, attachment, running("x-csi-controller"), at_ten()], line)
    };
    for line in ["plan pvc/gold -n vault", "plan locker/here -n vault"] {
        let ran = with(failing("pv1"), line);
        says(&ran, &["not certain: it waits for VolumeAttachment/csi-1, which can't be detached", said]);
        for other in [failing("pv2"), attachment("pv1", json!({}))] {
            says_not(&with(other, line), &["VolumeAttachment/csi-1"]);
        }
    }
    for finalizer in ["external-provisioner.volume.kubernetes.io/finalizer", "external-attacher/x-y"] {
        let going = |deleted: &str| {
            let mut going = volume.clone();
            going["metadata"]["finalizers"] = json!([finalizer]);
            going["metadata"]["deletionTimestamp"] = json!(deleted);
            going["status"] = json!({"phase": "Released"});
            going
        };
        for deleted in ["2026-03-01T07:00:00Z", "2026-03-01T09:59:50Z"] {
            let objects = [going(deleted), failing("pv1"), running("x-csi-controller"), at_ten()];
            for line in ["explain pv/pv1", "plan pv/pv1"] {
                says(&on(&objects, line), &["VolumeAttachment/csi-1"]);
            }
        }
        let objects = [going("2026-03-01T07:00:00Z"), failing("pv1"), running("x-csi-controller"), at_ten()];
        says(&on(&objects, "doctor"), &["VolumeAttachment/csi-1", said]);
        let objects = [going("2026-03-01T07:00:00Z"), running("x-csi-controller"), at_ten()];
        says_not(&on(&objects, "doctor"), &["VolumeAttachment/csi-1"]);
    }
}

const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");

/// A VolumeAttachment of the volume behind the claim `gold`. The attach-detach controller names that to Node `n1` so.
fn attachment(node: &str, attached: bool) -> Value {
    const NAME: &str = "csi-2a7fdfd40a63238bfe902654e3d29ef3b79a0bae8121e41204fafdfe5042b78c";
    let mut attachment = object!(("storage.k8s.io/v1", "VolumeAttachment"), NAME, {"namespace": null,
        "finalizers": ["external-attacher/x-y"]});
    attachment["spec"] = json!({"attacher": "x.y", "nodeName": node, "source": {"persistentVolumeName": "pv1"}});
    attachment["status"] = json!({ "attached": attached });
    attachment
}

fn user_of_gold(name: &str, more: Value) -> Value {
    let mut user = pod(name, more);
    user["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]);
    user
}

/// R9.49: who deletes the VolumeAttachment of a volume that a pod uses takes its data away from that.
#[test]
fn a_volume_is_detached_from_those_who_use_it() {
    let [gold, volume] = claim("here");
    let here = object(LOCKER, "here", json!({}));
    let db = user_of_gold("db", json!({}));
    let with = |attachment: &Value, db: &Value, line: &str| {
        let all = [gold.clone(), volume.clone(), here.clone(), attachment.clone(), db.clone(), node("True", DELETED)];
        let line = format!("{line} volumeattachment/{}", attachment["metadata"]["name"].as_str().unwrap());
        on(&[&all[..], &[running("x-csi-controller"), at_ten()]].concat(), &line)
    };
    let lost = "PersistentVolume/pv1 is detached from Node/n1 at once, and what uses it can't reach the data";
    let ran = with(&attachment("n1", true), &db, "plan");
    says(&ran, &[lost, "until it is started again: Pod/db -n vault", "data on it can't be reached"]);
    says(&ran, &["stop its pods first", "--assume-complete pods/db -n vault"]);
    let mut ended = db.clone();
    ended["status"]["phase"] = json!("Succeeded");
    let others = [(attachment("n2", true), &db), (attachment("n1", false), &db), (attachment("n1", true), &ended)];
    for (attachment, db) in others {
        says_not(&with(&attachment, db, "plan"), &["is detached", "stop its pods"]);
    }
    says_not(&with(&attachment("n1", true), &db, "plan -n vault pod/db"), &["is detached"]);
}

/// R9.49: the VolumeAttachment goes with the last pod on the Node that uses the volume, unless that comes back.
#[test]
fn a_volume_is_detached_with_the_last_pod_that_uses_it() {
    let [gold, volume] = claim("here");
    let set = object(("apps/v1", "StatefulSet"), "db", json!({"spec": {"replicas": 1}, "status": {}}));
    let plan = |pods: &[Value], line: &str| {
        let all = [gold.clone(), volume.clone(), object(LOCKER, "here", json!({})), attachment("n1", true)];
        let around = [set.clone(), node("True", DELETED), namespace(json!({})), running("x-csi-controller"), at_ten()];
        document(&[&all[..], pods, &around].concat(), line)
    };
    let detached = |plan: &Value| {
        let all = [&plan["outcomes"], &plan["then"]["outcomes"]].map(|all| all.as_array().into_iter().flatten());
        let of = |outcome: &&Value| outcome["object"]["kind"] == "VolumeAttachment";
        all.map(|all| all.filter(of).map(|outcome| outcome["outcome"].clone()).collect::<Vec<_>>())
    };
    let mut of_set = owners(("apps/v1", "StatefulSet"), &["db"]);
    of_set[0]["controller"] = json!(true);
    let own = user_of_gold("db-0", json!({"ownerReferences": of_set}));
    let (alone, other) = (user_of_gold("a", json!({})), user_of_gold("b", json!({})));
    let mut ended = other.clone();
    ended["status"]["phase"] = json!("Failed");
    // Its attacher removes the finalizer then.
    let goes = [vec![json!("Terminating")], vec![json!("Deleted")]];
    for (pods, line) in [
        (vec![alone.clone()], "plan pod/a -n vault"),
        (vec![alone.clone(), ended.clone()], "plan pod/a -n vault"),
        (vec![alone.clone(), other.clone()], "plan pod/a pod/b -n vault"),
        (vec![own.clone()], "plan statefulset/db -n vault"),
        (vec![own.clone()], "plan ns/vault"),
        (vec![own.clone()], "plan node/n1"),
    ] {
        let plan = plan(&pods, line);
        assert_eq!(detached(&plan), goes, "{line}: {plan:#}");
    }
    for (pods, line) in [
        (vec![alone, other], "plan pod/a -n vault"),
        (vec![ended], "plan pod/b -n vault"),
        (vec![own], "plan pod/db-0 -n vault"),
    ] {
        let plan = plan(&pods, line);
        assert_eq!(detached(&plan).concat(), Vec::<Value>::new(), "{line}: {plan:#}");
    }
}

/// R9.40: a hook of Argo CD stays while the operation that made it runs, which can be ended.
#[test]
fn a_hook_waits_until_its_operation_ends() {
    let deleted = json!({"finalizers": ["argocd.argoproj.io/hook-finalizer"],
        "deletionTimestamp": "2026-03-01T07:00:00Z"});
    let job = object(("batch/v1", "Job"), "migrate", deleted);
    let application = |operation: Value| {
        let mut application = object(APPLICATION, "shop", json!({"namespace": "argocd"}));
        application["spec"] = json!({"project": "default", "destination": {"namespace": "vault"}});
        application["status"] = json!({"operationState": operation});
        application
    };
    let with = |operation: Value, line: &str| {
        on(&[job.clone(), application(operation), running("argocd-application-controller"), at_ten()], line)
    };
    let waited = json!({"phase": "Running", "message": "waiting for deletion of hook batch/Job/migrate"});
    let listed = json!({"phase": "Running", "syncResult": {"resources": [
        {"group": "batch", "kind": "Job", "namespace": "vault", "name": "migrate", "hookType": "PreSync"}]}});
    for operation in [waited, listed] {
        let ran = with(operation.clone(), "doctor");
        says(
            &ran,
            &["Job/migrate is a hook of the operation of Application/shop -n argocd, which runs.", "end the op"],
        );
        says(&ran, &[r#"shop -n argocd --type=merge -p '{"status":{"operationState":{"phase":"Terminating"}}}'"#]);
        says(&with(operation.clone(), "explain job/migrate -n vault"), &["DEPENDS: ", "Application/shop"]);
        let mut ended = operation;
        ended["phase"] = json!("Succeeded");
        says_not(&with(ended, "doctor"), &["Application/shop"]);
    }
    let other =
        json!({"phase": "Running", "message": "waiting for completion of hook batch/Job/seed and 2 more hooks"});
    says_not(&with(other, "doctor"), &["Application/shop"]);
}

/// Argo CD deletes nothing of an Application before somebody approves the delete of what has Delete=confirm.
#[test]
fn an_application_waits_until_its_deletion_is_approved() {
    let application = |more: Value| {
        let finalizers = json!(["resources-finalizer.argocd.argoproj.io"]);
        let mut application = object(APPLICATION, "shop", json!({"finalizers": finalizers}));
        application["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        application["spec"] = json!({"destination": {"server": "https://kubernetes.default.svc"}});
        application["status"] = json!({"resources": [{"version": "v1", "kind": "ConfigMap", "namespace": "vault",
            "name": "rates", "requiresDeletionConfirmation": true}]});
        application
    };
    let with = |more: Value, line: &str| {
        let rates = object(("v1", "ConfigMap"), "rates", json!({}));
        on(&[application(more), rates, running("argocd-application-controller"), at_ten()], line)
    };
    let held = "ConfigMap/rates has Delete=confirm: somebody must approve that";
    let going = "2026-03-01T07:00:00Z";
    let approved = |at: &str| json!({"argocd.argoproj.io/deletion-approved": at});
    for more in [json!({}), json!({"annotations": approved("2026-03-01T06:00:00Z")})] {
        says(&with(more.clone(), "plan application/shop -n vault"), &["DEPENDS: ", held]);
        let mut more = more;
        more["deletionTimestamp"] = json!(going);
        says(&with(more.clone(), "explain application/shop -n vault"), &["until somebody approves that", held]);
        let annotation =
            format!(r#"{{"metadata":{{"annotations":{{"argocd.argoproj.io/deletion-approved":"{going}"}}}}}}"#);
        says(&with(more, "doctor"), &[held, "approve it", &annotation]);
    }
    let more = json!({"deletionTimestamp": going, "annotations": approved("2026-03-01T08:00:00Z")});
    says_not(&with(more, "doctor"), &["Delete=confirm"]);
}

/// Karpenter evicts the pods of a Node, and waits for those that nobody may evict, unless its NodeClaim sets it a time.
#[test]
fn karpenter_waits_for_pods_that_nobody_may_evict() {
    let karpenter = || json!({"namespace": null, "finalizers": ["karpenter.sh/termination"]});
    let mut worker = node("True", "2026-03-01T10:00:00Z");
    worker["metadata"].as_object_mut().unwrap().extend(karpenter().as_object().unwrap().clone());
    worker["metadata"]["ownerReferences"] = owners(NODE_CLAIM, &["c1"]);
    let node_claim = |spec: Value, more: Value| {
        let mut claim = object(NODE_CLAIM, "c1", karpenter());
        claim["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        claim["spec"] = spec;
        claim
    };
    let web = |annotations: Value| pod("web", json!({"labels": {"app": "web"}, "annotations": annotations}));
    let budget = |selector: Value, allowed: i64| {
        object!(("policy/v1", "PodDisruptionBudget"), "web", {"spec": {"minAvailable": 1,
                "selector": selector}, "status": {"disruptionsAllowed": allowed}})
    };
    let with = |claim: Value, pod: Value, budget: Value, line: &str| {
        let mut worker = worker.clone();
        if let Some(deleted) = claim["metadata"].get("deletionTimestamp") {
            worker["metadata"]["deletionTimestamp"] = deleted.clone();
        }
        let rest = [running("karpenter"), namespace(json!({})), at_ten()];
        on(&[&[claim, worker, pod, budget], &rest[..]].concat(), line)
    };
    let (labels, plain) = (json!({"matchLabels": {"app": "web"}}), json!({}));
    let (by_budget, by_pod) = ("allows no eviction of Pod/web -n vault", "Pod/web -n vault has karpenter.sh/do-not");
    for (annotations, budget, said) in [
        (plain.clone(), budget(labels.clone(), 0), by_budget),
        (plain.clone(), budget(json!({}), 0), by_budget),
        (json!({"karpenter.sh/do-not-disrupt": "true"}), budget(labels.clone(), 1), by_pod),
    ] {
        let of = |spec: Value, more: Value, line: &str| {
            with(node_claim(spec, more), web(annotations.clone()), budget.clone(), line)
        };
        for line in ["plan node/n1", "plan nodeclaim/c1"] {
            says(&of(plain.clone(), plain.clone(), line), &["DEPENDS: ", said]);
            let limited = json!({"terminationGracePeriod": "1h"});
            says_not(&of(limited, plain.clone(), line), &[said]);
        }
        let ran = of(plain.clone(), json!({"deletionTimestamp": "2026-03-01T07:00:00Z"}), "doctor");
        says(&ran, &["NOTE slow-finalizer", said, "as long as that is so."]);
    }
    let other = json!({"matchLabels": {"app": "api"}});
    for budget in [budget(labels, 1), budget(other, 0)] {
        for line in ["plan node/n1", "plan nodeclaim/c1"] {
            says(
                &with(node_claim(plain.clone(), plain.clone()), web(plain.clone()), budget.clone(), line),
                &["WAITS: "],
            );
        }
    }
}

/// R9.30: what a condition of a Terminating Namespace says was refused stays, and says who refuses that.
#[test]
fn what_the_api_server_has_refused_to_delete_is_told() {
    let vault = |said: &str, left: &str| {
        let mut vault = namespace(json!({"finalizers": [], "deletionTimestamp": "2026-03-01T07:00:00Z"}));
        let failed = "Failed to delete all resource types, 1 remaining: ";
        vault["status"] = json!({"phase": "Terminating", "conditions": [
            {"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
                "message": format!("{failed}{said}")},
            {"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain",
                "message": format!("Some resources are remaining: {left} has 1 resource instances")}]});
        vault
    };
    let with = |vault: Value, line: &str| on(&[vault, object(("v1", "ConfigMap"), "rates", json!({})), at_ten()], line);
    let webhook = "admission webhook \"guard.bank.dev\" denied the request: ";
    let named = format!("{webhook}\n\nresource ConfigMap/vault/rates was blocked");
    let policy =
        "configmaps \"rates\" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request";
    for said in [&named, &format!("{webhook}it is kept"), policy] {
        let ran = with(vault(said, "configmaps."), "explain cm/rates -n vault");
        says(&ran, &["ConfigMap/rates is to be deleted, but the API server refuses that", "NamespaceDeletionContent"]);
        says_not(&ran, &["WILL BE DELETED", "will be deleted"]);
        let ran = with(vault(said, "configmaps."), "explain ns/vault");
        says(&ran, &["ConfigMap/rates -n vault: the API server refuses to delete it"]);
        let mut lines = ran.out.lines().filter(|line| line.contains("ConfigMap/rates"));
        assert!(!lines.any(|line| line.contains("will be deleted")), "{ran}");
    }
    // Something else was refused, or nothing was.
    let other = format!("{webhook}resource Secret/vault/keys was blocked");
    for (said, left) in [(other.as_str(), "secrets."), ("etcdserver: request timed out", "configmaps.")] {
        says(&with(vault(said, left), "explain cm/rates -n vault"), &["WILL BE DELETED"]);
    }
}
