//! What Terminating objects wait for beside owners and dependents: somebody who resumes them, or whoever uses them.

use serde_json::{Value, json};

use super::{
    agree::{DELETED, LOCKER, claim, document, object, on, owners, running, says, says_not},
    field::{at_ten, namespace, node, pod},
};

/// What `delete --hold` holds waits for somebody, and for no controller: each command says how to let it go.
#[test]
fn what_is_held_is_let_go_or_taken_back() {
    let held = json!({"finalizers": ["kubectl-gc/hold", "kubectl-gc/uncancelled"], "deletionTimestamp": DELETED});
    let web = object(("apps/v1", "Deployment"), "web", held);
    let set = owners(("apps/v1", "Deployment"), &["web"]);
    let set = object(("apps/v1", "ReplicaSet"), "web-1", json!({"ownerReferences": set}));
    let uid = web["metadata"]["uid"].as_str().unwrap();
    let record = object(("v1", "Secret"), "web-hold", json!({"labels": {"kubectl-gc/hold": uid}}));
    let all = [namespace(json!({})), web.clone(), set, record, at_ten()];
    const LET_GO: &str = "kubectl gc delete deployments.apps/web -n vault --hold=0s";
    const TAKE_BACK: &str = "kubectl gc cancel deployments.apps/web -n vault";
    const HELD: &str = "held by kubectl gc delete --hold";
    let ran = on(&all, "plan deploy/web -n vault");
    says(&ran, &["STUCK: ", "■ STUCK  held by kubectl gc delete --hold\n", LET_GO, TAKE_BACK]);
    says_not(&ran, &["uncancelled", "Leases", "kubectl gc explain"]);
    let ran = on(&all, "plan ns/vault");
    says(&ran, &["waits for Deployment/web, held by kubectl gc delete --hold\n", LET_GO, TAKE_BACK]);
    assert_eq!(ran.out.matches(LET_GO).count(), 1, "{ran}");
    let ran = on(&all, "explain deploy/web -n vault");
    says(
        &ran,
        &[
            "STUCK: Deployment/web is Terminating until somebody ends the hold or takes the delete back",
            HELD,
            TAKE_BACK,
        ],
    );
    says_not(&ran, &["--cascade=orphan"]);
}

/// A VolumeAttachment of the volume behind the claim `gold`. The attach-detach controller names that to Node `n1` so.
fn attachment(node: &str, attached: bool) -> Value {
    const NAME: &str = "csi-2a7fdfd40a63238bfe902654e3d29ef3b79a0bae8121e41204fafdfe5042b78c";
    let mut attachment = object!(("storage.k8s.io/v1", "VolumeAttachment"), NAME, {"namespace": null,
        "finalizers": ["external-attacher/x-y"]});
    attachment["spec"] = json!({"attacher": "x.y", "nodeName": node, "source": {"persistentVolumeName": "pv1"}});
    attachment["status"] = json!({ "attached": attached });
    attachment
}

fn user_of_gold(name: &str, more: Value) -> Value {
    let mut user = pod(name, more);
    user["spec"]["volumes"] = json!([{"name": "d", "persistentVolumeClaim": {"claimName": "gold"}}]);
    user
}

/// R9.49: the VolumeAttachment goes with the last pod on the Node that uses the volume, unless that comes back.
#[test]
fn a_volume_is_detached_with_the_last_pod_that_uses_it() {
    let [gold, volume] = claim("here");
    let set = object(("apps/v1", "StatefulSet"), "db", json!({"spec": {"replicas": 1}, "status": {}}));
    let plan = |pods: &[Value], line: &str| {
        let all = [gold.clone(), volume.clone(), object(LOCKER, "here", json!({})), attachment("n1", true)];
        let around = [set.clone(), node("True", DELETED), namespace(json!({})), running("x-csi-controller"), at_ten()];
        document(&[&all[..], pods, &around].concat(), line)
    };
    let detached = |plan: &Value| {
        let all = [&plan["outcomes"], &plan["then"]["outcomes"]].map(|all| all.as_array().into_iter().flatten());
        let of = |outcome: &&Value| outcome["object"]["kind"] == "VolumeAttachment";
        all.map(|all| all.filter(of).map(|outcome| outcome["outcome"].clone()).collect::<Vec<_>>())
    };
    let mut of_set = owners(("apps/v1", "StatefulSet"), &["db"]);
    of_set[0]["controller"] = json!(true);
    let own = user_of_gold("db-0", json!({"ownerReferences": of_set}));
    let (alone, other) = (user_of_gold("a", json!({})), user_of_gold("b", json!({})));
    let mut ended = other.clone();
    ended["status"]["phase"] = json!("Failed");
    // Its attacher removes the finalizer then.
    let goes = [vec![json!("Terminating")], vec![json!("Deleted")]];
    for (pods, line) in [
        (vec![alone.clone()], "plan pod/a -n vault"),
        (vec![alone.clone(), ended.clone()], "plan pod/a -n vault"),
        (vec![alone.clone(), other.clone()], "plan pod/a pod/b -n vault"),
        (vec![own.clone()], "plan statefulset/db -n vault"),
        (vec![own.clone()], "plan ns/vault"),
        (vec![own.clone()], "plan node/n1"),
    ] {
        let plan = plan(&pods, line);
        assert_eq!(detached(&plan), goes, "{line}: {plan:#}");
    }
    for (pods, line) in [
        (vec![alone, other], "plan pod/a -n vault"),
        (vec![ended], "plan pod/b -n vault"),
        (vec![own], "plan pod/db-0 -n vault"),
    ] {
        let plan = plan(&pods, line);
        assert_eq!(detached(&plan).concat(), Vec::<Value>::new(), "{line}: {plan:#}");
    }
}

/// What only a controller deletes that isn't there is lost if that restarts; another finalizer in the same namespace
/// loses nothing of it, nor does the namespace.
#[test]
fn what_flux_would_delete_is_lost_only_if_flux_restarts() {
    const GROUP: &str = "kustomize.toolkit.fluxcd.io";
    let left = || json!({"namespace": "flux", "finalizers": ["finalizers.fluxcd.io"], "deletionTimestamp": DELETED});
    let mut apps = object(("kustomize.toolkit.fluxcd.io/v1", "Kustomization"), "apps", left());
    apps["spec"] = json!({"prune": true});
    apps["status"] = json!({"inventory": {"entries": [{"id": "vault_gold__PersistentVolumeClaim", "v": "v1"}]}});
    let source = object(("source.toolkit.fluxcd.io/v1", "GitRepository"), "apps", left());
    let [mut gold, volume] = claim("held");
    gold["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    gold["metadata"]["labels"] = json!({(format!("{GROUP}/name")): "apps", (format!("{GROUP}/namespace")): "flux"});
    let mut flux = namespace(json!({"deletionTimestamp": DELETED}));
    (flux["metadata"]["name"], flux["metadata"]["uid"]) = (json!("flux"), json!("flux"));
    let objects = [namespace(json!({})), flux, apps, source, gold, volume, at_ten()];
    let loss = "DATA LOSS: PersistentVolumeClaim/gold -n vault loses its data";
    let found = on(&objects, "doctor").out;
    assert_eq!(found.matches(loss).count(), 1, "{found}");
    assert!(
        found.contains(&format!(
            "If its controller restarts, Flux deletes every object that it applied: 1 object. {loss}"
        )),
        "{found}"
    );
    let ran = on(&objects, "explain ns/flux");
    let then = ran.out.split("Then").nth(1).unwrap().split("Note").next().unwrap();
    assert!(!then.contains("DATA LOSS"), "{ran}");
}

/// R9.30: what a condition of a Terminating Namespace says was refused stays, and says who refuses that.
#[test]
fn what_the_api_server_has_refused_to_delete_is_told() {
    let vault = |said: &str, left: &str| {
        let mut vault = namespace(json!({"finalizers": [], "deletionTimestamp": "2026-03-01T07:00:00Z"}));
        let failed = "Failed to delete all resource types, 1 remaining: ";
        vault["status"] = json!({"phase": "Terminating", "conditions": [
            {"type": "NamespaceDeletionContentFailure", "status": "True", "reason": "ContentDeletionFailed",
                "message": format!("{failed}{said}")},
            {"type": "NamespaceContentRemaining", "status": "True", "reason": "SomeResourcesRemain",
                "message": format!("Some resources are remaining: {left} has 1 resource instances")}]});
        vault
    };
    let with = |vault: Value, line: &str| on(&[vault, object(("v1", "ConfigMap"), "rates", json!({})), at_ten()], line);
    let webhook = "admission webhook \"guard.bank.dev\" denied the request: ";
    let named = format!("{webhook}\n\nresource ConfigMap/vault/rates was blocked");
    let policy =
        "configmaps \"rates\" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request";
    for said in [&named, &format!("{webhook}it is kept"), policy] {
        let ran = with(vault(said, "configmaps."), "explain cm/rates -n vault");
        says(&ran, &["ConfigMap/rates is to be deleted, but the API server refuses that", "NamespaceDeletionContent"]);
        says_not(&ran, &["WILL BE DELETED", "will be deleted"]);
        let ran = with(vault(said, "configmaps."), "explain ns/vault");
        says(&ran, &["ConfigMap/rates -n vault: the API server refuses to delete it"]);
        let mut lines = ran.out.lines().filter(|line| line.contains("ConfigMap/rates"));
        assert!(!lines.any(|line| line.contains("will be deleted")), "{ran}");
    }
    // Something else was refused, or nothing was.
    let other = format!("{webhook}resource Secret/vault/keys was blocked");
    for (said, left) in [(other.as_str(), "secrets."), ("etcdserver: request timed out", "configmaps.")] {
        says(&with(vault(said, left), "explain cm/rates -n vault"), &["WILL BE DELETED"]);
    }
}
