//! What the user has to type to confirm a delete.

use kubectl_gc::{
    graph::OwnerGraph,
    plan::{ConfirmationReason, Consent, explore, severe_objects},
    server::Propagation,
    simulate::{Assume, Request, SimContext},
};

use crate::side_effects::scene;

/// What the user has to type before these targets are deleted in the background, if `yes` is enough for up to three
/// objects.
fn asked(text: &str, targets: &str) -> String {
    let scene = scene(text);
    let graph = OwnerGraph::new(&scene.snapshot);
    let stage = SimContext::new(&scene.snapshot, &graph, Assume::Known);
    let targets = targets.split_whitespace().map(|target| scene.id(target)).collect();
    let plan = explore(&stage, &Request::delete(targets, Propagation::Background));
    match Consent::to(&scene.snapshot, &plan, 3) {
        Consent::Yes => "yes".to_owned(),
        Consent::Number(number) => number.to_string(),
        Consent::Name(object) => {
            let severe = severe_objects(&scene.snapshot, &plan);
            let reason = match severe.iter().find(|(_, other)| *other == object) {
                Some((ConfirmationReason::Outside(kind), _)) => kind.name().to_owned(),
                Some((reason, _)) => format!("{reason:?}"),
                None => "no reason".to_owned(),
            };
            format!("{} {reason} +{}", scene.snapshot.short_name(object), severe.len() - 1)
        }
    }
}

#[test]
fn few_objects_go_on_a_yes() {
    assert_eq!(asked("ConfigMap a\nConfigMap b <- ConfigMap/a\nConfigMap c <- ConfigMap/b", "ConfigMap/a"), "yes");
}

#[test]
fn many_are_counted() {
    let many = "ConfigMap a\nConfigMap b <- ConfigMap/a\nConfigMap c <- ConfigMap/b\nConfigMap d <- ConfigMap/c";
    assert_eq!(asked(many, "ConfigMap/a"), "4");
    assert_eq!(asked(many, "ConfigMap/b"), "yes", "those that stay don't count");
}

#[test]
fn the_heaviest_is_named() {
    let text = "
        PersistentVolumeClaim data <- ConfigMap/a
        PersistentVolumeClaim logs
        Service web
        facts Service/web LoadBalancer
        ConfigMap a
        ConfigMap held fin=acme.io/x
    ";
    assert_eq!(asked(text, "ConfigMap/a"), "PersistentVolumeClaim/data Claim +0", "what goes with it counts");
    assert_eq!(
        asked(text, "ConfigMap/a PersistentVolumeClaim/logs"),
        "PersistentVolumeClaim/logs Claim +1",
        "a target comes first"
    );
    assert_eq!(asked(text, "Service/web PersistentVolumeClaim/logs"), "PersistentVolumeClaim/logs Claim +1");
    assert_eq!(asked(text, "Service/web"), "Service/web load-balancer-released +0");
    assert_eq!(asked(text, "ConfigMap/held"), "ConfigMap/held unknown +0", "nobody knows what follows");
}
