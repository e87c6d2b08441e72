//! What the API server refuses to create again, and a policy whose parameters go, as a dump shows it.

use super::run::{Ran, run_with};

/// A Deployment with a pod, a webhook about new Secrets that nobody answers, and a policy about new pods.
const SHOP: &str = include_str!("admission/refused-anew.yaml");

fn plan(line: &str, dump: &str) -> Ran {
    run_with(&format!("plan {line} --from - --assume-complete"), dump)
}

/// R9.44: what a pod names must exist, what must be asked must answer, and no policy may refuse it.
#[test]
fn what_admission_refuses_does_not_come_back() {
    let pod = "pod/web-1-a -n shop";
    let lacks = |kind: &str| -> String {
        SHOP.lines().filter(|line| !line.contains(&format!("kind: {kind},"))).collect::<Vec<_>>().join("\n")
    };
    let quota = |used: &str| {
        format!(
            "{SHOP}- {{apiVersion: v1, kind: ResourceQuota, metadata: {{name: quota, namespace: shop, uid: u-quota}}, \
             spec: {{}}, status: {{hard: {{requests.cpu: 500m, services: \"0\"}}, used: {{requests.cpu: {used}, \
             services: \"1\"}}}}}}\n"
        )
    };
    let limited = |of: &str, most: &str| {
        let containers = "containers: [{name: c, image: i, resources: {requests: {cpu: \"1\"}, limits: {cpu: \"2\"}}}, \
                          {name: d, image: i, resources: {requests: {cpu: 500m}}}]}\n";
        let [begin, end] = ["runtimeClassName: kata, ", "containers: [{name: c, image: i}]}\n"];
        let shop = SHOP.replace(&format!("{begin}{end}"), &format!("{begin}{containers}"));
        format!(
            "{shop}- {{apiVersion: v1, kind: LimitRange, metadata: {{name: most, namespace: shop, uid: u-most}}, \
             spec: {{limits: [{{type: {of}, max: {{cpu: {most:?}}}}}]}}}}\n"
        )
    };
    let asks = SHOP.replace("resources: [secrets]", "resources: [pods]");
    let refuses = SHOP
        .replace("    paramKind: {apiVersion: v1, kind: ConfigMap}\n", "")
        .replace("params.data.max != ''", "false");
    let [comes_back, may] = ["and creates Pod/web-1-a again", "may create Pod/web-1-a again"];
    let missing = |what: &str| format!("can't create Pod/web-1-a again: its {what}");
    for (line, dump, says) in [
        (pod, SHOP.to_owned(), comes_back.to_owned()),
        (pod, lacks("RuntimeClass"), missing("RuntimeClass kata does not exist")),
        (pod, lacks("PriorityClass"), missing("PriorityClass high does not exist")),
        (pod, lacks("ServiceAccount"), missing("ServiceAccount web does not exist")),
        ("pod/web-1-a sa/web -n shop", SHOP.to_owned(), missing("ServiceAccount web goes in this delete")),
        // What a finalizer keeps can be named.
        (
            "pod/web-1-a sa/web -n shop",
            SHOP.replace("uid: u-account", "uid: u-account, finalizers: [acme.io/x]"),
            may.to_owned(),
        ),
        (pod, asks.clone(), "the webhook guard.odd.test of ValidatingWebhookConfiguration/guard must allow".to_owned()),
        (
            pod,
            asks.replace("  - name: guard.odd.test", "  - name: guard.odd.test\n    failurePolicy: Ignore"),
            comes_back.to_owned(),
        ),
        (
            pod,
            asks.replace(
                "  - name: guard.odd.test",
                "  - name: guard.odd.test\n    matchConditions: [{name: a, expression: \"request.x\"}]",
            ),
            may.to_owned(),
        ),
        ("pod/web-1-a validatingwebhookconfiguration/guard -n shop", asks, comes_back.to_owned()),
        (pod, refuses, "bound by ValidatingAdmissionPolicyBinding/bounds, refuses that".to_owned()),
        (pod, lacks("ConfigMap"), "refuses that without its parameters".to_owned()),
        (pod, quota("500m"), comes_back.to_owned()),
        (pod, quota("501m"), may.to_owned()),
        (pod, limited("Container", "2"), comes_back.to_owned()),
        (pod, limited("Container", "1900m"), may.to_owned()),
        (pod, limited("Pod", "2500m"), comes_back.to_owned()),
        (pod, limited("Pod", "2400m"), may.to_owned()),
        ("pod/web-1-a limitrange/most -n shop", limited("Pod", "1"), comes_back.to_owned()),
    ] {
        let ran = plan(line, &dump);
        assert!(ran.out.contains(&says), "{line}: {says}: {ran}");
        let is_refused = ![comes_back, may].contains(&says.as_str());
        assert_eq!(ran.out.contains("does not come back"), is_refused, "{line}: {says}: {ran}");
    }
    // The ReplicaSet itself comes back, and its pod doesn't.
    let ran = plan("rs/web-1 -n shop", &lacks("RuntimeClass"));
    assert!(ran.out.contains("DELETES: 2 objects go; 1 comes back; 1 does not come back."), "{ran}");
    // Without the lists, nothing is known to be missing.
    let ran = run_with("plan pod/web-1-a -n shop --from -", &lacks("RuntimeClass"));
    assert!(ran.out.contains(comes_back), "{ran}");
}

/// R9.50: what pods name that run may go, and then none can be started again.
#[test]
fn what_pods_name_is_needed_to_start_them() {
    let spec = "serviceAccountName: web, priorityClassName: high, runtimeClassName: kata, imagePullSecrets: \
                [{name: pull}], volumes: [{name: a, secret: {secretName: keys}}, {name: b, secret: {secretName: \
                perhaps, optional: true}}, {name: c, projected: {sources: [{configMap: {name: part}}]}}], containers: \
                [{name: c, image: i, envFrom: [{configMapRef: {name: env}}], env: [{name: A, valueFrom: \
                {secretKeyRef: {name: one, key: a}}}]}]";
    let named = |kind: &str, name: &str| {
        format!("- {{apiVersion: v1, kind: {kind}, metadata: {{name: {name}, namespace: shop, uid: u-{name}}}}}\n")
    };
    let all = [("Secret", "keys"), ("ConfigMap", "part"), ("ConfigMap", "env"), ("Secret", "one"), ("Secret", "pull")];
    let all: String = all.iter().chain(&[("Secret", "perhaps")]).map(|(kind, name)| named(kind, name)).collect();
    let template = "template: {spec: {containers: [{name: c, image: i}]}}";
    let shop = SHOP.replacen(template, &format!("template: {{spec: {{{spec}}}}}"), 1) + &all;
    let says = "Deployment/web -n shop: names what goes in this delete: pods that run go on, and without that, no \
                other pod of it can start";
    let without_account = "Deployment/web -n shop: runs as a ServiceAccount that goes in this delete: the API server \
                           refuses its tokens from then on, also those of pods that run, and no other pod can start \
                           with it";
    for target in ["secret/keys", "cm/part", "cm/env", "secret/one", "sa/web", "pc/high", "runtimeclass/kata"] {
        let says = if target == "sa/web" { without_account } else { says };
        let ran = plan(&format!("{target} -n shop"), &shop);
        assert!(ran.out.replace("Deployment/web:", "Deployment/web -n shop:").contains(says), "{target}: {ran}");
    }
    for target in ["secret/pull", "secret/perhaps", "ns/shop"] {
        assert!(!plan(&format!("{target} -n shop"), &shop).out.contains("pod of it can start"), "{target}");
    }
}

/// R9.1: a Deployment makes only its current ReplicaSet again, and a Job no pod once that fails it.
#[test]
fn old_templates_and_failed_jobs_do_not_come_back() {
    let revisions = |deployment: &str, set: &str| {
        let named = |dump: &str, uid: &str, revision: &str| {
            let annotations = format!("annotations: {{deployment.kubernetes.io/revision: \"{revision}\"}}");
            dump.replacen(&format!("uid: {uid}"), &format!("uid: {uid}, {annotations}"), 1)
        };
        let set_line = format!("    uid: u-set\n    annotations: {{deployment.kubernetes.io/revision: \"{set}\"}}");
        named(SHOP, "u-web", deployment).replacen("    uid: u-set", &set_line, 1)
    };
    let ran = plan("rs/web-1 -n shop", &revisions("7", "7"));
    assert!(ran.out.contains("2 come back"), "{ran}");
    let ran = plan("rs/web-1 -n shop", &revisions("8", "7"));
    assert!(!ran.out.contains("again") && !ran.out.contains("come back"), "{ran}");
    let job = |limit: u32| {
        let job = format!(
            "{{apiVersion: batch/v1, kind: Job, metadata: {{name: web, namespace: shop, uid: u-web}}, \
             spec: {{backoffLimit: {limit}}}, status: {{active: 1}}}}"
        );
        let pod = "{apiVersion: v1, kind: Pod, metadata: {name: web-a, namespace: shop, uid: u-pod, ownerReferences: \
                   [{apiVersion: batch/v1, kind: Job, name: web, uid: u-web, controller: true}]}, \
                   spec: {nodeName: n1, containers: []}, status: {phase: Running}}";
        plan("pod/web-a -n shop", &format!("{{apiVersion: v1, kind: List, items: [{job}, {pod}]}}"))
    };
    assert!(job(1).out.contains("again"), "{}", job(1));
    assert!(!job(0).out.contains("again"), "{}", job(0));
}

/// R9.45: a policy that refuses without its parameters is taken down with them; another applies no longer.
#[test]
fn a_policy_loses_its_parameters() {
    let allows = SHOP.replace("parameterNotFoundAction: Deny", "parameterNotFoundAction: Allow");
    let ignores = SHOP.replace("    paramKind:", "    failurePolicy: Ignore\n    paramKind:");
    let selects = SHOP.replace("paramRef: {name: limits, namespace", "paramRef: {selector: {}, namespace");
    let one_more = selects.clone()
        + "- {apiVersion: v1, kind: ConfigMap, metadata: {name: more, namespace: hooks, uid: u-more}}\n";
    let here = SHOP.replace("paramRef: {name: limits, namespace: hooks", "paramRef: {name: limits");
    let [down, lapses, nothing] = ["TAKES DOWN: policy bounds loses its parameters", "no longer applies", ""];
    for (line, dump, says) in [
        ("cm/limits -n hooks", SHOP, down),
        ("cm/limits -n hooks", allows.as_str(), lapses),
        ("cm/limits -n hooks", &ignores, lapses),
        ("cm/limits -n hooks", &selects, down),
        ("cm/limits -n hooks", &one_more, nothing),
        ("cm/limits -n hooks", &here, down),
        // Nothing is written there any more.
        ("ns/hooks", &here, nothing),
        ("cm/limits validatingadmissionpolicybinding/bounds -n hooks", SHOP, nothing),
    ] {
        let ran = plan(line, dump);
        assert!(ran.out.contains(says), "{line}: {says}: {ran}");
        assert_eq!(ran.out.contains(down), says == down, "{line}: {ran}");
        assert_eq!(ran.out.contains(lapses), says == lapses, "{line}: {ran}");
    }
}
