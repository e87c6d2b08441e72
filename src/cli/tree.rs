//! `kubectl gc tree`

use std::time::Duration;

use rustc_hash::FxHashSet;

use crate::{
    operations::{
        Discovered, LiveSession, OperationError, ReadScope, Session,
        targets::{TargetArgs, TargetError},
        usage,
    },
    render::{
        output::describe_statuses,
        tree::{LabelColumns, TreeView},
    },
    tui::Start,
};
use gc_cluster::cluster::clock;
use gc_core::{
    graph::{OwnerGraph, unconfirmed_owners},
    jsonpath::PathError,
    model::{Coordinate, ResourceId, Resources, Snapshot, Symbol},
    server::Propagation,
    tree::{Direction, Query, SortBy, Tree, TypeFilter},
};

use super::{
    args::{GlobalArgs, TreeArgs},
    output::Printer,
    report::{Report, heading},
    screen::{Screen, end_on_interrupt},
    tui,
};

/// How long --watch waits at most: ages grow, and what can't be watched may change.
const AGES: Duration = Duration::from_secs(30);

/// What a look shows.
struct Shown {
    report: Report,
    /// The same without ages, to compare two looks.
    ageless: Vec<u8>,
}

/// Shows owners and dependents.
pub(super) fn run(global: &GlobalArgs, args: &TreeArgs) -> Result<Report, OperationError> {
    if args.interactive {
        return tui::open(global, &args.targets, Propagation::Background, Start::Forest);
    }
    let (targets, sort_by) = (targets(global, args)?, sort_by(args)?);
    if args.watch {
        return watch(global, args, &targets, sort_by.as_ref());
    }
    let mut session = global.open(&targets, ReadScope::Namespace)?;
    Ok(show(global, args, sort_by.as_ref(), &mut session)?.report)
}

/// Shows the tree again whenever something that it may contain changes. Reads everything again for that, so nothing is
/// missed: also what is new in a list of a type, and kinds that are new.
fn watch(
    global: &GlobalArgs,
    args: &TreeArgs,
    targets: &TargetArgs,
    sort_by: Option<&SortBy>,
) -> Result<Report, OperationError> {
    end_on_interrupt();
    let interval = Duration::from_secs(args.interval);
    let screen = Screen::of_stdout(global.printing.format().is_text());
    let (cluster, targets) = (global.cluster()?, global.targets(targets)?);
    // Each look goes to the same cluster, whatever becomes of the kubeconfig; only after an error it is read again.
    let look = |last: Option<LiveSession>| {
        let discovered = match last {
            Some(last) => Discovered::again(last)?,
            None => Discovered::expecting(&cluster, &targets, ReadScope::Namespace)?,
        };
        let mut session = discovered.read(&targets, ReadScope::Namespace)?;
        // Before statuses are read, so that no change is missed.
        session.watch();
        Ok::<_, OperationError>((show(global, args, sort_by, &mut session)?, session))
    };
    let (shown, session) = look(None)?;
    let (mut session, redraws) = (Some(session), screen.redraws);
    let next = || {
        // After a failed look nothing is watched.
        if let Some(session) = &mut session {
            session.wait_for_change(AGES.max(interval));
        }
        std::thread::sleep(interval);
        let (shown, watched) = look(session.take())?;
        session = Some(watched);
        Ok(shown)
    };
    let changes = |now: &Shown, before: &Shown| (redraws || now.ageless != before.ageless).then(String::new);
    screen.keep(interval, shown, next, |shown| &shown.report, changes);
    Ok(Report::of(Vec::new()))
}

/// What is to be shown.
fn targets(global: &GlobalArgs, args: &TreeArgs) -> Result<TargetArgs, OperationError> {
    let has_targets = args.targets.any();
    let format = global.printing.format();
    if args.show_labels && !format.is_text() {
        return usage(format!("--show-labels option cannot be used with {} printer", format.name()));
    }
    if args.owners && !has_targets {
        return usage("--owners needs a TARGET, such as pod/web-0");
    }
    Ok(args.targets.to_be_shown())
}

fn show(
    global: &GlobalArgs,
    args: &TreeArgs,
    sort_by: Option<&SortBy>,
    session: &mut Session,
) -> Result<Shown, OperationError> {
    let nothing = session.targets.as_ref().is_some_and(Vec::is_empty).then(|| nothing_found(session));
    if let Some(nothing) = &nothing
        && global.printing.format().is_text()
    {
        let report = Report { notes: vec![nothing.clone()], ..Report::of(Vec::new()) };
        let report = report.with_gaps(&session.snapshot.gaps);
        return Ok(Shown { report, ageless: Vec::new() });
    }
    if !args.owners {
        session.look_into_namespace();
    }
    let namespace = session.namespace_symbol();
    let types = types_of(args, &session.snapshot.resources)?;
    let look_ups = unconfirmed(&session.snapshot, &query(args, session, namespace, &types));
    session.look_up_some(look_ups);
    let snapshot = &session.snapshot;
    let graph = OwnerGraph::new(snapshot);
    let query = query(args, session, namespace, &types);
    let mut tree = Tree::of(snapshot, &graph, &query);
    if let Some(sort_by) = sort_by {
        let places = sort_by.places(snapshot, &graph, &tree).map_err(|why| unsortable(&why))?;
        tree = Tree::of(snapshot, &graph, &Query { places: Some(&places), ..query });
    }
    let now = clock::now().as_second();
    let labels = LabelColumns { keys: args.label_columns.clone(), all: args.show_labels };
    let labels = Some(labels).filter(|labels| *labels != LabelColumns::default());
    // What is asked about is shown, though nothing is below it.
    let is_alone = session.targets.is_some() && tree.entries.len() == 1;
    let fold = !args.no_fold && !is_alone;
    let printer = Printer::new(global).fold(fold).at(Some(now));
    let view = TreeView::new(snapshot, &graph, &tree);
    let statuses = session.statuses(&view.needs_statuses(printer.format, fold));
    let view = TreeView { statuses: statuses.as_ref(), labels: labels.as_ref(), ..view };
    let heading = || heading(snapshot, session.namespace.as_deref(), &global.source.from, "");
    let out = printer.print(&view, heading)?;
    let ageless = if args.watch { printer.at(None).print(&view, heading)? } else { Vec::new() };
    let shown = tree.nodes().filter_map(|entry| graph.object(entry.node));
    // What is asked about is what a Namespace contains.
    let targets = session.targets.iter().flatten().copied();
    let hiding = snapshot.may_hide(&targets.filter(|id| snapshot.is_namespace(*id)).collect::<Vec<_>>());
    let mut gaps = snapshot.gaps_and_lacking(shown);
    gaps.extend(hiding.into_iter().filter(|_| snapshot.is_dump() && !args.owners));
    let mut report = Report::of(out).with_gaps(&gaps);
    report.notes.extend(statuses.and_then(|statuses| describe_statuses(&statuses.gaps)));
    report.notes.splice(0..0, nothing);
    Ok(Shown { report, ageless })
}

fn query<'q>(args: &TreeArgs, session: &'q Session, namespace: Option<Symbol>, types: &'q TypeFilter) -> Query<'q> {
    Query {
        targets: session.targets.as_deref(),
        namespace,
        direction: if args.owners { Direction::Owners } else { Direction::Dependents },
        depth: args.depth.map(|depth| u32::try_from(depth).unwrap_or(u32::MAX)),
        types,
        places: None,
    }
}

/// The owners of the objects in a tree that only a list calls absent.
fn unconfirmed(snapshot: &Snapshot, query: &Query<'_>) -> Vec<Coordinate> {
    let graph = OwnerGraph::new(snapshot);
    unconfirmed_owners(snapshot, &graph, Tree::of(snapshot, &graph, query).objects(&graph))
}

fn types_of(args: &TreeArgs, resources: &Resources) -> Result<TypeFilter, OperationError> {
    let types = |names: &[String]| -> Result<FxHashSet<ResourceId>, OperationError> {
        let ids = names.iter().map(|name| resources.find_types(name).map_err(TargetError::from));
        Ok(ids.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(|id| resources.picked(id)).collect())
    };
    let include = Some(&args.include_types).filter(|names| !names.is_empty());
    Ok(TypeFilter { include: include.map(|names| types(names)).transpose()?, exclude: types(&args.exclude_types)? })
}

fn sort_by(args: &TreeArgs) -> Result<Option<SortBy>, OperationError> {
    let field = args.sort_by.as_deref().filter(|field| !field.is_empty());
    field.map(SortBy::parse).transpose().map_err(|why| unsortable(&why))
}

fn unsortable(why: &PathError) -> OperationError {
    OperationError::Usage(format!("--sort-by: {why}"))
}

/// In kubectl's words.
fn nothing_found(session: &Session) -> String {
    match &session.namespace {
        Some(namespace) => format!("No resources found in {namespace} namespace."),
        None => "No resources found".to_owned(),
    }
}
