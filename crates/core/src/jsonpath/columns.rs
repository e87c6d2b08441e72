//! `custom-columns` (kubectl `pkg/cmd/get/customcolumn.go`).

use serde_json::Value;

use super::{JsonPath, PathError, values};

/// Titles with the paths below them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomColumns {
    columns: Vec<Column>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Column {
    title: String,
    /// As given, without braces and the dot before the first field.
    field: String,
    path: JsonPath,
}

impl CustomColumns {
    /// Reads `TITLE:path,…`.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(spec: &str) -> Result<Self, PathError> {
        if spec.is_empty() {
            return Err(PathError::new("custom-columns format specified but no custom columns given"));
        }
        let column = |part: &str| match part.split_once(':') {
            Some((title, path)) => Column::of(title, path),
            None => Err(PathError::new(format!(
                "unexpected custom-columns spec: {part}, expected <header>:<json-path-expr>"
            ))),
        };
        Ok(CustomColumns { columns: spec.split(',').map(column).collect::<Result<_, _>>()? })
    }

    /// Reads a file of two lines: titles, and paths below them.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_lines(text: &str) -> Result<Self, PathError> {
        let mut lines = text.lines();
        let mut words = |what: &str| -> Result<Vec<&str>, PathError> {
            let line = lines.next().ok_or_else(|| {
                PathError::new(format!(
                    "invalid template, missing {what} line. Expected format is one line of space separated headers, \
                     one line of space separated column specs."
                ))
            })?;
            Ok(line.split_whitespace().collect())
        };
        let (titles, paths) = (words("header")?, words("spec")?);
        if titles.len() != paths.len() {
            return Err(PathError::new(format!(
                "number of headers ({}) and field specifications ({}) don't match",
                titles.len(),
                paths.len()
            )));
        }
        let columns = titles.iter().zip(paths).map(|(title, path)| Column::of(title, path));
        Ok(CustomColumns { columns: columns.collect::<Result<_, _>>()? })
    }

    pub fn titles(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.title.as_str())
    }

    /// Whether a path begins with this field.
    pub fn begins_with(&self, field: &str) -> bool {
        let begins = |column: &Column| {
            column.field.strip_prefix(field).is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
        };
        self.columns.iter().any(begins)
    }

    /// The cells of a row.
    ///
    /// # Errors
    /// A path that can't be evaluated.
    pub fn row(&self, of: &Value) -> Result<Vec<String>, PathError> {
        let cell = |column: &Column| {
            let results = column.path.results(of, true)?;
            let mut texts: Vec<String> = Vec::new();
            if results.first().is_none_or(Vec::is_empty) {
                texts.push("<none>".to_owned());
            }
            for item in results.iter().flatten() {
                let mut text = String::new();
                values::print(item, &mut text);
                texts.push(text);
            }
            Ok(texts.join(","))
        };
        self.columns.iter().map(cell).collect()
    }
}

impl Column {
    fn of(title: &str, path: &str) -> Result<Self, PathError> {
        let template = relaxed(path)?;
        let field = template.strip_prefix("{.").and_then(|path| path.strip_suffix('}')).unwrap_or_default();
        Ok(Column { title: title.to_owned(), field: field.to_owned(), path: JsonPath::parse(&template)? })
    }
}

/// `RelaxedJSONPathExpression`: a path with or without braces and the dot before the first field.
///
/// # Errors
/// What is wrong with it.
pub fn relaxed(path: &str) -> Result<String, PathError> {
    if path.is_empty() {
        return Ok(String::new());
    }
    let inner = path.strip_prefix('{').and_then(|path| path.strip_suffix('}')).unwrap_or(path);
    if inner.is_empty() || inner.contains(['{', '}']) {
        return Err(PathError::new(
            "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or \
             '{.name1.name2}'",
        ));
    }
    let field = inner.strip_prefix('.').filter(|field| !field.is_empty()).unwrap_or(inner);
    Ok(format!("{{.{field}}}"))
}
