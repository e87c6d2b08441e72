//! The kubelets and the scheduler of a cluster, played: pods get their node, run, end, and are removed.
//!
//! A node that is silent had a kubelet: pods came to it and ran. Then its kubelet was gone.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::RecvTimeoutError,
    },
    thread,
    time::{Duration, Instant},
};

use http::Method;
use kube::core::WatchEvent;
use serde_json::{Value, json};

use super::pieces::{END, MIRROR, NODE};
use crate::harness::{Cluster, owner_reference, uid};

const MERGE: &str = "application/merge-patch+json";
/// How often a Lease is renewed. A node is not ready any more 50 seconds after the last time.
const RENEW: Duration = Duration::from_secs(10);

/// All kubelets, and the scheduler.
#[derive(Clone, Default)]
pub struct Kubelet {
    nodes: Arc<Mutex<BTreeMap<String, Node>>>,
    /// While cases are built, silent nodes have a kubelet, too.
    building: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
}

struct Node {
    uid: String,
    silent: bool,
}

impl Kubelet {
    pub fn new() -> Self {
        let kubelet = Kubelet::default();
        kubelet.building.store(true, Ordering::SeqCst);
        kubelet
    }

    /// Ends the life of the kubelets of silent nodes: their nodes are not ready from now on.
    pub fn fall_silent(&self, cluster: &Cluster) {
        self.building.store(false, Ordering::SeqCst);
        let nodes = self.nodes.lock().unwrap();
        for name in nodes.iter().filter(|(_, node)| node.silent).map(|(name, _)| name) {
            post_condition(cluster, name, "Unknown");
        }
    }

    /// Ends all.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    /// Registers a node: it is ready, and has a Lease.
    pub fn start(&self, cluster: &Cluster, node: &Value, silent: bool) {
        let name = node["metadata"]["name"].as_str().unwrap_or_default();
        post_condition(cluster, name, "True");
        cluster.create(object!("coordination.k8s.io/v1 Lease", {"name": name, "namespace": "kube-node-lease",
            "ownerReferences": [owner_reference(node)],
            "spec": {"holderIdentity": name, "leaseDurationSeconds": 40, "renewTime": now()}}));
        self.nodes.lock().unwrap().insert(name.to_owned(), Node { uid: uid(node).to_owned(), silent });
    }

    /// Plays until it is stopped, on the caller's thread.
    pub fn play(&self, cluster: &Cluster) {
        let mut renewed = Instant::now();
        while !self.stopped.load(Ordering::SeqCst) {
            // An initial list comes as events, too.
            let events = cluster.follow("/api/v1/pods?watch=true&timeoutSeconds=600");
            loop {
                if self.stopped.load(Ordering::SeqCst) {
                    return;
                }
                if renewed.elapsed() > RENEW {
                    renewed = Instant::now();
                    self.renew(cluster);
                }
                match events.recv_timeout(Duration::from_millis(200)) {
                    Ok(WatchEvent::Added(pod) | WatchEvent::Modified(pod)) => self.see(cluster, &pod),
                    Ok(WatchEvent::Deleted(pod)) => self.mirror_again(cluster, &pod),
                    Ok(_) | Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// Whether somebody acts for the pods of this node. A kubelet whose Node was deleted is gone with its machine.
    fn lives(&self, node: &str) -> bool {
        let building = self.building.load(Ordering::SeqCst);
        self.nodes.lock().unwrap().get(node).is_some_and(|node| building || !node.silent)
    }

    fn renew(&self, cluster: &Cluster) {
        let names: Vec<String> = self.nodes.lock().unwrap().keys().cloned().collect();
        for name in names.into_iter().filter(|name| self.lives(name)) {
            let same = |node: &Value| self.nodes.lock().unwrap().get(&name).is_some_and(|known| uid(node) == known.uid);
            if !cluster.get(&format!("/api/v1/nodes/{name}")).is_some_and(|node| same(&node)) {
                self.nodes.lock().unwrap().remove(&name);
                continue;
            }
            let path = format!("/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{name}");
            cluster.ask(&Method::PATCH, &path, Some((MERGE, &json!({"spec": {"renewTime": now()}}))));
        }
    }

    /// A kubelet makes the mirror of a static pod again, if its Node is still there.
    fn mirror_again(&self, cluster: &Cluster, pod: &Value) {
        let (metadata, node) = (&pod["metadata"], pod["spec"]["nodeName"].as_str().unwrap_or_default());
        let is_mirror = metadata["annotations"][MIRROR].is_string();
        if is_mirror && self.lives(node) && cluster.get(&format!("/api/v1/nodes/{node}")).is_some() {
            let metadata = json!({"name": metadata["name"], "namespace": metadata["namespace"],
                "annotations": metadata["annotations"], "ownerReferences": metadata["ownerReferences"],
                "labels": metadata["labels"]});
            let again = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]});
            let path = format!("/api/v1/namespaces/{}/pods", metadata["namespace"].as_str().unwrap_or_default());
            cluster.ask(&Method::POST, &path, Some(("application/json", &again)));
        }
    }

    /// One look at one pod. Whatever fails has changed meanwhile, and is seen again.
    fn see(&self, cluster: &Cluster, pod: &Value) {
        let metadata = &pod["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let path = format!("/api/v1/namespaces/{}/pods/{}", text(&metadata["namespace"]), text(&metadata["name"]));
        let terminating = metadata["deletionTimestamp"].is_string();
        let end = metadata["annotations"][END].as_str().unwrap_or("run");
        let node = text(&pod["spec"]["nodeName"]);
        if node.is_empty() {
            if let Some(node) = wanted_node(pod).filter(|node| !terminating && self.lives(node)) {
                let target = json!({"apiVersion": "v1", "kind": "Node", "name": node});
                let binding = object!("v1 Binding", {"name": metadata["name"], "target": target});
                cluster.ask(&Method::POST, &format!("{path}/binding"), Some(("application/json", &binding)));
            }
            return;
        }
        if !self.lives(&node) || cluster.get(&format!("/api/v1/nodes/{node}")).is_none() {
            return;
        }
        let phase = text(&pod["status"]["phase"]);
        let over = phase == "Succeeded" || phase == "Failed";
        if terminating {
            if !over {
                report(cluster, &path, if end == "succeed" { "Succeeded" } else { "Failed" });
            }
            if metadata["deletionGracePeriodSeconds"].as_i64().unwrap_or(0) > 0 {
                let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0,
                    "preconditions": {"uid": metadata["uid"]}});
                cluster.ask(&Method::DELETE, &path, Some(("application/json", &options)));
            }
        } else if phase == "Pending" && end != "wait" {
            match end {
                "succeed" => report(cluster, &path, "Succeeded"),
                "fail" => report(cluster, &path, "Failed"),
                _ => report(cluster, &path, "Running"),
            }
        }
    }
}

/// The node on which a pod is to run.
fn wanted_node(pod: &Value) -> Option<String> {
    let of_daemon_set = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/\
        nodeSelectorTerms/0/matchFields/0/values/0";
    let wanted = pod["metadata"]["annotations"][NODE].as_str();
    wanted.or_else(|| pod.pointer(of_daemon_set).and_then(Value::as_str)).map(str::to_owned)
}

/// Reports a pod's phase.
fn report(cluster: &Cluster, path: &str, phase: &str) {
    let ready = if phase == "Running" { "True" } else { "False" };
    let conditions: Vec<Value> = ["Ready", "ContainersReady", "Initialized", "PodScheduled"]
        .map(|name| json!({"type": name, "status": if name.contains("Ready") { ready } else { "True" }}))
        .into();
    let status = json!({"status": {"phase": phase, "podIP": "10.244.0.9", "podIPs": [{"ip": "10.244.0.9"}],
        "hostIP": "192.0.2.1", "hostIPs": [{"ip": "192.0.2.1"}], "startTime": seconds(), "conditions": conditions}});
    cluster.ask(&Method::PATCH, &format!("{path}/status"), Some((MERGE, &status)));
}

fn post_condition(cluster: &Cluster, node: &str, ready: &str) {
    let times = json!({"type": "Ready", "status": ready, "reason": "Played", "lastHeartbeatTime": seconds(),
        "lastTransitionTime": seconds()});
    let status = json!({"status": {"conditions": [times], "capacity": {"cpu": "8", "memory": "8Gi", "pods": "110"},
        "allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}});
    cluster.ask(&Method::PATCH, &format!("/api/v1/nodes/{node}/status"), Some((MERGE, &status)));
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
}

fn seconds() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
