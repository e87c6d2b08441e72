//! What could not be read. A gap is named in every output; it never means "absent" (R10.2).

use serde::{Deserialize, Serialize};

/// A list, a discovery document or a look-up that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Gap {
    /// The resource as `plural.group`, or `group/version` where not even the resource is known.
    pub resource: String,
    /// The namespace, where only that one is missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Why, in words: "forbidden", "503 Service Unavailable: …", "not in the dump".
    pub reason: String,
}

impl std::fmt::Display for Gap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.resource)?;
        if let Some(namespace) = &self.namespace {
            write!(f, " in namespace {namespace}")?;
        }
        write!(f, " ({})", self.reason)
    }
}

/// Whether a reason is the API server's complaint about a conversion webhook: "conversion webhook for acme.io/v1,
/// Kind=Shop failed".
pub fn conversion_failed(reason: &str) -> bool {
    reason.contains("conversion webhook for ")
}

/// Whether a reason is the API server's complaint about what is in its storage: one object that it can't decode (S19).
/// The words are those of its decoders, and say no more.
pub fn undecodable(reason: &str) -> bool {
    let Some(said) = reason.strip_prefix("500 Internal Server Error: ") else { return false };
    // Of protobuf and of JSON that breaks off, and of the bytes that neither begins with.
    matches!(said, "unexpected EOF" | "unexpected end of JSON input")
        || ["proto: ", "json: ", "invalid character ", "couldn't get version/kind; ", "no kind \"", "Object 'Kind' is missing in ", "Object 'apiVersion' is missing in "]
            .iter()
            .any(|words| said.starts_with(words))
        // Of encryption, and of custom resources.
        || ["unable to transform key ", "request to convert CR from an invalid group/version: "].iter().any(|words| said.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_decoders_are_known() {
        for said in [
            "couldn't get version/kind; json parse error: unexpected end of JSON input",
            "no kind \"Deployment\" is registered for version \"apps/v0\" in scheme \"pkg/runtime/scheme.go:111\"",
            "Internal error occurred: unable to transform key \"/registry/secrets/default/a\": identity transformer tried to read encrypted data",
            "proto: ObjectMeta: illegal tag 0 (wire type 7)",
            "Object 'Kind' is missing in '{}'",
            "unexpected EOF",
            "request to convert CR from an invalid group/version: gc.test/v0",
            "unexpected end of JSON input",
        ] {
            assert!(undecodable(&format!("500 Internal Server Error: {said}")), "{said}");
        }
        for reason in [
            "forbidden",
            "503 Service Unavailable: unexpected EOF",
            "500 Internal Server Error: etcdserver: request timed out",
            "timed out after 30s",
        ] {
            assert!(!undecodable(reason), "{reason}");
        }
    }
}
