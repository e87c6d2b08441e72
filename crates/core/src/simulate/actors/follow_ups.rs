//! What controllers delete because another object is gone, although no owner reference says so (§9.7).

use std::sync::Arc;

use crate::{
    model::{
        Coordinate, ObjectId, Presence, Snapshot, Symbol,
        facts::{VolumeDeleter, VolumeFacts},
    },
    server::DeleteOptions,
    simulate::{
        built_in::{MANAGER_OF_SLICES, MIRRORS_ENDPOINTS},
        cause::Cause,
        context::{Assume, SimContext},
        controllers::{FinalizerController, unseen_provisioner},
        state::Liveness,
        world::World,
    },
};

use super::Assumption;

/// The provisioner of a volume that a Node can't be rid of.
fn keeps_attached(snapshot: &Snapshot, attachment: ObjectId) -> Arc<FinalizerController> {
    let (name, why) = (snapshot.short_name(attachment), snapshot.facts.why_not_deleted(attachment));
    let why = why.map(|why| format!(": {}", why.words)).unwrap_or_default();
    let liveness = Liveness::Unknown(format!("it waits for {name}, which can't be detached{why}"));
    Arc::new(FinalizerController::of(Some("the volume's provisioner"), liveness))
}

/// Who deletes a volume whose Node is gone: maybe nobody.
fn without_node(node: &str) -> Arc<FinalizerController> {
    let liveness = Liveness::Unknown(format!("{node}, which its data is on, is gone"));
    Arc::new(FinalizerController::of(Some("the volume's provisioner"), liveness))
}

impl SimContext<'_> {
    /// Whether a volume demands a Node, by its name or one of its labels.
    pub(crate) fn is_on(&self, volume: &VolumeFacts, node: ObjectId) -> bool {
        self.is_called(node, &self.demanded_by(volume))
    }

    fn demanded_by(&self, volume: &VolumeFacts) -> Vec<Symbol> {
        volume.nodes.iter().filter_map(|name| self.snapshot.strings.find(name)).collect()
    }

    fn is_called(&self, node: ObjectId, names: &[Symbol]) -> bool {
        let node = self.snapshot.object(node);
        names.contains(&node.name) || node.labels.iter().any(|(_, value)| names.contains(value))
    }

    /// Whether nobody deletes a volume whose reclaim policy is Delete, in this version of Kubernetes (R9.35).
    pub(crate) fn nobody_deletes(&self, volume: &VolumeFacts) -> bool {
        match &volume.deleted_by {
            Some(VolumeDeleter::FormerPlugin) => {
                self.snapshot.resources.server().is_some_and(|server| !server.is_before(VolumeDeleter::LOST))
            }
            deleter => *deleter == Some(VolumeDeleter::Nobody),
        }
    }

    /// The Node without which a provisioner can't clean a volume that is on that alone, if it is gone: the volume may
    /// stay Released (R9.35).
    pub(crate) fn lost_node(&self, volume: ObjectId) -> Option<String> {
        let snapshot = self.snapshot;
        let all = self.of_resource(self.built_in.nodes.filter(|nodes| snapshot.covers(*nodes, None))?);
        let facts = snapshot.facts.volume(volume)?;
        let Some(VolumeDeleter::Provisioner(provisioner)) = &facts.deleted_by else { return None };
        let of_static = provisioner.strip_prefix("local-volume-provisioner-");
        if of_static.is_none() && facts.nodes.is_empty() {
            return None;
        }
        let demanded = self.demanded_by(facts);
        let is_its = |node: &ObjectId| {
            let (name, uid) = (snapshot.name(*node), snapshot.text(snapshot.object(*node).uid));
            match of_static {
                Some(made_on) => made_on == name || made_on == format!("{name}-{uid}"),
                None => self.is_called(*node, &demanded),
            }
        };
        let is_gone = !all.is_empty() && !all.iter().any(is_its);
        let name = || facts.nodes.first().map_or_else(|| "its Node".to_owned(), |name| format!("Node/{name}"));
        is_gone.then(name)
    }
}

impl World<'_, '_> {
    /// Schedules what is deleted because this object is gone.
    pub(super) fn follow_up(&mut self, gone: ObjectId) {
        let built_in = self.context.built_in;
        let resource = Some(self.context.snapshot.object(gone).resource);
        if resource == built_in.services {
            self.release_addresses(gone);
        } else if resource == built_in.definitions {
            self.schedule_api_services_of(gone);
        }
        if self.context.assume == Assume::None {
            return;
        }
        self.schedule_inventory_of(gone);
        if self.manager_away() {
            return;
        }
        if resource == built_in.nodes {
            self.schedule_pods_of(gone);
        } else if resource == built_in.services {
            self.schedule_endpoints_of(gone);
        } else if resource == built_in.endpoints {
            self.schedule_mirrors_of(gone);
        } else if resource == built_in.claims {
            self.schedule_volume_of(gone);
        } else if resource == built_in.pods {
            self.schedule_attachments_of(gone);
        } else if resource == built_in.accounts {
            for secret in self.context.fact_index.tokens_of(self.context.snapshot, gone) {
                self.actors.due.push_back((secret, Cause::AccountGone(gone)));
            }
        }
    }

    /// The volume that was bound to a claim goes with it.
    fn schedule_volume_of(&mut self, claim: ObjectId) {
        let bound = self.context.fact_index.volume_of(self.context.snapshot, claim);
        if let Some(volume) =
            bound.filter(|volume| self.context.snapshot.facts.volume(*volume).is_some_and(VolumeFacts::may_be_bound))
        {
            self.schedule_volume(volume, Some(claim));
        }
    }

    /// Whether the controller of a pod that is gone is there to make another, which may be put on the same Node.
    fn may_come_back_on(&self, pod: ObjectId, node: &str) -> bool {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let stays = |id: ObjectId| self.stored(id).is_some_and(|stored| !stored.terminating);
        snapshot.controller_of(pod).is_some_and(stays)
            && context.namespace_named(snapshot.object(pod).namespace).is_none_or(stays)
            && match context.built_in.nodes.map(|nodes| snapshot.look_up_named(nodes, "", node)) {
                Some(Presence::Present(node)) => self.exists(node),
                Some(Presence::Absent) => false,
                Some(Presence::Unknown) | None => true,
            }
    }

    /// The attach-detach controller detaches what a pod used from its Node once no other pod there does. A pod that
    /// comes back may come back there, before that.
    fn schedule_attachments_of(&mut self, pod: ObjectId) {
        let context = self.context;
        let (snapshot, attachments) = (context.snapshot, context.built_in.attachments);
        if context.of_resource(attachments).is_empty() {
            return;
        }
        let Some(facts) = context.fact(pod, snapshot.facts.pod(pod)).filter(|facts| !facts.finished()) else { return };
        let Some(node) = facts.node.as_deref().filter(|node| !self.may_come_back_on(pod, node)) else { return };
        for claim in context.claims_of_pod(pod) {
            let csi = context.volume_behind(claim).and_then(|volume| snapshot.facts.volume(volume)?.csi.as_deref());
            let name = csi.map(|csi| csi.handle.attachment_to(node));
            let found = attachments.zip(name).and_then(|(all, name)| snapshot.look_up_named(all, "", &name).object());
            let Some(attachment) = found else { continue };
            let uses = |other: &ObjectId| {
                let facts = snapshot.facts.pod(*other);
                facts.is_some_and(|facts| facts.node.as_deref() == Some(node) && !facts.finished())
                    && self.exists(*other)
            };
            if context.reads_pods_beside(claim) && !context.users_of_claim(claim).iter().any(uses) {
                self.actors.due.push_back((attachment, Cause::Detached(pod)));
            }
        }
    }

    /// A volume that names the uid of another claim than the one that is there has lost its own: both were restored.
    pub(crate) fn schedule_if_claim_is_gone(&mut self, volume: ObjectId) {
        let facts = self.context.snapshot.facts.volume(volume);
        let Some(facts) = facts.filter(|facts| facts.claim_uid.is_some() && !self.manager_away()) else { return };
        match self.claim_named_by(facts) {
            Some(Some(_)) => {}
            Some(None) => self.schedule_volume(volume, None),
            None => _ = self.doubtful.insert(volume),
        }
    }

    /// A volume whose claim is gone is deleted if its reclaim policy is Delete and if somebody can.
    fn schedule_volume(&mut self, volume: ObjectId, claim: Option<ObjectId>) {
        let deleted = |facts: &&VolumeFacts| facts.goes_with_its_claim();
        let Some(facts) = self.context.snapshot.facts.volume(volume).filter(deleted) else { return };
        let by = match &facts.deleted_by {
            _ if self.context.nobody_deletes(facts) => return,
            Some(VolumeDeleter::Kubernetes) => None,
            Some(VolumeDeleter::Provisioner(name)) => Some(Some(name.to_string())),
            _ => Some(None),
        };
        if let Some(by) = by {
            self.assumptions.insert(Assumption::Reclaimed { by });
            self.rests_on_others.insert(volume);
            let provisioner = match self.failing_attachments(volume).first() {
                Some(attachment) => Some(keeps_attached(self.context.snapshot, *attachment)),
                None => match self.context.lost_node(volume) {
                    Some(node) => Some(without_node(&node)),
                    None => unseen_provisioner(self.context, volume),
                },
            };
            if let Some(provisioner) = provisioner {
                self.unseen_provisioners.insert(volume, provisioner);
            }
        }
        self.actors.due.push_back((volume, Cause::ClaimGone(claim)));
    }

    /// The API server deletes the IPAddresses of a Service with it.
    fn release_addresses(&mut self, service: ObjectId) {
        let context = self.context;
        let snapshot = context.snapshot;
        let (Some(facts), Some(resource)) = (snapshot.facts.service(service), context.built_in.addresses) else {
            return;
        };
        for name in facts.cluster_ips.iter().filter_map(|address| snapshot.strings.find(address)) {
            let coordinate = Coordinate { resource, namespace: Symbol::EMPTY, name };
            if let Presence::Present(address) = snapshot.look_up(coordinate) {
                self.actors.due.push_back((address, Cause::AddressReleased(service)));
            }
        }
    }

    /// The API server deletes the APIServices that it made for a definition, unless another definition serves the same
    /// group and version.
    fn schedule_api_services_of(&mut self, definition: ObjectId) {
        let context = self.context;
        let Some(facts) = context.snapshot.facts.definition(definition) else { return };
        for service in context.managed_apis().of_group(&facts.group) {
            let behind = context.managed_apis().behind(*service);
            // Definitions that are gone stay so: each is looked at once.
            let mut gone = self.actors.gone_behind.get(service).copied().unwrap_or(0);
            gone += behind[gone..].iter().take_while(|other| !self.exists(**other)).count();
            self.actors.gone_behind.insert(*service, gone);
            if gone == behind.len() {
                self.actors.due.push_back((*service, Cause::DefinitionGone(definition)));
            }
        }
    }

    /// The endpoints controller deletes the Endpoints of the same name, whoever made them.
    fn schedule_endpoints_of(&mut self, service: ObjectId) {
        let context = self.context;
        let found = context.snapshot.object(service);
        let Some(resource) = context.built_in.endpoints else { return };
        let coordinate = Coordinate { resource, namespace: found.namespace, name: found.name };
        if let Presence::Present(endpoints) = context.snapshot.look_up(coordinate) {
            self.actors.due.push_back((endpoints, Cause::ServiceGone(service)));
        }
    }

    /// The mirroring controller deletes the EndpointSlices that it made of Endpoints, also those that were orphaned.
    fn schedule_mirrors_of(&mut self, endpoints: ObjectId) {
        let context = self.context;
        let snapshot = context.snapshot;
        let is_mirror = |slice: &ObjectId| {
            Some(snapshot.object(*slice).resource) == context.built_in.slices
                && snapshot.label(*slice, MANAGER_OF_SLICES) == Some(MIRRORS_ENDPOINTS)
        };
        for slice in context.graph.dependents(endpoints.into()).iter().copied().filter(is_mirror) {
            self.actors.due.push_back((slice, Cause::EndpointsGone(endpoints)));
        }
    }

    /// Sends the scheduled DELETEs, without a policy. Returns whether anything was written.
    pub(super) fn delete_due(&mut self) -> bool {
        let before = self.log.len();
        while let Some((object, cause)) = self.actors.due.pop_front() {
            self.delete(object, &DeleteOptions::default(), cause);
        }
        self.log.len() > before
    }
}
