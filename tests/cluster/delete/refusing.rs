//! Deletes that the program refuses, before it changes anything.

use std::time::Duration;

use serde_json::json;

use super::kit::{Family, config_map};
use crate::harness::{Alone, Cluster, NOBODY, Options, VIEWER, shared};

/// Grants a user more rights in a namespace.
fn allow(cluster: &Cluster, namespace: &str, user: &str, rules: serde_json::Value) {
    let metadata = json!({"name": format!("more-for-{user}"), "namespace": namespace});
    cluster.create(
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}),
    );
    cluster.create(json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": metadata["name"]},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}],
    }));
}

/// kubectl habit: `delete` without a terminal | different: nothing is deleted without `--yes`
#[test]
fn without_a_terminal_nobody_can_agree() {
    let family = Family::of("unasked", 1);
    let ran = family.cluster.gc(&family.args(&[]));
    assert!(ran.expect(1).contains("ConfigMap/leaf-0"), "the plan is shown: {}", ran.stdout);
    assert!(ran.stderr.contains("no terminal") && ran.stderr.contains("--yes"), "{}", ran.stderr);
    assert_eq!(family.there().len(), 2);
}

#[test]
fn gates_keep_it_from_being_done() {
    let family = Family::of("gated", 1);
    for gate in ["--max=1", "--deny=configmaps"] {
        let ran = family.cluster.gc(&family.args(&["--yes", gate]));
        assert!(ran.expect(2).contains("Why   "), "{}", ran.stdout);
        assert!(ran.stderr.contains("Nothing was deleted"), "{}", ran.stderr);
        assert_eq!(family.there().len(), 2, "{gate}");
    }
    family.cluster.gc(&family.args(&["--yes", "--max=2", "--deny=pods"])).expect(0);
    assert_eq!(family.there(), [""; 0]);
}

/// Gates on what a delete means, not only on how much it deletes. A namespace's events count for `--deny` only.
#[test]
fn gates_on_effects_and_verdicts_keep_it_from_being_done() {
    let cluster = shared();
    let namespace = cluster.namespace("meaning");
    let path = format!("/api/v1/namespaces/{namespace}");
    let service = object!("v1 Service", {
        "name": "web", "namespace": namespace,
        "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]},
    });
    cluster.create(service);
    let held = json!({"name": "held", "namespace": namespace, "finalizers": ["argoproj.io/held"]});
    cluster.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": held}));
    let refused = |target: &str, gate: &str| {
        let ran = cluster.gc(&["delete", target, "-n", &namespace, "--yes", "-o", "json", gate]).ended(2);
        assert!(ran.stderr.contains("Nothing was deleted: a gate stops this delete."), "{gate}: {}", ran.stderr);
        let plan = ran.json();
        assert_eq!((&plan["kind"], &plan["verdict"]["result"]), (&json!("Plan"), &json!("refused")), "{plan:#}");
        assert_eq!(plan["gates"].as_array().map(Vec::len), Some(1), "{plan:#}");
    };
    refused("svc/web", "--deny-effect=external");
    refused("cm/held", "--fail-on=waits");
    refused("cm/held", "--fail-on=unsure");
    let now = |kind: &str, name: &str| cluster.get(&format!("{path}/{kind}/{name}")).expect("it is there");
    for object in [now("services", "web"), now("configmaps", "held")] {
        assert!(object["metadata"]["deletionTimestamp"].is_null(), "{object}");
    }
    cluster.patch(&format!("{path}/configmaps/held"), &json!({"metadata": {"finalizers": null}}));
    for number in 0..20 {
        cluster.create(object!("v1 Event", {
            "name": format!("e{number}"), "namespace": namespace,
            "involvedObject": {"apiVersion": "v1", "kind": "Service", "name": "web", "namespace": namespace},
            "reason": "Test",
            "type": "Normal",
        }));
    }
    let target = format!("ns/{namespace}");
    refused(&target, "--deny=events");
    // The namespace, the Service, and what every namespace has.
    let plan = cluster.gc(&["plan", &target, "-o", "json"]).json();
    let objects = plan["outcomes"].as_array().unwrap().len();
    assert!(objects < 12, "{plan:#}");
    refused(&target, &format!("--max={}", objects - 1));
    let max = format!("--max={objects}");
    let ran =
        cluster.gc(&["delete", &target, "--yes", "-o", "json", "--deny-effect=data-loss", "--fail-on=waits", &max]);
    let done = super::kit::checked(serde_json::from_str(ran.expect(0)).unwrap());
    assert_eq!(done["verdict"]["result"], "external", "{done:#}");
    assert!(cluster.get(&format!("/api/v1/namespaces/{namespace}")).is_none());
}

/// The program reports all missing rights at once, and deletes nothing.
#[test]
fn what_is_forbidden_is_told_before() {
    let family = Family::of("denied", 0);
    family.dependent("other");
    let (cluster, namespace) = (family.cluster, family.namespace.as_str());
    cluster.let_viewer_see(namespace);
    let rule =
        json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["third"], "verbs": ["delete"]}]);
    allow(cluster, namespace, VIEWER, rule);
    cluster.create(super::kit::config_map(namespace, "third", &[]));
    let delete = ["delete", "cm", "third", "root", "other", "-n", namespace, "--yes"];
    let ran = cluster.gc_as(VIEWER, &delete).ended(1);
    for name in ["root", "other"] {
        assert!(ran.stderr.contains(&format!("delete configmaps {name} in namespace {namespace}")), "{}", ran.stderr);
    }
    assert!(!ran.stderr.contains("delete configmaps third"), "{}", ran.stderr);
    assert_eq!(family.there(), ["other", "root", "third"]);
    // A delete that is allowed works, even if others are not.
    cluster.gc_as(VIEWER, &["delete", "cm/third", "-n", namespace, "--yes"]).expect(0);
    assert_eq!(family.there(), ["other", "root"]);
}

/// What admission refuses only once it is sent is a result, as a refusal that is foreseen: also if others are deleted.
#[test]
fn what_admission_refuses_once_it_is_sent_ends_with_2() {
    let cluster = Alone::start(&Options::default());
    let namespace = cluster.namespace("locked");
    let create = |name: &str, labels: serde_json::Value| {
        let metadata = json!({"name": name, "namespace": namespace, "labels": labels});
        cluster.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}));
    };
    create("locked", json!({"locked": "yes"}));
    create("free", json!({}));
    let rule = json!({"apiGroups": [""], "apiVersions": ["v1"], "resources": ["configmaps"], "operations": ["DELETE"]});
    let expression = "!has(oldObject.metadata.labels) || !('locked' in oldObject.metadata.labels)";
    let policy = |kind: &str, spec: serde_json::Value| {
        cluster.create(json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind,
            "metadata": {"name": "locked"}, "spec": spec}));
    };
    policy(
        "ValidatingAdmissionPolicy",
        json!({"matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression, "message": "it is locked"}]}),
    );
    policy("ValidatingAdmissionPolicyBinding", json!({"policyName": "locked", "validationActions": ["Deny"]}));
    let path = format!("/api/v1/namespaces/{namespace}/configmaps/locked");
    cluster.wait_until("the policy to refuse", Duration::from_secs(30), || {
        !cluster.ask(&http::Method::DELETE, &format!("{path}?dryRun=All"), None).is_success()
    });
    for (targets, more, says) in [
        (&["cm/locked"][..], "--dry-run=server", "error: the API server refuses to delete ConfigMap/locked: "),
        (&["cm/locked"], "--yes", "NOT DONE: nothing was deleted"),
        (&["cm/free", "cm/locked"], "--yes", "1 of 2 objects are deleted. 1 target was not deleted."),
    ] {
        let ran = cluster.gc(&[&["delete"], targets, &["-n", &namespace, more]].concat());
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == Some(2) && all.contains(says) && all.contains("it is locked"), "{:?} {all}", ran.code);
        assert!(cluster.get(&path).is_some());
    }
    assert!(cluster.get(&format!("/api/v1/namespaces/{namespace}/configmaps/free")).is_none());
}

/// No flag helps who may not delete: that comes first, and what can't be read needs no list then.
#[test]
fn what_the_user_may_not_do_comes_first() {
    let family = Family::of("viewing", 1);
    let (cluster, namespace) = (family.cluster, family.namespace.as_str());
    let rules = json!([{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch"]}]);
    allow(cluster, namespace, NOBODY, rules);
    for more in [&["--yes"][..], &["--dry-run"]] {
        let ran = cluster.gc_as(NOBODY, &family.args(more)).ended(1);
        let (_, error) = ran.stderr.split_once("error: ").expect("it fails");
        let begins = format!("nothing was deleted: you may not delete configmaps root in namespace {namespace}\n");
        assert!(error.starts_with(&begins) && error.contains("--print-role prints every right"), "{error}");
        assert!(!error.contains("--allow-incomplete") && error.lines().count() == 2, "{error}");
    }
}

/// A user who may not list all dependents can't know what a delete affects.
#[test]
fn what_may_be_hidden_has_to_be_allowed() {
    let family = Family::of("unseen", 1);
    let (cluster, namespace) = (family.cluster, family.namespace.as_str());
    let rules = json!([
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "list", "watch", "delete"]},
        {"apiGroups": ["apps"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
    ]);
    allow(cluster, namespace, NOBODY, rules);
    let ran = cluster.gc_as(NOBODY, &family.args(&["--yes"])).ended(1);
    let unread: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("  ")).collect();
    let [line] = unread[..] else { panic!("not one line: {}", ran.stderr) };
    let (begins, ends) = ("  user nobody may not list cronjobs.batch, ", format!(" more in namespace {namespace}"));
    assert!(line.starts_with(begins) && line.ends_with(&ends), "{line}");
    assert!(ran.stderr.ends_with("--allow-incomplete\n"), "{}", ran.stderr);
    assert_eq!(family.there().len(), 2);
    cluster.gc_as(NOBODY, &family.args(&["--yes", "--allow-incomplete"])).expect(0);
    assert_eq!(family.there(), [""; 0]);
}

/// With the roles that Kubernetes brings along, a user lacks a few lists in the namespace itself, and all lists of
/// cluster-scoped resources. Only the former may hide dependents.
#[test]
fn what_the_usual_roles_lack_is_named_and_allowed_by_type() {
    for (role, lacked) in [
        ("admin", &["csistoragecapacities.storage.k8s.io", "podtemplates", "widgets.gc.test"][..]),
        (
            "edit",
            &[
                "csistoragecapacities.storage.k8s.io",
                "podtemplates",
                "rolebindings.rbac.authorization.k8s.io",
                "roles.rbac.authorization.k8s.io",
                "widgets.gc.test",
            ],
        ),
    ] {
        let family = Family::of(role, 1);
        let (cluster, namespace) = (family.cluster, family.namespace.as_str());
        let user = format!("system:serviceaccount:{namespace}:{role}");
        let name = json!({"name": role, "namespace": namespace});
        cluster.create(json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": name}));
        // What the role aggregates: the controller that does it doesn't run here.
        for part in ["view", "edit", "admin"].iter().take(if role == "edit" { 2 } else { 3 }) {
            let part = format!("system:aggregate-to-{part}");
            cluster.create(object!("rbac.authorization.k8s.io/v1 RoleBinding", {
                "name": part, "namespace": namespace,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": part},
                "subjects": [{"kind": "ServiceAccount", "name": role, "namespace": namespace}],
            }));
        }
        let run = |more: &str| {
            let impersonated = format!("--as={user}");
            cluster.gc(&family.args(&["--yes", &impersonated, more]))
        };
        cluster.wait_until("the role binding to work", Duration::from_secs(30), || {
            let lacking = run("--dry-run=client").stderr;
            lacking.contains("Could not list: csistoragecapacities.storage.k8s.io, podtemplates, ")
                && lacking.contains("rolebindings") != (role == "admin")
        });
        for (allowed, hint) in [
            ("--allow-incomplete=false".to_owned(), lacked.join(",")),
            ("--allow-incomplete=PodTemplate".to_owned(), {
                let rest = lacked.iter().filter(|one| **one != "podtemplates").copied();
                ["podtemplates"].into_iter().chain(rest).collect::<Vec<_>>().join(",")
            }),
        ] {
            let ran = run(&allowed).ended(1);
            let (_, error) = ran.stderr.split_once("error: ").expect("it fails");
            let is_allowed = |one: &&str| allowed.ends_with("PodTemplate") && *one == "podtemplates";
            let lists: Vec<&str> = lacked.iter().copied().filter(|one| !is_allowed(one)).collect();
            assert_eq!(
                error,
                format!(
                    "nothing was deleted: what could not be read may change which objects are deleted:\n  user {user} \
                     may not list {} in namespace {namespace}\nAsk for the missing rights (--print-role prints all \
                     that this command needs), or go on without: --allow-incomplete={hint}\n",
                    lists.join(", ")
                )
            );
        }
        let unknown = run("--allow-incomplete=podtemplets").ended(1);
        assert!(unknown.stderr.contains("did you mean podtemplates?"), "{}", unknown.stderr);
        assert_eq!(family.there().len(), 2);
        run(&format!("--allow-incomplete={}", lacked.join(","))).expect(0);
        assert_eq!(family.there(), [""; 0]);
        on_a_terminal(&user, &lacked[..lacked.len() - 1]);
    }
}

/// A question names what the usual roles lack, and no flag is needed. What else is not read still needs one.
fn on_a_terminal(user: &str, lacked: &[&str]) {
    let namespace = user.split(':').nth(2).expect("a service account");
    let cluster = shared();
    cluster.create(config_map(namespace, "late", &[]));
    let impersonated = format!("--as={user}");
    let args = ["delete", "configmap/late", "-n", namespace, &impersonated];
    let (code, shown) = cluster.gc_on_terminal(&args).ends();
    assert!(code == Some(1) && shown.contains("widgets.gc.test"), "{shown}");
    let terminal = cluster.gc_on_terminal(&[&args[..], &["--allow-incomplete=widgets.gc.test"]].concat());
    terminal.shows(&format!("Not read: user {user} may not list {} in namespace {namespace}.", lacked.join(", ")));
    terminal.shows("What of these depends on what goes is deleted, too. Delete 1 object?");
    let (code, shown) = terminal.answered("y");
    assert!(code == Some(0) && shown.contains("DONE"), "{shown}");
}

/// R1.30.
/// kubectl flag: `--dry-run`, `--dry-run=server` | same: and the plan is shown
#[test]
fn dry_runs_change_nothing() {
    let family = Family::of("dry", 1);
    for dry in ["--dry-run", "--dry-run=client", "--dry-run=server"] {
        let ran = family.cluster.gc(&family.args(&[dry, "-o", "json"])).ended(0);
        assert_eq!((&ran.json()["kind"], &ran.json()["summary"]["deleted"]), (&json!("Plan"), &json!(2)), "{dry}");
        assert_eq!(family.there().len(), 2, "{dry}");
        family.cluster.gc(&family.args(&[dry])).expect(0);
    }
    let ran = family.cluster.gc(&family.args(&["--dry-run=server"]));
    assert!(ran.expect(0).contains("API server"), "{}", ran.stdout);
}

/// kubectl flag: `--ignore-not-found` | same
#[test]
fn what_is_not_there_is_an_error_unless_it_may_be_missing() {
    let cluster = shared();
    let namespace = cluster.namespace("missing");
    let missing = ["delete", "cm/nothing", "-n", &namespace, "--yes"];
    let ran = cluster.gc(&missing).ended(1);
    assert!(ran.stderr.contains("not found"), "{}", ran.stderr);
    let ran = cluster.gc(&[&missing[..], &["--ignore-not-found"]].concat());
    assert!(ran.expect(0).contains("no such object"), "{}", ran.stdout);
    let some = ["delete", "cm", "--all", "-l", "app=none", "-n", &namespace, "--yes"];
    cluster.gc(&some[..2]).expect(1);
    let ran = cluster.gc(&["delete", "secret", "--all", "-n", &namespace, "--yes"]);
    assert!(ran.expect(0).contains("no such object"), "{}", ran.stdout);
}

/// kubectl flag: `--cascade=orphan` of a Namespace or CRD | refused: its content can't be orphaned
#[test]
fn orphaning_what_is_in_a_namespace_is_refused() {
    let cluster = shared();
    let namespace = cluster.namespace("kept-content");
    let ran = cluster.gc(&["delete", &format!("ns/{namespace}"), "--cascade=orphan", "--yes"]).ended(1);
    assert!(ran.stderr.contains("orphan"), "{}", ran.stderr);
    let now = cluster.get(&format!("/api/v1/namespaces/{namespace}")).expect("it is there");
    assert!(now["metadata"]["deletionTimestamp"].is_null(), "{now}");
}
