//! The identity of an object beyond one snapshot.

use serde::{Deserialize, Serialize};

use super::{ObjectEvent, ObjectId, Resources, Snapshot};

/// Identifies an object, also in documents. Ids are only valid in one state of a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// `group/version`, or `version` for the core group, in the version that the collector picks.
    pub api_version: String,
    pub kind: String,
    /// Empty for cluster scope.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
    pub uid: String,
}

impl Identity {
    /// The identity of an object in a snapshot.
    pub fn of(snapshot: &Snapshot, id: ObjectId) -> Self {
        let object = snapshot.object(id);
        let resource = snapshot.resources.get(object.resource);
        Identity {
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            namespace: snapshot.text(object.namespace).to_owned(),
            name: snapshot.text(object.name).to_owned(),
            uid: snapshot.text(object.uid).to_owned(),
        }
    }

    /// The identity of an object in an event.
    pub(crate) fn of_seen(resources: &Resources, seen: &ObjectEvent) -> Self {
        let resource = resources.get(resources.picked(seen.resource));
        Identity {
            api_version: resource.api_version(),
            kind: resource.kind.clone(),
            namespace: seen.object.namespace.clone().into_owned(),
            name: seen.object.name.clone().into_owned(),
            uid: seen.object.uid.clone().into_owned(),
        }
    }

    /// `Kind/name`.
    pub fn short_name(&self) -> String {
        format!("{}/{}", self.kind, self.name)
    }

    /// `Kind/name -n NAMESPACE`, as messages name it.
    pub fn placed(&self) -> String {
        match self.namespace.as_str() {
            "" => self.short_name(),
            namespace => format!("{} -n {namespace}", self.short_name()),
        }
    }
}
