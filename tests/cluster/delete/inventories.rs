//! Controllers that delete what the status of their object lists, played as they do it: Argo CD, Flux (R9.38).

use std::{thread, time::Duration};

use serde_json::{Value, json};

use crate::{
    harness::{COLLECTOR, Cluster, Options, owner_reference},
    incidents::add_ons::{KINDS, definition},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// Group, kind and name of an object.
type Listed = (&'static str, &'static str, &'static str);

/// A controller that lists what it deletes.
struct Lister<'l> {
    kind: &'l str,
    workload: (&'l str, &'l str),
    finalizer: &'l str,
    /// The policy with which it deletes, and whether it waits until all is gone.
    propagation: &'l str,
    waits: bool,
    /// What an object needs to be left alone.
    keeps: Value,
    /// Its object's spec, and the status that lists these objects of this namespace.
    spec: Value,
    status: fn(&str, &[Listed]) -> Value,
}

impl Lister<'_> {
    /// Deletes an object in whose status it lists a Deployment, a Secret, a ConfigMap that is to be kept, and something
    /// that is gone.
    fn play(&self, cluster: &Cluster) {
        let namespace = cluster.namespace(&self.kind.to_lowercase());
        let (group, plural, _) = KINDS.into_iter().find(|(_, _, kind)| *kind == self.kind).expect("it is defined");
        let labels = json!({
            "kustomize.toolkit.fluxcd.io/name": "shop", "kustomize.toolkit.fluxcd.io/namespace": namespace,
        });
        let create = |api_version: &str, kind: &str, name: &str, metadata: Value, rest: Value| {
            let mut object = json!({"apiVersion": api_version, "kind": kind, "metadata": metadata});
            object["metadata"]["name"] = json!(name);
            object["metadata"]["namespace"] = json!(namespace);
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
        let controller = create("apps/v1", self.workload.0, self.workload.1, json!({}), template(self.workload.1));
        let ready = json!({"status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
        cluster.patch(&format!("{}/status", cluster.path_of(&controller)), &ready);
        let web = create("apps/v1", "Deployment", "web", json!({"labels": labels}), template("web"));
        let below = json!({"ownerReferences": [owner_reference(&web)], "labels": {"app": "web"}});
        create("apps/v1", "ReplicaSet", "web-1", below, template("web"));
        create("v1", "Secret", "key", json!({"labels": labels}), json!({}));
        let mut kept = self.keeps.clone();
        kept["labels"] = labels.clone();
        create("v1", "ConfigMap", "kept", kept, json!({}));
        create("v1", "ConfigMap", "beside", json!({"labels": labels}), json!({}));
        let listed =
            [("apps", "Deployment", "web"), ("", "Secret", "key"), ("", "ConfigMap", "kept"), ("", "Pod", "old")];
        let rest = json!({"spec": self.spec, "status": (self.status)(&namespace, &listed)});
        let lists = create(&format!("{group}/v1"), self.kind, "shop", json!({"finalizers": [self.finalizer]}), rest);
        cluster.watched_by_collector(&lists);

        let target = format!("{plural}.{group}/shop");
        let args = |more: &[&'static str]| -> Vec<String> {
            let all = ["delete", &target, "-n", &namespace].into_iter().chain(more.iter().copied());
            all.map(str::to_owned).collect()
        };
        let gc = |args: Vec<String>| cluster.gc(&args.iter().map(String::as_str).collect::<Vec<_>>());
        let refused = gc(args(&["--yes", "--deny=deployments"]));
        let said = refused.expect(2);
        assert!(
            said.contains("GATE: --deny=deployments.apps: 1 such object would be deleted (Deployment/web)"),
            "{said}"
        );
        assert!(said.contains("Then 4 more objects are deleted"), "{said}");

        // Without its controller, it could never go.
        let workload = format!("{}/{}", self.workload.0, self.workload.1).to_lowercase();
        let said = cluster.gc(&["plan", &workload, "-n", &namespace]).stdout;
        assert!(said.contains(&format!("{}/shop: stays, and cannot be deleted any more", self.kind)), "{said}");
        assert!(said.contains(&format!("delete first, while {}/{} runs", self.workload.0, self.workload.1)), "{said}");

        let ran = thread::scope(|scope| {
            let ran = scope.spawn(|| gc(args(&["--yes", "--timeout=120s"])));
            let held = cluster.path_of(&lists);
            let is_held = || cluster.get(&held).is_some_and(|it| it["metadata"]["deletionTimestamp"].is_string());
            cluster.wait_until("the delete to begin", PATIENCE, is_held);
            let paths = [("apis/apps/v1", "deployments/web"), ("api/v1", "secrets/key")]
                .map(|(api, name)| format!("/{api}/namespaces/{namespace}/{name}"));
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
fn what_a_status_lists_goes_as_planned() {
    let cluster = Cluster::start(&Options::default());
    for (group, plural, kind) in &KINDS[..2] {
        cluster.create(definition(group, plural, kind));
    }
    cluster.start_controllers(&[COLLECTOR]);
    let argo_cd = Lister {
        kind: "Application",
        workload: ("StatefulSet", "argocd-application-controller"),
        finalizer: "resources-finalizer.argocd.argoproj.io",
        propagation: "Foreground",
        waits: true,
        keeps: json!({"annotations": {"argocd.argoproj.io/sync-options": "Delete=false"}}),
        spec: json!({"destination": {"server": "https://kubernetes.default.svc"}}),
        status: |namespace, listed| {
            let resources = listed.iter().map(|(group, kind, name)| {
                json!({"group": group, "version": "v1", "kind": kind, "namespace": namespace, "name": name})
            });
            json!({"resources": resources.collect::<Vec<_>>()})
        },
    };
    argo_cd.play(&cluster);
    let flux = Lister {
        kind: "Kustomization",
        workload: ("Deployment", "kustomize-controller"),
        finalizer: "finalizers.fluxcd.io",
        propagation: "Background",
        waits: false,
        keeps: json!({"annotations": {"kustomize.toolkit.fluxcd.io/prune": "disabled"}}),
        spec: json!({"prune": true}),
        status: |namespace, listed| {
            let ids = listed.iter().map(|(group, kind, name)| format!("{namespace}_{name}_{group}_{kind}"));
            json!({"inventory": {"entries": ids.map(|id| json!({"id": id, "v": "v1"})).collect::<Vec<_>>()}})
        },
    };
    flux.play(&cluster);
}
