//! The facts of whole objects in protobuf: the few fields that are wanted are found on the wire, and nothing else is decoded.
//! It says the same as [`crate::model::facts::read_facts`] says of the same objects in JSON.

use crate::model::{
    Fact,
    facts::{ClaimFacts, DefinitionFacts, NamespaceFacts, PodFacts, ServiceFacts, VolumeFacts},
};

use super::{
    answer::Malformed,
    protobuf::{all, at, number, text, text_at},
};

/// Reads an object's facts, for the kinds that have any. `name` is the object's own.
pub(super) fn read_facts(group: &str, kind: &str, name: &str, object: &[u8]) -> Result<Option<Fact>, Malformed> {
    // All these kinds have metadata 1, spec 2 and status 3.
    let Some(spec) = at(object, &[2])? else { return Ok(None) };
    let status = at(object, &[3])?.unwrap_or_default();
    Ok(match (group, kind) {
        ("", "Pod") => Some(Fact::Pod(pod(name, spec, status)?)),
        ("", "PersistentVolume") => Some(Fact::Volume(volume(spec, status)?)),
        // PersistentVolumeClaimSpec: volumeName 3.
        ("", "PersistentVolumeClaim") => Some(Fact::Claim(ClaimFacts { volume: said(spec, &[3])? })),
        // ServiceSpec: type 4.
        ("", "Service") => Some(Fact::Service(ServiceFacts { kind: said(spec, &[4])? })),
        ("", "Namespace") => Some(Fact::Namespace(NamespaceFacts { finalizers: texts(spec, 1)? })),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Some(Fact::Definition(definition(spec, status)?)),
        _ => None,
    })
}

/// The server writes unset strings as empty ones.
fn said(message: &[u8], path: &[u32]) -> Result<Option<String>, Malformed> {
    Ok(text_at(message, path)?.filter(|text| !text.is_empty()))
}

fn texts(message: &[u8], field: u32) -> Result<Vec<String>, Malformed> {
    all(message, field).map(|bytes| Ok(text(bytes?)?.to_owned())).collect()
}

/// PodSpec: volumes 1, terminationGracePeriodSeconds 4, nodeName 10. Volume: name 1, volumeSource 2 { persistentVolumeClaim 10
/// { claimName 1 }, ephemeral 29 }. PodStatus: phase 1.
fn pod(name: &str, spec: &[u8], status: &[u8]) -> Result<PodFacts, Malformed> {
    let mut claims = Vec::new();
    for volume in all(spec, 1) {
        let volume = volume?;
        if let Some(claim) = said(volume, &[2, 10, 1])? {
            claims.push(claim);
        } else if at(volume, &[2, 29])?.is_some() {
            claims.push(format!("{name}-{}", text_at(volume, &[1])?.unwrap_or_default()));
        }
    }
    Ok(PodFacts { node: said(spec, &[10])?, phase: said(status, &[1])?, grace: number(spec, 4)?, claims })
}

/// PersistentVolumeSpec: claimRef 4 { namespace 2, name 3 }, persistentVolumeReclaimPolicy 5. PersistentVolumeStatus: phase 1.
fn volume(spec: &[u8], status: &[u8]) -> Result<VolumeFacts, Malformed> {
    let claim = said(spec, &[4, 2])?.zip(said(spec, &[4, 3])?);
    Ok(VolumeFacts {
        reclaim_policy: said(spec, &[5])?,
        claim: claim.map(|(namespace, name)| format!("{namespace}/{name}")),
        phase: said(status, &[1])?,
    })
}

/// CustomResourceDefinitionSpec: group 1, names 3 { plural 1, kind 4 }. CustomResourceDefinitionStatus: conditions 1 { type 1,
/// status 2 }.
fn definition(spec: &[u8], status: &[u8]) -> Result<DefinitionFacts, Malformed> {
    let mut established = false;
    for condition in all(status, 1) {
        let condition = condition?;
        established |= at(condition, &[1])? == Some(b"Established") && at(condition, &[2])? == Some(b"True");
    }
    Ok(DefinitionFacts {
        group: text_at(spec, &[1])?.unwrap_or_default(),
        kind: text_at(spec, &[3, 4])?.unwrap_or_default(),
        plural: text_at(spec, &[3, 1])?.unwrap_or_default(),
        established,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{
        cluster::testing::{bytes, varint},
        model::facts::read_facts as read_json,
    };

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
            bytes(10, b"node-1"),
        ]);
        let object = message(&[bytes(1, b""), bytes(2, &spec), bytes(3, &bytes(1, b"Running"))]);
        let json = serde_json::json!({"metadata": {"name": "web"},
            "spec": {"nodeName": "node-1", "terminationGracePeriodSeconds": 30, "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "claim", "readOnly": false}},
                {"name": "scratch", "ephemeral": {}}, {"name": "config", "configMap": {}}]},
            "status": {"phase": "Running"}});
        (object, json)
    }

    fn says_the_same(group: &str, kind: &str, object: &[u8], json: &serde_json::Value) {
        let fact = read_facts(group, kind, "web", object).unwrap();
        assert!(fact.is_some());
        assert_eq!(fact, read_json(group, kind, json));
    }

    #[test]
    fn protobuf_and_json_say_the_same() {
        let (object, json) = pod();
        says_the_same("", "Pod", &object, &json);
        // The server writes what is not set as an empty string.
        let unscheduled = message(&[bytes(2, &bytes(10, b"")), bytes(3, b"")]);
        says_the_same("", "Pod", &unscheduled, &serde_json::json!({"spec": {}, "status": {}}));

        let claim = message(&[bytes(2, b"shop"), bytes(3, b"data"), bytes(4, b"uid")]);
        let spec = message(&[bytes(4, &claim), bytes(5, b"Delete"), bytes(6, b"fast")]);
        says_the_same(
            "",
            "PersistentVolume",
            &message(&[bytes(2, &spec), bytes(3, &bytes(1, b"Bound"))]),
            &serde_json::json!({"spec": {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "shop", "name": "data"}},
                                "status": {"phase": "Bound"}}),
        );

        let bound = bytes(2, &message(&[bytes(2, b"storage"), bytes(3, b"pv-1"), bytes(5, b"fast")]));
        says_the_same("", "PersistentVolumeClaim", &bound, &serde_json::json!({"spec": {"volumeName": "pv-1"}}));
        let unbound = bytes(2, &bytes(3, b""));
        says_the_same("", "PersistentVolumeClaim", &unbound, &serde_json::json!({"spec": {}}));
        let service = bytes(2, &message(&[bytes(3, b"10.0.0.1"), bytes(4, b"LoadBalancer")]));
        says_the_same("", "Service", &service, &serde_json::json!({"spec": {"type": "LoadBalancer"}}));

        says_the_same(
            "",
            "Namespace",
            &bytes(2, &message(&[bytes(1, b"kubernetes"), bytes(1, b"acme.io/x")])),
            &serde_json::json!({"spec": {"finalizers": ["kubernetes", "acme.io/x"]}}),
        );

        let names = message(&[bytes(1, b"buckets"), bytes(2, b"bucket"), bytes(4, b"Bucket")]);
        let spec = message(&[bytes(1, b"s3.example.org"), bytes(3, &names), bytes(4, b"Namespaced")]);
        let condition = |kind: &[u8], status: &[u8]| bytes(1, &message(&[bytes(1, kind), bytes(2, status)]));
        let status = message(&[condition(b"NamesAccepted", b"True"), condition(b"Established", b"True")]);
        let json = serde_json::json!({"spec": {"group": "s3.example.org", "names": {"plural": "buckets", "kind": "Bucket"}},
            "status": {"conditions": [{"type": "Established", "status": "True"}]}});
        let group = "apiextensions.k8s.io";
        says_the_same(group, "CustomResourceDefinition", &message(&[bytes(2, &spec), bytes(3, &status)]), &json);
        let fact = read_facts(group, "CustomResourceDefinition", "x", &bytes(2, &spec)).unwrap();
        assert!(matches!(fact, Some(Fact::Definition(facts)) if !facts.established));
    }

    #[test]
    fn without_a_spec_nothing_is_known() {
        assert_eq!(read_facts("", "Pod", "web", &bytes(1, b"")).unwrap(), None);
        assert_eq!(read_facts("", "Secret", "x", &bytes(2, b"")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn damaged_objects_never_panic(cut in 0usize..120, flip in 0usize..120, to in any::<u8>()) {
            let (mut object, _) = pod();
            if let Some(byte) = object.get_mut(flip) {
                *byte = to;
            }
            object.truncate(cut);
            for kind in ["Pod", "PersistentVolume", "PersistentVolumeClaim", "Service", "Namespace"] {
                let _ = read_facts("", kind, "web", &object);
            }
            let _ = read_facts("apiextensions.k8s.io", "CustomResourceDefinition", "x", &object);
        }
    }
}
