//! Characters that a terminal obeys or hides, in Rust's escapes: `\n`, `\u{1b}`.

use std::borrow::Cow;

/// A text whose unprintable characters are escaped, so that a name can't send control sequences to a terminal.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_print) {
        return Cow::Borrowed(text);
    }
    let mut visible = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_print(c) {
            visible.push(c);
        } else {
            visible.extend(c.escape_debug());
        }
    }
    Cow::Owned(visible)
}

/// Whether a character is a letter, a mark, a number, punctuation, a symbol or the ASCII space.
pub fn is_print(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, ' '..='~');
    }
    // `escape_debug` also escapes a combining mark, but only at the beginning of a text.
    let text: String = ['a', c].iter().collect();
    text.escape_debug().eq(text.chars())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn makes_controls_visible() {
        for text in ["", "web \u{1f439} \"x\" 'y' \\", "e\u{301}", "\u{301}", "I\u{f1}t\u{eb}rn\u{fffd}"] {
            assert_eq!(visible(text), text);
        }
        for (text, expected) in [
            ("a\x1b[31m\u{202e}b", r"a\u{1b}[31m\u{202e}b"),
            ("a\nd\te\rf\0\x7f", r"a\nd\te\rf\0\u{7f}"),
            ("\u{80}\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}", r"\u{80}\u{a0}\u{ad}\u{200b}\u{2028}\u{feff}"),
            ("\u{200c}\u{200d}\u{e000}\u{e0001}\u{10ffff}", r"\u{200c}\u{200d}\u{e000}\u{e0001}\u{10ffff}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }
}
