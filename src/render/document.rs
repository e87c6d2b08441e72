//! Documents as text.

use serde::Serialize;

use super::escape::is_print;

pub use gc_core::document::{API_VERSION, Head, ObjectJson};

/// A document as JSON, indented, ending with a line break.
pub fn json(document: &impl Serialize) -> String {
    // Only a type can make this fail, never a value; the tests write every type of document.
    let mut text =
        serde_json::to_string_pretty(document).expect("documents have text keys and no serializer that fails");
    text.push('\n');
    escaped(text, escape_in_json)
}

/// JSON in one line, with a line break at its end.
pub fn json_line(document: &impl Serialize) -> String {
    // As above.
    let text = serde_json::to_string(document).expect("documents have text keys and no serializer that fails");
    escaped(text + "\n", escape_in_json)
}

fn escape_in_json(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// A document whose texts have no characters that a terminal obeys or hides: control characters, marks of the writing
/// direction, byte order marks. Line breaks and spaces stand between texts.
fn escaped(document: String, escape: impl Fn(char, &mut String)) -> String {
    if document.chars().all(is_harmless) {
        return document;
    }
    let mut out = String::with_capacity(document.len() + 64);
    for c in document.chars() {
        if is_harmless(c) { out.push(c) } else { escape(c, &mut out) }
    }
    out
}

fn is_harmless(c: char) -> bool {
    c == '\n' || is_print(c)
}

/// A document as YAML, ending with a line break.
pub fn yaml(document: &impl Serialize) -> String {
    // JSON is YAML, too. The YAML writer rejects some texts, and writes others as they are.
    serde_yaml::to_string(document).ok().filter(|text| text.chars().all(is_harmless)).unwrap_or_else(|| {
        let text =
            serde_json::to_string_pretty(document).expect("documents have text keys and no serializer that fails");
        escaped(text + "\n", |c, out| out.push_str(&format!("\\U{:08x}", u32::from(c))))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use gc_core::{model::Gap, tree::fixture::World};

    #[test]
    fn objects_are_named_alike_everywhere() {
        let mut world = World::empty();
        let web = world.add("shop", "Deployment/web", &[]);
        let (snapshot, _) = world.build();
        assert_eq!(
            json(&ObjectJson::of(&snapshot, web)),
            "{\n  \"apiVersion\": \"apps/v1\",\n  \"kind\": \"Deployment\",\n  \"namespace\": \"shop\",\n  \"name\": \
                \"web\",\n  \
             \"uid\": \"deployment-web\"\n}\n"
        );
        assert_eq!(
            yaml(&ObjectJson::of(&snapshot, web)),
            "apiVersion: apps/v1\nkind: Deployment\nnamespace: shop\nname: web\nuid: deployment-web\n"
        );
    }

    #[test]
    fn a_head_says_what_is_missing() {
        let gaps = [Gap { resource: "secrets".to_owned(), namespace: None, reason: "forbidden".into() }];
        assert_eq!(
            serde_json::to_value(Head::new("Plan", &gaps, None)).unwrap(),
            json!({"apiVersion": "kubectl-gc/v1", "kind": "Plan", "complete": false,
                   "gaps": [{"resource": "secrets", "reason": "forbidden"}]})
        );
        let server = |version: &str| {
            let version = gc_core::model::ServerVersion::read(version, "", "");
            serde_json::to_value(Head::new("Plan", &[], version.as_ref())).unwrap()
        };
        assert_eq!(server("v1.29.4-eks-1")["server"], json!({"version": "v1.29.4-eks-1", "tested": false}));
        assert_eq!(server("v1.33.0")["server"]["tested"], true);
        assert_eq!(server("v1.33.0")["complete"], true);
    }

    #[test]
    fn yaml_says_what_json_says() {
        let document = json!({
            "texts": ["", "y", "null", "0x1f", "1e3", "a: b", "- c", "two\nlines\n", "\u{0}\u{1b}[31m", "\u{feff}",
                "\u{2028}", "日本 🦀", "\u{9b}31m", "\u{202e}", "\u{e0001}"],
            "number": -1, "nothing": null, "list": [], "map": {},
        });
        let read: Value = serde_yaml::from_str(&yaml(&document)).unwrap();
        assert_eq!(read, document);
        for text in document["texts"].as_array().unwrap() {
            let written = [json(text), json_line(text), yaml(text)];
            let [one, two, three] = [
                serde_json::from_str(&written[0]).ok(),
                serde_json::from_str(&written[1]).ok(),
                serde_yaml::from_str(&written[2]).ok(),
            ];
            let as_text: [Option<Value>; 3] = [one, two, three];
            assert_eq!(as_text, [Some(text.clone()), Some(text.clone()), Some(text.clone())], "{written:?}");
            assert!(written.iter().all(|text| text.chars().all(is_harmless)), "{written:?}");
        }
    }
}
