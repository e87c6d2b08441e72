//! Predicts a delete, for `plan`, `delete` and `archive`.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use gc_core::{
    graph::OwnerGraph,
    model::{Gap, ObjectId, Resources, Snapshot},
    plan::{
        self, GateViolation, Gates, Incomplete, KeepPlan, Kept, Plan, Radius, Summary, Unkeepable, UnlistedContents,
        because, explore, gate_violations, keep, plan, unlisted_contents,
    },
    progress::{self, Work},
    server::Propagation,
    simulate::{Assume, Needs, Request, SimContext, Uncertainty},
    wording::{count, grouped, some_of, thousands},
};

use super::{
    OperationError, Session,
    session::{ROUNDS, complete},
    signals::now,
    targets::{KeepQuery, KeepTargets, TargetError},
    unread::AllowIncomplete,
};

/// Options of a delete other than its targets and policy. Types are resolved before anything is read.
#[derive(Clone, Debug, Default)]
pub struct PlanOptions {
    keep: Vec<KeepQuery>,
    gates: Gates,
    /// Whether broken webhooks, APIs and controllers count, as far as they can be judged.
    heed_obstacles: bool,
    /// What may stay unread: no gate counts it.
    allowed: AllowIncomplete,
    /// Whether the other policies get whole plans, too.
    every_policy: bool,
}

impl PlanOptions {
    /// The values of `--keep` and of the gates.
    ///
    /// # Errors
    /// A type that isn't served, and invalid values.
    pub fn of(resources: &Resources, keep: &[String], gates: &Gates<String>) -> Result<Self, OperationError> {
        let keep =
            keep.iter().map(|text| KeepQuery::parse(text, resources)).collect::<Result<Vec<_>, TargetError>>()?;
        let mut deny = Vec::new();
        for text in &gates.deny {
            for resource in resources.find_types(text).map_err(TargetError::from)? {
                if !deny.contains(&resource) {
                    deny.push(resource);
                }
            }
        }
        let Gates { max, fail_on, .. } = *gates;
        let gates = Gates { deny, deny_effects: gates.deny_effects.clone(), max, fail_on };
        Ok(PlanOptions { keep, gates, heed_obstacles: true, allowed: AllowIncomplete::Nothing, every_policy: false })
    }

    /// The same with a whole plan of every policy.
    #[must_use]
    pub fn with_every_policy(self, every_policy: bool) -> Self {
        PlanOptions { every_policy, ..self }
    }

    /// The same where this may stay unread, by full names.
    #[must_use]
    pub(super) fn allowing(self, allowed: &AllowIncomplete) -> Self {
        PlanOptions { allowed: allowed.clone(), ..self }
    }
}

/// Of larger plans, only the policy that was asked for is shown.
const MOST_OF_EVERY_POLICY: usize = 20_000;

/// So many objects that can't be kept for one reason are named.
const NAMED: usize = 5;

/// What a delete would do, with everything to report about it.
#[derive(Debug)]
pub struct PlanResult {
    pub plan: Plan,
    /// What the other policies would do.
    pub instead: Vec<(Propagation, Summary)>,
    /// What deleted Namespaces contain in addition to the outcomes, counted if possible.
    pub unlisted_contents: Vec<UnlistedContents>,
    /// The gates that the delete violates.
    pub gate_violations: Vec<GateViolation>,
    /// What is kept, and at what cost; none without `--keep`.
    pub kept: Option<Kept>,
    /// Objects to keep that would not be deleted anyway, and that not everything was tried.
    pub notes: Vec<String>,
    /// The results of the other policies, if they were asked for.
    pub others: Vec<PlanResult>,
}

/// Plans the delete, and summarizes the other policies. Reads everything that the results depend on.
///
/// # Errors
/// A target that the API server refuses to delete, and objects that can't be kept.
pub fn predict(
    session: &mut Session,
    request: &Request,
    assume: Assume,
    asked: &PlanOptions,
) -> Result<PlanResult, OperationError> {
    let wanted = KeepSelection::of(session, request, asked)?;
    let (all, _) = play(session, request, assume, asked, &wanted)?;
    let lost = describe_unkeepable(&session.snapshot, all[0].lost.iter().map(|(object, why)| (*object, why)));
    if !lost.is_empty() {
        return Err(OperationError::Unkeepable(lost));
    }
    let summaries: Vec<(Propagation, Summary)> =
        all.iter().map(|keeping| (keeping.plan.request.propagation, keeping.plan.summary)).collect();
    let is_large = all[0].plan.outcomes.len() > MOST_OF_EVERY_POLICY;
    let wanted_of_others = if asked.every_policy && !is_large { all.len() } else { 1 };
    let mut results = Vec::new();
    for keeping in all.into_iter().take(wanted_of_others) {
        let policy = keeping.plan.request.propagation;
        let instead = summaries.iter().filter(|(propagation, _)| *propagation != policy).copied().collect();
        results.push(result(session, keeping, instead, assume, asked, &wanted));
    }
    let mut results = results.into_iter();
    let mut first = results.next().expect("a plan of the policy that was asked for");
    if asked.every_policy && is_large {
        let (most, policy) = (thousands(MOST_OF_EVERY_POLICY), first.plan.request.propagation.flag());
        first.notes.push(format!("More than {most} objects are changed: only {policy} is shown."));
    }
    Ok(PlanResult { others: results.collect(), ..first })
}

/// What there is to report about the plan of one policy.
fn result(
    session: &mut Session,
    keeping: KeepPlan,
    instead: Vec<(Propagation, Summary)>,
    assume: Assume,
    asked: &PlanOptions,
    wanted: &KeepSelection,
) -> PlanResult {
    let KeepPlan { plan, kept, stays, .. } = keeping;
    let mut notes = wanted.notes(session, &kept);
    notes.extend(not_all_orders(&session.snapshot, &plan));
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
    let allowed = |gap: &Gap| asked.allowed.allows(&gap.resource);
    let gate_violations = gate_violations(&session.snapshot, &plan, &unlisted_contents, &asked.gates, allowed);
    PlanResult { plan, instead, unlisted_contents, gate_violations, kept, notes, others: Vec::new() }
}

/// What to know of a plan that would have taken too long to complete.
fn not_all_orders(snapshot: &Snapshot, plan: &Plan) -> Option<String> {
    let open = Incomplete::of(snapshot, plan).cut_short;
    let outcomes = count(open, "outcome is", "outcomes are");
    (open > 0).then(|| {
        format!(
            "{outcomes} not certain: only {} orders of events were tried, to save time.",
            thousands(plan.orders as usize)
        )
    })
}

/// What deleting each root in the session's scope would do, the worst first.
///
/// # Errors
/// Resources that could not be read.
pub fn blast_radius(
    session: &mut Session,
    propagation: Propagation,
    assume: Assume,
) -> Result<Vec<Radius>, OperationError> {
    let namespace = session.namespace_symbol();
    let simulate = |session: &Session| {
        let graph = OwnerGraph::new(&session.snapshot);
        let context = SimContext::new(&session.snapshot, &graph, assume).at(now(session));
        let context = context.with_obstacles(now(session));
        Ok::<_, OperationError>(plan::blast_radius(&context, namespace, propagation))
    };
    let simulate = |session: &mut Session| progress::during(Work::Simulating, || simulate(session));
    let (rows, _) = complete(ROUNDS, session, simulate, |session, (_, needs)| Ok(session.learn(needs)))?;
    Ok(rows)
}

/// Refuses Orphan for Namespaces and CRDs: their contents are deleted with any policy (R1.25, R1.26). A plan only adds
/// a note; a delete refuses.
///
/// # Errors
/// One line for each such target.
pub fn refuse_orphaning_in_vain(snapshot: &Snapshot, plan: &Plan) -> Result<(), OperationError> {
    let propagation = plan.request.propagation;
    let in_vain = plan.notes.iter().filter(|note| note.kind.saves_nothing(propagation));
    let describe: Vec<String> = in_vain
        .map(|note| {
            format!(
                "{}: {}; move the objects to keep elsewhere first, or use --cascade=background to delete \
                 everything",
                snapshot.short_name(note.object),
                note.kind.message(propagation)
            )
        })
        .collect();
    if describe.is_empty() { Ok(()) } else { Err(OperationError::Unkeepable(describe)) }
}

/// The objects to keep, by the `--keep` that selects them.
struct KeepSelection(Vec<(String, KeepTargets)>);

impl KeepSelection {
    fn of(session: &mut Session, request: &Request, asked: &PlanOptions) -> Result<Self, OperationError> {
        let mut wanted = Vec::with_capacity(asked.keep.len());
        for query in &asked.keep {
            let keep_targets = session.keep_targets(query, &request.targets)?;
            // It is terminating already, through this delete or another: a user who names it must learn that it is too
            // late.
            let is_late = |object: &&ObjectId| session.snapshot.object(**object).terminating();
            let late = keep_targets.named.iter().filter(is_late).map(|object| (*object, &Unkeepable::Terminating));
            let late = describe_unkeepable(&session.snapshot, late);
            if !late.is_empty() {
                return Err(OperationError::Unkeepable(late));
            }
            wanted.push((query.text.clone(), keep_targets));
        }
        Ok(KeepSelection(wanted))
    }

    /// All objects, each once.
    fn objects(&self) -> Vec<ObjectId> {
        let mut seen = FxHashSet::default();
        let all = self
            .0
            .iter()
            .flat_map(|(_, keep_targets)| keep_targets.named.iter().chain(&keep_targets.described))
            .copied();
        all.filter(|object| seen.insert(*object)).collect()
    }

    /// Notes about objects that this delete doesn't affect.
    fn notes(&self, session: &Session, kept: &[ObjectId]) -> Vec<String> {
        let kept: FxHashSet<ObjectId> = kept.iter().copied().collect();
        let mut notes = Vec::new();
        for (text, keep_targets) in &self.0 {
            let safe = keep_targets.named.iter().filter(|object| !kept.contains(object));
            notes.extend(safe.map(|object| {
                format!("--keep {text}: {} would not be deleted anyway.", session.snapshot.short_name(*object))
            }));
            if keep_targets.named.is_empty() && !keep_targets.described.iter().any(|object| kept.contains(object)) {
                let none = if keep_targets.unread {
                    "the dump has none of these that is deleted; the cluster may have some"
                } else {
                    "none of these would be deleted anyway"
                };
                notes.push(format!("--keep {text}: {none}."));
            }
        }
        notes
    }
}

/// A plan, and those of the other policies, which keep the same objects as far as possible.
fn play(
    session: &mut Session,
    request: &Request,
    assume: Assume,
    asked: &PlanOptions,
    wanted: &KeepSelection,
) -> Result<(Vec<KeepPlan>, Needs), OperationError> {
    let others = [Propagation::Background, Propagation::Foreground, Propagation::Orphan]
        .into_iter()
        .filter(|propagation| *propagation != request.propagation);
    let wanted = wanted.objects();
    let simulate = |session: &Session| {
        let graph = OwnerGraph::new(&session.snapshot);
        let stage = SimContext::new(&session.snapshot, &graph, assume).at(now(session));
        let stage = if asked.heed_obstacles { stage.with_obstacles(now(session)) } else { stage };
        let keeping = keep(&stage, request, &wanted, explore);
        if let Some((object, why)) = keeping.plan.refused.first() {
            return Err(OperationError::Refused { object: session.snapshot.short_name(*object), why });
        }
        let mut needs = keeping.needs.clone();
        let others = others.clone().map(|propagation| {
            let request = Request { propagation, ..request.clone() };
            if asked.every_policy {
                let other = keep(&stage, &request, &wanted, explore);
                needs.add(&other.needs);
                return other;
            }
            let other = keep(&stage, &request, &wanted, plan);
            // A comparison reads nothing about who adopts what.
            needs.add(&Needs { adopters: BTreeSet::new(), ..other.needs.clone() });
            other
        });
        let others: Vec<KeepPlan> = others.collect();
        Ok((std::iter::once(keeping).chain(others).collect(), needs))
    };
    let simulate = |session: &mut Session| progress::during(Work::Simulating, || simulate(session));
    complete(ROUNDS, session, simulate, |session, (_, needs)| Ok(session.learn(needs)))
}

/// Why objects can't be kept, and what to do about it: a line for each reason.
fn describe_unkeepable<'w>(snapshot: &Snapshot, lost: impl Iterator<Item = (ObjectId, &'w Unkeepable)>) -> Vec<String> {
    let by_reason = grouped(lost.map(|(object, why)| (why_not_kept(snapshot, object, why), object)));
    let line = |(why, objects): (String, Vec<ObjectId>)| {
        let names = some_of(objects.iter().map(|object| snapshot.located(*object, None)), NAMED);
        let each = if objects.len() == 1 { "" } else { ", each" };
        format!("--keep: {names} can't be kept{each}: {why}")
    };
    by_reason.into_iter().map(line).collect()
}

fn why_not_kept(snapshot: &Snapshot, object: ObjectId, why: &Unkeepable) -> String {
    match why {
        Unkeepable::Target => "it is a target of this delete; leave it out of the TARGETs, or narrow --keep".to_owned(),
        Unkeepable::Terminating => "it is already being deleted, and that cannot be undone".to_owned(),
        Unkeepable::Namespace(namespace) => format!(
            "its namespace {} is deleted with everything in it; recreate it in another namespace, or do not \
             delete the namespace",
            snapshot.name(*namespace)
        ),
        Unkeepable::Definition(definition) => {
            format!("its CRD {} is deleted with all its instances; do not delete the CRD", snapshot.name(*definition))
        }
        Unkeepable::WithContents(by) => format!(
            "it is deleted because {} is, not because of an owner reference; removing references does not save \
             it",
            snapshot.short_name(*by)
        ),
        Unkeepable::Open(Uncertainty::Bound) => {
            "there are too many possible orders of events to be sure that it survives; delete fewer objects at \
             a time"
                .to_owned()
        }
        Unkeepable::Open(_) => {
            "not all of its owners could be read, so it may be deleted anyway; run the plan without --keep to \
             see what could not be read"
                .to_owned()
        }
        Unkeepable::OtherReason(None) => "it is not deleted because of its owners".to_owned(),
        Unkeepable::OtherReason(Some(cause)) => {
            // The policy only matters for targets, which are described above.
            let reason = because(snapshot, object, cause, Propagation::Background).message;
            format!("it is not deleted because of its owners, but because {reason}")
        }
    }
}
