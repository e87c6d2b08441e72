//! Files, folders and their compression.

use std::{fs, io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};

use super::*;
use crate::dump;

fn gzip(text: &str) -> Vec<u8> {
    let mut to = GzEncoder::new(Vec::new(), Compression::fast());
    to.write_all(text.as_bytes()).unwrap();
    to.finish().unwrap()
}

fn path(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

#[test]
fn gzip_is_detected_by_its_bytes_and_may_have_several_members() {
    let mut bytes = gzip(&object("v1", "Pod", "x", "a", ""));
    bytes.extend(gzip(&object("v1", "Pod", "x", "b", "")));
    assert_eq!(names(&read_bytes(&bytes, false).unwrap()), ["Pod/a", "Pod/b"]);
}

#[test]
fn folders_are_searched_for_dump_files() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("shop/.hidden")).unwrap();
    let pod = |name: &str| object("v1", "Pod", "x", name, "");
    fs::write(root.join("z.json"), pod("z")).unwrap();
    fs::write(root.join("shop/a.YAML"), "---\n".to_owned() + &pod("a")).unwrap();
    fs::write(root.join("shop/b.ndjson.gz"), gzip(&pod("b"))).unwrap();
    fs::write(root.join("shop/logs.txt"), "==== START logs").unwrap();
    fs::write(root.join("shop/.hidden/c.json"), pod("c")).unwrap();
    fs::write(root.join(".d.json"), pod("d")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(root, root.join("shop/loop")).unwrap();
    let snapshot = dump::read(&[path(root)], false).unwrap();
    assert_eq!(names(&snapshot), ["Pod/a", "Pod/b", "Pod/z"]);
    let twice = dump::read(&[path(root), path(&root.join("z.json")), path(&root.join("shop/logs.txt"))], false);
    assert!(
        twice.unwrap_err().to_string().contains("logs.txt: a string"),
        "a file that is named is read, whatever it is called"
    );
    fs::write(root.join("shop/e.yml"), "a: b: c").unwrap();
    assert!(dump::read(&[path(root)], false).unwrap_err().to_string().contains("e.yml: malformed YAML at line 1"));
}

#[test]
fn what_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let root = path(folder.path());
    let message = |path: String| dump::read(&[path], false).unwrap_err().to_string();
    assert_eq!(message(format!("{root}/none")), format!("{root}/none: no such file or folder"));
    assert!(message(root.clone()).starts_with(&format!("{root}: no dump files in this folder")));
    fs::write(format!("{root}/file"), "").unwrap();
    assert!(message(format!("{root}/file/x")).contains("cannot be read"));
    assert_eq!(message(format!("{root}/file")), format!("no objects in {root}/file"));
}

#[test]
fn the_example_is_read_without_a_gap() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/shop.yaml");
    let snapshot = dump::read(&[example.to_owned()], false).unwrap_or_else(|error| panic!("{error}"));
    assert!((35..=50).contains(&snapshot.len()), "{} objects", snapshot.len());
    assert!(snapshot.complete(), "{:?}", gaps(&snapshot));
}
