//! Reads what decides when the cluster removes an object by itself.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value};

use super::{
    ClaimUse, Expiration, JobEnd, JobHistory, JobTimes, OldTemplate, PodUse, ReclaimFacts, RequestFacts, RevisionFacts,
    Rollout, SetHistory, Template, VolumeDeleter, VolumeUse,
    values::{at, list, unix_seconds},
};
use crate::quantity::quantity;

/// The kinds with such facts, or with facts that decide about others: group and kind.
pub const RECLAIM_KINDS: [(&str, &str); 17] = [
    ("", "ConfigMap"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("", "PersistentVolumeClaim"),
    ("", "Pod"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("apps", "ControllerRevision"),
    ("apps", "DaemonSet"),
    ("apps", "Deployment"),
    ("apps", "ReplicaSet"),
    ("apps", "StatefulSet"),
    ("batch", "CronJob"),
    ("batch", "Job"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("coordination.k8s.io", "Lease"),
    ("", "ReplicationController"),
];

/// The ConfigMap that says since when the API server records uses of ServiceAccounts' tokens.
pub const TRACKING: &str = "kube-apiserver-legacy-service-account-token-tracking";
/// The type of Secrets with bootstrap tokens.
pub const BOOTSTRAP_TOKEN: &str = "bootstrap.kubernetes.io/token";

/// Whether such facts are read from a kind.
pub fn is_reclaim_kind(group: &str, kind: &str) -> bool {
    RECLAIM_KINDS.contains(&(group, kind))
}

/// The top-level keys, other than those of facts, that they are read from.
pub fn holds_reclaim_facts(key: &str) -> Option<&'static str> {
    ["data", "secrets", "revision"].into_iter().find(|known| *known == key)
}

/// Which keys of `data` are read: nothing else of a Secret is kept. `None` means all.
pub fn is_read_data(group: &str, kind: &str) -> Option<fn(usize, &str, &str) -> bool> {
    Some(match (group, kind) {
        ("", "Secret") => |_, _, key| key == "expiration",
        ("", "ConfigMap") => |_, _, key| key == "since",
        _ => return None,
    })
}

/// Reads them from a whole object; `None` if it has none.
pub fn read_reclaim_facts(group: &str, kind: &str, object: &Value) -> Option<ReclaimFacts> {
    let spec = || object.get("spec");
    Some(match (group, kind) {
        ("batch", "Job") => ReclaimFacts::Job(job(spec().map(|_| object)?)),
        ("batch", "CronJob") => ReclaimFacts::CronJob(JobHistory {
            complete: number(object, &["spec", "successfulJobsHistoryLimit"]),
            failed: number(object, &["spec", "failedJobsHistoryLimit"]),
            suspended: at(spec()?, &["suspend"]) == Some(&Value::Bool(true)),
        }),
        ("apps", "Deployment") => ReclaimFacts::Deployment(Rollout {
            template: template(spec()?),
            wanted: number(object, &["spec", "replicas"]).unwrap_or(1),
            replicas: replicas(object, "availableReplicas"),
        }),
        ("apps", "StatefulSet") => ReclaimFacts::StatefulSet(SetHistory {
            template: template(spec()?),
            current: text(object, &["status", "currentRevision"]).filter(|name| !name.is_empty()).map(str::to_owned),
            rolling: text(object, &["spec", "updateStrategy", "type"]) == Some("RollingUpdate"),
            wanted: number(object, &["spec", "replicas"]).unwrap_or(1),
            first: number(object, &["spec", "ordinals", "start"]).unwrap_or(0),
            replicas: replicas(object, "readyReplicas"),
            deletes_scaled: text(object, &["spec", "persistentVolumeClaimRetentionPolicy", "whenScaled"])
                == Some("Delete"),
        }),
        ("apps", "DaemonSet") => ReclaimFacts::DaemonSet(template(spec()?)),
        ("apps", "ReplicaSet") => ReclaimFacts::ReplicaSet(OldTemplate {
            template: canonical(at(spec()?, &["template"])),
            revision: match at(object, &["metadata", "annotations"]).and_then(|all| all.get(OldTemplate::REVISION)) {
                None => Some(0),
                Some(revision) => revision.as_str().and_then(|revision| revision.parse().ok()),
            },
            wanted: number(object, &["spec", "replicas"]).unwrap_or(1),
            replicas: number(object, &["status", "replicas"]).unwrap_or(0),
        }),
        ("apps", "ControllerRevision") => ReclaimFacts::Revision(RevisionFacts {
            revision: number(object, &["revision"])?,
            template: at(object, &["data", "spec", "template"]).map(|template| canonical(Some(template))),
        }),
        ("", "Pod") => ReclaimFacts::Pod(PodUse {
            evicted: text(object, &["status", "phase"]) == Some("Failed")
                && text(object, &["status", "reason"]) == Some("Evicted"),
            secrets: secrets_of(spec()?),
        }),
        ("", "PersistentVolume") => ReclaimFacts::Volume(volume(object, spec()?)),
        ("", "PersistentVolumeClaim") => ReclaimFacts::Claim(ClaimUse { class: class(spec()?) }),
        ("certificates.k8s.io", "CertificateSigningRequest") => ReclaimFacts::Request(request(spec().map(|_| object)?)),
        ("", "Secret") if object.get("type")? == BOOTSTRAP_TOKEN => ReclaimFacts::BootstrapToken(expiration(object)),
        ("", "ServiceAccount") => {
            let names = list(object.get("secrets")).filter_map(|secret| text(secret, &["name"]));
            ReclaimFacts::Account(names.map(str::to_owned).collect())
        }
        ("", "ConfigMap") if text(object, &["metadata", "name"]) == Some(TRACKING) => {
            ReclaimFacts::TokensTrackedSince(text(object, &["data", "since"]).map(str::to_owned))
        }
        _ => return None,
    })
}

fn text<'v>(value: &'v Value, path: &[&str]) -> Option<&'v str> {
    at(value, path)?.as_str()
}

fn number(value: &Value, path: &[&str]) -> Option<i64> {
    at(value, path)?.as_i64()
}

fn time(value: &Value, path: &[&str]) -> Option<i64> {
    text(value, path).and_then(unix_seconds)
}

fn replicas(object: &Value, third: &str) -> [i64; 3] {
    ["replicas", "updatedReplicas", third].map(|key| number(object, &["status", key]).unwrap_or(0))
}

/// `K/pkg/controller/ttlafterfinished/ttlafterfinished_controller.go:jobFinishTime`: the first condition counts.
fn job(object: &Value) -> JobTimes {
    let over = |condition: &&Value| {
        matches!(condition["type"].as_str(), Some("Complete" | "Failed")) && condition["status"] == "True"
    };
    let end = list(at(object, &["status", "conditions"])).find(over).map(|condition| JobEnd {
        complete: condition["type"] == "Complete",
        at: time(condition, &["lastTransitionTime"]),
    });
    JobTimes { started: time(object, &["status", "startTime"]), end }
}

fn template(spec: &Value) -> Template {
    Template { limit: number(spec, &["revisionHistoryLimit"]), template: canonical(spec.get("template")) }
}

/// The label that a ReplicaSet's pod template has, and its Deployment's hasn't.
const HASH: &str = "pod-template-hash";

/// A pod template as a text that is equal for equal templates.
fn canonical(template: Option<&Value>) -> String {
    let mut template = template.cloned().unwrap_or_default();
    if let Some(template) = template.as_object_mut() {
        // A ControllerRevision says with this that the template replaces another.
        template.remove("$patch");
    }
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(HASH);
    }
    sorted(template).to_string()
}

/// The value with sorted keys and without nulls. No deeper than what was parsed, which has a limit.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut pairs: Vec<(String, Value)> = map.into_iter().filter(|(_, value)| !value.is_null()).collect();
            pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
            Value::Object(pairs.into_iter().map(|(key, value)| (key, sorted(value))).collect::<Map<_, _>>())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// The Secrets that a pod names (`K/pkg/api/v1/pod/util.go:VisitPodSecretNames`).
fn secrets_of(spec: &Value) -> Vec<String> {
    let mut names: Vec<&str> = Vec::new();
    names.extend(list(spec.get("imagePullSecrets")).filter_map(|reference| text(reference, &["name"])));
    for container in ["initContainers", "containers", "ephemeralContainers"].iter().flat_map(|key| list(spec.get(*key)))
    {
        let sources = list(container.get("envFrom")).filter_map(|source| text(source, &["secretRef", "name"]));
        let values = list(container.get("env")).filter_map(|value| text(value, &["valueFrom", "secretKeyRef", "name"]));
        names.extend(sources.chain(values));
    }
    const REFERENCES: [&str; 8] =
        ["cephfs", "cinder", "flexVolume", "rbd", "scaleIO", "iscsi", "storageos", "azureFile"];
    for volume in list(spec.get("volumes")) {
        names.extend(REFERENCES.iter().filter_map(|source| text(volume, &[source, "secretRef", "name"])));
        names.extend(text(volume, &["azureFile", "secretName"]));
        names.extend(text(volume, &["secret", "secretName"]));
        names.extend(text(volume, &["csi", "nodePublishSecretRef", "name"]));
        let projected = list(at(volume, &["projected", "sources"]));
        names.extend(projected.filter_map(|source| text(source, &["secret", "name"])));
    }
    names.retain(|name| !name.is_empty());
    names.sort_unstable();
    names.dedup();
    names.into_iter().map(str::to_owned).collect()
}

fn volume(object: &Value, spec: &Value) -> VolumeUse {
    let annotations = at(object, &["metadata", "annotations"]);
    let annotation = |key: &str| annotations.and_then(|all| all.get(key)).and_then(Value::as_str);
    let bytes = text(spec, &["capacity", "storage"]).and_then(quantity);
    VolumeUse {
        provisioned: annotation(VolumeDeleter::PROVISIONED_BY).is_some(),
        migrated: annotation(VolumeDeleter::MIGRATED_TO).is_some_and(|driver| !driver.is_empty()),
        bytes: bytes.and_then(|billionths| u64::try_from(billionths / 1_000_000_000).ok()),
        class: class(spec),
    }
}

fn class(spec: &Value) -> String {
    text(spec, &["storageClassName"]).unwrap_or_default().to_owned()
}

fn request(object: &Value) -> RequestFacts {
    let conditions = list(at(object, &["status", "conditions"])).map(|condition| {
        (text(condition, &["type"]).unwrap_or_default().to_owned(), time(condition, &["lastUpdateTime"]))
    });
    let certificate = text(object, &["status", "certificate"]).filter(|certificate| !certificate.is_empty());
    RequestFacts {
        conditions: conditions.collect(),
        issued: certificate.is_some(),
        expires: certificate.and_then(|certificate| expires(&BASE64_STANDARD.decode(certificate).ok()?)),
    }
}

/// When the first certificate in PEM expires (`K/pkg/controller/certificates/cleaner/cleaner.go:isExpired`).
fn expires(pem: &[u8]) -> Option<i64> {
    let (_, block) = x509_parser::pem::parse_x509_pem(pem).ok()?;
    Some(block.parse_x509().ok()?.validity().not_after.timestamp())
}

/// `k8s.io/cluster-bootstrap/util/secrets/secrets.go:GetExpiration`: an empty text is none, and what is no time has
/// passed.
fn expiration(secret: &Value) -> Expiration {
    let Some(encoded) = text(secret, &["data", "expiration"]) else { return Expiration::Never };
    let decoded = BASE64_STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    match decoded.as_deref() {
        Some("") => Expiration::Never,
        decoded => decoded.and_then(unix_seconds).map_or(Expiration::Unreadable, Expiration::At),
    }
}
