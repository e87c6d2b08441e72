//! Who has had their time: kubelets, the pod garbage collector, controllers that run; what hangs once an operator goes;
//! and what comes back by itself.

use serde_json::{Value, json};

use super::{
    agree::{
        LOCKER, claim, controlled, dead_webhook, failing_definition, joined, object, on, owners, running, says,
        says_not,
    },
    field::{LONG_BEFORE, at_ten, manager_of, namespace, node, pod},
    operators::held,
    run::{gc, write},
};

const LONG_AGO: &str = "2026-03-01T08:00:00Z";

fn with_status(kind: (&str, &str), finalizer: &str, deleted: Option<&str>, status: Value) -> Value {
    let mut found = object(kind, "one", json!({"finalizers": [finalizer], "deletionTimestamp": deleted}));
    found["status"] = status;
    found
}

/// A controller manager that runs may have tried in vain where a webhook is asked, and a sweep would, too: only the API
/// server can tell. One that is away has not.
#[test]
fn what_a_webhook_may_refuse_is_tried_first() {
    let owner = json!({"finalizers": ["foregroundDeletion"], "deletionTimestamp": LONG_AGO});
    let owner = object(("v1", "ConfigMap"), "root", owner);
    let below = object!(LOCKER, "safe", {"ownerReferences": owners(("v1", "ConfigMap"), &["root"])});
    let mut webhook = dead_webhook("bank.dev", "lockers");
    webhook["webhooks"][0]["clientConfig"] = json!({"url": "https://10.0.0.1/check"});
    let with = |renewed: &str, webhook: &[Value]| {
        let objects = [owner.clone(), below.clone(), namespace(json!({})), manager_of(renewed), at_ten()];
        on(&[&objects[..], webhook].concat(), "doctor")
    };
    let tried = "find out whether the API server refuses that: this sends the same request as a dry run";
    let ran = with("2026-03-01T09:59:58.000000Z", std::slice::from_ref(&webhook));
    says(&ran, &["collector-idle", "These may reject its writes: guard.bank.dev", tried]);
    says(&ran, &["kubectl delete lockers.bank.dev/safe -n vault --cascade=background", "--dry-run=server"]);
    says_not(&with(LONG_BEFORE, &[webhook]), &[tried]);
    says_not(&with("2026-03-01T09:59:58.000000Z", &[]), &[tried]);
}

/// R9.7: whether the pod garbage collector deletes a pod is one answer of plan, explain and doctor.
#[test]
fn the_pod_garbage_collector_has_one_answer() {
    let of = |on: &str, until: &str, node: Value| {
        let mut left = pod("web-0", json!({"deletionTimestamp": until, "deletionGracePeriodSeconds": 30}));
        left["spec"]["nodeName"] = json!(on);
        [namespace(json!({})), left, node, at_ten()]
    };
    let mut out_of_service = node("Unknown", LONG_AGO);
    out_of_service["spec"]["taints"] = json!([{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]);
    let ready = node("True", LONG_AGO);
    let overdue = "its node gone does not exist, and the pod garbage collector has not deleted it";
    let all = [
        (of("gone", LONG_AGO, ready.clone()), "STUCK: ", overdue, "ERROR pod-without-kubelet", "running: it has not."),
        (of("gone", "2026-03-01T09:59:30Z", ready), "DELETES: ", "collector deletes it", "WARNING pod-w", "within 80"),
        (of("n1", LONG_AGO, out_of_service), "DELETES: ", "is out of service", "WARNING pod-w", "within 80"),
    ];
    for (objects, word, why, finding, then) in all {
        says(&on(&objects, "plan pod/web-0 -n vault"), &[word]);
        let ran = on(&objects, "explain pod/web-0 -n vault");
        says(&ran, &[why]);
        assert_eq!(ran.out.contains("STUCK: "), word == "STUCK: ", "{ran}");
        says(&on(&objects, "doctor"), &[finding, then]);
    }
    let ran = on(&of("gone", LONG_AGO, node("True", LONG_AGO)), "plan ns/vault");
    says(&ran, &["until the pod garbage collector deletes it", "see whether kube-controller-manager runs"]);
}

/// What kube-controller-manager makes of a template has the template's finalizers: that tells nobody's name.
#[test]
fn the_finalizer_of_a_template_is_not_its_makers() {
    let set = json!({"f:metadata": {"f:finalizers": {"v:\"acme.io/slow\"": {}}}});
    let fields = json!([{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
        "fieldsType": "FieldsV1", "time": "2026-01-01T00:00:00Z", "fieldsV1": set}]);
    let made = pod("web-0", json!({"finalizers": ["acme.io/slow"], "managedFields": fields}));
    let manager = manager_of("2026-03-01T09:59:58.000000Z");
    let ran = on(&[namespace(json!({})), made, node("True", LONG_AGO), manager, at_ten()], "plan pod/web-0 -n vault");
    says(&ran, &["STUCK: ", "acme.io/slow"]);
    says_not(&ran, &["kube-controller-manager"]);
}

/// A StatefulSet that is being deleted makes its ControllerRevision again, which the collector looks at only once a pod
/// has gone: it is not late.
#[test]
fn a_set_that_waits_makes_its_revision_again() {
    const SETS: (&str, &str) = ("apps/v1", "StatefulSet");
    let below = |kind: (&str, &str), name: &str, more: Value| {
        let mut below = object(kind, name, joined(json!({"ownerReferences": owners(SETS, &["db"])}), &more));
        below["metadata"]["ownerReferences"][0]["controller"] = json!(true);
        below["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(true);
        below
    };
    let of = |set: Value, more: Value, made: &str| {
        let mut set = object(SETS, "db", set);
        set["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"a": "db"}}});
        let held = below(("v1", "Pod"), "db-0", joined(json!({"finalizers": ["acme.io/slow"]}), &more));
        let revision = below(("apps/v1", "ControllerRevision"), "db-1", json!({"creationTimestamp": made}));
        [namespace(json!({})), set, held, revision, manager_of("2026-03-01T09:59:58.000000Z"), at_ten()]
    };
    let deleted = json!({"deletionTimestamp": LONG_AGO, "finalizers": ["foregroundDeletion"]});
    let (hung, before, since) =
        (json!({"deletionTimestamp": LONG_AGO}), "2026-03-01T07:00:00Z", "2026-03-01T08:00:01Z");
    says_not(&on(&of(deleted.clone(), hung.clone(), since), "doctor"), &["collector-idle"]);
    says(&on(&of(deleted, hung, before), "doctor"), &["collector-idle"]);
    let ran = on(&of(json!({}), json!({}), before), "plan sts/db -n vault --propagation=foreground");
    says(&ran, &["STUCK: ", "StatefulSet/db stays, and may create ControllerRevision/db-1 again"]);
}

/// R3.22: a collector that works takes seconds. What could have gone for longer may have been forgotten, and a second
/// delete with the same policy doesn't change that; one in the background does. So plan and explain say the same.
#[test]
fn what_the_collector_should_have_done_is_not_certain() {
    let left = |deleted: &str| {
        let metadata = json!({"deletionTimestamp": deleted, "finalizers": ["foregroundDeletion"]});
        [object(("v1", "ConfigMap"), "one", metadata), at_ten()]
    };
    let plan =
        |deleted: &str, policy: &str| on(&left(deleted), &format!("plan cm/one -n vault --propagation={policy}"));
    let forgotten = plan(LONG_AGO, "foreground");
    let clause = "deleted  ? or unchanged if the collector doesn't come back to it";
    says(
        &forgotten,
        &[
            "STUCK: ",
            clause,
            "which should have acted by now",
            "kubectl gc explain --from - --assume-complete configmaps/one",
        ],
    );
    assert_eq!(forgotten.code, 2, "{forgotten}");
    says(&on(&left(LONG_AGO), "explain cm/one -n vault"), &["the collector should act, but nothing happens"]);
    for certain in [plan("2026-03-01T09:59:30Z", "foreground"), plan(LONG_AGO, "background")] {
        says(&certain, &["DELETES: ", "1 object goes."]);
        assert_eq!(certain.code, 0, "{certain}");
    }
}

/// S7, S15: what shows doctor that the collector is idle shows it to plans: what it would delete is not certain, what
/// the API server deletes at once is. Nor is anything that needs a controller manager whose Lease has just expired.
#[test]
fn a_controller_manager_that_may_not_work_is_not_counted_on() {
    let deleted = |at: &str| json!({"finalizers": ["foregroundDeletion"], "deletionTimestamp": at});
    let with = |deleted: Value, renewed: &str, more: &[Value]| {
        let waits = object(("v1", "ConfigMap"), "root", deleted);
        let below = object!(("v1", "Secret"), "left", {"ownerReferences": owners(("v1", "ConfigMap"), &["root"])});
        let own = object(LOCKER, "own", json!({}));
        let gone = object!(("v1", "Secret"), "below", {"ownerReferences": owners(LOCKER, &["own"])});
        let objects = [waits, below, own, gone, namespace(json!({})), manager_of(renewed), at_ten()];
        [&objects[..], more].concat()
    };
    let (renewed, late) = ("2026-03-01T09:59:58.000000Z", "2026-03-01T09:59:30.000000Z");
    let idle = with(deleted(LONG_AGO), renewed, &[]);
    says(&on(&idle, "doctor"), &["ERROR collector-idle", "Secret/left -n vault should have been deleted"]);
    let ran = on(&idle, "plan locker/own -n vault");
    says(&ran, &["not certain: kube-controller-manager may not work.", "Locker/own       × deleted\n"]);
    says(&ran, &["Secret/below  × deleted  ? not certain: kube-controller-manager must work"]);
    says(&ran, &["does its work, though its collector should have deleted Secret/left by now"]);
    says(&ran, &["see first why kube-controller-manager does not do its work\n", "component=kube-controller-manager"]);
    let ran = on(&idle, "plan locker/own -n vault --propagation=foreground");
    says(&ran, &["UNSURE: 2 objects go; not certain: kube-controller-manager may not work."]);
    says(&on(&with(deleted("2026-03-01T09:59:30Z"), renewed, &[]), "plan locker/own -n vault"), &["DELETES: "]);
    // A webhook that refuses its write explains it.
    let webhook = dead_webhook("", "secrets");
    says_not(&on(&with(deleted(LONG_AGO), renewed, &[webhook]), "plan locker/own -n vault"), &["should have deleted"]);
    let ran = on(&with(json!({}), late, &[]), "plan locker/own -n vault");
    says(
        &ran,
        &["not certain: kube-controller-manager may not work.", "does its work, though its lease expired 15s ago"],
    );
    // Where each controller has an account of its own, a ClusterRoleBinding gives the collector its rights.
    let bindings = ["namespace-controller", "generic-garbage-collector"].map(|controller| {
        let kind = ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding");
        object(kind, &format!("system:controller:{controller}"), json!({"namespace": null}))
    });
    let account = object(("v1", "ServiceAccount"), "generic-garbage-collector", json!({"namespace": "kube-system"}));
    let [others, own] = bindings;
    let unbound = with(json!({}), renewed, &[account.clone(), others.clone()]);
    let ran = on(&unbound, "plan locker/own -n vault");
    says(
        &ran,
        &[
            "not certain: kube-controller-manager may not work.",
            "though ClusterRoleBinding/system:controller:generic-garbage-collector is missing",
        ],
    );
    let bound = with(json!({}), renewed, &[account, others, own]);
    says(&on(&bound, "plan locker/own -n vault"), &["DELETES: "]);
    let ran = on(&bound, "plan clusterrolebinding/system:controller:generic-garbage-collector");
    says(&ran, &["the API server, once it starts again (until then, that controller of Kubernetes has no rights),"]);
    // A restart takes minutes; what is away for longer may stay away.
    let restarting = with(json!({}), "2026-03-01T09:56:00.000000Z", &[]);
    says(&on(&restarting, "plan locker/own -n vault"), &["UNSURE: ", "though its lease expired 3m"]);
    let away = with(json!({}), "2026-03-01T09:50:00.000000Z", &[]);
    says(&on(&away, "plan locker/own -n vault --propagation=foreground"), &["STUCK: ", "expired 9m"]);
}

/// A controller of kube-controller-manager that has not acted on a new object may be switched off: what it makes again
/// may not come back, and what only it lets go is not certain to go.
#[test]
fn a_controller_that_does_not_act_on_new_objects_is_not_counted_on() {
    const JOBS: (&str, &str) = ("batch/v1", "Job");
    let deployments = ("apps/v1", "Deployment");
    let with = |kind: (&str, &str), made: &str, status: Value, target: &str| {
        let new = object!(kind, "new", {"creationTimestamp": made, "spec": {"replicas": 1}, "status": status});
        let set = object(("apps/v1", "ReplicaSet"), "web-1", controlled(deployments, "web"));
        let job = object!(JOBS, "load", {"spec": {}, "status": {"startTime": LONG_AGO, "active": 1}});
        let tracked = json!({"finalizers": ["batch.kubernetes.io/job-tracking"]});
        let tracked = pod("load-a", joined(tracked, &controlled(JOBS, "load")));
        let all = [running("web"), set, job, tracked, new, node("True", "2026-03-01T10:00:00Z"), namespace(json!({}))];
        let manager = manager_of("2026-03-01T09:59:58.000000Z");
        on(&[&all[..], &[manager, at_ten()]].concat(), &format!("plan {target} -n vault"))
    };
    let [comes_back, may] = ["creates ReplicaSet/web-1 again", "may create ReplicaSet/web-1 again"];
    let (old, young) = ("2026-03-01T09:00:00Z", "2026-03-01T09:59:00Z");
    says(&with(deployments, old, json!({}), "rs/web-1"), &[may]);
    let other = with(JOBS, old, json!({}), "rs/web-1");
    for ran in [with(deployments, young, json!({}), "rs/web-1"), other] {
        says(&ran, &[comes_back]);
    }
    says(&with(deployments, old, json!({"observedGeneration": 1}), "rs/web-1"), &[comes_back]);
    let ran = with(JOBS, old, json!({}), "job/load");
    says(&ran, &["UNSURE: ", "though its controllers have not acted on Job/new, which is older than 2m"]);
    for ran in [with(JOBS, young, json!({}), "job/load"), with(JOBS, old, json!({"startTime": old}), "job/load")] {
        says(&ran, &["DELETES: "]);
    }
}

/// S7: a Lease that nobody renews shows nothing beside a manager that runs without leader election: it has made or
/// changed something since.
#[test]
fn what_a_controller_manager_has_done_counts_more_than_its_lease() {
    let set = ("apps/v1", "ReplicaSet");
    let with = |more: Value| {
        let below = object!(("v1", "Secret"), "below", {"ownerReferences": owners(LOCKER, &["own"])});
        let made = pod("web-0", joined(controlled(set, "web"), &more));
        let own = [object(LOCKER, "own", json!({})), object(set, "web", json!({})), manager_of(LONG_BEFORE), at_ten()];
        on(&[&own[..], &[below, made]].concat(), "plan locker/own -n vault --propagation=foreground")
    };
    let by = |manager: &str, time: &str| {
        let entry = json!({"manager": manager, "operation": "Update", "subresource": "status", "time": time});
        json!({"managedFields": [entry]})
    };
    let manager = "kube-controller-manager";
    for runs in [json!({"creationTimestamp": "2026-03-01T08:00:00Z"}), by(manager, "2026-03-01T08:00:00Z")] {
        says(&with(runs), &["DELETES: "]);
    }
    for away in [json!({}), by(manager, "2026-03-01T06:00:00Z"), by("kubelet", "2026-03-01T08:00:00Z")] {
        says(&with(away), &["STUCK: ", "expired 2h ago"]);
    }
}

/// R1.46: what a second delete leaves is what a collector finds that starts only afterwards.
#[test]
fn nothing_is_freed_before_a_collector_runs() {
    let orphaning = json!({"deletionTimestamp": LONG_AGO, "finalizers": ["orphan"]});
    let below = object(("v1", "Secret"), "below", json!({"ownerReferences": owners(("v1", "ConfigMap"), &["own"])}));
    let objects = [object(("v1", "ConfigMap"), "own", orphaning), below, manager_of(LONG_BEFORE), at_ten()];
    let ran = on(&objects, "plan cm/own -n vault --fail-on=never --deny=secret");
    says(&ran, &["--deny=secrets: 1 such object would be deleted", "Secret/below  » later"]);
    assert_eq!(ran.code, 2, "{ran}");
    let ran = on(&objects, "plan cm/own -n vault --propagation=foreground");
    says(&ran, &["■ STUCK  waits for Secret/below", "Secret/below  » later"]);
    let ran = on(&objects, "plan cm/own -n vault --propagation=orphan");
    says(&ran, &["■ STUCK  has yet to free Secret/below"]);
    says_not(&ran, &["» later", "waits for"]);
}

/// R1.46: a second delete takes away what a late collector should have freed: that it is deleted stands first.
#[test]
fn what_a_late_collector_has_not_freed_goes() {
    let of = |deleted: &str| {
        let orphaning = json!({"deletionTimestamp": deleted, "finalizers": ["orphan"]});
        let below = object(("v1", "Secret"), "below", json!({"ownerReferences": owners(LOCKER, &["own"])}));
        let [claim, volume] = claim("own");
        [object(LOCKER, "own", orphaning), below, claim, volume, at_ten()]
    };
    for policy in ["background", "foreground"] {
        let ran = on(&of(LONG_AGO), &format!("plan locker/own -n vault --propagation={policy}"));
        let kept = "? or kept without an owner if the collector, which is late, acts first";
        says(
            &ran,
            &["DATA LOSS: ", &format!("Secret/below                × deleted  {kept}"), "unless the collector, which"],
        );
        assert_eq!(ran.code, 2, "{ran}");
    }
    let ran = on(&of(LONG_AGO), "plan locker/own -n vault --deny=secret --fail-on=never");
    says(&ran, &["--deny=secrets: 1 such object would be deleted"]);
    let all = on(&of(LONG_AGO), "plan -A");
    let row = all.out.lines().find(|line| line.contains("Locker/own")).unwrap_or_default();
    assert!(row.contains("! DATA LOSS") && row.contains("4 deleted; 1 loses data"), "{all}");
    says(&on(&of("2026-03-01T09:59:58Z"), "plan locker/own -n vault"), &["Secret/below                ● kept"]);
    says_not(&on(&of(LONG_AGO), "plan locker/own -n vault --propagation=orphan"), &["deleted if"]);
}

/// What only a controller manager does, nobody does without one: explain and doctor say so of each object.
#[test]
fn nobody_acts_without_a_controller_manager() {
    let stray = json!({"ownerReferences": owners(("v1", "ConfigMap"), &["gone"])});
    let of = |lease: &str| {
        let kept = object(("v1", "ConfigMap"), "kept", json!({}));
        [object(("v1", "Secret"), "stray", stray.clone()), kept, manager_of(lease), at_ten()]
    };
    let away = of(LONG_BEFORE);
    let ran = on(&away, "explain secret/stray -n vault");
    says(
        &ran,
        &["STUCK: Secret/stray should be deleted, and no controller manager is known to run", "collector-stopped:"],
    );
    says(&on(&away, "doctor secret/stray -n vault"), &["ERROR collector-stopped"]);
    says(&on(&away, "explain cm/kept -n vault"), &["OK: "]);
    says_not(&on(&away, "doctor cm/kept -n vault"), &["collector-stopped"]);
    says(&on(&of("2026-03-01T09:59:58.000000Z"), "explain secret/stray -n vault"), &["WILL BE DELETED: "]);
    let folder = tempfile::tempdir().unwrap();
    let applied = write(folder.path(), "applied.json", &object(("v1", "Secret"), "new", stray).to_string());
    let ran = on(&[&away[..], &[namespace(json!({}))]].concat(), &format!("plan --apply -n vault -f {applied}"));
    says(
        &ran,
        &["COLLECTS: 1 of 1", "Secret/new  » later  its owner ConfigMap/gone is missing", "no controller manager"],
    );
    assert_eq!(ran.code, 2, "{ran}");
}

/// A sweep does the collector's work, not that of the controllers that remove finalizers and empty namespaces.
#[test]
fn a_sweep_is_no_controller_manager() {
    let of = |lease: &str, line: &str| {
        let waits = json!({"finalizers": ["foregroundDeletion"], "deletionTimestamp": LONG_AGO});
        let mut claim = object(("v1", "PersistentVolumeClaim"), "data", json!({"uid": "u-data"}));
        claim["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
        claim["metadata"]["ownerReferences"] = owners(("v1", "ConfigMap"), &["a"]);
        claim["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(true);
        let mut used = object(("v1", "PersistentVolumeClaim"), "used", json!({"deletionTimestamp": LONG_AGO}));
        used["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
        let free = object(("v1", "Secret"), "free", json!({"ownerReferences": owners(("v1", "ConfigMap"), &["gone"])}));
        let leaving = namespace(json!({"name": "left", "uid": "left", "deletionTimestamp": LONG_AGO}));
        let within = object(("v1", "ConfigMap"), "x", json!({"namespace": "left"}));
        let owner = object(("v1", "ConfigMap"), "a", waits);
        let all = [owner, claim, used, free, leaving, within, namespace(json!({})), manager_of(lease), at_ten()];
        on(&all, line)
    };
    let runs = "2026-03-01T09:59:58.000000Z";
    let ran = of(runs, "sweep --dry-run -n vault");
    says(&ran, &["2 objects go, 1 deletion ends", "ConfigMap/a                    × deleted"]);
    let ran = of(LONG_BEFORE, "sweep --dry-run -n vault");
    says(
        &ran,
        &["STUCK", "no controller manager is known to run", "remove no finalizers", "start kube-controller-manager."],
    );
    says(&ran, &["PersistentVolumeClaim/data  ■ STUCK", "Secret/free                    × deleted"]);
    says_not(&ran, &["let kubectl gc sweep"]);
    // It empties no namespace.
    let plan = of(LONG_BEFORE, "plan ns/left");
    says(&plan, &["start kube-controller-manager. Its pods"]);
    says_not(&plan, &["kubectl gc sweep"]);
    says(&of(LONG_BEFORE, "plan cm/a -n vault"), &["or let kubectl gc sweep do the collector's work"]);
    let namespace = of(LONG_BEFORE, "doctor ns/left");
    says(&namespace, &["It stays until kube-controller-manager runs", "start kube-controller-manager."]);
    says_not(&namespace, &["as the namespace controller would"]);
    says(&of(LONG_BEFORE, "doctor pvc/used -n vault"), &["start kube-controller-manager. Its pods"]);
    says_not(&of(LONG_BEFORE, "doctor pvc/used -n vault"), &["Install or repair", "Nothing else keeps"]);
}

/// What stays Terminating of what goes is told, although the delete changes nothing about it.
#[test]
fn what_hangs_below_a_target_is_told() {
    let of = |until: &str| {
        let set = || owners(("apps/v1", "StatefulSet"), &["kv"]);
        let more = json!({"ownerReferences": set(), "deletionTimestamp": until, "deletionGracePeriodSeconds": 30});
        let mut left = pod("kv-0", more);
        left["spec"]["nodeName"] = json!("gone");
        let (kv, lives) = (object(("apps/v1", "StatefulSet"), "kv", json!({})), json!({"ownerReferences": set()}));
        let objects = [namespace(json!({})), kv, left, pod("kv-1", lives), node("True", LONG_AGO), at_ten()];
        on(&objects, "plan sts/kv -n vault")
    };
    let stays = "Note  Pod/kv-0: stays Terminating, as it does without this delete";
    says(&of(LONG_AGO), &["DELETES: ", stays]);
    says_not(&of("2026-03-01T09:59:50Z"), &[stays]);
}

/// What hangs already is not what a delete does: one that orphans it is no worse than one in the background.
#[test]
fn a_delete_that_orphans_what_hangs_is_not_stuck() {
    let of = |line: &str| {
        let owned = |more: Value| joined(json!({"ownerReferences": owners(("v1", "ConfigMap"), &["root"])}), &more);
        let hangs = owned(json!({"finalizers": ["x.io/x"], "deletionTimestamp": LONG_AGO}));
        let root = object(("v1", "ConfigMap"), "root", json!({}));
        let [hangs, kept] =
            [("hangs", hangs), ("kept", owned(json!({})))].map(|(name, more)| object(("v1", "Secret"), name, more));
        on(&[root, hangs, kept, namespace(json!({})), at_ten()], line)
    };
    let stays = "Secret/hangs: stays Terminating, as it does without this delete";
    for policy in ["background", "orphan"] {
        let ran = of(&format!("plan cm/root -n vault --cascade={policy}"));
        says(&ran, &["DELETES: ", stays]);
        says_not(&ran, &["STUCK"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    let ran = of("plan cm/root -n vault --cascade=orphan");
    says(&ran, &["1 object goes; 1 kept", "Terminating with or without this delete"]);
}

/// R9.44, S7: what only a controller manager makes again, or removes, waits until one runs.
#[test]
fn nothing_comes_back_or_goes_by_itself_without_a_controller_manager() {
    let job = || {
        let mut job = object!(("batch/v1", "Job"), "done", {"spec": {"ttlSecondsAfterFinished": 600}});
        let finished = json!({"type": "Complete", "status": "True", "lastTransitionTime": LONG_AGO});
        job["status"] = json!({"completionTime": LONG_AGO, "conditions": [finished]});
        job
    };
    let of = |lease: &str, line: &str| {
        let set = object!(("apps/v1", "ReplicaSet"), "web", {"spec": {"replicas": 1}});
        let mut made = pod("web-0", json!({"ownerReferences": owners(("apps/v1", "ReplicaSet"), &["web"])}));
        made["metadata"]["ownerReferences"][0]["controller"] = json!(true);
        on(&[set, made, job(), node("True", LONG_AGO), namespace(json!({})), manager_of(lease), at_ten()], line)
    };
    let runs = "2026-03-01T09:59:58.000000Z";
    let ran = of(LONG_BEFORE, "plan pod/web-0 -n vault");
    says(
        &ran,
        &["1 does not come back", "can't create Pod/web-0 again: that needs a controller manager, and none runs"],
    );
    says_not(&ran, &["« comes back"]);
    says(&of(runs, "plan pod/web-0 -n vault"), &["« comes back"]);
    let ran = of(LONG_BEFORE, "reclaim -n vault");
    says(
        &ran,
        &["1 object goes by itself, once a controller manager runs.", "later", "no controller manager is known to run"],
    );
    says_not(&ran, &["at once"]);
    says(&of(LONG_BEFORE, "explain job/done -n vault"), &["once a controller manager runs"]);
    says(&of(runs, "reclaim -n vault"), &["1 object goes by itself.", "at once"]);
    says(&of(runs, "reclaim -n vault --at 2026-03-02T10:00:00Z"), &["1 object goes by itself.", "at once"]);
}

/// A finalizer whose controller runs is expected to go within an hour; then nobody counts on it, and what the object
/// says is quoted.
#[test]
fn a_controller_that_has_had_its_time_is_not_counted_on() {
    let app = ("kappctrl.k14s.io/v1alpha1", "App");
    let failed = json!({"conditions": [{"type": "DeleteFailed", "status": "True", "message": "Error (see below)"},
        {"type": "Degraded", "status": "False", "message": "All is well"}]});
    let error = json!({"conditions": [{"type": "Reconciling", "status": "True", "message": "well"}],
        "usefulErrorMessage": "kapp: Error: no such cluster"});
    let of = |deleted: &str, status: &Value| {
        let deleted = json!({"deletionTimestamp": deleted});
        let mut one = held(app, "one", "finalizers.kapp-ctrl.k14s.io/delete", "kapp-controller", deleted);
        one["status"] = status.clone();
        [one, running("kapp-controller"), at_ten()]
    };
    for (status, says_why) in [(&failed, "DeleteFailed is True: Error"), (&error, "kapp: Error: no such cluster")] {
        let ran = on(&of(LONG_AGO, status), "plan app/one -n vault");
        says(&ran, &["DEPENDS: ", "Deployment/kapp-controller runs, and has not removed it for 2h", says_why]);
        says_not(&ran, &["All is well"]);
        assert_eq!(ran.code, 2, "{ran}");
        says(&on(&of(LONG_AGO, status), "explain app/one -n vault"), &["DEPENDS: ", says_why]);
        says(&on(&of(LONG_AGO, status), "doctor"), &["slow-finalizer", says_why]);
    }
    let young = of("2026-03-01T09:10:00Z", &failed);
    let ran = on(&young, "plan app/one -n vault");
    says(&ran, &["WAITS: "]);
    assert_eq!(ran.code, 0, "{ran}");
    says_not(&on(&young, "doctor"), &["slow-finalizer"]);
}

/// What is being deleted already hangs once its operator is gone: that comes first.
#[test]
fn what_is_terminating_hangs_without_its_operator() {
    let cluster = ("ceph.rook.io/v1", "CephCluster");
    let of = |deleted: Option<&str>| {
        let one = with_status(cluster, "cephcluster.ceph.rook.io", deleted, json!({}));
        let mut operator = running("rook-ceph-operator");
        operator["metadata"]["namespace"] = json!("rook");
        let mut rook = namespace(json!({"name": "rook", "uid": "rook"}));
        rook["metadata"]["name"] = json!("rook");
        [one, operator, namespace(json!({})), rook, at_ten()]
    };
    for line in ["plan deploy/rook-ceph-operator -n rook", "plan ns/rook"] {
        let ran = on(&of(Some("2026-03-01T09:59:00Z")), line);
        says(&ran, &["STUCK: ", "CephCluster/one -n vault", "wait first until CephCluster/one -n vault is gone"]);
        says(&ran, &["kubectl wait --for=delete cephclusters.ceph.rook.io/one -n vault", "then plan again"]);
        says_not(&ran, &["delete first", "gc delete"]);
        assert_eq!(ran.code, 2, "{ran}");
        let ran = on(&of(None), line);
        says(&ran, &["DELETES: ", "CephCluster/one -n vault: stays, and cannot be deleted any more"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
}

/// The sidecars of a CSI driver, and workloads that only a label calls after a finalizer, lose their objects, too.
#[test]
fn drivers_and_labels_tell_a_controller() {
    let attachment = |deleted: Option<&str>| {
        let kind = ("storage.k8s.io/v1", "VolumeAttachment");
        let mut one = with_status(kind, "external-attacher/ebs-csi-aws-com", deleted, json!({"attached": true}));
        one["metadata"]["namespace"] = json!(null);
        one
    };
    let driver = [running("ebs-csi-controller"), running("web"), at_ten()];
    let line = "plan deploy/ebs-csi-controller -n vault";
    let ran = on(&[&driver[..], &[attachment(Some("2026-03-01T09:59:00Z"))]].concat(), line);
    says(&ran, &["DEPENDS: ", "VolumeAttachment/one", "wait first until"]);
    assert_eq!(ran.code, 2, "{ran}");
    let objects = [&driver[..], &[attachment(None)]].concat();
    says(&on(&objects, line), &["DELETES: ", "VolumeAttachment/one: stays, and may not be deletable any more"]);
    says_not(&on(&objects, "plan deploy/web -n vault"), &["VolumeAttachment"]);

    let mut labelled = running("manager");
    labelled["metadata"]["labels"] = json!({"app.kubernetes.io/name": "pgtool-operator"});
    let held = object(("pgtool.acme.io/v1", "Database"), "one", json!({"finalizers": ["pgtool.acme.io/x"]}));
    says(&on(&[labelled, held, at_ten()], "plan deploy/manager -n vault"), &["Database/one: stays, and may not be"]);
}

/// A pod that has finished and is being deleted needs no other delete.
#[test]
fn a_finished_pod_that_goes_is_not_to_be_deleted() {
    let mut done = pod("job-x", json!({"finalizers": ["acme.io/x"], "deletionTimestamp": "2026-03-01T09:59:00Z"}));
    done["status"]["phase"] = json!("Succeeded");
    done["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]);
    let mut used = claim("safe");
    used[0]["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    let safe = object(LOCKER, "safe", json!({}));
    let objects = [vec![done, safe, node("True", LONG_AGO), namespace(json!({})), at_ten()], used.to_vec()].concat();
    let ran = on(&objects, "plan pvc/gold -n vault");
    says(&ran, &["STUCK", "waits for Pod/job-x, already Terminating", "check that the controller of acme.io/x runs"]);
    says_not(&ran, &["finished"]);
}

/// What the API server refuses to everybody is a result, as if a gate had forbidden it.
#[test]
fn what_the_api_server_refuses_is_bad_news() {
    let ran = on(&[object(("v1", "Namespace"), "kube-system", json!({"namespace": null}))], "plan ns/kube-system");
    assert!(ran.err.contains("the API server refuses to delete"), "{ran}");
    assert_eq!((ran.code, gc(&["plan", "ns/x", "--from", "no-such-file"]).code), (2, 1), "{ran}");
}

/// Once all finalizers are removed, what the API server says is left, and nothing else.
#[test]
fn explain_says_what_is_left_without_finalizers() {
    let mut going = namespace(json!({"deletionTimestamp": LONG_AGO}));
    going["status"] = json!({"phase": "Terminating", "conditions": [{"type": "NamespaceDeletionContentFailure",
        "status": "True", "reason": "ContentDeletionFailed", "message": "Failed to delete all resource types"}]});
    let held = |kind: &str, finalizer: &str| {
        object(("bank.dev/v1", kind), "one", json!({"finalizers": [finalizer], "deletionTimestamp": LONG_AGO}))
    };
    let ran = on(&[going, held("Locker", "bank.dev/a"), held("Vault", "bank.dev/b"), at_ten()], "explain ns/vault");
    says(&ran, &["if all these finalizers are removed, only what the API server says still keeps this object."]);
}

/// What is in a namespace of which the API server says that it refuses a delete may be what it refuses: nothing
/// promises that it goes.
#[test]
fn what_a_namespace_may_not_delete_is_not_said_to_go() {
    let mut going = namespace(json!({"deletionTimestamp": LONG_AGO}));
    let message = "Failed to delete all resource types, 1 remaining: services \"Unknown\" is forbidden: \
                   ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: protected";
    going["status"] = json!({"phase": "Terminating", "conditions": [{"type": "NamespaceDeletionContentFailure",
        "status": "True", "reason": "ContentDeletionFailed", "message": message}]});
    let service = object(("v1", "Service"), "precious", json!({}));
    let ran = on(&[going, service, at_ten()], "explain ns/vault");
    says(&ran, &["STUCK: ", "Service/precious", "◊ DEPENDS", "unless the API server refuses that: see below"]);
    says_not(&ran, &["will be deleted"]);
}

/// Nothing is made again of a kind whose CRD goes, too.
#[test]
fn nothing_is_made_again_without_its_definition() {
    let mut definition = failing_definition("");
    definition["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    definition["metadata"]["deletionTimestamp"] = json!(null);
    let owned = json!({"ownerReferences": owners(("acme.io/v1", "Bank"), &["bank"])});
    let mut locker = object(LOCKER, "safe", owned);
    locker["metadata"]["ownerReferences"][0]["controller"] = json!(true);
    let objects = [definition, locker, object(("acme.io/v1", "Bank"), "bank", json!({})), namespace(json!({}))];
    says(&on(&objects, "plan locker/safe -n vault"), &["Bank/bank", "may create"]);
    says_not(&on(&objects, "plan crd/lockers.bank.dev"), &["may create", "again"]);
}

/// A dead webhook that selects no namespace prevents nothing.
#[test]
fn a_webhook_that_selects_nothing_does_no_harm() {
    let of = |value: &str| {
        let mut guard = dead_webhook("", "configmaps");
        guard["webhooks"][0]["namespaceSelector"] = json!({"matchLabels": {"team": value}});
        let objects = [guard, namespace(json!({"labels": {"team": "a"}})), object(("v1", "ConfigMap"), "x", json!({}))];
        on(&objects, "doctor")
    };
    says(&of("b"), &["NOTE webhook-unreachable", "selects none of the namespaces that exist"]);
    says_not(&of("a"), &["NOTE webhook-unreachable"]);
}

/// R9.41: what a rule of Kyverno's has generated may come back if that rule synchronizes it.
#[test]
fn what_a_policy_keeps_up_may_come_back() {
    let policy = |rule: &str, synchronize: bool| {
        let rule = json!({"name": rule, "generate": {"kind": "NetworkPolicy", "synchronize": synchronize}});
        object!(("kyverno.io/v1", "ClusterPolicy"), "defaults", {"namespace": null, "spec": {"rules": [rule]}})
    };
    let labels = json!({"generate.kyverno.io/policy-name": "defaults", "generate.kyverno.io/policy-namespace": "",
        "generate.kyverno.io/rule-name": "deny"});
    let made = object(("networking.k8s.io/v1", "NetworkPolicy"), "deny", json!({ "labels": labels }));
    let with = |policy: Value| on(&[made.clone(), policy, namespace(json!({}))], "plan networkpolicy/deny -n vault");
    says(&with(policy("deny", true)), &["ClusterPolicy/defaults stays, and may create NetworkPolicy/deny again"]);
    for other in [policy("deny", false), policy("allow", true)] {
        says_not(&with(other), &["again"]);
    }
}

/// R9.41: what others than an owner make again.
#[test]
fn what_is_kept_up_by_others_comes_back() {
    let global = |more: Value| joined(json!({"namespace": null}), &more);
    let api = |how: &str| {
        let labels = json!({"kube-aggregator.kubernetes.io/automanaged": how});
        object(("apiregistration.k8s.io/v1", "APIService"), "v1.apps", global(json!({"labels": labels})))
    };
    let ran = on(&[api("onstart")], "plan apiservice/v1.apps");
    says(&ran, &["comes back", "the API server, once it starts again, creates APIService/v1.apps again"]);
    let mut definition = failing_definition("");
    definition["status"]["conditions"] = json!([{"type": "Established", "status": "True"}]);
    definition["metadata"]["deletionTimestamp"] = json!(null);
    let mut served = api("true");
    served["metadata"]["name"] = json!("v1.bank.dev");
    let objects = [definition, served, object(LOCKER, "safe", json!({}))];
    says(&on(&objects, "plan apiservice/v1.bank.dev"), &["the API server creates APIService/v1.bank.dev again"]);

    let lease = |renewed: &str| {
        let lease = object!(("coordination.k8s.io/v1", "Lease"), "leader", {"spec": {"holderIdentity": "op-x_1",
                "leaseDurationSeconds": 15, "renewTime": format!("{renewed}.000000Z")}});
        on(&[lease, at_ten(), namespace(json!({}))], "plan lease/leader -n vault")
    };
    says(&lease("2026-03-01T09:59:58"), &["comes back", "its holder, which runs, creates Lease/leader again"]);
    says_not(&lease("2026-03-01T09:00:00"), &["again"]);

    let labels = json!({"labels": {"velero.io/storage-location": "default"}});
    let backup = object(("velero.io/v1", "Backup"), "daily", labels);
    let ran = on(&[backup.clone(), running("velero")], "plan backup/daily -n vault");
    says(&ran, &["Deployment/velero stays, and may create Backup/daily again"]);
    says_not(&on(&[backup, running("other")], "plan backup/daily -n vault"), &["again"]);

    let csv = ("operators.coreos.com/v1alpha1", "ClusterServiceVersion");
    let copy = object(csv, "etcd", json!({"labels": {"olm.copiedFrom": "operators"}}));
    let original = object(csv, "etcd", json!({"namespace": "operators", "uid": "original"}));
    let ran = on(&[copy, original], "plan clusterserviceversion/etcd -n vault");
    says(
        &ran,
        &["comes back", "ClusterServiceVersion/etcd -n operators stays, and creates ClusterServiceVersion/etcd again"],
    );

    // What the API server keeps for itself, and what a ClusterVersion has.
    for (kind, plural) in
        [(("v1", "Endpoints"), "endpoints"), (("discovery.k8s.io/v1", "EndpointSlice"), "endpointslice")]
    {
        let made = object(kind, "kubernetes", json!({"namespace": "default"}));
        let ran = on(&[made], &format!("plan {plural}/kubernetes -n default"));
        says(&ran, &["comes back", &format!("the API server creates {}/kubernetes again", kind.1)]);
    }
    let address = object(("networking.k8s.io/v1", "IPAddress"), "10.96.0.7", global(json!({})));
    let mut service = object(("v1", "Service"), "web", json!({}));
    service["spec"] = json!({"clusterIP": "10.96.0.7", "clusterIPs": ["10.96.0.7"]});
    let ran = on(&[address.clone(), service], "plan ipaddress/10.96.0.7");
    says(&ran, &["the API server creates IPAddress/10.96.0.7 again"]);
    says_not(&on(&[address], "plan ipaddress/10.96.0.7"), &["again"]);
    const VERSION: (&str, &str) = ("config.openshift.io/v1", "ClusterVersion");
    let version = object(VERSION, "version", global(json!({})));
    let owned = object(("v1", "Secret"), "key", json!({"ownerReferences": owners(VERSION, &["version"])}));
    let ran = on(&[version, owned], "plan secret/key -n vault");
    says(&ran, &["ClusterVersion/version stays, and may create Secret/key again"]);
}

/// R9.41: kapp-controller, Config Sync and cert-manager make again what their sources list.
#[test]
fn what_other_sources_list_comes_back() {
    let key = |labels: Value| object(("v1", "Secret"), "key", json!({"labels": labels}));
    let kapp = |more: Value| {
        let mut app = object(("kappctrl.k14s.io/v1alpha1", "App"), "shop", json!({}));
        app["spec"] = more;
        app["status"] = json!({"deploy": {"kapp": {"associatedResources": {"label": "kapp.k14s.io/app=17",
            "groupKinds": [{"group": "", "kind": "Secret"}]}}}});
        on(&[app, key(json!({"kapp.k14s.io/app": "17"})), running("kapp-controller")], "plan secret/key -n vault")
    };
    says(&kapp(json!({})), &["comes back", "App/shop stays, and creates Secret/key again"]);
    says_not(&kapp(json!({"paused": true})), &["again"]);

    let sync = |listed: &str, with: bool| {
        let mut group = object(("kpt.dev/v1alpha1", "ResourceGroup"), "root-sync", json!({"namespace": "config"}));
        group["spec"] = json!({"resources": [{"group": "", "kind": "Secret", "namespace": "vault", "name": listed}]});
        let root = object(
            ("configsync.gke.io/v1beta1", "RootSync"),
            "root-sync",
            json!({"namespace": "config", "uid": "root"}),
        );
        let managed = key(json!({"app.kubernetes.io/managed-by": "configmanagement.gke.io"}));
        on(
            &[&[group, managed][..], if with { std::slice::from_ref(&root) } else { &[] }].concat(),
            "plan secret/key -n vault",
        )
    };
    says(&sync("key", true), &["comes back", "ResourceGroup/root-sync -n config stays, and creates Secret/key again"]);
    says_not(&sync("other", true), &["again"]);
    says_not(&sync("key", false), &["again"]);

    let certificate = |secret: &str| {
        let mut certificate = object(("cert-manager.io/v1", "Certificate"), "web", json!({}));
        certificate["spec"] = json!({"secretName": secret});
        on(&[certificate, key(json!({})), running("cert-manager")], "plan secret/key -n vault")
    };
    says(&certificate("key"), &["comes back", "Certificate/web stays, and creates Secret/key again"]);
    says_not(&certificate("other"), &["again"]);
}
