//! Objects that aren't there: what is known of them.

use super::kit::{deployment, is_gone};
use crate::{harness::uid, plan::trial::Trial, sweep::uncollected};

/// Events, what names it as owner, what is called alike, who may have made it, and its namespace.
pub fn an_object_that_is_not_there() {
    let trial = Trial::on(uncollected(), "vanished", "Background");
    let (cluster, namespace) = (trial.cluster, trial.namespace.as_str());
    deployment(cluster, namespace, "runner", 1, 1);
    let gone = trial.config_map("runner-7").create();
    trial.config_map("runner-8").create();
    trial.config_map("below").owned_by(&gone).create();
    cluster.create(object!("v1 Event", {
        "name": "runner-7.1", "namespace": namespace,
        "involvedObject": {"kind": "ConfigMap", "namespace": namespace, "name": "runner-7"},
        "reason": "Evicted",
        "message": "somebody wanted it away",
        "source": {"component": "tidier"},
        "lastTimestamp": super::kit::ago(60),
    }));
    cluster.delete(&cluster.path_of(&gone), Some("Background"), None);
    is_gone(cluster, &gone);
    for command in ["explain", "doctor"] {
        let ran = cluster.gc(&[command, "cm/runner-7", "-n", namespace]);
        assert_eq!(ran.code, Some(1), "{}", ran.stdout);
        assert!(ran.stderr.contains("configmaps \"runner-7\" not found"), "{}", ran.stderr);
        assert!(ran.stderr.contains("--from=FILE looks into an archive"), "{}", ran.stderr);
        let told = [
            format!("ConfigMap/runner-7 -n {namespace} does not exist."),
            format!("It existed, with uid {}: 1 object names it as owner (ConfigMap/below).", uid(&gone)),
            "1 object of its kind is called like it, the newest made ".to_owned(),
            ": ConfigMap/runner-8.".to_owned(),
            "By its name, Deployment/runner may have made it.".to_owned(),
            "ago: Evicted: somebody wanted it away (tidier)".to_owned(),
        ];
        for told in told {
            assert!(ran.stdout.contains(&told), "{told}: {}", ran.stdout);
        }
        // A document is for programs: they get the error alone.
        let json = cluster.gc(&[command, "cm/runner-7", "-n", namespace, "-o", "json"]);
        assert_eq!((json.code, json.stdout.as_str()), (Some(1), ""));
    }
    // Nothing is known of this one but that no event tells of it.
    let ran = cluster.gc(&["explain", "cm/nothing", "-n", namespace]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("There are no events about it"), "{}", ran.stdout);
    // Its namespace goes: no controller runs here.
    cluster.delete(&format!("/api/v1/namespaces/{namespace}"), Some("Background"), None);
    let ran = cluster.gc(&["explain", "cm/runner-7", "-n", namespace]);
    let terminating = format!("Its namespace {namespace} is Terminating, deleted ");
    assert!(ran.stdout.contains(&terminating), "{}", ran.stdout);
}
