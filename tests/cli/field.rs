//! Situations that people met, in dumps as they have them: who is late, who waits, and what is only shown twice.

use serde_json::{Value, json};

use super::{
    agree::{
        LOCKER, claim, controlled, dead_webhook, dead_webhook_before, document, failing_definition, held, joined,
        object, on, owners, running, says, says_not, slice,
    },
    run::write,
};

const PODS: (&str, &str) = ("v1", "Pod");

pub(super) fn pod(name: &str, more: Value) -> Value {
    let mut pod = object(PODS, name, more);
    pod["spec"] =
        json!({"nodeName": "n1", "terminationGracePeriodSeconds": 30, "containers": [{"name": "c", "image": "x"}]});
    pod["status"] = json!({"phase": "Running"});
    pod
}

pub(super) fn namespace(more: Value) -> Value {
    let mut namespace = object(("v1", "Namespace"), "vault", json!({"namespace": null}));
    namespace["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    namespace["spec"] = json!({"finalizers": ["kubernetes"]});
    namespace["status"] = json!({"phase": "Active"});
    namespace
}

/// Something that happened at ten: a dump is no older.
pub(super) fn at_ten() -> Value {
    object!(("v1", "Event"), "tick", {"lastTimestamp": "2026-03-01T10:00:00Z"})
}

pub(super) fn node(status: &str, heartbeat: &str) -> Value {
    object!(("v1", "Node"), "n1", {"namespace": null, "spec": {},
        "status": {"conditions": [{"type": "Ready", "status": status, "lastHeartbeatTime": heartbeat}]}})
}

/// R9.6, S13: A kubelet that reports has not ended a pod whose grace period is long over. The pod hangs, and so does
/// all that waits for it.
#[test]
fn a_late_kubelet_is_not_counted_on() {
    let objects = |until: &str| {
        let times = json!({"deletionTimestamp": until, "deletionGracePeriodSeconds": 30});
        let mut hung = pod("web-0", times);
        hung["metadata"]["ownerReferences"] = owners(("apps/v1", "ReplicaSet"), &["web"]);
        hung["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(true);
        hung["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]);
        let claim =
            json!({"deletionTimestamp": "2026-03-01T08:00:00Z", "finalizers": ["kubernetes.io/pvc-protection"]});
        let claim = object(("v1", "PersistentVolumeClaim"), "data", claim);
        let set = object(("apps/v1", "ReplicaSet"), "web", json!({}));
        [namespace(json!({})), set, hung, claim, node("True", "2026-03-01T10:00:00Z"), at_ten()]
    };
    let (late, punctual) = (objects("2026-03-01T09:00:00Z"), objects("2026-03-01T09:59:20Z"));
    for line in ["plan ns/vault", "plan rs/web -n vault --propagation=foreground", "plan pod/web-0 -n vault"] {
        let ran = on(&late, line);
        says(&ran, &["STUCK: ", "Pod/web-0"]);
        assert_eq!(ran.code, 2, "{ran}");
        says(&on(&punctual, line), &["DELETES: "]);
    }
    says(&on(&late, "explain pod/web-0 -n vault"), &["STUCK: ", "the kubelet of its node n1 has not ended it"]);
    // One that takes longer than any should may end it yet.
    let slow = objects("2026-03-01T09:58:20Z");
    for line in ["plan ns/vault", "plan pod/web-0 -n vault"] {
        says(&on(&slow, line), &["DEPENDS: ", "kubelet"]);
    }
    let not_yet = "its grace period is over, and it stays until the kubelet ends its containers";
    says(&on(&slow, "explain pod/web-0 -n vault"), &[not_yet]);
    says(&on(&slow, "doctor"), &["deletion-in-progress: Pod/web-0", "Its grace period is over"]);
    let ran = on(&late, "doctor");
    says(&ran, &["pod-without-kubelet: Pod/web-0", "but has not ended it", "kubectl describe nodes/n1"]);
    says_not(&ran, &["slow-finalizer"]);
    let ran = on(&punctual, "doctor");
    says(&ran, &["deletion-in-progress: PersistentVolumeClaim/data", "it waits for Pod/web-0"]);
    says_not(&ran, &["pod-without-kubelet", "slow-finalizer"]);
}

/// A webhook that is asked on this port before such objects are deleted, and its backend, which listens on 443.
fn guarded(resource: &str, port: u16) -> [Value; 5] {
    let mut service = object(("v1", "Service"), "guard", json!({}));
    service["spec"] = json!({"selector": {"app": "guard"}, "ports": [{"port": 443}]});
    let slice = slice("guard", "guard-0");
    let mut guard = dead_webhook("", resource);
    guard["webhooks"][0]["clientConfig"] = json!({"service": {"namespace": "vault", "name": "guard", "port": port}});
    [service, slice, guard, pod("guard-0", json!({})), node("True", "2026-03-01T10:00:00Z")]
}

/// The API server finds no port of the Service that has another number.
#[test]
fn a_webhook_on_another_port_is_not_reached() {
    let of = |port: u16, line: &str| {
        on(&[&guarded("configmaps", port)[..], &[object(("v1", "ConfigMap"), "rates", json!({}))]].concat(), line)
    };
    let ran = of(9443, "plan cm/rates -n vault");
    says(&ran, &["REFUSED", "its service vault/guard has no port 9443"]);
    says(&of(9443, "doctor"), &["webhook-unreachable", "its service vault/guard has no port 9443"]);
    says_not(&of(443, "plan cm/rates -n vault"), &["REFUSED", "no port"]);
    says_not(&of(443, "doctor"), &["webhook-unreachable"]);
}

/// A webhook that can't be reached may stop the cluster itself: kubelets can't renew their Leases.
#[test]
fn a_dead_webhook_refuses_what_the_cluster_needs() {
    let of = |groups: &str, resource: &str, operation: &str, selector: Value| {
        let mut guard = dead_webhook_before(&[operation], groups, resource);
        guard["webhooks"][0]["namespaceSelector"] = selector;
        on(&[guard, pod("web", json!({}))], "doctor")
    };
    let lease = "kubelets can't renew their Leases: Nodes become NotReady, and their pods are evicted";
    let manager = "the controller manager and the scheduler can't renew theirs";
    let without = |namespace: &str| {
        let key = "kubernetes.io/metadata.name";
        json!({"matchExpressions": [{"key": key, "operator": "NotIn", "values": [namespace]}]})
    };
    for (group, resource) in [("*", "*/*"), ("coordination.k8s.io", "leases")] {
        says(&of(group, resource, "UPDATE", json!(null)), &["ERROR", "webhook-unreachable", lease, manager]);
        let ran = of(group, resource, "*", without("kube-node-lease"));
        says(&ran, &[manager]);
        says_not(&ran, &[lease]);
        says(&of(group, resource, "UPDATE", without("kube-system")), &[lease]);
    }
    let all = of("*", "*/*", "*", json!(null));
    says(&all, &["can't report the state of Nodes; no pod is made", "no pod gets a Node", "Services don't learn"]);
    says(&of("", "pods", "CREATE", json!(null)), &["webhook-unreachable", "before it creates pods; its service"]);
    // Most charts leave out kube-system: the pods of all others need it.
    let others = of("", "pods", "CREATE", without("kube-system"));
    says(&others, &["ERROR", "no pod is made in place of one that is gone, in the namespaces that it selects"]);
    for ran in [
        of("", "pods", "CREATE", without("vault")),
        of("", "pods", "CREATE", json!({"matchLabels": {"inject": "yes"}})),
        of("coordination.k8s.io", "leases", "CREATE", json!(null)),
        of("", "configmaps", "CREATE", json!(null)),
    ] {
        says_not(&ran, &["webhook-unreachable"]);
    }
}

/// A webhook that refuses everything refuses that a volume is kept, too: it is exempted first, and everything else
/// passes only once the data is kept.
#[test]
fn data_is_kept_before_a_dead_webhook_lets_everything_pass() {
    let of = |conditions: Value, line: &str| {
        let [mut claim, volume] = claim("none");
        claim["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
        claim["metadata"]["deletionTimestamp"] = json!("2026-03-01T09:00:00Z");
        let mut guard = dead_webhook_before(&["*"], "*", "*/*");
        guard["webhooks"][0]["matchConditions"] = conditions;
        on(&[claim, volume, guard, namespace(json!({})), at_ten()], line)
    };
    let exempt =
        r#""expression":"request.resource.resource != \"persistentvolumes\"","name":"except-persistentvolumes""#;
    let ran = of(json!([]), "doctor");
    says(
        &ran,
        &[
            "DATA LOSS: PersistentVolumeClaim/gold",
            "first keep the data: exempt persistentvolumes from ValidatingWebhookConfiguration/guard, which refuses",
            "/webhooks/0/matchConditions\",\"value\":[{",
            exempt,
            "\"Retain\"}}' && kubectl patch validatingwebhookconfigurations.admissionregistration.k8s.io/guard",
        ],
    );
    let (exempted, kept) = (ran.out.find("except-").unwrap(), ran.out.find("\"Retain\"").unwrap());
    let passed = ran.out.find("\"Ignore\"").unwrap();
    assert!(exempted < kept && kept < passed, "{ran}");
    let script = of(json!([]), "doctor -o remedies").out;
    let active: Vec<&str> = script.lines().filter(|line| line.starts_with("kubectl ")).collect();
    assert!(active[0].contains("except-") && active[1].contains("Retain"), "{script}");
    assert!(active.iter().all(|line| !line.contains("Ignore") || line.contains("Retain")), "{script}");
    // Once it is exempted, the webhook is asked about everything else.
    let done = json!([{"name": "x", "expression": "request.resource.resource != \"persistentvolumes\""}]);
    let ran = of(done, "doctor");
    says(&ran, &["ERROR", "webhook-unreachable", "first keep the data: set the reclaim policy"]);
    says_not(&ran, &["except-", "matchConditions"]);
    says(&of(json!([{"name": "x", "expression": "object != null"}]), "doctor"), &["/webhooks/0/matchConditions/-"]);
}

/// A webhook that can't be asked refuses that an emptied namespace is finalized, and the delete of all of a kind.
#[test]
fn a_dead_webhook_is_mended_before_a_namespace_is_finalized() {
    let leaving = || namespace(json!({"deletionTimestamp": "2026-03-01T09:00:00Z"}));
    let guard = dead_webhook_before(&["UPDATE"], "*", "*/*");
    for line in ["doctor ns/vault", "explain ns/vault"] {
        let ran = on(&[leaving(), guard.clone(), at_ten()], line);
        says(&ran, &["first allow writes while the webhook is unreachable"]);
        says_not(&ran, &["force-finalize", "see whether kube-controller-manager runs"]);
    }
    let ran = on(&[leaving(), guard, at_ten()], "doctor ns/vault");
    says(&ran, &["refuses to finalize it: webhook guard.bank.dev must allow it", "First mend webhook-unreachable"]);
    let of = |name: &str, more: Value| object(LOCKER, name, more);
    let both = [of("a", json!({})), of("b", json!({"finalizers": ["bank.dev/x"]}))];
    let guard = dead_webhook("bank.dev", "lockers");
    let ran = on(&[&both[..], &[leaving(), guard, at_ten()]].concat(), "explain ns/vault");
    says(&ran, &["webhook guard.bank.dev must allow it and does not answer; then finalizer bank.dev/x"]);
    says_not(&ran, &["nothing deletes it", "all these finalizers"]);
}

/// A finalizer that no client is recorded to have set may be a mutating webhook's, which puts it back at each change.
#[test]
fn who_may_put_a_finalizer_back_is_named() {
    let of = |metadata: &Value, operation: &str, line: &str| {
        let mut guard = dead_webhook_before(&[operation], "bank.dev", "lockers");
        guard["kind"] = json!("MutatingWebhookConfiguration");
        guard["webhooks"][0]["clientConfig"] = json!({"url": "https://guard.bank.dev"});
        let one = joined(metadata.clone(), &json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
        on(&[object(LOCKER, "one", one), guard, namespace(json!({})), at_ten()], line)
    };
    let fields = json!([{"manager": "kubectl", "operation": "Update", "apiVersion": "bank.dev/v1",
        "time": "2026-03-01T08:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {}}}]);
    let unrecorded = json!({"finalizers": ["bank.dev/x"], "managedFields": fields});
    let recorded = held("bank.dev/x", "acme", json!({}));
    let asked = "MutatingWebhookConfiguration/guard is asked about each change, and may put it back";
    let exempt = "exempt lockers from MutatingWebhookConfiguration/guard, then force-remove the finalizer";
    for line in ["doctor", "explain locker/one -n vault"] {
        says(&of(&unrecorded, "UPDATE", line), &[asked, exempt, "except-lockers"]);
        says_not(&of(&unrecorded, "CREATE", line), &["MutatingWebhookConfiguration"]);
        says_not(&of(&recorded, "UPDATE", line), &["MutatingWebhookConfiguration"]);
    }
    // A MutatingAdmissionPolicy puts it back, too.
    let rule =
        json!([{"apiGroups": ["bank.dev"], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["lockers"]}]);
    let of = |kind: &str, spec: Value| {
        let mut one = object(("admissionregistration.k8s.io/v1", kind), "keep", json!({"namespace": null}));
        one["spec"] = spec;
        one
    };
    let policy = json!({"matchConstraints": {"resourceRules": rule}, "mutations": [{"patchType": "JSONPatch"}]});
    let policy = of("MutatingAdmissionPolicy", policy);
    let binding = of("MutatingAdmissionPolicyBinding", json!({"policyName": "keep"}));
    let one = joined(unrecorded, &json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
    let ran = on(&[object(LOCKER, "one", one), policy, binding, namespace(json!({})), at_ten()], "doctor");
    let exempt = "exempt lockers from MutatingAdmissionPolicy/keep, then force-remove the finalizer";
    says(&ran, &[exempt, r#"[{"op":"add","path":"/spec/matchConditions","value":[{"expression":"#]);
}

/// What the collector deletes by itself may be the backend of a webhook that works by now.
#[test]
fn what_goes_by_itself_takes_a_webhook_down() {
    let of = |owner: &str, what: usize| {
        let mut all = guarded("configmaps", 443);
        all[what]["metadata"]["ownerReferences"] = owners(LOCKER, &[owner]);
        let rates = object(("v1", "ConfigMap"), "rates", json!({}));
        on(&[&all[..], &[object(LOCKER, "here", json!({})), rates, at_ten()]].concat(), "doctor")
    };
    for backend in [0, 3] {
        let ran = of("nobody", backend);
        says(&ran, &["TAKES DOWN: the webhook guard.bank.dev loses its backend"]);
        says_not(&ran, &["webhook-unreachable"]);
        says_not(&of("here", backend), &["TAKES DOWN"]);
    }
}

/// A webhook that can't be reached allows nothing: if its conditions choose a delete, that is refused.
#[test]
fn a_dead_webhook_with_conditions_allows_nothing() {
    let mut guard = dead_webhook("", "configmaps");
    guard["webhooks"][0]["matchConditions"] = json!([{"name": "users", "expression": "!request.dryRun"}]);
    let ran = on(&[object(("v1", "ConfigMap"), "rates", json!({})), guard], "plan cm/rates -n vault");
    says(&ran, &["UNSURE", "exempts these deletes and changes: otherwise they are refused"]);
    says_not(&ran, &["allows these deletes"]);
}

/// The first line of a plan names what is destroyed outside of the cluster, however much else it has to say.
#[test]
fn a_first_line_says_what_is_destroyed_elsewhere() {
    let held = |finalizer: &str| json!({"finalizers": [finalizer]});
    let database = |name: &str| {
        let held = held("finalizer.managedresource.crossplane.io");
        let mut database = object(("rds.aws.upbound.io/v1beta1", "Instance"), name, held);
        database["spec"] = json!({"deletionPolicy": "Delete"});
        database
    };
    let objects = [
        namespace(json!({})),
        database("accounts"),
        database("ledger"),
        object(LOCKER, "safe", held("bank.dev/keys")),
        object(("v1", "ConfigMap"), "rates", json!({})),
        dead_webhook("", "secrets"),
        object(("v1", "Secret"), "keys", json!({})),
    ];
    let ran = on(&objects, "plan ns/vault");
    let first = ran.out.lines().find(|line| line.contains("STUCK: ")).unwrap_or_default().to_owned();
    assert!(first.contains("2 external resources") && first.len() <= 100, "{ran}");
}

/// Of the controller manager's Lease, long before [`at_ten`].
pub(super) const LONG_BEFORE: &str = "2026-03-01T07:00:00.000000Z";

/// The Lease of a controller manager that last renewed it then.
pub(super) fn manager_of(renewed: &str) -> Value {
    let name = json!({"namespace": "kube-system"});
    let mut lease = object(("coordination.k8s.io/v1", "Lease"), "kube-controller-manager", name);
    lease["spec"] = json!({"holderIdentity": "cp1_x", "leaseDurationSeconds": 15, "renewTime": renewed});
    lease
}

/// The Lease of the controller manager shows that it is away before anything waits for it.
#[test]
fn a_controller_manager_that_is_away_is_found() {
    let of = |renewed: &str| on(&[manager_of(renewed), at_ten()], "doctor");
    let away = of(LONG_BEFORE);
    says(&away, &["ERROR collector-stopped", "No controller manager seems to run", "expired 2h ago"]);
    says(&of("2026-03-01T09:59:58.000000Z"), &["No problems found"]);
}

/// The last DELETE of a kubelet finds its containers ended: nobody answers for a webhook that ran in them.
#[test]
fn a_webhook_does_not_let_its_own_pod_go() {
    let objects = guarded("pods", 443);
    let ran = on(&objects, "plan pod/guard-0 -n vault");
    says(&ran, &["TAKES DOWN: ", "■ STUCK  webhook guard.bank.dev must allow it", "After this delete, nobody can"]);
    says_not(&ran, &["does not report"]);
}

/// A claim of a StatefulSet that goes by itself, with its disk, isn't kept.
#[test]
fn a_claim_that_goes_anyway_is_not_kept() {
    const CLAIMS: (&str, &str) = ("v1", "PersistentVolumeClaim");
    const IN_USE: &str = "kubernetes.io/pvc-protection";
    let mut set = object(("apps/v1", "StatefulSet"), "db", json!({}));
    set["spec"] = json!({"serviceName": "db", "replicas": 1, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]});
    let claim = |name: &str, volume: &str, more: Value| {
        let mut claim = object(CLAIMS, name, more);
        claim["spec"] = json!({"volumeName": volume});
        let made_by = json!({"pv.kubernetes.io/provisioned-by": "disk.bank.dev"});
        let more = json!({"namespace": null, "annotations": made_by});
        let mut of = object(("v1", "PersistentVolume"), volume, more);
        of["spec"] = json!({"persistentVolumeReclaimPolicy": "Delete", "csi": {"driver": "disk.bank.dev"},
            "claimRef": {"namespace": "vault", "name": name, "uid": claim["metadata"]["uid"]}});
        [claim, of]
    };
    // Until its pod ends, it stays Terminating.
    let left = json!({"ownerReferences": owners(("v1", "Pod"), &["db-1"]), "finalizers": [IN_USE]});
    let [kept, disk] = claim("data-db-0", "disk-0", json!({}));
    let [going, lost] = claim("data-db-1", "disk-1", left);
    let mut user = pod("db-1x", json!({}));
    user["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}]);
    let mut objects = [set, kept, disk, going, lost, user];
    let ran = on(&objects, "plan sts/db -n vault");
    says(&ran, &["1 claim is kept (whenDeleted Retain): data-db-0", "deleted with or without this delete: data-db-1"]);
    let claims = &document(&objects, "plan sts/db -n vault")["claims"][0];
    let [kept, going] = ["kept", "going"].map(|what| &claims[what][0]["name"]);
    assert_eq!((kept, going), (&json!("data-db-0"), &json!("data-db-1")), "{claims:#}");
    let [set, policy] = [&claims["statefulSet"]["name"], &claims["whenDeleted"]];
    assert_eq!((set, policy), (&json!("db"), &json!("Retain")), "{claims:#}");
    // Its disk goes unless somebody acts.
    let ran = on(&objects, "doctor");
    says(&ran, &["ERROR owner-absent: PersistentVolumeClaim/data-db-1", "DATA LOSS"]);
    objects[3]["metadata"]["deletionTimestamp"] = json!("2026-03-01T09:59:58Z");
    says(&on(&objects, "plan sts/db -n vault --propagation=orphan"), &["with or without this delete: data-db-1"]);
    let harmless =
        object(("v1", "ConfigMap"), "rates", json!({"ownerReferences": owners(("v1", "Secret"), &["gone"])}));
    says(&on(&[harmless], "doctor"), &["WARNING owner-absent: ConfigMap/rates"]);
}

/// Without a Lease, a Node that is Ready tells that its kubelet reports.
#[test]
fn a_ready_node_has_a_kubelet() {
    let late = pod("web", json!({"deletionTimestamp": "2026-03-01T09:58:00Z", "deletionGracePeriodSeconds": 30}));
    let says_of = |status: &str| on(&[late.clone(), node(status, "2026-03-01T10:00:00Z")], "doctor");
    says_not(&says_of("True"), &["does not respond"]);
    says(&says_of("Unknown"), &["does not respond"]);
}

/// All webhooks that refuse a write are to be mended, each configuration once.
#[test]
fn every_webhook_in_the_way_is_mended() {
    let configuration = |kind: &str, hooks: &[&str]| {
        let mut of = dead_webhook("", "configmaps");
        of["kind"] = json!(kind);
        let hook = |name: &&str| {
            let mut hook = of["webhooks"][0].clone();
            hook["name"] = json!(format!("{name}.bank.dev"));
            hook
        };
        of["webhooks"] = hooks.iter().map(hook).collect();
        of
    };
    let objects = [
        object(("v1", "ConfigMap"), "rates", json!({})),
        configuration("ValidatingWebhookConfiguration", &["first", "second"]),
        configuration("MutatingWebhookConfiguration", &["third"]),
    ];
    let ran = on(&objects, "plan cm/rates -n vault");
    for kind in ["validating", "mutating"] {
        let command = format!("kubectl delete {kind}webhookconfigurations.admissionregistration.k8s.io/guard");
        assert_eq!(ran.out.matches(&command).count(), 1, "{ran}");
    }
    // It is one object, whoever refuses it.
    let reasons = document(&objects, "plan cm/rates -n vault --fail-on=never")["verdict"]["reasons"].clone();
    let counts: Vec<&Value> = reasons.as_array().unwrap().iter().map(|reason| &reason["objects"]).collect();
    assert_eq!(counts, [&json!(1)], "{reasons:#}");
}

/// A kubelet says that the containers have ended before it deletes a pod. Where a webhook must allow that, and can't be
/// asked, the pod stays; unless it is deleted by force.
#[test]
fn a_webhook_about_the_status_of_pods_holds_them() {
    let guard = dead_webhook_before(&["UPDATE"], "*", "pods/status");
    let objects = [pod("web", json!({})), node("True", "2026-03-01T10:00:00Z"), guard];
    let ran = on(&objects, "plan pod/web -n vault");
    says(&ran, &["STUCK: ", "webhook guard.bank.dev must allow it", "before it changes the status of pods"]);
    says_not(&ran, &["does not report"]);
    says(&on(&objects, "plan pod/web -n vault --grace-period=0 --force"), &["DELETES: 1 object goes."]);
    // So does the pod garbage collector, which deletes it once its Node is gone.
    let ran = on(&objects, "plan node/n1");
    says(&ran, &["before it changes the status of pods", "Pod/web"]);
    says_not(&ran, &["2 objects go"]);
    let left = on(&[pod("web", json!({})), objects[2].clone(), at_ten()], "doctor -n vault");
    says(&left, &["guard.bank.dev"]);
    // A Job that goes on counts a pod in its status before it lets go of it.
    let jobs = ("batch/v1", "Job");
    let mut job = object(jobs, "load", json!({}));
    job["spec"] = json!({"backoffLimit": 6});
    let tracked = json!({"finalizers": ["batch.kubernetes.io/job-tracking"]});
    let counted = pod("load-a", joined(controlled(jobs, "load"), &tracked));
    let guard = dead_webhook_before(&["UPDATE"], "batch", "jobs/status");
    let objects = [job, counted, node("True", "2026-03-01T10:00:00Z"), guard];
    let ran = on(&objects, "plan pod/load-a -n vault");
    says(&ran, &["STUCK: ", "webhook guard.bank.dev must allow it", "before it changes the status of jobs"]);
    says(&on(&objects, "plan job/load -n vault"), &["DELETES: 2 objects go."]);
}

/// The finalizer of a CRD is removed with its status: a webhook that must allow that, and can't be asked, keeps it with
/// all that is in it.
#[test]
fn a_webhook_about_the_status_of_crds_holds_them() {
    let mut crd = failing_definition("");
    crd["metadata"]["deletionTimestamp"] = Value::Null;
    crd["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    let all = dead_webhook_before(&["UPDATE"], "apiextensions.k8s.io", "customresourcedefinitions/status");
    let objects = [crd.clone(), object(LOCKER, "safe", json!({})), all];
    let ran = on(&objects, "plan crd/lockers.bank.dev");
    says(&ran, &["STUCK: ", "webhook guard.bank.dev must allow it"]);
    says_not(&ran, &["2 objects go"]);
    crd["metadata"]["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
    let objects = [crd, objects[1].clone(), objects[2].clone(), at_ten()];
    for line in ["doctor", "explain crd/lockers.bank.dev"] {
        says(&on(&objects, line), &["guard.bank.dev"]);
    }
    // A dump may lack the status, which says whether there may be instances.
    let mut bare = objects[0].clone();
    bare["metadata"]["deletionTimestamp"] = Value::Null;
    for status in [Value::Null, json!({})] {
        bare["status"] = status;
        says(&on(&[bare.clone(), objects[1].clone()], "plan crd/lockers.bank.dev"), &["2 objects go."]);
    }
    let whole = dead_webhook_before(&["UPDATE"], "apiextensions.k8s.io", "customresourcedefinitions");
    says(&on(&[&objects[..2], &[whole]].concat(), "plan crd/lockers.bank.dev"), &["2 objects go."]);
}

/// Who removes a finalizer is known by its own name, not by a sister's.
#[test]
fn sisters_of_a_controller_do_not_count() {
    let more = json!({"deletionTimestamp": "2026-03-01T09:00:00Z", "finalizers": ["chains.tekton.dev/pipelinerun"]});
    let run = object(("tekton.dev/v1", "PipelineRun"), "build", more);
    let mut objects = vec![run, running("tekton-pipelines-controller")];
    says(&on(&objects, "plan pipelinerun/build -n vault"), &["STUCK: ", "no workload of Tekton Chains"]);
    objects.push(running("tekton-chains-controller"));
    says(&on(&objects, "plan pipelinerun/build -n vault"), &["Deployment/tekton-chains-controller runs"]);
}

/// A Service with one ready pod of a Deployment.
fn backend(name: &str) -> Vec<Value> {
    let service = object!(("v1", "Service"), name, {"uid": "service", "spec": {"selector": {"app": name}}});
    let serving = format!("{name}-0");
    vec![service, slice(name, &serving), pod(&serving, controlled(("apps/v1", "Deployment"), name)), running(name)]
}

/// A CRD whose objects a webhook of Service `vault/converter` converts.
fn converted() -> Value {
    let mut definition =
        object(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "lockers.bank.dev", json!({"namespace": null}));
    let version = |name: &str, stored: bool| json!({"name": name, "served": true, "storage": stored});
    definition["spec"] = json!({"group": "bank.dev", "scope": "Namespaced",
        "names": {"kind": "Locker", "plural": "lockers", "singular": "locker", "listKind": "LockerList"},
        "versions": [version("v1", true), version("v2", false)],
        "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
            "clientConfig": {"service": {"namespace": "vault", "name": "converter"}}}}});
    definition["status"] = json!({"storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}]});
    definition
}

/// A condition names the conversion webhook that failed: that is mended, not an admission webhook.
#[test]
fn a_conversion_that_failed_is_mended() {
    let mut namespace = namespace(json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
    let message = "Failed to delete all resource types, 1 remaining: conversion webhook for bank.dev/v2, Kind=Locker \
                   failed: Post \"https://converter.vault.svc:443/convert\": x509: certificate has expired";
    namespace["status"] = json!({"phase": "Terminating", "conditions": [{"type": "NamespaceDeletionContentFailure",
        "status": "True", "reason": "ContentDeletionFailed", "message": message,
        "lastTransitionTime": "2026-03-01T08:00:10Z"}]});
    let objects = [&backend("converter")[..], &[namespace, converted(), node("True", "2026-03-01T10:00:00Z")]].concat();
    let ran = on(&objects, "explain ns/vault");
    let secrets = "kubectl get secrets --field-selector=type=kubernetes.io/tls -n vault";
    says(&ran, &["Next  convert without a webhook, and keep a copy of the CRD"]);
    says(&on(&objects, "doctor"), &["or renew the certificate of its server", secrets]);
    says_not(&ran, &["validatingwebhookconfigurations"]);
}

/// Objects can't be converted once the webhook that does it is gone.
#[test]
fn a_conversion_is_taken_down() {
    let objects = [&backend("converter")[..], &[converted(), node("True", "2026-03-01T10:00:00Z")]].concat();
    for line in ["plan deploy/converter -n vault", "plan svc/converter -n vault"] {
        let ran = on(&objects, line);
        says(&ran, &["TAKES DOWN: ", "conversion of lockers.bank.dev", "lockers.bank.dev can't be deleted"]);
        says(&ran, &[r#"-p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'"#]);
    }
    let plan = document(&objects, "plan svc/converter -n vault");
    assert_eq!(plan["obstacles"][0]["obstacle"], "conversion-broken", "{plan:#}");
    says_not(&on(&objects, "plan pod/other -n vault --ignore-not-found"), &["TAKES DOWN"]);
}

/// JSON calls a verdict certain only if it calls each outcome so: a volume goes only if its provisioner runs.
#[test]
fn a_certain_verdict_has_certain_outcomes_only() {
    for (name, certain) in [("gone", true), ("here", false)] {
        let [gold, volume] = claim("here");
        let found = document(&[gold, volume, object(LOCKER, name, json!({}))], &format!("plan locker/{name} -n vault"));
        let outcomes = found["outcomes"].as_array().unwrap();
        let uncertain = outcomes.iter().filter(|outcome| outcome["certain"] == false).count();
        assert_eq!(found["verdict"]["certain"], certain, "{found:#}");
        assert_eq!((uncertain == 0, &found["verdict"]["counts"]["uncertain"]), (certain, &json!(uncertain)));
    }
}

/// What a volume has on one Node only can't be reached without that.
#[test]
fn the_data_on_a_node_goes_out_of_reach() {
    let mut volume = object(("v1", "PersistentVolume"), "disk", json!({"namespace": null}));
    volume["spec"] = json!({"local": {"path": "/disk"}, "persistentVolumeReclaimPolicy": "Retain",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]}}});
    let unreached = "and can't be reached until it is back: pods that use it stay Pending";
    let on_it = ["the data of PersistentVolume/disk is on it", unreached];
    says(&on(&[volume.clone(), node("True", "2026-03-01T10:00:00Z")], "plan node/n1"), &on_it);
    // Where the volume goes with the Node, that is no better.
    volume["metadata"]["ownerReferences"] = owners(("v1", "Node"), &["n1"]);
    for policy in ["background", "foreground", "orphan"] {
        let objects = [volume.clone(), node("True", "2026-03-01T10:00:00Z")];
        says(&on(&objects, &format!("plan node/n1 --propagation={policy}")), &on_it);
    }
}

/// R9.38: TopoLVM deletes the claims of its volumes on a Node; Karpenter terminates the instance: with the data.
#[test]
fn the_data_on_a_node_may_go_with_it() {
    let with = |finalizer: &str, label: &str, driver: &str| {
        let made_by = json!({"pv.kubernetes.io/provisioned-by": driver});
        let mut volume = object(("v1", "PersistentVolume"), "disk", json!({"namespace": null, "annotations": made_by}));
        volume["spec"] = json!({"persistentVolumeReclaimPolicy": "Delete", "csi": {"driver": driver},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": label, "operator": "In", "values": ["n1"]}]}]}}});
        let mut node = node("True", "2026-03-01T10:00:00Z");
        node["metadata"]["finalizers"] = json!([finalizer]);
        on(&[volume, node], "plan node/n1 --deny-effect=data-loss")
    };
    const TOPOLOGY: &str = "topology.topolvm.io/node";
    let karpenter = with("karpenter.sh/termination", "kubernetes.io/hostname", "x.y");
    let topolvm = with("topolvm.io/node", TOPOLOGY, "topolvm.io");
    for (ran, why) in [(karpenter, "is lost with its instance"), (topolvm, "TopoLVM deletes it, with the claim")] {
        says(&ran, &["REFUSED: ", "the data of PersistentVolume/disk is on it, and ", why, "! DATA LOSS"]);
        says_not(&ran, &["until it is back", "Retain"]);
    }
    for (label, driver) in [("kubernetes.io/hostname", "x.y"), (TOPOLOGY, "x.y")] {
        let ran = with("topolvm.io/node", label, driver);
        says(&ran, &["can't be reached until it is back"]);
        says_not(&ran, &["REFUSED", "DATA LOSS"]);
    }
    says_not(&with("topolvm.io/node", "acme.io/node", "topolvm.io"), &["DATA LOSS"]);
}

/// R9.7: where a kubelet does not respond, its containers may run on: their pods are gone, and others take their place.
#[test]
fn the_containers_of_a_silent_kubelet_may_still_run() {
    let of = |ready: &str, line: &str| {
        let set = object(("apps/v1", "StatefulSet"), "kv", json!({}));
        let mut kv = pod("kv-0", controlled(("apps/v1", "StatefulSet"), "kv"));
        kv["metadata"]["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
        kv["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        on(&[namespace(json!({})), set, kv, node(ready, "2026-03-01T07:00:00Z"), at_ten()], line)
    };
    let runs = "containers may still run there: the kubelet of the node does not respond";
    let back = "StatefulSet/kv -n vault stays, and creates Pod/kv-0 -n vault again";
    let ran = of("Unknown", "plan node/n1");
    let verdict = "UNSURE: containers may still run, 2 objects go; 1 comes back.";
    says(&ran, &[verdict, &format!("Node/n1: {runs}: Pod/kv-0 -n vault"), "« comes back", back]);
    let ran = of("Unknown", "plan pod/kv-0 -n vault --force");
    says(&ran, &["UNSURE: ", &format!("Pod/kv-0: {runs}"), "« comes back"]);
    says_not(&of("True", "plan node/n1"), &[runs]);
}

/// A time-out is no promise where a webhook must allow the delete and does not answer.
#[test]
fn a_time_out_behind_a_dead_webhook_is_doubted() {
    let job = object!(("batch/v1", "Job"), "report", {"spec": {"ttlSecondsAfterFinished": 60},
        "status": {"completionTime": "2026-03-01T10:00:00Z", "conditions": [{"type": "Complete", "status": "True",
            "lastTransitionTime": "2026-03-01T10:00:00Z"}]}});
    let webhook = dead_webhook("batch", "jobs");
    let why = "webhook guard.bank.dev must allow it and does not answer";
    let at = "reclaim -A --at=2026-03-01T10:00:30Z";
    says_not(&on(std::slice::from_ref(&job), at), &["not certain"]);
    says(&on(&[job, webhook], at), &["report", why]);
}

/// R8.9: the collector tries objects again whose owner is of a kind that is not served. Once a CRD serves it, the owner
/// is absent, and they go.
#[test]
fn a_definition_that_comes_back_takes_the_dependents_of_before() {
    let mut far = namespace(json!({}));
    far["metadata"]["ownerReferences"] = owners(("bank.dev/v1", "Tenant"), &["t1"]);
    let held = object(("v1", "ConfigMap"), "inside", json!({}));
    let objects = [&[far, held][..], &claim("l1")].concat();
    let definition = |kind: &str, plural: &str, scope: &str| {
        let mut definition = failing_definition("");
        definition["metadata"] = json!({"name": format!("{plural}.bank.dev")});
        definition["spec"]["scope"] = json!(scope);
        definition["spec"]["names"] = json!({"kind": kind, "plural": plural});
        definition
    };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, objects: &[Value]| {
        write(folder.path(), name, &json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string())
    };
    let lockers = definition("Locker", "lockers", "Namespaced");
    let mut new = object(LOCKER, "l1", json!({}));
    new["metadata"]["uid"] = json!("another");
    for file in [file("one.json", std::slice::from_ref(&lockers)), file("two.json", &[lockers, new])] {
        let ran = on(&objects, &format!("plan --apply -f {file}"));
        says(&ran, &["PersistentVolumeClaim/gold -n vault: its volume is deleted with all data on it"]);
        says_not(&ran, &["KEEPS", "ConfigMap/inside"]);
        assert_eq!(ran.code, 2, "{ran}");
    }
    let tenants = file("three.json", &[definition("Tenant", "tenants", "Cluster")]);
    let ran = on(&objects, &format!("plan --apply -f {tenants}"));
    says(&ran, &["COLLECTS: ", "Namespace/vault"]);
    assert_eq!(ran.code, 2, "{ran}");
    // A kind that nothing names changes nothing.
    let others = file("four.json", &[definition("Other", "others", "Cluster")]);
    says(&on(&objects, &format!("plan --apply -f {others}")), &["KEEPS: nothing is collected."]);
    let ran = on(&objects, "doctor -A");
    let armed =
        "the collector deletes it: its owner is missing. DATA LOSS: PersistentVolumeClaim/gold -n vault may lose";
    says(&ran, &["WARNING owner-not-served", "it stays as long as that kind is not served", armed]);
    says(&on(&objects, "explain pvc/gold -n vault"), &["It retries, after pauses of up to 17 minutes."]);
}
