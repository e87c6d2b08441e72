//! The data of a plan: the outcome of each object, and what it means beyond the graph of owners: effects, what living
//! controllers do in response, and what has no effect, or not the expected one.

use std::{borrow::Cow, collections::BTreeSet};

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use strum::IntoStaticStr;

pub use crate::simulate::OutcomeKind;
use crate::{
    model::{
        Gap, ObjectId, Reference, Symbol,
        effects::{EffectKind, Severity},
    },
    server::Propagation,
    simulate::{
        Adoptions, Assumption, BlockedBy, Cause, Controllers, Finished, Needs, Obstacle, Refusal, Refused, Request,
        SimContext, State, Uncertainty,
    },
};

/// The state of an object at the end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct After {
    pub terminating: bool,
    pub finalizers: Vec<Symbol>,
    #[serde(rename = "ownerReferences")]
    pub owners: Vec<Reference>,
}

/// What the delete does to one object.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub object: ObjectId,
    pub kind: OutcomeKind,
    /// The position of its last change among all outcomes, from 1; `None` if it doesn't change.
    pub order: Option<u32>,
    /// `None` if certain.
    pub uncertain: Option<Uncertainty>,
    /// Who changed it and why; `None` if it doesn't change.
    pub because: Option<Cause>,
    /// If it stays terminating: the objects that it waits for.
    pub waits_for: Vec<ObjectId>,
    /// If it stays terminating: what else blocks it.
    pub held_by: Vec<BlockedBy>,
    /// If it stays terminating: whether it will ever be removed.
    pub state: Option<State>,
    /// `None` if it is gone.
    pub after: Option<After>,
    /// Other outcomes in other event orders; empty unless [`Uncertainty::has_alternatives`].
    pub alternatives: Vec<Alternative>,
    /// What living controllers do in response. No outcome takes this into account.
    pub afterwards: Vec<Afterwards>,
}

impl Outcome {
    /// Whether nobody can say what becomes of it: nothing changes it in the simulation, and something may.
    pub fn is_open(&self) -> bool {
        self.kind == OutcomeKind::Unchanged && self.order.is_none() && self.uncertain.is_some()
    }

    /// Whether it is a volume that goes with its claim (R9.35): what becomes of its data is told of the claim.
    pub fn goes_with_claim(&self) -> bool {
        matches!(self.because, Some(Cause::ClaimGone(Some(_))))
    }

    /// Whether it rests on an assumption.
    pub fn is_assumed(&self) -> bool {
        self.uncertain.is_some_and(|why| matches!(why.told_as(), Uncertainty::Assumption | Uncertainty::Provisioner))
    }

    /// Whether the object is removed or marked for deletion in any known outcome, or might be because of gaps.
    pub fn may_be_removed(&self) -> bool {
        self.removed_in_some_order() || self.uncertain.is_some_and(Uncertainty::may_remove)
    }

    /// Whether the object is removed in at least one event order.
    pub(super) fn removed_in_some_order(&self) -> bool {
        self.kind.removes() || self.alternatives.iter().any(|other| other.kind.removes())
    }

    /// Whether the object is removed in every event order.
    pub(super) fn removed_in_every_order(&self) -> bool {
        self.kind.removes() && self.alternatives.iter().all(|other| other.kind.removes())
    }

    /// Whether it stays Terminating as it does without this delete, which changes only its owner references.
    pub fn is_spared(&self) -> bool {
        self.kind == OutcomeKind::Terminating && self.state.is_none()
    }

    /// Whether a living controller certainly recreates the object once it is deleted.
    pub fn recreated(&self) -> bool {
        self.kind.removes() && self.afterwards.iter().any(|reaction| reaction.recreates())
    }

    /// The outcome of an object that a plan doesn't touch.
    pub(super) fn untouched(context: &SimContext<'_>, object: ObjectId) -> Self {
        let stored = context.snapshot.object(object);
        Outcome {
            object,
            kind: OutcomeKind::Unchanged,
            order: None,
            uncertain: None,
            because: None,
            waits_for: Vec::new(),
            held_by: Vec::new(),
            state: None,
            after: Some(After {
                terminating: stored.terminating(),
                finalizers: stored.finalizers.to_vec(),
                owners: stored.owners.to_vec(),
            }),
            alternatives: Vec::new(),
            afterwards: Vec::new(),
        }
    }
}

/// Another possible outcome of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub kind: OutcomeKind,
    pub because: Option<Cause>,
    pub state: Option<State>,
    /// `None` if it is gone.
    pub after: Option<After>,
}

/// One joint outcome of a group of connected objects.
pub type JointEnd = Vec<(ObjectId, Alternative)>;

/// How many objects have which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub deleted: usize,
    pub terminating: usize,
    /// How many of the terminating objects no controller is known to finish.
    pub stuck: usize,
    pub orphaned: usize,
    pub detached: usize,
    pub unblocked: usize,
    /// How many of the removed or terminating objects a living controller recreates.
    pub recreated: usize,
    /// How many only the second end removes.
    #[serde(rename = "deletedLater", skip_serializing_if = "is_zero")]
    pub later: usize,
    /// How many get stuck only on the way to the second end.
    #[serde(skip)]
    pub stuck_later: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// What a delete would do.
#[derive(Clone, Debug)]
pub struct Plan {
    pub request: Request,
    /// Every object whose stored metadata the delete changes, in the order of their last change; then those that only
    /// something unknown could change.
    pub outcomes: Vec<Outcome>,
    /// Terminating objects that stay as they are: of a delete, targets and what these wait for; of a sweep, what it
    /// examines but can't finish.
    pub stays: Vec<Outcome>,
    pub summary: Summary,
    /// For each group of objects whose outcomes depend on the event order: their possible joint outcomes.
    pub ends: Vec<Vec<JointEnd>>,
    /// External effects, the worst first.
    pub effects: Vec<OutsideEffect>,
    /// The same of what is deleted only once others have done their part: in the second end, and contents of a
    /// Namespace after its pods.
    pub effects_later: Vec<OutsideEffect>,
    /// The data that is lost once somebody starts the controllers that are scaled to 0 and that the plan waits for:
    /// because of deletes that were requested before.
    pub lost_once_started: Vec<OutsideEffect>,
    /// What becomes of the claims of deleted StatefulSets.
    pub claims: Vec<ClaimsOfSet>,
    /// Parts of the request that have no effect.
    pub notes: Vec<Note>,
    /// How many event orders were simulated.
    pub orders: u64,
    /// The controllers of the finalizers that block objects.
    pub controllers: Controllers,
    /// Who adopts what is freed.
    pub(crate) adoptions: Adoptions,
    /// What the plan assumes other actors do.
    pub assumptions: BTreeSet<Assumption>,
    /// Targets that the API server refuses to delete, and why (R1.25, R1.27).
    pub refused: Refused,
    /// What is broken, or what this delete breaks, and what that prevents.
    pub obstacles: Vec<Obstacle>,
    /// What follows once all others have done their part; `None` if nothing waits for them.
    pub then: Option<Box<Then>>,
    /// Outcomes that are the same without this delete: of objects that were terminating before, and beneath these.
    pub anyway: Vec<Outcome>,
    /// What others have done, if the request lets them.
    pub(super) finished: Vec<Finished>,
    /// What should be read to be certain.
    pub needs: Needs,
    /// How many steps were simulated, in all orders together.
    pub steps: u64,
}

/// What follows once all others have done their part.
#[derive(Clone, Debug, Default)]
pub struct Then {
    /// What they have to do, in the order in which the delete comes to it.
    pub once: Vec<Finished>,
    /// The second end of each object whose second end differs from its first.
    pub outcomes: Vec<Outcome>,
    /// The effects that only the second end has, the worst first.
    pub effects: Vec<OutsideEffect>,
    /// The controllers of all finalizers in `once`.
    pub controllers: Controllers,
}

impl Plan {
    pub fn outcome(&self, object: ObjectId) -> Option<&Outcome> {
        self.outcomes.iter().find(|outcome| outcome.object == object)
    }

    /// What could not be read of the objects that controllers list, and delete in the second end (R9.38).
    pub fn listed_unread(&self) -> impl Iterator<Item = &Gap> {
        self.then.iter().flat_map(|then| &then.once).flat_map(|finished| &finished.unread)
    }

    /// What stays Terminating, in any outcome that was found and in either end.
    pub(super) fn states(&self) -> impl Iterator<Item = (ObjectId, State)> {
        let worst = |outcome: &Outcome| {
            let mut others = outcome.alternatives.iter().filter_map(|other| other.state);
            others.find(|state| *state == State::Stuck).or(outcome.state)
        };
        let first = self.outcomes.iter().chain(&self.stays);
        let first = first.filter_map(move |outcome| Some((outcome.object, worst(outcome)?)));
        first.chain(self.once_later().map(|finished| (finished.object, finished.state)))
    }

    /// Whether anything stays stuck, in any outcome that was found and in either end, or an obstacle prevents anything.
    pub fn stuck(&self) -> bool {
        self.states().any(|(_, state)| state == State::Stuck)
            || self.obstacles.iter().any(|obstacle| !obstacle.prevents.is_empty())
    }

    /// Whether every outcome is certain.
    pub fn certain(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.uncertain.is_none())
    }
}

/// Something that happens outside the graph because an object is or may be deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutsideEffect {
    /// The deleted object.
    pub object: ObjectId,
    #[serde(flatten, serialize_with = "with_severity")]
    pub kind: EffectKind,
    /// For [`EffectKind::Unknown`]: what it is at worst, if that depends only on what could not be read.
    #[serde(skip)]
    pub at_worst: Option<EffectKind>,
    pub message: Cow<'static, str>,
    /// Other objects concerned: a claim's volume, a Node's pods.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<ObjectId>,
}

fn with_severity<S: Serializer>(kind: &EffectKind, serializer: S) -> Result<S::Ok, S::Error> {
    let mut fields = serializer.serialize_map(Some(2))?;
    fields.serialize_entry("kind", kind.name())?;
    fields.serialize_entry("severity", &kind.severity())?;
    fields.end()
}

impl OutsideEffect {
    pub fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// Whether it is such an effect, or may be.
    pub fn may_be(&self, kind: EffectKind) -> bool {
        self.kind == kind || self.at_worst == Some(kind)
    }
}

/// What becomes of the claims of a deleted StatefulSet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimsOfSet {
    #[serde(rename = "statefulSet")]
    pub set: ObjectId,
    /// Whether `whenDeleted` is `Delete`; `None` if that, and which claims are its own, could not be read.
    #[serde(rename = "whenDeleted", skip_serializing_if = "Option::is_none", serialize_with = "as_policy")]
    pub deletes: Option<bool>,
    pub kept: Vec<ObjectId>,
    /// Not deleted by this delete, but sooner or later without it, too: they are Terminating, or their owners are gone
    /// or going.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub going: Vec<ObjectId>,
    pub deleted: Vec<ObjectId>,
    /// Deleted or kept, depending on something uncertain.
    #[serde(rename = "uncertain", skip_serializing_if = "Vec::is_empty")]
    pub unsure: Vec<ObjectId>,
}

fn as_policy<S: Serializer>(deletes: &Option<bool>, serializer: S) -> Result<S::Ok, S::Error> {
    deletes.map(ClaimsOfSet::policy).serialize(serializer)
}

impl ClaimsOfSet {
    /// `whenDeleted`, as it is stored.
    pub fn policy(deletes: bool) -> &'static str {
        if deletes { "Delete" } else { "Retain" }
    }

    pub(super) fn is_empty(&self) -> bool {
        [&self.kept, &self.going, &self.deleted, &self.unsure].iter().all(|claims| claims.is_empty())
    }
}

/// What a living controller does in response to an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Afterwards {
    /// This controller survives and recreates the object.
    Recreated { by: ObjectId },
    /// This StatefulSet survives and makes a claim of this name again, without its data.
    RecreatedEmpty { by: ObjectId },
    /// This controller survives and may recreate the object.
    MayBeRecreated { by: ObjectId },
    /// This controller survives and would recreate the object, but can't (R9.44). `None`: what does it is no object.
    NotRecreated { by: Option<ObjectId>, because: Refusal },
    /// This part of Kubernetes, or who holds it, makes such an object whenever it is missing.
    KeptUp { by: &'static str },
    /// The kubelet of this Node creates the mirror pod again.
    MirroredAgain { node: ObjectId },
    /// This controller creates a new owner, which adopts the object.
    Adopted { by: ObjectId },
    /// This controller, whose selector matches, adopts the object.
    AdoptedBy { by: ObjectId },
    /// A living controller in the namespace adopts the object if its selector matches.
    MayBeAdopted,
}

impl Afterwards {
    /// Whether a controller certainly recreates the object.
    pub fn recreates(self) -> bool {
        matches!(
            self,
            Afterwards::Recreated { .. }
                | Afterwards::RecreatedEmpty { .. }
                | Afterwards::KeptUp { .. }
                | Afterwards::MirroredAgain { .. }
        )
    }
}

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
    /// A workload of Kubernetes controls the target, and was not read: if it exists, it makes another (R9.1).
    OwnerUnseen,
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

    /// Whether it is about what nobody may be able to delete any more.
    pub fn is_abandoned(self) -> bool {
        use NoteKind::{Abandoned, PerhapsAbandoned, WithoutNeeded, WithoutRights};
        matches!(self, Abandoned | PerhapsAbandoned | WithoutRights | WithoutNeeded)
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
                "may be made again: by its labels or annotations, Argo CD or Flux applies it, from an object that was \
                 not found here"
            }
            NoteKind::OwnerUnseen => {
                "comes back, or another like it, if the workload exists that controls it: that was not read"
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
