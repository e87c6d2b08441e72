//! The controller of a finalizer that is in the cluster is found, in dumps without managed fields (R9.15); and once it
//! goes, what it leaves is named.

use serde_json::{Value, json};

use super::{
    agree::{object, on, running, says, says_not},
    field::{at_ten, namespace},
    operators::held,
};

const CLASS: (&str, &str) = ("gateway.networking.k8s.io/v1", "GatewayClass");
const IN_USE: &str = "gateway-exists-finalizer.gateway.networking.k8s.io";

/// An object of this kind with this finalizer, and nobody is recorded as having added it.
fn with(kind: (&str, &str), finalizer: &str, mut more: Value) -> Value {
    more["finalizers"] = json!([finalizer]);
    let mut object = object(kind, "one", more);
    object["spec"] = json!({});
    object
}

fn cluster() -> Value {
    json!({"namespace": null})
}

fn class(controller: &str, more: Value) -> Value {
    let mut class = with(CLASS, IN_USE, more);
    class["spec"] = json!({"controllerName": controller});
    class
}

/// A workload in another namespace than the objects.
fn elsewhere(name: &str) -> Value {
    let mut workload = running(name);
    workload["metadata"]["namespace"] = json!("operators");
    workload
}

/// A table's row shows that it runs; words and names that fit say that it may.
#[test]
fn a_controller_is_found_and_missed() {
    let project = ("management.cattle.io/v3", "Project");
    let lattice = ("gateway.networking.k8s.io/v1", "Gateway");
    let bucket = ("objectbucket.io/v1alpha1", "ObjectBucketClaim");
    let of_rook = json!({"labels": {"bucket-provisioner": "rook-ceph.ceph.rook.io-bucket"}});
    let envoy = "gateway.envoyproxy.io/gatewayclass-controller";
    let of_lattice = "application-networking.k8s.aws/gateway-api-controller";
    let ray = with(("ray.io/v1", "RayCluster"), "ray.io/gcs-ft-redis-cleanup-finalizer", json!({}));
    let storage = ("core.libopenstorage.org/v1", "StorageCluster");
    let rancher = "controller.cattle.io/mgmt-project-rbac-remove";
    let all = [
        (ray, "kuberay-operator", "WAITS: "),
        (with(("rocks.io/v1", "RocksDB"), "rocks.io/keep", json!({})), "kube-rocks-operator", "DEPENDS: "),
        (with(storage, "operator.libopenstorage.org/delete", json!({})), "portworx-operator", "WAITS: "),
        (with(project, rancher, json!({})), "rancher", "WAITS: "),
        (with(project, rancher, json!({})), "cattle-cluster-agent", "DEPENDS: "),
        (with(lattice, "gateway.k8s.aws/resources", json!({})), "gateway-api-controller", "WAITS: "),
        (with(bucket, "objectbucket.io/finalizer", of_rook), "rook-ceph-operator", "DATA LOSS: "),
        (class(envoy, cluster()), "envoy-gateway", "DEPENDS: "),
        (class(of_lattice, cluster()), "gateway-api-controller", "DEPENDS: "),
        (class("istio.io/gateway-controller", cluster()), "istiod", "DEPENDS: "),
    ];
    for (object, workload, word) in all {
        let kind = object["kind"].as_str().unwrap();
        let named = format!("Deployment/{workload}");
        let others = ["api-gateway", "controller-manager", "rook-ceph-mgr"].map(elsewhere);
        let objects = [&others[..], &[object.clone(), elsewhere(workload), at_ten()]].concat();
        let ran = on(&objects, &format!("plan {kind}/one -n vault"));
        says(&ran, &[word, &named]);
        says_not(&ran, &["STUCK", "load balancer", "other workload"]);
        // The same relation, the other way round.
        let ran = on(&objects, &format!("plan deploy/{workload} -n operators"));
        says(&ran, &[&format!("{kind}/one"), "stays, and ", "delete first, while"]);
        let without = [&others[..], &[object.clone(), at_ten()]].concat();
        says_not(&on(&without, &format!("plan {kind}/one -n vault")), &["WAITS: ", "may be its controller"]);
    }
}

/// The namespace, the keys of labels and the finalizer itself point to what may be the controller, if that is called as
/// controllers are; a word may be spelt with dashes.
#[test]
fn a_controller_is_found_by_more_than_its_name() {
    let placed = |name: &str, namespace: &str, key: &str| {
        let mut workload = elsewhere(name);
        workload["metadata"]["namespace"] = json!(namespace);
        workload["metadata"]["labels"] = json!({key: "main"});
        workload
    };
    const KEY: &str = "actions.github.com/controller-service-account-name";
    let runners = ("actions.github.com/v1alpha1", "AutoscalingRunnerSet");
    let of_runners = "autoscalingrunnerset.actions.github.com/finalizer";
    let mesh = ("maistra.io/v2", "ServiceMeshControlPlane");
    let identity = ("aadpodidentity.k8s.io/v1", "AzureAssignedIdentity");
    let of_identity = "azureassignedidentity.finalizers.aadpodidentity.k8s.io";
    let tenant = ("tenant.kubesphere.io/v1alpha1", "Workspace");
    let all = [
        (runners, of_runners, placed("rs-controller", "arc", KEY), "rs-console"),
        (("v1", "Secret"), "actions.github.com/cleanup-protection", placed("rs-controller", "arc", KEY), "rs"),
        (tenant, "finalizers.tenant.kubesphere.io", placed("ks-manager", "kubesphere-system", "x"), "ks-console"),
        (mesh, "maistra.io/istio-operator", placed("istio-operator", "openshift", "x"), "other-operator"),
        (mesh, "istio-operator", placed("istio-operator", "openshift", "x"), "other-operator"),
        (identity, of_identity, placed("aad-pod-identity-mic", "kube-system", "x"), "aad-pod-mic"),
    ];
    for (kind, finalizer, workload, other) in all {
        let object = with(kind, finalizer, json!({}));
        let plan = format!("plan {}/one -n vault", kind.1);
        let place = workload["metadata"]["namespace"].as_str().unwrap();
        let name = workload["metadata"]["name"].as_str().unwrap();
        let objects = [object.clone(), workload.clone(), elsewhere("api-manager"), at_ten()];
        let ran = on(&objects, &plan);
        says(&ran, &["DEPENDS: ", &format!("Deployment/{name} -n {place} may be its controller")]);
        let ran = on(&objects, &format!("plan deploy/{name} -n {place}"));
        says(&ran, &[&format!("{}/one", kind.1), "stays, and may not be deletable any more"]);
        let mut other_workload = workload.clone();
        other_workload["metadata"]["name"] = json!(other);
        let ran = on(&[object, other_workload, elsewhere("api-manager"), at_ten()], &plan);
        says(&ran, &["STUCK: "]);
    }
    // Only the maker's word says whose a namespace is; what OLM has installed is not OLM.
    let subscription = ("operators.coreos.com/v1alpha1", "Subscription");
    for (kind, finalizer, workload) in [
        (tenant, "finalizers.tenant.kubesphere.io", placed("other-manager", "tenant-a", "x")),
        (subscription, "operators.coreos.com/x", placed("other-operator", "operators", "operators.coreos.com/other.x")),
    ] {
        let objects = [with(kind, finalizer, json!({})), workload, at_ten()];
        says(&on(&objects, &format!("plan {}/one -n vault", kind.1)), &["STUCK: "]);
    }
}

/// Nothing runs in the control plane of Karmada: that it shows no controller is no evidence that there is none.
#[test]
fn controllers_of_some_control_planes_run_elsewhere() {
    let binding = with(("work.karmada.io/v1alpha2", "ResourceBinding"), "karmada.io/binding-controller", json!({}));
    let widget = with(("acme.io/v1", "Widget"), "bank.dev/x", json!({}));
    let all = [binding, widget, at_ten()];
    for kind in ["resourcebinding", "widget"] {
        let plan = format!("plan {kind}/one -n vault");
        let ran = on(&all, &plan);
        says(&ran, &["DEPENDS: ", "controllers of this control plane run elsewhere"]);
        assert_eq!(ran.code, 2, "{ran}");
        let node = object(("v1", "Node"), "n1", cluster());
        says(&on(&[&all[..], &[node]].concat(), &plan), &["STUCK: "]);
    }
}

/// A framework's finalizer tells nothing of its controller, so that nothing shows that it is away; nor does that of a
/// server of k3s, which is no workload.
#[test]
fn who_may_be_anybody_is_not_certain() {
    let widget = ("acme.io/v1", "Widget");
    let all = [
        (widget, "kopf.zalando.org/KopfFinalizerMarker", "is a framework's"),
        (widget, "uninstall-helm-release", "is a framework's"),
        (("v1", "Node"), "wrangler.cattle.io/node", "may run outside of it"),
        (("v1", "Service"), "service.eks.amazonaws.com/resources", "may run outside of it"),
        (("networking.k8s.io/v1", "Ingress"), "ingress.eks.amazonaws.com/resources", "may run outside of it"),
        (("eks.amazonaws.com/v1", "NodeClass"), "eks.amazonaws.com/termination", "may run outside of it"),
    ];
    for (kind, finalizer, why) in all {
        let object = with(kind, finalizer, if kind.1 == "Node" { cluster() } else { json!({}) });
        let ran = on(&[object, running("web"), at_ten()], &format!("plan {}/one -n vault", kind.1));
        says(&ran, &["DEPENDS: ", "no evidence: ", why]);
    }
    let ran = on(&[with(widget, "bank.dev/x", json!({})), running("web"), at_ten()], "plan widget/one -n vault");
    says(&ran, &["STUCK: "]);
}

/// An ObjectBucket says what becomes of the bucket.
#[test]
fn a_bucket_that_is_retained_is_kept() {
    let finalizer = "objectbucket.io/finalizer";
    let mut claim = with(("objectbucket.io/v1alpha1", "ObjectBucketClaim"), finalizer, json!({}));
    claim["spec"] = json!({"objectBucketName": "one"});
    for (policy, is_lost) in [("Delete", true), ("Retain", false)] {
        let mut bucket = with(("objectbucket.io/v1alpha1", "ObjectBucket"), finalizer, cluster());
        bucket["spec"] = json!({"reclaimPolicy": policy});
        let ran = on(&[claim.clone(), bucket, at_ten()], "plan objectbucketclaim/one -n vault");
        assert_eq!(ran.out.contains("DATA LOSS"), is_lost, "{ran}");
        assert_eq!(ran.out.contains("its data is kept"), !is_lost, "{ran}");
    }
}

/// What nothing shows is no note, and is not said to go; what waits for something is told with that, and offers it.
#[test]
fn what_never_ends_is_told() {
    let deleted = |mut more: Value| {
        more["deletionTimestamp"] = json!("2026-03-01T07:00:00Z");
        more
    };
    let eg = class("gateway.envoyproxy.io/gatewayclass-controller", deleted(cluster()));
    let mut gateway = object(("gateway.networking.k8s.io/v1", "Gateway"), "web", json!({}));
    gateway["spec"] = json!({"gatewayClassName": "one"});
    let ran = on(&[eg.clone(), elsewhere("api-gateway"), at_ten()], "doctor");
    says(&ran, &["WARNING slow-finalizer", "deleted only if its controller runs somewhere, which nothing shows"]);
    says_not(&ran, &["once its controller is done"]);
    let objects = [eg, elsewhere("envoy-gateway"), gateway, at_ten()];
    let ran = on(&objects, "doctor");
    says(&ran, &["WARNING slow-finalizer", "in use by Gateway/web", "delete Gateway/web -n vault first: then it goes"]);
    says(&on(&objects, "explain gatewayclass/one"), &["STUCK: ", "until Gateway/web -n vault is deleted"]);
    // A controller that runs may be slow.
    let widget = held(("acme.io/v1", "Widget"), "one", "acme.io/x", "acme-operator", deleted(json!({})));
    let mut below = object(("acme.io/v1", "Part"), "bolt", deleted(json!({"finalizers": ["acme.io/x"]})));
    below["metadata"]["ownerReferences"] = super::agree::owners(("acme.io/v1", "Widget"), &["one"]);
    let ran = on(&[widget, below, running("acme-operator"), namespace(json!({})), at_ten()], "doctor");
    says(&ran, &["Its controller may wait for Part/bolt: a dependent that is Terminating."]);
    let mut bucket =
        with(("s3.services.k8s.aws/v1alpha1", "Bucket"), "finalizers.s3.services.k8s.aws/Bucket", json!({}));
    bucket["metadata"] = deleted(bucket["metadata"].clone());
    bucket["status"] =
        json!({"conditions": [{"type": "ACK.Recoverable", "status": "True", "message": "BucketNotEmpty"}]});
    let ran = on(&[bucket, running("ack-s3-controller"), at_ten()], "doctor");
    says(&ran, &["WARNING slow-finalizer", "says: ACK.Recoverable is True: BucketNotEmpty"]);
}

/// A controller that must create something first can't do that in a namespace that is being deleted.
#[test]
fn a_namespace_that_goes_refuses_what_a_controller_must_create() {
    let ray = |more| with(("ray.io/v1", "RayCluster"), "ray.io/gcs-ft-redis-cleanup-finalizer", more);
    let refused = "must create a Job first, which a namespace that is being deleted refuses";
    let operator = elsewhere("kuberay-operator");
    let objects = [ray(json!({})), operator.clone(), namespace(json!({})), at_ten()];
    says(&on(&objects, "plan raycluster/one -n vault"), &["WAITS: "]);
    let ran = on(&objects, "plan ns/vault");
    says(&ran, &["DEPENDS: ", refused]);
    assert_eq!(ran.code, 2, "{ran}");
    let gone = json!({"deletionTimestamp": "2026-03-01T07:00:00Z"});
    let ran = on(&[ray(gone.clone()), operator, namespace(gone), at_ten()], "doctor");
    says(&ran, &["WARNING slow-finalizer: RayCluster/one", refused, "It stays as long as that is so."]);
}

/// A group's load balancer stays as long as another Ingress is in the group, and a TargetGroupBinding is none.
#[test]
fn the_load_balancer_of_a_group_goes_with_the_last() {
    let ingress = |namespace: &str| {
        let mut of = with(("networking.k8s.io/v1", "Ingress"), "group.ingress.k8s.aws/shared", json!({}));
        of["metadata"]["namespace"] = json!(namespace);
        of["metadata"]["uid"] = json!(format!("in-{namespace}"));
        of
    };
    let binding = with(("elbv2.k8s.aws/v1beta1", "TargetGroupBinding"), "elbv2.k8s.aws/resources", json!({}));
    let one = [ingress("vault"), binding, elsewhere("aws-load-balancer-controller"), namespace(json!({})), at_ten()];
    for target in ["ingress/one -n vault", "ns/vault"] {
        says(&on(&one, &format!("plan {target}")), &["1 load balancer is released later"]);
        let both = [&one[..], &[ingress("other")]].concat();
        says_not(&on(&both, &format!("plan {target}")), &["released", "releases"]);
        says(&on(&both, &format!("plan {target} -o json")), &["which Ingress/one -n other keeps"]);
    }
}

/// A VolumeAttachment that can't attach a volume that is being deleted keeps it: each waits for the other.
#[test]
fn an_attachment_that_fails_keeps_its_volume() {
    let more = json!({"namespace": null, "deletionTimestamp": "2026-03-01T07:00:00Z"});
    let mut volume = with(("v1", "PersistentVolume"), "external-attacher/disk-acme-io", more);
    volume["spec"] = json!({"persistentVolumeReclaimPolicy": "Delete", "csi": {"driver": "disk.acme.io",
        "volumeHandle": "h"}});
    let mut attachment = object(("storage.k8s.io/v1", "VolumeAttachment"), "csi-1", cluster());
    attachment["spec"] = json!({"attacher": "disk.acme.io", "nodeName": "n1",
        "source": {"persistentVolumeName": "one"}});
    attachment["status"] = json!({"attached": false, "attachError": {"message": "it is marked for deletion"}});
    let objects = [volume, attachment, elsewhere("csi-disk-acme"), at_ten()];
    says(
        &on(&objects, "doctor"),
        &[
            "VolumeAttachment/csi-1, whose controller says: it is marked for deletion",
            "delete VolumeAttachment/csi-1 first",
        ],
    );
}
