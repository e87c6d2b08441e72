//! Every kind of bad dump, and its error message.

use super::*;

fn pod(metadata: &str) -> String {
    format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{{metadata}}}}}"#)
}

#[test]
fn malformed_json_has_a_position() {
    assert_eq!(error("{\"a\": 1,\n  oops}"), "dump: malformed JSON at line 2, column 3: key must be a string");
    assert_eq!(
        error("{\"kind\":\"List\",\n\"items\":["),
        "dump: malformed JSON at line 2, column 9: EOF while parsing a list; the file ends here: it seems \
         cut off, dump it again"
    );
    let second = object("v1", "Pod", "x", "a", "") + "\n{]";
    assert_eq!(error(&second), "dump: malformed JSON at line 2, column 2: key must be a string");
    let whole = object("v1", "Pod", "x", "a", "") + "\n";
    let after_two = |rest: &str| error(&format!("{whole}{whole}{rest}"));
    assert_eq!(
        after_two("tru"),
        "dump: malformed JSON at line 3, column 3: EOF while parsing a value; the file ends here: it seems \
         cut off, dump it again"
    );
    assert_eq!(
        after_two("\"a}"),
        "dump: malformed JSON at line 3, column 3: EOF while parsing a string; the file ends here: it seems \
         cut off, dump it again"
    );
    assert_eq!(after_two("]"), "dump: malformed JSON at line 3, column 1: expected value");
}

#[test]
fn malformed_yaml_has_a_position() {
    const NO_OBJECT: &str = "; a dump is the output of kubectl get -o yaml or -o json";
    let message = error("apiVersion: v1\nkind: Pod\n  metadata: x\n");
    assert!(
        message.starts_with("dump: malformed YAML at line 3, column 11: mapping values are not allowed"),
        "{message}"
    );
    assert_eq!(
        error("a: *nothing"),
        format!("dump: malformed YAML at line 1, column 4: reference to unknown value{NO_OBJECT}")
    );
    assert_eq!(
        error("---\n---\n\na: 1\na: 2\n"),
        format!("dump: malformed YAML at line 5, column 1: duplicate mapping key: a not allowed here{NO_OBJECT}")
    );
    assert!(error("a: \u{7}").contains("malformed YAML"));
}

#[test]
fn what_a_paste_has_besides_is_named() {
    const POD: &str = "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: x, uid: u}\n";
    const WARNING: &str = "Warning: v1 Endpoints is deprecated in v1.33+\n";
    const LOG: &str = "W0301 10:00:00.000000   12345 warnings.go:70] v1 Endpoints is deprecated\n";
    let json = object("v1", "Pod", "x", "a", "");
    for warnings in [WARNING.to_owned(), format!("{WARNING}{LOG}"), format!("{LOG}{LOG}")] {
        for dump in [POD, &json, &format!("---\n{POD}")] {
            assert_eq!(names(&read(&format!("{warnings}{dump}"))), ["Pod/a"], "{warnings}{dump}");
        }
        let message = error(&format!("{warnings}{POD}\n  {{x"));
        let line = format!("malformed YAML at line {}, ", warnings.lines().count() + 5);
        assert!(message.contains(&line), "{message}");
    }
    for (text, place, advice) in [
        (format!("$ kubectl get pods a -o yaml\n{POD}"), "line 2", "; remove line 1, which is the shell's: $ kubectl"),
        (format!("{POD}me@laptop:~$"), "line 4", "; remove this line, which is the shell's: me@laptop:~$"),
        (
            "me@laptop:~$ oc get pods a -o json\n{\n    \"apiVersion\": \"v1\"\n}".to_owned(),
            "line 3",
            "; remove line 1, which is the shell's: me@laptop:~$ oc get",
        ),
        (
            POD.replace("{name", "\n  ...\n  spec: {name"),
            "line 5",
            "; remove line 4, which stands for what was left out: ...",
        ),
        (format!("{POD}spec:\n\tnodeName: n"), "line 5", "; put spaces where it has tabs, as YAML has none"),
    ] {
        let message = error(&text);
        assert!(message.contains(place) && message.contains(advice), "{text}\n{message}");
    }
}

#[test]
fn objects_without_required_fields_are_named() {
    let list = |item: &str| {
        format!(r#"{{"apiVersion":"v1","kind":"List","items":[{},{item}]}}"#, object("v1", "Pod", "x", "ok", ""))
    };
    let uid = "; manifests for kubectl apply have none: dump with kubectl get -o yaml";
    let dump = "; a dump is the output of kubectl get -o yaml or -o json";
    assert_eq!(
        error(&list(&pod(r#""name":"a","namespace":"x""#))),
        format!("dump, item 2: Pod/a -n x has no uid{uid}")
    );
    let cut = r#""name":"a","namespace":"x","deletionTimestamp":"2026-03-01T08:00:00Z""#;
    let below = |uid: &str| {
        let owner = format!(r#"[{{"apiVersion":"v1","kind":"Pod","name":"a","uid":"{uid}"}}]"#);
        pod(&format!(r#""name":"{uid}","namespace":"x","uid":"of-{uid}","ownerReferences":{owner}"#))
    };
    assert_eq!(
        error(&list(&[pod(cut), below("1"), below("2")].join(","))),
        format!("dump, item 2: Pod/a -n x has no uid{uid}"),
        "which of both is it?"
    );
    assert_eq!(error(&list(&pod(r#""uid":"1""#))), "dump, item 2: this Pod has no metadata.name");
    assert_eq!(error(&list(r#"{"metadata":{"name":"a"}}"#)), format!("dump, item 2: the object a has no kind{dump}"));
    assert_eq!(error(&list(r#"{"kind":"Pod"}"#)), format!("dump, item 2: this Pod has no apiVersion{dump}"));
    assert_eq!(error("{}"), format!("dump: this object has no kind{dump}"));
    assert_eq!(error("replicas: 3\nimage: web\n"), format!("dump: this object has no kind{dump}"));
    assert_eq!(
        error("---\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a}\n---\n"),
        format!("dump, document 2: Pod/a has no uid{uid}")
    );
    assert_eq!(
        error(&(object("v1", "Pod", "x", "a", "") + &pod(r#""name":"b""#))),
        format!("dump, document 2: Pod/b has no uid{uid}")
    );
}

#[test]
fn values_that_are_not_objects_are_named() {
    let belongs = "instead of a Kubernetes object; a dump is the output of kubectl get -o yaml or -o json";
    assert_eq!(error("I0101 12:00:00 a line of a log"), format!("dump: a string {belongs}"));
    let complaint = "a message of kubectl (from standard error)";
    assert_eq!(error("No resources found in shop namespace."), format!("dump: {complaint} {belongs}"));
    let refused = "The connection to the server localhost:8080 was refused";
    assert_eq!(error(refused), format!("dump: {complaint} {belongs}"));
    let after = error("{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[]}\nError from server (Forbidden): no\n");
    assert!(after.contains("line 2") && after.contains("message of kubectl"), "{after}");
    let logs =
        error("apiVersion: v1\nkind: PodList\nitems: []\n==== START logs for container c of pod x/p ====\nx: [\n");
    assert!(logs.contains("run kubectl cluster-info dump without -o yaml"), "{logs}");
    assert_eq!(error("[1]"), format!("dump, item 1: a number {belongs}"));
    assert_eq!(error("[[]]"), format!("dump, item 1: a list {belongs}"));
    assert_eq!(error("42"), format!("dump: a number {belongs}"));
    assert_eq!(
        error(r#"{"kind":"PodList","apiVersion":"v1","items":[null]}"#),
        format!("dump, item 1: null {belongs}")
    );
}

#[test]
fn timestamps_must_be_times() {
    assert_eq!(
        error(&pod(r#""name":"a","namespace":"x","uid":"1","deletionTimestamp":"yesterday""#)),
        "dump: Pod/a -n x: metadata.deletionTimestamp is \"yesterday\", not a time as in 2026-01-31T08:00:00Z"
    );
    assert!(
        error(&pod(r#""name":"a","namespace":"x","uid":"1","creationTimestamp":1769846400"#))
            .contains("creationTimestamp is 1769846400")
    );
    assert_eq!(read(&pod(r#""name":"a","namespace":"x","uid":"1","creationTimestamp":null"#)).len(), 1);
}

#[test]
fn api_versions_must_be_valid() {
    for bad in ["a/b/c", "/v1", "apps/", "/"] {
        let message = error(&object(bad, "Pod", "x", "a", ""));
        assert_eq!(message, format!("dump: Pod/a -n x: apiVersion {bad:?} is neither a version nor group/version"));
    }
}

#[test]
fn scopes_must_fit() {
    assert_eq!(error(&object("v1", "Pod", "", "a", "")), "dump: Pod/a has no namespace, yet Pod is namespaced");
    assert_eq!(
        error(&object("v1", "Node", "x", "a", "")),
        "dump: Node/a -n x has a namespace, yet Node is cluster-scoped"
    );
}

#[test]
fn partial_metadata_and_tables_lost_their_kind() {
    let text = r#"{"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","items":[{"metadata":{"name":"a","uid":"1"}}]}"#;
    assert_eq!(
        error(text),
        "dump: a PartialObjectMetadataList does not contain the kind of its objects; dump whole objects with kubectl \
            get -o yaml"
    );
    assert!(
        error(&object("meta.k8s.io/v1", "PartialObjectMetadata", "x", "a", ""))
            .contains("a PartialObjectMetadata does not")
    );
    assert!(error(r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]}"#).contains("a Table does not"));
}

#[test]
fn errors_of_the_server_are_passed_on() {
    let status =
        r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods is forbidden"}"#;
    assert_eq!(error(status), "dump: this is an error of the API server, not a dump: pods is forbidden");
    assert!(error(&format!(r#"{{"type":"ERROR","object":{status}}}"#)).ends_with("pods is forbidden"));
}

#[test]
fn bytes_that_are_not_utf8_have_a_position() {
    let message = |bytes: &[u8]| read_bytes(bytes, false).unwrap_err().to_string();
    assert_eq!(message(b"a: b\nc: \xff\n"), "dump: not UTF-8, line 2");
    assert_eq!(
        message(b"\xff\xfea\0"),
        "dump: not UTF-8, line 1: this is UTF-16, as PowerShell's > writes it; save it as UTF-8"
    );
    assert_eq!(message(b"\x7fELF\x02\0\0"), "dump: no text: a dump is the output of kubectl get -o yaml or -o json");
    assert!(message(b"\x1f\x8b\x08garbage").starts_with("dump: broken gzip: "));
}

#[test]
fn a_dump_without_objects_is_empty() {
    for text in [
        "",
        " \n",
        "---\n",
        "# nothing\n",
        "null",
        r#"{"kind":"List","apiVersion":"v1","items":[]}"#,
        "[]",
        "%YAML 1.2\n---\n",
    ] {
        assert_eq!(error(text), "no objects in dump", "{text:?}");
    }
}
