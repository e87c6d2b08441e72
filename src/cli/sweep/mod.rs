//! `kubectl gc sweep`: does the collector's work from the client.

mod config;
mod pass;
mod watch;

use crate::{
    operations::{
        OperationError, ReadScope, Session,
        sweep::{SweepRules, limit, refusal},
    },
    render::plan::PlanView,
};
use gc_core::{model::ObjectId, plan::Plan, simulate::Uncertainty};

use super::{
    args::GlobalArgs,
    output::Printer,
    report::{Exit, Report, heading},
};

pub use config::{SweepArgs, SweepConfig};

/// Shows one pass, carries it out, or continues with `--watch`.
pub fn run(global: &GlobalArgs, args: &SweepArgs) -> Result<Report, OperationError> {
    let order = SweepConfig::read(args)?;
    let rules = SweepRules { assume: args.assumed.assume, trust_missing_apis: args.trust_missing_apis };
    match (args.watching.watch, args.dry_run) {
        (true, _) => watch::watch(global, args, &order),
        (false, true) => dry_run(global, args, rules),
        (false, false) => pass::pass(global, args, &order, rules),
    }
}

/// Predicts one pass of the collector.
fn dry_run(global: &GlobalArgs, args: &SweepArgs, rules: SweepRules) -> Result<Report, OperationError> {
    let mut session = global.open(&args.source, &global.scope_of(&args.targets), ReadScope::Everything)?;
    session.enter_namespace();
    if rules.trust_missing_apis {
        session.trust_missing_apis();
    }
    let limit = limit(&session);
    let plan = rules.simulate(&mut session, limit.as_deref());
    report(global, args, &session, rules, limit.as_deref(), &plan)
}

fn report(
    global: &GlobalArgs,
    args: &SweepArgs,
    session: &Session,
    rules: SweepRules,
    limit: Option<&[ObjectId]>,
    plan: &Plan,
) -> Result<Report, OperationError> {
    let snapshot = &session.snapshot;
    let namespace = session.namespace_of_targets();
    let graph = rules.graph(snapshot);
    let view = PlanView::new(snapshot, &graph, plan, &[], namespace.as_deref());
    let heading = || {
        let more = format!(" Nothing was changed.{}", pass::limited(limit));
        heading(snapshot, namespace.as_deref(), &args.source.from, &more)
    };
    let printer = Printer::of_plan(global, args.output, args.targets.all);
    let out = printer.with_commands(global.object_commands(&args.source)).print(&view, heading)?;
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    if let Some(why) = refusal(session, plan) {
        report.notes.push(format!("error: without --dry-run, a sweep would refuse: {why}"));
        report.exit = Exit::Failed;
    }
    if let Some(uncertain) = uncertain(plan) {
        report.notes.push(uncertain);
        report.exit = Exit::Failed;
    } else if plan.stuck() && report.exit == Exit::Fine {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// A note if unread data may change what the sweep does: a real sweep leaves an object alone whose owner it can't read.
fn uncertain(plan: &Plan) -> Option<String> {
    match plan.outcomes.iter().filter(|outcome| outcome.uncertain == Some(Uncertainty::Gap)).count() {
        0 => None,
        1 => Some(
            "error: 1 outcome is not certain, because something could not be read: a sweep may leave \
             that object as it is"
                .to_owned(),
        ),
        some => Some(format!(
            "error: {some} outcomes are not certain, because something could not be read: a sweep may leave \
             those objects as they are"
        )),
    }
}
