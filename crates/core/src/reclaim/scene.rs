//! The objects by kind, and what is known of them.

use serde::Serialize;

use crate::{
    graph::OwnerGraph,
    groups::Groups,
    model::{
        Gap, Object, ObjectId, Presence, Reference, ResourceId, Rule, Snapshot, Symbol,
        facts::{LabelSelector, PodFacts, ReclaimFacts},
    },
    simulate::{Assume, Controllers, Liveness, Operation, SimContext, State, World, controllers::provisioner_of},
    wording::count,
};

use super::removal::Removal;

/// A snapshot as the sorts see it.
pub(super) struct Scene<'a> {
    pub snapshot: &'a Snapshot,
    pub settings: &'a Settings,
    /// In Unix seconds.
    pub now: i64,
    context: &'a SimContext<'a>,
}

impl<'a> Scene<'a> {
    pub(super) fn new(context: &'a SimContext<'a>, settings: &'a Settings, now: i64) -> Self {
        Scene { snapshot: context.snapshot, settings, now, context }
    }

    /// Whether the provisioner of a volume is seen to run.
    pub(super) fn has_provisioner(&self, volume: ObjectId) -> bool {
        let provisioner = provisioner_of(self.context, volume);
        provisioner.is_some_and(|it| matches!(it.liveness, Liveness::Alive(_)))
    }

    /// The Node without which nobody can delete a volume's data, if it is gone.
    pub(super) fn lost_node(&self, volume: ObjectId) -> Option<String> {
        self.context.lost_node(volume)
    }

    /// The objects of a kind, in the order of the snapshot.
    pub(super) fn of(&self, group: &str, kind: &str) -> &[ObjectId] {
        self.resource(group, kind).map_or(&[], |resource| self.context.of_resource(resource))
    }

    pub(super) fn object(&self, id: ObjectId) -> &'a Object {
        self.snapshot.object(id)
    }

    pub(super) fn name(&self, id: ObjectId) -> &'a str {
        self.snapshot.text(self.object(id).name)
    }

    pub(super) fn created(&self, id: ObjectId) -> i64 {
        self.object(id).created.get().unwrap_or(i64::MIN)
    }

    pub(super) fn facts(&self, id: ObjectId) -> Option<&'a ReclaimFacts> {
        self.snapshot.facts.reclaim(id)
    }

    pub(super) fn pod(&self, id: ObjectId) -> Option<&'a PodFacts> {
        self.snapshot.facts.pod(id)
    }

    /// `Kind/name`.
    pub(super) fn short(&self, id: ObjectId) -> String {
        self.snapshot.short_name(id)
    }

    /// The objects of a kind by their namespace.
    pub(super) fn by_namespace(&self, group: &str, kind: &str) -> Groups<Symbol> {
        self.of(group, kind).iter().map(|id| (self.object(*id).namespace, *id)).collect()
    }

    /// Whether a workload takes an object for its own: it controls it, or nobody does and it would adopt it; and its
    /// selector matches (`CREF:ClaimObject`).
    pub(super) fn claims(&self, workload: ObjectId, selector: &LabelSelector, id: ObjectId) -> bool {
        let object = self.object(id);
        let is_own = match Reference::controller_of(&object.owners) {
            Some(controller) => controller.uid == self.object(workload).uid,
            None => !object.terminating(),
        };
        is_own && selector.matches(|key| self.snapshot.label(id, key))
    }

    /// The selector of a workload; `None` if it isn't known, or selects everything.
    pub(super) fn selector(&self, workload: ObjectId) -> Option<&'a LabelSelector> {
        self.snapshot.facts.workload(workload)?.selector.as_ref()
    }

    /// The scheduled pods that mention a claim (§9.5).
    pub(super) fn pods_with_claim(&self, claim: ObjectId) -> &[ObjectId] {
        self.context.users_of_claim(claim)
    }

    /// The claim that a volume is bound to.
    pub(super) fn bound_claim(&self, volume: ObjectId) -> Option<ObjectId> {
        let facts = self.snapshot.facts.volume(volume)?;
        let claim = self.snapshot.claim_of(volume).object()?;
        let is_its = facts.names_uid(self.snapshot.text(self.object(claim).uid));
        (is_its && facts.phase.as_deref() == Some("Bound")).then_some(claim)
    }

    /// The resource of a kind, in its picked version.
    pub(super) fn resource(&self, group: &str, kind: &str) -> Option<ResourceId> {
        self.snapshot.resources.by_group_kind(group, kind)
    }

    /// The object of this name, if it is known to exist or not to.
    pub(super) fn look_up(&self, group: &str, kind: &str, namespace: &str, name: &str) -> Presence {
        let resource = self.resource(group, kind);
        resource.map_or(Presence::Unknown, |resource| self.snapshot.look_up_named(resource, namespace, name))
    }

    /// Whether all objects of a kind are known.
    pub(super) fn is_listed(&self, group: &str, kind: &str) -> bool {
        self.resource(group, kind).is_some_and(|resource| self.snapshot.covers(resource, None))
    }

    /// Objects without the facts that decide: of these, nothing is said.
    pub(super) fn gaps(&self) -> Vec<Gap> {
        const KINDS: [(&str, &str); 10] = [
            ("", "PersistentVolume"),
            ("", "Pod"),
            ("apps", "ControllerRevision"),
            ("apps", "DaemonSet"),
            ("apps", "Deployment"),
            ("apps", "ReplicaSet"),
            ("apps", "StatefulSet"),
            ("batch", "CronJob"),
            ("batch", "Job"),
            ("certificates.k8s.io", "CertificateSigningRequest"),
        ];
        let mut gaps = Vec::new();
        for (group, kind) in KINDS {
            let bare = self.of(group, kind).iter().filter(|id| self.facts(**id).is_none()).count();
            if let (1.., Some(resource)) = (bare, self.resource(group, kind)) {
                let why = format!("only metadata is known of {}", count(bare, "object", "objects"));
                let resource = self.snapshot.resources.get(resource).full_name();
                gaps.push(Gap { resource, namespace: None, reason: why.as_str().into() });
            }
        }
        gaps
    }
}

/// Doubts all reasons for a removal that are certain so far, if the API server refuses its DELETE now: their
/// controllers try again and again.
pub(super) fn doubt(scene: &Scene<'_>, graph: &OwnerGraph, removals: &mut [Removal]) {
    let snapshot = scene.snapshot;
    if removals.is_empty() {
        return;
    }
    let context = SimContext::new(snapshot, graph, Assume::Known).with_refused_writes();
    let mut world = World::at_rest(&context);
    for removal in removals {
        if !world.surely_refuses(removal.object, Operation::Delete) {
            continue;
        }
        let Some(by) = world.refused_by(removal.object) else { continue };
        let why = by.describe(snapshot, removal.object, State::Stuck, &Controllers::default());
        for reason in &mut removal.reasons {
            reason.doubt.get_or_insert_with(|| why.clone());
        }
    }
}

const DAY: i64 = 86_400;

/// Settings of kube-controller-manager, `None` if not given: Kubernetes' default is assumed. And when it was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// `--terminated-pod-gc-threshold`: 0 or less turns it off.
    pub terminated_pod_gc_threshold: Option<i64>,
    /// `--legacy-service-account-token-clean-up-period`, in seconds.
    pub legacy_token_clean_up_period: Option<i64>,
    /// When the objects were read, in Unix seconds, if the forecast is of another time.
    pub read_at: Option<i64>,
}

impl Settings {
    pub(super) fn threshold(&self) -> i64 {
        self.terminated_pod_gc_threshold.unwrap_or(12_500)
    }

    pub(super) fn clean_up_period(&self) -> i64 {
        self.legacy_token_clean_up_period.unwrap_or(365 * DAY)
    }

    /// What is assumed for these removals.
    pub(super) fn assumptions(&self, removals: &[Removal], manager_is_away: bool) -> Vec<Assumption> {
        let cites = |rule: Rule| removals.iter().any(|removal| removal.reasons.iter().any(|one| one.rule == rule));
        let runs = if manager_is_away { "kube-controller-manager will run" } else { "kube-controller-manager runs" };
        let mut all = vec![Assumption { text: format!("{runs}, with its default --controllers"), flag: None }];
        if cites(Rule::R12_14) {
            let text = "the token-cleaner-controller runs, which is off by default (kubeadm turns it on)";
            all.push(Assumption { text: text.to_owned(), flag: None });
        }
        if self.terminated_pod_gc_threshold.is_none() {
            let text = format!("--terminated-pod-gc-threshold={} (the default)", self.threshold());
            all.push(Assumption { text, flag: Some("--terminated-pod-gc-threshold") });
        }
        if self.legacy_token_clean_up_period.is_none() {
            let text = "--legacy-service-account-token-clean-up-period=8760h (the default)";
            let flag = Some("--legacy-service-account-token-clean-up-period");
            all.push(Assumption { text: text.to_owned(), flag });
        }
        all
    }
}

/// What was assumed, because it can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Assumption {
    #[serde(rename = "assumption")]
    pub text: String,
    /// The flag of the command that says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flag: Option<&'static str>,
}
