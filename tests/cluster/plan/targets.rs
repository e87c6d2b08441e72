//! Several targets at once, deleted as kubectl does: one DELETE after the other, in the given order.

use serde_json::json;

use super::trial::{Trial, three_ways};

/// Three levels, with two objects in the lowest.
fn levels(trial: &Trial<'_>) {
    let top = trial.widget("top").create();
    let middle = trial.widget("middle").blocking(&top).create();
    trial.config_map("below").blocking(&middle).create();
    trial.config_map("follows").owned_by(&middle).create();
    trial.config_map("beside").owned_by(&top).create();
}

#[test]
fn an_owner_and_then_its_dependent() {
    three_ways("downwards", |trial| {
        levels(trial);
        vec!["widget/top".to_owned(), "widget/middle".to_owned()]
    });
}

#[test]
fn a_dependent_and_then_its_owner() {
    three_ways("bottom-up", |trial| {
        levels(trial);
        vec!["widget".to_owned(), "middle".to_owned(), "top".to_owned()]
    });
}

#[test]
fn targets_of_several_types() {
    three_ways("types", |trial| {
        levels(trial);
        vec!["configmap/below".to_owned(), "widget/middle".to_owned(), "configmap/beside".to_owned()]
    });
}

#[test]
fn targets_by_label() {
    three_ways("labels", |trial| {
        levels(trial);
        for name in ["below", "beside"] {
            let path = format!("/api/v1/namespaces/{}/configmaps/{name}", trial.namespace);
            trial.cluster.patch(&path, &json!({"metadata": {"labels": {"chosen": "yes"}}}));
        }
        vec!["configmaps,widgets".to_owned(), "-l".to_owned(), "chosen=yes".to_owned()]
    });
}
