//! `kubectl gc doctor`

use crate::{
    doctor::{Case, Code, Diagnosis, diagnose},
    foretell::{Assume, Prognosis, Stage},
    graph::OwnerGraph,
    model::effects::Severity,
    render::{self, doctor::DoctorView, style::Style},
};

use super::{
    args::{DoctorArgs, DoctorFormat, FailOnArg, GlobalArgs},
    colour,
    error::CliError,
    exit::Exit,
    plan::{ROUNDS, fetch},
    report::{Report, heading, terminal_width},
    session::{Reach, Session},
    sweep::scope,
    tree::in_memory,
};

/// Finds what is wrong.
pub fn run(global: &GlobalArgs, args: &DoctorArgs) -> Result<Report, CliError> {
    let mut session = Session::open(global, &args.source, &scope(global, &args.targets), Reach::Everything)?;
    let now = args.source.from.is_empty().then(|| jiff::Timestamp::now().as_second());
    let only = args.only.iter().map(|name| named(name)).collect::<Result<Vec<Code>, CliError>>()?;
    let mut diagnosis = examine(&mut session, now);
    diagnosis.findings.retain(|finding| only.is_empty() || only.contains(&finding.code));
    report(global, args, &session, &diagnosis)
}

fn named(name: &str) -> Result<Code, CliError> {
    Code::named(name)
        .ok_or_else(|| CliError::Usage(format!("there is no code {name:?}: kubectl gc doctor --list-codes prints them all")))
}

/// What is wrong, with everything read that this turns out to rest on.
fn examine(session: &mut Session, now: Option<i64>) -> Diagnosis {
    for round in 0.. {
        let graph = OwnerGraph::new(&session.snapshot);
        let stage = Stage::new(&session.snapshot, &graph, Assume::Known);
        let prognosis = Prognosis::of(&stage);
        let diagnosis = diagnose(&Case { stage: &stage, prognosis: &prognosis, now, events: &[], probed: None });
        let moved = round < ROUNDS && {
            let moved = session.confirm(&diagnosis.wanted.needs.absences);
            fetch(session, &diagnosis.wanted.needs) || moved
        };
        if !moved {
            return diagnosis;
        }
    }
    unreachable!("the last round returns")
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
