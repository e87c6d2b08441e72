//! A finding names the finding that causes it, whatever the scope, and that one's cure comes first; and scripts of
//! remedies decide nothing.

use std::{fs, process::Command};

use serde_json::{Value, json};

use super::{
    examine, follow,
    kit::{aged, is_gone, names, words},
};
use crate::{
    harness::{ADMIN, Alone, COLLECTOR, NAMESPACES, Options, PATIENCE, owner_reference},
    plan::trial::Trial,
    sweep::uncollected,
};

/// A namespace can't be emptied, because a webhook that must be asked about its content can't be reached.
pub fn a_namespace_names_the_webhook_that_holds_it() {
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let name = cluster.namespace("team");
    cluster.create(object!("v1 ConfigMap", {"name": "left", "namespace": name}));
    let guards = |webhook: &str, selector: Value| {
        cluster.create(object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {
            "name": webhook,
            "webhooks": [{
                "name": format!("{webhook}.acme.io"),
                "clientConfig": {"service": {"namespace": "default", "name": "guard"}},
                "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"],
                    "resources": ["configmaps"]}],
                "namespaceSelector": selector,
                "failurePolicy": "Fail",
                "sideEffects": "None",
                "admissionReviewVersions": ["v1"],
            }],
        }))
    };
    let guard = guards("guard", json!({}));
    // It is as broken, and never asked about this namespace.
    guards("elsewhere", json!({"matchLabels": {"guarded": "yes"}}));
    let namespace = object!("v1 Namespace", {"name": name});
    cluster.delete(&cluster.path_of(&namespace), Some("Background"), None);
    // Until then, what holds it is only foreseen.
    let fails = || cluster.has_condition(&cluster.path_of(&namespace), "NamespaceDeletionContentFailure", "True");
    cluster.wait_until("what the API server says of it", PATIENCE, fails);
    aged(&cluster, &namespace, 3600);
    let target = format!("namespaces/{name}");
    for args in [&[target.as_str()][..], &["-n", &name], &[]] {
        let found = examine(&cluster, args);
        let finding = found.one("namespace-stuck", &name);
        assert!(
            words(finding, "consequence").contains("webhook-unreachable (ValidatingWebhookConfiguration/guard)"),
            "{finding:#}"
        );
        assert!(!words(finding, "consequence").contains("elsewhere"), "{finding:#}");
        assert!(names(&finding["related"]).contains(&"guard"), "{finding:#}");
        assert_eq!(found.about("webhook-unreachable", "guard").len(), 1, "{:#}", found.document);
        let remedies = finding["remedies"].as_array().cloned().unwrap_or_default();
        assert!(words(&remedies[0], "what").starts_with("first allow writes"), "{finding:#}");
        // The API server says what holds it: nobody is told to give up what is in it.
        assert!(!format!("{remedies:?}").contains("stay in etcd forever"), "{finding:#}");
    }
    let found = examine(&cluster, &[target.as_str()]);
    let commands = follow(&cluster, found.one("namespace-stuck", &name), 0);
    assert!(commands[0].contains(words(&guard["metadata"], "name")), "{commands:?}");
    is_gone(&cluster, &namespace);
}

/// Without a collector, the dependents of a deleted Deployment are left. Nobody meant to keep them.
pub fn a_script_cuts_no_dependents_from_their_deleted_owner() {
    let trial = Trial::on(uncollected(), "meant", "Background");
    let (cluster, namespace) = (trial.cluster, &trial.namespace);
    let web = super::kit::deployment(cluster, namespace, "web", 1, 1);
    let set = cluster.create(object!("apps/v1 ReplicaSet", {
        "name": "web-1", "namespace": namespace, "ownerReferences": [owner_reference(&web)],
        "spec": {"selector": web["spec"]["selector"], "template": web["spec"]["template"]},
    }));
    cluster.delete(&cluster.path_of(&web), Some("Background"), None);
    is_gone(cluster, &web);
    let script = cluster.gc(&["doctor", "-o", "remedies", "-n", namespace]);
    assert!(script.stdout.contains("owner-absent: ReplicaSet/web-1"), "{}", script.stdout);
    let path = cluster.folder().join(format!("{namespace}.sh"));
    fs::write(&path, &script.stdout).expect("a folder of its own");
    let ran = Command::new("sh").arg(&path).env("KUBECONFIG", cluster.kubeconfig(ADMIN)).output().expect("a shell");
    assert!(ran.status.success(), "{}\n{}", String::from_utf8_lossy(&ran.stderr), script.stdout);
    let now = cluster.get(&cluster.path_of(&set)).expect("it is neither deleted");
    assert_eq!(now["metadata"]["ownerReferences"], set["metadata"]["ownerReferences"], "nor kept: {}", script.stdout);
}
