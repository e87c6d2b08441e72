//! Where the values of a document are in its text.

use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};
use serde_json::Value;

/// A value in a text. Children are numbers of other nodes.
#[derive(Clone, Debug)]
pub(in crate::operations) struct Node {
    /// Without the space and comments behind it.
    pub range: Range<usize>,
    pub content: Content,
    /// Whether it is a list or a mapping in lines of their own, not in brackets.
    pub block: bool,
}

#[derive(Clone, Debug)]
pub(in crate::operations) enum Content {
    /// Whether it is written without quotes and tags.
    Scalar {
        plain: bool,
    },
    List(Vec<usize>),
    /// Keys with their values.
    Mapping(Vec<(usize, usize)>),
    /// It stands for another value.
    Alias,
}

/// All values of a document.
#[derive(Clone, Debug)]
pub(in crate::operations) struct Spans<'t> {
    text: &'t str,
    nodes: Vec<Node>,
    root: usize,
}

/// A list or mapping that has not ended yet.
struct Open {
    start: usize,
    block: bool,
    mapping: bool,
    children: Vec<usize>,
}

impl<'t> Spans<'t> {
    /// Of the only document in a text; `None` if there are several, or it can't be read.
    pub(in crate::operations) fn of(text: &'t str) -> Option<Self> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut root = None;
        for event in Parser::new_from_str(text) {
            let (event, span) = event.ok()?;
            let node = match event {
                Event::Scalar(_, style, _, ref tag) => {
                    let plain = style == ScalarStyle::Plain && tag.is_none();
                    Node { range: span.byte_range()?, content: Content::Scalar { plain }, block: false }
                }
                Event::Alias(_) => Node { range: span.byte_range()?, content: Content::Alias, block: false },
                Event::SequenceStart(style, ..) | Event::MappingStart(style, ..) => {
                    let mapping = matches!(event, Event::MappingStart(..));
                    let block = style == StructureStyle::Block;
                    open.push(Open { start: span.byte_range()?.start, block, mapping, children: Vec::new() });
                    continue;
                }
                Event::SequenceEnd | Event::MappingEnd => {
                    let Open { start, block, mapping, children } = open.pop()?;
                    // A block ends with its last value, not where the next token begins.
                    let last = children.last().map(|last| nodes[*last].range.end);
                    let first = children.first().map(|first| nodes[*first].range.start);
                    let range = match block {
                        true => first.unwrap_or(start)..last.unwrap_or(start),
                        false => start..span.byte_range()?.end,
                    };
                    let pair = |it: &[usize]| Some((*it.first()?, *it.get(1)?));
                    let content = match mapping {
                        true => Content::Mapping(children.chunks(2).filter_map(pair).collect()),
                        false => Content::List(children),
                    };
                    Node { range, content, block }
                }
                _ => continue,
            };
            nodes.push(node);
            let number = nodes.len() - 1;
            match open.last_mut() {
                Some(parent) => parent.children.push(number),
                None if root.is_some() => return None,
                None => root = Some(number),
            }
        }
        Some(Spans { text, root: root?, nodes })
    }

    /// Makes `true` and `false` of the words that kubectl, which reads YAML 1.1, takes for these: `yes`, `off`, `n`.
    pub(in crate::operations) fn resolve_words(&self, document: &mut Value) {
        let mut open = vec![(self.root, document)];
        while let Some((number, value)) = open.pop() {
            match (&self.nodes[number].content, value) {
                (Content::Scalar { plain: true }, value) => {
                    if let Some(truth) = truth_of(self.source(number)) {
                        *value = Value::Bool(truth);
                    }
                }
                (Content::List(items), Value::Array(values)) => open.extend(items.iter().copied().zip(values)),
                (Content::Mapping(entries), Value::Object(fields)) => {
                    for (key, value) in fields {
                        let is_it = |(own, _): &&(usize, usize)| unquoted(self.source(*own)) == key;
                        if let Some((_, node)) = entries.iter().find(is_it) {
                            open.push((*node, value));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    pub(in crate::operations) fn node(&self, number: usize) -> &Node {
        &self.nodes[number]
    }

    /// The value of a node, in quotes or not.
    pub(in crate::operations) fn source(&self, number: usize) -> &'t str {
        &self.text[self.nodes[number].range.clone()]
    }

    /// The object to which these items of lists lead.
    pub(in crate::operations) fn object(&self, path: &[usize]) -> Option<usize> {
        path.iter().try_fold(self.root, |at, index| {
            let (_, items) = self.entry(at, "items")?;
            self.items(items)?.get(*index).copied()
        })
    }

    /// The key and the value of a field of a mapping.
    pub(in crate::operations) fn entry(&self, mapping: usize, field: &str) -> Option<(usize, usize)> {
        let Content::Mapping(entries) = &self.nodes[mapping].content else { return None };
        let is_it = |(key, _): &&(usize, usize)| unquoted(self.source(*key)) == field;
        entries.iter().find(is_it).copied()
    }

    /// All entries of a mapping.
    pub(in crate::operations) fn entries(&self, mapping: usize) -> &[(usize, usize)] {
        match &self.nodes[mapping].content {
            Content::Mapping(entries) => entries,
            _ => &[],
        }
    }

    pub(in crate::operations) fn items(&self, list: usize) -> Option<&[usize]> {
        match &self.nodes[list].content {
            Content::List(items) => Some(items),
            _ => None,
        }
    }
}

fn unquoted(source: &str) -> &str {
    let quote = source.chars().next().filter(|first| matches!(first, '"' | '\''));
    quote.and_then(|quote| source.strip_prefix(quote)?.strip_suffix(quote)).unwrap_or(source).trim_end()
}

/// What a word without quotes means in YAML 1.1, but not in YAML 1.2.
pub(in crate::operations) fn truth_of(word: &str) -> Option<bool> {
    const TRUE: [&str; 8] = ["y", "Y", "yes", "Yes", "YES", "on", "On", "ON"];
    const FALSE: [&str; 8] = ["n", "N", "no", "No", "NO", "off", "Off", "OFF"];
    let word = word.trim();
    if TRUE.contains(&word) { Some(true) } else { FALSE.contains(&word).then_some(false) }
}
