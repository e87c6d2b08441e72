//! What becomes of claims and volumes, and of the claims of deleted StatefulSets.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::{
    model::{
        Coordinate, ObjectId, Presence, ResourceId, Symbol,
        effects::EffectKind,
        facts::{VolumeDeleter, VolumeFacts},
    },
    plan::outcome::{ClaimsOfSet, Outcome, Plan},
    server::Propagation,
    simulate::{SimContext, State, controllers::provisioner_of, recreators::Survival},
    wording::{count, some_of},
};

use super::{SideEffects, effects::is_foreign};

/// At most so many volumes are named that lose their data with another.
const NAMED: usize = 3;

const DELETE: &str = "Delete";
pub(super) const RETAIN: &str = "Retain";
/// Finalizers whose controllers delete the data with the volume (KEP-2644, honouring the reclaim policy).
const DELETES_DATA: &[&str] = &["external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-controller"];

/// What is said of a volume that nobody deletes the data of.
const LEFT_BEHIND: &str = "is being deleted already, and has no finalizer for deleting the data, which is left behind";

/// What is said of a volume whose files its driver keeps by default.
const UNLINKED: &str = "its driver deletes the access point, and keeps the files (it runs without \
                        --delete-access-point-root-dir)";

/// What is said of a volume whose data its provisioner keeps.
const ARCHIVED: &str = "its provisioner keeps the data, and may rename the folder to archived-… (onDelete or \
                        archiveOnDelete of its StorageClass)";

/// The object that a field refers to.
enum Referenced {
    /// This object.
    Object(ObjectId),
    /// No object: the field is empty, or the object is absent.
    Nothing,
    /// Not read.
    Unknown,
}

impl<'a> SideEffects<'_, 'a> {
    /// The volume of a deleted claim is reclaimed.
    pub(super) fn claim(&mut self, claim: ObjectId) {
        let lost = EffectKind::DataLost;
        let volume = match self.volume_of(claim) {
            Referenced::Object(volume) => volume,
            Referenced::Nothing => return,
            Referenced::Unknown => {
                let named = self.context.snapshot.facts.claim(claim).and_then(|facts| facts.volume.as_deref());
                let named = named.map(|name| format!(" PersistentVolume/{name}")).unwrap_or_default();
                let unread = format!("its volume{named} could not be read: it may lose its data");
                self.add_unread(claim, lost, unread, None);
                return;
            }
        };
        let facts = self.context.snapshot.facts.volume(volume);
        match facts.and_then(|facts| facts.reclaim_policy.as_deref()) {
            Some(VolumeFacts::DELETE) if facts.is_some_and(|facts| self.context.nobody_deletes(facts)) => {
                self.add_about(
                    claim,
                    EffectKind::DataKept,
                    "its volume becomes Failed and keeps its data (reclaim policy Delete, but nothing is known that \
                     deletes such a volume)",
                    volume,
                );
            }
            Some(VolumeFacts::DELETE) if let Some(node) = self.context.lost_node(volume) => {
                let message = format!("its volume may stay Released: {node}, which its data is on, is gone");
                self.add_about(claim, EffectKind::DataUnreachable, message, volume);
            }
            Some(VolumeFacts::DELETE) if let Some(kept) = self.kept(volume) => {
                self.add_about(claim, EffectKind::DataKept, kept, volume);
            }
            Some(VolumeFacts::DELETE) if self.is_left_behind(volume) => {
                self.add_about(claim, EffectKind::Unknown, format!("its volume {LEFT_BEHIND}"), volume);
            }
            Some(VolumeFacts::DELETE) => {
                let twins = self.twins(volume);
                let lost = format!("its volume is deleted with all data on it (reclaim policy Delete){twins}");
                self.add_about(claim, EffectKind::DataLost, lost, volume);
            }
            Some(RETAIN) => {
                self.add_about(
                    claim,
                    EffectKind::DataKept,
                    "its volume becomes Released and keeps its data (reclaim policy Retain)",
                    volume,
                );
            }
            Some("Recycle") => {
                self.add_about(
                    claim,
                    EffectKind::DataLost,
                    "its volume is wiped for the next claim (reclaim policy Recycle)",
                    volume,
                );
            }
            _ => self.add_unread(claim, lost, "its volume's reclaim policy could not be read", Some(volume)),
        }
    }

    /// Why the data of a deleted volume is kept all the same, if it is.
    fn kept(&mut self, volume: ObjectId) -> Option<&'static str> {
        if self.context.snapshot.facts.volume(volume).is_some_and(VolumeFacts::is_kept_by_default) {
            return self.keeps_files(volume).then_some(UNLINKED);
        }
        self.is_archived(volume).then_some(ARCHIVED)
    }

    /// Whether the workloads of a volume's driver are seen to run without the flag that deletes the files.
    fn keeps_files(&mut self, volume: ObjectId) -> bool {
        let provisioner = provisioner_of(self.context, volume);
        let facts = &self.context.snapshot.facts;
        let keeps = |id: &ObjectId| facts.workload(*id).is_some_and(|facts| !facts.deletes_files);
        provisioner.is_some_and(|it| !it.running.is_empty() && it.running.iter().all(keeps))
    }

    /// Whether the StorageClass of a volume, or its volumeHandle, says that its provisioner keeps the data.
    fn is_archived(&mut self, volume: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        if snapshot.facts.volume(volume).is_some_and(VolumeFacts::is_kept_by_driver) {
            return true;
        }
        let class = snapshot.facts.volume(volume).and_then(VolumeFacts::keeping_class);
        let Some((class, classes)) = class.zip(snapshot.resources.by_group_kind("storage.k8s.io", "StorageClass"))
        else {
            return false;
        };
        let Referenced::Object(class) = self.referenced(classes, class) else { return false };
        self.context.fact(class, snapshot.facts.storage_class(class)).is_some_and(|facts| facts.keeps_data)
    }

    /// The other volumes that are the same data of a CSI driver, and lose it with this one: what follows a sentence.
    /// Those that go, too, say it themselves.
    fn twins(&mut self, volume: ObjectId) -> String {
        let context = self.context;
        let snapshot = context.snapshot;
        let handle = snapshot.facts.volume(volume).and_then(|facts| Some(&facts.csi.as_ref()?.handle));
        let (Some(handle), Some(volumes)) = (handle, context.built_in.volumes) else { return String::new() };
        let index = context.fact_index.volumes_by_handle(snapshot, context.of_resource(volumes));
        // Whoever asks first asks for all.
        context.lacks(|needs| {
            if index.unread.first().is_some_and(|first| !needs.facts.contains(first)) {
                needs.facts.extend(&index.unread);
            }
        });
        let lasts = |other: &&ObjectId| **other != volume && self.survival(**other) != Survival::Removed;
        let others = index.same.of(handle).iter().filter(lasts);
        let twins: Vec<String> = others.map(|other| snapshot.short_name(*other)).collect();
        match twins.len() {
            0 => String::new(),
            1 => format!("; {} is the same data (volumeHandle), and loses it, too", twins[0]),
            _ => format!("; {} are the same data (volumeHandle), and lose it, too", some_of(&twins, NAMED)),
        }
    }

    /// The volume bound to a claim. The volume's claimRef decides; the claim's volumeName only says which volume to
    /// check.
    fn volume_of(&mut self, claim: ObjectId) -> Referenced {
        let context = self.context;
        if let Some(volume) = context.fact_index.volume_of(context.snapshot, claim) {
            return Referenced::Object(volume);
        }
        let Some(volumes) = context.built_in.volumes else { return Referenced::Unknown };
        let Some(facts) = context.snapshot.facts.claim(claim) else {
            if context.fact_index.has_all_facts(context.snapshot, volumes) {
                return Referenced::Nothing;
            }
            self.context.lacks(|needs| needs.facts.insert(claim));
            return Referenced::Unknown;
        };
        let is_whole = context.built_in.claims.is_some_and(|claims| context.snapshot.covers(claims, None));
        let referenced = facts.volume.as_deref().map_or(Referenced::Nothing, |name| self.referenced(volumes, name));
        match referenced {
            Referenced::Object(volume) if context.fact(volume, context.snapshot.facts.volume(volume)).is_none() => {
                Referenced::Unknown
            }
            // The volume is bound to another claim, or to none.
            Referenced::Object(_) => Referenced::Nothing,
            // The claim is bound, so a dump without its volume leaves that out, unless it is said to be whole.
            Referenced::Nothing if facts.volume.is_some() && !is_whole => Referenced::Unknown,
            other => other,
        }
    }

    fn referenced(&mut self, resource: ResourceId, name: &str) -> Referenced {
        let Some(name) = self.context.snapshot.strings.find(name) else { return Referenced::Unknown };
        let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name };
        match self.context.snapshot.look_up(coordinate) {
            Presence::Present(object) => Referenced::Object(object),
            Presence::Absent => Referenced::Nothing,
            Presence::Unknown => {
                self.context.lacks(|needs| needs.look_ups.insert(coordinate));
                Referenced::Unknown
            }
        }
    }

    /// A volume that is deleted because its claim is gone.
    pub(super) fn reclaimed(&mut self, volume: ObjectId) {
        if self.context.lost_node(volume).is_some() {
            return self.add(volume, EffectKind::DataUnreachable, "its data is on a Node that is gone");
        }
        match self.kept(volume) {
            Some(kept) => self.add(volume, EffectKind::DataKept, kept),
            None => {
                let twins = self.twins(volume);
                let lost = format!("it is deleted with all its data (reclaim policy Delete){twins}");
                self.add(volume, EffectKind::DataLost, lost);
            }
        }
    }

    /// A deleted volume: its data is deleted if a finalizer's controller does that.
    pub(super) fn volume(&mut self, volume: ObjectId) {
        let snapshot = self.context.snapshot;
        let Some(facts) = self.context.fact(volume, snapshot.facts.volume(volume)) else {
            let unread = "its reclaim policy could not be read: it may lose its data";
            self.add_unread(volume, EffectKind::DataLost, unread, None);
            return;
        };
        let deletes_data = self.deletes_data(volume);
        let bound = facts.phase.as_deref() == Some("Bound");
        match facts.reclaim_policy.as_deref() {
            // Only the data of what was bound, and has lost its claim, is deleted (R9.35).
            Some(VolumeFacts::DELETE) if facts.is_unclaimed() => {
                let kept = "no claim has it: only the object goes, and its data stays in the storage system";
                self.add(volume, EffectKind::DataKept, kept);
            }
            Some(VolumeFacts::DELETE) if let Some(kept) = self.kept(volume) => {
                self.add(volume, EffectKind::DataKept, kept);
            }
            Some(VolumeFacts::DELETE) if deletes_data => {
                let once = if bound { " once its claim is deleted" } else { "" };
                let lost = format!("it loses its data{once} (reclaim policy Delete){}", self.twins(volume));
                self.add(volume, EffectKind::DataLost, lost);
            }
            // What is said of its claim says it, if that goes.
            Some(VolumeFacts::DELETE) if self.is_left_behind(volume) => {
                if !self.goes_with_its_claim(volume) {
                    self.add(volume, EffectKind::Unknown, format!("it {LEFT_BEHIND}"));
                }
            }
            Some(VolumeFacts::DELETE) if self.may_be_deleted_by_kubernetes(volume) => {
                let perhaps = "it may lose its data once its claim is deleted (reclaim policy Delete)";
                self.add_unread(volume, EffectKind::DataLost, perhaps, None);
            }
            Some(VolumeFacts::DELETE) => self.add(
                volume,
                EffectKind::Unknown,
                "its reclaim policy is Delete, but it has no finalizer for deleting the data, which may be left \
                 behind",
            ),
            Some(_) => {
                self.add(volume, EffectKind::DataKept, "its data stays in the storage system (reclaim policy Retain)")
            }
            None => self.add_unread(
                volume,
                EffectKind::DataLost,
                "its reclaim policy could not be read: it may lose its data",
                None,
            ),
        }
    }

    /// Whether a volume has a finalizer whose controller deletes the data.
    fn deletes_data(&self, volume: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let mut finalizers = snapshot.object(volume).finalizers.iter();
        finalizers.any(|finalizer| DELETES_DATA.contains(&snapshot.text(*finalizer)))
    }

    /// Whether the claim that a volume names goes in this plan, too.
    fn goes_with_its_claim(&self, volume: ObjectId) -> bool {
        let claim = self.context.snapshot.claim_of(volume).object();
        claim.is_some_and(|claim| self.survivals.contains_key(&claim))
    }

    /// Whether a volume was deleted before its claim, and nobody deletes the data any more (R9.35).
    fn is_left_behind(&self, volume: ObjectId) -> bool {
        self.context.snapshot.object(volume).terminating()
            && !self.deletes_data(volume)
            && !self.may_be_deleted_by_kubernetes(volume)
    }

    /// Whether the volume controller of Kubernetes deletes the data, or may: it needs no finalizer for that.
    fn may_be_deleted_by_kubernetes(&self, volume: ObjectId) -> bool {
        let facts = self.context.snapshot.facts.volume(volume);
        facts.is_some_and(|facts| match facts.deleted_by {
            None | Some(VolumeDeleter::Kubernetes) => true,
            _ => facts.deleted_by == Some(VolumeDeleter::FormerPlugin) && !self.context.nobody_deletes(facts),
        })
    }

    /// A VolumeSnapshot's content is deleted if its deletionPolicy says so.
    pub(super) fn volume_snapshot(&mut self, object: ObjectId) {
        let snapshot = self.context.snapshot;
        let unread = "its VolumeSnapshotContent could not be read: it may lose its data";
        let lost = EffectKind::DataLost;
        let Some(facts) = self.context.fact(object, snapshot.facts.volume_snapshot(object)) else {
            return self.add_unread(object, lost, unread, None);
        };
        let Some(name) = facts.content.as_deref() else { return };
        let unread = format!("its VolumeSnapshotContent/{name} could not be read: it may lose its data");
        let Some(contents) = self.context.built_in.snapshot_contents else {
            return self.add_unread(object, lost, unread, None);
        };
        let content = match self.referenced(contents, name) {
            Referenced::Object(content) => content,
            Referenced::Nothing => return,
            Referenced::Unknown => return self.add_unread(object, lost, unread, None),
        };
        match self.deletion_policy(content) {
            Some(DELETE) => {
                self.add_about(
                    object,
                    EffectKind::DataLost,
                    "the snapshot loses its data (deletionPolicy Delete)",
                    content,
                );
            }
            Some(RETAIN) => {
                self.add_about(
                    object,
                    EffectKind::DataKept,
                    "the snapshot's data stays (deletionPolicy Retain)",
                    content,
                );
            }
            Some(_) | None => self.add_unread(object, lost, unread, Some(content)),
        }
    }

    /// What a VolumeSnapshotContent says becomes of its data.
    fn deletion_policy(&self, content: ObjectId) -> Option<&'a str> {
        let facts = self.context.fact(content, self.context.snapshot.facts.volume_snapshot_content(content))?;
        facts.deletion_policy.as_deref()
    }

    /// A VolumeSnapshotContent that is deleted itself.
    pub(super) fn snapshot_content(&mut self, content: ObjectId) {
        match self.deletion_policy(content) {
            Some(DELETE) => {
                self.add(content, EffectKind::DataLost, "the snapshot loses its data (deletionPolicy Delete)");
            }
            Some(RETAIN) => {
                self.add(content, EffectKind::DataKept, "the snapshot's data stays (deletionPolicy Retain)")
            }
            Some(_) | None => {
                self.add_unread(
                    content,
                    EffectKind::DataLost,
                    "its deletionPolicy could not be read: it may lose its data",
                    None,
                );
            }
        }
    }
}

/// At most so many claims are named that could not be read.
const NAMED_UNREAD: usize = 4;

impl SideEffects<'_, '_> {
    /// The claims of every StatefulSet that the plan deletes, or may delete. A StatefulSet without claims has no entry.
    pub(super) fn claims_of_sets(&mut self, plan: &Plan) -> Vec<ClaimsOfSet> {
        let claims: Vec<ClaimsOfSet> = self.sets_of(plan).into_iter().map(|set| self.claims_of(set)).collect();
        claims.into_iter().filter(|of| !of.is_empty() || of.deletes.is_none() && self.may_have_claims(of.set)).collect()
    }

    /// The StatefulSets that the plan deletes, or may delete.
    fn sets_of(&self, plan: &Plan) -> Vec<ObjectId> {
        let (Some(sets), Some(_)) = (self.context.built_in.stateful_sets, self.context.built_in.claims) else {
            return Vec::new();
        };
        let is_set = |outcome: &&Outcome| {
            outcome.removed_in_some_order() && self.context.snapshot.object(outcome.object).resource == sets
        };
        plan.outcomes.iter().filter(is_set).map(|outcome| outcome.object).collect()
    }

    /// Says by their names which claims go with StatefulSets, though they could not be read.
    pub(super) fn unread_claims(&mut self, plan: &Plan) {
        for set in self.sets_of(plan) {
            let frees = plan.request.propagation == Propagation::Orphan && plan.request.targets.contains(&set);
            let claims = self.context.snapshot.unread_claims(set);
            if !frees && !claims.is_empty() {
                let goes = count(claims.len(), "claim that was not read goes", "claims that were not read go");
                let named = some_of(&claims, NAMED_UNREAD);
                let message = format!("{goes} with it (whenDeleted Delete), and may lose data: {named}");
                self.add_unread(set, EffectKind::DataLost, message, None);
            }
        }
    }

    /// Whether the namespace of a StatefulSet may contain a claim with an ordinal.
    fn may_have_claims(&self, set: ObjectId) -> bool {
        let SimContext { snapshot, built_in, fact_index, .. } = self.context;
        let namespace = snapshot.object(set).namespace;
        let is_read = built_in.claims.is_some_and(|claims| snapshot.covers(claims, Some(namespace)));
        !is_read || fact_index.has_numbered_claims(snapshot, namespace)
    }

    /// The claims of StatefulSets and pods below an object that only its controller may delete, and whose volumes don't
    /// keep their data.
    pub(super) fn claims_left_below(&mut self, object: ObjectId) -> Vec<ObjectId> {
        let context = self.context;
        let snapshot = context.snapshot;
        let mut seen: FxHashSet<ObjectId> = FxHashSet::from_iter([object]);
        let (mut open, mut claims) = (vec![object], BTreeSet::new());
        while let Some(next) = open.pop() {
            let resource = Some(snapshot.object(next).resource);
            if resource == context.built_in.stateful_sets {
                claims.extend(self.claims_of(next).kept);
            } else if resource == context.built_in.pods {
                self.context.fact(next, snapshot.facts.pod(next));
                claims.extend(context.claims_of_pod(next));
            }
            // What else has a finalizer has effects of its own.
            let is_free =
                |id: &ObjectId| !snapshot.object(*id).finalizers.iter().any(|finalizer| is_foreign(*finalizer));
            let below = context.graph.dependents(next.into()).iter().copied().filter(|below| seen.insert(*below));
            open.extend(below.filter(is_free));
        }
        claims.into_iter().filter(|claim| !seen.contains(claim) && self.may_lose_data(*claim)).collect()
    }

    /// Whether a claim stays, and has a volume that isn't kept without it.
    pub(super) fn may_lose_data(&self, claim: ObjectId) -> bool {
        let SimContext { snapshot, fact_index, .. } = self.context;
        let facts = fact_index.volume_of(snapshot, claim).and_then(|volume| snapshot.facts.volume(volume));
        let kept = facts.is_some_and(|facts| facts.reclaim_policy.as_deref() == Some(RETAIN));
        self.survival(claim) == Survival::Survives && !kept
    }

    fn claims_of(&mut self, set: ObjectId) -> ClaimsOfSet {
        let context = self.context;
        let snapshot = context.snapshot;
        let found = snapshot.object(set);
        let facts = snapshot.facts.workload(set).and_then(|facts| facts.claims.as_ref());
        let facts = self.context.fact(set, facts);
        let name = snapshot.text(found.name);
        let names = facts.into_iter().flat_map(|facts| &facts.names).map(|template| format!("{template}-{name}"));
        let mut claims: Vec<ObjectId> = names
            .flat_map(|name| context.fact_index.numbered_claims(snapshot, found.namespace, &name))
            .copied()
            .collect();
        let dependents = context.graph.dependents(set.into()).iter().copied();
        let owned = dependents.filter(|id| Some(snapshot.object(*id).resource) == context.built_in.claims);
        let mut seen: FxHashSet<ObjectId> = claims.iter().copied().collect();
        claims.extend(owned.filter(|claim| seen.insert(*claim)));
        let (kept, going, deleted, unsure) = Default::default();
        let mut of = ClaimsOfSet { set, deletes: facts.map(|facts| facts.deleted), kept, going, deleted, unsure };
        for claim in claims {
            match self.survival(claim) {
                Survival::Survives if self.goes_anyway(claim, set) => of.going.push(claim),
                Survival::Survives => of.kept.push(claim),
                // Terminating before this delete, which changes nothing about it.
                Survival::Removed if !self.survivals.contains_key(&claim) => of.going.push(claim),
                Survival::Removed => of.deleted.push(claim),
                Survival::MayBeRemoved => of.unsure.push(claim),
            }
        }
        of
    }

    /// Whether a claim that this delete leaves alone goes without it, too.
    fn goes_anyway(&self, claim: ObjectId, set: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let (claim_object, set) = (snapshot.object(claim), snapshot.object(set).uid);
        // Nothing else needs the second end, which is a simulation of everything. While its pods run, a claim that is
        // deleted stays Terminating.
        let may_go = claim_object.terminating() || claim_object.owners.iter().any(|owner| owner.uid != set);
        may_go && self.context.later().leaves(claim)
    }

    /// Claims that are deleted without this delete, too, and that only pods keep which it removes: it makes that final.
    pub(super) fn ended_claims(&mut self, plan: &Plan) -> Vec<ObjectId> {
        let context = self.context;
        let snapshot = context.snapshot;
        let Some(claims) = context.built_in.claims else { return Vec::new() };
        let removed =
            plan.outcomes.iter().filter(|outcome| outcome.removed_in_some_order()).map(|outcome| outcome.object);
        let pods = removed.filter(|id| context.rules(*id).graceful);
        let namespaces: FxHashSet<Symbol> = pods.map(|pod| snapshot.object(pod).namespace).collect();
        let is_there = |claim: &&ObjectId| namespaces.contains(&snapshot.object(**claim).namespace);
        let candidates = context.of_resource(claims).iter().filter(is_there);
        let candidates: Vec<ObjectId> = candidates.copied().filter(|claim| self.may_be_ended(*claim)).collect();
        // Who uses them is in the facts of pods.
        for claim in &candidates {
            let there = context.in_namespace(snapshot.object(*claim).namespace).iter().copied();
            let unread = there.filter(|id| context.rules(*id).graceful && snapshot.facts.pod(*id).is_none());
            self.context.lacks(|needs| needs.facts.extend(unread));
        }
        candidates.into_iter().filter(|claim| self.is_ended(*claim)).collect()
    }

    /// Whether a claim that this delete leaves alone may be one that the collector deletes.
    fn may_be_ended(&self, claim: ObjectId) -> bool {
        let snapshot = self.context.snapshot;
        let object = snapshot.object(claim);
        let is_gone = |uid: Symbol| snapshot.by_uid(uid).is_none_or(|owner| snapshot.object(owner).terminating());
        self.survival(claim) == Survival::Survives && object.owners.iter().any(|owner| is_gone(owner.uid))
    }

    /// Whether only pods that this delete removes keep such a claim, which goes.
    fn is_ended(&self, claim: ObjectId) -> bool {
        let users = self.context.users_of_claim(claim);
        !users.is_empty()
            && users.iter().all(|pod| self.survival(*pod) != Survival::Survives)
            && self.context.later().leaves(claim)
            && !self.is_kept_by_owner(claim)
    }

    /// Whether an owner keeps a claim that stays Terminating until others act who are not known to: then the claim is
    /// not deleted by now, and this delete doesn't change that.
    fn is_kept_by_owner(&self, claim: ObjectId) -> bool {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let finished = &context.later().others.finished;
        let is_open = |id: &ObjectId| finished.iter().any(|it| it.object == *id && it.state != State::Waiting);
        let owners = snapshot.object(claim).owners.iter().filter_map(|owner| snapshot.by_uid(owner.uid));
        let mut open: Vec<ObjectId> = owners.filter(|owner| !self.survivals.contains_key(owner)).collect();
        let mut seen: FxHashSet<ObjectId> = open.iter().copied().collect();
        while let Some(next) = open.pop() {
            if is_open(&next) {
                return true;
            }
            open.extend(context.present().waits_for(next).iter().copied().filter(|below| seen.insert(*below)));
        }
        false
    }
}
