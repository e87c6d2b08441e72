//! Who deleted an owner that is gone: the API server's audit log and archives tell.

use serde_json::Value;

use super::{
    collector::{audit, odd},
    examine, paste,
};
use crate::plan::trial::Trial;

fn text<'f>(finding: &'f Value, field: &str) -> &'f str {
    finding[field].as_str().unwrap_or_default()
}

/// What was deleted for good takes its dependents along; what was orphaned, or only replaced, doesn't.
#[test]
#[ignore = "long: a cluster of its own with an audit log"]
fn whoever_deleted_the_owner_decided() {
    let trial = Trial::on(odd(), "evidence", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let dependent = |owner: &str| {
        let owner = trial.config_map(owner).create();
        trial.config_map(&format!("of-{}", text(&owner["metadata"], "name"))).owned_by(&owner).create();
        owner
    };
    for (name, policy) in [("deleted", "Background"), ("orphaned", "Orphan")] {
        cluster.delete(&cluster.path_of(&dependent(name)), Some(policy), None);
    }
    let archived = dependent("archived");
    let file = cluster.folder().join("evidence.yaml");
    let file = file.to_str().expect("UTF-8");
    let ran = cluster.gc(&["archive", "cm/archived", "-n", ns, "--allow-incomplete=dead.test/v1", file]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    cluster.delete(&cluster.path_of(&archived), Some("Background"), None);

    let log = audit().log();
    let log = log.to_str().expect("UTF-8");
    let only = ["-n", ns, "--only", "owner-absent"];
    let (without, by_log, by_archive) = (
        examine(cluster, &only),
        examine(cluster, &[&only[..], &["--evidence", log]].concat()),
        examine(cluster, &[&only[..], &["--evidence", file]].concat()),
    );
    let delete = "delete it, as the collector would";
    for (name, found, says, deletes_first) in [
        ("of-deleted", &without, "", false),
        ("of-deleted", &by_log, "admin deleted it", true),
        ("of-deleted", &by_archive, "", false),
        ("of-orphaned", &by_log, "with the policy Orphan", false),
        ("of-archived", &by_archive, "It was archived", true),
    ] {
        let finding = found.one("owner-absent", name);
        let message = text(finding, "message");
        assert!(message.contains(says), "{name}: {message}");
        assert_eq!(message.contains(" ago"), !says.is_empty(), "{name}: {message}");
        let first = text(&finding["remedies"][0], "what");
        assert_eq!(first == delete, deletes_first, "{name}: {finding:#}");
    }
    let command = &by_log.one("owner-absent", "of-deleted")["remedies"][0]["commands"][0];
    paste(cluster, command.as_str().unwrap_or_default());
    assert!(examine(cluster, &only).about("owner-absent", "of-deleted").is_empty());
}
