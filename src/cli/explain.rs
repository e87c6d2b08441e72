//! `kubectl gc explain`

use std::collections::BTreeSet;

use crate::{
    operations::{
        OperationError, ReadScope, Session,
        evidence::read_evidence,
        examine::{Examination, ExaminationScope, Named},
        signals::SystemClock,
        targets::{Missing, TargetArgs, TargetError, Why},
        usage,
    },
    render::{escape::visible, explain::ExplainView, output::Format},
};
use gc_cluster::cluster::clock;
use gc_core::{
    doctor::{Explanation, Limit, Vanished, vanished},
    graph::OwnerGraph,
    model::Snapshot,
};

use super::{
    archive,
    args::{ExplainArgs, GlobalArgs},
    output::Printer,
    report::{Exit, Report, describe_error, heading},
    screen::{AtOnce, found},
};

/// Explains each target. Tells what is known of one that doesn't exist.
pub(super) fn run(global: &GlobalArgs, args: &ExplainArgs) -> Result<Report, OperationError> {
    match explain(global, args) {
        Err(error) if global.printing.format().is_text() => tell(global, &args.evidence, error),
        other => other,
    }
}

fn explain(global: &GlobalArgs, args: &ExplainArgs) -> Result<Report, OperationError> {
    if !args.targets.any() {
        return usage("explain needs a TARGET, such as pod/web-0");
    }
    let mut session = global.open(&args.targets, ReadScope::Explanation)?;
    let targets = session.targets.clone().unwrap_or_default();
    let namespace = session.namespace_of(&targets);
    let named: Vec<Named> = targets.iter().map(|id| Named::of(&session.snapshot, *id)).collect();
    let asked = ExaminationScope {
        limit: Limit::objects(&session.snapshot, targets.iter().copied()),
        evidence: read_evidence(&args.evidence)?,
        ..Default::default()
    };
    let report = |session: &Session, explanations: &[Explanation]| {
        report(global, args, session, (&named, explanations), namespace.as_deref())
    };
    let is_wanted = AtOnce::is_wanted(&session, global.printing.output);
    let mut at_once = AtOnce::default();
    let clock = SystemClock::start();
    let examination = Examination::new(&mut session, &clock, asked, global.connection.kubectl(), None);
    let mut print = |session: &Session, first: &[Explanation]| {
        at_once.print(known(&session.snapshot, first), report(session, first));
    };
    let explained = examination.explained(&named, if is_wanted { Some(&mut print) } else { None });
    let last = report(&session, &explained.explanations)?;
    Ok(at_once.last(|| known(&session.snapshot, &explained.explanations), last))
}

/// Identifies what explanations say, to compare two looks. Their sentences say how long ago something was.
fn known(snapshot: &Snapshot, explanations: &[Explanation]) -> BTreeSet<String> {
    let without_words = |explanation: &Explanation| {
        let mut story = Explanation { findings: Vec::new(), ..explanation.clone() };
        story.next.message.clear();
        story.next.follows = None;
        story.finalizers.iter_mut().for_each(|finalizer| finalizer.message.clear());
        story.conditions.iter_mut().for_each(|condition| condition.message.clear());
        story.causes.iter_mut().for_each(|cause| cause.message.clear());
        story
    };
    let findings = explanations.iter().flat_map(|explanation| found(snapshot, &explanation.findings));
    findings.chain(explanations.iter().map(|explanation| format!("{:?}", without_words(explanation)))).collect()
}

fn report(
    global: &GlobalArgs,
    args: &ExplainArgs,
    session: &Session,
    (named, explanations): (&[Named], &[Explanation]),
    namespace: Option<&str>,
) -> Result<Report, OperationError> {
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let doctor = &global.same("doctor", &args.targets, false);
    let view = ExplainView { snapshot, graph: &graph, explanations, namespace, doctor };
    // Ages need a cluster: the time of a dump is unknown.
    let now = global.source.from.is_empty().then(|| clock::now().as_second());
    let printer = Printer::new(global).fold(global.printing.output != Some(Format::Wide)).at(now);
    let out = printer.print(&view, || heading(snapshot, namespace, &global.source.from, ""))?;
    let mut report = Report::of(out).with_gaps(&view.gaps());
    let there = named.iter().filter(|_| !session.is_live()).filter_map(|named| named.find(snapshot));
    for command in there.filter_map(|id| archive::bring_back(&global.source.from, snapshot, id)) {
        report.notes.push(format!("note: this restores it from the archive: {command}"));
    }
    for gone in named.iter().filter(|named| named.find(snapshot).is_none()) {
        report.notes.push(format!("error: {} was deleted while it was examined", gone.short_name(snapshot)));
        report.exit = Exit::Failed;
    }
    Ok(report)
}

/// What is known of the targets that an error calls absent, as a text; the error itself if it says something else.
pub(super) fn tell(global: &GlobalArgs, evidence: &[String], error: OperationError) -> Result<Report, OperationError> {
    let missing: Vec<Missing> = match &error {
        OperationError::Target(target) => match &**target {
            TargetError::Missing(missing) => vec![(**missing).clone()],
            TargetError::AllMissing(missing) => missing.clone(),
            _ => Vec::new(),
        },
        _ => Vec::new(),
    };
    // What was deleted is no longer in a dump, and perhaps nothing of its kind is.
    let is_told = |why: &Why| *why == Why::Absent || *why == Why::NotInDump && !evidence.is_empty();
    let absent: Vec<&Missing> = missing.iter().filter(|missing| is_told(&missing.why)).collect();
    if absent.is_empty() {
        return Err(error);
    }
    let evidence = read_evidence(evidence)?;
    let everything = TargetArgs { all_namespaces: true, ..TargetArgs::default() };
    let Ok(session) = global.open(&everything, ReadScope::Everything) else {
        return Err(error);
    };
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let mut text = heading(snapshot, None, &global.source.from, "");
    let mut anything_known = false;
    for missing in absent {
        let (plural, group) = missing.resource.split_once('.').unwrap_or((&missing.resource, ""));
        let Some(resource) = snapshot.resources.by_group_plural(group, plural) else { continue };
        let namespace = missing.namespace.as_deref().unwrap_or_default();
        let events = session.is_live().then(|| session.events_about(namespace, &missing.name).ok());
        let what = Vanished { resource, namespace, name: &missing.name };
        let place = if namespace.is_empty() { String::new() } else { format!(" -n {namespace}") };
        let kind = &snapshot.resources.get(resource).kind;
        let is = if missing.why == Why::Absent { "does not exist" } else { "is not in the dump" };
        text.extend(format!("{kind}/{}{place} {is}.\n", missing.name).into_bytes());
        let lines = vanished(snapshot, &graph, what, events.as_ref().map(Option::as_deref), &evidence, snapshot.time());
        anything_known |= !lines.is_empty();
        for line in lines {
            text.extend(format!("  {}\n", visible(&line)).into_bytes());
        }
    }
    if !anything_known {
        return Err(error);
    }
    let mut report = Report::of(text).with_gaps(&snapshot.gaps);
    report.notes.push(format!("error: {}", describe_error(&error)));
    if session.is_live() {
        report.notes.push("note: --from=FILE looks into an archive or a snapshot from before".to_owned());
    }
    report.exit = Exit::Failed;
    Ok(report)
}
