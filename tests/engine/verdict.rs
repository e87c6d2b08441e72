//! The verdict on a plan, and the gates on effects and verdicts.

use kubectl_gc::{
    graph::OwnerGraph,
    plan::{
        EffectClass, FailOn, Gates, ReasonKind, Verdict, VerdictReason, VerdictResult, explore, gate_violations,
        unlisted_contents,
    },
    server::Propagation::{self, Background, Orphan},
    simulate::{Assume, Request, SimContext},
};

use crate::side_effects::scene;

/// `RESULT[?]: KIND objects, …`, with a question mark if it is not certain; then the violated gates, each with its
/// objects: `; data-loss PersistentVolumeClaim/data`.
fn describe(
    graph: &str,
    targets: &str,
    policy: Propagation,
    deny: &[EffectClass],
    fail_on: Option<FailOn>,
    more: &[VerdictReason],
) -> String {
    let scene = scene(graph);
    let snapshot = &scene.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, Assume::Known);
    let targets = targets.split_whitespace().map(|target| scene.id(target)).collect();
    let mut plan = explore(&stage, &Request::delete(targets, policy));
    plan.reasons.extend(more.iter().cloned());
    let mut unlisted = unlisted_contents(&stage, &plan);
    unlisted.iter_mut().flat_map(|of| &mut of.unlisted).for_each(|unlisted| unlisted.count = Some(0));
    let gates = Gates { deny_effects: deny.to_vec(), fail_on, ..Gates::default() };
    let violations = gate_violations(snapshot, &plan, &unlisted, &gates);
    let verdict = Verdict::of(snapshot, &plan, &unlisted, &[]);
    let names = |objects: &[kubectl_gc::model::ObjectId]| {
        objects.iter().map(|object| format!(" {}", snapshot.short_name(*object))).collect::<String>()
    };
    let reasons: Vec<String> =
        verdict.reasons.iter().map(|reason| format!("{}{}", reason.kind.name(), names(&reason.objects))).collect();
    let sure = if verdict.certain { "" } else { "?" };
    let mut text = format!("{}{sure}: {}", verdict.result.name(), reasons.join(", "));
    for violation in &violations {
        let gate = match violation.gate {
            kubectl_gc::plan::Gate::DenyEffect(class) => class.name(),
            kubectl_gc::plan::Gate::FailOn(fail_on) => fail_on.name(),
            other => panic!("{other:?}"),
        };
        let unread =
            if violation.unread.is_empty() { String::new() } else { format!(" {}?", violation.unread.join(" ")) };
        text += &format!("; {gate}{}{unread}", names(&violation.objects));
    }
    assert_eq!(
        Verdict::of(snapshot, &plan, &unlisted, &violations).result == VerdictResult::Refused,
        !violations.is_empty() || verdict.result == VerdictResult::Refused
    );
    text
}

const ALL: &[EffectClass] = &[EffectClass::DataLoss, EffectClass::External, EffectClass::Unknown];

#[test]
fn a_verdict_is_the_worst_of_its_reasons() {
    let rows = [
        ("ConfigMap c", "ConfigMap/c", Background, "deletes: "),
        (
            "ConfigMap c\nSecret s fin=acme.io/x <- ConfigMap/c",
            "ConfigMap/c",
            Background,
            "stuck: stuck Secret/s; unknown Secret/s; unsure",
        ),
        ("ConfigMap c T=0 fin=acme.io/x", "ConfigMap/c", Background, "nothing: "),
        (
            "Application a fin=resources-finalizer.argocd.argoproj.io",
            "Application/a",
            Background,
            "depends?: depends Application/a, gap Application/a, objects-deleted Application/a; \
             external Application/a; unsure",
        ),
        (
            "PersistentVolumeClaim data\nPersistentVolume pv\nfacts PersistentVolume/pv Delete ns/data Bound",
            "PersistentVolumeClaim/data",
            Background,
            "data-loss: data-loss PersistentVolumeClaim/data; data-loss PersistentVolumeClaim/data",
        ),
        (
            "PersistentVolumeClaim data\nPersistentVolume pv\nfacts PersistentVolume/pv Retain ns/data Bound",
            "PersistentVolumeClaim/data",
            Background,
            "deletes: ",
        ),
        (
            "PersistentVolumeClaim data\nPersistentVolume pv\nfacts PersistentVolumeClaim/data pv",
            "PersistentVolumeClaim/data",
            Background,
            "unsure?: unknown-effect PersistentVolumeClaim/data; data-loss PersistentVolumeClaim/data; unknown \
             PersistentVolumeClaim/data; unsure",
        ),
        (
            "Service s\nfacts Service/s LoadBalancer",
            "Service/s",
            Background,
            "external: load-balancer-released Service/s; external Service/s",
        ),
        (
            "Service s",
            "Service/s",
            Background,
            "unsure?: unknown-effect Service/s; external Service/s; unknown Service/s; unsure",
        ),
        // Whether the ConfigMap survives depends on the order of events.
        (
            "Shop r\nShop a fin=orphan <- Shop/r!\nShop b <- Shop/r!\nConfigMap c <- Shop/a! Shop/b!",
            "Shop/r",
            Background,
            "unsure?: order ConfigMap/c; unsure",
        ),
        ("Shop a\nConfigMap c <- Shop/a", "Shop/a", Orphan, "deletes: "),
        // What could not be read may be a claim, or have a finalizer.
        (
            "unread Secret\nShop r\nConfigMap c <- Shop/r",
            "Shop/r",
            Background,
            "unsure?: gap; data-loss secrets (forbidden)?; unknown secrets (forbidden)?; unsure",
        ),
    ];
    for (graph, targets, policy, expected) in rows {
        let found = describe(graph, targets, policy, ALL, Some(FailOn::Unsure), &[]);
        assert_eq!(found, expected, "{graph}");
    }
}

/// Contents of a Namespace that are deleted only after a pod have no outcomes, but the effects count.
#[test]
fn what_is_lost_later_counts() {
    let graph = "
        Namespace ns
        Pod held fin=acme.io/x
        PersistentVolumeClaim data
        PersistentVolume pv
        facts Pod/held worker Running
        facts PersistentVolume/pv Delete ns/data Bound";
    let found = describe(graph, "Namespace/ns", Background, &[EffectClass::DataLoss], Some(FailOn::Stuck), &[]);
    assert_eq!(
        found,
        "stuck: stuck Namespace/ns Pod/held, data-loss PersistentVolumeClaim/data; data-loss \
         PersistentVolumeClaim/data; stuck"
    );
}

#[test]
fn the_level_of_fail_on_includes_everything_worse() {
    let verdict = |graph: &str, fail_on| {
        let found = describe(graph, "ConfigMap/c", Background, &[], Some(fail_on), &[]);
        found.contains("; ")
    };
    let argo = "ConfigMap c fin=argoproj.io/x";
    assert!(!verdict(argo, FailOn::Stuck) && verdict(argo, FailOn::Waits) && verdict(argo, FailOn::Unsure));
    let stuck = "ConfigMap c fin=acme.io/x";
    assert!(verdict(stuck, FailOn::Stuck) && verdict(stuck, FailOn::Waits) && verdict(stuck, FailOn::Unsure));
    let unsure = "unread Secret\nConfigMap c";
    assert!(!verdict(unsure, FailOn::Stuck) && !verdict(unsure, FailOn::Waits) && verdict(unsure, FailOn::Unsure));
    assert!(!verdict("ConfigMap c", FailOn::Unsure));
}

/// Reasons that others add decide like all others, whatever the outcomes are.
#[test]
fn further_reasons_count() {
    let reason = |kind, result| VerdictReason::new(kind, result, "because of the test");
    let rows = [
        (reason(ReasonKind::Webhook, VerdictResult::Refused), "refused: webhook"),
        (reason(ReasonKind::Collector, VerdictResult::Stuck), "stuck: collector; waits"),
        (reason(ReasonKind::Api, VerdictResult::Unsure), "unsure?: api"),
        (reason(ReasonKind::Api, VerdictResult::Deletes), "deletes: api"),
    ];
    for (reason, expected) in rows {
        let fail_on = (reason.result == VerdictResult::Stuck).then_some(FailOn::Waits);
        assert_eq!(describe("ConfigMap c", "ConfigMap/c", Background, ALL, fail_on, &[reason]), expected);
    }
}
