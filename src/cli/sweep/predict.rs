//! What a sweep would do: `--dry-run`.

use crate::{
    graph::OwnerGraph,
    model::{ObjectId, Snapshot},
    operations::{OperationError, ReadScope, Session},
    plan::{Plan, Uncertainty, explore, plan},
    render::{
        plan::{PlanView, SweepView},
        style::Style,
    },
    simulate::{Assume, Needs, Only, Request, SimContext, Start},
};

use super::{
    super::{
        args::{GlobalArgs, SweepArgs},
        colour,
        exit::Exit,
        plan::{in_form, text_options},
        predict::ROUNDS,
        report::{Report, heading},
    },
    scope,
};

/// Foretells one pass of the collector.
pub fn show(global: &GlobalArgs, args: &SweepArgs) -> Result<Report, OperationError> {
    let mut session = global.open(&args.source, &scope(global, &args.targets), ReadScope::Everything)?;
    if args.trust_missing_apis {
        session.trust_missing_apis();
    }
    let limit = limit(&session);
    let plan = predict(&mut session, &request(limit.as_deref()), args.assume.assume(), args.trust_missing_apis);
    report(global, args, &session, limit.as_deref(), &plan)
}

/// One pass, which touches these objects only; unset: all.
pub(super) fn request(limit: Option<&[ObjectId]>) -> Request {
    let request = Request::only_collect(Start::Sweep);
    match limit {
        Some(limit) => request.limited_to(Only::new(limit.iter().copied())),
        None => request,
    }
}

/// The objects that may be touched; none where all may be.
pub(super) fn limit(session: &Session) -> Option<Vec<ObjectId>> {
    if let Some(targets) = &session.targets {
        return Some(targets.clone());
    }
    let namespace = session.snapshot.strings.find(session.namespace.as_deref()?);
    let objects = session.snapshot.objects();
    Some(objects.filter(|(_, object)| Some(object.namespace) == namespace).map(|(id, _)| id).collect())
}

/// What the pass would do, with everything read that this turns out to rest on. One order of events mostly finds all
/// that is missing; the others are played once nothing is.
pub(super) fn predict(session: &mut Session, request: &Request, assume: Assume, trusts_missing_apis: bool) -> Plan {
    let mut rounds = 0;
    loop {
        let graph = graph_of(&session.snapshot, trusts_missing_apis);
        let stage = SimContext::new(&session.snapshot, &graph, assume);
        let first = plan(&stage, request).needs;
        if rounds < ROUNDS && learn(session, &first) {
            rounds += 1;
            continue;
        }
        let graph = graph_of(&session.snapshot, trusts_missing_apis);
        let stage = SimContext::new(&session.snapshot, &graph, assume);
        let whole = explore(&stage, request);
        rounds += 1;
        if rounds > ROUNDS || !learn(session, &whole.needs) {
            return whole;
        }
    }
}

/// Who owns whom, to a sweep: without `--trust-missing-apis` it is stricter than the collector (R3.16).
pub(super) fn graph_of(snapshot: &Snapshot, trusts_missing_apis: bool) -> OwnerGraph {
    let graph = OwnerGraph::new(snapshot);
    if trusts_missing_apis { graph } else { graph.doubting_missing_apis() }
}

/// Reads what is needed, and asks whether what lists lack is really not there. Says whether that made a difference.
fn learn(session: &mut Session, needs: &Needs) -> bool {
    let moved = session.confirm(&needs.absences);
    session.fetch(needs) || moved
}

fn report(
    global: &GlobalArgs,
    args: &SweepArgs,
    session: &Session,
    limit: Option<&[ObjectId]>,
    plan: &Plan,
) -> Result<Report, OperationError> {
    let snapshot = &session.snapshot;
    let namespace = match &session.targets {
        Some(targets) => session.namespace_of(targets),
        None => session.namespace.clone(),
    };
    let graph = graph_of(snapshot, args.trust_missing_apis);
    let view = SweepView(PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref()));
    let style = Style::new(colour::wanted(global.color, &std::io::stdout()));
    let options = text_options(args.output, args.targets.all, &style);
    let out = in_form(args.output, &view, &options, || {
        heading(snapshot, namespace.as_deref(), &args.source.from, &format!(" Nothing was changed.{}", limited(limit)))
    })?;
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    if let Some(uncertain) = uncertain(plan) {
        report.notes.push(uncertain);
        report.exit = Exit::Failed;
    } else if plan.stuck() {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// How much may be touched, where that isn't all.
pub(super) fn limited(limit: Option<&[ObjectId]>) -> String {
    match limit {
        None => String::new(),
        Some([_]) => " One object may be touched.".to_owned(),
        Some(objects) => format!(" {} objects may be touched.", objects.len()),
    }
}

/// What is said where something unread decides what the sweep does: it would have to leave that alone.
fn uncertain(plan: &Plan) -> Option<String> {
    match plan.outcomes.iter().filter(|outcome| outcome.uncertain == Some(Uncertainty::Gap)).count() {
        0 => None,
        1 => Some(
            "error: one outcome is not certain, because of what could not be read: a sweep would not touch it"
                .to_owned(),
        ),
        some => Some(format!(
            "error: {some} outcomes are not certain, because of what could not be read: a sweep would not touch them"
        )),
    }
}
