//! Operators that lose in a delete what they need to finish it: ServiceAccounts, roles and bindings (R9.46), and what
//! their objects name (R9.47).

use serde_json::{Value, json};

use super::{
    agree::{object, on, running, says, says_not},
    field::{at_ten, namespace},
    operators::held,
    run::{Ran, with_input},
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
const HAS_NONE: &str = "Deployment/pg-operator runs, but has no right to change it: no role lets operators/pg";
const FIRST: &str = "delete first, while Deployment/pg-operator has what it needs";

/// The namespace controller deletes the binding before the operator has removed its finalizer.
#[test]
fn a_namespace_goes_with_the_rights_of_an_operator() {
    let here = gives("Role", "pg", "patch", "pgclusters");
    for what in ["ns/vault", "pgcluster/orders rolebinding/pg -n vault"] {
        let ran = plan(&here, what);
        says(&ran, &["DEPENDS: ", LOST, "RoleBinding/pg goes in this delete, too", FIRST]);
        says(&ran, &["kubectl gc delete pgclusters.postgres.acme.io/orders --archive=orders.yaml -n vault"]);
        assert_eq!(ran.code, 2, "{ran}");
    }
    let ran = plan(&here, "pgcluster/orders role/pg -n vault");
    says(&ran, &["DEPENDS: ", LOST, "Role/pg goes in this delete, too"]);
    // A role that does not exist gives nothing; one that was not read may.
    let ran = plan(&here[1..], "ns/vault");
    says(&ran, &["DEPENDS: ", HAS_NONE]);
    says_not(&ran, &[LOST]);
    let mut objects = [cluster(json!({})), namespace(json!({})), operator(), here[1].clone()].to_vec();
    objects[3]["roleRef"]["kind"] = json!("ClusterRole");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    let ran = with_input(&["plan", "ns/vault", "--from", "-"], list.to_string());
    says(&ran, &["DEPENDS: ", "Deployment/pg-operator may lose the right to change it: "]);
}

/// Whoever keeps the right by another binding, or has it from nothing that goes, is counted on.
#[test]
fn who_keeps_a_right_is_counted_on() {
    let here = gives("Role", "pg", "patch", "pgclusters");
    let everywhere = |verb, resource| gives("ClusterRole", "all", verb, resource);
    let of_group = |group: &str| {
        let mut all = everywhere("*", "*");
        all[1]["subjects"] = json!([{"kind": "Group", "name": group}]);
        all
    };
    let kept = [
        everywhere("update", "*"),
        everywhere("*", "pgclusters"),
        of_group("system:serviceaccounts:operators"),
        of_group("system:serviceaccounts"),
    ];
    for other in kept {
        let ran = plan(&[&here[..], &other].concat(), "ns/vault");
        says(&ran, &["WAITS: ", "Deployment/pg-operator runs"]);
        assert_eq!(ran.code, 0, "{ran}");
    }
    let lost = [
        everywhere("delete", "pgclusters"),
        everywhere("update", "pgclusters/status"),
        of_group("system:serviceaccounts:vault"),
    ];
    for other in lost {
        let ran = plan(&[&here[..], &other].concat(), "ns/vault");
        says(&ran, &["DEPENDS: ", LOST]);
    }
    // A binding that gives the right to somebody else is none of its own: it may be another who acts.
    let mut other = here.clone();
    other[1]["subjects"][0]["name"] = json!("web");
    says(&plan(&other, "ns/vault"), &["WAITS: ", "Deployment/pg-operator runs"]);
    // One that gives it something else loses nothing in this delete: it has no right before.
    let mut named = here.clone();
    named[0]["rules"][0]["resourceNames"] = json!(["others"]);
    for none in [gives("Role", "pg", "list", "pgclusters"), gives("Role", "pg", "patch", "secrets"), named.clone()] {
        let ran = plan(&none, "ns/vault");
        says(&ran, &["DEPENDS: ", HAS_NONE]);
        says_not(&ran, &[LOST]);
    }
    named[0]["rules"][0]["resourceNames"] = json!(["orders"]);
    says(&plan(&named, "ns/vault"), &[LOST]);
}

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

/// An operator that is only starting has the same to lose.
#[test]
fn an_operator_that_starts_loses_as_much() {
    let mut starting = operator();
    starting["metadata"]["creationTimestamp"] = json!("2026-03-01T09:59:30Z");
    starting["status"] = json!({"replicas": 1});
    let objects = [&[namespace(json!({})), cluster(json!({})), starting, at_ten()][..]].concat();
    let ran = on(&objects, "plan pgcluster/orders -n vault");
    says(&ran, &["WAITS: ", "Deployment/pg-operator runs"]);
    let objects = [&objects[..], &gives("Role", "pg", "patch", "pgclusters")].concat();
    says(&on(&objects, "plan ns/vault"), &["DEPENDS: ", LOST]);
    let mut own = objects[2].clone();
    own["metadata"]["namespace"] = json!("vault");
    let ran = on(&[&objects[..2], &[own, at_ten()]].concat(), "plan deploy/pg-operator pgcluster/orders -n vault");
    says(&ran, &["DEPENDS: ", "Deployment/pg-operator goes in this delete, too"]);
}

fn secret() -> Value {
    object(("v1", "Secret"), "admin", json!({}))
}

fn user(spec: Value) -> Value {
    let mut user = held(("postgres.acme.io/v1", "PgUser"), "app", FINALIZER, "pg-operator", json!({}));
    user["spec"] = spec;
    user
}

fn with_user(spec: Value, more: &[Value], what: &str) -> Ran {
    let objects = [&[namespace(json!({})), operator(), account(), at_ten(), user(spec)], more].concat();
    on(&objects, what)
}

/// The operator needs the Secret for its clean-up, and the server for its users. Only the user first works.
#[test]
fn what_a_spec_names_goes_with_the_namespace() {
    let named = json!({"adminSecret": {"name": "admin"}});
    let needs = "Deployment/pg-operator may need Secret/admin, which goes in this delete, too";
    let with = with_user(named.clone(), &[secret()], "plan ns/vault");
    says(&with, &["DEPENDS", needs, FIRST, "kubectl gc delete pgusers.postgres.acme.io/app"]);
    assert_eq!(with.code, 2);
    // Its own namespace keeps what isn't deleted, and who names nothing needs nothing.
    let alone = with_user(named.clone(), &[secret()], "plan pgusers/app -n vault");
    says_not(&alone, &["DEPENDS", "may need"]);
    assert_eq!(alone.code, 0);
    let other = with_user(json!({"adminSecret": {"name": "other"}, "name": "admin"}), &[secret()], "plan ns/vault");
    says_not(&other, &["Secret/admin,"]);
    // What it owns is its own.
    let mut own = secret();
    own["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "postgres.acme.io/v1", "kind": "PgUser", "name": "app", "uid": "app"}]);
    says_not(&with_user(named.clone(), &[own], "plan ns/vault"), &["DEPENDS", "may need"]);

    let server = || cluster(json!({}));
    let of_server = json!({"pgCluster": {"name": "orders"}});
    let both = with_user(of_server.clone(), &[server()], "plan ns/vault");
    says(&both, &["may need PgCluster/orders, which goes in this delete, too", FIRST]);
    // The users of what is deleted by itself are left behind.
    let before = with_user(of_server, &[server()], "plan pgclusters/orders -n vault");
    says(&before, &["PgUser/app", "its spec names what goes in this delete", "pgusers.postgres.acme.io/app -n vault"]);
    let secret_alone = with_user(named, &[secret()], "plan secret/admin -n vault");
    says(&secret_alone, &["PgUser/app", "its spec names what goes in this delete"]);
}

#[test]
fn what_a_spec_names_is_missing() {
    let named = json!({"adminSecret": {"name": "admin"}});
    let lacks = "may need Secret/admin, which does not exist";
    let plan = with_user(named.clone(), &[], "plan pgusers/app -n vault");
    says(&plan, &["DEPENDS", lacks]);
    let mut gone = user(named);
    gone["metadata"]["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
    let objects = [namespace(json!({})), operator(), account(), at_ten(), gone];
    says(&on(&objects, "doctor"), &["WARNING", lacks]);
    says(&on(&objects, "explain pgusers/app -n vault"), &[lacks]);
}

/// Where it is known what a controller needs, that counts, whatever it looks like, and nothing else does.
#[test]
fn what_a_controller_surely_needs_goes_too() {
    let elsewhere_at = |namespace: &str, mut object: Value| {
        object["metadata"]["namespace"] = json!(namespace);
        object
    };
    let kind = ("external-secrets.io/v1alpha1", "PushSecret");
    let mut push = held(kind, "app", "pushsecret.externalsecrets.io/finalizer", "external-secrets", json!({}));
    push["spec"] = json!({"selector": {"secret": {"name": "source"}}, "deletionPolicy": "Delete",
        "secretStoreRefs": [{"kind": "SecretStore", "name": "writer"}]});
    let store = object(("external-secrets.io/v1", "SecretStore"), "writer", json!({}));
    let source = object(("v1", "Secret"), "source", json!({}));
    let stores = [namespace(json!({})), push, elsewhere(running("external-secrets")), source, at_ten()];
    let with_store = [&stores[..], &[store]].concat();
    let needs = "Deployment/external-secrets may need SecretStore/writer, which goes in this delete, too";
    let first = "delete first, while Deployment/external-secrets has what it needs";
    let ran = on(&with_store, "plan ns/vault");
    says(&ran, &["DEPENDS", needs, first, "kubectl gc delete pushsecrets.external-secrets.io/app"]);
    says_not(&ran, &["Secret/source, which"]);
    let ran = on(&with_store, "plan secretstore/writer -n vault");
    says(&ran, &["PushSecret/app", "stays, and may not be deletable any more: its spec names what goes"]);
    says_not(&on(&with_store, "plan secret/source -n vault"), &["PushSecret"]);
    says_not(&on(&with_store, "plan pushsecret/app -n vault"), &["may need"]);
    let other = object(("external-secrets.io/v1", "SecretStore"), "other", json!({}));
    let ran = on(&[&stores[..], &[other]].concat(), "plan pushsecret/app -n vault");
    says(&ran, &["DEPENDS", "may need SecretStore/writer, which does not exist"]);

    let kind = ("argoproj.io/v1alpha1", "Application");
    let application = |namespace: &str| {
        let by = "argocd-application-controller";
        let mut application = held(kind, "shop", "resources-finalizer.argocd.argoproj.io", by, json!({}));
        application["spec"] = json!({"project": "team", "destination": {"namespace": "shop"}});
        elsewhere_at(namespace, application)
    };
    let mut argo = elsewhere_at("argocd", running("argocd-application-controller"));
    argo["spec"]["template"] =
        json!({"spec": {"containers": [{"name": "c", "args": ["--application-namespaces=vault"]}]}});
    let project = elsewhere_at("argocd", object(("argoproj.io/v1alpha1", "AppProject"), "team", json!({})));
    let other = object(("argoproj.io/v1alpha1", "AppProject"), "default", json!({}));
    let with = |more: &[Value], line: &str| on(&[&[argo.clone(), other.clone(), at_ten()], more].concat(), line);
    for namespace in ["argocd", "vault"] {
        let both = [application(namespace), project.clone()];
        let ran = with(&both, "plan appproject/team -n argocd");
        says(&ran, &["Application/shop", "stays, and may not be deletable any more: its spec names what goes"]);
        let alone = with(&both, &format!("plan application/shop -n {namespace}"));
        says_not(&alone, &["AppProject", "DEPENDS"]);
        let missing = with(&both[..1], &format!("plan application/shop -n {namespace}"));
        says(&missing, &["DEPENDS", "may need AppProject/team, which does not exist"]);
    }
    let ran = with(&[application("argocd"), project], "plan appproject/team application/shop -n argocd");
    says(&ran, &["DEPENDS", "may need AppProject/team, which goes in this delete, too", "delete first, while"]);

    // Flux lets go without its ServiceAccount, and deletes nothing.
    let mut applied = held(
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomization"),
        "apps",
        "finalizers.fluxcd.io",
        "kustomize-controller",
        json!({}),
    );
    applied["spec"] = json!({"prune": true, "serviceAccountName": "pg"});
    applied["status"] = json!({"inventory": {"entries": [{"id": "shop_cfg__ConfigMap", "v": "v1"}]}});
    let labels = json!({"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "vault"});
    let listed = elsewhere_at("shop", object(("v1", "ConfigMap"), "cfg", json!({ "labels": labels })));
    let account = object(("v1", "ServiceAccount"), "pg", json!({}));
    let flux = elsewhere_at("flux-system", running("kustomize-controller"));
    let objects = [namespace(json!({})), applied, listed, account, flux, at_ten()];
    let unless = "1 object, unless ServiceAccount/pg, as which it acts, goes first";
    let ran = on(&objects, "plan ns/vault");
    says(&ran, &[unless, "to have Flux delete what it applied for certain, delete first", "kustomizations"]);
    says_not(&on(&objects, "plan kustomization/apps -n vault"), &["goes first", "for certain"]);
}

/// A workload that only may be the controller loses the right as one that is known does; another that may be it, too,
/// keeps it.
#[test]
fn what_may_be_the_operator_loses_its_rights_too() {
    let called = |name: &str| {
        let mut may_be = operator();
        may_be["metadata"]["name"] = json!(name);
        may_be["metadata"]["uid"] = json!(name);
        may_be
    };
    let mut cluster = cluster(json!({}));
    cluster["metadata"]["managedFields"] = json!([]);
    let with = |more: &[Value], what: &str| {
        let objects = [namespace(json!({})), cluster.clone(), called("acme-operator"), account(), at_ten()];
        on(&[&objects[..], more].concat(), &format!("plan {what}"))
    };
    let here = gives("Role", "pg", "patch", "pgclusters");
    let lost =
        "Deployment/acme-operator, which may be its controller, loses the right to change it: RoleBinding/pg goes";
    let ran = with(&here, "ns/vault");
    says(&ran, &["DEPENDS: ", lost, "delete first, while Deployment/acme-operator has what it needs"]);
    assert_eq!(ran.code, 2, "{ran}");
    let stays = ["PgCluster/orders", "stays, and may not be deletable any more: what lets the controller"];
    says(&with(&here, "rolebinding/pg -n vault"), &stays);
    let everywhere = gives("ClusterRole", "pg", "update", "pgclusters");
    let mut other = called("acme-operator-2");
    other["spec"]["template"] = json!({"spec": {"serviceAccountName": "other"}});
    for kept in [&everywhere[..], &[other]] {
        says_not(&with(&[&here[..], kept].concat(), "ns/vault"), &["loses the right"]);
    }
}

/// Who has no right to change an object never removes its finalizer: that is why it hangs.
#[test]
fn who_has_no_right_now_is_named() {
    let deleted = cluster(json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
    let has_none = "Its controller has no right to change it: no role lets operators/pg, its ServiceAccount, patch \
                    pgclusters.postgres.acme.io.";
    let with = |more: &[Value], command: &str| {
        let objects = [namespace(json!({})), deleted.clone(), operator(), account(), at_ten()];
        on(&[&objects[..], more].concat(), command)
    };
    // A binding to a role that gives something else, or in another namespace.
    let [role, mut elsewhere] = gives("Role", "pg", "patch", "pgclusters");
    elsewhere["metadata"]["namespace"] = json!("operators");
    let others = [gives("ClusterRole", "all", "list", "pgclusters"), [role, elsewhere]].concat();
    let ran = with(&others, "doctor");
    says(&ran, &["slow-finalizer", has_none]);
    says(&with(&others, "explain pgcluster/orders -n vault"), &[has_none]);
    let runs = ["DEPENDS: ", "runs, but has no right to change it"];
    says(&with(&others, "plan pgcluster/orders -n vault"), &runs);
    // Before the delete, too.
    let whole = [&[namespace(json!({})), cluster(json!({})), operator(), account(), at_ten()], &others[..]].concat();
    says(&on(&whole, "plan pgcluster/orders -n vault"), &runs);
    says(&on(&whole, "plan ns/vault"), &runs);
    for given in [gives("Role", "mine", "patch", "pgclusters"), gives("ClusterRole", "mine", "update", "*")] {
        says_not(&with(&[&others[..], &given].concat(), "doctor"), &["has no right"]);
    }
    // What was not read may give it: here, the ClusterRole.
    let partial = [&[deleted.clone(), operator()], &others[1..]].concat();
    let list = json!({"apiVersion": "v1", "kind": "List", "items": partial});
    says_not(&with_input(&["doctor", "--from", "-"], list.to_string()), &["has no right"]);
}
