//! Users who may not read everything: what is forbidden is not absent.

use serde_json::{Value, json};

use super::{certain, family, family_on, gaps, refused};
use crate::{
    harness::{Alone, Api, COLLECTOR, NOBODY, VIEWER, deployment},
    plan::trial::Trial,
};

/// Lets the viewer read the trial's namespace, and waits until that works.
fn show(trial: &Trial<'_>) {
    let cluster = trial.cluster;
    cluster.let_viewer_see(&trial.namespace);
    let api = Api::connect(&cluster.kubeconfig(VIEWER), None).expect("the viewer has a kubeconfig");
    let path = format!("/api/v1/namespaces/{}/configmaps", trial.namespace);
    cluster.wait_until("the role binding to work", std::time::Duration::from_secs(30), || {
        api.get(&path).is_ok_and(|answer| answer.is_success())
    });
}

fn plan(trial: &Trial<'_>, policy: &str) -> Value {
    let propagation = format!("--propagation={policy}");
    let ran =
        trial.cluster.gc_as(VIEWER, &["plan", "-o", "json", "-n", &trial.namespace, &propagation, "widget/owner"]);
    ran.expect(0);
    let lists = ran.stderr.strip_prefix("Could not list: ").unwrap_or_else(|| panic!("{}", ran.stderr));
    // A valid dependent can only be in the namespace, and that was read.
    let elsewhere = format!("(forbidden outside of namespace {})", trial.namespace);
    assert_eq!(lists.contains(&elsewhere), policy == "foreground", "{}", ran.stderr);
    if policy != "foreground" {
        assert!(lists.split(", ").all(|list| list.contains(".admissionregistration.k8s.io")), "{}", ran.stderr);
    }
    ran.json()
}

/// What a plan assumes where webhooks and policies could not be read.
const NONE_REFUSES: &str =
    "no webhook or admission policy refuses these deletes and changes (not all webhooks and policies could be read)";

/// Checks that a plan tells these assumptions, by the beginnings of their texts. Outcomes rest on all but the first.
fn assert_assumed(plan: &Value, assumptions: &[&str]) {
    let assumed: Vec<&str> =
        plan["assumes"].as_array().expect("assumptions").iter().filter_map(Value::as_str).collect();
    assert_eq!(assumed.len(), assumptions.len(), "{assumed:#?}");
    for expected in assumptions {
        assert!(assumed.iter().any(|assumed| assumed.starts_with(expected)), "{expected:?}: {assumed:#?}");
    }
    for outcome in plan["outcomes"].as_array().expect("outcomes") {
        let because = if assumptions.len() > 1 { json!("assumption") } else { Value::Null };
        assert_eq!(outcome["uncertainBecause"], because, "{outcome:#}");
        assert_eq!(outcome["certain"], assumptions.len() == 1, "{outcome:#}");
    }
}

#[test]
fn who_sees_a_namespace_gets_its_tree() {
    let (trial, _) = family("viewer-tree");
    show(&trial);
    let cluster = trial.cluster;
    let ran = cluster.gc_as(VIEWER, &["tree", "-o", "name", "-n", &trial.namespace]);
    let lines: Vec<&str> = ran.expect(0).lines().collect();
    assert!(lines.windows(2).any(|pair| pair == ["widget.gc.test/owner", "configmap/dependent"]), "{lines:?}");
    assert!(ran.stderr.starts_with("Could not list: ") && ran.stderr.contains("(forbidden)"), "{}", ran.stderr);
}

/// R10.1.
#[test]
fn who_sees_a_namespace_gets_plans_of_it() {
    let (trial, _) = family("viewer-plan");
    show(&trial);
    trial.cluster.settled();
    let background = plan(&trial, "background");
    assert_assumed(&background, &[NONE_REFUSES]);
    let describe = gaps(&background);
    for gap in [
        "racks.gc.test in -: forbidden".to_owned(),
        format!("configmaps in -: forbidden outside of namespace {}", trial.namespace),
    ] {
        assert!(describe.contains(&gap), "{gap:?} is not in {describe:#?}");
    }
    // What is kept is kept, whoever refuses.
    let kept = ["plan", "widget/owner", "-n", &trial.namespace, "--propagation=orphan", "--deny=configmaps"];
    trial.cluster.gc_as(VIEWER, &kept).expect(0);
    // Something elsewhere could block it, by an invalid reference.
    let elsewhere = format!("nothing outside of namespace {}, where not everything", trial.namespace);
    assert_assumed(&plan(&trial, "foreground"), &[NONE_REFUSES, &elsewhere]);
}

/// Whoever may list only what is in a Namespace gets the plan of that Namespace, wherever else the context leads.
#[test]
fn who_sees_a_namespace_gets_the_plan_of_its_end() {
    let (trial, _) = family("viewer-namespace");
    show(&trial);
    trial.cluster.settled();
    let target = format!("ns/{}", trial.namespace);
    for command in ["plan", "tree"] {
        let ran = trial.cluster.gc_as(VIEWER, &[command, "-o", "name", &target]);
        let names: Vec<&str> = ran.stdout.lines().collect();
        for name in ["widget.gc.test/owner", "configmap/dependent"] {
            assert!(names.iter().any(|line| line.trim_start() == name), "{command}: {name:?} is not in {ran:#?}");
        }
    }
    // What is elsewhere may depend on it.
    let gaps = gaps(&trial.cluster.gc_as(VIEWER, &["plan", "-o", "json", &target]).json());
    let elsewhere = format!("configmaps in -: forbidden outside of namespace {}", trial.namespace);
    assert!(gaps.contains(&elsewhere), "{gaps:#?}");
}

/// R9.33. A policy that the user can't see refuses what the collector deletes: the plan says what it assumes.
#[test]
#[ignore = "long: a cluster of its own with policies"]
fn a_policy_that_may_not_be_read_may_refuse() {
    let cluster = &Alone::with(&[]);
    cluster.age_kinds();
    cluster.start_controllers(&[COLLECTOR]);
    let (trial, dependent) = family_on(cluster, "viewer-policy");
    show(&trial);
    trial.refusing(&["DELETE"], "configmaps", "false");
    let path = cluster.path_of(&dependent);
    cluster.wait_until("the policy to refuse", std::time::Duration::from_secs(60), || {
        let query = format!("{path}?dryRun=All");
        !cluster.ask(&http::Method::DELETE, &query, None).is_success()
    });
    cluster.settled();
    let seen = plan(&trial, "background");
    assert_assumed(&seen, &[NONE_REFUSES]);
    let known = cluster.gc(&["plan", "-o", "json", "-n", &trial.namespace, "widget/owner"]).json();
    assert_eq!(known["verdict"]["result"], "stuck", "{:#}", known["verdict"]);
    let owner = format!("/apis/gc.test/v1/namespaces/{}/widgets/owner", trial.namespace);
    cluster.delete(&owner, Some("Background"), None);
    cluster.settled();
    assert!(cluster.get(&owner).is_none() && cluster.get(&path).is_some(), "the policy keeps the dependent");
}

/// The roles that clusters have by default, without the controller that aggregates them: `admin` has the rules of
/// `edit`, which has those of `view` (plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go).
const DEFAULT_ROLES: [(&str, &[&str]); 3] =
    [("view", &["view"]), ("edit", &["view", "edit"]), ("admin", &["view", "edit", "admin"])];

/// Rights in one namespace are enough for a plan in it: what can't be read elsewhere isn't told, but that no webhook or
/// policy refuses, which are all cluster-scoped.
#[test]
fn who_works_in_a_namespace_gets_plans_without_noise() {
    for (role, rules) in DEFAULT_ROLES {
        let trial = Trial::new(&format!("default-{role}"), "Background");
        let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
        for rule in rules {
            cluster.create(object!("rbac.authorization.k8s.io/v1 RoleBinding", {
                "name": rule, "namespace": namespace,
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                    "name": format!("system:aggregate-to-{rule}")},
                "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": VIEWER}],
            }));
        }
        cluster.create(deployment(namespace, "web", 2));
        let viewer = Api::connect(&cluster.kubeconfig(VIEWER), None).expect("the viewer has a kubeconfig");
        let list = |path: &str| viewer.get(&format!("/{path}")).expect("an answer");
        let pods = format!("api/v1/namespaces/{namespace}/pods");
        cluster.wait_until("the pods, and the role binding to work", std::time::Duration::from_secs(60), || {
            let answer = list(&pods);
            answer.is_success() && answer.json()["items"].as_array().is_some_and(|pods| pods.len() == 2)
        });
        let ran = cluster.gc_as(VIEWER, &["plan", "deploy/web", "-n", namespace, "-o", "json"]).ended(0);
        let plan = ran.json();
        let outcomes = plan["outcomes"].as_array().expect("outcomes");
        assert_eq!(outcomes.len(), 4, "{outcomes:#?}");
        assert!(outcomes.iter().all(|outcome| outcome["outcome"] == "Deleted"), "{outcomes:#?}");
        assert_assumed(&plan, &[NONE_REFUSES]);
        // Told is what can't be read in the namespace itself, where a dependent may be: with `view`, Secrets.
        assert!(!ran.stderr.contains("outside of namespace") && !ran.stderr.contains("racks"), "{}", ran.stderr);
        let secrets = list(&format!("api/v1/namespaces/{namespace}/secrets")).is_success();
        assert_eq!(secrets, role != "view");
        assert_eq!(ran.stderr.contains("secrets"), !secrets, "{}", ran.stderr);
        assert!(!gaps(&plan).is_empty(), "the document still has all that could not be read");
        match role {
            "view" => hidden_is_not_none(&trial),
            "admin" => deletes_in_the_foreground(&trial),
            _ => {}
        }
    }
}

/// A list that may not be read may hide what a gate counts.
fn hidden_is_not_none(trial: &Trial<'_>) {
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    for (gate, says) in [
        ("--deny=secrets", "--deny=secrets: some may be deleted that could not be read: "),
        ("--max=10", "--max=10: 4 objects would be deleted; more may be, which could not be read: "),
    ] {
        let ran = cluster.gc_as(VIEWER, &["plan", "deploy/web", "-n", namespace, gate]).ended(2);
        assert!(ran.stdout.contains(says), "{}", ran.stdout);
        let _known = cluster.gc(&["plan", "deploy/web", "-n", namespace, gate]).ended(0);
    }
}

/// A delete names what could not be read in the namespace, nothing else, and goes on as it says.
fn deletes_in_the_foreground(trial: &Trial<'_>) {
    let namespace = trial.namespace.as_str();
    let delete = ["delete", "deploy/web", "-n", namespace, "--cascade=foreground", "--yes"];
    let refused = trial.cluster.gc_as(VIEWER, &delete).ended(1);
    let unread: Vec<&str> = refused.stderr.lines().filter(|line| line.starts_with("  ")).collect();
    assert!(!unread.is_empty(), "{}", refused.stderr);
    for line in unread {
        let of_user = line.starts_with(&format!("  user {VIEWER} may not list "));
        assert!(of_user && line.ends_with(&format!(" in namespace {namespace}")), "{line:?}: {}", refused.stderr);
    }
    let allow = refused.stderr.split_whitespace().find(|word| word.starts_with("--allow-incomplete="));
    let allow = allow.unwrap_or_else(|| panic!("no flag is offered: {}", refused.stderr));
    let ran = trial.cluster.gc_as(VIEWER, &[&delete[..], &[allow]].concat()).ended(0);
    assert!(ran.stdout.contains("DONE"), "{}", ran.stdout);
}

/// Most users may not read Nodes: that a kubelet ends a pod is an assumption then.
#[test]
fn pods_on_nodes_that_may_not_be_read_are_not_certain() {
    let may_list = json!({"apiGroups": [""], "resources": ["nodes"], "verbs": ["list"]});
    for rules in [json!([]), json!([may_list])] {
        let alone = Alone::usual();
        let trial = Trial::on(&alone, "nodes-unread", "Background");
        let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
        let node = trial.node();
        let subjects = json!([{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": VIEWER}]);
        let bind = |role: &str, kind: &str, place: Option<&str>, name: &str| {
            let reference = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role});
            let mut metadata = json!({"name": name});
            if let Some(place) = place {
                metadata["namespace"] = json!(place);
            }
            cluster.create(json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": kind, "metadata": metadata,
                "roleRef": reference, "subjects": subjects}))
        };
        for role in ["view", "edit"] {
            bind(&format!("system:aggregate-to-{role}"), "RoleBinding", Some(namespace), role);
        }
        let lists = trial.global("lists");
        cluster.create(object!("rbac.authorization.k8s.io/v1 ClusterRole", {"name": lists, "rules": rules}));
        let bound = bind(&lists, "ClusterRoleBinding", None, &lists);
        cluster.create(object!("v1 Pod", {"name": "web", "namespace": namespace,
            "spec": {"nodeName": node, "containers": [{"name": "main", "image": "main"}]}}));
        let viewer = Api::connect(&cluster.kubeconfig(VIEWER), None).expect("the viewer has a kubeconfig");
        let may = |path: &str| viewer.get(path).expect("an answer").is_success();
        let listable = rules != json!([]);
        cluster.wait_until("the role bindings to work", std::time::Duration::from_secs(60), || {
            may(&format!("/api/v1/namespaces/{namespace}/pods/web")) && may("/api/v1/nodes") == listable
        });
        assert!(!may(&format!("/api/v1/nodes/{node}")));
        let ran = cluster.gc_as(VIEWER, &["plan", "pod/web", "-n", namespace, "-o", "json"]).ended(0);
        let plan = ran.json();
        let pod = &plan["outcomes"][0];
        assert_eq!((&pod["outcome"], &pod["certain"]), (&json!("Deleted"), &json!(false)), "{plan:#}");
        assert_eq!(pod["uncertainBecause"], "assumption", "{plan:#}");
        assert!(plan["assumes"].to_string().contains(&format!("the kubelet on node {node} ends")), "{plan:#}");
        assert!(ran.stderr.contains(&node), "it says what could not be read: {}", ran.stderr);
        cluster.delete(&cluster.path_of(&bound), None, None);
    }
}

#[test]
fn what_may_have_hidden_dependents_is_not_certain() {
    let alone = Alone::usual();
    let (trial, dependent) = family_on(&alone, "viewer-hidden");
    show(&trial);
    trial.rack("hidden").blocking(&dependent).create();
    let cluster = trial.cluster;
    cluster.settled();
    let plan = plan(&trial, "foreground");
    let path = cluster.path_of(&dependent);
    trial.delete_before(
        &cluster.get(&format!("/apis/gc.test/v1/namespaces/{}/widgets/owner", trial.namespace)).unwrap(),
        "Foreground",
    );
    cluster.wait_until("the dependent to be deleted, too", std::time::Duration::from_secs(30), || {
        cluster.get(&path).is_none_or(|dependent| dependent["metadata"]["deletionTimestamp"].is_string())
    });
    assert!(cluster.get(&path).is_some(), "the rack blocks it");
    for name in ["owner", "dependent"] {
        assert!(
            !certain(&plan, name),
            "{name} stays, and the plan is certain of something else: {:#}",
            plan["outcomes"]
        );
    }
}

#[test]
fn who_may_read_nothing_is_told_so() {
    let (trial, _) = family("nobody");
    let run = |args: &[&str]| trial.cluster.gc_as(NOBODY, &[args, &["-n", &trial.namespace]].concat());
    for args in [&["plan", "widget/owner"][..], &["tree", "widget/owner"], &["tree"], &["plan"]] {
        refused(&run(args), &["user nobody", "refuses all lists", "forbidden"]);
    }
}
