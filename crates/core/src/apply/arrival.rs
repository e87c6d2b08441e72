//! What the API server, or kubectl before it, does with an object of a file.

use strum::IntoStaticStr;

use crate::{
    graph::{Dangling, OwnerGraph, Verdict},
    model::{FOREGROUND_FINALIZER, ORPHAN_FINALIZER, ObjectId, Reference, Rule},
};

use super::{
    manifest::{FileReference, ManifestObject},
    scene::Scene,
};

/// What `kubectl apply` does with an object.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
pub enum Arrival {
    /// It doesn't exist: it is created, with a new uid (R1.48).
    Created,
    /// It exists: its owner references change.
    Patched,
    /// It exists: its owner references stay as they are.
    Unchanged,
    /// It is neither created nor changed.
    Refused(Refusal),
    /// That could not be found out.
    Unknown(Unread),
}

named!(&Arrival);

/// Why an object is refused. Refusals for what else is in it, such as its `spec`, are not predicted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Refusal {
    #[error("no kind {kind} is served in {api_version}")]
    UnservedKind { api_version: String, kind: String },
    #[error("its kind is served only once {definition} of this file is: apply the file again then")]
    DefinedByFile { definition: String },
    #[error("there is no namespace {0}")]
    NoNamespace(String),
    #[error("there is no namespace {0} before it in the file: apply the file again, and it is created")]
    NamespaceLater(String),
    #[error("namespace {0} is being deleted: nothing can be created in it")]
    NamespaceTerminating(String),
    #[error("{0}")]
    Malformed(String),
    #[error("it has neither a name nor a generateName")]
    NoName,
    /// R1.31
    #[error("its owner reference {number} has no {field}")]
    #[strum(serialize = "invalid-reference")]
    Missing { number: usize, field: &'static str },
    /// R1.31
    #[error("its owner reference {number} has the apiVersion {api_version:?}, which names no version")]
    #[strum(serialize = "invalid-reference")]
    NoVersion { number: usize, api_version: String },
    /// R1.32
    #[error("{0} of its owner references say controller: true, and only one may")]
    #[strum(serialize = "several-controllers")]
    Controllers(usize),
    /// R1.33
    #[error("its owner reference {0} names an Event, which may not be an owner")]
    EventOwner(usize),
    /// R1.34
    #[error("it has both finalizers of the collector, foregroundDeletion and orphan")]
    BothFinalizers,
    #[error("it is being deleted, and the finalizer {0} can't be added any more")]
    NewFinalizer(String),
    /// R1.50
    #[error("it exists with another uid than the file says: remove metadata.uid from the file")]
    OtherUid,
    /// R1.50
    #[error("it has changed since the file was written: remove metadata.resourceVersion from the file")]
    OtherVersion,
}

named!(&Refusal);

/// What of an object could not be found out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    #[error("discovery does not say what {0} serves")]
    Kind(String),
    #[error("whether namespace {0} exists was not read")]
    Namespace(String),
    #[error("whether it exists was not read")]
    Existence,
    #[error("it exists, and which of its owner references were applied before was not read")]
    LastApplied,
    #[error("the file has it more than once")]
    Twice,
}

/// Why the API server refuses these metadata in any cluster (§1.11).
pub(super) fn invalid(object: &ManifestObject) -> Option<Refusal> {
    if let Some(what) = &object.malformed {
        return Some(Refusal::Malformed(format!("its metadata is malformed: {what}")));
    }
    if object.name.is_empty() && object.generate_name.is_empty() {
        return Some(Refusal::NoName);
    }
    let has = |finalizer: &str| object.finalizers.iter().flatten().any(|own| own == finalizer);
    if has(FOREGROUND_FINALIZER) && has(ORPHAN_FINALIZER) {
        return Some(Refusal::BothFinalizers);
    }
    invalid_references(object.written())
}

/// The same of a list of references.
pub(super) fn invalid_references(references: &[FileReference]) -> Option<Refusal> {
    for (index, reference) in references.iter().enumerate() {
        let number = index + 1;
        let FileReference { api_version, kind, name, uid, .. } = reference;
        let fields = [("apiVersion", api_version), ("kind", kind), ("name", name), ("uid", uid)];
        if let Some((field, _)) = fields.into_iter().find(|(_, value)| value.is_empty()) {
            return Some(Refusal::Missing { number, field });
        }
        let version = match api_version.split('/').collect::<Vec<_>>()[..] {
            [version] | [_, version] => version,
            _ => "",
        };
        if version.is_empty() {
            return Some(Refusal::NoVersion { number, api_version: api_version.to_string() });
        }
        if matches!(&**api_version, "v1" | "/v1") && kind == "Event" {
            return Some(Refusal::EventOwner(number));
        }
    }
    // Equal references count once (R1.35).
    let mut controllers: Vec<&FileReference> = Vec::new();
    for reference in references.iter().filter(|reference| reference.controller == Some(true)) {
        if !controllers.contains(&reference) {
            controllers.push(reference);
        }
    }
    (controllers.len() > 1).then_some(Refusal::Controllers(controllers.len()))
}

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
