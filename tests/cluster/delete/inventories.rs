//! Controllers that delete other objects with theirs, played as they do it: Argo CD, Flux, Crossplane, Percona's
//! operators (R9.38).

use std::thread;

use serde_json::{Value, json};

use crate::harness::{Alone, COLLECTOR, Cluster, Options, PATIENCE, definition_of, owner_reference};

/// Group, kind and name of what is listed: also what is to be kept, and what is gone.
const LISTED: [[&str; 3]; 4] =
    [["apps", "Deployment", "web"], ["", "Secret", "key"], ["", "ConfigMap", "kept"], ["", "Pod", "old"]];

/// A controller that deletes other objects with its own.
struct Lister {
    /// Group, plural and kind of its object.
    kind: (&'static str, &'static str, &'static str),
    workload: (&'static str, &'static str),
    finalizer: &'static str,
    /// The policy with which it deletes, and whether it waits until all is gone.
    propagation: &'static str,
    waits: bool,
    /// What an object needs to be left alone.
    keeps: Value,
    /// The paths of what it deletes.
    deletes: Vec<&'static str>,
    /// What a gate counts: a resource, and the one object of it that goes.
    denied: (&'static str, &'static str),
    /// How many objects go at the second end.
    then: usize,
    /// The spec and the status of its object in this namespace.
    rest: fn(&str) -> Value,
}

impl Lister {
    /// Deletes its object in a namespace with a Deployment, a Secret, a claim, a composite resource with a Secret, a
    /// ConfigMap that is to be kept, and one that nobody lists.
    fn play(&self, cluster: &Cluster) {
        let (group, plural, kind) = self.kind;
        let namespace = cluster.namespace(&kind.to_lowercase());
        let mut labels = json!({"app.kubernetes.io/managed-by": "Helm"});
        for flux in ["kustomize", "helm"] {
            labels[format!("{flux}.toolkit.fluxcd.io/name")] = json!("shop");
            labels[format!("{flux}.toolkit.fluxcd.io/namespace")] = json!(namespace);
        }
        let create = |api_version: &str, kind: &str, name: &str, metadata: Value, rest: Value| {
            let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
            object["metadata"]["name"] = json!(name);
            if kind != "XDatabase" {
                object["metadata"]["namespace"] = json!(namespace);
            }
            object.as_object_mut().expect("a map").extend(rest.as_object().cloned().unwrap_or_default());
            cluster.create(object)
        };
        let template = |name: &str| {
            let pods = json!({
                "metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "main", "image": "main"}]},
            });
            let selector = json!({"matchLabels": {"app": name}});
            json!({"spec": {"replicas": 1, "serviceName": name, "selector": selector, "template": pods}})
        };
        let its_name = json!({"labels": {"app.kubernetes.io/name": self.workload.1}});
        let controller = create("apps/v1", self.workload.0, self.workload.1, its_name, template(self.workload.1));
        let ready = json!({"status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
        cluster.patch(&format!("{}/status", cluster.path_of(&controller)), &ready);
        let web = create("apps/v1", "Deployment", "web", json!({"labels": labels}), template("web"));
        let below = json!({"ownerReferences": [owner_reference(&web)], "labels": {"app": "web"}});
        create("apps/v1", "ReplicaSet", "web-1", below, template("web"));
        create("v1", "Secret", "key", json!({"labels": labels}), json!({}));
        let mut kept = self.keeps.clone();
        kept["labels"] = labels.clone();
        create("v1", "ConfigMap", "kept", kept, json!({}));
        labels["app.kubernetes.io/managed-by"] = json!("somebody");
        create("v1", "ConfigMap", "beside", json!({ "labels": labels }), json!({}));
        let of_database = json!({"app.kubernetes.io/instance": "shop", "app.kubernetes.io/component": "pxc"});
        let storage = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        create("v1", "PersistentVolumeClaim", "data", json!({ "labels": of_database }), json!({ "spec": storage }));
        let composite = create("acme.io/v1", "XDatabase", &namespace, json!({}), json!({}));
        let below = json!({"ownerReferences": [owner_reference(&composite)]});
        create("v1", "Secret", "composed", below, json!({}));
        let finalizers = json!({"finalizers": [self.finalizer]});
        let lists = create(&format!("{group}/v1"), kind, "shop", finalizers, (self.rest)(&namespace));
        cluster.watched_by_collector(&lists);
        cluster.watched_by_collector(&composite);

        let target = format!("{plural}.{group}/shop");
        let args = |more: &[&str]| -> Vec<String> {
            let all = ["delete", &target, "-n", &namespace].into_iter().chain(more.iter().copied());
            all.map(str::to_owned).collect()
        };
        let gc = |args: Vec<String>| cluster.gc(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let (resource, object) = self.denied;
        let refused = gc(args(&["--yes", &format!("--deny={resource}")]));
        let said = refused.expect(2);
        assert!(said.contains(&format!("--deny={resource}: 1 such object would be deleted ({object})")), "{said}");
        assert!(said.contains(&format!("Then  {} objects are deleted", self.then)), "{said}");

        // Without its controller, it could never go.
        let workload = format!("{}/{}", self.workload.0, self.workload.1).to_lowercase();
        let said = cluster.gc(&["plan", &workload, "-n", &namespace]).stdout;
        let certainly = ["cannot be deleted any more", "may not be deletable any more"];
        let is_told = certainly.iter().any(|told| said.contains(&format!("{kind}/shop: stays, and {told}")));
        assert!(is_told, "{said}");
        assert!(said.contains(&format!("delete first, while {}/{} runs", self.workload.0, self.workload.1)), "{said}");

        let ran = thread::scope(|scope| {
            let ran = scope.spawn(|| gc(args(&["--yes", "--timeout=120s"])));
            let held = cluster.path_of(&lists);
            let is_held = || cluster.get(&held).is_some_and(|it| it["metadata"]["deletionTimestamp"].is_string());
            cluster.wait_until("the delete to begin", PATIENCE, is_held);
            let paths: Vec<String> = self.deletes.iter().map(|path| path.replace("NS", &namespace)).collect();
            for path in &paths {
                cluster.delete(path, Some(self.propagation), None).expect("it was there");
            }
            if self.waits {
                cluster.wait_until("what it listed to go", PATIENCE, || {
                    paths.iter().all(|path| cluster.get(path).is_none())
                });
            }
            cluster.patch(&cluster.path_of(&lists), &json!({"metadata": {"finalizers": null}}));
            ran.join().expect("it ends")
        });
        let said = ran.expect(0);
        assert!(said.contains("DONE: as planned"), "{said}");
        let left = cluster.list(&format!("/api/v1/namespaces/{namespace}/configmaps"));
        let names: Vec<&str> = left.iter().filter_map(|object| object["metadata"]["name"].as_str()).collect();
        assert_eq!(names, ["beside", "kept"]);
    }
}

#[test]
fn what_a_controller_lists_goes_as_planned() {
    let cluster = Alone::start(&Options::default());
    let annotated = |key: &str, value: &str| json!({"annotations": {key: value}});
    let listed = vec!["/apis/apps/v1/namespaces/NS/deployments/web", "/api/v1/namespaces/NS/secrets/key"];
    let argo_cd = Lister {
        kind: ("argoproj.io", "applications", "Application"),
        workload: ("StatefulSet", "argocd-application-controller"),
        finalizer: "resources-finalizer.argocd.argoproj.io",
        propagation: "Foreground",
        waits: true,
        keeps: annotated("argocd.argoproj.io/sync-options", "Delete=false"),
        deletes: listed.clone(),
        denied: ("deployments.apps", "Deployment/web"),
        then: 4,
        rest: |namespace| {
            let resources = LISTED.map(|[group, kind, name]| {
                json!({"group": group, "version": "v1", "kind": kind, "namespace": namespace, "name": name})
            });
            json!({
                "spec": {"destination": {"server": "https://kubernetes.default.svc"}},
                "status": {"resources": resources},
            })
        },
    };
    let kustomization = Lister {
        kind: ("kustomize.toolkit.fluxcd.io", "kustomizations", "Kustomization"),
        workload: ("Deployment", "kustomize-controller"),
        finalizer: "finalizers.fluxcd.io",
        propagation: "Background",
        waits: false,
        keeps: annotated("kustomize.toolkit.fluxcd.io/prune", "disabled"),
        deletes: listed.clone(),
        denied: ("deployments.apps", "Deployment/web"),
        then: 4,
        rest: |namespace| {
            let ids = LISTED.map(|[group, kind, name]| format!("{namespace}_{name}_{group}_{kind}"));
            let entries: Vec<Value> = ids.map(|id| json!({"id": id, "v": "v1"})).to_vec();
            json!({"spec": {"prune": true}, "status": {"inventory": {"entries": entries}}})
        },
    };
    let release = Lister {
        kind: ("helm.toolkit.fluxcd.io", "helmreleases", "HelmRelease"),
        workload: ("Deployment", "helm-controller"),
        finalizer: "finalizers.fluxcd.io",
        propagation: "Background",
        waits: true,
        keeps: annotated("helm.sh/resource-policy", "keep"),
        deletes: listed,
        denied: ("deployments.apps", "Deployment/web"),
        then: 4,
        rest: |_| json!({"spec": {}}),
    };
    let claim = Lister {
        kind: ("acme.io", "databases", "Database"),
        workload: ("Deployment", "crossplane"),
        finalizer: "finalizer.apiextensions.crossplane.io",
        propagation: "Foreground",
        waits: true,
        keeps: json!({}),
        deletes: vec!["/apis/acme.io/v1/xdatabases/NS"],
        denied: ("secrets", "Secret/composed"),
        then: 3,
        rest: |namespace| {
            let composite = json!({"apiVersion": "acme.io/v1", "kind": "XDatabase", "name": namespace});
            json!({"spec": {"resourceRef": composite, "compositeDeletePolicy": "Foreground"}})
        },
    };
    let percona = Lister {
        kind: ("pxc.percona.com", "perconaxtradbclusters", "PerconaXtraDBCluster"),
        workload: ("Deployment", "percona-xtradb-cluster-operator"),
        finalizer: "percona.com/delete-pxc-pvc",
        propagation: "Background",
        waits: false,
        keeps: json!({}),
        deletes: vec!["/api/v1/namespaces/NS/persistentvolumeclaims/data"],
        denied: ("persistentvolumeclaims", "PersistentVolumeClaim/data"),
        then: 2,
        rest: |_| json!({"spec": {}}),
    };
    let all = [argo_cd, kustomization, release, claim, percona];
    let mut composite = definition_of("acme.io", "XDatabase", "xdatabases", &["v1"]);
    composite["spec"]["scope"] = json!("Cluster");
    cluster.create(composite);
    for (group, plural, kind) in all.iter().map(|lister| lister.kind) {
        cluster.create(definition_of(group, kind, plural, &["v1"]));
    }
    cluster.start_controllers(&[COLLECTOR]);
    all.iter().for_each(|lister| lister.play(&cluster));
}
