//! Admission policies whose answer a plan can't know: what they may refuse or change is not certain.

use std::collections::BTreeSet;

use http::Method;
use serde_json::{Value, json};

use super::{obstacles::family, trial::Trial};
use crate::harness::{Alone, COLLECTOR, Cluster, NAMESPACES, PATIENCE, conforms, needs};

/// One policy, a delete of the owner, what the plan calls not certain, and what is left.
struct Row {
    /// ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
    kind: &'static str,
    resource: &'static str,
    operation: &'static str,
    spec: Value,
    policy: &'static str,
    unsure: &'static [&'static str],
    left: &'static [&'static str],
}

/// An update that puts the collector's finalizer back.
fn keeps_waiting() -> Value {
    let patch = r#"[JSONPatch{op: "add", path: "/metadata/finalizers", value: ["foregroundDeletion"]}]"#;
    json!({
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
    })
}

fn rows() -> Vec<Row> {
    let validates = |expression: &str| json!({"validations": [{"expression": expression}]});
    let mut never = validates("false");
    never["matchConditions"] = json!([{"name": "never", "expression": "false"}]);
    let row = |operation, spec, policy, unsure, left| Row {
        kind: "ValidatingAdmissionPolicy",
        resource: "configmaps",
        operation,
        spec,
        policy,
        unsure,
        left,
    };
    let mutating = |operation, policy, unsure, left| Row {
        kind: "MutatingAdmissionPolicy",
        resource: "widgets",
        ..row(operation, keeps_waiting(), policy, unsure, left)
    };
    let all: &[&str] = &["below", "first", "owner", "second"];
    vec![
        // R9.33: it refuses what the collector does, and no user's delete.
        row(
            "DELETE",
            validates("oldObject.metadata.name != 'first'"),
            "Background",
            &["below", "first", "second"],
            &["below", "first"],
        ),
        row(
            "UPDATE",
            validates("object.metadata.name != 'second'"),
            "Orphan",
            &["first", "owner", "second"],
            &["below", "first", "owner", "second"],
        ),
        row("DELETE", validates("object == null"), "Foreground", all, &[]),
        // It can refuse nothing.
        row("DELETE", validates("true"), "Foreground", &[], &[]),
        row("DELETE", never, "Foreground", &[], &[]),
        // R9.34: the owner gets its finalizer back with each update that takes it.
        mutating("UPDATE", "Foreground", &["owner"], &["owner"]),
        mutating("*", "Background", &[], &[]),
    ]
}

/// Puts the policy of a row in force in the namespace of the trial.
fn bind(trial: &Trial<'_>, row: &Row) {
    let rule = json!({"apiGroups": ["", "gc.test"], "apiVersions": ["v1"], "resources": [row.resource],
        "operations": [row.operation]});
    let mut spec = row.spec.clone();
    spec["matchConstraints"] = json!({"resourceRules": [rule]});
    trial.policy(row.kind, spec);
}

/// Waits until the policies are in force that were created last.
fn in_force(cluster: &Cluster, mutates: bool) {
    let probe = |kind: &str, spec: Value| {
        let trial = Trial::on(cluster, "probe", "Background");
        let [owner, ..] = family(&trial);
        let row = Row {
            kind: if kind == "refuses" { "ValidatingAdmissionPolicy" } else { "MutatingAdmissionPolicy" },
            resource: "widgets",
            operation: "UPDATE",
            spec,
            policy: "Background",
            unsure: &[],
            left: &[],
        };
        bind(&trial, &row);
        let path = format!("{}?dryRun=All", cluster.path_of(&owner));
        cluster.wait_until(&format!("a policy that {kind}"), PATIENCE, || {
            let body = json!({"metadata": {"labels": {"a": "b"}}});
            !cluster.ask(&Method::PATCH, &path, Some(("application/merge-patch+json", &body))).is_success()
        });
    };
    probe("refuses", json!({"validations": [{"expression": "false"}]}));
    if !mutates {
        return;
    }
    // What can't be computed is refused.
    let mut fails = keeps_waiting();
    fails["mutations"][0]["jsonPatch"]["expression"] =
        json!(r#"[JSONPatch{op: "add", path: "/no/such/path", value: object.metadata.missing}]"#);
    probe("mutates", fails);
}

#[test]
#[ignore = "long: a cluster of its own with policies"]
fn what_policies_may_refuse_or_change_is_not_certain() {
    let cluster = Alone::with(&[COLLECTOR, NAMESPACES]);
    let mut rows = rows();
    let mutates = needs(36, "the cases with a MutatingAdmissionPolicy: its v1 is not served before");
    rows.retain(|row| mutates || row.kind != "MutatingAdmissionPolicy");
    let trials: Vec<Trial<'_>> = rows
        .iter()
        .map(|row| {
            let trial = Trial::on(&cluster, "judged", row.policy);
            family(&trial);
            bind(&trial, row);
            trial
        })
        .collect();
    in_force(&cluster, mutates);
    cluster.settled();
    let plan = |trial: &Trial<'_>| -> Value {
        let policy = format!("--propagation={}", trial.policy.to_lowercase());
        let ran = cluster.gc(&["plan", "widget/owner", "-o", "json", "-n", &trial.namespace, &policy]);
        // What may be refused is an assumption: no reason to fail.
        ran.expect(0);
        conforms("plan", &ran.json());
        ran.json()
    };
    let is_young = |plan: &Value| plan["assumes"].to_string().contains("the collector already watches");
    cluster.wait_until("the kinds to be old", PATIENCE, || !trials.iter().any(|trial| is_young(&plan(trial))));
    for (row, trial) in rows.iter().zip(&trials) {
        let plan = plan(trial);
        let outcomes = plan["outcomes"].as_array().cloned().unwrap_or_default();
        let unsure = outcomes.iter().filter(|outcome| outcome["certain"] == false);
        let unsure: Vec<&Value> = unsure.collect();
        let name = |outcome: &&Value| outcome["object"]["name"].as_str().unwrap_or_default().to_owned();
        let names: BTreeSet<String> = unsure.iter().map(name).collect();
        let described = format!("{} {} {} {}", row.kind, row.operation, row.spec, row.policy);
        assert_eq!(names, row.unsure.iter().map(|name| (*name).to_owned()).collect(), "{described}: {plan:#}");
        assert!(unsure.iter().all(|outcome| outcome["uncertainBecause"] == "assumption"), "{plan:#}");
        let named = plan["assumes"].to_string().contains(&format!("{}/{}", row.kind, trial.namespace));
        assert_eq!(named, !row.unsure.is_empty(), "{described}: {plan:#}");
        // It asks before it deletes, and isn't refused.
        let args = ["delete", "widget/owner", "-n", &trial.namespace, "--yes", "--wait=false", "-o", "json"];
        let propagation = format!("--propagation={}", row.policy.to_lowercase());
        cluster.gc(&[&args[..], &[propagation.as_str()]].concat()).expect(0);
    }
    // What is called certain happens, and what isn't may not.
    let left = |trial: &Trial<'_>| -> BTreeSet<String> {
        let of = |path: String| cluster.list(&path).into_iter();
        let widgets = of(format!("/apis/gc.test/v1/namespaces/{}/widgets", trial.namespace));
        let maps = of(format!("/api/v1/namespaces/{}/configmaps", trial.namespace));
        let names =
            widgets.chain(maps).map(|object| object["metadata"]["name"].as_str().unwrap_or_default().to_owned());
        names.filter(|name| name != "kube-root-ca.crt").collect()
    };
    for (row, trial) in rows.iter().zip(&trials) {
        let expected: BTreeSet<String> = row.left.iter().map(|name| (*name).to_owned()).collect();
        let described = format!("{} {} {} {}", row.kind, row.operation, row.spec, row.policy);
        cluster.wait_until(&described, PATIENCE, || left(trial) == expected);
    }
    cluster.settled();
    for (row, trial) in rows.iter().zip(&trials) {
        assert_eq!(left(trial), row.left.iter().map(|name| (*name).to_owned()).collect(), "{}", row.spec);
    }
}
