//! Relations between objects that hold for all plans on a snapshot, each computed once.

use std::sync::OnceLock;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    groups::Groups,
    model::{
        ObjectId, ResourceId, Snapshot, Symbol,
        effects::KnownUsers,
        facts::{VolumeFacts, VolumeHandle},
    },
};

use super::built_in::BuiltIn;

/// Claims by namespace, and by their name without its number.
type NumberedClaims = FxHashMap<Symbol, FxHashMap<String, Vec<ObjectId>>>;

/// Lazily computed relations between objects.
#[derive(Debug, Default)]
pub(crate) struct FactIndex {
    volumes_by_claim: OnceLock<FxHashMap<(Symbol, Symbol), ObjectId>>,
    tokens: OnceLock<Groups<(Symbol, Symbol)>>,
    pods_by_node: OnceLock<Groups<Symbol>>,
    numbered: OnceLock<NumberedClaims>,
    all_facts: OnceLock<FxHashMap<ResourceId, bool>>,
    waiting_claims: OnceLock<FxHashSet<Symbol>>,
    volumes_by_handle: OnceLock<VolumesByHandle>,
}

/// The volumes of a CSI driver that are the same data, and those whose facts were not read.
#[derive(Debug, Default)]
pub(crate) struct VolumesByHandle {
    pub(crate) same: Groups<VolumeHandle>,
    pub(crate) unread: Vec<ObjectId>,
}

impl FactIndex {
    /// All PersistentVolumes, by what they are for their CSI driver.
    pub(crate) fn volumes_by_handle(&self, snapshot: &Snapshot, volumes: &[ObjectId]) -> &VolumesByHandle {
        self.volumes_by_handle.get_or_init(|| {
            let mut index = VolumesByHandle::default();
            for volume in volumes {
                match snapshot.facts.volume(*volume) {
                    Some(VolumeFacts { csi: Some(csi), .. }) => {
                        index.same.extend([(csi.handle.clone(), *volume)]);
                    }
                    Some(_) => {}
                    None => index.unread.push(*volume),
                }
            }
            index
        })
    }

    /// The PersistentVolume that is bound to this claim, or else waits for it, if its facts were read. One that is
    /// Released or Failed was bound to an earlier claim of this name.
    pub(crate) fn volume_of(&self, snapshot: &Snapshot, claim: ObjectId) -> Option<ObjectId> {
        let index = self.volumes_by_claim.get_or_init(|| {
            let mut named: Vec<(bool, (Symbol, Symbol), ObjectId)> = Vec::new();
            for (id, _) in snapshot.objects() {
                let Some(facts) = snapshot.facts.volume(id).filter(|facts| !facts.is_released()) else { continue };
                // A name without a symbol belongs to no object of the snapshot.
                let find = |text: &str| snapshot.strings.find(text);
                let claim = facts.claim_name().and_then(|(namespace, name)| Some((find(namespace)?, find(name)?)));
                named.extend(claim.map(|claim| (facts.may_be_bound(), claim, id)));
            }
            // The later one counts.
            named.sort_by_key(|(bound, ..)| *bound);
            named.into_iter().map(|(_, claim, id)| (claim, id)).collect()
        });
        let claim = snapshot.object(claim);
        let volume = index.get(&(claim.namespace, claim.name)).copied()?;
        let facts = snapshot.facts.volume(volume);
        facts.is_some_and(|facts| facts.names_uid(snapshot.text(claim.uid))).then_some(volume)
    }

    /// The Secrets with tokens of a ServiceAccount, as far as they were read.
    pub(crate) fn tokens_of(&self, snapshot: &Snapshot, account: ObjectId) -> Vec<ObjectId> {
        let index = self.tokens.get_or_init(|| {
            let tokens = snapshot.objects().filter_map(|(id, secret)| {
                let account = snapshot.strings.find(&snapshot.facts.token(id)?.account)?;
                Some(((secret.namespace, account), id))
            });
            tokens.collect()
        });
        let account = snapshot.object(account);
        let named = index.of(&(account.namespace, account.name)).iter().copied();
        let uid = snapshot.text(account.uid);
        let is_its = |secret: &ObjectId| {
            let named = snapshot.facts.token(*secret).and_then(|facts| facts.uid.as_deref());
            named.is_none_or(|named| named == uid)
        };
        named.filter(is_its).collect()
    }

    /// The pods bound to the Node of this name whose facts were read.
    pub(crate) fn pods_on(&self, snapshot: &Snapshot, node: Symbol) -> &[ObjectId] {
        let index = self.pods_by_node.get_or_init(|| {
            let pods = snapshot.objects().filter_map(|(id, _)| {
                let node = snapshot.facts.pod(id)?.node.as_deref()?;
                Some((snapshot.strings.find(node)?, id))
            });
            pods.collect()
        });
        index.of(&node)
    }

    /// The claims in a namespace that are named `<beginning>-<number>`, by number.
    pub(crate) fn numbered_claims(&self, snapshot: &Snapshot, namespace: Symbol, beginning: &str) -> &[ObjectId] {
        self.numbered(snapshot).get(&namespace).and_then(|claims| claims.get(beginning)).map_or(&[], Vec::as_slice)
    }

    /// Whether a namespace has any such claim.
    pub(crate) fn has_numbered_claims(&self, snapshot: &Snapshot, namespace: Symbol) -> bool {
        self.numbered(snapshot).contains_key(&namespace)
    }

    fn numbered(&self, snapshot: &Snapshot) -> &NumberedClaims {
        self.numbered.get_or_init(|| {
            let resource = BuiltIn::of(&snapshot.resources).claims;
            let claims = snapshot.objects().filter(|(_, object)| Some(object.resource) == resource);
            let mut claims: Vec<(u32, ObjectId, String)> = claims
                .filter_map(|(id, object)| {
                    let (beginning, number) = snapshot.text(object.name).rsplit_once('-')?;
                    Some((number.parse().ok()?, id, beginning.to_owned()))
                })
                .collect();
            claims.sort_unstable();
            let mut index = NumberedClaims::default();
            for (_, id, beginning) in claims {
                let of_namespace = index.entry(snapshot.object(id).namespace).or_default();
                of_namespace.entry(beginning).or_default().push(id);
            }
            index
        })
    }

    /// Whether the namespace contains a claim that was Terminating when the snapshot was taken: a pod whose facts were
    /// not read may be what it waits for (S14).
    pub(crate) fn has_waiting_claim(&self, snapshot: &Snapshot, claims: ResourceId, namespace: Symbol) -> bool {
        let namespaces = self.waiting_claims.get_or_init(|| {
            let waiting = snapshot.objects().filter(|(_, object)| object.resource == claims && object.terminating());
            waiting.map(|(_, claim)| claim.namespace).collect()
        });
        namespaces.contains(&namespace)
    }

    /// Whether the facts of all objects of a resource were read, in all namespaces.
    pub(crate) fn has_all_facts(&self, snapshot: &Snapshot, resource: ResourceId) -> bool {
        let index = self.all_facts.get_or_init(|| {
            let mut index: FxHashMap<ResourceId, bool> = FxHashMap::default();
            for (id, object) in snapshot.objects() {
                *index.entry(object.resource).or_insert(true) &= snapshot.facts.get(id).is_some();
            }
            index
        });
        snapshot.covers(resource, None) && index.get(&resource).copied().unwrap_or(true)
    }
}

/// Controllers that adopt by selector, by namespace and a label that the selector demands. StatefulSets are not in it:
/// they adopt by name, too.
#[derive(Clone, Debug, Default)]
pub(crate) struct AdopterIndex {
    pub(super) by_label: Groups<(ResourceId, Symbol, Symbol, Symbol)>,
    /// Those that demand no label, or whose selector was not read.
    pub(super) others: Groups<(ResourceId, Symbol)>,
}

/// Who keeps an object as long as they are there (R9.40).
#[derive(Debug, Default)]
pub(crate) struct Keepers {
    pub found: Vec<ObjectId>,
    /// Of these it is not read whether they do.
    pub unread: Vec<ObjectId>,
    /// How they do.
    pub how: Option<&'static KnownUsers>,
}

/// The APIServices that the API server makes for definitions, and the definitions that they serve (R9.21).
#[derive(Debug, Default)]
pub(crate) struct ManagedApis {
    pub(super) of_group: Groups<String>,
    pub(super) behind: Groups<ObjectId>,
}

impl ManagedApis {
    /// The APIServices of a group.
    pub(crate) fn of_group(&self, group: &str) -> &[ObjectId] {
        self.of_group.of(group)
    }

    /// The definitions that serve an APIService's group and version.
    pub(crate) fn behind(&self, service: ObjectId) -> &[ObjectId] {
        self.behind.of(&service)
    }
}
