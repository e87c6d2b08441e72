//! Every parser reads back exactly what was written, and nothing else is ever used.

use std::{fs, io::Write as _, path::PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use gc_core::model::Identity;

/// Texts that some YAML parser reads as something else, or not at all.
const TEXTS: [&str; 58] = [
    "",
    " ",
    "y",
    "Y",
    "n",
    "no",
    "on",
    "Off",
    "true",
    "TRUE",
    "null",
    "Null",
    "~",
    "0x10",
    "0o17",
    "012",
    "0b11",
    "1e3",
    "1_000",
    "1.",
    ".5",
    "+1",
    "-",
    "---",
    "...",
    "1:30",
    "190:20:30",
    "2001-01-01",
    "2001-12-14t21:59:43.10-05:00",
    ".inf",
    "-.Inf",
    ".nan",
    "NaN",
    "inf",
    "=",
    "<<",
    "!",
    "!!str x",
    "&a",
    "*a",
    "? x",
    ": x",
    "a: b",
    "a #b",
    "# x",
    "%x",
    "@x",
    "`x",
    "'",
    "\"",
    "\\",
    "{",
    "[",
    "|",
    ">",
    "a\nb\n\n c\t\r\n",
    " lead",
    "trail ",
];

/// The same for single characters.
const CHARACTERS: &str = "\0\u{1}\u{7}\u{8}\u{b}\u{1b}\u{7f}\u{80}\u{85}\u{9f}\u{a0}\u{ad}\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}\u{fffd}\u{200b}🦀\u{10ffff}é日";

fn object(name: &str, data: &Value) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop", "uid": format!("u-{name}"), "resourceVersion": "7",
            "managedFields": [{"manager": "x"}]},
        "data": data,
    })
}

/// The object as an archive returns it.
fn kept(mut object: Value) -> Value {
    for field in ["managedFields", "resourceVersion"] {
        object["metadata"].as_object_mut().unwrap().remove(field);
    }
    object
}

fn header() -> Header {
    Header {
        format: FORMAT,
        kubectl_gc: "0.1.0".to_owned(),
        time: "2026-01-31T08:00:00Z".to_owned(),
        context: "prod\u{2028}eu".to_owned(),
        server: "api.prod:6443".to_owned(),
        propagation: "Background".to_owned(),
        targets: vec![Identity {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "shop".to_owned(),
            name: "a".to_owned(),
            uid: "u-a".to_owned(),
        }],
        ..Header::default()
    }
}

/// An archive of these objects in a new folder.
fn written(name: &str, objects: &[Value]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    let mut writer = ArchiveWriter::create(&path).unwrap();
    objects.iter().for_each(|object| writer.add(object.clone()).unwrap());
    let saved = writer.save(&header()).unwrap();
    assert_eq!((saved.uids.len(), saved.bytes), (objects.len(), fs::metadata(&path).unwrap().len()));
    assert_eq!(saved.kinds.values().sum::<usize>(), objects.len());
    (folder, path)
}

fn read(path: &std::path::Path) -> Result<Vec<Value>, ArchiveError> {
    Archive::open(path)?.objects()?.collect()
}

fn two() -> [Value; 2] {
    let texts: Vec<Value> = TEXTS.iter().chain(&[CHARACTERS]).map(|text| json!(text)).collect();
    let keys: serde_json::Map<String, Value> =
        TEXTS.iter().chain(&[CHARACTERS]).map(|text| ((*text).to_owned(), json!(1))).collect();
    let long = "k".repeat(1_500);
    let numbers = json!([0, -1, u64::MAX, i64::MIN, 0.1, 1e21, -2.5e-7, 1.0, f64::MAX, f64::MIN_POSITIVE]);
    let nested = json!({"a": [], "b": {}, "c": [[], [[1, [2]], {}], {"d": [{"e": null}]}], "f": [{"g": 1, "h": [true]},
        false], &long: {&long: [1]}});
    [object("a", &json!({"texts": texts, "keys": keys})), object("b", &json!({"numbers": numbers, "nested": nested}))]
}

/// The folder's files, hidden ones too.
fn files(folder: &TempDir) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn what_is_written_comes_back() {
    for name in ["a.yaml", "a.YML", "a.yaml.gz"] {
        let (folder, path) = written(name, &two());
        assert_eq!(read(&path).unwrap(), two().map(kept), "{name}");
        assert_eq!(files(&folder), [name]);
        let archive = Archive::open(&path).unwrap();
        assert_eq!(*archive.header(), Header { objects: 2, ..header() });
        assert_eq!(archive.objects().unwrap().count(), 2);
        assert_eq!(archive.objects().unwrap().count(), 2, "it can be read again");
        let pairs = archive.objects().unwrap().zip(archive.objects().unwrap());
        assert!(pairs.map(|(one, other)| one.unwrap() == other.unwrap()).eq([true, true]), "and twice at once");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }
}

#[test]
fn an_archive_looks_like_this() {
    let (_folder, path) = written(
        "a.yaml",
        &[object(
            "a",
            &json!({"on": "y", "plain": "nginx", "text": "two\nlines: 🦀\u{7f}\u{85}\u{feff}", "list": [1, "1",
                {"a": "b", "c": []}]}),
        )],
    );
    let text = fs::read_to_string(&path).unwrap();
    let (text, end) = text.split_once(END).unwrap();
    assert_eq!(
        text,
        r##"# kubectl gc archive: whole objects, as they were in "prod\u2028eu" at 2026-01-31T08:00:00Z.
# Restore them with: kubectl gc restore FILE
# kubectl-gc-archive: {"format":1,"kubectlGc":"0.1.0","time":"2026-01-31T08:00:00Z","context":"prod\u2028eu","server":"api.prod:6443","targets":[{"apiVersion":"v1","kind":"ConfigMap","namespace":"shop","name":"a","uid":"u-a"}],"propagation":"Background","objects":1}
---
# resourceVersion "7"
apiVersion: v1
data:
  list:
  - 1
  - "1"
  - a: b
    c: []
  "on": "y"
  plain: nginx
  text: "two\nlines: 🦀\u007f\u0085\ufeff"
kind: ConfigMap
metadata:
  name: a
  namespace: shop
  uid: u-a
"##
    );
    let sum = write::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(text));
    assert_eq!(end, format!("{{\"objects\":1,\"sha256\":\"{sum}\"}}\n"));
}

#[test]
fn dumps_are_read_from_archives_too() {
    let (_folder, path) = written("a.yaml", &two());
    let snapshot = crate::dump::read(&[path.display().to_string()], false).unwrap();
    assert_eq!(snapshot.len(), 2);
}

#[test]
fn owners_are_written_before_their_dependents() {
    let mut pod = object("pod", &json!({}));
    pod["metadata"]["ownerReferences"] = json!([{"uid": "u-set"}, {"uid": 7}, 8]);
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "u-ns"}});
    let (_folder, path) = written("a.yaml", &[pod, object("set", &json!({})), namespace]);
    let names: Vec<Value> = read(&path).unwrap().iter().map(|object| object["metadata"]["name"].clone()).collect();
    assert_eq!(names, ["shop", "set", "pod"]);
}

#[test]
fn an_empty_archive_is_one() {
    let (_folder, path) = written("a.yaml", &[]);
    assert_eq!(read(&path).unwrap(), Vec::<Value>::new());
}

/// A few compressed bytes may expand to any length: reading stops at the limit.
#[test]
fn what_is_longer_than_any_object_is_not_read() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.yaml.gz");
    for line in ["x".repeat(1 << 16), format!("{}\n", "x".repeat(1 << 16))] {
        let mut file = flate2::write::GzEncoder::new(fs::File::create(&path).unwrap(), flate2::Compression::best());
        write!(file, "{TITLE}\n{HEADER}{{}}\n---\n").unwrap();
        (0..20).for_each(|_| file.write_all(line.as_bytes()).unwrap());
        file.finish().unwrap();
        let error = Archive::open(&path).unwrap_err().to_string();
        assert!(error.contains("it is too long for an object"), "{error}");
    }
}

/// If the file is cut off anywhere, or any byte is changed, nothing of it is used.
#[test]
fn parts_are_never_believed() {
    for name in ["a.yaml", "a.yaml.gz"] {
        let (folder, path) = written(name, &[object("a", &json!({"k": "v"})), object("b", &json!({}))]);
        let whole = fs::read(&path).unwrap();
        let part = folder.path().join("part.yaml");
        for length in 0..whole.len() {
            fs::write(&part, &whole[..length]).unwrap();
            let error = Archive::open(&part).map(|_| ()).expect_err(&format!("{name} cut off after {length} bytes"));
            match error {
                ArchiveError::CutOff { objects, expected, .. } => {
                    assert!(objects <= 2 && expected.is_none_or(|count| count == 2))
                }
                ArchiveError::NotAnArchive { .. } => assert!(length < 11, "{name}, {length}: {error}"),
                ArchiveError::Line { .. } if name == "a.yaml" => panic!("{length}: {error}"),
                other => assert!(
                    name == "a.yaml.gz" && matches!(other, ArchiveError::Gzip { .. }),
                    "{name}, {length}: {other}"
                ),
            }
        }
        for position in 0..whole.len() {
            // Time, system and the like in a gzip header don't matter.
            if name == "a.yaml.gz" && (3..10).contains(&position) {
                continue;
            }
            let mut changed = whole.clone();
            changed[position] ^= 1;
            fs::write(&part, &changed).unwrap();
            assert!(Archive::open(&part).is_err(), "{name}, byte {position} changed");
        }
    }
}

#[test]
fn what_is_added_taken_out_or_not_an_archive_is_refused() {
    let (folder, path) = written("a.yaml", &two());
    let text = fs::read_to_string(&path).unwrap();
    let part = folder.path().join("part.yaml");
    let describe = |text: &str| {
        fs::write(&part, text).unwrap();
        let error = Archive::open(&part).map(|_| ()).unwrap_err().to_string();
        error.replace(&part.display().to_string(), "FILE")
    };
    assert_eq!(
        describe(&format!("{text}\n")),
        format!(
            "FILE continues after its end (line {}): it is not used; if objects were added on purpose, create \
             them with kubectl instead",
            text.lines().count() + 1
        )
    );
    let first = text.find("\n---\n").unwrap();
    let second = first + 1 + text[first + 1..].find("\n---\n").unwrap();
    let end = text.find(END).unwrap();
    assert_eq!(
        describe(&text[..second + 10]),
        "FILE is cut off after 1 of 2 objects: it is not used, because the rest is missing; use another copy"
    );
    let resummed = |text: &str, objects: usize| {
        let sum = write::hexadecimal(&<sha2::Sha256 as sha2::Digest>::digest(text));
        format!("{text}{END}{{\"objects\":{objects},\"sha256\":\"{sum}\"}}\n")
    };
    assert!(
        describe(&format!("{}{}", &text[..=second], &text[end..]))
            .starts_with("FILE was changed after it was written: ")
    );
    let counted = "FILE contains 1 objects, but its header says 2: it is not used; use another copy";
    assert_eq!(describe(&resummed(&text[..=second], 2)), counted);
    assert_eq!(describe(&resummed(&text[..=second], 1)), counted, "the first line says two");
    assert_eq!(
        describe(
            &text.replace("{\"format\":1,\"kubectlGc\":\"0.1.0\"", "{\"format\":2,\"kubectlGc\":\"9.0\",\"targets\":1")
        ),
        "FILE is an archive of format 2, but this version reads formats up to 1: use the version of kubectl gc \
         that wrote it (9.0)"
    );
    let what = "an archive is a file written by kubectl gc archive or kubectl gc delete --archive";
    assert_eq!(describe(""), format!("FILE is not an archive: it is empty; {what}"));
    assert_eq!(
        describe("apiVersion: v1\n"),
        format!("FILE is not an archive: its first line is not that of an archive; {what}")
    );
    assert_eq!(describe("{}"), format!("FILE is not an archive: its first line is not that of an archive; {what}"));
    assert_eq!(
        describe(&resummed(&format!("{TITLE}\n"), 0)),
        format!("FILE is not an archive: it has no header; {what}")
    );
    assert!(describe(&text.replace("\"objects\":2}\n", "\"objects\":-2}\n")).starts_with("FILE: line 3 is invalid: "));
    assert_eq!(
        Archive::open(folder.path()).map(|_| ()).unwrap_err().to_string(),
        format!("{} is not an archive: it is not a file; {what}", folder.path().display())
    );
    assert!(matches!(Archive::open(&folder.path().join("none")), Err(ArchiveError::NotFound { .. })));

    // A correct checksum doesn't make an invalid object valid.
    let head = &text[..=first];
    let head = head.replace("\"objects\":2}", "\"objects\":1}");
    for (object, why) in [
        ("a: [\n", "malformed YAML"),
        ("- a\n", "object 1: not an object with apiVersion, kind, name and uid"),
        ("apiVersion: v1\nkind: X\nmetadata: {name: a, uid: 7}\n", "object 1: not an object with"),
        (&"[".repeat(100_000), "malformed YAML"),
    ] {
        let line = if object.ends_with('\n') { "" } else { "\n" };
        fs::write(&part, resummed(&format!("{head}---\n{object}{line}"), 1)).unwrap();
        let mut objects = Archive::open(&part)
            .unwrap()
            .objects()
            .unwrap()
            .map(|object| object.unwrap_err().to_string())
            .collect::<Vec<_>>();
        assert!(objects.len() == 1 && objects.remove(0).contains(why), "{why}");
    }
}

#[test]
fn compressed_files_end_where_they_end() {
    let (_folder, path) = written("a.yaml.gz", &two());
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"and more than a header would be").unwrap();
    let error = Archive::open(&path).unwrap_err();
    assert!(matches!(error, ArchiveError::Gzip { .. }), "{error}");
    let (_other, again) = written("b.yaml.gz", &two());
    let mut both = fs::read(&again).unwrap();
    both.extend_from_slice(&fs::read(&again).unwrap());
    fs::write(&again, both).unwrap();
    assert!(matches!(Archive::open(&again), Err(ArchiveError::AfterEnd { .. })));
}

#[test]
fn nothing_is_ever_replaced() {
    let (folder, path) = written("a.yaml", &two());
    let describe = |path: &std::path::Path| {
        let error = ArchiveWriter::create(path).unwrap_err().to_string();
        error.replace(&folder.path().display().to_string(), "DIR")
    };
    assert_eq!(
        describe(&path),
        "DIR/a.yaml already exists (a complete archive with 2 objects, of 2026-01-31T08:00:00Z): it is never \
         replaced; give another name, or move it away"
    );
    fs::write(folder.path().join("other.yaml"), "x").unwrap();
    assert_eq!(
        describe(&folder.path().join("other.yaml")),
        "DIR/other.yaml already exists: it is never replaced; give another name, or move it away"
    );
    assert_eq!(
        describe(&folder.path().join("a.txt")),
        "DIR/a.txt: an archive's name ends in .yaml, or in .yaml.gz to be compressed"
    );
    assert_eq!(
        describe(&folder.path().join(".yaml")),
        "DIR/.yaml: an archive's name ends in .yaml, or in .yaml.gz to be compressed"
    );
    assert_eq!(describe(folder.path()), "DIR is a folder: give the name of a file in it");
    assert_eq!(
        describe(&folder.path().join("no/a.yaml")),
        "DIR/no/a.yaml cannot be written: there is no folder DIR/no; create it first"
    );
    assert_eq!(
        describe(&folder.path().join("other.yaml/a.yaml")),
        "DIR/other.yaml/a.yaml cannot be written: there is no folder DIR/other.yaml; create it first"
    );
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere.yaml", folder.path().join("link.yaml")).unwrap();
        let link = folder.path().join("link.yaml");
        assert!(describe(&link).starts_with("DIR/link.yaml already exists (a symbolic link): "));
    }
    // A file that appears while objects are collected stays as it is, too.
    let late = folder.path().join("late.yaml");
    let mut writer = ArchiveWriter::create(&late).unwrap();
    fs::write(&late, "somebody's").unwrap();
    assert!(matches!(writer.save(&header()), Err(ArchiveError::Exists { .. })));
    assert_eq!(fs::read_to_string(&late).unwrap(), "somebody's");
    assert!(files(&folder).iter().all(|name| !name.starts_with('.')), "{:?}", files(&folder));
}

#[test]
fn what_was_saved_can_be_added_to() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.yaml");
    let [a, b] = two();
    let mut writer = ArchiveWriter::create(&path).unwrap();
    assert!(writer.is_empty());
    writer.add(a.clone()).unwrap();
    assert!(!path.exists(), "nothing is to be seen before it is saved");
    writer.save(&header()).unwrap();
    assert_eq!(read(&path).unwrap().len(), 1);
    // A changed object, with the same uid.
    let mut newer = a;
    newer["data"] = json!({"new": "er"});
    writer.add(newer.clone()).unwrap();
    writer.add(b.clone()).unwrap();
    assert!(writer.contains("u-b") && !writer.contains("u-c") && writer.len() == 2);
    writer.save(&header()).unwrap();
    assert_eq!(read(&path).unwrap(), [kept(newer), kept(b)]);
    assert_eq!(files(&folder), ["a.yaml"]);

    fs::remove_file(&path).unwrap();
    assert!(matches!(writer.save(&header()), Err(ArchiveError::NotOurs { .. })));
    fs::write(&path, "somebody's").unwrap();
    assert!(matches!(writer.save(&header()), Err(ArchiveError::NotOurs { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's");
}

/// Only one object of a name can be restored.
#[test]
fn what_takes_the_place_of_another_replaces_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.yaml");
    let [a, b] = two();
    let mut successor = a.clone();
    successor["metadata"]["uid"] = json!("u-successor");
    let mut writer = ArchiveWriter::create(&path).unwrap();
    writer.add(a.clone()).unwrap();
    writer.add(b.clone()).unwrap();
    writer.add(successor.clone()).unwrap();
    assert!(writer.contains("u-successor") && !writer.contains("u-a") && writer.len() == 2);
    // The same again, by its uid.
    writer.add(successor.clone()).unwrap();
    writer.save(&header()).unwrap();
    assert_eq!(read(&path).unwrap(), [kept(successor.clone()), kept(b.clone())]);
    // The same with an archive that is continued.
    let (mut resumed, known) = ArchiveWriter::resume(&path).unwrap();
    assert_eq!((resumed.len(), known.objects), (2, 2));
    resumed.add(a.clone()).unwrap();
    resumed.save(&header()).unwrap();
    assert_eq!(read(&path).unwrap(), [kept(a), kept(b)]);
}

#[test]
fn what_killed_runs_have_left_is_cleared_away() {
    let folder = TempDir::new().unwrap();
    let at = |name: &str| folder.path().join(name);
    let names =
        [".a.yaml.Ab12cd.part", ".a.yaml.Ab12ce.part", ".a.yaml.x.part", ".b.yaml.Ab12cd.part", "a.yaml.Ab12cd.part"];
    names.iter().for_each(|name| fs::write(at(name), "x").unwrap());
    let busy = fs::File::open(at(names[1])).unwrap();
    busy.try_lock().unwrap();
    ArchiveWriter::create(&at("a.yaml")).unwrap();
    let mut left = names[1..].to_vec();
    left.sort_unstable();
    assert_eq!(files(&folder), left);
}

#[test]
fn what_is_no_object_is_not_taken() {
    let folder = TempDir::new().unwrap();
    let mut writer = ArchiveWriter::create(&folder.path().join("a.yaml")).unwrap();
    for (field, pointer) in
        [("apiVersion", "/apiVersion"), ("kind", "/kind"), ("name", "/metadata/name"), ("uid", "/metadata/uid")]
    {
        let mut object = object("a", &json!({}));
        *object.pointer_mut(pointer).unwrap() = json!(7);
        let error = writer.add(object).unwrap_err();
        assert!(matches!(error, ArchiveError::NoObject { field: found, .. } if found == field), "{error}");
    }
    assert!(matches!(writer.add(json!([])), Err(ArchiveError::NoObject { .. })));
    assert!(writer.is_empty());
}

/// Any JSON value, up to a moderate size.
fn any_value() -> impl Strategy<Value = Value> {
    let text = || {
        prop_oneof![
            any::<String>(),
            "\\PC{0,6}",
            "[a-zA-Z0-9_.:~+-]{0,6}",
            proptest::sample::select(&TEXTS[..]).prop_map(str::to_owned)
        ]
    };
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::btree_map(text(), inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]
    #[test]
    fn anything_comes_back(value in any_value()) {
        let (_folder, path) = written("a.yaml", &[object("a", &value)]);
        prop_assert_eq!(read(&path).unwrap(), [kept(object("a", &value))]);
    }
}
