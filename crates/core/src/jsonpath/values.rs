//! Values as templates print and compare them.

use std::{borrow::Cow, cmp::Ordering};

use serde::Serialize;
use serde_json::{Value, ser::PrettyFormatter};

use crate::quantity::quantity;

use super::parse::PathError;

/// A value of a document, or one that only a template can make.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item<'v> {
    Json(&'v Value),
    Text(Cow<'v, str>),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// One byte of a text: `*` and `..` take texts apart, as in kubectl.
    Byte(u8),
    /// What a range without any element is applied to.
    Nothing,
}

/// Writes a text as it is, and every other value as JSON.
pub(super) fn print(item: &Item<'_>, text: &mut String) {
    match item {
        Item::Json(Value::String(own)) => text.push_str(own),
        Item::Json(other) => text.push_str(&other.to_string()),
        Item::Text(own) => text.push_str(own),
        other => text.push_str(&value(other).to_string()),
    }
}

/// A JSON array of results, as `jsonpath-as-json` prints it.
pub(super) fn array(items: &[Item<'_>]) -> String {
    let values: Vec<Value> = items.iter().map(value).collect();
    let mut bytes = Vec::new();
    let formatter = PrettyFormatter::with_indent(b"    ");
    let written = values.serialize(&mut serde_json::Serializer::with_formatter(&mut bytes, formatter));
    debug_assert!(written.is_ok(), "a value is always JSON");
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A result as JSON.
pub(super) fn value(item: &Item<'_>) -> Value {
    match item {
        Item::Json(value) => (*value).clone(),
        Item::Text(text) => Value::String(text.clone().into_owned()),
        Item::Int(number) => Value::from(*number),
        Item::Float(number) => Value::from(*number),
        Item::Bool(value) => Value::Bool(*value),
        Item::Byte(byte) => Value::from(*byte),
        Item::Nothing => Value::Null,
    }
}

/// The kinds that Go's templates compare (`template/funcs.go: basicKind`).
enum Basic<'v> {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(Cow<'v, str>),
}

fn basic<'v>(item: &'v Item<'_>) -> Result<Basic<'v>, PathError> {
    Ok(match item {
        Item::Json(Value::Bool(value)) => Basic::Bool(*value),
        Item::Json(Value::Number(number)) => match number.as_i64() {
            Some(whole) => Basic::Int(whole.into()),
            None => Basic::Float(number.as_f64().unwrap_or_default()),
        },
        Item::Json(Value::String(text)) => Basic::Text(Cow::Borrowed(text)),
        Item::Text(text) => Basic::Text(Cow::Borrowed(text)),
        Item::Int(number) => Basic::Int((*number).into()),
        Item::Byte(byte) => Basic::Int((*byte).into()),
        Item::Float(number) => Basic::Float(*number),
        Item::Bool(value) => Basic::Bool(*value),
        Item::Json(Value::Null | Value::Array(_) | Value::Object(_)) | Item::Nothing => {
            return Err(PathError::new("invalid type for comparison"));
        }
    })
}

/// Whether `left operator right`, as in Go's templates.
pub(super) fn compare(left: &Item<'_>, right: &Item<'_>, operator: &str) -> Result<bool, PathError> {
    if !["<", ">", "==", "!=", "<=", ">="].contains(&operator) {
        return Err(PathError::new(format!("unrecognized filter operator {operator}")));
    }
    let order = match (basic(left)?, basic(right)?) {
        (Basic::Bool(left), Basic::Bool(right)) if matches!(operator, "==" | "!=") => Some(left.cmp(&right)),
        (Basic::Bool(_), Basic::Bool(_)) => return Err(PathError::new("invalid type for comparison")),
        (Basic::Int(left), Basic::Int(right)) => Some(left.cmp(&right)),
        (Basic::Float(left), Basic::Float(right)) => left.partial_cmp(&right),
        (Basic::Text(left), Basic::Text(right)) => Some(left.cmp(&right)),
        _ => return Err(PathError::new("incompatible types for comparison")),
    };
    Ok(match operator {
        "<" => order == Some(Ordering::Less),
        ">" => order == Some(Ordering::Greater),
        "==" => order == Some(Ordering::Equal),
        "!=" => order != Some(Ordering::Equal),
        "<=" => order.is_some_and(Ordering::is_le),
        _ => order.is_some_and(Ordering::is_ge),
    })
}

/// The name of a value's type, for messages.
pub(super) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::Null => "null",
    }
}

/// What sorts a row: what is missing comes first. kubectl compares two texts as quantities if both are some, else as
/// texts, which is no order if only some of them are; here, quantities come before other texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SortKey {
    Missing,
    Number(i64),
    /// In billionths.
    Quantity(i128),
    Text(String),
}

impl SortKey {
    /// # Errors
    /// Values of this type have no order.
    pub fn of(value: Option<&Value>) -> Result<Self, PathError> {
        match value {
            None | Some(Value::Null) => Ok(SortKey::Missing),
            Some(Value::String(text)) => {
                Ok(quantity(text).map_or_else(|| SortKey::Text(text.clone()), SortKey::Quantity))
            }
            Some(other) => match other.as_i64() {
                Some(number) => Ok(SortKey::Number(number)),
                None => Err(PathError::new(format!("unsortable type: {}", type_of(other)))),
            },
        }
    }

    /// The position of each key in their order; equal keys have equal positions.
    pub fn ranks(keys: &[SortKey]) -> Vec<u32> {
        let mut order: Vec<usize> = (0..keys.len()).collect();
        order.sort_by(|a, b| keys[*a].cmp(&keys[*b]));
        let mut ranks = vec![0; keys.len()];
        let mut rank = 0;
        for (position, at) in order.iter().enumerate() {
            if position > 0 && keys[order[position - 1]].cmp(&keys[*at]) != Ordering::Equal {
                rank += 1;
            }
            ranks[*at] = rank;
        }
        ranks
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sorted(values: &[Value]) -> Vec<&Value> {
        let keys: Vec<SortKey> = values.iter().map(|value| SortKey::of(Some(value)).unwrap()).collect();
        let ranks = SortKey::ranks(&keys);
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by_key(|at| ranks[*at]);
        order.into_iter().map(|at| &values[at]).collect()
    }

    #[test]
    fn texts_that_are_quantities_count_as_such() {
        assert_eq!(sorted(&[json!("10"), json!("9"), json!("1Ki")]), ["9", "10", "1Ki"]);
        assert_eq!(sorted(&[json!("web-10"), json!("web-9"), json!("B")]), ["B", "web-10", "web-9"]);
        assert_eq!(sorted(&[json!("b"), json!(null), json!("a")]), [&json!(null), &json!("a"), &json!("b")]);
        assert_eq!(sorted(&[json!(30), json!(4)]), [4, 30]);
    }

    #[test]
    fn equal_keys_have_equal_ranks() {
        let keys = ["b", "a", "b", "1", "1.0"].map(|text| SortKey::of(Some(&json!(text))).unwrap());
        assert_eq!(SortKey::ranks(&keys), [2, 1, 2, 0, 0]);
    }

    #[test]
    fn what_has_no_order_is_refused() {
        for (value, name) in
            [(json!({}), "object"), (json!([]), "array"), (json!(true), "boolean"), (json!(1.5), "number")]
        {
            let error = SortKey::of(Some(&value)).unwrap_err();
            assert_eq!(error.to_string(), format!("unsortable type: {name}"));
        }
    }
}
