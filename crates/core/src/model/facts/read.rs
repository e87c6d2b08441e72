//! Reads facts from whole objects.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    AccountFacts, AdmissionPolicyFacts, ApiServiceFacts, Asked, Backend, BindingFacts, BudgetFacts, ClaimFacts,
    ClaimTemplates, Condition, Constraints, CsiVolume, DefinitionFacts, Fact, JobFacts, KubeletReport, LabelSelector,
    LeaseFacts, LimitRangeFacts, NamespaceFacts, NodeFacts, NotReady, OldTemplate, ParameterReference, PodFacts,
    PolicyBindingFacts, QuotaFacts, RBAC, REMAINS, Required, ResourceClaimFacts, RoleFacts, ServiceCidrFacts,
    ServiceFacts, SliceFacts, SnapshotContentFacts, SnapshotFacts, StorageClassFacts, StoredVersion, TokenFacts,
    VolumeData, VolumeDeleter, VolumeFacts, VolumeHandle, Webhook, WebhookFacts, WebhookRule, WorkloadFacts,
    limits::{has_flag, limits},
    selector::{equal_to, selector},
    values::{at, in_one_line, list, unix_seconds},
    webhooks::exempted,
};
use crate::{
    model::effects::{PolicyFacts, names_used, policies::is_policy_annotation},
    quantity::quantity,
};

/// The kinds of which all objects have facts, by group.
const KINDS: [(&str, &[&str]); 17] = [
    ("", &["Pod", "PersistentVolume", "PersistentVolumeClaim", "Service", "Namespace", "Node"]),
    ("", &["ReplicationController", "ResourceQuota", "LimitRange"]),
    ("admissionregistration.k8s.io", &["ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"]),
    ("admissionregistration.k8s.io", &["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"]),
    ("admissionregistration.k8s.io", &["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"]),
    ("apiextensions.k8s.io", &["CustomResourceDefinition"]),
    ("apiregistration.k8s.io", &["APIService"]),
    ("apps", &["Deployment", "StatefulSet", "ReplicaSet", "DaemonSet"]),
    ("batch", &["Job", "CronJob"]),
    ("coordination.k8s.io", &["Lease"]),
    ("discovery.k8s.io", &["EndpointSlice"]),
    ("networking.k8s.io", &["ServiceCIDR"]),
    ("policy", &["PodDisruptionBudget"]),
    (RBAC, &["RoleBinding", "ClusterRoleBinding", "Role", "ClusterRole"]),
    ("resource.k8s.io", &["ResourceClaim"]),
    ("storage.k8s.io", &["StorageClass"]),
    ("snapshot.storage.k8s.io", &["VolumeSnapshot", "VolumeSnapshotContent"]),
];

/// What their controllers write into the status of workloads.
const WRITTEN: [&str; 4] = ["readyReplicas", "numberReady", "desiredNumberScheduled", "observedGeneration"];

/// Whether all objects of a kind have facts.
pub(super) fn kind_has_facts(group: &str, kind: &str) -> bool {
    KINDS.iter().any(|(of, kinds)| *of == group && kinds.contains(&kind))
}

/// Whether a kind is best listed as whole objects: few, small, and all with facts.
pub fn read_whole(group: &str, kind: &str) -> bool {
    (group == "admissionregistration.k8s.io" && kind_has_facts(group, kind))
        || (group, kind) == ("apiregistration.k8s.io", "APIService")
}

/// Whether an object has facts to read: all objects of some kinds, and objects with a finalizer whose controller heeds
/// a deletion policy, or can be paused.
pub fn has_facts<'t>(group: &str, kind: &str, finalizers: impl Iterator<Item = &'t str>) -> bool {
    kind_has_facts(group, kind) || PolicyFacts::are_possible(group, kind, finalizers)
}

/// The same of a whole object in a file, whose finalizers may not have been read yet.
pub fn may_have_facts<'t>(group: &str, kind: &str, finalizers: Option<impl Iterator<Item = &'t str>>) -> bool {
    Required::ROUTES.contains(&(group, kind)) || finalizers.is_none_or(|finalizers| has_facts(group, kind, finalizers))
}

/// The top-level key, if it may contain facts; metadata apart.
pub fn holds_facts(key: &str) -> Option<&'static str> {
    const KEYS: [&str; 11] = [
        "spec",
        "status",
        "endpoints",
        "webhooks",
        "provisioner",
        "parameters",
        "roleRef",
        "subjects",
        "rules",
        "configuration",
        "aggregationRule",
    ];
    KEYS.into_iter().find(|known| *known == key)
}

/// Which keys [`read_facts`] reads below a top-level key ([`holds_facts`]), by their depth and the key above; lists
/// don't count. `None` means all. The rest of the most common and of the largest objects isn't worth keeping.
pub fn keys_with_facts(group: &str, kind: &str, top: &str) -> Option<fn(usize, &str, &str) -> bool> {
    Some(match (group, kind, top) {
        ("", "Pod", "spec") => |depth, above, key| match depth {
            0 => {
                matches!(key, "nodeName" | "serviceAccountName" | "terminationGracePeriodSeconds" | "imagePullSecrets")
                    || matches!(key, "volumes" | "containers" | "initContainers" | "ephemeralContainers")
            }
            1 if above == "volumes" => key != "emptyDir",
            1 if above == "imagePullSecrets" => key == "name",
            1 => matches!(key, "env" | "envFrom"),
            2 if above == "env" => key == "valueFrom",
            _ => {
                matches!(key, "claimName" | "name" | "secretName" | "optional" | "sources")
                    || Required::of_key(key).is_some()
            }
        },
        ("", "Pod", "status") => |depth, _, key| match depth {
            0 => matches!(key, "phase" | "conditions" | "containerStatuses"),
            1 => {
                matches!(key, "type" | "status" | "lastTransitionTime" | "message" | "state" | "lastState")
            }
            2 => matches!(key, "waiting" | "terminated"),
            _ => matches!(key, "reason" | "message" | "exitCode"),
        },
        ("apps", "ReplicaSet", "spec") => |depth, _, key| match depth {
            0 => key == "template" || is_read_of_workload(key),
            3 => key == "resources",
            _ => true,
        },
        ("apps", _, "spec") => |depth, _, key| depth > 0 || key == "template" || is_read_of_workload(key),
        ("apps", _, "status") => {
            const ALSO_READ: [&str; 2] = ["numberMisscheduled", "conditions"];
            |depth, _, key| depth > 0 || WRITTEN.contains(&key) || ALSO_READ.contains(&key)
        }
        ("batch", "Job", "spec") => |depth, _, key| depth > 0 || key != "template",
        ("batch", "CronJob", "spec") => |depth, _, key| depth > 0 || key == "jobTemplate",
        ("apiextensions.k8s.io", "CustomResourceDefinition", "spec") => |_, _, key| key != "schema",
        _ => return None,
    })
}

/// Whether facts are read from this key of a workload's spec.
fn is_read_of_workload(key: &str) -> bool {
    const READ: [&str; 8] = [
        "replicas",
        "ordinals",
        "podManagementPolicy",
        "paused",
        "selector",
        "serviceName",
        "volumeClaimTemplates",
        "persistentVolumeClaimRetentionPolicy",
    ];
    READ.contains(&key)
}

/// Whether facts are read from an annotation.
pub fn is_read_annotation(key: &str) -> bool {
    const READ: [&str; 7] = [
        PodFacts::DELETION_COST,
        PodFacts::DO_NOT_DISRUPT,
        VolumeDeleter::PROVISIONED_BY,
        VolumeDeleter::MIGRATED_TO,
        ACCOUNT_NAME,
        ACCOUNT_UID,
        OldTemplate::REVISION,
    ];
    READ.contains(&key) || is_policy_annotation(key) || NamespaceFacts::ack_service(key).is_some()
}

/// When a Namespace was told to enforce a security of its pods.
fn enforced_since(namespace: Whole<'_>) -> Option<i64> {
    let level = at(namespace.0, &["metadata", "labels", NamespaceFacts::ENFORCED])?.as_str()?;
    let field = format!("f:{}", NamespaceFacts::ENFORCED);
    namespace.written(&["f:metadata", "f:labels", &field]).filter(|_| level != "privileged")
}

/// When a Lease was renewed last: by the API server's clock, if it was renewed since it was made; or else by its
/// holder's, which may be minutes off.
fn renewed(lease: Whole<'_>) -> Option<i64> {
    let time = |path: &[&str]| unix_seconds(at(lease.0, path)?.as_str()?);
    let its_own = time(&["spec", "renewTime"])?;
    let first_end = || {
        let seconds = lease.number(&["spec", "leaseDurationSeconds"])?;
        Some(time(&["metadata", "creationTimestamp"])?.saturating_add(seconds))
    };
    let written = lease.written(&["f:spec", "f:renewTime"]);
    written.filter(|written| first_end().is_some_and(|end| end < *written)).or(Some(its_own))
}

/// The deletion policies of a Namespace for ACK's services.
fn ack_policies(namespace: &Value) -> BTreeMap<String, String> {
    let annotations = namespace.pointer("/metadata/annotations").and_then(Value::as_object);
    let policies = annotations
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| Some((NamespaceFacts::ack_service(key)?.to_owned(), value.as_str()?.to_owned())));
    policies.collect()
}

/// Annotations of a Secret with a token of a ServiceAccount.
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// Reads the facts of a whole object ([`has_facts`]). `None` if the fields that contain them are missing: not every
/// source has whole objects.
pub fn read_facts(group: &str, kind: &str, object: &Value) -> Option<Fact> {
    match (group, kind) {
        // Of these, only files have whole objects.
        ("", "ServiceAccount") => return Some(Fact::Account(AccountFacts {})),
        ("", "Secret") => return token(object).map(Fact::Token),
        // An EndpointSlice has no spec; the server writes an empty list of endpoints as null.
        ("discovery.k8s.io", "EndpointSlice") => {
            return object.get("endpoints").map(|endpoints| Fact::Slice(slice(endpoints)));
        }
        // Its parameters are optional, too.
        ("storage.k8s.io", "StorageClass") => {
            let whole = object.get("provisioner").map(|_| Whole(object))?;
            let parameter = |key| whole.text(&["parameters", key]);
            let (on_delete, archive) = (parameter("onDelete"), parameter("archiveOnDelete"));
            return Some(Fact::StorageClass(StorageClassFacts::of(on_delete.as_deref(), archive.as_deref())));
        }
        (RBAC, "RoleBinding" | "ClusterRoleBinding") => return BindingFacts::read(object).map(Fact::Binding),
        (RBAC, "Role" | "ClusterRole") => return RoleFacts::read(object).map(Fact::Role),
        PolicyFacts::ZALANDO => {
            object.get("configuration")?;
            return PolicyFacts::read(group, kind, &[], object).map(Fact::Policy);
        }
        // The server omits an empty list of webhooks.
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration") => {
            return Some(Fact::Webhooks(WebhookFacts {
                webhooks: list(object.get("webhooks")).map(webhook).collect(),
            }));
        }
        _ => {}
    }
    object.get("spec")?;
    let object = Whole(object);
    Some(match (group, kind) {
        ("", "Pod") => Fact::Pod(pod(object)),
        ("", "PersistentVolume") => Fact::Volume(volume(object)),
        ("", "PersistentVolumeClaim") => Fact::Claim(ClaimFacts {
            volume: object.name(&["spec", "volumeName"]),
            attributes_class: object.name(&["spec", "volumeAttributesClassName"]),
            modified_between: [
                &["status", "currentVolumeAttributesClassName"][..],
                &["status", "modifyVolumeStatus", "targetVolumeAttributesClassName"],
            ]
            .into_iter()
            .filter_map(|path| object.name(path))
            .collect(),
            filled_from: object.name(&["spec", "dataSource", "name"]).filter(|_| {
                let source = at(object.0, &["spec", "dataSource"]);
                let is_snapshot = source.is_some_and(|source| source["kind"] == "VolumeSnapshot");
                is_snapshot && at(object.0, &["status", "phase"]).is_some_and(|phase| phase == "Pending")
            }),
            class: object.name(&["spec", "storageClassName"]).filter(|_| {
                let is_pending = at(object.0, &["status", "phase"]).is_some_and(|phase| phase == "Pending");
                is_pending && object.name(&["spec", "volumeName"]).is_none()
            }),
        }),
        ("policy", "PodDisruptionBudget") => Fact::Budget(BudgetFacts {
            selector: at(object.0, &["spec", "selector"]).map(|it| selector(Some(it)).unwrap_or_default()),
            allowed: object.number(&["status", "disruptionsAllowed"]),
        }),
        ("", "ResourceQuota") => {
            let amount = |of: &str, name: &str| at(object.0, &["status", of, name])?.as_str().and_then(quantity);
            let hard = at(object.0, &["status", "hard"]).and_then(Value::as_object).into_iter().flatten();
            let exceeded = hard.filter(|(name, _)| amount("used", name) > amount("hard", name));
            let demands = |name: &&str| at(object.0, &["spec", "hard", name]).is_some();
            Fact::Quota(QuotaFacts {
                exceeded: exceeded.map(|(name, _)| name.clone()).collect(),
                demands: QuotaFacts::DEMANDED.iter().any(demands),
            })
        }
        ("", "LimitRange") => {
            let of = |kind: &str, what: &str| {
                let limits = list(at(object.0, &["spec", "limits"])).filter(|limit| limit["type"] == kind);
                limits.filter_map(|limit| thousandths(&limit["max"][what])).min()
            };
            let most = |what| [of("Container", what), of("Pod", what)];
            Fact::LimitRange(LimitRangeFacts { cpu: most("cpu"), memory: most("memory") })
        }
        ("", "Node") => Fact::Node(NodeFacts { pods: None, kubelet: Some(kubelet(object)) }),
        ("", "Service") => Fact::Service(ServiceFacts {
            kind: object.text(&["spec", "type"]),
            cluster_ips: texts(at(object.0, &["spec", "clusterIPs"])),
            ports: list(at(object.0, &["spec", "ports"])).filter_map(|port| port.get("port")?.as_i64()).collect(),
            selector: object.equal_labels(&["spec", "selector"]),
            selects: at(object.0, &["spec", "selector"]).is_some_and(|selector| !selector.is_null()),
        }),
        ("", "Namespace") => Fact::Namespace(NamespaceFacts {
            finalizers: texts(at(object.0, &["spec", "finalizers"])),
            conditions: object.conditions(),
            emptied: list(at(object.0, &["status", "conditions"]))
                .any(|condition| condition["type"] == REMAINS && condition["status"] == "False"),
            ack: ack_policies(object.0),
            enforced_since: enforced_since(object),
        }),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy") => {
            Fact::AdmissionPolicy(admission_policy(object))
        }
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding" | "MutatingAdmissionPolicyBinding") => {
            let mutates = kind == "MutatingAdmissionPolicyBinding";
            Fact::PolicyBinding(PolicyBindingFacts {
                policy: object.text(&["spec", "policyName"]).unwrap_or_default(),
                denies: mutates || list(at(object.0, &["spec", "validationActions"])).any(|action| action == "Deny"),
                constraints: at(object.0, &["spec", "matchResources"]).map(constraints),
                required: object.parameters(true).map(Box::new),
                optional: object.parameters(false).map(Box::new),
            })
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => Fact::Definition(definition(object)),
        ("apiregistration.k8s.io", "APIService") => Fact::ApiService(api_service(object)),
        ("apps", "Deployment" | "StatefulSet" | "ReplicaSet") => {
            let without_status = object.0.get("status").is_none();
            let wanted = object.number(&["spec", "replicas"]);
            // Without a status, nothing but the claims of a StatefulSet is known, and that no pod is wanted.
            if without_status && kind != "StatefulSet" && wanted != Some(0) {
                return None;
            }
            let ready = object.number(&["status", "readyReplicas"]).unwrap_or(0);
            let claims = (kind == "StatefulSet").then(|| claim_templates(object));
            let paused = at(object.0, &["spec", "paused"]) == Some(&Value::Bool(true));
            let selector = selector(at(object.0, &["spec", "selector"]));
            Fact::Workload(WorkloadFacts {
                wanted,
                first_ordinal: object.number(&["spec", "ordinals", "start"]).unwrap_or(0),
                parallel: object.text(&["spec", "podManagementPolicy"]).as_deref() == Some("Parallel"),
                misscheduled: false,
                ready,
                without_status,
                // A dump may lack what is written of old ReplicaSets.
                unattended: wanted > Some(0) && object.is_unattended(&WRITTEN),
                fails_to_create: object.conditions().iter().any(|condition| condition.kind == "ReplicaFailure"),
                paused,
                revision: object.annotation(OldTemplate::REVISION).and_then(|text| text.parse().ok()),
                claims,
                selector,
                limits: if kind == "ReplicaSet" { None } else { limits(object.0) },
                deletes_files: has_flag(object.0, VolumeData::DELETES_FILES),
                requires: required_by_pods(object, kind),
                asks: asked_by_pods(object),
            })
        }
        ("", "ReplicationController") => {
            object.0.get("status")?;
            Fact::Workload(WorkloadFacts {
                wanted: object.number(&["spec", "replicas"]),
                ready: object.number(&["status", "readyReplicas"]).unwrap_or(0),
                selector: object.equal_labels(&["spec", "selector"]),
                requires: required_by_pods(object, kind),
                asks: asked_by_pods(object),
                ..WorkloadFacts::default()
            })
        }
        ("apps", "DaemonSet") => {
            object.0.get("status")?;
            let ready = object.number(&["status", "numberReady"]).unwrap_or(0);
            let wanted = object.number(&["status", "desiredNumberScheduled"]);
            let selector = selector(at(object.0, &["spec", "selector"]));
            let (limits, requires) = (limits(object.0), required_by_pods(object, kind));
            let deletes_files = has_flag(object.0, VolumeData::DELETES_FILES);
            let misscheduled = object.number(&["status", "numberMisscheduled"]).is_some_and(|number| number > 0);
            let (unattended, asks) = (object.is_unattended(&WRITTEN), asked_by_pods(object));
            let default = WorkloadFacts { misscheduled, unattended, asks, ..WorkloadFacts::default() };
            Fact::Workload(WorkloadFacts { wanted, ready, selector, limits, requires, deletes_files, ..default })
        }
        ("batch", "CronJob") => Fact::Workload(WorkloadFacts {
            ready: i64::try_from(list(at(object.0, &["status", "active"])).count()).unwrap_or(i64::MAX),
            requires: required_by_pods(Whole(at(object.0, &["spec", "jobTemplate"])?), kind),
            ..WorkloadFacts::default()
        }),
        ("batch", "Job") => {
            let managed_by = object.name(&["spec", "managedBy"]).filter(|name| name != JobFacts::BUILT_IN);
            let over = |condition: &Value| {
                matches!(condition["type"].as_str(), Some("Complete" | "Failed")) && condition["status"] == "True"
            };
            // `ttlafterfinished_controller.go:jobFinishTime`: the first one counts.
            let end = list(at(object.0, &["status", "conditions"])).find(|condition| over(condition));
            let ended = end.and_then(|end| unix_seconds(end["lastTransitionTime"].as_str()?));
            let (finished, ttl) = (end.is_some(), object.number(&["spec", "ttlSecondsAfterFinished"]));
            let uncounted = list(at(object.0, &["status", "uncountedTerminatedPods", "failed"])).count();
            let failed = object.number(&["status", "failed"]).unwrap_or(0).saturating_add_unsigned(uncounted as u64);
            let left = |limit: &str, failed: i64| Some(object.number(&["spec", limit])?.saturating_sub(failed));
            let tries = object.number(&["spec", "backoffLimitPerIndex"]);
            let failures_left = match tries {
                None => left("backoffLimit", failed),
                Some(_) => left("maxFailedIndexes", indexes(&object.text(&["status", "failedIndexes"]))),
            };
            Fact::Job(JobFacts {
                unattended: managed_by.is_none() && object.is_unattended(&["startTime", "conditions"]),
                managed_by,
                failures_left: failures_left.filter(|_| !finished),
                judges_failures: at(object.0, &["spec", "podFailurePolicy"]).is_some()
                    || object.text(&["spec", "podReplacementPolicy"]).as_deref() == Some("Failed")
                    || tries.is_some_and(|tries| tries > 0),
                fails_with_node: fails_with_node(object),
                may_fail_at_once: list(at(object.0, &["spec", "podFailurePolicy", "rules"]))
                    .any(|rule| rule["action"] == "FailJob" && rule.get("onExitCodes").is_some()),
                tries_indexes_once: tries == Some(0),
                seconds_after_finished: ttl,
                expires: ended.zip(ttl).map(|(ended, ttl)| ended.saturating_add(ttl)),
                finished,
                suspended: at(object.0, &["spec", "suspend"]) == Some(&Value::Bool(true)),
                active: object.number(&["status", "active"]).unwrap_or(0),
                selector: selector(at(object.0, &["spec", "selector"])),
            })
        }
        ("coordination.k8s.io", "Lease") => Fact::Lease(LeaseFacts {
            holder: object.name(&["spec", "holderIdentity"]),
            seconds: object.number(&["spec", "leaseDurationSeconds"]),
            renewed: renewed(object),
            seen: None,
        }),
        ("snapshot.storage.k8s.io", "VolumeSnapshot") => {
            let is_ready = at(object.0, &["status", "readyToUse"]) == Some(&Value::Bool(true));
            Fact::VolumeSnapshot(SnapshotFacts {
                content: object.name(&["status", "boundVolumeSnapshotContentName"]),
                taken_of: object.name(&["spec", "source", "persistentVolumeClaimName"]).filter(|_| !is_ready),
                failure: object.name(&["status", "error", "message"]).filter(|_| !is_ready).map(Into::into),
            })
        }
        ("snapshot.storage.k8s.io", "VolumeSnapshotContent") => Fact::VolumeSnapshotContent(SnapshotContentFacts {
            deletion_policy: object.text(&["spec", "deletionPolicy"]),
            snapshot: object
                .text(&["spec", "volumeSnapshotRef", "namespace"])
                .zip(object.text(&["spec", "volumeSnapshotRef", "name"]))
                .map(|(namespace, name)| format!("{namespace}/{name}")),
            driver: object.name(&["spec", "driver"]),
        }),
        ("resource.k8s.io", "ResourceClaim") => {
            let users = || list(at(object.0, &["status", "reservedFor"]));
            let is_pod = |user: &&Value| user["resource"] == "pods";
            let pods = users().filter(is_pod).filter_map(|user| user["name"].as_str().map(str::to_owned)).collect();
            Fact::ResourceClaim(ResourceClaimFacts { others: !users().all(|user| is_pod(&user)), pods })
        }
        ("networking.k8s.io", "ServiceCIDR") => {
            Fact::ServiceCidr(ServiceCidrFacts { ranges: texts(at(object.0, &["spec", "cidrs"])) })
        }
        _ => {
            let finalizers = list(at(object.0, &["metadata", "finalizers"])).filter_map(Value::as_str);
            Fact::Policy(PolicyFacts::read(group, kind, &finalizers.collect::<Vec<_>>(), object.0)?)
        }
    })
}

/// The ServiceAccount of a token Secret; `None` for any other Secret. The metadata in a list of token Secrets is
/// enough.
pub fn token(secret: &Value) -> Option<TokenFacts> {
    if secret.get("type").is_some_and(|kind| kind != TokenFacts::TYPE) {
        return None;
    }
    let annotation = |name: &str| at(secret, &["metadata", "annotations"])?.get(name)?.as_str().map(str::to_owned);
    let account = annotation(ACCOUNT_NAME)?;
    let uid = annotation(ACCOUNT_UID).filter(|uid| !uid.is_empty());
    Some(TokenFacts { account, uid })
}

/// A whole object of any shape.
#[derive(Clone, Copy)]
struct Whole<'a>(&'a Value);

impl Whole<'_> {
    /// When a field was last written, by the API server's clock (`metadata.managedFields`).
    fn written(self, field: &[&str]) -> Option<i64> {
        let sets = |entry: &&Value| entry.get("fieldsV1").is_some_and(|fields| at(fields, field).is_some());
        let entries = list(at(self.0, &["metadata", "managedFields"])).filter(sets);
        entries.filter_map(|entry| unix_seconds(entry.get("time")?.as_str()?)).max()
    }

    fn text(self, path: &[&str]) -> Option<String> {
        at(self.0, path)?.as_str().map(str::to_owned)
    }

    /// A text; an empty one counts as missing.
    fn name(self, path: &[&str]) -> Option<String> {
        self.text(path).filter(|name| !name.is_empty())
    }

    fn number(self, path: &[&str]) -> Option<i64> {
        at(self.0, path)?.as_i64()
    }

    fn annotation(&self, key: &str) -> Option<&str> {
        at(self.0, &["metadata", "annotations"])?.get(key)?.as_str()
    }

    /// The conditions that are true.
    fn conditions(self) -> Vec<Condition> {
        let conditions = list(at(self.0, &["status", "conditions"])).filter(|condition| condition["status"] == "True");
        let read = |condition| Condition {
            kind: Whole(condition).text(&["type"]).unwrap_or_default(),
            reason: Whole(condition).text(&["reason"]).unwrap_or_default(),
            message: Whole(condition).text(&["message"]).unwrap_or_default(),
        };
        conditions.map(read).collect()
    }

    /// Whether it has a status in which its controller has written nothing of this.
    fn is_unattended(self, keys: &[&str]) -> bool {
        let is_written = |status: &Value| keys.iter().any(|key| status.get(*key).is_some_and(|it| *it != 0));
        self.0.get("status").is_some_and(|status| status.is_object() && !is_written(status))
    }

    /// A selector that is a map of labels; `None` if it has none.
    fn equal_labels(self, path: &[&str]) -> Option<LabelSelector> {
        let labels = at(self.0, path).and_then(Value::as_object).into_iter().flatten();
        Some(LabelSelector(equal_to(labels).collect())).filter(|selector| !selector.0.is_empty())
    }

    /// The parameters of a policy's binding, if they are `required`: it refuses without them.
    fn parameters(self, required: bool) -> Option<ParameterReference> {
        let reference = Whole(at(self.0, &["spec", "paramRef"])?);
        let denies = reference.text(&["parameterNotFoundAction"]).is_some_and(|action| action == "Deny");
        let text = |key| reference.text(&[key]).filter(|text| !text.is_empty());
        (denies == required).then(|| ParameterReference { name: text("name"), namespace: text("namespace") })
    }

    /// The Service or URL of a client configuration.
    fn backend(self) -> Option<Backend> {
        let service = self.text(&["service", "namespace"]).zip(self.text(&["service", "name"]));
        let port = self.number(&["service", "port"]).unwrap_or_else(Backend::https);
        let service = service.map(|(namespace, name)| Backend::Service { namespace, name, port });
        service.or_else(|| self.name(&["url"]).map(|url| Backend::of_url(&url)))
    }
}

fn texts(value: Option<&Value>) -> Vec<String> {
    list(value).filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

/// Without a policy, claims are kept (`getPersistentVolumeClaimRetentionPolicy`).
fn claim_templates(set: Whole<'_>) -> ClaimTemplates {
    let templates = list(at(set.0, &["spec", "volumeClaimTemplates"]));
    let policy = set.text(&["spec", "persistentVolumeClaimRetentionPolicy", "whenDeleted"]);
    ClaimTemplates {
        names: templates.filter_map(|template| Whole(template).text(&["metadata", "name"])).collect(),
        deleted: policy.as_deref() == Some("Delete"),
    }
}

fn pod(object: Whole<'_>) -> PodFacts {
    let pod = object.text(&["metadata", "name"]).unwrap_or_default();
    let claims = list(at(object.0, &["spec", "volumes"])).filter_map(|volume| {
        Whole(volume).text(&["persistentVolumeClaim", "claimName"]).or_else(|| {
            volume.get("ephemeral")?;
            Some(format!("{pod}-{}", volume.get("name")?.as_str()?))
        })
    });
    PodFacts {
        node: object.name(&["spec", "nodeName"]),
        phase: object.text(&["status", "phase"]),
        grace: object.number(&["spec", "terminationGracePeriodSeconds"]),
        account: object.name(&["spec", "serviceAccountName"]).filter(|name| name != "default"),
        claims: claims.collect(),
        requires: Required::read_pods(at(object.0, &["spec"])),
        not_ready: not_ready(object).map(Box::new),
        deletion_cost: object
            .annotation(PodFacts::DELETION_COST)
            .and_then(|cost| cost.parse().ok())
            .unwrap_or_default(),
        undisturbed: object.annotation(PodFacts::DO_NOT_DISRUPT) == Some("true"),
    }
}

fn not_ready(pod: Whole<'_>) -> Option<NotReady> {
    let condition = |kind: &str| {
        list(at(pod.0, &["status", "conditions"])).map(Whole).find(|condition| condition.0["type"] == kind)
    };
    let since = |of: Whole<'_>| of.text(&["lastTransitionTime"]).and_then(|time| unix_seconds(&time));
    let ready = condition("Ready");
    let unscheduled = condition("PodScheduled").filter(|condition| condition.0["status"] == "False");
    let decides = ready.or(unscheduled);
    if ready.is_some_and(|ready| ready.0["status"] == "True") {
        return None;
    }
    let not_ready = NotReady { since: decides.and_then(since), ..NotReady::default() };
    if let Some(unscheduled) = unscheduled.filter(|_| ready.is_none()) {
        return Some(not_ready.because(None, unscheduled.text(&["message"])));
    }
    let containers = || list(at(pod.0, &["status", "containerStatuses"])).map(Whole);
    let ended = |container: Whole<'_>| {
        let code = container.number(&["lastState", "terminated", "exitCode"])?;
        Some((container.name(&["lastState", "terminated", "reason"]), code))
    };
    let waits = |container: &Whole<'_>| container.name(&["state", "waiting", "reason"]).is_some();
    let Some(container) = containers().find(waits) else {
        return ready.map(|_| not_ready.because(containers().find_map(ended), None));
    };
    let waiting = container.name(&["state", "waiting", "reason"]);
    let ended = ended(container).filter(|_| waiting.as_deref() == Some(NotReady::CRASHES));
    Some(NotReady { waiting, ..not_ready }.because(ended, container.text(&["state", "waiting", "message"])))
}

/// How many indexes a text such as `1,3-5` names, as the Job controller writes it.
fn indexes(text: &Option<String>) -> i64 {
    let ranges = text.iter().flat_map(|text| text.split(','));
    let numbers = ranges.filter_map(|range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        Some(last.parse::<i64>().ok()?.saturating_sub(first.parse().ok()?).saturating_add(1))
    });
    numbers.fold(0, i64::saturating_add)
}

/// Whether the first rule for a pod that is deleted with its Node makes its Job fail (kubernetes/kubernetes
/// pkg/controller/job/pod_failure_policy.go:matchPodFailurePolicy; the pod garbage collector adds the condition, and
/// such a pod has no exit code).
fn fails_with_node(job: Whole<'_>) -> bool {
    let is_disruption =
        |it: &Value| it["type"] == "DisruptionTarget" && it["status"].as_str().is_none_or(|is| is == "True");
    let mut rules = list(at(job.0, &["spec", "podFailurePolicy", "rules"]));
    let decides = rules.find(|rule| list(rule.get("onPodConditions")).any(is_disruption));
    decides.is_some_and(|rule| rule["action"] == "FailJob")
}

fn kubelet(object: Whole<'_>) -> KubeletReport {
    let is_ready = |condition: &&Value| condition["type"] == "Ready";
    let ready = list(at(object.0, &["status", "conditions"])).find(is_ready);
    let ready = ready.map(|condition| Whole(condition).text(&["status"]).unwrap_or_default());
    let mut taints = list(at(object.0, &["spec", "taints"]));
    match ready.as_deref() {
        Some("True") => KubeletReport::Ready,
        // A Node without the condition isn't ready either (`pkg/util/node/node.go: IsNodeReady`).
        _ if taints.any(|taint| taint["key"] == "node.kubernetes.io/out-of-service") => KubeletReport::OutOfService,
        None => KubeletReport::Unsaid,
        Some("Unknown") => KubeletReport::Silent,
        Some(_) => KubeletReport::NotReady,
    }
}

fn volume(object: Whole<'_>) -> VolumeFacts {
    let claim = object.text(&["spec", "claimRef", "namespace"]).zip(object.text(&["spec", "claimRef", "name"]));
    let heeds_class = object.annotation(VolumeDeleter::PROVISIONED_BY).is_some_and(StorageClassFacts::heeds);
    let class = object.name(&["spec", "storageClassName"]).filter(|_| heeds_class);
    let is_on_host = at(object.0, &["spec", "hostPath", "path"]).is_some() && nodes_of(object).is_empty();
    let phase = object.text(&["status", "phase"]);
    let failure = object.text(&["status", "message"]).filter(|_| phase.as_deref() == Some("Failed"));
    let [driver, handle] = ["driver", "volumeHandle"].map(|key| object.name(&["spec", "csi", key]));
    let csi = driver.as_deref().map(|driver| VolumeDeleter::Provisioner(driver.into()));
    let handle = driver.zip(handle).map(|(driver, handle)| VolumeHandle { driver, handle });
    let kept = handle.as_ref().and_then(VolumeFacts::kept);
    let has = |sources: &[&str]| sources.iter().any(|source| !object.0["spec"][source].is_null());
    VolumeFacts {
        reclaim_policy: object.text(&["spec", "persistentVolumeReclaimPolicy"]).map(Into::into),
        claim: claim.map(|(namespace, name)| format!("{namespace}/{name}").into()),
        claim_uid: object.text(&["spec", "claimRef", "uid"]).filter(|uid| !uid.is_empty()).map(Into::into),
        phase: phase.map(Into::into),
        csi: handle.map(|handle| {
            let secrets = at(object.0, &["spec", "csi"]).map(CsiVolume::secrets_of).unwrap_or_default();
            Box::new(CsiVolume { handle, uses: names_used("", "PersistentVolume", object.0), secrets })
        }),
        failure: failure.map(|said| in_one_line(&said)).filter(|said| !said.is_empty()).map(Into::into),
        deleted_by: VolumeDeleter::of(
            object.annotation(VolumeDeleter::PROVISIONED_BY),
            object.annotation(VolumeDeleter::MIGRATED_TO),
            at(object.0, &["spec", "hostPath", "path"]).and_then(Value::as_str),
            csi.or_else(|| has(&VolumeDeleter::NOT_DELETED).then_some(VolumeDeleter::Nobody))
                .or_else(|| has(&VolumeDeleter::DELETED_ONCE).then_some(VolumeDeleter::FormerPlugin)),
        ),
        attributes_class: object.name(&["spec", "volumeAttributesClassName"]).map(Into::into),
        data: class.map(VolumeData::KeptByClass).or(kept).or(is_on_host.then_some(VolumeData::OnHost)).map(Box::new),
        nodes: nodes_of(object),
    }
}

/// The Nodes that the node affinity of a volume demands.
fn nodes_of(volume: Whole<'_>) -> Box<[String]> {
    let terms = list(at(volume.0, &["spec", "nodeAffinity", "required", "nodeSelectorTerms"]));
    let demands = |term, place: &'static str| {
        let names_node =
            |it: &&Value| it["key"].as_str().is_some_and(VolumeFacts::names_node) && it["operator"] == "In";
        list(at(term, &[place])).filter(names_node).flat_map(|it| texts(it.get("values")))
    };
    terms.flat_map(|term| demands(term, "matchExpressions").chain(demands(term, "matchFields"))).collect()
}

fn definition(object: Whole<'_>) -> DefinitionFacts {
    let conditions = object.conditions();
    let versions = [&["spec", "versions"], &["status", "storedVersions"]].map(|path| list(at(object.0, path)).count());
    let webhook = at(object.0, &["spec", "conversion"]).filter(|conversion| conversion["strategy"] == "Webhook");
    let webhook = webhook.filter(|_| DefinitionFacts::may_convert(versions));
    DefinitionFacts {
        group: object.text(&["spec", "group"]).unwrap_or_default(),
        kind: object.text(&["spec", "names", "kind"]).unwrap_or_default(),
        plural: object.text(&["spec", "names", "plural"]).unwrap_or_default(),
        // A dump may lack the status, an API server gives it to each soon. Some tools write an empty one.
        established: at(object.0, &["status", "conditions"]).is_none()
            || conditions.iter().any(|condition| condition.kind == "Established"),
        conversion: webhook
            .and_then(|conversion| Whole(at(conversion, &["webhook", "clientConfig"])?).backend())
            .map(Box::new),
        unserved: unserved(object).map(Box::new),
        revised: at(object.0, &["metadata", "generation"]).and_then(Value::as_i64).is_some_and(|number| number > 1),
        conditions,
    }
}

/// The storage version of a CRD that serves no version.
fn unserved(definition: Whole<'_>) -> Option<StoredVersion> {
    let is = |version: &Value, key: &str| version[key] == Value::Bool(true);
    let versions = at(definition.0, &["spec", "versions"])?.as_array()?;
    if versions.iter().any(|version| is(version, "served")) {
        return None;
    }
    let place = versions.iter().position(|version| is(version, "storage"))?;
    Some(StoredVersion { place, name: Whole(&versions[place]).name(&["name"])? })
}

fn api_service(object: Whole<'_>) -> ApiServiceFacts {
    let available = list(at(object.0, &["status", "conditions"])).find(|condition| condition["type"] == "Available");
    let said = |pointer| available.and_then(|condition| Whole(condition).text(pointer)).unwrap_or_default();
    ApiServiceFacts {
        group: object.text(&["spec", "group"]).unwrap_or_default(),
        version: object.text(&["spec", "version"]).unwrap_or_default(),
        service: object.0.get("spec").and_then(|spec| Whole(spec).backend()),
        available: match said(&["status"]).as_str() {
            "True" => Some(true),
            "False" => Some(false),
            _ => None,
        },
        since: unix_seconds(&said(&["lastTransitionTime"]))
            .and_then(|since| u32::try_from(since).ok()?.try_into().ok()),
        reason: said(&["reason"]),
        message: said(&["message"]),
    }
}

fn slice(endpoints: &Value) -> SliceFacts {
    let ready: Vec<Whole<'_>> = list(Some(endpoints))
        .filter(|endpoint| at(endpoint, &["conditions", "ready"]) != Some(&Value::Bool(false)))
        .map(Whole)
        .collect();
    let is_pod = |endpoint: &&Whole<'_>| endpoint.text(&["targetRef", "kind"]).as_deref() == Some("Pod");
    let pods = ready.iter().filter(is_pod).filter_map(|endpoint| endpoint.name(&["targetRef", "name"])).collect();
    SliceFacts { ready: ready.len() as u64, pods }
}

fn rule(rule: &Value) -> WebhookRule {
    WebhookRule {
        groups: texts(rule.get("apiGroups")),
        versions: texts(rule.get("apiVersions")),
        resources: texts(rule.get("resources")),
        operations: texts(rule.get("operations")),
        scope: Whole(rule).text(&["scope"]),
        names: texts(rule.get("resourceNames")),
    }
}

fn constraints(object: &Value) -> Constraints {
    Constraints {
        rules: list(object.get("resourceRules")).map(rule).collect(),
        excluded: list(object.get("excludeResourceRules")).map(rule).collect(),
        namespaces: selector(object.get("namespaceSelector")),
        objects: selector(object.get("objectSelector")),
        exact: Whole(object).text(&["matchPolicy"]).is_some_and(|policy| policy == "Exact"),
    }
}

fn admission_policy(object: Whole<'_>) -> AdmissionPolicyFacts {
    let constants = || list(at(object.0, &["spec", "validations"])).map(constant);
    let has = |key| {
        let found = at(object.0, &["spec", key]).filter(|found| !found.is_null());
        found.is_some_and(|found| found.as_array().is_none_or(|all| !all.is_empty()))
    };
    let conditions = conditions_of(object.0.get("spec"));
    // A parameter that isn't found, and an annotation that can't be computed, are failures, too.
    let judges = constants().any(|constant| constant != Some(true))
        || ["mutations", "paramKind", "auditAnnotations"].into_iter().any(has);
    AdmissionPolicyFacts {
        constraints: at(object.0, &["spec", "matchConstraints"]).map(constraints).unwrap_or_default(),
        conditional: conditions == MatchConditions::Unknown,
        validates: judges && conditions != MatchConditions::Never,
        // Without its parameters, a binding may allow everything (`parameterNotFoundAction`).
        refuses_all: !has("paramKind") && constants().any(|constant| constant == Some(false)),
        ignores_failures: object.text(&["spec", "failurePolicy"]).is_some_and(|policy| policy == "Ignore"),
        parameters: object
            .text(&["spec", "paramKind", "apiVersion"])
            .zip(object.text(&["spec", "paramKind", "kind"]))
            .map(Box::new),
        says: says(list(at(object.0, &["spec", "validations"]))),
    }
}

/// What the pods of a template name and can't be created or started without; and what a StatefulSet names. A controller
/// keeps the ServiceAccount `default` in every namespace, and the API server the PriorityClasses of the system.
fn required_by_pods(object: Whole<'_>, kind: &str) -> Vec<Required> {
    let named = |key| object.name(&["spec", "template", "spec", key]);
    let account = named("serviceAccountName").filter(|name| name != "default");
    let class = named("priorityClassName").filter(|name| !name.starts_with("system-"));
    let all = [
        account.map(Required::ServiceAccount),
        class.map(Required::PriorityClass),
        named("runtimeClassName").map(Required::RuntimeClass),
    ];
    // Its Deployment says the rest.
    let started = if kind == "ReplicaSet" {
        Vec::new()
    } else {
        Required::read_pods(at(object.0, &["spec", "template", "spec"]))
    };
    let templates = list(at(object.0, &["spec", "volumeClaimTemplates"]));
    let classes = templates.filter_map(|template| Whole(template).name(&["spec", "storageClassName"]));
    let its_own =
        classes.map(Required::StorageClass).chain(object.name(&["spec", "serviceName"]).map(Required::PodNames));
    all.into_iter().flatten().chain(started).chain(its_own.filter(|_| kind == "StatefulSet")).collect()
}

/// How much the pods of a template ask for.
fn asked_by_pods(object: Whole<'_>) -> Option<Box<Asked>> {
    let containers = |key| list(at(object.0, &["spec", "template", "spec", key]));
    let of = |what: &str| {
        let amount = |container: &Value| {
            let said = ["limits", "requests"].map(|key| thousandths(&container["resources"][key][what]));
            said.into_iter().max().flatten().unwrap_or_default()
        };
        let each = containers("containers").chain(containers("initContainers")).map(amount).max();
        [each.unwrap_or_default(), containers("containers").map(amount).fold(0, i64::saturating_add)]
    };
    let asked = Asked { cpu: of("cpu"), memory: of("memory") };
    (asked != Asked::default()).then(|| Box::new(asked))
}

/// A quantity, in thousandths.
fn thousandths(amount: &Value) -> Option<i64> {
    Some(i64::try_from(quantity(amount.as_str()?)? / 1_000_000).unwrap_or(i64::MAX))
}

/// What the first validation says where it refuses, and how many more there are.
fn says<'a>(mut validations: impl Iterator<Item = &'a Value>) -> Option<Box<str>> {
    const LONGEST: usize = 160;
    let validation = validations.next()?;
    let text = |key| validation.get(key).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    let words: Vec<&str> = text("message").or_else(|| text("expression"))?.split_whitespace().collect();
    let words = words.join(" ");
    let said = match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    };
    let says = match validations.count() {
        0 => format!("\"{said}\""),
        1 => format!("\"{said}\", and has 1 more rule"),
        more => format!("\"{said}\", and has {more} more rules"),
    };
    Some(says.into())
}

/// What `matchConditions` come to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MatchConditions {
    Always,
    Never,
    Unknown,
}

/// One that is false decides, whatever the others are (apiserver `webhook/matchconditions/matcher.go: Match`).
fn conditions_of(spec: Option<&Value>) -> MatchConditions {
    let judged = list(spec.and_then(|spec| spec.get("matchConditions")));
    let all: Vec<Option<bool>> = judged.filter(|judged| exemption(judged).is_none()).map(constant).collect();
    match () {
        () if all.contains(&Some(false)) => MatchConditions::Never,
        () if all.contains(&None) => MatchConditions::Unknown,
        () => MatchConditions::Always,
    }
}

/// The resource that a match condition exempts, if it does nothing else.
fn exemption(judged: &Value) -> Option<String> {
    exempted(&Whole(judged).text(&["expression"])?)
}

/// The value of an `expression` that is a constant.
fn constant(judged: &Value) -> Option<bool> {
    Whole(judged).text(&["expression"])?.trim().parse().ok()
}

fn webhook(object: &Value) -> Webhook {
    let webhook = Whole(object);
    let (namespaces, objects) = (selector(object.get("namespaceSelector")), selector(object.get("objectSelector")));
    let conditions = conditions_of(Some(object));
    let conditional = conditions == MatchConditions::Unknown;
    let rules = list(object.get("rules")).map(rule);
    Webhook {
        name: webhook.text(&["name"]).unwrap_or_default(),
        backend: object.get("clientConfig").and_then(|config| Whole(config).backend()),
        required: webhook.text(&["failurePolicy"]).is_none_or(|policy| policy == "Fail"),
        selective: namespaces.is_some() || objects.is_some() || conditional,
        namespaces,
        objects,
        conditional,
        never: conditions == MatchConditions::Never,
        exempt: list(object.get("matchConditions")).filter_map(exemption).collect(),
        exact: webhook.text(&["matchPolicy"]).is_some_and(|policy| policy == "Exact"),
        rules: rules.collect(),
    }
}
