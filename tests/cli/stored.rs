//! Stored data: what keeps it, what loses it, and where it is.

use serde_json::{Value, json};

use super::{
    agree::{DELETED, LOCKER, claim, object, on, owners, running, says, says_not},
    field::{at_ten, namespace, node, pod},
};

/// A claim whose owner is gone keeps its data as long as a pod uses it: a delete of that pod makes the loss final.
#[test]
fn the_data_that_only_a_pod_keeps_counts() {
    let [mut gold, volume] = claim("nobody");
    gold["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
    let user = |name: &str| {
        let mut user = pod(name, json!({}));
        user["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]);
        user
    };
    let here = object(LOCKER, "here", json!({}));
    let of = |gold: &Value, users: &[Value], line: &str| {
        let rest = [gold.clone(), volume.clone(), here.clone(), namespace(json!({})), node("True", "x"), at_ten()];
        on(&[&rest[..], users].concat(), line)
    };
    let line = "plan pod/web -n vault --deny-effect=data-loss";
    let ran = of(&gold, &[user("web")], line);
    says(&ran, &["REFUSED: ", "--deny-effect=data-loss: 1 object loses its data", "PersistentVolumeClaim/gold"]);
    says(&of(&gold, &[user("web")], "plan pod/web -n vault"), &["DATA LOSS: "]);
    // Another pod still keeps it, it has lost its data without this delete, or it stays.
    says(&of(&gold, &[user("web"), user("api")], line), &["DELETES: "]);
    says(&of(&gold, &[pod("web", json!({}))], line), &["DELETES: "]);
    let mut kept = gold.clone();
    kept["metadata"]["ownerReferences"] = owners(LOCKER, &["here"]);
    says(&of(&kept, &[user("web")], line), &["DELETES: "]);
    // An owner that stays Terminating keeps it, unless only the collector has to act.
    kept["metadata"]["ownerReferences"] = owners(LOCKER, &["leaving"]);
    for (finalizer, word) in [("bank.dev/audit", "DELETES: "), ("foregroundDeletion", "REFUSED: ")] {
        let leaving = json!({"deletionTimestamp": DELETED, "finalizers": [finalizer]});
        let ran = of(&kept, &[user("web"), object(LOCKER, "leaving", leaving)], line);
        says(&ran, &[word]);
        assert_eq!(ran.out.contains("loses its data"), word == "REFUSED: ", "{ran}");
    }
}

/// R9.35: A volume of the NFS provisioner is deleted, and its StorageClass says whether the data are kept all the same.
#[test]
fn a_provisioner_may_keep_the_data() {
    let of = |name: &str, parameters: Value, line: &str| {
        let [gold, mut volume] = claim("here");
        volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": name});
        volume["spec"]["storageClassName"] = json!("nfs");
        volume["spec"]["csi"] = json!(null);
        volume["spec"]["nfs"] = json!({"server": "nas", "path": "/gold"});
        let mut class = object!(("storage.k8s.io/v1", "StorageClass"), "nfs", {"namespace": null, "provisioner": name});
        class["parameters"] = parameters;
        on(&[gold, volume, class, object(LOCKER, "here", json!({}))], line)
    };
    let nfs = "cluster.local/nfs-subdir-external-provisioner";
    for line in ["plan pvc/gold -n vault", "plan pv/pv1", "plan locker/here -n vault"] {
        for kept in [json!({}), json!({"archiveOnDelete": "true"}), json!({"onDelete": "retain"})] {
            let ran = of(nfs, kept, &format!("{line} -o wide"));
            says(&ran, &["its provisioner keeps the data"]);
            says_not(&ran, &["DATA LOSS"]);
        }
    }
    let line = "plan pvc/gold -n vault";
    for lost in [json!({"archiveOnDelete": "false"}), json!({"onDelete": "delete", "archiveOnDelete": "true"})] {
        says(&of(nfs, lost, line), &["DATA LOSS"]);
    }
    says(&of("disks.bank.dev", json!({"archiveOnDelete": "true"}), line), &["DATA LOSS"]);
}

/// R9.35: A volume of a CSI driver that was made by hand is deleted by the provisioner of that driver, and so is what
/// a plugin made that is now a driver. What was made by hand for such a plugin is kept.
#[test]
fn a_driver_deletes_what_was_made_by_hand_or_by_the_plugin_before_it() {
    let [gold, volume] = claim("here");
    let of = |annotations: Value, source: Value| {
        let mut volume = volume.clone();
        volume["metadata"]["annotations"] = annotations;
        volume["spec"]["csi"] = json!(null);
        volume["spec"].as_object_mut().unwrap().extend(source.as_object().unwrap().clone());
        on(&[gold.clone(), volume], "plan pvc/gold -n vault")
    };
    let csi = json!({"csi": {"driver": "x.y", "volumeHandle": "h"}});
    let disk = json!({"awsElasticBlockStore": {"volumeID": "vol-1"}});
    for (annotations, source) in [
        (json!(null), csi),
        (json!({"pv.kubernetes.io/provisioned-by": "kubernetes.io/aws-ebs"}), disk),
        (json!({"pv.kubernetes.io/provisioned-by": "kubernetes.io/rbd"}), json!({"rbd": {"image": "i"}})),
    ] {
        says(&of(annotations, source), &["DATA LOSS"]);
    }
    let ran = of(json!(null), json!({"nfs": {"server": "nas", "path": "/gold"}}));
    says(&ran, &["DELETES"]);
    says_not(&ran, &["DATA LOSS", "PersistentVolume/pv1  × deleted"]);
}

/// A path of the host without a Node of its own is where its pod has run.
#[test]
fn the_data_of_a_host_path_is_on_the_node_that_uses_it() {
    let [gold, mut volume] = claim("here");
    volume["metadata"]["annotations"] = json!(null);
    volume["spec"]["csi"] = json!(null);
    volume["spec"]["hostPath"] = json!({"path": "/data/gold"});
    let mut user = pod("web", json!({}));
    user["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]);
    let of = |user: Value| {
        let here = object(LOCKER, "here", json!({}));
        on(&[gold.clone(), volume.clone(), user, here, node("True", "2026-03-01T10:00:00Z"), at_ten()], "plan node/n1")
    };
    says(&of(user), &["the data of PersistentVolume/pv1 is on it, and can't be reached until it is back"]);
    says_not(&of(pod("web", json!({}))), &["is on it"]);
}

/// What add-ons delete with an object of theirs.
#[test]
fn storage_and_fleets_are_known_by_their_finalizers() {
    let of = |kind, finalizer: &str, spec: Value| {
        let mut it = object(kind, "it", json!({"finalizers": [finalizer]}));
        it["spec"] = spec;
        on(&[it, namespace(json!({}))], &format!("plan {}/it -n vault -o wide", kind.1.to_lowercase()))
    };
    let buckets = ("objectbucket.io/v1alpha1", "ObjectBucketClaim");
    let machine = ("kubevirt.io/v1", "VirtualMachine");
    let repository = ("fleet.cattle.io/v1alpha1", "GitRepo");
    let fleet = "fleet.cattle.io/gitrepo-finalizer";
    for (kind, finalizer, says_it) in [
        (("longhorn.io/v1beta2", "Volume"), "longhorn.io", "Longhorn deletes the volume with all its replicas"),
        (buckets, "objectbucket.io/finalizer", "the bucket is deleted with all that is in it"),
        (machine, "wrangler.cattle.io/VMController.CleanupPVCAndSnapshot", "removedPersistentVolumeClaims names"),
        (repository, fleet, "Fleet deletes its bundles, and in every cluster what they deployed"),
    ] {
        says(&of(kind, finalizer, json!({})), &[says_it]);
    }
    says(&of(repository, fleet, json!({"keepResources": true})), &["its managed objects are kept (keepResources)"]);
}

/// A volume whose data could not be deleted says why, in its controller's words.
#[test]
fn a_failed_volume_says_why() {
    let said = "rpc error: code = Internal desc = volume h is still attached";
    let failed = |more: Value| {
        let [_, mut volume] = claim("nobody");
        volume["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        volume["status"] = json!({"phase": "Failed", "message": format!("{said}.\n")});
        volume
    };
    let lives = [failed(json!({}))];
    says(&on(&lives, "plan pv/pv1 -o wide"), &[&format!("it is Failed: {said}")]);
    says(&on(&lives, "explain pv/pv1"), &["may delete", &format!("that fails, and is tried again: {said}")]);
    let finalizers = json!(["external-provisioner.volume.kubernetes.io/finalizer"]);
    let goes = [failed(json!({"finalizers": finalizers, "deletionTimestamp": DELETED})), at_ten()];
    for line in ["plan pv/pv1 -o wide", "explain pv/pv1", "doctor"] {
        let ran = on(&goes, line);
        assert_eq!(ran.out.matches(said).count(), 1, "{ran}");
    }
    let mut bound = failed(json!({}));
    bound["status"]["phase"] = json!("Bound");
    says_not(&on(&[bound], "explain pv/pv1"), &[said]);
}

/// Two volumes with one volumeHandle have the same data: the delete of one says that the other loses it, too.
#[test]
fn volumes_with_one_handle_lose_their_data_together() {
    let [gold, mut volume] = claim("here");
    volume["metadata"]["finalizers"] = json!(["external-provisioner.volume.kubernetes.io/finalizer"]);
    let other = |driver: &str, handle: &str| {
        let [_, mut other] = claim("here");
        other["metadata"] = json!({"name": "copy", "uid": "copy"});
        other["spec"]["persistentVolumeReclaimPolicy"] = json!("Retain");
        other["spec"]["csi"] = json!({"driver": driver, "volumeHandle": handle});
        other["spec"]["claimRef"] = json!({"namespace": "shop", "name": "silver", "uid": "silver"});
        other
    };
    let lost = "PersistentVolume/copy is the same data (volumeHandle), and loses it, too";
    for line in ["plan pvc/gold -n vault -o wide", "plan pv/pv1 -o wide"] {
        let with = |other: Value| on(&[gold.clone(), volume.clone(), other], line);
        says(&with(other("x.y", "h")), &["DATA LOSS: ", lost]);
        for (driver, handle) in [("x.y", "g"), ("z.y", "h")] {
            says_not(&with(other(driver, handle)), &["PersistentVolume/copy"]);
        }
    }
    // The other keeps its data when it is deleted itself.
    says_not(&on(&[gold, volume, other("x.y", "h")], "plan pv/copy -o wide"), &["DATA LOSS"]);
}

/// R9.35: the CSI drivers of NFS and SMB have written into the volumeHandle what they do with the data.
#[test]
fn the_driver_of_nfs_may_keep_the_data() {
    let of = |driver: &str, handle: &str, line: &str| {
        let [gold, mut volume] = claim("here");
        volume["spec"]["csi"] = json!({"driver": driver, "volumeHandle": handle});
        on(&[gold, volume, object(LOCKER, "here", json!({}))], &format!("{line} -o wide"))
    };
    let (nfs, smb) = ("nfs.csi.k8s.io", "smb.csi.k8s.io");
    for line in ["plan pvc/gold -n vault", "plan pv/pv1", "plan locker/here -n vault"] {
        for (driver, handle) in [
            (nfs, "nas#share#pvc-1##archive"),
            (nfs, "nas#share#sub#pvc-1#Retain"),
            (smb, "nas/share#pvc-1##retain"),
            (smb, "nas/share#sub#pvc-1#archive"),
        ] {
            let ran = of(driver, handle, line);
            says(&ran, &["its provisioner keeps the data"]);
            says_not(&ran, &["DATA LOSS"]);
        }
    }
    let line = "plan pvc/gold -n vault";
    for (driver, handle) in [
        (nfs, "nas#share#pvc-1##"),
        (nfs, "nas#share#retain#retain"),
        (nfs, "nas/share/pvc-1"),
        ("x.y", "nas#share#pvc-1##archive"),
        (smb, "nas/share#pvc-1##"),
        (smb, "nas/share#retain#pvc-1"),
    ] {
        says(&of(driver, handle, line), &["DATA LOSS"]);
    }
}

/// R9.35: the CSI driver of EFS keeps the files, unless a flag of its controller says otherwise.
#[test]
fn the_driver_of_efs_keeps_the_files() {
    let of = |arguments: Value, line: &str| {
        let [gold, mut volume] = claim("here");
        volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "efs.csi.aws.com"});
        volume["spec"]["csi"] = json!({"driver": "efs.csi.aws.com", "volumeHandle": "fs-1::fsap-1"});
        let mut controller = running("efs-csi-controller");
        controller["spec"]["template"] = json!({"spec": {"containers": [{"name": "efs-plugin", "args": arguments}]}});
        on(&[gold, volume, controller, object(LOCKER, "here", json!({}))], &format!("{line} -o wide"))
    };
    let flag = "--delete-access-point-root-dir";
    for line in ["plan pvc/gold -n vault", "plan pv/pv1", "plan locker/here -n vault"] {
        for arguments in [json!(["--v=2"]), json!([format!("{flag}=false")]), json!(null)] {
            let ran = of(arguments, line);
            says(&ran, &["keeps the files"]);
            says_not(&ran, &["DATA LOSS"]);
        }
    }
    for arguments in [json!([flag]), json!([format!("{flag}=true")]), json!([format!("{flag}=$(DELETES)")])] {
        says(&of(arguments, "plan pvc/gold -n vault"), &["DATA LOSS"]);
    }
    // Where its controller isn't seen, nobody knows.
    let [gold, mut volume] = claim("here");
    volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "efs.csi.aws.com"});
    volume["spec"]["csi"] = json!({"driver": "efs.csi.aws.com", "volumeHandle": "fs-1::fsap-1"});
    says(&on(&[gold, volume], "plan pvc/gold -n vault"), &["DATA LOSS"]);
}

/// R9.35: a volume goes with its claim only if its provisioner runs: its Lease, workload or CSIDriver shows that.
#[test]
fn a_volume_goes_only_if_its_provisioner_runs() {
    let of = |driver: &str, others: &[Value]| {
        let [gold, mut volume] = claim("here");
        volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": driver});
        let objects = [&[gold, volume, running("web"), object(LOCKER, "here", json!({})), at_ten()], others].concat();
        on(&objects, "plan pvc/gold -n vault -o wide")
    };
    let (driver, unseen) = ("disk.acme.io", "its provisioner must run: no evidence");
    let installed = object(("storage.k8s.io/v1", "CSIDriver"), driver, json!({"namespace": null}));
    let mut lease = object(("coordination.k8s.io/v1", "Lease"), "disk-acme-io", json!({}));
    lease["spec"] = json!({"holderIdentity": "csi-0", "leaseDurationSeconds": 15, "renewTime": DELETED});
    let mut elsewhere = running("csi-provisioner");
    elsewhere["metadata"]["namespace"] = json!("disk-system");
    for seen in [
        installed,
        lease,
        elsewhere,
        running("disk-csi-controller"),
        running("nfs-provisioner"),
        running("disk-manager"),
    ] {
        says_not(&of(driver, &[seen]), &[unseen]);
    }
    let says_why = "its provisioner must run: no evidence: the cluster has no workload, Lease or CSIDriver of";
    for other in ["disk-csi-node", "tape-csi-controller"] {
        let ran = of(driver, &[running(other)]);
        says(&ran, &["DATA LOSS: ", "not certain", says_why]);
        let counts = ran.out.lines().find(|line| line.starts_with("DATA LOSS: ")).unwrap();
        assert!(counts.contains("not certain"), "{ran}");
    }
    let mut stopped = running("disk-csi-controller");
    stopped["spec"]["replicas"] = json!(0);
    stopped["status"] = json!({});
    says(&of(driver, &[stopped]), &["its provisioner must run: Deployment/disk-csi-controller -n vault", "0"]);
    // No CSI driver: the name of the program tells.
    says_not(&of("rancher.io/local-path", &[running("local-path-provisioner")]), &[unseen]);
}

/// R9.35: the finalizer of a provisioner that nothing shows may stay, whether the volume is Terminating already or not.
#[test]
fn the_finalizer_of_an_unseen_provisioner_may_stay() {
    let mut volume = claim("here")[1].clone();
    volume["metadata"]["finalizers"] = json!(["external-provisioner.volume.kubernetes.io/finalizer"]);
    volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "disk.acme.io"});
    volume["status"] = json!({"phase": "Released"});
    let of = |deleted: Value, others: &[Value]| {
        let mut volume = volume.clone();
        volume["metadata"]["deletionTimestamp"] = deleted;
        on(&[&[volume, at_ten()], others].concat(), "plan pv/pv1")
    };
    let why = "◊ DEPENDS  ! DATA LOSS; the volume's provisioner must remove external-provisioner.volume.\
               kubernetes.io/finalizer: no evidence: the cluster has no workload, Lease or CSIDriver of disk.acme.io";
    for deleted in [json!(null), json!("2026-03-01T07:00:00Z")] {
        let ran = of(deleted, &[]);
        says(&ran, &[why]);
        assert_eq!(ran.code, 2, "{ran}");
    }
    says_not(&of(json!(null), &[running("disk-csi-controller")]), &["DEPENDS"]);
}

/// R12.10: a released volume goes for certain where its provisioner is seen to run.
#[test]
fn a_provisioner_that_runs_is_no_doubt() {
    let mut volume = claim("here")[1].clone();
    volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "disk.acme.io"});
    volume["status"] = json!({"phase": "Released"});
    let claims = object(("v1", "PersistentVolumeClaim"), "other", json!({}));
    let of = |others: &[Value]| on(&[&[volume.clone(), claims.clone(), at_ten()], others].concat(), "reclaim -A");
    let doubt = "not certain: it goes only if the provisioner disk.acme.io runs";
    says(&of(&[]), &["PersistentVolume/pv1", doubt]);
    let ran = of(&[running("disk-csi-controller")]);
    says(&ran, &["PersistentVolume/pv1"]);
    says_not(&ran, &["not certain"]);
}

/// The provisioner of a volume is found by its Lease and its workload; one that waits long names it.
#[test]
fn the_provisioner_of_a_volume_has_a_name() {
    let mut volume = claim("here")[1].clone();
    let finalizer = "external-provisioner.volume.kubernetes.io/finalizer";
    volume["metadata"]["finalizers"] = json!([finalizer]);
    volume["metadata"]["annotations"] = json!({"pv.kubernetes.io/provisioned-by": "disk.acme.io"});
    volume["metadata"]["deletionTimestamp"] = json!("2026-03-01T07:00:00Z");
    volume["status"] = json!({"phase": "Released"});
    let of = |others: &[Value]| on(&[&[volume.clone(), running("web"), at_ten()], others].concat(), "doctor");
    says(&of(&[running("disk-csi-controller")]), &["Deployment/disk-csi-controller -n vault has ready pods"]);
    says(&of(&[running("csi-provisioner")]), &["Deployment/csi-provisioner -n vault may be its controller"]);
    let installed = object(("storage.k8s.io/v1", "CSIDriver"), "disk.acme.io", json!({"namespace": null}));
    says(&of(&[installed]), &["CSIDriver/disk.acme.io exists, and its provisioner may run outside of the cluster"]);
    says(&of(&[]), &["the cluster has no workload, Lease or CSIDriver of disk.acme.io"]);
}

/// R9.35: a volume that was deleted before its claim, without a finalizer for its data, leaves these behind.
#[test]
fn a_volume_that_was_deleted_first_leaves_its_data_behind() {
    let of = |finalizers: Value, line: &str| {
        let [gold, mut volume] = claim("here");
        volume["metadata"]["finalizers"] = finalizers;
        volume["metadata"]["deletionTimestamp"] = json!("2026-03-01T09:59:00Z");
        volume["status"] = json!({"phase": "Bound"});
        on(&[gold, volume, object(LOCKER, "here", json!({})), at_ten()], line)
    };
    let protected = json!(["kubernetes.io/pv-protection"]);
    for line in ["plan pvc/gold -n vault", "plan locker/here -n vault"] {
        let ran = of(protected.clone(), line);
        assert_eq!(ran.out.matches("left behind").count(), 1, "{ran}");
        says_not(&ran, &["DATA LOSS", "with all data"]);
        let whole = json!(["kubernetes.io/pv-protection", "external-provisioner.volume.kubernetes.io/finalizer"]);
        let ran = of(whole, line);
        says(&ran, &["DATA LOSS"]);
        says_not(&ran, &["left behind"]);
    }
    // kube-controller-manager deletes this one itself, as fast as the volume goes.
    let [gold, mut volume] = claim("here");
    volume["metadata"]["finalizers"] = protected;
    volume["metadata"]["deletionTimestamp"] = json!("2026-03-01T09:59:00Z");
    volume["metadata"]["annotations"] = json!({});
    volume["spec"].as_object_mut().unwrap().remove("csi");
    volume["spec"]["hostPath"] = json!({"path": "/tmp/gold"});
    let whole = [gold, volume, object(LOCKER, "here", json!({})), at_ten()];
    let ran = on(&whole, "plan pvc/gold -n vault");
    says(&ran, &["DATA LOSS: PersistentVolumeClaim/gold loses its data", "persistentVolumeReclaimPolicy"]);
    assert_eq!(ran.code, 2, "{ran}");
    // In the incident, too: the claim is what still keeps the data.
    says(&on(&whole, "explain pv/pv1"), &["DATA LOSS: ", "Next  first keep the data", "persistentVolumeReclaimPolicy"]);
    let waits = "waits for it. Once it is deleted: DATA LOSS: PersistentVolume/pv1 may lose its data.";
    says(&on(&whole, "explain pvc/gold -n vault"), &[waits]);
}

/// R9.40: a claim that is being filled keeps the VolumeSnapshot, and the driver of that says who fills it.
#[test]
fn a_claim_that_is_filled_keeps_its_snapshot() {
    const PROVISIONER: &str = "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection";
    const SNAPSHOTTER: &str = "snapshot.storage.kubernetes.io/volumesnapshot-as-source-protection";
    let of = |phase: &str, more: Value, line: &str| {
        let mut snapshot = object(
            ("snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
            "snap",
            json!({"finalizers": [PROVISIONER, SNAPSHOTTER]}),
        );
        snapshot["metadata"].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        snapshot["spec"] = json!({"source": {"persistentVolumeClaimName": "gold"}});
        snapshot["status"] = json!({"boundVolumeSnapshotContentName": "content", "readyToUse": true});
        let mut content =
            object(("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent"), "content", json!({"namespace": null}));
        content["spec"] = json!({"driver": "ebs.csi.aws.com", "deletionPolicy": "Retain",
            "volumeSnapshotRef": {"namespace": "vault", "name": "snap"}});
        let mut restored = object(("v1", "PersistentVolumeClaim"), "restored", json!({}));
        restored["spec"] = json!({"dataSource": {"apiGroup": "snapshot.storage.k8s.io", "kind": "VolumeSnapshot",
            "name": "snap"}});
        restored["status"] = json!({"phase": phase});
        let all =
            [snapshot, content, restored, running("snapshot-controller"), running("ebs-csi-controller"), at_ten()];
        on(&all, line)
    };
    let plan = "plan volumesnapshot/snap -n vault";
    let ran = of("Pending", json!({}), plan);
    says(&ran, &["waits for PersistentVolumeClaim/restored"]);
    says_not(&ran, &["no evidence", "is not known"]);
    let ran = of("Bound", json!({}), plan);
    says(&ran, &["Deployment/ebs-csi-controller runs", "WAITS: "]);
    says_not(&ran, &["PersistentVolumeClaim/restored"]);
    let deleted = json!({"deletionTimestamp": "2026-03-01T08:00:00Z"});
    let ran = of("Pending", deleted, "doctor");
    says(&ran, &["VolumeSnapshot/snap is in use by PersistentVolumeClaim/restored"]);
}
