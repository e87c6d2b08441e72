//! Operators that lose in a delete what they need to finish it: ServiceAccounts, roles and bindings (R9.46), and what
//! their objects name (R9.47).

use serde_json::{Value, json};

use super::{
    agree::{object, on, running, says, says_not},
    field::{at_ten, namespace},
    operators::held,
    run::Ran,
};

const RBAC: &str = "rbac.authorization.k8s.io";
const CLUSTERS: (&str, &str) = ("postgres.acme.io/v1", "PgCluster");
const FINALIZER: &str = "postgres.acme.io/cleanup";

/// An object in the operator's namespace.
fn elsewhere(mut object: Value) -> Value {
    object["metadata"]["namespace"] = json!("operators");
    object
}

fn operator() -> Value {
    let mut operator = elsewhere(running("pg-operator"));
    operator["spec"]["template"] = json!({"spec": {"serviceAccountName": "pg"}});
    operator
}

fn account() -> Value {
    elsewhere(object(("v1", "ServiceAccount"), "pg", json!({})))
}

fn cluster(more: Value) -> Value {
    held(CLUSTERS, "orders", FINALIZER, "pg-operator", more)
}

/// A role with one rule, and a binding that gives it to the operator.
fn gives(kind: &str, name: &str, verb: &str, resource: &str) -> [Value; 2] {
    let place = if kind == "ClusterRole" { json!(null) } else { json!("vault") };
    let of = |kind: &str, uid: &str| {
        let kind = (&*format!("{RBAC}/v1"), kind);
        object(kind, name, json!({"namespace": place, "uid": format!("{uid}-{name}")}))
    };
    let (mut role, mut binding) = (of(kind, "role"), of(&format!("{kind}Binding"), "binding"));
    role["rules"] = json!([{"apiGroups": ["postgres.acme.io"], "resources": [resource], "verbs": ["get", verb]}]);
    binding["roleRef"] = json!({"apiGroup": RBAC, "kind": kind, "name": name});
    binding["subjects"] = json!([{"kind": "ServiceAccount", "namespace": "operators", "name": "pg"}]);
    [role, binding]
}

fn plan(more: &[Value], what: &str) -> Ran {
    let objects = [&[namespace(json!({})), cluster(json!({})), operator(), account(), at_ten()], more].concat();
    on(&objects, &format!("plan {what}"))
}

const LOST: &str = "Deployment/pg-operator loses the right to change it: ";
const FIRST: &str = "delete first, while Deployment/pg-operator has what it needs";

/// The rules of an aggregated ClusterRole are those of its parts: a part that goes takes what it alone gives.
#[test]
fn a_part_of_an_aggregated_role_gives_rights() {
    let [mut role, binding] = gives("ClusterRole", "all", "patch", "pgclusters");
    role["aggregationRule"] = json!({"clusterRoleSelectors": [{"matchLabels": {"to": "all"}}]});
    let part = |name: &str, verb: &str| {
        let [mut part, _] = gives("ClusterRole", name, verb, "pgclusters");
        part["metadata"]["labels"] = json!({"to": "all"});
        part
    };
    let with = |parts: &[Value]| plan(&[&[role.clone(), binding.clone()], parts].concat(), "clusterrole/part -n vault");
    let stays = ["PgCluster/orders", "stays, and may not be deletable any more: what lets the controller", FIRST];
    says(&with(&[part("part", "patch"), part("other", "list")]), &stays);
    says_not(&with(&[part("part", "patch"), part("other", "update")]), &stays[1..]);
    says_not(&with(&[part("part", "list"), part("other", "patch")]), &stays[1..]);
}

/// What is left behind can't be deleted any more, and what is being deleted hangs.
#[test]
fn what_an_operator_may_no_longer_change_hangs() {
    let here = gives("Role", "pg", "patch", "pgclusters");
    let everywhere = gives("ClusterRole", "pg", "update", "pgclusters");
    let stays = ["PgCluster/orders", "stays, and may not be deletable any more: what lets the controller", FIRST];
    for what in ["rolebinding/pg -n vault", "role/pg -n vault", "sa/pg -n operators"] {
        says(&plan(&here, what), &stays);
        // It has another.
        if !what.starts_with("sa/") {
            says_not(&plan(&[&here[..], &everywhere].concat(), what), &stays[1..]);
        }
    }
    for what in ["clusterrolebinding/pg", "clusterrole/pg", "sa/pg -n operators"] {
        says(&plan(&everywhere, what), &stays);
        let deleted = cluster(json!({"deletionTimestamp": "2026-03-01T09:59:00Z"}));
        let objects = [&[deleted, operator(), account(), at_ten()], &everywhere[..]].concat();
        let ran = on(&objects, &format!("plan {what}"));
        says(&ran, &["DEPENDS: ", "◊ DEPENDS", LOST, "wait first until PgCluster/orders"]);
        assert_eq!(ran.code, 2, "{ran}");
    }
    // With its controller, that counts.
    let ran = plan(&everywhere, "deploy/pg-operator sa/pg -n operators");
    says(&ran, &["stays, and cannot be deleted any more: the controller that removes its finalizer goes"]);
    says_not(&ran, &stays[1..2]);
}
