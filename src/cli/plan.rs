//! `kubectl gc plan`

use crate::{
    operations::{
        OperationError, ReadScope, Session,
        predict::{PlanOptions, PlanResult, blast_radius, predict},
        usage,
    },
    render::{
        output::{Format, Output},
        plan::{BlastRadius, describe_gate},
    },
    tui::Start,
};
use gc_core::{
    graph::OwnerGraph,
    model::Gap,
    plan::Incomplete,
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    apply,
    args::{GlobalArgs, PlanArgs, grace_period},
    output::{Printer, view_of},
    report::{Exit, Report, heading},
    tui,
};

/// How many roots are shown without `--all`.
const WORST: usize = 20;

/// Predicts a delete, or without targets the delete of every root.
pub(super) fn run(global: &GlobalArgs, args: &PlanArgs) -> Result<Report, OperationError> {
    if args.interactive {
        let policy = args.propagation.policy();
        return tui::open(global, &args.targets, policy, Start::Plan);
    }
    if args.apply.fix && !args.apply.apply {
        return usage("--fix needs --apply");
    }
    if args.apply.apply {
        return apply::run(global, args);
    }
    let grace = grace_period(&args.grace)?;
    require_targets(args)?;
    let (source, targets) = global.configuration(&args.targets.to_be_deleted(args.ignore_not_found))?;
    let opening = global.opening(&source, &targets, ReadScope::Diagnosis)?;
    let asked = PlanOptions::of(opening.resources(), &args.keep.keep, &args.gates.named())?;
    let asked = asked.with_every_policy(global.printing.output == Some(Format::Html));
    let mut session = opening.read(&targets, ReadScope::Diagnosis)?;
    let propagation = args.propagation.policy();
    let assume = args.assumed.assume;
    match session.targets.clone() {
        Some(targets) if targets.is_empty() && global.printing.format().is_text() => {
            Ok(Report::of("Nothing would be deleted: no such object exists.\n"))
        }
        Some(targets) => {
            let request = Request { grace, ..Request::delete(targets, propagation) };
            let result = predict(&mut session, &request, assume, &asked)?;
            tell(global, args, &session, &result)
        }
        None => radius(global, args, &mut session, propagation, assume),
    }
}

/// Gates and --keep apply to one delete.
fn require_targets(args: &PlanArgs) -> Result<(), OperationError> {
    if args.targets.any() {
        return Ok(());
    }
    if args.gates.any() {
        return usage("--deny, --deny-effect, --max and --fail-on need a TARGET, such as deployment/web");
    }
    if !args.keep.keep.is_empty() {
        return usage("--keep needs a TARGET, such as deployment/web");
    }
    Ok(())
}

fn tell(
    global: &GlobalArgs,
    args: &PlanArgs,
    session: &Session,
    result: &PlanResult,
) -> Result<Report, OperationError> {
    let PlanResult { plan, gate_violations, notes, .. } = result;
    let namespace = session.namespace_of(&plan.request.targets);
    let graph = OwnerGraph::new(&session.snapshot);
    let kubectl = global.kubectl();
    let mut view = view_of(&session.snapshot, &graph, result, namespace.as_deref(), &kubectl);
    view.limits = args.gates.flags();
    let gaps = Incomplete::gaps_that_matter(&session.snapshot, plan);
    let bad = !gate_violations.is_empty() || args.gates.fails_at(view.verdict().result);
    let mut report = report(global, args, session, namespace.as_deref(), &view, &gaps, bad)?;
    report.notes.extend(notes.iter().cloned());
    // A list of names doesn't show gate violations.
    if global.printing.output == Some(Format::Name) {
        report.notes.extend(
            gate_violations
                .iter()
                .map(|gate_violations| format!("REFUSED: {}", describe_gate(&session.snapshot, gate_violations))),
        );
    }
    Ok(report)
}

fn report(
    global: &GlobalArgs,
    args: &PlanArgs,
    session: &Session,
    namespace: Option<&str>,
    view: &impl Output,
    gaps: &[Gap],
    bad_news: bool,
) -> Result<Report, OperationError> {
    let heading = || heading(&session.snapshot, namespace, &global.source.from, " Nothing was changed.");
    let printer = Printer::of_plan(global, args.targets.all);
    let out = printer.print(view, heading)?;
    let mut report = Report::of(out).with_gaps(gaps);
    if bad_news {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// Predicts the delete of each root in scope.
fn radius(
    global: &GlobalArgs,
    args: &PlanArgs,
    session: &mut Session,
    propagation: Propagation,
    assume: Assume,
) -> Result<Report, OperationError> {
    let rows = blast_radius(session, propagation, assume)?;
    let snapshot = &session.snapshot;
    let most = (!args.targets.all).then_some(WORST);
    let bad = rows.iter().any(|row| args.gates.fails_at(row.verdict));
    let radius = BlastRadius::new(snapshot, &global.kubectl(), propagation, rows, session.namespace.as_deref(), most);
    report(global, args, session, session.namespace.as_deref(), &radius, &radius.gaps(), bad)
}
