//! The schemas of `docs/schema`.

use serde_json::Value;

/// Checks a document against the schema in this file of `docs/schema`, without `.json`.
#[track_caller]
pub fn conforms(file: &str, document: &Value) {
    let schema = |file: &str| -> Value {
        let path = format!("{}/docs/schema/{file}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    };
    // The schemas that others refer to.
    let registry = jsonschema::Registry::new().add("urn:kubectl-gc:v1:plan", schema("plan")).unwrap();
    let registry = registry.add("urn:kubectl-gc:v1:deletion", schema("deletion")).unwrap().prepare().unwrap();
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).with_registry(&registry);
    let validator = options.build(&schema(file)).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}
