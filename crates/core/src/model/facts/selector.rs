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
    /// A selector in kubectl's notation: `a=b,c!=d,!e,f in (g,h)`. `None` if it can't be told.
    pub(crate) fn of_text(text: &str) -> Option<LabelSelector> {
        let mut in_list = false;
        let is_end = |letter: char| {
            in_list = (in_list || letter == '(') && letter != ')';
            letter == ',' && !in_list
        };
        text.split(is_end).map(|part| requirement(part.trim())).collect::<Option<_>>().map(LabelSelector)
    }

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

fn requirement(text: &str) -> Option<LabelRequirement> {
    let split = |sign: &str| text.split_once(sign).map(|(key, value)| (key.trim(), value.trim()));
    let listed = |sign: &str| split(sign).and_then(|(key, values)| Some((key, values.strip_suffix(')')?)));
    let (key, operator, values) = match text.strip_prefix('!') {
        Some(key) => (key.trim(), "DoesNotExist", None),
        None => {
            let not_in = listed(" notin (").or_else(|| split("!=")).map(|(key, values)| (key, "NotIn", Some(values)));
            let is_in = || listed(" in (").or_else(|| split("==")).or_else(|| split("="));
            not_in.or_else(|| is_in().map(|(key, values)| (key, "In", Some(values)))).unwrap_or((text, "Exists", None))
        }
    };
    let values = values.into_iter().flat_map(|values| values.split(',')).map(|value| value.trim().to_owned()).collect();
    let is_key = !key.is_empty() && !key.contains([' ', '(', ')', '<', '>', '=', '!']);
    is_key.then(|| LabelRequirement { key: key.to_owned(), operator: operator.to_owned(), values })
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

    #[test]
    fn selectors_are_read_as_kubectl_writes_them() {
        let labels = |key: &str| [("tier", "a"), ("shard", "one")].into_iter().find(|it| it.0 == key).map(|it| it.1);
        for (text, expected) in [
            ("tier=a", true),
            ("tier==b", false),
            ("tier!=b,shard", true),
            ("!shard", false),
            ("shard in (one, two),tier = a", true),
            ("shard notin (one,two)", false),
            ("other", false),
        ] {
            let selector = LabelSelector::of_text(text).unwrap();
            assert_eq!(selector.matches(labels), expected, "{text}");
        }
        assert!(["tier in a", "tier>3", "", "a,,b"].map(LabelSelector::of_text).iter().all(Option::is_none));
    }
}
