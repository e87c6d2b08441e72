//! Situations that people met, in dumps as they have them: who is late, who waits, and what is only shown twice.

use serde_json::{Value, json};

use super::{
    agree::{
        LOCKER, claim, controlled, dead_webhook, dead_webhook_before, document, failing_definition, object, on, owners,
        running, says, says_not, slice,
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
    says(&ran, &["REFUSED", "Service/guard -n vault has no port 9443"]);
    says(&of(9443, "doctor"), &["webhook-unreachable", "Service/guard -n vault has no port 9443"]);
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
    says(&of("", "pods", "CREATE", json!(null)), &["webhook-unreachable", "before it creates pods; Service/"]);
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
