//! Why something happens to an object.

use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::{
    collector::Reason,
    model::{ObjectId, Reference, Snapshot, Symbol, effects::Inventory},
    server::Propagation,
    simulate::{Cause, in_inventory},
};

/// The reason for what happens to an object, as text and documents show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Because {
    /// The reason in one word; its meaning never changes.
    pub reason: &'static str,
    /// A sentence about this object, without a full stop.
    pub message: String,
}

/// The reason for what happens to this object.
pub fn because(snapshot: &Snapshot, object: ObjectId, cause: &Cause, propagation: Propagation) -> Because {
    let references = &snapshot.object(object).owners;
    let (reason, message) = match cause {
        Cause::Requested => ("target", format!("it is a target of this delete ({})", propagation.name())),
        Cause::Kept => ("kept", "kept by --keep: its references to deleted objects are removed first".to_owned()),
        Cause::Collector(reason) => collected(snapshot, references, reason),
        Cause::Kubelet => ("grace-over", "the kubelet ends it after its grace period".to_owned()),
        Cause::KnownFinalizer(finalizer) | Cause::Finisher(finalizer) => {
            ("finalizer", format!("its controller removes the finalizer {}", snapshot.text(*finalizer)))
        }
        Cause::Namespace(namespace) => ("namespace", format!("its namespace {} is deleted", snapshot.name(*namespace))),
        Cause::NamespaceEmpty => ("namespace-empty", "the namespace is empty".to_owned()),
        Cause::Definition(definition) => ("crd", format!("its CRD {} is deleted", snapshot.name(*definition))),
        Cause::DefinitionEmpty => ("crd-empty", "the CRD has no instance left".to_owned()),
        Cause::NodeGone(Some(node)) => {
            ("node-gone", format!("the pod garbage collector deletes it 40s after its node {}", snapshot.name(*node)))
        }
        Cause::AccountGone(account) => {
            ("account-gone", format!("it contains a token of ServiceAccount {}", snapshot.name(*account)))
        }
        Cause::ServiceGone(service) => (
            "service-gone",
            format!("the endpoints controller deletes the Endpoints of Service {}", snapshot.name(*service)),
        ),
        Cause::EndpointsGone(endpoints) => {
            ("endpoints-gone", format!("the mirroring controller made it of Endpoints {}", snapshot.name(*endpoints)))
        }
        Cause::ClaimGone(Some(claim)) => {
            ("claim-gone", format!("its reclaim policy is Delete, and its claim {} goes", snapshot.name(*claim)))
        }
        Cause::ClaimGone(None) => (
            "claim-gone",
            "its claimRef has the uid of a claim that is gone, and its reclaim policy is Delete".to_owned(),
        ),
        Cause::Detached(pod) => {
            ("detached", format!("{} is the last on its Node to use the volume", snapshot.short_name(*pod)))
        }
        Cause::JobFailed { job, pod } => (
            "job-failed",
            format!(
                "Job {} fails with the deletion of Pod {}, and the Job controller deletes its other pods",
                snapshot.name(*job),
                snapshot.name(*pod)
            ),
        ),
        Cause::JobExpired { pod } => (
            "job-expired",
            format!(
                "it fails with the deletion of Pod {}, and its ttlSecondsAfterFinished is short",
                snapshot.name(*pod)
            ),
        ),
        Cause::ScaledDown(controller) => (
            "scaled-down",
            format!("{} adopts pods, and deletes those that are too many", snapshot.short_name(*controller)),
        ),
        Cause::DefinitionGone(definition) => (
            "definition-gone",
            format!("no CRD serves its version any more once {} is gone", snapshot.name(*definition)),
        ),
        Cause::AddressReleased(service) => {
            ("address-released", format!("the API server releases it with Service {}", snapshot.name(*service)))
        }
        Cause::Inventory(lists) => {
            let inventory = snapshot.facts.policy(*lists).and_then(|facts| facts.inventory.as_deref());
            let name = snapshot.short_name(*lists);
            let is_named =
                |it: &Inventory| it.objects.iter().any(|named| in_inventory(snapshot, named) == Some(object));
            let why = match inventory.is_none_or(|it| it.is_by_label() && !is_named(it)) {
                true => "its labels name it".to_owned(),
                false => format!("{name} lists it"),
            };
            ("inventory", format!("the controller of {name} deletes it: {why}"))
        }
        Cause::NodeGone(None) => (
            "node-gone",
            "the pod garbage collector deletes it, because its node does not exist, or is out of service".to_owned(),
        ),
    };
    Because { reason, message }
}

fn collected(snapshot: &Snapshot, references: &[Reference], reason: &Reason) -> (&'static str, String) {
    let owner = |uid: &Symbol| named(snapshot, references, |reference| reference.uid == *uid);
    match reason {
        Reason::NoOwnerLeft => match references {
            [only] => ("dangling", format!("its owner {} is {}", written(snapshot, only), lost(snapshot, references))),
            _ => {
                let all = named(snapshot, references, |_| true);
                ("dangling", format!("all its owners are {}: {all}", lost(snapshot, references)))
            }
        },
        Reason::OwnerWaits => match references {
            [only] => (
                "waiting-owner",
                format!("its owner {} is waiting for its dependents to be deleted", written(snapshot, only)),
            ),
            _ => (
                "waiting-owner",
                "an owner is waiting for its dependents to be deleted, and no other owner keeps it".to_owned(),
            ),
        },
        Reason::OtherOwnerSolid(uids) => {
            let uids: FxHashSet<Symbol> = uids.iter().copied().collect();
            let lost = named(snapshot, references, |reference| uids.contains(&reference.uid));
            let kept = named(snapshot, references, |reference| !uids.contains(&reference.uid));
            let kept =
                if kept.is_empty() { "still has another owner".to_owned() } else { format!("still owned by {kept}") };
            ("solid-owner", format!("{kept}; reference to {lost} removed"))
        }
        Reason::CycleSuspected => (
            "unblocked",
            "one of its dependents is already being deleted in the foreground, so it no longer blocks its owners"
                .to_owned(),
        ),
        Reason::DependentsGone => ("dependents-gone", "no dependent blocks it any more".to_owned()),
        Reason::OwnerOrphans(uid) => {
            ("orphaned", format!("its owner {} is deleted with the orphan policy", owner(uid)))
        }
        Reason::DependentsFreed => ("dependents-freed", "its dependents have been orphaned".to_owned()),
    }
}

/// An owner that was there is gone by then; one that never was is missing.
fn lost(snapshot: &Snapshot, owners: &[Reference]) -> &'static str {
    if owners.iter().any(|owner| snapshot.by_uid(owner.uid).is_some()) { "gone" } else { "missing" }
}

fn named(snapshot: &Snapshot, references: &[Reference], wanted: impl Fn(&Reference) -> bool) -> String {
    let mut known: FxHashSet<(Symbol, Symbol)> = FxHashSet::default();
    let wanted = references.iter().filter(|reference| wanted(reference));
    let new = wanted.filter(|reference| known.insert((reference.kind, reference.name)));
    new.map(|reference| written(snapshot, reference)).collect::<Vec<String>>().join(", ")
}

/// The owners as their references name them, without duplicates.
pub fn owners_named(snapshot: &Snapshot, references: &[Reference]) -> String {
    named(snapshot, references, |_| true)
}

fn written(snapshot: &Snapshot, reference: &Reference) -> String {
    format!("{}/{}", snapshot.text(reference.kind), snapshot.text(reference.name))
}
