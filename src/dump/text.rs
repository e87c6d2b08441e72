//! From a text to its documents: JSON, one or many in a row, or YAML.

use serde::de::DeserializeSeed;

use super::{
    collect::Collector,
    document::{Context, Node, NodeSeed},
    error::{DumpError, Place},
    yaml,
};
use crate::model::Strings;

/// What came of reading a text.
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it is collected.
    Collected,
    /// It is a document of this tool's own, with this apiVersion.
    Own(String),
}

/// Whether a text is JSON rather than YAML.
pub fn is_json(text: &str) -> bool {
    matches!(text.trim_start().as_bytes().first(), Some(b'{' | b'['))
}

/// Collects the objects in a text.
pub fn collect(path: &str, text: &str, collector: &mut Collector) -> Result<Outcome, DumpError> {
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
        let node =
            match read(&mut collector.strings, |context| NodeSeed::document(context).deserialize(&mut deserializer)) {
                Read::Node(node) => node,
                Read::Own(api_version) => return Ok(Outcome::Own(api_version)),
                Read::Failed(error) => return Err(json_error(path, &error)),
            };
        // `end` takes nothing but space. It looks for the line it is in, and is not to be asked after every document.
        if number == 1 && deserializer.end().is_err() {
            count = json_documents(text);
        }
        let document = (count > 1).then_some(number);
        collector.document(&Place { file: path.to_owned(), document, item: None }, node)?;
    }
    deserializer.end().map_err(|error| json_error(path, &error))?;
    Ok(Outcome::Collected)
}

/// How many documents are in a row, the first one that is malformed included.
fn json_documents(text: &str) -> usize {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    let whole = documents.by_ref().take_while(Result::is_ok).count();
    whole + usize::from(!text[documents.byte_offset()..].trim_ascii().is_empty())
}

fn yaml(path: &str, text: &str, collector: &mut Collector) -> Result<Outcome, DumpError> {
    let documents = yaml::documents(text);
    for (index, document) in documents.iter().enumerate() {
        let read = read(&mut collector.strings, |context| {
            yaml::read(document, |deserializer| NodeSeed::document(context).deserialize(deserializer))
        });
        let node = match read {
            Read::Node(node) => node,
            Read::Own(api_version) => return Ok(Outcome::Own(api_version)),
            Read::Failed(error) => return Err(yaml::error(path, document, &error)),
        };
        let number = (documents.len() > 1).then_some(index + 1);
        collector.document(&Place { file: path.to_owned(), document: number, item: None }, node)?;
    }
    Ok(Outcome::Collected)
}

enum Read<E> {
    Node(Node),
    Own(String),
    Failed(E),
}

fn read<E>(strings: &mut Strings, document: impl FnOnce(&mut Context<'_>) -> Result<Node, E>) -> Read<E> {
    let mut context = Context { strings, own: None };
    match document(&mut context) {
        Ok(node) => Read::Node(node),
        Err(error) => context.own.map_or(Read::Failed(error), Read::Own),
    }
}

/// What serde_json says, its position apart from its words.
pub fn json_error(path: &str, error: &serde_json::Error) -> DumpError {
    let message = without_position(error.to_string());
    DumpError::Json { path: path.to_owned(), line: error.line(), column: error.column(), message }
}

fn without_position(message: String) -> String {
    match message.rfind(" at line ") {
        Some(end) if message[end..].chars().all(|c| c.is_ascii_alphanumeric() || c == ' ') => message[..end].to_owned(),
        _ => message,
    }
}
