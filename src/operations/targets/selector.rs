//! The values of `-l`, and field selectors, in the grammar of apimachinery's `fields.ParseSelector`.

use std::fmt;

use gc_core::model::facts::LabelSelector;

/// An invalid selector, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{flag} {text:?}: {message}, at character {position}")]
pub struct SelectorError {
    /// The selector's flag.
    pub flag: &'static str,
    /// The whole selector.
    pub text: String,
    /// The position in characters, from 1.
    pub position: usize,
    /// What is wrong.
    pub message: String,
}

impl SelectorError {
    pub(super) fn at(flag: &'static str, text: &str, byte: usize, message: String) -> Self {
        let position = 1 + text.char_indices().take_while(|(index, _)| *index < byte).count();
        SelectorError { flag, text: text.to_owned(), position, message }
    }
}

/// Parses the value of `-l`.
pub fn parse_labels(text: &str) -> Result<LabelSelector, SelectorError> {
    LabelSelector::parse(text).map_err(|fault| SelectorError::at("-l", text, fault.byte, fault.message))
}

const NAME: &str = "metadata.name";
const NAMESPACE: &str = "metadata.namespace";

/// The value of `--field-selector`: all terms must match.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSelector {
    terms: Vec<Term>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Term {
    field: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Parses `field=value,field!=value`, in which a backslash escapes `,`, `=` and itself.
    pub fn parse(text: &str) -> Result<FieldSelector, SelectorError> {
        let mut terms = Vec::new();
        let mut start = 0;
        while let Some(rest) = text.get(start..) {
            let end = start + term_length(rest);
            // Empty terms are ignored, as in kubectl.
            if !text[start..end].is_empty() {
                terms.push(term(text, start, end)?);
            }
            start = end + 1;
        }
        Ok(FieldSelector { terms })
    }

    /// Whether metadata alone decides.
    pub fn local(&self) -> bool {
        self.terms.iter().all(|term| [NAME, NAMESPACE].contains(&term.field.as_str()))
    }

    /// Whether an object matches. Only meaningful if the selector is [`FieldSelector::local`].
    pub fn matches(&self, namespace: &str, name: &str) -> bool {
        self.terms.iter().all(|term| {
            let value = if term.field == NAME { name } else { namespace };
            (value == term.value) == term.equal
        })
    }
}

/// The length up to the next comma that isn't escaped.
fn term_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            ',' => return index,
            _ => {}
        }
    }
    text.len()
}

fn term(text: &str, start: usize, end: usize) -> Result<Term, SelectorError> {
    let part = &text[start..end];
    let fail = |at: usize, message: String| SelectorError::at("--field-selector", text, start + at, message);
    let operator = part.char_indices().find_map(|(index, _)| {
        let rest = &part[index..];
        ["!=", "==", "="].into_iter().find(|operator| rest.starts_with(operator)).map(|operator| (index, operator))
    });
    let Some((index, operator)) = operator else {
        return Err(fail(0, format!("{part:?} has none of =, ==, !=")));
    };
    let field = part[..index].trim();
    if field.is_empty() {
        return Err(fail(index, format!("expected a field before {operator}")));
    }
    let mut value = String::new();
    let value_start = index + operator.len();
    let mut chars = part[value_start..].char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => match chars.next() {
                Some((_, escaped @ ('\\' | ',' | '='))) => value.push(escaped),
                _ => return Err(fail(value_start + at, r"a backslash escapes only \ , and =".to_owned())),
            },
            '=' => return Err(fail(value_start + at, r"= in a value is written \=".to_owned())),
            _ => value.push(char),
        }
    }
    Ok(Term { field: field.to_owned(), equal: operator != "!=", value })
}

impl fmt::Display for FieldSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, Term { field, equal, value }) in self.terms.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            let value = value.replace('\\', r"\\").replace(',', r"\,").replace('=', r"\=");
            write!(f, "{comma}{field}{}{value}", if *equal { "=" } else { "!=" })?;
        }
        Ok(())
    }
}
