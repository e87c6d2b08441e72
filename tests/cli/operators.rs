//! Who removes a finalizer, why it is not removed, and what operators delete besides, in dumps as people have them.

use serde_json::{Value, json};

use super::{
    agree::{LOCKER, claim, controlled, joined, object, on, owners, running, says, says_not},
    field::{at_ten, namespace, node, pod},
    run::with_input,
};

const UPTIME: &str = "2026-03-01T10:00:00Z";

/// A workload of this name, without a ready pod.
fn failing(name: &str) -> Value {
    let mut workload = running(name);
    workload["status"] = json!({"replicas": 1});
    workload
}

/// An object of this kind with this finalizer, which this program added; with more metadata.
pub(super) fn held(kind: (&str, &str), name: &str, finalizer: &str, program: &str, more: Value) -> Value {
    let set = json!({"f:metadata": {"f:finalizers": {(format!("v:\"{finalizer}\"")): {}}}});
    let fields = json!([{"manager": program, "operation": "Update", "apiVersion": kind.0, "fieldsType": "FieldsV1",
        "time": "2026-01-01T00:00:00Z", "fieldsV1": set}]);
    let all = joined(json!({"finalizers": [finalizer], "managedFields": fields}), &more);
    object(kind, name, all)
}

fn deleted() -> Value {
    json!({"deletionTimestamp": "2026-03-01T08:00:00Z"})
}

/// The Job controller lets go only of pods that no other controller has: a copied template may have its finalizer.
#[test]
fn the_finalizer_of_jobs_on_other_pods_stays() {
    const SETS: (&str, &str) = ("apps/v1", "ReplicaSet");
    let mut tracked = controlled(SETS, "web");
    tracked["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]);
    let objects = |tracked: &Value| {
        let node = node("True", UPTIME);
        [object(SETS, "web", json!({})), pod("web-x", tracked.clone()), namespace(json!({})), node, at_ten()]
    };
    const WHY: &str = "the Job controller leaves it on pods of others: ReplicaSet/web";
    for target in ["rs/web -n vault", "ns/vault"] {
        let ran = on(&objects(&tracked), &format!("plan {target}"));
        says(&ran, &["STUCK: ", WHY]);
        assert_eq!(ran.code, 2, "{ran}");
    }
    tracked["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
    says(&on(&objects(&tracked), "doctor"), &["stuck-finalizer: Pod/web-x", WHY]);
    says(&on(&objects(&tracked), "explain pod/web-x -n vault"), &["STUCK: ", WHY]);
}

/// A load balancer's finalizer goes if the cloud's controller is seen to run. If it is seen not to run, the Service is
/// stuck; if no Node is a cloud's, nobody knows.
#[test]
fn a_load_balancer_needs_a_cloud() {
    let service = object!(("v1", "Service"), "web", {"finalizers": ["service.kubernetes.io/load-balancer-cleanup"],
        "spec": {"type": "LoadBalancer"}});
    let of = |others: &[Value]| {
        let objects = [&[service.clone(), namespace(json!({})), at_ten()], others].concat();
        ["svc/web -n vault", "ns/vault"].map(|target| on(&objects, &format!("plan {target}")))
    };
    let mut cloud = node("True", UPTIME);
    let here = node("True", UPTIME);
    cloud["metadata"]["labels"] = json!({"node.kubernetes.io/instance-type": "m5.large"});
    let elsewhere = |mut workload: Value| {
        workload["metadata"]["namespace"] = json!("kube-system");
        workload
    };
    let [runs, fails] = [running, failing].map(|of| elsewhere(of("cloud-controller-manager")));
    let all = [
        (vec![here.clone(), running("other")], "DEPENDS: ", 2),
        (vec![cloud.clone(), running("other")], "UNSURE: ", 0),
        (vec![cloud.clone(), fails], "STUCK: ", 2),
        (vec![here, runs], "WAITS: ", 0),
    ];
    for (others, word, code) in all {
        for ran in of(&others) {
            says(&ran, &[word]);
            assert_eq!(ran.code, code, "{ran}");
        }
    }
}

/// One part of a product doesn't do the work of another: who added the finalizer, and whose name fits the kind, counts.
#[test]
fn each_kind_has_its_own_controller() {
    let flux = |name: &str| {
        let mut workload = running(name);
        workload["metadata"]["labels"] = json!({"app.kubernetes.io/part-of": "flux"});
        workload
    };
    let source = ("source.toolkit.fluxcd.io/v1", "GitRepository");
    let image = ("image.toolkit.fluxcd.io/v1", "ImageRepository");
    let upload = ("velero.io/v2alpha1", "DataUpload");
    let plane = ("controlplane.cluster.x-k8s.io/v1beta1", "KubeadmControlPlane");
    let config = ("aws.upbound.io/v1beta1", "ProviderConfig");
    let finalizer = "velero.io/data-upload-download-finalizer";
    let kubeadm = "capi-kubeadm-control-plane-controller-manager";
    let all = [
        (source, "finalizers.fluxcd.io", "source-controller", flux("kustomize-controller"), flux("source-controller")),
        (image, "finalizers.fluxcd.io", "x", flux("source-controller"), flux("image-reflector-controller")),
        (upload, finalizer, "node-agent-server", running("velero"), running("node-agent")),
        (
            plane,
            "kubeadm.controlplane.cluster.x-k8s.io",
            "manager",
            running("capi-controller-manager"),
            running(kubeadm),
        ),
        (config, "in-use.crossplane.io", "provider-aws", running("crossplane"), running("provider-aws-1a2b")),
    ];
    for (kind, finalizer, program, sister, own) in all {
        let target = held(kind, "one", finalizer, program, json!({}));
        let ran = on(&[target.clone(), sister.clone()], &format!("plan {}/one -n vault", kind.1.to_lowercase()));
        says_not(&ran, &["WAITS: ", "may be its controller"]);
        assert_eq!(ran.code, 2, "{ran}");
        let name = own["metadata"]["name"].as_str().unwrap().to_owned();
        let ran = on(&[target, sister, own], &format!("plan {}/one -n vault", kind.1.to_lowercase()));
        says(&ran, &[&format!("Deployment/{name}")]);
        says_not(&ran, &["STUCK", "no workload"]);
    }
    // Of several providers, the one that is called like the program.
    let of = |program: &str| held(config, "one", "in-use.crossplane.io", program, json!({}));
    let providers = [running("provider-aws-1a2b"), running("provider-gcp-3c4d")];
    let ran = on(&[&providers[..], &[of("provider-gcp")]].concat(), "plan providerconfig/one -n vault");
    says(&ran, &["Deployment/provider-gcp-3c4d"]);
    says_not(&ran, &["provider-aws", "other workload"]);
    // A program may be called in camel case.
    let widget = held(("acme.io/v1", "Widget"), "one", "acme.io/x", "AcmeOperator", json!({}));
    says(
        &on(&[widget, running("acme-operator")], "plan widget/one -n vault"),
        &["WAITS: ", "Deployment/acme-operator"],
    );
}

/// Why an object is not deleted is what its own status says, wherever that is told.
#[test]
fn what_a_status_says_is_quoted() {
    let bucket = |conditions: Value| {
        let mut bucket = held(("acme.io/v1", "Bucket"), "logs", "acme.io/x", "acme-operator", deleted());
        bucket["status"] = json!({"conditions": conditions});
        [bucket, running("acme-operator"), at_ten(), namespace(json!({}))]
    };
    let failed = json!([{"type": "Ready", "status": "False", "reason": "Deleting"},
        {"type": "Synced", "status": "False", "reason": "ReconcileError",
            "message": "delete failed:\n BucketNotEmpty"}]);
    let objects = bucket(failed);
    let words = "says: Synced is False: ReconcileError: delete failed: BucketNotEmpty";
    let ran = on(&objects, "doctor");
    says(&ran, &["WARNING slow-finalizer", words, "It stays as long as that is so."]);
    says_not(&ran, &["once its controller is done", "\n BucketNotEmpty"]);
    says(&on(&objects, "explain bucket/logs -n vault"), &[words]);
    says(&on(&objects, "plan bucket/logs -n vault"), &[words]);
    says(&on(&bucket(json!([])), "doctor"), &["once its controller is done"]);
    let mut attachment = held(
        ("storage.k8s.io/v1", "VolumeAttachment"),
        "csi-1",
        "external-attacher/disk-acme-io",
        "csi-attacher",
        deleted(),
    );
    attachment["metadata"]["namespace"] = json!(null);
    attachment["status"] = json!({"attached": true, "detachError": {"message": "node wasn't found"}});
    says(&on(&[attachment, at_ten()], "doctor"), &["Its controller says: node wasn't found."]);
}

/// R9.40: some controllers leave a finalizer alone while others use the object. These are named.
#[test]
fn who_uses_an_object_keeps_it() {
    const CONFIG: (&str, &str) = ("aws.upbound.io/v1beta1", "ProviderConfig");
    let cluster = |name| json!({"namespace": null, "name": name});
    let config = |more: Value| {
        let mut config = held(CONFIG, "default", "in-use.crossplane.io", "provider-aws", cluster("default"));
        config["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        config
    };
    let mut usage = object(("aws.upbound.io/v1beta1", "ProviderConfigUsage"), "u1", cluster("u1"));
    usage["metadata"]["labels"] = json!({"crossplane.io/provider-config": "default"});
    let others = [usage, running("provider-aws-1a2b"), at_ten()];
    let ran = on(&[&others[..], &[config(json!({}))]].concat(), "plan providerconfig/default");
    says(&ran, &["STUCK: ", "waits for ProviderConfigUsage/u1", "delete ProviderConfigUsage/u1 first"]);
    assert_eq!(ran.code, 2, "{ran}");
    // The record goes with what it belongs to, which needs the configuration until then.
    let bucket = object(("s3.aws.upbound.io/v1beta1", "Bucket"), "logs", cluster("logs"));
    let mut owned = others.clone();
    owned[0]["metadata"]["ownerReferences"] =
        controlled(("s3.aws.upbound.io/v1beta1", "Bucket"), "logs")["ownerReferences"].clone();
    let ran = on(&[&owned[..], &[config(json!({})), bucket]].concat(), "plan providerconfig/default");
    says(&ran, &["delete Bucket/logs first: ProviderConfig/default stays as long as that uses it"]);
    let ran = on(&[&others[..], &[config(deleted())]].concat(), "doctor");
    says(&ran, &["ProviderConfig/default is in use by ProviderConfigUsage/u1."]);
    let mut other = config(json!({}));
    other["metadata"]["name"] = json!("other");
    says_not(&on(&[&others[..], &[other]].concat(), "plan providerconfig/other"), &["ProviderConfigUsage"]);

    let ceph = held(("ceph.rook.io/v1", "CephCluster"), "rook", "cephcluster.ceph.rook.io", "rook", json!({}));
    let pool = object(("ceph.rook.io/v1", "CephBlockPool"), "pool", json!({}));
    let ran = on(&[ceph, pool, running("rook-ceph-operator")], "plan cephcluster/rook -n vault");
    says(&ran, &["STUCK: ", "waits for CephBlockPool/pool"]);

    let fields: [[(&str, &str); 2]; 5] = [
        [("argoproj.io/v1alpha1", "AppProject"), ("argoproj.io/v1alpha1", "Application")],
        [("kueue.x-k8s.io/v1beta1", "ResourceFlavor"), ("kueue.x-k8s.io/v1beta1", "ClusterQueue")],
        [("kueue.x-k8s.io/v1beta1", "ClusterQueue"), ("kueue.x-k8s.io/v1beta1", "Workload")],
        [("gateway.networking.k8s.io/v1", "GatewayClass"), ("gateway.networking.k8s.io/v1", "Gateway")],
        [("karpenter.k8s.aws/v1", "EC2NodeClass"), ("karpenter.sh/v1", "NodeClaim")],
    ];
    let named = |kind: &str, name: &str| match kind {
        "AppProject" => ("resources-finalizer.argocd.argoproj.io", json!({"spec": {"project": name}})),
        "ResourceFlavor" => {
            let groups = json!([{"flavors": [{"name": "other"}, {"name": name}]}]);
            ("kueue.x-k8s.io/resource-in-use", json!({"spec": {"resourceGroups": groups}}))
        }
        "ClusterQueue" => ("kueue.x-k8s.io/resource-in-use", json!({"status": {"admission": {"clusterQueue": name}}})),
        "GatewayClass" => {
            ("gateway-exists-finalizer.gateway.networking.k8s.io", json!({"spec": {"gatewayClassName": name}}))
        }
        _ => ("karpenter.k8s.aws/termination", json!({"spec": {"nodeClassRef": {"name": name}}})),
    };
    for [of, by] in fields {
        let kind = of.1.to_lowercase();
        let (finalizer, _) = named(of.1, "");
        let kept = held(of, "main", finalizer, "manager", json!({}));
        for (uses, is_kept) in [("main", true), ("another", false)] {
            let mut user = object!(by, "user", {"spec": {}});
            user.as_object_mut().unwrap().extend(named(of.1, uses).1.as_object().unwrap().clone());
            let ran = on(&[kept.clone(), user, at_ten()], &format!("plan {kind}/main -n vault"));
            assert_eq!(ran.out.contains(&format!("waits for {}/user", by.1)), is_kept, "{ran}");
            assert_eq!(ran.out.contains(&format!("delete {}/user first", by.1)), is_kept, "{ran}");
            assert!(!is_kept || ran.out.contains("STUCK: "), "{ran}");
        }
    }
}

/// Operators of databases delete claims that have no owner reference, with a finalizer or without.
#[test]
fn operators_of_databases_take_the_data_along() {
    let labelled = |labels: Value| {
        let mut all = claim("nobody");
        all[0]["metadata"].as_object_mut().unwrap().remove("ownerReferences");
        all[0]["metadata"]["labels"] = labels;
        all.to_vec()
    };
    let spilo = labelled(json!({"application": "spilo", "cluster-name": "main"}));
    let database = |finalizers: Value| {
        let mut database = object(("acid.zalan.do/v1", "postgresql"), "main", finalizers);
        database["spec"] = json!({"numberOfInstances": 1});
        database
    };
    let operator = running("postgres-operator");
    for finalizers in [json!({}), json!({"finalizers": ["postgres-operator.acid.zalan.do"]})] {
        let objects = [spilo.clone(), vec![database(finalizers), operator.clone()]].concat();
        let ran = on(&objects, "plan postgresql/main -n vault --deny-effect=data-loss");
        says(&ran, &["REFUSED: a gate forbids it", "! DATA LOSS", "its volume is deleted with all data on it"]);
        assert_eq!(ran.code, 2, "{ran}");
        let configured = |value: Value| {
            let mut of_operator = object(("acid.zalan.do/v1", "OperatorConfiguration"), "pg", json!({}));
            of_operator["configuration"] = json!({"kubernetes": {"enable_persistent_volume_claim_deletion": value}});
            on(&[&objects[..], &[of_operator]].concat(), "plan postgresql/main -n vault")
        };
        says_not(&configured(json!(false)), &["DATA LOSS", "PersistentVolumeClaim/gold"]);
        for deletes in [json!(true), json!(null)] {
            says(&configured(deletes), &["DATA LOSS"]);
        }
        let other = labelled(json!({"application": "spilo", "cluster-name": "other"}));
        let objects = [other, vec![objects[2].clone(), operator.clone()]].concat();
        says_not(&on(&objects, "plan postgresql/main -n vault"), &["DATA LOSS", "PersistentVolumeClaim/gold"]);
    }
    let finalizer = "finalizer.clickhouseinstallation.altinity.com";
    let kind = ("clickhouse.altinity.com/v1", "ClickHouseInstallation");
    let house = object!(kind, "ch", {"finalizers": [finalizer], "spec": {}});
    for (policy, is_lost) in [("Delete", true), ("Retain", false)] {
        let policy = json!({"clickhouse.altinity.com/chi": "ch", "clickhouse.altinity.com/reclaimPolicy": policy});
        let objects = [labelled(policy), vec![house.clone(), running("clickhouse-operator")]].concat();
        let ran = on(&objects, "plan clickhouseinstallation/ch -n vault");
        assert_eq!(ran.out.contains("DATA LOSS"), is_lost, "{ran}");
    }
}

/// A controller that goes once others have done their part leaves what only it can delete: that comes first.
#[test]
fn what_needs_a_controller_goes_before_it() {
    let cluster = |name: &str| json!({"namespace": null, "name": name});
    let by = |owner: &str, mut more: Value| {
        more["ownerReferences"] = owners(LOCKER, &[owner]);
        more
    };
    let mut definition = object(
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        "buckets.s3.upbound.io",
        by("safe", cluster("buckets.s3.upbound.io")),
    );
    definition["spec"] = json!({"group": "s3.upbound.io", "scope": "Cluster",
        "names": {"kind": "Bucket", "plural": "buckets"},
        "versions": [{"name": "v1", "served": true, "storage": true}]});
    definition["status"] = json!({"conditions": [{"type": "Established", "status": "True"}],
        "acceptedNames": {"kind": "Bucket", "plural": "buckets"}});
    let bucket = held(
        ("s3.upbound.io/v1", "Bucket"),
        "logs",
        "finalizer.managedresource.crossplane.io",
        "provider",
        cluster("logs"),
    );
    let mut provider = running("provider-aws-1a2b");
    provider["metadata"]["ownerReferences"] = owners(LOCKER, &["safe"]);
    let mut safe = held(LOCKER, "safe", "bank.dev/keys", "bank-operator", cluster("safe"));
    safe["metadata"]["namespace"] = json!(null);
    let objects = [safe, definition, bucket, provider, running("bank-operator")];
    let ran = on(&objects, "plan locker/safe");
    says(
        &ran,
        &["Deployment/provider-aws-1a2b goes in this delete, too", "delete first, while Deployment/provider-aws"],
    );
}

/// A Namespace may say for all that is in it that ACK keeps what it stands for.
#[test]
fn a_namespace_keeps_what_ack_would_delete() {
    let finalizer = "finalizers.s3.services.k8s.aws/Bucket";
    let bucket = |policy: Value| {
        let mut bucket = object(("s3.services.k8s.aws/v1alpha1", "Bucket"), "b", json!({"finalizers": [finalizer]}));
        bucket["metadata"]["annotations"] = policy;
        bucket["spec"] = json!({"name": "b"});
        bucket
    };
    let of = |service: &str, own: Value| {
        let annotations = json!({(format!("{service}.services.k8s.aws/deletion-policy")): "retain"});
        on(&[namespace(json!({"annotations": annotations})), bucket(own)], "plan bucket/b -n vault")
    };
    says(&of("s3", json!({})), &["external resource is kept"]);
    says(&of("rds", json!({})), &["external resource deleted"]);
    says(&of("s3", json!({"services.k8s.aws/deletion-policy": "delete"})), &["external resource deleted"]);
}

/// Nobody knows what the controller of an unknown finalizer does with the claims of a StatefulSet below it, which the
/// StatefulSet itself keeps: gates about data count them, and Next keeps the data.
#[test]
fn an_unknown_controller_may_delete_the_claims_below() {
    let with = |policy: &str, finalizer: &str, line: &str| {
        let keeper = object(LOCKER, "bank", json!({"finalizers": [finalizer]}));
        let mut set = object(("apps/v1", "StatefulSet"), "db", json!({"ownerReferences": owners(LOCKER, &["bank"])}));
        set["spec"] = json!({"replicas": 1, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
        set["status"] = json!({"replicas": 1, "readyReplicas": 1});
        let [mut gold, mut volume] = claim("nobody");
        let claim = object(("v1", "PersistentVolumeClaim"), "data-db-0", json!({}));
        gold["metadata"] = claim["metadata"].clone();
        volume["spec"]["persistentVolumeReclaimPolicy"] = json!(policy);
        volume["spec"]["claimRef"] =
            json!({"namespace": "vault", "name": "data-db-0", "uid": claim["metadata"]["uid"]});
        on(&[keeper, set, gold, volume, running("locker-controller"), at_ten()], line)
    };
    let (plan, gate) = ("plan locker/bank -n vault", "plan locker/bank -n vault --deny-effect=data-loss");
    let said = "is not known: it may delete PersistentVolumeClaim/data-db-0, with all data";
    says(&with("Delete", "bank.dev/locker", plan), &[said, "to keep the data, set the reclaim policy of its volume"]);
    says(
        &with("Delete", "bank.dev/locker", gate),
        &["REFUSED: --deny-effect=data-loss forbids it", "or may (Locker/bank)"],
    );
    says_not(&with("Retain", "bank.dev/locker", gate), &["may delete", "REFUSED"]);
}

/// A kind that is called as one of Kubernetes' own is told with its group, and that one without.
#[test]
fn a_node_of_another_group_is_no_node() {
    let own = object(("v1", "Node"), "n1", json!({"namespace": null}));
    let other = object(("longhorn.io/v1beta2", "Node"), "n1", json!({"uid": "of-longhorn"}));
    let ran = on(&[own, other, at_ten()], "plan node/n1 nodes.longhorn.io/n1 -n vault");
    says(&ran, &["  Node/n1 ", "  Node.longhorn.io/n1 "]);
    says_not(&ran, &["Node.v1"]);
}

/// The API server's finalizer of CRDs means nothing on other objects: it stays there.
#[test]
fn the_finalizer_of_definitions_elsewhere_is_stuck() {
    let finalizer = "customresourcecleanup.apiextensions.k8s.io";
    let typed = |more: Value| {
        let all = joined(json!({"finalizers": [finalizer]}), &more);
        [object(("v1", "ConfigMap"), "rates", all), at_ten()]
    };
    let ran = on(&typed(json!({})), "plan cm/rates -n vault");
    says(&ran, &["STUCK: ", &format!("finalizer {finalizer}")]);
    assert_eq!(ran.code, 2, "{ran}");
    says(&on(&typed(deleted()), "doctor"), &["ERROR stuck-finalizer: ConfigMap/rates", finalizer]);
    says(&on(&typed(deleted()), "explain cm/rates -n vault"), &["STUCK: ", "no controller is known to remove it"]);
}

/// What could not be read everywhere is not told once more for a namespace.
#[test]
fn what_could_not_be_read_is_told_once() {
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        namespace(json!({})), held(LOCKER, "safe", "bank.dev/keys", "locksmith", json!({"namespace": null})),
        object(("v1", "ConfigMap"), "rates", json!({}))]});
    let ran = with_input(&["plan", "ns/vault", "locker/safe", "--from", "-"], objects.to_string());
    says(&ran, &["there may be more objects"]);
    let listed = ran.out.lines().find(|line| line.contains("there may be more objects")).unwrap();
    assert_eq!(listed.matches("persistentvolumeclaims").count(), 1, "{ran}");
}

/// R9.38. What its controller does is not known. What it has listed, or marked with its uid, may go with it.
#[test]
fn what_an_object_lists_or_marks_may_go_with_it() {
    const UID: &str = "0b9f7a52-57d4-4d6a-9df1-0c1f6f0f7c11";
    let app = |status: Value| {
        let more = json!({"uid": UID});
        let mut app = held(("apps.acme.io/v1", "App"), "shop", "apps.acme.io/cleanup", "acme-operator", more);
        (app["spec"], app["status"]) = (json!({}), status);
        app
    };
    let [mut data, volume] = claim("none");
    data["metadata"]["ownerReferences"] = json!([]);
    let web = object(("apps/v1", "Deployment"), "web", json!({}));
    let with = |status: Value, data: &Value, gate: &str| {
        let objects = [app(status), data.clone(), volume.clone(), web.clone(), running("acme-operator"), at_ten()];
        on(&objects, &format!("plan apps.apps.acme.io/shop -n vault {gate}"))
    };
    let listed = json!([{"group": "apps", "resource": "deployments", "name": "web"}]);
    let ran = with(json!({"applied": listed}), &data, "--deny-effect=external");
    says(&ran, &["it may delete what it lists: Deployment/web", "REFUSED"]);
    let kinds = json!([{"resourceMeta": {"kind": "PersistentVolumeClaim", "name": "gold"}}]);
    let mut marked = data.clone();
    marked["metadata"]["labels"] = json!({"acme.io/instance-id": UID});
    for (status, data) in [(json!({"manifests": kinds}), &data), (json!({}), &marked)] {
        let ran = with(status, data, "--deny-effect=data-loss");
        says(&ran, &["it may delete PersistentVolumeClaim/gold, with all data", "REFUSED"]);
    }
    says_not(&with(json!({}), &data, ""), &["it may delete"]);
}

/// What a controller does that runs, and of which nothing else is known, nobody knows: gates count it.
#[test]
fn a_controller_that_runs_may_do_anything() {
    let keeper = held(LOCKER, "bank", "bank.dev/keys", "locksmith", json!({}));
    let all = [keeper, running("locksmith"), at_ten()];
    let of = |gate: &str| on(&all, &format!("plan locker/bank -n vault {gate}"));
    let ran = of("");
    says(&ran, &["WAITS: ", "what the controller of bank.dev/keys does is not known"]);
    assert_eq!(ran.code, 0, "{ran}");
    for gate in ["--deny-effect=unknown", "--fail-on=external", "--fail-on=waits"] {
        let ran = of(gate);
        says(&ran, &["REFUSED: "]);
        assert_eq!(ran.code, 2, "{ran}");
    }
}

/// What hangs on a controller that may be the one goes later, if that removes its finalizer: nothing else is open.
#[test]
fn what_is_below_goes_if_a_controller_removes_its_finalizer() {
    let keeper = object(LOCKER, "bank", json!({"finalizers": ["bank.dev/locker"]}));
    let door = object(("v1", "ConfigMap"), "door", json!({"ownerReferences": owners(LOCKER, &["bank"])}));
    let all = [keeper, door, running("locker-controller"), at_ten()];
    let ran = on(&all, "plan locker/bank -n vault");
    says(&ran, &["DEPENDS: ", "» later", "if the controller removes finalizer bank.dev/locker"]);
    says_not(&ran, &["cannot be foreseen", "could not be read"]);
    assert_eq!(ran.code, 2, "{ran}");
}
