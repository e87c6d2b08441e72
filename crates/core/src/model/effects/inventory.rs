//! What a controller deletes with its object, because that lists it or it is labelled so, before it removes its
//! finalizer (R9.38).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    guards::{CONFIRMED, HIVE},
    operators::Policy,
};
use crate::model::Propagation;

/// The label that helm-controller gives to what a HelmRelease installs: the name of that.
pub(crate) const RELEASE: &str = "helm.toolkit.fluxcd.io/name";

const CRD: (&str, &str) = ("apiextensions.k8s.io", "CustomResourceDefinition");

/// The annotation by which Argo CD knows what it has applied.
pub const TRACKING_ID: &str = "argocd.argoproj.io/tracking-id";

/// The Application that this annotation, or the label `app.kubernetes.io/instance`, names: `[NAMESPACE_]NAME[:OBJECT]`
/// (argoproj/argo-cd `util/argo/resource_tracking.go`).
pub fn application_named(tracking: &str) -> &str {
    let name = tracking.split_once(':').map_or(tracking, |(name, _)| name);
    name.rsplit_once('_').map_or(name, |(_, name)| name)
}

sparse! {
    /// The objects that a controller deletes with its own.
    pub struct Inventory {
        pub objects: Vec<InventoryObject>,
        /// Of these objects, it deletes those that carry all labels of one of these sets. Empty: whatever they carry.
        pub labels?: Vec<BTreeMap<String, String>>,
        pub propagation?: Propagation,
        /// They are, or may be, in another cluster.
        pub elsewhere?: bool,
        /// It keeps its finalizer until they are gone.
        pub waits?: bool,
        /// Its object doesn't say what they are.
        pub unlisted?: bool,
    }
}

sparse! {
    /// An object as an inventory names it.
    pub struct InventoryObject {
        pub group?: String,
        /// Empty: of every kind, in every namespace.
        pub kind: String,
        /// Empty for cluster scope, or without a name: in every namespace.
        pub namespace?: String,
        /// Empty: all that carry the labels.
        pub name: String,
        /// The source no longer contains it.
        pub outdated?: bool,
    }
}

impl Inventory {
    /// Whether labels alone say what is deleted.
    pub(crate) fn is_by_label(&self) -> bool {
        self.objects.iter().any(|object| object.name.is_empty())
    }

    /// Whether an object with these labels carries all of one of the sets, if there are any.
    pub(crate) fn is_labelled<'t>(&self, label: impl Fn(&str) -> Option<&'t str>) -> bool {
        let mut sets = self.labels.iter();
        self.labels.is_empty() || sets.any(|set| set.iter().all(|(key, value)| label(key) == Some(value.as_str())))
    }

    /// What goes with a whole object of this policy; `None` if its controller deletes no objects.
    pub(super) fn read(policy: Policy, object: &Value) -> Option<Inventory> {
        let text = |path: &str| object.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let list = |path: &str| object.pointer(path).and_then(Value::as_array).into_iter().flatten();
        let entries = || list("/status/inventory/entries").filter_map(|entry| of_flux(entry.get("id")?.as_str()?));
        let is_set = |path: &str| object.pointer(path).is_some_and(|value| !value.is_null());
        let finalized = |by: &str| list("/metadata/finalizers").any(|finalizer| finalizer.as_str() == Some(by));
        let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
        let foreground_if = |it: bool| if it { Propagation::Foreground } else { Propagation::Background };
        match policy {
            // argoproj/argo-cd controller/appcontroller.go: finalizeApplicationDeletion, shouldBeDeleted.
            Policy::ArgoCd => {
                let here = ["https://kubernetes.default.svc", "in-cluster"];
                let [server, cluster] = [text("/spec/destination/server"), text("/spec/destination/name")];
                let is_itself = |listed: &InventoryObject| {
                    (listed.kind.as_str(), listed.namespace.as_str(), listed.name.as_str())
                        == ("Application", namespace, name)
                };
                let listed = list("/status/resources").filter_map(of_argo_cd);
                Some(Inventory {
                    objects: listed.filter(|it| it.kind != CRD.1 && !is_itself(it)).collect(),
                    propagation: foreground_if(!finalized("resources-finalizer.argocd.argoproj.io/background")),
                    elsewhere: !here.contains(&server) && !here.contains(&cluster),
                    waits: true,
                    ..Inventory::default()
                })
            }
            // fluxcd/kustomize-controller internal/controller/kustomization_controller.go: finalize.
            Policy::Kustomization => {
                let own = |key: &str| format!("kustomize.toolkit.fluxcd.io/{key}");
                Some(Inventory {
                    objects: entries().collect(),
                    labels: labelled(&[(&own("name"), name), (&own("namespace"), namespace)]),
                    elsewhere: is_set("/spec/kubeConfig"),
                    waits: text("/spec/deletionPolicy") == "WaitForTermination",
                    ..Inventory::default()
                })
            }
            // fluxcd/helm-controller internal/controller/helmrelease_controller.go: reconcileReleaseDeletion, and
            // internal/postrender/labels.go. What a chart has in `crds` isn't Helm's, and stays, but stands in the
            // inventory of later versions (internal/inventory/inventory.go:AddCRDs): labels tell those of a template.
            Policy::HelmRelease => Some(Inventory {
                objects: {
                    let entries = entries().filter(|entry| entry.kind != CRD.1);
                    let listed: Vec<InventoryObject> = entries.chain(all_of("", &[CRD])).collect();
                    if listed.len() > 1 { listed } else { vec![InventoryObject::default()] }
                },
                labels: labelled(&[
                    (RELEASE, name),
                    ("helm.toolkit.fluxcd.io/namespace", namespace),
                    ("app.kubernetes.io/managed-by", "Helm"),
                ]),
                propagation: match text("/spec/uninstall/deletionPropagation") {
                    "orphan" => Propagation::Orphan,
                    other => foreground_if(other == "foreground"),
                },
                elsewhere: is_set("/spec/kubeConfig"),
                waits: object.pointer("/spec/uninstall/disableWait") != Some(&Value::Bool(true)),
                ..Inventory::default()
            }),
            // k3s-io/helm-controller pkg/controllers/chart/chart.go:OnRemove; only Helm's own record has what it was.
            Policy::HelmChart => Some(Inventory { unlisted: true, waits: true, ..Inventory::default() }),
            Policy::FleetHelm => Some(Inventory { unlisted: true, ..Inventory::default() }),
            // rancher/fleet internal/cmd/controller/finalize/finalize.go:PurgeBundles, PurgeBundleDeployments.
            Policy::Fleet => Some(Inventory {
                objects: all_of(namespace, &[("fleet.cattle.io", "Bundle")]),
                labels: labelled(&[("fleet.cattle.io/repo-name", name)]),
                ..Inventory::default()
            }),
            Policy::FleetBundle => Some(Inventory {
                objects: all_of("", &[("fleet.cattle.io", "BundleDeployment")]),
                labels: labelled(&[
                    ("fleet.cattle.io/bundle-name", name),
                    ("fleet.cattle.io/bundle-namespace", namespace),
                ]),
                ..Inventory::default()
            }),
            // rancher/fleet internal/cmd/agent/deployer/cleanup/cleanup.go; only the local cluster is this one.
            Policy::FleetDeployment => Some(Inventory {
                objects: list("/status/resources").filter_map(of_fleet).collect(),
                elsewhere: !namespace.starts_with("cluster-fleet-local-"),
                unlisted: !is_set("/status/resources"),
                ..Inventory::default()
            }),
            // carvel-dev/kapp-controller pkg/apis/kappctrl/v1alpha1/types.go:AssociatedResources.
            Policy::Kapp => {
                let associated = "/status/deploy/kapp/associatedResources";
                let label = object.pointer(&format!("{associated}/label")).and_then(Value::as_str);
                let label = label.and_then(|label| label.split_once('='));
                let kinds = format!("{associated}/groupKinds");
                let kinds = list(&kinds).filter_map(|it| Some((it["group"].as_str()?, it["kind"].as_str()?)));
                let kinds: Vec<(&str, &str)> = kinds.collect();
                Some(Inventory {
                    objects: all_of("", &kinds),
                    labels: label.map(|label| labelled(&[label])).unwrap_or_default(),
                    elsewhere: is_set("/spec/cluster"),
                    unlisted: label.is_none() || kinds.is_empty(),
                    waits: true,
                    ..Inventory::default()
                })
            }
            // istio/istio operator/pkg/helmreconciler/prune.go: NamespacedResources, ClusterResources.
            Policy::IstioOperator => {
                let kinds = "apps/Deployment apps/DaemonSet /Service /ConfigMap /PersistentVolumeClaim /Pod /Secret \
                     /ServiceAccount autoscaling/HorizontalPodAutoscaler policy/PodDisruptionBudget \
                     rbac.authorization.k8s.io/RoleBinding rbac.authorization.k8s.io/Role \
                     rbac.authorization.k8s.io/ClusterRole rbac.authorization.k8s.io/ClusterRoleBinding \
                     admissionregistration.k8s.io/MutatingWebhookConfiguration \
                     admissionregistration.k8s.io/ValidatingWebhookConfiguration networking.istio.io/EnvoyFilter";
                let kinds: Vec<(&str, &str)> = kinds.split(' ').filter_map(|kind| kind.split_once('/')).collect();
                let owner = |key: &str| format!("install.operator.istio.io/owning-resource{key}");
                Some(Inventory {
                    objects: all_of("", &kinds),
                    labels: labelled(&[(&owner(""), name), (&owner("-namespace"), namespace)]),
                    ..Inventory::default()
                })
            }
            // minio/operator pkg/controller/pvc.go, before version 6.
            Policy::Minio => {
                let reclaims = |pool: &Value| pool.get("reclaimStorage") == Some(&Value::Bool(true));
                list("/spec/pools").any(reclaims).then(|| Inventory {
                    objects: all_of(namespace, &[("", "PersistentVolumeClaim")]),
                    labels: labelled(&[("v1.min.io/tenant", name)]),
                    ..Inventory::default()
                })
            }
            // crossplane/crossplane internal/controller/apiextensions/claim/reconciler.go.
            Policy::CrossplaneClaim => {
                let foreground = text("/spec/compositeDeletePolicy") == "Foreground";
                let group = text("/spec/resourceRef/apiVersion").split_once('/').map_or("", |(group, _)| group);
                let composite = InventoryObject {
                    group: group.to_owned(),
                    kind: text("/spec/resourceRef/kind").to_owned(),
                    namespace: String::new(),
                    name: text("/spec/resourceRef/name").to_owned(),
                    outdated: false,
                };
                let is_bound = !composite.kind.is_empty() && !composite.name.is_empty();
                Some(Inventory {
                    objects: Some(composite).filter(|_| is_bound).into_iter().collect(),
                    propagation: foreground_if(foreground),
                    waits: foreground,
                    ..Inventory::default()
                })
            }
            Policy::PerconaClaims => {
                let instance = ("app.kubernetes.io/instance", name);
                let part = |component| [instance, ("app.kubernetes.io/component", component)];
                let sets: [(&str, &[(&str, &str)]); 4] = [
                    ("percona.com/delete-pxc-pvc", &part("pxc")),
                    ("percona.com/delete-proxysql-pvc", &part("proxysql")),
                    ("percona.com/delete-psmdb-pvc", &[instance, ("app.kubernetes.io/name", "percona-server-mongodb")]),
                    ("percona.com/delete-pvc", &[("postgres-operator.crunchydata.com/cluster", name)]),
                ];
                let own = sets.into_iter().filter(|(finalizer, _)| finalized(finalizer));
                Some(Inventory {
                    objects: all_of(namespace, &[("", "PersistentVolumeClaim")]),
                    labels: own.flat_map(|(_, labels)| labelled(labels)).collect(),
                    ..Inventory::default()
                })
            }
            // kubedb/apimachinery apis/kubedb/v1/*_helpers.go:OffshootSelectors; a claim has the labels by which its
            // StatefulSet selects pods.
            Policy::KubeDb => Some(Inventory {
                objects: all_of(namespace, &[("", "PersistentVolumeClaim")]),
                labels: labelled(&[
                    ("app.kubernetes.io/instance", name),
                    ("app.kubernetes.io/managed-by", "kubedb.com"),
                ]),
                ..Inventory::default()
            }),
            // kubevirt/kubevirt pkg/virt-operator/resource/apply/delete.go:DeleteAll: the CRDs first, then the rest;
            // pkg/controller/virtinformers.go:OperatorLabel.
            Policy::KubeVirt => {
                let by = |operator| labelled(&[("app.kubernetes.io/managed-by", operator)]);
                Some(Inventory {
                    objects: all_of("", &[CRD]),
                    labels: [by("virt-operator"), by("kubevirt-operator")].concat(),
                    waits: true,
                    ..Inventory::default()
                })
            }
            Policy::Cdi => Some(Inventory { unlisted: true, ..Inventory::default() }),
            // rancher/rancher pkg/controllers/management/node/controller.go:deleteV1Node. In the namespace of a cluster
            // is what stands for its Nodes; only `local` is this cluster.
            Policy::RancherNode => {
                let objects = node_named(text("/status/nodeName")).into_iter().collect();
                Some(Inventory { objects, elsewhere: namespace != "local", ..Inventory::default() })
            }
            // openshift/machine-api-operator pkg/controller/machine/controller.go:Reconcile
            Policy::OpenShiftMachine => {
                let node = node_named(text("/status/nodeRef/name"));
                node.map(|node| Inventory { objects: vec![node], ..Inventory::default() })
            }
            // projectcapsule/capsule internal/controllers/tenant/namespaces.go:reconcileNamespaces. Its finalizer stays
            // until they are gone.
            Policy::Capsule => {
                let names =
                    list("/status/spaces").filter_map(|space| space.get("name")).chain(list("/status/namespaces"));
                let names: BTreeSet<&str> = names.filter_map(Value::as_str).collect();
                let namespace = |name| named("", "Namespace", name);
                Some(Inventory {
                    objects: names.into_iter().map(namespace).collect(),
                    waits: true,
                    ..Inventory::default()
                })
            }
            // kubevela/kubevela pkg/resourcetracker/app.go: their labels; pkg/resourcekeeper/gc.go:Finalize.
            Policy::KubeVela => Some(Inventory {
                objects: all_of("", &[("core.oam.dev", "ResourceTracker")]),
                labels: labelled(&[("app.oam.dev/name", name), ("app.oam.dev/namespace", namespace)]),
                waits: true,
                ..Inventory::default()
            }),
            Policy::KubeVelaTracker => {
                let is_here = |listed: &&Value| matches!(listed["cluster"].as_str(), None | Some("" | "local"));
                let goes = |listed: &&Value| listed["skipGC"] != true && is_here(listed);
                Some(Inventory {
                    objects: list("/spec/managedResources").filter(goes).filter_map(of_fleet).collect(),
                    unlisted: is_set("/spec/compression/type") && !is_set("/spec/managedResources"),
                    waits: true,
                    ..Inventory::default()
                })
            }
            // A ResourceGroup of its name has what that is.
            Policy::ConfigSync => Some(Inventory { unlisted: true, waits: true, ..Inventory::default() }),
            Policy::ConfigSyncGroup => Some(Inventory {
                objects: list("/spec/resources").filter_map(of_argo_cd).collect(),
                ..Inventory::default()
            }),
            Policy::Certificate => Some(Inventory {
                objects: vec![InventoryObject {
                    kind: "Secret".to_owned(),
                    namespace: namespace.to_owned(),
                    name: text("/spec/secretName").to_owned(),
                    ..InventoryObject::default()
                }],
                unlisted: text("/spec/secretName").is_empty(),
                ..Inventory::default()
            }),
            Policy::Zalando => Some(Inventory::of_zalando(namespace, name)),
            // Altinity/clickhouse-operator pkg/controller/chi/controller-storage.go:deletePVC.
            Policy::Altinity => Some(Inventory {
                objects: all_of(namespace, &[("", "PersistentVolumeClaim")]),
                labels: labelled(&[("clickhouse.altinity.com/chi", name)]),
                ..Inventory::default()
            }),
            _ => None,
        }
    }

    /// What a controller deletes with an object of this policy that is gone.
    pub(crate) fn once_gone(policy: Policy, namespace: &str, name: &str) -> Option<Inventory> {
        (policy == Policy::Zalando).then(|| Inventory::of_zalando(namespace, name))
    }

    /// zalando/postgres-operator pkg/cluster/cluster.go:Delete, with the usual `cluster_labels`.
    fn of_zalando(namespace: &str, name: &str) -> Inventory {
        let kinds = [
            ("apps", "StatefulSet"),
            ("", "Service"),
            ("", "Secret"),
            ("", "PersistentVolumeClaim"),
            ("policy", "PodDisruptionBudget"),
        ];
        Inventory {
            objects: all_of(namespace, &kinds),
            labels: labelled(&[("application", "spilo"), ("cluster-name", name)]),
            ..Inventory::default()
        }
    }
}

/// The Node of this name; `None` if there is no name.
fn node_named(name: &str) -> Option<InventoryObject> {
    Some(named("", "Node", name)).filter(|node| !node.name.is_empty())
}

/// An object without a namespace.
fn named(group: &str, kind: &str, name: &str) -> InventoryObject {
    let [group, kind, name] = [group, kind, name].map(str::to_owned);
    InventoryObject { group, kind, name, ..InventoryObject::default() }
}

/// All objects of these kinds in a namespace.
fn all_of(namespace: &str, kinds: &[(&str, &str)]) -> Vec<InventoryObject> {
    let of_kind = |(group, kind): &(&str, &str)| InventoryObject {
        group: (*group).to_owned(),
        kind: (*kind).to_owned(),
        namespace: namespace.to_owned(),
        ..InventoryObject::default()
    };
    kinds.iter().map(of_kind).collect()
}

/// One set of labels.
fn labelled(labels: &[(&str, &str)]) -> Vec<BTreeMap<String, String>> {
    vec![labels.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()]
}

/// An entry with an `apiVersion`.
fn of_fleet(resource: &Value) -> Option<InventoryObject> {
    let version = resource.get("apiVersion").and_then(Value::as_str)?;
    let group = version.split_once('/').map_or("", |(group, _)| group);
    Some(InventoryObject { group: group.to_owned(), ..of_argo_cd(resource)? })
}

fn of_argo_cd(resource: &Value) -> Option<InventoryObject> {
    let text = |key: &str| resource.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let object = InventoryObject {
        group: text("group"),
        kind: text("kind"),
        namespace: text("namespace"),
        name: text("name"),
        outdated: resource.get("requiresPruning") == Some(&Value::Bool(true)),
    };
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
        outdated: false,
    };
    Some(object).filter(|object| !object.kind.is_empty() && !object.name.is_empty())
}

/// Whether Go's `strconv.ParseBool` reads this as true.
fn is_true(value: &str) -> bool {
    matches!(value, "1" | "t" | "T" | "true" | "TRUE" | "True")
}

/// Which controllers leave an object alone when they delete what their inventories name, because an annotation of it
/// says so; and whether one protects it from every delete, or confirms that (R9.48).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spared(u8);

impl Spared {
    const BY_ARGO_CD: Spared = Spared(1);
    const BY_FLUX: Spared = Spared(2);
    const BY_HELM: Spared = Spared(4);
    const BY_ALTINITY: Spared = Spared(8);
    const PROTECTED: Spared = Spared(16);
    const CONFIRMED: Spared = Spared(32);

    const SYNC_OPTIONS: &str = "argocd.argoproj.io/sync-options";
    const HELM: &str = "helm.sh/resource-policy";
    const PRUNE: &str = "kustomize.toolkit.fluxcd.io/prune";
    const RECONCILE: &str = "kustomize.toolkit.fluxcd.io/reconcile";
    const CLICKHOUSE: &str = "clickhouse.altinity.com/reclaimPolicy";
    const APPLY: &str = "kustomize.toolkit.fluxcd.io/ssa";

    /// Whether an annotation may spare its object.
    pub fn is_said_by(key: &str) -> bool {
        [Self::SYNC_OPTIONS, Self::HELM, Self::PRUNE, Self::RECONCILE, Self::APPLY, HIVE, CONFIRMED].contains(&key)
    }

    /// Heeds an annotation.
    pub fn heed(&mut self, key: &str, value: &str) {
        let lists = |option: &str| value.split(',').any(|listed| listed.trim() == option);
        let by = match key {
            Self::SYNC_OPTIONS if lists("Delete=false") => Self::BY_ARGO_CD.0,
            Self::HELM if lists("keep") => Self::BY_ARGO_CD.0 | Self::BY_HELM.0,
            HIVE if is_true(value) => Self::PROTECTED.0,
            CONFIRMED if is_true(value) => Self::CONFIRMED.0,
            _ => return self.heed_label(key, value),
        };
        self.0 |= by;
    }

    /// Heeds a label: only Flux and Altinity's operator do.
    pub(crate) fn heed_label(&mut self, key: &str, value: &str) {
        if key == Self::CLICKHOUSE && value == "Retain" {
            self.0 |= Self::BY_ALTINITY.0;
        }
        let spares = match key {
            Self::PRUNE | Self::RECONCILE => value.eq_ignore_ascii_case("disabled"),
            Self::APPLY => value.eq_ignore_ascii_case("ignore"),
            _ => false,
        };
        self.0 |= if spares { Self::BY_FLUX.0 } else { 0 };
    }

    /// Whether the controller that heeds this policy leaves the object alone.
    pub fn by(self, policy: Policy) -> bool {
        let by = match policy {
            Policy::ArgoCd => Self::BY_ARGO_CD,
            Policy::Kustomization => Self::BY_FLUX,
            Policy::HelmRelease => Self::BY_HELM,
            Policy::Altinity => Self::BY_ALTINITY,
            _ => return false,
        };
        self.0 & by.0 != 0
    }

    /// Whether Hive's webhook refuses to delete it.
    pub(crate) fn is_protected(self) -> bool {
        self.0 & Self::PROTECTED.0 != 0
    }

    /// Whether Gardener lets it be deleted.
    pub(crate) fn is_confirmed(self) -> bool {
        self.0 & Self::CONFIRMED.0 != 0
    }

    /// Annotations that say the same.
    pub fn annotations(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let all = [
            (Self::BY_ARGO_CD, Self::SYNC_OPTIONS, "Delete=false"),
            (Self::BY_FLUX, Self::PRUNE, "disabled"),
            (Self::BY_HELM, Self::HELM, "keep"),
            (Self::PROTECTED, HIVE, "true"),
            (Self::CONFIRMED, CONFIRMED, "true"),
        ];
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
        let more = |policy, object: Value| {
            let inventory = Inventory::read(policy, &object).unwrap();
            let sets = inventory.labels.into_iter().map(|labels| {
                labels.into_iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(",")
            });
            (sets.collect::<Vec<_>>().join(" | "), inventory.propagation)
        };
        let argo = json!({"spec": {"destination": {"server": "https://kubernetes.default.svc", "namespace": "shop"}},
            "status": {"resources": [
                {"group": "apps", "version": "v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
                {"version": "v1", "kind": "Namespace", "name": "shop"}, {"kind": "Secret"}, 7,
                {"kind": "CustomResourceDefinition", "name": "shops.acme.io", "group": "apiextensions.k8s.io"},
                {"kind": "Application", "name": "all", "namespace": "argocd", "group": "argoproj.io"}]},
            "metadata": {"name": "all", "namespace": "argocd",
                "finalizers": ["resources-finalizer.argocd.argoproj.io"]}});
        assert_eq!(more(Policy::ArgoCd, argo.clone()), (String::new(), Propagation::Foreground));
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

        let named = |mut object: Value, finalizers: &[&str]| {
            object["metadata"] = json!({"name": "db", "namespace": "shop", "finalizers": finalizers});
            object
        };
        let claim = json!({"spec": {"resourceRef": {"apiVersion": "acme.io/v1", "kind": "XDb", "name": "db-x7k2p"},
            "compositeDeletePolicy": "Foreground"}});
        assert_eq!(more(Policy::CrossplaneClaim, claim.clone()), (String::new(), Propagation::Foreground));
        assert_eq!(read(Policy::CrossplaneClaim, claim), ("acme.io/XDb /db-x7k2p".to_owned(), false, true));
        assert_eq!(read(Policy::CrossplaneClaim, json!({"spec": {}})), (String::new(), false, false));

        let release = named(json!({"spec": {"uninstall": {"deletionPropagation": "orphan"}}}), &[]);
        let labels = "app.kubernetes.io/managed-by=Helm,helm.toolkit.fluxcd.io/name=db,\
             helm.toolkit.fluxcd.io/namespace=shop";
        assert_eq!(more(Policy::HelmRelease, release.clone()), (labels.to_owned(), Propagation::Orphan));
        assert_eq!(read(Policy::HelmRelease, release), ("/ /".to_owned(), false, true));
        let unwaited = json!({"spec": {"kubeConfig": {}, "uninstall": {"disableWait": true}}});
        assert_eq!(read(Policy::HelmRelease, unwaited), ("/ /".to_owned(), true, false));

        let both = ["percona.com/delete-pxc-pvc", "percona.com/delete-proxysql-pvc"];
        let cluster = named(json!({}), &both);
        let labels = "app.kubernetes.io/component=pxc,app.kubernetes.io/instance=db | \
             app.kubernetes.io/component=proxysql,app.kubernetes.io/instance=db";
        assert_eq!(more(Policy::PerconaClaims, cluster.clone()), (labels.to_owned(), Propagation::Background));
        assert_eq!(read(Policy::PerconaClaims, cluster), ("/PersistentVolumeClaim shop/".to_owned(), false, false));
    }

    #[test]
    fn annotations_spare_an_object_from_one_controller() {
        let spared = |key: &str, value: &str| {
            let mut spared = Spared::default();
            spared.heed(key, value);
            [Policy::ArgoCd, Policy::Kustomization, Policy::HelmRelease].map(|policy| spared.by(policy))
        };
        assert_eq!(spared(Spared::SYNC_OPTIONS, "Prune=false, Delete=false"), [true, false, false]);
        assert_eq!(spared(Spared::SYNC_OPTIONS, "Delete=true"), [false; 3]);
        assert_eq!(spared(Spared::HELM, "keep"), [true, false, true]);
        assert_eq!(spared(Spared::PRUNE, "Disabled"), [false, true, false]);
        assert_eq!(spared(Spared::APPLY, "Ignore"), [false, true, false]);
        assert_eq!(spared("acme.io/prune", "disabled"), [false; 3]);
        let mut label = Spared::default();
        label.heed_label(Spared::HELM, "keep");
        assert_eq!(label, Spared::default());
        let mut both = Spared::default();
        both.heed(Spared::HELM, "keep");
        both.heed(Spared::RECONCILE, "disabled");
        let mut again = Spared::default();
        both.annotations().for_each(|(key, value)| again.heed(key, value));
        assert_eq!(both, again);
    }
}
