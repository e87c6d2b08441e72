//! Reads the facts of whole Pods in protobuf, which are the most: the few fields that facts are read from become JSON.

use serde_json::Value;

use gc_core::model::{Fact, facts};

use super::{
    answer::Malformed,
    protobuf::{
        Field,
        Read::{Flag, Inline, Many, Number, One, Text, Texts, Time},
        decoded,
    },
};

/// Reads a Pod's facts.
pub(super) fn read_facts(object: &[u8]) -> Result<Option<Fact>, Malformed> {
    Ok(facts::read_facts("", "Pod", &Value::Object(decoded(object, POD)?)))
}

const POD: &[Field] = &[
    (1, "metadata", One(&[(1, "name", Text), (12, "annotations", Texts)])),
    (
        2,
        "spec",
        One(&[
            (1, "volumes", Many(&[(1, "name", Text), (2, "", Inline(VOLUME_SOURCE))])),
            (2, "containers", Many(CONTAINER)),
            (4, "terminationGracePeriodSeconds", Number),
            (8, "serviceAccountName", Text),
            (10, "nodeName", Text),
            (15, "imagePullSecrets", Many(NAME)),
            (20, "initContainers", Many(CONTAINER)),
            (34, "ephemeralContainers", Many(&[(1, "", Inline(CONTAINER))])),
        ]),
    ),
    (
        3,
        "status",
        One(&[
            (1, "phase", Text),
            (2, "conditions", Many(CONDITION)),
            (8, "containerStatuses", Many(CONTAINER_STATUS)),
        ]),
    ),
];

const NAME: &[Field] = &[(1, "name", Text)];
const VOLUME_SOURCE: &[Field] = &[
    (6, "secret", One(&[(1, "secretName", Text), (4, "optional", Flag)])),
    (8, "iscsi", One(&[(10, "secretRef", One(NAME))])),
    (10, "persistentVolumeClaim", One(&[(1, "claimName", Text)])),
    (11, "rbd", One(&[(7, "secretRef", One(NAME))])),
    (12, "flexVolume", One(&[(3, "secretRef", One(NAME))])),
    (14, "cephfs", One(&[(5, "secretRef", One(NAME))])),
    (18, "azureFile", One(&[(1, "secretName", Text)])),
    (19, "configMap", One(OF_FILES)),
    (25, "scaleIO", One(&[(3, "secretRef", One(NAME))])),
    (26, "projected", One(&[(1, "sources", Many(&[(1, "secret", One(OF_FILES)), (3, "configMap", One(OF_FILES))]))])),
    (27, "storageos", One(&[(5, "secretRef", One(NAME))])),
    (28, "csi", One(&[(5, "nodePublishSecretRef", One(NAME))])),
    (29, "ephemeral", One(&[])),
];
const OF_FILES: &[Field] = &[(1, "", Inline(NAME)), (4, "optional", Flag)];
const OF_VALUE: &[Field] = &[(1, "", Inline(NAME)), (3, "optional", Flag)];
const OF_VALUES: &[Field] = &[(1, "", Inline(NAME)), (2, "optional", Flag)];
const CONTAINER: &[Field] = &[
    (
        7,
        "env",
        Many(&[(3, "valueFrom", One(&[(3, "configMapKeyRef", One(OF_VALUE)), (4, "secretKeyRef", One(OF_VALUE))]))]),
    ),
    (19, "envFrom", Many(&[(2, "configMapRef", One(OF_VALUES)), (3, "secretRef", One(OF_VALUES))])),
];
const CONDITION: &[Field] =
    &[(1, "type", Text), (2, "status", Text), (4, "lastTransitionTime", Time), (6, "message", Text)];
const CONTAINER_STATUS: &[Field] = &[
    (2, "state", One(&[(1, "waiting", One(&[(1, "reason", Text), (2, "message", Text)]))])),
    (3, "lastState", One(&[(3, "terminated", One(&[(1, "exitCode", Number), (3, "reason", Text)]))])),
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::testing::{bytes, varint};
    use gc_core::model::facts::{PodFacts, read_facts as read_json};

    fn message(fields: &[Vec<u8>]) -> Vec<u8> {
        fields.concat()
    }

    /// The same object in protobuf and in JSON.
    fn pod() -> (Vec<u8>, serde_json::Value) {
        let claim = message(&[bytes(1, b"data"), bytes(2, &bytes(10, &message(&[bytes(1, b"claim"), varint(2, 0)])))]);
        let ephemeral = message(&[bytes(1, b"scratch"), bytes(2, &bytes(29, b""))]);
        let config = message(&[bytes(1, b"config"), bytes(2, &bytes(19, b""))]);
        let named = |name: &[u8]| bytes(1, &bytes(1, name));
        let keys = bytes(2, &bytes(6, &bytes(1, b"keys")));
        let perhaps = bytes(2, &bytes(6, &message(&[bytes(1, b"perhaps"), varint(4, 1)])));
        let part = message(&[bytes(1, &bytes(3, &named(b"part"))), bytes(1, &bytes(3, &named(b"kube-root-ca.crt")))]);
        let part = bytes(2, &bytes(26, &part));
        let driver = bytes(2, &bytes(28, &bytes(5, &bytes(1, b"driver"))));
        let one = bytes(7, &message(&[bytes(1, b"K"), bytes(3, &bytes(4, &named(b"one")))]));
        let all = bytes(19, &bytes(2, &named(b"all")));
        let debug = bytes(1, &bytes(19, &bytes(3, &message(&[named(b"debug"), varint(2, 0)]))));
        let spec = message(&[
            bytes(1, &claim),
            bytes(1, &ephemeral),
            bytes(1, &config),
            bytes(1, &keys),
            bytes(1, &perhaps),
            bytes(1, &part),
            bytes(1, &driver),
            bytes(2, &one),
            bytes(20, &all),
            bytes(34, &debug),
            bytes(15, &bytes(1, b"pull")),
            varint(4, 30),
            bytes(8, b"robot"),
            bytes(10, b"node-1"),
        ]);
        let ready = [bytes(1, b"Ready"), bytes(2, b"False"), bytes(4, &varint(1, 1_769_846_401))].concat();
        let waiting = bytes(2, &bytes(1, &bytes(1, b"CrashLoopBackOff")));
        let ended = bytes(3, &bytes(3, &message(&[varint(1, 137), varint(2, 0), bytes(3, b"OOMKilled")])));
        let waiting = [waiting, ended].concat();
        let running = bytes(2, &bytes(2, b""));
        let status = message(&[bytes(1, b"Running"), bytes(2, &ready), bytes(8, &running), bytes(8, &waiting)]);
        let other = message(&[bytes(1, b"acme.io/x"), bytes(2, b"7")]);
        let cost = message(&[bytes(1, PodFacts::DELETION_COST.as_bytes()), bytes(2, b"-5")]);
        let metadata = message(&[bytes(1, b"web"), bytes(12, &other), bytes(12, &cost)]);
        let object = message(&[bytes(1, &metadata), bytes(2, &spec), bytes(3, &status)]);
        let json = serde_json::json!({"metadata": {"name": "web",
                "annotations": {"acme.io/x": "7", (PodFacts::DELETION_COST): "-5"}},
            "spec": {"nodeName": "node-1", "serviceAccountName": "robot", "terminationGracePeriodSeconds": 30,
                "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "claim", "readOnly": false}},
                {"name": "scratch", "ephemeral": {}}, {"name": "config", "configMap": {}},
                {"secret": {"secretName": "keys"}}, {"secret": {"secretName": "perhaps", "optional": true}},
                {"projected": {"sources": [{"configMap": {"name": "part"}},
                    {"configMap": {"name": "kube-root-ca.crt"}}]}},
                {"csi": {"nodePublishSecretRef": {"name": "driver"}}}],
                "containers": [{"env": [{"name": "K", "valueFrom": {"secretKeyRef": {"name": "one", "key": "k"}}}]}],
                "initContainers": [{"envFrom": [{"configMapRef": {"name": "all"}}]}],
                "ephemeralContainers": [{"envFrom": [{"secretRef": {"name": "debug"}}]}],
                "imagePullSecrets": [{"name": "pull"}]},
            "status": {"phase": "Running",
                "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-31T08:00:01Z"}],
                "containerStatuses": [{"state": {"running": {}}},
                    {"state": {"waiting": {"reason": "CrashLoopBackOff"}},
                        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]}});
        (object, json)
    }

    fn says_the_same(object: &[u8], json: &serde_json::Value) {
        let fact = read_facts(object).unwrap();
        assert!(fact.is_some());
        assert_eq!(fact, read_json("", "Pod", json));
    }

    #[test]
    fn protobuf_and_json_say_the_same() {
        let (object, json) = pod();
        says_the_same(&object, &json);
        let fact = read_facts(&object).unwrap();
        assert!(matches!(fact, Some(Fact::Pod(facts)) if facts.requires.len() == 7));
        // The server writes unset strings as empty ones.
        let unscheduled = message(&[bytes(2, &bytes(10, b"")), bytes(3, b"")]);
        says_the_same(&unscheduled, &serde_json::json!({"spec": {}, "status": {}}));
        let of = |conditions: &[(&str, &str, &str)], container: &[u8]| {
            let conditions = conditions.iter().map(|(kind, status, said)| {
                let fields = [(1, kind), (2, status), (6, said)];
                bytes(2, &fields.map(|(number, text)| bytes(number, text.as_bytes())).concat())
            });
            let status = [conditions.collect::<Vec<_>>().concat(), bytes(8, container)].concat();
            message(&[bytes(2, b""), bytes(3, &status)])
        };
        let json = |conditions: &[(&str, &str, &str)], container: serde_json::Value| {
            let conditions = conditions
                .iter()
                .map(|(kind, status, said)| serde_json::json!({"type": kind, "status": status, "message": said}));
            let conditions: Vec<_> = conditions.collect();
            serde_json::json!({"spec": {}, "status": {"conditions": conditions, "containerStatuses": [container]}})
        };
        let unready = [("PodScheduled", "True", ""), ("Ready", "False", "not ready")];
        let pulls = message(&[bytes(1, b"ImagePullBackOff"), bytes(2, b"Back-off\npulling image \"a\".")]);
        let pulled = serde_json::json!({"state": {"waiting": {"reason": "ImagePullBackOff",
            "message": "Back-off\npulling image \"a\"."}}});
        says_the_same(&of(&unready, &bytes(2, &bytes(1, &pulls))), &json(&unready, pulled));
        let failed = bytes(3, &bytes(3, &message(&[varint(1, 2), bytes(3, b"Error")])));
        let of_failed = serde_json::json!({"lastState": {"terminated": {"exitCode": 2, "reason": "Error"}}});
        says_the_same(&of(&unready, &failed), &json(&unready, of_failed));
        let full = [("PodScheduled", "False", "0/3 nodes are available: 3 Insufficient memory.")];
        says_the_same(&of(&full, b""), &json(&full, serde_json::json!({})));
    }

    #[test]
    fn without_a_spec_nothing_is_known() {
        assert_eq!(read_facts(&bytes(1, b"")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn damaged_objects_never_panic(cut in 0usize..360, flip in 0usize..360, to in any::<u8>()) {
            let (mut object, _) = pod();
            if let Some(byte) = object.get_mut(flip) {
                *byte = to;
            }
            object.truncate(cut);
            let _ = read_facts(&object);
        }
    }
}
