//! The objects of a picture, the owner references between them, and the commands that show them.

use rustc_hash::FxHashMap;

use gc_core::{
    command_line::{Kubectl, ShellCommand},
    graph::{NodeId, OwnerGraph},
    model::{Identity, ObjectId, Reference, Snapshot, group_of},
    tree::{Direction, Mark, ResolvedReference},
};

use super::{Link, Object};

/// Collects objects, each once.
pub(in crate::render) struct Objects<'a> {
    snapshot: &'a Snapshot,
    graph: &'a OwnerGraph,
    commands: &'a ObjectCommands,
    nodes: Vec<NodeId>,
    objects: Vec<Object>,
    places: FxHashMap<NodeId, usize>,
}

impl<'a> Objects<'a> {
    pub(in crate::render) fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, commands: &'a ObjectCommands) -> Self {
        Objects { snapshot, graph, commands, nodes: Vec::new(), objects: Vec::new(), places: FxHashMap::default() }
    }

    /// The place of an object.
    pub(in crate::render) fn add(&mut self, id: ObjectId) -> usize {
        let (snapshot, commands) = (self.snapshot, self.commands);
        self.place(id.into(), || of_object(snapshot, commands, id))
    }

    /// The place of the owner that a reference names by its uid, whether it exists or not.
    pub(in crate::render) fn add_owner(&mut self, reference: &Reference) -> Option<usize> {
        let node = self.graph.by_uid(reference.uid)?;
        match self.graph.object(node) {
            Some(id) => Some(self.add(id)),
            None => {
                let snapshot = self.snapshot;
                Some(self.place(node, || of_reference(snapshot, reference)))
            }
        }
    }

    fn place(&mut self, node: NodeId, object: impl FnOnce() -> Object) -> usize {
        *self.places.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.objects.push(object());
            self.objects.len() - 1
        })
    }

    /// All objects, with the owners of those collected so far, and the references between them.
    pub(in crate::render) fn finish(mut self) -> (Vec<Object>, Vec<Link>) {
        let mut links = Vec::new();
        for dependent in 0..self.nodes.len() {
            let Some(id) = self.graph.object(self.nodes[dependent]) else { continue };
            let snapshot = self.snapshot;
            let object = snapshot.object(id);
            for reference in object.owners.iter() {
                let Some(owner) = self.add_owner(reference) else { continue };
                let link = ResolvedReference::of(snapshot, self.graph, object, reference);
                let invalid = match link.standing.valid() {
                    true => String::new(),
                    false => Mark::Edge { holder: id, reference: *reference, link }.words(snapshot, Direction::Owners),
                };
                links.push(Link {
                    dependent,
                    owner,
                    controller: reference.is_controller(),
                    blocks: reference.blocks(),
                    invalid,
                    closes_cycle: false,
                });
            }
        }
        mark_cycles(self.objects.len(), &mut links);
        (self.objects, links)
    }
}

/// Marks the references that lead back to an object that is on the way down to them. The search takes objects and
/// dependents in their order, as the tree does.
fn mark_cycles(objects: usize, links: &mut [Link]) {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); objects];
    for (index, link) in links.iter().enumerate() {
        below[link.owner].push(index);
    }
    let (mut seen, mut on_path) = (vec![false; objects], vec![false; objects]);
    for root in 0..objects {
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        on_path[root] = true;
        let mut path = vec![(root, 0)];
        while let Some((object, next)) = path.last_mut() {
            let Some(index) = below[*object].get(*next).copied() else {
                on_path[*object] = false;
                path.pop();
                continue;
            };
            *next += 1;
            let dependent = links[index].dependent;
            if on_path[dependent] {
                links[index].closes_cycle = true;
            } else if !std::mem::replace(&mut seen[dependent], true) {
                on_path[dependent] = true;
                path.push((dependent, 0));
            }
        }
    }
}

fn of_object(snapshot: &Snapshot, commands: &ObjectCommands, id: ObjectId) -> Object {
    let object = snapshot.object(id);
    let created = object.created.get();
    Object {
        created: created.and_then(|created| Some(jiff::Timestamp::from_second(created).ok()?.to_string())),
        terminating: object.terminating(),
        finalizers: object.finalizers.iter().map(|finalizer| snapshot.text(*finalizer).to_owned()).collect(),
        ..of_identity(&Identity::of(snapshot, id), commands)
    }
}

/// An object of which only its name is known.
pub(in crate::render) fn of_identity(identity: &Identity, commands: &ObjectCommands) -> Object {
    let Identity { api_version, kind, namespace, name, uid } = identity.clone();
    let commands = commands.of(&api_version, &kind, &namespace, &name);
    Object { api_version, kind, namespace, name, uid, commands, ..Object::default() }
}

/// An owner that no object is, as a reference names it.
fn of_reference(snapshot: &Snapshot, reference: &Reference) -> Object {
    let text = |symbol| snapshot.text(symbol).to_owned();
    Object {
        api_version: text(reference.api_version),
        kind: text(reference.kind),
        name: text(reference.name),
        uid: text(reference.uid),
        is_virtual: true,
        ..Object::default()
    }
}

/// The commands that show an object, without its name.
#[derive(Clone, Debug)]
pub struct ObjectCommands {
    explain: ShellCommand,
    /// Only for a cluster: a dump may be old, or of another one.
    get: Option<ShellCommand>,
}

impl ObjectCommands {
    /// `explain` is the command without its target, with all that names the source.
    pub fn new(explain: ShellCommand, get: Option<ShellCommand>) -> Self {
        ObjectCommands { explain, get }
    }

    /// For a cluster.
    pub fn of_cluster(kubectl: &Kubectl) -> Self {
        ObjectCommands { explain: kubectl.plugin("explain"), get: Some(kubectl.verb("get")) }
    }

    /// The commands for an object; none if its name, kind or namespace is one that no API server accepts.
    pub(super) fn of(&self, api_version: &str, kind: &str, namespace: &str, name: &str) -> Vec<String> {
        let group = group_of(api_version);
        let about =
            |command: &ShellCommand| command.clone().object(&kind.to_lowercase(), group, name)?.in_namespace(namespace);
        let explain = about(&self.explain);
        let get = self.get.as_ref().and_then(about).map(|get| get.args(["-o", "yaml"]));
        explain.into_iter().chain(get).map(|command| command.to_string()).collect()
    }
}
