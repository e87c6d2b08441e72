//! Owner references among custom resources and with built-in kinds; and kinds that are created and deleted.

use http::Method;

use super::kit::PATIENCE;
use crate::{doctor::definition, plan::trial::Trial, sweep::seat::Seated};

/// Custom or built-in, as owner or as dependent: the kind makes no difference.
pub fn custom_and_built_in_owners(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "custom", "Foreground");
    let kinds = [("gc.test/v1", "Widget"), ("v1", "ConfigMap")];
    for (owner, dependent) in [(0, 0), (0, 1), (1, 0)] {
        let draft = |name: &str, kind: usize| {
            let (version, kind) = kinds[kind];
            trial.draft(version, kind, &format!("{name}-{owner}{dependent}"), Some(&trial.namespace))
        };
        let owned = draft("owner", owner).create();
        let follows = draft("follows", dependent).owned_by(&owned).create();
        let blocks = draft("blocks", dependent).blocking(&owned).create();
        seated.delete(&owned, "Foreground");
        seated.goes(&owned);
        seated.goes(&blocks);
        seated.goes(&follows);
    }
    let rack = trial.rack("rack").create();
    let widget = trial.widget("of-rack").blocking(&rack).create();
    seated.delete(&rack, "Foreground");
    seated.goes(&rack);
    seated.goes(&widget);
}

/// R2.5: a kind whose CRD is created, deleted and created again is watched each time, and when its instances go, their
/// dependents do.
pub fn a_kind_that_comes_and_goes_twice(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "twice-defined", "Background");
    for round in 0..2 {
        let defined = seated.cluster.create(definition("wheels", &["v1"]));
        let wheel = |name: &str| trial.draft("odd.test/v1", "Wheel", name, Some(&trial.namespace));
        accepts_wheels(seated, &trial);
        // A kind may be served before it is watched.
        seated.catches_up(&trial, &[("odd.test/v1", "Wheel")]);
        let owner = wheel("owner").create();
        let dependent = trial.config_map(&format!("dependent-{round}")).owned_by(&owner).create();
        seated.catches_up(&trial, &[("odd.test/v1", "Wheel"), ("v1", "ConfigMap")]);
        let list = seated.cluster.collection_of(&owner);
        seated.delete(&defined, "Background");
        seated.cluster.wait_until("the instances to go", PATIENCE, || seated.cluster.get(&list).is_none());
        seated.goes(&defined);
        seated.goes(&dependent);
    }
}

/// Waits until wheels can be created: for a moment the API server refuses a recreated kind as if its CRD were still
/// terminating.
fn accepts_wheels(seated: &Seated<'_>, trial: &Trial<'_>) {
    let list = format!("/apis/odd.test/v1/namespaces/{}/wheels?dryRun=All", trial.namespace);
    let wheel = object!("odd.test/v1 Wheel", {"name": "first"});
    let accepted = || seated.cluster.ask(&Method::POST, &list, Some(("application/json", &wheel))).is_success();
    seated.cluster.wait_until("wheels to be accepted", PATIENCE, accepted);
}
