//! Targets by label, in the order of the plan.

use serde_json::json;

use super::trial::three_ways;

#[test]
fn targets_of_several_types_by_label() {
    three_ways("labels", |trial| {
        let top = trial.widget("top").create();
        let middle = trial.widget("middle").blocking(&top).create();
        let below = trial.config_map("below").blocking(&middle).create();
        trial.config_map("follows").owned_by(&middle).create();
        let beside = trial.config_map("beside").owned_by(&top).create();
        for chosen in [&below, &beside] {
            let labels = json!({"metadata": {"labels": {"chosen": "yes"}}});
            trial.cluster.patch(&trial.cluster.path_of(chosen), &labels);
        }
        ["configmaps,widgets", "-l", "chosen=yes"].map(str::to_owned).to_vec()
    });
}
