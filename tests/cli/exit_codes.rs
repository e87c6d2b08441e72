//! 0: fine; 1: the command failed; 2: the command succeeded and found a problem.

use serde_json::json;

use super::{
    agree::{claim, object, on, owners, says},
    run::{LEFTOVERS, Ran, gc, on_shop, run_with, words},
};

#[test]
fn fine() {
    for line in [
        "tree",
        "tree -o dot",
        "plan deploy/api -n shop",
        "plan sts/db -n shop --propagation=foreground --fail-on=never",
        "plan cronjob/report -n shop -o json",
        "plan -n elsewhere",
        "sweep --dry-run",
        "sweep --dry-run -o json",
        "explain deploy/web -n shop",
        "explain deploy/web -n shop -o json",
        "resources",
        "doctor --fail-on=never",
    ] {
        let Ran { code, out, .. } = on_shop(&words(line));
        assert!(code == 0 && !out.is_empty(), "{line}: {code}");
    }
    for line in ["", "version", "--version", "--help", "plan --help", "completion bash"] {
        let Ran { code, out, err } = gc(&words(line));
        assert!(code == 0 && !out.is_empty() && err.is_empty(), "{line}: {code}");
    }
}

/// Waiting is not stuck: this PVC waits for a controller that is known to run.
#[test]
fn what_somebody_will_finish_is_fine() {
    let ran = on_shop(&["plan", "pvc/web-uploads", "-n", "shop"]);
    assert!(ran.out.contains("WAITS: "), "{ran}");
    assert_eq!(ran.code, 0);
}

#[test]
fn bad_news() {
    for line in [
        "plan deploy/web -n shop",
        "plan deploy/web -n shop -o json",
        "plan deploy/web -n shop -o yaml",
        "plan deploy/web -n shop -o name",
        "plan ns/shop --assume-complete",
        "plan sts/db -n shop",
        "plan -A --assume-complete",
        "plan -A --assume-complete -o json",
        "doctor",
        "doctor -o json",
    ] {
        let Ran { code, out, err } = on_shop(&words(line));
        assert!(code == 2 && !out.is_empty() && err.is_empty(), "{line}: {code} {err}");
    }
}

/// What can't be taken back, or doesn't end by itself, is bad news. `--fail-on` moves that line either way.
#[test]
fn the_line_of_a_plan() {
    let code = |target: &str, flag: &str| on_shop(&words(&format!("plan {target} -n shop {flag}"))).code;
    // Loses data; is stuck; waits for a controller that runs; only deletes.
    let targets = ["sts/db", "deploy/web", "pvc/web-uploads", "deploy/api"];
    let codes = |flag: &str| targets.map(|target| code(target, flag));
    assert_eq!(codes(""), [2, 2, 0, 0]);
    for (verdict, expected) in [
        ("takes-down", [0, 0, 0, 0]),
        ("data-loss", [2, 0, 0, 0]),
        ("stuck", [2, 2, 0, 0]),
        ("depends", [2, 2, 0, 0]),
        ("waits", [2, 2, 2, 0]),
        ("unsure", [2, 2, 2, 0]),
        ("external", [2, 2, 2, 0]),
        ("deletes", [2, 2, 2, 2]),
        ("never", [0, 0, 0, 0]),
    ] {
        assert_eq!(codes(&format!("--fail-on={verdict}")), expected, "{verdict}");
    }
    // So do plans of which much was not read: `depends` is the default.
    let unread = |flag: &str| gc(&words(&format!("plan deploy/web --from tests/cli/dumps/unseen.yaml {flag}"))).code;
    assert_eq!(["", "--fail-on=depends", "--fail-on=unsure", "--deny-effect=data-loss"].map(unread), [0, 0, 2, 2]);
    // Another gate holds all the same.
    assert_eq!(code("deploy/api", "--fail-on=never --deny=pods"), 2);
}

/// A verdict has one line of at most 100 characters, whatever objects, finalizers and types are called.
#[test]
fn a_verdict_is_one_line() {
    let [name, finalizer, group] = ["a", "f", "t"].map(|letter| letter.repeat(250));
    let dump = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n  namespace: shop\n  uid: a\n  finalizers: \
         [{finalizer}.io/x]\n---\napiVersion: {group}.io/v1\nkind: Thing\nmetadata:\n  name: b\n  namespace: shop\n  \
         uid: b\n  ownerReferences: [{{apiVersion: v1, kind: ConfigMap, name: {name}, uid: a}}]\n"
    );
    for flags in ["", "--deny=things", "--max=0 --deny=things", "--cascade=foreground"] {
        for target in [format!("configmap/{name}"), "thing/b".to_owned()] {
            let ran = run_with(&format!("plan {target} -n shop {flags} --from - -o json"), &dump);
            let plan: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
            let message = plan["verdict"]["message"].as_str().unwrap();
            assert!((10..=100).contains(&message.chars().count()), "{message}");
            let ran = run_with(&format!("plan {target} -n shop {flags} --from -"), &dump);
            let verdict = ran.out.lines().nth(2).unwrap();
            assert_eq!(verdict, message);
        }
    }
}

/// A violated gate exits with 2 in every output format.
#[test]
fn gates() {
    for form in ["", "-o json", "-o yaml", "-o name", "-o wide"] {
        let ran = |gate: &str| on_shop(&words(&format!("plan deploy/api -n shop {gate} {form}"))).code;
        assert_eq!(
            [ran("--deny=pods"), ran("--max=3"), ran("--deny=secrets"), ran("--max=50")],
            [2, 2, 0, 0],
            "{form}"
        );
    }
}

/// If a sweep examines an object that it cannot finish, it exits with 2, even if it changes nothing.
#[test]
fn a_sweep_that_leaves_something_stuck() {
    for line in ["", "-o json", "-o name", "-n shop", "cronjob/backup", "sts/db pod/db-0"] {
        let ran = gc(&[&["sweep", "--dry-run", "--from", LEFTOVERS], &words(line)[..]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (2, ""), "{line}: {ran}");
    }
    for line in ["-n elsewhere", "sts,pods --all -n shop", "secret/key"] {
        let ran = gc(&[&["sweep", "--dry-run", "--from", LEFTOVERS], &words(line)[..]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}: {ran}");
    }
}

/// A dry run ends as a plan does where data would be lost, and says first how to keep it.
#[test]
fn a_sweep_that_would_lose_data() {
    let gone = owners(("apps/v1", "Deployment"), &["gone"]);
    let mut lost = claim("nobody").to_vec();
    lost[0]["metadata"]["ownerReferences"] = gone.clone();
    lost.push(object(("v1", "Secret"), "key", json!({ "ownerReferences": gone })));
    let ran = on(&lost, "sweep --dry-run");
    says(&ran, &["DATA LOSS: ", "first keep the data: set the reclaim policy of its volume to Retain"]);
    assert_eq!(ran.code, 2, "{ran}");
    assert_eq!(on(&lost, "sweep --dry-run secret/key -n vault").code, 0);
    lost[1]["spec"]["persistentVolumeReclaimPolicy"] = json!("Retain");
    assert_eq!(on(&lost, "sweep --dry-run").code, 0);
}

/// If unread objects could change what a sweep does, it exits with 1, but still prints what is certain, and why the
/// rest is not.
#[test]
fn a_sweep_that_rests_on_a_gap() {
    let unseen = "tests/cli/dumps/unseen.yaml";
    for line in ["", "-o json", "-o name", "pod/web-1"] {
        let ran = gc(&[&["sweep", "--dry-run", "--from", unseen], &words(line)[..]].concat());
        assert!(ran.code == 1 && ran.err.contains("not certain, because something could not be read"), "{line}: {ran}");
        assert!(ran.err.contains("Not in the dump, so they may exist: replicasets.apps"), "{line}: {ran}");
    }
    // If unread objects can't affect anything that this sweep may change, they are only listed.
    let ran = gc(&["sweep", "--dry-run", "deploy/web", "--from", unseen]);
    assert!(ran.code == 0 && ran.err.contains("Not in the dump, so they may exist: "), "{ran}");
    // `--assume-complete` says that the dump contains everything, so nothing counts as unread.
    assert_eq!(gc(&["sweep", "--dry-run", "--assume-complete", "--from", unseen]).code, 0);
}

/// `explain` exits with 0, even if the object is stuck.
#[test]
fn stories_of_what_is_stuck() {
    for line in ["cronjob/backup", "cronjob/backup -o json", "cm/api-dashboard -o wide"] {
        let ran = gc(&[&["explain", "--from", LEFTOVERS], &words(line)[..]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{line}: {ran}");
    }
}

/// Usage errors exit with 1, because 2 means that a problem was found.
#[test]
fn it_could_not_be_done() {
    for line in [
        "nope",
        "tree -o xml",
        "plan --grace-period soon",
        "tree --nope",
        "completion",
        "resources deploy",
        "help nope",
    ] {
        let Ran { code, out, err } = gc(&words(line));
        assert!(code == 1 && out.is_empty() && !err.is_empty(), "{line:?}: {code} {out}");
    }
}
