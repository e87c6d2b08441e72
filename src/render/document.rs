//! Documents as text.

use serde::Serialize;

pub use crate::document::{API_VERSION, Head, ObjectJson};

/// A document as JSON, indented, ending with a line break.
pub fn json(document: &impl Serialize) -> String {
    // Only a type can make this fail, never a value; the tests write every type of document.
    let mut text =
        serde_json::to_string_pretty(document).expect("documents have text keys and no serializer that fails");
    text.push('\n');
    text
}

/// A document as YAML, ending with a line break.
pub fn yaml(document: &impl Serialize) -> String {
    // JSON is YAML, too: fall back to it if the YAML writer rejects a text.
    serde_yaml::to_string(document).unwrap_or_else(|_| json(document))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::{model::Gap, tree::fixture::World};

    #[test]
    fn objects_are_named_alike_everywhere() {
        let mut world = World::new();
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
            serde_json::to_value(Head::new("Plan", &gaps)).unwrap(),
            json!({"apiVersion": "kubectl-gc/v1", "kind": "Plan", "complete": false,
                   "gaps": [{"resource": "secrets", "reason": "forbidden"}]})
        );
        assert!(Head::new("Plan", &[]).complete);
    }

    #[test]
    fn yaml_says_what_json_says() {
        let document = json!({
            "texts": ["", "y", "null", "0x1f", "1e3", "a: b", "- c", "two\nlines\n", "\u{0}\u{1b}[31m", "\u{feff}",
                "\u{2028}", "日本 🦀"],
            "number": -1, "nothing": null, "list": [], "map": {},
        });
        let read: Value = serde_yaml::from_str(&yaml(&document)).unwrap();
        assert_eq!(read, document);
    }
}
