//! Custom resources, among themselves and with built-in kinds; and kinds that come and go.

use http::Method;
use serde_json::json;

use super::kit::PATIENCE;
use crate::{doctor::definition, plan::trial::Trial, sweep::seat::Seated};

/// What owns what is of no consequence.
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

/// R2.5: a kind that is defined, deleted and defined again is watched each time, and what its instances owned goes with
/// it.
pub fn a_kind_that_comes_and_goes_twice(seated: &Seated<'_>) {
    let trial = Trial::on(seated.cluster, "twice-defined", "Background");
    for round in 0..2 {
        let defined = seated.cluster.create(definition("wheels", &["v1"]));
        let wheel = |name: &str| trial.draft("odd.test/v1", "Wheel", name, Some(&trial.namespace));
        accepts_wheels(seated, &trial);
        // That it is served is not yet that it is watched.
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

/// A kind that was defined before is refused for a moment as if its definition were terminating still.
fn accepts_wheels(seated: &Seated<'_>, trial: &Trial<'_>) {
    let list = format!("/apis/odd.test/v1/namespaces/{}/wheels?dryRun=All", trial.namespace);
    let wheel = json!({"apiVersion": "odd.test/v1", "kind": "Wheel", "metadata": {"name": "first"}});
    let accepted = || seated.cluster.ask(&Method::POST, &list, Some(("application/json", &wheel))).is_success();
    seated.cluster.wait_until("wheels to be accepted", PATIENCE, accepted);
}
