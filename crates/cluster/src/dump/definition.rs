//! What a CustomResourceDefinition in a dump defines.

use serde_json::Value;

/// The resources that a CustomResourceDefinition defines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Definition {
    pub group: String,
    pub plural: String,
    pub singular: String,
    pub kind: String,
    pub short_names: Vec<String>,
    pub categories: Vec<String>,
    pub namespaced: bool,
    /// The served versions, in the order of the definition.
    pub versions: Vec<String>,
    /// Whether it is terminating, which removes the verbs that create objects.
    pub terminating: bool,
}

impl Definition {
    /// Reads a whole object; `None` if it serves nothing, because it is incomplete or its names were not accepted.
    pub(super) fn read(object: &Value) -> Option<Definition> {
        let condition = |name: &str| {
            let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
            conditions
                .into_iter()
                .flatten()
                .find(|condition| condition["type"] == name)
                .map(|condition| condition["status"] == "True")
        };
        if condition("Established") == Some(false) {
            return None;
        }
        // The accepted names are served; a trimmed dump may only have the requested ones.
        let names = ["/status/acceptedNames", "/spec/names"]
            .into_iter()
            .filter_map(|names| object.pointer(names))
            .find(|names| names["plural"].as_str().is_some_and(|plural| !plural.is_empty()))?;
        let text = |key: &str| names[key].as_str().unwrap_or_default().to_owned();
        let texts = |key: &str| {
            let list = names[key].as_array().into_iter().flatten();
            list.filter_map(|value| value.as_str().map(str::to_owned)).collect()
        };
        let spec = object.get("spec")?;
        let mut versions: Vec<String> = spec["versions"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|version| version["served"] != false)
            .filter_map(|version| version["name"].as_str().map(str::to_owned))
            .collect();
        if versions.is_empty() && spec["versions"].is_null() {
            // apiextensions.k8s.io/v1beta1.
            versions.extend(spec["version"].as_str().map(str::to_owned));
        }
        let group = spec["group"].as_str().filter(|group| !group.is_empty())?.to_owned();
        let kind = Some(text("kind")).filter(|kind| !kind.is_empty())?;
        let singular =
            Some(text("singular")).filter(|singular| !singular.is_empty()).unwrap_or_else(|| kind.to_lowercase());
        Some(Definition {
            group,
            plural: text("plural"),
            singular,
            kind,
            short_names: texts("shortNames"),
            categories: texts("categories"),
            namespaced: spec["scope"] == "Namespaced",
            versions,
            terminating: condition("Terminating") == Some(true),
        })
    }
}
