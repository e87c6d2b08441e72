//! Who removes a finalizer, why it is not removed, and what operators delete besides, in dumps as people have them.

use serde_json::{Value, json};

use super::{
    agree::{LOCKER, controlled, joined, object, on, running, says, says_not},
    field::{at_ten, namespace},
    run::with_input,
};

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

/// What could not be read everywhere is not told once more for a namespace.
#[test]
fn what_could_not_be_read_is_told_once() {
    let objects = json!({"apiVersion": "v1", "kind": "List", "items": [
        namespace(json!({})), held(LOCKER, "safe", "bank.dev/keys", "locksmith", json!({"namespace": null})),
        object(("v1", "ConfigMap"), "rates", json!({}))]});
    let ran = with_input(&["plan", "ns/vault", "locker/safe", "--from", "-"], objects.to_string());
    says(&ran, &["there may be more objects"]);
    let listed = ran.err.lines().find(|line| line.starts_with("Not in the dump")).unwrap();
    assert_eq!(listed.matches("persistentvolumeclaims").count(), 1, "{ran}");
}
