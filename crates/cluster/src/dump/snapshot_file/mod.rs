//! Snapshot files: a whole [`Snapshot`](gc_core::model::Snapshot) as one JSON document, one object per line. Metadata
//! and facts only: no specs, no contents of secrets, and no annotations except deletion policies.
//!
//! ```json
//! {"apiVersion":"kubectl-gc/v1","kind":"Snapshot","complete":false,
//! "origin":{"cluster":{"context":"prod-eu","server":"api.prod-eu:6443"}},
//! "serverVersion":"v1.36.3",
//! "gaps":[{"resource":"secrets","reason":"forbidden"}],
//! "preferredVersions":{"":"v1","apps":"v1"},
//! "resources":[{"group":"apps","version":"v1","name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get","list"]}],
//! "lists":[{"resource":"deployments.apps","version":"v1","resourceVersion":"1182"}],
//! "absent":[{"resource":"deployments.apps","version":"v1","namespace":"shop","name":"gone"}],
//! "objects":[{"apiVersion":"apps/v1","kind":"Deployment","namespace":"shop","name":"web","uid":"0b7c","resourceVersion":"1031"}]}
//! ```
//!
//! `serverVersion` is absent if the server didn't tell it. `lists` records what was listed, in one `namespace` or in
//! all, or why it failed (`failure`); `absent` are coordinates that a look-up found empty. Fields of objects are named
//! as in `metadata`; `facts` contain a [`Fact`](gc_core::model::Fact), and `setters` who set the finalizers
//! ([`Setter`](gc_core::model::facts::Setter)), if read. Their times are in Unix seconds. `said` is what the status of
//! an object, or an event, says of why it is not deleted. `resource` names the resource of an object if its apiVersion
//! and kind are ambiguous.

mod read;
mod write;

pub(super) use read::read;
pub use write::{folder_of, write, write_to_path};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
};

use gc_core::model::GapReason;

/// The apiVersion of snapshot files.
const API_VERSION: &str = "kubectl-gc/v1";
const KIND: &str = "Snapshot";

/// [`gc_core::model::Origin`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Origin {
    Cluster { context: String, server: String },
    Dump { paths: Vec<String> },
}

/// [`gc_core::model::ListRecord`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct List {
    pub resource: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub resource_version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<GapReason>,
}

/// A coordinate that was looked up.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct LookedUp {
    pub resource: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
}

/// Unix seconds as RFC 3339, or as a number if out of its range.
pub(crate) struct Time(pub i64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match jiff::Timestamp::from_second(self.0) {
            Ok(time) => serializer.collect_str(&time),
            Err(_) => serializer.serialize_i64(self.0),
        }
    }
}

/// Pairs written as a map, in their order.
#[derive(Debug, Default)]
pub(crate) struct Pairs<T>(pub Vec<(T, T)>);

impl<T: Serialize> Serialize for Pairs<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de> Deserialize<'de> for Pairs<String> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OrderedVisitor;
        impl<'de> Visitor<'de> for OrderedVisitor {
            type Value = Pairs<String>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a map from string to string")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = access.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }
        deserializer.deserialize_map(OrderedVisitor)
    }
}
