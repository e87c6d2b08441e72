//! Facts are read from whole objects and stay with their objects.

use serde_json::{Value, json};

use super::*;
use crate::model::{Origin, RawObject, ResourceId, SnapshotBuilder, well_known};

fn read(group: &str, kind: &str, object: &Value) -> Option<Fact> {
    assert!(has_facts(group, kind, std::iter::empty()), "{group} {kind}");
    let facts = read_facts(group, kind, object);
    let mut kept = object.clone();
    for (key, value) in kept.as_object_mut().into_iter().flatten() {
        if let Some(keep) = keys_with_facts(group, kind, key) {
            filter(value, (0, ""), keep);
        }
    }
    assert_eq!(read_facts(group, kind, &kept), facts, "{object} and {kept}");
    facts
}

fn filter(value: &mut Value, (depth, above): (usize, &str), keep: fn(usize, &str, &str) -> bool) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| filter(item, (depth, above), keep)),
        Value::Object(fields) => {
            fields.retain(|key, _| keep(depth, above, key));
            fields.iter_mut().for_each(|(key, field)| filter(field, (depth + 1, key), keep));
        }
        _ => {}
    }
}

#[test]
fn workloads_have_ready_pods() {
    let workload = |wanted, ready| Some(Fact::Workload(WorkloadFacts { wanted, ready, ..WorkloadFacts::default() }));
    for kind in ["Deployment", "ReplicaSet"] {
        let object = json!({"spec": {"replicas": 3}, "status": {"replicas": 3, "readyReplicas": 2}});
        assert_eq!(read("apps", kind, &object), workload(Some(3), 2));
        assert_eq!(read("apps", kind, &json!({"spec": {}, "status": {}})), workload(None, 0));
        assert_eq!(read("apps", kind, &json!({"spec": {"replicas": 3}})), None, "nobody says that none is ready");
    }
    // A StatefulSet has its claims all the same.
    let policy = json!({"persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete"}});
    let Some(Fact::Workload(facts)) = read("apps", "StatefulSet", &json!({"spec": policy})) else { panic!("no facts") };
    assert!(facts.without_status && facts.claims.is_some_and(|claims| claims.deleted));
    let object = json!({"spec": {}, "status": {"desiredNumberScheduled": 5, "numberReady": 4}});
    assert_eq!(read("apps", "DaemonSet", &object), workload(Some(5), 4));
}

#[test]
fn workloads_say_what_they_handle() {
    let of = |kind: &str, container: Value| {
        let template = json!({"metadata": {"labels": {"app": "x"}},
            "spec": {"volumes": [], "containers": [{"name": "proxy", "args": ["--v=4"]}, container]}});
        let object = json!({"status": {}, "spec": {"template": template}});
        match read("apps", kind, &object) {
            Some(Fact::Workload(facts)) => facts.limits.map(|limits| *limits),
            _ => panic!("no facts of {object}"),
        }
    };
    let namespaces = |names: &[&str]| {
        let namespaces = names.iter().map(|name| (*name).to_owned()).collect();
        Some(Limits { namespaces, ..Limits::default() })
    };
    for kind in ["Deployment", "StatefulSet", "DaemonSet"] {
        assert_eq!(of(kind, json!({"args": ["--metrics", "-namespaces", "a,b"]})), namespaces(&["a", "b"]));
    }
    assert_eq!(of("ReplicaSet", json!({"args": ["--namespace=a"]})), None);
    let field = json!({"valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}}});
    let variable = |name: &str, mut value: Value| {
        value["name"] = json!(name);
        json!({"env": [value], "args": ["--namespace=$(X)"]})
    };
    assert_eq!(of("Deployment", variable("WATCH_NAMESPACE", field.clone())), namespaces(&[Limits::OWN]));
    assert_eq!(of("Deployment", variable("X", field)), namespaces(&[Limits::OWN]));
    assert_eq!(of("Deployment", variable("X", json!({}))), namespaces(&["*"]));
    let unread = |place: &str| Some(Limits { unread: Some(place.to_owned()), ..Limits::default() });
    let key = json!({"valueFrom": {"configMapKeyRef": {"name": "m", "key": "k", "optional": true}}});
    assert_eq!(of("Deployment", variable("WATCH_NAMESPACE", key)), unread("ConfigMap/m"));
    assert_eq!(of("Deployment", variable("Y", json!({}))), unread("what its arguments refer to"));
    assert_eq!(of("Deployment", json!({"args": ["--namespaced"]})), namespaces(&[Limits::OWN]));
    let selector = of("Deployment", json!({"args": ["--watch-label-selector", "a=b"]}));
    assert_eq!(selector.and_then(|limits| limits.selector).as_deref(), Some("a=b"));
}

#[test]
fn workloads_have_selectors() {
    let requirement = |key: &str, operator: &str, values: &[&str]| LabelRequirement {
        key: key.to_owned(),
        operator: operator.to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
    };
    let app = || requirement("app", "In", &["web"]);
    let selector = |group: &str, kind: &str, selector: Value| {
        let object = json!({"spec": {"selector": selector}, "status": {}});
        match read(group, kind, &object) {
            Some(Fact::Workload(facts)) => facts.selector,
            Some(Fact::Job(facts)) => facts.selector,
            other => panic!("{other:?}"),
        }
    };
    let expressions = json!([{"key": "tier", "operator": "Exists"}]);
    for (group, kind) in [("apps", "ReplicaSet"), ("apps", "Deployment"), ("apps", "DaemonSet"), ("batch", "Job")] {
        let labels = json!({"matchLabels": {"app": "web"}, "matchExpressions": expressions});
        let expected = LabelSelector(vec![app(), requirement("tier", "Exists", &[])]);
        assert_eq!(selector(group, kind, labels), Some(expected), "{kind}");
        assert_eq!(selector(group, kind, Value::Null), None, "{kind}");
    }
    assert_eq!(selector("", "ReplicationController", json!({"app": "web"})), Some(LabelSelector(vec![app()])));
}

#[test]
fn pods_have_a_deletion_cost() {
    let cost =
        |annotations: Value| match read("", "Pod", &json!({"metadata": {"annotations": annotations}, "spec": {}})) {
            Some(Fact::Pod(facts)) => facts.deletion_cost,
            other => panic!("{other:?}"),
        };
    assert_eq!(cost(json!({"controller.kubernetes.io/pod-deletion-cost": "-5"})), -5);
    assert_eq!(cost(json!({"controller.kubernetes.io/pod-deletion-cost": "cheap"})), 0);
    assert_eq!(cost(Value::Null), 0);
}

#[test]
fn a_stateful_set_keeps_its_claims_unless_it_says_otherwise() {
    let claims = |spec: Value| match read("apps", "StatefulSet", &json!({"spec": spec, "status": {}})) {
        Some(Fact::Workload(facts)) => facts.claims.map(|claims| (claims.names.join(" "), claims.deleted)),
        other => panic!("{other:?}"),
    };
    let policy = |when: &str| json!({"whenDeleted": when, "whenScaled": "Delete"});
    assert_eq!(claims(json!({})), Some((String::new(), false)));
    let templates = json!([{"metadata": {"name": "data"}}, {"metadata": {"name": "log"}}, {}]);
    assert_eq!(claims(json!({"volumeClaimTemplates": templates})), Some(("data log".to_owned(), false)));
    let kept = json!({"volumeClaimTemplates": templates, "persistentVolumeClaimRetentionPolicy": policy("Retain")});
    assert_eq!(claims(kept), Some(("data log".to_owned(), false)));
    let deleted = json!({"persistentVolumeClaimRetentionPolicy": policy("Delete")});
    assert_eq!(claims(deleted), Some((String::new(), true)));
}

#[test]
fn leases_have_a_holder() {
    let object = json!({"spec": {"holderIdentity": "acme-0", "leaseDurationSeconds": 15,
        "renewTime": "2026-01-31T08:00:00.123456Z"}});
    let holder = Some("acme-0".to_owned());
    let lease = LeaseFacts { holder, seconds: Some(15), renewed: Some(1_769_846_400), seen: None };
    assert_eq!(read("coordination.k8s.io", "Lease", &object), Some(Fact::Lease(lease)));
    let renewed = |written: &str| {
        let entries = json!([{"time": "2026-01-31T09:00:00Z", "fieldsV1": {"f:metadata": {}}},
            {"time": written, "fieldsV1": {"f:spec": {"f:renewTime": {}}}}]);
        let metadata = json!({"creationTimestamp": "2026-01-31T08:02:00Z", "managedFields": entries});
        let lease = json!({"metadata": metadata, "spec": object["spec"]});
        read("coordination.k8s.io", "Lease", &lease).and_then(|fact| match fact {
            Fact::Lease(lease) => lease.renewed,
            _ => None,
        })
    };
    // Its holder's clock is behind. Who has only made it may have written any time.
    assert_eq!(renewed("2026-01-31T08:02:16Z"), Some(1_769_846_400 + 136));
    assert_eq!(renewed("2026-01-31T08:02:15Z"), Some(1_769_846_400));
    let given_up = json!({"spec": {"holderIdentity": "", "renewTime": "soon"}});
    assert_eq!(read("coordination.k8s.io", "Lease", &given_up), Some(Fact::Lease(LeaseFacts::default())));
    assert_eq!(read("coordination.k8s.io", "Lease", &json!({})), None);
}

#[test]
fn slices_count_endpoints_that_are_not_unready() {
    let slice = |object| read("discovery.k8s.io", "EndpointSlice", &object);
    let ready = |ready| Some(Fact::Slice(SliceFacts { ready, pods: Vec::new() }));
    let endpoints = json!([{"conditions": {"ready": true}}, {"conditions": {"ready": false}}, {"conditions": {}}, {}]);
    assert_eq!(slice(json!({"endpoints": endpoints})), ready(3));
    assert_eq!(slice(json!({"endpoints": null})), ready(0));
    assert_eq!(slice(json!({"metadata": {}})), None);
}

#[test]
fn api_services_are_available_or_not() {
    let read = |object| match read("apiregistration.k8s.io", "APIService", &object) {
        Some(Fact::ApiService(facts)) => facts,
        other => panic!("{other:?}"),
    };
    let condition = |status: &str| {
        json!({"conditions": [{"type": "Other", "status": "True"}, {"type": "Available",
        "status": status, "reason": "R", "message": "M", "lastTransitionTime": "1970-01-01T00:01:00Z"}]})
    };
    let spec = json!({"group": "metrics.k8s.io", "version": "v1beta1", "service": {"namespace": "kube-system",
        "name": "metrics"}});
    let facts = read(json!({"spec": spec, "status": condition("False")}));
    let service = Backend::Service { namespace: "kube-system".to_owned(), name: "metrics".to_owned(), port: 443 };
    let expected = ApiServiceFacts {
        group: "metrics.k8s.io".to_owned(),
        version: "v1beta1".to_owned(),
        service: Some(service),
        available: Some(false),
        since: 60.try_into().ok(),
        reason: "R".to_owned(),
        message: "M".to_owned(),
    };
    assert_eq!(facts, expected);
    let available = |status| read(json!({"spec": {"version": "v1"}, "status": status})).available;
    assert_eq!(
        [available(condition("True")), available(condition("Unknown")), available(json!({}))],
        [Some(true), None, None]
    );
    assert_eq!(read(json!({"spec": {"version": "v1"}})).service, None);
}

#[test]
fn webhooks_are_required_and_unselective_by_default() {
    let read = |kind, object| match read("admissionregistration.k8s.io", kind, &object) {
        Some(Fact::Webhooks(facts)) => facts.webhooks,
        other => panic!("{other:?}"),
    };
    let rule = json!({"apiGroups": ["apps"], "apiVersions": ["v1"], "resources": ["deployments"],
        "operations": ["DELETE"], "scope": "*"});
    let service = json!({"service": {"namespace": "acme", "name": "hook", "port": 443}});
    let full = json!({"webhooks": [{"name": "a.acme.io", "clientConfig": service, "rules": [rule]}]});
    for kind in ["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"] {
        let webhooks = read(kind, full.clone());
        let [webhook] = webhooks.as_slice() else { panic!("{webhooks:?}") };
        assert_eq!(webhook.backend.as_ref().and_then(Backend::service), Some(("acme", "hook")));
        assert_eq!(
            (webhook.name.as_str(), webhook.required, webhook.selective, webhook.exact),
            ("a.acme.io", true, false, false)
        );
        let expected = WebhookRule {
            groups: vec!["apps".to_owned()],
            versions: vec!["v1".to_owned()],
            resources: vec!["deployments".to_owned()],
            operations: vec!["DELETE".to_owned()],
            scope: Some("*".to_owned()),
            names: Vec::new(),
        };
        assert_eq!(webhook.rules, [expected]);
        assert!(read(kind, json!({})).is_empty());
    }
    let one = |webhook: Value| read("ValidatingWebhookConfiguration", json!({"webhooks": [webhook]})).remove(0);
    let url =
        one(json!({"clientConfig": {"url": "https://acme.io"}, "failurePolicy": "Ignore", "matchPolicy": "Exact"}));
    assert_eq!((url.backend, url.required, url.exact), (Some(Backend::Url("https://acme.io".to_owned())), false, true));
    assert!(one(json!({"failurePolicy": "Fail", "matchPolicy": "Equivalent"})).required);
    let selective = |key: &str, value: Value| one(json!({ key: value })).selective;
    for selector in ["namespaceSelector", "objectSelector"] {
        assert!(
            !selective(selector, json!({})) && !selective(selector, json!({"matchLabels": {}, "matchExpressions": []}))
        );
        assert!(selective(selector, json!({"matchLabels": {"a": "b"}})));
        assert!(selective(selector, json!({"matchExpressions": [{"key": "a", "operator": "Exists"}]})));
    }
    for (conditions, expected) in [
        (json!([]), (false, false)),
        (json!([{"name": "x", "expression": "true"}]), (false, false)),
        (json!([{"name": "x", "expression": "true"}, {"name": "y", "expression": "object != null"}]), (true, false)),
        (json!([{"name": "x", "expression": "request.resource.resource != \"persistentvolumes\""}]), (false, false)),
        (json!([{"name": "x", "expression": "request.resource.resource != \"a\" || true"}]), (true, false)),
        (json!([{"name": "x", "expression": "object != null"}, {"name": "y", "expression": " false"}]), (false, true)),
    ] {
        let webhook = one(json!({"matchConditions": conditions}));
        assert_eq!((webhook.conditional, webhook.never), expected, "{conditions}");
        assert_eq!(webhook.selective, webhook.conditional);
    }
}

#[test]
fn fields_of_the_wrong_type_are_ignored() {
    for (group, kind) in [
        ("", "Namespace"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("apps", "DaemonSet"),
        ("coordination.k8s.io", "Lease"),
        ("discovery.k8s.io", "EndpointSlice"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ] {
        for wrong in
            [json!(null), json!(7), json!([[7]]), json!({"conditions": [7, {"status": "True"}], "conversion": []})]
        {
            read(group, kind, &json!({"spec": wrong, "status": wrong, "endpoints": wrong, "webhooks": wrong}));
        }
    }
}

#[test]
fn whole_reading_is_for_kinds_with_facts() {
    for kind in [
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
    ] {
        assert!(read_whole("admissionregistration.k8s.io", kind));
    }
    assert!(read_whole("apiregistration.k8s.io", "APIService"));
    assert!(!read_whole("apps", "Deployment"));
}

/// A builder with Leases of these names, and their ids.
fn leases(names: &[&'static str]) -> (SnapshotBuilder, Vec<ObjectId>) {
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: Vec::new() }, well_known::served());
    let resource = lease(&mut builder);
    let ids = names.iter().map(|name| builder.add(resource, &object(name, name))).collect();
    (builder, ids)
}

fn lease(builder: &mut SnapshotBuilder) -> ResourceId {
    builder.snapshot().resources.by_group_kind("coordination.k8s.io", "Lease").unwrap()
}

fn object<'a>(name: &'a str, uid: &'a str) -> RawObject<'a> {
    RawObject::named("shop", name, uid)
}

fn set_by(manager: &str) -> Vec<Setter> {
    vec![Setter { finalizer: "acme.io/x".to_owned(), manager: manager.to_owned(), time: None }]
}

#[test]
fn facts_and_setters_follow_their_objects() {
    let (mut builder, ids) = leases(&["b", "a"]);
    for (id, name) in ids.iter().zip(["b", "a"]) {
        let facts = &mut builder.snapshot().facts;
        facts.insert(*id, Fact::Lease(LeaseFacts { holder: Some(name.to_owned()), ..LeaseFacts::default() }));
        facts.insert_setters(*id, set_by(name));
    }
    builder.sort();
    let mut snapshot = builder.build();
    for (id, object) in snapshot.objects() {
        let name = snapshot.text(object.name);
        assert_eq!(snapshot.facts.lease(id).unwrap().holder.as_deref(), Some(name));
        assert_eq!(snapshot.facts.setters(id), Some(set_by(name).as_slice()));
    }
    // A new object with the first one's coordinate has no facts yet.
    let resource = snapshot.object(ObjectId(0)).resource;
    let replaced = snapshot.found(resource, &object("a", "another"));
    assert_eq!((snapshot.facts.lease(replaced), snapshot.facts.setters(replaced)), (None, None));
    assert_eq!(snapshot.facts.setters(ObjectId(1)), Some(set_by("b").as_slice()));
}

#[test]
fn backends_can_be_looked_up() {
    let backend = |name: &str| {
        Some(Backend::Service { namespace: format!("{name}-namespace"), name: name.to_owned(), port: 443 })
    };
    let facts = [
        Fact::Definition(DefinitionFacts {
            conversion: backend("converter").map(Box::new),
            ..DefinitionFacts::default()
        }),
        Fact::ApiService(ApiServiceFacts { service: backend("api"), ..ApiServiceFacts::default() }),
        Fact::Webhooks(WebhookFacts { webhooks: vec![Webhook { backend: backend("hook"), ..Webhook::default() }] }),
    ];
    let (mut builder, ids) = leases(&["a"]);
    for (fact, name) in facts.into_iter().zip(["converter", "api", "hook"]) {
        let snapshot = builder.snapshot();
        snapshot.learn(ids[0], fact);
        assert!(
            snapshot.strings.find(name).is_some() && snapshot.strings.find(&format!("{name}-namespace")).is_some(),
            "{name}"
        );
    }
}

#[test]
fn roles_and_bindings_say_who_may_change_what() {
    let rbac = |kind, object| read(RBAC, kind, &object);
    let role = json!({"kind": "ClusterRole", "name": "pg"});
    let subjects = json!([
        {"kind": "ServiceAccount", "namespace": "operators", "name": "pg"},
        {"kind": "ServiceAccount", "name": "web"},
        {"kind": "User", "name": "system:serviceaccount:a:b"},
        {"kind": "User", "name": "jane"},
        {"kind": "Group", "name": "system:serviceaccounts:a"},
        {"kind": "Group", "name": "admins"},
    ]);
    let accounts = [
        "system:serviceaccount:operators:pg",
        "system:serviceaccount:vault:web",
        "system:serviceaccount:a:b",
        "system:serviceaccounts:a",
    ];
    let binding = BindingFacts { role: "pg".to_owned(), cluster: true, accounts: accounts.map(str::to_owned).to_vec() };
    let object = json!({"metadata": {"namespace": "vault"}, "roleRef": role, "subjects": subjects});
    assert_eq!(rbac("RoleBinding", object), Some(Fact::Binding(binding)));
    assert_eq!(rbac("ClusterRoleBinding", json!({"metadata": {}})), None);
    let rule = |verbs: &[&str]| json!({"apiGroups": ["a"], "resources": ["b"], "resourceNames": ["c"], "verbs": verbs});
    let rules = json!({"rules": [rule(&["get", "patch"]), rule(&["delete"])]});
    let texts = |text: &str| vec![text.to_owned()];
    let writes = vec![WriteRule { groups: texts("a"), resources: texts("b"), names: texts("c") }];
    assert_eq!(rbac("Role", rules), Some(Fact::Role(RoleFacts { writes, ..RoleFacts::default() })));
    let labels = json!({"matchLabels": {"app": "web"}});
    let parts = json!({"rules": null, "aggregationRule": {"clusterRoleSelectors": [labels, {}]}});
    let parts = rbac("ClusterRole", parts).unwrap();
    assert!(matches!(parts, Fact::Role(facts) if facts.parts.iter().map(|part| part.0.len()).eq([1, 0])));
    assert_eq!(rbac("ClusterRole", json!({"rules": null})), Some(Fact::Role(RoleFacts::default())));
    assert_eq!(rbac("ClusterRole", json!({"metadata": {}})), None);
}
