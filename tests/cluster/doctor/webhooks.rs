//! Admission webhooks that block requests because the API server can't call them (S9).

use std::{panic::resume_unwind, thread, time::Duration};

use serde_json::{Value, json};

use super::{
    Found, examine,
    kit::{is_gone, names, words},
    mends, mends_with,
};
use crate::{
    harness::{Cluster, CountingProxy, uid},
    plan::trial::Trial,
};

/// The configuration of a webhook for updates and deletes of Widgets.
fn webhook(name: &str, client: &Value, more: &Value) -> Value {
    let mut webhook = json!({
        "name": format!("{name}.odd.test"),
        "clientConfig": client,
        "rules": [{"apiGroups": ["gc.test"], "apiVersions": ["v1"], "resources": ["widgets"], "operations": ["UPDATE",
            "DELETE"]}],
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "timeoutSeconds": 1,
    });
    for (key, value) in more.as_object().into_iter().flatten() {
        webhook[key] = value.clone();
    }
    object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {"name": name, "webhooks": [webhook]})
}

fn service(namespace: &str, name: &str) -> Value {
    json!({"service": {"namespace": namespace, "name": name}})
}

/// Some webhooks without a running backend, and some that block nothing.
pub fn webhooks_that_cannot_be_asked(cluster: &Cluster) {
    let trial = Trial::on(cluster, "hooked", "Foreground");
    let place = trial.namespace.as_str();
    for name in ["silent", "answers", "rolling"] {
        let spec = json!({"ports": [{"port": 443}]});
        cluster.create(object!("v1 Service", {"name": name, "namespace": place, "spec": spec}));
    }
    let slice = |name: &str, of: &str, ready: bool| {
        cluster.create(object!("discovery.k8s.io/v1 EndpointSlice", {
            "name": name, "namespace": place, "labels": {"kubernetes.io/service-name": of},
            "addressType": "IPv4",
            "endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": ready}}],
        }))
    };
    cluster.create(object!("v1 Service", {
        "name": "outside", "namespace": place,
        "spec": {"type": "ExternalName", "externalName": "hooks.odd.test"},
    }));
    slice("silent-1", "silent", false);
    slice("answers-1", "answers", false);
    slice("answers-2", "answers", true);
    let owner = trial.config_map("owner").create();
    let held = trial.widget("held").blocking(&owner).create();
    cluster.seen_by_collector(&[uid(&held)]);

    // Not findings: webhooks that match no resource, whose failure is ignored, or that may have a backend.
    let elsewhere = json!({"rules": [{"apiGroups": ["odd.test"], "apiVersions": ["*"], "resources": ["nothings"],
        "operations": ["*"]}]});
    cluster.create(webhook("elsewhere", &service(place, "missing"), &elsewhere));
    cluster.create(webhook("ignored", &service(place, "missing"), &json!({"failurePolicy": "Ignore"})));
    let none = json!({"objectSelector": {"matchLabels": {"no": "widget"}}});
    cluster.create(webhook("outside", &json!({"url": "https://127.0.0.1:1/"}), &none));
    cluster.create(webhook("answers", &service(place, "answers"), &none));
    cluster.create(webhook("named-outside", &service(place, "outside"), &none));
    // One for another namespace is none of this one's.
    let only = json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "default"}}});
    let of_default = cluster.create(webhook("of-default", &service(place, "missing"), &only));
    let about = |scope: &str| examine(cluster, &["-n", scope]).about("webhook-unreachable", "of-default").len();
    assert_eq!((about(place), about("default")), (0, 1));
    cluster.delete(&cluster.path_of(&of_default), None, None);
    // A warning only: its selectors match few objects, and as far as the doctor can see, the collector processes none
    // of them.
    cluster.create(webhook("selective", &service(place, "missing"), &none));
    let found = examine(cluster, &[]);
    assert_eq!((found.findings().count(), found.code), (1, Some(0)), "{:#}", found.document);
    let finding = found.one("webhook-unreachable", "selective");
    assert_eq!(finding["severity"], "Warning");
    assert_eq!(
        words(finding, "message"),
        format!(
            "The API server must call the webhook selective.odd.test before it deletes or changes \
             widgets.gc.test, as far as its selectors match; Service/missing -n {place} does not exist."
        )
    );
    mends_with(cluster, &[], "webhook-unreachable", "selective", 1);

    // A rollout: the backend is down at the first look only, so it is no finding.
    let rolling = slice("rolling-1", "rolling", false);
    cluster.create(webhook("rolling", &service(place, "rolling"), &none));
    let proxy = CountingProxy::start(cluster);
    let slices = format!("/namespaces/{place}/endpointslices");
    let is_asked = || proxy.requests().iter().any(|request| request.path.contains(&slices) && request.finished);
    let args = ["doctor", "-o", "json", "--only=webhook-unreachable"];
    let found = thread::scope(|scope| {
        let doctor = scope.spawn(|| Found::of(&cluster.gc_with(proxy.kubeconfig(), &args)));
        cluster.wait_until("a look at the backend", Duration::from_secs(60), is_asked);
        cluster.patch(
            &cluster.path_of(&rolling),
            &json!({"endpoints": [{"addresses": ["10.1.0.1"], "conditions": {"ready": true}}]}),
        );
        doctor.join().unwrap_or_else(|panic| resume_unwind(panic))
    });
    assert_eq!(found.findings().count(), 0, "{:#}", found.document);

    cluster.create(webhook("silent", &service(place, "silent"), &json!({})));
    cluster.wait_until("the webhook to be asked", Duration::from_secs(30), || {
        let path = cluster.path_of(&held);
        let body = json!({"metadata": {"labels": {"a": "b"}}});
        !cluster.ask(&http::Method::PATCH, &path, Some(("application/merge-patch+json", &body))).is_success()
    });
    cluster.delete(&cluster.path_of(&owner), Some("Foreground"), None);
    cluster.settled();
    let found = examine(cluster, &[]);
    // There is no Widget in the other namespace.
    assert!(examine(cluster, &["-n", "default"]).about("webhook-unreachable", "silent").is_empty());
    let finding = found.one("webhook-unreachable", "silent");
    assert_eq!((found.findings().count(), &finding["severity"]), (1, &json!("Error")), "{:#}", found.document);
    assert_eq!(names(&finding["related"]), ["owner", "held"], "{finding:#}");
    assert!(
        words(finding, "message").ends_with(&format!("; Service/silent -n {place} has no endpoint that is ready."))
    );
    assert!(
        words(finding, "consequence").ends_with("it deletes 1 existing object. Decide first whether you want that."),
        "{finding:#}"
    );
    mends(cluster, &[], "webhook-unreachable", "silent");
    for gone in [&held, &owner] {
        is_gone(cluster, gone);
    }
    for name in ["elsewhere", "ignored", "outside", "answers", "named-outside", "rolling", "silent"] {
        cluster.delete(
            &format!("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{name}"),
            None,
            None,
        );
    }
}
