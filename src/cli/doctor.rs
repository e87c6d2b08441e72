//! `kubectl gc doctor`; with `--watch`, it looks again and again, and prints changes.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    operations::{
        Opening, OperationError, ReadScope, Session,
        evidence::read_evidence,
        examine::{Examination, ExaminationScope, limit},
        predict::{PlanOptions, PlanResult, predict},
        signals::SystemClock,
        usage,
    },
    render::{
        doctor::{CodesView, DoctorView, IfDeleted, looked_at},
        output::{Format, header},
        plan::{PlanView, VerdictJson},
    },
    tui::Start,
};
use gc_cluster::act::{Probe, ProbeError};
use gc_core::{
    doctor::{Code, Diagnosis, Finding, Probed},
    graph::OwnerGraph,
    model::{Gap, ObjectId, Snapshot, nearest::nearest, type_names::did_you_mean},
    plan::Gates,
    server::Propagation,
    simulate::{Assume, Request},
};

use super::{
    args::{DoctorArgs, GlobalArgs},
    explain,
    output::Printer,
    report::{Exit, Report, heading},
    screen::{AtOnce, Screen, found},
    tui,
};

/// How long a working collector may take to process the test object of `--probe`.
const PATIENCE: Duration = Duration::from_secs(10);

/// Finds problems.
pub(super) fn run(global: &GlobalArgs, args: &DoctorArgs) -> Result<Report, OperationError> {
    if args.list_codes {
        return list_codes(global);
    }
    if args.interactive {
        return tui::open(global, &args.targets, Propagation::Background, Start::Findings);
    }
    let only = args.only.iter().map(|name| named(name)).collect::<Result<Vec<Code>, OperationError>>()?;
    if args.probe && !global.source.from.is_empty() {
        return usage("--probe needs a cluster: it cannot be used with --from");
    }
    if !args.watch {
        return match look(global, args, &only) {
            Ok(look) => Ok(look.report),
            Err(error) if global.printing.format().is_text() => explain::tell(global, &args.evidence, error),
            Err(error) => Err(error),
        };
    }
    if !global.source.from.is_empty() {
        return usage("--watch needs a cluster: it cannot be used with --from");
    }
    let is_text = global.printing.format().is_text();
    watch(Duration::from_secs(args.interval), is_text, || look(global, args, &only))
}

/// Reads and examines everything once.
fn look(global: &GlobalArgs, args: &DoctorArgs, only: &[Code]) -> Result<Look, OperationError> {
    let evidence = read_evidence(&args.evidence)?;
    let (source, targets) = global.configuration(&global.scope_of(&args.targets))?;
    let (mut session, probe): (Box<Session>, _) = match global.opening(&source, &targets, ReadScope::Diagnosis)? {
        Opening::Cluster(discovered) if args.probe => {
            let mut session = discovered.read(&targets, ReadScope::Diagnosis)?;
            session.narrow_namespace();
            let probe = session.probe(PATIENCE);
            (Box::new(session), Some(probe))
        }
        opening => (opening.read(&targets, ReadScope::Diagnosis)?, None),
    };
    // Before objects are read again, because their ids may change then.
    session.narrow_namespace();
    let if_deleted = if_deleted(global, args, session.as_mut()).filter(|_| only.is_empty());
    let asked = ExaminationScope { limit: limit(&mut session), only: only.to_vec(), evidence };
    let ProbeOutcome { probed, note, failed } = probe.map(told_by).unwrap_or_default();
    let report = |session: &Session, diagnosis: &Diagnosis| {
        report(global, args, only, session, diagnosis, (probed, if_deleted.as_ref()))
    };
    let is_wanted = !args.watch && AtOnce::is_wanted(&session, global.printing.output);
    let mut at_once = AtOnce::default();
    let clock = SystemClock::start();
    let mut examination = Examination::new(&mut session, &clock, asked, global.connection.kubectl(), probed);
    let mut print = |session: &Session, first: &Diagnosis| {
        // Of everything, only what is being deleted: much of the rest passes.
        let terminating = |id: &ObjectId| session.snapshot.object(*id).terminating();
        let is_told = |finding: &&Finding| session.targets.is_some() || finding.objects.iter().any(terminating);
        let findings: Vec<Finding> = first.findings.iter().filter(is_told).cloned().collect();
        if !findings.is_empty() {
            let first = Diagnosis { findings, ..first.clone() };
            at_once.print(found(&session.snapshot, &first.findings), report(session, &first));
        }
    };
    let diagnosis = examination.diagnosis(if is_wanted { Some(&mut print) } else { None });
    let found = found(&session.snapshot, &diagnosis.findings);
    let mut report = at_once.last(|| found.clone(), report(&session, &diagnosis)?);
    report.notes.extend(note);
    if failed {
        report.exit = Exit::Failed;
    }
    Ok(Look { report, found, unread: unread(&session.snapshot) })
}

/// What the test object of `--probe` showed.
#[derive(Default)]
struct ProbeOutcome {
    probed: Option<Probed>,
    /// A note on what no finding reports.
    note: Option<String>,
    /// The test failed, which doesn't keep the findings from being reported.
    failed: bool,
}

fn told_by(probe: Result<Probe, ProbeError>) -> ProbeOutcome {
    match probe {
        Ok(Probe::Collected { after }) => {
            let note =
                format!("A collector is running: it processed a test object within {:.1}s.", after.as_secs_f64());
            ProbeOutcome { probed: Some(Probed::Works), note: Some(note), failed: false }
        }
        Ok(Probe::NotCollected { waited, .. }) => {
            let waited = i64::try_from(waited.as_secs()).unwrap_or(i64::MAX);
            ProbeOutcome { probed: Some(Probed::Stopped { waited }), ..ProbeOutcome::default() }
        }
        Err(ProbeError::NotHeld) => ProbeOutcome { probed: Some(Probed::NotHeld), ..ProbeOutcome::default() },
        Err(error) => ProbeOutcome { note: Some(format!("error: {error}")), failed: true, probed: None },
    }
}

/// What would keep a delete of the targets from finishing; `None` if nothing would, or if they are being deleted.
fn if_deleted(global: &GlobalArgs, args: &DoctorArgs, session: &mut Session) -> Option<IfDeleted> {
    let living = |id: &ObjectId| !session.snapshot.object(*id).terminating();
    let targets: Vec<ObjectId> = session.targets.iter().flatten().copied().filter(living).collect();
    if targets.is_empty() {
        return None;
    }
    let asked = PlanOptions::of(&session.snapshot.resources, &[], &Gates::default()).ok()?;
    let request = Request::delete(targets, Propagation::Background);
    // A target that can't be deleted, such as the namespace default, is no problem of the target.
    let PlanResult { plan, instead, .. } = predict(session, &request, Assume::Known, &asked).ok()?;
    if !plan.stuck() {
        return None;
    }
    let graph = OwnerGraph::new(&session.snapshot);
    let view = PlanView::new(&session.snapshot, &graph, &plan, &instead, session.namespace.as_deref());
    Some(IfDeleted { verdict: VerdictJson::of(&view), plan: global.same("plan", &args.targets, false) })
}

/// Prints every code; needs no cluster.
fn list_codes(global: &GlobalArgs) -> Result<Report, OperationError> {
    let of_findings = |format: &Format| matches!(format, Format::Remedies | Format::Oneline) || format.draws();
    if let Some(format) = global.printing.output.filter(of_findings) {
        return usage(format!("--list-codes cannot be combined with -o {}", format.name()));
    }
    Ok(Report::of(Printer::new(global).print(&CodesView, Vec::new)?))
}

fn named(name: &str) -> Result<Code, OperationError> {
    Code::named(name).ok_or_else(|| {
        if name.is_empty() {
            return OperationError::Usage("--only has an empty code; --list-codes prints all".to_owned());
        }
        let near = nearest(name, Code::ALL.map(|code| (code.name().to_owned(), code.name())));
        OperationError::Usage(format!("there is no code {name:?}{} (--list-codes prints all)", did_you_mean(&near)))
    })
}

fn report(
    global: &GlobalArgs,
    args: &DoctorArgs,
    only: &[Code],
    session: &Session,
    diagnosis: &Diagnosis,
    (probed, if_deleted): (Option<Probed>, Option<&IfDeleted>),
) -> Result<Report, OperationError> {
    let snapshot = &session.snapshot;
    let namespace = session.namespace.as_deref();
    let view = DoctorView {
        snapshot,
        diagnosis,
        namespace,
        targets: session.targets.as_ref().map(Vec::len),
        probed,
        if_deleted,
        header: &header(snapshot, namespace, &global.source.from),
        only,
        again: &global.same("doctor", &args.targets, args.probe),
        kubectl: &global.held_to(session),
    };
    let heading = || {
        // If there are no findings, the result line says what was read.
        let read = match diagnosis.findings.is_empty() {
            true => String::new(),
            false => format!(" Read: {}.", looked_at(snapshot, namespace.filter(|_| session.targets.is_none()))),
        };
        heading(snapshot, namespace, &global.source.from, &read)
    };
    let printer = Printer::new(global);
    let mut report = Report::of(printer.print(&view, heading)?).with_gaps(&snapshot.gaps);
    if args.fail_on.is_some_and(|worst| diagnosis.findings.iter().any(|finding| finding.severity <= worst)) {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}

/// The result of one look.
pub(super) struct Look {
    pub report: Report,
    /// The findings, each with all its objects.
    pub found: BTreeSet<String>,
    /// What could not be read.
    pub unread: BTreeSet<String>,
}

impl Look {
    /// What is different since another look, to follow the time; `None` if nothing is.
    fn since(&self, before: &Look) -> Option<String> {
        let new = self.found.difference(&before.found).count();
        let gone = before.found.difference(&self.found).count();
        let findings = (new + gone > 0).then(|| format!("{new} new, {gone} resolved or changed"));
        // Without this, nobody would know whether what was told before still rests on everything.
        let reading = match (self.unread == before.unread, self.unread.is_empty()) {
            (true, _) => None,
            (false, true) => Some("everything can be read again".to_owned()),
            (false, false) => Some("what can be read has changed".to_owned()),
        };
        let changes: Vec<String> = findings.into_iter().chain(reading).collect();
        (!changes.is_empty()).then(|| format!(": {}.", changes.join("; ")))
    }
}

/// Identifies what could not be read, to compare two looks. Objects that are gone since they were listed are no change.
pub(super) fn unread(snapshot: &Snapshot) -> BTreeSet<String> {
    snapshot.gaps.iter().filter(|gap| !gap.is_of_gone()).map(Gap::place).collect()
}

/// Looks until standard output is closed, and prints whenever the findings or what can be read change. Errors are
/// reported and retried, except in the first look, which must succeed. A line precedes a report if it `is_text`.
pub(super) fn watch(
    interval: Duration,
    is_text: bool,
    mut look: impl FnMut() -> Result<Look, OperationError>,
) -> Result<Report, OperationError> {
    let first = look()?;
    let next = || {
        std::thread::sleep(interval);
        look()
    };
    Ok(over(&Screen::lasting(is_text).keep(interval, first, next, |look| &look.report, Look::since)))
}

/// The final report: empty, because everything is already printed.
fn over(look: &Look) -> Report {
    let exit = if look.report.exit == Exit::BadNews { Exit::BadNews } else { Exit::Fine };
    Report { exit, ..Report::of("") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(found: &[&str]) -> Look {
        let found = found.iter().map(|text| (*text).to_owned()).collect();
        Look { report: Report::of(Vec::new()), found, unread: BTreeSet::new() }
    }

    #[test]
    fn whatever_changes_is_told() {
        let blind = |unread: &[&str]| Look { unread: look(unread).found, ..look(&["a"]) };
        let told = |now: Look, before: Look| now.since(&before);
        assert_eq!(told(look(&["a"]), look(&["a"])), None);
        assert_eq!(told(look(&["b"]), look(&["a"])).as_deref(), Some(": 1 new, 1 resolved or changed."));
        assert_eq!(told(blind(&["secrets"]), look(&["a"])).as_deref(), Some(": what can be read has changed."));
        assert_eq!(told(blind(&[]), blind(&["secrets"])).as_deref(), Some(": everything can be read again."));
        assert_eq!(
            told(look(&[]), blind(&["secrets"])).as_deref(),
            Some(": 0 new, 1 resolved or changed; everything can be read again.")
        );
        assert_eq!(told(blind(&["secrets"]), blind(&["secrets"])), None);
    }

    /// The first look must succeed; later ones are retried.
    #[test]
    fn only_the_first_look_has_to_come_about() {
        let failed = || Err(OperationError::Usage("no".to_owned()));
        assert!(watch(Duration::ZERO, false, failed).is_err());
        let mut looks = 0;
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            watch(Duration::ZERO, false, || {
                looks += 1;
                match looks {
                    1 => Ok(look(&["a"])),
                    2 | 3 => failed_look(),
                    _ => panic!("it goes on"),
                }
            })
        }));
        assert!(caught.is_err() && looks == 4);
    }

    fn failed_look() -> Result<Look, OperationError> {
        Err(OperationError::Usage("gone".to_owned()))
    }
}
