//! A plugin manifest as krew reads it, but stricter: krew ignores fields that it doesn't know.

use std::collections::BTreeMap;

use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Manifest {
    #[serde(default)]
    pub api_version: String,
    #[serde(default)]
    pub kind: String,
    #[serde(default)]
    pub metadata: Metadata,
    #[serde(default)]
    pub spec: Spec,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Metadata {
    pub name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Spec {
    pub version: String,
    pub short_description: String,
    pub description: String,
    pub caveats: String,
    pub homepage: String,
    pub platforms: Vec<Platform>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Platform {
    pub selector: Option<Selector>,
    pub uri: String,
    pub sha256: String,
    pub files: Option<Vec<FileOperation>>,
    pub bin: String,
}

/// A label selector: both fields must match.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Selector {
    pub match_labels: Option<BTreeMap<String, String>>,
    pub match_expressions: Option<Vec<Expression>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Expression {
    pub key: String,
    pub operator: String,
    pub values: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct FileOperation {
    pub from: String,
    pub to: String,
}

impl Manifest {
    pub fn read(text: &str) -> Result<Manifest, String> {
        serde_yaml::from_str(text).map_err(|error| error.to_string())
    }
}

impl FileOperation {
    /// The file's name after installation.
    pub fn installed(&self) -> &str {
        if self.to == "." { self.from.rsplit('/').next().unwrap_or_default() } else { &self.to }
    }
}
