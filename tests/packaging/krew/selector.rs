//! Which platforms a selector matches.

use super::manifest::Selector;

/// All platforms that krew supports.
pub const SUPPORTED: [(&str, &str); 11] = [
    ("windows", "386"),
    ("windows", "amd64"),
    ("windows", "arm64"),
    ("linux", "386"),
    ("linux", "amd64"),
    ("linux", "arm"),
    ("linux", "arm64"),
    ("linux", "ppc64le"),
    ("darwin", "386"),
    ("darwin", "amd64"),
    ("darwin", "arm64"),
];

impl Selector {
    pub fn matches(&self, os: &str, arch: &str) -> bool {
        let value = |key: &str| match key {
            "os" => Some(os),
            "arch" => Some(arch),
            _ => None,
        };
        let labels = self.match_labels.iter().flatten().all(|(key, expected)| value(key) == Some(expected));
        labels
            && self.match_expressions.iter().flatten().all(|expression| {
                let value = value(&expression.key);
                let among = value.is_some_and(|value| expression.values.iter().any(|known| known == value));
                match expression.operator.as_str() {
                    "In" => among,
                    "NotIn" => !among,
                    "Exists" => value.is_some(),
                    "DoesNotExist" => value.is_none(),
                    _ => false,
                }
            })
    }

    pub fn complaint(&self) -> Option<String> {
        if self.match_labels.is_none() && self.match_expressions.is_none() {
            return Some("an empty selector".to_owned());
        }
        if self.match_labels.as_ref().is_some_and(|labels| labels.is_empty()) {
            return Some("matchLabels without labels".to_owned());
        }
        if self.match_expressions.as_ref().is_some_and(|expressions| expressions.is_empty()) {
            return Some("matchExpressions without expressions".to_owned());
        }
        let expressions = self.match_expressions.iter().flatten();
        let keys =
            self.match_labels.iter().flatten().map(|(key, _)| key).chain(expressions.map(|expression| &expression.key));
        if let Some(unknown) = keys.into_iter().find(|key| !["os", "arch"].contains(&key.as_str())) {
            return Some(format!("a selector cannot be by {unknown:?}"));
        }
        let selects_nothing = !SUPPORTED.iter().any(|(os, arch)| self.matches(os, arch));
        selects_nothing.then(|| format!("{self:?} selects no platform that krew supports"))
    }
}
