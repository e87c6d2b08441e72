//! kubectl's JSONPath (client-go `util/jsonpath`): templates with `{range}` and `{end}`, filters, unions, slices,
//! recursive descent and quoted text. No other library has this dialect: where it deviates from the standards, so does
//! this. There are two differences. The fields of an object come in the order of their names, in kubectl in a random
//! order. All values but texts are written as JSON, also where kubectl writes them as Go does (`map[a:b]`, `1e+21`).
//!
//! Nothing here recurses on data, and the work that a template may cause is limited.

mod columns;
mod evaluate;
mod parse;
#[cfg(test)]
mod tests;
mod values;

use serde_json::Value;

pub use columns::{CustomColumns, relaxed};
pub use parse::PathError;
pub use values::SortKey;

use evaluate::Evaluation;
use parse::{Node, parse};
use values::Item;

/// A parsed template.
#[derive(Clone, Debug, PartialEq)]
pub struct JsonPath {
    actions: Vec<Node>,
}

// Numbers in a template come from text: none of them is NaN.
impl Eq for JsonPath {}

impl JsonPath {
    /// # Errors
    /// What is wrong with it, as kubectl says it.
    pub fn parse(template: &str) -> Result<Self, PathError> {
        Ok(JsonPath { actions: parse(template)? })
    }

    /// The document as this template writes it.
    ///
    /// # Errors
    /// What can't be evaluated; a missing field only without `allow_missing`.
    pub fn text(&self, document: &Value, allow_missing: bool) -> Result<String, PathError> {
        let mut text = String::new();
        for results in self.results(document, allow_missing)? {
            for (index, item) in results.iter().enumerate() {
                if index > 0 {
                    text.push(' ');
                }
                values::print(item, &mut text);
            }
        }
        Ok(text)
    }

    /// The same with the results of each action as a JSON array.
    ///
    /// # Errors
    /// As [`JsonPath::text`].
    pub fn json(&self, document: &Value, allow_missing: bool) -> Result<String, PathError> {
        let mut text = String::new();
        for results in self.results(document, allow_missing)? {
            text += &values::array(&results);
            text.push('\n');
        }
        Ok(text)
    }

    /// The first value that it finds.
    ///
    /// # Errors
    /// As [`JsonPath::text`]; nothing has to be found.
    pub fn first(&self, document: &Value) -> Result<Option<Value>, PathError> {
        let results = self.results(document, true)?;
        Ok(results.into_iter().flatten().next().map(|item| values::value(&item)))
    }

    /// The results of each action.
    fn results<'v>(&self, document: &'v Value, allow_missing: bool) -> Result<Vec<Vec<Item<'v>>>, PathError> {
        Evaluation::new(&self.actions, allow_missing, document).run()
    }
}
