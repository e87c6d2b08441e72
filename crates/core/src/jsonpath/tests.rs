//! The dialect is compared with kubectl in `tests/cluster/jsonpath.rs`; here is what kubectl can't be asked.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{CustomColumns, JsonPath, PathError, relaxed};

fn document() -> Value {
    json!({
        "kind": "Tree",
        "nodes": [
            {"name": "a", "kind": "Pod", "weight": 1, "ports": [80, 443], "labels": {"app.kubernetes.io/name": "x"}},
            {"name": "b", "kind": "Node", "weight": 2.5, "ready": true, "owner": null},
            {"name": "c", "kind": "Pod", "weight": 3, "note": "<a & b>"},
        ],
    })
}

fn text(template: &str) -> Result<String, String> {
    let path = JsonPath::parse(template).map_err(|error| error.to_string())?;
    path.text(&document(), true).map_err(|error| error.to_string())
}

#[test]
fn templates_are_written() {
    for (template, expected) in [
        ("{.kind}", "Tree"),
        ("{.nodes[*].name}", "a b c"),
        ("{.nodes[-1].name}", "c"),
        ("{.nodes[0:2].name}", "a b"),
        ("{.nodes[::2].name}", "a c"),
        ("{.nodes[0,2].name}", "a c"),
        ("{.nodes[0]['name','kind']}", "a Pod"),
        (r"{.nodes[0].labels.app\.kubernetes\.io/name}", "x"),
        (r"{.nodes[0].labels['app\.kubernetes\.io/name']}", "x"),
        (r#"{.nodes[?(@.kind=="Pod")].name}"#, "a c"),
        ("{.nodes[?(@.weight>1)].name}", "incompatible types for comparison"),
        ("{.nodes[?(@.ready)].name}", "b"),
        (r#"{range .nodes[*]}{.name}{"\t"}{.weight}{"\n"}{end}"#, "a\t1\nb\t2.5\nc\t3\n"),
        ("{range .nodes[*]}{range .ports[*]}{@},{end};{end}", "80,443,;;;"),
        ("{..name}", "a b c"),
        ("{.nodes[1].owner}", "null"),
        ("{.nodes[2]}", r#"{"kind":"Pod","name":"c","note":"<a & b>","weight":3}"#),
        ("it is {.kind}!", "it is Tree!"),
        ("", ""),
        ("{.nope}", ""),
        ("{.nodes[7]}", "array index out of bounds: index 7, length 3"),
        ("{.kind[0]}", "string is not array or slice"),
        ("{end}", "not in range, nothing to end"),
        ("{foo}", "unrecognized identifier foo"),
        ("{.kind", "unclosed action"),
        ("{.nodes[a]}", "invalid array index a"),
        ("{....name}", "invalid multiple recursive descent"),
        ("{\"a}", "unterminated quoted string"),
        ("{|}", "unrecognized character in action: U+007C '|'"),
    ] {
        let (Ok(written) | Err(written)) = text(template);
        assert_eq!(written, expected, "{template}");
    }
    let path = JsonPath::parse("{.nope}").expect("a template");
    assert_eq!(path.text(&document(), false).unwrap_err().to_string(), "nope is not found");
    let ports = JsonPath::parse("{.nodes[0].ports}{.nodes[0].labels}").expect("a template");
    let json =
        "[\n    [\n        80,\n        443\n    ]\n]\n[\n    {\n        \"app.kubernetes.io/name\": \"x\"\n    }\n]\n";
    assert_eq!(ports.json(&document(), true).as_deref(), Ok(json));
    assert_eq!(JsonPath::parse("{.nope}").unwrap().json(&document(), true).as_deref(), Ok("[]\n"));
}

#[test]
fn columns_are_cells() {
    let columns = CustomColumns::parse("NAME:.name,PORTS:{.ports},OWNER:owner,ALL:.ports[*]").expect("columns");
    let rows: Vec<Vec<String>> =
        document()["nodes"].as_array().unwrap().iter().map(|node| columns.row(node).unwrap()).collect();
    assert_eq!(rows[0], ["a", "[80,443]", "<none>", "80,443"]);
    assert_eq!(rows[1], ["b", "<none>", "null", "<none>"]);
    assert!(CustomColumns::parse("NAME:.nodes[*].name").unwrap().begins_with("nodes"));
    assert!(!CustomColumns::parse("NAME:.nodesets").unwrap().begins_with("nodes"));
    assert_eq!(CustomColumns::from_lines("A B\n.name kind\n"), CustomColumns::parse("A:name,B:.kind"));
    for wrong in ["", "NAME", "NAME:{.a}{.b}", "NAME:{.a"] {
        assert!(CustomColumns::parse(wrong).is_err(), "{wrong}");
    }
    assert!(CustomColumns::from_lines("A B\n.name").is_err());
    for (path, full) in [("a", "{.a}"), (".a", "{.a}"), ("{a.b}", "{.a.b}"), ("{.a}", "{.a}"), (".", "{..}"), ("", "")]
    {
        assert_eq!(relaxed(path).as_deref(), Ok(full));
    }
}

/// Ranges that are not ended repeat what follows, and so double the work each.
#[test]
fn no_template_takes_forever() {
    let many = "{range .nodes[*]}".repeat(60);
    assert!(text(&many).is_err());
    assert!(text(&"{range ..}".repeat(40)).is_err());
    assert!(text(&"{range @}".repeat(100)).is_err());
    let mut deep = json!(1);
    for _ in 0..100 {
        deep = json!({"a": [deep]});
    }
    let path = JsonPath::parse("{..a}").expect("a template");
    assert!(path.text(&deep, true).is_ok());
}

proptest! {
    #[test]
    fn no_template_panics(template in r#"[{}\[\]().?@$*'":,\\<>=!a-c0-9 \-+nréß\n]{0,40}"#) {
        let _ = text(&template);
        let _ = text(&format!("{{{template}}}"));
        let _ = text(&format!("{{range .nodes[*]}}{{{template}}}{{end}}"));
        let _ = CustomColumns::parse(&template).map(|columns| columns.row(&document()));
    }
}

/// A large document may be touched as often as a small one.
#[test]
fn the_work_of_a_template_is_limited() {
    for (values, times, is_done) in [(1_000_000, 25, true), (10_000, 2_100, false)] {
        let document = json!({"items": vec![Value::Null; values]});
        let found = JsonPath::parse(&"{.items[*].a}".repeat(times)).unwrap().text(&document, true);
        let expected = if is_done { Ok(String::new()) } else { Err(PathError::new("the template takes too long")) };
        assert_eq!(found, expected, "{values} values");
    }
}
