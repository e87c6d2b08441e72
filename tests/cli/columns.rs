//! `tree -L`, `--show-labels` and `--sort-by` on a dump.

use super::run::{Ran, on_shop, with_input};

const DUMP: &str = "
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: x, uid: u-a, labels: {app: web, step: '10'}}}
- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: x, uid: u-b, labels: {app: \"w\\e[31m\", step: '9'}}}
- apiVersion: v1
  kind: Pod
  metadata:
    {name: c, namespace: x, uid: u-c, ownerReferences: [{apiVersion: v1, kind: Pod, name: away, uid: u-away}]}
";

fn tree(args: &[&str]) -> Ran {
    with_input(&[&["tree", "-n", "x", "--from", "-", "--no-fold"], args].concat(), DUMP)
}

fn rows(args: &[&str]) -> Vec<String> {
    let text = tree(args).fine();
    text.lines().skip(2).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
}

#[test]
fn labels_of_a_dump_are_known() {
    assert_eq!(
        rows(&["pods", "-L", "example.com/app,app", "--show-labels"]),
        [
            "OBJECT  APP  APP          LABELS",
            "Pod/a        web          app=web,step=10",
            r"Pod/b        w\u{1b}[31m  app=w\u{1b}[31m,step=9",
            "Pod/c                     <none>                  □ owner missing: Pod/away",
        ]
    );
    // An owner that doesn't exist has no labels, and nobody knows which it had.
    let owners = rows(&["pod/c", "--owners", "--show-labels"]);
    assert!(owners[2].contains("Pod/away") && owners[2].split_whitespace().any(|word| word == "-"), "{owners:?}");
}

/// Objects with other labels are not folded into one line.
#[test]
fn what_is_folded_has_equal_labels() {
    let pods: String = (0..9)
        .map(|at| {
            let label = if at < 7 { "many" } else { "few" };
            let metadata = format!("{{namespace: x, name: p{at}, uid: u{at}, labels: {{app: {label}}}}}");
            format!("- {{apiVersion: v1, kind: Pod, metadata: {metadata}}}\n")
        })
        .collect();
    let dump = format!("apiVersion: v1\nkind: List\nitems:\n{pods}");
    let lines = |args: &[&str]| {
        let text = with_input(&[&["tree", "pods", "-n", "x", "--from", "-"], args].concat(), dump.clone()).fine();
        text.lines().filter(|line| line.contains("ods") || line.starts_with("Pod/")).count()
    };
    // Three and the rest; with labels three and the rest of one, and both of the other.
    assert_eq!(lines(&[]) + 2, lines(&["-Lapp"]));
}

#[test]
fn a_forest_is_sorted() {
    assert_eq!(tree(&["pods", "--sort-by=.metadata.labels.step", "-o", "name"]).fine(), "pod/c\npod/b\npod/a\n");
    let by_name = on_shop(&["tree", "-n", "shop", "-o", "name"]).fine();
    let by_uid = on_shop(&["tree", "-n", "shop", "-o", "name", "--sort-by=metadata.name"]).fine();
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert!(by_name != by_uid && sorted(&by_name) == sorted(&by_uid), "{by_uid}");
    for field in [".spec.nodeName", ".metadata.annotations.a", "..name", ".metadatas.name"] {
        let ran = tree(&["pods", &format!("--sort-by={field}")]);
        assert!(ran.code == 1 && ran.err.contains("is not read: a tree has only metadata"), "{field}: {ran}");
    }
}
