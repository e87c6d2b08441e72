//! Each happening as a JSON document on one line.

use serde::Serialize;

use crate::{
    account::{Happening, What, time},
    document::{API_VERSION, ServerJson},
    model::Identity,
    render::document::json_line,
};

use super::{AccountOptions, words::Words};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WatchEventJson<'a> {
    api_version: &'static str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerJson>,
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
        server: options.server.map(ServerJson::of),
        time: time(*at),
        r#type: what.name(),
        message: words.what(what),
        object: what.object(),
        what,
    })
}
