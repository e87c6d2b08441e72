//! Text in pictures, broken where it is too wide.

use unicode_width::UnicodeWidthStr;

use crate::render::{lines::pieces, words::wrapped};

/// The lines of a text, none wider than `width` columns. A word that can't be broken anywhere else is broken anywhere.
pub(super) fn broken(text: &str, width: usize) -> Vec<String> {
    let words = text.split(' ').filter(|word| !word.is_empty()).flat_map(|word| pieces(word, width));
    wrapped(words.flat_map(|word| anywhere(word, width)), width)
}

/// A word in pieces of at most this many columns.
fn anywhere(word: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = word;
    while rest.width() > width {
        let mut used = 0;
        let fits = |(at, c): (usize, char)| {
            used += unicode_width::UnicodeWidthChar::width(c).unwrap_or(0);
            (used > width && at > 0).then_some(at)
        };
        let Some(at) = rest.char_indices().find_map(fits) else { break };
        pieces.push(&rest[..at]);
        rest = &rest[at..];
    }
    pieces.push(rest);
    pieces
}

/// The first characters of a text that is longer than `most` columns, with a mark that it is cut.
pub(super) fn cut(text: &str, most: usize) -> String {
    match anywhere(text, most).as_slice() {
        [first, _, ..] => format!("{first}…"),
        _ => text.to_owned(),
    }
}
