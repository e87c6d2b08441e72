//! What a controller lists in the status of its object, and deletes with it, before it removes its finalizer (R9.38).

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::policies::Policy;

/// The objects that a controller deletes with its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Inventory {
    pub objects: Vec<InventoryObject>,
    /// They are, or may be, in another cluster.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// It keeps its finalizer until they are gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
}

/// An object as an inventory names it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct InventoryObject {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub group: String,
    pub kind: String,
    /// Empty for cluster scope.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    pub name: String,
}

impl Inventory {
    /// What a whole object of this policy lists; `None` if its controller keeps no list there.
    pub(super) fn read(policy: Policy, object: &Value) -> Option<Inventory> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let list = |path: &str| object.pointer(path).and_then(Value::as_array).into_iter().flatten();
        match policy {
            // argoproj/argo-cd controller/appcontroller.go: finalizeApplicationDeletion.
            Policy::ArgoCd => {
                let here = ["https://kubernetes.default.svc", "in-cluster"];
                let [server, name] = [text("/spec/destination/server"), text("/spec/destination/name")];
                Some(Inventory {
                    objects: list("/status/resources").filter_map(of_argo_cd).collect(),
                    elsewhere: !here.contains(&server) && !here.contains(&name),
                    waits: true,
                })
            }
            // fluxcd/kustomize-controller internal/controller/kustomization_controller.go: finalize.
            Policy::Kustomization => {
                let entries = list("/status/inventory/entries").filter_map(|entry| of_flux(entry.get("id")?.as_str()?));
                Some(Inventory {
                    objects: entries.collect(),
                    elsewhere: object.pointer("/spec/kubeConfig").is_some_and(|reference| !reference.is_null()),
                    waits: text("/spec/deletionPolicy") == "WaitForTermination",
                })
            }
            _ => None,
        }
    }
}

fn of_argo_cd(resource: &Value) -> Option<InventoryObject> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let object =
        InventoryObject { group: text("group"), kind: text("kind"), namespace: text("namespace"), name: text("name") };
    Some(object).filter(|object| !object.kind.is_empty() && !object.name.is_empty())
}

/// `namespace_name_group_Kind`; a colon in the name is written `__` (kubernetes-sigs/cli-utils
/// `pkg/object/objmetadata.go`).
fn of_flux(id: &str) -> Option<InventoryObject> {
    let (namespace, rest) = id.split_once('_')?;
    let (rest, kind) = rest.rsplit_once('_')?;
    let (name, group) = rest.rsplit_once('_')?;
    let object = InventoryObject {
        group: group.to_owned(),
        kind: kind.to_owned(),
        namespace: namespace.to_owned(),
        name: name.replace("__", ":"),
    };
    Some(object).filter(|object| !object.kind.is_empty() && !object.name.is_empty())
}

/// Which controllers leave an object alone when they delete what their inventories name, because an annotation of it
/// says so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spared(u8);

impl Spared {
    const BY_ARGO_CD: Spared = Spared(1);
    const BY_FLUX: Spared = Spared(2);

    const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
    const HELM: &str = "helm.sh/resource-policy";
    const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
    const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
    const APPLY: &str = "kustomize.toolkit.fluxcd.io/ssa";

    /// Whether an annotation may spare its object.
    pub(crate) fn is_said_by(key: &str) -> bool {
        [Self::SYNC_OPTIONS, Self::HELM, Self::PRUNE, Self::RECONCILE, Self::APPLY].contains(&key)
    }

    /// Heeds an annotation, or a label, which means the same to Flux.
    pub(crate) fn heed(&mut self, key: &str, value: &str) {
        let lists = |option: &str| value.split(',').any(|listed| listed.trim() == option);
        let by = match key {
            Self::SYNC_OPTIONS if lists("Delete=false") => Self::BY_ARGO_CD,
            Self::HELM if lists("keep") => Self::BY_ARGO_CD,
            Self::PRUNE | Self::RECONCILE if value.eq_ignore_ascii_case("disabled") => Self::BY_FLUX,
            Self::APPLY if value.eq_ignore_ascii_case("ignore") => Self::BY_FLUX,
            _ => return,
        };
        self.0 |= by.0;
    }

    /// Whether the controller that heeds this policy leaves the object alone.
    pub(crate) fn by(self, policy: Policy) -> bool {
        let by = match policy {
            Policy::ArgoCd => Self::BY_ARGO_CD,
            Policy::Kustomization => Self::BY_FLUX,
            _ => return false,
        };
        self.0 & by.0 != 0
    }

    /// Annotations that say the same.
    pub(crate) fn annotations(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [(Self::BY_ARGO_CD, Self::SYNC_OPTIONS, "Delete=false"), (Self::BY_FLUX, Self::PRUNE, "disabled")];
        all.into_iter().filter(move |(by, ..)| self.0 & by.0 != 0).map(|(_, key, value)| (key, value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn inventories_are_read() {
        let read = |policy, object: Value| {
            let inventory = Inventory::read(policy, &object).unwrap();
            let named = |object: InventoryObject| {
                format!("{}/{} {}/{}", object.group, object.kind, object.namespace, object.name)
            };
            let objects: Vec<String> = inventory.objects.into_iter().map(named).collect();
            (objects.join(", "), inventory.elsewhere, inventory.waits)
        };
        let argo = json!({"spec": {"destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}},
            "status": {"resources": [
                {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                {"version": "v1", "kind": "Namespace", "name": "shop"}, {"kind": "Secret"}, 7]}});
        assert_eq!(read(Policy::ArgoCd, argo), ("apps/Deployment shop/web, /Namespace /shop".to_owned(), false, true));
        for (destination, elsewhere) in [
            (json!({"name": "in-cluster"}), false),
            (json!({"name": "prod"}), true),
            (json!({"server": "https://10.0.0.1"}), true),
            (json!({}), true),
        ] {
            let said = read(Policy::ArgoCd, json!({"spec": {"destination": destination}}));
            assert_eq!(said, (String::new(), elsewhere, true));
        }
        let ids = ["shop_web_apps_Deployment", "_system__view_rbac.authorization.k8s.io_ClusterRole", "shop_a_b", "x"];
        let entries: Vec<Value> = ids.iter().map(|id| json!({"id": id, "v": "v1"})).collect();
        let flux = json!({"spec": {"prune": true}, "status": {"inventory": {"entries": entries}}});
        let names = "apps/Deployment shop/web, rbac.authorization.k8s.io/ClusterRole /system:view";
        assert_eq!(read(Policy::Kustomization, flux), (names.to_owned(), false, false));
        let remote = json!({"spec": {"kubeConfig": {"secretRef": {}}, "deletionPolicy": "WaitForTermination"}});
        assert_eq!(read(Policy::Kustomization, remote), (String::new(), true, true));
        assert_eq!(Inventory::read(Policy::Crossplane, &json!({})), None);
    }

    #[test]
    fn annotations_spare_an_object_from_one_controller() {
        let spared = |key: &str, value: &str| {
            let mut spared = Spared::default();
            spared.heed(key, value);
            (spared.by(Policy::ArgoCd), spared.by(Policy::Kustomization))
        };
        assert_eq!(spared(Spared::SYNC_OPTIONS, "Prune=false, Delete=false"), (true, false));
        assert_eq!(spared(Spared::SYNC_OPTIONS, "Delete=true"), (false, false));
        assert_eq!(spared(Spared::HELM, "keep"), (true, false));
        assert_eq!(spared(Spared::PRUNE, "Disabled"), (false, true));
        assert_eq!(spared(Spared::APPLY, "Ignore"), (false, true));
        assert_eq!(spared("acme.io/prune", "disabled"), (false, false));
        let mut both = Spared::default();
        both.heed(Spared::HELM, "keep");
        both.heed(Spared::RECONCILE, "disabled");
        let mut again = Spared::default();
        both.annotations().for_each(|(key, value)| again.heed(key, value));
        assert_eq!(both, again);
    }
}
