//! The same objects in every input format that `--from` accepts.

use std::{fs, io::Write, path::Path};

use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use serde_json::Value;

use super::run::{Ran, SHOP, gc, repository, with_input};

/// The objects of the example.
fn objects() -> Vec<Value> {
    let text = repository(SHOP);
    let documents = serde_yaml::Deserializer::from_str(&text).map(|document| Value::deserialize(document).unwrap());
    documents.filter(Value::is_object).collect()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn list(objects: &[Value]) -> String {
    serde_json::json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
}

fn lines(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("{object}\n")).collect()
}

fn yaml(objects: &[Value]) -> String {
    objects.iter().map(|object| format!("---\n{}", serde_yaml::to_string(object).unwrap())).collect()
}

const PLAN: [&str; 6] = ["plan", "deploy/web", "-n", "shop", "--propagation=foreground", "-ojson"];
const TREE: [&str; 2] = ["tree", "-ojson"];

/// Compares the results of reading this input with those of reading the example.
fn same(what: &str, run: impl Fn(&[&str]) -> Ran) {
    for command in [&PLAN[..], &TREE] {
        let expected = read_from(gc(&[command, &["--from", SHOP]].concat()));
        assert!(expected.1.to_string().len() > 1000);
        assert_eq!(read_from(run(command)), expected, "{what}");
    }
}

/// The exit code, what is printed, but for the names of the files, and what is told.
fn read_from(ran: Ran) -> (i32, Value, String) {
    let mut document: Value = serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran}"));
    assert!(document["read"]["from"]["files"].take().is_array(), "{ran}");
    (ran.code, document, ran.err)
}

fn from_file(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    same(name, |command| gc(&[command, &["--from", path.to_str().unwrap()]].concat()));
}

#[test]
#[ignore = "long: each command in each format"]
fn every_file_format_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let objects = objects();
    from_file(folder.path(), "list.json", list(&objects));
    from_file(folder.path(), "array.json", Value::from(objects.clone()).to_string());
    from_file(folder.path(), "pretty.json", serde_json::to_string_pretty(&Value::from(objects.clone())).unwrap());
    from_file(folder.path(), "lines.ndjson", lines(&objects));
    from_file(folder.path(), "documents.yaml", yaml(&objects));
    from_file(folder.path(), "list.json.gz", gzip(list(&objects).as_bytes()));
    from_file(folder.path(), "gzipped-all-the-same", gzip(yaml(&objects).as_bytes()));
    from_file(folder.path(), "windows.yaml", format!("\u{feff}{}", yaml(&objects).replace('\n', "\r\n")));
}

#[test]
fn standard_input_and_several_files_say_the_same() {
    let objects = objects();
    for text in [list(&objects).into_bytes(), yaml(&objects).into_bytes(), gzip(lines(&objects).as_bytes())] {
        same("standard input", |command| with_input(&[command, &["--from", "-"]].concat(), text.clone()));
    }
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = objects.split_at(objects.len() / 2);
    let path = folder.path().join("first.yaml");
    fs::write(&path, yaml(first)).unwrap();
    let path = path.to_str().unwrap();
    same("a file and standard input", |command| {
        with_input(&[command, &["--from", path, "--from", "-"]].concat(), lines(second))
    });
    same("one object twice", |command| {
        with_input(&[command, &["--from", path, "--from", "-"]].concat(), list(&objects))
    });
}

#[test]
fn a_folder_says_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let objects = objects();
    fs::create_dir(folder.path().join("more")).unwrap();
    let third = objects.len() / 3;
    fs::write(folder.path().join("a.yaml"), yaml(&objects[..third])).unwrap();
    fs::write(folder.path().join("b.json.gz"), gzip(list(&objects[third..2 * third]).as_bytes())).unwrap();
    fs::write(folder.path().join("more/c.ndjson"), lines(&objects[2 * third..])).unwrap();
    fs::write(folder.path().join("README.md"), "# no dump").unwrap();
    fs::write(folder.path().join(".hidden.yaml"), "nor this").unwrap();
    same("a folder", |command| gc(&[command, &["--from", folder.path().to_str().unwrap()]].concat()));
}
