//! The few things beyond metadata that decide what a delete does, known for some objects and unknown for others.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::object::ObjectId;

/// What decides how a pod goes (R1.14) and what it keeps from going (9.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PodFacts {
    /// `spec.nodeName`; none for a pod that was never scheduled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// `status.phase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// `spec.terminationGracePeriodSeconds`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grace: Option<i64>,
    /// The PersistentVolumeClaims it mounts, those of its ephemeral volumes (`<pod>-<volume>`) included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<String>,
}

impl PodFacts {
    /// Whether its containers have ended for good.
    pub fn finished(&self) -> bool {
        matches!(self.phase.as_deref(), Some("Succeeded" | "Failed"))
    }
}

/// What decides how a PersistentVolume goes, and what goes with it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VolumeFacts {
    /// `spec.persistentVolumeReclaimPolicy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reclaim_policy: Option<String>,
    /// `spec.claimRef` as `namespace/name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
    /// `status.phase`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
}

/// What holds a Namespace (R1.25).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceFacts {
    /// `spec.finalizers`.
    #[serde(default)]
    pub finalizers: Vec<String>,
}

/// What a CustomResourceDefinition defines, and whether its deletion takes the instances along (R1.26).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionFacts {
    /// `spec.group`.
    pub group: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// `spec.names.plural`.
    pub plural: String,
    /// Whether the condition Established is true.
    pub established: bool,
}

/// One kind's facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    Pod(PodFacts),
    Volume(VolumeFacts),
    Namespace(NamespaceFacts),
    Definition(DefinitionFacts),
}

/// The facts of a snapshot. An object without an entry is one whose facts are not known.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    known: FxHashMap<ObjectId, Fact>,
}

impl Facts {
    /// Records what is known of an object.
    pub fn insert(&mut self, object: ObjectId, fact: Fact) {
        self.known.insert(object, fact);
    }

    /// Forgets what was known of an object.
    pub(super) fn remove(&mut self, object: ObjectId) {
        self.known.remove(&object);
    }

    /// What is known of an object.
    pub fn get(&self, object: ObjectId) -> Option<&Fact> {
        self.known.get(&object)
    }

    /// What is known of a pod.
    pub fn pod(&self, object: ObjectId) -> Option<&PodFacts> {
        match self.known.get(&object) {
            Some(Fact::Pod(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a PersistentVolume.
    pub fn volume(&self, object: ObjectId) -> Option<&VolumeFacts> {
        match self.known.get(&object) {
            Some(Fact::Volume(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a Namespace.
    pub fn namespace(&self, object: ObjectId) -> Option<&NamespaceFacts> {
        match self.known.get(&object) {
            Some(Fact::Namespace(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a CustomResourceDefinition.
    pub fn definition(&self, object: ObjectId) -> Option<&DefinitionFacts> {
        match self.known.get(&object) {
            Some(Fact::Definition(facts)) => Some(facts),
            _ => None,
        }
    }

    /// Follows objects to their new ids.
    pub(super) fn move_to(&mut self, moved: &[ObjectId]) {
        self.known = std::mem::take(&mut self.known).into_iter().map(|(id, fact)| (moved[id.index()], fact)).collect();
    }

    /// How many objects have facts.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is known of any object.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

/// Whether a kind has facts that can be read, and which: by group and kind.
pub fn has_facts(group: &str, kind: &str) -> bool {
    matches!((group, kind), ("", "Pod" | "PersistentVolume" | "Namespace") | ("apiextensions.k8s.io", "CustomResourceDefinition"))
}

/// Reads an object's facts from the whole object, for the kinds that have any ([`has_facts`]).
pub fn read_facts(group: &str, kind: &str, object: &serde_json::Value) -> Option<Fact> {
    let text = |pointer: &str| object.pointer(pointer).and_then(|value| value.as_str()).map(str::to_owned);
    match (group, kind) {
        ("", "Pod") if object.get("spec").is_some() => {
            let name = object.pointer("/metadata/name").and_then(|name| name.as_str()).unwrap_or_default();
            let volumes = object.pointer("/spec/volumes").and_then(|volumes| volumes.as_array());
            let claims = volumes.into_iter().flatten().filter_map(|volume| {
                let claim = volume.pointer("/persistentVolumeClaim/claimName").and_then(|claim| claim.as_str());
                claim.map(str::to_owned).or_else(|| {
                    volume.get("ephemeral")?;
                    Some(format!("{name}-{}", volume.get("name")?.as_str()?))
                })
            });
            Some(Fact::Pod(PodFacts {
                node: text("/spec/nodeName").filter(|node| !node.is_empty()),
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
        _ => None,
    }
}
