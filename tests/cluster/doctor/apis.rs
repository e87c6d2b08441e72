//! Faults that hide objects from the collector and every other client: unavailable aggregated APIs (R9.11),
//! failing conversion webhooks (R2.6), lists that fail; and CRDs that wait for their instances (S17).

use std::sync::atomic::{AtomicUsize, Ordering};

use http::Method;
use serde_json::{Value, json};

use super::{
    Found, examine, follow,
    kit::{aged, is_gone, is_terminating, names, namespace, words},
    mends, paste,
    webhooks::webhooks_that_cannot_be_asked,
};
use crate::{
    harness::{
        Alone, COLLECTOR, Cluster, CountingProxy, Fault, NAMESPACES, Options, PATIENCE, api_service, definition_of,
    },
    plan::{draft::HOLD, trial::Trial},
    sweep::uncollected,
};

/// Uses its own cluster, because these faults affect every namespace.
pub fn what_ails_the_whole_cluster() {
    let cluster = Alone::with(&[]);
    cluster.create(definition("crates", &["v1"]));
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let healthy = examine(&cluster, &[]);
    assert!(healthy.findings().next().is_none(), "{:#}", healthy.document);
    a_definition_that_waits_for_an_instance(&cluster);
    webhooks_that_cannot_be_asked(&cluster);
    an_api_that_is_away(&cluster);
    let healthy = examine(&cluster, &[]);
    assert!(healthy.findings().next().is_none(), "{:#}", healthy.document);
}

/// A CRD in `odd.test`, for a kind like `Crate`, that serves these versions and stores the last one.
pub fn definition(plural: &str, versions: &[&str]) -> Value {
    let singular = plural.trim_end_matches('s');
    definition_of("odd.test", &(singular[..1].to_uppercase() + &singular[1..]), plural, versions)
}

/// S17, and the namespace that waits for the CRD in turn.
fn a_definition_that_waits_for_an_instance(cluster: &Cluster) {
    let place = cluster.namespace("crates");
    let metadata = json!({"name": "held", "namespace": place, "finalizers": [HOLD]});
    let held = cluster.create(json!({"apiVersion": "odd.test/v1", "kind": "Crate", "metadata": metadata}));
    let definition = definition("crates", &["v1"]);
    cluster.delete(&cluster.path_of(&definition), Some("Background"), None);
    is_terminating(cluster, &held);
    aged(cluster, &held, 3600);
    let found = examine(cluster, &["crd/crates.odd.test"]);
    let finding = found.one("stuck-finalizer", "held");
    assert_eq!(
        (found.findings().count(), names(&finding["related"])),
        (1, vec!["crates.odd.test"]),
        "{:#}",
        found.document
    );
    assert!(
        words(finding, "consequence").ends_with(" CustomResourceDefinition/crates.odd.test waits for it."),
        "{finding:#}"
    );
    mends(cluster, &["-n", &place], "stuck-finalizer", "held");
    is_gone(cluster, &definition);
}

/// S11: an unavailable aggregated API blocks the deletion of every namespace.
fn an_api_that_is_away(cluster: &Cluster) {
    let [doomed, alive] = ["doomed", "alive"].map(|name| cluster.namespace(name));
    let api = cluster.create(api_service("away.test", "default", "away"));
    let path = cluster.path_of(&api);
    cluster.wait_until("the API to be found away", PATIENCE, || cluster.has_condition(&path, "Available", "False"));
    let found = examine(cluster, &["-n", &alive]);
    let finding = found.one("api-unavailable", "v1.away.test");
    assert_eq!((found.findings().count(), &finding["severity"]), (1, &json!("Error")), "{:#}", found.document);
    assert!(
        names(&finding["related"]).is_empty()
            && words(finding, "consequence").starts_with("Every namespace that is deleted")
    );
    let doomed = namespace(&doomed);
    cluster.delete(&cluster.path_of(&doomed), Some("Background"), None);
    let path = cluster.path_of(&doomed);
    let complains = || cluster.has_condition(&path, "NamespaceDeletionDiscoveryFailure", "True");
    cluster.wait_until("the namespace controller to complain", PATIENCE, complains);
    aged(cluster, &doomed, 3600);
    let target = format!("ns/{}", words(&doomed["metadata"], "name"));
    let found = examine(cluster, &[&target]);
    assert_eq!(found.findings().count(), 1, "{:#}", found.document);
    let finding = found.one("api-unavailable", "v1.away.test");
    assert_eq!(names(&finding["related"]), [words(&doomed["metadata"], "name")]);
    assert_eq!(
        words(finding, "message"),
        "away.test/v1 is served by Service/away -n default, which does not answer: service/away in \"default\" is not \
            present."
    );
    // Its Service doesn't exist: there is nothing to look at, and a person decides whether the API is needed.
    assert_eq!(finding["remedies"][0]["decides"], true, "{finding:#}");
    follow(cluster, finding, 1);
    mends(cluster, &[], "api-unavailable", "v1.away.test");
    // What was saved can be applied again.
    paste(cluster, "kubectl create --dry-run=server -f apiservices-v1.away.test.yaml");
    is_gone(cluster, &doomed);
}

/// R2.6: creates a CRD whose conversion webhook fails. Returns the CRD, and the namespace of its only instance.
#[track_caller]
pub fn unconvertible(cluster: &Cluster) -> (Value, String) {
    cluster.create(definition("jars", &["v1"]));
    let place = cluster.namespace("jars");
    cluster.create(object!("odd.test/v1 Jar", {"name": "old", "namespace": place}));
    let mut changed = definition("jars", &["v1", "v2"]);
    changed["spec"]["conversion"] = json!({
        "strategy": "Webhook",
        "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"service": {"name": "nobody",
            "namespace": "default"}}},
    });
    cluster.patch(&cluster.path_of(&changed), &json!({"spec": changed["spec"]}));
    cluster.wait_until("the lists to fail", PATIENCE, || {
        let answer = cluster.ask(&Method::GET, "/apis/odd.test/v2/jars?limit=500", None);
        !answer.is_success() && answer.text().contains("conversion webhook")
    });
    (changed, place)
}

/// R2.6: nobody can read objects that can't be converted. Their CRD and their namespaces stay Terminating.
pub fn a_kind_that_cannot_be_converted() {
    let cluster = Alone::start(&Options::default());
    let (changed, place) = unconvertible(&cluster);
    let path = cluster.path_of(&changed);
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    let found = examine(&cluster, &[]);
    assert_eq!((found.findings().count(), found.code), (1, Some(2)), "{:#}", found.document);
    let finding = found.one("conversion-broken", "jars.odd.test");
    assert!(
        words(finding, "message").starts_with("jars.odd.test cannot be converted (by Service/nobody -n default): "),
        "{finding:#}"
    );
    assert!(
        !words(finding, "consequence").contains("being deleted") && names(&finding["related"]).is_empty(),
        "{finding:#}"
    );

    let doomed = namespace(&place);
    cluster.delete(&cluster.path_of(&doomed), Some("Background"), None);
    cluster.delete(&path, Some("Background"), None);
    aged(&cluster, &doomed, 3600);
    let found = examine(&cluster, &[]);
    let finding = found.one("conversion-broken", "jars.odd.test");
    assert_eq!(
        (found.findings().count(), names(&finding["related"])),
        (1, vec![place.as_str()]),
        "{:#}",
        found.document
    );
    assert!(
        words(finding, "consequence").ends_with("and so is every instance, because the CRD is being deleted."),
        "{finding:#}"
    );
    // The second remedy only inspects: it changes nothing. The first changes what the objects look like.
    follow(&cluster, finding, 1);
    assert_eq!(finding["remedies"][0]["decides"], true, "{finding:#}");
    mends(&cluster, &[], "conversion-broken", "jars.odd.test");
    for gone in [&doomed, &changed] {
        is_gone(&cluster, gone);
    }
}

/// A list that fails for a reason that is not known.
pub fn a_list_that_fails() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "unlisted", "Background");
    let proxy = CountingProxy::start(cluster);
    let look =
        |args: &[&str]| Found::of(&cluster.gc_with(proxy.kubeconfig(), &[&["doctor", "-o", "json"], args].concat()));
    let args = ["-n", &trial.namespace, "--only", "list-unreadable"];
    for (fault, describe) in [(Fault::status(500, "InternalError"), 1), (Fault::status(403, "Forbidden"), 0)] {
        proxy.with(move |request| (request.path == "/api/v1/secrets").then(|| fault.clone()));
        let found = look(&args);
        assert_eq!(found.findings().count(), describe, "{:#}", found.document);
        let Some(finding) = found.findings().next() else { continue };
        assert_eq!((&finding["severity"], &finding["objects"], found.code), (&json!("Warning"), &json!([]), Some(0)));
        assert_eq!(
            words(finding, "message"),
            "The list of secrets fails: 500 Internal Server Error: InternalError, says the test's proxy."
        );
        follow(cluster, finding, 0);
    }
    proxy.without();
    assert_eq!(look(&args).findings().count(), 0);

    // It failed once: that is a gap, and no fault of the cluster.
    let asked = AtomicUsize::new(0);
    proxy.with(move |request| {
        let first = request.path == "/api/v1/secrets" && asked.fetch_add(1, Ordering::Relaxed) == 0;
        first.then(|| Fault::status(405, "MethodNotAllowed"))
    });
    let found = look(&args);
    assert_eq!((found.findings().count(), &found.document["complete"]), (0, &json!(false)), "{:#}", found.document);
}
