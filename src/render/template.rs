//! `-o jsonpath` and `-o custom-columns`, on the document that `-o json` prints.

use serde_json::Value;

use gc_core::jsonpath::{CustomColumns, JsonPath, PathError};

use super::escape::visible;

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
