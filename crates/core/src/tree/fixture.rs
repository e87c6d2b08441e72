//! Small clusters for tests.

use std::borrow::Cow;

use crate::{
    graph::OwnerGraph,
    model::{
        ListRecord, ObjectId, Origin, RawObject, RawReference, Resource, ResourceId, Resources, Snapshot,
        SnapshotBuilder,
    },
};

/// (group, plural, kind, namespaced, watched)
const KINDS: [(&str, &str, &str, bool, bool); 9] = [
    ("", "configmaps", "ConfigMap", true, true),
    ("", "nodes", "Node", false, true),
    ("", "pods", "Pod", true, true),
    ("", "secrets", "Secret", true, true),
    ("apps", "deployments", "Deployment", true, true),
    ("apps", "replicasets", "ReplicaSet", true, true),
    ("example.org", "shops", "Shop", true, true),
    ("example.org", "readings", "Reading", true, false),
    ("coordination.k8s.io", "leases", "Lease", true, true),
];

/// A small cluster under construction. The uid of an object is `kind-name` in lower case by default.
pub struct World {
    builder: SnapshotBuilder,
    unread: Vec<&'static str>,
}

/// A valid, controlling, blocking reference to `Kind/name`.
pub fn owner(kind_and_name: &str) -> RawReference<'static> {
    let (kind, name) = kind_and_name.split_once('/').unwrap();
    let (group, ..) = KINDS.into_iter().find(|known| known.2 == kind).unwrap_or(("nowhere.org", "", "", true, true));
    RawReference {
        api_version: Cow::Owned(if group.is_empty() { "v1".to_owned() } else { format!("{group}/v1") }),
        kind: Cow::Owned(kind.to_owned()),
        name: Cow::Owned(name.to_owned()),
        uid: Cow::Owned(uid(kind, name)),
        controller: Some(true),
        block_owner_deletion: Some(true),
    }
}

pub fn uid(kind: &str, name: &str) -> String {
    format!("{kind}-{name}").to_lowercase()
}

impl World {
    pub fn empty() -> World {
        let verbs = |watched| if watched { vec!["delete", "get", "list", "watch"] } else { vec!["get", "list"] };
        let resources = KINDS
            .into_iter()
            .map(|(group, plural, kind, namespaced, watched)| Resource {
                group: group.to_owned(),
                version: "v1".to_owned(),
                plural: plural.to_owned(),
                singular: kind.to_lowercase(),
                kind: kind.to_owned(),
                short_names: Vec::new(),
                categories: Vec::new(),
                namespaced,
                verbs: verbs(watched).into_iter().map(str::to_owned).collect(),
                ..Resource::default()
            })
            .collect();
        let origin = Origin::Cluster { context: "test".to_owned(), server: "test:6443".to_owned() };
        World { builder: SnapshotBuilder::new(origin, Resources::new(resources, Vec::new())), unread: Vec::new() }
    }

    /// Makes a kind unreadable.
    pub fn unread(mut self, kind: &'static str) -> World {
        self.unread.push(kind);
        self
    }

    /// Adds `Kind/name` to a namespace.
    pub fn add(&mut self, namespace: &str, kind_and_name: &str, owners: &[&str]) -> ObjectId {
        self.add_with(namespace, kind_and_name, owners.iter().map(|name| owner(name)).collect(), |_| {})
    }

    /// Adds `Kind/name` with these references; `change` sets other fields.
    pub fn add_with(
        &mut self,
        namespace: &str,
        kind_and_name: &str,
        owners: Vec<RawReference<'_>>,
        change: impl FnOnce(&mut RawObject<'_>),
    ) -> ObjectId {
        let (kind, name) = kind_and_name.split_once('/').unwrap();
        let mut raw = RawObject { created: Some(1_000), owners, ..RawObject::named(namespace, name, uid(kind, name)) };
        change(&mut raw);
        self.builder.add(resource(kind), &raw)
    }

    /// Builds the snapshot: every kind is listed, except unreadable ones.
    pub fn build(mut self) -> (Snapshot, OwnerGraph) {
        for (index, (_, _, kind, ..)) in KINDS.into_iter().enumerate() {
            self.builder.list(ListRecord {
                resource: ResourceId(index as u32),
                namespace: None,
                resource_version: "1".to_owned(),
                failure: self.unread.contains(&kind).then(|| "forbidden".into()),
            });
        }
        let snapshot = self.builder.build();
        let graph = OwnerGraph::new(&snapshot);
        (snapshot, graph)
    }
}

fn resource(kind: &str) -> ResourceId {
    ResourceId(KINDS.iter().position(|known| known.2 == kind).unwrap() as u32)
}

/// Makes an object terminating, with these finalizers.
pub fn terminating(finalizers: &[&'static str]) -> impl FnOnce(&mut RawObject<'_>) {
    move |raw| {
        raw.deleted = Some(2_000);
        raw.finalizers = finalizers.iter().map(|finalizer| Cow::Borrowed(*finalizer)).collect();
    }
}

/// A namespace with an example of everything that a tree marks.
pub fn shop() -> (Snapshot, OwnerGraph) {
    let mut world = World::empty().unread("Secret");
    world.add("", "Node/n1", &[]);
    world.add("shop", "Deployment/web", &[]);
    world.add("shop", "ReplicaSet/web-1", &["Deployment/web"]);
    world.add_with("shop", "ReplicaSet/web-2", vec![owner("Deployment/web")], terminating(&["foregroundDeletion"]));
    for index in 0..8 {
        world.add("shop", &format!("Pod/web-1-{index}"), &["ReplicaSet/web-1"]);
    }
    world.add_with("shop", "Pod/web-2-a", vec![owner("ReplicaSet/web-2")], terminating(&["acme.io/drain"]));
    world.add("shop", "ConfigMap/both", &["Deployment/web", "Pod/web-1-0"]);
    world.add("shop", "ConfigMap/left-over", &["ReplicaSet/gone"]);
    world.add("shop", "ConfigMap/locked", &["Secret/token"]);
    world.add("shop", "ConfigMap/lost", &["Widget/w"]);
    world.add("shop", "ConfigMap/plain", &[]);
    world.add("shop", "ConfigMap/plain-2", &[]);
    world.add("shop", "ConfigMap/recreated", &[]);
    let stale = RawReference { uid: Cow::Borrowed("older"), ..owner("ConfigMap/recreated") };
    world.add_with("shop", "ConfigMap/stale", vec![stale], |_| {});
    let misnamed = RawReference { name: Cow::Borrowed("wbe"), ..owner("Deployment/web") };
    world.add_with("shop", "ConfigMap/misnamed", vec![misnamed], |_| {});
    world.add("shop", "Pod/etcd-n1", &["Node/n1"]);
    world.add("shop", "Shop/a", &["Shop/b"]);
    world.add("shop", "Shop/b", &["Shop/a"]);
    world.add("shop", "Shop/self", &["Shop/self"]);
    world.add_with("shop", "Shop/main", Vec::new(), terminating(&["orphan", "acme.io/a", "acme.io/b"]));
    world.add("", "Node/odd", &["Shop/main"]);
    world.add("other", "ConfigMap/astray", &["Deployment/web"]);
    world.add("shop", "Reading/r1", &["Deployment/web"]);
    world.build()
}
