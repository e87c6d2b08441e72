//! The second end of a plan: what follows once an operator has removed its finalizer.

use serde_json::Value;

use super::run::{Ran, gc, words, write};

const OPERATOR: &str = "tests/cli/dumps/operator.yaml";
const TOPICS: &str = "tests/cli/dumps/topics.yaml";

fn planned(line: &str, dump: &str) -> Ran {
    gc(&[&["plan"], &words(line)[..], &["--from", dump]].concat())
}

/// Kubernetes by itself deletes nothing; the operator, which is running, lets all of it go.
#[test]
fn what_an_operator_lets_go_is_told() {
    let ran = planned("pgcluster/orders -n db", OPERATOR);
    for told in [
        "DATA LOSS: 2 volumes lose data later, 1 waits for Deployment/pg-operator, 7 later; not certain.",
        "└─ StatefulSet/orders                      » later",
        "later  ! DATA LOSS",
        "Deployment/pg-operator runs",
    ] {
        assert!(ran.out.contains(told), "{told:?} is not in {ran}");
    }
    assert_eq!(ran.code, 2, "data can't be taken back");
    let kinds = "Then  8 objects are deleted (2 PersistentVolumeClaims, 2 PersistentVolumes, 2 Pods, 1 StatefulSet, 1 \
                 PgCluster)\n";
    let wide = planned("pgcluster/orders -n db -o wide", OPERATOR);
    assert!(wide.out.contains(kinds), "{wide}");
    assert_eq!(planned("pgcluster/orders -n db --fail-on=takes-down", OPERATOR).code, 0, "the operator runs");
    let names = planned("pgcluster/orders -n db -o name", OPERATOR).out;
    let all = ["pgcluster.acme.io/orders", "statefulset.apps/orders", "persistentvolumeclaim/data-orders-1"];
    assert!(all.iter().all(|name| names.lines().any(|line| line == *name)) && names.lines().count() == 8, "{names}");
}

#[test]
fn the_document_has_both_ends() {
    let plan: Value = serde_json::from_str(&planned("pgcluster/orders -n db -o json", OPERATOR).out).unwrap();
    let outcomes = |of: &Value| -> Vec<String> {
        let all = of["outcomes"].as_array().unwrap().iter();
        all.map(|one| format!("{} {}", one["object"]["name"].as_str().unwrap(), one["outcome"].as_str().unwrap()))
            .collect()
    };
    assert_eq!(outcomes(&plan), ["orders Terminating"]);
    assert_eq!(outcomes(&plan["then"]).len(), 8);
    assert!(outcomes(&plan["then"]).iter().all(|outcome| outcome.ends_with(" Deleted")), "{}", plan["then"]);
    let [once] = plan["then"]["once"].as_array().unwrap().as_slice() else { panic!("{}", plan["then"]["once"]) };
    assert_eq!((once["by"].as_str(), once["seen"].as_str()), (Some("Deployment/pg-operator"), Some("running")));
    assert_eq!(once["finalizers"], serde_json::json!(["pg.acme.io/finalizer"]));
    let effects = plan["then"]["effects"].as_array().unwrap();
    assert_eq!(effects.iter().filter(|effect| effect["kind"] == "data-loss").count(), 2, "{effects:?}");
    let counts = &plan["verdict"]["counts"];
    assert_eq!([&counts["terminating"], &counts["deletedLater"], &counts["dataLost"]], [1, 7, 2]);
    // Nothing waits: there is one end.
    let plan: Value = serde_json::from_str(&planned("sts/orders -n db -o json", OPERATOR).out).unwrap();
    assert!(plan["then"].is_null(), "{}", plan["then"]);
}

#[test]
fn gates_count_both_ends() {
    for gate in ["--deny-effect=data-loss", "--deny=pvc", "--max=7"] {
        let ran = planned(&format!("pgcluster/orders -n db {gate}"), OPERATOR);
        assert!(ran.code == 2 && ran.out.contains("Why   "), "{gate}: {ran}");
    }
    assert_eq!(
        planned("pgcluster/orders -n db --max=8 --deny=nodes --fail-on=never --assume-complete", OPERATOR).code,
        0
    );
}

/// A claim that is kept stays in both ends; what goes only in the second can be kept as well.
#[test]
fn what_goes_later_can_be_kept() {
    let ran = planned("pgcluster/orders -n db --keep=sts/orders -o json", OPERATOR);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    let kept: Vec<&str> =
        plan["kept"].as_array().unwrap().iter().filter_map(|one| one["object"]["kind"].as_str()).collect();
    assert_eq!(kept, ["StatefulSet"]);
    let then = plan["then"]["outcomes"].as_array().unwrap();
    assert!(then.iter().all(|one| one["object"]["kind"] == "PgCluster"), "{then:?}");
}

/// `kubectl get -o yaml` hides who set a finalizer. An operator that is called after its domain is found all the same.
#[test]
fn an_operator_is_found_by_its_name() {
    let dump = std::fs::read_to_string(OPERATOR).unwrap();
    let shown = |line: &&str| !line.trim_start().starts_with("- {manager:") && !line.contains("managedFields:");
    let hidden: String = dump.lines().filter(shown).collect::<Vec<_>>().join("\n");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("hidden.yaml");
    let plan = |dump: &str| {
        std::fs::write(&file, dump).unwrap();
        planned("pgcluster/orders -n db", file.to_str().unwrap())
    };
    let ran = plan(&hidden);
    assert!(
        ran.out.contains("\nDATA LOSS: 2 volumes may lose data, 1 waits for pg.acme.io/finalizer, 7 later;"),
        "{ran}"
    );
    assert!(ran.out.contains("Deployment/pg-operator -n ops may be its controller"), "{ran}");
    let ran = plan(&hidden.replace("replicas: 1,", "replicas: 0,").replace("readyReplicas: 1, ", "readyReplicas: 0, "));
    assert!(ran.out.contains("STUCK") && ran.out.contains("start the controller, Deployment/pg-operator"), "{ran}");
    assert!(ran.out.contains("kubectl scale deployments.apps/pg-operator -n ops --replicas=1"), "{ran}");
}

/// What only then becomes Terminating may never end: the verdict says so, whoever runs first.
#[test]
fn what_is_stuck_on_the_way_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = "metadata: {name: orders, namespace: db, uid: replica, finalizers: [FINALIZER], ownerReferences: \
                    [{apiVersion: acme.io/v1, kind: PgCluster, name: orders, uid: orders}]}";
    let dump = std::fs::read_to_string(OPERATOR).unwrap();
    let uid = dump.lines().skip_while(|line| !line.contains("kind: PgCluster")).find_map(|line| {
        line.split("uid: ").nth(1).map(|rest| rest.split([',', '}']).next().unwrap_or_default().to_owned())
    });
    let metadata = metadata.replace("uid: orders}", &format!("uid: {}}}", uid.unwrap()));
    let plan = |finalizer: &str, flags: &str| {
        let replica =
            format!("\n---\napiVersion: other.io/v1\nkind: Replica\n{}\n", metadata.replace("FINALIZER", finalizer));
        let file = write(folder.path(), "mid.yaml", &(dump.trim_end().to_owned() + &replica));
        planned(&format!("pgcluster/orders -n db {flags}"), &file)
    };
    let ran = plan("nobody.other.io/f", "");
    assert_eq!(ran.code, 2, "{ran}");
    for told in [
        "DATA LOSS: 2 volumes lose data later, 1 waits for pg.acme.io/finalizer; then 1 stuck; not certain.",
        "Then  Replica/orders stays Terminating until nobody.other.io/f is removed; then 9 objects",
        "check that the controller of nobody.other.io/f runs, then plan again",
    ] {
        assert!(ran.out.contains(told), "{told:?} is not in {ran}");
    }
    assert_eq!(plan("nobody.other.io/f", "--fail-on=stuck -o name").code, 2);
}

/// A workload that only its name makes the controller of a finalizer: who deletes it is told, and what to delete first.
#[test]
fn what_may_never_be_deleted_any_more_is_told() {
    let dump = std::fs::read_to_string(OPERATOR).unwrap();
    let shown = |line: &&str| !line.trim_start().starts_with("- {manager:") && !line.contains("managedFields:");
    let hidden: String = dump.lines().filter(shown).collect::<Vec<_>>().join("\n");
    let folder = tempfile::tempdir().unwrap();
    let file = write(folder.path(), "hidden.yaml", &hidden);
    for (dump, told, kind) in [
        (OPERATOR, "PgCluster/orders -n db: stays, and cannot be deleted any more", "abandoned"),
        (&file, "PgCluster/orders -n db: stays, and may not be deletable any more: by its name,", "perhaps-abandoned"),
    ] {
        let ran = planned("deploy/pg-operator -n ops", dump);
        assert!(ran.out.contains(told), "{told:?} is not in {ran}");
        assert!(ran.out.contains("must go, too: delete first, while Deployment/pg-operator runs; see what"), "{ran}");
        let plan: Value = serde_json::from_str(&planned("deploy/pg-operator -n ops -o json", dump).out).unwrap();
        assert_eq!(plan["notes"][0]["kind"], kind, "{}", plan["notes"]);
    }
    // What `plan pgcluster/orders` names as its possible controller is named the other way round, too.
    for name in ["acme", "acme-connect-injector"] {
        let file = write(folder.path(), "renamed.yaml", &hidden.replace("pg-operator", name));
        let ran = planned("pgcluster/orders -n db", &file);
        assert!(ran.out.contains(&format!("Deployment/{name} -n ops may be its controller")), "{ran}");
        let ran = planned(&format!("deploy/{name} -n ops"), &file);
        assert!(ran.out.contains("PgCluster/orders -n db: stays, and may not be deletable any more"), "{ran}");
    }
    // Both go: which goes first is not known, and one order works.
    let ran = planned("ns/ops ns/db --assume-complete", OPERATOR);
    assert!(
        ran.out.contains("kubectl gc delete pgclusters.acme.io/orders --archive=pgcluster-orders-db.yaml -n db"),
        "{ran}"
    );
}

/// Somebody's entry in `spec.finalizers` is removed, too, in the second end.
#[test]
fn an_entry_of_others_in_the_spec_is_removed_later() {
    let folder = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: db, uid: ns}\nspec: {finalizers: [kubernetes, \
                acme.io/ns]}\n";
    let file = write(folder.path(), "namespace.yaml", text);
    let ran = planned("ns/db --assume-complete", &file);
    assert!(ran.out.contains("once that is mended, Namespace/db is deleted"), "{ran}");
    assert_eq!(planned("ns/db --assume-complete -o name", &file).out, "namespace/db\n");
}

/// What a target waits for that is being deleted already, and where more of that stands.
#[test]
fn what_is_being_deleted_already_says_what_it_waits_for() {
    let folder = tempfile::tempdir().unwrap();
    let text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, uid: ns, deletionTimestamp: \
                '2026-02-01T00:00:00Z'}\nspec: {finalizers: [kubernetes]}\nstatus: {phase: Terminating}\n---\n\
                apiVersion: v1\nkind: ConfigMap\nmetadata: {name: held, namespace: shop, uid: held, \
                deletionTimestamp: '2026-02-01T00:00:00Z', finalizers: [example.com/x]}\n";
    let file = write(folder.path(), "dying.yaml", text);
    for (target, stuck, waits, next) in [
        ("ns/shop", "; 2 stuck on example.com/x.\n", "waits for ConfigMap/held", "--assume-complete namespaces/shop"),
        (
            "cm/held -n shop",
            "; 1 stuck on example.com/x, 1 later.\n",
            "finalizer",
            "--assume-complete configmaps/held -n shop",
        ),
    ] {
        let ran = planned(&format!("{target} --assume-complete"), &file);
        let told = "STUCK: ";
        assert_eq!(ran.code, 2, "{ran}");
        assert!(
            [told, " is already being deleted; ", stuck, waits, next].iter().all(|told| ran.out.contains(told)),
            "{ran}"
        );
    }
}

/// The operator runs, and goes with the namespace: who deletes its topics first gets rid of them, and perhaps of what
/// is in Kafka.
#[test]
fn what_an_operator_must_finish_goes_before_the_operator() {
    let ran = planned("ns/tenant-a", TOPICS);
    let next = ran.out.split("\nNext").nth(1).unwrap_or_default();
    for told in [
        "delete first, while Deployment/kafka-entity-operator runs; see what that takes along",
        "kubectl gc plan --from tests/cli/dumps/topics.yaml kafkatopics.kafka.strimzi.io/kafka-orders -n tenant-a",
        "then plan again",
    ] {
        assert!(next.contains(told), "{told:?} is not in {ran}");
    }
    assert!(!next.contains("is running"), "{next}");
    assert_eq!(ran.code, 2);
}

/// What an Application lists and the dump lacks may go, too: the plan is not sure of it, and gates count it.
#[test]
fn what_is_listed_and_was_not_read_may_go() {
    let plan = |flags: &str| planned(&format!("application/shop -n argocd {flags}"), "tests/cli/dumps/inventory.yaml");
    let ran = plan("--deny=secrets");
    assert!(ran.code == 2 && ran.out.contains("--deny=secrets"), "{ran}");
    assert!(ran.err.contains("Not in the dump, so they may exist: ") && ran.err.contains("secrets"), "{ran}");
    let document = |flags: &str| -> Value { serde_json::from_str(&plan(&format!("{flags} -o json")).out).unwrap() };
    let gaps = |document: &Value| {
        let all = document["gaps"].as_array().unwrap().iter();
        all.map(|gap| format!("{}@{}", gap["resource"], gap["namespace"]).replace('"', "")).collect::<Vec<_>>()
    };
    assert!(gaps(&document("")).contains(&"secrets@shop".to_owned()), "{:?}", gaps(&document("")));
    assert_eq!(document("")["complete"], false);
    // What it doesn't list stays where it is.
    assert!(!gaps(&document("")).contains(&"persistentvolumeclaims@shop".to_owned()), "{:?}", gaps(&document("")));
    let whole = document("--assume-complete --deny=secrets");
    assert_eq!((&whole["complete"], gaps(&whole)), (&Value::Bool(true), Vec::new()));
}
