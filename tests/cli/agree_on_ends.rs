//! What `plan`, `explain` and `doctor` say of an end that another delete, a webhook or a controller decides.

use serde_json::{Value, json};

use super::{
    agree::{
        DELETED, LOCKER, approval, claim, controlled, dead_webhook, dead_webhook_before, document, failing_definition,
        held, joined, object, on, owners, running, says, says_not, slice,
    },
    field::{at_ten, node},
    run::{Ran, finish, program, words},
};

/// Runs a command line on these objects, beside which there may be others.
fn on_a_part(objects: &[Value], line: &str) -> Ran {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    finish(program().args(words(line)).args(["--from", "-"]).write_stdin(list))
}

/// A namespace that is being deleted.
fn going(name: &str) -> Value {
    object!(("v1", "Namespace"), name, {"namespace": null, "deletionTimestamp": DELETED,
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating"}})
}

/// The delete of a Terminating namespace is ignored: what goes on without it is told, and what keeps it.
#[test]
fn a_terminating_namespace_goes_on_as_it_does() {
    let content = object(("v1", "ConfigMap"), "rates", json!({}));
    for (more, go) in [(vec![], "1 object goes"), (vec![content.clone()], "2 objects go")] {
        let objects = [vec![going("vault")], more].concat();
        let ran = on(&objects, "plan ns/vault");
        says(
            &ran,
            &[
                &format!("DELETES: Namespace/vault is already being deleted; {go}."),
                "--assume-complete namespaces/vault",
            ],
        );
        assert_eq!(ran.code, 0, "{ran}");
        says(&on(&objects, "explain ns/vault"), &["WILL BE DELETED: "]);
    }
    let objects = [going("vault"), content, dead_webhook("", "configmaps")];
    let ran = on(&objects, "plan ns/vault");
    let told = ["STUCK: already being deleted; ", "waits for ConfigMap/rates", "guard.bank.dev"];
    says(&ran, &told);
    assert_eq!(ran.code, 2, "{ran}");
    says(&on(&objects, "explain ns/vault"), &["STUCK: ", "guard.bank.dev"]);
}

/// What a Terminating namespace still takes with it counts, at once and behind a finalizer: data first. One object in
/// it takes nothing more.
#[test]
fn a_terminating_namespace_loses_data() {
    let more = json!({"deletionTimestamp": DELETED});
    let owned = |more| object(LOCKER, "safe", held("bank.dev/keys", "locksmith", more));
    let pod = |more: Value| {
        let mut pod = object(("v1", "Pod"), "teller-0", more);
        pod["spec"] = json!({"containers": [{"name": "c", "image": "x"}]});
        pod
    };
    let rates = object(("v1", "ConfigMap"), "rates", json!({}));
    let all = |more: Vec<Value>| [vec![going("vault"), rates.clone()], claim("safe").to_vec(), more].concat();
    let safe = owned(more);
    let held_pod = pod(held("bank.dev/keys", "locksmith", json!({"deletionTimestamp": DELETED})));
    for (more, loss) in [
        (vec![safe.clone()], "1 volume loses data, 3 objects go, 2 stuck on bank.dev/keys."),
        (vec![safe.clone(), held_pod], "1 volume loses data later, 3 stuck on bank.dev/keys"),
    ] {
        let objects = all(more);
        let ran = on(&objects, "plan ns/vault");
        says(&ran, &["DATA LOSS: already being deleted; ", loss, "to keep the data, set", "■ STUCK"]);
        let refused = on(&objects, "plan ns/vault --deny-effect=data-loss");
        says(&refused, &["REFUSED: --deny-effect=data-loss forbids it"]);
        assert_eq!((ran.code, refused.code), (2, 2), "{ran}");
        assert!(on(&objects, "plan ns/vault -o name").done().contains("persistentvolumeclaim/gold"), "{ran}");
    }
    let ran = on(&all(vec![safe]), "plan cm/rates -n vault");
    says(&ran, &["DELETES: 1 object goes."]);
}

/// A claim that a pod still uses loses its data once the pod ends: being Terminating already is no reason for silence.
#[test]
fn a_claim_in_use_that_is_being_deleted_loses_its_data() {
    let [mut gold, volume] = claim("safe");
    gold["metadata"] = object!(("v1", "PersistentVolumeClaim"), "gold", {"deletionTimestamp": DELETED,
        "finalizers": ["kubernetes.io/pvc-protection"]})["metadata"]
        .clone();
    let pod = object!(("v1", "Pod"), "teller", {"spec": {"nodeName": "n1", "containers": [{"name": "c",
            "image": "x"}], "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]},
        "status": {"phase": "Running"}});
    let objects = [gold, volume, pod];
    let ran = on(&objects, "plan pvc/gold -n vault");
    says(&ran, &["DATA LOSS: already being deleted; 1 volume loses data later, 1 waits.", "! DATA LOSS"]);
    assert_eq!(ran.code, 2, "{ran}");
    says(&on(&objects, "plan pvc/gold -n vault --deny-effect=data-loss"), &["REFUSED: "]);
}

/// What a target that is being deleted takes with it is told, although its namespace is being deleted, too.
#[test]
fn what_goes_for_two_reasons_is_told() {
    for finalizer in ["bank.dev/keys", "foregroundDeletion"] {
        let more = json!({"deletionTimestamp": DELETED});
        let mut safe = object(LOCKER, "safe", held(finalizer, "locksmith", more));
        safe["metadata"]["finalizers"] = json!([finalizer]);
        let operator = {
            let mut operator = running("locksmith");
            operator["metadata"]["namespace"] = json!("away");
            operator
        };
        let objects = [vec![going("vault"), safe, operator], claim("safe").to_vec()].concat();
        let ran = on(&objects, "plan locker/safe -n vault");
        says(&ran, &["DATA LOSS: ", "already being deleted; ", "PersistentVolumeClaim/gold", "! DATA LOSS"]);
        assert_eq!(ran.code, 2, "{ran}");
    }
}

/// Thousands of dependents of an owner that is being deleted are no order to search: what is certain is called so.
#[test]
fn an_owner_of_thousands_goes_on_for_certain() {
    let owner = object(LOCKER, "safe", json!({"deletionTimestamp": DELETED, "finalizers": ["foregroundDeletion"]}));
    let dependent = |number: usize| {
        let more = json!({"ownerReferences": owners(LOCKER, &["safe"])});
        object(("v1", "ConfigMap"), &format!("c{number}"), more)
    };
    let objects: Vec<Value> = std::iter::once(owner).chain((0..3_000).map(dependent)).collect();
    for policy in ["foreground", "background"] {
        let plan = document(&objects, &format!("plan locker/safe -n vault --cascade={policy}"));
        assert_eq!(plan["verdict"]["result"], "deletes", "{:#}", plan["verdict"]);
        assert_eq!((&plan["verdict"]["counts"]["deleted"], &plan["simulatedOrders"]), (&json!(3_001), &json!(1)));
    }
}

/// A second delete of a waiting owner frees only that: what holds it up needs its finalizer removed.
#[test]
fn a_remedy_is_told_of_what_it_frees() {
    let waits = object(LOCKER, "safe", json!({"deletionTimestamp": DELETED, "finalizers": ["foregroundDeletion"]}));
    let mut owner = owners(LOCKER, &["safe"]);
    owner[0]["blockOwnerDeletion"] = json!(true);
    let more = json!({"deletionTimestamp": DELETED, "finalizers": ["bank.dev/keys"], "ownerReferences": owner});
    let objects = [waits, object(LOCKER, "inner", more), at_ten()];
    let (unblock, force) = ("unblock the owner: delete it again", "force-remove the finalizer");
    says(&on(&objects, "doctor"), &[unblock, force]);
    says(&on(&objects, "explain locker/safe -n vault"), &[unblock]);
    let ran = on(&objects, "explain locker/inner -n vault");
    says(&ran, &[force]);
    says_not(&ran, &[unblock]);
}

/// A controller that is being deleted itself, or whose namespace is, is not called running.
#[test]
fn a_controller_that_goes_does_not_run() {
    let safe = object(LOCKER, "safe", held("bank.dev/keys", "locksmith", json!({"deletionTimestamp": DELETED})));
    let mut of_away = running("locksmith");
    of_away["metadata"]["namespace"] = json!("away");
    let mut gone = running("locksmith");
    gone["metadata"]["deletionTimestamp"] = json!(DELETED);
    gone["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    for objects in [[safe.clone(), of_away, going("away")].to_vec(), [safe, gone].to_vec()] {
        let ran = on(&objects, "plan locker/safe -n vault");
        says(&ran, &["DEPENDS: "]);
        says_not(&ran, &["runs"]);
        assert_eq!(ran.code, 2, "{ran}");
        says(&on(&objects, "explain locker/safe -n vault"), &["DEPENDS: "]);
    }
}

/// Whoever is told to remove a finalizer, or that a policy refuses that, is told first which data goes then.
#[test]
fn a_remedy_says_which_data_goes() {
    let later = object(("v1", "ConfigMap"), "later", json!({"creationTimestamp": "2026-03-01T14:00:00Z"}));
    let safe = object(LOCKER, "safe", held("bank.dev/keys", "kubectl-edit", json!({"deletionTimestamp": DELETED})));
    let policy = object!(("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy"), "deny", {
        "namespace": null, "spec": {"failurePolicy": "Fail", "validations": [{"expression": "false"}],
            "matchConstraints": {"resourceRules": [{"apiGroups": ["bank.dev"], "apiVersions": ["*"],
            "operations": ["UPDATE"], "resources": ["lockers"]}]}}});
    let binding = object!(("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicyBinding"), "deny", {
        "namespace": null, "uid": "binding", "spec": {"policyName": "deny", "validationActions": ["Deny"]}});
    for (more, code) in [(vec![], "stuck-finalizer"), (vec![policy, binding], "policy-refuses")] {
        let objects = [vec![safe.clone(), later.clone()], claim("safe").to_vec(), more].concat();
        let ran = on(&objects, "doctor -n vault");
        says(&ran, &[code, "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data."]);
        says(&ran, &["Next  first keep the data: set the reclaim policy of its volume to Retain"]);
    }
}

/// A claim that another pod keeps loses nothing by the force-delete of one; the content of a snapshot has a policy of
/// another name.
#[test]
fn a_remedy_names_only_what_it_loses() {
    let later = object(("v1", "ConfigMap"), "later", json!({"creationTimestamp": "2026-03-01T14:00:00Z"}));
    let uses = |name: &str, more: Value| {
        let mut pod = object(("v1", "Pod"), name, more);
        pod["spec"] = json!({"nodeName": "n1", "containers": [{"name": "c", "image": "x"}],
            "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]});
        pod["status"] = json!({"phase": "Running"});
        pod
    };
    let held_pod = uses("one", held("bank.dev/keys", "kubectl-edit", json!({"deletionTimestamp": DELETED})));
    let [mut gold, volume] = claim("safe");
    gold["metadata"]["deletionTimestamp"] = json!(DELETED);
    gold["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    gold["metadata"]["ownerReferences"] = json!([]);
    let alone = vec![held_pod, gold, volume, later.clone()];
    let both = [alone.clone(), vec![uses("two", json!({}))]].concat();
    let finding = |objects: &[Value]| {
        let told = document(objects, "doctor -n vault --only=stuck-finalizer");
        told["findings"][0]["consequence"].as_str().unwrap().to_owned()
    };
    assert!(finding(&alone).contains("DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data."));
    assert!(!finding(&both).contains("DATA LOSS"), "{}", finding(&both));
    let mut snapshot = object(
        ("snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
        "s1",
        held("bank.dev/keys", "kubectl-edit", json!({"deletionTimestamp": DELETED})),
    );
    snapshot["spec"] = json!({"source": {"persistentVolumeClaimName": "gold"}});
    snapshot["status"] = json!({"boundVolumeSnapshotContentName": "c1", "readyToUse": true});
    let mut content = object(("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent"), "c1", json!({"namespace": null}));
    content["spec"] = json!({"deletionPolicy": "Delete", "driver": "x.y", "source": {"snapshotHandle": "h"},
        "volumeSnapshotRef": {"name": "s1", "namespace": "vault", "uid": "s1"}});
    let objects = [snapshot, content, later];
    for line in ["doctor -n vault", "plan volumesnapshot/s1 -n vault"] {
        says(&on(&objects, line), &["DATA LOSS: ", r#"/c1 --type=merge -p '{"spec":{"deletionPolicy":"Retain"}}'"#]);
    }
}

/// What goes by itself is not what a stuck object waits for.
#[test]
fn what_goes_by_itself_is_not_blamed() {
    let mut safe = object(LOCKER, "safe", held("bank.dev/keys", "nobody", json!({"deletionTimestamp": DELETED})));
    safe["metadata"]["finalizers"] = json!(["bank.dev/keys", "foregroundDeletion"]);
    let objects = [vec![safe], claim("safe").to_vec()].concat();
    let ran = on(&objects, "explain locker/safe -n vault");
    says(
        &ran,
        &[
            "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.",
            "Locker/safe is Terminating, and no controller is known to finish it.",
        ],
    );
    let ran = on(&objects, "doctor -n vault");
    says_not(&ran, &["Only then does the collector"]);
}

/// What the API server says is left keeps a namespace, whoever removes that.
#[test]
fn what_is_said_to_be_left_is_waited_for() {
    let mut namespace = going("vault");
    namespace["status"]["conditions"] = json!([{"type": "NamespaceContentRemaining", "status": "True",
        "reason": "SomeResourcesRemain", "message": "safes.bank.dev has 2 resource instances"}]);
    for line in ["plan ns/vault", "explain ns/vault"] {
        let ran = on(&[namespace.clone()], line);
        says(&ran, &["DEPENDS: ", "safes.bank.dev has 2 resource instances"]);
        assert_eq!(ran.code, if line.starts_with("plan") { 2 } else { 0 }, "{ran}");
    }
}

/// What the API server says of a CRD comes before what a dump of one object can't tell.
#[test]
fn the_conditions_of_a_lone_definition_are_believed() {
    let definition = failing_definition("could not list instances: no route");
    for line in ["plan crd/lockers.bank.dev", "explain crd/lockers.bank.dev"] {
        let ran = on_a_part(std::slice::from_ref(&definition), line);
        says(&ran, &["STUCK: ", "could not list instances: no route"]);
        says_not(&ran, &["UNSURE", "gc delete"]);
    }
}

/// A dead webhook that is called before updates keeps an operator from removing its finalizer, not the user from
/// deleting: the object stays, and all say why.
#[test]
fn a_webhook_keeps_an_operator_from_finishing() {
    let webhook = dead_webhook_before(&["UPDATE"], "bank.dev", "lockers");
    let safe = |more| object(LOCKER, "safe", held("bank.dev/keys", "locksmith", more));
    let live = [safe(json!({})), running("locksmith"), webhook.clone()];
    let ran = on(&live, "plan locker/safe -n vault");
    says(&ran, &["STUCK: 1 stuck on bank.dev/keys, ", "webhook guard.bank.dev must allow it and does not answer"]);
    says_not(&ran, &["REFUSED", "waits"]);
    let going = [safe(json!({"deletionTimestamp": DELETED})), running("locksmith"), webhook];
    says(&on(&going, "plan locker/safe -n vault"), &["STUCK: already being deleted; ", "guard.bank.dev"]);
    let ran = on(&going, "explain locker/safe -n vault");
    says(&ran, &["STUCK: ", "the webhook guard.bank.dev answers.", "ERROR webhook-unreachable"]);
    says_not(&ran, &["if its finalizer"]);
    let ran = on(&going, "doctor -n vault");
    says(&ran, &["before it changes lockers.bank.dev; "]);
    says(&ran, &["No controller can remove bank.dev/keys from Locker/safe -n vault: it stays Terminating until the "]);
    says_not(&ran, &["deletion-in-progress"]);
}

/// An owner that waits for dependents may wait for some that a dump lacks.
#[test]
fn an_owner_alone_may_have_to_wait() {
    for finalizer in ["foregroundDeletion", "orphan"] {
        let more = json!({"deletionTimestamp": DELETED, "finalizers": [finalizer]});
        let objects = [object(("apps/v1", "Deployment"), "vault", more)];
        let ran = on_a_part(&objects, "explain deployment/vault -n vault");
        says(&ran, &["UNSURE: "]);
        says_not(&ran, &["nothing blocks"]);
        assert!(ran.err.contains("Not in the dump"), "{ran}");
        let ran = on_a_part(&objects, "explain deployment/vault -n vault -o json");
        let told: Value = serde_json::from_str(&ran.done()).unwrap();
        let story = &told["explanations"][0];
        assert_eq!(
            (&story["next"]["action"], &story["end"]["certain"]),
            (&json!("Nothing"), &json!(false)),
            "{told:#}"
        );
        assert_eq!(told["complete"], false);
        says(&on_a_part(&objects, "doctor"), &["Dependents that could not be read may keep it."]);
        says(&on(&objects, "explain deployment/vault -n vault"), &["WILL BE DELETED"]);
    }
}

/// Whoever removes a finalizer is looked for before that is removed by hand: a workload that fails, one that is called
/// like the finalizer, one that gives it to other objects, or none at all.
#[test]
fn controllers_come_before_force() {
    let stuck = |finalizer: &str, program: &str| {
        object(LOCKER, "safe", held(finalizer, program, json!({"deletionTimestamp": DELETED})))
    };
    let later = object(("v1", "ConfigMap"), "later", json!({"creationTimestamp": "2026-03-01T14:00:00Z"}));
    let doctor = |objects: &[Value]| on(&[objects, std::slice::from_ref(&later)].concat(), "doctor -n vault");
    let ran = doctor(&[stuck("bank.dev/keys", "locksmith")]);
    let install = "Next  install or repair locksmith: it removes the finalizer, after its cleanup. See what runs\n";
    says(&ran, &[install, "or force-remove the finalizer (its cleanup will NOT run)"]);
    let mut failing = running("locksmith");
    failing["status"] = json!({"replicas": 1, "unavailableReplicas": 1});
    let ran = doctor(&[stuck("bank.dev/keys", "locksmith"), failing]);
    says(&ran, &["Next  see why Deployment/locksmith -n vault has no ready pod", "kubectl describe deployments"]);
    let ran = doctor(&[stuck("vault-operator.bank.dev/keys", "kubectl-edit"), running("vault-operator")]);
    says(
        &ran,
        &["Deployment/vault-operator -n vault may be its controller", "Next  see what Deployment/vault-operator"],
    );
    let others = object(LOCKER, "other", held("bank.dev/keys", "locksmith", json!({})));
    let ran = doctor(&[stuck("bank.dev/keys", "kubectl-edit"), others, running("locksmith")]);
    says(&ran, &["\"locksmith\" adds it to others: Deployment/locksmith -n vault has ready pods"]);
    says_not(&ran, &["unknown"]);
}

/// Who applies manifests, and a person's browser, give finalizers to others' objects and remove none.
#[test]
fn who_applies_a_finalizer_is_not_its_controller() {
    let later = object(("v1", "ConfigMap"), "later", json!({"creationTimestamp": "2026-03-01T14:00:00Z"}));
    for program in
        ["argocd-controller", "kustomize-controller", "Terraform", "HashiCorp", "pulumi-kubernetes", "Mozilla"]
    {
        let safe = object(LOCKER, "safe", held("bank.dev/keys", program, json!({"deletionTimestamp": DELETED})));
        let ran = on(&[safe, running(program), later.clone()], "doctor -n vault");
        says(&ran, &["stuck-finalizer: Locker/safe", &format!("{program:?}; owning controller unknown")]);
        says_not(&ran, &["install or repair", "has ready pods"]);
    }
}

/// The data of a blocked claim goes with it, whoever removes the finalizer: it can be kept first.
#[test]
fn the_data_of_a_blocked_claim_can_be_kept() {
    let later = object(("v1", "ConfigMap"), "later", json!({"creationTimestamp": "2026-03-01T14:00:00Z"}));
    let [mut gold, volume] = claim("safe");
    gold["metadata"] = object(
        ("v1", "PersistentVolumeClaim"),
        "gold",
        held("bank.dev/keys", "locksmith", json!({"deletionTimestamp": DELETED})),
    )["metadata"]
        .clone();
    let mut idle = running("locksmith");
    (idle["spec"]["replicas"], idle["status"]) = (json!(0), json!({}));
    for (controller, code) in [(vec![idle], "armed-deletion"), (vec![], "stuck-finalizer")] {
        let objects = [vec![gold.clone(), volume.clone(), later.clone()], controller].concat();
        let ran = on(&objects, "doctor -n vault");
        says(
            &ran,
            &[code, "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.", "Next  first keep the data"],
        );
        says_not(&ran, &["left behind", "the collector deletes"]);
    }
}

/// An owner whose operator runs, below it one whose operator runs, and below that a finalizer of nobody.
#[test]
fn what_gets_stuck_later_counts() {
    const DRAWER: (&str, &str) = ("bank.dev/v1", "Drawer");
    const BOX: (&str, &str) = ("bank.dev/v1", "Box");
    let of = |finalizer: &str, program: &str, kind, owner: &str| {
        held(finalizer, program, json!({"ownerReferences": owners(kind, &[owner])}))
    };
    let objects = [
        object(LOCKER, "safe", held("bank.dev/keys", "locksmith", json!({}))),
        object(DRAWER, "top", of("bank.dev/rails", "joiner", LOCKER, "safe")),
        object(BOX, "red", of("bank.dev/lid", "nobody", DRAWER, "top")),
        running("locksmith"),
        running("joiner"),
    ];
    let ran = on(&objects, "plan locker/safe -n vault");
    says(&ran, &["STUCK: 1 waits for Deployment/locksmith, which runs; then 1 stuck on bank.dev/lid, 2 later."]);
    let plan = document(&objects, "plan locker/safe -n vault");
    assert_eq!(plan["verdict"]["counts"]["stuck"], 1, "{:#}", plan["verdict"]);
    let waits = plan["verdict"]["reasons"].as_array().unwrap().iter().find(|reason| reason["kind"] == "waits");
    let message = waits.expect("it waits")["message"].as_str().unwrap();
    assert!(message.contains("Deployment/locksmith") && message.contains("Deployment/joiner"), "{message}");
    says_not(&on(&objects, "plan locker/safe -n vault --cascade=foreground"), &["nothing is stuck then"]);
}

/// Who orphans the dependents wants them: no other policy is offered, which deletes them.
#[test]
fn who_orphans_is_offered_no_other_policy() {
    let below = |more: Value| {
        let mut all = json!({"ownerReferences": owners(LOCKER, &["safe"])});
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        all
    };
    let hangs = below(json!({"finalizers": ["x.io/x"], "deletionTimestamp": DELETED}));
    let objects = [
        object(LOCKER, "safe", json!({})),
        object(("v1", "Secret"), "hangs", hangs),
        object(("v1", "Secret"), "precious", below(json!({}))),
    ];
    let ran = on(&objects, "plan locker/safe -n vault --cascade=orphan");
    says_not(&ran, &["in the background", "--propagation=background"]);
}

/// A webhook that keeps the collector from deleting what an owner waits for is connected with that owner.
#[test]
fn a_webhook_keeps_an_owner_that_waits() {
    let more = json!({"deletionTimestamp": DELETED, "finalizers": ["foregroundDeletion"]});
    let objects = [
        object(LOCKER, "safe", more),
        object(("v1", "ConfigMap"), "rates", json!({"ownerReferences": owners(LOCKER, &["safe"])})),
        object(("v1", "Service"), "other", json!({})),
        dead_webhook("", "configmaps"),
    ];
    says(&on(&objects, "explain locker/safe -n vault"), &["STUCK: ", "guard.bank.dev"]);
    let ran = on(&objects, "doctor -n vault");
    says(&ran, &["The collector's requests for Locker/safe and ConfigMap/rates -n vault are rejected"]);
    says_not(&ran, &["Nothing else keeps it"]);
    // What nothing waits for is refused, too, and takes more with it later.
    let mut books = object(("v1", "ConfigMap"), "books", json!({"ownerReferences": owners(LOCKER, &["safe"])}));
    books["metadata"]["ownerReferences"][0]["blockOwnerDeletion"] = json!(false);
    let page = object(("v1", "Secret"), "page", json!({"ownerReferences": owners(("v1", "ConfigMap"), &["books"])}));
    let objects = [&objects[..], &[books, page]].concat();
    says(&on(&objects, "doctor -n vault"), &["ConfigMap/books -n vault", "it deletes 3 existing objects"]);
    let ran = on(&objects, "explain secret/page -n vault");
    says(&ran, &["OK: nothing deletes Secret/page now: ", "once the webhook guard.bank.dev answers"]);
    says(&on(&objects, "plan locker/safe -n vault"), &["Secret/page   » later"]);
}

/// What an owner reference names in an old version, of another group, is the object with that uid.
#[test]
fn an_owner_that_has_moved_to_another_group() {
    let owners = json!([{"apiVersion": "extensions/v1beta1", "kind": "Deployment", "name": "teller", "uid": "teller"}]);
    let objects = [running("teller"), object(("v1", "ConfigMap"), "rates", json!({"ownerReferences": owners}))];
    says(&on_a_part(&objects, "doctor -n vault"), &["Deployment/teller (which exists as apps/v1)"]);
}

/// A pod that its controller creates again comes back also if it goes only later.
#[test]
fn what_goes_later_comes_back_later() {
    let set = object!(("apps/v1", "StatefulSet"), "db", {"spec": {"replicas": 1, "serviceName": "db",
            "selector": {"matchLabels": {"app": "db"}}, "template": {"metadata": {"labels": {"app": "db"}},
            "spec": {"containers": [{"name": "c", "image": "x"}]}}}, "status": {"replicas": 1, "readyReplicas": 1}});
    let controlled = json!([{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "db",
        "controller": true, "blockOwnerDeletion": true}]);
    let mut pod = object(
        ("v1", "Pod"),
        "db-0",
        held("bank.dev/keys", "locksmith", json!({"ownerReferences": controlled, "labels": {"app": "db"}})),
    );
    pod["spec"] = json!({"containers": [{"name": "c", "image": "x"}]});
    let ran = on(&[set, pod, running("locksmith")], "plan pod/db-0 -n vault");
    says(&ran, &["1 comes back", "StatefulSet/db"]);
}

/// What an owner reference that leads nowhere costs is told by `doctor` as by `explain`: behind an operator, too.
#[test]
fn what_is_lost_behind_an_operator_is_told_of_a_reference() {
    let more = json!({"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone"}]});
    let objects = [
        vec![object(LOCKER, "safe", held("bank.dev/keys", "locksmith", more)), running("locksmith")],
        vec![object(("v1", "ConfigMap"), "other", json!({}))],
        claim("safe").to_vec(),
    ]
    .concat();
    says(&on(&objects, "doctor -n vault"), &["DATA LOSS: PersistentVolumeClaim/gold -n vault may lose its data."]);
}

/// Once what the API server says of a CRD is mended, its instances go with all that they own: that counts now (R9.39).
#[test]
fn what_a_failing_definition_takes_later_counts() {
    let safe = object(LOCKER, "safe", json!({}));
    let objects = [vec![failing_definition("no route"), safe], claim("safe").to_vec()].concat();
    let ran = on(&objects, "plan crd/lockers.bank.dev");
    says(&ran, &["DATA LOSS: already being deleted; 1 volume loses data later, 1 stuck, 3 later.", "no route"]);
    let ran = on(&objects, "plan crd/lockers.bank.dev --deny-effect=data-loss");
    says(&ran, &["REFUSED: --deny-effect=data-loss forbids it"]);
    let ran = on(&objects, "doctor");
    says(
        &ran,
        &["definition-stuck", "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.", "first keep the"],
    );
}

/// An owner that waits for its dependents deletes a claim that a pod uses: the data goes with the pod.
#[test]
fn a_claim_that_a_waiting_owner_deletes_loses_its_data() {
    let safe = object(LOCKER, "safe", json!({"deletionTimestamp": DELETED, "finalizers": ["foregroundDeletion"]}));
    let pod = object!(("v1", "Pod"), "teller", {"spec": {"nodeName": "n1", "containers": [{"name": "c",
            "image": "x"}], "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]}});
    let [mut gold, volume] = claim("safe");
    gold["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    let objects = [safe, gold, volume, pod];
    let lost = "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.";
    for line in ["doctor -n vault", "explain pvc/gold -n vault", "explain locker/safe -n vault"] {
        says(&on(&objects, line), &[lost]);
    }
}

/// A pod that is being deleted lets a claim go that is, too.
#[test]
fn a_pod_that_is_being_deleted_lets_its_claim_go() {
    let mut pod =
        object(("v1", "Pod"), "teller", held("bank.dev/keys", "locksmith", json!({"deletionTimestamp": DELETED})));
    pod["spec"] = json!({"nodeName": "n1", "containers": [{"name": "c", "image": "x"}],
        "volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]});
    let [mut gold, volume] = claim("safe");
    let going = json!({"deletionTimestamp": DELETED, "finalizers": ["kubernetes.io/pvc-protection"]});
    gold["metadata"] = object(("v1", "PersistentVolumeClaim"), "gold", going)["metadata"].clone();
    let ran = on(&[pod, gold, volume], "plan pod/teller -n vault");
    says(&ran, &["DATA LOSS: already being deleted; 1 volume loses data later, 1 stuck on bank.dev/keys, 2 later."]);
}

/// An owner that orphans its dependents stays as long as the API server refuses that.
#[test]
fn an_owner_whose_dependents_may_not_be_orphaned_is_stuck() {
    let safe = object(LOCKER, "safe", json!({"deletionTimestamp": DELETED, "finalizers": ["orphan"]}));
    let rates = object(("v1", "ConfigMap"), "rates", json!({"ownerReferences": owners(LOCKER, &["safe"])}));
    let webhook = dead_webhook_before(&["UPDATE"], "", "configmaps");
    let ran = on(&[safe, rates.clone(), webhook.clone()], "explain locker/safe -n vault");
    says(&ran, &["STUCK: Locker/safe is Terminating until the webhook guard.bank.dev answers", "└─ ConfigMap/rates"]);
    says(&ran, &["The API server refuses that: "]);
    says_not(&ran, &["UNSURE", "within seconds", "no controller is known"]);
    // The same before the delete; what is left alone now is freed once the webhook answers.
    let objects = [object(LOCKER, "safe", json!({})), rates, webhook];
    let line = "plan locker/safe -n vault --cascade=orphan --fail-on=never";
    says(&on(&objects, line), &["STUCK: ", "has yet to free ConfigMap/rates"]);
    let then = document(&objects, line)["then"]["outcomes"].clone();
    let end = |name: &str| then.as_array().unwrap().iter().find(|it| it["object"]["name"] == name).cloned();
    assert_eq!(end("rates").unwrap()["outcome"], "Orphaned", "{then}");
}

/// What a webhook or a policy keeps from being deleted goes once somebody mends that (R9.39): data and gates count
/// now. Nothing comes of a target that may not be deleted.
#[test]
fn what_an_obstacle_prevents_goes_later() {
    let locked = object(LOCKER, "safe", held("bank.dev/keys", "locksmith", json!({})));
    let free = object(LOCKER, "safe", json!({}));
    for (safe, group, resource, operation) in
        [(locked, "bank.dev", "lockers", "UPDATE"), (free.clone(), "", "persistentvolumeclaims", "DELETE")]
    {
        let webhook = dead_webhook_before(&[operation], group, resource);
        let objects = [&[safe, running("locksmith"), webhook], &claim("safe")[..]].concat();
        let ran = on(&objects, "plan locker/safe -n vault");
        says(&ran, &["DATA LOSS: 1 volume loses data later, ", "are prevented", "» later", "once that is mended"]);
        let line = "plan locker/safe -n vault --fail-on=never";
        for gate in ["--deny-effect=data-loss", "--deny=pvc", "--max=1"] {
            says(&on(&objects, &format!("{line} {gate}")), &["REFUSED: "]);
        }
        assert!(on(&objects, &format!("{line} -o name")).done().contains("persistentvolumeclaim/gold"), "{ran}");
    }
    // What is held below is told, with its controller.
    let more = held("bank.dev/lid", "locksmith", json!({"ownerReferences": owners(LOCKER, &["safe"])}));
    let lid = object(("v1", "ConfigMap"), "lid", more);
    let objects = [free.clone(), lid, running("locksmith"), dead_webhook("", "configmaps")];
    let plan = document(&objects, "plan locker/safe -n vault --fail-on=never");
    let once = &plan["then"]["once"][0];
    assert_eq!((&once["object"]["name"], &once["finalizers"][0]), (&json!("lid"), &json!("bank.dev/lid")), "{plan}");
    let objects = [&[free, dead_webhook("bank.dev", "lockers")], &claim("safe")[..]].concat();
    let ran = on(&objects, "plan locker/safe -n vault");
    says(&ran, &["REFUSED: the API server refuses it"]);
    says_not(&ran, &["later", "DATA LOSS"]);
}

/// A controller that has more pods than it wants makes none again, and a Job that has finished makes no more.
#[test]
fn what_nobody_wants_does_not_come_back() {
    let set = ("apps/v1", "ReplicaSet");
    let replicas = |wanted: i64| {
        let mut web = object(set, "web", json!({}));
        web["spec"] = json!({"replicas": wanted, "selector": {"matchLabels": {"app": "web"}}});
        web["status"] = json!({"replicas": 2});
        web
    };
    let pods = ["a", "b"].map(|name| object(("v1", "Pod"), name, controlled(set, "web")));
    for (wanted, plan, told) in [
        (2, "pod/a", "1 comes back"),
        (1, "pod/a pod/b", "may create"),
        (1, "pod/a", "1 object goes; not certain"),
        (0, "pod/a pod/b", "2 objects go; not certain"),
    ] {
        let ran = on(&[&[replicas(wanted)], &pods[..]].concat(), &format!("plan {plan} -n vault"));
        says(&ran, &[told]);
        if told.ends_with("not certain") {
            says_not(&ran, &["again", "comes back"]);
        }
    }
    let sets = ("apps/v1", "StatefulSet");
    let mut db = object(sets, "db", json!({}));
    db["spec"] = json!({"replicas": 1, "ordinals": {"start": 2}, "selector": {"matchLabels": {"app": "db"}}});
    db["status"] = json!({"replicas": 2});
    let pods = ["db-2", "db-3"].map(|name| object(("v1", "Pod"), name, controlled(sets, "db")));
    let ran = on(&[&[db], &pods[..]].concat(), "plan pod/db-2 pod/db-3 -n vault");
    says(&ran, &["2 objects go; 1 comes back; not certain", "creates Pod/db-2 again"]);
    let mut job = object(("batch/v1", "Job"), "load", json!({}));
    job["spec"] = json!({"backoffLimit": 6, "selector": {"matchLabels": {"job-name": "load"}}});
    job["status"] = json!({"succeeded": 1, "conditions": [{"type": "Complete", "status": "True"}]});
    let pod = object(("v1", "Pod"), "load-x", controlled(("batch/v1", "Job"), "load"));
    says_not(&on(&[job, pod], "plan pod/load-x -n vault"), &["again"]);
}

/// A StatefulSet makes no pod before those in front of it are ready, a DaemonSet none where it wants none, and nobody
/// makes slices of a Service without selector.
#[test]
fn not_every_controller_that_stays_makes_it_again() {
    let kind = |kind| ("apps/v1", kind);
    let made_by = |owner, name: &str, of: &str, status: Value| {
        let mut pod = object(("v1", "Pod"), name, controlled(owner, of));
        pod["spec"] = json!({"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]});
        pod["status"] = status;
        pod
    };
    let ready = |is: &str| json!({"phase": "Running", "conditions": [{"type": "Ready", "status": is}]});
    for (policy, first, told) in [
        ("OrderedReady", "True", "1 comes back"),
        ("OrderedReady", "False", "may create Pod/db-1 again"),
        ("Parallel", "False", "1 comes back"),
    ] {
        let mut db = object(kind("StatefulSet"), "db", json!({}));
        db["spec"] = json!({"replicas": 2, "podManagementPolicy": policy});
        db["status"] = json!({"replicas": 2, "readyReplicas": 1});
        let pods =
            [("db-0", first), ("db-1", "True")].map(|(name, is)| made_by(kind("StatefulSet"), name, "db", ready(is)));
        let objects = [&[db, node("True", "2026-03-01T10:00:00Z")], &pods[..]].concat();
        says(&on(&objects, "plan pod/db-1 -n vault"), &[told]);
        says(&on(&objects, "plan pod/db-0 -n vault"), &["1 comes back"]);
    }
    // What keeps a pod in front, or a claim, Terminating holds it up, too.
    for (kept, name) in [("Pod", "db-0"), ("PersistentVolumeClaim", "data-db-1")] {
        let mut db = object(kind("StatefulSet"), "db", json!({}));
        (db["spec"], db["status"]) = (json!({"replicas": 2}), json!({"replicas": 2, "readyReplicas": 2}));
        let mut last = made_by(kind("StatefulSet"), "db-1", "db", ready("True"));
        last["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}]);
        let held = json!({"deletionTimestamp": "2026-03-01T09:00:00Z", "finalizers": ["bank.dev/backup"]});
        let mut held = object(("v1", kept), name, joined(controlled(kind("StatefulSet"), "db"), &held));
        (held["spec"], held["status"]) = (json!({"nodeName": "n1"}), json!({"phase": "Running"}));
        let objects = [db, last, held, node("True", "2026-03-01T10:00:00Z"), at_ten()];
        says(&on(&objects, "plan pod/db-1 -n vault"), &["may create Pod/db-1 again"]);
    }
    for (elsewhere, told) in [(0, "1 comes back"), (1, "may create Pod/agent-a again")] {
        let mut agent = object(kind("DaemonSet"), "agent", json!({}));
        agent["spec"] = json!({"selector": {"matchLabels": {"app": "agent"}}});
        agent["status"] = json!({"desiredNumberScheduled": 2, "numberMisscheduled": elsewhere});
        let objects = [
            agent,
            node("True", "2026-03-01T10:00:00Z"),
            made_by(kind("DaemonSet"), "agent-a", "agent", ready("True")),
        ];
        says(&on(&objects, "plan pod/agent-a -n vault"), &[told]);
    }
    for (selector, comes_back) in [(json!({"app": "web"}), true), (json!(null), false)] {
        let mut web = object(("v1", "Service"), "web", json!({}));
        web["spec"] = json!({ "selector": selector });
        let mut own = slice("web", "web-0");
        own["metadata"]["labels"]["endpointslice.kubernetes.io/managed-by"] = json!("endpointslice-controller.k8s.io");
        own["metadata"]["ownerReferences"] = controlled(("v1", "Service"), "web")["ownerReferences"].clone();
        let ran = on(&[web, own], "plan endpointslice/web-x -n vault");
        assert_eq!(ran.out.contains("1 comes back"), comes_back, "{ran}");
    }
}

/// R9.44: What limits the pods of a namespace has checked none that was there before, and a ReplicaSet says that its
/// last pod was refused.
#[test]
fn a_pod_that_is_older_than_a_limit_may_not_come_back() {
    let set = ("apps/v1", "ReplicaSet");
    let of = |beside: &[Value], conditions: Value| {
        let mut web = object(set, "web", json!({}));
        web["spec"] = json!({"replicas": 1, "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}});
        web["status"] = json!({ "replicas": 1, "conditions": conditions });
        let mut pod = object(("v1", "Pod"), "web-a", controlled(set, "web"));
        pod["spec"] = json!({"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]});
        pod["status"] = json!({"phase": "Running"});
        on(&[&[web, pod, node("True", "2026-03-01T10:00:00Z")], beside].concat(), "plan pod/web-a -n vault")
    };
    let later = |kind: (&str, &str), name: &str, spec: Value| {
        let mut later = object(kind, name, json!({"creationTimestamp": "2026-02-01T00:00:00Z"}));
        later["spec"] = spec;
        later
    };
    let quota = |hard: Value| vec![later(("v1", "ResourceQuota"), "q", json!({ "hard": hard }))];
    let range = vec![later(("v1", "LimitRange"), "l", json!({"limits": [{"type": "Container", "min": {"cpu": "1"}}]}))];
    let [mut policy, binding] = approval("pods");
    policy["spec"]["matchConstraints"]["resourceRules"][0]["operations"] = json!(["CREATE"]);
    policy["spec"]["validations"] = json!([{"expression": "has(object.metadata.labels)"}]);
    let younger = |mut it: Value| {
        it["metadata"]["creationTimestamp"] = json!("2026-02-01T00:00:00Z");
        it
    };
    let policies = vec![policy, younger(binding)];
    let failing = json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate"}]);
    for (beside, conditions, told) in [
        (vec![], json!([]), "1 comes back"),
        (quota(json!({"pods": "9"})), json!([]), "1 comes back"),
        (quota(json!({"requests.cpu": "9"})), json!([]), "may create Pod/web-a again"),
        (range, json!([]), "may create Pod/web-a again"),
        (policies, json!([]), "may create Pod/web-a again"),
        (vec![], failing, "may create Pod/web-a again"),
    ] {
        says(&of(&beside, conditions), &[told]);
    }
}

/// R9.22: the first failure of an index may be one too many, and so may be a pod whose Node is gone.
#[test]
fn a_job_may_fail_with_one_pod() {
    let jobs = ("batch/v1", "Job");
    let of = |spec: Value, status: Value| {
        let mut job = object(jobs, "sim", json!({}));
        job["spec"] = joined(json!({"backoffLimit": 2_147_483_647, "completionMode": "Indexed"}), &spec);
        job["status"] = status;
        let pods = [("sim-0", "n1"), ("sim-1", "n2")].map(|(name, node)| {
            let tracked = json!({"finalizers": ["batch.kubernetes.io/job-tracking"]});
            let mut pod = object(("v1", "Pod"), name, joined(controlled(jobs, "sim"), &tracked));
            pod["spec"] = json!({"nodeName": node, "containers": [{"name": "c", "image": "i"}]});
            pod["status"] = json!({"phase": "Running"});
            pod
        });
        let mut other = node("True", "2026-03-01T10:00:00Z");
        (other["metadata"]["name"], other["metadata"]["uid"]) = (json!("n2"), json!("n2"));
        [&[job, node("True", "2026-03-01T10:00:00Z"), other], &pods[..]].concat()
    };
    let per_index = |tries: i64, most: Value| json!({"backoffLimitPerIndex": tries, "maxFailedIndexes": most});
    for (spec, failed, told) in [
        (per_index(0, json!(0)), "", "2 objects go."),
        (per_index(0, json!(3)), "2,4-5", "2 objects go."),
        (per_index(0, json!(4)), "2,4-5", "1 object goes."),
        (per_index(0, json!(null)), "", "1 object goes."),
        (per_index(1, json!(0)), "", "UNSURE: 1 object goes; not certain."),
    ] {
        let ran = on(&of(spec.clone(), json!({ "failedIndexes": failed })), "plan pod/sim-0 -n vault");
        says(&ran, &[told]);
        assert_eq!(ran.out.contains("again"), spec["backoffLimitPerIndex"] != 0, "{ran}");
    }
    let disrupted = |action: &str| {
        let rule =
            |action: &str, of: &str| json!({"action": action, "onPodConditions": [{"type": of, "status": "True"}]});
        json!({"podFailurePolicy": {"rules": [rule("Ignore", "Other"), rule(action, "DisruptionTarget")]},
            "podReplacementPolicy": "Failed"})
    };
    // So may the code with which its containers end.
    let by_code = json!({"podFailurePolicy": {"rules": [{"action": "FailJob", "onExitCodes":
        {"operator": "NotIn", "values": [42]}}]}});
    says(&on(&of(by_code, json!({})), "plan pod/sim-0 -n vault"), &["UNSURE: ", "Pod/sim-1"]);
    for (action, told) in [("FailJob", "3 objects go."), ("Ignore", "2 objects go")] {
        let objects = of(disrupted(action), json!({}));
        says(&on(&objects, "plan node/n1"), &[told]);
        says(&on(&objects, "plan pod/sim-0 -n vault"), &["1 object goes"]);
    }
}

/// Of two controllers of one name, either may be the one; the one that doesn't run is no substitute for the other.
#[test]
fn a_namesake_that_does_not_run_is_no_substitute() {
    let safe = object(LOCKER, "safe", held("bank.dev/keys", "locksmith", json!({})));
    let mut idle = running("locksmith");
    idle["metadata"]["namespace"] = json!("elsewhere");
    idle["metadata"]["uid"] = json!("idle");
    idle["spec"]["replicas"] = json!(0);
    idle["status"] = json!({"replicas": 0});
    let objects = [safe, running("locksmith"), idle];
    let ran = on(&objects, "plan locker/safe -n vault");
    says(&ran, &["DEPENDS: ", "is scaled to 0, but Deployment/locksmith -n vault has ready pods"]);
    says(&on(&objects, "plan deploy/locksmith -n vault"), &["Locker/safe: stays, and cannot be deleted any more"]);
    says_not(&on(&objects, "plan deploy/locksmith -n elsewhere"), &["cannot be deleted any more"]);
}

/// A webhook that keeps an operator from finishing keeps a Terminating namespace, too: that isn't taken along by what
/// is in it.
#[test]
fn content_takes_no_namespace_along() {
    let webhook = dead_webhook_before(&["UPDATE"], "bank.dev", "lockers");
    let safe = object(LOCKER, "safe", held("bank.dev/keys", "locksmith", json!({"deletionTimestamp": DELETED})));
    let objects = [going("vault"), safe, running("locksmith"), webhook];
    let ran = on(&objects, "plan locker/safe -n vault -o name --fail-on=never");
    assert_eq!(ran.done(), "locker.bank.dev/safe\n");
}

/// A webhook whose pod is made again is not taken down: only the end of its workload does that.
#[test]
fn a_webhook_whose_pods_come_back_is_not_taken_down() {
    let (deployments, sets) = (("apps/v1", "Deployment"), ("apps/v1", "ReplicaSet"));
    let mut webhook = dead_webhook("", "configmaps");
    webhook["webhooks"][0]["clientConfig"] = json!({"service": {"name": "hook", "namespace": "vault"}});
    let service = object!(("v1", "Service"), "hook", {"spec": {"selector": {"app": "hook"}}});
    let slice = slice("hook", "hook-1-x");
    let mut set = object(sets, "hook-1", controlled(deployments, "hook"));
    set["spec"] = json!({"replicas": 1});
    let pod = object(("v1", "Pod"), "hook-1-x", controlled(sets, "hook-1"));
    let objects = [object(deployments, "hook", json!({})), set, pod, service, slice, webhook];
    for target in ["pod/hook-1-x", "rs/hook-1"] {
        let ran = on(&objects, &format!("plan {target} -n vault"));
        says(&ran, &["comes back"]);
        says_not(&ran, &["TAKES DOWN", "delete the webhook's configuration"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    says(&on(&objects, "plan deploy/hook -n vault"), &["TAKES DOWN: webhook guard.bank.dev"]);
    // One that is asked before its own pods are made again is.
    let mut itself = objects.clone();
    itself[5]["webhooks"][0]["rules"][0]["resources"] = json!(["configmaps", "pods"]);
    itself[5]["webhooks"][0]["rules"][0]["operations"] = json!(["CREATE", "DELETE"]);
    says(&on(&itself, "plan pod/hook-1-x -n vault"), &["TAKES DOWN: "]);
    // Nothing is made again in a namespace that is being deleted: what is in it waits for the webhook.
    let map = object(("v1", "ConfigMap"), "rates", json!({"finalizers": ["bank.dev/keys"]}));
    let objects = [&objects[..], &[going("vault"), map]].concat();
    says(&on(&objects, "plan pod/hook-1-x -n vault"), &["TAKES DOWN: "]);
    says(&on(&objects, "explain ns/vault"), &["■ STUCK            webhook guard.bank.dev must allow it"]);
    // A Deployment that pauses makes no ReplicaSet; a pod needs a Node.
    let mut paused = objects[0].clone();
    paused["spec"] = json!({"paused": true});
    paused["status"] = json!({"replicas": 1});
    let objects = [&[paused], &objects[1..6]].concat();
    says(&on(&objects, "plan rs/hook-1 -n vault"), &["TAKES DOWN: "]);
    let node = object(("v1", "Node"), "n1", json!({"namespace": null}));
    let objects = [&objects[..], &[node]].concat();
    says(&on(&objects, "plan pod/hook-1-x node/n1 -n vault"), &["TAKES DOWN: "]);
    // A DaemonSet makes the pod again while its Node is there; a ReplicationController on any Node.
    let others = [
        object(("v1", "Node"), "n1", json!({"namespace": null})),
        object(("v1", "Node"), "n2", json!({"namespace": null})),
    ];
    for (kind, is_bound) in [(("apps/v1", "DaemonSet"), true), (("v1", "ReplicationController"), false)] {
        let mut pod = object(("v1", "Pod"), "hook-1-x", controlled(kind, "hook"));
        pod["spec"] = json!({"nodeName": "n1"});
        let objects = [&[object(kind, "hook", json!({})), pod], &objects[3..6], &others].concat();
        says_not(&on(&objects, "plan pod/hook-1-x -n vault"), &["TAKES DOWN"]);
        let with_node = on(&objects, "plan pod/hook-1-x node/n1 -n vault");
        assert_eq!(with_node.out.contains("TAKES DOWN: "), is_bound, "{with_node}");
    }
}

/// What the API server refuses to delete is to be deleted all the same, also if only its owner goes.
#[test]
fn what_is_refused_below_is_connected_with_the_webhook() {
    let maps = ("v1", "ConfigMap");
    let gone = object(LOCKER, "safe", json!({"ownerReferences": owners(LOCKER, &["nix"])}));
    let below = object(maps, "rates", json!({"ownerReferences": owners(LOCKER, &["safe"])}));
    let objects = [gone, below.clone(), dead_webhook("", "configmaps")];
    says(
        &on(&objects, "explain cm/rates -n vault"),
        &["STUCK: ConfigMap/rates is to be deleted, but", "guard.bank.dev"],
    );
    says(&on(&objects, "doctor"), &["The collector's requests for ConfigMap/rates -n vault are rejected"]);
    let objects = [object(LOCKER, "safe", json!({})), below, dead_webhook("", "configmaps")];
    let told = "if Locker/safe is deleted, this object is to be deleted, too, but the API server refuses that";
    says(&on(&objects, "explain cm/rates -n vault"), &["OK: nothing deletes ConfigMap/rates", told]);
}

/// A remedy that a dead webhook refuses comes after what mends the webhook, unless that would let anything go.
#[test]
fn what_mends_a_webhook_comes_before_what_it_refuses() {
    let maps = ("v1", "ConfigMap");
    let own = object(maps, "selfie", json!({"ownerReferences": owners(maps, &["selfie"])}));
    let webhook = dead_webhook_before(&["UPDATE", "DELETE"], "", "configmaps");
    let objects = [own, webhook, object(LOCKER, "other", json!({}))];
    let line = "doctor --only=blocking-cycle";
    says(&on(&objects, line), &["Next  first allow writes while", "then remove"]);
    // The webhook spares this one.
    let spared = object(maps, "rates", json!({"ownerReferences": owners(LOCKER, &["nix"])}));
    let objects = [&objects[..], &[spared]].concat();
    for line in [line, "doctor --only=owner-absent"] {
        let ran = on(&objects, line);
        says(&ran, &["ValidatingWebhookConfiguration/guard refuses remedies below"]);
        says_not(&ran, &["first allow writes"]);
    }
    let ran = on(&objects, "explain cm/rates -n vault");
    says(&ran, &["STUCK: ConfigMap/rates is to be deleted", "is removed, this object is kept without an owner"]);
}

/// Who must act is named, also of two, and of what is Terminating already.
#[test]
fn whoever_must_act_is_named() {
    let safe = object(LOCKER, "safe", held("bank.dev/keys", "locksmith", json!({})));
    let drawer = object(LOCKER, "drawer", held("bank.dev/rails", "joiner", json!({})));
    let objects = [safe.clone(), drawer, running("locksmith"), running("joiner")];
    let ran = on(&objects, "plan locker/safe locker/drawer -n vault");
    says(&ran, &["2 wait for Deployment/joiner and Deployment/locksmith"]);
    // It isn't known whether such a workload is the controller.
    let more = json!({"deletionTimestamp": DELETED, "finalizers": ["locksmith.dev/f"]});
    let workload = object!(("apps/v1", "StatefulSet"), "locksmith-controller-manager", {"spec": {"replicas": 1}});
    let ran = on(&[going("vault"), object(LOCKER, "safe", more), workload], "plan ns/vault");
    says(&ran, &["waits for Locker/safe", "StatefulSet/locksmith-controller-manager -n vault may be its controller"]);
    says_not(&ran, &["cannot be foreseen"]);
    // A manifest says that none runs, without a status, too.
    let mut idle = running("locksmith");
    idle["spec"]["replicas"] = json!(0);
    idle.as_object_mut().unwrap().remove("status");
    says(&on(&[safe, idle], "plan locker/safe -n vault"), &["STUCK: ", "Deployment/locksmith", "is scaled to 0"]);
}

/// Of what stays for ever, the first few are named, however many they are.
#[test]
fn what_stays_for_ever_is_named() {
    let safe = object(LOCKER, "safe", json!({}));
    let mut owners = owners(("locks.bank.dev/v1", "Locker"), &["safe"]);
    owners[0]["apiVersion"] = json!("old.bank.dev/v1");
    let maps = ["a", "b", "c", "d", "e"]
        .map(|name| object(("v1", "ConfigMap"), name, json!({"ownerReferences": owners.clone()})));
    let ran = on(&[&[safe], &maps[..]].concat(), "plan locker/safe -n vault");
    says(&ran, &["ConfigMap/a, ConfigMap/b, ConfigMap/c and 2 more, each: stays for ever"]);
}
