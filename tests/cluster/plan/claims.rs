//! Claims that pods use, and the controller that protects them meanwhile.

use super::trial::{Case, Trial, all_come_true, predict, three_ways};
use crate::harness::Alone;

#[test]
#[ignore = "long: waits for the pod garbage collector"]
fn a_claim_goes_with_a_pod_whose_node_is_gone() {
    three_ways("used-no-node", |trial| {
        let owner = trial.widget("root").create();
        trial.claim("data").blocking(&owner).create();
        trial.pod_on("user", &trial.global("no-node")).uses("data").blocking(&owner).create();
        vec!["widget/root".to_owned()]
    });
}

/// Nothing but the claim needs to know what the pod uses.
#[test]
fn a_claim_that_is_terminating_goes_with_a_pod_that_is_deleted_by_force() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "used-force", "Background");
    let claim = trial.claim("data").create();
    trial.pod_on("user", &trial.node()).uses("data").create();
    trial.cluster.delete(&trial.cluster.path_of(&claim), None, None);
    let case = Case { flags: vec!["--force"], grace: Some(0), ..trial.deleting(vec!["pod/user".to_owned()]) };
    let predicted = predict(vec![case]);
    assert_eq!(predicted[0].outcome("PersistentVolumeClaim", "data"), Some("Deleted"), "{}", predicted[0].plan);
    all_come_true(&predicted);
}
