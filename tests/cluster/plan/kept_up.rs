//! What the API server makes again whenever it is missing.

use std::{collections::BTreeSet, time::Duration};

use serde_json::Value;

use crate::harness::{Alone, COLLECTOR, Cluster, NAMESPACES, Options, uid};

const FLOW_CONTROL: &str = "/apis/flowcontrol.apiserver.k8s.io/v1";

/// What `kubectl gc plan` says of deleting these: how many are deleted, and how many of them come back.
fn deleted_and_recreated(cluster: &Cluster, targets: &[&str]) -> (Option<u64>, Option<u64>) {
    let ran = cluster.gc(&[&["plan", "-o", "json", "-n", "default"], targets].concat());
    let plan: Value = serde_json::from_str(ran.expect(0)).unwrap();
    (plan["summary"]["deleted"].as_u64(), plan["summary"]["recreated"].as_u64())
}

#[test]
#[ignore = "long: waits until the API server makes them anew"]
fn what_the_api_server_keeps_comes_back() {
    let cluster = Alone::start(&Options::default());
    cluster.start_controllers(&[COLLECTOR, NAMESPACES]);
    // Each that this version makes is known.
    for kind in ["flowschemas", "prioritylevelconfigurations"] {
        let all = cluster.list(&format!("{FLOW_CONTROL}/{kind}"));
        let (deleted, recreated) = deleted_and_recreated(&cluster, &[kind, "--all"]);
        assert_eq!((deleted, recreated), (Some(all.len() as u64), Some(all.len() as u64)), "{kind}");
        assert!(all.len() >= 8, "{kind}: {}", all.len());
    }
    let paths = [
        format!("{FLOW_CONTROL}/flowschemas/probes"),
        "/api/v1/namespaces/kube-node-lease".to_owned(),
        "/api/v1/namespaces/default/services/kubernetes".to_owned(),
    ];
    let targets = ["flowschema/probes", "ns/kube-node-lease", "svc/kubernetes"];
    for target in targets {
        let (_, recreated) = deleted_and_recreated(&cluster, &[target]);
        assert_eq!(recreated, Some(1), "{target}");
    }
    let uids = |cluster: &Cluster| -> BTreeSet<String> {
        paths.iter().filter_map(|path| cluster.get(path)).map(|object| uid(&object).to_owned()).collect()
    };
    let before = uids(&cluster);
    assert_eq!(before.len(), paths.len());
    for path in &paths {
        cluster.delete(path, Some("Background"), None);
    }
    cluster.wait_until("the API server", Duration::from_secs(150), || {
        let now = uids(&cluster);
        now.len() == paths.len() && now.is_disjoint(&before)
    });
}
