//! What is stored of a held object: a Secret beside it, so that anybody who may read it can take the delete back.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::{Identity, group_of};

use super::{LABEL, dependents::HeldDependent};

/// The names of these Secrets begin so; the uid of the held object follows.
pub const SECRET_PREFIX: &str = "kubectl-gc-hold-";
/// The type of these Secrets.
pub const SECRET_TYPE: &str = "kubectl-gc/hold";
/// The API server accepts Secrets with so many bytes of data (`MaxSecretSize` in pkg/apis/core).
pub const MOST: usize = 1 << 20;

const OBJECT: &str = "object.json";
const HOLD: &str = "hold.json";

/// The name of the Secret that stores the object with this uid.
pub fn secret_name(uid: &str) -> String {
    format!("{SECRET_PREFIX}{uid}")
}

/// How far a hold is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Stage {
    /// The delete waits.
    #[default]
    Held,
    /// It is being taken back: dependents may have guards, and the object may not exist.
    BeingTakenBack,
    /// It was created again; dependents may still have guards.
    Created,
}

/// A held object.
#[derive(Clone, Debug, PartialEq)]
pub struct HoldRecord {
    pub about: About,
    /// The whole object, as it was before it was deleted.
    pub object: Value,
}

/// Everything but the object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The object's path in the API.
    pub path: String,
    #[serde(flatten)]
    pub identity: Identity,
    /// Whether its status is a subresource.
    #[serde(default)]
    pub has_status: bool,
    /// When the delete goes on, if the program that holds it still runs.
    pub until: String,
    #[serde(default)]
    pub stage: Stage,
    /// The uid of the object that was created in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new_uid: Option<String>,
    /// Its dependents, as soon as it is being taken back.
    #[serde(default)]
    pub dependents: Vec<HeldDependent>,
}

/// Why a Secret is not the record of a hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Secret/{name} -n {namespace} is no record of a hold: {why}")]
pub struct Malformed {
    pub namespace: String,
    pub name: String,
    pub why: String,
}

impl HoldRecord {
    /// The group of the object's kind; empty for the core group.
    pub fn group(&self) -> &str {
        group_of(&self.about.identity.api_version)
    }

    /// Whether this is the object that was created in its place.
    pub fn is_again(&self, there: &Value) -> bool {
        let is_recorded = self.about.new_uid.as_deref().is_some_and(|uid| there["metadata"]["uid"] == uid);
        is_recorded || there["metadata"]["labels"][LABEL] == *self.about.identity.uid
    }

    /// The path of the collection that it is created in.
    pub fn collection(&self) -> &str {
        self.about.path.rsplit_once('/').map_or("", |(collection, _)| collection)
    }

    /// The data of its Secret.
    pub fn data(&self) -> [(&'static str, String); 2] {
        let about = serde_json::to_string(&self.about).unwrap_or_default();
        [(OBJECT, self.object.to_string()), (HOLD, about)]
    }

    /// How many bytes of data its Secret has, and would have with this many dependents more that are as long as these.
    pub fn size(&self, more: &[HeldDependent]) -> usize {
        let more = more.iter().map(|one| serde_json::to_string(one).map_or(0, |text| text.len() + 1));
        self.data().iter().map(|(_, text)| text.len()).sum::<usize>() + more.sum::<usize>()
    }

    /// The Secret, for a namespace.
    pub fn secret(&self, namespace: &str) -> Value {
        json!({
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {
                "name": secret_name(&self.about.identity.uid),
                "namespace": namespace,
                "labels": {LABEL: self.about.identity.uid, "app.kubernetes.io/managed-by": "kubectl-gc"},
            },
            "type": SECRET_TYPE,
            "stringData": self.string_data(),
        })
    }

    /// The data as text, which the API server encodes.
    pub fn string_data(&self) -> Value {
        self.data().into_iter().map(|(name, text)| (name.to_owned(), Value::from(text))).collect()
    }

    /// Reads the decoded data of a Secret.
    ///
    /// # Errors
    /// What is missing or invalid.
    pub fn read(data: impl Fn(&str) -> Option<Vec<u8>>) -> Result<Self, String> {
        let part = |name: &str| data(name).ok_or_else(|| format!("it has no {name}"));
        let about: About =
            serde_json::from_slice(&part(HOLD)?).map_err(|error| format!("{HOLD} can't be read: {error}"))?;
        let object: Value =
            serde_json::from_slice(&part(OBJECT)?).map_err(|error| format!("{OBJECT} can't be read: {error}"))?;
        let is_it =
            object["metadata"]["uid"] == *about.identity.uid && object["metadata"]["name"] == *about.identity.name;
        if !is_it {
            return Err(format!("{OBJECT} is another object than {HOLD} says"));
        }
        Ok(HoldRecord { about, object })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> HoldRecord {
        let about = About {
            path: "/apis/apps/v1/namespaces/shop/deployments/web".to_owned(),
            identity: Identity {
                api_version: "apps/v1".to_owned(),
                kind: "Deployment".to_owned(),
                namespace: "shop".to_owned(),
                name: "web".to_owned(),
                uid: "u-1".to_owned(),
            },
            has_status: true,
            until: "2026-01-02T03:04:05Z".to_owned(),
            stage: Stage::Held,
            new_uid: None,
            dependents: Vec::new(),
        };
        HoldRecord { about, object: json!({"metadata": {"name": "web", "uid": "u-1"}, "spec": {"replicas": 1.5}}) }
    }

    #[test]
    fn a_secret_says_all_that_is_needed() {
        let mut record = record();
        record.about.stage = Stage::BeingTakenBack;
        let secret = record.secret("shop");
        assert_eq!(secret["metadata"]["name"], "kubectl-gc-hold-u-1");
        assert_eq!(secret["metadata"]["labels"][LABEL], "u-1");
        let data = |name: &str| secret["stringData"][name].as_str().map(|text| text.as_bytes().to_vec());
        assert_eq!(HoldRecord::read(data).unwrap(), record);
        assert_eq!(record.about.identity.placed(), "Deployment/web -n shop");
        assert_eq!((record.group(), record.collection()), ("apps", "/apis/apps/v1/namespaces/shop/deployments"));
    }

    #[test]
    fn what_was_changed_by_hand_is_not_believed() {
        let secret = record().secret("shop");
        let data = |name: &str| secret["stringData"][name].as_str().map(|text| text.as_bytes().to_vec());
        let why = |change: &dyn Fn(&str) -> Option<Vec<u8>>| HoldRecord::read(change).unwrap_err();
        assert_eq!(why(&|name| data(name).filter(|_| name != OBJECT)), "it has no object.json");
        assert!(why(&|_| Some(b"{".to_vec())).starts_with("hold.json can't be read"));
        let other = json!({"metadata": {"name": "web", "uid": "u-2"}}).to_string();
        let swapped = why(&|name| if name == OBJECT { Some(other.clone().into_bytes()) } else { data(name) });
        assert_eq!(swapped, "object.json is another object than hold.json says");
    }
}
