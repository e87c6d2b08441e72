//! Invalid dumps: the error names the file, and the position in it.

use std::fs;

use super::{describe, finish, program, with_input};

/// The error for a file with this name and content.
fn about(file: &str, content: impl AsRef<[u8]>) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(file), content).unwrap();
    let ran = finish(program().current_dir(&folder).args(["tree", "--from", file]));
    describe(&ran).to_owned()
}

#[test]
fn malformed() {
    assert_eq!(
        about("a.json", r#"{"kind": "List", "items": [{]}"#),
        "a.json: malformed JSON at line 1, column 29: key must be a string"
    );
    assert_eq!(
        about("a.yaml", "kind: List\nitems:\n- a: [\nb"),
        "a.yaml: malformed YAML at line 3, column 6: unclosed bracket '['"
    );
    assert_eq!(
        about("a.yaml", "kind: List\nitems:\n- kind: \"Po"),
        "a.yaml: malformed YAML at line 3, column 9: unclosed quote; the file ends here: it seems cut off, dump it \
         again"
    );
    assert_eq!(
        about("a.md", "Here it is:\n\n```yaml\nkind: List\nitems: []\n```\n"),
        "a.md: malformed YAML at line 3, column 1: unexpected character: ``'; remove the lines that begin with ```: \
         they belong to a page of text"
    );
    assert_eq!(
        about("a.txt", "NAME   READY\nweb    1/1\n"),
        "a.txt: a string instead of a Kubernetes object; a dump is the output of kubectl get -o yaml or \
         -o json"
    );
}

#[test]
fn nothing_to_look_at() {
    assert_eq!(about("a.yaml", ""), "no objects in a.yaml");
    assert_eq!(about("a.yaml", "apiVersion: v1\nkind: List\nitems: []\n"), "no objects in a.yaml");
    assert_eq!(describe(&with_input(&["tree", "--from", "-"], "")), "no objects in standard input");
    assert_eq!(describe(&with_input(&["plan", "--from", "-"], "\n---\n# nothing\n")), "no objects in standard input");
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("notes.txt"), "x").unwrap();
    let tree = |from: &str| finish(program().current_dir(&folder).args(["tree", "--from", from]));
    assert_eq!(
        describe(&tree(".")),
        ".: no dump files in this folder (.json, .ndjson, .jsonl, .yaml, .yml, also with .gz)"
    );
    assert_eq!(describe(&tree("gone.yaml")), "gone.yaml: no such file or folder");
    for (from, why) in [
        ("s3://acme/a b.yaml", "s3://acme/a b.yaml: only http:// and https:// are fetched: "),
        ("https://me:pw@acme.io/a.yaml", "--from takes no URL with a password: "),
    ] {
        assert_eq!(describe(&tree(from)), format!("{why}give what is there as standard input, with --from -"));
    }
    for (from, why) in [
        ("https://acme io/a.yaml", "https://acme io/a.yaml: not a URL"),
        ("http:///a.yaml", "http:///a.yaml: not a URL"),
    ] {
        assert_eq!(describe(&tree(from)), why);
    }
    assert_eq!(
        describe(&finish(program().args(["tree", "--example=none"]))),
        "there is no example none: use --example=shop, --example=leftovers, --example=old, --example=owners"
    );
    assert_eq!(describe(&tree("")), "--from is empty: give a file, a folder, a URL or -");
}

#[test]
fn snapshot_files_of_another_version() {
    assert_eq!(
        about("a.json", r#"{"apiVersion":"kubectl-gc/v9","kind":"Snapshot"}"#),
        "a.json: kubectl-gc/v9 is not a snapshot this version can read (kubectl-gc/v1 Snapshot)"
    );
}
