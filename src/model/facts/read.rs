//! Facts as whole objects say them.

use super::{
    ClaimFacts, DefinitionFacts, Fact, NamespaceFacts, PodFacts, ServiceFacts, SnapshotContentFacts, SnapshotFacts, VolumeFacts,
};
use crate::model::effects::Policy;

/// Whether every object of a kind has facts, by group and kind.
fn kind_has_facts(group: &str, kind: &str) -> bool {
    match group {
        "" => matches!(kind, "Pod" | "PersistentVolume" | "PersistentVolumeClaim" | "Service" | "Namespace"),
        "apiextensions.k8s.io" => kind == "CustomResourceDefinition",
        "snapshot.storage.k8s.io" => matches!(kind, "VolumeSnapshot" | "VolumeSnapshotContent"),
        _ => false,
    }
}

/// Whether an object has facts that can be read: all of some kinds, and whatever has a finalizer whose controller heeds a policy of the
/// object's own.
pub fn has_facts<'t>(group: &str, kind: &str, finalizers: impl Iterator<Item = &'t str>) -> bool {
    kind_has_facts(group, kind) || Policy::of(group, kind, finalizers).is_some()
}

/// The same of an object whose finalizers may not have been read yet.
pub fn may_have_facts<'t>(group: &str, kind: &str, finalizers: Option<impl Iterator<Item = &'t str>>) -> bool {
    finalizers.is_none_or(|finalizers| has_facts(group, kind, finalizers))
}

/// Reads an object's facts from the whole object, for those that have any ([`has_facts`]).
pub fn read_facts(group: &str, kind: &str, object: &serde_json::Value) -> Option<Fact> {
    let text = |pointer: &str| object.pointer(pointer).and_then(|value| value.as_str()).map(str::to_owned);
    let name = |pointer: &str| text(pointer).filter(|name| !name.is_empty());
    match (group, kind) {
        ("", "Pod") if object.get("spec").is_some() => {
            let pod = object.pointer("/metadata/name").and_then(|name| name.as_str()).unwrap_or_default();
            let volumes = object.pointer("/spec/volumes").and_then(|volumes| volumes.as_array());
            let claims = volumes.into_iter().flatten().filter_map(|volume| {
                let claim = volume.pointer("/persistentVolumeClaim/claimName").and_then(|claim| claim.as_str());
                claim.map(str::to_owned).or_else(|| {
                    volume.get("ephemeral")?;
                    Some(format!("{pod}-{}", volume.get("name")?.as_str()?))
                })
            });
            Some(Fact::Pod(PodFacts {
                node: name("/spec/nodeName"),
                phase: text("/status/phase"),
                grace: object.pointer("/spec/terminationGracePeriodSeconds").and_then(|grace| grace.as_i64()),
                claims: claims.collect(),
            }))
        }
        ("", "PersistentVolume") if object.get("spec").is_some() => Some(Fact::Volume(VolumeFacts {
            reclaim_policy: text("/spec/persistentVolumeReclaimPolicy"),
            claim: text("/spec/claimRef/namespace")
                .zip(text("/spec/claimRef/name"))
                .map(|(namespace, name)| format!("{namespace}/{name}")),
            phase: text("/status/phase"),
        })),
        ("", "Namespace") if object.get("spec").is_some() => {
            let finalizers = object.pointer("/spec/finalizers").and_then(|list| list.as_array());
            let finalizers = finalizers.into_iter().flatten().filter_map(|finalizer| finalizer.as_str().map(str::to_owned));
            Some(Fact::Namespace(NamespaceFacts { finalizers: finalizers.collect() }))
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") if object.get("spec").is_some() => {
            let conditions = object.pointer("/status/conditions").and_then(|list| list.as_array());
            let established = conditions
                .into_iter()
                .flatten()
                .any(|condition| condition["type"] == "Established" && condition["status"] == "True");
            Some(Fact::Definition(DefinitionFacts {
                group: text("/spec/group").unwrap_or_default(),
                kind: text("/spec/names/kind").unwrap_or_default(),
                plural: text("/spec/names/plural").unwrap_or_default(),
                established,
            }))
        }
        ("", "PersistentVolumeClaim") if object.get("spec").is_some() => {
            Some(Fact::Claim(ClaimFacts { volume: name("/spec/volumeName") }))
        }
        ("", "Service") if object.get("spec").is_some() => Some(Fact::Service(ServiceFacts { kind: text("/spec/type") })),
        ("snapshot.storage.k8s.io", "VolumeSnapshot") if object.get("spec").is_some() => {
            Some(Fact::VolumeSnapshot(SnapshotFacts { content: name("/status/boundVolumeSnapshotContentName") }))
        }
        ("snapshot.storage.k8s.io", "VolumeSnapshotContent") if object.get("spec").is_some() => {
            Some(Fact::VolumeSnapshotContent(SnapshotContentFacts { deletion_policy: text("/spec/deletionPolicy") }))
        }
        _ if object.get("spec").is_some() => {
            let finalizers = object.pointer("/metadata/finalizers").and_then(|list| list.as_array());
            let finalizers = finalizers.into_iter().flatten().filter_map(|finalizer| finalizer.as_str());
            Policy::of(group, kind, finalizers).map(|policy| Fact::Policy(policy.read(object)))
        }
        _ => None,
    }
}
