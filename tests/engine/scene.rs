//! Graphs written as text (`tests/graphs/text.rs`), and the engine's predictions as text, for tables of rules.

use kubectl_gc::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    plan::{OutcomeKind, Plan, explore, plan},
    server::Propagation,
    simulate::{Assume, Request, SimContext, Start},
};

use crate::graphs::{scene, text::Graph};

/// A snapshot that was read from graph text.
pub struct Scene {
    pub snapshot: Snapshot,
}

impl Scene {
    pub fn new(text: &str) -> Self {
        Scene { snapshot: scene::snapshot(&Graph::parse(text)) }
    }

    /// The object that `Kind/name` names.
    pub fn id(&self, name: &str) -> ObjectId {
        scene::id(&self.snapshot, name)
    }

    pub fn plan_with(&self, targets: &str, propagation: Propagation, assume: Assume) -> Plan {
        let graph = OwnerGraph::new(&self.snapshot);
        let stage = SimContext::new(&self.snapshot, &graph, assume);
        let targets = targets.split_whitespace().map(|target| self.id(target)).collect();
        plan(&stage, &Request::delete(targets, propagation))
    }

    /// The outcomes of a delete over several orders of events. Other possible outcomes of an object follow a slash:
    /// `ConfigMap/c Deleted/Orphaned`.
    pub fn tell_orders(&self, targets: &str, propagation: Propagation) -> String {
        let graph = OwnerGraph::new(&self.snapshot);
        let stage = SimContext::new(&self.snapshot, &graph, Assume::Known);
        let targets = targets.split_whitespace().map(|target| self.id(target)).collect();
        self.describe(&explore(&stage, &Request::delete(targets, propagation)))
    }

    /// What the collector does without any delete, over several orders of events.
    pub fn tell_start(&self, start: Start) -> String {
        let graph = OwnerGraph::new(&self.snapshot);
        let stage = SimContext::new(&self.snapshot, &graph, Assume::Known);
        self.describe(&explore(&stage, &Request::only_collect(start)))
    }

    /// The outcomes of a delete: `Deployment/web Deleted, Pod/a Terminating(acme.io/drain)`, in the order of the lines.
    pub fn tell(&self, targets: &str, propagation: Propagation) -> String {
        self.describe(&self.plan_with(targets, propagation, Assume::Known))
    }

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
