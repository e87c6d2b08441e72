//! `kubectl gc explain`

use crate::{
    doctor::Limit,
    graph::OwnerGraph,
    operations::{
        OperationError, ReadScope,
        clock::SystemClock,
        examine::{Examination, ExaminationScope, Named},
    },
    render::{self, explain::ExplainView, style::Style},
};

use super::{
    args::{ExplainArgs, ExplainFormat, GlobalArgs},
    colour,
    doctor::again,
    exit::Exit,
    report::{Report, heading, terminal_width},
    tree::in_memory,
};

/// Tells the story of each target.
pub fn run(global: &GlobalArgs, args: &ExplainArgs) -> Result<Report, OperationError> {
    if args.targets.targets.is_empty() && args.targets.filenames.is_empty() {
        return Err(OperationError::Usage("explain needs a TARGET, such as pod/web-0".to_owned()));
    }
    let mut session = global.open(&args.source, &args.targets, ReadScope::Diagnosis)?;
    let targets = session.targets.clone().unwrap_or_default();
    let namespace = session.namespace_of(&targets);
    let named: Vec<Named> = targets.iter().map(|id| Named::of(&session.snapshot, *id)).collect();
    let asked =
        ExaminationScope { limit: Limit::Objects(named.iter().map(|named| named.uid).collect()), only: Vec::new() };
    let explained = Examination::new(&mut session, &SystemClock::start(), asked, global.connection.kubectl(), None)
        .explained(&named);
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let view = ExplainView {
        snapshot,
        graph: &graph,
        explanations: &explained.explanations,
        namespace: namespace.as_deref(),
        doctor: &again(global, &args.targets, &args.source, false),
    };
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
    for gone in named.iter().filter(|named| named.find(snapshot).is_none()) {
        let name = snapshot.text(gone.coordinate.name);
        let kind = &snapshot.resources.get(gone.coordinate.resource).kind;
        report.notes.push(format!("error: {kind}/{name} was deleted while it was examined"));
        report.exit = Exit::Failed;
    }
    Ok(report)
}
