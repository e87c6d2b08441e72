//! Measures reading and showing a dump, by its number of objects: `cargo bench --bench tree [-- OBJECTS…]`.

use std::{io::Write, time::Instant};

use gc_cluster::dump;
use gc_core::{graph::OwnerGraph, tree::Tree};
use kubectl_gc::render::tree::{Document, TreeView};

fn main() {
    let sizes: Vec<u32> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000] } else { sizes };
    println!("{:>9}  {:>7}  {:>8}  {:>8}  {:>8}  {:>8}", "objects", "MB", "read", "graph", "tree", "document");
    for size in sizes {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("dump.ndjson");
        let bytes = write_dump(&path, size);
        let start = Instant::now();
        let snapshot = dump::read(&[path.display().to_string()], true).expect("the dump is well-formed");
        let read = start.elapsed();
        assert_eq!(snapshot.len(), size as usize);
        let start = Instant::now();
        let graph = OwnerGraph::new(&snapshot);
        let connected = start.elapsed();
        let start = Instant::now();
        let tree = Tree::of_scope(&snapshot, &graph, None, None);
        let walked = start.elapsed();
        let start = Instant::now();
        let document =
            serde_json::to_vec(&Document::of(&TreeView::new(&snapshot, &graph, &tree))).expect("documents are plain");
        let written = start.elapsed();
        assert!(document.len() > size as usize);
        let columns = [read, connected, walked, written].map(|time| format!("{time:>8.0?}")).join("  ");
        println!("{size:>9}  {:>7.1}  {columns}", bytes as f64 / 1e6);
    }
}

/// ReplicaSets with nine pods each, in the format of `kubectl get -o json`, one object a line.
fn write_dump(path: &std::path::Path, size: u32) -> u64 {
    let mut file = std::io::BufWriter::new(std::fs::File::create(path).expect("the file can be made"));
    for number in 0..size {
        let owner = number / 10 * 10;
        let (kind, api_version, owners) = if number == owner {
            ("ReplicaSet", "apps/v1", String::new())
        } else {
            let reference = format!(
                r#"{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"o{owner}","uid":"u{owner}","controller":true,"blockOwnerDeletion":true}}"#
            );
            ("Pod", "v1", format!(r#","ownerReferences":[{reference}]"#))
        };
        let labels = format!(r#"{{"app":"a{}","pod-template-hash":"{owner:x}"}}"#, owner % 97);
        let metadata = format!(
            r#"{{"name":"o{number}","namespace":"ns{}","uid":"u{number}","labels":{labels}{owners}}}"#,
            owner % 50
        );
        writeln!(file, r#"{{"apiVersion":"{api_version}","kind":"{kind}","metadata":{metadata},"spec":{{}}}}"#)
            .expect("the disk has room");
    }
    file.into_inner().expect("the disk has room").metadata().expect("the file is there").len()
}
