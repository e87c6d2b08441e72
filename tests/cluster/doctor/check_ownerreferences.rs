//! The tool kubectl-check-ownerreferences reports nine kinds of errors and warnings. The doctor has a more detailed
//! finding for each of them.

use std::{panic, thread};

use super::{Found, collector::odd, examine, references::bent};
use crate::{
    harness::{VIEWER, uid},
    plan::trial::Trial,
};

/// One kind of error or warning.
struct Kind {
    /// The tool's message.
    describe: &'static str,
    /// The dependent with the bad reference.
    child: String,
    code: &'static str,
    /// What the finding's message contains.
    says: String,
    /// What the finding's consequence contains. The tool doesn't report consequences.
    consequence: &'static str,
}

#[track_caller]
fn covered(found: &Found, kind: &Kind) {
    let finding = found.one(kind.code, &kind.child);
    let words = |field: &str| {
        finding[field].as_str().unwrap_or_else(|| panic!("{}: no {field}: {finding:#}", kind.describe)).to_owned()
    };
    assert!(words("message").contains(&kind.says), "{}: {finding:#}", kind.describe);
    assert!(words("consequence").contains(kind.consequence), "{}: {finding:#}", kind.describe);
    assert!(!words("remedy").is_empty() && finding["reference"]["uid"].is_string(), "{}: {finding:#}", kind.describe);
}

const DELETES: &str = "The collector will delete it";

#[test]
#[ignore = "long: builds and runs another tool"]
fn all_that_the_other_tool_tells_is_found() {
    let trial = Trial::on(odd(), "tells", "Background");
    let (cluster, ns, elsewhere) = (trial.cluster, trial.namespace.as_str(), trial.another_namespace());
    cluster.let_viewer_see(ns);
    let owner = trial.widget("owner").create();
    let abroad = trial.widget("abroad").in_namespace(&elsewhere).create();
    let gone = trial.gone("gone");
    let rack = trial.rack("rack").create();
    cluster.store(&object!("v1 ConfigMap", {
        "name": "unparsable", "namespace": ns, "ownerReferences": [bent(&owner, &[("apiVersion", "a/b/c")])],
    }));
    let ghost = trial.unserved();
    trial.config_map("unresolved").reference(ghost).create();
    trial
        .config_map("undiscovered")
        .reference(bent(&owner, &[("apiVersion", "dead.test/v1"), ("kind", "Thing")]))
        .create();
    trial.rack("clustered").owned_by(&owner).create();
    trial.config_map("uid").owned_by(&gone).create();
    trial.config_map("unlisted").owned_by(&rack).create();
    trial.config_map("namespace").owned_by(&abroad).create();
    trial.config_map("name").reference(bent(&owner, &[("name", "owned")])).create();
    trial.config_map("kind").reference(bent(&owner, &[("apiVersion", "v1"), ("kind", "ConfigMap")])).create();
    let kind = |describe, child: &str, code, says: &str, consequence| {
        let (child, says) = (child.to_owned(), says.to_owned());
        Kind { describe, child, code, says, consequence }
    };
    let kinds = [
        kind(
            "invalid owner apiVersion",
            "unparsable",
            "owner-malformed",
            "(a/b/c Widget/owner)",
            "the API server rejects every update of the object",
        ),
        kind(
            "cannot resolve owner kind",
            "unresolved",
            "owner-not-served",
            "gone.test/v1 Ghost",
            "it stays as long as that kind is not served",
        ),
        kind(
            "cannot resolve owner kind, discovery failed",
            "undiscovered",
            "owner-unread",
            "dead.test/v1 Thing/owner could not be read",
            "It is not known whether",
        ),
        kind(
            "cluster-scoped child, namespaced owner",
            &trial.global("clustered"),
            "namespaced-owner-of-cluster-scoped",
            "Widget/owner",
            "never collected",
        ),
        kind("no object found for uid", "uid", "owner-absent", "is missing", DELETES),
        kind("child and owner namespaces differ", "namespace", "owner-other-namespace", &elsewhere, DELETES),
        kind("owner name differs", "name", "owner-other-name", "Widget/owner", DELETES),
        kind("owner group or kind differs", "kind", "owner-other-kind", "gc.test/v1 Widget/owner", DELETES),
    ];
    // The viewer sees one namespace only, so it may not read some lists.
    let (found, ran) = thread::scope(|scope| {
        let ran = scope.spawn(|| cluster.gc_as(VIEWER, &["doctor", "-o", "json", "-n", ns]));
        (examine(cluster, &["-n", ns]), ran.join())
    });
    let ran = ran.unwrap_or_else(|panic| panic::resume_unwind(panic));
    for kind in &kinds {
        covered(&found, kind);
    }
    assert_eq!(found.one("owner-absent", "uid")["reference"]["uid"], uid(&gone));
    let found = Found { document: ran.json(), code: ran.code };
    let forbidden = "It is not known whether this owner exists.";
    covered(&found, &kind("no object found for uid, a list failed", "unlisted", "owner-unread", "Rack/", forbidden));
}
