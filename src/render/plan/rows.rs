//! The order of a plan's lines: each outcome once, below the owner whose deletion caused it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::render::{
    lines::Line,
    outline::{Outline, OutlineRow, Subject},
    picture::remarks_of,
    states::Fate,
    style::Tone,
    words::plural,
};
use gc_core::{model::ObjectId, plan::Outcome, simulate::Cause, wording::thousands};

use super::{
    PlanView,
    remarks::{Remarks, fate_of, remarks, remarks_of_root, shared_by_roots, with_other_owners, without_usual},
};

/// Siblings that are alike are folded if there are at least this many.
const FOLD_FROM: usize = 2;
/// The same of what is stuck, waits or loses data, and of roots.
const FOLD_WORST_FROM: usize = 13;
/// So many of these are still shown.
const SHOWN_OF_WORST: usize = 3;

/// One line of a plan.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub depth: u32,
    pub object: ObjectId,
    pub outcome: &'a Outcome,
    /// `Kind/name`, `12 Pods`, or `… 12 more Pods`.
    pub title: String,
    /// For how many objects this line stands that have none of their own; 0 for a line about one object.
    pub more: usize,
    pub fate: Fate,
    pub remarks: Remarks,
    /// The remarks that objects folded into one line share.
    common: Remarks,
}

/// The lines of a plan. With `fold`, long runs of similar objects become one line. In a table, nothing stands below an
/// owner: without `other_owners`, the lines don't say which others an object has.
pub(super) fn rows<'a>(view: &PlanView<'a>, fold: bool, other_owners: bool) -> Vec<Row<'a>> {
    let (roots, children) = arrange(view);
    let worst = worst_inside(view, &children);
    let mut rows = Vec::new();
    let level_of = |above, depth, objects: &[ObjectId]| {
        let mut rows = siblings(view, &worst, above, depth, objects, fold, other_owners);
        if fold {
            rows = folded(view, &children, &worst, rows);
        }
        rows.reverse();
        rows
    };
    let mut open: Vec<(u32, Vec<Row<'a>>)> = vec![(0, level_of(None, 0, &roots))];
    // Depth first without recursion: each level is a list of rows in reverse order.
    while let Some((depth, level)) = open.last_mut() {
        let depth = *depth;
        let Some(row) = level.pop() else {
            open.pop();
            continue;
        };
        if let Some(below) = children.get(&row.object).filter(|_| row.more == 0) {
            open.push((depth + 1, level_of(Some(row.object), depth + 1, below)));
        }
        rows.push(row);
    }
    rows
}

/// The rows as texts and pictures draw them.
pub(super) fn outline(rows: &[Row<'_>]) -> Outline {
    let line = |row: &Row<'_>| {
        let line = if row.more > 0 { Line::quiet(&row.title) } else { Line::new(&row.title) };
        let mut line = line.becomes(row.fate, row.fate.column());
        row.remarks.iter().for_each(|(tone, remark)| line.remark(*tone, remark));
        line
    };
    let row = |row: &Row<'_>| OutlineRow {
        depth: row.depth,
        subject: Subject::Object(row.object),
        points: false,
        more: row.more,
        line: line(row),
    };
    Outline { titles: Vec::new(), rows: rows.iter().map(row).collect() }
}

/// Which outcome is listed below which: targets are roots, every other outcome is below the object that caused it if
/// that has an outcome.
fn arrange(view: &PlanView<'_>) -> (Vec<ObjectId>, FxHashMap<ObjectId, Vec<ObjectId>>) {
    let mut contents: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    for outcome in view.plan.both_ends() {
        if let Some(above) = outcome.because.as_ref().and_then(Cause::above) {
            contents.entry(above).or_default().push(outcome.object);
        }
    }
    let mut placed: FxHashSet<ObjectId> = FxHashSet::default();
    let mut children: FxHashMap<ObjectId, Vec<ObjectId>> = FxHashMap::default();
    let mut roots = Vec::new();
    // First the targets that no other target owns, then other targets, then all other changed objects.
    let targets = || view.plan.request.targets.iter().copied();
    let uids: FxHashSet<_> = targets().map(|target| view.snapshot.object(target).uid).collect();
    let owned =
        |target: &ObjectId| view.snapshot.object(*target).owners.iter().any(|reference| uids.contains(&reference.uid));
    let all = || view.all_shown();
    // In a sweep, which has no targets, owners with an outcome come before their dependents.
    let on_top = |object: &ObjectId| view.is_sweep() && !below_another(view, *object);
    let candidates =
        targets().filter(|target| !owned(target)).chain(targets()).chain(all().filter(on_top)).chain(all());
    for root in candidates {
        if view.shown(root).is_none() || !placed.insert(root) {
            continue;
        }
        roots.push(root);
        let mut open = VecDeque::from([root]);
        // Contents stand below their owners, if these are shown, and directly below the object that contains them if
        // no owner leads to them.
        let mut containers = Vec::new();
        let mut place = |above: ObjectId, object: &ObjectId| {
            let is_new = view.shown(*object).is_some() && placed.insert(*object);
            if is_new {
                children.entry(above).or_default().push(*object);
            }
            is_new
        };
        loop {
            if let Some(above) = open.pop_front() {
                let inside = contents.get(&above).map(Vec::as_slice).unwrap_or_default();
                let owned = view.graph.dependents(above.into()).iter();
                let free = inside.iter().filter(|object| !below_another(view, **object));
                open.extend(owned.chain(free).filter(|object| place(above, object)));
                containers.extend((!inside.is_empty()).then_some(above));
            } else if let Some(above) = containers.pop() {
                open.extend(contents[&above].iter().filter(|object| place(above, object)));
            } else {
                break;
            }
        }
    }
    (roots, children)
}

/// Whether an owner of an object has an outcome.
fn below_another(view: &PlanView<'_>, object: ObjectId) -> bool {
    let owners = view.snapshot.object(object).owners.iter();
    let owners = owners.filter_map(|reference| view.graph.object(view.graph.by_uid(reference.uid)?));
    owners.into_iter().any(|owner| owner != object && view.shown(owner).is_some())
}

/// How bad it is: lost data, stuck, and the other states that are no end.
type Badness = (bool, Fate);

/// Whether it is folded only where there are many.
fn is_bad((loses_data, fate): Badness) -> bool {
    loses_data || matches!(fate, Fate::Stuck | Fate::Depends | Fate::Waits | Fate::Unsure)
}

/// The worst first.
fn rank((loses_data, fate): Badness) -> (bool, Fate) {
    (!loses_data, fate)
}

/// The worst of each object that something bad happens to, and of all that it is listed below.
fn worst_inside(view: &PlanView<'_>, children: &FxHashMap<ObjectId, Vec<ObjectId>>) -> FxHashMap<ObjectId, Badness> {
    let parents: FxHashMap<ObjectId, ObjectId> =
        children.iter().flat_map(|(above, below)| below.iter().map(|object| (*object, *above))).collect();
    let mut worst: FxHashMap<ObjectId, Badness> = FxHashMap::default();
    for object in view.all_shown() {
        let Some(outcome) = view.shown(object) else { continue };
        let badness = (view.loses_data(object), fate_of(view, outcome));
        let mut next = Some(object).filter(|_| is_bad(badness));
        while let Some(object) =
            next.filter(|object| worst.get(object).is_none_or(|known| rank(badness) < rank(*known)))
        {
            worst.insert(object, badness);
            next = parents.get(&object).copied();
        }
    }
    worst
}

/// The lines of what stands below an object at this depth, or of the roots: those with the worst inside first, then by
/// kind, outcome and name.
fn siblings<'a>(
    view: &PlanView<'a>,
    worst: &FxHashMap<ObjectId, Badness>,
    above: Option<ObjectId>,
    depth: u32,
    objects: &[ObjectId],
    fold: bool,
    other_owners: bool,
) -> Vec<Row<'a>> {
    let is_root_of_sweep = depth == 0 && view.is_sweep();
    let row = |object: &ObjectId| {
        let (object, outcome) = (*object, view.shown(*object)?);
        let mut remarks = if is_root_of_sweep { remarks_of_root(view, outcome) } else { remarks(view, outcome) };
        if fold && depth > 0 {
            remarks = without_usual(remarks);
        }
        if let Some(above) = above.filter(|_| other_owners) {
            remarks = with_other_owners(view, outcome, above, remarks);
        }
        let shared = shared_by_roots(outcome).filter(|_| is_root_of_sweep);
        let common = shared.map_or_else(|| remarks.clone(), |shared| vec![(Tone::Plain, shared.to_owned())]);
        let title = above.map_or_else(|| view.name(object), |above| view.name_below(object, above));
        Some(Row { depth, object, outcome, title, more: 0, fate: fate_of(view, outcome), remarks, common })
    };
    let mut rows: Vec<Row<'a>> = objects.iter().filter_map(row).collect();
    if depth > 0 || view.is_sweep() {
        rows.sort_by_cached_key(|row| {
            let inside = worst.get(&row.object).copied().unwrap_or((false, row.fate.max(Fate::Deleted)));
            // Only roots are in several namespaces, except for dependents across namespaces.
            let namespace = if depth == 0 { view.snapshot.namespace(row.object).to_owned() } else { String::new() };
            let resource = view.snapshot.object(row.object).resource;
            let name = view.snapshot.name(row.object).to_owned();
            (rank(inside), namespace, resource, row.fate, remarks_of(&row.common), name)
        });
    }
    rows
}

/// Folds runs of rows that are alike and have nothing below them.
fn folded<'a>(
    view: &PlanView<'a>,
    children: &FxHashMap<ObjectId, Vec<ObjectId>>,
    worst: &FxHashMap<ObjectId, Badness>,
    rows: Vec<Row<'a>>,
) -> Vec<Row<'a>> {
    let is_target = |row: &Row<'_>| row.depth == 0 && view.is_target(row.object);
    let alike = |left: &Row<'_>, right: &Row<'_>| {
        let [one, other] = [left, right].map(|row| view.snapshot.object(row.object));
        one.resource == other.resource
            && one.namespace == other.namespace
            && left.fate == right.fate
            && left.common == right.common
            && worst.get(&left.object) == worst.get(&right.object)
            && [left, right].iter().all(|row| !children.contains_key(&row.object) && !is_target(row))
    };
    let mut shown: Vec<Row<'a>> = Vec::new();
    for run in rows.chunk_by(alike) {
        // What a sweep begins with has no line above that names it.
        let (from, alone) = match run[0].depth == 0 || worst.contains_key(&run[0].object) {
            true => (FOLD_WORST_FROM, SHOWN_OF_WORST),
            false => (FOLD_FROM, 0),
        };
        if run.len() < from {
            shown.extend_from_slice(run);
            continue;
        }
        shown.extend_from_slice(&run[..alone]);
        let (first, more) = (run[alone].clone(), run.len() - alone);
        let (number, kinds) = (thousands(more), plural(view.snapshot.resource(first.object), more));
        let title = if alone > 0 { format!("… {number} more {kinds}") } else { format!("{number} {kinds}") };
        shown.push(Row { title, more, remarks: first.common.clone(), ..first });
    }
    shown
}
