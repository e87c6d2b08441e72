//! The controller of a finalizer that is in the cluster is found, in dumps without managed fields (R9.15); and once it
//! goes, what it leaves is named.

use serde_json::{Value, json};

use super::{
    agree::{object, on, running, says, says_not},
    field::{at_ten, namespace},
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
