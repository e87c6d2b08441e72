//! What fuzzers call: see [`crate::fuzzing`].

use super::{super::manifests::ManifestFile, FieldSelector, TargetArgs, TargetQuery, parse_labels};

/// Parses a text as everything that names objects.
pub(crate) fn parse(text: &str) {
    if let Ok(selector) = parse_labels(text) {
        selector.matches(|_| None);
        selector.matches(|key| (key.len() > 1).then_some("a"));
    }
    if let Ok(selector) = FieldSelector::parse(text) {
        selector.matches("a", "b");
    }
    let words = || text.split_whitespace().map(str::to_owned).collect();
    drop(TargetQuery::parse(&TargetArgs { targets: words(), ..TargetArgs::default() }));
    drop(TargetQuery::parse(&TargetArgs { targets: words(), all: true, ..TargetArgs::default() }));
    drop(ManifestFile::parse("manifest", text.to_owned()));
}
