//! What is served, and by whom: namespaces, definitions, aggregated APIs.

use serde::{Deserialize, Serialize};

/// A condition of `status.conditions` that is true.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// Whom the API server calls to do a part of its work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Backend {
    /// A Service of the cluster.
    Service { namespace: String, name: String },
    /// Somebody else.
    Url(String),
}

impl Backend {
    /// Namespace and name of the Service, if it is one.
    pub fn service(&self) -> Option<(&str, &str)> {
        match self {
            Backend::Service { namespace, name } => Some((namespace, name)),
            Backend::Url(_) => None,
        }
    }
}

/// What holds a Namespace (R1.25).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamespaceFacts {
    /// `spec.finalizers`.
    #[serde(default)]
    pub finalizers: Vec<String>,
    /// The true ones: of a terminating Namespace, why it is still there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// What a CustomResourceDefinition defines, and whether its deletion takes the instances along (R1.26).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionFacts {
    /// `spec.group`.
    pub group: String,
    /// `spec.names.kind`.
    pub kind: String,
    /// `spec.names.plural`.
    pub plural: String,
    /// Whether the condition Established is true.
    pub established: bool,
    /// The webhook that converts between its versions; none where nothing has to be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversion: Option<Backend>,
    /// The true ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

/// Which group version an APIService serves, and whether it does.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiServiceFacts {
    /// `spec.group`.
    pub group: String,
    /// `spec.version`.
    pub version: String,
    /// `spec.service`; none for what the API server serves itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Backend>,
    /// What the condition Available says; none where it doesn't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub available: Option<bool>,
    /// The condition's reason.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The condition's message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
}
