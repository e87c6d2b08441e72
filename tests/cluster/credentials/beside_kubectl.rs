//! The same kubeconfig in kubectl and in kubectl gc.

use std::{ffi::OsStr, fs};

use serde_json::{Value, json};

use super::{admin, folder, kubeconfig, openid};
use crate::harness::{Cluster, shared};

/// Whether each succeeds with this kubeconfig.
fn both(cluster: &Cluster, kubeconfig: &OsStr) -> (bool, bool, String) {
    let theirs = cluster.kubectl_with(kubeconfig.as_ref(), &["get", "namespaces"]);
    let ours = cluster.gc_with(kubeconfig.as_ref(), &["tree", "namespaces", "--all"]);
    let said = format!("kubectl: {}\nkubectl gc: {}", theirs.stderr, ours.stderr);
    (theirs.code == Some(0), ours.code == Some(0), said)
}

/// kubectl credential: OpenID: refreshed tokens are saved in the kubeconfig | same: kubectl does both
#[test]
#[ignore = "long: beside kubectl"]
fn a_log_in_is_shared_with_kubectl() {
    let (_alone, world) = openid::alone();
    let folder = folder();
    let ca = openid::authority(world, folder.path());
    let file = folder.path().join("config");
    openid::write(world, &file, -60, &[("idp-certificate-authority", &ca)]);
    let before = openid::spent(world);
    for _ in 0..2 {
        let (theirs, ours, said) = both(&world.cluster, file.as_os_str());
        assert!(theirs && ours, "{said}");
    }
    // kubectl has refreshed, and kubectl gc uses what it has saved.
    assert_eq!(openid::spent(world), before + 1);
    // From now on, each token ends at once: each command refreshes what the one before has saved.
    world.provider.state().lifetime = 5;
    openid::write(world, &file, -60, &[("idp-certificate-authority", &ca)]);
    for turn in 1..=3 {
        let (theirs, ours, said) = both(&world.cluster, file.as_os_str());
        assert!(theirs && ours, "{turn}: {said}");
        assert!(openid::spent(world) >= before + 2 * turn, "{turn}");
    }
}

/// kubectl credential: `auth-provider` gcp, azure and unknown ones: refused | same
#[test]
#[ignore = "long: beside kubectl"]
fn a_provider_that_kubectl_has_no_more_is_refused() {
    let cluster = shared();
    let folder = folder();
    for (name, said) in [("gcp", "gke-gcloud-auth-plugin"), ("azure", "kubelogin"), ("other", "\"other\"")] {
        // What kubectl once ran for a token.
        let config = json!({"cmd-path": "touch", "cmd-args": folder.path().join("ran")});
        let user = json!({"auth-provider": {"name": name, "config": config}});
        let file = kubeconfig(cluster, folder.path(), &user);
        let (theirs, ours, told) = both(cluster, file.as_os_str());
        assert!(!theirs && !ours && told.matches(said).count() == 2, "{told}");
        assert!(!folder.path().join("ran").exists(), "{told}");
    }
}

/// kubectl credential: several files in `KUBECONFIG`, empty or missing settings | same
/// kubectl credential: a kubeconfig of which a part lacks a name, a context its cluster, or a list has a `null` |
///   different: the whole file is refused, whichever part is used; kubectl refuses what is used
#[test]
#[ignore = "long: beside kubectl"]
fn what_kubectl_accepts_is_accepted_but_for_broken_parts() {
    let cluster = shared();
    let (admin, token) = admin(cluster);
    let folder = folder();
    let plugin = folder.path().join("plugin");
    let write_plugin = |version: &str, status: &Value| {
        let credential = json!({"apiVersion": version, "kind": "ExecCredential", "status": status});
        fs::write(&plugin, format!("#!/bin/sh\ncat <<'X'\n{credential}\nX\n")).expect("a plugin");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(&plugin, fs::Permissions::from_mode(0o755)).expect("permissions");
        }
    };
    let (v1, beta, alpha) = ["v1", "v1beta1", "v1alpha1"].map(|it| format!("client.authentication.k8s.io/{it}")).into();
    let good = json!({"token": token});
    let cases = [
        (json!({"apiVersion": v1, "interactiveMode": "Never"}), &v1, good.clone(), true),
        (
            json!({"apiVersion": v1, "interactiveMode": "IfAvailable", "env": null, "args": null}),
            &v1,
            good.clone(),
            true,
        ),
        (
            json!({"apiVersion": v1, "interactiveMode": "Never", "env": [{"name": "A", "value": ""}]}),
            &v1,
            good.clone(),
            true,
        ),
        (json!({"apiVersion": v1, "interactiveMode": "Never", "env": [{"value": "a"}]}), &v1, good.clone(), false),
        (json!({"apiVersion": v1, "interactiveMode": "Always"}), &v1, good.clone(), false),
        (json!({"apiVersion": v1}), &v1, good.clone(), false),
        (json!({"apiVersion": beta}), &beta, good.clone(), true),
        (json!({"apiVersion": v1, "interactiveMode": "Never"}), &beta, good.clone(), false),
        (json!({"apiVersion": alpha, "interactiveMode": "Never"}), &alpha, good.clone(), false),
        (json!({"apiVersion": v1, "interactiveMode": "Never"}), &v1, json!({}), false),
        (json!({"apiVersion": v1, "interactiveMode": "Never"}), &v1, json!({"token": "wrong"}), false),
    ];
    for (mut exec, printed, status, accepted) in cases {
        write_plugin(printed, &status);
        exec["command"] = json!("./plugin");
        let file = kubeconfig(cluster, folder.path(), &json!({"exec": exec}));
        let (theirs, ours, said) = both(cluster, file.as_os_str());
        assert_eq!((theirs, ours), (accepted, accepted), "{exec} {status}\n{said}");
    }

    // Several files.
    let file = |name: &str, content: &Value| {
        let path = folder.path().join(name);
        fs::write(&path, content.to_string()).expect("a kubeconfig");
        path
    };
    let without = |key: &str| {
        let mut config = admin.clone();
        config[key] = Value::Null;
        config
    };
    let whole = file("whole", &admin);
    let user = admin["users"][0]["name"].clone();
    let cases = [
        (json!({"current-context": ""}), true),
        (json!({"current-context": null, "clusters": null, "users": [], "contexts": null}), true),
        (json!({"current-context": "other"}), false),
        (json!({"contexts": [{"name": "unused", "context": {"cluster": ""}}], "clusters": [{"name": "unused"}]}), true),
        (json!({"users": [{"name": "unused", "user": {"token": "", "client-certificate": ""}}]}), true),
        (json!({"users": [{"name": "unused", "user": {"exec": {"command": "x"}}}]}), true),
        (json!({"users": [{"name": user, "user": {"token": "wrong"}}]}), false),
        (json!({"clusters": [{"name": "test", "cluster": {"server": "https://127.0.0.1:1"}}]}), false),
        (without("contexts"), true),
        (without("current-context"), true),
    ];
    for (first, accepted) in cases {
        let first_path = file("first", &first);
        let both_paths = std::env::join_paths([&first_path, &folder.path().join("none"), &whole]).expect("paths");
        let (theirs, ours, said) = both(cluster, &both_paths);
        assert_eq!((theirs, ours), (accepted, accepted), "{first}\n{said}");
    }
    // What kube doesn't read.
    for first in [
        json!({"contexts": [{"name": "unused", "context": {}}]}),
        json!({"users": [{"user": {}}]}),
        json!({"users": [{"name": "unused", "user": {"exec": {"env": [{"name": "A", "value": null}]}}}]}),
    ] {
        let first_path = file("first", &first);
        let both_paths = std::env::join_paths([&first_path, &whole]).expect("paths");
        let (theirs, ours, said) = both(cluster, &both_paths);
        assert!(theirs && !ours && said.contains("not a kubeconfig"), "{first}\n{said}");
    }
}
