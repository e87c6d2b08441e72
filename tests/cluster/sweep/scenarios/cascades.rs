//! Background cascades, and orphaning.

use serde_json::json;

use super::kit::{never_was, owners};
use crate::{harness::uid, plan::trial::Trial, sweep::seat::Seated};

/// Objects owned only by the deleted owner are deleted; those with another owner lose a reference; ownerless objects
/// are not changed.
pub fn cascades_through_controllers_and_pods(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "cascade", "Background");
    let doomed = trial.replication_controller("doomed").create();
    let remaining = trial.replication_controller("remaining").create();
    let pod = trial.pod("collected").owned_by(&doomed).create();
    let below = trial.config_map("below").owned_by(&pod).create();
    let kept = trial.pod("kept").owned_by(&doomed).owned_by(&remaining).create();
    let free = trial.pod("free").create();
    seated.delete(&doomed, "Background");
    seated.goes(&doomed);
    seated.goes(&pod);
    seated.goes(&below);
    seated.becomes(&kept, "stripped", |kept| owners(kept) == [uid(&remaining)]);
    seated.catches_up(&trial, &[("v1", "Pod"), ("v1", "ReplicationController")]);
    assert_eq!(uid(&seated.now(&free)), uid(&free));
    assert_eq!(uid(&seated.now(&kept)), uid(&kept));
    assert_eq!(
        seated.now(&remaining)["metadata"]["resourceVersion"],
        remaining["metadata"]["resourceVersion"],
        "nobody wrote to it"
    );
}

/// R3.2: the collector looks up owners that never existed, of a kind that is served. Objects with no other owner are
/// deleted.
pub fn owners_that_never_were(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "never-were", "Background");
    let owner = trial.config_map("owner").create();
    let pod = trial.pod("lost").reference(never_was("nobody")).create();
    // Another object has the name.
    let mut other = crate::harness::owner_reference(&owner);
    other["uid"] = json!("another");
    let replaced = trial.pod("of-replaced").reference(other).create();
    let kept = trial.pod("kept").reference(never_was("nobody")).owned_by(&owner).create();
    // R3.4: an owner of a kind that isn't served is unknown, not absent.
    let unknown = trial.pod("of-unserved").reference(never_was("nobody")).reference(trial.unserved()).create();
    seated.goes(&pod);
    seated.goes(&replaced);
    seated.becomes(&kept, "stripped", |kept| owners(kept) == [uid(&owner)]);
    seated.catches_up(&trial, &[("v1", "Pod")]);
    assert_eq!(owners(&seated.now(&unknown)).len(), 2);
}

/// Orphans survive, without their reference.
pub fn orphans(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "orphans", "Orphan");
    let owner = trial.replication_controller("owner").create();
    let other = trial.replication_controller("other").create();
    let pods: Vec<_> = (0..3).map(|number| trial.pod(&format!("pod-{number}")).owned_by(&owner).create()).collect();
    let shared = trial.pod("shared").blocking(&owner).owned_by(&other).create();
    let widget = trial.widget("widget").owned_by(&owner).create();
    // R5.6: only dependents that the collector knows by then are orphaned.
    seated.catches_up(&trial, &[("v1", "Pod"), ("gc.test/v1", "Widget")]);
    seated.delete(&owner, "Orphan");
    seated.goes(&owner);
    for pod in pods.iter().chain([&widget]) {
        let now = seated.now(pod);
        assert_eq!((uid(&now), owners(&now).len()), (uid(pod), 0), "{now}");
    }
    assert_eq!(owners(&seated.now(&shared)), [uid(&other)]);
}

/// Workloads whose controllers are running: what is deleted isn't recreated, in the foreground and in the background.
pub fn workloads(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "workloads", "Background");
    let (sets, pods) = (
        format!("/apis/apps/v1/namespaces/{}/replicasets", trial.namespace),
        format!("/api/v1/namespaces/{}/pods", trial.namespace),
    );
    for policy in ["Background", "Foreground"] {
        let name = policy.to_lowercase();
        let labels = json!({"app": name});
        let containers = json!([{"name": "main", "image": "main"}]);
        let template = json!({"metadata": {"labels": labels}, "spec": {"containers": containers}});
        let spec = json!({"replicas": 3, "selector": {"matchLabels": labels}, "template": template});
        let web = trial.draft("apps/v1", "Deployment", &name, Some(&trial.namespace)).spec(spec).create();
        seated.cluster.wait_until("three pods", super::kit::PATIENCE, || seated.cluster.list(&pods).len() == 3);
        seated.delete(&web, policy);
        seated.goes(&web);
        seated.cluster.wait_until("all of it to go", super::kit::PATIENCE, || {
            seated.cluster.list(&pods).is_empty() && seated.cluster.list(&sets).is_empty()
        });
    }
}
