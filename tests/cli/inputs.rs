//! The same objects in every input format that `--from` accepts.

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead as _, BufReader, Write},
    net::TcpListener,
    path::Path,
    thread,
};

use flate2::{Compression, write::GzEncoder};
use serde::Deserialize;
use serde_json::{Value, json};

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
    json!({"apiVersion": "v1", "kind": "List", "items": objects}).to_string()
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

/// As the API server writes lists, and `oc adm must-gather`: by kind, the items without one.
fn typed_lists(objects: &[Value]) -> Vec<Value> {
    let mut by_type: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for object in objects {
        let text = |key: &str| object[key].as_str().unwrap().to_owned();
        let mut item = object.clone();
        item.as_object_mut().unwrap().retain(|key, _| key != "kind" && key != "apiVersion");
        by_type.entry((text("apiVersion"), text("kind"))).or_default().push(item);
    }
    let list = |((version, kind), items)| json!({"apiVersion": version, "kind": format!("{kind}List"), "items": items});
    by_type.into_iter().map(list).collect()
}

/// Writes files into a folder, and the folders that they need.
fn folder_of(files: impl IntoIterator<Item = (String, String)>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// The shapes in which people have dumps.
#[test]
fn every_shape_says_the_same() {
    let objects = objects();
    let folder = tempfile::tempdir().unwrap();
    let [json, text] = [list(&objects), yaml(&objects)];
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap() + "\n";
    let yaml_list = serde_yaml::to_string(&json!({"kind": "List", "apiVersion": "v1", "items": objects})).unwrap();
    let one_by_one =
        objects.iter().map(|object| pretty(&json!({"kind": "List", "apiVersion": "v1", "items": [object]})));
    let sops = objects.iter().cloned().map(|mut object| {
        object["sops"] = json!({"mac": "ENC[x]", "version": "3.8.1"});
        object
    });
    for (name, content) in [
        ("bom-crlf.json", format!("\u{feff}{}", pretty(&serde_json::from_str(&json).unwrap()).replace('\n', "\r\n"))),
        ("comments.yaml", format!("# by hand\n---\n---\n# nothing\n---\n{text}...\n---\n")),
        ("appended.json", one_by_one.collect()),
        ("typed.json", Value::from(typed_lists(&objects)).to_string()),
        ("typed.yaml", yaml(&typed_lists(&objects))),
        ("warning.yaml", format!("Warning: v1 ComponentStatus is deprecated in v1.19+\n{yaml_list}")),
        ("sops.yaml", yaml(&sops.collect::<Vec<_>>())),
    ] {
        from_file(folder.path(), name, content);
    }
    // Velero writes an object twice if it is in the preferred version.
    let velero = objects.iter().enumerate().flat_map(|(at, object)| {
        let file = |version: &str| format!("resources/things{at:03}{version}/namespaces/shop/name.json");
        ["", "/v1-preferredversion"].map(|version| (file(version), object.to_string()))
    });
    let velero = folder_of(velero.chain([("metadata/version".to_owned(), "1.1.0\n".to_owned())]));
    let gathered = typed_lists(&objects).into_iter().enumerate();
    let gathered = gathered.map(|(at, list)| (format!("quay-io/namespaces/shop/core/{at:03}.yaml"), yaml(&[list])));
    let beside = [
        ("must-gather.log", "[must-gather] OUT 2026\n"),
        ("event-filter.html", "<html>"),
        ("quay-io/version", "must-gather\n4.14\n"),
        ("quay-io/namespaces/shop/pods/web/c/logs/current.log", "2026 {\"kind\": \"Pod\"}\nkind: broken: [\n"),
    ];
    let beside = beside.map(|(name, content)| (name.to_owned(), content.to_owned()));
    for folder in [velero, folder_of(gathered.chain(beside))] {
        same("a folder", |command| gc(&[command, &["--from", folder.path().to_str().unwrap()]].concat()));
    }
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

/// A server of these bytes, by its URL; anything but `/dump` is not there. It runs until the test process ends.
fn serve(content: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
            let (status, body) = match head[0].starts_with("GET /dump ") {
                true => ("200 OK", content.as_slice()),
                false => ("404 Not Found", "gone".as_bytes()),
            };
            let head = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
            let _ = stream.write_all(&[head.as_bytes(), body].concat());
        }
    });
    url
}

#[test]
fn a_url_says_the_same() {
    for content in [list(&objects()).into_bytes(), gzip(yaml(&objects()).as_bytes())] {
        let url = serve(content);
        same(&url, |command| gc(&[command, &["--from", &format!("{url}/dump")]].concat()));
        let ran = gc(&["tree", "--from", &format!("{url}/dump")]);
        assert!(ran.out.starts_with(&format!("Dump {url}/dump, all namespaces.")), "{ran}");
        let gone = gc(&["tree", "--from", &format!("{url}/gone")]);
        assert_eq!((gone.code, gone.out.as_str()), (1, ""), "{gone}");
        assert_eq!(gone.err, format!("error: {url}/gone: server reported 404 Not Found\n"));
        let large = gc(&["tree", "--max-input=100", "--from", &format!("{url}/dump")]);
        assert!(
            large.code == 1 && large.err.contains("/dump: there is more to read than --max-input allows"),
            "{large}"
        );
    }
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
