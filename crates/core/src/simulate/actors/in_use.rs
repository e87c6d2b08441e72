//! Who uses an object that a finalizer keeps until it is unused (§9.5, R9.40), beside the pods of a claim and the claim
//! of a volume.

use std::net::IpAddr;

use crate::{
    model::{
        ObjectId, ResourceId, Symbol,
        effects::{KnownUsers, Naming, hook, known_users, used},
    },
    simulate::{context::SimContext, index::Keepers, world::World},
};

/// Who uses an object, as far as that was read.
#[derive(Debug, Default)]
pub(crate) struct Users {
    pub found: Vec<ObjectId>,
    /// Whether nobody else does.
    pub all: bool,
    /// Whether others than pods do, of which Kubernetes doesn't know until when.
    pub others: bool,
}

impl SimContext<'_> {
    /// The objects that keep a finalizer in its place as long as they are there (R9.40).
    pub(crate) fn users_that_keep(&self, object: ObjectId, finalizer: Symbol) -> Keepers {
        let snapshot = self.snapshot;
        let kept = snapshot.object(object);
        let resource = snapshot.resources.get(kept.resource);
        let mut keepers = Keepers::default();
        for users in known_users(snapshot.text(finalizer), &resource.kind) {
            keepers.how.get_or_insert(users);
            let policy = snapshot.facts.policy(object).filter(|_| !users.unless.is_empty());
            if !policy.is_some_and(|policy| policy.is(users.unless, "true")) {
                self.add_keepers(object, users, &mut keepers);
            }
        }
        keepers.unread.dedup();
        keepers
    }

    /// Those of one row of the table.
    fn add_keepers(&self, object: ObjectId, users: &KnownUsers, keepers: &mut Keepers) {
        let snapshot = self.snapshot;
        let kept = snapshot.object(object);
        let resource = snapshot.resources.get(kept.resource);
        let kinds = users.kinds.iter().filter_map(|(group, kind)| {
            let group = if *group == "*" { &resource.group } else { *group };
            snapshot.resources.by_group_kind(group, kind)
        });
        let uses = |user, name: &str| snapshot.facts.uses(user).map(|uses| uses.iter().any(|used| used == name));
        for user in kinds.flat_map(|kind| self.of_resource(kind).iter().copied()) {
            let is_near = kept.namespace.is_empty()
                || matches!(users.naming, Naming::Operation | Naming::Fields(..))
                || snapshot.object(user).namespace == kept.namespace;
            let (namespace, name) = (snapshot.text(kept.namespace), snapshot.text(kept.name));
            let names_it = match users.naming {
                Naming::Namespace => Some(true),
                Naming::Label(key) => Some(snapshot.label(user, key) == Some(name)),
                Naming::LabelOfKept(key) => Some(snapshot.label(object, key) == Some(snapshot.name(user))),
                Naming::Field(_) | Naming::FieldOr(..) | Naming::Fact => uses(user, name),
                Naming::Fields(_, "") => uses(user, &used(&resource.kind, namespace, "")),
                Naming::Fields(..) => uses(user, &used(&resource.kind, namespace, name)),
                Naming::Operation => uses(user, &hook(&resource.kind, namespace, name)),
                Naming::OfKept => {
                    let other = snapshot.object(user);
                    uses(object, &format!("{}/{}", snapshot.text(other.namespace), snapshot.text(other.name)))
                }
            };
            match names_it.filter(|_| is_near) {
                Some(true) => keepers.found.push(user),
                None if is_near => keepers.unread.push(if users.naming == Naming::OfKept { object } else { user }),
                _ => {}
            }
        }
    }

    /// Whether an object is a claim or a volume.
    pub(crate) fn is_stored(&self, object: ObjectId) -> bool {
        let resource = Some(self.snapshot.object(object).resource);
        resource == self.built_in.claims || resource == self.built_in.volumes
    }

    /// Whether all pods in the namespace of a claim were read, with what they use.
    pub(crate) fn reads_pods_beside(&self, claim: ObjectId) -> bool {
        let (snapshot, namespace) = (self.snapshot, self.snapshot.object(claim).namespace);
        let Some(pods) = self.built_in.pods else { return true };
        let unread = self.unread_pods(namespace);
        self.lacks(|needs| needs.facts.extend(unread));
        unread.is_empty() && snapshot.covers(pods, Some(namespace))
    }

    /// The volume that is bound to a claim, as far as that was read.
    pub(super) fn volume_behind(&self, claim: ObjectId) -> Option<ObjectId> {
        let snapshot = self.snapshot;
        self.fact_index.volume_of(snapshot, claim).or_else(|| {
            let name = self.fact(claim, snapshot.facts.claim(claim))?.volume.as_deref()?;
            let volume = snapshot.look_up_named(self.built_in.volumes?, "", name).object()?;
            self.fact(volume, snapshot.facts.volume(volume));
            None
        })
    }

    /// A user as people know it: a volume by its claim, as long as that is there.
    pub(crate) fn known_as(&self, user: ObjectId, exists: impl Fn(ObjectId) -> bool) -> ObjectId {
        let snapshot = self.snapshot;
        let claim_of = || {
            let facts = snapshot.facts.volume(user)?;
            let claim = snapshot.claim_of(user).object()?;
            (facts.names_uid(snapshot.text(snapshot.object(claim).uid)) && exists(claim)).then_some(claim)
        };
        claim_of().unwrap_or(user)
    }

    /// What is Terminating and keeps a finalizer as long as others use it, with those who do (R9.40).
    pub(crate) fn kept_by_users(&self) -> &[(ObjectId, Keepers)] {
        self.kept_by_users.get_or_init(|| {
            let terminating = self.snapshot.objects().filter(|(_, object)| object.terminating());
            let keepers = terminating.flat_map(|(id, object)| {
                object.finalizers.iter().map(move |finalizer| (id, self.users_that_keep(id, *finalizer)))
            });
            keepers.filter(|(_, keepers)| !keepers.found.is_empty() || !keepers.unread.is_empty()).collect()
        })
    }

    /// What is Terminating, and was kept by users of which none keeps it any more, as far as is read who uses it.
    pub(crate) fn no_longer_used(&self, keeps: impl Fn(&Keepers, ObjectId) -> bool) -> Vec<ObjectId> {
        let kept = self.kept_by_users().iter();
        let is_free =
            |keepers: &Keepers| !keepers.found.iter().chain(&keepers.unread).any(|user| keeps(keepers, *user));
        kept.filter(|(_, keepers)| is_free(keepers)).map(|(object, _)| *object).collect()
    }
}

impl SimContext<'_> {
    /// The objects that the controller manager protects while objects of this resource use them.
    pub(super) fn protected_while_used_by(&self, user: ResourceId) -> Vec<ObjectId> {
        let (built_in, user) = (&self.built_in, Some(user));
        let kind = if user == built_in.pods {
            ("resource.k8s.io", "ResourceClaim")
        } else if user == built_in.claims || user == built_in.volumes {
            ("storage.k8s.io", "VolumeAttributesClass")
        } else if user == built_in.addresses {
            ("networking.k8s.io", "ServiceCIDR")
        } else if user == built_in.attachments {
            ("", "PersistentVolume")
        } else {
            return Vec::new();
        };
        let resource = self.snapshot.resources.by_group_kind(kind.0, kind.1);
        self.of_resource(resource).to_vec()
    }
}

impl World<'_, '_> {
    /// Who uses an object of a kind that is protected while anybody does.
    pub(crate) fn users_of(&mut self, object: ObjectId) -> Users {
        let resource = self.context.snapshot.resource(object);
        match (resource.group.as_str(), resource.kind.as_str()) {
            ("storage.k8s.io", "VolumeAttributesClass") => self.users_of_class(object),
            ("resource.k8s.io", "ResourceClaim") => self.users_of_resource_claim(object),
            ("networking.k8s.io", "ServiceCIDR") => self.users_of_range(object),
            _ => Users::default(),
        }
    }

    /// Whether one of the users that keep an object still does (R9.40).
    pub(crate) fn keeps(&self, keepers: &Keepers, user: ObjectId) -> bool {
        let only_living = keepers.how.is_some_and(|how| how.only_living);
        self.stored(user).is_some_and(|stored| !(stored.terminating && only_living))
    }

    /// The VolumeAttachments of a volume that are Terminating and can't be detached: as long as they exist, its
    /// provisioner doesn't delete it. All others go by themselves, once no pod uses the volume.
    pub(crate) fn failing_attachments(&mut self, volume: ObjectId) -> Vec<ObjectId> {
        let (context, snapshot) = (self.context, self.context.snapshot);
        let Some(attachments) = context.built_in.attachments else { return Vec::new() };
        let (name, mut found) = (snapshot.name(volume), Vec::new());
        for attachment in context.of_resource(attachments).iter().copied() {
            if !snapshot.object(attachment).terminating() || !self.exists(attachment) {
                continue;
            }
            match context.evidence(attachment, snapshot.facts.uses(attachment)) {
                Some(uses) if snapshot.facts.why_not_deleted(attachment).is_some() => {
                    found.extend(uses.iter().any(|used| used == name).then_some(attachment));
                }
                Some(_) | None => {}
            }
        }
        found
    }

    /// The objects of a resource that exist, without those of which `is_user` doesn't know whether they use something.
    fn users_among(&mut self, resource: Option<ResourceId>, is_user: impl Fn(ObjectId) -> Option<bool>) -> Users {
        let context = self.context;
        let Some(resource) = resource else { return Users::default() };
        let mut users = Users { all: context.snapshot.covers(resource, None), ..Users::default() };
        for object in context.of_resource(resource).iter().copied() {
            if self.exists(object) {
                let is_it = self.fact(object, is_user(object));
                users.found.extend(is_it.unwrap_or(false).then_some(object));
                users.all &= is_it.is_some();
            }
        }
        users
    }

    /// Claims that want a VolumeAttributesClass, and volumes that have it (vac_protection_controller.go).
    fn users_of_class(&mut self, class: ObjectId) -> Users {
        let (snapshot, built_in) = (self.context.snapshot, self.context.built_in);
        let name = snapshot.name(class);
        let of_claim = |claim| {
            let facts = snapshot.facts.claim(claim)?;
            let is_it = |class: &String| class == name;
            Some(facts.attributes_class.iter().chain(&facts.modified_between).any(is_it))
        };
        let of_volume = |volume| Some(snapshot.facts.volume(volume)?.attributes_class.as_deref() == Some(name));
        let mut users = self.users_among(built_in.claims, of_claim);
        let volumes = self.users_among(built_in.volumes, of_volume);
        users.found.extend(volumes.found);
        Users { all: users.all && volumes.all, ..users }
    }

    /// The pods for which a ResourceClaim is reserved and that have not ended.
    fn users_of_resource_claim(&mut self, claim: ObjectId) -> Users {
        let context = self.context;
        let Some(facts) = self.fact(claim, context.snapshot.facts.resource_claim(claim)) else {
            return Users::default();
        };
        let namespace = context.snapshot.object(claim).namespace;
        let mut users = Users { found: Vec::new(), all: true, others: facts.others };
        for name in &facts.pods {
            let name = context.snapshot.strings.find(name);
            match name.and_then(|name| self.find(context.built_in.pods, namespace, name)) {
                Some(pod) => users.found.extend(pod.filter(|pod| !context.snapshot.facts.has_finished(*pod))),
                None => users.all = false,
            }
        }
        users
    }

    /// The IPAddresses that no other ServiceCIDR offers (servicecidrs_controller.go: canDeleteCIDR).
    fn users_of_range(&mut self, range: ObjectId) -> Users {
        let context = self.context;
        let snapshot = context.snapshot;
        let Some(own) = self.fact(range, snapshot.facts.service_cidr(range)) else { return Users::default() };
        let is_living = |other: &ObjectId| self.stored(*other).is_some_and(|stored| !stored.terminating);
        let all = context.of_resource(snapshot.object(range).resource).iter().copied();
        let others: Vec<ObjectId> = all.filter(|other| *other != range).collect();
        let living: Vec<ObjectId> = others.iter().copied().filter(is_living).collect();
        let unread: Vec<ObjectId> =
            others.iter().copied().filter(|other| snapshot.facts.service_cidr(*other).is_none()).collect();
        if !unread.is_empty() {
            unread.into_iter().for_each(|other| _ = self.fact(other, None::<()>));
            return Users::default();
        }
        let needs = |others: &[ObjectId], address: ObjectId| {
            let offers = |address: IpAddr| {
                let mut others = others.iter().filter_map(|other| snapshot.facts.service_cidr(*other));
                own.contains(address) && !others.any(|other| other.contains(address))
            };
            Some(snapshot.text(snapshot.object(address).name).parse().is_ok_and(offers))
        };
        let found = self.users_among(context.built_in.addresses, |address| needs(&living, address));
        // Ranges that are deleted together count for each other as long as both are there: it depends on who is first.
        let any = |address| needs(&others, address);
        match found.found.is_empty() || !self.users_among(context.built_in.addresses, any).found.is_empty() {
            true => found,
            false => Users::default(),
        }
    }
}
