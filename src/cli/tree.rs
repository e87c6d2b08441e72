//! `kubectl gc tree`

use crate::{
    graph::OwnerGraph,
    operations::{OperationError, ReadScope},
    render::{
        style::Style,
        tree as render,
        tree_forms::{self, Form},
    },
    tree::{Direction, Tree},
};

use super::{
    args::{GlobalArgs, TreeArgs, TreeFormat},
    colour,
    report::{Report, heading, terminal_width},
};

/// Shows who owns whom.
pub fn run(global: &GlobalArgs, args: &TreeArgs) -> Result<Report, OperationError> {
    let has_targets = !args.targets.targets.is_empty() || !args.targets.filenames.is_empty();
    if args.owners && !has_targets {
        return Err(OperationError::Usage("--owners needs a TARGET, such as pod/web-0".to_owned()));
    }
    let mut session = global.open(&args.source, &args.targets, ReadScope::Namespace)?;
    let namespace = session.namespace_symbol();
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let depth = args.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX));
    let direction = if args.owners { Direction::Owners } else { Direction::Dependents };
    let tree = match &session.targets {
        Some(targets) => Tree::of_targets(snapshot, &graph, targets, namespace, direction, depth),
        None => Tree::of_scope(snapshot, &graph, namespace, depth),
    };
    let form = match args.output {
        None => Form::Text,
        Some(TreeFormat::Wide) => Form::Wide,
        Some(TreeFormat::Json) => Form::Json,
        Some(TreeFormat::Yaml) => Form::Yaml,
        Some(TreeFormat::Name) => Form::Name,
        Some(TreeFormat::Dot) => Form::Dot,
    };
    let mut out = Vec::new();
    if matches!(form, Form::Text | Form::Wide) {
        out = heading(snapshot, session.namespace.as_deref(), &args.source.from, "");
    }
    let options = render::Options {
        width: terminal_width(),
        fold: !args.no_fold,
        wide: form == Form::Wide,
        now: Some(jiff::Timestamp::now().as_second()),
        style: &Style::new(colour::wanted(global.color, &std::io::stdout())),
    };
    tree_forms::write(form, snapshot, &graph, &tree, &options, &mut out).map_err(in_memory)?;
    Ok(Report::of(out).with_gaps(&snapshot.gaps))
}

/// Writing to memory doesn't fail; if it ever did, it would have to be told.
pub(super) fn in_memory(source: std::io::Error) -> OperationError {
    OperationError::Unwritable { path: "memory".to_owned(), source }
}
