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
