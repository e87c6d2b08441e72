//! The only place that describes in English what blocks an object from being deleted, and who removes that.

use super::{
    controllers::Controllers,
    state::{BlockedBy, Kubelet, Liveness, State},
};
use crate::{
    model::{
        GapKind, HOLD, ObjectId, Reference, Snapshot, Symbol, UNCANCELLED,
        effects::{add_on, known_finalizer},
    },
    wording::grouped,
};

/// At most this many different controllers are named in one sentence.
const NAMED: usize = 2;
/// The entry of a Namespace's `spec.finalizers` that the namespace controller removes (R9.12).
pub(crate) const NAMESPACE_FINALIZER: &str = "kubernetes";
/// The finalizer of pods that the Job controller has yet to count.
pub(super) const TRACKING: &str = "batch.kubernetes.io/job-tracking";

impl BlockedBy {
    /// The name in documents: a finalizer, `kubelet`, `spec.finalizers`, the resource that cannot be listed, the
    /// webhook, the policy, the CustomResourceDefinition, or the APIService.
    pub fn name(self, snapshot: &Snapshot) -> &str {
        match self {
            BlockedBy::Finalizer(finalizer) => snapshot.text(finalizer),
            BlockedBy::Kubelet(_) => "kubelet",
            BlockedBy::SpecFinalizers => "spec.finalizers",
            BlockedBy::Said => "status.conditions",
            BlockedBy::Unseen => "unseen",
            BlockedBy::Unreadable(gap) => snapshot.gaps.get(gap).map_or("discovery", |gap| &gap.resource),
            BlockedBy::Webhook(configuration, place) => snapshot
                .facts
                .webhooks(configuration)
                .and_then(|facts| facts.webhooks.get(place as usize))
                .map_or("webhook", |webhook| &webhook.name),
            BlockedBy::Policy(object)
            | BlockedBy::Schema(object)
            | BlockedBy::Api(object)
            | BlockedBy::Guard(object, _) => snapshot.name(object),
        }
    }

    /// Whether it makes the API server refuse the write that is left to do.
    pub fn refuses(self) -> bool {
        matches!(self, BlockedBy::Webhook(..) | BlockedBy::Policy(_) | BlockedBy::Schema(_) | BlockedBy::Guard(..))
    }

    pub fn is_kubelet(self) -> bool {
        matches!(self, BlockedBy::Kubelet(_))
    }

    /// Whether the pod garbage collector deletes a pod in place of a kubelet.
    pub fn is_for_pod_collector(self) -> bool {
        matches!(self, BlockedBy::Kubelet(Kubelet::Absent | Kubelet::Deleted(_) | Kubelet::OutOfService))
    }

    /// The finalizer, if it is one of `metadata.finalizers`.
    pub fn finalizer(self) -> Option<Symbol> {
        match self {
            BlockedBy::Finalizer(finalizer) => Some(finalizer),
            _ => None,
        }
    }

    /// Whether it is a finalizer of `kubectl gc delete --hold`.
    pub fn is_hold(self, snapshot: &Snapshot) -> bool {
        self.finalizer().is_some_and(|finalizer| matches!(snapshot.text(finalizer), HOLD | UNCANCELLED))
    }

    /// A remark on the blocked object, such as `finalizer acme.io/drain`. `state` says whether anyone is known to
    /// resolve it, `controllers` who removes finalizers.
    pub fn describe(self, snapshot: &Snapshot, object: ObjectId, state: State, controllers: &Controllers) -> String {
        match self {
            BlockedBy::Finalizer(_) if self.is_hold(snapshot) => "held by kubectl gc delete --hold".to_owned(),
            BlockedBy::Finalizer(finalizer) => {
                let evidence = controllers.get(object, self).and_then(|controller| match &controller.liveness {
                    Liveness::Away(words) | Liveness::Unknown(words) => Some(words.clone()),
                    Liveness::Unread(words) if controller.name.is_some() => Some(words.clone()),
                    Liveness::Nobody(_) if controller.to_install(snapshot).is_some() => Some(controller.story()),
                    Liveness::Alive(_) if controller.runs() => Some(format!("{} runs", controller.told(snapshot)?)),
                    _ => None,
                });
                let evidence = evidence.or_else(|| left_by_job_controller(snapshot, object, finalizer));
                let hidden = || snapshot.unread_instances(object).filter(|_| finalizer == Symbol::DEFINITION);
                let evidence = evidence.or_else(|| hidden().map(str::to_owned));
                let resource = snapshot.resource(object);
                let add_on = || add_on(self.name(snapshot), &resource.group, &resource.kind).map(|it| it.name);
                let controller = self.controller(snapshot, object).or_else(add_on).filter(|_| state != State::Stuck);
                let remark = match controller {
                    Some(controller) => format!("{controller} must remove {}", self.name(snapshot)),
                    None => format!("finalizer {}", self.name(snapshot)),
                };
                let says = says_why(snapshot, object, finalizer).unwrap_or_default();
                match evidence {
                    Some(evidence) => format!("{remark}: {evidence}{says}"),
                    None => format!("{remark}{says}"),
                }
            }
            BlockedBy::Kubelet(kubelet) => {
                let node = snapshot.facts.pod(object).and_then(|pod| pod.node.as_deref()).unwrap_or_default();
                match kubelet {
                    Kubelet::Absent | Kubelet::Deleted(_) if state != State::Stuck => {
                        "the pod garbage collector deletes it: its node does not exist".to_owned()
                    }
                    Kubelet::Absent | Kubelet::Deleted(_) if node.is_empty() => {
                        "it has no node, and the pod garbage collector has not deleted it".to_owned()
                    }
                    Kubelet::Absent | Kubelet::Deleted(_) => {
                        format!("its node {node} does not exist, and the pod garbage collector has not deleted it")
                    }
                    Kubelet::OutOfService if state == State::Stuck => {
                        format!("its node {node} is out of service, and the pod garbage collector has not deleted it")
                    }
                    Kubelet::OutOfService => {
                        format!("the pod garbage collector deletes it: its node {node} is out of service")
                    }
                    Kubelet::Unread if state != State::Waiting => {
                        format!("in its grace period; its node {node} could not be read")
                    }
                    Kubelet::Reports | Kubelet::Unread => {
                        "in its grace period until the kubelet ends its containers".to_owned()
                    }
                    Kubelet::NotReady => format!("its node {node} is not ready: its kubelet may not end it"),
                    Kubelet::Overdue => {
                        "its grace period is over, and it stays until the kubelet ends its containers".to_owned()
                    }
                    Kubelet::Late => {
                        let said = snapshot.facts.why_not_deleted(object);
                        let said = said.map(|said| format!("; {}: {}", said.source.speaker(), said.words));
                        let said = said.unwrap_or_default();
                        format!(
                            "its grace period ended long ago, and the kubelet of its node {node} has not ended it{said}"
                        )
                    }
                    Kubelet::Unknown => "in its grace period; its node is not known".to_owned(),
                    Kubelet::Silent => {
                        format!("the kubelet of its node {node} does not report, so no kubelet ends it")
                    }
                }
            }
            BlockedBy::SpecFinalizers => match foreign_spec_finalizers(snapshot, object).as_slice() {
                [] => "the namespace controller must delete its content".to_owned(),
                others => format!("{} in its spec.finalizers", others.join(", ")),
            },
            BlockedBy::Unreadable(gap) => {
                let webhook = definition_without_conversion(snapshot, gap).and_then(|id| converter(snapshot, id));
                let why = webhook.map(|webhook| format!(": its conversion webhook, {webhook}, fails"));
                format!("{} cannot be listed{}", self.name(snapshot), why.unwrap_or_default())
            }
            BlockedBy::Webhook(..) => format!("webhook {} must allow it and does not answer", self.name(snapshot)),
            BlockedBy::Policy(_) => format!("the policy {} refuses it", self.name(snapshot)),
            BlockedBy::Guard(_, guard) => format!("protected: {}", guard.says()),
            BlockedBy::Schema(_) => format!("the schema of {} refuses it", self.name(snapshot)),
            BlockedBy::Api(_) => format!("APIService {} does not answer", self.name(snapshot)),
            BlockedBy::Said => {
                let said: Vec<String> =
                    snapshot.facts.said_to_keep(object).iter().map(|condition| condition.in_words()).collect();
                format!("the API server says: {}", said.join("; "))
            }
            BlockedBy::Unseen => {
                "nothing that was read is left in it, but the namespace controller has not removed it for long"
                    .to_owned()
            }
        }
    }

    /// The controller that removes this finalizer from this object, if it is known.
    pub fn controller(self, snapshot: &Snapshot, object: ObjectId) -> Option<&'static str> {
        let BlockedBy::Finalizer(finalizer) = self else { return None };
        if left_by_job_controller(snapshot, object, finalizer).is_some()
            || managed_by_another(snapshot, object, finalizer).is_some()
        {
            return None;
        }
        let resource = snapshot.resource(object);
        known_finalizer(snapshot.text(finalizer), &resource.group, &resource.kind).map(|known| known.by)
    }

    /// What has to happen first, as a clause after "until".
    fn until(self, snapshot: &Snapshot, object: ObjectId, controllers: &Controllers) -> Option<Clause> {
        Some(match self {
            // What the collector and the CRD's clean-up wait for says more.
            BlockedBy::Finalizer(Symbol::FOREGROUND | Symbol::ORPHAN | Symbol::DEFINITION) => return None,
            BlockedBy::SpecFinalizers => return None,
            BlockedBy::Finalizer(_) if self.is_hold(snapshot) => {
                Clause::Other("somebody ends the hold or takes the delete back".to_owned())
            }
            BlockedBy::Finalizer(_)
                if let Some(paused) = controllers.get(object, self).and_then(|it| it.paused.as_ref()) =>
            {
                Clause::Other(paused.until().to_owned())
            }
            BlockedBy::Finalizer(_) => match self.controller(snapshot, object) {
                Some(controller) => Clause::ControllerRemoves(controller),
                None => Clause::Other(match controllers.get(object, self).filter(|controller| controller.runs()) {
                    Some(controller) => format!(
                        "{}, which is running, removes {}",
                        controller.told(snapshot).unwrap_or_else(|| "its controller".to_owned()),
                        self.name(snapshot)
                    ),
                    None => format!("the controller of finalizer {} removes it", self.name(snapshot)),
                }),
            },
            BlockedBy::Kubelet(Kubelet::Absent | Kubelet::Deleted(_)) => Clause::PodGarbageCollector,
            BlockedBy::Kubelet(Kubelet::OutOfService) => Clause::PodGarbageCollectorOutOfService,
            BlockedBy::Kubelet(_) => Clause::KubeletEnds,
            BlockedBy::Unreadable(_) => Clause::Other(format!("{} can be listed again", self.name(snapshot))),
            BlockedBy::Webhook(..) => Clause::Other(format!("the webhook {} answers", self.name(snapshot))),
            BlockedBy::Policy(_) => Clause::Other(format!("the policy {} allows it", self.name(snapshot))),
            BlockedBy::Guard(..) => Clause::Other("somebody lifts its protection".to_owned()),
            BlockedBy::Schema(_) => Clause::Other(format!("the schema of {} allows it", self.name(snapshot))),
            BlockedBy::Api(_) => Clause::Other(format!("the API {} answers", self.name(snapshot))),
            BlockedBy::Unseen => Clause::Other("the namespace controller removes it".to_owned()),
            BlockedBy::Said => Clause::Other("what the API server says is mended".to_owned()),
        })
    }
}

/// `; its controller says: …`, or who else says so and when, for the first finalizer of a Terminating object that is
/// not the collector's, if something says why it is not deleted.
pub fn says_why(snapshot: &Snapshot, object: ObjectId, finalizer: Symbol) -> Option<String> {
    let said = snapshot.facts.why_not_deleted(object)?;
    let mut finalizers = snapshot.object(object).finalizers.iter().filter(|of| !of.is_collectors_finalizer());
    (finalizers.next() == Some(&finalizer)).then(|| format!("; {}: {}", said.source.speaker(), said.words))
}

/// Whether something is said of an object since its delete that only the controller of its first finalizer says: it has
/// run since then. Of Kubernetes' own kinds, others say much; the collector complains about owners of all.
pub(crate) fn has_spoken(snapshot: &Snapshot, object: ObjectId, finalizer: Symbol) -> bool {
    let said = snapshot.facts.why_not_deleted(object);
    said.is_some_and(|said| said.source.is_of_deletion() && !said.words.starts_with("OwnerRef"))
        && !snapshot.resource(object).is_kubernetes()
        && says_why(snapshot, object, finalizer).is_some()
}

/// The CRD whose conversion webhook fails, by the index of the gap.
pub(super) fn definition_without_conversion(snapshot: &Snapshot, gap: usize) -> Option<ObjectId> {
    let gap = snapshot.gaps.get(gap).filter(|gap| gap.reason.kind() == GapKind::Conversion)?;
    let definitions = snapshot.resources.by_group_kind("apiextensions.k8s.io", "CustomResourceDefinition")?;
    snapshot.look_up_named(definitions, "", &gap.resource).object()
}

/// The backend of a CRD's conversion webhook, if it was read.
pub fn converter(snapshot: &Snapshot, definition: ObjectId) -> Option<String> {
    Some(snapshot.facts.definition(definition)?.conversion.as_deref()?.to_string())
}

/// What has to happen before some objects are deleted.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Clause {
    ControllerRemoves(&'static str),
    KubeletEnds,
    PodGarbageCollector,
    PodGarbageCollectorOutOfService,
    Other(String),
}

impl Clause {
    /// The clause for this many objects.
    fn describe(self, objects: usize) -> String {
        match self {
            Clause::ControllerRemoves(controller) if objects == 1 => format!("{controller} removes its finalizer"),
            Clause::ControllerRemoves(controller) => format!("{controller} removes their finalizers"),
            Clause::KubeletEnds if objects == 1 => "the kubelet ends its containers".to_owned(),
            Clause::KubeletEnds => "the kubelet ends their containers".to_owned(),
            Clause::PodGarbageCollector => "the pod garbage collector deletes the pods of a missing Node".to_owned(),
            Clause::PodGarbageCollectorOutOfService => {
                "the pod garbage collector deletes the pods of a Node that is out of service".to_owned()
            }
            Clause::Other(clause) => clause,
        }
    }
}

/// A clause after "until": who has to do what before these objects are deleted. `None` if they only wait for objects.
pub fn until_who_is_done<'a>(
    snapshot: &Snapshot,
    controllers: &Controllers,
    blocked: impl Iterator<Item = (ObjectId, &'a [BlockedBy])>,
) -> Option<String> {
    let clauses = blocked.flat_map(|(object, blockers)| {
        blockers.iter().filter_map(move |blocker| Some((blocker.until(snapshot, object, controllers)?, ())))
    });
    let clauses: Vec<String> =
        grouped(clauses).into_iter().map(|(clause, objects)| clause.describe(objects.len())).collect();
    match clauses.as_slice() {
        [] => None,
        some if some.len() <= NAMED => Some(some.join(" and ")),
        [first, rest @ ..] => Some(format!("{first}, and {} other controllers are done", rest.len())),
    }
}

/// Those of a Namespace's `spec.finalizers` that the namespace controller does not remove.
pub fn foreign_spec_finalizers(snapshot: &Snapshot, object: ObjectId) -> Vec<&str> {
    let finalizers = snapshot.facts.namespace(object).map(|facts| facts.finalizers.as_slice()).unwrap_or_default();
    finalizers.iter().map(String::as_str).filter(|finalizer| *finalizer != NAMESPACE_FINALIZER).collect()
}

/// Why the Job controller never removes its finalizer from a pod: something else than a Job controls it (R9.8).
pub fn left_by_job_controller(snapshot: &Snapshot, pod: ObjectId, finalizer: Symbol) -> Option<String> {
    let controller = Reference::controller_of(&snapshot.object(pod).owners)?;
    let (kind, group) = (snapshot.text(controller.kind), snapshot.text(controller.api_version));
    let is_job = kind == "Job" && group == "batch/v1";
    (snapshot.text(finalizer) == TRACKING && !is_job)
        .then(|| format!("the Job controller leaves it on pods of others: {kind}/{}", snapshot.text(controller.name)))
}

/// Who decides over the Job controller's finalizer of a pod instead, as the pod's Job says (R9.8): the Job, and why.
pub(crate) fn managed_by_another(snapshot: &Snapshot, pod: ObjectId, finalizer: Symbol) -> Option<(ObjectId, String)> {
    let job = snapshot.controller_of(pod).filter(|_| snapshot.text(finalizer) == TRACKING)?;
    let manager = snapshot.facts.job(job)?.managed_by.as_ref()?;
    Some((job, format!("spec.managedBy of {} gives it to {manager}", snapshot.short_name(job))))
}

/// Whether kube-controller-manager removes a finalizer.
pub(crate) fn is_removed_by_controller_manager(finalizer: &str) -> bool {
    matches!(
        finalizer,
        "kubernetes.io/pvc-protection" | "kubernetes.io/pv-protection" | "kubernetes.io/pv-controller" | TRACKING
    )
}
