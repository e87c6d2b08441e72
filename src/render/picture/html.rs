//! `-o html`: one file that a browser shows without a network. The page is built from the folder `web`; here it gets
//! its picture.

use crate::render::document::json_line;

use super::{Picture, markup::escaped};

/// The page, without a title and a picture.
const PAGE: &str = include_str!("../html/page.html");
/// Where the title goes: into the element `title`.
const TITLE: &str = "{{TITLE}}";
/// Where the picture goes: into a script that is data.
const PICTURE: &str = "{{PICTURE}}";

/// The page that shows a picture.
pub(super) fn write(picture: &Picture) -> String {
    let title = escaped(&picture.title);
    let data = data(picture);
    let mut page = String::with_capacity(PAGE.len() + title.len() + data.len());
    let mut rest = PAGE;
    // Only the page's own places are filled in, and none that a title or a picture contains.
    while let Some((at, place, text)) = [(TITLE, &title), (PICTURE, &data)]
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

/// The picture as JSON that no browser reads as markup, whatever it contains.
fn data(picture: &Picture) -> String {
    let json = json_line(picture);
    let mut data = String::with_capacity(json.len());
    for c in json.trim_end().chars() {
        match c {
            '<' | '>' | '&' => data.push_str(&format!("\\u{:04x}", u32::from(c))),
            _ => data.push(c),
        }
    }
    data
}
