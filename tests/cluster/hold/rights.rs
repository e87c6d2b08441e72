//! The rights of a hold and of a cancel: checked before anything is written.

use serde_json::json;

use super::kit::{Kind, PATIENCE, Scene};

/// Lets a user do this in the namespace of the scene.
fn allow(scene: &Scene, user: &str, rules: &serde_json::Value) {
    let group = "rbac.authorization.k8s.io";
    for (kind, more) in [
        ("Role", json!({"rules": rules})),
        (
            "RoleBinding",
            json!({"roleRef": {"apiGroup": group, "kind": "Role", "name": user},
                "subjects": [{"apiGroup": group, "kind": "User", "name": user}]}),
        ),
    ] {
        let mut object = json!({"apiVersion": format!("{group}/v1"), "kind": kind,
            "metadata": {"name": user, "namespace": scene.namespace}});
        for (field, value) in more.as_object().unwrap() {
            object[field] = value.clone();
        }
        scene.cluster.create(object);
    }
}

#[test]
fn who_may_not_is_told_before_anything_is_written() {
    let scene = Scene::of(Kind::ConfigMap);
    let before = scene.state();
    let user = scene.cluster.unique("holder");
    let read = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]});
    let delete = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["delete"]});
    allow(&scene, &user, &json!([read, delete]));
    let hold = ["delete", "configmap/web", "--hold=1h", "--wait=false", "--yes", "--allow-incomplete", "--as", &user];
    scene.cluster.wait_until("the authorizer", PATIENCE, || {
        let ran = scene.gc(&hold);
        ran.code == Some(1) && ran.stderr.contains("you may not") && !ran.stderr.contains("delete configmaps")
    });
    let ran = scene.gc(&hold);
    for what in ["patch configmaps web", "create, delete and patch secrets"] {
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
    }
    assert_eq!((scene.state(), scene.secrets()), (before.clone(), vec![]));

    // Who may hold may not yet take it back, and is told so.
    let user = scene.cluster.unique("holder");
    let patch = json!({"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["web"],
        "verbs": ["delete", "patch"]});
    let secrets = json!({"apiGroups": [""], "resources": ["secrets"], "verbs": ["create", "delete", "patch"]});
    allow(&scene, &user, &json!([read, patch, secrets]));
    let hold = ["delete", "configmap/web", "--hold=1h", "--wait=false", "--yes", "--allow-incomplete", "--as", &user];
    scene.cluster.wait_until("the authorizer", PATIENCE, || scene.gc(&hold).code == Some(0));
    let ran = scene.gc(&hold);
    assert!(ran.stderr.contains("You could not take it back yourself: you may not"), "{}", ran.stderr);
    let state = scene.state();
    let ran = scene.gc(&["cancel", "configmap/web", "--yes", "--as", &user]).ended(1);
    assert!(ran.stderr.contains("nothing was taken back: you may not"), "{}", ran.stderr);
    assert_eq!((scene.state(), scene.secrets().len()), (state, 1));

    // With what `--print-role` prints, it can.
    let printed = scene.gc(&["cancel", "configmap/web", "--print-role"]);
    let user = scene.cluster.unique("holder");
    for role in serde_yaml::Deserializer::from_str(printed.expect(0)) {
        let role = <serde_json::Value as serde::Deserialize>::deserialize(role).unwrap();
        if role["kind"] == "Role" {
            assert_eq!(role["metadata"]["namespace"], json!(scene.namespace));
            allow(&scene, &user, &role["rules"]);
        }
    }
    scene.cluster.wait_until("the authorizer", PATIENCE, || {
        scene.gc(&["cancel", "configmap/web", "--dry-run", "--as", &user]).code == Some(0)
    });
    scene.gc(&["cancel", "configmap/web", "--yes", "--as", &user]).expect(0);
    scene.is_as(&before);
}
