//! `delete` asks a user on a terminal, who answers.

use regex::Regex;
use serde_json::json;

use super::kit::{Family, config_map};
use crate::{
    harness::{ADMIN, PATIENCE, shared, unwrapped},
    page::team,
    tmux::Tmux,
};

#[test]
fn a_yes_is_a_yes() {
    let family = Family::of("asked-yes", 2);
    let terminal = family.cluster.gc_on_terminal(&family.args(&[]));
    terminal.shows("Context test (127.0.0.1:");
    terminal.shows(&format!("namespace {}. Delete 3 objects? [y/N, a: archive first]", family.namespace));
    assert_eq!(family.there().len(), 3, "nothing is deleted before the answer");
    let (code, shown) = terminal.answered("y");
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("DONE"), "{shown}");
    assert_eq!(family.there(), [""; 0]);
}

/// The plan and its question, and then what came of it, on a small terminal and on a large one, with colours (`{1;31}`
/// begins one, `{}` ends it) and without: then the words are the same.
#[test]
fn on_the_example() {
    let cluster = shared();
    let pattern = |pattern: &str| Regex::new(pattern).expect("a pattern");
    let (colour, end) = (pattern("\u{1b}\\[([0-9;]*)m"), pattern("(\u{1b}\\[(0|39|49)m)+"));
    let (time, gap) = (pattern(r"[\d.]+m?s\b"), pattern(" +\n"));
    for (columns, lines) in [(80, 24), (120, 40)] {
        let [coloured, without] = ["", "NO_COLOR=1"].map(|variable| {
            let namespace = cluster.namespace("team");
            for mut object in team() {
                object["metadata"]["namespace"] = json!(namespace);
                cluster.create(object);
            }
            let pods = ["db-0", "db-1"].map(|pod| format!("/api/v1/namespaces/{namespace}/pods/{pod}"));
            cluster.wait_until("both Pods are there", PATIENCE, || pods.iter().all(|pod| cluster.get(pod).is_some()));
            cluster.settled();
            let tmux = Tmux::of(columns, lines, cluster.folder());
            let (program, kubeconfig) = (env!("CARGO_BIN_EXE_kubectl-gc"), cluster.kubeconfig(ADMIN));
            let delete = format!(
                "{program} delete statefulset/db configmap/settings -n {namespace} --timeout=2s; \
                                  echo ended with $?"
            );
            tmux.types(&format!("clear; KUBECONFIG={} {variable} {delete}", kubeconfig.display()));
            tmux.until("stop):");
            let asked = tmux.coloured();
            tmux.types("settings");
            tmux.until("ended with 2");
            [asked, tmux.coloured()].map(|shown| gap.replace_all(&shown.replace(&namespace, "team"), "\n").into_owned())
        });
        for ((name, coloured), without) in ["asked", "ended"].into_iter().zip(coloured).zip(without) {
            let words = |shown: &str| time.replace_all(&colour.replace_all(shown, ""), "0.0s").into_owned();
            assert_eq!(words(&coloured), words(&without), "the same words");
            let marked = colour.replace_all(&end.replace_all(coloured.trim_end(), "{}"), "{$1}").into_owned();
            insta::with_settings!({filters => [
                (r"127\.0\.0\.1:\d+", "127.0.0.1:6443"),
                (time.as_str(), "0.0s"),
            ]}, {
                insta::assert_snapshot!(format!("{name}-on-{columns}x{lines}"), marked);
            });
        }
    }
}

#[test]
fn anything_else_is_none() {
    for answer in ["", "n", "Y es"] {
        let family = Family::of("asked-no", 1);
        let terminal = family.cluster.gc_on_terminal(&family.args(&[]));
        terminal.shows("Delete 2 objects?");
        let (code, shown) = terminal.answered(answer);
        assert_eq!(code, Some(1), "{answer:?}: {shown}");
        assert!(shown.contains("Nothing was changed: the answer was not yes."), "{answer:?}: {shown}");
        assert_eq!(family.there(), ["leaf-0", "root"], "{answer:?}");
    }
}

#[test]
fn many_are_counted_by_whoever_deletes_them() {
    let family = Family::of("asked-many", 3);
    for (answer, left) in [("y", 4), ("3", 4), ("4", 0)] {
        let terminal = family.cluster.gc_on_terminal(&family.args(&["--confirm-above=3"]));
        terminal.shows("To confirm, type the number of objects: 4 (a: archive first, anything else: stop)");
        let (code, shown) = terminal.answered(answer);
        assert_eq!((code, family.there().len()), (Some(i32::from(left > 0)), left), "{answer:?}: {shown}");
    }
}

#[test]
fn what_is_heavy_is_named() {
    let cluster = shared();
    let namespace = cluster.namespace("asked-heavy");
    cluster.create(object!("v1 PersistentVolumeClaim", {
        "name": "data", "namespace": namespace,
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }));
    let claims = format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims");
    for (answer, left) in [("y", 1), ("data", 0)] {
        let terminal = cluster.gc_on_terminal(&["delete", "pvc/data", "-n", &namespace]);
        terminal.shows(
            "Deletes PersistentVolumeClaim/data (may lose data). Delete 1 object? To confirm, type \
             data (a: archive first",
        );
        let (code, shown) = terminal.answered(answer);
        assert_eq!((code, cluster.list(&claims).len()), (Some(i32::from(left > 0)), left), "{answer:?}: {shown}");
        assert_eq!(shown.contains("Nothing was changed: the answer was not data."), left > 0, "{answer:?}: {shown}");
    }
}

/// The user hasn't agreed to delete objects that were created after the question.
#[test]
fn what_changes_meanwhile_is_asked_about_again() {
    let family = Family::of("asked-again", 1);
    let (mut terminal, watches) = family.delete_on_terminal(&[]);
    terminal.shows("Delete 2 objects?");
    watches.have_brought(&family.dependent("latecomer"));
    terminal.types("y");
    terminal.shows("The cluster has changed (new: ConfigMap/latecomer");
    terminal.shows("Delete 3 objects?");
    assert_eq!(family.there().len(), 3);
    let (code, shown) = terminal.answered("y");
    assert_eq!((code, family.there()), (Some(0), vec![]), "{shown}");
}

/// A change that doesn't affect the plan needs no new question.
#[test]
fn what_makes_no_difference_is_not_asked_about() {
    let family = Family::of("asked-once", 1);
    let (terminal, watches) = family.delete_on_terminal(&[]);
    terminal.shows("Delete 2 objects?");
    watches.have_brought(&family.cluster.create(config_map(&family.namespace, "stranger", &[])));
    let (code, shown) = terminal.answered("y");
    assert_eq!((code, family.there()), (Some(0), vec!["stranger".to_owned()]), "{shown}");
}

/// An object with the same name isn't the same object.
#[test]
fn what_was_replaced_meanwhile_is_not_deleted() {
    let family = Family::of("asked-replaced", 0);
    let (terminal, watches) = family.delete_on_terminal(&[]);
    terminal.shows("Delete 1 object?");
    family.cluster.delete(&family.cluster.path_of(&family.root), Some("Background"), None);
    watches.have_brought(&family.cluster.create(config_map(&family.namespace, "root", &[])));
    let (code, shown) = terminal.answered("y");
    assert_eq!((code, family.there()), (Some(1), vec!["root".to_owned()]), "{shown}");
    assert!(unwrapped(&shown).contains("was replaced by another object with the same name"), "{shown}");
}
