//! Namespaces that stay Terminating (S16).

use serde_json::json;

use super::{
    examine, follow,
    kit::{aged, is_gone, names, namespace, words},
    mends, mends_with,
};
use crate::{harness::shared, plan::trial::Trial, sweep::uncollected};

pub fn a_finalizer_in_the_spec_of_a_namespace() {
    let cluster = shared();
    let name = cluster.unique("spec-finalizer");
    let mut held = namespace(&name);
    held["spec"] = json!({"finalizers": ["kubernetes", "acme.io/hold"]});
    cluster.create(&held);
    cluster.create(object!("v1 ConfigMap", {"name": "a", "namespace": name}));
    let path = cluster.path_of(&held);
    cluster.delete(&path, Some("Background"), None);
    let finalizers = || cluster.get(&path).expect("it stays")["spec"]["finalizers"].clone();
    cluster.wait_until("its content to go", std::time::Duration::from_secs(60), || {
        finalizers() == json!(["acme.io/hold"])
    });
    let target = [format!("namespaces/{name}")];
    let args = [target[0].as_str()];
    let found = examine(cluster, &args);
    let finding = found.one("namespace-spec-finalizer", &name);
    assert_eq!(
        (found.findings().count(), &finding["severity"]),
        (1, &json!("Warning")),
        "somebody may be at work: {finding:#}"
    );
    aged(cluster, &held, 3600);
    let found = examine(cluster, &args);
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    let finding = mends(cluster, &args, "namespace-spec-finalizer", &name);
    assert_eq!(finding["severity"], "Error");
    assert!(words(&finding, "message").contains("acme.io/hold"), "{finding:#}");
    is_gone(cluster, &held);
}

/// No controller manager runs here, so nothing empties the namespace.
pub fn a_namespace_that_nobody_empties() {
    let trial = Trial::on(uncollected(), "abandoned", "Background");
    let cluster = trial.cluster;
    let left = trial.config_map("left").create();
    let namespace = namespace(&trial.namespace);
    cluster.delete(&cluster.path_of(&namespace), Some("Background"), None);
    let target = format!("namespaces/{}", trial.namespace);
    let args = [target.as_str()];
    let found = examine(cluster, &args);
    let finding = found.one("deletion-in-progress", &trial.namespace);
    assert_eq!((&finding["severity"], found.findings().count()), (&json!("Note"), 1), "{:#}", found.document);
    aged(cluster, &namespace, 3600);
    let found = examine(cluster, &args);
    let finding = found.one("namespace-stuck", &trial.namespace);
    assert_eq!((&finding["severity"], names(&finding["related"])), (&json!("Error"), vec!["left"]), "{finding:#}");
    assert!(words(finding, "message").starts_with("Terminating for 60m, and 1 object left in it."), "{finding:#}");
    follow(cluster, finding, 0);
    is_gone(cluster, &left);
    // The first is to look at the controller manager, of which nothing is seen here.
    let finding = mends_with(cluster, &args, "namespace-stuck", &trial.namespace, 1);
    assert!(words(&finding, "message").contains("nothing visible is left in it"), "{finding:#}");
    is_gone(cluster, &namespace);
}
