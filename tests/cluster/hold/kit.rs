//! Workloads for the tests of `delete --hold`, and what is there.

use std::collections::BTreeMap;

use http::Method;
use serde_json::{Value, json};

use crate::harness::{Cluster, Ran, conforms, owner_reference, shared, uid};

pub use crate::harness::PATIENCE;

const MERGE: &str = "application/merge-patch+json";

/// What is held in a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Deployment,
    StatefulSet,
    ReplicaSet,
    Job,
    CronJob,
    Widget,
    ConfigMap,
    /// Needs a controller that the shared cluster doesn't have.
    ReplicationController,
}

impl Kind {
    /// One with a built-in controller, and one without.
    pub const SOME: [Kind; 2] = [Kind::Deployment, Kind::Widget];
    /// Those whose controllers the shared cluster has.
    pub const ALL: [Kind; 7] = [
        Kind::Deployment,
        Kind::StatefulSet,
        Kind::ReplicaSet,
        Kind::Job,
        Kind::CronJob,
        Kind::Widget,
        Kind::ConfigMap,
    ];

    /// As an argument.
    pub fn word(self) -> &'static str {
        match self {
            Kind::Deployment => "deployment/web",
            Kind::StatefulSet => "statefulset/web",
            Kind::ReplicaSet => "replicaset/web",
            Kind::Job => "job/web",
            Kind::CronJob => "cronjob/web",
            Kind::ReplicationController => "replicationcontroller/web",
            Kind::Widget => "widget/web",
            Kind::ConfigMap => "configmap/web",
        }
    }

    fn path(self, namespace: &str) -> String {
        let api = match self {
            Kind::Deployment | Kind::StatefulSet | Kind::ReplicaSet => "apis/apps/v1",
            Kind::Job | Kind::CronJob => "apis/batch/v1",
            Kind::Widget => "apis/gc.test/v1",
            Kind::ReplicationController | Kind::ConfigMap => "api/v1",
        };
        let singular = self.word().trim_end_matches("/web");
        format!("/{api}/namespaces/{namespace}/{singular}s/web")
    }
}

/// A namespace with one object `web` of a kind, and what is below it.
pub struct Scene {
    pub cluster: &'static Cluster,
    pub namespace: String,
    pub kind: Kind,
}

/// The collections that are compared.
const COMPARED: [&str; 10] = [
    "/apis/batch/v1/namespaces/NS/cronjobs",
    "/apis/apps/v1/namespaces/NS/deployments",
    "/apis/apps/v1/namespaces/NS/replicasets",
    "/apis/apps/v1/namespaces/NS/statefulsets",
    "/apis/apps/v1/namespaces/NS/controllerrevisions",
    "/apis/batch/v1/namespaces/NS/jobs",
    "/apis/gc.test/v1/namespaces/NS/widgets",
    "/api/v1/namespaces/NS/configmaps",
    "/api/v1/namespaces/NS/pods",
    "/api/v1/namespaces/NS/persistentvolumeclaims",
];

impl Scene {
    /// Creates it, and waits until its controllers have done their work.
    #[track_caller]
    pub fn of(kind: Kind) -> Self {
        Self::on(shared(), kind)
    }

    /// The same on another cluster.
    #[track_caller]
    pub fn on(cluster: &'static Cluster, kind: Kind) -> Self {
        let namespace = cluster.namespace("hold");
        let scene = Scene { cluster, namespace, kind };
        scene.build();
        scene
    }

    #[track_caller]
    fn build(&self) {
        let metadata = json!({"name": "web", "namespace": self.namespace});
        let labels = json!({"app": "web"});
        let pod = json!({"containers": [{"name": "main", "image": "main"}]});
        let template = json!({"metadata": {"labels": labels}, "spec": pod});
        let selector = json!({"matchLabels": labels});
        let (root, pods) = match self.kind {
            Kind::Deployment => (
                json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata,
                    "spec": {"replicas": 2, "selector": selector, "template": template}}),
                2,
            ),
            Kind::ReplicaSet => (
                json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata,
                    "spec": {"replicas": 2, "selector": selector, "template": template}}),
                2,
            ),
            Kind::StatefulSet => (
                json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata,
                    "spec": {"replicas": 2, "serviceName": "web", "selector": selector, "template": template,
                        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Delete", "whenScaled": "Retain"},
                        "volumeClaimTemplates": [{"metadata": {"name": "data"},
                            "spec": {"accessModes": ["ReadWriteOnce"],
                                "resources": {"requests": {"storage": "1Gi"}}}}]}}),
                2,
            ),
            Kind::Job => {
                let mut template = json!({"spec": pod});
                template["spec"]["restartPolicy"] = json!("Never");
                (
                    json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata,
                        "spec": {"completions": 4, "parallelism": 2, "template": template}}),
                    2,
                )
            }
            Kind::ReplicationController => (
                json!({"apiVersion": "v1", "kind": "ReplicationController", "metadata": metadata,
                    "spec": {"replicas": 2, "selector": labels, "template": template}}),
                2,
            ),
            Kind::CronJob => {
                let mut template = json!({"spec": pod});
                template["spec"]["restartPolicy"] = json!("Never");
                (
                    json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata,
                        "spec": {"schedule": "0 0 1 1 *", "jobTemplate": {"spec": {"template": template}}}}),
                    0,
                )
            }
            Kind::Widget => {
                let spec = json!({"size": 1});
                (json!({"apiVersion": "gc.test/v1", "kind": "Widget", "metadata": metadata, "spec": spec}), 0)
            }
            Kind::ConfigMap => {
                let data = json!({"of": "web"});
                (json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}), 0)
            }
        };
        let root = self.cluster.create(root);
        if self.kind == Kind::CronJob {
            let mut reference = owner_reference(&root);
            reference["controller"] = json!(true);
            let mut spec = root["spec"]["jobTemplate"]["spec"].clone();
            spec["suspend"] = json!(true);
            self.cluster.create(object!("batch/v1 Job", {"name": "web-1", "namespace": self.namespace,
                "ownerReferences": [reference], "spec": spec}));
        } else if pods == 0 {
            for (name, controller) in [("leaf-0", true), ("leaf-1", false)] {
                let mut reference = owner_reference(&root);
                reference["controller"] = json!(controller);
                reference["blockOwnerDeletion"] = json!(controller);
                self.cluster.create(object!("v1 ConfigMap", {"name": name, "namespace": self.namespace,
                    "ownerReferences": [reference], "data": {"of": name}}));
            }
        }
        self.cluster.wait_until("its pods", PATIENCE, || {
            self.run_pods();
            self.running().len() == pods
        });
        if self.kind == Kind::Job {
            // One has finished, and is counted; another has started.
            self.finish_a_pod();
            self.cluster.wait_until("the next pod", PATIENCE, || {
                self.run_pods();
                let status = &self.root()["status"];
                status["succeeded"] == 1 && status["active"] == 2 && self.running().len() == 2
            });
        }
        self.cluster.wait_until("the status", PATIENCE, || self.is_settled());
        let root = self.root();
        self.cluster.seen_by_collector(&[uid(&root)]);
    }

    /// Whether the status of the object says that all is as wanted.
    pub fn is_settled(&self) -> bool {
        let root = self.root();
        let status = &root["status"];
        let observed = status["observedGeneration"] == root["metadata"]["generation"];
        match self.kind {
            Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::ReplicationController => {
                observed && status["readyReplicas"] == 2
            }
            Kind::Job => status["active"] == 2 && status["succeeded"] == 1 && status["ready"] == 2,
            Kind::CronJob | Kind::Widget | Kind::ConfigMap => true,
        }
    }

    pub fn path(&self) -> String {
        self.kind.path(&self.namespace)
    }

    /// The object `web`; panics if it is gone.
    #[track_caller]
    pub fn root(&self) -> Value {
        self.cluster.get(&self.path()).unwrap_or_else(|| panic!("{} is gone", self.path()))
    }

    fn items(&self, collection: &str) -> Vec<Value> {
        self.cluster.list(&collection.replace("NS", &self.namespace))
    }

    pub fn pods(&self) -> Vec<Value> {
        self.items("/api/v1/namespaces/NS/pods")
    }

    fn running(&self) -> Vec<Value> {
        let is_ready = |pod: &Value| pod["status"]["phase"] == "Running";
        self.pods().into_iter().filter(is_ready).collect()
    }

    fn report(&self, pod: &Value, phase: &str) {
        let ready = if phase == "Running" { "True" } else { "False" };
        let conditions = ["Ready", "ContainersReady"].map(|name| json!({"type": name, "status": ready}));
        let path = format!(
            "/api/v1/namespaces/{}/pods/{}/status",
            self.namespace,
            pod["metadata"]["name"].as_str().unwrap_or_default()
        );
        let status = json!({"status": {"phase": phase, "conditions": conditions}});
        self.cluster.ask(&Method::PATCH, &path, Some((MERGE, &status)));
    }

    /// Plays the kubelet: pods run as soon as they are there.
    pub fn run_pods(&self) {
        for pod in self.pods().iter().filter(|pod| pod["status"]["phase"] == "Pending") {
            self.report(pod, "Running");
        }
    }

    /// Plays the kubelet: one that runs succeeds.
    pub fn finish_a_pod(&self) {
        let running = self.running();
        self.report(running.first().expect("a pod runs"), "Succeeded");
    }

    /// The names of the Secrets of holds.
    pub fn secrets(&self) -> Vec<String> {
        let all = self.items("/api/v1/namespaces/NS/secrets");
        let names = all.iter().filter_map(|secret| secret["metadata"]["name"].as_str().map(str::to_owned));
        names.filter(|name| name.starts_with("kubectl-gc-hold-")).collect()
    }

    /// Everything that is there, by kind and name: its uid, but for the object `web`, and its owner references, whose
    /// uids are those of what is there.
    pub fn state(&self) -> BTreeMap<String, (String, Vec<Value>)> {
        let root = self.cluster.get(&self.path()).map(|root| uid(&root).to_owned()).unwrap_or_default();
        let mut state = BTreeMap::new();
        for collection in COMPARED {
            for object in self.items(collection) {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                if name == "kube-root-ca.crt" {
                    continue;
                }
                let known = |uid: &str| if uid == root { "web".to_owned() } else { uid.to_owned() };
                let mut references = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
                for reference in &mut references {
                    reference["uid"] = json!(known(reference["uid"].as_str().unwrap_or_default()));
                }
                references.sort_by_key(Value::to_string);
                let kind = collection.rsplit('/').next().unwrap_or_default();
                state.insert(format!("{kind}/{name}"), (known(uid(&object)), references));
            }
        }
        state
    }

    /// These arguments, and its namespace.
    pub fn in_namespace<'a>(&'a self, args: &[&'a str]) -> Vec<&'a str> {
        [args, &["-n", &self.namespace]].concat()
    }

    /// Runs `kubectl gc` in the namespace.
    #[track_caller]
    pub fn gc(&self, args: &[&str]) -> Ran {
        self.cluster.gc(&self.in_namespace(args))
    }

    /// Deletes the object and holds it, without waiting.
    #[track_caller]
    pub fn hold(&self) -> Ran {
        self.gc(&["delete", self.kind.word(), "--hold=1h", "--wait=false", "--yes"]).ended(0)
    }

    /// Waits until the collector, and the controllers of this kind, have seen all that was written before, and have
    /// done what that asks for: another of its kind, made now, is complete.
    #[track_caller]
    pub fn fence(&self) {
        Self::on(self.cluster, self.kind);
        self.cluster.settled();
    }

    /// Panics unless everything is as before, and stays so while its controllers come to rest.
    #[track_caller]
    pub fn is_as(&self, before: &BTreeMap<String, (String, Vec<Value>)>) {
        self.cluster.wait_until("its controllers", PATIENCE, || {
            // Others that a controller may have started by mistake would run, too, and be seen below.
            self.run_pods();
            self.is_settled()
        });
        self.fence();
        assert_eq!(&self.state(), before, "{:?}", self.kind);
        assert_eq!(self.secrets(), [""; 0]);
        let root = self.root();
        assert_eq!(root["metadata"].get("finalizers"), None, "{root}");
        assert!(!root["metadata"]["labels"].to_string().contains("kubectl-gc"), "{root}");
    }
}

/// Checks a document against its schema.
#[track_caller]
pub fn checked(document: Value) -> Value {
    conforms("hold", &document);
    document
}
