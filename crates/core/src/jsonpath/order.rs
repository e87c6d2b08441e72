//! The order of `--sort-by` (kubectl `pkg/cmd/get/sorter.go: isLess`).

use std::cmp::Ordering;

use serde_json::Value;

use super::{parse::PathError, values::type_of};
use crate::quantity::quantity;

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
