//! The account of `watch`: one line of text, or one document, for each happening.

#[cfg(test)]
mod tests;
mod text;
mod words;

use serde::Serialize;

use gc_core::{
    account::{Happening, What, time},
    document::API_VERSION,
    model::{Identity, ServerVersion},
};

use super::{document::json_line, style::Style};

use words::Words;

pub use text::{summary, text};

/// How to write the lines.
#[derive(Clone, Debug)]
pub struct AccountOptions<'a> {
    /// Whether objects of several namespaces are told of.
    pub namespaces: bool,
    /// The width of the terminal; `None`: no line is broken.
    pub width: Option<usize>,
    pub style: &'a Style,
    pub zone: jiff::tz::TimeZone,
    /// The version of the server, if it tells it: every document says whether it is tested.
    pub server: Option<&'a ServerVersion>,
}

/// A happening as JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchEventJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<&'a ServerVersion>,
    time: String,
    r#type: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    object: Option<&'a Identity>,
    #[serde(flatten)]
    what: &'a What,
}

/// A happening as a document, with its line break.
pub fn document(happening: &Happening, options: &AccountOptions<'_>) -> String {
    let words = Words { namespaces: options.namespaces, zone: &options.zone };
    let Happening { at, what } = happening;
    json_line(&WatchEventJson {
        api_version: API_VERSION,
        kind: "WatchEvent",
        server: options.server,
        time: time(*at),
        r#type: what.name(),
        message: words.what(what),
        object: what.object(),
        what,
    })
}
