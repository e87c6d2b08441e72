//! Reads the facts of whole Pods in protobuf, which are the most. Finds the few needed fields on the wire and decodes
//! nothing else. Gives the same results as [`gc_core::model::facts::read_facts`] for the same objects in JSON.

use gc_core::model::{
    Fact,
    facts::{NotReady, PodFacts},
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
        not_ready: not_ready(status)?.map(Box::new),
        deletion_cost: annotation(object, PodFacts::DELETION_COST)?.and_then(|it| it.parse().ok()).unwrap_or_default(),
        undisturbed: annotation(object, PodFacts::DO_NOT_DISRUPT)?.as_deref() == Some("true"),
    })))
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

/// PodStatus: conditions 2 { type 1, status 2, lastTransitionTime 4 { seconds 1 } }, containerStatuses 8 { state 2 {
/// waiting 1 { reason 1 } } }.
fn not_ready(status: &[u8]) -> Result<Option<NotReady>, Malformed> {
    for condition in all(status, 2) {
        let condition = condition?;
        if at(condition, &[1])? != Some(b"Ready") {
            continue;
        }
        if at(condition, &[2])? == Some(b"True") {
            return Ok(None);
        }
        let since = at(condition, &[4])?.map(|time| number(time, 1)).transpose()?.flatten();
        for container in all(status, 8) {
            if let Some(waiting) = said(container?, &[2, 1, 1])? {
                return Ok(Some(NotReady { since, waiting: Some(waiting) }));
            }
        }
        return Ok(Some(NotReady { since, waiting: None }));
    }
    Ok(None)
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
        let spec = message(&[
            bytes(1, &claim),
            bytes(1, &ephemeral),
            bytes(1, &config),
            bytes(2, b"containers, not looked into"),
            varint(4, 30),
            bytes(8, b"robot"),
            bytes(10, b"node-1"),
        ]);
        let ready = [bytes(1, b"Ready"), bytes(2, b"False"), bytes(4, &varint(1, 1_769_846_401))].concat();
        let waiting = bytes(2, &bytes(1, &bytes(1, b"CrashLoopBackOff")));
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
                {"name": "scratch", "ephemeral": {}}, {"name": "config", "configMap": {}}]},
            "status": {"phase": "Running",
                "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-31T08:00:01Z"}],
                "containerStatuses": [{"state": {"running": {}}},
                    {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}});
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
        // The server writes unset strings as empty ones.
        let unscheduled = message(&[bytes(2, &bytes(10, b"")), bytes(3, b"")]);
        says_the_same(&unscheduled, &serde_json::json!({"spec": {}, "status": {}}));
    }

    #[test]
    fn without_a_spec_nothing_is_known() {
        assert_eq!(read_facts("web", &bytes(1, b"")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn damaged_objects_never_panic(cut in 0usize..120, flip in 0usize..120, to in any::<u8>()) {
            let (mut object, _) = pod();
            if let Some(byte) = object.get_mut(flip) {
                *byte = to;
            }
            object.truncate(cut);
            let _ = read_facts("web", &object);
        }
    }
}
