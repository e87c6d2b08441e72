//! Values of flags that clap doesn't read itself, and the formats that each command offers.

use std::ffi::OsStr;

use clap::{
    Arg, Command,
    builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser},
};

use crate::{
    operations::unread::AllowIncomplete,
    render::{document::Template, output::Format},
};
use gc_core::{
    jsonpath::{CustomColumns, JsonPath},
    model::effects::Severity,
    plan::{EffectClass, VerdictResult},
    server::Propagation,
    simulate::Assume,
};

/// A value that a flag takes: its names, of which the help shows the first, what the help says of it, and what it
/// means.
pub(super) type Choice<T> = (&'static [&'static str], &'static str, T);

/// `--propagation` and `--cascade`
pub(super) const POLICIES: &[Choice<Propagation>] = &[
    (&["background", "true"], "Owner first, then the dependents", Propagation::Background),
    (&["foreground"], "Dependents first, then the owner", Propagation::Foreground),
    (&["orphan", "false"], "Only the owner; keep the dependents", Propagation::Orphan),
];

/// `--assume`
pub(super) const ASSUMPTIONS: &[Choice<Assume>] = &[
    (&["known"], "Known controllers do what they are known to do", Assume::Known),
    (&["none"], "No other controller does anything", Assume::None),
];

/// `--deny-effect`
pub(super) const EFFECTS: &[Choice<EffectClass>] = &[
    (&["data-loss"], "Data is lost", EffectClass::DataLoss),
    (&["external"], "Something outside the owner graph is deleted", EffectClass::External),
    (&["unknown"], "The effect is not known", EffectClass::Unknown),
];

/// `--fail-on` of a delete, the worst first: the best verdict that is bad news; `None` if none is.
pub(super) const VERDICTS: &[Choice<Option<VerdictResult>>] = &[
    (&["takes-down"], "A webhook or an API loses its backend", Some(VerdictResult::TakesDown)),
    (&["data-loss"], "Data is lost", Some(VerdictResult::DataLoss)),
    (&["stuck"], "Something stays Terminating, and no controller is known to finish it", Some(VerdictResult::Stuck)),
    (&["depends"], "Something waits for a controller that is not known to run", Some(VerdictResult::Depends)),
    (&["waits"], "Something waits for a controller that runs", Some(VerdictResult::Waits)),
    (&["unsure"], "Something is not certain", Some(VerdictResult::Unsure)),
    (&["external"], "Something outside the owner graph is deleted", Some(VerdictResult::External)),
    (&["deletes"], "Anything is deleted or changed", Some(VerdictResult::Deletes)),
    (&["never"], "No verdict", None),
];

/// `--fail-on` of doctor
pub(super) const SEVERITIES: &[Choice<Option<Severity>>] =
    &[(&["error"], "", Some(Severity::Error)), (&["warning"], "", Some(Severity::Warning)), (&["never"], "", None)];

/// The shells that get a completion script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShellArg {
    Bash,
    Zsh,
    Fish,
    PowerShell,
}

/// What `completion` takes: a shell whose script it prints, or none to install.
pub(super) const SHELLS: &[Choice<Option<ShellArg>>] = &[
    (&["bash"], "", Some(ShellArg::Bash)),
    (&["zsh"], "", Some(ShellArg::Zsh)),
    (&["fish"], "", Some(ShellArg::Fish)),
    (&["powershell"], "", Some(ShellArg::PowerShell)),
    (&["install"], "Put everything where shells and kubectl find it", None),
];

/// A value as clap's help shows it.
pub(super) fn possible_value(name: &'static str, help: &'static str) -> PossibleValue {
    let value = PossibleValue::new(name);
    if help.is_empty() { value } else { value.help(help) }
}

/// Takes one of these values.
pub(super) fn choice<T: Clone + Send + Sync + 'static>(
    choices: &'static [Choice<T>],
) -> impl TypedValueParser<Value = T> {
    let value = |(names, help, _): &Choice<T>| possible_value(names[0], help).aliases(names[1..].iter().copied());
    PossibleValuesParser::new(choices.iter().map(value)).try_map(|given| {
        let is_it = |(names, ..): &&Choice<T>| names.iter().any(|name| name.eq_ignore_ascii_case(&given));
        choices.iter().find(is_it).map(|(.., meaning)| meaning.clone()).ok_or("no possible value")
    })
}

/// A truth value as Go's `strconv.ParseBool` reads it.
pub(super) fn truth(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// The value of `--allow-incomplete`: a truth value as of a switch, or TYPEs separated by commas.
///
/// # Errors
/// An empty list.
pub(super) fn allow_incomplete(value: &str) -> Result<AllowIncomplete, String> {
    match truth(value.trim()) {
        Some(true) => return Ok(AllowIncomplete::Everything),
        Some(false) => return Ok(AllowIncomplete::Nothing),
        None => {}
    }
    let types: Vec<String> = value.split(',').map(str::trim).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    if types.is_empty() { Err("name at least one TYPE".to_owned()) } else { Ok(AllowIncomplete::These(types)) }
}

/// A format, with what the help says about it.
pub(super) type Offered = (Format, &'static str);

const DOCUMENTS: [Offered; 2] = [(Format::Json, ""), (Format::Yaml, "")];
const PICTURES: [Offered; 4] = [
    (Format::Html, "A picture to walk through in a browser, in one file"),
    (Format::Svg, "A picture for documents and mails"),
    (Format::Mermaid, "A picture that GitHub and GitLab draw in a comment"),
    (Format::Dot, "A picture for Graphviz"),
];
const WIDE: Offered = (Format::Wide, "Text with more columns and sections");
const OF_COLLECTOR: Offered = (Format::CollectorDot, "The collector's debug graph, for Graphviz");
const ONELINE: Offered = (Format::Oneline, "A line for each finding, for grep");
const REMEDIES: Offered = (Format::Remedies, "A shell script of all fixes; read it before you run it");

/// The formats of a command: documents, names, pictures, and other texts.
pub(super) fn of(command: &str) -> Vec<Offered> {
    let (names, draws, others): (&str, bool, &[Offered]) = match command {
        "tree" => ("TYPE/NAME, one per line", true, &[OF_COLLECTOR, WIDE]),
        "plan" | "delete" | "sweep" => ("TYPE/NAME of the objects that would be deleted, one per line", true, &[WIDE]),
        "doctor" => ("TYPE/NAME of the affected objects, one per line", true, &[WIDE, ONELINE, REMEDIES]),
        "explain" => ("", true, &[(Format::Wide, "Text with rules, uids and all remedies")]),
        "watch" => return vec![(Format::Json, "One document per line")],
        "reclaim" => ("TYPE/NAME of what goes, or with --never of what stays, one per line", false, &[WIDE]),
        "resources" => ("Only the names, one per line", false, &[(Format::Wide, "All columns, one line per row")]),
        "restore" => ("", false, &[(Format::Wide, "Text with the names of all objects")]),
        _ => ("", false, &[]),
    };
    let names = (!names.is_empty()).then_some((Format::Name, names));
    let pictures: &[Offered] = if draws { &PICTURES } else { &[] };
    DOCUMENTS.into_iter().chain(names).chain(pictures.iter().chain(others).copied()).collect()
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
pub(super) fn formats(offered: Vec<Offered>) -> impl TypedValueParser<Value = Format> {
    FormatParser(offered)
}

#[derive(Clone)]
struct FormatParser(Vec<Offered>);

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_stay_unread_is_a_truth_value_or_a_list() {
        assert_eq!(allow_incomplete("true"), Ok(AllowIncomplete::Everything));
        assert_eq!(allow_incomplete("false"), Ok(AllowIncomplete::Nothing));
        let types = ["secrets", "PODS", "a.io/v1"].map(str::to_owned).to_vec();
        assert_eq!(allow_incomplete("secrets, PODS,a.io/v1"), Ok(AllowIncomplete::These(types)));
        assert!(allow_incomplete(" , ").is_err());
    }
}
