//! What a seed makes of each sort.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    bench::ACCOUNT_TOKEN,
    make::{Making, controlled_by, template, time},
};

const DAY: i64 = 86_400;
/// The clean-up period of tokens that the controller is told.
pub const PERIOD_HOURS: i64 = 72;
const SYSTEM: &str = "kube-system";

/// All objects of a seed.
pub fn objects(seed: u64, now: i64) -> Making {
    let mut making = Making::new(seed, now);
    for _ in 0..making.number(1..=3) {
        job(&mut making, None);
    }
    cron_job(&mut making);
    deployment(&mut making);
    set(&mut making, "StatefulSet");
    set(&mut making, "DaemonSet");
    pods(&mut making);
    for _ in 0..making.number(1..=3) {
        volume(&mut making);
    }
    claim(&mut making);
    for _ in 0..making.number(1..=3) {
        request(&mut making);
    }
    bootstrap_token(&mut making);
    account_token(&mut making);
    leases(&mut making);
    making
}

/// A Job that runs, has ended, or ends its time soon.
fn job(making: &mut Making, cron_job: Option<&Value>) {
    let name = making.name("job");
    let how = making.one_of(&["Complete", "Complete", "Failed", ""]);
    let ended = making.past();
    let started = ended - making.number(0..=100);
    let ttl = match making.number(0..=4) {
        0 | 1 => None,
        // It ends while the test looks.
        2 => Some(making.now - ended + making.number(15..=60)),
        3 => Some(making.number(0..=7) * DAY),
        _ => Some(0),
    };
    let mut object = object!("batch/v1 Job", {"name": name,
        "spec": {"selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": name}},
            "template": template(&json!({"batch.kubernetes.io/controller-uid": name}), 1), "manualSelector": true,
            "suspend": how.is_empty()}, "status": {}});
    object["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
    if let Some(cron_job) = cron_job {
        object["metadata"]["ownerReferences"] = controlled_by(cron_job);
    }
    if let Some(ttl) = ttl {
        object["spec"]["ttlSecondsAfterFinished"] = json!(ttl);
    }
    if making.some(9) {
        object["status"]["startTime"] = time(started);
    }
    if !how.is_empty() {
        let before = if how == "Complete" { "SuccessCriteriaMet" } else { "FailureTarget" };
        let condition = |kind: &str| {
            json!({"type": kind, "status": "True", "lastTransitionTime": time(ended),
            "lastProbeTime": time(ended)})
        };
        object["status"]["conditions"] = json!([condition(before), condition(how)]);
        if how == "Complete" {
            object["status"]["completionTime"] = time(ended);
        }
    }
    let job = making.own(object);
    if !how.is_empty() && making.some(6) {
        for _ in 0..making.number(1..=2) {
            let mut pod = pod(making, if how == "Complete" { "Succeeded" } else { "Failed" }, None);
            pod["metadata"]["labels"] = json!({"batch.kubernetes.io/controller-uid": job["metadata"]["name"]});
            pod["metadata"]["ownerReferences"] = controlled_by(&job);
            if making.some(3) {
                pod["metadata"]["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]);
            }
            making.own(pod);
        }
    }
}

fn cron_job(making: &mut Making) {
    let name = making.name("cron");
    // Months away, so that no run begins meanwhile.
    let month = jiff::Timestamp::from_second(making.now).expect("a time").to_zoned(jiff::tz::TimeZone::UTC).month();
    let schedule = format!("0 0 1 {} *", (i64::from(month) + 5) % 12 + 1);
    let object = object!("batch/v1 CronJob", {"name": name, "spec": {"schedule": schedule, "suspend": making.some(4),
            "successfulJobsHistoryLimit": making.number(0..=2), "failedJobsHistoryLimit": making.number(0..=1),
            "jobTemplate": {"spec": {"template": template(&json!({"app": name}), 1)}}}});
    let mut object = object;
    object["spec"]["jobTemplate"]["spec"]["template"]["spec"]["restartPolicy"] = json!("Never");
    let cron_job = making.own(object);
    for _ in 0..making.number(0..=5) {
        job(making, Some(&cron_job));
    }
}

fn deployment(making: &mut Making) {
    let name = making.name("web");
    let labels = json!({"app": name});
    let old = making.number(0..=4);
    let has_new = making.some(8);
    let paused = making.some(2);
    let wanted = making.one_of(&[0, 0, 0, 1]);
    let limit = making.one_of(&[0, 0, 1, 2, 10, i64::from(i32::MAX)]);
    let object = object!("apps/v1 Deployment", {"name": name, "annotations": {"deployment.kubernetes.io/revision": "9"},
        "spec": {"replicas": wanted, "revisionHistoryLimit": limit, "selector": {"matchLabels": labels},
            "paused": paused, "template": template(&labels, 9), "strategy": {"type": making.one_of(&["RollingUpdate",
            "Recreate"])}}, "status": {}});
    let deployment = making.own(object);
    let mut versions: Vec<i64> = (1..=old).collect();
    versions.extend(has_new.then_some(9));
    for version in versions {
        let hash = format!("h{version}");
        let own = json!({"app": name, "pod-template-hash": hash});
        let replicas = if version == 9 && !paused { wanted } else { 0 };
        let mut set = object!("apps/v1 ReplicaSet", {"name": format!("{name}-{hash}"), "labels": own, "generation": 1,
            "annotations": {"deployment.kubernetes.io/revision": version.to_string(),
                "deployment.kubernetes.io/desired-replicas": wanted.to_string()},
            "ownerReferences": controlled_by(&deployment),
            "spec": {"replicas": replicas, "selector": {"matchLabels": own}, "template": template(&own, version)},
            "status": {"replicas": 0, "observedGeneration": 1}});
        // Some are adopted, and some have lost their number.
        if making.some(1) {
            set["metadata"]["ownerReferences"] = json!([]);
        }
        if making.some(1) {
            set["metadata"]["annotations"]["deployment.kubernetes.io/revision"] =
                json!(making.number(1..=4).to_string());
        }
        making.own(set);
    }
}

/// A StatefulSet or DaemonSet. Its revisions are made of the template as the API server completes it: see
/// [`super::bench`].
fn set(making: &mut Making, kind: &str) {
    let name = making.name(if kind == "StatefulSet" { "db" } else { "agent" });
    let labels = json!({"app": name});
    let mut object = json!({"apiVersion": "apps/v1", "kind": kind,
        "metadata": {"name": name, "annotations": {"test/revisions": making.number(0..=5).to_string(),
            "test/copies": if kind == "DaemonSet" && making.some(3) { "2" } else { "1" }}},
        "spec": {"revisionHistoryLimit": making.one_of(&[0, 0, 1, 2, 10]), "selector": {"matchLabels": labels},
            "template": template(&labels, 9)},
        "status": {}});
    if kind == "StatefulSet" {
        object["spec"]["replicas"] = json!(0);
        object["spec"]["serviceName"] = json!(name);
        object["spec"]["updateStrategy"] = json!({"type": making.one_of(&["RollingUpdate", "OnDelete"])});
        let scaled = making.one_of(&["Delete", "Retain"]);
        object["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenDeleted": "Retain", "whenScaled": scaled});
        object["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": claim_spec()}]);
        if making.some(5) {
            let current = format!("{name}-v{}", making.number(1..=5));
            object["status"]["currentRevision"] = json!(current);
        }
    } else {
        object["spec"]["template"]["spec"]["nodeSelector"] = json!({"nowhere": "yes"});
    }
    making.own(object);
    if kind == "StatefulSet" {
        for ordinal in 0..making.number(0..=2) {
            let claim = object!("v1 PersistentVolumeClaim", {"name": format!("data-{name}-{ordinal}"), "labels": labels,
                "finalizers": ["kubernetes.io/pvc-protection"], "spec": claim_spec(), "status": {"phase": "Pending"}});
            making.own(claim);
        }
    }
}

fn claim_spec() -> Value {
    json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none",
        "volumeMode": "Filesystem"})
}

fn pod(making: &mut Making, phase: &str, node: Option<&str>) -> Value {
    let name = making.name("pod");
    let mut pod = object!("v1 Pod", {"name": name,
        "spec": {"containers": [{"name": "app", "image": "registry.example.com/app"}]}, "status": {"phase": phase}});
    if let Some(node) = node {
        pod["spec"]["nodeName"] = json!(node);
    }
    if phase == "Failed" && making.some(3) {
        pod["status"]["reason"] = json!("Evicted");
    }
    pod
}

fn terminating(making: &Making, object: &mut Value) {
    object["metadata"]["deletionTimestamp"] = time(making.now - 100);
    object["metadata"]["deletionGracePeriodSeconds"] = json!(30);
}

fn pods(making: &mut Making) {
    let node = |making: &mut Making, sort: &str, ready: &str, taints: Value| -> String {
        let name = making.name(sort);
        let node = object!("v1 Node", {"name": name, "spec": {"taints": taints},
            "status": {"conditions": [{"type": "Ready", "status": ready}]}});
        making.add("", node);
        name
    };
    let well = node(making, "node", "True", json!([]));
    let taint = json!([{"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}]);
    let out = node(making, "out", "Unknown", taint.clone());
    let tainted = node(making, "tainted", "True", taint);
    for _ in 0..making.number(2..=6) {
        let phase = making.one_of(&["Succeeded", "Failed", "Failed", "Running", "Pending"]);
        let on = making.number(0..=6);
        let node = match on {
            0 => None,
            1 => Some("no-such-node"),
            2 => Some(out.as_str()),
            3 => Some(tainted.as_str()),
            _ => Some(well.as_str()),
        };
        let mut pod = pod(making, phase, node);
        if making.some(3) {
            terminating(making, &mut pod);
            if node.is_none() {
                // The API server removes such a pod at once unless something holds it.
                pod["metadata"]["finalizers"] = json!(["batch.kubernetes.io/job-tracking"]);
            }
        }
        making.own(pod);
    }
}

fn volume(making: &mut Making) {
    let name = making.name("pv");
    let claim = making.name("claim");
    let namespace = making.namespace.clone();
    let policy = making.one_of(&["Delete", "Delete", "Retain", "Recycle"]);
    let phase = making.one_of(&["Released", "Released", "Failed", "Bound", "Available"]);
    let source = match making.number(0..=4) {
        0 | 1 => json!({"hostPath": {"path": format!("/tmp/kubectl-gc-test-{name}")}}),
        2 => json!({"hostPath": {"path": format!("/no-such-place/{name}")}}),
        3 => json!({"csi": {"driver": "disks.example.com", "volumeHandle": name}}),
        _ => json!({"nfs": {"server": "nfs.example.com", "path": "/"}}),
    };
    let mut object = object!("v1 PersistentVolume", {"name": name, "finalizers": ["kubernetes.io/pv-protection"],
        "spec": {"capacity": {"storage": "5Gi"}, "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
            "persistentVolumeReclaimPolicy": policy, "storageClassName": "none"}, "status": {"phase": phase}});
    for (key, value) in source.as_object().expect("a source") {
        object["spec"][key] = value.clone();
    }
    if phase != "Available" {
        let uid = format!("00000000-0000-4000-8000-{:012x}", making.seed);
        object["spec"]["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "namespace": namespace, "name": claim, "uid": uid});
    }
    if phase != "Available" && (phase == "Bound" || making.some(2)) {
        let mut bound = object!("v1 PersistentVolumeClaim", {"name": claim,
            "finalizers": ["kubernetes.io/pvc-protection"], "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            "spec": claim_spec(), "status": {"phase": "Bound"}});
        bound["spec"]["volumeName"] = json!(name);
        let bound = making.own(bound);
        // Else another claim has the name.
        if phase == "Bound" {
            object["spec"]["claimRef"]["uid"] = bound["metadata"]["uid"].clone();
        }
    }
    if making.some(1) && phase != "Available" {
        terminating(making, &mut object);
        object["metadata"].as_object_mut().expect("metadata").remove("deletionGracePeriodSeconds");
    }
    making.add("", object);
}

/// A claim that is deleted, and perhaps used.
fn claim(making: &mut Making) {
    let name = making.name("used");
    let mut claim = object!("v1 PersistentVolumeClaim", {"name": name, "finalizers": ["kubernetes.io/pvc-protection"],
        "spec": claim_spec(), "status": {"phase": "Pending"}});
    if making.some(7) {
        claim["metadata"]["deletionTimestamp"] = time(making.now - 100);
        claim["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    }
    making.own(claim);
    for _ in 0..making.number(0..=2) {
        let node = making.one_of(&[None, Some("no-such-node")]);
        let phase = making.one_of(&["Running", "Pending", "Succeeded"]);
        let mut pod = pod(making, phase, node);
        pod["spec"]["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": name}}]);
        making.own(pod);
    }
}

fn request(making: &mut Making) {
    let name = making.name("csr");
    let updated = making.past();
    let mut object = object!("certificates.k8s.io/v1 CertificateSigningRequest", {"name": name,
        "spec": {"request": BASE64_STANDARD.encode("none"), "signerName": "example.com/none", "username": "test",
            "usages": ["digital signature"]}, "status": {}});
    let kinds: &[&[&str]] =
        &[&[], &[], &["Approved"], &["Approved"], &["Denied"], &["Failed"], &["Approved", "Failed"]];
    let kinds = making.one_of(kinds);
    if !kinds.is_empty() {
        let conditions = kinds.iter().map(|kind| {
            json!({"type": kind, "status": "True", "reason": "Test",
            "lastUpdateTime": time(updated), "lastTransitionTime": time(updated)})
        });
        object["status"]["conditions"] = conditions.collect();
    }
    if kinds == ["Approved"] && making.some(6) {
        let certificate = match making.number(0..=3) {
            0 => "not a certificate".to_owned(),
            1 => certificate(making.now - 60),
            _ => certificate(making.now + DAY),
        };
        object["status"]["certificate"] = json!(BASE64_STANDARD.encode(certificate));
    }
    making.add("", object);
}

/// A certificate in PEM that expires then.
fn certificate(expires: i64) -> String {
    let mut parameters = rcgen::CertificateParams::new(vec!["old.example.com".to_owned()]).expect("a name");
    parameters.not_before = rcgen::date_time_ymd(2020, 1, 1);
    let moment = jiff::Timestamp::from_second(expires).expect("a time").to_zoned(jiff::tz::TimeZone::UTC);
    let day =
        rcgen::date_time_ymd(i32::from(moment.year()), moment.month().cast_unsigned(), moment.day().cast_unsigned());
    let of_day = i64::from(moment.hour()) * 3_600 + i64::from(moment.minute()) * 60 + i64::from(moment.second());
    parameters.not_after = day + std::time::Duration::from_secs(of_day.cast_unsigned());
    let key = rcgen::KeyPair::generate().expect("a key");
    parameters.self_signed(&key).expect("a certificate").pem()
}

fn bootstrap_token(making: &mut Making) {
    let name = making.name("bootstrap-token");
    let expiration = match making.number(0..=4) {
        0 => None,
        1 => Some(String::new()),
        2 => Some("never".to_owned()),
        3 => Some(jiff::Timestamp::from_second(making.past()).expect("a time").to_string()),
        _ => Some(jiff::Timestamp::from_second(making.now + making.number(20..=90)).expect("a time").to_string()),
    };
    let mut object = object!("v1 Secret", {"name": name, "type": "bootstrap.kubernetes.io/token",
        "data": {"token-id": BASE64_STANDARD.encode("abcdef")}});
    if let Some(expiration) = expiration {
        object["data"]["expiration"] = json!(BASE64_STANDARD.encode(expiration));
    }
    let namespace = if making.some(9) { SYSTEM.to_owned() } else { making.namespace.clone() };
    making.add(&namespace, object);
}

fn account_token(making: &mut Making) {
    let (account, secret) = (making.name("robot"), making.name("token"));
    let mut object = object!("v1 ServiceAccount", {"name": account});
    if making.some(8) {
        object["secrets"] = json!([{"name": secret}]);
    }
    let robot = making.own(object);
    let date = |seconds: i64| json!(&jiff::Timestamp::from_second(seconds).expect("a time").to_string()[..10]);
    let mut object = object!("v1 Secret", {"name": secret, "labels": {},
        "annotations": {"kubernetes.io/service-account.name": account,
            "kubernetes.io/service-account.uid": robot["metadata"]["uid"]}, "type": ACCOUNT_TOKEN,
        "data": {"token": BASE64_STANDARD.encode("t")}});
    // Dates on both sides of the period.
    for label in ["kubernetes.io/legacy-token-last-used", "kubernetes.io/legacy-token-invalid-since"] {
        match making.number(0..=5) {
            0 => {}
            1 => object["metadata"]["labels"][label] = json!("yesterday"),
            _ => object["metadata"]["labels"][label] = date(making.now - DAY * making.number(0..=8)),
        }
    }
    object["metadata"]["creationTimestamp"] = time(making.now - DAY * making.number(0..=9) - 600);
    making.own(object);
    if making.some(2) {
        let mut pod = pod(making, "Pending", None);
        pod["spec"]["volumes"] = json!([{"name": "token", "secret": {"secretName": secret}}]);
        making.own(pod);
    }
}

fn leases(making: &mut Making) {
    // Of a Node that is there, of one that is gone, and without an owner.
    let there = making.objects.iter().find(|object| object["kind"] == "Node").cloned();
    let lease = |name: &str, owners: Value| {
        object!("coordination.k8s.io/v1 Lease", {"name": name, "ownerReferences": owners,
            "spec": {"holderIdentity": name}})
    };
    if let Some(node) = there {
        let name = node["metadata"]["name"].as_str().expect("a name");
        let reference = json!([{"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}]);
        making.add("kube-node-lease", lease(name, reference));
    }
    let name = making.name("gone");
    let uid = format!("00000001-0000-4000-8000-{:012x}", making.seed);
    let reference = json!([{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}]);
    let owners = if making.some(7) { reference } else { json!([]) };
    making.add("kube-node-lease", lease(&name, owners));
    // Of an API server that is gone, or that was there a moment ago.
    let name = making.name("apiserver");
    let renewed = making.past();
    let seconds = making.one_of(&[1, 3_600]);
    let mut of_server = lease(&name, json!([]));
    of_server["metadata"]["labels"] = json!({"apiserver.kubernetes.io/identity":
        making.one_of(&["kube-apiserver", "kube-apiserver", "another"])});
    if making.some(8) {
        of_server["spec"]["leaseDurationSeconds"] = json!(seconds);
        of_server["spec"]["renewTime"] =
            time(renewed).as_str().map(|time| json!(time.replace('Z', ".000000Z"))).unwrap();
    }
    making.add(SYSTEM, of_server);
}
