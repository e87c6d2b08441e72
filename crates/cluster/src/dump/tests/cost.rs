//! What reading a dump costs, counted: these figures are the same on every machine.

use super::{object, owned_by, read};
use crate::{allocations::allocated_for_each, dump::read_bytes};

/// A pod of a ReplicaSet, with labels, and with fields that are not kept.
fn pod(number: usize) -> String {
    let owner = owned_by("apps/v1", "ReplicaSet", &format!("web-{}", number / 10));
    let more = format!(
        r#"{owner},"resourceVersion":"{number}","creationTimestamp":"2026-01-31T08:00:00Z",
        "labels":{{"app":"web","pod-template-hash":"5d4f8c7b9"}},
        "annotations":{{"note":"not kept"}},"managedFields":[{{"manager":"kubelet","operation":"Update"}}]"#
    );
    let whole = object("v1", "Pod", "shop", &format!("web-{}-{number}", number / 10), &more);
    let rest = r#","spec":{"containers":[{"image":"acme/web:1","name":"web"}],"nodeName":"node-7"},
        "status":{"phase":"Running"}}"#;
    format!("{}{rest}", whole.strip_suffix('}').expect("an object")).replace("\n        ", "")
}

fn json(pods: usize) -> String {
    let items: Vec<String> = (0..pods).map(pod).collect();
    format!(r#"{{"apiVersion":"v1","kind":"List","items":[{}]}}"#, items.join(","))
}

fn lines(pods: usize) -> String {
    (0..pods).map(|number| pod(number) + "\n").collect()
}

fn snapshot(pods: usize) -> String {
    let mut file = Vec::new();
    crate::dump::write(&read(&json(pods)), &mut file).expect("memory doesn't fail");
    String::from_utf8(file).expect("a snapshot is text")
}

/// How often memory is asked for, and for how many bytes, for each object beyond the first thousand.
#[track_caller]
fn costs_at_most(form: impl Fn(usize) -> String, times: f64, bytes: f64) {
    let texts = [1000, 5000].map(form);
    let (each, size) = allocated_for_each(1000, 5000, |pods| {
        let text = if pods == 1000 { &texts[0] } else { &texts[1] };
        assert_eq!(read_bytes(text.as_bytes(), true).expect("a dump").len(), pods);
    });
    assert!(each <= times && size <= bytes, "{each} allocations of {size} bytes for each object");
}

/// Three of these are for the containers of a pod, which may name Secrets and ConfigMaps.
#[test]
fn an_object_in_a_list_costs_little_memory() {
    costs_at_most(json, 29.2, 5_026.0);
}

#[test]
fn an_object_in_a_line_costs_little_memory() {
    costs_at_most(lines, 29.2, 5_026.0);
}

#[test]
fn an_object_in_a_snapshot_costs_little_memory() {
    costs_at_most(snapshot, 4.2, 1_700.0);
}
