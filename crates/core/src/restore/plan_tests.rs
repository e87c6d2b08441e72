//! What a restore sends, for which objects, in which order.

use serde_json::{Value, json};

use super::{
    left_out::LeftOut,
    plan::{ItemId, Owner, RestoreOptions, RestorePlan},
    testing::{archived, object, owned},
};

fn plan(objects: Vec<Value>, all: bool) -> RestorePlan {
    RestorePlan::new(objects, all).unwrap()
}

/// The names of the created objects, step by step.
fn steps(plan: &RestorePlan) -> Vec<Vec<&str>> {
    let name = |item: &ItemId| plan.items[*item].archived.place.name.as_str();
    plan.steps.iter().map(|step| step.iter().map(name).collect()).collect()
}

fn body(whole: Value) -> Value {
    plan(vec![whole], true).items.remove(0).body
}

#[test]
fn namespaces_and_definitions_come_first_and_owners_before_dependents() {
    let definition = object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "shops.acme.io",
        &json!({"spec": {"group": "acme.io", "names": {"kind": "Shop"}}}),
    );
    let objects = vec![
        object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook", &json!({})),
        owned("apps/v1", "Deployment", "web", &[("acme.io/v1", "Shop", "main")]),
        owned("v1", "ConfigMap", "settings", &[("apps/v1", "Deployment", "web")]),
        owned("v1", "ServiceAccount", "build", &[]),
        owned("acme.io/v1", "Shop", "main", &[]),
        definition,
        object("v1", "Namespace", "shop", &json!({})),
    ];
    let plan = plan(objects, false);
    assert_eq!(steps(&plan), [["shop"], ["shops.acme.io"], ["build"], ["main"], ["web"], ["settings"], ["hook"]]);
    assert_eq!((plan.items[1].needs.as_slice(), plan.items[4].needs.as_slice()), (&[6][..], &[6, 5][..]));
    assert_eq!(plan.items[2].owners, [Owner::Archived(1)]);
}

/// What was being deleted before the archive was begun, or before its target was, was to go; so was what only that
/// owned.
#[test]
fn what_was_terminating_already_is_left_out() {
    let deleted = |name: &str, owners: &[(&str, &str, &str)], at: &str| {
        let mut object = owned("v1", "ConfigMap", name, owners);
        object["metadata"]["deletionTimestamp"] = json!(format!("2026-01-31T{at}:00Z"));
        object
    };
    let left_out = |target: &[&str], all: bool| {
        let owner = |name| ("v1", "ConfigMap", name);
        let objects = [
            deleted("target", &[], "08:00"),
            deleted("before", &[], "07:59"),
            deleted("with-it", &[owner("target")], "08:00"),
            deleted("later", &[owner("target")], "08:20"),
            owned("v1", "ConfigMap", "of-before", &[owner("before")]),
            owned("v1", "ConfigMap", "below", &[owner("of-before")]),
            owned("v1", "ConfigMap", "shared", &[owner("before"), owner("elsewhere")]),
        ];
        let options = RestoreOptions {
            all,
            archived_at: "2026-01-31T08:10:00Z".to_owned(),
            targets: target.iter().map(|name| format!("configmap-{name}")).collect(),
            ..RestoreOptions::default()
        };
        let plan = RestorePlan::of(archived(objects), &options).unwrap();
        assert_eq!(plan.items[6].owners[0], if all { Owner::Archived(1) } else { Owner::NotAsked(1) });
        let left_out = plan.items.iter().filter(|item| item.left_out == Some(LeftOut::Terminating));
        left_out.map(|item| item.archived.place.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(left_out(&["target"], false), "before of-before below");
    assert_eq!(left_out(&["of-before"], false), "target before with-it later of-before below");
    assert_eq!(left_out(&["target"], true), "");
}

#[test]
fn what_is_made_anew_is_left_out_and_what_it_owns_comes_last() {
    let objects = || {
        vec![
            owned("apps/v1", "StatefulSet", "db", &[]),
            owned("v1", "Pod", "db-0", &[("apps/v1", "StatefulSet", "db")]),
            owned("v1", "ConfigMap", "of-pod", &[("v1", "Pod", "db-0"), ("v1", "ConfigMap", "elsewhere")]),
            object("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", "hook", &json!({})),
        ]
    };
    let without = plan(objects(), false);
    assert_eq!(steps(&without), [["db"], ["hook"], ["of-pod"]]);
    assert_eq!(without.items[1].left_out, Some(LeftOut::MadeBy("its StatefulSet")));
    assert_eq!(without.items[2].owners, [Owner::LeftOut(1), Owner::Elsewhere]);
    // Nothing recreates what has finished.
    let mut finished = objects();
    finished[1]["status"] = json!({"phase": "Failed"});
    assert_eq!(plan(finished, true).items[2].owners[0], Owner::Elsewhere);
    let with = plan(objects(), true);
    assert_eq!(steps(&with), [["db-0"], ["of-pod"], ["db"], ["hook"]], "its controller adopts the pod");
    assert_eq!(with.items[2].owners, [Owner::Archived(1), Owner::Elsewhere]);
}

#[test]
fn what_others_need_comes_before_them_and_what_would_refuse_them_last() {
    let of = |api_version: &str, kind: &str| object(api_version, kind, &kind.to_lowercase(), &json!({}));
    let objects = vec![
        of("v1", "ResourceQuota"),
        of("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
        of("v1", "Pod"),
        of("v1", "PersistentVolumeClaim"),
        of("rbac.authorization.k8s.io/v1", "RoleBinding"),
        of("acme.io/v1", "Shop"),
        of("v1", "Secret"),
        of("v1", "PersistentVolume"),
        of("rbac.authorization.k8s.io/v1", "Role"),
        of("v1", "ServiceAccount"),
        of("v1", "LimitRange"),
    ];
    assert_eq!(
        steps(&plan(objects, false)),
        [
            vec!["role", "serviceaccount", "limitrange"],
            vec!["rolebinding", "secret", "persistentvolume"],
            vec!["persistentvolumeclaim"],
            vec!["shop"],
            vec!["pod"],
            vec!["resourcequota"],
            vec!["mutatingwebhookconfiguration"],
        ]
    );
}

#[test]
fn what_a_controller_adopts_comes_before_it() {
    let set = owned("apps/v1", "StatefulSet", "db", &[]);
    let claim = owned("v1", "PersistentVolumeClaim", "data-db-0", &[("apps/v1", "StatefulSet", "db")]);
    let pod = owned("v1", "Pod", "db-0", &[("apps/v1", "StatefulSet", "db")]);
    let of_pod = owned("v1", "PersistentVolumeClaim", "db-0-scratch", &[("v1", "Pod", "db-0")]);
    let objects = || vec![set.clone(), claim.clone(), pod.clone(), of_pod.clone()];
    let found = plan(objects(), false);
    assert_eq!(steps(&found), [["data-db-0"], ["db"]]);
    assert_eq!(Vec::from_iter(found.closing), [(1, 0)]);
    let all = plan(objects(), true);
    assert_eq!(steps(&all), [vec!["data-db-0"], vec!["db-0"], vec!["db-0-scratch"], vec!["db"]]);
    assert_eq!(Vec::from_iter(all.closing), [(1, 0), (2, 0)]);

    let chain = vec![
        owned("apps/v1", "Deployment", "web", &[]),
        owned("apps/v1", "ReplicaSet", "web-1", &[("apps/v1", "Deployment", "web")]),
        owned("v1", "Pod", "web-1-a", &[("apps/v1", "ReplicaSet", "web-1")]),
    ];
    assert_eq!(steps(&plan(chain, true)), [["web-1-a"], ["web-1"], ["web"]]);

    // Adoption in a circle of owners: the pod owns the Deployment above it.
    let circle = vec![
        owned("apps/v1", "Deployment", "web", &[("v1", "Pod", "web-1-a")]),
        owned("apps/v1", "ReplicaSet", "web-1", &[("apps/v1", "Deployment", "web")]),
        owned("v1", "Pod", "web-1-a", &[("apps/v1", "ReplicaSet", "web-1"), ("apps/v1", "Deployment", "web")]),
    ];
    let found = plan(circle, true);
    assert_eq!(steps(&found), [["web-1-a"], ["web-1"], ["web"]]);
    assert_eq!(Vec::from_iter(found.closing), [(1, 0), (2, 0), (2, 1)]);
}

#[test]
fn a_reference_that_led_nowhere_is_to_no_object_of_the_archive() {
    let owner = owned("v1", "ConfigMap", "owner", &[]);
    let reference = |more: Value| {
        let mut dependent = owned("v1", "ConfigMap", "below", &[("v1", "ConfigMap", "owner")]);
        for (key, value) in more.as_object().unwrap() {
            dependent["metadata"]["ownerReferences"][0][key] = value.clone();
        }
        plan(vec![owner.clone(), dependent], false).items[1].owners[0]
    };
    assert_eq!(reference(json!({})), Owner::Archived(0));
    assert_eq!(reference(json!({"apiVersion": "v2"})), Owner::Archived(0), "the version is for the server to judge");
    for wrong in [json!({"name": "other"}), json!({"kind": "Secret"}), json!({"apiVersion": "apps/v1"})] {
        assert_eq!(reference(wrong.clone()), Owner::Elsewhere, "{wrong}");
    }
    for namespace in [json!("elsewhere"), json!("")] {
        let mut dependent = owned("v1", "ConfigMap", "below", &[("v1", "ConfigMap", "owner")]);
        dependent["metadata"]["namespace"] = namespace;
        assert_eq!(plan(vec![owner.clone(), dependent], false).items[1].owners, [Owner::Elsewhere]);
    }
}

#[test]
fn an_archive_with_one_object_twice_is_refused() {
    let error = RestorePlan::new([object("v1", "Pod", "a", &json!({})), object("v1", "Pod", "a", &json!({}))], false)
        .unwrap_err();
    assert!(error.to_string().starts_with("object 2 of the archive (Pod/a) is also object 1;"), "{error}");
    let same_uid = json!({"metadata": {"uid": "u"}});
    let objects = [object("v1", "Pod", "a", &same_uid), object("v1", "Pod", "b", &same_uid)];
    assert!(RestorePlan::new(objects, false).is_err());
}

#[test]
fn of_two_objects_in_one_place_the_later_comes_back() {
    let at = |uid: &str, created: Value| {
        let metadata = json!({"uid": uid, "namespace": "shop", "creationTimestamp": created});
        object("apps/v1", "Deployment", "a", &json!({"metadata": metadata}))
    };
    let stays = |objects: &[Value]| {
        let plan = plan(objects.to_vec(), true);
        let left_out = plan.items.iter().filter(|item| item.left_out == Some(LeftOut::Replaced)).count();
        assert_eq!((left_out, plan.steps.concat().len()), (objects.len() - 1, 1));
        plan.items[plan.steps[0][0]].archived.uid.clone()
    };
    let [early, late] = ["2026-01-31T08:00:00Z", "2026-01-31T08:00:01Z"].map(|time| json!(time));
    assert_eq!(stays(&[at("1", early.clone()), at("2", late.clone())]), "2");
    assert_eq!(stays(&[at("1", late.clone()), at("2", early.clone())]), "1", "by their times, wherever they stand");
    assert_eq!(stays(&[at("1", early.clone()), at("2", early.clone())]), "2", "else by where they stand");
    assert_eq!(stays(&[at("1", late.clone()), at("2", json!(null))]), "2");
    assert_eq!(stays(&[at("1", early.clone()), at("2", late.clone()), at("3", early.clone())]), "2");
    let mut other_version = at("1", early.clone());
    other_version["apiVersion"] = json!("apps/v1beta1");
    assert_eq!(stays(&[other_version, at("2", late.clone())]), "2");
    // The dependents of the earlier object belong to neither; what needs the namespace needs the later one.
    let below = |uid: &str| {
        let reference = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a", "uid": uid});
        object("v1", "ConfigMap", uid, &json!({"metadata": {"namespace": "shop", "ownerReferences": [reference]}}))
    };
    let namespace = |uid: &str, created: &Value| {
        object("v1", "Namespace", "shop", &json!({"metadata": {"uid": uid, "creationTimestamp": created}}))
    };
    let objects = vec![
        at("1", early.clone()),
        at("2", late.clone()),
        below("1"),
        below("2"),
        namespace("n2", &late),
        namespace("n1", &early),
    ];
    let plan = plan(objects, false);
    assert_eq!(
        (plan.items[2].owners.as_slice(), plan.items[3].owners.as_slice()),
        (&[Owner::Elsewhere][..], &[Owner::Archived(1)][..])
    );
    assert_eq!(plan.items[1].needs, [4]);
}

#[test]
fn what_the_server_sets_is_not_sent() {
    let whole = object(
        "v1",
        "ConfigMap",
        "a",
        &json!({"metadata": {
            "resourceVersion": "1", "generation": 2, "creationTimestamp": "2026-01-01T00:00:00Z", "selfLink": "/a",
                "managedFields": [],
            "deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 0, "labels": {"a": "b"},
            "finalizers": ["foregroundDeletion", "acme.io/drain", "orphan"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "o", "uid": "o"}]},
                "data": {"k": "v"}}),
    );
    let sent = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"},
        "metadata": {"name": "a", "labels": {"a": "b"}, "finalizers": ["acme.io/drain"]}});
    assert_eq!(body(whole), sent);
    let only_the_collectors = object("v1", "ConfigMap", "a", &json!({"metadata": {"finalizers": ["orphan"]}}));
    assert_eq!(body(only_the_collectors)["metadata"], json!({"name": "a"}));
}

/// For each kind: what is archived, and what is sent, in `metadata` and elsewhere.
#[test]
fn what_each_kinds_controllers_set_is_not_sent() {
    let cases = [
        (
            "v1",
            "Namespace",
            json!({"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}),
            json!({"spec": {}}),
        ),
        (
            "v1",
            "Service",
            json!({"spec": {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "healthCheckNodePort": 31000,
                            "ports": [{"port": 80, "nodePort": 30000}]}, "status": {"loadBalancer": {}}}),
            json!({"spec": {"ports": [{"port": 80}]}}),
        ),
        (
            "v1",
            "Service",
            json!({"spec": {"clusterIP": "None", "clusterIPs": ["None"]}}),
            json!({"spec": {"clusterIP": "None", "clusterIPs": ["None"]}}),
        ),
        (
            "v1",
            "Pod",
            json!({"spec": {
                "nodeName": "worker-1", "priority": 7, "preemptionPolicy": "Never", "ephemeralContainers": [{}],
                    "hostname": "h",
                "volumes": [{"name": "kube-api-access-x2lqp", "projected": {}}, {"name": "kube-api-access-mine",
                    "emptyDir": {}}],
                "initContainers": [{"name": "i", "volumeMounts": [{"name": "kube-api-access-x2lqp"}]}],
                "containers": [{"name": "c", "volumeMounts": [{"name": "data"}, {"name": "kube-api-access-x2lqp"}]}]},
                "status": {"phase": "Running"}}),
            json!({"spec": {
                "hostname": "h", "volumes": [{"name": "kube-api-access-mine", "emptyDir": {}}],
                "initContainers": [{"name": "i"}], "containers": [{"name": "c", "volumeMounts": [{"name": "data"}]}]}}),
        ),
        (
            "v1",
            "PersistentVolumeClaim",
            json!({"metadata": {"annotations": {"pv.kubernetes.io/bind-completed": "yes",
                "pv.kubernetes.io/bound-by-controller": "yes",
                "volume.kubernetes.io/storage-provisioner": "p", "volume.kubernetes.io/selected-node": "n"}},
                    "spec": {"volumeName": "v"}}),
            json!({"spec": {}}),
        ),
        (
            "v1",
            "PersistentVolume",
            json!({"metadata": {"annotations": {"pv.kubernetes.io/bound-by-controller": "yes", "mine": "a"}},
                   "spec": {"claimRef": {"name": "c", "uid": "u", "resourceVersion": "1"}}}),
            json!({"metadata": {"annotations": {"mine": "a"}}, "spec": {"claimRef": {"name": "c"}}}),
        ),
        (
            "v1",
            "ServiceAccount",
            json!({"secrets": [{"name": "a-token-x2lqp"}, {"name": "a-dockercfg-x2lqp"}, {"name": "a-token-of-mine"}],
                   "imagePullSecrets": [{"name": "a-dockercfg-x2lqp"}]}),
            json!({"secrets": [{"name": "a-token-of-mine"}]}),
        ),
        (
            "v1",
            "Secret",
            json!({"type": "kubernetes.io/service-account-token", "data": {"token": "t", "ca.crt": "c",
                "namespace": "n"},
                   "metadata": {"annotations": {"kubernetes.io/service-account.uid": "u",
                       "kubernetes.io/service-account.name": "s"}}}),
            json!({"type": "kubernetes.io/service-account-token",
                "metadata": {"annotations": {"kubernetes.io/service-account.name": "s"}}}),
        ),
        (
            "v1",
            "Secret",
            json!({"type": "Opaque", "data": {"token": "t"}}),
            json!({"type": "Opaque", "data": {"token": "t"}}),
        ),
        (
            "apps/v1",
            "Deployment",
            json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "3"}}, "spec": {"replicas": 1},
                "status": {}}),
            json!({"spec": {"replicas": 1}}),
        ),
        (
            "batch/v1",
            "Job",
            json!({"metadata": {"labels": {"controller-uid": "u", "batch.kubernetes.io/controller-uid": "u",
                "job-name": "a"}},
                "spec": {"selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": "u"}},
                    "template": {"metadata": {"labels":
                    {"controller-uid": "u", "batch.kubernetes.io/controller-uid": "u", "app": "import"}}}}}),
            json!({"metadata": {"labels": {"job-name": "a"}},
                "spec": {"template": {"metadata": {"labels": {"app": "import"}}}}}),
        ),
        (
            "batch/v1",
            "Job",
            json!({"spec": {"manualSelector": true, "selector": {"matchLabels": {"controller-uid": "u"}}}}),
            json!({"spec": {"manualSelector": true, "selector": {"matchLabels": {"controller-uid": "u"}}}}),
        ),
    ];
    for (api_version, kind, archived, sent) in cases {
        let mut expected = object(api_version, kind, "a", &sent);
        expected["metadata"].as_object_mut().unwrap().remove("uid");
        assert_eq!(body(object(api_version, kind, "a", &archived)), expected, "{kind}");
    }
}

#[test]
fn odd_shapes_are_sent_as_they_are() {
    for kind in
        ["Namespace", "Service", "Pod", "PersistentVolumeClaim", "PersistentVolume", "ServiceAccount", "Secret", "Job"]
    {
        let api_version = if kind == "Job" { "batch/v1" } else { "v1" };
        for odd in
            [json!(null), json!([]), json!("x"), json!({"ports": 1, "containers": [1], "volumes": {}, "template": []})]
        {
            let more = json!({"spec": odd, "secrets": odd, "data": odd, "metadata": {"annotations": [], "labels": 1,
                "finalizers": "x"}});
            let mut expected = object(api_version, kind, "a", &more);
            expected["metadata"].as_object_mut().unwrap().remove("uid");
            assert_eq!(body(object(api_version, kind, "a", &more)), expected, "{kind}");
        }
    }
}

#[test]
fn only_custom_resources_have_their_status_back() {
    let status = json!({"status": {"ready": true}});
    let of = |api_version: &str, kind: &str| plan(vec![object(api_version, kind, "a", &status)], false).items.remove(0);
    let shop = of("acme.io/v1", "Shop");
    assert_eq!((shop.status, &shop.body["status"]), (Some(json!({"ready": true})), &json!({"ready": true})));
    for (api_version, kind) in
        [("apps/v1", "Deployment"), ("v1", "Service"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition")]
    {
        let item = of(api_version, kind);
        assert_eq!((item.status, item.body.get("status")), (None, None), "{kind}");
    }
    assert!(
        of("snapshot.storage.k8s.io/v1", "VolumeSnapshot").status.is_some(),
        "an add-on's kind is a custom resource"
    );
    assert_eq!(plan(vec![object("acme.io/v1", "Shop", "a", &json!({}))], false).items[0].status, None);
}
