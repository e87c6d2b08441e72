//! The order of a plan's lines: each outcome once, below the owner whose deletion caused it.

use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    model::{ObjectId, Snapshot, effects::EffectKind},
    plan::Outcome,
    render::states::Word,
    simulate::{Cause, State},
};

use super::{
    PlanView,
    details::{detail, detail_of_root, group_of_root, word_of},
};

/// Similar siblings are folded if there are at least this many.
const FOLD_FROM: usize = 5;
/// So many of the folded siblings are still shown.
const SHOWN_OF_FOLDED: usize = 2;

/// One line of a plan.
#[derive(Clone, Debug)]
pub(super) struct Row<'a> {
    pub depth: u32,
    pub object: ObjectId,
    pub outcome: &'a Outcome,
    /// How many similar objects this line stands for, in addition to those shown; 0 for a line about one object.
    pub more: usize,
    pub word: Word,
    pub detail: String,
    /// The remark that objects folded into one line share.
    common: String,
}

/// The lines of a plan. With `fold`, long runs of similar objects become one line.
pub(super) fn rows<'a>(view: &PlanView<'a>, fold: bool) -> Vec<Row<'a>> {
    let (roots, children) = arrange(view);
    let losses = above_losses(view, &children);
    let mut rows = Vec::new();
    let mut open: Vec<(u32, Vec<Row<'a>>)> = vec![(0, siblings(view, &children, &losses, &roots, 0, fold))];
    // Depth first without recursion: each level is a list of rows in reverse order.
    while let Some((depth, level)) = open.last_mut() {
        let depth = *depth;
        let Some(row) = level.pop() else {
            open.pop();
            continue;
        };
        let below = children.get(&row.object).filter(|_| row.more == 0);
        rows.push(row);
        if let Some(below) = below {
            open.push((depth + 1, siblings(view, &children, &losses, below, depth + 1, fold)));
        }
    }
    rows
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
        while let Some(above) = open.pop_front() {
            let owned = view.graph.dependents(above.into()).iter().chain(contents.get(&above).into_iter().flatten());
            let below: Vec<ObjectId> =
                owned.copied().filter(|object| view.shown(*object).is_some() && placed.insert(*object)).collect();
            open.extend(&below);
            if !below.is_empty() {
                children.insert(above, below);
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

/// The objects that lose data, and all that they are listed below.
fn above_losses(view: &PlanView<'_>, children: &FxHashMap<ObjectId, Vec<ObjectId>>) -> FxHashSet<ObjectId> {
    let parents: FxHashMap<ObjectId, ObjectId> =
        children.iter().flat_map(|(above, below)| below.iter().map(|object| (*object, *above))).collect();
    let mut found = FxHashSet::default();
    let losses = view.plan.all_effects().filter(|effect| effect.kind == EffectKind::DataDestroyed);
    for effect in losses {
        let mut next = Some(effect.object);
        while let Some(object) = next.filter(|object| found.insert(*object)) {
            next = parents.get(&object).copied();
        }
    }
    found
}

/// The lines of siblings, in reverse order: lost data first, then stuck objects, then by kind, outcome and name;
/// similar ones folded.
fn siblings<'a>(
    view: &PlanView<'a>,
    children: &FxHashMap<ObjectId, Vec<ObjectId>>,
    losses: &FxHashSet<ObjectId>,
    objects: &[ObjectId],
    depth: u32,
    fold: bool,
) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = objects
        .iter()
        .filter_map(|object| {
            let outcome = view.shown(*object)?;
            let root = depth == 0 && view.is_sweep();
            let detail = if root { detail_of_root(view, outcome) } else { detail(view, outcome) };
            let common = if root { group_of_root(outcome, &detail) } else { detail.clone() };
            Some(Row { depth, object: *object, outcome, more: 0, word: word_of(view, outcome), detail, common })
        })
        .collect();
    if depth > 0 || view.is_sweep() {
        rows.sort_by_cached_key(|row| {
            let object = view.snapshot.object(row.object);
            let stuck = row.outcome.state == Some(State::Stuck);
            // Only roots are in several namespaces, except for dependents across namespaces.
            let namespace = if depth == 0 { view.snapshot.text(object.namespace).to_owned() } else { String::new() };
            (
                !losses.contains(&row.object),
                !stuck,
                namespace,
                object.resource,
                row.word,
                row.common.clone(),
                view.snapshot.text(object.name).to_owned(),
            )
        });
    }
    let rows = if fold { folded(view.snapshot, children, rows) } else { rows };
    rows.into_iter().rev().collect()
}

/// Folds runs of similar rows that have nothing below them.
fn folded<'a>(snapshot: &Snapshot, children: &FxHashMap<ObjectId, Vec<ObjectId>>, rows: Vec<Row<'a>>) -> Vec<Row<'a>> {
    let alike = |left: &Row<'_>, right: &Row<'_>| {
        snapshot.object(left.object).resource == snapshot.object(right.object).resource
            && left.word == right.word
            && left.common == right.common
            && (left.depth > 0 || snapshot.object(left.object).namespace == snapshot.object(right.object).namespace)
            && !children.contains_key(&left.object)
            && !children.contains_key(&right.object)
    };
    let mut shown: Vec<Row<'a>> = Vec::new();
    for run in rows.chunk_by(alike) {
        if run.len() < FOLD_FROM {
            shown.extend_from_slice(run);
        } else {
            shown.extend_from_slice(&run[..SHOWN_OF_FOLDED]);
            let first = run[SHOWN_OF_FOLDED].clone();
            shown.push(Row { more: run.len() - SHOWN_OF_FOLDED, detail: first.common.clone(), ..first });
        }
    }
    shown
}
