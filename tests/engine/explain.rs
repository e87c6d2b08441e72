//! What `explain` says about an object: the status of its references, the collector's next step, the object's final
//! state, what would change that, and what it waits for. Most rows are in `rows/explain.txt`.

use std::collections::{BTreeMap, BTreeSet};

use gc_core::{
    command_line::PLAIN,
    doctor::{
        Case, Code, Evidence, Explanation, Finding, Limit, diagnose, explain,
        explain::{Condition, ConditionOutcome, Released, Trigger},
    },
    graph::OwnerGraph,
    model::{ObjectId, Origin, Reference, Snapshot, effects::Severity},
    plan::{OutcomeKind, plan},
    server::Propagation,
    simulate::{Assume, BlockedBy, Next, Projection, Request, SimContext, Start, State, Uncertainty, WriteScope},
    tree::ReferenceStatus,
};

use rustc_hash::FxHashSet;

use crate::{
    graphs::{
        generate::{self, Mix},
        scene,
        text::Graph,
    },
    scene::Scene,
    verdict::{dumped, id},
};

/// What becomes of a case: of files, or, with a time in Unix seconds, of a live cluster.
pub fn judge<T>(snapshot: &Snapshot, now: Option<i64>, work: impl FnOnce(&Case<'_>) -> T) -> T {
    let graph = OwnerGraph::new(snapshot);
    let stage = SimContext::new(snapshot, &graph, Assume::Known).at(now).patiently();
    let projection = Projection::of(&stage);
    work(&Case {
        stage: &stage,
        projection: &projection,
        now,
        live: now.is_some(),
        fresh: &FxHashSet::default(),
        limit: &Limit::Everything,
        made: &[],
        kubectl: &PLAIN,
        events: &[],
        probed: None,
        recovered: &Default::default(),
        evidence: &Evidence::default(),
    })
}

/// In its first minute, a controller that isn't known may be at work: doctor warns, and explain calls nothing stuck,
/// also in what it plans.
#[test]
fn nothing_is_stuck_in_its_first_minute() {
    let at = 1_772_359_200;
    let map = |name: &str, more: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: ns, uid: {name}, deletionTimestamp: \
             '2026-03-01T10:00:00Z', {more}}}\n"
        )
    };
    let owner = "[{apiVersion: v1, kind: ConfigMap, name: owner, uid: owner, blockOwnerDeletion: true}]";
    let objects = [
        map("owner", "finalizers: [foregroundDeletion]"),
        map("held", &format!("finalizers: [acme.io/x], ownerReferences: {owner}")),
    ];
    let mut snapshot = dumped("first-minute", &objects);
    snapshot.origin = Origin::Cluster { context: String::new(), server: "server".to_owned() };
    let [owner, held] = ["ConfigMap/owner", "ConfigMap/held"].map(|name| id(&snapshot, name));
    snapshot.facts.insert_setters(held, Vec::new());
    for (seconds, state, severity) in [(6, State::Unknown, Severity::Warning), (600, State::Stuck, Severity::Error)] {
        let (explanations, found, planned) = judge(&snapshot, Some(at + seconds), |case| {
            let found = diagnose(case).findings;
            let planned = plan(case.stage, &Request::delete(vec![held], Propagation::Background));
            (explain(case, &[owner, held], &found).explanations, found, planned)
        });
        let is_stuck = |finding: &&Finding| finding.code == Code::StuckFinalizer;
        let severities: Vec<Severity> = found.iter().filter(is_stuck).map(|finding| finding.severity).collect();
        assert_eq!(severities, [severity], "{seconds}: {found:#?}");
        assert_eq!(planned.stuck(), state == State::Stuck, "{seconds}: {planned:#?}");
        for explanation in explanations {
            assert_eq!(explanation.end.state, Some(state), "{seconds}");
            assert!(explanation.waits.iter().all(|line| line.state == state), "{:#?}", explanation.waits);
        }
    }
}

fn explained(snapshot: &Snapshot, objects: &[ObjectId]) -> Vec<Explanation> {
    judge(snapshot, None, |case| explain(case, objects, &[]).explanations)
}

impl Scene {
    fn explain(&self, name: &str) -> Explanation {
        explained(&self.snapshot, &[self.id(name)]).remove(0)
    }

    /// References; next step; end; conditions; what the object waits for; causes. Empty parts are left out.
    pub fn story(&self, name: &str) -> String {
        let describe = self.explain(name);
        let references = describe
            .references
            .iter()
            .map(|story| format!("{} {} {}", written(story.standing), written(story.blocks), story.rule));
        let conditions = describe.conditions.iter().map(|condition| self.condition(condition));
        let waits = describe.waits.iter().skip(1).map(|line| {
            let word = if line.goes {
                "goes"
            } else if line.lets_go {
                "lets go"
            } else {
                line.state.name()
            };
            let above = if line.above { " (above)" } else { "" };
            format!("{}{} {word}{above}", ">".repeat(line.depth as usize), self.snapshot.short_name(line.object))
        });
        let causes = describe
            .causes
            .iter()
            .map(|cause| format!("{} {}{}", self.names(&cause.objects), cause.state.name(), self.held(&cause.held_by)));
        let parts = [
            joined("", references),
            format!(
                "{} ({}, {})",
                self.next(&describe.next.next),
                written(describe.next.attention),
                describe.next.rule
            ),
            self.end(&describe),
            joined("if ", conditions),
            joined("waits: ", waits),
            joined("because ", causes),
            joined("held up: ", describe.waited_for_by.iter().map(|id| self.snapshot.short_name(*id))),
        ];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
    }

    fn names(&self, ids: &[ObjectId]) -> String {
        ids.iter().map(|id| self.snapshot.short_name(*id)).collect::<Vec<_>>().join(" + ")
    }

    fn held(&self, held_by: &[BlockedBy]) -> String {
        let names = held_by.iter().map(|holder| match holder {
            BlockedBy::Finalizer(finalizer) => self.snapshot.text(*finalizer).to_owned(),
            other => format!("{other:?}"),
        });
        joined(" by ", names)
    }

    fn next(&self, next: &Next) -> String {
        match next {
            Next::Delete(policy, _) => format!("Delete {}", policy.name()),
            Next::DropReferences(uids) => {
                format!(
                    "DropReferences {}",
                    uids.iter().map(|uid| self.snapshot.text(*uid)).collect::<Vec<_>>().join(" ")
                )
            }
            Next::FreeDependents(ids) => format!("FreeDependents {}", self.names(ids)),
            Next::WaitForDependents(ids) => format!("Wait {}", self.names(ids)),
            Next::TakeFinalizer(finalizer) => format!("TakeFinalizer {}", self.snapshot.text(*finalizer)),
            other => format!("{other:?}"),
        }
    }

    fn end(&self, describe: &Explanation) -> String {
        let state = describe.end.state.map(|state| format!(" {}", state.name())).unwrap_or_default();
        let fate = match describe.end.outcome {
            Some(OutcomeKind::Deleted) => "goes".to_owned(),
            Some(_) => format!("changes, {} left", describe.end.references.unwrap()),
            None => "stays".to_owned(),
        };
        format!("{fate}{state}{}", if describe.end.uncertain.is_none() { "" } else { "?" })
    }

    fn condition(&self, condition: &Condition) -> String {
        let what = match &condition.what {
            Trigger::Deleted { deleted, propagation } => format!("{} {}", propagation.name(), self.names(deleted)),
            Trigger::Forced { deleted: [id], .. } => format!("forced {}", self.snapshot.short_name(*id)),
            Trigger::Released { released } => joined(
                "",
                released.iter().map(|it| {
                    format!("{} of {}", self.snapshot.text(it.finalizer), self.snapshot.short_name(it.object))
                }),
            ),
            Trigger::Dropped { dropped: [it] } => {
                format!("{} references dropped of {}", it.uids.len(), self.snapshot.short_name(it.object))
            }
        };
        let then = match condition.then {
            ConditionOutcome::Loses(left) => format!("{left} left"),
            ConditionOutcome::Terminating(state) => state.name().to_owned(),
            then => written(then).to_lowercase(),
        };
        format!("{what}: {then}")
    }
}

/// The name of a variant in documents.
fn written(variant: impl serde::Serialize) -> String {
    serde_json::to_value(variant).unwrap().as_str().unwrap().to_owned()
}

fn joined(head: &str, parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { String::new() } else { format!("{head}{}", parts.join(", ")) }
}

/// How many random graphs to explain, object by object.
const GRAPHS: u64 = 400;

/// The parts of an explanation agree with each other, on any graph: a write changes something, a stuck object has a
/// cause, and an object that isn't stuck has no stuck cause.
#[test]
fn parts_agree() {
    let (mut writes, mut stuck) = (0, 0);
    for seed in 0..GRAPHS {
        let graph = generate::case(seed, Mix::Full).graph;
        let snapshot = scene::snapshot(&graph);
        let all: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
        for describe in explained(&snapshot, &all) {
            let of = || format!("{} of seed {seed}: {describe:?}\n{graph}", snapshot.short_name(describe.object));
            let is_stuck = describe.end.state == Some(State::Stuck);
            let overtaken = describe.end.uncertain == Some(Uncertainty::Order);
            assert!(
                !describe.next.next.writes() || describe.end.outcome.is_some() || overtaken,
                "written, and as it was: {}",
                of()
            );
            let by_a_waiting_owner = describe.references.iter().any(|story| story.standing == ReferenceStatus::Waiting);
            assert!(!overtaken || by_a_waiting_owner, "only what a waiting owner sets off can be overtaken: {}", of());
            assert_eq!(
                is_stuck,
                describe.causes.iter().any(|cause| cause.state == State::Stuck),
                "stuck for a cause: {}",
                of()
            );
            assert!(
                describe.causes.iter().all(|cause| !cause.message.is_empty() && !cause.objects.is_empty()),
                "{}",
                of()
            );
            writes += usize::from(describe.next.next.writes());
            stuck += usize::from(is_stuck);
        }
    }
    assert!(writes > 200 && stuck > 200, "too few to tell: {writes} are written, {stuck} are stuck");
}

/// The predicted next step is what a sweep does that may write only to this object.
#[test]
fn next_is_what_a_sweep_of_one_object_does() {
    let mut describe: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..GRAPHS {
        let graph = generate::case(seed, Mix::Full).graph;
        let snapshot = scene::snapshot(&graph);
        let owner_graph = OwnerGraph::new(&snapshot);
        let stage = SimContext::new(&snapshot, &owner_graph, Assume::None);
        for (id, object) in snapshot.objects() {
            let next = Next::of(&stage, id);
            let swept = plan(&stage, &Request::only_collect(Start::Sweep).limited_to(WriteScope::new([id])));
            let outcome = swept.outcome(id).map(|outcome| (outcome.kind, outcome.after.as_ref()));
            let (word, same) = match &next {
                Next::Delete(..) | Next::Unblock => {
                    ("delete", matches!(outcome, Some((OutcomeKind::Deleted | OutcomeKind::Terminating, _))))
                }
                Next::DropReferences(uids) => {
                    // The patch also merges duplicate references.
                    let dropped = |reference: &Reference| uids.contains(&reference.uid);
                    let left: BTreeSet<_> = object.owners.iter().filter(|it| !dropped(it)).map(|it| it.uid).collect();
                    let after = outcome.and_then(|(_, after)| after);
                    (
                        "drop",
                        after
                            .is_some_and(|after| after.owners.iter().map(|it| it.uid).collect::<BTreeSet<_>>() == left),
                    )
                }
                Next::TakeFinalizer(finalizer) => (
                    "take",
                    outcome.is_some_and(|(_, after)| after.is_none_or(|after| !after.finalizers.contains(finalizer))),
                ),
                // The sweep may not write to the dependents, so nothing changes the object either; but an object that
                // owns itself is one of these dependents.
                Next::FreeDependents(dependents) | Next::WaitForDependents(dependents) => {
                    ("wait", outcome.is_none() || dependents.contains(&id))
                }
                Next::Nothing(_) => ("nothing", outcome.is_none()),
            };
            assert!(
                same,
                "seed {seed}: {} comes to {next:?}, and a sweep to {outcome:?}\n{graph}",
                snapshot.short_name(id)
            );
            *describe.entry(word).or_default() += 1;
        }
    }
    assert!(describe.len() == 5 && describe.values().all(|count| *count > 20), "too few to tell: {describe:?}");
}

/// The prediction for removed finalizers equals the prediction for the same graph without these finalizers.
#[test]
fn released_is_as_if_it_had_never_been_held() {
    let mut compared = 0;
    for seed in 0..GRAPHS {
        let graph = generate::case(seed, Mix::OrderFree).graph;
        let snapshot = scene::snapshot(&graph);
        let all: Vec<ObjectId> = snapshot.objects().map(|(id, _)| id).collect();
        for describe in explained(&snapshot, &all) {
            for condition in &describe.conditions {
                let Trigger::Released { released } = &condition.what else { continue };
                let Some(after) = without(&graph, &snapshot, released) else { continue };
                let freed = scene::snapshot(&after);
                let id = scene::id(&freed, &snapshot.short_name(describe.object));
                let end = &explained(&freed, &[id])[0].end;
                let goes = end.outcome == Some(OutcomeKind::Deleted);
                assert_eq!(
                    condition.then == ConditionOutcome::Goes,
                    goes,
                    "seed {seed}: {}: {condition:?}\n{graph}",
                    snapshot.short_name(describe.object)
                );
                compared += 1;
            }
        }
    }
    assert!(compared > 50, "too few to tell: {compared}");
}

/// The graph without these finalizers; `None` if an object would be gone without its last one, because graph text can't
/// express that.
fn without(graph: &Graph, snapshot: &Snapshot, released: &[Released]) -> Option<Graph> {
    let mut graph = graph.clone();
    for held in released {
        let name = snapshot.short_name(held.object);
        let line = graph.lines.iter_mut().find(|line| line.short_name() == name)?;
        line.finalizers.retain(|known| known != snapshot.text(held.finalizer));
        if line.terminating && line.finalizers.is_empty() && line.grace.is_none_or(|grace| grace == 0) {
            return None;
        }
    }
    Some(graph)
}

/// Dependents may be in a list that could not be read: nothing is said to be left, or not to block any more.
#[test]
fn what_was_not_read_may_be_a_dependent() {
    for (finalizer, none) in
        [("orphan", "no dependent is left to be orphaned"), ("foregroundDeletion", "no dependent blocks it any more")]
    {
        let graph = format!("ConfigMap a T=0 fin={finalizer}");
        let said = Scene::new(&graph).explain("ConfigMap/a").next.message;
        assert_eq!(said, format!("The collector removes its {finalizer} finalizer: {none}."));
        let said = Scene::new(&format!("unread Secret\n{graph}")).explain("ConfigMap/a").next.message;
        let start =
            format!("The collector removes its {finalizer} finalizer once {none}. Dependents may be among what");
        assert!(said.starts_with(&start) && said.contains("secrets"), "{said}");
    }
}
