//! `kubectl gc doctor`

use std::time::Duration;

use crate::{
    act::Probe,
    doctor::{Code, Diagnosis, Limit},
    model::effects::Severity,
    render::{self, doctor::DoctorView, style::Style},
};

use super::{
    args::{DoctorArgs, DoctorFormat, FailOnArg, GlobalArgs},
    colour,
    error::CliError,
    examine::{Asked, Examination},
    exit::Exit,
    report::{Report, heading, terminal_width},
    session::{Reach, Session},
    sweep::scope,
    tree::in_memory,
    watch::{Look, found, watch},
};

/// How long a collector that works may take for a throw-away object.
const PATIENCE: Duration = Duration::from_secs(10);

/// Finds what is wrong.
pub fn run(global: &GlobalArgs, args: &DoctorArgs) -> Result<Report, CliError> {
    let only = args.only.iter().map(|name| named(name)).collect::<Result<Vec<Code>, CliError>>()?;
    if args.probe && !args.source.from.is_empty() {
        return Err(CliError::Usage("--probe asks a cluster: it can't go with --from".to_owned()));
    }
    if !args.watch {
        return Ok(look(global, args, &only)?.report);
    }
    if !args.source.from.is_empty() {
        return Err(CliError::Usage("--watch looks at a cluster: it can't go with --from, where nothing changes".to_owned()));
    }
    watch(Duration::from_secs(args.interval), || look(global, args, &only))
}

/// One look at everything.
fn look(global: &GlobalArgs, args: &DoctorArgs, only: &[Code]) -> Result<Look, CliError> {
    let mut session = Session::open(global, &args.source, &scope(global, &args.targets), Reach::Diagnosis)?;
    let only = only.to_vec();
    let asked = Asked { limit: limit(&mut session), only };
    let probe = if args.probe { session.probe(PATIENCE).transpose()? } else { None };
    let diagnosis = Examination::new(&mut session, asked, probe.as_ref()).diagnosis();
    let mut report = report(global, args, &session, &diagnosis)?;
    if let Some(Probe::Collected { after }) = probe {
        report
            .notes
            .push(format!("A collector is running: it dealt with a throw-away object within {:.1} s.", after.as_secs_f64()));
    }
    let is_text = matches!(args.output, None | Some(DoctorFormat::Wide));
    Ok(Look { report, is_text, found: found(&session.snapshot, &diagnosis) })
}

/// What is asked about. Objects are known by their uids, which stay theirs.
fn limit(session: &mut Session) -> Limit {
    let namespace = session.namespace_symbol();
    match (&session.targets, namespace) {
        (Some(targets), _) => Limit::Objects(targets.iter().map(|id| session.snapshot.object(*id).uid).collect()),
        (None, Some(namespace)) => Limit::Namespace(namespace),
        (None, None) => Limit::Everything,
    }
}

fn named(name: &str) -> Result<Code, CliError> {
    Code::named(name)
        .ok_or_else(|| CliError::Usage(format!("there is no code {name:?}: kubectl gc doctor --list-codes prints them all")))
}

fn report(global: &GlobalArgs, args: &DoctorArgs, session: &Session, diagnosis: &Diagnosis) -> Result<Report, CliError> {
    let snapshot = &session.snapshot;
    let view = DoctorView { snapshot, diagnosis, namespace: session.namespace.as_deref() };
    let style = Style::new(colour::wanted(global.color, &std::io::stdout()));
    let out = match args.output {
        Some(DoctorFormat::Json) => render::document::json(&view.document()).into_bytes(),
        Some(DoctorFormat::Yaml) => render::document::yaml(&view.document()).into_bytes(),
        Some(DoctorFormat::Remedies) => view.remedies().into_bytes(),
        Some(DoctorFormat::Name) => view.names().into_bytes(),
        None | Some(DoctorFormat::Wide) => {
            let mut out = heading(snapshot, session.namespace.as_deref(), &args.source.from, "");
            let options = render::tree::Options {
                width: terminal_width(),
                fold: true,
                wide: args.output == Some(DoctorFormat::Wide),
                now: None,
                style: &style,
            };
            view.write(&options, &mut out).map_err(in_memory)?;
            out
        }
    };
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    let worst = match args.fail_on {
        FailOnArg::Error => Some(Severity::Error),
        FailOnArg::Warning => Some(Severity::Warning),
        FailOnArg::Never => None,
    };
    if worst.is_some_and(|worst| diagnosis.findings.iter().any(|finding| finding.severity <= worst)) {
        report.exit = Exit::BadNews;
    }
    Ok(report)
}
