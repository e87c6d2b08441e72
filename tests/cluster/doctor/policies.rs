//! Admission policies that refuse what the collector must do.

use std::time::Duration;

use http::Method;
use serde_json::{Value, json};

use super::{
    examine, follow,
    kit::{is_gone, names, words},
};
use crate::{
    harness::{Alone, COLLECTOR, uid},
    plan::trial::Trial,
};

/// It is no finding until it keeps the collector from writing to a dependent; then it explains that, and its first
/// remedy lets the owner go. Returns the cluster and the dependent.
fn is_found_and_mended(
    prefix: &str,
    (policy, operation): (&'static str, &str),
    (method, body): (&Method, Option<(&str, &Value)>),
    is_told: impl FnOnce(&Value),
) -> (Alone, Value) {
    // The cluster is its own: a policy with a selector also refuses deletes in Namespaces that are gone.
    let cluster = Alone::with(&[COLLECTOR]);
    let trial = Trial::on(&cluster, prefix, policy);
    let owner = trial.widget("owner").create();
    let below = trial.config_map("below").blocking(&owner).create();
    cluster.seen_by_collector(&[uid(&below)]);
    trial.refusing(&[operation], "configmaps", "false");
    let path = format!("{}?dryRun=All", cluster.path_of(&below));
    let refuses = || !cluster.ask(method, &path, body).is_success();
    cluster.wait_until("the policy to count", Duration::from_secs(30), refuses);
    let args = ["-n", trial.namespace.as_str()];
    assert_eq!(examine(&cluster, &args).about("policy-refuses", &trial.namespace), [] as [&Value; 0]);
    cluster.delete(&cluster.path_of(&owner), Some(policy), None);
    cluster.settled();
    let found = examine(&cluster, &args);
    let finding = found.one("policy-refuses", &trial.namespace);
    assert_eq!(found.about("collector-idle", "owner"), [] as [&Value; 0], "{:#}", found.document);
    assert_eq!(names(&finding["related"]).len(), 3, "the binding, the owner and its dependent: {finding:#}");
    is_told(finding);
    follow(&cluster, finding, 0);
    is_gone(&cluster, &owner);
    (cluster, below)
}

/// The first remedy is a decision.
pub fn a_policy_that_refuses_deletes() {
    is_found_and_mended("kept-back", ("Foreground", "DELETE"), (&Method::DELETE, None), |finding| {
        assert!(words(finding, "consequence").starts_with("Requests for ConfigMap/below -n"), "{finding:#}");
        assert_eq!(finding["remedies"][0]["decides"], true);
    });
}

/// The collector can't free a dependent of an owner that was deleted with the orphan policy: the policy is why.
pub fn a_policy_that_refuses_updates() {
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let patch = (&Method::PATCH, Some(("application/merge-patch+json", &label)));
    let (cluster, below) = is_found_and_mended("not-freed", ("Orphan", "UPDATE"), patch, |_| ());
    assert!(cluster.get(&cluster.path_of(&below)).is_some_and(|below| below["metadata"]["ownerReferences"].is_null()));
}
