//! What tests of several views need.

use std::sync::LazyLock;

use serde_json::Value;

use super::{
    document::TemplateOptions,
    output::{Output, TextOptions},
    states::Style,
};

/// Folded text without colours.
pub(crate) fn plain(width: Option<usize>) -> TextOptions<'static> {
    static PLAIN: LazyLock<Style> = LazyLock::new(Style::default);
    let templates = TemplateOptions::default();
    TextOptions { width, fold: true, wide: false, templates, now: None, style: &PLAIN }
}

/// What a view writes.
pub(crate) fn shown(view: &impl Output, options: &TextOptions<'_>) -> String {
    let mut out = Vec::new();
    view.write(options, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A file of `docs/schema`.
pub(crate) fn schema(file: &str) -> Value {
    let path = format!("{}/docs/schema/{file}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// How a document differs from what its schema says.
pub(crate) fn errors(file: &str, document: &Value) -> Vec<String> {
    let registry =
        jsonschema::Registry::new().add("urn:kubectl-gc:v1:plan", schema("plan")).unwrap().prepare().unwrap();
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).with_registry(&registry);
    let validator = options.build(&schema(file)).unwrap();
    validator.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
}
