//! Graphs written as text, one object a line, for tables of rules.
//!
//! ```text
//! Deployment web
//! ReplicaSet web-1 <- Deployment/web!
//! Pod a fin=acme.io/drain node=n1 <- ReplicaSet/web-1! ConfigMap/gone
//! ```
//!
//! `ns:name` puts an object elsewhere than in namespace `ns`; cluster-scoped kinds have none. `T` makes it terminating, `T=30` with that
//! grace. `node=?` is a pod whose facts are not known, `spec=x` one more of a Namespace's spec.finalizers. References: `!` blocks, `~` says `blockOwnerDeletion: false`, `+!` is a controller that blocks; `@name=x`, `@kind=x`, `@version=x`, `@uid=x` bend them. An owner
//! that no line declares is absent. `unread KIND` makes the list of a kind a gap.

use kubectl_gc::{
    foretell::{Assume, OutcomeKind, Plan, Request, Stage, explore, plan},
    graph::OwnerGraph,
    model::{
        Coordinate, Fact, ListRecord, ObjectId, Origin, RawObject, RawReference, Resource, Resources, Snapshot, SnapshotBuilder,
        facts::{DefinitionFacts, NamespaceFacts, PodFacts},
    },
    server::Propagation,
};

const KINDS: &[(&str, &str, &str, bool)] = &[
    ("v1", "Pod", "pods", true),
    ("v1", "ConfigMap", "configmaps", true),
    ("v1", "Secret", "secrets", true),
    ("v1", "PersistentVolumeClaim", "persistentvolumeclaims", true),
    ("v1", "PersistentVolume", "persistentvolumes", false),
    ("v1", "Service", "services", true),
    ("v1", "Endpoints", "endpoints", true),
    ("v1", "Namespace", "namespaces", false),
    ("v1", "Node", "nodes", false),
    ("apps/v1", "Deployment", "deployments", true),
    ("apps/v1", "ReplicaSet", "replicasets", true),
    ("apps/v1", "StatefulSet", "statefulsets", true),
    ("batch/v1", "Job", "jobs", true),
    ("batch/v1", "CronJob", "cronjobs", true),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", false),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition", "customresourcedefinitions", false),
    ("acme.io/v1", "Shop", "shops", true),
    ("acme.io/v1alpha1", "Shop", "shops", true),
    ("argoproj.io/v1alpha1", "Application", "applications", true),
    ("s3.aws.upbound.io/v1", "Bucket", "buckets", false),
    ("snapshot.storage.k8s.io/v1", "VolumeSnapshot", "volumesnapshots", true),
    ("snapshot.storage.k8s.io/v1", "VolumeSnapshotContent", "volumesnapshotcontents", false),
    ("acme.io/v1", "Region", "regions", false),
    // Neither listed nor watched, as some aggregated APIs are.
    ("odd.io/v1", "Hidden", "hiddens", true),
];

/// A graph that was read from text.
pub struct Scene {
    pub snapshot: Snapshot,
}

impl Scene {
    pub fn new(text: &str) -> Self {
        let lines: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).filter(|words: &Vec<&str>| !words.is_empty()).collect();
        let unread: Vec<&str> = lines.iter().filter(|words| words[0] == "unread").map(|words| words[1]).collect();
        let mut builder = SnapshotBuilder::new(Origin::Dump { paths: vec!["scene".into()] }, resources());
        let declared: Vec<Declared> =
            lines.iter().filter(|words| words[0] != "unread").map(|words| Declared::parse(words)).collect();
        for object in &declared {
            let resource = resource_of(builder.snapshot(), object.kind);
            let owners = object.references.iter().map(|text| reference(text, &declared)).collect();
            let id = builder.add(
                resource,
                &RawObject {
                    namespace: object.namespace.into(),
                    name: object.name.into(),
                    uid: object.uid.clone().into(),
                    deleted: object.terminating.then_some(1),
                    grace: object.grace,
                    finalizers: object.finalizers.iter().map(|finalizer| (*finalizer).into()).collect(),
                    owners,
                    ..RawObject::default()
                },
            );
            let facts = &mut builder.snapshot().facts;
            match object.kind {
                // Its facts could not be read.
                "Pod" if object.node == Some("?") => {}
                "Pod" => {
                    let node = object.node.map(str::to_owned);
                    facts.insert(id, Fact::Pod(PodFacts { node, grace: Some(30), claims: object.claims.clone(), phase: None }));
                }
                "Namespace" => {
                    let finalizers = std::iter::once("kubernetes").chain(object.spec_finalizer).map(str::to_owned).collect();
                    facts.insert(id, Fact::Namespace(NamespaceFacts { finalizers }));
                }
                "CustomResourceDefinition" => facts.insert(
                    id,
                    Fact::Definition(DefinitionFacts {
                        group: "acme.io".into(),
                        kind: object.name.into(),
                        plural: String::new(),
                        established: true,
                    }),
                ),
                _ => {}
            }
        }
        let watched: Vec<_> = builder.snapshot().resources.deletable().map(|(id, resource)| (id, resource.kind.clone())).collect();
        for (resource, kind) in watched {
            let failure = unread.contains(&kind.as_str()).then(|| "forbidden".to_owned());
            builder.list(ListRecord { resource, namespace: None, resource_version: String::new(), failure });
        }
        let mut snapshot = builder.build();
        confirm_hidden(&mut snapshot, &declared);
        Scene { snapshot }
    }

    /// The object that `Kind/name` names.
    pub fn id(&self, name: &str) -> ObjectId {
        let found = self.snapshot.objects().find(|(id, _)| self.snapshot.short_name(*id) == name);
        found.unwrap_or_else(|| panic!("no {name} in the scene")).0
    }

    pub fn plan_with(&self, targets: &str, propagation: Propagation, assume: Assume) -> Plan {
        let graph = OwnerGraph::new(&self.snapshot);
        let stage = Stage::new(&self.snapshot, &graph, assume);
        let targets = targets.split_whitespace().map(|target| self.id(target)).collect();
        plan(&stage, &Request { targets, propagation, grace: None })
    }

    /// The same in several orders of events, with what else may become of each object after a slash:
    /// `ConfigMap/c Deleted/Orphaned`.
    pub fn tell_orders(&self, targets: &str, propagation: Propagation) -> String {
        let graph = OwnerGraph::new(&self.snapshot);
        let stage = Stage::new(&self.snapshot, &graph, Assume::Known);
        let targets = targets.split_whitespace().map(|target| self.id(target)).collect();
        self.describe(&explore(&stage, &Request { targets, propagation, grace: None }))
    }

    /// What a delete does, as text: `Deployment/web Deleted, Pod/a Terminating(acme.io/drain)`, in the order of the lines.
    pub fn tell(&self, targets: &str, propagation: Propagation) -> String {
        self.describe(&self.plan_with(targets, propagation, Assume::Known))
    }

    pub fn describe(&self, plan: &Plan) -> String {
        let mut outcomes: Vec<_> = plan.outcomes.iter().collect();
        outcomes.sort_by_key(|outcome| outcome.object);
        let told = outcomes.iter().map(|outcome| {
            let detail = match &outcome.after {
                Some(after) if outcome.kind == OutcomeKind::Terminating => {
                    let finalizers: Vec<&str> = after.finalizers.iter().map(|finalizer| self.snapshot.text(*finalizer)).collect();
                    format!("({})", finalizers.join(" "))
                }
                _ => String::new(),
            };
            let mark = if outcome.uncertain.is_some() { "?" } else { "" };
            let mark = if outcome.alternatives.is_empty() { mark } else { "" };
            let mut others: Vec<&str> = outcome.alternatives.iter().map(|other| other.kind.name()).collect();
            others.sort_unstable();
            let others: String = others.iter().map(|other| format!("/{other}")).collect();
            format!("{} {}{detail}{mark}{others}", self.snapshot.short_name(outcome.object), outcome.kind.name())
        });
        told.collect::<Vec<_>>().join(", ")
    }
}

/// What can't be listed is looked up one by one on a real cluster; here every absent owner of such a kind is confirmed.
fn confirm_hidden(snapshot: &mut Snapshot, declared: &[Declared]) {
    let hidden = resource_of(snapshot, "Hidden");
    for word in declared.iter().flat_map(|object| &object.references) {
        if let Some(name) = word.split(['!', '~', '@']).next().and_then(|word| word.strip_prefix("Hidden/")) {
            let (namespace, name) = (snapshot.strings.intern("ns"), snapshot.strings.intern(name));
            snapshot.confirm_absent(Coordinate { resource: hidden, namespace, name });
        }
    }
}

struct Declared<'t> {
    kind: &'t str,
    namespace: &'t str,
    name: &'t str,
    uid: String,
    finalizers: Vec<&'t str>,
    terminating: bool,
    grace: Option<i64>,
    node: Option<&'t str>,
    claims: Vec<String>,
    spec_finalizer: Option<&'t str>,
    references: Vec<&'t str>,
}

impl<'t> Declared<'t> {
    fn parse(words: &[&'t str]) -> Self {
        let kind = words[0];
        let namespaced = KINDS.iter().find(|known| known.1 == kind).unwrap_or_else(|| panic!("no kind {kind}")).3;
        let (namespace, name) = words[1].split_once(':').unwrap_or((if namespaced { "ns" } else { "" }, words[1]));
        let mut declared = Declared {
            kind,
            namespace,
            name,
            uid: format!("{kind}-{name}"),
            finalizers: Vec::new(),
            terminating: false,
            grace: None,
            node: None,
            claims: Vec::new(),
            spec_finalizer: None,
            references: Vec::new(),
        };
        let mut rest = words[2..].iter();
        while let Some(word) = rest.next() {
            match word.split_once('=') {
                None if *word == "T" => declared.terminating = true,
                None if *word == "<-" => declared.references = rest.by_ref().copied().collect(),
                Some(("T", grace)) => {
                    declared.terminating = true;
                    declared.grace = Some(grace.parse().expect("a grace period"));
                }
                Some(("fin", list)) => declared.finalizers = list.split(',').collect(),
                Some(("node", node)) => declared.node = Some(node),
                Some(("claim", claim)) => declared.claims.push(claim.to_owned()),
                Some(("spec", finalizer)) => declared.spec_finalizer = Some(finalizer),
                Some(("uid", uid)) => declared.uid = uid.to_owned(),
                _ => panic!("what is {word}?"),
            }
        }
        declared
    }
}

fn reference(text: &str, declared: &[Declared]) -> RawReference<'static> {
    let mut parts = text.split('@');
    let plain = parts.next().expect("split yields at least one part");
    let block = text.ends_with('!').then_some(true).or(text.ends_with('~').then_some(false));
    let (kind, name) = plain.trim_end_matches(['!', '~', '+']).split_once('/').unwrap_or_else(|| panic!("{text} is not Kind/name"));
    let api_version = KINDS.iter().find(|known| known.1 == kind).map_or("v1", |known| known.0).to_owned();
    let uid = declared.iter().find(|object| object.kind == kind && object.name == name).map(|object| object.uid.clone());
    let mut reference = RawReference {
        api_version: api_version.into(),
        kind: kind.to_owned().into(),
        name: name.to_owned().into(),
        uid: uid.unwrap_or_else(|| format!("absent-{kind}-{name}")).into(),
        controller: text.contains('+').then_some(true),
        block_owner_deletion: block,
    };
    for bend in parts {
        let value = |text: &str| text.trim_end_matches(['!', '~', '+']).to_owned().into();
        match bend.split_once('=').unwrap_or_else(|| panic!("what is @{bend}?")) {
            ("name", name) => reference.name = value(name),
            ("kind", kind) => reference.kind = value(kind),
            ("version", version) => reference.api_version = value(version),
            ("uid", uid) => reference.uid = value(uid),
            _ => panic!("what is @{bend}?"),
        }
    }
    reference
}

fn resource_of(snapshot: &Snapshot, kind: &str) -> kubectl_gc::model::ResourceId {
    let (api_version, ..) = KINDS.iter().find(|known| known.1 == kind).unwrap_or_else(|| panic!("no kind {kind}"));
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    snapshot.resources.by_group_kind(group, kind).expect("every kind is served")
}

fn resources() -> Resources {
    let all = KINDS.iter().map(|(api_version, kind, plural, namespaced)| {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        let verbs: &[&str] =
            if *kind == "Hidden" { &["get", "delete", "patch"] } else { &["get", "list", "watch", "delete", "patch"] };
        Resource {
            group: group.into(),
            version: version.into(),
            plural: (*plural).into(),
            singular: String::new(),
            kind: (*kind).into(),
            short_names: Vec::new(),
            categories: Vec::new(),
            namespaced: *namespaced,
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
        }
    });
    Resources::new(all.collect(), vec![("acme.io".into(), "v1".into())])
}
