//! Where a case is built: a namespace, and cluster-scoped objects whose names contain the namespace's.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use super::{
    case::{Case, Piece},
    kubelet::Kubelet,
    pieces::capital,
};
use crate::{
    harness::{Cluster, PATIENCE, owner_reference, uid, wait_until},
    plan::draft::blocking,
};

/// The place of one case.
#[derive(Clone, Debug)]
pub struct Place {
    pub namespace: String,
}

impl Place {
    /// Creates the namespace, and waits for what every namespace gets.
    #[track_caller]
    pub fn prepare(cluster: &Cluster) -> Self {
        let namespace = cluster.namespace("w");
        let path = format!("/api/v1/namespaces/{namespace}");
        cluster.wait_until("the namespace's ServiceAccount", PATIENCE, || {
            cluster.get(&format!("{path}/serviceaccounts/default")).is_some()
                && cluster.get(&format!("{path}/configmaps/kube-root-ca.crt")).is_some()
        });
        Place { namespace }
    }

    /// The name of a cluster-scoped object.
    pub fn global(&self, name: &str) -> String {
        format!("{}.{name}", self.namespace)
    }

    /// Builds a case. Controllers work on it meanwhile.
    #[track_caller]
    pub fn build(&self, cluster: &Cluster, kubelet: &Kubelet, case: &Case) {
        let mut made: BTreeMap<String, Value> = BTreeMap::new();
        for piece in case.pieces.iter().filter(|piece| !refuses(piece)) {
            let references: Vec<Value> = piece.list("owners").map(|owner| reference(&made, owner)).collect();
            for (index, mut object) in self.objects(piece).into_iter().enumerate() {
                if index == 0 && !references.is_empty() {
                    object["metadata"]["ownerReferences"] = json!(references);
                }
                let created = cluster.create(&object);
                if index == 0 {
                    self.finish(cluster, kubelet, piece, &created);
                    made.insert(piece.called(), created);
                }
            }
        }
        for piece in case.pieces.iter().filter(|piece| piece.sort == "deployment") {
            self.roll_out(cluster, piece);
        }
        for piece in case.pieces.iter().filter(|piece| piece.get("before").is_some()) {
            self.scale_down(cluster, piece);
        }
        for piece in &case.pieces {
            if let (Some(policy), Some(object)) = (piece.get("dying"), made.get(&piece.called())) {
                cluster.seen_by_collector(&[uid(object)]);
                cluster.delete(&cluster.path_of(object), Some(policy), None);
            }
        }
    }

    /// Builds what refuses requests. It comes last, because it must not refuse what builds the case.
    #[track_caller]
    pub fn close(&self, cluster: &Cluster, case: &Case) {
        for object in case.pieces.iter().filter(|piece| refuses(piece)).flat_map(|piece| self.objects(piece)) {
            cluster.create(object);
        }
    }

    /// What a piece needs as soon as it is created.
    fn finish(&self, cluster: &Cluster, kubelet: &Kubelet, piece: &Piece, created: &Value) {
        match piece.sort.as_str() {
            "node" => kubelet.start(cluster, created, piece.get("silent").is_some()),
            "kind" => cluster.wait_until("a kind to be served", PATIENCE, || {
                cluster.ask(&Method::GET, &self.instances(&piece.name), None).is_success()
            }),
            _ => {}
        }
    }

    /// The path of the instances of a custom kind of this case.
    fn instances(&self, kind: &str) -> String {
        format!("/apis/{0}.test/v1/namespaces/{0}/{kind}s", self.namespace)
    }

    /// Changes a Deployment's pods again and again, and may pause it.
    fn roll_out(&self, cluster: &Cluster, piece: &Piece) {
        let path = format!("/apis/apps/v1/namespaces/{}/deployments/{}", self.namespace, piece.name);
        let sets = format!("/apis/apps/v1/namespaces/{}/replicasets", self.namespace);
        let made_sets = || {
            let of = |set: &&Value| set["metadata"]["ownerReferences"][0]["name"] == piece.name.as_str();
            cluster.list(&sets).iter().filter(of).count()
        };
        for rollout in 1..=piece.number("rollouts", 0) {
            wait_until("the ReplicaSet of a rollout", PATIENCE, || made_sets() >= rollout);
            let annotations = json!({"rollout": rollout.to_string()});
            cluster.patch(&path, &json!({"spec": {"template": {"metadata": {"annotations": annotations}}}}));
        }
        wait_until("the last ReplicaSet", PATIENCE, || made_sets() > piece.number("rollouts", 0));
        if piece.get("paused").is_some() {
            cluster.patch(&path, &json!({"spec": {"paused": true}}));
        }
    }

    /// Scales a StatefulSet down once all its pods were there.
    fn scale_down(&self, cluster: &Cluster, piece: &Piece) {
        let path = format!("/apis/apps/v1/namespaces/{}/statefulsets/{}", self.namespace, piece.name);
        wait_until("the pods of a StatefulSet", PATIENCE, || {
            let set = cluster.get(&path).unwrap_or_default();
            set["status"]["replicas"] == set["spec"]["replicas"]
        });
        cluster.patch(&path, &json!({"spec": {"replicas": piece.number("replicas", 1)}}));
    }

    /// A target as a user types it; `None` if there is no such object. Besides the pieces, `namespace/own`, and what
    /// controllers make: `pod-of/web`, `replicaset-of/web`, `job-of/nightly`, `slice-of/web`, `revision-of/db`, the
    /// first by name; any other `type/name` stands for itself.
    pub fn target(&self, case: &Case, objects: &[Value], target: &str) -> Option<String> {
        let (sort, name) = target.split_once('/')?;
        let below = |kind: &str| {
            let is_below = |object: &&Value| object["kind"] == kind && self.comes_from(object, objects, name);
            objects.iter().filter(is_below).filter_map(|object| object["metadata"]["name"].as_str()).min()
        };
        Some(match sort {
            "namespace" => format!("namespace/{}", self.namespace),
            "node" => format!("node/{}", self.global(name)),
            "volume" => format!("persistentvolume/{}", self.global(name)),
            "kind" => format!("customresourcedefinition/{name}s.{}.test", self.namespace),
            "instance" => format!("{}.{}.test/{name}", case.piece(target)?.get("of")?, self.namespace),
            "pod-of" => format!("pod/{}", below("Pod")?),
            "replicaset-of" => format!("replicaset/{}", below("ReplicaSet")?),
            "job-of" => format!("job/{}", below("Job")?),
            "slice-of" => format!("endpointslice/{}", below("EndpointSlice")?),
            "revision-of" => format!("controllerrevision/{}", below("ControllerRevision")?),
            _ => target.to_owned(),
        })
    }

    /// Whether a chain of controllers leads from an object to one of this case with this name.
    fn comes_from(&self, object: &Value, objects: &[Value], name: &str) -> bool {
        let mut object = object;
        if object["metadata"]["namespace"] != self.namespace.as_str() {
            return false;
        }
        for _ in 0..4 {
            let owners = object["metadata"]["ownerReferences"].as_array();
            let Some(owner) = owners.into_iter().flatten().find(|owner| owner["controller"] == true) else {
                return false;
            };
            if owner["name"] == name {
                return true;
            }
            let is_owner = |other: &&Value| other["metadata"]["uid"] == owner["uid"];
            let Some(next) = objects.iter().find(is_owner) else { return false };
            object = next;
        }
        false
    }

    /// Whether an object belongs to this case. An IPAddress and a provisioned volume say so themselves.
    pub fn owns(&self, object: &Value) -> bool {
        let metadata = &object["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
        namespace == self.namespace
            || name == self.namespace
            || name.starts_with(&format!("{}.", self.namespace))
            || name.ends_with(&format!(".{}.test", self.namespace))
            || object["of"] == self.namespace.as_str()
    }

    /// The kinds of this case: the collector must watch them before anything is deleted.
    pub fn wait_for_kinds(&self, cluster: &Cluster, case: &Case) {
        for piece in case.pieces.iter().filter(|piece| piece.sort == "instance") {
            let kind = piece.get("of").unwrap_or_default();
            let path = format!("{}/{}", self.instances(kind), piece.name);
            if let Some(mut object) = cluster.get(&path) {
                object["kind"] = json!(capital(kind));
                cluster.watched_by_collector(&object);
            }
        }
    }
}

/// Whether a piece refuses requests.
fn refuses(piece: &Piece) -> bool {
    matches!(&*piece.sort, "policy" | "webhook")
}

/// An owner reference: `deployment/web`, with `!` if it blocks, and `*` if it is the controller.
#[track_caller]
fn reference(made: &BTreeMap<String, Value>, owner: &str) -> Value {
    let called = owner.trim_end_matches(['!', '*']);
    let object = made.get(called).unwrap_or_else(|| panic!("{called} isn't built before what it owns"));
    let marks = &owner[called.len()..];
    let mut reference = if marks.contains('!') { blocking(object) } else { owner_reference(object) };
    if marks.contains('*') {
        reference["controller"] = json!(true);
    }
    reference
}
