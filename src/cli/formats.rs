//! The formats that each command offers.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::render::output::Format;

/// A format, with what the help says about it.
pub(super) type Offered = (Format, &'static str);

const JSON: Offered = (Format::Json, "");
const YAML: Offered = (Format::Yaml, "");
const WIDE: Offered = (Format::Wide, "Text with more columns");

/// Formats of `tree`.
pub(super) const TREE: &[Offered] =
    &[JSON, YAML, (Format::Name, "TYPE/NAME, one per line"), (Format::Dot, "For Graphviz"), WIDE];
/// Formats of `plan`, `delete` and `sweep`.
pub(super) const PLAN: &[Offered] =
    &[JSON, YAML, (Format::Name, "TYPE/NAME of the objects that would be deleted, one per line"), WIDE];
/// Formats of `doctor`.
pub(super) const DOCTOR: &[Offered] = &[
    JSON,
    YAML,
    (Format::Name, "TYPE/NAME of the affected objects, one per line"),
    WIDE,
    (Format::Oneline, "A line for each finding, for grep"),
    (Format::Remedies, "A shell script of all fixes; read it before you run it"),
];
/// Formats of `explain`.
pub(super) const EXPLAIN: &[Offered] = &[JSON, YAML, (Format::Wide, "Text with rules, uids and all remedies")];
/// Formats of `watch`.
pub(super) const WATCH: &[Offered] = &[(Format::Json, "One document per line")];
/// Formats of `resources`.
pub(super) const RESOURCES: &[Offered] =
    &[JSON, YAML, (Format::Name, "Only the names, one per line"), (Format::Wide, "All columns, one line per row")];
/// Formats of `restore`.
pub(super) const RESTORE: &[Offered] = &[JSON, YAML, (Format::Wide, "Text with the names of all objects")];
/// Formats of `version`.
pub(super) const DOCUMENT: &[Offered] = &[JSON, YAML];

/// Takes the formats that a command offers, in any letter case as kubectl does.
pub(super) fn formats(offered: &'static [Offered]) -> impl TypedValueParser<Value = Format> {
    let value = |(format, help): &Offered| {
        let value = PossibleValue::new(format.name());
        if help.is_empty() { value } else { value.help(*help) }
    };
    PossibleValuesParser::new(offered.iter().map(value).collect::<Vec<_>>()).map(|name| {
        let is_it = |format: &Format| format.name().eq_ignore_ascii_case(&name);
        Format::NAMED.into_iter().find(is_it).unwrap_or_default()
    })
}
