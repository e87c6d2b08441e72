//! What a picture shows of an answer: objects, their owner references, and what becomes of each object. Every format
//! that draws (`html`, `svg`, `mermaid`, `dot`) is made of it, so that all say the same as the text.

mod fold;
pub(super) mod graphs;
pub(super) mod html;
pub(super) mod svg;

use std::{borrow::Cow, collections::BTreeSet};

use rustc_hash::FxHashMap;
use serde::Serialize;

use gc_core::{
    command_line::{Kubectl, ShellCommand},
    graph::{NodeId, OwnerGraph},
    model::{Identity, ObjectId, Reference, Resources, Snapshot},
    tree::{Direction, Mark, ResolvedReference},
};

use super::{
    escape::visible,
    lines::Line,
    states::{Headline, Toned, word_in},
};

pub use super::states::Fate;
pub(super) use fold::folded;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct PictureOptions<'a> {
    /// Whether similar objects are folded, as in a text.
    pub fold: bool,
    /// The current time in Unix seconds, for ages.
    pub now: Option<i64>,
    /// The commands that show an object.
    pub commands: &'a ObjectCommands,
}

/// The picture of one answer. Indices are places in its own lists.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The kind of the JSON document that says the same: `Plan`, `Tree`, …
    pub kind: &'static str,
    /// What was asked: `Plan: delete deployment/web, foreground`.
    pub title: String,
    /// Where the data is from, as the text's first line says it.
    pub source: String,
    /// Every object of the views once; then their owners that have no row: outside of the views, or missing.
    pub objects: Vec<Object>,
    /// The owner references between them.
    pub links: Vec<Link>,
    /// One, or one for each propagation policy.
    pub views: Vec<View>,
    /// The view that was asked for.
    pub shown: usize,
}

/// An object, or an owner that doesn't exist (a virtual node).
#[derive(Clone, Debug, Default)]
pub struct Object {
    pub api_version: String,
    pub kind: String,
    /// Empty for cluster-scoped objects.
    pub namespace: String,
    pub name: String,
    /// Not written: what a page links to is also there tomorrow.
    pub uid: String,
    /// `metadata.creationTimestamp`.
    pub created: Option<String>,
    pub terminating: bool,
    pub finalizers: Vec<String>,
    /// No object with this uid was read.
    pub is_virtual: bool,
    /// Commands that show it, whatever becomes of it: those of all its rows.
    pub commands: Vec<String>,
}

/// An owner reference.
#[derive(Clone, Debug)]
pub struct Link {
    /// The object that holds the reference.
    pub dependent: usize,
    pub owner: usize,
    pub controller: bool,
    /// `blockOwnerDeletion`.
    pub blocks: bool,
    /// Why the collector doesn't follow it, in a few words; empty if it does.
    pub invalid: String,
    /// It closes a cycle of owners.
    pub closes_cycle: bool,
}

/// What becomes of the objects, under one policy.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// The propagation policy; empty if there is none.
    pub name: String,
    pub verdict: Option<Verdict>,
    /// The verdict in full, for who has the room.
    pub reasons: String,
    /// What a page says above the objects in the place of the section `Then`: `Goes`.
    pub facts: Vec<Section>,
    /// In the order of the text's lines: each comes after the row that it stands below.
    pub rows: Vec<Row>,
    /// Objects, each with one that it waits for.
    pub waits: Vec<[usize; 2]>,
    /// What the text says below the objects.
    pub sections: Vec<Section>,
}

/// The first line of a text.
#[derive(Clone, Debug)]
pub struct Verdict {
    pub fate: Fate,
    /// `STUCK`.
    pub word: String,
    pub sentence: String,
}

/// A line of the text: an object, a heading, objects that are folded into one line, or a finding.
#[derive(Clone, Debug, Default)]
pub struct Row {
    /// The object; `None` for a finding or a heading. Of a line that stands for several, the first.
    pub object: Option<usize>,
    /// `Deployment/web`, `… 12 more Pods`, or the title of a finding.
    pub title: String,
    /// The row that it stands below.
    pub parent: Option<usize>,
    pub fate: Fate,
    /// What becomes of it, in the words of the text: `deleted`. May be empty.
    pub word: String,
    pub detail: String,
    /// It only says where the row of its object is: `see above`.
    pub points: bool,
    /// Its stored data is lost.
    pub loses: bool,
    /// How many objects the row stands for; 0 if it shows one.
    pub more: usize,
    /// How many objects below it the row stands for, too.
    pub below: usize,
    /// What else is known of it. The commands that show its object are in [`Object::commands`].
    pub story: Vec<Section>,
}

/// Lines below a heading: `Why`, `Next`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Section {
    pub label: String,
    pub lines: Vec<String>,
    /// Those lines that are commands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Objects that each line is about, named before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub objects: Vec<Vec<usize>>,
}

impl Picture {
    /// A picture with one view of these objects.
    pub(super) fn of(kind: &'static str, title: String, objects: Objects<'_>, view: View) -> Self {
        let (objects, links) = objects.finish();
        Picture { kind, title, objects, links, views: vec![view], ..Picture::default() }
    }

    /// The same with all texts escaped that would hide something, or change what stands beside them.
    #[must_use]
    pub fn made_visible(mut self) -> Self {
        let mut texts: Vec<&mut String> = vec![&mut self.title, &mut self.source];
        for object in &mut self.objects {
            let Object { api_version, kind, namespace, name, uid, finalizers, .. } = object;
            texts.extend([api_version, kind, namespace, name, uid]);
            texts.extend(finalizers);
        }
        texts.extend(self.links.iter_mut().map(|link| &mut link.invalid));
        for view in &mut self.views {
            texts.extend(view.verdict.iter_mut().map(|verdict| &mut verdict.sentence));
            for row in &mut view.rows {
                texts.extend([&mut row.title, &mut row.word, &mut row.detail]);
                texts.extend(row.story.iter_mut().flat_map(Section::texts));
            }
            texts.push(&mut view.reasons);
            texts.extend(view.facts.iter_mut().chain(&mut view.sections).flat_map(Section::texts));
        }
        for text in texts {
            if let Cow::Owned(escaped) = visible(text) {
                *text = escaped;
            }
        }
        self
    }
}

impl Verdict {
    /// The first line of a text that begins with this word.
    pub(super) fn of(headline: Headline, sentence: String) -> Self {
        Verdict { fate: headline.fate(), word: headline.word().to_owned(), sentence }
    }
}

impl Row {
    /// `■ STUCK`: its symbol, and its word if it has one.
    fn state(&self) -> String {
        format!("{} {}", self.fate.look().symbol, self.word).trim_end().to_owned()
    }

    /// A row of its own, with nothing but this.
    pub(super) fn new(title: impl Into<String>, fate: Fate) -> Self {
        Row { title: title.into(), fate, ..Row::default() }
    }
}

impl View {
    /// The fates that occur, for a legend.
    fn fates(&self) -> BTreeSet<Fate> {
        self.rows.iter().map(|row| row.fate).collect()
    }
}

impl Section {
    fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        std::iter::once(&mut self.label).chain(&mut self.lines).chain(&mut self.commands)
    }
}

/// Finds the rows that rows stand below, by how deep each is.
#[derive(Debug, Default)]
pub(super) struct Levels(Vec<usize>);

impl Levels {
    /// The row that the next one, `row`, stands below.
    pub(super) fn parent(&mut self, row: usize, depth: u32) -> Option<usize> {
        self.0.truncate(depth as usize);
        let parent = self.0.last().copied();
        self.0.push(row);
        parent
    }
}

/// The row that says the same as a line. Without titles, its first column is the word, unless it has several.
pub(super) fn row_of(line: &Line, titles: &[String]) -> Row {
    let (word, columns) = match line.columns.as_slice() {
        columns if !titles.is_empty() => titled(titles, columns),
        [(_, word)] => (word_in(word).to_owned(), String::new()),
        columns => {
            let columns = columns.iter().map(|(_, text)| text.trim()).filter(|text| !text.is_empty());
            (String::new(), columns.collect::<Vec<_>>().join(" "))
        }
    };
    let details = [columns, remarks_of(&line.remarks)];
    let details: Vec<&str> = details.iter().map(String::as_str).filter(|text| !text.is_empty()).collect();
    Row { word, detail: details.join("; "), ..Row::new(line.name.clone(), line.fate) }
}

/// What columns with these titles say: the STATUS, and everything else.
fn titled(titles: &[String], columns: &[Toned]) -> (String, String) {
    let (mut status, mut rest) = (String::new(), Vec::new());
    for (title, (_, cell)) in titles.iter().zip(columns) {
        match (title.trim(), cell.trim()) {
            (_, "" | "-") => {}
            ("STATUS", cell) => cell.clone_into(&mut status),
            ("READY" | "AGE", cell) => rest.push(cell.to_owned()),
            (title, cell) => rest.push(format!("{title} {cell}")),
        }
    }
    (status, rest.join("  "))
}

/// The remarks of a line, as one text.
pub(super) fn remarks_of(remarks: &[Toned]) -> String {
    remarks.iter().map(|(_, remark)| remark.as_str()).collect::<Vec<_>>().join("; ")
}

/// A section, if it has lines.
pub(super) fn section(label: impl Into<&'static str>, lines: Vec<String>) -> Option<Section> {
    (!lines.is_empty()).then(|| Section { label: label.into().to_owned(), lines, ..Section::default() })
}

/// Collects objects, each once.
pub(super) struct Objects<'a> {
    snapshot: &'a Snapshot,
    graph: &'a OwnerGraph,
    commands: &'a ObjectCommands,
    nodes: Vec<NodeId>,
    objects: Vec<Object>,
    places: FxHashMap<NodeId, usize>,
}

impl<'a> Objects<'a> {
    pub(super) fn new(snapshot: &'a Snapshot, graph: &'a OwnerGraph, commands: &'a ObjectCommands) -> Self {
        Objects { snapshot, graph, commands, nodes: Vec::new(), objects: Vec::new(), places: FxHashMap::default() }
    }

    /// The place of an object.
    pub(super) fn add(&mut self, id: ObjectId) -> usize {
        let (snapshot, commands) = (self.snapshot, self.commands);
        self.place(id.into(), || of_object(snapshot, commands, id))
    }

    /// The place of the owner that a reference names by its uid, whether it exists or not.
    pub(super) fn add_owner(&mut self, reference: &Reference) -> Option<usize> {
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
    pub(super) fn finish(mut self) -> (Vec<Object>, Vec<Link>) {
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
        ..of_identity(&Identity::of(snapshot, id), Some(&snapshot.resources), commands)
    }
}

/// An object of which only its name is known.
pub(super) fn of_identity(identity: &Identity, resources: Option<&Resources>, commands: &ObjectCommands) -> Object {
    let commands = resources.map(|resources| commands.of(resources, identity)).unwrap_or_default();
    let Identity { api_version, kind, namespace, name, uid } = identity.clone();
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
    fn of(&self, resources: &Resources, identity: &Identity) -> Vec<String> {
        let about = |command: &ShellCommand| command.clone().naming(resources, identity);
        let explain = about(&self.explain);
        let get = self.get.as_ref().and_then(about).map(|get| get.args(["-o", "yaml"]));
        explain.into_iter().chain(get).map(|command| command.to_string()).collect()
    }
}
