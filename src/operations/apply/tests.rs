use crate::operations::manifests::{ManifestError, ManifestFile};
use gc_core::apply::{Mend, Mending};

use super::{FileFormat, fixed};

fn file(text: &str) -> ManifestFile {
    ManifestFile::parse("backup", text.to_owned()).unwrap()
}

fn mending(references: &[Mend]) -> Mending {
    Mending { references: references.to_vec(), ..Mending::default() }
}

fn set(uid: &str) -> Mend {
    Mend::SetUid(uid.to_owned())
}

/// The text with these changes, of which every one is made in place.
#[track_caller]
fn in_place(text: &str, mendings: &[Mending]) -> String {
    let file = file(text);
    let format = if file.json { FileFormat::Json } else { FileFormat::Yaml };
    let fixed = fixed(&[file], mendings, format);
    assert_eq!(fixed.notes, [""; 0]);
    fixed.text
}

const NEW: &str = "0f0e0d0c-1111-4222-8333-444455556666";

const YAML: &str = "\
# first
apiVersion: v1
kind: ConfigMap
metadata:
  ownerReferences: # owners
  # one
  - apiVersion: v1
    kind: ConfigMap
    name: one
    uid: 'a'   # quoted
  -
    apiVersion: v1
    kind: ConfigMap
    name: two
    uid: b

  # before the name
  name:   spaced
data: {x: \"1\",   y: 'two'}
";

#[test]
fn uids_are_written_where_they_are() {
    let expected = YAML.replace("'a'", &format!("'{NEW}'"));
    assert_eq!(in_place(YAML, &[mending(&[set(NEW), Mend::Keep])]), expected);
    let expected = YAML.replace("uid: b", &format!("uid: {NEW}"));
    assert_eq!(in_place(YAML, &[mending(&[Mend::Keep, set(NEW)])]), expected);
    // What would not be a text without quotes gets some.
    assert_eq!(in_place(YAML, &[mending(&[Mend::Keep, set("12")])]), YAML.replace("uid: b", "uid: \"12\""));
}

#[test]
fn references_go_with_their_lines() {
    let first = "  - apiVersion: v1\n    kind: ConfigMap\n    name: one\n    uid: 'a'   # quoted\n";
    let second = "  -\n    apiVersion: v1\n    kind: ConfigMap\n    name: two\n    uid: b\n";
    assert_eq!(in_place(YAML, &[mending(&[Mend::Remove, Mend::Keep])]), YAML.replace(first, ""));
    assert_eq!(in_place(YAML, &[mending(&[Mend::Keep, Mend::RemoveForNow])]), YAML.replace(second, ""));
    let all = format!("  ownerReferences: # owners\n  # one\n{first}{second}");
    assert!(YAML.contains(&all));
    assert_eq!(in_place(YAML, &[mending(&[Mend::Remove, Mend::Remove])]), YAML.replace(&all, ""));
}

#[test]
fn of_several_documents_only_those_that_change_are_touched() {
    let text =
        format!("---\n# one\n{YAML}---\n{{a: 1, kind: A, apiVersion: v1, metadata: {{name: n}}}}\n...\n---\n{YAML}");
    let keep = mending(&[Mend::Keep, Mend::Keep]);
    let mendings = [keep, Mending::default(), mending(&[set(NEW), Mend::Keep])];
    let (before, last) = text.split_at(text.rfind("apiVersion: v1\nkind: ConfigMap\nmetadata:").unwrap());
    let expected = format!("{before}{}", last.replace("'a'", &format!("'{NEW}'")));
    assert_eq!(in_place(&text, &mendings), expected);
}

#[test]
fn lists_in_brackets() {
    let item = |name: &str| format!("{{kind: A, apiVersion: v1, name: {name}, uid: {name}}}");
    let (a, b, c) = (item("a"), item("b"), item("c"));
    let text = |list: &str| format!("# one\n{{kind: A, apiVersion: v1, metadata: {{{list}name: n}}}}\n");
    let given = text(&format!("ownerReferences: [{a}, {b},\n  {c}], "));
    let (keep, remove) = (Mend::Keep, Mend::Remove);
    for (mends, left) in [
        ([&keep, &remove, &remove], format!("ownerReferences: [{a}], ")),
        ([&remove, &keep, &remove], format!("ownerReferences: [{b}], ")),
        ([&remove, &remove, &keep], format!("ownerReferences: [{c}], ")),
        ([&remove, &keep, &keep], format!("ownerReferences: [{b},\n  {c}], ")),
        ([&keep, &remove, &keep], format!("ownerReferences: [{a}, {c}], ")),
        ([&remove, &remove, &remove], String::new()),
    ] {
        let mends: Vec<Mend> = mends.into_iter().cloned().collect();
        assert_eq!(in_place(&given, &[mending(&mends)]), text(&left), "{mends:?}");
    }
}

#[test]
fn uid_and_version_of_the_object() {
    let mending = Mending { remove_uid: true, remove_version: true, ..Mending::default() };
    let text = "apiVersion: v1\nkind: A\nmetadata:\n  uid: a\n  name: n\n  resourceVersion: \"7\" # old\n";
    let mended = "apiVersion: v1\nkind: A\nmetadata:\n  name: n\n";
    assert_eq!(in_place(text, std::slice::from_ref(&mending)), mended);
    let json = r#"{"apiVersion": "v1", "kind": "A", "metadata": {"name": "n", "uid": "a", "resourceVersion": "7"}}"#;
    assert_eq!(in_place(json, &[mending]), r#"{"apiVersion": "v1", "kind": "A", "metadata": {"name": "n"}}"#);
}

#[test]
fn items_of_lists_in_lists() {
    let text = "\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMapList
  items:
  - metadata:
      name: inner
      ownerReferences:
      - {apiVersion: v1, kind: A, name: a, uid: a}
- apiVersion: v1
  kind: A
  metadata: {name: outer}
";
    let parsed = file(text);
    let names: Vec<String> = parsed.objects().map(|found| found.object.short_name()).collect();
    assert_eq!(names, ["ConfigMap/inner", "A/outer"]);
    let lines = "      ownerReferences:\n      - {apiVersion: v1, kind: A, name: a, uid: a}\n";
    let mended = in_place(text, &[mending(&[Mend::Remove]), Mending::default()]);
    assert_eq!(mended, text.replace(lines, ""));
}

/// What can't be changed in place is written anew, and that is said.
#[test]
fn aliases_are_written_anew() {
    let text = "\
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: A, metadata: {name: a, ownerReferences: &owners [{apiVersion: v1, kind: B, name: b, uid: b}]}}
- {apiVersion: v1, kind: A, metadata: {name: c, ownerReferences: *owners}} # the same
";
    let fixed = fixed(&[file(text)], &[mending(&[Mend::Keep]), mending(&[set(NEW)])], FileFormat::Yaml);
    assert_eq!(fixed.notes.len(), 1, "{:?}", fixed.notes);
    assert!(fixed.notes[0].starts_with("backup was written anew"), "{:?}", fixed.notes);
    let read = file(&fixed.text);
    let uids: Vec<&str> = read.objects().map(|found| &*found.object.written()[0].uid).collect();
    assert_eq!(uids, ["b", NEW]);
}

#[test]
fn other_formats_have_the_same_content() {
    let two = format!("{YAML}---\napiVersion: v1\nkind: A\nmetadata: {{name: n}}\n");
    let mendings = [mending(&[set(NEW), Mend::Remove]), Mending::default()];
    let json = fixed(&[file(&two)], &mendings, FileFormat::Json);
    assert_eq!(json.notes.len(), 1);
    let read = file(&json.text);
    assert!(read.json);
    let objects: Vec<_> = read.objects().collect();
    assert_eq!(objects.len(), 2);
    assert_eq!(objects[0].object.written().len(), 1);
    let yaml = fixed(std::slice::from_ref(&read), &[mending(&[Mend::Keep]), Mending::default()], FileFormat::Yaml);
    assert_eq!(file(&yaml.text).objects().count(), 2);
}

#[test]
fn several_files_become_one() {
    let one = "apiVersion: v1\nkind: A\nmetadata: {name: one}";
    let fixed =
        fixed(&[file(one), file(YAML)], &[Mending::default(), mending(&[Mend::Keep, Mend::Keep])], FileFormat::Yaml);
    assert_eq!(fixed.text, format!("{one}\n---\n{YAML}"));
}

#[test]
fn what_is_no_object_is_an_error() {
    let error = |text: &str| ManifestFile::parse("f", text.to_owned()).unwrap_err().to_string();
    assert_eq!(error("- a\n"), "f: a list instead of a Kubernetes object");
    assert_eq!(error("kind: A\n"), "f: the object has no apiVersion");
    assert_eq!(error("apiVersion: v1\nkind: List\nitems: [7]\n"), "f, item 1: a number instead of a Kubernetes object");
    assert!(matches!(ManifestFile::parse("f", "{".to_owned()), Err(ManifestError::Malformed { .. })));
    assert!(matches!(ManifestFile::parse("f", "a: [".to_owned()), Err(ManifestError::Malformed { .. })));
    assert_eq!(file("# nothing\n").objects().count(), 0);
}

/// Merge keys count, as they do in kubectl.
#[test]
fn merge_keys_are_applied() {
    let text = "\
apiVersion: v1
kind: A
x: &base {name: merged, ownerReferences: [{apiVersion: v1, kind: B, name: b, uid: b}]}
metadata:
  <<: *base
";
    let file = file(text);
    let object = &file.objects().next().unwrap().object;
    assert_eq!((object.name.as_str(), object.written().len()), ("merged", 1));
}

/// kubectl reads YAML 1.1.
#[test]
fn words_without_quotes_are_true_and_false() {
    let with = |reference: &str| {
        let file = file(&format!("apiVersion: v1\nkind: A\nmetadata: {{name: a, ownerReferences: [{reference}]}}\n"));
        let object = file.objects().next().unwrap().object.clone();
        (object.malformed.clone(), object.written()[0].controller, object.written()[0].name.to_string())
    };
    let wrong = "name is not a text (put it in quotes)".to_owned();
    assert_eq!(with("{name: n, controller: yes}"), (Some(wrong), Some(true), String::new()));
    assert_eq!(with("{name: 'n', controller: Off}"), (None, Some(false), "n".to_owned()));
    assert_eq!(with("{name: nn, controller: true}"), (None, Some(true), "nn".to_owned()));
}
