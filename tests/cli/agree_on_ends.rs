//! What `plan`, `explain` and `doctor` say of an end that another delete, a webhook or a controller decides.

use serde_json::{Value, json};

use super::agree::{
    DELETED, LOCKER, claim, dead_webhook, dead_webhook_before, document, failing_definition, held, object, on,
    on_a_part, owners, running, says, says_not,
};

/// A namespace that is being deleted.
fn going(name: &str) -> Value {
    object!(("v1", "Namespace"), name, {"namespace": null, "deletionTimestamp": DELETED,
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating"}})
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

/// Who applies manifests, and a person's browser, give finalizers to others' objects and remove none.
#[test]
fn who_applies_a_finalizer_is_not_its_controller() {
    let later = object(("v1", "ConfigMap"), "later", json!({"creationTimestamp": "2026-03-01T14:00:00Z"}));
    for program in
        ["argocd-controller", "kustomize-controller", "Terraform", "HashiCorp", "pulumi-kubernetes", "Mozilla"]
    {
        let safe = object(LOCKER, "safe", held("bank.dev/keys", program, json!({"deletionTimestamp": DELETED})));
        let ran = on(&[safe, running(program), later.clone()], "doctor -n vault");
        says(&ran, &["stuck-finalizer: Locker/safe", &format!("{program:?}; its controller is not known")]);
        says_not(&ran, &["install or repair", "has ready pods"]);
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
    says(&ran, &["STUCK: 1 object waits for Deployment/locksmith, which runs; then 1 stuck on bank.dev/lid, 2 later."]);
    let plan = document(&objects, "plan locker/safe -n vault");
    assert_eq!(plan["verdict"]["counts"]["stuck"], 1, "{:#}", plan["verdict"]);
    let waits = plan["verdict"]["reasons"].as_array().unwrap().iter().find(|reason| reason["kind"] == "waits");
    let message = waits.expect("it waits")["message"].as_str().unwrap();
    assert!(message.contains("Deployment/locksmith") && message.contains("Deployment/joiner"), "{message}");
    says_not(&on(&objects, "plan locker/safe -n vault --cascade=foreground"), &["nothing is stuck then"]);
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
