//! One list that can't be read is a gap and changes nothing else.

use serde_json::json;

use super::{certain, family, gaps};
use crate::harness::{CountingProxy, Fault};

#[test]
fn a_list_that_fails_is_a_gap() {
    let (trial, _) = family("gap");
    let cluster = trial.cluster;
    cluster.settled();
    let proxy = CountingProxy::start(cluster);
    let whole = cluster.gc_with(proxy.kubeconfig(), &["tree", "-o", "json", "-n", &trial.namespace]);
    let whole = serde_json::from_str::<serde_json::Value>(whole.expect(0)).expect("JSON");
    assert_eq!((gaps(&whole), &whole["complete"]), (Vec::new(), &json!(true)));

    let garbage = Fault::Answer { status: 200, headers: Vec::new(), body: json!("garbage") };
    let faults = [
        (Fault::status(403, "Forbidden"), "forbidden"),
        (Fault::status(500, "InternalError"), "500 Internal Server Error: InternalError, says the test's proxy"),
        (
            Fault::status(503, "ServiceUnavailable"),
            "503 Service Unavailable: ServiceUnavailable, says the test's proxy",
        ),
        (Fault::Hang, "timed out after 5s"),
        (garbage, "unreadable answer: "),
        (Fault::CutAfter(10), "the connection was lost"),
    ];
    for (fault, reason) in faults {
        let secrets = format!("/api/v1/namespaces/{}/secrets", trial.namespace);
        let spoilt = fault.clone();
        proxy.with(move |request| (request.path == secrets).then(|| spoilt.clone()));
        let args = ["tree", "-o", "json", "-n", &trial.namespace, "--request-timeout=5s"];
        let ran = cluster.gc_with(proxy.kubeconfig(), &args).ended(0);
        let mut document = ran.json();
        let describe = gaps(&document);
        let expected = format!("secrets in {}: {reason}", trial.namespace);
        assert!(describe.len() == 1 && describe[0].starts_with(&expected), "{fault:?}: {describe:?}");
        let line = format!("Could not list: secrets in namespace {} ({reason}", trial.namespace);
        assert!(ran.stderr.starts_with(&line) && ran.stderr.lines().count() == 1, "{fault:?}: {}", ran.stderr);
        assert_eq!(document["complete"], false);
        document["gaps"] = json!([]);
        document["complete"] = json!(true);
        // It is read through the proxy, and at another time.
        document["read"] = whole["read"].clone();
        assert_eq!(document, whole, "{fault:?}: the rest is not the same");
    }
}

#[test]
fn a_list_that_fails_makes_waiting_uncertain() {
    let (trial, _) = family("gap-plan");
    let cluster = trial.cluster;
    cluster.settled();
    let proxy = CountingProxy::start(cluster);
    proxy.with(|request| (request.path == "/api/v1/secrets").then(|| Fault::status(403, "Forbidden")));
    let plan = |policy: &str| {
        let propagation = format!("--propagation={policy}");
        // A kind that may not be listed everywhere is listed in the namespace.
        let ran = cluster
            .gc_with(proxy.kubeconfig(), &["plan", "-o", "json", "-n", &trial.namespace, &propagation, "widget/owner"]);
        ran.expect(0);
        let plan = ran.json();
        assert_eq!(gaps(&plan), [format!("secrets in -: forbidden outside of namespace {}", trial.namespace)]);
        plan
    };
    let foreground = plan("foreground");
    assert!(!certain(&foreground, "owner"), "a secret elsewhere could block it: {:#}", foreground["outcomes"]);
    let background = plan("background");
    assert!(
        certain(&background, "owner") && certain(&background, "dependent"),
        "no secret can hold these: {:#}",
        background["outcomes"]
    );
}

#[test]
fn what_may_pass_is_waited_for() {
    let (trial, _) = family("retry");
    let cluster = trial.cluster;
    let proxy = CountingProxy::start(cluster);
    let left = std::sync::atomic::AtomicUsize::new(2);
    let busy = Fault::Answer {
        status: 429,
        headers: vec![("retry-after", "0")],
        body: json!({"apiVersion": "v1", "kind": "Status", "status": "Failure", "code": 429,
            "reason": "TooManyRequests"}),
    };
    proxy.with(move |request| {
        let strikes = request.path.ends_with("/configmaps")
            && left
                .fetch_update(std::sync::atomic::Ordering::SeqCst, std::sync::atomic::Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                })
                .is_ok();
        strikes.then(|| busy.clone())
    });
    let ran = cluster.gc_with(proxy.kubeconfig(), &["tree", "-o", "name", "-n", &trial.namespace]);
    assert_eq!((ran.expect(0).lines().count(), ran.stderr.as_str()), (2, ""));
}
