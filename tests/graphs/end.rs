//! The final state of every object, field by field. As text: only what changed, one object a line.
//!
//! ```text
//! gone Shop/a
//! ConfigMap b T fin=acme.io/x
//! ```

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
};

use super::{
    kinds::Kind,
    text::{Bent, Graph, Line},
};

/// The fields of an object that a delete changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub terminating: bool,
    pub finalizers: Vec<String>,
    pub owners: Vec<Written>,
}

/// An owner reference as written in the object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Written {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    pub uid: String,
    pub controller: Option<bool>,
    pub block: Option<bool>,
}

/// The final state of every object of a graph, by `Kind/name`; `None` if it is gone.
pub type End = BTreeMap<String, Option<State>>;

impl Written {
    /// The fields that a reference of the text form has in this graph.
    pub fn of(reference: &Bent, graph: &Graph) -> Self {
        let Bent { kind, name, .. } = reference;
        let declared = graph.lines.iter().find(|line| line.kind.name == kind && line.name == *name);
        let uid = || declared.map_or_else(|| format!("absent-{kind}-{name}"), Line::uid);
        let or = |field: &str, right: &str| reference.bend(field).unwrap_or(right).to_owned();
        Written {
            api_version: or("version", Kind::api_version_of(kind)),
            kind: or("kind", kind),
            name: or("name", name),
            uid: reference.bend("uid").map_or_else(uid, str::to_owned),
            controller: reference.controller.then_some(true),
            block: reference.block,
        }
    }
}

impl State {
    /// The state of an object, as its line in this graph describes it.
    pub fn of(line: &Line, graph: &Graph) -> Self {
        State {
            terminating: line.terminating,
            finalizers: line.finalizers.clone(),
            owners: line.references.iter().map(|reference| Written::of(reference, graph)).collect(),
        }
    }
}

/// The state of every object before anything happens.
pub fn unchanged(graph: &Graph) -> End {
    graph.lines.iter().map(|line| (line.short_name(), Some(State::of(line, graph)))).collect()
}

/// The graph that remains after an end. References to deleted objects give the uid explicitly, because no line does.
pub fn left(graph: &Graph, end: &End) -> Graph {
    let mut left = graph.clone();
    left.lines.retain(|line| end.get(&line.short_name()).is_none_or(Option::is_some));
    for line in &mut left.lines {
        let Some(Some(state)) = end.get(&line.short_name()) else { continue };
        let mut written = state.owners.iter().peekable();
        // References only disappear or stop blocking, and they keep their order.
        line.references.retain_mut(|reference| {
            let before = Written::of(reference, graph);
            let same = |after: &&Written| Written { block: before.block, ..(*after).clone() } == before;
            let Some(after) = written.next_if(same) else { return false };
            reference.block = after.block;
            true
        });
        (line.terminating, line.finalizers) = (state.terminating, state.finalizers.clone());
        // A terminating pod on a node is in its grace period until its kubelet removes it.
        line.grace = line.grace.or((line.terminating && line.node.is_some()).then_some(30));
    }
    let there: Vec<String> = left.lines.iter().map(Line::short_name).collect();
    for reference in left.lines.iter_mut().flat_map(|line| &mut line.references) {
        let uid = Written::of(reference, graph).uid;
        if reference.bend("uid").is_none() && !there.contains(&format!("{}/{}", reference.kind, reference.name)) {
            reference.bends.push(("uid".to_owned(), uid));
        }
    }
    left
}

/// The lines of a graph that changed, in their final state, by `Kind/name`; `None` if the object is gone.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Changes(pub BTreeMap<String, Option<Line>>);

impl Changes {
    /// The changes from one graph to what remains of it.
    pub fn between(before: &Graph, after: &Graph) -> Self {
        let change = |line: &Line| {
            let left = after.line(&line.short_name());
            let same = left.is_some_and(|left| State::of(left, before) == State::of(line, before));
            (!same).then(|| (line.short_name(), left.cloned().map(bare)))
        };
        Changes(before.lines.iter().filter_map(change).collect())
    }

    /// The final state of every object.
    pub fn end(&self, before: &Graph) -> End {
        let mut end = unchanged(before);
        for (name, left) in &self.0 {
            end.insert(name.clone(), left.as_ref().map(|line| State::of(line, before)));
        }
        end
    }

    /// Reads one line of the text form.
    #[track_caller]
    pub fn read(&mut self, text: &str) {
        let (name, left) = match text.strip_prefix("gone ") {
            Some(name) => (name.to_owned(), None),
            None => {
                let line = Line::parse(text);
                (line.short_name(), Some(line))
            }
        };
        assert!(self.0.insert(name, left).is_none(), "{text} ends twice");
    }

    /// The outcome of every object that changed, in the words of the tables of rules: `Shop/a Deleted, ConfigMap/b
    /// Orphaned`.
    pub fn tell(&self, before: &Graph) -> String {
        let describe = before.lines.iter().filter_map(|line| {
            let left = self.0.get(&line.short_name())?;
            let outcome = match left {
                None => "Deleted".to_owned(),
                Some(left) if left.terminating => format!("Terminating({})", left.finalizers.join(" ")),
                Some(left) if left.references.is_empty() => "Orphaned".to_owned(),
                Some(left) if left.references.len() < line.references.len() => "Detached".to_owned(),
                Some(_) => "Unblocked".to_owned(),
            };
            Some(format!("{} {outcome}", line.short_name()))
        });
        describe.collect::<Vec<_>>().join(", ")
    }
}

/// A line with only the fields that a delete changes.
fn bare(line: Line) -> Line {
    Line {
        terminating: line.terminating,
        finalizers: line.finalizers,
        references: line.references,
        ..Line::new(line.kind, &line.name)
    }
}

impl Display for Changes {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, left)| match left {
            None => writeln!(f, "  gone {name}"),
            Some(line) => writeln!(f, "  {line}"),
        })
    }
}

impl Display for State {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let owner = |owner: &Written| {
            let controller = if owner.controller == Some(true) { "+" } else { "" };
            let block = match owner.block {
                Some(true) => "!",
                Some(false) => "~",
                None => "",
            };
            format!("{} {}/{}{controller}{block}", owner.api_version, owner.kind, owner.name)
        };
        let owners: Vec<String> = self.owners.iter().map(owner).collect();
        let terminating = if self.terminating { "T " } else { "" };
        write!(f, "[{terminating}{} <- {}]", self.finalizers.join(","), owners.join(", "))
    }
}
