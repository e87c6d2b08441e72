//! Who removes a finalizer: one order for all, and only what handles the very object is seen to remove it.

use serde_json::{Value, json};

use super::{
    agree::{joined, object, on, running, says, says_not},
    field::at_ten,
    operators::held,
    run::Ran,
};

const APPLICATION: (&str, &str) = ("argoproj.io/v1alpha1", "Application");
const ARGO_CD: &str = "resources-finalizer.argocd.argoproj.io";

/// The plan for an object of this kind with this finalizer, whose adder tells nothing, beside these.
fn plan(kind: (&str, &str), finalizer: &str, others: &[Value]) -> Ran {
    plan_of(held(kind, "one", finalizer, "manager", json!({})), others)
}

fn plan_of(target: Value, others: &[Value]) -> Ran {
    let kind = target["kind"].as_str().unwrap().to_lowercase();
    let namespace = target["metadata"]["namespace"].as_str().unwrap_or("vault");
    let line = format!("plan {kind}/one -n {namespace}");
    on(&[std::slice::from_ref(&target), others].concat(), &line)
}

#[track_caller]
fn waits(ran: &Ran, workload: &str) {
    says(ran, &["WAITS: ", workload]);
    assert_eq!(ran.code, 0, "{ran}");
}

#[track_caller]
fn depends(ran: &Ran, words: &str) {
    says(ran, &["DEPENDS: ", words]);
    says_not(ran, &["WAITS: ", "STUCK: "]);
    assert_eq!(ran.code, 2, "{ran}");
}

pub fn labelled(mut object: Value, labels: Value) -> Value {
    object["metadata"]["labels"] = labels;
    object
}

fn in_namespace(mut object: Value, namespace: &str) -> Value {
    object["metadata"]["namespace"] = json!(namespace);
    object["metadata"]["uid"] = json!(format!("{namespace}-{}", object["metadata"]["name"].as_str().unwrap()));
    object
}

/// A workload whose only container has these fields.
fn with(mut workload: Value, container: Value) -> Value {
    workload["spec"]["template"] = json!({"metadata": {}, "spec": {"containers": [container]}});
    workload
}

fn definition(group: &str, plural: &str, kind: &str, more: Value) -> Value {
    let name = format!("{plural}.{group}");
    let all = joined(json!({"namespace": null}), &more);
    let mut definition = object(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), &name, all);
    definition["spec"] = json!({"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": plural},
        "versions": [{"name": "v1", "served": true, "storage": true}]});
    definition["status"] = json!({"conditions": [{"type": "Established", "status": "True"}]});
    definition
}

/// The controller of a sister shows nothing: whose it is isn't known.
#[test]
fn a_sister_that_runs_shows_nothing() {
    let all = [
        (("cdi.kubevirt.io/v1beta1", "DataVolume"), "cdi.kubevirt.io/x", "virt-controller", "cdi-deployment"),
        (("cdi.kubevirt.io/v1beta1", "CDI"), "operator.cdi.kubevirt.io", "virt-controller", "cdi-operator"),
        (
            ("hco.kubevirt.io/v1beta1", "HyperConverged"),
            "kubevirt.io/hyperconverged",
            "virt-controller",
            "hco-operator",
        ),
        (
            ("tekton.dev/v1", "TaskRun"),
            "results.tekton.dev/taskrun",
            "tekton-pipelines-controller",
            "tekton-results-watcher",
        ),
        (
            ("operator.tekton.dev/v1alpha1", "TektonConfig"),
            "tektonconfigs.operator.tekton.dev",
            "tekton-pipelines-controller",
            "tekton-operator",
        ),
        (
            ("http.keda.sh/v1alpha1", "HTTPScaledObject"),
            "httpscaledobject.http.keda.sh",
            "keda-operator",
            "keda-add-ons-http-operator",
        ),
        (("trust.cert-manager.io/v1alpha1", "Bundle"), "trust.cert-manager.io/x", "cert-manager", "trust-manager"),
    ];
    for (kind, finalizer, sister, own) in all {
        let ran = plan(kind, finalizer, &[running(sister)]);
        says_not(&ran, &["WAITS: ", "has ready pods"]);
        assert_eq!(ran.code, 2, "{ran}");
        depends(&plan(kind, finalizer, &[running(sister), running(own)]), &format!("Deployment/{own}"));
    }
    let own = [
        (("kubevirt.io/v1", "VirtualMachine"), "kubevirt.io/virtualMachineControllerFinalize", "virt-controller"),
        (("tekton.dev/v1", "PipelineRun"), "pipelineruns.tekton.dev", "tekton-pipelines-controller"),
        (("keda.sh/v1alpha1", "ScaledObject"), "finalizer.keda.sh", "keda-operator"),
        (("acme.cert-manager.io/v1", "Challenge"), "acme.cert-manager.io/finalizer", "cert-manager"),
        (("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "finalizers.fluxcd.io", "kustomize-controller"),
    ];
    for (kind, finalizer, own) in own {
        waits(&plan(kind, finalizer, &[running(own)]), &format!("Deployment/{own}"));
    }
    // One controller for each service of AWS.
    let ack = |others: &[Value]| {
        plan(("s3.services.k8s.aws/v1alpha1", "Bucket"), "finalizers.s3.services.k8s.aws/Bucket", others)
    };
    depends(&ack(&[running("ack-rds-controller")]), "no evidence");
    waits(&ack(&[running("ack-rds-controller"), running("ack-s3-controller")]), "Deployment/ack-s3-controller");
}

/// R9.40: Rook lets go of the keys of a CephCluster only while it deletes the cluster.
#[test]
fn rook_keeps_the_keys_of_a_cluster_that_stays() {
    let cluster = |more: Value| object(("ceph.rook.io/v1", "CephCluster"), "ceph", more);
    let keys = held(("v1", "Secret"), "one", "ceph.rook.io/disaster-protection", "rook", json!({}));
    let operator = running("rook-ceph-operator");
    let ran = plan_of(keys.clone(), &[operator.clone(), cluster(json!({}))]);
    says(&ran, &["STUCK: ", "waits for CephCluster/ceph"]);
    assert_eq!(ran.code, 2, "{ran}");
    let leaving = json!({"deletionTimestamp": "2026-03-01T09:59:00Z", "finalizers": ["cephcluster.ceph.rook.io"]});
    waits(&plan_of(keys.clone(), &[operator.clone(), cluster(leaving)]), "Deployment/rook-ceph-operator");
    // Nobody removes the finalizer by hand before the CephCluster is gone: whatever runs.
    let mut going = keys;
    going["metadata"]["deletionTimestamp"] = json!("2026-03-01T07:00:00Z");
    let running = [going.clone(), at_ten(), cluster(json!({})), operator];
    let stopped = [going.clone(), at_ten(), cluster(json!({}))];
    for objects in [&running[..], &stopped[..]] {
        let ran = on(objects, "doctor");
        says(&ran, &["as long as CephCluster/ceph exists, which needs it: leave the finalizer.", "back it up"]);
        says_not(&ran, &["remove the finalizer", "kubectl patch"]);
        let ran = on(objects, "explain secret/one -n vault");
        says(&ran, &["STUCK: Secret/one is Terminating until CephCluster/ceph is deleted."]);
        says_not(&ran, &["kubectl patch"]);
    }
    says(&on(&[going, at_ten()], "doctor"), &["force-remove the finalizer"]);
}

/// A workload that is called after the kind may be the controller, where its role or its namespace says whose it is.
#[test]
fn a_workload_that_is_called_after_the_kind_may_be_the_controller() {
    let plan = |others: &[Value]| plan(("kubeflow.org/v1", "Profile"), "profile-finalizer", others);
    let profiles = in_namespace(running("profiles-deployment"), "kubeflow");
    for runs in [profiles, running("profile-controller")] {
        let ran = plan(&[runs]);
        depends(&ran, "may be its controller");
        says(&ran, &["not certain"]);
    }
    for other in [running("profiles-deployment"), in_namespace(running("centraldashboard"), "kubeflow")] {
        says(&plan(&[other]), &["STUCK: "]);
    }
}

/// Argo CD's hooks and Argo's workflows hold objects of any kind, in any namespace.
#[test]
fn argo_lets_go_of_what_it_has_made() {
    for (finalizer, workload) in [
        ("argocd.argoproj.io/hook-finalizer", "argocd-application-controller"),
        ("workflows.argoproj.io/status", "workflow-controller"),
    ] {
        let runs = in_namespace(running(workload), "argo");
        waits(&plan(("v1", "ConfigMap"), finalizer, &[runs]), &format!("Deployment/{workload}"));
    }
}

/// What runs and doesn't handle the object's namespace shows nothing; what does so beside it counts.
#[test]
fn only_the_controller_of_this_namespace_counts() {
    let argo = |container: Value| with(in_namespace(running("argocd-application-controller"), "argocd"), container);
    let here = |namespace: &str, container: Value| {
        let application = in_namespace(held(APPLICATION, "one", ARGO_CD, "kubectl", json!({})), namespace);
        plan_of(application, &[argo(container)])
    };
    let only = "Deployment/argocd-application-controller -n argocd handles namespace argocd only";
    waits(&here("argocd", json!({})), "Deployment/argocd-application-controller runs");
    depends(&here("vault", json!({})), only);
    waits(
        &here("vault", json!({"args": ["argocd-application-controller", "--application-namespaces=team-*,va*"]})),
        "",
    );
    depends(&here("vault", json!({"args": ["--application-namespaces", "team-*"]})), "namespaces team-*, argocd only");
    let from = |value: Value| json!({"env": [{"name": "ARGOCD_APPLICATION_NAMESPACES", "valueFrom": value}]});
    let map = from(json!({"configMapKeyRef": {"name": "argocd-cmd-params-cm", "key": "application.namespaces"}}));
    depends(&here("vault", map.clone()), "ConfigMap/argocd-cmd-params-cm, which was not read");
    waits(&here("argocd", map), "");
    // Of two, the one that handles it.
    let application = held(APPLICATION, "one", ARGO_CD, "kubectl", json!({}));
    let own = running("argocd-application-controller");
    waits(&plan_of(application.clone(), &[argo(json!({})), own.clone()]), "");
    let mut idle = own;
    idle["spec"]["replicas"] = json!(0);
    idle["status"] = json!({});
    let ran = plan_of(application, &[argo(json!({})), idle]);
    says(&ran, &["STUCK: ", "Deployment/argocd-application-controller", "scaled to 0"]);
    says_not(&ran, &["-n argocd"]);
}

/// Operators name what they watch by flags and variables of several spellings.
#[test]
fn flags_and_variables_limit_a_controller() {
    let widget = |container: Value| {
        let operator = with(in_namespace(running("acme-operator"), "acme"), container);
        plan_of(held(("acme.io/v1", "Widget"), "one", "acme.io/x", "acme-operator", json!({})), &[operator])
    };
    let env = |name: &str, value: Value| {
        let variable = joined(json!({"name": name}), &value);
        json!({"env": [variable]})
    };
    let field = |path: &str| json!({"valueFrom": {"fieldRef": {"fieldPath": path}}});
    for handles in [
        json!({}),
        env("WATCH_NAMESPACE", json!({"value": ""})),
        env("WATCH_NAMESPACE", json!({"value": "other,vault"})),
        env("WATCH_NAMESPACE", json!({})),
        env("WATCH_NAMESPACE", field("metadata.annotations['olm.targetNamespaces']")),
        env("POD_NAMESPACE", field("metadata.namespace")),
        json!({"args": ["--watch-namespace=", "--namespaces=vault", "--watch-all-namespaces=true"]}),
        json!({"args": ["--namespace", "vault", "--namespace", "other"]}),
    ] {
        waits(&widget(handles), "Deployment/acme-operator");
    }
    let only = |namespaces: &str| format!("Deployment/acme-operator -n acme handles {namespaces} only");
    for (leaves_out, words) in [
        (env("WATCH_NAMESPACE", json!({"value": "a, b"})), only("namespaces a, b")),
        (env("WATCH_NAMESPACE", field("metadata.namespace")), only("namespace acme")),
        (json!({"command": ["/manager", "--watch-namespaces", "a"]}), only("namespace a")),
        (json!({"args": ["-namespace=a"]}), only("namespace a")),
        (json!({"args": ["--watch-all-namespaces=false"]}), only("namespace acme")),
        (json!({"args": ["--watch-namespace=$(MINE)"], "env": [{"name": "MINE", "value": "a"}]}), only("namespace a")),
        (
            env("WATCH_NAMESPACE", json!({"valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}})),
            "Secret/s, which was not read, says which namespaces".to_owned(),
        ),
    ] {
        depends(&widget(leaves_out), &words);
    }
}

/// A controller may handle only objects with some labels.
#[test]
fn labels_limit_a_controller() {
    let source = ("source.toolkit.fluxcd.io/v1", "GitRepository");
    let shard = |selector: &str| with(running("source-controller"), json!({"args": [selector]}));
    let repository = |labels: Value| held(source, "one", "finalizers.fluxcd.io", "x", json!({"labels": labels}));
    let sharded = || repository(json!({"sharding.fluxcd.io/key": "one"}));
    let main = "--watch-label-selector=!sharding.fluxcd.io/key";
    waits(&plan_of(repository(json!({})), &[shard(main)]), "source-controller");
    depends(&plan_of(sharded(), &[shard(main)]), "handles only objects with labels !sharding.fluxcd.io/key");
    waits(&plan_of(sharded(), &[shard("--watch-label-selector=sharding.fluxcd.io/key in (one, two)")]), "");
    // Strimzi's topic operator is that of one cluster.
    let topic = |cluster: &str| {
        let labels = json!({"labels": {"strimzi.io/cluster": cluster}});
        held(("kafka.strimzi.io/v1beta2", "KafkaTopic"), "one", "strimzi.io/topic-operator", "x", labels)
    };
    let operator = json!({"env": [{"name": "STRIMZI_RESOURCE_LABELS", "value": "strimzi.io/cluster=main"},
        {"name": "STRIMZI_NAMESPACE", "value": "vault"}]});
    let operator = [with(running("main-entity-operator"), operator)];
    waits(&plan_of(topic("main"), &operator), "Deployment/main-entity-operator");
    depends(&plan_of(topic("other"), &operator), "strimzi.io/cluster=main");
}

/// The CRD tells whose kind it is: by its owner for certain, by labels perhaps.
#[test]
fn the_definition_tells_whose_kind_it_is() {
    const GADGET: (&str, &str) = ("things.example.com/v1", "Gadget");
    let of = |more: Value, workloads: &[Value]| {
        let definition = definition("things.example.com", "gadgets", "Gadget", more);
        plan(GADGET, "x/y", &[&[definition], workloads].concat())
    };
    let revision = json!([{"apiVersion": "pkg.crossplane.io/v1", "kind": "ProviderRevision", "name": "r", "uid": "r",
        "controller": true}]);
    let mut installed = running("provider-things-1a2b");
    installed["metadata"]["ownerReferences"] = revision.clone();
    let owned = json!({"ownerReferences": revision});
    waits(&of(owned.clone(), &[installed.clone(), running("other")]), "Deployment/provider-things-1a2b");
    let mut second = running("second");
    second["metadata"]["ownerReferences"] = owned["ownerReferences"].clone();
    depends(&of(owned, &[installed, second]), "1 other workload may be its controller");
    let olm = json!({"operators.coreos.com/gadgets.ops": ""});
    let operator = labelled(running("gg-controller-manager"), olm.clone());
    let ran = of(json!({"labels": olm}), &[operator, running("other")]);
    depends(&ran, "Deployment/gg-controller-manager -n vault may be its controller");
    let part = json!({"app.kubernetes.io/part-of": "gadgetry"});
    let operator = labelled(running("gg-controller-manager"), part.clone());
    depends(&of(json!({"labels": part}), &[operator]), "Deployment/gg-controller-manager");
    // The object itself may name it.
    let managed = held(GADGET, "one", "x/y", "manager", json!({"labels": {"app.kubernetes.io/managed-by": "gg"}}));
    depends(&plan_of(managed, &[running("gg"), running("other")]), "Deployment/gg -n vault may be its controller");
}

/// The domain of a framework's finalizer tells nothing: the object's group does. And operators' names are short.
#[test]
fn the_group_tells_where_the_finalizer_does_not() {
    let all = [
        (("acme.io/v1", "Widget"), "kopf.zalando.org/KopfFinalizerMarker", "acme-operator", "postgres-operator"),
        (("acme.io/v1", "Widget"), "helm.sdk.operatorframework.io/uninstall-release", "acme-operator", "helm-operator"),
        (
            ("couchbeam.acme.com/v1beta1", "CouchbeamDatacenter"),
            "finalizer.couchbeam.acme.com",
            "couch-operator",
            "other-operator",
        ),
        (
            ("external-secrets.io/v1", "ExternalSecret"),
            "externalsecrets.external-secrets.io/externalsecret-cleanup",
            "external-secrets",
            "other",
        ),
        (
            ("hopmq.com/v1beta1", "HopmqCluster"),
            "deletion.finalizers.hopmqclusters.hopmq.com",
            "hopmq-cluster-operator",
            "other-operator",
        ),
    ];
    for (kind, finalizer, own, other) in all {
        let ran = plan(kind, finalizer, &[running(other), running(own)]);
        depends(&ran, &format!("Deployment/{own} -n vault may be its controller"));
    }
    // What the operator makes for the object is no operator.
    let mut server = running("hopmq-operator");
    server["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "hopmq.com/v1beta1", "kind": "HopmqCluster", "name": "two", "uid": "two"}]);
    let ran = plan(("hopmq.com/v1beta1", "HopmqCluster"), "deletion.finalizers.hopmqclusters.hopmq.com", &[server]);
    says_not(&ran, &["Deployment/hopmq-operator"]);
    // k3s runs it within its server.
    let chart = ("helm.cattle.io/v1", "HelmChart");
    let ran =
        plan(chart, "wrangler.cattle.io/on-helm-chart-remove", &[running("helm-controller"), running("harvester")]);
    depends(&ran, "the Helm controller of k3s");
    // Who added it tells most.
    let secret = ("external-secrets.io/v1", "ExternalSecret");
    let added = held(secret, "one", "externalsecrets.external-secrets.io/x", "external-secrets", json!({}));
    waits(&plan_of(added, &[running("external-secrets")]), "Deployment/external-secrets");
}
