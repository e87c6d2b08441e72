//! Operators that refuse while something is in what is deleted, that wipe, or that list what they delete, in dumps as
//! people have them.

use serde_json::{Value, json};

use super::{
    agree::{claim, joined, object, on, owners, running, says, says_not},
    field::{at_ten, namespace, node, pod},
    removers::labelled,
};

/// An object with a spec and with these finalizers.
fn made(kind: (&str, &str), name: &str, finalizers: &[&str], spec: Value) -> Value {
    let mut made = object(kind, name, json!({"finalizers": finalizers}));
    made["spec"] = spec;
    made
}

/// The claim `gold` and its volume, with the attributes that a driver of Rook's writes.
fn in_ceph(attributes: Value) -> Vec<Value> {
    let mut all = claim("nobody");
    all[0]["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    all[1]["spec"]["csi"]["volumeAttributes"] = attributes;
    all.to_vec()
}

/// R9.40: Rook refuses to delete what claims and buckets are in. These come first, and are said to have data.
#[test]
fn rook_keeps_what_has_data_in_it() {
    const GROUP: &str = "ceph.rook.io/v1";
    let operator = running("rook-ceph-operator");
    let pool = made((GROUP, "CephBlockPool"), "pool", &["cephblockpool.ceph.rook.io"], json!({}));
    let files = made((GROUP, "CephFilesystem"), "files", &["cephfilesystem.ceph.rook.io"], json!({}));
    let cluster = |spec| made((GROUP, "CephCluster"), "rook", &["cephcluster.ceph.rook.io"], spec);
    let of_pool = || in_ceph(json!({"clusterID": "vault", "pool": "pool"}));
    let both = [("cephblockpool/pool", &pool, "pool"), ("cephfilesystem/files", &files, "fsName")];
    for (target, kept, key) in both {
        let name = kept["metadata"]["name"].as_str().unwrap();
        for (cluster, used, is_kept) in [("vault", name, true), ("other", name, false), ("vault", "other", false)] {
            let volumes = in_ceph(json!({"clusterID": cluster, (key): used}));
            let objects = [volumes, vec![kept.clone(), operator.clone()]].concat();
            let ran = on(&objects, &format!("plan {target} -n vault"));
            assert_eq!(ran.out.contains("STUCK: "), is_kept, "{ran}");
            assert_eq!(ran.out.contains("waits for PersistentVolumeClaim/gold"), is_kept, "{ran}");
            let said = "delete PersistentVolumeClaim/gold first, with all data: ";
            assert_eq!(ran.out.contains(said), is_kept, "{ran}");
        }
    }
    // The claims before the pools; the cluster may be told not to look at volumes.
    let objects = [of_pool(), vec![cluster(json!({})), pool.clone(), operator.clone()]].concat();
    says(
        &on(&objects, "plan cephcluster/rook -n vault"),
        &["STUCK: ", "delete PersistentVolumeClaim/gold first, with all data, then CephBlockPool/pool: "],
    );
    let careless = cluster(json!({"cleanupPolicy": {"allowUninstallWithVolumes": true}}));
    let ran = on(&[of_pool(), vec![careless, operator.clone()]].concat(), "plan cephcluster/rook -n vault");
    says(&ran, &["WAITS: "]);
    says_not(&ran, &["PersistentVolumeClaim/gold"]);
    // With the claim, the volume must go, too.
    let objects = [of_pool(), vec![pool.clone(), operator.clone()]].concat();
    let ran = on(&objects, "plan cephblockpool/pool pvc/gold -n vault");
    says(&ran, &["DATA LOSS: "]);
    says_not(&ran, &["STUCK"]);
    let mut deleted = pool;
    deleted["metadata"]["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
    let objects = [of_pool(), vec![deleted, operator.clone(), at_ten()]].concat();
    says(&on(&objects, "doctor"), &["CephBlockPool/pool is in use by PersistentVolumeClaim/gold."]);
    says(&on(&objects, "explain cephblockpool/pool -n vault"), &["STUCK: ", "until PersistentVolumeClaim/gold"]);

    let store = made((GROUP, "CephObjectStore"), "store", &["cephobjectstore.ceph.rook.io"], json!({}));
    for (name, is_kept) in [("store", true), ("other", false)] {
        let state = json!({"objectStoreName": name, "objectStoreNamespace": "vault"});
        let mut bucket = made(("objectbucket.io/v1alpha1", "ObjectBucket"), "obc-gold", &[], json!({}));
        bucket["metadata"]["namespace"] = json!(null);
        bucket["spec"]["additionalState"] = state;
        let ran = on(&[store.clone(), bucket, operator.clone()], "plan cephobjectstore/store -n vault");
        let said = "delete ObjectBucket/obc-gold first, with all data: ";
        assert_eq!(ran.out.contains(said), is_kept, "{ran}");
        assert_eq!(ran.out.contains("STUCK: "), is_kept, "{ran}");
    }
}

/// What destroys data is data loss: gates count it, and Next doesn't offer it as a step to something else.
#[test]
fn operators_that_destroy_data_say_so() {
    const CSTOR: &str = "cstor.openebs.io/v1";
    const WIPES: &str = "plan storagecluster/px -n vault --deny-effect=data-loss";
    let lost = [
        (CSTOR, "CStorPoolCluster", "cstorpoolcluster.openebs.io/finalizer", "cspc-operator", json!({}), json!(null)),
        (CSTOR, "CStorVolumeConfig", "cvc.openebs.io/finalizer", "cvc-operator", json!({}), json!(null)),
        (
            "core.libopenstorage.org/v1",
            "StorageCluster",
            "operator.libopenstorage.org/delete",
            "portworx-operator",
            json!({"deleteStrategy": {"type": "UninstallAndWipe"}}),
            json!({"deleteStrategy": {"type": "Uninstall"}}),
        ),
        (
            "k8s.mariadb.com/v1alpha1",
            "Database",
            "database.k8s.mariadb.com/finalizer",
            "mariadb-operator",
            json!({}),
            json!({"cleanupPolicy": "Skip"}),
        ),
        (
            "postgresql.cnpg.io/v1",
            "Database",
            "cnpg.io/deleteDatabase",
            "other",
            json!({"databaseReclaimPolicy": "delete"}),
            json!({}),
        ),
    ];
    for (group, kind, finalizer, operator, loses, keeps) in lost {
        let line = WIPES.replace("storagecluster", &kind.to_lowercase());
        let of = |spec: Value| on(&[made((group, kind), "px", &[finalizer], spec), running(operator)], &line);
        let ran = of(loses);
        says(&ran, &["REFUSED: ", &format!("{kind}/px  "), "! DATA LOSS"]);
        says_not(&ran, &["STUCK"]);
        assert_eq!(ran.code, 2, "{ran}");
        if !keeps.is_null() {
            says_not(&of(keeps), &["REFUSED", "DATA LOSS"]);
        }
    }
    // Neither as a step of another delete; the webhook that guards it stays until that is done.
    let pools = made((CSTOR, "CStorPoolCluster"), "px", &["cstorpoolcluster.openebs.io/finalizer"], json!({}));
    let objects = [pools, running("openebs-cstor-cspc-operator"), pod("x", json!({})), namespace(json!({}))];
    let ran = on(&objects, "plan ns/vault");
    says(
        &ran,
        &["DATA LOSS: ", "must go, too: delete first", "--assume-complete cstorpoolclusters.cstor.openebs.io/px"],
    );
    says_not(&ran, &["gc delete"]);
}

/// R9.38: what an inventory names goes, too; what it doesn't name is not known, and gates count that.
#[test]
fn more_inventories_are_read() {
    const FLEET: &str = "fleet.cattle.io/v1alpha1";
    let gold = || in_ceph(json!({}));
    let repository = made((FLEET, "GitRepo"), "apps", &["fleet.cattle.io/gitrepo-finalizer"], json!({}));
    let bundle = made((FLEET, "Bundle"), "shop", &["fleet.cattle.io/bundle-finalizer"], json!({}));
    let bundle = labelled(bundle, json!({"fleet.cattle.io/repo-name": "apps"}));
    let deployment = |cluster: &str, listed: Value| {
        let finalizer = "fleet.cattle.io/bundle-deployment-finalizer";
        let mut deployment = made((FLEET, "BundleDeployment"), "shop", &[finalizer], json!({}));
        deployment["metadata"]["namespace"] = json!(format!("cluster-fleet-{cluster}-1a2b"));
        deployment["status"] = listed;
        let of = json!({"fleet.cattle.io/bundle-name": "shop", "fleet.cattle.io/bundle-namespace": "vault"});
        labelled(deployment, of)
    };
    let listed = json!([{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "vault", "name": "gold"}]);
    let listed = json!({ "resources": listed });
    let with = |deployment: Value| {
        let others = vec![repository.clone(), bundle.clone(), deployment, running("fleet-controller")];
        let objects = [gold(), others, vec![running("fleet-agent")]].concat();
        on(&objects, "plan gitrepo/apps -n vault --deny=pvc")
    };
    says(&with(deployment("local-local", listed.clone())), &["REFUSED: ", "PersistentVolumeClaim/gold", "! DATA LOSS"]);
    says(&with(deployment("local-local", json!({}))), &["REFUSED: ", "what goes with BundleDeployment/shop"]);
    let remote = with(deployment("fleet-default-c1", listed));
    says(&remote, &["in another cluster"]);
    says_not(&remote, &["REFUSED", "PersistentVolumeClaim/gold"]);

    let chart = made(("helm.cattle.io/v1", "HelmChart"), "px", &["wrangler.cattle.io/on-helm-chart-remove"], json!({}));
    let ran = on(&[gold(), vec![chart]].concat(), "plan helmchart/px -n vault --deny=pvc");
    says(&ran, &["REFUSED: ", "what goes with HelmChart/px is not known"]);

    let app = |spec: Value, status: Value| {
        let kind = ("kappctrl.k14s.io/v1alpha1", "App");
        let mut app = made(kind, "px", &["finalizers.kapp-ctrl.k14s.io/delete"], spec);
        app["status"] = status;
        let gold = gold();
        let deployed = labelled(gold[0].clone(), json!({"kapp.k14s.io/app": "17"}));
        let objects = [app, deployed, gold[1].clone(), running("kapp-controller")];
        on(&objects, "plan app/px -n vault --deny=pvc")
    };
    let listed =
        json!({"label": "kapp.k14s.io/app=17", "groupKinds": [{"group": "", "kind": "PersistentVolumeClaim"}]});
    let listed = json!({"deploy": {"kapp": {"associatedResources": listed}}});
    says(&app(json!({}), listed.clone()), &["REFUSED: ", "PersistentVolumeClaim/gold", "! DATA LOSS"]);
    says(&app(json!({}), json!({})), &["REFUSED: ", "what goes with App/px is not known"]);
    says_not(&app(json!({"noopDelete": true}), listed), &["REFUSED", "DATA LOSS"]);

    let istio =
        made(("install.istio.io/v1alpha1", "IstioOperator"), "cp", &["istio-finalizer.install.istio.io"], json!({}));
    let of = |namespace: &str| {
        let owner = json!({"install.operator.istio.io/owning-resource": "cp",
            "install.operator.istio.io/owning-resource-namespace": namespace});
        let objects = [istio.clone(), labelled(running("istiod"), owner), running("istio-operator")];
        on(&objects, "plan istiooperator/cp -n vault")
    };
    says(&of("vault"), &["Deployment/istiod"]);
    says_not(&of("other"), &["Deployment/istiod"]);

    let tenant = |reclaims: bool| {
        let pools = json!({"pools": [{"name": "p0"}, {"name": "p1", "reclaimStorage": reclaims}]});
        let mut gold = gold();
        gold[0] = labelled(gold[0].clone(), json!({"v1.min.io/tenant": "px"}));
        let tenant = made(("minio.min.io/v2", "Tenant"), "px", &[], pools);
        on(&[gold, vec![tenant, running("minio-operator")]].concat(), "plan tenant/px -n vault")
    };
    says(&tenant(true), &["DATA LOSS: ", "assumed: the operator of Tenant/px deletes what it has made for it"]);
    says_not(&tenant(false), &["DATA LOSS", "PersistentVolumeClaim/gold"]);
}

/// R9.38: KubeVela's trackers list what goes; Config Sync keeps that list elsewhere, and gates count that.
#[test]
fn what_is_applied_goes_with_its_source() {
    let application =
        made(("core.oam.dev/v1beta1", "Application"), "shop", &["app.oam.dev/resource-tracker-finalizer"], json!({}));
    let tracker = |of: &str, more: Value| {
        let gold = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "vault", "name": "gold"});
        let spec = json!({"managedResources": [joined(gold, &more)]});
        let kind = ("core.oam.dev/v1beta1", "ResourceTracker");
        let mut tracker = made(kind, "shop-v1-vault", &["resourcetracker.core.oam.dev/finalizer"], spec);
        tracker["metadata"]["namespace"] = json!(null);
        labelled(tracker, json!({"app.oam.dev/name": of, "app.oam.dev/namespace": "vault"}))
    };
    let with = |tracker: Value| {
        let all = [in_ceph(json!({})), vec![application.clone(), tracker, running("kubevela-vela-core")]].concat();
        on(&all, "plan application/shop -n vault --deny=pvc")
    };
    for here in [json!({}), json!({"cluster": "local"})] {
        says(&with(tracker("shop", here)), &["REFUSED: ", "PersistentVolumeClaim/gold", "! DATA LOSS"]);
    }
    for away in [json!({"cluster": "prod"}), json!({"skipGC": true})] {
        says_not(&with(tracker("shop", away)), &["REFUSED", "PersistentVolumeClaim/gold"]);
    }
    says_not(&with(tracker("other", json!({}))), &["REFUSED", "PersistentVolumeClaim/gold"]);

    let sync = made(("configsync.gke.io/v1beta1", "RootSync"), "root", &["configsync.gke.io/reconciler"], json!({}));
    let ran = on(&[sync, running("root-reconciler")], "plan rootsync/root -n vault --deny=pvc");
    says(&ran, &["REFUSED: ", "deletes every object that it applied", "what goes with RootSync/root is not known"]);
}

/// R9.38: KubeVirt takes its CRDs, and so all machines, along; Rancher the Nodes that objects of its own stand for.
#[test]
fn what_a_whole_product_takes_along() {
    let virt = |spec: Value| made(("kubevirt.io/v1", "KubeVirt"), "kv", &["foregroundDeleteKubeVirt"], spec);
    let crd = |by: &str| {
        let name = "virtualmachines.kubevirt.io";
        let of = json!({"app.kubernetes.io/managed-by": by});
        object!(("apiextensions.k8s.io/v1", "CustomResourceDefinition"), name, {"namespace": null,
            "labels": of, "spec": {"group": "kubevirt.io", "scope": "Namespaced", "names": {"kind": "VirtualMachine",
                "plural": "virtualmachines"}, "versions": [{"name": "v1", "served": true, "storage": true}]},
            "status": {"conditions": [{"type": "Established", "status": "True"}],
                "acceptedNames": {"kind": "VirtualMachine", "plural": "virtualmachines"}}})
    };
    const MACHINE: (&str, &str) = ("kubevirt.io/v1", "VirtualMachine");
    let finalizer = "kubevirt.io/virtualMachineControllerFinalize";
    let mut machine = object(MACHINE, "vm", json!({"namespace": "shop", "finalizers": [finalizer]}));
    machine["spec"] = json!({"running": true});
    let mut disk = in_ceph(json!({}));
    disk[0]["metadata"]["ownerReferences"] = owners(MACHINE, &["vm"]);
    disk[0]["metadata"]["namespace"] = json!("shop");
    disk[1]["spec"]["claimRef"]["namespace"] = json!("shop");
    let with = |spec: Value, by: &str, target: &str| {
        let operators = vec![running("virt-operator"), running("virt-controller")];
        let own = vec![namespace(json!({})), virt(spec), crd(by), machine.clone()];
        on(&[disk.clone(), own, operators].concat(), &format!("plan {target} -n vault --deny-effect=data-loss"))
    };
    let removes = || json!({"uninstallStrategy": "RemoveWorkloads"});
    let lost = ["REFUSED: ", "deletes its CRDs, with every virtual machine", "VirtualMachine/vm", "! DATA LOSS"];
    for spec in [removes(), json!({})] {
        says(&with(spec, "virt-operator", "kubevirt/kv"), &lost);
    }
    says_not(&with(removes(), "somebody", "kubevirt/kv"), &["DATA LOSS", "VirtualMachine/vm"]);
    let blocks = json!({"uninstallStrategy": "BlockUninstallIfWorkloadsExist"});
    says(&with(blocks, "virt-operator", "kubevirt/kv"), &["unless its webhook refuses this delete"]);
    let ran = with(removes(), "virt-operator", "ns/vault");
    says(
        &ran,
        &[
            "if KubeVirt/kv -n vault must go, too: ",
            "see what that takes along",
            "if VirtualMachine/vm -n shop must go",
        ],
    );
    says_not(&ran, &["kubectl gc delete"]);
    let cdi = made(("cdi.kubevirt.io/v1beta1", "CDI"), "cdi", &["operator.cdi.kubevirt.io"], removes());
    let ran = on(&[cdi, running("cdi-operator")], "plan cdi/cdi -n vault --deny=pvc");
    says(&ran, &["REFUSED: ", "may delete every DataVolume with its claim", "what goes with CDI/cdi is not known"]);

    let mut of_rancher =
        made(("management.cattle.io/v3", "Node"), "m-1", &["controller.cattle.io/node-controller"], json!({}));
    of_rancher["status"] = json!({"nodeName": "n1"});
    for (cluster, is_here) in [("local", true), ("c-abcde", false)] {
        of_rancher["metadata"]["namespace"] = json!(cluster);
        let mut place = namespace(json!({}));
        place["metadata"]["name"] = json!(cluster);
        let objects = [place, of_rancher.clone(), running("rancher"), node("True", "2026-03-01T10:00:00Z")];
        for target in [format!("ns/{cluster}"), format!("nodes.management.cattle.io/m-1 -n {cluster}")] {
            let ran = on(&objects, &format!("plan {target}"));
            says(&ran, &["Rancher, before version 2.12, deletes the Node that it stands for: 1 object"]);
            says(&ran, &["DEPENDS: ", "but since version 2.12 it leaves this finalizer"]);
            assert_eq!(ran.out.contains(" Node/n1 "), is_here, "{ran}");
            assert_eq!(ran.out.contains("in another cluster"), !is_here, "{ran}");
            assert_eq!(ran.code, 2, "{ran}");
        }
    }
}

/// R9.38: a release whose Secret goes with the Namespace may not be uninstalled any more. An App whose ServiceAccount
/// goes with it stays (R9.46). Both can be deleted first.
#[test]
fn what_a_controller_needs_may_go_with_the_namespace() {
    let kind = ("helm.toolkit.fluxcd.io/v2", "HelmRelease");
    let release = |spec: Value| made(kind, "web", &["finalizers.fluxcd.io"], spec);
    let installed = json!({"helm.toolkit.fluxcd.io/name": "web", "helm.toolkit.fluxcd.io/namespace": "vault",
        "app.kubernetes.io/managed-by": "Helm"});
    let role = object!(("rbac.authorization.k8s.io/v1", "ClusterRole"), "web", {"namespace": null, "rules": []});
    let role = labelled(role, installed);
    let mut flux = running("helm-controller");
    flux["metadata"]["namespace"] = json!("flux-system");
    let with = |spec: Value| [namespace(json!({})), release(spec), role.clone(), flux.clone()];
    let first = "to have Flux uninstall it for certain, delete the HelmRelease first";
    let ran = on(&with(json!({})), "plan ns/vault");
    says(&ran, &["ClusterRole/web", "not certain", "goes first", first, "--assume-complete helmreleases"]);
    let ran = on(&with(json!({})), "plan helmrelease/web -n vault");
    says(&ran, &["ClusterRole/web"]);
    says_not(&ran, &["not certain", first]);
    let mut elsewhere = with(json!({}));
    elsewhere[1]["status"] = json!({"storageNamespace": "flux-system"});
    elsewhere[3]["metadata"]["namespace"] = json!("flux-system");
    says_not(&on(&elsewhere, "plan ns/vault"), &["ClusterRole/web  » later  ?", "goes first", first]);
    says_not(&on(&with(json!({"suspend": true})), "plan ns/vault"), &[first, "ClusterRole/web"]);

    let app = made(
        ("kappctrl.k14s.io/v1alpha1", "App"),
        "web",
        &["finalizers.kapp-ctrl.k14s.io/delete"],
        json!({"serviceAccountName": "deployer"}),
    );
    let mut kapp = running("kapp-controller");
    kapp["metadata"]["namespace"] = json!("kapp");
    let account = object(("v1", "ServiceAccount"), "deployer", json!({}));
    let objects = [namespace(json!({})), app, account, kapp];
    let ran = on(&objects, "plan ns/vault");
    let first = ["delete first, while", "--assume-complete apps"];
    says(&ran, &[&["acts as ServiceAccount/deployer", "goes in this delete"], &first[..]].concat());
    assert_eq!(ran.code, 2, "{ran}");
    says_not(&on(&objects, "plan app/web -n vault"), &["acts as", "DEPENDS"]);
    let [namespace, mut app, account, kapp] = objects;
    app["metadata"]["deletionTimestamp"] = json!("2026-03-01T08:00:00Z");
    let stays = "acts as ServiceAccount/deployer, which does not exist";
    says(&on(&[namespace.clone(), app.clone(), kapp.clone(), at_ten()], "doctor"), &["stuck-finalizer", stays]);
    says_not(&on(&[namespace, app, account, kapp, at_ten()], "doctor"), &[stays]);
}

/// R9.35: nobody cleans a local volume whose Node is gone, or has been made again: it may stay, and its data isn't lost
/// with its claim.
#[test]
fn a_local_volume_needs_its_node() {
    let demands = json!([{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]);
    let with = |provisioner: &str, name: &str, uid: &str| {
        let mut gold = in_ceph(json!(null));
        gold[1]["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": provisioner});
        gold[1]["spec"]["nodeAffinity"] =
            json!({"required": {"nodeSelectorTerms": [{"matchExpressions": demands.clone()}]}});
        gold[1]["spec"]["csi"] = json!(null);
        gold[1]["spec"]["local"] = json!({"path": "/mnt/x"});
        let mut node = node("True", "2026-03-01T10:00:00Z");
        node["metadata"]["name"] = json!(name);
        node["metadata"]["uid"] = json!(uid);
        on(&[gold, vec![node, at_ten()]].concat(), "plan pvc/gold -n vault")
    };
    let gone = "its volume may stay Released: Node/n1, which its data is on, is gone";
    for (provisioner, name, uid, is_gone) in [
        ("rancher.io/local-path", "n1", "a", false),
        ("rancher.io/local-path", "n2", "a", true),
        ("local-volume-provisioner-n1-a", "n1", "a", false),
        ("local-volume-provisioner-n1-a", "n1", "b", true),
        ("local-volume-provisioner-n1", "n1", "b", false),
    ] {
        let ran = with(provisioner, name, uid);
        assert_eq!(ran.out.contains(gone), is_gone, "{ran}");
        assert_eq!(ran.out.contains("DATA LOSS"), !is_gone, "{ran}");
    }
}

/// Doctor tells of the data of those objects that a finding lets go: what another finding holds isn't lost with it.
#[test]
fn data_is_lost_with_what_holds_it() {
    let deleted = json!({"deletionTimestamp": "2026-03-01T08:00:00Z", "finalizers": ["bank.dev/keys"]});
    let mut gold = in_ceph(json!({}));
    gold[0]["metadata"].as_object_mut().unwrap().extend(deleted.as_object().unwrap().clone());
    let secret = object(("v1", "Secret"), "key", deleted);
    let leaving = namespace(json!({"deletionTimestamp": "2026-03-01T08:00:00Z"}));
    let objects = [gold, vec![secret, leaving, at_ten()]].concat();
    let ran = on(&objects, "doctor");
    let loses = "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data.";
    says(&ran, &["1 error: stuck-finalizer: PersistentVolumeClaim/gold and Secret/key -n vault.", loses]);
}

/// R9.40: Kueue keeps the pods of a group until the group has ended, or its Workload is deleted.
#[test]
fn kueue_keeps_the_pods_of_a_group() {
    let member =
        |name: &str, labels: Value| labelled(pod(name, json!({"finalizers": ["kueue.x-k8s.io/managed"]})), labels);
    let group = json!({"kueue.x-k8s.io/pod-group-name": "main"});
    let workload = object!(("kueue.x-k8s.io/v1beta1", "Workload"), "main", {"spec": {}});
    let others = [workload, running("kueue-controller-manager"), at_ten()];
    let ran = on(&[&others[..], &[member("one", group)]].concat(), "plan pod/one -n vault");
    says(&ran, &["waits for Workload/main", "delete Workload/main first: Pod/one stays as long as that uses it"]);
    says_not(&ran, &["WAITS: "]);
    says_not(&on(&[&others[..], &[member("two", json!({}))]].concat(), "plan pod/two -n vault"), &["Workload/main"]);
}

/// R9.40: what is bound to a service, a bus or a cluster of databases keeps it, and is named to be deleted first.
#[test]
fn what_is_bound_keeps_what_it_is_bound_to() {
    const CATALOG: &str = "servicecatalog.k8s.io/v1beta1";
    const CLOUD: &str = "services.cloud.sap.com/v1";
    const EVENTS: &str = "argoproj.io/v1alpha1";
    const REDIS: &str = "app.redislabs.com/v1";
    const OF_CLUSTER: &str = "redbfinalizer.redisenterpriseclusters.app.redislabs.com";
    type Spec = fn(&str) -> Value;
    let instance: Spec = |name| json!({"instanceRef": {"name": name}});
    let binding: Spec = |name| json!({"serviceInstanceName": name});
    let bus: Spec = |name| json!({"eventBusName": name});
    let cluster: Spec = |name| json!({"redisEnterpriseCluster": {"name": name}});
    let all = [
        (CATALOG, "ServiceInstance", "kubernetes-incubator/service-catalog", "ServiceBinding", instance),
        (CLOUD, "ServiceInstance", "services.cloud.sap.com/sap-btp-finalizer", "ServiceBinding", binding),
        (EVENTS, "EventBus", "eventbus-controller", "EventSource", bus),
        (EVENTS, "EventBus", "eventbus-controller", "Sensor", bus),
        (REDIS, "RedisEnterpriseCluster", OF_CLUSTER, "RedisEnterpriseDatabase", cluster),
    ];
    for (version, kind, finalizer, by, spec) in all {
        for (uses, is_kept) in [("main", true), ("another", false)] {
            let user = made((version, by), "user", &[], spec(uses));
            let mut objects = vec![made((version, kind), "main", &[finalizer], json!({})), user, at_ten()];
            let ran = on(&objects, &format!("plan {kind}/main -n vault"));
            assert_eq!(ran.out.contains(&format!("waits for {by}/user")), is_kept, "{ran}");
            assert_eq!(ran.out.contains(&format!("delete {by}/user first")), is_kept, "{ran}");
            objects[0]["metadata"]["deletionTimestamp"] = json!("2026-03-01T07:00:00Z");
            let ran = on(&objects, "doctor");
            assert_eq!(ran.out.contains(&format!("{kind}/main is in use by {by}/user.")), is_kept, "{ran}");
        }
    }
    // Who names no bus uses the one that is called default.
    for (name, is_kept) in [("default", true), ("main", false)] {
        let source = made((EVENTS, "EventSource"), "hook", &[], json!({}));
        let objects = [made((EVENTS, "EventBus"), name, &["eventbus-controller"], json!({})), source, at_ten()];
        let ran = on(&objects, &format!("plan eventbus/{name} -n vault"));
        assert_eq!(ran.out.contains("waits for EventSource/hook"), is_kept, "{ran}");
    }
}

/// R9.38: what destroys a whole cluster, a machine or a backup is told, and gates count it, unless a field of its own
/// keeps that.
#[test]
fn whole_clusters_machines_and_backups_go_with_what_stands_for_them() {
    let all = [
        (
            ("hive.openshift.io/v1", "ClusterDeployment"),
            ("hive.openshift.io/deprovision", "hive-controllers", "external"),
            json!({"preserveOnDelete": false}),
            json!({"preserveOnDelete": true}),
        ),
        (("core.gardener.cloud/v1beta1", "Shoot"), ("gardener", "gardenlet", "external"), json!({}), json!(null)),
        (
            ("metal3.io/v1alpha1", "BareMetalHost"),
            ("baremetalhost.metal3.io", "baremetal-operator-controller-manager", "external"),
            json!({"online": true}),
            json!(null),
        ),
        (
            ("pingcap.com/v1alpha1", "Backup"),
            ("tidb.pingcap.com/backup-protection", "tidb-controller-manager", "data-loss"),
            json!({"cleanPolicy": "Delete"}),
            json!({"cleanPolicy": "Retain"}),
        ),
    ];
    for (kind, (finalizer, operator, effect), goes, stays) in all {
        let of = |spec: Value, line: &str| on(&[made(kind, "one", &[finalizer], spec), running(operator)], line);
        let plan = format!("plan {}/one -n vault", kind.1.to_lowercase());
        let gate = format!("{plan} --deny-effect={effect}");
        let ran = of(goes.clone(), &gate);
        says(&ran, &["REFUSED: "]);
        assert_eq!(ran.code, 2, "{ran}");
        says_not(&of(goes, &plan), &["STUCK", "may be its controller", "is not known"]);
        if !stays.is_null() {
            let ran = of(stays, &gate);
            says(&ran, &["WAITS: "]);
            assert_eq!(ran.code, 0, "{ran}");
        }
    }
}

/// R9.38: what KubeDB does with the claims of a database, the database itself says.
#[test]
fn a_database_of_kubedb_says_what_becomes_of_its_claims() {
    let of = |policy: Value, instance: &str, line: &str| {
        let mut all = in_ceph(json!({}));
        all[0]["metadata"]["labels"] =
            json!({"app.kubernetes.io/managed-by": "kubedb.com", "app.kubernetes.io/instance": instance});
        all.push(made(("kubedb.com/v1", "Postgres"), "main", &["kubedb.com"], policy));
        all.push(running("kubedb-kubedb-provisioner"));
        on(&all, line)
    };
    let (plan, gate) = ("plan postgres/main -n vault", "plan postgres/main -n vault --deny=pvc");
    for lost in [json!({"deletionPolicy": "WipeOut"}), json!({"deletionPolicy": "Delete"}), json!({})] {
        says(&of(lost.clone(), "main", plan), &["DATA LOSS: ", "PersistentVolumeClaim/gold", "KubeDB must remove"]);
        says(&of(lost.clone(), "main", gate), &["REFUSED: "]);
        says_not(&of(lost, "other", plan), &["DATA LOSS", "PersistentVolumeClaim/gold"]);
    }
    for kept in [json!({"deletionPolicy": "Halt"}), json!({"terminationPolicy": "Halt"})] {
        let ran = of(kept, "main", gate);
        says(&ran, &["WAITS: "]);
        says_not(&ran, &["DATA LOSS", "REFUSED"]);
    }
    let refused = of(json!({"deletionPolicy": "DoNotTerminate"}), "main", plan);
    says(&refused, &["unless its webhook refuses this delete: DoNotTerminate"]);
}

/// R9.38: a Machine of OpenShift takes its Node along, and what is on that.
#[test]
fn a_machine_takes_its_node_along() {
    const MACHINE: (&str, &str) = ("machine.openshift.io/v1beta1", "Machine");
    let mut all = in_ceph(json!({}));
    all[1]["spec"] = json!({"local": {"path": "/disk"}, "persistentVolumeReclaimPolicy": "Retain",
        "claimRef": all[1]["spec"]["claimRef"].clone(), "nodeAffinity": {"required": {"nodeSelectorTerms":
        [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]}}});
    let mut worker = node("True", "2026-03-01T10:00:00Z");
    worker["metadata"]["labels"] = json!({"kubernetes.io/hostname": "n1"});
    let mut machine = made(MACHINE, "w1", &["machine.machine.openshift.io"], json!({}));
    machine["status"] = json!({"nodeRef": {"kind": "Node", "name": "n1"}});
    all.extend([worker, machine, pod("web", json!({})), running("machine-api-controllers")]);
    let ran = on(&all, "plan machine/w1 -n vault");
    says(
        &ran,
        &["Node/n1 ", "Pod/web ", "DATA LOSS: ", "the data of PersistentVolume/pv1 is on it, and is lost with its"],
    );
    for gate in ["--deny=node", "--deny=pod", "--deny-effect=data-loss"] {
        let ran = on(&all, &format!("plan machine/w1 -n vault {gate}"));
        says(&ran, &["REFUSED: "]);
        assert_eq!(ran.code, 2, "{ran}");
    }
    // The Node alone comes back, as far as anybody knows; a Machine without one has none.
    says(&on(&all, "plan node/n1"), &["can't be reached until it is back"]);
    all[3]["status"] = json!({});
    says_not(&on(&all, "plan machine/w1 -n vault"), &["Node/n1", "Pod/web", "DATA LOSS"]);
}
