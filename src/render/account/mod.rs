//! The account of `watch`: one line of text, or one document, for each happening.

mod document;
#[cfg(test)]
mod tests;
mod text;
mod words;

use crate::model::ServerVersion;

use super::style::Style;

pub use document::document;
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
