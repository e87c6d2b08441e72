//! Reads the facts of whole Pods in protobuf, which are the most. Finds the few needed fields on the wire and decodes
//! nothing else. Gives the same results as [`gc_core::model::facts::read_facts`] for the same objects in JSON.

use gc_core::model::{
    Fact,
    facts::{NotReady, PodFacts, Required},
};

use super::{
    answer::Malformed,
    protobuf::{all, at, number, text_at},
};

/// Reads a Pod's facts; `name` is its own name. PodSpec: volumes 1, terminationGracePeriodSeconds 4,
/// serviceAccountName 8, nodeName 10. Volume: name 1, volumeSource 2 { persistentVolumeClaim 10 { claimName 1 },
/// ephemeral 29 }. PodStatus: phase 1.
pub(super) fn read_facts(name: &str, object: &[u8]) -> Result<Option<Fact>, Malformed> {
    // Metadata 1, spec 2 and status 3.
    let Some(spec) = at(object, &[2])? else { return Ok(None) };
    let status = at(object, &[3])?.unwrap_or_default();
    let mut claims = Vec::new();
    for volume in all(spec, 1) {
        let volume = volume?;
        if let Some(claim) = said(volume, &[2, 10, 1])? {
            claims.push(claim);
        } else if at(volume, &[2, 29])?.is_some() {
            claims.push(format!("{name}-{}", text_at(volume, &[1])?.unwrap_or_default()));
        }
    }
    Ok(Some(Fact::Pod(PodFacts {
        node: said(spec, &[10])?,
        phase: said(status, &[1])?,
        grace: number(spec, 4)?,
        account: said(spec, &[8])?.filter(|name| name != "default"),
        claims,
        requires: started_with(spec)?,
        not_ready: not_ready(status)?.map(Box::new),
        deletion_cost: annotation(object, PodFacts::DELETION_COST)?.and_then(|it| it.parse().ok()).unwrap_or_default(),
        undisturbed: annotation(object, PodFacts::DO_NOT_DISRUPT)?.as_deref() == Some("true"),
    })))
}

/// A kind of what a message names: where it is, where the name is in it, and whether it is optional.
type Place = (fn(String) -> Required, &'static [u32], &'static [u32], u32);

/// VolumeSource: secret 6 { secretName 1, optional 4 }, configMap 19 { localObjectReference 1 { name 1 }, optional 4 },
/// azureFile 18 { secretName 1 }; and the secretRef, with its name 1, of iscsi 8, rbd 11, flexVolume 12, cephfs 14,
/// scaleIO 25, storageos 27 and csi 28.
const OF_VOLUMES: [Place; 10] = [
    (Required::Secret, &[6], &[1], 4),
    (Required::ConfigMap, &[19], &[1, 1], 4),
    (Required::Secret, &[18], &[1], NEVER),
    (Required::Secret, &[8, 10], &[1], NEVER),
    (Required::Secret, &[11, 7], &[1], NEVER),
    (Required::Secret, &[12, 3], &[1], NEVER),
    (Required::Secret, &[14, 5], &[1], NEVER),
    (Required::Secret, &[25, 3], &[1], NEVER),
    (Required::Secret, &[27, 5], &[1], NEVER),
    (Required::Secret, &[28, 5], &[1], NEVER),
];
/// VolumeProjection: secret 1 { localObjectReference 1, optional 4 }, configMap 3, the same.
const OF_PROJECTIONS: [Place; 2] = [(Required::Secret, &[1], &[1, 1], 4), (Required::ConfigMap, &[3], &[1, 1], 4)];
/// EnvVarSource: configMapKeyRef 3 { localObjectReference 1, optional 3 }, secretKeyRef 4, the same.
const OF_VALUES: [Place; 2] = [(Required::ConfigMap, &[3], &[1, 1], 3), (Required::Secret, &[4], &[1, 1], 3)];
/// EnvFromSource: configMapRef 2 { localObjectReference 1, optional 2 }, secretRef 3, the same.
const OF_ALL_VALUES: [Place; 2] = [(Required::ConfigMap, &[2], &[1, 1], 2), (Required::Secret, &[3], &[1, 1], 2)];
/// No field has this number.
const NEVER: u32 = 0;

/// The Secrets and ConfigMaps that a PodSpec names: volumes 1 { volumeSource 2 { projected 26 { sources 1 } } },
/// containers 2, initContainers 20, ephemeralContainers 34 { common 1 }, each { env 7 { valueFrom 3 }, envFrom 19 };
/// imagePullSecrets 15.
fn started_with(spec: &[u8]) -> Result<Vec<Required>, Malformed> {
    let mut named = Vec::new();
    let mut add = |message: &[u8], places: &[Place]| -> Result<(), Malformed> {
        for (of, path, name, optional) in places {
            let Some(found) = at(message, path)? else { continue };
            let is_optional = number(found, *optional)? == Some(1);
            named.extend(said(found, name)?.filter(|_| !is_optional).map(of));
        }
        Ok(())
    };
    for volume in all(spec, 1) {
        let volume = at(volume?, &[2])?.unwrap_or_default();
        add(volume, &OF_VOLUMES)?;
        for source in all(at(volume, &[26])?.unwrap_or_default(), 1) {
            add(source?, &OF_PROJECTIONS)?;
        }
    }
    let ephemeral = all(spec, 34).map(|container| Ok(at(container?, &[1])?.unwrap_or_default()));
    for container in all(spec, 2).chain(all(spec, 20)).chain(ephemeral) {
        let container = container?;
        for value in all(container, 7) {
            add(at(value?, &[3])?.unwrap_or_default(), &OF_VALUES)?;
        }
        for values in all(container, 19) {
            add(values?, &OF_ALL_VALUES)?;
        }
    }
    for secret in all(spec, 15) {
        named.extend(said(secret?, &[1])?.map(Required::PullSecret));
    }
    Ok(Required::in_order(named))
}

/// Reads a string. The server writes unset strings as empty ones.
fn said(message: &[u8], path: &[u32]) -> Result<Option<String>, Malformed> {
    Ok(text_at(message, path)?.filter(|text| !text.is_empty()))
}

/// ObjectMeta 1: annotations 12 { key 1, value 2 }.
fn annotation(object: &[u8], key: &str) -> Result<Option<String>, Malformed> {
    for annotation in all(at(object, &[1])?.unwrap_or_default(), 12) {
        let annotation = annotation?;
        if at(annotation, &[1])? == Some(key.as_bytes()) {
            return text_at(annotation, &[2]);
        }
    }
    Ok(None)
}

/// PodStatus: conditions 2 { type 1, status 2, lastTransitionTime 4 { seconds 1 }, message 6 }, containerStatuses 8 {
/// state 2 { waiting 1 { reason 1, message 2 } }, lastState 3 { terminated 3 { exitCode 1, reason 3 } } }.
fn not_ready(status: &[u8]) -> Result<Option<NotReady>, Malformed> {
    let condition = |kind: &[u8]| -> Result<Option<&[u8]>, Malformed> {
        for condition in all(status, 2) {
            let condition = condition?;
            if at(condition, &[1])? == Some(kind) {
                return Ok(Some(condition));
            }
        }
        Ok(None)
    };
    let begun = |condition: &[u8]| -> Result<NotReady, Malformed> {
        let since = at(condition, &[4])?.map(|time| number(time, 1)).transpose()?.flatten();
        Ok(NotReady { since, ..NotReady::default() })
    };
    let ready = condition(b"Ready")?;
    let not_ready = match (ready, condition(b"PodScheduled")?) {
        (Some(ready), _) if at(ready, &[2])? == Some(b"True") => return Ok(None),
        (Some(ready), _) => begun(ready)?,
        (None, Some(unscheduled)) if at(unscheduled, &[2])? == Some(b"False") => {
            return Ok(Some(begun(unscheduled)?.because(None, said(unscheduled, &[6])?)));
        }
        (None, _) => NotReady::default(),
    };
    let ended = |container: &[u8]| -> Result<_, Malformed> {
        let Some(terminated) = at(container, &[3, 3])? else { return Ok(None) };
        Ok(Some((said(terminated, &[3])?, number(terminated, 1)?.unwrap_or_default())))
    };
    let mut ended_last = None;
    for container in all(status, 8) {
        let container = container?;
        let ended = ended(container)?;
        if let Some(waiting) = said(container, &[2, 1, 1])? {
            let ended = ended.filter(|_| waiting == NotReady::CRASHES);
            let not_ready = NotReady { waiting: Some(waiting), ..not_ready };
            return Ok(Some(not_ready.because(ended, said(container, &[2, 1, 2])?)));
        }
        ended_last = ended_last.or(ended);
    }
    Ok(ready.map(|_| not_ready.because(ended_last, None)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cluster::testing::{bytes, varint};
    use gc_core::model::facts::read_facts as read_json;

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
        let metadata = message(&[bytes(12, &other), bytes(12, &cost)]);
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
        let fact = read_facts("web", object).unwrap();
        assert!(fact.is_some());
        assert_eq!(fact, read_json("", "Pod", json));
    }

    #[test]
    fn protobuf_and_json_say_the_same() {
        let (object, json) = pod();
        says_the_same(&object, &json);
        let fact = read_facts("web", &object).unwrap();
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
        assert_eq!(read_facts("web", &bytes(1, b"")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn damaged_objects_never_panic(cut in 0usize..360, flip in 0usize..360, to in any::<u8>()) {
            let (mut object, _) = pod();
            if let Some(byte) = object.get_mut(flip) {
                *byte = to;
            }
            object.truncate(cut);
            let _ = read_facts("web", &object);
        }
    }
}
