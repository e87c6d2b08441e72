//! Dumps provide facts, and snapshot files keep them.

use super::*;
use crate::dump;
use gc_core::model::{
    Fact, ObjectId,
    facts::{LeaseFacts, Setter, SliceFacts, TokenFacts, WorkloadFacts},
};

/// One object of every kind with facts, the metadata last.
const OBJECTS: &str = include_str!("facts.yaml");

fn id(snapshot: &Snapshot, uid: &str) -> ObjectId {
    snapshot.strings.find(uid).and_then(|uid| snapshot.by_uid(uid)).unwrap_or_else(|| panic!("{uid}"))
}

fn written(snapshot: &Snapshot) -> String {
    let mut bytes = Vec::new();
    dump::write(snapshot, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn dumps_provide_facts_and_snapshot_files_keep_them() {
    let plain = read(OBJECTS);
    let file = written(&plain);
    assert!(!file.contains("hidden"));
    for snapshot in [&plain, &read(&file)] {
        let facts = &snapshot.facts;
        assert_eq!(
            facts.workload(id(snapshot, "uid-web")),
            Some(&WorkloadFacts { wanted: Some(2), ready: 1, ..WorkloadFacts::default() })
        );
        let lease = LeaseFacts {
            holder: Some("acme-0".to_owned()),
            seconds: Some(15),
            renewed: Some(1_769_846_400),
            seen: None,
        };
        assert_eq!(facts.lease(id(snapshot, "uid-acme")), Some(&lease));
        assert_eq!(facts.slice(id(snapshot, "uid-web-1")), Some(&SliceFacts { ready: 1, pods: Vec::new() }));
        assert_eq!(facts.slice(id(snapshot, "uid-web-2")), Some(&SliceFacts::default()));
        let webhook = &facts.webhooks(id(snapshot, "uid-hook")).unwrap().webhooks[0];
        assert_eq!(webhook.backend.as_ref().unwrap().service(), Some(("acme", "hook")));
        let pods = snapshot.resources.by_group_kind("", "Pod").unwrap();
        assert!(webhook.required && webhook.matches(snapshot.resources.get(pods), "DELETE"));
        let api = facts.api_service(id(snapshot, "uid-api")).unwrap();
        assert_eq!(
            (api.available, api.reason.as_str(), api.message.as_str()),
            (Some(false), "ServiceNotFound", "gone")
        );
        assert_eq!(facts.namespace(id(snapshot, "uid-shop")).unwrap().conditions[0].kind, "NamespaceContentRemaining");
        let definition = facts.definition(id(snapshot, "uid-crd")).unwrap();
        assert_eq!(definition.conditions[0].reason, "InstanceDeletionInProgress");
        assert!(definition.conversion.is_some() && !definition.established);
        for name in ["hook", "kube-system", "metrics"] {
            assert!(snapshot.strings.find(name).is_some(), "{name} can be looked up");
        }
    }
}

#[test]
fn snapshot_files_without_new_fields_are_read() {
    let text = written(&read(OBJECTS));
    let old = text
        .replace(r#","conditions":[{"type":"NamespaceContentRemaining","reason":"R","message":"M"}]"#, "")
        .replace(r#","conditions":[{"type":"Terminating","reason":"InstanceDeletionInProgress"}]"#, "")
        .replace(r#","conversion":{"url":"https://acme.io"}"#, "")
        .replace(r#","conditional":false"#, "");
    assert!(!["condition", "conversion"].iter().any(|new| old.contains(new)), "all of it was taken out");
    let snapshot = read(&old);
    assert_eq!(snapshot.facts.namespace(id(&snapshot, "uid-shop")).unwrap().finalizers, ["kubernetes"]);
    assert_eq!(snapshot.facts.definition(id(&snapshot, "uid-crd")).unwrap().kind, "Shop");
}

#[test]
fn setters_are_read_from_managed_fields() {
    let config_map = |name: &str, more: &str| object("v1", "ConfigMap", "shop", name, more);
    let fields = |manager: &str, finalizer: &str| {
        format!(
            r#"{{"manager":"{manager}","operation":"Update","apiVersion":"v1","time":"2026-01-31T08:00:00Z","fieldsType":"FieldsV1",
            "fieldsV1":{{"f:data":{{"f:password":{{}}}},"f:metadata":{{"f:finalizers":{{".":{{}},"v:\"{finalizer}\"":{{}}}}}}}}}}"#
        )
    };
    let (a, b) = (fields("acme", "acme.io/x"), fields("acme", "acme.io/y"));
    let finalizers = r#","finalizers":["acme.io/x"]"#;
    let text = [
        config_map("noted", &format!(r#"{finalizers},"managedFields":[{a}]"#)),
        config_map("before", &format!(r#","managedFields":[{b}]{finalizers}"#)),
        config_map("nobody", &format!(r#"{finalizers},"managedFields":[]"#)),
        config_map("omitted", finalizers),
        config_map("free", &format!(r#","managedFields":[{a}]"#)),
    ]
    .concat();
    let plain = read(&text);
    let file = written(&plain);
    for snapshot in [&plain, &read(&file)] {
        let setters = |name: &str| snapshot.facts.setters(id(snapshot, &format!("uid-{name}"))).map(<[Setter]>::to_vec);
        let by_acme = |finalizer: &str| {
            vec![Setter { finalizer: finalizer.to_owned(), manager: "acme".to_owned(), time: Some(1_769_846_400) }]
        };
        assert_eq!(setters("noted"), Some(by_acme("acme.io/x")));
        assert_eq!(setters("before"), Some(by_acme("acme.io/y")));
        assert_eq!(setters("nobody"), Some(Vec::new()));
        assert_eq!(setters("omitted"), None);
        assert_eq!(setters("free"), None, "nobody asks who set the finalizers of an object without any");
    }
    assert!(!file.contains("password"));
    let broken = error(&file.replace(r#""manager":"acme""#, r#""manager":7"#));
    assert!(broken.contains("setters: invalid type"), "{broken}");
}

#[test]
fn a_part_that_is_missing_tells_nothing() {
    let text = [
        object("apps/v1", "Deployment", "shop", "a", "").replace("}}", r#"},"spec":{"replicas":1}}"#),
        object("discovery.k8s.io/v1", "EndpointSlice", "shop", "b", ""),
        object("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", "", "c", ""),
    ];
    let snapshot = read(&text.concat());
    assert_eq!(snapshot.len(), 3);
    let facts: Vec<&Fact> = snapshot.objects().filter_map(|(id, _)| snapshot.facts.get(id)).collect();
    assert!(facts.is_empty(), "{facts:?}");
}

#[test]
fn facts_in_annotations_are_read() {
    let text = |kind: &str, annotations: &str, more: &str| {
        format!(
            r#"{{"apiVersion":"v1","kind":"{kind}","metadata":{{"namespace":"shop","name":"a","uid":"1",
            "annotations":{{{annotations},"secret":"thing"}}}},{more}}}"#
        )
    };
    let account = r#""kubernetes.io/service-account.name":"robot""#;
    let snapshot = read(&text("Secret", account, r#""type":"kubernetes.io/service-account-token""#));
    let token = TokenFacts { account: "robot".to_owned(), uid: None };
    assert_eq!(snapshot.facts.get(id(&snapshot, "1")), Some(&Fact::Token(token)));
    let cost = r#""controller.kubernetes.io/pod-deletion-cost":"7""#;
    let snapshot = read(&text("Pod", cost, r#""spec":{}"#));
    assert_eq!(snapshot.facts.pod(id(&snapshot, "1")).unwrap().deletion_cost, 7);
}
