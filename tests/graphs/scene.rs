//! Turns graphs into snapshots, as if read from a cluster that contains nothing else.

use gc_core::model::{
    Coordinate, Fact, ListRecord, ObjectId, Origin, RawObject, RawReference, Resource, ResourceId, Resources, Snapshot,
    SnapshotBuilder,
    facts::{
        DefinitionFacts, JobFacts, KubeletReport, LabelRequirement, LabelSelector, NamespaceFacts, NodeFacts, PodFacts,
        WorkloadFacts,
    },
};

use super::{
    end::Written,
    kinds::{HIDDEN, HIDDEN_REGION, KINDS, Kind, SEALED},
    text::{Graph, Line},
};

/// The namespace of a graph.
pub const NAMESPACE: &str = "ns";

/// The label of objects: their name as far as its first `-`.
const LABEL: &str = "app";

/// A selector of objects with this label.
pub fn selector_of(app: &str) -> LabelSelector {
    let values = vec![app.to_owned()];
    LabelSelector(vec![LabelRequirement { key: LABEL.to_owned(), operator: "In".to_owned(), values }])
}

/// A snapshot of this graph only, with its objects in the order of the lines.
#[track_caller]
pub fn snapshot(graph: &Graph) -> Snapshot {
    let mut builder = SnapshotBuilder::new(Origin::Dump { paths: vec!["scene".into()] }, resources());
    for line in &graph.lines {
        let resource = resource_of(builder.snapshot(), line.kind);
        let owners: Vec<Written> = line.references.iter().map(|reference| Written::of(reference, graph)).collect();
        let id = builder.add(
            resource,
            &RawObject {
                deleted: line.terminating.then_some(1),
                grace: line.grace,
                finalizers: line.finalizers.iter().map(|finalizer| finalizer.as_str().into()).collect(),
                owners: owners.iter().map(raw).collect(),
                labels: vec![(LABEL.into(), line.name.split('-').next().unwrap_or_default().into())],
                ..RawObject::named(namespace(line), line.name.as_str(), line.uid())
            },
        );
        if let Some(fact) = fact(line) {
            builder.snapshot().facts.insert(id, fact);
        }
    }
    let watched: Vec<_> =
        builder.snapshot().resources.deletable().map(|(id, resource)| (id, resource.kind.clone())).collect();
    for (resource, kind) in watched {
        let conversion =
            || format!("429 Too Many Requests: conversion webhook for acme.io/v1, Kind={kind} failed: no endpoint");
        let failure = if graph.unread.contains(&kind) {
            Some("forbidden".to_owned())
        } else {
            graph.unconverted.contains(&kind).then(conversion)
        };
        builder.list(ListRecord {
            resource,
            namespace: None,
            resource_version: String::new(),
            failure: failure.map(Into::into),
        });
    }
    let mut snapshot = builder.build();
    confirm_hidden(&mut snapshot, graph);
    snapshot
}

/// The object that `Kind/name` names.
#[track_caller]
pub fn id(snapshot: &Snapshot, name: &str) -> ObjectId {
    let found = snapshot.objects().find(|(id, _)| snapshot.short_name(*id) == name);
    found.unwrap_or_else(|| panic!("no {name} in the graph")).0
}

fn namespace(line: &Line) -> &str {
    line.elsewhere.as_deref().unwrap_or(if line.kind.namespaced { NAMESPACE } else { "" })
}

fn raw(written: &Written) -> RawReference<'_> {
    RawReference {
        api_version: written.api_version.as_str().into(),
        kind: written.kind.as_str().into(),
        name: written.name.as_str().into(),
        uid: written.uid.as_str().into(),
        controller: written.controller,
        block_owner_deletion: written.block,
    }
}

fn fact(line: &Line) -> Option<Fact> {
    match line.kind.name {
        // The facts could not be read.
        "Node" | "Pod" if line.node.as_deref() == Some("?") => None,
        "Pod" => Some(Fact::Pod(PodFacts {
            node: line.node.clone(),
            grace: Some(30),
            claims: line.claims.clone(),
            ..PodFacts::default()
        })),
        "Namespace" => {
            let finalizers = std::iter::once("kubernetes").chain(line.spec_finalizer.as_deref()).map(str::to_owned);
            let finalizers = finalizers.filter(|_| line.spec_finalizer.as_deref() != Some("-")).collect();
            Some(Fact::Namespace(NamespaceFacts { finalizers, ..NamespaceFacts::default() }))
        }
        "Node" => Some(Fact::Node(NodeFacts { pods: None, kubelet: Some(KubeletReport::Ready) })),
        // They adopt nothing.
        "Job" => Some(Fact::Job(JobFacts { selector: Some(selector_of("none")), ..JobFacts::default() })),
        "Deployment" | "ReplicaSet" => {
            Some(Fact::Workload(WorkloadFacts { selector: Some(selector_of("none")), ..WorkloadFacts::default() }))
        }
        "CustomResourceDefinition" => Some(Fact::Definition(DefinitionFacts {
            group: "acme.io".into(),
            kind: line.name.clone(),
            plural: format!("{}s", line.name.to_lowercase()),
            established: line.spec_finalizer.as_deref() != Some("-"),
            ..DefinitionFacts::default()
        })),
        _ => None,
    }
}

/// On a real cluster, the program looks up owners of unlistable kinds one by one; here every absent owner of such a
/// kind is confirmed.
fn confirm_hidden(snapshot: &mut Snapshot, graph: &Graph) {
    let hidden = resource_of(snapshot, Kind::named(HIDDEN));
    for reference in graph.lines.iter().flat_map(|line| &line.references).filter(|reference| reference.kind == HIDDEN) {
        let (namespace, name) = (snapshot.strings.intern(NAMESPACE), snapshot.strings.intern(&reference.name));
        snapshot.confirm_absent(Coordinate { resource: hidden, namespace, name });
    }
}

fn resource_of(snapshot: &Snapshot, kind: &Kind) -> ResourceId {
    let group = kind.api_version.rsplit_once('/').map_or("", |(group, _)| group);
    snapshot.resources.by_group_kind(group, kind.name).expect("every kind is served")
}

fn resources() -> Resources {
    let all = KINDS.iter().map(|kind| {
        let (group, version) = kind.api_version.rsplit_once('/').unwrap_or(("", kind.api_version));
        let verbs: &[&str] = match kind.name {
            HIDDEN | HIDDEN_REGION => &["get", "delete", "patch"],
            SEALED => &["get", "delete", "deletecollection", "patch"],
            _ => &["get", "list", "watch", "delete", "patch"],
        };
        Resource {
            namespaced: kind.namespaced,
            ..Resource::named(group, version, kind.plural, kind.name).with_verbs(verbs)
        }
    });
    Resources::new(all.collect(), vec![("acme.io".into(), "v1".into())])
}
