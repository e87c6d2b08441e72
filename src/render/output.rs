//! All that commands print: one trait, and one type for the formats; and the first line, the origin of the data.

use std::io::{self, Write};

use serde::Serialize;

use gc_core::model::{
    Gap, NOT_IN_THE_DUMP, Origin, Snapshot,
    gaps::{each_once, in_words, names_in_words},
};

pub use super::states::TextOptions;
use super::{
    document::{self, Template},
    escape::visible,
    picture::{ObjectCommands, Picture, PictureOptions, graphs, html, svg},
    states::Style,
};

/// A format of `-o`. Each command offers some of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The default, without `-o`.
    #[default]
    Text,
    /// Text with more columns.
    Wide,
    Json,
    Yaml,
    /// `kind.group/name`, one per line.
    Name,
    /// A picture for Graphviz.
    Dot,
    /// The collector's own debug graph, for Graphviz.
    CollectorDot,
    /// A picture in one file, for a browser.
    Html,
    /// A picture without scripts.
    Svg,
    /// A picture that GitHub draws.
    Mermaid,
    /// A shell script.
    Remedies,
    /// A line for each finding.
    Oneline,
    /// What a template makes of the document. It is part of the command line, and lives as long as the process.
    Template(&'static Template),
}

impl Format {
    /// As `-o` takes them, but for templates.
    pub const NAMED: [(Self, &str); 11] = [
        (Self::Json, "json"),
        (Self::Yaml, "yaml"),
        (Self::Name, "name"),
        (Self::Html, "html"),
        (Self::Svg, "svg"),
        (Self::Mermaid, "mermaid"),
        (Self::Dot, "dot"),
        (Self::CollectorDot, "collector-dot"),
        (Self::Wide, "wide"),
        (Self::Remedies, "remedies"),
        (Self::Oneline, "oneline"),
    ];

    /// As `-o` takes it; empty for [`Format::Text`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Template(Template::Text(_)) => "jsonpath",
            Self::Template(Template::Json(_)) => "jsonpath-as-json",
            Self::Template(Template::Columns(_)) => "custom-columns",
            _ => Self::NAMED.iter().find(|(format, _)| *format == self).map_or("", |(_, name)| name),
        }
    }

    /// Whether it is for people: with a header, colours and the width of the terminal.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::Wide)
    }

    /// Whether it draws: it has no words of its own, and is made of a [`Picture`].
    pub const fn draws(self) -> bool {
        matches!(self, Self::Html | Self::Svg | Self::Mermaid | Self::Dot)
    }

    /// Whether its pictures fold what the text folds. A page folds by itself.
    pub const fn folds(self) -> bool {
        self.draws() && !matches!(self, Self::Html)
    }
}

/// The output of a command, in each of its formats.
pub trait Output {
    /// The document for JSON and YAML; `docs/schema/` describes it.
    fn document(&self) -> impl Serialize;

    /// The text below the header.
    ///
    /// # Errors
    /// The writer's.
    fn write(&self, options: &TextOptions<'_>, out: &mut dyn Write) -> io::Result<()>;

    /// Writes the verdict alone, which stands at the end, too, where the text is longer than the screen.
    ///
    /// # Errors
    /// The writer's.
    fn write_verdict(&self, _options: &TextOptions<'_>, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// What a picture shows; `None` if the command has none.
    fn picture(&self, _options: &PictureOptions<'_>) -> Option<Picture> {
        None
    }

    /// The names of what it is about, for `-o name`; `None` if the command has none.
    fn names(&self) -> Option<Vec<String>> {
        None
    }

    /// Any other format; `None` if the command doesn't offer it.
    fn other(&self, _format: Format) -> Option<String> {
        None
    }
}

/// The output in one format. Text begins with the heading, and a picture names it as its source.
///
/// # Errors
/// The command doesn't offer the format, or a template can't be applied (`InvalidInput`).
pub fn print(
    output: &impl Output,
    format: Format,
    options: &TextOptions<'_>,
    commands: &ObjectCommands,
    heading: impl FnOnce() -> Vec<u8>,
) -> io::Result<Vec<u8>> {
    match format {
        Format::Json => Ok(document::json(&output.document()).into_bytes()),
        Format::Yaml => Ok(document::yaml(&output.document()).into_bytes()),
        Format::Template(template) => {
            let document = serde_json::to_value(output.document())?;
            let written = template.write(&document, options.templates);
            written.map(String::into_bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
        }
        Format::Text | Format::Wide => {
            let mut out = heading();
            output.write(&TextOptions { wide: format == Format::Wide, ..*options }, &mut out)?;
            Ok(out)
        }
        other => {
            let missing =
                || io::Error::new(io::ErrorKind::Unsupported, format!("there is no -o {} here", other.name()));
            // One per line, whatever a name contains.
            let names = || Some(output.names()?.iter().map(|name| format!("{}\n", visible(name))).collect());
            if let Some(text) = if other == Format::Name { names() } else { output.other(other) } {
                return Ok(text.into_bytes());
            }
            let fold = options.fold && other.folds();
            let found = output.picture(&PictureOptions { fold, now: options.now, commands });
            let picture = found.filter(|_| other.draws()).ok_or_else(missing)?;
            let mut text = heading();
            let source = String::from_utf8_lossy(&text).split_whitespace().collect::<Vec<_>>().join(" ");
            let picture = Picture { source, ..picture }.made_visible();
            if other == Format::Html {
                let plain = Style::default();
                output.write(&TextOptions { width: None, style: &plain, ..*options }, &mut text)?;
            }
            Ok(drawn(&picture, other, &String::from_utf8_lossy(&text)).into_bytes())
        }
    }
}

/// A picture in a format that draws; empty in any other. `text` says the same.
fn drawn(picture: &Picture, format: Format, text: &str) -> String {
    let view = picture.views.get(picture.shown);
    match (format, view) {
        (Format::Html, _) => html::write(picture, text),
        (Format::Svg, Some(view)) => svg::write(picture, view),
        (Format::Mermaid, Some(view)) => graphs::mermaid(picture, view),
        (Format::Dot, Some(view)) => graphs::dot(picture, view),
        _ => String::new(),
    }
}

/// `Context prod-eu (api.prod-eu:6443), namespace shop.`, or the dump that was read. `from` names the files, if any.
pub fn header(snapshot: &Snapshot, namespace: Option<&str>, from: &[String]) -> String {
    let origin = origin(snapshot, from);
    match namespace {
        Some(namespace) => visible(&format!("{origin}, namespace {namespace}.")).into_owned(),
        None => visible(&format!("{origin}, all namespaces.")).into_owned(),
    }
}

/// The same before a question, which names its objects: without a namespace, only the cluster.
pub fn place(snapshot: &Snapshot, namespace: Option<&str>) -> String {
    match namespace {
        Some(_) => header(snapshot, namespace, &[]),
        None => visible(&format!("{}.", origin(snapshot, &[]))).into_owned(),
    }
}

/// `Context prod-eu (api.prod-eu:6443)`
fn origin(snapshot: &Snapshot, from: &[String]) -> String {
    let origin = match &snapshot.origin {
        Origin::Cluster { context, server } if context.is_empty() => format!("Server {server}"),
        Origin::Cluster { context, server } => format!("Context {context} ({server})"),
        Origin::Dump { paths } => format!("Dump {}", paths.join(", ")),
    };
    // A snapshot file records the cluster that it was taken from.
    match &snapshot.origin {
        Origin::Cluster { .. } if !from.is_empty() => {
            format!("Snapshot {} of {}", from.join(", "), lower_first(&origin))
        }
        _ => origin,
    }
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The line that names the gaps, grouped by reason; `None` if there are no gaps.
pub fn describe_gaps(gaps: &[Gap]) -> Option<String> {
    let (objects, lists): (Vec<Gap>, Vec<Gap>) =
        each_once(gaps).into_iter().partition(|gap| gap.forbidden_objects().is_some());
    let (missing, lists): (Vec<Gap>, Vec<Gap>) =
        lists.into_iter().partition(|gap| gap.reason.as_str() == NOT_IN_THE_DUMP);
    let said = |what: &str, gaps: &[Gap]| (!gaps.is_empty()).then(|| format!("{what}: {}. ", in_words(gaps)));
    let lists = said("Could not list", &lists);
    let objects = said("Could not get", &objects);
    let mut all: String = lists.into_iter().chain(objects).collect();
    if !missing.is_empty() {
        let names = names_in_words(&missing);
        all += &format!(
            "Not in the dump, so they may exist: {names}. kubectl gc snapshot writes a whole dump; --assume-complete \
             says that this one is whole. "
        );
    }
    (!all.is_empty()).then(|| format!("{all}Results that depend on these are marked \"not certain\"."))
}

/// The line that names the resources whose tables the server did not print; `None` if there are none.
pub fn describe_statuses(gaps: &[Gap]) -> Option<String> {
    (!gaps.is_empty()).then(|| format!("READY and STATUS could not be read: {}.", in_words(gaps)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{document::TemplateOptions, tree::TreeView};
    use gc_core::tree::{Tree, fixture::shop};

    fn tree_in(format: Format) -> io::Result<String> {
        let (snapshot, graph) = shop();
        let tree = Tree::of_scope(&snapshot, &graph, None, None);
        let view = TreeView::new(&snapshot, &graph, &tree);
        let options = TextOptions {
            width: None,
            fold: true,
            wide: false,
            now: None,
            templates: TemplateOptions::default(),
            style: &Style::default(),
        };
        let commands = ObjectCommands::of_cluster(&gc_core::command_line::PLAIN);
        Ok(String::from_utf8(print(&view, format, &options, &commands, || b"heading\n".to_vec())?).unwrap())
    }

    #[test]
    fn json_and_yaml_say_the_same() {
        let json: serde_json::Value = serde_json::from_str(&tree_in(Format::Json).unwrap()).unwrap();
        let yaml: serde_json::Value = serde_yaml::from_str(&tree_in(Format::Yaml).unwrap()).unwrap();
        assert_eq!(json, yaml);
        assert!(tree_in(Format::Json).unwrap().ends_with("}\n"));
    }

    #[test]
    fn only_text_has_a_heading() {
        assert!(tree_in(Format::Text).unwrap().starts_with("heading\nNode/n1\n"));
        assert!(tree_in(Format::Wide).unwrap().starts_with("heading\nOBJECT "));
        assert!(tree_in(Format::Name).unwrap().starts_with("node/n1\n"));
        assert!(tree_in(Format::CollectorDot).unwrap().starts_with("strict digraph full {\n"));
    }

    #[test]
    fn a_format_that_an_output_lacks_is_an_error() {
        assert_eq!(tree_in(Format::Remedies).unwrap_err().to_string(), "there is no -o remedies here");
    }
}

#[cfg(test)]
mod header_tests {
    use super::*;

    fn gap(resource: &str, namespace: Option<&str>, reason: &str) -> Gap {
        Gap { resource: resource.to_owned(), namespace: namespace.map(str::to_owned), reason: reason.into() }
    }

    #[test]
    fn gaps_of_one_reason_are_told_together() {
        assert_eq!(describe_gaps(&[]), None);
        let gaps = [
            gap("secrets", None, "forbidden"),
            gap("metrics.k8s.io/v1beta1", None, "503 Service Unavailable"),
            gap("pods", Some("shop"), "forbidden"),
            gap("nodes", None, "n: forbidden"),
            gap("secrets", Some("shop"), "s: forbidden"),
        ];
        assert_eq!(
            describe_gaps(&gaps).unwrap(),
            "Could not list: secrets, pods in namespace shop (forbidden); metrics.k8s.io/v1beta1 (503 Service \
             Unavailable). Could not get: nodes (n: forbidden). Results that depend on these are marked \"not \
             certain\"."
        );
    }

    #[test]
    fn many_gaps_are_counted() {
        let many: Vec<Gap> = (0..30).map(|number| gap(&format!("r{number}"), None, "forbidden")).collect();
        assert!(
            describe_gaps(&many)
                .unwrap()
                .starts_with("Could not list: r0, r1, r2, r3, r4, r5 and 24 more (forbidden). ")
        );
        let reasons: Vec<Gap> = (0..30).map(|number| gap("pods", None, &format!("error {number}"))).collect();
        assert!(describe_gaps(&reasons).unwrap().contains("; pods (error 3); and 26 more (-o json lists them). "));
    }
}
