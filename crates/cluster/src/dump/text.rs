//! Reads a text document by document: JSON, one or several, piece by piece; or YAML, all of it at once.

use std::io::{self, Read};

use memchr::memmem;
use serde::de::{DeserializeSeed, IgnoredAny};

use super::{
    collect::Collector,
    document::{Context, Items, Level, Node, NodeReader, Type},
    error::DumpError,
    input,
    pieces::{End, Pieces, Position},
    yaml,
};

/// The result of reading a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All objects were collected.
    Collected,
    /// It is a document of this tool, with this apiVersion; and all of it.
    Own(String, String),
}

/// Whether a text is JSON rather than YAML.
pub(crate) fn is_json(text: &str) -> bool {
    text.bytes().find(|byte| !byte.is_ascii_whitespace()).is_some_and(opens) && !is_flow(text.as_bytes())
}

/// Whether a text that begins with a brace is YAML all the same: its first key has no quotes.
fn is_flow(text: &[u8]) -> bool {
    let mut bytes = text.iter().filter(|byte| !byte.is_ascii_whitespace() && **byte != b'[');
    bytes.next() == Some(&b'{') && bytes.next().is_some_and(|byte| !matches!(byte, b'"' | b'}'))
}

/// Whether a JSON document begins with this byte.
fn opens(byte: u8) -> bool {
    matches!(byte, b'{' | b'[')
}

/// Collects the objects of a text. `failed` tells what it means that it can't be read.
pub(super) fn collect(
    path: &str,
    mut pieces: Pieces<impl Read>,
    collector: &mut Collector,
    failed: &dyn Fn(io::Error) -> DumpError,
) -> Result<(Outcome, u64), DumpError> {
    pieces.skip_byte_order_mark().map_err(failed)?;
    if let Some(what) = no_text(&mut pieces).map_err(failed)? {
        return Err(DumpError::NotText { path: path.to_owned(), what });
    }
    pieces.first().map_err(failed)?;
    let warnings = yaml::warnings(pieces.rest());
    let is_json = |rest: &[u8]| rest.trim_ascii_start().first().is_some_and(|first| opens(*first)) && !is_flow(rest);
    if warnings > 0 && is_json(&pieces.rest()[warnings..]) {
        pieces.skip(warnings);
    }
    if pieces.first().map_err(failed)?.is_some_and(opens) && !is_flow(pieces.rest()) {
        let mut json = Json { path, pieces, collector, failed };
        if let Some(api_version) = json.documents()? {
            let read = json.pieces.read;
            let text = json.pieces.all().map_err(failed)?;
            return Ok((Outcome::Own(api_version, input::utf8(path, text)?), read));
        }
        let (read, latest) = (json.pieces.read, json.pieces.latest);
        collector.latest = collector.latest.max(latest);
        return Ok((Outcome::Collected, read));
    }
    yaml(path, pieces, collector, failed)
}

/// Collects the objects of YAML, which is read as a whole: up to the limit of the input.
fn yaml(
    path: &str,
    mut pieces: Pieces<impl Read>,
    collector: &mut Collector,
    failed: &dyn Fn(io::Error) -> DumpError,
) -> Result<(Outcome, u64), DumpError> {
    while pieces.fill().map_err(failed)? {}
    let length = pieces.rest().len();
    let text = text_of(path, &pieces, length)?;
    let own = yaml::with_stack(path, || yaml_documents(path, text, collector))?;
    if let Some(api_version) = own {
        return Ok((Outcome::Own(api_version, text.to_owned()), pieces.read));
    }
    pieces.skip(length);
    collector.latest = collector.latest.max(pieces.latest);
    Ok((Outcome::Collected, pieces.read))
}

/// Collects the objects of all documents. Returns the apiVersion of a document of this tool.
fn yaml_documents(path: &str, text: &str, collector: &mut Collector) -> Result<Option<String>, DumpError> {
    let documents = yaml::documents(text);
    let only = documents.len() == 1;
    for (index, document) in documents.iter().enumerate() {
        collector.begin(path, index + 1);
        if only {
            collector.only_document(collector.len());
        }
        let mut context = Context { collector, items: None, own: None };
        let read = yaml::read(document, |deserializer| {
            NodeReader { context: &mut context, level: Level::Top }.deserialize(deserializer)
        });
        match (read, context.own) {
            (Ok(node), _) => collector.document(node)?,
            (Err(_), Some(api_version)) => return Ok(Some(api_version)),
            (Err(error), None) => return Err(yaml::error(path, document, &error)),
        }
    }
    Ok(None)
}

/// What a file is that is no text, and what to do with it; `None` for a text.
fn no_text(pieces: &mut Pieces<impl Read>) -> io::Result<Option<&'static str>> {
    // Where POSIX has the magic of a tar archive.
    const TAR: std::ops::Range<usize> = 257..262;
    const NO_TEXT: &str = "no text: a dump is the output of kubectl get -o yaml or -o json";
    while pieces.rest().len() < TAR.end && pieces.fill()? {}
    let rest = pieces.rest();
    Ok(match rest {
        _ if rest.get(TAR) == Some(b"ustar") => Some("a tar archive: unpack it, and give the folder to --from"),
        [b'P', b'K', 3, 4, ..] => Some("a zip archive: unpack it, and give the folder to --from"),
        // UTF-16, which begins with these bytes, is a text.
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => None,
        _ if rest.iter().take(TAR.end).any(|byte| *byte == 0) => Some(NO_TEXT),
        _ => None,
    })
}

/// Reads JSON.
struct Json<'j, R> {
    path: &'j str,
    pieces: Pieces<R>,
    collector: &'j mut Collector,
    failed: &'j dyn Fn(io::Error) -> DumpError,
}

/// What a document or a part of it is.
enum Parsed {
    Node(Node),
    /// A document of this tool, with this apiVersion.
    Own(String),
}

impl<R: Read> Json<'_, R> {
    /// Collects the objects of all documents. Returns the apiVersion of a document of this tool, whose text stays.
    fn documents(&mut self) -> Result<Option<String>, DumpError> {
        let mut number = 0;
        loop {
            number += 1;
            let first = self.collector.len();
            self.collector.begin(self.path, number);
            let node = match self.document()? {
                Parsed::Node(node) => node,
                Parsed::Own(_) if number > 1 => {
                    return Err(DumpError::SnapshotNotAlone { path: self.path.to_owned() });
                }
                Parsed::Own(api_version) => return Ok(Some(api_version)),
            };
            self.skip_logs()?;
            let more = self.peek()?.is_some();
            let only = number == 1 && !more;
            if only {
                self.collector.only_document(first);
            }
            let collected = self.collector.document(node);
            collected.map_err(|error| if only { error.in_the_only_document() } else { error })?;
            if !more {
                return Ok(None);
            }
        }
    }

    /// Skips the logs of containers, which `kubectl cluster-info dump` writes between its lists.
    fn skip_logs(&mut self) -> Result<(), DumpError> {
        const BEGIN: &[u8] = b"==== START logs";
        const END: &[u8] = b"==== END logs";
        const MARK: &[u8] = b" ====";
        while self.peek()? == Some(b'=') {
            if !self.pieces.line().map_err(self.failed)?.starts_with(BEGIN) {
                return Ok(());
            }
            loop {
                let line = self.pieces.line().map_err(self.failed)?;
                // A log without a newline at its end has the marker behind its last line.
                let is_mark = line.trim_ascii_end().ends_with(MARK) && memmem::find(line, END).is_some();
                let (length, ends) = (line.len(), line.is_empty() || is_mark);
                self.pieces.skip(length);
                if ends {
                    break;
                }
            }
        }
        Ok(())
    }

    fn document(&mut self) -> Result<Parsed, DumpError> {
        if self.peek()? == Some(b'[') {
            return self.array();
        }
        match self.pieces.measure(0, true).map_err(self.failed)? {
            (length, End::Items) => self.list(length),
            (length, _) => self.piece(length, Level::Top),
        }
    }

    /// An array without an envelope.
    fn array(&mut self) -> Result<Parsed, DumpError> {
        self.pieces.skip(1);
        let mut collected = Ok(());
        let mut number = 0;
        while self.has_another(number)? {
            number += 1;
            match self.value(Level::InArray)? {
                // If the document is malformed further on, that is what is wrong with it.
                Parsed::Node(node) if collected.is_ok() => collected = self.collector.node(Some(number), node, None),
                Parsed::Node(_) => {}
                own @ Parsed::Own(_) => return Err(self.no_own(own)),
            }
        }
        Ok(Parsed::Node(Node::Array(collected)))
    }

    /// What may be a list, whose items begin after so many bytes.
    fn list(&mut self, length: usize) -> Result<Parsed, DumpError> {
        let begin = self.pieces.at;
        let mut text = self.text(length)?.to_owned();
        let open = text.clone() + "]}";
        let list = match parse(self.path, &open, begin, self.collector, None, Level::Top)? {
            Parsed::Node(Node::Map(envelope)) => (envelope.api_version, envelope.kind),
            Parsed::Node(_) => Type::default(),
            own @ Parsed::Own(_) => return Ok(own),
        };
        self.pieces.skip(length);
        let mut items = Items::of(self.collector, list);
        while self.has_another(items.number)? {
            match self.value(items.level())? {
                Parsed::Node(node) => items.take(self.collector, node),
                own @ Parsed::Own(_) => return Err(self.no_own(own)),
            }
        }
        // The rest tells whether it is a list. The place of an error in it is counted from where the items end.
        let end = self.pieces.at;
        let (length, _) = self.pieces.measure(1, false).map_err(self.failed)?;
        let before = Position::START.after(text.as_bytes());
        text.push(']');
        text.push_str(self.text(length)?);
        let parsed = parse(self.path, &text, Position::START, self.collector, Some(items), Level::Top);
        self.pieces.skip(length);
        parsed.map_err(|error| match error {
            DumpError::Json { path, line, column, message } => {
                let column =
                    if line > before.line { column } else { (column + end.column).saturating_sub(before.column + 1) };
                DumpError::Json { path, line: line + end.line - before.line, column, message }
            }
            other => other,
        })
    }

    /// Whether a list goes on, of which so many values were read.
    fn has_another(&mut self, number: usize) -> Result<bool, DumpError> {
        let next = self.peek()?;
        match next {
            Some(b']') => {
                self.pieces.skip(1);
                return Ok(false);
            }
            Some(b',') if number > 0 => self.pieces.skip(1),
            Some(_) if number > 0 => return Err(self.malformed("expected `,` or `]`", 1)),
            _ => {}
        }
        match self.peek()? {
            Some(b']') => Err(self.malformed("trailing comma", 1)),
            Some(_) => Ok(true),
            None if number > 0 && next == Some(b',') => Err(self.malformed("EOF while parsing a value", 0)),
            None => Err(self.malformed("EOF while parsing a list", 0)),
        }
    }

    /// The next value of a list.
    fn value(&mut self, level: Level) -> Result<Parsed, DumpError> {
        if let Some(node) = self.whole_item(level) {
            return Ok(Parsed::Node(node));
        }
        let (length, _) = self.pieces.measure(0, false).map_err(self.failed)?;
        self.piece(length, level)
    }

    /// The next item of a list, if all of it was read and it is well-formed. That saves measuring it.
    fn whole_item(&mut self, level: Level) -> Option<Node> {
        // Objects of other levels may be lists, whose items are collected while they are read.
        if !level.in_list() || !self.pieces.is_text() || self.pieces.rest().first() != Some(&b'{') {
            return None;
        }
        let mut context = Context { collector: self.collector, items: None, own: None };
        let mut deserializer = serde_json::Deserializer::from_slice(self.pieces.rest());
        let node = NodeReader { context: &mut context, level }.deserialize(&mut deserializer).ok()?;
        let length = deserializer.into_iter::<IgnoredAny>().byte_offset();
        self.pieces.skip(length);
        Some(node)
    }

    /// A piece of this length. One without a value is parsed all the same: the parser says what is wrong.
    fn piece(&mut self, length: usize, level: Level) -> Result<Parsed, DumpError> {
        let length = length.max(1);
        let begin = self.pieces.at;
        let text = text_of(self.path, &self.pieces, length)?;
        let parsed = parse(self.path, text, begin, self.collector, None, level).map_err(|error| match error {
            DumpError::Json { path, line, column, message } if line == begin.line => {
                let rest = self.pieces.rest().split(|byte| *byte == b'\n').next().unwrap_or_default();
                let message = format!("{message}{}", yaml::hint(&String::from_utf8_lossy(rest), &message));
                DumpError::Json { path, line, column, message }
            }
            other => other,
        })?;
        if let Parsed::Node(_) = parsed {
            self.pieces.skip(length);
        }
        Ok(parsed)
    }

    fn text(&self, length: usize) -> Result<&str, DumpError> {
        text_of(self.path, &self.pieces, length)
    }

    fn peek(&mut self) -> Result<Option<u8>, DumpError> {
        self.pieces.peek().map_err(self.failed)
    }

    fn malformed(&self, message: &str, column: usize) -> DumpError {
        let Position { line, column: before } = self.pieces.at;
        DumpError::Json { path: self.path.to_owned(), line, column: before + column, message: message.to_owned() }
    }

    /// A document of this tool is no object.
    fn no_own(&self, own: Parsed) -> DumpError {
        let found = if let Parsed::Own(api_version) = own { format!("{api_version} in a list") } else { String::new() };
        DumpError::SnapshotVersion { path: self.path.to_owned(), found }
    }
}

/// The next bytes of the pieces as text.
fn text_of<'p, R: Read>(path: &str, pieces: &'p Pieces<R>, length: usize) -> Result<&'p str, DumpError> {
    let bytes = &pieces.rest()[..length];
    std::str::from_utf8(bytes).map_err(|error| DumpError::NotUtf8 {
        path: path.to_owned(),
        line: pieces.at.after(&bytes[..error.valid_up_to()]).line,
        utf16: pieces.at == Position::START && matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]),
    })
}

/// Parses one value, which begins at this place of its file.
fn parse(
    path: &str,
    text: &str,
    at: Position,
    collector: &mut Collector,
    items: Option<Items>,
    level: Level,
) -> Result<Parsed, DumpError> {
    let mut context = Context { collector, items, own: None };
    let mut deserializer = serde_json::Deserializer::from_slice(text.as_bytes());
    let node = NodeReader { context: &mut context, level }.deserialize(&mut deserializer);
    match node.and_then(|node| deserializer.end().map(|()| node)) {
        Ok(node) => Ok(Parsed::Node(node)),
        Err(error) => context.own.map(Parsed::Own).ok_or_else(|| {
            let (line, column) = (error.line(), error.column());
            let column = if line == 1 { at.column + column } else { column };
            let message = without_position(error.to_string());
            DumpError::Json { path: path.to_owned(), line: (at.line + line).saturating_sub(1), column, message }
        }),
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
