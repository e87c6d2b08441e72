//! Splits a text into documents: JSON, one or several, or YAML.

use serde::de::DeserializeSeed;

use super::{
    collect::Collector,
    document::{Context, Node, NodeReader},
    error::DumpError,
    yaml,
};

/// The result of reading a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All objects were collected.
    Collected,
    /// It is a document of this tool, with this apiVersion.
    Own(String),
}

/// Whether a text is JSON rather than YAML.
pub(crate) fn is_json(text: &str) -> bool {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
}

/// Collects the objects of a text.
pub(super) fn collect(path: &str, text: &str, collector: &mut Collector) -> Result<Outcome, DumpError> {
    if is_json(text) {
        return json(path, text, collector);
    }
    yaml::with_stack(path, || yaml(path, text, collector))
}

fn json(path: &str, text: &str, collector: &mut Collector) -> Result<Outcome, DumpError> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut count = 1;
    let mut number = 0;
    while number < count {
        number += 1;
        let first = collector.len();
        collector.begin(path, number);
        let node = match read(collector, |context| NodeReader::document(context).deserialize(&mut deserializer)) {
            Read::Node(node) => node,
            Read::Own(api_version) => return Ok(Outcome::Own(api_version)),
            Read::Failed(error) => return Err(json_error(path, &error)),
        };
        // `end` accepts only whitespace. It scans the current line, so don't call it after every document.
        if number == 1 {
            if deserializer.end().is_err() {
                count = json_documents(text);
            }
            if count == 1 {
                collector.only_document(first);
            }
        }
        collector.document(node).map_err(|error| if count == 1 { error.in_the_only_document() } else { error })?;
    }
    deserializer.end().map_err(|error| json_error(path, &error))?;
    Ok(Outcome::Collected)
}

/// The number of documents, including the first malformed one.
fn json_documents(text: &str) -> usize {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let whole = documents.by_ref().take_while(Result::is_ok).count();
    whole + usize::from(!text[documents.byte_offset()..].trim_ascii().is_empty())
}

fn yaml(path: &str, text: &str, collector: &mut Collector) -> Result<Outcome, DumpError> {
    let documents = yaml::documents(text);
    for (index, document) in documents.iter().enumerate() {
        collector.begin(path, if documents.len() > 1 { index + 1 } else { 0 });
        let read = read(collector, |context| {
            yaml::read(document, |deserializer| NodeReader::document(context).deserialize(deserializer))
        });
        let node = match read {
            Read::Node(node) => node,
            Read::Own(api_version) => return Ok(Outcome::Own(api_version)),
            Read::Failed(error) => return Err(yaml::error(path, document, &error)),
        };
        collector.document(node)?;
    }
    Ok(Outcome::Collected)
}

enum Read<E> {
    Node(Node),
    Own(String),
    Failed(E),
}

fn read<E>(collector: &mut Collector, document: impl FnOnce(&mut Context<'_>) -> Result<Node, E>) -> Read<E> {
    let mut context = Context { collector, own: None };
    match document(&mut context) {
        Ok(node) => Read::Node(node),
        Err(error) => context.own.map_or(Read::Failed(error), Read::Own),
    }
}

/// An error of serde_json, its position separate from its message.
pub(crate) fn json_error(path: &str, error: &serde_json::Error) -> DumpError {
    let message = without_position(error.to_string());
    DumpError::Json { path: path.to_owned(), line: error.line(), column: error.column(), message }
}

fn without_position(message: String) -> String {
    match message.rfind(" at line ") {
        Some(end) if message[end..].chars().all(|c| c.is_ascii_alphanumeric() || c == ' ') => message[..end].to_owned(),
        _ => message,
    }
}
