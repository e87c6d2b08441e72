//! `kubectl gc explain`

use crate::{
    doctor::Limit,
    graph::OwnerGraph,
    model::Symbol,
    render::{self, explain::ExplainView, style::Style},
};

use super::{
    args::{ExplainArgs, ExplainFormat, GlobalArgs},
    colour,
    error::CliError,
    examine::{Asked, Examination},
    exit::Exit,
    plan::namespace_of,
    report::{Report, heading, terminal_width},
    session::{Reach, Session},
    tree::in_memory,
};

/// Tells the story of each target.
pub fn run(global: &GlobalArgs, args: &ExplainArgs) -> Result<Report, CliError> {
    if args.targets.targets.is_empty() && args.targets.filenames.is_empty() {
        return Err(CliError::Usage("explain tells one object's story: name a TARGET, such as pod/web-0".to_owned()));
    }
    let mut session = Session::open(global, &args.source, &args.targets, Reach::Diagnosis)?;
    let targets = session.targets.clone().unwrap_or_default();
    let namespace = namespace_of(&session, &targets);
    // Objects are known by their uids, which stay theirs.
    let named = |id| (session.snapshot.object(id).uid, session.snapshot.short_name(id));
    let targets: Vec<(Symbol, String)> = targets.into_iter().map(named).collect();
    let uids: Vec<Symbol> = targets.iter().map(|(uid, _)| *uid).collect();
    let asked = Asked { limit: Limit::Objects(uids.iter().copied().collect()), only: Vec::new() };
    let explained = Examination::new(&mut session, asked, None).explained(&uids);
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let view = ExplainView { snapshot, graph: &graph, explanations: &explained.explanations, namespace: namespace.as_deref() };
    let style = Style::new(colour::wanted(global.color, &std::io::stdout()));
    let out = match args.output {
        Some(ExplainFormat::Json) => render::document::json(&view.document()).into_bytes(),
        Some(ExplainFormat::Yaml) => render::document::yaml(&view.document()).into_bytes(),
        None | Some(ExplainFormat::Wide) => {
            let mut out = heading(snapshot, namespace.as_deref(), &args.source.from, "");
            let wide = args.output == Some(ExplainFormat::Wide);
            // How long something has been so is told on a cluster only: nobody knows how old a dump is.
            let now = args.source.from.is_empty().then(|| jiff::Timestamp::now().as_second());
            let options = render::tree::Options { width: terminal_width(), fold: !wide, wide, now, style: &style };
            view.write(&options, &mut out).map_err(in_memory)?;
            out
        }
    };
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    for (uid, name) in targets {
        if snapshot.by_uid(uid).is_none() {
            report.notes.push(format!("error: {name} has gone while it was looked at"));
            report.exit = Exit::Failed;
        }
    }
    Ok(report)
}
