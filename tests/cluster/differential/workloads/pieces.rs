//! The objects that a piece of a case is made of.

use serde_json::{Map, Value, json};

use super::{case::Piece, place::Place};
use crate::harness::definition_of;

/// The finalizer of a controller that never runs.
const HOLD: &str = "acme.io/hold";
/// How the played kubelet ends a pod: `run` (the default), `succeed`, `fail`, `wait`.
pub const END: &str = "play/end";
/// Marks the mirror of a static pod.
pub const MIRROR: &str = "kubernetes.io/config.mirror";
/// The node on which the played scheduler puts a pod; without it, only pods of DaemonSets get one.
pub const NODE: &str = "play/node";

impl Place {
    /// What a piece creates, without owner references.
    pub(super) fn objects(&self, piece: &Piece) -> Vec<Value> {
        let Piece { sort, name, .. } = piece;
        let yes = |key: &str| piece.get(key).is_some();
        let labels = json!({"app": piece.get("app").unwrap_or(name)});
        let selector = json!({"matchLabels": {"app": piece.get("app").unwrap_or(name)}});
        let replicas = piece.number("before", piece.number("replicas", 1));
        match sort.as_str() {
            "node" => self.node(piece),
            "volume" => vec![self.volume(piece)],
            "kind" => vec![self.definition(piece)],
            "deployment" => {
                // Its surge would need a node; without one, a rollout must not wait for pods that are ready.
                let strategy = json!({"rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 1}});
                let spec = json!({"replicas": replicas, "selector": selector, "template": self.template(piece),
                    "strategy": strategy});
                vec![self.named("apps/v1", "Deployment", piece, json!({"spec": spec}))]
            }
            "replicaset" => {
                let spec = json!({"replicas": replicas, "selector": selector, "template": self.template(piece)});
                vec![self.named("apps/v1", "ReplicaSet", piece, json!({"spec": spec}))]
            }
            "replicationcontroller" => {
                let spec = json!({"replicas": replicas, "selector": labels, "template": self.template(piece)});
                vec![self.named("v1", "ReplicationController", piece, json!({"spec": spec}))]
            }
            "statefulset" => {
                let mut spec = json!({"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel",
                    "selector": selector, "template": self.template(piece)});
                if let Some((deleted, scaled)) = piece.get("retention").and_then(|both| both.split_once('/')) {
                    spec["persistentVolumeClaimRetentionPolicy"] =
                        json!({"whenDeleted": deleted, "whenScaled": scaled});
                }
                if yes("claims") {
                    spec["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}, "spec": claim_spec(None)}]);
                }
                vec![self.named("apps/v1", "StatefulSet", piece, json!({"spec": spec}))]
            }
            "daemonset" => {
                let mut template = self.template(piece);
                template["spec"]["nodeSelector"] = json!({"case": self.namespace});
                let spec = json!({"selector": selector, "template": template});
                vec![self.named("apps/v1", "DaemonSet", piece, json!({"spec": spec}))]
            }
            "job" => vec![self.named("batch/v1", "Job", piece, json!({"spec": self.job_spec(piece)}))],
            "cronjob" => {
                let spec = json!({"schedule": "0 0 1 1 *", "suspend": yes("suspended"),
                    "jobTemplate": {"spec": self.job_spec(piece)}});
                vec![self.named("batch/v1", "CronJob", piece, json!({"spec": spec}))]
            }
            "pod" => {
                let template = self.template(piece);
                let mut pod = self.named("v1", "Pod", piece, json!({"spec": template["spec"]}));
                pod["metadata"]["labels"] = labels;
                pod["metadata"]["annotations"] = template["metadata"]["annotations"].clone();
                if let Some(node) = piece.get("mirror") {
                    pod["metadata"]["annotations"][MIRROR] = json!("hash");
                    pod["metadata"]["annotations"]["kubernetes.io/config.source"] = json!("file");
                    pod["spec"]["nodeName"] = json!(self.global(node));
                }
                vec![pod]
            }
            "service" => vec![self.named("v1", "Service", piece, json!({"spec": service_spec(piece)}))],
            "endpoints" => {
                let subsets = json!([{"addresses": [{"ip": "192.0.2.7"}], "ports": [{"port": 80}]}]);
                vec![self.named("v1", "Endpoints", piece, json!({"subsets": subsets}))]
            }
            "endpointslice" => {
                let mut slice = self.named(
                    "discovery.k8s.io/v1",
                    "EndpointSlice",
                    piece,
                    json!({"addressType": "IPv4",
                    "endpoints": [{"addresses": ["192.0.2.8"]}], "ports": [{"port": 80}]}),
                );
                if let Some(service) = piece.get("service") {
                    slice["metadata"]["labels"] = json!({"kubernetes.io/service-name": service});
                }
                vec![slice]
            }
            "serviceaccount" => {
                let tokens = (0..piece.number("tokens", 0)).map(|number| {
                    object!("v1 Secret", {"name": format!("{name}-token-{number}"), "namespace": self.namespace,
                        "annotations": {"kubernetes.io/service-account.name": name},
                        "type": "kubernetes.io/service-account-token"})
                });
                std::iter::once(self.named("v1", "ServiceAccount", piece, json!({}))).chain(tokens).collect()
            }
            "persistentvolumeclaim" => {
                let volume = piece.get("volume").map(|volume| self.global(volume));
                vec![self.named("v1", "PersistentVolumeClaim", piece, json!({"spec": claim_spec(volume.as_deref())}))]
            }
            "resourceclaimtemplate" => {
                let request = json!({"name": "one", "exactly": {"deviceClassName": "acme.io"}});
                let spec = json!({"spec": {"spec": {"devices": {"requests": [request]}}}});
                vec![self.named("resource.k8s.io/v1", "ResourceClaimTemplate", piece, spec)]
            }
            "configmap" => vec![self.named("v1", "ConfigMap", piece, json!({"data": {"of": name}}))],
            "secret" => vec![self.named("v1", "Secret", piece, json!({"stringData": {"of": name}}))],
            "instance" => {
                let kind = piece.get("of").unwrap_or_default();
                vec![self.named(&format!("{}.test/v1", self.namespace), &capital(kind), piece, json!({}))]
            }
            "horizontalpodautoscaler" => {
                let target = piece.get("target").unwrap_or_default();
                let spec = json!({"maxReplicas": 9, "scaleTargetRef":
                    {"apiVersion": "apps/v1", "kind": "Deployment", "name": target}});
                vec![self.named("autoscaling/v2", "HorizontalPodAutoscaler", piece, json!({"spec": spec}))]
            }
            "poddisruptionbudget" => {
                let spec = json!({"minAvailable": 1, "selector": selector});
                vec![self.named("policy/v1", "PodDisruptionBudget", piece, json!({"spec": spec}))]
            }
            "resourcequota" => {
                let spec = json!({"hard": {"pods": "90", "configmaps": "90"}});
                vec![self.named("v1", "ResourceQuota", piece, json!({"spec": spec}))]
            }
            "policy" => self.policy(piece),
            "webhook" => vec![self.webhook(piece)],
            "ingress" => {
                let backend = json!({"service": {"name": piece.get("service").unwrap_or("none"),
                    "port": {"number": 80}}});
                vec![self.named("networking.k8s.io/v1", "Ingress", piece, json!({"spec": {"defaultBackend": backend}}))]
            }
            other => panic!("no piece of a case is a {other:?}"),
        }
    }

    fn named(&self, api_version: &str, kind: &str, piece: &Piece, more: Value) -> Value {
        let mut metadata = json!({"name": piece.name, "namespace": self.namespace});
        let held = piece.get("held").map(|_| HOLD);
        let finalizers: Vec<&str> = held.into_iter().chain(piece.get("finalizer")).collect();
        if !finalizers.is_empty() {
            metadata["finalizers"] = json!(finalizers);
        }
        let mut object: Map<String, Value> = more.as_object().cloned().unwrap_or_default();
        object.insert("apiVersion".to_owned(), json!(api_version));
        object.insert("kind".to_owned(), json!(kind));
        object.insert("metadata".to_owned(), metadata);
        Value::Object(object)
    }

    /// A Node, and the Lease that its kubelet renews.
    fn node(&self, piece: &Piece) -> Vec<Value> {
        let name = self.global(&piece.name);
        vec![object!("v1 Node", {"name": name, "labels": {"case": self.namespace}})]
    }

    /// A volume for a claim of this case. Its data is a folder that doesn't exist, which a controller can delete.
    fn volume(&self, piece: &Piece) -> Value {
        let name = self.global(&piece.name);
        let claim = json!({"kind": "PersistentVolumeClaim", "namespace": self.namespace, "name": piece.get("claim")});
        let mut volume = object!("v1 PersistentVolume", {
            "name": name,
            "spec": {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "claimRef": claim,
                "persistentVolumeReclaimPolicy": piece.get("reclaim").unwrap_or("Retain"), "storageClassName": "",
                "hostPath": {"path": format!("/tmp/kubectl-gc-absent/{name}")}},
        });
        if piece.get("held").is_some() {
            volume["metadata"]["finalizers"] = json!([HOLD]);
        }
        volume
    }

    fn definition(&self, piece: &Piece) -> Value {
        let (group, singular) = (format!("{}.test", self.namespace), &piece.name);
        definition_of(&group, &capital(singular), &format!("{singular}s"), &["v1"])
    }

    /// What a policy or webhook is asked about: one verb on one resource in this namespace.
    fn rule(&self, piece: &Piece) -> [Value; 2] {
        let groups = if piece.get("resource") == Some("replicasets") { json!(["apps"]) } else { json!([""]) };
        let rule = json!({"apiGroups": groups, "apiVersions": ["*"], "operations": [piece.get("verb")],
            "resources": [piece.get("resource")]});
        [rule, json!({"matchLabels": {"kubernetes.io/metadata.name": self.namespace}})]
    }

    /// A policy that refuses, and its binding.
    fn policy(&self, piece: &Piece) -> Vec<Value> {
        let (name, [rule, selector]) = (self.global(&piece.name), self.rule(piece));
        let api = "admissionregistration.k8s.io/v1";
        let constraints = json!({"resourceRules": [rule], "namespaceSelector": selector});
        vec![
            json!({"apiVersion": api, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": name},
                "spec": {"matchConstraints": constraints, "validations": [{"expression": "false"}]}}),
            json!({"apiVersion": api, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": name},
                "spec": {"policyName": name, "validationActions": ["Deny"]}}),
        ]
    }

    /// A webhook that nobody answers.
    fn webhook(&self, piece: &Piece) -> Value {
        let (name, [rule, selector]) = (self.global(&piece.name), self.rule(piece));
        let hook = json!({"name": format!("{name}.acme.io"), "clientConfig": {"url": "https://127.0.0.1:9/refuse"},
            "rules": [rule], "namespaceSelector": selector, "sideEffects": "None",
            "failurePolicy": piece.get("failure").unwrap_or("Fail"), "admissionReviewVersions": ["v1"]});
        object!("admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", {"name": name, "webhooks": [hook]})
    }

    fn job_spec(&self, piece: &Piece) -> Value {
        let parallel = piece.number("pods", 1);
        let mut template = self.template(piece);
        template["spec"]["restartPolicy"] = json!("Never");
        let mut spec = json!({"parallelism": parallel, "completions": parallel, "backoffLimit": 0,
            "template": template});
        if piece.get("ttl").is_some() {
            spec["ttlSecondsAfterFinished"] = json!(piece.number("ttl", 0));
        }
        if piece.get("suspended").is_some() && piece.sort == "job" {
            spec["suspend"] = json!(true);
        }
        if let Some(manager) = piece.get("managed-by") {
            spec["managedBy"] = json!(manager);
        }
        spec
    }

    /// The pods of a workload.
    fn template(&self, piece: &Piece) -> Value {
        let mut annotations = Map::new();
        annotations.insert(END.to_owned(), json!(piece.get("end").unwrap_or("run")));
        if let Some(node) = piece.get("on") {
            annotations.insert(NODE.to_owned(), json!(self.global(node)));
        }
        let mut spec = json!({
            "containers": [{"name": "main", "image": "main"}],
            "terminationGracePeriodSeconds": piece.number("grace", 30),
            // Otherwise, pods on nodes that are not ready are evicted after five minutes, in a slow run only.
            "tolerations": [{"operator": "Exists", "effect": "NoExecute"}],
        });
        if let Some(account) = piece.get("account") {
            spec["serviceAccountName"] = json!(account);
        }
        if let Some(devices) = piece.get("devices") {
            spec["resourceClaims"] = json!([{"name": "devices", "resourceClaimTemplateName": devices}]);
        }
        let mut volumes: Vec<Value> = Vec::new();
        if let Some(claim) = piece.get("claim") {
            volumes.push(json!({"name": "claim", "persistentVolumeClaim": {"claimName": claim}}));
        }
        if piece.get("ephemeral").is_some() {
            volumes.push(json!({"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": claim_spec(None)}}}));
        }
        spec["volumes"] = json!(volumes);
        let app = piece.get("app").unwrap_or(&piece.name);
        let finalizers: Vec<&str> = piece.get("podsheld").map(|_| HOLD).into_iter().collect();
        let metadata = json!({"labels": {"app": app}, "annotations": annotations, "finalizers": finalizers});
        json!({"metadata": metadata, "spec": spec})
    }
}

fn service_spec(piece: &Piece) -> Value {
    let mut spec = json!({"ports": [{"port": 80}]});
    if let Some(app) = piece.get("selects") {
        spec["selector"] = json!({"app": app});
    }
    match piece.get("type") {
        Some("Headless") => spec["clusterIP"] = json!("None"),
        Some("ExternalName") => spec = json!({"type": "ExternalName", "externalName": "example.com"}),
        Some(other) => spec["type"] = json!(other),
        None => {}
    }
    spec
}

/// A claim without a class: it binds only to a volume that is meant for it.
fn claim_spec(volume: Option<&str>) -> Value {
    let mut spec = json!({"accessModes": ["ReadWriteOnce"], "storageClassName": "",
        "resources": {"requests": {"storage": "1Gi"}}});
    if let Some(volume) = volume {
        spec["volumeName"] = json!(volume);
    }
    spec
}

/// The kind of a custom resource.
pub fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
