//! Graphs written as text (`tests/graphs/text.rs`), and the engine's predictions as text, for tables of rules.

use gc_core::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{OutcomeKind, Plan, explore},
    simulate::{Assume, Request, SimContext, WriteScope},
};

use crate::{
    facts::fact,
    graphs::{judge, record::Start, scene, text::Graph},
};

/// A snapshot that was read from graph text.
pub struct Scene {
    pub snapshot: Snapshot,
}

impl Scene {
    /// Lines that begin with `facts` say what is known of an object ([`fact`]).
    pub fn new(text: &str) -> Self {
        let (facts, graph): (Vec<&str>, Vec<&str>) =
            text.lines().map(str::trim).partition(|line| line.starts_with("facts "));
        let mut scene = Scene { snapshot: scene::snapshot(&Graph::parse(&graph.join("\n"))) };
        for line in facts {
            let words: Vec<&str> = line.split_whitespace().collect();
            let id = scene.id(words[1]);
            scene.snapshot.learn(id, fact(words[1], &words[2..]));
        }
        scene
    }

    /// The object that `Kind/name` names.
    pub fn id(&self, name: &str) -> ObjectId {
        scene::id(&self.snapshot, name)
    }

    /// `delete POLICY OBJECTS`, maybe with `grace=SECONDS`; `restart`; `sweep`, maybe with `only NAMESPACE` or `only
    /// OBJECTS`.
    pub fn request(&self, text: &str) -> Request {
        let (text, only) = text.split_once(" only ").map_or((text, None), |(text, only)| (text, Some(only)));
        let (text, grace) = text.split_once(" grace=").map_or((text, None), |(text, grace)| (text, Some(grace)));
        let all: Vec<ObjectId> = self.snapshot.objects().map(|(id, _)| id).collect();
        let is_inside = |id: &ObjectId| match only {
            Some(only) if only.contains('/') => only.split(' ').any(|name| self.id(name) == *id),
            Some(namespace) => self.snapshot.text(self.snapshot.object(*id).namespace) == namespace,
            None => true,
        };
        let scope = only.map(|only| {
            let inside: Vec<ObjectId> = all.iter().copied().filter(is_inside).collect();
            assert!(!inside.is_empty(), "nothing is in {only}");
            WriteScope::new(inside)
        });
        let grace = grace.map(|grace| grace.parse().expect("a number of seconds"));
        Request { grace, only: scope, ..judge::request(&self.snapshot, &all, &Start::parse(text)) }
    }

    /// What is predicted of that, over several orders of events.
    pub fn plan(&self, start: &str) -> Plan {
        let graph = OwnerGraph::new(&self.snapshot);
        explore(&SimContext::new(&self.snapshot, &graph, Assume::Known), &self.request(start))
    }

    /// The outcomes of that.
    pub fn tell(&self, start: &str) -> String {
        self.describe(&self.plan(start))
    }

    /// The outcomes, in the order of the lines: `Deployment/web Deleted, Pod/a Terminating(acme.io/drain)`. Other
    /// possible outcomes of an object follow a slash: `ConfigMap/c Deleted/Orphaned`.
    pub fn describe(&self, plan: &Plan) -> String {
        let mut outcomes: Vec<_> = plan.outcomes.iter().collect();
        outcomes.sort_by_key(|outcome| outcome.object);
        let describe = outcomes.iter().map(|outcome| {
            let detail = match &outcome.after {
                Some(after) if outcome.kind == OutcomeKind::Terminating => {
                    let finalizers: Vec<&str> =
                        after.finalizers.iter().map(|finalizer| self.snapshot.text(*finalizer)).collect();
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
        describe.collect::<Vec<_>>().join(", ")
    }
}
