//! What a paste says by itself, and what is advised because of that.

use serde_json::{Value, json};

use super::{
    agree::{LOCKER, joined, object, on, owners, running, says, says_not},
    field::{at_ten, namespace},
    run::{Ran, run_with},
};

/// Runs a command on a paste, which may lack anything.
fn pasted(objects: &[Value], line: &str) -> Ran {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    run_with(&format!("{line} --from -"), &list)
}

/// One that is Terminating for two hours, and of which this is said.
fn leaving(conditions: &[(&str, &str)]) -> Value {
    let mut namespace = namespace(json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
    let condition = |(kind, message): &(&str, &str)| {
        json!({"type": kind, "status": "True", "reason": "Said", "message": message,
            "lastTransitionTime": "2026-03-01T08:00:10Z"})
    };
    let conditions: Vec<Value> = conditions.iter().map(condition).collect();
    namespace["status"] = json!({"phase": "Terminating", "conditions": conditions});
    namespace
}

fn cluster_scoped(kind: (&str, &str), name: &str, more: Value) -> Value {
    joined(object(kind, name, json!({"namespace": null})), &more)
}

/// Every operator of Kopf calls itself `kopf`: its annotations say which one it is.
#[test]
fn an_operator_of_kopf_is_told_by_its_annotations() {
    let fields = json!({"f:metadata": {"f:annotations": {".": {}, "f:locksmith.kopf.dev/seen": {}},
        "f:finalizers": {".": {}, "v:\"kopf.zalando.org/KopfFinalizerMarker\"": {}}}});
    let managed = json!([{"manager": "kopf", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1",
        "time": "2026-03-01T07:00:00Z", "fieldsV1": fields}]);
    let held = json!({"deletionTimestamp": "2026-03-01T08:00:00Z", "managedFields": managed,
        "finalizers": ["kopf.zalando.org/KopfFinalizerMarker"]});
    let workload = json!({"spec": {"replicas": 1}, "status": {"observedGeneration": 1, "replicas": 1}});
    let workload = joined(object(("apps/v1", "Deployment"), "locksmith", json!({})), &workload);
    let ran = on(&[object(LOCKER, "safe", held), workload, at_ten()], "doctor");
    says(&ran, &["see why Deployment/locksmith -n vault has no ready pod\n          kubectl describe"]);
}

/// An API whose server is available, and lists nothing.
#[test]
fn a_stale_api_is_asked_itself() {
    let said = "Discovery failed for some groups, 1 failing: unable to retrieve the complete list of server APIs: \
                keys.bank.dev/v1: stale GroupVersion discovery: keys.bank.dev/v1";
    let service = json!({"spec": {"group": "keys.bank.dev", "version": "v1",
        "service": {"namespace": "bank", "name": "keys"}},
        "status": {"conditions": [{"type": "Available", "status": "True", "reason": "Passed"}]}});
    let service = cluster_scoped(("apiregistration.k8s.io/v1", "APIService"), "v1.keys.bank.dev", service);
    let objects = [leaving(&[("NamespaceDeletionDiscoveryFailure", said)]), service, at_ten()];
    let ran = on(&objects, "doctor");
    says(&ran, &["(stale)", "kubectl get --raw /apis/keys.bank.dev/v1", "or unregister the API, and keep a copy"]);
    says_not(&ran, &["kubectl get apiservices/"]);
    // R9.42: the namespace controller tries again without it.
    let plan = on(&objects, "plan apiservice/v1.keys.bank.dev");
    says(&plan, &["DELETES: 2 objects go", "Namespace/vault  "]);
}

/// An API doesn't answer. What is behind its Service is called as that, where the Service isn't there to be asked; a
/// certificate is not mended by looking at endpoints.
#[test]
fn what_is_behind_an_api_is_looked_for() {
    let of = |message: &str, replicas: i64| {
        let service = json!({"spec": {"group": "keys.bank.dev", "version": "v1",
            "service": {"namespace": "vault", "name": "keys"}},
            "status": {"conditions": [{"type": "Available", "status": "False", "reason": "MissingEndpoints",
                "message": message, "lastTransitionTime": "2026-03-01T08:00:10Z"}]}});
        let service = cluster_scoped(("apiregistration.k8s.io/v1", "APIService"), "v1.keys.bank.dev", service);
        let workload = json!({"spec": {"replicas": replicas}, "status": {"observedGeneration": 1}});
        let workload = joined(object(("apps/v1", "Deployment"), "keys", json!({})), &workload);
        pasted(&[service, workload, at_ten()], "doctor")
    };
    let ran = of("endpoints for service/keys in \"vault\" have no addresses", 0);
    let start =
        "Next  start what is behind its Service, and scaled to 0\n          kubectl scale deployments.apps/keys";
    says(&ran, &["Deployment/keys -n vault is scaled to 0", start]);
    let ran = of("failing or missing response: x509: certificate has expired", 1);
    says(&ran, &["renew the certificate of its server", "--field-selector=type=kubernetes.io/tls -n vault"]);
    says_not(&ran, &["endpointslices"]);
}

/// A Namespace alone names the finalizers that are left in it: a table knows whose they are, and what that costs.
#[test]
fn finalizers_that_only_a_namespace_names_are_known() {
    let ran = on(
        &[leaving(&[
            (
                "NamespaceContentRemaining",
                "Some resources are remaining: cephclusters.ceph.rook.io has 1 resource \
              instances, starrocksclusters.starrocks.com has 1 resource instances",
            ),
            (
                "NamespaceFinalizersRemaining",
                "Some content in the namespace has finalizers remaining: \
              cephcluster.ceph.rook.io in 1 resource instances, starrocks.com.service/protection in 1 resource \
              instances",
            ),
        ])],
        "doctor",
    );
    says(
        &ran,
        &[
            "removed (by Rook and StarRocks' operator, as far as is known). DATA LOSS: before Rook removes",
            "or see whether Rook and StarRocks' operator runs",
        ],
    );
}

/// The API server lists all that is left in a namespace: a controller that runs in it has no pod there any more, and
/// gets none. It can't be installed again.
#[test]
fn a_controller_of_an_emptied_namespace_is_gone() {
    let of = |left: &str| {
        let said = format!("Some resources are remaining: {left}restores.velero.io has 1 resource instances");
        let held = json!({"deletionTimestamp": "2026-03-01T08:00:00Z",
            "finalizers": ["restores.velero.io/external-resources-finalizer"]});
        let restore = object(("velero.io/v1", "Restore"), "old", held);
        on(&[leaving(&[("NamespaceContentRemaining", &said)]), restore, at_ten()], "doctor")
    };
    let ran = of("");
    says(&ran, &["stuck-finalizer: Restore/old", "namespace vault, which has no pods left and takes no new ones"]);
    says_not(&ran, &["install or repair"]);
    says_not(&of("pods. has 1 resource instances, "), &["no pods left"]);
}

/// What a status says that its object waits for is the cause.
#[test]
fn what_a_status_names_comes_first() {
    let held = |finalizer: &str, time: &str| json!({"deletionTimestamp": time, "finalizers": [finalizer]});
    let of = |kind: &str, name: &str, message: &str| {
        let finalizer = format!("{}.cluster.x-k8s.io", kind.to_lowercase());
        let finalizer = if kind == "Machine" { "machine.cluster.x-k8s.io" } else { &finalizer };
        let conditions = json!([{"type": "Deleting", "status": "True", "reason": "Waits", "message": message,
            "lastTransitionTime": "2026-03-01T09:00:00Z"}]);
        let object = object(("cluster.x-k8s.io/v1beta1", kind), name, held(finalizer, "2026-03-01T08:00:00Z"));
        joined(object, &json!({"status": {"conditions": conditions}}))
    };
    let objects = [of("Cluster", "prod", "Machines: prod-0"), of("Machine", "prod-0", "drain fails"), at_ten()];
    says(&pasted(&objects, "doctor"), &["First mend slow-finalizer (Machine/prod-0"]);
    let others = [of("Cluster", "prod", "Machines: prod-1"), of("Machine", "prod-0", "drain fails"), at_ten()];
    says_not(&pasted(&others, "doctor"), &["First mend"]);
}

/// A dump that has the Namespaces of each cluster, and not that of an object: it may not exist.
#[test]
fn a_namespace_that_is_not_listed_may_not_exist() {
    let held = json!({"deletionTimestamp": "2026-03-01T08:00:00Z", "finalizers": ["bank.dev/keys"]});
    let named = |name: &str| cluster_scoped(("v1", "Namespace"), name, json!({"spec": {}, "status": {}}));
    let objects = [object(LOCKER, "safe", held), named("default"), named("kube-system"), at_ten()];
    says(&on(&objects, "doctor"), &["Next  first see whether namespace vault exists", "kubectl get namespaces/vault"]);
    let listed = [&objects[..], &[namespace(json!({}))]].concat();
    says_not(&on(&listed, "doctor"), &["whether namespace vault exists"]);
    says_not(&on(&objects[..2], "doctor"), &["whether namespace vault exists"]);
}

/// L3: What refuses requests, and has lost its owner, may only be left.
#[test]
fn a_configuration_without_its_application_may_be_deleted() {
    let owners = json!({"metadata": {"ownerReferences": owners(("apps/v1", "Deployment"), &["gone"])}, "webhooks": []});
    let kind = ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration");
    let mut guard = cluster_scoped(kind, "guard", json!({"webhooks": owners["webhooks"]}));
    guard["metadata"]["ownerReferences"] = owners["metadata"]["ownerReferences"].clone();
    let ran = on(&[guard, object(("apps/v1", "Deployment"), "other", json!({}))], "doctor");
    says(&ran, &["namespaced-owner-of-cluster-scoped", "or delete the configuration and keep a copy"]);
}

/// R12.1: A finished Job whose time is up is deleted within seconds.
#[test]
fn a_job_that_outlives_its_time_is_a_finding() {
    let of = |ended: &str| {
        let job = json!({"spec": {"ttlSecondsAfterFinished": 300}, "status": {"conditions": [
            {"type": "Complete", "status": "True", "lastTransitionTime": ended}]}});
        on(&[joined(object(("batch/v1", "Job"), "count", json!({})), &job), at_ten()], "doctor")
    };
    let late = "It should have been deleted 115m ago: it has finished, and its ttlSecondsAfterFinished is 300.";
    says(&of("2026-03-01T08:00:00Z"), &["WARNING deletion-in-progress: Job/count", late, "--dry-run=server"]);
    says_not(&of("2026-03-01T09:30:00Z"), &["deletion-in-progress"]);
}

/// R8.5: One owner that stays keeps a dependent, whatever the other one is.
#[test]
fn one_owner_that_stays_is_enough() {
    let mut kept = object(("v1", "ConfigMap"), "settings", json!({}));
    let both = [owners(("apps/v1", "Deployment"), &["web"]), owners(("v1", "Pod"), &["web-0"])];
    kept["metadata"]["ownerReferences"] = both.iter().flat_map(|all| all.as_array().unwrap().clone()).collect();
    let objects = [object(("apps/v1", "Deployment"), "web", json!({})), kept.clone()];
    let ran = pasted(&objects, "explain cm/settings -n vault");
    says(
        &ran,
        &["OK: nothing deletes ConfigMap/settings", "Deployment/web owns it", "Deployment/web keeps the object"],
    );
    let mut leaving = objects.clone();
    leaving[0]["metadata"]["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
    says(&pasted(&leaving, "explain cm/settings -n vault"), &["UNSURE"]);
}

/// What two findings have in common is advised once.
#[test]
fn the_same_step_is_told_once() {
    let held = |name: &str, finalizer: &str| {
        let held = json!({"deletionTimestamp": "2026-03-01T08:00:00Z", "finalizers": [finalizer]});
        object(LOCKER, name, held)
    };
    let objects = [leaving(&[]), held("safe", "acme.io/a"), held("box", "acme.io/b"), at_ten()];
    let ran = on(&objects, "explain ns/vault");
    assert!(ran.out.matches("kubectl get deployments.apps,statefulsets.apps").count() <= 1, "{ran}");
}

/// Workloads were in another group before 1.16.
#[test]
fn an_old_version_is_known_to_be_gone() {
    let mut set = object(("apps/v1", "ReplicaSet"), "web-1", json!({}));
    set["metadata"]["ownerReferences"] = owners(("extensions/v1beta1", "Deployment"), &["web"]);
    let ran = pasted(&[set, object(("apps/v1", "Deployment"), "web", json!({}))], "doctor");
    says(&ran, &["which exists as apps/v1", "Since Kubernetes 1.16, none does."]);
}

/// What has lost its claim and keeps its data can be claimed again.
#[test]
fn a_released_volume_that_is_kept_can_be_claimed_again() {
    let of = |policy: &str| {
        let volume = json!({"spec": {"persistentVolumeReclaimPolicy": policy, "claimRef": {"namespace": "vault",
            "name": "data", "uid": "gone"}}, "status": {"phase": "Released"}});
        pasted(&[cluster_scoped(("v1", "PersistentVolume"), "disk", volume)], "explain pv/disk")
    };
    says(&of("Retain"), &["its data is kept: another claim can have it once spec.claimRef is removed"]);
    says_not(&of("Delete"), &["its data is kept"]);
}

/// What a controller can't delete may be kept: a person decides that.
#[test]
fn what_a_controller_fails_to_delete_can_be_kept() {
    let held = json!({"deletionTimestamp": "2026-03-01T08:00:00Z", "finalizers":
        ["finalizers.s3.services.k8s.aws/Bucket"], "spec": {"name": "logs"},
        "status": {"conditions": [{"type": "ACK.Recoverable",
        "status": "True", "reason": "BucketNotEmpty", "message": "The bucket is not empty.",
        "lastTransitionTime": "2026-03-01T09:00:00Z"}]}});
    let bucket = object(("s3.services.k8s.aws/v1alpha1", "Bucket"), "logs", held);
    let objects = [bucket, running("ack-s3-controller"), at_ten()];
    let ran = pasted(&objects, "doctor");
    says(
        &ran,
        &["Next  keep the external resource: its controller then removes the finalizer without deleting it", "retain"],
    );
    let script = pasted(&objects, "doctor -o remedies");
    says(&script, &["This needs a decision first"]);
}
