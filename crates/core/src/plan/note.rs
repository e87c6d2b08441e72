//! Policies and deletes that have no effect, or not the expected one, and what a sweep leaves alone.

use strum::IntoStaticStr;

use crate::{model::ObjectId, server::Propagation};

/// Part of the request that has no effect, or not the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The target; for a sweep, the object that it leaves alone; or what is left behind.
    pub object: ObjectId,
    pub kind: NoteKind,
}

/// What a note says, in the order in which it is told: of targets before others. Its JSON name never changes meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum NoteKind {
    /// The first DELETE of a CustomResourceDefinition ignores the policy: all instances are deleted (R1.26).
    #[strum(serialize = "policy-ignored")]
    DefinitionIgnoresPolicy,
    /// Orphaning a Namespace doesn't save its contents (R1.25).
    #[strum(serialize = "policy-ignored")]
    NamespaceContentGoes,
    /// The target has no dependents: the policy makes no difference.
    #[strum(serialize = "policy-without-effect")]
    NoDependents,
    /// The pod is already in its grace period; only a shorter one would have an effect (R1.17).
    #[strum(serialize = "delete-without-effect")]
    PodAlreadyEnding,
    /// The Namespace is terminating: further DELETEs change nothing while its spec.finalizers are set (R1.25).
    #[strum(serialize = "delete-without-effect")]
    NamespaceAlreadyEnding,
    /// The target is already terminating under this policy.
    #[strum(serialize = "delete-without-effect")]
    AlreadyTerminating,
    /// Argo CD or Flux applies the target, by what it says, and no object was found that does: it may be in another
    /// cluster, and make it again (R9.41).
    AppliedUnseen,
    /// An owner reference leads to a missing API path. That doesn't prove that the owner is gone, so a sweep leaves the
    /// object alone (R3.16).
    #[strum(serialize = "missing-api")]
    DoubtedPath,
    /// It outlives its owner for ever: the collector can't resolve its reference, because the owner's kind is not
    /// served in this version (R3.13), or is namespaced while the dependent is not (L3).
    LeftBehind,
    /// The controller that removes its finalizer goes in this delete, and it stays.
    Abandoned,
    /// The same where only its name says that a workload may be that controller.
    PerhapsAbandoned,
    /// What lets the controller that removes its finalizer change it goes in this delete, and it stays (R9.46).
    WithoutRights,
    /// What its spec names goes in this delete, its controller may need that to remove its finalizer, and it stays
    /// (R9.47).
    WithoutNeeded,
    /// The last parameters of this policy go, and without them it lets everything pass (R9.45).
    PolicyLapses,
    /// The ServiceAccount of a pod, or of a workload's or CronJob's pods, goes: its tokens are refused at once, and no
    /// other pod can be started with it (R9.50).
    LosesAccount,
    /// The pods of a workload or CronJob name what goes: they run on, and no other can be started (R9.50).
    StartsNoMore,
    /// Something goes that it names, with what it loses with that, in words (R9.50).
    LosesNamed(&'static str),
    /// A dependent of what goes that was Terminating before, and stays so, with or without this delete.
    StaysTerminating,
}

named!(NoteKind);

impl NoteKind {
    /// Whether it is about targets, and not about others, of which there are often many.
    pub fn is_of_targets(self) -> bool {
        self < NoteKind::DoubtedPath
    }

    /// Whether the user asked to save dependents and the policy saves none.
    pub fn saves_nothing(self, propagation: Propagation) -> bool {
        propagation == Propagation::Orphan
            && matches!(self, NoteKind::DefinitionIgnoresPolicy | NoteKind::NamespaceContentGoes)
    }

    /// A sentence about the object.
    pub fn message(self, propagation: Propagation) -> String {
        let policy = propagation.name().to_lowercase();
        let said = match self {
            NoteKind::DefinitionIgnoresPolicy => {
                return format!(
                    "the first delete of a CRD ignores --cascade={policy}: all its instances are deleted anyway"
                );
            }
            NoteKind::NoDependents => {
                return format!("it has no dependents, so --cascade={policy} has the same effect as background");
            }
            NoteKind::NamespaceContentGoes => {
                "--cascade=orphan does not keep the content of a namespace: it only removes references to the \
                 Namespace object itself"
            }
            NoteKind::PodAlreadyEnding => {
                "the API server ignores this delete and its policy: the pod is in its grace period, and only a \
                 shorter one would count"
            }
            NoteKind::NamespaceAlreadyEnding => {
                "the API server ignores this delete: a Terminating namespace keeps its policy while its content \
                 is being deleted"
            }
            NoteKind::AlreadyTerminating => "already being deleted with this policy",
            NoteKind::AppliedUnseen => {
                "may be made again: by its labels or annotations, Argo CD or Flux applies it, from an object that was not \
                 found here"
            }
            NoteKind::DoubtedPath => {
                "not changed: its owner's API path does not exist, which does not prove that the owner is missing \
                 (--trust-missing-apis treats the owner as missing, as the collector does)"
            }
            NoteKind::LeftBehind => {
                "stays for ever: the collector cannot resolve its owner reference, and never deletes it"
            }
            NoteKind::Abandoned => {
                "stays, and cannot be deleted any more: the controller that removes its finalizer goes in this delete"
            }
            NoteKind::PerhapsAbandoned => {
                "stays, and may not be deletable any more: by its name, namespace or labels, a workload that goes in \
                 this delete may be the controller that removes its finalizer"
            }
            NoteKind::WithoutRights => {
                "stays, and may not be deletable any more: what lets the controller that removes its finalizer change \
                 it goes in this delete"
            }
            NoteKind::WithoutNeeded => {
                "stays, and may not be deletable any more: its spec names what goes in this delete, and the controller \
                 that removes its finalizer may need that"
            }
            NoteKind::PolicyLapses => {
                "no longer applies where its parameters go in this delete: without them, it lets everything pass"
            }
            NoteKind::LosesAccount => {
                "runs as a ServiceAccount that goes in this delete: the API server refuses its tokens from then on, \
                 also those of pods that run, and no other pod can start with it"
            }
            NoteKind::StartsNoMore => {
                "names what goes in this delete: pods that run go on, and without that, no other pod of it can start"
            }
            NoteKind::LosesNamed(loss) => loss,
            NoteKind::StaysTerminating => {
                "stays Terminating, as it does without this delete: kubectl gc explain says why"
            }
        };
        said.to_owned()
    }
}
