//! Label selectors of admission webhooks, policies and workloads.

use serde::{Deserialize, Serialize};

/// A LabelSelector: all of its requirements must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelSelector(pub Vec<LabelRequirement>);

/// One requirement; `matchLabels` become `In` with one value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct LabelRequirement {
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`.
    pub operator: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
}

impl LabelSelector {
    /// Whether labels match (apimachinery `labels/selector.go: Requirement.Matches`): an absent label matches `NotIn`.
    pub fn matches<'t>(&self, label: impl Fn(&str) -> Option<&'t str>) -> bool {
        self.0.iter().all(|requirement| {
            let value = label(&requirement.key);
            let is_listed = value.is_some_and(|value| requirement.values.iter().any(|one| one == value));
            match requirement.operator.as_str() {
                "In" => is_listed,
                "NotIn" => !is_listed,
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirements_are_those_of_the_api_server() {
        let matches = |operator: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            let requirement = LabelRequirement { key: "tier".to_owned(), operator: operator.to_owned(), values };
            let selector = LabelSelector(vec![requirement]);
            [Some("a"), None].map(|value| selector.matches(|key| value.filter(|_| key == "tier")))
        };
        assert_eq!(matches("In", &["a", "b"]), [true, false]);
        assert_eq!(matches("In", &["b"]), [false, false]);
        assert_eq!(matches("NotIn", &["a"]), [false, true]);
        assert_eq!(matches("NotIn", &["b"]), [true, true]);
        assert_eq!(matches("Exists", &[]), [true, false]);
        assert_eq!(matches("DoesNotExist", &[]), [false, true]);
        assert!(LabelSelector::default().matches(|_| None), "an empty selector matches everything");
    }
}
