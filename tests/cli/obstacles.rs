//! What is in the way of a delete, and what a delete takes down itself, as a dump shows it.

use serde_json::{Value, json};

use super::{
    agree::{dead_webhook, object, on, on_a_part, owners, running, says, says_not},
    doctor::IDLE,
    field::{at_ten, namespace},
    run::{gc, run_with, with_input, words},
};

/// A webhook and an API with one pod behind both.
const BACKEND: &str = include_str!("admission/backend.yaml");

fn plan(line: &str, code: i32) -> Value {
    let ran = run_with(&format!("plan {line} --from - --assume-complete -o json"), BACKEND);
    assert_eq!(ran.code, code, "{line}: {ran}");
    serde_json::from_str(&ran.out).unwrap()
}

/// `obstacle takenDown: prevents`
fn obstacles(plan: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |obstacle: &Value| {
        let prevents: Vec<String> =
            obstacle["prevents"].as_array().into_iter().flatten().map(|object| text(&object["name"])).collect();
        format!("{} {}: {}", text(&obstacle["obstacle"]), obstacle["takenDown"], prevents.join(" "))
    };
    plan["obstacles"].as_array().into_iter().flatten().map(of).collect()
}

fn outcomes(plan: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let of = |outcome: &Value| format!("{} {}", text(&outcome["object"]["name"]), text(&outcome["outcome"]));
    plan["outcomes"].as_array().into_iter().flatten().map(of).collect()
}

#[test]
fn a_backend_that_goes_takes_down_what_it_serves() {
    for target in ["pod/backend-0 -n hooks", "svc/hook -n hooks"] {
        let plan = plan(target, 2);
        assert_eq!(plan["verdict"]["result"], "takes-down");
        assert_eq!(obstacles(&plan), ["webhook-unreachable true: ", "api-unavailable true: "], "{target}: {plan:#}");
        assert_eq!(plan["obstacles"][0]["resources"], serde_json::json!(["configmaps"]));
        assert_eq!(
            plan["obstacles"][1]["commands"][0],
            "test ! -e apiservices-v1.away.test.yaml && kubectl get apiservices.apiregistration.k8s.io/v1.away.test -o \
             yaml > apiservices-v1.away.test.yaml && kubectl delete apiservices.apiregistration.k8s.io/v1.away.test \
             --cascade=background --wait=false --ignore-not-found"
        );
    }
    assert_eq!(obstacles(&plan("cm/menu -n shop", 0)), [""; 0]);
}

/// What is scaled to 0 behind a webhook or an API is named, and started first.
#[test]
fn a_backend_that_is_scaled_to_0_is_started_first() {
    let deployment = |replicas: u32| {
        format!(
            "- apiVersion: apps/v1\n  kind: Deployment\n  metadata: {{name: hook, namespace: hooks, uid: u-hook}}\n  \
             spec: {{replicas: {replicas}, selector: {{matchLabels: {{app: hook, tier: a}}}}}}\n  \
             status: {{replicas: {replicas}}}\n"
        )
    };
    let away = |replicas: u32, selector: &str| {
        let service = format!("spec: {{type: ClusterIP, selector: {{{selector}}}}}");
        let dump = BACKEND.replace("conditions: {ready: true}", "conditions: {ready: false}");
        let dump = dump.replace("status: \"True\"", "status: \"False\", message: no endpoint");
        dump.replace("spec: {type: ClusterIP}", &service) + &deployment(replicas)
    };
    let start = "kubectl scale deployments.apps/hook -n hooks --replicas=1";
    for (dump, named, starts) in [
        (away(0, "app: hook"), "Deployment/hook -n hooks is scaled to 0", true),
        (away(2, "app: hook"), "Deployment/hook -n hooks has no ready pod", false),
        (away(0, "app: hooks"), "has no endpoint that is ready", false),
    ] {
        let plan = run_with("plan cm/menu -n shop --from - --assume-complete", &dump);
        let doctor = run_with("doctor --from - --assume-complete", &dump);
        let explain = run_with("explain validatingwebhookconfiguration/guard --from - --assume-complete", &dump);
        for ran in [&plan, &doctor, &explain] {
            assert!(ran.out.contains(named), "{named}: {ran}");
            assert_eq!(ran.out.contains(start), starts, "{named}: {ran}");
        }
        let place = |command: &str| plan.out.find(command).unwrap_or(usize::MAX);
        assert!(!starts || place(start) < place("kubectl delete validatingwebhook"), "{plan}");
        assert!(plan.out.contains("-guard.yaml && kubectl delete"), "{plan}");
    }
}

/// R9.31: a webhook that is called for nothing that is left prevents nothing.
#[test]
fn a_webhook_that_selects_nothing_is_not_missed() {
    let taken_down = |rest: &str| {
        let dump = BACKEND.replace("    rules: [{apiG", &format!("{rest}\n    rules: [{{apiG"));
        let ran = run_with("plan svc/hook -n hooks --from - --assume-complete -o json", &dump);
        let plan: Value = serde_json::from_str(&ran.out).unwrap();
        obstacles(&plan).contains(&"webhook-unreachable true: ".to_owned())
    };
    let name = |name: &str| format!("kubernetes.io/metadata.name: {name}");
    for (rest, expected) in [
        ("", true),
        ("    namespaceSelector: {matchLabels: {acme.io/guard: \"on\"}}", false),
        (&format!("    namespaceSelector: {{matchLabels: {{{}}}}}", name("shop")), true),
        (&format!("    namespaceSelector: {{matchLabels: {{{}}}}}", name("elsewhere")), false),
        ("    objectSelector: {matchLabels: {acme.io/guard: \"on\"}}", false),
        ("    objectSelector: {matchExpressions: [{key: acme.io/guard, operator: DoesNotExist}]}", true),
        ("    matchConditions: [{name: never, expression: \"false\"}]", false),
    ] {
        assert_eq!(taken_down(rest), expected, "{rest}");
    }
    // One that is called for new objects only is missed, too.
    let dump = BACKEND.replace("operations: [DELETE]", "operations: [CREATE]");
    let ran = run_with("plan svc/hook -n hooks --from - --assume-complete", &dump);
    assert!(ran.out.contains("guard.odd.test"), "{ran}");
    assert!(ran.out.contains("before it creates configmaps"), "{ran}");
}

/// R9.10, R9.32: the pods go first, and then nothing answers any more.
#[test]
fn a_namespace_that_contains_a_backend_is_never_empty() {
    let plan = plan("ns/hooks", 2);
    assert_eq!(obstacles(&plan), ["webhook-unreachable true: settings", "api-unavailable true: hooks"], "{plan:#}");
    assert!(outcomes(&plan).contains(&"hooks Terminating".to_owned()), "{plan:#}");
    assert!(!outcomes(&plan).contains(&"settings Deleted".to_owned()), "{plan:#}");
    let text = run_with("plan ns/hooks --from - --assume-complete", BACKEND);
    assert!(text.out.contains("kubectl delete apiservices.apiregistration.k8s.io/v1.away.test"), "{text}");
    assert!(text.out.contains("TAKES DOWN: "), "{text}");
}

/// Nothing is wrong with it yet, but it would never go.
#[test]
fn doctor_says_what_a_delete_of_the_target_would_meet() {
    let dead = BACKEND.replace("conditions: {ready: true}", "conditions: {ready: false}");
    let doctor = |line: &str, dump: &str| {
        let ran = run_with(&format!("doctor {line} --from - --assume-complete -o json"), dump);
        let found: Value = serde_json::from_str(&ran.out).unwrap();
        let text = run_with(&format!("doctor {line} --from - --assume-complete"), dump);
        (found["ifDeleted"]["result"].as_str().map(str::to_owned), text.out)
    };
    for (target, dump, expected) in [
        ("ns/hooks", BACKEND, Some("takes-down")),
        ("cm/menu -n shop", &dead, Some("refused")),
        ("cm/menu -n shop", BACKEND, None),
        ("node/n1", BACKEND, None),
    ] {
        let (result, text) = doctor(target, dump);
        assert_eq!(result.as_deref(), expected, "{target}: {text}");
        let told = text.contains("Then  a delete of this target would not finish: ");
        assert_eq!(told, expected.is_some(), "{target}: {text}");
        let plan = format!("  kubectl gc plan --from - --assume-complete {}", target.split(' ').next().unwrap());
        assert_eq!(text.contains("kubectl gc plan "), expected.is_some(), "{plan}: {text}");
    }
    assert_eq!(doctor("", BACKEND).0, None, "only of targets");
}

/// What can't be judged is assumed, by name.
#[test]
fn a_webhook_that_answers_may_refuse() {
    let plan = plan("cm/menu -n shop", 0);
    let allows = "the webhook guard.odd.test of ValidatingWebhookConfiguration/guard allows these deletes and changes";
    assert!(plan["assumes"].as_array().is_some_and(|assumes| assumes.iter().any(|one| one == allows)), "{plan:#}");
    assert_eq!(plan["outcomes"][0]["uncertainBecause"], "assumption", "{plan:#}");
}

/// A webhook makes nothing uncertain that it isn't asked about, or that it can't answer and needn't.
#[test]
fn webhooks_that_are_not_asked_leave_a_plan_certain() {
    let hook = "  - name: guard.odd.test\n";
    let dead = |dump: String| dump.replace("conditions: {ready: true}", "conditions: {ready: false}");
    let with = |more: &str| BACKEND.replace(hook, &format!("{hook}    {more}\n"));
    let elsewhere = "namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: hooks}}";
    let rows = [
        ("answers", BACKEND.to_owned(), false),
        ("answers, and needn't", with("failurePolicy: Ignore"), false),
        ("is dead, and needn't answer", dead(with("failurePolicy: Ignore")), true),
        ("other namespaces", with(elsewhere), true),
        ("other labels", with("objectSelector: {matchLabels: {a: b}}"), true),
        (
            "never",
            with("matchConditions: [{name: a, expression: object != null}, {name: b, expression: 'false'}]"),
            true,
        ),
        ("other operations", BACKEND.replace("operations: [DELETE]", "operations: [UPDATE]"), true),
        ("other resources", BACKEND.replace("resources: [configmaps]", "resources: [secrets]"), true),
    ];
    for (name, dump, certain) in rows {
        let ran = run_with("plan cm/menu -n shop --from - --assume-complete -o json", &dump);
        let plan: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, &plan["outcomes"][0]["certain"]), (0, &certain.into()), "{name}: {plan:#}");
    }
}

/// A plan without a target meets the same obstacles as the plan of each root.
#[test]
fn the_overview_of_roots_names_what_is_in_the_way() {
    let all = plan("-A", 2);
    let rows = all["rows"].as_array().unwrap();
    let row = |name: &str| rows.iter().find(|row| row["object"]["name"] == name).unwrap_or_else(|| panic!("{all:#}"));
    assert_eq!(row("hook")["obstacle"]["takenDown"], true, "{all:#}");
    assert_eq!(row("menu").get("obstacle"), None, "{all:#}");
    // Without an endpoint, nobody can delete a ConfigMap.
    let broken = BACKEND.replace("conditions: {ready: true}", "conditions: {ready: false}");
    let ran = run_with("plan -n shop --from - --assume-complete", &broken);
    let line = ran.out.lines().find(|line| line.contains("ConfigMap/menu")).unwrap_or_else(|| panic!("{ran}"));
    assert!(line.ends_with("0 deleted; prevented by ValidatingWebhookConfiguration/guard"), "{ran}");
    let ran = run_with("plan -n shop --from - --assume-complete -o json", &broken);
    let all: Value = serde_json::from_str(&ran.out).unwrap();
    let menu = all["rows"].as_array().unwrap().iter().find(|row| row["object"]["name"] == "menu").unwrap();
    let told = (&menu["verdict"], &menu["obstacle"]["obstacle"], &menu["summary"]["deleted"]);
    assert_eq!(told, (&"refused".into(), &"webhook-unreachable".into(), &0.into()), "{all:#}");
}

/// No object blocks it: the advice names what does.
#[test]
fn a_finalizer_in_the_spec_of_a_namespace_is_named_in_the_advice() {
    let namespace = r#"{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "held", "uid": "u-held"},
        "spec": {"finalizers": ["kubernetes", "acme.io/x"]}}"#;
    let ran = run_with("plan ns/held --from - --assume-complete", namespace);
    let advice = "the controller that removes acme.io/x from spec.finalizers of Namespace/held is running";
    assert!(ran.code == 2 && ran.out.contains(advice) && !ran.out.contains("gc tree"), "{ran}");
}

/// R9.7: a pod that no kubelet ends goes once its dead Node is deleted, however long it has been terminating.
#[test]
fn a_stuck_pod_goes_with_its_dead_node() {
    let dump = r#"
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {name: shop, uid: u-shop, creationTimestamp: "2026-01-01T15:00:00Z"}
  spec: {finalizers: [kubernetes]}
- apiVersion: v1
  kind: Node
  metadata: {name: n1, uid: u-node}
  spec: {}
  status: {conditions: [{type: Ready, status: Unknown}]}
- apiVersion: v1
  kind: Pod
  metadata:
    {name: lost, namespace: shop, uid: u-pod, deletionTimestamp: "2026-01-01T14:00:00Z", deletionGracePeriodSeconds: 30}
  spec: {nodeName: n1, terminationGracePeriodSeconds: 30, containers: []}
  status: {phase: Running}
"#;
    let ran = run_with("plan node/n1 --from - --assume-complete -o json", dump);
    let plan: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(outcomes(&plan), ["n1 Deleted", "lost Deleted"], "{plan:#}");
}

/// A pod on a Node that is ready. Its Lease was renewed at this minute, the newest object was made at half past.
fn renewed_at(minute: u32) -> String {
    format!(
        r#"
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: {{name: shop, uid: u-shop, creationTimestamp: "2026-01-01T15:30:00Z"}}
  spec: {{finalizers: [kubernetes]}}
- apiVersion: v1
  kind: Node
  metadata: {{name: n1, uid: u-node}}
  spec: {{}}
  status: {{conditions: [{{type: Ready, status: "True"}}]}}
- apiVersion: coordination.k8s.io/v1
  kind: Lease
  metadata: {{name: n1, namespace: kube-node-lease, uid: u-lease}}
  spec: {{holderIdentity: n1, leaseDurationSeconds: 40, renewTime: "2026-01-01T15:{minute:02}:00.000000Z"}}
- apiVersion: v1
  kind: Pod
  metadata: {{name: web, namespace: shop, uid: u-pod}}
  spec: {{nodeName: n1, terminationGracePeriodSeconds: 30, containers: []}}
  status: {{phase: Running}}
"#
    )
}

/// Clocks differ, and the lists of a dump are not read at once: a Lease that is minutes old silences no kubelet.
#[test]
fn a_clock_that_is_off_silences_no_kubelet() {
    for (minute, code, outcome) in [(27, 0, "web Deleted"), (10, 2, "web Terminating")] {
        let ran = run_with("plan pod/web -n shop --from - --assume-complete -o json", &renewed_at(minute));
        let plan: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((ran.code, outcomes(&plan)), (code, vec![outcome.to_owned()]), "{minute}: {plan:#}");
    }
}

/// Whether `matchConditions` let it be called can't be judged: a webhook leaves nothing certain, dead or alive.
#[test]
fn a_webhook_with_conditions_leaves_nothing_certain() {
    let rules = "rules: [{apiGroups: [\"\"], apiVersions: [v1], resources: [configmaps], operations: [DELETE]}]";
    let condition = "matchConditions: [{name: x, expression: \"object.metadata.name != 'x'\"}]";
    for ready in ["true", "false"] {
        let dump = BACKEND.replace(rules, &format!("{rules}\n    {condition}"));
        let dump = dump.replace("conditions: {ready: true}", &format!("conditions: {{ready: {ready}}}"));
        assert!(dump.contains("matchConditions"));
        let ran = run_with("plan cm/menu -n shop --from - --assume-complete -o json", &dump);
        let plan: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (outcomes(&plan), plan["outcomes"][0]["certain"].as_bool()),
            (vec!["menu Deleted".to_owned()], Some(false)),
            "{plan:#}"
        );
        assert_eq!(plan["outcomes"][0]["uncertainBecause"], "assumption", "{plan:#}");
    }
}

/// Policies that refuse all deletes they match: of one name, and with a parameter.
const POLICIES: &str = include_str!("admission/policies.yaml");

/// The namespace controller deletes whole lists: a policy that names objects doesn't see their names. A policy with a
/// parameter may allow everything (R9.33). And the DELETE that a policy is said to refuse is sent: gates count it.
#[test]
fn policies_refuse_what_they_are_asked_about_and_gates_count_it_nevertheless() {
    let plan = |line: &str| {
        let ran = run_with(&format!("plan {line} -n shop --from - --assume-complete -o json"), POLICIES);
        (ran.code, serde_json::from_str::<Value>(&ran.out).unwrap())
    };
    let (code, refused) = plan("cm/locked");
    assert_eq!((code, obstacles(&refused).len(), outcomes(&refused).len()), (2, 1, 0), "{refused}");
    for gate in ["--max=0", "--deny=configmaps"] {
        let ran = run_with(&format!("plan cm/locked -n shop {gate} --from - --assume-complete"), POLICIES);
        assert!(ran.code == 2 && ran.out.contains(gate), "{gate}: {ran}");
    }
    let (_, namespace) = plan("ns/shop");
    let locked = namespace["outcomes"].as_array().unwrap().iter().find(|one| one["object"]["name"] == "locked");
    assert_eq!(locked.map(|one| &one["outcome"]), Some(&"Deleted".into()), "{namespace}");
    let (code, unsure) = plan("sa/robot");
    assert_eq!((code, &unsure["outcomes"][0]["uncertainBecause"]), (0, &"assumption".into()), "{unsure}");
}

/// A policy that refuses deletes doesn't judge a patch: what keeps the object comes first, as if there were no policy.
#[test]
fn a_policy_comes_right_before_the_remedy_that_it_refuses() {
    let lost = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: lost, namespace: app, uid: lost, ownerReferences: \
                [{apiVersion: apps/v1, kind: Deployment, name: gone, uid: gone}]}\n---\napiVersion: apps/v1\nkind: \
                Deployment\nmetadata: {name: other, namespace: app, uid: other}\n";
    let policy = "---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: \
                  keep, uid: policy}\nspec:\n  failurePolicy: Fail\n  matchConstraints: {resourceRules: [{apiGroups: \
                  [''], apiVersions: [v1], operations: [DELETE], resources: [configmaps]}]}\n  validations: \
                  [{expression: 'false'}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: \
                  ValidatingAdmissionPolicyBinding\nmetadata: {name: keep, uid: binding}\nspec: {policyName: keep, \
                  validationActions: [Deny]}\n";
    let ran = with_input(&words("doctor cm/lost -n app -o json --assume-complete --from -"), format!("{lost}{policy}"));
    let found: Value = serde_json::from_str(&ran.out).unwrap();
    let finding = found["findings"].as_array().unwrap().iter().find(|one| one["code"] == "owner-absent").unwrap();
    let remedies: Vec<&str> =
        finding["remedies"].as_array().unwrap().iter().map(|remedy| remedy["what"].as_str().unwrap()).collect();
    assert!(remedies[0].starts_with("keep the object"), "{remedies:#?}");
    assert!(remedies[1].starts_with("first let the policy warn") && remedies[2].starts_with("delete"), "{remedies:#?}");
    assert!(finding["consequence"].as_str().unwrap().contains("refuses some of the remedies below"), "{finding:#}");
}

/// What a policy refuses waits for more than a controller manager: the policy comes first, and no sweep is offered.
#[test]
fn a_sweep_that_a_policy_refuses_is_not_offered() {
    let ran = gc(&["plan", "configmap/release", "-n", "shop", "--from", IDLE]);
    says_not(&ran, &["kubectl gc sweep"]);
    let [policy, manager] = ["Why   ValidatingAdmissionPolicy/keep-secrets", "no controller manager is known to run"]
        .map(|words| ran.out.find(words).unwrap_or_else(|| panic!("{words:?} is not in {ran}")));
    let [warn, start] = ["let the policy warn", "start kube-controller-manager"]
        .map(|words| ran.out.find(words).unwrap_or_else(|| panic!("{words:?} is not in {ran}")));
    assert!(policy < manager && warn < start, "{ran}");
}

/// R9.48: a value refuses a delete only where the webhook of its product is asked, and the plan says which value, and
/// what lifts it. What it is in stays with it.
#[test]
fn values_that_protect_refuse_where_their_webhook_is_asked() {
    let webhook = |name: &str, group: &str, resource: &str| {
        let mut webhook = dead_webhook(group, resource);
        webhook["metadata"]["name"] = json!(name);
        webhook["webhooks"][0]["name"] = json!(format!("x.{name}"));
        webhook["webhooks"][0]["clientConfig"] = json!({"url": "https://10.0.0.1/check"});
        webhook
    };
    let marked = |mut object: Value, field: &str, key: &str, value: &str| {
        object["metadata"][field] = json!({ key: value });
        object
    };
    let kruise = "policy.kruise.io/delete-protection";
    let service = marked(object(("v1", "Service"), "web", json!({})), "labels", kruise, "Always");
    let hive = object(("hive.openshift.io/v1", "ClusterDeployment"), "east", json!({}));
    let hive = marked(hive, "annotations", "hive.openshift.io/protected-delete", "true");
    let bucket = object!(("s3.aws.upbound.io/v1", "Bucket"), "logs", {"labels": {"crossplane.io/in-use": "true"}});
    let usage = object!(("protection.crossplane.io/v1beta1", "ClusterUsage"), "logs", {"namespace": null});
    let crossplane = webhook("nousages.protection.crossplane.io", "*", "*");
    let cases = [
        (
            service.clone(),
            webhook("kruise-validating", "", "services"),
            "services/web -n vault",
            "Service/web: its label policy.kruise.io/delete-protection is Always",
            r#"'{"metadata":{"labels":{"policy.kruise.io/delete-protection":null}}}'"#,
        ),
        (
            hive,
            webhook("v.admission.hive.openshift.io", "hive.openshift.io", "clusterdeployments"),
            "clusterdeployments/east -n vault",
            "ClusterDeployment/east: its annotation hive.openshift.io/protected-delete is true",
            r#"'{"metadata":{"annotations":{"hive.openshift.io/protected-delete":null}}}'"#,
        ),
        (
            bucket.clone(),
            crossplane.clone(),
            "bucket/logs -n vault",
            "Bucket/logs: its label crossplane.io/in-use is true",
            "kubectl get clusterusages.protection.crossplane.io --all-namespaces",
        ),
    ];
    for (object, webhook, target, says_it, lifts) in cases {
        let others = [usage.clone(), namespace(json!({})), at_ten()];
        let with = |webhook: &[Value], what: &str| {
            on(&[std::slice::from_ref(&object), &others[..], webhook].concat(), &format!("plan {what}"))
        };
        let ran = with(std::slice::from_ref(&webhook), target);
        says(&ran, &["REFUSED: ", says_it, lifts]);
        says_not(&ran, &["allows these deletes"]);
        assert_eq!(ran.code, 2, "{ran}");
        let within = with(std::slice::from_ref(&webhook), "ns/vault");
        says(&within, &["STUCK: ", says_it]);
        // Without the webhook, or with another's, it is only a value.
        says_not(&with(&[], target), &["REFUSED", says_it]);
        let mut other = webhook.clone();
        other["metadata"]["name"] = json!("other");
        other["webhooks"][0]["name"] = json!("other.bank.dev");
        says_not(&with(&[other], target), &["REFUSED", says_it]);
    }
    // A Usage that goes with the same owner lets it go when that is tried again.
    let of_owner = |mut object: Value| {
        object["metadata"]["ownerReferences"] = owners(("acme.io/v1", "XShop"), &["shop"]);
        object
    };
    let shop = object(("acme.io/v1", "XShop"), "shop", json!({}));
    let composed = [bucket.clone(), object(("protection.crossplane.io/v1beta1", "Usage"), "logs-1", json!({}))];
    let objects = [&composed.map(of_owner)[..], &[shop, namespace(json!({})), crossplane.clone()]].concat();
    says_not(&on(&objects, "plan xshop/shop -n vault"), &["STUCK", "REFUSED"]);
    says(&on(&objects, "plan bucket/logs -n vault"), &["REFUSED"]);
    // Where webhooks weren't read, it may be refused.
    let unread =
        "the webhook that protects Bucket/logs (its label crossplane.io/in-use is true), which could not be read";
    let part = [bucket.clone(), at_ten(), usage];
    says(&on_a_part(&part, "plan bucket/logs -n vault"), &["UNSURE: ", unread]);
    says_not(&on_a_part(&part[..2], "plan bucket/logs -n vault"), &[unread]);
    says_not(&on(&part, "plan bucket/logs -n vault"), &[unread]);
    // Nothing uses it any more, and what uses it goes first.
    says_not(&on(&[bucket, crossplane, at_ten()], "plan bucket/logs -n vault"), &["REFUSED"]);

    // `Cascading` protects what has something.
    let only = |value: &str, replicas: i64| {
        let mut web = marked(running("web"), "labels", kruise, value);
        web["spec"]["replicas"] = json!(replicas);
        let webhook = webhook("kruise-validating", "apps", "deployments");
        on(&[web, webhook, namespace(json!({})), at_ten()], "plan deploy/web -n vault")
    };
    says(&only("Cascading", 1), &["REFUSED: "]);
    says(&only("Always", 0), &["REFUSED: "]);
    says_not(&only("Cascading", 0), &["REFUSED"]);

    // Gardener's own API server refuses what nobody has confirmed.
    let shoot = object(("core.gardener.cloud/v1beta1", "Shoot"), "east", json!({}));
    let ran = on(&[shoot.clone(), at_ten()], "plan shoot/east -n vault");
    says(&ran, &["REFUSED: ", "its annotation confirmation.gardener.cloud/deletion is not true, and its API server"]);
    says(&ran, &[r#"'{"metadata":{"annotations":{"confirmation.gardener.cloud/deletion":"true"}}}'"#]);
    let confirmed = marked(shoot, "annotations", "confirmation.gardener.cloud/deletion", "true");
    says_not(&on(&[confirmed, at_ten()], "plan shoot/east -n vault"), &["REFUSED"]);

    // What is stuck for it says so.
    let mut going = namespace(json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
    going["status"]["phase"] = json!("Terminating");
    let objects = [service, webhook("kruise-validating", "", "services"), going, at_ten()];
    let protected = "protected: its label policy.kruise.io/delete-protection is Always";
    says(&on(&objects, "explain ns/vault"), &[protected]);
    let ran = on(&objects, "doctor");
    let refuses = format!("the API server refuses to delete Service/web -n vault: {protected}");
    says(&ran, &["namespace-stuck", &refuses, "take the protection away", "kubectl patch services/web"]);
}
