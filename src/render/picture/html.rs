//! `-o html`: one file that a browser shows without a network. The page is built from the folder `web`; here it gets
//! its picture.

use std::{borrow::Cow, io::Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use crate::{
    render::{document::json_line, states::Look},
    wording::count,
};

use super::{Fate, Picture};

/// The page, without a title, a text and a picture.
const PAGE: &str = include_str!("../html/page.html");
/// Where the title goes: into the element `title`.
const TITLE: &str = "{{TITLE}}";
/// Where the text goes that says the same: it stays where no script runs.
const TEXT: &str = "{{TEXT}}";
/// Where the picture goes: into a script that is data, of this type.
const TYPE: &str = "{{TYPE}}";
const PICTURE: &str = "{{PICTURE}}";
/// The text has at most this many lines.
const MOST_LINES: usize = 2000;
/// A larger picture is packed.
const LARGE: usize = 256 * 1024;

/// A picture, and the states that its rows name.
#[derive(Serialize)]
struct Data<'a> {
    #[serde(flatten)]
    picture: &'a Picture,
    states: [Look; Fate::ALL.len()],
}

/// The page that shows a picture, with the text that says the same.
pub(super) fn write(picture: &Picture, text: &str) -> String {
    let (title, text) = (escaped(&picture.title), escaped(&in_short(text)));
    let json = json_line(&Data { picture, states: Fate::ALL.map(Fate::look) });
    let packed = Some(&json).filter(|json| json.len() > LARGE).and_then(|json| packed(json));
    let (kind, data) = match packed {
        Some(packed) => ("application/gzip".to_owned(), packed),
        None => ("application/json".to_owned(), data(&json)),
    };
    let mut page = String::with_capacity(PAGE.len() + title.len() + text.len() + data.len());
    let mut rest = PAGE;
    // Only the page's own places are filled in, and none that a title or a picture contains.
    while let Some((at, place, text)) = [(TITLE, &title), (TEXT, &text), (TYPE, &kind), (PICTURE, &data)]
        .into_iter()
        .filter_map(|(place, text)| Some((rest.find(place)?, place, text)))
        .min_by_key(|(at, ..)| *at)
    {
        page.push_str(&rest[..at]);
        page.push_str(text);
        rest = &rest[at + place.len()..];
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

/// JSON that no browser reads as markup, whatever it contains.
fn data(json: &str) -> String {
    let mut data = String::with_capacity(json.len());
    for c in json.trim_end().chars() {
        match c {
            '<' | '>' | '&' => data.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => data.push(c),
        }
    }
    data
}

/// A text between tags or in a quoted attribute. Control characters, which XML forbids, were made visible before.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
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
