//! Policies and deletes that have no effect, or not the expected one, and what a sweep leaves alone.

use crate::{model::ObjectId, server::Propagation};

/// Something that the request asks for and doesn't get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The target that it is about; of a sweep, what it leaves alone.
    pub object: ObjectId,
    pub kind: NoteKind,
}

/// What is to be noted. The words never change meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The first DELETE of a definition ignores the policy: its instances go anyway (R1.26).
    DefinitionIgnoresPolicy,
    /// Orphaning a Namespace doesn't save what is in it (R1.25).
    NamespaceContentGoes,
    /// Nothing depends on the target: the policy makes no difference.
    NoDependents,
    /// The pod is in its grace period already, and only a shorter one would change anything (R1.17).
    PodAlreadyEnding,
    /// While its spec.finalizers hold a Namespace, further DELETEs change nothing (R1.25).
    NamespaceAlreadyEnding,
    /// The target is terminating under this policy already.
    AlreadyTerminating,
    /// An owner reference leads to an API path that doesn't exist, which is no proof that the owner is gone: a sweep
    /// leaves its holder alone (R3.16).
    DoubtedPath,
}

impl NoteKind {
    /// As JSON says it.
    pub fn name(self) -> &'static str {
        match self {
            NoteKind::DefinitionIgnoresPolicy | NoteKind::NamespaceContentGoes => "policy-ignored",
            NoteKind::NoDependents => "policy-without-effect",
            NoteKind::PodAlreadyEnding | NoteKind::NamespaceAlreadyEnding | NoteKind::AlreadyTerminating => {
                "delete-without-effect"
            }
            NoteKind::DoubtedPath => "missing-api",
        }
    }

    /// Whether the policy that was asked for saves nothing, although it is there to save something.
    pub fn saves_nothing(self, propagation: Propagation) -> bool {
        propagation == Propagation::Orphan
            && matches!(self, NoteKind::DefinitionIgnoresPolicy | NoteKind::NamespaceContentGoes)
    }

    /// In a sentence about the object.
    pub fn message(self, propagation: Propagation) -> String {
        let policy = propagation.name().to_lowercase();
        match self {
            NoteKind::DefinitionIgnoresPolicy => {
                format!("the first delete of a definition ignores --cascade={policy}: every instance of it is deleted anyway")
            }
            NoteKind::NamespaceContentGoes => {
                "--cascade=orphan doesn't save what is in a namespace: only references to the Namespace itself are taken off"
                    .to_owned()
            }
            NoteKind::NoDependents => format!("nothing depends on it: --cascade={policy} is as background here"),
            NoteKind::PodAlreadyEnding => {
                "this delete is ignored, its policy included: the pod is in its grace period, and only a shorter one would count"
                    .to_owned()
            }
            NoteKind::NamespaceAlreadyEnding => {
                "this delete is ignored: a terminating namespace takes no other policy while its content is being deleted"
                    .to_owned()
            }
            NoteKind::DoubtedPath => {
                "an owner reference leads to an API path that doesn't exist, which proves nothing: it is left alone \
                 (--trust-missing-apis takes that for absence, as the collector does)"
                    .to_owned()
            }
            NoteKind::AlreadyTerminating => "this delete changes nothing: it is terminating in this way already".to_owned(),
        }
    }
}
