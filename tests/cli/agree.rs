//! What several commands say of one thing, and what they say is lost, in dumps of a few objects.

use serde_json::{Map, Value, json};

use super::run::{OLD, Ran, finish, gc, program, words, write};

/// Runs a command line on these objects, which are the whole cluster.
pub(super) fn on(objects: &[Value], line: &str) -> Ran {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    finish(program().args(words(line)).args(["--assume-complete", "--from", "-"]).write_stdin(list))
}

/// Runs a command line on these objects, beside which there may be others.
pub(super) fn on_a_part(objects: &[Value], line: &str) -> Ran {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    finish(program().args(words(line)).args(["--from", "-"]).write_stdin(list))
}

pub(super) fn document(objects: &[Value], line: &str) -> Value {
    serde_json::from_str(&on(objects, &format!("{line} -o json")).done()).unwrap()
}

#[track_caller]
pub(super) fn says(ran: &Ran, texts: &[&str]) {
    for text in texts {
        assert!(ran.out.contains(text), "{text:?} is not in {ran}");
    }
}

#[track_caller]
pub(super) fn says_not(ran: &Ran, texts: &[&str]) {
    for text in texts {
        assert!(!ran.out.contains(text), "{text:?} is in {ran}");
    }
}

pub(super) const DELETED: &str = "2026-03-01T10:00:00Z";

/// The same as [`object`], with its fields as JSON.
macro_rules! object {
    ($kind:expr, $name:expr, $fields:tt) => {
        crate::agree::object($kind, $name, ::serde_json::json!($fields))
    };
}

/// What belongs into the metadata of an object, and not beside it.
const METADATA: &str = "annotations creationTimestamp deletionGracePeriodSeconds deletionTimestamp finalizers \
    generation labels managedFields name namespace ownerReferences resourceVersion uid";

/// An object in the namespace `vault`; its uid is its name. `more` has further fields, also of its metadata.
pub(super) fn object(kind: (&str, &str), name: &str, more: Value) -> Value {
    let metadata =
        json!({"name": name, "namespace": "vault", "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"});
    let mut object = json!({"apiVersion": kind.0, "kind": kind.1, "metadata": metadata});
    set_fields(&mut object, more.as_object().unwrap());
    object
}

/// Sets fields of an object, those of its metadata too.
pub(super) fn set_fields(object: &mut Value, fields: &Map<String, Value>) {
    for (key, value) in fields {
        let within = METADATA.split(' ').any(|of_metadata| of_metadata == key);
        (if within { &mut object["metadata"] } else { &mut *object })[key] = value.clone();
    }
}

/// An object of JSON with another one's fields.
pub(super) fn joined(mut one: Value, other: &Value) -> Value {
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

pub(super) fn owners(kind: (&str, &str), names: &[&str]) -> Value {
    let of = |name: &&str| {
        let (api_version, kind) = kind;
        json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": name, "blockOwnerDeletion": true})
    };
    names.iter().map(of).collect()
}

pub(super) const LOCKER: (&str, &str) = ("bank.dev/v1", "Locker");

/// A claim that a Locker owns, and its volume, whose data goes with it.
pub(super) fn claim(owner: &str) -> [Value; 2] {
    let claim = object!(("v1", "PersistentVolumeClaim"), "gold", {"ownerReferences": owners(LOCKER, &[owner]),
        "spec": {"volumeName": "pv1"}, "status": {"phase": "Bound"}});
    let made_by = json!({"pv.kubernetes.io/provisioned-by": "x.y"});
    let volume = object!(("v1", "PersistentVolume"), "pv1", {"namespace": null, "annotations": made_by,
        "spec": {"persistentVolumeReclaimPolicy": "Delete", "csi": {"driver": "x.y", "volumeHandle": "h"},
            "claimRef": {"namespace": "vault", "name": "gold", "uid": "gold"}}, "status": {"phase": "Bound"}});
    [claim, volume]
}

/// What comes next deletes: a command that keeps the data of some claims only would lose the others.
#[test]
fn the_command_that_keeps_data_names_every_volume() {
    let of = |number: usize| {
        let [mut claim, mut volume] = claim("none");
        let (claim_name, volume_name) = (format!("gold-{number}"), format!("pv-{number}"));
        claim["metadata"] = object(("", ""), &claim_name, json!({}))["metadata"].take();
        claim["spec"]["volumeName"] = json!(volume_name);
        volume["metadata"]["name"] = json!(volume_name);
        volume["metadata"]["uid"] = json!(volume_name);
        volume["spec"]["claimRef"]["name"] = json!(claim_name);
        volume["spec"]["claimRef"]["uid"] = json!(claim_name);
        [claim, volume]
    };
    for number in [1, 2, 12, 130] {
        let objects: Vec<Value> = (0..number).flat_map(of).collect();
        let ran = on(&objects, "plan pvc --all -n vault");
        let patches: Vec<&str> = ran.out.lines().filter(|line| line.contains("kubectl patch")).collect();
        let patched = |volume: usize| {
            let word = format!("persistentvolumes/pv-{volume} ");
            patches.iter().filter(|line| line.contains(&word)).count()
        };
        assert!((0..number).all(|volume| patched(volume) == 1), "{ran}");
        let document = document(&objects, "plan pvc --all -n vault");
        let next = document["next"].to_string();
        assert!((0..number).all(|volume| next.contains(&format!("persistentvolumes/pv-{volume} "))), "{next}");
    }
}

/// Of each object that goes by itself, explain says so, too.
#[test]
fn explain_knows_what_goes_by_itself() {
    let forecast: Value = serde_json::from_str(&gc(&["reclaim", "-A", "--from", OLD, "-o", "json"]).fine()).unwrap();
    let removals = forecast["removals"].as_array().unwrap();
    assert!(removals.len() > 8, "{forecast:#}");
    for removal in removals {
        let object = &removal["object"];
        let text = |key: &str| object[key].as_str().unwrap_or_default().to_owned();
        let target = format!("{}/{}", text("kind").to_lowercase(), text("name"));
        let place = Some(text("namespace")).filter(|namespace| !namespace.is_empty());
        let place: Vec<String> = place.into_iter().flat_map(|namespace| ["-n".to_owned(), namespace]).collect();
        let explain = |more: &[&str]| {
            gc(&[&["explain", &target, "--from", OLD], &place.iter().map(String::as_str).collect::<Vec<_>>()[..], more]
                .concat())
        };
        let told: Value = serde_json::from_str(&explain(&["-o", "json"]).done()).unwrap();
        let story = &told["explanations"][0];
        let ran = explain(&[]);
        if story["terminating"] == true {
            assert!(story["removal"].is_null(), "{story:#}");
            says_not(&ran, &["OK:"]);
            continue;
        }
        assert_eq!(&story["removal"], removal);
        let later = removal["reasons"][0]["when"]["kind"] == "Once";
        says(&ran, &[if later { "DEPENDS: " } else { "WILL BE DELETED: " }, "the ", " deletes "]);
        if later {
            says(&ran, &[" is deleted ", " once ", "Then  the "]);
        }
    }
}

/// A sweep's document has the verdict of its first line, and counts what remains.
#[test]
fn a_sweep_has_a_verdict() {
    let leftovers = "examples/leftovers.yaml";
    let ran = gc(&["sweep", "--dry-run", "--from", leftovers]);
    let told: Value =
        serde_json::from_str(&gc(&["sweep", "--dry-run", "--from", leftovers, "-o", "json"]).done()).unwrap();
    let verdict = &told["verdict"];
    let message = verdict["message"].as_str().unwrap();
    says(&ran, &[message]);
    assert!(message.starts_with("STUCK: "), "{message}");
    assert!(message.contains("2 stuck"), "{message}");
    assert_eq!((&verdict["result"], &verdict["counts"]["stuck"]), (&json!("stuck"), &json!(2)));
}

/// A webhook that nobody answers refuses what starts it, and keeps an object that it would let go.
#[test]
fn a_dead_webhook_that_refuses_its_own_start() {
    let place = |name: &str, kind| object(kind, name, json!({"namespace": "policy"}));
    let mut guard = place("guard", ("apps/v1", "Deployment"));
    guard["spec"] = json!({"replicas": 0, "selector": {"matchLabels": {"app": "guard"}},
        "template": {"metadata": {"labels": {"app": "guard"}}}});
    let mut service = place("front", ("v1", "Service"));
    service["spec"] = json!({"type": "ClusterIP", "selector": {"app": "guard"}});
    let webhook = |resources: Value| {
        object!(("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"), "guard", {
            "namespace": null, "webhooks": [{"name": "guard.policy.io", "failurePolicy": "Fail", "sideEffects": "None",
                "clientConfig": {"service": {"namespace": "policy", "name": "front"}}, "rules": [{"apiGroups": ["*"],
                "apiVersions": ["*"], "resources": resources, "operations": ["UPDATE", "DELETE"]}]}]})
    };
    let owner = json!({"ownerReferences": owners(LOCKER, &["gone"])});
    let kept = object(("v1", "ConfigMap"), "kept", owner);
    let objects = |resources: Value| {
        vec![guard.clone(), service.clone(), webhook(resources), kept.clone(), object(LOCKER, "other", json!({}))]
    };
    let first = |ran: &Value| {
        let findings = ran["findings"].as_array().unwrap().iter();
        let finding = findings.clone().find(|finding| finding["code"] == "webhook-unreachable").unwrap();
        let remedy = &finding["remedies"][0];
        (remedy["what"].as_str().unwrap().to_owned(), remedy["commands"][0].as_str().unwrap().to_owned())
    };
    let (what, command) = first(&document(&objects(json!(["*"])), "doctor"));
    assert!(what.contains("allow writes") && what.contains("then start what is behind its Service"), "{what}");
    assert!(command.starts_with("kubectl patch ") && command.contains(" && kubectl scale "), "{command}");
    let ran = on(&objects(json!(["*"])), "plan cm/kept -n vault");
    says(
        &ran,
        &[
            "allow writes while the webhook is unreachable",
            "which the webhook refuses before; set failurePolicy to Fail again",
            &command,
        ],
    );
    let ran = on(&objects(json!(["configmaps"])), "plan cm/kept -n vault");
    let start = "start what is behind its Service, and scaled to 0\n          kubectl scale ";
    says(&ran, &[start, "or delete the configuration and keep a copy"]);
    let objects = objects(json!(["configmaps"]));
    let (what, command) = first(&document(&objects, "doctor"));
    assert!(
        what.starts_with("start what is behind its Service") && what.ends_with("; that deletes 1 object"),
        "{what}"
    );
    assert!(command.starts_with("kubectl scale "), "{command}");
    // What lets the object go is no first step of what keeps it, and never active.
    let script = on(&objects, "doctor -o remedies");
    says(&script, &["\n# kubectl scale "]);
    says_not(&script, &["\nkubectl scale "]);
    says_not(&on(&objects, "doctor cm/kept -n vault --only=owner-absent"), &["kubectl scale"]);
    // Who deletes what has to be started makes that final.
    let ran = on(&objects, "plan deploy/guard -n policy");
    says(&ran, &["TAKES DOWN: ", "nobody can: Deployment/guard, which is scaled to 0 and serves it, goes"]);
    assert_eq!(ran.code, 2, "{ran}");
    // What goes with its namespace is not to be kept.
    let mut place = object(("v1", "Namespace"), "vault", json!({"namespace": null, "deletionTimestamp": DELETED}));
    place["spec"] = json!({"finalizers": ["kubernetes"]});
    let ran = on(&[&objects[..], &[place]].concat(), "doctor");
    says(&ran, &["owner-absent: ConfigMap/kept"]);
    says_not(&ran, &["keep the object"]);
    // A gate names the verdict that shut it.
    let ran = on(&objects, "plan cm/kept -n vault --fail-on=takes-down");
    says(&ran, &["--fail-on=takes-down: the API server would refuse it, which is worse."]);
}

/// What the collector would do may lose data: that is said, kept first, and never active in a script.
#[test]
fn a_remedy_that_loses_data_is_a_decision() {
    let waits = json!({"deletionTimestamp": DELETED, "finalizers": ["foregroundDeletion"]});
    let objects: Vec<Value> = [vec![object(LOCKER, "fg", waits)], claim("fg").to_vec()].concat();
    // Something later than a minute after the deletion.
    let late = object(("v1", "ConfigMap"), "late", json!({"creationTimestamp": "2026-03-01T12:00:00Z"}));
    let objects = [objects, vec![late]].concat();
    let found = document(&objects, "doctor");
    let finding = &found["findings"][0];
    assert_eq!(finding["code"], "collector-idle", "{found:#}");
    let loss = "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data";
    assert!(finding["consequence"].as_str().unwrap().contains(loss), "{finding:#}");
    let remedies = finding["remedies"].as_array().unwrap();
    assert_eq!(remedies[0]["what"], "first keep the data: set the reclaim policy of its volume to Retain");
    assert!(remedies[1]["what"].as_str().unwrap().contains(loss), "{finding:#}");
    assert_eq!(remedies[1]["decides"], true, "{finding:#}");
    let script = on(&objects, "doctor -o remedies");
    says(&script, &["\nkubectl patch persistentvolumes/pv1", "\n# kubectl gc sweep "]);
    says_not(&script, &["\nkubectl gc sweep"]);
    // The same of a claim whose owner is gone.
    let other = object(LOCKER, "other", json!({}));
    let found = document(&[claim("nobody").to_vec(), vec![other]].concat(), "doctor");
    let consequence = found["findings"][0]["consequence"].as_str().unwrap();
    assert_eq!(consequence, format!("The collector will delete it. {loss}."));
}

/// What the API server says of an object that is being deleted comes before what nobody has read.
#[test]
fn conditions_are_believed() {
    let remaining = json!([{"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain",
        "message": "Some resources are remaining: vaults.corp.dev has 2 resource instances"}]);
    let failed = json!([{"type": "NamespaceDeletionContentFailure", "status": "True",
        "reason": "ContentDeletionFailed", "message": "conversion webhook failed"}]);
    for (conditions, state, word) in [(remaining, "unknown", "DEPENDS"), (failed, "stuck", "STUCK")] {
        let namespace = object!(("v1", "Namespace"), "x", {"namespace": null, "deletionTimestamp": DELETED,
            "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating", "conditions": conditions}});
        let said = conditions[0]["message"].as_str().unwrap();
        let ran = on(std::slice::from_ref(&namespace), "explain ns/x");
        says(&ran, &[&format!("{word}: Namespace/x is Terminating. The API server says why"), said]);
        says_not(&ran, &["the namespace is empty", "will be deleted", "nothing blocks"]);
        assert_eq!(ran.out.split("▲").next().unwrap().matches(said).count(), 1, "{ran}");
        let told = document(std::slice::from_ref(&namespace), "explain ns/x");
        assert_eq!(told["explanations"][0]["end"]["state"], state, "{told:#}");
        let ran = on(&[namespace], "plan ns/x");
        says(&ran, &[&format!("{word}: "), "already being deleted; ", "the API server says: ", said]);
    }
    let definition = failing_definition("could not list");
    let ran = on(std::slice::from_ref(&definition), "explain crd/lockers.bank.dev");
    says(&ran, &["STUCK: ", "InstanceDeletionFailed: could not list"]);
    says_not(&ran, &["no instance left is deleted", "it is deleted"]);
    let ran = on(&[definition], "plan crd/lockers.bank.dev");
    says(&ran, &["STUCK: ", "the API server says: InstanceDeletionFailed: could not list"]);
    assert_eq!(ran.code, 2, "{ran}");
}

/// The CRD of Lockers, Terminating; the API server says why it can't delete them.
pub(super) fn failing_definition(message: &str) -> Value {
    object!(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "lockers.bank.dev", {
        "namespace": null, "deletionTimestamp": DELETED, "finalizers": ["customresourcecleanup.apiextensions.k8s.io"],
        "spec": {"group": "bank.dev", "scope": "Namespaced", "names": {"kind": "Locker", "plural": "lockers",
            "singular": "locker", "listKind": "LockerList"}, "versions": [{"name": "v1", "served": true,
            "storage": true}]}, "status": {"acceptedNames": {"plural": "lockers", "kind": "Locker"},
            "storedVersions": ["v1"], "conditions": [{"type": "Established", "status": "True"}, {"type": "Terminating",
            "status": "True", "reason": "InstanceDeletionFailed", "message": message}]}})
}

/// An owner that is being deleted already has a second end, too, and gates count it.
#[test]
fn what_follows_a_delete_of_before_is_planned() {
    let held = json!({"deletionTimestamp": DELETED, "finalizers": ["bank.dev/seal"]});
    let objects: Vec<Value> = [vec![object(LOCKER, "l1", held)], claim("l1").to_vec()].concat();
    let line = "plan locker/l1 -n vault";
    let ran = on(&objects, line);
    assert_eq!(ran.code, 2, "{ran}");
    says(&ran, &["DATA LOSS: already being deleted; 1 volume loses data later, 1 stuck on bank.dev/seal, 2 later."]);
    let ran = on(&objects, &format!("{line} --deny-effect=data-loss"));
    assert_eq!(ran.code, 2, "{ran}");
    says(&ran, &["REFUSED: "]);
    let named = on(&objects, &format!("{line} -o name")).done();
    assert_eq!(named.lines().count(), 3, "{named}");
}

/// Each object has one name, also where it has two ends.
#[test]
fn names_are_named_once() {
    let held = json!({"finalizers": ["bank.dev/seal"]});
    let objects: Vec<Value> = [vec![object(LOCKER, "l1", held)], claim("l1").to_vec()].concat();
    let named = on(&objects, "plan locker/l1 -n vault -o name").done();
    let mut lines: Vec<&str> = named.lines().collect();
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!((lines.len(), all), (3, 3), "{named}");
}

/// The API server logs a request about a Namespace as one in it, and a delete of many without a name.
#[test]
fn records_of_namespaces_and_collections_count() {
    let entry = |verb: &str, resource: &str, name: Option<&str>| {
        let name = name.map_or(json!({}), |name| json!({"name": name}));
        let of = joined(json!({"resource": resource, "namespace": "gone", "apiVersion": "v1"}), &name);
        json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "verb": verb,
            "user": {"username": "bob"}, "requestURI": "/", "responseStatus": {"code": 200},
            "requestReceivedTimestamp": "2026-03-01T10:00:00.000000Z",
            "objectRef": of})
    };
    let log = [entry("delete", "namespaces", Some("gone")), entry("deletecollection", "configmaps", None)];
    let log = log.map(|entry| entry.to_string()).join("\n");
    let folder = tempfile::tempdir().unwrap();
    let log = write(folder.path(), "audit.log", &log);
    let other = object(("v1", "ConfigMap"), "other", json!({}));
    let place = object(("v1", "Namespace"), "vault", json!({"namespace": null}));
    // Standard input can't be read twice.
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [other, place]}).to_string();
    let dump = write(folder.path(), "dump.json", &list);
    let explain = |target: &str| {
        let line = format!("explain {target} --evidence {log} --assume-complete --from {dump}");
        gc(&words(&line))
    };
    says(&explain("ns/gone"), &["bob deleted it"]);
    let ran = explain("cm/x -n gone");
    says(&ran, &["bob deleted all configmaps in namespace gone", "it may have been among these"]);
    // Nor has a dump any other of its kind.
    let log = write(folder.path(), "secret.log", &entry("delete", "secrets", Some("key")).to_string());
    let ran = gc(&words(&format!("explain secret/key -n gone --evidence {log} --from {dump}")));
    says(&ran, &["Secret/key -n gone is not in the dump.", "bob deleted it"]);
    let ran = gc(&words(&format!("explain secret/key -n gone --from {dump}")));
    says_not(&ran, &["Secret/key -n gone is not in the dump."]);
}

/// YAML in braces is no JSON.
#[test]
fn yaml_in_braces_is_read() {
    let text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: x, uid: u}}\n";
    let ran = finish(program().args(["tree", "-n", "x", "--from", "-"]).write_stdin(text));
    assert!(ran.fine().contains("1 without owners"));
}

/// What a ready workload must have, and the dump lacks, although it has others of that kind.
#[test]
fn what_was_selected_away_shuts_gates() {
    let workload = |kind: &str, api_version: &str, name: &str, spec: Value, status: Value| {
        let mut workload = object((api_version, kind), name, json!({}));
        workload["spec"] = spec;
        workload["status"] = status;
        workload
    };
    let selector = json!({"matchLabels": {"app": "x"}});
    let claims = json!({"selector": selector, "replicas": 2, "volumeClaimTemplates": [{"metadata": {"name": "d"}}],
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}});
    let ready = json!({"replicas": 2, "readyReplicas": 2});
    let objects = [
        workload("Deployment", "apps/v1", "web", json!({"selector": selector, "replicas": 2}), ready.clone()),
        workload("StatefulSet", "apps/v1", "db", claims, ready),
        workload("DaemonSet", "apps/v1", "log", json!({"selector": selector}), json!({"numberReady": 3})),
        workload("Job", "batch/v1", "import", json!({"selector": selector}), json!({"active": 1})),
        object(("apps/v1", "ReplicaSet"), "other", json!({})),
        object(("apps/v1", "ControllerRevision"), "other", json!({})),
        object(("v1", "PersistentVolumeClaim"), "other", json!({})),
        object(("v1", "Pod"), "other", json!({})),
    ];
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string();
    for (target, kind) in [
        ("deployment/web", "pods"),
        ("statefulset/db", "persistentvolumeclaims"),
        ("daemonset/log", "pods"),
        ("job/import", "pods"),
    ] {
        let line = format!("plan {target} -n vault --deny={kind} --from -");
        let ran = finish(program().args(words(&line)).write_stdin(list.clone()));
        assert_eq!(ran.code, 2, "{target}: {ran}");
        says(&ran, &["REFUSED: ", kind]);
    }
}

/// A controller that is started deletes what is below: the data is kept first, and then the dependents.
#[test]
fn an_armed_deletion_keeps_its_data_first() {
    let added = json!([{"manager": "locker-controller", "operation": "Update", "apiVersion": "bank.dev/v1",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:finalizers": {"v:\"bank.dev/locker\"": {}}}}}]);
    let held = json!({"deletionTimestamp": DELETED, "finalizers": ["bank.dev/locker"], "managedFields": added});
    let controller = object!(("apps/v1", "Deployment"), "locker-controller", {"spec": {"replicas": 0,
            "selector": {"matchLabels": {"app": "l"}}}, "status": {"replicas": 0}});
    let objects = [vec![controller, object(LOCKER, "held", held)], claim("held").to_vec()].concat();
    let found = document(&objects, "doctor");
    let finding = &found["findings"][0];
    assert_eq!(finding["code"], "armed-deletion", "{found:#}");
    let loss = "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.";
    assert!(finding["consequence"].as_str().unwrap().contains(loss), "{finding:#}");
    let remedies = finding["remedies"].as_array().unwrap();
    let told: Vec<&str> = remedies.iter().map(|remedy| remedy["what"].as_str().unwrap()).collect();
    assert_eq!(
        told[..3],
        [
            "first keep the data: set the reclaim policy of its volume to Retain",
            "keep its dependents: remove their references to it, then start the controller",
            "start the controller; then the collector deletes 1 existing object",
        ]
    );
    assert_eq!((&remedies[1]["decides"], &remedies[2]["decides"]), (&Value::Null, &json!(true)), "{finding:#}");
    // Who asks for the claim hears of it.
    says(&on(&objects, "doctor pvc/gold -n vault"), &["armed-deletion: Locker/held"]);
    let told = ["DATA LOSS: PersistentVolumeClaim/gold goes with Locker/held", "ERROR armed-deletion (Locker/held)"];
    says(&on(&objects, "explain pvc/gold -n vault"), &told);
    assert_eq!(on(&objects, "doctor pvc/gold -n vault").code, 2);
    let keeps = ["To keep that, delete Locker/held again", "--cascade=orphan"];
    says(&on(&objects, "explain locker/held -n vault"), &keeps);
    says(&on(&objects, "plan -A"), &["Deployment/locker-controller -n vault", "1 deleted, 1 stuck"]);
    // So does who plans a delete that needs the controller.
    let ran = on(&objects, "plan deploy/locker-controller -n vault");
    let see =
        "see first what is deleted once that runs, with Locker/held (DATA LOSS: PersistentVolumeClaim/gold loses its";
    let order = ["kubectl patch persistentvolumes/pv1", see, "start Deployment/locker-controller first"];
    let places: Vec<usize> =
        order.iter().map(|text| ran.out.find(text).unwrap_or_else(|| panic!("{text} {ran}"))).collect();
    assert!(places.is_sorted(), "{ran}");
}

/// A Deployment of this name with ready pods.
pub(super) fn running(name: &str) -> Value {
    let mut workload = object(("apps/v1", "Deployment"), name, json!({}));
    workload["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}});
    workload["status"] = json!({"replicas": 1, "readyReplicas": 1, "availableReplicas": 1});
    workload
}

/// The metadata of what a controller makes.
pub(super) fn controlled(kind: (&str, &str), uid: &str) -> Value {
    let mut owners = owners(kind, &[uid]);
    owners[0]["controller"] = json!(true);
    json!({"ownerReferences": owners})
}

/// A webhook that must be asked before objects of these resources are deleted, and whose Service doesn't exist.
pub(super) fn dead_webhook(group: &str, resource: &str) -> Value {
    dead_webhook_before(&["DELETE"], group, resource)
}

/// The same before other operations.
pub(super) fn dead_webhook_before(operations: &[&str], group: &str, resource: &str) -> Value {
    object!(("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"), "guard", {
        "namespace": null, "webhooks": [{"name": "guard.bank.dev", "failurePolicy": "Fail", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "clientConfig": {"service": {"name": "gone", "namespace": "vault"}},
            "rules": [{"apiGroups": [group], "apiVersions": ["*"], "operations": operations,
            "resources": [resource]}]}]})
}

/// The one endpoint of a Service: a pod that is ready.
pub(super) fn slice(service: &str, pod: &str) -> Value {
    object!(("discovery.k8s.io/v1", "EndpointSlice"), &format!("{service}-x"), {
        "labels": {"kubernetes.io/service-name": service}, "endpoints": [{"addresses": ["10.0.0.1"],
            "conditions": {"ready": true}, "targetRef": {"kind": "Pod", "name": pod, "namespace": "vault"}}]})
}

/// `metadata` of an object whose finalizer a program of this name has added.
pub(super) fn held(finalizer: &str, program: &str, more: Value) -> Value {
    let key = format!("v:\"{finalizer}\"");
    let fields = json!({"f:metadata": {"f:finalizers": {key: {}}}});
    let metadata = json!({"finalizers": [finalizer], "managedFields": [{"manager": program, "operation": "Update",
        "apiVersion": "v1", "time": "2026-03-01T10:30:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields}]});
    joined(metadata, &more)
}

/// What waits for an operator takes its dependents and their data with it: explain says so of each of them.
#[test]
fn explain_knows_what_follows_behind_an_operator() {
    let deleted = json!({"deletionTimestamp": DELETED});
    let holder = object(LOCKER, "safe", held("bank.dev/keys", "locksmith", deleted));
    let objects = [&[holder, running("locksmith")], &claim("safe")[..]].concat();
    let ran = on(&objects, "explain pvc/gold -n vault");
    says(
        &ran,
        &[
            "DATA LOSS: PersistentVolumeClaim/gold goes with Locker/safe once others act.",
            "PersistentVolumeClaim/gold goes with Locker/safe once Deployment/locksmith, which is running, removes \
             bank.dev/keys.",
            "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.",
        ],
    );
    let then = &document(&objects, "explain pvc/gold -n vault")["explanations"][0]["then"];
    assert_eq!(
        (&then["outcome"], &then["dataLost"], &then["certain"]),
        (&json!("Deleted"), &json!(true), &json!(true))
    );
    assert_eq!(then["once"][0]["by"], "Deployment/locksmith", "{then:#}");
    assert_eq!(document(&objects, "plan locker/safe -n vault")["then"]["once"], then["once"]);
    // Without the operator, nobody is known to go on.
    let ran = on(&[&objects[..1], &objects[2..]].concat(), "explain pvc/gold -n vault");
    says(&ran, &["DATA LOSS: PersistentVolumeClaim/gold goes with Locker/safe", "if Locker/safe is finally deleted"]);
}

/// Explain and plan say the same of what follows behind an operator: of an object that a finalizer of its own or a pod
/// keeps then, of one whose owner is deleted for good, whatever owns that, and of what an Application lists.
#[test]
fn explain_and_plan_agree_on_what_follows() {
    const ARGO: &str = "resources-finalizer.argocd.argoproj.io";
    let deleted = json!({"deletionTimestamp": DELETED});
    let safe = |more: Value| {
        let metadata = joined(held("bank.dev/keys", "locksmith", deleted.clone()), &more);
        object(LOCKER, "safe", metadata)
    };
    let mine = json!({"finalizers": ["ghost.io/never"], "ownerReferences": owners(LOCKER, &["safe"])});
    let user = object!(("v1", "Pod"), "user", {"spec": {"nodeName": "n", "containers": [], "volumes": [{"name": "v",
            "persistentVolumeClaim": {"claimName": "gold"}}]}, "status": {"phase": "Running"}});
    let mut used = claim("safe");
    used[0]["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    let grand = object(LOCKER, "grand", held("bank.dev/vault", "nobody", deleted.clone()));
    let below = safe(json!({"ownerReferences": owners(LOCKER, &["grand"])}));
    let app = json!({"finalizers": [ARGO], "deletionTimestamp": DELETED});
    let mut app = object(("argoproj.io/v1alpha1", "Application"), "bank", app);
    app["spec"] = json!({"destination": {"server": "https://kubernetes.default.svc", "namespace": "vault"}});
    app["status"] = json!({"resources": [
        {"version": "v1", "kind": "ConfigMap", "namespace": "vault", "name": "rates"}]});
    let argo = running("argocd-application-controller");
    let rates = object(("v1", "ConfigMap"), "rates", json!({}));
    let locksmith = || running("locksmith");
    let worlds: [(&str, Vec<Value>, &str, &str); 5] = [
        (
            "locker/safe",
            vec![safe(json!({})), locksmith(), object(("v1", "ConfigMap"), "mine", mine)],
            "cm/mine",
            "stays",
        ),
        ("locker/safe", [vec![safe(json!({})), locksmith(), user], used.to_vec()].concat(), "pvc/gold", "Pod/user is"),
        ("locker/safe", [vec![grand, below, locksmith()], claim("safe").to_vec()].concat(), "pvc/gold", "goes with L"),
        ("locker/safe", [vec![safe(json!({})), locksmith()], claim("safe").to_vec()].concat(), "pv/pv1", "goes with L"),
        ("application/bank", vec![app, argo, rates], "cm/rates", "goes with Application/bank once"),
    ];
    for (target, objects, below, text) in worlds {
        let plan = document(&objects, &format!("plan {target} -n vault"));
        let told = document(&objects, &format!("explain {below} -n vault"));
        let (story, ran) = (&told["explanations"][0], on(&objects, &format!("explain {below} -n vault")));
        let lost = story["then"]["dataLost"] == true;
        says(&ran, &[if lost { "DATA LOSS: " } else { "WAITS: " }, text]);
        let outcomes = plan["then"]["outcomes"].as_array().unwrap();
        let planned = outcomes.iter().find(|outcome| outcome["object"]["uid"] == story["object"]["uid"]);
        let planned = planned.unwrap_or_else(|| panic!("{below}: {plan:#}"));
        // Of its own finalizer, a plan says who must remove it, and goes on.
        let own = plan["then"]["once"].as_array().unwrap().iter().any(|once| once["object"] == planned["object"]);
        let ends = if own { &json!("Terminating") } else { &planned["outcome"] };
        assert_eq!(&story["then"]["outcome"], ends, "{below}: {plan:#}\n{ran}");
        for once in story["then"]["once"].as_array().unwrap() {
            assert!(plan["then"]["once"].as_array().unwrap().contains(once), "{below}: {once:#}\n{plan:#}");
        }
    }
    let two = json!({"finalizers": ["bank.dev/keys"], "deletionTimestamp": DELETED});
    let objects = [object(LOCKER, "safe", two), object(LOCKER, "other", json!({})), locksmith()];
    let owned = object(("v1", "ConfigMap"), "both", json!({"ownerReferences": owners(LOCKER, &["safe", "other"])}));
    let objects = [&objects[..], &[owned]].concat();
    says(&on(&objects, "explain cm/both -n vault"), &["OK: nothing deletes ConfigMap/both: its owners keep it."]);
}

/// A dump doesn't tell what a conversion webhook does that can't be reached.
#[test]
fn what_cannot_be_converted_is_not_certain() {
    let version = |name: &str, storage: bool| {
        json!({"name": name, "served": true, "storage": storage,
            "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}})
    };
    let definition = |versions: &[Value]| {
        object!(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "lockers.bank.dev", {
            "namespace": null, "spec": {"group": "bank.dev", "scope": "Namespaced", "versions": versions,
                "names": {"plural": "lockers", "singular": "locker", "kind": "Locker"},
                "conversion": {"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
                "clientConfig": {"service": {"name": "hook", "namespace": "away"}}}}},
            "status": {"conditions": [{"type": "Established", "status": "True"}], "storedVersions": ["v1"]}})
    };
    // So that it is known which Services there are.
    let service = object(("v1", "Service"), "other", json!({}));
    let certain = |versions: &[Value]| {
        let objects = [definition(versions), object(LOCKER, "safe", json!({})), service.clone()];
        let plan = document(&objects, "plan locker/safe -n vault");
        let assumes = plan["assumes"].as_array().unwrap();
        let tells = assumes.iter().any(|it| it.as_str().unwrap().contains("conversion webhook cannot be reached"));
        assert_eq!(plan["verdict"]["certain"] == false, tells, "{plan:#}");
        !tells
    };
    assert!(!certain(&[version("v1", true), version("v2", false)]));
    assert!(certain(&[version("v1", true)]), "there is nothing to convert");
}

/// What an Application lists is named where a dump lacks it, its kind included.
#[test]
fn what_a_dump_lacks_of_an_inventory_is_named() {
    let mut app = object!(("argoproj.io/v1alpha1", "Application"), "bank", {
        "finalizers": ["resources-finalizer.argocd.argoproj.io"]});
    app["spec"] = json!({"destination": {"server": "https://kubernetes.default.svc", "namespace": "vault"}});
    app["status"] = json!({"resources": [
        {"version": "v1", "kind": "ConfigMap", "namespace": "vault", "name": "rates"},
        {"group": "bank.dev", "version": "v1", "kind": "Vault", "namespace": "vault", "name": "deep"}]});
    let list = json!({"apiVersion": "v1", "kind": "List",
        "items": [app, object(("v1", "ConfigMap"), "rates", json!({}))]})
    .to_string();
    let line = "plan application/bank -n vault --from - -o json";
    let ran = finish(program().args(words(line)).write_stdin(list));
    let plan: Value = serde_json::from_str(&ran.done()).unwrap();
    assert!(plan.to_string().contains("2 objects; not in the dump: Vault/deep"), "{plan:#}");
    assert_eq!(plan["verdict"]["certain"], false);
}
