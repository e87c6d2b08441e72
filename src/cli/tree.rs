//! `kubectl gc tree`

use rustc_hash::FxHashSet;

use crate::{
    graph::OwnerGraph,
    model::{ResourceId, Resources},
    operations::{OperationError, ReadScope, Session, targets::TargetError},
    render::{gaps, tree_view::TreeView},
    tree::{Direction, Query, Tree, TypeFilter},
};

use super::{
    args::{GlobalArgs, TargetArgs, TreeArgs},
    output::Printer,
    report::{Report, heading},
};

/// Shows owners and dependents.
pub(super) fn run(global: &GlobalArgs, args: &TreeArgs) -> Result<Report, OperationError> {
    let has_targets = args.targets.any();
    if args.owners && !has_targets {
        return Err(OperationError::Usage("--owners needs a TARGET, such as pod/web-0".to_owned()));
    }
    // Like kubectl get, it shows what there is of a type, and that may be nothing.
    let by_type = args.targets.selects() || matches!(args.targets.targets.as_slice(), [one] if !one.contains('/'));
    let targets = TargetArgs { type_alone: true, ignore_not_found: by_type, ..args.targets.clone() };
    let mut session = global.open(&args.source, &targets, ReadScope::Namespace)?;
    let nothing = session.targets.as_ref().is_some_and(Vec::is_empty).then(|| nothing_found(&session));
    if let Some(nothing) = &nothing
        && args.output.unwrap_or_default().is_text()
    {
        let report = Report { notes: vec![nothing.clone()], ..Report::of(Vec::new()) };
        return Ok(report.with_gaps(&session.snapshot.gaps));
    }
    let namespace = session.namespace_symbol();
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let query = Query {
        targets: session.targets.as_deref(),
        namespace,
        direction: if args.owners { Direction::Owners } else { Direction::Dependents },
        depth: args.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX)),
        types: &types_of(args, &snapshot.resources)?,
    };
    let tree = Tree::of(snapshot, &graph, &query);
    let now = jiff::Timestamp::now().as_second();
    let printer = Printer::new(global, args.output).fold(!args.no_fold).at(Some(now));
    let view = TreeView::new(snapshot, &graph, &tree);
    let statuses = session.statuses(&view.needs_statuses(printer.format, !args.no_fold));
    let view = TreeView { statuses: statuses.as_ref(), ..view };
    let out = printer.print(&view, || heading(snapshot, session.namespace.as_deref(), &args.source.from, ""))?;
    let mut report = Report::of(out).with_gaps(&snapshot.gaps);
    report.notes.extend(statuses.and_then(|statuses| gaps::describe_statuses(&statuses.gaps)));
    report.notes.splice(0..0, nothing);
    Ok(report)
}

fn types_of(args: &TreeArgs, resources: &Resources) -> Result<TypeFilter, OperationError> {
    let types = |names: &[String]| -> Result<FxHashSet<ResourceId>, OperationError> {
        let ids = names.iter().map(|name| resources.find_types(name).map_err(TargetError::from));
        Ok(ids.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(|id| resources.picked(id)).collect())
    };
    let include = Some(&args.include_types).filter(|names| !names.is_empty());
    Ok(TypeFilter { include: include.map(|names| types(names)).transpose()?, exclude: types(&args.exclude_types)? })
}

/// In kubectl's words.
fn nothing_found(session: &Session) -> String {
    match &session.namespace {
        Some(namespace) => format!("No resources found in {namespace} namespace."),
        None => "No resources found".to_owned(),
    }
}
