//! Dumps come from untrusted sources: names in them must not reach the terminal as control sequences, or forge a line
//! of output.

use serde_json::{Value, json};

use super::run::{Ran, with_input};

/// Sets a colour and a title, begins a new line, and reverses the writing direction.
const EVIL: &str = "evil\u{1b}[31m\u{1b}]0;x\u{7}\r\nerror: forged\u{202e}\t";

/// Every command that reads a dump, and every text that it writes.
const LINES: [&[&str]; 37] = [
    &["tree"],
    &["tree", "-o", "wide"],
    &["tree", "-o", "name"],
    &["tree", "-o", "dot"],
    &["tree", "-o", "collector-dot"],
    &["tree", "pod/pod", "--owners"],
    &["plan"],
    &["plan", "-o", "name"],
    &["plan", "cm", "--all"],
    &["plan", "cm", "--all", "--propagation=foreground"],
    &["plan", "cm", "--all", "--cascade=orphan"],
    &["plan", "cm", "--all", "-o", "wide"],
    &["plan", "cm", "--all", "-o", "name"],
    &["resources", "--count"],
    &["resources", "-o", "name"],
    &["sweep", "--dry-run"],
    &["sweep", "--dry-run", "--assume-complete"],
    &["sweep", "--dry-run", "--assume-complete", "-o", "wide"],
    &["sweep", "--dry-run", "--assume-complete", "-o", "name"],
    &["sweep", "--dry-run", "cm", "--all"],
    &["doctor"],
    &["doctor", "--assume-complete"],
    &["doctor", "--assume-complete", "-o", "wide"],
    &["doctor", "--assume-complete", "-o", "name"],
    &["doctor", "--assume-complete", "-o", "remedies"],
    &["explain", "pod/pod"],
    &["explain", "cm", "--all"],
    &["explain", "cm", "--all", "--assume-complete", "-o", "wide"],
    &["tree", "-o", "html"],
    &["tree", "--no-fold", "-o", "svg"],
    &["tree", "pod/pod", "--owners", "-o", "mermaid"],
    &["plan", "-o", "svg"],
    &["plan", "cm", "--all", "-o", "html"],
    &["plan", "cm", "--all", "-o", "dot"],
    &["sweep", "--dry-run", "-o", "mermaid"],
    &["doctor", "--assume-complete", "-o", "svg"],
    &["explain", "cm", "--all", "-o", "html"],
];

/// Objects whose names try to be obeyed.
pub fn dump() -> String {
    let object = |kind: &str, name: &str, uid: &str, metadata: Value| {
        let mut object =
            json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": EVIL, "uid": uid}});
        object["metadata"].as_object_mut().unwrap().extend(metadata.as_object().unwrap().clone());
        object
    };
    let owner = json!({"apiVersion": "v1", "kind": "ConfigMap", "name": EVIL, "uid": EVIL, "blockOwnerDeletion": true});
    let unseen = json!({"apiVersion": "un\u{1b}[0m.io/v1", "kind": "Un\nseen", "name": EVIL, "uid": "unseen"});
    let lost = json!({"apiVersion": "v1", "kind": "Secret", "name": EVIL, "uid": EVIL});
    let mut pod = object("Pod", "pod", "p", json!({"ownerReferences": [owner.clone()]}));
    pod["spec"] = json!({"nodeName": EVIL, "terminationGracePeriodSeconds": 30});
    let items = [
        object("ConfigMap", EVIL, EVIL, json!({})),
        object(
            "ConfigMap",
            &"日本語".repeat(80),
            "long",
            json!({"finalizers": [EVIL], "ownerReferences": [owner.clone()]}),
        ),
        object(EVIL, "odd", "odd", json!({"ownerReferences": [unseen, owner, lost]})),
        pod,
        json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": EVIL, "uid": "node"}}),
    ];
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// The output contains no control characters except line ends, and no line that a name has forged.
fn harmless(ran: &Ran) {
    for text in [&ran.out, &ran.err] {
        let obeyed = text.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
        assert_eq!(obeyed, None, "{text}");
        assert!(!text.lines().any(|line| line.starts_with("error: forged")), "{text}");
    }
}

/// robustness input: control characters and line breaks in names | {LINES} commands | none is obeyed, no line is forged
#[test]
fn nothing_reaches_the_terminal() {
    for args in LINES {
        let ran = with_input(&[args, &["--from", "-"]].concat(), dump());
        // Exit code 1 means that a command failed; a sweep also exits with 1 if its result depends on unread objects,
        // but still prints the result.
        assert!(ran.code == 0 || ran.code == 2 || args[0] == "sweep" && !ran.out.is_empty(), "{args:?} {ran}");
        harmless(&ran);
    }
}

#[test]
fn nor_do_errors() {
    for args in [
        &["tree", EVIL][..],
        &["tree", "cm", EVIL, "-n", "x"],
        &["plan", "-n", EVIL],
        &["doctor", "-n", EVIL],
        &["doctor", "--only", EVIL],
        &["plan", "pod/pods"],
        &["plan", "pod/pod", "-n", "x"],
    ] {
        let ran = with_input(&[args, &["--from", "-"]].concat(), dump());
        harmless(&ran);
    }
    for (field, value) in [("uid", ""), ("creationTimestamp", EVIL)] {
        let mut object =
            json!({"apiVersion": "v1", "kind": EVIL, "metadata": {"name": EVIL, "namespace": EVIL, "uid": EVIL}});
        object["metadata"][field] = value.into();
        let ran = with_input(&["tree", "--from", "-"], object.to_string());
        assert_eq!((ran.code, ran.err.lines().count()), (1, 1), "{ran}");
        harmless(&ran);
    }
    harmless(&with_input(&["tree", "--from", "-"], json!({"apiVersion": EVIL, "kind": "Snapshot"}).to_string()));
    harmless(&with_input(
        &["tree", "--from", "-"],
        format!("{{\"apiVersion\":\"v1\",\"kind\":\"Status\",\"message\":{}}}", json!(EVIL)),
    ));
    harmless(&with_input(&["tree", "--from", "-"], format!("a: {EVIL}")));
}

/// Users paste printed commands: a name with spaces or shell characters must stay one word.
#[test]
fn commands_are_quoted() {
    let role = r#"{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
        "metadata":{"name":"a $(reboot); isn't","uid":"1"}}"#;
    let ran = with_input(&["plan", "clusterrole", "--all", "--from", "-"], role);
    let quoted = r"kubectl gc delete 'clusterroles.rbac.authorization.k8s.io/a $(reboot); isn'\''t'";
    assert!(ran.out.contains(quoted), "{ran}");
}
