//! Finalizers of controllers that lose their rights.

use serde_json::json;

use crate::{
    doctor::kit::{created_by, deployment, is_gone, is_terminating},
    harness::{PATIENCE, shared},
};

/// R9.46: the namespace controller deletes what lets an operator in another namespace remove its finalizer.
#[test]
fn an_operator_loses_its_rights_with_the_namespace() {
    let cluster = shared();
    let [here, operators] = ["rights", "operators"].map(|prefix| cluster.namespace(prefix));
    deployment(cluster, &operators, "pg-operator", 1, 1);
    let rbac = "rbac.authorization.k8s.io";
    let of = |kind: &str, rest: serde_json::Value| {
        let mut object = json!({"apiVersion": format!("{rbac}/v1"), "kind": kind,
            "metadata": {"name": "pg", "namespace": here}});
        object.as_object_mut().expect("a map").extend(rest.as_object().cloned().unwrap_or_default());
        cluster.create(object)
    };
    of("Role", json!({"rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "patch"]}]}));
    let subject = json!({"kind": "ServiceAccount", "namespace": operators, "name": "default"});
    let role = json!({"apiGroup": rbac, "kind": "Role", "name": "pg"});
    let binding = of("RoleBinding", json!({"roleRef": role, "subjects": [subject]}));
    let held = object!("v1 ConfigMap", {"name": "orders", "namespace": here, "finalizers": ["acme.io/cleanup"]});
    let held = created_by(cluster, "pg-operator", &held);
    let may_patch = || {
        let review = object!("authorization.k8s.io/v1 LocalSubjectAccessReview", {"namespace": here,
            "spec": {"user": format!("system:serviceaccount:{operators}:default"),
                "resourceAttributes": {"namespace": here, "verb": "patch", "resource": "configmaps"}}});
        cluster.create(review)["status"]["allowed"] == true
    };
    cluster.wait_until("the operator to have its right", PATIENCE, may_patch);

    let ran = cluster.gc(&["plan", &format!("ns/{here}")]);
    let said = ran.expect(2);
    let lost = "Deployment/pg-operator loses the right to change it: RoleBinding/pg goes in this delete, too";
    assert!(said.contains("DEPENDS: ") && said.contains(lost), "{said}");
    assert!(said.contains("delete first, while Deployment/pg-operator has what it needs"), "{said}");
    let said = cluster.gc(&["plan", "rolebinding/pg", "-n", &here]).stdout;
    assert!(said.contains("ConfigMap/orders: stays, and may not be deletable any more"), "{said}");

    cluster.delete(&format!("/api/v1/namespaces/{here}"), None, None);
    is_gone(cluster, &binding);
    is_terminating(cluster, &held);
    cluster.wait_until("the operator to lose its right", PATIENCE, || !may_patch());
    assert!(cluster.get(&cluster.path_of(&held)).is_some(), "it waits for its operator");
    cluster.patch(&cluster.path_of(&held), &json!({"metadata": {"finalizers": null}}));
    is_gone(cluster, &held);
}
