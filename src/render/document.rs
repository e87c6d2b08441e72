//! Documents as text.

use serde::Serialize;
use serde_json::Value;

use gc_core::jsonpath::{CustomColumns, JsonPath, PathError};

use super::escape::{is_print, visible};

pub use gc_core::document::{API_VERSION, Head, ObjectJson};

/// A document as JSON, indented, ending with a line break.
pub fn json(document: &impl Serialize) -> String {
    // Only a type can make this fail, never a value; the tests write every type of document.
    let mut text =
        serde_json::to_string_pretty(document).expect("documents have text keys and no serializer that fails");
    text.push('\n');
    escaped(text, escape_in_json)
}

/// JSON in one line, with a line break at its end.
pub fn json_line(document: &impl Serialize) -> String {
    // As above.
    let text = serde_json::to_string(document).expect("documents have text keys and no serializer that fails");
    escaped(text + "\n", escape_in_json)
}

fn escape_in_json(c: char, out: &mut String) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        out.push_str(&format!("\\u{unit:04x}"));
    }
}

/// A document whose texts have no characters that a terminal obeys or hides: control characters, marks of the writing
/// direction, byte order marks. Line breaks and spaces stand between texts.
fn escaped(document: String, escape: impl Fn(char, &mut String)) -> String {
    if document.chars().all(is_harmless) {
        return document;
    }
    let mut out = String::with_capacity(document.len() + 64);
    for c in document.chars() {
        if is_harmless(c) { out.push(c) } else { escape(c, &mut out) }
    }
    out
}

fn is_harmless(c: char) -> bool {
    c == '\n' || is_print(c)
}

/// A document as YAML, ending with a line break.
pub fn yaml(document: &impl Serialize) -> String {
    // JSON is YAML, too. The YAML writer rejects some texts, and writes others as they are.
    serde_yaml::to_string(document).ok().filter(|text| text.chars().all(is_harmless)).unwrap_or_else(|| {
        let text =
            serde_json::to_string_pretty(document).expect("documents have text keys and no serializer that fails");
        escaped(text + "\n", |c, out| out.push_str(&format!("\\U{:08x}", u32::from(c))))
    })
}

/// The list of each document whose elements are the rows of custom columns, if no path begins with it.
const ROWS: [(&str, &str); 9] = [
    ("BlastRadius", "rows"),
    ("Codes", "codes"),
    ("Diagnosis", "findings"),
    ("Explanation", "explanations"),
    ("Plan", "outcomes"),
    ("Resources", "resources"),
    ("Restoration", "objects"),
    ("Sweep", "outcomes"),
    ("Tree", "nodes"),
];

/// The least width of a column, and the space to the next (cli-runtime `printers/tabwriter.go`).
const NARROWEST: usize = 6;
const PADDING: usize = 3;

/// A template of `-o`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Template {
    /// `jsonpath`
    Text(JsonPath),
    /// `jsonpath-as-json`
    Json(JsonPath),
    /// `custom-columns`
    Columns(CustomColumns),
}

/// How templates are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateOptions {
    /// Whether a missing field is no error.
    pub allow_missing: bool,
    /// Whether columns have titles.
    pub titles: bool,
}

impl Default for TemplateOptions {
    fn default() -> Self {
        TemplateOptions { allow_missing: true, titles: true }
    }
}

impl Template {
    /// The document as this template writes it.
    ///
    /// # Errors
    /// What can't be evaluated.
    pub fn write(&self, document: &Value, options: TemplateOptions) -> Result<String, PathError> {
        match self {
            Template::Text(path) => path.text(document, options.allow_missing),
            Template::Json(path) => path.json(document, options.allow_missing),
            Template::Columns(columns) => write_columns(columns, document, options),
        }
    }
}

fn write_columns(columns: &CustomColumns, document: &Value, options: TemplateOptions) -> Result<String, PathError> {
    let list = ROWS.iter().find(|(kind, _)| document["kind"] == *kind).map(|(_, list)| *list);
    let rows = list.filter(|list| !columns.begins_with(list)).and_then(|list| document.get(list)?.as_array());
    let rows: &[Value] = rows.map_or(std::slice::from_ref(document), Vec::as_slice);
    let titles = options.titles.then(|| Ok(columns.titles().map(str::to_owned).collect()));
    let lines: Vec<Vec<String>> =
        titles.into_iter().chain(rows.iter().map(|row| columns.row(row))).collect::<Result<_, _>>()?;
    let lines: Vec<Vec<String>> =
        lines.into_iter().map(|cells| cells.iter().map(|cell| visible(cell).into_owned()).collect()).collect();
    let count = lines.first().map_or(0, Vec::len);
    // As kubectl's tabwriter does: characters, however wide they are.
    let count_of = |cell: &String| cell.chars().count();
    let width = |at: usize| lines.iter().map(|cells| count_of(&cells[at]) + PADDING).max().unwrap_or(0).max(NARROWEST);
    let widths: Vec<usize> = (0..count).map(width).collect();
    let mut text = String::new();
    for cells in &lines {
        for (at, cell) in cells.iter().enumerate() {
            text.push_str(cell);
            if at + 1 < count {
                text.push_str(&" ".repeat(widths[at] - count_of(cell)));
            }
        }
        text.push('\n');
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use gc_core::{model::Gap, tree::fixture::World};

    #[test]
    fn objects_are_named_alike_everywhere() {
        let mut world = World::empty();
        let web = world.add("shop", "Deployment/web", &[]);
        let (snapshot, _) = world.build();
        assert_eq!(
            json(&ObjectJson::of(&snapshot, web)),
            "{\n  \"apiVersion\": \"apps/v1\",\n  \"kind\": \"Deployment\",\n  \"namespace\": \"shop\",\n  \"name\": \
                \"web\",\n  \
             \"uid\": \"deployment-web\"\n}\n"
        );
        assert_eq!(
            yaml(&ObjectJson::of(&snapshot, web)),
            "apiVersion: apps/v1\nkind: Deployment\nnamespace: shop\nname: web\nuid: deployment-web\n"
        );
    }

    #[test]
    fn a_head_says_what_is_missing() {
        let gaps = [Gap { resource: "secrets".to_owned(), namespace: None, reason: "forbidden".into() }];
        assert_eq!(
            serde_json::to_value(Head::new("Plan", &gaps, None)).unwrap(),
            json!({"apiVersion": "kubectl-gc/v1", "kind": "Plan", "complete": false,
                   "gaps": [{"resource": "secrets", "reason": "forbidden"}]})
        );
        let server = |version: &str| {
            let version = gc_core::model::ServerVersion::read(version, "", "");
            serde_json::to_value(Head::new("Plan", &[], version.as_ref())).unwrap()
        };
        assert_eq!(server("v1.29.4-eks-1")["server"], json!({"version": "v1.29.4-eks-1", "tested": false}));
        assert_eq!(server("v1.33.0")["server"]["tested"], true);
        assert_eq!(server("v1.33.0")["complete"], true);
    }

    #[test]
    fn yaml_says_what_json_says() {
        let document = json!({
            "texts": ["", "y", "null", "0x1f", "1e3", "a: b", "- c", "two\nlines\n", "\u{0}\u{1b}[31m", "\u{feff}",
                "\u{2028}", "日本 🦀", "\u{9b}31m", "\u{202e}", "\u{e0001}"],
            "number": -1, "nothing": null, "list": [], "map": {},
        });
        let read: Value = serde_yaml::from_str(&yaml(&document)).unwrap();
        assert_eq!(read, document);
        for text in document["texts"].as_array().unwrap() {
            let written = [json(text), json_line(text), yaml(text)];
            let [one, two, three] = [
                serde_json::from_str(&written[0]).ok(),
                serde_json::from_str(&written[1]).ok(),
                serde_yaml::from_str(&written[2]).ok(),
            ];
            let as_text: [Option<Value>; 3] = [one, two, three];
            assert_eq!(as_text, [Some(text.clone()), Some(text.clone()), Some(text.clone())], "{written:?}");
            assert!(written.iter().all(|text| text.chars().all(is_harmless)), "{written:?}");
        }
    }
}

#[cfg(test)]
mod template_tests {
    use serde_json::json;

    use super::*;

    fn columns(spec: &str, titles: bool) -> String {
        let document = json!({
            "kind": "Tree",
            "nodes": [{"name": "web", "kind": "Deployment"}, {"name": "web-1", "kind": "Pod", "ready": "1/1"}],
        });
        let template = Template::Columns(CustomColumns::parse(spec).unwrap());
        template.write(&document, TemplateOptions { titles, ..TemplateOptions::default() }).unwrap()
    }

    #[test]
    fn each_element_is_a_row() {
        let all = "N       KIND         READY\nweb     Deployment   <none>\nweb-1   Pod          1/1\n";
        assert_eq!(columns("N:.name,KIND:.kind,READY:.ready", true), all);
        assert_eq!(columns("N:.name", false), "web\nweb-1\n");
    }

    #[test]
    fn the_document_is_the_row_if_a_path_begins_with_its_list() {
        assert_eq!(columns("NAMES:.nodes[*].name,KIND:.kind", false), "web,web-1   Tree\n");
    }
}
