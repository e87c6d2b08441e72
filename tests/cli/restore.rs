//! `restore` checks the archive before it contacts a cluster: these tests have none.

use std::fs;

use gc_cluster::archive::{ArchiveWriter, FORMAT, Header};
use serde_json::json;

use super::run::{describe, gc, write};

#[test]
fn only_a_whole_archive_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("none.yaml").display().to_string();
    assert_eq!(describe(&gc(&["restore", &missing, "--yes"])), format!("{missing}: no such file"));
    let other = write(folder.path(), "other.yaml", "apiVersion: v1\nkind: Pod\n");
    assert!(
        describe(&gc(&["restore", &other, "--yes"]))
            .starts_with(&format!("{other} is not an archive: its first line is not that of an archive;"))
    );

    let path = folder.path().join("archive.yaml");
    let mut writer = ArchiveWriter::create(&path).unwrap();
    for (name, owners) in [("a", json!([])), ("b", json!([{"uid": "1"}]))] {
        let metadata = json!({"name": name, "uid": name, "ownerReferences": owners});
        writer.add(json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})).unwrap();
    }
    writer.save(&Header { format: FORMAT, ..Header::default() }).unwrap();
    let archive = path.display().to_string();
    let changed = "object 2 of the archive (ConfigMap/b) has an owner reference without apiVersion; use an \
        unmodified archive";
    assert_eq!(describe(&gc(&["restore", &archive, "--yes"])), changed);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    assert!(describe(&gc(&["restore", &archive, "--dry-run"])).contains("is cut off after 1 of 2 objects"));
}

#[test]
fn without_a_cluster_or_an_archive_nothing_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.yaml");
    ArchiveWriter::create(&path).unwrap().save(&Header { format: FORMAT, ..Header::default() }).unwrap();
    let no_cluster = gc(&["restore", &path.display().to_string(), "--yes"]);
    assert!(describe(&no_cluster).contains("kubeconfig"), "{}", no_cluster.err);
    let nothing = gc(&["restore"]);
    assert_eq!(nothing.code, 1);
    assert!(nothing.err.contains("<ARCHIVE>"), "{}", nothing.err);
}
