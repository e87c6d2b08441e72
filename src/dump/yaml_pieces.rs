//! Cuts YAML into pieces while it is read: documents, and the items of lists as kubectl prints them. Only some items
//! are in memory at a time.
//!
//! A list is cut only where that can't change its meaning: its lines before `items:` are plain, and each item begins
//! with `- ` in the same column. The lines of an item are further to the right, also those of quoted, literal and flow
//! values. Where a reader takes that less seriously, the cut part is malformed by itself, and is read with the rest.

use std::io::{self, Read};

use memchr::memchr;

use super::{
    pieces::{CHUNK, Pieces},
    yaml::is_marker,
};

/// How many bytes of items are cut off at once.
const ITEMS: usize = CHUNK / 4;

/// At most so many bytes are held of a document that can't be cut: endless input is no document.
const LARGEST: usize = 256 << 20;

/// What a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A whole document.
    Document,
    /// The beginning of a document that may be a list, with the line `items:`.
    Head,
    /// Some of its items, but not the last one.
    Items,
    /// The rest of the document, from one of its items on.
    Rest,
}

/// The next piece of a text, as the length of what was read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    pub part: Part,
    pub length: usize,
}

/// Cuts a text.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    /// The column of the items of the list that is being cut.
    column: Option<usize>,
}

/// What a line means for the list that it stands in.
enum Line {
    Item,
    Inside,
    Outside,
}

impl Cutter {
    /// The next piece; `None` at the end.
    pub(super) fn next(&mut self, pieces: &mut Pieces<impl Read>) -> io::Result<Option<Cut>> {
        match self.column {
            Some(column) => self.items(pieces, column).map(Some),
            None => self.begin(pieces),
        }
    }

    /// The head of a list, or a whole document.
    fn begin(&mut self, pieces: &mut Pieces<impl Read>) -> io::Result<Option<Cut>> {
        let mut at = 0;
        let mut plain = true;
        while let Some(length) = line(pieces, at)? {
            let text = &pieces.rest()[at..at + length];
            if at > 0 && is_marker(text, "---") {
                break;
            }
            at += length;
            if is_marker(text, "...") {
                break;
            }
            let is_items = text.strip_prefix(b"items:").is_some_and(|rest| rest.trim_ascii().is_empty());
            if plain
                && is_items
                && let Some(next) = line(pieces, at)?
            {
                let next = &pieces.rest()[at..at + next];
                let column = spaces(next);
                if next[column..].starts_with(b"- ") {
                    self.column = Some(column);
                    return Ok(Some(Cut { part: Part::Head, length: at }));
                }
            }
            plain &= is_plain(&pieces.rest()[at - length..at]);
        }
        Ok((at > 0).then_some(Cut { part: Part::Document, length: at }))
    }

    /// Some items, or the rest of the document.
    fn items(&mut self, pieces: &mut Pieces<impl Read>, column: usize) -> io::Result<Cut> {
        let most = ITEMS.min(pieces.chunk());
        let mut inside = true;
        let mut at = 0;
        while let Some(length) = line(pieces, at)? {
            let text = &pieces.rest()[at..at + length];
            if is_marker(text, "---") {
                break;
            }
            if is_marker(text, "...") {
                at += length;
                break;
            }
            match line_of_list(text, column) {
                Line::Item if inside && at >= most => return Ok(Cut { part: Part::Items, length: at }),
                Line::Item | Line::Inside => {}
                Line::Outside => inside = false,
            }
            at += length;
        }
        self.column = None;
        Ok(Cut { part: Part::Rest, length: at })
    }
}

/// The items of a piece that begins with an item.
pub(super) fn items(text: &str) -> impl Iterator<Item = &str> {
    let column = spaces(text.as_bytes());
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            if end > 0 && matches!(line_of_list(line.as_bytes(), column), Line::Item) {
                break;
            }
            end += line.len();
        }
        let (item, after) = rest.split_at(end);
        rest = after;
        (!item.is_empty()).then_some(item)
    })
}

fn line_of_list(text: &[u8], column: usize) -> Line {
    let own = spaces(text);
    match &text[own..] {
        [b'-', b' ', ..] if own == column => Line::Item,
        [] | [b'\n' | b'#', ..] | [b'\r', b'\n'] => Line::Inside,
        _ if own > column => Line::Inside,
        _ => Line::Outside,
    }
}

fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|byte| **byte == b' ').count()
}

/// Whether a line at the beginning of a document ends with itself: a comment, or a key with a plain value or none.
fn is_plain(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with(b"#") || line == b"---" {
        return true;
    }
    let is_word = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_alphanumeric);
    let is_value = |text: &[u8]| text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"/.-".contains(byte));
    let colon = memchr(b':', line).unwrap_or_default();
    let (key, value) = line.split_at(colon);
    is_word(key)
        && (matches!(value, b":" | b": \"\"" | b": {}")
            || value
                .strip_prefix(b": ")
                .is_some_and(|value| value[..1].iter().all(u8::is_ascii_alphanumeric) && is_value(value)))
}

/// The length of the line that begins there in the rest, with its end; `None` at the end of the text.
fn line(pieces: &mut Pieces<impl Read>, at: usize) -> io::Result<Option<usize>> {
    let mut searched = at;
    loop {
        if let Some(end) = memchr(b'\n', &pieces.rest()[searched..]) {
            return Ok(Some(searched + end + 1 - at));
        }
        searched = pieces.rest().len();
        if searched > LARGEST {
            let what = "a YAML document in it has more than 256 MiB and can't be read in parts, as a list of kubectl \
                        can: write it as JSON";
            return Err(io::Error::other(what));
        }
        if !pieces.fill()? {
            return Ok((searched > at).then_some(searched - at));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_items_are_in_memory() {
        let item = b"- a: \"x\n    - y\"\n  b: |\n    - z\n\n# no\n";
        let many = 100_000;
        let list = b"kind: List\nitems:\n".iter().chain(std::iter::repeat_n(&item[..], many).flatten());
        let text: Vec<u8> = list.chain(b"metadata:\n  a: b\n---\nc: d\n").copied().collect();
        let mut pieces = Pieces::of(&text[..]).in_chunks(1000);
        let mut cutter = Cutter::default();
        let mut found = Vec::new();
        let mut cut = 0;
        while let Some(Cut { part, length }) = cutter.next(&mut pieces).unwrap() {
            let piece = std::str::from_utf8(&pieces.rest()[..length]).unwrap().to_owned();
            pieces.skip(length);
            cut += length;
            assert!(pieces.rest().len() < 3000, "{}", pieces.rest().len());
            match part {
                Part::Items => assert_eq!(piece.len() % item.len(), 0),
                _ => found
                    .push((part, if part == Part::Rest { items(&piece).last().unwrap().to_owned() } else { piece })),
            }
        }
        let last = String::from_utf8(item.to_vec()).unwrap() + "metadata:\n  a: b\n";
        let expected = [
            (Part::Head, "kind: List\nitems:\n".to_owned()),
            (Part::Rest, last),
            (Part::Document, "---\nc: d\n".to_owned()),
        ];
        assert_eq!((cut, found), (text.len(), expected.to_vec()));
    }

    #[test]
    fn only_lists_whose_items_are_certain_are_cut() {
        let is_cut =
            |text: &str| Cutter::default().next(&mut Pieces::of(text.as_bytes())).unwrap().unwrap().part == Part::Head;
        for list in [
            "items:\n- a",
            "---\n# b\napiVersion: v1\nitems: \n  - a",
            "kind: a.b/c-d\r\nitems:\r\n- a",
            "metadata:\n  resourceVersion: \"\"\n  a:\n    b: c\nkind: List\nitems:\n- a",
        ] {
            assert!(is_cut(list), "{list}");
        }
        for other in [
            "items:\n",
            "items:\n\n- a",
            "items:\n-\n  a",
            "items: &a\n- a",
            "--- |\nitems:\n- a",
            "a: \"\nitems:\n- a",
            "a: {\nitems:\n- a",
            "a: [b,\nitems:\n- a",
            "a: |\nitems:\n- a",
            "a: &b c\nitems:\n- a",
            "%YAML 1.2\nitems:\n- a",
            "a\nitems:\n- a",
            "a:\n- b\nitems:\n- a",
            "a:\n  b: |\n    items:\nitems:\n- a",
        ] {
            assert!(!is_cut(other), "{other}");
        }
    }
}
