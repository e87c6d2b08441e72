//! What could not be read. A gap is named in every output; it never means "absent" (R10.2).

use serde::{Deserialize, Serialize};

/// What a gap names that may hide objects of any kind.
pub const ANY_RESOURCE: &str = "*";

/// A list, a discovery document or an object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gap {
    /// The resource as `plural.group`, or `group/version` if even the resource is unknown.
    pub resource: String,
    /// The namespace, if the gap is limited to one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Why, in words: "forbidden", "503 Service Unavailable: …", "not in the dump".
    pub reason: GapReason,
}

/// Why a listed object can't be read.
pub const GONE: &str = "deleted since it was listed";

impl Gap {
    /// Whether it is only about objects that are gone since they were listed.
    pub fn is_of_gone(&self) -> bool {
        self.reason.as_str().ends_with(GONE)
    }

    /// The names of single objects that the reader may not get; `None` for a list, or another reason.
    pub fn forbidden_objects(&self) -> Option<&str> {
        self.reason.as_str().strip_suffix(": forbidden")
    }

    /// What could not be read, without the reason: `secrets`, `pods in namespace shop`.
    pub fn place(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{} in namespace {namespace}", self.resource),
            None => self.resource.clone(),
        }
    }

    /// Whether it is a group version that discovery could not describe: its resources are unknown.
    pub fn is_undiscovered(&self) -> bool {
        self.resource.contains('/')
    }

    /// Whether it is an undiscovered group that only serves metrics: nothing in it can be deleted. Metrics servers are
    /// often unavailable.
    pub fn serves_only_metrics(&self) -> bool {
        is_metrics(self.resource.split('/').next().unwrap_or_default())
    }
}

/// Whether a group serves metrics.
pub fn is_metrics(group: &str) -> bool {
    ["metrics.k8s.io", "custom.metrics.k8s.io", "external.metrics.k8s.io"].contains(&group)
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({})", self.place(), self.reason)
    }
}

/// Why something could not be read: the error message, and what it implies. The message is parsed once, on creation;
/// files contain only the message.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub struct GapReason {
    text: String,
    kind: GapKind,
}

/// What a reason means for clients other than the reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GapKind {
    /// The reader may not read it; others may.
    Forbidden,
    /// The API server reports a failing conversion webhook: "conversion webhook for acme.io/v1, Kind=Shop failed". No
    /// client can read the resource.
    Conversion,
    /// The API server reports an object in its storage that it can't decode (S19). No client can list the resource.
    Undecodable,
    /// Anything else.
    Other,
}

impl GapReason {
    /// What the reason implies.
    pub fn kind(&self) -> GapKind {
        self.kind
    }

    /// The message.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether no client can read it, not even the API server's own controllers.
    pub fn blocks_all(&self) -> bool {
        matches!(self.kind, GapKind::Conversion | GapKind::Undecodable)
    }
}

impl GapKind {
    /// What a message of the API server shows.
    pub fn of(text: &str) -> Self {
        if text.contains("conversion webhook for ") {
            GapKind::Conversion
        } else if is_decoders_complaint(text) {
            GapKind::Undecodable
        } else if text.contains("forbidden") {
            GapKind::Forbidden
        } else {
            GapKind::Other
        }
    }
}

impl From<String> for GapReason {
    fn from(text: String) -> Self {
        GapReason { kind: GapKind::of(&text), text }
    }
}

impl From<&str> for GapReason {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<GapReason> for String {
    fn from(reason: GapReason) -> Self {
        reason.text
    }
}

impl std::fmt::Display for GapReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether the message is from the API server's decoders, without further context.
fn is_decoders_complaint(text: &str) -> bool {
    let Some(said) = text.strip_prefix("500 Internal Server Error: ") else { return false };
    // Truncated protobuf and JSON, and data that is neither.
    matches!(said, "unexpected EOF" | "unexpected end of JSON input")
        || ["proto: ", "json: ", "invalid character ", "couldn't get version/kind; ", "no kind \"",
            "Object 'Kind' is missing in ", "Object 'apiVersion' is missing in "]
            .iter()
            .any(|words| said.starts_with(words))
        // From decryption, and from custom resources.
        || ["unable to transform key ", "request to convert CR from an invalid group/version: "].iter().any(|words|
            said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_decoders_are_known() {
        for said in [
            "couldn't get version/kind; json parse error: unexpected end of JSON input",
            "no kind \"Deployment\" is registered for version \"apps/v0\" in scheme \"pkg/runtime/scheme.go:111\"",
            "Internal error occurred: unable to transform key \"/registry/secrets/default/a\": identity transformer \
                tried to read encrypted data",
            "proto: ObjectMeta: illegal tag 0 (wire type 7)",
            "Object 'Kind' is missing in '{}'",
            "unexpected EOF",
            "request to convert CR from an invalid group/version: gc.test/v0",
            "unexpected end of JSON input",
        ] {
            let reason = GapReason::from(format!("500 Internal Server Error: {said}"));
            assert_eq!(reason.kind(), GapKind::Undecodable, "{said}");
        }
        for (reason, kind) in [
            ("forbidden", GapKind::Forbidden),
            ("a, b: forbidden", GapKind::Forbidden),
            ("500 Internal Server Error: conversion webhook for acme.io/v1, Kind=Shop failed", GapKind::Conversion),
            ("503 Service Unavailable: unexpected EOF", GapKind::Other),
            ("500 Internal Server Error: etcdserver: request timed out", GapKind::Other),
            ("timed out after 30s", GapKind::Other),
        ] {
            let reason = GapReason::from(reason);
            assert_eq!(reason.kind(), kind, "{reason}");
        }
    }
    #[test]
    fn files_hold_the_words() {
        let gap = Gap { resource: "secrets".to_owned(), namespace: None, reason: "forbidden".into() };
        let written = serde_json::to_string(&gap).unwrap();
        assert_eq!(written, r#"{"resource":"secrets","reason":"forbidden"}"#);
        assert_eq!(serde_json::from_str::<Gap>(&written).unwrap(), gap);
    }
}
