//! Reads YAML piece by piece: one thread reads and cuts it, another one parses it.

use std::{
    io::{self, Read},
    sync::mpsc::{Receiver, sync_channel},
};

use memchr::{memchr_iter, memrchr};
use serde::de::DeserializeSeed;

use super::{
    collect::Collector,
    document::{Context, Items, Level, MoreItems, Node, NodeReader, Type},
    error::DumpError,
    pieces::{CHUNK, Pieces},
    text::{Outcome, text_of},
    yaml::{self, Document},
    yaml_pieces::{self, Cut, Cutter, Part},
};

/// How many bundles of pieces wait for the parser.
const AHEAD: usize = 2;

/// How many bytes of pieces make a bundle.
const BUNDLE: usize = CHUNK / 4;

/// A piece of the text.
struct Piece {
    part: Part,
    text: String,
    lines_before: usize,
    /// Whether its document is the only one, if it ends the first one.
    only: bool,
}

/// Collects the objects of a text. `failed` tells what it means that it can't be read.
pub(super) fn collect(
    path: &str,
    mut pieces: Pieces<impl Read>,
    collector: &mut Collector,
    failed: &dyn Fn(io::Error) -> DumpError,
) -> Result<(Outcome, u64), DumpError> {
    let (send, receive) = sync_channel(AHEAD);
    let parsed = &mut *collector;
    let parse = move || Parser { path, collector: parsed, number: 0, list: None, own: None }.all(&receive);
    let from = &mut pieces;
    let cut = move || cut(path, from, failed, &mut |bundle| send.send(bundle).is_ok());
    let (outcome, cut) = yaml::with_stack_beside(path, parse, cut)?;
    cut?;
    collector.latest = collector.latest.max(pieces.latest);
    Ok((outcome, pieces.read))
}

/// Cuts the text. `send` takes pieces, and tells whether it wants more.
fn cut(
    path: &str,
    pieces: &mut Pieces<impl Read>,
    failed: &dyn Fn(io::Error) -> DumpError,
    send: &mut dyn FnMut(Vec<Piece>) -> bool,
) -> Result<(), DumpError> {
    let mut cutter = Cutter::default();
    let mut bundle: Vec<Piece> = Vec::new();
    let mut size = 0;
    // The end of the first document is the last of its bundle until it is known whether there is another document.
    let mut ends_first = false;
    let mut documents = 0;
    loop {
        let next = cut_next(path, pieces, &mut cutter, failed);
        if std::mem::take(&mut ends_first)
            && let Some(last) = bundle.last_mut()
        {
            last.only = matches!(next, Ok(None));
        }
        let is_end = !matches!(next, Ok(Some(_)));
        if (is_end || size >= BUNDLE.min(pieces.chunk())) && !send(std::mem::take(&mut bundle)) {
            return Ok(());
        }
        let Some(piece) = next? else { return Ok(()) };
        if bundle.is_empty() {
            size = 0;
        }
        size += piece.text.len();
        if matches!(piece.part, Part::Document | Part::Rest) {
            documents += 1;
            ends_first = documents == 1;
        }
        bundle.push(piece);
    }
}

/// The next piece that isn't blank.
fn cut_next(
    path: &str,
    pieces: &mut Pieces<impl Read>,
    cutter: &mut Cutter,
    failed: &dyn Fn(io::Error) -> DumpError,
) -> Result<Option<Piece>, DumpError> {
    while let Some(Cut { part, length }) = cutter.next(pieces).map_err(failed)? {
        let lines_before = pieces.at.line - 1;
        let text = text_of(path, pieces, length)?;
        let piece = (part != Part::Document || !Document { text, lines_before }.is_blank()).then(|| Piece {
            part,
            text: text.to_owned(),
            lines_before,
            only: false,
        });
        pieces.skip(length);
        if piece.is_some() {
            return Ok(piece);
        }
    }
    Ok(None)
}

/// Parses the pieces of a text.
struct Parser<'p> {
    path: &'p str,
    collector: &'p mut Collector,
    /// The number of the document.
    number: usize,
    list: Option<List>,
    /// The apiVersion of a document of this tool, and the text from there on.
    own: Option<(String, String)>,
}

/// A document that may be a list, while it is read.
struct List {
    /// How many objects were collected before.
    first: usize,
    head: String,
    lines_before: usize,
    items: Items,
    /// The items that may have anchors, because later ones may refer to them; and how many they are.
    anchored: (String, usize),
    /// From the first piece that can't be read by itself: all that follows, and the number of lines before it.
    whole: Option<(String, usize)>,
}

impl Parser<'_> {
    fn all(mut self, bundles: &Receiver<Vec<Piece>>) -> Result<Outcome, DumpError> {
        for piece in bundles.iter().flatten() {
            self.piece(piece)?;
        }
        Ok(self.own.map_or(Outcome::Collected, |(api_version, text)| Outcome::Own(api_version, text)))
    }

    fn piece(&mut self, piece: Piece) -> Result<(), DumpError> {
        if let Some((_, text)) = &mut self.own {
            text.push_str(&piece.text);
            return Ok(());
        }
        match (piece.part, self.list.take()) {
            (Part::Items, Some(mut list)) => {
                self.items(&mut list, piece);
                self.list = Some(list);
                Ok(())
            }
            (Part::Rest, Some(list)) => self.rest(list, &piece),
            (Part::Head, _) => {
                self.head(piece);
                Ok(())
            }
            _ => {
                self.begin();
                let Piece { text, lines_before, only, .. } = piece;
                let first = only.then_some(self.collector.len());
                self.document(text, None, first, &|line| line + lines_before)
            }
        }
    }

    fn begin(&mut self) {
        self.number += 1;
        self.collector.begin(self.path, self.number);
    }

    fn head(&mut self, piece: Piece) {
        self.begin();
        let Piece { text, lines_before, .. } = piece;
        let mut context = Context { collector: self.collector, items: None, own: None };
        let node = read_node(&text, &mut context);
        // What is wrong here is said once all of it was read.
        let whole = node.is_err().then(|| (String::new(), lines_before + lines(&text)));
        let list = match node {
            Ok(Node::Map(envelope)) => (envelope.api_version, envelope.kind),
            _ => Type::default(),
        };
        self.list = Some(List {
            first: self.collector.len(),
            head: text,
            lines_before,
            items: Items::of(self.collector, list),
            anchored: (String::new(), 0),
            whole,
        });
    }

    fn items(&mut self, list: &mut List, piece: Piece) {
        if let Some((whole, _)) = &mut list.whole {
            whole.push_str(&piece.text);
            return;
        }
        let anchored: Vec<&str> = yaml_pieces::items(&piece.text).filter(|item| may_have(b'&', item)).collect();
        let refers = may_have(b'*', &piece.text) && (!anchored.is_empty() || list.anchored.1 > 0);
        let before = list.items.number;
        if !refers && self.read_items(&mut list.items, &piece.text) {
            list.anchored.0.extend(anchored.iter().copied());
            list.anchored.1 += anchored.len();
            return;
        }
        // The items of this piece that were collected already are read again.
        list.items.again = list.anchored.1 + list.items.number - before;
        list.whole = Some((piece.text, piece.lines_before));
    }

    /// Collects some items; whether all of them could be read.
    fn read_items(&mut self, items: &mut Items, text: &str) -> bool {
        let mut context = Context { collector: self.collector, items: None, own: None };
        // The items stand as deep as in their document.
        let text = "items:\n".to_owned() + text;
        let read = yaml::read(&Document { text: &text, lines_before: 0 }, |deserializer| {
            MoreItems { context: &mut context, items }.deserialize(deserializer)
        });
        read.is_ok()
    }

    fn rest(&mut self, list: List, piece: &Piece) -> Result<(), DumpError> {
        let List { first, head, lines_before, mut items, anchored: (anchored, count), whole } = list;
        if whole.is_none() {
            items.again = count;
        }
        let (whole, cut_at) = whole.unwrap_or((String::new(), piece.lines_before));
        let before = lines(&head) + lines(&anchored);
        let place = |line| if line <= before { line + lines_before } else { line - before + cut_at };
        let text = [&head, anchored.as_str(), &whole, &piece.text].concat();
        self.document(text, Some(items), piece.only.then_some(first), &place)
    }

    /// Collects the objects of a document, of whose list some items were read before. `only` is its first object, if it
    /// is the only document; `place` tells the number of a line of this text.
    fn document(
        &mut self,
        text: String,
        items: Option<Items>,
        only: Option<usize>,
        place: &dyn Fn(usize) -> usize,
    ) -> Result<(), DumpError> {
        if let Some(first) = only {
            self.collector.only_document(first);
        }
        let mut context = Context { collector: self.collector, items, own: None };
        match (read_node(&text, &mut context), context.own) {
            (Ok(node), _) => {
                let collected = self.collector.document(node);
                collected.map_err(|error| if only.is_some() { error.in_the_only_document() } else { error })
            }
            (Err(_), Some(api_version)) => {
                // Whether there are other documents counts, and where it stands.
                let mut own = "---\n...\n".repeat(self.number - 1);
                let mut next = 1;
                for (index, line) in text.split_inclusive('\n').enumerate() {
                    let blank = place(index + 1).saturating_sub(next);
                    own.extend(std::iter::repeat_n('\n', blank));
                    own.push_str(line);
                    next += blank + 1;
                }
                self.own = Some((api_version, own));
                Ok(())
            }
            (Err(error), None) => {
                let mut error = yaml::error(self.path, &Document { text: &text, lines_before: 0 }, &error);
                if let DumpError::Yaml { line, .. } = &mut error
                    && *line > 0
                {
                    *line = place(*line);
                }
                Err(error)
            }
        }
    }
}

fn read_node(text: &str, context: &mut Context<'_>) -> Result<Node, serde_saphyr::Error> {
    yaml::read(&Document { text, lines_before: 0 }, |deserializer| {
        NodeReader { context, level: Level::Top }.deserialize(deserializer)
    })
}

fn lines(text: &str) -> usize {
    memchr_iter(b'\n', text.as_bytes()).count()
}

/// Whether a text may have an anchor (`&`), or an alias (`*`). Strings may look as if they had one.
fn may_have(mark: u8, text: &str) -> bool {
    let text = text.as_bytes();
    memchr_iter(mark, text).any(|at| {
        if text.get(at + 1).is_none_or(u8::is_ascii_whitespace) {
            return false;
        }
        let before = text[..at].trim_ascii_end();
        let line = &text[memrchr(b'\n', &text[..at]).map_or(0, |end| end + 1)..at];
        match before.last() {
            _ if line.trim_ascii().is_empty() => true,
            Some(b',' | b'[' | b'{' | b':') => true,
            Some(b'-' | b'?') => before.len() < at,
            // A tag.
            _ => line.contains(&b'!'),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parser(collector: &mut Collector) -> Parser<'_> {
        Parser { path: "dump", collector, number: 0, list: None, own: None }
    }

    /// Counts the bytes that a parser keeps of a list with so many items.
    fn kept(item: &str, many: usize) -> usize {
        let text = format!("apiVersion: v1\nitems:\n{}kind: List\n", item.repeat(many));
        let mut collector = Collector::default();
        let mut parser = parser(&mut collector);
        let mut most = 0;
        let mut take = |bundle: Vec<Piece>| {
            assert!(bundle.iter().map(|piece| piece.text.len()).sum::<usize>() < 2000);
            bundle.into_iter().for_each(|piece| parser.piece(piece).unwrap());
            let kept = |list: &List| {
                list.head.len() + list.anchored.0.len() + list.whole.as_ref().map_or(0, |(text, _)| text.len())
            };
            most = most.max(parser.list.as_ref().map_or(0, kept));
            true
        };
        let mut pieces = Pieces::of(text.as_bytes()).in_chunks(500);
        cut("dump", &mut pieces, &|error| panic!("{error}"), &mut take).unwrap();
        assert_eq!(collector.len(), many);
        most
    }

    #[test]
    fn only_what_others_may_refer_to_is_kept() {
        let item = "- apiVersion: v1\n  kind: Pod\n  metadata: {name: a, namespace: b, uid: c}\n  spec: SPEC\n";
        let head = "apiVersion: v1\nitems:\n".len();
        for spec in ["{a: b}", "a && b *c", "\"*\"", "|\n    * a\n    a &\n  x: 1"] {
            assert_eq!(kept(&item.replace("SPEC", spec), 100), head, "{spec}");
        }
        let anchored = item.replace("SPEC", "{a: &a b}");
        let most = kept(&anchored, 100);
        assert!((90 * anchored.len()..100 * anchored.len()).contains(&(most - head)), "{most}");
    }

    #[test]
    fn marks_of_anchors_and_aliases_are_found() {
        for text in ["&a b", "- &a b", "a: &a b", "a: !t &a b", "[&a b]", "{a: b, c: &a b}", "? &a b", "a:\n  &a b"] {
            assert!(may_have(b'&', text), "{text}");
        }
        for text in ["a: b & c", "a: b && c", "a: b&c", "a: \"b &c\"", "a: |\n  b &\n  & c"] {
            assert!(!may_have(b'&', text), "{text}");
        }
    }

    #[test]
    fn a_parser_that_wants_no_more_ends_the_reading() {
        let text = "---\na: b\n".repeat(10_000);
        let mut pieces = Pieces::of(text.as_bytes()).in_chunks(100);
        cut("dump", &mut pieces, &|error| panic!("{error}"), &mut |_| false).unwrap();
        assert!(pieces.read < 1000, "{}", pieces.read);
    }
}
