//! `-o html`: one file that a browser shows without a network. The page is built from the folder `web`; here it gets
//! its picture.

use std::{borrow::Cow, io::Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};

use crate::render::document::json_line;
use gc_core::wording::count;

use super::{Picture, data::Data};

/// The page, with places for a title, a text that says the same, and a picture in a script that is data.
const PAGE: &str = include_str!("../html/page.html");
/// The text has at most this many lines.
const MOST_LINES: usize = 2000;
/// A larger picture is packed.
const LARGE: usize = 16 * 1024;

/// The page that shows a picture, with the text that says the same.
pub(in crate::render) fn write(picture: &Picture, text: &str) -> String {
    let json = json_line(&Data::of(picture));
    let packed = Some(&json).filter(|json| json.len() > LARGE).and_then(|json| packed(json));
    let kind = if packed.is_some() { "application/gzip" } else { "application/json" };
    // No browser reads this as markup, whatever it contains.
    let data = packed
        .unwrap_or_else(|| json.trim_end().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"));
    let mut page = String::with_capacity(PAGE.len() + text.len() + data.len());
    let mut rest = PAGE;
    // Each place once, in the page's order: a title or a text may contain another.
    for (place, content) in [
        ("{{TITLE}}", &*escaped(&picture.title)),
        ("{{TEXT}}", &escaped(&in_short(text))),
        ("{{TYPE}}", kind),
        ("{{PICTURE}}", &data),
    ] {
        let (before, after) = rest.split_once(place).expect("the page has this place");
        page.push_str(before);
        page.push_str(content);
        rest = after;
    }
    page + rest
}

/// The first lines of a text: where scripts run, nobody sees it.
fn in_short(text: &str) -> Cow<'_, str> {
    match text.match_indices('\n').nth(MOST_LINES) {
        Some((end, _)) if end + 1 < text.len() => {
            let more = text[end..].lines().count() - 1;
            let more = count(more, "more line", "more lines");
            Cow::from(format!("{}\n… and {more}, shown where scripts run\n", &text[..end]))
        }
        _ => Cow::from(text),
    }
}

/// JSON in gzip and base64. Memory takes all that is written.
fn packed(json: &str) -> Option<String> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    packed.write_all(json.as_bytes()).ok()?;
    Some(BASE64_STANDARD.encode(packed.finish().ok()?))
}

/// A text between tags or in a quoted attribute. Control characters, which XML forbids, were made visible before.
pub(super) fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut() {
        let lines = "line\n".repeat(MOST_LINES);
        assert_eq!(in_short(&lines), lines);
        let more = format!("{lines}last one\nlast\n");
        assert_eq!(in_short(&more), format!("{lines}last one\n… and 1 more line, shown where scripts run\n"));
    }
}
