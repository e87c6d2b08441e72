//! Labels as columns, and rows in an order, beside kubectl.

use serde_json::json;

use crate::harness::{Cluster, Ran};

use super::world;

/// ConfigMaps of which some have labels. Names and labels sort otherwise as numbers than as texts.
fn labelled() -> (&'static Cluster, String) {
    let cluster = world();
    let namespace = cluster.namespace("labelled");
    for (name, labels) in [
        ("c", json!({"app": "web", "example.com/tier": "front", "step": "10"})),
        ("a", json!({"app": "db", "step": "9"})),
        ("d", json!({"step": "1Ki"})),
        ("b", json!({})),
    ] {
        cluster.create(object!("v1 ConfigMap", {"name": name, "namespace": namespace, "labels": labels}));
    }
    (cluster, namespace)
}

/// The name, and the cells of the columns after AGE, in each line below the titles and in these.
fn cells(ran: &Ran) -> Vec<Vec<String>> {
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let lines = ran.stdout.lines().skip_while(|line| !line.contains(" AGE")).take_while(|line| !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    let titles: Vec<&str> = lines[0].split_whitespace().collect();
    let starts: Vec<usize> = titles.iter().map(|title| lines[0].find(&format!(" {title}")).unwrap_or(0)).collect();
    let age = titles.iter().position(|title| *title == "AGE").expect("the title AGE");
    let ours = ["UID", "REFERENCE", "FINALIZERS", "STATE"];
    let shown: Vec<usize> = (age + 1..titles.len()).filter(|at| !ours.contains(&titles[*at])).collect();
    let cell = |line: &str, at: usize| {
        let end = starts.get(at + 1).map_or(line.len(), |end| *end).min(line.len());
        line.get(starts[at].min(end)..end).unwrap_or_default().trim().to_owned()
    };
    let row = |line: &&str| {
        let name = line.split_whitespace().next().unwrap_or_default().rsplit('/').next().unwrap_or_default();
        // The title of the names differs.
        let name = if ["NAME", "OBJECT"].contains(&name) { "" } else { name };
        [vec![name.to_owned()], shown.iter().map(|at| cell(line, *at)).collect()].concat()
    };
    lines.iter().map(row).filter(|row: &Vec<String>| row[0] != "kube-root-ca.crt").collect()
}

/// kubectl flag: `tree -L`, `--label-columns`, `--show-labels` | same: `<unknown>` for an owner that can't be read
#[test]
fn labels_are_columns() {
    let (cluster, namespace) = labelled();
    for flags in [
        &["-L", "app"][..],
        &["-L", "example.com/tier,app"],
        &["--label-columns=step", "-Lapp"],
        &["--show-labels"],
        &["--show-labels", "-Lapp", "-o", "wide"],
    ] {
        let scope = ["configmaps", "-n", &namespace];
        let theirs = cells(&cluster.kubectl(&[&["get"], &scope[..], flags].concat()));
        assert_eq!(theirs.len(), 5, "{theirs:?}");
        let ours = cells(&cluster.gc(&[&["tree", "--no-fold"], &scope[..], flags].concat()));
        assert_eq!(ours, theirs, "{flags:?}");
    }
    let ours = cluster.gc(&["tree", "cm", "-n", &namespace, "--show-labels", "-o", "json"]);
    let theirs = cluster.kubectl(&["get", "cm", "-n", &namespace, "--show-labels", "-o", "json"]);
    assert_eq!((ours.code, theirs.code), (Some(1), Some(1)));
    assert_eq!(ours.stderr, theirs.stderr);
}

/// kubectl flag: `tree --sort-by` | same: siblings, by metadata; other fields, and one that no object has, are refused
#[test]
fn siblings_are_sorted() {
    let (cluster, namespace) = labelled();
    let scope = ["configmaps", "-n", &namespace, "-l", "step"];
    let both = |field: &str| {
        let sort_by = format!("--sort-by={field}");
        let flags = [&scope[..], &[&sort_by]].concat();
        (cluster.kubectl(&[&["get"], &flags[..]].concat()), cluster.gc(&[&["tree", "--no-fold"], &flags[..]].concat()))
    };
    for field in [".metadata.labels.step", "metadata.name", "{.metadata.uid}", ".metadata.resourceVersion", "{.kind}"] {
        let (theirs, ours) = both(field);
        let (theirs, mut ours) = (cells(&theirs), cells(&ours));
        assert_eq!(theirs.len(), 4, "{theirs:?}");
        if field == "{.kind}" {
            ours.sort();
            assert_eq!(ours[1..], [["a"], ["c"], ["d"]]);
            continue;
        }
        assert_eq!(ours, theirs, "{field}");
    }
    // What is missing comes first; there is one such object, because kubectl leaves the order of several open.
    let (theirs, ours) = both(".metadata.labels.app");
    assert_eq!(cells(&ours), cells(&theirs));
    assert_eq!(cells(&ours)[1], ["d"]);
    // With a table, kubectl 1.32 finds "No resources" if no row can be sorted. With objects, it says why.
    let refused = |field: &str| {
        let sort_by = format!("--sort-by={field}");
        let flags = [&scope[..], &["-o", "name", &sort_by]].concat();
        (cluster.kubectl(&[&["get"], &flags[..]].concat()), cluster.gc(&[&["tree"], &flags[..]].concat()))
    };
    for field in [".metadata.labels.none", ".metadata.labels", "{.metadata", ".metadata.labels[0"] {
        let (theirs, ours) = refused(field);
        assert_eq!((theirs.code, ours.code), (Some(1), Some(1)), "{field}: {}\n{}", theirs.stderr, ours.stderr);
    }
    let (theirs, ours) = refused(".metadata.labels.none");
    let why = "couldn't find any field with path \"{.metadata.labels.none}\" in the list of objects";
    assert!(theirs.stderr.contains(why) && ours.stderr.contains(why), "{}\n{}", theirs.stderr, ours.stderr);
    let (_, ours) = both(".status.phase");
    assert!(ours.code == Some(1) && ours.stderr.contains("a tree has only metadata"), "{}", ours.stderr);
    let reversed =
        cluster.gc(&["tree", "cm", "-n", &namespace, "-l", "step", "--sort-by=.metadata.labels.step", "-o", "name"]);
    assert_eq!(reversed.expect(0), "configmap/a\nconfigmap/c\nconfigmap/d\n");
}
