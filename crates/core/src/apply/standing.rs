//! What an owner reference of the file comes to once the file is applied.

use strum::IntoStaticStr;

use crate::{
    graph::{Dangling, OwnerGraph, Verdict},
    model::{ObjectId, Reference, Rule},
};

use super::{manifest::FileReference, scene::Scene};

/// Where a reference leads (§3.4), and why not where its author meant.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Standing {
    /// Its owner is there.
    Solid(ObjectId),
    /// Its owner is there, and is being deleted.
    #[strum(serialize = "owner-terminating")]
    Going(ObjectId),
    /// The file creates its owner, which gets a new uid.
    NewUid(ObjectId),
    /// Its owner exists with another uid.
    OtherUid(ObjectId),
    /// The uid is that of an object in this other namespace.
    #[strum(serialize = "other-namespace")]
    Elsewhere(String),
    /// Nothing is where it leads; whether the file has such an object, which is not created yet.
    Absent { in_file: bool },
    /// It names a list kind.
    ListKind,
    /// Its apiVersion and kind are not served.
    #[strum(serialize = "unserved-kind")]
    Unserved,
    /// Its kind is served only once this CRD of the file is.
    DefinedByFile(String),
    /// A cluster-scoped object names an owner of a namespaced kind.
    InvalidScope,
    /// Its owner could not be read.
    #[strum(serialize = "unknown")]
    Unread,
}

named!(&Standing);

impl Standing {
    /// Of a reference of an object in this namespace (empty: cluster-scoped).
    pub(super) fn of(scene: &Scene, graph: &OwnerGraph, written: &FileReference, namespace: &str) -> Self {
        let snapshot = &scene.snapshot;
        let find = |text: &str| snapshot.strings.find(text);
        let reference = || {
            Some(Reference {
                api_version: find(&written.api_version)?,
                kind: find(&written.kind)?,
                name: find(&written.name)?,
                uid: find(&written.uid)?,
                controller: written.controller,
                block_owner_deletion: written.block_owner_deletion,
            })
        };
        // The scene has interned every text of the file.
        let (Some(reference), Some(own)) = (reference(), find(namespace)) else { return Standing::Unread };
        match Verdict::of(snapshot, graph, &reference, own) {
            Verdict::Solid(owner) if snapshot.object(owner).terminating() => Standing::Going(owner),
            Verdict::Solid(owner) => Standing::Solid(owner),
            Verdict::Waiting(owner) => Standing::Going(owner),
            Verdict::Dangling(Dangling::OtherUid(owner)) if scene.is_new(owner) => Standing::NewUid(owner),
            Verdict::Dangling(Dangling::OtherUid(owner)) => Standing::OtherUid(owner),
            Verdict::Dangling(Dangling::ListKind) => Standing::ListKind,
            Verdict::Dangling(Dangling::Absent) => {
                let other = |there: &str| (there != namespace && !there.is_empty()).then(|| there.to_owned());
                let live = snapshot.by_uid(reference.uid).map(|owner| snapshot.object(owner).namespace);
                let live = live.and_then(|there| other(snapshot.text(there)));
                match live.or_else(|| scene.namespace_of_saved(&written.uid).and_then(other)) {
                    Some(elsewhere) => Standing::Elsewhere(elsewhere),
                    None => Standing::Absent { in_file: scene.has_in_file(written, namespace) },
                }
            }
            Verdict::Unmappable => match scene.definition_of(&written.api_version, &written.kind) {
                Some(definition) => Standing::DefinedByFile(definition.to_owned()),
                None => Standing::Unserved,
            },
            Verdict::InvalidScope => Standing::InvalidScope,
            Verdict::Doubted | Verdict::Unknown => Standing::Unread,
        }
    }

    /// Whether the collector counts the owner as gone.
    pub fn dangles(&self) -> bool {
        matches!(
            self,
            Standing::NewUid(_)
                | Standing::OtherUid(_)
                | Standing::Elsewhere(_)
                | Standing::Absent { .. }
                | Standing::ListKind
        )
    }

    /// The rule that decides.
    pub fn rule(&self) -> Rule {
        match self {
            Standing::Solid(_) => Rule::L8,
            Standing::Going(_) => Rule::R4_6,
            Standing::NewUid(_) | Standing::OtherUid(_) => Rule::L6,
            Standing::Elsewhere(_) => Rule::R3_7,
            Standing::Absent { .. } => Rule::L4,
            Standing::ListKind => Rule::R3_15,
            Standing::Unserved | Standing::DefinedByFile(_) => Rule::R3_13,
            Standing::InvalidScope => Rule::L3,
            Standing::Unread => Rule::R10_2,
        }
    }
}
