//! The facts of whole objects in protobuf: the few fields that are wanted are found on the wire, and nothing else is decoded.
//! It says the same as [`crate::model::facts::read_facts`] says of the same objects in JSON.

use crate::model::{
    Fact,
    facts::{DefinitionFacts, NamespaceFacts, PodFacts, VolumeFacts},
};

use super::{
    answer::Malformed,
    protobuf::{all, at, number, text, text_at},
};

/// Reads an object's facts, for the kinds that have any. `name` is the object's own.
pub(super) fn read_facts(group: &str, kind: &str, name: &str, object: &[u8]) -> Result<Option<Fact>, Malformed> {
    // All four kinds have metadata 1, spec 2 and status 3.
    let Some(spec) = at(object, &[2])? else { return Ok(None) };
    let status = at(object, &[3])?.unwrap_or_default();
    Ok(match (group, kind) {
        ("", "Pod") => Some(Fact::Pod(pod(name, spec, status)?)),
        ("", "PersistentVolume") => Some(Fact::Volume(volume(spec, status)?)),
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
