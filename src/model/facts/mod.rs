//! The few things beyond metadata that decide what a delete does, here and outside of the graph, known for some objects and unknown for others.

mod read;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{effects::PolicyFacts, object::ObjectId};

pub use read::{has_facts, may_have_facts, read_facts};

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

/// Which volume a PersistentVolumeClaim has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimFacts {
    /// `spec.volumeName`; none for a claim that is not bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
}

/// What stands behind a Service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServiceFacts {
    /// `spec.type`.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
}

/// Which pods are bound to a Node, where it was asked instead of each pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Their uids.
    #[serde(default)]
    pub pods: Vec<String>,
}

/// Where a VolumeSnapshot's data is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotFacts {
    /// `status.boundVolumeSnapshotContentName`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What becomes of the data of a VolumeSnapshotContent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotContentFacts {
    /// `spec.deletionPolicy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deletion_policy: Option<String>,
}

/// One kind's facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    Pod(PodFacts),
    Volume(VolumeFacts),
    Namespace(NamespaceFacts),
    Definition(DefinitionFacts),
    Claim(ClaimFacts),
    Service(ServiceFacts),
    Node(NodeFacts),
    VolumeSnapshot(SnapshotFacts),
    VolumeSnapshotContent(SnapshotContentFacts),
    /// What an object's finalizer makes of its deletion, for kinds without facts of their own.
    Policy(PolicyFacts),
}

impl Fact {
    /// The names of other objects that it gives, which may have to be looked up.
    pub(super) fn names(&self) -> Option<&str> {
        match self {
            Fact::Pod(facts) => facts.node.as_deref(),
            Fact::Claim(facts) => facts.volume.as_deref(),
            Fact::VolumeSnapshot(facts) => facts.content.as_deref(),
            _ => None,
        }
    }
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

    /// What is known of a PersistentVolumeClaim.
    pub fn claim(&self, object: ObjectId) -> Option<&ClaimFacts> {
        match self.known.get(&object) {
            Some(Fact::Claim(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a Service.
    pub fn service(&self, object: ObjectId) -> Option<&ServiceFacts> {
        match self.known.get(&object) {
            Some(Fact::Service(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a Node.
    pub fn node(&self, object: ObjectId) -> Option<&NodeFacts> {
        match self.known.get(&object) {
            Some(Fact::Node(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a VolumeSnapshot.
    pub fn volume_snapshot(&self, object: ObjectId) -> Option<&SnapshotFacts> {
        match self.known.get(&object) {
            Some(Fact::VolumeSnapshot(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of a VolumeSnapshotContent.
    pub fn volume_snapshot_content(&self, object: ObjectId) -> Option<&SnapshotContentFacts> {
        match self.known.get(&object) {
            Some(Fact::VolumeSnapshotContent(facts)) => Some(facts),
            _ => None,
        }
    }

    /// What is known of an object's own policy.
    pub fn policy(&self, object: ObjectId) -> Option<&PolicyFacts> {
        match self.known.get(&object) {
            Some(Fact::Policy(facts)) => Some(facts),
            _ => None,
        }
    }

    /// Follows objects to their new ids; what was known of those that have none any more is forgotten.
    pub(super) fn move_to(&mut self, moved: &[Option<ObjectId>]) {
        let known = std::mem::take(&mut self.known).into_iter();
        self.known = known.filter_map(|(id, fact)| Some((moved[id.index()]?, fact))).collect();
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
