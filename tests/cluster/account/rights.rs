//! Users who may watch only some of it.

use serde_json::json;

use super::kit::{Watching, because};
use crate::{
    harness::{NOBODY, VIEWER},
    plan::trial::Trial,
};

#[test]
fn a_user_of_one_namespace_gets_an_account_of_it() {
    let trial = Trial::new("account-viewer", "Background");
    trial.cluster.let_viewer_see(&trial.namespace);
    let owner = trial.widget("owner").create();
    trial.config_map("dependent").owned_by(&owner).create();
    trial.cluster.watched_by_collector(&owner);
    let viewer = trial.cluster.kubeconfig(VIEWER);
    let watching = Watching::unlisted(&trial, &viewer, &["-n", &trial.namespace]);
    let events = watching.until("the first lists", |event| event["type"] == "Watching");
    let missing: Vec<&str> = events[0]["notWatched"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| {
            assert_eq!(one["reason"], "it cannot be listed: forbidden");
            one["resource"].as_str()
        })
        .collect();
    assert_eq!(missing, ["customresourcedefinitions.apiextensions.k8s.io", "namespaces"], "{events:#?}");
    trial.cluster.delete(&trial.cluster.path_of(&owner), Some("Background"), None);
    let events = watching.up_to("Gone", "ConfigMap", "dependent");
    assert_eq!(because(events.last().unwrap()), "OwnersGone Widget/owner=Deleted");
    // The namespace is looked up: it may not be watched. The user's rights outlast the rest of its content.
    let binding = format!("/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings/viewer", trial.namespace);
    let role = binding.replace("rolebindings", "roles");
    for kept in [&binding, &role] {
        trial.cluster.patch(kept, &json!({"metadata": {"finalizers": ["acme.io/x"]}}));
    }
    trial.config_map("last").create();
    trial.cluster.delete(&format!("/api/v1/namespaces/{}", trial.namespace), None, None);
    let events = watching.up_to("Gone", "ConfigMap", "last");
    assert_eq!(because(events.last().unwrap()), "Namespace", "{events:#?}");
    for kept in [&binding, &role] {
        trial.cluster.patch(kept, &json!({"metadata": {"finalizers": null}}));
    }
}

#[test]
fn without_rights_it_says_what_is_needed() {
    let trial = Trial::new("account-nobody", "Background");
    let ran = trial.cluster.gc_as(NOBODY, &["watch", "-n", &trial.namespace]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        ran.stderr,
        format!(
            "error: nothing can be watched in namespace {}: it cannot be listed: forbidden; it needs the verbs list \
             and watch, and -n NAMESPACE needs them only there\n",
            trial.namespace
        )
    );
}
