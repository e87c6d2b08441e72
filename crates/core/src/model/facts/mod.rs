//! Facts: the few things beyond metadata that decide what a delete does. They are known for some objects only.

mod admission_policies;
mod limits;
mod read;
mod read_reclaim;
mod reclaim;
mod required;
mod rights;
mod running;
mod said;
mod selector;
mod serving;
mod setters;
mod storage;
#[cfg(test)]
mod tests;
mod values;
mod webhooks;

use std::{borrow::Cow, sync::Arc};

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::{compact::Pool, effects::PolicyFacts, object::ObjectId, strings::Strings};

pub use admission_policies::{AdmissionPolicyFacts, Constraints, ParameterReference, PolicyBindingFacts};
pub use limits::Limits;
pub use read::{
    has_facts, holds_facts, is_read_annotation, keys_with_facts, may_have_facts, read_facts, read_whole, token,
};
pub use read_reclaim::{
    BOOTSTRAP_TOKEN, RECLAIM_KINDS, TRACKING, holds_reclaim_facts, is_read_data, is_reclaim_kind, read_reclaim_facts,
};
pub use reclaim::{
    ClaimUse, Expiration, JobEnd, JobHistory, JobTimes, OldTemplate, PodUse, ReclaimFacts, RequestFacts, RevisionFacts,
    Rollout, SetHistory, Template, VolumeUse,
};
pub use required::Required;
pub use rights::{BindingFacts, RBAC, RoleFacts, WriteRule};
pub use running::{
    AccountFacts, Asked, BudgetFacts, ClaimTemplates, JobFacts, KubeletReport, LeaseFacts, LimitRangeFacts, NodeFacts,
    NotReady, PodFacts, QuotaFacts, ServiceFacts, SliceFacts, TokenFacts, WorkloadFacts,
};
pub(crate) use said::Forbidden;
pub use said::{Said, Source, contains_said, holds_warning, may_say_why, read_said, read_warning};
pub use selector::{LabelRequirement, LabelSelector, SelectorFault};
pub use serving::{
    ApiServiceFacts, Backend, Condition, DefinitionFacts, NamespaceFacts, ResourceClaimFacts, ServiceCidrFacts,
    StoredVersion,
};
pub(crate) use serving::{CONTENT_FAILURE, FINALIZERS_REMAIN, REMAINS};
pub use setters::Setter;
pub use setters::{contains_setters, read_setters};
pub use storage::{
    ClaimFacts, CsiVolume, SnapshotContentFacts, SnapshotFacts, StorageClassFacts, VolumeData, VolumeDeleter,
    VolumeFacts, VolumeHandle,
};
pub use values::unix_seconds;
pub(crate) use webhooks::exempting;
pub use webhooks::{Webhook, WebhookFacts, WebhookRule};

/// The facts of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fact {
    Pod(PodFacts),
    Volume(VolumeFacts),
    Namespace(NamespaceFacts),
    Definition(DefinitionFacts),
    Claim(ClaimFacts),
    Service(ServiceFacts),
    Node(NodeFacts),
    /// Of a ServiceAccount.
    Account(AccountFacts),
    /// Of a Secret with a token of a ServiceAccount.
    Token(TokenFacts),
    VolumeSnapshot(SnapshotFacts),
    VolumeSnapshotContent(SnapshotContentFacts),
    /// Of a Deployment, StatefulSet, ReplicaSet, ReplicationController or DaemonSet.
    Workload(WorkloadFacts),
    Job(JobFacts),
    Lease(LeaseFacts),
    /// Of an EndpointSlice.
    Slice(SliceFacts),
    ApiService(ApiServiceFacts),
    /// Of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration.
    Webhooks(WebhookFacts),
    /// Of a ValidatingAdmissionPolicy or MutatingAdmissionPolicy.
    AdmissionPolicy(AdmissionPolicyFacts),
    /// Of a ValidatingAdmissionPolicyBinding or MutatingAdmissionPolicyBinding.
    PolicyBinding(PolicyBindingFacts),
    ResourceClaim(ResourceClaimFacts),
    ServiceCidr(ServiceCidrFacts),
    StorageClass(StorageClassFacts),
    /// Of a ResourceQuota.
    Quota(QuotaFacts),
    LimitRange(LimitRangeFacts),
    /// Of a PodDisruptionBudget.
    Budget(BudgetFacts),
    /// Of a RoleBinding or ClusterRoleBinding.
    Binding(BindingFacts),
    /// Of a Role or ClusterRole.
    Role(RoleFacts),
    /// The deletion policy of an object, for kinds without other facts.
    Policy(PolicyFacts),
}

impl Fact {
    /// Interns the names of other objects and namespaces in the facts, which may have to be looked up.
    pub(crate) fn intern_names(&self, strings: &mut Strings) {
        let mut each = |name: &str| {
            strings.intern(name);
        };
        let own = match self {
            Fact::Pod(facts) => facts.node.as_deref(),
            Fact::Claim(facts) => facts.volume.as_deref(),
            Fact::VolumeSnapshot(facts) => facts.content.as_deref(),
            Fact::PolicyBinding(facts) => Some(facts.policy.as_str()),
            Fact::Volume(facts) => facts.keeping_class(),
            Fact::Binding(facts) => Some(facts.role.as_str()),
            _ => None,
        };
        let path = match self {
            Fact::Volume(facts) => facts.claim.as_deref(),
            Fact::VolumeSnapshotContent(facts) => facts.snapshot.as_deref(),
            _ => None,
        };
        path.into_iter().flat_map(|path| path.split('/')).for_each(&mut each);
        let pods = match self {
            Fact::Slice(facts) => facts.pods.as_slice(),
            Fact::ResourceClaim(facts) => facts.pods.as_slice(),
            _ => &[],
        };
        own.into_iter().chain(pods.iter().map(String::as_str)).for_each(&mut each);
        let required = match self {
            Fact::Workload(facts) => facts.requires.as_slice(),
            Fact::Pod(facts) => facts.requires.as_slice(),
            _ => &[],
        };
        required.iter().for_each(|required| each(required.parts()[2]));
        let inventory = if let Fact::Policy(facts) = self { facts.inventory.as_deref() } else { None };
        for object in inventory.into_iter().flat_map(|inventory| &inventory.objects) {
            each(&object.namespace);
            each(&object.name);
        }
        let webhooks = if let Fact::Webhooks(facts) = self { facts.webhooks.as_slice() } else { &[] };
        let backend = match self {
            Fact::Definition(facts) => facts.conversion.as_deref(),
            Fact::ApiService(facts) => facts.service.as_ref(),
            _ => None,
        };
        let backends = webhooks.iter().filter_map(|webhook| webhook.backend.as_ref()).chain(backend);
        for (namespace, name) in backends.filter_map(Backend::service) {
            each(namespace);
            each(name);
        }
    }
}

/// Who set an object's finalizers, if read; and what its status says of why it is not deleted.
#[derive(Clone, Debug, Default)]
struct Told {
    setters: Option<Box<[Setter]>>,
    said: Box<[Said]>,
}

/// Readers of the facts of an object, one for each kind.
macro_rules! readers {
    ($($(#[$doc:meta])* $visible:vis $name:ident: $kind:ident($facts:ident);)*) => {
        impl Facts {
            $($(#[$doc])* $visible fn $name(&self, object: ObjectId) -> Option<&$facts> {
                if let Some(Fact::$kind(facts)) = self.get(object) { Some(facts) } else { None }
            })*
        }
    };
}

readers! {
    /// The facts of a pod, if read.
    pub pod: Pod(PodFacts);
    /// The facts of a PersistentVolume, if read.
    pub volume: Volume(VolumeFacts);
    /// The facts of a Namespace, if read.
    pub namespace: Namespace(NamespaceFacts);
    /// The facts of a CustomResourceDefinition, if read.
    pub definition: Definition(DefinitionFacts);
    /// The facts of a PersistentVolumeClaim, if read.
    pub claim: Claim(ClaimFacts);
    /// The facts of a Service, if read.
    pub service: Service(ServiceFacts);
    /// The facts of a Node, if read.
    pub node: Node(NodeFacts);
    /// Whether a ServiceAccount's token Secrets were read.
    pub account: Account(AccountFacts);
    /// The facts of a Secret with a token of a ServiceAccount, if read.
    pub token: Token(TokenFacts);
    /// The facts of a VolumeSnapshot, if read.
    pub(crate) volume_snapshot: VolumeSnapshot(SnapshotFacts);
    /// The facts of a VolumeSnapshotContent, if read.
    pub(crate) volume_snapshot_content: VolumeSnapshotContent(SnapshotContentFacts);
    /// The facts of a Deployment, StatefulSet, ReplicaSet, ReplicationController or DaemonSet, if read.
    pub workload: Workload(WorkloadFacts);
    /// The facts of a Job, if read.
    pub job: Job(JobFacts);
    /// The facts of a Lease, if read.
    pub lease: Lease(LeaseFacts);
    /// The facts of an EndpointSlice, if read.
    pub slice: Slice(SliceFacts);
    /// The facts of an APIService, if read.
    pub api_service: ApiService(ApiServiceFacts);
    /// The facts of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration, if read.
    pub webhooks: Webhooks(WebhookFacts);
    /// The facts of a ValidatingAdmissionPolicy or MutatingAdmissionPolicy, if read.
    pub admission_policy: AdmissionPolicy(AdmissionPolicyFacts);
    /// The facts of a binding of such a policy, if read.
    pub policy_binding: PolicyBinding(PolicyBindingFacts);
    /// The facts of a ResourceClaim, if read.
    pub(crate) resource_claim: ResourceClaim(ResourceClaimFacts);
    /// The facts of a ServiceCIDR, if read.
    pub(crate) service_cidr: ServiceCidr(ServiceCidrFacts);
    /// The facts of a StorageClass, if read.
    pub(crate) storage_class: StorageClass(StorageClassFacts);
    /// The facts of a PodDisruptionBudget, if read.
    pub(crate) budget: Budget(BudgetFacts);
    /// The facts of a RoleBinding or ClusterRoleBinding, if read.
    pub(crate) binding: Binding(BindingFacts);
    /// The facts of a Role or ClusterRole, if read.
    pub(crate) role: Role(RoleFacts);
    /// The facts of an object's deletion policy, if read.
    pub policy: Policy(PolicyFacts);
}

/// The facts of a snapshot's objects. An object without an entry was not read.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// By object, up to the last with facts. Objects share equal ones: most pods of a node have the same.
    known: Vec<Option<Arc<Fact>>>,
    /// How many are known.
    len: usize,
    pool: Pool<Fact>,
    told: FxHashMap<ObjectId, Told>,
    /// Read only for `reclaim`.
    reclaim: FxHashMap<ObjectId, ReclaimFacts>,
    /// How often anything was learnt.
    learned: u64,
}

impl Facts {
    /// Records the facts of an object.
    pub fn insert(&mut self, object: ObjectId, fact: Fact) {
        let fact = match (self.get(object), fact) {
            (Some(Fact::Node(known)), Fact::Node(facts)) => Fact::Node(known.clone().merge(facts)),
            (_, fact) => fact,
        };
        let (shared, _) = self.pool.share(fact);
        self.insert_shared(object, shared);
    }

    /// Records the facts of the next object, while a snapshot is built, and interns the names in them.
    pub fn push(&mut self, fact: Option<Fact>, strings: &mut Strings) {
        let shared = fact.map(|fact| {
            let (shared, is_new) = self.pool.share(fact);
            if is_new {
                shared.intern_names(strings);
            }
            shared
        });
        if shared.is_some() {
            self.len += 1;
            self.learned += 1;
        }
        self.known.push(shared);
    }

    /// Forgets the facts of objects from this one on.
    pub fn truncate(&mut self, objects: usize) {
        let dropped = self.known.drain(objects.min(self.known.len())..).flatten().count();
        self.len -= dropped;
    }

    fn insert_shared(&mut self, object: ObjectId, fact: Arc<Fact>) {
        self.learned += 1;
        if self.known.len() <= object.index() {
            self.known.resize(object.index() + 1, None);
        }
        self.len += usize::from(self.known[object.index()].replace(fact).is_none());
    }

    /// Records who set an object's finalizers; empty if `managedFields` name no one.
    pub fn insert_setters(&mut self, object: ObjectId, mut setters: Vec<Setter>) {
        // An object may have a million finalizers; each is looked up.
        setters.sort_by(|one, other| one.finalizer.cmp(&other.finalizer));
        self.told.entry(object).or_default().setters = Some(setters.into());
    }

    /// Records what a Terminating object's status says of why it is not deleted.
    pub fn insert_said(&mut self, object: ObjectId, said: Vec<Said>) {
        if !said.is_empty() || self.told.contains_key(&object) {
            self.told.entry(object).or_default().said = said.into();
        }
    }

    /// What is said of why a Terminating object is not deleted, as far as it was read.
    pub fn said(&self, object: ObjectId) -> &[Said] {
        self.told.get(&object).map_or(&[], |told| &*told.said)
    }

    /// What an object's controller says of why it is not deleted, as far as it was read: all in one.
    pub fn why_not_deleted(&self, object: ObjectId) -> Option<Said> {
        let of_facts = |source, words: &str| Said { words: words.to_owned(), source, is_error: true, at: None };
        let said = self.said(object).iter().cloned().reduce(|said, more| Said {
            words: format!("{}; {}", said.words, more.words),
            is_error: said.is_error || more.is_error,
            ..said
        });
        let failure = || self.volume(object)?.failure.as_deref().map(|why| of_facts(Source::Status, why));
        let not_taken = || self.why_not_taken(object).map(|why| of_facts(Source::Untimed, &values::in_one_line(why)));
        said.or_else(failure).or_else(not_taken)
    }

    /// Records what decides when the cluster removes an object by itself.
    pub fn insert_reclaim(&mut self, object: ObjectId, facts: ReclaimFacts) {
        self.reclaim.insert(object, facts);
    }

    /// What decides when the cluster removes an object by itself; `None` if not read.
    pub fn reclaim(&self, object: ObjectId) -> Option<&ReclaimFacts> {
        self.reclaim.get(&object)
    }

    /// Who set an object's finalizers; `None` if not read, empty if `managedFields` name no one.
    pub fn setters(&self, object: ObjectId) -> Option<&[Setter]> {
        self.told.get(&object)?.setters.as_deref()
    }

    pub(super) fn remove(&mut self, object: ObjectId) {
        let known = self.known.get_mut(object.index()).and_then(Option::take);
        self.len -= usize::from(known.is_some());
        self.told.remove(&object);
        self.reclaim.remove(&object);
    }

    /// Drops the facts that change without a change of metadata: liveness, readiness, availability,
    /// snapshots in progress and namespace conditions. They must be read again before they are reported.
    pub fn forget_what_passes(&mut self) {
        for place in &mut self.known {
            let Some(fact) = place else { continue };
            if let Fact::Node(facts) = &**fact {
                *fact = Arc::new(Fact::Node(NodeFacts { kubelet: None, ..facts.clone() }));
            }
            let aggregated = matches!(&**fact, Fact::ApiService(facts) if facts.service.is_some());
            let is_taken = matches!(&**fact, Fact::VolumeSnapshot(facts) if facts.taken_of.is_some())
                || matches!(&**fact, Fact::Claim(facts) if facts.filled_from.is_some());
            let passes = matches!(**fact, Fact::Lease(_) | Fact::Workload(_) | Fact::Slice(_) | Fact::Namespace(_));
            if aggregated || is_taken || passes {
                *place = None;
                self.len -= 1;
            }
        }
    }

    /// Drops all facts, because they may be outdated.
    pub fn clear(&mut self) {
        self.known.clear();
        self.reclaim.clear();
        self.len = 0;
    }

    /// The facts of an object, if read.
    pub fn get(&self, object: ObjectId) -> Option<&Fact> {
        self.known.get(object.index())?.as_deref()
    }

    /// Whether an object is a pod whose containers have ended for good, as far as was read.
    pub fn has_finished(&self, object: ObjectId) -> bool {
        self.pod(object).is_some_and(PodFacts::finished)
    }

    /// Whether an object is a VolumeSnapshot that is not ready to use yet, or a claim that is being filled from one, as
    /// far as was read.
    pub fn is_being_taken(&self, object: ObjectId) -> bool {
        self.volume_snapshot(object).is_some_and(|facts| facts.taken_of.is_some())
            || self.claim(object).is_some_and(|facts| facts.filled_from.is_some())
    }

    /// Why a VolumeSnapshot is not ready to use, if its controller says that it has failed.
    pub fn why_not_taken(&self, object: ObjectId) -> Option<&str> {
        self.volume_snapshot(object)?.failure.as_deref()
    }

    /// What the API server says keeps a Terminating Namespace or CustomResourceDefinition, as far as it was read.
    pub fn said_to_keep(&self, object: ObjectId) -> Vec<&Condition> {
        let conditions = match self.get(object) {
            Some(Fact::Namespace(facts)) => &facts.conditions,
            Some(Fact::Definition(facts)) => &facts.conditions,
            _ => return Vec::new(),
        };
        conditions.iter().filter(|condition| condition.keeps()).collect()
    }

    /// The names of what an object says it uses, and so keeps, or what keeps it (R9.40), if read.
    pub(crate) fn uses(&self, object: ObjectId) -> Option<&[String]> {
        match self.get(object) {
            Some(Fact::Policy(facts)) => Some(&facts.uses),
            Some(Fact::Volume(facts)) => Some(facts.csi.as_ref().map_or(&[], |csi| &csi.uses)),
            Some(Fact::Claim(facts)) => Some(facts.filled_from.as_slice()),
            Some(Fact::VolumeSnapshot(facts)) => Some(facts.taken_of.as_slice()),
            Some(Fact::VolumeSnapshotContent(facts)) => Some(facts.snapshot.as_slice()),
            _ => None,
        }
    }

    /// What an object names that it is of less use without, as far as it was read (R9.50).
    pub(crate) fn requires(&self, object: ObjectId) -> Cow<'_, [Required]> {
        let own = match self.get(object) {
            Some(Fact::Workload(facts)) => return Cow::Borrowed(&facts.requires),
            Some(Fact::Policy(facts)) => return Cow::Borrowed(&facts.requires),
            Some(Fact::Pod(facts)) if facts.finished() => None,
            Some(Fact::Pod(facts)) => {
                let account = facts.account.clone().map(Required::ServiceAccount);
                return account.into_iter().chain(facts.requires.iter().cloned()).collect();
            }
            Some(Fact::Claim(facts)) => facts.class.clone().map(Required::StorageClass),
            Some(Fact::Volume(facts)) => {
                let Some(csi) = &facts.csi else { return Cow::default() };
                let secrets = csi.secrets.iter().cloned().map(Required::VolumeSecret);
                return std::iter::once(Required::CsiDriver(csi.handle.driver.clone())).chain(secrets).collect();
            }
            Some(Fact::Binding(facts)) if facts.cluster => Some(Required::ClusterRole(facts.role.clone())),
            Some(Fact::Binding(facts)) => Some(Required::Role(facts.role.clone())),
            _ => None,
        };
        Cow::Owned(own.into_iter().collect())
    }

    /// Whether an object is an Application with a running operation that has made hooks.
    pub fn runs_hooks(&self, object: ObjectId) -> bool {
        self.policy(object).is_some_and(|facts| facts.uses.iter().any(|used| used.contains('/')))
    }

    /// Renumbers objects; drops the facts of those without a new id.
    pub fn move_to(&mut self, moved: &[Option<ObjectId>]) {
        let to = |id: ObjectId| moved[id.index()];
        let (known, learned) = (std::mem::take(&mut self.known), self.learned);
        self.len = 0;
        for (fact, moved) in known.into_iter().zip(moved) {
            if let (Some(fact), Some(id)) = (fact, moved) {
                self.insert_shared(*id, fact);
            }
        }
        self.learned = learned;
        let told = std::mem::take(&mut self.told).into_iter();
        self.told = told.filter_map(|(id, told)| Some((to(id)?, told))).collect();
        let reclaim = std::mem::take(&mut self.reclaim).into_iter();
        self.reclaim = reclaim.filter_map(|(id, facts)| Some((to(id)?, facts))).collect();
    }

    /// Grows whenever facts are read.
    pub fn learned(&self) -> u64 {
        self.learned
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Of how many objects the setters of finalizers were read.
    pub fn setters_len(&self) -> usize {
        self.told.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
