//! The formats that each command offers.

use std::ffi::OsStr;

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser},
};

use crate::render::{document::Template, output::Format};
use gc_core::jsonpath::{CustomColumns, JsonPath};

use super::values::possible_value;

/// A format, with what the help says about it.
pub(super) type Offered = (Format, &'static str);

const JSON: Offered = (Format::Json, "");
const YAML: Offered = (Format::Yaml, "");
const HTML: Offered = (Format::Html, "A picture to walk through in a browser, in one file");
const SVG: Offered = (Format::Svg, "A picture for documents and mails");
const MERMAID: Offered = (Format::Mermaid, "A picture that GitHub and GitLab draw in a comment");
const DOT: Offered = (Format::Dot, "A picture for Graphviz");
const WIDE: Offered = (Format::Wide, "Text with more columns and sections");

const TREE: &[Offered] = &[
    JSON,
    YAML,
    (Format::Name, "TYPE/NAME, one per line"),
    HTML,
    SVG,
    MERMAID,
    DOT,
    (Format::CollectorDot, "The collector's debug graph, for Graphviz"),
    WIDE,
];
const PLAN: &[Offered] = &[
    JSON,
    YAML,
    (Format::Name, "TYPE/NAME of the objects that would be deleted, one per line"),
    HTML,
    SVG,
    MERMAID,
    DOT,
    WIDE,
];
const DOCTOR: &[Offered] = &[
    JSON,
    YAML,
    (Format::Name, "TYPE/NAME of the affected objects, one per line"),
    HTML,
    SVG,
    MERMAID,
    DOT,
    WIDE,
    (Format::Oneline, "A line for each finding, for grep"),
    (Format::Remedies, "A shell script of all fixes; read it before you run it"),
];
const EXPLAIN: &[Offered] =
    &[JSON, YAML, HTML, SVG, MERMAID, DOT, (Format::Wide, "Text with rules, uids and all remedies")];
const WATCH: &[Offered] = &[(Format::Json, "One document per line")];
const RECLAIM: &[Offered] =
    &[JSON, YAML, (Format::Name, "TYPE/NAME of what goes, or with --never of what stays, one per line"), WIDE];
const RESOURCES: &[Offered] =
    &[JSON, YAML, (Format::Name, "Only the names, one per line"), (Format::Wide, "All columns, one line per row")];
const RESTORE: &[Offered] = &[JSON, YAML, (Format::Wide, "Text with the names of all objects")];
const HOLD: &[Offered] = &[JSON, YAML];
const DOCUMENT: &[Offered] = &[JSON, YAML];

/// The formats of a command.
pub(super) fn of(command: &str) -> &'static [Offered] {
    match command {
        "tree" => TREE,
        "plan" | "delete" | "sweep" => PLAN,
        "doctor" => DOCTOR,
        "explain" => EXPLAIN,
        "watch" => WATCH,
        "reclaim" => RECLAIM,
        "resources" => RESOURCES,
        "restore" => RESTORE,
        "cancel" => HOLD,
        _ => DOCUMENT,
    }
}

/// The names of templates, with what the help says about them.
const TEMPLATES: [(&str, &str); 5] = [
    ("jsonpath=", "kubectl's JSONPath, on the JSON document"),
    ("jsonpath-file=", "The same from a file"),
    ("jsonpath-as-json=", "The same, its results as JSON"),
    ("custom-columns=", "TITLE:.path,…; a row for each element of the document"),
    ("custom-columns-file=", "The same from a file"),
];

/// What the full help says of `-o`.
pub(super) const ABOUT: &str = "Output format, or as in kubectl a template, on the JSON document: jsonpath=…, \
    jsonpath-file=…, jsonpath-as-json=…, custom-columns=… or custom-columns-file=…";

/// Takes the formats that a command offers, in any letter case as kubectl does, and templates.
pub(super) fn formats(offered: &'static [Offered]) -> impl TypedValueParser<Value = Format> {
    FormatParser(offered)
}

#[derive(Clone)]
struct FormatParser(&'static [Offered]);

impl FormatParser {
    fn values(&self) -> impl Iterator<Item = PossibleValue> {
        // The help names the templates in a sentence.
        let templates = TEMPLATES.into_iter().map(|(name, help)| possible_value(name, help).hide(true));
        self.0.iter().map(|(format, help)| possible_value(format.name(), help)).chain(templates)
    }
}

impl TypedValueParser for FormatParser {
    type Value = Format;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Format, clap::Error> {
        let is_template = |text: &str| {
            let name = text.split('=').next().unwrap_or_default();
            GO_TEMPLATES.contains(&name) || TEMPLATES.iter().any(|(known, _)| known.trim_end_matches('=') == name)
        };
        if value.to_str().is_some_and(is_template) {
            return StringValueParser::new().try_map(|text| template(&text)).parse_ref(command, arg, value);
        }
        let names = self.values().map(|value| value.hide(false));
        let name = PossibleValuesParser::new(names).parse_ref(command, arg, value)?;
        let found = Format::NAMED.into_iter().find(|(_, known)| known.eq_ignore_ascii_case(&name));
        Ok(found.map(|(format, _)| format).unwrap_or_default())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values()))
    }
}

/// The names of Go's templates, which are not supported.
const GO_TEMPLATES: [&str; 4] = ["go-template", "go-template-file", "template", "templatefile"];

/// Reads `jsonpath=TEMPLATE` and the like.
fn template(text: &str) -> Result<Format, String> {
    let (name, template) = text.split_once('=').unwrap_or((text, ""));
    if GO_TEMPLATES.contains(&name) {
        return Err("Go templates are not supported: use jsonpath=…, custom-columns=…, or json with jq".to_owned());
    }
    if template.is_empty() {
        return Err("template format specified but no template given".to_owned());
    }
    let read = || std::fs::read_to_string(template).map_err(|error| format!("{template}: {error}"));
    let path = |text: &str| JsonPath::parse(text).map_err(|error| format!("error parsing jsonpath {text}, {error}"));
    let template = match name {
        "jsonpath" => Template::Text(path(template)?),
        "jsonpath-file" => Template::Text(path(&read()?)?),
        "jsonpath-as-json" => Template::Json(path(template)?),
        "custom-columns" => Template::Columns(CustomColumns::parse(template).map_err(|error| error.to_string())?),
        _ => Template::Columns(CustomColumns::from_lines(&read()?).map_err(|error| error.to_string())?),
    };
    Ok(Format::Template(Box::leak(Box::new(template))))
}
