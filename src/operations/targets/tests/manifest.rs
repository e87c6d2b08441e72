use proptest::prelude::*;

use super::{TargetQuery, args};
use crate::operations::{
    manifests::ManifestFile,
    targets::{Entry, TargetError, TypedQuery},
};
use gc_core::model::well_known;

fn entries(text: &str) -> Result<Vec<Entry>, TargetError> {
    ManifestFile::parse("m.yaml", text.to_owned())?.objects().map(|found| Entry::of(&found.object)).collect()
}

fn names(text: &str) -> String {
    match entries(text) {
        Ok(entries) => {
            let show = |entry: &Entry| {
                let namespace = entry.namespace.as_deref().unwrap_or("-");
                format!("{}:{}:{namespace}/{}", entry.api_version, entry.kind, entry.name)
            };
            entries.iter().map(show).collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn manifests_name_objects() {
    let cases = [
        ("", ""),
        ("# nothing\n---\n---\n", ""),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: m}\nspec: {1: x, y: [z]}\n", "v1:Pod:m/a"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ''}\n", "v1:Pod:-/a"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\napiVersion: apps/v1\nkind: Deployment\nmetadata: \
                {name: b}\n",
            "v1:Pod:-/a apps/v1:Deployment:-/b",
        ),
        (r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}"#, "v1:Pod:-/a"),
        (
            "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n{\"apiVersion\":\"v1\",\
                \"kind\":\"Pod\",\"metadata\":{\"name\":\"b\"}}",
            "v1:Pod:-/a v1:Pod:-/b",
        ),
        (
            "items:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Secret, metadata: \
                {name: b}}\nkind: List\napiVersion: v1\n",
            "v1:Pod:-/a v1:Secret:-/b",
        ),
        ("apiVersion: apps/v1\nkind: DeploymentList\nitems: [{metadata: {name: a}}]\n", "apps/v1:Deployment:-/a"),
        // In other kinds, `items` means something else.
        ("apiVersion: x.y/v1\nkind: Menu\nmetadata: {name: a}\nitems: [1, tea, {price: 2}]\n", "x.y/v1:Menu:-/a"),
        ("apiVersion: x.y/v1\nkind: Menu\nmetadata: {name: a}\nitems: {a: b}\n", "x.y/v1:Menu:-/a"),
    ];
    for (text, expected) in cases {
        assert_eq!(names(text), expected, "{text}");
    }
}

#[test]
fn broken_manifests_say_where() {
    let cases = [
        ("apiVersion: v1\nmetadata: {name: a}\n", "m.yaml: the object has no kind"),
        ("kind: Pod\nmetadata: {name: a}\n", "m.yaml: the object has no apiVersion"),
        ("apiVersion: v1\nkind: Pod\n", "m.yaml: the object has no metadata.name"),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a-}\n",
            "m.yaml: this Pod has only a generateName: name the object as TYPE/NAME",
        ),
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: [a]}\n",
            "m.yaml: malformed: metadata.name is not a text (put it in quotes)",
        ),
        // YAML 1.1, which kubectl reads, has more words for true and false.
        (
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: n}\n",
            "m.yaml: malformed: metadata.namespace is not a text (put it in quotes)",
        ),
        ("---\n---\nhello\n", "m.yaml, document 2: text instead of a Kubernetes object"),
        ("[]", "m.yaml: a list instead of a Kubernetes object"),
        ("apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n", "m.yaml, item 1: the object has no apiVersion"),
        ("apiVersion: v1\nkind: List\nitems: [null]\n", "m.yaml, item 1: nothing instead of a Kubernetes object"),
    ];
    for (text, expected) in cases {
        assert_eq!(names(text), expected, "{text}");
    }
    let second = names("kind: Pod\n---\na: [\n");
    assert!(second.starts_with("m.yaml, document 2: malformed: ") && second.contains("line 4"), "{second}");
    for text in ["{", "a: b: c", "a: [", "{\"kind\": 5,}"] {
        let error = names(text);
        assert!(error.starts_with("m.yaml: malformed: ") && error.contains("line "), "{error}");
    }
}

#[test]
fn manifests_made_to_explode_end_soon() {
    let levels: String = (1..30)
        .map(|level| format!("a{level}: &a{level} [*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0},*a{0}]\n", level - 1))
        .collect();
    let bomb = format!("apiVersion: v1\nkind: Pod\na0: &a0 [x]\n{levels}metadata: {{name: a}}\n");
    let deep =
        [bomb, "[".repeat(100_000), "{\"items\":[".repeat(100_000), "- ".repeat(10_000), "items: [".repeat(1_000)];
    for text in deep {
        assert!(!names(&text).is_empty());
    }
}

fn typed(paths: &[&str], recursive: bool) -> Result<TypedQuery, TargetError> {
    let mut args = args("");
    args.filenames = paths.iter().map(|path| (*path).to_owned()).collect();
    args.recursive = recursive;
    TargetQuery::parse(&args)?.map_or_else(|| panic!("-f is a target"), |query| query.with_types(&well_known::served()))
}

#[test]
fn folders_are_searched_as_kubectl_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let pod = |name: &str| format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: of-{name}}}\n");
    std::fs::create_dir_all(path("deep/empty")).unwrap();
    for (file, name) in [("b.yaml", "b"), ("a.yml", "a"), ("c.txt", "c"), ("deep/d.json.yaml", "d")] {
        std::fs::write(path(file), pod(name)).unwrap();
    }
    let namespaces = |paths: &[&str], recursive| -> String {
        match typed(paths, recursive) {
            Ok(query) => query.own_namespaces().collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string().replace(&path(""), ""),
        }
    };
    assert_eq!(namespaces(&[&path("")], false), "of-a of-b");
    assert_eq!(namespaces(&[&path("")], true), "of-a of-b of-d");
    assert_eq!(namespaces(&[&path("c.txt"), &path("a.yml"), &path("c.txt")], false), "of-c of-a");
    let empty = namespaces(&[&path("deep/empty")], false);
    assert_eq!(empty, "-f deep/empty: no manifests in this folder (.yaml, .yml, .json); -R looks into its folders too");
    assert!(namespaces(&[&path("none")], false).starts_with("-f none: "));
    std::fs::write(path("e.yaml"), "# nothing\n").unwrap();
    assert_eq!(namespaces(&[&path("e.yaml")], false), "-f e.yaml: no objects in it");
    std::fs::write(path("e.yaml"), b"\xff\xfe").unwrap();
    assert_eq!(namespaces(&[&path("e.yaml")], false), "-f e.yaml: not UTF-8");
    std::fs::write(path("e.yaml"), "\u{feff}apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: a}\n")
        .unwrap();
    assert_eq!(
        namespaces(&[&path("e.yaml")], false),
        r#"e.yaml: no kind "Deployment" is served in "extensions/v1beta1"; it is served in apps/v1"#
    );
}

#[test]
fn namespaces_of_manifests_count_where_the_kind_has_them() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let text = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: m}\n---\napiVersion: v1\nkind: \
        Node\nmetadata: {name: b, namespace: o}\n";
    std::fs::write(file.path(), text).unwrap();
    let path = file.path().display().to_string();
    let query = typed(&[&path], false).unwrap();
    assert!(query.any_cluster_scoped(&well_known::served()));
    assert_eq!(query.own_namespaces().collect::<Vec<_>>(), ["m"]);
    assert!(query.check_namespace("m").is_ok());
    let error = query.check_namespace("o").unwrap_err().to_string();
    assert_eq!(error.replace(&path, "f"), r#"f: "a" is in namespace "m", -n says "o": pass -n m, or no -n"#);
}

proptest! {
    #[test]
    fn no_manifest_is_too_strange(
        text in any::<String>(),
        parts in prop::collection::vec(
            prop::sample::select(vec!["kind: List\n", "apiVersion: v1\n", "items:\n", "- ", "  ", "a: &a [*a]\n",
                "metadata: {name: x}\n", "---\n", "{", "}", "[", "\""]),
            0..12,
        ),
    ) {
        let _ = entries(&text);
        let _ = entries(&parts.concat());
    }
}
