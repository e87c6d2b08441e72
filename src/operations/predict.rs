//! What a delete would do: `plan`, `delete` and `archive` share this.

use rustc_hash::FxHashSet;

use crate::{
    graph::OwnerGraph,
    model::{ObjectId, Resources, Snapshot},
    plan::{
        self, GateViolation, Gates, KeepPlan, Kept, Plan, Radius, Summary, Unkeepable, UnlistedContents, explore,
        gate_violations, keep, plan, unlisted_contents,
    },
    render::plan::describe_unkeepable,
    server::Propagation,
    simulate::{Assume, Needs, Request, SimContext},
};

use super::{
    OperationError, Session,
    complete::{ROUNDS, complete},
    targets::{KeepQuery, KeepTargets, TargetError},
};

/// What is asked of a delete beside its targets and its policy. Types are looked up before anything is read.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    keep: Vec<KeepQuery>,
    gates: Gates,
}

impl PlanOptions {
    /// Of each `--keep`, each type of `--deny`, and `--max`.
    ///
    /// # Errors
    /// A type that isn't served, and what can't be understood.
    pub fn of(
        resources: &Resources,
        keep: &[String],
        denied: &[String],
        max: Option<usize>,
    ) -> Result<Self, OperationError> {
        let keep =
            keep.iter().map(|text| KeepQuery::parse(text, resources)).collect::<Result<Vec<_>, TargetError>>()?;
        let mut deny = Vec::new();
        for text in denied {
            for resource in resources.find_types(text).map_err(TargetError::from)? {
                if !deny.contains(&resource) {
                    deny.push(resource);
                }
            }
        }
        Ok(PlanOptions { keep, gates: Gates { deny, max } })
    }
}

/// What a delete would do, and all that there is to tell about it.
#[derive(Debug)]
pub struct PlanResult {
    pub plan: Plan,
    /// What the other policies would do.
    pub instead: Vec<(Propagation, Summary)>,
    /// What deleted Namespaces reach besides what has an outcome, counted where that can be asked.
    pub unlisted_contents: Vec<UnlistedContents>,
    /// The gates that it runs into.
    pub gate_violations: Vec<GateViolation>,
    /// What is kept, and what that costs; none where nothing was asked to be kept.
    pub kept: Option<Kept>,
    /// What was to be kept, and would not go anyway.
    pub notes: Vec<String>,
}

/// The plan and what the other policies would do, with everything read that they turn out to rest on.
///
/// # Errors
/// A target that the API server refuses to delete, and what can't be kept.
pub fn predict(
    session: &mut Session,
    request: &Request,
    assume: Assume,
    asked: &PlanOptions,
) -> Result<PlanResult, OperationError> {
    let wanted = KeepSelection::of(session, request, asked)?;
    let SimulationResult { keeping, instead, .. } = play(session, request, assume, &wanted)?;
    let KeepPlan { plan, kept, stays, lost, .. } = keeping;
    if !lost.is_empty() {
        return Err(OperationError::Unkeepable(
            lost.iter().map(|(object, why)| describe_unkeepable(&session.snapshot, *object, why)).collect(),
        ));
    }
    let notes = wanted.notes(session, &kept);
    let kept = (!asked.keep.is_empty()).then(|| Kept {
        kept,
        stays,
        asked: asked.keep.iter().map(|query| query.text.clone()).collect(),
    });
    let unlisted_contents = {
        let graph = OwnerGraph::new(&session.snapshot);
        unlisted_contents(&SimContext::new(&session.snapshot, &graph, assume), &plan)
    };
    let unlisted_contents = session.count(unlisted_contents);
    let gate_violations = gate_violations(&session.snapshot, &plan, &unlisted_contents, &asked.gates);
    Ok(PlanResult { plan, instead, unlisted_contents, gate_violations, kept, notes })
}

/// What deleting each root in the session's scope would do, the worst first.
///
/// # Errors
/// What could not be read although it was there.
pub fn blast_radius(
    session: &mut Session,
    propagation: Propagation,
    assume: Assume,
) -> Result<Vec<Radius>, OperationError> {
    let namespace = session.namespace_symbol();
    let simulate = |session: &mut Session| {
        let graph = OwnerGraph::new(&session.snapshot);
        let context = SimContext::new(&session.snapshot, &graph, assume);
        Ok::<_, OperationError>(plan::blast_radius(&context, namespace, propagation))
    };
    let (rows, _) = complete(ROUNDS, session, simulate, |session, (_, needs)| Ok(session.fetch(needs)))?;
    Ok(rows)
}

/// Refuses to orphan what orphaning doesn't save: what is in a Namespace, and the instances of a definition, go all the
/// same (R1.25, R1.26). A plan tells it as a note; a delete does nothing like that.
///
/// # Errors
/// One line for each such target.
pub fn refuse_orphaning_in_vain(snapshot: &Snapshot, plan: &Plan) -> Result<(), OperationError> {
    let propagation = plan.request.propagation;
    let in_vain = plan.notes.iter().filter(|note| note.kind.saves_nothing(propagation));
    let describe: Vec<String> = in_vain
        .map(|note| {
            format!(
                "{}: {}; move the objects to keep elsewhere first, or use --propagation=background to delete \
                 everything",
                snapshot.short_name(note.object),
                note.kind.message(propagation)
            )
        })
        .collect();
    if describe.is_empty() { Ok(()) } else { Err(OperationError::Unkeepable(describe)) }
}

/// The objects that are to be kept, by what asks for them.
struct KeepSelection(Vec<(String, KeepTargets)>);

impl KeepSelection {
    fn of(session: &mut Session, request: &Request, asked: &PlanOptions) -> Result<Self, OperationError> {
        let mut wanted = Vec::with_capacity(asked.keep.len());
        for query in &asked.keep {
            let keep_targets = session.keep_targets(query, &request.targets)?;
            // Whether this delete would take it or another has: who asks for it by its name is to know that it is too
            // late.
            let is_late = |object: &&ObjectId| session.snapshot.object(**object).terminating();
            let late: Vec<String> = keep_targets
                .named
                .iter()
                .filter(is_late)
                .map(|object| describe_unkeepable(&session.snapshot, *object, &Unkeepable::Terminating))
                .collect();
            if !late.is_empty() {
                return Err(OperationError::Unkeepable(late));
            }
            wanted.push((query.text.clone(), keep_targets));
        }
        Ok(KeepSelection(wanted))
    }

    /// All of them, each once.
    fn objects(&self) -> Vec<ObjectId> {
        let mut seen = FxHashSet::default();
        let all = self
            .0
            .iter()
            .flat_map(|(_, keep_targets)| keep_targets.named.iter().chain(&keep_targets.described))
            .copied();
        all.filter(|object| seen.insert(*object)).collect()
    }

    /// What is asked for and is no matter of this delete.
    fn notes(&self, session: &Session, kept: &[ObjectId]) -> Vec<String> {
        let kept: FxHashSet<ObjectId> = kept.iter().copied().collect();
        let mut notes = Vec::new();
        for (text, keep_targets) in &self.0 {
            let safe = keep_targets.named.iter().filter(|object| !kept.contains(object));
            notes.extend(safe.map(|object| {
                format!("--keep {text}: {} would not be deleted anyway.", session.snapshot.short_name(*object))
            }));
            if keep_targets.named.is_empty() && !keep_targets.described.iter().any(|object| kept.contains(object)) {
                notes.push(format!("--keep {text}: none of these would be deleted anyway."));
            }
        }
        notes
    }
}

/// A plan, and what the other policies would do with the same kept as far as possible.
struct SimulationResult {
    keeping: KeepPlan,
    instead: Vec<(Propagation, Summary)>,
    needs: Needs,
}

fn play(
    session: &mut Session,
    request: &Request,
    assume: Assume,
    wanted: &KeepSelection,
) -> Result<SimulationResult, OperationError> {
    let others = [Propagation::Background, Propagation::Foreground, Propagation::Orphan]
        .into_iter()
        .filter(|propagation| *propagation != request.propagation);
    let wanted = wanted.objects();
    let simulate = |session: &mut Session| {
        let graph = OwnerGraph::new(&session.snapshot);
        let stage = SimContext::new(&session.snapshot, &graph, assume);
        let keeping = keep(&stage, request, &wanted, explore);
        if let Some((object, why)) = keeping.plan.refused.first() {
            return Err(OperationError::Refused { object: session.snapshot.short_name(*object), why });
        }
        let mut needs = keeping.needs.clone();
        let instead = others.clone().map(|propagation| {
            let other = keep(&stage, &Request { propagation, ..request.clone() }, &wanted, plan);
            needs.add(&other.needs);
            (propagation, other.plan.summary)
        });
        let instead = instead.collect();
        Ok(SimulationResult { keeping, instead, needs })
    };
    complete(ROUNDS, session, simulate, |session, result| Ok(session.fetch(&result.needs)))
}
