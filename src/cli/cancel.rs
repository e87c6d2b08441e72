//! `kubectl gc cancel`

use crate::{
    operations::{
        ClusterConfig, OperationError,
        approve::{Answer, Question, Terminal as _},
        hold::{Cancel, CancelConfig, HoldOutcome, HoldResult, HoldSecret},
    },
    render::{hold::HoldView, output::header},
};
use gc_core::{command_line::Kubectl, model::Identity, wording::count};

use super::{
    args::{CancelArgs, GlobalArgs},
    output::Printer,
    report::{Exit, Report, StdTerminal, heading},
};

/// Finds the holds, asks, and takes them back.
pub(super) fn run(global: &GlobalArgs, args: &CancelArgs) -> Result<Report, OperationError> {
    let mut cancel = Cancel::open(&global.cluster()?, config(global, args))?;
    let notes = cancel.check()?;
    let results = match args.dry_run {
        true => cancel.foresee(),
        false if !args.yes && !confirmed(&cancel)? => return Ok(Report::declined(None)),
        false => cancel.carry_out(),
    };
    let more = if args.dry_run { " Nothing was changed." } else { "" };
    let printer = Printer::new(global);
    let mut report = report(&cancel, &results, &printer, more, &global.connection.kubectl())?;
    report.notes.splice(..0, notes);
    Ok(report)
}

/// What the arguments ask for.
pub(super) fn config(global: &GlobalArgs, args: &CancelArgs) -> CancelConfig {
    CancelConfig { namespace: global.connection.namespace().map(str::to_owned), ..args.config.clone() }
}

/// Takes back what was just held, with the user's consent.
pub(super) fn take_back(
    cluster: &ClusterConfig,
    held: &[HoldResult],
    printer: &Printer,
    kubectl: &Kubectl,
) -> Result<Report, OperationError> {
    let mut all = Vec::new();
    let mut last = None;
    // Each is found by its Secret, in whichever namespace that is.
    for one in held {
        let HoldSecret { namespace, name } = one.secret.clone();
        let targets = vec![format!("secrets/{name}")];
        let (namespace, use_existing) = (Some(namespace), one.use_existing);
        let config = CancelConfig { targets, namespace, use_existing, ..CancelConfig::default() };
        let mut cancel = Cancel::open(cluster, config)?;
        cancel.check()?;
        all.extend(cancel.carry_out());
        last = Some(cancel);
    }
    match last {
        Some(cancel) => report(&cancel, &all, printer, "", kubectl),
        None => Ok(Report::of("")),
    }
}

fn confirmed(cancel: &Cancel) -> Result<bool, OperationError> {
    if !StdTerminal.can_ask() {
        return Err(OperationError::NoTerminal);
    }
    let objects = cancel.objects();
    let names: Vec<String> = objects.iter().map(Identity::placed).collect();
    let kept = match cancel.kept() {
        0 => String::new(),
        kept => format!(", and keep {}", count(kept, "dependent", "dependents")),
    };
    let preface = header(&cancel.session.snapshot, cancel.session.namespace.as_deref(), &[]);
    let prompt = format!("Take back the delete of {}{kept}? [y/N]", names.join(", "));
    let question = Question { preface, prompt, ..Question::default() };
    Ok(question.judge(&StdTerminal.ask(&question.preface, &question.prompt)) == Answer::Yes)
}

fn report(
    cancel: &Cancel,
    results: &[HoldResult],
    printer: &Printer,
    more: &str,
    kubectl: &Kubectl,
) -> Result<Report, OperationError> {
    let snapshot = &cancel.session.snapshot;
    let gaps = cancel.gaps();
    let view = HoldView { results, gaps: &gaps, resources: &snapshot.resources, kubectl };
    let namespace = cancel.session.namespace.as_deref();
    let data = printer.print(&view, || heading(snapshot, namespace, &[], more))?;
    Ok(Report { exit: exit(results), ..Report::of(data).with_gaps(&gaps) })
}

/// How holds ended.
pub(super) fn exit(results: &[HoldResult]) -> Exit {
    let is_bad = |result: &HoldResult| {
        matches!(
            result.outcome,
            HoldOutcome::Failed | HoldOutcome::GoneOn | HoldOutcome::DeletedAgain | HoldOutcome::ByOthers
        )
    };
    if results.iter().any(is_bad) { Exit::BadNews } else { Exit::Fine }
}
