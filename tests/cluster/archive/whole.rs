//! Objects read from an archive are unchanged, also when kubectl reads them; terminating objects are archived as long
//! as they exist.

use std::fs;

use serde_json::{Value, json};

use super::{Folder, archive, names, objects, same, sorted};
use crate::{
    doctor::paste,
    plan::{draft::HOLD, trial::Trial},
    sweep::uncollected,
};

/// Strings and numbers that YAML parsers interpret differently.
fn odd() -> Value {
    json!({
        "texts": [
            "", "y", "on", "No", "true", "null", "~", "0x10", "012", "0o7", "1e3", "1_000", "+1", ".5", "1:30",
                "2001-01-01", ".inf", ".NaN", "=",
            "<<", "- a", "a: b", "a #b", "# a", "%a", "@a", "'", "\"", "\\", "a\nb\n\n", "\ta\r\n", " a ",
                "\u{1}\u{7f}\u{85}\u{a0}\u{2028}\u{feff}",
            "日本語 🦀",
        ],
        "numbers": [0, -7, i64::MAX, i64::MIN, 0.1, 1.5e300, -2.5e-7],
        "keys": {"on": 1, "": 2, "1": 3, "a b: c": {"~": [[], {}, [[1]]]}, "k".repeat(1_100): 4},
        "none": [true, false],
    })
}

/// A Widget may have any fields.
fn odd_widget(trial: &Trial<'_>) -> Value {
    let metadata = json!({"name": "odd", "namespace": trial.namespace, "annotations": {"on": "012",
        "note": "two\nlines: \u{85}"}});
    trial.cluster.create(json!({"apiVersion": "gc.test/v1", "kind": "Widget", "metadata": metadata, "spec": odd()}))
}

#[test]
fn kubectl_reads_what_was_archived() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "odd", "Background");
    let widget = odd_widget(&trial);
    let text = "y: 012\n---\n# kubectl-gc-archive-end: {}\n\ttabs \u{7}";
    let data = json!({"on": "off", "multi": text, "emoji": "🦀"});
    let metadata = json!({"name": "odd", "namespace": trial.namespace});
    let config = cluster.create(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data,
            "binaryData": {"b": "AAEC/w=="}}));
    let folder = Folder::new();
    for (name, command) in [("odd.yaml", "kubectl create -f"), ("odd.yaml.gz", "zcat FILE | kubectl create -f -")] {
        let file = folder.path(name);
        archive(cluster, &trial.namespace, &["widget/odd", "configmap/odd"], &file).expect(0);
        for object in objects(&file) {
            same(&object, &cluster.get(&cluster.path_of(&object)).expect("it is there"));
            cluster.delete(&cluster.path_of(&object), Some("Background"), None);
        }
        let file = file.display().to_string();
        paste(
            cluster,
            &if command.contains("FILE") { command.replace("FILE", &file) } else { format!("{command} {file}") },
        );
        for (before, field) in [(&widget, "spec"), (&config, "data"), (&config, "binaryData")] {
            let now = cluster.get(&cluster.path_of(before)).expect("it was created");
            assert_eq!(now[field], before[field], "{name}");
            assert_eq!(now["metadata"]["annotations"], before["metadata"]["annotations"]);
            assert_ne!(now["metadata"]["uid"], before["metadata"]["uid"]);
        }
    }
}

#[test]
fn what_is_terminating_is_archived_with_all_that_goes_with_it() {
    let cluster = uncollected();
    let trial = Trial::on(cluster, "terminating", "Foreground");
    let owner = trial.widget("owner").create();
    let held = trial.config_map("held").blocking(&owner).finalizer(HOLD).create();
    trial.config_map("below").owned_by(&held).create();
    trial.config_map("free").owned_by(&owner).create();
    trial.config_map("shared").owned_by(&owner).owned_by(&trial.widget("other").create()).create();
    for (object, policy) in [(&owner, "Foreground"), (&held, "Background")] {
        cluster.delete(&cluster.path_of(object), Some(policy), None);
    }
    let folder = Folder::new();
    let ran = archive(cluster, &trial.namespace, &["widget/owner", "--propagation=foreground"], &folder.path("a.yaml"));
    ran.expect(0);
    let archived = objects(&folder.path("a.yaml"));
    assert_eq!(sorted(names(&archived)), ["ConfigMap/below", "ConfigMap/free", "ConfigMap/held", "Widget/owner"]);
    let terminating = archived.iter().filter(|object| object["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(terminating.count(), 2);
    for object in &archived {
        same(object, &cluster.get(&cluster.path_of(object)).expect("it is there"));
    }
    assert!(fs::read_to_string(folder.path("a.yaml")).unwrap().contains("foregroundDeletion"));
}
