//! Owner references that don't resolve to their owner (§3.6).

use std::process::Command;

use serde_json::{Value, json};

use super::{Found, examine, mends_all};
use crate::{
    harness::{Alone, Cluster, PATIENCE, VIEWER, owner_reference, shared, uid},
    plan::{
        draft::{HOLD, blocking},
        trial::Trial,
    },
    sweep::{uncollected, without_collector},
};

/// The consequence for an object that the collector deletes, if it has no dependents.
const DELETED: &str = "The collector will delete it.";

/// A reference to the owner with some fields changed.
pub fn bent(owner: &Value, changes: &[(&str, &str)]) -> Value {
    let mut reference = owner_reference(owner);
    for (field, value) in changes {
        reference[*field] = json!(value);
    }
    reference
}

impl Trial<'_> {
    /// Writes a ConfigMap straight to etcd.
    fn store_config_map(&self, name: &str, owner: Value, finalizers: &[&str]) -> Value {
        self.cluster.store(&object!("v1 ConfigMap", {
            "name": name, "namespace": self.namespace, "ownerReferences": [owner], "finalizers": finalizers,
        }))
    }
}

fn now(cluster: &Cluster, object: &Value) -> Option<Value> {
    cluster.get(&cluster.path_of(object))
}

/// The texts of the finding with this code about this object.
#[track_caller]
fn says<'f>(found: &'f Found, code: &str, name: &str) -> [&'f str; 3] {
    let finding = found.one(code, name);
    ["severity", "message", "consequence"].map(|field| finding[field].as_str().unwrap_or_default())
}

#[test]
fn what_leads_nowhere_is_told_apart_and_mended() {
    let alone = without_collector();
    let trial = Trial::on(&alone, "nowhere", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let owner = trial.widget("owner").create();
    // No findings expected: a correct owner, the kind in lower case (R3.15), and the core group with a slash before its
    // version.
    let beside = trial.config_map("beside").blocking(&owner).create();
    trial.config_map("fine").reference(bent(&owner, &[("kind", "widget")])).create();
    trial.config_map("slashed").reference(bent(&beside, &[("apiVersion", "/v1")])).create();

    let gone = trial.gone("gone");
    let lost = trial.config_map("lost").owned_by(&gone).create();
    trial.config_map("below").owned_by(&lost).create();
    let before = trial.gone("successor");
    let successor = trial.widget("successor").create();
    let left = trial.config_map("left").owned_by(&before).create();
    let misnamed = trial.config_map("misnamed").reference(bent(&owner, &[("name", "owned")])).create();
    let miskinded =
        trial.config_map("miskinded").reference(bent(&owner, &[("apiVersion", "v1"), ("kind", "ConfigMap")])).create();
    let listed = trial.config_map("listed").reference(bent(&owner, &[("kind", "WidgetList")])).create();
    let elsewhere = trial.another_namespace();
    let abroad = trial.widget("abroad").in_namespace(&elsewhere).create();
    let stray = trial.config_map("stray").owned_by(&abroad).create();
    let rack = trial.rack("rack").owned_by(&owner).create();
    let rack_name = trial.global("rack");
    let haunted = trial.config_map("haunted").reference(trial.unserved()).create();
    let outdated = trial.config_map("outdated").reference(bent(&owner, &[("apiVersion", "gc.test/v1beta1")])).create();
    let twice = trial.config_map("twice").owned_by(&owner).reference(bent(&owner, &[("name", "owned")])).create();
    let held = trial.config_map("held").owned_by(&gone).blocking(&owner).create();

    // No API server accepts these references, but the collector can look them up.
    trial.store_config_map("uidless", bent(&owner, &[("uid", "")]), &[]);
    trial.store_config_map("eventful", bent(&owner, &[("apiVersion", "v1"), ("kind", "Event")]), &[]);

    let rows = [
        ("owner-malformed", "uidless", 0),
        ("owner-malformed", "eventful", 0),
        ("owner-absent", "lost", 0),
        ("owner-absent", "held", 0),
        ("owner-other-uid", "left", 0),
        ("owner-other-name", "misnamed", 0),
        ("owner-other-kind", "miskinded", 0),
        ("owner-list-kind", "listed", 0),
        ("owner-other-namespace", "stray", 0),
        ("namespaced-owner-of-cluster-scoped", rack_name.as_str(), 0),
        ("owner-not-served", "haunted", 0),
        ("owner-not-served", "outdated", 0),
        ("owner-duplicated", "twice", 0),
    ];
    let found = mends_all(cluster, &["-n", ns], &rows);

    for healthy in ["beside", "fine", "slashed", "owner"] {
        let suffers = |finding: &&Value| {
            finding["objects"].as_array().into_iter().flatten().any(|object| object["name"] == healthy)
        };
        assert_eq!(found.findings().filter(suffers).count(), 0, "{healthy}: {:#}", found.document);
    }
    let absent = format!("The owner gc.test/v1 Widget/gone is missing in namespace {ns}.");
    let [severity, message, consequence] = says(&found, "owner-absent", "lost");
    assert_eq!((severity, message), ("Warning", absent.as_str()));
    assert_eq!(consequence, "The collector will delete it, and 1 object below.");
    assert_eq!(found.one("owner-absent", "lost")["reference"]["uid"], uid(&gone));
    let [severity, _, consequence] = says(&found, "owner-absent", "held");
    assert_eq!(severity, "Warning");
    assert_eq!(consequence, "It stays because of another owner; the collector will remove this reference.");
    let (old, new) = (uid(&before), uid(&successor));
    let uids = format!(
        "The owner gc.test/v1 Widget/successor with uid {old} is missing; the object of \
        that name now has uid {new}."
    );
    assert_eq!(says(&found, "owner-other-uid", "left"), ["Error", &uids, DELETED]);
    assert_eq!(found.one("owner-other-uid", "left")["related"][0]["name"], "successor");
    let wrong = "The reference says gc.test/v1 Widget/owned; the object with that uid is Widget/owner.";
    assert_eq!(says(&found, "owner-other-name", "misnamed"), ["Error", wrong, DELETED]);
    let wrong = "The reference says v1 ConfigMap/owner; the object with that uid is gc.test/v1 Widget/owner.";
    assert_eq!(says(&found, "owner-other-kind", "miskinded"), ["Error", wrong, DELETED]);
    let wrong = "The reference says gc.test/v1 WidgetList/owner; list kinds are never found.";
    assert_eq!(says(&found, "owner-list-kind", "listed"), ["Error", wrong, DELETED]);
    let wrong = format!(
        "The owner Widget/abroad -n {elsewhere} is in another namespace; owners must be in the same \
         namespace or cluster-scoped."
    );
    assert_eq!(says(&found, "owner-other-namespace", "stray"), ["Error", &wrong, DELETED]);
    let [severity, message, consequence] = says(&found, "namespaced-owner-of-cluster-scoped", &rack_name);
    let wrong = format!("It is cluster-scoped, but its owner is the namespaced Widget/owner -n {ns}.");
    assert_eq!((severity, message), ("Warning", wrong.as_str()));
    assert!(consequence.contains("never collected"), "{consequence}");
    let [severity, message, consequence] = says(&found, "owner-not-served", "haunted");
    assert_eq!((severity, message), ("Warning", "The owner's kind, gone.test/v1 Ghost, is not served."));
    let once_served = "it stays as long as that kind is not served. Once it is, as after its CRD is installed again, \
        the collector deletes it";
    assert!(consequence.contains(once_served), "{consequence}");
    let [_, message, _] = says(&found, "owner-not-served", "outdated");
    assert_eq!(message, "The owner's kind, gc.test/v1beta1 Widget, is not served, only gc.test/v1 Widget.");
    let [severity, _, consequence] = says(&found, "owner-duplicated", "twice");
    assert!(severity == "Warning" && consequence.contains("also the correct one"), "{severity} {consequence}");

    let fault = "A reference has no uid (gc.test/v1 Widget/owner).";
    assert_eq!(says(&found, "owner-malformed", "uidless"), ["Warning", fault, DELETED]);
    let fault = "A reference names an Event, which cannot own anything (v1 Event/owner).";
    assert_eq!(says(&found, "owner-malformed", "eventful"), ["Warning", fault, DELETED]);

    // No remedy deleted anything. References to existing owners are correct now, and all others are dropped.
    let owners = |object: &Value| now(cluster, object).expect("it is kept")["metadata"]["ownerReferences"].clone();
    for object in [&misnamed, &miskinded, &listed, &outdated, &twice] {
        assert_eq!(owners(object), json!([owner_reference(&owner)]), "{object}");
    }
    assert_eq!(owners(&held), json!([blocking(&owner)]));
    for object in [&lost, &left, &stray, &rack, &haunted] {
        assert_eq!(owners(object).as_array().map_or(0, Vec::len), 0, "{object}");
    }
}

#[test]
#[ignore = "long: slow"]
fn what_leads_nowhere_is_let_go_or_handed_over() {
    let trial = Trial::on(uncollected(), "let-go", "Background");
    let gone = trial.gone("gone");
    let lost = trial.config_map("lost").owned_by(&gone).create();
    trial.config_map("too").owned_by(&gone).create();
    let before = trial.gone("successor");
    let successor = trial.widget("successor").create();
    let left = trial.config_map("left").owned_by(&before).create();
    let old = trial.gone("other");
    trial.widget("other").create();
    let over = trial.config_map("over").owned_by(&old).create();
    let elsewhere = trial.another_namespace();
    let abroad = trial.widget("abroad").in_namespace(&elsewhere).create();
    let stray = trial.config_map("stray").owned_by(&abroad).create();
    let rows = [
        ("owner-absent", "lost", 1),
        ("owner-other-uid", "left", 1),
        ("owner-other-uid", "over", 2),
        ("owner-other-namespace", "stray", 1),
    ];
    let found = mends_all(trial.cluster, &["-n", &trial.namespace], &rows);
    // Findings are grouped by root cause.
    assert_eq!(found.one("owner-absent", "lost"), found.one("owner-absent", "too"));
    for object in [&lost, &over, &stray] {
        assert_eq!(now(trial.cluster, object), None);
    }
    assert_eq!(
        now(trial.cluster, &left).expect("it is kept")["metadata"]["ownerReferences"],
        json!([owner_reference(&successor)])
    );
}

/// Several references with one uid: the doctor reports them if they matter.
#[test]
fn references_of_one_uid() {
    let trial = Trial::on(uncollected(), "duplicates", "Background");
    let (owner, gone) = (trial.widget("owner").create(), trial.gone("gone"));
    let lower = |owner: &Value| bent(owner, &[("kind", "widget")]);
    // Harmless as long as the owner exists.
    let both = trial.config_map("both").owned_by(&owner).reference(lower(&owner)).create();
    // Here the owner is absent, so there is no reference to keep.
    trial.config_map("neither").owned_by(&gone).reference(lower(&gone)).create();
    // The lookup of one of them fails: the collector drops no reference and deletes nothing.
    let outdated = bent(&owner, &[("apiVersion", "gc.test/v1beta1")]);
    let failing = trial.config_map("failing").owned_by(&owner).reference(outdated).create();
    let rows = [("owner-duplicated", "both", 0), ("owner-absent", "neither", 0), ("owner-not-served", "failing", 1)];
    let found = mends_all(trial.cluster, &["-n", &trial.namespace], &rows);
    assert_eq!(says(&found, "owner-duplicated", "both")[0], "Note");
    assert_eq!(found.about("owner-duplicated", "neither"), [] as [&Value; 0]);
    assert_eq!(says(&found, "owner-not-served", "failing")[0], "Warning");
    for object in [&both, &failing] {
        let now = now(trial.cluster, object).expect("it is kept");
        assert_eq!(now["metadata"]["ownerReferences"], json!([owner_reference(&owner)]));
    }
}

/// R1.31, R1.33, R3.24: references that no API server accepts, and what the collector does about them.
#[test]
fn malformed_references() {
    let trial = Trial::new("malformed", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    let owner = trial.widget("owner").create();
    let with = |name: &str, changes: &[(&str, &str)]| trial.store_config_map(name, bent(&owner, changes), &[]);
    let kept = [
        with("nameless", &[("name", "")]),
        with("kindless", &[("kind", "")]),
        with("versionless", &[("apiVersion", "")]),
        with("unversioned", &[("apiVersion", "gc.test/")]),
        with("unparsable", &[("apiVersion", "a/b/c")]),
    ];
    let whole = with("whole", &[]);
    // The collector can look up these two; it finds no owner. A finalizer keeps them, so that the test can see the
    // deletion.
    let held = [("uidless", &[("uid", "")][..]), ("eventful", &[("apiVersion", "v1"), ("kind", "Event")])];
    for object in held.map(|(name, changes)| trial.store_config_map(name, bent(&owner, changes), &[HOLD])) {
        cluster.wait_until("the collector to delete what leads nowhere", PATIENCE, || {
            now(cluster, &object).is_some_and(|now| now["metadata"]["deletionTimestamp"].is_string())
        });
    }
    let rows =
        ["nameless", "kindless", "versionless", "unversioned", "unparsable"].map(|name| ("owner-malformed", name, 0));
    let found = mends_all(cluster, &["-n", ns], &rows);
    for (name, fault) in [
        ("nameless", "A reference has no name (gc.test/v1 Widget/)."),
        ("kindless", "A reference has no kind (gc.test/v1 /owner)."),
        ("versionless", "A reference has no apiVersion ( Widget/owner)."),
        ("unversioned", "A reference has an invalid apiVersion (gc.test/ Widget/owner)."),
        ("unparsable", "A reference has an invalid apiVersion (a/b/c Widget/owner)."),
    ] {
        let [severity, message, consequence] = says(&found, "owner-malformed", name);
        assert_eq!((severity, message), ("Warning", fault));
        assert_eq!(
            consequence,
            "The collector cannot look up the owner, and the API server rejects every update of the object until \
             the reference is fixed."
        );
    }
    assert_eq!(found.about("owner-malformed", "whole"), [] as [&Value; 0]);
    for object in &kept {
        assert!(
            now(cluster, object)
                .is_some_and(|now| now["metadata"]["ownerReferences"].as_array().is_none_or(Vec::is_empty))
        );
    }
    assert!(now(cluster, &whole).is_some());
}

/// Lets the viewer of one namespace read a rack, too.
fn let_viewer_see_rack(cluster: &Cluster, name: &str) {
    let api = "rbac.authorization.k8s.io";
    cluster.create(json!({
        "apiVersion": format!("{api}/v1"), "kind": "ClusterRole", "metadata": {"name": name},
        "rules": [{"apiGroups": ["gc.test"], "resources": ["racks"], "resourceNames": [name], "verbs": ["get"]}],
    }));
    cluster.create(json!({
        "apiVersion": format!("{api}/v1"), "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": api, "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": api, "kind": "User", "name": VIEWER}],
    }));
}

/// The viewer of one namespace learns which owners could not be verified, and no more.
#[test]
fn an_owner_that_may_not_be_read() {
    let alone = Alone::usual();
    let trial = Trial::on(&alone, "unread", "Background");
    let (cluster, ns) = (trial.cluster, trial.namespace.as_str());
    cluster.let_viewer_see(ns);
    let rack = trial.rack("rack").create();
    trial.config_map("racked").owned_by(&rack).create();
    let owner = trial.widget("owner").create();
    trial.config_map("owned").blocking(&owner).create();
    let look = || {
        let ran = cluster.gc_as(VIEWER, &["doctor", "-o", "json", "-n", ns]).ended(0);
        Found { document: ran.json(), code: ran.code }
    };
    let found = look();
    assert!(found.findings().all(|finding| finding["code"] == "owner-unread"), "{:#}", found.document);
    let rack_name = trial.global("rack");
    let [severity, message, consequence] = says(&found, "owner-unread", "racked");
    assert_eq!(
        (severity, message),
        ("Note", format!("The owner gc.test/v1 Rack/{rack_name} could not be read.").as_str())
    );
    assert!(consequence.contains("It is not known whether this owner exists"), "{consequence}");
    let remedy = found.one("owner-unread", "racked")["remedy"].as_str().expect("a remedy").to_owned();
    let see = || {
        let mut command = Command::new("sh");
        let ran =
            command.args(["-c", &remedy]).env("KUBECONFIG", cluster.kubeconfig(VIEWER)).output().expect("a shell");
        (ran.status.success(), String::from_utf8_lossy(&ran.stderr).into_owned())
    };
    let (is_read, said) = see();
    assert!(!is_read && said.contains("Forbidden") && said.contains("racks"), "{said}");
    let_viewer_see_rack(cluster, &rack_name);
    cluster.wait_until("the viewer to be let", PATIENCE, || see().0);
    assert_eq!(look().about("owner-unread", "racked"), [] as [&Value; 0]);
}

/// A reference may name any served version (R3.14).
#[test]
fn an_owner_in_another_version_is_no_finding() {
    let trial = Trial::on(shared(), "versions", "Background");
    let owner = trial.cluster.create(object!("autoscaling/v1 HorizontalPodAutoscaler", {
        "name": "scaler", "namespace": trial.namespace,
        "spec": {"maxReplicas": 1, "scaleTargetRef": {"kind": "Deployment", "name": "none", "apiVersion": "apps/v1"}},
    }));
    let owned = trial.config_map("owned").owned_by(&owner).create();
    trial.cluster.settled();
    let found = examine(trial.cluster, &["-n", &trial.namespace]);
    assert_eq!(found.findings().count(), 0, "{:#}", found.document);
    assert!(now(trial.cluster, &owned).is_some());
}
