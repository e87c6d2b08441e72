//! Reads the facts of whole objects in protobuf. Finds the few needed fields on the wire and decodes nothing else.
//! Gives the same results as [`crate::model::facts::read_facts`] for the same objects in JSON.

use crate::model::{
    Fact,
    facts::{
        Backend, ClaimFacts, Condition, DefinitionFacts, NamespaceFacts, NotReady, PodFacts, ServiceFacts,
        VolumeDeleter, VolumeFacts,
    },
};

use super::{
    answer::Malformed,
    protobuf::{all, at, number, text, text_at},
};

/// Whether facts of this kind are read from protobuf; other kinds are requested in JSON.
pub(super) fn reads(group: &str, kind: &str) -> bool {
    match group {
        "" => matches!(kind, "Pod" | "PersistentVolume" | "PersistentVolumeClaim" | "Service" | "Namespace"),
        _ => group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition",
    }
}

/// Reads an object's facts, for the kinds that [`reads`] accepts. `name` is the object's own name.
pub(super) fn read_facts(group: &str, kind: &str, name: &str, object: &[u8]) -> Result<Option<Fact>, Malformed> {
    // All these kinds have metadata 1, spec 2 and status 3.
    let Some(spec) = at(object, &[2])? else { return Ok(None) };
    let status = at(object, &[3])?.unwrap_or_default();
    Ok(match (group, kind) {
        ("", "Pod") => Some(Fact::Pod(PodFacts { deletion_cost: deletion_cost(object)?, ..pod(name, spec, status)? })),
        ("", "PersistentVolume") => Some(Fact::Volume(volume(object, spec, status)?)),
        // PersistentVolumeClaimSpec: volumeName 3.
        ("", "PersistentVolumeClaim") => Some(Fact::Claim(ClaimFacts { volume: said(spec, &[3])? })),
        // ServiceSpec: selector 2, type 4, clusterIPs 18.
        ("", "Service") => Some(Fact::Service(ServiceFacts {
            kind: said(spec, &[4])?,
            cluster_ips: texts(spec, 18)?,
            selects: at(spec, &[2])?.is_some(),
        })),
        // NamespaceStatus: conditions 2 { type 1, status 2, reason 5, message 6 }.
        ("", "Namespace") => {
            let conditions = conditions(status, 2, [5, 6])?;
            Some(Fact::Namespace(NamespaceFacts { finalizers: texts(spec, 1)?, conditions }))
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            Some(Fact::Definition(definition(object, spec, status)?))
        }
        _ => None,
    })
}

/// Reads a string. The server writes unset strings as empty ones.
fn said(message: &[u8], path: &[u32]) -> Result<Option<String>, Malformed> {
    Ok(text_at(message, path)?.filter(|text| !text.is_empty()))
}

fn texts(message: &[u8], field: u32) -> Result<Vec<String>, Malformed> {
    all(message, field).map(|bytes| Ok(text(bytes?)?.to_owned())).collect()
}

/// PodSpec: volumes 1, terminationGracePeriodSeconds 4, nodeName 10. Volume: name 1, volumeSource 2 {
/// persistentVolumeClaim 10 { claimName 1 }, ephemeral 29 }. PodStatus: phase 1.
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
    Ok(PodFacts {
        node: said(spec, &[10])?,
        phase: said(status, &[1])?,
        grace: number(spec, 4)?,
        claims,
        not_ready: not_ready(status)?.map(Box::new),
        deletion_cost: 0,
    })
}

fn deletion_cost(object: &[u8]) -> Result<i32, Malformed> {
    Ok(annotation(object, PodFacts::DELETION_COST)?.and_then(|cost| cost.parse().ok()).unwrap_or_default())
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

/// PersistentVolumeSpec: persistentVolumeSource 2 { hostPath 3 { path 1 }, nfs 5, iscsi 7, fc 10, local 20, csi 22 {
/// driver 1 } }, claimRef 4 { namespace 2, name 3 }, persistentVolumeReclaimPolicy 5. PersistentVolumeStatus: phase 1.
fn volume(object: &[u8], spec: &[u8], status: &[u8]) -> Result<VolumeFacts, Malformed> {
    let claim = said(spec, &[4, 2])?.zip(said(spec, &[4, 3])?);
    let mut not_deleted = false;
    for field in [5, 7, 10, 20] {
        not_deleted |= at(spec, &[2, field])?.is_some();
    }
    Ok(VolumeFacts {
        reclaim_policy: said(spec, &[5])?,
        claim: claim.map(|(namespace, name)| format!("{namespace}/{name}")),
        phase: said(status, &[1])?,
        deleted_by: VolumeDeleter::of(
            annotation(object, VolumeDeleter::PROVISIONED_BY)?.as_deref(),
            annotation(object, VolumeDeleter::MIGRATED_TO)?.as_deref(),
            text_at(spec, &[2, 22, 1])?.as_deref(),
            text_at(spec, &[2, 3, 1])?.as_deref(),
            not_deleted,
        ),
    })
}

/// ObjectMeta 1: generation 7. CustomResourceDefinitionSpec: group 1, names 3 { plural 1, kind 4 }, conversion 9 {
/// strategy 1, webhook 2 { clientConfig 2 } }, versions 7. CustomResourceDefinitionStatus: conditions 1 { type 1,
/// status 2, reason 4, message 5 }, storedVersions 3.
fn definition(object: &[u8], spec: &[u8], status: &[u8]) -> Result<DefinitionFacts, Malformed> {
    let generation = number(at(object, &[1])?.unwrap_or_default(), 7)?;
    let conditions = conditions(status, 1, [4, 5])?;
    let conversion = at(spec, &[9])?.unwrap_or_default();
    let versions = [all(spec, 7).count(), all(status, 3).count()];
    let converts = at(conversion, &[1])? == Some(b"Webhook") && DefinitionFacts::may_convert(versions);
    Ok(DefinitionFacts {
        group: text_at(spec, &[1])?.unwrap_or_default(),
        kind: text_at(spec, &[3, 4])?.unwrap_or_default(),
        plural: text_at(spec, &[3, 1])?.unwrap_or_default(),
        established: conditions.iter().any(|condition| condition.kind == "Established"),
        conversion: at(conversion, &[2, 2])?.filter(|_| converts).map(backend).transpose()?.flatten(),
        revised: generation.is_some_and(|number| number > 1),
        conditions,
    })
}

/// WebhookClientConfig: service 1 { namespace 1, name 2 }, url 3.
fn backend(config: &[u8]) -> Result<Option<Backend>, Malformed> {
    let service = text_at(config, &[1, 1])?.zip(text_at(config, &[1, 2])?);
    let service = service.map(|(namespace, name)| Backend::Service { namespace, name });
    Ok(service.or(said(config, &[3])?.map(|url| Backend::of_url(&url))))
}

/// The conditions with status True, in a field of a status: type 1, status 2; the numbers of reason and message differ
/// by kind.
fn conditions(status: &[u8], field: u32, [reason, message]: [u32; 2]) -> Result<Vec<Condition>, Malformed> {
    let mut conditions = Vec::new();
    for condition in all(status, field) {
        let condition = condition?;
        if at(condition, &[2])? == Some(b"True") {
            let text = |field| Ok::<_, Malformed>(text_at(condition, &[field])?.unwrap_or_default());
            conditions.push(Condition { kind: text(1)?, reason: text(reason)?, message: text(message)? });
        }
    }
    Ok(conditions)
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
            "spec": {"nodeName": "node-1", "terminationGracePeriodSeconds": 30, "volumes": [
                {"name": "data", "persistentVolumeClaim": {"claimName": "claim", "readOnly": false}},
                {"name": "scratch", "ephemeral": {}}, {"name": "config", "configMap": {}}]},
            "status": {"phase": "Running",
                "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-31T08:00:01Z"}],
                "containerStatuses": [{"state": {"running": {}}},
                    {"state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}});
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
        // The server writes unset strings as empty ones.
        let unscheduled = message(&[bytes(2, &bytes(10, b"")), bytes(3, b"")]);
        says_the_same("", "Pod", &unscheduled, &serde_json::json!({"spec": {}, "status": {}}));

        let claim = message(&[bytes(2, b"shop"), bytes(3, b"data"), bytes(4, b"uid")]);
        let spec = message(&[bytes(4, &claim), bytes(5, b"Delete"), bytes(6, b"fast")]);
        says_the_same(
            "",
            "PersistentVolume",
            &message(&[bytes(2, &spec), bytes(3, &bytes(1, b"Bound"))]),
            &serde_json::json!({"spec": {"persistentVolumeReclaimPolicy": "Delete", "claimRef": {"namespace": "shop",
                "name": "data"}},
                                "status": {"phase": "Bound"}}),
        );
        let annotated = |key: &str, value: &str| {
            bytes(1, &bytes(12, &message(&[bytes(1, key.as_bytes()), bytes(2, value.as_bytes())])))
        };
        let (made, moved) = (VolumeDeleter::PROVISIONED_BY, VolumeDeleter::MIGRATED_TO);
        for (metadata, annotations, source, said) in [
            (Vec::new(), serde_json::json!({}), bytes(3, &bytes(1, b"/tmp/a")), ("hostPath", "path", "/tmp/a")),
            (Vec::new(), serde_json::json!({}), bytes(3, &bytes(1, b"/data")), ("hostPath", "path", "/data")),
            (Vec::new(), serde_json::json!({}), bytes(5, &bytes(1, b"nas")), ("nfs", "server", "nas")),
            (Vec::new(), serde_json::json!({}), bytes(20, &bytes(1, b"/disk")), ("local", "path", "/disk")),
            (Vec::new(), serde_json::json!({}), bytes(22, &bytes(1, b"acme.io")), ("csi", "driver", "acme.io")),
            (
                annotated(made, "kubernetes.io/aws-ebs"),
                serde_json::json!({made: "kubernetes.io/aws-ebs"}),
                bytes(2, &bytes(1, b"vol-1")),
                ("awsElasticBlockStore", "volumeID", "vol-1"),
            ),
            (
                annotated(moved, "ebs.csi.aws.com"),
                serde_json::json!({moved: "ebs.csi.aws.com"}),
                bytes(2, &bytes(1, b"vol-1")),
                ("awsElasticBlockStore", "volumeID", "vol-1"),
            ),
        ] {
            let object = message(&[metadata, bytes(2, &bytes(2, &source)), bytes(3, &bytes(1, b"Bound"))]);
            let (name, field, value) = said;
            let json = serde_json::json!({"metadata": {"annotations": annotations},
                "spec": {name: {field: value}}, "status": {"phase": "Bound"}});
            says_the_same("", "PersistentVolume", &object, &json);
        }

        let bound = bytes(2, &message(&[bytes(2, b"storage"), bytes(3, b"pv-1"), bytes(5, b"fast")]));
        says_the_same("", "PersistentVolumeClaim", &bound, &serde_json::json!({"spec": {"volumeName": "pv-1"}}));
        let unbound = bytes(2, &bytes(3, b""));
        says_the_same("", "PersistentVolumeClaim", &unbound, &serde_json::json!({"spec": {}}));
        let service = bytes(2, &message(&[bytes(3, b"10.0.0.1"), bytes(4, b"LoadBalancer")]));
        says_the_same("", "Service", &service, &serde_json::json!({"spec": {"type": "LoadBalancer"}}));
    }

    /// A condition with the field numbers of its reason and message.
    fn condition(field: u32, [kind, status, reason, message]: [&str; 4], fields: [u32; 2]) -> Vec<u8> {
        let texts = [(1, kind), (2, status), (fields[0], reason), (fields[1], message)];
        let parts = texts.map(|(field, text)| bytes(field, text.as_bytes()));
        bytes(field, &parts.concat())
    }

    #[test]
    fn conditions_of_namespaces_are_the_same() {
        let failure = ["NamespaceDeletionDiscoveryFailure", "True", "DiscoveryFailed", "metrics.k8s.io/v1beta1: stale"];
        let none = ["NamespaceContentRemaining", "False", "ContentRemoved", "All content successfully removed"];
        let status = message(&[bytes(1, b"Terminating"), condition(2, failure, [5, 6]), condition(2, none, [5, 6])]);
        let json = |[kind, status, reason, message]: [&str; 4]| {
            serde_json::json!({"type": kind, "status": status,
            "reason": reason, "message": message})
        };
        let json = serde_json::json!({"spec": {"finalizers": ["kubernetes", "acme.io/x"]},
            "status": {"phase": "Terminating", "conditions": [json(failure), json(none)]}});
        let object =
            message(&[bytes(2, &message(&[bytes(1, b"kubernetes"), bytes(1, b"acme.io/x")])), bytes(3, &status)]);
        says_the_same("", "Namespace", &object, &json);
        let Some(Fact::Namespace(facts)) = read_json("", "Namespace", &json) else { panic!("a namespace has facts") };
        assert_eq!(facts.conditions.len(), 1);
        assert_eq!(facts.conditions[0].reason, "DiscoveryFailed");
    }

    #[test]
    fn definitions_are_the_same() {
        let (group, kind) = ("apiextensions.k8s.io", "CustomResourceDefinition");
        let names = message(&[bytes(1, b"buckets"), bytes(2, b"bucket"), bytes(4, b"Bucket")]);
        let of_definition = [bytes(1, b"s3.example.org"), bytes(3, &names), bytes(4, b"Namespaced")].concat();
        let established = ["Established", "True", "InitialNamesAccepted", "the initial names have been accepted"];
        let status =
            message(&[condition(1, ["NamesAccepted", "False", "", ""], [4, 5]), condition(1, established, [4, 5])]);
        let json = |conversion: serde_json::Value| {
            serde_json::json!({
                "metadata": {"generation": 2},
                "spec": {"group": "s3.example.org", "names": {"plural": "buckets", "kind": "Bucket"},
                    "conversion": conversion},
                "status": {"conditions": [
                    {"type": "NamesAccepted", "status": "False"},
                    {"type": "Established", "status": "True", "reason": established[2], "message": established[3]}]}})
        };
        let service =
            bytes(1, &message(&[bytes(1, b"acme"), bytes(2, b"webhook"), bytes(3, b"/convert"), varint(4, 443)]));
        let url = bytes(3, b"https://example.org/convert");
        let service_json =
            serde_json::json!({"service": {"namespace": "acme", "name": "webhook", "path": "/convert", "port": 443}});
        let url_json = serde_json::json!({"url": "https://example.org/convert"});
        let cases = [
            (b"Webhook".as_slice(), service, service_json, true),
            (b"Webhook", url.clone(), url_json.clone(), true),
            (b"Webhook", bytes(2, b"ca"), serde_json::json!({"caBundle": "Y2E="}), false),
            (b"None", url, url_json, false),
        ];
        for (strategy, config, config_json, asks) in cases {
            let conversion = bytes(9, &message(&[bytes(1, strategy), bytes(2, &bytes(2, &config))]));
            let spec = message(&[of_definition.clone(), conversion]);
            let object = message(&[bytes(1, &varint(7, 2)), bytes(2, &spec), bytes(3, &status)]);
            let strategy = std::str::from_utf8(strategy).unwrap();
            let json = json(serde_json::json!({"strategy": strategy, "webhook": {"clientConfig": config_json}}));
            says_the_same(group, kind, &object, &json);
            let Some(Fact::Definition(facts)) = read_json(group, kind, &json) else { panic!("a definition has facts") };
            assert_eq!((facts.conversion.is_some(), facts.established, facts.revised), (asks, true, true), "{json}");
        }
        let fact = read_facts(group, kind, "x", &bytes(2, &of_definition)).unwrap();
        let Some(Fact::Definition(facts)) = fact else { panic!("a definition has facts") };
        assert!(!facts.established && !facts.revised && facts.conversion.is_none());
    }

    #[test]
    fn what_is_read_from_protobuf_is_read() {
        for (group, kind) in
            [("", "Pod"), ("", "Namespace"), ("", "Secret"), ("apps", "Deployment"), ("coordination.k8s.io", "Lease")]
        {
            let read = read_facts(group, kind, "x", &bytes(2, b"")).unwrap();
            assert_eq!(reads(group, kind), read.is_some(), "{group} {kind}");
        }
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
