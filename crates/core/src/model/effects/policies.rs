//! Deletion policies in an object's spec and annotations: whether its controller deletes or keeps external resources.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    finalizers::{known_finalizer, may_need},
    inventory::{Inventory, Spared, TRACKING_ID},
    named::NamedObject,
    operators::{Does, OPERATORS, Policy, Setting},
    pauses::{Pause, is_pausing_annotation},
    users::{names_by_field, names_used},
};
use crate::model::facts::Required;

const KUBE_DB: &[&str] = &["spec.deletionPolicy", "spec.terminationPolicy"];

/// The names of the rules of a Kyverno policy that keep what they generate (kyverno/kyverno
/// api/kyverno/v1/rule_types.go: GeneratePattern, Synchronize).
fn synchronizing_rules(policy: &Value) -> Vec<String> {
    let rules = policy.pointer("/spec/rules").and_then(Value::as_array).into_iter().flatten();
    let keeps = rules.filter(|rule| rule.pointer("/generate/synchronize") == Some(&json!(true)));
    keeps.filter_map(|rule| rule["name"].as_str().map(str::to_owned)).collect()
}

/// What a policy does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyEffect {
    /// The controller deletes the resource; the text says what else could prevent that.
    Act(&'static str),
    /// The controller keeps the resource; the text says why.
    Keep(&'static str),
}

sparse! {
    /// What decides what an object's controller deletes with it.
    pub struct PolicyFacts {
        /// The fields and annotations that define its policy, as far as they are set. Values other than text are JSON.
        #[serde(flatten)]
        pub fields: BTreeMap<String, String>,
        /// What its controller deletes with it; `None` if that deletes no objects.
        pub inventory?: Option<Box<Inventory>>,
        /// What makes its controller leave it alone.
        pub pause?: Option<Pause>,
        /// Its controller soon makes again what is missing of its inventory (R9.41).
        pub heals?: bool,
        /// The names of what it uses, and so keeps (R9.40).
        pub uses?: Vec<String>,
        /// What its controller may need to remove a finalizer (R9.47).
        pub names?: Box<[NamedObject]>,
        /// What it lists, if what its controller deletes is not known.
        pub lists?: Box<[NamedObject]>,
        /// What it leads requests to, and with what; read from files only (R9.50).
        pub requires?: Box<[Required]>,
    }
}

const ACK: &str = "services.k8s.aws/deletion-policy";
const CONFIG_CONNECTOR: &str = "cnrm.cloud.google.com/deletion-policy";
const AZURE: &str = "serviceoperator.azure.com/reconcile-policy";
const STRIMZI: &str = "strimzi.io/managed";
/// What an OperatorConfiguration of Zalando's says of the claims of its clusters; by default, it deletes them
/// (zalando/postgres-operator pkg/cluster/cluster.go:Delete, docs/reference/operator_parameters.md).
const DELETES_CLAIMS: &str = "configuration.kubernetes.enable_persistent_volume_claim_deletion";
/// After which Karpenter no longer waits for evictions.
const DEADLINE: &str = "spec.terminationGracePeriod";
/// The namespace in which Helm keeps the release of a HelmRelease.
const RELEASED_IN: &str = "status.storageNamespace";
/// The ServiceAccount as which Flux and kapp-controller act.
const ACCOUNT: &str = "spec.serviceAccountName";
/// The Node of a VolumeAttachment, kept only if it has the volume.
const ATTACHED_TO: &str = "spec.nodeName";
/// The controller of a GatewayClass.
const CONTROLLER: &str = "spec.controllerName";
/// The ObjectBucket of a claim, and what becomes of the bucket.
const BUCKET: &str = "spec.objectBucketName";
const RECLAIM: &str = "spec.reclaimPolicy";

/// What becomes of machines and their disks once KubeVirt or CDI is uninstalled (kubevirt/kubevirt
/// staging/src/kubevirt.io/api/core/v1/types.go:KubeVirtUninstallStrategy).
const UNINSTALL: &str = "spec.uninstallStrategy";

/// The Namespace that Argo CD deploys to, kept only if it makes that where it is missing.
const MADE_NAMESPACE: &str = "spec.destination.namespace";

/// Whether an annotation belongs to any policy, of its object's controller or of one that lists the object, or pauses
/// the controller.
pub(crate) fn is_policy_annotation(key: &str) -> bool {
    matches!(key, ACK | CONFIG_CONNECTOR | AZURE | STRIMZI | TRACKING_ID)
        || Spared::is_said_by(key)
        || is_pausing_annotation(key)
}

impl Policy {
    /// The known policy of an object of this kind with these finalizers.
    pub fn of<'t>(group: &str, kind: &str, mut finalizers: impl Iterator<Item = &'t str>) -> Option<Policy> {
        finalizers.find_map(|finalizer| known_finalizer(finalizer, group, kind)?.policy)
    }

    /// The policy of objects of a kind whose controller deletes others after they are gone, whatever their finalizers.
    pub(crate) fn without_finalizer(group: &str, kind: &str) -> Option<Policy> {
        // zalando/postgres-operator pkg/controller/postgresql.go: an object that is gone is a cluster to delete.
        match (group, kind) {
            ("acid.zalan.do", "postgresql") => Some(Policy::Zalando),
            // minio/operator pkg/controller/main-controller.go, before version 6.
            ("minio.min.io", "Tenant") => Some(Policy::Minio),
            _ => None,
        }
    }

    /// The policy of objects of a kind, whatever their finalizers.
    pub fn of_kind(group: &str, kind: &str) -> Option<Policy> {
        Policy::of_applier(group, kind).or(Policy::without_finalizer(group, kind))
    }

    fn setting(self) -> Option<&'static Setting> {
        OPERATORS.policies.iter().find(|setting| setting.policy == self)
    }

    /// The policy of objects of a kind whose controller applies others from a source, whatever their finalizers.
    pub(crate) fn of_applier(group: &str, kind: &str) -> Option<Policy> {
        match (group, kind) {
            ("argoproj.io", "Application") => Some(Policy::ArgoCd),
            ("kustomize.toolkit.fluxcd.io", "Kustomization") => Some(Policy::Kustomization),
            ("helm.toolkit.fluxcd.io", "HelmRelease") => Some(Policy::HelmRelease),
            ("kappctrl.k14s.io", "App") => Some(Policy::Kapp),
            ("kpt.dev", "ResourceGroup") => Some(Policy::ConfigSyncGroup),
            ("cert-manager.io", "Certificate") => Some(Policy::Certificate),
            _ => None,
        }
    }

    /// A finalizer by which the controller of what applies objects is known.
    pub(crate) fn finalizer_of_applier(self) -> Option<&'static str> {
        match self {
            Policy::ArgoCd => Some("resources-finalizer.argocd.argoproj.io"),
            Policy::Kustomization | Policy::HelmRelease => Some("finalizers.fluxcd.io"),
            Policy::Kapp => Some("finalizers.kapp-ctrl.k14s.io/delete"),
            Policy::Certificate => Some("cert-manager.io/certificate"),
            _ => None,
        }
    }

    /// Whether the controller of a whole object soon makes again what is missing of what it applies.
    fn heals(self, object: &Value) -> bool {
        let is = |path: &str, value: Value| object.pointer(path) == Some(&value);
        match self {
            // argoproj/argo-cd controller/appcontroller.go:autoSync. Without `selfHeal`, only a new commit is applied.
            Policy::ArgoCd => {
                let automated = "/spec/syncPolicy/automated";
                is(&format!("{automated}/selfHeal"), json!(true)) && !is(&format!("{automated}/enabled"), json!(false))
            }
            // fluxcd/kustomize-controller internal/controller/kustomization_controller.go:Reconcile
            Policy::Kustomization => !is("/spec/suspend", json!(true)),
            // fluxcd/helm-controller internal/reconcile/atomic_release.go. Without it, only an upgrade does.
            Policy::HelmRelease => {
                is("/spec/driftDetection/mode", json!("enabled")) && !is("/spec/suspend", json!(true))
            }
            // carvel-dev/kapp-controller pkg/app/app_reconcile.go:Reconcile
            Policy::Kapp => !is("/spec/paused", json!(true)) && !is("/spec/canceled", json!(true)),
            // GoogleContainerTools/kpt-config-sync pkg/remediator;
            // cert-manager/cert-manager internal/controller/certificates/policies/checks.go:SecretDoesNotExist
            Policy::ConfigSyncGroup | Policy::Certificate => true,
            _ => false,
        }
    }

    /// The fields below the object, and the annotation, that it reads.
    fn reads(self) -> (&'static [&'static str], Option<&'static str>) {
        match self {
            _ if let Some(setting) = self.setting() => (&setting.fields, None),
            Policy::Crossplane => (&["spec.deletionPolicy", "spec.managementPolicies"], None),
            Policy::Kustomization => (&["spec.deletionPolicy", "spec.prune", "spec.suspend", ACCOUNT], None),
            Policy::HelmRelease => (&["spec.suspend", ACCOUNT, RELEASED_IN], None),
            Policy::Ack => (&[], Some(ACK)),
            Policy::ConfigConnector => (&[], Some(CONFIG_CONNECTOR)),
            Policy::AzureServiceOperator => (&[], Some(AZURE)),
            Policy::Strimzi => (&[], Some(STRIMZI)),
            Policy::Bucket => (&[BUCKET, RECLAIM], None),
            Policy::KubeVirt | Policy::Cdi => (&[UNINSTALL], None),
            Policy::KubeDb => (KUBE_DB, None),
            _ => (&[], None),
        }
    }

    /// Reads the policy from a whole object.
    pub fn read(self, object: &Value) -> PolicyFacts {
        let (fields, annotation) = self.reads();
        let inventory = Inventory::read(self, object);
        let mut facts =
            PolicyFacts { inventory: inventory.map(Box::new), heals: self.heals(object), ..PolicyFacts::default() };
        fields.iter().for_each(|field| facts.keep_field(field, object));
        // argoproj/argo-cd controller/sync_namespace.go:syncNamespace
        let options = object.pointer("/spec/syncPolicy/syncOptions").and_then(Value::as_array);
        if self == Policy::ArgoCd && options.is_some_and(|options| options.contains(&json!("CreateNamespace=true"))) {
            facts.keep_field(MADE_NAMESPACE, object);
        }
        if let Some(key) = annotation {
            let found = object.pointer("/metadata/annotations").and_then(|annotations| annotations.get(key));
            facts.keep(key, found);
        }
        facts
    }

    /// The merge patch that makes an object's controller keep its external resource; `None` if none does.
    pub fn keeping(self, facts: &PolicyFacts, is_namespaced: bool) -> Option<Value> {
        let annotation = |key: &str, value: &str| json!({"metadata": {"annotations": {key: value}}});
        Some(match self {
            _ if let Some(setting) = self.setting() => {
                setting.fields[0].rsplit('.').fold(setting.keep.clone()?, |value, key| json!({ key: value }))
            }
            Policy::Crossplane => {
                let actions = facts.list("spec.managementPolicies");
                let without_delete = |mut actions: Vec<String>| {
                    actions.retain(|action| action != "Delete");
                    json!({"spec": {"managementPolicies": actions}})
                };
                let says_delete = actions.clone().filter(|actions| actions.iter().any(|action| action == "Delete"));
                if is_namespaced {
                    // These have no deletionPolicy (crossplane-runtime pkg/resource/interfaces.go:ModernManaged).
                    let all = ["Observe", "Create", "Update", "LateInitialize"].map(str::to_owned);
                    return Some(without_delete(says_delete.unwrap_or(all.to_vec())));
                }
                // If the two fields disagree, the one without its default value wins.
                let mut fields = says_delete.map_or_else(|| json!({"spec": {}}), without_delete);
                fields["spec"]["deletionPolicy"] = json!("Orphan");
                fields
            }
            Policy::Kustomization | Policy::HelmRelease => json!({"spec": {"suspend": true}}),
            Policy::Ack => annotation(ACK, "retain"),
            Policy::ConfigConnector => annotation(CONFIG_CONNECTOR, "abandon"),
            Policy::AzureServiceOperator => annotation(AZURE, "detach-on-delete"),
            Policy::Strimzi => annotation(STRIMZI, "false"),
            Policy::KubeDb => {
                let field = if facts.get(KUBE_DB[1]).is_some() { "terminationPolicy" } else { "deletionPolicy" };
                json!({"spec": {field: "Halt"}})
            }
            Policy::Bucket => return facts.get(RECLAIM).map(|_| json!({"spec": {"reclaimPolicy": "Retain"}})),
            _ => return None,
        })
    }

    /// Whether its controller deletes other objects with its own (R9.38).
    pub(crate) fn deletes_objects(self) -> bool {
        use Policy::{Cdi, Fleet, FleetDeployment, FleetHelm, HelmRelease, Kapp, KubeDb, KubeVirt, Kustomization};
        matches!(
            self,
            Kustomization | HelmRelease | Fleet | FleetHelm | FleetDeployment | Kapp | KubeVirt | Cdi | KubeDb
        ) || self.always_acts()
    }

    /// Whether its controller keeps its finalizer if the ServiceAccount is gone as which it acts.
    pub(crate) fn needs_account(self) -> bool {
        self == Policy::Kapp
    }

    /// Whether Flux lets go without deleting what is elsewhere, if the ServiceAccount is gone as which it acts.
    pub(crate) fn loses_with_account(self, facts: &PolicyFacts, own: &str) -> bool {
        let is_elsewhere = |inventory: &Inventory| inventory.objects.iter().any(|named| named.namespace != own);
        let deletes_elsewhere = || facts.inventory.as_deref().is_none_or(is_elsewhere);
        matches!(self, Policy::Kustomization | Policy::HelmRelease) && facts.account().is_some() && deletes_elsewhere()
    }

    /// Whether Flux deletes nothing without what is in the namespace of its object: the Secret of a release, or the
    /// ServiceAccount as which it acts.
    pub fn needs_its_namespace(self, facts: &PolicyFacts, own: &str) -> bool {
        self == Policy::HelmRelease && facts.released_in(own) == own || self.loses_with_account(facts, own)
    }

    /// Whether nothing that its object says keeps its controller from that.
    pub(crate) fn always_acts(self) -> bool {
        self.reads() == (&[], None)
    }

    /// What the policy does.
    pub fn says(self, facts: &PolicyFacts) -> PolicyEffect {
        match self {
            _ if let Some(setting) = self.setting() => {
                let value = facts.get(setting.fields[0]).unwrap_or_default();
                let acts = match &setting.does {
                    Does::ActWith(values) => values.contains(&value),
                    Does::KeepWith(kept) => value != *kept,
                };
                if acts { PolicyEffect::Act("") } else { PolicyEffect::Keep(setting.why) }
            }
            Policy::Crossplane => {
                let orphans = facts.is("spec.deletionPolicy", "Orphan");
                let actions = facts.list("spec.managementPolicies");
                let deletes = actions
                    .as_ref()
                    .is_none_or(|actions| actions.iter().any(|action| action == "*" || action == "Delete"));
                // If the two fields disagree, the one without its default value wins.
                let says_delete = actions.is_some_and(|actions| actions.iter().any(|action| action == "Delete"));
                match (orphans, deletes) {
                    (true, _) if !says_delete => PolicyEffect::Keep("deletionPolicy Orphan"),
                    (_, false) => PolicyEffect::Keep("managementPolicies without Delete"),
                    _ => PolicyEffect::Act(""),
                }
            }
            Policy::Kustomization => {
                if facts.is("spec.suspend", "true") {
                    return PolicyEffect::Keep("it is suspended");
                }
                match facts.get("spec.deletionPolicy") {
                    Some("Orphan") => PolicyEffect::Keep("deletionPolicy Orphan"),
                    None | Some("MirrorPrune") if !facts.is("spec.prune", "true") => {
                        PolicyEffect::Keep("it doesn't prune")
                    }
                    _ => PolicyEffect::Act(""),
                }
            }
            Policy::HelmRelease if facts.is("spec.suspend", "true") => PolicyEffect::Keep("it is suspended"),
            Policy::Ack => match facts.get(ACK) {
                Some("retain") => PolicyEffect::Keep("deletion-policy retain"),
                Some(_) => PolicyEffect::Act(""),
                None => PolicyEffect::Act("unless its namespace or the controller says retain"),
            },
            Policy::ConfigConnector if facts.is(CONFIG_CONNECTOR, "abandon") => {
                PolicyEffect::Keep("deletion-policy abandon")
            }
            Policy::AzureServiceOperator => match facts.get(AZURE) {
                Some("manage" | "run") => PolicyEffect::Act(""),
                None => PolicyEffect::Act("unless the operator's own default keeps it"),
                // An unknown value means `skip`.
                Some("detach-on-delete" | "skip-delete") => PolicyEffect::Keep("reconcile-policy detach-on-delete"),
                Some(_) => PolicyEffect::Keep("reconcile-policy skip"),
            },
            Policy::Strimzi if facts.is(STRIMZI, "false") => PolicyEffect::Keep("it is not managed"),
            // rook/rook deploy/examples/storageclass-bucket-retain.yaml
            Policy::Bucket => match facts.get(RECLAIM) {
                Some("Retain") => PolicyEffect::Keep("reclaimPolicy Retain"),
                Some(_) => PolicyEffect::Act(""),
                None => PolicyEffect::Act("unless its ObjectBucket says Retain"),
            },
            Policy::KubeVirt | Policy::Cdi if facts.is(UNINSTALL, "BlockUninstallIfWorkloadsExist") => {
                PolicyEffect::Act("unless its webhook refuses this delete, as it does while there are any")
            }
            // kubedb/apimachinery apis/kubedb/v1/types.go:DeletionPolicy
            Policy::KubeDb => match facts.get(KUBE_DB[0]).or(facts.get(KUBE_DB[1])) {
                Some("Halt") => PolicyEffect::Keep("deletionPolicy Halt"),
                Some("DoNotTerminate") => PolicyEffect::Act("unless its webhook refuses this delete: DoNotTerminate"),
                _ => PolicyEffect::Act(""),
            },
            _ => PolicyEffect::Act(""),
        }
    }
}

impl PolicyFacts {
    /// The kind that configures Zalando's operator.
    pub(crate) const ZALANDO: (&'static str, &'static str) = ("acid.zalan.do", "OperatorConfiguration");

    /// Its controller is known only by its name.
    pub(crate) const GATEWAY_CLASS: (&'static str, &'static str) = ("gateway.networking.k8s.io", "GatewayClass");

    /// What generates objects, by rules: their policies are known by their names.
    pub(crate) const KYVERNO: [(&'static str, &'static str); 2] =
        [("kyverno.io", "ClusterPolicy"), ("kyverno.io", "Policy")];

    /// Whether a policy of Kyverno's makes again what this rule of it has generated.
    pub(crate) fn synchronizes(&self, rule: &str) -> bool {
        self.uses.iter().any(|name| name == rule)
    }

    /// What says which Node has a volume.
    const ATTACHMENT: (&'static str, &'static str) = ("storage.k8s.io", "VolumeAttachment");

    /// Karpenter's kind for a Node and its instance.
    pub(crate) const NODE_CLAIM: (&'static str, &'static str) = ("karpenter.sh", "NodeClaim");

    /// Whether an object of a kind with these finalizers has any.
    pub(crate) fn are_possible<'t>(group: &str, kind: &str, mut finalizers: impl Iterator<Item = &'t str>) -> bool {
        let has_policy = |finalizer: &'t str| Policy::of(group, kind, std::iter::once(finalizer)).is_some();
        Policy::of_kind(group, kind).is_some()
            || matches!((group, kind), PolicyFacts::ZALANDO | PolicyFacts::GATEWAY_CLASS | Pause::CLUSTER)
            || PolicyFacts::KYVERNO.contains(&(group, kind))
            || names_by_field(group, kind)
            || finalizers.any(|finalizer| {
                has_policy(finalizer) || Pause::is_possible(finalizer) || may_need(finalizer, group, kind)
            })
    }

    /// Reads those of a whole object; `None` if it can't have any.
    pub fn read(group: &str, kind: &str, finalizers: &[&str], object: &Value) -> Option<PolicyFacts> {
        let requires = Required::read_route(group, kind, object);
        if requires.is_empty() && !PolicyFacts::are_possible(group, kind, finalizers.iter().copied()) {
            return None;
        }
        let policy = Policy::of(group, kind, finalizers.iter().copied()).or(Policy::of_kind(group, kind));
        let facts = policy.map(|policy| policy.read(object)).unwrap_or_default();
        let (pause, uses) = (Pause::read((group, kind), finalizers, object), names_used(group, kind, object));
        let may_need = |finalizer: &&str| may_need(finalizer, group, kind);
        let needs = finalizers.iter().any(may_need);
        let names = if needs { NamedObject::read(group, kind, object) } else { Vec::new() };
        let lists = if needs && policy.is_none() { NamedObject::read_lists(object) } else { Vec::new() };
        let (names, lists, requires) = (names.into(), lists.into(), requires.into());
        let mut facts = PolicyFacts { pause, uses, names, lists, requires, ..facts };
        match (group, kind) {
            PolicyFacts::ZALANDO => facts.keep_field(DELETES_CLAIMS, object),
            PolicyFacts::NODE_CLAIM => facts.keep_field(DEADLINE, object),
            PolicyFacts::GATEWAY_CLASS => facts.keep_field(CONTROLLER, object),
            of if PolicyFacts::KYVERNO.contains(&of) => facts.uses = synchronizing_rules(object),
            PolicyFacts::ATTACHMENT if object.pointer("/status/attached") == Some(&json!(true)) => {
                facts.keep_field(ATTACHED_TO, object);
            }
            _ => {}
        }
        Some(facts)
    }

    /// Whether these are of a NodeClaim of Karpenter's whose pods are deleted after a while, though nobody may evict
    /// them.
    pub(crate) fn has_deadline(&self) -> bool {
        self.get(DEADLINE).is_some()
    }

    /// Whether these are of an OperatorConfiguration of Zalando's that keeps claims.
    pub(crate) fn keeps_claims(&self) -> bool {
        self.is(DELETES_CLAIMS, "false")
    }

    fn keep_field(&mut self, field: &str, object: &Value) {
        self.keep(field, field.split('.').try_fold(object, |value, key| value.get(key)));
    }

    fn keep(&mut self, field: &str, found: Option<&Value>) {
        let text = match found {
            None | Some(Value::Null) => return,
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        self.fields.insert(field.to_owned(), text);
    }

    /// Whether its controller makes the Namespace of this name where it is missing.
    pub(crate) fn makes_namespace(&self, name: &str) -> bool {
        self.is(MADE_NAMESPACE, name)
    }

    /// The ServiceAccount in the namespace of the object as which its controller acts, if it names one.
    pub(crate) fn account(&self) -> Option<&str> {
        self.get(ACCOUNT).filter(|name| !name.is_empty())
    }

    /// The namespace in which Helm keeps its release: by default, its own.
    pub fn released_in<'t>(&'t self, own: &'t str) -> &'t str {
        self.get(RELEASED_IN).filter(|name| !name.is_empty()).unwrap_or(own)
    }

    /// The controller that a GatewayClass names.
    pub(crate) fn controller(&self) -> Option<&str> {
        self.get(CONTROLLER)
    }

    /// The Node that has the volume of a VolumeAttachment; `None` if none has it yet, or any more.
    pub(crate) fn attached_to(&self) -> Option<&str> {
        self.get(ATTACHED_TO)
    }

    /// The ObjectBucket that a claim of a bucket names.
    pub(crate) fn bucket(&self) -> Option<&str> {
        self.get(BUCKET)
    }

    fn get(&self, field: &str) -> Option<&str> {
        self.fields.get(field).map(String::as_str)
    }

    /// Whether this field of its spec was set.
    pub fn has(&self, field: &str) -> bool {
        self.get(&format!("spec.{field}")).is_some()
    }

    pub(crate) fn is(&self, field: &str, value: &str) -> bool {
        self.get(field) == Some(value)
    }

    fn list(&self, field: &str) -> Option<Vec<String>> {
        serde_json::from_str(self.get(field)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Why a controller keeps the external resource of an object; `None` if it doesn't.
    fn kept(policy: Policy, object: &Value) -> Option<&'static str> {
        match policy.says(&policy.read(object)) {
            PolicyEffect::Keep(why) => Some(why),
            PolicyEffect::Act(_) => None,
        }
    }

    #[test]
    fn crossplane_prefers_the_field_that_is_not_the_default() {
        let spec = |spec: Value| kept(Policy::Crossplane, &json!({ "spec": spec })).is_some();
        assert!(!spec(json!({})));
        assert!(!spec(json!({"deletionPolicy": "Delete", "managementPolicies": ["*"]})));
        assert!(spec(json!({"deletionPolicy": "Orphan"})));
        assert!(spec(json!({"deletionPolicy": "Orphan", "managementPolicies": ["*"]})));
        assert!(spec(json!({"deletionPolicy": "Delete", "managementPolicies": ["Observe"]})));
        assert!(spec(json!({"managementPolicies": []})));
        assert!(!spec(json!({"deletionPolicy": "Orphan", "managementPolicies": ["Observe", "Delete"]})));
    }

    #[test]
    fn kustomizations_prune_or_not() {
        let spec = |spec: Value| kept(Policy::Kustomization, &json!({ "spec": spec })).is_some();
        assert!(!spec(json!({"prune": true})));
        assert!(spec(json!({"prune": false})));
        assert!(spec(json!({"prune": true, "suspend": true})));
        assert!(spec(json!({"prune": true, "deletionPolicy": "Orphan"})));
        assert!(!spec(json!({"prune": false, "deletionPolicy": "Delete"})));
        assert!(!spec(json!({"prune": false, "deletionPolicy": "WaitForTermination"})));
        assert!(spec(json!({"prune": false, "deletionPolicy": "MirrorPrune"})));
    }

    #[test]
    fn annotations_keep_or_not() {
        let annotated = |policy, key: &str, value: &str| {
            kept(policy, &json!({"metadata": {"annotations": {key: value}}})).is_some()
        };
        assert!(annotated(Policy::Ack, ACK, "retain"));
        assert!(!annotated(Policy::Ack, ACK, "delete"));
        assert!(annotated(Policy::ConfigConnector, CONFIG_CONNECTOR, "abandon"));
        assert!(!annotated(Policy::ConfigConnector, CONFIG_CONNECTOR, "none"));
        assert!(annotated(Policy::AzureServiceOperator, AZURE, "detach-on-delete"));
        assert!(annotated(Policy::AzureServiceOperator, AZURE, "anything-else"));
        assert!(!annotated(Policy::AzureServiceOperator, AZURE, "manage"));
        assert!(annotated(Policy::Strimzi, STRIMZI, "false"));
        let nothing = PolicyFacts::default();
        assert_eq!(Policy::Ack.says(&nothing), PolicyEffect::Act("unless its namespace or the controller says retain"));
        for policy in [Policy::Ack, Policy::ConfigConnector, Policy::AzureServiceOperator, Policy::Strimzi] {
            assert!(policy.reads().1.is_some_and(is_policy_annotation));
        }
    }

    #[test]
    fn the_merge_patch_makes_every_policy_keep() {
        let acting = [
            (Policy::Crossplane, json!({"spec": {"managementPolicies": ["Observe", "Delete"]}})),
            (Policy::Crossplane, json!({"spec": {"deletionPolicy": "Delete"}})),
            (Policy::Kustomization, json!({"spec": {"prune": true}})),
            (Policy::HelmRelease, json!({"spec": {}})),
            (Policy::Terraform, json!({"spec": {"destroyResourcesOnDeletion": true}})),
            (Policy::Pulumi, json!({"spec": {"destroyOnFinalize": true}})),
            (Policy::Ack, json!({})),
            (Policy::ConfigConnector, json!({})),
            (Policy::AzureServiceOperator, json!({})),
            (Policy::Rook, json!({"spec": {"cleanupPolicy": {"confirmation": "yes-really-destroy-data"}}})),
            (Policy::Strimzi, json!({})),
            (Policy::Fleet, json!({})),
            (Policy::FleetHelm, json!({})),
            (Policy::Kapp, json!({"spec": {}})),
            (Policy::Portworx, json!({"spec": {"deleteStrategy": {"type": "UninstallAndWipe"}}})),
            (Policy::CloudNativePg, json!({"spec": {"databaseReclaimPolicy": "delete"}})),
            (Policy::MariaDb, json!({"spec": {}})),
            (Policy::Hive, json!({"spec": {"preserveOnDelete": false}})),
            (Policy::TidbBackup, json!({"spec": {"cleanPolicy": "Delete"}})),
            (Policy::KubeDb, json!({"spec": {"deletionPolicy": "WipeOut"}})),
            (Policy::KubeDb, json!({"spec": {"terminationPolicy": "Delete"}})),
        ];
        for (policy, object) in acting {
            assert!(kept(policy, &object).is_none(), "{policy:?}");
            for is_namespaced in [false, true] {
                let (mut object, patch) = (object.clone(), policy.keeping(&policy.read(&object), is_namespaced));
                merge(&mut object, &patch.unwrap());
                assert!(kept(policy, &object).is_some(), "{policy:?}: {object}");
                let is_pruned = policy == Policy::Crossplane && is_namespaced;
                assert!(!is_pruned || object["spec"].get("deletionPolicy").is_none_or(|it| it == "Delete"));
            }
        }
    }

    fn merge(object: &mut Value, patch: &Value) {
        for (key, value) in patch.as_object().into_iter().flatten() {
            if value.is_object() {
                if !object[key].is_object() {
                    object[key] = json!({});
                }
                merge(&mut object[key], value);
            } else {
                object[key] = value.clone();
            }
        }
    }

    #[test]
    fn some_policies_delete_only_on_request() {
        assert!(kept(Policy::Terraform, &json!({"spec": {}})).is_some());
        assert!(kept(Policy::Terraform, &json!({"spec": {"destroyResourcesOnDeletion": true}})).is_none());
        assert!(kept(Policy::Pulumi, &json!({"spec": {"destroyOnFinalize": false}})).is_some());
        assert!(kept(Policy::Pulumi, &json!({"spec": {"destroyOnFinalize": true}})).is_none());
        assert!(kept(Policy::Rook, &json!({"spec": {}})).is_some());
        assert!(
            kept(Policy::Rook, &json!({"spec": {"cleanupPolicy": {"confirmation": "yes-really-destroy-data"}}}))
                .is_none()
        );
        assert!(kept(Policy::HelmRelease, &json!({"spec": {"suspend": true}})).is_some());
        assert!(kept(Policy::HelmRelease, &json!({})).is_none());
        assert!(kept(Policy::TidbBackup, &json!({"spec": {}})).is_some());
        assert!(kept(Policy::Hive, &json!({"spec": {}})).is_none());
    }
}
