//! What the API server refuses, and what it says: every command believes it, and says the same.

use serde_json::Value;

use super::run::{Ran, run_with};

/// Nobody can delete or change a ConfigMap: a webhook that must allow it has no Service.
const DEAD: &str = include_str!("admission/dead-webhook.yaml");

/// A namespace with a held object, whose content can't be listed either, and a CRD that the API server can't empty.
const SAID: &str = include_str!("admission/said.yaml");

fn ran(line: &str, dump: &str, code: i32) -> String {
    let ran: Ran = run_with(&format!("{line} --from - --assume-complete"), dump);
    assert_eq!(ran.code, code, "{line}: {ran}");
    ran.out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn explanations_know_what_is_refused() {
    for (line, told) in [
        (
            "explain cm/lost -n shop",
            &[
                "STUCK: ConfigMap/lost is to be deleted, but the API server refuses that.",
                "Why webhook guard.odd.test must allow it and does not answer.",
                "The collector deletes it: its owner is missing. The API server refuses that. ",
            ][..],
        ),
        ("explain secret/waits -n shop", &["is Terminating until the webhook guard.odd.test answers."]),
        ("explain cm/blocks -n shop", &["STUCK: ", "Why webhook guard.odd.test", "The API server refuses that. "]),
        ("explain cm/left -n old", &["STUCK: ConfigMap/left is to be deleted, but the API server refuses that."]),
        ("explain ns/old", &["STUCK: Namespace/old is Terminating until the webhook guard.odd.test answers."]),
    ] {
        let said = ran(line, DEAD, 0);
        assert!(told.iter().all(|told| said.contains(told)), "{told:?} is not in {said}");
    }
    let document: Value = serde_json::from_str(&ran("explain cm/lost -n shop -o json", DEAD, 0)).unwrap();
    let end = &document["explanations"][0]["end"];
    assert_eq!((&end["outcome"], &end["certain"]), (&"Kept".into(), &true.into()), "{document}");
    assert!(end["refused"].as_str().is_some_and(|why| why.contains("guard.odd.test")), "{document}");
}

/// At once: the namespace has been Terminating for ten seconds.
#[test]
fn a_dead_webhook_is_the_cause_of_a_namespace_that_hangs() {
    let said = ran("doctor ns/old", DEAD, 2);
    for told in [
        "It stays as long as the API server refuses to delete ConfigMap/left -n old: webhook guard.odd.test",
        "first allow writes while the webhook is unreachable",
        "The namespace controller's requests for ConfigMap/left -n old are rejected: Namespace/old stays \
         Terminating until the webhook answers or is removed.",
    ] {
        assert!(said.contains(told), "{told:?} is not in {said}");
    }
}

#[test]
fn a_finalizer_hides_no_condition_and_every_condition_has_a_finding() {
    let said = ran("doctor", SAID, 2);
    for told in [
        "ERROR stuck-finalizer: Secret/held -n db",
        "ERROR namespace-stuck: Namespace/db",
        "NamespaceDeletionDiscoveryFailure: Discovery failed for some groups",
        "kubectl get apiservices",
        "ERROR definition-stuck: CustomResourceDefinition/currencyconversions.acme.io",
        "InstanceDeletionFailed: could not list instances of currencyconversions: etcdserver: request timed out.",
        "kubectl get currencyconversions.acme.io --all-namespaces",
    ] {
        assert!(said.contains(told), "{told:?} is not in {said}");
    }
    assert!(!said.contains("conversion webhook"), "{said}");
}

/// Of a dump without webhooks, the condition alone names one.
#[test]
fn a_condition_that_names_a_webhook_leads_to_the_webhooks() {
    let dump = SAID.replace("stale GroupVersion discovery", "failed calling webhook \\\"guard.acme.io\\\"");
    let said = ran("doctor ns/db", &dump, 2);
    assert!(said.contains("kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations"), "{said}");
}

/// The way out that keeps the dependents of an owner that waits for them (R1.21).
#[test]
fn dependents_of_an_owner_that_waits_can_be_kept() {
    let held =
        DEAD.replace("uid: blocks", "uid: blocks\n    finalizers: [acme.io/drain]").replace("[configmaps]", "[pods]");
    let said = ran("explain secret/waits -n shop", &held, 0);
    let told =
        "it is deleted again with --cascade=orphan, it goes, and dependents that are not Terminating yet are kept.";
    assert!(said.contains(told), "{said}");
}

/// What a dump need not contain may be deleted all the same.
#[test]
fn what_a_dump_lacks_is_not_said_to_be_kept() {
    let line = "plan secret/waits -n shop --keep=persistentvolumeclaims --from -";
    let (half, whole) = (run_with(line, DEAD), run_with(&format!("{line} --assume-complete"), DEAD));
    let told = "--keep persistentvolumeclaims: the dump has none of these that is deleted; the cluster may have some.";
    assert!(format!("{}{}", half.out, half.err).contains(told), "{half}");
    assert!(format!("{}{}", whole.out, whole.err).contains("none of these would be deleted anyway"), "{whole}");
}
