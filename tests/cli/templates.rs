//! `-o jsonpath` and `-o custom-columns`, on the documents of each command.

use serde_json::Value;

use super::run::{SHOP, gc, write};

fn printed(args: &[&str]) -> String {
    gc(&[args, &["--from", SHOP]].concat()).done()
}

/// A template sees what `-o json` prints.
#[test]
fn every_document_takes_templates() {
    for command in [
        &["tree", "-n", "shop"][..],
        &["plan", "deploy/web", "-n", "shop"],
        &["plan", "-n", "shop"],
        &["sweep", "--dry-run"],
        &["doctor"],
        &["explain", "deploy/web", "-n", "shop"],
        &["resources"],
    ] {
        let document: Value = serde_json::from_str(&printed(&[command, &["-o", "json"]].concat())).unwrap();
        assert_eq!(printed(&[command, &["-o", "jsonpath={.kind}"]].concat()), document["kind"], "{command:?}");
        let whole: Value = serde_json::from_str(&printed(&[command, &["-o", "jsonpath={}"]].concat())).unwrap();
        assert_eq!(whole, document, "{command:?}");
        let gaps: Value =
            serde_json::from_str(&printed(&[command, &["-o", "jsonpath-as-json={.gaps}"]].concat())).unwrap();
        assert_eq!(gaps[0], document["gaps"], "{command:?}");
    }
    assert_eq!(gc(&["version", "-o", "jsonpath={.kind}"]).done(), "Version");
}

/// kubectl output: rows of `-o custom-columns=` | own: the elements of the document's list
/// kubectl flag: `--no-headers` | same: the first line of a text is left out, too
#[test]
fn rows_have_columns() {
    let columns = ["tree", "-n", "shop", "deploy/web", "--depth", "1", "-o", "custom-columns=KIND:.kind,NAME:.name"];
    let with_titles = printed(&columns);
    assert!(
        with_titles.starts_with("KIND         NAME\nDeployment   web\nConfigMap    shop-settings\n"),
        "{with_titles}"
    );
    let (_, rows) = with_titles.split_once('\n').unwrap();
    assert_eq!(printed(&[&columns[..], &["--no-headers"]].concat()), rows);
    let names =
        printed(&["tree", "-n", "shop", "-o", "custom-columns=NAMES:.nodes[*].name,KIND:.kind", "--no-headers"]);
    assert!(names.lines().count() == 1 && names.ends_with("   Tree\n"), "{names}");
    let text = printed(&["tree", "-n", "shop", "--no-headers"]);
    assert!(!text.contains("Dump "), "{text}");
}

/// kubectl output: `-o jsonpath-file=`, `-o custom-columns-file=` | same
#[test]
fn templates_may_be_in_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = write(folder.path(), "template", "{.kind}{\"\\n\"}");
    assert_eq!(printed(&["tree", "-o", &format!("jsonpath-file={path}")]), "Tree\n");
    let path = write(folder.path(), "columns", "NAME KIND\n.name {.kind}\n");
    assert!(printed(&["tree", "-o", &format!("custom-columns-file={path}")]).starts_with("NAME "));
}

/// kubectl output: `-o go-template=`, `-o go-template-file=` | refused: jsonpath or custom-columns instead
#[test]
fn what_cannot_be_written_is_refused() {
    for (output, why) in [
        ("jsonpath={.kind", "error parsing jsonpath {.kind, unclosed action"),
        ("jsonpath", "template format specified but no template given"),
        ("jsonpath=", "template format specified but no template given"),
        ("jsonpath-file=/nonexistent/file", "/nonexistent/file: No such file"),
        ("custom-columns=NAME", "unexpected custom-columns spec: NAME, expected <header>:<json-path-expr>"),
        ("go-template={{.kind}}", "Go templates are not supported: use jsonpath=…, custom-columns=…, or json with jq"),
        ("go-template-file=x", "Go templates are not supported"),
        ("xml", "[possible values: json, yaml, name, html, svg, mermaid, dot, collector-dot, wide, jsonpath=, "),
        ("jsonpath={.nodes[999999]}", "error executing jsonpath: array index out of bounds: index 999999"),
    ] {
        let ran = gc(&["tree", "-o", output, "--from", SHOP]);
        assert_eq!(ran.code, 1, "{output}");
        assert!(ran.err.contains(why), "{output}: {}", ran.err);
        assert_eq!(ran.out, "", "{output}");
    }
    let missing = ["tree", "-o", "jsonpath={.nope}", "--from", SHOP];
    assert_eq!(gc(&missing).fine(), "");
    let ran = gc(&[&missing[..], &["--allow-missing-template-keys=false"]].concat());
    assert!(ran.code == 1 && ran.err.contains("nope is not found"), "{}", ran.err);
    // Every letter case of the other formats is taken, as in kubectl.
    assert_eq!(gc(&["version", "-o", "JSON"]).fine(), gc(&["version", "-o", "json"]).fine());
}
