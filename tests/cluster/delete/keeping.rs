//! Objects that `--keep` excludes from a delete survive it.

use serde_json::{Value, json};

use super::kit::{Family, checked};
use crate::{
    harness::{deployment, uid},
    plan::trial::{Trial, wait_for_items},
};

#[test]
fn what_is_kept_is_there_afterwards() {
    for policy in ["background", "foreground"] {
        let family = Family::of("kept", 2);
        let propagation = format!("--propagation={policy}");
        let ran = family.cluster.gc(&family.args(&["--yes", "--keep=cm/leaf-0", "-o", "json", &propagation])).ended(0);
        let document = checked(ran.json());
        assert_eq!(
            (&document["ended"], &document["kept"][0]["name"]),
            (&json!("AsPlanned"), &json!("leaf-0")),
            "{policy}"
        );
        assert_eq!(family.there(), ["leaf-0"], "{policy}");
        let kept = family.cluster.get(&format!("/api/v1/namespaces/{}/configmaps/leaf-0", family.namespace)).unwrap();
        assert!(kept["metadata"]["ownerReferences"].is_null(), "{policy}: {kept}");
    }
}

#[test]
fn what_can_not_be_kept_is_refused() {
    let family = Family::of("unkeepable", 1);
    for keep in ["--keep=cm/root", "--keep=cm/nothing"] {
        let ran = family.cluster.gc(&family.args(&["--yes", keep])).ended(1);
        assert_eq!(family.there(), ["leaf-0", "root"], "{keep}: {}", ran.stderr);
    }
    let target = format!("ns/{}", family.namespace);
    let ran = family.cluster.gc(&["delete", &target, "-n", &family.namespace, "--keep=cm/leaf-0", "--yes"]).ended(1);
    assert_eq!(family.there(), ["leaf-0", "root"], "{}", ran.stderr);
}

/// A controller would adopt a matching orphan within milliseconds.
#[test]
fn what_is_kept_is_not_taken_back() {
    for (policy, kind) in [("background", "pod"), ("foreground", "pod"), ("background", "rs"), ("foreground", "rs")] {
        let trial = Trial::new("kept-from", "Background");
        trial.cluster.create(deployment(&trial.namespace, "web", 2));
        let pods = format!("/api/v1/namespaces/{}/pods", trial.namespace);
        let pod = wait_for_items(trial.cluster, &pods, 2).remove(0);
        let name = |object: &Value| object["name"].as_str().unwrap_or_default().to_owned();
        let set = name(&pod["metadata"]["ownerReferences"][0]);
        let (keep, path) = match kind {
            "pod" => (format!("--keep=pod/{}", name(&pod["metadata"])), format!("{pods}/{}", name(&pod["metadata"]))),
            _ => {
                (format!("--keep=rs/{set}"), format!("/apis/apps/v1/namespaces/{}/replicasets/{set}", trial.namespace))
            }
        };
        let before = trial.cluster.get(&path).expect("it is there");
        let propagation = format!("--propagation={policy}");
        let ran = trial.cluster.gc(&["delete", "deploy/web", "-n", &trial.namespace, "--yes", &keep, &propagation]);
        ran.expect(0);
        let after = trial.cluster.get(&path).unwrap_or_else(|| panic!("{policy} {keep}: it is gone\n{}", ran.stdout));
        assert_eq!(uid(&after), uid(&before), "{policy} {keep}");
        assert!(after["metadata"]["deletionTimestamp"].is_null(), "{policy} {keep}: {after}");
        assert!(after["metadata"]["ownerReferences"].is_null(), "{policy} {keep}: {after}");
        // Dependents of the kept object stay, too.
        let left = trial.cluster.list(&pods).len();
        assert_eq!(left, if kind == "pod" { 1 } else { 2 }, "{policy} {keep}: {}", ran.stdout);
    }
}
