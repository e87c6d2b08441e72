//! The owner references of a held object's dependents: the guard that keeps a dependent while its owner doesn't exist,
//! and the reference to the new owner.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::model::Identity;

/// A dependent of a held object.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldDependent {
    /// Its path in the API.
    pub path: String,
    #[serde(flatten)]
    pub identity: Identity,
    /// Its reference to the held object.
    pub reference: Value,
    /// Whether the owner's controller claims it by its selector.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adopted: bool,
}

/// The reference of an object to an owner, with all fields.
pub fn original<'a>(references: &'a [Value], owner: &str) -> Option<&'a Value> {
    references.iter().find(|reference| reference["uid"] == owner)
}

/// Whether an object has a reference to itself.
pub fn is_guarded(references: &[Value], uid: &str) -> bool {
    references.iter().any(|reference| reference["uid"] == uid)
}

/// How a guard looks to controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hidden {
    /// It is its own controller: no controller adopts it.
    FromAll,
    /// It has no controller: the owner's controller may claim it as soon as the owner exists.
    FromNone,
}

impl HeldDependent {
    /// How its guard looks: whatever a controller has to find is visible to it.
    fn hidden(&self) -> Hidden {
        if self.reference["controller"] == true && !self.adopted { Hidden::FromAll } else { Hidden::FromNone }
    }

    /// The references with a guard in the place of the one to the held object. None if it has neither: another client
    /// has removed it.
    pub fn guarded(&self, live: &[Value], owner: &str) -> Option<Vec<Value>> {
        if original(live, owner).is_none() {
            return is_guarded(live, &self.identity.uid).then(|| live.to_vec());
        }
        let stays = |reference: &&Value| reference["uid"] != owner && reference["uid"] != *self.identity.uid;
        let mut wanted: Vec<Value> = live.iter().filter(stays).cloned().collect();
        let Identity { api_version, kind, name, uid, .. } = &self.identity;
        let mut guard = json!({"apiVersion": api_version, "kind": kind, "name": name, "uid": uid});
        let has_controller = wanted.iter().any(|reference| reference["controller"] == true);
        if self.hidden() == Hidden::FromAll && !has_controller {
            guard["controller"] = json!(true);
        }
        wanted.push(guard);
        Some(wanted)
    }

    /// The references with one to the new owner in the place of the guard. None if it has no guard: it is done, or
    /// another client has changed it.
    pub fn moved(&self, live: &[Value], old: &str, new: &str) -> Option<Vec<Value>> {
        if !is_guarded(live, &self.identity.uid) {
            return None;
        }
        let replaced = [old, new, self.identity.uid.as_str()];
        let stays = |reference: &&Value| !replaced.iter().any(|uid| reference["uid"] == **uid);
        let mut wanted: Vec<Value> = live.iter().filter(stays).cloned().collect();
        let mut reference = self.reference.clone();
        reference["uid"] = json!(new);
        wanted.push(reference);
        Some(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(name: &str, uid: &str, controller: bool) -> Value {
        let mut reference = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid});
        if controller {
            reference["controller"] = json!(true);
            reference["blockOwnerDeletion"] = json!(true);
        }
        reference
    }

    fn dependent(controller: bool, adopted: bool) -> HeldDependent {
        HeldDependent {
            path: "/apis/apps/v1/namespaces/shop/replicasets/web-1".to_owned(),
            identity: Identity {
                api_version: "apps/v1".to_owned(),
                kind: "ReplicaSet".to_owned(),
                namespace: "shop".to_owned(),
                name: "web-1".to_owned(),
                uid: "rs".to_owned(),
            },
            reference: reference("web", "old", controller),
            adopted,
        }
    }

    #[test]
    fn a_guard_is_a_reference_to_itself() {
        let live = [reference("other", "x", false), reference("web", "old", true)];
        let seen = dependent(true, true).guarded(&live, "old").unwrap();
        assert_eq!((&seen[0], seen.len()), (&live[0], 2));
        assert_eq!((&seen[1]["uid"], seen[1].get("controller")), (&json!("rs"), None), "its controller may find it");
        let unseen = dependent(true, false).guarded(&live, "old").unwrap();
        assert_eq!(unseen[1]["controller"], true);
        // Only one reference may be the controller's.
        let controlled = [reference("other", "x", true), reference("web", "old", false)];
        assert_eq!(dependent(false, false).guarded(&controlled, "old").unwrap()[1].get("controller"), None);
        // Once it is guarded, nothing changes; without a reference and a guard, it is no longer a dependent.
        assert_eq!(dependent(true, true).guarded(&seen, "old").unwrap(), seen);
        assert_eq!(dependent(true, true).guarded(&live[..1], "old"), None);
    }

    #[test]
    fn the_reference_comes_back_with_the_new_uid() {
        let one = dependent(true, true);
        let live = [reference("other", "x", false), reference("web", "old", true)];
        let guarded = one.guarded(&live, "old").unwrap();
        let wanted = vec![live[0].clone(), reference("web", "new", true)];
        assert_eq!(one.moved(&guarded, "old", "new").unwrap(), wanted);
        // Its controller was faster, and has added another reference.
        let mut adopted = guarded.clone();
        adopted.push(json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "new"}));
        assert_eq!(one.moved(&adopted, "old", "new").unwrap(), wanted);
        assert_eq!(one.moved(&wanted, "old", "new"), None, "it is done");
    }
}
