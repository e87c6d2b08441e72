//! What a restore can't bring back, and what replaces it.

use serde::Serialize;
use serde_json::Value;

use super::archived::{Archived, Place};

/// A kind of loss.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// What is lost.
    pub what: &'static str,
    /// What replaces it.
    #[serde(rename = "replacement")]
    pub instead: &'static str,
    /// The number of objects that have lost it.
    pub objects: usize,
}

/// Which objects are concerned, what they lose, and what replaces it.
type Row = (fn(&Place, &Value) -> bool, &'static str, &'static str);

const LOSSES: &[Row] = &[
    (
        |place, whole| {
            place.is("", "Service") && is_text(&whole["spec"]["clusterIP"]) && whole["spec"]["clusterIP"] != "None"
        },
        "cluster IPs and node ports",
        "the server assigns new ones",
    ),
    (
        |place, whole| place.is("", "Service") && whole["status"]["loadBalancer"]["ingress"].is_array(),
        "addresses of load balancers",
        "the load balancer provider assigns new ones",
    ),
    (
        |place, whole| place.is("", "Pod") && is_text(&whole["spec"]["nodeName"]),
        "nodes of pods",
        "the scheduler chooses nodes again",
    ),
    (
        |place, whole| place.is("", "PersistentVolumeClaim") && is_text(&whole["spec"]["volumeName"]),
        "data of volumes",
        "a claim gets a new volume unless a PersistentVolume is reserved for it",
    ),
    (
        |place, _| place.is("", "PersistentVolume"),
        "storage behind PersistentVolumes",
        "each refers to its old storage, which may have been deleted with it",
    ),
    (
        |place, whole| place.is("", "Secret") && whole["type"] == "kubernetes.io/service-account-token",
        "tokens of ServiceAccounts",
        "new ones are issued; clients of old tokens need new ones",
    ),
    (|place, _| place.is("batch", "Job"), "progress of Jobs", "they start over"),
];

/// What the restored objects have lost, each kind of loss with the number of objects.
pub fn lost<'a>(objects: impl IntoIterator<Item = &'a Archived>) -> Vec<Lost> {
    let mut counts = vec![0; LOSSES.len()];
    for object in objects {
        for ((loses, ..), count) in LOSSES.iter().zip(&mut counts) {
            *count += usize::from(loses(&object.place, &object.whole));
        }
    }
    let describe = LOSSES.iter().zip(counts).filter(|(_, objects)| *objects > 0);
    describe.map(|((_, what, instead), objects)| Lost { what, instead, objects }).collect()
}

pub(super) fn is_text(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::restore::testing::{archived, object};

    #[test]
    fn each_loss_is_told_with_how_many_have_it() {
        let service = |name: &str, spec: Value| object("v1", "Service", name, &json!({"spec": spec}));
        let objects = archived([
            service("web", json!({"clusterIP": "10.0.0.7"})),
            service("db", json!({"clusterIP": "None"})),
            service("api", json!({"clusterIP": "10.0.0.8"})),
            object("v1", "Service", "lb", &json!({"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})),
            object("v1", "Pod", "bound", &json!({"spec": {"nodeName": "worker-1"}})),
            object("v1", "Pod", "pending", &json!({"spec": {}})),
            object("v1", "PersistentVolumeClaim", "data", &json!({"spec": {"volumeName": "pv-1"}})),
            object("v1", "PersistentVolumeClaim", "unbound", &json!({"spec": {}})),
            object("v1", "PersistentVolume", "pv-1", &json!({})),
            object("v1", "Secret", "token", &json!({"type": "kubernetes.io/service-account-token"})),
            object("v1", "Secret", "password", &json!({"type": "Opaque"})),
            object("batch/v1", "Job", "import", &json!({})),
        ]);
        let describe: Vec<(&str, usize)> = lost(&objects).into_iter().map(|lost| (lost.what, lost.objects)).collect();
        assert_eq!(
            describe,
            [
                ("cluster IPs and node ports", 2),
                ("addresses of load balancers", 1),
                ("nodes of pods", 1),
                ("data of volumes", 1),
                ("storage behind PersistentVolumes", 1),
                ("tokens of ServiceAccounts", 1),
                ("progress of Jobs", 1),
            ]
        );
        assert_eq!(lost(&archived([object("v1", "ConfigMap", "a", &json!({}))])), []);
    }
}
