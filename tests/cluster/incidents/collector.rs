//! No collector runs.

use serde_json::json;

use super::{Incident, incident, namespace, of_namespace};
use crate::{
    doctor::kit::lease,
    harness::{Alone, COLLECTOR, NAMESPACES},
    plan::trial::Trial,
};

/// A cluster whose controller manager died an hour ago.
pub fn dead() -> Alone {
    let cluster = Alone::with(&[]);
    lease(&cluster, "kube-system", "kube-controller-manager", 3600, 15);
    cluster
}

pub fn died() {
    let cluster = dead();
    let trial = Trial::on(&cluster, "died", "Foreground");
    let owner = trial.widget("owner").create();
    trial.config_map("below").blocking(&owner).create();
    let incident = incident(&trial, &["widgets/owner", "--propagation=foreground"], &["kube-controller-manager"]);
    Incident { collected: false, gone: vec![owner], ..incident }.play();
}

pub fn orphaning() {
    let cluster = dead();
    let trial = Trial::on(&cluster, "orphaning", "Orphan");
    let owner = trial.widget("owner").create();
    let below = trial.config_map("below").blocking(&owner).create();
    let incident = incident(&trial, &["widgets/owner", "--propagation=orphan"], &["kube-controller-manager"]);
    Incident { collected: false, gone: vec![owner], ..incident }.play();
    assert_eq!(
        cluster.get(&cluster.path_of(&below)).map(|below| below["metadata"]["ownerReferences"].clone()),
        Some(json!(null)),
        "it is free, and still there"
    );
}

pub fn a_namespace() {
    let cluster = dead();
    let trial = Trial::on(&cluster, "abandoned", "Background");
    let left = trial.config_map("left").create();
    let gone = namespace(&trial.namespace);
    let incident = of_namespace(&trial, &trial.namespace, &["kube-controller-manager"]);
    let manager = Some((&cluster, &[COLLECTOR, NAMESPACES][..]));
    Incident { collected: false, manager, aged: vec![gone], gone: vec![left], ..incident }.play();
}
